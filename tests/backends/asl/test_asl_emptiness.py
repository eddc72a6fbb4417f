"""Conditions that ask whether something is empty or defined, on moto's interpreter and as rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from asl_play import Compiled, Validator, validator
from bpmn_text import parse
from orgflow.backends.asl.engine import Answer, MotoEngine
from orgflow.backends.asl.variables import NO_TRUTH, NOT_TOLD

from orgflow_ir.model import Model
from orgflow_ir.plugins import Registry

ABSENT = object()
OF_JUEL: list[tuple[Any, bool | None]] = [
    (ABSENT, True), (None, True), ("", True), ("a", False), (0, False), (False, False),
    ([1], False), ([None], False), ([], None), ({}, None), ({"a": 1}, None),
]  # fmt: skip
"""Values with whether they are empty (Jakarta Expression Language 3.0, 1.10); `None`: a Choice
state cannot tell."""
DEFINED: list[tuple[Any, bool | None]] = [
    (ABSENT, False), (None, False), ("", True), (0, True), ([], True), ({}, True),
]  # fmt: skip


def model(condition: str) -> Model:
    found, _ = parse(
        '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><process id="p">'
        '<startEvent id="s"/><exclusiveGateway id="g" default="f2"/><endEvent id="yes" name="Yes"/>'
        '<endEvent id="no" name="No"/><sequenceFlow id="f0" sourceRef="s" targetRef="g"/>'
        '<sequenceFlow id="f1" sourceRef="g" targetRef="yes"><conditionExpression '
        f'xsi:type="tFormalExpression">{condition}</conditionExpression></sequenceFlow>'
        '<sequenceFlow id="f2" sourceRef="g" targetRef="no"/></process></definitions>'
    )
    assert found is not None
    return found


@pytest.fixture(scope="module")
def engine() -> Iterator[MotoEngine]:
    made = MotoEngine()
    yield made
    made.close()


@pytest.fixture(scope="module")
def referee() -> Iterator[Validator]:
    with validator() as found:
        yield found


def negated(rows: list[tuple[Any, bool | None]]) -> list[tuple[Any, bool | None]]:
    return [(value, None if wanted is None else not wanted) for value, wanted in rows]


@pytest.mark.parametrize(
    ("condition", "rows"),
    [
        ("${empty x}", OF_JUEL),
        ("${not empty x}", negated(OF_JUEL)),
        ("= is defined(x)", DEFINED),
        ("= not(is defined(x))", negated(DEFINED)),
        ("${x == null}", negated(DEFINED)),
        ("${not empty x and x > 3}", [(ABSENT, False), ("", False), (4, True), (2, False)]),
        ("${y and empty x}", [([], False), ("", False)]),
    ],
)
def test_what_a_choice_takes(
    condition: str,
    rows: list[tuple[Any, bool | None]],
    registry: Registry,
    engine: MotoEngine,
    referee: Validator,
) -> None:
    made = Compiled(model(condition), registry)
    assert made.told("OF406") == []
    (definition,) = made.definitions
    assert referee.problems(definition) == []
    engine.load(definition)
    for value, wanted in rows:
        data = {"y": False} if value is ABSENT else {"y": False, "x": value}
        played = engine.run(data, lambda element: Answer({}), 60)
        if wanted is None:
            assert (played.status, played.error) == ("FAILED", NOT_TOLD), value
            assert "“x”" in str(played.cause)
        else:
            assert played.status == "SUCCEEDED", (value, played.cause)
            assert ("Yes" in played.entered) is wanted, value


TRUTHS: list[tuple[Any, bool | None]] = [
    (True, True), (False, False), (None, False), ("true", True), ("TRUE", True), ("false", False),
    (1, None), (0, None), ([1], None), ({}, None),
]  # fmt: skip
"""Values with whether JUEL takes them for true; `None`: an engine ends with an error."""


@pytest.mark.parametrize(
    ("language", "condition", "rows"),
    [
        (None, "${x}", TRUTHS),
        (None, "${!x}", [(v, None if w is None else not w) for v, w in TRUTHS]),
        (None, "${z and x}", TRUTHS),
        (None, "${y and x}", [(1, False), ("false", False)]),
        (None, "${z or x}", [(1, True)]),
        ("mvel", "!x", [(True, False), (False, True), ("false", None), (1, None)]),
        ("javascript", "!x", [(True, False), ("false", False), ("", True), (0, True)]),
    ],
)
def test_what_is_true(
    language: str | None,
    condition: str,
    rows: list[tuple[Any, bool | None]],
    registry: Registry,
    engine: MotoEngine,
    referee: Validator,
) -> None:
    made = Compiled(with_language(model(condition), language), registry)
    (definition,) = made.definitions
    assert referee.problems(definition) == []
    engine.load(definition)
    for value, wanted in rows:
        data = {"y": False, "z": True, "x": value}
        played = engine.run(data, lambda element: Answer({}), 60)
        if wanted is None:
            assert (played.status, played.error) == ("FAILED", NO_TRUTH), value
            assert "“x”" in str(played.cause)
        else:
            assert played.status == "SUCCEEDED", (value, played.cause)
            assert ("Yes" in played.entered) is wanted, value


def with_language(found: Model, language: str | None) -> Model:
    """The model with the language of its conditions."""
    (process,) = found.processes
    flows = tuple(
        flow.replace(condition=flow.condition.replace(language=language))
        if flow.condition is not None
        else flow
        for flow in process.flows
    )
    return found.replace(processes=(process.replace(flows=flows),))
