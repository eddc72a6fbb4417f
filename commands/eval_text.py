"""The part of `orgflowc eval` that measures processes drafted from texts."""

from __future__ import annotations

import time
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from orgflow.backends import DEFAULT_TARGET
from orgflow.commands.language_model import announce_model, connect_model, keep_calls, report_usage
from orgflow.commands.output import write_table
from orgflow.commands.progress import progress_bar
from orgflow.commands.session import Session
from orgflow.compiler import (
    UnknownName,
    UnsupportedError,
    check_model,
    choose_backend,
    choose_drafter,
    compile_model,
    draft_model,
    load,
)

from orgflow_ir.diagnostics import Severity
from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.agent_services import Embedder
from orgflow_ir.plugins.agents import Document

if TYPE_CHECKING:
    from orgflow.agents.model_client.usage import Expected


def evaluate(
    folder: Path,
    agent: str | None,
    flags: dict[str, Any],
    output: str | None,
    html: str | None,
    samples: int,
    rounds: int = 0,
) -> int:
    """Draft and compare every text; the rows go to standard output or a file, the table to standard
    error. With rounds, each text is drafted without and with them. Returns the exit code: 1 if a
    process is not sound or does not compile.

    Raises `click.UsageError`.
    """
    from orgflow.agents.model_client.settings import NotConfigured
    from orgflow.agents.text.rounds import ROUNDS
    from orgflow.evaluation.text_suite import BY_RULES, Drafted, Drafter, evaluate_texts

    session = Session()
    name = agent or BY_RULES
    try:
        drafter = choose_drafter(name, session.registry)
    except (UnknownName, UnsupportedError) as error:
        raise click.UsageError(str(error)) from None
    client = None
    if rounds and name == BY_RULES:
        raise click.UsageError("--rounds needs a language model: give --agent text")
    if name != BY_RULES:
        try:
            client = connect_model(session, flags, str(folder))
        except NotConfigured as error:
            raise click.UsageError(str(error)) from None
        announce_model(session, client, _expected(folder, rounds).times(samples))
        client.learn(_texts(folder))
    backend = choose_backend(DEFAULT_TARGET, session.registry)

    def draft(title: str, text: str, rounds: int = 0) -> Drafted:
        ctx = session.context()
        ctx.options = {**ctx.options, ROUNDS: rounds}
        started = time.perf_counter()
        before = client.usage.total.tokens if client is not None else 0
        model = draft_model(drafter, [Document(title, text)], ctx)
        seconds = time.perf_counter() - started
        tokens = client.usage.total.tokens - before if client is not None else 0
        if model is None:
            reasons = [d.message for d in ctx.diagnostics if d.severity is Severity.ERROR]
            return Drafted(None, False, False, tokens, seconds, "; ".join(reasons[:1]))
        checked = session.context()
        check_model(model, checked)
        errors = [d for d in checked.diagnostics if d.severity is Severity.ERROR]
        compiled = compile_model(model, backend, session.context()) is not None
        reason = f"{errors[0].code}: {errors[0].message}" if errors else ""
        return Drafted(model, not errors, compiled, tokens, seconds, reason)

    def read(path: Path) -> Model | None:
        return load(str(path), session.registry, PassContext(registry=session.registry))

    drafters: dict[str, Drafter] = {name: draft}
    if rounds:
        shown = f"{name}, {rounds} round{'s'[: rounds != 1]}"
        drafters[shown] = partial(draft, rounds=rounds)
    with progress_bar() as progress:
        try:
            report = evaluate_texts(
                folder, drafters, read,
                samples=samples, embedder=_embedder(), progress=progress,
            )  # fmt: skip
        except FileNotFoundError as error:
            raise click.UsageError(str(error)) from None
    from orgflow.evaluation.charts import render_evaluation
    from orgflow.evaluation.text_suite import COLUMNS

    summary = report.summary()
    page = render_evaluation(
        "Evaluation of text", str(folder), summary, report.charts(), COLUMNS, report.rows
    )
    write_table(report.to_csv(), summary, output, html, page)
    if client is not None:
        report_usage(session, client)
        if not report.complete:
            keep_calls(client)
    if not report.complete:
        raise click.Abort
    return 0 if report.ok else 1


def _texts(folder: Path) -> list[str]:
    """The texts of a folder."""
    paths = sorted((folder / "descriptions").glob("*.txt"))
    return [path.read_text("utf-8", errors="replace") for path in paths]


def _expected(folder: Path, rounds: int) -> Expected:
    """What drafting the texts of a folder once is expected to take, with rounds also with them."""
    from orgflow.agents.model_client.usage import Expected
    from orgflow.agents.text.modeller import expected_drafting

    found = Expected()
    for text in _texts(folder):
        for number in {0, rounds}:
            found += expected_drafting(text, number)
    return found


def _embedder() -> Embedder | None:
    """What compares meanings, `None` where its packages are not installed."""
    if find_spec("numpy") is None:
        return None
    from orgflow.store.embedder import HashedWords, local_embedder

    found = local_embedder()
    return None if isinstance(found, HashedWords) else found
