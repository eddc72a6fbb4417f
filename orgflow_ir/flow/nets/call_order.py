"""Which processes of a model call which, so that each is looked at once and after those it calls.

A process that is called in many places would otherwise be looked at once for every path to it: the
number of paths doubles with each process that calls the next one twice.
"""

from __future__ import annotations

from orgflow_ir.flow.nets.activity_summaries import Nesting
from orgflow_ir.model import CallActivity, Model, Process


class CallOrder:
    """The calls between the processes of a model."""

    def __init__(self, model: Model) -> None:
        self._processes = {p.id: p for p in model.processes}
        self._direct: dict[str, tuple[str, ...]] = {}
        for process in model.processes:
            nesting = Nesting(process, model)
            called = (
                nesting.process_called(node)
                for scope in nesting.scopes
                for node in scope.nodes
                if isinstance(node, CallActivity)
            )
            ids = (other.id for other in called if other is not None)
            self._direct[process.id] = tuple(dict.fromkeys(ids))
        self._reached: dict[str, frozenset[str]] = {}

    def reached(self, process: str) -> frozenset[str]:
        """Ids of the processes that a process calls, directly or through others; itself only if it
        is one of them."""
        known = self._reached.get(process)
        if known is None:
            reached: set[str] = set()
            work = [*self._direct.get(process, ())]
            while work:
                called = work.pop()
                if called not in reached:
                    reached.add(called)
                    work += self._direct[called]
            known = self._reached[process] = frozenset(reached)
        return known

    def calls_itself(self, process: str) -> bool:
        """Whether a process is among those that it calls."""
        return process in self.reached(process)

    def list_inner(self, process: str) -> list[Process]:
        """The processes that a process calls, directly or through others, each after those that it
        calls itself; without those that call themselves, which have no such order."""
        order: list[Process] = []
        seen = {process}
        work = [(process, iter(self._direct.get(process, ())))]
        while work:
            at, rest = work[-1]
            for called in rest:
                if called not in seen:
                    seen.add(called)
                    work.append((called, iter(self._direct[called])))
                    break
            else:
                work.pop()
                if at != process and not self.calls_itself(at):
                    order.append(self._processes[at])
        return order
