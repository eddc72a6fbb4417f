"""From variants of a log to a process tree, with a threshold below which behaviour is noise.

The inductive miner in its infrequent variant (Leemans, Fahland and van der Aalst 2014): at each
step the graph of activities that directly follow each other is filtered, cut, and the log is split
along the cut; what does not fit the cut is left out of the parts. The tree is sound, and each
activity is one leaf.

In contrast to `orgflow_ir.mining.inductive_miner`, which is for a few cases told in messages, an
activity that recurs is a loop, and numbers decide instead of rules of caution.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Final

from orgflow_ir.mining.inductive_miner import join_related
from orgflow_ir.mining.process_tree import (
    EMPTY,
    Choice,
    Leaf,
    Loop,
    Parallel,
    Tree,
    join_parts,
)
from orgflow_ir.model.records import NamedTuple

Variants = Mapping[tuple[int, ...], int]
"""The number of cases of each sequence of activities."""

Parts = list[frozenset[int]]

DEFAULT_NOISE: Final = 0.2
"""The share of the most frequent alternative below which an alternative is noise."""

LEAST_CASES: Final = 0.02
"""The share of cases below which an activity without a fixed neighbour is noise, with the default
threshold; in proportion with others."""

FIXED_SHARE: Final = 0.6
"""The share of the most frequent neighbour from which it is a fixed one."""

_NO_CASES: Final[frozenset[int]] = frozenset()


class FollowsGraph(NamedTuple):
    """How often activities directly follow each other.

    Attributes:
        activities: all, in the order of their first events.
        edges: the number of times that the second activity directly follows the first.
        starts, ends: the number of cases that begin and end with each activity.
    """

    activities: tuple[int, ...]
    edges: Mapping[tuple[int, int], int]
    starts: Mapping[int, int]
    ends: Mapping[int, int]

    def list_following(self) -> dict[int, set[int]]:
        """The activities that directly follow each one."""
        after: dict[int, set[int]] = {activity: set() for activity in self.activities}
        for first, second in self.edges:
            after[first].add(second)
        return after


def mine_variants(variants: Variants, noise: float = DEFAULT_NOISE) -> Tree:
    """The tree of a log.

    Args:
        variants: the number of cases of each sequence.
        noise: from 0, with which the tree allows every case, to 1.
    """
    return _Mining(noise).mine_log(_drop_stray_activities(variants, noise))


def _drop_stray_activities(variants: Variants, noise: float) -> Variants:
    """The sequences without rare activities that stand anywhere: what comes before and after a rare
    branch is nearly always the same."""
    total = sum(variants.values())
    present: Counter[int] = Counter()
    before: dict[int, Counter[int]] = {}
    after: dict[int, Counter[int]] = {}
    for variant, number in variants.items():
        for activity in set(variant):
            present[activity] += number
        padded = (-1, *variant, -1)
        for place, activity in enumerate(variant, 1):
            before.setdefault(activity, Counter())[padded[place - 1]] += number
            after.setdefault(activity, Counter())[padded[place + 1]] += number
    least = LEAST_CASES * noise / DEFAULT_NOISE * total
    stray = {
        activity for activity, number in present.items()
        if number < least
        and min(_most_share(before[activity]), _most_share(after[activity])) < FIXED_SHARE
    }  # fmt: skip
    if not stray:
        return variants
    kept: Counter[tuple[int, ...]] = Counter()
    for variant, number in variants.items():
        kept[tuple(a for a in variant if a not in stray)] += number
    return kept


def _most_share(counts: Counter[int]) -> float:
    return max(counts.values()) / counts.total()


def build_follows_graph(variants: Variants) -> FollowsGraph:
    """The graph of sequences, none of them empty."""
    edges: Counter[tuple[int, int]] = Counter()
    starts: Counter[int] = Counter()
    ends: Counter[int] = Counter()
    seen: dict[int, None] = {}
    for variant, number in variants.items():
        starts[variant[0]] += number
        ends[variant[-1]] += number
        last = -1
        for activity in variant:
            if last >= 0:
                edges[last, activity] += number
            else:
                seen.setdefault(activity)
            last = activity
        for activity in variant:
            seen.setdefault(activity)
    return FollowsGraph(tuple(seen), edges, starts, ends)


def filter_graph(graph: FollowsGraph, noise: float) -> FollowsGraph:
    """The graph without the edges that are rare among those that leave the same activity, where the
    end of a case counts as one."""
    most: Counter[int] = Counter(graph.ends)
    for (first, _), number in graph.edges.items():
        most[first] = max(most[first], number)
    least_start = noise * max(graph.starts.values())
    least_end = noise * max(graph.ends.values())
    return FollowsGraph(
        graph.activities,
        {edge: number for edge, number in graph.edges.items() if number >= noise * most[edge[0]]},
        {a: number for a, number in graph.starts.items() if number >= least_start},
        {a: number for a, number in graph.ends.items() if number >= least_end},
    )


class _Mining:
    """Mines logs with one threshold."""

    def __init__(self, noise: float) -> None:
        self.noise = noise

    def mine_log(self, variants: Variants) -> Tree:
        """The tree of a part of the log."""
        total = sum(variants.values())
        empty = variants.get((), 0)
        # 1. cases without events here: an option, or noise
        if empty == total or (total - empty) < self.noise / 10 * total:
            return EMPTY
        if empty:
            rest = {variant: number for variant, number in variants.items() if variant}
            tree = self.mine_log(rest)
            return tree if empty < self.noise / 2 * total else make_optional(tree)
        # 2. one activity, which may recur
        graph = build_follows_graph(variants)
        if len(graph.activities) == 1:
            (activity,) = graph.activities
            repeated = sum(number for variant, number in variants.items() if len(variant) > 1)
            leaf = Leaf(activity)
            return Loop(leaf, EMPTY) if repeated > self.noise / 2 * total else leaf
        # 3. the first cut of the filtered graph, then of the whole one
        for own in dict.fromkeys((self.noise, 0.0)):
            filtered = filter_graph(graph, own) if own else graph
            for cut in (
                self._cut_choice, self._cut_sequence, self._cut_sure_loop, self._cut_parallel,
                self._cut_loop, self._cut_restarts,
            ):  # fmt: skip
                parted = cut(variants, filtered)
                if parted is not None:
                    return parted
        # 4. no cut
        return self._fall_through(variants, graph)

    # -- choice --------------------------------------------------------------------------------

    def _cut_choice(self, variants: Variants, graph: FollowsGraph) -> Tree | None:
        """Parts of which each case has one. A case with several is of the one with most events."""
        after = graph.list_following()
        parts = join_related(graph.activities, lambda a, b: b in after[a] or a in after[b])
        if len(parts) < 2:
            return None
        owner = {activity: n for n, part in enumerate(parts) for activity in part}
        logs: list[Counter[tuple[int, ...]]] = [Counter() for _ in parts]
        for variant, number in variants.items():
            counts = Counter(owner[activity] for activity in variant)
            (most, _), *_ = counts.most_common(1)
            logs[most][tuple(a for a in variant if owner[a] == most)] += number
        options: list[Tree] = []
        total = sum(variants.values())
        for log in logs:
            if sum(log.values()) > self.noise / 10 * total:
                tree = self.mine_log(log)
                options += tree.options if isinstance(tree, Choice) else (tree,)
        return make_choice(options)

    # -- sequence ------------------------------------------------------------------------------

    def _cut_sequence(self, variants: Variants, graph: FollowsGraph) -> Tree | None:
        """Parts of which each is reached from all before it, and from none after it."""
        reached = collect_reached(graph)
        parts = join_related(graph.activities, lambda a, b: (b in reached[a]) == (a in reached[b]))
        if len(parts) < 2:
            return None
        # all activities of two parts are ordered in one way: the number reached is the order
        parts.sort(key=lambda part: -len(reached[next(iter(part))] - part))
        parts = self._join_optional_parts(parts, variants)
        if len(parts) < 2:
            return None
        logs = split_sequence(variants, parts)
        return join_parts(tuple(self.mine_log(log) for log in logs))

    def _join_optional_parts(self, parts: Parts, variants: Variants) -> Parts:
        """Parts of which some occur only in cases that have another one, as one part each: what is
        mined of it is `a (b (c | -) | -)`, not `a (b | -) (c | -)`."""
        total = sum(variants.values())
        present: Counter[int] = Counter()
        without: Counter[tuple[int, int]] = Counter()
        for variant, number in variants.items():
            own = set(variant)
            has = [not part.isdisjoint(own) for part in parts]
            inside = [n for n, flag in enumerate(has) if flag]
            outside = [n for n, flag in enumerate(has) if not flag]
            for n in inside:
                present[n] += number
                for other in outside:
                    without[n, other] += number
        slack = self.noise / 4
        optional = [n for n in range(len(parts)) if total - present[n] > slack * total]

        def implies(n: int, head: int) -> bool:
            return without[n, head] <= slack * present[n]

        # heads first that most cases have; each takes its neighbours that imply it
        taken: set[int] = set()
        joined: list[tuple[int, int]] = []
        for head in sorted(optional, key=lambda n: -present[n]):
            first = last = head
            while first > 0 and first - 1 not in taken and implies(first - 1, head):
                first -= 1
            while last + 1 < len(parts) and last + 1 not in taken and implies(last + 1, head):
                last += 1
            if head not in taken and 1 < last - first + 1 < len(parts):
                joined.append((first, last))
                taken.update(range(first, last + 1))
        singles = [(n, n) for n in range(len(parts)) if n not in taken]
        return [
            frozenset[int]().union(*parts[first : last + 1])
            for first, last in sorted((*joined, *singles))
        ]

    # -- parallel ------------------------------------------------------------------------------

    def _cut_parallel(self, variants: Variants, graph: FollowsGraph) -> Tree | None:
        """Parts whose activities all follow each other in both orders."""
        edges = graph.edges
        parts = join_related(
            graph.activities, lambda a, b: not ((a, b) in edges and (b, a) in edges)
        )
        if len(parts) < 2:
            return None
        # a part in which no case begins or ends is within another one
        whole = [p for p in parts if p & graph.starts.keys() and p & graph.ends.keys()]
        rest = [part for part in parts if part not in whole]
        if len(whole) < 2:
            return None
        whole[0] = whole[0].union(*rest)
        return Parallel(tuple(self.mine_log(project_variants(variants, part)) for part in whole))

    # -- loop ----------------------------------------------------------------------------------

    def _cut_loop(self, variants: Variants, graph: FollowsGraph) -> Tree | None:
        """A body in which every case begins and ends, and what is done before it is repeated."""
        body = find_loop_body(graph)
        if body is None:
            return None
        bodies: Counter[tuple[int, ...]] = Counter()
        repeats: Counter[tuple[int, ...]] = Counter()
        for variant, number in variants.items():
            pieces = cut_pieces(variant, body)
            for place, piece in enumerate(pieces):
                (repeats if place % 2 else bodies)[piece] += number
        return Loop(self.mine_log(bodies), self._mine_repetition(repeats))

    def _cut_sure_loop(self, variants: Variants, graph: FollowsGraph) -> Tree | None:
        """A loop in which each pass of the body is a whole one: it has all activities of which
        nearly all cases with one pass have some. `(a & b) * e` is one, `(a * e) & b` is none,
        although the same activities follow each other in both."""
        body = find_loop_body(graph)
        if body is None:
            return None
        single: Counter[int] = Counter()
        singles = 0
        passes: list[tuple[frozenset[int], int]] = []
        for variant, number in variants.items():
            pieces = cut_pieces(variant, body)[::2]
            if len(pieces) > 1:
                passes += [(frozenset(piece), number) for piece in pieces]
            else:
                singles += number
                for activity in set(variant):
                    single[activity] += number
        slack = self.noise / 2
        always = {a for a, number in single.items() if number >= (1 - slack) * singles}
        total = sum(number for _, number in passes)
        whole = sum(number for own, number in passes if own and always <= own)
        return self._cut_loop(variants, graph) if whole >= (1 - slack) * total > 0 else None

    def _mine_repetition(self, repeats: Variants) -> Tree:
        """What is done before a body is repeated; nothing where bodies follow each other."""
        return self.mine_log(repeats) if repeats else EMPTY

    def _cut_restarts(self, variants: Variants, graph: FollowsGraph) -> Tree | None:
        """A loop whose repetition does nothing: cases are cut where an end is followed by a start.
        None where a case has an activity of which nearly all cases have one."""
        total = sum(variants.values())
        slack = self.noise / 2 * total
        for activity in graph.activities:
            if sum(n for v, n in variants.items() if v.count(activity) != 1) <= slack:
                return None
        pieces: Counter[tuple[int, ...]] = Counter()
        repeated = 0
        for variant, number in variants.items():
            begin = 0
            for place in range(1, len(variant)):
                if variant[place] in graph.starts and variant[place - 1] in graph.ends:
                    pieces[variant[begin:place]] += number
                    begin = place
            repeated += number if begin else 0
            pieces[variant[begin:]] += number
        return Loop(self.mine_log(pieces), EMPTY) if repeated > slack else None

    # -- without a cut -------------------------------------------------------------------------

    def _fall_through(self, variants: Variants, graph: FollowsGraph) -> Tree:
        """The most exact of the trees that allow every case where no cut fits."""
        # 1. an activity that every case has once is parallel to the rest
        total = sum(variants.values())
        for activity in graph.activities:
            once = sum(n for variant, n in variants.items() if variant.count(activity) == 1)
            if once >= (1 - self.noise / 2) * total:
                return self._split_activity(variants, activity)
        # 2. an activity without which there is a cut
        for activity in graph.activities:
            rest = project_variants(variants, frozenset(graph.activities) - {activity})
            rest = {variant: number for variant, number in rest.items() if variant}
            if rest and self._has_cut(rest):
                return self._split_activity(variants, activity)
        # 3. anything, in any order
        leaves: list[Tree] = [Leaf(activity) for activity in graph.activities]
        return Loop(make_choice(leaves), EMPTY)

    def _split_activity(self, variants: Variants, activity: int) -> Tree:
        own = frozenset((activity,))
        others = frozenset(a for variant in variants for a in variant) - own
        return Parallel(
            tuple(self.mine_log(project_variants(variants, part)) for part in (own, others))
        )

    def _has_cut(self, variants: Variants) -> bool:
        graph = filter_graph(build_follows_graph(variants), self.noise)
        after, reached = graph.list_following(), collect_reached(graph)
        relations: tuple[Callable[[int, int], bool], ...] = (
            lambda a, b: b in after[a] or a in after[b],
            lambda a, b: (b in reached[a]) == (a in reached[b]),
            lambda a, b: not (b in after[a] and a in after[b]),
        )
        many = any(len(join_related(graph.activities, relation)) > 1 for relation in relations)
        return many or find_loop_body(graph) is not None


def make_optional(tree: Tree) -> Tree:
    """A tree that may do nothing."""
    if tree == EMPTY or (isinstance(tree, Choice) and EMPTY in tree.options):
        return tree
    own = tree.options if isinstance(tree, Choice) else (tree,)
    return make_choice([*own, EMPTY])


def make_choice(options: Iterable[Tree]) -> Tree:
    """One of several ways, of which one at most is empty; a single way is itself."""
    kept = list(dict.fromkeys(options))
    if EMPTY in kept:
        kept.remove(EMPTY)
        kept.append(EMPTY)
    return kept[0] if len(kept) == 1 else Choice(tuple(kept), (_NO_CASES,) * len(kept))


def collect_reached(graph: FollowsGraph) -> dict[int, frozenset[int]]:
    """The activities that each one reaches over one edge or more."""
    after = graph.list_following()
    reached: dict[int, frozenset[int]] = {}
    for activity in graph.activities:
        known: set[int] = set()
        todo = list(after[activity])
        while todo:
            following = todo.pop()
            if following not in known:
                known.add(following)
                todo.extend(after[following])
        reached[activity] = frozenset(known)
    return reached


def find_loop_body(graph: FollowsGraph) -> frozenset[int] | None:
    """The activities of the body of a loop, `None` if the graph is no loop: the others are entered
    from ends of the body only, and left to its starts only."""
    after = graph.list_following()
    outer = graph.starts.keys() | graph.ends.keys()
    inner = [activity for activity in graph.activities if activity not in outer]
    body = set(outer)
    again: Parts = []
    for part in join_related(inner, lambda a, b: b in after[a] or a in after[b]):
        entered = {a for a in outer for b in part if b in after[a]}
        left = {b for a in part for b in after[a]} - part
        if entered and left and entered <= graph.ends.keys() and left <= graph.starts.keys():
            again.append(part)
        else:
            body |= part
    return frozenset(body) if again else None


def cut_pieces(variant: tuple[int, ...], body: frozenset[int]) -> list[tuple[int, ...]]:
    """The pieces of a sequence, in turn of the body of a loop and of its repetition; the first and
    the last are of the body, and may be empty."""
    pieces: list[tuple[int, ...]] = []
    begin = 0
    for place in range(len(variant) + 1):
        in_body = len(pieces) % 2 == 0
        if place == len(variant) or (variant[place] in body) != in_body:
            pieces.append(variant[begin:place])
            begin = place
    if len(pieces) % 2 == 0:
        pieces.append(())
    return pieces


def project_variants(variants: Variants, part: frozenset[int]) -> Variants:
    """The sequences of the activities of a part; some may be empty."""
    projected: Counter[tuple[int, ...]] = Counter()
    for variant, number in variants.items():
        projected[tuple([a for a in variant if a in part])] += number
    return projected


def split_sequence(variants: Variants, parts: Parts) -> list[Counter[tuple[int, ...]]]:
    """The sequences of each part. Where a case is not in the order of the parts, it is cut so that
    the fewest events are in the stretch of another part; those are left out."""
    owner = {activity: n for n, part in enumerate(parts) for activity in part}
    logs: list[Counter[tuple[int, ...]]] = [Counter() for _ in parts]
    for variant, number in variants.items():
        owners = [owner[activity] for activity in variant]
        if any(a > b for a, b in pairwise(owners)):
            owners = _assign_stretches(owners, len(parts))
        pieces: list[list[int]] = [[] for _ in parts]
        for activity, place in zip(variant, owners, strict=True):
            if owner[activity] == place:
                pieces[place].append(activity)
        for log, piece in zip(logs, pieces, strict=True):
            log[tuple(piece)] += number
    return logs


def _assign_stretches(owners: list[int], count: int) -> list[int]:
    """The ascending sequence of parts that agrees with most of the given ones."""
    # best[n]: most agreements with the last event in part n; from_[e][n]: the part before it
    best = [0] * count
    origins: list[list[int]] = []
    for own in owners:
        row, origin = [0] * count, [0] * count
        top = 0
        for n in range(count):
            if best[n] > best[top]:
                top = n
            row[n], origin[n] = best[top] + (own == n), top
        best = row
        origins.append(origin)
    place = max(range(count), key=best.__getitem__)
    assigned: list[int] = []
    for origin in reversed(origins):
        assigned.append(place)
        place = origin[place]
    return assigned[::-1]
