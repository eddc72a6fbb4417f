"""`trusted` makes the very value that validation would make."""

from __future__ import annotations

from typing import Any

import pytest

from orgflow_ir.model import Flow, Model, Task
from orgflow_ir.source import SourceLocation
from orgflow_ir.value import trusted


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
