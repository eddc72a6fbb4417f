"""The contract of passes: a valid model stays valid, passes have no state, and analyses return
their input model."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.model import Model
from orgflow_ir.model.verifier import list_violations
from orgflow_ir.pipeline import (
    Pass,
    PassContext,
    PipelineError,
    Stage,
    parse_pipeline,
    print_pipeline,
)
from orgflow_ir.testing.conformance.words import name_problems, rule_problems, said_problems


def pass_problems(item: Pass, models: Iterable[tuple[str, Model]]) -> list[str]:
    """All problems of a pass, tried with each of `models`."""
    problems = name_problems(item.name) + rule_problems(item.rules) + _text_problems(item)
    if not isinstance(item.stage, Stage):
        return [*problems, f"`stage` is {item.stage!r}, not a `Stage`"]
    for name, model in models:
        problems += [f"{name}: {p}" for p in _model_problems(item, model)]
    return problems


def _text_problems(item: Pass) -> list[str]:
    """The pass as pipeline text, and back."""
    text = print_pipeline([item])
    try:
        back = parse_pipeline(text, {item.name: type(item)})
    except PipelineError as error:
        return [f"its pipeline text `{text}` cannot be read back: {error}"]
    except TypeError as error:  # an option without a default
        return [f"it cannot be constructed from its pipeline text `{text}`: {error}"]
    return [] if back == (item,) else [f"its pipeline text `{text}` gives a different pass"]


def _model_problems(item: Pass, model: Model) -> list[str]:
    text = model.to_json()
    try:
        first, diagnostics = _run_pass(item, model)
        second, said_again = _run_pass(item, Model.from_json(text))
        third, _ = _run_pass(item, first) if isinstance(first, Model) else (first, [])
    except (Exception, SystemExit) as error:  # noqa: BLE001  # "never raises" is what is tested
        return [f"raised {type(error).__name__}: {error}"]
    if not isinstance(first, Model):
        return [f"`run` returned {first!r}, not a model"]
    problems = said_problems(diagnostics, item.rules)
    if model.to_json() != text:
        problems.append("it changed its input model; a pass returns a new one")
    if first != second or diagnostics != said_again:
        problems.append("its result for the same model differs the second time")
    if item.stage <= Stage.ANALYSE and first is not model:
        problems.append("a pass that changes nothing must return the same object")
    if third != first:
        problems.append("it changes its own result when it is run again")
    problems += sorted(list_violations(first) - list_violations(model))
    return problems


def _run_pass(item: Pass, model: Model) -> tuple[Model, list[Diagnostic]]:
    ctx = PassContext()
    return item.run(model, ctx), ctx.diagnostics
