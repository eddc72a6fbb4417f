"""Join: when all branches have arrived, one execution goes on.

The branches of a join are open rows. Whoever finds them complete claims the one with the smallest
number; the others are consumed. The claimed row remembers the number of the last consumed row, so a
take-over consumes the same ones.
"""

from __future__ import annotations

from orgflow.backends.n8n.format.document import Workflow
from orgflow.backends.n8n.node_types.conditions import make_expression
from orgflow.backends.n8n.waiting.claim import add_consumption, add_variables
from orgflow.backends.n8n.waiting.rows_code import token_code, variables_code
from orgflow.backends.n8n.waiting.workflow_builder import (
    NOW,
    References,
    WorkflowBuilder,
    field_of,
    moment_after,
)

ABOUT = (
    "Called when a branch arrives at a join. If all branches have arrived, exactly one caller gets "
    "**won = true** and continues the process after the join."
)

_MOST_BRANCHES = 1_000
_SORTED = "$('Arrived branches').all().map(i=>i.json).filter(r=>r.id).sort((a,b)=>a.id-b.id)"


def build_join(refers: References, name: str, note: str, lease_minutes: int) -> Workflow:
    """The workflow. Input: `element`, `scope`, `needed`, `execution`. Output: `won`, and if it won,
    `token`, `data` and `variables`."""
    builder = WorkflowBuilder("join", refers)
    builder.add_note(note)
    builder.add_call_trigger()
    builder.add_get(
        "Arrived branches",
        (1, 0),
        (
            ("kind", "eq", "branch"),
            ("element", "eq", make_expression("$json.element")),
            ("scope", "eq", make_expression("$json.scope")),
            ("state", "eq", "open"),
        ),
        _MOST_BRANCHES,
        after=["Called"],
    )
    builder.add_test(
        "All of them?",
        (2, 0),
        f"new Set({_SORTED}.map(r=>r.branch)).size"
        f">=Math.max(1,Number({field_of('Called', 'needed')}))",
        after=["Arrived branches"],
        executeOnce=True,
    )
    builder.add_update(
        "Claim the join",
        (3, 0),
        (("key", "eq", make_expression(f"{_SORTED}[0].key")), ("state", "eq", "open")),
        {
            "state": "running",
            "execution": make_expression(f"String({field_of('Called', 'execution')})"),
            "event": make_expression(field_of("Called", "element")),
            "joined_to": make_expression(f"String({_SORTED}.at(-1).id)"),
            "attempts": "0",
            "changed_at": make_expression(NOW),
            "check_at": make_expression(moment_after(str(lease_minutes * 60_000))),
        },
        after=[("All of them?", 0)],
    )
    builder.add_test(
        "Won?",
        (4, 0),
        f"!!$json.id&&$json.execution===String({field_of('Called', 'execution')})",
        after=["Claim the join"],
    )
    add_consumption(builder, "Consume branches", (5, 0), "Claim the join", after=[("Won?", 0)])
    add_variables(builder, (6, 0), ["Consume branches"], "Claim the join")
    row = "$('Claim the join').first().json"
    builder.add_fields(
        "Joined",
        (8, 0),
        f"{{won:true,token:{token_code(row)},data:{{}},"
        f"variables:{variables_code('Changed variables')}}}",
        after=[("Too many changes?", 1)],
        executeOnce=True,
    )
    builder.add_fields(
        "Not joined",
        (8, 1),
        "{won:false}",
        after=[("All of them?", 1), ("Won?", 1)],
        executeOnce=True,
    )
    return builder.build_workflow(name)
