"""Findings that somebody accepts: in the model, in orgflow.toml; folders; the pre-commit hook."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bpmn_text import process
from cli_cases import LINEAR, orgflowc
from orgflow.commands.project.configuration import _matches_pattern
from orgflow.frontends.bpmn.bpmn_reading import SUPPRESS

from orgflow_ir.reporting.suppression import KEY

ROOT = Path(__file__).resolve().parent.parent
TWICE = (
    '<startEvent id="s"/><parallelGateway id="f"/><task id="a" name="A"/><task id="b" name="B"/>'
    '<exclusiveGateway id="g" name="Go on" ATTRIBUTE/><task id="c" name="C"/><endEvent id="e"/>'
    '<sequenceFlow id="f0" sourceRef="s" targetRef="f"/>'
    '<sequenceFlow id="f1" sourceRef="f" targetRef="a"/>'
    '<sequenceFlow id="f2" sourceRef="f" targetRef="b"/>'
    '<sequenceFlow id="f3" sourceRef="a" targetRef="g"/>'
    '<sequenceFlow id="f4" sourceRef="b" targetRef="g"/>'
    '<sequenceFlow id="f5" sourceRef="g" targetRef="c"/>'
    '<sequenceFlow id="f6" sourceRef="c" targetRef="e"/>'
)
"""OF203 at `g`, which merges parallel branches; ATTRIBUTE may become a suppression."""


def model(attribute: str = "", at_process: str = "") -> str:
    text = process(TWICE.replace("ATTRIBUTE", attribute))
    assert "<process " in text
    return text.replace("<process ", f'<process xmlns:orgflow="urn:orgflow" {at_process} ')


def found(path: Path, *more: str) -> tuple[int, list[tuple[str, str | None]]]:
    """Exit code of `check`, and code and acceptance of each finding that is no gap."""
    ran = orgflowc("check", path, "--format", "json", *more, cwd=path.parent)
    shown = json.loads(ran.out)["diagnostics"]
    return ran.code, [(d["code"], d.get("suppressed")) for d in shown if d["category"] != "gap"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()  # nothing above it counts
    return tmp_path


def write(folder: Path, text: str, name: str = "m.bpmn") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_the_frontend_keeps_what_is_looked_for() -> None:
    assert f"@{{urn:orgflow}}{SUPPRESS}" == KEY


def test_without_a_suppression_it_is_an_error(folder: Path) -> None:
    assert found(write(folder, model())) == (1, [("OF203", None)])


@pytest.mark.parametrize(
    ("attribute", "at_process", "reason"),
    [
        ('orgflow:suppress="OF203: twice is right"', "", "twice is right"),
        ('orgflow:suppress="work-done-twice: twice is right"', "", "twice is right"),
        ('orgflow:suppress="OF203: twice; and again"', "", "twice; and again"),
        ("", 'orgflow:suppress="OF203: all of it"', "all of it"),
    ],
)
def test_in_the_model(folder: Path, attribute: str, at_process: str, reason: str) -> None:
    path = write(folder, model(attribute, at_process))
    assert found(path) == (0, [("OF203", reason)])
    ran = orgflowc("check", path)
    assert re.search(r"^3 infos, 1 suppressed in ", ran.out, re.MULTILINE)
    assert f"  accepted: {reason}\n" in orgflowc("check", path, "-v").out


@pytest.mark.parametrize(
    ("attribute", "said"),
    [
        ('orgflow:suppress="OF203"', "it states no reason for `OF203`"),
        ('orgflow:suppress="OF203:  "', "it states no reason for `OF203`"),
        ('orgflow:suppress="OF299: because"', "there is no rule `OF299`"),
        ('orgflow:suppress="please"', "there is no rule `please`"),
        ('orgflow:suppress="OF010: because"', "it is not about the content of a model"),
    ],
)
def test_what_has_no_effect_is_said(folder: Path, attribute: str, said: str) -> None:
    path = write(folder, model(attribute))
    code, shown = found(path)
    assert (code, sorted(shown)) == (1, [("OF006", None), ("OF203", None)])
    text = " ".join(orgflowc("check", path).out.split())
    assert said in text


def test_what_nothing_needs_is_said(folder: Path) -> None:
    text = model('orgflow:suppress="OF203: right; OF201: an old one"')
    assert found(write(folder, text)) == (0, [("OF203", "right"), ("OF005", None)])
    assert found(write(folder, text), "--strict")[0] == 1


def test_what_only_a_target_finds_is_not_unused_without_one(folder: Path) -> None:
    path = write(folder, LINEAR.replace("<process ", "<process " + (
        'xmlns:orgflow="urn:orgflow" orgflow:suppress="OF421: one after the other is right" '
    )))  # fmt: skip
    assert found(path) == (0, [])
    assert found(path, "--target", "n8n") == (0, [("OF005", None)])


def test_an_error_stays_one_for_compile(folder: Path) -> None:
    deadlock = TWICE.replace("exclusiveGateway", "parallelGateway").replace(
        'parallelGateway id="f"', 'exclusiveGateway id="f"'
    )
    text = process(deadlock.replace("ATTRIBUTE", 'orgflow:suppress="OF201: no"'))
    path = write(folder, text.replace("<process ", '<process xmlns:orgflow="urn:orgflow" '))
    assert found(path)[0] == 0
    ran = orgflowc("compile", path, "--target", "n8n")
    assert (ran.code, ran.out) == (1, "")
    assert "error OF201" in ran.err


def test_compile_hides_an_accepted_warning(folder: Path) -> None:
    path = write(folder, model('orgflow:suppress="OF203: right"'))
    ran = orgflowc("compile", path, "--target", "ir")
    assert ran.code == 0
    assert "OF203" not in ran.err
    assert '"@{urn:orgflow}suppress"' in ran.out, "it travels with the model"


def test_it_survives_bpmn(folder: Path) -> None:
    path = write(folder, model('orgflow:suppress="OF203: right"'))
    again = folder / "again.bpmn"
    assert orgflowc("compile", path, "--target", "bpmn", "-o", again).code == 0
    assert found(again) == (0, [("OF203", "right")])


CONFIGURED = '[[suppress]]\nrule = "OF203"\nreason = "sent twice is right"\n'


@pytest.mark.parametrize(
    "more",
    ["", 'files = ["models"]\n', 'files = ["models/*.bpmn"]\n', 'files = ["**/m.bpmn"]\n',
     'elements = ["g"]\n', 'elements = ["Go on"]\n'],
)  # fmt: skip
def test_in_a_file(folder: Path, more: str) -> None:
    write(folder, CONFIGURED + more, "orgflow.toml")
    path = write(folder, model(), "models/m.bpmn")
    assert found(path) == (0, [("OF203", "sent twice is right")])


@pytest.mark.parametrize("more", ['files = ["other/*.bpmn"]\n', 'elements = ["h"]\n'])
def test_a_file_is_for_what_it_names(folder: Path, more: str) -> None:
    write(folder, CONFIGURED + more, "orgflow.toml")
    code, shown = found(write(folder, model(), "models/m.bpmn"))
    assert code == 1
    assert ("OF203", None) in shown
    assert (("OF005", None) in shown) == ("elements" in more), "judged only where it was for a file"


def test_the_nearest_file_counts_and_none_beyond_the_repository(folder: Path) -> None:
    write(folder, CONFIGURED, "orgflow.toml")
    path = write(folder, model(), "inner/m.bpmn")
    write(folder, "", "inner/orgflow.toml")
    assert found(path)[0] == 1
    (folder / "inner" / "orgflow.toml").unlink()
    assert found(path)[0] == 0
    (folder / "inner" / ".git").mkdir()
    assert found(path)[0] == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[suppress]\n", "is not TOML"),
        ("[[supress]]\n", "unknown key `supress`"),
        ("suppress = 3\n", "not a list of tables"),
        ('[[suppress]]\nrule = "OF203"\nreason = "x"\nfile = "y"\n', "unknown key `file`"),
        ('[[suppress]]\nrule = 203\nreason = "x"\n', "`rule` of a suppression is not a text"),
        ('[[suppress]]\nrule = "OF203"\nreason = "x"\nfiles = "y"\n', "not a list of texts"),
    ],
)
def test_a_file_that_cannot_be_read(folder: Path, text: str, said: str) -> None:
    write(folder, text, "orgflow.toml")
    ran = orgflowc("check", write(folder, LINEAR))
    assert ran.code == 1
    assert "OF004 [invalid-configuration]" in ran.out
    assert said in " ".join(ran.out.split())


@pytest.mark.parametrize("text", ['rule = "OF203"\n', 'reason = "x"\n', 'rule = "OF2"\nreason="x"'])
def test_an_entry_without_effect(folder: Path, text: str) -> None:
    write(folder, f"# ours\n\n[[suppress]]\n{text}", "orgflow.toml")
    ran = orgflowc("check", write(folder, LINEAR), cwd=folder)
    assert ran.code == 0
    assert ran.out.startswith("orgflow.toml:3:1: warning OF006 [faulty-suppression]")


def test_sarif_says_so(folder: Path) -> None:
    path = write(folder, model('orgflow:suppress="OF203: right"'))
    shown = json.loads(orgflowc("check", path, "--format", "sarif").out)["runs"][0]["results"]
    (result,) = [r for r in shown if r["ruleId"] == "OF203"]
    assert result["suppressions"] == [{"kind": "external", "justification": "right"}]


@pytest.mark.parametrize(
    ("path", "pattern", "fits"),
    [
        ("a.bpmn", "*.bpmn", True), ("x/a.bpmn", "*.bpmn", False), ("x/a.bpmn", "**/*.bpmn", True),
        ("a.bpmn", "**/*.bpmn", True), ("x/y/a.bpmn", "x", True), ("xy/a.bpmn", "x", False),
        ("x/a.bpmn", "./x/", True), ("a+b.bpmn", "a+b.bpmn", True), ("aab.bpmn", "a+b.bpmn", False),
        ("x/y/z.bpmn", "x/**", True), ("a.bpmn", "?.bpmn", True),
    ],
)  # fmt: skip
def test_patterns(path: str, pattern: str, fits: bool) -> None:
    from pathlib import PurePosixPath

    assert _matches_pattern(PurePosixPath(path), pattern) is fits


# -- folders ---------------------------------------------------------------------------------------


def test_a_folder_means_the_models_in_it(folder: Path) -> None:
    write(folder, LINEAR, "a/one.bpmn")
    write(folder, model(), "b/two.bpmn")
    write(folder, '{"sequenceFlows": []}', "b/three.json")
    write(folder, '{"name": "no model"}', "package.json")
    write(folder, "<html/>", "page.xml")
    write(folder, model(), "node_modules/x.bpmn")
    write(folder, model(), ".hidden/x.bpmn")
    ran = orgflowc("check", folder, "--format", "json")
    files = {d["loc"]["file"] for d in json.loads(ran.out)["diagnostics"]}
    assert ran.code == 1
    assert {Path(f).name for f in files} == {"one.bpmn", "two.bpmn", "three.json"}
    assert re.search(r"in 3 of 3 files\n$", orgflowc("check", folder).out)


def test_a_folder_without_models_is_misuse(folder: Path) -> None:
    ran = orgflowc("check", folder)
    assert ran.code == 2
    assert "contains no models" in " ".join(ran.out.split())


def test_links_that_go_round_are_not_followed(folder: Path) -> None:
    write(folder, LINEAR, "a/one.bpmn")
    (folder / "a" / "loop").symlink_to(folder)
    assert orgflowc("check", folder).out.endswith("\n1 info in " + str(folder / "a/one.bpmn\n"))


def test_the_progress_bar_is_for_a_terminal_only(folder: Path) -> None:
    script = shutil.which("script")
    for number in range(25):
        write(folder, LINEAR, f"m{number}.bpmn")
    assert "/25" not in orgflowc("check", folder).out
    if script is None:
        pytest.skip("needs script(1) to be a terminal")
    ran = subprocess.run(
        [script, "-qec", f"{sys.executable} -m orgflow.cli check --no-cache {folder}", "/dev/null"],
        capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL, timeout=120,
        env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip
    assert "/25" in ran.stdout
    assert "25 infos in 25 of 25 files" in ran.stdout


def test_the_pre_commit_hook(folder: Path) -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
    entry = re.search(r"^  entry: (.*)$", text, re.MULTILINE)
    pattern = re.search(r"^  files: '(.*)'$", text, re.MULTILINE)
    assert entry is not None
    assert pattern is not None
    assert entry[1].split()[0] == "orgflowc"
    names = ["a.bpmn", "b.bpmn20.xml", "c.pme.json", "d.ir.json", "e.n8n.json"]
    assert all(re.search(pattern[1], n) for n in names)
    assert not any(re.search(pattern[1], n) for n in ("package.json", "x.xml", "y.bpmn.png"))
    bad = write(folder, model(), "bad.bpmn")
    assert orgflowc(*entry[1].split()[1:], bad, write(folder, LINEAR, "good.bpmn")).code == 1


def test_gaps_wait_until_there_is_no_error(folder: Path) -> None:
    """Nor is a suppression of a gap unused while an error hides whether it is needed."""
    hidden = write(folder, model(at_process='orgflow:suppress="open-task: people do it"'))
    assert found(hidden) == (1, [("OF203", None)])
    shown = json.loads(orgflowc("check", hidden, "--format", "json").out)["diagnostics"]
    assert {d["code"] for d in shown} == {"OF203"}
    assert "OF501" in orgflowc("check", write(folder, LINEAR, "good.bpmn")).out


def test_a_suppressed_error_hides_no_gap(folder: Path) -> None:
    path = write(folder, model('orgflow:suppress="OF203: twice is right"'))
    shown = json.loads(orgflowc("check", path, "--format", "json").out)["diagnostics"]
    assert {d["code"] for d in shown if d.get("suppressed") is None} >= {"OF501"}
    both = "OF203: twice is right; open-task: people do them"
    path = write(folder, model(at_process=f'orgflow:suppress="{both}"'))
    shown = json.loads(orgflowc("check", path, "--format", "json").out)["diagnostics"]
    assert {d["code"]: d.get("suppressed") for d in shown if d["code"] in ("OF501", "OF005")} == {
        "OF501": "people do them"
    }
