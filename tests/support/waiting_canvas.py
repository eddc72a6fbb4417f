"""A process with people in parallel as a canvas of segments, for trials of the support set.

`parallel_tasks` asks several people at once, joins their answers, calls an address outside, and
ends. It has the shape that a compiled process will have: a segment for each trigger.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from orgflow.backends.n8n.format.document import Workflow, node_uuid
from orgflow.backends.n8n.node_types import calling_type
from orgflow.backends.n8n.node_types.conditions import make_expression
from orgflow.backends.n8n.node_types.respond_to_webhook import answer_parameters
from orgflow.backends.n8n.waiting.calls import claim_call, complete_call, start_call, take_call
from orgflow.backends.n8n.waiting.workflow_builder import References, WorkflowBuilder

CALL = calling_type().name

PAGE = (
    "JSON.stringify({formSubmittedText:$json.won?'Thank you. Your answer was taken.':"
    "['done','running'].includes($json.state)?'This task has already been answered.':"
    "'This task is no longer open.'})"
)


def task_names(count: int) -> tuple[str, ...]:
    """Names of so many tasks."""
    return tuple(f"Task {number}" for number in range(1, count + 1))


def parallel_tasks(
    path: str, count: int, outside: str, workflows: Mapping[str, str], *, timer_seconds: float = 0
) -> Workflow:
    """The process.

    Args:
        path: the path of its address, and the beginning of those of its forms.
        count: number of people asked at the same time.
        outside: an address that it calls after the join.
        workflows: ids of the support set.
        timer_seconds: above zero, the first task has a timer that does not interrupt it; a step
            after the timer calls `outside`.
    """
    tasks = task_names(count)
    builder = WorkflowBuilder("process", References({}, {"process": ""}, {}))
    builder.add_node(
        "Start",
        "webhook",
        (0, 0),
        {"httpMethod": "POST", "path": path, "responseMode": "responseNode", "options": {}},
        webhookId=node_uuid(path),
    )
    begin = start_call(
        workflows["start"], "Start", "$json.body.variables||{}", "$json.body.instance||''"
    )
    builder.add_node("Begin", CALL, (1, 0), begin, after=["Start"])
    builder.add_node(
        "Started",
        "respondToWebhook",
        (2, 0),
        answer_parameters(
            200, make_expression("JSON.stringify({instance:$json.instance,won:$json.won})")
        ),
        after=["Begin"],
    )
    builder.add_filter("New instance", (3, 0), "$json.won===true", after=["Started"])
    rows = [{"kind": "task", "element": task, "title": task} for task in tasks]
    listed = json.dumps(rows)
    if timer_seconds:
        rows[0] |= {"ref": "first", "hosts_events": "yes"}
        due = f"new Date(Date.now()+{int(timer_seconds * 1000)}).toISOString()"
        timer = f"{{kind:'timer',element:'Reminder',attached_to:'first',due:{due} }}"
        listed = f"[{timer},{json.dumps(rows)[1:]}"
    ask = complete_call(workflows["complete"], listed, variables="$json.variables")
    builder.add_node("Ask everybody", CALL, (4, 0), ask, after=["New instance"])
    for line, task in enumerate(tasks, 1):
        _add_task(builder, path, task, line, count, workflows)
    _add_end(builder, count, outside, workflows)
    rules = [("Start", "New instance"), *((task, f"{task} taken") for task in tasks)]
    rules.append(("All answered", "All answered"))
    if timer_seconds:
        _add_reminder(builder, count + 3, outside, workflows)
        rules.append(("Reminder", "Reminder"))
    builder.add_node("Continue", "executeWorkflowTrigger", (0, count + 2),
                     {"inputSource": "passthrough"})  # fmt: skip
    builder.add_node(
        "Take", CALL, (1, count + 2), take_call(workflows["claim"]), after=["Continue"]
    )
    builder.add_switch(
        "Where",
        (2, count + 2),
        [(event, f"$json.won&&$json.token.event==={json.dumps(event)}") for event, _ in rules],
        after=["Take"],
    )
    for number, (_, node) in enumerate(rules):
        builder.connect(("Where", number), node)
    return builder.build_workflow(path)


def _add_task(
    builder: WorkflowBuilder,
    path: str,
    task: str,
    line: int,
    count: int,
    workflows: Mapping[str, str],
) -> None:
    fields = [
        {"fieldType": "hiddenField", "fieldName": "key", "fieldLabel": "key"},
        {"fieldLabel": "answer", "fieldName": "answer"},
    ]
    builder.add_node(
        task,
        "formTrigger",
        (0, line),
        {
            "formTitle": task,
            "path": form_path(path, task),
            "formFields": {"values": fields},
            "responseMode": "responseNode",
            "options": {},
        },
        typeVersion=2.1,
        webhookId=node_uuid(f"{path}/{task}"),
    )
    entered = f"({{{json.dumps(task)}:$json.answer}})"
    builder.add_node(
        f"{task} claim", CALL, (1, line), claim_call(workflows["claim"], entered), after=[task]
    )
    builder.add_node(
        f"{task} page",
        "respondToWebhook",
        (2, line),
        answer_parameters(200, make_expression(PAGE)),
        after=[f"{task} claim"],
    )
    builder.add_filter(f"{task} taken", (3, line), "$json.won===true", after=[f"{task} page"])
    branch = {"kind": "branch", "element": "All answered", "branch": task, "needed": count}
    builder.add_node(
        f"{task} done",
        CALL,
        (4, line),
        complete_call(workflows["complete"], f"[{json.dumps(branch)}]", variables="$json.data"),
        after=[f"{task} taken"],
    )
    if line == 1:
        builder.add_node("All answered", "noOp", (5, 1), {})
    builder.connect(f"{task} done", "All answered")


def _add_end(
    builder: WorkflowBuilder, count: int, outside: str, workflows: Mapping[str, str]
) -> None:
    del count
    body = (
        "JSON.stringify({key:$json.token.key+' Pay',instance:$json.token.instance,"
        "variables:$json.variables})"
    )
    builder.add_node("Pay", "httpRequest", (6, 1), _post(outside, body), after=["All answered"])
    builder.add_node(
        "End",
        CALL,
        (7, 1),
        complete_call(
            workflows["complete"], token="$('All answered').first().json.token", end=True
        ),
        after=["Pay"],
    )


def _add_reminder(
    builder: WorkflowBuilder, line: int, outside: str, workflows: Mapping[str, str]
) -> None:
    builder.add_node("Reminder", "noOp", (3, line), {})
    body = "JSON.stringify({key:$json.token.key+' Remind',instance:$json.token.instance})"
    builder.add_node("Remind", "httpRequest", (4, line), _post(outside, body), after=["Reminder"])
    builder.add_node(
        "Reminded",
        CALL,
        (5, line),
        complete_call(workflows["complete"], token="$('Reminder').first().json.token", end=True),
        after=["Remind"],
    )


def _post(url: str, body: str) -> dict[str, Any]:
    return {
        "method": "POST",
        "url": url,
        "sendBody": True,
        "specifyBody": "json",
        "jsonBody": make_expression(body),
        "options": {},
    }


def form_path(path: str, task: str) -> str:
    """The path of the form of a task."""
    return f"{path}-{task.replace(' ', '-').lower()}"
