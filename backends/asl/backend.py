"""The `asl` backend: from a legal process to a checked state machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgflow.backends.asl import rules
from orgflow.backends.asl.compiled_process import CompiledProcess
from orgflow.backends.asl.definition_check import list_problems
from orgflow.backends.asl.emit import emit_process
from orgflow.backends.asl.format import dump_definition
from orgflow.backends.asl.source_map import list_parts
from orgflow.backends.asl.target import ASL_TARGET

from orgflow_ir.facts import keep
from orgflow_ir.model import Model
from orgflow_ir.model.element_names import slug, title
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.targets import TargetSpec, executable_processes
from orgflow_ir.targets.artifact import Artifact, Emitted, SourceMap

if TYPE_CHECKING:
    from orgflow_ir.plugins.engines import EngineProvider

MAX_FILE = 100
"""Maximum length of a file name in characters, without its suffix."""


MAX_BYTES = 1024 * 1024
"""Longest definition of a state machine (AWS Step Functions, "Service quotas")."""


class AslBackend(Backend):
    """State machines for AWS Step Functions, one a process."""

    name = "asl"
    summary = "Amazon States Language for AWS Step Functions, checked offline"
    retired = rules.RETIRED
    rules = rules.ASL_RULES

    @property
    def target(self) -> TargetSpec:
        return ASL_TARGET

    def meaning(self, model: Model) -> Model:
        """See `Backend`: listeners and mappings of events and sub-processes are tasks."""
        from orgflow_ir.lowering.listeners import listeners_as_steps
        from orgflow_ir.lowering.mappings import mappings_as_steps

        return listeners_as_steps(mappings_as_steps(model), model)

    def engines(self) -> EngineProvider:
        """moto's interpreter of the language, in process; nothing is sent to AWS."""
        from orgflow.backends.asl.provider import MotoEngines

        return MotoEngines()

    def emit(self, model: Model, ctx: PassContext) -> Emitted:
        """One file per process. A violation found by orgflow's own check of the language is OF912,
        and nothing is printed."""
        emissions = emit_machines(model, ctx)
        if emissions is None:
            return Emitted((), SourceMap(model, tuple))
        texts = [dump_definition(compiled.definition) for compiled in emissions]
        for compiled, text in zip(emissions, texts, strict=True):
            size = len(text.encode("utf-8", "surrogatepass"))
            if size > MAX_BYTES:
                process = compiled.graph.process
                ctx.emit(
                    rules.OversizedStateMachine,
                    f"the state machine of `{process.label}` has {size} bytes, but Step Functions "
                    f"accepts at most {MAX_BYTES}",
                    element=process,
                    help="split the process, or shorten its documentation",
                )
        names: dict[str, CompiledProcess] = {}
        numbers: dict[str, int] = {}
        for compiled in emissions:
            words = slug(title(model, compiled.graph.process))[:MAX_FILE].replace("_", "-")
            name = base = words or "state-machine"
            while f"{name}.asl.json" in names:
                numbers[base] = numbers.get(base, 1) + 1
                name = f"{base}-{numbers[base]}"
            names[f"{name}.asl.json"] = compiled
        return Emitted(
            tuple(Artifact(path, text) for path, text in zip(names, texts, strict=True)),
            SourceMap(model, lambda: list_parts(names)),
            {compiled.graph.process.id: compiled for compiled in emissions},
        )


def emit_machines(model: Model, ctx: PassContext) -> list[CompiledProcess] | None:
    """The state machine of each process with executable content; `None` after OF912."""
    model = keep(model, "the comments of states", ctx, lanes=True, listeners=True)
    emissions = []
    faulty = False
    for process in executable_processes(model):
        compiled = emit_process(model, process, ctx)
        for problem in list_problems(compiled.definition):
            faulty = True
            ctx.emit(
                rules.FaultyStateMachine,
                f"the state machine compiled from `{process.label}` is faulty: {problem}",
                element=process,
                help="this is a bug in orgflow: report it and attach the model",
            )
        emissions.append(compiled)
    return None if faulty else emissions
