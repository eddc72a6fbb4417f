"""What each rule of the prompt for outlines is worth: drafts of the same texts with the whole
prompt, and with one rule left out each.

`python benchmarks/rule_ablation.py DIR [--rules lists,events] [--record DIR [--replay]]
[--csv FILE] [--table FILE]`, and the options of `orgflowc eval` for the language model.

Every text of `DIR/descriptions` is drafted, and compared with its model in `DIR/bpmn`. The table
has the figures with all rules, and for each rule the difference without it: positive where the rule
helps. `better` and `worse` count texts whose overall score is higher or lower with the rule by more
than 0.02. With `--record`, a text is never asked twice; with `--replay`, nothing is sent.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
from orgflow.agents.text.outline_policy import list_rule_names
from orgflow.commands.eval_options import EvalOptions
from orgflow.commands.eval_text import DraftRunner, find_embedder
from orgflow.commands.language_model import report_usage
from orgflow.commands.options import model_options
from orgflow.commands.session import Session
from orgflow.evaluation.tables import table_lines
from orgflow.evaluation.text_metrics import ElementCounts
from orgflow.evaluation.text_suite import Drafter, TextReport, evaluate_texts, sum_counts

NOISE = 0.02
"""Smaller differences of a text's overall score count for neither side."""

ALL = "all rules"
MEANS = ("task", "gateway", "split", "flow", "overall", "exact")
POOLED = ("non-sequence", "AND", "XOR", "events")
_COLUMNS = ("texts", "sound", *MEANS, *POOLED, "tokens")
_DIFFERENCES = ("sound", *MEANS, *POOLED, "tokens", "better", "worse")

Cells = Sequence[int | float | None]


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--rules", default="", help="Only these rules, with commas between them.")
@click.option("--csv", type=click.Path(path_type=Path), help="Write the row of every draft.")
@click.option("--table", type=click.Path(path_type=Path), help="Also write the table.")
@model_options
def main(folder: Path, rules: str, csv: Path | None, table: Path | None, **given: Any) -> None:
    """Draft the texts of FOLDER with and without each rule."""
    names = [name for name in rules.replace(" ", "").split(",") if name] or list_rule_names()
    unknown = set(names) - set(list_rule_names())
    if unknown:
        raise click.UsageError(
            f"there is no rule {min(unknown)!r}; the rules are: {', '.join(list_rule_names())}"
        )
    session = Session()
    options = EvalOptions(
        location=str(folder), agent="text", samples=1, rounds=0, prompt="outline", **given
    )
    runner = DraftRunner(options, session, times=len(names) + 1)
    drafters: dict[str, Drafter] = {ALL: runner.draft}
    drafters |= {f"without {name}": partial(runner.draft, omitted=(name,)) for name in names}
    report = evaluate_texts(folder, drafters, runner.read, embedder=find_embedder())
    if csv is not None:
        csv.write_text(report.to_csv())
    lines = "\n".join(format_ablation(report)) + "\n"
    if table is not None:
        table.write_text(lines)
    print(lines, end="")
    if runner.client is not None:
        report_usage(session, runner.client)
    session.show()
    sys.exit(0 if report.complete else 1)


def format_ablation(report: TextReport) -> list[str]:
    """The table with all rules, and that of the differences without one."""
    rows = {agent: [r for r in report.rows if r["agent"] == agent] for agent in report.agents}
    whole = rows.pop(ALL)
    before = measure_rows(whole)
    lines = table_lines(_COLUMNS, [(ALL, (len(whole), *before.values()))])
    differences: list[tuple[str, Cells]] = []
    for name, others in rows.items():
        after = measure_rows(others)
        cells = [
            None if before[key] is None or after[key] is None else before[key] - after[key]
            for key in before
        ]
        differences.append((name, (*cells, *count_changes(whole, others))))
    lines += ["", "gain by the rule (with all rules minus without it):"]
    return [*lines, *table_lines(_DIFFERENCES, differences)]


def measure_rows(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The figures of drafts, by column: means over texts, F1 pooled over texts, tokens a text."""
    figures: dict[str, Any] = {key: _mean(row[key] for row in rows) for key in ("sound", *MEANS)}
    for what in POOLED:
        counts: ElementCounts = sum_counts(rows, what)
        figures[what] = counts.f1
    figures["tokens"] = _mean(row["tokens"] for row in rows)
    return figures


def count_changes(
    whole: Sequence[Mapping[str, Any]], others: Sequence[Mapping[str, Any]]
) -> tuple[int, int]:
    """The texts that are better, and worse, with the rule."""
    by_text = {row["text"]: float(row["overall"]) for row in others}
    gains = [float(row["overall"]) - by_text[row["text"]] for row in whole]
    return sum(gain > NOISE for gain in gains), sum(gain < -NOISE for gain in gains)


def _mean(values: Iterable[Any]) -> float | None:
    numbers = [float(value) for value in values if value != ""]
    return sum(numbers) / len(numbers) if numbers else None


if __name__ == "__main__":
    main()
