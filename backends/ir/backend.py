"""The IR as JSON: everything is supported, nothing is dropped."""

from __future__ import annotations

from collections.abc import Iterator

from orgflow_ir.model import Element, Model
from orgflow_ir.model.constructs import CONSTRUCTS
from orgflow_ir.model.provenance import source_ids
from orgflow_ir.model.source import file_stem
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.targets import Legal, TargetSpec
from orgflow_ir.targets.artifact import Artifact, Emitted, Part, SourceMap, json_pointer

_TARGET = TargetSpec(
    executes=False,
    name="ir",
    constructs={name.partition(".")[0]: Legal() for name in CONSTRUCTS},
    wants_diagram=True,
)


class IrBackend(Backend):
    """Writes a model like `Model.to_json`; the `ir` frontend reads exactly the same model back."""

    name = "ir"
    summary = "the process IR as JSON, for other programs and for tests"

    @property
    def target(self) -> TargetSpec:
        """Every construct is legal."""
        return _TARGET

    def emit(self, model: Model, ctx: PassContext) -> Emitted:
        """One file, named after the model's source."""
        stem = file_stem(model.source)
        path = f"{stem}.ir.json"
        return Emitted(
            (Artifact(path, model.to_json()),), SourceMap(model, lambda: _list_parts(model, path))
        )


_HELD = (
    "processes", "nodes", "flows", "lanes", "data_objects", "data_flows", "artifacts", "pools",
    "message_flows", "opaque", "messages", "signals", "errors", "escalations", "correlation_keys",
)  # fmt: skip
"""Fields that contain elements, in the order of `all_elements`."""


def _list_parts(model: Model, path: str) -> Iterator[Part]:
    """Every element by its JSON Pointer."""

    def parts_inside(value: object, place: str) -> Iterator[Part]:
        for name in _HELD:
            held: tuple[Element, ...] = getattr(value, name, ())
            for index, element in enumerate(held):
                here = place + json_pointer(name, index)
                yield Part(
                    path, here, "shape", source_ids(element), element.caption, element.construct
                )
                yield from parts_inside(element, here)

    yield from parts_inside(model, "")
    yield from parts_inside(model.catalog, json_pointer("catalog"))
