"""POWL as text: JSON of the published schema, and the Python code that builds it."""

from __future__ import annotations

import json
import keyword
import re
from typing import Any, assert_never

from orgflow.backends.powl.format import Activity, Choice, Loop, PartialOrder, Powl, Silent
from orgflow.backends.powl.from_process import is_sequence


def json_text(powl: Powl, name: str) -> str:
    """The JSON document."""
    document: dict[str, Any] = {"powl": 1}
    if name.strip():
        document["name"] = " ".join(name.split())
    document["model"] = _powl_to_json(powl)
    return json.dumps(document, indent=1, ensure_ascii=False).replace("\ufffe", "\\ufffe") + "\n"


def _powl_to_json(powl: Powl, **more: Any) -> dict[str, Any]:
    match powl:
        case Silent():
            document: dict[str, Any] = {"type": "silent"}
        case Activity():
            actor = {key: text for key in ("lane", "pool") if (text := getattr(powl, key))}
            document = {"type": "activity", "label": powl.label, **actor}
        case Choice():
            labels = powl.conditions or ("",) * len(powl.children)
            pairs = zip(powl.children, labels, strict=True)
            children = [
                _powl_to_json(c, **({"condition": label} if label else {})) for c, label in pairs
            ]
            document = {"type": "choice", **_name_entry(powl.name), "children": children}
        case Loop():
            loop_labels = {key: text for key in ("again", "leave") if (text := getattr(powl, key))}
            document = {"type": "loop", **_name_entry(powl.name), "do": _powl_to_json(powl.do)}
            if not isinstance(powl.redo, Silent):
                document["redo"] = _powl_to_json(powl.redo)
            document |= loop_labels
        case PartialOrder() if is_sequence(powl):
            document = {
                "type": "sequence",
                "children": [_powl_to_json(node) for node in powl.nodes],
            }
        case PartialOrder() if not powl.order:
            document = {
                "type": "parallel",
                "children": [_powl_to_json(node) for node in powl.nodes],
            }
        case PartialOrder():
            nodes = [{"id": f"n{n}", **_powl_to_json(node)} for n, node in enumerate(powl.nodes, 1)]
            order = [[f"n{a + 1}", f"n{b + 1}"] for a, b in sorted(powl.order)]
            document = {"type": "partial-order", "nodes": nodes, "order": order}
        case _:
            assert_never(powl)
    return {"type": document.pop("type"), **more, **document}


def _name_entry(name: str) -> dict[str, str]:
    return {"name": name} if name else {}


def code_text(powl: Powl, name: str) -> str:
    """Calls of a model generator, one line per part; conditions and questions are comments."""
    return _Code().text(powl, name)


class _Code:
    def __init__(self) -> None:
        self._lines: list[str] = []
        self._used = {"gen", "final_model"}

    def text(self, powl: Powl, name: str) -> str:
        """See `code_text`."""
        last = self._write_part(powl)
        head = [f"# {_comment_text(name)}"] if name.strip() else []
        return "\n".join(
            [*head, "gen = ModelGenerator()", *self._lines, f"final_model = {last}", ""]
        )

    def _free_name(self, wanted: str) -> str:
        base = re.sub(r"[^a-z0-9]+", "_", wanted.lower()).strip("_")[:40]
        base = base if base[:1].isalpha() and not keyword.iskeyword(base) else f"step_{base}"
        name, number = base, 2
        while name in self._used:
            name, number = f"{base}_{number}", number + 1
        self._used.add(name)
        return name

    def _write_part(self, powl: Powl) -> str:
        """The name of the value that a part is assigned to."""
        match powl:
            case Silent():
                return self._write_line("skip", "gen.silent_transition()")
            case Activity():
                more = "".join(
                    f", {key}={text!r}" for key in ("pool", "lane") if (text := getattr(powl, key))
                )
                return self._write_line(powl.label, f"gen.activity({powl.label!r}{more})")
            case Choice():
                parts = [self._write_part(child) for child in powl.children]
                labels = zip(parts, powl.conditions, strict=False)
                labels_text = "; ".join(f"{part}: {label}" for part, label in labels if label)
                return self._write_line(powl.name or "choice", f"gen.xor({', '.join(parts)})",
                                  ", ".join(t for t in (powl.name, labels_text) if t))  # fmt: skip
            case Loop():
                do, redo = self._write_part(powl.do), self._write_part(powl.redo)
                loop_labels = (("again", powl.again), ("leave", powl.leave))
                labels_text = "; ".join(f"{key}: {label}" for key, label in loop_labels if label)
                return self._write_line(powl.name or "loop", f"gen.loop(do={do}, redo={redo})",
                                  ", ".join(t for t in (powl.name, labels_text) if t))  # fmt: skip
            case PartialOrder():
                return self._write_order(powl)
            case _:
                assert_never(powl)

    def _write_order(self, order: PartialOrder) -> str:
        parts = [self._write_part(node) for node in order.nodes]
        if is_sequence(order):
            chains = [parts]
        else:
            chains = [[parts[a], parts[b]] for a, b in sorted(order.order)]
            linked = {n for pair in order.order for n in pair}
            chains += [[part] for n, part in enumerate(parts) if n not in linked]
        rows = ", ".join(f"({', '.join(row)}{',' if len(row) == 1 else ''})" for row in chains)
        return self._write_line("order", f"gen.partial_order(dependencies=[{rows}])")

    def _write_line(self, wanted: str, value: str, comment: str = "") -> str:
        name = self._free_name(wanted)
        self._lines.append(
            f"{name} = {value}" + (f"  # {_comment_text(comment)}" if comment else "")
        )
        return name


def _comment_text(text: str) -> str:
    """A text within one line of a comment."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
