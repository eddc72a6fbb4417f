"""The compilation context: diagnostics found so far, options, cached analyses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from orgflow_ir.diagnostics import Diagnostic, Fix, Related, Rule, Severity, Step
from orgflow_ir.model import Element
from orgflow_ir.model.source import SourceLocation

if TYPE_CHECKING:
    from orgflow_ir.plugins import Registry
    from orgflow_ir.targets import TargetSpec


V = TypeVar("V")

R = TypeVar("R")


@dataclass
class PassContext:
    """What a run shares: diagnostics found so far, the target, options, cached analyses.

    `severities` maps codes to the severity a command gives them (`compile`: work done twice is a
    warning); a diagnostic carries the mapped one. `registry` reaches other leaves by name.
    """

    registry: Registry | None = None
    target: TargetSpec | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    severities: Mapping[str, Severity] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    current: str | None = None
    _cache: dict[tuple[Callable[..., Any], int], tuple[Any, Any]] = field(default_factory=dict)

    def emit(
        self,
        rule: type[Rule],
        message: str,
        *,
        element: Element | str | None = None,
        loc: SourceLocation | None = None,
        help: str | None = None,
        related: Iterable[Related] = (),
        trace: Iterable[Step] = (),
        fix: Fix | None = None,
        severity: Severity | None = None,
    ) -> Diagnostic:
        """Record a diagnostic of `rule`; place and id are taken from `element` where it is one.

        `severity` lowers or raises this one finding; a command's mapping of the code wins.
        """
        if isinstance(element, Element):
            loc = loc or element.loc
            element = element.id
        if not (
            isinstance(message, str)
            and isinstance(element, str | None)
            and isinstance(help, str | None)
        ):  # a plugin's; reporters take text
            message, element, help = _text(message), _text(element), _text(help)
        consequence = self.target.consequences.get(rule.code) if self.target is not None else None
        if consequence is not None and self.target is not None:
            related = (*related, Related(message=f"on {self.target.name} {consequence}"))
        # Not validated: all parts are typed, and building the validator takes more than a compile.
        diagnostic = Diagnostic(
            code=rule.code,
            name=rule.name,
            severity=self.severities.get(rule.code, severity or rule.severity),
            message=message or "",
            category=rule.category,
            target=rule.target,
            element=element,
            loc=loc,
            related=tuple(related),
            trace=tuple(trace),
            help=help,
            fix=fix,
            source=self.current,
        )
        self.diagnostics.append(diagnostic)
        return diagnostic

    def analysis(self, function: Callable[[V], R], value: V) -> R:
        """`function(value)`, computed once for this very value (values are immutable)."""
        key = (function, id(value))
        hit = self._cache.get(key)
        if hit is None or hit[0] is not value:
            hit = self._cache[key] = (value, function(value))
        result: R = hit[1]
        return result

    @property
    def has_errors(self) -> bool:
        """Whether anything found so far is an error."""
        return any(d.severity is Severity.ERROR for d in self.diagnostics)


def _text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else str(value)
