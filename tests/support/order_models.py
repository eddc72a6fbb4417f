"""An order process in BPMN: tasks in a row behind a message, perhaps with a gateway."""

from __future__ import annotations

import itertools
from pathlib import Path


def order_model(
    path: Path,
    *tasks: str,
    name: str = "Order",
    start: str = "Order received",
    lane: str = "",
    question: str = "",
) -> Path:
    """Write a process of these tasks in a row; `check:Look` is the task `check` called `Look`.

    Args:
        path: the file; its folder is made.
        name: of the process, whose id is that in small letters.
        start: of the start event.
        lane: in which all nodes stand.
        question: of a gateway behind the first task: by `Yes` to the others, by `No` to `cancel`.
    """
    ids = ["start", *(task.split(":")[0] for task in tasks), "end"]
    rows = [f'<task id="{task.split(":")[0]}" name="{task.split(":")[-1]}"/>' for task in tasks]
    flows = [(a, b, "") for a, b in itertools.pairwise(ids)]
    if question:
        flows[1] = ("ask", ids[2], "Yes")
        flows += [(ids[1], "ask", ""), ("ask", "cancel", "No"), ("cancel", "off", "")]
        rows += [
            f'<exclusiveGateway id="ask" name="{question}"/>',
            '<task id="cancel" name="Cancel"/>',
            '<endEvent id="off" name="Cancelled"/>',
        ]
        ids += ["ask", "cancel", "off"]
    drawn = [
        f'<sequenceFlow id="f{i}" name="{label}" sourceRef="{a}" targetRef="{b}"/>'
        for i, (a, b, label) in enumerate(flows)
    ]
    refs = "".join(f"<flowNodeRef>{id}</flowNodeRef>" for id in ids)
    lanes = f'<laneSet id="ls"><lane id="l" name="{lane}">{refs}</lane></laneSet>' if lane else ""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" '
        'targetNamespace="x"><message id="m" name="Order"/>'
        f'<process id="{name.lower()}" name="{name}" isExecutable="true">{lanes}'
        f'<startEvent id="start" name="{start}"><messageEventDefinition messageRef="m"/>'
        f'</startEvent>{"".join(rows)}<endEvent id="end" name="Done"/>{"".join(drawn)}'
        "</process></definitions>",
        "utf-8",
    )
    return path
