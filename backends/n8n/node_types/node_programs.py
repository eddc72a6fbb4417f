"""The parameters of a node as a program: two nodes of one type do the same if n8n resolves their
parameters to the same values, whatever the data is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from orgflow.backends.n8n.format.canonical_parameters import canonical_value, without_defaults
from orgflow.backends.n8n.format.parameter_values import as_compiled_now, code_form, parameter_form
from orgflow.backends.n8n.format.workflow_document import Node
from orgflow.backends.n8n.node_types import catalogue, execute_workflow, wait

_OF_SERVER = frozenset({"nodeCredentialType", "genericAuthType", "webhookId", "workflowId"})
"""Parameters about a server: the kind of a credential, and the id by which it knows a workflow."""

_OF_EDITOR = frozenset(
    {
        "notice", "formNotice", "webhookNotice", "contentTypeNotice", "generalNotice",
        "infoMessage", "addFormPage",
    }
)  # fmt: skip
"""Parameters that only n8n's editor shows."""

NAMING = frozenset({"$", "$items"})
"""Functions that name a node by a text."""

_FAILURE_SETTINGS: Mapping[str, tuple[Any, ...]] = {
    "onError": (None, "stopWorkflow"),
    "continueOnFail": (None, False),
    "retryOnFail": (None, False),
    "maxTries": (None,),
    "waitBetweenTries": (None,),
}
"""Settings that say what happens if a node fails, with the values that mean n8n's own default."""

_AUTHENTICATION = "authentication"

NameOfCall = Callable[[str, str], "str | None"]
"""The text that stands for a call that names a node, given the function and the text; see
`read_program`."""


def list_program_differences(
    before: Node, now: Node, name_before: NameOfCall, name_now: NameOfCall
) -> Iterator[tuple[str, Any, Any]]:
    """The parameters of two nodes of one type, and the settings for failures, whose values may
    differ: the name, and both values as in the files. The version decides how a node reads its
    parameters. The credential of a request may be another one, but not be missing."""
    if before.version != now.version:
        yield "typeVersion", before.version, now.version
    if not before.trigger and _asks_credential(before) and not _asks_credential(now):
        yield _AUTHENTICATION, before.parameters.get(_AUTHENTICATION), "none"
    was, current = compared_parameters(before), compared_parameters(now)
    for parameter in dict.fromkeys((*was, *current)):
        first, second = (as_compiled_now(values.get(parameter)) for values in (was, current))
        script = parameter in catalogue.script_parameters(before.short)
        read = code_form if script and isinstance(first, str) else parameter_form
        if not isinstance(second, str):
            read = parameter_form
        if read(first, name_before) != read(second, name_now):
            yield parameter, was.get(parameter), current.get(parameter)
    yield from list_setting_differences(before, now)


def list_setting_differences(before: Node, now: Node) -> Iterator[tuple[str, Any, Any]]:
    """The settings for failures that differ: the name, and both values."""
    for setting, defaults in _FAILURE_SETTINGS.items():
        first, second = (
            None if step.raw.get(setting) in defaults else step.raw.get(setting)
            for step in (before, now)
        )
        if first != second:
            yield setting, first, second


def compared_parameters(step: Node) -> Mapping[str, Any]:
    """The parameters that an outcome can depend on, without those that the editor omits."""
    defaults = catalogue.default_values(step.short)
    kept = _without_presentation(without_defaults(step.parameters, defaults))
    if step.short == wait.NODE.name:
        kept = dict(wait.with_times_in_seconds(step.version, kept))
    if not step.trigger:
        # An outgoing request may need a credential, which no model has; callers notice one.
        kept = {name: value for name, value in kept.items() if name != _AUTHENTICATION}
    if kept.get("path") and kept["path"] == step.raw.get("webhookId"):
        kept = {name: value for name, value in kept.items() if name != "path"}
    if step.short == execute_workflow.NODE.name and not _names_workflow(step.parameters):
        kept = {**kept, "workflowId": "no workflow"}
    canonical: Mapping[str, Any] = canonical_value(kept)
    return canonical


def _asks_credential(step: Node) -> bool:
    """Whether a node asks its callers, or is asked itself, for a credential, of whatever kind."""
    default = catalogue.default_values(step.short).get(_AUTHENTICATION, "none")
    return bool(step.parameters.get(_AUTHENTICATION, default) != "none")


def _names_workflow(parameters: Mapping[str, Any]) -> bool:
    """Whether a call states which workflow it calls; which id that is, only the server knows."""
    called = parameters.get("workflowId")
    if isinstance(called, Mapping):
        called = called.get("value")
    return bool(called) or parameters.get("source", "database") != "database"


def _without_presentation(value: Any) -> Any:
    """A parameter without parts that nobody outside of the editor notices.

    The keys of a mapping of fields are names of the user's, such as `path`, and all of them count.
    """
    if isinstance(value, Mapping):
        if "mappingMode" in value:
            return value
        return {
            name: _without_presentation(part)
            for name, part in value.items()
            if name not in _OF_EDITOR and name not in _OF_SERVER
        }
    return [_without_presentation(part) for part in value] if isinstance(value, list) else value
