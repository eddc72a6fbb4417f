"""The changes of deploying a workflow, in words: `--dry-run`."""

from __future__ import annotations

from orgflow.backends.n8n.diff.file_comparison import diff_workflows
from orgflow.backends.n8n.format.document import to_api
from orgflow.backends.n8n.server.deploy.carry_out import DeployRun
from orgflow.backends.n8n.server.deploy.deployment_plan import Step
from orgflow.backends.n8n.server.deployment_marker import (
    copied_from,
    digest_of,
    is_edited,
    marker_of,
    without_marker,
)

from orgflow_ir.targets.comparison import Comparison
from orgflow_ir.targets.comparison_text import comparison_text
from orgflow_ir.targets.merging import MergedPart, Merging, merging_text

_WITHOUT_NOTE = (
    "  it has no note of a deployment: the note was deleted, or the workflow was created "
    "differently\n"
)
_ADOPTED = "  it was deployed elsewhere and copied to this server\n"
_COPY = "  it is a copy of a deployed workflow: its note belongs to another one\n"


def preview_step(deployer: DeployRun, step: Step, width: int) -> str:
    """One paragraph: whether it would be created, updated or left alone, and the differences
    between the server's version and the file's."""
    name = f"`{step.wanted.name}`"
    if step.existing is None:
        left = " (in conflict: see the message)" if step.problems else ""
        return f"create     {name}{left}\n"
    now = without_marker(to_api(step.existing, deployer.client.version))
    new = without_marker(deployer.transaction().body(step, str(step.existing["id"]), step.existing))
    where = f"{name} (id {step.existing['id']})"
    marker = step.marker
    same = (
        marker is not None
        and step.adopted is None
        and marker.sent == digest_of(new)
        and not is_edited(step.existing)
    )
    verb = "leave" if step.problems else "update"
    if any(problem.kind == "other-repository" for problem in step.problems):
        return f"leave      {where}\n"
    if same or (marker is not None and step.adopted is None and digest_of(now) == digest_of(new)):
        return f"unchanged  {where}\n"
    missing = _WITHOUT_NOTE if copied_from(step.existing) is None else _COPY
    if step.adopted is not None:
        missing = _ADOPTED
    if digest_of(now) == digest_of(new):
        return f"{verb:<9}  {where}\n{missing}"
    if step.merged is not None:
        verb = verb if step.problems else "merge"
    part = diff_workflows(dict(now), dict(new))
    text = comparison_text(Comparison("server", step.wanted.source, "workflows", (part,)), width)
    lines = "".join(f"  {line}\n" for line in text.splitlines())
    merged = ""
    if step.merged is not None:
        part_merged = MergedPart(step.wanted.name, step.merged.changes, step.merged.conflicts)
        merged = "".join(
            f"{line}\n" for line in merging_text(Merging((), (part_merged,))).splitlines()[1:]
        )
        lines = "" if step.merged.conflicts else lines
    return (
        f"{verb:<9}  {where}\n{missing if marker_of(step.existing) is None else ''}{merged}{lines}"
    )
