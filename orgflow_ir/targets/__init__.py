"""The contracts of targets: support tables as data, rewrite patterns, the output of a backend.

`orgflow_ir.legalisation` applies them to a model.
"""

from typing import Any

from orgflow_ir.targets.artifact import Artifact, Emitted, Part, SourceMap
from orgflow_ir.targets.lowering import AddedLowering, RewritePattern
from orgflow_ir.targets.spec import (
    Derivation,
    Illegal,
    Legal,
    LegalIf,
    Legality,
    Reason,
    TargetSpec,
    executable_processes,
    support_level,
)
from orgflow_ir.targets.target_rules import (
    TARGET_RULES,
    IllegalConstruct,
    LossyLowering,
    LoweredConstruct,
)

__all__ = [
    "TARGET_RULES", "AddedLowering", "Artifact", "Derivation", "Emitted", "Illegal",
    "IllegalConstruct", "Legal", "LegalIf", "Legality", "LossyLowering", "LoweredConstruct",
    "Part", "Reason", "RewritePattern", "SourceMap", "TargetSpec", "executable_processes",
    "support_level",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    from orgflow_ir.moved_names import load_moved_attribute

    return load_moved_attribute(__name__, name)
