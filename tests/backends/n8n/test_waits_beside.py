"""The table of what races, or waits beside other work: each of its rows is true, and each refusal
or warning gives that reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model

from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

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
CASES = {
    "user or manual task beside another wait": ("OF423", beside(ASK, ASK2)),
    "receive task beside another wait": (
        "OF423",
        beside('<receiveTask id="t" name="Wait" messageRef="m"/>', ASK2),
    ),
    "timer or message catch event beside other work": (
        "OF422",
        beside(CATCH.format("t", TIMER), '<task id="u" name="Work"/>'),
    ),
    "parallel instances of a user task": (
        "OF423",
        f"{START}{ASK.replace('/>', f'>{LOOP}</userTask>')}{END}{CHAIN}",
    ),
    "event-based gateway": (
        "OF403",
        f'{START}<eventBasedGateway id="g"/>{CATCH.format("t", TIMER)}{CATCH.format("u", MESSAGE)}'
        f"{END}{flows('s>g', 'g>t', 'g>u', 't>e', 'u>e')}",
    ),
    "timer or message on the boundary of a step": ("OF403", attached(ASK, TIMER)),
    "the same on a sub-process or a call": (
        "OF403",
        attached(
            '<subProcess id="t" name="Part"><startEvent id="s1"/><userTask id="t1"/>'
            '<endEvent id="e1"/><sequenceFlow id="g1" sourceRef="s1" targetRef="t1"/>'
            '<sequenceFlow id="g2" sourceRef="t1" targetRef="e1"/></subProcess>',
            MESSAGE,
        ),
    ),
    "boundary event that does not interrupt": (
        "OF403",
        attached(ASK, TIMER, 'cancelActivity="false"'),
    ),
    "event sub-process that begins with a timer, message or signal": (
        "OF403",
        f'{START}{ASK}{END}{CHAIN}<subProcess id="h" triggeredByEvent="true">'
        f'<startEvent id="s1">{TIMER}</startEvent><task id="t1"/><endEvent id="e1"/>'
        '<sequenceFlow id="g1" sourceRef="s1" targetRef="t1"/>'
        '<sequenceFlow id="g2" sourceRef="t1" targetRef="e1"/></subProcess>',
    ),
    "terminate or error end event beside other work": (
        "OF403",
        f'{START}<parallelGateway id="a"/>{ASK}<task id="u" name="Work"/>{END}'
        f'<endEvent id="x" name="Stop"><terminateEventDefinition/></endEvent>'
        f"{flows('s>a', 'a>t', 'a>u', 't>e', 'u>x')}",
    ),
}
"""The code that each row of the table names, and a model that has the construct."""


def rows() -> dict[str, str]:
    """The codes by construct, as the table has them."""
    text = DOCS.read_text("utf-8").split("## What races, or waits beside other work")[1]
    found = re.findall(r"^\| ([^|]+) \| [^|]*\[(OF\d+)\]", text.split("\n## ")[0], re.MULTILINE)
    return dict(found)


def test_the_table_has_these_rows() -> None:
    assert rows() == {construct: code for construct, (code, _) in CASES.items()}


@pytest.mark.parametrize("construct", CASES)
def test_a_row_is_true(construct: str, registry: Registry) -> None:
    code, steps = CASES[construct]
    ctx = PassContext(registry=registry)
    text = f"{HEAD}{steps}</process></definitions>"
    model = load_model(SourceFile("model.bpmn", text.encode()), registry, ctx)
    assert model is not None
    made = compile_model(model, registry.backends["n8n"], ctx)
    found = [d for d in ctx.diagnostics if d.code == code]
    assert found, [(d.code, d.message) for d in ctx.diagnostics]
    assert (made is None) is (code == "OF403")
    words = "at one place at a time|at only one place|wait|active|pause|other branches"
    assert any(re.search(words, d.message) for d in found), [d.message for d in found]


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
    ctx = PassContext(registry=registry)
    text = f"{HEAD}{steps}</process></definitions>"
    model = load_model(SourceFile("model.bpmn", text.encode()), registry, ctx)
    assert model is not None
    assert compile_model(model, registry.backends["n8n"], ctx) is None
    assert [reason in d.message for d in ctx.diagnostics if d.code == "OF403"] == [True]


def test_the_time_of_an_event_sub_process_is_not_judged_as_that_of_a_schedule(
    registry: Registry,
) -> None:
    cycle = "<timerEventDefinition><timeCycle>R1/P5D</timeCycle></timerEventDefinition>"
    steps = (
        f'{START}{ASK}{END}{CHAIN}<subProcess id="h" triggeredByEvent="true">'
        f'<startEvent id="s1">{cycle}</startEvent><task id="t1"/><endEvent id="e1"/>'
        '<sequenceFlow id="g1" sourceRef="s1" targetRef="t1"/>'
        '<sequenceFlow id="g2" sourceRef="t1" targetRef="e1"/></subProcess>'
    )
    ctx = PassContext(registry=registry)
    text = f"{HEAD}{steps}</process></definitions>"
    model = load_model(SourceFile("model.bpmn", text.encode()), registry, ctx)
    assert model is not None
    assert compile_model(model, registry.backends["n8n"], ctx) is None
    errors = [d for d in ctx.diagnostics if d.severity == "error"]
    assert [(d.code, d.element) for d in errors] == [("OF403", "h")]
