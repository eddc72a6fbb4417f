"""The steps that a task computes: one small language for mappings, scripts and decisions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program.evaluation_guards import null_tested
from orgflow_ir.program.syntax import Path, Tree, variables

if TYPE_CHECKING:
    from orgflow_ir.decisions.found import FoundDecision
    from orgflow_ir.model.timer_values import Cron


class Assign(NamedTuple):
    """Sets a variable to the value of an expression; a `local` one is local to the task. `part`
    sets only a nested entry, by the names of entries, and keeps the others."""

    name: str
    value: Tree
    local: bool = False
    part: tuple[str, ...] = ()


class Evaluate(NamedTuple):
    """Evaluates an expression only for the error that it may raise."""

    value: Tree


class Throw(NamedTuple):
    """The task ends with an error of this code and an optional message."""

    code: str
    message: Tree | None = None


class Fail(NamedTuple):
    """The task fails with this message; with `bpmn`, it is an error code, as in `Throw`."""

    message: Tree
    bpmn: bool = False


class Compose(NamedTuple):
    """Creates an object, local to the task, from values, each with its path of one or two names."""

    name: str
    values: tuple[tuple[tuple[str, ...], Tree], ...]


class When(NamedTuple):
    """`if (condition) { … } else { … }`."""

    condition: Tree
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


class Each(NamedTuple):
    """`for (name : values) { … }`: executes the statements once for each value of a list; `name` is
    local to the task."""

    name: str
    values: Tree
    body: tuple[Statement, ...]


class Decide(NamedTuple):
    """Evaluates a decision and sets `result` to its value, converted by `mapping`: `value`
    (unchanged), `singleEntry`, `singleResult`, `collectEntries`, `resultList` (Camunda 7's terms),
    or `variables`. With `variables`, each output becomes a variable of its name, and `result` is
    the list of results of a table that several rules may match."""

    decision: FoundDecision
    result: str
    mapping: str
    local: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Variables that the statement may set."""
        return self.decision.outputs if self.spread else (self.result,)

    @property
    def spread(self) -> bool:
        """Whether its outputs become variables."""
        return self.mapping == "variables" and self.decision.hits != "several"

    @property
    def always(self) -> bool:
        """Whether it sets all of them, even if no rule matches."""
        return not self.spread


class Until(NamedTuple):
    """Sets `name`, local to the task, to a moment as ISO text: the value is a date, or a duration
    from now. Any other value ends the run with an error."""

    name: str
    value: Tree


class NextMoment(NamedTuple):
    """Sets `name`, local to the task, to the next moment of a cron expression, as ISO text."""

    name: str
    schedule: Cron


Statement = Assign | Compose | Evaluate | Throw | Fail | When | Each | Decide | Until | NextMoment


def assigned(statements: Iterable[Statement], *, local: bool | None = False) -> Iterator[str]:
    """Variables that may be set, in order; if `local` is set, only those local to the task; if it
    is `None`, both kinds."""
    for statement in statements:
        match statement:
            case Assign(name, _, is_local):
                if local is None or is_local is local:
                    yield name
            case Compose(name, _) | Until(name, _) | NextMoment(name, _):
                if local is not False:
                    yield name
            case When(_, then, otherwise):
                yield from assigned((*then, *otherwise), local=local)
            case Each(name, _, body):
                if local is not False:
                    yield name
                yield from assigned(body, local=local)
            case Decide(_, _, _, is_local):
                if local is None or is_local is local:
                    yield from statement.names


def throws(statements: Iterable[Statement]) -> bool:
    """Whether the statements may intentionally end the task with an error."""
    return any(
        isinstance(statement, Throw | Fail)
        or (isinstance(statement, When) and throws((*statement.then, *statement.otherwise)))
        or (isinstance(statement, Each) and throws(statement.body))
        for statement in statements
    )


def ends_with_error(statements: Iterable[Statement]) -> bool:
    """Whether the statements may end the task with a process error."""
    return handles(statements) or any(True for _ in thrown_codes(statements))


def handles(statements: Iterable[Statement]) -> bool:
    """Whether the statements may end the task with a process error whose code is computed at run
    time."""
    return any(
        (isinstance(statement, Fail) and statement.bpmn)
        or (isinstance(statement, When) and handles((*statement.then, *statement.otherwise)))
        or (isinstance(statement, Each) and handles(statement.body))
        for statement in statements
    )


def thrown_codes(statements: Iterable[Statement]) -> Iterator[str]:
    """Codes of the process errors with which the statements may end the task, in order."""
    for statement in statements:
        match statement:
            case Throw(code):
                yield code
            case When(_, then, otherwise):
                yield from thrown_codes((*then, *otherwise))
            case Each(_, _, body):
                yield from thrown_codes(body)


class Needed(NamedTuple):
    """A variable that a statement reads before the task has set it. With `tested`, an unset
    variable is valid."""

    path: Path
    tested: bool


def read(statements: Iterable[Statement], known: frozenset[str] = frozenset()) -> Iterator[Needed]:
    """Paths of the process variables that statements read, in order, with repetitions. `known` are
    names that the task has already set."""
    for statement in statements:
        match statement:
            case Assign(name, value, local, part):
                yield from _needed_paths(value, known)
                if part and not local and name not in known:
                    yield Needed((name,), tested=True)
                known |= {name}
            case Evaluate(value):
                yield from _needed_paths(value, known)
            case Fail(message):
                yield from _needed_paths(message, known)
            case Throw(_, message) if message is not None:
                yield from _needed_paths(message, known)
            case Compose(name, values):
                for _, value in values:
                    yield from _needed_paths(value, known)
                known |= {name}
            case Until(name, value):
                yield from _needed_paths(value, known)
                known |= {name}
            case When(condition, then, otherwise):
                yield from _needed_paths(condition, known)
                yield from read(then, known)
                yield from read(otherwise, known)
                known |= frozenset(assigned(then, local=None)) & frozenset(
                    assigned(otherwise, local=None)
                )
            case Each(name, values, body):
                yield from _needed_paths(values, known)
                yield from read(body, known | {name})
            case Decide(decision):
                for name in decision.variables:
                    if name not in known:
                        yield Needed((name,), name in decision.tested)
                if statement.always:
                    known |= set(statement.names)


def expressions(statements: Iterable[Statement]) -> Iterator[Tree]:
    """The expressions that statements evaluate, in order, without those of decisions."""
    for statement in statements:
        match statement:
            case Assign(_, value) | Evaluate(value) | Fail(value) | Until(_, value):
                yield value
            case Throw(_, message) if message is not None:
                yield message
            case Compose(_, values):
                yield from (value for _, value in values)
            case When(condition, then, otherwise):
                yield condition
                yield from expressions((*then, *otherwise))
            case Each(_, values, body):
                yield values
                yield from expressions(body)


def _needed_paths(tree: Tree, known: frozenset[str]) -> Iterator[Needed]:
    tested = null_tested([tree])
    for path in variables(tree):
        if path[0] not in known:
            yield Needed(path, path in tested)
