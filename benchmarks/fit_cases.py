"""Fit the weights of the evidence for cases: `fit_cases.py [--keep DIR]`.

Writes `agents/discovery/case_weights.py`, and `benchmarks/held_out_weights.json` with the weights
that know nothing of the hand-written corpus, for `benchmarks/discovery.py` to measure it with.

The corpora are six that `synth` makes from models of the PMo dataset, half of them with shared
staff and without threads and roles, and the hand-written one. `benchmarks/discovery.py` measures on
corpora of other models. While groups grow on them, every pair of groups that is met is measured;
whether they are one case is known where most of the messages of each are of one. A logistic
regression learns from it; what cannot reasonably speak for (or against) one case is held to that
side of zero. Groups then grow anew with what was learned, so that the pairs met are those that
matter.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from discovery import DATA, HARD, make, orgflowc
from orgflow.agents.discovery.cases import SMALLEST, merge_groups, split_conversations
from orgflow.agents.discovery.evidence import MEASURES, Group, Measured, Pairs
from orgflow.agents.discovery.traits import Traits, traits_of
from orgflow.evaluation.discovery import Truth, read_truth
from orgflow.store.embedder import local_embedder
from orgflow.store.messages import MessageStore

FIRST, SECOND = "01 03 05 09 13 15 17 19 23 27", "31 33 35 41 43 45 47 49 51"
CORPORA = {
    "fit 1 plain": (FIRST, "", 3, 0.25),
    "fit 1 hard": (FIRST, HARD, 3, 0.25),
    "fit 2 plain": (SECOND, "", 4, 0.25),
    "fit 2 hard": (SECOND, HARD, 4, 0.25),
    "fit 3 plain": (f"{FIRST} {SECOND}", "missing,merged", 2, 0.4),
    "fit 3 hard": (f"{FIRST} {SECOND}", f"{HARD},missing,clocks", 2, 0.4),
}
WRITTEN = "communications"

AGAINST = {
    "strangers",
    "interleaved",
    "newcomers",
    "people of many",
    "rival numbers",
    "rival names",
    "steps again",
}
EITHER = {"always", "duration", "smaller", "larger", "likeness of many"}
"""What may speak for and against; the rest speaks for one case, the more of it there is."""

START = {
    "pause": 1.0, "reply": 1.0, "handover": 1.0, "again": 1.0, "other receiver": 0.5,
    "other sender": 0.5, "strangers": -3.0, "same subject": 0.0, "people": 0.3,
    "other people": 0.2, "numbers": 1.0, "other numbers": 1.5, "names": 1.0, "other names": 0.6,
    "subjects": 1.0,
}  # fmt: skip
"""What the first growing goes by."""

PURE = 0.85
"""So many messages of a group are of one case where it is taken for one."""

UNSURE = (-5.0, 10.0)
"""Pairs with log-odds outside are many: one in ten is learned from."""

PENALTY = {"all": 1.0, "held out": 3000.0}
"""Weights learned from templates alone are kept near those of the start: other people write in
other ways."""

Sample = tuple[Any, Any, Any]
"""Measures of pairs, whether they are one case, and how much each counts."""


class Recorded(Pairs):
    """Pairs that keep what they measured."""

    def __init__(self, traits: Traits, weights: Sequence[float], truth: Truth) -> None:
        super().__init__(traits, weights)
        self._true = [truth.case.get(message.id, "") for message in traits.messages]
        self._random = random.Random(1)
        self.rows: list[Measured] = []
        self.same: list[bool] = []
        self.counts: list[float] = []

    def gain(self, one: Group, other: Group) -> float:
        measured = self.measured(one, other)
        gain = float(np.dot(measured, self.weights))
        first, second = self._case(one), self._case(other)
        small = len(one.members) + len(other.members) < SMALLEST
        unknown = first is None or second is None or (first == second == "" and small)
        sure = not UNSURE[0] < gain < UNSURE[1]
        if not unknown and not (sure and self._random.random() > 0.1):
            self.rows.append(measured)
            self.same.append(first == second != "")  # no exchange of noise is as long as a case
            size = min(len(one.members), len(other.members)) ** 0.5
            self.counts.append(size * (10.0 if sure else 1.0))
        return gain

    def _case(self, group: Group) -> str | None:
        case, number = Counter(self._true[i] for i in group.members).most_common(1)[0]
        return case if number >= PURE * len(group.members) else None

    @property
    def sample(self) -> Sample:
        counts = np.array(self.counts)
        return np.array(self.rows), np.array(self.same, float), counts


def fitted(samples: Sequence[Sample], penalty: float) -> Any:
    """The weights, by Newton's method with bounds. Every corpus counts the same."""
    rows = np.concatenate([one[0] for one in samples])
    same = np.concatenate([one[1] for one in samples])
    counts = np.concatenate([one[2] / one[2].sum() for one in samples])
    counts /= counts.mean()
    scale = rows.std(0)
    scale[scale < 1e-6] = 1.0
    rows = rows / scale
    least = np.array([-np.inf if name in AGAINST | EITHER else 0.0 for name in MEASURES])
    most = np.array([0.0 if name in AGAINST else np.inf for name in MEASURES])
    start = np.array([START.get(name, 0.0) for name in MEASURES]) * scale
    weights, pull = start, np.array([1e-3, *[penalty] * (len(MEASURES) - 1)])
    for _ in range(80):
        chance = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        slope = rows.T @ (counts * (chance - same)) + pull * (weights - start)
        bend = (rows * (counts * chance * (1 - chance) + 1e-6)[:, None]).T @ rows + np.diag(pull)
        free = ~(((weights <= least) & (slope > 0)) | ((weights >= most) & (slope < 0)))
        step = np.zeros_like(weights)
        step[free] = np.linalg.solve(bend[np.ix_(free, free)], slope[free])
        following = np.clip(weights - step, least, most)
        done = np.abs(following - weights).max() < 1e-5
        weights = following
        if done:
            break
    return weights / scale


def corpus(folder: Path, name: str, kind: str) -> tuple[Traits, Truth]:
    """The traits and the truth of a corpus."""
    if name == WRITTEN:
        store, truth = make(folder, name, kind)
    else:
        place = folder / name.replace(" ", "-")
        store, truth = place / "store", place / "truth.json"
        if not store.exists():
            place.mkdir(parents=True, exist_ok=True)
            numbers, stress, scenarios, noise = CORPORA[name]
            models = [str(DATA / "pmo" / "bpmn" / f"{n}.bpmn") for n in numbers.split()]
            orgflowc("synth", *models, "-o", str(place), "--stress", stress,
                     "--scenarios", str(scenarios), "--noise", str(noise),
                     "--seed", str(100 + int(name.split()[1])))  # fmt: skip
            orgflowc("ingest", str(place / "messages.jsonl"), "--store", str(store))
    with MessageStore.open(str(store)) as opened:
        traits = traits_of(list(opened.messages()), opened.cached(local_embedder()))
    return traits, read_truth(truth.read_text("utf-8"))


def met(corpora: Sequence[tuple[Traits, Truth]], weights: Any) -> list[Sample]:
    """The pairs that are met while groups grow."""
    samples = []
    for traits, truth in corpora:
        pairs = Recorded(traits, weights, truth)
        merge_groups(pairs, [pairs.group(part) for part in split_conversations(traits)])
        samples.append(pairs.sample)
    return samples


def main() -> None:
    """Write both files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", metavar="DIR")
    arguments = parser.parse_args()
    root = Path(__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(arguments.keep or temporary)
        made = [corpus(folder, name, "") for name in CORPORA]
        written = [corpus(folder, WRITTEN, kind) for kind in ("plain", "hard")]
    start: Any = [START.get(name, 0.0) for name in MEASURES]
    samples = met(made, start)
    samples += met(made, fitted(samples, PENALTY["held out"]))
    held_out = fitted(samples, PENALTY["held out"])
    best = fitted([*samples, *met(written, start), *met(written, held_out)], PENALTY["all"])
    lines = "".join(
        f"    {round(float(weight), 3)},  # {name}\n"
        for name, weight in zip(MEASURES, best, strict=True)
    )
    says = "The result of `benchmarks/fit_cases.py`: the weight of each measure of two groups."
    (root / "agents" / "discovery" / "case_weights.py").write_text(
        f'"""{says}"""\n\nWEIGHTS = (\n{lines})\n', "utf-8"
    )
    named = {n: round(float(weight), 3) for n, weight in zip(MEASURES, held_out, strict=True)}
    (root / "benchmarks" / "held_out_weights.json").write_text(
        json.dumps({WRITTEN: named}, indent=1) + "\n", "utf-8"
    )


if __name__ == "__main__":
    main()
