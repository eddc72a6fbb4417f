"""Documents of an editor in their current state: findings with their places, fixes as edits of
text."""

from __future__ import annotations

import codecs
import os
import re
from functools import cached_property, partial

from orgflow.commands.language_server.positions import Lines, Span, TextEdit, diff_edits
from orgflow.commands.project import configuration
from orgflow.commands.project.file_fixes import Fixer, Read
from orgflow.commands.project.suppressions import Acceptance
from orgflow.compilation.model_checks import check_gaps, needs_diagram
from orgflow.compilation.reading import load_model
from orgflow.compiler import CHECK, CompileRequest, run_stages

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.diagnostics.ordering import order_diagnostics
from orgflow_ir.model import Model
from orgflow_ir.model.elements import Element
from orgflow_ir.model.provenance import elements_by_id
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.source import SourceFile, SourceLocation
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.services import CancelFlag, Services
from orgflow_ir.plugins import Registry
from orgflow_ir.reporting.suppression import KEY

CONFIGURATION = "orgflow.toml"

_START_TAG = re.compile(r"""<[^<>"']*(?:"[^"]*"[^<>"']*|'[^']*'[^<>"']*)*>""")
_ENCODING = re.compile(r"""\A\s*<\?xml[^>]*\bencoding\s*=\s*["']([\w.-]+)["']""")
_PREFIX = re.compile(r"""\bxmlns:([\w.-]+)\s*=\s*["']urn:orgflow["']""")


class Finding(NamedTuple):
    """A diagnostic and the part of the text that it refers to."""

    diagnostic: Diagnostic
    span: Span


class Offer(NamedTuple):
    """A change of the text that an editor offers for findings."""

    title: str
    findings: tuple[Finding, ...]
    edits: tuple[TextEdit, ...]
    safe: bool


class Document:
    """One version of one text. `path` is the actual or possible path of its file; names end in
    `.bpmn` or `.outline`, or are `orgflow.toml`.

    `cancel` stops a running check, which then raises `Cancelled`.
    """

    def __init__(self, path: str, text: str, registry: Registry, unit: str = "utf-16") -> None:
        self.path, self.text = path, text
        self.lines = Lines(text, unit)
        self._registry = registry
        self._cancellation = CancelFlag()
        self._codec = self._declared()
        self.source = SourceFile(path, text.encode(self._codec, "surrogateescape"))
        self._offers: dict[tuple[str, str | None, str], Offer | None] = {}

    def _declared(self) -> str:
        """The encoding that the text says it has: readers take bytes, and look at that."""
        match = _ENCODING.match(self.text)
        try:
            name = codecs.lookup(match[1]).name if match is not None else "utf-8"
            self.text.encode(name, "surrogateescape")
        except (LookupError, UnicodeEncodeError):
            return "utf-8"
        return name

    def cancel(self) -> None:
        """Stop a running check."""
        self._cancellation.cancel()

    @property
    def is_configuration(self) -> bool:
        """Whether it is an `orgflow.toml` and not a model."""
        return os.path.basename(self.path) == CONFIGURATION

    @property
    def format(self) -> str:
        """The format of a model."""
        return "outline" if self.path.lower().endswith(".outline") else "bpmn"

    def canonical_edits(self) -> tuple[TextEdit, ...]:
        """The edits that bring an outline into its canonical form; none for a faulty one, and for
        formats without such a form."""
        frontend = self._registry.frontends[self.format]
        if self.is_configuration or not frontend.formats:
            return ()
        text = frontend.format_source(self.source, PassContext(registry=self._registry))
        return tuple(diff_edits(self.text, text)) if text is not None else ()

    # -- findings ----------------------------------------------------------------------------

    @cached_property
    def _checked(self) -> tuple[Model | None, tuple[Diagnostic, ...]]:
        """The model, and what `orgflowc check` finds. Raises `Cancelled`."""
        ctx = PassContext(
            registry=self._registry, services=Services(cancellation=self._cancellation)
        )
        if self.is_configuration:
            configuration.read_bytes(self.path, self.source.data, self._registry, ctx)
            return None, tuple(order_diagnostics(ctx.diagnostics))
        ctx.given = [self.path]
        accepted = Acceptance(self._registry, errors=True, whole=False)
        accepted.configure(self.path, ctx)
        model = load_model(
            self.source, self._registry, ctx, from_=self.format, diagram=needs_diagram(ctx)
        )
        find_gaps = None
        if model is not None:
            own = self._registry.backend(self.format)
            run_stages(CHECK, CompileRequest(model, source=self.source, own=own), ctx)
            find_gaps = partial(check_gaps, model, ctx, None)
        accepted.apply(self.path, model, ctx, find_gaps)
        return model, tuple(order_diagnostics(ctx.diagnostics))

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """The findings, in the order in which `check` reports them; suppressed ones are omitted."""
        return tuple(
            Finding(d, self.span(d.loc, d.element))
            for d in self._checked[1]
            if d.suppressed is None
        )

    @cached_property
    def _elements(self) -> dict[str, Element]:
        model = self._checked[0]
        return elements_by_id(model) if model is not None else {}

    def span(self, loc: SourceLocation | None, element: str | None) -> Span:
        """The part of the text at a place or of an element: its start tag, otherwise the rest of
        the line; the beginning of the text if the place is in another file."""
        if (loc is None or loc.line is None) and element in self._elements:
            loc = self._elements[element].loc
        if loc is None or loc.line is None or not self.holds(loc):
            return self.lines.rest(0)
        start = self.lines.place(loc.line, loc.column)
        tag = _START_TAG.match(self.text, start)
        return Span(start, tag.end()) if tag is not None else self.lines.rest(start)

    def holds(self, loc: SourceLocation) -> bool:
        """Whether a place is in this document."""
        return os.path.abspath(loc.file) == os.path.abspath(self.path)

    def element_at(self, offset: int) -> Element | None:
        """The element in whose start tag a character is."""
        for element in self._elements.values():
            if element.loc is not None and element.loc.line is not None and self.holds(element.loc):
                span = self.span(element.loc, None)
                if span.start <= offset < span.end:
                    return element
        return None

    # -- changes -----------------------------------------------------------------------------

    @cached_property
    def _fixer(self) -> Fixer:
        return Fixer(self._registry, "bpmn", unsafe=True, write=False)

    @cached_property
    def _read(self) -> Read:
        return self._fixer.read(self.source)

    def offers(self, findings: tuple[Finding, ...]) -> list[Offer]:
        """The possible actions for findings: the fix of each, then its suppression."""
        fixes: list[Offer] = []
        suppressions: list[Offer] = []
        for finding in findings:
            d = finding.diagnostic
            if self.is_configuration or self.format != "bpmn":
                continue
            key = (d.code, d.element, d.fix.title if d.fix is not None else "")
            if key not in self._offers:
                self._offers[key] = self._fix(finding)
            offer = self._offers[key]
            fixes += [offer] if offer is not None else []
            suppressed = self._suppression(finding)
            suppressions += [suppressed] if suppressed is not None else []
        return [*fixes, *suppressions]

    def _fix(self, finding: Finding) -> Offer | None:
        """The fix of a finding, where it can be written and makes nothing worse."""
        d = finding.diagnostic
        if d.fix is None or not d.fix.edits:
            return None
        fixed = self._fixer.fixed_one(self._read, d)
        if fixed is None:
            return None
        safe = d.fix.applicability == "safe"
        title = d.fix.title[:1].upper() + d.fix.title[1:]
        return Offer(
            title if safe else f"{title} (unsafe: changes the meaning of the model)",
            (finding,), self._edits(fixed), safe,
        )  # fmt: skip

    def fix_all(self) -> Offer | None:
        """All safe fixes together, `None` if there is none."""
        if self.is_configuration or self.format != "bpmn":
            return None
        fixer = Fixer(self._registry, "bpmn", unsafe=False, write=False)
        changes = self._edits(fixer.fixed(self.source))
        if not changes:
            return None
        findings = tuple(
            f
            for f in self.findings
            if f.diagnostic.fix is not None and f.diagnostic.fix.applicability == "safe"
        )
        return Offer("Apply all safe fixes of orgflow", findings, changes, True)

    def _edits(self, fixed: SourceFile) -> tuple[TextEdit, ...]:
        return tuple(diff_edits(self.text, fixed.data.decode(self._codec, "surrogateescape")))

    def _suppression(self, finding: Finding) -> Offer | None:
        """The attribute that suppresses a finding at its element, up to the reason: without one it
        has no effect, and OF006 asks for it."""
        d = finding.diagnostic
        rule = self._registry.rules.get(d.code)
        element = self._elements.get(d.element or "")
        if rule is None or not rule.category.is_about_model or element is None:
            return None
        if element.loc is None or element.loc.line is None or not self.holds(element.loc):
            return None
        start, end = self.span(element.loc, None)
        tag = self.text[start:end]
        if not tag.endswith(">"):
            return None
        if any(key == KEY for key, _ in element.extra):
            prefixes = "|".join(map(re.escape, _PREFIX.findall(self.text))) or "(?!)"
            there = re.search(rf"""\b(?:{prefixes}):suppress\s*=\s*(["'])(.*?)\1""", tag, re.S)
            if there is None:
                return None
            at, text = start + there.end(2), f"; {d.code}: "
        else:
            at = end - (2 if tag.endswith("/>") else 1)
            at -= len(self.text[start:at]) - len(self.text[start:at].rstrip())
            prefix, declared = self._prefix()
            text = f' {declared}{prefix}:suppress="{d.code}: "'
        return Offer(
            f"Suppress {d.code} here (then write the reason)",
            (finding,), (TextEdit(Span(at, at), text),), False,
        )  # fmt: skip

    def _prefix(self) -> tuple[str, str]:
        """The prefix of the namespace of orgflow, and its declaration where the root has none."""
        root = re.search(r"<(?![?!])", self.text)
        tag = _START_TAG.match(self.text, root.start()) if root is not None else None
        known = _PREFIX.search(tag[0]) if tag is not None else None
        return (known[1], "") if known is not None else ("orgflow", 'xmlns:orgflow="urn:orgflow" ')
