"""Python of Code nodes: the values that it returns, and names that n8n does not provide."""

from __future__ import annotations

import ast
import builtins
import textwrap
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Final

from orgflow.backends.javascript.returned_shapes import UNKNOWN, Shape
from orgflow.backends.n8n.format.workflow_document import Node
from orgflow.backends.n8n.lint.code_results import report_name, report_results
from orgflow.backends.n8n.lint.code_rules import CodeWithoutResult
from orgflow.backends.n8n.lint.lint_report import Report

_TYPES: Final[Mapping[type, str]] = {
    str: "text", bytes: "text", complex: "text", int: "number", float: "number", bool: "boolean",
    type(None): "null",
}  # fmt: skip
"""The kinds of literals, as JSON has them."""

_CALLS: Final[Mapping[str, str]] = {
    "str": "text", "repr": "text", "json.dumps": "text", "len": "number", "int": "number",
    "float": "number", "sum": "number", "bool": "boolean", "isinstance": "boolean",
    "any": "boolean", "all": "boolean", "set": "text",
}  # fmt: skip
"""The kinds of the results of functions. A set becomes a text in JSON."""

_PROVIDED: Final = frozenset(dir(builtins)) | {"__name__", "query"}
_ITEMS: Final = frozenset({"item", "items"})
"""Names that n8n 1 provides, where the language is `python`, and n8n 2 does not."""

_INNER: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_SOMETIMES: Final = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.IfExp, ast.BoolOp, ast.Match,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
)  # fmt: skip
_MOST_NESTED: Final = 20


def parse_python(code: str) -> ast.AsyncFunctionDef:
    """A script as the body of a function, as n8n runs it. Raises `SyntaxError`, and what else
    `ast.parse` raises."""
    body = textwrap.indent(code, "    ", lambda line: True)
    function = ast.parse(f"async def run():\n{body}\n    pass").body[0]
    assert isinstance(function, ast.AsyncFunctionDef)
    return function


def check_python_code(
    report: Report, node: Node, function: ast.AsyncFunctionDef, *, whole: bool
) -> None:
    """The results and names of a script; `whole` is the mode with all items at once."""
    parts = list(_walk_own(function))
    returned = [part for part in parts if isinstance(part, ast.Return)]
    if not returned and not any(isinstance(part, ast.Raise | ast.Yield) for part in parts):
        report.add(
            CodeWithoutResult,
            node,
            f"the code of `{node.name}` returns nothing, so the node "
            + ("fails" if whole else "drops every item"),
            'return a list of items: `return [{"json": { … }}]`'
            if whole
            else 'return one item: `return {"json": { … }}`',
            "parameters",
            "pythonCode",
        )
        return
    constants = _list_constants(function)
    results = tuple((_read_shape(part.value, constants, 0),) for part in returned)
    report_results(report, node, results, "pythonCode", whole=whole)
    _check_names(report, node, function)


def _walk_own(function: ast.AST) -> Iterator[ast.AST]:
    """The parts of a function in the order of the text, without those of inner functions."""
    for part in ast.iter_child_nodes(function):
        yield part
        if not isinstance(part, _INNER):
            yield from _walk_own(part)


# -- results ---------------------------------------------------------------------------------------


def _list_constants(function: ast.AsyncFunctionDef) -> dict[str, ast.expr]:
    """The values of names that are assigned once and not used otherwise than by their name."""
    values: dict[str, list[ast.expr | None]] = {}
    for part in ast.walk(function):
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            values.setdefault(part.id, []).append(None)
        elif isinstance(part, ast.arg):
            values.setdefault(part.arg, []).append(None)
        elif isinstance(part, ast.Attribute | ast.Subscript) and isinstance(part.value, ast.Name):
            # `name.append(…)` and `name[0] = …` change the value.
            values.setdefault(part.value.id, []).append(None)
    plain = {
        target.id: part.value
        for part in ast.walk(function)
        if isinstance(part, ast.Assign) and len(part.targets) == 1
        for target in part.targets
        if isinstance(target, ast.Name)
    }
    return {name: value for name, value in plain.items() if len(values[name]) == 1}


def _read_shape(value: ast.expr | None, constants: Mapping[str, ast.expr], depth: int) -> Shape:
    """The shape of a value, as JSON has it."""

    def read(part: ast.expr) -> tuple[Shape, ...]:
        return (_read_shape(part, constants, depth + 1),)

    if depth > _MOST_NESTED:
        return UNKNOWN
    match value:
        case None:
            return Shape("null", False)
        case ast.Constant():
            return Shape(_TYPES.get(type(value.value), "unknown"), bool(value.value))
        case ast.JoinedStr():
            return Shape("text")
        case ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return Shape("boolean")
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return Shape("number", True)
        case ast.List() | ast.Tuple():
            entries = tuple(read(e) for e in value.elts if not isinstance(e, ast.Starred))
            return Shape("list", True, entries)
        case ast.ListComp():
            return Shape("list", True, (read(value.elt),))
        case ast.Set() | ast.SetComp() | ast.GeneratorExp() | ast.Lambda():
            return Shape("text", True)
        case ast.Dict():
            keys = [key.value if isinstance(key, ast.Constant) else None for key in value.keys]
            if not all(isinstance(key, str) for key in keys):
                return Shape("object", True)
            pairs = zip(keys, value.values, strict=True)
            return Shape("object", True, fields={str(key): read(part) for key, part in pairs})
        case ast.Call():
            return Shape(_CALLS.get(ast.unparse(value.func), "unknown"))
        case ast.Name() if value.id in constants:
            return _read_shape(constants[value.id], constants, depth + 1)
        case _:
            return UNKNOWN


# -- names -----------------------------------------------------------------------------------------


def _check_names(report: Report, node: Node, function: ast.AsyncFunctionDef) -> None:
    """The first name that neither the code declares nor n8n provides."""
    declared = _list_declared(function)
    if "*" in declared:
        return
    provided = declared | _PROVIDED
    if node.parameters.get("language") != "pythonNative":
        provided |= _ITEMS
    for part, always in _list_uses(function, always=True):
        if part.id in provided or part.id.startswith("_"):
            continue  # the names of n8n begin with `_`, and each release has other ones
        near = get_close_matches(part.id, sorted({*declared, "_items", "_item"}), n=1)
        line = part.lineno - function.lineno
        report_name(
            report, node, f"`{part.id}` (line {line})",
            "which the code does not declare and n8n does not provide",
            f"did you mean `{near[0]}`?" if near else "declare it, or correct its name",
            "pythonCode", always=always,
        )  # fmt: skip
        return


def _list_declared(function: ast.AsyncFunctionDef) -> set[str]:
    """All names that a script declares anywhere; `*` if it imports all names of a module."""
    names: set[str] = set()
    for part in ast.walk(function):
        match part:
            case ast.Name(ctx=ast.Store() | ast.Del()):
                names.add(part.id)
            case ast.arg():
                names.add(part.arg)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names.add(part.name)
            case ast.alias():
                names.add((part.asname or part.name).split(".")[0])
            case ast.ExceptHandler(name=str() as name) | ast.MatchAs(name=str() as name):
                names.add(name)
            case ast.MatchStar(name=str() as name) | ast.MatchMapping(rest=str() as name):
                names.add(name)
            case ast.Global() | ast.Nonlocal():
                names.update(part.names)
            case _:
                pass
    return names


def _list_uses(part: ast.AST, *, always: bool) -> Iterator[tuple[ast.Name, bool]]:
    """The uses of names, and whether every run evaluates them. What may not run, and what stands
    behind a `return` that may not run, is not sure."""
    for child in ast.iter_child_nodes(part):
        runs = always and not isinstance(child, (*_SOMETIMES, *_INNER))
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load):
            yield child, runs
        yield from _list_uses(child, always=runs)
        if isinstance(child, _SOMETIMES):
            always = always and not any(isinstance(c, ast.Return) for c in ast.walk(child))
