"""Fold: the variables that many steps of one instance changed become one row, a snapshot.

Only changes that are older than a lease are folded: no commit is so slow that a change of an
earlier moment would still appear. The snapshot has the moment of the latest of them, so changes
that were not folded stay in their order. An interruption anywhere leaves values that are equal,
once or twice.
"""

from __future__ import annotations

from orgflow.backends.n8n.format.document import Workflow
from orgflow.backends.n8n.node_types.conditions import make_expression
from orgflow.backends.n8n.waiting.rows import FOLD_LEAST, MOST_CHANGES, NEVER
from orgflow.backends.n8n.waiting.rows_code import (
    EMPTY_ROW_CODE,
    KEY_LENGTH,
    variables_code,
)
from orgflow.backends.n8n.waiting.workflow_builder import (
    References,
    WorkflowBuilder,
    moment_after,
)

ABOUT = (
    "Called when a process instance has changed its variables many times. It combines the older "
    "changes into one row, so the variables can still be read at once."
)

_CHANGES = "$('Old changes').all().map(i=>i.json).filter(r=>r.id)"


def _row_code() -> str:
    """JavaScript for the row of the snapshot."""
    return (
        f"((rs,k)=>({{{EMPTY_ROW_CODE},key:k,instance:rs[0].instance,kind:'snapshot',"
        "element:'snapshot',scope:rs[0].instance+'/',state:'done',live:'0',"
        f"variables:JSON.stringify({variables_code('Old changes')}),local_variables:'{{}}',"
        "attempts:'0',workflow:rs[0].workflow,"
        "changed_at:rs.map(r=>r.changed_at).sort().at(-1),"
        f"check_at:'{NEVER}' }}))({_CHANGES},$json.random)"
    )


def build_fold(refers: References, name: str, note: str, lease_minutes: int) -> Workflow:
    """The workflow. Input: `instance`. No output that counts."""
    builder = WorkflowBuilder("fold", refers)
    builder.add_note(note)
    builder.add_call_trigger()
    builder.add_get(
        "Old changes",
        (1, 0),
        (
            ("instance", "eq", make_expression("$json.instance||'-'")),
            ("variables", "neq", "{}"),
            ("live", "eq", "0"),
            ("state", "neq", "cancelled"),
            ("changed_at", "lte", make_expression(moment_after(f"(-{lease_minutes * 60_000})"))),
        ),
        MOST_CHANGES,
        after=["Called"],
    )
    # As many as can be read may be only a part of them, and a part has no moment.
    builder.add_filter(
        "Enough of them?",
        (2, 0),
        f"{_CHANGES}.length>={FOLD_LEAST}&&{_CHANGES}.length<{MOST_CHANGES}",
        after=["Old changes"],
        executeOnce=True,
    )
    builder.add_random("Random key", (3, 0), str(KEY_LENGTH), after=["Enough of them?"])
    builder.add_fields("New row", (4, 0), _row_code(), after=["Random key"])
    builder.add_insert("Keep the snapshot", (5, 0), after=["New row"])
    builder.add_fields(
        "Folded changes",
        (6, 0),
        f"{{rows:{_CHANGES}.map(r=>({{key:r.key,changed_at:r.changed_at}} ))}}",
        after=["Keep the snapshot"],
        executeOnce=True,
    )
    builder.add_split("Each change", (7, 0), "rows", after=["Folded changes"])
    builder.add_update(
        "Empty the change",
        (8, 0),
        (
            ("key", "eq", make_expression("$json.key")),
            ("changed_at", "eq", make_expression("$json.changed_at")),
            ("live", "eq", "0"),
        ),
        {"variables": "{}"},
        each=True,
        after=["Each change"],
    )
    return builder.build_workflow(name)
