"""The part of `orgflowc eval` that measures how tasks are filled."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from orgflow.agents.model_client.settings import NotConfigured
from orgflow.agents.model_client.usage import Expected
from orgflow.backends import DEFAULT_TARGET
from orgflow.commands.eval_options import EvalOptions
from orgflow.commands.language_model import announce_model, connect_model, keep_calls, report_usage
from orgflow.commands.options import model_settings
from orgflow.commands.output import write_table
from orgflow.commands.progress import progress_bar
from orgflow.commands.session import Session
from orgflow.compilation.agent_answers import choose_agents, fill_gaps
from orgflow.compilation.reading import load_model
from orgflow.compilation.target_choice import choose_backend
from orgflow.compilation.usage_errors import UnknownName, UnsupportedError
from orgflow.evaluation.charts import render_evaluation
from orgflow.evaluation.filling import (
    COLUMNS,
    FilledModel,
    TruthError,
    check_tasks,
    evaluate_filling,
    list_cases,
)

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.pipeline.operation_catalogue import Catalogue, CatalogueError
from orgflow_ir.plugins.agents import GapAgent

if TYPE_CHECKING:  # with a language model
    from orgflow.agents.filling import expected as filling_usage
    from orgflow.agents.model_client.client import OpenAIModelClient
else:
    filling_usage = LazyModule("orgflow.agents.filling.expected")

BY_RULES = "operations-rules"


class _Fillings:
    """Fills models, and measures each filling; proposals by rules count as accepted.

    Attributes:
        agents: the agents that fill.
        client: the language model that they ask, if any.
    """

    def __init__(self, options: EvalOptions, session: Session) -> None:
        self.session = session
        self.name = options.agent or BY_RULES
        backend = choose_backend(DEFAULT_TARGET, session.registry)
        self.client: OpenAIModelClient | None = None
        models = _read_models(options.folder, session)  # before anything is paid
        try:
            self.agents: Sequence[GapAgent] = choose_agents((self.name,), session.registry)
            session.services.catalogue = catalogue = backend.catalogue()
            if self.name != BY_RULES:
                self.client = connect_model(session, model_settings(options), str(options.folder))
        except (UnknownName, UnsupportedError, CatalogueError, NotConfigured) as error:
            raise click.UsageError(str(error)) from None
        if self.client is not None and catalogue is not None:
            expected = _expect_usage(models, catalogue).times(options.samples)
            announce_model(session, self.client, expected)

    def fill(self, path: Path) -> FilledModel | None:
        """One filling, with its tokens and seconds."""
        ctx, client = self.session.context(), self.client
        started = time.perf_counter()
        before = client.usage.total.tokens if client is not None else 0
        model = load_model(str(path), self.session.registry, ctx)
        if model is None:
            return None
        ctx.options = {**ctx.options, "accept-proposals": True}
        filled = fill_gaps(model, self.agents, ctx)
        tokens = client.usage.total.tokens - before if client is not None else 0
        return FilledModel(filled, tokens, time.perf_counter() - started)


def evaluate_fillings(options: EvalOptions) -> int:
    """Fill and compare every model; the rows go to standard output or a file, the table to standard
    error. Returns the exit code.

    Raises `click.UsageError`.
    """
    session = Session()
    fillings = _Fillings(options, session)
    with progress_bar() as progress:
        try:
            report = evaluate_filling(
                options.folder, fillings.name, fillings.fill, samples=options.samples,
                progress=progress,
            )  # fmt: skip
        except (FileNotFoundError, TruthError) as error:
            raise click.UsageError(str(error)) from None
    summary = report.summary()
    page = render_evaluation(
        "Evaluation of fill", str(options.folder), summary, report.charts(), COLUMNS, report.rows
    )
    write_table(report.to_csv(), summary, options.output, options.html, page)
    if fillings.client is not None:
        report_usage(session, fillings.client)
        if not report.complete:
            keep_calls(fillings.client)
    if not report.complete:
        raise click.Abort
    return 0 if report.ok else 1


def _read_models(folder: Path, session: Session) -> list[Model]:
    """The models of a suite, whose true fillings are checked. Raises `click.UsageError`."""
    models = []
    try:
        for path, truth in list_cases(folder):
            model = load_model(str(path), session.registry, session.context())
            try:
                if model is not None:
                    check_tasks(model, truth)
                    models.append(model)
            except TruthError as error:
                raise TruthError(f"{path}: {error}") from None
    except (FileNotFoundError, TruthError) as error:
        raise click.UsageError(str(error)) from None
    return models


def _expect_usage(models: Sequence[Model], catalogue: Catalogue) -> Expected:
    """The expected usage of the language model for one filling of each model."""
    expected = Expected()
    for model in models:
        expected += filling_usage.expected_filling(model, catalogue)
    return expected
