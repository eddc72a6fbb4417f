"""The exploration of a process of segments: the open work of an instance on one side, the token
game of the model on the other.

A segment takes effect as a whole at its commit (WAITING.md, section 5), so one move is one event
with all steps up to the rows that are open next. Where a node stands for a task or an event, the
game has to allow its step; where a node decides, all choices of the model are followed. Whenever
nothing goes on by itself, both sides have to wait for the same elements. Together with the moves
this makes the two equal: what either can do next, the other can do as well.

An event that does not interrupt counts once while its step is active, as in `Policy.once`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final

from orgflow.backends.javascript.source_programs import ProgramForm
from orgflow.backends.n8n.engine_model import World
from orgflow.backends.n8n.engine_model.explorer import Explorer
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument
from orgflow.backends.n8n.node_types.ports import outputs_of
from orgflow.backends.n8n.verify.canvas_reading import SegmentCanvas, SegmentEnd
from orgflow.backends.n8n.verify.choices import Reader
from orgflow.backends.n8n.verify.marking import Marking, list_labels
from orgflow.backends.n8n.verify.points import Differs, Point, Roles, TooMuch
from orgflow.backends.n8n.verify.row_expressions import (
    AnyTemplate,
    ConditionalRows,
    RowTemplate,
)
from orgflow.backends.n8n.verify.row_states import (
    BrokenRows,
    OpenRow,
    OpenWork,
    SegmentToken,
    canonical_work,
    claim_event,
    commit_segment,
    list_sweeps,
    start_token,
)

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.token_game.semantics import State
from orgflow_ir.model.records import NamedTuple, dataclass
from orgflow_ir.targets.verification import Difference, SideBySide

NO_WORLD: Final = World(executions=())
_MOST_STEPS: Final = 20_000
_MOST_EQUAL: Final = 2
_EXTERNAL: Final = ("task", "timer", "receiver")
_UNKNOWN_PORTS: Final = frozenset({"merge", "splitInBatches", "wait", "filter", "if", "switch"})
"""Types of nodes that decide, join or wait, so that a segment may not simply pass them."""


class UnreadSegment(ValueError):
    """A node of a segment that the exploration does not understand."""

    def __init__(self, node: str, reason: str) -> None:
        super().__init__(reason)
        self.node, self.reason = node, reason


class RowCondition(NamedTuple):
    """The test of a condition of rows: whether a gateway takes a branch; `holds` is whether it is
    true if it does."""

    gateway: str
    flow: str
    holds: bool


class RowPoint(NamedTuple):
    """A state of the product.

    Attributes:
        work: the open work of the instance.
        state: the state of the token game.
        stale: gateways whose decision was read, and not set since.
        kept: gateways and the branches chosen for them when the preceding activity happened, until
            a node reads the choice.
    """

    work: OpenWork
    state: State
    stale: frozenset[str] = frozenset()
    kept: tuple[tuple[str, tuple[str, ...]], ...] = ()


class RowMove(NamedTuple):
    """A move of the product: its target, and the steps of both sides."""

    to: RowPoint
    lines: tuple[SideBySide, ...]
    steps: tuple[Step, ...]


class Progress(NamedTuple):
    """The progress of one execution.

    Attributes:
        node: the node that runs next; empty at the end.
        work, state, stale: as in `RowPoint`.
        token: of the present segment.
        begun: elements that have run and whose branches are undecided.
        chosen: the branches taken at the gateways that decided in this segment.
        kept: as in `RowPoint`.
        unfit: the gateway that no branch matched: a stop has to follow.
        lines, steps: what happened on both sides.
    """

    node: str
    work: OpenWork
    state: State
    stale: frozenset[str]
    token: SegmentToken
    begun: tuple[str, ...] = ()
    chosen: tuple[tuple[str, tuple[str, ...]], ...] = ()
    kept: tuple[tuple[str, tuple[str, ...]], ...] = ()
    unfit: str = ""
    lines: tuple[SideBySide, ...] = ()
    steps: tuple[Step, ...] = ()


@dataclass(eq=False)
class SegmentWalk:
    """The exploration of one workflow and one process.

    Attributes:
        canvas: the segments of the workflow.
        workflow: the workflow.
        marking: the model.
        roles: the roles of the nodes.
        conditions: the gateways and branches that take rows with a condition, by its form.
        received: the element that needs a message, by the message flow.
        decisive: gateways that may read an old decision.
        most: maximum number of explored points.
        states: number of explored points.
        stopped: nodes of stubs at which runs stopped.
    """

    canvas: SegmentCanvas
    workflow: WorkflowDocument
    marking: Marking
    roles: Roles
    conditions: Mapping[ProgramForm, tuple[RowCondition, ...]]
    received: Mapping[str, str]
    decisive: frozenset[str]
    most: int
    states: int = 0
    stopped: dict[str, None] = field(default_factory=dict)

    def run(self, element: str, state: State, steps: tuple[Step, ...] = ()) -> Difference | None:
        """The first difference of the runs that begin with the start of an instance at an element.
        Raises `TooMuch` and `UnreadSegment`."""
        explorer = Explorer[RowPoint, RowMove](self.most - self.states + 1)
        stale = self.decisive - self.roles.given
        first = Progress("", OpenWork(), state, stale, start_token(element), steps=steps)
        try:
            begun = list(self._run_segments(self._lead_to_segment(first)))
        except Differs as difference:
            return self._difference_at([], difference)
        before = RowPoint(OpenWork(), state, frozenset({"\0"}))  # equal to no later state
        explorer.start(before)
        for point in explorer.pending():
            try:
                if point is not before:
                    self.states += 1
                    self._compare_waits(point)
                for move in begun if point is before else self._moves(point):
                    explorer.reach(move.to, move)
            except Differs as difference:
                return self._difference_at(explorer.way(), difference)
        if explorer.bounded:
            raise TooMuch(f"more than {self.most} states")
        return None

    def _difference_at(self, way: Sequence[RowMove], differs: Differs) -> Difference:
        return Difference(
            differs.message,
            tuple(line for part in (*(m.lines for m in way), differs.lines) for line in part),
            tuple(step for part in (*(m.steps for m in way), differs.steps) for step in part),
            differs.unfit,
        )

    def _point(self, state: State, begun: tuple[str, ...] = ()) -> Point:
        return Point(NO_WORLD, state, begun=begun)

    # -- what happens next ---------------------------------------------------------------------

    def _moves(self, point: RowPoint) -> Iterator[RowMove]:
        """All that can happen to an instance: what rows wait for, and what the sweep finishes."""
        seen: set[OpenRow] = set()
        for row in point.work.rows:
            if row.kind not in _EXTERNAL or row._replace(number=0) in seen:
                continue
            seen.add(row._replace(number=0))
            claimed = claim_event(point.work, row.number)
            if claimed is not None:
                work, token = claimed
                progress = self._resume(point, work, token)
                for happened in self._happens(progress, row):
                    yield from self._run_segments(self._lead_to_segment(happened))
        for work, swept in list_sweeps(point.work):
            if swept is None:
                yield RowMove(point._replace(work=work), (), ())
                continue
            progress = self._resume(point, work, swept)
            yield from self._run_segments(self._lead_to_segment(progress))

    def _resume(self, point: RowPoint, work: OpenWork, token: SegmentToken) -> Progress:
        return Progress("", work, point.state, point.stale, token, kept=point.kept)

    def _happens(self, progress: Progress, row: OpenRow) -> Iterator[Progress]:
        """The step of the model for an event, where its node is the one that opened the row, or the
        page of the task. Other events have a node in their segment."""
        if row.kind == "task":
            page = self.canvas.pages.get(row.link)
            if page is None:
                raise UnreadSegment("", f"no page has the address {row.link}")
            element = self.roles.stands.get(page)
            if element is None:
                raise UnreadSegment(page, "it stands for no task of the model")
            yield from self._fire_all(progress, element, page)
            return
        for name, end in self.canvas.ends.items():
            if self.roles.stands.get(name) == row.element and end.opens(row.element):
                yield from self._fire_all(progress, row.element, name)
                return
        yield progress

    def _fire_all(self, progress: Progress, element: str, name: str) -> Iterator[Progress]:
        """The element happens in both. If some of its flows are always taken, those that it chooses
        are chosen now and kept for the node that reads the choice, perhaps in a later segment."""
        if element not in self.roles.splitting:
            yield self._fire(progress, element, name)
            return
        point = self._point(progress.state, progress.begun)
        for fired in self.marking.splits(point, element, 1, name):
            state, quiet = self.marking.settled(fired.point.state)
            yield self._set_decisions(progress, name)._replace(
                state=state,
                kept=tuple(sorted((*progress.kept, *fired.point.chosen))),
                lines=(*progress.lines, SideBySide(fired.text, name)),
                steps=(*progress.steps, *fired.steps, *quiet),
            )

    def _fire(self, progress: Progress, element: str, name: str) -> Progress:
        """The element happens in both, and takes all its flows or decides later."""
        fired = self.marking.fires(self._point(progress.state, progress.begun), element, 1, name)
        state, quiet = self.marking.settled(fired.point.state)
        return self._set_decisions(progress, name)._replace(
            state=state,
            begun=fired.point.begun,
            lines=(*progress.lines, SideBySide(fired.text, name)),
            steps=(*progress.steps, *fired.steps, *quiet),
        )

    def _lead_to_segment(self, progress: Progress) -> Progress:
        """The first node of the segment of a token."""
        token = progress.token
        output = self.canvas.find_case(token.kind, token.element, token.event)
        target = None if output is None else self._follow(self.canvas.switch, output)
        if target is None:
            label = self.marking.label(token.event)
            raise Differs(
                f"no part of the workflow begins after `{label}`, so the process stops there",
                (SideBySide("", f"{self.canvas.switch} → nothing"),),
            )
        return progress._replace(node=target, chosen=())

    def _follow(self, name: str, output: int = 0) -> str | None:
        targets = self.workflow.targets.get(name, {}).get(output, ())
        if len(targets) > 1:
            raise UnreadSegment(name, "an output leads to several nodes")
        return targets[0] if targets else None

    # -- a segment -----------------------------------------------------------------------------

    def _run_segments(self, first: Progress) -> Iterator[RowMove]:
        """The states after all segments of an execution, for all choices of the model."""
        todo, seen, ended = [first], {self._key(first)}, False
        while todo:
            if len(seen) > _MOST_STEPS:
                raise TooMuch(f"more than {_MOST_STEPS} steps without a wait")
            for after in self._run_node(todo.pop()):
                if not after.node:
                    ended = True
                    if self._is_settled(after):
                        work = canonical_work(after.work)
                        self._check_size(work)
                        point = RowPoint(work, after.state, after.stale, after.kept)
                        yield RowMove(point, after.lines, after.steps)
                elif self._key(after) not in seen:
                    seen.add(self._key(after))
                    todo.append(after)
        if not ended:
            raise UnreadSegment(first.node, "the steps behind it never end")

    def _check_size(self, work: OpenWork) -> None:
        """Stop where work piles up: a loop that begins something each time and waits for none of
        it has no end. Raises `TooMuch`."""
        counts = Counter((row.element, row.branch) for row in work.rows)
        for (element, _), count in counts.items():
            if count > _MOST_EQUAL:
                label = self.marking.label(element)
                raise TooMuch(f"runs in which `{label}` is open more than {_MOST_EQUAL} times")

    def _key(self, progress: Progress) -> Progress:
        return progress._replace(lines=(), steps=())

    def _is_settled(self, after: Progress) -> bool:
        """Whether the exploration goes on behind the end of an execution."""
        if after.begun and not after.unfit:
            label = self.marking.label(after.begun[0])
            raise Differs(f"the workflow waits after `{label}`, but the model takes a branch of it")
        return not after.unfit

    def _run_node(self, progress: Progress) -> Iterator[Progress]:
        """The progress after a node; without a node once the execution is over."""
        name = progress.node
        step = self.workflow.steps[name]
        if step.disabled or step.trigger:
            raise UnreadSegment(name, "it is disabled" if step.disabled else "it is a trigger")
        if name in self.canvas.unread_ends:
            raise UnreadSegment(name, self.canvas.unread_ends[name])
        reader = self.roles.readers.get(name)
        element = self.roles.stands.get(name)
        if name in self.canvas.ends:
            yield from self._end_segment(progress, self.canvas.ends[name], element)
        elif name in self.roles.uncaught:
            yield progress._replace(node="", unfit=name)
        elif name in self.roles.stubs and not progress.unfit:
            stub = self.roles.stubs[name]
            if stub is not None and not self.marking.game.is_at(progress.state, stub):
                raise self.marking.not_allowed(self._point(progress.state), name)
            self.stopped[name] = None
            yield progress._replace(node="", unfit=name)
        elif step.short == "stopAndError":
            yield self._stop(progress, element)
        elif progress.unfit:
            raise self._continues_unfit(progress)
        elif reader is not None:
            yield from self._decide(progress, reader)
        else:
            progress = self._set_decisions(progress, name)
            if element is not None:
                yield from self._fail(progress, element)
                for fired in self._fire_all(progress, element, name):
                    yield from self._pass(fired)
                return
            yield from self._pass(progress)

    def _set_decisions(self, progress: Progress, name: str) -> Progress:
        return progress._replace(stale=progress.stale - {*self.roles.sets.get(name, ())})

    def _pass(self, progress: Progress) -> Iterator[Progress]:
        """Behind a node that only passes on, or whose outputs are compared with the model."""
        name = progress.node
        step = self.workflow.steps[name]
        count = outputs_of(step.raw) or 1
        helper = name in self.roles.helpers
        if step.short in _UNKNOWN_PORTS and not (helper and step.short in ("if", "switch")):
            raise UnreadSegment(name, "it decides, joins or waits, and the model does not")
        outputs = range(count) if helper else range(1)
        for output in outputs:
            target = self._follow(name, output)
            if target is None:
                raise Differs(
                    f"nothing follows `{name}`: the part of the process never ends",
                    (SideBySide("", f"{name} → nothing"),),
                )
            if target == self.canvas.taken:
                raise UnreadSegment(name, "it leads to the claims of the process")
            yield progress._replace(node=target)

    def _fail(self, progress: Progress, element: str) -> Iterator[Progress]:
        """A node whose errors boundary events catch."""
        name = progress.node
        if name not in self.roles.failing:
            return
        step = self.workflow.steps[name]
        if step.on_error != "continueErrorOutput":
            raise Differs(f"an error of `{name}` ends the run, but the model continues after it")
        opened = self.marking.opens(self._point(progress.state, progress.begun), element, name)
        target = self._follow(name, outputs_of(step.raw) or 1)
        if target is None:
            raise Differs(f"an error of `{name}` leads to no node, but the model continues")
        line = SideBySide(opened.text, f"{name}: fails")
        yield progress._replace(
            node=target,
            state=opened.point.state,
            lines=(*progress.lines, line),
            steps=(*progress.steps, *opened.steps),
        )

    def _stop(self, progress: Progress, element: str | None) -> Progress:
        """A node that stops the run with an error: at an error end of the model, or because no
        branch matches."""
        if progress.unfit:
            return progress._replace(node="")
        if element is None:
            raise Differs(f"the workflow stops at `{progress.node}`, but the model does not")
        progress = self._fire(progress, element, progress.node)
        if not progress.work.ended:
            raise Differs(
                f"the run stops at `{progress.node}`, but the instance stays open",
                (SideBySide("", f"{progress.node}: error"),),
            )
        return progress._replace(node="")

    def _continues_unfit(self, progress: Progress) -> Differs:
        return Differs(
            f"if no branch of `{progress.unfit}` matches, the workflow continues with "
            f"`{progress.node}`; the model has no such run",
            (SideBySide("", progress.node),),
            unfit=True,
        )

    # -- decisions -----------------------------------------------------------------------------

    def _decide(self, progress: Progress, reader: Reader) -> Iterator[Progress]:
        """A node that decides: every choice of the model, and a value that is no branch's."""
        name, gateway = progress.node, reader.gateway
        if reader.broken or not reader.main or None in reader.predicates:
            raise UnreadSegment(name, "it decides by something else than the model")
        owner = self.roles.owners[gateway]
        kept = [taken for other, taken in progress.kept if other == gateway]
        if kept:
            yield from self._read_kept(progress, reader, kept)
            return
        point = self._point(progress.state, progress.begun)
        options = self.marking.options(point, gateway)
        if not options:
            raise self.marking.not_allowed(point, name)
        if gateway in progress.stale and len(options) > 1:
            label = self.marking.label(owner)
            raise Differs(
                f"`{name}` reads an earlier decision of `{label}`, since no new one was made",
                (SideBySide(label, name),),
            )
        stale = progress.stale | ({gateway} & self.decisive)
        for taken, step in options.items():
            state, quiet = self.marking.settled(self.marking.game.fire(progress.state, step))
            begun = list(progress.begun)
            if owner in begun:
                begun.remove(owner)
            text = self.marking.join_labels(taken)
            line = SideBySide(f"{self.marking.label(owner)} → {text}", f"{name} → {text}")
            chosen = {**dict(progress.chosen), gateway: taken}
            after = progress._replace(
                state=state,
                stale=stale,
                begun=tuple(begun),
                chosen=tuple(sorted(chosen.items())),
                lines=(*progress.lines, line),
                steps=(*progress.steps, step, *quiet),
            )
            for outputs in reader.outputs(frozenset(taken)):
                yield self._leave(after, outputs)
        if reader.compiled:
            _, default = self.roles.branches[gateway]
            unmatched: list[tuple[int, ...]] = [(output,) for output in reader.stops]
            if default is None:
                unmatched += reader.outputs(frozenset())
            for outputs in unmatched:
                yield self._leave(progress._replace(unfit=self.marking.label(owner)), outputs)

    def _read_kept(
        self, progress: Progress, reader: Reader, kept: list[tuple[str, ...]]
    ) -> Iterator[Progress]:
        """What was chosen when the activity happened."""
        if len(set(kept)) > 1:
            raise UnreadSegment(progress.node, "an activity that chooses flows happens twice")
        left = list(progress.kept)
        left.remove((reader.gateway, kept[0]))
        chosen = {**dict(progress.chosen), reader.gateway: kept[0]}
        after = progress._replace(kept=tuple(left), chosen=tuple(sorted(chosen.items())))
        for outputs in reader.outputs(frozenset(kept[0])):
            yield self._leave(after, outputs)
        for output in reader.stops if reader.compiled else ():
            label = self.marking.label(self.roles.owners[reader.gateway])
            yield self._leave(progress._replace(unfit=label), (output,))

    def _leave(self, progress: Progress, outputs: tuple[int, ...]) -> Progress:
        """Behind the one output that a decision takes."""
        name = progress.node
        if len(outputs) != 1:
            raise UnreadSegment(name, "a decision leaves by no output or by several")
        target = self._follow(name, outputs[0])
        if target is None:
            raise Differs(
                f"output {outputs[0]} of `{name}` leads to no node, so the process stops there",
                (SideBySide("", f"{name} → nothing"),),
            )
        return progress._replace(node=target)

    # -- the end of a segment ------------------------------------------------------------------

    def _end_segment(
        self, progress: Progress, end: SegmentEnd, element: str | None
    ) -> Iterator[Progress]:
        """The commit: the rows that are open next, and the segment that follows at once."""
        name = progress.node
        if progress.unfit:
            raise self._continues_unfit(progress)
        rows = list(self._choose_rows(end.rows, progress))
        if element is not None and not end.opens(element):
            progress = self._fire(progress, element, name)
        try:
            work, token = commit_segment(
                progress.work, progress.token, rows, end=end.ends, leave=end.leaves,
                levels=end.levels,
            )  # fmt: skip
        except BrokenRows as error:
            raise UnreadSegment(name, str(error)) from error
        target = self._follow(name)
        after = progress._replace(work=work, lines=(*progress.lines, SideBySide("", name)))
        if end.goes_on:
            if token is not None or target is None:
                raise UnreadSegment(name, "what follows it runs whether the process goes on or not")
            yield after._replace(node=target)
            return
        if token is None:
            yield after._replace(node="")
            return
        if target is None:
            label = self.marking.label(token.event)
            raise Differs(
                f"nothing follows `{name}`, although the process goes on after `{label}`",
                (SideBySide("", f"{name} → nothing"),),
            )
        if target != self.canvas.taken:
            raise UnreadSegment(name, "it does not lead to the claims of the process")
        yield self._lead_to_segment(after._replace(token=token))

    def _choose_rows(
        self, rows: tuple[AnyTemplate, ...], progress: Progress
    ) -> Iterator[RowTemplate]:
        """The rows that are written, by what was decided in this segment."""
        for row in rows:
            if not isinstance(row, ConditionalRows):
                yield row
                continue
            if not row.otherwise and all(
                isinstance(inner, RowTemplate) and inner.repeats for inner in row.rows
            ):
                continue  # an event that happens a number of times counts once
            chosen = dict(progress.chosen)
            branches = self.conditions.get(row.condition, ())
            truths = {
                (branch.flow in chosen[branch.gateway]) is branch.holds
                for branch in branches
                if branch.gateway in chosen
            }
            if len(truths) != 1:
                reason = "its rows depend on a condition that is none of a preceding gateway"
                raise UnreadSegment(progress.node, reason)
            yield from self._choose_rows(row.rows if truths.pop() else row.otherwise, progress)

    # -- both sides wait -----------------------------------------------------------------------

    def _compare_waits(self, point: RowPoint) -> None:
        """Where nothing goes on by itself, both sides have to wait for the same."""
        work, game = point.work, self.marking.game
        goes_on = any(row.at_once for row in work.rows) or any(True for _ in list_sweeps(work))
        enabled = [s.element for s in game.enabled(point.state) if s.action != "open"]
        if work.ended:
            if enabled:
                words = list_labels(list(dict.fromkeys(map(self.marking.label, enabled))))
                raise Differs(
                    f"the workflow ends, but the model continues with {words}",
                    (SideBySide(" or ".join(map(self.marking.label, enabled)), "ends"),),
                )
            return
        if goes_on:
            return
        waits = {self.received.get(row.element, row.element) for row in work.rows
                 if row.kind in _EXTERNAL}  # fmt: skip
        self._compare_elements(waits, set(enabled))
        if game.finished(point.state):
            kinds = list_labels([row.element for row in work.rows])
            raise Differs(
                f"the model has ended, but the workflow keeps {kinds} open",
                (SideBySide("ends", kinds),),
            )
        self._compare_counts(work, point.state, waits)

    def _compare_elements(self, waits: set[str], enabled: set[str]) -> None:
        label: Callable[[str], str] = self.marking.label
        lost, more = sorted(enabled - waits), sorted(waits - enabled)
        if lost:
            words = list_labels([label(element) for element in lost])
            raise Differs(
                f"the model continues with {words}, but the workflow does not wait for it",
                (SideBySide(" or ".join(map(label, lost)), "waits"),),
            )
        if more:
            words = list_labels([label(element) for element in more])
            raise Differs(
                f"the workflow waits for {words}, but the model does not",
                (SideBySide("waits", " or ".join(map(label, more))),),
            )

    def _compare_counts(self, work: OpenWork, state: State, waits: set[str]) -> None:
        """Whether as many of each element are open."""
        here = sorted(
            element
            for row in work.rows
            if row.kind in _EXTERNAL
            and row.host == -1
            and (element := self.received.get(row.element, row.element)) in self.counted
        )
        there = sorted(e for e in self.marking.game.open_elements(state) if e in waits)
        there = [element for element in there if element in self.counted]
        if here != there:
            shown = list_labels([self.marking.label(e) for e in dict.fromkeys((*here, *there))])
            raise Differs(
                f"the workflow and the model have {shown} open a different number of times",
                (SideBySide(", ".join(there), ", ".join(here)),),
            )

    @property
    def counted(self) -> frozenset[str]:
        """Elements of which each open row is one open element of the model."""
        pages = (self.roles.stands.get(page) for page in self.canvas.pages.values())
        return frozenset(element for element in pages if element is not None)
