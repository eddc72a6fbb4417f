"""The part of `orgflowc eval` that measures the discovery of processes in messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import orgflow.store.blas  # noqa: F401  # before numpy
from orgflow.agents.model_client.settings import NotConfigured
from orgflow.agents.model_client.usage import Expected
from orgflow.commands.discover import require_numpy
from orgflow.commands.eval_options import EvalOptions
from orgflow.commands.language_model import announce_model, connect_model, paid_calls, report_usage
from orgflow.commands.options import model_settings
from orgflow.commands.output import write_files, write_stdout
from orgflow.commands.server import SERVER_FAILED
from orgflow.commands.session import Session, end_command
from orgflow.commands.stores import local_folder, open_store
from orgflow.compilation.reading import load_model
from orgflow.compilation.usage_errors import suggest_name
from orgflow.evaluation.charts import render_evaluation

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.pipeline.services import MissingService, OverBudget, ServiceError
from orgflow_ir.plugins.message_stores import MessageStorage, StoreError

if TYPE_CHECKING:  # these need numpy, which may not be installed
    from orgflow.agents.discovery import agent, baselines, discover, traits
    from orgflow.agents.discovery.discover import Discovery
    from orgflow.agents.model_client.client import OpenAIModelClient
    from orgflow.evaluation import discovery as measures
    from orgflow.evaluation.discovery import Discover, Truth
    from orgflow.store import embedder as embedders

    from orgflow_ir.model.message import Message
    from orgflow_ir.pipeline.agent_services import Embedder
else:
    agent = LazyModule("orgflow.agents.discovery.agent")
    baselines = LazyModule("orgflow.agents.discovery.baselines")
    discover = LazyModule("orgflow.agents.discovery.discover")
    traits = LazyModule("orgflow.agents.discovery.traits")
    measures = LazyModule("orgflow.evaluation.discovery")
    embedders = LazyModule("orgflow.store.embedder")

METHODS = ("messages", "clusters", "one-call")
"""The methods that `--agent` compares: the agent, and the published baselines."""


def evaluate_discovery(options: EvalOptions, truth: Path) -> None:
    """Compare the processes in a store with the true ones, and print the table. Raises
    `click.UsageError`."""
    require_numpy()
    chosen = [name for name in (options.agent or "").split(",") if name]
    for name in chosen:
        if name not in METHODS:
            raise click.UsageError(f"no agent `{name}`; {suggest_name(name, METHODS)}")
    known, store = open_inputs(options.location, truth)
    folder = options.true_models
    models = read_true_models(folder, known.texts) if folder is not None else {}
    session = Session()
    client = _connect_model(options, session) if chosen else None
    others = _choose_methods(chosen, client, len(known.texts)) if client is not None else {}
    with store:
        embedder = store.cached(embedders.local_embedder())
        messages = list(store.messages())
        if not messages:
            raise click.UsageError(f"the store contains no messages {options.location}")
        if client is not None:
            expected = _expect_usage(chosen, messages, embedder, known)
            announce_model(session, client, expected.times(options.samples))
            client.learn(traits.texts_to_learn(messages))
        try:
            with paid_calls(client):
                rows, sweeps = measures.evaluate_corpus(
                    messages, known, embedder, seeds=range(1, options.seeds + 1),
                    models=models, others=others, samples=options.samples,
                )  # fmt: skip
        except (OverBudget, MissingService) as error:
            raise click.UsageError(str(error)) from None
        except ServiceError as error:
            click.echo(f"orgflowc eval: {error}", err=True)
            end_command(SERVER_FAILED)
        finally:
            if client is not None:
                report_usage(session, client)
    text = f"compared with {embedder.name}\n" + measures.format_table(rows, sweeps)
    if models:
        text += f"models of {len(models)} of {len(known.texts)} true processes\n"
    charts = measures.build_charts(rows, sweeps)
    page = render_evaluation("Evaluation of discovery", options.location, text, charts)
    wanted = ((options.output, text), (options.html, page))
    write_files([(Path(path), content) for path, content in wanted if path is not None])
    if options.output is None:
        write_stdout(text)


def open_inputs(location: str, truth: Path) -> tuple[Truth, MessageStorage]:
    """The true processes, and the store. Raises `click.UsageError`."""
    try:
        known = measures.read_truth(truth.read_text("utf-8"))
        return known, open_store(location, Session().registry)
    except (measures.TruthError, StoreError) as error:
        place = truth if isinstance(error, measures.TruthError) else ""
        raise click.UsageError(f"{place} {error}") from None


def _connect_model(options: EvalOptions, session: Session) -> OpenAIModelClient:
    """The client of the language model. Raises `click.UsageError` where there is none."""
    try:
        return connect_model(session, model_settings(options), local_folder(options.location))
    except NotConfigured as error:
        raise click.UsageError(str(error)) from None


def _expect_usage(
    chosen: Sequence[str], messages: Sequence[Message], embedder: Embedder, known: Truth
) -> Expected:
    """The expected usage of the language model for one run of each method."""
    once = {
        "messages": agent.expected_discovery(discover.group_messages(messages, embedder)),
        "clusters": baselines.expected_baseline(messages, len(known.texts)),
        "one-call": baselines.expected_baseline(messages, 1),
    }
    expected = Expected()
    for name in chosen:
        expected += once[name]
    return expected


def _choose_methods(
    chosen: Sequence[str], client: OpenAIModelClient, clusters: int
) -> dict[str, Discover]:
    """The agents that ask a language model, by name."""

    def counted(
        ask: Callable[[Sequence[Message], Embedder], Discovery],
    ) -> Discover:
        def measured(
            messages: Sequence[Message], embedder: Embedder
        ) -> tuple[Discovery, tuple[int, int], float]:
            before = client.usage.total
            discovery = ask(messages, embedder)
            after = client.usage.total
            tokens = (after.tokens_in - before.tokens_in, after.tokens_out - before.tokens_out)
            return discovery, tokens, after.cost - before.cost

        return measured

    def with_agent(messages: Sequence[Message], embedder: Embedder) -> Discovery:
        stages = discover.group_messages(messages, embedder)
        return agent.discover_with_model(stages, embedder, client)[0]

    def call_for_clusters(messages: Sequence[Message], embedder: Embedder) -> Discovery:
        return baselines.discover_by_clusters(messages, embedder, client, clusters=clusters)

    def call_once(messages: Sequence[Message], embedder: Embedder) -> Discovery:
        return baselines.discover_in_one_call(messages, embedder, client)

    every: dict[str, Discover] = {
        "messages": counted(with_agent),
        "clusters": counted(call_for_clusters),
        "one-call": counted(call_once),
    }
    return {name: every[name] for name in chosen}


def read_true_models(folder: Path, names: Iterable[str]) -> dict[str, Model]:
    """The models `NAME.bpmn` of processes. Raises `click.UsageError`."""
    if not folder.is_dir():
        raise click.UsageError(f"{folder} is not a folder")
    session = Session()
    models: dict[str, Model] = {}
    for name in sorted(names):
        path = folder / f"{name}.bpmn"
        if not path.is_file():
            continue
        model = load_model(str(path), session.registry, session.context())
        if model is None:
            raise click.UsageError(f"{path} cannot be read")
        models[name] = model
    if not models:
        raise click.UsageError(f"{folder} contains no model of a process in the truth file")
    return models
