"""Odd and hostile input files, made on request: `FILES` says of each what every command says."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cli_cases import LINEAR

BOMB = (
    "<!DOCTYPE definitions ["
    + "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    + '<!ENTITY l0 "lol">]>'
    + LINEAR.partition("?>")[2].strip().replace('"Ship order"', '"&l9;"')
)
BODY = LINEAR.partition("?>")[2].strip()
PME = {
    "tasks": [{"id": "t", "name": "Ship", "type": "User"}],
    "events": [
        {"id": "s", "name": "Order", "type": "StartNoneEvent"},
        {"id": "e", "name": "Done", "type": "EndNoneEvent"},
    ],
    "gateways": [],
    "pools": [],
    "sequenceFlows": [
        {"id": "f", "sourceRef": "s", "targetRef": "t"},
        {"id": "g", "sourceRef": "t", "targetRef": "e"},
    ],
    "messageFlows": [],
}
WORKFLOW = {
    "name": "W",
    "nodes": [
        {"id": "1", "name": "S", "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1,
         "position": [0, 0], "parameters": {}},
        {"id": "2", "name": "T", "type": "n8n-nodes-base.noOp", "typeVersion": 1,
         "position": [200, 0], "parameters": {}},
    ],
    "connections": {"S": {"main": [[{"node": "T", "type": "main", "index": 0}]]}},
    "settings": {"executionOrder": "v1"},
}  # fmt: skip
IR = {"id": "m", "processes": [{"id": "p", "nodes": [{"kind": "task", "id": "t", "name": "A"}]}]}
JSONS = {".pme.json": PME, ".n8n.json": WORKFLOW, ".ir.json": IR}


@dataclass(frozen=True)
class OddFile:
    """A file: `codes` are the exit codes of `check`, `said` is in what it says; `large` ones take
    seconds and are left out of the tests."""

    name: str
    suffix: str
    make: Callable[[Path], object]
    code: int
    said: str
    large: bool = False


def _bytes(data: bytes | str) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(data.encode() if isinstance(data, str) else data)


def _sparse(head: bytes, size: int) -> Callable[[Path], object]:
    """A file of that many bytes, blanks behind `head`, that takes little room on the disk."""

    def make(path: Path) -> None:
        with path.open("wb") as file:
            file.write(head)
            block = b" " * (1 << 20)
            while file.tell() < min(size, 220 << 20):
                file.write(block)
            file.truncate(size)

    return make


def chain(count: int) -> str:
    """A process of `count` elements: tasks in a row, and the flows between them."""
    nodes = count // 2
    parts = ['<startEvent id="n0"/>']
    parts += [f'<task id="n{i}" name="Step {i}"/>' for i in range(1, nodes)]
    parts += [
        f'<sequenceFlow id="f{i}" sourceRef="n{i - 1}" targetRef="n{i}"/>' for i in range(1, nodes)
    ]
    head, _, tail = BODY.partition('<startEvent id="start"')
    return head + "".join(parts) + "</process></definitions>" + tail[:0]


def _xml() -> Iterator[OddFile]:
    def case(
        name: str, data: bytes | str, code: int, said: str = "", large: bool = False
    ) -> OddFile:
        return OddFile(name, ".bpmn", _bytes(data), code, said, large)

    external = '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    yield case("nothing", "", 1, "OF011")
    yield case("entity bomb", BOMB, 1, "OF013")
    yield case("external entity", external + BODY.replace("Ship order", "&x;"), 1, "OF013")
    yield case("parameter entity", '<!DOCTYPE d [<!ENTITY % x SYSTEM "/etc/passwd">%x;]>' + BODY, 1,
               "OF013")  # fmt: skip
    yield case("external DTD", '<!DOCTYPE d SYSTEM "http://127.0.0.1:9/d">' + BODY, 1, "OF013")
    yield case("nested 100,000 deep", BODY[:-14] + "<a>" * 100_000 + "</a>" * 100_000, 1, "OF014")
    yield case("cut off 100,000 deep", "<a>" * 100_000, 1, "OF014")
    deep = '<subProcess id="a{}">'
    subs = "".join(deep.format(n) for n in range(240)) + "</subProcess>" * 240
    yield case(
        "sub-processes 240 deep", BODY.replace("</process>", subs + "</process>"), 1, "OF014"
    )
    long = "x" * 1_000_000
    yield case("label of 1 MB", BODY.replace("Ship order", long), 0)
    yield case("label of 5 MB", BODY.replace("Ship order", long * 5), 1, "OF015")
    yield case("id of 1 MB", BODY.replace('"ship"', f'"{long}"'), 0)
    many = " ".join(f'a{n}="1"' for n in range(20_000))
    yield case("20,000 attributes", BODY.replace("<task ", f"<task {many} "), 0)
    many = " ".join(f'xmlns:a{n}="u{n}"' for n in range(20_000))
    yield case("20,000 namespaces", BODY.replace("<task ", f"<task {many} "), 0)
    yield case("invalid UTF-8", BODY.replace("Ship", "Sch\u00f6n").encode("latin-1"), 1, "OF010")
    yield case("overlong UTF-8", BODY.encode().replace(b"Ship", b"\xc0\xafhip"), 1, "OF010")
    yield case("UTF-8 surrogate", BODY.encode().replace(b"Ship", b"\xed\xa0\x80hip"), 1, "OF010")
    yield case("UTF-16 with mark", BODY.encode("utf-16"), 0)
    yield case("UTF-16 LE, no mark", BODY.encode("utf-16-le"), 0)
    yield case("UTF-16 BE, no mark", BODY.encode("utf-16-be"), 0)
    yield case("UTF-16 cut in half", BODY.encode("utf-16")[:-1], 1, "OF010")
    yield case("UTF-32", BODY.encode("utf-32"), 1, "OF01")
    yield case("byte order mark", b"\xef\xbb\xbf" + LINEAR.encode(), 0)
    yield case("two byte order marks", b"\xef\xbb\xbf" * 2 + LINEAR.encode(), 1, "OF010")
    yield case("CRLF", LINEAR.replace("\n", "\r\n"), 0)
    yield case("CR", LINEAR.replace("\n", "\r"), 0)
    yield case("null byte", BODY.replace("Ship", "Sh\0ip"), 1, "OF010")
    yield case("only null bytes", b"\0" * 1000, 1, "OF01")
    yield case("escape codes", BODY.replace("Ship", "\u202e\u0085Ship"), 0)
    yield case("duplicate ids", BODY.replace('id="ship"', 'id="end"'), 1, "OF1")
    yield case("duplicate attribute", BODY.replace('id="ship"', 'id="ship" id="b"'), 1, "OF010")
    yield case("reference to itself", BODY.replace('targetRef="ship"', 'targetRef="f1"'), 1, "OF1")
    yield case("100,000 elements", chain(100_000), 0, large=True)
    yield case("10,000 elements", chain(10_000), 0, large=True)
    start = b"<definitions>"
    yield OddFile("200 MB", ".bpmn", _sparse(start, 200 << 20), 1, "OF015", large=True)
    yield OddFile("6 GB", ".bpmn", _sparse(start, 6 << 30), 2, "OF002", large=True)


def _json() -> Iterator[OddFile]:
    for suffix, value in JSONS.items():
        text = json.dumps(value)
        kind = suffix.split(".")[1]

        def case(
            name: str, data: bytes | str, code: int = 1, said: str = "", suffix: str = suffix
        ) -> OddFile:
            return OddFile(f"{suffix.split('.')[1]}: {name}", suffix, _bytes(data), code, said)

        yield case("nothing", "", 1, "error OF")
        yield case("nested 100,000 deep", "[" * 100_000 + "]" * 100_000, 1, "error OF")
        yield case("keys 100,000 deep", '{"nodes":' * 100_000 + "1" + "}" * 100_000, 1, "error OF")
        inner = text.replace('"name"', '"x": ' + "[" * 5000 + "]" * 5000 + ', "name"', 1)
        yield case("nested inside", inner, 1, "error OF")
        yield case("text of 1 MB", text.replace('"id"', f'"name": "{"x" * 1_000_000}", "id"', 1),
                   code=9)  # fmt: skip
        yield case("invalid UTF-8", text.encode().replace(b'": "', b'": "\xff', 1), 1, "error OF")
        yield case("UTF-16 with mark", text.encode("utf-16"), 9)
        yield case("UTF-16, no mark", text.encode("utf-16-le"), 9)
        yield case("byte order mark", b"\xef\xbb\xbf" + text.encode(), 9)
        yield case("CRLF", json.dumps(value, indent=1).replace("\n", "\r\n"), 9)
        yield case("null byte", text[:20] + "\0" + text[20:], 1, "error OF")
        null = '"\\u0000"'
        yield case("null byte in a text", text.replace('"t"', null).replace('"T"', null), 9)
        yield case("lone surrogate", text.replace('": "', '": "\\ud800', 1), 9)
        yield case("NaN", text.replace("[]", "[NaN]", 1).replace("[0, 0]", "[NaN, 0]"), 9)
        yield case("Infinity", text[:-1] + ', "extra": -Infinity}', 9)
        yield case("number of 10,000 digits", text[:-1] + f', "extra": {"9" * 10_000}}}', 9)
        yield case("duplicate keys", text.replace('"id"', '"id": "u", "id"', 1), 9)
        yield case("a text", '"x"', 1, "error OF")
        yield case("null", "null", 1, "error OF")
        yield case("cut off", text[:-20], 1, "error OF")
        yield OddFile(f"{kind}: 200 MB", suffix, _sparse(text.encode(), 200 << 20), 1, "error OF",
                      large=True)  # fmt: skip
        yield OddFile(f"{kind}: 6 GB", suffix, _sparse(text.encode(), 6 << 30), 2, "OF002",
                      large=True)  # fmt: skip


def _places() -> Iterator[OddFile]:
    def link(path: Path) -> None:
        other = path.with_name("real.bpmn")
        other.write_text(LINEAR)
        path.symlink_to(other)

    yield OddFile("symlink", ".bpmn", link, 0, "")
    yield OddFile("symlink to itself", ".bpmn", lambda p: p.symlink_to(p.name), 2, "OF002")
    yield OddFile("symlink to nothing", ".bpmn", lambda p: p.symlink_to("gone"), 2, "OF002")
    yield OddFile("folder", ".bpmn", lambda p: p.mkdir(), 2, "OF002")
    yield OddFile("missing file", ".bpmn", lambda p: None, 2, "OF002")
    yield OddFile("endless device", ".bpmn", lambda p: p.symlink_to("/dev/zero"), 2, "OF002")
    yield OddFile("file that cannot be read", ".bpmn", lambda p: p.symlink_to("/proc/self/mem"), 2,
                  "OF002")  # fmt: skip
    yield OddFile("file of others", ".bpmn", lambda p: (p.write_text(LINEAR), os.chmod(p, 0)), 2,
                  "OF002")  # fmt: skip


FILES: tuple[OddFile, ...] = (*_xml(), *_json(), *_places())
