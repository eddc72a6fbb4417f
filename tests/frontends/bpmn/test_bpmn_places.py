"""Places are exact: byte spans in the file as it lies on disk, lines, columns in characters."""

from __future__ import annotations

import pytest
from bpmn_text import by_id, definitions, model_of, process
from orgflow.frontends.bpmn.xml.document import BpmnDocument
from orgflow.frontends.xml.tree import XmlElement

ENCODINGS = [
    ("utf-8", b"", "UTF-8"),
    ("utf-8", b"\xef\xbb\xbf", "UTF-8"),
    ("utf-16-le", b"\xff\xfe", "UTF-16"),
    ("utf-16-be", b"\xfe\xff", "UTF-16"),
    ("utf-16-le", b"", "UTF-16"),
    ("iso-8859-1", b"", "ISO-8859-1"),
    ("windows-1252", b"", "windows-1252"),
    ("iso-8859-15", b"", "ISO-8859-15"),
]
TEXT = (
    "<a ä='x>y' b=\"/>\">\r\n é<b c='\"/>'/>é<b></b><b>/></b><ü>t</ü   >"
    "<c><!-- > --></c><d\r\n e='1'\r\n/><f><![CDATA[</f>]]></f></a>"
)
WANTED = [
    ("a", 1, TEXT.replace("\r\n", "\n")),
    ("b", 2, "<b c='\"/>'/>"),
    ("b", 2, "<b></b>"),
    ("b", 2, "<b>/></b>"),
    ("ü", 2, "<ü>t</ü   >"),
    ("c", 2, "<c><!-- > --></c>"),
    ("d", 2, "<d\n e='1'\n/>"),
    ("f", 4, "<f><![CDATA[</f>]]></f>"),
]
TAGS = ["<a ä='x>y' b=\"/>\">", "<b c='\"/>'/>", "<b>", "<b>", "<ü>", "<c>", "<d\r\n e='1'\r\n/>",
        "<f>"]  # fmt: skip


def encoded(text: str, codec: str, mark: bytes, name: str) -> bytes:
    declaration = f'<?xml version="1.0" encoding="{name}"?>\r\n'
    return mark + (declaration + text).encode(codec)


@pytest.mark.parametrize(("codec", "mark", "name"), ENCODINGS)
def test_spans_lines_and_columns(codec: str, mark: bytes, name: str) -> None:
    data = encoded(TEXT, codec, mark, name)
    document = BpmnDocument.parse(data)
    assert [(n.qname, n.line - 1, document.raw(n)) for n in document.elements] == WANTED
    for node, tag in zip(document.elements, TAGS, strict=True):
        start_tag = data[node.start : document.start_tag_end(node)].decode(codec)
        assert start_tag == tag
        lines = data[len(mark) : node.start].decode(codec).split("\r\n")
        assert (node.line, node.column) == (len(lines), len(lines[-1]) + 1)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_columns_on_the_first_line(mark: bytes) -> None:
    document = BpmnDocument.parse(mark + "<a ä=''><b/></a>".encode())
    assert [n.column for n in document.elements] == [1, 9]
    assert [n.start for n in document.elements] == [len(mark), len(mark) + 9]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_counts(end: str) -> None:
    document = BpmnDocument.parse(f"<a>{end}<b/>{end}{end}<c/></a>".encode())
    assert [n.line for n in document.elements] == [1, 2, 4]


def test_characters_outside_the_basic_plane_are_one_column() -> None:
    for codec in ("utf-8", "utf-16"):
        document = BpmnDocument.parse("<a>😀<b/></a>".encode(codec))
        assert document.elements[1].column == 5


def test_places_of_a_model_are_those_of_its_elements() -> None:
    text = process(
        '\n <task id="ä" name="x"/>\n <sequenceFlow id="f" sourceRef="ä"\n targetRef=""/>'
    )
    for codec in ("utf-8", "utf-16"):
        data = text.encode(codec)
        model = model_of(data)
        places = {name: e.loc for name, e in by_id(model).items()}
        assert places.keys() == {"ä", "f"}
        for name, loc in places.items():
            assert loc is not None
            assert loc.file == "m.bpmn"
            assert loc.element == name
            assert loc.column == 2
            assert loc.span is not None
            piece = data[loc.span[0] : loc.span[1]]
            raw = piece.decode("utf-16-le" if codec == "utf-16" else codec)
            assert raw.startswith("<task" if name == "ä" else "<sequenceFlow")
            assert raw.endswith("/>")
    assert [loc.line for loc in places.values() if loc] == [2, 3]


def test_long_texts_are_whole() -> None:
    words = "abcdefghij " * 50_000
    document = BpmnDocument.parse(
        f"<a><b>{words}</b><c>x<!-- -->y&amp;z<![CDATA[<]]></c></a>".encode()
    )
    assert [n.text for n in document.elements] == ["", words, "xy&z<"]


# -- namespaces ------------------------------------------------------------------------------


def tree(text: str) -> BpmnDocument:
    return BpmnDocument.parse(text.encode())


def names(document: BpmnDocument) -> list[tuple[str, str]]:
    return [(n.ns, n.local) for n in document.elements]


def test_prefixes_are_resolved_where_they_are_in_scope() -> None:
    document = tree(
        '<p:a xmlns:p="1" xmlns="2"><b/><p:c xmlns:p="3"><p:d/></p:c><p:e/>'
        '<f xmlns=""><g/></f></p:a>'
    )
    assert names(document) == [
        ("1", "a"), ("2", "b"), ("3", "c"), ("3", "d"), ("1", "e"), ("", "f"), ("", "g"),
    ]  # fmt: skip


def again(document: BpmnDocument, node: XmlElement) -> list[tuple[str, str]]:
    return names(tree(document.standalone(node)))


def test_kept_elements_declare_what_they_use() -> None:
    document = tree(
        '<p:a xmlns:p="1" xmlns="2" xmlns:q="q&amp;&quot;" xmlns:unused="9">'
        '<p:b t="q:x"><c/><d xmlns="3"><e/></d></p:b><p:f xmlns=""><g/></p:f></p:a>'
    )
    for node in document.elements:
        inside = [(n.ns, n.local) for n in node.descendants()]
        assert again(document, node) == inside
        assert "unused" not in document.standalone(node) or node is document.root
    b = document.elements[1]
    assert document.standalone(b).startswith('<p:b xmlns="2" xmlns:p="1" xmlns:q="q&amp;&quot;" t=')


def test_a_shell_is_the_element_with_other_content() -> None:
    document = tree('<p:a xmlns:p="1"><p:b  x="1"/><p:c>text</p:c></p:a>')
    b, c = document.elements[1:]
    assert document.shell(b, ["<d/>"]) == '<p:b xmlns:p="1"  x="1"><d/></p:b>'
    assert document.shell(c, []) == '<p:c xmlns:p="1"></p:c>'


def test_skipped_elements_leave_nothing_behind() -> None:
    document = BpmnDocument.parse(
        b'<a xmlns:s="S"><b/>x<s:skip><b>t</b><s:skip/></s:skip>y<c/></a>',
        skip=frozenset((("S", "skip"),)),
    )
    assert [n.qname for n in document.elements] == ["a", "b", "c"]
    assert document.root.text == "xy"


def test_any_prefix_gives_the_same_model() -> None:
    plain = definitions('<process id="p"><task id="t" v:x="1"><documentation>d</documentation>'
                        "</task></process>")  # fmt: skip
    prefixed = plain.replace("xmlns=", "xmlns:q=")
    for tag in ("definitions", "process", "task", "documentation"):
        prefixed = prefixed.replace(f"<{tag}", f"<q:{tag}").replace(f"</{tag}", f"</q:{tag}")
    assert model_of(plain).processes == model_of(prefixed).processes
