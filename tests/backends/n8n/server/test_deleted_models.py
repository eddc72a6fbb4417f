"""Workflows on a server whose models were deleted: `deploy` reports them (N8N015), and `undeploy
--deleted` removes them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from n8n_stand_in import KEY, StandIn
from orgflow import cli
from orgflow.backends.n8n.server.deploy.process_similarity import deleted_in, origin_of, project_of
from orgflow.backends.n8n.server.local_server import LocalN8n

from orgflow_ir.plugins.engines import RunningServer

EXAMPLES = Path(__file__).resolve().parents[4] / "examples"

MODEL = """\
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d-{id}">
<process id="{id}" name="{name}" isExecutable="true"><startEvent id="s-{id}"/>
<sequenceFlow id="f-{id}" sourceRef="s-{id}" targetRef="t-{id}"/>{task}
<sequenceFlow id="g-{id}" sourceRef="t-{id}" targetRef="e-{id}"/><endEvent id="e-{id}"/>
</process></definitions>"""


def write(folder: Path, *ids: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for id in ids:
        task = f'<userTask id="t-{id}" name="Ask about {id}"/>'
        text = MODEL.format(id=id, name=id.title(), task=task)
        (folder / f"{id}.bpmn").write_text(text, "utf-8")
    return folder


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    stand_in = StandIn()
    monkeypatch.setenv("N8N_API_KEY", KEY)
    monkeypatch.setenv("N8N_URL", stand_in.url)
    yield stand_in
    stand_in.close()


def said(capsys: pytest.CaptureFixture[str], *args: str, code: int = 0) -> str:
    assert cli.run(list(args)) == code
    captured = capsys.readouterr()
    return " ".join((captured.out + captured.err).split())


def names(server: StandIn) -> set[str]:
    return {row["name"] for row in server.workflows.values()}


@pytest.mark.parametrize("repository", [False, True])
def test_a_deleted_model(
    server: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str], repository: bool
) -> None:
    if repository:
        (tmp_path / ".git").mkdir()
    models = write(tmp_path / "models", "order", "pay")
    write(models / "sales", "offer")
    deploy = ("deploy", str(models))
    assert "N8N015" not in said(capsys, *deploy)
    (models / "pay.bpmn").unlink()
    (models / "sales" / "offer.bpmn").unlink()
    (models / "sales").rmdir()
    (pay,) = (row for row in server.workflows.values() if row["name"] == "Pay")
    for more in (("--dry-run",), ()):
        told = said(capsys, *deploy, *more)
        assert told.count("warning N8N015 [deleted-model]") == 2
        place = "models/pay.bpmn"
        assert f"`Pay` (id {pay['id']}) was deployed from {place}, which no longer exists" in told
        assert "`Offer`" in told
    assert names(server) == {"Order", "Pay", "Offer"}
    assert "N8N015" not in said(capsys, "deploy", str(models / "order.bpmn"))

    removal = ("undeploy", "--deleted", str(models))
    listed = said(capsys, *removal, "--dry-run")
    assert listed.count("would go") == 2
    assert names(server) == {"Order", "Pay", "Offer"}
    nodes = json.loads(json.dumps(pay["nodes"]))
    nodes[0]["position"] = [7, 7]
    server.edit(pay["id"], nodes=nodes)
    assert "kept" in said(capsys, *removal, code=1)
    assert names(server) == {"Order", "Pay"}
    assert "removed" in said(capsys, *removal, "--take-over")
    assert names(server) == {"Order"}
    assert "every deployed model of these folders is still there" in said(capsys, *removal)
    assert "N8N015" not in said(capsys, *deploy)


def test_a_model_that_moved_or_has_another_name_was_not_deleted(
    server: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = write(tmp_path / "models", "order", "pay")
    said(capsys, "deploy", str(models))
    (models / "part").mkdir()
    (models / "pay.bpmn").rename(models / "part" / "pay.bpmn")
    assert "N8N015" not in said(capsys, "deploy", str(models))
    assert len(server.workflows) == 2


def test_files_of_another_project_were_not_deleted(
    server: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two projects with the same layout on one server."""
    one = write(tmp_path / "one" / "models", "order")
    other = write(tmp_path / "other" / "models", "pay")
    said(capsys, "deploy", str(one))
    assert "N8N015" not in said(capsys, "deploy", str(other))
    assert "N8N015" not in said(capsys, "deploy", str(one))
    assert names(server) == {"Order", "Pay"}


def test_a_workflow_that_another_one_calls_is_not_reported(
    server: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = write(tmp_path / "models", "order", "pay")
    call = (
        '<userTask id="t-main" name="Ask first"/>'
        '<sequenceFlow id="h-main" sourceRef="t-main" targetRef="c-main"/>'
        '<callActivity id="c-main" name="Call" calledElement="pay"/>'
    )
    main = MODEL.format(id="main", name="Main", task=call)
    main = main.replace('id="g-main" sourceRef="t-main"', 'id="g-main" sourceRef="c-main"')
    (models / "main.bpmn").write_text(main, "utf-8")
    said(capsys, "deploy", str(models))
    (models / "pay.bpmn").unlink()
    told = said(capsys, "deploy", str(models))
    assert told.count("N8N015") == 1  # the workflow with its own start
    assert "`Pay` (id" in told
    assert "N8N014" in told


def test_deleted_is_for_folders(
    server: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = write(tmp_path / "models", "order")
    told = said(capsys, "undeploy", "--deleted", str(models / "order.bpmn"), code=2)
    assert "--deleted is for folders" in told


def test_clones_of_a_repository_are_one_project(tmp_path: Path) -> None:
    config = '[core]\n\tbare = false\n[remote "{0}"]\n\turl = {1}\n'
    roots = []
    for name, address in (
        ("a", "https://token@git.example.com/Team/shop.git"),
        ("b", "git@git.example.com:team/shop"),
        ("c", "https://git.example.com/team/other.git"),
    ):
        roots.append(write(tmp_path / name, "order"))
        (roots[-1] / ".git").mkdir()
        (roots[-1] / ".git" / "config").write_text(config.format("origin", address), "utf-8")
    a, b, c = map(project_of, roots)
    assert a == b != c
    tree = write(tmp_path / "tree", "order")  # a work tree
    own = roots[0] / ".git" / "worktrees" / "tree"
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n", "utf-8")
    (tree / ".git").write_text(f"gitdir: {own}\n", "utf-8")
    assert project_of(tree) == a
    origin = origin_of(str(roots[0] / "order.bpmn"))
    assert not deleted_in(str(tree), origin.place, origin.project)
    (tree / "order.bpmn").unlink()
    assert deleted_in(str(tree), origin.place, origin.project)
    assert not deleted_in(str(tree), "../order.bpmn", origin.project)
    assert not deleted_in(str(tree), origin.place, "")


def test_a_published_workflow_that_only_a_person_can_start_now(
    server: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """n8n refuses to update a published workflow to one that it cannot publish."""
    models = write(tmp_path / "models", "order")
    told = said(capsys, "deploy", str(models))
    assert "published" in told
    form = (models / "order.bpmn").read_text("utf-8")
    (models / "order.bpmn").write_text(form.replace("userTask", "task"), "utf-8")
    told = said(capsys, "deploy", str(models))
    assert "by hand" in told
    assert "warning OF616 [started-by-hand] `Order` is no longer published" in told
    (row,) = server.workflows.values()
    assert not row["active"]
    told = said(capsys, "deploy", str(models))
    assert "info OF616" in told
    (models / "order.bpmn").write_text(form, "utf-8")
    assert "published" in said(capsys, "deploy", str(models), "--rollback")
    (row,) = server.workflows.values()
    assert row["active"]


def test_the_server_of_this_machine_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    running = RunningServer("http://127.0.0.1:1", "key.txt", ("a", "b"), "log", 1, begun=False)
    monkeypatch.delenv("N8N_URL", raising=False)
    models = write(tmp_path / "models", "order")
    here = "; the one on this machine is --url http://127.0.0.1:1 --key-file key.txt"
    for found, more in ((running, here), (None, "")):
        monkeypatch.setattr(LocalN8n, "running", lambda _, found=found: found)
        told = said(capsys, "deploy", str(models), code=2)
        assert f"no server is named: use --url, or set N8N_URL{more}" in told


def test_decisions_of_a_folder_are_part_of_the_workflows_that_use_them(
    server: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = tmp_path / "claim"
    models.mkdir()
    for file in ("model.bpmn", "approver.dmn"):
        text = (EXAMPLES / "expense-claim" / file).read_text("utf-8")
        (models / file).write_text(text, "utf-8")
    out = tmp_path / "out"
    told = said(capsys, "compile", str(models), "--target", "n8n", "-o", f"{out}/")
    assert "approver.dmn is part of the workflows that use it" in told
    together = {path.name for path in out.glob("*.json")}
    assert "approver.json" not in together
    alone = tmp_path / "alone"
    both = (str(models), str(models / "approver.dmn"))
    assert "is part" not in said(capsys, "compile", *both, "--target", "n8n", "-o", f"{alone}/")
    assert "approver.json" in {path.name for path in alone.glob("*.json")}

    assert "approver.dmn is part" in said(capsys, "deploy", str(models))
    assert "Approver" not in names(server)
    said(capsys, "deploy", str(models / "approver.dmn"))
    assert "Approver" in names(server)
    said(capsys, "undeploy", str(models))
    assert names(server) == set()
    (models / "model.bpmn").unlink()
    assert "is part" not in said(capsys, "deploy", str(models))
    assert names(server) == {"Approver"}
