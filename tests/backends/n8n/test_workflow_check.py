"""The checks of a whole workflow: one fault at a time, recorded workflows, speed."""

from __future__ import annotations

import copy
import json
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from orgflow.backends.n8n.emit.schema_check import check_schemas
from orgflow.backends.n8n.emit.workflow_check import KINDS, Problem, check_workflow
from orgflow.backends.n8n.format.document import node_type, to_api
from orgflow.backends.n8n.format.expressions import read_code, read_parameter
from orgflow.backends.n8n.format.versions import V1_123, N8nVersion
from orgflow.backends.n8n.node_types.ports import outputs_of
from orgflow.backends.n8n.node_types.type_versions import type_version
from shared_data import shared_data

Flow = dict[str, Any]


def node(name: str, short: str, **parameters: Any) -> dict[str, Any]:
    return {
        "id": f"id of {name}",
        "name": name,
        "type": node_type(short),
        "typeVersion": type_version(short),
        "position": [0, 0],
        "webhookId": f"hook of {name}",
        "parameters": parameters,
    }


def flow(nodes: list[dict[str, Any]], *wires: str) -> Flow:
    """Wires are written `Source.output>Target.input`; numbers may be left out."""
    connections: dict[str, Any] = {}
    for wire in wires:
        (source, _, output), (target, _, index) = (end.partition(".") for end in wire.split(">"))
        main = connections.setdefault(source, {"main": []})["main"]
        while len(main) <= int(output or 0):
            main.append([])
        main[int(output or 0)].append({"node": target, "type": "main", "index": int(index or 0)})
    return {
        "name": "w",
        "nodes": nodes,
        "connections": connections,
        "settings": {"executionOrder": "v1"},
    }


def condition(left: str) -> dict[str, Any]:
    operator = {"type": "boolean", "operation": "true", "singleValue": True}
    return {
        "options": {
            "caseSensitive": True, "leftValue": "", "typeValidation": "strict", "version": 2,
        },
        "combinator": "and",
        "conditions": [{"leftValue": left, "rightValue": "", "operator": operator}],
    }  # fmt: skip


def wait(name: str, suffix: str | None, **more: Any) -> dict[str, Any]:
    options = {} if suffix is None else {"webhookSuffix": suffix}
    return node(
        name, "wait", resume="webhook", httpMethod="POST", responseMode="onReceived",
        options=options, **more,
    )  # fmt: skip


def raw(name: str, text: str) -> dict[str, Any]:
    return node(name, "set", mode="raw", jsonOutput=text, options={})


def good() -> Flow:
    return flow(
        [
            node("Start", "webhook", httpMethod="POST", path="p", responseMode="onReceived"),
            node("Amount ok?", "if", conditions=condition("={{ $('Start').first().json.ok }}")),
            node("Don't", "noOp"),
            node("Do", "code", jsCode="return [{json: {a: $('Don\\'t').isExecuted}}];"),
            node("Join", "merge", mode="combine", combineBy="combineByPosition", numberInputs=2),
            wait("Answer", "answer"),
            node("Note", "stickyNote", content="= {{ any", height=100, width=100),
        ],
        "Start>Amount ok?", "Amount ok?.0>Do", "Amount ok?.1>Don't", "Do>Join.0", "Don't>Join.1",
        "Join>Answer",
    )  # fmt: skip


def problems(workflow: Any, **options: Any) -> list[Problem]:
    """What the schemas and the check of the whole say; chooseBranch is refused by both."""
    found = check_workflow(workflow, **options)
    chosen = any(problem.kind == "choose-branch" for problem in found)
    by_schema = check_schemas(workflow, **options)
    return [*(p for p in by_schema if not chosen or p.kind != "parameters"), *found]


def kinds(workflow: Flow, **options: Any) -> list[str]:
    return [problem.kind for problem in problems(workflow, **options)]


def test_a_good_workflow_has_no_problem() -> None:
    assert problems(good()) == []
    assert problems(to_api(good()), form="api") == []


def change(path: str, value: Any) -> Callable[[Flow], None]:
    def apply(workflow: Flow) -> None:
        *steps, last = (int(step) if step.isdigit() else step for step in path.split("/"))
        place: Any = workflow
        for step in steps:
            place = place[step]
        if isinstance(place, list) and last == len(place):
            place.append(value)
        else:
            place[last] = value

    return apply


END = {"node": "Join", "type": "main", "index": 0}
LIMIT = {
    "limitWaitTime": True, "limitType": "afterTimeInterval", "resumeAmount": 2,
    "resumeUnit": "hours",
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "apply", "path"),
    [
        ("schema", change("settings", {}), "/settings"),
        ("schema", change("nodes/0/colour", "red"), "/nodes/0"),
        ("schema", change("nodes/2/onError", "continue"), "/nodes/2/onError"),
        ("schema", change("connections/Join/ai_tool", []), "/connections/Join"),
        ("schema", change("connections/Join/main/0/0/type", "ai"),
         "/connections/Join/main/0/0/type"),
        ("duplicate-name", change("nodes/7", node("Do", "noOp") | {"id": "2"}), "/nodes/7/name"),
        ("duplicate-id", change("nodes/6/id", "id of Do"), "/nodes/6/id"),
        ("node-type", change("nodes/2/type", node_type("gmail")), "/nodes/2/type"),
        ("type-version", change("nodes/1/typeVersion", 9), "/nodes/1/typeVersion"),
        ("choose-branch", change("nodes/4/parameters", {"mode": "chooseBranch"}),
         "/nodes/4/parameters/mode"),
        ("parameters", change("nodes/4/parameters/inputs", 2), "/nodes/4/parameters"),
        ("connection-source", change("connections/Gone", {"main": [[END]]}), "/connections/Gone"),
        ("connection-target", change("connections/Do/main/0/1", {**END, "node": "Gone"}),
         "/connections/Do/main/0/1/node"),
        ("connection-output", change("connections/Do/main/1", [END]), "/connections/Do/main/1/0"),
        ("connection-input", change("connections/Do/main/0/1", {**END, "index": 2}),
         "/connections/Do/main/0/1/index"),
        ("connection-input", change("connections/Do/main/0/1", {**END, "node": "Start"}),
         "/connections/Do/main/0/1/index"),
        ("merge-input", change("nodes/4/parameters/numberInputs", 3), "/nodes/4"),
        ("no-trigger", change("nodes/0/disabled", True), "/nodes"),
        ("unreachable", change("nodes/7", node("Lost", "noOp")), "/nodes/7"),
        ("expression",
         change("nodes/1/parameters/conditions/conditions/0/leftValue", "={{ f({a: {}}) }}"),
         "/nodes/1/parameters/conditions/conditions/0/leftValue"),
        ("unknown-reference",
         change("nodes/1/parameters/conditions/conditions/0/leftValue", "={{ $('start').all() }}"),
         "/nodes/1/parameters/conditions/conditions/0/leftValue"),
        ("unknown-reference", change("nodes/3/parameters/jsCode", 'return $("Gone").all()'),
         "/nodes/3/parameters/jsCode"),
        ("webhook-path", change("nodes/7", {**good()["nodes"][0], "name": "Two", "id": "2"}),
         "/nodes/7/parameters/path"),
        ("webhook-suffix", change("nodes/5/parameters/options/webhookSuffix", "={{ 'a' }}"),
         "/nodes/5/parameters/options/webhookSuffix"),
    ],
)  # fmt: skip
def test_one_fault_is_one_problem(kind: str, apply: Callable[[Flow], None], path: str) -> None:
    workflow = good()
    apply(workflow)
    found = problems(workflow)
    assert [(problem.kind, problem.path) for problem in found] == [(kind, path)]
    assert kind in KINDS


def test_addresses_of_waits() -> None:
    start = node("T", "manualTrigger")
    for one, two, expected in [
        ("a", "b", []), ("a", None, []), ("a", "a", ["webhook-suffix"]),
        (None, None, ["webhook-suffix"]),
    ]:  # fmt: skip
        nodes = [start, wait("A", one), wait("B", two)]
        assert kinds(flow(nodes, "T>A", "A>B")) == expected


def test_the_same_path_for_two_methods_is_fine() -> None:
    nodes = [
        node(method, "webhook", httpMethod=method, path="p", responseMode="onReceived")
        for method in ("GET", "POST")
    ]
    assert kinds(flow(nodes)) == []
    forms = [
        node(name, "formTrigger", formTitle="t", formFields={"values": [{"fieldLabel": "a"}]},
             options={"path": "p"})
        for name in ("A", "B")
    ]  # fmt: skip
    assert kinds(flow(forms)) == ["webhook-path"]


def test_a_time_limit_must_not_meet_a_later_wait() -> None:
    start = node("T", "manualTrigger")
    limited = wait("A", "a", **LIMIT)
    assert kinds(flow([start, limited, node("E", "noOp")], "T>A", "A>E")) == []
    assert kinds(flow([start, limited, wait("B", "b")], "T>A", "A>B")) == ["stale-timer"]
    assert kinds(flow([start, wait("B", "b"), limited], "T>B", "B>A")) == []
    assert kinds(flow([start, limited, node("E", "noOp")], "T>A", "A>E", "E>A")) == ["stale-timer"]
    for waits, expected in [(True, ["stale-timer"]), (False, [])]:
        call = node(
            "C", "executeWorkflow", source="database", mode="once",
            workflowId={"__rl": True, "mode": "id", "value": "x"},
            workflowInputs={"mappingMode": "defineBelow", "value": {}},
            options={"waitForSubWorkflow": waits},
        )  # fmt: skip
        assert kinds(flow([start, limited, call], "T>A", "A>C")) == expected


def test_field_names_in_a_waiting_form() -> None:
    for name, expected in [("ok", []), ("other", ["form-field"])]:
        fields = {"values": [{"fieldLabel": "ok", "fieldName": name}]}
        form = node(
            "F", "wait", resume="form", formTitle="t", formFields=fields, responseMode="onReceived"
        )
        assert kinds(flow([node("T", "manualTrigger"), form], "T>F")) == expected


def test_versions() -> None:
    assert kinds(good(), version=V1_123) == []
    newer = flow([node("T", "manualTrigger"), raw("S", "={{ 1 }}")], "T>S")
    assert kinds(newer, version=V1_123) == ["type-version"]
    assert kinds({**good(), "pinData": {}}, form="api", version=V1_123) == ["api-key"]
    assert kinds({**good(), "pinData": {}}, form="api") == []
    with pytest.raises(ValueError, match=r"known are 1\.123, 2\.41"):
        check_workflow(good(), version=N8nVersion(2, 0))


@pytest.mark.parametrize("workflow", [None, [], "x", {}, {"nodes": {}, "connections": []}])
def test_what_is_no_workflow_is_reported(workflow: Any) -> None:
    assert "schema" in {problem.kind for problem in problems(workflow)}


def test_broken_shapes_are_reported_and_nothing_else_breaks() -> None:
    for path in ("nodes", "connections", "settings", "nodes/0", "nodes/1/parameters",
                 "nodes/1/name", "nodes/1/type", "nodes/1/typeVersion",
                 "nodes/1/parameters/options", "nodes/4/parameters/numberInputs",
                 "nodes/1/parameters/conditions",
                 "connections/Do", "connections/Do/main", "connections/Do/main/0",
                 "connections/Do/main/0/0", "connections/Do/main/0/0/node",
                 "connections/Do/main/0/0/index"):  # fmt: skip
        for value in (None, 7, -1, 2.5, True, "x", "=x", [], {}, [None], [[None]], {"a": None}):
            workflow = good()
            change(path, copy.deepcopy(value))(workflow)
            problems(workflow)
            check_workflow(workflow, form="api")


@pytest.mark.parametrize(
    ("text", "references"),
    [
        ("no expression {{ ' }}", ()),
        ("={{ $json.a }}", ()),
        ("=Hello {{ $json.a }} and {{ $json.b }}!", ()),
        ("={{ {a: {b: 1} } }}", ()),
        ("={{{a: 1} }}", ()),
        ("={{ ')' + \"(\" + '\\'' }}", ()),
        ("={{ `a ${ `b ${ 1 } (` } (` }}", ()),
        ("={{ /[/(]+\\)/.test($json.a) ? 4 / 2 : (1) / 2 }}", ()),
        ("={{ 1 /* ( */ // ' \n }}", ()),
        ("=\\{{ text \\}} {{ 1 }}", ()),
        ("={{ $('A').item.json.x + $(\"B\").first() + $node['C'].json + $items(`D`) }}",
         ("A", "B", "C", "D")),
        ("={{ $('It\\'s \\u0041\\x42 \\u{43}\\\\').all() }}", ("It's AB C\\",)),
        ("={{ $('\\ud83d\\ude00') }}", ("😀",)),
        ("={{ \"$('A')\" + $json['$'] + $(name) }}", ()),
        ("={{ $( 'A' ).isExecuted }}{{ $('B') }}", ("A", "B")),
        ("={{ `${ $('A').x }` }}", ("A",)),
    ],
)  # fmt: skip
def test_whole_expressions(text: str, references: tuple[str, ...]) -> None:
    assert read_parameter(text).faults == ()
    assert read_parameter(text).references == references


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("=x", "contains no"),
        ("=", "contains no"),
        ("={{ }}", "empty"),
        ("={{ 1", "never closed"),
        ("= 1 }}", "without `{{`"),
        ("={{ 1 }} }}", "without `{{`"),
        ("={{ f({a: {}}) }}", "write `} }`"),
        ("={{ '}}' }}", "write `} }`"),
        ("={{ (1 }}", "`(` is never closed"),
        ("={{ 1) }}", "`)` without"),
        ("={{ (1] }}", "`]` without"),
        ("={{ 'a }}", "quote `'` is never closed"),
        ('={{ "a\n" }}', 'quote `"` is never closed'),
        ("={{ `a }}", "never closed"),
        ("={{ `${ 1 }}", "never closed"),
        ("={{ 1 /* }}", "comment is never closed"),
        ("={{ 1 }} {{ ( }}", "never closed"),
    ],
)
def test_broken_expressions(text: str, fault: str) -> None:
    faults = read_parameter(text).faults
    assert len(faults) == 1
    assert fault in faults[0]


def test_long_and_deep_code_is_read_at_once() -> None:
    start = time.process_time()
    assert read_code("(" * 100_000 + ")" * 100_000).faults == ()
    assert read_code("'" + "\\'" * 100_000).faults
    assert read_code("/" * 100_000).faults == ()
    assert read_code("a/" * 50_000 + "[" * 50_000).faults
    assert read_parameter("=" + "{{ 1 }}" * 50_000).faults == ()
    assert read_parameter("=" + "\\" * 100_000 + "{{ 1 }}").faults == ()
    assert time.process_time() - start < 5


def recorded() -> list[dict[str, Any]]:
    return [
        json.loads(line) for line in shared_data("n8n-runs.jsonl").read_text("utf-8").splitlines()
    ]


def test_recorded_workflows() -> None:
    found: Counter[str] = Counter()
    clean = 0
    rows = recorded()
    for row in rows:
        said = problems(row["wf"])
        found.update({problem.kind for problem in said})
        clean += not said
        assert all(problem.kind in KINDS for problem in said)
    # What they use beyond what we emit: older nodes, chooseBranch and other modes, Python.
    # Nothing of their structure, wires, expressions or addresses is reported.
    assert set(found) == {"choose-branch", "parameters", "type-version"}
    assert clean >= 65


def test_outputs_of_recorded_nodes() -> None:
    several = (node_type("if"), node_type("switch"))
    compared = 0
    for row in recorded():
        nodes = {one["name"]: one for one in row["wf"]["nodes"]}
        for name, items in row["order"]:
            count = outputs_of(nodes[name])
            # Filter hands out what it drops as a second list, but declares one output.
            if count is not None and nodes[name]["type"] != node_type("filter"):
                assert len(items) <= count
                ran = row["status"] == "success" and "disabled" not in nodes[name]
                if ran and nodes[name]["type"] in several:
                    assert len(items) == count
                compared += 1
    assert compared > 500


def test_speed() -> None:
    small = good()
    check_workflow(small)
    start = time.process_time()
    for _ in range(50):
        check_workflow(small)
    assert (time.process_time() - start) / 50 < 0.02  # about 0.3 ms

    nodes = [node("T", "manualTrigger")]
    wires = []
    for index in range(10_000):
        before = nodes[-1]["name"]
        nodes.append(raw(f"N{index}", f"={{{{ $('{before}').last().json.a{index} }}}}"))
        wires.append(f"{before}>N{index}")
    large = flow(nodes, *wires)
    start = time.process_time()
    assert check_workflow(large) == ()
    assert time.process_time() - start < 8  # about 0.5 s
