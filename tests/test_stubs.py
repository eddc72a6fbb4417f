"""`unsupported=stub`: what a target does not support becomes a stop, and the rest compiles."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.commands.run_table import report_text
from orgflow.compilation.target_choice import check_target_options
from orgflow.compiler import compile_model
from orgflow.evaluation.failures import by_replay
from orgflow.evaluation.page import render_page
from orgflow.evaluation.page_model import NodeTable
from orgflow.evaluation.page_runs import replay_page
from orgflow.evaluation.replay import ReplayReport, StubPart, judge_run, replay_model
from orgflow.frontends.bpmn.frontend import BpmnFrontend

from orgflow_ir.diagnostics import Severity
from orgflow_ir.flow.token_game.runs import enumerate_runs
from orgflow_ir.flow.token_game.semantics import Game, Policy
from orgflow_ir.legalisation.legalise import legalise
from orgflow_ir.model import Model, Opaque
from orgflow_ir.model.source import SourceFile
from orgflow_ir.model.verifier import list_violations
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.plugins.runners import NodeExecution, RunResult
from orgflow_ir.targets import Illegal, Legal, TargetSpec
from orgflow_ir.targets.artifact import Emitted
from orgflow_ir.testing.conformance.minimal_models import minimal_models

REGISTRY = Registry(outside=False)
STUB = {"unsupported": "stub"}

HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" targetNamespace="t" id="d">'
)


def read(process: str) -> Model:
    text = f'{HEAD}<process id="p" name="Order">{process}</process></definitions>'
    model = BpmnFrontend().parse(SourceFile("order.bpmn", text.encode()), PassContext())
    assert model is not None
    return model


def line(*steps: str, boundary: str = "") -> Model:
    """Elements one after the other, and what hangs on them."""
    ids = [f"n{number}" for number in range(len(steps))]
    nodes = "".join(s.replace("ID", id) for s, id in zip(steps, ids, strict=True))
    flows = "".join(
        f'<sequenceFlow id="f_{a}" sourceRef="{a}" targetRef="{b}"/>' for a, b in pairwise(ids)
    )
    return read(nodes + boundary + flows)


START, END = '<startEvent id="ID" name="Came"/>', '<endEvent id="ID" name="Done"/>'
CHECK, SHIP = '<task id="ID" name="Check"/>', '<task id="ID" name="Ship"/>'
PACK = (
    '<adHocSubProcess id="ID" name="Pack"><task id="box" name="Box"/><task id="tape"/>'
    '<task id="tag"/><sequenceFlow id="i1" sourceRef="box" targetRef="tape"/>'
    '<sequenceFlow id="i2" sourceRef="box" targetRef="tag"/></adHocSubProcess>'
)


def compiled(model: Model, target: str, **options: str) -> tuple[Emitted | None, PassContext]:
    ctx = PassContext(registry=REGISTRY)
    emitted = compile_model(model, REGISTRY.backends[target], ctx, options=options)
    return emitted, ctx


def stubbed(model: Model, target: str) -> tuple[dict[str, Any], PassContext]:
    emitted, ctx = compiled(model, target, unsupported="stub")
    assert emitted is not None, [d.message for d in ctx.diagnostics]
    return json.loads(emitted.artifacts[0].text), ctx


def found(ctx: PassContext, code: str = "OF407") -> list[str]:
    return [d.message for d in ctx.diagnostics if d.code == code]


def types(workflow: dict[str, Any]) -> dict[str, str]:
    return {n["name"]: n["type"].rpartition(".")[2] for n in workflow["nodes"]}


def after(workflow: dict[str, Any], name: str) -> list[str]:
    outputs = workflow["connections"].get(name, {"main": []})["main"]
    return [wire["node"] for output in outputs for wire in output]


def reached(workflow: dict[str, Any]) -> set[str]:
    """Names of nodes that wires lead to from a trigger."""
    triggers = ("manualTrigger", "formTrigger", "webhook", "scheduleTrigger")
    work = [name for name, kind in types(workflow).items() if kind in triggers]
    seen = set(work)
    while work:
        for name in after(workflow, work.pop()):
            if name not in seen:
                seen.add(name)
                work.append(name)
    return seen


# -- the option ----------------------------------------------------------------------------------


def test_what_is_not_supported_is_refused_unless_stubs_are_asked_for() -> None:
    model = line(START, PACK, SHIP, END)
    emitted, ctx = compiled(model, "n8n")
    assert emitted is None
    (refusal,) = (d for d in ctx.diagnostics if d.code == "OF403")
    assert refusal.help is not None
    assert "n8n{unsupported=stub}" in refusal.help
    emitted, ctx = compiled(model, "n8n", unsupported="stub")
    assert emitted is not None
    (stub,) = (d for d in ctx.diagnostics if d.code == "OF407")
    assert stub.severity is Severity.WARNING
    assert stub.element == "n1"
    assert stub.message.startswith("orgflow does not support `Pack` (sub-process.ad-hoc) on n8n")


class _Table:
    def __init__(self, **more: Any) -> None:
        self.spec = TargetSpec(name="own", constructs={"event": Legal(), "flow": Legal(), **more})


def test_a_target_of_a_plugin_has_the_option_where_its_table_supports_stubs() -> None:
    assert "unsupported" not in _Table().spec.options
    spec = _Table(stub=Legal("a failing step"), task=Illegal("it does no work")).spec
    assert spec.options["unsupported"] == ("refuse", "stub")
    ctx = PassContext(target=spec, options=STUB)
    legal = legalise(line(START, CHECK, END), spec, ctx, allow_lossy=False)
    assert [n.construct for n in legal.processes[0].nodes][1] == "stub"
    assert found(ctx) == [
        "`Check` (task.abstract) is not supported for own: it does no work; a run that reaches it "
        "stops"
    ]


@pytest.mark.parametrize("target", ["asl", "n8n"])
def test_targets_that_run_have_the_option(target: str) -> None:
    assert check_target_options(REGISTRY.backends[target], STUB) == STUB


def _refused(target: str) -> Iterator[tuple[str, Model]]:
    for construct, model in minimal_models():
        if compiled(model, target)[0] is None:
            yield construct, model


@pytest.mark.parametrize("target", ["asl", "n8n"])
def test_every_construct_that_is_refused_compiles_with_stubs(target: str) -> None:
    """But for errors of the flow, which no target is the reason of."""
    models = list(_refused(target))
    assert len(models) > 20
    for construct, model in models:
        emitted, ctx = compiled(model, target, unsupported="stub")
        errors = [d for d in ctx.diagnostics if d.severity is Severity.ERROR]
        assert not [d.message for d in errors if d.code.startswith(("OF4", "OF9"))], construct
        assert errors or emitted is not None, construct


@pytest.mark.parametrize("target", ["asl", "n8n"])
def test_stubs_make_no_broken_models(target: str) -> None:
    models = list(minimal_models())
    assert len(models) > 60
    for construct, model in models:
        spec = REGISTRY.backends[target].target
        ctx = PassContext(target=spec, options={**spec.default_options, **STUB})
        legal = legalise(model, spec, ctx, allow_lossy=False)
        assert list_violations(legal) <= list_violations(model), construct


# -- how things are cut out, on n8n --------------------------------------------------------------


def test_a_step_becomes_a_stop_and_a_placeholder_that_leads_on() -> None:
    workflow, _ = stubbed(line(START, PACK, SHIP, END), "n8n")
    assert after(workflow, "Came") == ["Stop: Pack"]
    assert types(workflow)["Stop: Pack"] == "stopAndError"
    assert types(workflow)["Pack"] == "noOp"
    assert after(workflow, "Pack") == ["Ship"]
    stop = next(n for n in workflow["nodes"] if n["name"] == "Stop: Pack")
    assert "`Pack` (sub-process.ad-hoc)" in stop["parameters"]["errorMessage"]


def test_a_time_that_may_interrupt_a_step_is_omitted_and_named() -> None:
    """The step runs; what the event leads to stays, unconnected."""
    late = (
        '<boundaryEvent id="late" name="Late" attachedToRef="n1"><timerEventDefinition>'
        '<timeDuration>P3D</timeDuration></timerEventDefinition></boundaryEvent><task id="sorry" '
        'name="Apologise"/><sequenceFlow id="l" sourceRef="late" targetRef="sorry"/>'
    )
    by_service = CHECK.replace("<task", "<serviceTask")
    workflow, ctx = stubbed(line(START, by_service, END, boundary=late), "n8n")
    assert reached(workflow) == {"Came", "Check", "Done"}
    assert after(workflow, "Late") == ["Apologise"]
    (message,) = found(ctx)
    assert message.startswith("orgflow does not support `Late` (event.boundary.timer)")
    assert message.endswith("; it is omitted, and `Check` continues as if it never occurred")


def test_an_error_that_is_not_caught_fails_the_run_in_any_case() -> None:
    failed = (
        '<boundaryEvent id="failed" name="Failed" attachedToRef="n1"><errorEventDefinition/>'
        '</boundaryEvent><task id="sorry" name="Apologise"/>'
        '<sequenceFlow id="l" sourceRef="failed" targetRef="sorry"/>'
    )
    by_hand = CHECK.replace("<task", "<manualTask")
    workflow, ctx = stubbed(line(START, by_hand, END, boundary=failed), "n8n")
    assert reached(workflow) == {"Came", "Check", "Done"}
    assert after(workflow, "Failed") == ["Apologise"]
    assert found(ctx)[0].endswith("; it is omitted, and an error in `Check` fails the run")


def test_a_start_that_is_not_supported_becomes_a_manual_one() -> None:
    start = '<startEvent id="ID" name="Called"><conditionalEventDefinition/></startEvent>'
    workflow, ctx = stubbed(line(start, CHECK, END), "n8n")
    assert types(workflow)["Called"] == "manualTrigger"
    assert after(workflow, "Called") == ["Check"]
    assert found(ctx)[0].endswith("; the process is started manually")


def test_an_event_sub_process_is_omitted_and_named() -> None:
    handler = (
        '<subProcess id="h" name="Cancelled" triggeredByEvent="true"><startEvent id="hs">'
        '<messageEventDefinition/></startEvent><endEvent id="he"/>'
        '<sequenceFlow id="hf" sourceRef="hs" targetRef="he"/></subProcess>'
    )
    model = line(START, CHECK, END, boundary=handler)
    emitted, ctx = compiled(model, "n8n", unsupported="stub", version="1.123")
    assert emitted is not None
    assert reached(json.loads(emitted.artifacts[0].text)) == {"Came", "Check", "Done"}
    assert found(ctx)[0].endswith("; it is omitted, and `Order` continues as if it never occurred")


def test_a_join_waits_for_the_branch_of_a_stub() -> None:
    """Its input stays wired, so that nothing behind it runs before the stop."""
    model = read(
        '<startEvent id="s" name="Came"/><parallelGateway id="fork"/><task id="a" name="A"/>'
        '<adHocSubProcess id="b" name="B"/><parallelGateway id="join" name="Both"/>'
        '<endEvent id="e" name="Done"/>'
        + "".join(
            f'<sequenceFlow id="f{number}" sourceRef="{source}" targetRef="{target}"/>'
            for number, (source, target) in enumerate(
                (("s", "fork"), ("fork", "a"), ("fork", "b"), ("a", "join"), ("b", "join"),
                 ("join", "e"))
            )
        )
    )  # fmt: skip
    workflow, _ = stubbed(model, "n8n")
    inputs = {
        wire["index"]
        for source in ("A", "B")
        for output in workflow["connections"][source]["main"]
        for wire in output
    }
    assert inputs == {0, 1}


def test_message_flows_between_processes_are_left_out() -> None:
    text = (
        f'{HEAD}<collaboration id="c"><participant id="pa" processRef="a"/>'
        '<participant id="pb" processRef="b"/>'
        '<messageFlow id="m" name="order" sourceRef="send" targetRef="tb"/></collaboration>'
        '<process id="a" name="Buyer"><startEvent id="sa"/><sendTask id="send" name="Send"/>'
        '<sequenceFlow id="fa" sourceRef="sa" targetRef="send"/></process>'
        '<process id="b" name="Seller"><startEvent id="sb" name="Order came">'
        '<messageEventDefinition/></startEvent><receiveTask id="tb" name="Pack"/>'
        '<sequenceFlow id="fb" sourceRef="sb" targetRef="tb"/></process></definitions>'
    )
    model = BpmnFrontend().parse(SourceFile("two.bpmn", text.encode()), PassContext())
    assert model is not None
    emitted, ctx = compiled(model, "n8n", unsupported="stub", version="1.123")
    assert emitted is not None
    assert len(emitted.artifacts) == 2
    assert len(found(ctx)) == 1
    assert found(ctx)[0].endswith("; the processes are not connected")


# -- verify --------------------------------------------------------------------------------------


def _verified(model: Model, change: dict[str, str] | None = None) -> Any:
    emitted, _ = compiled(model, "n8n", unsupported="stub")
    assert emitted is not None
    workflow = json.loads(emitted.artifacts[0].text)
    for name, target in (change or {}).items():
        workflow["connections"][name]["main"] = [[{"node": target, "type": "main", "index": 0}]]
    source = SourceFile("order.json", json.dumps(workflow).encode())
    quiet = PassContext(registry=REGISTRY, options=STUB)
    (result,) = REGISTRY.backends["n8n"].verify(model, source, quiet) or ()
    return result


def test_a_run_that_stops_at_a_stub_is_right_and_what_follows_is_not_judged() -> None:
    result = _verified(line(START, CHECK, PACK, SHIP, END))
    assert result.verdict == "proved"
    assert any("`Stop: Pack`" in text for text in result.assumed)


def test_a_run_that_stops_where_the_model_has_no_stub_is_different() -> None:
    result = _verified(line(START, CHECK, PACK, SHIP, END), {"Came": "Stop: Pack"})
    assert result.verdict == "different"
    assert "`Stop: Pack`" in result.difference.message


def test_what_is_before_a_stub_is_judged() -> None:
    result = _verified(line(START, CHECK, SHIP, PACK, END), {"Came": "Ship", "Ship": "Check",
                                                            "Check": "Stop: Pack"})  # fmt: skip
    assert result.verdict == "different"


# -- state machines ------------------------------------------------------------------------------


def test_a_state_machine_fails_at_a_stub_and_has_no_state_behind_it() -> None:
    machine, _ = stubbed(line(START, CHECK, PACK, SHIP, END), "asl")
    assert machine["States"]["Pack"]["Type"] == "Fail"
    assert "`Pack`" in machine["States"]["Pack"]["Cause"]
    assert set(machine["States"]) == {"Came", "Check", "Pack"}


def test_no_handler_of_errors_catches_a_stub() -> None:
    sub = (
        '<subProcess id="ID" name="Handle"><startEvent id="is"/><adHocSubProcess id="b" name="B"/>'
        '<sequenceFlow id="if" sourceRef="is" targetRef="b"/></subProcess>'
    )
    caught = (
        '<boundaryEvent id="x" name="Failed" attachedToRef="n1"><errorEventDefinition/>'
        '</boundaryEvent><endEvent id="xe" name="Gave up"/>'
        '<sequenceFlow id="xf" sourceRef="x" targetRef="xe"/>'
    )
    machine, _ = stubbed(line(START, sub, END, boundary=caught), "asl")
    state = machine["States"]["Handle"]
    errors = [(c["ErrorEquals"], machine["States"][c["Next"]]["Type"]) for c in state["Catch"]]
    assert (["NotSupported"], "Fail") in errors
    assert errors.index((["NotSupported"], "Fail")) < [e for e, _ in errors].index(["States.ALL"])


def test_a_stub_has_the_reason_in_the_model() -> None:
    spec = REGISTRY.backends["n8n"].target
    ctx = PassContext(target=spec, options={**spec.default_options, **STUB})
    legal = legalise(line(START, PACK, END), spec, ctx, allow_lossy=False)
    (stub,) = (n for n in legal.processes[0].nodes if isinstance(n, Opaque))
    assert (stub.id, stub.origin, stub.derived_from) == ("n1", "unsupported-stub", ("n1",))
    assert stub.stops == (
        "orgflow does not support `Pack` (sub-process.ad-hoc) on n8n yet: steps without an order "
        "are not supported"
    )
    assert Model.from_json(legal.to_json()) == legal


# -- runs ------------------------------------------------------------------------------------------

CHOICE = (
    '<startEvent id="s" name="Came"/><task id="check" name="Check"/>'
    '<exclusiveGateway id="g" name="In stock?"/>'
    '<adHocSubProcess id="pack" name="Pack"><task id="box" name="Box"/></adHocSubProcess>'
    '<task id="ship" name="Ship"/><endEvent id="e" name="Done"/>'
    '<endEvent id="no" name="Cancelled"/>'
    '<sequenceFlow id="f1" sourceRef="s" targetRef="check"/>'
    '<sequenceFlow id="f2" sourceRef="check" targetRef="g"/>'
    '<sequenceFlow id="yes" name="yes" sourceRef="g" targetRef="pack"/>'
    '<sequenceFlow id="f3" name="no" sourceRef="g" targetRef="no"/>'
    '<sequenceFlow id="f4" sourceRef="pack" targetRef="ship"/>'
    '<sequenceFlow id="f5" sourceRef="ship" targetRef="e"/>'
)


def replayed(target: str, engine: LocalEngine) -> tuple[Model, ReplayReport]:
    model = read(CHOICE)
    made, ctx = compiled(model, target, **STUB)
    assert made is not None
    if target == "n8n":
        return model, replay_model(model, made, LocalRunner(engine), ctx)
    engines = REGISTRY.backends[target].engines()
    assert engines is not None
    runner = engines.runner()
    try:
        return model, replay_model(model, made, runner, ctx)
    finally:
        runner.close()


@pytest.mark.parametrize("target", ["n8n", "asl"])
def test_a_run_into_a_stub_has_a_verdict_of_its_own(target: str, engine: LocalEngine) -> None:
    model, report = replayed(target, engine)
    assert sorted(run.verdict for run in report.runs) == ["equal", "stub"]
    assert not report.ok
    (run,) = (run for run in report.runs if run.verdict == "stub")
    assert run.stub == "pack"
    assert (run.divergence or "").startswith("stopped at the stub `")
    assert (run.divergence or "").endswith("`Pack` is not supported")
    (failure,) = by_replay(model, report, REGISTRY.backends[target])
    assert (failure.rule, failure.element) == ("stub", "pack")
    assert failure.failure_source == f"{target}_limitation"
    assert failure.bpmn_construct_responsible == "sub-process.ad-hoc"
    text = report_text(report, (failure,))
    assert "1 stopped at a stub" in text
    assert "no rule explains it" not in text
    (said,) = (one for one in report.as_dict()["runs"] if one["stub"] is not None)
    assert (said["verdict"], said["stub"]) == ("stub", "pack")
    page = render_page(replay_page(model, NodeTable(), (), report, (failure,), "here"))
    assert "1 of 2 runs stopped at a stub; the others conform to the model." in page


def test_a_wrong_way_into_a_stub_is_different() -> None:
    """A stub excuses only what comes after it."""
    model = read(CHOICE)
    game = Game(model, Policy(once=True))
    runs = enumerate_runs(model, "p", game=game).runs
    (run,) = (run for run in runs if dict(run.choices)["g"] == ("f3",))
    executed = [NodeExecution(n, n) for n in ("s", "check", "g")] + [NodeExecution("Stop", None)]
    stubs = {"Stop": StubPart("pack", "`Pack`")}
    seen = frozenset({"s", "check", "g", "ship"})

    def verdict(*nodes: NodeExecution) -> str:
        result = RunResult("error", nodes, "stopped")
        return judge_run(game, model.processes[0], run, result, seen, stubs).verdict

    assert verdict(*executed[:2], NodeExecution("Ship", "ship"), executed[-1]) == "different"
    assert verdict(*executed[:3]) == "different"
    assert verdict(*executed) == "different", "the run takes the other branch"
