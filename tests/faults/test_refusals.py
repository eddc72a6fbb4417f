"""Refusals are true, name their cause once, and name what makes the file compile."""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from cli_cases import orgflowc
from lxml import etree
from orgflow.backends.powl.format import PowlError
from orgflow.commands.output import join_artifacts
from orgflow.compilation.reading import load_model
from orgflow.compiler import CHECK, CompileRequest, compile_model, run_stages
from orgflow.frontends.powl.text_reader import TextReader

from orgflow_ir.diagnostics import Diagnostic, Severity
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.targets.artifact import Emitted
from tests.support.shared_data import shared_data

REGISTRY = Registry(outside=False)
STUB = {"unsupported": "stub"}
PLACEHOLDERS = {"people": "placeholder", "stubs": "placeholder"}
HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    'xmlns:flowable="http://flowable.org/bpmn" targetNamespace="t" id="d">'
)
LINE = (
    '<sequenceFlow id="f1" sourceRef="s" targetRef="t"/>'
    '<sequenceFlow id="f2" sourceRef="t" targetRef="e"/>'
)


def shared_model(name: str) -> bytes:
    return (Path(shared_data("faults")) / name).read_bytes()


def one_process(content: str, more: str = "") -> bytes:
    return f'{HEAD}{more}<process id="p" name="P">{content}</process></definitions>'.encode()


def compiled(
    data: bytes, target: str = "n8n", name: str = "m.bpmn", **settings: Any
) -> tuple[Emitted | None, list[Diagnostic]]:
    ctx = PassContext(registry=REGISTRY)
    model = load_model(SourceFile(name, data), REGISTRY, ctx, diagram=True)
    if model is None:
        return None, ctx.diagnostics
    return compile_model(model, REGISTRY.backends[target], ctx, **settings), ctx.diagnostics


def checked(data: bytes, name: str = "m.bpmn") -> list[Diagnostic]:
    ctx = PassContext(registry=REGISTRY)
    model = load_model(SourceFile(name, data), REGISTRY, ctx)
    if model is not None:
        run_stages(CHECK, CompileRequest(model), ctx)
    return ctx.diagnostics


def errors(findings: list[Diagnostic]) -> list[Diagnostic]:
    return [d for d in findings if d.severity is Severity.ERROR]


def codes(findings: list[Diagnostic]) -> set[str]:
    return {d.code for d in findings}


def proved(data: bytes, emitted: Emitted, options: Mapping[str, str]) -> None:
    ctx = PassContext(registry=REGISTRY, options=dict(options))
    model = load_model(SourceFile("m.bpmn", data), REGISTRY, ctx)
    assert model is not None
    text = join_artifacts(emitted.artifacts)
    file = SourceFile("output.json", text.encode())
    results = REGISTRY.backends["n8n"].verify(model, file, ctx) or ()
    assert {result.verdict.value for result in results} == {"proved"}


# -- events that never occur ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "omitted"),
    [
        ("read/of901-association-outside.bpmn", False),
        ("read/of901-cancel-never-thrown.bpmn", True),
        ("read/ok-association-inside.bpmn", False),
        ("run/d1_error_two_calls_c8.bpmn", False),
        ("run/d3_event_never_thrown.bpmn", True),
    ],
)
def test_an_event_that_nothing_throws_is_omitted_and_the_rest_is_proved(
    name: str, omitted: bool
) -> None:
    data = shared_model(name)
    emitted, findings = compiled(data, options=PLACEHOLDERS)
    assert emitted is not None, [d.message for d in errors(findings)]
    assert ("OF409" in codes(findings)) == omitted
    proved(data, emitted, PLACEHOLDERS)


def test_a_compensation_of_a_scope_that_nothing_compensates_is_omitted() -> None:
    handler = (
        '<subProcess id="sp" name="Book"><startEvent id="a"/><serviceTask id="b" name="Hotel"/>'
        '<endEvent id="c"/><sequenceFlow id="g1" sourceRef="a" targetRef="b"/>'
        '<sequenceFlow id="g2" sourceRef="b" targetRef="c"/>'
        '<subProcess id="h" name="Undo" triggeredByEvent="true"><startEvent id="hs">'
        '<compensateEventDefinition/></startEvent><serviceTask id="ht" name="Cancel hotel"/>'
        '<sequenceFlow id="g3" sourceRef="hs" targetRef="ht"/></subProcess></subProcess>'
    )
    content = f'<startEvent id="s"/>{handler.replace("sp", "t", 1)}<endEvent id="e"/>{LINE}'
    emitted, findings = compiled(one_process(content), options=PLACEHOLDERS)
    assert emitted is not None, [d.message for d in errors(findings)]
    (omitted,) = (d for d in findings if d.code == "OF409")
    assert "`Undo` never occurs" in omitted.message
    assert "compensates it" in omitted.message


_CAUGHT = (
    '<error id="E1" errorCode="BAD"/><error id="E2" errorCode="=code"/>'
    '<escalation id="S1" escalationCode="LATE"/><escalation id="S2" escalationCode="${code}"/>'
)
_ERROR = '<errorEventDefinition errorRef="E1"/>'
_LATE = '<escalationEventDefinition escalationRef="S1"/>'
_CAMUNDA = 'xmlns:camunda="http://camunda.org/schema/1.0/bpmn"'
_USER = '<userTask id="w" name="Decide"/>'


def around(step: str, end: str = "", tag: str = "p") -> str:
    """A step between a start and an end event."""
    return (
        f'<startEvent id="{tag}s"/>{step}<endEvent id="{tag}e">{end}</endEvent>'
        f'<sequenceFlow id="{tag}1" sourceRef="{tag}s" targetRef="{step.split(chr(34))[1]}"/>'
        f'<sequenceFlow id="{tag}2" sourceRef="{step.split(chr(34))[1]}" targetRef="{tag}e"/>'
    )


def caught_around(content: str, caught: str, called: str = "", catalog: str = _CAUGHT) -> bytes:
    """A process in which an event on a sub-process catches what its content throws."""
    scope = f'<subProcess id="S" name="Part">{content}</subProcess>'
    event = (
        f'<boundaryEvent id="B" name="Caught" attachedToRef="S">{caught}</boundaryEvent>'
        '<task id="t" name="Repair"/><sequenceFlow id="b1" sourceRef="B" targetRef="t"/>'
    )
    head = HEAD.replace("targetNamespace", f"{_CAMUNDA} targetNamespace")
    process = f'<process id="p">{around(scope)}{event}</process>'
    return f"{head}{catalog}{process}{called}</definitions>".encode()


def call(id: str, process: str) -> str:
    return f'<callActivity id="{id}" calledElement="{process}"/>'


_FIXED = _CAUGHT.replace("=code", "WORSE").replace("${code}", "LATER")
_LISTENING = _USER.replace(
    "/>",
    '><extensionElements><camunda:taskListener event="complete" class="x.Y"/></extensionElements>'
    "</userTask>",
)
_SENDING = (
    '<intermediateThrowEvent id="w"><messageEventDefinition camunda:type="external" '
    'camunda:topic="send"/></intermediateThrowEvent>'
)
_INNER = (
    f'<serviceTask id="q" name="Q"/><subProcess id="I">{around(_USER, _ERROR, "j")}</subProcess>'
    f'<boundaryEvent id="BI" attachedToRef="I">{_ERROR}</boundaryEvent>'
    '<sequenceFlow id="j3" sourceRef="q" targetRef="I"/>'
)
_UNKNOWN = f'<process id="k">{around(call("u", "unknown"), tag="k")}</process>'


@pytest.mark.parametrize(
    ("data", "kept"),
    [
        (caught_around(around(_USER, tag="i"), _ERROR, catalog=_FIXED), False),
        (caught_around(around(_LISTENING, tag="i"), _ERROR, catalog=_FIXED), True),
        (caught_around(around(_SENDING, tag="i"), _ERROR, catalog=_FIXED), True),
        (caught_around(_INNER, _ERROR, catalog=_FIXED), True),
        (caught_around(around(_USER, _ERROR.replace("E1", "E2"), "i"), _ERROR), True),
        (caught_around(around(_USER, _LATE.replace("S1", "S2"), "i"), _LATE), True),
        (caught_around(around(_USER, tag="i"), _LATE, catalog=_FIXED), False),
        (caught_around(around(call("c", "k"), tag="i"), _LATE, _UNKNOWN, _FIXED), True),
        (caught_around(around(call("c", "k"), tag="i"), _ERROR, _UNKNOWN, _FIXED), True),
    ],
    ids=[
        "person", "listener", "message with implementation", "caught inside, beside a service",
        "computed error", "computed escalation", "no escalation", "escalation of unknown process",
        "error of unknown process",
    ],
)  # fmt: skip
def test_an_event_is_kept_where_the_source_does_not_show_what_is_thrown(
    data: bytes, kept: bool
) -> None:
    emitted, findings = compiled(data, options=PLACEHOLDERS)
    assert ("OF409" not in codes(findings)) == kept, [d.message for d in findings]
    assert kept or emitted is not None
    assert emitted is None or ("Repair" in join_artifacts(emitted.artifacts)) == kept


def test_a_handler_stays_that_a_kept_activity_names() -> None:
    undone = "<compensateEventDefinition/>"
    mark = f'<boundaryEvent id="m{{0}}" attachedToRef="{{1}}">{undone}</boundaryEvent>'
    undo = '<serviceTask id="H" name="Undo it" isForCompensation="true"/>' + "".join(
        f'<association id="a{at}" sourceRef="m{at}" targetRef="H"/>' for at in "12"
    )
    content = caught_around(around(_USER, tag="i"), _ERROR, catalog=_FIXED).decode()
    content = content.replace(
        '<startEvent id="ps"/>',
        '<startEvent id="ps"/><serviceTask id="a" name="Pay"/><intermediateThrowEvent id="th">'
        f"{undone}</intermediateThrowEvent>"
        '<sequenceFlow id="p3" sourceRef="a" targetRef="th"/>'
        '<sequenceFlow id="p4" sourceRef="th" targetRef="S"/>'
        + mark.format(1, "a")
        + mark.format(2, "t")
        + undo,
    ).replace('sourceRef="ps" targetRef="S"', 'sourceRef="ps" targetRef="a"')
    emitted, findings = compiled(content.encode(), options=PLACEHOLDERS)
    assert emitted is not None, [d.message for d in errors(findings)]
    (omitted,) = (d for d in findings if d.code == "OF409")
    assert "Undo it" not in omitted.message
    assert "Undo it" in join_artifacts(emitted.artifacts)


_TWO_TRIGGERS = (
    '<intermediateCatchEvent id="c" name="Wait"><messageEventDefinition/>'
    "<signalEventDefinition/></intermediateCatchEvent>"
)


@pytest.mark.parametrize(
    "content",
    [
        '<startEvent id="s"/><task id="t" name="T"/><endEvent id="e"/>'
        f'{LINE}<receiveTask id="r" name="Order" instantiate="true"/>{_TWO_TRIGGERS}'
        '<sequenceFlow id="f3" sourceRef="r" targetRef="c"/>'
        '<sequenceFlow id="f4" sourceRef="c" targetRef="t"/>',
        f'<task id="t" name="T"/>{_TWO_TRIGGERS}<sequenceFlow id="f1" sourceRef="t" targetRef="c"/>'
        '<sequenceFlow id="f2" sourceRef="c" targetRef="t"/>',
    ],
    ids=["after a task that begins the process", "in a cycle without a start"],
)
def test_an_event_that_starts_lead_to_is_refused_and_not_omitted(content: str) -> None:
    emitted, findings = compiled(one_process(content), options=PLACEHOLDERS)
    assert emitted is None
    assert [d.code for d in errors(findings)] == ["OF403"]
    assert "OF409" not in codes(findings)


_CALLED = re.compile(
    r"(<callActivity [^>]*)><extensionElements><zeebe:calledElement "
    r'processId="(\w+)"[^>]*/></extensionElements>'
)


@pytest.mark.parametrize("kind", ["error", "escalation", "escalation beside"])
def test_what_leaves_a_called_process_is_caught_in_camunda_8_as_in_camunda_7(kind: str) -> None:
    text = shared_model("run/d1_error_two_calls_c8.bpmn").decode()
    if kind != "error":
        for old, new in (
            ("errorEventDefinition errorRef", "escalationEventDefinition escalationRef"),
            ("<error ", "<escalation "),
            ("errorCode", "escalationCode"),
        ):
            text = text.replace(old, new)
    if kind == "escalation beside":
        text = text.replace('attachedToRef="C653"', 'attachedToRef="C653" cancelActivity="false"')
    seven = _CALLED.sub(r'\1 calledElement="\2">', text)
    seven = seven.replace("<extensionElements><zeebe:userTask/></extensionElements>", "")
    seven = seven.replace("Camunda Cloud", "Camunda Platform")

    def outcome(data: str) -> object:
        emitted, findings = compiled(data.encode(), options=PLACEHOLDERS)
        if emitted is None:
            return [d.message for d in errors(findings)]
        return [
            sorted(node["name"] for node in json.loads(artifact.text)["nodes"])
            for artifact in emitted.artifacts
        ]

    assert outcome(text) == outcome(seven)
    assert kind == "escalation" or "About this workflow" in str(outcome(text))


# -- stubs ---------------------------------------------------------------------------------------


def reached(emitted: Emitted, start: str) -> set[str]:
    connections = json.loads(emitted.artifacts[0].text)["connections"]
    seen, stack = {start}, [start]
    while stack:
        outputs = connections.get(stack.pop(), {"main": []})["main"]
        for wire in (wire for output in outputs for wire in output or ()):
            if wire["node"] not in seen:
                seen.add(wire["node"])
                stack.append(wire["node"])
    return seen


def test_an_unsupported_boundary_event_is_dropped_and_named() -> None:
    data = shared_model("business/bd.bpmn")
    options = {**PLACEHOLDERS, **STUB}
    emitted, findings = compiled(data, options=options)
    assert emitted is not None
    (warning,) = (d for d in findings if d.severity is Severity.WARNING)
    assert warning.code == "OF407"
    assert warning.element == "b"
    assert warning.message.startswith("orgflow does not support `Override`")
    assert {"Review", "Publish", "End"} <= reached(emitted, "Start")
    proved(data, emitted, options)


def test_the_branches_after_a_stub_of_an_event_gateway_are_not_parallel() -> None:
    emitted, findings = compiled(shared_model("business/eg.bpmn"), options=STUB)
    assert emitted is not None
    assert not codes(findings) & {"OF421", "OF422", "OF423"}


def test_every_unsupported_start_becomes_a_manual_one() -> None:
    two = "<messageEventDefinition/><conditionalEventDefinition/>"
    for trigger in ("<conditionalEventDefinition/>", two):
        start = f'<startEvent id="s" name="Go">{trigger}</startEvent>'
        content = f'{start}<task id="t" name="Work"/><endEvent id="e"/>{LINE}'
        emitted, _ = compiled(one_process(content), options=STUB)
        assert emitted is not None, trigger
        assert "Work" in reached(emitted, "Go")


# -- what makes a file compile -------------------------------------------------------------------


def refused_models() -> Iterator[tuple[str, bytes, list[Diagnostic]]]:
    """Shared models that n8n refuses for what they contain, with the errors."""
    folders = ("faults", "pmo/bpmn", "camunda7-executable", "miwg-reference", "outside-look")
    paths = [p for f in folders for p in sorted(Path(shared_data(f)).rglob("*"))]
    for path in paths:
        if path.suffix not in (".bpmn", ".xml"):
            continue
        emitted, findings = compiled(path.read_bytes(), name=path.name)
        refusals = [d for d in errors(findings) if d.code in ("OF402", "OF403", "OF405")]
        if emitted is None and refusals and len(refusals) == len(errors(findings)):
            yield path.name, path.read_bytes(), refusals


@pytest.mark.slow
def test_allow_lossy_is_named_exactly_where_it_helps() -> None:
    tried = 0
    for name, data, refusals in refused_models():
        emitted, findings = compiled(data, name=name, allow_lossy=True)
        still = {d.element for d in errors(findings)}
        for refusal in refusals:
            named = "--allow-lossy" in f"{refusal.message} {refusal.help}"
            assert named == (refusal.code == "OF402"), (name, refusal.message)
            assert not named or refusal.element not in still, (name, refusal.message)
            assert named or emitted is None, (name, refusal.message)
        tried += 1
    assert tried > 40


@pytest.mark.slow
def test_stubs_leave_a_workflow_of_every_refused_model() -> None:
    for name, data, _ in refused_models():
        emitted, findings = compiled(data, name=name, options=STUB)
        assert emitted is not None, (name, [d.message for d in errors(findings)])


def test_a_repeated_wait_names_allow_lossy_and_the_loss() -> None:
    _, findings = compiled(shared_model("read/mi-subprocess-timer-lossy.bpmn"))
    (error,) = errors(findings)
    assert error.code == "OF402"
    assert "simultaneous waiting" in error.message
    assert "--allow-lossy" in (error.help or "")


# -- one error per cause -------------------------------------------------------------------------


def test_a_sub_process_is_not_refused_beside_its_event() -> None:
    older = {"version": "1.123"}
    _, findings = compiled(shared_model("read/refused-twice.bpmn"), options=older)
    (error,) = errors(findings)
    assert error.element == "b"
    assert error.message.startswith("orgflow does not support `After a day`")


@pytest.mark.parametrize(
    "flow",
    [
        '<sequenceFlow id="f2" sourceRef="g" targetRef=""/>',
        '<sequenceFlow id="f2" sourceRef="g" targetRef="nowhere"/>',
        '<sequenceFlow id="f2" sourceRef="" targetRef="b"/>',
    ],
)
def test_a_dangling_flow_has_no_follow_ups(flow: str) -> None:
    content = (
        '<startEvent id="s"/><parallelGateway id="g"/><task id="a" name="A"/>'
        '<task id="b" name="B"/><parallelGateway id="j"/><endEvent id="e"/>'
        '<sequenceFlow id="f1" sourceRef="s" targetRef="g"/>'
        '<sequenceFlow id="f3" sourceRef="g" targetRef="a"/>'
        '<sequenceFlow id="f4" sourceRef="a" targetRef="j"/>'
        '<sequenceFlow id="f5" sourceRef="b" targetRef="j"/>'
        '<sequenceFlow id="f6" sourceRef="j" targetRef="e"/>'
    )
    findings = checked(one_process(content + flow))
    problems = [d for d in findings if d.severity is not Severity.INFO]
    assert [d.code for d in problems][:1] == ["OF101"]
    assert {d.code for d in problems} == {"OF101"}


@pytest.mark.slow
def test_a_flow_that_loses_an_end_adds_one_error() -> None:
    """Sound shared models, of which one flow loses its target."""
    tried = 0
    for path in sorted(Path(shared_data("pmo/bpmn")).glob("*.bpmn")):
        data = path.read_bytes()
        before = checked(data)
        if errors(before):
            continue
        root = etree.fromstring(data)
        flows = [e for e in root.iter() if str(e.tag).endswith("}sequenceFlow")]
        if not flows:
            continue
        flow = random.Random(path.name).choice(flows)
        flow.set("targetRef", "gone")
        after = errors(checked(etree.tostring(root)))
        assert [d.code for d in after] == ["OF101"], (path.name, [d.message for d in after])
        tried += 1
    assert tried > 40


def test_no_message_has_empty_backticks() -> None:
    emitted, findings = compiled(shared_model("read/empty-reference.bpmn"))
    assert emitted is not None
    assert not [d.message for d in findings if "``" in d.message]
    assert any("`Send order` leads nowhere" in d.message for d in findings)


# -- messages ------------------------------------------------------------------------------------


def test_a_trigger_of_a_vendor_is_named() -> None:
    _, findings = compiled(shared_model("read/flowable-event-registry.bpmn"))
    (finding,) = findings
    assert finding.code == "OF403"
    assert "`flowable:eventType` `orderCancelled`" in finding.message


def test_a_start_with_a_trigger_of_a_vendor_is_not_a_manual_one() -> None:
    start = (
        '<startEvent id="s" name="Came"><extensionElements><flowable:eventType>order'
        "</flowable:eventType></extensionElements></startEvent>"
    )
    data = one_process(f'{start}<task id="t" name="Work"/><endEvent id="e"/>{LINE}')
    emitted, findings = compiled(data)
    assert emitted is None
    assert any("`flowable:eventType` `order`" in d.message for d in errors(findings))
    emitted, findings = compiled(data, options=STUB)
    assert emitted is not None
    assert any(d.message.endswith("; the process is started manually") for d in findings)


def test_what_is_refused_in_a_cycle_that_nothing_leads_to_stays_refused() -> None:
    """No path from a start leads there, with or without refused events."""
    cycle = (
        '<exclusiveGateway id="a"/><callActivity id="u" name="U"/><exclusiveGateway id="b"/>'
        '<sequenceFlow id="g1" sourceRef="a" targetRef="u"/>'
        '<sequenceFlow id="g2" sourceRef="u" targetRef="b"/>'
        '<sequenceFlow id="g3" sourceRef="b" targetRef="a"/>'
        '<sequenceFlow id="g4" sourceRef="b" targetRef="u"/>'
    )
    steps = '<startEvent id="s"/><task id="t" name="T"/><endEvent id="e"/>'
    made, findings = compiled(one_process(steps + LINE + cycle))
    assert made is None
    assert [(d.code, d.element) for d in errors(findings)] == [("OF403", "u")]


def test_a_call_without_a_process_says_so() -> None:
    content = f'<startEvent id="s"/><callActivity id="t" name="Check"/><endEvent id="e"/>{LINE}'
    _, findings = compiled(one_process(content))
    (finding,) = (d for d in findings if d.element == "t")
    assert "does not name the process that it calls" in finding.message
    assert (finding.help or "").startswith("name the process (`calledElement`)")


@pytest.mark.parametrize("text", ["stockOk and creditOk", "not order_paid", "order.paid", "isVip"])
def test_code_that_counts_as_a_label_is_named(text: str) -> None:
    condition = f'<conditionExpression xsi:type="tFormalExpression">{text}</conditionExpression>'
    content = (
        '<startEvent id="s"/><exclusiveGateway id="t" name="Ok?" default="f3"/><endEvent id="e"/>'
        '<endEvent id="e2"/><sequenceFlow id="f1" sourceRef="s" targetRef="t"/>'
        f'<sequenceFlow id="f2" name="yes" sourceRef="t" targetRef="e">{condition}</sequenceFlow>'
        '<sequenceFlow id="f3" name="no" sourceRef="t" targetRef="e2"/>'
    )
    _, findings = compiled(one_process(content))
    assert any(d.code == "OF507" and "looks like code" in d.message for d in findings)
    _, findings = compiled(one_process(content.replace(text, "checked and paid")))
    assert "OF507" not in codes(findings)


# -- files ---------------------------------------------------------------------------------------

FORMATS = {
    "draw.io": '<mxfile host="app"><diagram id="a" name="P">x</diagram></mxfile>',
    "PNML": '<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="n"/></pnml>',
    "XES": '<log xes.version="1.0" xmlns="http://www.xes-standard.org/"><trace/></log>',
    "BPEL": '<process xmlns="http://docs.oasis-open.org/wsbpel/2.0/process/executable"/>',
    "CMMN": '<c:definitions xmlns:c="http://www.omg.org/spec/CMMN/20151109/MODEL"/>',
    "Visio": '<VisioDocument xmlns="http://schemas.microsoft.com/visio/2003/core"/>',
    "UiPath": '<Activity xmlns="http://schemas.microsoft.com/netfx/2009/xaml/activities"/>',
    "Signavio": '{"resourceId": "c", "stencilset": {"url": "x"}, "childShapes": []}',
}


@pytest.mark.parametrize("suffix", [".xml", ".json", ".unknown", ".txt", ""])
@pytest.mark.parametrize("form", FORMATS)
def test_a_format_is_recognised_whatever_its_suffix(form: str, suffix: str) -> None:
    (finding,) = checked(FORMATS[form].encode(), f"file{suffix}")
    assert finding.code == "OF012"
    assert form in finding.message


def test_xpdl_is_named() -> None:
    (finding,) = checked(shared_model("read/order.xpdl"), "order.xpdl")
    assert (finding.code, finding.message) == ("OF012", "this is XPDL, not BPMN 2.0")


@pytest.mark.parametrize("suffix", ["", ".txt", ".dmn", ".json", ".odd"])
def test_bpmn_is_read_whatever_its_suffix(suffix: str) -> None:
    assert not errors(checked(shared_model("business/bb.bpmn"), f"file{suffix}"))


def test_bpmn_is_read_from_standard_input() -> None:
    ran = orgflowc("check", "-", stdin=shared_model("business/bb.bpmn").decode())
    assert ran.code == 0, ran.out + ran.err


@pytest.mark.parametrize(
    "content",
    [
        '<message id="m" name="Order"/><itemDefinition id="i"/>',
        '<collaboration id="c"><participant id="a" name="Buyer"/></collaboration>',
        '<choreography id="c" name="Buy"><participant id="a" name="Buyer"/></choreography>',
        '<dataStore id="ds" name="Orders"/><globalUserTask id="g" name="Ask"/>',
        '<process id="p"/>',
    ],
)
def test_a_valid_file_without_steps_is_no_error_without_a_target(content: str) -> None:
    data = f"{HEAD}{content}</definitions>".encode()
    assert not errors(checked(data))
    emitted, findings = compiled(data)
    assert emitted is None
    assert codes(errors(findings)) <= {"OF107", "OF156"}


def test_a_folder_names_what_was_not_written(tmp_path: Path) -> None:
    content = f'<startEvent id="s"/><callActivity id="t" name="Check"/><endEvent id="e"/>{LINE}'
    good = content.replace("callActivity", "task")
    (tmp_path / "bad.bpmn").write_bytes(one_process(content))
    (tmp_path / "good.bpmn").write_bytes(one_process(good))
    paths = [str(tmp_path / name) for name in ("bad.bpmn", "good.bpmn")]
    ran = orgflowc("compile", *paths, "--target", "n8n", "-o", str(tmp_path / "out") + "/")
    assert "(p.json), but nothing for" in " ".join(ran.err.split())
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["p.json"]


# -- messages between processes ------------------------------------------------------------------


def test_a_message_begins_the_process_that_it_starts() -> None:
    data = shared_model("read/pool-mates.bpmn")
    emitted, findings = compiled(data)
    assert emitted is not None, [d.message for d in errors(findings)]
    sender, receiver = (json.loads(artifact.text) for artifact in emitted.artifacts)
    (send,) = (n for n in sender["nodes"] if n["name"] == "Order")
    assert send["type"] == "n8n-nodes-base.executeWorkflow"
    assert send["parameters"]["workflowId"]["value"] == receiver["id"]
    assert send["parameters"]["options"]["waitForSubWorkflow"] is False
    assert "n8n-nodes-base.executeWorkflowTrigger" in {n["type"] for n in receiver["nodes"]}
    assert not codes(findings) & {"OF403", "OF425", "OF505"}
    proved(data, emitted, {})


def test_messages_in_a_circle_are_not_delivered() -> None:
    data = shared_model("read/pool-mates.bpmn").decode()
    back = '<messageFlow id="m2" name="answer" sourceRef="t9" targetRef="s"/></collaboration>'
    data = data.replace("</collaboration>", back).replace('<task id="t9"', '<sendTask id="t9"')
    data = data.replace(
        '<startEvent id="s"/>', '<startEvent id="s"><messageEventDefinition/></startEvent>'
    )
    emitted, findings = compiled(data.encode(), options={"version": "1.123"})
    assert emitted is None
    assert "OF403" in codes(findings)


# -- field ---------------------------------------------------------------------------------------


def test_a_loop_without_a_condition_is_a_gap_each() -> None:
    emitted, findings = compiled(shared_model("field/model-loop-marker.bpmn"))
    assert emitted is not None
    gaps = {d.element: d for d in findings if d.code == "OF502"}
    assert set(gaps) == {"a", "b"}
    assert "`assess_again`" in gaps["a"].message


def test_a_condition_of_camunda_8_without_the_sign_of_feel_is_reported() -> None:
    assert "OF148" in codes(checked(shared_model("field/model-c8-no-equals.bpmn")))
    good = shared_model("field/model-c8-no-equals.bpmn").replace(b">orderValue", b">=orderValue")
    assert "OF148" not in codes(checked(good))


def test_a_condition_that_never_holds_is_reported() -> None:
    (finding,) = (
        d for d in checked(shared_model("field/model-constant-datetime.bpmn")) if d.code == "OF318"
    )
    assert "is never true" in finding.message


def test_the_intervals_that_work_are_named() -> None:
    _, findings = compiled(shared_model("field/words-13-hours.bpmn"))
    (error,) = errors(findings)
    assert "1, 2, 3, 4, 6, 8 or 12 hours" in (error.help or "")


def test_the_text_form_of_powl_is_read() -> None:
    emitted, findings = compiled(shared_model("field/powl-text.powl"), "powl", "m.powl")
    assert emitted is not None, [d.message for d in findings]
    model = json.loads(emitted.artifacts[0].text)["model"]
    assert [child["type"] for child in model["children"]] == ["activity", "choice", "loop"]


@pytest.mark.parametrize(
    "text",
    [
        "PO=(nodes={ a, b }, order={ a-->c })",
        "PO=(nodes={ a, b }, order={ a-->b, b-->a })",
        "PO=(nodes={ a, a }, order={ a-->a })",
        "* ( a )",
        "X ( a, b",
        "X ( )",
        "PO=(nodes={ a }",
    ],
)
def test_faults_of_the_text_form_are_placed(text: str) -> None:
    (finding,) = checked(text.encode(), "m.powl")
    assert finding.code == "OF070"
    assert finding.loc is not None
    assert finding.loc.line == 1


def test_a_long_text_form_is_placed_by_lines_in_linear_time() -> None:
    lines = ",\n".join(f"step {number}" for number in range(80_000))
    reader = TextReader("m.powl", f"X (\n{lines},\n  * ( a ) )")
    begin = time.process_time()
    with pytest.raises(PowlError) as fault:
        reader.read()
    assert time.process_time() - begin < 5  # 0.7 s; 10 s if each place counts all lines before it
    assert fault.value.loc is not None
    assert (fault.value.loc.line, fault.value.loc.column) == (80_002, 3)


def test_the_list_that_a_repetition_names_is_written_again() -> None:
    emitted, _ = compiled(shared_model("read/jbpm-collection-ref.bpmn"), "bpmn")
    assert emitted is not None
    text = emitted.artifacts[0].text
    assert "<loopDataInputRef>sp_in</loopDataInputRef>" in text
    assert "<script>x</script>" in text


def read_again(data: bytes) -> Model:
    model = load_model(SourceFile("m.bpmn", data), REGISTRY, PassContext(registry=REGISTRY))
    assert model is not None
    return model


def test_a_list_written_again_is_read_as_the_same() -> None:
    data = shared_model("read/jbpm-collection-ref.bpmn")
    emitted, _ = compiled(data, "bpmn")
    assert emitted is not None
    loops = [
        [n.loop for s in m.scopes() for n in s.nodes if getattr(n, "loop", None) is not None]
        for m in (read_again(data), read_again(emitted.artifacts[0].text.encode()))
    ]
    assert loops[0] == loops[1]
