"""`orgflowc run`: run a model on the target's engine and compare with its meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from orgflow.commands.completing import FILE
from orgflow.commands.driver import lower_model
from orgflow.commands.options import process_option, resolve_target, source_options
from orgflow.commands.output import write_stdout
from orgflow.commands.session import Session, exit_code, leave

if TYPE_CHECKING:
    from orgflow.evaluation.replay import ReplayReport, RunReport

MAX_RUNS = 32
MISUSE = 2


@click.command("run", short_help="Run a model on the target's engine and compare.")
@click.argument("in_", metavar="IN", type=FILE)
@click.option(
    "--target", default="n8n", metavar="T[{option=value,…}]", help="Target.  [default: n8n]"
)
@click.option("--engine", default="local", metavar="local", help="Engine.  [default: local]")
@click.option("--all-paths", is_flag=True, help="Every enumerated run, not only the first.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@process_option
@source_options
def command(
    in_: str,
    target: str,
    engine: str,
    all_paths: bool,
    as_json: bool,
    process: str | None,
    from_: str | None,
    format_: str,
    verbose: bool,
) -> None:
    """Compile the model in IN, run it on the target's engine, compare with what the model means.

    Placeholder tasks are replaced by stubs that set the decision variables as scripted;
    expressions stay as emitted. Exit code 1: a run differs, or the model has errors.
    """
    if engine != "local":
        raise click.UsageError(f"no engine `{engine}`; there is: local")
    session = Session(format_, verbose=verbose)
    backend, options = resolve_target(target, session.registry)
    ctx = session.context()
    model = session.load(in_, ctx, from_, diagram=backend.target.wants_diagram, process=process)
    lowered = None if model is None else lower_model(model, backend, ctx, options=options)
    session.collect(ctx)
    session.show()
    if model is None or lowered is None:
        leave(exit_code(session.diagnostics))
    runner = backend.runner()
    if runner is None:
        raise click.UsageError(f"target `{backend.name}` has no engine to run on")
    from orgflow.backends.n8n.engine.local import EngineError
    from orgflow.backends.n8n.engine.node import NodeError
    from orgflow.evaluation.replay import replay_model

    from orgflow_ir.contracts import RunnerError

    try:
        report = replay_model(model, lowered, runner, ctx, max_runs=MAX_RUNS, all_paths=all_paths)
    except (EngineError, NodeError, RunnerError) as error:
        click.echo(f"orgflowc run: {error}", err=True)
        leave(MISUSE)
    finally:
        runner.close()
    write_stdout(report.to_json() if as_json else report_text(report))
    leave(0 if report.ok else 1)


def report_text(report: ReplayReport) -> str:
    """The report for people: a block a run, then the sums."""
    lines: list[str] = []
    for number, run in enumerate(report.runs, 1):
        lines += _run_lines(number, run, report.labels)
    covered, total = report.flows
    for flow, reason in report.uncovered:
        lines.append(f"not taken by any run: `{report.labels.get(flow, flow)}`: {reason}")
    lines += [f"not played: {told}" for told in report.unfinished]
    for change in report.changed:
        lines.append(f"differs from the delivered workflow: {change}")
    equal = sum(r.verdict == "equal" for r in report.runs)
    lines.append(
        f"{equal} of {len(report.runs)} runs as the model says, mean F1 {report.f1:.3f}, "
        f"{covered} of {total} flows covered"
    )
    return "\n".join(lines) + "\n"


def _run_lines(number: int, run: RunReport, labels: dict[str, str]) -> list[str]:
    choices = ", ".join(
        f"{labels.get(element, element)} → {' + '.join(labels.get(f, f) for f in taken)}"
        for element, taken in run.run.choices
    )
    scores = f"P {run.precision:.2f} R {run.recall:.2f} F1 {run.f1:.2f}"
    lines = [f"run {number}: {run.verdict}  {scores}"]
    if choices:
        lines.append(f"  choices:  {choices}")
    lines.append(f"  executed: {' → '.join(run.executed) or 'nothing'}")
    if run.missing:
        lines.append(f"  missing:  {', '.join(run.missing)}")
    if run.divergence:
        lines.append(f"  {run.divergence}")
    lines.append("")
    return lines
