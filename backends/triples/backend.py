"""The backend of procedural graphs: steps, gateways and flows, one per line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from orgflow.backends.triples.triples_rules import LeftOutOfTriples

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.lowering.common import ConditionalSplitToGateway, LinkToFlow, conditional_splits
from orgflow_ir.lowering.plain_events import EventsToBranches, EventToStep, PlainStartOrEnd
from orgflow_ir.lowering.sub_processes import InlineSubProcess
from orgflow_ir.model import Model
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.model.provenance import all_elements, source_ids
from orgflow_ir.model.source import file_stem
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.targets import Illegal, Legal, TargetSpec, executable_processes
from orgflow_ir.targets.artifact import Artifact, Emitted, Part, SourceMap
from orgflow_ir.targets.left_out import left_out

if TYPE_CHECKING:
    from orgflow.backends.triples import writer
    from orgflow.backends.triples.writer import GraphText
else:  # a target is loaded for its name and options; the rest when it emits
    writer = LazyModule("orgflow.backends.triples.writer")

_ONE = "use --process NAME to compile one process of the model"

TRIPLES_TARGET = TargetSpec(
    name="triples",
    executes=False,
    constructs={
        "task": Legal("its label and lane"),
        "activity": Illegal("a procedural graph has no compensation and no quantities"),
        "call-activity": Illegal("a procedural graph is one process",
                                 "compile the called process separately"),
        "sub-process": Illegal("a procedural graph has no scopes that events could end"),
        "sub-process.plain": Illegal("a procedural graph has no scopes"),
        "loop": Illegal("a procedural graph repeats only with returning flows",
                        "model the repetition with gateways"),
        "event": Illegal("a procedural graph has steps, but no events to wait for"),
        "event.start.none": Legal(),
        "event.end.none": Legal(),
        "event.throw.none": Legal("a gateway with one flow"),
        "gateway": Illegal("a procedural graph has exclusive, inclusive and parallel gateways"),
        "gateway.exclusive": Legal(),
        "gateway.inclusive": Legal(),
        "gateway.parallel": Legal(),
        "split.conditional": Illegal("conditions belong to gateways in a procedural graph"),
        "flow": Legal(),
        "flow.message": Illegal("a procedural graph is one process without messages", _ONE),
        "flow.message.black-box": Legal("omitted"),
        "lane": Legal("the actor of a step"),
        "pool": Legal("omitted"),
        "data": Legal("a data constraint at the steps that use it"),
        "artifact": Legal("a note at the step it belongs to"),
        "opaque.harmless": Legal("omitted"),
        "opaque.illegal": Illegal("its meaning is unknown to orgflow"),
        "stub": Illegal("a procedural graph has no step that ends a run"),
    },
    derivations=(conditional_splits,),
    lowerings=(
        ConditionalSplitToGateway(), LinkToFlow(), InlineSubProcess(), EventToStep(),
        PlainStartOrEnd(), EventsToBranches(),
    ),
)  # fmt: skip


class TriplesBackend(Backend):
    """Writes one step or gateway per line (`T1 check the order | Sales`), then one flow per line
    (`X1 -(in stock)-> T2`): any graph of tasks and gateways."""

    name = "triples"
    summary = "a procedural graph as lines of text: steps, gateways and flows"
    rules = (LeftOutOfTriples,)

    @property
    def target(self) -> TargetSpec:
        """The constructs that the lines support: steps and gateways."""
        return TRIPLES_TARGET

    def emit(self, model: Model, ctx: PassContext) -> Emitted:
        """One file per process."""
        stem = file_stem(model.source)
        texts: dict[str, writer.GraphText] = {}
        artifacts: list[Artifact] = []
        several = executable_processes(model)
        changed = 0
        for number, process in enumerate(several, 1):
            name = f"{stem}-{number}" if len(several) > 1 else stem
            graph = writer.GraphText(process)
            artifacts.append(Artifact(f"{name}.triples", graph.text()))
            texts[process.id] = graph
            changed += len(graph.changed)
        gone = [*left_out(model, data=False)]
        if gone:
            ctx.emit(
                LeftOutOfTriples, f"a procedural graph cannot express {join_listed(gone)}",
                help="keep the original model, or use --target bpmn",
            )  # fmt: skip
        if changed:
            ctx.emit(
                LeftOutOfTriples,
                f"{changed} label{'s'[: changed != 1]} changed, because they contain symbols of "
                "the notation",
                help="compare the labels with those of the model",
            )
        paths = {id: artifact.path for id, artifact in zip(texts, artifacts, strict=True)}
        return Emitted(tuple(artifacts), SourceMap(model, lambda: _list_parts(model, texts, paths)))


def _list_parts(model: Model, texts: dict[str, GraphText], paths: dict[str, str]) -> Iterable[Part]:
    """Nodes by their names in the lines."""
    for process, graph in texts.items():
        names = graph.names
        for element in all_elements(model):
            if element.id in names:
                yield Part(
                    paths[process], names[element.id], "step", source_ids(element),
                    element.caption, element.construct, process,
                )  # fmt: skip
