"""The lines of nodes: their words, performers, evidence, data and repetition."""

from __future__ import annotations

from typing import assert_never

from orgflow.backends.outline.flow_graph import FlowGraph, Unstructured
from orgflow.backends.outline.format.line_forms import STEP, Line, called_id, print_condition
from orgflow.backends.outline.structure import LineMaker, structure_scope

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
from orgflow_ir.model.event_words import (
    PrintedTrigger,
    Reader,
    Trigger,
    plain_label,
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

_GATEWAYS = {
    "exclusive": "choose", "parallel": "together", "inclusive": "some", "event": "first",
}  # fmt: skip

_PERFORMED = frozenset((STEP, "send", "receive", "call", "part", "each"))
"""Lines that name who does them; the lane of a gateway or of another event is its drawing."""


class ModelLines:
    """The lines of the processes of a model.

    Attributes:
        changed: labels that had to be changed for the lines.
        lost: what the lines leave out, counted by phrases such as `the name of {} join{}`.
    """

    def __init__(self, model: Model, words: MessageWords) -> None:
        self.model, self.words = model, words
        self.changed: list[str] = []
        self.lost: dict[str, int] = {}
        self.errors = {entry.id: entry.name or entry.code or entry.id
                       for entry in model.catalog.errors}  # fmt: skip
        self.messages = {entry.id: entry.name for entry in model.catalog.messages}
        self.objects = {
            data.id: data for scope in model.scopes() for data in scope.data_objects
        }  # fmt: skip

    def process_lines(self, process: Process) -> tuple[Line, ...]:
        """The lines of one process. Raises `Unstructured`."""
        lines = self.scope_lines(process)
        events = [n for n in process.nodes if isinstance(n, SubProcess) and n.flavour == "event"]
        lines = _without_plain_start(lines)
        return (*lines, *(self._process_event(event) for event in events))

    def scope_lines(self, scope: Scope) -> tuple[Line, ...]:
        """The lines of a process or a part, with its starts."""
        graph = FlowGraph(scope)
        return structure_scope(graph, _ScopeLines(self, scope))

    def _process_event(self, sub: SubProcess) -> Line:
        """An event sub-process as an `on:` line of the process."""
        lines = self.scope_lines(sub)
        start = next(n for n in sub.nodes if isinstance(n, Event) and n.position == "start")
        maker = _ScopeLines(self, sub)
        line = maker.make_event(start.id, stops=start.interrupting)
        return line._replace(children=lines[1:], element=sub.id)

    def note_lost(self, phrase: str) -> None:
        """Count a part that the lines leave out."""
        self.lost[phrase] = self.lost.get(phrase, 0) + 1


class _ScopeLines(LineMaker):
    """The lines of the nodes of one scope."""

    def __init__(self, lines: ModelLines, scope: Scope) -> None:
        self._lines = lines
        self._nodes: dict[str, Node] = {node.id: node for node in scope.nodes}
        parents = {lane.parent for lane in scope.lanes}
        self._actors = {
            member: lane.name
            for lane in sorted(scope.lanes, key=lambda lane: lane.id not in parents)
            for member in lane.members
        }
        self._hosts = {n.attached_to for n in scope.nodes if isinstance(n, Event)}
        self._reads: dict[str, list[str]] = {}
        self._writes: dict[str, list[str]] = {}
        for link in scope.data_flows:
            self._add_data(link.source, link.target)

    def _add_data(self, source: str, target: str) -> None:
        objects = self._lines.objects
        if source in objects and target in self._nodes:
            self._reads.setdefault(target, []).append(self._data_name(objects[source]))
        elif target in objects and source in self._nodes:
            self._writes.setdefault(source, []).append(self._data_name(objects[target]))
        else:
            self._lines.note_lost("{} data association{} between data objects")

    def _data_name(self, data: DataObject) -> str:
        referred = self._lines.objects.get(data.ref or "")
        caption = data.name or (referred.caption if referred is not None else data.caption)
        return self._keep_label(caption).replace('"', "'")

    def _keep_label(self, text: str) -> str:
        """A label as a line can have it; noted where that is another one."""
        plain = plain_label(text)
        if plain != " ".join(text.split()):
            self._lines.changed.append(text)
        return plain

    # -- lines of nodes -----------------------------------------------------------------------

    def make_line(self, node: str) -> Line:
        """See `LineMaker`."""
        id, _, role = node.partition("\x1f")
        element = self._nodes[id]
        if role == "end" or (role and not isinstance(element, Gateway)):
            return Line("end" if role == "end" else "together", element=node)
        match element:
            case Task():
                line = self._task_line(element)
            case CallActivity():
                line = self._call_line(element)
            case SubProcess():
                line = self._part_line(element)
            case Gateway():
                line = Line(_GATEWAYS[element.gateway_kind], self._keep_label(element.name))
            case Event():
                line = self._event_line(element)
            case Opaque():
                raise AssertionError(f"{element.construct} has no line")
            case _:
                assert_never(element)
        return self._with_fields(line, element)._replace(element=node)

    def _with_fields(self, line: Line, node: Element) -> Line:
        actor = self._keep_label(self._actors.get(node.id, ""))
        reads, writes = self._reads.get(node.id, ()), self._writes.get(node.id, ())
        if (reads or writes) and line.keyword not in _PERFORMED:
            self._lines.note_lost("the data of {} event{}")
            reads = writes = ()
        return line._replace(
            performer=actor if line.keyword in _PERFORMED else "",
            sentences=_read_numbers(node), doubt=_is_doubted(node), element=node.id,
            reads=tuple(dict.fromkeys(reads)), writes=tuple(dict.fromkeys(writes)),
        )  # fmt: skip

    def _task_line(self, task: Task) -> Line:
        sent = self._lines.words.sent.get(task.id)
        received = self._lines.words.received.get(task.id)
        if sent is not None or task.task_type == "send":
            return self._message_line("send", task, sent)
        if received is not None or task.task_type == "receive":
            return self._message_line("receive", task, received)
        if task.task_type != "abstract":
            self._lines.note_lost("the kind of {} task{}")
        label = self._keep_label(task.name) or self._keep_label(task.id)
        return self._repeated(Line(STEP, label), task.loop)

    def _message_line(self, keyword: str, task: Task, message: Message | None) -> Line:
        if message is None:
            message = Message(self._lines.words.unmatched(task), "")
        trigger = Trigger("message", message.what, message.who)
        printed = print_trigger(
            trigger, task.name, read_send if keyword == "send" else read_receive
        )
        if task.task_type != keyword or not self._is_host(task):
            self._lines.note_lost("the kind of {} task{}")
        return self._repeated(Line(keyword, printed.text, named=printed.named), task.loop)

    def _is_host(self, task: Task) -> bool:
        """Whether a line that sends or receives is read as a task, not as an event."""
        return task.id in self._hosts or task.loop is not None

    def _call_line(self, call: CallActivity) -> Line:
        called = plain_label(call.process)
        label = self._keep_label(call.name)
        from_label = called_id(label)
        if label and (not called or from_label == called):
            return self._repeated(Line("call", label), call.loop)
        named = label if label != called else None
        return self._repeated(Line("call", called or call.id, named=named or None), call.loop)

    def _part_line(self, part: SubProcess) -> Line:
        label = self._keep_label(part.name)
        if not part.nodes:
            self._lines.note_lost("{} sub-process{} without content")
            return self._repeated(Line(STEP, label or part.id), part.loop)
        lines = self._lines.scope_lines(part)
        if lines and lines[0].keyword == "start":
            if lines[0].text:
                self._lines.note_lost("the name of {} start{} of parts")
            lines = lines[1:]
        if any(line.keyword == "start" for line in lines):
            raise Unstructured(part.id, "it has several starts")
        if not lines:
            lines = (Line("end"),)
        line = self._repeated(Line("part", label, children=lines), part.loop)
        if line.each and not label:
            line = line._replace(keyword="each")
        return line

    def _repeated(self, line: Line, loop: Loop | None) -> Line:
        """A line with the item that it is repeated for."""
        if loop is None:
            return line
        item = self._keep_label(loop.item or loop.collection or "item").replace(",", " ")
        if loop.collection or loop.cardinality or loop.until:
            self._lines.note_lost("the list, number or end of {} repetition{}")
        return line._replace(each=" ".join(item.split()), at_once=not loop.sequential)

    # -- events -------------------------------------------------------------------------------

    def _event_line(self, event: Event) -> Line:
        trigger = self._trigger_of(event)
        if event.position == "start":
            return self._triggered("start", event, trigger, read_start)
        if event.position in ("throw", "end") and trigger.kind == "message":
            return self._triggered("send", event, trigger, read_send)
        if event.position == "end":
            if event.trigger == "terminate":
                return Line("stop", self._keep_label(event.name))
            return self._triggered("end", event, trigger, read_end)
        if trigger.kind == "message":
            return self._triggered("receive", event, trigger, read_receive)
        return self._triggered("wait", event, trigger, read_wait)

    def make_event(self, node: str, *, stops: bool | None = None) -> Line:
        """See `LineMaker`."""
        event = self._nodes[node]
        if isinstance(event, Task):  # a receive task behind an event-based gateway
            received = self._lines.words.received.get(event.id)
            message = received or Message(self._lines.words.unmatched(event), "")
            trigger = Trigger("message", message.what, message.who)
            printed = print_trigger(trigger, event.name, read_event)
            line = Line("on", printed.text, named=printed.named)
        else:
            assert isinstance(event, Event)
            line = self._triggered("on", event, self._trigger_of(event), read_event)
        line = self._with_fields(line, event)
        if stops is None:
            return line
        return line._replace(qualifier="stop" if stops else "also")

    def _triggered(self, keyword: str, event: Event, trigger: Trigger, reader: Reader) -> Line:
        printed: PrintedTrigger = print_trigger(trigger, event.name, reader)
        self._keep_label(event.name)
        return Line(keyword, printed.text, named=printed.named)

    def _trigger_of(self, event: Event) -> Trigger:
        if not event.definitions:
            return Trigger("none", event.name)
        definition = event.definitions[0]
        match definition.kind:
            case "message":
                words = self._lines.words
                sends = event.position in ("throw", "end")
                message = (words.sent if sends else words.received).get(event.id)
                what, who = message or (words.unmatched(event), "")
                return Trigger("message", what, who)
            case "timer":
                text = definition.expression.text if definition.expression is not None else ""
                return Trigger("timer", text, timer=definition.timer or "")
            case "error":
                return Trigger("error", self._lines.errors.get(definition.ref or "", ""))
            case _:
                return Trigger("none", event.name)

    # -- branches -----------------------------------------------------------------------------

    def make_branch(self, flow: Flow | None) -> Line:
        """See `LineMaker`."""
        if flow is None:
            return Line("if")
        condition = print_condition(flow.condition) if flow.condition is not None else ""
        label = self._keep_label(flow.name)
        if "[" in label:
            self._lines.changed.append(label)
            label = label.replace("[", "(").replace("]", ")")
        if condition and not _is_bracketable(condition):
            self._lines.note_lost("the condition of {} flow{}")
            condition = ""
        if flow.default:
            if label.casefold().startswith("if"):
                label = label.replace(":", " ", 1)  # `else: if: x` is one more condition
                self._lines.changed += [flow.name] if ":" in flow.name else []
            if condition:
                self._lines.note_lost("the condition of {} default flow{}")
            return Line("else", label, sentences=_read_numbers(flow), element=flow.id)
        return Line(
            "if", label, condition, sentences=_read_numbers(flow), element=flow.id
        )  # fmt: skip


def _without_plain_start(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """Lines without the start that is implied."""
    starts = sum(line.keyword == "start" for line in lines)
    if starts == 1 and lines[0]._replace(element="") == Line("start") and len(lines) > 1:
        return lines[1:]
    return lines


def _read_numbers(element: Element) -> tuple[int, ...]:
    numbers = next((value for key, value in element.extra if key == SENTENCES), "")
    return tuple(int(n) for n in numbers.split(",") if n.isascii() and n.isdigit())


def _is_doubted(element: Element) -> bool:
    return any(key == DOUBT for key, _ in element.extra)


def _is_bracketable(condition: str) -> bool:
    """Whether a condition in brackets is read as it is."""
    depth, quote = 0, ""
    for character in condition:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "[]":
            depth += 1 if character == "[" else -1
            if depth < 0:
                return False
    return not depth and not quote
