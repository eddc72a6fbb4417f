"""Stacks the blocks of a layered diagram below each other: the rows that a block takes in each
column."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

from orgflow_ir.model.records import dataclass

_N = TypeVar("_N", bound=Hashable)


@dataclass(eq=False, repr=False)
class Block:
    """Rows taken per column, relative to `shift`."""

    rows: dict[int, tuple[int, int]]
    shift: int = 0


def merge_blocks(upper: Block, lower: Block) -> tuple[Block, int]:
    """Keeps `lower` in place if that is free, otherwise puts it below `upper`, as high as possible;
    also returns the number of rows by which it was moved down."""
    small, large = upper.rows, lower.rows
    if len(large) < len(small):
        small, large = large, small
    offset = lower.shift - upper.shift
    shift = 0
    clash = False
    for column in small:
        if column in large:
            high, bottom = upper.rows[column]
            top, low = lower.rows[column]
            top += offset
            clash = clash or (top <= bottom and high <= low + offset)
            if shift <= bottom - top:
                shift = bottom + 1 - top
    if not clash:
        shift = 0
    lower.shift += shift
    keep, add = (upper, lower) if large is upper.rows else (lower, upper)
    moved = add.shift - keep.shift
    for column, (top, bottom) in add.rows.items():
        low, high = top + moved, bottom + moved
        if column in keep.rows:
            a, b = keep.rows[column]
            low, high = min(low, a), max(high, b)
        keep.rows[column] = (low, high)
    return keep, shift


def list_postorder(root: _N, children: Mapping[_N, list[_N]]) -> list[_N]:
    """The nodes of a tree, each after its children."""
    order: list[_N] = []
    stack = [root]
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(children[node])
    order.reverse()
    return order
