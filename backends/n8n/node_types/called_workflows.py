"""Expectations of a workflow that others call: its id, the start, the inputs, and the callers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from orgflow.backends.n8n.format.document import TYPE_PREFIX
from orgflow.backends.n8n.format.json_values import inside
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument, workflows_of
from orgflow.backends.n8n.node_types import execute_workflow_trigger

from orgflow_ir.linking.workflow_files import FileState
from orgflow_ir.model.input_limits import load_json
from orgflow_ir.model.records import NamedTuple

TRIGGER = f"{TYPE_PREFIX}{execute_workflow_trigger.NODE.name}"


class CalledWorkflow(NamedTuple):
    """A workflow that others can call.

    Attributes:
        name: its name.
        starts: whether an enabled trigger begins such a run.
        inputs: the names of its inputs; `None` if it accepts all fields.
        policy: its setting `callerPolicy`; empty if it has none.
        callers: the ids in its setting `callerIds`.
    """

    name: str
    starts: bool
    inputs: tuple[str, ...] | None
    policy: str
    callers: frozenset[str]


def called_workflows(data: bytes) -> dict[str, CalledWorkflow] | None:
    """The workflows of a file by id; `None` for a file without workflows."""
    try:
        documents = workflows_of(load_json(data))
    except ValueError:
        return None
    if not documents:
        return None
    return {id: describe_called(d) for d in documents if isinstance(id := d.raw.get("id"), str)}


@lru_cache(maxsize=2_000)
def called_in_file(file: FileState) -> Mapping[str, CalledWorkflow] | None:
    """`called_workflows` of a file, read once until it changes."""
    return called_workflows(file.read())


def describe_called(document: WorkflowDocument) -> CalledWorkflow:
    """The expectations of a workflow that others call."""
    triggers = [n for n in document.nodes if n.type == TRIGGER and not n.disabled]
    ids = document.settings.get("callerIds")
    policy = document.settings.get("callerPolicy")
    return CalledWorkflow(
        document.name,
        bool(triggers),
        _list_inputs(triggers[0].version, triggers[0].parameters) if triggers else None,
        policy if isinstance(policy, str) else "",
        frozenset(part.strip() for part in ids.split(",")) if isinstance(ids, str) else frozenset(),
    )


def _list_inputs(version: float, parameters: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The inputs of a trigger, which drops all other fields; `None` if it passes all on."""
    if version < 1.1:
        return None
    match parameters.get("inputSource", "workflowInputs"):
        case "workflowInputs":
            return tuple(_listed_names(inside(parameters, "workflowInputs", "values")))
        case "jsonExample":
            try:
                example = json.loads(str(parameters.get("jsonExample", "")))
            except (ValueError, RecursionError):
                return None
            return tuple(example) if isinstance(example, dict) else None
    return None


def _listed_names(values: Any) -> Iterator[str]:
    for value in values if isinstance(values, list) else ():
        if isinstance(value, Mapping) and isinstance(value.get("name"), str):
            yield value["name"]
