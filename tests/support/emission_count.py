"""How often commands compile each process: the commands, what they work on, and the count."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from orgflow.backends.asl.emit import Emitter as AslEmitter
from orgflow.backends.n8n.plan import passes
from stored_executions import plain, stored

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
"""What is run in the folder that `prepare` makes, by what it is called; `{url}` is a server's."""


def prepare(folder: Path, run: Callable[..., int]) -> None:
    """Put into `folder` a model of two processes, one with a deadlock, what the first compiles to,
    executions of it, and a suite of models. `run` runs a command line and gives its exit code."""
    (folder / "model.bpmn").write_text(MODEL, encoding="utf-8")
    (folder / "bad.bpmn").write_text(DEADLOCK, encoding="utf-8")
    done = run("compile", folder / "model.bpmn", "--target=n8n", "-o", f"{folder}/out/")
    assert done == 0
    texts = [p.read_text("utf-8") for p in sorted((folder / "out").iterdir())]
    (folder / "both.json").write_text(f"[{','.join(texts)}]", encoding="utf-8")
    names = ("Begin", "Check stock", "In stock?", "Ship order", "Done")
    executions = [stored(i, json.loads(text), plain(names)) for i, text in enumerate(texts)]
    (folder / "executions.json").write_text(json.dumps({"data": executions}), encoding="utf-8")
    (folder / "suite" / "bpmn").mkdir(parents=True)
    (folder / "suite" / "bpmn" / "01.bpmn").write_text(MODEL, encoding="utf-8")


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """How often each process is compiled inside, by its id."""
    found: Counter[str] = Counter()

    def counting(original: Any, process: Callable[[Any], str]) -> Any:
        def run(first: Any, *others: Any) -> Any:
            found[process(first)] += 1
            return original(first, *others)

        return run

    of_n8n = counting(passes.plan_scope, lambda scope: str(scope.process.id))
    of_asl = counting(AslEmitter.run, lambda e: str(e.s.process.id))
    with ExitStack() as stack:
        stack.enter_context(patch.object(passes, "plan_scope", of_n8n))
        stack.enter_context(patch.object(AslEmitter, "run", of_asl))
        yield found


def exit_code(name: str) -> int:
    """What a command ends with."""
    return 1 if "faulty" in name else 0
