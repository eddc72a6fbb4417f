"""What a comparison of two versions says: behaviour, then what was added, removed, changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

COMPARISON_VERSION = 1
"""Version of the JSON; raised when a field changes its meaning or goes."""

Verdict = Literal["same", "bounded", "different", "unknown"]
"""Of behaviour. `bounded`: the same within the explored bound; `unknown`: not comparable."""

ChangeKind = Literal["added", "removed", "renamed", "changed"]

Kind = Literal["workflows", "models", "model and workflow"]


class Row(NamedTuple):
    """A line of two runs in parallel: what either version does, empty where it does nothing that
    the other has to match. `same` is false where they part."""

    old: str
    new: str
    same: bool = True


class Behaviour(NamedTuple):
    """Whether two versions do the same.

    Attributes:
        verdict: see `Verdict`.
        looked_at: configurations (pairs of states) that were looked at.
        reason: what the first difference is, why it is bounded, or why it is unknown.
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
        name: what people call it.
        detail: where in it, how it was found again, or what it stands between.
        old: what it was, `None` for an addition.
        new: what it is, `None` for a removal.
    """

    kind: ChangeKind
    what: str
    name: str
    detail: str = ""
    old: str | None = None
    new: str | None = None


class Part(NamedTuple):
    """A workflow or process of both versions, or of one only.

    Attributes:
        old: its name in the old version; `None` for an addition.
        new: the same of the new version.
        how: how the two were found to belong together: `name`, `map`, `id`, `only one`.
        behaviour: `None` where only one version has it.
        changes: everything else, most important first.
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
        """What it is called now, or was."""
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
        kind: what was compared.
        parts: a workflow or process each.
        notes: what the reader has to know about the comparison itself.
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
        order: tuple[Verdict, ...] = ("same", "bounded", "unknown", "different")
        found: list[Verdict] = [
            "different" if part.behaviour is None else part.behaviour.verdict for part in self.parts
        ]
        return max(found, key=order.index, default="same")

    @property
    def layout_only(self) -> bool:
        """Nothing differs but positions, ids or the order of keys."""
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
        "parts": list(map(_part, comparison.parts)),
    }


def _part(part: Part) -> dict[str, Any]:
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


def problems(comparison: Comparison) -> Iterator[str]:
    """One line for each thing that differs, for messages that have no room for more."""
    for part in comparison.parts:
        if part.behaviour is None:
            yield f"`{part.name}` is only in the {'old' if part.new is None else 'new'} version"
        elif part.behaviour.verdict == "different":
            yield f"`{part.name}`: {part.behaviour.reason}"
        for change in part.changes:
            yield f"`{part.name}`: {change.what} `{change.name}` {change.kind}"
