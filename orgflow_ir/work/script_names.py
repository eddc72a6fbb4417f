"""Names in a script: which are variables of the script, and which are those of the process.

A name that a script has not assigned yet is a variable of the process, and so is one that
`getVariable` reads. Where a script has both under one name, or a mapping beside it uses that name,
the variable of the script gets another one.

Engines look up a name in different orders. Camunda 7 looks among the assignments of the script
first (`ScriptBindings.get`), Flowable and Activiti among the variables of the process: there, an
assignment to the name of such a variable has no effect that the script could see.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from orgflow_ir.languages.expression_parser import OfProcess
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program.ecmascript_operators import LOOSE, STRICT
from orgflow_ir.program.substitution import with_paths
from orgflow_ir.program.syntax import (
    ConditionError,
    Constant,
    Path,
    Tree,
    Variable,
)
from orgflow_ir.work.statements import (
    Assign,
    Each,
    Evaluate,
    Fail,
    Statement,
    Throw,
    When,
    assigned,
)


class Names(NamedTuple):
    """The names that a script gives to its own variables.

    Attributes:
        declared: those declared by a keyword.
        assigned: those assigned without a declaration.
        inner: declared ones that exist only in a block.
        of_activity: those set with `setVariableLocal`, which are no variables of the script.
    """

    declared: frozenset[str] = frozenset()
    assigned: frozenset[str] = frozenset()
    inner: frozenset[str] = frozenset()
    of_activity: frozenset[str] = frozenset()


def told_apart(
    statements: tuple[Statement, ...],
    value: Tree | None,
    names: Names,
    *,
    code: str,
    beside: str = "",
    first: str | None = None,
) -> tuple[tuple[Statement, ...], Tree | None]:
    """The statements and the value of a script, in which no variable of the script has the name of
    a variable of the process that it reads.

    Args:
        statements: the statements of the script.
        value: its value.
        names: its own variables.
        code: its text.
        beside: other texts of its task, which may use the same names for other variables.
        first: the engine, if it looks among the variables of the process first.

    Raises:
        ConditionError: it depends on the run which variable a name is.
    """
    own = frozenset(assigned(statements, local=True)) - names.of_activity
    if not own:
        return statements, value
    seen = _Walk(names, own, {}, first)
    seen.all(statements, value)
    doubled = {n for n in own if n in seen.doubled or re.search(rf"\b{re.escape(n)}\b", beside)}
    others = {name: _other_name(name, code + beside) for name in sorted(doubled)}
    renamed, value = _Walk(names, own, others, first).all(statements, value)
    return (*(_is_free(name, first or "") for name in seen.looked_up), *renamed), value


def _other_name(name: str, texts: str) -> str:
    while name in texts:
        name += "_"
    return name


def _is_free(name: str, engine: str) -> Statement:
    """A statement that ends the run if the process has a variable of this name."""
    read = Variable((name,))
    null = Constant(None)
    there = LOOSE.logic["or"](LOOSE.comparison["!="](read, null), STRICT["=="](read, null))
    used = (
        f"The script assigns “{name}”, and {engine} reads the variable of the process with this "
        "name instead. Declare it in the script."
    )
    return When(there, (Fail(Constant(used)),), ())


class _State(NamedTuple):
    """What is known at one point of a script: names that it has assigned, those that it may have
    assigned, and those of them that it has set in the process since."""

    known: frozenset[str] = frozenset()
    maybe: frozenset[str] = frozenset()
    there: frozenset[str] = frozenset()

    def having(self, name: str) -> _State:
        return self._replace(known=self.known | {name}, maybe=self.maybe - {name})


class _Walk:
    """One way through the statements of a script."""

    def __init__(
        self, names: Names, own: frozenset[str], others: dict[str, str], first: str | None
    ) -> None:
        self.names, self.own, self.others, self.first = names, own, others, first
        self.state = _State()
        self.doubled: set[str] = set()
        self.looked_up: dict[str, None] = {}

    def all(
        self, statements: Iterable[Statement], value: Tree | None
    ) -> tuple[tuple[Statement, ...], Tree | None]:
        renamed = tuple(self.statements(statements))
        return renamed, None if value is None else self.tree(value)

    def statements(self, statements: Iterable[Statement]) -> Iterator[Statement]:
        for statement in statements:
            match statement:
                case Assign():
                    yield self.assignment(statement)
                case When(condition, then, otherwise):
                    condition = self.tree(condition)
                    begun = self.state
                    branches = []
                    ends = []
                    for branch in (then, otherwise):
                        self.state = begun
                        branches.append(tuple(self.statements(branch)))
                        if not (branch and isinstance(branch[-1], Throw | Fail)):
                            ends.append(self.state)
                    self.state = self.joined(begun, ends)
                    yield When(condition, branches[0], branches[1])
                case Each(name, values, body):
                    values = self.tree(values)
                    begun = self.state
                    again = frozenset(assigned(body, local=True)) & self.own
                    self.state = begun._replace(maybe=begun.maybe | (again - begun.known))
                    self.state = self.state.having(name)
                    inner = tuple(self.statements(body))
                    self.state = self.joined(begun, [begun, self.state])
                    yield Each(self.others.get(name, name), values, inner)
                case Evaluate(value):
                    yield Evaluate(self.tree(value))
                case Throw(code, message) if message is not None:
                    yield Throw(code, self.tree(message))
                case Fail(message):
                    yield statement._replace(message=self.tree(message))
                case _:
                    yield statement

    def joined(self, begun: _State, ends: list[_State]) -> _State:
        """What is known after branches."""
        if not ends:
            return begun
        known = frozenset.intersection(*(end.known for end in ends))
        known -= self.names.inner - begun.known
        there = frozenset.intersection(*(end.there for end in ends))
        touched = frozenset[str]().union(*(end.known | end.maybe | end.there for end in ends))
        return _State(known, (touched & self.own) - known - there, there)

    def assignment(self, assign: Assign) -> Assign:
        name = assign.name
        value = self.tree(assign.value)
        if not assign.local:
            if self.first is not None and name in self.looked_up_in_process:
                known, maybe, there = self.state
                self.state = _State(known - {name}, maybe - {name}, there | {name})
            return assign._replace(value=value)
        if name not in self.own:
            return assign._replace(value=value)
        if name in self.state.maybe and (assign.part or name in self.names.inner):
            raise _unclear_name(name)
        if name in self.state.there:
            self.doubled.add(name)
        else:
            self.state = self.state.having(name)
        return assign._replace(name=self.others.get(name, name), value=value)

    @property
    def looked_up_in_process(self) -> frozenset[str]:
        """Names for which the engine looks among the variables of the process first."""
        return self.names.assigned - self.names.declared

    def tree(self, tree: Tree) -> Tree:
        return with_paths(tree, self.path)

    def path(self, path: Path) -> Path:
        name = path[0]
        if name not in self.own:
            return path
        if isinstance(name, OfProcess):
            self.doubled.add(name)
            return (str(name), *path[1:])
        state = self.state
        if name in state.maybe:
            raise _unclear_name(name)
        if name in state.known:
            if self.first is not None and name in self.looked_up_in_process:
                self.looked_up[name] = None
            return (self.others.get(name, name), *path[1:])
        if name in self.names.declared:
            raise ConditionError(f"`{name}` is read before it is declared")
        self.doubled.add(name)
        return path


def _unclear_name(name: str) -> ConditionError:
    return ConditionError(f"only some branches assign `{name}`, which is read after them")
