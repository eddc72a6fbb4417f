"""The POWL backend: JSON of the published schema, or the Python code that builds the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from orgflow.backends.powl.format import Choice, Loop, Powl, PowlError, list_children
from orgflow.backends.powl.from_process import Unstructured, powl_of
from orgflow.backends.powl.powl_rules import LeftOutOfPowl, RepeatedInPowl

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.lowering.common import (
    ConditionalSplitToGateway,
    LinkToFlow,
    conditional_splits,
)
from orgflow_ir.lowering.plain_events import EventsToBranches, EventToStep, PlainStartOrEnd
from orgflow_ir.lowering.sub_processes import InlineSubProcess
from orgflow_ir.model import Event, Gateway, Model, Opaque, Process, Task
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.model.element_names import join_listed, one_line
from orgflow_ir.model.provenance import all_elements, source_ids
from orgflow_ir.model.source import file_stem
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.targets import Illegal, Legal, TargetSpec, executable_processes
from orgflow_ir.targets.artifact import Artifact, Emitted, Part, SourceMap
from orgflow_ir.targets.left_out import left_out

if TYPE_CHECKING:
    from orgflow.backends.powl import writers
else:  # a target is loaded for its name and options; the rest when it emits
    writers = LazyModule("orgflow.backends.powl.writers")

_STEPS = "POWL has steps, but no events or waiting gateways"
_ONE = "use --process NAME to compile one process of the model"


def find_unstructured(model: Model, ctx: PassContext) -> Iterator[ConstructUse]:
    """`flow.unstructured`: the first gateway outside of any choice, loop or partial order, for each
    process with only nodes that POWL supports."""
    for process in model.processes:
        if not process.nodes or not _is_plain(process, model, ctx):
            continue
        try:
            powl_of(model, process)
        except Unstructured as error:
            nodes = {node.id: node for node in process.nodes}
            yield ConstructUse("flow.unstructured", nodes[error.nodes[0]], process)
        except PowlError as error:
            yield ConstructUse("flow.unstructured", process, None, reason=str(error))


def _is_plain(process: Process, model: Model, ctx: PassContext) -> bool:
    split = {u.element.id for u in conditional_splits(model, ctx)}
    return not any(n.id in split for n in process.nodes) and all(
        isinstance(n, Task)
        or (isinstance(n, Gateway) and n.gateway_kind in ("exclusive", "parallel"))
        or (isinstance(n, Opaque) and n.construct == "opaque.harmless")
        or (isinstance(n, Event) and n.trigger == "none" and n.position != "boundary")
        for n in process.nodes
    )


POWL_TARGET = TargetSpec(
    name="powl",
    executes=False,
    constructs={
        "task": Legal("its label, lane and pool"),
        "activity": Illegal("POWL has no compensation and no quantities"),
        "call-activity": Illegal(
            "a POWL model is one process", "compile the called process separately"
        ),
        "sub-process": Illegal("POWL has no scopes that events could end"),
        "sub-process.plain": Illegal("POWL has no scopes"),
        "loop": Illegal("POWL repeats parts of the flow, not single steps with a condition",
                        "model the repetition with gateways"),
        "event": Illegal(_STEPS),
        "event.start.none": Legal(),
        "event.end.none": Legal(),
        "event.throw.none": Legal("a silent step"),
        "gateway": Illegal("POWL has choices of one part, loops and partial orders"),
        "gateway.exclusive": Legal("a choice or a loop"),
        "gateway.parallel": Legal("a partial order"),
        "split.conditional": Illegal("conditions belong to choices in POWL"),
        "flow": Legal(),
        "flow.message": Illegal("a POWL model is one process without messages", _ONE),
        "flow.message.black-box": Legal("omitted"),
        "flow.unstructured": Illegal(
            "the flow does not form choices, loops and partial orders",
            "pair splits and joins of the same kind, or use --target triples, which supports any "
            "flow structure",
        ),
        "lane": Legal(),
        "pool": Legal(),
        "data": Legal("omitted"),
        "artifact": Legal("omitted"),
        "opaque.harmless": Legal("omitted"),
        "opaque.illegal": Illegal("its meaning is unknown to orgflow"),
        "stub": Illegal("POWL has no step that ends a run"),
    },
    derivations=(conditional_splits, find_unstructured),
    lowerings=(
        ConditionalSplitToGateway(), LinkToFlow(), InlineSubProcess(), EventToStep(),
        PlainStartOrEnd(), EventsToBranches(),
    ),
    options={"form": ("json", "python")},
)  # fmt: skip


class PowlBackend(Backend):
    """Writes block-structured processes and partial orders as POWL; sound by construction.

    Option `form`: `json` (the published schema, with conditions) or `python` (calls that build the
    model).
    """

    name = "powl"
    summary = "POWL, a partially ordered workflow model, as JSON or as Python code"
    rules = (LeftOutOfPowl, RepeatedInPowl)

    @property
    def target(self) -> TargetSpec:
        """What POWL supports: steps, choices, loops, partial orders."""
        return POWL_TARGET

    def emit(self, model: Model, ctx: PassContext) -> Emitted:
        """One file per process."""
        stem = file_stem(model.source)
        python = ctx.options.get("form", "json") == "python"
        artifacts: dict[str, Artifact] = {}
        gone = list(left_out(model))
        several = executable_processes(model)
        for number, process in enumerate(several, 1):
            powl, repeated = powl_of(model, process)
            name = f"{stem}-{number}" if len(several) > 1 else stem
            path = f"{name}.powl.{'py' if python else 'json'}"
            text = (
                writers.code_text(powl, process.name)
                if python
                else writers.json_text(powl, process.name)
            )
            artifacts[process.id] = Artifact(path, text)
            if repeated:
                shown = join_listed([f"`{one_line(label)}`" for label in repeated[:4]])
                more = f" and {len(repeated) - 4} more" if len(repeated) > 4 else ""
                verb = "stands" if len(repeated) == 1 else "stand"
                ctx.emit(
                    RepeatedInPowl, f"{shown}{more} {verb} in several branches", element=process,
                    help="pair splits and joins of the same kind",
                )  # fmt: skip
            if python and _has_conditions(powl):
                gone.append(f"conditions of `{process.label}`, which become comments")
        if gone:
            ctx.emit(
                LeftOutOfPowl, f"POWL cannot express {join_listed(gone)}",
                help="keep the original model, or use --target bpmn",
            )  # fmt: skip
        paths = {process: artifact.path for process, artifact in artifacts.items()}
        return Emitted(
            tuple(artifacts.values()), SourceMap(model, lambda: _list_parts(model, paths))
        )


def _has_conditions(powl: Powl) -> bool:
    has_labels = isinstance(powl, Choice) and bool(powl.name or any(powl.conditions))
    has_labels = has_labels or (
        isinstance(powl, Loop) and bool(powl.again or powl.leave or powl.name)
    )
    return has_labels or any(_has_conditions(child) for child in list_children(powl))


def _list_parts(model: Model, paths: dict[str, str]) -> Iterable[Part]:
    """Tasks by their labels, which are their places."""
    for process in model.processes:
        path = paths.get(process.id, "")
        inside = {node.id for node in process.nodes if isinstance(node, Task)}
        for element in all_elements(model):
            if path and element.id in inside:
                yield Part(
                    path, element.caption, "step", source_ids(element), element.caption,
                    element.construct, process.id,
                )  # fmt: skip
