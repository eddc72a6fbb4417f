"""The region tree: the structure that the reduction of a scope finds, as a value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from orgflow_ir.model.records import NamedTuple, dataclass

if TYPE_CHECKING:
    from orgflow_ir.flow.nets.net import Net

RegionKind = Literal["sequence", "xor", "and", "or", "clash", "loop", "unstructured"]


class Region(NamedTuple):
    """A part of a scope with one incoming flow and one outgoing flow.

    `children` are regions and ids of elements. A block (`xor`, `and`, `or`, `clash`) has a sequence
    for each branch in the order of the split's flows; a loop has the path from `join` (its header)
    to `split` (its exit; `None`: never left) and the path back; `unstructured` has its parts in no
    particular order.
    """

    kind: RegionKind
    children: tuple[Region | str, ...] = ()
    split: str | None = None
    join: str | None = None

    def elements(self) -> Iterator[str]:
        """Every element of the region, in order; a gateway that both joins and splits is listed
        once."""
        listed: set[str] = set()
        stack: list[Region | str] = [self]
        while stack:
            item = stack.pop()
            if isinstance(item, Region):
                stack.extend(reversed(item.children))
            elif item not in listed:
                listed.add(item)
                yield item


@dataclass(eq=False, repr=False)
class Pair:
    """Branches that leave the same split and meet in the same join (net nodes; the net's `SINK` for
    the end).

    `kind` is the kind of the split, or `clash`. `whole_join`: no other branch leads into the join;
    `whole_split`: no other branch leaves the split.
    """

    split: int
    join: int
    kind: Literal["xor", "and", "or", "clash"]
    branches: list[tuple[int, int]]
    contents: list[object]
    whole_join: bool = False
    whole_split: bool = False


def build_tree(net: Net, trunk: object, rest: list[object], absorbed: dict[int, int]) -> Region:
    """The tree, built from the nested contents of the remaining edges. Iterative, because the
    nesting of a process of 10,000 steps may be that deep."""
    if not rest:
        return _build_region(net, trunk)
    pieces = [_build_region(net, content) for content in rest]
    held = {e for piece in pieces for e in piece.elements()}
    loose = dict.fromkeys(e for e in net.element if e and e not in held)
    return Region("unstructured", (*(p for p in pieces if p.children), *loose))


def _build_region(net: Net, content: object) -> Region:
    # A frame is a region under construction: kind, children so far, contents to do (last first).
    frames: list[tuple[RegionKind, list[Region | str], list[Any], str | None, str | None]] = [
        ("sequence", [], [content], None, None)
    ]
    while True:
        kind, done, todo, split, join = frames[-1]
        if not todo:
            frames.pop()
            region = Region(kind, tuple(done), split, join)
            if not frames:
                return region
            if kind != "sequence" or frames[-1][0] != "sequence":
                frames[-1][1].append(region)
            continue
        item = todo.pop()
        if item is None:
            if kind != "sequence":
                done.append(Region("sequence"))
        elif isinstance(item, int):
            if net.element[item] and (not done or done[-1] != net.element[item]):
                done.append(net.element[item])
        elif isinstance(item, str) and kind == "sequence":
            done.append(item)
        elif kind != "sequence":
            frames.append(("sequence", [], [item], None, None))
        elif isinstance(item, Pair):
            frames.append((item.kind, [], _sort_branches(item), *_name_ends(net, item)))
        elif item[0] != "loop":
            todo.extend(i for i in reversed(item[1:]) if i is not None)
        else:
            _, header, leave, body, back = item
            leave_id = net.element[leave] if leave is not None else None
            frames.append(("loop", [], [back, body], leave_id, net.element[header]))


def _name_ends(net: Net, pair: Pair) -> tuple[str | None, str | None]:
    return net.element[pair.split] or None, net.element[pair.join] or None


def _sort_branches(pair: Pair) -> list[Any]:
    order = sorted(range(len(pair.branches)), key=lambda i: pair.branches[i][0], reverse=True)
    return [pair.contents[i] for i in order]
