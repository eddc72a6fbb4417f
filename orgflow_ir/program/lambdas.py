"""Functions of lists that apply an expression to each entry: `map`, `filter`, `reduce` and others.

The expression is a part of the operation. It reads its own parameters, and further operands of the
call under the names that they have in the text, so that a call is renamed, checked and evaluated as
any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program.function_rows import require_result
from orgflow_ir.program.syntax import (
    Call,
    FunctionRow,
    KnownType,
    Operation,
    Path,
    Span,
    Tree,
    Variable,
    keep_operation,
    variables,
)
from orgflow_ir.program.values import UNDEFINED, NoAnswer

Apply = Callable[..., Any]
"""The value of the expression for values of its parameters."""


class Lambda(NamedTuple):
    """An expression with parameters. `outer` are the variables around it that it reads, in the
    order of the operands that hold their values."""

    parameters: tuple[str, ...]
    outer: tuple[str, ...]
    body: Tree
    is_test: bool


class ListFunction(NamedTuple):
    """A function of a list and an expression. `test`: the value of the expression counts as true or
    false; `compute` is the value in Python; `result` is its type."""

    name: str
    compute: Callable[..., Any]
    test: bool = False
    result: KnownType | None = None


def _read_entries(values: Any) -> list[Any]:
    if not isinstance(values, list | tuple):
        raise NoAnswer
    return list(values)


def _reduce_list(values: Any, of: Apply, *begin: Any) -> Any:
    entries = [*begin, *_read_entries(values)]
    if not entries:
        raise NoAnswer
    total = entries[0]
    for entry in entries[1:]:
        total = of(total, entry)
    return total


def _find_first(values: Any, of: Apply) -> Any:
    return next((entry for entry in _read_entries(values) if of(entry)), None)


LIST_FUNCTIONS: Final[Mapping[str, ListFunction]] = {
    row.name: row
    for row in (
        ListFunction("map list", lambda v, of: [of(e) for e in _read_entries(v)]),
        ListFunction("filter list", lambda v, of: [e for e in _read_entries(v) if of(e)], True),
        ListFunction("find in list", _find_first, True),
        ListFunction(
            "find position",
            lambda v, of: next((at for at, e in enumerate(_read_entries(v)) if of(e)), -1),
            True,
            "whole",
        ),
        ListFunction(
            "some in list", lambda v, of: any(of(e) for e in _read_entries(v)), True, "truth"
        ),
        ListFunction(
            "every in list", lambda v, of: all(of(e) for e in _read_entries(v)), True, "truth"
        ),
        ListFunction("reduce list", _reduce_list),
    )
}
"""The functions by name; a target has a function of the same name for each."""


class AppliedFunction(FunctionRow):
    """The operation of a call of a list function with one expression.

    Calls have the list as their first operand, then the value that `reduce` begins with, if it has
    one, then the outer variables of the expression. Two operations with equal parts are equal.
    """

    __slots__ = ("begins", "function", "list_function")

    def __init__(self, list_function: ListFunction, function: Lambda, *, begins: bool) -> None:
        # A part of the program, no row of the table: the row is `list_function`.
        self.list_function, self.function, self.begins = list_function, function, begins
        self.name = list_function.name
        self.node, self.sign, self.checked = Call, "", "nothing"
        self.type_of = lambda tree: list_function.result
        self.javascript = keep_operation
        self.requirements = require_result
        self.guard = _same_guard
        self.compute = self.compute_call

    def _key(self) -> tuple[object, ...]:
        return (self.name, self.function, self.begins)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AppliedFunction) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def compute_call(self, tree: Call, value: Callable[[Tree], Any]) -> Any:
        """The value of a call in Python. Raises `NoAnswer` as the expression does."""
        from orgflow_ir.program.evaluator import evaluate_in  # reads the rows of operators

        values, *rest = map(value, tree.operands)
        begin = rest[: self.begins]
        outer = dict(zip(self.function.outer, rest[self.begins :], strict=True))

        def apply(*entries: Any) -> Any:
            bound = {**outer, **dict(zip(self.function.parameters, entries, strict=False))}
            result = evaluate_in(self.function.body, BoundValues(bound))
            if not self.function.is_test and result is UNDEFINED:
                raise NoAnswer
            return result

        return self.list_function.compute(values, apply, *begin)


def _same_guard(tree: Tree) -> Tree:
    return tree


class BoundValues(Mapping[Path, Any]):
    """Values of names as a mapping of paths, of which each step is an entry of the one before, or
    in JavaScript the length of a text or list."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values_by_name = values

    def __getitem__(self, path: Path) -> Any:
        value: Any = self.values_by_name[path[0]]
        for step in path[1:]:
            if isinstance(value, list | tuple | str) and step.isdigit() and int(step) < len(value):
                value = value[int(step)]
            elif isinstance(value, dict) and step in value:
                value = value[step]
            elif isinstance(value, list | tuple | str) and step == "length":
                value = len(value)
            else:
                raise KeyError(path)
        return value

    def __iter__(self) -> Iterator[Path]:
        return ((name,) for name in self.values_by_name)

    def __len__(self) -> int:
        return len(self.values_by_name)


def apply_function(
    name: str,
    values: Tree,
    parameters: tuple[str, ...],
    body: Tree,
    begin: Tree | None,
    span: Span,
) -> Call:
    """The call of a list function by its name; `begin` is the first value of `reduce list`. Raises
    `KeyError` for a name that is none."""
    row = LIST_FUNCTIONS[name]
    outer = tuple(dict.fromkeys(path[0] for path in variables(body) if path[0] not in parameters))
    function = Lambda(parameters, outer, body, row.test)
    operation: Operation[Call] = AppliedFunction(row, function, begins=begin is not None)
    begins = () if begin is None else (begin,)
    return Call(operation, (values, *begins, *(Variable((name,)) for name in outer)), span)
