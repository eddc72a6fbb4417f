"""The verifier finds every reference that leads nowhere, and lowerings add none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from orgflow.compilation.process_selection import select_process
from orgflow.compilation.reading import load_model

from orgflow_ir.legalisation.legalise import legalise
from orgflow_ir.model import (
    Artifact,
    CallActivity,
    Catalog,
    CatalogEntry,
    DataFlow,
    DataObject,
    Event,
    EventDefinition,
    Flow,
    Lane,
    MessageFlow,
    Model,
    Pool,
    Process,
    SubProcess,
    Task,
)
from orgflow_ir.model.diagram import Diagram, Edge, Shape
from orgflow_ir.model.verifier import list_violations
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry


def definition(kind: Any, ref: str) -> tuple[EventDefinition, ...]:
    return (EventDefinition(kind=kind, ref=ref),)


TASK = Task(id="task", message="order", derived_from=("gone",))
TIMER = Event(id="timer", position="boundary", attached_to="task")
UNDO = Event(id="undo", position="throw", definitions=definition("compensation", "inner"))
ALARM = Event(id="alarm", position="throw", definitions=definition("signal", "bell"))
SUB = SubProcess(id="sub", nodes=(Task(id="inner"),))
CALL = CallActivity(id="call", called="in another file")
FLOW = Flow(id="flow", source="task", target="sub", default=True)
LANE = Lane(id="lane", members=("task", "inner"), parent="above")
DATA = DataObject(id="data", data_kind="reference", ref="base")
WRITES = DataFlow(id="writes", source="inner", target="data")
NOTE = Artifact(id="note", artifact_kind="association", source="flow", target="data")
PROCESS = Process(
    id="process",
    nodes=(TASK, TIMER, UNDO, ALARM, SUB, CALL),
    flows=(FLOW, Flow(id="more", source="task", target="sub")),
    lanes=(Lane(id="above"), LANE),
    data_objects=(DataObject(id="base", data_kind="object"), DATA),
    data_flows=(WRITES,),
    artifacts=(NOTE,),
)
POOL = Pool(id="pool", process="process")
SENDS = MessageFlow(id="sends", source="inner", target="box", message="order")
AROUND = Artifact(id="around", artifact_kind="association", source="pool", target="sends")
MODEL = Model(
    id="model",
    processes=(PROCESS,),
    pools=(POOL, Pool(id="box")),
    message_flows=(SENDS,),
    catalog=Catalog(messages=(CatalogEntry(id="order"),), signals=(CatalogEntry(id="bell"),)),
    artifacts=(AROUND,),
    diagram=Diagram(
        shapes=(Shape(element="task", bounds=(0.0, 0.0, 1.0, 1.0)),), edges=(Edge(element="flow"),)
    ),
)


def within(field: str, old: Any, **changes: Any) -> Model:
    """The model with one part of its process changed."""
    items = tuple(
        item.replace(**changes) if item is old else item for item in getattr(PROCESS, field)
    )
    return MODEL.replace(processes=(PROCESS.replace(**{field: items}),))


def test_a_model_that_keeps_all_rules() -> None:
    assert list_violations(MODEL) == frozenset()


CASES = {
    "flow source": (within("flows", FLOW, source="x"), "the flow `flow` has an end `x`"),
    "flow target": (within("flows", FLOW, target="inner"), "the flow `flow` has an end `inner`"),
    "missing flow end": (within("flows", FLOW, target=""), "the flow `flow` has an end ``"),
    "attachment": (within("nodes", TIMER, attached_to="x"), "`timer` is attached to `x`"),
    "attachment to another scope": (
        within("nodes", TIMER, attached_to="inner"), "`timer` is attached to `inner`",
    ),
    "attachment to an event": (
        within("nodes", TIMER, attached_to="alarm"), "`alarm`, which is not an activity",
    ),
    "member of a lane": (within("lanes", LANE, members=("x",)), "the lane `lane` contains `x`"),
    "parent of a lane": (within("lanes", LANE, parent="task"), "the lane `lane` is inside `task`"),
    "message of a task": (within("nodes", TASK, message="bell"), "`task` has the message `bell`"),
    "signal": (
        within("nodes", ALARM, definitions=definition("signal", "order")),
        "`alarm` refers to the signal `order`",
    ),
    "compensation": (
        within("nodes", UNDO, definitions=definition("compensation", "x")),
        "`undo` refers to the compensation `x`",
    ),
    "data object": (within("data_objects", DATA, ref="x"), "data object `data` refers to `x`"),
    "data source": (within("data_flows", WRITES, source="x"), "data flow `writes` ends at `x`"),
    "data target": (within("data_flows", WRITES, target="x"), "data flow `writes` ends at `x`"),
    "association": (within("artifacts", NOTE, target="x"), "association `note` ends at `x`"),
    "collaboration's association": (
        MODEL.replace(artifacts=(AROUND.replace(source="x"),)), "association `around` ends at `x`",
    ),
    "pool": (
        MODEL.replace(pools=(POOL.replace(process="x"), Pool(id="box"))),
        "the pool `pool` shows the process `x`",
    ),
    "message source": (
        MODEL.replace(message_flows=(SENDS.replace(source="flow"),)), "`sends` ends at `flow`",
    ),
    "message target": (
        MODEL.replace(message_flows=(SENDS.replace(target=""),)), "`sends` ends at ``",
    ),
    "message": (
        MODEL.replace(message_flows=(SENDS.replace(message="bell"),)), "carries the message `bell`",
    ),
    "two default flows": (
        MODEL.replace(processes=(PROCESS.replace(flows=tuple(
            flow.replace(default=True) for flow in PROCESS.flows
        )),)),
        "`task` has several default flows",
    ),
    "shape": (
        MODEL.replace(diagram=Diagram(shapes=(Shape(element="x", bounds=(0.0, 0.0, 1.0, 1.0)),))),
        "the diagram shows `x`",
    ),
    "edge": (MODEL.replace(diagram=Diagram(edges=(Edge(element="x"),))), "the diagram shows `x`"),
    "id of another scope": (
        within("nodes", SUB, nodes=(Task(id="inner"), Task(id="alarm"))),
        "the id `alarm` occurs more than once",
    ),
    "id of a catalog entry": (
        within("lanes", PROCESS.lanes[0], id="above", name="x").replace(
            catalog=MODEL.catalog.replace(errors=(CatalogEntry(id="task"),))
        ),
        "the id `task` occurs more than once",
    ),
    "id of the model": (MODEL.replace(id="pool"), "the id `pool` occurs more than once"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_each_broken_rule_is_found(case: str) -> None:
    broken, said = CASES[case]
    found = list_violations(broken)
    assert len(found) == 1, found
    assert said in next(iter(found))


def examples(root: Path) -> list[Path]:
    return sorted((root / "examples").glob("*/model.*"))


def test_examples_keep_the_rules_through_every_lowering(root: Path, registry: Registry) -> None:
    files = examples(root)
    assert len(files) > 5
    for path in files:
        model = load_model(str(path), registry, PassContext(registry=registry), diagram=True)
        if model is None:
            continue
        before = list_violations(model)
        for backend in registry.backends.values():
            ctx = PassContext(registry=registry, target=backend.target)
            after = legalise(model, backend.target, ctx, allow_lossy=True)
            assert list_violations(after) <= before, (path, backend.name)


def test_one_process_leaves_nothing_of_the_others() -> None:
    other = Process(id="other", nodes=(Task(id="o1"),))
    notes = (
        Artifact(id="kept", artifact_kind="association", source="task", target="text"),
        Artifact(id="text", artifact_kind="annotation"),
        Artifact(id="cut", artifact_kind="association", source="o1", target="text"),
    )
    model = MODEL.replace(
        processes=(PROCESS, other),
        artifacts=notes,
        diagram=Diagram(
            shapes=tuple(
                Shape(element=e, bounds=(0.0, 0.0, 1.0, 1.0)) for e in ("task", "o1", "text")
            ),
            edges=(Edge(element="cut"), Edge(element="kept")),
        ),
    )
    assert list_violations(model) == frozenset()
    one = select_process(model, "process")
    assert list_violations(one) == frozenset()
    assert [a.id for a in one.artifacts] == ["kept", "text"]
    assert one.diagram is not None
    assert [s.element for s in one.diagram.shapes] == ["task", "text"]
    assert [e.element for e in one.diagram.edges] == ["kept"]
