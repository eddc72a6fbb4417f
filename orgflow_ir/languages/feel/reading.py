"""FEEL in conditions and mappings: the whole language, with undeclared variables.

A process does not declare its variables, so every name that the text does not define and that is
not a built-in function is a variable.
"""

from __future__ import annotations

import contextlib
import re
from decimal import Decimal
from typing import TypeVar, cast

from orgflow_ir.languages.feel.parser import FeelError, parse_expression
from orgflow_ir.program.exact_names import find_tested_names, is_logical, list_free_paths
from orgflow_ir.program.feel_elaboration import elaborate_expression, translate_operators
from orgflow_ir.program.feel_operators import FEEL, PART, THREE_VALUED, is_feel_comparison
from orgflow_ir.program.readings import FEEL_PATH
from orgflow_ir.program.structures import (
    FunctionCall,
    FunctionDefinition,
    UnaryTest,
    parts,
    with_children,
)
from orgflow_ir.program.syntax import (
    NOWHERE,
    Arithmetic,
    Call,
    Comparison,
    ConditionError,
    Constant,
    Empty,
    Exact,
    Logical,
    Node,
    Not,
    Span,
    Tree,
    Variable,
    is_operation,
    nodes,
)

_N = TypeVar("_N", bound=Node)

DEFINED, OR_ELSE, EMPTY = "is defined", "get or else", "is empty"
EXTENSIONS = (DEFINED, OR_ELSE, EMPTY)
"""Functions that Camunda 8 adds to those of DMN."""


def read_feel(text: str, start: int = 0, end: int | None = None) -> Exact:
    """The FEEL expression in `text[start:end]`, in FEEL's own operations.

    Raises `ConditionError` if it does not match the grammar, or calls an undefined function.
    """
    end = len(text) if end is None else end
    return as_expression(_parse_code(text[start:end]), Span(start, end))


def read_condition(text: str, start: int = 0, end: int | None = None) -> Tree:
    """The FEEL condition in `text[start:end]`, in shared operations if these have the same value
    (`elaborate_expression`). Errors are those of `read_feel`."""
    end = len(text) if end is None else end
    tree = _parse_code(text[start:end])
    shared = elaborate_expression(tree, start)
    return as_expression(tree, Span(start, end)) if shared is None else shared


def read_value(text: str, start: int, end: int) -> Tree:
    """The value of the FEEL expression in `text[start:end]`, in which a comparison may be null.
    Errors are those of `read_feel`."""
    tree = _parse_code(text[start:end])
    shared = elaborate_expression(tree, start)
    truth = isinstance(shared, Comparison | Logical | Not)
    if shared is None or (truth and any(map(_is_null_by_type, nodes(shared)))):
        return as_expression(tree, Span(start, end))
    if isinstance(shared, Variable) and len(shared.path) > 1:
        return Variable(shared.path, shared.span, FEEL_PATH)
    return THREE_VALUED(shared, span=shared.span) if truth else shared


def read_comparison(text: str, start: int = 0, end: int | None = None) -> Tree:
    """A text that may be prose, with the operators of FEEL between variables and constants. Raises
    `ConditionError` for every other construct."""
    end = len(text) if end is None else end
    try:
        tree = parse_expression(text[start:end], lenient=True)
    except FeelError as error:
        raise ConditionError(
            str(error).replace("not expected here", "not supported here")
        ) from None
    return translate_operators(tree, start)


def _is_null_by_type(node: Tree) -> bool:
    """Whether a comparison is null rather than false for values that JavaScript does not
    distinguish."""
    computed = isinstance(node, Comparison) and any(
        isinstance(side, Arithmetic) for side in (node.left, node.right)
    )
    return computed or (isinstance(node, Call) and node.operation is PART)


def _parse_code(code: str) -> Tree:
    """The tree of an expression over undeclared variables. Raises `ConditionError`."""
    try:
        return parse_expression(code, EXTENSIONS, lenient=True)
    except FeelError as error:
        names, members = long_names(code)
        if names or members:
            with contextlib.suppress(FeelError):
                return parse_expression(code, [*EXTENSIONS, *names], members)
        raise ConditionError(str(error)) from None


def long_names(code: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of several words in an expression: variables, and entries after a dot.

    Two adjacent words that are not keywords never occur in FEEL (DMN 1.5, 10.3.1.2, rule 27 and the
    keywords of the grammar): they form one name, unless an opening bracket
    follows, which makes it a call.
    """
    names: dict[str, None] = {}
    members: dict[str, None] = {}
    bare = _TEXT.sub(lambda match: '"' + " " * (len(match[0]) - 2) + '"', code)
    for run in _WORDS.finditer(bare):
        at = run.start()
        for group in _KEYWORD.split(run[0]):
            start = bare.index(group, at) if group else at
            at = start + len(group)
            called = bare[at:].lstrip().startswith("(")
            if len(group.split()) > 1 and not called:
                before = bare[:start].rstrip()
                kind = members if before.endswith(".") else names
                kind[" ".join(group.split())] = None
    return tuple(names), tuple(members)


_TEXT = re.compile(r'"(?:\\.|[^"\\])*"')
_WORDS = re.compile(r"[^\W\d]\w*(?:[ \t]+\w+)+")
_KEYWORD = re.compile(
    r"\b(?:and|or|if|then|else|for|in|return|some|every|satisfies|between|instance|of|not|true|false"
    r"|null|function|external|is|defined|get)\b"
)


def as_expression(tree: Tree, span: Span = NOWHERE) -> Exact:
    """A part of a FEEL text as a separate expression.

    Raises `ConditionError` if it calls an undefined function, or has an operator that is not one of
    FEEL.
    """
    for part in parts(tree):
        operator = part.operator if isinstance(part, UnaryTest) else None
        foreign = operator is not None and operator not in FEEL.comparison.values()
        if is_operation(part, FEEL.arithmetic["%"]):
            raise ConditionError("`%` is not a FEEL operator; use `modulo`")
        if isinstance(part, Empty):
            raise ConditionError("`empty` is not a FEEL operator; use `count`")
        if foreign or (isinstance(part, Comparison) and not is_feel_comparison(part)):
            raise ConditionError("`==` is not a FEEL operator; use `=`")
    tree = without_extensions(tree)
    paths = list_free_paths(tree)
    for part in parts(tree):
        if isinstance(part, FunctionDefinition) and part.external:
            raise ConditionError("Java functions are not supported")
    called = [
        p.function.name
        for p in parts(tree)
        if isinstance(p, FunctionCall) and isinstance(p.function, Variable)
    ]
    for path in paths:
        if path[0] in called:
            raise ConditionError(f"the function `{path[0]}` is not supported")
    return Exact(tree, paths, find_tested_names(tree), span)


def as_condition(tree: Tree) -> Tree:
    """A condition: whether an expression is true."""
    if isinstance(tree, Exact):
        logical = is_logical(tree.body)
    else:
        logical = isinstance(tree, Comparison | Logical | Not | Constant)
    if logical:
        return tree
    return FEEL.comparison["=="](tree, Constant(True), span=tree.span)


def without_extensions(tree: _N) -> _N:
    """The same expression or tests without the functions that only Camunda has."""
    called = (p.function for p in parts(tree) if isinstance(p, FunctionCall))  # type: ignore[arg-type]  # every node is a part
    if not any(
        function.name in EXTENSIONS for function in called if isinstance(function, Variable)
    ):
        return tree
    return cast("_N", _rewrite_extensions(tree))


def _rewrite_extensions(tree: Node) -> Node:
    """The same expression without the functions that only Camunda 8 has."""
    tree = with_children(tree, _rewrite_extensions)
    match tree:
        case FunctionCall(Variable(("is defined",)), (value,), None):
            return FEEL.comparison["!="](value, Constant(None), span=tree.span)
        case FunctionCall(Variable(("get or else",)), (value, other), None):
            given = FEEL.comparison["!="](value, Constant(None))
            return FEEL.choice(given, value, other, span=tree.span)
        case FunctionCall(Variable(("is empty",)), (value,), None):
            count = FunctionCall(Variable(("count",)), (value,), None)
            return FEEL.comparison["=="](count, Constant(Decimal(0)), span=tree.span)
    return tree
