"""Fixes of findings in source files, each proved by checking the file again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from orgflow.commands.project.suppressions import Acceptance
from orgflow.compilation.model_checks import needs_diagram
from orgflow.compilation.reading import choose_frontend, load_model, own_backend
from orgflow.compiler import CHECK, CompileRequest, run_stages

from orgflow_ir.diagnostics import Diagnostic, Fix, FixError, Severity, apply
from orgflow_ir.model import Model
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.plugins.contracts import Frontend
from orgflow_ir.targets import TargetSpec

MOST = 1_000
"""Maximum number of fixes in one file."""

Found = tuple[str, str | None]
"""The code and element of a finding, which identify it between two checks."""

Key = tuple[Found, str]
"""A finding and the title of its fix; each pair is tried once."""


class Fixer:
    """Fixes in files; without `write` they are only proposed."""

    def __init__(
        self,
        registry: Registry,
        from_: str | None,
        *,
        unsafe: bool,
        write: bool,
        preset: str | None = None,
        target: TargetSpec | None = None,
    ) -> None:
        self._registry, self._from, self.writes = registry, from_, write
        self._preset, self._target = preset, target
        self._allowed = ("safe", "unsafe") if unsafe else ("safe",)
        self._made: list[str] = []
        self._left: list[str] = []
        self._held_back = 0

    def note_unfixed(self, line: str) -> None:
        """Report a fix, or a file, that stays as it is."""
        self._left.append(line)

    def report(self) -> Iterator[str]:
        """Lines about the fixes that were made and those that were not possible."""
        done = "fixed" if self.writes else "would fix"
        yield from (f"{done}: {line}" for line in self._made)
        yield from (f"not fixed: {line}" for line in self._left)
        if self._held_back:
            some = "1 fix" if self._held_back == 1 else f"{self._held_back} fixes"
            yield f"{some} more with --unsafe-fixes"

    def fixed(self, source: SourceFile) -> SourceFile:
        """The file with every possible fix that makes no finding worse."""
        frontend = choose_frontend(source, self._registry, PassContext(), self._from)
        if frontend is None:
            return source
        tried: set[Key] = set()
        read = self.read(source)
        while read.model is not None and len(tried) < MOST:
            together = self._together(read, tried)
            if not together:
                break
            after = self._write_all(read, together, frontend) if len(together) > 1 else None
            if after is not None:
                read = after
                continue
            for wanted in together:
                read = self._write_one(read, wanted, frontend) or read
        self._held_back += sum(
            1
            for d in read.findings
            if d.fix is not None and d.fix.applicability == "unsafe" and not self._wanted(d)
        )
        return read.source

    def fixed_one(self, read: Read, wanted: Diagnostic) -> SourceFile | None:
        """The file with the fix of one of its findings, or `None` if the fix cannot be written or
        makes another finding worse."""
        if read.model is None or not self._wanted(wanted):
            return None
        frontend = choose_frontend(read.source, self._registry, PassContext(), self._from)
        after = self._write_one(read, wanted, frontend) if frontend is not None else None
        return after.source if after is not None else None

    def _wanted(self, d: Diagnostic) -> bool:
        if d.fix is None or d.suppressed is not None or not d.fix.edits:
            return False
        return d.fix.applicability in self._allowed

    def _together(self, read: Read, tried: set[Key]) -> list[Diagnostic]:
        """Findings whose fixes can be written at once: no two touch one element, and each was
        proved on the model with those before it, which takes no reading of the file. A finding of
        the reader itself goes alone."""
        model, findings = read.model, read.findings
        assert model is not None
        chosen: list[Diagnostic] = []
        touched: set[str] = set()
        later: set[Key] = set()
        while len(tried) < MOST:
            wanted = next(
                (
                    d
                    for d in findings
                    if self._wanted(d) and _fix_key(d) not in tried and _fix_key(d) not in later
                ),
                None,
            )
            if wanted is None:
                return chosen
            assert wanted.fix is not None
            around = _list_touched_ids(model, wanted.fix)
            if wanted in read.by_reader or around & touched:
                if not chosen:
                    tried.add(_fix_key(wanted))
                    return [wanted]
                later.add(_fix_key(wanted))
                continue
            tried.add(_fix_key(wanted))
            try:
                changed = apply(model, wanted.fix)
            except FixError as error:
                self._left.append(f"{self._title(read, wanted)}: {error}")
                continue
            now = self._judge(read, changed)
            fault = _explain_refusal(findings, now, [wanted])
            if fault:
                self._left.append(f"{self._title(read, wanted)}: {fault}")
                continue
            chosen.append(wanted)
            touched |= around
            model, findings = changed, now
        return chosen

    def _write_all(
        self, read: Read, wanted: Sequence[Diagnostic], frontend: Frontend
    ) -> Read | None:
        """The file with several fixes, if it cures all that they are for and has no new faults."""
        assert read.model is not None
        edits = tuple(e for d in wanted if d.fix is not None for e in d.fix.edits)
        try:
            data = frontend.patched(
                read.source,
                read.model,
                Fix(title="all of them", applicability="unsafe", edits=edits),
            )
        except FixError:
            return None  # which of them cannot be written is seen one by one
        after = self.read(SourceFile(read.source.path, data))
        if after.model is None or _explain_refusal(read.findings, after.findings, wanted):
            return None
        self._made += [self._title(read, d) for d in wanted]
        return after

    def _write_one(self, read: Read, wanted: Diagnostic, frontend: Frontend) -> Read | None:
        """The file with one fix, if it cures what it is for and makes nothing worse."""
        assert read.model is not None
        assert wanted.fix is not None
        title = self._title(read, wanted)
        try:
            data = frontend.patched(read.source, read.model, wanted.fix)
        except FixError as error:
            self._left.append(f"{title}: {error}")
            return None
        after = self.read(SourceFile(read.source.path, data))
        fault = (
            _MORE
            if after.model is None
            else _explain_refusal(read.findings, after.findings, [wanted])
        )
        if fault:
            self._left.append(f"{title}: {fault}")
            return None
        self._made.append(title)
        return after

    def _title(self, read: Read, d: Diagnostic) -> str:
        assert d.fix is not None
        return f"{read.source.path}: {d.fix.title} ({d.code})"

    def read(self, source: SourceFile) -> Read:
        """Read a file and check it."""
        accepted, ctx = self._context(source)
        model = load_model(
            source, self._registry, ctx, from_=self._from, diagram=needs_diagram(ctx)
        )
        by_reader = tuple(ctx.diagnostics)
        if model is not None:
            self._check(source, model, ctx)
        accepted.apply(source.path, model, ctx)
        return Read(source, model, tuple(ctx.diagnostics), by_reader)

    def _judge(self, read: Read, model: Model) -> tuple[Diagnostic, ...]:
        """What a check finds in a changed model of the file that was read."""
        accepted, ctx = self._context(read.source)
        ctx.diagnostics.extend(read.by_reader)
        self._check(read.source, model, ctx)
        accepted.apply(read.source.path, model, ctx)
        return tuple(ctx.diagnostics)

    def _check(self, source: SourceFile, model: Model, ctx: PassContext) -> None:
        own = own_backend(source, self._registry, self._from)
        run_stages(CHECK, CompileRequest(model, source=source, own=own), ctx)

    def _context(self, source: SourceFile) -> tuple[Acceptance, PassContext]:
        ctx = PassContext(registry=self._registry, target=self._target)
        accepted = Acceptance(self._registry, errors=True, whole=False, preset=self._preset)
        accepted.configure(source.path, ctx)
        return accepted, ctx


class Read(NamedTuple):
    """A file as it was read: its model, all findings of a check, and those of its reader."""

    source: SourceFile
    model: Model | None
    findings: tuple[Diagnostic, ...]
    by_reader: tuple[Diagnostic, ...]


def _list_touched_ids(model: Model, fix: Fix) -> set[str]:
    """Ids of what a fix changes, and of the ends of the flows among it."""
    flows = {f.id: f for scope in model.scopes() for f in scope.flows}
    ids: set[str | None] = set()
    for edit in fix.edits:
        ids |= {edit.id, edit.node.id if edit.node is not None else None}
        for flow in (edit.flow, flows.get(edit.id or "")):
            if flow is not None:
                ids |= {flow.id, flow.source, flow.target}
    return {name for name in ids if name}


_MORE = "there would be more"


def _explain_refusal(
    before: Sequence[Diagnostic], now: Sequence[Diagnostic], wanted: Sequence[Diagnostic]
) -> str:
    """Why a change is no cure of findings: a new fault, or one that stays. Empty where it is."""
    if _count_errors(now) - _count_findings(before):
        return _MORE
    if any(_count_alike(now, d) >= _count_alike(before, d) for d in wanted):
        return "it would remain"
    return ""


def _fix_key(d: Diagnostic) -> Key:
    assert d.fix is not None
    return (d.code, d.element), d.fix.title


def _count_alike(findings: Sequence[Diagnostic], like: Diagnostic) -> int:
    return sum(1 for d in findings if (d.code, d.element) == (like.code, like.element))


def _count_errors(findings: Sequence[Diagnostic]) -> Counter[Found]:
    """Errors that count, by code and element."""
    return Counter(
        (d.code, d.element)
        for d in findings
        if d.severity is Severity.ERROR and d.suppressed is None
    )


def _count_findings(findings: Sequence[Diagnostic]) -> Counter[Found]:
    """All findings: a warning of a fault behind others is an error once those are gone."""
    return Counter((d.code, d.element) for d in findings)
