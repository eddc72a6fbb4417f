"""The part of `orgflowc eval` that measures processes drafted from texts."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click
from orgflow.agents.model_client.settings import NotConfigured
from orgflow.agents.model_client.usage import Expected
from orgflow.agents.text.draft_options import FIRST_DRAFTS, OMITTED_RULES, PROMPT, ROUNDS
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
    from orgflow.agents.text import first_drafts, modeller
    from orgflow.store import embedder as embedders
else:
    first_drafts = LazyModule("orgflow.agents.text.first_drafts")
    modeller = LazyModule("orgflow.agents.text.modeller")
    embedders = LazyModule("orgflow.store.embedder")


class DraftRunner:
    """Drafts processes from texts, and measures each draft.

    Args:
        times: how often each text is drafted beside the number of samples.

    Attributes:
        agent: the agent that drafts, by the name `name`.
        client: the language model that it asks, if any.
    """

    def __init__(self, options: EvalOptions, session: Session, times: int = 1) -> None:
        self.session = session
        self.name = options.agent or BY_RULES
        self._prompt = options.prompt
        self._shared = first_drafts.FirstDrafts()
        self._drafted: Counter[tuple[str, int, tuple[str, ...]]] = Counter()
        try:
            self.agent: ModelAgent = choose_drafter(self.name, session.registry)
        except (UnknownName, UnsupportedError) as error:
            raise click.UsageError(str(error)) from None
        self.client: OpenAIModelClient | None = None
        if options.rounds and self.name == BY_RULES:
            raise click.UsageError("--rounds needs a language model: give --agent text")
        if options.prompt and self.name == BY_RULES:
            raise click.UsageError("--prompt needs a language model: give --agent text")
        if self.name != BY_RULES:
            self.client = self._connect(options, times)
        self.backend: Backend = choose_backend(DEFAULT_TARGET, session.registry)
        self._bpmn: Backend = choose_backend("bpmn", session.registry)

    def _connect(self, options: EvalOptions, times: int) -> OpenAIModelClient:
        folder = options.folder
        try:
            client = connect_model(self.session, model_settings(options), str(folder))
        except NotConfigured as error:
            raise click.UsageError(str(error)) from None
        expected = _expect_usage(folder, options.rounds).times(options.samples * times)
        announce_model(self.session, client, expected)
        client.learn(_read_texts(folder))
        return client

    def draft(self, title: str, text: str, rounds: int = 0, omitted: Sequence[str] = ()) -> Drafted:
        """One draft: whether it is sound and compiles, and its tokens and seconds. The first draft
        of a text is requested once, and used again with rounds."""
        session, client, shared = self.session, self.client, self._shared
        ctx = session.context()
        ctx.options = {
            **ctx.options, ROUNDS: rounds, PROMPT: self._prompt, FIRST_DRAFTS: shared,
            OMITTED_RULES: tuple(omitted),
        }  # fmt: skip
        run = (title, rounds, tuple(omitted))
        shared.key = (title, self._drafted[run], tuple(omitted))
        self._drafted[run] += 1
        started = time.perf_counter()
        before = _count_tokens(client) + shared.saved_tokens
        model = draft_model(self.agent, [Document(title, text)], ctx)
        seconds = time.perf_counter() - started
        tokens = _count_tokens(client) + shared.saved_tokens - before
        errors = [d for d in ctx.diagnostics if d.severity is Severity.ERROR]
        if model is None:
            reason = errors[0].message if errors else ""
            return Drafted(None, False, False, tokens, seconds, reason)
        checked = session.context()
        check_model(model, checked)
        compiled, drawn = (
            not errors and compile_model(model, backend, session.context()) is not None
            for backend in (self.backend, self._bpmn)
        )
        errors += [d for d in checked.diagnostics if d.severity is Severity.ERROR]
        reason = f"{errors[0].code}: {errors[0].message}" if errors else ""
        return Drafted(model, not errors, compiled, tokens, seconds, reason, drawn)

    def read(self, path: Path) -> Model | None:
        """The true model in a file."""
        registry = self.session.registry
        return load_model(str(path), registry, PassContext(registry=registry))


def _count_tokens(client: OpenAIModelClient | None) -> int:
    """The tokens of all calls so far, also of those that recorded answers stand for."""
    if client is None:
        return 0
    total = client.usage.total
    tokens: int = total.tokens + total.replayed_tokens
    return tokens


def evaluate_drafts(options: EvalOptions) -> int:
    """Draft and compare every text; the rows go to standard output or a file, the table to standard
    error. With rounds, each text is drafted without and with them. Returns the exit code: 1 if a
    process is not sound or does not compile.

    Raises `click.UsageError`.
    """
    session = Session()
    drafts = DraftRunner(options, session)
    rounds = options.rounds
    drafters: dict[str, Drafter] = {drafts.name: drafts.draft}
    if rounds:
        shown = f"{drafts.name}, {rounds} round{'s'[: rounds != 1]}"
        drafters[shown] = partial(drafts.draft, rounds=rounds)
    with progress_bar() as progress:
        try:
            report = evaluate_texts(
                options.folder, drafters, drafts.read,
                samples=options.samples, embedder=find_embedder(), progress=progress,
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
    """The expected usage for drafting each text of a folder once; with rounds, which use the same
    first draft, also for improving it."""
    expected = Expected()
    for text in _read_texts(folder):
        expected += modeller.expected_drafting(text)
        if rounds:
            more = modeller.expected_drafting(text, rounds)
            first = modeller.expected_drafting(text)
            expected += Expected(
                *(a - min(a, b) for a, b in zip(more, first, strict=True))
            )._replace(most_calls=more.most_calls)
    return expected


def find_embedder() -> Embedder | None:
    """The embedder that compares meanings, `None` where its packages are not installed."""
    if find_spec("numpy") is None:
        return None
    embedder = embedders.local_embedder()
    return None if isinstance(embedder, embedders.HashedWords) else embedder
