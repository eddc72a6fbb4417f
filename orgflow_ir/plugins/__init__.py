"""Plugins: the contracts of the leaves, the hooks that register them, and the registry."""

from orgflow_ir.plugins.contracts import (
    Agent,
    Backend,
    Frontend,
    NodeExecution,
    Reporter,
    Runner,
    RunnerError,
    RunResult,
)
from orgflow_ir.plugins.hooks import GROUP, hookimpl, hookspec
from orgflow_ir.plugins.registry import BUILTINS, Registry, RegistryError, outside_culprit

__all__ = [
    "BUILTINS", "GROUP", "Agent", "Backend", "Frontend", "NodeExecution", "Registry",
    "RegistryError", "Reporter", "RunResult", "Runner", "RunnerError", "hookimpl", "hookspec",
    "outside_culprit",
]  # fmt: skip
