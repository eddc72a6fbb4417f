"""PME files that are not as they should be: every finding names the JSON path and the place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from orgflow.frontends.pme.frontend import PmeFrontend

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.model import Event, Model, Opaque, Task
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext


def parse(data: Any) -> tuple[Model | None, list[Diagnostic]]:
    if not isinstance(data, bytes):
        data = (data if isinstance(data, str) else json.dumps(data)).encode()
    ctx = PassContext()
    return PmeFrontend().parse(SourceFile("m.json", data), ctx), ctx.diagnostics


def model_of(data: Any) -> tuple[Model, list[Diagnostic]]:
    model, found = parse(data)
    assert model is not None
    return model, found


GOOD: dict[str, Any] = {
    "tasks": [{"id": "Task_1", "name": "Check", "type": "User"}],
    "events": [
        {"id": "S", "name": "", "type": "StartNoneEvent"},
        {"id": "E", "name": "done", "type": "EndNoneEvent"},
    ],
    "gateways": [],
    "pools": [],
    "sequenceFlows": [
        {"id": "f", "sourceRef": "S", "targetRef": "Task_1"},
        {"id": "g", "sourceRef": "Task_1", "targetRef": "E", "condition": "ok"},
    ],
    "messageFlows": [],
}


def with_(**changes: Any) -> dict[str, Any]:
    return {**GOOD, **changes}


def test_a_good_model() -> None:
    model, found = model_of(GOOD)
    assert found == []
    (process,) = model.processes
    assert process.id == "Process_1"
    assert [n.construct for n in process.nodes] == ["task.user", "event.start.none",
                                                    "event.end.none"]  # fmt: skip
    assert [(f.id, f.name, f.condition) for f in process.flows] == [("f", "", None),
                                                                    ("g", "ok", None)]  # fmt: skip
    assert model.pools == ()


def test_places_are_exact_in_any_encoding() -> None:
    text = '{\n "tasks": [\n  {"id": "é",\n   "name": 5}]}'
    for data, width, bom in (
        (text.encode(), None, 0),
        (b"\xef\xbb\xbf" + text.encode(), None, 3),
        (text.encode("utf-16"), 2, 2),
    ):
        _, found = parse(data)
        wrong = next(d for d in found if d.code == "OF032")
        assert wrong.message == "$.tasks[0].name is a number, not a text"
        assert wrong.loc is not None
        assert (wrong.loc.line, wrong.loc.column, wrong.loc.element) == (4, 12, "$.tasks[0].name")
        at = text.index("5}")
        start = at * width + bom if width else len(text[:at].encode()) + bom
        assert wrong.loc.span == (start, start + (width or 1))


NO_VALUE = "not JSON: expected a value"


@pytest.mark.parametrize(
    ("data", "code", "line", "message"),
    [
        ("", "OF030", 1, "not JSON: the file is empty"),
        (" \n", "OF030", 1, "not JSON: the file is empty"),
        ('{"tasks": [\n{"id": "a" "name": ""}]}', "OF030", 2, "not JSON: expected `,` or `}`"),
        ('{"tasks": [1,]}', "OF030", 1, "not JSON: a value is missing after the last `,`"),
        ('{"tasks": [', "OF030", 1, "not JSON: the text ends, but a value is expected"),
        ('{"tasks": []} x', "OF030", 1, "not JSON: there is text after the end of the value"),
        ('{"tasks": NaN}', "OF030", 1, NO_VALUE),
        ("[" * 1000, "OF030", 1, "not JSON: values are nested more than 256 levels deep"),
        (b'{"tasks": "\xff"}', "OF030", 1, "not JSON: byte 11 is not valid utf-8"),
        ("[]", "OF031", 1, None),
        ('{"nodes": [], "connections": {}}', "OF031", 1, None),
        ("7", "OF031", 1, None),
    ],
)  # fmt: skip
def test_what_cannot_be_read(data: Any, code: str, line: int, message: str | None) -> None:
    model, found = parse(data)
    assert model is None
    assert [(d.code, d.loc.line if d.loc else None) for d in found] == [(code, line)]
    assert found[0].help
    if message is not None:
        assert found[0].message == message


TASK = {"id": "T", "name": "", "type": "Task"}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"tasks": 5}, [("OF032", "$.tasks")]),
        ({"tasks": [5]}, [("OF032", "$.tasks[0]")]),
        ({"tasks": [{**TASK, "type": 3}]}, [("OF032", "$.tasks[0].type")]),
        ({"tasks": [{"id": "T", "name": ""}]}, [("OF033", "$.tasks[0]")]),
        ({"tasks": [{"name": "", "type": "Task"}]}, [("OF033", "$.tasks[0]")]),
        ({"tasks": [{**TASK, "colour": 1}]}, [("OF034", "$.tasks[0].colour")]),
        ({"lanes": []}, [("OF034", "$.lanes")]),
        ({"a b": []}, [("OF034", '$["a b"]')]),
        ({"tasks": [{**TASK, "type": "Robot"}]}, [("OF035", "$.tasks[0].type")]),
        ({"gateways": [{"id": "G", "type": "XOR"}]}, [("OF035", "$.gateways[0].type")]),
        ({"events": [{"id": "S", "type": "StartCancelEvent"}]}, [("OF035", "$.events[0].type")]),
        ({"tasks": [TASK, TASK]}, [("OF036", "$.tasks[1]")]),
        ({"sequenceFlows": [{"id": "f", "sourceRef": "S"}]}, [("OF033", "$.sequenceFlows[0]")]),
        (
            {"messageFlows": [{"id": "m", "sourceRef": "S", "targetRef": "X"}]},
            [("OF037", "$.messageFlows[0].targetRef")],
        ),
    ],
)
def test_each_finding_names_its_path(
    changes: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    model, found = model_of(with_(**changes))
    assert [(d.code, d.loc.element if d.loc else None) for d in found] == expected
    assert all(d.help for d in found)
    assert Model.from_json(model.to_json()) == model


def test_unknown_things_are_kept() -> None:
    model, _ = model_of(with_(tasks=[{**TASK, "type": "Robot", "arm": {"b": [1], "a": None}}]))
    robot = model.processes[0].nodes[0]
    assert isinstance(robot, Opaque)
    assert robot.extra == (("@{urn:orgflow:pme}arm", '{"a": null, "b": [1]}'),)
    assert json.loads(robot.payload)["type"] == "Robot"


def test_a_key_twice_is_said_and_the_last_counts() -> None:
    model, found = model_of('{"tasks": [{"id": "a", "id": "b", "type": "Task"}]}')
    assert [d.code for d in found] == ["OF034"]
    assert [n.id for n in model.processes[0].nodes] == ["b"]


def test_a_second_id_is_renamed_and_the_first_keeps_its_flows() -> None:
    model, _ = model_of(with_(tasks=[{**TASK, "id": "Task_1"}, {**TASK, "id": "Task_1"}]))
    assert [n.id for n in model.processes[0].nodes][:2] == ["Task_1", "Task_1__2"]


def test_pools_lanes_and_black_boxes() -> None:
    pools = [
        {"id": "P1", "name": "Shop", "elemRefs": [],
         "lanes": [{"id": "L1", "name": "Desk", "elemRefs": ["Task_1"]},
                   {"id": "L2", "name": "Store", "elemRefs": ["S", "E"]}]},
        {"id": "P2", "name": "Customer", "lanes": [], "elemRefs": []},
    ]  # fmt: skip
    messages = [{"id": "m", "sourceRef": "P2", "targetRef": "S"}]
    model, found = model_of(with_(pools=pools, messageFlows=messages))
    assert found == []
    assert [(p.id, p.process) for p in model.pools] == [("P1", "Process_1"), ("P2", None)]
    assert [(lane.name, lane.members) for lane in model.processes[0].lanes] == [
        ("Desk", ("Task_1",)), ("Store", ("S", "E")),
    ]  # fmt: skip
    assert [(m.source, m.target) for m in model.message_flows] == [("P2", "S")]


def test_nodes_in_no_pool_or_in_two() -> None:
    pools = [
        {"id": "P1", "name": "", "lanes": [], "elemRefs": ["Task_1", "S", "nobody"]},
        {"id": "P2", "name": "", "lanes": [], "elemRefs": ["S"]},
    ]
    model, found = model_of(with_(pools=pools))
    assert [(d.code, d.loc.element if d.loc else None) for d in found] == [
        ("OF037", "$.pools[0].elemRefs[2]"),
        ("OF037", "$.pools[1].elemRefs[0]"),
        ("OF037", "$.events[1]"),
    ]
    assert [[n.id for n in p.nodes] for p in model.processes] == [["Task_1", "S"], ["E"]]


EVENTS = {
    "StartNoneEvent": "event.start.none",
    "StartMessageEvent": "event.start.message",
    "EndNoneEvent": "event.end.none",
    "IntermediateMessageEventCatching": "event.catch.message",
    "IntermediateTimerEvent": "event.catch.timer",
    "IntermediateConditionalEvent": "event.catch.conditional",
    "IntermediateMessageEventThrowing": "event.throw.message",
    "EndTerminateEvent": "event.end.terminate",
    "StartTimerEvent": "event.start.timer",
}


@pytest.mark.parametrize(("kind", "construct"), EVENTS.items())
def test_events(kind: str, construct: str) -> None:
    model, found = model_of(with_(events=[{"id": "S", "name": "", "type": kind}]))
    event = model.processes[0].nodes[1]
    assert isinstance(event, Event)
    assert (event.construct, found) == (construct, [])


def test_tasks_of_every_type() -> None:
    kinds = ("Task", "User", "Service", "Manual", "Send", "Receive")
    tasks = [{"id": k, "name": "", "type": k} for k in kinds]
    model, found = model_of(with_(tasks=tasks))
    nodes = [n for n in model.processes[0].nodes if isinstance(n, Task)]
    assert [n.task_type for n in nodes] == [
        "abstract", "user", "service", "manual", "send", "receive",
    ]  # fmt: skip
    assert found == []


def test_sniffing() -> None:
    frontend = PmeFrontend()
    assert frontend.sniff(SourceFile("m.json", json.dumps(GOOD).encode()))
    assert frontend.sniff(SourceFile("m.json", json.dumps(GOOD).encode("utf-16")))
    assert not frontend.sniff(SourceFile("m.json", b'{"nodes": [], "connections": {}}'))
    assert not frontend.sniff(SourceFile("m.xml", b"<definitions/>"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["id", "name", "type", "sourceRef", "targetRef", "lanes", "elemRefs", "x"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)
LISTS = st.dictionaries(st.sampled_from(list(GOOD)), JSON, min_size=1)


@settings(max_examples=200)
@given(LISTS)
def test_any_json_with_a_known_list_gives_a_model(data: dict[str, Any]) -> None:
    model, found = model_of(data)
    assert Model.from_json(model.to_json()) == model
    assert all(d.loc is not None and d.loc.span is not None for d in found)
