"""The compilation from bytes to artifacts, as a library: read, load, check, compile; prints
nothing.

Faults of the model are diagnostics in the `PassContext`; usage errors are exceptions. The commands
`compile`, `check`, `run` and `eval` all use it.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from orgflow_ir.diagnostics import Diagnostic, Rule, Severity
from orgflow_ir.diagnostics.core_rules import (
    BrokenPlugin,
    FaultyLeaf,
    UnknownFormat,
    UnreadableInput,
)
from orgflow_ir.flow.control_flow.calls import called_from
from orgflow_ir.model import CallActivity, Model, Process
from orgflow_ir.model.characters import writable
from orgflow_ir.model.element_names import file_names, is_taken_over, listed
from orgflow_ir.model.index import ModelIndex
from orgflow_ir.model.provenance import all_elements
from orgflow_ir.model.source import (
    HEAD_BYTES,
    Source,
    SourceFile,
    SourceFolder,
    SourceKind,
    SourceStream,
    file_stem,
)
from orgflow_ir.pipeline import AfterEach, Pass, PassContext, PassManager, Stage
from orgflow_ir.pipeline.collector import paused_collector
from orgflow_ir.pipeline.leaves import Leaves
from orgflow_ir.pipeline.outside import is_ours
from orgflow_ir.plugins.contracts import Backend, Frontend
from orgflow_ir.plugins.guards import emitted, leaf_name, parsed, sniffed
from orgflow_ir.targets import executable_processes
from orgflow_ir.targets.artifact import Emitted

if TYPE_CHECKING:
    from orgflow_ir.pipeline.services import Services
    from orgflow_ir.plugins.agents import Agent, Document, GapAgent, ModelAgent

MOST_BYTES = 256 * 1024 * 1024
"""Maximum number of bytes of an input that are kept in memory, even of an endless device. Frontends
that accept streams read inputs of any size."""

_CHUNK = 1024 * 1024

FILE_KINDS = frozenset({SourceKind.BYTES, SourceKind.STREAM})
"""The kinds of sources in which a file can be passed to a frontend."""

STDIN = "<stdin>"
"""The name shown for standard input."""


class InputError(Exception):
    """An input that cannot be read; `help` contains the remedy."""

    def __init__(self, message: str, help: str) -> None:
        super().__init__(message)
        self.help = help


class TooLargeError(InputError):
    """An input with more bytes than are kept in memory."""


class UnknownName(LookupError):
    """An unregistered name of a frontend, a backend or another extension."""

    def __init__(self, kind: str, name: str, known: Sequence[str]) -> None:
        given: Any = name  # callers need not check their types
        name = given if isinstance(given, str) else repr(given)
        self.kind, self.name, self.known = kind, name, tuple(known)
        super().__init__(f"no {kind} `{name}`; {suggestion(name, known)}")


class UnknownProcess(UnknownName):
    """A process that the model does not have; the message names the existing ones."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__("process", name, known)
        there = f"the model has {listed(f'`{one}`' for one in known) or 'none'}"
        near = suggestion(name, known)
        said = f"{near} {there}" if near.startswith("did") else there
        self.args = (f"no process `{name}`; {said}",)


class OptionError(ValueError):
    """An option that a target does not have, or a value that it does not accept."""


class UnsupportedError(ValueError):
    """A service that a target does not provide, such as an engine."""


def suggestion(name: str, known: Sequence[str]) -> str:
    """`did you mean …` if a known name is similar, otherwise all known names."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1)
    if near:
        return f"did you mean `{near[0]}`?"
    return f"there are: {', '.join(known)}" if known else "there are none"


def source_name(path: str) -> str:
    """The name of the file at a path in findings and models, as text, which a file name on Linux
    need not be."""
    return STDIN if path == "-" else writable(path)


@contextmanager
def open_source(path: str) -> Iterator[SourceStream | SourceFolder]:
    """A file, a folder, or standard input for `-`, closed afterwards. Raises `InputError`."""
    if os.path.isdir(path) and path != "-":
        yield SourceFolder(path)
        return
    with _open_stream(path) as stream:
        yield stream


def _open_stream(path: str) -> SourceStream:
    if path == "-" and sys.stdin is None:
        raise InputError("there is no standard input", "name a file")
    if not path:
        raise InputError("the input has no name", "name a file, or - for standard input")
    try:
        if path == "-":  # the program's, and not ours to close
            return SourceStream(STDIN, sys.stdin.buffer, once=True, owned=False)
        file = open(path, "rb", buffering=0)  # noqa: SIM115  # the stream closes it
        try:
            return SourceStream(source_name(path), file)
        except BaseException:
            file.close()
            raise
    except FileNotFoundError:
        raise InputError(f"{path} does not exist", "check the path") from None
    except ValueError as error:  # a NUL in the path
        raise InputError(f"{path!r} is not a path: {error}", "check the path") from None
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: str, error: OSError) -> InputError:
    name = "standard input" if path in ("-", STDIN) else path
    reason = (error.strerror or str(error)).lower()
    return InputError(f"{name} cannot be read: {reason}", "check the file")


def read_source(path: str) -> SourceFile:
    """The bytes of a file, or of standard input for `-`. Raises `InputError`."""
    with open_source(path) as source:
        return _in_memory(source)


def read_together(paths: Sequence[str]) -> SourceFile:
    """The content of several files as one JSON list: all JSON files of a folder, by name. One file
    is read unchanged. Raises `InputError`."""
    if len(paths) == 1 and not os.path.isdir(paths[0]):
        return read_source(paths[0])
    files: list[str] = []
    names: list[str] = []
    for path in paths:
        inside = [path]
        if os.path.isdir(path):
            inside = [
                os.path.join(path, f) for f in sorted(os.listdir(path)) if f.endswith(".json")
            ]
            if not inside:
                raise InputError(f"{path} contains no JSON files", "name a file, or another folder")
            path = os.path.join(path, "*.json")
        files += inside
        names.append(path)
    import json  # of several files only

    from orgflow_ir.model.json_source_map import JsonFault, parse_json

    values = []
    for file in files:
        source = read_source(file)
        try:
            values.append(parse_json(source.path, source.data).root.value)
        except JsonFault as fault:
            raise InputError(f"{source.path} is not JSON: {fault}", "leave it out") from None
    return SourceFile(", ".join(names), json.dumps(values).encode())


def _in_memory(source: Source) -> SourceFile:
    """All bytes of a source; a stream is at its end afterwards. Raises `InputError`."""
    if isinstance(source, SourceFile):
        return source
    if isinstance(source, SourceFolder):
        raise InputError(f"{source.path} is a folder", "name a file in it")
    try:
        if source.seekable() and source.seek(0, os.SEEK_END) > MOST_BYTES:
            raise _too_large(source)
        if source.seekable():
            source.seek(0)
        parts = [source.read(_CHUNK)]
        size = len(parts[0])
        while parts[-1] and size <= MOST_BYTES:
            parts.append(source.read(_CHUNK))
            size += len(parts[-1])
    except OSError as error:
        raise _unreadable(source.path, error) from None
    if size > MOST_BYTES:
        raise _too_large(source)
    return SourceFile(source.path, b"".join(parts))


def _too_large(source: SourceStream) -> TooLargeError:
    name = "standard input" if source.path == STDIN else source.path
    return TooLargeError(
        f"{name} has more than {MOST_BYTES // (1024 * 1024)} MB", "remove files that are not models"
    )


class _Offer:
    """One source in each of the kinds that frontends accept; bytes are read once."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._bytes = source if isinstance(source, SourceFile) else None

    def to_parse(self, frontend: Frontend) -> Source:
        """What the frontend is to parse. Raises `InputError` where it takes nothing of the kind."""
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
            self._bytes = _in_memory(source)
        return self._bytes

    def recognised(self, fitting: Sequence[Frontend], ctx: PassContext) -> list[Frontend]:
        """Those of several frontends that recognise it. Raises `InputError` where only readers of
        bytes are left and it is too large for them."""
        source = self._source
        if isinstance(source, SourceFolder):
            return [f for f in fitting if sniffed(f, source, ctx)]
        head = source.data if isinstance(source, SourceFile) else source.head
        streams = [f for f in fitting if SourceKind.STREAM in f.accepts]
        found = {
            f.name for f in streams
            if sniffed(f, SourceFile(source.path, head[:HEAD_BYTES]).stream(), ctx)
        }  # fmt: skip
        rest = [f for f in fitting if f not in streams]
        # What comes only once stays unread where a reader of streams wants it.
        once = isinstance(source, SourceStream) and not source.seekable()
        if rest and not (found and once):
            try:
                found.update(f.name for f in rest if sniffed(f, self.to_parse(f), ctx))
            except InputError:
                if not found:
                    raise
        return [f for f in fitting if f.name in found]


def load(
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
                return load(opened, registry, ctx, from_=from_, diagram=diagram)
        except InputError as error:
            ctx.emit(UnreadableInput, str(error), help=error.help)
            return None
    selected = select_frontend(source, registry, ctx, from_)
    return parse(*selected, ctx, diagram=diagram) if selected is not None else None


def parse(
    frontend: Frontend, source: Source, ctx: PassContext, *, diagram: bool = False
) -> Model | None:
    """The model that a frontend reads from the result of `select_frontend`, or `None`."""
    ctx.options = {**ctx.options, "diagram": diagram}
    return parsed(frontend, source, ctx)


def only_process(model: Model, wanted: str) -> Model:
    """The model with one process, identified by its id, its name or that of its pool; the other
    pools become black boxes, and messages to and from them end at their pools. Raises
    `UnknownName`."""
    index = ModelIndex(model)
    names: dict[str, str] = {}
    for process in model.processes:
        pool = index.pool(process.id)
        for name in (pool.caption if pool else "", process.name.strip(), process.id):
            if name:
                names.setdefault(name, process.id)
    if wanted not in names:
        raise UnknownProcess(wanted, process_names(model))
    return _only(model, index, [p for p in model.processes if p.id == names[wanted]])


def _only(model: Model, index: ModelIndex, kept: Sequence[Process]) -> Model:
    """The model with some of its processes; see `only_process`."""
    ids = {process.id for process in kept}

    def moved(end: str) -> str:
        """The pool that replaces a step of another process; empty if it has none."""
        process = index.process(end) if end in index.nodes else None
        if process is None or process.id in ids:
            return end
        pool = index.pool(end)
        return pool.id if pool else ""

    flows = [
        f.replace(source=moved(f.source), target=moved(f.target))
        for f in model.message_flows
        if moved(f.source) == f.source or moved(f.target) == f.target
    ]
    one = model.replace(
        processes=tuple(kept),
        pools=tuple(p if p.process in ids else p.replace(process=None) for p in model.pools),
        message_flows=tuple(f for f in flows if f.source and f.target),
    )
    return _without_traces(one, model)


def process_names(model: Model) -> tuple[str, ...]:
    """A name for each process, in order: the name of its pool, its own name, or its id."""
    index = ModelIndex(model)
    found = []
    for process in model.processes:
        pool = index.pool(process.id)
        found.append((pool.caption if pool else "") or process.name.strip() or process.id)
    return tuple(found)


def _without_traces(model: Model, whole: Model) -> Model:
    """The model without associations and shapes of elements that only `whole` has."""
    gone = {e.id for e in all_elements(whole)} - {e.id for e in all_elements(model)}
    processes = model.processes
    every = (*model.artifacts, *(a for process in processes for a in process.artifacts))
    cut = {a.id for a in every if a.source in gone or a.target in gone}
    if cut:
        processes = tuple(
            process.replace(artifacts=tuple(a for a in process.artifacts if a.id not in cut))
            for process in processes
        )
    drawing = model.diagram
    if drawing is not None:
        drawing = drawing.replace(
            shapes=tuple(s for s in drawing.shapes if s.element not in gone),
            edges=tuple(e for e in drawing.edges if e.element not in gone | cut),
        )
    return model.replace(
        processes=processes,
        artifacts=tuple(a for a in model.artifacts if a.id not in cut),
        diagram=drawing,
    )


def choose_frontend(
    source: Source, registry: Leaves, ctx: PassContext, from_: str | None
) -> Frontend | None:
    """The frontend named, or the one for the suffix; OF003 if there is none."""
    selected = select_frontend(source, registry, ctx, from_)
    return selected[0] if selected is not None else None


_OF_ANY_TEXT = (".txt",)
"""Suffixes that do not determine the format, so the content has to be recognised."""

_OF_PROSE = (".txt", ".md", ".rst", ".text")
"""Suffixes of plain texts."""


def select_frontend(
    source: Source, registry: Leaves, ctx: PassContext, from_: str | None
) -> tuple[Frontend, Source] | None:
    """The frontend named, or the one for the suffix or the folder, and the source in the form that
    it parses: in memory, as a stream at its first byte, or as a folder; OF003 if there is none.

    Raises `UnknownName`, and `InputError` if the source is too large or of another kind.
    """
    offer = _Offer(source)
    if from_ is not None:
        frontends: Mapping[str, Frontend] = registry.frontends
        if from_ not in frontends:
            raise UnknownName("frontend", from_, tuple(frontends))
        return frontends[from_], offer.to_parse(frontends[from_])
    if isinstance(source, SourceFolder):
        takers = [f for f in registry.frontends.values() if SourceKind.FOLDER in f.accepts]
        fitting = offer.recognised(takers, ctx)
        if not fitting:
            raise InputError(f"{source.path} is a folder", "name a file in it")
    else:
        fitting = fitting_frontends(source.suffix, registry.frontends_for(source.suffix).values())
        if len(fitting) > 1 or source.suffix in _OF_ANY_TEXT:
            fitting = offer.recognised(fitting, ctx)
    if len(fitting) > 1 and any(is_ours(f) for f in fitting):
        fitting = _ours_first(source, fitting, ctx)
    if len(fitting) == 1:
        return fitting[0], offer.to_parse(fitting[0])
    if fitting:
        names = listed((f"`{f.name}`" for f in fitting), last="or")
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


def recognising_frontends(
    source: Source, frontends: Sequence[Frontend], ctx: PassContext
) -> list[Frontend]:
    """The frontends that recognise the source as their format. Raises `InputError`."""
    return _Offer(source).recognised(frontends, ctx)


def _ours_first(source: Source, fitting: Sequence[Frontend], ctx: PassContext) -> list[Frontend]:
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


def choose_backend(name: str, registry: Leaves) -> Backend:
    """The backend of that name. Raises `UnknownName`."""
    backend: Backend | None = registry.backend(name)
    if backend is None:
        raise UnknownName("target", name, tuple(registry.backends))
    return backend


def target_options(backend: Backend, options: Mapping[str, str]) -> dict[str, str]:
    """The options, each with an existing name and a permitted value; an option with an empty table
    of values accepts any. Raises `OptionError`."""
    known = backend.target.options
    for key, value in options.items():
        if key not in known:
            raise OptionError(
                f"target `{backend.name}` has no option `{key}`; {suggestion(key, tuple(known))}"
            )
        given: Any = value  # callers of the library need not check their types
        if not isinstance(given, str):
            raise OptionError(
                f"option `{key}` of target `{backend.name}` is a `{type(given).__name__}`; "
                f"options are text, as in {{{key!r}: {str(given)!r}}}"
            )
        if known[key] and value not in known[key]:
            raise OptionError(
                f"option `{key}` of target `{backend.name}` cannot be `{value}`; "
                f"it is one of: {', '.join(known[key])}"
            )
        check = backend.target.values.get(key)
        reason = check(value) if check is not None else None
        if reason is not None:
            raise OptionError(
                f"option `{key}` of target `{backend.name}` cannot be `{value}`; {reason}"
            )
    return dict(options)


def with_outside(passes: Sequence[Pass], registry: Leaves | None, last: Stage) -> tuple[Pass, ...]:
    """`passes` with those of plugins, up to stage `last`, at the end of their stages by name."""
    outside = [
        cls
        for cls in (registry.outside_passes if registry is not None else {}).values()
        if cls.stage <= last
    ]
    result = list(passes)
    for cls in outside:  # the registry is sorted by name
        after = [i for i, item in enumerate(result) if item.stage <= cls.stage]
        result.insert(after[-1] + 1 if after else 0, cls())
    return tuple(result)


def check_model(
    model: Model,
    ctx: PassContext,
    *,
    last: Stage = Stage.ANALYSE,
    after_each: Sequence[AfterEach] = (),
    without: Collection[str] = (),
) -> Model:
    """Run the CHECK pipeline, except the passes in `without`, and the plugins' passes up to stage
    `last`; findings are in `ctx`, whose `grading` and `passes` may add or omit some."""
    from orgflow.passes.pipelines import CHECK, ON_REQUEST

    passes = [p for p in (*CHECK, *_optional(ctx)) if p.name not in without]
    passes = [*with_outside(passes, ctx.registry, last)]
    if ctx.passes:
        passes = _configured([*passes, *(p for p in ON_REQUEST if p.name in ctx.passes)], ctx)
    return PassManager(passes, after_each).run(model, ctx)


def _optional(ctx: PassContext) -> list[Pass]:
    """The passes of optional rules of which some rule is on."""
    if not ctx.grading.severities:
        return []
    from orgflow.passes.optional import OPTIONAL

    return [p for p in OPTIONAL if any(ctx.grading.reports(rule) for rule in p.rules)]


def _configured(passes: Iterable[Pass], ctx: PassContext) -> list[Pass]:
    """The passes with the options that `ctx.passes` has for them, without those that are off."""
    chosen = [ctx.passes.get(p.name, p) for p in passes]
    return [p for p in chosen if p is not None]


def needs_diagram(ctx: PassContext) -> bool:
    """Whether an enabled rule is about the diagram of a model, which then has to be read."""
    return any(p.looks_at_diagram for p in _optional(ctx))


def check_gaps(model: Model, ctx: PassContext, backend: Backend | None = None) -> None:
    """Report the gaps of a model as it was read. Errors come first: missing information would hide
    a remaining error. `backend` is the one whose format the model was read from, since its lint may
    find gaps itself."""
    from orgflow.passes.pipelines import GAPS

    without = backend.lint_replaces if backend is not None else ()
    if not ctx.has_errors and "gaps" not in without:
        PassManager(_configured(GAPS, ctx) if ctx.passes else GAPS).run(model, ctx)


def check_source(source: Source, model: Model, ctx: PassContext, from_: str | None) -> None:
    """`check_model` for a model read from `source`; a file in the format of a backend is linted by
    that backend, whose rules replace those of some passes. Gaps are not faults; `check_gaps` finds
    them."""
    assert ctx.registry is not None
    backend = own_backend(source, ctx.registry, from_)
    check_model(model, ctx, without=backend.lint_replaces if backend is not None else ())
    if backend is not None and isinstance(source, SourceFile):
        backend.lint(source, ctx)


def own_backend(source: Source, registry: Leaves, from_: str | None) -> Backend | None:
    """The backend with the name of the frontend that reads the bytes of `source`, if there is one;
    a stream or a folder has none."""
    if not isinstance(source, SourceFile):
        return None
    frontend = choose_frontend(source, registry, PassContext(), from_)
    own: Backend | None = registry.backend(frontend.name) if frontend is not None else None
    return own


def choose_agents(wanted: Iterable[str | Agent], registry: Leaves) -> tuple[GapAgent, ...]:
    """Agents that answer gaps, passed as objects or by their names.

    Raises `UnknownName`, and `UnsupportedError` for an agent that answers no gaps.
    """
    from orgflow_ir.plugins.agents import GapAgent

    if isinstance(wanted, str):
        raise UnsupportedError(f"the agents are a text; pass a list, as in [{wanted!r}]")
    found = []
    for item in wanted:
        agent = _agent(item, registry)
        if not isinstance(agent, GapAgent):
            raise UnsupportedError(f"agent `{agent.name}` does not answer gaps")
        found.append(agent)
    return tuple(found)


def choose_drafter(wanted: str | Agent, registry: Leaves) -> ModelAgent:
    """An agent that produces models, passed as an object or by its name.

    Raises `UnknownName`, and `UnsupportedError` for an agent that produces none.
    """
    from orgflow_ir.plugins.agents import ModelAgent

    agent = _agent(wanted, registry)
    if not isinstance(agent, ModelAgent):
        raise UnsupportedError(f"agent `{agent.name}` does not produce models")
    return agent


def _agent(wanted: str | Agent, registry: Leaves) -> Agent:
    if not isinstance(wanted, str):
        from orgflow_ir.plugins.agents import Agent as AnyAgent
        from orgflow_ir.plugins.guards import fault

        wrong = fault(wanted, AnyAgent)
        if wrong is not None:
            raise UnsupportedError(f"this cannot be used as an agent: {wrong}")
        return wanted
    found: Agent | None = registry.agents.get(wanted)
    if found is None:
        raise UnknownName("agent", wanted, tuple(registry.agents))
    return found


def fill_gaps(
    model: Model, agents: Sequence[GapAgent], ctx: PassContext, *, report_open: bool = False
) -> Model:
    """The model with the answers of agents that the passes of `check` accept; answers and refusals
    are in `ctx`, with `report_open` also the remaining gaps. A malformed model is returned
    unchanged, and no agent is asked."""
    if not agents and not report_open:
        return model
    from orgflow_ir.filling.gap_filling import fill_gaps as fill

    def errors(changed: Model) -> tuple[Diagnostic, ...]:
        quiet = PassContext(registry=ctx.registry, services=ctx.services)
        check_model(changed, quiet)
        return tuple(d for d in quiet.diagnostics if d.severity is Severity.ERROR)

    read_ahead(model_texts(model), ctx.services)
    if ctx.has_errors or any(d.category is not None and d.category.stops for d in errors(model)):
        return fill(model, (), ctx, report_open=report_open).model  # nobody is asked
    return fill(model, agents, ctx, errors, report_open=report_open).model


def read_ahead(texts: Iterable[str], services: Services) -> None:
    """Pass the texts of a run to the language model's client before the first request, so that
    personal data in a later text are recognised in an earlier one."""
    from orgflow_ir.pipeline.agent_services import ReadsAhead

    if isinstance(services.model, ReadsAhead):
        services.model.learn(texts)


def model_texts(model: Model) -> tuple[str, ...]:
    """The texts of the elements of a model: all names, documentation, and cited passages."""
    every = (model, *all_elements(model))
    quotes = dict.fromkeys(e.quote for one in every for e in one.evidence if e.quote)
    docs = dict.fromkeys(one.doc for one in every if one.doc)
    return ("\n".join(dict.fromkeys(one.name for one in every if one.name)), *docs, *quotes)


def draft_model(agent: ModelAgent, documents: Sequence[Document], ctx: PassContext) -> Model | None:
    """The model that an agent produces from documents, its evidence compared with them; `None`
    after an error."""
    from orgflow_ir.diagnostics.agent_rules import UnavailableAgent
    from orgflow_ir.filling.agent_guards import AgentFailure, produced
    from orgflow_ir.filling.evidence_check import check_evidence
    from orgflow_ir.pipeline.services import ServiceError

    texts = {document.name: document.text for document in documents}
    read_ahead(texts.values(), ctx.services)
    store = ctx.services.store

    def text_of(name: str) -> str | None:
        return texts.get(name) if name in texts or store is None else store.text(name)

    try:
        model = produced(agent, documents, ctx)
        if model is not None:
            check_evidence(model, text_of, ctx)
    except AgentFailure as failure:
        rule: type[Rule] = UnavailableAgent if failure.unavailable else FaultyLeaf
        ctx.emit(rule, f"{leaf_name(agent, ctx)} {failure}", severity=Severity.ERROR)
        return None
    except ServiceError as error:
        ctx.emit(
            UnavailableAgent, f"the evidence of {leaf_name(agent, ctx)} cannot be read: {error}",
            severity=Severity.ERROR,
        )  # fmt: skip
        return None
    return model


def with_called(model: Model, backend: Backend, ctx: PassContext) -> Model:
    """The model with the processes that it calls but does not contain, from the files of the
    command (`ctx.given`) and their neighbours, if the target executes."""
    if not backend.target.executes or not any(
        isinstance(node, CallActivity) for scope in model.scopes() for node in scope.nodes
    ):
        return model
    from orgflow_ir.linking.called_processes import with_called_processes

    return with_called_processes(model, ctx)


def compile_model(
    model: Model,
    backend: Backend,
    ctx: PassContext,
    *,
    options: Mapping[str, str] | None = None,
    allow_lossy: bool = False,
    force: bool = False,
    strict: bool = False,
) -> Emitted | None:
    """Check, legalise for the backend's target, and emit; `None` after errors.

    See `lower_model`, which does everything except the last step.
    """
    with paused_collector():
        legal = lower_model(
            model, backend, ctx, options=options, allow_lossy=allow_lossy, force=force,
            strict=strict,
        )  # fmt: skip
        if legal is None:
            return None
        if backend.target.executes:
            from orgflow.passes.pipelines import GAP_SEVERITIES

            ctx.severities = {**GAP_SEVERITIES, **ctx.severities}
            check_gaps(model, ctx)
        return emitted(backend, legal, ctx)


def compile_separately(
    model: Model,
    backend: Backend,
    ctx: PassContext,
    *,
    options: Mapping[str, str] | None = None,
    allow_lossy: bool = False,
    force: bool = False,
    strict: bool = False,
) -> list[tuple[Model, Emitted]]:
    """Each process of a model compiled separately, in the form of `only_process`, but together with
    the processes that it calls; a faulty process does not affect the others. Messages between
    processes are reported as gaps, and findings about the whole model once. Files that a backend
    names after the model are named after the process; duplicate names get a number."""
    from orgflow_ir.gaps.gap_rules import OpenMessage

    index = ModelIndex(model)
    found: list[tuple[Model, Emitted]] = []
    said = list(ctx.diagnostics)
    paths: set[str] = set()
    for together in separable(model):
        process = together[0]
        alone = _only(model, index, together)
        own = PassContext(
            registry=ctx.registry, services=ctx.services, grading=ctx.grading, given=ctx.given,
            folders=ctx.folders, changed=ctx.changed,
        )  # fmt: skip
        emitted = compile_model(
            alone, backend, own, options=options, allow_lossy=allow_lossy, force=force,
            strict=strict,
        )  # fmt: skip
        new = [d for d in own.diagnostics if d not in said]
        ctx.diagnostics += new
        said += new
        if emitted is not None:
            found.append((alone, _renamed(emitted, alone, process, paths)))
    ctx.source = model
    for message in model.message_flows:
        sender, receiver = index.process(message.source), index.process(message.target)
        if sender is not None and receiver is not None:
            to = f" to {ctx.name(message.target)}" if message.name.strip() else ""
            ctx.emit(
                OpenMessage,
                f"nothing delivers {ctx.name(message)}{to}: the processes are compiled separately",
                element=message,
                help="let the sending step call the process that waits for the message",
            )
    return found


def separable(model: Model) -> list[list[Process]]:
    """The executable processes of a model in groups that do not call each other. A process of
    another file is in the group of each caller, after the first process of the model itself."""
    own = [p for p in executable_processes(model) if not is_taken_over(p, model)]
    groups: list[dict[str, Process]] = []
    for process in own:
        group = {one.id: one for one in (process, *called_from(process, model))}
        for other in [one for one in groups if _share(one, group, model)]:
            groups.remove(other)
            group = {**other, **group}
        groups.append(group)
    order = {process.id: at for at, process in enumerate(model.processes)}
    found = [sorted(group.values(), key=lambda p: order[p.id]) for group in groups]
    return sorted(found, key=lambda group: order[group[0].id])


def _share(one: Mapping[str, Process], other: Mapping[str, Process], model: Model) -> bool:
    """Whether two groups have a process of the model itself in common."""
    return any(not is_taken_over(one[id], model) for id in one.keys() & other.keys())


def _renamed(emitted: Emitted, model: Model, process: Process, taken: set[str]) -> Emitted:
    """The files of one process under paths that are not taken; from now on they are. A file named
    after the model (`shop.bpmn`, `model.bpmn`) is named after the process."""
    stem = file_stem(model.source)
    own = file_names([process.name or process.id], "")[0]
    paths: dict[str, str] = {}
    for artifact in emitted.artifacts:
        base, dot, suffix = artifact.path.partition(".")
        if artifact.path.startswith(f"{stem}."):
            base, dot, suffix = own, ".", artifact.path.removeprefix(f"{stem}.")
        path, number = f"{base}{dot}{suffix}", 2
        while path in taken:
            path, number = f"{base}-{number}{dot}{suffix}", number + 1
        taken.add(path)
        paths[artifact.path] = path
    if all(old == new for old, new in paths.items()):
        return emitted
    return dataclasses.replace(
        emitted,
        artifacts=tuple(a._replace(path=paths[a.path]) for a in emitted.artifacts),
        source_map=emitted.source_map.moved(paths),
    )


def emit_anyway(model: Model, backend: Backend, ctx: PassContext) -> Emitted | None:
    """The backend's output for a model with errors in its flow, to show it with them; `None` if the
    target does not support it. Nothing is reported to `ctx`."""
    from orgflow_ir.legalisation.legalise import legalise

    spec = backend.target
    options = {**spec.default_options, **ctx.options}
    quiet = PassContext(
        registry=ctx.registry, target=spec, options=options, given=ctx.given, folders=ctx.folders
    )
    legal = legalise(model, spec, quiet, allow_lossy=True)
    return None if quiet.has_errors else emitted(backend, legal, quiet)


def lower_model(
    model: Model,
    backend: Backend,
    ctx: PassContext,
    *,
    options: Mapping[str, str] | None = None,
    allow_lossy: bool = False,
    force: bool = False,
    strict: bool = False,
) -> Model | None:
    """The model in the form that the backend may emit, `None` after errors.

    Duplicate execution and leftover tokens are warnings unless `strict`; `force` reduces only flow
    errors (`FORCEABLE`) to warnings. Unsupported constructs are reported even after a flow error,
    so one call reports everything.
    """
    from orgflow.passes.pipelines import COMPILE_SEVERITIES, DRAWABLE, FORCEABLE

    let_through: frozenset[str] = FORCEABLE if force else frozenset()
    if not backend.target.executes:  # a drawing of a deadlock stops nobody
        let_through = DRAWABLE
    ctx.severities = {
        **({} if strict else COMPILE_SEVERITIES),
        **dict.fromkeys(let_through, Severity.WARNING),
        **ctx.severities,
    }
    legal = legal_model(
        model, backend, ctx, options=options, allow_lossy=allow_lossy, last=Stage.LOWER
    )
    return None if ctx.has_errors else legal


def legal_model(
    model: Model,
    backend: Backend,
    ctx: PassContext,
    *,
    options: Mapping[str, str] | None = None,
    allow_lossy: bool = False,
    last: Stage = Stage.ANALYSE,
) -> Model | None:
    """The model checked and rewritten into supported constructs; `None` if it is malformed.

    Other errors are in `ctx`, which has the target and its options from then on.
    """
    from orgflow_ir.legalisation.legalise import legalise

    spec = backend.target
    ctx.target = spec
    ctx.options = {**spec.default_options, **ctx.options, **(options or {})}
    if _blocked(ctx):
        return None
    model = check_model(model, ctx, last=last)
    if _blocked(ctx):
        return None
    return legalise(model, spec, ctx, allow_lossy=allow_lossy)


def check_output(model: Model, backend: Backend, ctx: PassContext) -> None:
    """Report the findings of a backend's own rules about the result of a legal model, such as
    addresses that anybody can call; the result itself is not kept, nor are remarks on what became
    of each element."""
    if not backend.target.executes or ctx.has_errors:
        return
    quiet = dataclasses.replace(ctx, _found=[], _advice=[])
    emitted(backend, model, quiet)
    ctx.diagnostics += [
        one
        for one in quiet.diagnostics
        if one.target == backend.name or one.severity is Severity.ERROR
    ]


def _blocked(ctx: PassContext) -> bool:
    """Whether an error stands that makes the model unfit for looking further: any but those of
    its flow, its data, its target or its gaps."""
    return any(
        d.severity is Severity.ERROR and d.category is not None and d.category.stops
        for d in ctx.diagnostics
    )
