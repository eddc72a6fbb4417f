"""`orgflowc synth`: create a corpus of messages from models, with the truth about it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from orgflow.agents.model_client.settings import NotConfigured
from orgflow.commands.completion_values import FILE
from orgflow.commands.language_model import announce_model, connect_model, paid_calls, report_usage
from orgflow.commands.options import (
    ModelOptions,
    SourceOptions,
    model_options,
    model_settings,
    parsed_into,
    source_options,
)
from orgflow.commands.output import write_files, write_stdout
from orgflow.commands.progress import progress_bar
from orgflow.commands.server import SERVER_FAILED
from orgflow.commands.session import Session, end_command, exit_code
from orgflow.compilation.model_checks import check_model
from orgflow.compilation.usage_errors import suggest_name
from orgflow.evaluation.corpus.english import ENGLISH
from orgflow.evaluation.corpus.german import GERMAN
from orgflow.evaluation.corpus.rewording import expected_rewording, reword_messages
from orgflow.evaluation.corpus.scenarios import Source
from orgflow.evaluation.corpus.scenarios import list_sources as find_sources
from orgflow.evaluation.corpus.weave import STRESS, Writer, Written, anonymise_stream

from orgflow_ir.model import Model
from orgflow_ir.pipeline.services import Progress, ServiceError

if TYPE_CHECKING:
    from orgflow.agents.model_client.client import OpenAIModelClient

LANGUAGES = {"en": ENGLISH, "de": GERMAN}
"""The languages of messages, by code."""


class SynthOptions(ModelOptions, SourceOptions):
    """The options of `synth`."""

    inputs: tuple[str, ...]
    output: str
    scenarios: int
    noise: float
    stress: str
    language: str
    seed: int
    reword: bool


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
@parsed_into(SynthOptions)
def command(options: SynthOptions) -> None:
    """Generate a corpus of messages from every MODEL, to test discovery.

    Runs of each model become scenarios: people write, phone and text about their tasks, in words
    from templates, mixed with small talk, in one stream of three months. `truth.json` contains the
    process, the scenario and the tasks of every message; `messages.jsonl` contains none of them.
    Equal seeds give equal files. With --reword, a language model words the messages. An answer that
    loses a statement or a number of the message is not used, and the words of the template are
    kept. Exit code 3: the language model failed.
    """
    stress = frozenset(part for part in options.stress.split(",") if part)
    for part in sorted(stress.difference(STRESS)):
        raise click.UsageError(f"no stress `{part}`; {suggest_name(part, STRESS)}")
    if options.language not in LANGUAGES:
        raise click.UsageError(
            f"there is no language `{options.language}`; the languages are {', '.join(LANGUAGES)}"
        )
    session = Session.with_options(options)
    client = _connect_model(options, session) if options.reword else None
    with progress_bar() as progress:
        sources = find_sources(_read_models(options, session, progress), options.scenarios)
        writer = Writer(LANGUAGES[options.language], options.seed, stress, options.noise)
        written = writer.corpus(sources)
    if client is not None:
        written = _reword_messages(written, sources, options.language, client, session)
    stream, truth = anonymise_stream(written, sources, options.seed)
    folder = Path(options.output)
    write_files([(folder / "messages.jsonl", stream), (folder / "truth.json", truth)])
    real = sum(1 for message in written if message.process)
    write_stdout(
        f"{options.output}: {len(written)} messages, {len(written) - real} of them noise, in "
        f"{sum(len(s.scenarios) for s in sources)} scenarios of {len(sources)} processes\n"
    )
    session.show()
    end_command(0)


def _read_models(
    options: SynthOptions, session: Session, progress: Progress
) -> list[tuple[str, Model]]:
    """The models, each with its key; ends the command after an error."""
    models: list[tuple[str, Model]] = []
    for place, name in enumerate(options.inputs):
        progress(place, len(options.inputs), name)
        ctx = session.context()
        model = session.load(name, ctx, options.from_)
        if model is not None:
            check_model(model, ctx)
            models.append((_choose_key(name, [key for key, _ in models]), model))
        session.collect(ctx)
    malformed = any(
        d.severity.value == "error" and d.category is not None and d.category.stops
        for d in session.diagnostics
    )
    if malformed or len(models) < len(options.inputs):
        session.show()
        end_command(exit_code(session.diagnostics))
    return models


def _connect_model(options: SynthOptions, session: Session) -> OpenAIModelClient:
    """The client of the language model. Raises `click.UsageError` where there is none."""
    try:
        return connect_model(session, model_settings(options), options.inputs[0])
    except NotConfigured as error:
        raise click.UsageError(str(error)) from None


def _reword_messages(
    written: list[Written],
    sources: Sequence[Source],
    language: str,
    client: OpenAIModelClient,
    session: Session,
) -> list[Written]:
    """The messages in words of the language model, and a note about how many."""
    tasks = {
        (scenario.process, task.element): task.name
        for source in sources for scenario in source.scenarios for task in scenario.tasks
    }  # fmt: skip
    announce_model(session, client, expected_rewording(written, language))
    client.learn(message.body for message in written)
    try:
        with paid_calls(client), progress_bar() as progress:
            done = reword_messages(written, tasks, language, client, progress)
    except ServiceError as error:
        click.echo(f"orgflowc synth: {error}", err=True)
        end_command(SERVER_FAILED)
    finally:
        report_usage(session, client)
    stopped = f"; the others were skipped: {done.stopped}" if done.stopped else ""
    session.note(
        f"{done.changed} of {len(written)} messages reworded by the language model, "
        f"{done.refused} kept as in the template, since no answer could be used{stopped}"
    )
    return done.written


def _choose_key(name: str, taken: list[str]) -> str:
    """The file's name without its suffix, made unique."""
    stem = Path(name).stem
    number = 2
    key = stem
    while key in taken:
        key, number = f"{stem}.{number}", number + 1
    return key
