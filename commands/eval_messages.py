"""The part of `orgflowc eval` that measures the chain from messages to executed workflows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import orgflow.store.blas  # noqa: F401  # before numpy
from orgflow.agents.model_client.settings import NotConfigured
from orgflow.backends import DEFAULT_TARGET
from orgflow.commands.discover import require_numpy
from orgflow.commands.eval_discovery import open_inputs, read_true_models
from orgflow.commands.eval_options import EvalOptions
from orgflow.commands.language_model import announce_model, connect_model, paid_calls, report_usage
from orgflow.commands.options import model_settings, resolve_target
from orgflow.commands.output import write_files, write_stdout
from orgflow.commands.progress import progress_bar
from orgflow.commands.server import SERVER_FAILED, engine_runner, server_exit_code
from orgflow.commands.session import Session
from orgflow.commands.stores import local_folder
from orgflow.compiler import CompileRequest, compile_separately
from orgflow.evaluation.charts import Charts, render_evaluation

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.services import MissingService, OverBudget, Progress, ServiceError
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.plugins.runners import Runner, RunnerError

if TYPE_CHECKING:  # these need numpy, which may not be installed
    from orgflow.agents.discovery import agent, discover, traits
    from orgflow.agents.discovery.discover import Discovery
    from orgflow.agents.model_client.client import OpenAIModelClient
    from orgflow.evaluation import discovery as measures
    from orgflow.evaluation import message_chain
    from orgflow.evaluation.discovery import Truth
    from orgflow.evaluation.message_chain import Chain
    from orgflow.store import embedder as embedders

    from orgflow_ir.pipeline.agent_services import Embedder
else:
    agent = LazyModule("orgflow.agents.discovery.agent")
    discover = LazyModule("orgflow.agents.discovery.discover")
    traits = LazyModule("orgflow.agents.discovery.traits")
    measures = LazyModule("orgflow.evaluation.discovery")
    message_chain = LazyModule("orgflow.evaluation.message_chain")
    embedders = LazyModule("orgflow.store.embedder")

WITHOUT, WITH = "without a model", "with a model"


def evaluate_messages(options: EvalOptions, truth: Path) -> int:
    """Measure the chain from the messages of a store to executed workflows, and print the table.
    Returns the exit code. Raises `click.UsageError`."""
    require_numpy()
    known, store = open_inputs(options.location, truth)
    models = _find_true_models(options, truth, known)
    session = Session()
    backend, _ = resolve_target(DEFAULT_TARGET, session.registry)
    ctx = session.context()
    client = _connect_model(options, session)
    with (
        store,
        engine_runner(options.engine, backend, options.key_file, options.wait, ctx) as engine,
        progress_bar() as progress,
    ):
        if engine.runner is None:
            session.collect(ctx)
            session.show()
            return server_exit_code(session, backend)
        embedder = store.cached(embedders.local_embedder())
        messages = list(store.messages())
        if not messages:
            raise click.UsageError(f"the store contains no messages {options.location}")
        stages = discover.group_messages(messages, embedder, progress)
        results = [(WITHOUT, stages.described(embedder), (0, 0))]
        try:
            with paid_calls(client):
                if client is not None:
                    announce_model(session, client, agent.expected_discovery(stages))
                    client.learn(traits.texts_to_learn(messages))
                    described, _ = agent.discover_with_model(
                        stages, embedder, client, progress, registry=session.registry
                    )
                    usage = client.usage.total
                    results.append((WITH, described, (usage.tokens_in, usage.tokens_out)))
        except (OverBudget, MissingService) as error:
            raise click.UsageError(str(error)) from None
        except ServiceError as error:
            click.echo(f"orgflowc eval: {error}", err=True)
            return SERVER_FAILED
        finally:
            if client is not None:
                report_usage(session, client)
        links = _Links(
            known, models, [m.id for m in messages], embedder, backend, engine.runner,
            engine.options, progress,
        )  # fmt: skip
        try:
            chains = [links.measure(*result) for result in results]
        except RunnerError as error:
            raise click.ClickException(str(error)) from None
    _write_chains(options, chains, len(messages), embedder.name, models, known)
    session.collect(ctx)
    session.show()
    return 0


def _find_true_models(options: EvalOptions, truth: Path, known: Truth) -> dict[str, Model]:
    """The true models in the folder that is named, else beside the truth, if there are any. Raises
    `click.UsageError`."""
    if options.true_models is not None:
        return read_true_models(options.true_models, known.texts)
    if any((truth.parent / f"{name}.bpmn").is_file() for name in known.texts):
        return read_true_models(truth.parent, known.texts)
    return {}


def _connect_model(options: EvalOptions, session: Session) -> OpenAIModelClient | None:
    """The client of the language model; says so where there is none."""
    try:
        return connect_model(session, model_settings(options), local_folder(options.location))
    except NotConfigured as error:
        session.note(f"{error}; measuring without one")
        return None


class _Links:
    """What the links of the chain are measured with."""

    def __init__(
        self,
        truth: Truth,
        models: dict[str, Model],
        ids: Sequence[str],
        embedder: Embedder,
        backend: Backend,
        runner: Runner,
        target_options: dict[str, str],
        progress: Progress,
    ) -> None:
        self._truth, self._models, self._ids, self._embedder = truth, models, ids, embedder
        self._backend, self._runner, self._target_options = backend, runner, target_options
        self._progress = progress

    def measure(self, label: str, discovery: Discovery, tokens: tuple[int, int]) -> Chain:
        """The figures of a discovery. Raises `RunnerError`."""
        scores = measures.score_discovery(
            discovery, self._truth, self._ids, self._embedder, self._models
        )
        own = PassContext(registry=Session().registry)
        request = CompileRequest(discovery.model, self._backend, self._target_options)
        workflows = {
            process.id: message_chain.Workflow(model, emitted)
            for model, emitted in compile_separately(request, own)
            for process in model.processes
        }
        by_evidence = by_name = None
        if self._models:
            by_evidence, by_name = message_chain.score_traces(
                discovery, self._truth, self._models, workflows, self._runner, self._embedder, own,
                self._progress,
            )  # fmt: skip
        drawn = {process.process.id for process in discovery.processes}
        return message_chain.Chain(
            label, scores, len(drawn), len(drawn & workflows.keys()), by_evidence, by_name, tokens
        )


def _write_chains(
    options: EvalOptions,
    chains: Sequence[Chain],
    messages: int,
    embedder: str,
    models: dict[str, Model],
    known: Truth,
) -> None:
    """Write or print the table."""
    text = f"compared with {embedder}; executed by {options.engine}\n"
    text += message_chain.format_chain(chains, messages)
    text += (
        f"models of {len(models)} of {len(known.texts)} true processes\n"
        if models
        else "no true models: --true-models DIR measures models and traces\n"
    )
    page = render_evaluation(
        "Evaluation of the chain from messages", options.location, text, Charts((), ())
    )
    wanted = ((options.output, text), (options.html, page))
    write_files([(Path(path), content) for path, content in wanted if path is not None])
    if options.output is None:
        write_stdout(text)
