"""Forms, mappings, scripts, calls, decisions and requests of three vendors, run on n8n's engine.

`vendor_work/*.toml` has the models of a vendor each. What a run leaves was written down from the
manual that `source` names, before the model was compiled.

A case has `steps` (elements of the process; a plain start `s` and an end `e`, “Done”, are added),
`wires` (`source>target:condition`, flows `f0`, `f1` …), `flow` (content of a flow by id), `process`
and `before` (content of the process, and before it), `files` beside the model, and `http`, answers
by path. `HTTP` in a model is the address of the server. A run has `given` (variables) or `start`
(fields of the page), `stubs` and `answers` by node, and what it leaves: `ends`, `variables`,
`absent`, `into` (what a step is given), `visits`, `sent` and `mail`. `reports` is in a diagnostic.
`gap` says what of the case is not done yet; it has to fail until then.
A last step, “Look”, reads the variables that every run leaves.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from engine_fixture import missing
from one_task import HEAD
from orgflow import compiler
from orgflow.backends.n8n.engine.install import engine_status
from orgflow.backends.n8n.engine.local import EngineRun, LocalEngine, RunRequest
from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model
from outside_servers import HttpServer, MailServer, outside
from played_models import ONE_EXECUTION

from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

Json = dict[str, Any]
FOLDER = Path(__file__).parent / "vendor_work"
CASES: list[tuple[str, Json]] = [
    (f"{path.stem}: {case['name']}", case)
    for path in sorted(FOLDER.glob("*.toml"))
    for case in tomllib.loads(path.read_text("utf-8"))["case"]
]
VERSIONS = ("2.41", "1.123")
NAMED = re.compile(r"support the (topic|job) `\w+` of .* in its note$")
"""A task whose work is only named becomes a placeholder, which a run gets answers for."""


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[HttpServer, MailServer]]:
    with outside() as found:
        yield found


@pytest.fixture(scope="module")
def engine(servers: tuple[HttpServer, MailServer]) -> Iterator[LocalEngine]:
    if not engine_status().installed:
        missing("n8n's engine is not installed")
    http, mail = servers
    with LocalEngine(reach=(http.place, mail.place), credentials={"smtp": mail.credential}) as it:
        yield it


def model(case: Json) -> str:
    """The BPMN file of a case."""
    steps = case["steps"]
    if "<startEvent" not in steps:
        steps = f'<startEvent id="s"/>{steps}'
    if 'id="e"' not in steps:
        steps += '<endEvent id="e" name="Done"/>'
    wires = case.get("wires", "s>t t>e").split()
    if looked := looked_at(case):
        unset = dict.fromkeys(name for run in case["run"] for name in run.get("absent", ()))
        pairs = ", ".join(f"{name}: {name}" for name in looked)
        pairs += "".join(f", {name}: {name} == null ? null : {name}" for name in unset)
        steps += (
            '<scriptTask id="look" name="Look" scriptFormat="groovy"><script>'
            f"execution.setVariable('looked', [{pairs}])</script></scriptTask>"
        )
        wires = [re.sub(">e(?=:|$)", ">look", wire) for wire in wires] + ["look>e"]
    flows = []
    for at, wire in enumerate(wires):
        ends, _, condition = wire.partition(":")
        source, target = ends.split(">")
        inside = case.get("flow", {}).get(f"f{at}", "")
        if condition:
            text = condition.replace("<", "&lt;").replace(">", "&gt;")
            inside += f"<conditionExpression>{text}</conditionExpression>"
        flows.append(
            f'<sequenceFlow id="f{at}" sourceRef="{source}" targetRef="{target}">{inside}'
            "</sequenceFlow>"
        )
    head = HEAD.replace("<process", case.get("before", "") + "<process")
    return f"{head}{case.get('process', '')}{steps}{''.join(flows)}</process></definitions>"


def looked_at(case: Json) -> list[str]:
    """Variables that every run to the end leaves: a last step reads them, as only variables that
    are read are kept."""
    runs = [set(run.get("variables", {})) for run in case["run"] if "ends" not in run]
    return sorted(set.intersection(*runs)) if runs else []


def written(case: Json, folder: Path, place: str) -> Path:
    """The files of a case; the path of its model."""
    for name, text in case.get("files", {}).items():
        if name.endswith(".bpmn"):
            text = f"{HEAD.partition('<process')[0]}{text}</definitions>"
        (folder / name).write_text(text, "utf-8")
    path = folder / "model.bpmn"
    path.write_text(model(case).replace("HTTP/", f"http://{place}/"), "utf-8")
    return path


def workflows(path: Path, version: str) -> tuple[list[Json], list[str]]:
    """The workflows of a model with those it calls, and all messages."""
    registry = Registry()
    ctx = PassContext(registry=registry, given=[str(path)])
    read = load_model(str(path), registry, ctx)
    assert read is not None, ctx.diagnostics
    backend = registry.backends["n8n"]
    # what is in the place of work that is only named is put into the workflow itself
    options = {"stubs": "placeholder", "version": version, **ONE_EXECUTION}
    model = compiler.add_called_processes(read, backend, ctx)
    made = compile_model(model, backend, ctx, options=options)
    said = [f"{d.code} {d.message}" for d in ctx.diagnostics]
    assert made is not None, said
    return [json.loads(artifact.text) for artifact in made.artifacts], said


def started(row: Json) -> Json:
    """The item that the trigger hands on: of a page with what n8n puts beside the answers."""
    page = {"submittedAt": "2024-01-01T00:00:00.000Z", "formMode": "production"}
    return {**row["start"], **page} if "start" in row else row.get("given", {})


def items(run: EngineRun, node: str) -> Mapping[str, Any]:
    """The item that the last visit of a node hands on."""
    found = [one for one in run.order if one.node == node and one.items and one.items[0]]
    assert found, f"{node} did not run: {[one.node for one in run.order]}"
    assert found[-1].items is not None
    return found[-1].items[0][0]


def differences(run: EngineRun, wanted: Json, starts: Mapping[str, str]) -> Iterator[str]:
    """In what a run is not as the manual has it."""
    if run.status != "success":
        yield f"{run.status}: {run.error}"
        return
    end = run.order[-1].node
    if end != wanted.get("ends", "Done"):
        yield f"it ends at {end}"
        return
    left = items(run, end)
    if "looked" in left:
        left = {**{n: left.get(n) for n in wanted["variables"] if n in left}, **left["looked"]}
    for name, value in wanted.get("variables", {}).items():
        if name not in left or left[name] != value or type(left[name]) is not type(value):
            yield f"{name} is {left.get(name, 'unset')!r}, not {value!r}"
    for name in wanted.get("absent", ()):
        if left.get(name) is not None:
            yield f"{name} is {left[name]!r}, not unset"
    for node, fields in wanted.get("into", {}).items():
        given = items(run, starts[node])
        for name, value in fields.items():
            if given.get(name) != value:
                yield f"{node} is given {name} = {given.get(name)!r}, not {value!r}"
    for node, count in wanted.get("visits", {}).items():
        visits = sum(one.node == node for one in run.order)
        if visits != count:
            yield f"{node} ran {visits} times, not {count}"


def sent(wanted: Json, http: HttpServer, mail: MailServer) -> Iterator[str]:
    """In what the last request and mail differ."""
    if (request := wanted.get("sent")) is not None:
        got = http.received[-1]
        for name in ("method", "path", "body"):
            if name in request and request[name] != getattr(got, name):
                yield f"{name} is {getattr(got, name)!r}, not {request[name]!r}"
        if "json" in request and json.loads(got.body) != request["json"]:
            yield f"the body is {got.body}, not {request['json']}"
        for name, text in request.get("headers", {}).items():
            if got.headers.get(name) != text:
                yield f"{name} is {got.headers.get(name)!r}, not {text!r}"
    if (request := wanted.get("mail")) is not None:
        to, message = mail.mails[-1]
        body = message.get_body()
        assert body is not None
        text = body.get_content().strip()
        for name, found in (("to", to), ("subject", message["subject"]), ("text", text)):
            if found != request[name]:
                yield f"{name} is {found!r}, not {request[name]!r}"


def cases() -> Iterator[Any]:
    """Every case; those with a gap fail."""
    for name, case in CASES:
        gap = case.get("gap")
        marks = [pytest.mark.xfail(strict=True, reason=gap)] if gap else []
        yield pytest.param(name, case, id=name, marks=marks)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("name", "case"), cases())
def test_it_runs_as_the_manual_has_it(
    engine: LocalEngine,
    servers: tuple[HttpServer, MailServer],
    tmp_path: Path,
    name: str,
    case: Json,
    version: str,
) -> None:
    http, mail = servers
    for path, (code, kind, text) in case.get("http", {}).items():
        http.answer(path, (code, kind, text))
    (root, *called), said = workflows(written(case, tmp_path, http.place), version)
    if "reports" in case:
        assert [one for one in said if case["reports"] in one], said
    else:
        assert [one for one in said if re.match("OF40[345]", one) and not NAMED.search(one)] == []
    for node in root["nodes"]:
        if node["type"].endswith("emailSend"):
            node["credentials"] = {"smtp": {"id": "c1", "name": "mine"}}
    trigger = next(n["name"] for n in root["nodes"] if n["type"].endswith(("Trigger", "webhook")))
    wrong = []
    for row in case["run"]:
        stubs = {
            node: {"visits": visits, "mode": "replace" if row.get("replaces") else "merge"}
            for node, visits in row.get("stubs", {}).items()
        }
        request = RunRequest(
            root,
            trigger,
            items=[{"json": started(row)}],
            workflows={one["id"]: one for one in called} or None,
            stubs=stubs or None,
            answers=row.get("answers"),
            data=True,
        )
        (run,) = engine.run_many([request])
        names = {n["name"] for n in root["nodes"]}
        starts = {node: f"{node} inputs" if f"{node} inputs" in names else node for node in stubs}
        wrong += [*differences(run, row, starts), *sent(row, http, mail)]
    assert wrong == []
