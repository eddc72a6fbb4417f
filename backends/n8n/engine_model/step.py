"""One step of the machine, on a working copy of a configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from orgflow.backends.n8n.engine_model.choices import handed_on
from orgflow.backends.n8n.engine_model.config import (
    Call,
    Config,
    Event,
    Frame,
    Phase,
    Role,
    Status,
)
from orgflow.backends.n8n.engine_model.flow import Flow, Node, on_top
from orgflow.backends.n8n.engine_model.outcome import (
    Emits,
    Fails,
    Opens,
    Outcome,
    Resumes,
    Runs,
    Stays,
)
from orgflow.backends.n8n.engine_model.persistence import lowered_marks, stored_marks
from orgflow.backends.n8n.engine_model.waiting import deliver_items, fire_partial
from orgflow.backends.n8n.node_types.behaviour import Counts

_Action = Literal["run", "open", "done", "call", "return", "detach", "skip", "begin", "end"]
_Ended = Literal["success", "error", "waiting"]


class Work:
    """The copy: `frames`, `queue` and `status` of a configuration, and the events so far.

    Args:
        flows: the workflows, `ids` their places by id.
        apart: whether calls that are not waited for are reported instead of run.
        config: the initial configuration of the step.
    """

    def __init__(
        self, flows: Sequence[Flow], ids: Mapping[str | None, int], apart: bool, config: Config
    ) -> None:
        self.flows = flows
        self.ids = ids
        self.apart = apart
        self.frames: list[Frame] = list(config.frames)
        self.queue: list[tuple[int, int, int]] = list(config.queue)
        self.status: Status = config.status
        self.events: list[Event] = []

    def apply(self, outcome: Outcome) -> None:
        """Apply `outcome` to the node on top; a ValueError reports that it is impossible."""
        # n8n runs a stack: the node on top of the execution on top is the only one that can act.
        frame = self.frames[-1]
        node, counts = on_top(self.flows[frame.flow], frame), frame.stack[-1][1]
        inputs = counts
        if node.execute_once and not node.disabled:
            inputs = tuple(min(count, 1) for count in counts)
        if frame.phase is Phase.READY:
            match outcome:
                case Runs():
                    self._run_node(node, counts, inputs)
                case Emits(given) if not node.disabled:
                    self._emit_outputs("run", node, given)
                case Fails() if not node.disabled:
                    self._fail_node(node, counts, inputs, "run")
                case Opens(in_process) if not node.disabled:
                    self._open_wait(frame, node, inputs, in_process)
                case _:
                    raise ValueError(f"`{node.name}` cannot do this now: {outcome}")
            return
        match outcome:
            case Resumes(items) if frame.phase is Phase.SLEEPING and items is None:
                self._emit_outputs("done", node, handed_on(node, inputs[:1]))
            case Resumes(items) if frame.phase is Phase.PARKED:
                # A parked node goes on as if it were disabled: executeOnce does not act.
                given = counts[:1] if items is None else (items,)
                self._emit_outputs("done", node, handed_on(node, given))
            case Stays() if frame.phase is Phase.PARKED:
                self._end_parked()
            case _:
                raise ValueError(f"`{node.name}` waits and cannot do this: {outcome}")

    def _add_event(self, action: _Action, node: str, outputs: Counts, status: _Ended) -> None:
        depth = len(self.frames) - 1
        flow = self.flows[self.frames[-1].flow].id
        self.events.append(Event(action, flow, node, outputs, status, depth))

    def _run_node(self, node: Node, counts: Counts, inputs: Counts) -> None:
        behaviour = node.behaviour
        # A disabled node passes its first input on, before anything else is looked at, even
        # without items; a trigger starts with what it was given, also with none.
        if node.disabled:
            self._emit_outputs("run", node, handed_on(node, counts[:1]))
            return
        if behaviour.kind == "trigger":
            self._emit_outputs("run", node, handed_on(node, inputs))
            return
        if not any(inputs):
            self._skip_node(node)
            return
        match behaviour.kind:
            case "pass":
                self._emit_outputs("run", node, handed_on(node, inputs[:1]))
            case "merge":
                assert behaviour.count is not None
                # No count: the node throws with these parameters (an input that is not there).
                merged = behaviour.count(inputs)
                if merged is None:
                    self._fail_node(node, counts, inputs, "run")
                else:
                    self._emit_outputs("run", node, handed_on(node, merged))
            case "batches":
                self._run_batch(node, inputs[0])
            case "stop":
                self._fail_node(node, counts, inputs, "run")
            case "call":
                self._call_workflow(node, inputs[0], node.tries - 1)
            case _:
                raise ValueError(f"the outcome of `{node.name}` has to be chosen")

    def _skip_node(self, node: Node) -> None:
        """A node without input: n8n goes on at once and does not even look at waiting nodes."""
        if node.always_output:
            self._emit_outputs("run", node, (1,), kept=False)
            return
        self._add_event("skip", node.name, (), "success")
        frame = self.frames[-1]
        stack = frame.stack[:-1]
        passing, cuts = lowered_marks(self.flows[frame.flow], frame, stack)
        self.frames[-1] = frame._replace(stack=stack, passing=passing, cuts=cuts)
        if not stack:
            self._end_frame("success")

    def _emit_outputs(
        self, action: _Action, node: Node, outputs: Counts, kept: bool = True
    ) -> None:
        """The node succeeded and hands on `outputs`."""
        # "Always Output Data" looks at the first output only.
        if node.always_output and not (outputs and outputs[0]):
            outputs = (1, *outputs[1:])
        self._add_event(action, node.name, outputs, "success")
        self._deliver_outputs(node, outputs, kept)

    def _fail_node(self, node: Node, counts: Counts, inputs: Counts, action: _Action) -> None:
        """The node threw for the last time."""
        # Without "On Error" the execution ends and hands nothing to its caller.
        if node.on_error == "stop":
            self._add_event(action, node.name, (), "error")
            self.frames[-1] = self.frames[-1]._replace(last=())
            self._end_frame("error")
            return
        # What goes on is the whole input, whatever executeOnce says, and never an added item.
        self._add_event(action, node.name, counts[:1], "error")
        self._deliver_outputs(node, counts[:1], kept=True, ends="error")

    def _deliver_outputs(
        self, node: Node, outputs: Counts, kept: bool, ends: _Ended = "success"
    ) -> None:
        """Stack what follows; without anything left the execution ends as its last node did.

        So an error that was continued from still ends an execution in error if it was the last
        thing that happened.
        """
        # 1. The node leaves the stack.
        frame = self.frames[-1]
        flow = self.flows[frame.flow]
        stack = list(frame.stack)
        stack.pop()
        passing, cuts = lowered_marks(flow, frame, stack)
        # 2. Targets of outputs that got items: one with a single input is stacked, one with several
        # waits until its inputs are complete. `wires` are in the order in which n8n stacks them, so
        # the top branch of the canvas runs first.
        waiting = frame.waiting
        size = len(outputs)
        for output, target, slot in node.wires:
            if output >= size or not outputs[output]:
                continue
            to = flow.nodes[target]
            if to.inputs < 2:
                stack.append((target, (outputs[output],)))
                continue
            waiting, complete = deliver_items(flow, waiting, to, slot, outputs[output])
            if complete is not None:
                stack.append((target, complete))
        # 3. Only when nothing else can run does n8n look at what waits, and fires one node.
        if not stack and waiting:
            fired = fire_partial(flow, waiting)
            if fired is not None:
                waiting, pending = fired
                stack.append(pending)
        # 4. A called workflow returns what its last node handed on.
        last, totals = frame.last, frame.totals
        if kept and frame.role is Role.CALLED:
            last, totals = _returned_counts(flow, frame, node, outputs)
        self.frames[-1] = frame._replace(
            phase=Phase.READY, stack=tuple(stack), waiting=waiting, last=last, call=None,
            totals=totals, passing=passing, cuts=cuts,
        )  # fmt: skip
        if not stack:
            self._end_frame(ends)

    def _run_batch(self, node: Node, items: int) -> None:
        """Loop Over Items: output 1 hands out a batch, output 0 what came back at the end."""
        frame = self.frames[-1]
        size = abs(node.behaviour.batch)
        reset = node.behaviour.batch < 0
        # n8n keeps the loop's state in the node's context for the whole execution: the first visit
        # fills it, later ones bring items back, and "Reset" forgets it.
        held = next((entry for entry in frame.batches if entry[0] == node.index), None)
        if held is None or reset:
            left, back = items, 0
        else:
            left, back = held[1], held[2] + items
        batch = min(left, size)
        outputs = handed_on(node, (0, batch) if batch else (back, 0))
        if not batch and node.on_error == "error":
            back = 0  # n8n sorts out failed items in place and so empties its own memory
        rest = tuple(entry for entry in frame.batches if entry[0] != node.index)
        batches = tuple(sorted((*rest, (node.index, left - batch, back))))
        self.frames[-1] = frame._replace(batches=batches)
        self._emit_outputs("run", node, outputs)

    def _open_wait(self, frame: Frame, node: Node, inputs: Counts, in_process: bool) -> None:
        if not any(inputs):
            raise ValueError(f"`{node.name}` has no input and does not wait")
        self._add_event("open", node.name, handed_on(node, inputs[:1]), "waiting")
        if in_process:
            self.frames[-1] = frame._replace(phase=Phase.SLEEPING)
            return
        # The execution is stored and the process goes on with other work: calls that nobody waits
        # for begin now.
        stack = frame.stack
        if node.on_error == "error" and not node.execute_once:
            # n8n sorts out failed items in place, in the very list it keeps for the resumption: a
            # timer or limit that runs out then passes nothing on.
            index, counts = stack[-1]
            stack = (*stack[:-1], (index, (0, *counts[1:])))
        self.frames[-1] = frame._replace(phase=Phase.PARKED, stack=stack)
        self._park_frames()
        self._next_detached()

    def _park_frames(self) -> None:
        """A stored execution takes those that wait for it along."""
        for depth in range(len(self.frames) - 1, -1, -1):
            frame = self.frames[depth]
            passing, cuts = stored_marks(self.flows[frame.flow], frame)
            called = frame.role is Role.CALLED
            self.frames[depth] = frame._replace(
                parked=called, totals=(), passing=passing, cuts=cuts
            )
            if not called:
                return

    def _end_parked(self) -> None:
        """End the execution that is parked and all that wait for it."""
        while self.frames[-1].role is Role.CALLED:
            self._add_event("end", "", (), "waiting")
            self.frames.pop()
        self._end_frame("waiting")

    def _call_workflow(self, node: Node, items: int, tries: int) -> None:
        behaviour = node.behaviour
        index = self.ids[behaviour.calls]
        entry = self.flows[index].entry
        runs = items if behaviour.each else 1
        # Nobody waits: the node is done at once, the calls run later or elsewhere.
        if not behaviour.waited and entry is not None:
            self._add_event("run", node.name, handed_on(node, (items,)), "success")
            each = 1 if behaviour.each else items
            for _ in range(runs):
                self._detach_call(index, entry, each)
            self._deliver_outputs(node, handed_on(node, (items,)), kept=True)
            return
        # In mode "each" one call an item, one after the other; what they give adds up.
        self._add_event("call", node.name, (items,), "success")
        left = items - 1 if behaviour.each else 0
        call = Call(left, (), 0, False, tries)
        self.frames[-1] = self.frames[-1]._replace(phase=Phase.CALLING, call=call)
        if runs == 0:
            self._return_outputs(node, ())
        elif entry is None:
            self._called_back((), failed=True)
        else:
            self._begin_frame(index, Role.CALLED, entry, 1 if behaviour.each else items)

    def _detach_call(self, flow: int, entry: int, items: int) -> None:
        target = self.flows[flow]
        depth = len(self.frames) - 1
        name = target.nodes[entry].name
        self.events.append(Event("detach", target.id, name, (items,), "success", depth))
        if not self.apart:
            self.queue.append((flow, entry, items))

    def _begin_frame(self, flow: int, role: Role, entry: int, items: int) -> None:
        self.frames.append(Frame(flow, role, Phase.READY, ((entry, (items,)),)))
        self._add_event("begin", self.flows[flow].nodes[entry].name, (items,), "success")

    def _next_detached(self) -> None:
        if self.queue:
            flow, entry, items = self.queue.pop(0)
            self._begin_frame(flow, Role.DETACHED, entry, items)

    def _end_frame(self, status: _Ended) -> None:
        """The execution on top is over."""
        self._add_event("end", "", self.frames[-1].last, status)
        frame = self.frames.pop()
        match frame.role:
            case Role.CALLED:
                # An execution that was stored hands over by the database: the first output only.
                last = frame.last[:1] if frame.parked else frame.last
                self._called_back(last, failed=status == "error")
                return
            case Role.MAIN:
                self.status = status
            case Role.DETACHED:
                pass
        self._next_detached()

    def _called_back(self, last: Counts, failed: bool) -> None:
        """A call that is waited for is over; `last` is what its last node handed on."""
        frame = self.frames[-1]
        assert frame.call is not None
        node, counts = on_top(self.flows[frame.flow], frame), frame.stack[-1][1]
        call = frame.call
        each = node.behaviour.each
        # A called workflow that failed fails the node, after all its tries, unless it continues on
        # errors item by item.
        if failed and not node.body_continues:
            if call.tries:
                self._call_again(node, counts, call.tries - 1)
            else:
                self._fail_node(node, counts, counts, "return")
            return
        # An item whose call failed is one error item: among the regular ones, or with "Continue
        # (using error output)" by the last output.
        if failed:
            first = call.error_first or not (call.total and call.total[0])
            regular = node.on_error != "error"
            total = _sum_counts(call.total, (1,)) if regular else call.total
            call = call._replace(total=total, failed=call.failed + 1, error_first=first)
        else:
            call = call._replace(total=_sum_counts(call.total, last) if each else last)
        if call.left:
            self.frames[-1] = frame._replace(call=call._replace(left=call.left - 1))
            entry = self.flows[self.ids[node.behaviour.calls]].entry
            if entry is None:
                self._called_back((), failed=True)
            else:
                self._begin_frame(self.ids[node.behaviour.calls], Role.CALLED, entry, 1)
            return
        # n8n tells from the first item whether a node failed and is to be tried again.
        if call.error_first and call.tries:
            self._call_again(node, counts, call.tries - 1)
            return
        errors = call.failed if node.on_error == "error" else 0
        self._return_outputs(node, handed_on(node, call.total, errors))

    def _call_again(self, node: Node, counts: Counts, tries: int) -> None:
        items = min(counts[0], 1) if node.execute_once else counts[0]
        self._call_workflow(node, items, tries)

    def _return_outputs(self, node: Node, outputs: Counts) -> None:
        frame = self.frames[-1]
        self.frames[-1] = frame._replace(phase=Phase.READY, call=None)
        self._emit_outputs("return", node, outputs)


def _returned_counts(
    flow: Flow, frame: Frame, node: Node, outputs: Counts
) -> tuple[Counts, tuple[tuple[int, Counts], ...]]:
    """What a called workflow returns if `node` was its last one, and the totals kept for that."""
    # What a call returns is the last run of the last node or all its runs together, as the trigger
    # of the called workflow says (`Flow.all_runs`); after a resumption earlier runs are gone.
    if frame.parked or not flow.all_runs or not flow.ends >> node.index & 1:
        return outputs, frame.totals
    before = next((held for index, held in frame.totals if index == node.index), ())
    total = _sum_counts(before, outputs)
    rest = tuple(entry for entry in frame.totals if entry[0] != node.index)
    return total, tuple(sorted((*rest, (node.index, total))))


def _sum_counts(first: Counts, second: Counts) -> Counts:
    size = max(len(first), len(second))
    first_padded = first + (0,) * (size - len(first))
    second_padded = second + (0,) * (size - len(second))
    return tuple(a + b for a, b in zip(first_padded, second_padded, strict=True))
