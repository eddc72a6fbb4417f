"""All names that a plugin needs: `from orgflow_ir.authoring import Backend, Model`.

Each name is loaded on first use, so that plugins do not slow down other commands. The names can
also be imported from the modules that define them; docs/reference/model.md describes the classes of
the model.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orgflow_ir.diagnostics import Category, Diagnostic, Fix, Rule, Severity
    from orgflow_ir.facts import keep
    from orgflow_ir.flow.control_flow.graph import ControlFlow
    from orgflow_ir.lowering.common import LOWERINGS, mixed_gateways
    from orgflow_ir.model import (
        CallActivity,
        DataObject,
        Event,
        EventDefinition,
        Expression,
        Flow,
        Gateway,
        Lane,
        MessageFlow,
        Model,
        Node,
        Opaque,
        Pool,
        Process,
        SourceFile,
        SourceKind,
        SourceLocation,
        SubProcess,
        Task,
    )
    from orgflow_ir.model.element_names import file_names, one_line, slug, title
    from orgflow_ir.model.neighbours import note_folder
    from orgflow_ir.model.provenance import source_ids
    from orgflow_ir.pipeline import Pass, PassContext, Stage
    from orgflow_ir.plugins import Answer, Backend, Frontend, GapAgent, ModelAgent, hookimpl
    from orgflow_ir.targets import (
        AddedLowering,
        Artifact,
        Emitted,
        Illegal,
        Legal,
        LegalIf,
        Part,
        RewritePattern,
        SourceMap,
        TargetSpec,
        executable_processes,
    )

__all__ = [
    "LOWERINGS", "AddedLowering", "Answer", "Artifact", "Backend", "CallActivity", "Category",
    "ControlFlow", "DataObject", "Diagnostic", "Emitted", "Event", "EventDefinition", "Expression",
    "Fix", "Flow", "Frontend", "GapAgent", "Gateway", "Illegal", "Lane", "Legal", "LegalIf",
    "MessageFlow", "Model", "ModelAgent", "Node", "Opaque", "Part", "Pass", "PassContext", "Pool",
    "Process", "RewritePattern", "Rule", "Severity", "SourceFile", "SourceKind", "SourceLocation",
    "SourceMap", "Stage", "SubProcess", "TargetSpec", "Task", "executable_processes", "file_names",
    "hookimpl", "keep", "mixed_gateways", "note_folder", "one_line", "slug", "source_ids", "title",
]  # fmt: skip

_HOMES = ("targets", "plugins", "model", "diagnostics", "pipeline", "model.element_names",
          "model.neighbours", "model.provenance", "flow.control_flow.graph", "facts",
          "lowering.common")  # fmt: skip
"""The modules of the names; `Artifact` is the file of a target, not the artifact of BPMN."""


def __getattr__(name: str) -> Any:
    if name in __all__:
        for home in _HOMES:
            module = import_module(f"orgflow_ir.{home}")
            if name in getattr(module, "__all__", vars(module)):
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
