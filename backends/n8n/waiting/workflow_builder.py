"""Builds a support workflow from nodes at places of a grid and the wires between them.

n8n runs the targets of one output from top to bottom, and the answer of a called workflow is that
of the node that ran last (WAITING.md, section 2, point 3): the row of a node in the grid is its
place in the order of the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from orgflow.backends.n8n.format.document import (
    Node,
    Workflow,
    node_type,
    node_uuid,
)
from orgflow.backends.n8n.node_types import calling_type, crypto, data_table, split_out
from orgflow.backends.n8n.node_types.conditions import is_true, make_expression
from orgflow.backends.n8n.node_types.crypto import random_parameters
from orgflow.backends.n8n.node_types.data_table import (
    Tests,
    delete_parameters,
    get_parameters,
    insert_parameters,
    update_parameters,
)
from orgflow.backends.n8n.node_types.execute_workflow import call_with_parameters
from orgflow.backends.n8n.node_types.execute_workflow_trigger import NODE as CALLED
from orgflow.backends.n8n.node_types.execute_workflow_trigger import taking_all
from orgflow.backends.n8n.node_types.if_ import test_parameters
from orgflow.backends.n8n.node_types.set_ import write_parameters
from orgflow.backends.n8n.node_types.split_out import split_parameters
from orgflow.backends.n8n.node_types.sticky_note import note_parameters
from orgflow.backends.n8n.node_types.switch import by_rules
from orgflow.backends.n8n.node_types.type_versions import type_version
from orgflow.backends.n8n.node_types.webhook import NODE as WEBHOOK
from orgflow.backends.n8n.node_types.webhook import protected_address
from orgflow.backends.n8n.waiting.rows import COLUMN_NAMES

from orgflow_ir.model.records import NamedTuple, dataclass

Place = tuple[int, int]
"""Column and row of a node in the grid."""

_WIDTH: Final = 240
_HEIGHT: Final = 180
_NOTE_HEIGHT: Final = 260
_NOTE_WIDTH: Final = 660
_MODELLED_VERSIONS: Final = {
    data_table.NODE.name: data_table.VERSION,
    crypto.NODE.name: crypto.VERSION,
    split_out.NODE.name: split_out.VERSION,
}

NO_ITEMS: Final = "false"
"""The condition of a node that ends a workflow without an answer."""


class References(NamedTuple):
    """The references of the support set to objects of a server.

    Attributes:
        table: the reference to the table of rows.
        workflows: ids of the workflows of the set, by their names in it.
        credential: id and name of the credential that callers from outside authenticate with.
    """

    table: Mapping[str, Any]
    workflows: Mapping[str, str]
    credential: Mapping[str, str]


@dataclass(eq=False)
class WorkflowBuilder:
    """The nodes and wires of one workflow of the support set.

    Args:
        part: its name in the set, such as `claim`.
        refers: the table, workflows and credential it refers to.
    """

    part: str
    refers: References
    nodes: list[Node] = field(default_factory=list)
    wires: dict[str, list[list[str]]] = field(default_factory=dict)

    def add_node(
        self,
        name: str,
        short: str,
        place: Place,
        parameters: Mapping[str, Any],
        *,
        after: Sequence[str | tuple[str, int]] = (),
        **settings: Any,
    ) -> str:
        """Add a node, wired to outputs of nodes before it; returns its name."""
        column, row = place
        node: Node = {
            "id": node_uuid(f"orgflow/waiting/{self.part}/{name}"),
            "name": name,
            "type": node_type(short),
            "typeVersion": _MODELLED_VERSIONS.get(short) or type_version(short),
            "position": [column * _WIDTH, row * _HEIGHT],
            "parameters": dict(parameters),
        }
        node.update(settings)  # type: ignore[typeddict-item]
        assert all(other["name"] != name for other in self.nodes), name
        self.nodes.append(node)
        for source in after:
            self.connect(source, name)
        return name

    def connect(self, source: str | tuple[str, int], target: str) -> None:
        """Wire an output of a node, the first one if no number is given, to another node."""
        node, output = source if isinstance(source, tuple) else (source, 0)
        outputs = self.wires.setdefault(node, [])
        while len(outputs) <= output:
            outputs.append([])
        outputs[output].append(target)

    # -- kinds of nodes ------------------------------------------------------------------------

    def add_call_trigger(self, place: Place = (0, 0)) -> str:
        """The beginning of a called workflow, called `Called`."""
        return self.add_node("Called", CALLED.name, place, taking_all())

    def add_address(self, name: str, place: Place, path: str) -> str:
        """The beginning of a workflow that callers from outside start, with a credential."""
        parameters = protected_address(path)
        return self.add_node(
            name,
            WEBHOOK.name,
            place,
            parameters,
            webhookId=node_uuid(f"orgflow/waiting/{self.part}/address"),
            credentials={WEBHOOK.credential(parameters): dict(self.refers.credential)},
        )

    def add_update(
        self, name: str, place: Place, tests: Tests, values: Mapping[str, Any], **more: Any
    ) -> str:
        """A change of rows. One empty item leaves it if no row matches, unless `always` is
        false."""
        return self._add_operation(
            name, place, update_parameters(self.refers.table, tests, values), **more
        )

    def add_get(self, name: str, place: Place, tests: Tests, limit: int, **more: Any) -> str:
        """A reading of rows. One empty item leaves it if no row matches, unless `always` is
        false."""
        return self._add_operation(
            name, place, get_parameters(self.refers.table, tests, limit), **more
        )

    def add_delete(self, name: str, place: Place, tests: Tests, **more: Any) -> str:
        """A deletion of rows."""
        return self._add_operation(name, place, delete_parameters(self.refers.table, tests), **more)

    def add_insert(self, name: str, place: Place, **more: Any) -> str:
        """An insertion of a row for each item, in one transaction."""
        parameters = insert_parameters(self.refers.table, COLUMN_NAMES)
        return self.add_node(name, data_table.NODE.name, place, parameters, **more)

    def _add_operation(
        self,
        name: str,
        place: Place,
        parameters: Mapping[str, Any],
        *,
        always: bool = True,
        each: bool = False,
        **more: Any,
    ) -> str:
        settings: dict[str, Any] = {"alwaysOutputData": True} if always else {}
        settings |= {} if each else {"executeOnce": True}
        return self.add_node(name, data_table.NODE.name, place, parameters, **settings, **more)

    def add_fields(self, name: str, place: Place, code: str, **more: Any) -> str:
        """An item with the fields of an object, given in JavaScript."""
        parameters = write_parameters(make_expression(code), keep=False)
        return self.add_node(name, "set", place, parameters, **more)

    def add_test(self, name: str, place: Place, code: str, **more: Any) -> str:
        """A decision: output 0 if the JavaScript returns true, otherwise output 1."""
        parameters = test_parameters(is_true(code, f"waiting/{self.part}/{name}"))
        return self.add_node(name, "if", place, parameters, **more)

    def add_filter(self, name: str, place: Place, code: str, **more: Any) -> str:
        """Passes on only items for which the JavaScript returns true."""
        parameters = test_parameters(is_true(code, f"waiting/{self.part}/{name}"))
        return self.add_node(name, "filter", place, parameters, **more)

    def add_switch(
        self, name: str, place: Place, rules: Sequence[tuple[str, str]], **more: Any
    ) -> str:
        """The first of several conditions that holds, each with its name; the last output is for
        items for which none holds."""
        conditions = [
            (is_true(code, f"waiting/{self.part}/{name}/{label}"), label) for label, code in rules
        ]
        parameters = by_rules(conditions, fallback="otherwise", every=False)
        return self.add_node(name, "switch", place, parameters, **more)

    def add_split(self, name: str, place: Place, list_field: str, **more: Any) -> str:
        """An item of each entry of a list."""
        return self.add_node(name, split_out.NODE.name, place, split_parameters(list_field), **more)

    def add_random(self, name: str, place: Place, length: str, **more: Any) -> str:
        """Random hexadecimal digits in the field `random`."""
        parameters = random_parameters("random", make_expression(length))
        return self.add_node(name, crypto.NODE.name, place, parameters, **more)

    def add_call(
        self,
        name: str,
        place: Place,
        workflow: str,
        values: Mapping[str, str] | None = None,
        *,
        each: bool = False,
        waits: bool = True,
        **more: Any,
    ) -> str:
        """A call of a workflow of the set, or of the one whose id an expression computes."""
        called = workflow if workflow.startswith("=") else self.refers.workflows[workflow]
        written = {key: make_expression(code) for key, code in (values or {}).items()}
        parameters = call_with_parameters(called, written, each=each, waits=waits)
        return self.add_node(name, calling_type().name, place, parameters, **more)

    def add_note(self, text: str, place: Place = (0, -2)) -> str:
        """The sticky note that explains the workflow."""
        parameters = note_parameters(text, _NOTE_WIDTH, _NOTE_HEIGHT, 4)
        return self.add_node("About this workflow", "stickyNote", place, parameters)

    # -- the workflow --------------------------------------------------------------------------

    def build_workflow(self, name: str) -> Workflow:
        """The workflow in file form. Runs that succeed are not stored."""
        connections: dict[str, Any] = {
            source: {
                "main": [
                    [{"node": target, "type": "main", "index": 0} for target in targets]
                    for targets in outputs
                ]
            }
            for source, outputs in self.wires.items()
        }
        return {
            "id": self.refers.workflows[self.part],
            "name": name,
            "nodes": self.nodes,
            "connections": connections,
            "settings": {"executionOrder": "v1", "saveDataSuccessExecution": "none"},
        }


def field_of(node: str, path: str) -> str:
    """JavaScript that reads a field of the first item of a node that ran before."""
    return f"$('{node}').first().json.{path}"


NOW: Final = "new Date().toISOString()"
"""JavaScript for the present moment."""


def moment_after(milliseconds: str) -> str:
    """JavaScript for the moment after so many milliseconds."""
    return f"new Date(Date.now()+{milliseconds}).toISOString()"
