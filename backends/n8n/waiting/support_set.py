"""The support set: the workflows that all processes with several waits of a server share.

Their ids, and those of their nodes, depend on nothing but their names, so the set can be imported
manually with n8n's command line, which keeps ids. Each workflow has a note with a digest of the
whole set, by which a deployment recognises the version that a server has.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

from orgflow.backends.n8n.format.document import Workflow
from orgflow.backends.n8n.format.identity import hidden_line
from orgflow.backends.n8n.format.support_ids import part_id
from orgflow.backends.n8n.waiting import (
    admit,
    claim,
    complete,
    end_scope,
    fold,
    join,
    match,
    message,
    page,
    report,
    start,
    sweep,
)
from orgflow.backends.n8n.waiting.rows import COLUMN_NAMES, GRACE_SECONDS, LEASE_MINUTES, TABLE_NAME
from orgflow.backends.n8n.waiting.workflow_builder import References

from orgflow_ir.model.records import NamedTuple


class SupportOptions(NamedTuple):
    """Options of the set.

    Attributes:
        retention_days: days after which the rows of ended instances and old messages are deleted;
            0 keeps them.
        message_days: time to live of messages whose sender gives none.
        sweep_seconds: seconds between two sweeps: the precision of timers.
        lease_minutes: how long steps may run before another execution takes over; longer than the
            slowest steps.
    """

    retention_days: int = 30
    message_days: int = 7
    sweep_seconds: int = 10
    lease_minutes: int = LEASE_MINUTES


DEFAULT_OPTIONS: Final = SupportOptions()

SUPPORT_RANGES: Final[Mapping[str, tuple[int, int]]] = {
    "retention_days": (0, 3650),
    "message_days": (1, 3650),
    "sweep_seconds": (5, 3600),
    "lease_minutes": (1, 1440),
}
"""The least and the greatest value of each option."""


class SupportPart(NamedTuple):
    """A workflow of the set: its name for people, what its note says, and what it calls."""

    title: str
    about: str
    calls: tuple[str, ...] = ()


PARTS: Final[Mapping[str, SupportPart]] = {
    "report": SupportPart("report failed steps", report.ABOUT),
    "admit": SupportPart("admit once", admit.ABOUT),
    "fold": SupportPart("fold variables", fold.ABOUT),
    "claim": SupportPart("claim open work", claim.ABOUT, ("fold",)),
    "join": SupportPart("join branches", join.ABOUT, ("fold",)),
    "end_scope": SupportPart("end scope", end_scope.ABOUT, ("claim",)),
    "match": SupportPart("match messages", match.ABOUT, ("match",)),
    "complete": SupportPart("complete steps", complete.ABOUT, ("join", "end_scope", "match")),
    "start": SupportPart("start instance", start.ABOUT, ("admit",)),
    "message": SupportPart("receive message", message.ABOUT, ("admit", "match")),
    "page": SupportPart("show task", page.ABOUT),
    "sweep": SupportPart("sweep", sweep.ABOUT, ("admit", "match", "join", "end_scope", "report")),
}
"""The workflows of the set; each calls only itself and workflows before it, since n8n publishes a
workflow only after those that it calls."""

GENERATION: Final = 2
"""The number of this version of the set. A deployment leaves a set with a higher number as it is.
Increase it in every release that changes the set."""

MARK: Final = "orgflow-support 1 "
"""Beginning of the hidden line in the note of each workflow."""

_HANDS_OFF: Final = (
    "Part of orgflow's support for processes that wait in several places. orgflow writes it; it "
    "need not be edited, and edits are replaced at the next upgrade."
)


def import_references() -> References:
    """References for a manual import: the table by its name, workflows by their own ids. The
    credential is chosen in the editor."""
    return References(
        {"__rl": True, "mode": "name", "value": TABLE_NAME},
        {part: part_id(part) for part in PARTS},
        {"id": "", "name": "orgflow: callers of messages"},
    )


def server_references(
    table_id: str, workflows: Mapping[str, str], credential: Mapping[str, str]
) -> References:
    """References on a server: everything by its id."""
    return References({"__rl": True, "mode": "id", "value": table_id}, workflows, credential)


def build_support_set(
    refers: References, options: SupportOptions = DEFAULT_OPTIONS
) -> dict[str, Workflow]:
    """The workflows by their names in the set, in the order in which they can be published."""
    digest = set_digest(options)
    return {part: _build_part(part, refers, options, digest) for part in PARTS}


@cache
def set_digest(options: SupportOptions = DEFAULT_OPTIONS) -> str:
    """The version of the set: a digest of its workflows and columns, which differs wherever they
    do."""
    refers = import_references()
    workflows = [_build_part(part, refers, options, "") for part in PARTS]
    text = json.dumps([COLUMN_NAMES, workflows], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


class SupportVersion(NamedTuple):
    """The statements of the note of a workflow of the set.

    Attributes:
        part: its name in the set.
        digest: the digest of the set.
        generation: the number of the set among its versions (`GENERATION`).
        options: the options with which the set was built.
    """

    part: str
    digest: str
    generation: int
    options: SupportOptions


def version_line(part: str, digest: str, options: SupportOptions = DEFAULT_OPTIONS) -> str:
    """The hidden line in the note of a workflow of the set."""
    line = {
        "part": part,
        "version": digest,
        "generation": GENERATION,
        "options": options._asdict(),
    }
    return hidden_line(MARK + json.dumps(line))


def read_version(workflow: Mapping[str, Any]) -> SupportVersion | None:
    """The version of a workflow of the set; `None` for any other workflow. Options that this
    version does not have are left out."""
    for node in workflow.get("nodes") or ():
        content = (node.get("parameters") or {}).get("content")
        _, mark, rest = str(content or "").partition(hidden_line(MARK)[:-1])
        if mark:
            try:
                line = json.loads(rest.splitlines()[0].removesuffix(")"))
                given = {
                    name: int(value)
                    for name, value in line.get("options", {}).items()
                    if name in SupportOptions._fields
                }
                return SupportVersion(
                    str(line["part"]),
                    str(line["version"]),
                    int(line.get("generation", 1)),
                    SupportOptions(**given),
                )
            except (ValueError, KeyError, IndexError, AttributeError, TypeError):
                return None  # somebody edited the note
    return None


def _note_text(part: str, options: SupportOptions, digest: str) -> str:
    about = PARTS[part].about
    if part == "sweep":
        days = options.retention_days
        kept = f"deletes what ended more than {days} days ago" if days else "deletes nothing"
        about = about.format(seconds=options.sweep_seconds, retention=kept)
    if part == "message":
        about = about.format(least=GRACE_SECONDS)
    title = PARTS[part].title.capitalize()
    text = f"## {title}\n{about}\n\n{_HANDS_OFF}"
    return f"{text}\n\n{version_line(part, digest, options)}" if digest else text


def _build_part(part: str, refers: References, options: SupportOptions, digest: str) -> Workflow:
    name = f"orgflow: {PARTS[part].title}"
    note = _note_text(part, options, digest)
    if part == "message":
        return message.build_message(refers, name, note, options.message_days)
    if part == "sweep":
        return sweep.build_sweep(refers, name, note, options.sweep_seconds, options.retention_days)
    if part in _LEASED_PARTS:
        return _LEASED_PARTS[part](refers, name, note, options.lease_minutes)
    return _PLAIN_PARTS[part](refers, name, note)


_PLAIN_PARTS: Final[Mapping[str, Callable[[References, str, str], Workflow]]] = {
    "page": page.build_page,
    "report": report.build_report,
    "admit": admit.build_admit,
    "end_scope": end_scope.build_end_scope,
    "match": match.build_match,
    "complete": complete.build_complete,
}

_LEASED_PARTS: Final[Mapping[str, Callable[[References, str, str, int], Workflow]]] = {
    "fold": fold.build_fold,
    "claim": claim.build_claim,
    "join": join.build_join,
    "start": start.build_start,
}
