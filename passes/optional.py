"""The passes of optional rules, which run if a preset or a project enables one of them."""

from __future__ import annotations

from orgflow.passes.catalogue import Catalogue
from orgflow.passes.drawing import Drawing
from orgflow.passes.event_style import EventStyle
from orgflow.passes.gateway_style import GatewayStyle
from orgflow.passes.implicit_flow import ImplicitFlow
from orgflow.passes.labels import Labels

from orgflow_ir.pipeline import Pass

OPTIONAL: tuple[Pass, ...] = (
    Labels(),
    ImplicitFlow(),
    GatewayStyle(),
    EventStyle(),
    Catalogue(),
    Drawing(),
)
"""They are in the order in which `check` runs them, after the passes of the verify stage."""
