"""The compilation context: diagnostics found so far, options, cached analyses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from orgflow_ir.diagnostics import Diagnostic, Fix, Related, Rule, Severity, Step
from orgflow_ir.diagnostics.grading import Grading
from orgflow_ir.model import Element, Model, Scope
from orgflow_ir.model.element_names import ElementNames, one_line
from orgflow_ir.model.evidence import Evidence
from orgflow_ir.model.provenance import elements_by_id, source_ids
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.pipeline.services import Services

if TYPE_CHECKING:
    from orgflow_ir.pipeline.leaves import Leaves
    from orgflow_ir.pipeline.passes import Pass
    from orgflow_ir.targets.spec import TargetSpec


MAX_PASSAGES = 2
"""So many of the passages that an element rests on are shown with a diagnostic about it."""

Advice = Callable[[], tuple[Fix | None, str | None]]
"""Finds a fix and the help that goes with it."""

V = TypeVar("V")

R = TypeVar("R")


@dataclass(eq=False, repr=False)
class PassContext:
    """What a run shares: diagnostics found so far, the target, options, cached analyses.

    `severities` maps codes to the severity a command gives them (`compile`: duplicate execution is
    a warning); a diagnostic carries the mapped one. `registry` reaches other leaves by name,
    `services` what the caller provides: a language model, a budget, progress, cancellation.
    `source` is the model as it was read: what passes and lowerings make is reported as the source
    elements that it is derived from; `file` is the file that it was read from, for findings that
    have no other place. `given` are the files of the command, in which called processes are looked
    for. `grading` turns optional rules on: findings of the others are not recorded. `passes` are
    instances that replace those of a pipeline by name, with other options; `None` leaves a pass
    out.
    """

    registry: Leaves | None = None
    target: TargetSpec | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    severities: Mapping[str, Severity] = field(default_factory=dict)
    current: str | None = None
    source: Model | None = None
    file: str = ""
    given: Sequence[str] = ()
    grading: Grading = Grading()  # noqa: RUF009  # a tuple, never changed
    passes: Mapping[str, Pass | None] = field(default_factory=dict)
    _made: Mapping[str, Element] = field(default_factory=dict)
    services: Services = field(default_factory=Services)
    _found: list[Diagnostic] = field(default_factory=list)
    _advice: list[tuple[int, Advice, dict[str, str]]] = field(default_factory=list)
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
        advice: Advice | None = None,
    ) -> Diagnostic:
        """Record a diagnostic of `rule`; place and id are taken from `element` where it is one. A
        made element is reported as the source element it is derived from: by its id, its label in
        the texts, and its place where the made one has none; without any place it is in the file
        of the source. The passages of documents that it
        rests on follow what is related.

        `severity` lowers or raises this one finding; a command's mapping of the code wins.
        `advice` gives the fix and the help in place of `fix` and `help`, once somebody reads the
        diagnostics: for what takes longer to find than the fault. It is not in the diagnostic that
        is given back; where it raises, the pass is reported as crashed.
        """
        if isinstance(element, str):
            element = self._made.get(element, element)
        names: dict[str, str] = {}
        if isinstance(element, Element):
            drawn = self.drawn(element)
            loc = loc or element.loc or drawn.loc
            names[f"`{element.label}`"] = f"`{drawn.label}`"
            passages = (drawn.evidence or element.evidence)[:MAX_PASSAGES]
            related = (*related, *(_passage(evidence) for evidence in passages))
            element = drawn.id
        file = (self.source.source if self.source is not None else "") or self.file
        if loc is None and file:
            loc = SourceLocation(file=file)
        if not (
            isinstance(message, str)
            and isinstance(element, str | None)
            and isinstance(help, str | None)
        ):  # a plugin's; reporters take text
            message, element, help = _text(message) or "", _text(element), _text(help)
        for made, source in names.items():
            message, help = message.replace(made, source), help and help.replace(made, source)
        consequence = self.target.consequences.get(rule.code) if self.target is not None else None
        if consequence is not None and self.target is not None:
            related = (*related, Related(message=f"on {self.target.name} {consequence}"))
        # Not validated: all parts are typed, and building the validator takes more than a compile.
        diagnostic = Diagnostic(
            code=rule.code,
            name=rule.name,
            severity=self.severities.get(rule.code, severity or rule.severity),
            message=message,
            category=rule.category,
            target=rule.target,
            element=element,
            loc=loc,
            related=tuple(self._about_source(r) for r in related) if self._made else tuple(related),
            trace=tuple(trace),
            help=help,
            fix=fix,
            source=self.current,
        )
        if not rule.optional or self.grading.reports(rule):
            if advice is not None:
                self._advice.append((len(self._found), advice, names))
            self._found.append(diagnostic)
        return diagnostic

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What was found so far, to read and to change; advice that waits for being read is looked
        for now."""
        self.advise()
        return self._found

    @diagnostics.setter
    def diagnostics(self, found: list[Diagnostic]) -> None:
        self._advice.clear()
        self._found = found

    @property
    def count(self) -> int:
        """How many diagnostics there are."""
        return len(self._found)

    def advise(self) -> None:
        """Compute the pending advice: fixes and help of diagnostics."""
        if not self._advice:
            return
        from orgflow_ir.pipeline.manager import report_crash  # only for faulty models

        waiting = [*self._advice]
        self._advice.clear()
        for index, advice, names in waiting:
            try:
                fix, help = advice()
            except (Exception, SystemExit) as error:  # noqa: BLE001  # a broken pass must not hide what was found
                report_crash(self._found[index].source or "", error, self)
                continue
            for made, source in names.items():
                help = help and help.replace(made, source)
            self._found[index] = self._found[index].replace(fix=fix, help=help)

    def name(self, element: Element | str) -> str:
        """How messages name an element of the source: by its label, or by what is next to it."""
        if isinstance(element, Element):
            element = self.drawn(element)
        if self.source is not None:
            return self.analysis(ElementNames, self.source).name(element)
        return f"`{element if isinstance(element, str) else element.label}`"

    def full_name(self, element: Element) -> str:
        """As `name`, with what the element is: ``the user task `Check` ``."""
        element = self.drawn(element)
        if self.source is not None:
            return self.analysis(ElementNames, self.source).full_name(element)
        return self.name(element)

    def analysis(self, function: Callable[[V], R], value: V) -> R:
        """`function(value)`, computed once for this very value (values are immutable)."""
        key = (function, id(value))
        hit = self._cache.get(key)
        if hit is None or hit[0] is not value:
            hit = self._cache[key] = (value, function(value))
        result: R = hit[1]
        return result

    def scopes(self, model: Model) -> tuple[Scope, ...]:
        """Every process and sub-process of a model, outermost first, looked for once."""
        return self.analysis(_scopes, model)

    def drawn(self, element: Element) -> Element:
        """The first source element that a made one is derived from; itself where the source
        contains it, or nothing is known of the source."""
        if not element.derived_from or self.source is None:
            return element
        known = self.analysis(elements_by_id, self.source)
        return known.get(element.id) or known.get(source_ids(element)[0], element)

    def _about_source(self, related: Related) -> Related:
        made = self._made.get(related.element or "")
        return related if made is None else related.replace(element=self.drawn(made).id)

    def lowered(self, model: Model) -> None:
        """Know the elements that lowerings made, so diagnostics may name them by their ids."""
        self._made = {id: e for id, e in elements_by_id(model).items() if e.derived_from}

    @property
    def has_errors(self) -> bool:
        """Whether any finding so far is an unsuppressed error."""
        return any(d.severity is Severity.ERROR and d.suppressed is None for d in self._found)


def _scopes(model: Model) -> tuple[Scope, ...]:
    return tuple(model.scopes())


def _passage(evidence: Evidence) -> Related:
    line = evidence.lines[0] if evidence.lines is not None else None
    quote = one_line(evidence.quote)
    return Related(
        message=f'the text says "{quote}"',
        loc=SourceLocation(file=evidence.document, line=line, quote=evidence.quote),
    )


def _text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else str(value)
