"""The product of two versions: both run in parallel, and every decision is taken together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orgflow.backends.n8n.diff.decisions import Joint
from orgflow.backends.n8n.diff.side import Side
from orgflow.backends.n8n.diff.steps import joint_moves, same_items
from orgflow.backends.n8n.engine_model import Config, Phase
from orgflow.backends.n8n.engine_model.explorer import Explorer

from orgflow_ir.targets.comparison import Behaviour, Row

LIMIT = 20_000
"""Maximum number of explored configurations."""
SEVERAL = 3_000
"""Maximum number of explored configurations if one item may become several."""
_AHEAD = 300
"""Maximum number of configurations explored to distinguish another order from another step."""

State = tuple[Config, Config]

_ENDS: Mapping[str, str] = {
    "success": "the run ends",
    "error": "the run ends in an error",
    "waiting": "the run waits indefinitely",
}


class _Different(Exception):
    """Found: what differs, and the rows after those that led to the state."""

    def __init__(self, reason: str, *rows: Row) -> None:
        super().__init__(reason)
        self.reason, self.rows = reason, rows


class Walk:
    """Both versions from every trigger, breadth first.

    Args:
        old: the old version.
        new: the new version.
        joints: decisions that both make, by key.
        singles: decisions that only one of them makes at a shared node, combined with themselves.
        limit: maximum number of explored configurations.
        several: unknown nodes may make two items of one.
        idle: keys of nodes without effect, which may be disabled without a difference.
    """

    def __init__(
        self,
        old: Side,
        new: Side,
        joints: Mapping[int, Joint],
        singles: Mapping[int, Joint],
        limit: int = LIMIT,
        several: bool = False,
        idle: frozenset[int] = frozenset(),
    ) -> None:
        self.old, self.new = old, new
        self.joints, self.singles, self.limit = joints, singles, limit
        self.several = several
        self.idle = idle
        self.explorer = Explorer[State, tuple[Row, ...]](limit)
        self.cut = ""

    def run(self, starts: Sequence[tuple[str, str]]) -> Behaviour:
        """Explore from pairs of triggers, each run separately."""
        for first, other in starts:
            self.explorer.start((self.old.start(first), self.new.start(other)))
        for state in self.explorer.pending():
            try:
                self._expand_state(state)
            except _Different as difference:
                before = (row for rows in self.explorer.way() for row in rows)
                looked_at = self.explorer.looked_at
                return Behaviour(
                    "different", looked_at, difference.reason, (*before, *difference.rows)
                )
        if self.explorer.bounded:
            self.cut = f"{self.limit} configurations were explored"
        if self.old.left_out or self.new.left_out:
            self.cut = self.cut or "a node has more possible outcomes than are explored"
        return Behaviour("bounded" if self.cut else "same", self.explorer.looked_at, self.cut)

    def _visit_pair(self, first: Config, other: Config, rows: tuple[Row, ...]) -> None:
        after = (first, other)
        if after in self.explorer:
            return
        if self.old.piles_up(first) or self.new.piles_up(other):
            self.cut = "items accumulate in it"
            return
        self.explorer.reach(after, rows)

    def _expand_state(self, state: State) -> None:
        first, other = self.old.settle(state[0]), self.new.settle(state[1])
        rows = (*(Row(n, "") for n in first.ran), *(Row("", n) for n in other.ran))
        if first.endless or other.endless:
            if first.endless is not other.endless:
                which = "old" if first.endless else "new"
                raise _Different(f"only the {which} run loops indefinitely", *rows)
            return
        a, b = first.config, other.config
        if self.old.piles_up(a) or self.new.piles_up(b):
            self.cut = "items accumulate in it"
            return
        for side, config in ((self.old, a), (self.new, b)):
            if side.sort(config) == "hidden":
                self._choose_hidden(side, a, b, rows)
                return
        if not self._check_ends(a, b, rows):
            return
        waits = [self.old.phase(a) is not Phase.READY, self.new.phase(b) is not Phase.READY]
        if waits[0] is not waits[1]:  # a step that waits now, or no longer
            if waits[0]:
                a = self.old.machine.step(a, self.old.hidden(a)[0])
            else:
                b = self.new.machine.step(b, self.new.hidden(b)[0])
            self._visit_pair(a, b, rows)
            return
        self._check_nodes(a, b, rows)
        self._move_both(a, b, rows)

    def _choose_hidden(self, side: Side, a: Config, b: Config, rows: tuple[Row, ...]) -> None:
        config = a if side is self.old else b
        node = side.node(config)
        assert node is not None
        if len(side.hidden(config)) == 1:
            self.cut = "a part that exists in only one of them runs for too long"
            return
        decision = side.decisions.get(node.name)
        for outcome in side.hidden(config):
            counts = tuple(getattr(outcome, "counts", ()))
            outputs = tuple(i for i, n in enumerate(counts) if n)
            text = _wire_text(node.name, decision.label(outputs) if decision is not None else "")
            after = side.machine.step(config, outcome)
            if side is self.old:
                self._visit_pair(after, b, (*rows, Row(text, "")))
            else:
                self._visit_pair(a, after, (*rows, Row("", text)))

    def _check_ends(self, a: Config, b: Config, rows: tuple[Row, ...]) -> bool:
        """False where both have ended as they should."""
        ended = (self.old.sort(a) == "ended", self.new.sort(b) == "ended")
        mine, its = self.old.node(a), self.new.node(b)
        if all(ended):
            if a.status != b.status:
                last = Row(_ENDS[a.status], _ENDS[b.status], False)
                raise _Different("the runs end differently", *rows, last)
            return False
        if ended[0] and its is not None:
            last = Row(_ENDS[a.status], its.name, False)
            raise _Different(f"`{its.name}` runs only in the new workflow", *rows, last)
        if ended[1] and mine is not None:
            last = Row(mine.name, _ENDS[b.status], False)
            raise _Different(f"`{mine.name}` runs only in the old workflow", *rows, last)
        return True

    def _check_nodes(self, a: Config, b: Config, rows: tuple[Row, ...]) -> None:
        mine, its = self.old.node(a), self.new.node(b)
        assert mine is not None
        assert its is not None
        key, other = self.old.key(a), self.new.key(b)
        if key != other:
            last = Row(mine.name, its.name, False)
            later = (_may_run(self.new, b, key), _may_run(self.old, a, other))
            if all(later):
                reason = f"`{mine.name}` and `{its.name}` run in a different order"
            elif later[0]:
                reason = f"the new workflow runs `{its.name}` here, but the old one does not"
            elif later[1]:
                reason = f"the old workflow runs `{mine.name}` here, but the new one does not"
            else:
                reason = f"the old workflow runs `{mine.name}` where the new one runs `{its.name}`"
            raise _Different(reason, *rows, last)
        given = (self.old.inputs(a), self.new.inputs(b))
        if mine.disabled is not its.disabled and key not in self.idle:
            how = "on" if mine.disabled else "off"
            old, new = (f"{n.name} (switched off)" if n.disabled else n.name for n in (mine, its))
            reason = f"`{its.name}` is switched {how} in the new workflow"
            if its.disabled:
                reason += ": it does no work and passes its input on"
            raise _Different(reason, *rows, Row(old, new, False))
        if self.old.phase(a) is Phase.READY and not same_items(mine, given[0], its, given[1]):
            old, new = (_describe_items(counts) for counts in given)
            last = Row(f"{mine.name} ({old})", f"{its.name} ({new})", False)
            reason = f"`{its.name}` receives {old} in the old workflow and {new} in the new one"
            raise _Different(reason, *rows, last)

    def _move_both(self, a: Config, b: Config, rows: tuple[Row, ...]) -> None:
        mine, its, key = self.old.node(a), self.new.node(b), self.old.key(a)
        assert mine is not None
        assert its is not None
        assert key is not None
        joint, single = self.joints.get(key), self.singles.get(key)
        moves = joint_moves(self.old, a, self.new, b, joint, single, self.several)
        if moves.apart:
            last = Row(mine.name, its.name, False)
            raise _Different(f"`{its.name}` waits differently: {moves.apart}", *rows, last)
        if moves.cut:
            self.cut = f"`{its.name}` has more possible outcomes than are explored"
        for both in moves.both:
            row = Row(_wire_text(mine.name, both.old_label), _wire_text(its.name, both.new_label))
            resumed = self.old.phase(a) is not Phase.READY
            shown = rows if resumed and not both.old_label else (*rows, row)
            self._visit_pair(
                self.old.machine.step(a, both.old),
                self.new.machine.step(b, both.new),
                shown,
            )


def _wire_text(name: str, label: str) -> str:
    return f"{name} → {label}" if label else name


def _describe_items(counts: Sequence[int]) -> str:
    total = sum(counts)
    return f"{total} item{'' if total == 1 else 's'}"


def _may_run(side: Side, config: Config, key: int | None) -> bool:
    """Whether a node may still run, as far as it is looked for."""
    explorer = Explorer[Config, None](_AHEAD)
    explorer.start(config)
    for config in explorer.pending():
        if len(explorer.states) >= _AHEAD:
            return False
        if side.key(config) == key:
            return True
        if side.sort(config) == "ended":
            continue
        for outcome in side.hidden(config):
            after = side.machine.step(config, outcome)
            if not side.piles_up(after):
                explorer.reach(after, None)
    return False
