"""Mappings that read what nothing in the model sets are gaps; what anything sets is not."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from bpmn_text import parse
from cli_cases import orgflowc

from orgflow_ir.gaps.find import find_gaps
from orgflow_ir.pipeline import PassContext

HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="t" '
    'xmlns:camunda="http://camunda.org/schema/1.0/bpmn" '
    'xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
)


def flow(*ids: str) -> str:
    """Sequence flows from each to the next."""
    pairs = itertools.pairwise(ids)
    return "".join(
        f'<sequenceFlow id="{a}-{b}" sourceRef="{a}" targetRef="{b}"/>' for a, b in pairs
    )


def form(*names: str) -> str:
    fields = "".join(f'<camunda:formField id="{name}" type="long"/>' for name in names)
    return f"<extensionElements><camunda:formData>{fields}</camunda:formData></extensionElements>"


def mapped(*, given: str = "", taken: str = "", loop: str = "") -> str:
    """A service task with an input and an output mapping, each of one parameter."""
    inputs = f'<camunda:inputParameter name="i">{given}</camunda:inputParameter>' if given else ""
    outputs = f'<camunda:outputParameter name="o">{taken}</camunda:outputParameter>' * bool(taken)
    return (
        '<serviceTask id="t" name="Charge" camunda:type="external" camunda:topic="x">'
        f"<extensionElements><camunda:inputOutput>{inputs}{outputs}</camunda:inputOutput>"
        f"</extensionElements>{loop}</serviceTask>"
    )


def process(body: str, start: str = "", others: str = "") -> str:
    return (
        f'{HEAD}<process id="p" name="Order" isExecutable="true"><startEvent id="s">{start}'
        f'</startEvent>{body}<endEvent id="e"/></process>{others}</definitions>'
    )


def opened(text: str) -> list[tuple[str, str]]:
    """Message and help of every gap of a mapping."""
    model, _ = parse(text)
    assert model is not None
    gaps = find_gaps(model, PassContext())
    return [(gap.message, gap.help) for gap in gaps if gap.rule.code == "OF519"]


def test_reader_variable_and_possible_setters_are_named() -> None:
    ask = '<userTask id="a" name="Ask"/>'
    found = opened(process(f"{ask}{mapped(given='${amount * vat}')}{flow('s', 'a', 't', 'e')}"))
    assert found == [
        (
            "the input mapping of service task `Charge` reads `amount` and `vat`, but the model "
            "does not define which step sets them",
            "let `Ask` or the input of the run set them",
        )
    ]
    found = opened(process(f"{mapped(given='1', taken='${i + fee}')}{flow('s', 't', 'e')}"))
    assert found == [
        (
            "the output mapping of service task `Charge` reads `fee`, but the model does not "
            "define which step sets it",
            "let `Charge` or the input of the run set it",
        )
    ]


ROUND = (
    '<multiInstanceLoopCharacteristics camunda:collection="orders" '
    'camunda:elementVariable="amount"/>'
)
SCRIPT = (
    '<scriptTask id="a" scriptFormat="groovy" camunda:resultVariable="amount"><script>1 + 1'
    "</script></scriptTask>"
)
INNER = (
    '<subProcess id="sub"><startEvent id="is"/>{0}<endEvent id="ie"/>'
    f"{flow('is', 't', 'ie')}</subProcess>"
)


@pytest.mark.parametrize(
    "text",
    [
        process(f"{mapped(given='${amount}')}{flow('s', 't', 'e')}", start=form("amount")),
        process(
            f'<userTask id="a">{form("amount")}</userTask>{mapped(given="${amount}")}'
            f"{flow('s', 'a', 't', 'e')}"
        ),
        process(f"{SCRIPT}{mapped(given='${amount}')}{flow('s', 'a', 't', 'e')}"),
        # the task that is repeated has the item
        process(f"{mapped(given='${amount}', loop=ROUND)}{flow('s', 't', 'e')}"),
        # set around the sub-process, and inside one that comes before
        process(
            f'<userTask id="a">{form("amount")}</userTask>'
            f"{INNER.format(mapped(given='${amount}'))}{flow('s', 'a', 'sub', 'e')}"
        ),
        process(
            INNER.format(mapped(taken="2")).replace('"o"', '"amount"')
            + mapped(given="${amount}").replace('id="t"', 'id="u"')
            + flow("s", "sub", "u", "e")
        ),
        # asked for null in the same mapping
        process(f"{mapped(given='${amount == null ? 0 : amount}')}{flow('s', 't', 'e')}"),
        process(f"{mapped(given='twelve')}{flow('s', 't', 'e')}"),
    ],
    ids=["start form", "form", "script", "item", "outside", "inside", "null", "text"],
)
def test_what_anything_sets_is_not_open(text: str) -> None:
    assert opened(text) == []


def test_what_is_set_only_behind_the_reader_is_open() -> None:
    later = f'<userTask id="a" name="Ask">{form("amount")}</userTask>'
    found = opened(process(f"{mapped(given='${amount}')}{later}{flow('s', 't', 'a', 'e')}"))
    assert [help for _, help in found] == ["let the input of the run set it"]


@pytest.mark.parametrize("only", [True, False])
def test_a_field_that_only_shows_a_variable_does_not_set_it(only: bool) -> None:
    asks = form("amount")
    if only:
        rule = '<camunda:validation><camunda:constraint name="readonly"/></camunda:validation>'
        asks = asks.replace('type="long"/>', f'type="long">{rule}</camunda:formField>')
    shown = f'<userTask id="a" name="Look">{asks}</userTask>'
    found = opened(process(f"{shown}{mapped(given='${amount}')}{flow('s', 'a', 't', 'e')}"))
    assert len(found) == (1 if only else 0)


def call(extra: str) -> str:
    return (
        '<callActivity id="c" name="Check" calledElement="q"><extensionElements>'
        f"{extra}</extensionElements></callActivity>"
    )


CALLED = (
    '<process id="q"><startEvent id="qs"/><userTask id="qt" name="Rate">{0}</userTask>'
    '<endEvent id="qe"/>' + flow("qs", "qt", "qe") + "</process>"
)
HANDED = '<camunda:in source="amount" target="sum"/><camunda:out source="rating" target="r"/>'


def test_calls_read_what_they_hand_in_and_take_back() -> None:
    body = call(HANDED) + flow("s", "c", "e")
    sides = ("the input mapping of call activity `Check` reads `amount`", "`Check` reads `rating`")
    found = opened(process(body, others=CALLED.format("")))
    assert len(found) == 2
    assert all(side in text for side, (text, _) in zip(sides, found, strict=True))
    assert found[1][1] == "let the process that `Check` calls set it"
    found = opened(process(body, form("amount"), CALLED.format(form("rating"))))
    assert found == []
    # a process in another file may set anything
    assert len(opened(process(body))) == 1


def test_what_a_call_hands_in_is_set_in_the_process_it_calls() -> None:
    inner = mapped(given="${sum}").replace('id="t"', 'id="u"')
    others = (
        f'<process id="q"><startEvent id="qs"/>{inner}<endEvent id="qe"/>{flow("qs", "u", "qe")}'
    )
    body = call(HANDED.partition("/>")[0] + "/>") + flow("s", "c", "e")
    assert opened(process(body, form("amount"), f"{others}</process>")) == []
    assert len(opened(process(flow("s", "e"), "", f"{others}</process>"))) == 1


def test_conditions_see_forms_around_and_inside_of_sub_processes() -> None:
    gateway = (
        '<exclusiveGateway id="g" default="g-y"/><task id="x"/><task id="y"/>'
        '<sequenceFlow id="g-x" sourceRef="g" targetRef="x"><conditionExpression '
        'xsi:type="tFormalExpression">${amount > 1}</conditionExpression></sequenceFlow>'
        '<sequenceFlow id="g-y" sourceRef="g" targetRef="y"/>'
    )
    asks = f'<userTask id="a">{form("amount")}</userTask>'
    inner = f'<subProcess id="sub"><startEvent id="is"/>{gateway}{flow("is", "g")}</subProcess>'
    around = process(f"{asks}{inner}{flow('s', 'a', 'sub', 'e')}")
    inner = f'<subProcess id="sub"><startEvent id="is"/>{asks}{flow("is", "a")}</subProcess>'
    inside = process(f"{inner}{gateway}{flow('s', 'sub', 'g')}{flow('x', 'e')}{flow('y', 'e')}")
    for text in (around, inside):
        model, _ = parse(text)
        assert model is not None
        found = [g for g in find_gaps(model, PassContext()) if g.kind == "variable"]
        assert found == []


@pytest.mark.parametrize("target", ["n8n", "asl"])
def test_every_target_reports_the_same(target: str, tmp_path: Path) -> None:
    model = tmp_path / "order.bpmn"
    model.write_text(process(f"{mapped(given='${amount}')}{flow('s', 't', 'e')}"))
    out = tmp_path / "out"
    done = orgflowc("compile", str(model), "--target", target, "-o", str(out), "--format", "json")
    told = [d for d in json.loads(done.err)["diagnostics"] if d["code"] == "OF519"]
    assert [d["element"] for d in told] == ["t"]
    assert "`amount`" in told[0]["message"]


def test_what_somebody_brings_is_no_gap() -> None:
    """The fields of a message, the code of an error, and what a form asks for; a form of the model
    asks for its fields only."""
    io = (
        "<extensionElements>{}<zeebe:ioMapping>"
        '<zeebe:output source="=ok" target="done"/></zeebe:ioMapping></extensionElements>'
    )
    brought = io.format("")
    by_message = f"{brought}<messageEventDefinition/>"
    through = flow("s", "t", "e")
    for body, start in (
        (f'<intermediateCatchEvent id="t">{by_message}</intermediateCatchEvent>', ""),
        (f'<receiveTask id="t" name="W">{brought}</receiveTask>', ""),
        (f'<userTask id="t" name="W">{brought}</userTask>', ""),
        ('<task id="t" name="W"/>', by_message),
    ):
        assert opened(process(body + through, start)) == []
    caught = (
        '<serviceTask id="t" name="W" camunda:class="a"/><boundaryEvent id="b" attachedToRef="t">'
        '<errorEventDefinition camunda:errorCodeVariable="c"/></boundaryEvent><endEvent id="f"/>'
    )
    assert opened(process(caught + through + flow("b", "f"))) == []
    fields = '<camunda:formData><camunda:formField id="a" type="long"/></camunda:formData>'
    narrow = f'<userTask id="t" name="W">{io.format(fields)}</userTask>'
    assert len(opened(process(narrow + through))) == 1


def test_what_events_and_answers_set_is_set() -> None:
    """By output mappings of a start and of a timer, and by the result expression of a request."""
    outputs = "<extensionElements><zeebe:ioMapping>{}</zeebe:ioMapping></extensionElements>"
    start = outputs.format('<zeebe:output source="=1" target="n"/>')
    timer = (
        f'<intermediateCatchEvent id="w">{outputs}<timerEventDefinition><timeDuration>PT1S'
        "</timeDuration></timerEventDefinition></intermediateCatchEvent>"
    ).format('<zeebe:output source="=n" target="m"/>')
    request = (
        '<serviceTask id="h"><extensionElements>'
        '<zeebe:taskDefinition type="io.camunda:http-json:1"/><zeebe:ioMapping>'
        '<zeebe:input source="GET" target="method"/><zeebe:input source="http://x.test" '
        'target="url"/></zeebe:ioMapping><zeebe:taskHeaders><zeebe:header key="resultExpression" '
        'value="={state: response.body.state}"/></zeebe:taskHeaders></extensionElements>'
        "</serviceTask>"
    )
    task = (
        '<serviceTask id="t"><extensionElements><zeebe:taskDefinition type="x"/><zeebe:ioMapping>'
        '<zeebe:input source="=n" target="a"/><zeebe:input source="=m" target="b"/>'
        '<zeebe:input source="=state" target="c"/></zeebe:ioMapping></extensionElements>'
        "</serviceTask>"
    )
    for given, wanted in (((start, timer, request), []), (("", "", ""), ["`n`, `m` and `state`"])):
        body = "".join(given[1:]) + task + flow("s", *("wh" if given[1] else ""), "t", "e")
        found = opened(process(body, given[0]))
        assert len(found) == len(wanted)
        assert all(one in message for (message, _), one in zip(found, wanted, strict=True))
