"""A model as extended graph lines: events, parts, calls, participants, data."""

from __future__ import annotations

import re
from typing import assert_never

from orgflow.backends.triples.format import (
    ARROW,
    DEFAULT_MARK,
    OTHERWISE,
    condition_text,
    plain_text,
    sentence_numbers,
)

from orgflow_ir.model import (
    CallActivity,
    DataObject,
    Element,
    Event,
    Flow,
    Gateway,
    Loop,
    Model,
    Node,
    Opaque,
    Process,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.element_names import slug
from orgflow_ir.model.event_words import (
    PrintedTrigger,
    Reader,
    Trigger,
    print_trigger,
    read_end,
    read_event,
    read_receive,
    read_send,
    read_start,
    read_wait,
)
from orgflow_ir.model.evidence import DOUBT, SENTENCES
from orgflow_ir.model.message_words import Message, MessageWords

_LETTERS = {"exclusive": "X", "parallel": "A", "inclusive": "O", "event": "W"}


def is_extended(model: Model) -> bool:
    """Whether plain lines cannot state a model."""
    if model.message_flows:
        nodes = {n.id for scope in model.scopes() for n in scope.nodes}
        if any(f.source in nodes and f.target in nodes for f in model.message_flows):
            return True
    for scope in model.scopes():
        if any(flow.condition is not None and not flow.default for flow in scope.flows):
            return True
        for node in scope.nodes:
            if isinstance(node, SubProcess | CallActivity):
                return True
            if isinstance(node, Event) and node.definitions:
                return True
            if isinstance(node, Gateway) and node.gateway_kind == "event":
                return True
            if isinstance(node, Task) and node.loop is not None:
                return True
    return False


class ExtendedText:
    """The lines of a model.

    Attributes:
        names: the name of each node in the lines, by id.
        changed: labels that had to be changed for the lines.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._words = MessageWords(model)
        self._counts: dict[str, int] = {}
        self.names: dict[str, str] = {}
        self.changed: list[str] = []
        self._errors = {e.id: e.name or e.code or e.id for e in model.catalog.errors}
        self._objects = {d.id: d for scope in model.scopes() for d in scope.data_objects}

    def text(self) -> str:
        """All processes; a header names the participant of each, if it has a name."""
        processes = [process for process in self._model.processes if process.nodes]
        pools = {pool.process for pool in self._model.pools}
        lines = ["# extended"]
        for process in processes:
            named = len(processes) > 1 or process.id in pools or process.name.strip()
            if named:
                lines.append(f"== {self._keep_label(self._words.owner(process.id))}")
            lines += self._scope_lines(process, _Scope(process))
        return "\n".join([*lines, ""])

    # -- scopes -------------------------------------------------------------------------------

    def _scope_lines(self, scope: Scope, around: _Scope) -> list[str]:
        """Nodes, then flows; a part stands between its braces."""
        handlers = [n for n in scope.nodes if isinstance(n, SubProcess) and n.flavour == "event"]
        scopes = [around, *(_Scope(handler) for handler in handlers)]
        starts = {
            n.id for handler in handlers for n in handler.nodes
            if isinstance(n, Event) and n.position == "start"
        }  # fmt: skip
        for inner in scopes:
            self._name_nodes(inner.scope, starts)
        lines = [
            line for inner in scopes for node in inner.scope.nodes
            for line in self._declare_node(node, inner)
        ]  # fmt: skip
        for inner in scopes:
            lines += self._flow_lines(inner, starts)
        return lines

    def _name_nodes(self, scope: Scope, starts: set[str]) -> None:
        for node in scope.nodes:
            letter = self._letter_of(node)
            if letter and node.id not in starts:
                self._counts[letter] = self._counts.get(letter, 0) + 1
                self.names[node.id] = f"{letter}{self._counts[letter]}"

    def _letter_of(self, node: Node) -> str:
        """The letter that a node is named by; empty if it is named by its host."""
        match node:
            case Gateway():
                return _LETTERS[node.gateway_kind]
            case Event():
                if node.position == "boundary":
                    return ""
                if node.position == "throw" and not node.definitions:
                    return "X"
                return {"start": "Start", "end": "End"}.get(node.position, "E")
            case Task():
                return "E" if self._message_of(node) is not None else "T"
            case CallActivity():
                return "C"
            case SubProcess():
                return "" if node.flavour == "event" else "S" if node.nodes else "T"
            case Opaque():
                return ""
            case _:
                assert_never(node)

    def _message_of(self, task: Task) -> tuple[str, Message] | None:
        """`send` or `receive` and the message of a task that does so."""
        sent, received = self._words.sent.get(task.id), self._words.received.get(task.id)
        if sent is not None or task.task_type == "send":
            return "send", sent or Message(self._words.unmatched(task), "")
        if received is not None or task.task_type == "receive":
            return "receive", received or Message(self._words.unmatched(task), "")
        return None

    # -- declarations -------------------------------------------------------------------------

    def _declare_node(self, node: Node, around: _Scope) -> list[str]:
        """The line of a node, if it states more than its kind, and the lines of a part."""
        name = self.names.get(node.id)
        if name is None:
            return []
        words, named = self._words_of(node)
        fields = [
            f"{name} {words}".rstrip(),
            self._actor_of(node, around),
            ",".join(f"s{n}" for n in _read_numbers(node)),
            " · ".join(self._more_fields(node, around, named)),
        ]
        if isinstance(node, SubProcess) and node.nodes:
            return [f"{_join_fields(fields)} {{", *self._scope_lines(node, _Scope(node)), "}"]
        if not words and not any(fields[1:]):
            return []
        if not words and isinstance(node, Gateway | Event) and self._letter_of(node) == "X":
            fields[0] = f"{name} gateway"
        return [_join_fields(fields)]

    def _words_of(self, node: Node) -> tuple[str, str | None]:
        """What stands behind the name of a node, and its label if that is another one."""
        match node:
            case Gateway():
                return self._keep_label(node.name), None
            case SubProcess():
                return self._keep_label(node.name.replace("{", "(").replace("}", ")")), None
            case CallActivity():
                return self._call_words(node)
            case Task():
                message = self._message_of(node)
                if message is None:
                    return self._keep_label(node.name or node.id), None
                way, (what, who) = message
                reader = read_send if way == "send" else read_receive
                printed = print_trigger(Trigger("message", what, who), node.name, reader)
                return f"{way} {printed.text}".rstrip(), printed.named
            case Event():
                return self._event_words(node)
            case Opaque():
                return "", None
            case _:
                assert_never(node)

    def _call_words(self, call: CallActivity) -> tuple[str, str | None]:
        label, called = self._keep_label(call.name), self._keep_label(call.process)
        if label and (not called or slug(label, words=20) == called or label == called):
            return f"call {label}", None
        named = label if label not in ("", called) else None
        return f"call {called or call.id}", named

    def _event_words(self, event: Event) -> tuple[str, str | None]:
        trigger = self._trigger_of(event)
        if event.position == "throw" and not event.definitions:
            return "", None
        if event.position == "start":
            printed = self._print(trigger, event, read_start)
            return printed.text, printed.named
        if event.position == "end":
            if event.trigger == "terminate":
                return f"stop {self._keep_label(event.name)}".rstrip(), None
            if trigger.kind == "message":
                printed = self._print(trigger, event, read_send)
                return f"send {printed.text}".rstrip(), printed.named
            printed = self._print(trigger, event, read_end)
            if printed.text.partition(" ")[0].casefold() in ("stop", "send"):
                return "", event.name
            return printed.text, printed.named
        if trigger.kind == "message":
            way = "send" if event.position == "throw" else "receive"
            printed = self._print(trigger, event, read_send if way == "send" else read_receive)
            return f"{way} {printed.text}".rstrip(), printed.named
        printed = self._print(trigger, event, read_wait)
        return f"wait {printed.text}".rstrip(), printed.named

    def _print(self, trigger: Trigger, event: Event, reader: Reader) -> PrintedTrigger:
        printed = print_trigger(trigger, event.name, reader)
        named = printed.named
        return PrintedTrigger(
            self._keep_label(printed.text), self._keep_label(named) if named is not None else None
        )

    def _trigger_of(self, event: Event) -> Trigger:
        if not event.definitions:
            return Trigger("none", event.name)
        definition = event.definitions[0]
        match definition.kind:
            case "message":
                sends = event.position in ("throw", "end")
                known = self._words.sent if sends else self._words.received
                what, who = known.get(event.id) or (self._words.unmatched(event), "")
                return Trigger("message", what, who)
            case "timer":
                text = definition.expression.text if definition.expression is not None else ""
                return Trigger("timer", text, timer=definition.timer or "")
            case "error":
                return Trigger("error", self._errors.get(definition.ref or "", ""))
            case _:
                return Trigger("none", event.name)

    def _actor_of(self, node: Node, around: _Scope) -> str:
        actor = self._keep_label(around.actors.get(node.id, ""))
        if isinstance(node, Gateway) or (isinstance(node, Event) and node.trigger != "message"):
            return ""
        if sentence_numbers(actor) or actor in ("-", "–", "none", "None"):
            self.changed.append(actor)
            return f"{actor} (actor)"
        return actor

    def _more_fields(self, node: Node, around: _Scope, named: str | None) -> list[str]:
        fields = []
        loop: Loop | None = getattr(node, "loop", None)
        if loop is not None:
            item = self._keep_label(loop.item or loop.collection or "item").replace(",", " ")
            item = " ".join(item.split())
            fields.append(f"each {item}{'' if loop.sequential else ', at once'}")
        for verb, links in (("reads", around.reads), ("writes", around.writes)):
            data = [self._data_name(id) for id in links.get(node.id, ()) if id in self._objects]
            if data:
                fields.append(f"{verb} {', '.join(dict.fromkeys(data))}")
        if named is not None:
            fields.append(f"named {named}".rstrip())
        if any(key == DOUBT for key, _ in node.extra):
            fields.append("doubt")
        return fields

    def _data_name(self, id: str) -> str:
        data: DataObject = self._objects[id]
        referred = self._objects.get(data.ref or "")
        caption = data.name or (referred.caption if referred is not None else data.caption)
        name = self._keep_label(caption).replace('"', "'").replace("·", "-")
        return f'"{name}"' if "," in name else name

    # -- flows --------------------------------------------------------------------------------

    def _flow_lines(self, around: _Scope, starts: set[str]) -> list[str]:
        lines = []
        for node in around.scope.nodes:
            out = around.out.get(node.id, [])
            if isinstance(node, Event) and (node.position == "boundary" or node.id in starts):
                lines += self._event_lines(node, out)
            elif node.id in self.names:
                source = self.names[node.id]
                if not isinstance(node, Gateway) and len(out) > 1 and any(map(_flow_label, out)):
                    self._counts["A"] = self._counts.get("A", 0) + 1
                    split = f"A{self._counts['A']}"
                    lines.append(f"{source} -> {split}")
                    source = split
                lines += [
                    f"{source} {self._arrow(flow)} {self.names[flow.target]}"
                    for flow in out if flow.target in self.names
                ]  # fmt: skip
        return lines

    def _arrow(self, flow: Flow) -> str:
        condition = " ".join(flow.condition.text.split()) if flow.condition is not None else ""
        label = condition_text(flow.name.replace("[", " ").replace("]", " "))
        if label != " ".join(flow.name.split()):
            self.changed.append(flow.name)
        if flow.default:
            label = f"{label or OTHERWISE} {DEFAULT_MARK}"
        if condition and not flow.default and _is_risky(condition):
            self.changed.append(condition)
        elif condition and not flow.default:
            label = f"{label} [{condition}]".lstrip()
        return f"-({label})->" if label else "->"

    def _event_lines(self, event: Event, out: list[Flow]) -> list[str]:
        """`T5 -!(after 10 days)-> T9`; what leads to several nodes leads to a split first."""
        host = self.names.get(event.attached_to or "", "Process")
        printed = self._print(self._trigger_of(event), event, read_event)
        text = condition_text(printed.text)
        if printed.named is not None:
            text = f"{text} | named {condition_text(printed.named)}"
        arrow = f"-{'!' if event.interrupting else '+'}({text})->"
        targets = [self.names[flow.target] for flow in out if flow.target in self.names]
        if not targets:
            self._counts["End"] = self._counts.get("End", 0) + 1
            targets = [f"End{self._counts['End']}"]
        if len(targets) == 1:
            return [f"{host} {arrow} {targets[0]}"]
        self._counts["A"] = self._counts.get("A", 0) + 1
        split = f"A{self._counts['A']}"
        return [f"{host} {arrow} {split}", *(f"{split} -> {target}" for target in targets)]

    def _keep_label(self, text: str) -> str:
        """A label as the lines can have it; noted where that is another one."""
        plain = plain_text(text)
        if plain != " ".join(text.split()):
            self.changed.append(text)
        return plain


class _Scope:
    """What is needed of a scope: performers, data, flows by their sources."""

    def __init__(self, scope: Process | SubProcess) -> None:
        self.scope = scope
        self.actors = {m: lane.name for lane in scope.lanes for m in lane.members}
        self.reads: dict[str, list[str]] = {}
        self.writes: dict[str, list[str]] = {}
        for link in scope.data_flows:
            self.reads.setdefault(link.target, []).append(link.source)
            self.writes.setdefault(link.source, []).append(link.target)
        self.out: dict[str, list[Flow]] = {}
        for flow in scope.flows:
            self.out.setdefault(flow.source, []).append(flow)


def _join_fields(fields: list[str]) -> str:
    """Fields with bars between them, without empty ones at the end."""
    while fields and not fields[-1]:
        fields = fields[:-1]
    return re.sub(r"\|\s+(?=\|)", "| ", " | ".join(fields))


def _read_numbers(element: Element) -> list[int]:
    numbers = next((value for key, value in element.extra if key == SENTENCES), "")
    return [int(n) for n in numbers.split(",") if n.isascii() and n.isdigit()]


def _flow_label(flow: Flow) -> str:
    condition = flow.condition.text if flow.condition is not None else ""
    label = flow.name or condition
    return f"{label or OTHERWISE} {DEFAULT_MARK}" if flow.default else label


def _is_risky(condition: str) -> bool:
    """Whether a condition would not be read as it is: an arrow, or parentheses in others."""
    plain = f"({condition})"
    match = ARROW.fullmatch(f"-{plain}->")
    return match is None or match["a"] != condition or ARROW.search(condition) is not None
