"""Two versions of a model: what is told of each kind of change."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from orgflow_ir.comparison.model_changes import compare_models
from orgflow_ir.model import (
    Event,
    EventDefinition,
    Expression,
    Flow,
    Gateway,
    Lane,
    Model,
    Node,
    Process,
    Task,
)
from orgflow_ir.targets.comparison import Change, Comparison, list_problems
from orgflow_ir.targets.comparison_text import comparison_text

NODES: tuple[Node, ...] = (
    Event(id="s", name="Order in", position="start"),
    Gateway(id="x", name="In stock?", gateway_kind="exclusive"),
    Task(id="a", name="Ship", task_type="user"),
    Task(id="b", name="Order more"),
    Event(id="e", name="Done", position="end"),
)
FLOWS = (
    Flow(id="f1", source="s", target="x"),
    Flow(id="f2", name="Yes", source="x", target="a", condition=Expression(text="n > 0")),
    Flow(id="f3", name="No", source="x", target="b", default=True),
    Flow(id="f4", source="a", target="e"),
    Flow(id="f5", source="b", target="e"),
)


def model(
    nodes: tuple[Node, ...] = NODES, flows: tuple[Flow, ...] = FLOWS, **more: object
) -> Model:
    return Model(id="m", processes=(Process(id="p", name="P", nodes=nodes, flows=flows, **more),))  # type: ignore[arg-type]


def changed(id: str, **fields: object) -> Model:
    nodes = tuple(n.replace(**fields) if n.id == id else n for n in NODES)
    flows = tuple(f.replace(**fields) if f.id == id else f for f in FLOWS)
    return model(nodes, flows)


def compared(new: Model, old: Model | None = None) -> Comparison:
    return compare_models(old or model(), new, names=("old", "new"))


def compared_part(new: Model) -> tuple[str, Change]:
    """The verdict on behaviour, and the only change."""
    (part,) = compared(new).parts
    assert part.behaviour is not None
    (change,) = part.changes
    return part.behaviour.verdict, change


CASES: dict[str, tuple[Callable[[], Model], Change]] = {
    "name": (
        lambda: changed("a", name="Send"),
        Change("renamed", "element", "Send", "found by its id", "Ship", "Send"),
    ),
    "kind": (
        lambda: changed("a", task_type="service"),
        Change("changed", "element", "Ship", "kind", "task.user", "task.service"),
    ),
    "words": (
        lambda: changed("a", doc="By van."),
        Change("changed", "element", "Ship", "doc", "", "By van."),
    ),
    "condition": (
        lambda: changed("f2", condition=Expression(text="n > 1")),
        Change("changed", "condition", "In stock? [Yes] → Ship", "", "n > 0", "n > 1"),
    ),
    "no condition": (
        lambda: changed("f2", condition=None),
        Change("removed", "condition", "In stock? [Yes] → Ship", "", "n > 0", None),
    ),
    "default": (
        lambda: changed("f3", default=False),
        Change("changed", "flow", "In stock? [No] → Order more", "it is no longer the default"),
    ),
    "lane": (
        lambda: model(lanes=(Lane(id="l", name="Sales", members=("a",)),)),
        Change("added", "lane", "Sales"),
    ),
    "process name": (
        lambda: Model(id="m", processes=(model().processes[0].replace(name="Orders"),)),
        Change("changed", "process", "Orders", "name", "P", "Orders"),
    ),
}
ONLY_WORDS = ("name", "words", "lane", "process name")
"""Cases that cannot change behaviour; of the others, the behaviour depends on what is assumed."""


@pytest.mark.parametrize("name", CASES)
def test_a_change_is_told_as_what_it_is(name: str) -> None:
    new, expected = CASES[name]
    assert compared_part(new()) == ("same" if name in ONLY_WORDS else "changed", expected)


def test_nothing_is_told_of_ids_and_order() -> None:
    ids = {n.id: f"new_{n.id}" for n in NODES}
    nodes = tuple(n.replace(id=ids[n.id]) for n in reversed(NODES))
    flows = tuple(
        f.replace(id=f"new_{f.id}", source=ids[f.source], target=ids[f.target])
        for f in reversed(FLOWS)
    )
    found = compared(model(nodes, flows))
    assert not found.differs, found
    assert found.parts[0].behaviour is not None
    assert found.parts[0].behaviour.verdict == "same"


def test_swapped_branches() -> None:
    flows = tuple(
        f.replace(target={"a": "b", "b": "a"}.get(f.target, f.target)) if f.name else f
        for f in FLOWS
    )
    found = compared(model(flows=flows))
    behaviour = found.parts[0].behaviour
    assert behaviour is not None
    assert behaviour.verdict == "different"
    text = comparison_text(found)
    assert "    In stock? → No                       In stock? → No\n" in text
    assert "≠ Order more                           Ship\n" in text
    assert any("may occur here only" in line for line in list_problems(found))


def test_a_step_put_in_and_one_taken_out() -> None:
    new = model(
        (*NODES, Task(id="c", name="Pack")),
        (*FLOWS[:3], Flow(id="f4", source="a", target="c"), Flow(id="f6", source="c", target="e"),
         FLOWS[4]),
    )  # fmt: skip
    (part,) = compared(new).parts
    assert part.changes[0] == Change("added", "element", "Pack", "", None, "task.abstract")
    assert part.behaviour is not None
    assert part.behaviour.verdict == "same"
    assert "same behaviour except for additions and removals" in comparison_text(compared(new))
    (part,) = compared(model(), new).parts
    assert part.changes[0].kind == "removed"


def test_a_join_that_waits_for_ever_is_a_difference() -> None:
    """The branches of the same choice end in a gateway that takes each, or waits for both."""

    def joined(kind: str) -> Model:
        join = Gateway(id="j", gateway_kind=kind)  # type: ignore[arg-type]
        ends = (("a", "j"), ("b", "j"), ("j", "e"))
        into = tuple(Flow(id=f"j{n}", source=s, target=t) for n, (s, t) in enumerate(ends))
        flows = (*FLOWS[:3], *into)
        return model((*NODES, join), flows)

    found = compared(joined("parallel"), joined("exclusive"))
    behaviour = found.parts[0].behaviour
    assert behaviour is not None
    assert behaviour.verdict == "different"
    assert "the run is stuck" in behaviour.run[-1].new


def test_an_end_that_became_an_error() -> None:
    new = changed("e", definitions=(EventDefinition(kind="error"),))
    behaviour = compared(new).parts[0].behaviour
    assert behaviour is not None
    assert (
        behaviour.reason == "the runs end differently: the run ends, now the run ends in an error"
    )


def test_processes_are_paired_by_id_name_or_what_is_left() -> None:
    other = Process(id="q", name="Q", nodes=NODES, flows=FLOWS)
    both = Model(id="m", processes=(*model().processes, other))
    found = compared(both)
    assert [(p.old, p.new) for p in found.parts] == [("P", "P"), (None, "Q")]
    assert found.verdict == "different"
    found = compared(Model(id="m", processes=(other.replace(id="z", name="Z"),)))
    assert [p.how for p in found.parts] == ["only one"]
    assert compared(Model(id="m"), Model(id="m")).differs is False


def test_an_added_flow_is_one_line() -> None:
    text = comparison_text(compared(model(flows=(*FLOWS, Flow(id="f6", source="x", target="e")))))
    assert text.count("In stock? → Done") == 1
