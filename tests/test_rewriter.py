"""The rewriter: every edit, what follows from removals and new ids, and where made elements come
from. Results are compared with models that are written out, or looked at by the verifier."""

from __future__ import annotations

import random
from typing import Any

import pytest
from model_gen import random_model

from orgflow_ir.diagnostics import Edit, Fix, FixError, apply, in_full
from orgflow_ir.model import (
    Artifact,
    DataFlow,
    DataObject,
    Event,
    EventDefinition,
    Expression,
    Flow,
    Gateway,
    Lane,
    MessageFlow,
    Model,
    Node,
    Process,
    SubProcess,
    Task,
)
from orgflow_ir.model.bindings import Script
from orgflow_ir.model.diagram import Diagram, Edge, Shape
from orgflow_ir.model.rewriter import EditError, Rewriter
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.model.verifier import list_violations

PLACE = SourceLocation(file="x.bpmn", line=7)


def flow(id: str, source: str, target: str, **more: Any) -> Flow:
    return Flow(id=id, source=source, target=target, **more)


def timer(text: str) -> EventDefinition:
    return EventDefinition(kind="timer", timer="duration", expression=Expression(text=text))


def sample() -> Model:
    """A process with a sub-process, and everything that refers to its nodes."""
    late = Event(id="late", position="boundary", attached_to="work", definitions=(timer("PT1H"),))
    inner = SubProcess(
        id="sub",
        nodes=(Task(id="in1", name="In", loc=PLACE), Task(id="in2")),
        flows=(flow("fi", "in1", "in2"),),
    )
    nodes = (
        Event(id="start", position="start"), Task(id="work", name="Work", loc=PLACE), late,
        Gateway(id="choice", gateway_kind="exclusive"), inner, Event(id="end", position="end"),
    )  # fmt: skip
    flows = (
        flow("f1", "start", "work"), flow("f2", "work", "choice"),
        flow("f3", "choice", "sub", default=True), flow("f4", "choice", "end"),
        flow("f5", "sub", "end"), flow("f6", "late", "end"),
    )  # fmt: skip
    process = Process(
        id="P", nodes=nodes, flows=flows,
        lanes=(Lane(id="lane", members=("start", "work", "sub")),),
        data_objects=(DataObject(id="data", data_kind="object"),),
        data_flows=(DataFlow(id="d1", source="data", target="work"),),
        artifacts=(
            Artifact(id="note", artifact_kind="annotation", text="!"),
            Artifact(id="a1", artifact_kind="association", source="note", target="work"),
        ),
    )  # fmt: skip
    return Model(
        id="m", processes=(process, Process(id="Q", nodes=(Task(id="other"),))),
        message_flows=(
            MessageFlow(id="m1", source="work", target="other"),
            MessageFlow(id="m2", source="in1", target="other"),
        ),
        diagram=Diagram(
            shapes=tuple(
                Shape(element=n, bounds=(0.0, 0.0, 1.0, 1.0))
                for n in ("work", "late", "sub", "in1")
            ),
            edges=(Edge(element="f1"), Edge(element="f3"), Edge(element="f4")),
        ),
    )  # fmt: skip


def ids(elements: Any) -> list[str]:
    return [e.id for e in elements]


def test_without_an_edit_it_is_the_same_model() -> None:
    model = sample()
    rewriter = Rewriter(model, origin="x")
    assert rewriter.node("sub", "in1").name == "In"
    assert rewriter.done() is model
    assert rewriter.edits == ()


def test_what_hangs_on_a_removed_node_goes_with_it() -> None:
    rewriter = Rewriter(sample())
    rewriter.remove("P", "work")
    model = rewriter.done()
    (process, _) = model.processes
    assert ids(process.nodes) == ["start", "choice", "sub", "end"]
    assert ids(process.flows) == ["f3", "f4", "f5"]
    assert process.lanes[0].members == ("start", "sub")
    assert process.data_flows == ()
    assert ids(process.artifacts) == ["note"]
    assert ids(model.message_flows) == ["m2"]
    assert model.diagram is not None
    assert [s.element for s in model.diagram.shapes] == ["sub", "in1"]
    assert [e.element for e in model.diagram.edges] == ["f3", "f4"]
    assert not list_violations(model)


def test_a_sub_process_goes_with_all_that_is_in_it() -> None:
    rewriter = Rewriter(sample())
    rewriter.remove("P", "sub")
    model = rewriter.done()
    assert ids(model.processes[0].flows) == ["f1", "f2", "f4", "f6"]
    assert ids(model.message_flows) == ["m1"]
    with pytest.raises(EditError, match="no process or sub-process `sub`"):
        rewriter.relabel("sub", "in1", "x")


def test_references_follow_a_new_id() -> None:
    rewriter = Rewriter(sample())
    rewriter.replace("P", "work", Task(id="job", name="Job"))
    model = rewriter.done()
    process = model.processes[0]
    assert ids(process.nodes) == ["start", "job", "late", "choice", "sub", "end"]
    assert [(f.source, f.target) for f in process.flows[:2]] == [
        ("start", "job"),
        ("job", "choice"),
    ]
    late = process.nodes[2]
    assert isinstance(late, Event)
    assert late.attached_to == "job"
    assert process.lanes[0].members == ("start", "job", "sub")
    assert process.data_flows[0].target == "job"
    assert process.artifacts[1].target == "job"
    assert model.message_flows[0].source == "job"
    assert model.diagram is not None
    assert model.diagram.shapes[0].element == "job"
    assert not list_violations(model)
    rewriter.replace("P", "job", Task(id="work", name="Work", loc=PLACE))
    assert rewriter.done() == sample()


def test_a_parallel_gateway_has_no_default_flow() -> None:
    rewriter = Rewriter(sample())
    rewriter.replace("P", "choice", Gateway(id="choice", gateway_kind="parallel"))
    assert [f.default for f in rewriter.done().processes[0].flows] == [False] * 6


def test_a_sub_process_is_taken_apart() -> None:
    """Nodes are moved out of the scope that is removed; what they say of themselves stays true."""
    model = sample()
    rewriter = Rewriter(model, origin="inline")
    sub = model.processes[0].nodes[4]
    assert isinstance(sub, SubProcess)
    rewriter.about(sub)
    for element in (*sub.nodes, *sub.flows):
        rewriter.insert("P", element)
    rewriter.redirect("P", "f3", target="in1")
    rewriter.redirect("P", "f5", source="in2")
    rewriter.remove("P", "sub")
    done = rewriter.done()
    process = done.processes[0]
    assert ids(process.nodes)[-2:] == ["in1", "in2"]
    assert process.nodes[-2].derived_from == ("in1",)
    assert [(f.source, f.target) for f in process.flows if f.id in ("f3", "f5", "fi")] == [
        ("choice", "in1"), ("in2", "end"), ("in1", "in2")
    ]  # fmt: skip
    assert ids(done.message_flows) == ["m1", "m2"]
    assert not list_violations(done)


def test_made_elements_name_the_source_elements_they_come_from() -> None:
    model = sample()
    work = model.processes[0].nodes[1]
    first = Rewriter(model, origin="first")
    first.about(work)
    split = Gateway(id=first.fresh_id("work", "split"), gateway_kind="inclusive")
    first.insert("P", split)
    first.redirect("P", "f2", source=split.id)
    first.connect("P", "work", split.id, id=first.fresh_id("work", "to_split"))
    once = first.done()
    made = once.processes[0].nodes[-1]
    assert (made.id, made.origin, made.derived_from) == ("work__split", "first", ("work",))
    assert made.loc == PLACE
    moved = next(f for f in once.processes[0].flows if f.id == "f2")
    assert (moved.origin, moved.derived_from) == ("first", ("f2",))
    second = Rewriter(once, origin="second")
    join = Gateway(id=second.fresh_id(made.id, "join"), gateway_kind="inclusive")
    second.insert("P", join, of=(made, once.processes[0].nodes[0]))
    second.relabel("P", made.id, "Split")
    twice = second.done().processes[0].nodes
    assert twice[-1].derived_from == ("work", "start")
    assert (twice[-2].origin, twice[-2].derived_from) == ("second", ("work",))
    untouched = [n for n in twice[:-2] if n.derived_from or n.origin]
    assert untouched == []


def test_the_inside_of_a_made_sub_process_is_marked_too() -> None:
    model = sample()
    work = model.processes[0].nodes[1]
    rewriter = Rewriter(model, origin="wrap")
    inside = (work, Task(id="more"))
    wrap = SubProcess(id="wrap", nodes=inside, flows=(flow("fw", "work", "more"),))
    rewriter.replace("P", "work", wrap)
    (made,) = (n for n in rewriter.done().processes[0].nodes if n.id == "wrap")
    assert isinstance(made, SubProcess)
    assert made.derived_from == ("work",)
    assert made.nodes[0] is work
    assert made.nodes[1].derived_from == made.flows[0].derived_from == ("work",)


def test_edits_of_the_source_leave_no_mark() -> None:
    rewriter = Rewriter(sample())
    rewriter.insert("P", Task(id="new"))
    rewriter.relabel("sub", "in1", "Inner")
    done = rewriter.done()
    marked = [e for s in done.scopes() for e in (*s.nodes, *s.flows) if e.origin or e.derived_from]
    assert marked == []


def test_made_elements_come_from_somewhere() -> None:
    rewriter = Rewriter(sample(), origin="x")
    with pytest.raises(
        EditError, match="the model does not define which element `new` is derived from"
    ):
        rewriter.insert("P", Task(id="new"))


def test_ids_are_free() -> None:
    rewriter = Rewriter(sample())
    assert rewriter.free_id("data") == "data_2"
    assert rewriter.fresh_id("work", "join") == "work__join"
    assert rewriter.fresh_id("work", "join") == "work__join_2"
    rewriter.insert("P", Task(id="new"))
    assert rewriter.free_id("new") == "new_2"


BINDING = Script(code="x")
SMALL: dict[str, tuple[Edit, Any]] = {
    "binding": (
        Edit(action="set-binding", scope="sub", id="in1", binding=BINDING),
        lambda m: m.processes[0].nodes[4].nodes[0].binding == BINDING,
    ),
    "no binding": (
        Edit(action="set-binding", scope="P", id="work"),
        lambda m: m.processes[0].nodes[1].binding is None,
    ),
    "condition": (
        Edit(action="set-condition", scope="P", id="f4", condition=Expression(text="x > 1")),
        lambda m: m.processes[0].flows[3].condition == Expression(text="x > 1"),
    ),
    "timer": (
        Edit(action="set-timer", scope="P", id="late", timer=timer("P2D")),
        lambda m: m.processes[0].nodes[2].definitions == (timer("P2D"),),
    ),
    "label of a node": (
        Edit(action="relabel", scope="sub", id="in2", name="Second"),
        lambda m: m.processes[0].nodes[4].nodes[1].name == "Second",
    ),
    "label of a flow": (
        Edit(action="relabel", scope="P", id="f4", name="no"),
        lambda m: m.processes[0].flows[3].name == "no",
    ),
    "ends": (
        Edit(action="redirect", scope="P", id="f4", target="work"),
        lambda m: m.processes[0].flows[3].target == "work",
    ),
    "default": (
        Edit(action="set-default", scope="P", id="f4"),
        lambda m: [f.id for f in m.processes[0].flows if f.default] == ["f4"],
    ),
    "no default": (
        Edit(action="set-default", scope="P", id="f3", default=False),
        lambda m: not any(f.default for f in m.processes[0].flows),
    ),
}


@pytest.mark.parametrize("name", SMALL)
def test_small_edits_are_data(name: str) -> None:
    """Through JSON, and written out as elements: both make the same model."""
    edit, holds = SMALL[name]
    fix = Fix(title="x", applicability="safe", edits=(edit,))
    again = Fix.validate({**vars(fix), "edits": [{k: v for k, v in vars(edit).items() if v}]}) if (
        edit.default is None
    ) else fix  # fmt: skip
    model = apply(sample(), again)
    assert holds(model)
    full = in_full(sample(), fix)
    assert {e.action for e in full.edits} == {"replace"}
    assert apply(sample(), full) == model


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (Edit(action="set-binding", scope="P", id="choice", binding=BINDING), "is not a task"),
        (Edit(action="set-timer", scope="P", id="end", timer=timer("P1D")), "one timer"),
        (Edit(action="set-timer", scope="P", id="late"), "no time is given"),
        (Edit(action="set-condition", scope="P", id="work"), "`P` has no flow `work`"),
        (Edit(action="redirect", scope="P", id="f1", target="in1"), "`P` has no node `in1`"),
        (Edit(action="relabel", scope="sub", id="work", name="x"), "`sub` has no node `work`"),
        (Edit(action="remove", scope="R", id="work"), "no process or sub-process `R`"),
        (Edit(action="add", scope="P"), "either a node or a flow"),
        (Edit(action="add", scope="P", node=Task(id="f1")), "already has an element `f1`"),
        (Edit(action="replace", scope="P", id="work", node=Task(id="f1")), "already has an"),
        (Edit(action="replace", scope="P", id="f1", node=Task(id="f1")), "no node `f1`"),
    ],
)  # fmt: skip
def test_edits_that_do_not_fit(edit: Edit, why: str) -> None:
    with pytest.raises(FixError, match=why):
        apply(sample(), Fix(title="x", applicability="safe", edits=(edit,)))


def _random_edit(rewriter: Rewriter, model: Model, rng: random.Random) -> None:
    scope = rng.choice(list(model.scopes()))
    nodes: list[Node] = [n for n in scope.nodes if not rewriter.touched(scope.id, n.id)]
    if not nodes:
        return
    node = rng.choice(nodes)
    match rng.randrange(5):
        case 0:
            rewriter.remove(scope.id, node.id)
        case 1:
            rewriter.replace(scope.id, node.id, node.replace(id=rewriter.free_id("renamed")))
        case 2:
            made = Task(id=rewriter.fresh_id(node.id, "after"))
            rewriter.insert(scope.id, made)
            rewriter.connect(scope.id, node.id, made.id, id=rewriter.free_id("link"))
        case 3:
            rewriter.relabel(scope.id, node.id, f"{node.name}!")
        case _:
            flows = [f for f in scope.flows if not rewriter.touched(scope.id, f.id)]
            if flows:
                rewriter.redirect(scope.id, rng.choice(flows).id, target=node.id)


@pytest.mark.parametrize("seed", range(40))
def test_any_edits_leave_a_sound_model_and_are_the_same_as_data(seed: int) -> None:
    """No reference leads to nothing; the recorded edits, applied to the model, make the same."""
    rng = random.Random(seed)
    model = random_model(seed, 25, ("task", "xor", "and", "or"))
    rewriter = Rewriter(model)
    for _ in range(8):
        _random_edit(rewriter, model, rng)
    done = rewriter.done()
    assert list_violations(done) <= list_violations(model)
    fix = Fix(title="x", applicability="safe", edits=rewriter.edits)
    assert apply(model, fix) == done


def test_a_dissolved_sub_process_leaves_what_is_in_it() -> None:
    note = Artifact(id="note", artifact_kind="annotation", text="Why")
    data = DataObject(id="list", data_kind="object")
    inner = SubProcess(
        id="sub",
        nodes=(Task(id="x"), Task(id="y"), Event(id="late", position="boundary", attached_to="x")),
        flows=(Flow(id="xy", source="x", target="y"),),
        artifacts=(note,),
        data_objects=(data,),
        lanes=(Lane(id="inside", members=("y",)),),
    )
    process = Process(
        id="p",
        nodes=(Task(id="a"), inner, Task(id="b")),
        flows=(Flow(id="in", source="a", target="sub"), Flow(id="out", source="sub", target="b")),
        lanes=(Lane(id="lane", members=("a", "sub")), Lane(id="other", members=("b",))),
    )
    rewriter = Rewriter(Model(id="m", processes=(process,)), origin="test")
    rewriter.dissolve("p", "sub")
    rewriter.connect("p", "a", "x", id="to_x", of=(inner,))
    made = rewriter.done().processes[0]
    assert [n.id for n in made.nodes] == ["a", "x", "y", "late", "b"]
    assert [f.id for f in made.flows] == ["xy", "to_x"]
    assert {n.id: n.derived_from for n in made.nodes if n.derived_from} == {
        "x": ("x",), "y": ("y",), "late": ("late",)
    }  # fmt: skip
    assert (made.artifacts, made.data_objects) == ((note,), (data,))
    members = {lane.id: (lane.members, lane.parent) for lane in made.lanes}
    assert members == {
        "lane": (("a", "x", "y", "late"), None),
        "other": (("b",), None),
        "inside": (("y",), "lane"),
    }
    assert made.nodes[0] is process.nodes[0]
    with pytest.raises(EditError, match="no sub-process"):
        Rewriter(rewriter.model).dissolve("p", "a")
