"""`orgflowc fill`: open tasks of a model, answered by agents and checked by passes."""

from __future__ import annotations

from typing import Any

import click
from orgflow.backends import DEFAULT_TARGET
from orgflow.commands.compile import write_artifacts
from orgflow.commands.completion_values import FILE, targets
from orgflow.commands.filling import fill_model
from orgflow.commands.language_model import feedback_option
from orgflow.commands.options import (
    model_flags,
    model_options,
    process_option,
    resolve_target,
    source_options,
)
from orgflow.commands.output import keep_input
from orgflow.commands.server import SERVER_FAILED
from orgflow.commands.session import Session, exit_code, leave
from orgflow.compiler import compile_model

from orgflow_ir.diagnostics.agent_rules import UnavailableAgent


@click.command("fill", short_help="Fill open tasks with operations of the target.")
@click.argument("in_", metavar="MODEL", type=FILE)
@click.option(
    "--target", default=DEFAULT_TARGET, metavar="T", shell_complete=targets,
    help=f"Whose operations.  [default: {DEFAULT_TARGET}]",
)  # fmt: skip
@click.option(
    "--to", "format_to", default="bpmn", metavar="T", shell_complete=targets,
    help="Format of the filled model. [default: bpmn]",
)  # fmt: skip
@click.option("-o", "output", metavar="FILE", help="Write to this file instead of stdout.")
@click.option(
    "--catalogue", metavar="DIR|URL", default="",
    help="The folder in which the target is installed, or the address of a server. [default: the "
         "installation of `engine install`]",
)  # fmt: skip
@click.option("--no-model", is_flag=True, help="Fill by rules only.")
@click.option("--accept", is_flag=True, help="Use operations that only match the words of a task.")
@click.option(
    "--agent", "agents", metavar="NAME", multiple=True,
    help="Ask this agent first; repeatable.",
)  # fmt: skip
@feedback_option
@model_options
@process_option
@source_options
def command(
    in_: str,
    target: str,
    format_to: str,
    output: str | None,
    catalogue: str,
    no_model: bool,
    accept: bool,
    agents: tuple[str, ...],
    feedback: str | None,
    process: str | None,
    from_: str | None,
    format_: str,
    verbose: bool,
    **more: Any,
) -> None:
    """Fill the open tasks of MODEL (a file, or - with --from), and write the filled model.

    A language model selects an operation for each open task, maps variables and sets parameters; it
    also answers conditions, times and lists. Passes check every answer. Unknown values stay
    visible. Without a language model, operations are only proposed. Exit code 3: the language model
    failed.
    """
    keep_input(output, in_, *([feedback] if feedback else []))
    session = Session(format_, verbose=verbose)
    backend, _ = resolve_target(target, session.registry)
    writer, options = resolve_target(format_to, session.registry, [in_])
    ctx = session.context()
    model = session.load(in_, ctx, from_, diagram=writer.target.wants_diagram, process=process)
    artifacts = None
    if model is not None:
        model = fill_model(
            model, backend, session, ctx, flags=model_flags(more), near=in_, where=catalogue,
            accept=accept, no_model=no_model, feedback=feedback, more=agents,
            report_open=True,
        )  # fmt: skip
        emitted = compile_model(model, writer, ctx, options=options)
        artifacts = emitted.artifacts if emitted is not None else None
    failed = any(d.code == UnavailableAgent.code for d in ctx.diagnostics)
    session.collect(ctx)
    try:
        if artifacts is not None:
            write_artifacts(artifacts, output)
    finally:
        session.show()
    leave(SERVER_FAILED if failed else exit_code(session.diagnostics))
