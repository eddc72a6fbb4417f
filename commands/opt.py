"""`orgflowc opt`: run passes on a model and print the model that results."""

from __future__ import annotations

from pathlib import Path

import click
from orgflow.commands.completion_values import FILE, complete_passes
from orgflow.commands.options import SourceOptions, parsed_into, resolve_target, source_options
from orgflow.commands.output import keep_input, write_files, write_stdout
from orgflow.commands.session import Session, end_command, exit_code

from orgflow_ir.model import Model
from orgflow_ir.pipeline import Pass, PassManager, PipelineError, parse_pipeline


class OptOptions(SourceOptions):
    """The options of `opt`."""

    in_: str
    passes: str
    target: str | None
    output: str | None
    print_after: bool
    timing: bool


@click.command("opt", short_help="Run passes on a model and print the resulting model.")
@click.argument("in_", metavar="IN", type=FILE)
@click.option(
    "--passes",
    required=True,
    metavar="'a,b{x=1}'",
    shell_complete=complete_passes,
    help="Passes in order, with options; an empty list for none.",
)
@click.option("--target", metavar="T", help="Target that the passes run for.")
@click.option("-o", "output", metavar="FILE", help="Write to this file instead of stdout.")
@click.option("--print-after", is_flag=True, help="Print the model after every pass, to stderr.")
@click.option("--time", "timing", is_flag=True, help="Print how long each pass took, to stderr.")
@source_options
@parsed_into(OptOptions)
def command(options: OptOptions) -> None:
    """Run passes on the model in IN and print the resulting model as IR JSON."""
    session = Session.with_options(options)
    ctx = session.context()
    if options.target is not None:
        backend, target_options = resolve_target(options.target, session.registry, [options.in_])
        ctx.target, ctx.options = backend.target, target_options
    try:
        pipeline = parse_pipeline(options.passes, session.registry.passes)
    except PipelineError as error:
        raise click.UsageError(str(error)) from None

    def after(item: Pass, model: Model, seconds: float) -> None:
        if options.timing:
            session.note(f"{item.name}: {seconds * 1000:.1f} ms")
        if options.print_after:
            session.note(f"// after {item.name}\n{model.to_json().rstrip()}")

    keep_input(options.output, options.in_)
    model = session.load(options.in_, ctx, options.from_, diagram=True)
    if model is not None:
        model = PassManager(pipeline, (after,)).run(model, ctx)
    session.collect(ctx)
    try:
        if model is not None and options.output is not None:
            write_files([(Path(options.output), model.to_json())])
        elif model is not None:
            write_stdout(model.to_json())
    finally:
        session.show()
    end_command(exit_code(session.diagnostics))
