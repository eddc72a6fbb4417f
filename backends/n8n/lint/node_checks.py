"""Checks of single nodes: type, version, parameters, keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Final

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.format.workflow_document import Node
from orgflow.backends.n8n.lint.lint_report import Report, list_names
from orgflow.backends.n8n.lint.shape_rules import (
    MissingParameter,
    OtherVersionParameter,
    RefusedKey,
    UnknownErrorHandling,
    UnknownNodeType,
    UnknownParameter,
    UnknownTypeVersion,
)
from orgflow.backends.n8n.node_types import catalogue
from orgflow.backends.n8n.node_types.node_type import Required

from orgflow_ir.diagnostics import Severity

_NODE_KEYS: Final = frozenset(
    {
        "id", "name", "type", "typeVersion", "position", "parameters", "webhookId", "disabled",
        "notes", "notesInFlow", "executeOnce", "alwaysOutputData", "retryOnFail", "maxTries",
        "waitBetweenTries", "onError", "credentials", "continueOnFail", "color", "createdAt",
        "updatedAt", "extendsCredential", "rewireOutputLogTo", "issues",
    }
)  # fmt: skip
_WORKFLOW_KEYS: Final = frozenset(
    {
        "name", "nodes", "connections", "settings", "staticData", "pinData", "nodeGroups", "id",
        "active", "tags", "meta", "versionId", "createdAt", "updatedAt", "triggerCount", "shared",
        "isArchived", "homeProject", "scopes", "usedCredentials", "versionCounter", "description",
        "parentFolder", "parentFolderId", "projectId", "activeVersionId", "activeVersion",
        "sharedWithProjects", "checksum", "version", "hash", "sourceWorkflowId", "autosaved",
    }
)  # fmt: skip
"""Keys that n8n itself writes into files; the API refuses some of them, and `deploy` omits
those."""

_SETTINGS: Final = frozenset(
    {
        "executionOrder", "timezone", "saveExecutionProgress", "saveManualExecutions",
        "saveDataErrorExecution", "saveDataSuccessExecution", "executionTimeout", "errorWorkflow",
        "callerPolicy", "callerIds", "timeSavedPerExecution", "availableInMCP", "binaryMode",
        "timeSavedMode", "redactionPolicy", "credentialResolverId", "maxConcurrency",
    }
)  # fmt: skip
_ON_ERROR: Final = ("stopWorkflow", "continueRegularOutput", "continueErrorOutput")

_SPLIT_OUT: Final[Required] = ("fieldToSplitOut", {})
"""Parameters of Split Out, which is not in `node_types`."""


def check_nodes(report: Report) -> None:
    """All faults of a single node."""
    flow = report.workflow
    for node in flow.nodes:
        versions = catalogue.known_versions(node.type)
        if not catalogue.comes_with_n8n(node.type):
            continue
        if not versions:
            _unknown_type(report, node)
        elif not node.versioned:
            _no_version(report, node, versions)
        elif node.version not in versions:
            _unknown_version(report, node, versions)
        elif node.short:
            _check_parameters(report, node)
            if not node.disabled:
                _check_required(report, node)
    for node in flow.nodes:
        _on_error(report, node)
    _check_keys(report)


def _unknown_type(report: Report, node: Node) -> None:
    package, short = catalogue.split_type(node.type)
    near = get_close_matches(short, catalogue.package_types(node.type), n=1)
    report.add(
        UnknownNodeType,
        node,
        f"`{node.name}` has the type `{node.type}`, which n8n {catalogue.table_release()} does not "
        "have, so it does not publish the workflow",
        f"did you mean `{package}.{near[0]}`?" if near else "use a type that exists in n8n",
        "type",
        severity=Severity.INFO if node.disabled else None,
    )


def _unknown_version(report: Report, node: Node, versions: tuple[float, ...]) -> None:
    newest = versions[-1]
    newer = "is newer than any" if node.version > newest else "is none"
    apart = catalogue.is_versioned(node.type)
    does = "cannot run the node" if apart else "runs it with untested behaviour"
    report.add(
        UnknownTypeVersion,
        node,
        f"version {node.version:g} of `{node.name}` {newer} of those that n8n "
        f"{catalogue.table_release()} has of `{catalogue.split_type(node.type)[1]}`: it "
        "accepts the "
        f"workflow and {does}",
        f"write one of {', '.join(f'{v:g}' for v in versions)}, with its parameters",
        "typeVersion",
        # A newer one is a matter of which n8n it is for.
        severity=None
        if apart and not node.disabled and node.version < newest
        else Severity.WARNING,
    )


def _no_version(report: Report, node: Node, versions: tuple[float, ...]) -> None:
    if len(versions) > 1 and not node.disabled:
        report.add(
            UnknownTypeVersion,
            node,
            f"`{node.name}` has no `typeVersion`: n8n uses its default version, and ignores "
            "parameters of other versions",
            "write the version that its parameters belong to: "
            f"{', '.join(f'{v:g}' for v in versions)}",
            severity=Severity.WARNING,
        )


def _check_parameters(report: Report, node: Node) -> None:
    table = catalogue.core_parameters(node.short)
    if table is None:
        return
    unknown = [name for name in node.parameters if name not in table]
    other = [n for n in node.parameters if n in table and node.version not in table[n]]
    if unknown:
        good = [k for k, v in table.items() if node.version in v]
        near = [m for name in unknown for m in get_close_matches(name, good, n=1)]
        report.add(
            UnknownParameter,
            node,
            f"`{node.name}` has {_quote_names(unknown)}, which no version of `{node.short}` "
            f"supports: n8n ignores {'it' if len(unknown) == 1 else 'them'}",
            f"did you mean {list_names(list(dict.fromkeys(near)), 'or')}?" if near else "remove it",
            "parameters",
            unknown[0],
        )
    if other:
        spans = sorted({_version_span(table[name]) for name in other})
        report.add(
            OtherVersionParameter,
            node,
            f"`{node.name}` has {_quote_names(other)}, which `{node.short}` supports only in "
            f"version {' and '.join(spans)}: version {node.version:g} ignores "
            f"{'it' if len(other) == 1 else 'them'}",
            f"use its name in version {node.version:g}, or change `typeVersion`",
            "parameters",
            other[0],
        )


def _quote_names(names: list[str]) -> str:
    return f"the parameter{'' if len(names) == 1 else 's'} {list_names(names)}"


def _version_span(versions: list[float]) -> str:
    low, high = min(versions), max(versions)
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _check_required(report: Report, node: Node) -> None:
    table = catalogue.core_parameters(node.short) or {}
    kind = node_types.find_type(node.short)
    required = kind.required if kind is not None else ()
    for name, shown in (_SPLIT_OUT,) if node.short == "splitOut" else required:
        if node.version not in table.get(name, ()):
            continue
        if any(node.parameters.get(key) not in values for key, values in shown.items()):
            continue
        value = node.parameters.get(name)
        if isinstance(value, Mapping) and value.get("__rl") is True:
            value = value.get("value")
        if value in (None, "", "="):
            report.add(
                MissingParameter,
                node,
                f"`{node.name}` has no `{name}`: n8n does not publish the workflow",
                "set it, or disable the node",
                "parameters",
            )


def _on_error(report: Report, node: Node) -> None:
    value = node.raw.get("onError")
    if value is None or value in _ON_ERROR:
        return
    report.add(
        UnknownErrorHandling,
        node,
        f"`{node.name}` has the unknown `onError` value {value!r}: its errors stop the run",
        f"write one of {', '.join(_ON_ERROR)}",
        "onError",
    )


def _check_keys(report: Report) -> None:
    """One finding for each set of keys that n8n does not know."""
    flow = report.workflow
    _report_odd(report, flow.document.path, "the workflow", flow.document.raw, _WORKFLOW_KEYS)
    _report_odd(
        report, (*flow.document.path, "settings"), "the settings", flow.document.settings, _SETTINGS
    )
    seen: set[tuple[str, ...]] = set()
    for node in flow.nodes:
        odd = tuple(sorted(node.raw.keys() - _NODE_KEYS))
        if odd and odd not in seen:
            seen.add(odd)
            _report_odd(report, node.path, f"`{node.name}`", node.raw, _NODE_KEYS)


def _report_odd(
    report: Report,
    path: tuple[str | int, ...],
    what: str,
    keys: Iterable[str],
    good: frozenset[str],
) -> None:
    odd = sorted(set(keys) - good)
    if not odd:
        return
    single = len(odd) == 1
    near = {key: get_close_matches(key, sorted(good), n=1, cutoff=0.75) for key in odd}
    meant = [f"`{key}` for `{match[0]}`" for key, match in near.items() if match]
    report.add(
        RefusedKey,
        (*path, odd[0]),
        f"{what} has {'the key' if single else 'the keys'} {list_names(odd)}, which n8n does not "
        f"support: its API rejects the workflow, its editor ignores {'it' if single else 'them'}",
        f"did you mean {'; '.join(meant)}?".replace(" for ", " to be ")
        if meant
        else f"remove {'it' if single else 'them'} before you send the file to the API",
        severity=Severity.WARNING if meant else None,
    )
