"""Calls of other processes: caller and called workflow run together on n8n's real engine."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from model_gen import random_model
from n8n_scopes import flows
from orgflow.backends.n8n.emit.schema_check import check_schemas
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.engine.runs import RunRequest
from orgflow.backends.n8n.format.versions import N8nVersion
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.backends.n8n.replay.model_runner import ModelRunner
from orgflow.backends.n8n.server.executions.runner import ServerRunner
from orgflow.backends.n8n.verify.verify import verify_process
from orgflow.compiler import compile_model
from orgflow.evaluation.replay import replay_model
from played_models import compiled, faults
from seeds import seeds
from sub_process_models import (
    ANY_ERROR,
    CATALOG,
    ERROR,
    LATE,
    LATER,
    boundary,
    definition,
    end,
    handler,
    process,
    split,
    start,
    sub,
    task,
    throw,
)
from sub_process_models import MODELS as PARTS

from orgflow_ir.flow.token_game.runs import enumerate_runs
from orgflow_ir.model import (
    CallActivity,
    Catalog,
    CatalogEntry,
    Event,
    Expression,
    Model,
    Node,
    Process,
    Task,
)
from orgflow_ir.model.bindings import Parameter, Script, SubProcessCall
from orgflow_ir.model.dialect import Dialect
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.targets.verification import Verdict


def call(id: str = "call", called: str = "q", **more: Any) -> CallActivity:
    return CallActivity(id=id, name="Do it", called=called, **more)


def callee(*last: Node, id: str = "q", prefix: str = "q") -> Process:
    """A step, then a choice: another step and the end, or `last`."""
    names = ("is", "x", "g", "y", "ie")
    s, x, g, y, e = (f"{prefix}_{name}" for name in names)
    (other,) = last or (end(f"{prefix}_no"),)
    nodes = [start(s), task(x), split(g, "exclusive", "OK?"), task(y), end(e), other]
    wires = (f"{s}>{x}", f"{x}>{g}", f"{g}>{y}:yes", f"{g}>{other.id}:no", f"{y}>{e}")
    return Process(id=id, name=f"Part {id}", nodes=tuple(nodes), flows=flows(prefix, *wires))


def with_callee(caller: Model, *called: Process) -> Model:
    processes = (*caller.processes, *(called or (callee(),)))
    return caller.replace(processes=processes, catalog=CATALOG)


def straight(*calls: Node) -> Model:
    ids = ["st", "a", *(c.id for c in calls), "b", "e1"]
    nodes = [start("st"), task("a"), *calls, task("b"), end("e1", "Done")]
    return process(nodes, *(f"{one}>{two}" for one, two in itertools.pairwise(ids)))


def looped() -> Model:
    nodes = [start("st"), split("lp", "exclusive"), call(), task("b")]
    nodes += [split("ag", "exclusive", "Again?"), end("e1")]
    return process(nodes, "st>lp", "lp>call", "call>b", "b>ag", "ag>lp:again", "ag>e1:no")


def beside() -> Model:
    nodes = [start("st"), split("pp", "parallel"), call(), task("b"), split("pj", "parallel")]
    wires = ("st>pp", "pp>call", "pp>b", "call>pj", "b>pj", "pj>e1")
    return process([*nodes, end("e1")], *wires)


def chained() -> Process:
    """A process that calls another."""
    nodes = (start("ms"), call("mc", "q"), task("mt"), end("me"))
    wires = flows("m", "ms>mc", "mc>mt", "mt>me")
    return Process(id="middle", name="Middle", nodes=nodes, flows=wires)


def failing(*events: Event, called: str = "q") -> Model:
    """A call with error events on it, each with a task and an end behind it."""
    nodes: list[Node] = [start("st"), task("a"), call(called=called), task("b"), end("e1", "Done")]
    wires = ["st>a", "a>call", "call>b", "b>e1"]
    for event in events:
        nodes += [event, task(f"r{event.id}"), end(f"f{event.id}", f"Failed {event.id}")]
        wires += [f"{event.id}>r{event.id}", f"r{event.id}>f{event.id}"]
    return process(nodes, *wires)


def on_call(id: str, definitions: Any, at: str = "call") -> Event:
    return boundary(definitions, at=at).replace(id=id)


def failing_inside(*events: Event) -> Model:
    """A call in a sub-process that has error events."""
    inner = sub([start("is"), call(), task("c"), end("ie")], "is>call", "call>c", "c>ie")
    nodes: list[Node] = [start("st"), task("a"), inner, task("b"), end("e1", "Done")]
    wires = ["st>a", "a>sub", "sub>b", "b>e1"]
    for event in events:
        nodes += [event, end(f"f{event.id}", f"Failed {event.id}")]
        wires += [f"{event.id}>f{event.id}"]
    return process(nodes, *wires)


def thrown_beside() -> Model:
    """A sub-process in which both an event and a called process throw."""
    inner = sub(
        [start("is"), call(), split("g2", "exclusive", "Fine?"), end("ie"), end("bad", "", ERROR)],
        "is>call", "call>g2", "g2>ie:yes", "g2>bad:no",
    )  # fmt: skip
    nodes = [start("st"), inner, end("e1"), on_call("bd", ERROR, "sub"), task("c"), end("e2")]
    return process(nodes, "st>sub", "sub>e1", "bd>c", "c>e2")


def handled_by_event_sub_process() -> Model:
    nodes = [start("st"), call(), end("e1"), handler(ERROR)]
    return process(nodes, "st>call", "call>e1")


THROWS = callee(end("ee", "Out", ERROR))
SPECIAL = definition("error", "other")
FAILING: dict[str, Model] = {
    "any error on a call": with_callee(failing(on_call("any", ANY_ERROR)), THROWS),
    "a code on a call": with_callee(failing(on_call("oos", ERROR)), THROWS),
    "another code on a call": with_callee(failing(on_call("oth", SPECIAL)), THROWS),
    "codes and any on a call": with_callee(
        failing(on_call("oth", SPECIAL), on_call("oos", ERROR), on_call("any", ANY_ERROR)), THROWS
    ),
    "any before a code": with_callee(
        failing(on_call("any", ANY_ERROR), on_call("oos", ERROR)), THROWS
    ),
    "a step of what is called": with_callee(failing(on_call("any", ANY_ERROR))),
    "a code of a step of what is called": with_callee(failing(on_call("oos", ERROR))),
    "thrown two calls below": with_callee(
        failing(on_call("oos", ERROR), called="middle"), chained(), THROWS
    ),
    "a step two calls below": with_callee(
        failing(on_call("any", ANY_ERROR), called="middle"), chained(), callee()
    ),
    "a call in a sub-process that throws": with_callee(
        failing_inside(on_call("bd", ERROR, "sub")), THROWS
    ),
    "a call in a sub-process whose steps fail": with_callee(
        failing_inside(on_call("bd", ANY_ERROR, "sub"))
    ),
    "an event and a call throw": with_callee(thrown_beside(), THROWS),
    "an event sub-process for a call": with_callee(handled_by_event_sub_process(), THROWS),
    "an event sub-process for steps of a call": with_callee(handled_by_event_sub_process()),
}
"""Errors of called processes that events of the caller catch."""


ANY_LATE = definition("escalation")
REMARK = throw("rm", LATE, "Remark")


def remarking(*last: Node, id: str = "q", event: Event = REMARK) -> Process:
    """A called process that throws an escalation, goes on, and may end at `last`."""
    part = callee(*last, id=id)
    first = [f.replace(target=event.id) if f.target == f"{id}_x" else f for f in part.flows]
    more = flows(f"{id}r", f"{event.id}>{id}_x")
    return part.replace(nodes=(*part.nodes, event), flows=(*first, *more))


def late(id: str, definitions: Any = LATE, *, interrupting: bool = True, at: str = "call") -> Event:
    return boundary(definitions, at=at, interrupting=interrupting).replace(id=id)


def both_in_one() -> Process:
    """A remark that interrupts nothing, then perhaps an escalation at the end."""
    return remarking(end("ee", "Out", LATER))


def two_ends() -> Process:
    """Every end throws an escalation, each another one."""
    part = callee(end("ee", "Out", LATE))
    ends = tuple(n.replace(definitions=LATER) if n.id == "q_ie" else n for n in part.nodes)
    return part.replace(nodes=ends)


def beside_sub() -> Model:
    """A sub-process in which an event and a called process throw, one after the other."""
    inner = sub(
        [start("is"), call(), split("g2", "exclusive", "Fine?"), end("ie"), end("bad", "", LATE)],
        "is>call", "call>g2", "g2>ie:yes", "g2>bad:no",
    )  # fmt: skip
    nodes = [start("st"), inner, end("e1"), late("bd", at="sub"), task("c"), end("e2")]
    return process(nodes, "st>sub", "sub>e1", "bd>c", "c>e2")


def remarked_in_loop() -> Model:
    nodes = [start("st"), split("lp", "exclusive"), call(), task("b"), late("bd"), task("r")]
    nodes += [split("ag", "exclusive", "Again?"), end("e1")]
    wires = ("st>lp", "lp>call", "call>b", "b>ag", "bd>r", "r>ag", "ag>lp:again", "ag>e1:no")
    return process(nodes, *wires)


OUT = callee(end("ee", "Out", LATE))
ESCALATING: dict[str, Model] = {
    "escalation: any escalation on a call": with_callee(failing(late("any", ANY_LATE)), OUT),
    "escalation: a code on a call": with_callee(failing(late("l")), OUT),
    "escalation: a code on a call that goes on": with_callee(
        failing(late("l", interrupting=False)), OUT
    ),
    "escalation: any on a call that goes on": with_callee(
        failing(late("any", ANY_LATE, interrupting=False)), OUT
    ),
    "escalation: two codes on a call": with_callee(
        failing(late("l"), late("m", LATER, interrupting=False)), two_ends()
    ),
    "escalation: thrown on the way": with_callee(
        failing(late("l", interrupting=False)), remarking()
    ),
    "escalation: on the way and at the end": with_callee(
        failing(late("l", interrupting=False), late("m", LATER)), both_in_one()
    ),
    "escalation: both go on": with_callee(
        failing(late("l", interrupting=False), late("m", LATER, interrupting=False)),
        both_in_one(),
    ),
    "escalation: a code before any": with_callee(
        failing(late("any", ANY_LATE), late("l", interrupting=False)), both_in_one()
    ),
    "escalation: an error and an escalation": with_callee(
        failing(late("l"), on_call("oos", ERROR)),
        callee(end("ee", "Out", LATE)),
    ),
    "escalation: thrown two calls below": with_callee(
        failing(late("l", interrupting=False), called="middle"), chained(), OUT
    ),
    "escalation: caught below": with_callee(
        failing(late("any", ANY_LATE, interrupting=False), called="middle"),
        chained().replace(
            nodes=(*chained().nodes, late("ml", at="mc"), end("mle")),
            flows=(*chained().flows, *flows("ml", "ml>mle")),
        ),
        two_ends(),
    ),
    "escalation: a call in a sub-process": with_callee(failing_inside(late("bd", at="sub")), OUT),
    "escalation: a call in a sub-process that goes on": with_callee(
        failing_inside(late("bd", at="sub", interrupting=False)), OUT
    ),
    "escalation: an event and a call throw an escalation": with_callee(beside_sub(), OUT),
    "escalation: nobody catches it": with_callee(
        straight(call()), remarking(end("ee", "Out", LATE))
    ),
    "escalation: one of two calls catches it": with_callee(
        failing(late("l", interrupting=False)),
        remarking(),
        Process(id="r", name="R", nodes=(start("rs"), call("rc"), end("re")),
                flows=flows("r", "rs>rc", "rc>re")),
    ),
    "escalation: an escalation in a loop": with_callee(remarked_in_loop(), OUT),
}  # fmt: skip
"""Escalations of called processes that events of the caller catch."""


MODELS = {
    **FAILING,
    **ESCALATING,
    "a call": with_callee(straight(call())),
    "the same process twice": with_callee(straight(call(), call("call2"))),
    "a call in a loop": with_callee(looped()),
    "a call in a branch": with_callee(beside()),
    "a call in a sub-process": with_callee(
        straight(sub([start("is"), call(), end("ie")], "is>call", "call>ie"))
    ),
    "a called process that calls": with_callee(
        straight(call(called="middle")), chained(), callee()
    ),
    "an error in what is called": with_callee(straight(call()), callee(end("ee", "", ERROR))),
    "a name with a prefix": with_callee(straight(call(called="tns:q"))),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_engine_runs_it_as_the_token_game_does(
    engine: LocalEngine, registry: Registry, name: str
) -> None:
    model = MODELS[name]
    made, errors = compiled(model, registry)
    assert made is not None, errors
    assert len(made.artifacts) == len(model.processes)
    assert faults(model, made, LocalRunner(engine), registry) == []


@pytest.mark.parametrize("name", [*FAILING, *ESCALATING])
def test_the_engine_model_runs_errors_and_escalations(registry: Registry, name: str) -> None:
    made, _ = compiled(MODELS[name], registry)
    assert made is not None
    report = replay_model(MODELS[name], made, ModelRunner(), PassContext())
    assert [r.divergence or r.error for r in report.runs if r.verdict != "equal"] == []
    assert report.runs


def mapped(**more: Any) -> CallActivity:
    return call(binding=SubProcessCall(**more))


REFUSED = {
    "the process that `${z}` names is known only at run time": straight(call(called="${z}")),
    "it does not name the process that it calls": with_callee(
        straight(call().replace(called=None))
    ),
    "`P` calls itself, and runs of any depth cannot be compared": straight(call(called="p")),
    "does not begin with one plain start event": with_callee(
        straight(call()), callee().replace(nodes=(start("s1"), start("s2")), flows=())
    ),
    "its mapping `y`, `${bean.of(x)}`, is not supported": with_callee(
        straight(mapped(inputs=(Parameter(name="y", text="${bean.of(x)}"),)))
    ),
    "its mapping `a.y`, `x`, is not supported: `a.y` is no variable": with_callee(
        straight(mapped(outputs=(Parameter(name="a.y", text="x"),)))
    ),
    "it reads `y`, which an earlier mapping sets": with_callee(
        straight(
            mapped(
                inputs=(
                    Parameter(name="y", text="=x", language="feel"),
                    Parameter(name="z", text="=y + 1", language="feel"),
                )
            )
        )
    ),
    "code outside the model maps its variables": with_callee(
        straight(mapped(parameters=(("variableMappingClass", "org.acme.Map"),)))
    ),
    "it continues while `Part q` is active": with_callee(
        straight(mapped(parameters=(("waitForCompletion", "false"),)))
    ),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_cannot_be_called_is_refused(registry: Registry, reason: str) -> None:
    made, errors = compiled(REFUSED[reason], registry)
    assert made is None
    assert any(e.startswith("OF403") and reason in e for e in errors), errors


def reading(caller: CallActivity) -> Model:
    """A condition behind a call reads `total`, which the called process may set."""
    nodes = [start("st"), task("a"), caller, split("g", "exclusive"), task("b"), end("e1")]
    model = process([*nodes, end("e2")], "st>a", "a>call", "call>g", "g>b", "g>e2", "b>e1")
    (whole,) = model.processes
    changed = tuple(
        f.replace(condition=Expression(text="${total > 5}"))
        if f.target == "b"
        else f.replace(default=f.target == "e2")
        for f in whole.flows
    )
    simple = Process(
        id="q",
        name="Part q",
        nodes=(start("qs"), task("x"), task("y"), end("qe")),
        flows=flows("q", "qs>x", "x>y", "y>qe"),
    )
    return with_callee(model.replace(processes=(whole.replace(flows=changed),)), simple)


RENAMED = Parameter(name="total", text="${sum}")
OTHER = Parameter(name="other", text="other")
DATA = {
    "everything comes back": (call(), {"total": 9}, True),
    "what was there before stays": (call(), {}, False),
    "under another name": (mapped(outputs=(RENAMED,)), {"sum": 9}, True),
    "what is not taken does not come back": (mapped(outputs=(OTHER,)), {"total": 9}, False),
    "nothing is taken": (mapped(inputs=(OTHER,)), {"total": 9}, False),
    "everything is": (mapped(inputs=(OTHER,), all_results=True), {"total": 9}, True),
    "handing over everything takes nothing": (mapped(all_variables=True), {"total": 9}, False),
    "computed": (mapped(outputs=(Parameter(name="total", text="${sum + 4}"),)), {"sum": 2}, True),
    "computed, in FEEL": (
        mapped(outputs=(Parameter(name="total", text="=sum * 2", language="feel"),)),
        {"sum": 2},
        False,
    ),
    "computed, over everything": (
        mapped(outputs=(Parameter(name="b", text="${sum + 4}"),), all_results=True),
        {"sum": 2, "total": 6},
        True,
    ),
}


@pytest.mark.parametrize("name", DATA)
def test_a_condition_reads_what_was_handed_back(
    engine: LocalEngine, registry: Registry, name: str
) -> None:
    """The task `A` sets 1, the first task of the called process what is in the table; the second
    one hands on an item of its own."""
    caller, sets, taken = DATA[name]
    made, errors = compiled(reading(caller), registry)
    assert made is not None, errors
    main, part = (json.loads(a.text) for a in made.artifacts)
    stubs = {
        "A": {"visits": [{"total": 1}], "mode": "merge"},
        f"{part['id']}/X": {"visits": [sets], "mode": "merge"},
        f"{part['id']}/Y": {"visits": [{"own": True}], "mode": "replace"},
    }
    request = RunRequest(
        main, "Start", items=[{"json": {}}], workflows={part["id"]: part}, stubs=stubs
    )
    (run,) = engine.run_many([request])
    assert run.status == "success", run.error
    assert ("B" in [n.node for n in run.order]) is taken


INPUTS: dict[str, tuple[CallActivity, dict[str, Any]]] = {
    "renamed": (mapped(inputs=(Parameter(name="y", text="${x}"),)), {"y": 5}),
    "computed": (
        mapped(inputs=(Parameter(name="y", text="${x * 2}"), Parameter(name="z", text="x"))),
        {"y": 10, "z": 5},
    ),
    "swapped": (
        mapped(inputs=(Parameter(name="x", text="w"), Parameter(name="w", text="x"))),
        {"x": "w", "w": 5},
    ),
    "a template": (mapped(inputs=(Parameter(name="y", text="No. ${x}"),)), {"y": "No. 5"}),
    "a constant": (
        mapped(inputs=(Parameter(name="y", text="x", language="constant"),)),
        {"y": "x"},
    ),
    "nothing, as the engine does it": (mapped(by="camunda7"), {}),
    "never set": (mapped(inputs=(Parameter(name="y", text="none"),)), {}),
    "beside everything": (
        mapped(inputs=(Parameter(name="y", text="=x", language="feel"),), all_variables=True),
        {"x": 5, "w": "w", "y": 5},
    ),
}


def without_callee(model: Model, registry: Registry) -> tuple[Any, Any]:
    """The workflows of a model without the process that it calls: the caller, and the stub."""
    model = model.replace(processes=model.processes[:1])
    ctx = PassContext(registry=registry)
    backend = registry.backends["n8n"]
    made = compile_model(model, backend, ctx, options={"stubs": "workflow"})
    assert made is not None, ctx.diagnostics
    main, stub = (json.loads(a.text) for a in made.artifacts if a.path.endswith(".json"))
    found = verify_process(
        model, model.processes[0], main, PassContext(registry=registry, options=ctx.options)
    )
    assert found.verdict is Verdict.PROVED
    return main, stub


@pytest.mark.parametrize("name", DATA)
def test_a_condition_reads_what_a_stub_handed_back(
    engine: LocalEngine, registry: Registry, name: str
) -> None:
    """As with the process, whoever fills the workflow that stands for it."""
    caller, sets, taken = DATA[name]
    main, stub = without_callee(reading(caller), registry)
    stubs = {
        "A": {"visits": [{"total": 1}], "mode": "merge"},
        f"{stub['id']}/q": {"visits": [sets], "mode": "merge"},
    }
    request = RunRequest(
        main, "Start", items=[{"json": {}}], workflows={stub["id"]: stub}, stubs=stubs
    )
    (run,) = engine.run_many([request])
    assert run.status == "success", run.error
    assert ("B" in [n.node for n in run.order]) is taken


@pytest.mark.parametrize("name", INPUTS)
def test_a_stub_gets_what_is_mapped(engine: LocalEngine, registry: Registry, name: str) -> None:
    caller, expected = INPUTS[name]
    main, stub = without_callee(straight(caller), registry)
    request = RunRequest(
        main,
        "Start",
        items=[{"json": {"x": 5, "w": "w"}}],
        workflows={stub["id"]: stub},
        data=True,
    )
    (run,) = engine.run_many([request])
    assert run.status == "success", run.error
    (looked,) = (n for n in run.order if n.node == "q")
    assert looked.items == ((expected,),)
    (about,) = (n for n in stub["nodes"] if n["name"] == "About this workflow")
    received = "all process variables" if expected.get("w") == "w" and "x" in expected else ""
    assert (received or "only the inputs of each call below") in about["parameters"]["content"]


@pytest.mark.parametrize("version", ["2.41", "1.123"])
@pytest.mark.parametrize("name", INPUTS)
def test_the_called_process_gets_what_is_mapped(
    engine: LocalEngine, registry: Registry, name: str, version: str
) -> None:
    """What its first step finds."""
    caller, expected = INPUTS[name]
    simple = Process(
        id="q",
        name="Part q",
        nodes=(start("qs"), task("look"), end("qe")),
        flows=flows("q", "qs>look", "look>qe"),
    )
    model = with_callee(straight(caller), simple)
    ctx = PassContext(registry=registry)
    backend = registry.backends["n8n"]
    made = compile_model(model, backend, ctx, options={"version": version})
    assert made is not None, ctx.diagnostics
    main, part = (json.loads(a.text) for a in made.artifacts)
    request = RunRequest(
        main,
        "Start",
        items=[{"json": {"x": 5, "w": "w"}}],
        workflows={part["id"]: part},
        data=True,
    )
    (run,) = engine.run_many([request])
    assert run.status == "success", run.error
    (looked,) = (n for n in run.order if n.node == "LOOK")
    assert looked.items == ((expected,),)
    found = verify_process(
        model, model.processes[0], main, PassContext(registry=registry, options=ctx.options)
    )
    assert found.verdict is Verdict.PROVED


def test_a_mapping_stops_where_nobody_has_set_what_it_computes_with(
    engine: LocalEngine, registry: Registry
) -> None:
    caller = mapped(inputs=(Parameter(name="y", text="${missing + 1}"),))
    made, errors = compiled(with_callee(straight(caller)), registry)
    assert made is not None, errors
    main, part = (json.loads(a.text) for a in made.artifacts)
    request = RunRequest(main, "Start", items=[{"json": {}}], workflows={part["id"]: part})
    (run,) = engine.run_many([request])
    assert run.status == "error"
    assert "“missing” was never set" in str(run.error)


def test_a_server_does_not_play_runs_of_several_workflows(registry: Registry) -> None:
    model = MODELS["a call"]
    made, _ = compiled(model, registry)
    assert made is not None
    client: Any = object()  # nothing is asked of it
    runner = ServerRunner(client, client)
    runner.load(made, "p", PassContext())
    (result,) = runner.play(enumerate_runs(model, "p", max_runs=1).runs)
    assert result.status == "unplayable"
    assert "Part q" in (result.error or "")


def test_n8n_1_runs_them(registry: Registry) -> None:
    """Everything that becomes part of another workflow, or is called, for the last n8n 1."""
    options = {"version": "1.123"}
    for name, model in {**MODELS, **PARTS}.items():
        ctx = PassContext(registry=registry)
        made = compile_model(model, registry.backends["n8n"], ctx, options=options)
        assert made is not None, name
        version = N8nVersion.parse("1.123")
        assert [check_schemas(json.loads(a.text), version=version) for a in made.artifacts] == [
            ()
        ] * len(made.artifacts), name
        for one in model.processes:
            fresh = PassContext(registry=registry, options=options)
            found = verify_process(model, one, made.compiled[one.id].root.workflow, fresh)
            assert found.verdict is Verdict.PROVED, name


def random_caller(seed: int) -> Model:
    """A random process, one or two of whose tasks are calls of another."""
    kinds = ("task", "xor", "and", "or", "loop")
    caller = random_model(seed, 6 + seed % 8, kinds)
    inner = random_model(1000 + seed, 5 + seed % 6, kinds).processes[0]
    nodes = tuple(n.replace(id=f"q_{n.id}") for n in inner.nodes)
    wires = tuple(
        f.replace(id=f"q_{f.id}", source=f"q_{f.source}", target=f"q_{f.target}")
        for f in inner.flows
    )
    (whole,) = caller.processes
    tasks = [n for n in whole.nodes if isinstance(n, Task)]
    chosen = {tasks[seed % len(tasks)].id, tasks[-1].id} if tasks else set()
    changed = tuple(call(n.id) if n.id in chosen else n for n in whole.nodes)
    part = Process(id="q", name="Part q", nodes=nodes, flows=wires)
    return caller.replace(processes=(whole.replace(nodes=changed), part))


@pytest.mark.slow
def test_random_calls(engine: LocalEngine, registry: Registry) -> None:
    runner = LocalRunner(engine)
    for seed in seeds(100):
        model = random_caller(seed)
        made, errors = compiled(model, registry)
        assert made is not None, (seed, errors)
        assert faults(model, made, runner, registry) == [], seed


def script_called(id: str, code: str, *more: Task) -> Process:
    """A process with one script."""
    script = Task(id="s", name="Compute", task_type="script",
                  binding=Script(language="groovy", code=code))  # fmt: skip
    ids = ["qs", *(one.id for one in more), "s", "qe"]
    wires = flows("q", *(f"{one}>{two}" for one, two in itertools.pairwise(ids)))
    return Process(id=id, name="Part", nodes=(start("qs"), *more, script, end("qe")), flows=wires)


THROWING = """if (amount > 100) throw new BpmnError("OOS")
if (amount > 50) throw new BpmnError("NEW", "too much")
total = amount + 1
"""
LAST = {
    # engine → the last node where the script throws a code of an event, another code, and fails
    None: ["Done", "Failed oos", "Failed any", "Failed any"],
    "camunda7": ["Done", "Failed oos", "Failed any", None],
    "camunda8": ["Done", "Failed oos", "Failed any", None],
    "jbpm": ["Done", "Failed oos", "Failed any", "Failed any"],
}


@pytest.mark.parametrize("whose", LAST)
@pytest.mark.parametrize("waits", [False, True])
def test_a_script_throws_to_an_event_on_the_call(
    engine: LocalEngine, registry: Registry, whose: Any, waits: bool
) -> None:
    """Also where the called workflow has waited before; the message is kept."""
    model = failing(on_call("any", ANY_ERROR), on_call("oos", ERROR))
    (whole,) = model.processes
    if whose is not None:
        whole = whole.replace(dialect=Dialect(engine=whose))
    whole = whole.replace(
        nodes=tuple(
            one.replace(binding=SubProcessCall(all_variables=True)) if one.id == "call" else one
            for one in whole.nodes
        )
    )
    more = (Task(id="r", name="Hear", task_type="receive"),) if waits else ()
    part = script_called("q", THROWING, *more)
    model = with_callee(model.replace(processes=(whole,)), part)
    made, errors = compiled(model, registry)
    assert made is not None, errors
    assert faults(model, made, LocalRunner(engine), registry) == []
    main, called = (json.loads(a.text) for a in made.artifacts)
    asked = [
        RunRequest(main, "Start", items=[{"json": item}], workflows={called["id"]: called},
                   data=True)
        for item in ({"amount": 1}, {"amount": 120}, {"amount": 60}, {})
    ]  # fmt: skip
    found = list(engine.run_many(asked))
    ends = [run.order[-1].node if run.status == "success" else None for run in found]
    assert ends == LAST[whose], [run.error for run in found]
    items = found[1].order[-1].items
    assert items is not None
    assert str(items[0][0]["lastError"]).startswith("OOS")
    assert items[0][0]["amount"] == 120


def test_an_error_without_a_code_is_known_by_its_name(
    engine: LocalEngine, registry: Registry
) -> None:
    unnamed = definition("error", "plain")
    entry = CatalogEntry(id="plain", name="No stock: none", code=None)
    for events in ([on_call("bd", unnamed)], [on_call("any", ANY_ERROR)]):
        model = with_callee(failing(*events), callee(end("ee", "", unnamed)))
        model = model.replace(catalog=Catalog(errors=(*CATALOG.errors, entry)))
        caller, part = model.processes
        caller = caller.replace(dialect=Dialect(engine="camunda7"))
        model = model.replace(processes=(caller, part))
        made, errors = compiled(model, registry)
        assert made is not None, errors
        assert faults(model, made, LocalRunner(engine), registry) == []


def no_step_fails() -> Process:
    nodes = (start("qs"), Task(id="u", name="U", task_type="user"), end("qe"))
    return Process(id="q", name="Part q", nodes=nodes, flows=flows("q", "qs>u", "u>qe"))


def branches() -> Process:
    nodes = (start("qs"), split("f", "parallel"), task("x"), task("y"), split("j", "parallel"),
             end("qe"))  # fmt: skip
    wires = flows("q", "qs>f", "f>x", "f>y", "x>j", "y>j", "j>qe")
    return Process(id="q", name="Part q", nodes=nodes, flows=wires)


def remarking_again() -> Process:
    part = remarking()
    back = flows("qb", "q_y>rm")
    return part.replace(flows=(*(f for f in part.flows if f.source != "q_y"), *back))


def throwing_beside() -> Process:
    part = branches()
    ends = tuple(end("qe", "Out", LATE) if n.id == "x" else n for n in part.nodes if n.id != "qe")
    wires = flows("q", "qs>f", "f>qe", "f>y")
    return part.replace(nodes=tuple(n for n in ends if n.id != "j"), flows=wires)


def both_ways() -> Process:
    return remarking(end("ee", "Out", ERROR))


NEVER_THROWN = {
    "no step fails": with_callee(failing(on_call("any", ANY_ERROR)), no_step_fails()),
    "nothing throws": with_callee(failing(late("l"))),
    "caught before": with_callee(failing(late("l"), late("any", ANY_LATE)), OUT),
}
NOT_CAUGHT = {
    "`X` may fail while `Y` may be active": with_callee(
        failing(on_call("any", ANY_ERROR)), branches()
    ),
    "`Remark` is not the last step of the scope that it ends": with_callee(
        failing(late("l")), remarking()
    ),
    "`Remark` may be thrown several times": with_callee(
        failing(late("l", interrupting=False)), remarking_again()
    ),
    "`Out` and `Remark` may both be thrown": with_callee(
        failing(late("l", interrupting=False)), remarking(end("ee", "Out", LATE))
    ),
    "`Out` also ends the process that `Do it` is in": with_callee(
        failing(late("l"), called="middle"), chained(), OUT
    ),
    "`Out` ends its process while `Y` may be active": with_callee(
        failing(late("l")), throwing_beside()
    ),
    "`Do it` may also fail, and then returns no escalations": with_callee(
        failing(late("l", interrupting=False), on_call("oos", ERROR)), both_ways()
    ),
}


@pytest.mark.parametrize("name", NEVER_THROWN)
def test_an_event_on_a_call_that_never_occurs_is_omitted(registry: Registry, name: str) -> None:
    made, errors = compiled(NEVER_THROWN[name], registry)
    assert made is not None, errors


@pytest.mark.parametrize("reason", NOT_CAUGHT)
def test_errors_of_calls_that_are_refused(registry: Registry, reason: str) -> None:
    made, errors = compiled(NOT_CAUGHT[reason], registry)
    assert made is None
    assert any(reason in e for e in errors), errors


@pytest.mark.parametrize(
    "name", ["a code on a call", "a code on a call that goes on", "two codes on a call"]
)
def test_an_escalation_that_leads_elsewhere_is_not_the_model(registry: Registry, name: str) -> None:
    """Where the Switch behind the call is wired past the event, or the call past the Switch."""
    model = ESCALATING[f"escalation: {name}"]
    made, _ = compiled(model, registry)
    assert made is not None
    for kept in ("Do it", "Escalation of Do it?"):
        workflow = json.loads(made.artifacts[0].text)
        wires = workflow["connections"]
        past = wires["Escalation of Do it?"]["main"][-1]
        wires[kept]["main"] = [past for _ in wires[kept]["main"]]
        found = verify_process(model, model.processes[0], workflow, PassContext(registry=registry))
        assert found.verdict is Verdict.DIFFERENT, kept


def test_data_comes_back_with_an_escalation(engine: LocalEngine, registry: Registry) -> None:
    """As in Camunda 7, where the outputs of the call are set also if an escalation ends it."""
    model = ESCALATING["escalation: a code on a call"]
    caller, part = model.processes
    binding = SubProcessCall(
        inputs=(Parameter(name="x", text="amount", language="variable"),),
        outputs=(Parameter(name="total", text="${x + 1}", language="juel"),),
    )
    caller = caller.replace(
        nodes=tuple(n.replace(binding=binding) if n.id == "call" else n for n in caller.nodes)
    )
    decide = Task(
        id="q_x", name="X", task_type="script", binding=Script(language="groovy", code='ok = "no"')
    )
    gates = tuple(
        f.replace(condition=Expression(text="${ok == 'yes'}"))
        if f.target == "q_y"
        else f.replace(condition=Expression(text="${ok == 'no'}"))
        if f.target == "ee"
        else f
        for f in part.flows
    )
    part = part.replace(
        nodes=tuple(decide if n.id == "q_x" else n for n in part.nodes), flows=gates
    )
    model = model.replace(processes=(caller, part))
    made, errors = compiled(model, registry)
    assert made is not None, errors
    main, called = (json.loads(a.text) for a in made.artifacts)
    request = RunRequest(
        main, "Start", items=[{"json": {"amount": 7}}], workflows={called["id"]: called}, data=True
    )
    (run,) = engine.run_many([request])
    last = run.order[-1]
    assert last.node == "Failed l", run.error
    assert last.items is not None
    assert last.items[0][0]["total"] == 8


def test_a_call_without_its_error_output_is_not_the_model(registry: Registry) -> None:
    model = FAILING["a code on a call"]
    made, _ = compiled(model, registry)
    assert made is not None
    workflow = json.loads(made.artifacts[0].text)
    for node in workflow["nodes"]:
        node.pop("onError", None)
    found = verify_process(model, model.processes[0], workflow, PassContext(registry=registry))
    assert found.verdict is Verdict.DIFFERENT
    assert found.difference is not None
    assert "an error of `Do it` ends the run" in found.difference.message
