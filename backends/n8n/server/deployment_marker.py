"""The owner of a deployed workflow: a sticky note added by the deployment.

Measured on n8n 2.41.1: the API does not accept `meta` and tags; static data belong to the runs,
which write all of them back; a note survives the API, the editor, export and import. Its text alone
would also be in a person's copy; but copying, pasting and importing give nodes new ids, so the id
of the note distinguishes the deployed workflow from its copies.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from orgflow.backends.n8n.format.document import (
    API_SETTINGS,
    node_type,
    node_uuid,
    short_type,
)
from orgflow.backends.n8n.format.identity import HIDDEN, hidden_line
from orgflow.backends.n8n.node_types.type_versions import type_version
from orgflow.backends.n8n.server.address_keys import without_keys

from orgflow_ir.model.records import NamedTuple

Json = dict[str, Any]

STAMP_PREFIX: Final = "orgflow-deploy 1 "
"""The beginning of the line in the note."""

RUN_MARK: Final = "run-"
"""Identity prefix of copies that `run` creates for the duration of its runs."""

# Notes of earlier versions have it as code.
_LINE: Final = re.compile(rf"^(?:`|{re.escape(HIDDEN)}){STAMP_PREFIX}", re.MULTILINE)
_NAME = "Deployed by orgflow"
_BELOW = 200
_WIDTH, _HEIGHT = 320, 96
_WORDS = (
    "**Deployed by orgflow**: keep this note. Manual changes stay when the model is deployed again."
)
_LENGTH = 16
# What n8n 1 adds to settings by itself.
_ADDED = {"callerPolicy": "workflowsFromSameOwner", "availableInMCP": False}
_NOTHING = object()
_PARTS = ("name", "nodes", "connections", "settings", "nodeGroups")


class DeploymentMarker(NamedTuple):
    """The content of the note.

    Attributes:
        identity: identifies the workflow.
        digest: of the workflow stored by the server.
        sent: of the workflow as sent; it differs if the server changes something.
        origin: the place of its source file (`Origin`), empty if it is unknown; for the copy of a
            run, its `owner`.
        server: the id of the workflow on the server, so that no copy is mistaken for it.
        revision: the number of its deployments.
        model: the hash of its model; empty if it was deployed from a file that differs from the
            compiled one.
        earlier: hashes of its earlier models, the latest last.
        kept: whether a person's edits were merged into the deployed workflow.
        plain: whether the deployed workflow is exactly the compiled one, without edits.
        project: the project that contains `origin` (`project_of`); empty if it is unknown.
        repository: digests that identify its git repository (`Repository.noted_digests`); empty
            without one.
        commit: the commit whose model was deployed; empty if no commit has its file.
    """

    identity: str
    digest: str
    sent: str
    origin: str = ""
    server: str = ""
    revision: int = 0
    model: str = ""
    earlier: tuple[str, ...] = ()
    kept: bool = False
    plain: bool = False
    project: str = ""
    repository: tuple[str, ...] = ()
    commit: str = ""

    @property
    def noted(self) -> Json:
        """The form in the note."""
        fields: Json = {"id": self.identity, "digest": self.digest, "sent": self.sent}
        more = {
            "from": self.origin, "at": self.server, "revision": self.revision,
            "model": self.model, "earlier": list(self.earlier), "kept": self.kept,
            "plain": self.plain, "in": self.project, "repository": list(self.repository),
            "commit": self.commit,
        }  # fmt: skip
        return fields | {key: value for key, value in more.items() if value}


def identity_of(workflow: Mapping[str, Any]) -> str:
    """The constant identity of a workflow in a file: by the note of an earlier deployment,
    otherwise by its id (the id of a compiled file depends on the model alone), otherwise by its
    name."""
    note = _find_note(workflow)
    if note is not None:
        return note[1].identity
    known = workflow.get("id")
    if isinstance(known, str) and known:
        return known
    return node_uuid(f"deploy/name/{workflow.get('name')}").replace("-", "")[:_LENGTH]


def rename_workflow(workflow: Mapping[str, Any], name: str | None) -> Json:
    """A copy with another name and the identity of this name alone; unchanged for None.

    Ids of nodes and paths of webhooks stay.
    """
    if name is None:
        return dict(workflow)
    copy = without_marker(workflow)
    copy["name"] = name.strip()
    copy.pop("id", None)
    return copy


def marker_of(workflow: Mapping[str, Any]) -> DeploymentMarker | None:
    """The marker of a workflow on a server; None if it has none, and for a copy of one."""
    note = _find_note(workflow)
    if note is None or note[0].get("id") != _note_id(note[1].identity):
        return None
    # A copy on the same server has another id; a body that is sent has none.
    known = workflow.get("id")
    if note[1].server and known is not None and str(known) != note[1].server:
        return None
    return note[1]


def adoptable_marker(workflow: Mapping[str, Any]) -> DeploymentMarker | None:
    """The marker in the note of a workflow that came from another server or a backup, or is a copy:
    its note names another id. None without a note, and for a deployed workflow."""
    note = _find_note(workflow)
    return None if note is None or marker_of(workflow) is not None else note[1]


def copied_from(workflow: Mapping[str, Any]) -> str | None:
    """The id on the server in the note of a copy, empty if the note has none; None for a workflow
    that is not a copy. Restoring a file through the API also creates a copy."""
    note = _find_note(workflow)
    return None if note is None or marker_of(workflow) is not None else note[1].server


def is_edited(workflow: Mapping[str, Any]) -> bool:
    """Whether a workflow with a marker differs from the deployed one."""
    marker = marker_of(workflow)
    return marker is not None and differs_from(workflow, marker)


def differs_from(workflow: Mapping[str, Any], marker: DeploymentMarker) -> bool:
    """Whether a workflow differs from the one that a marker was written for."""
    return digest_of(workflow) != marker.digest


def with_marker(
    body: Mapping[str, Any],
    identity: str,
    sent: str | None = None,
    origin: str = "",
    like: DeploymentMarker | None = None,
) -> Json:
    """A copy of a workflow (as the API takes it) with its note.

    Args:
        body: the workflow; identity, origin: see `DeploymentMarker`.
        sent: the digest of the sent workflow, if this is the server's version.
        like: has the remaining content of the note.
    """
    copy = without_marker(body)
    digest = digest_of(copy)
    marker = like or DeploymentMarker(identity, "", "")
    marker = marker._replace(identity=identity, digest=digest, sent=sent or digest, origin=origin)
    fields = json.dumps(marker.noted, separators=(",", ":"))
    names = {str(row.get("name")) for row in copy["nodes"]}
    name, number = _NAME, 2
    while name in names:
        name, number = f"{_NAME} ({number})", number + 1
    places = [row.get("position") or [0, 0] for row in copy["nodes"]] or [[0, 0]]
    left = min(float(place[0]) for place in places)
    low = max(float(place[1]) for place in places)
    note = {
        "id": _note_id(identity),
        "name": name,
        "type": node_type("stickyNote"),
        "typeVersion": int(type_version("stickyNote")),
        "position": [int(left), int(low) + _BELOW],
        "parameters": {
            "content": f"{_WORDS}\n\n{hidden_line(STAMP_PREFIX + fields)}",
            "height": _HEIGHT,
            "width": _WIDTH,
            "color": 7,
        },
    }
    copy["nodes"] = [*copy["nodes"], note]
    return copy


def without_marker(workflow: Mapping[str, Any]) -> Json:
    """A copy without any such note."""
    copy = dict(workflow)
    copy["nodes"] = [row for row in workflow.get("nodes", ()) if _read_marker(row) is None]
    return copy


def node_ids(workflow: Mapping[str, Any]) -> frozenset[str]:
    """Ids of its nodes: compiled files have globally unique ids."""
    return frozenset(str(row["id"]) for row in workflow.get("nodes", ()) if row.get("id"))


def digest_of(workflow: Mapping[str, Any]) -> str:
    """16 hex digits that change with anything except credentials, which are selected on the server,
    keys in addresses, settings that it adds or that only its editor sets, and the insignificant
    order of nodes."""
    bare = without_keys(without_marker(workflow))
    parts = {part: _plain_value(bare[part]) for part in _PARTS if bare.get(part)}
    parts["nodes"] = sorted(
        ({k: v for k, v in row.items() if k != "credentials"} for row in parts.get("nodes", ())),
        key=lambda row: (str(row.get("id")), str(row.get("name"))),
    )
    parts["connections"] = _trim_wires(parts.get("connections", {}))
    settings = parts.get("settings", {})
    parts["settings"] = {
        key: value
        for key, value in settings.items()
        # The editor saves settings that the API does not take, and that stay as they are.
        if key in API_SETTINGS and value != "DEFAULT" and _ADDED.get(key, _NOTHING) != value
    }
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]


def _plain_value(value: Any) -> Any:
    """A value as it comes back: 1.0 is 1 in JavaScript, and half a character is none."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {_plain_value(k): _plain_value(v) for k, v in value.items() if v is not None}
    if isinstance(value, list | tuple):
        return [_plain_value(v) for v in value]
    return value


def _trim_wires(connections: Mapping[str, Any]) -> Json:
    """Connections without outputs at the end that lead nowhere."""
    trimmed: Json = {}
    for source, kinds in connections.items():
        for kind, outputs in kinds.items():
            rows = [wires or [] for wires in outputs]
            while rows and not rows[-1]:
                rows.pop()
            if rows:
                trimmed.setdefault(source, {})[kind] = rows
    return trimmed


def _note_id(identity: str) -> str:
    return node_uuid(f"deploy/{identity}")


def _find_note(workflow: Mapping[str, Any]) -> tuple[Mapping[str, Any], DeploymentMarker] | None:
    """The note, the genuine one first where somebody pasted another one in."""
    rows: Iterable[Mapping[str, Any]] = workflow.get("nodes", ())
    notes = [(row, marker) for row in rows if (marker := _read_marker(row)) is not None]
    genuine = (note for note in notes if note[0].get("id") == _note_id(note[1].identity))
    return next(genuine, notes[0] if notes else None)


def _read_marker(row: Mapping[str, Any]) -> DeploymentMarker | None:
    parameters = row.get("parameters")
    content = parameters.get("content") if isinstance(parameters, Mapping) else None
    if not isinstance(content, str) or short_type(row) != "stickyNote":
        return None
    match = _LINE.search(content)
    if match is None:
        return None
    try:
        fields, _ = json.JSONDecoder().raw_decode(content, match.end())
    except (ValueError, RecursionError):
        return None
    identity = fields.get("id") if isinstance(fields, dict) else None
    if not isinstance(identity, str) or not identity:
        return None
    digest = str(fields.get("digest", ""))
    revision = fields.get("revision")
    return DeploymentMarker(
        identity,
        digest,
        str(fields.get("sent", digest)),
        str(fields.get("from", "")),
        str(fields.get("at", "")),
        revision if type(revision) is int else 0,
        str(fields.get("model", "")),
        _read_texts(fields.get("earlier")),
        fields.get("kept") is True,
        fields.get("plain") is True,
        str(fields.get("in", "")),
        _read_texts(fields.get("repository")),
        str(fields.get("commit", "")),
    )


def _read_texts(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()
