"""The schemas of what we emit: are they what they claim, and what do they accept and refuse."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orgflow.backends.n8n.format as format_room
import pytest
from jsonschema import Draft202012Validator
from orgflow.backends.n8n.emit.schema_check import check_schema, check_schemas
from orgflow.backends.n8n.emit.workflow_check import Problem, make_pointer
from orgflow.backends.n8n.format.document import node_type
from orgflow.backends.n8n.format.versions import KNOWN_VERSIONS
from orgflow.backends.n8n.node_types import described_names
from orgflow.backends.n8n.node_types.type_versions import type_versions
from referencing import Registry, Resource

SCHEMAS = Path(str(format_room.__file__)).parent / "schema"
SAMPLES: dict[str, Any] = json.loads(
    (Path(__file__).parent / "node_samples.json").read_text(encoding="utf-8")
)
NAMES = sorted(
    path.relative_to(SCHEMAS).as_posix().removesuffix(".schema.json")
    for path in SCHEMAS.rglob("*.schema.json")
)


def document(name: str) -> Any:
    return json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))


def node(short: str, parameters: Any, version: float) -> dict[str, Any]:
    return {
        "id": "1",
        "name": short,
        "type": node_type(short),
        "typeVersion": version,
        "position": [0, 0],
        "webhookId": "w",
        "parameters": parameters,
    }


def versions_of(short: str) -> list[float]:
    return sorted({one for known in KNOWN_VERSIONS for one in type_versions(short, known)})


def sample_nodes(kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for short in described_names():
        for parameters in SAMPLES[short][kind]:
            yield short, node(short, parameters, versions_of(short)[-1])


def workflow(form: str) -> dict[str, Any]:
    nodes = [one for _, one in sample_nodes("valid")]
    for index, one in enumerate(nodes):
        one["id"], one["name"] = f"id {index}", f"node {index}"
    nodes[0] |= {"disabled": True, "notes": "n", "notesInFlow": False, "retryOnFail": True}
    nodes[1] |= {"maxTries": 3, "waitBetweenTries": 100, "onError": "continueErrorOutput"}
    nodes[2] |= {"executeOnce": True, "alwaysOutputData": False}
    nodes[3] |= {"credentials": {"slackApi": {"id": "7", "name": "Slack"}}}
    wire = {"node": "node 2", "type": "main", "index": 0}
    result: dict[str, Any] = {
        "name": "all nodes",
        "nodes": nodes,
        "connections": {"node 0": {"main": [[wire], [], [wire, wire]]}, "node 1": {}},
        "settings": {
            "executionOrder": "v1",
            "timezone": "Europe/Berlin",
            "saveExecutionProgress": True,
            "saveManualExecutions": False,
            "saveDataErrorExecution": "all",
            "saveDataSuccessExecution": "none",
            "executionTimeout": 60,
            "errorWorkflow": "E",
            "callerPolicy": "workflowsFromAList",
            "callerIds": "1, 2",
        },
        "pinData": {"node 0": [{"json": {"a": 1}}]},
        "staticData": {"a": 1},
    }
    if form == "file":
        result |= {
            "id": "W",
            "active": False,
            "isArchived": False,
            "description": None,
            "versionId": "v",
            "meta": {"instanceId": "i"},
            "tags": ["a", {"name": "b", "id": "2", "createdAt": "c", "updatedAt": "u"}],
            "nodeGroups": [{"id": "g", "name": "G", "nodeIds": ["1"], "description": "d"}],
            "triggerCount": 0,
        }
    return result


SCHEMA_MAPS = ("properties", "patternProperties", "$defs")
SCHEMA_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
SCHEMA_KEYWORDS = ("items", "additionalProperties", "if", "then", "else", "not")
OTHER_KEYWORDS = {
    "$schema", "$id", "$ref", "$comment", "title", "description", "type", "const", "enum",
    "required", "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum",
    "minItems", "maxItems", "minProperties", "maxProperties",
}  # fmt: skip


def subschemas(schema: Any) -> Iterator[dict[str, Any]]:
    """The schema and every schema in it, without following references."""
    if isinstance(schema, bool):
        return
    yield schema
    for key in SCHEMA_MAPS:
        for inner in schema.get(key, {}).values():
            yield from subschemas(inner)
    for key in SCHEMA_LISTS:
        for inner in schema.get(key, ()):
            yield from subschemas(inner)
    for key in SCHEMA_KEYWORDS:
        if key in schema:
            yield from subschemas(schema[key])


def test_every_schema_is_valid() -> None:
    assert len(NAMES) == len(described_names()) + 5
    for name in NAMES:
        Draft202012Validator.check_schema(document(name))
    for short in described_names():
        allowed = document(f"nodes/{short}")["properties"]["typeVersion"]
        assert allowed.get("enum", [allowed.get("const")]) == versions_of(short)


@pytest.mark.parametrize("name", NAMES)
def test_every_keyword_means_something(name: str) -> None:
    """`jsonschema` ignores keywords that it does not know, and `then` without `if`."""
    for schema in subschemas(document(name)):
        known = {*SCHEMA_MAPS, *SCHEMA_LISTS, *SCHEMA_KEYWORDS, *OTHER_KEYWORDS}
        assert schema.keys() <= known
        assert "if" in schema or not schema.keys() & {"then", "else"}


def test_every_reference_leads_somewhere() -> None:
    resources = [Resource.from_contents(document(one)) for one in NAMES]
    registry: Any = Registry().with_resources((r.contents["$id"], r) for r in resources)
    followed = 0
    for resource in resources:
        resolver = registry.resolver_with_root(resource)
        for schema in subschemas(resource.contents):
            if "$ref" in schema:
                assert isinstance(resolver.lookup(schema["$ref"]).contents, dict)
                followed += 1
    assert followed > 100


@pytest.mark.parametrize("short", described_names())
def test_samples_are_accepted_and_refused(short: str) -> None:
    assert versions_of(short)
    assert SAMPLES[short]["valid"]
    assert SAMPLES[short]["invalid"]
    for version in versions_of(short):
        samples = SAMPLES.get(f"{short} {version}", SAMPLES[short])
        for parameters in samples["valid"]:
            if version == 2.3 and "fieldName" in json.dumps(parameters):
                continue  # form nodes of that version know it for hidden fields only, see below
            assert check_schema(node(short, parameters, version), f"nodes/{short}") == []
        for parameters in samples["invalid"]:
            assert check_schema(node(short, parameters, version), f"nodes/{short}"), parameters


def test_field_names_in_forms_before_2_4() -> None:
    fields: dict[str, Any] = {"values": [{"fieldLabel": "a", "fieldName": "b"}]}
    parameters = {"formTitle": "t", "formFields": fields}
    for short in ("formTrigger", "form"):
        given = parameters if short == "formTrigger" else {"formFields": fields}
        found = check_schema(node(short, given, 2.3), f"nodes/{short}")
        assert [problem.path for problem in found] == ["/parameters/formFields/values/0"]
        assert found[0].message == "False schema does not allow 'b'"
        assert check_schema(node(short, given, 2.5), f"nodes/{short}") == []
    hidden = {"values": [{"fieldType": "hiddenField", "fieldName": "b", "fieldValue": "c"}]}
    assert check_schema(node("form", {"formFields": hidden}, 2.3), "nodes/form") == []


def typos(value: Any) -> Iterator[Any]:
    """The value with one key misspelt, for every key in it; free objects are left alone."""
    if isinstance(value, dict):
        for key in value:
            yield {(f"{name}s" if name == key else name): value[name] for name in value}
            if key == "value":
                continue
            for changed in typos(value[key]):
                yield {**value, key: changed}
    elif isinstance(value, list):
        for index, one in enumerate(value):
            for changed in typos(one):
                yield [*value[:index], changed, *value[index + 1 :]]


@pytest.mark.parametrize("short", described_names())
def test_every_misspelt_name_is_refused(short: str) -> None:
    misspelt = [one for parameters in SAMPLES[short]["valid"] for one in typos(parameters)]
    assert misspelt or short in (
        "errorTrigger",
        "manualTrigger",
        "noOp",
    )  # which have no parameters
    for changed in misspelt:
        one = node(short, changed, versions_of(short)[-1])
        assert check_schema(one, f"nodes/{short}"), changed


def test_webhook_id_is_required() -> None:
    for short in ("webhook", "formTrigger"):
        one = node(short, SAMPLES[short]["valid"][0], versions_of(short)[-1])
        del one["webhookId"]
        assert [p.message for p in check_schema(one, f"nodes/{short}")] == [
            "'webhookId' is a required property"
        ]


@pytest.mark.parametrize("form", ["file", "api"])
def test_a_workflow_of_all_nodes_is_accepted(form: Any) -> None:
    assert check_schemas(workflow(form), form=form) == ()


@pytest.mark.parametrize("form", ["file", "api"])
def test_misspelt_names_in_a_workflow_are_refused(form: Any) -> None:
    plain = workflow(form)
    plain["nodes"] = [
        {k: v for k, v in one.items() if k not in ("parameters", "credentials")}
        | {"parameters": {}, "type": "x.other"}
        for one in plain["nodes"][:4]
    ]
    assert check_schemas(plain, form=form) == ()
    free = ("pinData", "staticData", "meta", "connections")
    refused = 0
    for changed in typos({k: v for k, v in plain.items() if k not in free}):
        whole = {**{k: plain[k] for k in free if k in plain}, **changed}
        assert check_schemas(whole, form=form), changed
        refused += 1
    assert refused > 40


def test_problems_say_where_and_what() -> None:
    one = node("wait", {"resume": "timeInterval", "amount": -2}, 1.1)
    assert check_schema(one, "nodes/wait", at="/nodes/3") == [
        Problem("/nodes/3/parameters", "'unit' is a required property"),
        Problem("/nodes/3/parameters/amount", "-2 is less than the minimum of 0"),
    ]
    assert make_pointer("a/b", 0, "c~d") == "/a~1b/0/c~0d"


def test_long_values_are_cut() -> None:
    (found,) = check_schema(node("noOp", {"a": "x" * 10_000}, 1), "nodes/noOp")
    assert len(found.message) < 250
