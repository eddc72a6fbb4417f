"""What a lowering promises: it lowers its measure, keeps a model sound, and loses what it says."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.analysis.token_game.trace_equivalence import compare_processes
from orgflow_ir.model import Model
from orgflow_ir.model.verifier import breaches
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets import Lowering
from orgflow_ir.testing.conformance.shapes import shapes
from orgflow_ir.testing.conformance.words import KEBAB
from orgflow_ir.testing.minimal import minimal_models

MOST = 200
"""Times that one lowering is applied to a small model, at most."""

LIMIT = 2_000
"""Steps of the token game spent on comparing two processes."""


def lowering_problems(
    lowerings: Iterable[Lowering], models: Iterable[tuple[str, Model]] | None = None
) -> list[str]:
    """All problems of lowerings, each tried with every model it has something to do in."""
    items = [*minimal_models(), *shapes()] if models is None else list(models)
    lowerings = tuple(lowerings)
    names = [low.name for low in lowerings]
    problems = [f"two lowerings are called `{n}`" for n in sorted(set(names)) if names.count(n) > 1]
    for low in lowerings:
        own = [] if KEBAB.fullmatch(low.name) else ["its name is not words with hyphens between"]
        own += _declared(low)
        for name, model in items:
            own += [f"{name}: {p}" for p in _model_problems(low, model)]
        problems += [f"lowering `{low.name}`: {p}" for p in own]
    return problems


def _declared(low: Lowering) -> list[str]:
    problems = []
    if not isinstance(low.consumes, tuple) or not low.consumes:
        problems.append(f"`consumes` is {low.consumes!r}, not a tuple of constructs")
    if not isinstance(low.produces, tuple):
        problems.append(f"`produces` is {low.produces!r}, not a tuple of constructs")
    if low.loses is not None and not low.loses.strip():
        problems.append("`loses` is empty: say what is lost, or `None`")
    return problems


def _model_problems(low: Lowering, model: Model) -> list[str]:
    try:
        return _try(low, model)
    except Exception as error:  # noqa: BLE001  # "never raises" is what is tested
        return [f"raised {type(error).__name__}: {error}"]


def _try(low: Lowering, model: Model) -> list[str]:
    now, times = model, 0
    left = low.measure(now, PassContext())
    while left > 0 and times < MOST:
        text = now.to_json()
        after, notes = low.apply(now, PassContext())
        if now.to_json() != text:
            return ["it changed the model it was given"]
        if low.apply(now, PassContext()) != (after, notes):
            return ["the second time it does something else with the same model"]
        rest = low.measure(after, PassContext())
        if rest >= left:
            return [f"it does not lower its measure ({left}, then {rest})"]
        if not notes:
            return ["it rewrote something and gave no note of it"]
        now, left, times = after, rest, times + 1
    broken = sorted(breaches(now) - breaches(model))
    if broken or now is model or low.loses is not None:
        return broken
    return _other_runs(model, now)


def _other_runs(model: Model, lowered: Model) -> list[str]:
    """For a lowering that claims to lose nothing: the same runs, seen through what both have."""
    problems = []
    for old, new in zip(model.processes, lowered.processes, strict=False):
        kept = {n.id for s in new.scopes() for n in s.nodes}
        pairs = {n.id: n.id for s in old.scopes() for n in s.nodes if n.id in kept}
        found = compare_processes((model, old), (lowered, new), pairs, limit=LIMIT)
        if found.verdict == "different":
            problems.append(f"it claims to lose nothing, but the runs differ: {found.reason}")
    if len(model.processes) != len(lowered.processes):
        problems.append("it claims to lose nothing, but a process is gone or new")
    return problems
