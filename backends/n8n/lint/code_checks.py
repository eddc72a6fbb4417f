"""Code that cannot work, values of other versions, and secrets.

What n8n checks before it runs code is in `Code.node.js` and `JsCodeValidator.js` of n8n-nodes-base;
the rest shows when the code runs.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Final

from orgflow.backends.javascript.script_names import read_script_names
from orgflow.backends.javascript.source_programs import (
    SyntaxFault,
    find_syntax_fault,
    returns_value,
)
from orgflow.backends.n8n.format.json_values import texts
from orgflow.backends.n8n.format.workflow_document import Node
from orgflow.backends.n8n.lint.code_results import check_code_names, check_code_result
from orgflow.backends.n8n.lint.code_rules import (
    BlockedAccess,
    CodeMode,
    CodeWithoutResult,
    OtherVersionValue,
    SecretInFile,
    UnreadableCode,
)
from orgflow.backends.n8n.lint.expressions import javascript_parameters, read_texts
from orgflow.backends.n8n.lint.lint_report import Report
from orgflow.backends.n8n.lint.python_code import check_python_code, parse_python
from orgflow.backends.n8n.node_types import catalogue

_OF_ALL_ITEMS: Final = re.compile(r"\$input\.(first|last|all|itemMatching)")
"""What n8n refuses in code that runs once for each item, wherever it stands in the text."""

_COMMENT: Final = re.compile(r"//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)")
_ENVIRONMENT: Final = re.compile(r"(?<![\w$.])\$env\b|(?<![\w$.])process\s*\.\s*env\b")
_MODULE: Final = re.compile(r"(?<![\w$.])(?:require|import)\s*\(\s*['\"]([^'\"]+)['\"]")

_SECRETS: Final = (
    ("a key of AWS", re.compile(r"\bAKIA[0-9A-Z]{16}\b")),
    ("a token of GitHub", re.compile(r"\bgh[pousr]_[A-Za-z0-9]{36}\b")),
    ("a token of Slack", re.compile(r"\bxox[abprs]-[A-Za-z0-9-]{20,}")),
    ("a key of Google", re.compile(r"\bAIza[0-9A-Za-z_-]{35}\b")),
    ("a key of OpenAI or Anthropic", re.compile(r"\bsk-[A-Za-z0-9_-]{32,}")),
    ("a key of Stripe", re.compile(r"\b[rs]k_live_[A-Za-z0-9]{20,}")),
    ("a private key", re.compile(r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----\s*[A-Za-z0-9+/]{20}")),
    ("a password", re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s/:@'\"{}$]+:[^\s/:@'\"{}$<>]+@")),
    ("a JSON web token", re.compile(r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{20,}")),
    ("a token", re.compile(r"\bBearer\s+[A-Za-z0-9._~+/-]{24,}=*")),
)
"""Texts that only a secret has, by what they are."""

_SAMPLE: Final = re.compile(r"(?i)your|example|xxx|placeholder|changeme|<|\.\.\.|123456")
"""Texts that templates have in the place of a secret."""


def check_code(report: Report, active: frozenset[int]) -> None:
    """Code, values and secrets of each node; code only where it can run."""
    for node in report.workflow.nodes:
        _check_secrets(report, node)
        if node.disabled or node.index not in active:
            continue
        if node.versioned:
            _check_values(report, node)
            _check_operation(report, node)
        for name in catalogue.script_parameters(node.short):
            script = node.parameters.get(name)
            if isinstance(script, str) and _is_used(node, name) and not script.startswith("="):
                _check_script(report, node, name, script)
        _check_access(report, node)


def _is_used(node: Node, name: str) -> bool:
    """Whether a Code node runs this one of its two parameters."""
    if node.short != "code":
        return True
    language = node.parameters.get("language", "javaScript") if node.version >= 2 else "javaScript"
    return (name == "jsCode") == (language == "javaScript")


def _check_script(report: Report, node: Node, name: str, code: str) -> None:
    python = name == "pythonCode"
    fault = _python_fault(code) if python else find_syntax_fault(code)
    if fault is not None:
        where = f"at `{fault.text.strip()}`" if fault.text.strip() else "where more has to follow"
        _report_unreadable(report, node, name, f"line {fault.line}, {where}")
        return
    names = None if python else read_script_names(code)
    if names is not None and names.fault is not None:
        fault, reason = names.fault
        _report_unreadable(report, node, name, f"line {fault.line}, {reason}")
        return
    if node.short != "code":
        return
    whole = node.parameters.get("mode", "runOnceForAllItems") == "runOnceForAllItems"
    if python:
        check_python_code(report, node, parse_python(code), whole=whole)
        return
    if not returns_value(code):
        report.add(
            CodeWithoutResult,
            node,
            f"the code of `{node.name}` returns nothing, so the node fails",
            "return a list of items: `return [{ json: { … } }];`"
            if whole
            else "return one item: `return { json: { … } };`",
            "parameters",
            name,
        )
        return
    if names is not None:
        check_code_names(report, node, names, whole=whole)
        check_code_result(report, node, names, whole=whole)
    if whole:
        return
    method = _OF_ALL_ITEMS.search(_COMMENT.sub("", code))
    if method is not None:
        report.add(
            CodeMode,
            node,
            f"`{node.name}` runs once for each item, where n8n does not permit "
            f"`$input.{method[1]}`: the node fails",
            "read `$input.item`, or set `mode` to `runOnceForAllItems`",
            "parameters",
            name,
        )


def _report_unreadable(report: Report, node: Node, name: str, where: str) -> None:
    language = "Python" if name == "pythonCode" else "JavaScript"
    report.add(
        UnreadableCode,
        node,
        f"the code of `{node.name}` is not valid {language}: {where}; the node fails in every run",
        "correct the code",
        "parameters",
        name,
    )


def _python_fault(code: str) -> SyntaxFault | None:
    """The first fault of a Python script; n8n runs it as the body of a function."""
    try:
        parse_python(code)
    except SyntaxError as error:
        line, text = (error.lineno or 2) - 1, (error.text or "").strip()
        return SyntaxFault(max(line, 1), error.offset or 1, text[:30])
    except (ValueError, RecursionError, MemoryError):
        return SyntaxFault(1, 1, "")
    return None


def _check_access(report: Report, node: Node) -> None:
    """Environment variables, and modules that code loads."""
    scripts = frozenset(javascript_parameters(node.short))
    for path, text in read_texts(node):
        code = str(path[0]) in scripts
        if not code and not text.startswith("="):
            continue
        bare = _COMMENT.sub("", text) if code else text
        environment = _ENVIRONMENT.search(bare)
        module = _MODULE.search(bare) if code else None
        if environment is not None:
            what = "environment variables, access to which n8n 2 denies by default"
            help = "use a credential or `$vars`, or set N8N_BLOCK_ENV_ACCESS_IN_NODE=false"
        elif module is not None:
            what = f"the module `{module[1]}`, which n8n does not permit by default"
            help = (
                "use a node instead, or name the module in NODE_FUNCTION_ALLOW_BUILTIN or "
                "NODE_FUNCTION_ALLOW_EXTERNAL"
            )
        else:
            continue
        report.add(
            BlockedAccess, node, f"`{node.name}` reads {what}: the node fails", help,
            "parameters", *path,
        )  # fmt: skip
        return


def _check_values(report: Report, node: Node) -> None:
    """Values that other versions of the node offer, but not its own."""
    for name, offered in (catalogue.offered_values(node.short) or {}).items():
        value = node.parameters.get(name)
        if not isinstance(value, str) or value.startswith("="):
            continue
        own = [v for v, versions in offered.items() if node.version in versions]
        if not own or value in own:
            continue
        others = offered.get(value, [])
        belongs = "no version of the node has"
        if others:
            belongs = f"only version {', '.join(f'{v:g}' for v in others)} has"
        report.add(
            OtherVersionValue,
            node,
            f"`{node.name}` has the `{name}` `{value}`, which "
            f"{belongs}: version {node.version:g} "
            "fails or does something else",
            f"write one of {', '.join(own)}"
            + (", or the version that the value belongs to" if others else ""),
            "parameters",
            name,
        )


def _check_operation(report: Report, node: Node) -> None:
    """The resource and the operation, which together choose what a node does."""
    known = catalogue.known_operations(node.short, node.version)
    if known is None or "operation" in (catalogue.offered_values(node.short) or {}):
        return
    resource, operation = (node.parameters.get(name) for name in ("resource", "operation"))
    fixed = isinstance(resource, str) and not resource.startswith("=")
    if fixed and known.resources and resource not in known.resources:
        name, value, offered = "resource", resource, known.resources
    else:
        name, value = "operation", operation
        offered = known.of_resource(resource if fixed and known.resources else None)
    if not isinstance(value, str) or value.startswith("=") or not offered or value in offered:
        return
    where = f" for the resource `{resource}`" if name == "operation" and fixed else ""
    near = get_close_matches(value, offered, n=1)
    report.add(
        OtherVersionValue,
        node,
        f"`{node.name}` has the `{name}` `{value}`, which version {node.version:g} of "
        f"`{node.short}` does not have{where}: the node fails or does something else",
        f"did you mean `{near[0]}`?" if near else f"write one of {', '.join(offered)}",
        "parameters",
        name,
    )


def _check_secrets(report: Report, node: Node) -> None:
    for path, text in texts(node.parameters):
        for what, pattern in _SECRETS:
            match = pattern.search(text)
            if match is None or _SAMPLE.search(match[0]) or _is_repeated(match[0]):
                continue
            report.add(
                SecretInFile,
                node,
                f"`{node.name}` contains {what} as text (`{match[0][:6]}…`)",
                "store it in a credential of n8n, and replace it where it was valid",
                "parameters",
                *path,
            )
            return


def _is_repeated(text: str) -> bool:
    """Whether a text is made of few characters, as in a template."""
    return len(set(text[-16:])) < 5
