"""Evidence is written into BPMN files and read from them again."""

from __future__ import annotations

from typing import Any

import pytest
from bpmn_trips import read, schema_errors, written

from orgflow_ir.model import Element, Evidence, Model
from orgflow_ir.model.provenance import all_elements
from orgflow_ir.model.value import Value
from orgflow_ir.testing.conformance.minimal_models import minimal_models

MINIMAL = dict(minimal_models())


def with_evidence(part: Any) -> Any:
    """The part of a model, every element in it with two passages of its own."""
    if isinstance(part, tuple):
        return tuple(with_evidence(item) for item in part)
    if not isinstance(part, Value):
        return part
    part = part.replace(**{name: with_evidence(inner) for name, inner in part.__dict__.items()})
    if not isinstance(part, Element):
        return part
    passages = (
        Evidence(document="mail <7>", quote=f' "{part.id}" &\n is\tthere '),
        Evidence(
            document="notes", quote=part.id, span=(4, 9), lines=(1, 2), confidence=0.1, agent="a b"
        ),
    )
    return part.replace(evidence=passages)


def evidence(model: Model) -> dict[str, tuple[Evidence, ...]]:
    return {e.id: e.evidence for e in (model, *all_elements(model))}


@pytest.mark.parametrize("construct", MINIMAL)
def test_evidence_of_every_element_comes_back(construct: str) -> None:
    model = with_evidence(MINIMAL[construct])
    text = written(model)
    assert schema_errors(text) == []
    again, said = read(text)
    assert said == []
    expected = evidence(model)
    for opaque in model.opaque:  # written as it was read
        del expected[opaque.id]
    assert {id: evidence(again)[id] for id in expected} == expected
    assert written(again) == text


@pytest.mark.parametrize(
    ("good", "bad", "said"),
    [
        ('span="4 9"', 'span="4"', "not enough values to unpack"),
        ('lines="1 2"', 'lines="one two"', "invalid literal for int()"),
        ('confidence="0.1"', 'confidence="2"', "the confidence 2 is not between 0 and 1"),
        ('confidence="0.1"', 'confidence="nan"', "the confidence nan is not between 0 and 1"),
    ],
)
def test_evidence_that_cannot_be_read_is_reported(good: str, bad: str, said: str) -> None:
    text = written(with_evidence(MINIMAL["task.user"]))
    number = text.count(good)
    assert number > 3
    again, findings = read(text.replace(good, bad))
    assert len(findings) == number
    assert {d.code for d in findings} == {"OF154"}
    assert all(said in d.message for d in findings)
    assert {len(element.evidence) for element in all_elements(again)} == {1}


@pytest.mark.parametrize("text", ["x", "5", "[5]", "[{&quot;document&quot;: &quot;d&quot;}]"])
def test_evidence_of_the_model_that_cannot_be_read_is_reported(text: str) -> None:
    model = MINIMAL["task.user"]
    whole = written(model.replace(evidence=(Evidence(document="d", quote="q"),)))
    start = whole.index('orgflow:evidence="') + len('orgflow:evidence="')
    broken = whole[:start] + text + whole[whole.index('"', start) :]
    again, findings = read(broken)
    assert [d.code for d in findings] == ["OF154"]
    assert again.evidence == ()
