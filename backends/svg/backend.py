"""The SVG backend: a picture of everything in the IR."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from orgflow.backends.svg.svg_rules import UnknownHighlight

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.model.constructs import CONSTRUCTS
from orgflow_ir.model.diagram import Diagram
from orgflow_ir.model.provenance import all_elements, source_ids
from orgflow_ir.model.source import file_stem
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.targets import Legal, TargetSpec
from orgflow_ir.targets.artifact import Artifact, Emitted, Part, SourceMap

if TYPE_CHECKING:
    from orgflow.backends.svg import findings, render

    from orgflow_ir.layout import keep
else:  # a target is loaded for its name and options; the rest when it emits
    findings = LazyModule("orgflow.backends.svg.findings")
    render = LazyModule("orgflow.backends.svg.render")
    keep = LazyModule("orgflow_ir.layout.keep")

_TARGET = TargetSpec(
    executes=False,
    name="svg",
    constructs={name.partition(".")[0]: Legal() for name in CONSTRUCTS},
    options={
        "theme": ("auto", "light", "dark"),
        "findings": ("no", "yes", "list"),
        "highlight": (),
    },
    wants_diagram=True,
)


_ORDER = ("error", "warning", "info")


class SvgBackend(Backend):
    """Draws a model as one self-contained SVG file: no script, no font, no network.

    Options: `theme` (auto follows the reader's setting), `highlight=ID+ID` (elements to mark),
        `findings=yes` (mark findings by severity), `findings=list` (number them, and list them
        below the diagram).
    """

    name = "svg"
    summary = "a self-contained picture, light and dark"
    rules = (UnknownHighlight,)

    @property
    def target(self) -> TargetSpec:
        """Every construct is legal."""
        return _TARGET

    def emit(self, model: Model, ctx: PassContext) -> Emitted:
        """One file, named after the model's source."""
        known = render.element_ids(model)
        drawing = keep.draw_model(model)
        shown = render.shown_ids(model, drawing)
        highlights: dict[str, str] = {}
        listed = (
            findings.findings_of(ctx.diagnostics) if ctx.options.get("findings") == "list" else ()
        )
        if ctx.options.get("findings") == "yes":
            for diagnostic in sorted(
                ctx.diagnostics, key=lambda d: -_ORDER.index(d.severity.value)
            ):
                if diagnostic.element in known:
                    highlights[diagnostic.element or ""] = diagnostic.severity.value
        for name in filter(None, str(ctx.options.get("highlight", "")).split("+")):
            if name in shown:
                highlights.setdefault(name, "info")
                continue
            ctx.emit(
                UnknownHighlight,
                f"`{name}` should be highlighted, but "
                + (
                    "it is not visible in the picture"
                    if name in known
                    else "no element has that id"
                ),
                help="use the id of a visible element that refers to it or contains it"
                if name in known
                else "separate ids of elements with +, as in highlight=check+ship",
            )
        stem = file_stem(model.source)
        theme = str(ctx.options.get("theme", "auto"))
        text = render.render_model(
            model, drawing=drawing, theme=theme, highlights=highlights, findings=listed
        )
        path = f"{stem}.svg"
        return Emitted(
            (Artifact(path, text),), SourceMap(model, lambda: _list_parts(model, drawing, path))
        )


def _list_parts(model: Model, drawing: Diagram, path: str) -> Iterator[Part]:
    """Every drawn element by the `data-element` of its group."""
    shown = {s.element for s in drawing.shapes}
    shown |= {e.element for e in drawing.edges if len(e.waypoints) > 1}
    for element in all_elements(model):
        if element.id in shown:
            yield Part(
                path, element.id, "shape", source_ids(element), element.caption, element.construct
            )
