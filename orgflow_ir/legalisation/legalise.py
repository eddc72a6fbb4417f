"""Legalisation: rewrites a model until a target supports everything in it.

After MLIR's dialect conversion: constructs (plain and derived) are legal, legal under a predicate,
or illegal with a reason; patterns rewrite illegal uses: lossless ones in the first stage, lossy
ones only in the second, if they are allowed.

It terminates by construction. A pattern must not produce what it consumes, neither directly nor
through other patterns, so each pattern has a rank above those of all patterns that may consume its
products (`rank_patterns`). An illegal use has the rank of the highest pattern that matches it. Each
round must lower the multiset of these ranks: it may replace uses by any number of lower ones, and
such steps cannot continue indefinitely (Dershowitz and Manna, "Proving termination with multiset
orderings", 1979). A set of patterns without ranks is refused before anything is rewritten, and a
pattern that violates its declaration is stopped after one round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from orgflow_ir.diagnostics import Related, Rule, Severity
from orgflow_ir.diagnostics.core_rules import CrashedPass, FaultyLeaf
from orgflow_ir.flow.control_flow.graph import ControlFlow, list_reachable
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Element, Event, Flow, MessageFlow, Model, SubProcess
from orgflow_ir.model.constructs import ConstructUse, plain_constructs
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.model.index import ModelIndex
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.leaves import Leaves
from orgflow_ir.pipeline.manager import report_violations, verifies_models
from orgflow_ir.pipeline.outside import is_ours, validated_model
from orgflow_ir.pipeline.value_texts import exception_text, print_traceback
from orgflow_ir.targets.lowering import (
    PatternError,
    RewritePattern,
    Rewritten,
    covers_construct,
    rewrite_all,
)
from orgflow_ir.targets.spec import (
    STUB,
    UNSUPPORTED,
    Illegal,
    Legal,
    LegalIf,
    Reason,
    TargetSpec,
    executable_processes,
)
from orgflow_ir.targets.target_rules import (
    IllegalConstruct,
    LossyLowering,
    LoweredConstruct,
    UnsupportedStub,
)

if TYPE_CHECKING:
    import traceback

    from orgflow_ir.legalisation import stubs as stubbing
    from orgflow_ir.legalisation.stubs import Stub
    from orgflow_ir.model import provenance, verifier
    from orgflow_ir.pipeline import crashes
    from orgflow_ir.plugins.contracts import Backend
else:  # a fault of a lowering, checks of its result, and stubs
    stubbing = LazyModule("orgflow_ir.legalisation.stubs")
    provenance = LazyModule("orgflow_ir.model.provenance")
    verifier = LazyModule("orgflow_ir.model.verifier")
    crashes = LazyModule("orgflow_ir.pipeline.crashes")
    traceback = LazyModule("traceback")

MOST_ROUNDS = 1_000
"""Maximum number of rounds of rewriting; each round rewrites as many uses as possible, so even
deeply nested models need few."""


class IllegalUse(NamedTuple):
    """A use that a target does not support, with the reason and the remedy; `yet`: the target
    supports it, but orgflow does not emit it."""

    use: ConstructUse
    reason: str
    help: str
    yet: bool = False
    rule: type[Rule] = IllegalConstruct


def constructs(model: Model, spec: TargetSpec, ctx: PassContext) -> list[ConstructUse]:
    """Every use of a construct in the model, plain ones first, then the target's derived ones."""
    uses = list(plain_constructs(model))
    for derive in spec.derivations:
        uses.extend(derive(model, ctx))
    return uses


class _Doubts(dict[str, Illegal | LegalIf | None]):
    """The verdicts of a target on constructs; `None` for those that are legal anyway."""

    def __init__(self, spec: TargetSpec) -> None:
        self._spec = spec

    def __missing__(self, construct: str) -> Illegal | LegalIf | None:
        verdict = self._spec.legality(construct)
        self[construct] = doubt = verdict if isinstance(verdict, (Illegal, LegalIf)) else None
        return doubt


def illegal_uses(model: Model, spec: TargetSpec, ctx: PassContext) -> list[IllegalUse]:
    """Illegal uses, each with the reason and the remedy."""
    uses = []
    doubts = _Doubts(spec)
    doubtful_uses = list(plain_constructs(model, doubts.__getitem__))
    for derive in spec.derivations:
        doubtful_uses.extend([use for use in derive(model, ctx) if doubts[use.construct]])
    for use in doubtful_uses:
        verdict = doubts[use.construct]
        assert verdict is not None
        if isinstance(verdict, Illegal):
            because = verdict.because(use, model, ctx) if verdict.because is not None else ""
            reason = use.reason or because or verdict.reason
            rule = verdict.rule or IllegalConstruct
            help = _describe_remedy(use, reason, verdict, model, ctx)
            uses.append(IllegalUse(use, reason, help, verdict.yet, rule))
        elif not verdict.test(use, model, ctx):
            because = verdict.because(use, model, ctx) if verdict.because is not None else ""
            reason = because or f"it is supported only if {verdict.reason}"
            help = _describe_remedy(use, reason, verdict, model, ctx)
            uses.append(IllegalUse(use, reason, help, verdict.yet))
    return uses


def _describe_remedy(
    use: ConstructUse, reason: str, verdict: Illegal | LegalIf, model: Model, ctx: PassContext
) -> str:
    """What to do about a use: for its reason, or else for its construct."""
    if isinstance(reason, Reason) and reason.help:
        return reason.help
    if isinstance(use.element, MessageFlow) and verdict.help:
        return f"{verdict.help}: {ctx.analysis(_process_names, model)}"
    return verdict.help


def _process_names(model: Model) -> str:
    """What `--process` takes for each process: its label, its id where others have the label."""
    index, processes = ModelIndex(model), executable_processes(model)
    labels = [(index.pool(process.id) or process).label for process in processes]
    return join_listed(
        f"`{label if labels.count(label) == 1 else process.id}`"
        for label, process in zip(labels, processes, strict=True)
    )


def extended(spec: TargetSpec, registry: Leaves | None) -> TargetSpec:
    """The target with the lowerings that plugins add to it."""
    added = registry.lowerings.get(spec.name, ()) if registry is not None else ()
    return replace(spec, lowerings=(*spec.lowerings, *added)) if added else spec


def legalise(model: Model, spec: TargetSpec, ctx: PassContext, *, allow_lossy: bool) -> Model:
    """Rewrite `model` until everything in it is legal for `spec`, or report illegal uses.

    Reports OF401 for each rewritten element, OF402 for lossy rewriting (an error if it is not
    allowed), and OF403 for uses that no pattern matches, each about the source element, with at
    most one refusal per element. With the target's option `unsupported=stub`, remaining illegal
    uses become stubs instead (OF407). Patterns that break their contract are reported as OF903,
    built-in ones as OF901; the model then remains as it was before their last round.
    """
    spec = extended(spec, ctx.registry)
    if ctx.source is None:
        ctx.source = model
    done: list[Rewritten] = []
    stubs: list[Stub] = []
    try:
        illegal = _find_illegal(model, spec, ctx)
        if not illegal:
            return model
        ranks = rank_patterns(spec)
        for patterns in _list_stages(spec, allow_lossy):
            model, illegal = _rewrite_stage(model, illegal, patterns, _Plan(spec, ranks, ctx), done)
            if illegal and spec.resort is not None and spec.resort(model, ctx):
                illegal = _find_illegal(model, spec, ctx)
        if illegal and spec.stubs and ctx.options.get(UNSUPPORTED) == STUB:
            model, illegal = _stub_remaining(
                model, illegal, patterns, _Plan(spec, ranks, ctx), done, stubs
            )
    except _Fault as fault:
        fault.report(ctx)
        return model
    if done or stubs:
        ctx.lowered(model)
    refused = tuple(_list_refusals(illegal, ctx))
    _report_rewritten(done, {element.id for element, *_ in refused}, ctx)
    _report_stubs(stubs, spec, ctx)
    if refused or stubs:
        elements = [e for e, _ in refused] + [ctx.drawn(s.cut.use.element) for s in stubs]
        _drop_repeated((element.id for element in elements), ctx)
    refused = tuple(_without_content(refused, ctx))
    approximated: Mapping[str, str] = {}
    if refused and not allow_lossy and any(p.loses is not None for p in spec.lowerings):
        approximated = _try_approximations(model, illegal, _Plan(spec, rank_patterns(spec), ctx))
    _report_refused(_keep_causes(refused, ctx), approximated, spec, ctx)
    return model


def _find_illegal(model: Model, spec: TargetSpec, ctx: PassContext) -> list[IllegalUse]:
    """`illegal_uses`. Raises `_Fault` where a test or a derivation of the target fails."""
    backend = ctx.registry.backend(spec.name) if ctx.registry is not None else None
    if backend is None:
        return illegal_uses(model, spec, ctx)
    if is_ours(backend):
        try:
            return illegal_uses(model, spec, ctx)
        except Exception as error:
            if not crashes.is_fault(error):
                raise
            raise _Fault.of(f"target `{spec.name}`", error, ctx, backend) from error
    try:
        return illegal_uses(model, spec, ctx)
    except (Exception, SystemExit) as error:  # a plugin's functions must not end the program
        print_traceback(error)
        raise _Fault(
            f"target `{spec.name}` failed with {exception_text(error)} "
            "(ORGFLOW_DEBUG=1 shows where)",
            backend,
        ) from error


# -- ending ------------------------------------------------------------------------------------


class _Fault(Exception):
    """What is wrong with patterns, or with the target; the message is what is reported."""

    def __init__(
        self,
        message: str,
        *culprits: RewritePattern | Backend,
        element: Element | None = None,
    ) -> None:
        super().__init__(message)
        self.culprits = culprits
        self.element = element

    @classmethod
    def of(
        cls, what: str, error: BaseException, ctx: PassContext, culprit: RewritePattern | Backend
    ) -> _Fault:
        """An exception, with the element that it is about."""
        element = crashes.crash_element(error)
        at = f" at {ctx.name(element)}" if element is not None else ""
        where = traceback.extract_tb(error.__traceback__)[-1]
        message = f"{what} failed{at}: {exception_text(error)} ({where.name}, line {where.lineno})"
        return cls(message, culprit, element=element)

    def report(self, ctx: PassContext) -> None:
        """OF901 where all of it ships with orgflow, else OF903."""
        if all(map(is_ours, self.culprits)):
            help = "report this with the model"
            ctx.emit(CrashedPass, str(self), element=self.element, help=help)
        else:
            help = "update or uninstall the package that provides it"
            ctx.emit(FaultyLeaf, str(self), element=self.element, help=help)


@lru_cache(maxsize=32)
def rank_patterns(spec: TargetSpec) -> Mapping[str, int]:
    """A number for each pattern of a target, by name: above those of all patterns that may consume
    its products. No pattern takes a use that the target supports.

    Raises an exception that names the patterns if no such numbers exist.
    """
    patterns = {pattern.name: pattern for pattern in spec.lowerings}
    after = {
        name: [other.name for other in spec.lowerings if _may_take(other, pattern, spec)]
        for name, pattern in patterns.items()
    }
    ranks: dict[str, int] = {}
    path: list[str] = []

    def rank_of(name: str) -> int:
        if name in path:
            ring = path[path.index(name) :]
            members = [patterns[n] for n in ring]
            raise _Fault(_ring_message(members, spec), *members)
        if name not in ranks:
            path.append(name)
            ranks[name] = 1 + max((rank_of(other) for other in after[name]), default=0)
            path.pop()
        return ranks[name]

    for name in patterns:
        rank_of(name)
    return ranks


def _may_take(taker: RewritePattern, maker: RewritePattern, spec: TargetSpec) -> bool:
    """Whether something that `maker` produces may be illegal and rewritten by `taker`."""
    for produced in maker.produces:
        for taken in taker.consumes:
            if covers_construct(produced, taken) or covers_construct(taken, produced):
                narrower = max(produced, taken, key=len)
                if not _always_legal(narrower, spec):
                    return True
    return False


def _always_legal(prefix: str, spec: TargetSpec) -> bool:
    below = (verdict for name, verdict in spec.constructs.items() if covers_construct(prefix, name))
    return all(isinstance(verdict, Legal) for verdict in (spec.legality(prefix), *below))


def _ring_message(ring: Sequence[RewritePattern], spec: TargetSpec) -> str:
    if len(ring) == 1:
        return (
            f"lowering `{ring[0].name}` for {spec.name} produces what it rewrites "
            f"({', '.join(ring[0].consumes)}), so rewriting would not terminate"
        )
    names = " and ".join(f"`{pattern.name}`" for pattern in ring)
    return (
        f"lowerings {names} for {spec.name} rewrite each other's results, so rewriting would not "
        "terminate"
    )


class _Plan(NamedTuple):
    """What one legalisation goes by."""

    spec: TargetSpec
    ranks: Mapping[str, int]
    ctx: PassContext

    def weight(self, illegal: Iterable[IllegalUse]) -> Counter[int]:
        """How many illegal uses there are of each rank, without those that no pattern takes."""
        ranks = (
            max((self.ranks[p.name] for p in self.spec.lowerings if p.takes(i.use.construct)),
                default=0)
            for i in illegal
        )  # fmt: skip
        return Counter(rank for rank in ranks if rank)


def ranks_below(after: Mapping[int, int], before: Mapping[int, int]) -> bool:
    """Whether a multiset of ranks is below another: it has fewer of the highest rank at which they
    differ."""
    for rank in sorted({*after, *before}, reverse=True):
        if (now := after.get(rank, 0)) != (was := before.get(rank, 0)):
            return now < was
    return False


# -- rewriting ---------------------------------------------------------------------------------


def _list_stages(spec: TargetSpec, allow_lossy: bool) -> Iterator[tuple[RewritePattern, ...]]:
    """The patterns of each stage: lossless ones; then, where that is allowed, lossy ones after
    them."""
    lossless = tuple(p for p in spec.lowerings if p.loses is None)
    lossy = tuple(p for p in spec.lowerings if p.loses is not None)
    yield lossless
    if allow_lossy and lossy:
        yield (*lossless, *lossy)


def _rewrite_stage(
    model: Model,
    illegal: list[IllegalUse],
    patterns: tuple[RewritePattern, ...],
    plan: _Plan,
    done: list[Rewritten],
) -> tuple[Model, list[IllegalUse]]:
    """The model after all rounds of a stage, and what is still illegal; adds to `done`.

    Raises `_Fault`.
    """
    rounds = 0
    while illegal:
        outcome = _rewrite_round(model, illegal, patterns, plan)
        if outcome is None:
            break
        pattern, after, rewritten = outcome
        named = f"lowering {_name_pattern(pattern, plan)}"
        left = _find_illegal(after, plan.spec, plan.ctx)
        if not ranks_below(plan.weight(left), plan.weight(illegal)):
            element = plan.ctx.drawn(rewritten[0].use.element)
            raise _Fault(
                f"{named} does not terminate: after it rewrote `{element.label}`, as much remains "
                "to rewrite as before",
                pattern,
            )
        rounds += 1
        if rounds > MOST_ROUNDS:
            raise _Fault(f"{named} does not terminate within {MOST_ROUNDS} rounds", pattern)
        done += rewritten
        model, illegal = after, left
    return model, illegal


def _rewrite_round(
    model: Model, illegal: list[IllegalUse], patterns: tuple[RewritePattern, ...], plan: _Plan
) -> tuple[RewritePattern, Model, tuple[Rewritten, ...]] | None:
    """The first of the patterns that applies to anything, and what it made. Raises `_Fault`."""
    uses = [i.use for i in illegal]
    for pattern in patterns:
        if not any(pattern.takes(use.construct) for use in uses):
            continue
        named = _name_pattern(pattern, plan)
        try:
            after, rewritten = rewrite_all(pattern, uses, model, plan.ctx)
            after = validated_model(pattern, after, model)
            _check_result(pattern, model, after, plan.ctx)
        except PatternError as error:
            raise _Fault(f"lowering {named} {error}", pattern) from error
        except (Exception, SystemExit) as error:  # a plugin's pattern must not end the program
            raise _Fault.of(f"lowering {named}", error, plan.ctx, pattern) from error
        if verifies_models():
            report_violations(model, after, f"lowering `{pattern.name}`", plan.ctx)
        if rewritten:
            return pattern, after, rewritten
    return None


def _check_result(pattern: RewritePattern, before: Model, after: Model, ctx: PassContext) -> None:
    """Check that what a plugin's pattern made keeps the rules of the IR, is not empty, and is
    derived from elements of the source. Raises `PatternError`."""
    if after is before or is_ours(pattern):
        return

    broken = sorted(verifier.list_violations(after) - verifier.list_violations(before))
    if broken:
        raise PatternError(f"makes the model invalid: {broken[0]}")
    for scope in after.scopes():
        known = next((s for s in before.scopes() if s.id == scope.id), None)
        if known is not None and known.nodes and not scope.nodes:
            raise PatternError(f"removes everything in `{scope.label}`")
    source = ctx.source or before
    ids = {source.id, *(element.id for element in provenance.all_elements(source))}
    derived = {
        id: element for element in provenance.all_elements(after) for id in element.derived_from
    }
    bogus = sorted(
        set(derived) - ids - {i for e in provenance.all_elements(before) for i in e.derived_from}
    )
    if bogus:
        raise PatternError(
            f"declares `{derived[bogus[0]].label}` as derived from `{bogus[0]}`, which the "
            "source does not contain"
        )


def _name_pattern(pattern: RewritePattern, plan: _Plan) -> str:
    registry = plan.ctx.registry
    owner = registry.plugin_of(pattern) if registry is not None else None
    if owner is None and registry is not None and not is_ours(pattern):
        owner = registry.plugin_of(registry.backend(plan.spec.name))
    of = f" of plugin `{owner}`" if owner is not None else ""
    return f"`{pattern.name}`{of} for {plan.spec.name}"


def _stub_remaining(
    model: Model,
    illegal: list[IllegalUse],
    patterns: tuple[RewritePattern, ...],
    plan: _Plan,
    done: list[Rewritten],
    stubs: list[Stub],
) -> tuple[Model, list[IllegalUse]]:
    """The model with stubs for what patterns left, and what is still illegal; adds to `stubs`.

    Each round turns elements into stubs or takes flows away from one, so it ends. Patterns are
    tried again after each: a stub may be all that was in their way. Raises `_Fault`.
    """
    rounds = 0
    while illegal:
        cuts = [
            stubbing.Cut(
                item.use,
                _refusal_text(item, plan.ctx.drawn(item.use.element), plan.spec, plan.ctx),
                item.help,
            )
            for item in illegal
        ]
        # What is due to other elements may become legal without these.
        causes = _keep_causes(tuple(_list_refusals(illegal, plan.ctx)), plan.ctx)
        first = {element.id for element, _ in causes}
        outcome = stubbing.cut_out(
            model, [c for c in cuts if plan.ctx.drawn(c.use.element).id in first], plan.ctx
        ) or stubbing.cut_out(model, cuts, plan.ctx)
        if outcome is None:
            break
        rounds += 1
        if rounds > MOST_ROUNDS:
            raise _Fault(f"making stubs for {plan.spec.name} does not terminate")
        before = model
        model, made_stubs = outcome
        if verifies_models():
            report_violations(before, model, "stubs", plan.ctx)
        stubs += made_stubs
        illegal = illegal_uses(model, plan.spec, plan.ctx)
        model, illegal = _rewrite_stage(model, illegal, patterns, plan, done)
    return model, illegal


# -- reporting ---------------------------------------------------------------------------------


class _Refusal(NamedTuple):
    """A source element that is refused, and the use that it is refused for."""

    element: Element
    illegal: IllegalUse


def _list_refusals(illegal: Iterable[IllegalUse], ctx: PassContext) -> Iterator[_Refusal]:
    """One for each source element: what patterns made of it is refused under its name."""
    refused: set[str] = set()
    for item in illegal:
        element = ctx.drawn(item.use.element)
        if element.id not in refused:
            refused.add(element.id)
            yield _Refusal(element, item)


def _report_rewritten(done: Iterable[Rewritten], refused: set[str], ctx: PassContext) -> None:
    """What became of elements; of refused ones nothing becomes."""
    for pattern, use, note in done:
        if ctx.drawn(use.element).id in refused:
            continue
        lost = f"; lost: {pattern.loses}" if pattern.loses else ""
        ctx.emit(
            pattern.reports or (LossyLowering if pattern.loses else LoweredConstruct),
            note + lost,
            element=use.element,
            severity=Severity.WARNING if pattern.loses else None,
        )


def _without_content(refused: Sequence[_Refusal], ctx: PassContext) -> Iterator[_Refusal]:
    """The refusals without those of elements inside a refused event sub-process or reachable only
    through a refused boundary event: the event is their cause."""
    events = [item.use.element for _, item in refused]
    handlers = {e.id for e in events if isinstance(e, SubProcess) and e.flavour == "event"}
    borders = {e.id for e in events if isinstance(e, Event) and e.position == "boundary"}
    behind: dict[str, frozenset[str]] = {}
    """By scope what only these boundary events lead to."""
    for refusal in refused:
        element, scope = refusal.illegal.use.element, refusal.illegal.use.scope
        if scope is None or element.id in handlers | borders:
            yield refusal
            continue
        if scope.id not in behind:
            graph = ctx.analysis(ControlFlow, scope)
            reached = list_reachable(graph.sources, graph.successors)
            beside = list_reachable(graph.sources, graph.successors, frozenset(borders))
            behind[scope.id] = reached - beside
        # Lanes, data and artifacts are in no flow, and a cycle that nothing leads to is behind
        # nothing.
        at = element.source if isinstance(element, Flow) else element.id
        if scope.id not in handlers and at not in behind[scope.id]:
            yield refusal


def _keep_causes(refused: Sequence[_Refusal], ctx: PassContext) -> list[_Refusal]:
    """The refusals without those that are consequences of others, and one of those that have the
    same reason about the same other elements."""
    by_element = {element.id: (element, item) for element, item in refused}
    causes = {
        element.id: {
            cause.id
            for each in (item.reason.causes if isinstance(item.reason, Reason) else ())
            if (cause := ctx.drawn(each)).id != element.id and cause.id in by_element
        }
        for element, item in refused
    }
    kept: list[_Refusal] = []
    reported: set[tuple[str, ...]] = set()
    for refusal in refused:
        element, reason = refusal.element, refusal.illegal.reason
        if any(not _comes_from(cause, element.id, causes) for cause in causes[element.id]):
            continue
        if isinstance(reason, Reason) and reason.causes:
            key = (reason, *(cause.id for cause in reason.causes))
            if key in reported:
                continue
            reported.add(key)
        kept.append(refusal)
    return kept or list(refused)


def _comes_from(start: str, end: str, causes: Mapping[str, set[str]]) -> bool:
    """Whether a refusal is, through others, a consequence of another one."""
    seen, stack = {start}, [start]
    while stack:
        for cause in causes[stack.pop()]:
            if cause == end:
                return True
            if cause not in seen:
                seen.add(cause)
                stack.append(cause)
    return False


def _try_approximations(model: Model, illegal: list[IllegalUse], plan: _Plan) -> Mapping[str, str]:
    """What `--allow-lossy` would lose, by the ids of the source elements that it would make legal.

    Raises nothing: a pattern that fails here is reported when it is used.
    """
    patterns = (*(p for p in plan.spec.lowerings if p.loses is None),
                *(p for p in plan.spec.lowerings if p.loses is not None))  # fmt: skip
    done: list[Rewritten] = []
    try:
        _, left = _rewrite_stage(model, illegal, patterns, plan, done)
    except _Fault:
        return {}
    still = {plan.ctx.drawn(item.use.element).id for item in left}
    losses: dict[str, str] = {}
    for pattern, use, _ in done:
        if pattern.loses is not None:
            losses.setdefault(plan.ctx.drawn(use.element).id, pattern.loses)
    if not losses:
        return {}
    every = join_listed(dict.fromkeys(losses.values()))
    ids = dict.fromkeys(plan.ctx.drawn(item.use.element).id for item in illegal)
    return {id: losses.get(id, every) for id in ids if id not in still}


_REPEATED = ("OF120", "OF137")
"""Codes of findings of the checks that the refusal of the same element repeats."""


def _drop_repeated(ids: Iterable[str], ctx: PassContext) -> None:
    """Remove what the checks found about refused elements, where the refusal says the same."""
    refused = set(ids)
    ctx.diagnostics = [
        d for d in ctx.diagnostics if d.code not in _REPEATED or d.element not in refused
    ]


def _report_refused(
    refused: Iterable[_Refusal], approximated: Mapping[str, str], spec: TargetSpec, ctx: PassContext
) -> None:
    """OF402 for what `--allow-lossy` makes legal, with the loss; the rule of the construct for the
    rest. Message flows between processes that are refused for one reason are one finding."""
    every, flows = list(refused), _group_messages(refused)
    for element, item in every:
        if isinstance(element, MessageFlow) and flows.get(element.id) is None:
            continue  # the first of its kind names it
        if (lost := approximated.get(element.id)) is not None:
            ctx.emit(
                LossyLowering,
                f"{ctx.name(element)} ({item.use.construct}) can only be approximated on "
                f"{spec.name}: {lost} would be lost, since {item.reason}",
                element=element,
                help="--allow-lossy accepts it",
            )
            continue
        others = flows.get(element.id, [])
        ctx.emit(
            item.rule, _refusal_text(item, element, spec, ctx, len(others)), element=element,
            help=_help_text(item, element, spec, ctx),
            related=[Related(message=ctx.name(e), element=e.id, loc=e.loc) for e in others],
        )  # fmt: skip


def _group_messages(refused: Iterable[_Refusal]) -> dict[str, list[Element]]:
    """The other message flows that are refused, by the id of the first one."""
    flows = [element for element, _ in refused if isinstance(element, MessageFlow)]
    return {flows[0].id: list(flows[1:])} if flows else {}


def _is_rewritten(item: IllegalUse, element: Element) -> bool:
    """Whether what is refused was made of a sub-process: a gateway at which its ends meet …"""
    return isinstance(element, SubProcess) and not isinstance(item.use.element, SubProcess)


def _refusal_text(
    item: IllegalUse, element: Element, spec: TargetSpec, ctx: PassContext, others: int = 0
) -> str:
    """Why a use is refused, as a message about the source element, and that others are like it."""
    use = item.use
    more = f" and {others} more" if others else ""
    what = use.subject or f"{ctx.name(use.element)}{more} ({use.construct})"
    if not use.subject and _is_rewritten(item, element):
        what = f"what becomes of {ctx.full_name(element)} ({use.construct})"
    if item.yet:
        return f"orgflow does not support {what} on {spec.name} yet: {item.reason}"
    return f"{what} is not supported for {spec.name}: {item.reason}"


def _stub_text(use: ConstructUse) -> str:
    """What `unsupported=stub` makes of a use, after "compiles the rest"."""
    element, scope = use.element, use.scope
    handler = isinstance(scope, SubProcess) and scope.flavour == "event"
    if isinstance(element, SubProcess) and element.flavour == "event":
        return "without it"
    if isinstance(element, Event) and element.position == "start" and not handler:
        return "with a manual start"
    omitted = isinstance(element, Event) and element.position in ("boundary", "start")
    return "without it" if omitted or isinstance(element, MessageFlow) else "with a stop there"


def _help_text(
    item: IllegalUse, element: Element, spec: TargetSpec, ctx: PassContext
) -> str | None:
    """What to do about a refusal: what is said of the construct, and the way that is always
    there."""
    advice = [item.help] if item.help else []
    if advice and _is_rewritten(item, element):
        advice = [f"move the steps of {ctx.name(element)} into the parent process, and {item.help}"]
    if spec.stubs:
        option = f"--target '{spec.name}{{{UNSUPPORTED}={STUB}}}'"
        advice.append(f"{option} compiles the rest {_stub_text(item.use)}")
    return "; or ".join(advice) or None


def _report_stubs(stubs: Iterable[Stub], spec: TargetSpec, ctx: PassContext) -> None:
    """One finding an element; what was made of one is reported under its name."""
    reported: set[str] = set()
    for (use, reason, help_text), consequence in stubs:
        element = ctx.drawn(use.element)
        if element.id in reported:
            continue
        reported.add(element.id)
        ctx.emit(
            UnsupportedStub,
            f"{reason}; {consequence}",
            element=element,
            help=help_text
            or f"in the output for {spec.name}, replace the stop with an implementation",
        )
