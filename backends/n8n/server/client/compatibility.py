"""Whether a workflow matches the n8n of a server: its version, and the nodes' versions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from orgflow.backends.n8n.format.document import short_type
from orgflow.backends.n8n.format.versions import DEFAULT_VERSION, KNOWN_VERSIONS, N8nVersion
from orgflow.backends.n8n.node_types import described_names
from orgflow.backends.n8n.node_types.type_versions import type_version
from orgflow.backends.n8n.server.client.server_rules import UnknownServerVersion, UnsupportedServer

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext

_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})\b")


class ServerVersion(NamedTuple):
    """A server's release and the known release for its workflows.

    Attributes:
        text: the version that the server states, None if it states none.
        known: the newest known release that is not newer; None if the server is too old. The target
        release for a server that states `text`: n8n keeps the node versions of older releases, so
        it is the newest known release that is not newer than the server.
    """

    text: str | None
    known: N8nVersion | None
    exact: bool


def server_version(text: str | None) -> ServerVersion:
    """What to write for a server that says `text`: n8n keeps the node versions of older releases,
    so the newest known release that is not newer than the server."""
    match = _VERSION.match(text or "")
    if match is None:
        return ServerVersion(text, DEFAULT_VERSION, False)
    release = N8nVersion(int(match[1]), int(match[2]))
    older = [known for known in KNOWN_VERSIONS if known <= release]
    if not older:
        return ServerVersion(text, None, False)
    return ServerVersion(text, max(older), max(older) == release)


def report_version(version: ServerVersion, ctx: PassContext) -> None:
    """OF604 for a server that is too old, OF605 if its version is unknown."""
    if version.known is None:
        ctx.emit(
            UnsupportedServer,
            f"the server runs n8n {version.text}, which is older than the oldest supported version",
            help=f"update n8n to {KNOWN_VERSIONS[0]} or later",
        )
    elif not version.exact:
        what = f"the server is n8n {version.text}" if version.text else "the version is unknown"
        ctx.emit(
            UnknownServerVersion,
            f"{what}: workflows are deployed in the format of n8n {version.known}",
        )


class TooNew(NamedTuple):
    """A node with a version that the server does not have, and the newest one that it has."""

    node: str
    kind: str
    version: float
    newest: float


def too_new(workflow: Mapping[str, Any], version: N8nVersion) -> Iterator[TooNew]:
    """Nodes that n8n would accept but run as something else."""
    for row in workflow.get("nodes", ()):
        kind = short_type(row) or ""
        wanted = row.get("typeVersion")
        if kind not in described_names() or not isinstance(wanted, int | float):
            continue
        newest = type_version(kind, version)
        if wanted > newest and not row.get("disabled"):
            yield TooNew(str(row.get("name")), kind, float(wanted), newest)
