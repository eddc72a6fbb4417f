"""Credentials from a file, created on the server and selected in the nodes that need them.

The file is JSON: a list of `{"name": …, "type": …, "data": {…}, "nodes": ["Confirm order"]}`.
`type` is that of n8n (`smtp`, `httpBearerAuth` …), `data` its fields. `nodes` names the nodes that
get it; without it, all nodes that need that type and have none do. The content of `data` is sent
only to the server. An existing credential with the same name and type is used unchanged.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.format.document import short_type
from orgflow.backends.n8n.format.json_values import mapping
from orgflow.backends.n8n.server.client.workflows import WorkflowClient

from orgflow_ir.model.records import NamedTuple, dataclass

Json = dict[str, Any]


class GivenCredential(NamedTuple):
    """One entry of the file."""

    name: str
    type: str
    data: Mapping[str, Any]
    nodes: tuple[str, ...] = ()


def read_credentials(text: str) -> tuple[GivenCredential, ...]:
    """The entries of a file. Raises `ValueError` with the fault, without any of the data."""
    try:
        rows = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        raise ValueError("it is no JSON") from None
    if not isinstance(rows, list):
        raise ValueError("it is not a list of credentials")
    credentials = []
    for number, row in enumerate(rows, 1):
        fields = mapping(row)
        name, kind, data = fields.get("name"), fields.get("type"), fields.get("data")
        nodes = fields.get("nodes", [])
        if not (isinstance(name, str) and name.strip() and isinstance(kind, str) and kind.strip()):
            raise ValueError(f"entry {number} needs the texts `name` and `type`")
        if not isinstance(data, Mapping):
            raise ValueError(f"entry {number} needs the object `data`")
        if not isinstance(nodes, list) or not all(isinstance(node, str) for node in nodes):
            raise ValueError(f"`nodes` of entry {number} is not a list of names")
        if set(fields) - {"name", "type", "data", "nodes"}:
            raise ValueError(f"entry {number} has fields other than name, type, data and nodes")
        credentials.append(GivenCredential(name, kind, data, tuple(nodes)))
    return tuple(credentials)


def needed_credential(row: Mapping[str, Any]) -> str:
    """The type of credential that a node requires; empty if it needs none."""
    kind = node_types.find_type(short_type(row) or "")
    return kind.credential(mapping(row.get("parameters"))) if kind is not None else ""


@dataclass
class CredentialStore:
    """Creates each credential of a file once, when a node first needs it.

    Args:
        client: of the server.
        given: the entries.
        made: ids on the server, by name and type, including those of an earlier deployment.
    """

    client: WorkflowClient
    given: tuple[GivenCredential, ...] = ()
    created: dict[tuple[str, str], str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def choose(self, body: Json) -> bool:
        """Set credentials in the nodes of a workflow that need one and have none; returns whether
        there were any. Raises `ServerError`."""
        changed = False
        for row in body["nodes"] if self.given else ():
            kind = needed_credential(row)
            if not kind or mapping(row.get("credentials")).get(kind):
                continue
            fitting = [credential for credential in self.given if credential.type == kind]
            named = [credential for credential in fitting if row.get("name") in credential.nodes]
            credential = next(
                iter(named or [credential for credential in fitting if not credential.nodes]), None
            )
            if credential is not None:
                row["credentials"] = {
                    kind: {"id": self._credential_id(credential), "name": credential.name}
                }
                changed = True
        return changed

    def look(self) -> None:
        """Ask the server for its credentials; an older one does not list them. Raises
        `ServerError`."""
        for row in self.client.credentials() if self.given else ():
            self.created.setdefault(
                (str(row.get("name")), str(row.get("type"))), str(row.get("id"))
            )

    def _credential_id(self, credential: GivenCredential) -> str:
        key = (credential.name, credential.type)
        with self._lock:  # groups are deployed side by side
            if key not in self.created:
                self.created[key] = self.client.create_credential(
                    credential.name, credential.type, credential.data
                )
            return self.created[key]
