"""Evaluates the statements of tasks on the variables of a process: the reference for the nodes that
a target computes them with."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Literal, assert_never

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program.evaluation_guards import list_needs, null_tested
from orgflow_ir.program.evaluator import evaluate_strictly, is_truthy
from orgflow_ir.program.portable_operators import PORTABLE
from orgflow_ir.program.structures import FunctionCall
from orgflow_ir.program.syntax import (
    Comparison,
    Exact,
    Path,
    Tree,
    Variable,
    nodes,
    variables,
    walk_parts,
)
from orgflow_ir.program.values import NoAnswer
from orgflow_ir.work.statements import (
    Assign,
    Compose,
    Decide,
    Each,
    Evaluate,
    Fail,
    NextMoment,
    Statement,
    Throw,
    Until,
    When,
)

FaultKind = Literal["thrown", "failed", "invalid-time", "unset"]
Origins = frozenset[Hashable]

CLOCK = "clock"
"""The origin of a value that depends on the time of the run."""

_NOTHING: Origins = frozenset()
_DURATION = re.compile(
    r"P(?=.)(?:\d+(?:[.,]\d+)?Y)?(?:\d+(?:[.,]\d+)?M)?(?:\d+(?:[.,]\d+)?W)?(?:\d+(?:[.,]\d+)?D)?"
    r"(?:T(?=\d)(?:\d+(?:[.,]\d+)?H)?(?:\d+(?:[.,]\d+)?M)?(?:\d+(?:[.,]\d+)?S)?)?"
)
_CLOCKS = frozenset({"now", "today"})


class StatementFault(Exception):
    """Statements that end the task with an error.

    Attributes:
        kind: `thrown` for an error of the process, `failed` for any other one, `invalid-time` for a
            time that is none, `unset` for a variable without a value.
        message: the reason.
        code: of an error of the process.
        origins: what the reason depends on.
        is_assumed: whether only an assumption about the inputs makes it one; the task may not fail.
    """

    def __init__(
        self,
        kind: FaultKind,
        message: str,
        code: str | None = None,
        origins: Origins = _NOTHING,
        *,
        is_assumed: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind, self.message, self.code, self.origins = kind, message, code, origins
        self.is_assumed = is_assumed


class PathValues(Mapping[Path, Any]):
    """Values of variables by path, looked up in the values of the whole variables."""

    def __init__(self, *layers: Mapping[str, Any]) -> None:
        self._layers = layers

    def __getitem__(self, path: Path) -> Any:
        layer = next((layer for layer in self._layers if path[0] in layer), None)
        if layer is None:
            raise KeyError(path)
        value = layer[path[0]]
        for part in path[1:]:
            if isinstance(value, dict) and part in value:
                value = value[part]
            elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
                value = value[int(part)]
            else:
                raise KeyError(path)
        return value

    def __iter__(self) -> Iterator[Path]:
        return iter(dict.fromkeys((name,) for layer in self._layers for name in layer))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Variables:
    """The variables of a scope.

    Attributes:
        values: by name, as JSON.
        origins: what each value depends on, by name.
    """

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.origins: dict[str, Origins] = {}

    def assign(self, name: str, value: Any, origins: Origins) -> None:
        """Set a variable."""
        self.values[name], self.origins[name] = value, origins

    def copied(self) -> Variables:
        """A copy with the same values."""
        copy = Variables()
        copy.values, copy.origins = dict(self.values), dict(self.origins)
        return copy


class Observed(NamedTuple):
    """A branch in statements that an evaluation took.

    Attributes:
        place: the condition, comparison or decision, the same object in each evaluation.
        outcome: what it came to.
    """

    place: int
    outcome: Hashable


class StatementEvaluation:
    """Evaluates statements of one task.

    Args:
        scope: the variables of the process, which it changes.
        ask: is called before a variable of the process is read that has no value, or may have a
            newer one; it may set it. The second argument: whether the statements test it for null.
        observe: is called for each branch that is taken.
        portable: whether a value that depends on the conversions of a language is a fault, unless
            the model itself sets what it is computed from.

    Attributes:
        own: the variables local to the task.
        assigned: names of variables of the process that it has set.
    """

    def __init__(
        self,
        scope: Variables,
        ask: Callable[[Path, bool], None],
        observe: Callable[[Observed], None] = lambda observed: None,
        *,
        portable: bool = False,
    ) -> None:
        self.scope, self.ask, self.observe = scope, ask, observe
        self.portable = portable
        self.own = Variables()
        self.assigned: set[str] = set()
        self.control: Origins = _NOTHING

    def run(self, statements: Iterable[Statement]) -> None:
        """Evaluate statements in order. Raises `StatementFault`."""
        for statement in statements:
            match statement:
                case Assign():
                    self._assign(statement)
                case Compose(name, values):
                    self._compose(name, values)
                case Evaluate(value):
                    self.value(value)
                case Throw(code, message):
                    text = code if message is None else f"{code}: {self.value(message) or ''}"
                    raise StatementFault("thrown", text, code, self.control)
                case Fail(message):
                    self._fail(statement, message)
                case When(condition, then, otherwise):
                    self._choose(condition, then, otherwise)
                case Each(name, values, body):
                    self._repeat(name, values, body)
                case Decide():
                    self._decide(statement)
                case Until(name, value):
                    self._wait_until(name, value)
                case NextMoment(name):
                    self.own.assign(name, None, frozenset({CLOCK}))
                case _:
                    assert_never(statement)

    def value(self, tree: Tree) -> Any:
        """The value of an expression as JSON. Raises `StatementFault`."""
        self._ask_for(tree)
        origins = self.origins_of(tree)
        values = PathValues(self.own.values, self.scope.values)
        tested = null_tested([tree])
        for need in list_needs([tree], tested, in_turn=False):
            missing = [name for name in need.names if (name,) not in values]
            guards = need.guards
            if missing and all(self._is_true(tree, values) is want for tree, want in guards):
                raise StatementFault(
                    "unset", f"the variable `{missing[0]}` has no value", None, origins
                )
        try:
            value = evaluate_strictly(tree, values)
        except (NoAnswer, OverflowError, ZeroDivisionError):
            raise StatementFault(
                "failed", "an expression cannot be computed with these values", None, origins
            ) from None
        if self.portable and not is_portable(tree, value, values) and origins - {CLOCK}:
            raise StatementFault(
                "failed", "an expression converts values of another type", None, origins,
                is_assumed=True,
            )  # fmt: skip
        self._observe_comparisons(tree, values)
        if not _is_finite(value):
            raise StatementFault("failed", "a number is infinite or undefined", None, origins)
        return value

    def origins_of(self, tree: Tree) -> Origins:
        """The variables that decide the value of an expression, with the branches around it."""
        origins = self.control
        for path in variables(tree):
            origins |= self._origins_of_name(path[0])
        return origins | {CLOCK} if reads_clock(tree) else origins

    def _origins_of_name(self, name: str) -> Origins:
        if name in self.own.values:
            return self.own.origins[name]
        return self.scope.origins.get(name, _NOTHING)

    def _ask_for(self, tree: Tree) -> None:
        tested = null_tested([tree])
        for path in dict.fromkeys(variables(tree)):
            if path[0] not in self.own.values and path[0] not in self.assigned:
                self.ask(path, path in tested)

    def _is_true(self, tree: Tree, values: Mapping[Path, Any]) -> bool:
        try:
            return is_truthy(evaluate_strictly(tree, values))
        except (NoAnswer, OverflowError, ZeroDivisionError):
            return False

    def _observe_comparisons(self, tree: Tree, values: Mapping[Path, Any]) -> None:
        """On which side of a comparison its operands are, and whether they are next to it."""
        for node in nodes(tree):
            if isinstance(node, Comparison):
                order = compare_operands(node, values)
                if order is not None:
                    self.observe(Observed(id(node), order))

    # -- statements --------------------------------------------------------------------------------

    def _assign(self, statement: Assign) -> None:
        name, part = statement.name, statement.part
        value = self.value(statement.value)
        origins = self.origins_of(statement.value)
        scope = self.own if statement.local else self.scope
        if part:
            if not statement.local and name not in self.assigned:
                self.ask((name,), True)
            value = _replace_part(scope.values.get(name), part, value)
            origins |= scope.origins.get(name, _NOTHING)
        self._set(scope, name, value, origins)

    def _set(self, scope: Variables, name: str, value: Any, origins: Origins) -> None:
        scope.assign(name, value, origins)
        if scope is self.scope:
            self.assigned.add(name)

    def _compose(self, name: str, values: Iterable[tuple[tuple[str, ...], Tree]]) -> None:
        whole: dict[str, Any] = {}
        origins = self.control
        for path, tree in values:
            inner = whole
            for part in path[:-1]:
                inner = inner.setdefault(part, {})
            inner[path[-1]] = self.value(tree)
            origins |= self.origins_of(tree)
        self.own.assign(name, whole, origins)

    def _fail(self, statement: Fail, message: Tree) -> None:
        text = str(self.value(message))
        if statement.bpmn:
            raise StatementFault("thrown", text, text, self.origins_of(message))
        raise StatementFault("failed", text, None, self.control)

    def _choose(
        self, condition: Tree, then: tuple[Statement, ...], otherwise: tuple[Statement, ...]
    ) -> None:
        truth = is_truthy(self.value(condition))
        self.observe(Observed(id(condition), "then" if truth else "otherwise"))
        before = self.control
        self.control = before | self.origins_of(condition)
        self.run(then if truth else otherwise)
        self.control = before

    def _repeat(self, name: str, values: Tree, body: tuple[Statement, ...]) -> None:
        items = self.value(values)
        origins = self.origins_of(values)
        if not isinstance(items, list):
            raise StatementFault("failed", "a value is not a list", None, origins)
        self.observe(Observed(id(values), f"{min(len(items), 2)} items"))
        before = self.control
        self.control = before | origins
        for item in list(items):
            self.own.assign(name, item, origins)
            self.run(body)
        self.control = before

    def _wait_until(self, name: str, tree: Tree) -> None:
        value = self.value(tree)
        origins = self.origins_of(tree)
        if not is_moment(value):
            raise StatementFault(
                "invalid-time",
                f"{value!r} is not an ISO 8601 date or duration",
                None,
                origins,
            )
        self.own.assign(name, value, origins | {CLOCK})

    def _decide(self, step: Decide) -> None:
        from orgflow_ir.decisions.evaluate import decide_json  # in few models
        from orgflow_ir.program.feel.values import Unsupported

        decision = step.decision
        origins = self.control
        for name in decision.variables:
            if name not in self.own.values and name not in self.assigned:
                self.ask((name,), name in decision.tested)
            origins |= self._origins_of_name(name)
        known = PathValues(self.own.values, self.scope.values)
        unset = [
            name
            for name in decision.variables
            if (name,) not in known and name not in decision.tested
        ]
        if unset:
            raise StatementFault("unset", f"the variable `{unset[0]}` has no value", None, origins)
        given = {name: known.get((name,)) for name in decision.variables}
        try:
            result = decide_json(decision.model, decision.name, given)
        except (Unsupported, KeyError) as error:
            raise StatementFault("failed", str(error), None, origins) from None
        self.observe(Observed(id(decision.model), (decision.name, repr(result))))
        scope = self.own if step.local else self.scope
        for name, value in self._decided_values(step, result, origins):
            self._set(scope, name, value, origins)

    def _decided_values(
        self, step: Decide, result: Any, origins: Origins
    ) -> Iterator[tuple[str, Any]]:
        """The variables that a decision sets. Raises `StatementFault`."""
        decision = step.decision
        is_single = len(decision.outputs) == 1
        if step.spread:
            for name in decision.outputs if result is not None else ():
                yield name, result if is_single else result[name]
            return
        if step.mapping == "value" or (
            step.mapping == "singleEntry" and decision.hits != "several"
        ):
            yield step.result, result
            return
        hits = (result or []) if decision.hits == "several" else [result]
        hits = [hit for hit in hits if decision.hits == "several" or hit is not None]
        if step.mapping in ("singleEntry", "singleResult") and len(hits) > 1:
            raise StatementFault(
                "failed", f"the decision `{decision.name}` has several results", None, origins
            )
        key = decision.outputs[0] or decision.name if is_single else ""
        rows = [{key: hit} for hit in hits] if is_single else hits
        match step.mapping:
            case "collectEntries":
                yield step.result, hits
            case "singleEntry":
                yield step.result, hits[0] if hits else None
            case "singleResult":
                yield step.result, rows[0] if rows else None
            case "resultList" | "variables":
                yield step.result, rows
            case _:
                raise KeyError(step.mapping)


def is_portable(tree: Tree, value: Any, values: Mapping[Path, Any]) -> bool:
    """Whether an expression has a value by the operators of every language."""
    if value is None:
        return True
    try:
        return bool(evaluate_strictly(tree, values, operators=PORTABLE) == value)
    except (NoAnswer, OverflowError, ZeroDivisionError, KeyError):
        return False


def compare_operands(node: Comparison, values: Mapping[Path, Any]) -> int | None:
    """The order of the operands of a comparison: 0 if they are equal, 1 or -1 next to that, 2 or -2
    beyond; `None` if they have none."""
    try:
        left, right = (evaluate_strictly(tree, values) for tree in node.operands)
    except (NoAnswer, OverflowError, ZeroDivisionError):
        return None
    if _is_number(left) and _is_number(right):
        apart = left - right
        if apart == 0:
            return 0
        return int(math.copysign(1 if abs(apart) <= 1 else 2, apart))
    if isinstance(left, str) and isinstance(right, str):
        return 0 if left == right else 2
    return None


def reads_clock(tree: Tree) -> bool:
    """Whether the value of an expression depends on the time at which it is evaluated."""
    bodies = (node.body for node in nodes(tree) if isinstance(node, Exact))
    return any(
        isinstance(part, FunctionCall)
        and isinstance(part.function, Variable)
        and part.function.name in _CLOCKS
        for body in bodies
        for part in walk_parts(body)
    )


def is_moment(value: Any) -> bool:
    """Whether a value is a date, or a duration that is not negative, of ISO 8601."""
    text = value.strip() if isinstance(value, str) else ""
    if _DURATION.fullmatch(text):
        return True
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    return not isinstance(value, list) or all(map(_is_finite, value))


def _replace_part(whole: Any, part: tuple[str, ...], value: Any) -> Any:
    known = whole if isinstance(whole, dict) else {}
    name, *rest = part
    inner = _replace_part(known.get(name), tuple(rest), value) if rest else value
    return {**known, name: inner}
