"""Faults of what `verify`, `diff` and `check` say: inputs on which "proved" was untrue."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_cases import Ran
from orgflow import cli
from orgflow.api import check, compile, read, verify
from orgflow.backends.n8n.engine.local import LocalEngine, RunRequest
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument
from orgflow.backends.n8n.node_types.catalogue import makes_one_of_one
from orgflow.backends.n8n.verify.filled_steps import returns_one_item

from orgflow_ir.model.source import SourceFile
from orgflow_ir.targets.verification import Verdict, Verification
from tests.support.shared_data import shared_data

Json = dict[str, Any]
Edit = Callable[[Json], object]

OPTIONS = {"people": "placeholder", "stubs": "placeholder"}
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def invoke(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run a command line in this process."""

    def call(*args: str) -> Ran:
        code = cli.run(list(args))
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return call


def fault(*parts: str) -> Path:
    return Path(shared_data("faults", *parts))


def compiled(model: str | Path, **options: str) -> list[Json]:
    """The workflows of a model."""
    result = compile(read(model), target="n8n", options=options)
    assert result.files, [d.message for d in result.diagnostics]
    return [json.loads(text) for text in result.files.values()]


def verified(
    model: str | Path, workflows: list[Json], *, strict: bool = False, **options: str
) -> list[Verification]:
    """The verifications of workflows."""
    file = SourceFile("w.json", json.dumps(workflows).encode())
    result = verify(read(model), file, "n8n", options=options, strict=strict)
    return list(result.verifications)


def node_of(workflow: Json, name: str) -> Json:
    return next(node for node in workflow["nodes"] if node["name"] == name)


# -- the verdict -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "edit"),
    [
        ("b1_verify_script.bpmn", "b1_script_const.json"),
        ("b2_dmn_rule.bpmn", "b2_dmn_rule_changed.json"),
        ("b5_form.bpmn", "b5_form_field_removed.json"),
    ],
)
def test_changed_programs_fail_verify(invoke: Any, model: str, edit: str) -> None:
    paths = str(fault("verify", model)), str(fault("verify", edit))
    for more in ((), ("--strict",)):
        ran = invoke("verify", *paths, *more)
        assert ran.code == 1
        assert not ran.out.startswith("proved")
    ran = invoke("verify", *paths, "--format", "json")
    document = json.loads(ran.out)
    assert (document["version"], document["ok"]) == (2, False)
    assert [r["verdict"] for r in document["results"]] == ["changed"]
    assert {d["severity"] for d in document["diagnostics"] if d["code"] == "OF481"} == {"error"}


@pytest.mark.parametrize("edit", ["b1_script_const.json", "b2_dmn_rule_changed.json"])
def test_diff_states_what_is_assumed(invoke: Any, tmp_path: Path, edit: str) -> None:
    changed = fault("verify", edit)
    old = tmp_path / "old.json"
    text = changed.read_text(encoding="utf-8")
    was, now = {"b1_script_const.json": ("* 9", "* 2"), "b2_dmn_rule_changed.json": ("500", "5")}[
        edit
    ]
    assert was in text
    old.write_text(text.replace(was, now), encoding="utf-8")
    ran = invoke("diff", str(old), str(changed))
    assert ran.code == 1
    assert "same behaviour, if the changed node does the same as before" in " ".join(
        ran.out.split()
    )
    document = json.loads(invoke("diff", str(old), str(changed), "--format", "json").out)
    assert (document["version"], document["verdict"]) == (2, "changed")


def test_diff_of_models_states_the_changed_condition(invoke: Any) -> None:
    old, new = str(fault("field", "diff-1.bpmn")), str(fault("field", "diff-2.bpmn"))
    ran = invoke("diff", old, new)
    assert ran.out.startswith("P: same behaviour, if the changed conditions decide as before\n")
    assert json.loads(invoke("diff", old, new, "--format", "json").out)["verdict"] == "changed"
    assert invoke("diff", old, old).out.startswith("P: same behaviour\n")


# -- false differences -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("run/d4_verify_equivalent_conditions.bpmn", {}),
        ("run/d4_verify_equivalent_conditions.bpmn", OPTIONS),
        ("deploy/label-verify.bpmn", {}),
        ("deploy/label-verify.bpmn", OPTIONS),
    ],
)
def test_a_fresh_compilation_is_proved(model: str, options: dict[str, str]) -> None:
    path = fault(*model.split("/"))
    results = verified(path, compiled(path, **options), **options)
    assert [r.verdict for r in results] == [Verdict.PROVED] * len(results)


EQUIVALENT = {
    "negated twice": ("b", "not(not(b))"),
    "negated four times": ("not(not(b))", "not(not(not(not(b))))"),
    "the same twice": ("n &gt; 5", "n &gt; 5"),
}


@pytest.mark.parametrize("name", EQUIVALENT)
@pytest.mark.parametrize("gateway", ["exclusiveGateway", "inclusiveGateway"])
def test_equivalent_conditions_are_taken_together(tmp_path: Path, name: str, gateway: str) -> None:
    text = fault("run", "d4_verify_equivalent_conditions.bpmn").read_text(encoding="utf-8")
    first, second = EQUIVALENT[name]
    text = text.replace("=not(not(b))", "=\0").replace("=b<", f"={second}<")
    text = text.replace("=\0", f"={first}").replace("exclusiveGateway", gateway)
    path = tmp_path / "model.bpmn"
    path.write_text(text, encoding="utf-8")
    results = verified(path, compiled(path, **OPTIONS), **OPTIONS)
    assert [r.verdict for r in results] == [Verdict.PROVED]


# -- blanks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["blank-verify-before.json", "blank-verify-after.json"])
def test_a_blank_beside_the_brackets_makes_a_text(file: str) -> None:
    workflow = json.loads(fault("field", file).read_text(encoding="utf-8"))
    (result,) = verified(fault("field", "blank-model.bpmn"), [workflow])
    assert result.verdict is Verdict.DIFFERENT
    found = check(read(fault("field", file))).diagnostics
    assert {(d.code, d.severity.value) for d in found} >= {("OF444", "error")}


def condition_workflow(left: str, operator: Json, right: Any, *, strict: bool) -> Json:
    condition = {"id": "c", "leftValue": left, "rightValue": right, "operator": operator}
    validation = "strict" if strict else "loose"
    options = {"caseSensitive": True, "leftValue": "", "typeValidation": validation, "version": 2}
    parameters = {
        "conditions": {"options": options, "conditions": [condition], "combinator": "and"},
        "looseTypeValidation": not strict,
        "options": {},
    }
    return {
        "name": "w",
        "nodes": [
            {"id": "t", "name": "T", "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1,
             "position": [0, 0], "parameters": {}},
            {"id": "i", "name": "I", "type": "n8n-nodes-base.if", "typeVersion": 2.2,
             "position": [200, 0], "parameters": parameters},
            *({"id": n, "name": n, "type": "n8n-nodes-base.noOp", "typeVersion": 1,
               "position": [400, 200 * i], "parameters": {}} for i, n in enumerate("YN")),
        ],
        "connections": {
            "T": {"main": [[{"node": "I", "type": "main", "index": 0}]]},
            "I": {"main": [[{"node": n, "type": "main", "index": 0}] for n in "YN"]},
        },
        "settings": {"executionOrder": "v1"},
    }  # fmt: skip


TRUE = {"type": "boolean", "operation": "true", "singleValue": True}
EQUALS = {"type": "string", "operation": "equals"}
AT_LEAST = {"type": "number", "operation": "gte"}


@pytest.mark.parametrize(
    ("code", "operator", "right", "strict"),
    [
        ("{{ $json.ok }}", TRUE, "", False),
        ("{{ $json.ok }}", TRUE, "", True),
        ("{{ $json.name }}", EQUALS, "a", False),
        ("{{ $json.name }}", EQUALS, "a", True),
        ("{{ $json.n }}", AT_LEAST, 5, False),
        ("{{ $json.n }}", AT_LEAST, 5, True),
    ],
)
@pytest.mark.parametrize("around", ["={}", "= {}", "={} ", "=\n{}", " {}"])
def test_check_reads_blanks_as_the_engine(
    engine: LocalEngine,
    tmp_path: Path,
    around: str,
    code: str,
    operator: Json,
    right: Any,
    strict: bool,
) -> None:
    """A fault is reported exactly where the data does not decide on the engine."""
    workflow = condition_workflow(around.format(code), operator, right, strict=strict)
    items = [{"ok": True, "name": "a", "n": 7}, {"ok": False, "name": "b", "n": 3}]
    requests = [RunRequest(workflow, "T", items=[{"json": item}]) for item in items]
    ways = ["".join(e.node for e in done.order if e.node in "YN") for done in
            engine.run_many(requests)]  # fmt: skip
    decided = ways == ["Y", "N"]
    path = tmp_path / "w.json"
    path.write_text(json.dumps(workflow), encoding="utf-8")
    found = [d for d in check(read(path)).diagnostics if d.code == "OF444"]
    assert bool(found) is not decided, ways


# -- readers ---------------------------------------------------------------------------------------

REPLACES = {
    "id": "x", "name": "Look up", "type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2,
    "position": [0, 0], "parameters": {"url": "https://example.org", "options": {}},
}  # fmt: skip


def put_before(workflow: Json, name: str, node: Json) -> Json:
    """A workflow with a node before another."""
    result = copy.deepcopy(workflow)
    result["nodes"].append(copy.deepcopy(node))
    for kinds in result["connections"].values():
        for ends in kinds["main"]:
            for end in ends or ():
                if end["node"] == name:
                    end["node"] = node["name"]
    result["connections"][node["name"]] = {"main": [[{"node": name, "type": "main", "index": 0}]]}
    return result


TYPED = {
    "boolean": ("{{ $json.ok }}", True),
    "number": ("{{ $json.n }}", 7),
    "string": ("{{ $json.name }}", "a"),
    "array": ("{{ $json.list }}", [1]),
    "object": ("{{ $json.object }}", {"a": 1}),
}


@pytest.mark.parametrize("around", ["={}", "= {}", "={} ", "={}\n"])
@pytest.mark.parametrize("kind", TYPED)
def test_check_reads_typed_fields_as_the_engine(
    engine: LocalEngine, tmp_path: Path, kind: str, around: str
) -> None:
    value, right = TYPED[kind]
    workflow = condition_workflow("", TRUE, "", strict=False)
    row = {"id": "f", "name": "f", "type": kind, "value": around.format(value)}
    node_of(workflow, "I").update(
        type="n8n-nodes-base.set", typeVersion=3.4,
        parameters={"assignments": {"assignments": [row]}, "options": {}},
    )  # fmt: skip
    item = {"ok": True, "n": 7, "name": "a", "list": [1], "object": {"a": 1}}
    (done,) = engine.run_many([RunRequest(workflow, "T", items=[{"json": item}], data=True)])
    outputs = [e.items for e in done.order if e.node == "I" and e.status == "success"]
    same = done.status == "success" and json.dumps(right) in json.dumps(outputs)
    path = tmp_path / "w.json"
    path.write_text(json.dumps(workflow), encoding="utf-8")
    found = [d for d in check(read(path)).diagnostics if d.code == "OF444"]
    # A text with a blank is a text: that is no fault of a field that wants one.
    assert bool(found) is not (same or kind == "string"), outputs


@pytest.mark.parametrize("reader", ["Find approver", "Post to accounting inputs"])
def test_a_table_or_a_request_that_cannot_see_a_variable(reader: str) -> None:
    model = EXAMPLES / "expense-claim" / "model.bpmn"
    (workflow,) = compiled(model)
    (result,) = verified(model, [put_before(workflow, reader, REPLACES)])
    assert result.verdict is Verdict.DIFFERENT
    assert result.difference is not None
    assert "cannot see the value that" in result.difference.message


@pytest.mark.parametrize("name", ["Post to accounting inputs", "Fill in claim data"])
def test_a_node_that_the_compiler_wrote_is_gone(name: str) -> None:
    model = EXAMPLES / "expense-claim" / "model.bpmn"
    (workflow,) = compiled(model)
    after = workflow["connections"].pop(name)["main"][0]
    workflow["nodes"].remove(node_of(workflow, name))
    for kinds in workflow["connections"].values():
        for ends in kinds["main"]:
            ends[:] = [e for end in ends for e in (after if end["node"] == name else [end])]
    (result,) = verified(model, [workflow])
    assert result.verdict in (Verdict.CHANGED, Verdict.DIFFERENT)


# -- filled steps ----------------------------------------------------------------------------------

STOCK = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t"
 xmlns:camunda="http://camunda.org/schema/1.0/bpmn">
<process id="p" name="Order" isExecutable="true"><startEvent id="s"/>
<scriptTask id="price" name="Price order" scriptFormat="javascript"
 camunda:resultVariable="amount"><script>120</script></scriptTask>
<serviceTask id="stock" name="Check stock"/>
<exclusiveGateway id="g" name="Large?" default="f5"/>
<serviceTask id="ship" name="Ship"/><endEvent id="e"/><endEvent id="n"/>
<sequenceFlow id="f1" sourceRef="s" targetRef="price"/>
<sequenceFlow id="f2" sourceRef="price" targetRef="stock"/>
<sequenceFlow id="f3" sourceRef="stock" targetRef="g"/>
<sequenceFlow id="f4" sourceRef="g" targetRef="ship">
<conditionExpression>${amount > 100}</conditionExpression></sequenceFlow>
<sequenceFlow id="f5" sourceRef="g" targetRef="n"/>
<sequenceFlow id="f6" sourceRef="ship" targetRef="e"/></process></definitions>"""

HTTP = {"type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2,
        "parameters": {"url": "https://example.org", "options": {}}}  # fmt: skip
SET = {"type": "n8n-nodes-base.set", "typeVersion": 3.4}


def code(text: str, **more: str) -> Json:
    return {"type": "n8n-nodes-base.code", "typeVersion": 2, "parameters": {"jsCode": text, **more}}


def fields(*names: str) -> Json:
    rows = [{"id": n, "name": n, "value": "x", "type": "string"} for n in names]
    parameters = {"assignments": {"assignments": rows}, "includeOtherFields": True, "options": {}}
    return {**SET, "parameters": parameters}


ONE, KEEPS = "`Check stock` returns one item", "`Check stock` does not change `amount`"

FILLS: dict[str, tuple[Json, bool, tuple[str, ...]]] = {
    "fields of its own": (fields("inStock"), False, ()),
    "a field of another step": (fields("amount"), False, (KEEPS,)),
    "code that returns one item": (code("return [{ json: { inStock: true } }];"), False, ()),
    "code that overwrites": (code("return [{ json: { amount: 1 } }];"), False, (KEEPS,)),
    "code that may return none": (code("return $input.all().filter((i) => i.json.ok);"), False,
                                  (ONE, KEEPS)),
    "code for each item": (
        code("return { json: { ok: 1 } };", mode="runOnceForEachItem"), False, ()),
    "code for each item that drops it": (
        code("if ($json.x) return null;\nreturn { json: { ok: 1 } };", mode="runOnceForEachItem"),
        False, (ONE, KEEPS)),
    "a request with an answer of any form": (HTTP, False, (ONE, KEEPS)),
    "a request with the settings of the placeholder": (HTTP, True, (KEEPS,)),
}  # fmt: skip


@pytest.mark.parametrize("name", FILLS)
def test_what_has_to_hold_of_a_filled_step(invoke: Any, tmp_path: Path, name: str) -> None:
    content, settings, expected = FILLS[name]
    model, file = tmp_path / "model.bpmn", tmp_path / "w.json"
    model.write_text(STOCK, encoding="utf-8")
    (workflow,) = compiled(model)
    step = node_of(workflow, "Check stock")
    step.update(copy.deepcopy(content))
    if not settings:
        step.pop("alwaysOutputData", None)
        step.pop("executeOnce", None)
    file.write_text(json.dumps(workflow), encoding="utf-8")
    ran = invoke("verify", str(model), str(file))
    document = json.loads(invoke("verify", str(model), str(file), "--format", "json").out)
    (result,) = document["results"]
    assert (ran.code, document["ok"]) == (0, True)
    assert tuple(c["text"] for c in result["conditions"]) == expected
    assert all((c["node"], c["element"]) == ("Check stock", "stock") for c in result["conditions"])
    words = " ".join(ran.out.split())
    assert words.startswith(f"proved if {' and '.join(expected)}:" if expected else "proved:")
    strict = invoke("verify", str(model), str(file), "--strict")
    assert strict.code == bool(expected)


TYPES = {
    "crypto": {"action": "hash", "type": "MD5", "value": "a", "dataPropertyName": "d"},
    "dateTime": {"operation": "getCurrentDate", "outputFieldName": "now", "options": {}},
    "renameKeys": {"keys": {"key": [{"currentKey": "a", "newKey": "b"}]}},
    "markdown": {"mode": "markdownToHtml", "markdown": "*a*"},
    "xml": {"mode": "jsonToxml", "options": {}},
    "html": {"operation": "generateHtmlTemplate", "html": "<p>a</p>"},
}


@pytest.mark.parametrize("kind", TYPES)
def test_types_that_make_one_item_of_one(engine: LocalEngine, kind: str) -> None:
    """The engine is the judge of the table."""
    assert makes_one_of_one(f"n8n-nodes-base.{kind}", TYPES[kind])
    versions = {"dateTime": 2, "html": 1.2}
    workflow = condition_workflow("", TRUE, "", strict=False)
    node = node_of(workflow, "I")
    node.update(type=f"n8n-nodes-base.{kind}", parameters=TYPES[kind],
                typeVersion=versions.get(kind, 1))  # fmt: skip
    items = [{"json": {"a": "1"}}, {"json": {"a": "2"}}]
    (done,) = list(engine.run_many([RunRequest(workflow, "T", items=items)]))
    assert done.status == "success", done
    assert [e.outputs for e in done.order if e.node == "I"] == [(2,)]


CODES = {
    "return [{ json: { a: 1 } }];": True,
    "return $input.all();": True,
    "return items.map((item) => ({ json: { a: item.json.a } }));": True,
    "const out = [];\nfor (const i of $input.all()) out.push(i, i);\nreturn out;": False,
    "return [];": False,
    "return [...$input.all(), { json: {} }];": False,
    "const one = { json: { a: 1 } };\nreturn [one];": True,
    "if ($input.all().length > 1) return [];\nreturn [{ json: {} }];": False,
}


@pytest.mark.parametrize("text", CODES)
def test_code_that_makes_one_item_of_one(engine: LocalEngine, text: str) -> None:
    workflow = condition_workflow("", TRUE, "", strict=False)
    node_of(workflow, "I").update(code(text))
    step = WorkflowDocument(workflow).steps["I"]
    assert returns_one_item(step) is CODES[text]
    (done,) = list(engine.run_many([RunRequest(workflow, "T", items=[{"json": {"a": 1}}])]))
    counts = [e.outputs for e in done.order if e.node == "I"]
    assert not CODES[text] or counts == [(1,)]


# -- edits beside the code -------------------------------------------------------------------------

HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" '
    'xmlns:camunda="http://camunda.org/schema/1.0/bpmn" id="d">'
)


def flow_text(id: str, source: str, target: str, inside: str = "") -> str:
    return (
        f'<sequenceFlow id="{id}" sourceRef="{source}" targetRef="{target}">{inside}</sequenceFlow>'
    )


DECIDED = (
    f'{HEAD}<process id="p" name="Case" isExecutable="true"><startEvent id="s"/>'
    '<exclusiveGateway id="g" name="Choice" default="f2"/><task id="k" name="Keep"/>'
    '<endEvent id="e"/>'
    + flow_text("f0", "s", "g")
    + flow_text("f1", "g", "k", "<conditionExpression>${ok}</conditionExpression>")
    + flow_text("f2", "g", "e")
    + flow_text("f3", "k", "e")
    + "</process></definitions>"
)


def edit_options(**changes: Any) -> Edit:
    """Set options of a condition, or remove those that are `None`."""

    def edit(condition: Json) -> None:
        condition["options"].update(changes)
        for name in [n for n, value in changes.items() if value is None]:
            del condition["options"][name]

    return edit


CONDITION_EDITS: dict[str, Edit] = {
    "as compiled": edit_options(),
    "strict": edit_options(typeValidation="strict"),
    "validation omitted": edit_options(typeValidation=None),
    "version 1": edit_options(version=1),
    "version omitted": edit_options(version=None),
    "version 3": edit_options(version=3),
    "no options": lambda condition: condition.pop("options"),
    "case omitted": edit_options(caseSensitive=None),
    "no combinator": lambda condition: condition.pop("combinator"),
}


@pytest.mark.parametrize("name", CONDITION_EDITS)
def test_options_of_a_condition_are_read_as_the_engine_reads_them(
    engine: LocalEngine, tmp_path: Path, name: str
) -> None:
    """`looseTypeValidation` of the node stays, which n8n does not read."""
    path = tmp_path / "model.bpmn"
    path.write_text(DECIDED, encoding="utf-8")
    (workflow,) = compiled(path)
    edited = copy.deepcopy(workflow)
    rules = node_of(edited, "Choice")["parameters"]["rules"]["values"]
    CONDITION_EDITS[name](rules[-1]["conditions"])
    start = next(n["name"] for n in workflow["nodes"] if "rigger" in n["type"])
    runs = [
        [
            (done.status, [e.node for e in done.order])
            for done in engine.run_many(
                RunRequest(flow, start, items=[{"json": {"ok": ok}}])
                for ok in (True, False, "true", "false")
            )
        ]
        for flow in (workflow, edited)
    ]
    (result,) = verified(path, [edited])
    assert (result.verdict is Verdict.PROVED) is (runs[0] == runs[1])


@pytest.mark.parametrize("kind", ["array", "number"])
def test_the_type_of_a_right_side_counts(kind: str) -> None:
    model = EXAMPLES / "order-to-cash" / "model.bpmn"
    (workflow,) = compiled(model)
    rules = node_of(workflow, "All items in stock?")["parameters"]["rules"]["values"]
    rules[0]["conditions"]["conditions"][0]["operator"]["rightType"] = kind
    (result,) = verified(model, [workflow])
    assert result.verdict is not Verdict.PROVED


@pytest.mark.parametrize(
    ("node", "version"),
    [("Fill in claim data", 2), ("Find approver", 1), ("Post to accounting", 3)],
)
def test_a_node_of_another_version_reads_its_parameters_otherwise(node: str, version: int) -> None:
    model = EXAMPLES / "expense-claim" / "model.bpmn"
    (workflow,) = compiled(model)
    node_of(workflow, node)["typeVersion"] = version
    (result,) = verified(model, [workflow])
    assert result.verdict is not Verdict.PROVED


def test_a_removed_authentication_is_reported() -> None:
    model = EXAMPLES / "order-to-cash" / "model.bpmn"
    (workflow,) = compiled(model, auth="header")
    parameters = node_of(workflow, "Order received")["parameters"]
    parameters["authentication"] = "basicAuth"
    (result,) = verified(model, [workflow], auth="header")
    assert {c.node for c in result.changed} == {"Order received"}, "callers notice"
    parameters["authentication"] = "headerAuth"
    for value in ("none", None):
        parameters.pop("authentication")
        if value is not None:
            parameters["authentication"] = value
        (result,) = verified(model, [workflow], auth="header")
        assert [c.node for c in result.changed] == ["Order received"]
        parameters["authentication"] = "headerAuth"


def called_text(id: str, name: str) -> str:
    return (
        f'<process id="{id}" name="{name}" isExecutable="true"><startEvent id="{id}s"/>'
        f'<scriptTask id="{id}t" name="Compute {id}" scriptFormat="groovy">'
        f'<script>y = path + 1</script></scriptTask><endEvent id="{id}e"/>'
        + flow_text(f"{id}1", f"{id}s", f"{id}t")
        + flow_text(f"{id}2", f"{id}t", f"{id}e")
        + "</process>"
    )


def call_text(id: str, called: str) -> str:
    return (
        f'<callActivity id="{id}" name="Call {called}" calledElement="{called}"><extensionElements>'
        f'<camunda:in source="amount" target="path"/><camunda:out source="y" target="{id}y"/>'
        "</extensionElements></callActivity>"
    )


CALLING = (
    HEAD
    + called_text("one", "First")
    + called_text("two", "Second")
    + '<process id="p" name="Case" isExecutable="true"><startEvent id="s"/>'
    + call_text("a", "one")
    + call_text("b", "two")
    + '<endEvent id="e"/>'
    + flow_text("f0", "s", "a")
    + flow_text("f1", "a", "b")
    + flow_text("f2", "b", "e")
    + "</process></definitions>"
)


def swap_calls(first: Json, second: Json) -> None:
    ids = [call["parameters"]["workflowId"] for call in (first, second)]
    ids[0]["value"], ids[1]["value"] = ids[1]["value"], ids[0]["value"]


def call_the_same(first: Json, second: Json) -> None:
    second["parameters"]["workflowId"] = first["parameters"]["workflowId"]


def call_unknown_twice(first: Json, second: Json) -> None:
    for call in (first, second):
        call["parameters"]["workflowId"]["value"] = "deployed"


def call_unknown(first: Json, second: Json) -> None:
    first["parameters"]["workflowId"]["value"] = "deployed"


def hand_over(first: Json, second: Json) -> None:
    first["parameters"]["workflowInputs"]["value"] = {"path": "={{ 5 }}"}


@pytest.mark.parametrize(
    ("edit", "verdict"),
    [
        (swap_calls, Verdict.CHANGED),
        (call_the_same, Verdict.CHANGED),
        (call_unknown_twice, Verdict.CHANGED),
        (hand_over, Verdict.CHANGED),
        (call_unknown, Verdict.CHANGED),
    ],
)
def test_which_workflow_a_call_calls_and_with_what(
    tmp_path: Path, edit: Callable[[Json, Json], None], verdict: Verdict
) -> None:
    path = tmp_path / "model.bpmn"
    path.write_text(CALLING, encoding="utf-8")
    workflows = compiled(path)
    case = next(w for w in workflows if w["name"].startswith("Case"))
    edit(node_of(case, "Call one"), node_of(case, "Call two"))
    results = {r.process: r.verdict for r in verified(path, workflows)}
    assert results == {"one": Verdict.PROVED, "two": Verdict.PROVED, "p": verdict}


def test_only_a_server_knows_the_id_of_a_workflow_that_is_not_compared(tmp_path: Path) -> None:
    path = tmp_path / "model.bpmn"
    path.write_text(CALLING, encoding="utf-8")
    case = next(w for w in compiled(path) if w["name"].startswith("Case"))
    call_unknown(node_of(case, "Call one"), node_of(case, "Call two"))
    verdicts = {r.process: r.verdict for r in verified(path, [case])}
    assert verdicts["p"] is Verdict.PROVED


def test_a_call_of_another_workflow_among_deployed_ones(tmp_path: Path) -> None:
    path = tmp_path / "model.bpmn"
    path.write_text(CALLING, encoding="utf-8")
    text = json.dumps(compiled(path))
    for workflow in json.loads(text):
        text = text.replace(workflow["id"], f"new {workflow['name'][:4]}")
    workflows = json.loads(text)
    assert {r.verdict for r in verified(path, workflows)} == {Verdict.PROVED}
    case = next(w for w in workflows if w["name"].startswith("Case"))
    swap_calls(node_of(case, "Call one"), node_of(case, "Call two"))
    (changed,) = [r for r in verified(path, workflows) if r.verdict is not Verdict.PROVED]
    assert [c.node for c in changed.changed] == ["Call one", "Call two"]


def test_a_called_workflow_that_none_may_call(tmp_path: Path) -> None:
    path = tmp_path / "model.bpmn"
    path.write_text(CALLING, encoding="utf-8")
    workflows = compiled(path)
    for workflow in workflows:
        workflow["settings"]["callerPolicy"] = "none"
    results = {r.process: r.verdict for r in verified(path, workflows)}
    assert results == {"one": Verdict.CHANGED, "two": Verdict.CHANGED, "p": Verdict.PROVED}


def test_diff_reports_another_schedule(invoke: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.bpmn"
    timer = "<timerEventDefinition><timeCycle>R/PT2H</timeCycle></timerEventDefinition>"
    start = f'<startEvent id="s" name="Every so often">{timer}</startEvent>'
    path.write_text(DECIDED.replace('<startEvent id="s"/>', start), encoding="utf-8")
    (workflow,) = compiled(path)
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(json.dumps(workflow), encoding="utf-8")
    interval = node_of(workflow, "Every so often")["parameters"]["rule"]["interval"]
    interval[0]["hoursInterval"] = 3
    new.write_text(json.dumps(workflow), encoding="utf-8")
    assert json.loads(invoke("diff", str(old), str(old), "--format", "json").out)["verdict"] == (
        "same"
    )
    ran = invoke("diff", str(old), str(new))
    assert "if the changed node does the same as before: `Every so often`" in " ".join(
        ran.out.split()
    )
