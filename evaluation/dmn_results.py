"""Results of the DMN compatibility kit: of the evaluator, of the emitted JavaScript, and of Code
nodes on n8n's engine."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.engine.runs import RunRequest
from orgflow.evaluation.dmn_kit import (
    Case,
    KitError,
    Suite,
    SuiteFolder,
    case_program,
    read_suites,
    run_javascript,
    values_agree,
)

from orgflow_ir.decisions.evaluate import decide
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program.feel.conversion_functions import text_of
from orgflow_ir.program.feel.values import Unsupported

COLUMNS = ("results", "evaluator", "javascript", "refused", "silent")
ENGINE_COLUMN = "n8n"
"""The column of Code nodes on n8n's engine, which is measured on request."""

_BATCH = 10
_WIDTH = 46


class SuiteResult(NamedTuple):
    """The results of a suite.

    Attributes:
        name: of the suite.
        level: the level of conformance; 0 if the kit does not state it.
        counts: by column; `silent` are results that differ from the kit, or between the evaluator
            and the JavaScript, without a refusal.
        reasons: how often each reason refused a result.
        fault: why the suite cannot be read; empty if it can.
    """

    name: str
    level: int
    counts: Counter[str]
    reasons: Counter[str]
    fault: str = ""


class _RunCase(NamedTuple):
    """A case that the evaluator and the JavaScript both take: the program, the value of the
    evaluator as FEEL writes it, and whether it is the expected one."""

    program: str
    shown: str
    right: bool


def measure_suite(folder: SuiteFolder, engine: LocalEngine | None = None) -> SuiteResult:
    """The results of the suite in a folder; with `engine`, also on n8n's engine."""
    result = SuiteResult(folder.path.name, folder.level, Counter(), Counter())
    try:
        suites = read_suites(folder.path, folder.level)
    except KitError as error:
        return result._replace(fault=str(error))
    for suite in suites:
        _measure_model(suite, result, engine)
    return result


def _measure_model(suite: Suite, result: SuiteResult, engine: LocalEngine | None) -> None:
    """Count the results of the cases of one model."""
    counts = result.counts
    counts["results"] += len(suite.cases)
    taken = list(_take_cases(suite, result))
    programs = [case.program for case in taken]
    same: list[_RunCase] = []
    for case, value in zip(taken, run_javascript(programs), strict=True):
        if case.right and value == ("value", case.shown):
            same.append(case)
    counts["javascript"] += len(same)
    counts["silent"] += len(taken) - len(same)
    if engine is not None:
        right = count_right_on_engine(engine, same)
        counts[ENGINE_COLUMN] += right
        counts["silent"] += len(same) - right


def _take_cases(suite: Suite, result: SuiteResult) -> Iterator[_RunCase]:
    """The cases that are neither refused by the evaluator nor by the translation."""
    counts, reasons = result.counts, result.reasons
    for case in suite.cases:
        try:
            value = _decide_case(suite, case)
        except Unsupported as error:
            counts["refused"] += 1
            reasons[str(error)] += 1
            continue
        shown = text_of(value)
        right = values_agree(value[case.part] if case.part else value, case.expected)
        counts["evaluator"] += right
        try:
            yield _RunCase(case_program(suite.model, case), shown, right)
        except Unsupported as error:
            counts["refused"] += 1
            reasons[str(error)] += 1
            counts["silent"] += not right


def _decide_case(suite: Suite, case: Case) -> Any:
    """The value of a case. Raises `Unsupported`, also if the model does not have its decision."""
    if suite.model.named(case.node) is None:
        raise Unsupported(f"the model has no decision `{case.node}`")
    return decide(suite.model, case.node, case.given)


# -- n8n -------------------------------------------------------------------------------------------

_CODE = """\
const value = (() => {{
{program}
}})();
return [{{ json: {{ ...$input.first().json, {name}: value }} }}];
"""


def count_right_on_engine(engine: LocalEngine, cases: Sequence[_RunCase]) -> int:
    """How many programs return the same in Code nodes of n8n, ten in a workflow."""
    batches = [cases[at : at + _BATCH] for at in range(0, len(cases), _BATCH)]
    requests = [RunRequest(_code_workflow(batch), "C") for batch in batches]
    right = 0
    for batch, run in zip(batches, engine.run_many(requests), strict=True):
        if run.status == "success":
            ((item,),) = run.output
            right += sum(item[f"C{at}"] == case.shown for at, case in enumerate(batch))
    return right


def _code_workflow(cases: Sequence[_RunCase]) -> dict[str, Any]:
    """A workflow with a Code node for each program, in a row after a trigger."""
    names = [f"C{at}" for at in range(len(cases))]
    nodes = [_engine_node("C", "manualTrigger", 1, {})]
    for name, case in zip(names, cases, strict=True):
        code = _CODE.format(name=name, program=case.program)
        nodes.append(_engine_node(name, "code", 2, {"jsCode": code}))
    wires = {
        before: {"main": [[{"node": after, "type": "main", "index": 0}]]}
        for before, after in itertools.pairwise(["C", *names])
    }
    return {"nodes": nodes, "connections": wires, "settings": {"executionOrder": "v1"}}


def _engine_node(name: str, kind: str, version: int, parameters: Mapping[str, Any]) -> Any:
    return {
        "name": name, "type": f"n8n-nodes-base.{kind}", "typeVersion": version,
        "position": [0, 0], "parameters": parameters,
    }  # fmt: skip


# -- the table -------------------------------------------------------------------------------------


def result_rows(results: Iterable[SuiteResult], columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A row for each suite, for CSV."""
    for result in results:
        yield {
            "suite": result.name, "level": result.level or "",
            **{name: result.counts[name] for name in columns},
            "fault": result.fault,
        }  # fmt: skip


def head_line(columns: Sequence[str]) -> str:
    """The heads of the table."""
    return f"{'suite':{_WIDTH}}" + "".join(f"{name:>11}" for name in columns)


def suite_line(result: SuiteResult, columns: Sequence[str]) -> str:
    """The line of a suite."""
    if result.fault:
        return f"{result.name:{_WIDTH}} not read: {result.fault}"
    return _count_line(result.name, result.counts, columns)


def _count_line(name: str, counts: Counter[str], columns: Sequence[str]) -> str:
    return f"{name:{_WIDTH}}" + "".join(f"{counts[column]:11}" for column in columns)


def total_lines(results: Sequence[SuiteResult], columns: Sequence[str]) -> Iterator[str]:
    """The reasons of refusals, the totals of each level, and those of the kit, which come last."""
    reasons: Counter[str] = Counter()
    levels: dict[int, Counter[str]] = {}
    for result in results:
        reasons += result.reasons
        levels.setdefault(result.level, Counter()).update(result.counts)
    for reason, count in reasons.most_common():
        yield f"refused: {reason} ({count})"
    for level, counts in sorted(levels.items()):
        if counts["results"] and len(levels) > 1:
            yield from _level_lines(f"level {level}" if level else "no level", counts, columns)
    total: Counter[str] = Counter()
    for counts in levels.values():
        total.update(counts)
    faults = sum(bool(result.fault) for result in results)
    unread = f", {faults} not read" if faults else ""
    suites = "1 suite" if len(results) == 1 else f"{len(results)} suites"
    yield from _level_lines(f"{suites}{unread}", total, columns)


def _level_lines(name: str, counts: Counter[str], columns: Sequence[str]) -> Iterator[str]:
    """Counts, and below them their shares of the results."""
    yield _count_line(name, counts, columns)
    shares = (
        "" if column == "results" else f"{counts[column] / max(counts['results'], 1):.1%}"
        for column in columns
    )
    yield " " * _WIDTH + "".join(f"{share:>11}" for share in shares)


def is_conformant(results: Sequence[SuiteResult]) -> bool:
    """Whether every suite was read and no result is silently wrong."""
    return not any(result.counts["silent"] or result.fault for result in results)
