"""Inclusive splits and joins that orgflow writes as connections around the branches that are not
taken.

In a loop with another Merge, the compiled split is one If (or Switch) that tests whether any branch
is taken, and one If for each branch, whose second output leads directly to the input of the join.
Read node by node, it would be a parallel split into independent choices, with runs in which no
branch is taken. It is read as the original split and join.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from orgflow.frontends.n8n.ports import Outlet, Ways, read_outputs
from orgflow.frontends.n8n.source import SourceNode, Wire

from orgflow_ir.model.records import NamedTuple, dataclass

_ASKED = re.compile(r"\?(?: \(\d+\))?$")
"""The suffix of an If that tests a branch, with the number that makes it unique."""

_BRANCH, _BEFORE = "branch", "before"


class _End(NamedTuple):
    """An input of a node, by its place in the file; the node was compiled from `element`."""

    place: int
    input: int
    element: str


def _wire_end(wire: Wire, out: Mapping[int, Sequence[Wire]]) -> _End:
    """Where a wire leads; through a node that only gathers what comes to the input of a Merge."""
    ahead = out.get(wire.target.place, ())
    if wire.target.tag is not None and wire.target.tag[1] == _BEFORE and len(ahead) == 1:
        (wire,) = ahead
    element, _ = wire.target.tag or ("", "")
    return _End(wire.target.place, wire.input, element)


@dataclass
class Bypasses:
    """The compiled form of inclusive gateways in a workflow.

    Attributes:
        outlets: branches of each split, by its place in the file and a number that no output of the
            node has.
        taken: the output of each split after which its branches are tested.
        joins: places of the Merges that are the joins.
        nodes: nodes that are not elements: those that test single branches.
        wires: connections around branches, and those to and from these nodes, which are not flows.
        live: the connections from splits into branches.
    """

    outlets: dict[int, dict[int, Outlet]] = field(default_factory=dict)
    taken: dict[int, int] = field(default_factory=dict)
    joins: set[int] = field(default_factory=set)
    nodes: list[SourceNode] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)
    live: list[Wire] = field(default_factory=list)

    def steps(self, nodes: Sequence[SourceNode]) -> list[SourceNode]:
        """The nodes that are elements."""
        asking = {node.place for node in self.nodes}
        return [node for node in nodes if node.place not in asking]

    def flows(self, wires: Sequence[Wire]) -> list[Wire]:
        """The connections that are flows."""
        gone = {id(wire) for wire in self.wires}
        return [*(wire for wire in wires if id(wire) not in gone), *self.live]

    def bypass_ways(self, node: SourceNode, outputs: Ways) -> Ways:
        """The outputs of a node; for a split, its branches replace the output to them."""
        if node.place not in self.outlets:
            return outputs
        others = {n: o for n, o in outputs.outlets.items() if n != self.taken[node.place]}
        return Ways("inclusive", {**others, **self.outlets[node.place]}, own=True)


def find_bypasses(nodes: Sequence[SourceNode], wires: Sequence[Wire]) -> Bypasses:
    """The inclusive gateways of a compiled workflow whose connections are unchanged."""
    result = Bypasses()
    asking: dict[str, list[SourceNode]] = {}
    for node in nodes:
        element, role = node.tag or ("", "")
        if role == _BRANCH and node.short == "if" and not node.disabled:
            asking.setdefault(element, []).append(node)
    if not asking:
        return result
    into: dict[int, list[Wire]] = {}
    out: dict[int, list[Wire]] = {}
    for wire in wires:
        out.setdefault(wire.source.place, []).append(wire)
        into.setdefault(wire.target.place, []).append(wire)
    merges: dict[str, list[SourceNode]] = {}
    for node in nodes:
        if node.short == "merge" and node.tag is not None and not node.disabled:
            merges.setdefault(node.tag[0], []).append(node)
    for branches in asking.values():
        _note_split(result, branches, merges, into, out)
    return result


def _note_split(
    result: Bypasses,
    branches: Sequence[SourceNode],
    merges: Mapping[str, Sequence[SourceNode]],
    into: Mapping[int, Sequence[Wire]],
    out: Mapping[int, Sequence[Wire]],
) -> None:
    """Add the split that asks for some branches, if its wires are those of one."""
    # 1. One output of one node leads to all of them, and nothing else does.
    entering = [wire for branch in branches for wire in into.get(branch.place, ())]
    splits = {(wire.source.place, wire.output) for wire in entering}
    if len(splits) != 1 or len(entering) != len(branches):
        return
    split, taken = entering[0].source, entering[0].output
    if split.short not in ("if", "switch") or split.disabled or split.place in result.outlets:
        return
    # 2. The second output of each leads to an input of the join, and to nothing else.
    around = [wire for asking in branches for wire in out.get(asking.place, ()) if wire.output == 1]
    if [wire.source.place for wire in around] != [branch.place for branch in branches]:
        return
    ends = {_wire_end(wire, out) for wire in around}
    places = _join_places({end.element for end in ends}, merges)
    if len(ends) != len(branches) or any(end.place not in places for end in ends):
        return
    # 3. The wires of the split itself that lead around: past the default branch where another one
    # is taken, and past all others where it is.
    for wire in out[split.place]:
        end = _wire_end(wire, out)
        if end.place in places and (wire.output == taken or end in ends):
            around.append(wire)
    if any(wire.output == taken for wire in out[split.place] if wire not in (*entering, *around)):
        return
    # 4. Each branch is a flow of the split.
    first = max(wire.output for wire in out[split.place]) + 1
    outlets = {first + number: _make_outlet(branch) for number, branch in enumerate(branches)}
    result.outlets[split.place], result.taken[split.place] = outlets, taken
    result.joins |= places
    result.nodes += branches
    result.wires += (*entering, *around)
    for number, branch in enumerate(branches, first):
        for wire in _taken_wires(out.get(branch.place, ())):
            result.wires.append(wire)
            result.live.append(replace(wire, source=split, output=number))


def _join_places(elements: set[str], merges: Mapping[str, Sequence[SourceNode]]) -> set[int]:
    """The places of the nodes of the one join that wires end at; a wide join has several nodes."""
    join = merges.get(next(iter(elements)), ()) if len(elements) == 1 else ()
    return {node.place for node in join}


def _taken_wires(wires: Sequence[Wire]) -> Iterator[Wire]:
    return (wire for wire in wires if wire.output == 0)


def _make_outlet(branch: SourceNode) -> Outlet:
    """A branch by the If that asks for it."""
    yes = read_outputs(branch.raw, branch.short, branch.version, (0, 1)).outlets[0]
    return Outlet(_ASKED.sub("", branch.name), yes.condition)
