"""`orgflowc opt`: run passes on a model and print the model that results."""

from __future__ import annotations

from pathlib import Path

import click
from orgflow.commands.completion_values import FILE, passes
from orgflow.commands.options import resolve_target, source_options
from orgflow.commands.output import keep_input, write_files, write_stdout
from orgflow.commands.session import Session, exit_code, leave

from orgflow_ir.model import Model
from orgflow_ir.pipeline import Pass, PassManager, PipelineError, parse_pipeline


@click.command("opt", short_help="Run passes on a model and print the resulting model.")
@click.argument("in_", metavar="IN", type=FILE)
@click.option(
    "--passes",
    required=True,
    metavar="'a,b{x=1}'",
    shell_complete=passes,
    help="Passes in order, with options; an empty list for none.",
)
@click.option("--target", metavar="T", help="Target that the passes run for.")
@click.option("-o", "output", metavar="FILE", help="Write to this file instead of stdout.")
@click.option("--print-after", is_flag=True, help="Print the model after every pass, to stderr.")
@click.option("--time", "timing", is_flag=True, help="Print how long each pass took, to stderr.")
@source_options
def command(
    in_: str,
    passes: str,
    target: str | None,
    output: str | None,
    print_after: bool,
    timing: bool,
    from_: str | None,
    format_: str,
    verbose: bool,
) -> None:
    """Run passes on the model in IN and print the resulting model as IR JSON."""
    session = Session(format_, verbose=verbose)
    ctx = session.context()
    if target is not None:
        backend, options = resolve_target(target, session.registry, [in_])
        ctx.target, ctx.options = backend.target, options
    try:
        pipeline = parse_pipeline(passes, session.registry.passes)
    except PipelineError as error:
        raise click.UsageError(str(error)) from None

    def after(item: Pass, model: Model, seconds: float) -> None:
        if timing:
            session.note(f"{item.name}: {seconds * 1000:.1f} ms")
        if print_after:
            session.note(f"// after {item.name}\n{model.to_json().rstrip()}")

    keep_input(output, in_)
    model = session.load(in_, ctx, from_, diagram=True)
    if model is not None:
        model = PassManager(pipeline, (after,)).run(model, ctx)
    session.collect(ctx)
    try:
        if model is not None and output is not None:
            write_files([(Path(output), model.to_json())])
        elif model is not None:
            write_stdout(model.to_json())
    finally:
        session.show()
    leave(exit_code(session.diagnostics))
