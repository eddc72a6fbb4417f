"""What programs over exact values read: variables, names of entries, and constants."""

from __future__ import annotations

from collections.abc import Iterator

from orgflow_ir.program.feel.signatures import SIGNATURES
from orgflow_ir.program.feel.values import INPUT
from orgflow_ir.program.feel_operators import BETWEEN
from orgflow_ir.program.structures import (
    ContextLiteral,
    Filter,
    For,
    FunctionCall,
    FunctionDefinition,
    In,
    InstanceOf,
    Part,
    Path,
    Quantified,
    children,
    parts,
)
from orgflow_ir.program.syntax import (
    Call,
    Comparison,
    Conditional,
    Constant,
    Logical,
    Tree,
    Variable,
)
from orgflow_ir.program.syntax import Path as VariablePath


def is_logical(tree: Tree) -> bool:
    """Whether the value of an expression is always true, false or null."""
    match tree:
        case Comparison() | Logical() | In() | InstanceOf() | Quantified():
            return True
        case Call(operation):
            return operation is BETWEEN
        case Constant(value):
            return value is None or isinstance(value, bool)
        case Conditional():
            return is_logical(tree.then) and is_logical(tree.otherwise)
        case FunctionCall(Variable(("not",))):
            return True
    return False


def list_members(tree: Tree) -> tuple[str, ...]:
    """Names that the expression looks up in contexts, in paths and filters."""
    return tuple(dict.fromkeys(p.name for p in parts(tree) if isinstance(p, Path)))


def list_free_paths(tree: Tree) -> tuple[VariablePath, ...]:
    """Paths that an expression reads and does not define itself, each once, in order."""
    return tuple(dict.fromkeys(_find_free(tree, frozenset())))


def list_free_names(tree: Tree) -> tuple[str, ...]:
    """Variables that an expression reads, each once, in order; for a path, its first name."""
    return tuple(dict.fromkeys(path[0] for path in _find_free(tree, frozenset())))


def find_tested_names(tree: Tree) -> frozenset[str]:
    """Variables that may be missing, since the expression tests for them."""
    return frozenset(_find_tested(tree))


def _find_free(part: Part, bound: frozenset[str]) -> Iterator[VariablePath]:
    """What an expression reads that it does not define itself, as far as names follow each other;
    in filters that may be an entry of the element or a variable."""
    match part:
        case Variable((name,)):
            if name not in bound and name != INPUT:
                yield (name,)
        case Path(base, name):
            paths = list(_find_free(base, bound))
            if len(paths) == 1 and _is_path(base):
                yield (*paths[0], name)
            else:
                yield from paths
        case FunctionCall(function, arguments, _):
            if not (isinstance(function, Variable) and function.name in SIGNATURES):
                yield from _find_free(function, bound)
            for argument in arguments:
                yield from _find_free(argument, bound)
        case Filter(base, condition):
            yield from _find_free(base, bound)
            yield from _find_free(condition, bound | {"item"})
        case For(iterators, body) | Quantified(_, iterators, body):
            for iteration in iterators:
                yield from _find_free(iteration.domain, bound)
                if iteration.end is not None:
                    yield from _find_free(iteration.end, bound)
                bound |= {iteration.name}
            yield from _find_free(body, bound | {"partial"} if isinstance(part, For) else bound)
        case FunctionDefinition(parameters, body, _):
            yield from _find_free(body, bound | {p.name for p in parameters})
        case ContextLiteral(entries):
            for entry in entries:
                yield from _find_free(entry.value, bound)
                bound |= {entry.key}
        case _:
            for child in children(part):
                yield from _find_free(child, bound)


def _is_path(tree: Tree) -> bool:
    while isinstance(tree, Path):
        tree = tree.base
    return isinstance(tree, Variable)


def _find_tested(tree: Tree) -> Iterator[str]:
    """Variables that may be missing: the expression asks itself, or looks in an element first."""
    for part in parts(tree):
        match part:
            case Comparison() if (
                part.operation.sign in ("==", "!=") and Constant(None) in part.operands
            ):
                yield from (path[0] for path in _find_free(part, frozenset()))
            case In(value, tests) if any(t.operand == Constant(None) for t in tests.tests):
                yield from (path[0] for path in _find_free(value, frozenset()))
            case Filter(_, condition):
                yield from (path[0] for path in _find_free(condition, frozenset()))
