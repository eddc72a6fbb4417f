"""The HTML page of a replay: contents, escaping, the same bytes each time, nothing from outside."""

from __future__ import annotations

import base64
import hashlib
import random
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from cli_cases import DEADLOCK, Ran
from hostile_labels import HOSTILE, hostile_model
from html_pages import Tag, parsed
from model_gen import random_model
from n8n_compiled import emitted
from orgflow import cli
from orgflow.backends.n8n.backend import N8nBackend
from orgflow.commands.run_table import report_text
from orgflow.evaluation.failures import by_replay
from orgflow.evaluation.page import Fired, number_steps, render_page
from orgflow.evaluation.page_model import NodeTable
from orgflow.evaluation.page_runs import replay_page
from orgflow.evaluation.replay import ReplayReport, replay_model
from orgflow.evaluation.wording import choices_line

from orgflow_ir.diagnostics import Diagnostic, Severity
from orgflow_ir.flow.token_game.runs import Run
from orgflow_ir.model import Event, Flow, Gateway, Model, Process, Task
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.runners import NodeExecution, Runner, RunResult
from orgflow_ir.targets import Emitted


def small(name: str = "Order") -> Model:
    nodes = (
        Event(id="s", name="Order received", position="start"),
        Task(id="t", name="Check stock"),
        Gateway(id="g", name="In stock?", gateway_kind="exclusive"),
        Task(id="a", name="Ship order"),
        Task(id="b", name="Tell customer"),
        Gateway(id="m", gateway_kind="exclusive"),
        Event(id="e", name="Done", position="end"),
    )
    pairs = [("s", "t", ""), ("t", "g", ""), ("g", "a", "Yes"), ("g", "b", "No"), ("a", "m", ""),
             ("b", "m", ""), ("m", "e", "")]  # fmt: skip
    flows = tuple(Flow(id=f"f{i}", source=x, target=y, name=n) for i, (x, y, n) in enumerate(pairs))
    return Model(id="M", name=name, processes=(Process(id="P", nodes=nodes, flows=flows),))


class Spoiled(Runner):
    """Does what each run says, but for elements in `instead`, and ends as `status` says."""

    def __init__(self, nodes: NodeTable, instead: dict[str, str | None], error: str = "") -> None:
        self.names = {i.element: i.name for i in nodes.of_node.values() if i.stands}
        self.instead, self.error = instead, error

    def load(self, emitted: Emitted, process: str, ctx: PassContext) -> None:
        self.silent = emitted.source_map.silent

    @property
    def visible(self) -> frozenset[str]:
        return frozenset(self.names) - {"s"}

    @property
    def changed(self) -> tuple[str, ...]:
        return ("placeholder `Check stock` outputs scripted decisions",)

    def play(self, runs: Iterable[Run]) -> Iterator[RunResult]:
        for run in runs:
            ran = [self.instead.get(s.element, s.element) for s in run.steps
                   if s.action != "open" and s.element not in self.silent]  # fmt: skip
            done = tuple(NodeExecution(self.names[e], e) for e in ran if e is not None)
            if self.error:
                yield RunResult("error", done[:-1], self.error)
            else:
                yield RunResult("success", done)

    def close(self) -> None:
        pass


N8N = N8nBackend()


def played(
    model: Model, instead: dict[str, str | None] | None = None, error: str = ""
) -> tuple[ReplayReport, str, Tag]:
    ctx = PassContext()
    made = emitted(model)
    nodes = NodeTable(made.source_map, "n8n")
    report = replay_model(model, made, Spoiled(nodes, instead or {}, error), ctx)
    failures = () if report.ok else by_replay(model, report, N8N)
    text = render_page(replay_page(model, nodes, ctx.diagnostics, report, failures, "an engine"))
    return report, text, parsed(text)


def pictured(view: Tag, element: str) -> set[str]:
    """The classes of an element in the picture of a view."""
    found = [t for t in view.all("g") if t.attributes.get("data-element") == element]
    assert len(found) == 1
    return found[0].classes


def view(root: Tag, number: int) -> Tag:
    return root.one("figure", f"view-{number}")


def test_runs_are_told_drawn_and_counted() -> None:
    report, _, root = played(small())
    assert "display:none}}}" in root.one("style").text
    assert report.ok
    assert len(report.runs) == 2
    assert "All 2 runs conform to the model." in root.text
    yes, no = (1, 2) if "Yes" in view(root, 1).one("figcaption").text else (2, 1)
    assert "of-taken" in pictured(view(root, yes), "a")
    assert "of-taken" not in pictured(view(root, yes), "b")
    assert "of-taken" in pictured(view(root, no), "b")
    assert "of-taken" in pictured(view(root, no), "f3")
    assert {"of-taken"} < pictured(view(root, 0), "a") & pictured(view(root, 0), "b") | {"of-taken"}
    rows = {r.one("th").text: [d.text.strip() for d in r.all("td")] for r in root.all("tr")
            if any(r.all("th")) and any(r.all("td"))}  # fmt: skip
    assert rows["Check stock"] == ["task abstract", "Check stock Edit Fields", "2"]
    assert rows["Ship order"][2] == "1"
    assert "No Operation" in rows["Tell customer"][1]
    assert rows["In stock?"][:2] != ["", ""]
    shares = [t.text.strip() for t in root.all("span", "share")]
    assert shares == ["50 %", "50 %"]
    assert "outputs scripted decisions" in root.text
    assert "scripted answers replaced open work" in root.text


def test_the_nodes_behind_an_element_are_in_its_title() -> None:
    _, _, root = played(small())
    found = next(t for t in view(root, 0).all("g") if t.attributes.get("data-element") == "g")
    assert "n8n: In stock? (Switch)" in found.one("title").text
    assert "stops the run if no branch matches" in found.one("title").text


def test_a_divergence_is_marked_where_it_happened() -> None:
    report, _, root = played(small(), {"a": "b", "b": "a"})
    assert not report.ok
    assert "2 of 2 runs do not conform to the model." in root.text
    first = report.runs[0]
    assert first.ran in ("a", "b")
    other = "b" if first.ran == "a" else "a"
    assert "of-error" in pictured(view(root, 1), first.ran)
    assert "of-warning" in pictured(view(root, 1), other)
    assert "of-error" in pictured(view(root, 0), first.ran)
    wrong = root.one("ul", "wrongs").text
    assert "the model allows" in wrong
    assert any("not allowed here" in t.text for t in root.all("li", "wrong"))
    assert "Open issues" in root.text
    assert "Whose fault" in root.text


def test_a_run_that_ends_too_early_is_marked_where_it_stands() -> None:
    report, _, root = played(small(), {"a": None, "b": None, "e": None})
    assert report.runs[0].ran is None
    assert "of-error" in pictured(view(root, 1), report.runs[0].places[0])
    assert "the model continues with" in root.one("ul", "wrongs").text


def test_a_failed_run_is_told_with_its_record() -> None:
    _, _, root = played(small(), error="connect ECONNREFUSED 10.0.0.1:25")
    assert "a service that the workflow calls did not respond" in root.text.lower()
    assert any("failed" in t.text for t in root.all("span", "failed"))


def test_findings_are_listed_and_drawn() -> None:
    found = [
        Diagnostic(code="OF101", name="x", severity=Severity.WARNING, element="a",
                   message="`Ship order` is <odd>", help="look at `it`"),
        Diagnostic(code="OF102", name="y", severity=Severity.ERROR, message="all of it"),
        Diagnostic(code="OF103", name="z", severity=Severity.WARNING, element="b",
                   message="known", suppressed="we know"),
    ]  # fmt: skip
    root = parsed(render_page(replay_page(small(), NodeTable(), found, None, (), "")))
    assert "The model was not run: the checks found 1 error." in root.text
    assert "Ship order is <odd>" in root.text
    assert "of-warning" in pictured(view(root, 0), "a")
    assert "OF103" not in root.text
    assert "display:none}}}" not in root.one("style").text, "the only picture may not be hidden"


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text)[:30])
def test_hostile_labels_stay_text(text: str) -> None:
    model = hostile_model(text, HOSTILE[(HOSTILE.index(text) + 1) % len(HOSTILE)])
    _, page, root = played(model, {"a": "b"})
    plain = parsed(played(hostile_model("x", "y"), {"a": "b"})[1])
    assert [t.name for t in root.all("section")] == [t.name for t in plain.all("section")]
    allowed = {t.name for t in plain.all()}
    assert {t.name for t in root.all()} <= allowed | {"br"}
    assert not list(root.all("script"))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", page)
    assert page.encode()


def test_half_a_character_is_written_all_the_same() -> None:
    _, page, _ = played(small("a\ud800b\ufffe"))
    assert "a\ufffdb\ufffd" in page
    page.encode()


def test_nothing_comes_from_outside() -> None:
    _, _, root = played(hostile_model("https://evil.example/x.js", "<img src=//evil.example>"))
    names = {t.name for t in root.all()}
    assert not names & {"script", "link", "img", "iframe", "object", "embed", "base", "form", "use"}
    for tag in root.all():
        for name, value in tag.attributes.items():
            assert name not in ("src", "href", "action", "srcset", "style", "data", "poster")
            assert not name.startswith("on")
            assert "://" not in value or name in ("xmlns", "data-element", "aria-label")
    sheet = root.one("style").text
    assert "url(" not in sheet
    assert "@import" not in sheet
    assert "<" not in sheet


def test_the_policy_allows_the_one_style_sheet_only() -> None:
    _, _, root = played(small())
    (policy,) = (t.attributes["content"] for t in root.all("meta")
                 if t.attributes.get("http-equiv") == "Content-Security-Policy")  # fmt: skip
    (sheet,) = root.all("style")
    digest = base64.b64encode(hashlib.sha256(sheet.text.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_the_same_bytes_each_time() -> None:
    assert played(small())[1] == played(small())[1]
    assert " ms" not in played(small())[1]


def test_it_can_be_used_without_seeing_it() -> None:
    _, _, root = played(small(), {"a": "b"})
    assert root.one("html").attributes["lang"] == "en"
    assert next(t.name for t in root.all() if t.name in ("h1", "h2")) == "h1"
    for table in root.all("table"):
        assert all(th.attributes.get("scope") for th in table.all("th"))
    for svg in root.all("svg"):
        assert svg.attributes.get("aria-hidden") or (
            svg.attributes["role"] == "img" and svg.attributes["aria-label"]
        )
    labelled = {t.attributes["for"] for t in root.all("label")}
    inputs = [t.attributes["id"] for t in root.all("input")]
    assert set(inputs) == labelled
    ids = [t.attributes["id"] for t in root.all() if "id" in t.attributes]
    assert len(set(ids)) == len(ids)
    for tag in root.all():
        named = tag.attributes.get("aria-labelledby")
        assert named is None or named in ids
        if tag.attributes.get("tabindex") == "0":
            assert tag.attributes["aria-label"]


@pytest.mark.parametrize("seed", range(6))
def test_random_models_are_drawn(seed: int) -> None:
    model = random_model(seed, 14, ("task", "xor", "and", "loop"))
    ran = [n.id for n in model.processes[0].nodes if isinstance(n, Task)]
    rng = random.Random(seed)
    _, _, root = played(model, {rng.choice(ran): rng.choice(ran)})
    figures = list(root.all("figure"))
    assert figures
    for number, figure in enumerate(figures):
        assert f"view-{number}" in figure.classes
        assert any("of-taken" in t.classes for t in figure.all("g"))


def test_a_long_run_is_cut_but_not_where_it_goes_wrong() -> None:
    steps = [Fired(f"N{i}", kind="wrong" if i == 500 else "step") for i in range(1000)]
    shown = number_steps(steps)
    assert [s.number for s in shown if s.node][:2] == [1, 2]
    assert [s.number for s in shown if s.kind == "wrong"] == [501]
    left_out = [int(s.note.split()[0]) for s in shown if s.kind == "gap"]
    assert sum(left_out) + sum(s.kind != "gap" for s in shown) == 1000
    assert shown[-1].number == 1000
    assert len(shown) < 100
    assert number_steps(steps[:3]) == tuple(
        s._replace(number=i) for i, s in enumerate(steps[:3], 1)
    )


def test_choices_again_and_again_are_told_once() -> None:
    told = choices_line([("g", ("a",))] * 1500 + [("g", ("b", "c"))], str.upper)
    assert told == "G → A (×1500); G → B + C"
    assert len(choices_line([("g", (str(i),)) for i in range(5000)], str)) < 1000


# -- the command --------------------------------------------------------------------------------


@pytest.fixture
def invoke(capfdbinary: pytest.CaptureFixture[bytes]) -> Callable[..., Ran]:
    def run(*args: str | Path) -> Ran:
        code = cli.run([str(a) for a in args])
        found = capfdbinary.readouterr()
        return Ran(code, found.out.decode(), found.err.decode())

    return run


@pytest.mark.slow
def test_run_writes_the_page(
    invoke: Callable[..., Ran], root: Path, tmp_path: Path, engine: object
) -> None:
    model, html = root / "examples/leave-request/model.bpmn", tmp_path / "new" / "page.html"
    ran = invoke("run", model, "--all-paths", "--html", html)
    assert ran.code == 0
    assert ran.out.startswith("run  result    F1  what fired")
    page = parsed(html.read_text())
    assert "All 6 runs conform to the model." in page.text
    assert str(root) not in html.read_text()
    first = html.read_bytes()
    invoke("run", model, "--all-paths", "--html", html)
    assert html.read_bytes() == first


def test_a_model_that_cannot_run_has_a_page_of_its_findings(
    invoke: Callable[..., Ran], tmp_path: Path
) -> None:
    model, html = tmp_path / "model.bpmn", tmp_path / "page.html"
    model.write_text(DEADLOCK)
    assert invoke("run", model, "--html", html).code == 1
    page = parsed(html.read_text())
    assert "The model was not run: the checks found 1 error." in page.text
    assert "OF201" in page.text
    assert any("of-error" in t.classes for t in page.all("g"))


def test_a_page_that_cannot_be_written_is_told(
    invoke: Callable[..., Ran], root: Path, tmp_path: Path, engine: object
) -> None:
    ran = invoke("run", root / "examples/leave-request/model.bpmn", "--html", tmp_path)
    assert ran.code == 2
    assert "is a folder" in ran.err
    assert "runs conform to the model" in ran.out


def test_the_table_in_text_keeps_to_80_columns() -> None:
    report, _, _ = played(hostile_model("Approve the very long request? " * 4, "No"), {"a": "b"})
    text = report_text(report, by_replay(hostile_model("x", "y"), report, N8N))
    lines = text.splitlines()
    assert lines[0].split() == ["run", "result", "F1", "what", "fired"]
    assert max(map(len, lines)) <= 80
    assert f"of {len(report.runs)} runs conform to the model" in " ".join(text.split())


def test_the_table_in_text_moves_no_cursor() -> None:
    report, _, _ = played(hostile_model("a\x1b[2Jb\u202e", "c\r"))
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", report_text(report))
