"""Three people and the commands that they type, one after the other: an analyst with a file of 40
elements, the author of a plugin, and somebody who looks after CI. `-s` prints how long each step
takes. The fourth, a newcomer with the README, needs the network:
`tests/live/test_live_newcomer.py`.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_cases import DEADLOCK, Ran, orgflowc
from plugin_install import install_into, run_pytest

from orgflow_ir.testing import check_backend

WIDTH = 80


class Walk:
    """Commands in a folder, each with its time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env: dict[str, str] = {}
        self.times: list[tuple[str, float]] = []

    def __call__(self, line: str, *, code: int = 0) -> Ran:
        begun = time.perf_counter()
        ran = orgflowc(*line.split(), cwd=self.folder, env=self.env)
        self.times.append((line, time.perf_counter() - begun))
        assert ran.code == code, f"$ orgflowc {line}\n{ran.out}{ran.err}"
        return ran

    def screen(self, line: str, *, code: int = 0) -> str:
        """What a person sees of a command, whose lines fit 80 columns."""
        ran = self(line, code=code)
        seen = ran.out + ran.err
        wide = [one for one in seen.splitlines() if len(one) > WIDTH and " " in one.strip()]
        assert not wide, wide
        return seen


@pytest.fixture
def walk(tmp_path: Path) -> Iterator[Walk]:
    made = Walk(tmp_path)
    yield made
    for line, took in made.times:
        print(f"{took:7.2f} s  orgflowc {line}")
    print(f"{sum(took for _, took in made.times):7.2f} s  all")


# -- an analyst ------------------------------------------------------------------------------


def test_an_analyst_with_a_file_of_forty_elements(walk: Walk, shared: Path) -> None:
    """Checks a file that somebody drew, reads the finding, fixes, compiles, runs, opens a page."""
    drawn = (shared / "data" / "pmo" / "bpmn" / "16.bpmn").read_text("utf-8")
    # The fault that people draw most: a join of another kind than its split.
    before, _, after = drawn.partition('<exclusiveGateway id="ExclusiveGateway_8"')
    assert after
    faulty = before + '<parallelGateway id="ExclusiveGateway_8"' + after
    head, _, tail = faulty.partition('<parallelGateway id="ExclusiveGateway_8"')
    faulty = (
        head
        + '<parallelGateway id="ExclusiveGateway_8"'
        + tail.replace("</exclusiveGateway>", "</parallelGateway>", 1)
    )
    model = walk.folder / "order.bpmn"
    model.write_text(faulty, "utf-8")

    seen = walk.screen("check order.bpmn -q", code=1)
    assert "error OF201 [deadlocked-join]" in seen
    assert "  run: " in seen
    assert "  fix: " in seen
    assert "OF201" in walk.screen("explain OF201")
    change = walk("check order.bpmn --diff -q", code=1).out
    assert change.startswith("--- order.bpmn")
    assert len([one for one in change.splitlines() if one.startswith(("+ ", "- "))]) <= 4
    assert "fixed: order.bpmn: " in walk("check order.bpmn --fix").err
    assert model.read_text("utf-8").count("<") == drawn.count("<")

    seen = walk.screen("compile order.bpmn --target n8n -o order.json --verify --report todo.md")
    assert len(seen.splitlines()) <= 40  # of which four warnings, which are shown in full
    assert "proved" in seen
    assert "todo.md lists" in " ".join(seen.split())
    assert "## " in (walk.folder / "todo.md").read_text("utf-8")
    seen = walk.screen("run order.bpmn --engine model --all-paths --html runs.html")
    assert " mean F1 1.000" in seen
    assert "<svg" in (walk.folder / "runs.html").read_text("utf-8")
    walk("compile order.bpmn --target svg -o order.svg")
    assert " same" in walk.screen("diff order.json order.json").splitlines()[0]


def test_an_analyst_with_a_faulty_model_that_others_published(walk: Walk, shared: Path) -> None:
    """Five pools, two faults of the flow, and much that n8n does not do."""
    source = shared / "data" / "soundness" / "fbpmn" / "e019TemperatureIoT.bpmn"
    shutil.copy(source, walk.folder / "heating.bpmn")
    seen = walk.screen("check heating.bpmn -q", code=1)
    assert seen.count("error OF") == 2
    walk("check heating.bpmn --fix", code=1)
    assert walk.screen("check heating.bpmn -q", code=1).count("error OF") == 1
    seen = walk.screen("compile heating.bpmn --target n8n -o heating.json", code=1)
    assert seen.count("error OF206") == 1
    assert "error OF403" not in seen  # races and messages between pools are rows
    alone = "n8n{waits=execution}"
    seen = walk.screen(f"compile heating.bpmn --target {alone} -o heating.json", code=1)
    assert seen.count("error OF403") > 4
    assert seen.count("compile each process separately") == 1  # the same help is said once
    assert "nothing written: " in seen
    pools = walk.screen(f"compile heating.bpmn --target {alone} --process Sensor -o s.json", code=1)
    assert "TEE3" in pools


# -- the author of a plugin ------------------------------------------------------------------

PYPROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "orgflow-steps"
version = "0.1.0"
dependencies = ["orgflow>=0.2"]

[project.entry-points."orgflow.plugins"]
steps = "orgflow_steps"

[tool.setuptools.packages.find]
where = ["src"]
"""

BACKEND = '''\
"""The backend `steps`: a table of the steps of each process, as CSV with semicolons."""

from orgflow_ir.authoring import Artifact, Backend, Emitted, Event, Legal, SubProcess, TargetSpec
from orgflow_ir.authoring import executable_processes, file_names, hookimpl, keep, one_line, title

SUPPORTED = ("task", "event", "gateway", "flow", "sub-process.plain", "lane", "pool", "data",
             "artifact", "opaque.harmless", "activity")


@hookimpl
def orgflow_backends():
    return (StepsBackend(),)


class StepsBackend(Backend):
    name = "steps"
    summary = "the steps of a process as a table"
    target = TargetSpec("steps", {name: Legal() for name in SUPPORTED})

    def emit(self, model, ctx):
        model = keep(model, "the table", ctx)
        processes = executable_processes(model)
        names = file_names([title(model, process) for process in processes], ".csv")
        rows = ["\\n".join(["id;kind;step;who;next;notes", *table(p, p), ""]) for p in processes]
        return Emitted.whole(model, *map(Artifact, names, rows))


def table(scope, process):
    who = {id: lane.label for lane in process.lanes for id in lane.members}
    for node in scope.nodes:
        ways = [way(flow) for flow in scope.flows if flow.source == node.id]
        kind = node.construct
        if isinstance(node, Event):
            kind += f" {node.attached_to or ''} {node.definitions!r}"
        cells = (node.id, kind, node.name, who.get(node.id, ""), " + ".join(ways), node.doc)
        yield ";".join(one_line(cell).replace(";", ",") for cell in cells)
        if isinstance(node, SubProcess):
            yield from (f"> {line}" for line in table(node, process))


def way(flow):
    condition = flow.condition.text if flow.condition else ""
    return f"{flow.target} ({flow.name}|{condition}|{'else' if flow.default else ''})"
'''

OWN_TESTS = """\
from orgflow.passes.merge_deadlock import DeadlockedJoin, MergeDeadlock
from orgflow_ir.plugins import Registry
from orgflow_ir.testing import check_backend, check_rule


def test_contract():
    check_backend(Registry().backends["steps"])


def test_rule():
    check_rule(MergeDeadlock(), DeadlockedJoin, bad=["s>x1 x1>A x1>B A>p1 B>p1 p1>e"],
               good=["s>p1 p1>A p1>B A>p2 B>p2 p2>e"])
"""


def test_the_author_of_a_plugin(walk: Walk, tmp_path: Path) -> None:
    """An empty folder, a backend of at most 60 lines with three lines of imports, its contract and
    a rule tested, found by its entry point."""
    assert len(BACKEND.splitlines()) <= 60
    assert len([one for one in BACKEND.splitlines() if "import " in one]) <= 3
    package = tmp_path / "orgflow-steps"
    (package / "src" / "orgflow_steps").mkdir(parents=True)
    (package / "tests").mkdir()
    (package / "pyproject.toml").write_text(PYPROJECT)
    (package / "src" / "orgflow_steps" / "__init__.py").write_text(BACKEND)
    (package / "tests" / "test_steps.py").write_text(OWN_TESTS)
    begun = time.perf_counter()
    env = install_into(tmp_path / "site", package)
    walk.times.append(("(pip install)", time.perf_counter() - begun))
    begun = time.perf_counter()
    tested = run_pytest(package, env)
    walk.times.append(("(pytest)", time.perf_counter() - begun))
    assert tested.returncode == 0, tested.stdout
    assert "2 passed" in tested.stdout
    walk.env = env
    (tmp_path / "order.bpmn").write_text(DEADLOCK)
    assert "steps" in walk("list backends").out
    made = walk("compile order.bpmn --target steps --force")
    assert made.out.startswith("id;kind;step;who;next;notes\nstart;event.start.none")
    assert "nothing written" in walk("compile order.bpmn --target steps", code=1).err


def test_that_backend_is_held_to_its_contract_here() -> None:
    space: dict[str, object] = {"__name__": "orgflow_steps"}
    exec(compile(BACKEND, "orgflow_steps", "exec"), space)
    backend = space["StepsBackend"]
    assert isinstance(backend, type)
    check_backend(backend(), runs=False)


# -- somebody who looks after CI -------------------------------------------------------------


def test_somebody_who_looks_after_ci(walk: Walk, root: Path) -> None:
    """Old findings into a baseline, a new one fails, in every format; golden files in review."""
    models = walk.folder / "models"
    models.mkdir()
    shutil.copy(root / "examples" / "leave-request" / "model.bpmn", models / "leave.bpmn")
    (models / "old.bpmn").write_text(DEADLOCK)
    walk("check models", code=1)
    walk("check models --write-baseline baseline.json")
    walk("check models --baseline baseline.json")
    (models / "new.bpmn").write_text(DEADLOCK.replace('name="Order"', 'name="New order"'))
    seen = walk.screen("check models --baseline baseline.json", code=1)
    assert seen.count("error OF201") == 1
    annotation = walk("check models --baseline baseline.json --format github", code=1)
    assert annotation.out.startswith("::error file=models/new.bpmn,line=9,")
    assert annotation.err == ""
    walk("check models --baseline baseline.json --format sarif -o found.sarif --exit-zero")
    (run,) = json.loads((walk.folder / "found.sarif").read_text("utf-8"))["runs"]
    errors = [r for r in run["results"] if r["level"] == "error"]
    assert [(r["ruleId"], "suppressions" in r) for r in errors] == [
        ("OF201", False),
        ("OF201", True),
    ]
    walk("check missing.bpmn --exit-zero", code=2)
    walk("check models --no-such-option", code=2)

    walk("compile models/leave.bpmn --target n8n -o golden/leave.json")
    walk("compile models/leave.bpmn --target n8n --check golden/leave.json")
    leave = models / "leave.bpmn"
    text = leave.read_text("utf-8")
    renamed = text.replace("Send rejection", "Send refusal")
    assert renamed != text
    leave.write_text(renamed, "utf-8")
    changed = walk("compile models/leave.bpmn --target n8n --check golden/leave.json", code=1)
    assert "Send refusal" in changed.out
