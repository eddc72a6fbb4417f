"""The part of `orgflowc eval` that measures how tasks are filled."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click
from orgflow.backends import DEFAULT_TARGET
from orgflow.commands.language_model import announce_model, connect_model, keep_calls, report_usage
from orgflow.commands.output import write_table
from orgflow.commands.progress import progress_bar
from orgflow.commands.session import Session
from orgflow.compiler import (
    UnknownName,
    UnsupportedError,
    choose_agents,
    choose_backend,
    fill_gaps,
    load,
)

from orgflow_ir.pipeline.operation_catalogue import CatalogueError

BY_RULES = "operations-rules"


def evaluate(
    folder: Path,
    agent: str | None,
    flags: dict[str, Any],
    output: str | None,
    html: str | None,
    samples: int,
) -> int:
    """Fill and compare every model; the rows go to standard output or a file, the table to standard
    error. Proposals by rules count as accepted. Returns the exit code.

    Raises `click.UsageError`.
    """
    from orgflow.agents.model_client.settings import NotConfigured
    from orgflow.evaluation.filling import (
        FilledModel,
        TruthError,
        cases,
        check_tasks,
        evaluate_filling,
    )

    session = Session()
    name = agent or BY_RULES
    backend = choose_backend(DEFAULT_TARGET, session.registry)
    client = None
    models = []
    try:  # before anything is paid
        for path, truth in cases(folder):
            model = load(str(path), session.registry, session.context())
            try:
                if model is not None:
                    check_tasks(model, truth)
                    models.append(model)
            except TruthError as error:
                raise TruthError(f"{path}: {error}") from None
    except (FileNotFoundError, TruthError) as error:
        raise click.UsageError(str(error)) from None
    try:
        agents = choose_agents((name,), session.registry)
        session.services.catalogue = catalogue = backend.catalogue()
        if name != BY_RULES:
            client = connect_model(session, flags, str(folder))
    except (UnknownName, UnsupportedError, CatalogueError, NotConfigured) as error:
        raise click.UsageError(str(error)) from None
    if client is not None and catalogue is not None:
        from orgflow.agents.filling.expected import expected_filling
        from orgflow.agents.model_client.usage import Expected

        expected = Expected()
        for model in models:
            expected += expected_filling(model, catalogue)
        announce_model(session, client, expected.times(samples))

    def fill(path: Path) -> FilledModel | None:
        ctx = session.context()
        started = time.perf_counter()
        before = client.usage.total.tokens if client is not None else 0
        model = load(str(path), session.registry, ctx)
        if model is None:
            return None
        ctx.options = {**ctx.options, "accept-proposals": True}
        filled = fill_gaps(model, agents, ctx)
        tokens = client.usage.total.tokens - before if client is not None else 0
        return FilledModel(filled, tokens, time.perf_counter() - started)

    with progress_bar() as progress:
        try:
            report = evaluate_filling(folder, name, fill, samples=samples, progress=progress)
        except (FileNotFoundError, TruthError) as error:
            raise click.UsageError(str(error)) from None
    from orgflow.evaluation.charts import render_evaluation
    from orgflow.evaluation.filling import COLUMNS

    summary = report.summary()
    page = render_evaluation(
        "Evaluation of fill", str(folder), summary, report.charts(), COLUMNS, report.rows
    )
    write_table(report.to_csv(), summary, output, html, page)
    if client is not None:
        report_usage(session, client)
        if not report.complete:
            keep_calls(client)
    if not report.complete:
        raise click.Abort
    return 0 if report.ok else 1
