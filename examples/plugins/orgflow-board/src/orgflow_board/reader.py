"""A process from nested lines: each block gets a gateway that splits, and one that joins where more
than one of its branches goes on."""

from __future__ import annotations

from typing import Any, NamedTuple

from orgflow_ir.model import (
    Event,
    EventDefinition,
    Flow,
    Gateway,
    Model,
    Node,
    Process,
    SourceLocation,
    Task,
)
from orgflow_ir.pipeline import PassContext

from orgflow_board.rules import AfterTheEnd, LateStart, OddIndent, TooFewBranches, UnknownWord
from orgflow_board.steps import Line

WORDS = ("start", "do", "choose", "together", "escalate", "end")


class Open(NamedTuple):
    """Where the next step is put: after this node, by a flow with this label."""

    node: str
    label: str = ""


class Reader:
    """Makes one model; what is wrong goes to `ctx`, with the line it stands on."""

    def __init__(self, path: str, ctx: PassContext) -> None:
        self.path, self.ctx = path, ctx
        self.nodes: list[Node] = []
        self.flows: list[Flow] = []

    def model(self, root: Line) -> Model:
        """The model of a text; of use only where no error was found."""
        lines = root.under
        if lines and lines[0].word == "start":
            first, lines = lines[0], lines[1:]
            self._leaf(first)
        else:
            first = root
        start = self._add(Event, first, position="start", name=first.rest or "Start")
        left = self._sequence(lines, Open(start))
        if left is not None:
            end = self._add(Event, lines[-1] if lines else root, position="end", name="End")
            self._flow(left, end, None)
        if not lines:
            message = f"the process `{root.rest}` has no steps after its start"
            self.ctx.emit(LateStart, message, loc=first.loc, help="write its steps, one per line")
        process = Process(
            id="process",
            name=root.rest,
            nodes=tuple(self.nodes),
            flows=tuple(self.flows),
            loc=root.loc,
        )
        return Model(id="model", name=root.rest, source=self.path, processes=(process,))

    def _add(self, kind: Any, line: Line, **fields: Any) -> str:
        id = f"n{len(self.nodes) + 1}"
        self.nodes.append(kind(id=id, loc=line.loc, **fields))
        return id

    def _flow(self, source: Open, target: str, loc: SourceLocation | None) -> None:
        id = f"f{len(self.flows) + 1}"
        flow = Flow(id=id, name=source.label, source=source.node, target=target, loc=loc)
        self.flows.append(flow)

    def _sequence(self, lines: list[Line], at: Open) -> Open | None:
        """Where the steps lead to; `None` where they end."""
        here: Open | None = at
        for line in lines:
            if here is None:
                message = f"`{line.text}` stands after the end: no run comes to it"
                self.ctx.emit(AfterTheEnd, message, loc=line.loc, help="move or remove it")
                return None
            here = self._step(line, here)
        return here

    def _step(self, line: Line, at: Open) -> Open | None:
        if line.word in ("choose", "together"):
            return self._block(line, at)
        self._leaf(line)
        match line.word:
            case "do":
                made = self._add(Task, line, name=line.rest)
            case "escalate":
                late = EventDefinition(kind="escalation", name=line.rest)
                made = self._add(Event, line, position="throw", name=line.rest, definitions=(late,))
            case "end":
                made = self._add(Event, line, position="end", name=line.rest or "End")
            case "start":
                message = f"`{line.text}` is not where the process begins"
                self.ctx.emit(LateStart, message, loc=line.loc, help="make it the first line")
                return at
            case word:
                message = f"`{word}` is no word of the language"
                help_text = f"the words are {', '.join(WORDS)}"
                self.ctx.emit(UnknownWord, message, loc=line.loc, help=help_text)
                return at
        self._flow(at, made, line.loc)
        return None if line.word == "end" else Open(made)

    def _block(self, line: Line, at: Open) -> Open | None:
        """A split, its branches, and a join of those that go on."""
        if len(line.under) < 2:
            message = f"`{line.text}` has {len(line.under)} of the two branches that it needs"
            help_text = "set each branch in under it: a line that names it, its steps set in more"
            self.ctx.emit(TooFewBranches, message, loc=line.loc, help=help_text)
            return at
        choice = line.word == "choose"
        kind = "exclusive" if choice else "parallel"
        split = self._add(Gateway, line, gateway_kind=kind, name=line.rest)
        self._flow(at, split, line.loc)
        ways = [
            self._sequence(branch.under, Open(split, branch.text if choice else ""))
            for branch in line.under
        ]
        going = [way for way in ways if way is not None]
        if len(going) < 2:
            return going[0] if going else None
        join = self._add(Gateway, line, gateway_kind=kind)
        for way in going:
            self._flow(way, join, None)
        return Open(join)

    def _leaf(self, line: Line) -> None:
        if line.under:
            inner = line.under[0]
            message = f"`{inner.text}` is set in under `{line.text}`, which has no branches"
            self.ctx.emit(OddIndent, message, loc=inner.loc, help="move it to the left")
