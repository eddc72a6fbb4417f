"""States of the token game: plain nested tuples, canonical, so they hash and compare."""

from __future__ import annotations

from bisect import bisect_left

from orgflow_ir.model.records import NamedTuple, dataclass

Counts = tuple[tuple[int, int], ...]
"""A multiset as sorted (key, count) pairs with positive counts."""

FrameId = tuple[int, int]
"""(scope index, instance number), unique among live frames."""


class Frame(NamedTuple):
    """One running instance of a scope: a process, a sub-process, a loop around an activity.

    `root` is the number of the process instance it belongs to; `owner` is (parent scope, parent
    instance, node index of the activity that holds it), `None` for process instances. `tokens`
    counts places of the net; `memo` records past events that still matter (fired non-interrupting
    events, completed activities that can be compensated, signals that arrived).
    """

    scope: int
    key: int
    root: int
    owner: tuple[int, int, int] | None
    tokens: Counts = ()
    memo: Counts = ()


class Message(NamedTuple):
    """A pending message: message flow index, sending instance, receiving instance (-1 for any)."""

    flow: int
    sender: int
    receiver: int


class State(NamedTuple):
    """A state of the game. `talks` holds the pairs of correlated instances: (instance, scope index
    of the other process, instance of it). `ended` records how finished instances ended, unless they
    ran out of tokens: `terminated`, `error`, or the empty string."""

    frames: tuple[Frame, ...] = ()
    messages: tuple[Message, ...] = ()
    talks: tuple[tuple[int, int, int], ...] = ()
    ended: str = ""


@dataclass(frozen=True, order=True, slots=True)
class Left:
    """A remaining token: on a `flow`, in an `open` element, `pending` before an element without
    incoming flows, or a `message` that was not received; `element` is the id of that flow or
    element."""

    kind: str
    element: str
    count: int = 1
    instance: int = 0


def add_count(counts: Counts, key: int, number: int = 1) -> Counts:
    """`counts` with `number` added to `key` (may be negative; empty entries are removed)."""
    i = bisect_left(counts, (key,))
    if i < len(counts) and counts[i][0] == key:
        rest = counts[i][1] + number
        if rest < 0:
            raise ValueError("a token that does not exist was removed")
        return counts[:i] + (((key, rest),) if rest else ()) + counts[i + 1 :]
    if number < 0:
        raise ValueError("a token that does not exist was removed")
    return (*counts[:i], (key, number), *counts[i:]) if number else counts


def read_count(counts: Counts, key: int) -> int:
    """The count of `key`."""
    i = bisect_left(counts, (key,))
    return counts[i][1] if i < len(counts) and counts[i][0] == key else 0


class Draft:
    """A mutable state during one step; `freeze` returns the next state."""

    __slots__ = ("ended", "frames", "messages", "talks")

    def __init__(self, state: State) -> None:
        self.frames: dict[FrameId, Frame] = {(f.scope, f.key): f for f in state.frames}
        self.messages = state.messages
        self.talks = state.talks
        self.ended = state.ended

    def add(self, at: FrameId, place: int, number: int = 1) -> None:
        """Put tokens on a place, or remove them with a negative number."""
        scope, key, root, owner, tokens, memo = self.frames[at]
        self.frames[at] = Frame(scope, key, root, owner, add_count(tokens, place, number), memo)

    def remember(self, at: FrameId, key: int, number: int = 1) -> None:
        """Change a count in the frame's memo."""
        frame = self.frames[at]
        self.frames[at] = frame._replace(memo=add_count(frame.memo, key, number))

    def cap(self, at: FrameId, key: int, most: int) -> None:
        """Reduce a count of the memo to at most `most`."""
        frame = self.frames[at]
        excess = read_count(frame.memo, key) - most
        if excess > 0:
            self.frames[at] = frame._replace(memo=add_count(frame.memo, key, -excess))

    def children(self, at: FrameId, node: int = -1) -> list[FrameId]:
        """Frames held by an activity of this frame (by `node`, if given), in order."""
        scope, key = at
        return [
            i
            for i, f in sorted(self.frames.items())
            if f.owner is not None
            and f.owner[0] == scope
            and f.owner[1] == key
            and (node < 0 or f.owner[2] == node)
        ]

    def kill(self, at: FrameId) -> None:
        """Remove a frame and everything that runs inside it."""
        stack = [at]
        while stack:
            item = stack.pop()
            stack.extend(self.children(item))
            del self.frames[item]

    def clear(self, at: FrameId) -> None:
        """Remove every token from a frame, ending everything inside it; the frame stays."""
        for child in self.children(at):
            self.kill(child)
        self.frames[at] = self.frames[at]._replace(tokens=())

    def fresh(self) -> int:
        """The smallest unused instance number."""
        used = {f.key for f in self.frames.values()} | {f.root for f in self.frames.values()}
        for message in self.messages:
            used |= {message.sender, message.receiver}
        for first, _, other in self.talks:
            used |= {first, other}
        number = 0
        while number in used:
            number += 1
        return number

    def freeze(self) -> State:
        """The state, without process instances that have no tokens."""
        frames = self.frames
        ended = [i for i, f in frames.items() if f.owner is None and not f.tokens]
        for i in ended:
            del frames[i]
        if self.talks and ended:
            roots = {f.root for f in frames.values()}
            self.talks = tuple(t for t in self.talks if t[0] in roots)
        # The ids of frames come first in them and differ.
        ordered = tuple(sorted(frames.values()) if len(frames) > 1 else frames.values())
        return State(ordered, self.messages, self.talks, self.ended)
