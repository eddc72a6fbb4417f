"""The IR as JSON, in and out, and its published schema."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from orgflow.backends.ir.backend import IrBackend
from orgflow.frontends.ir.frontend import IrFrontend

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.legalisation.legalise import illegal_uses
from orgflow_ir.model import Model, Process, SubProcess, Task
from orgflow_ir.model.constructs import CONSTRUCTS
from orgflow_ir.model.publish_schema import SCHEMA, model_schema
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets import Legal
from orgflow_ir.testing.conformance.minimal_models import minimal_models


def parse(data: str | bytes) -> tuple[Model | None, list[Diagnostic]]:
    ctx = PassContext()
    data = data.encode() if isinstance(data, str) else data
    return IrFrontend().parse(SourceFile("m.ir.json", data), ctx), ctx.diagnostics


def models() -> list[tuple[str, Model]]:
    return list(minimal_models())


def test_the_published_schema_is_current() -> None:
    assert SCHEMA.read_text("utf-8") == model_schema(), (
        "run `python -m orgflow_ir.model.publish_schema` and commit the result"
    )


def test_every_construct_is_legal_and_comes_back() -> None:
    backend, spec = IrBackend(), IrBackend().target
    assert all(isinstance(spec.legality(name), Legal) for name in CONSTRUCTS)
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text("utf-8")))
    assert len(models()) > 50
    for name, model in models():
        assert illegal_uses(model, spec, PassContext(target=spec)) == [], name
        (artifact,) = backend.emit(model, PassContext()).artifacts
        assert list(validator.iter_errors(json.loads(artifact.text))) == [], name
        again, found = parse(artifact.text)
        assert (again, found) == (model, []), name
        assert backend.emit(again or model, PassContext()).artifacts == (artifact,)


def test_the_schema_refuses_what_the_reader_refuses() -> None:
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text("utf-8")))
    for text in (
        '{"id": "m", "proceses": []}',
        '{"id": ""}',
        '{"id": "m", "processes": [{"id": "p", "nodes": [{"kind": "task"}]}]}',
        '{"id": "m", "processes": [{"id": "p", "flows": [{"id": "f", "source": 1}]}]}',
    ):
        assert not validator.is_valid(json.loads(text)), text
        assert parse(text)[0] is None, text


def test_file_names() -> None:
    for source, name in (
        ("a/b/order.bpmn", "order.ir.json"), ("<stdin>", "stdin.ir.json"), ("", "model.ir.json"),
    ):  # fmt: skip
        (artifact,) = IrBackend().emit(Model(id="m", source=source), PassContext()).artifacts
        assert artifact.path == name


@pytest.mark.parametrize(
    ("text", "code", "path", "line"),
    [
        ("", "OF040", None, 1),
        ('{"id": "m",\n}', "OF040", None, 2),
        (b"\xff", "OF040", None, 1),
        ("{}", "OF041", "$.id", 1),
        ("[]", "OF041", "$", 1),
        ('{"id": "m",\n "q": 1}', "OF041", "$.q", 2),
        (
            '{"id": "m", "processes": [{"id": "p", "nodes": [\n{"kind": "task", "id": "a", '
            '"x": 1}]}]}',
            "OF041", "$.processes[0].nodes[0].x", 2,
        ),
        (
            '{"id": "m", "processes": [{"id": "p", "nodes": [\n{"kind": "event", "id": "a"}]}]}',
            "OF041", "$.processes[0].nodes[0].position", 2,
        ),
        (
            '{"id": "m", "processes": [{"id": "p", "nodes": [\n{"kind": "robot", "id": "a"}]}]}',
            "OF041", "$.processes[0].nodes[0]", 2,
        ),
        ('{"id": "m", "processes": [\n{"id": "m"}]}', "OF042", "$.processes[0]", 2),
    ],
)  # fmt: skip
def test_findings_name_path_and_place(
    text: str | bytes, code: str, path: str | None, line: int | None
) -> None:
    model, found = parse(text)
    assert model is None
    assert [d.code for d in found] == [code]
    (only,) = found
    assert only.loc is not None
    assert only.loc.line == line
    assert only.help
    if path is not None:
        assert only.loc.element == path
        assert only.message.startswith(path)


def test_an_id_twice_anywhere_is_refused() -> None:
    inner = SubProcess(id="s", nodes=(Task(id="a"),))
    model = Model(id="m", processes=(Process(id="p", nodes=(inner, Task(id="a"))),))
    again, found = parse(model.to_json())
    assert again is None
    assert [(d.code, d.element) for d in found] == [("OF042", "a")]


def test_sniffing() -> None:
    frontend = IrFrontend()
    assert frontend.sniff(SourceFile("x.json", b'{"id": "m", "processes": []}'))
    assert frontend.sniff(SourceFile("x.ir.json", b""))
    assert not frontend.sniff(SourceFile("x.json", b'{"tasks": [], "sequenceFlows": []}'))


def test_a_model_survives_the_way_there_and_back_on_disk(tmp_path: Path) -> None:
    some = models()[:10]
    assert len(some) == 10
    for name, model in some:
        file = tmp_path / f"{name}.ir.json"
        file.write_text(model.to_json(), "utf-8")
        assert parse(file.read_bytes())[0] == model
