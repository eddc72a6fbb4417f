"""Results of code that n8n refuses, and names that it does not provide.

What n8n accepts is in `result-validation.js` of n8n-nodes-base and in `js-task-runner.ts` and
`task_executor.py` of its task runners, which evaluate the code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Final

from orgflow.backends.javascript.returned_shapes import (
    UNKNOWN,
    Shape,
    Shapes,
    list_returned_shapes,
)
from orgflow.backends.javascript.script_names import ScriptNames
from orgflow.backends.n8n.format.workflow_document import Node
from orgflow.backends.n8n.lint.code_rules import CodeResult, UnknownCodeName
from orgflow.backends.n8n.lint.lint_report import Report

from orgflow_ir.diagnostics import Severity

_ITEM_KEYS: Final = frozenset({"json", "binary", "pairedItem", "error", "index"})
"""The keys of an item (`REQUIRED_N8N_ITEM_KEYS`)."""

_KINDS: Final[Mapping[str, tuple[str, str]]] = {
    "text": ("a text", "texts"),
    "number": ("a number", "numbers"),
    "boolean": ("true or false", "booleans"),
    "scalar": ("a text or number", "texts or numbers"),
    "undefined": ("nothing", "undefined values"),
    "null": ("null", "null values"),
    "function": ("a function", "functions"),
    "list": ("a list", "lists"),
}
"""The words for a value that is not an object, and for several."""

_SCALARS: Final = frozenset({"text", "number", "boolean", "scalar"})


# -- JavaScript ------------------------------------------------------------------------------------


def check_code_result(report: Report, node: Node, names: ScriptNames, *, whole: bool) -> None:
    """The values that JavaScript returns; `whole` is the mode with all items at once."""
    report_results(report, node, list_returned_shapes(names), "jsCode", whole=whole)


def report_results(
    report: Report, node: Node, results: tuple[Shapes, ...], name: str, *, whole: bool
) -> None:
    """Report the first of some returned values that n8n refuses; `name` is the parameter of the
    code."""
    describe = _describe_list_fault if whole else _describe_item_fault
    faults = [_join_faults(shapes, describe) for shapes in results]
    first = next(filter(None, faults), "")
    if not first:
        return
    always = all(faults)
    goes_on = node.on_error.startswith("continue") or node.raw.get("continueOnFail") is True
    report.add(
        CodeResult,
        node,
        f"the code of `{node.name}` returns {first}, so the node fails "
        + ("in every run" if always else "where it does so"),
        "return a list of items: `return [{ json: { … } }];`"
        if whole
        else "return one item: `return { json: { … } };`, or set `mode` to `runOnceForAllItems`",
        "parameters",
        name,
        severity=None if always and not goes_on else Severity.WARNING,
    )


def _join_faults(shapes: Shapes, describe: Callable[[Shape], str]) -> str:
    """The fault of a value if each of its alternatives has one; otherwise empty."""
    faults = [describe(shape) for shape in shapes]
    return faults[0] if all(faults) else ""


def _describe_list_fault(result: Shape) -> str:
    """Why n8n does not accept a result for all items; empty if it does, or that is not sure."""
    if result.kind == "list":
        faults = (_join_faults(entry, _describe_entry_fault) for entry in result.entries)
        return next(filter(None, faults), "") or _describe_mixed_keys(result)
    if result.kind == "object":
        # An object whose `json` counts as false is taken as the fields of an item.
        contents = (result.fields or {}).get("json", (UNKNOWN,))
        return _describe_json_fault(contents) if all(c.truthy for c in contents) else ""
    if result.kind in _SCALARS or result.kind in ("undefined", "function"):
        return _KINDS[result.kind][0]
    return ""


def _describe_entry_fault(entry: Shape) -> str:
    if entry.kind in _KINDS:
        return f"a list of {_KINDS[entry.kind][1]}"
    return _describe_json_fault((entry.fields or {}).get("json", (UNKNOWN,)))


def _describe_json_fault(contents: Shapes) -> str:
    """What `json` of an item is if it is no object. JSON drops a field without a value."""
    if any(c.kind not in _KINDS or c.kind in ("undefined", "function") for c in contents):
        return ""
    return f"an item whose `json` is {_KINDS[contents[0].kind][0]}"


def _describe_mixed_keys(result: Shape) -> str:
    """A field beside `json`, which n8n accepts in no item of a list."""
    items = [entry[0].fields for entry in result.entries if len(entry) == 1]
    if not any(fields and not _ITEM_KEYS.isdisjoint(fields) for fields in items):
        return ""
    for fields in items:
        for field, shapes in (fields or {}).items():
            dropped = any(shape.kind in ("undefined", "function") for shape in shapes)
            if field not in _ITEM_KEYS and not dropped:
                return f"an item with the field `{field}` beside `json`"
    return ""


def _describe_item_fault(result: Shape) -> str:
    """Why n8n does not accept a result for one item. It drops the item if there is no result."""
    if result.kind == "object":
        return _describe_json_fault((result.fields or {}).get("json", (UNKNOWN,)))
    if result.kind == "list":
        return "a list, although it runs once for each item"
    return _KINDS[result.kind][0] if result.kind in _SCALARS and result.truthy is not False else ""


_OF_LANGUAGE: Final = frozenset({
    "AggregateError", "Array", "ArrayBuffer", "AsyncDisposableStack", "AsyncFunction",
    "Atomics", "BigInt", "BigInt64Array", "BigUint64Array", "Boolean", "DataView", "Date",
    "DisposableStack", "Error", "EvalError", "FinalizationRegistry", "Float16Array",
    "Float32Array", "Float64Array", "Function", "Infinity", "Int16Array", "Int32Array",
    "Int8Array", "Intl", "Iterator", "JSON", "Map", "Math", "NaN", "Number", "Object",
    "Promise", "Proxy", "RangeError", "ReferenceError", "Reflect", "RegExp", "Set",
    "SharedArrayBuffer", "String", "SuppressedError", "Symbol", "SyntaxError", "TypeError",
    "URIError", "Uint16Array", "Uint32Array", "Uint8Array", "Uint8ClampedArray", "WeakMap",
    "WeakRef", "WeakSet", "WebAssembly", "arguments", "async", "decodeURI",
    "decodeURIComponent", "encodeURI", "encodeURIComponent", "escape", "eval", "get",
    "globalThis", "isFinite", "isNaN", "let", "of", "parseFloat", "parseInt", "set", "static",
    "undefined", "unescape", "yield",
})  # fmt: skip
"""The names of ECMAScript, and words that are names in some places."""

_OF_RUNNER: Final = frozenset({
    "Buffer", "DateTime", "Duration", "FormData", "Interval", "TextDecoder",
    "TextDecoderStream", "TextEncoder", "TextEncoderStream", "atob", "btoa", "clearImmediate",
    "clearInterval", "clearTimeout", "console", "exports", "extend", "extendOptional",
    "getContext", "getInputData", "getNode", "getNodeParameter", "getWorkflow",
    "getWorkflowStaticData", "global", "helpers", "luxon", "module", "prepareOutputData",
    "query", "require", "setImmediate", "setInterval", "setTimeout",
})  # fmt: skip
"""The names that n8n's runner of JavaScript provides, and those of the sandbox of n8n 1."""

_OF_DATA: Final = frozenset({
    "$", "$agentInfo", "$average", "$binary", "$data", "$env", "$evaluateExpression",
    "$execution", "$executionId", "$fromAI", "$fromAi", "$fromai", "$getNodeParameter",
    "$getPairedItem", "$getWorkflowStaticData", "$if", "$ifEmpty", "$input", "$item",
    "$itemIndex", "$items", "$jmesPath", "$jmespath", "$json", "$max", "$min", "$mode", "$node",
    "$nodeId", "$nodeVersion", "$not", "$now", "$pageCount", "$parameter", "$position",
    "$prevNode", "$project", "$rawParameter", "$request", "$response", "$resumeFormUrl",
    "$resumeWebhookUrl", "$runIndex", "$secrets", "$self", "$snippets", "$thisItem",
    "$thisItemIndex", "$thisRunIndex", "$today", "$tool", "$vars", "$webhookId", "$workflow",
})  # fmt: skip
"""The names of n8n's data proxy."""

_ELSEWHERE: Final = frozenset({
    "AbortController", "AbortSignal", "Blob", "CustomEvent", "DOMParser", "Event",
    "EventTarget", "File", "Headers", "MessageChannel", "ReadableStream", "Request", "Response",
    "URL", "URLSearchParams", "WebSocket", "WritableStream", "XMLHttpRequest", "__dirname",
    "__filename", "alert", "crypto", "document", "fetch", "localStorage", "location",
    "navigator", "performance", "queueMicrotask", "self", "sessionStorage",
    "structuredClone", "window",
})  # fmt: skip
"""Names of Node.js and of browsers, which the Code node does not have unless the server runs its
task runners in the insecure mode."""


def check_code_names(report: Report, node: Node, names: ScriptNames, *, whole: bool) -> None:
    """The first name that neither the code declares nor n8n provides; `whole` is the mode with all
    items at once, which has `items`, where the other one has `item`."""
    given = {"items" if whole else "item", "process"}  # N8N114 reports `process.env`
    provided = _OF_LANGUAGE | _OF_RUNNER | _OF_DATA | given
    for unknown in names.unknown:
        elsewhere = unknown.name in _ELSEWHERE
        if unknown.name in provided or (elsewhere and unknown.guarded):
            continue
        if elsewhere:
            what = "which n8n's Code node does not have by default"
            calls = unknown.name in ("fetch", "XMLHttpRequest", "WebSocket")
            instead = "an HTTP Request node" if calls else "a name that the Code node provides"
            help = f"use {instead}"
        else:
            what = "which the code does not declare and n8n does not provide"
            good = names.declared_names | _OF_RUNNER | _OF_DATA | given
            near = get_close_matches(unknown.name, sorted(good), n=1)
            help = f"did you mean `{near[0]}`?" if near else "declare it, or correct its name"
        report_name(
            report, node, f"`{unknown.name}` (line {unknown.line})", what, help, "jsCode",
            always=unknown.always and not unknown.guarded and not elsewhere,
        )  # fmt: skip
        return


def report_name(
    report: Report, node: Node, used: str, what: str, help: str, parameter: str, *, always: bool
) -> None:
    """Report an unknown name: `used` is its line and the name, `what` why it is unknown."""
    goes_on = node.on_error.startswith("continue") or node.raw.get("continueOnFail") is True
    report.add(
        UnknownCodeName,
        node,
        f"the code of `{node.name}` uses {used}, {what}: the node fails "
        + ("in every run" if always else "where it does so"),
        help,
        "parameters",
        parameter,
        severity=None if always and not goes_on else Severity.WARNING,
    )
