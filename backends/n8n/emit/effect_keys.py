"""Keys of effects outside of n8n: the same when a crashed or failed execution is retried.

n8n gives a retried execution another id and starts it at the last saved state. So a key is made of
what both have in common: instance, element and visit. The receiver of a request recognises one that
it has already got by the key (`Idempotency-Key`).

Measured on n8n 2.41.1: a retry keeps the token of `$execution.resumeUrl`, which n8n makes once for
an execution, stores with its data, and never shows to anybody else; `$execution.id` changes. The
key contains a quarter of its 256 bits, so that nobody can resume an execution by a key. After a
crash, n8n gives a node that had ended and was not yet saved an artificial first run
(`execution-recovery.service`), which is no visit.
"""

from __future__ import annotations

import re
from typing import Final

from orgflow.backends.n8n.node_types.conditions import make_expression
from orgflow.backends.n8n.node_types.execute_workflow import INSTANCE
from orgflow.backends.n8n.plan.actions import CalledStart
from orgflow.backends.n8n.plan.references import quote_node
from orgflow.backends.n8n.plan.scope_plan import ScopePlan

_ARTIFICIAL: Final = "isArtificialRecoveredEventItem"

ENTERED_VISIT: Final = (
    "${$prevNode.runIndex - ($prevNode.runIndex"
    f" && $($prevNode.name).first(0, 0)?.json?.{_ARTIFICIAL} ? 1 : 0)"
    "}.${[...$prevNode.name]"
    ".reduce((h, c) => (h * 31 + c.codePointAt(0)) % 4294967291, 7).toString(36)}"
)
"""The visit of a node that has the effect itself, as a part of a template: by the run of the node
before it, and which one that is. The run of the node itself may be repeated."""

_EXECUTION: Final = (
    r"${$workflow.id}-${/[?&]signature=(\w{16})/.exec($execution.resumeUrl)?.[1] ?? $execution.id}"
)
_PLAIN: Final = re.compile(r"[^A-Za-z0-9_-]")


def effect_key(instance: str, element: str, visit: str) -> str:
    """JavaScript for the key of an effect.

    Args:
        instance: JavaScript for the instance of the process.
        element: the id of the element that has the effect.
        visit: JavaScript for how often the element was visited.

    Both codes may also be parts of a template, which begin with `${`.
    """
    # A header has ASCII characters only; different elements have different keys.
    part = _PLAIN.sub(lambda match: f".{ord(match[0]):x}.", element)
    return f"`{_template_part(instance)}-{part}-{_template_part(visit)}`"


def _template_part(script: str) -> str:
    return script if script.startswith("${") else f"${{{script}}}"


def own_visit(name: str) -> str:
    """JavaScript for the visit of a node of this name that only computes, and runs before the node
    that has the effect."""
    first = f"$({quote_node(name)}).first(0, 0)"
    return f"$runIndex - ($runIndex && {first}?.json?.{_ARTIFICIAL} ? 1 : 0)"


def instance_code(plan: ScopePlan) -> str:
    """JavaScript for the instance of the process that a workflow executes, or a part of a template:
    the one that its caller handed over, otherwise that of its own execution."""
    starts = [n for n in plan.with_role("trigger") if isinstance(n.action, CalledStart)]
    handed = [f"$({quote_node(node.name)})" for node in starts]
    if len(handed) > 1:
        handed = [f"({read}.isExecuted ? {read} : null)?" for read in handed]
    given = [f"{read}.first().json.{INSTANCE}" for read in handed]
    return " ?? ".join([*given, f"`{_EXECUTION}`"]) if given else _EXECUTION


def call_instance(element: str, plan: ScopePlan) -> str:
    """The expression for the instance that a call hands over: the key of the call."""
    return make_expression(effect_key(instance_code(plan), element, ENTERED_VISIT))
