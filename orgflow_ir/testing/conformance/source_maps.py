"""Requirements on source maps: they name emitted files and elements of the model."""

from __future__ import annotations

from orgflow_ir.model import Model
from orgflow_ir.model.provenance import all_elements, source_ids
from orgflow_ir.targets.artifact import Emitted


def source_map_problems(legal: Model, emitted: Emitted) -> list[str]:
    """Parts in no file, parts of no element or of unknown ones, and two parts at one place."""
    files = {artifact.path for artifact in emitted.artifacts}
    known = {id for element in all_elements(legal) for id in source_ids(element)}
    problems = []
    seen: set[tuple[str, str]] = set()
    for part in emitted.source_map.parts:
        where = f"the part `{part.place}` of `{part.artifact}`"
        if part.artifact not in files:
            problems.append(f"{where} in its source map is in no file")
        if not part.elements:
            problems.append(f"{where} in its source map stands for nothing")
        problems += [
            f"{where} stands for `{id}`, which is no element of the source"
            for id in part.elements
            if id not in known
        ]
        if (part.artifact, part.place) in seen:
            problems.append(f"{where} is twice in its source map")
        seen.add((part.artifact, part.place))
    return problems
