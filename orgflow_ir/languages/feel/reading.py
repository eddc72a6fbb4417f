"""FEEL in conditions and mappings: the whole language, with undeclared variables.

A process does not declare its variables, so every name that the text does not define and that is
not a built-in function is a variable.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, TypeVar, cast

from orgflow_ir.languages.feel import evaluator
from orgflow_ir.languages.feel.boundary import to_json
from orgflow_ir.languages.feel.elaboration import (
    elaborate_expression,
    elaborate_typed,
    translate_operators,
)
from orgflow_ir.languages.feel.parser import parse_expression
from orgflow_ir.languages.feel.signatures import SIGNATURES
from orgflow_ir.languages.feel.syntax import (
    Between,
    Call,
    Comparison,
    ContextLiteral,
    FeelError,
    Filter,
    For,
    FunctionDefinition,
    If,
    In,
    InstanceOf,
    Literal,
    Logical,
    Name,
    Part,
    Path,
    Quantified,
    Tree,
    children,
    parts,
    with_children,
)
from orgflow_ir.languages.feel.values import INPUT, Unsupported, Value, imported
from orgflow_ir.program import syntax
from orgflow_ir.program.feel_operators import FEEL, PART, THREE_VALUED
from orgflow_ir.program.readings import FEEL_PATH
from orgflow_ir.program.syntax import ConditionError, Feel, KnownType, Span
from orgflow_ir.program.values import NoAnswer

_P = TypeVar("_P", bound=Part)

DEFINED, OR_ELSE, EMPTY = "is defined", "get or else", "is empty"
EXTENSIONS = (DEFINED, OR_ELSE, EMPTY)
"""Functions that Camunda 8 adds to those of DMN."""


def read_feel(text: str, start: int = 0, end: int | None = None) -> Feel:
    """The FEEL expression in `text[start:end]`, in FEEL's own operations.

    Raises `ConditionError` if it does not match the grammar, or calls an undefined function.
    """
    end = len(text) if end is None else end
    return as_expression(_parse_code(text[start:end]), Span(start, end))


def read_condition(text: str, start: int = 0, end: int | None = None) -> syntax.Tree:
    """The FEEL condition in `text[start:end]`, in shared operations if these have the same value
    (`elaborate_expression`). Errors are those of `read_feel`."""
    end = len(text) if end is None else end
    tree = _parse_code(text[start:end])
    shared = elaborate_expression(tree, start)
    return as_expression(tree, Span(start, end)) if shared is None else shared


def read_value(text: str, start: int, end: int) -> syntax.Tree:
    """The value of the FEEL expression in `text[start:end]`, in which a comparison may be null.
    Errors are those of `read_feel`."""
    tree = _parse_code(text[start:end])
    shared = elaborate_expression(tree, start)
    truth = isinstance(shared, syntax.Comparison | syntax.Logical | syntax.Not)
    if shared is None or (truth and any(map(_is_null_by_type, syntax.nodes(shared)))):
        return as_expression(tree, Span(start, end))
    if isinstance(shared, syntax.Variable) and len(shared.path) > 1:
        return syntax.Variable(shared.path, shared.span, FEEL_PATH)
    return THREE_VALUED(shared, span=shared.span) if truth else shared


def read_comparison(text: str, start: int = 0, end: int | None = None) -> syntax.Tree:
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


def _is_null_by_type(node: syntax.Tree) -> bool:
    """Whether a comparison is null rather than false for values that JavaScript does not
    distinguish."""
    computed = isinstance(node, syntax.Comparison) and any(
        isinstance(side, syntax.Arithmetic) for side in (node.left, node.right)
    )
    return computed or (isinstance(node, syntax.Call) and node.operation is PART)


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
    bare = _TEXT.sub(lambda found: '"' + " " * (len(found[0]) - 2) + '"', code)
    for run in _WORDS.finditer(bare):
        at = run.start()
        for group in _KEYWORD.split(run[0]):
            start = bare.index(group, at) if group else at
            at = start + len(group)
            called = bare[at:].lstrip().startswith("(")
            if len(group.split()) > 1 and not called:
                before = bare[:start].rstrip()
                found = members if before.endswith(".") else names
                found[" ".join(group.split())] = None
    return tuple(names), tuple(members)


_TEXT = re.compile(r'"(?:\\.|[^"\\])*"')
_WORDS = re.compile(r"[^\W\d]\w*(?:[ \t]+\w+)+")
_KEYWORD = re.compile(
    r"\b(?:and|or|if|then|else|for|in|return|some|every|satisfies|between|instance|of|not|true|false"
    r"|null|function|external|is|defined|get)\b"
)


class FeelExpression(Feel):
    """An expression of FEEL with its own evaluator."""

    def compute(self, values: Mapping[syntax.Path, Any]) -> Any:
        """As in the base class."""
        try:
            return value_of(self, values)
        except Unsupported:
            raise NoAnswer from None

    def list_literals(self) -> Iterator[bool | int | float | str]:
        """As in the base class."""
        return literals(self.tree)

    def find_shared(self, types: Callable[[syntax.Path], KnownType | None]) -> syntax.Tree | None:
        """As in the base class."""
        return elaborate_typed(self.tree, types)


def as_expression(tree: Tree, span: Span = syntax.NOWHERE) -> Feel:
    """A part of a FEEL text as a separate expression.

    Raises `ConditionError` if it calls an undefined function, or has an operator that is not one of
    FEEL.
    """
    for part in parts(tree):
        if isinstance(part, Comparison) and part.operator in ("==", "===", "!=="):
            raise ConditionError("`==` is not a FEEL operator; use `=`")
    tree = _rewritten(tree)
    free = list(_free(tree, frozenset()))
    for part in parts(tree):
        if isinstance(part, FunctionDefinition) and part.external:
            raise ConditionError("Java functions are not supported")
    called = [
        p.function.name for p in parts(tree) if isinstance(p, Call) and isinstance(p.function, Name)
    ]
    for path in free:
        if path[0] in called:
            raise ConditionError(f"the function `{path[0]}` is not supported")
    paths = tuple(dict.fromkeys(free))
    return FeelExpression(tree, paths, frozenset(_tested(tree)), span)


def as_condition(tree: syntax.Tree) -> syntax.Tree:
    """A condition: whether an expression is true."""
    if isinstance(tree, Feel):
        logical = is_logical(tree.tree)
    else:
        logical = isinstance(
            tree, syntax.Comparison | syntax.Logical | syntax.Not | syntax.Constant
        )
    if logical:
        return tree
    return FEEL.comparison["=="](tree, syntax.Constant(True), span=tree.span)


def value_of(feel: Feel, values: Mapping[syntax.Path, Any]) -> Any:
    """The value as JSON, given the values of paths.

    Raises `Unsupported`.
    """
    given: dict[str, Value] = {}
    for name in dict.fromkeys(path[0] for path in feel.paths):
        given[name] = imported(_gathered(name, values))
    return to_json(evaluator.evaluate(feel.tree, given))


def is_logical(tree: Tree) -> bool:
    """Whether the value of an expression is always true, false or null."""
    match tree:
        case Comparison() | Logical() | Between() | In() | InstanceOf() | Quantified():
            return True
        case Literal(value):
            return value is None or isinstance(value, bool)
        case If(_, then, otherwise):
            return is_logical(then) and is_logical(otherwise)
        case Call(Name("not"), _, _):
            return True
    return False


def literals(tree: Tree) -> Iterator[bool | int | float | str]:
    """Constants in an expression except null, as JSON."""
    for part in parts(tree):
        if isinstance(part, Literal) and part.value is not None:
            value = to_json(part.value)
            assert isinstance(value, bool | int | float | str)
            yield value


def members(tree: Tree) -> tuple[str, ...]:
    """Names that the expression looks up in contexts, in paths and filters."""
    found = [p.name for p in parts(tree) if isinstance(p, Path)]
    return tuple(dict.fromkeys(found))


def free_names(tree: Tree) -> tuple[str, ...]:
    """Variables that an expression reads, each once, in order; for a path, its first name."""
    return tuple(dict.fromkeys(path[0] for path in _free(tree, frozenset())))


def tested_names(tree: Tree) -> frozenset[str]:
    """Variables that may be missing, since the expression tests for them."""
    return frozenset(_tested(tree))


def _gathered(name: str, values: Mapping[syntax.Path, Any]) -> Any:
    """The value of a variable: its own, with those of what is reached from it in it."""
    if (name,) in values:
        return values[name,]
    found: dict[str, Any] = {}
    for path, value in values.items():
        if path[0] == name and len(path) > 1:
            inner = found
            for part in path[1:-1]:
                inner = inner.setdefault(part, {})
            inner[path[-1]] = value
    return found or None


def without_extensions(tree: _P) -> _P:
    """The same expression or tests without the functions that only Camunda has."""
    called = (p.function for p in parts(tree) if isinstance(p, Call))
    if not any(isinstance(one, Name) and one.name in EXTENSIONS for one in called):
        return tree
    return cast("_P", _rewritten(tree))  # type: ignore[arg-type]  # tests as well


def _rewritten(tree: Tree) -> Tree:
    """The same expression without the functions that only Camunda 8 has."""
    tree = with_children(tree, _rewritten)  # type: ignore[arg-type]  # tests as well
    if not isinstance(tree, Call) or not isinstance(tree.function, Name) or tree.names is not None:
        return tree
    match tree.function.name, tree.arguments:
        case "is defined", (value,):
            return Comparison("!=", value, Literal(None), tree.span)
        case "get or else", (value, other):
            return If(Comparison("!=", value, Literal(None)), value, other, tree.span)
        case "is empty", (value,):
            return Comparison(
                "=", Call(Name("count"), (value,), None), Literal(Decimal(0)), tree.span
            )
    return tree


def _free(part: Part, bound: frozenset[str]) -> Iterator[syntax.Path]:
    """What an expression reads that it does not define itself, as far as names follow each other;
    in filters that may be an entry of the element or a variable."""
    match part:
        case Name(name):
            if name not in bound and name != INPUT:
                yield (name,)
        case Path(base, name):
            found = list(_free(base, bound))
            if len(found) == 1 and _is_path(base):
                yield (*found[0], name)
            else:
                yield from found
        case Call(function, arguments, _):
            if not (isinstance(function, Name) and function.name in SIGNATURES):
                yield from _free(function, bound)
            for argument in arguments:
                yield from _free(argument, bound)
        case Filter(base, condition):
            yield from _free(base, bound)
            yield from _free(condition, bound | {"item"})
        case For(iterators, body) | Quantified(_, iterators, body):
            for one in iterators:
                yield from _free(one.domain, bound)
                if one.end is not None:
                    yield from _free(one.end, bound)
                bound |= {one.name}
            yield from _free(body, bound | {"partial"} if isinstance(part, For) else bound)
        case FunctionDefinition(parameters, body, _):
            yield from _free(body, bound | {p.name for p in parameters})
        case ContextLiteral(entries):
            for entry in entries:
                yield from _free(entry.value, bound)
                bound |= {entry.key}
        case _:
            for child in children(part):
                yield from _free(child, bound)


def _is_path(tree: Tree) -> bool:
    while isinstance(tree, Path):
        tree = tree.base
    return isinstance(tree, Name)


def _tested(tree: Tree) -> Iterator[str]:
    """Variables that may be missing: the expression asks itself, or looks in an element first."""
    for part in parts(tree):
        match part:
            case Comparison("=" | "!=", left, right) if Literal(None) in (left, right):
                yield from (path[0] for path in _free(part, frozenset()))
            case In(value, tests) if any(t.operand == Literal(None) for t in tests.tests):
                yield from (path[0] for path in _free(value, frozenset()))
            case Filter(_, condition):
                yield from (path[0] for path in _free(condition, frozenset()))
