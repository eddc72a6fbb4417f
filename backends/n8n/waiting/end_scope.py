"""End scope: a scope ends when nothing in it is open, or when an event leaves it.

Whoever leaves a scope last claims its row. The row of the leaving token is `ending` until that is
decided, so a crash in between is repaired by the sweep.
"""

from __future__ import annotations

from typing import Final

from orgflow.backends.n8n.format.document import Workflow
from orgflow.backends.n8n.node_types.conditions import make_expression
from orgflow.backends.n8n.node_types.data_table import Tests
from orgflow.backends.n8n.waiting.rows import NEVER
from orgflow.backends.n8n.waiting.rows_code import closed_values
from orgflow.backends.n8n.waiting.workflow_builder import (
    NO_ITEMS,
    References,
    WorkflowBuilder,
    field_of,
)

ABOUT = (
    "Called when a path of a process ends. If nothing else is open in its scope (the instance or a "
    "sub-process), or an event ends the scope at once, the scope ends and exactly one caller "
    "continues after it."
)

_ENDED: Final = {"state": "done", "live": "0", "check_at": NEVER}
"""Column values of a path that has ended. It keeps the moment of its commit, by which its variables
are ordered: the sweep may write these values later than other steps their variables."""


def build_end_scope(refers: References, name: str, note: str) -> Workflow:
    """The workflow. Input: `key` of the ending row or empty, `scope`, the path inside of the scope,
    `target`, the key of the scope's row, `leave`, the event that leaves it or empty, `execution`.
    Output: as that of `claim` where the process continues after the scope, otherwise no item."""
    builder = WorkflowBuilder("end_scope", refers)
    builder.add_note(note)
    builder.add_call_trigger()
    builder.add_test("Left by an event?", (1, 0), "!!$json.leave", after=["Called"])
    builder.add_get(
        "Open rows",
        (2, 1),
        (
            ("scope", "like", make_expression(f"{field_of('Called', 'scope')}+'%'")),
            ("live", "eq", "1"),
            ("host", "eq", ""),
        ),
        1,
        after=[("Left by an event?", 1)],
    )
    builder.add_test("Nothing open?", (3, 1), "!$json.id", after=["Open rows"])
    # A staged row may belong to steps that were cancelled and will not open it: then nobody else
    # would end the scope, so the row stays `ending` and the sweep asks again.
    builder.add_test(
        "A started path?", (4, 2), "$json.state==='staged'", after=[("Nothing open?", 1)]
    )
    builder.add_filter("Ask again later", (5, 3), NO_ITEMS, after=[("A started path?", 0)])
    # Steps that left the scope by an event, and have not claimed it yet, decide how it ends.
    builder.add_get(
        "Event that leaves it",
        (4, 1),
        (
            ("state", "eq", "ending"),
            ("ends_scope", "eq", make_expression(field_of("Called", "target"))),
            ("ends_with", "neq", ""),
        ),
        1,
        after=[("Nothing open?", 0)],
    )
    leaving = "$('Event that leaves it')"
    builder.add_call(
        "Claim the scope",
        (5, 0),
        "claim",
        {
            "key": field_of("Called", "target"),
            "execution": field_of("Called", "execution"),
            "event": f"{field_of('Called', 'leave')}||({leaving}.isExecuted"
            f"?{leaving}.first().json.ends_with:'')||'end'",
            "variables": "({})",
            "takeover": "''",
            "attempts": "0",
        },
        after=[("Left by an event?", 0), "Event that leaves it"],
    )
    builder.add_switch(
        "What ended?",
        (6, 0),
        (
            ("the instance", "$json.won&&$json.token.scope===''"),
            ("a sub-process", "$json.won"),
        ),
        after=["Claim the scope"],
    )
    builder.add_update(
        "Finish the instance",
        (7, 0),
        (
            ("key", "eq", make_expression("$json.token.key")),
            ("execution", "eq", make_expression("$json.token.execution")),
            ("state", "eq", "running"),
        ),
        closed_values("done"),
        after=[("What ended?", 0)],
    )
    ended: Tests = (
        ("key", "eq", make_expression(f"{field_of('Called', 'key')}||'-'")),
        ("state", "eq", "ending"),
    )
    builder.add_update(
        "Path ended",
        (8, 2),
        ended,
        _ENDED,
        after=["Finish the instance", ("What ended?", 2), ("A started path?", 1)],
    )
    builder.add_filter("Nothing to continue", (9, 2), NO_ITEMS, after=["Path ended"])
    builder.add_update("Path left the scope", (8, 1), ended, _ENDED, after=[("What ended?", 1)])
    builder.add_fields(
        "Continue after the scope",
        (9, 1),
        field_of("Claim the scope", "$").replace(".$", ""),
        after=["Path left the scope"],
    )
    return builder.build_workflow(name)
