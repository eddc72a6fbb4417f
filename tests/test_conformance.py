"""The conformance suites of `orgflow_ir.testing`: each kind of breach is caught and said."""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import gettempdir
from typing import Any, ClassVar

import pytest

from orgflow_ir.diagnostics import Category, Rule, Severity
from orgflow_ir.flow.token_game.runs import Run, enumerate_runs
from orgflow_ir.lowering.common import mixed_gateways
from orgflow_ir.model import Model, Opaque, Task
from orgflow_ir.model.verifier import list_violations
from orgflow_ir.pipeline import Pass, PassContext, Stage
from orgflow_ir.plugins import Registry
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.plugins.engines import EngineProvider, EngineStatus
from orgflow_ir.plugins.runners import NodeExecution, Runner, RunResult
from orgflow_ir.targets import Illegal, Legal, TargetSpec
from orgflow_ir.targets.artifact import Artifact, Emitted, Part, SourceMap
from orgflow_ir.testing import ContractError, check_backend, check_pass, check_runs
from orgflow_ir.testing.conformance.minimal_models import minimal_model
from orgflow_ir.testing.conformance.odd_models import HOSTILE, odd_models
from orgflow_ir.testing.conformance.shapes import build_shape, list_shapes

SMALL = [
    ("a task", minimal_model("task.abstract")),
    ("a choice", build_shape("s>x1 x1>A:One x1>e:Two")),
]
TABLE: dict[str, Any] = {
    "task": Legal(),
    "event": Illegal("no others"),
    "event.start.none": Legal(),
    "event.end.none": Legal(),
    "gateway.exclusive": Legal(),
    "flow.sequence": Legal(),
}


class Plain(Backend):
    """A backend without faults, to be given one."""

    name = "plain"
    target = TargetSpec("plain", TABLE)

    def emit(self, model: Model, ctx: PassContext) -> Emitted:
        return Emitted.whole(model, Artifact("a.json", model.to_json()))


def broken(**fields: Any) -> Backend:
    made: Backend = type("Broken", (Plain,), fields)()
    return made


def test_shapes_and_odd_models_are_well_formed(registry: Registry) -> None:
    from orgflow.compiler import check_model

    for name, model in (*list_shapes(), *odd_models()):
        ctx = PassContext(registry=registry)
        check_model(model, ctx)
        assert not ctx.has_errors, (name, ctx.diagnostics)
        assert list_violations(model) == frozenset()
        assert enumerate_runs(model, "process").runs
    assert len(set(HOSTILE)) == len(HOSTILE)


def test_a_backend_without_faults() -> None:
    check_backend(Plain())
    check_backend(Plain(), SMALL, reads_back=Registry(outside=False).frontends["ir"])


def emits(make: Callable[[Model], Any]) -> dict[str, Any]:
    return {"emit": lambda self, model, ctx: make(model)}


def gives(make: Callable[[Model], list[Artifact]]) -> dict[str, Any]:
    return emits(lambda model: Emitted.whole(model, *make(model)))


class Loud(Rule):
    """
    What it finds
        Something.
    Why it is wrong
        It is.
    Example
        This.
    Instead
        That.
    """

    code = "LOUD001"
    name = "loud"
    severity = Severity.INFO
    category = Category.INPUT


def says(message: str) -> dict[str, Any]:
    def emit(self: Backend, model: Model, ctx: PassContext) -> Emitted:
        ctx.emit(Loud, message)
        return Emitted.whole(model, Artifact("a", ""))

    return {"emit": emit, "rules": (Loud,)}


def named(model: Model) -> str:
    return model.processes[0].nodes[1].name


def without_last(model: Model) -> str:
    return " ".join(n.name for p in model.processes for n in p.nodes[:-1])


def labels(model: Model) -> str:
    return " ".join(n.name for s in model.scopes() for n in s.nodes)


def ways(model: Model, *what: str) -> str:
    return " ".join(getattr(f, name) for s in model.scopes() for f in s.flows for name in what)


def task(model: Model) -> str:
    return next(n.id for n in model.processes[0].nodes if isinstance(n, Task))


def maps(parts: Callable[[Model], Any]) -> dict[str, Any]:
    return emits(lambda m: Emitted((Artifact("a", m.to_json()),), SourceMap(m, lambda: parts(m))))


def renames(model: Model) -> Emitted:
    object.__setattr__(model.processes[0], "name", "Other")
    return Emitted.whole(model, Artifact("a", model.to_json()))


def without_stubs(model: Model) -> Emitted:
    if any(isinstance(n, Opaque) for s in model.scopes() for n in s.nodes):
        raise KeyError("Opaque")
    return Emitted.whole(model, Artifact("a", model.to_json()))


def writes(model: Model) -> Emitted:
    with suppress(OSError), open(os.path.join(gettempdir(), "orgflow-conformance"), "w") as file:
        file.write("x")
    return Emitted.whole(model, Artifact("a", model.to_json()))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": "Plain Backend"}, "is not lower-case words joined by hyphens"),
        ({"target": TargetSpec("other", TABLE)}, "its target has the name `other`"),
        ({"target": TargetSpec("plain", TABLE | {"task.usr": Legal()})}, "`task.usr`, which is no"),
        (
            {"target": TargetSpec("plain", TABLE | {"task.usr": Legal(), "split.x": Legal()},
                                  derivations=(mixed_gateways,))},
            "`task.usr`, which is not a construct: `task.user`?",
        ),
        (
            {"target": TargetSpec("plain", TABLE | {"gateway.mixd": Legal()},
                                  derivations=(mixed_gateways,))},
            "`gateway.mixd`, which is not a construct: `gateway.mixed`?",
        ),
        ({"target": TargetSpec("plain", TABLE | {"lane": Illegal("")})}, "reason for `lane`"),
        ({"target": TargetSpec("plain", TABLE, options={"x": ["a"]})}, "of its option `x`"),
        (emits(lambda m: 1 / 0), "raised ZeroDivisionError"),
        (emits(lambda m: sys.exit(3)), "raised SystemExit: 3"),
        (emits(lambda m: Emitted.whole(m)), "emitted nothing and reported nothing"),
        (emits(lambda m: ("a", "b")), "not an `Emitted`"),
        (emits(lambda m: ("a", "b" * 500)), "bbb…, not an `Emitted`"),
        (gives(lambda m: [Artifact("a", "\ud800")]), "cannot be written as UTF-8"),
        (gives(lambda m: [Artifact(named(m), "")]), "every file system supports"),
        (gives(lambda m: [Artifact("A", ""), Artifact("a", "")]), "two files have the same path"),
        (gives(lambda m: [Artifact(named(m).encode("ascii").decode(), "")]), "UnicodeEncodeError"),
        (gives(lambda m: [Artifact("a", "same")]), "returns the same text for all of 2"),
        (gives(lambda m: [Artifact("a", without_last(m))]), "omits a task: `Do LastOfAll`"),
        (emits(lambda m: writes(m)), "`emit` writes to disk itself: "),
        (gives(lambda m: [Artifact("a", m.to_json().encode())]), "of an `Artifact` are text"),
        (
            gives(lambda m: [Artifact("a", labels(m) + ways(m, "source", "name"))]),
            "omits targets of flows",
        ),
        (
            gives(lambda m: [Artifact("a", labels(m) + ways(m, "source", "target"))]),
            "omits labels of flows",
        ),
        (
            gives(lambda m: [Artifact("a", labels(m) + ways(m, "source", "target", "name"))]),
            "omits implementations of tasks: the output contains nothing of the bindings `http`, "
            "`script`, `decision`",
        ),
        (gives(lambda m: [Artifact("a", f"{time.time():.0f}"[:4] + m.to_json())]), "the clock"),
        (gives(lambda m: [Artifact("a", os.getcwd() + m.to_json())]), "reads its folder"),
        (
            gives(lambda m: [Artifact("a", os.environ.get("LANG", "") + m.to_json())]),
            "reads the environment variable LANG",
        ),
        (gives(lambda m: [Artifact("a", m.to_json()[: random.choice((-1, -1))])]), "reads chance"),
        (emits(lambda m: print("made") or Emitted.whole(m, Artifact("a", m.to_json()))), "prints"),
        (emits(lambda m: renames(m)), "it changed its input model"),
        (maps(lambda m: 1 / 0), "its source map raised ZeroDivisionError"),
        (maps(lambda m: []), "has no part in its source map"),
        (maps(lambda m: [Part("a", "", "file", [task(m)])]), "with texts and a tuple of ids"),
        (
            maps(lambda m: [Part("a", place, "element", (task(m),)) for place in "xy"]),
            "only one may, others need another role",
        ),
        (
            {"target": TargetSpec("plain", {**TABLE, "stub": Legal()}),
             **gives(lambda m: [Artifact("a", labels(m) + ways(m, "source", "target", "name"))])},
            "it does not show the reason in `Opaque.stops`",
        ),
        (
            {"target": TargetSpec("plain", {**TABLE, "stub": Legal()}),
             **emits(lambda m: without_stubs(m))},
            "with unsupported=stub it raised KeyError",
        ),
        (
            {"rules": (Loud,), "lint": lambda self, source, ctx: ctx.emit(
                Loud, "it is odd", severity=Severity.WARNING)},
            "its own validation of its output reports LOUD001: it is odd",
        ),
        (says("It is wrong"), "begins with a capital letter"),
        (says("it is wrong."), "without a full stop"),
        (says("one\ntwo"), "is not one line"),
        ({**says("this"), "rules": ()}, "LOUD001 is not among its rules"),
        ({"rules": [Loud]}, "`rules` is a list"),
        ({"rules": (type("Bare", (Rule,), dict(vars(Loud), __doc__="")),)}, "needs the sections"),
        (
            {"rules": (type("Bare", (Rule,), dict(vars(Loud), __doc__="What it finds:\n  A")),)},
            "indented text; the line 'What it finds:' is neither a section",
        ),
        ({"rules": (type("Odd", (Loud,), {"code": "loud-1"}),)}, "is not capital letters"),
    ],
)  # fmt: skip
def test_a_backend_with_a_fault(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ContractError, match=r"(?s)`[Pp]lain.*breaks its contract") as caught:
        check_backend(broken(**fields), SMALL)
    assert said in str(caught.value)


def test_a_table_that_says_more_than_is_done() -> None:
    """A lowering that the matrix speaks of and that does not happen; a refusal that does not."""
    from orgflow_ir.lowering.common import LOWERINGS

    lazy = type("Lazy", (type(LOWERINGS[0]),), {"consumes": ("task.user",), "loses": None})()
    spec = TargetSpec("plain", {**TABLE, "task.user": Illegal("no people")}, lowerings=(lazy,))
    with pytest.raises(ContractError, match=r"task\.user: the matrix states lowered, but"):
        check_backend(broken(target=spec), [("task.user", minimal_model("task.user"))])


def test_what_is_read_back_is_what_was_written() -> None:
    ir = Registry(outside=False).frontends["ir"]
    lossy = gives(lambda m: [Artifact("a.json", m.replace(doc="lost").to_json())])
    with pytest.raises(ContractError, match="reads it back as a different model: `doc` was ''"):
        check_backend(broken(**lossy), SMALL, reads_back=ir)
    with pytest.raises(ContractError, match="`ir` cannot read it back"):
        check_backend(broken(**gives(lambda m: [Artifact("a", "{")])), SMALL, reads_back=ir)


SETS = """
from orgflow_ir.targets.artifact import Artifact, Emitted
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.targets import Legal, TargetSpec
from orgflow_ir.model.constructs import CONSTRUCTS

class Sets(Backend):
    name = "sets"
    target = TargetSpec("sets", {name.split(".")[0]: Legal() for name in CONSTRUCTS})

    def emit(self, model, ctx):
        ids = " ".join({n.id for s in model.scopes() for n in s.nodes})
        return Emitted.whole(model, Artifact("a", ids + model.to_json()))
"""


def test_what_depends_on_the_time_zone_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = SETS.replace("ids = ", "import time; ids = time.tzname[0]  # ")
    (tmp_path / "zones_backend.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ContractError, match="another PYTHONHASHSEED, time zone"):
        check_backend(__import__("zones_backend").Sets())


def test_the_order_of_a_set_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sets_backend.py").write_text(SETS)
    monkeypatch.syspath_prepend(tmp_path)
    backend: Backend = __import__("sets_backend").Sets()
    with pytest.raises(ContractError, match="another PYTHONHASHSEED, time zone"):
        check_backend(backend)
    (tmp_path / "sets_backend.py").write_text(SETS.replace("{n.id", "sorted({n.id").replace(
        "s.nodes})", "s.nodes}))"
    ))  # fmt: skip
    monkeypatch.delitem(__import__("sys").modules, "sets_backend")
    check_backend(__import__("importlib").import_module("sets_backend").Sets())


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.json", '{"name": "%s"}'),
        ("a.svg", "<svg><text>%s</text></svg>"),
        ("a.bpmn", '<a name="%s"/>'),
        ("a.toml", 'name = "%s"'),
    ],
)
def test_labels_that_are_not_escaped_are_caught(path: str, text: str) -> None:
    def emit(self: Backend, model: Model, ctx: PassContext) -> Emitted:
        labels = [n.name for s in model.scopes() for n in s.nodes]
        return Emitted.whole(model, Artifact(path, text % " ".join([model.id, *labels])))

    with pytest.raises(ContractError, match="is a label in it not escaped"):
        check_backend(broken(emit=emit), SMALL)


# -- runs ------------------------------------------------------------------------------------


class Playing(Runner):
    """Plays runs by reading them off the token game, with a fault where it is asked for."""

    fault: ClassVar[str] = ""
    closed: ClassVar[int] = 0

    def load(self, emitted: Emitted, process: str, ctx: PassContext) -> None:
        model = Model.from_json(emitted.artifacts[0].text)
        self.process = next(p for p in model.processes if p.id == process)

    @property
    def visible(self) -> frozenset[str]:
        return frozenset(n.id for n in self.process.nodes)

    @property
    def changed(self) -> tuple[str, ...]:
        return ()

    def play(self, runs: Iterable[Run]) -> Iterator[RunResult]:
        for run in runs:
            did = [s.element for s in run.steps if s.action != "done"]
            if self.fault == "swapped" and len(did) > 2:
                did[1], did[2] = did[2], did[1]
            if self.fault == "short":
                did = did[:-1]
            if self.fault == "twice":
                did = did + did[-1:]
            if self.fault == "unplayable":
                yield RunResult("unplayable", error="no data")
                continue
            status = "error" if self.fault == "failed" else "success"
            if self.fault != "missing":
                yield RunResult(status, tuple(NodeExecution(e, e) for e in did))

    def close(self) -> None:
        Playing.closed += 1


class Engines(EngineProvider):
    """The engines of a target that has one on this machine, with nothing to install."""

    def __init__(self, runner: Callable[[], Runner]) -> None:
        self._runner = runner

    def runner(self) -> Runner:
        return self._runner()

    def status(self) -> EngineStatus:
        return EngineStatus(True, {})

    def install(self, on_line: Callable[[str], None], **more: Any) -> str:
        return ""


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("swapped", "which is not a run of the model"),
        ("short", "which is not a run of the model"),
        ("twice", "which is not a run of the model"),
        ("failed", "it ended with error, not success"),
        ("unplayable", "none of its 1 runs can be executed: no data"),
        ("missing", "0 results were returned for 1 runs"),
    ],
)
def test_runs_that_differ_are_caught(fault: str, said: str) -> None:
    runner = type("Faulty", (Playing,), {"fault": fault})
    before = Playing.closed
    with pytest.raises(ContractError, match=said):
        check_backend(broken(engines=lambda self: Engines(runner)), SMALL)
    assert Playing.closed == before + 1


def test_runs_that_are_the_models() -> None:
    assert check_runs(broken(engines=lambda self: Engines(Playing))) > 20
    assert check_runs(Plain()) == 0
    refused = [("a user task", minimal_model("gateway.complex"))]
    with pytest.raises(ContractError, match="no model that it can execute"):
        check_runs(broken(engines=lambda self: Engines(Playing)), refused)


# -- passes ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Look(Pass):
    """A pass without faults, to be given one."""

    name: ClassVar[str] = "look"
    stage: ClassVar[Stage] = Stage.ANALYSE
    rules: ClassVar[tuple[type[Rule], ...]] = ()
    most: int = 3

    def run(self, model: Model, ctx: PassContext) -> Model:
        return model


def _renamed(model: Model) -> Model:
    return model.replace(name=model.name + "x")


def _doubled(model: Model) -> Model:
    (process, *rest) = model.processes
    more = (*process.nodes, Task(id=process.nodes[0].id))
    return model.replace(processes=(process.replace(nodes=more), *rest))


COUNTER = iter(range(1_000_000))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"run": lambda self, m, ctx: 1 / 0}, "raised ZeroDivisionError"),
        ({"run": lambda self, m, ctx: sys.exit(3)}, "raised SystemExit: 3"),
        ({"run": lambda self, m, ctx: None}, "`run` returned None, not a model"),
        ({"run": lambda self, m, ctx: m.replace()}, "must return the same object"),
        ({"run": lambda self, m, ctx: _renamed(m), "stage": Stage.LOWER}, "changes its own result"),
        ({"run": lambda self, m, ctx: _doubled(m), "stage": Stage.LOWER}, "occurs more than once"),
        (
            {"run": lambda self, m, ctx: m.replace(name=str(next(COUNTER))), "stage": Stage.LOWER},
            "its result for the same model differs",
        ),
        ({"stage": 1}, "not a `Stage`"),
        ({"name": "Look"}, "is not lower-case words"),
    ],
)
def test_a_pass_with_a_fault(fields: dict[str, Any], said: str) -> None:
    check_pass(Look())
    faulty = dataclass(frozen=True)(type("Faulty", (Look,), {**fields, "__annotations__": {}}))
    with pytest.raises(ContractError) as caught:
        check_pass(faulty())
    assert said in str(caught.value)


def test_a_pass_whose_options_are_no_text() -> None:
    @dataclass(frozen=True)
    class Listed(Look):
        names: tuple[str, ...] = field(default=("a",))

    with pytest.raises(ContractError, match="its pipeline text"):
        check_pass(Listed(names=("b", "c")))
