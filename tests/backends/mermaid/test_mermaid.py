"""Flowcharts are read by Mermaid itself, with the nodes, links and labels of the model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bpmn_trips import read_file
from cli_cases import LINEAR, orgflowc
from hostile_labels import HOSTILE, hostile_model
from node_tools import NodeChild, tool
from orgflow.backends.mermaid import flowchart as flowchart_module
from orgflow.backends.mermaid.flowchart import quote_label, too_large, write_flowchart

from orgflow_ir.model import Artifact, DataFlow, DataObject, Flow, Model, Process, Task
from orgflow_ir.testing.conformance.minimal_models import minimal_models

SCRIPT = Path(__file__).with_name("mermaid_parser.cjs")
PACKAGES = {"mermaid": "11.12.0", "jsdom": "26.1.0"}
ODD = (
    "end", "subgraph", "%%{init: {'theme': 'dark'}}%%", "%% gone", "---\ntitle: x\n---",
    "click a b", "style n1 fill:#f00;", "classDef x fill:#f00;", "#quot;", "#35;", "a --> b",
    "x:::y", "n1@{a: b}", "fa:fa-user", "$$x$$", "`**md**`", "&lt;b&gt;", "]", ")", "}",
    '"]; n9["', "o--o", "x--x",
)  # fmt: skip


@pytest.fixture(scope="module")
def mermaid() -> Iterator[NodeChild]:
    with NodeChild(SCRIPT, str(tool("mermaid", PACKAGES)), seconds=120) as child:
        yield child


def parsed(mermaid: NodeChild, text: str) -> dict[str, Any]:
    answer = mermaid.ask({"source": text})
    assert answer["error"] is None, text
    return answer


def shown(text: str) -> str:
    """What Mermaid shows for a text with its own marks for entity codes."""
    return re.sub("ﬂ°°(\\d+)¶ß", lambda m: chr(int(m[1])), text)


def line(*names: str) -> Model:
    nodes = tuple(Task(id=f"t{n}", name=name) for n, name in enumerate(names))
    flows = tuple(
        Flow(id=f"f{n}", source=f"t{n}", target=f"t{n + 1}", name=name)
        for n, name in enumerate(names[1:])
    )
    return Model(id="M", processes=(Process(id="P", nodes=nodes, flows=flows),))


def test_real_models_are_flowcharts(shared: Path, mermaid: NodeChild) -> None:
    paths = sorted((shared / "data" / "pmo" / "pme").glob("*.json"))
    paths += sorted((shared / "data" / "miwg-reference").glob("*.bpmn"))
    assert len(paths) == 76
    for path in paths:
        model = read_file(path)
        answer = parsed(mermaid, write_flowchart(model))
        flows = sum(len(s.flows) for s in model.scopes())
        assert len(answer["links"]) >= flows + len(model.message_flows), path.name
        names = {shown(t) for t in (*answer["nodes"].values(), *answer["groups"].values())}
        for scope in model.scopes():
            for node in scope.nodes:
                if node.kind == "task":
                    assert node.label in names, path.name


@pytest.mark.parametrize("construct", [name for name, _ in minimal_models()])
def test_every_construct_is_a_flowchart(construct: str, mermaid: NodeChild) -> None:
    parsed(mermaid, write_flowchart(dict(minimal_models())[construct]))


@pytest.mark.parametrize("label", [*HOSTILE, *ODD])
def test_no_label_is_read_as_syntax(label: str, mermaid: NodeChild) -> None:
    text = write_flowchart(line("First", label, "Last"))
    answer = parsed(mermaid, text)
    nodes, links = answer["nodes"], answer["links"]
    assert list(nodes) == ["n1", "n2", "n3"]
    assert [link[:2] for link in links] == [["n1", "n2"], ["n2", "n3"]]
    folded = " ".join(label.split())
    clean = "".join("\ufffd" if ord(c) < 32 else c for c in folded) or "t1"
    assert shown(nodes["n2"]) == clean
    assert shown(links[1][2]) == "Last"
    if folded:
        assert shown(links[0][2]) == clean


@pytest.mark.parametrize("label", [*HOSTILE[:12], *ODD])
def test_no_label_of_a_group_is_read_as_syntax(label: str, mermaid: NodeChild) -> None:
    answer = parsed(mermaid, write_flowchart(hostile_model(label, "other")))
    assert len(answer["groups"]) == 1
    assert len(answer["nodes"]) == 11
    assert len(answer["links"]) == 12


def test_what_is_quoted_is_plain() -> None:
    assert quote_label("Check stock") == '"Check stock"'
    assert quote_label('a"b') == '"a#34;b"'
    assert set(quote_label("%%{}[]|<>`#;&:\\")[1:-1]) <= set("#;0123456789")


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_a_note_without_words(text: str, mermaid: NodeChild) -> None:
    note = Artifact(id="n", artifact_kind="annotation", text=text)
    process = Process(id="P", nodes=(Task(id="t"),), artifacts=(note,))
    assert list(parsed(mermaid, write_flowchart(Model(id="M", processes=(process,))))["nodes"]) == [
        "n1", "n2",
    ]  # fmt: skip


def test_a_chart_that_is_too_large_by_default_says_so(
    mermaid: NodeChild, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = write_flowchart(line(*["x"] * 501))
    assert len(parsed(mermaid, small)["links"]) == 500
    assert "%%" not in small
    large = write_flowchart(line(*["x"] * 502))
    assert "needs maxEdges above 500\n" in large
    assert "limit" in mermaid.ask({"source": large})["error"]
    long = write_flowchart(line("x" * 60_000))
    assert "needs maxTextSize above 50000\n" in long
    monkeypatch.setattr(flowchart_module, "_MOST_LINKS", 1)
    monkeypatch.setattr(flowchart_module, "_MOST_TEXT", 1)
    said = write_flowchart(line("a", "b", "c"))
    assert "maxEdges above 1 and maxTextSize above 1\n" in said
    assert len(parsed(mermaid, said)["links"]) == 2


def test_a_chart_that_is_too_large_is_a_warning() -> None:
    tasks = "".join(f'<task id="t{n}"/>' for n in range(503))
    flows = "".join(
        f'<sequenceFlow id="g{n}" sourceRef="t{n}" targetRef="t{n + 1}"/>' for n in range(502)
    )
    text = LINEAR.replace('<task id="ship"', tasks + flows + '<task id="ship"')
    done = orgflowc("compile", "-", "--from", "bpmn", "--target", "mermaid", stdin=text)
    assert done.code == 0
    assert "warning OF496 [large-chart]" in done.err
    assert "default limits: maxEdges (500)\n" in done.err
    small = orgflowc("compile", "-", "--from", "bpmn", "--target", "mermaid", stdin=LINEAR)
    assert "OF496" not in small.err
    assert too_large(write_flowchart(line("x" * 60_000))) == ("maxTextSize (50,000)",)


def test_a_data_object_is_drawn_once(mermaid: NodeChild) -> None:
    data = (
        DataObject(id="do", data_kind="object"),
        DataObject(id="ref", name="Paper", data_kind="reference", ref="do"),
        DataObject(id="lone", name="Lone", data_kind="object"),
    )
    reads = DataFlow(id="df", source="do", target="t")
    process = Process(id="P", nodes=(Task(id="t"),), data_objects=data, data_flows=(reads,))
    note = Artifact(id="n", artifact_kind="annotation", text="A note")
    answer = parsed(
        mermaid, write_flowchart(Model(id="M", processes=(process,), artifacts=(note,)))
    )
    assert sorted(shown(t) for t in answer["nodes"].values()) == ["A note", "Lone", "Paper", "t"]
    ends = {v: k for k, v in answer["nodes"].items()}
    assert [link[:2] for link in answer["links"]] == [[ends["Paper"], ends["t"]]]


def test_ids_of_the_model_are_not_used() -> None:
    model = Model(id="M", processes=(Process(id="P", nodes=(Task(id="end", name="Work"),)),))
    assert "n1[" in write_flowchart(model)
    assert " end" not in write_flowchart(model)


def test_the_command_and_its_direction() -> None:
    done = orgflowc("compile", "-", "--from", "bpmn", "--target", "mermaid", stdin=LINEAR)
    assert done.code == 0
    assert done.out.startswith("flowchart LR\n")
    target = "mermaid{direction=TB}"
    done = orgflowc("compile", "-", "--from", "bpmn", "--target", target, stdin=LINEAR)
    assert done.out.startswith("flowchart TB\n")
