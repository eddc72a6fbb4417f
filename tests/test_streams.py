"""Which stream a command uses for what, over all commands: the table of `docs/checking.md`.

Results go to standard output and everything else to standard error; where the result is about
findings, its JSON is one document with all of them. A reader that stops at once changes nothing.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from cli_cases import DEADLOCK, LINEAR, orgflowc
from n8n_stand_in import KEY, StandIn
from orgflow.cli import orgflowc as command_line

ROOT = Path(__file__).resolve().parent.parent
MAIL = "From: {0}\nTo: b@x.org\nDate: Mon, 2 Mar 2026 10:0{1}:00 +0000\nSubject: S\n\nHello {0}.\n"
FINDING = re.compile(r"^(?:error|warning|info) OF\d{3}", re.MULTILINE)


class Case(NamedTuple):
    """A command line that succeeds, and how its standard output begins.

    Attributes:
        line: the command line, with placeholders for files.
        begins: a regular expression for the beginning of the result.
        row: the row of the table in the documentation that describes its streams.
    """

    line: str
    begins: str
    row: str


VERDICT, ARTIFACT, LINES, TABLE = "verdict", "artifact", "lines", "table"
CASES = {
    "check": Case("check {clean}", ".*OF501", VERDICT),
    "verify": Case("verify {clean} {workflow}", "proved", VERDICT),
    "diff": Case("diff {clean} {clean}", "Order: same", VERDICT),
    "run": Case("run {clean} --engine model", "", VERDICT),
    "deploy": Case("deploy {hook}", "created", VERDICT),
    "undeploy": Case("undeploy {hook}", "removed", VERDICT),
    "compile": Case("compile {clean} --target n8n", r"\{", ARTIFACT),
    "fill": Case("fill {clean} --no-model", r"<\?xml", ARTIFACT),
    "model": Case("model {text} --no-model", r"<\?xml", ARTIFACT),
    "opt": Case("opt {clean} --passes references --time", r"\{", ARTIFACT),
    "trace": Case("trace {clean}", r'\{"version"', ARTIFACT),
    "discover": Case("discover {store} --no-model", "", ARTIFACT),
    "completion": Case("completion bash", "#", ARTIFACT),
    "ingest": Case("ingest {mail} --store {new_store}", "", LINES),
    "synth": Case("synth {clean} -o {corpus}", ".*corpus: ", LINES),
    "new": Case("new pass tidy -o {package}", "", LINES),
    "list": Case("list backends", "", LINES),
    "explain": Case("explain OF201", "OF201", LINES),
    "engine": Case("engine status --target asl", "engine: installed", LINES),
    "eval": Case("eval fill {filled}", "model,", TABLE),
}
LONG = {"serve", "watch", "lsp"}
"""Commands that go on until somebody ends them; `tests/test_serve.py`, `tests/test_watch.py` and
`tests/language_server` are about their streams."""
ELSEWHERE = {"cancel", "fmt", "heal", "instances", "tasks"}
"""Commands whose streams `server/test_open_work.py` and `test_outline_reading.py` are about."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of messages, which `discover` only reads."""
    folder = tmp_path_factory.mktemp("messages") / "store"
    mails = ROOT / "examples" / "from-mail" / "workshop.mbox"
    assert orgflowc("ingest", mails, "--store", folder).code == 0
    return folder


@pytest.fixture
def places(tmp_path: Path, store: Path) -> dict[str, str]:
    """The placeholders of command lines; what is written goes into the test's own folder."""
    hook = LINEAR.replace(
        '<startEvent id="start" name="Order received" />',
        '<startEvent id="start" name="Order received"><messageEventDefinition/></startEvent>',
    )
    texts = {
        "clean": ("order.bpmn", LINEAR),
        "hook": ("hook.bpmn", hook),
        "deadlock": ("deadlock.bpmn", DEADLOCK),
        "text": ("order.txt", "The clerk checks the order. Then the clerk ships the goods.\n"),
        "mail": ("a.eml", MAIL.format("a@x.org", 1)),
    }
    found = {name: tmp_path / file for name, (file, _) in texts.items()}
    for name, (_, text) in texts.items():
        found[name].write_text(text)
    for name in ("workflow.json", "new_store", "corpus", "package", "filled"):
        found[name.removesuffix(".json")] = tmp_path / name
    return {name: str(path) for name, path in found.items()} | {"store": str(store)}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    made = StandIn()
    monkeypatch.setenv("N8N_URL", made.url)
    monkeypatch.setenv("N8N_API_KEY", KEY)
    yield
    made.close()


def prepared(name: str, places: dict[str, str]) -> list[str]:
    """The arguments of a case, with everything there that the command needs."""
    if name == "verify":
        orgflowc("compile", places["clean"], "--target", "n8n", "-o", places["workflow"])
    if name == "undeploy":
        orgflowc("deploy", places["hook"])
    if name == "eval":
        folder = Path(places["filled"])
        folder.mkdir()
        (folder / "order.bpmn").write_text(LINEAR)
        (folder / "order.filled.json").write_text("{}")
    return CASES[name].line.format(**places).split()


def options(name: str) -> set[str]:
    command = command_line.get_command(None, name)  # type: ignore[arg-type]
    return {option for parameter in command.params for option in parameter.opts}  # type: ignore[union-attr]


WITH_FORMAT = sorted(name for name in CASES if "--format" in options(name))
WITH_QUIET = sorted(name for name in CASES if "--quiet" in options(name))


def test_every_command_has_a_case() -> None:
    assert {*CASES} | LONG | ELSEWHERE == {*command_line.list_commands(None)}  # type: ignore[arg-type]
    assert len(WITH_FORMAT) >= 12
    assert len(WITH_QUIET) >= 11


@pytest.mark.parametrize("name", CASES)
def test_results_are_on_standard_output(name: str, places: dict[str, str], server: None) -> None:
    ran = orgflowc(*prepared(name, places))
    assert ran.code == 0, ran
    assert re.match(CASES[name].begins, ran.out), ran
    assert ran.out, ran
    assert "orgflowc: " not in ran.err
    if name != "check":
        assert not FINDING.search(ran.out)


@pytest.mark.parametrize("name", WITH_FORMAT)
def test_json_is_one_document_a_stream(name: str, places: dict[str, str], server: None) -> None:
    """Standard error is empty where the result carries the findings, else it is the findings."""
    ran = orgflowc(*prepared(name, places), "--format", "json")
    assert ran.code == 0, ran
    if CASES[name].row == VERDICT:
        assert ran.err == ""
        document = json.loads(ran.out)
        assert document["diagnostics"] is not None
        assert set(document["summary"]) >= {"error", "warning"}
    else:
        assert json.loads(ran.err)["format"] == "orgflow-diagnostics"


@pytest.mark.parametrize("name", WITH_QUIET)
def test_quiet_leaves_the_result_alone(name: str, places: dict[str, str], server: None) -> None:
    ran = orgflowc(*prepared(name, places), "--quiet")
    assert (ran.code, ran.err) == (0, ""), ran
    assert bool(ran.out) is (name != "check")


@pytest.mark.parametrize("name", CASES)
def test_a_reader_that_stops_changes_nothing(
    name: str, places: dict[str, str], server: None
) -> None:
    """`| head -1`: no traceback, and the exit code of the command. `tests/test_cli.py` also closes
    standard error."""
    nobody, pipe = os.pipe()
    os.close(nobody)
    with open(pipe, "wb") as broken:
        done = subprocess.run(
            [sys.executable, "-m", "orgflow.cli", *prepared(name, places)],
            stdout=broken, stderr=subprocess.PIPE, text=True, check=False, timeout=120,
        )  # fmt: skip
    assert done.returncode == 0, done
    assert "orgflowc: " not in done.stderr
    assert "Traceback" not in done.stderr


def test_the_table_of_the_documentation_names_every_command_in_its_row() -> None:
    text = (ROOT / "docs" / "checking.md").read_text("utf-8")
    table = text.split("## Output streams\n")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    named = [set(re.findall(r"`([a-z]+)`", row)) for row in rows]
    expected = [
        {name for name, case in CASES.items() if case.row == row and name != "check"}
        for row in (VERDICT, ARTIFACT, LINES, TABLE)
    ]
    assert named == [{"check"}, *expected, LONG - {"lsp"}, {"lsp"}]
