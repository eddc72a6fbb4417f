"""A model as an outline, and the parts of it that no outline describes."""

from __future__ import annotations

from collections.abc import Iterator

from orgflow.backends.outline.flow_graph import Unstructured
from orgflow.backends.outline.format.line_forms import Line, Outline
from orgflow.backends.outline.lines import ModelLines

from orgflow_ir.lowering.common import conditional_splits
from orgflow_ir.model import Event, Gateway, Model, Opaque, Process, Scope, SubProcess
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.model.event_words import plain_label
from orgflow_ir.model.message_words import MessageWords, find_unclear_messages
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets import executable_processes
from orgflow_ir.targets.left_out import left_out

MAX_LEVELS = 90
"""Maximum indent of a line, in levels; the reader accepts more."""

_TRIGGERS = frozenset(("none", "message", "timer", "error", "terminate"))


class ModelOutline:
    """The outline of a model.

    Attributes:
        outline: its lines.
        changed: labels that had to be changed.
        gone: phrases for what is left out.

    Raises:
        Unstructured: no outline describes a scope.
    """

    def __init__(self, model: Model) -> None:
        words = MessageWords(model)
        lines = ModelLines(model, words)
        processes = executable_processes(model)
        written = []
        for process in processes:
            inner = lines.process_lines(process)
            name = _header_name(model, process, words, several=len(processes) > 1)
            header = Line("process", name, children=inner, element=process.id)
            written += [header] if name else [*inner]
        self.outline = Outline(tuple(written))
        if _count_levels(self.outline.lines) > MAX_LEVELS:
            raise Unstructured("", "its blocks are nested too deeply")
        self.changed = lines.changed
        self.gone = (
            *left_out_of_lines(model),
            *(phrase.format(n, "s"[: n != 1]) for phrase, n in lines.lost.items()),
        )


def _header_name(model: Model, process: Process, words: MessageWords, *, several: bool) -> str:
    """The name behind `process:`; empty if the only process has none."""
    pools = [pool for pool in model.pools if pool.process == process.id]
    if several or pools or process.name.strip():
        return plain_label(words.owner(process.id)) or plain_label(process.id)
    return ""


def _count_levels(lines: tuple[Line, ...]) -> int:
    deepest = 0
    stack = [(line, 1) for line in lines]
    while stack:
        line, level = stack.pop()
        deepest = max(deepest, level)
        stack += [(child, level + 1) for child in line.children]
    return deepest


def left_out_of_lines(model: Model) -> Iterator[str]:
    """Phrases for content that has no place in lines, whatever the flow."""
    for phrase in left_out(model, data=False):
        if not phrase.startswith(("the kind of ", f"{len(model.message_flows)} message flow")):
            yield phrase
    notes = joins = nested = boxes = 0
    for scope in model.scopes():
        notes += sum(artifact.artifact_kind != "association" for artifact in scope.artifacts)
        nested += sum(lane.parent is not None for lane in scope.lanes)
        joins += _count_named_joins(scope)
    used = {end for flow in model.message_flows for end in (flow.source, flow.target)}
    boxes = sum(pool.process is None and pool.id not in used for pool in model.pools)
    notes += sum(artifact.artifact_kind != "association" for artifact in model.artifacts)
    ends = {node.id for scope in model.scopes() for node in scope.nodes}
    loose = sum(flow.source not in ends and flow.target not in ends for flow in model.message_flows)
    counted = (
        (notes, "{} note{}"), (joins, "the name of {} gateway{} or event{} without a line"),
        (nested, "the parent{1} of {0} lane{1}"), (boxes, "{} pool{} without messages"),
        (loose, "{} message flow{} between pools"),
    )  # fmt: skip
    for count, text in counted:
        if count:
            plural = "s"[: count != 1]
            yield text.format(count, plural, plural)


def _count_named_joins(scope: Scope) -> int:
    """Named gateways and events without a line: they do not split."""
    leaving: dict[str, int] = {}
    for flow in scope.flows:
        leaving[flow.source] = leaving.get(flow.source, 0) + 1
    return sum(
        bool(node.name.strip()) and leaving.get(node.id, 0) < 2
        for node in scope.nodes
        if (isinstance(node, Gateway) and node.gateway_kind != "event")
        or (isinstance(node, Event) and node.position == "throw" and not node.definitions)
    )


def find_unsupported(model: Model, ctx: PassContext) -> Iterator[ConstructUse]:
    """Parts of supported constructs that no line states: `message.unclear`, `sub-process.handler`,
    and, if there are none of these, `flow.unstructured`."""
    words = MessageWords(model)
    found_any = False
    for use in (*find_unclear_messages(model, words), *_find_handlers(model)):
        found_any = True
        yield use
    if found_any or not is_plain(model, ctx):
        return
    lines = ModelLines(model, words)
    nodes = {node.id: (node, scope) for scope in model.scopes() for node in scope.nodes}
    for process in executable_processes(model):
        try:
            lines.process_lines(process)
        except Unstructured as error:
            element, scope = nodes.get(error.node, (process, process))
            yield ConstructUse("flow.unstructured", element, scope, error.reason)


def _find_handlers(model: Model) -> Iterator[ConstructUse]:
    """Event sub-processes inside a part, where `on:` stops or accompanies the part."""
    for scope in model.scopes():
        if isinstance(scope, SubProcess):
            for node in scope.nodes:
                if isinstance(node, SubProcess) and node.flavour == "event":
                    yield ConstructUse("sub-process.handler", node, scope)


def is_plain(model: Model, ctx: PassContext) -> bool:
    """Whether every node has a line, so that only the flow may have none."""
    if any(True for _ in conditional_splits(model, ctx)):
        return False
    for scope in model.scopes():
        for node in scope.nodes:
            if isinstance(node, Opaque) and node.construct != "opaque.harmless":
                return False
            if isinstance(node, Event) and node.trigger not in _TRIGGERS:
                return False
            if isinstance(node, Gateway) and (node.gateway_kind == "complex" or node.instantiate):
                return False
            if isinstance(node, SubProcess) and node.flavour not in ("plain", "event"):
                return False
    return True
