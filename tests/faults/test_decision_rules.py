"""Rules of decision tables without effect, texts without quotes, and constant conditions.

The referee evaluates random tables rule by rule for many random inputs: a rule that wins for some
input is never reported, and a rule that was planted so that it cannot win always is.
"""

from __future__ import annotations

import itertools
import random
from decimal import Decimal
from pathlib import Path

import pytest
from cli_cases import LINEAR
from orgflow.api import check, read

from orgflow_ir.diagnostics import Diagnostic
from tests.support.shared_data import shared_data

SEED, TABLES = 34, 40
HEAD = (
    '<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="d" name="d" '
    'namespace="urn:d">'
)


def table_text(
    columns: list[tuple[str, str]], rules: list[list[str]], policy: str = "FIRST", values: str = ""
) -> str:
    """A file with one decision; the output of each rule is its number."""
    allowed = f"<inputValues><text>{values}</text></inputValues>" if values else ""
    inputs = "".join(
        f'<input id="i{n}"><inputExpression id="e{n}" typeRef="{kind}"><text>{name}</text>'
        f"</inputExpression>{allowed}</input>"
        for n, (name, kind) in enumerate(columns)
    )
    rows = "".join(
        f'<rule id="r{n}">'
        + "".join(f"<inputEntry><text>{escaped(cell)}</text></inputEntry>" for cell in cells)
        + f"<outputEntry><text>{n + 1}</text></outputEntry></rule>"
        for n, cells in enumerate(rules)
    )
    return (
        f'{HEAD}<decision id="dec" name="Dec"><decisionTable id="t" hitPolicy="{policy}">{inputs}'
        f'<output id="o" name="o" typeRef="number"/>{rows}</decisionTable></decision></definitions>'
    )


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def findings(tmp_path: Path, text: str, code: str = "OF316") -> list[Diagnostic]:
    path = tmp_path / "t.dmn"
    path.write_text(text)
    return [d for d in check(read(path)).diagnostics if d.code == code]


def reported_rules(tmp_path: Path, text: str) -> set[int]:
    return {int(d.message.split()[1]) for d in findings(tmp_path, text)}


def holds(cell: str, value: object) -> bool:
    """What a cell says of a value, by the letter of the few forms that the tables have."""
    if cell == "-":
        return True
    if cell == "null":
        return value is None
    if cell.startswith("not("):
        return not holds(cell[4:-1], value)
    if "," in cell:
        return any(holds(part.strip(), value) for part in cell.split(","))
    if cell.startswith('"'):
        return value == cell[1:-1]
    if cell in ("true", "false"):
        return value is (cell == "true")
    if not isinstance(value, Decimal):
        return False
    for sign, compare in (("<=", Decimal.__le__), (">=", Decimal.__ge__), ("<", Decimal.__lt__),
                          (">", Decimal.__gt__)):  # fmt: skip
        if cell.startswith(sign):
            return bool(compare(value, Decimal(cell[len(sign) :])))
    if cell[0] in "[]":
        low, high = cell[1:-1].split("..")
        above = value >= Decimal(low) if cell[0] == "[" else value > Decimal(low)
        below = value <= Decimal(high) if cell[-1] == "]" else value < Decimal(high)
        return above and below
    return value == Decimal(cell)


def random_cell(draw: random.Random, kind: str) -> str:
    if draw.random() < 0.25:
        return "-"
    if draw.random() < 0.15:
        return draw.choice(["null", "not(null)"])
    if kind == "boolean":
        return draw.choice(["true", "false"])
    if kind == "string":
        texts = [f'"{letter}"' for letter in draw.sample("abc", draw.randint(1, 2))]
        text = ", ".join(texts)
        return f"not({text})" if draw.random() < 0.2 else text
    low = draw.randint(0, 5)
    high = low + draw.randint(1, 4)
    return draw.choice(
        [str(low), f"< {high}", f">= {low}", f"[{low}..{high}]", f"]{low}..{high}[", f"<= {high}",
         f"> {low}", f"{low}, {high}"]
    ).replace("< ", "<").replace("= ", "=").replace("> ", ">")  # fmt: skip


def possible_values(kind: str) -> list[object]:
    """Enough to tell all cells apart: every half from below to above all constants."""
    if kind == "boolean":
        return [True, False, None]
    if kind == "string":
        return ["a", "b", "c", "d", None]
    return [*(Decimal(n) / 2 for n in range(-2, 24)), None]


@pytest.mark.parametrize(
    ("cells", "reported"),
    [
        (['<"b"'], set()),
        (['("a".."m")'], set()),
        (['"a","m"', '["a".."m"]'], set()),
        (['<="b"', '("a".."c")'], set()),
        (['["a".."m"]', '"c"'], {2}),
        (['>="a"', '>"b"'], {2}),
        (['<"b",>="b"', '"c"'], {2}),
    ],
)
def test_texts_have_an_order(tmp_path: Path, cells: list[str], reported: set[int]) -> None:
    text = table_text([("v", "string")], [[cell] for cell in cells])
    assert reported_rules(tmp_path, text) == reported


@pytest.mark.parametrize("kind", ["number", "string", "boolean", "integer", "date", "Any", ""])
@pytest.mark.parametrize(
    ("cells", "reported"),
    [
        (["null", "-"], set()),
        (["not(null)", "-"], set()),
        (["-", "null"], {2}),
        (["-", "not(null)"], {2}),
        (["null", "not(null)", "-"], {3}),
        (["null", "null"], {2}),
        (["not(null)", "not(null)"], {2}),
    ],
)
def test_null_is_one_value(tmp_path: Path, kind: str, cells: list[str], reported: set[int]) -> None:
    """A cell `null` matches null alone, and `not(null)` all other values."""
    text = table_text([("v", kind)], [[cell] for cell in cells])
    assert reported_rules(tmp_path, text) == reported


def winners(columns: list[tuple[str, str]], rules: list[list[str]]) -> set[int]:
    """The rules that win for some input, from 1."""
    won: set[int] = set()
    for values in itertools.product(*(possible_values(kind) for _, kind in columns)):
        for number, cells in enumerate(rules, 1):
            if all(holds(cell, value) for cell, value in zip(cells, values, strict=True)):
                won.add(number)
                break
    return won


def random_table(draw: random.Random) -> tuple[list[tuple[str, str]], list[list[str]]]:
    kinds = [draw.choice(["number", "string", "boolean"]) for _ in range(draw.randint(1, 3))]
    columns = [(f"v{n}", kind) for n, kind in enumerate(kinds)]
    rules = [[random_cell(draw, kind) for kind in kinds] for _ in range(draw.randint(2, 6))]
    return columns, rules


@pytest.mark.slow
def test_random_tables(tmp_path: Path) -> None:
    """Of rules that never win, all are reported whose reason is not that nothing covers null."""
    draw = random.Random(SEED)
    missed = silent = 0
    for _ in range(TABLES):
        columns, rules = random_table(draw)
        said = reported_rules(tmp_path, table_text(columns, rules))
        won = winners(columns, rules)
        assert not said & won, (columns, rules, said)
        never = set(range(1, len(rules) + 1)) - won
        silent += len(never)
        missed += len(never - said)
    assert silent > 30
    assert missed == 0


@pytest.mark.parametrize("policy", ["UNIQUE", "ANY", "COLLECT", "RULE ORDER", "PRIORITY"])
def test_other_policies_have_no_order(tmp_path: Path, policy: str) -> None:
    text = table_text([("n", "number")], [[">= 0"], [">= 10"]], policy)
    assert findings(tmp_path, text) == []


def test_values_that_a_column_does_not_allow(tmp_path: Path) -> None:
    text = table_text([("k", "string")], [['"a"'], ['"x"'], ["-"]], "UNIQUE", '"a","b"')
    (found,) = findings(tmp_path, text)
    assert "rule 2" in found.message
    assert "does not allow" in found.message


def test_an_empty_cell(tmp_path: Path) -> None:
    (found,) = findings(tmp_path, table_text([("n", "number")], [["]1..1["], ["-"]]))
    assert "no value passes its cell in column 1" in found.message


def test_cells_that_are_not_judged(tmp_path: Path) -> None:
    rules = [["> m"], ["> m"], ["-"], ["> 5"]]
    assert reported_rules(tmp_path, table_text([("n", "number")], rules)) == {4}


def test_many_columns(tmp_path: Path) -> None:
    columns = [(f"v{n}", "number") for n in range(12)]
    rules = [["-"] * 11 + [">= 0"], ["1"] * 11 + ["5"], ["2"] * 12, ["-"] * 12]
    assert reported_rules(tmp_path, table_text(columns, rules)) == {2, 3}


@pytest.mark.parametrize(
    ("cell", "kind", "more", "reported"),
    [
        ("VIP", "string", "", True),
        ('"VIP"', "string", "", False),
        ("VIP", "number", "", False),
        ("VIP", "string", '<inputData id="x" name="VIP"/>', False),
        ("kind", "string", "", False),
        ('"a", VIP', "string", "", False),
    ],
    ids=["name", "text", "number", "input", "own input", "part of a list"],
)
def test_texts_without_quotes(
    tmp_path: Path, cell: str, kind: str, more: str, *, reported: bool
) -> None:
    text = table_text([("kind", kind)], [[cell], ["-"]]).replace("<decision ", f"{more}<decision ")
    assert bool(findings(tmp_path, text, "OF317")) == reported


@pytest.mark.parametrize(
    ("file", "code", "said"),
    [
        ("dmn-lint-duplicate.dmn", "OF316", "rule 3"),
        ("dmn-lint-shadowed.dmn", "OF316", "rule 2"),
        ("dmn-lint-unquoted.dmn", "OF317", "`VIP`"),
        ("model-constant-datetime.bpmn", "OF318", "never true"),
    ],
)
def test_the_shared_inputs(file: str, code: str, said: str) -> None:
    found = check(read(Path(shared_data("faults", "field")) / file)).diagnostics
    first = next(d for d in found if d.code == code)
    assert said in first.message
    if code == "OF317":
        assert first.help == 'did you mean the text "VIP"?'


@pytest.mark.slow
def test_no_rule_of_the_conformance_kit_is_reported() -> None:
    """Nobody wrote a rule without effect there; each file is read."""
    files = sorted(Path(shared_data("dmn-tck")).rglob("*.dmn"))
    assert len(files) > 50
    said = [
        (path.name, d.message)
        for path in files
        for d in check(read(path)).diagnostics
        if d.code in ("OF316", "OF317")
    ]
    assert said == []


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ('=date and time("2024-01-01T10:00:00") > date("2024-01-01")', "never"),
        ("=1 > 2", "never"),
        ("=2 > 1", "always"),
        ("=true", ""),
        ("=today() > date(2024, 1, 1)", ""),
        ("=amount > 1", ""),
        ("${1 == 0}", "never"),
        ("${true}", ""),
    ],
)
def test_constant_conditions(tmp_path: Path, condition: str, said: str) -> None:
    text = (Path(shared_data("faults", "field")) / "model-constant-datetime.bpmn").read_text()
    begin, end = text.index(">=date"), text.index("</conditionExpression>")
    path = tmp_path / "m.bpmn"
    path.write_text(f"{text[:begin]}>{escaped(condition)}{text[end:]}")
    found = [d.message for d in check(read(path)).diagnostics if d.code == "OF318"]
    assert [f"is {said} true" in message for message in found] == ([True] if said else [])


def test_a_model_without_conditions(tmp_path: Path) -> None:
    path = tmp_path / "m.bpmn"
    path.write_text(LINEAR)
    assert not [d for d in check(read(path)).diagnostics if d.code == "OF318"]
