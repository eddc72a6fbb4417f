"""The text benchmark: processes drafted from the 55 PMo descriptions, compared with the true
models.

`clean` are texts 01 to 24 and 49 to 55; the models of the others go beyond their texts. Half of
each group is held out: changes to rules or prompts are based on the texts of the other half only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any

from orgflow.evaluation.charts import Charts, TableRows, columns_as_charts
from orgflow.evaluation.paged_metrics import PARTS, by_bleu, paged_scores
from orgflow.evaluation.pass_at_k import by_name, pass_lines
from orgflow.evaluation.tables import csv_text, table_lines
from orgflow.evaluation.text_metrics import (
    ElementCounts,
    Remembering,
    count_events,
    count_splits,
    score_draft,
)
from orgflow.evaluation.text_metrics import compare_texts as by_meaning

from orgflow_ir.model import Model
from orgflow_ir.model.records import NamedTuple, dataclass
from orgflow_ir.pipeline.agent_services import Embedder
from orgflow_ir.pipeline.services import Cancelled, Progress

MEASURES = (
    "task", "non_sequence", "exclusive", "concurrent", "loop", "order", "gateway", "split", "flow",
    "overall", "exact",
)  # fmt: skip
"""Task F1 and the F1 of relations other than sequences come first: a plain sequence of tasks has
the correct order, and counts of gateways ignore their position."""
GROUPS = ("clean", "elaborated", "all", "reading", "held-out")
WITH_MODEL, BY_RULES = "text", "text-rules"
"""The agents; the row of the one that asks a language model is empty without its run."""
BY_WORDS, BY_BLEU = "paged", "bleu"
"""PAGED-style scores under the matching of `task`, and under the published one."""
SPLITS = {"parallel": "AND", "exclusive": "XOR", "inclusive": "OR"}
"""The kinds of splits, as published figures name them."""
COUNTED = ("non-sequence", *SPLITS.values(), "events")
"""The counts that are pooled over texts: relations, splits by kind, events."""
DEFINITIONS = """\
task: F1 of tasks that are matched one to one. exclusive, concurrent, loop: F1 of these relations of
matched tasks; non-sequence: of all three, the mean over the texts. order: share of ordered pairs
with the same order. gateway: F1 of gateways counted by kind, splits and joins; split: of splits
alone. flow: F1 of pairs of tasks that follow each other. overall: mean of task, gateway and flow.
exact: nothing differs. sound: no error in the flow; compiled: to a workflow; bpmn: to BPMN.
"""
POOLED_DEFINITIONS = """\
pooled: F1 of the sums over all texts, so that each relation, split or event counts once; true,
drawn: these sums. non-sequence: relations of matched tasks. AND, XOR, OR: gateways with several
outgoing flows. events: other than plain starts and ends, by kind; tasks that send or receive are
events. An element is in both if one of the same kind is.
"""
COLUMNS = (
    "agent", "text", "group", "half", "sample", "drafted", "sound", "compiled", *MEASURES,
    *(f"{how} {part}" for how in (BY_WORDS, BY_BLEU) for part in PARTS),
    "bpmn", *(f"{what} {side}" for what in COUNTED for side in ElementCounts._fields),
    "kinds of events", "tokens", "seconds", "reason",
)  # fmt: skip

SPLIT_SEED = 71
"""The halves follow from it; the texts that were read before the split are in the half for
reading."""

PUBLISHED: tuple[tuple[str, dict[str, float]], ...] = (
    ("OrgFlow, from messages (BLEU)", {"task": 0.035, "overall": 0.345}),
    ("one task per sentence, all", {
        "task": 0.52, "gateway": 0.02, "flow": 0.20, "overall": 0.25, "order": 0.89,
        "non_sequence": 0.0, "exclusive": 0.0, "concurrent": 0.0,
    }),
    ("strong reader, clean", {
        "task": 0.90, "gateway": 0.68, "flow": 0.67, "overall": 0.75, "order": 0.98,
        "non_sequence": 0.79, "exclusive": 0.97, "concurrent": 0.61,
    }),
    ("strong reader, all (44)", {
        "task": 0.80, "gateway": 0.70, "flow": 0.53, "overall": 0.68, "order": 0.97,
        "non_sequence": 0.73, "exclusive": 0.91, "concurrent": 0.61,
    }),
)  # fmt: skip
"""Figures for comparison: OrgFlow's from messages, and those of a trial on the same texts."""

PAGED = {
    "actor": 0.688, "action": 0.782, "XOR": 0.831, "OR": 0.356, "AND": 0.692, "sequence": 0.484,
    "condition": 0.357, "constraint": 0.710,
}  # fmt: skip
"""text2flow's published figures on PAGED, which has other texts: for orientation only."""


ON_PAGED = "text2flow on PAGED"

_COLUMNS = ("texts", "sound", "compiled", *(m.replace("_", "-") for m in MEASURES))
_POOLED = (
    "bpmn", *(f"{what}{part}" for what in COUNTED for part in ("", " true", " drawn")),
)  # fmt: skip


class Drafted(NamedTuple):
    """The result for one text."""

    model: Model | None
    sound: bool
    compiled: bool
    tokens: int = 0
    seconds: float = 0.0
    reason: str = ""
    bpmn: bool = False
    """Whether it can be written as BPMN."""


Drafter = Callable[[str, str], Drafted]
"""Drafts a process from a text; receives a name and the text."""

Reader = Callable[[Path], Model | None]


@dataclass
class TextReport:
    """Rows in the order of texts, per agent; `complete` is false after an interruption, `skipped`
    are texts without a model for comparison, each with the reason."""

    agents: tuple[str, ...]
    embedder: str = ""
    rows: list[dict[str, Any]] = field(default_factory=list)
    complete: bool = False
    skipped: list[tuple[str, str]] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether every text became a sound process that compiles."""
        return self.complete and all(
            r["drafted"] and r["sound"] and r["compiled"] for r in self.rows
        )

    def to_csv(self) -> str:
        """The rows as CSV text."""
        return csv_text(COLUMNS, self.rows)

    def summary(self) -> str:
        """Tables with figures for comparison: clean, elaborated and all texts, the two halves,
        PAGED-style scores, and pass@k with several samples."""
        lines = table_lines(_COLUMNS, self._table())
        how = f"words or {self.embedder}" if self.embedder else "words alone"
        lines.append(f"tasks are matched by {how}; empty: not published, or nothing to compare")
        held = sorted({r["text"] for r in self.rows if r["half"] == "held-out"})
        lines += [f"held out by seed {SPLIT_SEED}: {' '.join(held)}", *DEFINITIONS.splitlines(), ""]
        lines += ["pooled over the texts:", *table_lines(_POOLED, self._pooled())]
        lines += POOLED_DEFINITIONS.splitlines()
        if kinds := self._event_kinds():
            lines += ["", *table_lines(("true", "drawn", "both", "F1"), kinds)]
        lines.append("")
        paged = table_lines(PARTS, self._paged())
        lines += ["in the manner of PAGED, whose texts are others:", *paged]
        if any(r["sample"] > 1 for r in self.rows):
            for agent in self.agents:
                lines += ["", f"{agent}, sound and compiled:", *pass_lines(self.outcomes(agent))]
        tokens = sum(r["tokens"] for r in self.rows)
        if tokens:
            lines.append(f"{tokens:,} tokens, {tokens // len(self.rows):,} a draft")
        if self.skipped:
            count = len(self.skipped)
            lines.append(f"{count} text{'s'[: count != 1]} skipped:")
            lines += [f"  {name}: {reason}" for name, reason in self.skipped]
        if not self.complete:
            lines.append(f"interrupted after {len(self.rows)} drafts")
        return "\n".join(lines) + "\n"

    def charts(self) -> Charts:
        """Both tables as charts."""
        others = [name for name, _ in PUBLISHED]
        parts = [f"PAGED: {part}" for part in PARTS]
        return Charts(
            columns_as_charts(_COLUMNS, self._table(), others)
            + columns_as_charts(
                [f"pooled: {column}" for column in _POOLED], self._pooled(), (ON_PAGED,)
            )
            + columns_as_charts(parts, self._paged(), (ON_PAGED,))
        )

    def _by_group(self) -> list[tuple[str, list[dict[str, Any]]]]:
        return [
            (f"{agent}, {name}", rows)
            for agent in self.agents
            for name in GROUPS
            if (rows := [r for r in self.rows if r["agent"] == agent and name in _list_groups(r)])
        ]

    def _table(self) -> TableRows:
        """In the order of `_COLUMNS`."""
        table: list[tuple[str, Sequence[int | float | None]]] = [
            (name, (_count_texts(rows), *(
                _compute_mean(rows, measure) for measure in ("sound", "compiled", *MEASURES)
            )))
            for name, rows in self._by_group()
        ]  # fmt: skip
        if not any(agent.startswith(WITH_MODEL) and agent != BY_RULES for agent in self.agents):
            table.append((f"{WITH_MODEL} (not measured)", (None,) * len(_COLUMNS)))
        table += [
            (name, (None, None, None, *(values.get(m) for m in MEASURES)))
            for name, values in PUBLISHED
        ]
        return table

    def _paged(self) -> TableRows:
        """In the order of `PARTS`."""
        table: list[tuple[str, Sequence[int | float | None]]] = [
            (f"{name}, {measure}", tuple(_compute_mean(rows, f"{key} {part}") for part in PARTS))
            for name, rows in self._by_group()
            if name.endswith(GROUPS[:3])
            for key, measure in ((BY_WORDS, "words"), (BY_BLEU, "BLEU"))
        ]
        return [*table, (ON_PAGED, tuple(PAGED.get(part) for part in PARTS))]

    def _pooled(self) -> TableRows:
        """In the order of `_POOLED`."""
        table: list[tuple[str, Sequence[int | float | None]]] = []
        for name, rows in self._by_group():
            cells: list[int | float | None] = [_compute_mean(rows, "bpmn")]
            for what in COUNTED:
                counts = sum_counts(rows, what)
                cells += [counts.f1, counts.true, counts.drawn]
            table.append((name, cells))
        splits = tuple(PAGED.get(what) for what in COUNTED)
        return [
            *table,
            (ON_PAGED, (None, *(cell for value in splits for cell in (value, None, None)))),
        ]

    def _event_kinds(self) -> TableRows:
        """By agent and kind of event: true, drawn, both, F1."""
        table: list[tuple[str, Sequence[int | float | None]]] = []
        for agent in self.agents:
            sums: dict[str, ElementCounts] = {}
            for row in self.rows:
                if row["agent"] == agent:
                    for kind, counts in _read_kinds(row["kinds of events"]):
                        sums[kind] = sums.get(kind, ElementCounts()) + counts
            table += [
                (f"{agent}, {kind}", (*counts, counts.f1)) for kind, counts in sorted(sums.items())
            ]
        return table

    def outcomes(self, agent: str) -> dict[str, list[bool]]:
        """By text, whether each draft of an agent is sound and compiles."""
        rows = [r for r in self.rows if r["agent"] == agent]
        return by_name((r["text"], r["sound"] and r["compiled"]) for r in rows)


def _list_groups(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (row["group"], "all", row["half"])


def _count_texts(rows: Sequence[Mapping[str, Any]]) -> int:
    return len({row["text"] for row in rows})


def _compute_mean(rows: Sequence[Mapping[str, Any]], column: str) -> float | None:
    """Over the rows that have a value."""
    values = [float(row[column]) for row in rows if row[column] != ""]
    return sum(values) / len(values) if values else None


def sum_counts(rows: Sequence[Mapping[str, Any]], what: str) -> ElementCounts:
    """Over the rows that have a value."""
    return sum(
        (
            ElementCounts(*(row[f"{what} {side}"] for side in ElementCounts._fields))
            for row in rows if row[f"{what} true"] != ""
        ),
        ElementCounts(),
    )  # fmt: skip


def _write_kinds(events: Mapping[str, ElementCounts]) -> str:
    """As `catch.timer 2/1/1; start.message 1/1/1`: true, drawn, both."""
    return "; ".join(f"{kind} {'/'.join(map(str, counts))}" for kind, counts in events.items())


def _read_kinds(text: str) -> Iterator[tuple[str, ElementCounts]]:
    """The inverse of `_write_kinds`."""
    for part in filter(None, text.split("; ")):
        kind, _, numbers = part.partition(" ")
        yield kind, ElementCounts(*map(int, numbers.split("/")))


def evaluate_texts(
    folder: Path,
    drafters: Mapping[str, Drafter],
    read: Reader,
    *,
    samples: int = 1,
    embedder: Embedder | None = None,
    progress: Progress | None = None,
) -> TextReport:
    """Draft each of `folder/descriptions/*.txt` this many times, by each drafter, and compare it
    with `folder/bpmn/*.bpmn`.

    An interruption ends it with the rows completed so far. A text without a readable model is
    skipped and reported. Raises `FileNotFoundError` if there are no texts, or no models.
    """
    texts = sorted((folder / "descriptions").glob("*.txt"))
    if not texts:
        raise FileNotFoundError(f"no *.txt in {folder / 'descriptions'}")
    report = TextReport(tuple(drafters), embedder.name if embedder is not None else "")
    remembering = Remembering(embedder) if embedder is not None else None
    truths: dict[Path, Model] = {}
    for path in texts:
        drawn = folder / "bpmn" / f"{path.stem}.bpmn"
        truth = read(drawn)
        if truth is not None:
            truths[path] = truth
        else:
            missing = "cannot be read" if drawn.is_file() else "does not exist"
            report.skipped.append((path.stem, f"{drawn} {missing}"))
    if not truths:
        raise FileNotFoundError(f"no model for any text in {folder / 'bpmn'}")
    halves = split_halves({path.stem: _group_name(path) for path in truths})
    try:
        for number, (path, truth) in enumerate(truths.items()):
            if progress is not None:
                progress(number, len(truths), path.stem)
            for agent, draft in drafters.items():
                for sample in range(1, samples + 1):
                    row = {"agent": agent, "half": halves[path.stem], "sample": sample}
                    report.rows.append(_score_text(path, truth, draft, remembering) | row)
        report.complete = True
    except (KeyboardInterrupt, Cancelled):
        return report
    return report


def split_halves(groups: Mapping[str, str], seed: int = SPLIT_SEED) -> dict[str, str]:
    """For each text of a group, `reading` or `held-out`, half each: those whose hashes with the
    seed come first are for reading."""
    parts: dict[str, str] = {}
    for group in sorted(set(groups.values())):
        names = [name for name, its in groups.items() if its == group]
        names.sort(key=lambda name: hashlib.sha256(f"{seed}:{name}".encode()).hexdigest())
        read = (len(names) + 1) // 2
        parts |= dict.fromkeys(names[:read], "reading") | dict.fromkeys(names[read:], "held-out")
    return parts


def _group_name(path: Path) -> str:
    titled = path.read_text("utf-8-sig").lstrip().startswith("Title:")
    return "elaborated" if titled else "clean"


def _score_text(
    path: Path, truth: Model, draft: Drafter, embedder: Embedder | None
) -> dict[str, Any]:
    text = path.read_text("utf-8-sig")
    drafted = draft(path.name, text)
    row: dict[str, Any] = dict.fromkeys(COLUMNS, "")
    row |= {
        "text": path.stem,
        "group": _group_name(path),
        "drafted": drafted.model is not None,
        "sound": drafted.sound,
        "compiled": drafted.compiled,
        "tokens": drafted.tokens,
        "seconds": round(drafted.seconds, 2),
        "reason": drafted.reason,
        "bpmn": drafted.bpmn,
    }
    if drafted.model is None:  # nothing is right about nothing
        true = {kind: ElementCounts(number) for kind, number in count_events(truth).items()}
        splits = {kind: ElementCounts(number) for kind, number in count_splits(truth).items()}
        zeros = dict.fromkeys(("task", "gateway", "split", "flow", "overall", "exact"), 0.0)
        return row | zeros | _count_columns(ElementCounts(), splits, true)
    scores = score_draft(drafted.model, truth, embedder)
    row |= _count_columns(scores.relations, scores.splits, scores.events)
    values: dict[str, float | None] = {measure: getattr(scores, measure) for measure in MEASURES}
    for how, alike in ((BY_WORDS, partial(by_meaning, embedder=embedder)), (BY_BLEU, by_bleu)):
        parts = paged_scores(drafted.model, truth, alike)
        values |= {f"{how} {part}": value for part, value in parts.items()}
    return row | {name: "" if v is None else round(float(v), 4) for name, v in values.items()}


def _count_columns(
    relations: ElementCounts,
    splits: Mapping[str, ElementCounts],
    events: Mapping[str, ElementCounts],
) -> dict[str, Any]:
    """The columns of what is pooled."""
    counted = {
        "non-sequence": relations,
        **{name: splits.get(kind, ElementCounts()) for kind, name in SPLITS.items()},
        "events": sum(events.values(), ElementCounts()),
    }
    columns: dict[str, Any] = {
        f"{what} {side}": number
        for what, counts in counted.items()
        for side, number in counts._asdict().items()
    }
    return {**columns, "kinds of events": _write_kinds(dict(sorted(events.items())))}
