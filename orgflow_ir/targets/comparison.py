"""The result of comparing two versions: behaviour, then additions, removals and changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from orgflow_ir.model.records import NamedTuple

COMPARISON_VERSION = 2
"""Version of the JSON; increased when a field changes its meaning or is removed."""

Verdict = Literal["same", "changed", "bounded", "different", "unknown"]
"""Of behaviour. `changed`: the same if what is assumed holds, which was not examined; `bounded`:
the same within the explored bound; `unknown`: not comparable."""

ChangeKind = Literal["added", "removed", "renamed", "changed"]

Kind = Literal["workflows", "models", "model and workflow"]


class Row(NamedTuple):
    """A line of two runs in parallel: the step of each version, empty if it has none that the other
    must match. `same` is false where they diverge."""

    old: str
    new: str
    same: bool = True


class Behaviour(NamedTuple):
    """Whether two versions behave the same.

    Attributes:
        verdict: see `Verdict`.
        looked_at: number of examined configurations (pairs of states).
        reason: the first difference, or why the result is bounded or unknown.
        run: the shortest run up to the first difference.
        assumed: assumptions of the comparison, as text.
    """

    verdict: Verdict
    looked_at: int = 0
    reason: str = ""
    run: tuple[Row, ...] = ()
    assumed: tuple[str, ...] = ()


class Change(NamedTuple):
    """One difference besides behaviour.

    Attributes:
        kind: see `ChangeKind`.
        what: `node`, `connection`, `condition`, `parameter`, `setting`, `note`, `task`, `flow` …
        name: its name for people.
        detail: the place in it, how it was matched, or its neighbours.
        old: the old value, `None` for an addition.
        new: the new value, `None` for a removal.
    """

    kind: ChangeKind
    what: str
    name: str
    detail: str = ""
    old: str | None = None
    new: str | None = None


class Part(NamedTuple):
    """A workflow or process of both versions or of one.

    Attributes:
        old: its name in the old version; `None` for an addition.
        new: its name in the new version; `None` for a removal.
        how: how the two were paired: `name`, `map`, `id`, `only one`.
        behaviour: the comparison of behaviour, `None` if only one version has it.
        changes: all other changes, most important first.
        layout: whether positions, ids or the order of keys differ.
    """

    old: str | None
    new: str | None
    how: str = "name"
    behaviour: Behaviour | None = None
    changes: tuple[Change, ...] = ()
    layout: bool = False

    @property
    def name(self) -> str:
        """Its new name, or its old name if it was removed."""
        return self.new if self.new is not None else self.old or ""

    @property
    def differs(self) -> bool:
        """Whether anything but layout differs."""
        if self.behaviour is None:
            return True
        return bool(self.changes) or self.behaviour.verdict == "different"


class Comparison(NamedTuple):
    """The result for two files.

    Attributes:
        old: name of the old file.
        new: name of the new file.
        kind: the kind of files that were compared.
        parts: one result per workflow or process.
        notes: remarks on the comparison itself.
    """

    old: str
    new: str
    kind: Kind
    parts: tuple[Part, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether anything but layout differs."""
        return any(part.differs for part in self.parts)

    @property
    def verdict(self) -> Verdict:
        """The worst of all parts; a part that only one version has is a different behaviour."""
        order: tuple[Verdict, ...] = ("same", "changed", "bounded", "unknown", "different")
        verdicts: list[Verdict] = [
            "different" if part.behaviour is None else part.behaviour.verdict for part in self.parts
        ]
        return max(verdicts, key=order.index, default="same")

    @property
    def layout_only(self) -> bool:
        """Whether only positions, ids or the order of keys differ."""
        return not self.differs and any(part.layout for part in self.parts)


def to_dict(comparison: Comparison) -> dict[str, Any]:
    """As plain data, by `schema/comparison.schema.json`."""
    return {
        "format": "orgflow-comparison",
        "version": COMPARISON_VERSION,
        "old": comparison.old,
        "new": comparison.new,
        "kind": comparison.kind,
        "differs": comparison.differs,
        "verdict": comparison.verdict,
        "layout_only": comparison.layout_only,
        "notes": list(comparison.notes),
        "parts": list(map(_part_to_json, comparison.parts)),
    }


def _part_to_json(part: Part) -> dict[str, Any]:
    behaviour = part.behaviour
    return {
        "old": part.old,
        "new": part.new,
        "how": part.how,
        "differs": part.differs,
        "layout": part.layout,
        "behaviour": None
        if behaviour is None
        else {
            **behaviour._asdict(),
            "run": [row._asdict() for row in behaviour.run],
            "assumed": list(behaviour.assumed),
        },
        "changes": [change._asdict() for change in part.changes],
    }


def list_problems(comparison: Comparison) -> Iterator[str]:
    """One line for each difference, for short messages."""
    for part in comparison.parts:
        if part.behaviour is None:
            yield f"`{part.name}` is only in the {'old' if part.new is None else 'new'} version"
        elif part.behaviour.verdict == "different":
            yield f"`{part.name}`: {part.behaviour.reason}"
        for change in part.changes:
            yield f"`{part.name}`: {change.what} `{change.name}` {change.kind}"
