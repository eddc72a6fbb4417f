"""Control characters and surrogates in the texts of a model never reach an output."""

from __future__ import annotations

import json
import re
import xml.dom.minidom
from pathlib import Path

import orgflow
import pytest

from orgflow_ir.model import Event, Evidence, Flow, Model, Process, Task
from orgflow_ir.model.characters import replace_unwritable, with_writable_texts
from orgflow_ir.model.codec import to_json

BAD = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]"
    r"|\\u(00(0[0-8bcefBCEF]|1[0-9a-fA-F])|[dD][89a-fA-F]..|[fF]{3}[eEfF])"
)
"""A character that XML 1.0 has not, as it is or as JSON writes it."""

TEXTS = {
    "a bell": ("Pack\x07", "Pack\ufffd"),
    "an escape": ("\x1b[31mPack", "\ufffd[31mPack"),
    "a null": ("Pa\x00ck", "Pa\ufffdck"),
    "a form feed": ("Pack\x0corder", "Pack order"),
    "a separator": ("Pack\x1forder", "Pack order"),
    "no character": ("Pack\uffff", "Pack\ufffd"),
}


def model(name: str) -> Model:
    nodes = (
        Event(id="s", position="start"),
        Task(id="pack", name=name, doc=f"Then {name}."),
        Event(id="e", position="end"),
    )
    flows = (Flow(id="a", source="s", target="pack"), Flow(id="b", source="pack", target="e"))
    return Model(id="m", processes=(Process(id="P", name="Order", nodes=nodes, flows=flows),))


@pytest.mark.parametrize(("bad", "good"), TEXTS.values(), ids=TEXTS)
def test_texts_of_a_json_file_are_replaced_and_reported(
    bad: str, good: str, tmp_path: Path
) -> None:
    result = read_pme(bad, tmp_path)
    assert [(d.code, d.element) for d in result.diagnostics] == [("OF007", "pack")]
    assert task_name(result) == good
    for target in ("n8n", "bpmn", "svg", "mermaid", "asl", "ir"):
        files = orgflow.compile(result, target).files
        assert files, target
        for text in files.values():
            assert not BAD.search(text), target
        if target in ("bpmn", "svg"):
            xml.dom.minidom.parseString("".join(files.values()).encode())


def test_half_a_pair_of_surrogates_is_replaced(tmp_path: Path) -> None:
    assert task_name(read_pme("Pack\ud83d", tmp_path)) == "Pack\ufffd"


def read_pme(name: str, folder: Path) -> orgflow.ReadResult:
    file = folder / "m.pme.json"
    pme = {
        "tasks": [{"id": "pack", "name": name, "type": "User"}],
        "events": [
            {"id": "s", "name": "", "type": "StartNoneEvent"},
            {"id": "e", "name": "", "type": "EndNoneEvent"},
        ],
        "sequenceFlows": [
            {"id": "a", "sourceRef": "s", "targetRef": "pack"},
            {"id": "b", "sourceRef": "pack", "targetRef": "e"},
        ],
    }
    file.write_text(json.dumps(pme))
    return orgflow.read(file)


def task_name(result: orgflow.ReadResult) -> str:
    assert result.model is not None
    return next(n.name for s in result.model.scopes() for n in s.nodes if n.id == "pack")


def test_ir_json_too(tmp_path: Path) -> None:
    file = tmp_path / "m.ir.json"
    file.write_text(to_json(model("Pack_BELL_")).replace("_BELL_", "\\u0007"))
    result = orgflow.read(file)
    assert [(d.code, d.element) for d in result.diagnostics] == [("OF007", "pack")]
    assert result.model is not None
    assert result.model.processes == model("Pack\ufffd").processes


def test_a_pair_of_surrogates_is_one_character(tmp_path: Path) -> None:
    file = tmp_path / "m.ir.json"
    file.write_text(to_json(model("PAIR")).replace("PAIR", "\\ud83d\\ude00"))
    result = orgflow.read(file)
    assert result.diagnostics == ()
    assert result.model is not None
    assert result.model.processes == model("\U0001f600").processes


def test_ids_that_would_become_the_same_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "m.ir.json"
    two = to_json(model("Pack")).replace('"s"', '"x\\u0001"').replace('"e"', '"x\\u0002"')
    file.write_text(two)
    result = orgflow.read(file)
    assert result.model is None
    (error,) = result.diagnostics
    assert error.code == "OF007"
    assert error.message == f"{file} has two ids that differ only in control characters"


def test_what_is_writable_stays_the_same_value() -> None:
    plain = model("Pack\tthe\norder \x85 é 😀")
    assert with_writable_texts(plain) is plain
    assert replace_unwritable("a\r\n\tb") == "a\r\n\tb"
    changed = with_writable_texts(plain.replace(evidence=(Evidence(document="d", quote="a\x0cb"),)))
    assert changed.evidence[0].quote == "a b"
    assert changed.processes[0] is plain.processes[0]
