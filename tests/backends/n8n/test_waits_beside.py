"""The table of what races, or waits beside other work: each of its rows is true, and each refusal
or warning gives that reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.targets import Emitted

DOCS = Path(__file__).resolve().parents[3] / "docs/n8n.md"
HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d">'
    '<message id="m" name="Paid"/><signal id="sig" name="Stop"/><error id="err" errorCode="E"/>'
    '<process id="p" name="P" isExecutable="true">'
)
MESSAGE = '<messageEventDefinition messageRef="m"/>'
TIMER = "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>"
LOOP = (
    "<multiInstanceLoopCharacteristics><loopCardinality>3</loopCardinality>"
    "</multiInstanceLoopCharacteristics>"
)


def flows(*pairs: str) -> str:
    return "".join(
        f'<sequenceFlow id="f{n}" sourceRef="{a}" targetRef="{b}"/>'
        for n, (a, b) in enumerate(pair.split(">") for pair in pairs)
    )


def event(kind: str, id: str, inside: str = "", attributes: str = "") -> str:
    return f'<{kind} id="{id}" name="{id}" {attributes}>{inside}</{kind}>'


START, END = '<startEvent id="s"/>', '<endEvent id="e"/>'
CHAIN = flows("s>t", "t>e")


def beside(one: str, other: str) -> str:
    """Two steps, `t` and `u`, in two branches."""
    return f'{START}<parallelGateway id="a"/>{one}{other}<parallelGateway id="b"/>{END}' + flows(
        "s>a", "a>t", "a>u", "t>b", "u>b", "b>e"
    )


def attached(host: str, inside: str, attributes: str = "") -> str:
    return (
        f"{START}{host}{event('boundaryEvent', 'late', inside, attributes)}{END}"
        '<task id="v" name="Remind"/><endEvent id="e2"/>' + flows("s>t", "t>e", "late>v", "v>e2")
    ).replace('id="late"', 'id="late" attachedToRef="t"')


USER, CATCH = (
    '<userTask id="{}" name="{}"/>',
    "<intermediateCatchEvent id='{0}' name='{0}'>{1}</intermediateCatchEvent>",
)
ASK, ASK2 = USER.format("t", "Ask"), USER.format("u", "Answer")
PART = (
    '<subProcess id="t" name="Part"><startEvent id="s1"/>{}<endEvent id="e1"/>'
    '<sequenceFlow id="g1" sourceRef="s1" targetRef="t1"/>'
    '<sequenceFlow id="g2" sourceRef="t1" targetRef="e1"/></subProcess>'
)
HANDLER = (
    '<subProcess id="h" triggeredByEvent="true"><startEvent id="s2">{}</startEvent>'
    '<task id="t2"/><endEvent id="e2"/><sequenceFlow id="g3" sourceRef="s2" targetRef="t2"/>'
    '<sequenceFlow id="g4" sourceRef="t2" targetRef="e2"/></subProcess>'
)
STOPS = (
    f'{START}<parallelGateway id="a"/>{ASK}<task id="u" name="Work"/>{END}'
    '<endEvent id="x" name="Stop">{}</endEvent>'
    f"{flows('s>a', 'a>t', 'a>u', 't>e', 'u>x')}"
)
FAILS = '<endEvent id="x"><errorEventDefinition errorRef="err"/></endEvent>'
RACE = (
    f'{START}<eventBasedGateway id="g"/>{CATCH.format("t", TIMER)}{CATCH.format("u", MESSAGE)}'
    f"{END}{flows('s>g', 'g>t', 'g>u', 't>e', 'u>e')}"
)
REPEATED = "<timerEventDefinition><timeCycle>R3/PT1H</timeCycle></timerEventDefinition>"
WAITS = USER.format("t1", "Inside")
ROWS = "rows"
CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "user, manual or receive task beside another wait": (
        ROWS,
        [
            ("OF423", beside(ASK, ASK2)),
            ("OF423", beside(ASK.replace("userTask", "manualTask"), ASK2)),
            ("OF423", beside('<receiveTask id="t" name="Wait" messageRef="m"/>', ASK2)),
        ],
    ),
    "event-based gateway; timer or message on the boundary of a step that waits, also repeated": (
        ROWS,
        [
            ("OF403", RACE),
            ("OF403", attached(ASK, TIMER)),
            ("OF403", attached(ASK, MESSAGE)),
            ("OF403", attached(ASK, REPEATED, 'cancelActivity="false"')),
        ],
    ),
    "the same on a sub-process; event sub-process with a timer, a message, or an error that an end "
    "event throws": (
        ROWS,
        [
            ("OF403", attached(PART.format(WAITS), MESSAGE)),
            ("OF403", f"{START}{ASK}{END}{CHAIN}{HANDLER.format(TIMER)}"),
            ("OF403", f"{START}{ASK}{END}{CHAIN}{HANDLER.format(MESSAGE)}"),
            (
                "OF403",
                beside(ASK, ASK2).replace(END, FAILS).replace('"e"', '"x"')
                + HANDLER.format('<errorEventDefinition errorRef="err"/>')
                + USER.format("w", "Beside")
                + '<sequenceFlow id="k" sourceRef="a" targetRef="w"/>',
            ),
        ],
    ),
    "terminate or error end event beside other work": (
        ROWS,
        [
            ("OF403", STOPS.format("<terminateEventDefinition/>")),
            ("OF403", STOPS.format('<errorEventDefinition errorRef="err"/>')),
        ],
    ),
    "timer or message catch event beside other work, where no task waits": (
        "OF422",
        [("OF422", beside(CATCH.format("t", TIMER), '<task id="u" name="Work"/>'))],
    ),
    "parallel instances of a user task": (
        "OF423",
        [("OF423", f"{START}{ASK.replace('/>', f'>{LOOP}</userTask>')}{END}{CHAIN}")],
    ),
    "event on the boundary of a step that does not wait, or of a call": (
        "OF403",
        [
            ("OF403", attached('<serviceTask id="t" name="Work"/>', TIMER)),
            (
                "OF403",
                attached('<callActivity id="t" name="Call" calledElement="q"/>', TIMER)
                + '</process><process id="q" isExecutable="true"><startEvent id="qs"/>'
                + USER.format("qt", "There")
                + '<endEvent id="qe"/><sequenceFlow id="q1" sourceRef="qs" targetRef="qt"/>'
                '<sequenceFlow id="q2" sourceRef="qt" targetRef="qe"/>',
            ),
        ],
    ),
    "signals, conditions, escalations and compensation beside other work; unstructured inclusive "
    "joins": (
        "OF403",
        [
            ("OF403", attached(ASK, '<signalEventDefinition signalRef="sig"/>')),
            (
                "OF403",
                attached(
                    ASK,
                    "<conditionalEventDefinition><condition>${x}</condition>"
                    "</conditionalEventDefinition>",
                ),
            ),
        ],
    ),
}
"""What the table says of each construct: rows, or a code; and models that have it, each with the
code for one execution."""
ELSEWHERE = {
    "message flow to an element that waits for it; start of a process by a message of any step",
}
"""Rows that `test_segments` is about."""


def rows() -> dict[str, str]:
    """What the table says of each construct: the code, or that it becomes rows."""
    text = DOCS.read_text("utf-8").split("## What races, or waits beside other work")[1]
    table = text.split("\n## ")[0].split("| construct | on n8n today |")[1]
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    stated: dict[str, str] = {}
    for line in lines:
        construct, verdict = line.strip("| ").split(" | ", 1)
        code = re.search(r"\[(OF\d+)\]", verdict)
        stated[construct] = code[1] if code else ROWS
    return stated


def test_the_table_has_these_rows() -> None:
    stated = {name: verdict for name, verdict in rows().items() if name not in ELSEWHERE}
    assert rows().keys() >= ELSEWHERE
    assert stated == {construct: verdict for construct, (verdict, _) in CASES.items()}


WORDS = "at one place at a time|at only one place|wait|active|pause|other branches"


def findings_of(
    steps: str, registry: Registry, **options: str
) -> tuple[Emitted | None, list[Diagnostic]]:
    ctx = PassContext(registry=registry)
    text = f"{HEAD}{steps}</process></definitions>"
    model = load_model(SourceFile("model.bpmn", text.encode()), registry, ctx)
    assert model is not None
    made = compile_model(model, registry.backends["n8n"], ctx, options=options)
    return made, ctx.diagnostics


@pytest.mark.parametrize(
    ("verdict", "code", "steps"),
    [
        pytest.param(verdict, code, steps, id=f"{construct}-{number}")
        for construct, (verdict, models) in CASES.items()
        for number, (code, steps) in enumerate(models)
    ],
)
def test_a_row_is_true(verdict: str, code: str, steps: str, registry: Registry) -> None:
    made, findings = findings_of(steps, registry)
    codes = {d.code for d in findings}
    if verdict == ROWS:
        assert made is not None, [d.message for d in findings]
        assert codes.isdisjoint({"OF403", "OF422", "OF423"})
        assert next(iter(made.compiled.values())).root.plan.segments is not None
    else:
        assert verdict in codes
        assert (made is None) is (verdict == "OF403")
        reasons = [d.message for d in findings if d.code == verdict]
        assert any(re.search(WORDS, text) for text in reasons), reasons


@pytest.mark.parametrize(
    ("code", "steps"),
    [
        pytest.param(code, steps, id=f"{construct}-{number}")
        for construct, (_, models) in CASES.items()
        for number, (code, steps) in enumerate(models)
    ],
)
def test_one_execution_does_not_have_it(code: str, steps: str, registry: Registry) -> None:
    made, findings = findings_of(steps, registry, waits="execution")
    reasons = [d.message for d in findings if d.code == code]
    assert reasons, [(d.code, d.message) for d in findings]
    assert (made is None) is (code == "OF403")
    assert any(re.search(WORDS, text) for text in reasons), reasons


def _race(*events: str) -> str:
    caught = [CATCH.format(f"c{n}", inside) for n, inside in enumerate(events)]
    ends = [pair for n in range(len(events)) for pair in (f"g>c{n}", f"c{n}>e")]
    return f'{START}<eventBasedGateway id="g"/>{"".join(caught)}{END}{flows("s>g", *ends)}'


LIMITED = "a Wait node can wait {} up to a time limit, but n8n keeps the timer of the limit"
SEVERAL = "orgflow emits no wait for several events"
BESIDE = "waits for no event while a step is active"


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        (_race(TIMER, MESSAGE), LIMITED.format("for one message")),
        (_race(MESSAGE, MESSAGE), SEVERAL),
        (_race(TIMER, MESSAGE, MESSAGE), SEVERAL),
        (attached(ASK, TIMER), LIMITED.format("for this step")),
        (attached(ASK, TIMER, 'cancelActivity="false"'), BESIDE),
        (attached(ASK, MESSAGE), BESIDE),
        (attached('<serviceTask id="t" name="Work"/>', TIMER), BESIDE),
    ],
)
def test_a_refusal_says_what_a_limit_of_a_wait_covers(
    steps: str, reason: str, registry: Registry
) -> None:
    made, findings = findings_of(steps, registry, waits="execution")
    assert made is None
    assert [reason in d.message for d in findings if d.code == "OF403"] == [True]


def test_the_time_of_an_event_sub_process_is_not_judged_as_that_of_a_schedule(
    registry: Registry,
) -> None:
    cycle = "<timerEventDefinition><timeCycle>R1/P5D</timeCycle></timerEventDefinition>"
    steps = f"{START}{ASK}{END}{CHAIN}{HANDLER.format(cycle)}"
    made, findings = findings_of(steps, registry, waits="execution")
    assert made is None
    errors = [d for d in findings if d.severity == "error"]
    assert [(d.code, d.element) for d in errors] == [("OF403", "h")]
    made, findings = findings_of(steps, registry)  # a row keeps it
    assert made is not None, [d.message for d in findings]
