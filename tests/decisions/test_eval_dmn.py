"""`orgflowc eval dmn` on small kits of our own: layouts, faults, refusals, differences."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from orgflow import cli
from orgflow.evaluation.dmn_kit import KitError, SuiteFolder, list_suites, read_suites

MODEL = """<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" name="{name}"
namespace="urn:kit"><inputData id="i" name="amount"><variable name="amount" typeRef="number"/>
</inputData><decision id="d" name="fee"><variable name="fee"/><informationRequirement>
<requiredInput href="#i"/></informationRequirement><literalExpression><text>{text}</text>
</literalExpression></decision></definitions>"""
TESTS = """<testCases xmlns="http://www.omg.org/spec/DMN/20160719/testcase"
xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xs="http://www.w3.org/2001/XMLSchema">
<modelName>{model}.dmn</modelName>{cases}</testCases>"""
CASE = """<testCase id="{id}"><inputNode name="amount"><value xsi:type="xs:decimal">{amount}</value>
</inputNode><resultNode name="{node}"><expected><value xsi:type="xs:decimal">{expected}</value>
</expected></resultNode></testCase>"""


def write_suite(
    folder: Path, rows: list[tuple[int, int]], text: str = "amount * 2", node: str = "fee"
) -> None:
    """A suite with a test case for each amount and expected value."""
    folder.mkdir(parents=True)
    cases = "".join(
        CASE.format(id=number, amount=amount, expected=expected, node=node)
        for number, (amount, expected) in enumerate(rows)
    )
    (folder / "fee.dmn").write_text(MODEL.format(name="fee", text=text), "utf-8")
    (folder / "fee-test.xml").write_text(TESTS.format(model="fee", cases=cases), "utf-8")


def evaluate(kit: Path, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, list[str]]:
    """The exit code, and the lines on standard output."""
    capsys.readouterr()
    code = cli.run(["eval", "dmn", str(kit), *more])
    return code, capsys.readouterr().out.splitlines()


def test_totals_come_last(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_suite(tmp_path / "compliance-level-2" / "0001-fee", [(1, 2), (3, 6)])
    write_suite(tmp_path / "compliance-level-3" / "0002-fee", [(5, 10)])
    code, lines = evaluate(tmp_path, capsys)
    assert code == 0
    assert [line.split() for line in lines] == [
        ["suite", "results", "evaluator", "javascript", "refused", "silent"],
        ["0001-fee", "2", "2", "2", "0", "0"],
        ["0002-fee", "1", "1", "1", "0", "0"],
        ["level", "2", "2", "2", "2", "0", "0"],
        ["100.0%", "100.0%", "0.0%", "0.0%"],
        ["level", "3", "1", "1", "1", "0", "0"],
        ["100.0%", "100.0%", "0.0%", "0.0%"],
        ["2", "suites", "3", "3", "3", "0", "0"],
        ["100.0%", "100.0%", "0.0%", "0.0%"],
    ]


def test_a_silent_difference_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_suite(tmp_path / "0001-fee", [(1, 2), (3, 7)])
    table = tmp_path / "rows.csv"
    code, lines = evaluate(tmp_path, capsys, "-o", str(table))
    assert code == 1
    assert lines[-2].split() == ["1", "suite", "2", "1", "1", "0", "1"]
    (row,) = csv.DictReader(table.open(encoding="utf-8"))
    assert (row["suite"], row["silent"], row["level"]) == ("0001-fee", "1", "")


def test_a_refusal_has_its_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_suite(tmp_path / "0001-fee", [(1, 2)], node="other")
    code, lines = evaluate(tmp_path, capsys)
    assert code == 0
    assert "refused: the model has no decision `other` (1)" in lines
    assert lines[-2].split() == ["1", "suite", "1", "0", "0", "1", "0"]


def test_a_suite_that_cannot_be_read_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_suite(tmp_path / "1-fee", [(1, 2)])
    write_suite(tmp_path / "2-broken", [(1, 2)])
    (tmp_path / "2-broken" / "fee-test.xml").write_text("<testCases", "utf-8")
    write_suite(tmp_path / "3-alone", [(1, 2)])
    (tmp_path / "3-alone" / "fee.dmn").unlink()
    code, lines = evaluate(tmp_path, capsys)
    assert code == 1
    assert [line.partition(":")[0].split() for line in lines if "not read:" in line] == [
        ["2-broken", "not", "read"],
        ["3-alone", "not", "read"],
    ]
    assert lines[-2].startswith("3 suites, 2 not read ")


def test_layouts(tmp_path: Path) -> None:
    write_suite(tmp_path / "a" / "TestCases" / "compliance-level-3" / "0001-x", [(1, 2)])
    write_suite(tmp_path / "b" / "2-x", [(1, 2)])
    write_suite(tmp_path / "c" / "0042-x", [(1, 2)])
    assert [folder.level for folder in list_suites(tmp_path / "a")] == [3]
    assert [folder.level for folder in list_suites(tmp_path / "b")] == [2]
    assert [folder.level for folder in list_suites(tmp_path / "c")] == [0]
    alone = tmp_path / "a" / "TestCases" / "compliance-level-3"
    assert [folder.level for folder in list_suites(alone)] == [3]
    assert list_suites(tmp_path / "b" / "2-x") == [SuiteFolder(tmp_path / "b" / "2-x", 2)]
    with pytest.raises(KitError, match="there is no suite in"):
        list_suites(tmp_path)


def test_a_suite_with_two_models(tmp_path: Path) -> None:
    folder = tmp_path / "0001-two"
    write_suite(folder, [(1, 2)])
    (folder / "tax.dmn").write_text(MODEL.format(name="tax", text="amount * 3"), "utf-8")
    case = CASE.format(id=1, amount=1, expected=3, node="fee")
    (folder / "tax-test.xml").write_text(TESTS.format(model="tax", cases=case), "utf-8")
    assert [suite.total for suite in read_suites(folder, 0)] == [1, 1]


def test_options_of_other_suites_are_refused(tmp_path: Path) -> None:
    write_suite(tmp_path / "0001-fee", [(1, 2)])
    assert cli.run(["eval", "dmn", str(tmp_path), "--engine", "model"]) == 2
    assert cli.run(["eval", "dmn", str(tmp_path), "--html", "page.html"]) == 2
    assert cli.run(["eval", "dmn", str(tmp_path / "nothing")]) == 2
