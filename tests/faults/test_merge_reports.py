"""What a merge reports: the work of a person, and a changed order of steps."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from cli_cases import orgflowc

NAMES = {"a": "Take order", "b": "Check stock", "c": "Ship"}


def process(order: str) -> str:
    """A process of the tasks with these ids."""
    tasks = "".join(f'<task id="{id}" name="{NAMES[id]}"/>' for id in order)
    ids = ["s", *order, "e"]
    flows = "".join(
        f'<sequenceFlow id="f{n}{a}{b}" sourceRef="{a}" targetRef="{b}"/>'
        for n, (a, b) in enumerate(itertools.pairwise(ids))
    )
    return (
        '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">'
        f'<process id="p" name="p" isExecutable="true"><startEvent id="s" name="S"/>{tasks}'
        f'<endEvent id="e" name="E"/>{flows}</process></definitions>'
    )


def run_compile(folder: Path, order: str, *options: str) -> str:
    """What the command prints, on one line."""
    model = folder / "p.bpmn"
    model.write_text(process(order), "utf-8")
    output = str(folder / "p.json")
    ran = orgflowc("compile", str(model), "--target", "n8n", "-o", output, "-v", *options)
    assert ran.code == 0, ran.err
    return " ".join(f"{ran.out} {ran.err}".split())


@pytest.fixture
def edited(tmp_path: Path) -> Path:
    """A compiled workflow in which a person has replaced the placeholder `Check stock`."""
    run_compile(tmp_path, "abc")
    workflow: dict[str, Any] = json.loads((tmp_path / "p.json").read_text("utf-8"))
    for row in workflow["nodes"]:
        if row["name"] == "Check stock":
            row.update(type="n8n-nodes-base.httpRequest", typeVersion=4.2)
            row["parameters"] = {"url": "https://stock.example.com/", "options": {}}
    path = tmp_path / "edited.json"
    path.write_text(json.dumps(workflow), "utf-8")
    return path


@pytest.mark.parametrize(
    ("order", "changes"), [("bc", 1), ("bac", 3), ("acb", 3)],
    ids=["removed", "swapped", "moved"],
)  # fmt: skip
def test_the_changes_of_the_model(tmp_path: Path, edited: Path, order: str, changes: int) -> None:
    output = run_compile(tmp_path, order, "--merge", str(edited))
    assert f"merged: {changes} changes of the model, 1 edits kept" in output


def test_kept_work_is_no_gap(tmp_path: Path, edited: Path) -> None:
    output = run_compile(tmp_path, "bac", "--merge", str(edited))
    assert "task `Check stock` has no implementation" not in output
    assert "task `Take order` has no implementation" in output
    merged = json.loads((tmp_path / "p.json").read_text("utf-8"))
    kinds = {row["name"]: row["type"].rpartition(".")[2] for row in merged["nodes"]}
    assert kinds["Check stock"] == "httpRequest"
