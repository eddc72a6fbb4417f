"""POWL as JSON and as code: what is read, that it means the same, and that nothing is executed."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import jsonschema
import orgflow
import pytest
from orgflow.backends.powl.format import Powl, check_size
from orgflow.frontends.powl.build import build_model
from orgflow.frontends.powl.frontend import PowlFrontend
from orgflow.frontends.powl.json_reader import powl_schema
from powl_language import language, played, random_powl
from seeds import seeds

from orgflow_ir.model import Gateway, Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext

LONGEST = 5


def read(text: str, name: str = "model.powl") -> tuple[Model | None, list[str]]:
    ctx = PassContext()
    model = PowlFrontend().parse(SourceFile(name, text.encode()), ctx)
    return model, [f"{d.code} {d.message}" for d in ctx.diagnostics]


@pytest.mark.parametrize("seed", seeds(60))
def test_the_process_has_the_language_of_the_powl(seed: int) -> None:
    powl = random_powl(random.Random(seed))
    check_size(powl)
    model = build_model(powl, "", "")
    assert played(model, LONGEST) == language(powl, LONGEST)


@pytest.mark.parametrize("seed", seeds(60))
def test_sound_by_construction(seed: int) -> None:
    powl = random_powl(random.Random(seed + 1_000), 3)
    model = build_model(powl, "", "")
    errors = orgflow.check(model).errors
    # A loop of silent steps alone is endless, as POWL says it is; all else is sound.
    assert {d.code for d in errors} <= {"OF202", "OF109"}
    if errors:
        assert not _does_something(powl)


@pytest.mark.parametrize("order", [[], [["a", "b"], ["a", "c"], ["b", "d"], ["c", "d"]]])
def test_silent_steps_beside_each_other_are_one_branch(order: list[list[str]]) -> None:
    steps = [
        {"type": "activity", "label": id} if id in "ad" else {"type": "silent"} for id in "abcd"
    ]
    nodes = [{"id": id, **step} for id, step in zip("abcd", steps, strict=True)]
    powl = {"type": "partial-order", "nodes": nodes, "order": order}
    text = json.dumps({"powl": 1, "model": powl})
    model, _ = read(text)
    assert model is not None
    assert [d for d in orgflow.check(model).diagnostics if d.code == "OF131"] == []
    ways = {(f.source, f.target) for f in model.processes[0].flows}
    assert len(ways) == len(model.processes[0].flows)
    assert played(model, LONGEST) == ({("a", "d")} if order else {("a", "d"), ("d", "a")})


def _does_something(powl: Powl) -> bool:
    """Whether each loop does a visible step in every round."""
    from orgflow.backends.powl.format import Loop, list_children

    if isinstance(powl, Loop) and () in language(powl.do, 3) and () in language(powl.redo, 3):
        return False
    return all(_does_something(child) for child in list_children(powl))


CODE = """
from utils.model_generation import ModelGenerator
gen = ModelGenerator()
receive = gen.activity("Receive order", pool="Shop", lane="Sales")
check = gen.activity('Check stock', pool="Shop", lane="Store")
invoice = gen.activity("Write invoice", pool="Shop", lane="Sales")
buy = gen.loop(do=gen.activity("Order parts"), redo=None)
supply = gen.xor(buy, None)
ship = gen.activity("Ship")
chains = [(receive, check, supply, ship), (receive, invoice, ship)]
final_model = gen.partial_order(dependencies=chains)
"""


def test_code() -> None:
    model, found = read(CODE)
    assert (found, model is not None) == ([], True)
    assert model is not None
    assert orgflow.check(model).ok
    (process,) = model.processes
    assert [(lane.name, len(lane.members)) for lane in process.lanes] == [
        ("Sales", 2),
        ("Store", 1),
    ]
    assert [pool.name for pool in model.pools] == ["Shop"]
    traces = played(model, 6)
    assert ("Receive order", "Check stock", "Write invoice", "Ship") in traces
    assert ("Receive order", "Write invoice", "Check stock", "Order parts", "Ship") in traces
    assert not any(trace[-1] != "Ship" for trace in traces)


def test_code_of_pm4py() -> None:
    model, found = read(
        "from pm4py.objects.powl.obj import *\n"
        "a, b = Transition(label='A'), Transition(label='B')\n"
        "c = SilentTransition()\n"
        "x = OperatorPOWL(operator=Operator.XOR, children=[b, c])\n"
        "l = OperatorPOWL(operator=Operator.LOOP, children=[a, c])\n"
        "root = StrictPartialOrder(nodes=[l, x])\n"
        "root.order.add_edge(l, x)\n"
    )
    assert (found, model is not None) == ([], True)
    assert model is not None
    assert played(model, 3) == {
        ("A",), ("A", "A"), ("A", "A", "A"), ("A", "B"), ("A", "A", "B"),
    }  # fmt: skip


def test_the_same_in_both_notations() -> None:
    code, _ = read("m = gen.xor(gen.sequence('a', 'b'), gen.loop('c', 'd'))")
    text = json.dumps({"powl": 1, "model": {"type": "choice", "children": [
        {"type": "sequence", "children": [{"type": "activity", "label": "a"}, "b"]},
        {"type": "loop", "do": "c", "redo": {"type": "activity", "label": "d"}},
    ]}})  # fmt: skip
    other, _ = read(text, "m.powl.json")
    assert code is not None
    assert other is not None
    assert code == other


def test_repeated_labels_are_two_steps() -> None:
    model, _ = read("a = gen.activity('A')\nm = gen.partial_order([(a, a.copy())])")
    assert model is not None
    assert played(model, 4) == {("A", "A")}


def test_conditions_and_questions() -> None:
    model, _ = read(
        '{"powl": 1, "name": "Order", "model": {"type": "choice", "name": "In stock?", "children": '
        '[{"type": "activity", "label": "Ship", "condition": "yes"}, '
        '{"type": "silent", "condition": "no"}]}}'
    )
    assert model is not None
    (process,) = model.processes
    (gateway,) = (n for n in process.nodes if isinstance(n, Gateway) and n.name)
    assert (process.name, gateway.name) == ("Order", "In stock?")
    labels = [f.name for f in process.flows if f.source == gateway.id]
    assert labels == ["yes", "no"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "builds no model"),
        ("x = 1", "builds no model"),
        ("def f():\n  pass", "`FunctionDef` statements"),
        ("for x in (1, 2): pass", "`For` statements"),
        ("m = gen.activity(", "not valid Python"),
        ("m = gen.activity('')", "no label"),
        ("m = gen.xor()", "no children"),
        ("m = gen.partial_order([(a, b)])", "`a` is not part"),
        ("a = gen.activity('A')\nm = gen.partial_order([(a, a)])", "precedes itself"),
        (
            "a = gen.activity('A')\nb = gen.activity('B')\nm = gen.partial_order([(a, b), (b, a)])",
            "has a cycle",
        ),
        ("m = gen.parallel_split('a')", "call of `parallel_split`"),
        ("m = [gen.activity(x) for x in 'ab']", "`ListComp`"),
        ("m = eval('1')", "call of `eval`"),
        ("m = gen.activity(f'{x}')", "`JoinedStr`"),
        ("x = 'a'\nm = gen.xor(x)\nx.upper()", "call of `upper`"),
        (
            "\n".join(["x = gen.xor('a', 'b')"] + ["x = gen.xor(x, x)"] * 60),
            "more than 5,000 nodes",
        ),
        ("m = " + "gen.xor(" * 300 + "'a'" + ")" * 300, "deep|not valid Python"),
        ("x = " + "(" * 5000 + ")" * 5000, "not valid Python"),
    ],
)
def test_code_that_is_no_model(text: str, said: str) -> None:
    model, found = read(text)
    assert model is None
    assert len(found) == 1
    assert any(part in found[0] for part in said.split("|")), found


def test_code_is_not_executed(tmp_path: Path) -> None:
    victim = tmp_path / "x"
    for text in (
        f"open({str(victim)!r}, 'w')",
        f"import pathlib\npathlib.Path({str(victim)!r}).touch()\nm = gen.activity('A')",
        f"m = gen.activity(open({str(victim)!r}, 'w').name)",
        f"print(open({str(victim)!r}, 'w'))\nm = gen.activity('A')",
        f"m = (lambda: open({str(victim)!r}, 'w'))()",
        "m = gen.activity.__globals__['x']",
    ):
        read(text)
    assert not victim.exists()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"type": "loop"}, "no `do`"),
        ({"type": "choice", "children": []}, "no children"),
        ({"type": "activity"}, "no `label`"),
        ({"type": "heap"}, "`heap` is not a POWL type"),
        ({"type": "choice", "children": [7]}, "not an object"),
        ({"type": "partial-order", "nodes": ["a"], "order": [[0, 3]]}, "refers to `3`"),
        ({"type": "partial-order", "nodes": ["a", "b"], "order": [[0, 1], [1, 0]]}, "a cycle"),
    ],
)
def test_json_that_is_no_model(value: Any, said: str) -> None:
    model, found = read(json.dumps({"powl": 1, "model": value}), "m.powl.json")
    assert model is None
    assert said in found[0]


def test_the_schema_describes_what_is_read() -> None:
    text = (Path(__file__).parents[2] / "diagnostics/OF070-invalid-powl/good.powl.json").read_text()
    jsonschema.validate(json.loads(text), powl_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"powl": 1, "model": {"type": "loop"}}, powl_schema())


def test_several_pools_are_lanes_of_one_process() -> None:
    model, _ = read(
        "a = gen.activity('A', pool='Shop', lane='Sales')\nb = gen.activity('B', pool='Bank')\n"
        "m = gen.partial_order([(a, b)])"
    )
    assert model is not None
    assert model.pools == ()
    (process,) = model.processes
    lanes = {lane.name: lane for lane in process.lanes}
    assert lanes["Sales"].parent == lanes["Shop"].id
    assert len(lanes["Bank"].members) == 1
    assert orgflow.check(model).ok
