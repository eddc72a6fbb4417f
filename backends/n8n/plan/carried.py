"""How process variables travel on the items of a workflow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from orgflow.backends.n8n.plan.graph import NodeKey, Port

from orgflow_ir.model.records import dataclass


@dataclass(eq=False)
class Carried:
    """The additions of `carry_variables` to a graph.

    Attributes:
        read: variables that the conditions of a gateway read.
        computed: variables that the work of an element reads (scripts, tables, mappings, requests,
            forms, messages), by the element.
        handed: variables that a call hands over, by the call; under the empty key those that the
            workflow hands back at its ends.
        steps: nodes that may set variables and replace the item.
        beside: steps in parallel branches that may set a variable which a gateway reads.
        names: all variables that travel.
        count: the field of the item that counts how often each variable was set.
        after: variables on the item after an added node, by its key.
        counted: whether copies in parallel branches are distinguished by a count.
        before: the output with the item before an element that sets variables by its mappings.
    """

    read: Mapping[str, tuple[str, ...]]
    steps: tuple[NodeKey, ...]
    beside: Mapping[tuple[str, str], tuple[NodeKey, ...]]
    names: tuple[str, ...]
    count: str
    computed: Mapping[str, tuple[str, ...]]
    handed: Mapping[str, tuple[str, ...]]
    after: dict[NodeKey, tuple[str, ...]] = field(default_factory=dict)
    counted: bool = False
    before: dict[str, Port] = field(default_factory=dict)
