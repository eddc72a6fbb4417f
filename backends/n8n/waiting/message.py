"""Message: the address at which messages from outside arrive, for all processes of the server."""

from __future__ import annotations

from orgflow.backends.n8n.format.document import Workflow
from orgflow.backends.n8n.node_types.conditions import make_expression
from orgflow.backends.n8n.node_types.respond_to_webhook import answer_parameters
from orgflow.backends.n8n.waiting.rows import GRACE_SECONDS
from orgflow.backends.n8n.waiting.rows_code import EMPTY_ROW_CODE, KEY_LENGTH, message_key_code
from orgflow.backends.n8n.waiting.workflow_builder import (
    NOW,
    References,
    WorkflowBuilder,
    field_of,
    moment_after,
)

ABOUT = (
    "Send `POST /webhook/orgflow-message` with `name`, and optionally `key` (correlation), `data` "
    "(an object of variables), `id` and `ttl` (seconds, at least {least}). The answer comes once "
    "the message is stored; it is kept until a process expects it, or its time to live ends. A "
    "repeated **id** is stored once."
)

_FAULT = (
    "((b,o)=>!o(b)||b.name==null||b.name===''||typeof b.name==='object'?'name is missing':"
    "typeof b.key==='object'&&b.key!==null?'key is no text':"
    "typeof b.id==='object'&&b.id!==null?'id is no text':"
    "b.data!=null&&!o(b.data)?'data is no object of variables':"
    "b.ttl!=null&&(typeof b.ttl==='object'||b.ttl===''||!(Number(b.ttl)>=0&&Number(b.ttl)<1e9))"
    "?'ttl is no number of seconds':'')"
    "($json.body,v=>typeof v==='object'&&v!==null&&!Array.isArray(v))"
)
"""JavaScript for the reason why a call is refused, in words; empty for a message."""

MESSAGE_PATH = "orgflow-message"
"""The path of the address below `/webhook`."""


def _row_code(days: int) -> str:
    """JavaScript for the row of a message, with the time to live where the sender gives none. A
    match that was interrupted is completed after the grace period, so none lives shorter."""
    lifetime = f"1000*Math.max(b.ttl==null?{days * 86_400}:Number(b.ttl),{GRACE_SECONDS})"
    return (
        f"((b,r,id)=>({{{EMPTY_ROW_CODE},key:r,kind:'message',state:id?'staged':'open',live:'1',"
        "variables:JSON.stringify(b.data||{} ),local_variables:'{}',attempts:'0',"
        f"message_key:{message_key_code('b.name', 'b.key')},"
        "idempotency_key:id?'message|'+id:'',"
        f"due:{moment_after(lifetime)},changed_at:{NOW},"
        f"check_at:{moment_after(str(GRACE_SECONDS * 1000))} }}))($json.body,$json.random,"
        "String($json.body.id??''))"
    )


def build_message(refers: References, name: str, note: str, days: int) -> Workflow:
    """The workflow; `days` is the time to live of messages whose sender gives none."""
    builder = WorkflowBuilder("message", refers)
    builder.add_note(note)
    builder.add_address("Message", (0, 0), MESSAGE_PATH)
    builder.add_call_trigger((0, 1))
    builder.add_test("Is it a message?", (1, 0), f"{_FAULT}===''", after=["Message", "Called"])
    builder.add_node(
        "Refuse",
        "respondToWebhook",
        (2, 1),
        answer_parameters(400, make_expression(f"JSON.stringify({{error:{_FAULT}}} )")),
        after=[("Is it a message?", 1)],
    )
    builder.add_random("Random key", (2, 0), str(KEY_LENGTH), after=[("Is it a message?", 0)])
    builder.add_fields("New row", (3, 0), _row_code(days), after=["Random key"])
    builder.add_insert("Keep the message", (4, 0), after=["New row"])
    builder.add_test(
        "Has an id?",
        (5, 0),
        f"{field_of('New row', 'idempotency_key')}!==''",
        after=["Keep the message"],
        executeOnce=True,
    )
    builder.add_call(
        "Admit", (6, 0), "admit", {"key": field_of("New row", "key")}, after=[("Has an id?", 0)]
    )
    builder.add_fields(
        "Is it new", (7, 0), "{fresh:$json.admitted!==false}", after=["Admit", ("Has an id?", 1)]
    )
    builder.add_node(
        "Accepted",
        "respondToWebhook",
        (8, 0),
        answer_parameters(
            200, make_expression("JSON.stringify({accepted:true,repeated:!$json.fresh})")
        ),
        after=["Is it new"],
    )
    builder.add_filter("New one", (9, 0), "$json.fresh", after=["Accepted"])
    builder.add_call(
        "Match messages",
        (10, 0),
        "match",
        {"message_key": field_of("New row", "message_key"), "message": "''"},
        waits=False,
        after=["New one"],
    )
    return builder.build_workflow(name)
