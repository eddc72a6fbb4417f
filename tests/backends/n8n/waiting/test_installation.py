"""The support set on a server: created, repeated, upgraded, and completed after an interruption."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from n8n_stand_in import KEY
from n8n_table_stand_in import TableStandIn
from orgflow.backends.n8n.format.versions import V1_123
from orgflow.backends.n8n.server.client.data_tables import TableClient
from orgflow.backends.n8n.waiting.installation import (
    CREDENTIAL_HEADER,
    CREDENTIAL_NAME,
    InstallationError,
    install_support_set,
)
from orgflow.backends.n8n.waiting.rows import COLUMN_NAMES, TABLE_NAME
from orgflow.backends.n8n.waiting.support_set import (
    GENERATION,
    PARTS,
    SupportOptions,
    set_digest,
)

SECRET = "hidden-word"


@pytest.fixture
def server() -> Iterator[TableStandIn]:
    running = TableStandIn()
    yield running
    running.close()


@pytest.fixture
def client(server: TableStandIn) -> Iterator[TableClient]:
    with TableClient(server.url, KEY) as connected:
        yield connected


def writing_calls(server: TableStandIn) -> list[str]:
    return [call for call in server.calls if not call.startswith("GET")]


def test_a_new_server_gets_table_credential_and_workflows(
    server: TableStandIn, client: TableClient
) -> None:
    installed = install_support_set(client, SECRET)
    (table,) = server.tables.values()
    assert table["name"] == TABLE_NAME
    assert [column["name"] for column in table["columns"]] == list(COLUMN_NAMES)
    assert installed.table == table["id"]
    (credential,) = server.credentials
    assert credential["data"] == {"name": CREDENTIAL_HEADER, "value": SECRET}
    assert set(installed.workflows) == set(PARTS)
    for part, workflow_id in installed.workflows.items():
        row = server.workflows[workflow_id]
        assert row["active"], part
        for node in row["nodes"]:
            parameters = node["parameters"]
            if "dataTableId" in parameters:
                assert parameters["dataTableId"] == {
                    "__rl": True, "mode": "id", "value": table["id"],
                }  # fmt: skip
            called = (parameters.get("workflowId") or {}).get("value", "=")
            assert called.startswith("=") or called in installed.workflows.values()
    digest = set_digest()
    assert {name for _, name in server.versions} == {f"orgflow {digest}"}
    assert len(installed.changes) == 2 + len(PARTS)
    assert SECRET not in str(server.workflows)


def test_a_repeated_installation_changes_nothing(server: TableStandIn, client: TableClient) -> None:
    first = install_support_set(client, SECRET)
    before = len(writing_calls(server))
    again = install_support_set(client, "another")
    assert again == first._replace(changes=())
    assert len(writing_calls(server)) == before


def note_of(row: dict[str, Any]) -> dict[str, Any]:
    return next(node for node in row["nodes"] if node["type"].endswith(".stickyNote"))


def test_options_stay_until_others_are_given(server: TableStandIn, client: TableClient) -> None:
    options = SupportOptions(retention_days=3, lease_minutes=30)
    first = install_support_set(client, SECRET, options)
    assert install_support_set(client, SECRET) == first._replace(changes=())
    other = install_support_set(client, SECRET, SupportOptions())
    assert other.version == set_digest() != first.version


def test_a_newer_set_is_kept(server: TableStandIn, client: TableClient) -> None:
    first = install_support_set(client, SECRET)
    for workflow_id in first.workflows.values():
        row = server.workflows[workflow_id]
        note = note_of(row)["parameters"]
        note["content"] = note["content"].replace(
            f'"generation": {GENERATION}', f'"generation": {GENERATION + 1}'
        )
        row["name"] += " (newer)"
    server.workflows[first.workflows["sweep"]]["active"] = False
    before = len(writing_calls(server))
    kept = install_support_set(client, SECRET)
    assert kept.newer == GENERATION + 1
    assert kept.workflows == first.workflows
    assert kept.changes == ("published the workflow `orgflow: sweep (newer)`",)
    assert len(writing_calls(server)) == before + 1
    del server.workflows[first.workflows["admit"]]
    with pytest.raises(InstallationError, match="update orgflow"):
        install_support_set(client, SECRET)


def test_an_edited_workflow_is_restored_and_keeps_its_settings(
    server: TableStandIn, client: TableClient
) -> None:
    first = install_support_set(client, SECRET)
    row = server.workflows[first.workflows["claim"]]
    nodes = [node for node in row["nodes"] if node["name"] != "Cancel attached events"]
    server.edit(first.workflows["claim"], nodes=nodes)
    report = server.workflows[first.workflows["report"]]
    report["settings"] = {"executionOrder": "v1", "errorWorkflow": "mine"}
    moved = server.workflows[first.workflows["join"]]["nodes"][2]
    moved["position"] = [7, 7]
    again = install_support_set(client, SECRET)
    assert again.changes == (
        "restored the workflow `report failed steps`", "restored the workflow `claim open work`",
    )  # fmt: skip
    assert report["settings"]["errorWorkflow"] == "mine"
    assert any(node["name"] == "Cancel attached events" for node in row["nodes"])
    assert moved["position"] == [7, 7]


def test_a_deleted_workflow_is_created_and_connected(
    server: TableStandIn, client: TableClient
) -> None:
    first = install_support_set(client, SECRET)
    del server.workflows[first.workflows["claim"]]
    again = install_support_set(client, SECRET)
    assert again.changes == (
        "created the workflow `claim open work`", "connected the workflow `end scope`",
    )  # fmt: skip
    assert again.workflows["claim"] != first.workflows["claim"]


def test_an_archived_workflow_is_restored_with_its_id(
    server: TableStandIn, client: TableClient
) -> None:
    first = install_support_set(client, SECRET)
    server.workflows[first.workflows["claim"]].update(isArchived=True, active=False)
    again = install_support_set(client, SECRET)
    assert again.workflows == first.workflows
    assert server.workflows[first.workflows["claim"]]["active"]
    assert again.changes[0] == "restored the workflow `claim open work` from the archive"


def test_a_deleted_credential_is_created_again(server: TableStandIn, client: TableClient) -> None:
    install_support_set(client, SECRET)
    server.credentials[0]["id"] = "another"
    server.credentials[0]["name"] = "another"
    again = install_support_set(client, "new word")
    assert again.credential["id"] == server.credentials[-1]["id"]
    assert "created the credential" in again.changes[0]


@pytest.mark.parametrize("seed", range(6))
def test_two_installations_at_once_leave_one_set(server: TableStandIn, seed: int) -> None:
    del seed  # the threads interleave differently each time
    results: list[Any] = []

    def install() -> None:
        with TableClient(server.url, KEY) as connected:
            try:
                results.append(install_support_set(connected, SECRET))
            except InstallationError as error:
                results.append(str(error))

    threads = [threading.Thread(target=install) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with TableClient(server.url, KEY) as connected:
        last = install_support_set(connected, SECRET)
        assert install_support_set(connected, SECRET).changes == ()
    assert len(server.workflows) == len(PARTS)
    assert len(server.tables) == 1
    for result in results:
        if not isinstance(result, str):  # one that lost its patience says so
            assert result.workflows == last.workflows


def test_another_version_replaces_the_content_and_keeps_ids_and_rows(
    server: TableStandIn, client: TableClient
) -> None:
    first = install_support_set(client, SECRET)
    table = server.tables[first.table]
    table["rows"].append({"key": "k"})
    del table["columns"][-2:]
    later = install_support_set(client, SECRET, SupportOptions(retention_days=0))
    assert later.workflows == first.workflows
    assert later.version != first.version
    assert [column["name"] for column in table["columns"]] == list(COLUMN_NAMES)
    assert table["rows"] == [{"key": "k"}]
    assert sum("added the column" in change for change in later.changes) == 2
    assert sum("upgraded" in change for change in later.changes) == len(PARTS)
    names = {node["name"] for node in server.workflows[later.workflows["sweep"]]["nodes"]}
    assert "Delete their rows" not in names
    assert len(server.credentials) == 1
    assert not any("DELETE" in call for call in server.calls)


@pytest.mark.parametrize("failing", range(1, 24, 3))
def test_an_interrupted_installation_is_completed(
    server: TableStandIn, client: TableClient, failing: int
) -> None:
    calls = 0
    original = client._call_once

    def fail_once(*args: Any) -> Any:
        nonlocal calls
        calls += args[1] != "GET"
        if calls == failing and args[1] != "GET":
            raise InterruptedError
        return original(*args)

    client._call_once = fail_once  # type: ignore[method-assign]
    with pytest.raises(InterruptedError):
        install_support_set(client, SECRET)
    client._call_once = original  # type: ignore[method-assign]
    installed = install_support_set(client, SECRET)
    assert len(server.workflows) == len(PARTS)
    assert all(row["active"] for row in server.workflows.values())
    assert len(server.tables) == 1
    assert [row["name"] for row in server.credentials] == [CREDENTIAL_NAME]
    assert install_support_set(client, SECRET).changes == ()
    match = server.workflows[installed.workflows["match"]]
    called = [
        node["parameters"]["workflowId"]["value"]
        for node in match["nodes"]
        if node["name"] == "Next pair"
    ]
    assert called == [installed.workflows["match"]]


def test_a_copy_of_a_person_is_left_alone(server: TableStandIn, client: TableClient) -> None:
    first = install_support_set(client, SECRET)
    row = server.workflows[first.workflows["claim"]]
    nodes = [{**node, "id": f"copy-{number}"} for number, node in enumerate(row["nodes"])]
    body = {"name": "copy", "nodes": nodes, "connections": row["connections"], "settings": {}}
    copied = client.create_body({**body, "settings": row["settings"]})
    assert install_support_set(client, SECRET) == first._replace(changes=())
    server.workflows[copied["id"]]["nodes"] = row["nodes"]
    with pytest.raises(InstallationError, match="twice"):
        install_support_set(client, SECRET)
    assert len(server.workflows) == len(PARTS) + 1


def test_similar_tables_are_named(server: TableStandIn, client: TableClient) -> None:
    client.create_data_table(f"{TABLE_NAME}_old", ["key"])
    assert install_support_set(client, SECRET).similar_tables == (f"{TABLE_NAME}_old",)


def test_n8n_1_is_refused(server: TableStandIn) -> None:
    with (
        TableClient(server.url, KEY, version=V1_123) as client,
        pytest.raises(InstallationError, match="no API for Data Tables"),
    ):
        install_support_set(client, SECRET)
    assert not server.calls
