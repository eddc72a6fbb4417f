"""`compile --merge`: merges the compiled output into a workflow that people have edited."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click
from orgflow.commands.filled_work import read_beside
from orgflow.commands.output import join_artifacts, print_text
from orgflow.commands.session import Session, text_width
from orgflow.compilation.input_sources import read_source
from orgflow.compilation.usage_errors import InputError

from orgflow_ir.diagnostics import Severity
from orgflow_ir.diagnostics.core_rules import UnreadableInput
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.targets.artifact import Artifact, Emitted
from orgflow_ir.targets.comparison_text import comparison_text
from orgflow_ir.targets.merging import merging_text


def read_edited(edited: str) -> SourceFile | None:
    """The edited workflow; `None` if it cannot be read, which `merged_artifacts` reports."""
    try:
        return read_source(edited)
    except InputError:
        return None


def merged_artifacts(
    edited: str,
    model: Model,
    emitted: Emitted,
    backend: Backend,
    session: Session,
    ctx: PassContext,
    *,
    source: SourceFile | None = None,
    dry_run: bool,
) -> Sequence[Artifact] | None:
    """The merged files, none of which was found to behave unlike the model; None after an error in
    `ctx`, and with `dry_run`, which prints the changes. `source` is the edited workflow, if it was
    read already."""
    if type(backend).merge is Backend.merge:
        raise click.UsageError(f"target `{backend.name}` does not support merging")
    try:
        source = source or read_source(edited)
    except InputError as error:
        ctx.emit(UnreadableInput, str(error), help=error.help)
        return None
    session.inputs.append(source.path)
    session.sources[source.path] = source
    folder = Path(edited).parent
    merging = backend.merge(source, emitted, ctx, lambda path: read_beside(folder, path))
    if merging is None:
        return None
    text = merging_text(merging)
    if not merging.artifacts:
        if dry_run:
            print_text(text)
        return None
    whole = join_artifacts(merging.artifacts).encode("utf-8", "surrogatepass")
    workflow = SourceFile("the merged workflow", whole)
    # People change content on purpose; the merge reports such edits and keeps them.
    ctx.severities = {**ctx.severities, "OF481": Severity.WARNING}
    results = backend.verify(model, workflow, ctx, emitted=emitted) or ()
    if not results or not all(result.permits_edits for result in results):
        return None
    if dry_run:
        comparison = backend.diff(source, workflow, ctx)
        print_text(
            text + (comparison_text(comparison, text_width(sys.stdout)) if comparison else "")
        )
        return None
    for part in merging.parts:
        kept = sum(change.origin == "workflow" for change in part.changes)
        new = len(part.changes) - kept
        summary = "added" if part.new else f"merged: {new} changes of the model, {kept} edits kept"
        if not part.removed:  # a finding reports it
            session.note(f"`{part.name}` {summary}")
    return (*merging.artifacts, *merging.kept)
