"""Two versions of a decision combined: outputs are matched by condition, not by index."""

from __future__ import annotations

import itertools

from orgflow.backends.n8n.format.node_decisions import Decision, Rule

from orgflow_ir.model.records import NamedTuple

_ATOMS = 6
"""With more conditions than this, not every combination is tried if all matching branches are
taken."""
_WAYS = 64
"""With more distributions of items over branches than this, not all are tried."""


class ChangedCondition(NamedTuple):
    """A changed condition; `label` is the name of its branch."""

    label: str
    old: str
    new: str


class Way(NamedTuple):
    """One possible decision of the data: items on each output of either version, and in words."""

    old: tuple[int, ...]
    new: tuple[int, ...]
    old_label: str
    new_label: str


class Joint(NamedTuple):
    """Both versions of a decision over the same atoms.

    Attributes:
        old: the old version.
        new: the new one, with the atoms of the old one for changed conditions.
        changed: the changed conditions.
        is_assumed: whether some of them are assumed to decide as before; others are the same in
            other words.
    """

    old: Decision
    new: Decision
    changed: tuple[ChangedCondition, ...] = ()
    is_assumed: bool = False

    def joint_ways(self, items: int) -> tuple[tuple[Way, ...], bool]:
        """Every possible decision about this number of items, and whether some were omitted."""
        cases, cut = self._list_cases()
        outcomes: dict[Way, None] = {}
        spread = itertools.combinations_with_replacement(cases, items)
        for number, chosen in enumerate(spread):
            if number >= _WAYS * 4 or len(outcomes) >= _WAYS:
                return tuple(outcomes), True
            old = tuple(o for case in chosen for o in case[0])
            new = tuple(o for case in chosen for o in case[1])
            way = Way(
                _count_items(old),
                _count_items(new),
                self.old.label(tuple(dict.fromkeys(old))),
                self.new.label(tuple(dict.fromkeys(new))),
            )
            outcomes.setdefault(way)
        return tuple(outcomes), cut

    def _list_cases(self) -> tuple[list[tuple[tuple[int, ...], tuple[int, ...]]], bool]:
        """What one item may do: pairs of outputs taken, each once.

        Where both versions take the first rule that holds, two true atoms are enough to show every
        pair of rules that can be first together.
        """
        rules = (*self.old.rules, *self.new.rules)
        atoms = list(dict.fromkeys(rule.atom for rule in rules))
        says = {rule.atom: rule.exclusive for rule in reversed(rules)}
        every = self.old.every or self.new.every
        signed = any(not rule.holds for rule in rules)
        most = len(atoms) if (every or signed) and len(atoms) <= _ATOMS else min(2, len(atoms))
        sets = [frozenset(c) for n in range(most + 1) for c in itertools.combinations(atoms, n)]
        if (every or signed) and len(atoms) > _ATOMS:
            sets.append(frozenset(atoms))
        cases: dict[tuple[tuple[int, ...], tuple[int, ...]], None] = {}
        for true in sets:
            if not true and self.old.total and self.new.total:
                continue
            values: dict[str, str] = {}
            words = [says[atom] for atom in atoms if atom in true]
            if any(e is not None and values.setdefault(e[0], e[1]) != e[1] for e in words):
                continue
            cases.setdefault((self.old.taken(true), self.new.taken(true)))
        return list(cases), (every or signed) and len(atoms) > _ATOMS


def join_decisions(old: Decision, new: Decision) -> Joint:
    """Two versions over the same atoms. Conditions that only one of them has are paired by the
    names of their branches, then in order, and assumed to decide as before (`changed`)."""
    mine = {rule.atom for rule in old.rules}
    its = {rule.atom for rule in new.rules}
    left = [rule for rule in old.rules if rule.atom not in its]
    right = [rule for rule in new.rules if rule.atom not in mine]
    pairs: list[tuple[Rule, Rule]] = []
    for rule in left:
        named = [r for r in right if rule.label and r.label == rule.label]
        if len(named) == 1:
            pairs.append((rule, named[0]))
            right.remove(named[0])
    done = {id(rule) for rule, _ in pairs}
    pairs += zip([r for r in left if id(r) not in done], right, strict=False)
    # Two rules may be one atom with both signs: the first pair says which sign is which.
    as_old: dict[str, tuple[Rule, bool]] = {}
    for before, after in pairs:
        as_old.setdefault(after.atom, (before, before.holds is not after.holds))
    rules = tuple(
        r._replace(atom=o[0].atom, holds=r.holds is not o[1], exclusive=o[0].exclusive)
        if (o := as_old.get(r.atom)) is not None
        else r
        for r in new.rules
    )
    changed = tuple(
        ChangedCondition(o.label or n.label, o.words, n.words)
        for o, n in (*pairs, *_pair_reworded(old, new))
    )
    return Joint(old, new._replace(rules=rules), changed, bool(pairs))


def _pair_reworded(old: Decision, new: Decision) -> list[tuple[Rule, Rule]]:
    """Rules of both versions that are one atom in other words (negated, say); each rule once."""
    left = list(old.rules)
    right = []
    for rule in new.rules:
        same = [r for r in left if r.atom == rule.atom and r.words == rule.words]
        if same:
            left.remove(same[0])
        else:
            right.append(rule)
    pairs = []
    for rule in right:
        alike = [r for r in left if r.atom == rule.atom and r.words != rule.words]
        alike.sort(key=lambda r: (r.label != rule.label, r.holds is not rule.holds))
        if alike:
            pairs.append((alike[0], rule))
            left.remove(alike[0])
    return pairs


def _count_items(outputs: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(outputs.count(i) for i in range(max(outputs, default=-1) + 1))
