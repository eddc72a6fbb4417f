"""Models on which the time of a compile depends on how often it repeats its work: many decisions on
variables, and compensation in parallel branches."""

from __future__ import annotations

import itertools

_HEAD = (
    '<?xml version="1.0"?>\n<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" targetNamespace="t" id="d">\n'
    '<process id="p" isExecutable="true">\n'
)
_FOOT = "</process>\n</definitions>\n"


class _Drawing:
    """A process, element by element."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._flows = 0

    def node(
        self, tag: str, id: str, name: str = "", attributes: str = "", inside: str = ""
    ) -> str:
        """Add a node and return its id."""
        named = f' name="{name}"' if name else ""
        self._lines.append(f'<{tag} id="{id}"{named}{attributes}>{inside}</{tag}>')
        return id

    def flow(self, source: str, target: str, condition: str = "") -> None:
        """Add a flow."""
        self._flows += 1
        inside = ""
        if condition:
            inside = (
                '<conditionExpression xsi:type="tFormalExpression">'
                f"{condition}</conditionExpression>"
            )
        self._lines.append(
            f'<sequenceFlow id="f{self._flows}" sourceRef="{source}" targetRef="{target}">'
            f"{inside}</sequenceFlow>"
        )

    def path(self, *nodes: str) -> None:
        """Add a flow from each node to the next."""
        for source, target in itertools.pairwise(nodes):
            self.flow(source, target)

    def line(self, text: str) -> None:
        """Add any other line."""
        self._lines.append(text)

    @property
    def content(self) -> str:
        """What is in the process."""
        return "\n".join(self._lines)

    @property
    def text(self) -> str:
        """The BPMN file."""
        return f"{_HEAD}{self.content}\n{_FOOT}"


def decisions_model(nodes: int, *, labelled: bool = False) -> str:
    """A sequence of `nodes` elements: a task, a decision between two tasks, and two tasks in
    parallel, again and again. Each decision reads a variable of its own, or with `labelled` has
    neither conditions nor labels."""
    drawing = _Drawing()
    last = drawing.node("startEvent", "s")
    number = at = 0
    while number < nodes:
        kind = at % 3
        if kind == 0:
            task = drawing.node("task", f"t{at}", f"T{at}")
            drawing.flow(last, task)
            last, number = task, number + 1
        else:
            gateway = "exclusiveGateway" if kind == 1 else "parallelGateway"
            split = drawing.node(gateway, f"x{at}", f"G{at}?" if kind == 1 else "")
            join = drawing.node(gateway, f"y{at}")
            drawing.flow(last, split)
            decides = kind == 1 and not labelled
            for branch, test in (("a", "&gt;"), ("b", "&lt;=")):
                task = drawing.node("task", f"{branch}{at}", f"{branch.upper()}{at}")
                drawing.flow(split, task, f"${{v{at} {test} 1}}" if decides else "")
                drawing.flow(task, join)
            last, number = join, number + 4
        at += 1
    drawing.flow(last, drawing.node("endEvent", "e"))
    return drawing.text


def compensated_branches_model(branches: int = 4) -> str:
    """Parallel branches whose first tasks are compensated by an event after the join: 36 nodes and
    four boundary events with four branches. In each branch are constructs that lowerings rewrite,
    one kind after the other: a loop, a call, nested sub-processes."""
    drawing = _Drawing()
    drawing.node("startEvent", "s")
    drawing.node("parallelGateway", "split")
    drawing.node("parallelGateway", "join")
    drawing.path("s", "split")
    for n in range(branches):
        drawing.node("serviceTask", f"book{n}", f"Book {n}")
        drawing.node(
            "boundaryEvent",
            f"undo{n}",
            attributes=f' attachedToRef="book{n}"',
            inside=f'<compensateEventDefinition id="c{n}"/>',
        )
        drawing.node("serviceTask", f"cancel{n}", f"Cancel {n}", ' isForCompensation="true"')
        drawing.line(
            f'<association id="a{n}" associationDirection="One" sourceRef="undo{n}" '
            f'targetRef="cancel{n}"/>'
        )
        inner = _Drawing()
        inner.node("userTask", f"check{n}", f"Check {n}")
        outer = _Drawing()
        outer.node("subProcess", f"inner{n}", f"Checks {n}", inside=inner.content)
        drawing.node("subProcess", f"outer{n}", f"Review {n}", inside=outer.content)
        drawing.node("callActivity", f"call{n}", f"Report {n}", ' calledElement="elsewhere"')
        drawing.node(
            "userTask",
            f"pay{n}",
            f"Pay {n}",
            inside='<standardLoopCharacteristics testBefore="true"><loopCondition>more'
            "</loopCondition></standardLoopCharacteristics>",
        )
        drawing.path("split", f"book{n}", f"outer{n}", f"call{n}", f"pay{n}", "join")
    drawing.node("endEvent", "e", "All cancelled", inside='<compensateEventDefinition id="c"/>')
    drawing.path("join", "e")
    return drawing.text
