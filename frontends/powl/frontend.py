"""The POWL frontend: JSON, the text form of pm4py, and Python code that builds POWL, which is never
executed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from orgflow.frontends.powl.powl_reading_rules import InvalidPowl, UnusedPowl

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile, SourceLocation
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Frontend

if TYPE_CHECKING:
    from orgflow.backends.powl import format as powl_format
    from orgflow.backends.powl.format import Powl
    from orgflow.frontends.powl import build as powl_build
    from orgflow.frontends.powl import code_interpreter, json_reader, text_reader

    from orgflow_ir.model import json_source_map
else:  # a frontend is loaded to recognise its files; the rest when it reads one
    powl_format = LazyModule("orgflow.backends.powl.format")
    powl_build = LazyModule("orgflow.frontends.powl.build")
    code_interpreter = LazyModule("orgflow.frontends.powl.code_interpreter")
    json_reader = LazyModule("orgflow.frontends.powl.json_reader")
    text_reader = LazyModule("orgflow.frontends.powl.text_reader")
    json_source_map = LazyModule("orgflow_ir.model.json_source_map")

# Compiled where a source may be POWL: `re` keeps what it compiled.
_CALL = rb"\b(?:partial_order|StrictPartialOrder|OperatorPOWL|ModelGenerator)\s*\(|\.activity\s*\("
_PRINTED = rb"\s*PO\s*=?\s*\(\s*nodes"
_FENCE = r"(?s)\A\s*```[^\n]*\n(.*?)(?:\n```.*)?\Z"


class PowlFrontend(Frontend):
    """Reads POWL: partial orders, choices, loops, silent steps, and performers of steps."""

    name = "powl"
    suffixes = (".powl", ".powl.json", ".powl.py", ".json", ".py")
    rules = (InvalidPowl, UnusedPowl)
    summary = "POWL, a partially ordered workflow model, as JSON, as Python code or as text"

    def sniff(self, source: SourceFile) -> bool:
        """JSON with the key `powl`, the text form of an order, code with calls that build POWL,
        or a matching file name."""
        name = source.path.lower()
        if name.endswith((".powl", ".powl.json", ".powl.py")):
            return True
        if name.endswith(".py"):
            return re.search(_CALL, source.data) is not None
        if re.match(_PRINTED, source.data) is not None:
            return True
        head = source.data.lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n\x00")[:1]
        return head == b"{" and b'"powl"' in source.data[:8192].replace(b"\x00", b"")

    def parse(self, source: SourceFile, ctx: PassContext) -> Model | None:
        """The model, or `None` after OF070."""
        try:
            name, powl = self._read_powl(source, ctx)
            return powl_build.build_model(powl, name, source.path)
        except powl_format.PowlError as error:
            ctx.emit(
                InvalidPowl,
                f"this is not a POWL model: {error}",
                loc=error.loc or SourceLocation(file=source.path),
                help="correct the file at this position, or name the right frontend with --from",
            )
            return None

    def _read_powl(self, source: SourceFile, ctx: PassContext) -> tuple[str, Powl]:
        """The name and the tree. Raises `PowlError`."""
        head = source.data.lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n\x00")[:1]
        if head == b"{" or source.suffix == ".json":
            try:
                document = json_source_map.parse_json(source.path, source.data)
            except json_source_map.JsonFault as fault:
                loc = SourceLocation(file=source.path, line=fault.line, column=fault.column)
                raise powl_format.PowlError(fault.message, loc) from None
            name, read = json_reader.JsonReader(document).read()
            powl_format.check_size(read)
            return name, read
        try:
            text = source.data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise powl_format.PowlError("the file is not UTF-8") from None
        if text_reader.is_text_form(text):
            printed = text_reader.TextReader(source.path, text).read()
            powl_format.check_size(printed)
            return "", printed
        fenced = re.match(_FENCE, text)
        interpreter = code_interpreter.CodeInterpreter(
            source.path, fenced[1] if fenced is not None else text
        )
        powl = interpreter.read()
        for activity in interpreter.unused(powl):
            ctx.emit(
                UnusedPowl,
                f"the activity `{activity.label}` is not part of the model",
                loc=activity.loc,
                help="add it to the final model, or remove it",
            )
        return "", powl
