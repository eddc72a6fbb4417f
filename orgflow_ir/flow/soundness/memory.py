"""Verdicts shared by several analyses of a model or of modified copies of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from orgflow_ir.flow.nets.build_net import lower_scope
from orgflow_ir.flow.nets.net import Body
from orgflow_ir.flow.nets.wiring import Wiring
from orgflow_ir.flow.soundness.findings import ScopeVerdict
from orgflow_ir.flow.soundness.scope import judge_net, may_complete
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import EventDefinition, Model, Scope
from orgflow_ir.model.records import NamedTuple

if TYPE_CHECKING:
    from orgflow_ir.flow.nets import call_order
    from orgflow_ir.flow.nets.call_order import CallOrder
else:  # for models with calls
    call_order = LazyModule("orgflow_ir.flow.nets.call_order")

_CallKey = tuple[int, str, frozenset[str], int]
_Key = tuple[int, tuple[tuple[str, Body], ...], frozenset[str], bool, int]


class CalledResult(NamedTuple):
    """Whether some run of a called process is done without an error, and what it throws and does
    not catch."""

    done: bool
    leaving: tuple[EventDefinition, ...]


class Memory:
    """Verdicts on scopes by their dependencies: the scope itself, the summaries of its activities,
    the events that end it, and the budget. Values are immutable, so an unchanged scope is
    recognised by object identity.

    `make_wiring` returns the wiring of a scope that has not been asked for.
    """

    def __init__(self) -> None:
        self.make_wiring: Callable[[Scope], Wiring] = Wiring
        self._wirings: dict[int, Wiring] = {}
        self._judged: dict[_Key, tuple[Scope, ScopeVerdict]] = {}
        self._completed: dict[_Key, tuple[Scope, bool]] = {}
        self._orders: dict[int, tuple[Model, CallOrder]] = {}
        self.called: dict[_CallKey, CalledResult] = {}
        """The results of called processes, by model, process, the calling processes that it calls
        in turn, and the budget."""

    def call_order(self, model: Model) -> CallOrder:
        """The calls between the processes of a model."""
        known = self._orders.get(id(model))
        if known is None:
            known = self._orders[id(model)] = model, call_order.CallOrder(model)
        return known[1]

    def wiring(self, scope: Scope) -> Wiring:
        """The wiring of a scope."""
        known = self._wirings.get(id(scope))
        if known is None:
            known = self._wirings[id(scope)] = self.make_wiring(scope)
        return known

    def verdict(
        self,
        scope: Scope,
        bodies: Mapping[str, Body],
        ending: frozenset[str],
        ghosts: bool,
        max_states: int,
    ) -> ScopeVerdict:
        """The verdict on the net of a scope (`lower_scope` lists its dependencies)."""
        key = (id(scope), tuple(bodies.items()), ending, ghosts, max_states)
        known = self._judged.get(key)
        if known is None:
            net = lower_scope(scope, bodies, ending, ghosts=ghosts, wiring=self.wiring(scope))
            known = self._judged[key] = scope, judge_net(net, max_states)
        return known[1]

    def completes(
        self,
        scope: Scope,
        bodies: Mapping[str, Body],
        ending: frozenset[str],
        ghosts: bool,
        max_states: int,
    ) -> bool:
        """Whether some run of a scope completes without a throw event that ends the scope."""
        key = (id(scope), tuple(bodies.items()), ending, ghosts, max_states)
        known = self._completed.get(key)
        if known is None:
            wiring = self.wiring(scope)
            net = lower_scope(scope, bodies, ending, mute=True, ghosts=ghosts, wiring=wiring)
            known = self._completed[key] = scope, may_complete(net, max_states)
        return known[1]
