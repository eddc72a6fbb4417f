"""Mutants of emitted workflows: what people and accidents do to them, seeded and deterministic.

A mutator is *harmless* where what it does has no meaning on n8n or none in the model; whether a
mutant of another mutator behaves differently is for the real engine to say (`mutant_runs`).
"""

from __future__ import annotations

import copy
import random
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import mutant_edits as edits
import mutant_flow as flow
import mutant_people as people
from mutant_flow import Draft, Json, Mutate, canonical


@dataclass(frozen=True)
class Mutator:
    """One kind of change.

    Attributes:
        name: what it is called in reports.
        mutate: makes the change.
        harmless: `verify` has to prove its mutants, if the engine sees no difference either.
        fills: its nodes are a person's, whose items and fields only a condition can promise.
        conditions: it changes conditions, so that `changed` is the right verdict.
        unmodelled: `verify` may leave the judgement to people, and say so.
    """

    name: str
    mutate: Mutate
    harmless: bool = False
    fills: bool = False
    conditions: bool = False
    unmodelled: bool = False


@dataclass(frozen=True)
class Mutant:
    """A changed workflow.

    Attributes:
        mutator: the kind of change.
        seed: what it was drawn with.
        what: the change in words.
        workflow: the workflow after it.
        stands: nodes that are to count as another one of the original (renamed, copied), by name.
    """

    mutator: Mutator
    seed: str
    what: str
    workflow: Json
    stands: Mapping[str, str] = field(default_factory=dict)

    @property
    def off(self) -> frozenset[str]:
        """The nodes that are disabled."""
        return frozenset(n["name"] for n in self.workflow["nodes"] if n.get("disabled"))


MUTATORS: tuple[Mutator, ...] = (
    Mutator("edge target moved", flow.move_target),
    Mutator("edge source moved", flow.move_source),
    Mutator("edge input moved", flow.move_input),
    Mutator("edge dropped", flow.drop_edge),
    Mutator("edge added", flow.add_edge),
    Mutator("branches swapped", flow.swap_branches),
    Mutator("steps swapped", flow.swap_steps),
    Mutator("conditions swapped", edits.swap_conditions, conditions=True),
    Mutator("condition negated", edits.negate),
    Mutator("value changed", edits.change_value),
    Mutator("variable changed", edits.change_variable),
    Mutator("literal changed", edits.change_literal, conditions=True),
    Mutator("switch version 2", edits.second_switch),
    Mutator("old switch changed", edits.old_switch_value),
    Mutator("rule removed", edits.drop_rule),
    Mutator("fallback removed", edits.drop_fallback),
    Mutator("every rule tried", edits.all_matching),
    Mutator("merge mode changed", flow.merge_mode),
    Mutator("merge inputs changed", flow.merge_inputs),
    Mutator("node dropped, joined", flow.drop_joined),
    Mutator("node dropped, cut", flow.drop_cut),
    Mutator("node doubled beside", flow.double_parallel),
    Mutator("node doubled behind", flow.double_series),
    Mutator("node disabled", flow.disable),
    Mutator("step added beside", edits.add_step_beside),
    Mutator("always output data", people.always_output),
    Mutator("legacy order", people.legacy_order, unmodelled=True),
    Mutator("wait added", people.add_wait),
    Mutator("guard added", people.add_guard),
    Mutator("merge added", people.add_merge),
    Mutator("edge to no port", people.dangle),
    Mutator("error handling", people.error_handling),
    Mutator("condition rephrased", people.rephrase, conditions=True),
    Mutator("filter options", people.filter_options, conditions=True),
    Mutator("step added", edits.add_step, harmless=True),
    Mutator("node renamed", edits.rename, harmless=True),
    Mutator("all nodes renamed", edits.rename_all, harmless=True),
    Mutator("renamed, ids left", edits.rename_ids_left, harmless=True),
    Mutator("renamed, nothing left", edits.rename_nothing_left, harmless=True),
    Mutator("merge inputs swapped", edits.swap_inputs, harmless=True),
    Mutator("rules reordered", edits.reorder_rules, harmless=True),
    Mutator("switch version 1", edits.old_switch, harmless=True),
    Mutator("layout stretched", edits.stretch, harmless=True),
    Mutator("branch order changed", edits.reorder_branches, harmless=True),
    Mutator("new ids", edits.new_ids, harmless=True),
    Mutator("notes stripped", edits.strip_notes, harmless=True),
    Mutator("map stripped", edits.strip_map, harmless=True),
    Mutator("notes, map, ids stripped", edits.strip_all, harmless=True),
    Mutator("execute once", people.execute_once, harmless=True),
    Mutator("nodes shuffled", edits.shuffle, harmless=True),
    Mutator("step filled in", people.fill_in, harmless=True, fills=True),
    Mutator("all steps filled in", people.fill_in_all, harmless=True, fills=True),
    Mutator("real step added", people.add_real_step, harmless=True, fills=True),
    Mutator("trigger added", people.add_trigger, harmless=True),
    Mutator("trigger changed", people.change_trigger, harmless=True),
    Mutator("nulls written", people.nulls, harmless=True),
    Mutator("notes added", people.sticky_notes, harmless=True),
    Mutator("edited by a person", edits.edited, harmless=True),
)


def mutants(
    workflow: Mapping[str, Any],
    key: str,
    *,
    each: int = 1,
    seed: int = 1,
    only: Iterable[Mutator] = MUTATORS,
) -> Iterator[Mutant]:
    """Up to `each` mutants of `workflow` a mutator, none like the original or one before it.

    `key` names the workflow: with `seed` it decides what is drawn.
    """
    seen = {canonical(dict(workflow))}
    for mutator in only:
        made = 0
        for number in range(4 * each):
            if made == each:
                break
            drawn = f"{seed}/{key}/{mutator.name}/{number}"
            mutant = mutate(workflow, mutator, drawn)
            if mutant is None:
                continue
            text = canonical(mutant.workflow)
            if text not in seen:
                seen.add(text)
                made += 1
                yield mutant


def mutate(workflow: Mapping[str, Any], mutator: Mutator, seed: str) -> Mutant | None:
    """The mutant drawn with `seed`; `None` where the mutator finds nothing to change."""
    rng = random.Random(zlib.crc32(seed.encode()))
    draft = Draft(copy.deepcopy(dict(workflow)), rng)
    what = mutator.mutate(draft)
    if what is None:
        return None
    return Mutant(mutator, seed, what, draft.workflow, dict(draft.stands))
