"""Finds the setters of a variable that is read in any scope of a model.

A scope sees the variables of the scopes around it (BPMN 2.0.2, 10.4.1). For the surrounding scope,
the setter of a variable set in a sub-process or called process is the activity itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from orgflow_ir.flow.control_flow.calls import calls_in, find_callee, takes_everything
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import (
    CallActivity,
    Event,
    Gateway,
    Model,
    Node,
    Opaque,
    Process,
    Scope,
    SubProcess,
)
from orgflow_ir.model.bindings import SubProcessCall
from orgflow_ir.pipeline import PassContext
from orgflow_ir.program.syntax import Path
from orgflow_ir.work.process_variables import Read, Variables, set_variables

if TYPE_CHECKING:
    from orgflow_ir.work import repetition
else:  # repeated steps only
    repetition = LazyModule("orgflow_ir.work.repetition")

_FIELD = re.compile(r"<(?:\w+:)?(?:formField|formProperty)\s[^>]*?\bid\s*=\s*[\"']([^\"']+)")
_INITIATOR = re.compile(r"\}initiator$")
_OF_REPETITIONS = (
    "loopCounter", "nrOfInstances", "nrOfActiveInstances", "nrOfCompletedInstances",
)  # fmt: skip
"""Variables that Camunda, Flowable and Activiti set themselves in a multi-instance activity."""


class Setters:
    """Searches for setters of variables.

    Args:
        model: the whole model.
        variables: returns the variables of one of its scopes.
        ctx: caches analyses of the same element.
    """

    def __init__(
        self, model: Model, variables: Callable[[Scope], Variables], ctx: PassContext
    ) -> None:
        self.model, self.variables, self._ctx = model, variables, ctx
        self._declared: dict[str, set[str]] = {}
        self._setting_in: dict[str, Mapping[str, int]] = {}
        self._handed: dict[str, frozenset[str]] = {}
        self.around: dict[str, Scope] = {
            node.id: scope
            for scope in model.scopes()
            for node in scope.nodes
            if isinstance(node, SubProcess)
        }

    def is_set(self, path: Path, element: str, scope: Scope) -> bool:
        """Whether the model defines that a step before an element, or in parallel with it, sets a
        variable: by a form, a script, a mapping, a result, or a repetition."""
        name = path[0]
        variables = self.variables(scope)
        reader = variables.graph.nodes.get(element)
        repeated = _find_repetition(reader, scope) if reader is not None else None
        if repeated is not None and name in (repeated.item, *_OF_REPETITIONS):
            return True
        before = variables.set_before(element)
        if isinstance(reader, SubProcess) and reader.flavour == "event":
            before = variables.set_of(variables.graph.nodes)
        if before & self._setting_elements(scope).get(name, 0):
            return True
        if isinstance(scope, SubProcess):
            return self.is_set(path, scope.id, self.around[scope.id])
        return self._is_handed_in(name, scope)

    def is_set_in_callee(self, path: Path, call: CallActivity) -> bool:
        """Whether the process that a call names sets the variable that the call takes from it, or
        receives it; a process that is not in the model counts as setting everything."""
        called = find_callee(call, self.model)
        if called is None or path[0] in self._declared_in(called):
            return True
        binding = call.binding
        every = isinstance(binding, SubProcessCall) and binding.all_variables
        return every or self._is_handed_in(path[0], called)

    def possible(
        self, element: str, scope: Scope, most: int, *, without: str = ""
    ) -> tuple[list[str], int]:
        """The first `most` of the activities and events that may set a variable that the model does
        not mention again, nearest first, in the scope and then in the surrounding ones; and the
        number of all of them; apart from the element `without`."""
        variables = self.variables(scope)
        read = Read(element, ("",), "mapping")
        nearest, number = variables.nearest_setters(read, most, without=without)
        elements = [setter.element for setter in nearest]
        if isinstance(scope, SubProcess):
            outer, more = self.possible(scope.id, self.around[scope.id], most - len(elements))
            return elements + outer, number + more
        return elements, number

    def _setting_elements(self, scope: Scope) -> Mapping[str, int]:
        """For each variable the elements of a scope that set it, as a set of bits; computed
        once."""
        if scope.id not in self._setting_in:
            variables = self.variables(scope)
            elements: dict[str, list[str]] = {
                name: [setter.element for setter in setters]
                for name, setters in variables.declared.items()
            }
            for node in variables.graph.nodes.values():
                for name in self._set_by(node, scope):
                    elements.setdefault(name, []).append(node.id)
            self._setting_in[scope.id] = {n: variables.set_of(ids) for n, ids in elements.items()}
        return self._setting_in[scope.id]

    def _set_by(self, node: Node, scope: Scope) -> frozenset[str]:
        """Names that an element sets in the scope that holds it."""
        variables = self._declared_by(node)
        if isinstance(node, Event) and node.position == "start":
            variables.update(name for _, text in node.extra for name in _FIELD.findall(text))
            variables.update(text for key, text in node.extra if _INITIATOR.search(key))
        elif isinstance(node, SubProcess):
            variables.update(*(self._set_by(inner, node) for inner in node.nodes))
        elif isinstance(node, CallActivity):
            called = find_callee(node, self.model)
            if called is not None and takes_everything(node):
                variables |= self._declared_in(called)
        repeated = _find_repetition(node, scope)
        if repeated is not None and repeated.results:
            variables.add(repeated.results)
        return frozenset(variables)

    def _declared_in(self, process: Process) -> set[str]:
        """Names that anything in a process sets; calls of it count by their own mappings only."""
        if process.id not in self._declared:
            self._declared[process.id] = {
                name
                for scope in process.scopes()
                for node in scope.nodes
                for name in self._declared_by(node)
            }
        return self._declared[process.id]

    def _declared_by(self, node: Node) -> set[str]:
        """Names that an element sets according to its own definition."""
        return {name for name, _ in self._ctx.analysis(set_variables, node)}

    def _is_handed_in(self, name: str, process: Scope) -> bool:
        """Whether a call of the model hands a variable to a process."""
        if process.id not in self._handed:
            self._handed[process.id] = frozenset(
                parameter.name
                for other in self.model.processes
                for call in calls_in(other)
                if call.binding is not None and find_callee(call, self.model) is process
                for parameter in call.binding.inputs
            )
        return name in self._handed[process.id]


def _find_repetition(node: Node, scope: Scope) -> repetition.Repetition | None:
    """The multi-instance marker of an activity of a scope, where it is understood."""
    if isinstance(node, Event | Gateway | Opaque) or node.loop is None:
        return None
    if node.loop.kind != "multi-instance":
        return None

    try:
        return repetition.read_repetition(node.loop, scope)
    except repetition.NotRepeatable:
        return repetition.Repetition()
