"""POWL as the Python code of people and language models. The code is parsed, and the calls that
build POWL are interpreted; nothing is executed, imported or looked up.

Supported are the calls of a model generator (`activity`, `silent_transition`, `xor`, `loop`,
`partial_order`, `sequence`, `skip`, `self_loop`, `copy`) and the objects of pm4py (`Transition`,
`SilentTransition`, `OperatorPOWL`, `StrictPartialOrder`, `order.add_edge`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from itertools import pairwise
from typing import Any

from orgflow.backends.powl.format import (
    Activity,
    Choice,
    Loop,
    PartialOrder,
    Powl,
    PowlError,
    Silent,
    check_size,
    list_activities,
    partial_order,
)

from orgflow_ir.model.records import dataclass
from orgflow_ir.model.source import SourceLocation

MAX_CHARACTERS = 500_000
MAX_STATEMENTS = 10_000

_RESULTS = ("final_model", "model", "root", "powl", "powl_model", "result", "po", "process")
"""Usual names of the whole model; otherwise it is the last assigned value."""


@dataclass(eq=False)
class _Order:
    """A pm4py order under construction: its edges are added by later statements."""

    nodes: list[Any]
    edges: list[tuple[Any, Any]] = field(default_factory=list)
    loc: SourceLocation | None = None


@dataclass(frozen=True)
class _Named:
    """A name that is no value of ours, such as a module, a class or an operator."""

    text: str


class CodeInterpreter:
    """Interprets one text. Raises `PowlError` with the place.

    Attributes:
        made: every created activity.
    """

    def __init__(self, file: str, text: str) -> None:
        self._file, self._text = file, text
        self._names: dict[str, Any] = {}
        self._last: str | None = None
        self.made: list[Activity] = []

    def read(self) -> Powl:
        """The model that results from the code."""
        if len(self._text) > MAX_CHARACTERS:
            raise PowlError(f"the code has more than {MAX_CHARACTERS:,} characters")
        try:
            tree = ast.parse(self._text)
        except SyntaxError as error:
            loc = SourceLocation(file=self._file, line=error.lineno, column=error.offset)
            reason = " ".join(error.msg.split())[:80].rstrip(". ")
            raise PowlError(f"the code is not valid Python: {reason}", loc) from None
        except (ValueError, RecursionError, MemoryError):
            raise PowlError("the code is not valid Python") from None
        if sum(1 for _ in ast.walk(tree)) > MAX_STATEMENTS * 20:
            raise PowlError("the code is too long")
        try:
            for statement in tree.body:
                self._run_statement(statement)
            return self._find_result()
        except RecursionError:
            raise PowlError("the code is nested too deeplyly") from None

    def unused(self, powl: Powl) -> list[Activity]:
        """Activities that were created but are not part of the model, nor is an activity with their
        label."""
        labels = {activity.label for activity in list_activities(powl)}
        return [activity for activity in self.made if activity.label not in labels]

    def _node_location(self, node: ast.AST) -> SourceLocation:
        line, column = getattr(node, "lineno", None), getattr(node, "col_offset", -1)
        return SourceLocation(file=self._file, line=line, column=column + 1 or None)

    def _build_error(self, node: ast.AST, message: str) -> PowlError:
        return PowlError(message, self._node_location(node))

    # -- statements ---------------------------------------------------------------------------

    def _run_statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Pass():
                return  # what the code would import is known here, or not understood below
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._assign_name(name, self._read_value(value))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                self._assign_name(name, self._read_value(value))
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(
                targets
            ) == len(values) and all(isinstance(t, ast.Name) for t in targets):
                results = [self._read_value(value) for value in values]
                for target, result in zip(targets, results, strict=True):
                    assert isinstance(target, ast.Name)
                    self._assign_name(target.id, result)
            case ast.Expr(value=ast.Constant()):
                return  # a docstring
            case ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
                return  # prints nothing: its arguments are not looked at
            case ast.Expr(value=value):
                self._read_value(value)
            case _:
                raise self._build_error(
                    node, f"`{type(node).__name__}` statements are not supported in POWL code"
                )

    def _assign_name(self, name: str, value: Any) -> None:
        self._names[name] = value
        if isinstance(value, Powl | _Order):
            self._last = name

    def _find_result(self) -> Powl:
        for name in (*_RESULTS, self._last or ""):
            candidate = self._names.get(name)
            if isinstance(candidate, Powl | _Order):
                finished = self._finish_value(candidate, {})
                check_size(finished)
                return finished
        raise PowlError("the code builds no model")

    def _finish_value(self, value: Any, seen: dict[int, Powl]) -> Powl:
        """The value with orders under construction made whole, at every level."""
        if id(value) in seen:
            return seen[id(value)]
        finished: Powl
        match value:
            case _Order():
                seen[id(value)] = Silent()  # an order within itself is found as a cycle below
                nodes = [self._finish_value(node, seen) for node in value.nodes]
                finished = partial_order(nodes, self._order_edges(value), value.loc)
            case Choice():
                finished = replace(
                    value, children=tuple(self._finish_value(c, seen) for c in value.children)
                )
            case Loop():
                do, redo = self._finish_value(value.do, seen), self._finish_value(value.redo, seen)
                finished = replace(value, do=do, redo=redo)
            case PartialOrder():
                finished = replace(
                    value, nodes=tuple(self._finish_value(n, seen) for n in value.nodes)
                )
            case _:
                finished = value
        seen[id(value)] = finished
        return finished

    def _order_edges(self, order: _Order) -> list[tuple[int, int]]:
        at = {id(node): number for number, node in enumerate(order.nodes)}
        edges = []
        for before, after in order.edges:
            if id(before) not in at or id(after) not in at:
                raise PowlError(
                    "an order has an edge from or to something that is not one of its nodes",
                    order.loc,
                )
            edges.append((at[id(before)], at[id(after)]))
        return edges

    # -- values -------------------------------------------------------------------------------

    def _read_value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=str() | None | int() | float()):
                return node.value
            case ast.Name(id=name):
                return self._names.get(name, _Named(name))
            case ast.List(elts=elts) | ast.Tuple(elts=elts) | ast.Set(elts=elts):
                return [self._read_value(item) for item in elts]
            case ast.Attribute(attr=attribute):
                return _Named(attribute)
            case ast.Call():
                return self._read_call(node)
            case _:
                raise self._build_error(
                    node, f"`{type(node).__name__}` is not supported in POWL code"
                )

    def _read_call(self, node: ast.Call) -> Any:
        match node.func:
            case ast.Name(id=name):
                owner = None
            case ast.Attribute(attr=name, value=ast.Attribute(attr="order", value=inner)):
                owner = self._read_value(inner)
                if name != "add_edge" or not isinstance(owner, _Order) or len(node.args) != 2:
                    raise self._build_error(node, f"`order.{name}` is not supported in POWL code")
                before, after = (self._read_value(a) for a in node.args)
                owner.edges.append((before, after))
                return None
            case ast.Attribute(attr=name, value=inner):
                owner = self._read_value(inner)
            case _:
                raise self._build_error(node, "this call is not supported in POWL code")
        if name in ("ModelGenerator", "Generator", "PowlGenerator"):
            return _Named("generator")
        if name == "copy" and isinstance(owner, Powl):
            return replace(owner)
        call = _CALLS.get(name)
        if call is None:
            raise self._build_error(node, f"the call of `{name}` is not supported in POWL code")
        positional: list[Any] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                several = self._read_value(argument.value)
                if not isinstance(several, list):
                    raise self._build_error(argument, "`*` is used with a value that is not a list")
                positional += several
            else:
                positional.append(self._read_value(argument))
        named = {k.arg: self._read_value(k.value) for k in node.keywords if k.arg is not None}
        result = call(self, positional, named, self._node_location(node))
        if isinstance(result, Activity):
            self.made.append(result)
        return result


Arguments = Mapping[str, Any]


def _read_part(value: Any, loc: SourceLocation) -> Any:
    """A part of a model: `None` is a silent step, a text an activity."""
    if value is None:
        return Silent()
    if isinstance(value, str):
        return Activity(" ".join(value.split()), loc=loc)
    if isinstance(value, Powl | _Order):
        return value
    raise PowlError(f"{_show_value(value)} is not part of a POWL model", loc)


def _show_value(value: Any) -> str:
    return f"`{value.text}`" if isinstance(value, _Named) else f"a `{type(value).__name__}`"


def _take_arguments(given: list[Any], named: Arguments, *names: str) -> list[Any]:
    """The arguments by position or by name; missing ones are `None`."""
    return [
        given[n]
        if n < len(given)
        else next((named[a] for a in name.split("|") if a in named), None)
        for n, name in enumerate(names)
    ]


def _build_activity(
    reader: CodeInterpreter, given: list[Any], named: Arguments, loc: SourceLocation
) -> Powl:
    label, pool, lane = _take_arguments(
        given, named, "label|name|activity", "pool", "lane|role|actor"
    )
    if label is None:
        return Silent()
    if not isinstance(label, str) or not label.strip():
        raise PowlError("an activity has no label", loc)
    texts = [" ".join(t.split()) if isinstance(t, str) else "" for t in (label, lane, pool)]
    return Activity(texts[0], texts[1], texts[2], loc)


def _build_silent(
    reader: CodeInterpreter, given: list[Any], named: Arguments, loc: SourceLocation
) -> Powl:
    return Silent()


def _build_xor(
    reader: CodeInterpreter, given: list[Any], named: Arguments, loc: SourceLocation
) -> Powl:
    parts = given[0] if len(given) == 1 and isinstance(given[0], list) else given
    parts = parts or named.get("children") or []
    if not isinstance(parts, list) or not parts:
        raise PowlError("a choice has no children", loc)
    return Choice(tuple(_read_part(p, loc) for p in parts))


def _build_loop(
    reader: CodeInterpreter, given: list[Any], named: Arguments, loc: SourceLocation
) -> Powl:
    do, redo = _take_arguments(given, named, "do", "redo")
    return Loop(_read_part(do, loc), _read_part(redo, loc))


def _self_loop(
    reader: CodeInterpreter, given: list[Any], named: Arguments, loc: SourceLocation
) -> Powl:
    return Loop(_read_part(_take_arguments(given, named, "x|do")[0], loc), Silent())


def _build_skip(
    reader: CodeInterpreter, given: list[Any], named: Arguments, loc: SourceLocation
) -> Powl:
    return Choice((_read_part(_take_arguments(given, named, "x")[0], loc), Silent()))


def _build_sequence(
    reader: CodeInterpreter, given: list[Any], named: Arguments, loc: SourceLocation
) -> _Order:
    parts = [
        _read_part(p, loc) for p in (given[0] if given and isinstance(given[0], list) else given)
    ]
    return _Order(parts, list(pairwise(parts)), loc)


def _build_dependencies(
    reader: CodeInterpreter, given: list[Any], named: Arguments, loc: SourceLocation
) -> _Order:
    """`partial_order(dependencies=[(a, b, c), (d,)])`: chains; the rest is left out."""
    chains, nodes = _take_arguments(given, named, "dependencies|order", "nodes")
    if not isinstance(chains, list):
        raise PowlError("a partial order has no list of dependencies", loc)
    order = _Order([_read_part(node, loc) for node in nodes or ()], loc=loc)
    known = {id(node) for node in order.nodes}
    for chain in chains:
        row = [_read_part(step, loc) for step in (chain if isinstance(chain, list) else [chain])]
        for step in row:
            if id(step) not in known:
                known.add(id(step))
                order.nodes.append(step)
        order.edges += list(pairwise(row))
    return order


def _strict_order(
    reader: CodeInterpreter, given: list[Any], named: Arguments, loc: SourceLocation
) -> _Order:
    nodes = _take_arguments(given, named, "nodes")[0]
    if not isinstance(nodes, list):
        raise PowlError("a partial order has no list of nodes", loc)
    return _Order([_read_part(node, loc) for node in nodes], loc=loc)


def _build_operator(
    reader: CodeInterpreter, given: list[Any], named: Arguments, loc: SourceLocation
) -> Powl:
    operator, parts = _take_arguments(given, named, "operator", "children")
    if not isinstance(operator, _Named) or not isinstance(parts, list):
        raise PowlError("an operator has no name or no children", loc)
    if operator.text == "XOR":
        return _build_xor(reader, parts, {}, loc)
    if operator.text == "LOOP" and len(parts) == 2:
        return Loop(_read_part(parts[0], loc), _read_part(parts[1], loc))
    raise PowlError(f"`{operator.text}` with {len(parts)} children is not a POWL operator", loc)


_CALLS: Mapping[str, Callable[[CodeInterpreter, list[Any], Arguments, SourceLocation], Any]] = {
    "activity": _build_activity, "Transition": _build_activity, "Activity": _build_activity,
    "silent_transition": _build_silent, "silent": _build_silent, "SilentTransition": _build_silent,
    "tau": _build_silent,
    "xor": _build_xor, "choice": _build_xor, "exclusive_choice": _build_xor,
    "loop": _build_loop, "do_redo": _build_loop, "self_loop": _self_loop, "skip": _build_skip,
    "sequence": _build_sequence, "partial_order": _build_dependencies,
    "StrictPartialOrder": _strict_order,
    "OperatorPOWL": _build_operator,
}  # fmt: skip
