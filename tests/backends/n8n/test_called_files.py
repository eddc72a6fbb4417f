"""Calls of processes in other files, by the process id: compiled and run together."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from bpmn_interpreter import Interpreter
from orgflow import cli, compiler
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.engine.runs import RunRequest
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.compilation.input_sources import read_source
from orgflow.compilation.process_selection import select_process
from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model
from played_models import faults

from orgflow_ir.flow.token_game.runs import enumerate_runs
from orgflow_ir.linking import called_processes
from orgflow_ir.linking.called_processes import with_called_processes
from orgflow_ir.model import Model, Task
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.targets import Emitted

BPMN = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="x"'
    ' xmlns:camunda="http://camunda.org/schema/1.0/bpmn"'
    ' xmlns:flowable="http://flowable.org/bpmn"'
    ' xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">{errors}'
    '<process id="{id}" name="{name}" isExecutable="true">{steps}</process></definitions>'
)


def bpmn(id: str, steps: str, errors: str = "", name: str = "") -> str:
    return BPMN.format(id=id, name=name or id.title(), steps=steps, errors=errors)


def row(*steps: str) -> str:
    """Steps one after the other; each has the id `n` and its number."""
    written = [step.replace("{id}", f"n{at}") for at, step in enumerate(steps)]
    written += (
        f'<sequenceFlow id="f{at}" sourceRef="n{at}" targetRef="n{at + 1}"/>'
        for at in range(len(steps) - 1)
    )
    return "".join(written)


START, END = '<startEvent id="{id}"/>', '<endEvent id="{id}"/>'


def task(name: str) -> str:
    return f'<task id="{{id}}" name="{name}"/>'


def call(process: str, inside: str = "", attributes: str = "") -> str:
    return (
        f'<callActivity id="{{id}}" name="Call {process}" calledElement="{process}" {attributes}>'
        f"{inside}</callActivity>"
    )


PART = bpmn("part", row(START, task("Look"), END))


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.bpmn").write_text(text, "utf-8")


def linked(
    path: Path, registry: Registry, *given: Path
) -> tuple[Model, Emitted | None, PassContext]:
    ctx = PassContext(registry=registry, given=[str(one) for one in given])
    model = load_model(str(path), registry, ctx)
    assert model is not None
    backend = registry.backends["n8n"]
    model = compiler.add_called_processes(model, backend, ctx)
    return model, compile_model(model, backend, ctx), ctx


def names(model: Model) -> set[str]:
    return {n.name for s in model.scopes() for n in s.nodes if isinstance(n, Task)}


def test_a_process_in_a_file_beside_it_runs(
    tmp_path: Path, engine: LocalEngine, registry: Registry
) -> None:
    """Both files use the same ids; the process that is called calls a third, in its own file."""
    deep = bpmn("deep", row(START, task("Dig"), END))
    part = bpmn("part", row(START, task("Look"), call("x:deep"), END))
    caller = bpmn("main", row(START, task("Pay"), call("part"), call("deep"), END))
    write(tmp_path, main=caller, part=part, zdeep=deep)
    model, made, ctx = linked(tmp_path / "main.bpmn", registry)
    assert made is not None, ctx.diagnostics
    assert [p.id for p in model.processes] == ["main", "part", "deep"]
    assert [a.path for a in made.artifacts] == [
        "main.json", "part-called-by-main.json", "deep-called-by-main.json",
    ]  # fmt: skip
    runner = LocalRunner(engine)
    assert faults(model, made, runner, registry) == []
    runner.load(made, "main", PassContext())
    (done,) = runner.play(enumerate_runs(model, "main").runs)
    tasks = {n.id: n.name for s in model.scopes() for n in s.nodes if isinstance(n, Task)}
    trace = tuple(x.element for x in done.executed if x.element in tasks)
    assert {trace} == Interpreter(model).traces()
    assert [tasks[e or ""] for e in trace] == ["Pay", "Look", "Dig", "Dig"]


ERROR = '<error id="{id}" name="{name}" errorCode="{code}"/>'
CATCHING = (
    '<startEvent id="s"/><callActivity id="c" name="Call part" calledElement="part"/>'
    '<boundaryEvent id="b" attachedToRef="c"><errorEventDefinition errorRef="Error_a"/>'
    '</boundaryEvent><task id="t" name="Pay"/><task id="u" name="Excuse"/>'
    '<endEvent id="e"/><endEvent id="e2"/>'
    '<sequenceFlow id="f1" sourceRef="s" targetRef="c"/>'
    '<sequenceFlow id="f2" sourceRef="c" targetRef="t"/>'
    '<sequenceFlow id="f3" sourceRef="t" targetRef="e"/>'
    '<sequenceFlow id="f4" sourceRef="b" targetRef="u"/>'
    '<sequenceFlow id="f5" sourceRef="u" targetRef="e2"/>'
)
THROWING = row(
    START, task("Look"), '<endEvent id="{id}"><errorEventDefinition errorRef="Error_a"/></endEvent>'
)


@pytest.mark.parametrize("code", ["E1", "E2"])
def test_an_error_is_the_same_by_its_code(tmp_path: Path, registry: Registry, code: str) -> None:
    """An id of an error says nothing in another file."""
    caller = bpmn("main", CATCHING, ERROR.format(id="Error_a", name="One", code="E1"))
    part = bpmn("part", THROWING, ERROR.format(id="Error_a", name="Other", code=code))
    write(tmp_path, main=caller, part=part)
    model, _, _ = linked(tmp_path / "main.bpmn", registry)
    assert len(model.catalog.errors) == (1 if code == "E1" else 2)
    by_id = {n.id: n.name for s in model.scopes() for n in s.nodes if isinstance(n, Task)}
    traces = {tuple(by_id[id] for id in trace) for trace in Interpreter(model).traces()}
    assert traces == {("Look", "Excuse") if code == "E1" else ("Look",)}


DIALECTS = {
    "Camunda 7": call(
        "part",
        '<extensionElements><camunda:in source="x" target="y"/>'
        '<camunda:in businessKey="#{execution.processBusinessKey}"/>'
        '<camunda:out sourceExpression="${found * 2}" target="z"/></extensionElements>',
        'camunda:calledElementBinding="version" camunda:calledElementVersion="3"',
    ),
    "Camunda 8": '<callActivity id="{id}" name="Call part"><extensionElements>'
    '<zeebe:calledElement processId="part" propagateAllChildVariables="false"/><zeebe:ioMapping>'
    '<zeebe:input source="=x" target="y"/><zeebe:output source="=found * 2" target="z"/>'
    "</zeebe:ioMapping></extensionElements></callActivity>",
    "Flowable": call(
        "part",
        '<extensionElements><flowable:in sourceExpression="${x}" target="y"/>'
        '<flowable:out sourceExpression="${found * 2}" target="z"/></extensionElements>',
        'flowable:calledElementType="key" flowable:businessKey="${x}"',
    ),
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_mappings_of_each_dialect(
    tmp_path: Path, engine: LocalEngine, registry: Registry, dialect: str
) -> None:
    """The called process gets `y` of the caller's `x`, and a gateway reads what comes back."""
    reads = (
        '<exclusiveGateway id="n2" default="d"/><task id="n3" name="Big"/>'
        '<task id="n4" name="Small"/><sequenceFlow id="f2" sourceRef="n2" targetRef="n3">'
        "<conditionExpression>${z > 5}</conditionExpression></sequenceFlow>"
        '<sequenceFlow id="d" sourceRef="n2" targetRef="n4"/>'
        '<sequenceFlow id="f1" sourceRef="n1" targetRef="n2"/>'
    )
    write(
        tmp_path,
        main=bpmn("main", row(START, DIALECTS[dialect]) + reads),
        part=bpmn("part", row(START, task("Look"), END)),
    )
    _, made, ctx = linked(tmp_path / "main.bpmn", registry)
    assert made is not None, ctx.diagnostics
    main, part = (json.loads(a.text) for a in made.artifacts)
    for found, way in ((3, "Big"), (2, "Small")):
        request = RunRequest(
            main,
            "Start",
            items=[{"json": {"x": 7}}],
            workflows={part["id"]: part},
            stubs={f"{part['id']}/Look": {"visits": [{"found": found}], "mode": "merge"}},
            data=True,
        )
        (run,) = engine.run_many([request])
        assert run.status == "success", run.error
        (looked,) = (n for n in run.order if n.node == "Look")
        assert looked.items is not None
        assert looked.items[0][0]["y"] == 7
        assert ("x" in looked.items[0][0]) is (dialect == "Camunda 8")
        assert way in [n.node for n in run.order]


def extended(inside: str, attributes: str = "") -> str:
    return call("part", f"<extensionElements>{inside}</extensionElements>", attributes)


STATED = {
    "a key": (extended('<camunda:in businessKey="k"/>'), {}, None),
    "a version": (call("part", "", 'camunda:calledElementBinding="latest"'), {}, None),
    "a kind": (call("part", "", 'flowable:calledElementType="key"'), {}, None),
    "all parts": (call("part", "", 'flowable:inheritVariables="true"'), {"x": 7, "z": 9}, None),
    "one variable": (extended('<camunda:in source="x" target="x"/>'), {"x": 7}, None),
    "a result": (extended('<camunda:out source="found" target="z"/>'), {}, 3),
    "a result that is never set": (extended('<camunda:out source="none" target="z"/>'), {}, "null"),
    "a computed one beside it": (
        extended(
            '<camunda:out source="none" target="z"/>'
            '<camunda:out sourceExpression="${found + 1}" target="other"/>'
        ),
        {},
        "null",
    ),
    "nothing in Camunda 8": (
        extended(
            '<zeebe:calledElement processId="part" propagateAllParentVariables="false"'
            ' propagateAllChildVariables="false"/>'
        ),
        {},
        None,
    ),
    "a null in Camunda 8": (
        extended(
            '<zeebe:calledElement processId="part"/><zeebe:ioMapping>'
            '<zeebe:output source="=none" target="z"/></zeebe:ioMapping>'
        ),
        {"x": 7, "z": 9},
        "null",
    ),
}


@pytest.mark.parametrize("stated", STATED)
def test_nothing_goes_over_that_the_call_does_not_name(
    tmp_path: Path, engine: LocalEngine, registry: Registry, stated: str
) -> None:
    """What the first step of the called process finds, and what `z` is behind the call: the called
    process sets a `z` of its own."""
    calling, expected, z = STATED[stated]
    test = {None: "${z == 9}", "null": "${z == null}"}.get(z, f"${{z == {z}}}")  # type: ignore[arg-type]
    reads = (
        '<exclusiveGateway id="n2" default="d"/><task id="n3" name="Right"/>'
        '<task id="n4" name="Wrong"/><sequenceFlow id="f2" sourceRef="n2" targetRef="n3">'
        f"<conditionExpression>{test}</conditionExpression></sequenceFlow>"
        '<sequenceFlow id="d" sourceRef="n2" targetRef="n4"/>'
        '<sequenceFlow id="f1" sourceRef="n1" targetRef="n2"/>'
    )
    write(tmp_path, main=bpmn("main", row(START, calling) + reads), part=PART)
    _, made, ctx = linked(tmp_path / "main.bpmn", registry)
    assert made is not None, ctx.diagnostics
    main, part = (json.loads(a.text) for a in made.artifacts)
    stubs = {f"{part['id']}/Look": {"visits": [{"found": 3, "z": 1}], "mode": "merge"}}
    items = [{"json": {"x": 7, "z": 9}}]
    request = RunRequest(
        main, "Start", items=items, workflows={part["id"]: part}, stubs=stubs, data=True
    )
    (run,) = engine.run_many([request])
    assert run.status == "success", run.error
    (begun,) = (n for n in run.order if n.workflow and n.node == "Start")
    assert begun.items == ((expected,),)
    assert run.order[-1].node == "Right"


CAMUNDA = 'xmlns:camunda="http://camunda.org/schema/1.0/bpmn"'
FLOWABLE = 'xmlns:flowable="http://flowable.org/bpmn"'
ACTIVITI = 'xmlns:activiti="http://activiti.org/bpmn"'
ZEEBE = 'xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"'
MODELER = (
    'xmlns:modeler="http://camunda.org/schema/modeler/1.0" modeler:executionPlatform="Camunda {}"'
)
EVERYTHING = {"x": 7, "z": 9}
BARE = {
    "Camunda 7 by its platform": (MODELER.format("Platform"), "", {}, 9),
    "Camunda 7 by a use": (CAMUNDA, 'camunda:versionTag="1"', {}, 9),
    "Camunda 7, which reads Activiti": (
        f"{CAMUNDA} {ACTIVITI}",
        'camunda:versionTag="1" activiti:x="1"',
        {},
        9,
    ),
    "a prefix only": (CAMUNDA, "", {}, 9),
    "Flowable by a use": (FLOWABLE, 'flowable:isEagerExecutionFetch="true"', {}, 9),
    "Flowable by its exporter": ('exporter="Flowable Open Source Modeler"', "", {}, 9),
    "Activiti": (ACTIVITI, 'activiti:candidateStarterUsers="kim"', {}, 9),
    "jBPM": ('xmlns:tns="http://www.jboss.org/drools"', 'tns:packageName="a"', {}, 9),
    "Camunda 8": (f"{MODELER.format('Cloud')} {ZEEBE}", "", EVERYTHING, 1),
    "Camunda 8, drawn for 7 before": (
        f"{MODELER.format('Cloud')} {CAMUNDA}",
        'camunda:versionTag="1"',
        EVERYTHING,
        1,
    ),
    "nobody": ("", "", EVERYTHING, 1),
    "one of two": (
        f"{CAMUNDA} {FLOWABLE}",
        'camunda:versionTag="1" flowable:x="1"',
        EVERYTHING,
        1,
    ),
}


@pytest.mark.parametrize("whose", BARE)
def test_a_call_without_mappings_does_what_its_engine_does(
    tmp_path: Path, engine: LocalEngine, registry: Registry, whose: str
) -> None:
    """What the first step of the called process finds, and what `z` is behind the call: the called
    process sets a `z` of its own."""
    root, attributes, expected, z = BARE[whose]
    reads = (
        '<exclusiveGateway id="n2" default="d"/><task id="n3" name="Right"/>'
        '<task id="n4" name="Wrong"/><sequenceFlow id="f2" sourceRef="n2" targetRef="n3">'
        f"<conditionExpression>${{z == {z}}}</conditionExpression></sequenceFlow>"
        '<sequenceFlow id="d" sourceRef="n2" targetRef="n4"/>'
        '<sequenceFlow id="f1" sourceRef="n1" targetRef="n2"/>'
    )
    text = bpmn("main", row(START, call("part")) + reads)
    for prefix in (CAMUNDA, FLOWABLE, ZEEBE):
        text = text.replace(f" {prefix}", "")
    text = text.replace("<definitions ", f"<definitions {root} ").replace(
        "<process ", f"<process {attributes} "
    )
    write(tmp_path, main=text, part=PART)
    model, made, ctx = linked(tmp_path / "main.bpmn", registry)
    assert made is not None, ctx.diagnostics
    unknown = [d for d in ctx.diagnostics if d.code == "OF427"]
    assert (
        (model.processes[0].dialect is None) == bool(unknown) == (whose in ("nobody", "one of two"))
    )
    main, part = (json.loads(a.text) for a in made.artifacts)
    stubs = {f"{part['id']}/Look": {"visits": [{"z": 1}], "mode": "merge"}}
    items = [{"json": EVERYTHING}]
    request = RunRequest(
        main, "Start", items=items, workflows={part["id"]: part}, stubs=stubs, data=True
    )
    (run,) = engine.run_many([request])
    assert run.status == "success", run.error
    (begun,) = (n for n in run.order if n.workflow and n.node == "Start")
    assert begun.items == ((expected,),)
    assert run.order[-1].node == "Right"


def test_mappings_of_jbpm(tmp_path: Path, engine: LocalEngine, registry: Registry) -> None:
    """The data associations of BPMN: `y` is the caller's `x`, and its `z` what the called process
    has as `found`."""
    calling = call(
        "part",
        '<ioSpecification><dataInput id="in" name="y"/><dataOutput id="out" name="found"/>'
        "<inputSet><dataInputRefs>in</dataInputRefs></inputSet>"
        "<outputSet><dataOutputRefs>out</dataOutputRefs></outputSet></ioSpecification>"
        "<dataInputAssociation><sourceRef>x</sourceRef><targetRef>in</targetRef>"
        "</dataInputAssociation><dataOutputAssociation><sourceRef>out</sourceRef>"
        "<targetRef>z</targetRef></dataOutputAssociation>",
        'drools:waitForCompletion="true"',
    )
    reads = (
        '<exclusiveGateway id="n2" default="d"/><task id="n3" name="Right"/>'
        '<task id="n4" name="Wrong"/><sequenceFlow id="f2" sourceRef="n2" targetRef="n3">'
        "<conditionExpression>${z == 3}</conditionExpression></sequenceFlow>"
        '<sequenceFlow id="d" sourceRef="n2" targetRef="n4"/>'
        '<sequenceFlow id="f1" sourceRef="n1" targetRef="n2"/>'
    )
    variables = '<property id="x"/><property id="z"/>'
    text = bpmn("main", variables + row(START, calling) + reads).replace(
        "<definitions ", '<definitions xmlns:drools="http://www.jboss.org/drools" '
    )
    write(tmp_path, main=text, part=PART)
    _, made, ctx = linked(tmp_path / "main.bpmn", registry)
    assert made is not None, ctx.diagnostics
    main, part = (json.loads(a.text) for a in made.artifacts)
    stubs = {f"{part['id']}/Look": {"visits": [{"found": 3}], "mode": "merge"}}
    request = RunRequest(
        main, "Start", items=[{"json": EVERYTHING}], workflows={part["id"]: part}, stubs=stubs,
        data=True,
    )  # fmt: skip
    (run,) = engine.run_many([request])
    assert run.status == "success", run.error
    (begun,) = (n for n in run.order if n.workflow and n.node == "Start")
    assert begun.items == (({"y": 7},),)
    assert run.order[-1].node == "Right"


def test_variables_of_the_call_itself(tmp_path: Path, registry: Registry) -> None:
    """Camunda 7 computes them before what is handed over: that is not read from them here."""
    own = (
        '<camunda:inputOutput><camunda:inputParameter name="n">${x}</camunda:inputParameter>'
        "</camunda:inputOutput>"
    )
    for more, compiles in (
        ('<camunda:in variables="all"/>', True),
        ('<camunda:in source="n" target="y"/>', False),
        ('<camunda:in variables="all"/><camunda:in source="n" target="y"/>', False),
        ("", False),
    ):
        write(tmp_path, main=bpmn("main", row(START, extended(own + more), END)), part=PART)
        _, made, ctx = linked(tmp_path / "main.bpmn", registry)
        refused = [d.message for d in ctx.diagnostics if "its `inputOutput` sets" in d.message]
        assert (made is not None, len(refused)) == (compiles, 0 if compiles else 1)


def test_results_that_stay_in_the_call_are_refused(tmp_path: Path, registry: Registry) -> None:
    out = '<flowable:out source="found" target="z"/>'
    local = extended(out, 'flowable:useLocalScopeForOutParameters="true"')
    write(tmp_path, main=bpmn("main", row(START, local, END)), part=PART)
    _, made, ctx = linked(tmp_path / "main.bpmn", registry)
    assert made is None
    assert [d.message for d in ctx.diagnostics if "known only at run time" in d.message]


def test_files_that_are_given_go_first(tmp_path: Path, registry: Registry) -> None:
    write(tmp_path, main=bpmn("main", row(START, call("part"), END)), part=PART)
    other = tmp_path / "other"
    other.mkdir()
    write(other, part=PART.replace("Look", "Listen"))
    assert names(linked(tmp_path / "main.bpmn", registry)[0]) == {"Look"}
    given = linked(tmp_path / "main.bpmn", registry, other / "part.bpmn")[0]
    assert names(given) == {"Listen"}


UNFOUND = {
    "which is neither in this model nor in a file next to it": {},
    "which is defined differently in `a.bpmn` and `b.bpmn`": {
        "a": PART,
        "b": PART.replace("Look", "Listen"),
    },
    "`a.bpmn` may contain it but cannot be read": {"a": PART.replace("</process>", "")},
}


@pytest.mark.parametrize("reason", UNFOUND)
def test_why_a_process_is_not_found(tmp_path: Path, registry: Registry, reason: str) -> None:
    """It stays work that only has a name, and the message has a remedy."""
    write(tmp_path, main=bpmn("main", row(START, call("part"), END)), **UNFOUND[reason])
    model, made, ctx = linked(tmp_path / "main.bpmn", registry)
    assert made is not None
    assert len(model.processes) == 1
    assert [a.path for a in made.artifacts] == ["main.json", "part-process.json"]
    (found,) = (d for d in ctx.diagnostics if d.code == "OF120")
    assert reason in found.message
    assert found.help is not None
    assert "folder" in found.help


def test_a_global_task_is_in_the_model(tmp_path: Path, registry: Registry) -> None:
    """No file beside it has to have it, and it is not a process."""
    text = bpmn("main", row(START, call("gu"), END))
    task = '<globalUserTask id="gu" name="Ask the customer"/></definitions>'
    write(tmp_path, main=text.replace("</definitions>", task))
    _, made, ctx = linked(tmp_path / "main.bpmn", registry)
    assert made is not None
    said = [d.message for d in ctx.diagnostics if d.code in ("OF120", "OF401", "OF404")]
    assert any("calls the global task `Ask the customer`" in one for one in said)
    assert not [one for one in said if "process" in one]


def test_two_files_with_the_same_process_are_one(tmp_path: Path, registry: Registry) -> None:
    write(tmp_path, main=bpmn("main", row(START, call("part"), END)), a=PART, b=PART)
    assert names(linked(tmp_path / "main.bpmn", registry)[0]) == {"Look"}


def test_the_commands_find_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, main=bpmn("main", row(START, call("part"), END)), part=PART)

    def said(*args: str) -> str:
        assert cli.run(list(args)) == 0
        out, err = capsys.readouterr()
        return out + err

    said("compile", "main.bpmn", "--target", "n8n", "-o", "out/")
    assert len(list(Path("out").glob("*.json"))) == 2
    assert said("verify", "main.bpmn", "out").count("proved:") == 2
    assert "OF120" not in said("check", "main.bpmn", "part.bpmn")
    checked = said("check", "main.bpmn", "part.bpmn", "--target", "n8n")
    assert checked.count("`Look` has no implementation") == 1
    assert "OF120" not in checked


def test_a_drawing_of_a_call_is_only_that(tmp_path: Path, registry: Registry) -> None:
    write(tmp_path, main=bpmn("main", row(START, call("part"), END)), part=PART)
    ctx = PassContext(registry=registry)
    model = load_model(str(tmp_path / "main.bpmn"), registry, ctx)
    assert model is not None
    assert compiler.add_called_processes(model, registry.backends["bpmn"], ctx) is model


def test_what_is_beside_is_read_again_when_it_changes(tmp_path: Path, registry: Registry) -> None:
    """The called file and a form that belongs to it, each edited between two compiles."""
    asked = (
        '<userTask id="{id}" name="Ask"><extensionElements>'
        '<zeebe:formDefinition formId="ask"/></extensionElements></userTask>'
    )
    write(
        tmp_path,
        main=bpmn("main", row(START, call("part"), END)),
        part=bpmn("part", row(START, asked, END)),
    )
    form = tmp_path / "ask.form"

    def fields() -> list[str]:
        ctx = PassContext(registry=registry)
        source = read_source(str(tmp_path / "main.bpmn"))
        model = load_model(source, registry, ctx, diagram=True)
        assert model is not None
        whole = with_called_processes(model, ctx)
        tasks = [n for p in whole.processes for n in p.nodes if isinstance(n, Task)]
        return [t.name or "" for t in tasks] + re.findall(r"first|second", str(tasks))

    def ask(key: str) -> None:
        component = {"key": key, "type": "textfield", "label": key}
        form.write_text(json.dumps({"id": "ask", "components": [component]}), "utf-8")

    ask("first")
    assert set(fields()) == {"Ask", "first"}
    ask("second")
    assert set(fields()) == {"Ask", "second"}
    write(tmp_path, part=bpmn("part", row(START, task("Look"), END)))
    assert fields() == ["Look"]


def test_one_process_of_a_file_calls_another_of_it(
    tmp_path: Path, engine: LocalEngine, registry: Registry
) -> None:
    """Compiled by itself it calls the workflow that the whole file becomes for the other."""
    inner = PART.partition("<process")[2].partition("</definitions>")[0]
    for at in range(3):
        inner = inner.replace(f'"n{at}"', f'"m{at}"').replace(f'"f{at}"', f'"g{at}"')
    text = bpmn("main", row(START, task("Pay"), call("part"), END))
    write(tmp_path, main=text.replace("</definitions>", f"<process{inner}</definitions>"))
    whole, made, _ = linked(tmp_path / "main.bpmn", registry)
    assert made is not None
    wanted = {one["name"]: one["id"] for one in map(json.loads, (a.text for a in made.artifacts))}
    backend, ctx = registry.backends["n8n"], PassContext(registry=registry)
    alone = compiler.add_called_processes(select_process(whole, "main"), backend, ctx)
    found = compile_model(alone, backend, ctx)
    assert found is not None, ctx.diagnostics
    assert [d for d in ctx.diagnostics if d.code in ("OF120", "OF404")] == []
    main, part = (json.loads(a.text) for a in found.artifacts)
    assert main["id"] == wanted["Main"]
    assert part["id"] == wanted[part["name"]]
    request = RunRequest(main, "Start", workflows={part["id"]: part}, data=True)
    (run,) = engine.run_many([request])
    assert run.status == "success", run.error
    assert "Look" in [n.node for n in run.order]


def test_the_places_of_given_files_are_found_once_for_all_calls(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Finding them for every call takes the square of the number of files."""
    for at in range(12):
        (tmp_path / f"m{at:02}.bpmn").write_text(bpmn(f"p{at}", row(START, call(f"q{at}"), END)))
    called_processes._list_places.cache_clear()
    assert cli.run(["check", str(tmp_path), "--no-cache", "--jobs", "1"]) == 0
    assert "11 more OF120" in capsys.readouterr().out
    assert called_processes._list_places.cache_info()[:2] == (11, 1)


@pytest.mark.parametrize("command", ["check", "compile", "verify", "run"])
def test_a_folder_is_listed_once_for_all_models_of_a_command(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once for each model takes the square of the number of files."""
    models = tmp_path / "models"
    models.mkdir()
    for at in range(6):
        (models / f"m{at}.bpmn").write_text(bpmn(f"p{at}", row(START, call(f"q{at}"), END)))
    more = {
        "check": ["--no-cache", "--jobs", "1"], "compile": ["--target", "n8n", "-o", "out/"],
        "verify": [str(tmp_path / "out")], "run": ["--engine", "model"],
    }  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert cli.run(["compile", str(models), *more["compile"]]) == 0
    listed: list[str] = []
    real = called_processes._list_files

    def counted(folder: str, suffixes: tuple[str, ...]) -> called_processes._Folder:
        listed.append(folder)
        return real(folder, suffixes)

    monkeypatch.setattr(called_processes, "_list_files", counted)
    for _ in range(2):  # the next command looks again
        listed.clear()
        assert cli.run([command, str(models), *more[command]]) == 0
        assert listed == [str(models)]
