"""Whatever is well-formed gives a model or a diagnostic, never a traceback."""

from __future__ import annotations

import random
import re

from bpmn_text import definitions, parse, process
from hypothesis import given, settings
from hypothesis import strategies as st
from orgflow.frontends.bpmn.schema_disposition import KNOWN_TAGS, attributes_of

from orgflow_ir.model import Model

TAGS = sorted(KNOWN_TAGS | {"v:robot", "robot"})
ATTRIBUTES = sorted(set().union(*(attributes_of(t) for t in KNOWN_TAGS)) | {"v:x", "colour"})
VALUES = ("a", "b", "c", "true", "false", "maybe", "", " a ", "t:a", "x:y:z", "7", "Parallel")
TEXTS = ("", "a", " b ", "t:c", "PT1H", "x > 1")


@st.composite
def elements(draw: st.DrawFn, depth: int = 0) -> str:
    tag = draw(st.sampled_from(TAGS))
    keys = draw(st.lists(st.sampled_from(ATTRIBUTES), max_size=3, unique=True))
    attributes = "".join(f' {k}="{draw(st.sampled_from(VALUES))}"' for k in keys)
    if draw(st.booleans()):
        attributes = f' id="{draw(st.sampled_from("abcdef"))}"' + attributes.replace(
            " id=", " v:id="
        )
    inner = draw(st.sampled_from(TEXTS)).replace(">", "&gt;")
    if depth < 3:
        inner += "".join(draw(st.lists(elements(depth=depth + 1), max_size=3)))
    return f"<{tag}{attributes}>{inner}</{tag}>"


def check(text: str | bytes) -> None:
    model, found = parse(text, options={"diagram": True})
    assert model is not None or any(d.severity == "error" for d in found)
    if model is not None:
        assert Model.from_json(model.to_json()) == model
        seen = set()
        for scope in model.scopes():
            for element in (scope, *scope.flows, *scope.lanes, *scope.data_objects,
                            *scope.data_flows, *scope.artifacts,
                            *(n for n in scope.nodes if n.kind != "sub-process")):  # fmt: skip
                assert element.id not in seen, f"{element.id} twice"
                seen.add(element.id)
    for diagnostic in found:
        assert diagnostic.loc is not None
        assert diagnostic.loc.line
        assert diagnostic.help


@settings(max_examples=100)
@given(st.lists(elements(), max_size=4), st.booleans())
def test_any_arrangement_of_bpmn_elements(parts: list[str], in_process: bool) -> None:
    check((process if in_process else definitions)("".join(parts)))


@settings(max_examples=150)
@given(st.binary(max_size=60), st.sampled_from([b"", b"\xff\xfe", b"<", b"<?xml ", b"<!DOCTYPE "]))
def test_any_bytes(data: bytes, start: bytes) -> None:
    check(start + data)


SEED = process(
    '<startEvent id="s" name="Order é"><outgoing>f</outgoing><timerEventDefinition><timeDate>1'
    '</timeDate></timerEventDefinition></startEvent><task id="t"><extensionElements><v:x y="1"/>'
    '</extensionElements></task><sequenceFlow id="f" sourceRef="s" targetRef="t">'
    "<conditionExpression>a &gt; 1</conditionExpression></sequenceFlow>"
)


def test_damaged_files() -> None:
    dice = random.Random(7)
    pieces = re.findall(r"<[^>]*>|[^<]+", SEED)
    for _ in range(400):
        kind = dice.randrange(4)
        if kind == 0:  # a piece gone, doubled or moved
            changed = list(pieces)
            at = dice.randrange(len(changed))
            piece = changed.pop(at)
            if dice.random() < 0.7:
                changed.insert(dice.randrange(len(changed)), piece)
            check("".join(changed))
        elif kind == 1:  # cut off
            check(SEED[: dice.randrange(len(SEED))])
        elif kind == 2:  # bytes changed
            data = bytearray(SEED.encode())
            for _ in range(dice.randrange(1, 4)):
                data[dice.randrange(len(data))] = dice.randrange(256)
            check(bytes(data))
        else:  # an attribute renamed or a value changed
            check(re.sub(dice.choice(["Ref", "id", "s", "t", '"f"']),
                         dice.choice(["x", "name", ""]), SEED, count=1))  # fmt: skip
