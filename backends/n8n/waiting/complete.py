"""Complete: the end of a segment, which takes effect as a whole or not at all.

The rows that a segment leaves open are written as `staged`, which nothing else reads. One
conditional update, the commit, ends the segment's own row; only then the staged rows become open. A
segment that was cancelled or taken over in the meantime fails at its commit and leaves nothing.
"""

from __future__ import annotations

from orgflow.backends.n8n.format.document import Workflow
from orgflow.backends.n8n.node_types.conditions import make_expression
from orgflow.backends.n8n.node_types.data_table import Tests
from orgflow.backends.n8n.waiting.rows import GRACE_SECONDS, NEVER
from orgflow.backends.n8n.waiting.rows_code import EMPTY_ROW_CODE, KEY_LENGTH
from orgflow.backends.n8n.waiting.workflow_builder import (
    NO_ITEMS,
    NOW,
    References,
    WorkflowBuilder,
    field_of,
    moment_after,
)

ABOUT = (
    "Called at the end of each part of a process: the part took effect, and the tasks, timers and "
    "messages that it waits for next are written. If the part was cancelled meanwhile, nothing "
    "happens. An item is returned only where the process goes on at once."
)

_CALLED_TOKEN = field_of("Called", "token")
_ROWS = f"({field_of('Called', 'rows')}||[])"


def _rows_code() -> str:
    """JavaScript for the new rows. `ref` names a row among them; `host`, `attached_to` and `inside`
    refer to such a name, or contain a key."""
    grace = moment_after(str(GRACE_SECONDS * 1000))
    return (
        "{rows:(rs=>{const by=Object.fromEntries(rs.filter(r=>r.ref).map(r=>[r.ref,r]));"
        "const key=n=>by[n]?by[n].key:n||'';"
        "for(const r of rs){if(r.inside)r.scope=by[r.inside].scope+by[r.inside].key+'/';"
        "r.host=key(r.host);r.attached_to=key(r.attached_to);"
        "if(r.attached_to){r.interrupting='no';r.host=r.attached_to;} }"
        "return rs.map(({ref,inside,...r})=>r)} )("
        f"{_ROWS}.map((o,i)=>((c,t)=>({{...c,...o,"
        f"key:$json.random.slice(i*{KEY_LENGTH},(i+1)*{KEY_LENGTH}),instance:t.instance,"
        "scope:t.scope,needed:String(o.needed||''),hosts_events:o.hosts_events?'yes':'',"
        "local_variables:JSON.stringify({...t.local,...(o.local||{} )} ),local:undefined,"
        "execution:t.execution,created_by:t.key,workflow:t.workflow,"
        f"changed_at:{NOW},check_at:o.kind==='timer'?o.due:"
        f"['task','gateway'].includes(o.kind)?'{NEVER}':{grace} }}))"
        f"({{{EMPTY_ROW_CODE},state:'staged',live:'1',variables:'{{}}',attempts:'0'}},{_CALLED_TOKEN})))}}"
    )


def build_complete(refers: References, name: str, note: str) -> Workflow:
    """The workflow.

    Input: `token`; `variables` that the segment changed; `rows` that it leaves open, with their
    columns, `ref` and `inside` (`_rows_code`), `local` and `hosts_events`; `end`, whether its path
    ends in its scope; `leave`, the event that leaves a scope at once, or empty; `levels`, how many
    scopes it leaves. Output: as that of `claim` where the process goes on, otherwise no item.
    """
    builder = WorkflowBuilder("complete", refers)
    builder.add_note(note)
    builder.add_call_trigger()
    builder.add_test("Leaves rows?", (1, 0), f"{_ROWS}.length>0", after=["Called"])
    builder.add_random(
        "Random keys", (2, 0), f"{_ROWS}.length*{KEY_LENGTH}", after=[("Leaves rows?", 0)]
    )
    builder.add_fields("New rows", (3, 0), _rows_code(), after=["Random keys"])
    builder.add_split("Each row", (4, 0), "rows", after=["New rows"])
    builder.add_insert("Stage rows", (5, 0), after=["Each row"])
    _add_commit(builder)
    _add_next_step(builder)
    return builder.build_workflow(name)


def _add_commit(builder: WorkflowBuilder) -> None:
    """The conditional update that ends the segment's row, and the rows that then become open."""
    ends = f"(!!{field_of('Called', 'end')}||!!{field_of('Called', 'leave')})"
    mine = make_expression(f"{_CALLED_TOKEN}.execution")
    builder.add_update(
        "Commit",
        (6, 1),
        (
            ("key", "eq", make_expression(f"{_CALLED_TOKEN}.key")),
            ("execution", "eq", mine),
            ("state", "eq", "running"),
        ),
        {
            "state": make_expression(f"{ends}?'ending':'done'"),
            "live": "0",
            "variables": make_expression(
                f"JSON.stringify({field_of('Called', 'variables')}||{{}} )"
            ),
            "ends_scope": make_expression(
                f"{ends}?{_CALLED_TOKEN}.scope.split('/')"
                f".at(-1-({field_of('Called', 'levels')}||1)):''"
            ),
            "ends_with": make_expression(f"{field_of('Called', 'leave')}||''"),
            "changed_at": make_expression(NOW),
            "check_at": make_expression(
                f"{ends}?{moment_after(str(GRACE_SECONDS * 1000))}:'{NEVER}'"
            ),
        },
        after=["Stage rows", ("Leaves rows?", 1)],
    )
    builder.add_test("Committed?", (7, 1), "!!$json.id", after=["Commit"])
    staged: Tests = (
        ("created_by", "eq", make_expression(f"{_CALLED_TOKEN}.key")),
        ("execution", "eq", mine),
        ("state", "eq", "staged"),
    )
    builder.add_delete("Delete staged rows", (8, 2), staged, after=[("Committed?", 1)])
    builder.add_filter("Was cancelled", (9, 2), NO_ITEMS, after=["Delete staged rows"])
    builder.add_test(
        "Rows to open?", (8, 0), f"{_ROWS}.length>0", after=[("Committed?", 0)], executeOnce=True
    )
    builder.add_update(
        "Open rows",
        (9, 0),
        staged,
        {"state": "open", "execution": ""},
        after=[("Rows to open?", 0)],
    )


def _add_next_step(builder: WorkflowBuilder) -> None:
    """What the new rows ask for: messages that have arrived, a complete join, the end of a scope.
    The step that may go on comes last, since its answer is that of the workflow."""
    # A timer that is due already begins a branch: nobody waits for the sweep.
    builder.add_filter(
        "Begins at once?",
        (10, -1),
        f"$json.kind==='timer'&&!$json.host&&$json.due<={NOW}",
        after=["Open rows"],
    )
    builder.add_call(
        "Begin the branch",
        (11, -1),
        make_expression("$json.workflow"),
        {
            "key": "$json.key",
            "event": "$json.element",
            "takeover": "''",
            "attempts": "0",
            "variables": "({})",
        },
        each=True,
        waits=False,
        after=["Begins at once?"],
        onError="continueRegularOutput",
    )
    receivers = f"{_ROWS}.filter(o=>o.message_key).map(o=>({{message_key:o.message_key}} ))"
    builder.add_filter("Expects messages?", (10, 0), f"{receivers}.length>0", after=["Open rows"],
                       executeOnce=True)  # fmt: skip
    builder.add_fields(
        "Expected messages", (11, 0), f"{{keys:{receivers}}}", after=["Expects messages?"]
    )
    builder.add_split("Each message", (12, 0), "keys", after=["Expected messages"])
    builder.add_call(
        "Match messages", (13, 0), "match", each=True, waits=False, after=["Each message"]
    )
    branch = f"{_ROWS}.find(o=>o.kind==='branch')"
    builder.add_switch(
        "What is next?",
        (10, 1),
        (
            ("a join", f"!!{branch}"),
            ("the end of a scope",
             f"!!{field_of('Called', 'end')}||!!{field_of('Called', 'leave')}"),
        ),
        after=["Open rows", ("Rows to open?", 1)],
        executeOnce=True,
    )  # fmt: skip
    builder.add_call(
        "Join branches",
        (11, 1),
        "join",
        {
            "element": f"{branch}.element",
            "scope": f"{_CALLED_TOKEN}.scope",
            "needed": f"{branch}.needed",
            "execution": f"{_CALLED_TOKEN}.execution",
        },
        after=[("What is next?", 0)],
    )
    commit = "$('Commit').first().json"
    builder.add_call(
        "End the scope",
        (11, 2),
        "end_scope",
        {
            "key": f"{commit}.key",
            "scope": f"{commit}.scope",
            "target": f"{commit}.ends_scope",
            "leave": f"{commit}.ends_with",
            "execution": f"{_CALLED_TOKEN}.execution",
        },
        after=[("What is next?", 1)],
    )
    builder.add_filter(
        "Goes on", (12, 2), "$json.won===true", after=["Join branches", "End the scope"]
    )
    builder.add_filter("Waits", (11, 3), NO_ITEMS, after=[("What is next?", 2)])
