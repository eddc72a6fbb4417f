"""Executions that share a table: the explorer finds what a naive referee finds."""

from __future__ import annotations

import contextlib
import itertools
import random
from functools import cache
from typing import Any

import pytest
from orgflow.backends.n8n.engine_model.exploration import Exploration, explore_worlds
from orgflow.backends.n8n.engine_model.explorer import Order
from orgflow.backends.n8n.engine_model.tables import make_table, row_fields
from orgflow.backends.n8n.engine_model.world import Message, World, make_item
from orgflow.backends.n8n.engine_model.world_model import WorldModel
from table_scripts import (
    COLUMNS,
    Field,
    Fields,
    Me,
    Operation,
    Script,
    TooManyOrders,
    all_outcomes,
    random_row,
    random_script,
    table_workflow,
)


def explored(
    scripts: list[Script],
    items: list[list[Fields]],
    rows: list[Fields],
    reuses_ids: bool = False,
    **options: Any,
) -> Exploration:
    """The worlds of workflows that all have begun, each with its items."""
    workflows = {str(number): table_workflow(script) for number, script in enumerate(scripts, 1)}
    model = WorldModel(workflows)
    world = model.initial(tables=[make_table("t", COLUMNS, rows, reuses_ids=reuses_ids)])
    for name, given in zip(workflows, items, strict=True):
        world = model.started(world, name, "T", tuple(make_item(one) for one in given))
    return explore_worlds(model, world, **options)


def tables_of(found: Exploration) -> set[tuple[Any, ...]]:
    """The final tables, in the form of the referee."""
    tables = [world.table("t") for world in found.final_worlds]
    return {
        (tuple(tuple(sorted(row_fields(one, row).items())) for row in one.rows), one.next_id)
        for one in tables
    }


Case = tuple[list[Script], list[list[Fields]], list[Fields], bool]


def random_case(seed: int) -> Case:
    """Two or three scripts, the items of each, the rows of the table, and the kind of database."""
    rnd = random.Random(seed)
    count, most = rnd.choice(((2, 3), (3, 2)))
    scripts = [random_script(rnd, most) for _ in range(count)]
    items = [[random_row(rnd) for _ in range(rnd.choice((1, 1, 1, 2)))] for _ in scripts]
    rows = [random_row(rnd) for _ in range(rnd.randint(0, 2))]
    return scripts, items, rows, seed % 2 == 0


COUNT = 60


@cache
def cases() -> list[tuple[Case, set[tuple[Any, ...]]]]:
    """Random cases with the final tables by the referee, without those of too many orders."""
    found: list[tuple[Case, set[tuple[Any, ...]]]] = []
    for seed in itertools.count():
        case = random_case(seed)
        with contextlib.suppress(TooManyOrders):
            found.append((case, {outcome[:2] for outcome in all_outcomes(*case)}))
        if len(found) == COUNT:
            return found
    raise AssertionError


@pytest.mark.parametrize("number", range(COUNT))
def test_every_interleaving_of_random_scripts(number: int) -> None:
    case, expected = cases()[number]
    found = explored(*case)
    assert found.is_complete, found.unknown
    assert tables_of(found) == expected
    reduced = explored(*case, reduce=True)
    assert tables_of(reduced) == expected
    assert len(reduced.worlds) < len(found.worlds)


def test_random_scripts_depend_on_the_order() -> None:
    """The test before would prove little if all orders gave one table."""
    assert sum(len(expected) > 1 for _, expected in cases()) > COUNT // 3


# -- the claim of WAITING.md -----------------------------------------------------------------------

ITEM = {"key": "a"}
OPEN_ROW = [{"key": "a", "state": "open", "run": ""}]
CLAIM = [
    Operation(
        "update",
        [("key", "eq", Field("key")), ("state", "eq", "open")],
        {"state": "running", "run": Me()},
    )
]
READ_THEN_WRITE = [
    Operation("get", [("key", "eq", Field("key")), ("state", "eq", "open")], limit=1),
    Operation("update", [("key", "eq", Field("key"))], {"state": "running", "run": Me()}),
]


def winning_worlds(scripts: list[Script]) -> tuple[set[int], set[tuple[bool, ...]]]:
    """The numbers of winners, which wait at the last node, in the worlds of the explorer; and who
    wins, by the referee."""
    items = [[dict(ITEM)] for _ in scripts]
    workflows = {str(n): table_workflow(script) for n, script in enumerate(scripts, 1)}
    for workflow in workflows.values():
        workflow["nodes"][-1] |= {"type": "n8n-nodes-base.wait", "typeVersion": 1.1}
        workflow["nodes"][-1]["parameters"] = {"resume": "webhook"}
    model = WorldModel(workflows)
    world = model.initial(tables=[make_table("t", COLUMNS, OPEN_ROW)])
    for name in workflows:
        world = model.started(world, name, "T", (make_item(ITEM),))
    found = explore_worlds(model, world)
    assert found.is_complete
    counts = {sum(e.state == "webhook" for e in final.executions) for final in found.final_worlds}
    return counts, {outcome[2] for outcome in all_outcomes(scripts, items, OPEN_ROW)}


@pytest.mark.parametrize("count", [2, 3])
def test_a_claim_has_one_winner(count: int) -> None:
    counts, who = winning_worlds([CLAIM] * count)
    assert counts == {1}
    assert {sum(won) for won in who} == {1}
    assert len(who) == count  # each of them can be the one


@pytest.mark.parametrize("count", [2, 3])
def test_reading_and_then_writing_has_several_winners(count: int) -> None:
    counts, who = winning_worlds([READ_THEN_WRITE] * count)
    assert counts == set(range(1, count + 1))
    assert {sum(won) for won in who} == counts


def test_a_way_shows_two_winners() -> None:
    found = explored([READ_THEN_WRITE] * 2, [[dict(ITEM)]] * 2, OPEN_ROW)

    def both_have_read(world: World) -> bool:
        return all(_next_node(world, place) == "N2" for place in (0, 1))

    way = found.way_to(both_have_read)
    assert way is not None
    assert sorted(type(move).__name__ for move in way) == ["Operate", "Operate", "Step", "Step"]


def _next_node(world: World, place: int) -> str:
    frames = world.executions[place].config.frames
    names = ("T", "N1", "N2", "End")
    return names[frames[-1].stack[-1][0]] if frames else ""


@pytest.mark.parametrize("order", ["breadth", "depth"])
def test_both_orders_find_the_same_worlds(order: Order) -> None:
    scripts, items = [READ_THEN_WRITE] * 3, [[dict(ITEM)]] * 3
    found = explored(scripts, items, OPEN_ROW, order=order)
    nearest = explored(scripts, items, OPEN_ROW)
    assert set(found.worlds) == set(nearest.worlds)
    assert set(found.final_worlds) == set(nearest.final_worlds)
    assert found.worlds == explored(scripts, items, OPEN_ROW, order=order).worlds


def test_a_bound_is_reported() -> None:
    found = explored([CLAIM] * 3, [[dict(ITEM)]] * 3, OPEN_ROW, most=10)
    assert (found.explorer.bounded, found.is_complete) == (True, False)
    assert found.explorer.looked_at == 10


def test_items_are_updated_one_by_one_and_inserted_at_once() -> None:
    """Between the updates of two items another execution may see one of them; never one of two
    inserted rows."""
    two = [{"key": "a"}, {"key": "b"}]
    close = [Operation("update", [("key", "eq", Field("key"))], {"state": "done"})]
    look = [Operation("get", [("state", "eq", "done")]), Operation("insert", values={"run": "s"})]
    rows = [{"key": "a", "state": "open"}, {"key": "b", "state": "open"}]
    seen = {len(rows_) for rows_, _ in tables_of(explored([close, look], [two, [{}]], rows))}
    assert seen == {2, 3, 4}
    add = [Operation("insert", values={"key": Field("key"), "state": "done"})]
    seen = {len(rows_) for rows_, _ in tables_of(explored([add, look], [two, [{}]], []))}
    assert seen == {2, 4}


# -- what is unknown -------------------------------------------------------------------------------


def test_an_unknown_value_ends_the_exploration_there() -> None:
    script = [Operation("update", [("key", "eq", Field("other"))], {"state": "done"})]
    found = explored([script], [[dict(ITEM)]], OPEN_ROW)
    assert list(found.unknown) == ["the value of `$json.other` is unknown"]
    assert not found.is_complete
    assert not found.finals


def test_a_message_starts_an_execution() -> None:
    model = WorldModel({"claim": table_workflow(CLAIM)})
    inbox = [Message("claim", "T", (make_item(ITEM),)) for _ in range(2)]
    start = model.initial(tables=[make_table("t", COLUMNS, OPEN_ROW)], inbox=inbox)
    found = explore_worlds(model, start)
    assert found.is_complete
    assert {len(world.executions) for world in found.final_worlds} == {2}
    assert {one.cells[2] for w in found.final_worlds for one in w.table("t").rows} == {"1", "2"}
