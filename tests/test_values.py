"""Values of the IR: made and copied cheaply, compared by content, validated on demand."""

from __future__ import annotations

import copy
import dataclasses
import os
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError, fields
from pathlib import Path
from typing import Any

import pytest
from orgflow.compilation.reading import load_model
from orgflow.compiler import check_model

from orgflow_ir.model import Event, Flow, Gateway, Model, Process, SubProcess, Task
from orgflow_ir.model.adapters import build_adapter
from orgflow_ir.model.codec import from_json, json_schema, to_data, to_json
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.model.value import Value
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

ROOT = Path(__file__).resolve().parent.parent


def test_making_a_value_does_not_validate_it() -> None:
    assert Task(id=3, name="Pack").id == 3  # type: ignore[arg-type,comparison-overlap]  # on purpose
    assert Task(id="a").replace(name=3).name == 3  # type: ignore[comparison-overlap]  # on purpose


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"id": "f", "source": "a"}, "target"),
        ({"id": "f", "source": "", "target": "", "x": 1}, "x"),
    ],
)
def test_missing_and_unknown_fields_are_refused(given: dict[str, Any], wrong: str) -> None:
    with pytest.raises(TypeError, match=f"missing or unknown fields: {wrong}$"):
        Flow(**given)


def test_a_copy_refuses_unknown_fields() -> None:
    with pytest.raises(TypeError, match="nmae"):
        Process(id="p").replace(nmae="Order")


def test_fields_are_given_by_name() -> None:
    with pytest.raises(TypeError):
        Task("a")  # type: ignore[call-arg]  # on purpose


def test_values_are_dataclasses() -> None:
    task = Task(id="a", name="A")
    assert dataclasses.is_dataclass(task)
    assert [f.name for f in fields(Task)] == list(vars(task)), "the order of the text form"
    assert dataclasses.replace(task, name="B") == task.replace(name="B")


def test_equality_is_about_content() -> None:
    flow = Flow(id="f", source="a", target="b")
    assert flow != flow.replace(source="c")
    assert hash(flow) != hash(flow.replace(source="c"))
    other = flow.replace(
        origin="a pass", loc=SourceLocation(file="x.bpmn", line=1), derived_from=("g",)
    )
    assert flow == other
    assert hash(flow) == hash(other)
    assert flow.content() == other.content()
    model = Model(id="m", source="a.bpmn")
    assert model == model.replace(source="b.json")
    assert model != model.replace(name="Order")
    assert Task(id="a") != Process(id="a")
    assert Task(id="a") != "a"


def test_hash_of_a_value_with_values_in_it() -> None:
    process = Process(id="p", nodes=(SubProcess(id="s", nodes=(Task(id="t"),)),))
    same = Process(id="p", nodes=(SubProcess(id="s", nodes=(Task(id="t", origin="x"),)),))
    assert {process: 1}[same] == 1


def test_copies() -> None:
    process = Process(id="p", nodes=(SubProcess(id="s", nodes=(Task(id="t"),)),))
    for made in (copy.copy(process), copy.deepcopy(process), pickle.loads(pickle.dumps(process))):
        assert made == process
        assert made.nodes == process.nodes
        assert to_json(made) == to_json(process)
    assert process.replace(name="Order").name == "Order"
    assert process.name == ""


def test_values_are_frozen() -> None:
    model = Model(id="m", name="Order")
    with pytest.raises(FrozenInstanceError, match="name"):
        model.name = "other"  # type: ignore[misc]  # on purpose
    with pytest.raises(FrozenInstanceError, match="name"):
        del model.name  # type: ignore[misc]  # on purpose
    with pytest.raises(FrozenInstanceError, match="other"):
        model.other = 1  # type: ignore[attr-defined]  # on purpose


def test_text_form_and_back() -> None:
    node = Event(id="e", position="start", derived_from=("a", "b"))
    model = Model(id="m", name="Grüße", processes=(Process(id="p", nodes=(node, Task(id="t"))),))
    text = model.to_json()
    assert "Grüße" in text
    assert text.count("derived_from") == 1, "left out where it is empty"
    again = Model.from_json(text)
    assert again == model
    assert again.processes[0].nodes[0].derived_from == ("a", "b")


def test_derived_from_is_left_out_at_any_depth() -> None:
    assert "derived_from" not in to_data(Model(id="m", processes=(Process(id="p"),)))
    assert "derived_from" not in to_json(SubProcess(id="s", nodes=(Task(id="t"),)))


def test_data_is_as_pydantic_dumps_it() -> None:
    """Of models with everything in them and of what is found in them."""
    paths = [*ROOT.glob("examples/*/model.bpmn"), *ROOT.glob("tests/diagnostics/*/*.bpmn")]
    assert len(paths) > 100
    for path in paths:
        ctx = PassContext()
        model = load_model(str(path), Registry(outside=False), ctx)
        if model is not None:
            check_model(model, ctx)
        for value in (*([model] if model else []), *ctx.diagnostics):
            for bare in (True, False):
                dumped = build_adapter(type(value)).dump_python(
                    value, mode="json", exclude_none=bare
                )
                assert to_data(value, exclude_none=bare) == dumped, path
    with pytest.raises(TypeError, match="bytes cannot be represented in JSON"):
        to_data(Task(id=b"t"))  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": ""},
        {"id": 1},
        {"id": "p", "nodes": [{"kind": "task"}]},
        {"id": "p", "nodes": [{"kind": "task", "id": "t", "task_type": "robot"}]},
        {"id": "p", "nodes": [{"kind": "taks", "id": "t"}]},
        {"id": "p", "nmae": "x"},
        {"id": "p", "nodes": (Task(id=1),)},  # type: ignore[arg-type]  # on purpose
        {"id": "p", "nodes": (SubProcess(id="s", nodes=(Task(id="t", name=None),)),)},  # type: ignore[arg-type]  # on purpose
        {"id": "p", "flows": (Task(id="t"),)},
    ],
    ids=repr,
)
def test_validation_refuses(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="validation error"):
        Process.validate(wrong)


def test_validation_of_a_value_looks_at_every_part() -> None:
    good = Process(
        id="p", nodes=(SubProcess(id="s", nodes=(Gateway(id="g", gateway_kind="event"),)),)
    )
    assert Process.validate(good) == good
    made = good.nodes[0].replace(nodes=(Gateway(id="g", gateway_kind="x"),))  # type: ignore[arg-type]  # on purpose
    with pytest.raises(ValueError, match="gateway_kind"):
        Process.validate(good.replace(nodes=(made,)))


def test_validation_converts_lists() -> None:
    process = Process(id="p", nodes=[Task(id="t")])  # type: ignore[arg-type]  # as a plugin may
    assert Process.validate(process).nodes == (Task(id="t"),)


def test_validation_keeps_provenance() -> None:
    loc = SourceLocation(file="a.bpmn", line=3, span=(4, 9))
    task = Task(id="t", loc=loc, origin="a pass", derived_from=("s",))
    checked = Task.validate(task)
    assert (checked.loc, checked.origin, checked.derived_from) == (loc, "a pass", ("s",))


def test_a_class_of_ones_own() -> None:
    class Priced(Task):
        price: int
        note: str = "none"

    with pytest.raises(TypeError, match="price"):
        Priced(id="t")  # type: ignore[call-arg]  # on purpose
    with pytest.raises(ValueError, match="valid integer"):
        Priced.validate({"id": "t", "price": "much"})
    assert from_json(Priced, '{"id": "t", "price": 3}') == Priced(id="t", price=3)
    assert {f.name for f in fields(Priced)} == {*(f.name for f in fields(Task)), "price", "note"}
    assert json_schema(Priced)["required"] == ["id", "price"]


def test_a_default_factory_is_refused() -> None:
    with pytest.raises(TypeError, match="plain default"):

        class Listed(Value):
            items: list[str] = dataclasses.field(default_factory=list)


def test_validators_are_built_by_several_threads_at_once() -> None:
    code = (
        "import sys, threading; sys.setswitchinterval(1e-6)\n"
        "from orgflow_ir.model import *\n"
        "from orgflow_ir.model.adapters import build_adapter\n"
        "from orgflow_ir.model.codec import json_schema\n"
        "kinds = [Task, Process, Model, SubProcess, Event, Flow, Pool, Lane] * 3\n"
        "done = []\n"
        "def make(kind): done.append((id(build_adapter(kind)), str(json_schema(kind))))\n"
        "threads = [threading.Thread(target=make, args=(k,)) for k in kinds]\n"
        "for t in threads: t.start()\n"
        "for t in threads: t.join()\n"
        "assert len(done) == len(kinds), done\n"
        "assert len(set(done)) == 8\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_compiling_imports_no_validator(root: Path) -> None:
    """It takes longer than all else that a compile does to a small model."""
    model = str(root / "examples" / "order-to-cash" / "model.bpmn")
    for command in (["check", model], ["compile", model, "--target", "n8n", "-o", os.devnull]):
        code = (
            "import sys; from orgflow.cli import main\n"
            "try: main()\n"
            "except SystemExit: pass\n"
            "print(sorted({'pydantic', 'networkx', 'httpx', 'jsonschema'} & set(sys.modules)))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, *command], capture_output=True, text=True
        )
        assert done.stdout.splitlines()[-1:] == ["[]"], done.stderr
