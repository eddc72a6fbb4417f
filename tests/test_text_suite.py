"""Scores of processes made from texts: by hand, against brute force, and over the texts."""

from __future__ import annotations

import random
from itertools import permutations
from pathlib import Path

import orgflow
import pytest
from cli_cases import orgflowc
from orgflow.evaluation.text_metrics import Step, assign, match_steps, relations, score
from orgflow.evaluation.text_suite import split_halves

from orgflow_ir.model import Model

PMO = Path(__file__).resolve().parents[2] / "shared" / "data" / "pmo"


def model(lines: str, tmp_path: Path) -> Model:
    path = tmp_path / "m.triples"
    path.write_text(lines)
    read = orgflow.read(path)
    assert read.model is not None
    return read.model


TRUTH = """\
Start -> check order -> X1
X1 -(fine)-> ship goods -> X2
X1 -(broken)-> repair goods -> X2
X2 -> A1
A1 -> write invoice -> A2
A1 -> call customer -> A2
A2 -> End
"""


def test_the_same_model_is_right(tmp_path: Path) -> None:
    truth = model(TRUTH, tmp_path)
    found = score(truth, truth)
    assert (found.task, found.gateway, found.flow, found.overall) == (1, 1, 1, 1)
    assert (found.order, found.non_sequence, found.exclusive, found.concurrent) == (1, 1, 1, 1)


def test_a_bare_row_is_not(tmp_path: Path) -> None:
    steps = ("check the order", "ship goods", "repair goods", "write invoice", "call customer")
    row = " -> ".join(("Start", *steps, "End"))
    found = score(model(row, tmp_path), model(TRUTH, tmp_path))
    assert (found.task, found.gateway) == (1, 0)
    assert found.non_sequence == 0
    assert found.order == 1


def test_wrong_gateways(tmp_path: Path) -> None:
    swapped = TRUTH.replace("A1", "X3").replace("A2", "X4")
    found = score(model(swapped, tmp_path), model(TRUTH, tmp_path))
    assert found.task == found.flow == 1
    assert found.gateway == 0.5
    assert (found.exclusive, found.concurrent) == (pytest.approx(2 / 3), 0)
    assert found.non_sequence == 0.5


def test_relations(tmp_path: Path) -> None:
    loop = "A2 -> X9\nX9 -> End\nX9 -> think -> ponder -> X9"
    truth = model(TRUTH.replace("A2 -> End", loop), tmp_path)
    names = {n.id: n.name for n in truth.processes[0].nodes}
    found = {(names[a], names[b]): r for (a, b), r in relations(truth).items()}
    assert found["check order", "call customer"] == "before"
    assert found["call customer", "check order"] == "after"
    assert found["ship goods", "repair goods"] == "exclusive"
    assert found["write invoice", "call customer"] == "concurrent"
    assert found["think", "ponder"] == "loop"


def test_matching_is_by_words_one_to_one() -> None:
    mine = [Step("a", "check the order"), Step("b", "Checks orders"), Step("c", "sing")]
    true = [Step("x", "Check order", "clerk"), Step("y", "dance")]
    matched = match_steps(mine, true)
    assert list(matched.values()) == ["x"]
    assert match_steps([Step("a", "clerk checks")], true) == {"a": "x"}
    assert match_steps([], true) == {}


class Meaning:
    """An embedder by a table."""

    name, size = "table", 2

    def embed(self, texts: list[str]) -> list[tuple[float, float]]:
        return [
            (1.0, 0.0) if text in ("pay the bill", "Settle invoice") else (0.0, 1.0)
            for text in texts
        ]


def test_matching_by_meaning() -> None:
    mine, true = [Step("a", "pay the bill")], [Step("x", "Settle invoice"), Step("y", "sing")]
    assert match_steps(mine, true) == {}
    assert match_steps(mine, true, Meaning()) == {"a": "x"}


@pytest.mark.parametrize("seed", range(40))
def test_the_assignment_is_the_best_one(seed: int) -> None:
    chance = random.Random(seed)
    rows, columns = chance.randint(1, 5), chance.randint(1, 5)
    likeness = [[chance.choice((0.0, 0.5, 0.7, 1.0)) for _ in range(columns)] for _ in range(rows)]
    found = assign(likeness)
    count = min(rows, columns)
    assert len({i for i, _ in found}) == len({j for _, j in found}) == len(found) == count
    if rows > columns:
        likeness = [list(column) for column in zip(*likeness, strict=True)]
        found = [(j, i) for i, j in found]
    ways = permutations(range(max(rows, columns)), count)
    best = max(sum(likeness[i][j] for i, j in enumerate(way)) for way in ways)
    assert sum(likeness[i][j] for i, j in found) == pytest.approx(best)


def test_texts_by_rules(tmp_path: Path) -> None:
    """Every draft is sound and compiles; a tenth of the texts, `eval text` takes them all."""
    for kind, suffix in (("descriptions", "txt"), ("bpmn", "bpmn")):
        (tmp_path / kind).mkdir()
        for number in ("01", "05", "20", "30", "50"):
            name = f"{number}.{suffix}"
            (tmp_path / kind / name).write_bytes((PMO / kind / name).read_bytes())
    csv = tmp_path / "scores.csv"
    ran = orgflowc("eval", "text", tmp_path, "-o", csv)
    assert ran.code == 0, ran.err
    assert len(csv.read_text().splitlines()) == 6
    line = next(line for line in ran.err.splitlines() if line.startswith("text-rules, all"))
    texts, sound, compiled, task, *_ = line.removeprefix("text-rules, all").split()
    assert (texts, sound, compiled) == ("5", "5", "5")
    assert float(task) > 0.3
    assert "strong reader, clean" in ran.err


def test_a_model_that_is_not_configured(tmp_path: Path) -> None:
    ran = orgflowc("eval", "text", PMO, "--agent", "text", env={"ORGFLOW_MODEL": ""})
    assert ran.code == 2
    assert "no language model is configured: set ORGFLOW_MODEL_URL" in ran.err


def test_half_of_each_group_is_held_out() -> None:
    groups = {f"{n:02}": "clean" if n % 3 else "elaborated" for n in range(1, 31)}
    halves = split_halves(groups, seed=1)
    for group in ("clean", "elaborated"):
        held = [n for n in groups if groups[n] == group and halves[n] == "held-out"]
        assert len(held) == sum(its == group for its in groups.values()) // 2
    fewer = {name: group for name, group in groups.items() if name != "07"}
    assert split_halves(groups, seed=1) == halves
    assert split_halves(groups, seed=2) != halves
    assert sum(split_halves(fewer, seed=1)[n] != halves[n] for n in fewer) <= 1
