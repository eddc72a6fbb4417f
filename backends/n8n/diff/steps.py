"""The possible joint behaviour of a node and its other version with the same data."""

from __future__ import annotations

from collections.abc import Iterator

from orgflow.backends.n8n.diff.decisions import Joint
from orgflow.backends.n8n.diff.side import Side, spread_items
from orgflow.backends.n8n.engine_model import (
    ANSWERED,
    FAILS,
    RUNS,
    Config,
    Counts,
    Emits,
    Opens,
    Outcome,
    Phase,
    Resumes,
)
from orgflow.backends.n8n.engine_model.choices import handed_on
from orgflow.backends.n8n.engine_model.config import trimmed_counts
from orgflow.backends.n8n.engine_model.flow import Node

from orgflow_ir.model.records import NamedTuple


class Both(NamedTuple):
    """One possible behaviour of both versions of a node, in words if there is a choice."""

    old: Outcome
    new: Outcome
    old_label: str = ""
    new_label: str = ""


class Moves(NamedTuple):
    """All of them; `cut`: some were omitted; `apart`: those that only one version can do."""

    both: tuple[Both, ...]
    cut: bool = False
    apart: str = ""


def joint_moves(
    old: Side,
    first: Config,
    new: Side,
    other: Config,
    joint: Joint | None,
    single: Joint | None,
    several: bool = False,
) -> Moves:
    """The possible behaviour of a node of both versions with the same items.

    Args:
        old: the old version, about to run the node in `one`.
        one: its configuration.
        new: the new version, in `other`.
        other: its configuration.
        joint: the decision that both make there.
        single: the decision of the version that alone makes one there, combined with itself.
        several: an unknown node may make two items of one.
    """
    phases = (old.phase(first), new.phase(other))
    if phases != (Phase.READY, Phase.READY):
        return _joint_resumptions(old, first, new, other)
    mine, its = old.node(first), new.node(other)
    assert mine is not None
    assert its is not None
    inputs = (old.inputs(first), new.inputs(other))
    failing = tuple(_joint_failures(mine, inputs[0], its, inputs[1]))
    if joint is not None:
        choices, cut = joint.joint_ways(inputs[0][0])
        both = tuple(
            Both(
                Emits(handed_on(mine, w.old)),
                Emits(handed_on(its, w.new)),
                w.old_label,
                w.new_label,
            )
            for w in choices
        )
        return Moves((*both, *failing), cut)
    kinds = (_wait_kind(mine), _wait_kind(its))
    if kinds == ("choice", "choice"):
        return Moves((*_unknown_outputs(mine, its, max(inputs[0]), several), *failing))
    if "choice" in kinds:
        return Moves((*_one_decides(mine, inputs[0], its, inputs[1], single), *failing))
    return Moves((Both(_plain_outcome(mine), _plain_outcome(its)), *failing))


def _wait_kind(node: Node) -> str:
    return "pass" if node.disabled else node.behaviour.kind


def _plain_outcome(node: Node) -> Outcome:
    """What a node does that has no choice; whether a wait sleeps or is stored is not looked at."""
    if _wait_kind(node) == "wait":
        return Opens(False)
    return RUNS


def _unknown_outputs(mine: Node, its: Node, items: int, several: bool) -> Iterator[Both]:
    """Nodes whose output depends on data that are not modelled hand on the same, whatever it is."""
    size = max(mine.behaviour.outputs or 1, its.behaviour.outputs or 1)
    for counts in spread_items(size, items, several):
        yield Both(Emits(counts), Emits(counts), *[_describe_outputs(counts, size)] * 2)


def _describe_outputs(counts: Counts, size: int) -> str:
    if not any(counts):
        return "no items"
    if size == 1 and counts[0] > 1:
        return f"{counts[0]} items"
    return "" if size == 1 else "output " + ", ".join(str(i) for i, n in enumerate(counts) if n)


def _one_decides(
    mine: Node, given: Counts, its: Node, its_given: Counts, single: Joint | None
) -> Iterator[Both]:
    """One version decides or is not known, the other only passes on (or the other way round). Of a
    step without branches the body is not looked at: it hands on what the other does."""
    decides_old = _wait_kind(mine) == "choice"
    node, inputs = (mine, given) if decides_old else (its, its_given)
    fixed = _plain_outcome(its if decides_old else mine)
    options: list[tuple[Outcome, str]] = []
    if single is not None:
        for way in single.joint_ways(inputs[0])[0]:
            options.append((Emits(handed_on(node, way.old)), way.old_label))
    elif (node.behaviour.outputs or 1) <= 1:
        options.append((Emits(handed_on(node, (inputs[0],))), ""))
    else:
        size = node.behaviour.outputs or 1
        options += [(Emits(c), _describe_outputs(c, size)) for c in spread_items(size, inputs[0])]
    for outcome, label in options:
        yield Both(outcome, fixed, label, "") if decides_old else Both(fixed, outcome, "", label)


def _joint_failures(mine: Node, given: Counts, its: Node, its_given: Counts) -> Iterator[Both]:
    """That the node fails, where either version then goes on."""
    if mine.on_error == its.on_error == "stop" or _wait_kind(mine) in ("trigger", "stop"):
        return
    if mine.disabled or its.disabled or not any(given) or _wait_kind(its) in ("trigger", "stop"):
        return
    pairs = [(_failed_outcome(mine, given), _failed_outcome(its, its_given)), (FAILS, FAILS)]
    for first, other in dict.fromkeys(pairs):
        yield Both(first, other, "fails", "fails")


def _failed_outcome(node: Node, inputs: Counts) -> Outcome:
    """By the error output go the items that the node marks as failed."""
    if node.on_error == "error":
        return Emits(handed_on(node, (0,), inputs[0]))
    return FAILS


def _joint_resumptions(old: Side, first: Config, new: Side, other: Config) -> Moves:
    mine, its = _list_resumptions(old, first), _list_resumptions(new, other)
    if len(mine) == len(its) == 1:
        return Moves((Both(mine[0], its[0]),))
    shared = [o for o in mine if o in its]
    both = tuple(Both(o, o, *[_describe_resumption(o)] * 2) for o in shared)
    only_old = [_describe_resumption(o) for o in mine if o not in its]
    only_new = [_describe_resumption(o) for o in its if o not in mine]
    apart = ""
    if only_old or only_new:
        which = "old" if only_old else "new"
        apart = f"it ends by {(only_old or only_new)[0]} only in the {which} workflow"
    return Moves(both, apart=apart)


def _list_resumptions(side: Side, config: Config) -> list[Outcome]:
    """How a wait may end. A time that passes and a limit that runs out are the same; where time is
    all a wait is for, how long it is makes no difference here."""
    node = side.node(config)
    assert node is not None
    outcomes: list[Outcome] = [ANSWERED] if node.behaviour.answered else []
    if node.behaviour.limited or not outcomes:
        outcomes.append(Resumes(None))
    return outcomes


def _describe_resumption(outcome: Outcome) -> str:
    return "an answer" if outcome == ANSWERED else "time running out"


def same_items(mine: Node, given: Counts, its: Node, its_given: Counts) -> bool:
    """Whether both receive the same number of items. The inputs of a Merge may differ: its output
    is compared at the next node."""
    if "merge" in (_wait_kind(mine), _wait_kind(its)):
        return True
    return trimmed_counts(given) == trimmed_counts(its_given)
