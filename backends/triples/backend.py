"""The backend of procedural graphs: steps, gateways and flows, one per line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from orgflow.backends.triples.triples_rules import LeftOutOfTriples

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.lowering.common import ConditionalSplitToGateway, LinkToFlow, conditional_splits
from orgflow_ir.lowering.loops import LoopToFlows
from orgflow_ir.lowering.sub_processes import TransactionToSubProcess
from orgflow_ir.model import Model, SubProcess
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.model.provenance import all_elements, source_ids
from orgflow_ir.model.source import file_stem
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.targets import Illegal, Legal, TargetSpec, executable_processes
from orgflow_ir.targets.artifact import Artifact, Emitted, Part, SourceMap
from orgflow_ir.targets.left_out import left_out

if TYPE_CHECKING:
    from orgflow.backends.triples import extended_writer, writer
    from orgflow.backends.triples.writer import GraphText

    from orgflow_ir.model import message_words
else:  # a target is loaded for its name and options; the rest when it emits
    extended_writer = LazyModule("orgflow.backends.triples.extended_writer")
    message_words = LazyModule("orgflow_ir.model.message_words")
    writer = LazyModule("orgflow.backends.triples.writer")


def find_unsupported(model: Model, ctx: PassContext) -> Iterator[ConstructUse]:
    """`message.unclear`, and `sub-process.handler`: events inside a part."""
    del ctx
    if model.message_flows:
        yield from message_words.find_unclear_messages(model, message_words.MessageWords(model))
    for scope in model.scopes():
        for node in scope.nodes if isinstance(scope, SubProcess) else ():
            if isinstance(node, SubProcess) and node.flavour == "event":
                yield ConstructUse("sub-process.handler", node, scope)


TRIPLES_TARGET = TargetSpec(
    name="triples",
    executes=False,
    constructs={
        "task": Legal("its label and lane"),
        "activity": Illegal("a procedural graph has no compensation and no quantities"),
        "call-activity": Legal("`C1 call name`"),
        "sub-process": Illegal("graph lines have parts without transactions and ad-hoc order"),
        "sub-process.plain": Legal("`S1 name {` … `}`"),
        "sub-process.event": Legal("`Process -!(event)-> T1`"),
        "sub-process.handler": Illegal(
            "`Process` stands for the whole process",
            "move the event to the process, or attach it to the part as a boundary event",
        ),
        "loop": Illegal("a procedural graph repeats only with returning flows",
                        "model the repetition with gateways"),
        "loop.multi-instance": Legal("`each item`"),
        "event": Illegal("graph lines have events for messages, times and errors",
                         "use a message, a time or an error instead"),
        **{
            f"event.{position}.{kind}": Legal(note)
            for position, kinds, note in (
                ("start", "none message timer", "`Start every Monday`"),
                ("start", "error", "`Process -!(error name)-> T1`"),
                ("catch", "message timer", "`E1 receive X from P`, `E1 wait 3 days`"),
                ("throw", "message", "`E1 send X to P`"),
                ("throw", "none", "a gateway with one flow"),
                ("boundary", "message timer error", "`T1 -!(after 3 days)-> T2`"),
                ("end", "none message error terminate", "`End1 error name`, `End2 stop name`"),
            )
            for kind in kinds.split()
        },
        "gateway": Illegal("a procedural graph has no complex gateways"),
        "gateway.exclusive": Legal(),
        "gateway.inclusive": Legal(),
        "gateway.parallel": Legal(),
        "gateway.event": Legal("`W1`"),
        "gateway.event.instantiating": Illegal(
            "a procedural graph begins at its starts", "use one start event per message"
        ),
        "split.conditional": Illegal("conditions belong to gateways in a procedural graph"),
        "flow": Legal(),
        "flow.message": Legal("`send` and `receive`"),
        "flow.message.black-box": Legal("the participant that sends or receives"),
        "message.unclear": Illegal(
            "a line sends or receives one message to or from one participant",
            "use one send or receive event per message",
        ),
        "lane": Legal("the actor of a step"),
        "pool": Legal("`== name`, where there are several"),
        "data": Legal("a data constraint at the steps that use it"),
        "artifact": Legal("a note at the step it belongs to"),
        "opaque.harmless": Legal("omitted"),
        "opaque.illegal": Illegal("its meaning is unknown to orgflow"),
        "stub": Illegal("a procedural graph has no step that ends a run"),
    },
    derivations=(conditional_splits, find_unsupported),
    lowerings=(
        ConditionalSplitToGateway(), LinkToFlow(), LoopToFlows(), TransactionToSubProcess(),
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
        """One file per process; extended lines hold all processes."""
        stem = file_stem(model.source)
        if extended_writer.is_extended(model):
            return self._emit_extended(model, ctx, f"{stem}.triples")
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
        _report_left_out(left_out(model, data=False), changed, ctx)
        paths = {id: artifact.path for id, artifact in zip(texts, artifacts, strict=True)}
        return Emitted(tuple(artifacts), SourceMap(model, lambda: _list_parts(model, texts, paths)))

    def _emit_extended(self, model: Model, ctx: PassContext, path: str) -> Emitted:
        """One file with a section for each participant."""
        text = extended_writer.ExtendedText(model)
        artifact = Artifact(path, text.text())
        gone = [part for part in left_out(model, data=False) if "message flow" not in part]
        _report_left_out(gone, len(text.changed), ctx)
        return Emitted(
            (artifact,), SourceMap(model, lambda: _list_named_parts(model, text.names, path))
        )


def _report_left_out(gone: Sequence[str], changed: int, ctx: PassContext) -> None:
    """TRIPLES001 for what lines leave out or change."""
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


def _list_named_parts(model: Model, names: dict[str, str], path: str) -> Iterable[Part]:
    """Nodes by their names in the lines."""
    for element in all_elements(model):
        if element.id in names:
            yield Part(
                path, names[element.id], "step", source_ids(element), element.caption,
                element.construct,
            )  # fmt: skip


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
