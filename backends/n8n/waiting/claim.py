"""Claim: one execution takes an open row, and so decides every race for it.

The claim is one conditional update. The winner then cancels what the row decides: events attached
to it, and for a scope everything inside. An event that does not interrupt claims its own row, and
counts only if the row it is attached to is still open.
"""

from __future__ import annotations

from orgflow.backends.n8n.format.document import Workflow
from orgflow.backends.n8n.node_types.conditions import make_expression
from orgflow.backends.n8n.node_types.data_table import Tests
from orgflow.backends.n8n.node_types.stop_and_error import stop_parameters
from orgflow.backends.n8n.waiting.rows import FOLD_AT, MOST_CHANGES
from orgflow.backends.n8n.waiting.rows_code import (
    closed_values,
    lease_code,
    token_code,
    variables_code,
)
from orgflow.backends.n8n.waiting.workflow_builder import (
    NOW,
    References,
    WorkflowBuilder,
    field_of,
)

ABOUT = (
    "Called at the beginning of each part of a process that follows a wait: a task was completed, "
    "a timer fired, a message arrived. Exactly one caller gets **won = true** for an open row; it "
    "also ends what the row interrupts. Others get the present state of the row."
)

TOO_MANY = f"this process instance has changed its variables more than {MOST_CHANGES - 1} times"
"""The message where variables cannot be read completely."""

_ROW = "$('Claim the row').first().json"


def build_claim(refers: References, name: str, note: str, lease_minutes: int) -> Workflow:
    """The workflow. Input: `key`, `execution`, `event`, `variables`, and for a take-over
    `takeover`, the execution before, and `attempts`. Output: `won`, and if it won, `token`, `data`
    and `variables`, otherwise `state`."""
    builder = WorkflowBuilder("claim", refers)
    builder.add_note(note)
    builder.add_call_trigger()
    _add_claim(builder, lease_minutes)
    _add_check_of_host(builder)
    _add_cancellations(builder)
    add_variables(builder, (9, 2), ["Host checked", "Consume branches"])
    builder.connect(("What was claimed?", 4), "Changed variables")
    builder.connect(("Anything left inside?", 1), "Cancel attached events")
    builder.connect("Cancel attached events", "Changed variables")
    builder.add_fields(
        "Claimed",
        (11, 2),
        f"{{won:true,token:{token_code(_ROW)},data:JSON.parse({_ROW}.variables||'{{}}'),"
        f"variables:Object.assign({variables_code('Changed variables')},"
        f"{_ROW}.kind==='branch'?{{}}:JSON.parse({_ROW}.variables||'{{}}'))}}",
        after=[("Too many changes?", 1)],
        executeOnce=True,
    )
    builder.add_get(
        "Present state",
        (11, 5),
        (("key", "eq", make_expression(field_of("Called", "key"))),),
        1,
        after=[("Won?", 1), "Too late"],
    )
    builder.add_fields(
        "Not claimed", (12, 5), "{won:false,state:$json.state||'unknown'}", after=["Present state"]
    )
    return builder.build_workflow(name)


def _add_claim(builder: WorkflowBuilder, lease_minutes: int) -> None:
    """The conditional update, and what the claimed row asks for."""
    builder.add_update(
        "Claim the row",
        (1, 0),
        (
            ("key", "eq", make_expression("String($json.key||'-')")),
            ("state", "eq", make_expression("$json.takeover?'running':'open'")),
            ("execution", "eq", make_expression("$json.takeover||''")),
        ),
        {
            "state": "running",
            "host": "",
            "execution": make_expression("String($json.execution)"),
            "event": make_expression("$json.event||''"),
            "attempts": make_expression("String($json.attempts||0)"),
            "variables": make_expression("JSON.stringify($json.variables||{} )"),
            "changed_at": make_expression(NOW),
            "check_at": make_expression(lease_code(lease_minutes)),
        },
        after=["Called"],
    )
    builder.add_test(
        "Won?",
        (2, 0),
        f"!!$json.id&&$json.execution===String({field_of('Called', 'execution')})",
        after=["Claim the row"],
    )
    builder.add_switch(
        "What was claimed?",
        (3, 0),
        (
            ("event beside its task", "$json.interrupting==='no'"),
            ("scope", "$json.kind==='scope'"),
            ("join taken over", f"$json.kind==='branch'&&!!{field_of('Called', 'takeover')}"),
            ("task with events", "$json.hosts_events==='yes'"),
        ),
        after=[("Won?", 0)],
        executeOnce=True,
    )


def _add_check_of_host(builder: WorkflowBuilder) -> None:
    """An event that does not interrupt: the row it is attached to has to be open."""
    own: Tests = (
        ("key", "eq", make_expression(f"{_ROW}.key")),
        ("execution", "eq", make_expression(f"{_ROW}.execution")),
        ("state", "eq", "running"),
    )
    builder.add_get(
        "Its task",
        (4, 0),
        (("key", "eq", make_expression(f"{_ROW}.attached_to||'-'")),),
        1,
        after=[("What was claimed?", 0)],
    )
    builder.add_test("Task still open?", (5, 0), "$json.state==='open'", after=["Its task"])
    builder.add_update(
        "Host checked",
        (6, 0),
        own,
        {"interrupting": "checked"},
        after=[("Task still open?", 0)],
    )
    # The sweep returns the message of a late event, and ends its path.
    builder.add_update(
        "Too late",
        (6, 1),
        own,
        {
            "state": "ending",
            "live": "0",
            "variables": "{}",
            "ends_scope": make_expression(f"{_ROW}.scope.split('/').at(-2)"),
            "ends_with": "",
            "changed_at": make_expression(NOW),
            "check_at": make_expression(NOW),
        },
        after=[("Task still open?", 1)],
    )


def _add_cancellations(builder: WorkflowBuilder) -> None:
    """What ends with the claimed row."""
    builder.add_update(
        "Cancel everything inside",
        (4, 2),
        (
            ("scope", "like", make_expression(f"{_ROW}.scope+{_ROW}.key+'/%'")),
            ("live", "eq", "1"),
        ),
        closed_values("cancelled"),
        after=[("What was claimed?", 1)],
    )
    # A row may appear while PostgreSQL's update runs, so the update is repeated.
    builder.add_test(
        "Anything left inside?",
        (5, 2),
        "!!$json.id",
        after=["Cancel everything inside"],
        executeOnce=True,
    )
    builder.connect(("Anything left inside?", 0), "Cancel everything inside")
    add_consumption(
        builder, "Consume branches", (4, 3), "Claim the row", after=[("What was claimed?", 2)]
    )
    builder.add_update(
        "Cancel attached events",
        (6, 4),
        (("host", "eq", make_expression(f"{_ROW}.key")), ("live", "eq", "1")),
        closed_values("cancelled"),
        after=[("What was claimed?", 3)],
    )


def add_consumption(
    builder: WorkflowBuilder,
    name: str,
    place: tuple[int, int],
    lead: str,
    *,
    after: list[str | tuple[str, int]],
) -> None:
    """The arrived branches that a join consumes, except for the one that leads on. A branch that
    arrives afterwards, for the next pass of a loop, has a higher number."""
    row = f"$('{lead}').first().json"
    builder.add_update(
        name,
        place,
        (
            ("kind", "eq", "branch"),
            ("element", "eq", make_expression(f"{row}.element")),
            ("scope", "eq", make_expression(f"{row}.scope")),
            ("state", "eq", "open"),
            ("id", "lte", make_expression(f"Number({row}.joined_to)")),
        ),
        closed_values("done"),
        after=after,
    )


def add_variables(
    builder: WorkflowBuilder,
    place: tuple[int, int],
    after: list[str | tuple[str, int]],
    row: str = "Claim the row",
) -> None:
    """Reads the variables of the instance of a row; output 1 of `Too many changes?` goes on. Many
    changes are folded meanwhile: above, so that the answer is not that of the fold."""
    column, line = place
    builder.add_get(
        "Changed variables",
        place,
        (
            ("instance", "eq", make_expression(f"$('{row}').first().json.instance")),
            ("variables", "neq", "{}"),
            ("live", "eq", "0"),
            ("state", "neq", "cancelled"),
        ),
        MOST_CHANGES,
        after=after,
    )
    builder.add_filter(
        "Many changes?",
        (column + 1, line - 1),
        f"$('Changed variables').all().length>={FOLD_AT}",
        after=["Changed variables"],
        executeOnce=True,
    )
    builder.add_call(
        "Fold the changes",
        (column + 2, line - 2),
        "fold",
        {"instance": f"$('{row}').first().json.instance"},
        waits=False,
        after=["Many changes?"],
        onError="continueRegularOutput",
    )
    builder.add_test(
        "Too many changes?",
        (column + 1, line),
        f"$('Changed variables').all().length>={MOST_CHANGES}",
        after=["Changed variables"],
        executeOnce=True,
    )
    builder.add_node(
        "Variables cannot be read",
        "stopAndError",
        (column + 2, line - 1),
        stop_parameters(TOO_MANY),
        after=[("Too many changes?", 0)],
    )
