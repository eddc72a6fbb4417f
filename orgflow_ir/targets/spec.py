"""Support of a target as data: legality per construct, derivations, lowerings, options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from orgflow_ir.model import Element, Model, Process
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.model.records import NamedTuple, dataclass
from orgflow_ir.pipeline.context import PassContext
from orgflow_ir.targets.lowering import RewritePattern

if TYPE_CHECKING:
    from orgflow_ir.diagnostics import Rule


class Reason(str):
    """Why a construct is not supported, as a text, with the elements that this is due to: where one
    of these is refused itself, the refusal of the construct is its consequence and not reported.
    `help` is the remedy for this reason, in place of that for the construct."""

    __slots__ = ("causes", "help")
    causes: tuple[Element, ...]
    help: str

    def __new__(cls, text: str, *causes: Element, help: str = "") -> Reason:
        """A text, its causes and the remedy."""
        reason = super().__new__(cls, text)
        reason.causes, reason.help = causes, help
        return reason


class Legal(NamedTuple):
    """The target supports this directly. `note`: a remark for readers of the matrix."""

    note: str = ""


class LegalIf(NamedTuple):
    """Legal if `test(use, model, ctx)` holds; `reason` completes "`X` is legal only if …".

    `because(use, model, ctx)`: the part of this model that contradicts it, if known. `help` is the
    remedy. `yet`: otherwise, the target supports it, but orgflow does not emit it.
    """

    test: Callable[[ConstructUse, Model, PassContext], bool]
    reason: str
    because: Callable[[ConstructUse, Model, PassContext], str] | None = None
    help: str = ""
    yet: bool = False


class Illegal(NamedTuple):
    """The target does not support this, or (`yet`) orgflow does not emit it; `reason` is shown to
    the user. `help` is the remedy; `rule` is the rule that reports it, by default OF403.
    `because(use, model, ctx)`: why this use remains although patterns rewrite others; empty if the
    general reason applies."""

    reason: str
    help: str = ""
    yet: bool = False
    rule: type[Rule] | None = None
    because: Callable[[ConstructUse, Model, PassContext], str] | None = None


Legality = Legal | LegalIf | Illegal

UNSUPPORTED = "unsupported"
"""The option of targets with stubs: `refuse` unsupported constructs, or make each a `stub`."""

STUB = "stub"
"""The value of that option, the construct, and the tag of the elements."""

Derivation = Callable[[Model, PassContext], Iterable[ConstructUse]]
"""An analysis that attaches derived constructs (`join.wide`, `wait.parallel`) to elements."""


@dataclass(frozen=True, eq=False, repr=False)
class TargetSpec:
    """A target: its legality table (longest dotted prefix wins, undeclared is illegal), derived
    constructs, lowerings in order, and options with their default and allowed values. A target that
    is not executed (`executes`), such as a diagram or a document, also accepts models with flow
    errors. `consequences` maps codes of findings to their effect on this target; `values` maps
    names of options that take any text to functions that return why a text is not a valid value.
    `resort` is called with a model of which lossless lowerings left something that is not legal: it
    may turn to another encoding, with which predicates of the table accept more, and returns
    whether it did.

    A target whose table supports `stub` also has the option `unsupported`; with the value `stub`,
    every unsupported construct becomes a stub. A run that reaches a stub has to fail there with the
    reason (`Opaque.stops`), regardless of the model's error handlers."""

    name: str
    constructs: Mapping[str, Legality]
    derivations: tuple[Derivation, ...] = ()
    lowerings: tuple[RewritePattern, ...] = ()
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    wants_diagram: bool = False
    executes: bool = True
    consequences: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Callable[[str], str | None]] = field(default_factory=dict)
    resort: Callable[[Model, PassContext], bool] | None = None

    def __post_init__(self) -> None:
        if self.stubs and UNSUPPORTED not in self.options:
            options = {**self.options, UNSUPPORTED: ("refuse", STUB)}
            object.__setattr__(self, "options", options)

    @property
    def stubs(self) -> bool:
        """Whether it can stop a run in place of an unsupported construct."""
        return isinstance(self.legality(STUB), Legal)

    @property
    def default_options(self) -> dict[str, str]:
        """The first value of every option that has one."""
        return {name: values[0] for name, values in self.options.items() if values}

    def changed_options(self, options: Mapping[str, Any]) -> dict[str, str]:
        """The options of this target whose values are not the defaults, by name."""
        default = self.default_options
        return {
            name: str(options[name])
            for name in self.options
            if name in options and options[name] != default.get(name)
        }

    def legality(self, construct: str) -> Legality:
        """The verdict on a construct by its longest declared prefix."""
        parts = construct.split(".")
        for end in range(len(parts), 0, -1):
            legality = self.constructs.get(".".join(parts[:end]))
            if legality is not None:
                return legality
        return Illegal(f"it is not in the table of {self.name}", yet=True)


def support_level(spec: TargetSpec, construct: str) -> str:
    """The level of support for a construct, which is a cell of the matrix.

    Returns: `supported` (unchanged), `lowered` (rewritten without loss), `conditional` (if the test
        of its `LegalIf` holds), `degraded` (only by a lowering that loses something), or `refused`.
    """
    verdict = spec.legality(construct)
    if isinstance(verdict, Legal):
        return "supported"
    lowerings = [
        low
        for low in spec.lowerings
        if low.reports is None
        and any(construct == c or construct.startswith(c + ".") for c in low.consumes)
    ]
    if any(low.loses is None for low in lowerings):
        return "lowered"
    if isinstance(verdict, LegalIf):
        return "conditional"
    return "degraded" if lowerings else "refused"


def executable_processes(model: Model) -> tuple[Process, ...]:
    """Processes with at least one node."""
    return tuple(p for p in model.processes if p.nodes)
