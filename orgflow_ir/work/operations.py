"""Operations of a target's catalogue that implement tasks: constants, and values computed at run
time."""

from __future__ import annotations

import json
from typing import Any

from orgflow_ir.model.bindings import ACCOUNTS, CATALOGUE, Worker
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program.syntax import ConditionError, Tree
from orgflow_ir.work.mappings import read_value

GIVEN = "given"
"""The name under which a task composes the input of an operation."""


class CatalogueOperation(NamedTuple):
    """An operation as defined by a binding.

    Attributes:
        backend: the target of its catalogue.
        kind: the node type, with its version.
        constants: values of its parameters by name.
        inputs: expressions by the dotted path of a parameter.
        blanks: paths of required parameters without a known value.
        accounts: kinds of credentials, one of which is required.
    """

    backend: str
    kind: str
    constants: tuple[tuple[str, Any], ...]
    inputs: tuple[tuple[str, Tree], ...] = ()
    blanks: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()


def read_operation(worker: Worker) -> CatalogueOperation | None:
    """The operation of a worker of a catalogue; `None` for other workers. Raises `ConditionError`
    for unsupported content."""
    if worker.by != CATALOGUE:
        return None
    backend, _, kind = (worker.target or "").partition(":")
    if not backend or not kind:
        raise ConditionError(f"`{worker.target}` names no operation")
    constants: dict[str, Any] = {}
    for name, text in worker.parameters:
        try:
            constants[name] = json.loads(text)
        except (ValueError, RecursionError):
            raise ConditionError(f"the parameter `{name}` is not JSON") from None
    inputs: list[tuple[str, Tree]] = []
    for given in worker.inputs:
        if not given.text.strip():
            continue
        try:
            inputs.append((given.name, read_value(given.text, given.language or "feel")))
        except ConditionError as error:
            raise ConditionError(f"the input `{given.name}`: {error}") from None
    blanks = tuple(given.name for given in worker.inputs if not given.text.strip())
    accounts = constants.pop(ACCOUNTS, ())
    if not isinstance(accounts, list | tuple) or not all(isinstance(a, str) for a in accounts):
        raise ConditionError(f"`{ACCOUNTS}` is not a list of texts")
    return CatalogueOperation(
        backend, kind, tuple(constants.items()), tuple(inputs), blanks, tuple(accounts)
    )
