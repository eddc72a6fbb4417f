"""Words of notes, several planes and what is drawn nowhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bpmn_trips import read_file
from cli_cases import orgflowc
from orgflow.backends.svg.nodes import draw_artifact
from orgflow.backends.svg.render import render_model, shown_ids
from orgflow.backends.svg.words import strip_markdown

from orgflow_ir.layout.keep import draw_model
from orgflow_ir.layout.text import LINE
from orgflow_ir.model import Artifact, DataObject, Model, Process, SubProcess, Task
from orgflow_ir.model.diagram import PLANE, Diagram, Shape

DATA = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="D"
    targetNamespace="u"><process id="p"><task id="t"/><dataObject id="do"/>
<dataObjectReference id="ref" name="Paper" dataObjectRef="do"/></process></definitions>"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("## Try it out!\n### This **workflow** does", "Try it out! This workflow does"),
        ("![logo](https://x.org/a.png)\nSee [the docs](https://x.org) `now`", "See the docs now"),
        ("```json\n{}\n```", "{}"),
        ("#1 of 2 * 3 ** 4, a[0](1)", "#1 of 2 * 3 ** 4, a[0](1)"),
        ("plain", "plain"),
    ],
)
def test_marks_of_markdown_are_no_words(text: str, words: str) -> None:
    assert strip_markdown(text) == words


def heights(drawn: list[str]) -> list[float]:
    return [float(y) for y in re.findall(r'<text x="[^"]*" y="([^"]*)"', "".join(drawn))]


def test_words_of_a_note_stand_on_no_node() -> None:
    note = Artifact(id="n", artifact_kind="annotation", text="word " * 400)
    box, node = (0.0, 0.0, 300.0, 400.0), (100.0, 150.0, 96.0, 96.0)
    around = (-50.0, -50.0, 900.0, 900.0)
    found = heights(draw_artifact(note, box, (box, node, around)))
    assert found
    assert max(found) <= 150 or min(found) - LINE >= 246
    alone = heights(draw_artifact(note, box, (box, around)))
    assert max(alone) <= 400
    assert len(alone) > len(found)
    assert heights(draw_artifact(note, (0.0, 0.0, 100.0, 96.0), ((-1.0, 2.0, 96.0, 90.0),))) == []


def test_real_notes_have_no_marks(shared: Path) -> None:
    text = render_model(read_file(shared / "data" / "n8n-workflows" / "081.json", diagram=True))
    words = re.findall(r"<text[^>]*>([^<]*)</text>", text)
    assert "Get a thread" in " ".join(words)
    assert not [w for w in words if w.startswith("#") or "](" in w or "**" in w]


def test_a_plane_has_a_heading() -> None:
    sub = SubProcess(id="sub", name="Handle <order>", nodes=(Task(id="a", name="Inner"),))
    shapes = (
        Shape(element="sub", bounds=(0, 0, 100, 80), expanded=False),
        Shape(element="a", bounds=(0, 0, 100, 80), extra=((PLANE, "1"),)),
    )
    process = Process(id="P", nodes=(sub,))
    text = render_model(Model(id="M", processes=(process,), diagram=Diagram(shapes=shapes)))
    assert re.findall(r'<text class="of-bold"[^>]*>([^<]*)<', text) == ["Handle &lt;order&gt;"]
    tops = re.findall(r'<rect class="of-node[^"]*" x="0" y="([\d.]+)"', text)
    assert float(tops[1]) - float(tops[0]) > 80


def test_a_group_hides_nothing() -> None:
    group = Artifact(id="g", artifact_kind="group", text="Group")
    assert "of-node" not in "".join(draw_artifact(group, (0.0, 0.0, 100.0, 80.0)))


def test_what_nothing_shows_is_not_highlighted() -> None:
    target = "svg{highlight=do+t}"
    done = orgflowc("compile", "-", "--from", "bpmn", "--target", target, stdin=DATA)
    assert done.code == 0
    assert "OF495" in done.err
    assert "`do` should be highlighted, but it is not visible in the picture" in done.err
    assert "`t` is" not in done.err


def test_a_closed_sub_process_shows_what_is_in_it() -> None:
    data = DataObject(id="d", data_kind="object")
    sub = SubProcess(id="sub", nodes=(Task(id="a"),), data_objects=(data,))
    shapes = (Shape(element="sub", bounds=(0, 0, 100, 80), expanded=False),)
    process = Process(id="P", nodes=(sub,))
    model = Model(id="M", processes=(process,), diagram=Diagram(shapes=shapes))
    assert shown_ids(model, draw_model(model)) == {"sub", "a", "d"}
