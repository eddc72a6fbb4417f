"""Conditions on nodes that people added or put in the place of placeholders.

The compiler knows nothing of their content, and the exploration assumes that each makes one item of
one. Where the type and the parameters of a node do not show that, or where it may overwrite a
process variable that another element sets, the workflow is proved on a condition only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from orgflow.backends.javascript.returned_items import UNKNOWN, ReturnedItems, read_returned_items
from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.engine_model.behaviour import node_behaviour
from orgflow.backends.n8n.format.matching import Matching
from orgflow.backends.n8n.format.workflow_document import Node, WorkflowDocument
from orgflow.backends.n8n.node_types import catalogue, set_
from orgflow.backends.n8n.plan.actions import PassOn
from orgflow.backends.n8n.plan.graph import HelperKey, NodeKey
from orgflow.backends.n8n.verify.computed_nodes import COMPARISONS, Comparison
from orgflow.backends.n8n.verify.reference import Reference

from orgflow_ir.flow.control_flow.graph import list_reachable
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.targets.verification import Condition


def list_conditions(
    ref: Reference, matching: Matching[NodeKey], workflow: WorkflowDocument
) -> tuple[Condition, ...]:
    """The conditions of a workflow, in the order of its nodes."""
    return tuple(_FilledSteps(ref, matching, workflow).list_conditions())


_FIELD = re.compile(
    r"(?:\$json|\bjson|\bv|\bitem)(?:\??\.(\w+)|(?:\?\.)?\[\"([^\"\\]+)\"\])|\bneed\(\"([^\"\\]+)\""
)
"""A field of the item in an expression or a Code node that the compiler wrote."""

_FUNCTION_PARAMETER = re.compile(r"\b(\w+)\)? =>")
_WHOLE_ITEM = re.compile(r"\$json\b(?!\??[.\[])")
_SENDING = frozenset({"httpRequest", "emailSend", "respondToWebhook", "slack", "microsoftTeams"})
"""Nodes that send something to somebody outside."""

_PASSING = frozenset({"noOp", "if", "switch", "merge"})
"""Nodes behind which an item is as before."""


class _FilledSteps:
    """The nodes of one workflow that a person made."""

    def __init__(
        self, ref: Reference, matching: Matching[NodeKey], workflow: WorkflowDocument
    ) -> None:
        self._ref, self._matching, self._steps = ref, matching, workflow.steps
        self._ahead: dict[str, list[str]] = {name: [] for name in self._steps}
        for wire in workflow.wires:
            if wire.kind == "main" and wire.source in self._steps and wire.target in self._steps:
                self._ahead[wire.source].append(wire.target)
        # What the last node hands back matters to a caller, and to nobody else.
        self._returns = ref.plan.scope.started_by_call

    def list_conditions(self) -> Iterator[Condition]:
        for name, step in self._steps.items():
            if step.starts or step.disabled or not self._matters(name):
                continue
            if not self._is_own(name, step):
                continue
            key = self._matching.key_of.get(name)
            element = "" if key is None else self._ref.plan.workflow_graph.nodes[key].element
            if not self._gives_one_item(name, step):
                yield Condition("one-item", name, element, f"`{name}` returns one item")
            overwritten = tuple(self._list_overwritten(name, step, element, key))
            writes = key is None and self._read_changed(step, key) != frozenset()
            sending = self._list_sending(name) if writes else []
            if overwritten or sending:
                changed = [f"`{variable}`" for variable in overwritten]
                changed += [f"the data that `{other}` sends" for other in sending[:1]]
                words = join_listed(changed, last="or")
                text = f"`{name}` does not change {words}"
                yield Condition("keeps-variables", name, element, text, overwritten)

    def _is_own(self, name: str, step: Node) -> bool:
        """Whether a person decides about the content of a node: one that was added, stands in the
        place of another, or is a placeholder with other content."""
        key = self._matching.key_of.get(name)
        if key is None:
            return True
        compiled = self._ref.nodes[key]
        if step.type != compiled.type:
            return True
        action = self._ref.plan.workflow_graph.nodes[key].action
        free = COMPARISONS[type(action)] is Comparison.FREE
        return free and step.parameters != compiled.parameters

    def _matters(self, name: str) -> bool:
        """Whether something that the compiler wrote follows a node, or a caller gets its items."""
        if self._returns:
            return True
        reached = list_reachable(self._ahead[name], self._ahead)
        return any(o in self._matching.key_of and not self._ends_idly(o) for o in reached)

    def _ends_idly(self, name: str) -> bool:
        """Whether a node is an end at which nothing is done, however often n8n comes to it."""
        step, key = self._steps[name], self._matching.key_of.get(name)
        planned = None if key is None else self._ref.plan.workflow_graph.nodes[key]
        does_nothing = planned is not None and isinstance(planned.action, PassOn)
        return does_nothing and step.short == "noOp" and not self._ahead[name]

    # -- items ---------------------------------------------------------------------------------

    def _gives_one_item(self, name: str, step: Node) -> bool:
        """Whether one item leaves a node for one that comes, unless it fails."""
        behaviour = node_behaviour(step.raw, len(self._ahead[name]), frozenset())
        if behaviour.known or behaviour.kind != "choice":
            return True  # the exploration has all that it may do
        if returns_one_item(step):
            return True
        # With the settings of a placeholder it does not end the run, and one item goes on.
        if step.raw.get("alwaysOutputData") is not True:
            return False
        return bool(self._ahead[name]) and all(self._takes_first(n) for n in self._ahead[name])

    def _takes_first(self, name: str, passed: frozenset[str] = frozenset()) -> bool:
        """Whether a node, or those behind one that only passes its items on, uses only the first of
        several items, and hands on one."""
        step, ahead = self._steps[name], self._ahead[name]
        if (step.disabled or step.short == "noOp") and ahead and name not in passed:
            return all(self._takes_first(other, passed | {name}) for other in ahead)
        if self._ends_idly(name) and not self._returns:
            return True
        key = self._matching.key_of.get(name)
        compiled = key is not None and step.type == self._ref.nodes[key].type
        if compiled and step.short == "code":
            return True
        return step.raw.get("executeOnce") is True and not step.disabled

    # -- variables -----------------------------------------------------------------------------

    def _list_overwritten(
        self, name: str, step: Node, element: str, key: NodeKey | None
    ) -> Iterator[str]:
        """Variables that a node may set, that are read afterwards, and that another element sets
        according to the model, or the input of the run; of an added node also fields that the next
        nodes read."""
        written = self._read_changed(step, key)
        owners = self._ref.plan.variables.declared
        for variable in self._list_kept(name, key):
            own = {setter.element for setter in owners.get(variable, ())}
            # What no element sets, a placeholder may be there to set.
            is_other = element not in own if own else key is None
            if is_other and (written is None or variable in written):
                yield variable
        if key is None:
            read = dict.fromkeys(self._list_read(name))
            yield from (field for field in read if written is None or field in written)

    def _read_changed(self, step: Node, key: NodeKey | None) -> frozenset[str] | None:
        """The fields that a node may set or lose; `None` if it may be any. What the compiler keeps
        behind a placeholder is not lost."""
        carried = self._ref.plan.carried
        kept = key is not None and carried is not None and HelperKey(key, "data") in carried.after
        loses = (step.short == "code" and not _read_code(step).keeps_others) or (
            step.short == "set" and not set_.keeps_others(step.version, step.parameters)
        )
        if loses and not kept and not step.disabled:
            return None
        return read_written_fields(step)

    def _list_read(self, name: str) -> Iterator[str]:
        """The fields that the next compiled nodes after an added node read from their item: also
        the compiler's own, such as the key of a request, and those of the input of the run."""
        kept = set(self._list_kept(name, None))
        for other in self._list_next(name):
            for text in _list_texts(self._steps[other].parameters):
                yield from (field for field in _list_item_fields(text) if field not in kept)

    def _list_sending(self, name: str) -> list[str]:
        """Nodes behind an added one that send or hand over their whole item."""
        return [
            other
            for other in list_reachable(self._ahead[name], self._ahead)
            if other in self._matching.key_of and _sends_item(self._steps[other])
        ]

    def _list_next(self, name: str) -> list[str]:
        """The next compiled nodes, also through those that pass their item on."""
        compiled: list[str] = []
        seen = {name}
        todo = list(self._ahead[name])
        while todo:
            other = todo.pop(0)
            if other in seen:
                continue
            seen.add(other)
            if other not in self._matching.key_of or self._steps[other].short in _PASSING:
                todo += self._ahead[other]
            if other in self._matching.key_of:
                compiled.append(other)
        return compiled

    def _list_kept(self, name: str, key: NodeKey | None) -> Sequence[str]:
        """Variables that are read behind a node and taken from its item."""
        carried = self._ref.plan.carried
        if carried is None:
            return ()
        if key is not None and HelperKey(key, "data") in carried.after:
            return carried.after[HelperKey(key, "data")]
        pairs = self._matching.pairs
        ahead = list_reachable(self._ahead[name], self._ahead)
        reads = (*carried.read.items(), *carried.computed.items(), *carried.handed.items())
        return list(
            dict.fromkeys(
                variable
                for reader, names in reads
                if pairs.get(reader) in ahead
                for variable in names
            )
        )


def _list_texts(value: Any) -> Iterator[str]:
    """The texts in a tree of parameters."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _list_texts(part)


def _list_item_fields(text: str) -> Iterator[str]:
    """The fields of an item that a parameter reads, also in functions that get the whole item."""
    for match in _FIELD.findall(text):
        yield from filter(None, match)
    if _WHOLE_ITEM.search(text):
        for function_parameter in dict.fromkeys(_FUNCTION_PARAMETER.findall(text)):
            yield from re.findall(rf"\b{function_parameter}\??\.(\w+)\b(?!\()", text)


def _sends_item(step: Node) -> bool:
    """Whether a node sends its whole item, or hands it over to a called workflow."""
    if step.disabled:
        return False
    if step.short == node_types.calling_type().name:
        return not step.inside("workflowInputs", "value")
    texts = _list_texts(step.parameters) if step.short in _SENDING else ()
    return any(_WHOLE_ITEM.search(text) for text in texts)


_TEXT_ANSWERS = ("text", "file")
"""Formats of an answer of which HTTP Request makes one item."""


def returns_one_item(step: Node) -> bool:
    """Whether the type and the parameters of a node show that it makes one item of one."""
    if step.short == "code":
        return _read_code(step).is_one
    if step.short == "httpRequest":
        answer = step.inside("options", "response", "response")
        pages = step.inside("options", "pagination", "pagination")
        several = isinstance(pages, dict) and pages.get("paginationMode", "off") != "off"
        whole = isinstance(answer, dict) and (
            answer.get("fullResponse") is True or answer.get("responseFormat") in _TEXT_ANSWERS
        )
        return whole and not several
    if catalogue.makes_one_of_one(step.type, step.parameters):
        return True
    kind = node_types.find_type(step.short)
    return kind is not None and (kind.reliable or kind.gives_one(step.parameters))


def read_written_fields(step: Node) -> frozenset[str] | None:
    """The fields of its item that a node may set; `None` if they are unknown."""
    if step.short == "code":
        return _read_code(step).fields
    kind = node_types.find_type(step.short)
    if kind is None:
        return None
    match kind.effect(step.version, step.parameters):
        case "pass":
            return frozenset()
        case "write":
            written = set_.written_fields(step.version, step.parameters)
            return None if written is None else frozenset(written)
        case _:
            return None


def _read_code(step: Node) -> ReturnedItems:
    parameters = step.parameters
    code = parameters.get("jsCode")
    if parameters.get("language", "javaScript") != "javaScript" or not isinstance(code, str):
        return UNKNOWN
    each = parameters.get("mode", "runOnceForAllItems") == "runOnceForEachItem"
    return read_returned_items(code, for_each=each)
