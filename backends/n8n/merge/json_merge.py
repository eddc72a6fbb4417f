"""Three-way merge of a JSON value: objects key by key, lists element by element."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from difflib import SequenceMatcher
from typing import Any, Final

from orgflow.backends.n8n.format.canonical_parameters import canonical_value

from orgflow_ir.model.records import NamedTuple, dataclass


class Absent:
    """The value of a missing key."""

    def __repr__(self) -> str:
        return "(absent)"


ABSENT: Final = Absent()

Path = tuple[str | int, ...]


class Clash(NamedTuple):
    """A place that both sides changed differently."""

    path: Path
    theirs: Any
    ours: Any


@dataclass
class JsonMerge:
    """Merges values; `clashes` are the places where this is not possible, where ours is kept."""

    clashes: list[Clash] = field(default_factory=list)

    def merge(self, base: Any, theirs: Any, ours: Any, path: Path = ()) -> Any:
        """The value that has the changes of both sides since `base`."""
        if is_equivalent(theirs, base) or is_equivalent(theirs, ours):
            return ours
        if is_equivalent(ours, base):
            return theirs
        if isinstance(theirs, Mapping) and isinstance(ours, Mapping):
            was = base if isinstance(base, Mapping) else {}
            merged = {}
            for key in dict.fromkeys((*ours, *theirs)):
                old, its, mine = (side.get(key, ABSENT) for side in (was, theirs, ours))
                value = self.merge(old, its, mine, (*path, key))
                if value is not ABSENT:
                    merged[key] = value
            return merged
        if isinstance(base, list) and isinstance(theirs, list) and isinstance(ours, list):
            return self._merge_lists(base, theirs, ours, path)
        self.clashes.append(Clash(path, theirs, ours))
        return ours

    def _merge_lists(
        self, base: list[Any], theirs: list[Any], ours: list[Any], path: Path
    ) -> list[Any]:
        """As diff3: between elements that all three have, the side that changed something wins."""
        mine, its = _align_elements(base, ours), _align_elements(base, theirs)
        merged: list[Any] = []
        b = t = o = 0
        for anchor in [*(i for i in mine if i in its), len(base)]:
            last = anchor == len(base)
            to = (len(theirs) if last else its[anchor], len(ours) if last else mine[anchor])
            merged += self._merge_chunk(
                base[b:anchor], theirs[t : to[0]], ours[o : to[1]], (*path, b)
            )
            if not last:
                merged.append(ours[to[1]])
            b, t, o = anchor + 1, to[0] + 1, to[1] + 1
        return merged

    def _merge_chunk(
        self, base: list[Any], theirs: list[Any], ours: list[Any], path: Path
    ) -> list[Any]:
        if is_equivalent(theirs, base) or is_equivalent(theirs, ours):
            return ours
        if is_equivalent(ours, base):
            return theirs
        # One side changed elements in their places, the other put some between them.
        for edited, moved in ((theirs, ours), (ours, theirs)):
            if len(edited) != len(base):
                continue
            at = {to: index for index, to in _align_elements(base, moved).items()}
            if len(at) == len(base):
                return [edited[at[i]] if i in at else value for i, value in enumerate(moved)]
            if len(moved) == len(base):
                return [
                    self.merge(base[i], theirs[i], ours[i], (*path[:-1], i))
                    for i in range(len(base))
                ]
        self.clashes.append(Clash(path[:-1], theirs, ours))
        return ours


def is_equivalent(left: Any, other: Any) -> bool:
    """Whether two values are equivalent: ids from the editor and empty values are ignored."""
    if left is ABSENT or other is ABSENT:
        return left is other or _is_nothing(other if left is ABSENT else left)
    return _json_text(left) == _json_text(other)


def _is_nothing(value: Any) -> bool:
    return value is None or canonical_value(value) in ({}, [])


def _json_text(value: Any) -> str:
    return json.dumps(canonical_value(value), sort_keys=True, ensure_ascii=False)


def _align_elements(base: Sequence[Any], other: Sequence[Any]) -> dict[int, int]:
    """The place in `other` of each element of `base` that is in both."""
    first, two = [_json_text(v) for v in base], [_json_text(v) for v in other]
    matcher = SequenceMatcher(None, first, two, autojunk=False)
    return {
        block.a + i: block.b + i
        for block in matcher.get_matching_blocks()
        for i in range(block.size)
    }
