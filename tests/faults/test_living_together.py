"""Models, people in n8n's editor and servers: what each did stays, and is named where it cannot."""

from __future__ import annotations

import copy
import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli_cases import Ran, run_in_process
from deploy_origins import ORDER, did, model, refused
from living_series import LivingSeries, Mark, ServerAddress
from n8n_stand_in import KEY, StandIn
from stored_executions import plain, stored

from tests.support.shared_data import shared_data

Json = dict[str, Any]
Change = Callable[[Json], None]

BPMN = "http://www.omg.org/spec/BPMN/20100524/MODEL"
HTTP: Json = {
    "type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2,
    "parameters": {"url": "https://x.example"},
}  # fmt: skip


def deploy_fault(name: str) -> Path:
    return Path(shared_data("faults")) / "deploy" / name


def orgflowc(*args: str | Path) -> Ran:
    ran = run_in_process(*args, env={"N8N_API_KEY": KEY})
    return replace(ran, err=" ".join(ran.err.split()))


def find_node(workflow: Json, name: str) -> Json:
    return next(row for row in workflow["nodes"] if row["name"] == name)  # type: ignore[no-any-return]


def delete_node(workflow: Json, name: str, *, bridged: bool) -> None:
    """As in n8n's editor, which joins what was before and after a node."""
    after = workflow["connections"].pop(name, {"main": [[]]})["main"][0]
    workflow["nodes"] = [row for row in workflow["nodes"] if row["name"] != name]
    for kinds in workflow["connections"].values():
        for ends in kinds["main"]:
            if any(end["node"] == name for end in ends):
                ends[:] = [end for end in ends if end["node"] != name]
                ends += after if bridged else []


# -- a class, decision or process that leaves the model --------------------------------------------


def merge_models(folder: Path, old: str, new: str, change: Change | None = None) -> Ran:
    """Compile an old model, edit the workflows of the file, and merge a new model into it."""
    files = {name: folder / f"{name}.bpmn" for name in ("old", "new")}
    files["old"].write_text(old, encoding="utf-8")
    files["new"].write_text(new, encoding="utf-8")
    edited = folder / "edited.json"
    assert orgflowc("compile", files["old"], "--target", "n8n", "-o", edited).code == 0
    workflows = json.loads(edited.read_text("utf-8"))
    for workflow in workflows if isinstance(workflows, list) else [workflows]:
        if change is not None:
            change(workflow)
    edited.write_text(json.dumps(workflows), encoding="utf-8")
    merged = folder / "merged.json"
    return orgflowc("compile", files["new"], "--target", "n8n", "--merge", edited, "-o", merged)


def merged_names(folder: Path) -> list[str]:
    value = json.loads((folder / "merged.json").read_text("utf-8"))
    return [workflow["name"] for workflow in (value if isinstance(value, list) else [value])]


def implement(workflow: Json) -> None:
    if workflow["name"] == "x.Label (class)":
        find_node(workflow, "x.Label").update(HTTP)


def test_a_removed_class_is_merged_and_reported(tmp_path: Path) -> None:
    old, new = (deploy_fault(f"class-removed-{n}.bpmn").read_text("utf-8") for n in (0, 1))
    ran = merge_models(tmp_path, old, new)
    assert ran.code == 0, ran.err
    assert "N8N006" in ran.err
    assert merged_names(tmp_path) == ["Ship", "x.Pack (class)"]


def test_the_implementation_of_a_removed_class_stays(tmp_path: Path) -> None:
    old, new = (deploy_fault(f"class-removed-{n}.bpmn").read_text("utf-8") for n in (0, 1))
    ran = merge_models(tmp_path, old, new, implement)
    assert ran.code == 0, ran.err
    assert "warning N8N006" in ran.err
    assert "the model no longer has `x.Label (class)`; it was kept" in ran.err
    assert merged_names(tmp_path) == ["Ship", "x.Pack (class)", "x.Label (class)"]


@pytest.mark.parametrize("change", [None, implement])
def test_a_class_is_no_continuation_of_the_one_that_left(
    tmp_path: Path, change: Change | None
) -> None:
    old = deploy_fault("class-removed-0.bpmn").read_text("utf-8")
    new = old.replace('name="Label" camunda:class="x.Label"', 'name="Tell" camunda:class="x.Tell"')
    ran = merge_models(tmp_path, old, new, change)
    assert ran.code == 0, ran.err
    assert "N8N006" in ran.err
    kept = ["x.Label (class)"] if change is not None else []
    assert merged_names(tmp_path) == ["Ship", "x.Pack (class)", "x.Tell (class)", *kept]
    merged = json.loads((tmp_path / "merged.json").read_text("utf-8"))
    assert find_node(merged[2], "x.Tell")["type"] == "n8n-nodes-base.noOp"


def test_a_workflow_that_still_is_called_stays(tmp_path: Path) -> None:
    """A node that a person added calls the workflow of the removed class."""
    old, new = (deploy_fault(f"class-removed-{n}.bpmn").read_text("utf-8") for n in (0, 1))

    def call_again(workflow: Json) -> None:
        if workflow["name"] == "Ship":
            row = copy.deepcopy(find_node(workflow, "Label"))
            row.update(id="added", name="Label again", notes="", position=[900, 400])
            workflow["nodes"].append(row)
            first = workflow["connections"]["Pack"]["main"][0]
            first.append({"node": "Label again", "type": "main", "index": 0})

    ran = merge_models(tmp_path, old, new, call_again)
    assert ran.code == 0, ran.err
    assert "`Ship` still calls it" in ran.err
    assert "x.Label (class)" in merged_names(tmp_path)


def small_process(id: str, calls: str = "") -> str:
    """A process with one task, or with one call of another process."""
    step = f'<callActivity id="t{id}" calledElement="{calls}"/>' if calls else (
        f'<task id="t{id}" name="Work {id}"/>'
    )  # fmt: skip
    return (
        f'<process id="{id}" name="{id}" isExecutable="true"><startEvent id="s{id}"/>{step}'
        f'<endEvent id="e{id}"/><sequenceFlow id="f{id}" sourceRef="s{id}" targetRef="t{id}"/>'
        f'<sequenceFlow id="g{id}" sourceRef="t{id}" targetRef="e{id}"/></process>'
    )


def definitions(*processes: str) -> str:
    return f'<definitions xmlns="{BPMN}" id="d">{"".join(processes)}</definitions>'


def test_a_process_that_leaves_the_model(tmp_path: Path) -> None:
    buy, sell = small_process("buy"), small_process("sell")
    ran = merge_models(tmp_path, definitions(buy, sell), definitions(buy))
    assert ran.code == 0, ran.err
    assert "the model no longer has `sell`" in ran.err
    assert merged_names(tmp_path) == ["buy"]


@pytest.mark.parametrize("kept", [[], ["sell", "help"]])
def test_a_workflow_whose_callers_leave_as_well_is_removed(tmp_path: Path, kept: list[str]) -> None:
    """Only `sell` calls `help`: both stay only if a person calls `sell` in `buy`."""
    buy, sell, called = small_process("buy"), small_process("sell", "help"), small_process("help")
    old, new = definitions(buy, sell, called), definitions(buy)
    merge_models(tmp_path, old, new)
    ids = {w["name"]: w["id"] for w in json.loads((tmp_path / "edited.json").read_text("utf-8"))}

    def call_sell(workflow: Json) -> None:
        if workflow["name"] == "buy":
            row = {**copy.deepcopy(HTTP), "id": "added", "name": "Sell", "position": [900, 400]}
            row |= {"type": "n8n-nodes-base.executeWorkflow", "typeVersion": 1.3}
            row["parameters"] = {"workflowId": {"__rl": True, "mode": "id", "value": ids["sell"]}}
            workflow["nodes"].append(row)
            first = workflow["connections"]["Work buy"]["main"][0]
            first.append({"node": "Sell", "type": "main", "index": 0})

    ran = merge_models(tmp_path, old, new, call_sell if kept else None)
    assert ran.code == 0, ran.err
    assert merged_names(tmp_path) == ["buy", *kept]
    assert ("`sell` still calls it" in ran.err) == bool(kept)


def test_a_workflow_of_somebody_else_is_refused(tmp_path: Path) -> None:
    old, new = (deploy_fault(f"class-removed-{n}.bpmn").read_text("utf-8") for n in (0, 1))
    merge_models(tmp_path, old, new)
    edited = tmp_path / "edited.json"
    workflows = json.loads(edited.read_text("utf-8"))
    other = {"name": "Mine", "nodes": [{"id": "1", "name": "A", **HTTP, "position": [0, 0]}]}
    edited.write_text(json.dumps([*workflows, {**other, "connections": {}}]), encoding="utf-8")
    ran = orgflowc("compile", tmp_path / "new.bpmn", "--target", "n8n", "--merge", edited)
    assert ran.code == 1
    assert "`Mine` is not a workflow of this model" in ran.err


# -- triggers for testing, nodes switched off or deleted -------------------------------------------


def start_by_hand(workflow: Json, *targets: str) -> None:
    row = {
        "id": "hand", "name": "When clicking", "type": "n8n-nodes-base.manualTrigger",
        "typeVersion": 1, "position": [-200, 0], "parameters": {},
    }  # fmt: skip
    workflow["nodes"].append(row)
    ends = [{"node": target, "type": "main", "index": 0} for target in targets]
    workflow["connections"]["When clicking"] = {"main": [ends]}


def paste_start(workflow: Json) -> None:
    row = copy.deepcopy(find_node(workflow, "Begin"))
    row.update(id="pasted", name="Begin1", webhookId="other", position=[0, 400])
    workflow["nodes"].append(row)


def start_own_node(workflow: Json) -> None:
    row = {"id": "own", "name": "Try", "typeVersion": 1, "position": [0, 600], "parameters": {}}
    workflow["nodes"].append({**row, "type": "n8n-nodes-base.noOp"})
    start_by_hand(workflow, "Try")


TRIGGERS: dict[str, tuple[Change, str]] = {
    "before the first step": (lambda w: start_by_hand(w, "Look"), "in n8n's editor only"),
    "before a later step": (lambda w: start_by_hand(w, "Big?"), "in n8n's editor only"),
    "before nothing": (start_by_hand, "`When clicking` is connected to nothing"),
    "before a node of the person": (
        start_own_node, "leads to no step of the model"
    ),
    "a pasted start": (paste_start, "`Begin1` is connected to nothing"),
}  # fmt: skip


@pytest.mark.parametrize("kind", TRIGGERS)
def test_a_trigger_for_testing_is_merged_and_named(kind: str, tmp_path: Path) -> None:
    change, said = TRIGGERS[kind]
    text = deploy_fault("second-trigger.bpmn").read_text("utf-8")
    ran = merge_models(tmp_path, text, text, change)
    assert ran.code == 0, ran.err
    verified = orgflowc("verify", tmp_path / "old.bpmn", tmp_path / "merged.json")
    assert verified.code == 0, verified.out
    assert said in " ".join(verified.out.split())


def test_a_trigger_that_replaces_the_start_still_counts(tmp_path: Path) -> None:
    text = deploy_fault("second-trigger.bpmn").read_text("utf-8")

    def replace_start(workflow: Json) -> None:
        start_by_hand(workflow, "Big?")
        delete_node(workflow, "Begin", bridged=False)

    assert merge_models(tmp_path, text, text, replace_start).code == 1


REMOVED: dict[str, tuple[Change, str]] = {
    "step off": (lambda w: find_node(w, "Look").update(disabled=True),
                 "`Look` is switched off in the workflow, but the model executes it"),
    "step deleted": (lambda w: delete_node(w, "Look", bridged=True),
                     "`Look` was deleted from the workflow, but the model executes it"),
    "step cut out": (lambda w: delete_node(w, "Look", bridged=False),
                     "`Look` was deleted from the workflow, but the model executes it"),
    "decision off": (lambda w: find_node(w, "Big?").update(disabled=True),
                     "`Big?` is switched off in the workflow, but the model decides there"),
    "decision deleted": (lambda w: delete_node(w, "Big?", bridged=True),
                         "`Big?` was deleted from the workflow"),
    "start off": (lambda w: find_node(w, "Begin").update(disabled=True),
                  "`Begin` is switched off in the workflow, but the model starts with"),
    "start deleted": (lambda w: delete_node(w, "Begin", bridged=False),
                      "`Begin` was deleted from the workflow, but the model starts with"),
    "helper off": (lambda w: find_node(w, "Look data").update(disabled=True),
                   "`Look data` is switched off in the workflow"),
    "helper deleted": (lambda w: delete_node(w, "Look data", bridged=True),
                       "`Look data` was deleted from the workflow"),
}  # fmt: skip


@pytest.mark.parametrize("kind", REMOVED)
def test_a_node_that_somebody_switched_off_or_deleted_is_named(kind: str, tmp_path: Path) -> None:
    change, said = REMOVED[kind]
    text = deploy_fault("second-trigger.bpmn").read_text("utf-8")
    ran = merge_models(tmp_path, text, text, change)
    assert ran.code == 1
    assert said in ran.err
    assert "compile the model again" not in ran.err
    verified = orgflowc("verify", tmp_path / "old.bpmn", tmp_path / "edited.json")
    assert verified.code == 1
    assert said in " ".join(verified.out.split())


def test_a_fresh_compile_with_an_expression_in_a_label_is_proved(tmp_path: Path) -> None:
    path, file = deploy_fault("label-verify.bpmn"), tmp_path / "flow.json"
    assert orgflowc("compile", path, "--target", "n8n", "-o", file).code == 0
    ran = orgflowc("verify", path, file, "--strict")
    assert (ran.code, ran.out.split()[0]) == (0, "proved:")


# -- helper nodes ----------------------------------------------------------------------------------


def form_text(label: str | None) -> str:
    """A process with a form whose answers travel to a decision behind another task."""
    form = (
        f'<userTask id="look" name="{label}"><extensionElements><camunda:formData>'
        '<camunda:formField id="big" label="Big" type="boolean"/>'
        '</camunda:formData></extensionElements></userTask>'
        '<sequenceFlow id="a" sourceRef="s" targetRef="look"/>'
        '<sequenceFlow id="b" sourceRef="look" targetRef="think"/>'
    )  # fmt: skip
    straight = '<sequenceFlow id="a" sourceRef="s" targetRef="think"/>'
    return (
        f'<definitions xmlns="{BPMN}" '
        'xmlns:camunda="http://camunda.org/schema/1.0/bpmn" id="d"><process id="p" name="Small" '
        'isExecutable="true"><startEvent id="s" name="Begin"/>'
        f'{straight if label is None else form}<task id="think" name="Think"/>'
        '<exclusiveGateway id="g" name="Big?"/><endEvent id="e1" name="Big end"/>'
        '<endEvent id="e2" name="Small end"/><sequenceFlow id="c" sourceRef="think" targetRef="g"/>'
        '<sequenceFlow id="d1" name="yes" sourceRef="g" targetRef="e1"><conditionExpression>${big}'
        '</conditionExpression></sequenceFlow><sequenceFlow id="d2" name="no" sourceRef="g" '
        'targetRef="e2"><conditionExpression>${!big}</conditionExpression></sequenceFlow>'
        "</process></definitions>"
    )


def rename_helper(workflow: Json) -> None:
    text = json.dumps(workflow).replace('"Look data"', '"Keep answers"')
    workflow.update(json.loads(text.replace("$('Look data')", "$('Keep answers')")))


def test_a_renamed_helper_that_goes_with_its_task_is_reported(tmp_path: Path) -> None:
    ran = merge_models(tmp_path, form_text("Look"), form_text(None), rename_helper)
    assert ran.code == 0, ran.err
    assert "warning N8N003" in ran.err
    assert "removed `Look data` (renamed to `Keep answers`)" in ran.err


def test_a_helper_keeps_its_name_when_its_task_gets_another(tmp_path: Path) -> None:
    ran = merge_models(tmp_path, form_text("Look"), form_text("Inspect"), rename_helper)
    assert ran.code == 0, ran.err
    merged = json.loads((tmp_path / "merged.json").read_text("utf-8"))
    assert {"Inspect", "Keep answers"} <= {row["name"] for row in merged["nodes"]}


# -- servers and repositories ----------------------------------------------------------------------


@pytest.fixture
def servers() -> Iterator[tuple[StandIn, StandIn]]:
    both = StandIn(), StandIn()
    yield both
    for server in both:
        server.close()


def deploy_to(server: StandIn, *args: str | Path) -> Ran:
    return orgflowc("deploy", "--url", server.url, *args)


def git(folder: Path, *args: str) -> None:
    identity = ("-c", "user.name=Kim", "-c", "user.email=kim@a.example")
    subprocess.run(["git", *identity, *args], cwd=folder, check=True, capture_output=True)


def commit_all(folder: Path) -> None:
    if not (folder / ".git").exists():
        folder.mkdir(parents=True, exist_ok=True)
        git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "A change")


def copy_workflows(source: StandIn, target: StandIn, *, by_editor: bool = False) -> None:
    """Export all workflows and import them elsewhere; the editor gives new ids to nodes."""
    for number, row in enumerate(source.workflows.values()):
        id = f"moved{number}"
        nodes = copy.deepcopy(row["nodes"])
        for at, node in enumerate(nodes):
            node["id"] = f"{id}-{at}" if by_editor else node["id"]
        target.workflows[id] = {**row, "id": id, "nodes": nodes, "active": False}


@pytest.mark.parametrize("by_editor", [False, True])
def test_a_move_to_another_server_adopts_and_merges(
    servers: tuple[StandIn, StandIn], tmp_path: Path, by_editor: bool
) -> None:
    test, production = servers
    file = model(tmp_path / "a/order.bpmn", ORDER)
    assert did(deploy_to(test, file)) == ["created"]
    ((old, row),) = test.workflows.items()
    nodes = copy.deepcopy(row["nodes"])
    find_node({"nodes": nodes}, "Ship order").update(HTTP)
    test.edit(old, nodes=nodes)
    copy_workflows(test, production, by_editor=by_editor)
    ran = deploy_to(production, model(file, (*ORDER, "File it")))
    assert did(ran) == ["updated"], ran.err
    assert "N8N016" in ran.err
    ((new, moved),) = production.workflows.items()
    assert new == "moved0"
    assert find_node(moved, "Ship order")["parameters"] == HTTP["parameters"]
    find_node(moved, "File it")
    assert did(deploy_to(production, file)) == ["unchanged"]
    # The first server is a server of its own.
    assert find_node(test.workflows[old], "Ship order")["parameters"] == HTTP["parameters"]


def test_callers_and_called_move_together(servers: tuple[StandIn, StandIn], tmp_path: Path) -> None:
    test, production = servers
    file = deploy_fault("class-removed-0.bpmn")
    deploy_to(test, file)
    for id, row in test.workflows.items():
        if row["name"] == "x.Label (class)":
            nodes = copy.deepcopy(row["nodes"])
            find_node({"nodes": nodes}, "x.Label").update(HTTP)
            test.edit(id, nodes=nodes)
    copy_workflows(test, production)
    ran = deploy_to(production, file)
    assert did(ran) == ["updated"] * 3, ran.err
    by_name = {row["name"]: row for row in production.workflows.values()}
    assert sorted(production.workflows) == ["moved0", "moved1", "moved2"]
    called = find_node(by_name["Ship"], "Label")["parameters"]["workflowId"]["value"]
    assert called == by_name["x.Label (class)"]["id"]
    assert find_node(by_name["x.Label (class)"], "x.Label")["type"] == HTTP["type"]


def test_a_copy_beside_the_deployed_workflow_is_left_alone(
    servers: tuple[StandIn, StandIn], tmp_path: Path
) -> None:
    server, _ = servers
    file = model(tmp_path / "a/order.bpmn", ORDER)
    deploy_to(server, file)
    ((id, row),) = server.workflows.items()
    server.workflows["copy"] = {**copy.deepcopy(row), "id": "copy", "active": False}
    before = copy.deepcopy(server.workflows["copy"])
    assert did(deploy_to(server, model(file, (*ORDER, "File it")))) == ["updated"]
    assert server.workflows["copy"] == before
    find_node(server.workflows[id], "File it")


@pytest.mark.parametrize("remote", [True, False])
@pytest.mark.parametrize("steps", [ORDER, (*ORDER, "File it")])
def test_two_repositories_with_the_same_file(
    servers: tuple[StandIn, StandIn], tmp_path: Path, steps: tuple[str, ...], remote: bool
) -> None:
    server, _ = servers
    files = [model(tmp_path / name / "models/order.bpmn", ORDER) for name in ("sales", "stock")]
    for file in files:
        root = file.parents[1]
        (root / "README").write_text(root.name, encoding="utf-8")
        commit_all(root)
        if remote:
            git(root, "remote", "add", "origin", f"https://git.example/{root.name}.git")
    assert did(deploy_to(server, files[0])) == ["created"]
    before = copy.deepcopy(server.workflows)
    ran = deploy_to(server, model(files[1], steps))
    refused(ran, "OF620")
    assert "another git repository" in ran.err
    assert "leave" in deploy_to(server, files[1], "--dry-run").out
    removed = orgflowc("undeploy", "--url", server.url, files[1])
    assert "another git repository" in removed.out + removed.err
    assert server.workflows == before
    assert did(deploy_to(server, files[1], "--as", "Stock")) == ["created"]
    assert did(deploy_to(server, files[0])) == ["unchanged"]


def test_compiled_files_of_two_repositories(
    servers: tuple[StandIn, StandIn], tmp_path: Path
) -> None:
    server, _ = servers
    for name, code in (("sales", 0), ("stock", 1)):
        source = model(tmp_path / name / "order.bpmn", ORDER)
        made = source.with_suffix(".json")
        assert orgflowc("compile", source, "--target", "n8n", "-o", made).code == 0
        (source.parent / "README").write_text(name, encoding="utf-8")
        commit_all(source.parent)
        ran = deploy_to(server, made)
        assert ran.code == code, ran.err
    assert "another git repository" in ran.err


def test_a_moved_repository_is_taken_over_with_the_edits(
    servers: tuple[StandIn, StandIn], tmp_path: Path
) -> None:
    server, _ = servers
    file = model(tmp_path / "one/order.bpmn", ORDER)
    commit_all(file.parent)
    git(file.parent, "remote", "add", "origin", "https://old.example/order.git")
    deploy_to(server, file)
    ((id, row),) = server.workflows.items()
    nodes = copy.deepcopy(row["nodes"])
    find_node({"nodes": nodes}, "Ship order").update(HTTP)
    server.edit(id, nodes=nodes)
    git(file.parent, "remote", "set-url", "origin", "https://new.example/order.git")
    refused(deploy_to(server, model(file, (*ORDER, "File it"))), "OF620")
    ran = deploy_to(server, file, "--take-over")
    assert did(ran) == ["updated"], ran.err
    assert find_node(server.workflows[id], "Ship order")["type"] == HTTP["type"]
    find_node(server.workflows[id], "File it")
    assert did(deploy_to(server, file)) == ["unchanged"]


def test_a_clone_is_the_same_repository(servers: tuple[StandIn, StandIn], tmp_path: Path) -> None:
    """Without an address, by the first commit; before the first commit, by the folder."""
    server, _ = servers
    file = model(tmp_path / "one/order.bpmn", ORDER)
    git(file.parent, "init", "-q")
    assert did(deploy_to(server, file)) == ["created"]
    commit_all(file.parent)
    assert did(deploy_to(server, model(file, (*ORDER, "File it")))) == ["updated"]
    commit_all(file.parent)
    git(tmp_path, "clone", "-q", str(file.parent), "other")
    git(tmp_path / "other", "remote", "remove", "origin")
    clone = model(tmp_path / "other/order.bpmn", (*ORDER, "File it", "Tell"))
    assert did(deploy_to(server, clone)) == ["updated"]


@pytest.mark.parametrize("kind", ["submodule", "work tree"])
def test_a_checkout_whose_git_folder_is_elsewhere(
    servers: tuple[StandIn, StandIn], tmp_path: Path, kind: str
) -> None:
    """It is the repository from which it was made."""
    server, _ = servers
    file = model(tmp_path / "one/order.bpmn", ORDER)
    commit_all(file.parent)
    git(file.parent, "remote", "add", "origin", str(tmp_path / "one"))
    assert did(deploy_to(server, file)) == ["created"]
    (tmp_path / "outer").mkdir()
    if kind == "submodule":
        git(tmp_path / "outer", "init", "-q")
        allowed = ("-c", "protocol.file.allow=always")
        git(tmp_path / "outer", *allowed, "submodule", "add", str(tmp_path / "one"), "inner")
    else:
        git(file.parent, "worktree", "add", str(tmp_path / "outer/inner"))
    inner = model(tmp_path / "outer/inner/order.bpmn", (*ORDER, "File it"))
    ran = deploy_to(server, inner)
    assert did(ran) == ["updated"], ran.err


def test_a_reverted_model_is_deployed(servers: tuple[StandIn, StandIn], tmp_path: Path) -> None:
    server, _ = servers
    file = model(tmp_path / "one/order.bpmn", ORDER)
    commit_all(file.parent)
    deploy_to(server, file)
    stale = tmp_path / "stale"
    git(tmp_path, "clone", "-q", str(file.parent), "stale")
    git(stale, "remote", "remove", "origin")
    model(file, (*ORDER, "File it"))
    commit_all(file.parent)
    deploy_to(server, file)
    # A checkout without the newer commit may not go back.
    ran = deploy_to(server, stale / "order.bpmn")
    refused_older(ran)
    assert "does not contain the commit of the newer model" in ran.err
    git(file.parent, "revert", "--no-edit", "HEAD")
    ran = deploy_to(server, file)
    assert did(ran) == ["updated"], ran.err
    assert "info N8N010" in ran.err
    ((_, row),) = server.workflows.items()
    assert not any(node["name"] == "File it" for node in row["nodes"])


def test_without_git_both_cases_are_named(servers: tuple[StandIn, StandIn], tmp_path: Path) -> None:
    server, _ = servers
    file = model(tmp_path / "one/order.bpmn", ORDER)
    deploy_to(server, file)
    deploy_to(server, model(file, (*ORDER, "File it")))
    ran = deploy_to(server, model(file, ORDER))
    refused_older(ran)
    assert "either this checkout is out of date, or the change was reverted" in ran.err
    assert did(deploy_to(server, file, "--rollback")) == ["updated"]


def test_what_no_commit_has_is_no_evidence_of_a_revert(
    servers: tuple[StandIn, StandIn], tmp_path: Path
) -> None:
    """The newer model was deployed before it was committed: a colleague's checkout lacks it, though
    it has the commit that was checked out then."""
    server, _ = servers
    file = model(tmp_path / "one/order.bpmn", ORDER)
    commit_all(file.parent)
    deploy_to(server, file)
    deploy_to(server, model(file, (*ORDER, "File it")))
    git(file.parent, "checkout", "-q", "order.bpmn")
    refused_older(deploy_to(server, file))


def refused_older(ran: Ran) -> None:
    assert ran.code == 1
    assert "error N8N010" in ran.err


def test_random_series_notice_a_lost_edit(servers: tuple[StandIn, StandIn], tmp_path: Path) -> None:
    """The name of a lost edit's node stands in infos, as that of every placeholder."""
    addresses = {name: ServerAddress(s.url, KEY) for name, s in zip("ab", servers, strict=True)}
    series = LivingSeries(addresses, tmp_path, 0)
    repository = series.repositories["sales"]
    series._deploy_to(repository, "a")
    assert not series.faults
    (kept,) = series.kept["a"].values()
    kept.marks.append(Mark("a text that is gone", "check"))
    series._deploy_to(repository, "a")
    (fault,) = series.faults
    assert fault.endswith("the edit of `check` was lost silently")


# -- executions of the workflow that reports failures ----------------------------------------------


def test_executions_of_the_error_workflow_are_no_runs(tmp_path: Path) -> None:
    target = "n8n{errors=workflow}"
    path, made = deploy_fault("errors-workflow-500.bpmn"), tmp_path / "made.json"
    assert orgflowc("compile", path, "--target", target, "-o", made).code == 0
    process, report = json.loads(made.read_text("utf-8"))
    before = ["Order comes", "Order comes data", "Call before inputs", "Call before",
              "Call before outputs", "Call before data", "Call service inputs"]  # fmt: skip
    failed = [("Call service", (1,), "error", "500")]
    rows = [
        stored(1, process, [*plain(before), *failed], status="error"),
        stored(2, report, plain(["A run failed", "What failed", "Report the failure"])),
    ]
    saved = tmp_path / "executions.json"
    saved.write_text(json.dumps(rows), encoding="utf-8")
    ran = orgflowc("run", path, "--target", target, "--executions", saved)
    assert ran.code == 1, ran.err
    assert "internal error" not in ran.err
    said = " ".join(ran.out.split())
    assert "execution 2 of `Fault 500: what failed` reports a failure: it is not a run" in said
