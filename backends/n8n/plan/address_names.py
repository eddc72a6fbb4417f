"""Texts for URLs: static, and unlike every other in their workflow."""

from __future__ import annotations

from orgflow.backends.n8n.plan.scope_plan import ScopePlan

from orgflow_ir.model.element_names import slug


def take_address(plan: ScopePlan, *words: str) -> str:
    """A text for a URL that no other node of a plan has."""
    parts = [slug(w, words=5).replace("_", "-") for w in words]
    base = "-".join(dict.fromkeys(p for p in parts if p)) or "process"
    address, number = base, 2
    while address in plan.addresses:
        address, number = f"{base}-{number}", number + 1
    plan.addresses.add(address)
    return address
