"""The index of a model finds every element and what encloses it."""

from __future__ import annotations

from orgflow_ir.model import Flow, Model, Pool, Process, SubProcess, Task
from orgflow_ir.model.index import ModelIndex
from orgflow_ir.pipeline import PassContext

INNER = Process(
    id="p",
    name="Order",
    nodes=(
        Task(id="a", name="Check  order"),
        SubProcess(
            id="sub",
            nodes=(Task(id="b"), Task(id="c")),
            flows=(Flow(id="g", source="b", target="c"),),
        ),
    ),
    flows=(Flow(id="f", source="a", target="sub"), Flow(id="h", source="a", target="sub")),
)
MODEL = Model(
    id="m",
    processes=(INNER, Process(id="q", nodes=(Task(id="d"),))),
    pools=(Pool(id="pool", name="Sales", process="p"), Pool(id="box")),
)


def test_elements_and_what_encloses_them() -> None:
    index = ModelIndex(MODEL)
    assert list(index.nodes) == ["a", "sub", "b", "c", "d"]
    assert list(index.flows) == ["f", "h", "g"]
    assert list(index.scopes) == ["p", "sub", "q"]
    parents = {id: index.parent(id) for id in ("a", "b", "g", "sub", "d", "p", "none")}
    assert {id: found.id if found else None for id, found in parents.items()} == {
        "a": "p", "b": "sub", "g": "sub", "sub": "p", "d": "q", "p": None, "none": None,
    }  # fmt: skip
    processes = {id: index.process(id) for id in ("c", "f", "sub", "p", "d", "none")}
    assert {id: found.id if found else None for id, found in processes.items()} == {
        "c": "p", "f": "p", "sub": "p", "p": "p", "d": "q", "none": None,
    }  # fmt: skip


def test_pools() -> None:
    index = ModelIndex(MODEL)
    pools = {id: index.pool(id) for id in ("a", "c", "p", "d", "none")}
    assert [found.id if found else None for found in pools.values()] == [
        "pool", "pool", "pool", None, None,
    ]  # fmt: skip


def test_labels_and_flows() -> None:
    index = ModelIndex(MODEL)
    assert [index.label(id) for id in ("a", "b", "p", "pool", "f", "none")] == [
        "Check order", "b", "Order", "Sales", "f", "none",
    ]  # fmt: skip
    assert [f.id for f in index.flows_out("a")] == ["f", "h"]
    assert [f.id for f in index.flows_in("sub")] == ["f", "h"]
    assert index.flows_in("a") == ()
    assert index.flows_out("none") == ()


def test_one_index_a_model() -> None:
    ctx = PassContext()
    assert ctx.analysis(ModelIndex, MODEL) is ctx.analysis(ModelIndex, MODEL)
