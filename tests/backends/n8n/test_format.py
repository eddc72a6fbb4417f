"""The workflow format: writing, the API form, ids, inputs and outputs, and the version table."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from orgflow.backends.n8n.emit.schema_check import check_schema
from orgflow.backends.n8n.format.document import (
    Workflow,
    api_keys,
    dump_json,
    is_trigger,
    node_type,
    node_uuid,
    short_type,
    to_api,
)
from orgflow.backends.n8n.format.versions import (
    DEFAULT_VERSION,
    KNOWN_VERSIONS,
    V1_123,
    V2_41,
    N8nVersion,
)
from orgflow.backends.n8n.node_types import described_names
from orgflow.backends.n8n.node_types.ports import inputs_of, outputs_of
from orgflow.backends.n8n.node_types.type_versions import type_version, type_versions


def test_written_as_built() -> None:
    value = {"b": [1, 2.5, {"ä": None}], "a": "→ \ud83d"}
    text = dump_json(value)
    assert text == dump_json(json.loads(text))
    assert text.startswith('{\n  "b": [\n    1,\n')
    assert text.endswith("}\n")
    assert "ä" in text
    assert text.encode("utf-8")  # half a surrogate pair stays an escape
    assert json.loads(text) == value
    with pytest.raises(ValueError):
        dump_json(float("nan"))


def test_node_uuid_depends_on_the_text_alone() -> None:
    assert node_uuid("a") == "5de26bce-4bd6-5241-b052-49a4099f7867"
    namespace = uuid.UUID("7d3e3c0e-53c5-5a0f-9a53-0c4e1b2f6d17")
    for text in ("", "a", "Prüfung", *map(str, range(200))):
        assert node_uuid(text) == str(uuid.uuid5(namespace, text))
    assert node_uuid("a") != node_uuid("b")


def test_types() -> None:
    assert node_type("if") == "n8n-nodes-base.if"
    assert short_type({"type": "n8n-nodes-base.if"}) == "if"
    assert short_type({"type": "@n8n/n8n-nodes-langchain.agent"}) is None
    assert short_type({}) is None
    assert is_trigger({"type": "n8n-nodes-base.webhook"})
    assert is_trigger({"type": "@n8n/n8n-nodes-langchain.chatTrigger"})
    assert not is_trigger({"type": "n8n-nodes-base.respondToWebhook"})


def node(short: str, version: float, **parameters: Any) -> dict[str, Any]:
    return {"type": node_type(short), "typeVersion": version, "parameters": parameters}


RULES: dict[str, list[dict[str, Any]]] = {"values": [{}, {}, {}]}


@pytest.mark.parametrize(
    ("one", "inputs", "outputs"),
    [
        (node("if", 2.3), 1, 2),
        (node("if", 2.3) | {"onError": "continueErrorOutput"}, 1, 3),
        (node("if", 2.3) | {"onError": "continueRegularOutput"}, 1, 2),
        (node("filter", 2.3), 1, 1),
        (node("set", 3.5), 1, 1),
        (node("switch", 3.4, mode="rules", rules=RULES), 1, 3),
        (node("switch", 3.4, rules=RULES, options={"fallbackOutput": "extra"}), 1, 4),
        (node("switch", 3.4, rules=RULES, options={"fallbackOutput": 1}), 1, 3),
        (node("switch", 3.4, rules=RULES, options={"fallbackOutput": "none"}), 1, 3),
        (node("switch", 3.4, mode="expression", numberOutputs=5), 1, 5),
        (node("switch", 3.4, mode="expression"), 1, 4),
        (node("switch", 3.4, mode="expression", numberOutputs="={{ 3 }}"), 1, None),
        (node("switch", 3.4), 1, None),
        (node("switch", 1), 1, None),
        (node("merge", 3.2, numberInputs=5), 5, 1),
        (node("merge", 3.2), 2, 1),
        (node("merge", 2.1), 2, 1),
        (node("merge", 3.2, numberInputs="={{ 3 }}"), None, 1),
        (node("webhook", 2.1, httpMethod="GET"), 0, 1),
        (node("webhook", 2.1, multipleMethods=True, httpMethod=["GET", "POST"]), 0, 2),
        (node("manualTrigger", 1), 0, 1),
        (node("stickyNote", 1), 0, 0),
        (node("stopAndError", 1), 1, 0),
        (node("splitInBatches", 3), 1, 2),
        (node("splitInBatches", 1), 1, 1),
        (node("respondToWebhook", 1.5), 1, 1),
        (node("respondToWebhook", 1.5, enableResponseOutput=True), 1, 2),
        (node("respondToWebhook", 1.3), 1, 2),
        (node("executeWorkflow", 1.4) | {"onError": "continueErrorOutput"}, 1, 2),
        (node("discord", 2), None, None),
        ({"type": "other.if"}, None, None),
        ({}, None, None),
    ],
)
def test_inputs_and_outputs(one: dict[str, Any], inputs: int | None, outputs: int | None) -> None:
    assert (inputs_of(one), outputs_of(one)) == (inputs, outputs)


def workflow() -> Workflow:
    return {
        "name": "w",
        "nodes": [
            {
                "id": "1",
                "name": "Start",
                "type": node_type("manualTrigger"),
                "typeVersion": 1,
                "position": [0, 0],
                "parameters": {},
            }
        ],
        "connections": {"Start": {"main": [[]]}},
        "settings": {"executionOrder": "v1"},
        "id": "x",
        "active": False,
        "meta": {"a": 1},
        "versionId": "v",
        "tags": [],
        "pinData": {"Start": [{"json": {}}]},
        "staticData": None,
    }


def test_api_form() -> None:
    given: dict[str, Any] = dict(workflow())
    given["nodes"][0] |= {"color": "red", "notes": "n"}
    given["connections"]["Start"]["main"].append(None)
    given["settings"] |= {"binaryMode": "combined", "saveManualExecutions": "DEFAULT"}
    before = json.dumps(given)
    body = to_api(given)
    assert json.dumps(given) == before
    assert check_schema(body, "workflow-api") == []
    assert list(body) == ["name", "nodes", "connections", "settings", "pinData"]
    assert list(body["nodes"][0]) == [
        "id", "name", "type", "typeVersion", "position", "parameters", "notes",
    ]  # fmt: skip
    assert body["connections"] == {"Start": {"main": [[], []]}}
    assert body["settings"] == {"executionOrder": "v1"}


def test_api_of_n8n_1_takes_no_pinned_data() -> None:
    assert "pinData" not in to_api(workflow(), V1_123)
    assert set(api_keys(V2_41)) - set(api_keys(V1_123)) == {"pinData", "nodeGroups"}


def test_versions() -> None:
    assert N8nVersion.parse("2.41") == N8nVersion.parse("2.41.1") == V2_41 == DEFAULT_VERSION
    assert N8nVersion.parse("1.123.81") == V1_123
    assert str(V1_123) == "1.123"
    assert type_version("if") == 2.3
    assert type_version("set") == 3.5
    assert type_version("set", V1_123) == 3.4
    assert type_version("httpRequest", V1_123) == 4.3
    assert list(described_names()) == sorted(described_names())
    for short in described_names():
        for version in KNOWN_VERSIONS:
            row = type_versions(short, version)
            assert list(row) == sorted(row)
            assert row[-1] == type_version(short, version)


@pytest.mark.parametrize("text", ["", "2", "two", "2.41.1.1", "v2.41", "2.41-beta"])
def test_a_version_that_is_none_says_which_are_known(text: str) -> None:
    with pytest.raises(ValueError, match=r"not an n8n version .*known are 1\.123, 2\.41"):
        N8nVersion.parse(text)


def test_an_unknown_version_says_which_are_known() -> None:
    with pytest.raises(ValueError, match=r"n8n 2\.40 .*known are 1\.123, 2\.41"):
        N8nVersion.parse("2.40.0")
    with pytest.raises(ValueError, match=r"known are 1\.123, 2\.41"):
        type_version("if", N8nVersion(3, 0))
    with pytest.raises(ValueError, match="`discord` is not a supported node type"):
        type_version("discord")


@pytest.mark.parametrize(
    "value",
    [
        {}, [], [[]], {"a": {}}, "", "ä\n\"\\\u2028", 0, -1, 10**30, 1.5, 1e300, True, False, None,
        [1, [2, {"k": [None, True, {"x": []}]}], ()], {"t": (1, {"a": (2,)})}, {1: {"n": [0.1]}},
        {True: 1, None: 2}, [{"line\nbreak": "in\na text"}], {"a": [1.0, {"b": "c"}], "d": False},
    ],
)  # fmt: skip
def test_workflows_are_written_as_the_standard_library_indents(value: object) -> None:
    assert dump_json(value) == json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def test_what_is_no_json_is_refused_by_the_writer() -> None:
    for value in (float("nan"), [float("inf")], {"a": object()}):
        with pytest.raises((ValueError, TypeError)):
            dump_json(value)
