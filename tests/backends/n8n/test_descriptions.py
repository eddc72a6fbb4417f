"""Our schemas and version table against n8n's own node descriptions, where an engine is installed,
and those of n8n 1, where its server is.

`ORGFLOW_ENGINE_DIR` may point to an installation, or to a folder of installations.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import orgflow.backends.n8n.format as format_room
import pytest
from orgflow.backends.n8n.format.document import is_trigger, node_type
from orgflow.backends.n8n.format.versions import V1_123, V2_41, N8nVersion
from orgflow.backends.n8n.node_types import described_names as described_types
from orgflow.backends.n8n.node_types.ports import inputs_of, outputs_of
from orgflow.backends.n8n.node_types.type_versions import type_versions
from orgflow.backends.n8n.server.install import OLDER_VERSION, server_dir

SCHEMAS = Path(str(format_room.__file__)).parent / "schema"
SAMPLES: dict[str, Any] = json.loads(
    (Path(__file__).parent / "node_samples.json").read_text(encoding="utf-8")
)
DESCRIPTIONS = "node_modules/n8n-nodes-base/dist/types/nodes.json"
# The minor version of n8n-nodes-base tells which n8n it belongs to.
RELEASES = {"2.41": V2_41, "1.121": V1_123}

Pairs = dict[tuple[str, float], dict[str, Any]]


def installations() -> Iterator[Path]:
    """The engine, and the server of n8n 1 if it is installed."""
    given = os.environ.get("ORGFLOW_ENGINE_DIR")
    root = Path(given) if given else Path.home() / ".cache" / "orgflow" / "engine"
    older = () if given else (server_dir(OLDER_VERSION) / "app",)
    for folder in (root, *sorted(root.glob("*")), *older):
        if (folder / DESCRIPTIONS).is_file():
            yield folder / DESCRIPTIONS


@cache
def engines() -> list[tuple[N8nVersion, Pairs]]:
    found = []
    for path in installations():
        package = json.loads((path.parents[2] / "package.json").read_text(encoding="utf-8"))
        release = RELEASES.get(package["version"].rpartition(".")[0])
        if release is not None:
            pairs: Pairs = {}
            for one in json.loads(path.read_text(encoding="utf-8")):
                versions = one["version"] if isinstance(one["version"], list) else [one["version"]]
                for version in versions:
                    pairs[one["name"].removeprefix("n8n-nodes-base."), version] = one
            found.append((release, pairs))
    return found


@pytest.fixture(params=described_types())
def described(request: pytest.FixtureRequest) -> list[tuple[str, float, dict[str, Any]]]:
    """(node type, typeVersion, n8n's description) for every version we may emit."""
    if not engines():
        reason = "no n8n engine is installed, run `orgflowc engine install`"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    short = str(request.param)
    result = []
    for release, pairs in engines():
        for version in type_versions(short, release):
            assert (short, version) in pairs, f"n8n {release} has no {short} {version}"
            result.append((short, version, pairs[short, version]))
    return result


def matches(conditions: list[Any], value: Any) -> bool:
    values = value if isinstance(value, list) else [value]
    for condition in conditions:
        if isinstance(condition, dict) and "_cnd" in condition:
            ((kind, bound),) = condition["_cnd"].items()
            tests: dict[str, Any] = {
                "gte": lambda one, to: one >= to,
                "gt": lambda one, to: one > to,
                "lte": lambda one, to: one <= to,
                "lt": lambda one, to: one < to,
                "eq": lambda one, to: one == to,
                "not": lambda one, to: one != to,
                "between": lambda one, to: to["from"] <= one <= to["to"],
            }
            if any(tests[kind](one, bound) for one in values):
                return True
        elif condition in values:
            return True
    return False


def displayed(prop: Any, version: float, near: Any, root: Any) -> bool:
    """Whether n8n shows a property, given the values beside it and the node's parameters."""
    options = prop.get("displayOptions", {})

    def value(key: str) -> Any:
        if key == "@version":
            return version
        if key == "@tool":
            return False
        return root.get(key[1:]) if key.startswith("/") else near.get(key)

    return all(matches(c, value(key)) for key, c in options.get("show", {}).items()) and not any(
        matches(c, value(key)) for key, c in options.get("hide", {}).items()
    )


def defaulted(properties: list[Any], values: Any, version: float, root: Any) -> Any:
    """The values with the defaults that n8n puts for what is missing and shown."""
    full = dict(values)
    for _ in range(4):  # a default can show another property
        for prop in properties:
            if prop["name"] not in full and displayed(prop, version, full, root or full):
                full[prop["name"]] = prop.get("default")
    return full


def check_level(properties: list[Any], values: Any, version: float, root: Any, at: str) -> None:
    """Every value is a property that n8n shows, and every property it requires is there."""
    full = defaulted(properties, values, version, root)
    root = root or full
    shown = [prop for prop in properties if displayed(prop, version, full, root)]
    for prop in shown:
        # What has a default is filled in by n8n, required or not.
        if prop.get("required") and prop.get("default") in ("", None):
            assert prop["name"] in values, f"{at}: n8n requires {prop['name']}"
    for name, value in values.items():
        candidates = [prop for prop in shown if prop["name"] == name]
        assert candidates, f"{at}: n8n does not show {name} in version {version}"
        check_value(candidates[0], value, version, root, f"{at}.{name}")


def check_value(prop: Any, value: Any, version: float, root: Any, at: str) -> None:
    limits = prop.get("typeOptions", {})
    if isinstance(value, str) and value.startswith("="):
        assert prop["type"] not in ("collection", "fixedCollection"), at
    elif prop["type"] in ("options", "multiOptions"):
        if "loadOptionsMethod" not in limits:
            allowed = [one["value"] for one in prop["options"]]
            for one in value if prop["type"] == "multiOptions" else [value]:
                assert one in allowed, f"{at}: {one} is not one of {allowed}"
    elif prop["type"] == "boolean":
        assert isinstance(value, bool), at
    elif prop["type"] == "number":
        assert isinstance(value, int | float), at
        assert limits.get("minValue", value) <= value <= limits.get("maxValue", value), at
    elif prop["type"] in ("string", "json", "dateTime"):
        assert isinstance(value, str), at
    elif prop["type"] == "collection":
        # Options of a collection are added one by one, so none has a default.
        for name, inner in value.items():
            candidates = [one for one in prop["options"] if one["name"] == name]
            shown = [one for one in candidates if displayed(one, version, value, root)]
            assert shown, f"{at}: n8n does not show {name} in version {version}"
            check_value(shown[0], inner, version, root, f"{at}.{name}")
    elif prop["type"] == "fixedCollection":
        groups = {one["name"]: one["values"] for one in prop["options"]}
        for name, inner in value.items():
            assert name in groups, f"{at}: n8n has no {name}"
            assert isinstance(inner, list) == bool(limits.get("multipleValues")), at
            for one in inner if isinstance(inner, list) else [inner]:
                check_level(groups[name], one, version, root, f"{at}.{name}")


def samples_of(short: str, version: float) -> list[Any]:
    """Parameters that are valid: those of a version, if it has samples of its own."""
    samples: list[Any] = SAMPLES.get(f"{short} {version}", SAMPLES[short])["valid"]
    return samples


def test_samples_are_what_n8n_shows(described: Any) -> None:
    for short, version, description in described:
        for parameters in samples_of(short, version):
            text = json.dumps(parameters)
            if "fieldName" in text and (version == 2.3 or short == "wait"):
                continue  # n8n shows it for hidden fields only; see test_schema_check.py
            check_level(description["properties"], parameters, version, None, short)


def test_samples_use_every_parameter(described: Any) -> None:
    short = described[0][0]
    used: set[str] = set()
    for _, version, _ in described:
        for parameters in samples_of(short, version):
            used |= names_in(parameters)
    schema = json.loads((SCHEMAS / "nodes" / f"{short}.schema.json").read_text(encoding="utf-8"))
    assert named(schema["$defs"]) <= used


def names_in(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(names_in, value.values()))
    return set().union(*map(names_in, value)) if isinstance(value, list) else set()


def named(schema: Any) -> set[str]:
    """Every parameter name that a schema allows, not following references to other files."""
    found: set[str] = set()
    if isinstance(schema, dict):
        for name, inner in schema.get("properties", {}).items():
            if inner is not False:
                found.add(name)
            found |= named(inner)
        for key, inner in schema.items():
            if key != "properties":
                found |= named(inner)
    elif isinstance(schema, list):
        found = set().union(*map(named, schema))
    return found


@cache
def document(urn: str) -> Any:
    for path in SCHEMAS.rglob("*.schema.json"):
        one = json.loads(path.read_text(encoding="utf-8"))
        if one["$id"] == urn:
            return one
    raise KeyError(urn)


def resolved(schema: Any, home: Any) -> Iterator[tuple[Any, Any]]:
    """The schema and everything that it applies to the same value, with its document."""
    if not isinstance(schema, dict):
        return
    yield schema, home
    if "$ref" in schema:
        urn, _, fragment = schema["$ref"].partition("#")
        target = document(urn) if urn else home
        inner: Any = target
        for step in fragment.split("/")[1:]:
            inner = inner[step]
        yield from resolved(inner, target)
    for key in ("if", "then", "else"):
        yield from resolved(schema.get(key), home)
    for inner in (*schema.get("allOf", ()), *schema.get("anyOf", ())):
        yield from resolved(inner, home)


def compare(schema: Any, home: Any, properties: list[Any], at: str) -> None:
    """Every name and every choice in the schema exists in n8n's description."""
    for part, where in resolved(schema, home):
        for name, inner in part.get("properties", {}).items():
            if inner is False:
                continue
            candidates = [prop for prop in properties if prop["name"] == name]
            assert candidates, f"{at}: n8n has no parameter {name}"
            compare_value(inner, where, candidates, f"{at}.{name}")


def compare_value(schema: Any, home: Any, candidates: list[Any], at: str) -> None:
    options = [one for prop in candidates for one in prop.get("options", ())]
    kind = candidates[0]["type"]
    if kind in ("options", "multiOptions") and not any(
        "loadOptionsMethod" in prop.get("typeOptions", {}) for prop in candidates
    ):
        allowed = [one["value"] for one in options]
        for part, _ in resolved(schema, home):
            for value in [*part.get("enum", ()), *([part["const"]] if "const" in part else ())]:
                assert value in allowed, f"{at}: n8n does not offer {value}"
    elif kind == "collection":
        compare(schema, home, options, at)
    elif kind == "fixedCollection":
        groups = {one["name"]: one["values"] for one in options}
        for part, where in resolved(schema, home):
            for name, inner in part.get("properties", {}).items():
                assert name in groups, f"{at}: n8n has no {name}"
                compare_items(inner, where, groups[name], f"{at}.{name}")


def compare_items(schema: Any, home: Any, properties: list[Any], at: str) -> None:
    for part, where in resolved(schema, home):
        if "items" in part:
            compare_items(part["items"], where, properties, at)
        else:
            compare({"properties": part.get("properties", {})}, where, properties, at)


def test_every_name_and_choice_exists_in_n8n(described: Any) -> None:
    for short, version, description in described:
        properties = [
            prop
            for prop in description["properties"]
            if matches(
                prop.get("displayOptions", {}).get("show", {}).get("@version", [version]), version
            )
            and not matches(
                prop.get("displayOptions", {}).get("hide", {}).get("@version", []), version
            )
        ]
        home = document(f"urn:orgflow:schema:n8n-node-{short}:1")
        own = "answeredParameters" if (short, version) == ("formTrigger", 2.1) else "parameters"
        compare(home["$defs"][own], home, properties, short)


def test_fixed_outputs_and_inputs(described: Any) -> None:
    assert described
    for short, version, description in described:
        one = {"type": node_type(short), "typeVersion": version, "parameters": {}}
        assert is_trigger(one) == ("trigger" in description["group"])
        if isinstance(description["outputs"], list):
            assert outputs_of(one) == len(description["outputs"])
        if isinstance(description["inputs"], list):
            assert inputs_of(one) == len(description["inputs"])


def test_operators_of_conditions_exist_in_n8n() -> None:
    files = [
        path.parents[3] / "n8n-workflow/dist/cjs/node-parameters/filter-parameter.js"
        for path in installations()
    ]
    code = next((path.read_text(encoding="utf-8") for path in files if path.is_file()), None)
    if code is None:
        reason = "no n8n engine with n8n-workflow is installed, run `orgflowc engine install`"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    filters = document("urn:orgflow:schema:n8n-filter:1")["$defs"]
    compared = 0
    for part in filters["condition"]["allOf"]:
        kind = part["if"]["$ref"].rpartition("/")[2].removeprefix("is")
        if kind == "Unary":
            continue
        kind = kind[0].lower() + kind[1:]
        block = code.partition(f"case '{kind}': {{")[2].partition("\n        case '")[0]
        known = part["then"]["properties"]["operator"]["properties"]["operation"]["enum"]
        for operation in set(known) - {"exists", "notExists"}:
            assert f"'{operation}'" in block, f"n8n does not compare {kind} by {operation}"
            compared += 1
    assert compared > 20
