"""`orgflowc eval`: measure the compiler on a suite of models."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
from orgflow.commands.driver import load, lower_model, suggestion
from orgflow.commands.options import resolve_target
from orgflow.commands.output import write_files, write_stdout
from orgflow.commands.session import leave

from orgflow_ir.contracts import Backend
from orgflow_ir.model import Model
from orgflow_ir.pass_manager import PassContext
from orgflow_ir.plugins import Registry

if TYPE_CHECKING:
    from orgflow.evaluation.pmo import Compiled, Compiler

SUITES = ("pmo",)
FORMATS = ("bpmn", "pme")
INTERRUPTED, MISUSE = 130, 2

Progress = Callable[[int, int, str], None]


@click.command("eval", short_help="Measure the compiler on a suite of models.")
@click.argument("suite", metavar="SUITE")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("-o", "output", metavar="FILE.csv", help="Write the CSV there, not to stdout.")
@click.option(
    "--models", metavar="bpmn|pme", help="Only the models of this format.  [default: both]"
)
def command(suite: str, folder: Path, output: str | None, models: str | None) -> None:
    """Compile and replay every model of SUITE (pmo) in DIR.

    Prints one CSV row a model; the summary, beside the published figures, goes to standard error.
    Exit code 1: a model that should compile does not, or a replay differs.
    """
    if suite not in SUITES:
        raise click.UsageError(f"no suite `{suite}`; {suggestion(suite, SUITES)}")
    if models is not None and models not in FORMATS:
        raise click.UsageError(f"no format `{models}`; {suggestion(models, FORMATS)}")
    if not folder.is_dir():
        raise click.UsageError(f"{folder} is not a folder")
    from orgflow.backends.n8n.engine.local import EngineError
    from orgflow.backends.n8n.engine.node import NodeError
    from orgflow.evaluation.pmo import evaluate

    registry = Registry()
    backend, _ = resolve_target("n8n", registry)
    runner = backend.runner()
    assert runner is not None
    try:
        with _progress() as progress:
            report = evaluate(
                folder,
                _compiler(registry, backend),
                runner,
                formats=(models,) if models else FORMATS,
                progress=progress,
            )
    except FileNotFoundError as error:
        raise click.UsageError(str(error)) from None
    except (EngineError, NodeError) as error:
        click.echo(f"orgflowc eval: {error}", err=True)
        leave(MISUSE)
    finally:
        runner.close()
    if output is not None:
        write_files([(Path(output), report.to_csv())])
    else:
        write_stdout(report.to_csv())
    click.echo(report.summary(), err=True, nl=False)
    if not report.complete:
        leave(INTERRUPTED)
    leave(0 if report.ok else 1)


def _compiler(registry: Registry, backend: Backend) -> Compiler:
    """What the suite compiles its models with: the same way as `compile`."""

    def compile_file(
        path: Path, format_: str, ctx: PassContext
    ) -> tuple[Model | None, Compiled | None]:
        from orgflow.evaluation.pmo import Compiled

        ctx.registry = registry
        model = load(str(path), registry, ctx, from_=format_, diagram=backend.target.wants_diagram)
        if model is None:
            return None, None
        legal = lower_model(model, backend, ctx)
        artifacts = backend.emit(legal, ctx) if legal is not None else ()
        if legal is None or ctx.has_errors:
            return model, None
        return model, Compiled(model, legal, tuple(a.text for a in artifacts))

    return compile_file


@contextlib.contextmanager
def _progress() -> Iterator[Progress]:
    """A progress bar on a terminal, nothing in a pipe."""
    if not sys.stderr.isatty():
        yield lambda done, total, name: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)

        def show(done: int, total: int, name: str) -> None:
            bar.update(task, completed=done, total=total, description=name)

        yield show
