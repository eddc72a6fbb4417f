"""Discovery with a language model that answers badly: it ends within its bounds, loses no message,
keeps nothing that rests on none, and its models compile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hostile_reader import HostileReader
from model_server import Scripted, model_server
from orgflow import cli, compiler
from orgflow.agents.discovery import agent
from orgflow.agents.discovery.agent import discover_with_model
from orgflow.agents.discovery.baselines import discover_by_clusters, discover_in_one_call
from orgflow.agents.discovery.described import UnusableProcess, read_saved
from orgflow.agents.discovery.discover import Discovery, group_messages
from orgflow.commands.discover import json_text, outline_processes
from orgflow.store.embedder import HashedWords
from orgflow.store.messages import MessageStore
from scripted_reader import SHOWN_MESSAGE
from seeds import seeds
from small_corpus import corpus

from orgflow_ir.diagnostics import Severity
from orgflow_ir.filling.evidence_check import check_evidence
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

REGISTRY = Registry(outside=False)


def check(found: Discovery) -> None:
    """Every message is in one case or in none, evidence is in the messages, models compile."""
    given = {m.id: m.text for m in corpus()[0]}
    inside = [id_ for one in found.processes for case in one.cases for id_ in case]
    assert sorted([*inside, *found.noise]) == sorted(given)
    assert all(case for one in found.processes for case in one.cases)
    assert len({one.process.id for one in found.processes}) == len(found.processes)
    ctx = PassContext(registry=REGISTRY)
    check_evidence(found.model, given.get, ctx)
    for target in ("bpmn", "ir"):
        request = compiler.CompileRequest(found.model, REGISTRY.backends[target])
        for _, made in compiler.compile_separately(request, ctx):
            assert all(str(artifact.text).encode() for artifact in made.artifacts)
    assert [d for d in ctx.diagnostics if d.severity is Severity.ERROR] == []
    assert (outline_processes(found) + json_text(found)).encode()


@pytest.mark.parametrize("seed", seeds(120))
def test_the_agent(seed: int) -> None:
    client = HostileReader(seed)
    stages = group_messages(corpus()[0], HashedWords())
    found, report = discover_with_model(stages, HashedWords(), client)
    check(found)
    assert report.tokens_in <= agent.TOKENS_A_MESSAGE * len(corpus()[0])
    assert client.calls <= agent.MOST_STEPS * (report.cases + 2 * agent.MOST_ROUNDS) + 1


@pytest.mark.parametrize("seed", seeds(60))
def test_the_baselines(seed: int) -> None:
    client = HostileReader(seed)
    check(discover_in_one_call(corpus()[0], HashedWords(), client))
    check(discover_by_clusters(corpus()[0], HashedWords(), client, clusters=4))
    assert client.calls == 5


def test_a_process_that_is_repeated_is_kept_once() -> None:
    class Again(HostileReader):
        def _whole(self, shown: Any) -> Any:
            steps = [{"name": f"Do {id_}", "evidence": [id_]} for id_ in shown[:2]]
            return {"processes": [{"name": "Handle it", "steps": steps}] * 50}

        def _written(self, value: Any) -> str:
            return json.dumps(value)

    found = discover_in_one_call(corpus()[0], HashedWords(), Again(0))
    assert [(one.name, len(one.steps)) for one in found.processes] == [("Handle it", 2)]


STEPS = [{"name": "Check", "evidence": ["m1"]}, {"name": "Sign", "evidence": ["m2"]}]


@pytest.mark.parametrize(
    ("same", "expected"),
    [(2, 2), ("2", 2), (" 2 ", 2), ("\u00b2", None), ("9" * 5_000, None), (True, None),
     (1.0, None), ([1], None), ("-1", None)],
)  # fmt: skip
def test_the_number_of_a_process(same: Any, expected: int | None) -> None:
    saved = read_saved({"name": "P", "steps": STEPS, "same_as": same}, {"m1": 0, "m2": 1})
    assert saved.same_as == expected


@pytest.mark.parametrize(
    ("steps", "expected"), [(1, (0,)), ("1", (0,)), (["2", 1], (0, 1)), ({"1": 1}, ()), (None, ())]
)
def test_the_steps_of_an_option(steps: Any, expected: tuple[int, ...]) -> None:
    options = [{"condition": "yes", "steps": steps}, {"condition": "no", "steps": []}]
    value = {"name": "P", "steps": STEPS, "decisions": [{"options": options}]}
    assert read_saved(value, {"m1": 0, "m2": 1}).decisions[0].options[0].steps == expected


@pytest.mark.parametrize(
    ("decisions", "options", "reason"),
    [(13, 2, "at most 12 decisions"), (1, 13, "Decision 1 has more than 12 options")],
)
def test_more_decisions_than_anybody_can_read(decisions: int, options: int, reason: str) -> None:
    option = [{"condition": f"c{n}", "steps": [1]} for n in range(options)]
    value = {"name": "P", "steps": STEPS, "decisions": [{"options": option}] * decisions}
    with pytest.raises(UnusableProcess, match=reason):
        read_saved(value, {"m1": 0, "m2": 1})


@pytest.mark.slow
def test_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a server that calls tools with broken arguments and never stops."""
    store = str(tmp_path / "store")
    with MessageStore.create(store) as opened:
        opened.add(corpus()[0])
        opened.link()

    def answer(request: dict[str, Any]) -> Scripted:
        shown = SHOWN_MESSAGE.findall(str(request["messages"][-1]["content"]))
        invented = {"name": "P", "steps": [{"name": "x", "evidence": [f"m{len(shown) + 70}"]}] * 3}
        return Scripted("thinking", calls=[
            ("save_discovered_process", json.dumps(invented)), ("search_messages", "[" * 100_000),
            ("save_discovered_process", '{"name": "P", "ste'),
        ])  # fmt: skip

    monkeypatch.setenv("ORGFLOW_MODEL", "toy")
    with model_server(answer) as server:
        monkeypatch.setenv("ORGFLOW_MODEL_URL", server.url)
        assert cli.run(["discover", store, "--json"]) == 0
        out = capsys.readouterr()
        assert 0 < len(server.requests) < 200
    assert "0 of 6 cases read" in out.err
    found = json.loads(out.out)
    assert sum(len(one["cases"]) for one in found["processes"]) == 6
