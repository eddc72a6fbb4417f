"""`orgflowc model`: a process from a text."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from orgflow.agents.model_client.settings import NotConfigured
from orgflow.agents.text.doubts import (
    IN_A_WORD,
    OPTIONS,
    AnswersError,
    Question,
    apply_answers,
    find_questions,
    questions_json,
    read_answers,
    report_doubts,
)
from orgflow.agents.text.draft_options import PROMPT, ROUNDS
from orgflow.agents.text.draft_rules import UnsoundDraft
from orgflow.commands.completion_values import FILE, complete_targets
from orgflow.commands.language_model import (
    announce_model,
    connect_model,
    feedback_option,
    give_feedback,
    paid_calls,
    read_feedback,
    report_usage,
)
from orgflow.commands.options import (
    DiagnosticsOptions,
    ModelOptions,
    diagnostics_options,
    model_options,
    model_settings,
    parsed_into,
    prompt_option,
    resolve_target,
)
from orgflow.commands.output import (
    OutputError,
    keep_input,
    write_artifacts,
    write_files,
)
from orgflow.commands.server import SERVER_FAILED
from orgflow.commands.session import Session, end_command, exit_code
from orgflow.compilation.agent_answers import choose_drafter, draft_model, read_ahead
from orgflow.compilation.input_sources import read_source, source_name
from orgflow.compilation.model_checks import check_model
from orgflow.compilation.usage_errors import InputError, UnknownName, UnsupportedError
from orgflow.compiler import compile_model

from orgflow_ir.diagnostics import Category, Severity
from orgflow_ir.diagnostics.agent_rules import UnavailableAgent
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import GatewayKind, Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.agents import Document, ModelAgent

if TYPE_CHECKING:  # with a language model, and for pages
    from orgflow.agents.language import sentences
    from orgflow.agents.model_client.client import OpenAIModelClient
    from orgflow.agents.text import modeller
    from orgflow.commands import page_server, questions_page
    from orgflow.evaluation import feedback, text_page
    from orgflow.evaluation.failures import Failure
else:
    modeller = LazyModule("orgflow.agents.text.modeller")
    sentences = LazyModule("orgflow.agents.language.sentences")
    page_server = LazyModule("orgflow.commands.page_server")
    questions_page = LazyModule("orgflow.commands.questions_page")
    feedback = LazyModule("orgflow.evaluation.feedback")
    text_page = LazyModule("orgflow.evaluation.text_page")

WITH_MODEL, BY_RULES = "text", "text-rules"
"""The agents: one asks a language model, the other needs none."""


class DraftOptions(ModelOptions, DiagnosticsOptions):
    """The options of `model`."""

    in_: str
    target: str
    output: str | None
    agent: str | None
    no_model: bool
    explain: str | None
    ask: bool
    page: bool
    questions: str | None
    answers: str | None
    rounds: int
    prompt: str | None
    feedback: str | None


@click.command("model", short_help="Draft a process from a text.")
@click.argument("in_", metavar="TEXT", type=FILE)
@click.option(
    "--target", default="bpmn", metavar="T[{option=value,…}]", shell_complete=complete_targets,
    help="Format of the process. [default: bpmn]",
)  # fmt: skip
@click.option("-o", "output", metavar="FILE|DIR", help="Write to this file instead of stdout.")
@click.option("--agent", metavar="NAME", help=f"The agent that drafts.  [default: {WITH_MODEL}]")
@click.option("--no-model", is_flag=True, help="Draft by rules only.")
@click.option(
    "--explain",
    metavar="FILE.html",
    help="Write a page with the text and the process side by side.",
)
@click.option("--ask", is_flag=True, help="Ask about ambiguities in the terminal.")
@click.option("--page", is_flag=True, help="Ask about ambiguities on a page in the browser.")
@click.option(
    "--questions", metavar="FILE", help="Write the ambiguities to this file for answering."
)
@click.option("--answers", metavar="FILE", type=FILE, help="Use the answers in this file.")
@click.option(
    "--rounds", default=0, metavar="N", type=click.IntRange(0, 5),
    help="Number of reviews of every gateway and the parts between gateways. [default: 0]",
)  # fmt: skip
@prompt_option
@feedback_option
@model_options
@diagnostics_options
@parsed_into(DraftOptions)
def command(options: DraftOptions) -> None:
    """Draft a process from TEXT (a file, or - for standard input) and write it for a target.

    A language model drafts it and cites a sentence for every element; the draft is checked and
    compared with the text. Without a language model, rules draft it. Exit code 3: the model failed.
    """
    for written, option in (
        (options.output, "-o"), (options.explain, "--explain"), (options.questions, "--questions"),
    ):  # fmt: skip
        others = (path for path in (options.answers, options.feedback) if path)
        keep_input(written, options.in_, *others, option=option)
    session = Session.with_options(options)
    backend, target_options = resolve_target(options.target, session.registry, [options.in_])
    document = _read_document(options.in_, session)
    client, name = _choose_agent(options, session)
    ctx = session.context()
    ctx.file = document.name
    try:
        drafter = choose_drafter(name, session.registry)
    except (UnknownName, UnsupportedError) as error:
        raise click.UsageError(str(error)) from None
    try:
        ctx.options = {**ctx.options, ROUNDS: options.rounds, PROMPT: options.prompt}
        failures = read_feedback(options.feedback)
        if client is not None:
            _announce_draft(client, document, failures, backend.name, options, session)
        model = _draft_process(drafter, document, failures, backend.name, client, session, ctx)
    finally:
        if client is not None:
            report_usage(session, client)
    failed = any(
        d.code == UnavailableAgent.code and d.severity is Severity.ERROR for d in ctx.diagnostics
    )
    artifacts = None
    if model is not None:
        with paid_calls(client):
            model = _ask_person(model, document, session, options)
        session.models.append(model)
        emitted = compile_model(model, backend, ctx, options=target_options)
        artifacts = emitted.artifacts if emitted is not None else None
        _report_unsound(model, session, ctx)
        if not backend.target.executes:
            report_doubts(model, ctx)
        if options.explain is not None:
            _write_explanation(options.explain, document, model, session)
    session.collect(ctx)
    try:
        if artifacts is not None:
            write_artifacts(artifacts, options.output)
    finally:
        session.show()
    end_command(SERVER_FAILED if failed else exit_code(session.diagnostics))


def _announce_draft(
    client: OpenAIModelClient,
    document: Document,
    failures: Sequence[Failure],
    target: str,
    options: DraftOptions,
    session: Session,
) -> None:
    """Report the expected usage of the language model, and show it the texts for redaction."""
    expected = modeller.expected_drafting(document.text, options.rounds)
    expected += feedback.expected_diagnosis(failures, Model(id="model"), target)
    announce_model(session, client, expected)
    evidence = (line for failure in failures for line in failure.evidence)
    read_ahead((document.text, *evidence), session.services)


def _report_unsound(model: Model, session: Session, ctx: PassContext) -> None:
    """Report a draft whose flow has errors; it is written nevertheless, so that it can be
    corrected."""
    if ctx.has_errors:
        return
    checked = session.context()
    check_model(model, checked)
    errors = [
        d for d in checked.diagnostics
        if d.severity is Severity.ERROR and d.category is Category.FLOW
    ]  # fmt: skip
    if errors:
        codes = sorted({error.code for error in errors})
        ctx.emit(
            UnsoundDraft, f"the draft stays unsound ({', '.join(codes)})",
            loc=errors[0].loc, help="correct the draft, draft again, or use another model",
        )  # fmt: skip


def _draft_process(
    drafter: ModelAgent,
    document: Document,
    failures: Sequence[Failure],
    target: str,
    client: OpenAIModelClient | None,
    session: Session,
    ctx: PassContext,
) -> Model | None:
    """The draft of an agent, `None` after an error."""
    with paid_calls(client):
        give_feedback(failures, None, target, session, ctx)
        return draft_model(drafter, [document], ctx)


def _read_document(path: str, session: Session) -> Document:
    """The text. Raises `click.UsageError`."""
    try:
        source = read_source(path)
    except InputError as error:
        raise click.UsageError(f"{error}; {error.help}") from None
    utf16 = source.data.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        text = source.data.decode("utf-16" if utf16 else "utf-8-sig")
    except UnicodeDecodeError:
        raise click.UsageError(f"{path} is not UTF-8 text") from None
    if "\0" in text:
        raise click.UsageError(f"{path} is no text")
    name = source_name(path)
    session.inputs.append(name)
    session.sources[name] = SourceFile(name, source.data)
    return Document(name, text)


def _choose_agent(options: DraftOptions, session: Session) -> tuple[OpenAIModelClient | None, str]:
    """The client, where there is one, and the name of the agent; says what is missing."""
    agent = options.agent
    if options.no_model or agent == BY_RULES:
        return None, agent or BY_RULES
    try:
        client = connect_model(session, model_settings(options), options.in_)
    except NotConfigured as error:
        if agent is not None:
            session.note(f"{error}")  # it may need none
            return None, agent
        session.note(f"{error}; drafting by rules alone")
        return None, BY_RULES
    return client, agent or WITH_MODEL


def _ask_person(model: Model, document: Document, session: Session, options: DraftOptions) -> Model:
    """The model with the answers of a file, of the terminal and of a page; what is open goes to a
    file, with the answers of the page."""
    given = _read_answers(options.answers) if options.answers is not None else {}
    open_ = [q for q in find_questions(model) if q.element not in given]
    questions = options.questions
    try:
        drafted = apply_answers(model, given)
    except AnswersError as error:
        raise click.UsageError(f"{options.answers}: {error}") from None
    if options.page and open_:
        on_page = _ask_on_page(drafted, open_, session, questions, document)
        return apply_answers(drafted, on_page)
    in_terminal = options.ask and not options.page
    if in_terminal and open_ and sys.stdin is not None and sys.stdin.isatty():
        return apply_answers(drafted, _ask_in_terminal(open_, questions))
    if questions is not None:
        write_files([(Path(questions), questions_json(open_))])
    elif open_:
        count = f"{len(open_)} question{'s'[: len(open_) != 1]} about the text"
        needs = "--ask needs a terminal; " if in_terminal else ""
        session.note(f"{count}: {needs}see --ask, --page and --questions")
    return drafted


def _read_answers(path: str) -> dict[str, Any]:
    """The answers in a file. Raises `click.UsageError`."""
    try:
        return read_answers(Path(path).read_text("utf-8"))
    except OSError as error:
        raise click.UsageError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise click.UsageError(f"{path} is not UTF-8 text") from None
    except AnswersError as error:
        raise click.UsageError(f"{path}: {error}") from None


def _ask_in_terminal(asked: list[Question], questions: str | None) -> dict[str, GatewayKind]:
    """The answers that a person types; each goes to a file at once, for whoever stops halfway."""
    given: dict[str, GatewayKind] = {}
    kinds = {word: kind for kind, word in IN_A_WORD.items()}
    for question in asked:
        if question.sentence:
            click.echo(f'the text says "{question.sentence}"', err=True)
        click.echo(question.text, err=True)
        for kind, words in OPTIONS.items():
            click.echo(f"  {IN_A_WORD[kind]:<5} {words}", err=True)
        answer = click.prompt(
            "answer", type=click.Choice(list(kinds)), default=IN_A_WORD[question.current],
            show_choices=False, err=True,
        )  # fmt: skip
        given[question.element] = kinds[answer]
        if questions is not None:
            write_files([(Path(questions), questions_json(asked, given))])
    return given


def _ask_on_page(
    model: Model, asked: list[Any], session: Session, questions: str | None, document: Document
) -> dict[str, Any]:
    """The answers that a person gives on a page; each time some are saved they go to a file."""

    def keep(given: dict[str, Any]) -> None:
        if questions is not None:
            write_files([(Path(questions), questions_json(asked, given))])

    page = questions_page.QuestionsPage(
        model, asked, lambda shown: draw_model(shown, session), keep, Path(document.name).name
    )
    what = f"{len(asked)} question{'s'[: len(asked) != 1]}"
    page_server.serve_page(page, what, session.services.cancellation)
    return dict(page.given)


def draw_model(model: Model, session: Session) -> str:
    """The picture of a model, as SVG text; empty if it cannot be drawn."""
    drawing = session.registry.backend("svg")
    emitted = compile_model(model, drawing, session.context()) if drawing is not None else None
    return emitted.artifacts[0].text if emitted is not None else ""


def _write_explanation(path: str, document: Document, model: Model, session: Session) -> None:
    """Write the page. Raises `OutputError`."""
    picture = draw_model(model, session)
    if not picture:
        raise OutputError(f"cannot write {path}: the process cannot be drawn")
    page = text_page.render_text_page(
        model, sentences.split_sentences(document.text), picture, Path(document.name).name
    )
    write_files([(Path(path), page)])
