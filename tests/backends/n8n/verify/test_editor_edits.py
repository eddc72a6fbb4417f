"""Edits that people make in n8n's editor, and that `verify` once called proved, or different."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from orgflow.api import VerifyResult, compile, read, verify
from orgflow.backends.n8n.format.parameter_values import split_test

from orgflow_ir.model.source import SourceFile

Json = dict[str, Any]
Workflows = dict[str, Json]
HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" '
    'xmlns:camunda="http://camunda.org/schema/1.0/bpmn" id="d">'
)


def process(content: str, *wires: str, id: str = "p", name: str = "Case") -> str:
    flows = ""
    for number, wire in enumerate(wires):
        ends, _, condition = wire.partition(":")
        source, target = ends.split(">")
        inside = f"<conditionExpression>{condition}</conditionExpression>" if condition else ""
        flows += (
            f'<sequenceFlow id="{id}f{number}" sourceRef="{source}" targetRef="{target}">{inside}'
            "</sequenceFlow>"
        )
    return f'<process id="{id}" name="{name}" isExecutable="true">{content}{flows}</process>'


def script(id: str, name: str, code: str) -> str:
    return (
        f'<scriptTask id="{id}" name="{name}" scriptFormat="groovy"><script>{code}</script>'
        "</scriptTask>"
    )


START, END = '<startEvent id="s" name="Start"/>', '<endEvent id="e" name="Done"/>'
SENT = process(f'{START}<sendTask id="t" name="Send invoice" messageRef="m"/>{END}', "s>t", "t>e")
COMPUTED = process(START + script("t", "Work", "total = amount + 1") + END, "s>t", "t>e")
SENT = f'<message id="m" name="Invoice"/>{SENT}'
CLOCKED = process(
    '<startEvent id="s"><timerEventDefinition><timeCycle>R/PT24H</timeCycle>'
    f"</timerEventDefinition></startEvent>{END}",
    "s>e",
)
CALLED = (
    '<error id="er" name="Too much" errorCode="E1"/>'
    + process(
        '<startEvent id="s2"/><exclusiveGateway id="g2" default="p2f2"/><endEvent id="e2"/>'
        '<endEvent id="x2"><errorEventDefinition errorRef="er"/></endEvent>',
        "s2>g2", "g2>x2:${y &gt; 3}", "g2>e2", id="p2", name="Sub case",
    )
    + process(
        f'{START}<callActivity id="t" name="Call it" calledElement="p2"><extensionElements>'
        '<camunda:in source="amount" target="y"/></extensionElements></callActivity>'
        '<boundaryEvent id="b" name="Refused" attachedToRef="t">'
        f'<errorEventDefinition errorRef="er"/></boundaryEvent><endEvent id="n" name="No"/>{END}',
        "s>t", "t>e", "b>n",
    )
)  # fmt: skip
DECIDED = process(
    f'{START}<exclusiveGateway id="g" name="Large?" default="pf2"/><endEvent id="big" name="Big"/>'
    f'<intermediateCatchEvent id="w" name="Pause"><timerEventDefinition><timeDuration>PT36H'
    f"</timeDuration></timerEventDefinition></intermediateCatchEvent>{END}",
    "s>g", "g>big:${amount &gt; 3 &amp;&amp; kind == 'a'}", "g>w", "w>e",
)  # fmt: skip

PLACED = process(
    f'{START}<task id="t" name="Check"/><exclusiveGateway id="g" name="Fine?"/>'
    f'<endEvent id="n" name="No"/>{END}',
    "s>t", "t>g", "g>e", "g>n",
)  # fmt: skip


class Case:
    """A model in a file, and its workflows by their names."""

    def __init__(self, folder: Path, content: str, **options: str) -> None:
        path = folder / "model.bpmn"
        path.write_text(f"{HEAD}{content}</definitions>", "utf-8")
        self.model = read(path)
        files = compile(self.model, target="n8n", options=options).files
        parsed = [json.loads(text) for name, text in files.items() if name.endswith(".json")]
        self.workflows: Workflows = {workflow["name"]: workflow for workflow in parsed}

    def verify(self) -> VerifyResult:
        data = json.dumps(list(self.workflows.values())).encode()
        return verify(self.model, SourceFile("w.json", data), "n8n")

    def verdicts(self) -> set[str]:
        return {v.verdict.value for v in self.verify().verifications}


def node_of(workflow: Json, name: str) -> Json:
    (node,) = (n for n in workflow["nodes"] if n["name"] == name)
    found: Json = node
    return found


def insert(workflow: Json, before: str, kind: str, version: float, **parameters: Any) -> None:
    """Put a node into the only wire to another one."""
    for outputs in workflow["connections"].values():
        for output in outputs["main"]:
            for wire in output or ():
                if wire["node"] == before:
                    wire["node"] = "Mine"
    assert before in {node["name"] for node in workflow["nodes"]}
    workflow["nodes"].append({
        "id": "mine", "name": "Mine", "type": f"n8n-nodes-base.{kind}", "typeVersion": version,
        "position": [0, 0], "parameters": parameters,
    })  # fmt: skip
    workflow["connections"]["Mine"] = {"main": [[{"node": before, "type": "main", "index": 0}]]}


KEY = "return $input.all().map((i) => ({ json: { ...i.json, _sent: 1 } }));"
FIELD = "return $input.all().map((i) => ({ json: { ...i.json, amount: 1 } }));"
OWN = "const item = $input.first().json;\nreturn [{ json: { ...item, mine: 1 } }];"
ALONE = "return [{ json: { mine: 1 } }];"


@pytest.mark.parametrize(
    ("content", "before", "code", "condition"),
    [
        (SENT, "Send invoice", KEY, "`_sent`"),
        (SENT, "Send invoice", OWN, "the data that `Send invoice` sends"),
        (SENT, "Send invoice inputs", ALONE, "the data that `Send invoice` sends"),
        (COMPUTED, "Work", FIELD, "`amount`"),
        (COMPUTED, "Work", ALONE, "`amount`"),
        (COMPUTED, "Work", OWN, ""),
    ],
    ids=["key", "message", "lost data of a message", "input", "lost input", "own field"],
)
def test_an_added_node_may_change_what_is_read(
    tmp_path: Path, content: str, before: str, code: str, condition: str
) -> None:
    case = Case(tmp_path, content, messages="request")
    insert(case.workflows["Case"], before, "code", 2, jsCode=code)
    (result,) = case.verify().verifications
    texts = [c.text for c in result.conditions]
    assert result.verdict.value == ("proved if" if condition else "proved")
    assert all(condition in text for text in texts)
    assert bool(texts) is bool(condition)


def test_an_added_node_may_lose_what_a_check_reads(tmp_path: Path) -> None:
    asks = '<userTask id="t" name="Ask"/><userTask id="u" name="Ask more"/>'
    asked = process(f"{START}{asks}{END}", "s>t", "t>u", "u>e")
    case = Case(tmp_path, asked)
    insert(case.workflows["Case"], "Ask answered?", "set", 3.4, options={})
    (result,) = case.verify().verifications
    assert [c.text for c in result.conditions] == ["`Mine` does not change `orgflowPage`"]
    mine = node_of(case.workflows["Case"], "Mine")["parameters"]
    mine["includeOtherFields"] = True
    assert case.verdicts() == {"proved"}


def older_set(workflows: Workflows) -> None:
    node_of(workflows["Case"], "Check")["typeVersion"] = 3.2


def other_zone(workflows: Workflows) -> None:
    workflows["Case"]["settings"]["timezone"] = "Asia/Tokyo"


def exchange_errors(workflows: Workflows) -> None:
    outputs = workflows["Case"]["connections"]["Error of Call it?"]["main"]
    outputs[0], outputs[1] = outputs[1], outputs[0]


def call_another(workflows: Workflows) -> None:
    node_of(workflows["Case"], "Call it")["parameters"]["workflowId"]["value"] = "another7"


def other_path(workflows: Workflows) -> None:
    node_of(workflows["Case"], "Start")["parameters"]["path"] = "another"


def ask_credential(workflows: Workflows) -> None:
    node_of(workflows["Case"], "Start")["parameters"]["authentication"] = "basicAuth"


def other_report(workflows: Workflows) -> None:
    workflows["Case"]["settings"]["errorWorkflow"] = "another7"


def wait_between(workflows: Workflows) -> None:
    node_of(workflows["Case"], "Send invoice")["waitBetweenTries"] = 4000


@pytest.mark.parametrize(
    ("content", "options", "change"),
    [
        (CLOCKED, {}, other_zone),
        (PLACED, {}, older_set),
        (CALLED, {}, exchange_errors),
        (CALLED, {}, call_another),
        (COMPUTED, {"trigger": "webhook"}, other_path),
        (COMPUTED, {"trigger": "webhook"}, ask_credential),
        (COMPUTED, {"errors": "workflow"}, other_report),
        (SENT, {"messages": "request"}, wait_between),
    ],
)
def test_an_edit_that_was_called_proved(
    tmp_path: Path, content: str, options: dict[str, str], change: Callable[[Workflows], None]
) -> None:
    case = Case(tmp_path, content, **options)
    assert case.verdicts() == {"proved"}
    change(case.workflows)
    assert case.verdicts() & {"changed", "different"}


def test_an_edit_that_was_called_different(tmp_path: Path) -> None:
    case = Case(tmp_path, DECIDED)
    assert case.verdicts() == {"proved"}
    workflow = case.workflows["Case"]
    node_of(workflow, "Pause")["parameters"].update(amount=36 * 60, unit="minutes")
    assert case.verdicts() == {"proved"}
    node_of(workflow, "Pause")["parameters"].update(unit="seconds")
    assert case.verdicts() == {"changed"}
    (change,) = (c for v in case.verify().verifications for c in v.changed)
    assert (change.was, change.now) == ("amount: 129600 seconds", "amount: 2160 seconds")


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ("={{ $json.a > 1 && $json.b == null }}", ["={{ $json.a > 1 }}", "={{ $json.b == null }}"]),
        ("={{ ($json.a?.b > 1) && !($json.c) }}", ["={{ $json.a?.b > 1 }}", "={{ !($json.c) }}"]),
        ("={{ !!($json.a < 1) && true }}", ["={{ !!($json.a < 1) }}", "={{ true }}"]),
        ("={{ $json.a && $json.b > 1 }}", None),  # neither true nor false
        ("={{ $json.a != null && $json.a.b > 1 }}", None),  # the second may fail
        ("={{ f($json.a) && $json.b > 1 }}", None),
        ("={{ $json.a > 1 || $json.b > 1 }}", None),
        ("={{ $json.a > 1 && }}", None),
        ("a && b", None),
    ],
)
def test_a_test_is_split_where_each_part_is_safe(value: str, parts: list[str] | None) -> None:
    assert split_test(value) == (parts or [value])


def test_a_time_zone_counts_where_times_depend_on_it(tmp_path: Path) -> None:
    case = Case(tmp_path, COMPUTED)
    other_zone(case.workflows)
    assert case.verdicts() == {"proved"}


def test_a_program_reads_an_output_by_its_number(root: Path) -> None:
    """Without its first rule, a Switch has its other outputs one number lower, so that
    `$('Approval needed?').first(1)` reads an output that was not executed, and n8n ends the run."""
    folder = root / "examples" / "expense-claim"
    model = read(folder / "model.bpmn")
    ((name, text),) = compile(model, target="n8n").files.items()
    workflow = json.loads(text)
    node_of(workflow, "Approval needed?")["parameters"]["rules"]["values"].pop(0)
    workflow["connections"]["Approval needed?"]["main"].pop(0)
    verdicts = []
    for content in (text, json.dumps(workflow)):
        (result,) = verify(model, SourceFile(name, content.encode()), "n8n").verifications
        verdicts.append(result.verdict.value)
    assert verdicts == ["proved", "changed"]
    assert [(c.node, c.was) for c in result.changed] == [
        ("Approval needed?", "output 1 to “Approve claim”")
    ]


@pytest.mark.parametrize(("change", "verdict"), [("combinator", "changed"), ("mode", "different")])
def test_n8n_matches_nothing_by_a_word_that_it_does_not_know(
    change: str, verdict: str, tmp_path: Path
) -> None:
    """n8n calls a filter with a combinator `AND` false, and a Switch in the mode `Rules` hands on
    nothing (both seen on its engine)."""
    case = Case(tmp_path, DECIDED)
    parameters = node_of(case.workflows["Case"], "Large?")["parameters"]
    if change == "mode":
        parameters["mode"] = "Rules"
    else:
        *_, rule = parameters["rules"]["values"]
        rule["conditions"]["combinator"] = "AND"
    assert case.verdicts() == {"different"}


def test_compiled_files_that_call_each_other_are_compared_together(tmp_path: Path) -> None:
    path = tmp_path / "model.bpmn"
    path.write_text(f"{HEAD}{CALLED}</definitions>", "utf-8")
    model = read(path)
    compiled = compile(model, target="n8n")
    assert len(compiled.files) == 2
    result = verify(model, compiled)
    assert result.ok
    assert [v.verdict.value for v in result.verifications] == ["proved", "proved"]
    for name, text in compiled.files.items():
        (tmp_path / name).write_text(text, "utf-8")
    path.unlink()
    assert verify(model, tmp_path).ok
