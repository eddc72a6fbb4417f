"""The order of passes, and the severities of their findings by command. Read top to bottom."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from orgflow.passes.compensation import Compensation
from orgflow.passes.conditions import Conditions
from orgflow.passes.dead_ends import DeadEnds
from orgflow.passes.dead_steps import DeadSteps
from orgflow.passes.decision_tables import DecisionTables
from orgflow.passes.duplicate_flows import DuplicateFlows
from orgflow.passes.event_gateways import EventGateways
from orgflow.passes.event_placement import EventPlacement
from orgflow.passes.event_triggers import EventTriggers
from orgflow.passes.flow_ends import FlowEnds
from orgflow.passes.gaps import Gaps
from orgflow.passes.gateway_conditions import GatewayConditions
from orgflow.passes.lack_of_synchronisation import LackOfSynchronisation
from orgflow.passes.leftover_tokens import LeftoverTokens
from orgflow.passes.link_events import LinkEvents
from orgflow.passes.loop_termination import LoopTermination
from orgflow.passes.merge_deadlock import MergeDeadlock
from orgflow.passes.message_exchange import MessageExchange
from orgflow.passes.message_flows import MessageFlows
from orgflow.passes.missing_ends import MissingEnds
from orgflow.passes.parallel_writes import ParallelWritesPass
from orgflow.passes.process_ends import ProcessEnds
from orgflow.passes.references import References
from orgflow.passes.script_assignments import ScriptAssignments
from orgflow.passes.undecided_flow import Undecided

from orgflow_ir.diagnostics import Severity
from orgflow_ir.pipeline import Pass

CHECK: tuple[Pass, ...] = (
    FlowEnds(),
    DuplicateFlows(),
    ProcessEnds(),
    MissingEnds(),
    DeadEnds(),
    Conditions(),
    GatewayConditions(),
    DecisionTables(),
    ParallelWritesPass(),
    ScriptAssignments(),
    EventGateways(),
    EventPlacement(),
    EventTriggers(),
    Compensation(),
    LinkEvents(),
    MessageFlows(),
    References(),
    MergeDeadlock(),
    LoopTermination(),
    LackOfSynchronisation(),
    LeftoverTokens(),
    DeadSteps(),
    Undecided(),
)
"""The passes of `check`, which `compile` runs first: verify, then analyse."""

GAPS: tuple[Pass, ...] = (Gaps(),)
"""The passes that `check` then runs on a well-formed model, and `compile` on one that it emits:
gaps are not faults, so a search for faults can omit them."""

ON_REQUEST: tuple[Pass, ...] = (MessageExchange(),)
"""The additional pass of `check --messages`, which visits the states of all pools together."""

COMPILE_SEVERITIES: Mapping[str, Severity] = MappingProxyType(
    dict.fromkeys(("OF131", "OF203", "OF204"), Severity.WARNING)
)
"""Findings that are less severe for `compile` than for `check`: the workflow behaves exactly like
the model."""

GAP_SEVERITIES: Mapping[str, Severity] = MappingProxyType(
    dict.fromkeys(("OF503", "OF507", "OF508"), Severity.WARNING)
)
"""Gaps that `compile` reports as warnings: the default guesses the author's intention."""

FORCEABLE: frozenset[str] = frozenset({"OF201", "OF202", "OF206"})
"""Errors that `compile --force` reports as warnings. Malformed models are never forced."""

DRAWABLE: frozenset[str] = FORCEABLE | {"OF156"}
"""Errors that do not prevent pictures and documents: warnings for targets that do not execute."""
