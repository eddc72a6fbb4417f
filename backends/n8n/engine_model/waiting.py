"""Incomplete inputs: n8n's pairing of arrivals, and the node that it runs when nothing else
remains.

n8n keeps, per node with several wired inputs, entries by index. An arrival is added to the first
entry with a free input; if there is none, to a new entry whose index is the *number* of entries,
which overwrites an existing entry with that index (N8N.md, "Token loss").
"""

from __future__ import annotations

from orgflow.backends.n8n.engine_model.config import Entries, Pending, Waiting
from orgflow.backends.n8n.engine_model.flow import Flow, Node
from orgflow.backends.n8n.node_types.behaviour import Counts


def deliver_items(
    flow: Flow, waiting: Waiting, node: Node, slot: int, count: int
) -> tuple[Waiting, Counts | None]:
    """Deliver `count` items to input `slot`; also returns the inputs if they are complete."""
    place = next((at for at, (index, _) in enumerate(waiting) if index == node.index), -1)
    entries = waiting[place][1] if place >= 0 else ()
    index, held = _open_entry(entries, slot, node.inputs)
    counts = (*held[:slot], count, *held[slot + 1 :])
    rest = tuple(entry for entry in entries if entry[0] != index)
    if 0 not in counts:
        return _replace_entries(flow, waiting, place, node, rest), counts
    kept = tuple(sorted((*rest, (index, counts))))
    return _replace_entries(flow, waiting, place, node, kept), None


def fire_partial(flow: Flow, waiting: Waiting) -> tuple[Waiting, Pending] | None:
    """The one node that n8n runs with incomplete inputs when its stack is empty; None if no node
    may run.

    The first one in order that is not blocked: by a waiting ancestor (two in one cycle block each
    other), or by a required input (Merge in mode `chooseBranch`).
    """
    names = 0
    for index, _ in waiting:
        names |= 1 << index
    for place, (index, entries) in enumerate(waiting):
        node = flow.nodes[index]
        if node.never_partial or node.ancestors & names:
            continue
        # n8n sorts the indexes as texts: 10 comes before 2.
        entry = min(entries, key=lambda candidate: str(candidate[0]))
        if node.requires_two and not (entry[1][0] and entry[1][1]):
            continue
        rest = tuple(other_entry for other_entry in entries if other_entry is not entry)
        return _replace_entries(flow, waiting, place, node, rest), (index, entry[1])
    return None


def _open_entry(entries: Entries, slot: int, inputs: int) -> tuple[int, Counts]:
    for index, counts in entries:
        if not counts[slot]:
            return index, counts
    return len(entries), (0,) * inputs


def _replace_entries(
    flow: Flow, waiting: Waiting, place: int, node: Node, entries: Entries
) -> Waiting:
    if place >= 0:
        changed = ((node.index, entries),) if entries else ()
        return waiting[:place] + changed + waiting[place + 1 :]
    if not entries:
        return waiting
    at = len(waiting)
    if node.numeric is not None:
        # JavaScript walks keys that look like array indexes first, in ascending order.
        at = 0
        while at < len(waiting):
            other = flow.nodes[waiting[at][0]].numeric
            if other is None or other > node.numeric:
                break
            at += 1
    return (*waiting[:at], (node.index, entries), *waiting[at:])
