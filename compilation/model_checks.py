"""The checks of a model: which passes run, and the gaps that they leave."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from orgflow.passes.pipelines import CHECK, GAPS, ON_REQUEST

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.pipeline import AfterEach, Pass, PassContext, PassManager, Stage
from orgflow_ir.pipeline.leaves import Leaves
from orgflow_ir.plugins.contracts import Backend

if TYPE_CHECKING:
    from orgflow.passes import optional
else:  # an optional pass was asked for
    optional = LazyModule("orgflow.passes.optional")


def check_model(
    model: Model,
    ctx: PassContext,
    *,
    last: Stage = Stage.ANALYSE,
    after_each: Sequence[AfterEach] = (),
    without: Collection[str] = (),
) -> Model:
    """Run the passes of `check`, except those in `without`, and the plugins' passes up to stage
    `last`; findings are in `ctx`, whose `grading` and `passes` may add or omit some."""
    passes = [p for p in (*CHECK, *_optional_passes(ctx)) if p.name not in without]
    passes = [*add_outside_passes(passes, ctx.registry, last)]
    if ctx.passes:
        on_request = (p for p in ON_REQUEST if p.name in ctx.passes)
        passes = _configure_passes([*passes, *on_request], ctx)
    return PassManager(passes, after_each).run(model, ctx)


def check_gaps(model: Model, ctx: PassContext, own: Backend | None = None) -> None:
    """Report the gaps of a model as it was read. Errors come first: missing information would hide
    a remaining error. `own` is the backend whose format the model was read from, since its lint may
    find gaps itself."""
    without = own.lint_replaces if own is not None else ()
    if not ctx.has_errors and "gaps" not in without:
        PassManager(_configure_passes(GAPS, ctx) if ctx.passes else GAPS).run(model, ctx)


def check_messages(model: Model, ctx: PassContext) -> None:
    """Run the passes that are run on request only: they simulate all pools together."""
    rest = [p for p in ON_REQUEST if ctx.passes.get(p.name) is None]
    PassManager(rest).run(model, ctx)


def needs_diagram(ctx: PassContext) -> bool:
    """Whether an enabled rule is about the diagram of a model, which then has to be read."""
    return any(p.looks_at_diagram for p in _optional_passes(ctx))


def add_outside_passes(
    passes: Sequence[Pass], registry: Leaves | None, last: Stage
) -> tuple[Pass, ...]:
    """`passes` with those of plugins, up to stage `last`, at the end of their stages by name."""
    outside = [
        cls
        for cls in (registry.outside_passes if registry is not None else {}).values()
        if cls.stage <= last
    ]
    result = list(passes)
    for cls in outside:  # the registry is sorted by name
        after = [i for i, item in enumerate(result) if item.stage <= cls.stage]
        result.insert(after[-1] + 1 if after else 0, cls())
    return tuple(result)


def _optional_passes(ctx: PassContext) -> list[Pass]:
    """The passes of optional rules of which some rule is on."""
    if not ctx.grading.severities:
        return []

    return [p for p in optional.OPTIONAL if any(ctx.grading.reports(rule) for rule in p.rules)]


def _configure_passes(passes: Iterable[Pass], ctx: PassContext) -> list[Pass]:
    """The passes with the options that `ctx.passes` has for them, without those that are off."""
    chosen = [ctx.passes.get(p.name, p) for p in passes]
    return [p for p in chosen if p is not None]
