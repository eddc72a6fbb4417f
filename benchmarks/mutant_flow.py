"""A workflow to be mutated, and the mutators of its wires and nodes."""

from __future__ import annotations

import copy
import json
import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from orgflow.backends.n8n.format.document import is_trigger, short_type
from orgflow.backends.n8n.node_types.ports import inputs_of, outputs_of

Json = dict[str, Any]

STEP_TYPES = ("noOp", "set", "wait")
"""Types that let every item through: one input, one output."""


class Wire(NamedTuple):
    """A wire into the input `slot`, stored in `connections[source]["main"][output][place]`."""

    source: str
    output: int
    place: int
    target: str
    slot: int

    def __str__(self) -> str:
        """In words, for reports."""
        return f"{self.source}.{self.output} → {self.target}.{self.slot}"


@dataclass
class Draft:
    """A workflow that a mutator changes in place.

    `stands` names nodes that are to count as another one of the original: renamed nodes, copies;
    `original` are the names it had.
    """

    workflow: Json
    rng: random.Random
    stands: dict[str, str] = field(default_factory=dict)
    original: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.original = frozenset(self.nodes)

    @property
    def nodes(self) -> dict[str, Json]:
        """Nodes by name, without sticky notes."""
        return {n["name"]: n for n in self.workflow["nodes"] if short_type(n) != "stickyNote"}

    @property
    def steps(self) -> dict[str, Json]:
        """Nodes by name, without triggers and sticky notes."""
        return {name: n for name, n in self.nodes.items() if not is_trigger(n)}

    def of_type(self, *types: str) -> dict[str, Json]:
        """Nodes of these short types by name."""
        return {name: n for name, n in self.nodes.items() if short_type(n) in types}

    def outputs(self, name: str) -> list[list[Json]]:
        """The wires of a node by output; made if there are none."""
        connections = self.workflow["connections"]
        found: list[list[Json]] = connections.setdefault(name, {"main": []})["main"]
        return found

    def wires(self) -> list[Wire]:
        """Every wire, in file order."""
        return [
            Wire(source, output, place, wire["node"], wire["index"])
            for source, kinds in self.workflow["connections"].items()
            for output, wires in enumerate(kinds["main"])
            for place, wire in enumerate(wires)
        ]

    def connect(self, source: str, output: int, target: str, index: int) -> bool:
        """Add a wire; false where it is there already."""
        outputs = self.outputs(source)
        outputs.extend([] for _ in range(output + 1 - len(outputs)))
        wire = {"node": target, "type": "main", "index": index}
        if wire in outputs[output]:
            return False
        outputs[output].append(wire)
        self._sort(outputs[output])
        return True

    def cut(self, wire: Wire) -> None:
        """Remove a wire."""
        self.outputs(wire.source)[wire.output].pop(wire.place)

    def remove(self, name: str) -> None:
        """Remove a node and its wires."""
        self.workflow["nodes"] = [n for n in self.workflow["nodes"] if n["name"] != name]
        self.workflow["connections"].pop(name, None)
        for kinds in self.workflow["connections"].values():
            kinds["main"] = [[w for w in wires if w["node"] != name] for wires in kinds["main"]]

    def add(self, node: Json, near: Json) -> str:
        """Add a node under a free name, a little below and right of another; its name."""
        taken = {n["name"] for n in self.workflow["nodes"]}
        name: str = node["name"]
        number = 1
        while name in taken:
            name, number = f"{node['name']}{number}", number + 1
        x, y = near["position"]
        self.workflow["nodes"].append({**node, "name": name, "position": [x + 48, y + 16]})
        return name

    def ports_out(self) -> list[tuple[str, int]]:
        """Every output there is, of a node that has any."""
        return [
            (name, output)
            for name, node in self.nodes.items()
            for output in range(outputs_of(node) or 0)
        ]

    def ports_in(self) -> list[tuple[str, int]]:
        """Every input there is."""
        return [
            (name, index)
            for name, node in self.nodes.items()
            for index in range(inputs_of(node) or 0)
        ]

    def _sort(self, wires: list[Json]) -> None:
        """From top to bottom, the order in which n8n runs them whatever the file says."""
        place = {n["name"]: n["position"] for n in self.workflow["nodes"]}
        wires.sort(key=lambda w: (place[w["node"]][1], place[w["node"]][0]))


Mutate = Callable[[Draft], str | None]
"""Changes a draft in place and says what it did; `None` where there is nothing to change."""


def fresh_id(rng: random.Random) -> str:
    """An id as n8n's editor makes them."""
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def pick(draft: Draft, choices: Any) -> Any:
    """One of several, by the draft's seed; `None` of none."""
    found = list(choices)
    return draft.rng.choice(found) if found else None


# -- wires -----------------------------------------------------------------------------------------


def move_target(draft: Draft) -> str | None:
    """An edge leads to another node."""
    wire = pick(draft, draft.wires())
    ports = [p for p in draft.ports_in() if wire and p[0] != wire.target]
    port = pick(draft, ports)
    if wire is None or port is None:
        return None
    draft.cut(wire)
    draft.connect(wire.source, wire.output, *port)
    return f"moved {wire} to {port[0]}.{port[1]}"


def move_input(draft: Draft) -> str | None:
    """An edge into a Merge goes into another of its inputs."""
    wire = pick(draft, [w for w in draft.wires() if (inputs_of(draft.nodes[w.target]) or 0) > 1])
    if wire is None:
        return None
    index = pick(draft, set(range(inputs_of(draft.nodes[wire.target]) or 0)) - {wire.slot})
    draft.cut(wire)
    draft.connect(wire.source, wire.output, wire.target, index)
    return f"moved {wire} to input {index}"


def move_source(draft: Draft) -> str | None:
    """An edge comes from another node or another output."""
    wire = pick(draft, draft.wires())
    ports = [p for p in draft.ports_out() if wire and p != (wire.source, wire.output)]
    port = pick(draft, ports)
    if wire is None or port is None:
        return None
    draft.cut(wire)
    source, output = port
    draft.connect(source, output, wire.target, wire.slot)
    return f"moved {wire} to come from {source}.{output}"


def drop_edge(draft: Draft) -> str | None:
    """An edge is gone."""
    wire = pick(draft, draft.wires())
    if wire is None:
        return None
    draft.cut(wire)
    return f"dropped {wire}"


def add_edge(draft: Draft) -> str | None:
    """One edge more."""
    source, target = pick(draft, draft.ports_out()), pick(draft, draft.ports_in())
    if source is None or target is None or not draft.connect(*source, *target):
        return None
    return f"added {source[0]}.{source[1]} → {target[0]}.{target[1]}"


def swap_branches(draft: Draft) -> str | None:
    """Two outputs of an If or Switch change their wires."""
    found = []
    for name in draft.of_type("if", "switch"):
        outputs = draft.outputs(name)
        pairs = [(a, b) for b in range(len(outputs)) for a in range(b) if outputs[a] != outputs[b]]
        found += [(name, a, b) for a, b in pairs]
    choice = pick(draft, found)
    if choice is None:
        return None
    name, a, b = choice
    outputs = draft.outputs(name)
    outputs[a], outputs[b] = outputs[b], outputs[a]
    return f"swapped the wires of outputs {a} and {b} of {name}"


def swap_steps(draft: Draft) -> str | None:
    """Two steps change places in the flow."""
    pair = _two(draft, sorted(draft.of_type(*STEP_TYPES)))
    if pair is None:
        return None
    first, second = pair
    other = {first: second, second: first}
    connections = draft.workflow["connections"]
    draft.workflow["connections"] = {
        other.get(source, source): {
            "main": [
                [{**w, "node": other.get(w["node"], w["node"])} for w in wires]
                for wires in kinds["main"]
            ]
        }
        for source, kinds in connections.items()
    }
    nodes = draft.nodes
    places = nodes[first]["position"], nodes[second]["position"]
    nodes[second]["position"], nodes[first]["position"] = places
    return f"swapped {first} and {second}"


def _two(draft: Draft, names: list[str]) -> tuple[str, str] | None:
    if len(names) < 2:
        return None
    first, second = draft.rng.sample(names, 2)
    return first, second


# -- merges ----------------------------------------------------------------------------------------

_MODES: tuple[tuple[str, Json], ...] = (
    ("append", {"mode": "append"}),
    ("chooseBranch", {"mode": "chooseBranch", "useDataOfInput": "1", "options": {}}),
    ("combineByPosition", {"mode": "combine", "combineBy": "combineByPosition", "options": {}}),
    (
        "combineByPosition with unpaired items",
        {
            "mode": "combine",
            "combineBy": "combineByPosition",
            "options": {"includeUnpaired": True},
        },
    ),
)


def merge_mode(draft: Draft) -> str | None:
    """A Merge works in another mode."""
    name = pick(draft, draft.of_type("merge"))
    if name is None:
        return None
    node = draft.nodes[name]
    count = node["parameters"]["numberInputs"]
    modes = [(m, {**p, "numberInputs": count}) for m, p in _MODES]
    mode, parameters = pick(draft, [m for m in modes if m[1] != node["parameters"]])
    node["parameters"] = parameters
    return f"{name} works by {mode}"


def merge_inputs(draft: Draft) -> str | None:
    """A Merge has one input more or less than it had."""
    name = pick(draft, draft.of_type("merge"))
    if name is None:
        return None
    parameters = draft.nodes[name]["parameters"]
    count = parameters["numberInputs"]
    parameters["numberInputs"] = pick(draft, [n for n in (count - 1, count + 1) if 2 <= n <= 10])
    return f"{name} has {parameters['numberInputs']} inputs instead of {count}"


# -- nodes -----------------------------------------------------------------------------------------


def drop_joined(draft: Draft) -> str | None:
    """A node is deleted and its ways in lead to its ways out, as n8n's editor does it."""
    name = pick(draft, draft.steps)
    if name is None:
        return None
    into = [w for w in draft.wires() if w.target == name and w.source != name]
    out = [w for w in draft.wires() if w.source == name and w.target != name]
    output = out[0].output if out else 0
    draft.remove(name)
    for before in into:
        for after in (w for w in out if w.output == output):
            draft.connect(before.source, before.output, after.target, after.slot)
    return f"dropped {name}, its wires joined"


def drop_cut(draft: Draft) -> str | None:
    """A node is deleted with its wires."""
    name = pick(draft, draft.steps)
    if name is None:
        return None
    draft.remove(name)
    return f"dropped {name} and its wires"


def copy_node(draft: Draft, name: str) -> str:
    """A copy as n8n's editor makes it: another name and id, the same parameters and notes."""
    node = draft.nodes[name]
    made = draft.add({**copy.deepcopy(node), "id": fresh_id(draft.rng)}, node)
    draft.stands[made] = name
    return made


def double_parallel(draft: Draft) -> str | None:
    """A node and its copy are both wired to all that the node was."""
    name = pick(draft, draft.steps)
    if name is None:
        return None
    made = copy_node(draft, name)
    for wire in draft.wires():
        if wire.target == name:
            draft.connect(wire.source, wire.output, made, wire.slot)
    for wire in draft.wires():
        if wire.source == name:
            draft.connect(made, wire.output, wire.target, wire.slot)
    return f"doubled {name}, the copy beside it"


def double_series(draft: Draft) -> str | None:
    """A step is followed by its copy."""
    name = pick(draft, draft.of_type(*STEP_TYPES))
    if name is None:
        return None
    made = copy_node(draft, name)
    draft.workflow["connections"][made] = draft.workflow["connections"].pop(name, {"main": [[]]})
    draft.connect(name, 0, made, 0)
    return f"doubled {name}, the copy behind it"


def disable(draft: Draft) -> str | None:
    """A node is switched off: n8n passes its items on."""
    name = pick(draft, draft.steps)
    if name is None:
        return None
    draft.nodes[name]["disabled"] = True
    return f"disabled {name}"


def canonical(value: Any) -> str:
    """Text by which JSON values are distinguished."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
