"""The backend of outlines: one line per step, blocks by indent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from orgflow.backends.outline.outline_rules import LeftOutOfOutline

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.lowering.common import ConditionalSplitToGateway, LinkToFlow, conditional_splits
from orgflow_ir.lowering.loops import LoopToFlows
from orgflow_ir.lowering.sub_processes import TransactionToSubProcess
from orgflow_ir.model import Model
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.model.provenance import all_elements, source_ids
from orgflow_ir.model.source import file_stem
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.targets import Illegal, Legal, TargetSpec
from orgflow_ir.targets.artifact import Artifact, Emitted, Part, SourceMap

if TYPE_CHECKING:
    from orgflow.backends.outline import model_outline
    from orgflow.backends.outline.format import printer
    from orgflow.backends.outline.format.line_forms import Outline
else:  # a target is loaded for its name and options; the rest when it emits
    model_outline = LazyModule("orgflow.backends.outline.model_outline")
    printer = LazyModule("orgflow.backends.outline.format.printer")

_EVENTS = "an outline has events for messages, times and errors"


def find_unsupported(model: Model, ctx: PassContext) -> Iterator[ConstructUse]:
    """See `model_outline.find_unsupported`."""
    return model_outline.find_unsupported(model, ctx)


OUTLINE_TARGET = TargetSpec(
    name="outline",
    executes=False,
    constructs={
        "task": Legal("a step with its label, performer and data"),
        "activity": Illegal("an outline has no compensation and no quantities"),
        "call-activity": Legal("`call:`"),
        "sub-process": Illegal("an outline has parts without transactions and ad-hoc order"),
        "sub-process.plain": Legal("`part:`"),
        "sub-process.event": Legal("`on:` without an indent"),
        "sub-process.handler": Illegal(
            "`on:` inside a part is an event at the part",
            "move the event to the process, or attach it to the part as a boundary event",
        ),
        "loop": Illegal("an outline repeats steps with `repeat:`"),
        "loop.multi-instance": Legal("`each:`"),
        "event": Illegal(_EVENTS, "use a message, a time or an error instead"),
        **{
            f"event.{position}.{kind}": Legal(note)
            for position, kinds, note in (
                ("start", "none message timer", "`start:`"),
                ("start", "error", "`on: error` without an indent"),
                ("catch", "message", "`receive:`"),
                ("catch", "timer", "`wait:`"),
                ("throw", "message", "`send:`"),
                ("throw", "none", "a place between two lines"),
                ("boundary", "message timer error", "`on:` inside a line"),
                ("end", "none error", "`end:`"),
                ("end", "message", "`send:` and `end:`"),
                ("end", "terminate", "`stop:`"),
            )
            for kind in kinds.split()
        },
        "gateway": Illegal("an outline has no complex gateways"),
        "gateway.exclusive": Legal("`choose:` or `repeat:`"),
        "gateway.inclusive": Legal("`some:`"),
        "gateway.parallel": Legal("`together:`"),
        "gateway.event": Legal("`first:`"),
        "gateway.event.instantiating": Illegal(
            "an outline begins with `start:`", "use one start event per message"
        ),
        "split.conditional": Illegal("conditions belong to `choose:` and `some:`"),
        "flow": Legal(),
        "flow.message": Legal("`send:` and `receive:`"),
        "flow.message.black-box": Legal("the participant of `send:` or `receive:`"),
        "flow.unstructured": Illegal(
            "the flow does not form blocks",
            "pair splits and joins of the same kind, or use --target triples, which supports any "
            "flow structure",
        ),
        "message.unclear": Illegal(
            "a line sends or receives one message to or from one participant",
            "use one send or receive event per message",
        ),
        "lane": Legal("the performer of a step"),
        "pool": Legal("`process:`"),
        "data": Legal("`reads` and `writes`"),
        "artifact": Legal("omitted"),
        "opaque.harmless": Legal("omitted"),
        "opaque.illegal": Illegal("its meaning is unknown to orgflow"),
        "stub": Illegal("an outline has no step that ends a run"),
    },
    derivations=(conditional_splits, find_unsupported),
    lowerings=(
        ConditionalSplitToGateway(), LinkToFlow(), LoopToFlows(), TransactionToSubProcess(),
    ),
)  # fmt: skip


class OutlineBackend(Backend):
    """Writes one line per step and event, blocks by indent, fields behind bars
    (`check order | clerk | s1`): all processes of a model in one file."""

    name = "outline"
    summary = "an indented outline that people read and edit, one line per step"
    rules = (LeftOutOfOutline,)

    @property
    def target(self) -> TargetSpec:
        """What lines state: blocks, events, messages, parts, data."""
        return OUTLINE_TARGET

    def emit(self, model: Model, ctx: PassContext) -> Emitted:
        """One file."""
        written = model_outline.ModelOutline(model)
        path = f"{file_stem(model.source)}.outline"
        text = printer.print_outline(written.outline)
        if written.gone:
            ctx.emit(
                LeftOutOfOutline, f"an outline cannot express {join_listed(written.gone)}",
                help="keep the original model, or use --target bpmn",
            )  # fmt: skip
        if changed := len(written.changed):
            ctx.emit(
                LeftOutOfOutline,
                f"{changed} label{'s'[: changed != 1]} changed, because they contain symbols of "
                "the notation",
                help="compare the labels with those of the model",
            )
        return Emitted(
            (Artifact(path, text),),
            SourceMap(model, lambda: _list_parts(model, written.outline, path)),
        )


def _list_parts(model: Model, outline: Outline, path: str) -> Iterable[Part]:
    """Elements by the numbers of their lines."""
    rows = printer.number_lines(outline)
    for element in all_elements(model):
        if element.id in rows:
            yield Part(
                path, f"line {rows[element.id]}", "step", source_ids(element), element.caption,
                element.construct,
            )  # fmt: skip
