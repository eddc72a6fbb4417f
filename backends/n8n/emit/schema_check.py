"""Checks a workflow against the JSON schemas of orgflow's output, with the `jsonschema` package.

It loads slowly, so only `--verify`, the conformance kit and tests import this module.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.protocols import Validator
from orgflow.backends.n8n.emit.workflow_check import Form, Problem, make_pointer
from orgflow.backends.n8n.format.document import short_type
from orgflow.backends.n8n.format.versions import DEFAULT_VERSION, N8nVersion
from orgflow.backends.n8n.node_types import described_names
from orgflow.backends.n8n.node_types.type_versions import type_versions
from referencing import Registry
from referencing.jsonschema import DRAFT202012

_FOLDER: Final = Path(__file__).parent.parent / "format" / "schema"
_SHARED: Final = ("common", "filter", "form", "workflow-file")
_LONGEST: Final = 200


def check_schema(instance: Any, name: str, *, at: str = "") -> list[Problem]:
    """All violations of the schema `format/schema/<name>.schema.json` by a value.

    Args:
        instance: a JSON value.
        name: the name of a schema, such as `nodes/if` or `workflow-file`.
        at: prefix of the path of each problem.
    """
    errors = sorted(
        _load_validator(name).iter_errors(instance), key=lambda e: [str(p) for p in e.path]
    )
    return [
        Problem(at + make_pointer(*error.absolute_path), _shorten_message(error.message))
        for error in errors
    ]


def check_schemas(
    workflow: object, *, form: Form = "file", version: N8nVersion = DEFAULT_VERSION
) -> tuple[Problem, ...]:
    """The violations by a workflow and by each emitted node for this n8n."""
    return (*check_schema(workflow, f"workflow-{form}"), *_check_nodes(workflow, version))


def _check_nodes(workflow: object, version: N8nVersion) -> Iterator[Problem]:
    nodes = workflow.get("nodes") if isinstance(workflow, Mapping) else None
    for number, node in enumerate(nodes if isinstance(nodes, list) else ()):
        if not isinstance(node, Mapping):
            continue
        short = short_type(node) or ""
        # Other types and versions are reported by `check_workflow`.
        if short in described_names() and node.get("typeVersion") in type_versions(short, version):
            for problem in check_schema(node, f"nodes/{short}", at=make_pointer("nodes", number)):
                message = f"`{node.get('name')}`: {problem.message}"
                yield Problem(problem.path, message, "parameters")


def _shorten_message(message: str) -> str:
    return message if len(message) <= _LONGEST else message[:_LONGEST] + "…"


@cache
def _load_validator(name: str) -> Validator:
    return Draft202012Validator(_load_document(name), registry=_load_shared_schemas())


@cache
def _load_document(name: str) -> Mapping[str, Any]:
    document = json.loads((_FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    assert isinstance(document, dict)
    return document


@cache
def _load_shared_schemas() -> Registry[Any]:
    documents = [_load_document(name) for name in _SHARED]
    resources = ((str(d["$id"]), DRAFT202012.create_resource(d)) for d in documents)
    return Registry().with_resources(resources)
