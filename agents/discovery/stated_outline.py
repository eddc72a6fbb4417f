"""The structure of a process as a language model states it: an outline whose lines cite messages.

The model sees the cases of a process as lettered parts, and its messages with a number in their
part: `A3` is the third message of part A. Its answer has a few lines about the process before the
outline. A person's reading of the answer is never needed: what cannot be read is a fault with the
line, for one round of corrections.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from orgflow.agents.discovery.described import UnusableProcess
from orgflow.agents.prompting import visible_text

from orgflow_ir.linking.called_processes import rename_ids
from orgflow_ir.model import CallActivity, Event, Model, Node, Task
from orgflow_ir.model.elements import Scope, SubProcess
from orgflow_ir.model.evidence import SENTENCES
from orgflow_ir.model.provenance import all_elements
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

READER = "outline"
"""The frontend for outlines."""

HEADERS = ("name", "about", "begins", "ends", "cases", "other", "none", "unused")
"""The keywords before the outline that only this answer has."""

LONGEST = 80
"""Maximum number of characters of a step's name, so that pictures can show it."""

MOST_FAULTS = 10
"""Maximum number of faults that a round of corrections names."""

_HEADER = re.compile(rf"\W*({'|'.join(HEADERS)})\W*:\s*(.*)", re.IGNORECASE)
_LABEL = re.compile(r"([A-Za-z]{1,2})\s?(\d{1,5})(?:\s?[-–]\s?(?:[A-Za-z]{1,2}\s?)?(\d{1,5}))?")
_ONE = r"@?\s*\[?[A-Za-z]{1,2}\s?\d{1,5}(?:\s?[-–]\s?[A-Za-z]{0,2}\s?\d{1,5})?\]?"
_CITED = re.compile(rf"{_ONE}(?:[\s,;@]+{_ONE})*")
_FENCE = re.compile(r"^\s*(?:```|~~~)")


class MessageLabels(NamedTuple):
    """The labels of the messages of a process.

    Attributes:
        parts: the places of the messages of each part, in the order of time; the letters of the
            parts are those of `name_part`.
    """

    parts: tuple[tuple[int, ...], ...]

    def list_labels(self) -> dict[str, int]:
        """The place of each message, by its label."""
        return {
            f"{name_part(part)}{number}": place
            for part, places in enumerate(self.parts)
            for number, place in enumerate(places, 1)
        }


class StatedProcess(NamedTuple):
    """A process as a model states it.

    Attributes:
        name, about, begins, ends: what the answer says about the process.
        joined: the numbers of the parts of each case, from 0.
        other: parts of another process.
        none: parts of no process.
        unused: places of messages that do not belong to their case.
        model: the model of the outline, with one process; `cited` are the places that support each
            element, by its id.
        faults: what is wrong, as sentences for the model of language; the rest was read.
    """

    name: str
    about: str
    begins: str
    ends: str
    joined: tuple[tuple[int, ...], ...]
    other: tuple[int, ...]
    none: tuple[int, ...]
    unused: tuple[int, ...]
    model: Model
    cited: Mapping[str, tuple[int, ...]]
    faults: tuple[str, ...] = ()


class UnreadableOutline(UnusableProcess):
    """An answer that holds no process that can be used.

    Attributes:
        faults: the reasons, as sentences.
        is_outline: whether the answer tries to be one.
    """

    def __init__(self, faults: Sequence[str], *, is_outline: bool) -> None:
        super().__init__(faults[0])
        self.faults, self.is_outline = tuple(faults), is_outline


def name_part(number: int) -> str:
    """The letters of a part: A to Z, AA to ZZ. Raises `ValueError` beyond."""
    if number >= 26 * 27:
        raise ValueError(f"there are no letters for part {number + 1}")
    high, low = divmod(number, 26)
    return (chr(64 + high) if high else "") + chr(65 + low)


MOST_PARTS = 26 * 27
"""Maximum number of parts that have letters."""


def says_none(text: str) -> bool:
    """Whether an answer says that there is no process."""
    return text.strip().strip(".*`\"'").upper().startswith("NONE")


def read_stated_process(text: str, labels: MessageLabels, registry: Registry) -> StatedProcess:
    """The process in an answer.

    Raises:
        UnreadableOutline: no process can be read, or the answer has a line that nothing can be
            made of.
        LookupError: the frontend for outlines is not registered.
    """
    known = labels.list_labels()
    headers, lines = _split_answer(text)
    outline, faults = _number_citations(lines, known)
    model, own_faults = _read_outline(outline, registry)
    is_outline = bool(headers) or any("|" in line for line in lines)
    if model is None:
        raise UnreadableOutline((*own_faults, *faults)[:MOST_FAULTS], is_outline=is_outline)
    if len(model.processes) != 1:
        raise UnreadableOutline(
            ["Write one process. Parties outside of it are named in `receive:` and `send:` lines."],
            is_outline=is_outline,
        )
    places = list(known.values())
    cited = dict(_list_citations(model, places))
    if not any(cited.get(node.id) for node in list_steps(model)):
        raise UnreadableOutline(
            ["No step cites a message, such as `check order | clerk | A3`."], is_outline=is_outline
        )
    faults += [
        f"The step `{name}` stands {number} times; write it once, with `repeat:` if it is done "
        "again."
        for name, number in Counter(node.name.casefold() for node in list_steps(model)).items()
        if number > 1
    ]
    parts = {name_part(number): number for number in range(len(labels.parts))}
    other = _read_parts(headers.get("other", ""), parts)
    none = tuple(p for p in _read_parts(headers.get("none", ""), parts) if p not in other)
    left = [number for number in range(len(labels.parts)) if number not in (*other, *none)]
    (process,) = model.processes
    return StatedProcess(
        headers.get("name") or process.name, headers.get("about", ""), headers.get("begins", ""),
        headers.get("ends", ""), _read_cases(headers.get("cases", ""), parts, left), other, none,
        tuple(known[label] for label in _list_labels(headers.get("unused", "")) if label in known),
        model, cited, tuple(faults[:MOST_FAULTS]),
    )  # fmt: skip


def list_steps(model: Model) -> list[Node]:
    """The tasks, calls and message events of a model, which messages may show."""
    return [
        node
        for scope in model.scopes()
        for node in scope.nodes
        if isinstance(node, Task | CallActivity)
        or (isinstance(node, Event) and node.position in ("catch", "throw") and _is_message(node))
    ]


def name_step(step: Node) -> str:
    """The name of a step in a list; an event has only the name of its message."""
    if isinstance(step, Event):
        return f"{'Receive' if step.position == 'catch' else 'Send'} {step.name}"
    return step.name


def _is_message(event: Event) -> bool:
    return any(definition.kind == "message" for definition in event.definitions)


# -- reading -----------------------------------------------------------------------------------


def _split_answer(text: str) -> tuple[dict[str, str], list[str]]:
    """The lines about the process, and those of the outline."""
    headers: dict[str, str] = {}
    lines: list[str] = []
    for raw in visible_text(text).splitlines():
        if _FENCE.match(raw) or not raw.strip():
            continue
        header = _HEADER.fullmatch(raw.strip()) if not lines else None
        if header is not None:
            headers[header[1].lower()] = " ".join(header[2].split())[:300]
        else:
            lines.append(raw)
    return headers, lines


def _number_citations(
    lines: Sequence[str], known: Mapping[str, int]
) -> tuple[list[str], list[str]]:
    """Lines with sentence numbers in place of labels of messages: `s4` is the fourth message."""
    number = {label: place for place, label in enumerate(known, 1)}
    numbered, faults = [], []
    for line in lines:
        head, *fields = line.split("|")
        kept = [head.rstrip()]
        # an expression in brackets may have bars: only what looks like labels is replaced
        for field in fields:
            if not _CITED.fullmatch(field.strip()):
                kept.append(field)
                continue
            labels = list(_list_labels(field))
            missing = [label for label in labels if label not in number]
            if missing:
                faults.append(
                    f"`{' '.join(line.split())[:LONGEST]}` cites {', '.join(missing[:4])}, which "
                    "no message has."
                )
            cited = [f"s{number[label]}" for label in labels if label in number]
            if cited:
                kept.append(f" {','.join(cited)}")
        numbered.append(" |".join(kept))
    return numbered, faults


def _list_labels(text: str) -> Iterator[str]:
    """The labels in a text; `A3-5` is three labels."""
    for letters, first, last in _LABEL.findall(text):
        end = int(last) if last and int(first) <= int(last) <= int(first) + 200 else int(first)
        for number in range(int(first), end + 1):
            yield f"{letters.upper()}{number}"


def _read_outline(lines: Sequence[str], registry: Registry) -> tuple[Model | None, list[str]]:
    """The model of an outline, and its faults as sentences."""
    if READER not in registry.frontends:
        raise LookupError(f"there is no frontend `{READER}`")
    text = "\n".join(lines)
    own = PassContext(registry=registry)
    source = SourceFile("answer.outline", text.encode("utf-8", "replace"))
    model = registry.frontends[READER].parse(source, own)
    faults = []
    for finding in own.diagnostics:
        at = finding.loc.line if finding.loc is not None and finding.loc.line else 0
        line = " ".join(lines[at - 1].split())[:LONGEST] if 0 < at <= len(lines) else ""
        remedy = f"; {finding.help}" if finding.help else ""
        faults.append(f"{f'`{line}`: ' if line else ''}{finding.message}{remedy}.")
    if model is None:
        return None, faults or ["The answer is no outline."]
    return model, faults


def _list_citations(model: Model, places: Sequence[int]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The places of the messages that each element cites."""
    for element in all_elements(model):
        for key, value in element.extra:
            if key == SENTENCES:
                numbers = [int(number) for number in str(value).split(",")]
                cited = {places[n - 1] for n in numbers if 0 < n <= len(places)}
                yield element.id, tuple(sorted(cited))


def _read_parts(text: str, parts: Mapping[str, int]) -> tuple[int, ...]:
    """The parts that a line names."""
    names = re.findall(r"\b[A-Za-z]{1,2}\b", text)
    return tuple(dict.fromkeys(parts[n.upper()] for n in names if n.upper() in parts))


def _read_cases(
    text: str, parts: Mapping[str, int], left: Sequence[int]
) -> tuple[tuple[int, ...], ...]:
    """The parts of each case; a part that is not named is a case of its own. `A+B` is one case."""
    cases: list[tuple[int, ...]] = []
    used: set[int] = set()
    for group in re.findall(r"\b[A-Za-z]{1,2}(?:\s*\+\s*[A-Za-z]{1,2})*\b", text):
        names = [name.strip().upper() for name in group.split("+")]
        own = [parts[n] for n in names if n in parts and parts[n] in left and parts[n] not in used]
        if own:
            cases.append(tuple(dict.fromkeys(own)))
            used.update(own)
    cases += [(number,) for number in left if number not in used]
    return tuple(sorted(tuple(sorted(case)) for case in cases))


# -- ids ---------------------------------------------------------------------------------------


def prefix_ids(model: Model, prefix: str) -> tuple[Model, dict[str, str]]:
    """A model of one process with other ids: that of the process is the prefix, with which all
    others begin. Also returns the new ids, by the old ones."""
    (process,) = model.processes
    ids = {element.id: f"{prefix}_{element.id}" for element in all_elements(model)}
    ids[process.id] = prefix
    return rename_ids(model, ids), ids


def cut_names(model: Model) -> Model:
    """A model whose names have a length that pictures can show."""
    return model.replace(
        processes=tuple(process.replace(**_cut_scope(process)) for process in model.processes)
    )


def _cut_scope(scope: Scope) -> dict[str, Any]:
    nodes: list[Node] = []
    for node in scope.nodes:
        more = _cut_scope(node) if isinstance(node, SubProcess) else {}
        name = _cut_name(node.name)
        if isinstance(node, Task | CallActivity):
            name = name[:1].upper() + name[1:]
        nodes.append(node.replace(name=name, **more))
    flows = tuple(flow.replace(name=_cut_name(flow.name)) for flow in scope.flows)
    return {"nodes": tuple(nodes), "flows": flows}


def _cut_name(name: str) -> str:
    line = " ".join(name.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1].rsplit(' ', 1)[0]}…"
