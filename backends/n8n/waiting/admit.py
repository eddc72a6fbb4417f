"""Admit: of several rows with one idempotency key, only the first one becomes visible.

A start or a message that its sender repeats writes a second row. All of them are staged; each
first drops staged rows that were inserted after its own, then looks for an earlier or admitted one,
and admits itself only if there is none. Whatever the order of these steps in several executions,
one row is admitted: of two, the one that looks last sees the other, or has dropped it.
"""

from __future__ import annotations

from orgflow.backends.n8n.format.document import Workflow
from orgflow.backends.n8n.node_types.conditions import make_expression
from orgflow.backends.n8n.node_types.data_table import Tests
from orgflow.backends.n8n.waiting.rows import GRACE_SECONDS
from orgflow.backends.n8n.waiting.rows_code import closed_values
from orgflow.backends.n8n.waiting.workflow_builder import (
    NOW,
    References,
    WorkflowBuilder,
    field_of,
    moment_after,
)

ABOUT = (
    "Called with the **key** of a new row that has an idempotency key. Answers whether the row is "
    "the first one with that key; others are dropped, so a repeated start or message has no effect."
)

_MOST_REPEATS = 100
_NO_EARLIER = (
    "!$('Rows of that key').all().some(i=>i.json.id&&i.json.key!==$('Own row').first().json.key"
    "&&(i.json.state!=='staged'||i.json.id<$('Own row').first().json.id))"
)


def build_admit(refers: References, name: str, note: str) -> Workflow:
    """The workflow. Input: `key`. Output: `admitted`."""
    builder = WorkflowBuilder("admit", refers)
    key = make_expression(field_of("Called", "key"))
    same = make_expression(field_of("Own row", "idempotency_key"))
    builder.add_note(note)
    builder.add_call_trigger()
    builder.add_get("Own row", (1, 0), (("key", "eq", key),), 1, after=["Called"])
    builder.add_test("Still staged?", (2, 0), "$json.state==='staged'", after=["Own row"])
    builder.add_update(
        "Drop later ones",
        (3, 0),
        (
            ("idempotency_key", "eq", same),
            ("state", "eq", "staged"),
            ("id", "gt", make_expression(field_of("Own row", "id"))),
        ),
        closed_values("dropped"),
        after=[("Still staged?", 0)],
    )
    builder.add_get(
        "Rows of that key",
        (4, 0),
        (("idempotency_key", "eq", same), ("state", "neq", "dropped")),
        _MOST_REPEATS,
        after=["Drop later ones"],
    )
    builder.add_test(
        "First one?", (5, 0), _NO_EARLIER, after=["Rows of that key"], executeOnce=True
    )
    own: Tests = (("key", "eq", key), ("state", "eq", "staged"))
    builder.add_update(
        "Admit",
        (6, 0),
        own,
        {
            "state": "open",
            "changed_at": make_expression(NOW),
            "check_at": make_expression(moment_after(str(GRACE_SECONDS * 1000))),
        },
        after=[("First one?", 0)],
    )
    builder.add_update("Drop", (6, 1), own, closed_values("dropped"), after=[("First one?", 1)])
    builder.add_get(
        "Result", (7, 0), (("key", "eq", key),), 1, after=["Admit", "Drop", ("Still staged?", 1)]
    )
    builder.add_fields(
        "Answer",
        (8, 0),
        "{admitted:!!$json.id&&$json.state!=='dropped'&&$json.state!=='staged'}",
        after=["Result"],
    )
    return builder.build_workflow(name)
