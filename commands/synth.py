"""`orgflowc synth`: create a corpus of messages from models, with the truth about it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from orgflow.commands.completion_values import FILE
from orgflow.commands.language_model import announce_model, connect_model, paid_calls, report_usage
from orgflow.commands.options import model_flags, model_options, source_options
from orgflow.commands.output import write_files, write_stdout
from orgflow.commands.progress import progress_bar
from orgflow.commands.server import SERVER_FAILED
from orgflow.commands.session import Session, exit_code, leave
from orgflow.compiler import check_model, suggestion

from orgflow_ir.model import Model
from orgflow_ir.pipeline.services import ServiceError

if TYPE_CHECKING:
    from orgflow.agents.model_client.client import OpenAIModelClient
    from orgflow.evaluation.corpus.scenarios import Source
    from orgflow.evaluation.corpus.weave import Written

LANGUAGES = ("en", "de")


@click.command("synth", short_help="Generate messages and their expected results from models.")
@click.argument("inputs", metavar="MODEL...", nargs=-1, required=True, type=FILE)
@click.option(
    "-o",
    "output",
    metavar="DIR",
    required=True,
    help="Write messages.jsonl and truth.json to this folder.",
)
@click.option(
    "--scenarios", default=3, metavar="N", type=click.IntRange(1, 100),
    help="Scenarios of each process.  [default: 3]",
)  # fmt: skip
@click.option(
    "--noise", default=0.25, metavar="SHARE", type=click.FloatRange(0, 10),
    help="Messages without a process, as a share of the others. [default: 0.25]",
)  # fmt: skip
@click.option(
    "--stress", default="", metavar="KIND,...",
    help="shared-staff, lost-threads, lost-roles, merged, missing, clocks.",
)  # fmt: skip
@click.option(
    "--language", default="en", metavar="en|de", help="Language of the messages. [default: en]"
)
@click.option("--seed", default=1, metavar="N", help="Seed of the corpus. [default: 1]")
@click.option("--reword", is_flag=True, help="Let the configured language model word the messages.")
@model_options
@source_options
def command(
    inputs: tuple[str, ...],
    output: str,
    scenarios: int,
    noise: float,
    stress: str,
    language: str,
    seed: int,
    reword: bool,
    from_: str | None,
    format_: str,
    verbose: bool,
    **more: Any,
) -> None:
    """Generate a corpus of messages from every MODEL, to test discovery.

    Runs of each model become scenarios: people write, phone and text about their tasks, in words
    from templates, mixed with small talk, in one stream of three months. `truth.json` contains the
    process, the scenario and the tasks of every message; `messages.jsonl` contains none of them.
    Equal seeds give equal files. With --reword, a language model words the messages. An answer that
    loses a statement or a number of the message is not used, and the words of the template are
    kept. Exit code 3: the language model failed.
    """
    from orgflow.evaluation.corpus.english import ENGLISH
    from orgflow.evaluation.corpus.german import GERMAN
    from orgflow.evaluation.corpus.scenarios import sources
    from orgflow.evaluation.corpus.weave import STRESS, Writer, anonymised

    chosen = frozenset(part for part in stress.split(",") if part)
    for part in sorted(chosen.difference(STRESS)):
        raise click.UsageError(f"no stress `{part}`; {suggestion(part, STRESS)}")
    if language not in LANGUAGES:
        raise click.UsageError(
            f"there is no language `{language}`; the languages are {', '.join(LANGUAGES)}"
        )
    session = Session(format_, verbose=verbose)
    client = _client(session, model_flags(more), inputs[0]) if reword else None
    models: list[tuple[str, Model]] = []
    with progress_bar() as progress:
        for place, name in enumerate(inputs):
            progress(place, len(inputs), name)
            ctx = session.context()
            model = session.load(name, ctx, from_)
            if model is not None:
                check_model(model, ctx)
                models.append((_key(name, [key for key, _ in models]), model))
            session.collect(ctx)
        malformed = any(
            d.severity.value == "error" and d.category is not None and d.category.stops
            for d in session.diagnostics
        )
        if malformed or len(models) < len(inputs):
            session.show()
            leave(exit_code(session.diagnostics))
        found = sources(models, scenarios)
        writer = Writer(GERMAN if language == "de" else ENGLISH, seed, chosen, noise)
        written = writer.corpus(found)
    if client is not None:
        written = _reworded(written, found, language, client, session)
    stream, truth = anonymised(written, found, seed)
    folder = Path(output)
    write_files([(folder / "messages.jsonl", stream), (folder / "truth.json", truth)])
    real = sum(1 for message in written if message.process)
    write_stdout(
        f"{output}: {len(written)} messages, {len(written) - real} of them noise, in "
        f"{sum(len(s.scenarios) for s in found)} scenarios of {len(found)} processes\n"
    )
    session.show()
    leave(0)


def _client(session: Session, flags: dict[str, Any], near: str) -> OpenAIModelClient:
    """The client of the language model. Raises `click.UsageError` where there is none."""
    from orgflow.agents.model_client.settings import NotConfigured

    try:
        return connect_model(session, flags, near)
    except NotConfigured as error:
        raise click.UsageError(str(error)) from None


def _reworded(
    written: list[Written],
    found: Sequence[Source],
    language: str,
    client: OpenAIModelClient,
    session: Session,
) -> list[Written]:
    """The messages in words of the language model, and a note about how many."""
    from orgflow.evaluation.corpus.rewording import expected_rewording, reword

    tasks = {
        (one.process, task.element): task.name
        for source in found for one in source.scenarios for task in one.tasks
    }  # fmt: skip
    announce_model(session, client, expected_rewording(written, language))
    client.learn(one.body for one in written)
    try:
        with paid_calls(client), progress_bar() as progress:
            done = reword(written, tasks, language, client, progress)
    except ServiceError as error:
        click.echo(f"orgflowc synth: {error}", err=True)
        leave(SERVER_FAILED)
    finally:
        report_usage(session, client)
    stopped = f"; the others were skipped: {done.stopped}" if done.stopped else ""
    session.note(
        f"{done.changed} of {len(written)} messages reworded by the language model, "
        f"{done.refused} kept as in the template, since no answer could be used{stopped}"
    )
    return done.written


def _key(name: str, taken: list[str]) -> str:
    """The file's name without its suffix, made unique."""
    stem = Path(name).stem
    number = 2
    key = stem
    while key in taken:
        key, number = f"{stem}.{number}", number + 1
    return key
