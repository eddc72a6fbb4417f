"""One node from three versions of it: body, switches, notes; references are already renamed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, Final

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.format.document import short_type
from orgflow.backends.n8n.format.identity import (
    map_place,
    readable_text,
    tag_line,
    tag_of,
    words_of,
)
from orgflow.backends.n8n.format.json_values import inside, mapping, rows
from orgflow.backends.n8n.merge.json_merge import ABSENT, JsonMerge, is_equivalent
from orgflow.backends.n8n.merge.merge_outcome import MergeChange, MergeConflict, shorten_value
from orgflow.backends.n8n.node_types import send_and_wait, wait

from orgflow_ir.model.records import dataclass

Json = Mapping[str, Any]

ADDRESSED: Final = frozenset({"webhook", "formTrigger"})
"""Triggers at an address that people know."""

_OWN: Final = frozenset(
    {"id", "name", "type", "typeVersion", "position", "parameters", "notes", "webhookId"}
)
_GEOMETRY: Final = ("width", "height", "color")


def type_label(node: Json) -> str:
    """The readable name of a node's type."""
    short = short_type(node)
    if short == "noOp":
        return "a placeholder"
    kind = str(node.get("type", ""))
    name = node_types.type_label(short) if short else kind.rsplit(".", 1)[-1]
    first = name.split(" ")[0]
    # Letters that are spoken with a vowel first, where they are spoken one by one.
    vowel = first[:1] in "AEFHILMNORSX" if first.isupper() else first[:1].lower() in "aeiou"
    return f"{'an' if vowel else 'a'} {name} node"


def is_placeholder(node: Json) -> bool:
    """Whether a node is only a placeholder: it does nothing, or sets empty fields."""
    kind = short_type(node)
    if kind == "set":
        entries = _list_assignments(node)
        return bool(entries) and all(entry.get("value") in ("", "[]", None) for entry in entries)
    return kind == "noOp"


def is_form(node: Json) -> bool:
    """Whether a node is the form of a user task."""
    parameters = mapping(node.get("parameters"))
    return send_and_wait.asks_people(parameters) or (
        short_type(node) == "wait" and wait.is_form(parameters)
    )


def same_type(left: Json, other: Json) -> bool:
    """Whether two nodes are of the same type."""
    return short_type(left) == short_type(other)


def open_placeholders(workflow: Json) -> list[str]:
    """Names of the placeholder nodes, which a person has to fill."""
    return [
        str(row.get("name"))
        for row in rows(workflow.get("nodes"))
        if is_placeholder(row)
        and not row.get("disabled")
        and tag_of(row.get("notes")) is not None
        and ("Placeholder" in str(row["notes"]) or "Put the node" in str(row["notes"]))
    ]


def asked_fields(node: Json) -> frozenset[str]:
    """The fields that a placeholder requires."""
    if not is_placeholder(node):
        return frozenset()
    return frozenset(str(row["name"]) for row in _list_assignments(node) if row.get("name"))


def _list_assignments(node: Json) -> list[Json]:
    if short_type(node) != "set" or mapping(node.get("parameters")).get("mode") == "raw":
        return []
    return rows(inside(node.get("parameters"), "assignments", "assignments"))


def same_body(left: Json, other: Json) -> bool:
    """Whether two nodes have the same behaviour."""
    return all(
        is_equivalent(left.get(key), other.get(key))
        for key in ("type", "typeVersion", "parameters")
    )


@dataclass
class ContentMerge:
    """Merges the nodes of a workflow one by one and collects the messages."""

    changes: list[MergeChange] = field(default_factory=list)
    conflicts: list[MergeConflict] = field(default_factory=list)

    def node(self, name: str, base: Json | None, theirs: Json, ours: Json) -> dict[str, Any]:
        """A node that both sides have, without name and position.

        Args:
            name: its final name.
            base: its compiled form; None if both sides added it.
            theirs, ours: both sides.
        """
        was = base if base is not None else {}
        body = self._merge_body(name, base, theirs, ours)
        row: dict[str, Any] = {}
        for key in dict.fromkeys((*ours, *theirs)):
            if key in ("type", "typeVersion", "parameters"):
                row[key] = body[key]
            elif key == "id":
                known = was.get("id")
                kept = isinstance(known, str) and str(theirs.get("id", "")).startswith(known)
                value = ours.get("id") if kept else theirs.get("id", ours.get("id"))
                row[key] = value
            elif key == "webhookId":
                row[key] = theirs.get("webhookId", ours.get("webhookId"))
            elif key == "notes":
                text = _merge_notes(was.get("notes"), theirs.get("notes"), ours.get("notes"))
                if text:
                    row[key] = text
            elif key in _OWN:
                row[key] = ours.get(key, theirs.get(key))
            else:
                value = self._merge_switch(name, key, was, theirs, ours)
                if value is not ABSENT:
                    row[key] = value
        if base is not None:
            self._report_edit(name, base, theirs, ours)
        return row

    # -- body --------------------------------------------------------------------------------------

    def _merge_body(self, name: str, base: Json | None, theirs: Json, ours: Json) -> dict[str, Any]:
        keep = {key: ours.get(key) for key in ("type", "typeVersion", "parameters")}
        edited = {key: theirs.get(key) for key in keep}
        if base is not None and short_type(base) in ADDRESSED and short_type(ours) in ADDRESSED:
            ours = self._at_its_address(name, base, theirs, ours)
            keep = {key: ours.get(key) for key in keep}
        if same_body(theirs, ours):
            return keep
        if base is None:
            if is_placeholder(ours):
                self._report_asked(name, ours, theirs, ours)
                return edited
            if is_placeholder(theirs):
                return keep
        elif same_body(theirs, base):
            return keep
        elif same_body(ours, base):
            return edited
        elif is_placeholder(base) and is_placeholder(ours):
            self._report_asked(name, base, theirs, ours)
            return edited
        asks = is_form(ours) and not is_form(theirs)
        if asks and (base is None or is_form(base) or is_placeholder(base)):
            return edited  # a person's step is done in another way
        if base is not None and base.get("type") == theirs.get("type") == ours.get("type"):
            return self._merge_parameters(name, base, theirs, ours)
        self.conflicts.append(
            MergeConflict(
                name,
                f"{type_label(theirs)} does the work",
                f"it became {type_label(ours)}{_describe_asking(ours)}",
                "delete the node in the workflow to use the model's version, or restore "
                "the element in the model",
            )
        )
        return keep

    def _merge_parameters(self, name: str, base: Json, theirs: Json, ours: Json) -> dict[str, Any]:
        """The parameters of three nodes of one type, merged; what both sides changed conflicts."""
        merge = JsonMerge()
        merged = {
            "type": ours.get("type"),
            "typeVersion": max(theirs.get("typeVersion", 1), ours.get("typeVersion", 1)),
            "parameters": merge.merge(
                base.get("parameters"), theirs.get("parameters"), ours.get("parameters")
            ),
        }
        for clash in merge.clashes:
            place = _describe_place(clash.path)
            self.conflicts.append(
                MergeConflict(
                    name,
                    f"{place} is `{shorten_value(clash.theirs)}`",
                    f"{place} is `{shorten_value(clash.ours)}`",
                    "make both equal in the workflow or the model, then merge again",
                )
            )
        return merged

    def _at_its_address(self, name: str, base: Json, theirs: Json, ours: Json) -> Json:
        """The new node with the address that callers know already."""
        live = mapping(theirs.get("parameters")).get("path")
        wanted = mapping(ours.get("parameters")).get("path")
        if not isinstance(live, str) or live == wanted:
            return ours
        before = mapping(base.get("parameters")).get("path")
        if wanted != before:
            text = f"`{name}` keeps its address `{live}`; with its new name, it would be `{wanted}`"
            self.changes.append(MergeChange("workflow", text))
        return {**ours, "parameters": {**mapping(ours.get("parameters")), "path": live}}

    def _report_asked(self, name: str, base: Json, theirs: Json, ours: Json) -> None:
        """A filled node of which the model asks for other fields now."""
        new = sorted(asked_fields(ours) - asked_fields(base))
        old = sorted(asked_fields(base) - asked_fields(ours))
        parameters = str(theirs.get("parameters"))
        missing = [field for field in new if not _mentions_word(parameters, field)]
        if not missing:
            return
        stale = [field for field in old if _mentions_word(parameters, field)]
        listed, kind = ", ".join(f"`{field}`" for field in missing), type_label(theirs)
        if stale:
            given = ", ".join(f"`{field}`" for field in stale)
            self.conflicts.append(
                MergeConflict(
                    name,
                    f"{kind} sets {given}",
                    f"a gateway reads {listed} from it",
                    f"in the workflow, make the node set {listed}, then merge again",
                )
            )
            return
        text = f"`{name}` ({kind}) now has to output {listed}"
        self.changes.append(MergeChange("model", text, notable=True))

    # -- the rest ----------------------------------------------------------------------------------

    def _merge_switch(self, name: str, key: str, base: Json, theirs: Json, ours: Json) -> Any:
        merge = JsonMerge()
        values = (node.get(key, ABSENT) for node in (base, theirs, ours))
        value = merge.merge(*values)
        for clash in merge.clashes:
            self.conflicts.append(
                MergeConflict(
                    name,
                    f"the setting {key} is `{shorten_value(str(clash.theirs))}`",
                    f"the setting {key} is `{shorten_value(str(clash.ours))}`",
                    "make both equal in the workflow or the model, then merge again",
                )
            )
        return value

    def _report_edit(self, name: str, base: Json, theirs: Json, ours: Json) -> None:
        if not same_body(theirs, base):
            what = (
                f"is {type_label(theirs)}" if theirs.get("type") != base.get("type") else "edited"
            )
            text = f"`{name}` {what}" if what != "edited" else f"parameters of `{name}`"
            self.changes.append(MergeChange("workflow", text))
        if not same_body(ours, base) and not same_body(ours, theirs):
            self.changes.append(MergeChange("model", f"`{name}` is compiled differently"))
        for key in sorted({*base, *theirs} - _OWN):
            if not is_equivalent(base.get(key, ABSENT), theirs.get(key, ABSENT)):
                self.changes.append(MergeChange("workflow", f"the setting {key} of `{name}`"))
        if words_of(theirs.get("notes")) != words_of(base.get("notes")):
            self.changes.append(MergeChange("workflow", f"the note of `{name}`"))

    def sticky(self, base: Json | None, theirs: Json, ours: Json) -> dict[str, Any]:
        """A sticky note of both sides, without name and position; a person's appearance and lines
        of text are kept."""
        mine, its = mapping(ours.get("parameters")), mapping(theirs.get("parameters"))
        was = mapping((base or {}).get("parameters"))
        if map_place(mine.get("content")) is not None:
            mine, its, was = (_readable_parameters(version) for version in (mine, its, was))
        parameters: dict[str, Any] = {}
        for key in dict.fromkeys((*mine, *its)):
            old, edited, new = (version.get(key, ABSENT) for version in (was, its, mine))
            if key == "content" and isinstance(edited, str) and isinstance(new, str):
                parameters[key] = _merge_paragraphs(
                    old if isinstance(old, str) else "", edited, new
                )
                continue
            value = new if base is not None and is_equivalent(edited, old) else edited
            if value is not ABSENT:
                parameters[key] = value
        row = {k: v for k, v in {**theirs, **ours}.items() if k != "parameters"}
        row["id"] = self._merge_id(base, theirs, ours)
        return {**{k: row[k] for k in (*ours, *theirs) if k in row}, "parameters": parameters}

    def _merge_id(self, base: Json | None, theirs: Json, ours: Json) -> Any:
        known = (base or {}).get("id")
        kept = isinstance(known, str) and str(theirs.get("id", "")).startswith(known)
        return ours.get("id") if kept else theirs.get("id", ours.get("id"))


def _readable_parameters(parameters: Json) -> Json:
    content = parameters.get("content")
    if not isinstance(content, str):
        return parameters
    return {**parameters, "content": readable_text(content)}


def _describe_place(path: tuple[str | int, ...]) -> str:
    words = [str(part) for part in path if not isinstance(part, int)]
    return f"the parameter {'.'.join(words)}" if words else "its parameters"


def _describe_asking(node: Json) -> str:
    fields = sorted(asked_fields(node))
    return f" that sets {', '.join(f'`{field}`' for field in fields)}" if fields else ""


def _mentions_word(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


# -- texts -----------------------------------------------------------------------------------------


def _merge_notes(base: Any, theirs: Any, ours: Any) -> str:
    """The notes of a node: the element as the model has it, the text by paragraphs."""
    was, its, mine = words_of(base), words_of(theirs), words_of(ours)
    text = merged_text(was, its, mine, "\n\n")
    if text == mine and (tag_of(theirs) is not None or its == was):
        return str(ours or "")
    tag = tag_of(ours) if tag_of(theirs) is not None else None
    line = tag_line(*tag) if tag is not None else ""
    return "\n\n".join(part for part in (text, line) if part)


def _merge_paragraphs(base: str, theirs: str, ours: str) -> str:
    return merged_text(base, theirs, ours, "\n")


def merged_text(base: str, theirs: str, ours: str, between: str) -> str:
    """Text with every part that one side added, and without those that one side removed."""
    if theirs in (base, ours):
        return ours
    if ours == base:
        return theirs
    was, its, mine = (list(_split_parts(part, between)) for part in (base, theirs, ours))
    kept = [part for part in its if part in mine or part not in was]
    new = [part for part in mine if part not in was and part not in its]
    return between.join([*kept, *new])


def _split_parts(text: str, between: str) -> Iterator[str]:
    return (part for part in text.split(between) if part.strip())
