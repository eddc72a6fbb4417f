"""Legalisation: rewrites a model until a target supports everything in it.

After MLIR's dialect conversion: constructs (plain and derived) are legal, legal under a predicate,
or illegal with a reason; lowerings rewrite illegal ones; each must lower its own measure, so
planning ends; lossless ones come before lossy ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orgflow_ir.diagnostics import Severity
from orgflow_ir.model import Element, Flow, MessageFlow, Model
from orgflow_ir.model.constructs import ConstructUse, plain_constructs
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.manager import report_breaches, verifying
from orgflow_ir.pipeline.outside import validated_model

if TYPE_CHECKING:
    from orgflow_ir.plugins import Registry
from orgflow_ir.targets.lowering import Lowering
from orgflow_ir.targets.rules import IllegalConstruct, LossyLowering, LoweredConstruct
from orgflow_ir.targets.spec import Illegal, LegalIf, TargetSpec


def constructs(model: Model, spec: TargetSpec, ctx: PassContext) -> list[ConstructUse]:
    """Every use of a construct in the model, plain ones first, then the target's derived ones."""
    uses = list(plain_constructs(model))
    for derive in spec.derivations:
        uses.extend(derive(model, ctx))
    return uses


def illegal_uses(
    model: Model, spec: TargetSpec, ctx: PassContext
) -> list[tuple[ConstructUse, str, str]]:
    """Uses that are not legal, each with the reason and what to do."""
    found = []
    for use in constructs(model, spec, ctx):
        verdict = spec.legality(use.construct)
        if isinstance(verdict, Illegal):
            found.append((use, use.reason or verdict.reason, verdict.help))
        elif isinstance(verdict, LegalIf) and not verdict.test(use, model, ctx):
            found.append((use, f"it is legal only if {verdict.reason}", ""))
    return found


def extended(spec: TargetSpec, registry: Registry | None) -> TargetSpec:
    """The target with the lowerings that plugins add to it."""
    added = registry.lowerings.get(spec.name, ()) if registry is not None else ()
    return replace(spec, lowerings=(*spec.lowerings, *added)) if added else spec


class PlanError(RuntimeError):
    """A lowering that does not lower its measure: a defect of the backend."""


def legalise(model: Model, spec: TargetSpec, ctx: PassContext, *, allow_lossy: bool) -> Model:
    """Rewrite `model` until everything in it is legal for `spec`, or say what is not.

    Emits OF401 for each rewritten element, OF402 for lossy rewriting that is not allowed, OF403
    for what no lowering takes: one diagnostic an element. Raises `PlanError`.
    """
    spec = extended(spec, ctx.registry)
    while True:
        illegal = illegal_uses(model, spec, ctx)
        if not illegal:
            return model
        step = _next_lowering(illegal, model, spec, ctx, allow_lossy)
        if step is None:
            break
        before, original = step.measure(model, ctx), model
        model, notes = step.apply(model, ctx)
        model = validated_model(step, model, original)
        if verifying():
            report_breaches(original, model, f"lowering `{step.name}`", ctx)
        if step.measure(model, ctx) >= before:
            raise PlanError(f"lowering `{step.name}` does not lower its measure ({before})")
        for note in notes:
            lost = f"; lost: {step.loses}" if step.loses else ""
            ctx.emit(
                LossyLowering if step.loses else LoweredConstruct,
                note + lost,
                severity=Severity.WARNING if step.loses else None,
            )
    _report(illegal, model, spec, ctx)
    return model


def _next_lowering(
    illegal: list[tuple[ConstructUse, str, str]],
    model: Model,
    spec: TargetSpec,
    ctx: PassContext,
    allow_lossy: bool,
) -> Lowering | None:
    ordered = sorted(spec.lowerings, key=lambda low: low.loses is not None)
    for low in ordered:
        if low.loses is not None and not allow_lossy:
            continue
        wanted = any(
            use.construct == c or use.construct.startswith(c + ".")
            for use, _, _ in illegal
            for c in low.consumes
        )
        if wanted and low.measure(model, ctx) > 0:
            return low
    return None


def spoken(element: Element, model: Model) -> str:
    """How a message names an element: its label, or for a flow without one its two ends."""
    if element.name.strip() or not isinstance(element, Flow | MessageFlow):
        return f"`{element.label}`"
    labels = {n.id: n.label for scope in model.scopes() for n in scope.nodes}
    labels |= {p.id: p.label for p in model.pools}
    source, target = (labels.get(end, end) for end in (element.source, element.target))
    kind = "message flow" if isinstance(element, MessageFlow) else "flow"
    return f"the {kind} from `{source}` to `{target}`"


def _report(
    illegal: list[tuple[ConstructUse, str, str]], model: Model, spec: TargetSpec, ctx: PassContext
) -> None:
    told: set[str] = set()
    lossy = [low for low in spec.lowerings if low.loses is not None]
    for use, reason, help_text in illegal:
        if use.element.id in told:
            continue
        told.add(use.element.id)
        way = next(
            (low for low in lossy if any(use.construct.startswith(c) for c in low.consumes)), None
        )
        if way is not None:
            ctx.emit(
                LossyLowering,
                f"{spoken(use.element, model)} ({use.construct}) can only be approximated on "
                f"{spec.name}: {way.loses} would be lost",
                element=use.element,
                help="--allow-lossy accepts it",
            )
            continue
        ctx.emit(
            IllegalConstruct,
            f"{spec.name} cannot run {spoken(use.element, model)} ({use.construct}): {reason}",
            element=use.element,
            help=help_text or None,
        )
