"""Process trees as processes: blocks of gateways, each closed again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, assert_never

from orgflow_ir.mining.process_tree import (
    Choice,
    Leaf,
    Loop,
    Parallel,
    Tree,
    list_leaves,
)
from orgflow_ir.mining.process_tree import Sequence as PartSequence
from orgflow_ir.model import (
    Event,
    EventDefinition,
    Expression,
    Flow,
    Gateway,
    Lane,
    Process,
    Task,
)
from orgflow_ir.model.evidence import Evidence
from orgflow_ir.model.records import NamedTuple, dataclass

CITED_STEPS = 2
"""Number of passages of each step that a gateway cites."""


class StepLabel(NamedTuple):
    """A step as it is drawn: its name, its performer or nothing, and what it cites; its
    documentation, the ISO duration of a timer before it, and its type."""

    name: str
    actor: str
    evidence: tuple[Evidence, ...]
    doc: str = ""
    wait: str = ""
    task_type: Literal["user", "service"] = "user"


class WayLabel(NamedTuple):
    """The stated reason why a way is taken, with the question and what it cites; its documentation,
    a condition in FEEL, and whether it is taken where no condition holds."""

    question: str
    text: str
    evidence: tuple[Evidence, ...]
    doc: str = ""
    condition: str = ""
    is_default: bool = False


UNLABELLED = WayLabel("", "", ())
"""No reason."""

FEEL = "https://www.omg.org/spec/DMN/20191111/FEEL/"

LabelWays = Callable[[Choice], Sequence[WayLabel | None]]
"""The stated reason of each branch of a choice, or `None`."""


def leave_unlabelled(choice: Choice) -> list[WayLabel | None]:
    """No reason for any way."""
    return [None] * len(choice.options)


class _Exit(NamedTuple):
    """Where drawing goes on: the node before, and the reason and the evidence of the next flow."""

    node: str
    reason: WayLabel = UNLABELLED

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What the next flow cites."""
        return self.reason.evidence


@dataclass(eq=False)
class _Drawing:
    """The nodes and flows of one process so far."""

    prefix: str
    origin: str
    steps: Mapping[int, StepLabel]
    label_ways: LabelWays
    nodes: list[Task | Event | Gateway]
    flows: list[Flow]
    actors: dict[str, list[str]]
    count: int = 0

    def next_id(self, kind: str) -> str:
        """A new id for an element."""
        self.count += 1
        return f"{self.prefix}_{kind}_{self.count}"

    def add_flow(self, before: _Exit, target: str, evidence: tuple[Evidence, ...]) -> None:
        """A flow to a node; it cites its reason, else what the node cites."""
        self.flows.append(
            Flow(
                id=self.next_id("flow"), name=before.reason.text, source=before.node, target=target,
                doc=before.reason.doc, default=before.reason.is_default,
                condition=Expression(text=before.reason.condition, language=FEEL)
                if before.reason.condition
                else None,
                evidence=tuple(dict.fromkeys((*before.evidence, *evidence))), origin=self.origin,
            )
        )  # fmt: skip

    def add_gateway(self, kind: str, tree: Tree, name: str = "") -> Gateway:
        """A gateway, which cites the steps of its block."""
        gateway = Gateway(
            id=self.next_id("split" if kind.startswith("split") else "join"), name=name,
            gateway_kind="parallel" if isinstance(tree, Parallel) else "exclusive",
            evidence=self.cite_tree(tree), origin=self.origin,
        )  # fmt: skip
        self.nodes.append(gateway)
        return gateway

    def cite_tree(self, tree: Tree) -> tuple[Evidence, ...]:
        """What the steps of a tree cite, a few passages each."""
        return cite_steps([self.steps[step] for step in list_leaves(tree)])

    # -- blocks ----------------------------------------------------------------------------

    def draw_tree(self, tree: Tree, before: _Exit) -> _Exit:
        """Draw a tree after a node. Returns where drawing goes on."""
        match tree:
            case Leaf():
                return self._draw_task(self.steps[tree.step], before)
            case PartSequence():
                for part in tree.parts:
                    before = self.draw_tree(part, before)
                return before
            case Choice():
                return self._draw_ways(tree, tree.options, self.label_ways(tree), before)
            case Parallel():
                return self._draw_ways(tree, tree.parts, [None] * len(tree.parts), before)
            case Loop():
                return self._draw_loop(tree, before)
            case _:
                assert_never(tree)

    def _draw_task(self, step: StepLabel, before: _Exit) -> _Exit:
        if step.wait:
            before = self._draw_timer(step, before)
        task = Task(
            id=self.next_id("task"), name=step.name, task_type=step.task_type, doc=step.doc,
            evidence=step.evidence, origin=self.origin,
        )  # fmt: skip
        self.nodes.append(task)
        if step.actor:
            self.actors.setdefault(step.actor, []).append(task.id)
        self.add_flow(before, task.id, step.evidence)
        return _Exit(task.id)

    def _draw_timer(self, step: StepLabel, before: _Exit) -> _Exit:
        """An event that waits before a step."""
        time = Expression(text=step.wait)
        event = Event(
            id=self.next_id("timer"), position="catch", evidence=step.evidence, origin=self.origin,
            definitions=(EventDefinition(kind="timer", timer="duration", expression=time),),
        )  # fmt: skip
        self.nodes.append(event)
        self.add_flow(before, event.id, step.evidence)
        return _Exit(event.id)

    def _draw_ways(
        self,
        tree: Choice | Parallel,
        branches: Sequence[Tree],
        labels: Sequence[WayLabel | None],
        before: _Exit,
    ) -> _Exit:
        """A split, the ways, and the join that closes it."""
        questions = dict.fromkeys(label.question for label in labels if label is not None)
        split = self.add_gateway("split", tree, "; ".join(filter(None, questions)))
        self.add_flow(before, split.id, split.evidence)
        exits = []
        for way, label in zip(branches, labels, strict=True):
            exits.append(self.draw_tree(way, _Exit(split.id, label or UNLABELLED)))
        join = self.add_gateway("join", tree)
        for exit_ in exits:
            self.add_flow(exit_, join.id, () if exit_.evidence else join.evidence)
        return _Exit(join.id)

    def _draw_loop(self, tree: Loop, before: _Exit) -> _Exit:
        """A join, the body, and a split from which the repetition returns to the join."""
        join = self.add_gateway("join", tree)
        self.add_flow(before, join.id, join.evidence)
        last = self.draw_tree(tree.body, _Exit(join.id))
        split = self.add_gateway("split", tree)
        self.add_flow(last, split.id, split.evidence)
        back = self.draw_tree(tree.again, _Exit(split.id))
        self.add_flow(back, join.id, join.evidence)
        return _Exit(split.id)


def cite_steps(steps: Sequence[StepLabel]) -> tuple[Evidence, ...]:
    """What steps cite, a few passages each."""
    return tuple(dict.fromkeys(entry for step in steps for entry in step.evidence[:CITED_STEPS]))


def draw_process(
    tree: Tree,
    steps: Mapping[int, StepLabel],
    *,
    prefix: str,
    name: str,
    origin: str,
    label_ways: LabelWays = leave_unlabelled,
) -> Process:
    """A process of a tree; it is sound, and has a task for each leaf.

    Args:
        tree: the structure.
        steps: the label of each step of the tree.
        prefix: the id of the process, with which the ids of its elements begin.
        name: the name of the process.
        origin: what made it, for all elements.
        label_ways: the reasons of the ways of a choice; without one, a flow has no label.

    Raises:
        KeyError: a step of the tree has no label.
    """
    drawing = _Drawing(prefix, origin, steps, label_ways, [], [], {})
    ordered = [steps[step] for step in list_leaves(tree)]
    first, final = cite_steps(ordered[:1]), cite_steps(ordered[-1:])
    start = Event(id=drawing.next_id("start"), position="start", evidence=first, origin=origin)
    drawing.nodes.append(start)
    last = drawing.draw_tree(tree, _Exit(start.id))
    end = Event(id=drawing.next_id("end"), position="end", evidence=final, origin=origin)
    drawing.nodes.append(end)
    drawing.add_flow(last, end.id, final)
    return Process(
        id=prefix, name=name, executable=True, nodes=tuple(drawing.nodes),
        flows=tuple(drawing.flows), lanes=_draw_lanes(drawing), evidence=first, origin=origin,
    )  # fmt: skip


def _draw_lanes(drawing: _Drawing) -> tuple[Lane, ...]:
    """A lane for each performer; the first one also has all nodes without a performer."""
    evidence = {node.id: node.evidence[:1] for node in drawing.nodes}
    lanes = []
    owned = {member for members in drawing.actors.values() for member in members}
    for number, (actor, members) in enumerate(drawing.actors.items()):
        own = set(members) if number else {*members, *(evidence.keys() - owned)}
        lanes.append(
            Lane(
                id=drawing.next_id("lane"), name=actor,
                members=tuple(node.id for node in drawing.nodes if node.id in own),
                evidence=tuple(dict.fromkeys(e for id_ in members for e in evidence[id_])),
                origin=drawing.origin,
            )
        )  # fmt: skip
    return tuple(lanes)
