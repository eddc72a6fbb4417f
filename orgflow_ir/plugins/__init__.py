"""Plugins: the contracts of the leaves, the hooks that register them, and the registry.

Names related to agents are loaded on first use.
"""

from typing import TYPE_CHECKING, Any

from orgflow_ir.plugins.contracts import Backend, Frontend, Reporter
from orgflow_ir.plugins.hooks import GROUP, hookimpl, hookspec
from orgflow_ir.plugins.registry import BUILTINS, Registry, RegistryError, outside_culprit
from orgflow_ir.plugins.runners import NodeExecution, Runner, RunnerError, RunResult

if TYPE_CHECKING:
    from orgflow_ir.plugins.agents import Agent, Answer, Document, GapAgent, ModelAgent, Refusal

__all__ = [
    "BUILTINS", "GROUP", "Agent", "Answer", "Backend", "Document", "Frontend", "GapAgent",
    "ModelAgent", "NodeExecution", "Refusal", "Registry", "RegistryError", "Reporter",
    "RunResult", "Runner", "RunnerError", "hookimpl", "hookspec", "outside_culprit",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from orgflow_ir.plugins import agents

    return getattr(agents, name)
