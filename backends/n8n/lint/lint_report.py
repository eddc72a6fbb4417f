"""The findings of the checks of a workflow: a rule, a message, a place in the file."""

from __future__ import annotations

from orgflow.backends.n8n.format.workflow_document import Node, Path
from orgflow.backends.n8n.lint.linted_workflow import Workflow

from orgflow_ir.diagnostics import Related, Rule, Severity
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext


class Report(NamedTuple):
    """Collects the faults of one workflow."""

    workflow: Workflow
    ctx: PassContext

    def add(
        self,
        rule: type[Rule],
        where: Node | Path,
        message: str,
        help: str,
        *keys: str | int,
        severity: Severity | None = None,
        others: tuple[tuple[str, Node], ...] = (),
    ) -> None:
        """A finding at a node (or at the path `keys` in it) or at a path; `others` are related
        nodes, each with a text."""
        if isinstance(where, Node):
            # At its name there is more to see than at the node's opening bracket.
            path: Path = (*where.path, *(keys or ("name",)))
        else:
            path = (*where, *keys)
        self.ctx.emit(
            rule,
            message,
            loc=self.workflow.loc(path),
            help=help,
            severity=severity,
            related=[
                Related(message=text, loc=self.workflow.loc((*n.path, "name")))
                for text, n in others
            ],
        )


def list_names(names: list[str], last: str = "and", most: int = 4) -> str:
    """`A`, `B` and `C`; more than `most` are counted."""
    shown = [f"`{name}`" for name in names[:most]]
    if len(names) > most:
        shown.append(f"{len(names) - most} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {last} {shown[-1]}"
