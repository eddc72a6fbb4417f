"""From an input to a model: the frontend is chosen by name, suffix or content, and parses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from orgflow.compilation.input_sources import open_source, read_in_memory
from orgflow.compilation.usage_errors import InputError, UnknownName

from orgflow_ir.diagnostics import Severity
from orgflow_ir.diagnostics.core_rules import BrokenPlugin, UnknownFormat, UnreadableInput
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.source import (
    HEAD_BYTES,
    Source,
    SourceFile,
    SourceFolder,
    SourceKind,
    SourceStream,
)
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.leaves import Leaves
from orgflow_ir.pipeline.outside import is_ours
from orgflow_ir.plugins.contracts import Backend, Frontend
from orgflow_ir.plugins.guards import parse_guarded, sniff_guarded

if TYPE_CHECKING:
    from orgflow.compilation import process_selection
else:  # one process of several was asked for
    process_selection = LazyModule("orgflow.compilation.process_selection")

FILE_KINDS = frozenset({SourceKind.BYTES, SourceKind.STREAM})
"""The kinds of sources in which a file can be passed to a frontend."""

_OF_ANY_SUFFIX = (".txt", "")
"""Suffixes that do not determine the format, so the content has to be recognised."""

_OF_ONE_FORMAT = (".bpmn", ".bpmn2")
"""Suffixes that determine the format, whatever the content."""

_OF_PROSE = (".txt", ".md", ".rst", ".text")
"""Suffixes of plain texts."""


class ReadRequest(NamedTuple):
    """An input and how it is read.

    Attributes:
        path: a file, a folder, or `-` for standard input.
        format: the name of the frontend; by default, suffix and content decide.
        process: the only process to keep, by its id, its name, or the name of its pool.
        diagram: whether positions are read as well.
    """

    path: str
    format: str | None = None
    process: str | None = None
    diagram: bool = False


class ReadOutcome(NamedTuple):
    """A model that was read.

    Attributes:
        model: `None` after an error.
        source: the input in the form that the frontend parses; `None` without a frontend.
    """

    model: Model | None = None
    source: Source | None = None


def read_model(request: ReadRequest, ctx: PassContext) -> ReadOutcome:
    """Read one input; errors of its content are in `ctx`, whose registry has the frontends.

    Raises:
        InputError: the input cannot be read, or is of a kind that the frontend does not read.
        UnknownName: there is no such frontend or process.
    """
    assert ctx.registry is not None
    with open_source(request.path) as opened:
        selected = select_frontend(opened, ctx.registry, ctx, request.format)
        if selected is None:
            return ReadOutcome()
        frontend, source = selected
        model = parse_source(frontend, source, ctx, diagram=request.diagram)
    if model is not None and request.process is not None:
        model = process_selection.select_process(model, request.process)
    return ReadOutcome(model, source)


def load_model(
    source: Source | str,
    registry: Leaves,
    ctx: PassContext,
    *,
    from_: str | None = None,
    diagram: bool = False,
) -> Model | None:
    """The model in `source` (a path is opened first), or `None` after an error was reported.

    The frontend is `from_`, otherwise the one for the suffix; if there are several, the one that
    recognises the content. Raises `UnknownName` for a frontend that does not exist, and
    `InputError` if a source other than a path is of a kind or size that the frontend does not read.
    """
    if isinstance(source, str):
        try:
            with open_source(source) as opened:
                return load_model(opened, registry, ctx, from_=from_, diagram=diagram)
        except InputError as error:
            ctx.emit(UnreadableInput, str(error), help=error.help)
            return None
    selected = select_frontend(source, registry, ctx, from_)
    return parse_source(*selected, ctx, diagram=diagram) if selected is not None else None


def parse_source(
    frontend: Frontend, source: Source, ctx: PassContext, *, diagram: bool = False
) -> Model | None:
    """The model that a frontend reads from the result of `select_frontend`, or `None`."""
    ctx.options = {**ctx.options, "diagram": diagram}
    return parse_guarded(frontend, source, ctx)


class SourceOffer:
    """One source in each of the kinds that frontends accept; bytes are read once."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._bytes = source if isinstance(source, SourceFile) else None

    def to_parse(self, frontend: Frontend) -> Source:
        """The source in the form that a frontend parses. Raises `InputError` for another kind."""
        source = self._source
        if isinstance(source, SourceFolder):
            if SourceKind.FOLDER not in frontend.accepts:
                raise InputError(f"{source.path} is a folder", "name a file in it")
            return source
        if SourceKind.STREAM in frontend.accepts:
            if self._bytes is not None:  # they may have been all there was to read
                return self._bytes.stream()
            assert isinstance(source, SourceStream)
            return source
        if SourceKind.BYTES not in frontend.accepts:
            kinds = " and ".join(f"{kind.value}s" for kind in sorted(frontend.accepts))
            raise InputError(
                f"{source.path} is not a folder", f"`{frontend.name}` reads only {kinds}"
            )
        if self._bytes is None:
            self._bytes = read_in_memory(source)
        return self._bytes

    def select_recognising(self, fitting: Sequence[Frontend], ctx: PassContext) -> list[Frontend]:
        """Those of several frontends that recognise it. Raises `InputError` where only readers of
        bytes are left and it is too large for them."""
        source = self._source
        if isinstance(source, SourceFolder):
            return [f for f in fitting if sniff_guarded(f, source, ctx)]
        head = source.data if isinstance(source, SourceFile) else source.head
        streams = [f for f in fitting if SourceKind.STREAM in f.accepts]
        names = {
            f.name for f in streams
            if sniff_guarded(f, SourceFile(source.path, head[:HEAD_BYTES]).stream(), ctx)
        }  # fmt: skip
        rest = [f for f in fitting if f not in streams]
        # What comes only once stays unread where a reader of streams wants it.
        once = isinstance(source, SourceStream) and not source.seekable()
        if rest and not (names and once):
            try:
                names.update(f.name for f in rest if sniff_guarded(f, self.to_parse(f), ctx))
            except InputError:
                if not names:
                    raise
        return [f for f in fitting if f.name in names]


def choose_frontend(
    source: Source, registry: Leaves, ctx: PassContext, from_: str | None
) -> Frontend | None:
    """The frontend named, or the one for the suffix; OF003 if there is none."""
    selected = select_frontend(source, registry, ctx, from_)
    return selected[0] if selected is not None else None


def select_frontend(
    source: Source, registry: Leaves, ctx: PassContext, from_: str | None
) -> tuple[Frontend, Source] | None:
    """The frontend named, or the one for the suffix or the folder, and the source in the form that
    it parses: in memory, as a stream at its first byte, or as a folder; OF003 if there is none.

    Raises `UnknownName`, and `InputError` if the source is too large or of another kind.
    """
    offer = SourceOffer(source)
    if from_ is not None:
        frontends: Mapping[str, Frontend] = registry.frontends
        if from_ not in frontends:
            raise UnknownName("frontend", from_, tuple(frontends))
        return frontends[from_], offer.to_parse(frontends[from_])
    if isinstance(source, SourceFolder):
        takers = [f for f in registry.frontends.values() if SourceKind.FOLDER in f.accepts]
        fitting = offer.select_recognising(takers, ctx)
        if not fitting:
            raise InputError(f"{source.path} is a folder", "name a file in it")
    else:
        fitting = fitting_frontends(source.suffix, registry.frontends_for(source.suffix).values())
        if len(fitting) > 1 or source.suffix in _OF_ANY_SUFFIX:
            fitting = offer.select_recognising(fitting, ctx) or fitting_by_content(
                offer, registry, ctx
            )
        elif source.suffix not in _OF_ONE_FORMAT and not offer.select_recognising(fitting, ctx):
            fitting = fitting_by_content(offer, registry, ctx) or fitting
    if len(fitting) > 1 and any(is_ours(f) for f in fitting):
        fitting = _prefer_own_frontends(source, fitting, ctx)
    if len(fitting) == 1:
        return fitting[0], offer.to_parse(fitting[0])
    if fitting:
        names = join_listed((f"`{f.name}`" for f in fitting), last="or")
        why = f"{source.path} may be in the format of {names}"
    else:
        why = f"the format of {source.path} cannot be determined from its suffix and its content"
    help_ = f"name the format: --from {' | '.join(registry.frontends)}"
    if not fitting and source.suffix in _OF_PROSE:
        why = f"{source.path} is not in a supported notation for processes"
        help_ = f"if it describes one in sentences: orgflowc model {source.path}; else {help_}"
    ctx.emit(UnknownFormat, why, help=help_)
    return None


def fitting_frontends(suffix: str, frontends: Iterable[Frontend]) -> list[Frontend]:
    """The frontends that read files with a suffix."""
    return [f for f in frontends if suffix in f.suffixes and f.accepts & FILE_KINDS]


def fitting_by_content(offer: SourceOffer, registry: Leaves, ctx: PassContext) -> list[Frontend]:
    """The frontends that recognise the content of a file, whatever its suffix; otherwise the one
    that reports which format it is, if there is one. Raises `InputError`."""
    every = [f for f in registry.frontends.values() if f.accepts & FILE_KINDS]
    recognised = offer.select_recognising(every, ctx)
    if recognised:
        return recognised
    return [f for f in every if is_ours(f) and f.explains(offer.to_parse(f))][:1]


def recognising_frontends(
    source: Source, frontends: Sequence[Frontend], ctx: PassContext
) -> list[Frontend]:
    """The frontends that recognise the source as their format. Raises `InputError`."""
    return SourceOffer(source).select_recognising(frontends, ctx)


def _prefer_own_frontends(
    source: Source, fitting: Sequence[Frontend], ctx: PassContext
) -> list[Frontend]:
    """Frontends that ship with orgflow, where outside ones claim the same file: OF001 as info."""
    ours = [f for f in fitting if is_ours(f)]
    others = [f for f in fitting if not is_ours(f)]
    for frontend in others:
        plugin = ctx.registry.plugin_of(frontend) if ctx.registry is not None else None
        of = f" of plugin `{plugin}`" if plugin is not None else ""
        ctx.emit(
            BrokenPlugin,
            f"frontend `{frontend.name}`{of} also claims {source.path}, which "
            f"`{' and '.join(f.name for f in ours)}` reads",
            help=f"use --from {frontend.name} to read it",
            severity=Severity.INFO,
        )
    return ours


def own_backend(source: Source, registry: Leaves, from_: str | None) -> Backend | None:
    """The backend with the name of the frontend that reads the bytes of `source`, if there is one;
    a stream or a folder has none."""
    if not isinstance(source, SourceFile):
        return None
    frontend = choose_frontend(source, registry, PassContext(), from_)
    own: Backend | None = registry.backend(frontend.name) if frontend is not None else None
    return own
