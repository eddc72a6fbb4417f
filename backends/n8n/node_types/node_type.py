"""The data about one type of nodes, and the small functions that define them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.value import Value

if TYPE_CHECKING:
    from orgflow.backends.n8n.node_types.behaviour import Behaviour

    from orgflow_ir.model import TaskType

Parameters = Mapping[str, Any]
Versions = tuple[float, ...]
Ports = Callable[[float | None, Parameters], int | None]
"""Version and parameters of a node to its number of inputs or outputs; `None` if they do not
determine it."""

Start = Literal["manual", "called", "schedule", "error", "message"]
"""The start of a run at a trigger: a person, another workflow, a clock, a failed run, or an
external event."""

Effect = Literal["pass", "write", "replace", "unknown"]
"""The effect on the fields of an item: kept, extended, lost, or unknown."""

Required = tuple[str, Mapping[str, tuple[Any, ...]]]
"""A parameter that is required if others have one of these values; `None` among them is absence
(the default)."""


class Use(NamedTuple):
    """A node in the form for the engine model: `wired` outputs, `known` ids of workflows."""

    version: float
    parameters: Parameters
    wired: int
    known: frozenset[str]


def one_port(version: float | None, parameters: Parameters) -> int | None:
    """One port, regardless of the node."""
    del version, parameters
    return 1


def no_port(version: float | None, parameters: Parameters) -> int | None:
    """No port."""
    del version, parameters
    return 0


def unknown_effect(version: float, parameters: Parameters) -> Effect:
    """The fields are unknown."""
    del version, parameters
    return "unknown"


def passes_items(version: float, parameters: Parameters) -> Effect:
    """Fields are kept unchanged."""
    del version, parameters
    return "pass"


def never_holds(parameters: Parameters) -> bool:
    """No, regardless of the parameters."""
    del parameters
    return False


def inbound_credential(authentication: object) -> str:
    """The type of credential by which callers authenticate; empty if they do not."""
    kinds = {"basicAuth": "httpBasicAuth", "headerAuth": "httpHeaderAuth", "jwtAuth": "jwtAuth"}
    return kinds.get(authentication, "") if isinstance(authentication, str) else ""


def no_credential(parameters: Parameters) -> str:
    """None is needed."""
    del parameters
    return ""


def no_workflow(parameters: Parameters) -> str:
    """No workflow is called."""
    del parameters
    return ""


class NodeType(Value):
    """A type of nodes of the package n8n-nodes-base.

    Attributes:
        name: its short name, such as `if`.
        label: its name in n8n's editor.
        emitted: whether a compilation writes such nodes.
        once: whether emitted nodes use only the first of several items, since a token of a model is
            one item.
        versions: the versions that n8n 1.123 and n8n 2.41 support, of those in orgflow's schemas;
            the last of each is emitted. Empty for types that are only modelled.
        start: for triggers, the start of a run.
        inputs, outputs: numbers of main ports, without the error output.
        behaviour: the engine's treatment of items; `None` if only the data determine it, which the
            engine model treats as a choice among all connected outputs.
        effect: the effect on the fields of an item.
        reliable: whether it outputs one item per item and does not fail by itself.
        waits: whether a run may wait at the node, with these parameters.
        calls: id of the workflow a node calls; empty if it calls none or computes the id.
        required: parameters without which n8n does not publish.
        scripts: parameters that hold program code.
        task: its kind of task in a model; `None` if it is another element.
        credential: type of the credential that a node needs; empty if it needs none.
        gives_one: whether a node outputs exactly one item per item, unless it fails.
    """

    name: str
    label: str
    emitted: bool = False
    once: bool = False
    versions: tuple[Versions, Versions] = ((), ())
    start: Start | None = None
    inputs: Ports = one_port
    outputs: Ports = one_port
    behaviour: Callable[[Use], Behaviour | None] | None = None
    effect: Callable[[float, Parameters], Effect] = unknown_effect
    reliable: bool = False
    waits: Callable[[Parameters], bool] = never_holds
    calls: Callable[[Parameters], str] = no_workflow
    required: tuple[Required, ...] = ()
    scripts: tuple[str, ...] = ()
    task: TaskType | None = "service"
    credential: Callable[[Parameters], str] = no_credential
    gives_one: Callable[[Parameters], bool] = never_holds

    @property
    def described(self) -> bool:
        """Whether there is a schema of its parameters."""
        return any(self.versions)


def is_expression(value: object) -> bool:
    """Whether n8n evaluates this parameter at run time."""
    return isinstance(value, str) and value.startswith("=")


MOST_OUTPUTS: Final = 1_000
