"""DMN files as models: one process per decision, with one task."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from orgflow.frontends.dmn.dmn_names import NAMESPACES
from orgflow.frontends.dmn.dmn_rules import UnreadableDmn

from orgflow_ir.diagnostics import Rule
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Event, Flow, Model, Process, Task
from orgflow_ir.model.bindings import Decision
from orgflow_ir.model.source import SourceFile, SourceLocation
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Frontend

if TYPE_CHECKING:
    from orgflow.frontends.dmn import dmn_reader

    from orgflow_ir.decisions.model import Definitions
else:  # a frontend is loaded to recognise its files; the rest when it reads one
    dmn_reader = LazyModule("orgflow.frontends.dmn.dmn_reader")

_HEAD = 4096


class DmnFrontend(Frontend):
    """Reads DMN 1.1 to 1.5. Each decision is a process that receives its inputs and ends with its
    value, in a variable of the decision's name."""

    name: ClassVar[str] = "dmn"
    suffixes: ClassVar[tuple[str, ...]] = (".dmn",)
    summary: ClassVar[str] = "decisions of DMN 1.1 to 1.5"
    rules: ClassVar[tuple[type[Rule], ...]] = (UnreadableDmn,)

    def sniff(self, source: SourceFile) -> bool:
        """Whether the first bytes contain a namespace of DMN."""
        head = source.data[:_HEAD].decode("utf-8", "replace")
        return any(f'"{namespace}"' in head for namespace in NAMESPACES)

    def definitions(self, data: bytes) -> Definitions:
        """The content of a file. Raises `DmnError`."""
        # All frontends are loaded to choose one: what reads DMN is imported for a file of it.

        return dmn_reader.read_dmn(data)

    def parse(self, source: SourceFile, ctx: PassContext) -> Model | None:
        """The model; `None` if the file is not DMN."""
        try:
            definitions = self.definitions(source.data)
        except dmn_reader.DmnError as error:
            ctx.emit(
                UnreadableDmn,
                f"the file cannot be read as DMN: {error}",
                loc=SourceLocation(file=source.path),
                help="export it again from the tool that made it",
            )
            return None
        return Model(
            id="definitions",
            name=definitions.name,
            source=source.path,
            processes=tuple(_decision_processes(definitions, source.path)),
        )


def _decision_processes(definitions: Definitions, file: str) -> Iterator[Process]:
    for decision in definitions.decisions:
        line = decision.place.removeprefix("line ")
        loc = SourceLocation(file=file, line=int(line) if line.isdigit() else None)
        start, task, end = (f"{decision.id}__{role}" for role in ("start", "task", "end"))
        binding = Decision(decision=decision.id, mapping=None, result=decision.name or decision.id)
        yield Process(
            id=decision.id,
            name=decision.name,
            loc=loc,
            nodes=(
                Event(id=start, position="start", loc=loc),
                Task(
                    id=task, name=decision.name, task_type="business-rule", binding=binding, loc=loc
                ),
                Event(id=end, position="end", loc=loc),
            ),
            flows=(
                Flow(id=f"{decision.id}__in", source=start, target=task, loc=loc),
                Flow(id=f"{decision.id}__out", source=task, target=end, loc=loc),
            ),
        )
