"""`eval --html`: a page with the figures of the table as charts, of every suite."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from cli_cases import LINEAR, orgflowc
from html_pages import parsed
from orgflow.cli import orgflowc as command_line
from orgflow.commands.eval import SUITES
from orgflow.evaluation.charts import (
    Bar,
    BarChart,
    Charts,
    LineChart,
    chart_counts,
    columns_as_charts,
    render_evaluation,
)
from orgflow.evaluation.discovery import HIGHER, SWEEP, Row, Scores
from orgflow.evaluation.discovery import build_charts as discovery_charts


def models(folder: Path) -> None:
    """What each suite needs, of one small process."""
    (folder / "bpmn").mkdir(parents=True)
    (folder / "bpmn" / "pmo-01.bpmn").write_text(LINEAR)
    (folder / "descriptions").mkdir()
    (folder / "descriptions" / "pmo-01.txt").write_text("The clerk ships the order.")
    (folder / "order.bpmn").write_text(LINEAR)
    (folder / "order.filled.json").write_text(
        json.dumps({"ship": {"operation": "n8n-nodes-base.slack:message:post"}})
    )


@pytest.mark.parametrize(
    "suite", [s for s in SUITES if s not in ("discovery", "dmn", "messages", "traces")]
)
def test_the_page_shows_the_table_and_charts(suite: str, tmp_path: Path) -> None:
    models(tmp_path / "data")
    page = tmp_path / "page.html"
    more = {"pmo": ["--engine", "model", "--models", "bpmn"], "executable": ["--engine", "model"]}
    ran = orgflowc("eval", suite, tmp_path / "data", "--html", page, *more.get(suite, []))
    assert ran.code == 0, ran
    tree = parsed(page.read_text("utf-8"))
    assert ran.err.strip() in tree.one("pre").text
    rows = list(csv.reader(io.StringIO(ran.out)))
    assert [len(list(tr.all("td"))) for tr in tree.one("tbody").all("tr")] == [
        len(row) for row in rows[1:]
    ]
    titles = [h3.text for h3 in tree.all("h3")]
    expected = {"pmo": "models passed", "executable": "models that compile", "text": "task",
                "fill": "exact match"}  # fmt: skip
    assert expected[suite] in titles


def test_discovery_has_bars_and_curves() -> None:
    scores = Scores(2, 2, *(0.5 for _ in HIGHER))._replace(task_f1=None)
    better = scores._replace(v_measure=0.75)
    rows = [Row("discovered", (scores, better, better)), Row("null", (scores,))]
    found = discovery_charts(rows, [("discovered", [0.1] * len(SWEEP))])
    first = found.bars[0]
    assert first.title == "v measure"
    assert first.bars[0] == Bar("discovered", 0.75, "0.750 (0.500-0.750)")
    assert first.bars[1].published
    assert "task F1" not in [chart.title for chart in found.bars]
    assert found.lines[0].x == SWEEP


def test_a_bar_is_as_long_as_its_share_and_a_missing_value_has_none() -> None:
    charts = columns_as_charts(("n", "F1", "V"), [("a", (3, 0.25, None)), ("b", (3, None, 1.0))])
    assert [(c.title, [b.label for b in c.bars]) for c in charts] == [("F1", ["a"]), ("V", ["b"])]
    tree = parsed(render_evaluation("t", "p", "s", Charts(charts)))
    assert [rect.attributes["width"] for rect in tree.all("rect")] == ["25.0", "100.0"]
    assert chart_counts("c", {}) == ()
    assert [b.value for b in chart_counts("c", {"x": 1, "y": 4})[0].bars] == [1.0, 0.25]


def test_texts_of_models_stay_texts_and_nothing_is_fetched() -> None:
    evil = '<script>alert(1)</script>"&'
    charts = Charts(
        (BarChart(evil, (Bar(evil, 0.5, evil),)),),
        (LineChart(evil, evil, (0.0, 1.0), ((evil, (0.0, 1.0)),)),),
    )
    page = render_evaluation(evil, evil, evil, charts, (evil,), [{evil: evil}])
    assert "<script" not in page
    assert "default-src 'none'" in page
    assert "http:" not in page
    assert "https:" not in page
    parsed(page)


def test_the_option_is_for_every_suite() -> None:
    command = command_line.get_command(None, "eval")  # type: ignore[arg-type]
    assert command is not None
    assert "--html" in {option for parameter in command.params for option in parameter.opts}
