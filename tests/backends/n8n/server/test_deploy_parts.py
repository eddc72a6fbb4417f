"""The parts of deploying: identity, references, the plan, addresses and keys, versions."""

from __future__ import annotations

import copy
import io
import json
from pathlib import Path
from typing import Any

import pytest
from deploy_faults import chain, hook
from engine_fixture import call, node
from hostile_texts import texts
from orgflow.backends.n8n.engine.runs import RunRequest
from orgflow.backends.n8n.format.document import node_uuid, short_type, to_api
from orgflow.backends.n8n.format.versions import V1_123, V2_41
from orgflow.backends.n8n.node_types.workflow_calls import called_workflows, rewrite_calls
from orgflow.backends.n8n.server.client.backoff import Backoff
from orgflow.backends.n8n.server.client.compatibility import report_version, server_version, too_new
from orgflow.backends.n8n.server.client.credentials import (
    AccessError,
    api_key,
    looks_like_server,
    server_urls,
)
from orgflow.backends.n8n.server.client.errors import (
    NotN8nError,
    RefusedError,
    ServerError,
    StartingError,
    TookTooLongError,
    UnreachableError,
    place_of,
)
from orgflow.backends.n8n.server.client.workflows import list_webhooks, never_published
from orgflow.backends.n8n.server.deploy.apply import EditedMeanwhileError, NotLiveError
from orgflow.backends.n8n.server.deploy.deployment_plan import Inventory, Wanted, plan_groups
from orgflow.backends.n8n.server.deploy.deployment_report import (
    report_fit,
    report_step,
)
from orgflow.backends.n8n.server.deploy.deployment_rules import DEPLOY_RULES
from orgflow.backends.n8n.server.deploy.workflow_files import read_workflows
from orgflow.backends.n8n.server.deployment_marker import (
    digest_of,
    identity_of,
    is_edited,
    marker_of,
    with_marker,
    without_marker,
)
from orgflow.backends.n8n.server.executions.harness import Harness

from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext

Json = dict[str, Any]


def on_server(workflow: Json, number: int = 1, **more: Any) -> Json:
    """As a server has it after a deploy."""
    body = with_marker(to_api(workflow), identity_of(workflow))
    row = {"id": f"s{number}", "active": True, "isArchived": False, "versionId": "v"}
    return {**json.loads(json.dumps(body)), **row, "createdAt": str(number), **more}


# -- identity ----------------------------------------------------------------------------------


def test_a_marker_comes_back_and_says_whose_it_is() -> None:
    row = on_server(hook())
    marker = marker_of(row)
    assert marker is not None
    assert marker.identity == identity_of(row) == "id of Order"
    assert not is_edited(row)
    assert digest_of(row) == digest_of(hook()) == digest_of(without_marker(row))


@pytest.mark.parametrize(
    ("key", "value"),
    [("name", "Another"), ("settings", {"executionOrder": "v1", "timezone": "UTC"}),
     ("connections", {})],
)  # fmt: skip
def test_an_edit_is_noticed(key: str, value: Any) -> None:
    assert is_edited({**on_server(hook()), key: value})


def test_settings_that_only_the_editor_saves_are_no_edit() -> None:
    """The API does not take them, so that no deploy could ever agree with them."""
    row = on_server(hook())
    row["settings"] = {**row.get("settings", {}), "binaryMode": "separate"}
    assert not is_edited(row)


def test_what_says_nothing_is_no_edit() -> None:
    row = on_server(hook())
    row["nodes"] = row["nodes"][::-1]
    row["nodes"][-1]["credentials"] = {"httpBasicAuth": {"id": "1", "name": "x"}}
    row["nodes"][-1]["position"] = [0.0, 0]
    row["connections"]["Hook"]["main"].append([])
    row["connections"]["Step"] = {"main": [[]]}
    assert not is_edited(row)


def test_a_moved_node_is_an_edit() -> None:
    """Positions are semantics."""
    row = on_server(hook())
    row["nodes"][1]["position"] = [0, 5]
    assert is_edited(row)


def test_a_copy_with_new_ids_has_no_marker() -> None:
    row = on_server(hook())
    for index, one in enumerate(row["nodes"]):
        one["id"] = f"new {index}"
    assert marker_of(row) is None
    assert identity_of(row) == "id of Order", "deployed from a file it is the same one again"


def test_two_notes_the_genuine_one_counts() -> None:
    row = on_server(hook())
    strange = copy.deepcopy(on_server(hook("Other"))["nodes"][-1])
    strange["id"] = "pasted"
    row["nodes"].insert(0, strange)
    marker = marker_of(row)
    assert marker is not None
    assert marker.identity == "id of Order"


@pytest.mark.parametrize("said", ["", "{", "[]", '{"id":1}', "[" * 100_000, '{"id":""}'])
def test_a_broken_note_is_none(said: str) -> None:
    row = on_server(hook())
    row["nodes"][-1]["parameters"]["content"] = f"`orgflow-deploy 1 {said}`"
    assert marker_of(row) is None


@pytest.mark.parametrize("text", texts()[::9], ids=lambda text: ascii(text)[:30])
def test_hostile_identities_and_names(text: str) -> None:
    flow = hook() | {"name": text, "id": text}
    row = on_server(flow)
    marker = marker_of(row)
    assert marker is not None
    assert marker.identity == text
    assert not is_edited(row)


def test_half_a_character_is_the_same_when_it_comes_back() -> None:
    flow = hook()
    flow["nodes"][1]["notes"] = "half \ud800 of it"
    other = hook()
    other["nodes"][1]["notes"] = "half \ufffd of it"
    assert digest_of(flow) == digest_of(other)


# -- references --------------------------------------------------------------------------------


def test_every_kind_of_reference_is_found_and_rewritten() -> None:
    flow = hook()
    flow["nodes"] += [
        call("New", "a"),
        node("Old", "executeWorkflow", 1, {"workflowId": "b"}),
        node("Whole", "executeWorkflow", 1.2, {"source": "parameter", "workflowJson": "{}"}),
        node("Computed", "executeWorkflow", 1.2, {"workflowId": {"value": "={{ 1 }}"}}),
    ]
    flow["nodes"][2]["parameters"]["workflowId"]["cachedResultUrl"] = "/workflow/elsewhere"
    flow["settings"]["errorWorkflow"] = "c"
    assert [one for one, _ in called_workflows(flow)] == ["a", "b", "c"]
    kept = copy.deepcopy(flow)
    new = rewrite_calls(flow, lambda one: one + "!")
    assert flow == kept
    assert [one for one, _ in called_workflows(new)] == ["a!", "b!", "c!"]
    assert "cachedResultUrl" not in new["nodes"][2]["parameters"]["workflowId"]


# -- the plan ----------------------------------------------------------------------------------


def problems(wanted: list[Wanted], rows: list[Json], **more: Any) -> list[list[str]]:
    groups = plan_groups(wanted, Inventory(rows), **more)
    return [[p.kind for p in step.problems] for group in groups for step in group.steps]


def codes(wanted: list[Wanted], rows: list[Json]) -> list[str]:
    ctx = PassContext()
    for group in plan_groups(wanted, Inventory(rows)):
        for step in group.steps:
            report_step(step, ctx)
    return [d.code for d in ctx.diagnostics]


def test_called_comes_before_caller() -> None:
    (group,) = plan_groups([Wanted(one, str(i)) for i, one in enumerate(chain())], Inventory([]))
    assert [step.wanted.name for step in group.steps] == ["Callee", "Caller"]


def test_files_that_have_nothing_to_do_with_each_other_are_groups() -> None:
    wanted = [Wanted(hook("A", "a"), "1"), Wanted(hook("B", "b"), "2"), Wanted(hook("C", "c"), "2")]
    groups = plan_groups(wanted, Inventory([]))
    assert [[s.wanted.name for s in g.steps] for g in groups] == [["A"], ["B", "C"]]


def test_a_circle_of_calls() -> None:
    one, two = hook("One", "1"), hook("Two", "2")
    one["nodes"].append(call("C", "id of Two"))
    two["nodes"].append(call("C", "id of One"))
    assert codes([Wanted(one, "1"), Wanted(two, "2")], []) == ["OF612", "OF612"]


def test_a_workflow_that_calls_itself_is_no_circle() -> None:
    one = hook()
    one["nodes"].append(call("C", "id of Order"))
    assert codes([Wanted(one, "1")], []) == []


def test_a_callee_that_is_nowhere() -> None:
    caller, callee = chain()
    assert codes([Wanted(caller, "1")], []) == ["OF611"]
    assert codes([Wanted(caller, "1")], [on_server(callee)]) == []
    other = on_server(hook("x"), id="the callee")
    assert codes([Wanted(caller, "1")], [other]) == []


def test_the_same_file_twice() -> None:
    assert codes([Wanted(hook(), "1"), Wanted(hook(), "2")], []) == ["OF613"]


def test_two_published_ones_cannot_be_told_apart() -> None:
    rows = [on_server(hook(), 1), on_server(hook(), 2)]
    assert codes([Wanted(hook(), "1")], rows) == ["OF614"]
    rows[0]["active"] = False
    (group,) = plan_groups([Wanted(hook(), "1")], Inventory(rows))
    assert group.steps[0].existing is rows[1]
    assert group.steps[0].spare == ("s1",)


def test_an_edited_twin_is_never_spare() -> None:
    rows = [on_server(hook(), 1), on_server(hook(), 2, active=False, name="Mine")]
    assert codes([Wanted(hook(), "1")], rows) == ["OF614"]


def test_archived_ones_do_not_count() -> None:
    rows = [on_server(hook(), 1, isArchived=True), on_server(hook(), 2)]
    (group,) = plan_groups([Wanted(hook(), "1")], Inventory(rows))
    assert group.steps[0].existing is rows[1]


def test_a_thousand_workflows_are_planned_at_once() -> None:
    wanted = [Wanted(hook(f"W{i}", f"p{i}"), str(i)) for i in range(1000)]
    rows = [on_server(one.workflow, i) for i, one in enumerate(wanted)]
    assert len(plan_groups(wanted, Inventory(rows))) == 1000


# -- addresses and keys ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        ("http://127.0.0.1:5678", "http://127.0.0.1:5678"),
        (" https://n8n.example.com/ ", "https://n8n.example.com"),
        ("https://n8n.example.com/api/v1/", "https://n8n.example.com"),
        ("https://example.com/n8n/home/workflows", "https://example.com/n8n"),
        ("http://[::1]:5678/", "http://[::1]:5678"),
        ("https://n8n.example.com/?x=1", "https://n8n.example.com"),
        ("http://localhost:5678/workflow/a1B2/executions/12?x#y", "http://localhost:5678"),
        ("http://localhost:5678/projects/p1/workflows", "http://localhost:5678"),
        ("http://localhost:5678/signin?redirect=%2F", "http://localhost:5678"),
        ("http://localhost:5678/webhook/order", "http://localhost:5678"),
        ("https://example.com/n8n/workflow/new", "https://example.com/n8n"),
        ("'http://localhost:5678'", "http://localhost:5678"),
        ("<http://localhost:5678>", "http://localhost:5678"),
    ],
)
def test_addresses(typed: str, url: str) -> None:
    assert server_urls(typed)[0] == url


def test_a_path_prefix_may_be_a_word_of_the_editor() -> None:
    assert server_urls("https://x.org/workflows/n8n/home") == (
        "https://x.org", "https://x.org/workflows/n8n/home",
    )  # fmt: skip
    assert server_urls("https://x.org/n8n/") == ("https://x.org/n8n",)


@pytest.mark.parametrize("typed", ["localhost:5678", "127.0.0.1:5678", "n8n.example.com/n8n"])
def test_a_missing_scheme_is_named(typed: str) -> None:
    with pytest.raises(AccessError, match=f"did you mean http://{typed}"):
        server_urls(typed)
    assert not looks_like_server("remote")


@pytest.mark.parametrize(
    "typed", ["", "n8n", "ftp://x", "http://", "http://x:port", "http://[", "http://a b/", "//x"]
)
def test_no_addresses(typed: str) -> None:
    with pytest.raises(AccessError):
        server_urls(typed)


def test_a_password_in_an_address_is_not_repeated() -> None:
    with pytest.raises(AccessError) as caught:
        server_urls("https://me:geheim@example.com")
    assert "geheim" not in str(caught.value)
    assert place_of("https://me:geheim@example.com/x?signature=1") == "https://example.com/x"


def test_keys(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text("'secret'\n")
    nothing = io.StringIO()
    assert api_key(None, nothing, {"N8N_API_KEY": " secret\n"}) == "secret"
    assert api_key(str(path), nothing, {}) == "secret"
    assert api_key("-", io.StringIO("secret\r\n"), {}) == "secret"
    path.write_bytes(b"\xff\xfe")
    for file, environment in ((None, {}), (None, {"N8N_API_KEY": " "}), (str(path), {}),
                              (str(tmp_path / "none"), {}), (str(tmp_path), {}),
                              (None, {"N8N_API_KEY": "geh eim"}),
                              (None, {"N8N_API_KEY": "geheimß"})):  # fmt: skip
        with pytest.raises(AccessError) as caught:
            api_key(file, nothing, environment)
        assert "geh" not in str(caught.value)


# -- versions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "known", "exact"),
    [("2.41.1", V2_41, True), ("1.123.81", V1_123, True), ("1.122.5", None, False),
     ("2.10.0", V1_123, False), ("3.0.0", V2_41, False), (None, V2_41, False),
     ("nightly", V2_41, False), ("0.236.0", None, False)],
)  # fmt: skip
def test_versions(text: str | None, known: Any, exact: bool) -> None:
    found = server_version(text)
    assert (found.known, found.exact) == (known, exact)
    ctx = PassContext()
    report_version(found, ctx)
    wanted = [] if exact else ["OF604"] if known is None else ["OF605"]
    assert [d.code for d in ctx.diagnostics] == wanted


def test_a_node_that_the_server_does_not_have() -> None:
    flow = hook()
    flow["nodes"].append(node("Edit", "set", 3.5))
    ctx = PassContext()
    assert report_fit(Wanted(flow, "f"), V2_41, ctx)
    assert not report_fit(Wanted(flow, "f"), V1_123, ctx)
    assert [d.code for d in ctx.diagnostics] == ["OF606"]
    assert [one.newest for one in too_new(flow, V1_123)] == [3.4]


# -- what is told ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UnreachableError("x"), "OF601"),
        (StartingError("x"), "OF601"),
        (TookTooLongError("x"), "OF601"),
        (RefusedError("x", 401), "OF602"),
        (RefusedError("x", 403, "Forbidden"), "OF602"),
        (NotN8nError("x", 200), "OF603"),
        (RefusedError("x", 404, "not found"), "OF603"),
        (EditedMeanwhileError("x"), "OF607"),
        (RefusedError("x", 400, "Node has no credential"), "OF609"),
        (RefusedError("x", 409, "There is a conflict with one of the webhooks."), "OF610"),
        (RefusedError("x", 404, "You do not have permission to update this workflow."), "OF617"),
        (RefusedError("x", 500), "OF618"),
        (RefusedError("x", 429), "OF618"),
        (RefusedError("x", 400, "SQLITE_BUSY: database is locked"), "OF618"),
        (ServerError("x"), "OF618"),
        (NotLiveError("x"), "OF619"),
    ],
    ids=repr,
)
def test_every_error_has_a_rule(error: ServerError, code: str) -> None:
    assert error.explanation.rule.code == code


def test_all_rules_are_named_in_tests() -> None:
    """OF608 (not-deployed-here), OF615 (left-behind) and OF616 (started-by-hand) are in the
    scenarios and in the tests of the command."""
    assert [rule.code for rule in DEPLOY_RULES] == [
        *(f"OF{number}" for number in range(601, 624)), "N8N010", "N8N011", "N8N012",
        "N8N013", "N8N014", "N8N015", "N8N016", "OF624", "OF625", "OF626", "OF627", "OF628",
    ]  # fmt: skip


# -- files -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", "null", '"x"', '{"nodes": 1}', '{"name": "", "nodes": []}',
     '{"name": "x", "nodes": [1], "connections": {}}',
     '{"name": "x", "nodes": [{"type": "n8n-nodes-base.noOp"}], "connections": {}}',
     '{"name": "x", "nodes": [{"name": "a"}, {"name": "a"}], "connections": {}}',
     '{"name": "x", "nodes": [], "connections": {}, "settings": []}'],
)  # fmt: skip
def test_files_that_cannot_be_deployed(text: str) -> None:
    ctx = PassContext()
    read_workflows(SourceFile("x.json", text.encode()), ctx)
    assert ctx.has_errors
    assert {d.code for d in ctx.diagnostics} == {"OF609"}


# -- triggers ----------------------------------------------------------------------------------


def test_webhooks_of_a_workflow() -> None:
    flow = hook(path="/a b/")
    flow["nodes"] += [
        node("Two", "webhook", 2.1, {"path": "x/:id", "httpMethod": ["GET", "PUT"]}, webhookId="w"),
        node("Form", "formTrigger", 2.5, {}, webhookId="f"),
        node("Off", "webhook", 2.1, {"path": "off"}, disabled=True),
        node("Computed", "webhook", 2.1, {"path": "={{ 1 }}"}),
    ]
    assert list(list_webhooks(flow)) == [
        ("webhook/a%20b", "POST"), ("webhook/w/x/%3Aid", "GET"), ("webhook/w/x/%3Aid", "PUT"),
        ("form/f", "POST"),
    ]  # fmt: skip
    assert never_published(flow) == ""
    by_hand = {"nodes": [node("T", "manualTrigger", 1), node("S", "set", 3.4)]}
    assert never_published(by_hand) == "by hand"
    assert never_published(chain()[1]) == ""
    assert never_published(chain()[1], V1_123) == "by call"


def test_backoff_ends() -> None:
    assert list(Backoff(0.0).pauses()) == []
    pauses = Backoff(0.7, first=0.1, most=0.2).pauses()
    assert [next(pauses) for _ in range(3)] == [0.1, 0.2, 0.2]


# -- the harness -------------------------------------------------------------------------------


def test_no_label_gets_into_an_expression_of_the_harness() -> None:
    evil = "'); process.exit(); $('"
    flow = hook()
    flow["nodes"][1]["name"] = evil
    flow["connections"]["Hook"]["main"][0][0]["node"] = evil
    flow["nodes"].append(node("orgflow run", "noOp", 1))
    request = RunRequest(flow, "Hook", [{"json": {"a": 1}}], stubs={evil: {"visits": [{"b": 2}]}})
    harness = Harness(request, "run-x", V2_41)
    rows = {row["name"]: row for row in harness.workflow["nodes"]}
    assert harness.front == "orgflow run'"
    assert evil not in json.dumps(rows[evil]["parameters"])
    assert harness.body(request) == {
        "item": {"a": 1}, "stubs": [{"visits": [{"b": 2}], "replace": False}]
    }  # fmt: skip
    assert node_uuid("run/run-x") == rows[harness.front]["id"]


def test_runs_of_one_harness_need_not_answer_the_same_forms() -> None:
    flow = hook()
    for name in ("First", "Second"):
        hidden = {"fieldType": "hiddenField", "fieldName": "page", "fieldValue": name.lower()}
        form = {"resume": "form", "formFields": {"values": [hidden, {"fieldLabel": "Ok?"}]}}
        flow["nodes"].append(node(name, "wait", 1.1, form, id=name, webhookId=name))
    harness = Harness(RunRequest(flow, "Hook", answers={"First": [{"Ok?": "Yes"}]}), "run-x", V2_41)
    answers = harness.body(RunRequest(flow, "Hook", answers={"Second": [{}]}))["answers"]
    texts = {
        row["name"]: str(row["parameters"].get("jsonOutput")) for row in harness.workflow["nodes"]
    }
    assert '"page": "first"' in texts["First"]
    assert '"page": "second"' in texts["Second"]
    assert [form["visits"] for form in answers] == [[], [{}]]
    assert {"First", "Second"}.isdisjoint(
        row["name"] for row in harness.workflow["nodes"] if short_type(row) == "wait"
    )


def test_a_run_with_sub_workflows_has_no_harness() -> None:
    flow = hook()
    with pytest.raises(ValueError, match="sub-workflows"):
        Harness(RunRequest(flow, "Hook", workflows={"x": flow}), "run-x", V2_41)
