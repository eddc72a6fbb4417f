"""`orgflowc model`: a process from a text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from orgflow.commands.compile import write_artifacts
from orgflow.commands.completion_values import FILE, targets
from orgflow.commands.language_model import (
    announce_model,
    connect_model,
    feedback_option,
    give_feedback,
    paid_calls,
    read_feedback,
    report_usage,
)
from orgflow.commands.options import diagnostics_options, model_flags, model_options, resolve_target
from orgflow.commands.output import (
    OutputError,
    keep_input,
    write_files,
)
from orgflow.commands.server import SERVER_FAILED
from orgflow.commands.session import Session, exit_code, leave
from orgflow.compiler import (
    InputError,
    UnknownName,
    UnsupportedError,
    choose_drafter,
    compile_model,
    draft_model,
    read_ahead,
    read_source,
    source_name,
)

from orgflow_ir.diagnostics import Severity
from orgflow_ir.diagnostics.agent_rules import UnavailableAgent
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.plugins.agents import Document

if TYPE_CHECKING:
    from orgflow.agents.model_client.client import OpenAIModelClient
    from orgflow.agents.text.doubts import Question

    from orgflow_ir.model import GatewayKind

WITH_MODEL, BY_RULES = "text", "text-rules"
"""The agents: one asks a language model, the other needs none."""


@click.command("model", short_help="Draft a process from a text.")
@click.argument("in_", metavar="TEXT", type=FILE)
@click.option(
    "--target", default="bpmn", metavar="T[{option=value,…}]", shell_complete=targets,
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
    help="Number of reviews of every gateway and the parts between gateways. [default: 0, one "
        "review]",
)  # fmt: skip
@feedback_option
@model_options
@diagnostics_options
def command(
    in_: str,
    target: str,
    output: str | None,
    agent: str | None,
    no_model: bool,
    explain: str | None,
    ask: bool,
    page: bool,
    questions: str | None,
    answers: str | None,
    rounds: int,
    feedback: str | None,
    format_: str,
    verbose: bool,
    **more: Any,
) -> None:
    """Draft a process from TEXT (a file, or - for standard input) and write it for a target.

    A language model drafts it and cites a sentence for every element; the draft is checked and
    compared with the text. Without a language model, rules draft it. Exit code 3: the model failed.
    """
    from orgflow.agents.text.rounds import ROUNDS

    for written, option in ((output, "-o"), (explain, "--explain"), (questions, "--questions")):
        keep_input(written, in_, *(path for path in (answers, feedback) if path), option=option)
    session = Session(format_, verbose=verbose)
    backend, options = resolve_target(target, session.registry, [in_])
    document = _document(in_, session)
    client, name = _drafter(session, model_flags(more), in_, agent, no_model=no_model)
    ctx = session.context()
    ctx.file = document.name
    try:
        drafter = choose_drafter(name, session.registry)
    except (UnknownName, UnsupportedError) as error:
        raise click.UsageError(str(error)) from None
    try:
        ctx.options = {**ctx.options, ROUNDS: rounds}
        failures = read_feedback(feedback)
        if client is not None:
            from orgflow.agents.text.modeller import expected_drafting
            from orgflow.evaluation.feedback import expected_diagnosis

            expected = expected_drafting(document.text, rounds)
            expected += expected_diagnosis(failures, Model(id="model"), backend.name)
            announce_model(session, client, expected)
            read_ahead(
                (document.text, *(line for one in failures for line in one.evidence)),
                session.services,
            )
        with paid_calls(client):
            give_feedback(failures, None, backend.name, session, ctx)
            model = draft_model(drafter, [document], ctx)
    finally:
        if client is not None:
            report_usage(session, client)
    failed = any(
        d.code == UnavailableAgent.code and d.severity is Severity.ERROR for d in ctx.diagnostics
    )
    artifacts = None
    if model is not None:
        asked_how = "page" if page else "terminal" if ask else ""
        with paid_calls(client):
            model = _asked(
                model, document, session, how=asked_how, answers=answers, questions=questions
            )
        session.models.append(model)
        emitted = compile_model(model, backend, ctx, options=options)
        artifacts = emitted.artifacts if emitted is not None else None
        if explain is not None:
            _explain(explain, document, model, session)
    session.collect(ctx)
    try:
        if artifacts is not None:
            write_artifacts(artifacts, output)
    finally:
        session.show()
    leave(SERVER_FAILED if failed else exit_code(session.diagnostics))


def _document(path: str, session: Session) -> Document:
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


def _drafter(
    session: Session, flags: dict[str, Any], near: str, agent: str | None, *, no_model: bool
) -> tuple[OpenAIModelClient | None, str]:
    """The client, where there is one, and the name of the agent; says what is missing."""
    from orgflow.agents.model_client.settings import NotConfigured

    if no_model or agent == BY_RULES:
        return None, agent or BY_RULES
    try:
        client = connect_model(session, flags, near)
    except NotConfigured as error:
        if agent is not None:
            session.note(f"{error}")  # it may need none
            return None, agent
        session.note(f"{error}; drafting by rules alone")
        return None, BY_RULES
    return client, agent or WITH_MODEL


def _asked(
    model: Model,
    document: Document,
    session: Session,
    *,
    how: str,
    answers: str | None,
    questions: str | None,
) -> Model:
    """The model with the answers of a file, of the terminal and of a page; what is open goes to a
    file, with the answers of the page."""
    from orgflow.agents.text.doubts import (
        AnswersError,
        apply_answers,
        find_questions,
        questions_json,
        read_answers,
    )

    given: dict[str, Any] = {}
    if answers is not None:
        try:
            given = read_answers(Path(answers).read_text("utf-8"))
        except OSError as error:
            raise click.UsageError(f"{answers} cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise click.UsageError(f"{answers} is not UTF-8 text") from None
        except AnswersError as error:
            raise click.UsageError(f"{answers}: {error}") from None
    open_ = [q for q in find_questions(model) if q.element not in given]
    try:
        drafted = apply_answers(model, given)
    except AnswersError as error:
        raise click.UsageError(f"{answers}: {error}") from None
    if how == "page" and open_:
        return apply_answers(
            drafted, _answered_on_page(drafted, open_, session, questions, document)
        )
    if how == "terminal" and open_ and sys.stdin is not None and sys.stdin.isatty():
        return apply_answers(drafted, _answered_in_terminal(open_, questions))
    if questions is not None:
        write_files([(Path(questions), questions_json(open_))])
    elif open_:
        count = f"{len(open_)} question{'s'[: len(open_) != 1]} about the text"
        needs = "--ask needs a terminal; " if how == "terminal" else ""
        session.note(f"{count}: {needs}see --ask, --page and --questions")
    return drafted


def _answered_in_terminal(asked: list[Question], questions: str | None) -> dict[str, GatewayKind]:
    """The answers that a person types; each goes to a file at once, for whoever stops halfway."""
    from orgflow.agents.text.doubts import IN_A_WORD, OPTIONS, questions_json

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


def _answered_on_page(
    model: Model, asked: list[Any], session: Session, questions: str | None, document: Document
) -> dict[str, Any]:
    """The answers that a person gives on a page; each time some are saved they go to a file."""
    from orgflow.agents.text.doubts import questions_json
    from orgflow.commands.page_server import serve_page
    from orgflow.commands.questions_page import QuestionsPage

    def keep(given: dict[str, Any]) -> None:
        if questions is not None:
            write_files([(Path(questions), questions_json(asked, given))])

    page = QuestionsPage(
        model, asked, lambda answered: drawn(answered, session), keep, Path(document.name).name
    )
    what = f"{len(asked)} question{'s'[: len(asked) != 1]}"
    serve_page(page, what, session.services.cancellation)
    return dict(page.given)


def drawn(model: Model, session: Session) -> str:
    """The picture of a model, as SVG text; empty if it cannot be drawn."""
    drawing = session.registry.backend("svg")
    emitted = compile_model(model, drawing, session.context()) if drawing is not None else None
    return emitted.artifacts[0].text if emitted is not None else ""


def _explain(path: str, document: Document, model: Model, session: Session) -> None:
    """Write the page. Raises `OutputError`."""
    from orgflow.agents.language.sentences import split_sentences
    from orgflow.evaluation.text_page import render_text_page

    picture = drawn(model, session)
    if not picture:
        raise OutputError(f"cannot write {path}: the process cannot be drawn")
    page = render_text_page(
        model, split_sentences(document.text), picture, Path(document.name).name
    )
    write_files([(Path(path), page)])
