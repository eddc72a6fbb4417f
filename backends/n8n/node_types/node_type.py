"""What is known of one type of nodes, and the small readers its facts are made with."""

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
"""Version and parameters of a node to its number of inputs or outputs; `None` where they do not
say."""

Start = Literal["manual", "called", "schedule", "error", "message"]
"""What starts a run at a trigger: a person, another workflow, a clock, a failed run, or something
that comes in from outside."""

Effect = Literal["pass", "write", "replace", "unknown"]
"""What becomes of the fields of an item: kept, kept with more, lost, or not known."""

Required = tuple[str, Mapping[str, tuple[Any, ...]]]
"""A parameter that must be there, where others have one of these values; `None` among them is
absence (the default)."""


class Use(NamedTuple):
    """A node as the engine model looks at it: `wired` outputs, `known` ids of workflows."""

    version: float
    parameters: Parameters
    wired: int
    known: frozenset[str]


def one(version: float | None, parameters: Parameters) -> int | None:
    """One port, whatever the node says."""
    del version, parameters
    return 1


def none(version: float | None, parameters: Parameters) -> int | None:
    """No port."""
    del version, parameters
    return 0


def unknown_effect(version: float, parameters: Parameters) -> Effect:
    """Nothing is known of the fields."""
    del version, parameters
    return "unknown"


def passes_items(version: float, parameters: Parameters) -> Effect:
    """Fields are kept as they are."""
    del version, parameters
    return "pass"


def never(parameters: Parameters) -> bool:
    """No, whatever the parameters."""
    del parameters
    return False


def inbound_credential(authentication: object) -> str:
    """The type of credential by which callers identify themselves; empty where they do not."""
    kinds = {"basicAuth": "httpBasicAuth", "headerAuth": "httpHeaderAuth", "jwtAuth": "jwtAuth"}
    return kinds.get(authentication, "") if isinstance(authentication, str) else ""


def no_credential(parameters: Parameters) -> str:
    """None is needed."""
    del parameters
    return ""


def nobody(parameters: Parameters) -> str:
    """No workflow is called."""
    del parameters
    return ""


class NodeType(Value):
    """A type of nodes of the package n8n-nodes-base.

    Attributes:
        name: its short name, such as `if`.
        label: what n8n's editor calls it.
        emitted: whether a compile writes such nodes.
        once: whether the nodes that a compile writes take the first of several items, since a
            token of a model is one item.
        versions: what n8n 1.123 and what n8n 2.41 understand of the versions our schemas describe;
            the last of each is written. Empty for types that are only modelled.
        start: for triggers, what starts a run.
        inputs, outputs: numbers of main ports, without the error output.
        behaviour: what the engine does with items; `None` where only the data say, so that the
            engine model takes it for a choice among as many outputs as are wired.
        effect: what becomes of the fields of an item.
        reliable: it gives an item for an item and does not fail by itself.
        waits: whether a run may stand still at the node, with these parameters.
        calls: id of the workflow a node calls; empty where it calls none or computes which.
        required: parameters without which n8n does not publish.
        scripts: parameters that hold program code.
        task: the kind of task it is in a model; `None` where it is another element.
        credential: type of the credential that a node needs; empty where it needs none.
        gives_one: whether a node hands on exactly one item for an item, unless it fails.
    """

    name: str
    label: str
    emitted: bool = False
    once: bool = False
    versions: tuple[Versions, Versions] = ((), ())
    start: Start | None = None
    inputs: Ports = one
    outputs: Ports = one
    behaviour: Callable[[Use], Behaviour | None] | None = None
    effect: Callable[[float, Parameters], Effect] = unknown_effect
    reliable: bool = False
    waits: Callable[[Parameters], bool] = never
    calls: Callable[[Parameters], str] = nobody
    required: tuple[Required, ...] = ()
    scripts: tuple[str, ...] = ()
    task: TaskType | None = "service"
    credential: Callable[[Parameters], str] = no_credential
    gives_one: Callable[[Parameters], bool] = never

    @property
    def described(self) -> bool:
        """Whether there is a schema of its parameters."""
        return any(self.versions)


def is_expression(value: object) -> bool:
    """Whether n8n computes this parameter while it runs."""
    return isinstance(value, str) and value.startswith("=")


MOST_OUTPUTS: Final = 1_000
