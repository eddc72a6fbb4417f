"""The part of `orgflowc eval` that measures processes drafted from texts."""

from __future__ import annotations

import time
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click
from orgflow.agents.model_client.settings import NotConfigured
from orgflow.agents.model_client.usage import Expected
from orgflow.agents.text.rounds import ROUNDS
from orgflow.backends import DEFAULT_TARGET
from orgflow.commands.eval_options import EvalOptions
from orgflow.commands.language_model import announce_model, connect_model, keep_calls, report_usage
from orgflow.commands.options import model_settings
from orgflow.commands.output import write_table
from orgflow.commands.progress import progress_bar
from orgflow.commands.session import Session
from orgflow.compilation.agent_answers import choose_drafter, draft_model
from orgflow.compilation.model_checks import check_model
from orgflow.compilation.reading import load_model
from orgflow.compilation.target_choice import choose_backend
from orgflow.compilation.usage_errors import UnknownName, UnsupportedError
from orgflow.compiler import compile_model
from orgflow.evaluation.charts import render_evaluation
from orgflow.evaluation.text_suite import BY_RULES, COLUMNS, Drafted, Drafter, evaluate_texts

from orgflow_ir.diagnostics import Severity
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.agent_services import Embedder
from orgflow_ir.plugins.agents import Document, ModelAgent
from orgflow_ir.plugins.contracts import Backend

if TYPE_CHECKING:  # with a language model, and with numpy
    from orgflow.agents.model_client.client import OpenAIModelClient
    from orgflow.agents.text import modeller
    from orgflow.store import embedder as embedders
else:
    modeller = LazyModule("orgflow.agents.text.modeller")
    embedders = LazyModule("orgflow.store.embedder")


class _Drafts:
    """Drafts processes from texts, and measures each draft.

    Attributes:
        agent: the agent that drafts, by the name `name`.
        client: the language model that it asks, if any.
    """

    def __init__(self, options: EvalOptions, session: Session) -> None:
        self.session = session
        self.name = options.agent or BY_RULES
        try:
            self.agent: ModelAgent = choose_drafter(self.name, session.registry)
        except (UnknownName, UnsupportedError) as error:
            raise click.UsageError(str(error)) from None
        self.client: OpenAIModelClient | None = None
        if options.rounds and self.name == BY_RULES:
            raise click.UsageError("--rounds needs a language model: give --agent text")
        if self.name != BY_RULES:
            self.client = self._connect(options)
        self.backend: Backend = choose_backend(DEFAULT_TARGET, session.registry)

    def _connect(self, options: EvalOptions) -> OpenAIModelClient:
        folder = options.folder
        try:
            client = connect_model(self.session, model_settings(options), str(folder))
        except NotConfigured as error:
            raise click.UsageError(str(error)) from None
        expected = _expect_usage(folder, options.rounds).times(options.samples)
        announce_model(self.session, client, expected)
        client.learn(_read_texts(folder))
        return client

    def draft(self, title: str, text: str, rounds: int = 0) -> Drafted:
        """One draft: whether it is sound and compiles, and its tokens and seconds."""
        session, client = self.session, self.client
        ctx = session.context()
        ctx.options = {**ctx.options, ROUNDS: rounds}
        started = time.perf_counter()
        before = client.usage.total.tokens if client is not None else 0
        model = draft_model(self.agent, [Document(title, text)], ctx)
        seconds = time.perf_counter() - started
        tokens = client.usage.total.tokens - before if client is not None else 0
        if model is None:
            reasons = [d.message for d in ctx.diagnostics if d.severity is Severity.ERROR]
            return Drafted(None, False, False, tokens, seconds, "; ".join(reasons[:1]))
        checked = session.context()
        check_model(model, checked)
        errors = [d for d in checked.diagnostics if d.severity is Severity.ERROR]
        compiled = compile_model(model, self.backend, session.context()) is not None
        reason = f"{errors[0].code}: {errors[0].message}" if errors else ""
        return Drafted(model, not errors, compiled, tokens, seconds, reason)

    def read(self, path: Path) -> Model | None:
        """The true model in a file."""
        registry = self.session.registry
        return load_model(str(path), registry, PassContext(registry=registry))


def evaluate_drafts(options: EvalOptions) -> int:
    """Draft and compare every text; the rows go to standard output or a file, the table to standard
    error. With rounds, each text is drafted without and with them. Returns the exit code: 1 if a
    process is not sound or does not compile.

    Raises `click.UsageError`.
    """
    session = Session()
    drafts = _Drafts(options, session)
    rounds = options.rounds
    drafters: dict[str, Drafter] = {drafts.name: drafts.draft}
    if rounds:
        shown = f"{drafts.name}, {rounds} round{'s'[: rounds != 1]}"
        drafters[shown] = partial(drafts.draft, rounds=rounds)
    with progress_bar() as progress:
        try:
            report = evaluate_texts(
                options.folder, drafters, drafts.read,
                samples=options.samples, embedder=_find_embedder(), progress=progress,
            )  # fmt: skip
        except FileNotFoundError as error:
            raise click.UsageError(str(error)) from None
    summary = report.summary()
    page = render_evaluation(
        "Evaluation of text", str(options.folder), summary, report.charts(), COLUMNS, report.rows
    )
    write_table(report.to_csv(), summary, options.output, options.html, page)
    if drafts.client is not None:
        report_usage(session, drafts.client)
        if not report.complete:
            keep_calls(drafts.client)
    if not report.complete:
        raise click.Abort
    return 0 if report.ok else 1


def _read_texts(folder: Path) -> list[str]:
    """The texts of a folder."""
    paths = sorted((folder / "descriptions").glob("*.txt"))
    return [path.read_text("utf-8", errors="replace") for path in paths]


def _expect_usage(folder: Path, rounds: int) -> Expected:
    """The expected usage for drafting each text of a folder once, with rounds also with them."""
    expected = Expected()
    for text in _read_texts(folder):
        for number in {0, rounds}:
            expected += modeller.expected_drafting(text, number)
    return expected


def _find_embedder() -> Embedder | None:
    """The embedder that compares meanings, `None` where its packages are not installed."""
    if find_spec("numpy") is None:
        return None
    embedder = embedders.local_embedder()
    return None if isinstance(embedder, embedders.HashedWords) else embedder
