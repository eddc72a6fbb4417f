"""The effect of storing an execution on its stack.

After reading it from the database, the stack's entries of one node share one copy of it if they
were added in the same section of the run: between two storings. n8n resumes a node by marking that
copy as disabled, so the other entries pass their input on instead of waiting or calling.
"""

from __future__ import annotations

from collections.abc import Sequence

from orgflow.backends.n8n.engine_model.config import Frame, Pending
from orgflow.backends.n8n.engine_model.flow import Flow

Marks = tuple[tuple[int, ...], tuple[int, ...]]
"""`Frame.passing` and `Frame.cuts`."""


def stored_marks(flow: Flow, frame: Frame) -> Marks:
    """The marks of a frame that is stored while the node on top of its stack waits."""
    top = len(frame.stack) - 1
    index = frame.stack[top][0]
    since = max((cut for cut in frame.cuts if cut <= top), default=0)
    shared = {place for place in range(since, top) if frame.stack[place][0] == index}
    passing = tuple(sorted(shared.union(frame.passing)))
    cuts = (*(cut for cut in frame.cuts if cut < top), top)
    return passing, _that_matter(flow, frame.stack[:top], passing, cuts)


def lowered_marks(flow: Flow, frame: Frame, stack: Sequence[Pending]) -> Marks:
    """The marks of a frame of which only `stack` remains."""
    if not frame.passing and not frame.cuts:
        return (), ()
    size = len(stack)
    passing = tuple(place for place in frame.passing if place < size)
    cuts = tuple(cut for cut in frame.cuts if cut < size)
    if len(cuts) < len(frame.cuts):
        cuts = (*cuts, size)  # what comes now belongs to the stretch that has begun
    return passing, _that_matter(flow, stack, passing, cuts)


def _that_matter(
    flow: Flow, stack: Sequence[Pending], passing: tuple[int, ...], cuts: tuple[int, ...]
) -> tuple[int, ...]:
    """Without the cuts below which nothing can be stored again, so that loops come back."""
    lowest = next(
        (
            place
            for place, (index, _) in enumerate(stack)
            if place not in passing and flow.nodes[index].behaviour.kind in ("wait", "call")
        ),
        len(stack),
    )
    return tuple(cut for cut in cuts if cut > lowest)
