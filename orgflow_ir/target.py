"""What a target can say, as data, and the plan that rewrites a model into it (legalisation).

After MLIR's dialect conversion: constructs (plain and derived) are legal, legal under a predicate,
or illegal with a reason; lowerings rewrite illegal ones; each must lower its own measure, so
planning ends; lossless ones come before lossy ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from orgflow_ir.diagnostics import Rule, Severity
from orgflow_ir.model import Element, Flow, MessageFlow, Model, Process
from orgflow_ir.pass_manager import PassContext, report_breaches, verifying
from orgflow_ir.walk import ConstructUse, plain_constructs

if TYPE_CHECKING:
    from orgflow_ir.plugins import Registry


class Legal(NamedTuple):
    """The target says this as it is. `note`: what a reader of the matrix should know."""

    note: str = ""


class LegalIf(NamedTuple):
    """Legal where `test(use, model, ctx)` holds; `reason` completes "`X` is legal only if …"."""

    test: Callable[[ConstructUse, Model, PassContext], bool]
    reason: str


class Illegal(NamedTuple):
    """The target cannot say this; `reason` is shown to the user. `help` says what to do."""

    reason: str
    help: str = ""


Legality = Legal | LegalIf | Illegal

Derivation = Callable[[Model, PassContext], Iterable[ConstructUse]]
"""An analysis that attaches derived constructs (`join.wide`, `wait.parallel`) to elements."""


class Lowering(ABC):
    """Rewrites what a target cannot say into what it can.

    `consumes` are constructs (prefixes) it removes, `produces` those it may introduce; a lossy
    one names what it loses. `measure` is a natural number that every `apply` strictly lowers.
    """

    name: ClassVar[str]
    consumes: ClassVar[tuple[str, ...]]
    produces: ClassVar[tuple[str, ...]] = ()
    loses: ClassVar[str | None] = None

    @abstractmethod
    def measure(self, model: Model, ctx: PassContext) -> int:
        """How much is left to rewrite; 0 when nothing is."""

    @abstractmethod
    def apply(self, model: Model, ctx: PassContext) -> tuple[Model, tuple[str, ...]]:
        """The rewritten model and a line for each element rewritten (what became of it)."""


class AddedLowering(NamedTuple):
    """A lowering that a plugin adds to a target that is there already, by the target's name. It
    comes after the target's own lowerings, and never in place of what the target says itself."""

    target: str
    lowering: Lowering


@dataclass(frozen=True)
class TargetSpec:
    """A target: its legality table (longest dotted prefix wins, undeclared is illegal), derived
    constructs, lowerings in order, and options with their default and allowed values. What does not
    run (`executes`: a drawing, a document) is made of models with flow errors, too. `consequences`
    says by the code of a finding what it does on this target."""

    name: str
    constructs: Mapping[str, Legality]
    derivations: tuple[Derivation, ...] = ()
    lowerings: tuple[Lowering, ...] = ()
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    wants_diagram: bool = False
    executes: bool = True
    consequences: Mapping[str, str] = field(default_factory=dict)

    def legality(self, construct: str) -> Legality:
        """The verdict on a construct by its longest declared prefix."""
        parts = construct.split(".")
        for end in range(len(parts), 0, -1):
            found = self.constructs.get(".".join(parts[:end]))
            if found is not None:
                return found
        return Illegal(f"{self.name} has no way to say it")


class LoweredConstruct(Rule):
    """
    What it finds
        A construct the target does not have was rewritten, without loss, into what it has.
    Why it is wrong
        Nothing is wrong; the result has other elements than the drawing, and this says which.
    Example
        A gateway that both joins and splits becomes a join followed by a split.
    Instead
        Nothing to do.
    """

    code = "OF401"
    name = "lowered-construct"
    severity = Severity.INFO


class LossyLowering(Rule):
    """
    What it finds
        A construct the target can only approximate.
    Why it is wrong
        The workflow would do something other than the model says; the message names what is lost.
    Example
        A target without timers leaves a timer event out.
    Instead
        Change the model, choose another target, or accept the loss with --allow-lossy.
    """

    code = "OF402"
    name = "lossy-lowering"
    severity = Severity.ERROR


class IllegalConstruct(Rule):
    """
    What it finds
        A construct that the target cannot say and that no lowering rewrites.
    Why it is wrong
        Leaving it out would compile something else than the model says.
    Example
        A complex gateway, for n8n.
    Instead
        The message gives the target's reason; `orgflowc list constructs --matrix` shows what each
        target can say.
    """

    code = "OF403"
    name = "illegal-construct"
    severity = Severity.ERROR


TARGET_RULES: tuple[type[Rule], ...] = (LoweredConstruct, LossyLowering, IllegalConstruct)


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


def coverage(spec: TargetSpec, construct: str) -> str:
    """`supported`, `conditional`, `lowered`, `degraded` or `refused`: a cell of the matrix."""
    verdict = spec.legality(construct)
    if isinstance(verdict, Legal):
        return "supported"
    ways = [
        low
        for low in spec.lowerings
        if any(construct == c or construct.startswith(c + ".") for c in low.consumes)
    ]
    if any(low.loses is None for low in ways):
        return "lowered"
    if isinstance(verdict, LegalIf):
        return "conditional"
    return "degraded" if ways else "refused"


def executable_processes(model: Model) -> tuple[Process, ...]:
    """Processes that hold anything to run: those with at least one node."""
    return tuple(p for p in model.processes if p.nodes)
