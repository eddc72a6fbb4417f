"""Installation: the table of rows and the support set on a server, created or upgraded.

Every step looks first, so an installation can be repeated, and one that was interrupted is
completed by the next. Rows are never deleted; a table of an earlier version gets the columns that
it lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from orgflow.backends.n8n.format.document import Workflow, node_uuid
from orgflow.backends.n8n.format.support_ids import SUPPORT_IDS, part_id
from orgflow.backends.n8n.format.versions import N8nVersion
from orgflow.backends.n8n.node_types import data_table
from orgflow.backends.n8n.node_types.webhook import NODE as WEBHOOK
from orgflow.backends.n8n.node_types.webhook import protected_address
from orgflow.backends.n8n.node_types.workflow_calls import called_workflows
from orgflow.backends.n8n.waiting.rows import COLUMN_NAMES, TABLE_NAME
from orgflow.backends.n8n.waiting.support_set import (
    DEFAULT_OPTIONS,
    GENERATION,
    PARTS,
    SupportOptions,
    SupportVersion,
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

_MOST_PASSES: Final = 8
_PAUSE_SECONDS: Final = 0.25
_MEANT: Final = frozenset(
    {"type", "typeVersion", "parameters", "credentials", "disabled", "onError", "executeOnce",
     "alwaysOutputData"}
)  # fmt: skip
"""The fields of a node that decide its behaviour."""

_CREDENTIAL_TYPE: Final = WEBHOOK.credential(protected_address(""))


class InstallationError(Exception):
    """The server cannot hold the support set; the text is the reason."""


class _TwiceError(InstallationError):
    """The server has two workflows of one part."""


class InstallationClient(Protocol):
    """The methods of a client that an installation needs, as
    `server.client.data_tables.TableClient` has them."""

    version: N8nVersion
    sleep: Callable[[float], None]

    def listed(self) -> Iterator[Json]: ...
    def body_of(self, workflow: Mapping[str, Any]) -> Json: ...
    def create_body(self, body: Json) -> Json: ...
    def update(self, workflow_id: str, body: Mapping[str, Any]) -> Json: ...
    def delete(self, workflow_id: str) -> None: ...
    def unarchive(self, workflow_id: str) -> None: ...
    def publish_version(self, workflow_id: str, name: str) -> None: ...
    def credentials(self) -> tuple[Json, ...]: ...
    def create_credential(self, name: str, kind: str, data: Mapping[str, Any]) -> str: ...
    def data_tables(self, name: str) -> tuple[Json, ...]: ...
    def create_data_table(self, name: str, columns: Sequence[str]) -> str | None: ...
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
        newer: the generation of the set where the server has a newer one, otherwise 0.
    """

    table: str
    workflows: Mapping[str, str]
    credential: Mapping[str, str]
    version: str
    changes: tuple[str, ...] = ()
    similar_tables: tuple[str, ...] = ()
    newer: int = 0


class SupportState(NamedTuple):
    """The support set as a server has it.

    Attributes:
        parts: the workflows by their names in the set; of several equal ones the oldest.
        archived: archived workflows of parts that have no other.
        copies: further workflows of the same parts, which are younger.
        newer: the generation of the set where it is higher than that of this version, otherwise 0.
        options: the options with which it was built; `None` if there is none.
    """

    parts: Mapping[str, Json]
    archived: Mapping[str, Json]
    copies: tuple[Json, ...] = ()
    newer: int = 0
    options: SupportOptions | None = None

    @property
    def ids(self) -> dict[str, str]:
        """Ids on the server by the ids that a compiled process calls."""
        return {part_id(part): id for part, id in self.ids_of_parts.items()}

    @property
    def ids_of_parts(self) -> dict[str, str]:
        """Ids on the server by the names in the set."""
        return {part: str(row["id"]) for part, row in self.parts.items()}


def read_support_state(rows: Iterable[Json]) -> SupportState:
    """The support set among the workflows of a server. Copies that a person made in the editor have
    other node ids and are left out."""
    listed: dict[str, list[tuple[Json, SupportVersion]]] = {}
    for row in rows:
        version = read_version(row)
        if version is None:
            continue
        note = node_uuid(f"orgflow/waiting/{version.part}/About this workflow")
        if any(node.get("id") == note for node in row["nodes"]):
            listed.setdefault(version.part, []).append((row, version))
    parts: dict[str, Json] = {}
    archived: dict[str, Json] = {}
    copies: list[Json] = []
    versions: list[SupportVersion] = []
    for part, pairs in listed.items():
        pairs.sort(key=lambda pair: (str(pair[0].get("createdAt")), str(pair[0]["id"])))
        present = [pair for pair in pairs if not pair[0].get("isArchived")]
        if present:
            parts[part] = present[0][0]
            versions.append(present[0][1])
            copies += [row for row, _ in present[1:]]
        else:
            archived[part] = pairs[0][0]
            versions.append(pairs[0][1])
    latest = max(versions, key=lambda version: version.generation, default=None)
    newer = latest.generation if latest is not None and latest.generation > GENERATION else 0
    options = latest.options if latest is not None else None
    return SupportState(parts, archived, tuple(copies), newer, options)


def needs_support_set(workflows: Iterable[Mapping[str, Any]]) -> bool:
    """Whether one of some compiled workflows calls the support set, by the ids of a compilation."""
    return any(
        called in SUPPORT_IDS for workflow in workflows for called, _ in called_workflows(workflow)
    )


def install_support_set(
    client: InstallationClient,
    secret: str,
    options: SupportOptions | None = None,
) -> Installation:
    """Create or upgrade the table of rows and the support set.

    Another installation may run at the same time: this one looks again until nothing is left to
    do, and removes a workflow that it created second.

    Args:
        client: a connection to the server.
        secret: the secret of callers from outside, used only if there is no credential yet.
        options: options of the set; `None` keeps those of the server's set.

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
    created: set[str] = set()
    for number in range(_MOST_PASSES):
        before = len(changes)
        try:
            installed = _install_once(client, secret, options, changes, created)
        except _TwiceError:
            if number + 1 == _MOST_PASSES:
                raise
            client.sleep(_PAUSE_SECONDS)  # another installation may be about to remove it
            continue
        if installed is not None and len(changes) == before:
            return installed._replace(changes=tuple(changes))
    raise InstallationError("another deployment changes the support set at the same time")


def _install_once(
    client: InstallationClient,
    secret: str,
    options: SupportOptions | None,
    changes: list[str],
    created: set[str],
) -> Installation | None:
    """One pass over the table, the credential and the workflows; `None` after one that created
    workflows: the next one publishes them, if no other deployment created them as well."""
    state = read_support_state(client.listed())
    for copy in state.copies:
        if str(copy["id"]) in created:
            client.delete(str(copy["id"]))
            changes.append(f"removed the workflow `{copy.get('name')}`, which was created twice")
    others = [copy for copy in state.copies if str(copy["id"]) not in created]
    if others:
        first = state.parts[_part_of(others[0])]["id"]
        raise _TwiceError(
            f"the server has the workflow `{others[0].get('name')}` twice ({first} and "
            f"{others[0]['id']}): delete the one that no process calls"
        )
    table, similar = _install_table(client, changes)
    credential = _install_credential(client, state.parts, secret, changes)
    chosen = options or state.options or DEFAULT_OPTIONS
    if state.newer:
        return _keep_newer(client, state, table, credential, similar, changes)
    workflows = state.ids_of_parts
    missing = [part for part in PARTS if part not in workflows]
    for part in missing:
        _place_missing(
            client, part, state, workflows, (table, credential, chosen), changes, created
        )
    if missing:
        return None
    refers = server_references(table, workflows, credential)
    digest = set_digest(chosen)
    for part, wanted in build_support_set(refers, chosen).items():
        row = state.parts[part]
        difference = _describe_difference(row, wanted, part, digest)
        if difference:
            body = client.body_of({**wanted, "settings": _merged_settings(row, wanted)})
            client.update(workflows[part], body)
        if difference or not row.get("active"):
            client.publish_version(workflows[part], f"orgflow {digest}")
        if workflows[part] in created:  # its creation is a change already
            created.remove(workflows[part])
        elif difference or not row.get("active"):
            verb = difference or "published"
            changes.append(f"{verb} the workflow `{PARTS[part].title}`")
    return Installation(table, workflows, credential, digest, similar_tables=similar)


def _place_missing(
    client: InstallationClient,
    part: str,
    state: SupportState,
    workflows: dict[str, str],
    using: tuple[str, Mapping[str, str], SupportOptions],
    changes: list[str],
    created: set[str],
) -> None:
    """A workflow that the server lacks, from its archive or new; its id is put into `workflows`."""
    if part in state.archived:
        workflows[part] = str(state.archived[part]["id"])
        client.unarchive(workflows[part])
        created.add(workflows[part])
        changes.append(f"restored the workflow `{PARTS[part].title}` from the archive")
        return
    table, credential, options = using
    ids = {name: workflows.get(name, "") for name in PARTS}
    wanted = build_support_set(server_references(table, ids, credential), options)[part]
    workflows[part] = str(client.create_body(client.body_of(wanted))["id"])
    created.add(workflows[part])
    changes.append(f"created the workflow `{PARTS[part].title}`")


def _keep_newer(
    client: InstallationClient,
    state: SupportState,
    table: str,
    credential: Mapping[str, str],
    similar: tuple[str, ...],
    changes: list[str],
) -> Installation:
    """A set of a later version stays as it is; only its unpublished workflows are published."""
    missing = [PARTS[part].title for part in PARTS if part not in state.parts]
    if missing:
        raise InstallationError(
            f"the server has a newer support set (generation {state.newer}, this version has "
            f"{GENERATION}) without {', '.join(f'`{title}`' for title in missing)}: update orgflow"
        )
    for row in state.parts.values():
        if not row.get("active"):
            client.publish_version(str(row["id"]), f"orgflow {_digest_of(row)}")
            changes.append(f"published the workflow `{row.get('name')}`")
    digest = _digest_of(state.parts["claim"])
    workflows = state.ids_of_parts
    return Installation(
        table, workflows, credential, digest, similar_tables=similar, newer=state.newer
    )


def _part_of(row: Json) -> str:
    version = read_version(row)
    assert version is not None
    return version.part


def _digest_of(row: Json) -> str:
    version = read_version(row)
    assert version is not None
    return version.digest


def _install_table(client: InstallationClient, changes: list[str]) -> tuple[str, tuple[str, ...]]:
    """The id of the table with all columns, and the names of tables that contain its name."""
    tables = client.data_tables(TABLE_NAME)
    similar = tuple(sorted(str(t["name"]) for t in tables if t["name"] != TABLE_NAME))
    table = _table_named(tables)
    if table is None:
        table = client.create_data_table(TABLE_NAME, COLUMN_NAMES)
        if table is not None:
            changes.append(f"created the Data Table `{TABLE_NAME}`")
            return table, similar
        table = _table_named(client.data_tables(TABLE_NAME))  # created by another one just now
        if table is None:
            raise InstallationError(
                f"another project of the server has a Data Table `{TABLE_NAME}`: use a key of "
                "that project"
            )
    columns = client.data_table_columns(table)
    for column in COLUMN_NAMES:
        if column not in columns:
            client.add_data_table_column(table, column)
            changes.append(f"added the column `{column}`")
    return table, similar


def _table_named(tables: Iterable[Json]) -> str | None:
    return next((str(table["id"]) for table in tables if table["name"] == TABLE_NAME), None)


def _install_credential(
    client: InstallationClient, present: Mapping[str, Json], secret: str, changes: list[str]
) -> Mapping[str, str]:
    """Id and name of the credential: that of the installed set, one of this name, or a new one. A
    credential that was deleted is created again."""
    listed = client.credentials()
    existing = {str(credential["id"]) for credential in listed}
    used = credential_of(present.values())
    if used is not None and (not existing or used["id"] in existing):
        return used
    named = sorted(
        str(credential["id"])
        for credential in listed
        if credential.get("name") == CREDENTIAL_NAME and credential.get("type") == _CREDENTIAL_TYPE
    )
    if named:
        return {"id": named[0], "name": CREDENTIAL_NAME}
    data = {"name": CREDENTIAL_HEADER, "value": secret}
    created = client.create_credential(CREDENTIAL_NAME, _CREDENTIAL_TYPE, data)
    changes.append(f"created the credential `{CREDENTIAL_NAME}`")
    return {"id": created, "name": CREDENTIAL_NAME}


def credential_of(workflows: Iterable[Json]) -> Mapping[str, str] | None:
    """Id and name of the credential that workflows of the set use."""
    for row in workflows:
        for node in row.get("nodes") or ():
            used = (node.get("credentials") or {}).get(_CREDENTIAL_TYPE)
            if used and used.get("id"):
                return {"id": str(used["id"]), "name": str(used.get("name") or CREDENTIAL_NAME)}
    return None


def _describe_difference(row: Json, wanted: Workflow, part: str, digest: str) -> str:
    """What an update of an installed workflow does, as a verb; empty if it is as wanted."""
    version = read_version(row)
    if version is None or (version.part, version.digest) != (part, digest):
        return "upgraded"
    if sorted(_calls_of(row)) != sorted(_calls_of(wanted)):
        return "connected"
    if _used_tables(row) != _used_tables(wanted):
        return "connected"
    settings = row.get("settings") or {}
    lost = any(settings.get(name) != value for name, value in wanted["settings"].items())
    return "restored" if lost or _content_of(row) != _content_of(wanted) else ""


def _calls_of(workflow: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Ids and nodes of the calls; the setting of an error workflow is people's own."""
    return [*called_workflows({"nodes": workflow["nodes"]})]


def _content_of(workflow: Mapping[str, Any]) -> Json:
    """What a workflow does: nodes without their places, and wires."""
    nodes = {
        str(node["name"]): {
            name: value
            for name, value in node.items()
            if name in _MEANT and value not in (None, {})
        }
        for node in workflow["nodes"]
        if not str(node.get("type")).endswith(".stickyNote")
    }
    wires = {
        source: [
            [(end["node"], end["index"]) for end in ends or ()] for ends in outputs.get("main", ())
        ]
        for source, outputs in workflow["connections"].items()
    }
    return {"nodes": nodes, "wires": {source: ends for source, ends in wires.items() if any(ends)}}


def _merged_settings(row: Json, wanted: Workflow) -> dict[str, Any]:
    """The settings of an update: those that people chose, such as an error workflow, stay."""
    return {**(row.get("settings") or {}), **wanted["settings"]}


def _used_tables(workflow: Mapping[str, Any]) -> set[str]:
    """Ids of the tables that the nodes of a workflow use."""
    suffix = f".{data_table.NODE.name}"
    return {
        str(node["parameters"]["dataTableId"]["value"])
        for node in workflow["nodes"]
        if str(node.get("type")).endswith(suffix)
    }
