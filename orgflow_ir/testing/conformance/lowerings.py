"""The contract of a lowering: it terminates, keeps the model sound, loses only what it declares,
and records the source elements of everything that it makes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from orgflow_ir.flow.token_game.trace_equivalence import compare_processes
from orgflow_ir.model import Model, SubProcess
from orgflow_ir.model.constructs import ConstructUse, plain_constructs
from orgflow_ir.model.provenance import elements_by_id
from orgflow_ir.model.verifier import list_violations
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.lowering import PatternError, RewritePattern, covers_construct, rewrite_all
from orgflow_ir.targets.spec import Derivation
from orgflow_ir.testing.conformance.minimal_models import minimal_models
from orgflow_ir.testing.conformance.shapes import list_shapes
from orgflow_ir.testing.conformance.words import KEBAB

MOST = 200
"""Maximum number of times that one lowering is applied to a small model."""

LIMIT = 2_000
"""Maximum number of token-game steps spent on comparing two processes."""


def lowering_problems(
    patterns: Iterable[RewritePattern],
    models: Iterable[tuple[str, Model]] | None = None,
    derivations: Iterable[Derivation] = (),
) -> list[str]:
    """All problems of lowerings, each tried with every model that contains a construct that it
    consumes; `derivations` attach the derived constructs that they consume."""
    items = [*minimal_models(), *list_shapes()] if models is None else list(models)
    patterns, derivations = tuple(patterns), tuple(derivations)
    names = [pattern.name for pattern in patterns]
    problems = [
        f"two lowerings have the name `{n}`" for n in sorted(set(names)) if names.count(n) > 1
    ]
    for pattern in patterns:
        own = [] if KEBAB.fullmatch(pattern.name) else ["its name is not words joined by hyphens"]
        declared = _declaration_problems(pattern)
        own += declared
        for name, model in items if not declared else ():
            own += [f"{name}: {p}" for p in _model_problems(pattern, model, derivations)]
        problems += [f"lowering `{pattern.name}`: {p}" for p in own]
    return problems


def _declaration_problems(pattern: RewritePattern) -> list[str]:
    problems = []
    if not isinstance(pattern.consumes, tuple) or not pattern.consumes:
        problems.append(f"`consumes` is {pattern.consumes!r}, not a tuple of constructs")
    if not isinstance(pattern.produces, tuple):
        problems.append(f"`produces` is {pattern.produces!r}, not a tuple of constructs")
    if pattern.loses is not None and not pattern.loses.strip():
        problems.append("`loses` is empty: name the loss, or set `None`")
    return problems


def _model_problems(
    pattern: RewritePattern, model: Model, derivations: tuple[Derivation, ...]
) -> list[str]:
    try:
        return _try_pattern(pattern, model, derivations)
    except PatternError as error:
        return [f"it {error}"]
    except (Exception, SystemExit) as error:  # noqa: BLE001  # "never raises" is what is tested
        return [f"raised {type(error).__name__}: {error}"]


def _try_pattern(
    pattern: RewritePattern, model: Model, derivations: tuple[Derivation, ...]
) -> list[str]:
    now, uses = model, _list_uses(model, derivations)
    for _ in range(MOST):
        text = now.to_json()
        after, done = rewrite_all(pattern, uses, now, PassContext())
        if now.to_json() != text:
            return ["it changed its input model"]
        if rewrite_all(pattern, uses, now, PassContext()) != (after, done):
            return ["its result for the same model differs the second time"]
        if not done:
            break
        then = _list_uses(after, derivations)
        problems = [
            *_undeclared_constructs(pattern, uses, then),
            *_provenance_problems(pattern, now, after, model),
        ]
        if problems:
            return problems
        now, uses = after, then
    broken = sorted(list_violations(now) - list_violations(model))
    if broken or now is model or pattern.loses is not None:
        return broken
    return _other_runs(pattern.meaning(model), now)


def _list_uses(model: Model, derivations: tuple[Derivation, ...]) -> list[ConstructUse]:
    ctx = PassContext()
    return [
        *plain_constructs(model),
        *(use for derive in derivations for use in derive(model, ctx)),
    ]


def _undeclared_constructs(
    pattern: RewritePattern, before: list[ConstructUse], after: list[ConstructUse]
) -> list[str]:
    """Constructs left or made against the declaration of a pattern: rewriting would not end."""
    was, now = (Counter(use.construct for use in uses) for uses in (before, after))
    taken = [sum(n for c, n in counts.items() if pattern.takes(c)) for counts in (was, now)]
    if taken[1] >= taken[0]:
        return [f"as much remains to rewrite as before ({taken[0]}, then {taken[1]})"]
    return [
        f"it produces {construct}, which is not in its `produces`"
        for construct in now - was
        if not any(covers_construct(prefix, construct) for prefix in pattern.produces)
    ]


def _provenance_problems(
    pattern: RewritePattern, before: Model, after: Model, source: Model
) -> list[str]:
    """Elements that are new or other than before and do not say which of the source they come from,
    or who made them."""
    known, drawn = elements_by_id(before), elements_by_id(source)
    new_elements = [
        element
        for scope in after.scopes()
        for element in (*scope.nodes, *scope.flows)
        if known.get(element.id) != element
        and not (isinstance(element, SubProcess) and element.id in known)  # it may hold others
    ]
    problems = [
        f"`{e.id}` does not have it as its origin" for e in new_elements if e.origin != pattern.name
    ]
    problems += [
        f"`{e.id}` does not name the source elements it is derived from"
        for e in new_elements
        if not e.derived_from or any(id not in drawn for id in e.derived_from)
    ]
    return problems


def _other_runs(model: Model, lowered: Model) -> list[str]:
    """For a lowering that claims to lose nothing: the same runs, seen through what both have."""
    problems = []
    for old, new in zip(model.processes, lowered.processes, strict=False):
        kept = {n.id for s in new.scopes() for n in s.nodes}
        pairs = {n.id: n.id for s in old.scopes() for n in s.nodes if n.id in kept}
        behaviour = compare_processes((model, old), (lowered, new), pairs, limit=LIMIT)
        if behaviour.verdict == "different":
            problems.append(f"it claims to lose nothing, but the runs differ: {behaviour.reason}")
    if len(model.processes) != len(lowered.processes):
        problems.append("it claims to lose nothing, but a process was removed or added")
    return problems
