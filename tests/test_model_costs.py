"""What a language model costs is shown before and after, and programs read clean streams."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from cli_cases import orgflowc
from engine_fixture import missing
from model_server import ModelServer, Scripted, model_server
from orgflow.agents.model_client.client import OpenAIModelClient
from orgflow.agents.model_client.settings import ModelSettings
from orgflow.agents.model_client.usage import Expected
from orgflow.backends.n8n.engine.install import engine_status
from orgflow.commands.language_model import announce_model
from orgflow.commands.session import Session
from orgflow.store.messages import MessageStore
from small_corpus import corpus
from stored_executions import unexplained_failures

from orgflow_ir.pipeline.services import OverBudget

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = json.loads((ROOT / "orgflow_ir/schema/diagnostics.schema.json").read_text())
LINES = "T1 check order | clerk | s1\nT2 ship order | clerk | s2\nStart -> T1 -> T2 -> End\n"
PRICES = "[model]\nprice-in = 100.0\nprice-out = 200.0\n"
TASKS = """\
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d">
<process id="p" name="Orders" isExecutable="true"><startEvent id="s"/>
<sequenceFlow id="f0" sourceRef="s" targetRef="t"/>
<serviceTask id="t" name="Send a message in Slack"/>
<sequenceFlow id="f1" sourceRef="t" targetRef="e"/><endEvent id="e" name="Done"/>
</process></definitions>"""

NOTHING_OPEN = """\
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d">
<process id="p" name="Orders" isExecutable="true"><startEvent id="s"/>
<sequenceFlow id="f0" sourceRef="s" targetRef="e"/><endEvent id="e" name="Done"/>
</process></definitions>"""

STORY = "The clerk checks the order. If it is fine, the clerk ships the order. Else he rejects it."
CHOICE = """\
T1 check order | clerk | s1
X1 fine? | | s2
T2 ship order | clerk | s2
T3 reject order | clerk | s3
X2 join | | s3
Start -> T1 -> X1
X1 -(fine)-> T2 -> X2
X1 -(otherwise)-> T3 -> X2
X2 -> End
"""


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "order.txt"
    path.write_text("The clerk checks the order. The clerk ships the order.")
    return path


def variables(server: ModelServer) -> dict[str, str]:
    return {"ORGFLOW_MODEL_URL": server.url, "ORGFLOW_MODEL": "toy", "ORGFLOW_MODEL_KEY": "x"}


def as_data(err: str) -> Any:
    """Standard error as one JSON document, which keeps to the published schema."""
    data = json.loads(err)
    jsonschema.validate(data, SCHEMA)
    return data


@pytest.mark.parametrize("priced", [True, False])
def test_a_line_before_and_a_line_after(text: Path, priced: bool) -> None:
    if priced:
        (text.parent / "orgflow.toml").write_text(PRICES)
    with model_server([Scripted(LINES, usage=(1000, 100))]) as server:
        ran = orgflowc("model", text, "--target", "triples", env=variables(server))
    assert ran.code == 0, ran.err
    before, after = ran.err.splitlines()[:2]
    assert before.startswith(f"asking toy at {server.url}: at most 50,000 tokens, about ")
    assert " expected in about 1 call, at most 5, " in before
    assert after.startswith("text: 1 call, 1,000 tokens in, 100 out, ")
    if priced:
        assert "cost about 0." in before
        assert "cost 0.1200" in after
    else:
        assert before.endswith("no price configured")
        assert "no price configured" in after


def test_the_estimate_is_near_what_is_sent(text: Path) -> None:
    """With an endpoint that counts as the estimate does, and answers as long as the text."""

    def counted(request: dict[str, Any]) -> Scripted:
        size = sum(-(-len(str(m["content"])) // 4) for m in request["messages"])
        return Scripted(LINES, usage=(size, -(-len(LINES) // 4)))

    with model_server(counted) as server:
        ran = orgflowc("model", text, "--format", "json", env=variables(server))
        calls = len(server.requests)
    told = as_data(ran.err)["language_model"]
    assert calls == told["used"]["calls"] == told["expected"]["calls"] == 1
    a_call = told["expected"]["tokens_in"] / told["expected"]["calls"]
    assert 0.7 < told["used"]["tokens_in"] / calls / a_call < 1.4


def test_quiet_leaves_both_out(text: Path) -> None:
    with model_server([LINES]) as server:
        ran = orgflowc("model", text, "-q", "--target", "triples", env=variables(server))
    assert (ran.code, ran.err) == (0, "")


@pytest.mark.parametrize("format_", ["json", "sarif"])
def test_streams_are_clean_for_programs(text: Path, format_: str) -> None:
    (text.parent / "orgflow.toml").write_text(PRICES)
    with model_server([Scripted(LINES.replace("ship", "sell"), usage=(1000, 100))]) as server:
        ran = orgflowc(
            "model", text, "--target", "powl", "--format", format_, env=variables(server)
        )
    assert ran.code == 0, ran.err
    json.loads(ran.out)
    if format_ == "sarif":
        noted = json.loads(ran.err)["runs"][0]["invocations"][0]["toolExecutionNotifications"]
        assert "cost 0." in noted[1]["message"]["text"]
        return
    told = as_data(ran.err)
    model = told["language_model"]
    assert model["limits"] == {"tokens": 50_000, "cost": None}
    assert model["expected"]["cost"] > 0
    assert model["used"]["cost"] == pytest.approx(0.12 * model["used"]["calls"])
    assert model["used"]["agents"]["text"]["calls"] == model["used"]["calls"]
    assert told["notes"][0].startswith("asking toy at ")


@pytest.mark.parametrize("line", [("model",), ("model", "--agent", "text")])
def test_without_a_model_streams_are_clean_as_well(text: Path, line: tuple[str, ...]) -> None:
    for variable in ("ORGFLOW_MODEL_URL", "ORGFLOW_MODEL"):
        ran = orgflowc(*line, text, "--format", "json", env={variable: ""})
    told = as_data(ran.err)
    assert any("set ORGFLOW_MODEL_URL" in note for note in told["notes"])
    assert "language_model" not in told


@pytest.mark.parametrize("line", [("fill",), ("compile", "--target", "n8n", "--fill", "--verify")])
def test_filling(tmp_path: Path, line: tuple[str, ...]) -> None:
    if not engine_status().installed:
        missing("n8n's engine is not installed")
    path = tmp_path / "order.bpmn"
    path.write_text(TASKS)
    answer = '{"operation": "none"}'
    with model_server([answer]) as server:
        shown = orgflowc(*line, path, env=variables(server))
        ran = orgflowc(*line, path, "--format", "json", env=variables(server))
    assert shown.code == 0, shown.err
    before = next(row for row in shown.err.splitlines() if row.startswith("asking toy"))
    assert " expected in about 3 calls, at most 6, no price configured" in before
    assert "operations: 1 call, 10 tokens in, 5 out, no price configured" in shown.err
    told = as_data(ran.err)
    assert told["language_model"]["expected"]["calls"] == 3
    assert told["language_model"]["expected"]["most_calls"] == 6
    assert told["language_model"]["used"]["calls"] == 1
    assert any("operations of" in note for note in told["notes"])


def test_no_call_is_reported_too(tmp_path: Path) -> None:
    if not engine_status().installed:
        missing("n8n's engine is not installed")
    path = tmp_path / "order.bpmn"
    path.write_text(NOTHING_OPEN)
    with model_server(["{}"]) as server:
        ran = orgflowc("fill", path, env=variables(server))
    assert ran.code == 0, ran.err
    assert "about 0 expected in up to 0 calls" in ran.err
    assert "model: 0 calls, 0 tokens in, 0 out" in ran.err


# -- the limit of calls, with the worst answers ----------------------------------------------------


def spent(err: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What was expected, and what was used, of findings as JSON."""
    model = as_data(err)["language_model"]
    return model["expected"], model["used"]


def lines_of(err: str) -> tuple[str, str]:
    """The line before the first call and the one after the last."""
    rows = err.splitlines()
    before = next(row for row in rows if row.startswith("asking toy at "))
    after = next(row for row in rows if " tokens in, " in row)
    return before, after


def at_most(before: str) -> int:
    """The limit of calls in the line before the first."""
    found = re.search(r"at most ([\d,]+), (?:no price|cost)|in up to ([\d,]+) call", before)
    assert found is not None, before
    return int((found[1] or found[2]).replace(",", ""))


def made(after: str) -> int:
    """The calls in the line after the last."""
    found = re.search(r": ([\d,]+) calls?[, ]", after)
    assert found is not None, after
    return int(found[1].replace(",", ""))


def searching(request: dict[str, Any]) -> Scripted:
    """A model that only looks around, until nothing more is asked of it."""
    calls = [("search_messages", '{"query": "invoice"}')] if request.get("tools") else []
    return Scripted("hm", calls=calls, usage=(10, 5))


def refused(request: dict[str, Any]) -> Scripted:
    """A model whose processes are never accepted."""
    calls = [("save_discovered_process", '{"name": 5}')] if request.get("tools") else []
    return Scripted("{", calls=calls, usage=(10, 5))


@pytest.fixture(scope="module")
def mails(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the messages of the example."""
    store = tmp_path_factory.mktemp("mails") / "store"
    given, _ = corpus()
    with MessageStore.create(str(store)) as messages:
        messages.add(given)
        messages.link()
    return store


@pytest.mark.slow
@pytest.mark.parametrize("answer", [searching, refused], ids=["searching", "refused"])
def test_discovery_keeps_its_limit(
    mails: Path, answer: Callable[[dict[str, Any]], Scripted], tmp_path: Path
) -> None:
    store = tmp_path / "store"
    shutil.copytree(mails, store)
    with model_server(answer) as server:
        ran = orgflowc("discover", store, env=variables(server))
        asked = len(server.requests)
    assert ran.code == 0, ran.err
    before, after = lines_of(ran.err)
    assert made(after) == asked
    typical = re.search(r"in about (\d+) calls", before)
    assert typical is not None, before
    assert int(typical[1]) < asked <= at_most(before)
    assert before.endswith("no price configured")
    assert "no price configured" in after


@pytest.mark.slow
def test_discovery_prints_costs_as_data(mails: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    shutil.copytree(mails, store)
    (tmp_path / "orgflow.toml").write_text(PRICES)
    with model_server([Scripted("NONE", usage=(1000, 100))]) as server:
        ran = orgflowc("discover", store, "--format", "json", env=variables(server), cwd=tmp_path)
        asked = len(server.requests)
    assert ran.code == 0, ran.err
    expected, used = spent(ran.err)
    assert used["calls"] == asked <= expected["most_calls"]
    assert used["cost"] == pytest.approx(0.12 * asked)
    assert expected["cost"] > 0


@pytest.mark.parametrize("more", [(), ("--rounds", "2")])
def test_an_evaluation_keeps_its_limit(tmp_path: Path, more: tuple[str, ...]) -> None:
    """Every draft has a fault, and every question is answered with a complaint."""
    for number in (1, 2):
        for name, text in (("descriptions/{}.txt", STORY), ("bpmn/{}.bpmn", NOTHING_OPEN)):
            path = tmp_path / name.format(number)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)

    def worst(request: dict[str, Any]) -> Scripted:
        if "response_format" in request:
            return Scripted('{"verdict": "wrong", "kind": "inclusive", "why": "it is not"}')
        return Scripted(CHOICE if more else "nothing", usage=(10, 5))

    with model_server(worst) as server:
        ran = orgflowc("eval", "text", tmp_path, "--agent", "text", *more, env=variables(server))
        asked = len(server.requests)
    before, after = lines_of(ran.err)
    assert 2 < made(after) == asked <= at_most(before), ran.err


def test_a_diagnosis_keeps_its_limit(tmp_path: Path) -> None:
    model, runs = unexplained_failures(tmp_path)
    line = ("run", model, "--executions", runs, "--json", "--diagnose")
    with model_server(["this is no record"]) as server:
        ran = orgflowc(*line, env=variables(server))
        asked = len(server.requests)
    before, after = lines_of(ran.err)
    assert "about 2 calls, at most 4," in before
    assert made(after) == asked == at_most(before) == 4


def costs_in(before: str, after: str) -> tuple[float, float]:
    """The expected cost and the cost of the two lines."""
    expected = re.search(r", cost about (\d+\.\d+)$", before)
    used = re.search(r", cost (\d+\.\d+), ", after)
    assert expected is not None, before
    assert used is not None, after
    return float(expected[1]), float(used[1])


@pytest.mark.slow
def test_costs_of_a_discovery(mails: Path, tmp_path: Path) -> None:
    shutil.copytree(mails, tmp_path / "store")
    (tmp_path / "orgflow.toml").write_text(PRICES)
    with model_server([Scripted("NONE", usage=(1000, 100))]) as server:
        ran = orgflowc("discover", "store", env=variables(server), cwd=tmp_path)
        asked = len(server.requests)
    assert ran.code == 0, ran.err
    expected, used = costs_in(*lines_of(ran.err))
    assert expected > 0
    assert used == pytest.approx(0.12 * asked)


@pytest.mark.parametrize("samples", [1, 2])
def test_costs_of_an_evaluation(samples: int, tmp_path: Path) -> None:
    (tmp_path / "orgflow.toml").write_text(PRICES)
    for number in (1, 2):
        for name, text in (("descriptions/{}.txt", STORY), ("bpmn/{}.bpmn", NOTHING_OPEN)):
            path = tmp_path / "texts" / name.format(number)
            path.parent.mkdir(exist_ok=True, parents=True)
            path.write_text(text)
    line = ("eval", "text", "texts", "--agent", "text", "--samples", str(samples))
    with model_server([Scripted(CHOICE, usage=(1000, 100))]) as server:
        ran = orgflowc(*line, env=variables(server), cwd=tmp_path)
        asked = len(server.requests)
    assert ran.code == 0, ran.err
    before, after = lines_of(ran.err)
    expected, used = costs_in(before, after)
    assert expected > 0
    assert asked == made(after) == 2 * samples
    assert used == pytest.approx(0.12 * asked)


def test_costs_of_a_diagnosis(tmp_path: Path) -> None:
    model, runs = unexplained_failures(tmp_path)
    (tmp_path / "orgflow.toml").write_text(PRICES)
    record = {
        "failure_source": "bpmn_quality", "root_cause": "a field is missing", "element": None,
        "suggested_fix": "set it", "is_fixable": True, "severity": "blocking", "confidence": "low",
    }  # fmt: skip
    line = ("run", model, "--executions", runs, "--json", "--diagnose")
    with model_server([Scripted(json.dumps(record), usage=(1000, 100))]) as server:
        ran = orgflowc(*line, env=variables(server))
    expected, used = costs_in(*lines_of(ran.err))
    assert expected > 0
    assert used == pytest.approx(0.12 * 2)
    json.loads(ran.out)


@pytest.mark.parametrize("answer", ["no JSON", '{"operation": "invented"}'])
def test_filling_keeps_its_limit(tmp_path: Path, answer: str) -> None:
    if not engine_status().installed:
        missing("n8n's engine is not installed")
    path = tmp_path / "order.bpmn"
    path.write_text(TASKS)
    with model_server([answer]) as server:
        ran = orgflowc("fill", path, env=variables(server))
        asked = len(server.requests)
    before, after = lines_of(ran.err)
    assert 1 < made(after) == asked <= at_most(before)


def test_no_more_calls_are_made_than_announced() -> None:
    """Whatever an agent does, such as one of a plugin."""
    with model_server(["2"]) as server:
        client = OpenAIModelClient(ModelSettings(url=server.url, name="toy"))
        announce_model(Session(), client, Expected(1, 10, 10, 2))
        for _ in range(2):
            client.ask([{"role": "user", "content": "1 + 1"}])
        with pytest.raises(OverBudget, match="the limit of 2 calls is reached"):
            client.ask([{"role": "user", "content": "1 + 1"}])
        assert len(server.requests) == 2
