"""The Mermaid backend: a flowchart of everything in the IR, for documents and wikis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from orgflow.backends.mermaid.mermaid_rules import LargeChart

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.model.constructs import CONSTRUCTS
from orgflow_ir.model.provenance import all_elements, source_ids
from orgflow_ir.model.source import file_stem
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.targets import Legal, TargetSpec
from orgflow_ir.targets.artifact import Artifact, Emitted, Part, SourceMap

if TYPE_CHECKING:
    from orgflow.backends.mermaid import flowchart
    from orgflow.backends.mermaid.flowchart import Chart
else:  # a target is loaded for its name and options; the rest when it emits
    flowchart = LazyModule("orgflow.backends.mermaid.flowchart")

_TARGET = TargetSpec(
    executes=False,
    name="mermaid",
    constructs={name.partition(".")[0]: Legal() for name in CONSTRUCTS},
    options={"direction": ("LR", "TB")},
)


class MermaidBackend(Backend):
    """Writes a flowchart: pools, lanes and sub-processes are subgraphs, with one shape per kind of
    node.

    Option `direction`: `LR` (left to right) or `TB` (top to bottom).
    """

    name = "mermaid"
    summary = "a Mermaid flowchart, for documents and wikis"
    rules = (LargeChart,)

    @property
    def target(self) -> TargetSpec:
        """Every construct is legal."""
        return _TARGET

    def emit(self, model: Model, ctx: PassContext) -> Emitted:
        """One file, named after the model's source."""
        stem = file_stem(model.source)
        direction = str(ctx.options.get("direction", "LR"))
        chart = flowchart.Chart(model, direction)
        text = chart.text()
        limits = flowchart.too_large(text)
        if limits:
            ctx.emit(
                LargeChart,
                "the flowchart exceeds Mermaid's default limits: " + " and ".join(limits),
                help="compile one process with --process, use --target svg, or raise the limits "
                "where Mermaid is initialised",
            )
        path = f"{stem}.mmd"
        return Emitted(
            (Artifact(path, text),), SourceMap(model, lambda: _list_parts(model, chart, path))
        )


def _list_parts(model: Model, chart: Chart, path: str) -> Iterator[Part]:
    """Nodes and subgraphs by their names in the chart, links by number as in `linkStyle`."""
    places = {element: f"linkStyle {number}" for number, element in enumerate(chart.linked)}
    places |= chart.names
    for element in all_elements(model):
        if element.id in places:
            place = places[element.id]
            yield Part(
                path, place, "shape", source_ids(element), element.caption, element.construct
            )
