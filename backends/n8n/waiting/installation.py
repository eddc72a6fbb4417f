"""Installation: the table of rows and the support set on a server, created or upgraded.

Every step looks first, so an installation can be repeated, and one that was interrupted is
completed by the next. Rows are never deleted; a table of an earlier version gets the columns that
it lacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from orgflow.backends.n8n.format.document import Workflow, node_uuid
from orgflow.backends.n8n.format.versions import N8nVersion
from orgflow.backends.n8n.node_types import data_table
from orgflow.backends.n8n.node_types.webhook import NODE as WEBHOOK
from orgflow.backends.n8n.node_types.webhook import protected_address
from orgflow.backends.n8n.node_types.workflow_calls import called_workflows
from orgflow.backends.n8n.waiting.rows import COLUMN_NAMES, TABLE_NAME
from orgflow.backends.n8n.waiting.support_set import (
    DEFAULT_OPTIONS,
    PARTS,
    SupportOptions,
    build_support_set,
    read_version,
    server_references,
    set_digest,
)

from orgflow_ir.model.records import NamedTuple

Json = dict[str, Any]

CREDENTIAL_NAME: Final = "orgflow: callers of messages"
"""The name of the credential with which callers from outside authenticate."""

CREDENTIAL_HEADER: Final = "X-Orgflow-Key"
"""The header with its secret."""

_CREDENTIAL_TYPE: Final = WEBHOOK.credential(protected_address(""))


class InstallationError(Exception):
    """The server cannot hold the support set; the text is the reason."""


class InstallationClient(Protocol):
    """The methods of a client that an installation needs, as
    `server.client.data_tables.TableClient` has them."""

    version: N8nVersion

    def listed(self) -> Iterator[Json]: ...
    def body_of(self, workflow: Mapping[str, Any]) -> Json: ...
    def create_body(self, body: Json) -> Json: ...
    def update(self, workflow_id: str, body: Mapping[str, Any]) -> Json: ...
    def publish_version(self, workflow_id: str, name: str) -> None: ...
    def credentials(self) -> tuple[Json, ...]: ...
    def create_credential(self, name: str, kind: str, data: Mapping[str, Any]) -> str: ...
    def data_tables(self, name: str) -> tuple[Json, ...]: ...
    def create_data_table(self, name: str, columns: Sequence[str]) -> str: ...
    def data_table_columns(self, table_id: str) -> tuple[str, ...]: ...
    def add_data_table_column(self, table_id: str, name: str) -> None: ...


class Installation(NamedTuple):
    """The support set of a server.

    Attributes:
        table: id of the table of rows.
        workflows: ids of the workflows of the set, by their names in it.
        credential: id and name of the credential of callers from outside.
        version: the digest of the set.
        changes: what the installation created or changed, in words; empty if nothing.
        similar_tables: other tables whose names contain that of the table, so a reference by name
            may select them.
    """

    table: str
    workflows: Mapping[str, str]
    credential: Mapping[str, str]
    version: str
    changes: tuple[str, ...] = ()
    similar_tables: tuple[str, ...] = ()


def install_support_set(
    client: InstallationClient, secret: str, options: SupportOptions = DEFAULT_OPTIONS
) -> Installation:
    """Create or upgrade the table of rows and the support set.

    Args:
        client: a connection to the server.
        secret: the secret of callers from outside, used only if there is no credential yet.
        options: options of the set.

    Raises:
        InstallationError: the server has no Data Tables in its API, or several copies of the set.
        ServerError: a call fails; a repeated installation continues there.
    """
    if client.version.major < 2:
        raise InstallationError(
            f"n8n {client.version} has no API for Data Tables, which processes that wait in "
            "several places need; they need n8n 2"
        )
    changes: list[str] = []
    present = _present_parts(client)
    table, similar = _install_table(client, changes)
    credential = _install_credential(client, present, secret, changes)
    workflows = {part: str(row["id"]) for part, row in present.items()}
    digest = set_digest(options)
    for part in PARTS:
        refers = server_references(
            table, {name: workflows.get(name, "") for name in PARTS}, credential
        )
        row = present.get(part)
        if row is None:
            body = client.body_of(build_support_set(refers, options)[part])
            workflows[part] = str(client.create_body(body)["id"])
            refers = server_references(
                table, {name: workflows.get(name, "") for name in PARTS}, credential
            )
            if part in PARTS[part].calls:  # its own id is known only now
                body = client.body_of(build_support_set(refers, options)[part])
                client.update(workflows[part], body)
            client.publish_version(workflows[part], f"orgflow {digest}")
            changes.append(f"created the workflow `{PARTS[part].title}`")
            continue
        wanted = build_support_set(refers, options)[part]
        if not _is_current(row, wanted, part, digest):
            client.update(workflows[part], client.body_of(wanted))
            client.publish_version(workflows[part], f"orgflow {digest}")
            changes.append(f"upgraded the workflow `{PARTS[part].title}`")
        elif not row.get("active"):
            client.publish_version(workflows[part], f"orgflow {digest}")
            changes.append(f"published the workflow `{PARTS[part].title}`")
    return Installation(table, workflows, credential, digest, tuple(changes), similar)


def _install_table(client: InstallationClient, changes: list[str]) -> tuple[str, tuple[str, ...]]:
    """The id of the table with all columns, and the names of tables that contain its name."""
    tables = client.data_tables(TABLE_NAME)
    similar = tuple(sorted(str(t["name"]) for t in tables if t["name"] != TABLE_NAME))
    table = next((str(t["id"]) for t in tables if t["name"] == TABLE_NAME), None)
    if table is None:
        table = client.create_data_table(TABLE_NAME, COLUMN_NAMES)
        changes.append(f"created the Data Table `{TABLE_NAME}`")
        return table, similar
    columns = client.data_table_columns(table)
    for column in COLUMN_NAMES:
        if column not in columns:
            client.add_data_table_column(table, column)
            changes.append(f"added the column `{column}`")
    return table, similar


def _install_credential(
    client: InstallationClient, present: Mapping[str, Json], secret: str, changes: list[str]
) -> Mapping[str, str]:
    """Id and name of the credential: that of the installed set, one of this name, or a new one."""
    for row in present.values():
        for node in row.get("nodes") or ():
            used = (node.get("credentials") or {}).get(_CREDENTIAL_TYPE)
            if used and used.get("id"):
                return {"id": str(used["id"]), "name": str(used.get("name") or CREDENTIAL_NAME)}
    for credential in client.credentials():
        if credential.get("name") == CREDENTIAL_NAME and credential.get("type") == _CREDENTIAL_TYPE:
            return {"id": str(credential["id"]), "name": CREDENTIAL_NAME}
    data = {"name": CREDENTIAL_HEADER, "value": secret}
    created = client.create_credential(CREDENTIAL_NAME, _CREDENTIAL_TYPE, data)
    changes.append(f"created the credential `{CREDENTIAL_NAME}`")
    return {"id": created, "name": CREDENTIAL_NAME}


def _present_parts(client: InstallationClient) -> dict[str, Json]:
    """The installed workflows of the set. A copy that a person made has other node ids."""
    present: dict[str, Json] = {}
    for row in client.listed():
        version = read_version(row)
        if version is None or row.get("isArchived"):
            continue
        part = version[0]
        note = node_uuid(f"orgflow/waiting/{part}/About this workflow")
        if part not in PARTS or all(node.get("id") != note for node in row["nodes"]):
            continue
        if part in present:
            raise InstallationError(
                f"the server has the workflow `{row.get('name')}` twice ({present[part]['id']} and "
                f"{row['id']}): delete the one that no process calls"
            )
        present[part] = row
    return present


def _is_current(row: Json, wanted: Workflow, part: str, digest: str) -> bool:
    """Whether an installed workflow has this version and refers to this table and set."""
    return (
        read_version(row) == (part, digest)
        and sorted(called_workflows(row)) == sorted(called_workflows(wanted))
        and _used_tables(row) == _used_tables(wanted)
    )


def _used_tables(workflow: Mapping[str, Any]) -> set[str]:
    """Ids of the tables that the nodes of a workflow use."""
    suffix = f".{data_table.NODE.name}"
    return {
        str(node["parameters"]["dataTableId"]["value"])
        for node in workflow["nodes"]
        if str(node.get("type")).endswith(suffix)
    }
