"""Flows out of activities by the BPMN specification: what a run with given data does.

Written from BPMN 2.0.2 (8.4.13 Sequence Flow, 13.3.2 Task, 10.6.2 exclusive merges) on the XML
itself; nothing of the compiler is used. Only what the random models here have is known: tasks,
start and end events, sequence flows; every token goes its own way.
"""

from __future__ import annotations

import random
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import combinations

NS = "{http://www.omg.org/spec/BPMN/20100524/MODEL}"


class NoWay(Exception):
    """No condition holds, and there is nothing else to take: the run fails there."""


class Flow:
    """A sequence flow as it stands in the file."""

    def __init__(self, element: ET.Element) -> None:
        self.id = element.get("id", "")
        self.name = element.get("name", "")
        self.source, self.target = element.get("sourceRef", ""), element.get("targetRef", "")
        condition = element.find(f"{NS}conditionExpression")
        self.conditional = condition is not None
        self.text = (condition.text or "").strip() if condition is not None else ""


class Drawing:
    """A process of tasks, as its XML has it."""

    def __init__(self, xml: str) -> None:
        process = ET.fromstring(xml).find(f"{NS}process")
        assert process is not None
        self.nodes = {
            e.get("id", ""): e for e in process if e.tag.removeprefix(NS) != "sequenceFlow"
        }
        self.flows = [Flow(e) for e in process.iter(f"{NS}sequenceFlow")]
        self.start = next(i for i, e in self.nodes.items() if e.tag == f"{NS}startEvent")

    def out(self, node: str) -> list[Flow]:
        return [f for f in self.flows if f.source == node]

    def parts(self, node: str) -> tuple[list[Flow], list[Flow], Flow | None]:
        """The flows that are always taken, those that are chosen, and the default."""
        out = self.out(node)
        default = next((f for f in out if f.id == self.nodes[node].get("default")), None)
        rest = [f for f in out if f is not default]
        if default is None:  # an empty condition is none
            chosen = [f for f in rest if f.text]
        else:
            chosen = [f for f in rest if f.conditional] or rest
        return [f for f in rest if f not in chosen], chosen, default

    def taken(self, node: str, holds: Callable[[Flow], bool]) -> list[Flow]:
        """The flows that get a token when the node is done. Raises `NoWay`."""
        always, chosen, default = self.parts(node)
        true = [f for f in chosen if holds(f)]
        if chosen and not true and not always and default is None:
            raise NoWay(node)
        return [*always, *true, *([default] if default is not None and not true else [])]

    def possible(self, node: str) -> set[frozenset[str]]:
        """Every set of flows that may get a token together."""
        _, chosen, _ = self.parts(node)
        found: set[frozenset[str]] = set()
        for number in range(len(chosen) + 1):
            for true in combinations(chosen, number):
                with suppress(NoWay):
                    found.add(frozenset(f.id for f in self.taken(node, true.__contains__)))
        return found

    def run(self, holds: Callable[[Flow], bool]) -> Counter[str]:
        """How often each named task is done and each named end reached. Raises `NoWay`."""
        done: Counter[str] = Counter()
        tokens = [self.start]
        while tokens:
            node = tokens.pop()
            done[self.nodes[node].get("name", "")] += 1
            tokens += [f.target for f in self.taken(node, holds)]
        return done

    def tasks(self) -> Iterator[str]:
        return (i for i, e in self.nodes.items() if e.tag == f"{NS}task")


def random_drawing(rnd: random.Random) -> str:
    """A tree of tasks whose flows are drawn in every way: without a condition, with one, with an
    empty one, labelled, default; its branches may meet in a last task."""
    nodes, flows = ['<startEvent id="s" name="Start"/>'], []
    names = iter(range(1, 100))
    meets = rnd.random() < 0.4

    def flow(source: str, target: str, inside: str = "", label: str = "") -> str:
        name = f"f{len(flows)}"
        flows.append(
            f'<sequenceFlow id="{name}" name="{label}" sourceRef="{source}" targetRef="{target}">'
            f"{inside}</sequenceFlow>"
        )
        return name

    def grow(depth: int) -> str:
        number = next(names)
        own = f"t{number}"
        place = len(nodes)
        nodes.append("")
        default = ""
        ways = 0 if depth == 0 else rnd.choice((1, 2, 2, 3))
        kinds = [rnd.choice(("plain", "coded", "empty", "label")) for _ in range(ways)]
        if ways > 1 and rnd.random() < 0.7:
            kinds[rnd.randrange(ways)] = "default"
        for kind in kinds:
            target = grow(depth - 1)
            if kind == "coded":
                least = rnd.choice((3, 3, 7))
                test = f"${{x{number} &gt; {least}}}"
                flow(own, target, f"<conditionExpression>{test}</conditionExpression>")
            elif kind == "empty":
                flow(own, target, "<conditionExpression/>", f"way {target}")
            else:
                made = flow(own, target, "", f"way {target}" if kind == "label" else "")
                default = made if kind == "default" else default
        if not ways:
            end = f"e{number}"
            if meets:
                flow(own, "last")
            else:
                nodes.append(f'<endEvent id="{end}" name="End {number}"/>')
                flow(own, end)
        mark = f' default="{default}"' if default else ""
        nodes[place] = f'<task id="{own}" name="Task {number}"{mark}/>'
        return own

    flow("s", grow(3))
    if meets:
        nodes += ['<task id="last" name="Last"/>', '<endEvent id="e" name="End"/>']
        flow("last", "e")
    body = "".join((*nodes, *flows))
    return (
        '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">'
        f'<process id="p">{body}</process></definitions>'
    )
