"""The page of a task: what it says, what it shows, and that no text of a row acts in it."""

from __future__ import annotations

import json
import subprocess
from html.parser import HTMLParser
from typing import Any

import pytest
from orgflow.backends.n8n.engine.node import find_node
from orgflow.backends.n8n.waiting import page

Json = dict[str, Any]

TASK = {
    "id": 1, "key": "k1", "state": "open", "title": "Approve", "element": "A", "assignee": "ann",
    "link": "/form/approve?key=k1", "due": "", "local_variables": "{}",
}  # fmt: skip
HOSTILE = "<script>alert(1)</script>\"'`&\u202e<img src=x onerror=alert(2)>"


def compute_page(task: Json, changes: list[Json] | None = None, others: Any = ()) -> Json:
    """Status and text of the page."""
    nodes = {
        "The task": [task], "Changed variables": changes or [{}],
        "Tasks of the person": [*others] or [{}],
    }  # fmt: skip
    listed = {name: [{"json": row} for row in rows] for name, rows in nodes.items()}
    script = (
        f"const nodes={json.dumps(listed)};"
        "const $=n=>({first:()=>nodes[n][0],all:()=>nodes[n]});"
        f"console.log(JSON.stringify({page._page_code()}))"
    )
    ran = subprocess.run(
        [find_node().path, "-e", script], check=True, capture_output=True, timeout=120
    )
    found: Json = json.loads(ran.stdout)
    return found


class PageReader(HTMLParser):
    """Tags, links and text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.text = ""
        self.attributes: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name == "href"]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_an_open_task_leads_to_its_form() -> None:
    shown = compute_page({**TASK, "due": "2026-03-01T08:00:00.000Z"})
    reader = PageReader(shown["html"])
    assert shown["status"] == 200
    assert reader.links == ["/form/approve?key=k1"]
    assert "Due 2026-03-01 08:00 UTC" in reader.text


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("running", "already been answered"),
        ("ending", "already been answered"),
        ("done", "already been answered"),
        ("cancelled", "no longer open"),
        ("failed", "no longer open"),
    ],
)
def test_a_closed_task_says_so_and_leads_nowhere(state: str, words: str) -> None:
    reader = PageReader(compute_page({**TASK, "state": state})["html"])
    assert words in reader.text
    assert reader.links == []


def test_an_unknown_key_shows_nothing() -> None:
    other = {**TASK, "key": "k2"}
    shown = compute_page({}, [{"id": 1, "variables": '{"x":1}'}], [other])
    assert shown["status"] == 404
    reader = PageReader(shown["html"])
    assert "no longer open" in reader.text
    assert reader.links == []


def test_values_are_those_that_the_task_names() -> None:
    changes = [
        {"id": 1, "changed_at": "1", "variables": '{"amount":7,"secret":"s","list":[1]}'},
        {"id": 2, "changed_at": "2", "variables": '{"amount":8,"empty":null}'},
    ]
    local = json.dumps({"shown": ["amount", "list", "empty", "constructor", "missing"]})
    reader = PageReader(compute_page({**TASK, "local_variables": local}, changes)["html"])
    assert "amount" in reader.text
    assert "8" in reader.text
    assert "[1]" in reader.text
    for hidden in ("secret", "empty", "constructor", "missing", "7"):
        assert hidden not in reader.text
    assert "secret" not in PageReader(compute_page(TASK, changes)["html"]).text


def test_further_tasks_of_the_person() -> None:
    others = [TASK, {**TASK, "id": 2, "key": "k&2", "title": "", "element": "B", "due": "2026"}]
    reader = PageReader(compute_page(TASK, others=others)["html"])
    assert reader.links[1:] == ["?key=k%262"]
    assert "B (due 2026 UTC)" in reader.text
    nobody = {**TASK, "assignee": ""}
    assert len(PageReader(compute_page(nobody, others=others)["html"]).links) == 1


def test_no_text_of_a_row_acts() -> None:
    harmless = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "dl", "dt", "dd",
                "a", "ul", "li"}  # fmt: skip
    task = {
        **TASK, "title": HOSTILE, "due": HOSTILE, "link": f"/form/x?key={HOSTILE}",
        "local_variables": json.dumps({"shown": [HOSTILE]}),
    }  # fmt: skip
    changes = [{"id": 1, "changed_at": "1", "variables": json.dumps({HOSTILE: {HOSTILE: HOSTILE}})}]
    others = [{**task, "id": 2, "key": HOSTILE}]
    for state in ("open", "done", HOSTILE):
        html = compute_page({**task, "state": state}, changes, others)["html"]
        reader = PageReader(html)
        assert set(reader.tags) <= harmless
        assert not any(name.startswith("on") for name in reader.attributes)
        assert "\u202e" not in html


@pytest.mark.parametrize(
    "link",
    [
        "javascript:alert(1)", "JAVASCRIPT:alert(1)", "data:text/html,x", "//elsewhere/x",
        "/\\elsewhere", "http:elsewhere", "https:// x", "http://a\\b", " /form/x", "form/x",
        "/form/x\njavascript:1", "vbscript:x", "", None,
    ],
)  # fmt: skip
def test_links_that_are_no_page_are_left_out(link: str | None) -> None:
    reader = PageReader(compute_page({**TASK, "link": link})["html"])
    assert reader.links == []
    assert "This task is open." in reader.text


@pytest.mark.parametrize("link", ["/form/x?key=1", "https://h.example/form/x", "http://h:5678/x"])
def test_links_to_pages_are_shown(link: str) -> None:
    (shown,) = PageReader(compute_page({**TASK, "link": link})["html"]).links
    assert shown == (link if "key=" in link else f"{link}?key=k1")


def test_the_code_is_one_expression() -> None:
    assert "}}" not in page._page_code()
