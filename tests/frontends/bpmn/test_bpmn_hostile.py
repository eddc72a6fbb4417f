"""What is not BPMN, not XML, or made to do harm: refused with a code, a place and advice."""

from __future__ import annotations

import socket
import time
import tracemalloc
from typing import Any

import pytest
from bpmn_text import HEAD, definitions, parse, process
from orgflow.frontends.bpmn.xml.bpmn_names import BPMN

MODEL = process('<task id="t"/>')
BOMB = (
    "<!DOCTYPE definitions ["
    + "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    + '<!ENTITY l0 "lol">]>'
    + process('<task id="t" name="&l9;"/>')
)
LARGE_TAG = f'{HEAD} name="{"x" * 5_000_000}"></definitions>'

REFUSED: list[tuple[str, str | bytes, str, int, str]] = [
    ("nothing", "", "OF011", 1, "the file is empty"),
    ("white space", "\n \t\n", "OF011", 1, "the file is empty"),
    ("a byte order mark", b"\xef\xbb\xbf", "OF011", 1, "the file is empty"),
    ("a stray ampersand", process('\n<task id="t" name="A & B"/>'), "OF010", 2, "`&` before `B"),
    ("an open tag", process("\n<task>"), "OF010", 2, "`<task>` in line 2 is not closed"),
    ("cut off", process('<task id="t"/>')[:-30], "OF010", 1, "the file ends inside `<process>`"),
    ("cut off in a tag", process('\n\n<task id="t"')[:-24], "OF010", 3, "the file ends inside"),
    ("a null byte", process("\n\0"), "OF010", 2, "a null byte, which is not allowed in XML"),
    ("wrong bytes", process("é").encode("latin-1"), "OF010", 1, "byte 0xe9 is not valid"),
    ("two roots", MODEL + MODEL, "OF010", 1, "junk after document element"),
    ("an unknown entity", process("&nbsp;"), "OF010", 1, "undefined entity"),
    ("an attribute twice", process('<task id="a" id="b"/>'), "OF010", 1, "duplicate attribute"),
    ("plain text", "Order to cash", "OF010", 1, "syntax error"),
    ("an entity bomb", BOMB, "OF013", 1, "has its own declarations"),
    (
        "an external entity",
        '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + process("&x;"),
        "OF013", 1, "has its own declarations",
    ),
    ("an external type", '<!DOCTYPE d SYSTEM "http://127.0.0.1:9/x.dtd">' + MODEL, "OF013", 1,
     "has a reference to another file"),
    ("an empty type with a body", "<!DOCTYPE d []>" + MODEL, "OF013", 1, "declarations"),
    ("deep nesting", process("<v:a>" * 300 + "</v:a>" * 300), "OF014", 1, "more than 256 levels"),
    ("a huge tag", LARGE_TAG, "OF015", 1, "one tag or comment is larger than 4,194,304 bytes"),
    ("a huge comment", process(f"<!--{'x' * 5_000_000}-->"), "OF015", 1, "one tag or comment"),
    ("an unknown encoding", '<?xml version="1.0" encoding="klingon"?>' + MODEL, "OF016", 1,
     "`klingon` is unknown"),
    ("a multi-byte encoding", '<?xml version="1.0" encoding="Shift_JIS"?>' + MODEL, "OF016", 1,
     "`Shift_JIS` cannot be read"),
    ("no text encoding", '<?xml version="1.0" encoding="hex"?>' + MODEL, "OF016", 1, "unknown"),
    ("the wrong encoding", '<?xml version="1.0" encoding="UTF-16"?>' + MODEL, "OF016", 1,
     "not encoded in the declared encoding"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "code", "line", "message"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED]
)
def test_unreadable_files_are_refused(text: Any, code: str, line: int, message: str) -> None:
    model, found = parse(text, "bad.bpmn")
    assert model is None
    assert [d.code for d in found] == [code]
    (only,) = found
    assert message in only.message
    assert only.help
    assert only.loc is not None
    assert (only.loc.file, only.loc.line) == ("bad.bpmn", line)
    assert only.loc.column is not None
    assert only.severity == "error"


def test_a_bare_document_type_is_tolerated() -> None:
    model, found = parse("<!DOCTYPE definitions>" + MODEL)
    assert model is not None
    assert found == []


NOT_BPMN = [
    ('<Package xmlns="http://www.wfmc.org/2009/XPDL2.2"/>', "XPDL"),
    ('<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/"/>', "DMN"),
    ('<definitions xmlns="http://www.omg.org/spec/CMMN/20151109/MODEL"/>', "CMMN"),
    ('<definitions xmlns="http://schemas.xmlsoap.org/wsdl/"/>', "WSDL"),
    ('<svg xmlns="http://www.w3.org/2000/svg"/>', "an SVG picture"),
    ('<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://x/svg11.dtd"><svg/>', "an SVG"),
    ("<!DOCTYPE html><html><body>Log in</body></html>", "a web page"),
    ("<html><body>Log in<br></body></html>", "a web page"),
    ("<mxfile><diagram/></mxfile>", "a draw.io drawing"),
    ("<pnml/>", "PNML"),
    ('<process xmlns="http://docs.oasis-open.org/wsbpel/2.0/process/executable"/>', "BPEL"),
    ("<order/>", "XML with the root element `<order>`"),
    ('{"nodes": [], "connections": {}}', "JSON, an n8n workflow"),
    ('[{"nodes": [], "connections": {}}]', "JSON, an n8n workflow"),
    ('{"tasks": [], "sequenceFlows": []}', "PME JSON (--from pme)"),
    ('{"id": "m", "processes": []}', "the IR as JSON (--from ir)"),
    ('{"a": 1}', "JSON"),
    ("[" * 100_000, "JSON"),
    (b"PK\x03\x04\x14\x00", "a ZIP archive"),
    (b"%PDF-1.7", "a PDF document"),
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (f'<task xmlns="{BPMN}" id="t"/>', "a fragment, `<task>`"),
]


@pytest.mark.parametrize(("text", "kind"), NOT_BPMN, ids=[k for _, k in NOT_BPMN])
def test_other_formats_are_named(text: Any, kind: str) -> None:
    model, found = parse(text)
    assert model is None
    assert [d.code for d in found] == ["OF012"]
    assert found[0].message.startswith(f"this is {kind}")
    assert found[0].message.endswith(", not BPMN 2.0")


@pytest.mark.parametrize(
    ("space", "shown"),
    [
        ("http://www.omg.org/spec/BPMN/2.0", "in the namespace"),
        ("http://schema.omg.org/spec/BPMN/2.0", "in the namespace"),
        ("http://www.omg.org/spec/BPMN/20100524/MODLE", "in the namespace"),
        ("", "in no namespace"),
    ],
)
def test_bpmn_in_a_wrong_namespace_is_read_with_a_warning(space: str, shown: str) -> None:
    model, found = parse(MODEL.replace(f'xmlns="{BPMN}"', f'xmlns="{space}"'))
    assert model is not None
    assert [n.construct for n in model.processes[0].nodes] == ["task.abstract"]
    assert [(d.code, d.severity) for d in found] == [("OF017", "warning")]
    assert shown in found[0].message
    assert BPMN in (found[0].help or "")


def test_unprefixed_children_of_a_prefixed_root_are_read_with_a_warning() -> None:
    text = (
        f'<b:definitions xmlns:b="{BPMN}"><process id="p"><task id="t"/></process></b:definitions>'
    )
    model, found = parse(text)
    assert model is not None
    assert [n.id for n in model.processes[0].nodes] == ["t"]
    assert [d.code for d in found] == ["OF017"]


def test_a_process_as_root_is_read() -> None:
    model, found = parse(f'<process xmlns="{BPMN}" id="p"><task id="t"/></process>')
    assert model is not None
    assert [n.id for n in model.processes[0].nodes] == ["t"]
    assert found == []


def test_an_undeclared_prefix_is_said_once() -> None:
    model, found = parse(process('\n<task id="t" acme:a="1" acme:b="2"/>'))
    assert model is not None
    assert model.processes[0].nodes[0].extra == (("@{acme}a", "1"), ("@{acme}b", "2"))
    assert [(d.code, d.loc.line if d.loc else None) for d in found] == [("OF018", 2)]


# -- limits ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "code"),
    [({"max_bytes": 100}, "OF015"), ({"max_depth": 2}, "OF014"), ({"max_elements": 2}, "OF015")],
)
def test_limits_are_options(options: dict[str, int], code: str) -> None:
    assert [d.code for d in parse(MODEL, options=options)[1]] == [code]
    assert parse(MODEL, options=dict.fromkeys(options, 10000))[0] is not None


def test_depth_within_the_limit_needs_no_stack() -> None:
    depth = 2000
    lanes = "".join(f'<childLaneSet id="l{n}"><lane id="a{n}">' for n in range(1, depth))
    text = process(
        '<laneSet id="l0"><lane id="a0">' + lanes + "</lane></childLaneSet>" * (depth - 1)
        + "</lane></laneSet><task id='t'><extensionElements>"
        + "<v:a>" * depth + "</v:a>" * depth + "</extensionElements></task>"
    )  # fmt: skip
    model, found = parse(text, options={"max_depth": 10_000})
    assert model is not None
    assert found == []
    assert len(model.processes[0].lanes) == depth


def test_drawings_count_for_the_depth_too() -> None:
    drawing = '<d:BPMNDiagram xmlns:d="http://www.omg.org/spec/BPMN/20100524/DI">'
    deep = definitions(drawing + "<d:x>" * 300 + "</d:x>" * 300 + "</d:BPMNDiagram>")
    assert [d.code for d in parse(deep)[1]] == ["OF014"]


def test_hostile_files_cost_little_time_and_memory() -> None:
    for text in (BOMB, LARGE_TAG, process("<v:a>" * 100_000), "<a " * 1_000_000):
        tracemalloc.start()
        begun = time.process_time()
        model, _ = parse(text)
        seconds = time.process_time() - begun
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert model is None
        assert seconds < 5
        assert peak < 10 * len(text) + 20_000_000


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        pytest.fail("the network was used")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    for _, text, *_rest in REFUSED:
        parse(text)
    text = process('<task id="t"/>', ' xmlns:xi="http://www.w3.org/2001/XInclude"')
    parse(text.replace("<task", '<xi:include href="file:///etc/passwd"/><task'))
