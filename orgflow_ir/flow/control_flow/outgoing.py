"""The conditions under which flows out of an activity get a token: always, by choice, or by
default."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.model import Flow
from orgflow_ir.model.records import NamedTuple


class Outgoing(NamedTuple):
    """The flows out of an activity or of a diverging gateway, in model order.

    Each of `always` gets a token, each of `chosen` gets one if its condition holds, `default` gets
    one if no condition in `chosen` holds.
    """

    always: tuple[Flow, ...]
    chosen: tuple[Flow, ...]
    default: Flow | None

    @property
    def decides(self) -> bool:
        """Whether any flow depends on data."""
        return bool(self.chosen) or self.default is not None


def sort_outgoing(flows: Iterable[Flow]) -> Outgoing:
    """How an activity selects its outgoing flows (BPMN 2.0.2, 8.4.13 and 13.3.2).

    A flow without a condition is always taken. The default is taken only if no condition holds, so
    a default implies a choice: if no other flow has a condition, all the others are choices for
    which the model has only labels (as in interchange model A.2.1). If there are several defaults,
    which is an error, the first one counts; the others are choices.
    """
    leaving = tuple(flows)
    if all(f.condition is None and not f.default for f in leaving):  # nearly always
        return Outgoing(leaving, (), None)
    default = next((f for f in leaving if f.default), None)
    others = tuple(f for f in leaving if f is not default)
    chosen = tuple(f for f in others if f.condition is not None or f.default)
    if default is not None and not chosen:
        chosen = others
    always = tuple(f for f in others if f not in chosen)
    return Outgoing(always, chosen, default)
