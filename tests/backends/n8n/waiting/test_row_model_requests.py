"""The model of rows makes the requests of the emitted workflows: the same tests, the same written
columns, the same states. Neither is derived from the other, and only a server runs the workflows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from orgflow.backends.n8n.format.document import short_type
from orgflow.backends.n8n.node_types.data_table import Given, Operand, read_request
from orgflow.backends.n8n.waiting import row_model
from orgflow.backends.n8n.waiting.row_model import RowWorld
from orgflow.backends.n8n.waiting.rows import MOST_ATTEMPTS, STATES_OF_LIVE_ROWS
from orgflow.backends.n8n.waiting.support_set import PARTS, build_support_set, server_references
from waiting_explorer import explore_schedules, finish_steps

SCHEDULES = 300
SET = build_support_set(
    server_references("T", {part: f"id of {part}" for part in PARTS}, {"id": "c", "name": "n"})
)
PARTS_OF_FUNCTIONS = {
    "admit_row": ("admit",),
    "start_instance": ("start",),
    "claim_row": ("claim",),
    "_check_host": ("claim",),
    "_consume_branches": ("claim", "join"),
    "read_variables": ("claim", "join"),
    "fold_changes": ("fold",),
    "_delete_old_rows": ("sweep",),
    "join_branches": ("join",),
    "end_scope": ("end_scope",),
    "complete_steps": ("complete",),
    "match_messages": ("match",),
    "_deliver_message": ("match",),
    "sweep_rows": ("sweep",),
    "_sweep_staged": ("sweep",),
    "_sweep_row": ("sweep",),
    "_sweep_running": ("sweep",),
}
"""The workflows whose steps a function of the model has."""


class Request(NamedTuple):
    """A request without its values, but for the states; `None` for one that is computed, or that
    the request does not name."""

    part: str
    operation: str
    tests: frozenset[str]
    columns: frozenset[str]
    before: str | None = None
    after: str | None = None


def written_requests() -> Iterator[tuple[str, Request]]:
    """Requests of the emitted workflows, by the names of their nodes."""
    for part, workflow in SET.items():
        for node in workflow["nodes"]:
            if short_type(node) != "dataTable":
                continue
            request = read_request(node["parameters"])
            assert not isinstance(request, str)
            if part == "page":  # it only shows rows
                assert request.operation == "get"
                continue
            if request.operation == "insert":
                continue
            tests = {test.column: test for test in request.tests}
            values = dict(request.values)
            state = tests.get("state")
            yield (
                node["name"],
                Request(
                    part,
                    request.operation,
                    frozenset(tests),
                    frozenset(values) - {"live"},
                    given_text(state.operand) if state is not None and state.name == "eq" else None,
                    given_text(values["state"]) if "state" in values else None,
                ),
            )


def given_text(operand: Operand) -> str | None:
    return str(operand.value) if isinstance(operand, Given) else None


WRITTEN = [*written_requests()]


def matches(written: Request, made: Request) -> bool:
    """Whether a request of the model may be one of a node."""
    return written[:4] == made[:4] and all(
        ours in (None, theirs) for ours, theirs in zip(written[4:], made[4:], strict=True)
    )


@pytest.fixture(scope="module")
def made_requests() -> set[tuple[Request, ...]]:
    """Requests of the model in random schedules, in an expired message and in steps that always
    fail; each in the workflows that may make it."""
    made: set[tuple[Request, ...]] = set()

    def note(operation: str, tests: dict[str, Any], values: dict[str, Any]) -> None:
        function = sys._getframe(2).f_code.co_name
        before, after = tests.get("state"), values.get("state")
        made.add(
            tuple(
                Request(
                    part,
                    operation,
                    frozenset(tests),
                    frozenset(values),
                    before if isinstance(before, str) else None,
                    after,
                )
                for part in PARTS_OF_FUNCTIONS.get(function, ())
            )
        )

    class NotedWorld(RowWorld):
        def select(self, limit: int = 1_000, **tests: Any) -> list[row_model.Row]:
            note("get", tests, {})
            return super().select(limit, **tests)

        def read(self, key: str) -> row_model.Row:
            note("get", {"key": key}, {})
            return super().read(key)

        def update(
            self, operation: str, values: row_model.Row, **tests: Any
        ) -> list[row_model.Row]:
            note("update", tests, values)
            return super().update(operation, values, **tests)

        def delete(self, **tests: Any) -> None:
            note("delete", tests, {})
            super().delete(**tests)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_model, "RowWorld", NotedWorld)
        explore_schedules(0, SCHEDULES)
        world = NotedWorld()
        finish_steps(row_model.receive_message(world, "m|", {}, lifetime=1_000))
        finish_steps(row_model.start_instance(world, "p", "start", {}))
        world.processes["p"] = lambda *_: iter(())
        for _ in range(MOST_ATTEMPTS + 2):
            world.now += row_model.LEASE * 2**MOST_ATTEMPTS
            finish_steps(row_model.sweep_rows(world))
        assert {row["state"] for row in world.rows} >= {"expired", "failed"}
        patch.setattr(row_model, "FOLD_LEAST", 1)
        over = finish_steps(row_model.start_instance(world, "p", "start", {"x": 1}))
        finish_steps(row_model.complete_steps(world, over["token"], [], {"x": 2}, end=True))
        world.now += row_model.LEASE
        finish_steps(row_model.fold_changes(world, over["token"].instance))
        finish_steps(row_model.sweep_rows(world, retention=1_000))
        assert not world.select(instance=over["token"].instance)
    return made - {()}


def test_each_request_of_the_model_is_one_of_the_workflows(
    made_requests: set[tuple[Request, ...]],
) -> None:
    for made in made_requests:
        parts = {request.part for request in made}
        if parts == {"start"} and made[0].operation == "get":
            continue  # the workflow still has the row that it wrote
        assert any(matches(written, one) for _, written in WRITTEN for one in made), made


@pytest.mark.parametrize(("name", "written"), WRITTEN, ids=[name for name, _ in WRITTEN])
def test_each_request_of_the_workflows_is_one_of_the_model(
    name: str, written: Request, made_requests: set[tuple[Request, ...]]
) -> None:
    assert any(matches(written, one) for made in made_requests for one in made), (name, written)


@pytest.mark.parametrize("part", PARTS)
def test_live_follows_the_state(part: str) -> None:
    """The model computes `live` from the state; each workflow writes it where the state does not
    stay on one side."""
    for node in SET[part]["nodes"]:
        if short_type(node) != "dataTable":
            continue
        request = read_request(node["parameters"])
        assert not isinstance(request, str)
        columns = dict(request.values)
        if request.operation != "update" or "state" not in columns:
            continue
        tests = {test.column: given_text(test.operand) for test in request.tests}
        before, after = tests.get("state"), given_text(columns["state"])
        alive = after in STATES_OF_LIVE_ROWS
        if tests.get("live") == "1":
            before = "open"
        if after is None or before is None or alive != (before in STATES_OF_LIVE_ROWS):
            assert node["name"] == "Claim the row" or columns["live"] == Given(str(int(alive)))
