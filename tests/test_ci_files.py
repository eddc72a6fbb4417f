"""The CI files that people copy are valid: by the schemas of GitHub and GitLab."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema.validators import validator_for

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "tests" / "ci_schemas"
PAGE = (ROOT / "docs" / "ci.md").read_text("utf-8")
SHOWN = dict(re.findall(r'(?ms)^```yaml title="([^"]+)"\n(.*?)^```$', PAGE))
GOLDEN = ".github/workflows/models.yml"


def faults(schema: str, content: str) -> list[str]:
    """What a schema finds in a file of YAML."""
    with (SCHEMAS / schema).open(encoding="utf-8") as file:
        rules = json.load(file)
    # YAML 1.1 reads the key `on` as true; GitHub reads it as text
    read = {"on" if key is True else key: value for key, value in yaml.safe_load(content).items()}
    check: Any = validator_for(rules)(rules)
    return [error.message for error in check.iter_errors(read)]


def schema_of(name: str) -> str:
    return "gitlab-ci.json" if "gitlab" in name else "github-workflows.json"


@pytest.mark.parametrize("name", [n for n in SHOWN if n != ".pre-commit-config.yaml"])
def test_what_the_page_shows_is_valid(name: str) -> None:
    assert faults(schema_of(name), SHOWN[name]) == []


def test_the_page_shows_every_kind() -> None:
    assert sorted(SHOWN) == [".github/workflows/findings.yml", ".github/workflows/models.yml",
                             ".gitlab-ci.yml", ".pre-commit-config.yaml"]  # fmt: skip


def test_the_workflow_of_the_example_is_valid() -> None:
    content = (ROOT / "examples" / "golden-repo" / GOLDEN).read_text("utf-8")
    assert faults("github-workflows.json", content) == []


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        (".github/workflows/models.yml", "runs-on:", "run-on:"),
        (".github/workflows/models.yml", "steps:", "step:"),
        (".gitlab-ci.yml", "when: always", "when: sometimes"),
    ],
)
def test_a_mistake_is_found(name: str, right: str, wrong: str) -> None:
    assert right in SHOWN[name]
    assert faults(schema_of(name), SHOWN[name].replace(right, wrong)) != []


def test_the_hook_has_what_pre_commit_requires() -> None:
    (repository,) = yaml.safe_load(SHOWN[".pre-commit-config.yaml"])["repos"]
    assert repository["repo"] == "local"
    (hook,) = repository["hooks"]
    assert {"id", "name", "entry", "language"} <= set(hook)
    chosen = re.compile(hook["files"])
    assert chosen.search("models/order.bpmn")
    assert not chosen.search("models/order.png")
