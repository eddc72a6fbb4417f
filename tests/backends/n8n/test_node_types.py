"""The registry of node types: complete, and no entry without a use."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.format.document import is_trigger, node_type
from orgflow.backends.n8n.node_types.node_type import NodeType

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "backends/n8n/node_types"
SHARED = {
    "ports",
    "type_versions",
    "workflow_calls",
    "__init__",
    "behaviour",
    "called_workflows",
    "catalogue",
    "conditions",
    "node_programs",
    "node_type",
    "send_and_wait",
}
EMITTER = ROOT / "backends/n8n/emit"
KINDS = {kind.name: kind for kind in node_types.all_types()}


def texts(folder: Path) -> set[str]:
    """Every text that stands in the code of a folder."""
    trees = (ast.parse(path.read_text("utf-8")) for path in folder.rglob("*.py"))
    nodes = (node for tree in trees for node in ast.walk(tree))
    return {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}


def test_every_module_is_registered() -> None:
    modules = {path.stem for path in FOLDER.glob("*.py")} - SHARED
    assert modules == set(node_types._MODULES.values())
    assert list(KINDS) == list(node_types._MODULES) == sorted(KINDS)


@pytest.mark.parametrize("kind", node_types.all_types(), ids=lambda kind: kind.name)
def test_every_type_is_emitted_or_modelled(kind: NodeType) -> None:
    assert kind.emitted or kind.described or kind.behaviour is not None
    assert kind.described or not kind.emitted
    assert kind.label.strip()
    assert node_types.find_type(kind.name) is kind
    assert node_types.type_label(kind.name) == kind.label


def test_what_the_emitter_writes_is_registered_as_emitted() -> None:
    # A position of events, values of options and a shared schema are called so.
    options = {"start", "form", "filter"}
    written = texts(EMITTER) & (KINDS.keys() - options)
    assert written == {kind.name for kind in KINDS.values() if kind.emitted}


def test_triggers_are_recognised_by_their_name() -> None:
    triggers = {kind.name for kind in KINDS.values() if is_trigger({"type": node_type(kind.name)})}
    assert triggers == {kind.name for kind in KINDS.values() if kind.start is not None}


def test_other_types_are_not_known() -> None:
    assert node_types.find_type("discord") is None
    assert node_types.find_type(None) is None
    assert node_types.type_label("discord") == "discord"


def test_a_type_is_named_in_few_files() -> None:
    """Facts of a type that other rooms repeat would have to change with it."""
    rooms = ("backends", "frontends", "compilation", "evaluation", "commands", "orgflow_ir")
    files = [path for room in rooms for path in (ROOT / room).rglob("*.py")]
    naming = [path for path in files if "executeWorkflow" in path.read_text("utf-8")]
    assert len(naming) <= 3, naming
