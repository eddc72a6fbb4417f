"""The IR as JSON, exactly as `Model.to_json` writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgflow.frontends.ir.ir_rules import IR_RULES, InvalidIr

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.model.provenance import all_elements
from orgflow_ir.model.source import SourceFile, SourceLocation
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Frontend

if TYPE_CHECKING:
    from orgflow.frontends.ir import explain

    from orgflow_ir.model import json_source_map
else:  # a frontend is loaded to recognise its files; the rest when it reads one
    explain = LazyModule("orgflow.frontends.ir.explain")
    json_source_map = LazyModule("orgflow_ir.model.json_source_map")


class IrFrontend(Frontend):
    """Reads the JSON form of a model. Its places are unchanged: they refer to the file from which
    the model was first read."""

    name = "ir"
    suffixes = (".ir.json", ".json")
    rules = IR_RULES
    summary = "the process IR as JSON (orgflow_ir/schema/model.schema.json)"

    def sniff(self, source: SourceFile) -> bool:
        """An object with the key `processes`; every file named `.ir.json` is accepted."""
        if source.path.lower().endswith(".ir.json"):
            return True
        head = source.data.lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n\x00")[:1]
        return head == b"{" and b'"processes"' in source.data.replace(b"\x00", b"")

    def parse(self, source: SourceFile, ctx: PassContext) -> Model | None:
        """The model, or `None` if the file is not JSON, not a model, or too large."""
        if len(source.data) > json_source_map.MAX_BYTES:
            ctx.emit(
                InvalidIr,
                f"the file has {len(source.data):,} bytes; "
                f"the limit is {json_source_map.MAX_BYTES:,}",
                loc=SourceLocation(file=source.path, line=1, column=1),
                help="move processes into their own files",
            )
            return None
        try:
            model = Model.from_json(source.data)
        except ValueError as error:  # pydantic's; its module is not imported to read other formats
            explain.explain_faults(source, error, ctx)
            return None
        except RecursionError:
            ctx.emit(
                InvalidIr,
                "sub-processes are nested too deeply to be read",
                loc=SourceLocation(file=source.path, line=1, column=1),
                help="move inner sub-processes into their own processes",
            )
            return None
        return model if _check_unique(model, source, ctx) else None


def _check_unique(model: Model, source: SourceFile, ctx: PassContext) -> bool:
    seen: set[str] = set()
    again: set[str] = set()
    for element in (model, *all_elements(model)):
        (again if element.id in seen else seen).add(element.id)
    if again:
        explain.explain_repeated(source, again, ctx)
    return not again
