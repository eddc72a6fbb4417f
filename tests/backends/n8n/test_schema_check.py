"""The light schema checker against `jsonschema`, and the node schemas against samples."""

from __future__ import annotations

import copy
import json
import random
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import orgflow.backends.n8n.format.schema_check as module_under_test
import pytest
from jsonschema import Draft202012Validator
from orgflow.backends.n8n.format.document import node_type
from orgflow.backends.n8n.format.schema_check import (
    Problem,
    SchemaError,
    check_schema,
    compile_schema,
    load_schema,
    pointer,
)
from orgflow.backends.n8n.format.versions import KNOWN_VERSIONS, NODE_TYPES, type_versions
from referencing import Registry, Resource

SCHEMAS = Path(str(module_under_test.__file__)).parent / "schema"
SAMPLES: dict[str, Any] = json.loads(
    (Path(__file__).parent / "node_samples.json").read_text(encoding="utf-8")
)
NAMES = sorted(
    path.relative_to(SCHEMAS).as_posix().removesuffix(".schema.json")
    for path in SCHEMAS.rglob("*.schema.json")
)


def document(name: str) -> Any:
    return json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))


@cache
def referee(name: str) -> Any:
    resources = [Resource.from_contents(document(one)) for one in NAMES]
    registry: Any = Registry().with_resources(
        (resource.contents["$id"], resource) for resource in resources
    )
    return Draft202012Validator(document(name), registry=registry)


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
    for short in NODE_TYPES:
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


def test_every_schema_is_valid_and_compiles() -> None:
    assert len(NAMES) == len(NODE_TYPES) + 5
    for name in NAMES:
        Draft202012Validator.check_schema(document(name))
        load_schema(name)
    for short in NODE_TYPES:
        allowed = document(f"nodes/{short}")["properties"]["typeVersion"]
        assert allowed.get("enum", [allowed.get("const")]) == versions_of(short)


@pytest.mark.parametrize("short", NODE_TYPES)
def test_samples_are_accepted_and_refused(short: str) -> None:
    for version in versions_of(short):
        for parameters in SAMPLES[short]["valid"]:
            if version == 2.3 and "fieldName" in json.dumps(parameters):
                continue  # form nodes of that version know it for hidden fields only, see below
            assert check_schema(node(short, parameters, version), f"nodes/{short}") == []
        for parameters in SAMPLES[short]["invalid"]:
            assert check_schema(node(short, parameters, version), f"nodes/{short}"), parameters


def test_field_names_in_forms_before_2_4() -> None:
    fields: dict[str, Any] = {"values": [{"fieldLabel": "a", "fieldName": "b"}]}
    parameters = {"formTitle": "t", "formFields": fields}
    for short in ("formTrigger", "form"):
        given = parameters if short == "formTrigger" else {"formFields": fields}
        found = check_schema(node(short, given, 2.3), f"nodes/{short}")
        path = "/parameters/formFields/values/0/fieldName"
        assert found == [Problem(path, "`fieldName` is not allowed here")]
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


@pytest.mark.parametrize("short", NODE_TYPES)
def test_every_misspelt_name_is_refused(short: str) -> None:
    for parameters in SAMPLES[short]["valid"]:
        for changed in typos(parameters):
            one = node(short, changed, versions_of(short)[-1])
            assert check_schema(one, f"nodes/{short}"), changed


def test_webhook_id_is_required() -> None:
    for short in ("webhook", "formTrigger"):
        one = node(short, SAMPLES[short]["valid"][0], versions_of(short)[-1])
        del one["webhookId"]
        assert [p.message for p in check_schema(one, f"nodes/{short}")] == [
            "`webhookId` is missing"
        ]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) in a value."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict | list):
            for key in list(one) if isinstance(one, dict) else range(len(one)):
                yield one, key
                waiting.append(one[key])


def constants(schema: Any) -> Iterator[Any]:
    for container, key in places(schema):
        if key == "const":
            yield container[key]
        elif key == "enum":
            yield from container[key]


POOL: list[Any] = [
    None, True, False, 0, 1, 1.0, 2, 2.0, 2.5, -1, 11, 600, "", "x", "=x", "={{ 1 }}", "={{ a",
    "=\n{{", "a" * 129, [], {}, [0], ["x"], {"a": 1}, [[]], {"values": []}, {"values": [{}]},
    [{"name": "a"}],
]  # fmt: skip


def mutate(value: Any, chance: random.Random, pool: list[Any]) -> None:
    found = list(places(value))
    if not found:
        return
    container, key = chance.choice(found)
    action = chance.randrange(6)
    if action == 0:
        del container[key]
    elif action == 1:
        container[key] = copy.deepcopy(chance.choice(POOL))
    elif action == 2:
        container[key] = copy.deepcopy(chance.choice(pool))
    elif action == 3 and isinstance(container, dict):
        container[chance.choice(["extra", f"{key}s", "options", "mode"])] = container[key]
    elif action == 4 and isinstance(container, list):
        container.append(copy.deepcopy(container[key]))
    elif isinstance(container[key], int | float):
        container[key] = chance.choice(
            [container[key] * -1, container[key] + 0.5, str(container[key])]
        )
    else:
        other, other_key = chance.choice(found)
        container[key] = copy.deepcopy(other[other_key])


def agree(instance: Any, name: str) -> bool:
    expected = bool(referee(name).is_valid(instance))
    found = check_schema(instance, name)
    assert (found == []) == expected, (name, found, instance)
    for problem in found:
        assert problem.message
        assert problem.path == "" or problem.path.startswith("/")
    return expected


@pytest.mark.parametrize("short", NODE_TYPES)
def test_same_verdict_as_jsonschema_on_nodes(short: str) -> None:
    chance = random.Random(short)
    pool = list(constants([document(f"nodes/{short}"), document("filter"), document("form")]))
    verdicts = []
    for kind in ("valid", "invalid"):
        for parameters in SAMPLES[short][kind]:
            original = node(short, parameters, versions_of(short)[-1])
            assert agree(original, f"nodes/{short}") == (kind == "valid")
            for _ in range(40):
                changed = copy.deepcopy(original)
                for _ in range(chance.randint(1, 2)):
                    parameters_only = {"parameters": changed.get("parameters")}
                    holder = changed if chance.random() < 0.15 else parameters_only
                    mutate(holder, chance, pool)
                    changed |= holder
                verdicts.append(agree(changed, f"nodes/{short}"))
    assert len(verdicts) >= 80
    if short not in ("manualTrigger", "noOp"):
        assert 0 < sum(verdicts) < len(verdicts)


@pytest.mark.parametrize("form", ["file", "api"])
def test_same_verdict_as_jsonschema_on_workflows(form: str) -> None:
    chance = random.Random(form)
    pool = list(constants([document("workflow-file"), document("workflow-api")]))
    original = workflow(form)
    original["nodes"] = original["nodes"][:6]
    assert agree(original, f"workflow-{form}")
    verdicts = []
    for _ in range(600):
        changed = copy.deepcopy(original)
        for one in changed["nodes"]:
            one["parameters"] = {}
        for _ in range(chance.randint(1, 2)):
            mutate(changed, chance, pool)
        verdicts.append(agree(changed, f"workflow-{form}"))
    assert 30 < sum(verdicts) < 570


@pytest.mark.parametrize(
    ("schema", "instances"),
    [
        ({"enum": [1, True, "1", None]}, [1, 1.0, True, False, 0, "1", None, [], {}]),
        ({"const": [1, {"a": True}]}, [[1, {"a": True}], [1.0, {"a": True}], [1, {"a": 1}], [1]]),
        ({"type": "integer"}, [1, 1.0, 1.5, True, "1", 10**400, float("inf")]),
        ({"type": ["null", "number"]}, [None, 1, True, "1"]),
        ({"minLength": 2, "maxLength": 3}, ["a", "ab", "äöü", "abcd", 1]),
        ({"minimum": 1, "maximum": 3}, [0, 1, 3, 3.5, True, "0"]),
        ({"exclusiveMinimum": 1}, [1, 1.5]),
        ({"minItems": 1, "maxItems": 2}, [[], [1], [1, 2, 3], "abc"]),
        ({"prefixItems": [{"type": "string"}], "items": {"type": "number"}},
         [["a"], [1], ["a", "b"], ["a", 2], []]),
        ({"prefixItems": [{"type": "string"}]}, [["a", 1], [1], []]),
        ({"oneOf": [{"type": "integer"}, {"minimum": 2}]}, [1, 2, 2.5, 1.5, "x"]),
        ({"anyOf": [{"type": "integer"}, {"minimum": 2}]}, [1, 2, 2.5, 1.5, "x"]),
        ({"not": {"required": ["a"]}}, [{}, {"a": 1}, 3]),
        ({"patternProperties": {"^x": {"type": "string"}}, "additionalProperties": False},
         [{"x": "a"}, {"x": 1}, {"y": "a"}, {}]),
        ({"patternProperties": {"^x": {"type": "string"}}, "properties": {"xa": {"minLength": 2}},
          "additionalProperties": {"type": "null"}},
         [{"xa": "a"}, {"xa": "ab"}, {"xa": 12}, {"y": None}, {"y": 1}, {"xb": 1}]),
        ({"additionalProperties": {"type": "null"}}, [{"a": None}, {"a": 1}, []]),
        ({"if": {"type": "string"}, "then": {"minLength": 1}, "else": False}, ["", "a", 1]),
        ({"pattern": "^a+$"}, ["a", "b", "a\n", 1]),
        ({"$ref": "#/$defs/a", "maximum": 3, "$defs": {"a": {"minimum": 1}}}, [0, 2, 4]),
        (True, [1]),
    ],
)  # fmt: skip
def test_same_verdict_as_jsonschema_on_keywords(schema: Any, instances: list[Any]) -> None:
    compiled = compile_schema({"allOf": [schema], "$defs": {"a": {"minimum": 1}}})
    for instance in instances:
        expected = Draft202012Validator(schema).is_valid(instance)
        assert (check_schema(instance, compiled) == []) == expected, (schema, instance)


@pytest.mark.parametrize(
    "schema",
    [
        {"uniqueItems": True},
        {"propertyNames": {"type": "string"}},
        {"properties": {"a": {"typ": "string"}}},
        {"then": {"type": "string"}},
        {"type": "text"},
        {"$ref": "#/$defs/missing"},
        {"$ref": "urn:orgflow:schema:nothing:1#/$defs/a"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}},
        {"items": "string"},
    ],
)
def test_a_schema_that_is_not_understood_is_an_error(schema: Any) -> None:
    with pytest.raises(SchemaError):
        compile_schema(schema)


def test_problems_say_where_and_what() -> None:
    one = node("wait", {"resume": "timeInterval", "amount": -2}, 1.1)
    assert check_schema(one, "nodes/wait", at="/nodes/3") == [
        Problem("/nodes/3/parameters", "`unit` is missing"),
        Problem("/nodes/3/parameters/amount", "must be at least 0, is -2"),
    ]
    assert pointer("a/b", 0, "c~d") == "/a~1b/0/c~0d"


def test_deep_values_do_not_matter() -> None:
    deep: Any = "={{ 1 }}"
    for _ in range(100_000):
        deep = [deep]
    found = check_schema(node("noOp", {"a": deep}, 1), "nodes/noOp")
    assert [problem.path for problem in found] == ["/parameters/a"]
    assert check_schema(node("wait", deep, 1.1), "nodes/wait")
    while isinstance(deep, list):  # taken apart by hand: freeing it recursively is slow
        deep = deep.pop() if deep else None


def test_speed() -> None:
    small = workflow("file")
    check_schema(small, "workflow-file")
    start = time.perf_counter()
    for _ in range(20):
        check_schema(small, "workflow-file")
    assert (time.perf_counter() - start) / 20 < 0.02  # about 0.4 ms for 60 nodes

    nodes = [one for _, one in sample_nodes("valid")]
    many = {**small, "nodes": [nodes[index % len(nodes)] for index in range(10_000)]}
    start = time.perf_counter()
    assert check_schema(many, "workflow-file") == []
    for one in many["nodes"]:
        short = one["type"].rpartition(".")[2]
        assert check_schema(one, load_schema(f"nodes/{short}")) == []
    assert time.perf_counter() - start < 6  # about 0.3 s
