"""The part of `orgflowc eval` that measures decisions by the DMN compatibility kit."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import click
from click.core import ParameterSource
from orgflow.backends.n8n.engine.local import EngineError, LocalEngine
from orgflow.backends.n8n.engine.node import NodeError
from orgflow.commands.eval_options import EvalOptions
from orgflow.commands.output import write_files, write_stdout
from orgflow.commands.progress import progress_bar
from orgflow.evaluation.dmn_kit import KitError, list_suites
from orgflow.evaluation.dmn_results import (
    COLUMNS,
    ENGINE_COLUMN,
    SuiteResult,
    head_line,
    is_conformant,
    measure_suite,
    result_rows,
    suite_line,
    total_lines,
)
from orgflow.evaluation.tables import csv_text

from orgflow_ir.plugins.engines import LOCAL


def evaluate_decisions(options: EvalOptions) -> int:
    """Measure a kit, print a line for each suite and the totals last; the exit code.

    Raises:
        click.UsageError: the folder is no kit, or there is no engine.
    """
    on_engine = _is_engine_requested(options)
    try:
        folders = list_suites(options.folder)
    except (KitError, OSError) as error:
        raise click.UsageError(str(error)) from None
    columns = (*COLUMNS, ENGINE_COLUMN) if on_engine else COLUMNS
    results: list[SuiteResult] = []
    try:
        with LocalEngine() if on_engine else nullcontext() as engine, progress_bar() as progress:
            for number, folder in enumerate(folders):
                progress(number, len(folders), folder.path.name)
                results.append(measure_suite(folder, engine))
    except (NodeError, EngineError) as error:
        raise click.UsageError(str(error)) from None
    lines = [head_line(columns), *(suite_line(result, columns) for result in results)]
    write_stdout("\n".join((*lines, *total_lines(results, columns))) + "\n")
    if options.output is not None:
        rows = csv_text(("suite", "level", *columns, "fault"), result_rows(results, columns))
        write_files([(Path(options.output), rows)])
    return 0 if is_conformant(results) else 1


def _is_engine_requested(options: EvalOptions) -> bool:
    """Whether `--engine local` is on the command line. Raises `click.UsageError` for another
    engine, and for a page."""
    if options.html is not None:
        raise click.UsageError("--html is for other suites: `dmn` prints a table")
    source = click.get_current_context().get_parameter_source("engine")
    if source is ParameterSource.DEFAULT:
        return False
    if options.engine != LOCAL:
        raise click.UsageError(
            "`dmn` evaluates decisions; `--engine local` also runs them in Code nodes of n8n"
        )
    return True
