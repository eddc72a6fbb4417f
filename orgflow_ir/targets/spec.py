"""What a target supports, as data: legality per construct, derivations, lowerings, options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from orgflow_ir.model import Model, Process
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.lowering import RewritePattern

if TYPE_CHECKING:
    from orgflow_ir.diagnostics import Rule


class Legal(NamedTuple):
    """The target supports this directly. `note`: what a reader of the matrix should know."""

    note: str = ""


class LegalIf(NamedTuple):
    """Legal where `test(use, model, ctx)` holds; `reason` completes "`X` is legal only if …".

    `because(use, model, ctx)`: what in this model contradicts it, where that can be named. `help`
    says what to do. `yet`: elsewhere it is orgflow that does not emit it.
    """

    test: Callable[[ConstructUse, Model, PassContext], bool]
    reason: str
    because: Callable[[ConstructUse, Model, PassContext], str] | None = None
    help: str = ""
    yet: bool = False


class Illegal(NamedTuple):
    """The target does not support this, or (`yet`) orgflow does not emit it; `reason` is shown to
    the user. `help` is the remedy; `rule` reports it, OF403 where there is none.
    `because(use, model, ctx)`: why just this use is left, where patterns rewrite others; nothing
    where the reason for all of them says it."""

    reason: str
    help: str = ""
    yet: bool = False
    rule: type[Rule] | None = None
    because: Callable[[ConstructUse, Model, PassContext], str] | None = None


Legality = Legal | LegalIf | Illegal

UNSUPPORTED = "unsupported"
"""The option of targets that have stubs: `refuse` what is not supported, or make it a `stub`."""

STUB = "stub"
"""The value of that option, the construct, and the tag of the elements."""

Derivation = Callable[[Model, PassContext], Iterable[ConstructUse]]
"""An analysis that attaches derived constructs (`join.wide`, `wait.parallel`) to elements."""


@dataclass(frozen=True, eq=False, repr=False)
class TargetSpec:
    """A target: its legality table (longest dotted prefix wins, undeclared is illegal), derived
    constructs, lowerings in order, and options with their default and allowed values. What does not
    run (`executes`: a drawing, a document) is made of models with flow errors, too. `consequences`
    says by the code of a finding what it does on this target, `values` by the name of an
    option that takes any text why one cannot be its value.

    A target whose table supports `stub` has the option `unsupported`, too: with `stub` everything
    that it does not support becomes a stub. A run that reaches one has to fail there, whatever
    handlers of errors the model has, with the reason (`Opaque.stops`)."""

    name: str
    constructs: Mapping[str, Legality]
    derivations: tuple[Derivation, ...] = ()
    lowerings: tuple[RewritePattern, ...] = ()
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    wants_diagram: bool = False
    executes: bool = True
    consequences: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Callable[[str], str | None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.stubs and UNSUPPORTED not in self.options:
            options = {**self.options, UNSUPPORTED: ("refuse", STUB)}
            object.__setattr__(self, "options", options)

    @property
    def stubs(self) -> bool:
        """Whether it can stop a run in the place of what it does not support."""
        return isinstance(self.legality(STUB), Legal)

    @property
    def default_options(self) -> dict[str, str]:
        """The first value of every option that has one."""
        return {name: values[0] for name, values in self.options.items() if values}

    def legality(self, construct: str) -> Legality:
        """The verdict on a construct by its longest declared prefix."""
        parts = construct.split(".")
        for end in range(len(parts), 0, -1):
            found = self.constructs.get(".".join(parts[:end]))
            if found is not None:
                return found
        return Illegal(f"the table of {self.name} does not name it", yet=True)


def support_level(spec: TargetSpec, construct: str) -> str:
    """How far a target supports a construct: a cell of the matrix.

    Returns:
        `supported` (as it is), `lowered` (rewritten without loss), `conditional` (where the test of
        its `LegalIf` holds), `degraded` (only by a lowering that loses something), or `refused`.
    """
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
