"""What messages call elements: labels, surroundings, numbers; ids only where nothing else is."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from orgflow import cli
from orgflow.compilation.reading import load_model
from shared_data import shared_cases, shared_data

from orgflow_ir.model import Event, EventDefinition, Flow, Gateway, Lane, Model, Process, Task
from orgflow_ir.model.element_names import ElementNames, ordinal_word
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

ROOT = Path(__file__).resolve().parent.parent


def _model() -> Model:
    nodes = (
        Event(id="s", position="start"),
        Gateway(id="fork", gateway_kind="parallel"),
        Task(id="a", name="Pack"),
        Task(id="b"),
        Gateway(id="far", gateway_kind="exclusive"),
        Gateway(id="join", gateway_kind="parallel"),
        Task(id="z", name="Ship", task_type="user"),
        Event(id="e", position="end"),
        Event(
            id="late", position="boundary", attached_to="z",
            definitions=(EventDefinition(kind="timer"),),
        ),
    )  # fmt: skip
    ways = ("s>fork", "fork>a", "fork>b", "a>far", "b>far", "far>join", "b>join", "join>z", "z>e")
    flows = tuple(Flow(id=w, source=w.split(">")[0], target=w.split(">")[1]) for w in ways)
    lanes = (Lane(id="l1", members=("a",)), Lane(id="l2", name="Stock", members=("b",)))
    return Model(id="m", processes=(Process(id="p", nodes=nodes, flows=flows, lanes=lanes),))


@pytest.mark.parametrize(
    ("element", "name"),
    [
        ("a", "`Pack`"),
        ("join", "the parallel gateway before `Ship`"),
        ("far", "the exclusive gateway after `Pack`"),  # what is next to it, not what is far ahead
        ("fork", "the parallel gateway before `Pack`"),
        ("late", "the timer boundary event on `Ship`"),
        ("a>far", "the flow from `Pack` to the exclusive gateway after `Pack`"),
        ("p", "the process"),
        ("nothing", "`nothing`"),
    ],
)
def test_names(element: str, name: str) -> None:
    assert ElementNames(_model()).name(element) == name


def test_elements_at_one_place_are_numbered_from_there() -> None:
    """Else a message would mean either of two elements, and a run would pass one for both."""
    nodes = (
        Event(id="s", name="Begin", position="start"),
        Gateway(id="far", gateway_kind="exclusive"),
        Gateway(id="near", gateway_kind="exclusive"),
        Task(id="t", name="Work"),
        *(
            Event(
                id=id, position="boundary", attached_to="t",
                definitions=(EventDefinition(kind="timer"),),
            )
            for id in ("b1", "b2")
        ),
        Event(id="e", position="end"),
    )  # fmt: skip
    ways = ("s>near", "near>far", "far>e", "near>e", "near>far")
    flows = tuple(
        Flow(id=f"{w}{n}", source=w.split(">")[0], target=w.split(">")[1])
        for n, w in enumerate(ways)
    )
    names = ElementNames(Model(id="m", processes=(Process(id="p", nodes=nodes, flows=flows),)))
    assert [names.name(id) for id in ("near", "far", "b1", "b2", "e")] == [
        "the first exclusive gateway after `Begin`",
        "the second exclusive gateway after `Begin`",
        "the first timer boundary event on `Work`",
        "the second timer boundary event on `Work`",
        "the end event after `Begin`",
    ]


@pytest.mark.parametrize(
    "folder", shared_cases(["soundness", "camunda7-executable", "miwg-reference"])
)
def test_no_two_elements_of_a_real_model_have_one_name(
    folder: str, shared: Path, registry: Registry
) -> None:
    for path in sorted((shared / "data" / folder).rglob("*.bpmn")):
        model = load_model(str(path), registry, PassContext(registry=registry))
        for scope in model.scopes() if model is not None else ():
            names = ElementNames(model)
            found = [names.name(node) for node in scope.nodes if not node.name.strip()]
            assert len(set(found)) == len(found), path.name


def test_what_nothing_tells_apart_is_counted() -> None:
    """In the order of the file, as in "the loop through the third unlabelled task never ends"."""
    nodes = tuple(Task(id=f"t{n}") for n in range(12))
    flows = (Flow(id="f", source="t2", target="t10"),)
    named = Process(id="p", name="Order", nodes=nodes, flows=flows)
    names = ElementNames(Model(id="m", processes=(named, Process(id="q"))))
    assert names.name("t2") == "the third unlabelled task in `Order`"
    assert names.name("t10") == "the 11th unlabelled task in `Order`"
    assert names.name("q") == "the second process"
    assert [ordinal_word(n) for n in (1, 10, 13, 21, 22, 112)] == [
        "first", "tenth", "13th", "21st", "22nd", "112th",
    ]  # fmt: skip


def test_full_names_say_what_it_is_once() -> None:
    model = _model()
    ctx = PassContext(source=model)
    by_id = {n.id: n for n in model.processes[0].nodes}
    unnamed, named = model.processes[0].lanes
    assert ctx.full_name(by_id["z"]) == "the user task `Ship`"
    assert ctx.full_name(by_id["late"]) == "the timer boundary event on `Ship`"
    assert ElementNames(model).full_name("z", article=False) == "user task `Ship`"
    assert ElementNames(model).full_name("late", article=False) == (
        "the timer boundary event on `Ship`"
    )
    assert ctx.full_name(named) == "the lane `Stock`"
    assert ctx.full_name(unnamed) == "the lane `l1`"


def test_the_share_of_errors_that_show_only_an_id(tmp_path: Path) -> None:
    """The measurement prints its counts; a label that looks like an id is a label."""
    text = (
        '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">'
        '<process id="p"><startEvent id="s"/><task id="t1" name="t1"/><task id="t1"/>'
        '<sequenceFlow id="f" sourceRef="s" targetRef="gone"/></process></definitions>'
    )
    (tmp_path / "bad.bpmn").write_text(text)
    ran = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "element_names.py", tmp_path, "--json"],
        capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    found = json.loads(ran.stdout)
    assert found == {"errors": 1, "only_ids": 0, "by_rule": {}}


@pytest.mark.parametrize(
    ("message", "counts"),
    [
        ("`b` is never reached", True),
        ("`b` is never reached after `Pack`", False),
        ("`Pack` is never reached", False),
        ("`a>far` and `far` wait for each other", True),
        ("`elsewhere` is not there", False),
        ("`z` is a label here, too", False),
        ("nothing is quoted", False),
    ],
)
def test_what_counts_as_showing_only_an_id(message: str, counts: bool) -> None:
    path = ROOT / "benchmarks" / "element_names.py"
    spec = importlib.util.spec_from_file_location("element_names_benchmark", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model = _model()
    (process,) = model.processes
    twin = Task(id="other", name="z")
    model = model.replace(processes=(process.replace(nodes=(*process.nodes, twin)),))
    assert module.shows_only_ids(message, model) is counts


def test_a_backtick_in_a_label_does_not_end_it() -> None:
    task = Task(id="t", name="Run `make`  twice")
    assert task.label == "Run 'make' twice"
    assert task.caption == "Run `make` twice"
    model = Model(id="m", processes=(Process(id="P", nodes=(task,)),))
    assert ElementNames(model).name("t") == "`Run 'make' twice`"


def test_runs_name_gateways_as_messages_do(capsys: pytest.CaptureFixture[str]) -> None:
    """A gateway without a label has an id that nobody has seen."""
    file = str(shared_data("outside-look", "bpmn", "names.bpmn"))
    assert cli.run(["run", file, "--engine", "model"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "chose: the exclusive gateway after Check order → Pack" in said
    assert "Gateway_1" not in said
