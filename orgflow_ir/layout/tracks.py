"""Lines in a channel: an order with few crossings, and tracks."""

from __future__ import annotations

from collections.abc import Mapping

from orgflow_ir.layout.grid import Line, Link, Path, Piece
from orgflow_ir.model.records import NamedTuple

_FEW = 40
_LYING = 1000
_BUCKET = 64


class Stretch(NamedTuple):
    """The lines in a channel that share a track: their extent, their ends on the side before it
    (`up`) and after it (`down`) as indices along the channel, and their links."""

    low: int
    high: int
    up: tuple[int, ...]
    down: tuple[int, ...]
    links: tuple[tuple[str, int], ...]


def assign_tracks(
    paths: Mapping[str, Path], links: Mapping[str, Link]
) -> tuple[dict[tuple[str, int], int], dict[Line, list[list[str]]]]:
    """The track of each piece in a channel, by link and number of the piece, and for every channel,
    the links on each of its tracks, from the top or left."""
    lying: dict[Line, list[tuple[str, int]]] = {}
    for name, path in paths.items():
        for at, piece in enumerate(path.pieces):
            if piece.line.channel:
                lying.setdefault(piece.line, []).append((name, at))
    track_numbers: dict[tuple[str, int], int] = {}
    users: dict[Line, list[list[str]]] = {}
    for line, pieces in lying.items():
        rows: list[list[Stretch]] = []
        lowest: dict[int, list[tuple[Stretch, int]]] = {}
        for stretch in _order_stretches(_bundle_pieces(pieces, paths, links)):
            buckets = range(stretch.low // _BUCKET, stretch.high // _BUCKET + 1)
            over = [
                r for b in buckets for s, r in lowest.get(b, ()) if _stretches_touch(stretch, s)
            ]
            at = max(over, default=-1) + 1
            if at == len(rows):
                rows.append([])
            rows[at].append(stretch)
            for b in buckets:
                lowest.setdefault(b, []).append((stretch, at))
            for key in stretch.links:
                track_numbers[key] = at
        users[line] = [[name for s in row for name, _ in s.links] for row in rows]
    return track_numbers, users


def _stretches_touch(first: Stretch, second: Stretch) -> bool:
    return first.low <= second.high and second.low <= first.high


def _bundle_pieces(
    pieces: list[tuple[str, int]], paths: Mapping[str, Path], links: Mapping[str, Link]
) -> list[Stretch]:
    """Lines that begin in one node, or end in one, run together."""
    groups: dict[tuple[str, str, float | None], list[tuple[str, int]]] = {}
    several: dict[tuple[str, str], int] = {}
    for name, _ in pieces:
        for way, end in (("out", links[name].source), ("in", links[name].target)):
            several[way, end] = several.get((way, end), 0) + 1
    for name, at in pieces:
        link, path = links[name], paths[name]
        if at == 1 and several["out", link.source] > 1:
            key: tuple[str, str, float | None] = (
                f"out {path.source_side}", link.source, path.pieces[0].line.offset
            )  # fmt: skip
        elif at == len(path.pieces) - 2 and several["in", link.target] > 1:
            key = (f"in {path.target_side}", link.target, path.pieces[-1].line.offset)
        else:
            key = ("alone", name, float(at))
        groups.setdefault(key, []).append((name, at))
    return [_measure_stretch(members, paths) for members in groups.values()]


def _measure_stretch(members: list[tuple[str, int]], paths: Mapping[str, Path]) -> Stretch:
    low, high = 10**9, -1
    up: set[int] = set()
    down: set[int] = set()
    for name, at in members:
        pieces = paths[name].pieces
        piece = pieces[at]
        low, high = min(low, piece.low), max(high, piece.high)
        if at > 0:
            (up if _lies_before(pieces[at - 1], start=True) else down).add(piece.begin)
        if at + 1 < len(pieces):
            (up if _lies_before(pieces[at + 1], start=False) else down).add(piece.end)
    return Stretch(low, high, tuple(sorted(up)), tuple(sorted(down)), tuple(members))


def _lies_before(neighbour: Piece, *, start: bool) -> bool:
    """Whether the piece before (`start`) or behind lies above or to the left of the channel."""
    if start:
        return neighbour.begin < neighbour.end
    return neighbour.end < neighbour.begin


def _crossing_cost(first: Stretch, second: Stretch) -> int:
    """Crossings if `first` lies before `second`: above it, or to the left."""
    cost = 0
    for at in first.down:
        cost += (second.low < at < second.high) + _LYING * (at in second.up)
        cost += at in (second.low, second.high) and at not in second.up and at not in second.down
    for at in second.up:
        cost += first.low < at < first.high
    return cost


def _order_stretches(stretches: list[Stretch]) -> list[Stretch]:
    """In an order with few crossings, those that touch each other at a time."""
    sorted_stretches: list[Stretch] = []
    together: list[Stretch] = []
    end = -1
    for stretch in sorted(stretches, key=lambda s: (s.low, s.high, s.links)):
        if together and stretch.low > end:
            sorted_stretches += _sort_neighbours(together)
            together = []
        together.append(stretch)
        end = max(end, stretch.high)
    return sorted_stretches + _sort_neighbours(together)


def _sort_neighbours(stretches: list[Stretch]) -> list[Stretch]:
    """Neighbours are swapped while that saves crossings; of many only a guess is sorted."""
    sorted_stretches = sorted(stretches, key=lambda s: (_first_guess(s), s.low, s.high, s.links))
    if len(sorted_stretches) > _FEW:
        return sorted_stretches
    for _ in range(len(sorted_stretches)):
        changed = False
        for at in range(len(sorted_stretches) - 1):
            first, second = sorted_stretches[at], sorted_stretches[at + 1]
            if _stretches_touch(first, second) and _crossing_cost(second, first) < _crossing_cost(
                first, second
            ):
                sorted_stretches[at], sorted_stretches[at + 1] = second, first
                changed = True
        if not changed:
            break
    return sorted_stretches


def _first_guess(stretch: Stretch) -> float:
    """Lines between two things above lie above those between two things below."""
    return len(stretch.down) - len(stretch.up)
