"""Error boundary events of tasks: the error output of a node leads to them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator

import pytest
from n8n_scopes import flows
from orgflow.backends.n8n.emit.compiled import CompiledProcess
from orgflow.backends.n8n.engine.local import LocalEngine, RunRequest
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.backends.n8n.verify.verify import verify_process
from orgflow.compiler import compile_model
from played_models import compiled, faults
from sub_process_models import (
    ANY_ERROR,
    ERROR,
    boundary,
    definition,
    end,
    process,
    split,
    start,
    sub,
    task,
    within,
)

from orgflow_ir.lowering.inlining import failing_steps_of
from orgflow_ir.model import CallActivity, Event, Expression, Model, Process, SubProcess, Task
from orgflow_ir.model.bindings import Http, Listener, Script, Worker
from orgflow_ir.model.dialect import Dialect, Engine
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

OTHER = definition("error", "other")


def failing(*events: Event, more: tuple[str, ...] = (), middle: Task | None = None) -> Model:
    """A task that may fail between two others, with a task behind each way in which it fails."""
    nodes = [start("st"), task("a"), middle or Task(id="t", name="Call", task_type="service")]
    nodes += [task("b"), end("e1", "Done")]
    wires = ["st>a", "a>t", "t>b", "b>e1", *more]
    for event in events:
        nodes += [event, task(f"x{event.id}"), end(f"e{event.id}", f"Failed {event.id}")]
        wires += [f"{event.id}>x{event.id}", f"x{event.id}>e{event.id}"]
    return process(nodes, *wires)


def on(id: str, definitions: object) -> Event:
    return boundary(definitions, at="t").replace(id=id)  # type: ignore[arg-type]


def again() -> Model:
    """What failed is repaired, and done again."""
    nodes = [
        start("st"), task("a"), split("j", "exclusive"),
        Task(id="t", name="Call", task_type="service"), task("b"), end("e1", "Done"),
        on("any", ANY_ERROR), task("repair"),
    ]  # fmt: skip
    return process(nodes, "st>a", "a>j", "j>t", "t>b", "b>e1", "any>repair", "repair>j")


def decided() -> Model:
    """The task sets what a gateway behind both ways reads."""
    nodes = [
        start("st"), task("a"), Task(id="t", name="Call", task_type="service"),
        on("any", ANY_ERROR), task("c"), split("j", "exclusive"), split("g", "exclusive", "Fine?"),
        task("y"), task("n"), end("e1"), end("e2"),
    ]  # fmt: skip
    return process(
        nodes, "st>a", "a>t", "t>j", "any>c", "c>j", "j>g", "g>y:yes", "g>n:no", "y>e1", "n>e2"
    )


def inside() -> Model:
    """The task is in a sub-process, whose own error event another step leads to."""
    steps = [start("is"), Task(id="t", name="Call", task_type="service"), task("x"), end("ie")]
    steps += [on("oos", ERROR), end("bad", "Bad", OTHER)]
    inner = sub(steps, "is>t", "t>x", "x>ie", "oos>bad")
    return within(inner, boundary(OTHER))


def beside() -> Model:
    """A branch beside another one may fail, and both meet."""
    nodes = [
        start("st"), split("f", "parallel"), Task(id="t", name="Call", task_type="service"),
        task("y"), on("any", ANY_ERROR), task("c"), split("m", "exclusive"), split("j", "parallel"),
        task("z"), end("e1"),
    ]  # fmt: skip
    return process(nodes, "st>f", "f>t", "f>y", "t>m", "any>c", "c>m", "m>j", "y>j", "j>z", "z>e1")


def conditions() -> Model:
    """A gateway behind the error reads what a step before the task has set."""
    found = decided()
    (only,) = found.processes
    flows = [f.replace(name="", condition=None) for f in only.flows]
    for at, flow in enumerate(flows):
        if (flow.source, flow.target) == ("g", "y"):
            flows[at] = flow.replace(condition=Expression(text="${amount > 10}"))
        if (flow.source, flow.target) == ("g", "n"):
            flows[at] = flow.replace(default=True)
    return found.replace(processes=(only.replace(flows=tuple(flows)),))


TRIED_AGAIN = Task(
    id="t", name="Call", task_type="service",
    binding=Http(url="http://127.0.0.1:9/", method="GET", retries="R3/PT0.01S"),
)  # fmt: skip


PLAYED = {
    "tried again": failing(on("any", ANY_ERROR), on("oos", ERROR), middle=TRIED_AGAIN),
    "in a sub-process": inside(),
    "beside another branch": beside(),
    "conditions behind": conditions(),
    "any error": failing(on("any", ANY_ERROR)),
    "a code": failing(on("oos", ERROR)),
    "codes and any": failing(on("any", ANY_ERROR), on("oos", ERROR), on("oth", OTHER)),
    "again": again(),
    "decided behind": decided(),
}


@pytest.fixture
def runner(engine: LocalEngine) -> Iterator[LocalRunner]:
    return LocalRunner(engine)


@pytest.mark.parametrize("name", PLAYED)
def test_the_engine_runs_it_as_the_token_game_does(
    runner: LocalRunner, registry: Registry, name: str
) -> None:
    made, errors = compiled(PLAYED[name], registry)
    assert made is not None, errors
    assert faults(PLAYED[name], made, runner, registry) == []


CODE = """if (amount > 100) throw new BpmnError("OOS")
if (amount > 50) throw new BpmnError("X", "too much")
if (amount > 10) throw new BpmnError("OOSX")
total = amount + 1
"""
SCRIPT = Task(id="t", name="Call", task_type="script", binding=Script(language="groovy", code=CODE))
ENDS = {
    # amount → with events for a code, for two codes and any: the last node, or the error
    1: ("Done", "Done"),
    20: ("OOSX", "Failed any"),
    60: ("X", "Failed oth"),
    120: ("Failed oos", "Failed oos"),
}


def test_a_script_throws_the_error_by_its_code(engine: LocalEngine, registry: Registry) -> None:
    models = (
        failing(on("oos", ERROR), middle=SCRIPT),
        failing(on("any", ANY_ERROR), on("oos", ERROR), on("oth", OTHER), middle=SCRIPT),
    )
    for number, model in enumerate(models):
        made, errors = compiled(model, registry)
        assert made is not None, errors
        one = made.compiled["p"]
        assert isinstance(one, CompiledProcess)
        items = [[{"json": {"amount": amount}}] for amount in ENDS]
        requests = [RunRequest(one.root.workflow, "Start", items=i, data=True) for i in items]
        for run, expected in zip(engine.run_many(requests), ENDS.values(), strict=True):
            if run.status == "error":
                assert (run.error or "").startswith(expected[number])
                continue
            last = run.order[-1]
            assert last.node == expected[number]
            assert last.items is not None
            assert ("lastError" in last.items[0][0]) == (last.node != "Done")


def of_engine(model: Model, engine: Engine) -> Model:
    (only,) = model.processes
    return model.replace(processes=(only.replace(dialect=Dialect(engine=engine)),))


ANY = {
    # engine → where a run ends whose task throws an error, and one whose task fails
    "camunda7": ("Failed any", None),
    "operaton": ("Failed any", None),
    "flowable": ("Failed any", None),
    "activiti": ("Failed any", None),
    "camunda8": ("Failed any", None),
    "jbpm": ("Failed any", "Failed any"),
    None: ("Failed any", "Failed any"),
}


@pytest.mark.parametrize("whose", ANY)
def test_what_an_event_without_a_code_catches(
    engine: LocalEngine, registry: Registry, whose: Engine | None
) -> None:
    """Errors that the process throws, with any code; other failures as the engine has it."""
    for events in ((on("any", ANY_ERROR),), (on("any", ANY_ERROR), on("oos", ERROR))):
        model = failing(*events, middle=SCRIPT)
        if whose is not None:
            model = of_engine(model, whose)
        made, errors = compiled(model, registry)
        assert made is not None, errors
        one = made.compiled["p"]
        assert isinstance(one, CompiledProcess)
        asked = [
            RunRequest(one.root.workflow, "Start", items=[{"json": item}], data=True)
            for item in ({"amount": 20}, {}, {"amount": 1})
        ]
        thrown, failed, done = engine.run_many(asked)
        for run, last in ((thrown, ANY[whose][0]), (failed, ANY[whose][1]), (done, "Done")):
            assert (run.order[-1].node if run.status == "success" else None) == last
        assert failed.status == "success" or "was never set" in (failed.error or "")


@pytest.mark.parametrize("name", PLAYED)
@pytest.mark.parametrize("whose", ["camunda7", "camunda8"])
def test_engines_that_catch_errors_of_the_process_only(
    runner: LocalRunner, registry: Registry, name: str, whose: Engine
) -> None:
    model = of_engine(PLAYED[name], whose)
    made, errors = compiled(model, registry)
    assert made is not None, errors
    assert faults(model, made, runner, registry) == []


def nested_script(*events: Event) -> Model:
    """A script two levels below sub-processes, of which the inner catches one code, and events on
    the outer one, each with its end."""
    own = boundary(OTHER, at="in").replace(id="own")
    script = SCRIPT.replace(id="t")
    inner = sub([start("js"), script, end("je")], "js>t", "t>je", id="in")
    nodes = [start("is"), inner, own, end("ie"), end("fixed", "Fixed")]
    outer = sub(nodes, "is>in", "in>ie", "own>fixed")
    more = [start("st"), outer, end("e1", "Done")]
    wires = ["st>sub", "sub>e1"]
    for event in events:
        more += [event.replace(attached_to="sub"), end(f"e{event.id}", f"Failed {event.id}")]
        wires += [f"{event.id}>e{event.id}"]
    return process(more, *wires)


@pytest.mark.parametrize("whose", ["camunda7", "flowable", "camunda8", None])
def test_a_script_throws_to_the_sub_processes_around_it(
    engine: LocalEngine, registry: Registry, whose: Engine | None
) -> None:
    """The nearest event that catches the code gets the error; an uncaught one stops the run."""
    wanted = {
        "code": ["Done", "error OOSX", "Done, Fixed", "Failed oos"],
        "code and any": ["Done", "Failed any", "Done, Fixed", "Failed oos"],
    }
    for name, events in (
        ("code", [on("oos", ERROR)]),
        ("code and any", [on("oos", ERROR), on("any", ANY_ERROR)]),
    ):
        model = nested_script(*events)
        if whose is not None:
            model = of_engine(model, whose)
        made, errors = compiled(model, registry)
        assert made is not None, errors
        assert faults(model, made, LocalRunner(engine), registry) == []
        one = made.compiled["p"]
        assert isinstance(one, CompiledProcess)
        asked = [
            RunRequest(one.root.workflow, "Start", items=[{"json": {"amount": amount}}], data=True)
            for amount in (1, 20, 60, 120)
        ]
        ends = []
        for run in engine.run_many(asked):
            nodes = [node.node for node in run.order]
            last = nodes[-1] if run.status == "success" else f"error {run.error}"
            ends.append(f"{last}, Fixed" if "Fixed" in nodes else last)
        assert ends == wanted[name]


@pytest.mark.parametrize("whose", ["camunda7", "operaton", "camunda8"])
def test_in_camunda_an_error_without_a_code_stands_for_all(
    engine: LocalEngine, registry: Registry, whose: Engine
) -> None:
    """On the task that throws, and on a sub-process around it; a code goes first."""
    for model, wanted in (
        (failing(on("er", ERROR), middle=SCRIPT), ["Done", "Failed er", "Failed er"]),
        (
            failing(on("er", ERROR), on("oth", OTHER), middle=SCRIPT),
            ["Done", "Failed er", "Failed oth"],
        ),
        (nested_script(on("er", ERROR)), ["Done", "Failed er", "Done"]),
    ):
        errors_of = tuple(e.replace(code=None) if e.id == "er" else e for e in model.catalog.errors)
        catalog = dataclasses.replace(model.catalog, errors=errors_of)
        model = of_engine(model.replace(catalog=catalog), whose)
        made, errors = compiled(model, registry)
        assert made is not None, errors
        assert faults(model, made, LocalRunner(engine), registry) == []
        one = made.compiled["p"]
        assert isinstance(one, CompiledProcess)
        asked = [
            RunRequest(one.root.workflow, "Start", items=[{"json": {"amount": amount}}], data=True)
            for amount in (1, 20, 60)
        ]
        runs = list(engine.run_many(asked))
        assert [run.error for run in runs if run.status != "success"] == []
        assert [run.order[-1].node for run in runs] == wanted


def test_a_script_starts_an_error_event_sub_process(
    engine: LocalEngine, registry: Registry
) -> None:
    """Of the process, from a sub-process in it."""
    begins = Event(id="hs", position="start", definitions=ERROR)
    handler = SubProcess(
        id="h", name="Handle", flavour="event", nodes=(begins, task("fix"), end("he", "Handled")),
        flows=flows("h", "hs>fix", "fix>he"),
    )  # fmt: skip
    inner = sub([start("is"), SCRIPT, end("ie")], "is>t", "t>ie")
    model = process([start("st"), inner, end("e1", "Done"), handler], "st>sub", "sub>e1")
    made, errors = compiled(model, registry)
    assert made is not None, errors
    assert faults(model, made, LocalRunner(engine), registry) == []
    one = made.compiled["p"]
    assert isinstance(one, CompiledProcess)
    asked = [
        RunRequest(one.root.workflow, "Start", items=[{"json": {"amount": amount}}], data=True)
        for amount in (1, 60, 120)
    ]
    done, uncaught, handled = engine.run_many(asked)
    assert (done.status, done.order[-1].node) == ("success", "Done")
    assert (uncaught.status, (uncaught.error or "")[:2]) == ("error", "X:")
    assert (handled.status, handled.order[-1].node) == ("success", "Handled")


@pytest.mark.parametrize("whose", ["camunda7", "camunda8", "flowable"])
@pytest.mark.parametrize(("option", "last"), [("stop", None), ("boundary", "Failed any")])
def test_failures_that_are_left_after_all_retries(
    engine: LocalEngine, registry: Registry, whose: Engine, option: str, last: str | None
) -> None:
    """They are incidents, which no event catches; the option leads them to one without a code."""
    for model in (
        failing(on("any", ANY_ERROR), on("oos", ERROR), middle=SCRIPT),
        nested_script(on("any", ANY_ERROR), on("oos", ERROR)),
    ):
        ctx = PassContext(registry=registry, options={"retries": option})
        made = compile_model(of_engine(model, whose), registry.backends["n8n"], ctx)
        assert made is not None, ctx.diagnostics
        one = made.compiled["p"]
        assert isinstance(one, CompiledProcess)
        (run,) = engine.run_many([RunRequest(one.root.workflow, "Start", items=[{"json": {}}])])
        assert (run.order[-1].node if run.status == "success" else None) == last


def test_a_listener_throws_the_error_of_its_task(engine: LocalEngine, registry: Registry) -> None:
    """At its start and its end; what it does not throw goes on."""
    listeners = tuple(
        Listener(event=event, by="script", language="groovy",
                 target=f'if (amount > {least}) throw new BpmnError("{code}")')
        for event, least, code in (("start", 100, "OOS"), ("end", 10, "Y"))
    )  # fmt: skip
    work = Worker(by="class", target="a.B", listeners=listeners)
    model = failing(
        on("any", ANY_ERROR), on("oos", ERROR),
        middle=Task(id="t", name="Call", task_type="service", binding=work),
    )  # fmt: skip
    made, errors = compiled(model, registry)
    assert made is not None, errors
    one = made.compiled["p"]
    assert isinstance(one, CompiledProcess)
    called = {w["id"]: w for w in (json.loads(a.text) for a in made.artifacts)}
    asked = [
        RunRequest(
            one.root.workflow,
            "Start",
            items=[{"json": {"amount": amount}}],
            workflows=called,
            data=True,
        )
        for amount in (1, 20, 120)
    ]
    runs = list(engine.run_many(asked))
    assert [run.status for run in runs] == ["success"] * 3
    assert [run.order[-1].node for run in runs] == ["Done", "Failed any", "Failed oos"]
    assert faults(model, made, LocalRunner(engine), registry) == []


def test_without_its_error_output_a_node_is_not_the_model(registry: Registry) -> None:
    model = failing(on("any", ANY_ERROR))
    made, _ = compiled(model, registry)
    assert made is not None
    one = made.compiled["p"]
    assert isinstance(one, CompiledProcess)
    for node in one.root.workflow["nodes"]:
        node.pop("onError", None)
    found = verify_process(model, model.processes[0], one.root.workflow, PassContext())
    assert found.verdict.value == "different"
    assert found.difference is not None
    assert "an error of `Call` ends the run" in found.difference.message


@pytest.mark.parametrize("task_type", ["user", "manual", "receive"])
def test_what_waits_reports_no_error(registry: Registry, task_type: str) -> None:
    waiting = Task.validate({"id": "t", "name": "Call", "task_type": task_type})
    made, errors = compiled(failing(on("any", ANY_ERROR), middle=waiting), registry)
    assert made is None
    assert any("the wait at `Call` reports no error to n8n" in e for e in errors), errors


@pytest.mark.parametrize(("task_type", "failing"), [("user", []), ("service", ["call"])])
def test_a_call_fails_if_a_step_of_the_called_process_can(
    task_type: str, failing: list[str]
) -> None:
    call = CallActivity(id="call", called="other")
    inner = sub([start("is"), call, end("ie")], "is>call", "call>ie")
    model = within(inner, boundary(ANY_ERROR))
    step = Task.validate({"id": "t", "task_type": task_type})
    other = Process(id="other", nodes=(start("os"), step), flows=flows("x", "os>t"))
    model = model.replace(processes=(*model.processes, other))
    (event,) = (n for n in model.processes[0].nodes if n.id == "bd")
    assert isinstance(event, Event)
    steps = failing_steps_of(event, inner, model, PassContext())
    assert [s.id for s in steps] == failing
