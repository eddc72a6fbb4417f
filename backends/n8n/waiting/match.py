"""Match: assigns messages to receivers, each message to one and each receiver one message.

The message is taken first, for one receiver; then the row that decides for the receiver is claimed
in its name. If that fails, the message is free again. Every step is conditional and repeatable, so
the sweep can finish a match that was interrupted anywhere, and two of them do no harm.
"""

from __future__ import annotations

from orgflow.backends.n8n.format.document import Workflow
from orgflow.backends.n8n.node_types.conditions import make_expression
from orgflow.backends.n8n.node_types.data_table import TestName
from orgflow.backends.n8n.waiting.rows import GRACE_SECONDS, MESSAGE_MARK, RETRY_SECONDS
from orgflow.backends.n8n.waiting.rows_code import closed_values
from orgflow.backends.n8n.waiting.workflow_builder import (
    NOW,
    References,
    WorkflowBuilder,
    field_of,
    moment_after,
)

ABOUT = (
    "Called when a message or a receiver appears. It assigns the oldest message to the oldest "
    "receiver with the same name and correlation key, continues that process, and repeats this "
    "until no pair is left."
)

_MOST_PAIRS = 100
_GRACE = make_expression(moment_after(str(GRACE_SECONDS * 1000)))
_TAKEN = "$('Taken message').first().json"
_OLDEST = (
    "((s,m)=>({found:!!(s&&m),receiver:s||{},message:m||{},"
    "target:s?(s.interrupting==='no'?s.key:s.host||s.key):''} ))"
    "(...['Receivers','Messages'].map(n=>$(n).all().map(i=>i.json)"
    f".filter(r=>r.id&&(n==='Receivers'||!r.due||r.due>{NOW}))"
    ".sort((a,b)=>a.id-b.id)[0]))"
)


def build_match(refers: References, name: str, note: str) -> Workflow:
    """The workflow. Input: `message_key`, or `message`, the key of a message whose assignment was
    interrupted. No output that counts."""
    builder = WorkflowBuilder("match", refers)
    builder.add_note(note)
    builder.add_call_trigger()
    builder.add_test("A taken message?", (1, 0), "!!$json.message", after=["Called"])
    _add_pairing(builder)
    builder.add_get(
        "Interrupted message",
        (2, 0),
        (("key", "eq", make_expression(f"{field_of('Called', 'message')}||'-'")),),
        1,
        after=[("A taken message?", 0)],
    )
    builder.add_filter("Taken here?", (7, 1), "!!$json.id", after=["Take the message"])
    # The row of the message names the receiver from here on: by `execution` the row that decides,
    # by `host` the receiver itself.
    builder.add_fields(
        "Taken message", (8, 0), "$json", after=["Interrupted message", "Taken here?"]
    )
    _add_delivery(builder)
    return builder.build_workflow(name)


def _add_pairing(builder: WorkflowBuilder) -> None:
    """The oldest receiver and the oldest message, which is then taken."""
    wanted = make_expression(f"{field_of('Called', 'message_key')}||'-'")
    for column, (label, kind) in enumerate((("Receivers", "receiver"), ("Messages", "message")), 2):
        builder.add_get(
            label,
            (column, 1),
            (("kind", "eq", kind), ("message_key", "eq", wanted), ("state", "eq", "open")),
            _MOST_PAIRS,
            after=[("A taken message?", 1)] if kind == "receiver" else ["Receivers"],
        )
    builder.add_fields("Oldest pair", (4, 1), _OLDEST, after=["Messages"], executeOnce=True)
    builder.add_filter("A pair?", (5, 1), "$json.found", after=["Oldest pair"])
    builder.add_update(
        "Take the message",
        (6, 1),
        (("key", "eq", make_expression("$json.message.key")), ("state", "eq", "open")),
        {
            "state": "running",
            "execution": make_expression("$json.target"),
            "host": make_expression("$json.receiver.key"),
            "event": make_expression("$json.receiver.element"),
            "workflow": make_expression("$json.receiver.workflow"),
            "changed_at": make_expression(NOW),
            "check_at": _GRACE,
        },
        after=["A pair?"],
    )


def _add_delivery(builder: WorkflowBuilder) -> None:
    """The receiver is claimed in the name of the message, and its process continues."""
    mark = f"'{MESSAGE_MARK}'+{_TAKEN}.key"
    message: tuple[str, TestName, str] = (
        "key",
        "eq",
        make_expression(f"{_TAKEN}.key||'-'"),
    )
    # The moment of its assignment tells it from a later one of the same message.
    moment: tuple[str, TestName, str] = (
        "changed_at",
        "eq",
        make_expression(f"{_TAKEN}.changed_at"),
    )
    builder.add_test(
        "Still to deliver?", (9, 0), "$json.state==='running'", after=["Taken message"]
    )
    builder.add_update(
        "Claim the receiver",
        (10, 0),
        (("key", "eq", make_expression(f"{_TAKEN}.execution||'-'")), ("state", "eq", "open")),
        {
            "state": "running",
            "host": "",
            "execution": make_expression(mark),
            "event": make_expression(f"{_TAKEN}.event"),
            "variables": make_expression(f"{_TAKEN}.variables"),
            "attempts": "0",
            "changed_at": make_expression(NOW),
            "check_at": make_expression(moment_after(str(RETRY_SECONDS * 1000))),
        },
        after=[("Still to deliver?", 0)],
    )
    builder.add_get(
        "Receiver now",
        (11, 0),
        (("key", "eq", make_expression(f"{_TAKEN}.execution||'-'")),),
        1,
        after=["Claim the receiver", ("Still to deliver?", 1)],
    )
    builder.add_test(
        "Has this message?",
        (12, 0),
        f"$json.state==='running'&&$json.execution==={mark}",
        after=["Receiver now"],
    )
    builder.add_update(
        "Message delivered",
        (13, 0),
        (message, moment, ("state", "eq", "running")),
        closed_values("done"),
        after=[("Has this message?", 0)],
    )
    builder.add_call(
        "Continue the process",
        (14, 0),
        make_expression(f"{_TAKEN}.workflow"),
        {
            "key": f"{_TAKEN}.execution",
            "takeover": mark,
            "event": f"{_TAKEN}.event",
            "attempts": "0",
            "variables": f"JSON.parse({_TAKEN}.variables||'{{}}')",
        },
        waits=False,
        after=["Message delivered"],
        onError="continueRegularOutput",
    )
    builder.add_update(
        "Receiver is closed",
        (13, 1),
        (("key", "eq", make_expression(f"{_TAKEN}.host||'-'")), ("state", "eq", "open")),
        closed_values("cancelled"),
        after=[("Has this message?", 1)],
    )
    builder.add_update(
        "Free the message",
        (14, 1),
        (
            message,
            moment,
            ("state", "eq", "running"),
            ("execution", "eq", make_expression(f"{_TAKEN}.execution||'-'")),
        ),
        {
            "state": "open",
            "execution": "",
            "host": "",
            "changed_at": make_expression(NOW),
            "check_at": _GRACE,
        },
        after=["Receiver is closed"],
    )
    builder.add_call(
        "Next pair",
        (15, 0),
        "match",
        {"message_key": f"{_TAKEN}.message_key", "message": "''"},
        waits=False,
        after=["Continue the process", "Free the message"],
        executeOnce=True,
    )
