"""Gaps and overlaps of decision tables; the evaluator of whole decisions is the referee."""

from __future__ import annotations

import itertools
import random
from decimal import Decimal

import pytest
from orgflow.frontends.dmn.dmn_reader import read_dmn

from orgflow_ir.decisions.completeness import find_completeness
from orgflow_ir.decisions.evaluate import decide_json
from orgflow_ir.decisions.found import FoundDecision
from orgflow_ir.decisions.process_variables import link_process_decision

HEAD = (
    '<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="d" name="D" '
    'namespace="n"><decision id="t" name="T"><decisionTable id="dt" hitPolicy="{policy}">'
)


def table(policy: str, columns: tuple[str, ...], *rules: tuple[str, ...]) -> FoundDecision:
    """A table; the last cell of a rule is its output."""
    inputs = "".join(
        f"<input><inputExpression><text>{c}</text></inputExpression></input>" for c in columns
    )
    rows = "".join(
        "<rule>"
        + "".join(f"<inputEntry><text>{c}</text></inputEntry>" for c in tests)
        + f"<outputEntry><text>{output}</text></outputEntry></rule>"
        for *tests, output in rules
    ).replace(" < ", " &lt; ")
    text = (
        f'{HEAD.format(policy=policy)}{inputs}<output name="o"/>{rows}'
        "</decisionTable></decision></definitions>"
    )
    definitions = read_dmn(text.encode())
    return link_process_decision("f.dmn", definitions, (), definitions.decisions[0])


@pytest.mark.parametrize(
    ("policy", "rules", "gap", "overlap"),
    [
        ("UNIQUE", (("&lt; 5", "1"), ("&gt; 5", "2")), "x = 5", None),
        ("UNIQUE", (("&lt;= 5", "1"), ("&gt;= 5", "2")), None, "x = 5"),
        ("FIRST", (("&lt;= 5", "1"), ("&gt;= 5", "2")), None, None),
        ("ANY", (("&lt;= 5", "1"), ("&gt;= 5", "1")), None, None),
        ("ANY", (("&lt;= 5", "1"), ("&gt;= 5", "2")), None, "x = 5"),
        ("COLLECT", (("&lt; 5", "1"),), None, None),
        ("UNIQUE", (('"a", "b"', "1"), ('not("a")', "2")), None, 'x = "b"'),
        ("UNIQUE", (('"a"', "1"),), 'x = "something else"', None),
        ("UNIQUE", (("true", "1"),), "x = false", None),
        ("UNIQUE", (("[1..3]", "1"), ("-", "2")), None, "x = 1"),
        ("UNIQUE", (("&lt; -1", "1"), ("&gt;= -1", "2")), None, None),
        ("UNIQUE", (("-", "1"),), None, None),
    ],
)
def test_what_is_found(
    policy: str, rules: tuple[tuple[str, ...], ...], gap: str | None, overlap: str | None
) -> None:
    found = find_completeness(table(policy, ("x",), *rules))
    assert found is not None
    assert (found.gap and found.gap.text()) == gap
    assert (found.overlap and found.overlap.text()) == overlap


@pytest.mark.parametrize("cell", ["&lt; y", 'starts with(?, "a")', 'date("2024-01-01")'])
def test_cells_that_are_not_judged(cell: str) -> None:
    assert find_completeness(table("UNIQUE", ("x",), (cell, "1"))) is None


def test_examples_of_random_tables_are_true_and_none_is_missed() -> None:
    """Held to the evaluator on every input of a grid that is finer than the constants."""
    rng = random.Random(7)
    cells = ("-", "&lt; 2", "&gt;= 2", "[1..3]", "2", "&gt; 3", "not(2)", "]0..2[")
    gaps = overlaps = 0
    for _ in range(60):
        rules = [(rng.choice(cells), rng.choice(cells), str(n)) for n in range(rng.randint(1, 4))]
        made = table("COLLECT", ("x", "y"), *rules)
        judged = find_completeness(table("UNIQUE", ("x", "y"), *rules))
        assert judged is not None
        counts = {}
        grid = [n / 2 for n in range(-2, 10)]
        for x, y in itertools.product(grid, grid):
            hits = decide_json(made.model, "T", {"x": x, "y": y})
            counts[x, y] = len(hits) if isinstance(hits, list) else 0
        assert (judged.gap is not None) == (0 in counts.values()), rules
        assert (judged.overlap is not None) == any(n > 1 for n in counts.values()), rules
        for example, wanted in ((judged.gap, 0), (judged.overlap, 2)):
            if example is not None:
                given = {n: float(v) for n, v in example.inputs if isinstance(v, Decimal)}
                hits = decide_json(made.model, "T", {"x": None, "y": None, **given})
                size = len(hits) if isinstance(hits, list) else 0
                assert size == 0 if wanted == 0 else size >= wanted
        gaps += judged.gap is not None
        overlaps += judged.overlap is not None
    assert gaps > 10
    assert overlaps > 10
