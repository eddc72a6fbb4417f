"""The text benchmark: processes made from the 55 PMo descriptions compared with the true models.

`clean` are texts 01 to 24 and 49 to 55; the models of the others go beyond their texts. Half of
each group is held out: whoever improves rules or prompts reads the texts of the other half alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from orgflow.evaluation.csv_text import csv_text
from orgflow.evaluation.text_metrics import score

from orgflow_ir.model import Model
from orgflow_ir.pipeline.agent_services import Embedder
from orgflow_ir.pipeline.services import Cancelled, Progress

MEASURES = (
    "task", "gateway", "flow", "overall", "order", "non_sequence", "exclusive", "concurrent",
)  # fmt: skip
COLUMNS = (
    "text", "group", "half", "drafted", "sound", "compiled", *MEASURES, "tokens", "seconds",
    "reason",
)  # fmt: skip

SPLIT_SEED = 71
"""The halves follow from it; the texts that were read before there was a split are in the half for
reading."""

PUBLISHED: tuple[tuple[str, tuple[float | None, ...]], ...] = (
    ("published (from messages)", (0.035, None, None, 0.345, None, None, None, None)),
    ("one task a sentence, all", (0.52, 0.02, 0.20, 0.25, 0.89, 0.0, 0.0, 0.0)),
    ("strong reader, clean", (0.90, 0.68, 0.67, 0.75, 0.98, 0.79, 0.97, 0.61)),
    ("strong reader, all (44)", (0.80, 0.70, 0.53, 0.68, 0.97, 0.73, 0.91, 0.61)),
)
"""Figures to compare with, in the order of `MEASURES`: OrgFlow's from messages (Task F1 by BLEU),
and those of a trial on the same texts."""

PAGED = (
    ("action", 0.782), ("actor", 0.688), ("XOR", 0.831), ("OR", 0.356), ("AND", 0.692),
    ("sequence flow", 0.484), ("condition flow", 0.357), ("constraint flow", 0.710),
)  # fmt: skip
"""text2flow's published figures on PAGED, which is not PMo: for orientation only."""


class Drafted(NamedTuple):
    """What became of one text."""

    model: Model | None
    sound: bool
    compiled: bool
    tokens: int = 0
    seconds: float = 0.0
    reason: str = ""


Drafter = Callable[[str, str], Drafted]
"""Makes a process of a text; is given a name and the text."""

Reader = Callable[[Path], Model | None]


@dataclass
class TextReport:
    """Rows in the order of texts; `complete` is false after an interruption."""

    agent: str
    embedder: str = ""
    rows: list[dict[str, Any]] = field(default_factory=list)
    complete: bool = False

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
        """A table: clean, elaborated and all texts, beside figures to compare with."""
        head = f"{'':28}{'texts':>6}{'sound':>8}{'compiled':>10}"
        lines = [head + "".join(f"{name.replace('_', '-'):>14}" for name in MEASURES)]
        for group in ("clean", "elaborated", "all"):
            rows = [r for r in self.rows if group in ("all", r["group"])]
            if rows:
                lines.append(self._line(f"{self.agent}, {group}", rows))
        for half in ("reading", "held-out"):
            rows = [r for r in self.rows if r["half"] == half]
            if rows:
                lines.append(self._line(f"{self.agent}, {half}", rows))
        for name, values in PUBLISHED:
            shown = "".join(f"{'' if v is None else f'{v:.3g}':>14}" for v in values)
            lines.append(f"{name:28}{'':>24}{shown}")
        how = f"words or {self.embedder}" if self.embedder else "words alone"
        lines.append(f"tasks are matched by {how}; empty: not published, or nothing to compare")
        held = " ".join(r["text"] for r in self.rows if r["half"] == "held-out")
        lines.append(f"held out by seed {SPLIT_SEED}: {held}")
        paged = ", ".join(f"{name} {value}" for name, value in PAGED)
        lines.append(f"text2flow on PAGED (other texts): {paged}")
        tokens = sum(r["tokens"] for r in self.rows)
        if tokens:
            lines.append(f"{tokens:,} tokens, {tokens // max(1, len(self.rows)):,} a text")
        if not self.complete:
            lines.append(f"interrupted after {len(self.rows)} texts")
        return "\n".join(lines) + "\n"

    def _line(self, name: str, rows: Sequence[dict[str, Any]]) -> str:
        sound = sum(bool(r["sound"]) for r in rows)
        compiled = sum(bool(r["compiled"]) for r in rows)
        text = f"{name:28}{len(rows):>6}{sound:>8}{compiled:>10}"
        for measure in MEASURES:
            values = [r[measure] for r in rows if r[measure] != ""]
            shown = f"{sum(values) / len(values):.2f}" if values else ""
            text += f"{shown:>14}"
        return text


def evaluate_texts(
    folder: Path,
    agent: str,
    draft: Drafter,
    read: Reader,
    *,
    embedder: Embedder | None = None,
    progress: Progress | None = None,
) -> TextReport:
    """Draft each of `folder/descriptions/*.txt` and compare it with `folder/bpmn/*.bpmn`.

    An interruption ends it with the rows done so far. Raises `FileNotFoundError` where there are
    no texts, or no model for one.
    """
    texts = sorted((folder / "descriptions").glob("*.txt"))
    if not texts:
        raise FileNotFoundError(f"no *.txt in {folder / 'descriptions'}")
    report = TextReport(agent, embedder.name if embedder is not None else "")
    halves = split_halves({path.stem: _group(path) for path in texts})
    try:
        for number, path in enumerate(texts):
            if progress is not None:
                progress(number, len(texts), path.stem)
            truth = read(folder / "bpmn" / f"{path.stem}.bpmn")
            if truth is None:
                raise FileNotFoundError(f"no model for {path.stem} in {folder / 'bpmn'}")
            report.rows.append(_row(path, truth, draft, embedder) | {"half": halves[path.stem]})
        report.complete = True
    except (KeyboardInterrupt, Cancelled):
        return report
    return report


def split_halves(groups: Mapping[str, str], seed: int = SPLIT_SEED) -> dict[str, str]:
    """For each text of a group `reading` or `held-out`, half of each group: those whose hashes with
    the seed come first are for reading."""
    found: dict[str, str] = {}
    for group in sorted(set(groups.values())):
        names = [name for name, its in groups.items() if its == group]
        names.sort(key=lambda name: hashlib.sha256(f"{seed}:{name}".encode()).hexdigest())
        read = (len(names) + 1) // 2
        found |= dict.fromkeys(names[:read], "reading") | dict.fromkeys(names[read:], "held-out")
    return found


def _group(path: Path) -> str:
    titled = path.read_text("utf-8-sig").lstrip().startswith("Title:")
    return "elaborated" if titled else "clean"


def _row(path: Path, truth: Model, draft: Drafter, embedder: Embedder | None) -> dict[str, Any]:
    text = path.read_text("utf-8-sig")
    drafted = draft(path.name, text)
    row: dict[str, Any] = dict.fromkeys(COLUMNS, "")
    row |= {
        "text": path.stem,
        "group": _group(path),
        "drafted": drafted.model is not None,
        "sound": drafted.sound,
        "compiled": drafted.compiled,
        "tokens": drafted.tokens,
        "seconds": round(drafted.seconds, 2),
        "reason": drafted.reason,
    }
    if drafted.model is None:  # nothing is right about nothing
        return row | {"task": 0.0, "gateway": 0.0, "flow": 0.0, "overall": 0.0}
    scores = score(drafted.model, truth, embedder)
    for measure in MEASURES:
        value = getattr(scores, measure)
        row[measure] = "" if value is None else round(value, 4)
    return row
