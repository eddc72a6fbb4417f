"""The model of rows: equal to the modelled table of the server, sound in random schedules, and
every mutation of it is found."""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from orgflow.backends.n8n.engine_model.tables import (
    CellTest,
    TableOperation,
    apply_operation,
    make_table,
    row_fields,
)
from orgflow.backends.n8n.waiting import row_model
from orgflow.backends.n8n.waiting.row_model import RowWorld, TooManyChangesError
from orgflow.backends.n8n.waiting.rows import MOST_ATTEMPTS
from waiting_explorer import (
    Schedule,
    ScheduleError,
    explore_schedules,
    finish_steps,
    play_stalled_join,
)

SOURCE = Path(row_model.__file__)
SCHEDULES = 2_000
MOST_SECONDS = 20.0
TRIES = 2_500
"""Schedules in which a mutation has to be found."""


def test_schedules_keep_the_invariants() -> None:
    begun = time.process_time()
    assert explore_schedules(0, SCHEDULES) == SCHEDULES
    assert time.process_time() - begun < MOST_SECONDS


def test_a_stalled_join_leaves_the_next_pass_alone() -> None:
    play_stalled_join()


def test_a_path_that_ends_late_does_not_overwrite_a_later_value() -> None:
    """A path sets a variable, and its execution crashes after the commit. Another path sets the
    variable before the sweep ends the first one."""
    world = RowWorld()
    started = finish_steps(row_model.start_instance(world, "p", "start", {"x": 0}))
    tasks = [{"kind": "task", "element": name} for name in ("A", "B")]
    finish_steps(row_model.complete_steps(world, started["token"], tasks))
    first, other = (row["key"] for row in world.rows if row["kind"] == "task")
    claimed = finish_steps(row_model.claim_row(world, first, "e1"))
    steps = row_model.complete_steps(world, claimed["token"], [], {"x": 1}, end=True)
    while world.read(first)["state"] == "running":
        next(steps)
    world.now += 1_000
    claimed = finish_steps(row_model.claim_row(world, other, "e2"))
    following = [{"kind": "task", "element": "C"}]
    finish_steps(row_model.complete_steps(world, claimed["token"], following, {"x": 2}))
    world.now += row_model.LEASE
    finish_steps(row_model.sweep_rows(world))
    assert world.read(first)["state"] == "done"
    (last,) = (row["key"] for row in world.rows if row["element"] == "C")
    assert finish_steps(row_model.claim_row(world, last, "e3"))["variables"] == {"x": 2}


def test_staged_rows_of_steps_that_failed_are_deleted() -> None:
    """The steps crash before each commit. Their rows would keep others from the sweep, which looks
    at a limited number of staged rows."""
    world = RowWorld()
    started = finish_steps(row_model.start_instance(world, "p", "start", {}))
    tasks = [{"kind": "task", "element": f"T{number}"} for number in range(60)]

    def crash_before_commit(world: RowWorld, token: Any, claimed: Any) -> Any:
        steps = row_model.complete_steps(world, token, tasks)
        while not any(row["execution"] == token.execution for row in world.select(state="staged")):
            yield next(steps)

    world.processes["p"] = crash_before_commit
    [*crash_before_commit(world, started["token"], None)]
    for _ in range(MOST_ATTEMPTS + 4):
        world.now += row_model.LEASE * 2**MOST_ATTEMPTS
        finish_steps(row_model.sweep_rows(world))
    assert world.reports == [started["token"].key]
    assert not world.select(state="staged")


def test_schedules_reach_what_they_are_about() -> None:
    """Crashes, take-overs, races and repeated calls happen, or the test above says little."""
    takeovers = crashes = late = dropped = joins = 0
    for seed in range(200):
        schedule = Schedule(seed)
        schedule.play()
        rows = schedule.world.rows
        takeovers += sum(row["attempts"] > 0 for row in rows)
        crashes += schedule.crashes
        late += sum(row["state"] == "cancelled" for row in rows)
        dropped += sum(row["state"] == "dropped" for row in rows)
        joins += sum(bool(row["joined_to"]) for row in rows)
    assert min(takeovers, crashes, late, dropped, joins) > 50


def test_the_table_equals_the_modelled_server() -> None:
    rnd = random.Random(7)
    columns = ("key", "state", "execution")
    for _ in range(200):
        world = RowWorld()
        table = make_table("t", columns)
        for number in range(rnd.randint(1, 8)):
            row = {"key": f"k{number % 5}", "state": rnd.choice("ab"), "execution": ""}
            world.insert([row], world.take_numbers(1))
            table = apply_operation(
                table, TableOperation("insert", values=(tuple(row.items()),))
            ).table
        for _ in range(4):
            name, value = rnd.choice((("key", "k1"), ("state", "a"), ("execution", "e1")))
            test = (CellTest(name, "eq", value),)
            kind = rnd.choice(("get", "update", "delete"))
            if kind == "get":
                limit = rnd.randint(1, 3)
                wanted = apply_operation(table, TableOperation("get", test, limit=limit))
                chosen = world.select(limit, **{name: value})
                assert [row["id"] for row in chosen] == [row.id for row in wanted.rows]
            elif kind == "update":
                values = (("execution", f"e{rnd.randint(1, 2)}"),)
                wanted = apply_operation(table, TableOperation("update", test, values=(values,)))
                changed = world.update("claim", dict(values), **{name: value})
                assert [row["id"] for row in changed] == [row.id for row in wanted.rows]
                table = wanted.table
            else:
                table = apply_operation(table, TableOperation("delete", test)).table
                world.delete(**{name: value})
            listed = [{name: row[name] for name in ("id", *columns)} for row in world.rows]
            assert listed == [row_fields(table, row) for row in table.rows]


def test_folded_variables_are_those_of_single_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Schedules in which every reading folds, with a crash at any step of a fold."""
    monkeypatch.setattr(row_model, "FOLD_AT", 2)
    monkeypatch.setattr(row_model, "FOLD_LEAST", 1)
    folded = 0
    for seed in range(400):
        schedule = Schedule(seed)
        schedule.play()
        folded += sum(row["kind"] == "snapshot" for row in schedule.world.rows)
    assert folded > 100


def test_changes_that_cannot_be_read_at_once_end_the_execution(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(row_model, "MOST_CHANGES", 3)
    world = RowWorld()
    started = finish_steps(row_model.start_instance(world, "p", "start", {"x": 0}))
    task = [{"kind": "task", "element": "A"}]
    finish_steps(row_model.complete_steps(world, started["token"], task, {"x": 1}))
    for number in (2, 3):
        (key,) = (row["key"] for row in world.select(kind="task", state="open"))
        claimed = finish_steps(row_model.claim_row(world, key, f"e{number}"))
        finish_steps(row_model.complete_steps(world, claimed["token"], task, {"x": number}))
    (key,) = (row["key"] for row in world.select(kind="task", state="open"))
    steps = row_model.claim_row(world, key, "e4")
    with pytest.raises(TooManyChangesError):
        finish_steps(steps)
    assert world.read(key)["state"] == "running"


def test_undecidable_staged_rows_keep_no_other_from_its_turn() -> None:
    """More staged rows than a sweep reads, of steps that are still at work, before one that was
    committed and not opened."""
    world = RowWorld()
    started = finish_steps(row_model.start_instance(world, "p", "start", {}))
    slow = {"kind": "task", "element": "S", "instance": started["token"].instance, "scope": "",
            "state": "staged", "execution": "e1", "variables": {}, "workflow": "p",
            "created_by": started["token"].key}  # fmt: skip
    world.insert([{**slow, "key": f"s{n}"} for n in range(120)], world.take_numbers(120))
    other = finish_steps(row_model.start_instance(world, "p", "start", {}))
    steps = row_model.complete_steps(world, other["token"], [{"kind": "task", "element": "A"}])
    while world.read(other["token"].key)["state"] == "running":
        next(steps)
    for _ in range(6):
        world.now += 10_000
        finish_steps(row_model.sweep_rows(world))
    assert [row["state"] for row in world.select(element="A")] == ["open"]


MUTATIONS: dict[str, tuple[str, str]] = {
    "claim without a test of the state": (
        '        state="running" if takeover else "open",\n        execution=takeover,\n',
        "",
    ),
    "commit without a test of the execution": (
        "        key=token.key,\n        execution=token.execution,\n",
        "        key=token.key,\n",
    ),
    "commit without a test of the state": (
        "        execution=token.execution,\n        "
        'state="running",\n    )  # fmt: skip\n    mine',
        "        execution=token.execution,\n    )  # fmt: skip\n    mine",
    ),
    "rows are opened without a commit": ("    if not committed:\n", "    if False:\n"),
    "rows are inserted open": (
        '            "state": "staged", "execution": token.execution, "created_by": token.key,',
        '            "state": "open", "execution": "", "created_by": token.key,',
    ),
    "staged rows are dropped unless the creator is done": (
        'creator["state"] in ("cancelled", "dropped", "failed")',
        'creator["state"] not in ("done", "ending")',
    ),
    "staged rows of interrupted steps stay": (
        "        for own in reserved:\n            yield from _sweep_staged(world, own)\n",
        "",
    ),
    "staged rows are opened whoever committed": (
        'creator["state"] in ("done", "ending") and same_execution',
        'creator["state"] in ("done", "ending")',
    ),
    "a claimed scope cancels nothing": ('    elif row["kind"] == "scope":\n', "    elif False:\n"),
    "a claimed task leaves its events": ('    elif row["hosts_events"]:\n', "    elif False:\n"),
    "an event beside a closed task counts": (
        'if host and host["state"] == "open":',
        "if host:",
    ),
    "a late event does not end its path": (
        '            "state": "ending", "variables": {}, "ends_scope"',
        '            "state": "done", "variables": {}, "ends_scope"',
    ),
    "a late event keeps its message": (
        'if kind == "receiver" and row["interrupting"] == "no":',
        "if False:",
    ),
    "a join fires one branch early": (
        'if len({row["branch"] for row in arrived}) < max(1, needed):',
        'if len({row["branch"] for row in arrived}) < max(1, needed - 1):',
    ),
    "a join counts rows, not branches": (
        '        key=arrived[0]["key"],\n        state="open",\n',
        '        key=arrived[0]["key"],\n',
    ),
    "a join leaves its branches": (
        '    yield from _consume_branches(world, claimed[0], "join")\n',
        "",
    ),
    "a join that is taken over leaves its branches": (
        '        yield from _consume_branches(world, row, "claim")\n',
        "        pass\n",
    ),
    "a join consumes branches of the next pass": (
        'state="open", id=lambda number: number <= lead["joined_to"],',
        'state="open",',
    ),
    "a scope ends beside open rows": ("        if left:\n", "        if False:\n"),
    "an interrupted end is forgotten": (
        '"state": "ending" if ends else "done", "variables"',
        '"state": "done", "variables"',
    ),
    "a path ends at the moment of the sweep": (
        'cells: Row = {"state": "done", "check_at": NEVER}',
        'cells: Row = closed_cells(world, "done")',
    ),
    "a start is admitted whoever was first": ("        if earlier:\n", "        if False:\n"),
    "a start does not drop later ones": (
        'id=lambda number: number > own["id"],',
        "id=lambda number: number > 10**9,",
    ),
    "a start yields only to admitted ones": (
        '(row["state"] != "staged" or row["id"] < own["id"])',
        'row["state"] != "staged"',
    ),
    "a message is free although it is delivered": (
        '        world.update("match", closed_cells(world, "done"), state="running", **this)\n',
        "",
    ),
    "a message is taken without a test of its state": (
        '            key=first,\n            state="open",\n',
        "            key=first,\n",
    ),
    "a receiver is claimed without a test of its state": (
        '            key=target,\n            state="open",\n',
        "            key=target,\n",
    ),
    "a freed message is not freed": (
        '        world.update("match", cells, state="running", execution=target, **this)\n',
        "",
    ),
    "a claimed receiver keeps its host": (
        '"state": "running", "host": "", "execution": mark,',
        '"state": "running", "execution": mark,',
    ),
    "the lease is never over": (
        '            "check_at": world.now + LEASE * 2**attempts,\n',
        '            "check_at": NEVER,\n',
    ),
    "timers are not fired": ('elif kind in ("timer", "start"):', 'elif kind == "start":'),
    "branches are not joined by the sweep": ('elif kind == "branch":', "elif False:"),
    "variables of cancelled rows count": (
        'instance=instance, live=False, variables=bool, state=lambda state: state != "cancelled"',
        "instance=instance, variables=bool",
    ),
}
"""What a mutation does, its place in the model, and what stands there instead."""


def mutated_model(name: str, old: str, new: str) -> ModuleType:
    """The model with one place changed."""
    source = SOURCE.read_text("utf-8")
    assert source.count(old) == 1, f"{name}: {source.count(old)} places"
    module = ModuleType(f"mutated_{abs(hash(name))}")
    sys.modules[module.__name__] = module
    try:
        exec(compile(source.replace(old, new), name, "exec"), module.__dict__)
    finally:
        del sys.modules[module.__name__]
    return module


def play_all(model: ModuleType) -> None:
    """Random schedules, then the one that chance hardly finds."""
    explore_schedules(0, TRIES, model)
    play_stalled_join(model)


@pytest.mark.parametrize("name", MUTATIONS)
def test_mutations_are_found(name: str, monkeypatch: Any) -> None:
    model = mutated_model(name, *MUTATIONS[name])
    monkeypatch.setattr("waiting_nets.complete_steps", model.complete_steps)
    with pytest.raises(ScheduleError):
        play_all(model)
