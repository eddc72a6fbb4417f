"""Requirements on source maps: they name emitted files and elements of the model, and every task
has a part."""

from __future__ import annotations

from collections import Counter

from orgflow_ir.model import Model, Task
from orgflow_ir.model.provenance import all_elements, source_ids
from orgflow_ir.targets.artifact import Emitted, Part


def source_map_problems(legal: Model, emitted: Emitted) -> list[str]:
    """Reports invalid parts, parts without a file, without an element or with unknown elements, two
    parts at one place or for one element in one file, and tasks without a part."""
    try:
        parts = emitted.source_map.parts
    except Exception as error:  # noqa: BLE001  # a plugin's
        return [f"its source map raised {type(error).__name__}: {error}"]
    odd = [part for part in parts if not _is_typed(part)]
    if odd:
        return [f"{odd[0]!r} in its source map is not a `Part` with texts and a tuple of ids"]
    files = {artifact.path for artifact in emitted.artifacts}
    known = {id for element in all_elements(legal) for id in source_ids(element)}
    problems = []
    seen: set[tuple[str, str]] = set()
    for part in parts:
        where = f"the part `{part.place}` of `{part.artifact}`"
        if part.artifact not in files:
            problems.append(f"{where} in its source map belongs to no file")
        if not part.elements:
            problems.append(f"{where} in its source map has no element")
        problems += [
            f"{where} names `{id}`, which is not an element of the source"
            for id in part.elements
            if id not in known
        ]
        if (part.artifact, part.place) in seen:
            problems.append(f"{where} occurs twice in its source map")
        seen.add((part.artifact, part.place))
    standing = Counter((p.artifact, id) for p in parts if p.stands for id in p.elements)
    problems += [
        f"{count} parts of `{file}` represent `{id}`: only one may, others need another role"
        for (file, id), count in standing.items()
        if count > 1
    ]
    tasks = {
        id for s in legal.scopes() for n in s.nodes if isinstance(n, Task) for id in source_ids(n)
    }
    problems += [
        f"the task `{id}` has no part in its source map"
        for id in emitted.source_map.silent
        if id in tasks
    ]
    return problems


def _is_typed(part: object) -> bool:
    return (
        isinstance(part, Part)
        and all(isinstance(t, str) for t in (part.artifact, part.place, part.role, part.name))
        and isinstance(part.elements, tuple)
        and all(isinstance(id, str) for id in part.elements)
    )
