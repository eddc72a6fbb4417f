"""`orgflowc eval`: measure the compiler on a suite of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click
from orgflow.backends import DEFAULT_TARGET
from orgflow.commands.completion_values import complete_among
from orgflow.commands.eval_options import EvalOptions
from orgflow.commands.options import (
    model_options,
    parsed_into,
    prompt_option,
    resolve_target,
)
from orgflow.commands.output import write_table
from orgflow.commands.progress import progress_bar
from orgflow.commands.server import (
    SERVER_FAILED,
    Engine,
    engine_runner,
    server_exit_code,
    server_options,
)
from orgflow.commands.session import Session, end_command
from orgflow.compilation.reading import load_model
from orgflow.compilation.usage_errors import suggest_name
from orgflow.compiler import (
    CompileRequest,
    add_called_processes,
    compile_model,
    compile_separately,
)
from orgflow.evaluation import executable, pmo
from orgflow.evaluation.charts import render_evaluation
from orgflow.evaluation.executable import Compiler as ExecutableCompiler
from orgflow.evaluation.executable import ExecutableReport
from orgflow.evaluation.pmo import Compiled, Compiler, PmoReport

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.services import Progress
from orgflow_ir.plugins import Registry
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.plugins.engines import is_address
from orgflow_ir.plugins.runners import RunnerError
from orgflow_ir.targets import executable_processes
from orgflow_ir.targets.artifact import Emitted

if TYPE_CHECKING:  # parts of single suites
    from orgflow.commands import (
        eval_discovery,
        eval_dmn,
        eval_filling,
        eval_messages,
        eval_text,
    )
else:
    eval_discovery = LazyModule("orgflow.commands.eval_discovery")
    eval_dmn = LazyModule("orgflow.commands.eval_dmn")
    eval_filling = LazyModule("orgflow.commands.eval_filling")
    eval_messages = LazyModule("orgflow.commands.eval_messages")
    eval_text = LazyModule("orgflow.commands.eval_text")

SUITES = ("pmo", "executable", "discovery", "messages", "text", "fill", "dmn")
WITH_TRUTH = ("discovery", "messages")
"""Suites that need a truth file."""
FORMATS = ("bpmn", "pme")
EXECUTABLE = (".bpmn", ".bpmn20.xml")
"""File name endings that `executable` accepts."""
INTERRUPTED, MISUSE = 130, 2


@click.command("eval", short_help="Measure the compiler on a suite of models.")
@click.argument("suite", metavar="SUITE", shell_complete=complete_among(*SUITES))
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
    help="With discovery and messages: folder with the true models (NAME.bpmn), with which flow "
    "and behaviour are compared.",
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
@prompt_option
@model_options
@server_options
@parsed_into(EvalOptions)
def command(options: EvalOptions) -> None:
    """Measure SUITE: `pmo` compiles and replays every model in DIR; `executable` does so with
    models of process engines; `discovery` compares the processes discovered in the store DIR (or at
    postgresql://…) with TRUTH; `messages` measures the whole chain from the messages in the store
    DIR to executed workflows, with and without a language model; `text` drafts a process from every
    description in DIR and compares it with the model; `fill` fills the open tasks of every model in
    DIR and compares them with its `NAME.filled.json`; `dmn` evaluates the DMN compatibility kit in
    DIR, which has folders `compliance-level-N/SUITE` or `N-SUITE`.

    `discovery` prints a table: messages by process and case, descriptions, evidence and steps, with
    ceilings, a null model, time and cost; with --true-models, also tasks, gateways, flows and
    behaviour of the models. `pmo` and `executable` print one CSV row per model. The summary goes to
    standard error: next to the published figures, or by reason, with and without models that
    contain races or parallel waits. `dmn` prints a line per suite and the totals last: the results
    of the evaluator and of the emitted JavaScript, refusals, and silent differences. Exit code 1: a
    model that should compile does not, a replay differs, or a decision differs silently; 3: the
    server failed.
    """
    if options.suite not in SUITES:
        hint = suggest_name(options.suite, SUITES)
        raise click.UsageError(f"no suite `{options.suite}`; {hint}")
    if (options.suite in WITH_TRUTH) is (options.truth is None):
        raise click.UsageError(
            "the file TRUTH is required for `discovery` and `messages`, and only for them"
        )
    if options.truth is not None:
        if options.suite == "messages":
            end_command(eval_messages.evaluate_messages(options, options.truth))
        eval_discovery.evaluate_discovery(options, options.truth)
        return
    _check_options(options)
    if options.suite == "dmn":
        end_command(eval_dmn.evaluate_decisions(options))
    if options.suite == "text":
        end_command(eval_text.evaluate_drafts(options))
    if options.suite == "fill":
        end_command(eval_filling.evaluate_fillings(options))
    _evaluate_models(options)


def _check_options(options: EvalOptions) -> None:
    """Raises `click.UsageError` for options of other suites, and without a folder."""
    if options.true_models is not None:
        raise click.UsageError("--true-models is for `discovery` and `messages`")
    if options.models is not None and options.models not in FORMATS:
        hint = suggest_name(options.models, FORMATS)
        raise click.UsageError(f"no format `{options.models}`; {hint}")
    if options.models is not None and options.suite != "pmo":
        raise click.UsageError("--models is for `pmo`, the suite with models of two formats")
    if not options.folder.is_dir():
        raise click.UsageError(f"{options.folder} is not a folder")


def _evaluate_models(options: EvalOptions) -> NoReturn:
    """Compile and replay every model of the suites `pmo` and `executable`."""
    session = Session()
    backend, _ = resolve_target(DEFAULT_TARGET, session.registry)
    ctx = session.context()
    try:
        with (
            engine_runner(options.engine, backend, options.key_file, options.wait, ctx) as engine,
            progress_bar() as progress,
        ):
            if engine.runner is None:
                session.collect(ctx)
                session.show()
                end_command(server_exit_code(session, backend))
            report = _run_suite(options, session.registry, backend, engine, progress)
    except FileNotFoundError as error:
        raise click.UsageError(str(error)) from None
    except RunnerError as error:
        click.echo(f"orgflowc eval: {error}", err=True)
        end_command(SERVER_FAILED if is_address(options.engine) else MISUSE)
    columns = executable.COLUMNS if options.suite == "executable" else pmo.COLUMNS
    summary = report.summary()
    page = render_evaluation(
        f"Evaluation of {options.suite}", options.location, summary, report.charts(), columns,
        report.rows,
    )  # fmt: skip
    write_table(report.to_csv(), summary, options.output, options.html, page)
    session.collect(ctx)
    session.show()
    if not report.complete:
        end_command(INTERRUPTED)
    end_command(0 if report.ok else 1)


def _run_suite(
    options: EvalOptions, registry: Registry, backend: Backend, engine: Engine, progress: Progress
) -> PmoReport | ExecutableReport:
    """The report of a suite. Raises `FileNotFoundError`, `RunnerError`."""
    assert engine.runner is not None
    if options.suite == "executable":
        return executable.evaluate_folder(
            options.folder,
            EXECUTABLE,
            _make_executable_compiler(registry, backend),
            engine.runner,
            executable.options_for(backend.target) | engine.options,
            progress=progress,
        )
    return pmo.evaluate_corpus(
        options.folder,
        _make_compiler(registry, backend, engine.options),
        backend,
        engine.runner,
        formats=(options.models,) if options.models else FORMATS,
        progress=progress,
    )


def _make_compiler(registry: Registry, backend: Backend, options: dict[str, str]) -> Compiler:
    """The compiler of the models of a suite, which works like `compile`."""

    def compile_file(
        path: Path, format_: str, ctx: PassContext
    ) -> tuple[Model | None, Compiled | None]:
        ctx.registry = registry
        model = load_model(
            str(path), registry, ctx, from_=format_, diagram=backend.target.wants_diagram
        )
        if model is None:
            return None, None
        emitted = compile_model(model, backend, ctx, options=options)
        return model, (Compiled(model, emitted) if emitted is not None else None)

    return compile_file


def _make_executable_compiler(registry: Registry, backend: Backend) -> ExecutableCompiler:
    """The compiler of the models of `executable`, which works like `compile`, and like `compile -o
    DIR/` where that refuses a model of several processes."""

    def compile_file(
        path: Path, ctx: PassContext, options: Mapping[str, str]
    ) -> tuple[Model | None, Sequence[tuple[Model, Emitted]]]:
        ctx.registry = registry
        model = load_model(str(path), registry, ctx, diagram=backend.target.wants_diagram)
        if model is None:
            return None, ()
        read = list(ctx.diagnostics)
        whole = add_called_processes(model, backend, ctx)
        emitted = compile_model(whole, backend, ctx, options=dict(options))
        if emitted is not None:
            return whole, [(whole, emitted)]
        processes = executable_processes(model)
        if len(processes) < 2:
            return model, ()
        own = PassContext(registry=registry)
        own.diagnostics = read
        separate = compile_separately(CompileRequest(model, backend, options), own)
        return model, separate if len(separate) == len(processes) else ()

    return compile_file
