"""No command compiles a process twice: what it compiled is handed on to whatever needs it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_cases import Ran
from n8n_stand_in import KEY, StandIn
from orgflow import cli
from orgflow.backends.asl.emit import Emitter as AslEmitter
from orgflow.backends.n8n.emit.emitter import _Emitter as N8nEmitter
from stored_executions import plain, stored

Invoke = Callable[..., Ran]

_PROCESS = """
  <process id="{id}" name="{id}">
    <startEvent id="{id}_s" name="Begin" />
    <task id="{id}_t" name="Check stock" />
    <exclusiveGateway id="{id}_g" name="In stock?" />
    <task id="{id}_a" name="Ship order" />
    <task id="{id}_b" name="Buy" />
    <endEvent id="{id}_e" name="Done" />
    <sequenceFlow id="{id}_1" sourceRef="{id}_s" targetRef="{id}_t" />
    <sequenceFlow id="{id}_2" sourceRef="{id}_t" targetRef="{id}_g" />
    <sequenceFlow id="{id}_3" name="Yes" sourceRef="{id}_g" targetRef="{id}_a" />
    <sequenceFlow id="{id}_4" name="No" sourceRef="{id}_g" targetRef="{id}_b" />
    <sequenceFlow id="{id}_5" sourceRef="{id}_b" targetRef="{id}_t" />
    <sequenceFlow id="{id}_6" sourceRef="{id}_a" targetRef="{id}_e" />
  </process>"""

MODEL = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" '
    'targetNamespace="https://example.org/bpmn">'
    + _PROCESS.format(id="Order")
    + _PROCESS.format(id="Repair")
    + "\n</definitions>\n"
)

DEADLOCK = MODEL.replace('exclusiveGateway id="Order_g"', 'parallelGateway id="Order_g"')


@pytest.fixture
def emissions(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each process was compiled, by its id."""
    found: Counter[str] = Counter()

    def counted(original: Any, process: Callable[[Any], str]) -> Any:
        def run(self: Any) -> None:
            found[process(self)] += 1
            original(self)

        return run

    monkeypatch.setattr(N8nEmitter, "run", counted(N8nEmitter.run, lambda e: str(e.e.process.id)))
    monkeypatch.setattr(AslEmitter, "run", counted(AslEmitter.run, lambda e: str(e.s.process.id)))
    return found


@pytest.fixture
def invoke(capfdbinary: pytest.CaptureFixture[bytes]) -> Invoke:
    def run(*args: str | Path) -> Ran:
        code = cli.run([str(a) for a in args])
        found = capfdbinary.readouterr()
        return Ran(code, found.out.decode(), found.err.decode())

    return run


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    made = StandIn()
    monkeypatch.setenv("N8N_API_KEY", KEY)
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path: Path, invoke: Invoke) -> Path:
    """A model of two processes, one with a deadlock, what the first compiles to, executions of it,
    and a suite of models."""
    (tmp_path / "model.bpmn").write_text(MODEL, encoding="utf-8")
    (tmp_path / "bad.bpmn").write_text(DEADLOCK, encoding="utf-8")
    done = invoke("compile", tmp_path / "model.bpmn", "--target=n8n", "-o", f"{tmp_path}/out/")
    assert done.code == 0
    texts = [p.read_text("utf-8") for p in sorted((tmp_path / "out").iterdir())]
    (tmp_path / "both.json").write_text(f"[{','.join(texts)}]", encoding="utf-8")
    names = ("Begin", "Check stock", "In stock?", "Ship order", "Done")
    executions = [stored(i, json.loads(text), plain(names)) for i, text in enumerate(texts)]
    (tmp_path / "executions.json").write_text(json.dumps({"data": executions}), encoding="utf-8")
    (tmp_path / "suite" / "bpmn").mkdir(parents=True)
    (tmp_path / "suite" / "bpmn" / "01.bpmn").write_text(MODEL, encoding="utf-8")
    return tmp_path


COMMANDS: dict[str, tuple[str, ...]] = {
    "compile": ("compile", "model.bpmn", "--target=n8n"),
    "compile for asl": ("compile", "model.bpmn", "--target=asl"),
    "compile --verify": ("compile", "model.bpmn", "--target=n8n", "--verify"),
    "compile --check": ("compile", "model.bpmn", "--target=n8n", "--check", "out"),
    "verify": ("verify", "model.bpmn", "both.json"),
    "run": ("run", "model.bpmn"),
    "run --all-paths": ("run", "model.bpmn", "--all-paths"),
    "run --html": ("run", "model.bpmn", "--all-paths", "--html", "page.html"),
    "run --html of a faulty model": ("run", "bad.bpmn", "--html", "page.html"),
    "run on asl": ("run", "model.bpmn", "--target=asl", "--all-paths", "--html", "page.html"),
    "run --executions": ("run", "model.bpmn", "--executions", "executions.json"),
    "run --executions --html": (
        "run", "model.bpmn", "--executions", "executions.json", "--html", "page.html",
    ),
    "deploy --dry-run": ("deploy", "model.bpmn", "--dry-run", "--url", "{url}"),
    "deploy": ("deploy", "model.bpmn", "--url", "{url}"),
    "eval": ("eval", "pmo", "suite", "--models", "bpmn"),
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_no_process_is_compiled_twice(
    name: str,
    folder: Path,
    server: StandIn,
    invoke: Invoke,
    emissions: Counter[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder)
    emissions.clear()
    done = invoke(*(word.format(url=server.url) for word in COMMANDS[name]))
    assert done.code == (1 if "faulty" in name else 0), done.err
    assert emissions == {"Order": 1, "Repair": 1}
