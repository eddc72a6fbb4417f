"""The package, leaf by leaf: each keeps its contract, and does what it is for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from orgflow_ir.legalisation.legalise import legalise
from orgflow_ir.model import Gateway, Model, Process, SourceFile, Task
from orgflow_ir.pipeline import PassContext, parse_pipeline
from orgflow_ir.plugins import Registry
from orgflow_ir.testing import (
    artifacts_text,
    check_backend,
    check_frontend,
    check_lowerings,
    check_pass,
    emit,
)
from orgflow_ir.testing.conformance.minimal_models import minimal_model

from orgflow_board.dot import DotBackend, quoted
from orgflow_board.escalation import EscalationToTask
from orgflow_board.steps import BoardFrontend
from orgflow_board.vague_label import VagueLabel

EXAMPLE = Path(__file__).parents[1] / "leave.board"


def read(text: str) -> tuple[Model | None, list[tuple[str, int | None]]]:
    """The model of a text, and codes and lines of what was found."""
    ctx = PassContext()
    model = BoardFrontend().parse(SourceFile("a.board", text.encode()), ctx)
    return model, [(d.code, d.loc.line if d.loc else None) for d in ctx.diagnostics]


def test_the_frontend_keeps_its_contract() -> None:
    check_frontend(BoardFrontend(), [SourceFile(EXAMPLE.name, EXAMPLE.read_bytes())])


def test_the_backend_keeps_its_contract() -> None:
    check_backend(DotBackend())


def test_the_pass_keeps_its_contract() -> None:
    check_pass(VagueLabel())


def test_the_lowering_keeps_its_contract() -> None:
    check_lowerings([EscalationToTask()])


def test_all_are_registered() -> None:
    registry = Registry()
    assert isinstance(registry.frontends["board"], BoardFrontend)
    assert isinstance(registry.backends["dot"], DotBackend)
    assert registry.passes["vague-label"] is VagueLabel
    assert [low.name for low in registry.lowerings["asl"]] == ["escalation-to-task"]


def test_branches_that_go_on_are_joined() -> None:
    model, found = read(EXAMPLE.read_text("utf-8"))
    assert found == []
    assert model is not None
    (process,) = model.processes
    gateways = [n.gateway_kind for n in process.nodes if isinstance(n, Gateway)]
    assert gateways == ["exclusive", "parallel", "parallel"]  # only one way on: no exclusive join
    labels = {f.name for f in process.flows}
    assert labels == {"", "Yes", "No"}


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("do A", "BOARD002", 1),
        ("process", "BOARD002", 1),
        ("process P\nstart S", "BOARD007", 2),
        ("process P\ndo A\nstart S", "BOARD007", 3),
        ("process P\nperform A", "BOARD003", 2),
        ("process P\ndo A\n  do B", "BOARD004", 3),
        ("process P\n\tdo A", "BOARD004", 2),
        ("process P\nchoose Q\n  A\n    do X\n   B\n    do Y", "BOARD004", 5),
        ("process P\n" + "\n".join(" " * i + "choose Q" for i in range(60)), "BOARD004", 42),
        ("process P\nchoose Q\n  Yes\n    do A", "BOARD005", 2),
        ("process P\nend E\ndo A", "BOARD006", 3),
        ("process P\nchoose Q\n  A\n    end\n  B\n    end\ndo C", "BOARD006", 7),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, code: str, line: int) -> None:
    model, found = read(text)
    assert model is None
    assert (code, line) in found


def test_labels_stay_labels() -> None:
    assert quoted('a"b\\N\nc') == '"a\\"b\\\\N c"'


def test_a_drawing() -> None:
    artifacts, said = emit(DotBackend(), minimal_model("event.boundary.timer"))
    assert said == []
    assert artifacts is not None
    text = artifacts_text(artifacts)
    assert '"work" -> "boundary" [style=dotted, arrowhead=none];' in text
    assert '"boundary" [label="Something happens\\ntimer", shape=circle, style=solid];' in text
    assert text.count("{") == text.count("}")


def test_vague_labels() -> None:
    tasks = (Task(id="a", name="Handle request"), Task(id="b", name="Check request"))
    model = Model(id="m", processes=(Process(id="p", nodes=tasks),))
    ctx = PassContext()
    VagueLabel().run(model, ctx)
    assert [(d.code, d.element) for d in ctx.diagnostics] == [("BOARD501", "a")]
    (other,) = parse_pipeline("vague-label{verbs=check}", {"vague-label": VagueLabel})
    ctx = PassContext()
    other.run(model, ctx)
    assert [d.element for d in ctx.diagnostics] == ["b"]


def test_escalations_on_step_functions_need_a_word_from_the_user() -> None:
    model = minimal_model("event.throw.escalation")
    registry = Registry()
    asl = registry.backends["asl"]
    for allowed, code in ((False, "OF402"), (True, "OF402")):
        ctx = PassContext(registry=registry, target=asl.target, options={})
        legal = legalise(model, asl.target, ctx, allow_lossy=allowed)
        assert [d.code for d in ctx.diagnostics] == [code]
        assert ctx.has_errors is not allowed
        assert ("task.send" in {n.construct for n in legal.processes[0].nodes}) is allowed


def test_what_is_read_can_be_written() -> None:
    model, _ = read(EXAMPLE.read_text("utf-8"))
    assert model is not None
    artifacts, _ = emit(Registry().backends["n8n"], model, {})
    assert artifacts is not None
    assert "Record absence" in {n["name"] for n in json.loads(artifacts[0].text)["nodes"]}
