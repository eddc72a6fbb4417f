"""Shipped test helpers: contract checks for leaves, golden files of artifacts.

Importable without pytest or syrupy. The names are loaded on first use, so the pytest plugin of this
package costs nothing if it is not needed.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orgflow_ir.testing.kit import (
        ContractError,
        GoldenMismatch,
        artifact_extension,
        artifacts_text,
        check_agent,
        check_backend,
        check_frontend,
        check_golden,
        check_lowerings,
        check_pass,
        check_rule,
        check_runs,
        difference_text,
        emit,
        minimal_model,
        minimal_models,
        small_model,
    )

__all__ = [
    "ContractError", "GoldenMismatch", "artifact_extension", "artifacts_text", "check_agent",
    "check_backend", "check_frontend", "check_golden", "check_lowerings", "check_pass",
    "check_rule", "check_runs", "difference_text", "emit", "minimal_model", "minimal_models",
    "small_model",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from orgflow_ir.testing import kit

    return getattr(kit, name)
