"""Start: a process instance begins with a row for itself and one for its first steps."""

from __future__ import annotations

from orgflow.backends.n8n.format.document import Workflow
from orgflow.backends.n8n.node_types.conditions import make_expression
from orgflow.backends.n8n.waiting.rows import GRACE_SECONDS
from orgflow.backends.n8n.waiting.rows_code import EMPTY_ROW_CODE, KEY_LENGTH, token_code
from orgflow.backends.n8n.waiting.workflow_builder import (
    NOW,
    References,
    WorkflowBuilder,
    field_of,
    moment_after,
)

ABOUT = (
    "Called by a process when an instance starts. It writes the row of the instance and the row of "
    "its first steps. A caller who repeats a start with the same **instance id** starts nothing "
    "new."
)


def _rows_code(lease_minutes: int) -> str:
    """JavaScript for the two rows: the instance, and its first steps."""
    lease = moment_after(str(lease_minutes * 60_000))
    grace = moment_after(str(GRACE_SECONDS * 1000))
    return (
        f"((c,k,s,given)=>({{given,rows:["
        "{...c,key:k,instance:k,business_key:given,kind:'scope',element:'process',"
        "state:given?'staged':'open',live:'1',variables:'{}',idempotency_key:"
        f"given?c.workflow+'|'+given:'',check_at:{grace} }},"
        "{...c,key:s,instance:k,kind:'start',element:$json.element,scope:k+'/',"
        "state:given?'staged':'running',live:'1',execution:String($json.execution),created_by:k,"
        f"variables:JSON.stringify($json.variables||{{}}),check_at:{lease} }}]}} ))"
        f"({{{EMPTY_ROW_CODE},workflow:String($json.workflow),local_variables:'{{}}',attempts:'0',"
        f"changed_at:{NOW} }},$json.random.slice(0,{KEY_LENGTH}),$json.random.slice({KEY_LENGTH}),"
        "String($json.instance||''))"
    )


def build_start(refers: References, name: str, note: str, lease_minutes: int) -> Workflow:
    """The workflow. Input: `element`, `variables`, `execution`, `workflow`, and `instance`, the
    caller's id, or empty. Output: `won`, `instance`, and if it won, `token`, `data`, `variables`.
    """
    builder = WorkflowBuilder("start", refers)
    builder.add_note(note)
    builder.add_call_trigger()
    builder.add_random("Random keys", (1, 0), str(2 * KEY_LENGTH), after=["Called"])
    builder.add_fields("New rows", (2, 0), _rows_code(lease_minutes), after=["Random keys"])
    builder.add_split("Each row", (3, 0), "rows", after=["New rows"])
    builder.add_insert("Write rows", (4, 0), after=["Each row"])
    builder.add_test(
        "Has an instance id?",
        (5, 0),
        f"{field_of('New rows', 'given')}!==''",
        after=["Write rows"],
        executeOnce=True,
    )
    builder.add_call(
        "Admit",
        (6, 0),
        "admit",
        {"key": field_of("New rows", "rows[0].key")},
        after=[("Has an instance id?", 0)],
    )
    builder.add_test("Admitted?", (7, 0), "$json.admitted", after=["Admit"])
    builder.add_update(
        "Begin steps",
        (8, 0),
        (
            ("key", "eq", make_expression(field_of("New rows", "rows[1].key"))),
            ("state", "eq", "staged"),
        ),
        {
            "state": "running",
            "changed_at": make_expression(NOW),
            "check_at": make_expression(moment_after(str(lease_minutes * 60_000))),
        },
        after=[("Admitted?", 0)],
    )
    builder.add_test("Begun here?", (9, 0), "!!$json.id", after=["Begin steps"])
    first = field_of("New rows", "rows[1]")
    given = field_of("New rows", "given")
    builder.add_fields(
        "Started",
        (10, 1),
        f"{{won:true,instance:{given}||{first}.instance,token:{token_code(first)},"
        f"data:JSON.parse({first}.variables),variables:JSON.parse({first}.variables)}}",
        after=[("Begun here?", 0), ("Has an instance id?", 1)],
    )
    builder.add_fields(
        "Started before",
        (10, 0),
        f"{{won:false,instance:{given}}}",
        after=[("Admitted?", 1), ("Begun here?", 1)],
    )
    return builder.build_workflow(name)
