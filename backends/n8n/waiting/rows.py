"""The table of rows: one row for whatever is open in a process that waits in several places.

A row is a token of the process: an open task, a pending timer, an expected message, an arrived
branch of a join, or a scope. A conditional update of a row is the only synchronisation: whoever
changes its state first has claimed it. All columns hold text; moments are in ISO 8601, UTC, with
milliseconds, so their order is that of the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, get_args

from orgflow_ir.model.records import NamedTuple

TABLE_NAME: Final = "orgflow_open_work"
"""The name of the table. No other table may contain this name: n8n finds a table by a part of its
name (WAITING.md, section 2)."""

Kind = Literal[
    "scope", "start", "task", "timer", "receiver", "gateway", "branch", "message", "snapshot",
]  # fmt: skip
"""The kind of open work or state of a row."""

State = Literal[
    "staged", "open", "running", "ending", "done", "cancelled", "failed", "expired", "dropped",
]  # fmt: skip
"""Where a row is in its life."""

KINDS: Final[Mapping[Kind, str]] = {
    "scope": "a process instance, a sub-process, or the instances of a repeated step",
    "start": "the steps of an instance before its first wait",
    "task": "a task that a person completes",
    "timer": "a moment at which the process continues",
    "receiver": "a message that the process expects",
    "gateway": "an event-based gateway, whose first event decides",
    "branch": "a branch that has arrived at a join",
    "message": "a received message that is not assigned to a receiver",
    "snapshot": "the variables of an instance up to a moment, in place of those of single steps",
}

STATES: Final[Mapping[State, str]] = {
    "staged": "written by steps that have not ended; invisible to everything else",
    "open": "waits",
    "running": "its steps run in the execution that the row names",
    "ending": "its steps have ended; whether the scope ends as well is not decided",
    "done": "its steps have ended",
    "cancelled": "another event ended it",
    "failed": "its steps failed as often as the limit allows; a person has to look at it",
    "expired": "a message that nobody received in time",
    "dropped": "repeats an earlier start or message",
}

STATES_OF_LIVE_ROWS: Final[frozenset[State]] = frozenset({"staged", "open", "running", "failed"})
"""States of rows that keep their scope open; exactly these rows have `live` = 1."""


class Transition(NamedTuple):
    """An allowed change of state.

    Attributes:
        before, after: the states.
        operation: the workflow of the support set that makes it, or the command.
    """

    before: State
    after: State
    operation: str


_LIVE: Final[tuple[State, ...]] = ("staged", "open", "running", "failed")

TRANSITIONS: Final = (
    Transition("staged", "open", "complete"),
    Transition("staged", "open", "admit"),
    Transition("staged", "open", "sweep"),
    Transition("staged", "running", "start"),
    Transition("staged", "dropped", "admit"),
    Transition("staged", "cancelled", "claim"),
    Transition("open", "running", "claim"),
    Transition("open", "running", "join"),
    Transition("open", "running", "match"),
    Transition("open", "done", "join"),
    Transition("open", "done", "claim"),
    Transition("open", "cancelled", "claim"),
    Transition("open", "cancelled", "match"),
    Transition("open", "expired", "sweep"),
    Transition("running", "running", "claim"),
    Transition("running", "done", "complete"),
    Transition("running", "done", "end_scope"),
    Transition("running", "done", "match"),
    Transition("running", "done", "sweep"),
    Transition("running", "ending", "complete"),
    Transition("running", "ending", "claim"),
    Transition("running", "open", "match"),
    Transition("running", "failed", "sweep"),
    Transition("running", "cancelled", "claim"),
    Transition("ending", "done", "end_scope"),
    Transition("done", "open", "sweep"),
    Transition("failed", "cancelled", "claim"),
    *(Transition(state, "cancelled", "cancel") for state in _LIVE),
    Transition("failed", "running", "heal"),
)
"""All allowed changes of state; `cancel` and `heal` are commands. From `done` to `open`: a message
whose receiver turned out to be closed is kept for another one."""


class RowColumn(NamedTuple):
    """A column: its name in the table, and what its cells mean."""

    name: str
    meaning: str


COLUMNS: Final = (
    RowColumn("key", "random and secret: identifies the row in links and calls"),
    RowColumn("instance", "key of the row of the process instance"),
    RowColumn("business_key", "the caller's own id of the instance, in the row of the instance"),
    RowColumn("kind", "the kind of open work or state"),
    RowColumn("element", "the element of the model"),
    RowColumn("scope", "keys of the enclosing scopes, outermost first, each followed by a slash"),
    RowColumn("state", "where the row is in its life"),
    RowColumn("live", "1 as long as the row keeps its scope open, otherwise 0"),
    RowColumn("host", "key of the row that this event interrupts: claiming that row decides"),
    RowColumn("attached_to", "key of the row that this event does not interrupt"),
    RowColumn("interrupting", "no for an event that does not interrupt; checked once it counts"),
    RowColumn("hosts_events", "yes if events are attached to the row"),
    RowColumn("execution", "the execution that runs its steps; for a message, its receiver"),
    RowColumn("event", "the element by which the row was claimed"),
    RowColumn("attempts", "how often another execution took over its steps"),
    RowColumn("created_by", "key of the row whose steps wrote this one"),
    RowColumn("branch", "the branch, of a row that arrived at a join"),
    RowColumn("needed", "number of branches that the join waits for"),
    RowColumn("joined_to", "number of the last row that the join consumed"),
    RowColumn("ends_scope", "key of the scope that may end with this row"),
    RowColumn("ends_with", "the event that leaves that scope; empty for a normal end"),
    RowColumn("variables", "variables that its steps changed, as JSON"),
    RowColumn("local_variables", "variables of this token alone, such as a loop's item, as JSON"),
    RowColumn("message_key", "name and correlation key of a message"),
    RowColumn("idempotency_key", "rows with the same one stand for one call that was repeated"),
    RowColumn("due", "when a timer fires, a task is due, or a message expires"),
    RowColumn("check_at", "when the sweep looks at the row"),
    RowColumn("changed_at", "the last change of state; of ended steps, when they took effect"),
    RowColumn("workflow", "id of the workflow of the process"),
    RowColumn("assignee", "who completes the task"),
    RowColumn("title", "the title of the task"),
    RowColumn("link", "the page of the task"),
)  # fmt: skip
"""The columns in the order of the table."""

COLUMN_NAMES: Final = tuple(column.name for column in COLUMNS)

NEVER: Final = "9999-12-31T00:00:00.000Z"
"""The moment in `check_at` of rows at which the sweep need not look."""

MOST_CHANGES: Final = 1_000
"""Most rows whose variables are combined; n8n reads more of them in several steps."""

FOLD_AT: Final = 500
"""Number of changes of variables from which on they are folded into a snapshot."""

FOLD_LEAST: Final = 250
"""Least number of changes that a snapshot replaces."""

LEASE_MINUTES: Final = 10
"""How long steps may run before another execution takes over, unless an option says otherwise;
doubles with each take-over."""

MOST_ATTEMPTS: Final = 5
"""Take-overs after which a row becomes `failed`."""

GRACE_SECONDS: Final = 20
"""Age of an unfinished operation at which the sweep completes or undoes it."""

RETRY_SECONDS: Final = 60
"""Time after which the sweep looks again at a row that it could not finish."""

LONGEST_PAUSE_HOURS: Final = 6
"""Longest time after which the sweep looks again at an open row."""

MOST_TIMERS: Final = 20
"""Most timers that a sweep fires."""

MOST_OTHERS: Final = 50
"""Most rows of any other query that a sweep handles."""

MESSAGE_MARK: Final = "message "
"""Beginning of `execution` in a row that a message has claimed, before its key."""


def may_change(before: State, after: State, operation: str) -> bool:
    """Whether an operation may change a row from one state to another."""
    return Transition(before, after, operation) in TRANSITIONS


assert frozenset(KINDS) == frozenset(get_args(Kind))
assert frozenset(STATES) == frozenset(get_args(State))
