"""Several workflows on one server as a pure function from world to world.

`EngineModel` executes each execution; this model adds what executions share. A move is one step of
one execution, one operation of a Data Table node, one consumed message, or the next timer. Between
two moves of an execution every other one may move, so all interleavings are explored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, assert_never

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.engine_model.choices import handed_on
from orgflow.backends.n8n.engine_model.config import Config, Event, Frame, Phase
from orgflow.backends.n8n.engine_model.flow import Flow, Node
from orgflow.backends.n8n.engine_model.model import EngineModel
from orgflow.backends.n8n.engine_model.outcome import FAILS, TIMED_OUT, Emits, Outcome, Resumes
from orgflow.backends.n8n.engine_model.tables import (
    CellTest,
    Table,
    TableOperation,
    TableResult,
    UnknownOperation,
    apply_operation,
    row_fields,
)
from orgflow.backends.n8n.engine_model.world import (
    Execution,
    Item,
    Items,
    Message,
    Partial,
    Timer,
    World,
    common_fields,
    make_item,
)
from orgflow.backends.n8n.format.document import TYPE_PREFIX
from orgflow.backends.n8n.format.json_values import mapping
from orgflow.backends.n8n.node_types.data_table import (
    Computed,
    Given,
    Operand,
    Scalar,
    TableRequest,
)

from orgflow_ir.model.records import NamedTuple


class Step(NamedTuple):
    """The next node of an execution, by its place in the world, does `outcome`."""

    execution: int
    outcome: Outcome


class Operate(NamedTuple):
    """The Data Table node on top of an execution does its operation: for the next of its items, or
    for all of them at once if it inserts rows."""

    execution: int


class Consume(NamedTuple):
    """A message of the inbox starts an execution (None), or resumes the one at a place."""

    message: int
    execution: int | None = None


class Tick(NamedTuple):
    """The clock advances to a pending timer, which fires."""

    timer: int


Move = Step | Operate | Consume | Tick

Ticks = Literal["idle", "any"]
"""When the clock may advance: if nothing else can happen, or at any time. A step takes no time, so
with `idle` all work is done before the next timer; `any` includes work that takes longer."""


class WorldAdvance(NamedTuple):
    """A move: the resulting world, the place of the execution that moved, and its events."""

    world: World
    execution: int
    events: tuple[Event, ...]


class WorldModel:
    """Workflows that share tables, messages and a clock.

    Items are counted as in `EngineModel`. In addition, the model follows the fields of items that
    nodes pass on unchanged, since Data Table nodes read them: the items of messages, and the rows
    that operations return. A subclass that knows more of the data overrides `read_code` and
    `outcomes`.

    An operation that `node_types.data_table` or `tables` does not determine raises
    `UnknownOperation`. Not modelled: crashes, other changes of tables than those by workflows, and
    the two faults of n8n's waits (N8N_PATTERNS.md: F1, an answer that is lost or counted twice
    between two waits, and F2, a limit that outlives the answer).

    Args:
        workflows: the workflows of the server, by id.

    Raises:
        ValueError: as for `EngineModel`.
    """

    def __init__(self, workflows: Mapping[str, Mapping[str, Any]]) -> None:
        self.engine = EngineModel(None, workflows, detached="apart")
        self._flows = {flow.id: index for index, flow in enumerate(self.engine.flows)}
        self._passing = [_passing_nodes(flow, workflows) for flow in self.engine.flows]

    # -- worlds --------------------------------------------------------------------------------

    def initial(
        self,
        *,
        tables: Sequence[Table] = (),
        inbox: Sequence[Message] = (),
        schedules: Sequence[Timer] = (),
    ) -> World:
        """A world in which nothing runs yet.

        Raises:
            KeyError: a message or schedule names a workflow or a node that does not exist.
        """
        for workflow, node in (
            *((message.workflow, message.node) for message in inbox),
            *((timer.workflow, timer.node) for timer in schedules),
        ):
            self._find_flow(workflow).by_name[node]
        listed = tuple(sorted(tables, key=lambda table: table.id))
        return World((), listed, tuple(inbox), tuple(schedules))

    def started(self, world: World, workflow: str, trigger: str, items: Items = ((),)) -> World:
        """The world after an execution has started at a trigger.

        Raises:
            KeyError: the workflow or the node does not exist.
        """
        config = self.engine.started(workflow, trigger, len(items))
        execution = Execution(workflow, config, "running", ((items,),))
        return world._replace(executions=(*world.executions, execution))

    def moves(
        self, world: World, *, errors: bool = False, most: int = 1, ticks: Ticks = "idle"
    ) -> tuple[Move, ...]:
        """All possible moves, in a fixed order: executions, messages, timers.

        Args:
            world: the current world.
            errors: whether to include failures of executing nodes.
            most: as for `EngineModel.outcomes`.
            ticks: when the clock may advance.
        """
        moves: list[Move] = []
        for place, execution in enumerate(world.executions):
            moves += self.moves_of(world, place, execution, errors=errors, most=most)
        for place, message in enumerate(world.inbox):
            moves += self._list_consumptions(world, place, message)
        if ticks == "any" or not moves:
            moves += (Tick(place) for place in _due_timers(world.clock))
        return tuple(moves)

    def moves_of(
        self, world: World, place: int, execution: Execution, *, errors: bool = False, most: int = 1
    ) -> list[Move]:
        """The moves that an execution can make by itself: none while it waits or is over."""
        if execution.state != "running":
            return []
        outcomes = self.outcomes(world, place, errors=errors, most=most)
        if self.request_at(execution) is None:
            return [Step(place, outcome) for outcome in outcomes]
        if not errors:
            return [Operate(place)]
        # The operation replaces the possible outputs of the node; that it fails is left.
        node, _ = self._on_top(execution.config)
        failed = Emits(handed_on(node, (0,), len(self._input_items(execution))))
        failures: list[Outcome] = [failed] if node.on_error == "error" else []
        return [Operate(place), *(Step(place, outcome) for outcome in (*failures, FAILS))]

    def advance(self, world: World, move: Move) -> WorldAdvance:
        """The world after a move.

        Raises:
            UnknownOperation: the move is an operation whose effect is not determined.
            ValueError: the move is not possible.
        """
        match move:
            case Step(place, outcome):
                if world.executions[place].state != "running":
                    raise ValueError("the execution does not run")
                return self._step_execution(world, place, outcome)
            case Operate(place):
                return self._run_operation(world, place)
            case Consume(message, execution):
                return self._consume_message(world, message, execution)
            case Tick(timer):
                return self._fire_timer(world, timer)
            case _:
                assert_never(move)

    # -- what a subclass may know ----------------------------------------------------------------

    def outcomes(
        self, world: World, place: int, *, errors: bool = False, most: int = 1
    ) -> tuple[Outcome, ...]:
        """The possible steps of the next node of a running execution."""
        return self.engine.outcomes(world.executions[place].config, errors=errors, most=most)

    def read_code(self, world: World, place: int, item: Item, code: str) -> Scalar:
        """The value of an expression for an item of the node on top of an execution: a field of the
        item, or the number or workflow of the execution.

        Raises:
            UnknownOperation: the value is unknown.
        """
        if code == "$execution.id":
            return str(place + 1)
        if code == "$workflow.id":
            return world.executions[place].workflow
        path = _field_path(code)
        value = dict(item).get(path, _UNKNOWN) if path is not None else _UNKNOWN
        if isinstance(value, _Unknown):
            raise UnknownOperation(f"the value of `{code}` is unknown")
        return value

    # -- steps ---------------------------------------------------------------------------------

    def request_at(self, execution: Execution) -> TableRequest | str | None:
        """The request of the Data Table node that runs next, or the reason why it is unknown; None
        if another node runs next, or the node does nothing."""
        node, frame = self._on_top(execution.config)
        request = node.behaviour.request
        if request is None or node.disabled or frame.phase is not Phase.READY:
            return None
        return request if any(frame.stack[-1][1]) else None

    def _step_execution(
        self, world: World, place: int, outcome: Outcome, given: Items | None = None
    ) -> WorldAdvance:
        """One step of an execution; `given` are its items if the outcome is more than counts."""
        before = world.executions[place]
        config, events = self.engine.advance(before.config, outcome)
        known = self._known_after(before, config, events, given)
        after = Execution(before.workflow, config, self.engine.state_of(config), known)
        executions = (*world.executions[:place], after, *world.executions[place + 1 :])
        clock = tuple(timer for timer in world.clock if timer.execution != place + 1)
        if after.state in ("form", "webhook", "time", "unknown"):
            # A wait begins: for a time, or with a limit.
            node, _ = self._on_top(config)
            if node.behaviour.limited:
                clock = (*clock, Timer(node.behaviour.seconds, place + 1))
        world = world._replace(executions=executions, clock=clock)
        # Calls that are not waited for are executions of their own.
        for event in events:
            if event.action == "detach":
                assert event.workflow is not None
                items = self._called_items(before, event.outputs[0])
                world = self.started(world, event.workflow, event.node, items)
        return WorldAdvance(world, place, events)

    def _run_operation(self, world: World, place: int) -> WorldAdvance:
        execution = world.executions[place]
        request = self.request_at(execution)
        if request is None:
            raise ValueError("the execution has no operation to do")
        if isinstance(request, str):
            raise UnknownOperation(request)
        node, _ = self._on_top(execution.config)
        items = self._input_items(execution)
        partial = execution.partial or Partial(0, ())
        # An insertion writes all rows in one transaction; any other operation is one for each item.
        if request.operation == "insert":
            batch, after = items, len(items)
        else:
            batch, after = items[partial.done : partial.done + 1], partial.done + 1
        table = _table_of(world, request.table)
        operation = self._bound_operation(world, place, request, batch)
        result = apply_operation(table, operation)
        rows = (*partial.rows, *_returned_items(request, result))
        tables = tuple(
            result.table if known_table is table else known_table for known_table in world.tables
        )
        world = world._replace(tables=tables)
        if after < len(items):
            waiting = execution._replace(partial=Partial(after, rows))
            executions = (*world.executions[:place], waiting, *world.executions[place + 1 :])
            return WorldAdvance(world._replace(executions=executions), place, ())
        return self._step_execution(world, place, Emits(handed_on(node, (len(rows),))), rows)

    def _bound_operation(
        self, world: World, place: int, request: TableRequest, batch: Items
    ) -> TableOperation:
        """The operation of a request with the values of some items."""

        def read_operand(operand: Operand, item: Item) -> Scalar:
            match operand:
                case Given(given):
                    return given
                case Computed(code):
                    return self.read_code(world, place, item, code)
                case _:
                    assert_never(operand)

        return TableOperation(
            request.operation,
            tuple(
                CellTest(test.column, test.name, read_operand(test.operand, item))
                for test in request.tests
                for item in batch[:1]
            ),
            request.every,
            tuple(
                tuple((name, read_operand(operand, item)) for name, operand in request.values)
                for item in batch
            ),
            request.limit,
        )

    def _list_consumptions(self, world: World, place: int, message: Message) -> list[Move]:
        """The ways in which a message can be consumed now."""
        flow = self._find_flow(message.workflow)
        node = flow.nodes[flow.by_name[message.node]]
        if node.behaviour.kind == "trigger":
            return [] if node.disabled else [Consume(place)]
        wanted = message.execution
        return [
            Consume(place, at)
            for at, execution in enumerate(world.executions)
            if wanted in (None, at + 1) and self._awaits_answer(execution, flow, node)
        ]

    def _awaits_answer(self, execution: Execution, flow: Flow, node: Node) -> bool:
        """Whether an execution waits at a node for an answer."""
        if execution.state not in ("form", "webhook", "unknown"):
            return False
        top, frame = self._on_top(execution.config)
        same = self.engine.flows[frame.flow] is flow and top.index == node.index
        return same and top.behaviour.answered

    def _consume_message(self, world: World, place: int, execution: int | None) -> WorldAdvance:
        message = world.inbox[place]
        if Consume(place, execution) not in self._list_consumptions(world, place, message):
            raise ValueError("the message cannot be consumed")
        world = world._replace(inbox=world.inbox[:place] + world.inbox[place + 1 :])
        if execution is not None:
            outcome = Resumes(len(message.items))
            return self._step_execution(world, execution, outcome, message.items)
        world = self.started(world, message.workflow, message.node, message.items)
        return WorldAdvance(world, len(world.executions) - 1, ())

    def _fire_timer(self, world: World, place: int) -> WorldAdvance:
        if place not in _due_timers(world.clock):
            raise ValueError("another timer fires first")
        timer = world.clock[place]
        world = world._replace(clock=_advanced_clock(world.clock, place))
        if timer.execution is not None:
            return self._step_execution(world, timer.execution - 1, TIMED_OUT)
        world = self.started(world, timer.workflow, timer.node)
        return WorldAdvance(world, len(world.executions) - 1, ())

    # -- executions ----------------------------------------------------------------------------

    def _find_flow(self, workflow: str) -> Flow:
        return self.engine.flows[self._flows[workflow]]

    def _on_top(self, config: Config) -> tuple[Node, Frame]:
        """The node that runs next, and the frame in which it runs."""
        node = self.engine.node_at(config)
        assert node is not None
        return node, config.frames[-1]

    # -- items ---------------------------------------------------------------------------------

    def _input_items(self, execution: Execution) -> Items:
        """What is known of the items on the first input of the node on top."""
        node, frame = self._on_top(execution.config)
        count = frame.stack[-1][1][0]
        known = execution.known[-1][-1] if execution.known else ((),) * count
        return known[:1] if node.execute_once and not node.disabled else known

    def _called_items(self, execution: Execution, count: int) -> Items:
        """What is known of the items that a call passes on."""
        node, _ = self._on_top(execution.config)
        items = self._input_items(execution)
        if not node.behaviour.passes:
            return ((),) * count
        return items if len(items) == count else (common_fields(items),) * count

    def _known_after(
        self,
        before: Execution,
        config: Config,
        events: Sequence[Event],
        given: Items | None,
    ) -> tuple[tuple[Items, ...], ...]:
        """What is known of the items on the stacks after a step."""
        top = len(before.config.frames) - 1
        over = any(event.action == "end" for event in events)
        known: list[tuple[Items, ...]] = []
        for depth, frame in enumerate(config.frames):
            if depth > top or (depth == top and over):
                # A call has begun. What a further call of its caller gets is not followed.
                count = frame.stack[0][1][0]
                items = ((),) * count if over else self._called_items(before, count)
                known.append((items,))
            elif depth == top and frame.phase is Phase.READY:
                known.append(self._known_above(before, frame, events[0], given))
            else:
                known.append(_known_below(frame, before.known[depth]))
        return tuple(known)

    def _known_above(
        self, before: Execution, frame: Frame, event: Event, given: Items | None
    ) -> tuple[Items, ...]:
        """What is known of the items on a stack whose node on top has handed on its outputs."""
        node, _ = self._on_top(before.config)
        flow = self.engine.flows[frame.flow]
        rest = before.known[-1][:-1]
        # Each output with items stacks its targets in the order of the wires. Nodes with several
        # inputs wait for all of them: what they get is not followed.
        outputs = (
            wire.output
            for wire in node.wires
            if wire.output < len(event.outputs)
            and event.outputs[wire.output]
            and flow.nodes[wire.target].inputs < 2
        )
        known: list[Items] = list(rest)
        for target, counts in frame.stack[len(rest) :]:
            if flow.nodes[target].inputs < 2:
                items = self._output_items(before, next(outputs), counts[0], event, given)
            else:
                items = ((),) * counts[0]
            known.append(items)
        return tuple(known)

    def _output_items(
        self, before: Execution, output: int, count: int, event: Event, given: Items | None
    ) -> Items:
        """What is known of the items on one output of a node."""
        node, frame = self._on_top(before.config)
        if event.status == "error":
            return ((),) * count
        if given is not None:
            # Rows and answers leave by the first output. A node that always outputs data adds an
            # empty item.
            return given if output == 0 and len(given) == count else ((),) * count
        items = self._input_items(before)
        if not node.disabled and node.index not in self._passing[frame.flow]:
            return ((),) * count
        return items if len(items) == count else (common_fields(items),) * count


# -- nodes -----------------------------------------------------------------------------------------


class _Unknown:
    """Not a value."""


_UNKNOWN: Final = _Unknown()

_FIELD: Final = re.compile(r"""\$json(?P<path>(?:\.[A-Za-z_]\w*|\[(?:'[^'\\]*'|"[^"\\]*")\])+)""")
_FIELD_PART: Final = re.compile(r"""\.(\w+)|\[(?:'([^']*)'|"([^"]*)")\]""")


def _field_path(code: str) -> str | None:
    """The path of the field of the item that an expression reads; `None` for any other one."""
    match = _FIELD.fullmatch(code)
    if match is None:
        return None
    parts = (next(filter(None, part.groups()), "") for part in _FIELD_PART.finditer(match["path"]))
    return ".".join(parts)


_PASSING: Final = frozenset({"trigger", "pass", "choice", "wait", "call"})
"""Kinds of nodes whose outputs are items of their own input."""


def _passing_nodes(flow: Flow, workflows: Mapping[str, Mapping[str, Any]]) -> frozenset[int]:
    """The nodes of a workflow that do not change the fields of items."""
    assert flow.id is not None
    passing: set[int] = set()
    for row in workflows[flow.id]["nodes"]:
        index = flow.by_name.get(row["name"])
        kind = node_types.find_type(str(row.get("type", "")).removeprefix(TYPE_PREFIX))
        if index is None or kind is None or flow.nodes[index].behaviour.kind not in _PASSING:
            continue
        version, parameters = float(row.get("typeVersion", 1)), mapping(row.get("parameters"))
        if kind.start == "called":
            passes = version < 1.1 or parameters.get("inputSource") == "passthrough"
        else:
            passes = kind.start is not None or kind.effect(version, parameters) == "pass"
        if passes:
            passing.add(index)
    return frozenset(passing)


def _known_below(frame: Frame, known: tuple[Items, ...]) -> tuple[Items, ...]:
    """What is known of the items on a stack whose node on top waits or calls, or has got the result
    of its call, which is not followed."""
    kept = known[:-1] if frame.phase is Phase.READY else known
    items = [*kept, *(((),) * counts[0] for _, counts in frame.stack[len(kept) :])]
    # n8n may empty the input of a wait (`Work._open`).
    if items and len(items[-1]) != frame.stack[-1][1][0]:
        items[-1] = ((),) * frame.stack[-1][1][0]
    return tuple(items)


# -- tables ----------------------------------------------------------------------------------------


def _table_of(world: World, table: str) -> Table:
    try:
        return world.table(table)
    except KeyError:
        raise UnknownOperation(f"there is no table `{table}`") from None


def _returned_items(request: TableRequest, result: TableResult) -> Items:
    """What is known of the items that an operation returns."""
    if request.counts_only:
        return (make_item({"success": True, "insertedRows": len(result.rows)}),)
    return tuple(make_item(row_fields(result.table, row)) for row in result.rows)


# -- the clock -------------------------------------------------------------------------------------


def _due_timers(clock: Sequence[Timer]) -> list[int]:
    """The timers that may fire next: the earliest ones, and those whose time is not fixed."""
    earliest = min((timer.left for timer in clock if timer.left is not None), default=None)
    return [place for place, timer in enumerate(clock) if timer.left in (None, earliest)]


def _advanced_clock(clock: Sequence[Timer], fired: int) -> tuple[Timer, ...]:
    """The pending timers after one has fired."""
    passed = clock[fired].left
    timers: list[Timer] = []
    for place, timer in enumerate(clock):
        if place == fired:
            if timer.every is not None:
                timers.append(timer._replace(left=timer.every))
        elif timer.left is None or passed is None:
            # After an unknown time, what is left of the others is unknown.
            timers.append(timer._replace(left=None))
        else:
            timers.append(timer._replace(left=timer.left - passed))
    return tuple(timers)
