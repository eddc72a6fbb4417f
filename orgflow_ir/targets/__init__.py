"""Targets: their support tables as data, and the legalisation of a model for a target."""

from orgflow_ir.targets.artifact import Artifact, Emitted, Part, SourceMap
from orgflow_ir.targets.legalise import constructs, extended, illegal_uses, legalise
from orgflow_ir.targets.lowering import AddedLowering, RewritePattern
from orgflow_ir.targets.rules import (
    TARGET_RULES,
    IllegalConstruct,
    LossyLowering,
    LoweredConstruct,
)
from orgflow_ir.targets.spec import (
    Derivation,
    Illegal,
    Legal,
    LegalIf,
    Legality,
    TargetSpec,
    executable_processes,
    support_level,
)

__all__ = [
    "TARGET_RULES", "AddedLowering", "Artifact", "Derivation", "Emitted", "Illegal",
    "IllegalConstruct", "Legal", "LegalIf", "Legality", "LossyLowering", "LoweredConstruct",
    "Part", "RewritePattern", "SourceMap", "TargetSpec", "constructs", "executable_processes",
    "extended", "illegal_uses", "legalise", "support_level",
]  # fmt: skip
