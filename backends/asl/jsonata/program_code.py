"""Programs of tasks as one JSONata expression: from the variables to those that they set.

The variables are one object, `$s`. A statement replaces it by an object with other entries, since
JSONata changes no value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from orgflow.backends.asl.jsonata.error_entry import MAX_ERROR, THROWN
from orgflow.backends.asl.jsonata.expression_code import (
    Variables,
    print_condition,
    print_constant,
    print_value,
)
from orgflow.backends.asl.jsonata.functions import with_functions
from orgflow.backends.asl.jsonata.operand_checks import print_check

from orgflow_ir.model.element_names import one_line
from orgflow_ir.program.demands import demands
from orgflow_ir.program.evaluation_guards import null_tested
from orgflow_ir.program.syntax import ConditionError, Constant, Path, Tree
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
    assigned,
    ends_with_error,
)

_IS_THROWN = f'$exists($lookup($s, "{THROWN}"))'


def print_program(statements: Sequence[Statement], variables: str) -> str:
    """JSONata for the variables that statements set, as an object.

    Args:
        statements: what a task computes.
        variables: the code of the object of process variables.

    Raises `ConditionError` for a statement that JSONata does not have exactly.
    """
    return with_functions(print_block(statements, variables, set_names(statements)))


def set_names(statements: Iterable[Statement]) -> list[str]:
    """The entries of the object that a program results in: the variables of the process that it
    sets, and `THROWN` if it may end with an error of the process."""
    every = list(statements)
    names = list(dict.fromkeys(assigned(every)))
    return [*names, THROWN] if ends_with_error(every) else names


def print_block(statements: Iterable[Statement], variables: str, names: Iterable[str]) -> str:
    """JSONata for some of the variables behind statements, as an object, without the functions that
    it calls. Arguments and errors are otherwise those of `print_program`."""
    parts = [f"$s := {variables}", *_print_statements(statements)]
    parts.append(f"$only($s, [{', '.join(map(print_constant, names))}])")
    return f"({'; '.join(parts)})"


def print_around(
    before: Iterable[Statement],
    answer: str,
    after: Iterable[Statement],
    variables: str,
    names: Iterable[str],
) -> str:
    """`print_block` of statements before and after an answer, whose entries are variables to those
    after it."""
    parts = [f"$s := {variables}", *_print_statements(before), f"$s := $merge([$s, {answer}])"]
    parts += _print_statements(after)
    parts.append(f"$only($s, [{', '.join(map(print_constant, names))}])")
    return f"({'; '.join(parts)})"


def _print_statements(statements: Iterable[Statement]) -> Iterator[str]:
    """The parts of a block, each of which sets `$s` or ends the execution with an error. Statements
    behind one that may end the task with an error of the process are a block of their own."""
    pending = list(statements)
    while pending:
        statement = pending.pop(0)
        yield from _print_statement(statement)
        if pending and ends_with_error((statement,)):
            yield f"$s := {_IS_THROWN} ? $s : {_print_block(pending)}"
            return


def _print_statement(statement: Statement) -> Iterator[str]:
    match statement:
        case Assign(name, value, _, part):
            yield from _print_assignment(name, value, part)
        case Evaluate(value):
            *checks, code = _print_value(value)
            yield from (*checks, f"$unused := {code}")
        case When(condition, then, otherwise):
            *checks, code = _print_value(condition, is_condition=True)
            yield from checks
            yield f"$s := {code} ? {_print_block(then)} : {_print_block(otherwise)}"
        case Each():
            yield from _print_each(statement)
        case Decide():
            yield from _print_decide(statement)
        case Throw(code, message):
            *checks, text = _print_value(message or Constant(""))
            if not _is_error_name(code):
                raise ConditionError(f"`{code}` is not the name of an error of a state")
            yield from (*checks, _print_thrown(print_constant(code), f"$insertedText({text})"))
        case Fail(message, is_error):
            *checks, text = _print_value(message)
            yield from checks
            if is_error:
                yield _print_thrown(f"$text({text})", '""')
            else:
                yield f"$unused := $error($insertedText({text}))"
        case Compose():
            raise ConditionError("a JSONata state does not send a request")
        case Until() | NextMoment():
            raise ConditionError("a JSONata state does not compute dates")
        case _:
            assert_never(statement)


def _is_error_name(name: str) -> bool:
    """Whether a state can fail with this error: names that begin with `States.` are reserved."""
    is_short = 0 < len(name) <= MAX_ERROR
    return is_short and one_line(name) == name and not name.startswith("States.")


def _print_thrown(code: str, message: str) -> str:
    """The task ends with an error of the process: the state behind it fails."""
    thrown = f'{{"code": {code}, "message": {message}}}'
    return f"$s := $merge([$s, {{{print_constant(THROWN)}: {thrown}}}])"


def _print_each(each: Each) -> Iterator[str]:
    """The statements of a loop, folded over the values of a list."""
    *checks, code = _print_value(each.values)
    yield from checks
    entry = f"$s := $merge([$s, {{{print_constant(each.name)}: $each}}])"
    block = f"({'; '.join((entry, *_print_statements(each.body), '$s'))})"
    if ends_with_error(each.body):
        block = f"{_IS_THROWN} ? $s : {block}"
    yield f"$s := $reduce($listOnly({code}), function($s, $each) {{ {block} }}, $s)"


def _print_block(statements: Sequence[Statement]) -> str:
    return f"({'; '.join((*_print_statements(statements), '$s'))})" if statements else "$s"


def _print_assignment(name: str, value: Tree, part: Path) -> Iterator[str]:
    """A variable is set, or the entry on a path into its value."""
    *checks, code = _print_value(value)
    yield from checks
    if part:
        yield f"$value := {code}"
        code = "$value"
        places = [f"$lookup($s, {print_constant(name)})"]
        for key in part[:-1]:
            places.append(f"$lookup({places[-1]}, {print_constant(key)})")
        for place, key in zip(reversed(places), reversed(part), strict=True):
            code = f"$merge([$changeable({place}), {{{print_constant(key)}: {code}}}])"
    yield f"$s := $merge([$s, {{{print_constant(name)}: {code}}}])"


def _print_value(tree: Tree, *, is_condition: bool = False) -> list[str]:
    """The checks of the operands of an expression, then its code."""
    tested = frozenset(path[0] for path in null_tested([tree]))
    reader = _read_variables(tested)
    checks = [print_check(demand, reader) for demand in demands([tree], in_turn=False)]
    code = print_condition(tree, reader) if is_condition else print_value(tree, reader)
    return [*checks, code]


def _read_variables(tested: frozenset[str]) -> Variables:
    """The code that reads a process variable; those of `tested` may be unset."""

    def read(path: Path) -> str:
        root, *keys = path
        code = f"{'$entry' if root in tested else '$get'}($s, {print_constant(root)})"
        for key in keys:
            code = f"$entry({code}, {print_constant(key)})"
        return code

    def exists(path: Path) -> str:
        *whole, key = path
        if not whole:
            return f"$exists($lookup($s, {print_constant(key)}))"
        return f"$has({read(tuple(whole))}, {print_constant(key)})"

    return Variables(read, exists)


def _print_decide(decide: Decide) -> Iterator[str]:
    """A decision sets its result, or each of its outputs."""
    from orgflow.backends.asl.jsonata.decision_code import print_decision  # in few models

    reader = _read_variables(decide.decision.tested)
    code = print_decision(decide, lambda name: reader.read((name,)))
    if not decide.spread:
        yield f"$s := $merge([$s, {{{print_constant(decide.result)}: {code}}}])"
        return
    yield f"$hit := {code}"
    names = decide.decision.outputs
    single = len(names) == 1
    pairs = (
        f"{print_constant(name)}: {'$hit' if single else f'$lookup($hit, {print_constant(name)})'}"
        for name in names
    )
    yield f'$s := $type($hit) = "null" ? $s : $merge([$s, {{{", ".join(pairs)}}}])'
