"""`preset`, `[rules]` and `[passes]` of orgflow.toml, and `check --preset`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bpmn_text import process
from cli_cases import orgflowc
from orgflow.commands.project import suppressions
from orgflow.commands.project.rule_settings import line_of
from orgflow.passes.presets import BPMNLINT, PRESETS, STRICT, preset_grading, presets_with

from orgflow_ir.diagnostics import Category, Severity
from orgflow_ir.diagnostics.grading import Grading
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

RULES = Registry(outside=False).rules
MODEL = process(
    '<startEvent id="s"/><task id="a" name="Check"/><task id="b" name="Ship"/>'
    '<endEvent id="e" name="Done"/>'
    '<sequenceFlow id="f1" sourceRef="s" targetRef="a"/>'
    '<sequenceFlow id="f2" name="then" sourceRef="a" targetRef="e"/>'
    '<sequenceFlow id="f3" sourceRef="a" targetRef="b"/>'
)
"""OF130 at `b`; of style: OF170 at `s`, OF171 at `f2`, OF173 at `a`."""
FOUND = {("OF130", "warning")}
STYLE = {("OF170", "warning"), ("OF171", "warning"), ("OF173", "warning")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()  # nothing above it counts
    (tmp_path / "m.bpmn").write_text(MODEL, "utf-8")
    return tmp_path


def found(folder: Path, toml: str = "", *more: str) -> set[tuple[str, str]]:
    """Code and severity of each finding of `check` that is no gap."""
    (folder / "orgflow.toml").write_text(toml, "utf-8")
    ran = orgflowc("check", "m.bpmn", "--format", "json", *more, cwd=folder)
    shown = json.loads(ran.out)["diagnostics"]
    return {(d["code"], d["severity"]) for d in shown if d["category"] != "gap"}


def test_recommended_is_what_is_found_without_a_preset(folder: Path) -> None:
    assert found(folder) == FOUND
    assert found(folder, "", "--preset", "recommended") == FOUND
    assert found(folder, 'preset = "recommended"\n') == FOUND


def test_strict_turns_style_on(folder: Path) -> None:
    assert found(folder, "", "--preset", "strict") == FOUND | STYLE
    assert found(folder, 'preset = "strict"\n') == FOUND | STYLE


def test_all_has_every_optional_rule(folder: Path) -> None:
    optional = {c for c, rule in RULES.items() if rule.optional}
    grading = preset_grading("all", RULES)
    assert optional == set(grading.severities)
    assert found(folder, "", "--preset", "all") >= FOUND | STYLE


def test_the_command_line_goes_before_the_file(folder: Path) -> None:
    assert found(folder, 'preset = "strict"\n', "--preset", "recommended") == FOUND


def test_bpmnlint_has_its_26_rules_and_no_other() -> None:
    assert len(BPMNLINT) == 26
    wanted = {code for rule in BPMNLINT.values() for code in rule.codes}
    assert wanted <= RULES.keys()
    grading = preset_grading("bpmnlint", RULES)
    on = {c for c, r in RULES.items() if r.category.is_about_model and grading.reports(r)}
    assert on == wanted


def test_bpmnlint_has_its_severities(folder: Path) -> None:
    assert found(folder, "", "--preset", "bpmnlint") == {
        ("OF130", "error"), ("OF170", "error"), ("OF171", "warning"), ("OF173", "error"),
        ("OF189", "error"),
    }  # fmt: skip


def test_strict_names_only_rules_that_there_are() -> None:
    assert STRICT.keys() <= RULES.keys()


@pytest.mark.parametrize("code", sorted(c for c, r in RULES.items() if r.optional))
def test_every_optional_rule_is_in_all_and_not_in_recommended(code: str) -> None:
    presets = presets_with(RULES[code])
    assert "all" in presets
    assert "recommended" not in presets


def test_a_rule_by_code_by_name_and_by_its_name_in_bpmnlint(folder: Path) -> None:
    off = {("OF170", "warning"), ("OF171", "warning")}
    for name in ("OF173", "implicit-split", "no-implicit-split"):
        text = f'preset = "strict"\n[rules]\n{name} = "off"\n'
        assert found(folder, text) == FOUND | off, name


def test_a_severity_of_a_rule(folder: Path) -> None:
    assert found(folder, '[rules]\ndead-end = "error"\n') == {("OF130", "error")}
    assert found(folder, '[rules]\nOF130 = { severity = "info" }\n') == {("OF130", "info")}
    assert found(folder, '[rules]\ndead-end = "off"\n') == set()
    assert found(folder, '[rules]\nimplicit-split = "info"\n') == FOUND | {("OF173", "info")}


def test_exit_codes_follow_the_severity(folder: Path) -> None:
    (folder / "orgflow.toml").write_text('[rules]\ndead-end = "error"\n', "utf-8")
    assert orgflowc("check", "m.bpmn", cwd=folder).code == 1
    (folder / "orgflow.toml").write_text('[rules]\ndead-end = "info"\n', "utf-8")
    assert orgflowc("check", "m.bpmn", "--strict", cwd=folder).code == 0


def test_an_option_of_a_rule(folder: Path) -> None:
    text = 'preset = "strict"\n[rules.missing-label]\nkinds = ["task"]\n'
    assert ("OF170", "warning") not in found(folder, text)
    text = 'preset = "strict"\n[rules]\nmissing-label = { kinds = ["event"], severity = "info" }\n'
    assert ("OF170", "info") in found(folder, text)


def test_passes_off_on_and_with_options(folder: Path) -> None:
    assert found(folder, '[passes]\ndead-ends = "off"\n') == set()
    assert found(folder, '[passes]\ndead-ends = "on"\n') == FOUND
    assert found(folder, "[passes]\nmerge-deadlock = { max-states = 100 }\n") == FOUND
    text = 'preset = "strict"\n[passes.labels]\nkinds = []\n'
    assert ("OF170", "warning") not in found(folder, text)


def test_message_exchange_is_on_by_request_of_the_file(folder: Path) -> None:
    two = """<?xml version="1.0"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="http://x">
<collaboration id="C"><participant id="p1" name="A" processRef="P"/>
<participant id="p2" name="B" processRef="Q"/>
<messageFlow id="m" sourceRef="t" targetRef="c"/></collaboration>
<process id="P"><startEvent id="s"/><task id="a"/><endEvent id="e"/>
<sendTask id="t"/><sequenceFlow id="f1" sourceRef="s" targetRef="a"/>
<sequenceFlow id="f2" sourceRef="a" targetRef="e"/></process>
<process id="Q"><startEvent id="s2"/>
<intermediateCatchEvent id="c"><messageEventDefinition/></intermediateCatchEvent>
<endEvent id="e2"/><sequenceFlow id="g1" sourceRef="s2" targetRef="c"/>
<sequenceFlow id="g2" sourceRef="c" targetRef="e2"/></process></definitions>"""
    (folder / "m.bpmn").write_text(two, "utf-8")
    without = found(folder)
    on = found(folder, '[passes]\nmessage-exchange = "on"\n')
    assert {c for c, _ in on - without} == {"OF320"}
    assert on == found(folder, '[passes]\nmessage-exchange = "on"\n', "--messages")


@pytest.mark.parametrize(
    ("text", "line", "message", "help"),
    [
        ('rule = "x"\n', 1, "unknown key `rule`", "did you mean `rules`?"),
        ('\npreset = "strickt"\n', 2, "no preset `strickt`", "did you mean `strict`?"),
        ('[rules]\n\ndead-ends = "off"\n', 3, "no rule `dead-ends`", "did you mean `dead-end`?"),
        ('[rules]\nfake-joins = "off"\n', 2, "no rule `fake-joins`", "did you mean `fake-join`?"),
        ('[rules]\nOF130 = "warn"\n', 2, "`OF130` cannot be `warn`", "did you mean `warning`?"),
        (
            "[rules]\nOF130 = false\n", 2,
            "`OF130` cannot be `false`", "there are: off, info, warning, error",
        ),
        ('[rules]\nOF010 = "off"\n', 2, "`OF010` cannot be configured", "remove the line"),
        ("rules = 3\n", 1, "`rules` is no table", "write [rules]"),
        (
            '[rules.missing-label]\nseverity = "info"\nkind = ["task"]\n', 3,
            "`missing-label` has no option `kind`", "did you mean `kinds`?",
        ),
        (
            '[rules]\nmissing-label = { kinds = "task" }\n', 2,
            "`kinds` of `missing-label` is not a list", "make it a list",
        ),
        (
            '[rules]\nmissing-label = { kinds = ["tasks"] }\n', 2,
            "`tasks` is not one of: task, event", "correct the value",
        ),
        ('[passes]\ndead-end = "off"\n', 2, "no pass `dead-end`", "did you mean `dead-ends`?"),
        ("[passes]\ndead-ends = 1\n", 2, "pass `dead-ends` cannot be `1`", "a table of options"),
        (
            "[passes]\nmerge-deadlock = { max_states = 1 }\n", 2,
            "`merge-deadlock` has no option `max_states`", "did you mean `max-states`?",
        ),
        (
            '[passes.merge-deadlock]\nmax-states = "x"\n', 2,
            "`max-states` of `merge-deadlock` is not a whole number", "make it a whole number",
        ),
    ],
)  # fmt: skip
def test_faults_name_the_line_and_a_remedy(
    folder: Path, text: str, line: int, message: str, help: str
) -> None:
    (folder / "orgflow.toml").write_text(text, "utf-8")
    ran = orgflowc("check", "m.bpmn", "--format", "json", cwd=folder)
    wrong = [d for d in json.loads(ran.out)["diagnostics"] if d["code"] == "OF004"]
    assert len(wrong) == 1
    assert wrong[0]["loc"]["line"] == line
    assert message in wrong[0]["message"]
    assert help in wrong[0]["help"]
    assert ran.code == 1


def test_an_unknown_preset_is_a_usage_error(folder: Path) -> None:
    ran = orgflowc("check", "m.bpmn", "--preset", "strickt", cwd=folder)
    assert ran.code == 2
    assert "no preset `strickt`; did you mean `strict`?" in ran.err


def test_compile_hides_what_is_off_and_stops_for_the_same_errors(folder: Path) -> None:
    """Severities are for people: what cannot be compiled is not compiled because of them, and what
    can be is."""

    def compiled(toml: str) -> tuple[int, set[tuple[str, str]]]:
        (folder / "orgflow.toml").write_text(toml, "utf-8")
        ran = orgflowc(
            "compile", "m.bpmn", "--target", "n8n", "-o", "out.json", "--format", "json", cwd=folder
        )
        shown = json.loads(ran.err)["diagnostics"]
        return ran.code, {(d["code"], d["severity"]) for d in shown if d["code"] == "OF130"}

    assert compiled("") == (0, FOUND)
    assert compiled('[rules]\ndead-end = "off"\n') == (0, set())
    assert compiled('[rules]\ndead-end = "error"\n') == (0, FOUND)
    (folder / "m.bpmn").write_text(MODEL.replace('targetRef="e"', 'targetRef=""'), "utf-8")
    code, _ = compiled('[rules]\ndangling-flow = "off"\n')
    assert code == 1


def test_a_suppression_of_a_rule_that_is_off_is_not_unused(folder: Path) -> None:
    accepted = '[[suppress]]\nrule = "OF173"\nreason = "we split like that"\n'
    assert ("OF005", "warning") not in found(folder, accepted)
    assert ("OF173", "warning") in found(folder, f'preset = "strict"\n{accepted}')


def test_fixes_of_optional_rules_need_the_rule(folder: Path) -> None:
    text = MODEL.replace('id="f1" sourceRef="s"', 'id="f1" sourceRef="x"').replace(
        "<startEvent",
        '<sequenceFlow id="f0" sourceRef="s" targetRef="x"/><parallelGateway id="x"/><startEvent',
    )
    (folder / "m.bpmn").write_text(text, "utf-8")
    orgflowc("check", "m.bpmn", "--fix", cwd=folder)
    assert (folder / "m.bpmn").read_text("utf-8") == text
    orgflowc("check", "m.bpmn", "--fix", "--preset", "strict", cwd=folder)
    assert "parallelGateway" not in (folder / "m.bpmn").read_text("utf-8")


def test_rules_of_style_are_about_drawn_models_not_about_workflows(folder: Path) -> None:
    """A workflow splits at any node and has no end events."""
    orgflowc("compile", "m.bpmn", "--target", "n8n", "-o", "w.json", cwd=folder)
    ran = orgflowc("check", "w.json", "--preset", "all", "--format", "json", cwd=folder)
    shown = json.loads(ran.out)["diagnostics"]
    assert [d["code"] for d in shown if d["category"] == "style"] == []


def test_explain_names_the_presets() -> None:
    ran = orgflowc("explain", "fake-join")
    assert "presets: strict (warning), all (warning), bpmnlint (warning, as `fake-join`)" in ran.out


def test_lines_of_keys() -> None:
    text = 'preset = "x"\n[rules]\n"a-b" = "off"\nc.d = 1\n[rules.e]\nf = 1 # g\n'
    assert line_of(text, "preset") == 1
    assert line_of(text, "rules") == 2
    assert line_of(text, "rules", "a-b") == 3
    assert line_of(text, "rules", "c", "d") == 4
    assert line_of(text, "rules", "e") == 5
    assert line_of(text, "rules", "e", "f") == 6


def test_grading_without_errors_keeps_errors() -> None:
    from orgflow_ir.diagnostics import Diagnostic

    error = Diagnostic(
        code="OF101", name="n", severity=Severity.ERROR, message="m", category=Category.MALFORMED
    )
    note = error.replace(code="OF130", severity=Severity.INFO)
    grading = Grading({"OF101": None, "OF130": Severity.ERROR})
    assert grading.graded([error, note]) == [note.replace(severity=Severity.ERROR)]
    kept = grading.graded([error, note], errors=False)
    assert kept == [error, note.replace(severity=Severity.WARNING)]


def test_presets_have_a_summary_each() -> None:
    assert list(PRESETS) == ["recommended", "strict", "all", "bpmnlint"]


def test_the_configuration_of_a_folder_is_looked_for_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(suppressions, "find_configuration", asked.append)
    accepted = suppressions.Acceptance(Registry(), errors=True, whole=False)
    for name in ("a.bpmn", "b.bpmn"):
        accepted.configure(str(folder / name), PassContext())
        accepted.configure(name, PassContext())
    assert asked == [str(folder / "a.bpmn"), "a.bpmn"]
