"""What a state machine cannot say of times, lists and tasks, and what is told and kept of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from asl_models import end, gateway, model, on, start, task, timer
from asl_play import Compiled, Validator, validator
from orgflow.backends.asl.format import all_states
from orgflow.compiler import compile_model

from orgflow_ir.diagnostics import Severity
from orgflow_ir.model import Artifact, Event, Expression, Loop, Model
from orgflow_ir.model.bindings import Script, Worker
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry


@pytest.fixture(scope="module")
def referee() -> Iterator[Validator]:
    with validator() as found:
        yield found


@pytest.mark.parametrize(
    ("kind", "text", "reason"),
    [
        ("duration", "P1M", "it has no fixed length"),
        ("duration", "P2Y", "it has no fixed length"),
        ("cycle", "0 0/5 * * * ?", "it repeats, but a state waits once"),
        ("duration", "-PT5M", "it is negative"),
        ("duration", "PT-5M", "it is negative"),
        ("duration", "P2000D", "it is longer than"),
        ("date", "2030-01-31T10:00:05", "it has no time zone"),
        ("duration", "5 working days", "it is not an ISO 8601 duration"),
        ("date", "tomorrow", "it is not a date with a time zone"),
        ("duration", "${wait}", "it is read from data"),
        ("date", "${now() + 1}", "it is read from data"),
    ],
)
def test_a_stated_time_that_no_state_keeps_is_refused(
    kind: str, text: str, reason: str, registry: Registry
) -> None:
    wait = Event(id="w", name="Wait", position="catch", **timer(text, kind))
    made = Compiled(model([start(), wait, end()], "s>w w>e"), registry)
    (told,) = made.told("OF405")
    assert made.legal is None
    assert told.severity is Severity.ERROR
    said = f"the time of `Wait`, `{text}`, is not supported for asl: {reason}"
    assert told.message.startswith(said)


def test_a_date_in_a_variable_is_read_from_the_input(
    registry: Registry, referee: Validator
) -> None:
    wait = Event(id="w", name="Wait", position="catch", **timer("${due}", "date"))
    made = Compiled(model([start(), wait, end()], "s>w w>e"), registry)
    assert referee.problems(made.definitions[0]) == []
    assert dict(all_states(made.definitions[0]))["Wait"]["TimestampPath"] == "$.input.due"
    (told,) = made.told("OF504")
    assert told.severity is Severity.INFO
    assert "`due`" in told.message


def test_a_wait_without_a_time_stays_an_info(registry: Registry) -> None:
    wait = Event(id="w", name="Wait", position="catch", **on("timer"))
    made = Compiled(model([start(), wait, end()], "s>w w>e"), registry)
    (told,) = made.told("OF504")
    assert told.severity is Severity.INFO


def emitted(found: Model, registry: Registry) -> PassContext:
    ctx = PassContext(registry=registry)
    compile_model(found, registry.backends["asl"], ctx)
    return ctx


def test_a_definition_longer_than_aws_takes_is_an_error(registry: Registry) -> None:
    tasks = [task(f"t{i}", doc="x" * 1900) for i in range(600)]
    text = "s>t0 " + " ".join(f"t{i}>t{i + 1}" for i in range(599)) + " t599>e"
    ctx = emitted(model([start(), *tasks, end()], text), registry)
    (told,) = (d for d in ctx.diagnostics if d.severity is Severity.ERROR)
    assert told.code == "OF479"
    assert "accepts at most 1048576" in told.message
    small = emitted(model([start(), task("t", doc="x" * 1900), end()], "s>t t>e"), registry)
    assert not small.has_errors


def test_what_the_model_says_of_a_task_is_kept(registry: Registry, referee: Validator) -> None:
    code = "x = 1; // one\ny = 2;"
    script = task("t", task_type="script", binding=Script(
        language="javascript", code=code + " " * 9 + "z" * 5000
    ))  # fmt: skip
    service = task("u", task_type="service", binding=Worker(by="class", target="com.acme.X"))
    found = model([start(), script, service, task("v"), end()], "s>t t>u u>v v>e")
    (process,) = found.processes
    note = Artifact(id="n", artifact_kind="annotation", text="Take\ncare")
    line = Artifact(id="l", artifact_kind="association", source="n", target="u")
    found = found.replace(processes=(process.replace(artifacts=(note, line)),))
    made = Compiled(found, registry)
    assert referee.problems(made.definitions[0]) == []
    states = dict(all_states(made.definitions[0]))
    assert f"- script in javascript:\n{code}" in states["Task t"]["Comment"]
    assert len(states["Task t"]["Comment"]) < 2500
    assert "- class: com.acme.X" in states["Task u"]["Comment"]
    assert "- annotation: Take care" in states["Task u"]["Comment"]
    (told,) = made.told("OF404")
    assert "orgflow does not support the class `com.acme.X` of `Task u` on asl yet" in told.message
    (open_,) = made.told("OF501")
    assert open_.element == "v"


@pytest.mark.parametrize("named", ["items", "${items}", "#{ items }"])
@pytest.mark.parametrize("own", [True, False])
def test_a_list_named_plainly_or_in_braces(named: str, own: bool, registry: Registry) -> None:
    extra = () if own else (("@{http://camunda.org/schema/1.0/bpmn}collection", named),)
    loop = Loop(kind="multi-instance", collection=named if own else None, extra=extra)
    made = Compiled(model([start(), task("t", loop=loop), end()], "s>t t>e"), registry)
    assert dict(all_states(made.definitions[0]))["Task t"]["ItemsPath"] == "$.input.items"
    assert "`items`" in made.told("OF510")[0].message


@pytest.mark.parametrize("named", ["${order.items}", "${f(x)}", "größe", "", None])
def test_a_list_that_no_path_reads_is_refused(named: str | None, registry: Registry) -> None:
    loop = Loop(kind="multi-instance", collection=named)
    made = Compiled(model([start(), task("t", loop=loop), end()], "s>t t>e"), registry)
    (told,) = made.told("OF403")
    assert "single name of ASCII letters" in told.message


def test_what_the_model_says_of_joins_and_branches_is_kept(
    registry: Registry, referee: Validator
) -> None:
    """A join is no state, and a rule has no name: comments have what the model says of them."""
    said = {"j": "Whoever is first.", "q": "All have agreed."}
    gates = {"x": "exclusive", "j": "exclusive", "p": "parallel", "q": "parallel"}
    nodes = [gateway(id, kind).replace(doc=said.get(id, "")) for id, kind in gates.items()]
    wires = "s>x x>a:Small x>b:Large* a>j b>j j>p p>c p>d c>q d>q q>e"
    found = model([start(), end(), *nodes, *(task(id) for id in "abcd")], wires)
    (process,) = found.processes
    flows = tuple(
        flow.replace(condition=Expression(text="${n < 5}")) if flow.name == "Small" else flow
        for flow in process.flows
    )
    made = Compiled(found.replace(processes=(process.replace(flows=flows),)), registry)
    (definition,) = made.definitions
    assert referee.problems(definition) == []
    lines = definition["Comment"].splitlines()
    assert "[gateway.exclusive j] Whoever is first." in lines
    assert "[gateway.parallel q] All have agreed." in lines
    choice = dict(all_states(definition))["Gate x"]
    assert "Branches: “Small”, “Large” (default)." in choice["Comment"]


def test_the_time_of_a_start_is_named(registry: Registry) -> None:
    begin = start(**timer("0 0/5 * * * ?", "cycle"))
    made = Compiled(model([begin, end()], "s>e"), registry)
    (told,) = made.told("OF405")
    assert "at the time of `Start s`, `0 0/5 * * * ?`; somebody has to start" in told.message
