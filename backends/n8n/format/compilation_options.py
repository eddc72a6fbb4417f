"""The options of the compilation, as workflows state them in their maps."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from orgflow.backends.n8n.format.workflow_document import WorkflowDocument, workflows_of

from orgflow_ir.model.json_source_map import JsonFault, parse_json
from orgflow_ir.model.source import SourceFile
from orgflow_ir.targets import TargetSpec

_STATES_OPTIONS = b'\\"options\\":{'
"""A part of every file in which a map states options: the map is JSON in a JSON string."""


def read_stated_options(
    source: SourceFile, processes: Collection[str], target: TargetSpec
) -> dict[str, str] | None:
    """The options that the workflows of a file state; see `Backend.stated_options`. Names and
    values that the target does not have, which somebody wrote into the note, are left out."""
    if _STATES_OPTIONS not in source.data:
        return None
    try:
        flows = workflows_of(parse_json(source.path, source.data).root.value)
    except JsonFault:
        return None
    options = find_stated_options(flows, processes)
    return None if options is None else permitted_options(options, target)


def find_stated_options(
    flows: Iterable[WorkflowDocument], processes: Collection[str] = ()
) -> dict[str, str] | None:
    """The options of the first workflow, among those of `processes`, that states some."""
    return next(
        (
            flow.map.options
            for flow in flows
            if flow.map.options is not None and (not processes or flow.map.process in processes)
        ),
        None,
    )


def permitted_options(options: Mapping[str, str], target: TargetSpec) -> dict[str, str]:
    """The options that a target has, with values that it accepts."""
    return {
        name: value
        for name, value in options.items()
        if name in target.options
        and (not target.options[name] or value in target.options[name])
        and (name not in target.values or target.values[name](value) is None)
    }
