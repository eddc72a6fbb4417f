"""Sweep: fires timers, finishes what a crash interrupted, and deletes what is over.

Each row says in `check_at` when the sweep has to look at it. The sweep first moves that moment by a
conditional update, so of several sweeps one handles the row, and a row that cannot be handled does
not keep others from their turn.
"""

from __future__ import annotations

from typing import Final

from orgflow.backends.n8n.format.document import Workflow
from orgflow.backends.n8n.node_types.conditions import make_expression
from orgflow.backends.n8n.node_types.data_table import Tests
from orgflow.backends.n8n.node_types.respond_to_webhook import answer_parameters
from orgflow.backends.n8n.node_types.schedule_trigger import NODE as SCHEDULE
from orgflow.backends.n8n.node_types.schedule_trigger import every_seconds
from orgflow.backends.n8n.waiting.rows import (
    GRACE_SECONDS,
    LONGEST_PAUSE_HOURS,
    MESSAGE_MARK,
    MOST_ATTEMPTS,
    MOST_OTHERS,
    MOST_TIMERS,
    RETRY_SECONDS,
)
from orgflow.backends.n8n.waiting.rows_code import closed_values
from orgflow.backends.n8n.waiting.workflow_builder import (
    NO_ITEMS,
    NOW,
    References,
    WorkflowBuilder,
    moment_after,
)

ABOUT = (
    "Runs every {seconds} seconds: fires due timers, continues process instances that a crash "
    "interrupted, and {retention}. `POST /webhook/orgflow-sweep` runs it at once."
)

SWEEP_PATH: Final = "orgflow-sweep"
"""The path of the address below `/webhook`."""

_LONGEST_PAUSE: Final = LONGEST_PAUSE_HOURS * 3_600_000
_RETRY: Final = RETRY_SECONDS * 1000

_DUE: Final = ("check_at", "lte", make_expression(NOW))
_STALE: Final = make_expression(moment_after(f"(-{GRACE_SECONDS * 1000})"))

_QUERIES: Final[tuple[tuple[str, Tests, int], ...]] = (
    ("Due timers", (("kind", "eq", "timer"), ("state", "eq", "open"), _DUE), MOST_TIMERS),
    ("Other open rows", (("kind", "neq", "timer"), ("state", "eq", "open"), _DUE), MOST_OTHERS),
    ("Rows at work", (("state", "eq", "running"), _DUE), MOST_OTHERS),
    ("Ending rows", (("state", "eq", "ending"), _DUE), MOST_OTHERS),
)

_CASES: Final = (
    ("timer", "$json.state==='open'&&['timer','start'].includes($json.kind)"),
    ("taken message", "$json.state==='running'&&$json.kind==='message'"),
    ("claimed by a message",
     f"$json.state==='running'&&$json.execution.startsWith('{MESSAGE_MARK}')"),
    ("instance that ends", "$json.state==='running'&&$json.kind==='scope'&&$json.scope===''"),
    ("failed too often", f"$json.state==='running'&&Number($json.attempts)>={MOST_ATTEMPTS}"),
    ("interrupted steps", "$json.state==='running'"),
    ("late event", "$json.state==='ending'&&$json.kind==='receiver'&&$json.interrupting==='no'"),
    ("end of a path", "$json.state==='ending'"),
    ("open scope", "$json.kind==='scope'"),
    ("arrived branch", "$json.kind==='branch'"),
    ("expired message", f"$json.kind==='message'&&!!$json.due&&$json.due<={NOW}"),
    ("message or receiver", "['message','receiver'].includes($json.kind)"),
)  # fmt: skip
"""What may be due, in this order: name and JavaScript that holds for it."""


def build_sweep(refers: References, name: str, note: str, seconds: int, days: int) -> Workflow:
    """The workflow; it runs every `seconds` and deletes finished rows after `days`, 0 for never."""
    builder = WorkflowBuilder("sweep", refers)
    builder.add_note(note)
    builder.add_node("Every few seconds", SCHEDULE.name, (0, 0), every_seconds(seconds))
    builder.add_address("Sweep now", (0, 1), SWEEP_PATH)
    builder.add_node(
        "Answer",
        "respondToWebhook",
        (1, 1),
        answer_parameters(200, make_expression("JSON.stringify({sweeping:true})")),
        after=["Sweep now"],
    )
    builder.add_node("Begin", "noOp", (2, 0), {}, after=["Every few seconds", "Answer"])
    _add_staged(builder)
    for line, (label, tests, limit) in enumerate(_QUERIES, 4):
        builder.add_get(label, (3, line), tests, limit, always=False, after=["Begin"])
    _add_cases(builder, [label for label, *_ in _QUERIES])
    if days:
        _add_retention(builder, days)
    return builder.build_workflow(name)


def _add_staged(builder: WorkflowBuilder) -> None:
    """Staged rows of interrupted steps. They become open if their steps were committed, and are
    deleted only if these were cancelled, taken over or given up: slow steps may still commit."""
    builder.add_get(
        "Staged rows",
        (3, 0),
        (("state", "eq", "staged"), ("changed_at", "lte", _STALE)),
        MOST_OTHERS,
        always=False,
        after=["Begin"],
    )
    # The next look is later, so rows that nothing can be decided about do not keep others from
    # their turn. `check_at` has to stay what it will be when the row opens.
    builder.add_update(
        "Reserve the staged row",
        (4, -1),
        (
            ("key", "eq", make_expression("$json.key")),
            ("state", "eq", "staged"),
            ("changed_at", "eq", make_expression("$json.changed_at")),
        ),
        {"changed_at": make_expression(moment_after(str(_RETRY)))},
        always=False,
        each=True,
        after=["Staged rows"],
    )
    builder.add_test(
        "Waits for admission?",
        (4, 0),
        "$json.idempotency_key!==''",
        after=["Reserve the staged row"],
    )
    builder.add_call(
        "Admit", (5, 0), "admit", {"key": "$json.key"}, each=True,
        after=[("Waits for admission?", 0)],
        onError="continueRegularOutput",
    )  # fmt: skip
    builder.add_filter("Admission done", (6, 0), NO_ITEMS, after=["Admit"])
    builder.add_fields("Staged row", (5, 1), "{staged:$json}", after=[("Waits for admission?", 1)])
    builder.add_get(
        "Its creator",
        (6, 1),
        (("key", "eq", make_expression("$json.staged.created_by")),),
        1,
        always=False,
        each=True,
        after=["Staged row"],
    )
    staged = "$('Staged row').itemMatching($itemIndex).json.staged"
    builder.add_switch(
        "What became of it?",
        (7, 1),
        (
            ("instance admitted", f"{staged}.kind==='start'&&$json.state==='open'"),
            ("committed",
             f"['done','ending'].includes($json.state)&&$json.execution==={staged}.execution"),
            ("undone",
             "['cancelled','dropped','failed'].includes($json.state)"
             f"||({staged}.kind!=='start'&&$json.execution!=={staged}.execution)"),
        ),
        after=["Its creator"],
    )  # fmt: skip
    still: Tests = (
        ("key", "eq", make_expression(f"{staged}.key")),
        ("state", "eq", "staged"),
    )
    builder.add_update(
        "Begin the instance",
        (8, 0),
        still,
        {"state": "open", "execution": "", "check_at": make_expression(NOW)},
        each=True,
        after=[("What became of it?", 0)],
    )
    builder.add_update(
        "Open the rows",
        (8, 1),
        (
            ("created_by", "eq", make_expression(f"{staged}.created_by")),
            ("execution", "eq", make_expression(f"{staged}.execution")),
            ("state", "eq", "staged"),
        ),
        {"state": "open", "execution": ""},
        each=True,
        after=[("What became of it?", 1)],
    )
    builder.add_delete(
        "Delete the row", (8, 2), still, each=True, after=[("What became of it?", 2)]
    )


def _add_cases(builder: WorkflowBuilder, queries: list[str]) -> None:
    """One row each: its next moment is set first, then it is handled by what it is."""
    pause = (
        f"$json.kind==='timer'||$json.kind==='start'||$json.state!=='open'?{_RETRY}:"
        f"Math.min(Math.max(Date.now()-Date.parse($json.changed_at),{_RETRY}),{_LONGEST_PAUSE})"
    )
    builder.add_update(
        "Reserve the row",
        (4, 5),
        (
            ("key", "eq", make_expression("$json.key")),
            ("state", "eq", make_expression("$json.state")),
            ("check_at", "eq", make_expression("$json.check_at")),
        ),
        {"check_at": make_expression(moment_after(f"({pause})"))},
        always=False,
        each=True,
        after=[*queries],
    )
    builder.add_switch("What is due?", (5, 5), _CASES, after=["Reserve the row"])
    output = {label: ("What is due?", number) for number, (label, _) in enumerate(_CASES)}
    process = make_expression("$json.workflow")
    builder.add_call(
        "Fire the timer",
        (6, 2),
        process,
        {
            "key": "$json.interrupting==='no'||!$json.host?$json.key:$json.host",
            "event": "$json.element",
            "takeover": "''",
            "attempts": "0",
            "variables": "$json.kind==='start'?JSON.parse($json.variables):({})",
        },
        each=True,
        after=[output["timer"]],
        onError="continueRegularOutput",
    )
    builder.add_call(
        "Match messages",
        (6, 3),
        "match",
        {
            "message": "$json.state==='open'?'':$json.kind==='message'?$json.key:"
            f"$json.execution.slice({len(MESSAGE_MARK)})",
            "message_key": "$json.message_key",
        },
        each=True,
        after=[
            output["taken message"],
            output["claimed by a message"],
            output["message or receiver"],
        ],
        onError="continueRegularOutput",
    )
    mine: Tests = (
        ("key", "eq", make_expression("$json.key")),
        ("execution", "eq", make_expression("$json.execution")),
        ("state", "eq", "running"),
    )
    builder.add_update(
        "Finish the instance",
        (6, 4),
        mine,
        closed_values("done"),
        each=True,
        after=[output["instance that ends"]],
    )
    builder.add_update(
        "Mark as failed",
        (6, 5),
        mine,
        closed_values("failed", live="1"),
        always=False,
        each=True,
        after=[output["failed too often"]],
    )
    builder.add_call(
        "Report the failure", (7, 5), "report", each=True, waits=False, after=["Mark as failed"]
    )
    _add_continuations(builder, output)
    builder.add_update(
        "Let the message expire",
        (6, 10),
        (("key", "eq", make_expression("$json.key")), ("state", "eq", "open")),
        closed_values("expired"),
        each=True,
        after=[output["expired message"]],
    )


def _add_continuations(builder: WorkflowBuilder, output: dict[str, tuple[str, int]]) -> None:
    """Steps that another execution has to take over."""
    mine = "'sweep '+$execution.id"
    builder.add_update(
        "Return the message",
        (6, 6),
        (
            ("kind", "eq", "message"),
            ("state", "eq", "done"),
            ("execution", "eq", make_expression("$json.key")),
        ),
        {
            "state": "open",
            "live": "1",
            "execution": "",
            "changed_at": make_expression(NOW),
            "check_at": make_expression(NOW),
        },
        each=True,
        after=[output["late event"]],
    )
    builder.add_call(
        "End the scope",
        (6, 7),
        "end_scope",
        {
            "key": "$json.state==='ending'?$json.key:''",
            "scope": "$json.state==='ending'?$json.scope:$json.scope+$json.key+'/'",
            "target": "$json.state==='ending'?$json.ends_scope:$json.key",
            "leave": "$json.state==='ending'?$json.ends_with:''",
            "execution": mine,
        },
        each=True,
        after=[output["late event"], output["end of a path"], output["open scope"]],
        onError="continueRegularOutput",
    )
    builder.add_call(
        "Join branches",
        (6, 8),
        "join",
        {
            "element": "$json.element",
            "scope": "$json.scope",
            "needed": "$json.needed",
            "execution": mine,
        },
        each=True,
        after=[output["arrived branch"]],
        onError="continueRegularOutput",
    )
    builder.add_filter(
        "Goes on", (7, 7), "$json.won===true", after=["End the scope", "Join branches"]
    )
    builder.add_fields(
        "Claimed here",
        (8, 7),
        "{workflow:$json.token.workflow,key:$json.token.key,execution:$json.token.execution,"
        "event:$json.token.event,element:$json.token.element,attempts:'-1',variables:'{}'}",
        after=["Goes on"],
    )
    builder.add_call(
        "Continue the process",
        (9, 6),
        make_expression("$json.workflow"),
        {
            "key": "$json.key",
            "takeover": "$json.execution",
            "event": "$json.event||$json.element",
            "attempts": "Number($json.attempts)+1",
            "variables": "JSON.parse($json.variables||'{}')",
        },
        each=True,
        after=[output["interrupted steps"], "Claimed here"],
        onError="continueRegularOutput",
    )


def _add_retention(builder: WorkflowBuilder, days: int) -> None:
    """Rows of instances that ended so many days ago, and messages as old, are deleted."""
    old = make_expression(moment_after(f"(-{days * 86_400_000})"))
    builder.add_get(
        "Instances that ended long ago",
        (3, 12),
        (
            ("kind", "eq", "scope"),
            ("scope", "eq", ""),
            ("live", "eq", "0"),
            ("changed_at", "lte", old),
        ),
        MOST_TIMERS,
        always=False,
        after=["Begin"],
    )
    builder.add_delete(
        "Delete their rows",
        (4, 12),
        (("instance", "eq", make_expression("$json.key")),),
        each=True,
        after=["Instances that ended long ago"],
    )
    builder.add_delete(
        "Delete old messages",
        (3, 13),
        (("kind", "eq", "message"), ("live", "eq", "0"), ("changed_at", "lte", old)),
        after=["Begin"],
    )
