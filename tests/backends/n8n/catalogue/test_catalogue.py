"""The catalogue of an installed n8n; n8n's own resolution of parameters is the referee."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from engine_fixture import missing
from orgflow.backends.n8n.backend import N8nBackend
from orgflow.backends.n8n.catalogue.display import SILENT, comparison_kinds, list_visible
from orgflow.backends.n8n.catalogue.node_catalogue import FILE, N8nCatalogue, read_catalogue
from orgflow.backends.n8n.engine.engine_folder import engine_dir
from orgflow.backends.n8n.engine.install import engine_status
from orgflow.backends.n8n.engine.node import find_node
from random_parameters import random_values
from seeds import at_least, seeds

from orgflow_ir.model.bindings import Parameter, Worker
from orgflow_ir.pipeline.operation_catalogue import CatalogueError, Operation

REFEREE = Path(__file__).parents[3] / "support" / "node_parameters.cjs"


@pytest.fixture(scope="module")
def catalogue() -> N8nCatalogue:
    if not engine_status().installed:
        missing("n8n's engine is not installed")
    return read_catalogue(engine_dir())


@pytest.fixture(scope="module")
def referee() -> Iterator[Any]:
    """Asks n8n-workflow what it makes of the parameters of a node."""
    if not engine_status().installed:
        missing("n8n's engine is not installed")
    command = [str(find_node().path), str(REFEREE), str(engine_dir() / "node_modules")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        into, out = child.stdin, child.stdout

        def ask(name: str, version: float, values: dict[str, Any]) -> dict[str, Any]:
            into.write(json.dumps({"name": name, "version": version, "values": values}) + "\n")
            into.flush()
            answer: dict[str, Any] = json.loads(out.readline())
            return answer

        yield ask
        into.close()


def named(catalogue: N8nCatalogue, ending: str) -> Operation:
    """The one operation whose id ends so, whatever the version of its node."""
    short, _, rest = ending.partition(":")
    found = [
        o for o in catalogue.operations
        if o.id.split("@")[0] == f"n8n-nodes-base.{short}" and o.id.partition(":")[2] == rest
    ]  # fmt: skip
    assert len(found) == 1, found
    return found[0]


def test_every_operation_has_a_schema(catalogue: N8nCatalogue) -> None:
    assert len(catalogue.operations) > 2000
    assert len({o.id for o in catalogue.operations}) == len(catalogue.operations)
    share = [o for i, o in enumerate(catalogue.operations) if i in seeds(len(catalogue.operations))]
    for operation in share:
        schema = catalogue.schema(operation, {})
        jsonschema.Draft202012Validator.check_schema(schema)
        assert set(schema["required"]) <= set(schema["properties"]), operation.id
        for name, value in operation.fixed:
            assert schema["properties"][name] == {"const": value}, operation.id
        for blank in catalogue.blanks(operation, {}):
            assert blank.path in schema["properties"], operation.id


def test_every_condition_of_every_description_is_known() -> None:
    if not engine_status().installed:
        missing("n8n's engine is not installed")
    file = engine_dir() / "node_modules" / FILE
    types = json.loads(file.read_text("utf-8"))
    kinds = {kind for one in types for kind in comparison_kinds(one["properties"])}
    assert kinds <= {
        "eq", "not", "gte", "lte", "gt", "lt", "between", "includes", "startsWith", "endsWith",
        "regex", "exists",
    }  # fmt: skip
    assert len(kinds) > 5


def test_no_operation_runs_code_or_waits_or_starts(catalogue: N8nCatalogue) -> None:
    names = {o.id.split("@")[0].removeprefix("n8n-nodes-base.") for o in catalogue.operations}
    assert not names & {"code", "function", "executeCommand", "ssh", "if", "merge", "wait"}
    assert not [name for name in names if name.lower().endswith("trigger")]
    assert not [o.id for o in catalogue.operations if o.id.endswith(("sendAndWait", "CUSTOM"))]
    assert {"slack", "gmail", "httpRequest", "googleSheets", "emailSend", "postgres"} <= names


def test_n8n_shows_what_we_show(catalogue: N8nCatalogue, referee: Any) -> None:
    rng = random.Random(7)
    chosen = rng.sample(list(catalogue.operations), len(seeds(4000)))
    nested = 0
    for operation in chosen:
        kind = catalogue.type_of(operation)
        given = random_values(
            lambda v, o=operation: catalogue.schema(o, v), dict(operation.fixed), rng
        )
        said = referee(kind.name, kind.version, given)
        shown = {entry["name"] for entry in list_visible(kind.properties, given, kind.version)}
        assert shown == set(said["names"]), (operation.id, given)
        for name, value in given.items():
            kept = said["resolved"][name]
            if isinstance(value, dict):
                nested += _members_kept(value, kept, (operation.id, name, given))
            else:
                assert kept == value, (operation.id, name, given)
    assert len(chosen) >= 400
    assert nested > at_least(500)


def _members_kept(given: Any, kept: Any, where: Any) -> int:
    """How many members n8n keeps; each of those that were given."""
    if isinstance(given, dict):
        assert isinstance(kept, dict), where
        assert set(given) <= set(kept), where
        return len(given) + sum(_members_kept(v, kept[n], where) for n, v in given.items())
    if isinstance(given, list):
        assert isinstance(kept, list), where
        assert len(given) == len(kept), where
        return sum(_members_kept(a, b, where) for a, b in zip(given, kept, strict=True))
    assert kept == given, where
    return 0


def test_what_is_hidden_is_no_part_of_the_schema(catalogue: N8nCatalogue, referee: Any) -> None:
    rng = random.Random(11)
    hidden = 0
    for operation in rng.sample(list(catalogue.operations), 100):
        kind = catalogue.type_of(operation)
        said = referee(kind.name, kind.version, dict(operation.fixed))
        schema = catalogue.schema(operation, {})
        silent = {e["name"] for e in kind.properties if e.get("type") in SILENT}
        names = {e["name"] for e in kind.properties} - set(said["names"]) - silent
        hidden += len(names)
        assert not names & set(schema["properties"]), operation.id
        for name in sorted(names)[:2]:
            assert not catalogue.accepts_input(operation, {}, name), (operation.id, name)
    assert hidden > 1000


def test_n8n_misses_what_we_say_is_missing(catalogue: N8nCatalogue, referee: Any) -> None:
    rng = random.Random(13)
    found = 0
    for operation in rng.sample(list(catalogue.operations), 200):
        kind = catalogue.type_of(operation)
        said = set(referee(kind.name, kind.version, dict(operation.fixed))["missing"])
        given = dict(operation.fixed)
        shown = {e["name"]: e for e in list_visible(kind.properties, given, kind.version)}
        ours = {blank.path for blank in catalogue.blanks(operation, {})}
        assert said <= ours, (operation.id, ours, said)
        for name in ours - said:  # n8n does not look at empty lists, numbers and groups
            assert shown[name].get("default") != "" or shown[name]["type"] not in (
                "string", "options", "dateTime",
            ), (operation.id, name)  # fmt: skip
        found += len(said)
    assert found > 50


def test_conditions_of_versions_hold(catalogue: N8nCatalogue) -> None:
    kind = catalogue.types[
        next(k for k in catalogue.types if k.startswith("n8n-nodes-base.slack@"))
    ]
    entry = {"displayOptions": {"show": {"@version": [{"_cnd": {"gte": 2.2}}]}}, "name": "x"}
    assert [e["name"] for e in list_visible([entry], {}, kind.version)] == ["x"]
    assert [e["name"] for e in list_visible([entry], {}, 2.1)] == []


def test_a_parameter_shows_after_its_decider_is_set(catalogue: N8nCatalogue) -> None:
    post = named(catalogue, "slack:message:post")
    assert "channelId" not in catalogue.schema(post, {})["properties"]
    assert "channelId" in catalogue.schema(post, {"select": "channel"})["properties"]
    assert [b.path for b in catalogue.blanks(post, {})] == ["select", "text"]
    assert [b.path for b in catalogue.blanks(post, {"select": "channel"}, ("text",))] == [
        "channelId"
    ]
    hidden = {"select": "user", "channelId": {"__rl": True, "mode": "id", "value": "C1"}}
    errors = jsonschema.Draft202012Validator(catalogue.schema(post, hidden)).iter_errors(hidden)
    assert any("channelId" in error.message for error in errors)


def test_texts_are_no_expressions(catalogue: N8nCatalogue) -> None:
    send = named(catalogue, "emailSend:send")
    schema = catalogue.schema(send, {})
    good = {"fromEmail": "a@example.org", "toEmail": "b@example.org"}
    assert not list(jsonschema.Draft202012Validator(schema).iter_errors(good))
    bad = {**good, "toEmail": "={{ $env.SECRET }}"}
    assert list(jsonschema.Draft202012Validator(schema).iter_errors(bad))


def test_inputs_go_to_what_may_be_computed(catalogue: N8nCatalogue) -> None:
    post = named(catalogue, "slack:message:post")
    values = {"select": "channel"}
    assert catalogue.accepts_input(post, values, "text")
    assert catalogue.accepts_input(post, values, "channelId")
    assert catalogue.accepts_input(post, values, "otherOptions.mrkdwn")
    assert not catalogue.accepts_input(post, values, "resource")
    assert not catalogue.accepts_input(post, values, "user")
    assert not catalogue.accepts_input(post, values, "otherOptions")
    assert not catalogue.accepts_input(post, values, "nothing.at.all")


def test_the_binding_of_an_operation(catalogue: N8nCatalogue) -> None:
    post = named(catalogue, "slack:message:post")
    inputs = (Parameter(name="text", text="=message", language="feel"),)
    made = catalogue.binding(post, {"select": "channel"}, inputs)
    assert isinstance(made, Worker)
    assert made.by == "catalogue"
    assert str(made.target).startswith("n8n:n8n-nodes-base.slack@2")
    assert dict(made.parameters)["select"] == '"channel"'
    assert dict(made.parameters)["operation"] == '"post"'
    assert made.inputs == (*inputs, Parameter(name="channelId"))
    assert json.loads(dict(made.parameters)["channelId"]) == {
        "__rl": True, "mode": "id", "value": "(fill in: Channel)",
    }  # fmt: skip
    assert json.loads(dict(made.parameters)["@accounts"]) == ["slackApi"]


def test_accounts(catalogue: N8nCatalogue) -> None:
    assert named(catalogue, "slack:message:post").accounts == ("slackApi",)
    assert named(catalogue, "emailSend:send").accounts == ("smtp",)
    assert named(catalogue, "httpRequest").accounts == ()
    target = named(catalogue, "slack:message:post").id.split(":")[0]
    assert catalogue.credentials(target, {"authentication": "oAuth2"}) == ("slackOAuth2Api",)


def test_the_backend_finds_the_installed_catalogue(tmp_path: Path) -> None:
    found = N8nBackend().catalogue()
    assert found.operations
    assert found is N8nBackend().catalogue()  # read once
    with pytest.raises(CatalogueError, match="engine install"):
        N8nBackend().catalogue(str(tmp_path))
    broken = tmp_path / "nodes.json"
    broken.write_text('[{"name": 3}]')
    with pytest.raises(CatalogueError, match="no descriptions"):
        N8nBackend().catalogue(str(broken))
