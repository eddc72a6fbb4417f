"""The compilation context: diagnostics found so far, options, cached analyses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeVar

from orgflow_ir.diagnostics import Diagnostic, Fix, Related, Rule, Severity, Step
from orgflow_ir.diagnostics.grading import Grading
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Element, Model, Scope
from orgflow_ir.model.element_names import ElementNames, one_line
from orgflow_ir.model.evidence import Evidence
from orgflow_ir.model.provenance import elements_by_id, source_ids
from orgflow_ir.model.records import dataclass
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.pipeline.run_state import RunState
from orgflow_ir.pipeline.services import Services

if TYPE_CHECKING:
    from orgflow_ir.pipeline import crashes
    from orgflow_ir.pipeline.leaves import Leaves
    from orgflow_ir.pipeline.passes import Pass
    from orgflow_ir.pipeline.run_target import RunTarget
else:  # after a crash
    crashes = LazyModule("orgflow_ir.pipeline.crashes")


MAX_PASSAGES = 2
"""Maximum number of supporting passages shown with a diagnostic about an element."""

Advice = Callable[[], tuple[Fix | None, str | None]]
"""Finds a fix and its help text."""

V = TypeVar("V")

R = TypeVar("R")


@dataclass(eq=False, repr=False)
class PassContext(RunState):
    """The state shared by a run: diagnostics found so far, the target, options, cached analyses.

    `severities` maps codes to the severity that a command gives them (`compile`: duplicate
    execution is a warning); a diagnostic has the mapped severity. `registry` provides other leaves
    by name. `services` contains the services of the caller: a language model, a budget, progress,
    cancellation. `source` is the model as read: elements that passes and lowerings make are
    reported as the source elements that they are derived from. `file` is the file that it was read
    from, for findings without another place. `given` contains the files of the command, which are
    searched for called processes, `folders` its folders, which are searched for forms, `changed`
    the models of files that the command has changed, by absolute path, which count instead of the
    files. `grading` turns optional rules on; findings of optional rules that are off are not
    recorded. `passes` are instances that replace those of a pipeline by name, with other options;
    `None` leaves a pass out.
    """

    registry: Leaves | None = None
    target: RunTarget | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    severities: Mapping[str, Severity] = field(default_factory=dict)
    current: str | None = None
    source: Model | None = None
    file: str = ""
    given: Sequence[str] = ()
    folders: Sequence[str] = ()
    changed: Mapping[str, Model] = field(default_factory=dict)
    grading: Grading = Grading()  # a tuple, never changed
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
        """Record a diagnostic of `rule`; place and id are taken from `element` if it is an element.
        A generated element is reported as the source element that it is derived from: with its id,
        its label in the texts, and its place if the generated element has none. A finding without
        any place is reported in the source file. The supporting passages of documents follow the
        related places.

        `severity` changes the severity of this finding; a command's mapping of the code takes
        precedence. `advice` computes the fix and the help, in place of `fix` and `help`, on first
        access to the diagnostics, for fixes that take longer to find than the fault. The returned
        diagnostic does not contain it; if it raises, the pass is reported as crashed.
        """
        if isinstance(element, str):
            element = self._made.get(element, element)
        names: dict[str, str] = {}
        if isinstance(element, Element):
            drawn = self.drawn(element)
            loc = loc or element.loc or drawn.loc
            if drawn is not element:
                names[f"`{element.label}`"] = f"`{drawn.label}`"
            if passages := (drawn.evidence or element.evidence)[:MAX_PASSAGES]:
                related = (*related, *map(_quote_passage, passages))
            element = drawn.id
        file = (self.source.source if self.source is not None else "") or self.file
        if loc is None and file:
            loc = SourceLocation(file=file)
        if not (
            isinstance(message, str)
            and (element is None or isinstance(element, str))
            and (help is None or isinstance(help, str))
        ):  # a plugin's; reporters take text
            message, element, help = (
                _value_text(message) or "",
                _value_text(element),
                _value_text(help),
            )
        for made_name, source in names.items():
            message, help = (
                message.replace(made_name, source),
                help and help.replace(made_name, source),
            )
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
        """The diagnostics found so far, which may be changed; pending advice is computed now."""
        self.advise()
        return self._found

    @diagnostics.setter
    def diagnostics(self, diagnostics: list[Diagnostic]) -> None:
        self._advice.clear()
        self._found = diagnostics

    @property
    def count(self) -> int:
        """The number of diagnostics."""
        return len(self._found)

    def advise(self) -> None:
        """Compute the pending advice: fixes and help of diagnostics."""
        if not self._advice:
            return

        waiting = [*self._advice]
        self._advice.clear()
        for index, advice, names in waiting:
            try:
                fix, help = advice()
            except (Exception, SystemExit) as error:  # noqa: BLE001  # a broken pass must not hide what was found
                crashes.report_crash(self._found[index].source or "", error, self)
                continue
            for made_name, source in names.items():
                help = help and help.replace(made_name, source)
            self._found[index] = self._found[index].replace(fix=fix, help=help)

    def name(self, element: Element | str) -> str:
        """The name of a source element in messages: its label, or a description by its
        neighbours."""
        if isinstance(element, Element):
            element = self.drawn(element)
        if self.source is not None:
            return self.analysis(ElementNames, self.source).name(element)
        return f"`{element if isinstance(element, str) else element.label}`"

    def full_name(self, element: Element) -> str:
        """As `name`, with the kind of the element: ``the user task `Check` ``."""
        element = self.drawn(element)
        if self.source is not None:
            return self.analysis(ElementNames, self.source).full_name(element)
        return self.name(element)

    def analysis(self, function: Callable[[V], R], value: V) -> R:
        """`function(value)`, computed once for this object (values are immutable)."""
        key = (function, id(value))
        hit = self._cache.get(key)
        if hit is None or hit[0] is not value:
            hit = self._cache[key] = (value, function(value))
        result: R = hit[1]
        return result

    def shared(self, kind: Callable[[], R]) -> R:
        """`kind()`, made once for this context: a memory that several stages of a run share. It
        must not refer to the context."""
        hit = self._cache.get((kind, 0))
        if hit is None:
            hit = self._cache[kind, 0] = (None, kind())
        result: R = hit[1]
        return result

    def scopes(self, of: Model | Scope) -> tuple[Scope, ...]:
        """Every process and sub-process of a model, or a scope with those in it, outermost first,
        computed once."""
        return self.analysis(_list_scopes, of)

    def drawn(self, element: Element) -> Element:
        """The first source element that a generated one is derived from; the element itself if the
        source contains it, or if the source is unknown."""
        if not element.derived_from or self.source is None:
            return element
        known = self.analysis(elements_by_id, self.source)
        return known.get(element.id) or known.get(source_ids(element)[0], element)

    def _about_source(self, related: Related) -> Related:
        made_element = self._made.get(related.element or "")
        return (
            related
            if made_element is None
            else related.replace(element=self.drawn(made_element).id)
        )

    def lowered(self, model: Model) -> None:
        """Register the elements that lowerings made, so that diagnostics may name them by their
        ids."""
        self._made = {id: e for id, e in elements_by_id(model).items() if e.derived_from}

    @property
    def has_errors(self) -> bool:
        """Whether any finding so far is an unsuppressed error."""
        return any(d.severity is Severity.ERROR and d.suppressed is None for d in self._found)


def _list_scopes(of: Model | Scope) -> tuple[Scope, ...]:
    return tuple(of.scopes())


def _quote_passage(evidence: Evidence) -> Related:
    line = evidence.lines[0] if evidence.lines is not None else None
    quote = one_line(evidence.quote)
    return Related(
        message=f'the text says "{quote}"',
        loc=SourceLocation(file=evidence.document, line=line, quote=evidence.quote),
    )


def _value_text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else str(value)
