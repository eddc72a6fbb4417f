"""`orgflowc eval`: measure the compiler on a suite of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from orgflow.backends import DEFAULT_TARGET
from orgflow.commands.completion_values import among
from orgflow.commands.options import model_flags, model_options, resolve_target
from orgflow.commands.output import write_table
from orgflow.commands.progress import progress_bar
from orgflow.commands.server import SERVER_FAILED, engine_runner, server_exit_code, server_options
from orgflow.commands.session import Session, leave
from orgflow.compiler import compile_model, compile_separately, load, suggestion, with_called

from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.targets import executable_processes

if TYPE_CHECKING:
    from orgflow.evaluation.executable import Compiler as ExecutableCompiler
    from orgflow.evaluation.executable import ExecutableReport
    from orgflow.evaluation.pmo import Compiled, Compiler, PmoReport

    from orgflow_ir.targets.artifact import Emitted

SUITES = ("pmo", "executable", "discovery", "text", "fill")
FORMATS = ("bpmn", "pme")
EXECUTABLE = (".bpmn", ".bpmn20.xml")
"""File name endings that `executable` accepts."""
INTERRUPTED, MISUSE = 130, 2


@click.command("eval", short_help="Measure the compiler on a suite of models.")
@click.argument("suite", metavar="SUITE", shell_complete=among(*SUITES))
@click.argument("location", metavar="DIR", type=click.Path())
@click.argument("truth", metavar="[TRUTH]", required=False, type=click.Path(path_type=Path))
@click.option(
    "--seeds",
    default=5,
    metavar="N",
    type=click.IntRange(1),
    help="Draws of `discovery`.  [default: 5]",
)
@click.option(
    "--true-models",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="With discovery: folder with the true models (NAME.bpmn), with which flow and behaviour "
    "are compared.",
)
@click.option(
    "-o", "output", metavar="FILE.csv", help="Write the CSV to this file instead of stdout."
)
@click.option("--html", metavar="FILE.html", help="Also write the figures as a page with charts.")
@click.option(
    "--models", metavar="bpmn|pme", help="Only the models of this format.  [default: both]"
)
@click.option(
    "--engine",
    default="local",
    metavar="local|model|URL",
    help="The installed engine, the engine model, or a server.  [default: local]",
)
@click.option(
    "--agent", metavar="NAME",
    help="The agent that drafts or fills.  [default: text-rules with text, operations-rules with "
    "fill]  With discovery: `messages`, and the baselines `clusters` and `one-call`, in a list.",
)  # fmt: skip
@click.option(
    "--samples", default=1, metavar="N", type=click.IntRange(1, 20),
    help="With text and fill: number of drafts or fillings of each, for pass@k. With discovery: "
         "runs of each agent.  [default: 1]",
)  # fmt: skip
@click.option(
    "--rounds", default=0, metavar="N", type=click.IntRange(0, 5),
    help="With text: also measure this number of review rounds. [default: 0]",
)  # fmt: skip
@model_options
@server_options
def command(
    suite: str,
    location: str,
    truth: Path | None,
    seeds: int,
    true_models: Path | None,
    output: str | None,
    html: str | None,
    models: str | None,
    engine: str,
    agent: str | None,
    samples: int,
    rounds: int,
    key_file: str | None,
    wait: float,
    **more: Any,
) -> None:
    """Measure SUITE: `pmo` compiles and replays every model in DIR; `executable` does so with
    models of process engines; `discovery` compares the processes discovered in the store DIR (or at
    postgresql://…) with TRUTH; `text` drafts a process from every description in DIR and compares
    it with the model; `fill` fills the open tasks of every model in DIR and compares them with its
    `NAME.filled.json`.

    `discovery` prints a table: messages by process and case, descriptions, evidence and steps, with
    ceilings, a null model, time and cost; with --true-models, also tasks, gateways, flows and
    behaviour of the models. `pmo` and `executable` print one CSV row per model. The summary goes to
    standard error: next to the published figures, or by reason, with and without models that
    contain races or parallel waits. Exit code 1: a model that should compile does not, or a replay
    differs; 3: the server failed.
    """
    if suite not in SUITES:
        raise click.UsageError(f"no suite `{suite}`; {suggestion(suite, SUITES)}")
    if (suite == "discovery") is (truth is None):
        raise click.UsageError("the file TRUTH is required for `discovery`, and only for it")
    if truth is not None:
        from orgflow.commands.discover import evaluated

        flags = model_flags(more)
        evaluated(location, truth, seeds, samples, output, html, true_models, agent, flags)
        return
    folder = Path(location)
    if true_models is not None:
        raise click.UsageError("--true-models is for `discovery`")
    if models is not None and models not in FORMATS:
        raise click.UsageError(f"no format `{models}`; {suggestion(models, FORMATS)}")
    if models is not None and suite == "executable":
        raise click.UsageError("--models is for other suites: `executable` reads BPMN")
    if not folder.is_dir():
        raise click.UsageError(f"{folder} is not a folder")
    flags = model_flags(more)
    if suite == "text":
        from orgflow.commands.eval_text import evaluate as evaluate_text

        leave(evaluate_text(folder, agent, flags, output, html, samples, rounds))
    if suite == "fill":
        from orgflow.commands.eval_filling import evaluate as evaluate_filling

        leave(evaluate_filling(folder, agent, flags, output, html, samples))
    from orgflow.evaluation import executable, pmo

    from orgflow_ir.plugins.engines import is_address
    from orgflow_ir.plugins.runners import RunnerError

    session = Session()
    registry = session.registry
    backend, _ = resolve_target(DEFAULT_TARGET, registry)
    ctx = session.context()
    try:
        with (
            engine_runner(engine, backend, key_file, wait, ctx) as (runner, options, _),
            progress_bar() as progress,
        ):
            if runner is None:
                session.collect(ctx)
                session.show()
                leave(server_exit_code(session, backend))
            report: PmoReport | ExecutableReport
            if suite == "executable":
                report = executable.evaluate(
                    folder,
                    EXECUTABLE,
                    _executable_compiler(registry, backend),
                    runner,
                    executable.options_for(backend.target) | options,
                    progress=progress,
                )
            else:
                report = pmo.evaluate(
                    folder,
                    _compiler(registry, backend, options),
                    backend,
                    runner,
                    formats=(models,) if models else FORMATS,
                    progress=progress,
                )
    except FileNotFoundError as error:
        raise click.UsageError(str(error)) from None
    except RunnerError as error:
        click.echo(f"orgflowc eval: {error}", err=True)
        leave(SERVER_FAILED if is_address(engine) else MISUSE)
    from orgflow.evaluation.charts import render_evaluation

    columns = executable.COLUMNS if suite == "executable" else pmo.COLUMNS
    summary = report.summary()
    page = render_evaluation(
        f"Evaluation of {suite}", location, summary, report.charts(), columns, report.rows
    )
    write_table(report.to_csv(), summary, output, html, page)
    session.collect(ctx)
    session.show()
    if not report.complete:
        leave(INTERRUPTED)
    leave(0 if report.ok else 1)


def _compiler(registry: Registry, backend: Backend, options: dict[str, str]) -> Compiler:
    """What the suite compiles its models with: the same way as `compile`."""

    def compile_file(
        path: Path, format_: str, ctx: PassContext
    ) -> tuple[Model | None, Compiled | None]:
        from orgflow.evaluation.pmo import Compiled

        ctx.registry = registry
        model = load(str(path), registry, ctx, from_=format_, diagram=backend.target.wants_diagram)
        if model is None:
            return None, None
        emitted = compile_model(model, backend, ctx, options=options)
        return model, (Compiled(model, emitted) if emitted is not None else None)

    return compile_file


def _executable_compiler(registry: Registry, backend: Backend) -> ExecutableCompiler:
    """What `executable` compiles its models with: as `compile` does, and where that refuses a model
    of several processes as `compile -o DIR/` does."""

    def compile_file(
        path: Path, ctx: PassContext, options: Mapping[str, str]
    ) -> tuple[Model | None, Sequence[tuple[Model, Emitted]]]:
        ctx.registry = registry
        model = load(str(path), registry, ctx, diagram=backend.target.wants_diagram)
        if model is None:
            return None, ()
        read = list(ctx.diagnostics)
        whole = with_called(model, backend, ctx)
        emitted = compile_model(whole, backend, ctx, options=dict(options))
        if emitted is not None:
            return whole, [(whole, emitted)]
        processes = executable_processes(model)
        if len(processes) < 2:
            return model, ()
        own = PassContext(registry=registry)
        own.diagnostics = read
        found = compile_separately(model, backend, own, options=dict(options))
        return model, found if len(found) == len(processes) else ()

    return compile_file
