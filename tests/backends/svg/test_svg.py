"""Pictures are well-formed, need nothing else, and labels are only text in them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from bpmn_trips import read_file
from cli_cases import DEADLOCK, LINEAR, orgflowc
from hostile_labels import HOSTILE, hostile_model
from lxml import etree
from orgflow.backends.svg.findings import Finding
from orgflow.backends.svg.render import element_ids, render_model

from orgflow_ir.diagnostics import Severity
from orgflow_ir.layout.keep import draw_model as layout
from orgflow_ir.layout.labels import boxes_overlap
from orgflow_ir.model import (
    Artifact,
    DataObject,
    Event,
    EventDefinition,
    Flow,
    Gateway,
    Lane,
    Loop,
    MessageFlow,
    Model,
    Pool,
    Process,
    SubProcess,
    Task,
)
from orgflow_ir.model.diagram import Diagram, Shape
from orgflow_ir.testing.conformance.minimal_models import minimal_models

SVG = "{http://www.w3.org/2000/svg}"


def picture(text: str) -> etree._Element:
    return etree.fromstring(text.encode())


def drawn(text: str) -> Counter[str]:
    return Counter(str(g.get("data-element")) for g in picture(text).iter(f"{SVG}g")) - Counter(
        ["None"] * 10_000
    )


def of(text: str, element: str) -> etree._Element:
    return next(g for g in picture(text).iter(f"{SVG}g") if g.get("data-element") == element)


def line(*nodes: object, **more: object) -> Model:
    start, end = Event(id="s", position="start"), Event(id="e", position="end")
    found = [start, *nodes, end]
    flows = [
        Flow(id=f"f{n}", source=found[n].id, target=found[n + 1].id)  # type: ignore[attr-defined]
        for n in range(len(found) - 1)
    ]
    process = Process(id="P", nodes=tuple(found), flows=tuple(flows), **more)  # type: ignore[arg-type]
    return Model(id="M", processes=(process,))


@pytest.mark.parametrize("construct", [name for name, _ in minimal_models()])
def test_every_construct_is_drawn(construct: str) -> None:
    model = dict(minimal_models())[construct]
    text = render_model(model)
    seen = drawn(text)
    wanted = [
        element.id
        for scope in model.scopes()
        for part in (scope.nodes, scope.flows, scope.lanes, scope.data_objects, scope.data_flows)
        for element in part
    ]
    assert len(wanted) > 2
    assert {name: seen[name] for name in wanted} == dict.fromkeys(wanted, 1)


def test_real_models_with_their_drawings(shared: Path) -> None:
    paths = sorted((shared / "data" / "miwg-reference").glob("*.bpmn"))
    assert len(paths) == 21
    for path in paths:
        model = read_file(path, diagram=True)
        assert len(drawn(render_model(model))) > 5, path.name


@pytest.mark.parametrize("label", [*HOSTILE, "]]>", "<script>alert(1)</script>", '" onload="x'])
def test_labels_are_only_text(label: str) -> None:
    text = render_model(hostile_model(label, "other"), marks={"t": label}, theme="light")
    tags = {str(e.tag).removeprefix(SVG) for e in picture(text).iter() if isinstance(e.tag, str)}
    assert tags <= {"svg", "title", "desc", "style", "rect", "g", "path", "text", "circle"}
    names = {str(a) for e in picture(text).iter() for a in e.attrib}
    assert not [a for a in names if a.lower().startswith("on") or "href" in a]


def test_nothing_is_needed_from_elsewhere(shared: Path) -> None:
    text = render_model(read_file(shared / "data" / "pmo" / "pme" / "24.json"))
    rest = text.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|url\(|@import|<script|<image|<foreignObject|xlink", rest)


def test_it_says_what_it_shows() -> None:
    root = picture(render_model(line(Task(id="t", name="Ship <order>")).replace(name="Shipping")))
    assert root.get("role") == "img"
    assert root.get("aria-label") == "Shipping"
    assert [c.tag for c in root][:2] == [f"{SVG}title", f"{SVG}desc"]
    assert "1 tasks, 2 events" in (root[1].text or "")
    titles = [e.text for e in root.iter(f"{SVG}title")]
    assert "Ship <order> (task.abstract)" in titles


def test_themes() -> None:
    model = line(Task(id="t"))
    auto, light, dark = (render_model(model, theme=t) for t in ("auto", "light", "dark"))
    assert "prefers-color-scheme:dark" in auto
    assert "prefers-color-scheme" not in light + dark
    assert "#14181d" in dark
    assert "#14181d" not in light
    with pytest.raises(ValueError, match="no theme"):
        render_model(model, theme="pink")


def test_findings_runs_and_marks() -> None:
    model = line(Task(id="t"), Task(id="u"))
    text = render_model(
        model, highlights={"t": Severity.ERROR, "u": "warning"}, taken=["s", "f0", "t"],
        marks={"u": "3×", "f1": "2"},
    )  # fmt: skip
    assert of(text, "t").get("class") == "of-el of-taken of-error"
    assert of(text, "u").get("class") == "of-el of-warning"
    assert of(text, "f0").get("class") == "of-el of-taken"
    assert of(text, "e").get("class") == "of-el"
    words = {n: ["".join(t.itertext()) for t in of(text, n).iter(f"{SVG}text")] for n in "tu"}
    assert "!" in words["t"]
    assert {"!", "3×"} <= set(words["u"])
    assert "2" in "".join(of(text, "f1").itertext())


def test_a_severity_is_one_of_three() -> None:
    with pytest.raises(ValueError, match="no severity 'bad\" x=\"'"):
        render_model(line(Task(id="t")), highlights={"t": 'bad" x="'})


def test_what_is_in_a_closed_sub_process_shows_on_it() -> None:
    model = line(SubProcess(id="sub", nodes=(Task(id="in1"), Task(id="in2"))))
    there = Shape(element="sub", bounds=(0, 0, 100, 80), expanded=False)
    text = render_model(
        model, drawing=Diagram(shapes=(there,)), taken=["in1"],
        highlights={"in1": "warning", "in2": "error", "sub": "info"},
    )  # fmt: skip
    assert of(text, "sub").get("class") == "of-el of-taken of-error"
    assert "in1" not in drawn(text)


def test_what_is_special_lies_upon_the_rest() -> None:
    model = line(Task(id="t"), Task(id="u"))
    text = render_model(model, taken=["f0"], highlights={"f1": "info"})
    order = [g.get("data-element") for g in picture(text).iter(f"{SVG}g")]
    assert order.index("f2") < order.index("f0") < order.index("f1")


def test_notes_are_shown_when_pointed_at() -> None:
    text = render_model(
        line(Task(id="t", name="Ship")), notes={"t": "never <done>", "nowhere": "x"}
    )
    title = of(text, "t").find(f"{SVG}title")
    assert title is not None
    assert title.text == "Ship (task.abstract)\nnever <done>"


def test_counts_of_flows_lie_on_no_words_and_not_on_each_other(root: Path) -> None:
    paths = sorted(root.glob("examples/*/model.bpmn"))
    assert len(paths) >= 8
    for path in paths:
        model = read_file(path)
        places = layout(model)
        flows = [f.id for f in model.processes[0].flows]
        text = render_model(model, drawing=places, marks=dict.fromkeys(flows, "12"))
        found = []
        for flow in flows:
            rect = of(text, flow).find(f"{SVG}rect")
            assert rect is not None
            found.append(tuple(float(rect.get(k, "0")) for k in ("x", "y", "width", "height")))
        words = [i.label for i in (*places.shapes, *places.edges) if i.label is not None]
        pairs = [(a, b) for n, a in enumerate(found) for b in (*found[n + 1 :], *words)]
        hit = sum(boxes_overlap(a, b) for a, b in pairs)  # type: ignore[arg-type]
        assert hit <= 2, path  # a short line with words all along it


def test_lanes_and_pools_can_be_marked() -> None:
    base = line(Task(id="t")).processes[0]
    lane = Lane(id="l", name="Office", members=("s", "t", "e"))
    pool = Pool(id="A", name="Here", process="P")
    model = Model(id="M", processes=(base.replace(lanes=(lane,)),), pools=(pool,))
    text = render_model(model, theme="light", highlights={"A": "error", "l": "warning"})
    assert ".of-light .of-error .of-frame{" in text
    assert of(text, "A").get("class") == "of-el of-error"
    assert of(text, "l").get("class") == "of-el of-warning"


def test_long_labels_do_not_run_over() -> None:
    text = render_model(line(Gateway(id="g", gateway_kind="exclusive", name="many words " * 400)))
    texts = [t for t in picture(text).iter(f"{SVG}text") if "many" in (t.text or "")]
    assert len(texts) <= 6
    assert (texts[-1].text or "").endswith("…")


def test_shapes_tell_kinds_apart() -> None:
    def shape(node: object) -> str:
        text = render_model(line(node), theme="light")
        return re.sub(r"translate\([^)]*\)|[\d. -]+", "", str(etree.tostring(of(text, "x"))))

    events = {
        shape(Event(id="x", position=p, definitions=(EventDefinition(kind=k),)))  # type: ignore[arg-type]
        for p in ("start", "catch", "throw", "end")
        for k in ("message", "signal", "escalation", "compensation")
    }
    assert len(events) == 16
    kinds = ("abstract", "user", "manual", "service", "script", "send", "receive", "business-rule")
    assert len({shape(Task(id="x", task_type=k)) for k in kinds}) == 8
    gates = ("exclusive", "inclusive", "parallel", "event", "complex")
    assert len({shape(Gateway(id="x", gateway_kind=k)) for k in gates}) == 5
    loops = (None, Loop(kind="standard"), Loop(kind="multi-instance"),
             Loop(kind="multi-instance", sequential=True))  # fmt: skip
    assert len({shape(Task(id="x", loop=loop)) for loop in loops}) == 4
    for flavour in ("plain", "event", "transaction", "ad-hoc"):
        shape(SubProcess(id="x", flavour=flavour))


def test_labels_are_broken_and_stay_in_their_task() -> None:
    name = "Compare the invoice with the order and with the delivery note line by line"
    group = of(render_model(line(Task(id="t", name=name))), "t")
    rect = group.find(f"{SVG}rect")
    assert rect is not None
    texts = list(group.iter(f"{SVG}text"))
    assert len(texts) > 1
    assert " ".join(t.text or "" for t in texts) == name
    top, high = float(rect.get("y", "0")), float(rect.get("height", "0"))
    assert all(top < float(t.get("y", "0")) < top + high for t in texts)


def test_pools_lanes_messages_data_and_notes() -> None:
    base = line(Task(id="t", name="Work")).processes[0]
    lane = Lane(id="l", name="Office", members=("s", "t", "e"))
    data = DataObject(id="d", name="Paper", data_kind="store")
    note = Artifact(id="n", artifact_kind="annotation", text="A note")
    model = Model(
        id="M",
        processes=(base.replace(lanes=(lane,), data_objects=(data,), artifacts=(note,)),),
        pools=(Pool(id="A", name="Here", process="P"), Pool(id="B", name="There")),
        message_flows=(MessageFlow(id="m", source="t", target="B", name="Order"),),
    )
    text = render_model(model)
    for element in "lABdnm":
        assert drawn(text)[element] == 1
    assert "of-message" in str(etree.tostring(of(text, "m")))
    for word in ("Office", "Here", "There", "Paper", "A note", "Order"):
        assert f">{word}</text>" in text
    assert element_ids(model) == {"s", "t", "e", "l", "A", "B", "d", "n", "m", "f0", "f1"}


def test_an_empty_model_is_a_picture() -> None:
    assert picture(render_model(Model(id="M"))).tag == f"{SVG}svg"


def test_the_command_highlights() -> None:
    target = "svg{theme=dark,highlight=work+nowhere}"
    done = orgflowc("compile", "-", "--from", "bpmn", "--target", target, stdin=LINEAR)
    assert done.code == 0
    assert "OF495" in done.err
    assert "`nowhere` should be highlighted" in done.err
    assert picture(done.out).get("class") == "of of-dark"
    target = "svg{findings=yes}"
    done = orgflowc("compile", "-", "--from", "bpmn", "--force", "--target", target, stdin=DEADLOCK)
    assert of(done.out, "both").get("class") == "of-el of-warning"


def test_the_command_lists_findings_below_the_drawing() -> None:
    args = ("compile", "-", "--from", "bpmn", "--force", "--target", "svg{findings=list}")
    done = orgflowc(*args, stdin=DEADLOCK)
    assert done.code == 0
    both = of(done.out, "both")
    assert both.get("class") == "of-el of-warning"
    assert 'class="of-el of-taken"' in done.out
    numbers = ["".join(t.itertext()) for t in both.iter(f"{SVG}text")]
    said = " ".join("".join(t.itertext()) for t in picture(done.out).findall(f"{SVG}text"))
    number = numbers[-1]
    assert re.search(rf"\b{number} OF201\s+“Both done” waits for", " ".join(said.split()))


def test_findings_of_one_element_share_its_badge() -> None:
    model = line(Task(id="t"), Task(id="u"))
    findings = (
        Finding("error", "A first", "t", frozenset({"s"})),
        Finding("warning", "A second " + "long " * 80, "t"),
        Finding("info", "Nowhere"),
    )
    text = render_model(model, findings=findings)
    assert of(text, "t").get("class") == "of-el of-error"
    assert of(text, "s").get("class") == "of-el of-taken"
    assert "1, 2" in ["".join(t.itertext()) for t in of(text, "t").iter(f"{SVG}text")]
    width, height = (float(picture(text).get(name) or 0) for name in ("width", "height"))
    assert height > float(picture(render_model(model)).get("height") or 0) + 60
    places = [(float(t.get("x") or 0), float(t.get("y") or 0))
              for t in picture(text).iter(f"{SVG}text")]  # fmt: skip
    x, y, *_ = (float(n) for n in (picture(text).get("viewBox") or "").split())
    assert all(x <= at <= x + width and y <= down <= y + height for at, down in places)


def test_the_same_model_is_the_same_picture(shared: Path) -> None:
    model = read_file(shared / "data" / "pmo" / "pme" / "17.json")
    assert render_model(model) == render_model(model)
