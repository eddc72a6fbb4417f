"""A light JSON Schema checker for the schema files of this folder.

It knows the keywords that those files use and no other: a keyword it does not know is an error
when a schema is compiled, so that no rule is ever skipped. A schema is compiled once into nested
functions; its references may not be recursive, so the depth of a check is the depth of the schema,
however deep the value is. The tests hold it to the `jsonschema` package.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from orgflow.backends.n8n.format.schema_compile import (
    Check,
    Compiler,
    Fault,
    Problem,
    SchemaError,
    pointer,
    problem,
)

__all__ = [
    "Problem",
    "Schema",
    "SchemaError",
    "check_schema",
    "compile_schema",
    "load_schema",
    "pointer",
]

_FOLDER: Final = Path(__file__).parent / "schema"
_SHARED: Final = ("common", "filter", "form", "workflow-file")


class Schema(NamedTuple):
    """A compiled schema."""

    name: str
    check: Check


@cache
def load_schema(name: str) -> Schema:
    """The compiled schema of `schema/<name>.schema.json`, such as `nodes/if`."""
    document = _document(name)
    return Schema(name, _compiler().compile(document, document))


def compile_schema(document: Mapping[str, Any], *, name: str = "schema") -> Schema:
    """A schema given as JSON; SchemaError if it uses what this checker does not know."""
    return Schema(name, Compiler(_shared_documents()).compile(document, document))


def check_schema(instance: object, schema: Schema | str, *, at: str = "") -> list[Problem]:
    """Everything that is wrong with a value; `at` is put before the path of each problem."""
    faults: list[Fault] = []
    compiled = load_schema(schema) if isinstance(schema, str) else schema
    compiled.check(instance, None, faults)
    found = [problem(fault) for fault in faults]
    return [Problem(at + one.path, one.message, one.kind) for one in found] if at else found


@cache
def _compiler() -> Compiler:
    """One for all files, so that what they share is compiled once."""
    return Compiler(_shared_documents())


@cache
def _document(name: str) -> Mapping[str, Any]:
    document = json.loads((_FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    assert isinstance(document, dict)
    return document


@cache
def _shared_documents() -> Mapping[str, Mapping[str, Any]]:
    return {str(_document(name)["$id"]): _document(name) for name in _SHARED}
