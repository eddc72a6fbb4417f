"""What was last compiled, kept with the workflow: the base of a three-way merge.

The base stands in the note with the map, in a line of its own, or, where it is too long for a note,
in a file of the folder `.orgflow`. It is JSON in base64, in which one character stands for each of
the phrases that such workflows are full of. That is half as long again as what bz2 makes of it, for
a fraction of its time, which was a seventh of a compile. zlib's output differs between platforms.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from orgflow.backends.n8n.format.document import TYPE_PREFIX
from orgflow.backends.n8n.format.identity import HIDDEN, hidden_line, map_place, readable_text

BASE_PREFIX: Final = "orgflow-base 2 "
"""First words of the line that carries the base in the note."""

FILE_PREFIX: Final = "orgflow-base-file 2 "
"""First words of the line that says that the base is in a file: the id of the workflow follows, and
a digest of the base, so that the base of another workflow or compile is not taken for it."""

MOST_CHARACTERS: Final = 65_536
"""A longer base is no text for a note: about 250 nodes."""

MOST_BYTES: Final = 64 * 1024 * 1024
"""More than any workflow has: a base that unpacks to more is not read."""

MOST_OUTPUTS: Final = 10_000
"""More than any node has: the number of a wire's output decides how long a list becomes."""

_WORD: Final = "orgflow-base"
"""What is in every line that `_LINE` matches."""

_LINE: Final = rf"(?:`|{re.escape(HIDDEN)})(?P<prefix>{BASE_PREFIX}|{FILE_PREFIX})(?P<text>[^`)]*)"

_ID: Final = 8
"""Characters of a node's id that are kept: enough to tell the nodes of one workflow apart."""

_PHRASES: Final = (
    "the work here, keep the name. Keep Always Output Data and Execute Once on in its settings (a "
    "new node has them off): without them a run ends where it hands on no item, and does the rest "
    "once for each of several.\\n\\norgflow: ",
    '"rightValue":"","operator":{"type":"boolean","operation":"true","singleValue":true}}],'
    '"combinator":"and"},"renameOutput":true,"outputKey":"',
    '"}]},"looseTypeValidation":true,"options":{"fallbackOutput":"extra","renameFallbackOutput":"',
    '{"conditions":{"options":{"caseSensitive":true,"leftValue":"","typeValidation":"loose",'
    '"version":2},"conditions":[{"id":"',
    '"operator":{"type":"string","operation":"equals"}}],"combinator":"and"},"renameOutput":true,'
    '"outputKey":"',
    "on under such a name is the new value, else it stays what it was. To take it from elsewhere, "
    "edit its line here.\\n\\norgflow: ",
    '","value":"","type":"string"}]},"includeOtherFields":true,"options":{}},"Sets ',
    '{"mode":"combine","combineBy":"combineByPosition","numberInputs":',
    '{"errorType":"errorMessage","errorMessage":"No branch of ',
    '"resume":"timeInterval","amount":',
    '"settings":{"executionOrder":"v1"}},[["',
    "**What is left to do**\\n- ",
    "Placeholders to fill: ",
    '"includeOtherFields":true,"options":{}},"',
    ',{"executeOnce":true,"alwaysOutputData":true}],["',
    '{"mode":"raw","jsonOutput":"={{ ({ ',
    '{"mode":"rules","rules":{"values":[',
    '{"assignments":{"assignments":[{"id":"',
    "json].find((o) => o.",
    "!== undefined)?.",
    ': undefined) }}","rightValue":"',
    ',{"executeOnce":true}],["',
    "Placeholder for a ",
    "task: put the node that does ",
    '","leftValue":"={{ ',
    '"stopAndError",1,',
    ',"stickyNote",1,',
    '"switch",3.4,',
    '"noOp",1,',
    '"set",3.5,',
    "first(0).json.",
    "isExecuted ? ",
    "no branch fits",
    '{"content":"',
    '"color":7},""],["',
    ',{"webhookId":"',
    '{},"orgflow: ',
    '"height":',
    '"width":',
    '"name":"',
    "first().json, ",
    " (stop)",
    " (data)",
    '"],["',
)
"""What repeats in workflows that orgflow writes. Bases hold the number of a phrase: phrases are
added at the end, and none is changed or removed."""

_MARKS: Final = sorted(
    zip(_PHRASES, map(chr, range(0x80, 0x100)), strict=False), key=lambda pair: -len(pair[0])
)
"""Phrases, the longest first, each with the character for it; the JSON around these is ASCII."""

_ROW_START: Final = '],["'
"""Ends a row and begins the next. Phrases that have it end with it."""

_PART: Final = 65_536
"""Characters of a part of a long base in which phrases are looked for."""

_STANDARD: Final = {"name", "id", "type", "typeVersion", "position", "parameters", "notes"}

Json = dict[str, Any]


def pack_base(workflow: Mapping[str, Any]) -> str:
    """A workflow as it was compiled, as one word of text."""
    nodes = workflow["nodes"]
    numbers = {row["name"]: number for number, row in enumerate(nodes)}
    content = [
        {k: v for k, v in workflow.items() if k not in ("nodes", "connections")},
        [_node_row(row) for row in nodes],
        [
            [numbers[source], output, numbers[end["node"]], end["index"]]
            for source, kinds in workflow["connections"].items()
            for output, ends in enumerate(kinds["main"])
            for end in ends
        ],
    ]
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"))
    marked = "".join(map(_mark_phrases, _cut_rows(text)))
    return base64.b64encode(marked.encode("latin-1")).decode()


def _mark_phrases(text: str) -> str:
    for phrase, mark in _MARKS:
        text = text.replace(phrase, mark)
    return text


def _cut_rows(text: str) -> Iterator[str]:
    """A long text in parts that fit into a processor's cache, each but the last up to the start of
    a row, where no phrase goes on."""
    start = 0
    while len(text) - start > _PART:
        cut = text.find(_ROW_START, start + _PART)
        if cut < 0:
            break
        cut += len(_ROW_START)
        yield text[start:cut]
        start = cut
    yield text[start:]


def keep_base(workflow: Mapping[str, Any], packed: str) -> None:
    """Put a base into the note with the map, or where it is too long, what finds its file."""
    for row in workflow["nodes"]:
        content = row["parameters"].get("content")
        if map_place(content) is not None:
            line = hidden_line(f"{BASE_PREFIX}{packed}")
            if len(packed) > MOST_CHARACTERS:
                line = hidden_line(
                    f"{FILE_PREFIX}{_content_digest(packed)} {workflow.get('id', '')}"
                )
            others = (
                kept_line
                for kept_line in content.split("\n")
                if _WORD not in kept_line or not re.match(_LINE, kept_line)
            )
            row["parameters"]["content"] = "\n".join([*others, line])
            return


def _node_row(node: Mapping[str, Any]) -> list[Any]:
    kind = node["type"]
    parameters = node["parameters"]
    content = parameters.get("content")
    if content is not None and map_place(content) is not None:  # it is made of the others
        parameters = {**parameters, "content": readable_text(content)}
    row: list[Any] = [
        node["name"],
        node["id"][:_ID],
        kind.removeprefix(TYPE_PREFIX) if kind.startswith(TYPE_PREFIX) else [kind],
        node["typeVersion"],
        *node["position"],
        parameters,
        node.get("notes", ""),
    ]
    if not node.keys() <= _STANDARD:
        row.append({k: v for k, v in node.items() if k not in _STANDARD})
    return row


def unpack_base(text: str) -> Json | None:
    """The workflow that `pack_base` packed, with shortened ids; None for any other text."""
    try:
        plain = base64.b64decode(text, validate=True).decode("latin-1")
        for phrase, mark in _MARKS:
            if len(plain) + plain.count(mark) * len(phrase) > MOST_BYTES:
                return None
            plain = plain.replace(mark, phrase)
        head, rows, wires = json.loads(plain)
        nodes = [_row_node(*row) for row in rows]
        connections: Json = {}
        for source, output, target, index in wires:
            if not 0 <= output <= MOST_OUTPUTS:
                return None
            outputs = connections.setdefault(nodes[source]["name"], {"main": []})["main"]
            outputs.extend([] for _ in range(output + 1 - len(outputs)))
            end = {"node": nodes[target]["name"], "type": "main", "index": index}
            outputs[output].append(end)
    except (ValueError, TypeError, LookupError, AttributeError, OSError, RecursionError):
        return None  # cut off, or edited by hand
    if not isinstance(head, dict):
        return None
    return {**head, "nodes": nodes, "connections": connections}


def _row_node(
    name: str,
    id: str,
    kind: str | list[str],
    version: float,
    x: float,
    y: float,
    parameters: Json,
    notes: str,
    more: Json | None = None,
) -> Json:
    row: Json = {
        "id": id,
        "name": name,
        "type": TYPE_PREFIX + kind if isinstance(kind, str) else kind[0],
        "typeVersion": version,
        "position": [x, y],
        "parameters": parameters,
    }
    if notes:
        row["notes"] = notes
    return {**row, **(more or {})}


def base_path(workflow_id: str) -> str:
    """The path of the file that keeps a base, from the folder of the workflow or its model."""
    return f".orgflow/{re.sub(r'[^A-Za-z0-9_-]', '_', workflow_id)}.base"


def packed_base(contents: Iterable[str]) -> str | None:
    """The packed base in the texts of sticky notes, if one carries it."""
    return _prefixed_text(contents, BASE_PREFIX)


def base_in_file(contents: Iterable[str], read: Callable[[str], str | None]) -> str | None:
    """The packed base that a file keeps, where a note says so.

    Args:
        contents: the texts of sticky notes.
        read: gives what the file of a workflow's id has; None where there is none.
    """
    digest, separator, id = (_prefixed_text(contents, FILE_PREFIX) or "").partition(" ")
    packed = read(id) if separator else None
    return packed if packed is not None and _content_digest(packed) == digest else None


def is_kept_base(contents: Iterable[str], packed: str) -> bool:
    """Whether a packed base is the one that sticky notes carry, or say to be in a file."""
    texts = list(contents)
    kept_base = packed_base(texts)
    if kept_base is not None:
        return kept_base == packed
    return (_prefixed_text(texts, FILE_PREFIX) or "").partition(" ")[0] == _content_digest(packed)


def _content_digest(packed: str) -> str:
    return hashlib.sha256(packed.encode("utf-8", "replace")).hexdigest()[:16]


def _prefixed_text(contents: Iterable[str], prefix: str) -> str | None:
    for content in contents:
        for line in content.split("\n"):
            match = re.match(_LINE, line) if _WORD in line else None
            if match is not None and match["prefix"] == prefix:
                return match["text"].strip()
    return None
