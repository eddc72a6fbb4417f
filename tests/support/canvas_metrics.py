"""How readable a workflow is on the canvas of n8n's editor, in numbers.

Nodes and wires are as the editor of n8n 2.41 draws them (`tests/live/test_live_canvas.py` compares
with the real one): nodes are 96 wide and 96 high, 32 more for each port of a side above two; wires
are cubic curves to the right, or go round below both nodes to the left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, NamedTuple

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.format.document import short_type
from orgflow.backends.n8n.format.identity import tag_of

Json = Mapping[str, Any]
Point = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""

NODE = 96
PORT = 8
"""A wire begins and ends so far from the node's edge."""
BELOW, BESIDE = 130, 40
"""How far below its port a wire to the left runs, and how far beside both nodes it turns."""
LABEL = (192, 44)
"""Width and height of a name of two lines below its node."""
_PIECES = 24


class Metrics(NamedTuple):
    """Figures of one workflow; all but the first three should be small.

    `overlaps` are pairs of nodes that cover each other, `labels` names that another node covers,
    `through` pairs of a wire and a node it runs through, `crossings` pairs of wires that cross,
    `across` wires of more than 8 columns that are not straight, `longest` the length of the longest
    wire and `length` that of all, in columns of 256; `strays` are stop nodes outside the lane of
    their gateway.
    """

    workflows: int
    nodes: int
    wires: int
    notes: int
    stops: int
    overlaps: int
    labels: int
    through: int
    crossings: int
    across: int
    strays: int
    length: float
    longest: float

    def plus(self, other: Metrics) -> Metrics:
        """The figures of both."""
        sums = [a + b for a, b in zip(self, other, strict=True)]
        return Metrics(*sums)._replace(longest=max(self.longest, other.longest))  # type: ignore[arg-type]


NOTHING = Metrics(*(0,) * len(Metrics._fields))


@dataclass(frozen=True)
class Wire:
    """A wire as it is drawn: its line from `source` to `target`."""

    source: str
    output: int
    target: str
    input: int
    line: tuple[Point, ...]


def boxes(workflow: Json) -> dict[str, Box]:
    """The body of each node but sticky notes, by name."""
    found = {}
    for node in workflow["nodes"]:
        if short_type(node) != "stickyNote":
            x, y = node["position"]
            ports = max(_ports(workflow, node, side) for side in ("in", "out"))
            found[node["name"]] = (x, y, x + NODE, y + NODE + max(0, ports - 2) * 32)
    return found


def wires(workflow: Json) -> list[Wire]:
    """Every wire, with its line."""
    body = boxes(workflow)
    nodes = {node["name"]: node for node in workflow["nodes"]}
    found = []
    for source, kinds in workflow["connections"].items():
        for output, ends in enumerate(kinds["main"]):
            for end in ends:
                target = end["node"]
                start = _port(body[source], output, _ports(workflow, nodes[source], "out"), 2)
                stop = _port(body[target], end["index"], _ports(workflow, nodes[target], "in"), 0)
                line = tuple(_line(start, stop))
                found.append(Wire(source, output, target, end["index"], line))
    return found


def measure(workflow: Json) -> Metrics:
    """The figures of a workflow in file form."""
    body, lines = boxes(workflow), wires(workflow)
    names = {
        name: (box[0] + (NODE - LABEL[0]) / 2, box[3], box[2] + (LABEL[0] - NODE) / 2,
               box[3] + LABEL[1])
        for name, box in body.items()
    }  # fmt: skip
    through = sum(
        _hits(wire.line, box)
        for wire in lines
        for name, box in body.items()
        if name not in (wire.source, wire.target)
    )
    lengths = [_length(wire.line) / 256 for wire in lines]
    long = [
        wire
        for wire, length in zip(lines, lengths, strict=True)
        if length > 8 and abs(wire.line[0][1] - wire.line[-1][1]) > 64
    ]
    return Metrics(
        1,
        len(body),
        len(lines),
        sum(short_type(n) == "stickyNote" for n in workflow["nodes"]),
        sum(short_type(n) == "stopAndError" for n in workflow["nodes"]),
        sum(_meet(a, b) for a, b in combinations(body.values(), 2)),
        sum(_meet(names[n], body[m]) for n in body for m in body if n != m),
        through,
        sum(_cross(a, b) for a, b in combinations(lines, 2)),
        len(long),
        _strays(workflow, body),
        round(sum(lengths), 1),
        round(max(lengths, default=0), 1),
    )


def _ports(workflow: Json, node: Json, side: str) -> int:
    kind = node_types.find_type(short_type(node) or "")
    if kind is None:
        return 1
    shape = kind.outputs if side == "out" else kind.inputs
    return shape(node["typeVersion"], node["parameters"]) or 0


def _port(box: Box, number: int, count: int, side: int) -> Point:
    """Where wires begin (`side` 2) or end (0)."""
    left, top, right, bottom = box
    y = top + (bottom - top) * (number + 1) / (max(count, number + 1) + 1)
    return (right + PORT if side else left - PORT), y


def _line(start: Point, end: Point) -> Iterator[Point]:
    (x, y), (to_x, to_y) = start, end
    if x - 20 <= to_x:
        middle = abs(to_x - x) / 2
        ahead = x + (middle if to_x >= x else 0.25 * 25 * (x - to_x) ** 0.5)
        back = to_x - (ahead - x)
        for piece in range(_PIECES + 1):
            t = piece / _PIECES
            a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
            yield a * x + b * ahead + c * back + d * to_x, (a + b) * y + (c + d) * to_y
        return
    low = y + BELOW
    yield from (start, (x + BESIDE, y), (x + BESIDE, low), (to_x - BESIDE, low))
    yield from ((to_x - BESIDE, to_y), end)


def _length(line: Sequence[Point]) -> float:
    return sum(((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) ** 0.5 for a, b in pairwise(line))


def _meet(one: Box, other: Box) -> bool:
    return (
        one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
    )  # fmt: skip


def _bounds(line: Sequence[Point]) -> Box:
    xs, ys = [x for x, _ in line], [y for _, y in line]
    return min(xs), min(ys), max(xs), max(ys)


def _hits(line: Sequence[Point], box: Box) -> bool:
    """Whether a line runs through a box."""
    left, top, right, bottom = box
    inside = (left + 2, top + 2, right - 2, bottom - 2)
    if not _meet(_bounds(line), inside):
        return False
    return any(_clipped(a, b, inside) for a, b in pairwise(line))


def _clipped(a: Point, b: Point, box: Box) -> bool:
    """Whether a piece of a line is in a box, by Liang and Barsky."""
    first, last = 0.0, 1.0
    for at, low, high in ((0, box[0], box[2]), (1, box[1], box[3])):
        step = b[at] - a[at]
        if step == 0:
            if not low <= a[at] <= high:
                return False
            continue
        near, far = sorted(((low - a[at]) / step, (high - a[at]) / step))
        first, last = max(first, near), min(last, far)
    return first < last


def _cross(one: Wire, other: Wire) -> bool:
    """Whether two wires cross; those from one port or into one run together."""
    if (one.source, one.output) == (other.source, other.output):
        return False
    if (one.target, one.input) == (other.target, other.input):
        return False
    if not _meet(_bounds(one.line), _bounds(other.line)):
        return False
    return any(
        _side(c, d, a) * _side(c, d, b) < 0 and _side(a, b, c) * _side(a, b, d) < 0
        for a, b in pairwise(one.line)
        for c, d in pairwise(other.line)
    )


def _side(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _strays(workflow: Json, body: Mapping[str, Box]) -> int:
    lanes = [
        (y, y + node["parameters"]["height"])
        for node in workflow["nodes"]
        if short_type(node) == "stickyNote" and node["name"].startswith("Lane ")
        for y in (node["position"][1],)
    ]

    def lane(name: str) -> list[int]:
        middle = (body[name][1] + body[name][3]) / 2
        return [at for at, (top, bottom) in enumerate(lanes) if top <= middle <= bottom]

    stands = {tag: n["name"] for n in workflow["nodes"] if (tag := tag_of(n.get("notes")))}
    return sum(
        lane(node["name"]) != lane(stands[tag[0], ""])
        for node in workflow["nodes"]
        if (tag := tag_of(node.get("notes"))) and tag[1] == "stop" and (tag[0], "") in stands
    )
