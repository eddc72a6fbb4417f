"""The part of `orgflowc discover` that mines the process of an event log."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click
from orgflow.commands.options import resolve_target
from orgflow.commands.output import list_destinations, print_text, write_files, write_stdout
from orgflow.commands.session import Session, end_command, exit_code
from orgflow.compiler import CompileRequest, compile_separately
from orgflow.frontends.traces.log_paths import detect_format, read_log

from orgflow_ir.diagnostics import Rule
from orgflow_ir.diagnostics.log_rules import (
    ClockFault,
    DuplicateEvent,
    HalfCase,
    NoEvents,
    SkippedEvent,
    UnreadableEventLog,
)
from orgflow_ir.mining.event_log import UnreadableLog
from orgflow_ir.mining.infrequent_miner import DEFAULT_NOISE
from orgflow_ir.mining.log_cleaning import CleanLog, clean_log
from orgflow_ir.mining.log_process import MinedProcess, describe_figures, mine_process
from orgflow_ir.mining.process_tree import (
    EMPTY,
    Choice,
    Leaf,
    Loop,
    Parallel,
    Tree,
    list_choices,
)
from orgflow_ir.mining.process_tree import Sequence as PartSequence
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.pipeline import PassContext

if TYPE_CHECKING:
    from orgflow.commands.discover import DiscoverOptions

SUFFIXES: Final[Mapping[str, str]] = {
    ".bpmn": "bpmn", ".outline": "outline", ".powl": "powl", ".json": "ir", ".svg": "svg",
    ".mmd": "mermaid",
}  # fmt: skip
"""The target for the suffix of the file that is written."""

WITHOUT_EVENTS: Final = ("powl",)
"""Targets that have steps, but no events."""

MOST_FINDINGS: Final = 10
"""Number of findings of each rule that are shown one by one."""

_KINDS: Final[Mapping[str, type[Rule]]] = {
    "clock": ClockFault, "duplicate": DuplicateEvent, "half": HalfCase,
}  # fmt: skip


def discover_log(options: DiscoverOptions, path: str) -> NoReturn:
    """Mine the process of a log, print or compile it, and end the command."""
    if options.page or (options.as_json and options.target is not None):
        raise click.UsageError("--traces has no --page, and --json goes without --target")
    target = options.target or _target_of_suffix(options.output, options.as_json)
    session = Session.with_options(options)
    chosen = resolve_target(target, session.registry, ["-"]) if target is not None else None
    ctx = session.context()
    clean = load_log(path, parse_columns(options.columns), options.object_type, ctx)
    if clean is not None:
        noise = DEFAULT_NOISE if options.noise is None else options.noise
        name = os.path.basename(path).partition(".")[0]
        with_timers = chosen is None or chosen[0].name not in WITHOUT_EVENTS
        mined = mine_process(
            clean, noise=noise, name=name, is_automatic=_has_calls(path), with_timers=with_timers
        )
        if not with_timers and any(figures.timer for figures in mined.figures.values()):
            session.note(f"{target} has no timers; waits are left out")
        if chosen is not None:
            model = Model(id=f"{name} mined", name=name, processes=(mined.process,))
            _write_model(CompileRequest(model, *chosen), options.output, ctx)
        else:
            text = format_json(mined, clean) if options.as_json else format_report(mined, clean)
            if options.output is not None:
                write_files([(Path(options.output), text)])
            elif options.as_json:
                write_stdout(text)
            else:
                print_text(text)
    session.collect(ctx)
    session.show()
    end_command(exit_code(session.diagnostics))


def _target_of_suffix(output: str | None, as_json: bool) -> str | None:
    """The target that `-o` states. Raises `click.UsageError` for a suffix of none."""
    if output is None or as_json:
        return None
    suffix = os.path.splitext(output)[1].lower()
    if suffix in ("", ".txt", ".md"):
        return None
    if suffix not in SUFFIXES:
        raise click.UsageError(
            f"no format has the suffix {suffix}; name the target, or use one of: "
            f"{', '.join(SUFFIXES)}"
        )
    return SUFFIXES[suffix]


def _has_calls(path: str) -> bool:
    """Whether a log is of tool calls."""
    return detect_format(path) == "tool calls"


def parse_columns(given: Iterable[str]) -> dict[str, str]:
    """The columns of `--map`, by field. Raises `click.UsageError`."""
    columns: dict[str, str] = {}
    for text in given:
        field, sign, column = text.partition("=")
        if not sign or not field or not column:
            raise click.UsageError(f"cannot read --map {text!r}; write FIELD=COLUMN")
        columns[field.strip()] = column
    return columns


def load_log(
    path: str, columns: Mapping[str, str], object_type: str | None, ctx: PassContext
) -> CleanLog | None:
    """The cases of a log, `None` after an error; its faults are reported."""
    try:
        log = read_log(path, columns, object_type)
    except UnreadableLog as error:
        ctx.emit(
            UnreadableEventLog, str(error), loc=_place_fault(path, error.line),
            help=error.advice or None,
        )  # fmt: skip
        return None
    except OSError as error:
        reason = error.strerror or str(error)
        ctx.emit(UnreadableEventLog, f"{path} cannot be read: {reason}", loc=_place_fault(path, 0))
        return None
    if not len(log):
        ctx.emit(NoEvents, "the log has no events", loc=_place_fault(path, 0))
        return None
    clean = clean_log(log)
    findings: list[tuple[type[Rule], int, str]] = [
        (ClockFault if fault.is_clock else SkippedEvent, fault.line, fault.text)
        for fault in log.faults
    ]
    findings += [
        (_KINDS[fault.kind], fault.line, f"case `{fault.case[:60]}`: {fault.text}")
        for fault in clean.faults
    ]
    _report_findings(path, findings, ctx)
    return clean


def _place_fault(path: str, line: int) -> SourceLocation:
    return SourceLocation(file=path, line=line or None)


def _report_findings(
    path: str, findings: list[tuple[type[Rule], int, str]], ctx: PassContext
) -> None:
    """Report the first findings of each rule one by one, and the number of the others."""
    counts = Counter(rule for rule, _, _ in findings)
    shown: Counter[type[Rule]] = Counter()
    for rule, line, text in findings:
        shown[rule] += 1
        if shown[rule] <= MOST_FINDINGS:
            ctx.emit(rule, text, loc=_place_fault(path, line))
        elif shown[rule] == MOST_FINDINGS + 1:
            rest = counts[rule] - MOST_FINDINGS
            ctx.emit(rule, f"{rest:,} more findings of this kind", loc=_place_fault(path, 0))


def _write_model(request: CompileRequest, output: str | None, ctx: PassContext) -> None:
    """Compile the process, and write or print its files."""
    artifacts = [a for _, emitted in compile_separately(request, ctx) for a in emitted.artifacts]
    if not artifacts:
        return  # the errors are reported
    if output is not None:
        paths = list_destinations(output, artifacts)
        write_files([(path, a.text) for path, a in zip(paths, artifacts, strict=True)])
    elif len(artifacts) == 1:
        write_stdout(artifacts[0].text)
    else:
        raise click.UsageError("several files cannot go to standard output; use -o DIR/")


# -- reports -----------------------------------------------------------------------------------


def format_report(mined: MinedProcess, clean: CleanLog) -> str:
    """The process as indented lines, each with what the log shows of it."""
    log = clean.log
    cases = clean.count_cases()
    lines = [
        f"{os.path.basename(log.file)}: {len(log):,} events, {cases:,} cases, "
        f"{len(clean.variants):,} variants; {mined.fitting:.1%} of events are in the process",
        *_list_lines(mined.tree, mined, clean, 1),
    ]
    return "\n".join(lines) + "\n"


def _list_lines(tree: Tree, mined: MinedProcess, clean: CleanLog, depth: int) -> list[str]:
    indent = "  " * depth
    match tree:
        case Leaf():
            figures = mined.figures[tree.step]
            lines = []
            if figures.timer:
                lines.append(f"{indent}timer: {figures.wait}")
            name = clean.log.activities[tree.step]
            return [*lines, f"{indent}{name}: {describe_figures(figures, clean.count_cases())}"]
        case PartSequence():
            return [line for part in tree.parts for line in _list_lines(part, mined, clean, depth)]
        case Parallel():
            lines = [f"{indent}together:"]
            for part in tree.parts:
                lines += [f"{indent}  branch:", *_list_lines(part, mined, clean, depth + 2)]
            return lines
        case Loop():
            lines = [f"{indent}repeat:", *_list_lines(tree.body, mined, clean, depth + 1)]
            if tree.again != EMPTY:
                lines += [f"{indent}  before it is repeated:"]
                lines += _list_lines(tree.again, mined, clean, depth + 2)
            return lines
        case Choice():
            return _list_ways(tree, mined, clean, depth)


def _list_ways(tree: Choice, mined: MinedProcess, clean: CleanLog, depth: int) -> list[str]:
    indent = "  " * depth
    number = next(n for n, choice in enumerate(list_choices(mined.tree)) if choice is tree)
    counts, rules = mined.way_counts.get(number, Counter()), mined.rules.get(number)
    total = counts.total() or 1
    head = f"{indent}choose:"
    if rules is not None:
        head += f" accuracy {rules.accuracy:.1%}, most frequent way {rules.baseline:.1%}"
    lines = [head]
    for way, option in enumerate(tree.options):
        rule = rules.rules[way] if rules is not None else None
        condition = str(rule) if rule is not None else "else" if rules is not None else "way"
        lines.append(f"{indent}  {condition}: {counts[way]:,} ({counts[way] / total:.0%})")
        lines += _list_lines(option, mined, clean, depth + 2) or [f"{indent}    nothing"]
    return lines


def format_json(mined: MinedProcess, clean: CleanLog) -> str:
    """The figures of the process as JSON."""
    activities: list[dict[str, Any]] = []
    for step, figures in mined.figures.items():
        entry: dict[str, Any] = {
            "activity": clean.log.activities[step], "events": figures.events,
            "cases": figures.cases, "timer_seconds": figures.timer,
        }  # fmt: skip
        for key, spread in (("wait", figures.wait), ("work", figures.work)):
            entry[key] = spread._asdict() if spread is not None else None
        activities.append(entry)
    choices = []
    for number, choice in enumerate(list_choices(mined.tree)):
        rules = mined.rules.get(number)
        counts = mined.way_counts.get(number, Counter())
        choices.append(
            {
                "cases": [counts[way] for way in range(len(choice.options))],
                "conditions": [str(r) if r else None for r in rules.rules] if rules else None,
                "accuracy": rules.accuracy if rules else None,
                "baseline": rules.baseline if rules else None,
            }
        )
    data = {
        "version": 1, "events": len(clean.log), "cases": clean.count_cases(),
        "variants": len(clean.variants), "fitting_events": mined.fitting,
        "activities": activities, "choices": choices,
    }  # fmt: skip
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
