"""`trusted` makes the very value that validation would make."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from orgflow_ir.model import Flow, Model, Process, SubProcess, Task
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.model.value import trusted


def test_equal_to_a_validated_value() -> None:
    loc = trusted(SourceLocation, file="a.bpmn", line=3, span=(4, 9))
    fields: dict[str, Any] = {"name": "Pack", "id": "pack", "loc": loc, "task_type": "user"}
    quick, slow = trusted(Task, **fields), Task(**fields)
    assert quick == slow
    assert quick.loc == loc
    assert list(vars(quick)) == list(vars(slow)), "the text form has the order of the fields"
    assert quick.model_fields_set == slow.model_fields_set
    assert quick.model_dump_json() == slow.model_dump_json()
    assert quick.replace(name="Send").name == "Send"
    assert hash(quick) == hash(slow)


def test_equality_tells_every_field_but_where_a_value_comes_from() -> None:
    flow = Flow(id="f", source="a", target="b")
    assert flow != flow.replace(source="c")
    assert hash(flow) != hash(flow.replace(source="c"))
    assert flow == flow.replace(origin="a pass", loc=SourceLocation(file="x.bpmn", line=1))
    model = Model(id="m", source="a.bpmn")
    assert model == model.replace(source="b.json")
    assert model != model.replace(name="Order")


def test_copies() -> None:
    process = Process(id="p", nodes=(SubProcess(id="s", nodes=(Task(id="t"),)),))
    for made in (copy.copy(process), copy.deepcopy(process), pickle.loads(pickle.dumps(process))):
        assert made == process
        assert made.model_dump_json() == process.model_dump_json()
    assert process.model_copy(update={"name": "Order"}).name == "Order"
    with pytest.raises(TypeError, match="nmae"):
        process.model_copy(update={"nmae": "Order"})


def test_a_class_of_ones_own() -> None:
    class Priced(Task):
        price: int
        note: str = "none"

    with pytest.raises(ValueError, match="price"):
        Priced(id="t")  # type: ignore[call-arg]  # what is tested
    with pytest.raises(ValueError, match="valid integer"):
        Priced.model_validate({"id": "t", "price": "much"})
    assert Priced.model_validate_json('{"id": "t", "price": 3}') == Priced(id="t", price=3)
    assert set(Priced.model_fields) == {*Task.model_fields, "price", "note"}
    assert Priced.model_json_schema()["required"] == ["id", "price"]


def test_validators_are_built_by_several_threads_at_once() -> None:
    code = (
        "import sys, threading; sys.setswitchinterval(1e-6)\n"
        "from orgflow_ir.model import *\n"
        "kinds = [Task, Process, Model, SubProcess, Event, Flow, Pool, Lane] * 3\n"
        "done = []\n"
        "def make(kind): done.append(kind.model_json_schema())\n"
        "threads = [threading.Thread(target=make, args=(k,)) for k in kinds]\n"
        "for t in threads: t.start()\n"
        "for t in threads: t.join()\n"
        "assert len(done) == len(kinds), done\n"
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


def test_frozen_and_read_back() -> None:
    model = trusted(Model, id="m", name="Order")
    with pytest.raises(ValueError):
        model.name = "other"
    assert Model.from_json(model.to_json()) == model


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"id": "f", "source": "a"}, "target"),
        ({"id": "f", "source": "", "target": "", "x": 1}, "x"),
    ],
)
def test_missing_and_unknown_fields_are_refused(fields: dict[str, Any], wrong: str) -> None:
    with pytest.raises(TypeError, match=wrong):
        trusted(Flow, **fields)
