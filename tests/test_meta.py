"""The project's own rules: rules are explained and tested, layers hold, nothing heavy is loaded."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from cli_cases import LINEAR
from import_graph import list_imports, module_name
from orgflow.backends import DEFAULT_TARGET

from orgflow_ir.diagnostics import Rule
from orgflow_ir.diagnostics.rule import CODE_FORM
from orgflow_ir.plugins import BUILTINS, Registry

ROOT = Path(__file__).resolve().parent.parent
LEAVES = ("frontends", "backends", "passes", "agents", "store")
FOLDERS = ("orgflow_ir", *LEAVES, "compilation", "evaluation", "commands")
ROOT_MODULES = ("__init__.py", "__main__.py", "api.py", "cli.py", "compiler.py")
HEAVY = (
    "networkx", "jinja2", "jsonschema", "httpx", "openai", "torch", "sentence_transformers",
    "lxml", "rich", "numpy", "pytest", "syrupy", "spacy", "phonenumbers", "asyncpg",
)  # fmt: skip

SECTIONS = ("What it finds", "Why it is wrong", "Example", "Instead")

RULES = sorted(Registry(outside=False).rules.values(), key=lambda rule: rule.code)


def sources() -> Iterator[Path]:
    """Every shipped Python file."""
    yield from (ROOT / name for name in ROOT_MODULES)
    for folder in FOLDERS:
        yield from sorted((ROOT / folder).rglob("*.py"))


def test_there_are_sources() -> None:
    assert len(list(sources())) > 40


# -- rules -----------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_is_explained(rule: type[Rule]) -> None:
    text = rule.explanation()
    headings = [line for line in text.splitlines() if line and not line.startswith(" ")]
    assert headings == list(SECTIONS)
    parts = re.split(r"(?m)^\S.*$", text)[1:]
    assert all(part.strip() for part in parts), f"{rule.code} has an empty section"
    assert re.fullmatch(CODE_FORM, rule.code)
    if not rule.code.startswith("OF"):
        assert rule.code.startswith((rule.target or "no target").upper())
    assert "category" in vars(rule)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)


def test_names_of_rules_are_unique() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)


SERVER = "needs a server"
STORE = "needs a message store"
CRASH = "needs a fault in the code"
AGENT = "needs an agent"
LOG = "needs an event log"
LOGS = "traces/test_discover_traces.py"
LOG_EVALUATION = "traces/test_eval_traces.py"
LARGE = "needs a file of megabytes or hundreds of elements"
SUPPORT = "backends/n8n/server/test_support_deployment.py"
KEPT = "faults/test_deployed_options.py"
DEPLOY_PARTS = "backends/n8n/server/test_deploy_parts.py"
EDITED_SEGMENTS = "backends/n8n/verify/test_edited_segments.py"
MERGE = "backends/n8n/merge/test_merge_command.py"
LIVING = "faults/test_living_together.py"
WITHOUT_CASE = {
    "N8N001": ("needs an edited workflow", f"{MERGE}::test_filled_and_removed"),
    "N8N002": ("needs an edited workflow", f"{MERGE}::test_without_a_base"),
    "N8N003": (
        "needs an edited workflow",
        f"{MERGE}::test_a_node_between_two_that_are_no_neighbours_any_more",
    ),
    "N8N005": (
        "needs an edited workflow",
        "backends/n8n/test_named_work.py"
        "::test_work_of_another_name_is_reported_where_it_was_implemented",
    ),
    "N8N012": (
        SERVER,
        "backends/n8n/test_named_work.py"
        "::test_deploy_reports_implemented_work_that_nothing_calls_any_more",
    ),
    "N8N013": (
        SERVER,
        "backends/n8n/test_called_together.py::test_a_workflow_for_one_caller_becomes_that_of_all",
    ),
    "N8N014": (
        SERVER,
        "backends/n8n/test_called_together.py"
        "::test_a_model_that_is_deployed_without_what_it_calls",
    ),
    "N8N015": (SERVER, "backends/n8n/server/test_deleted_models.py::test_a_deleted_model"),
    "N8N006": (
        "needs an edited workflow", f"{LIVING}::test_a_removed_class_is_merged_and_reported",
    ),
    "N8N016": (SERVER, f"{LIVING}::test_a_move_to_another_server_adopts_and_merges"),
    "N8N010": (SERVER, "backends/n8n/server/test_deploy_merge.py::test_an_older_clone"),
    "N8N011": (SERVER, "backends/n8n/server/test_deploy_merge.py::test_two_updates_at_once"),
    "N8N004": ("needs an edited workflow", f"{MERGE}::test_another_file"),
    "OF520": (AGENT, "agents/test_filling.py::test_operations_are_proposed_never_silently_used"),
    "OF521": (AGENT, "agents/test_filling.py::test_an_input_that_does_not_show_is_left_out"),
    "OF522": (AGENT, "test_fill_command.py::test_what_no_agent_answers_is_reported"),
    "OF523": (AGENT, "test_fill_command.py::test_a_task_that_stays_open_is_reported"),
    "OF001": ("needs a broken plugin", "test_plugins.py::test_a_broken_plugin_is_reported_by_name"),
    "OF015": (LARGE, "frontends/bpmn/test_bpmn_hostile.py::test_limits_are_options"),
    "OF022": (STORE, "messages/test_discover.py::test_what_is_no_store"),
    "OF023": (STORE, "messages/test_discover.py::test_too_few_messages"),
    "OF024": (STORE, "messages/test_discover.py::test_what_is_not_installed_is_reported"),
    "OF655": (STORE, "messages/test_laughable_names.py::test_too_few_cases_are_reported"),
    "OF402": ("no target of ours loses anything", "test_plugins_example.py"
                     "::test_the_lowering_asks_before_it_loses_something"),
    "OF479": (LARGE, "backends/asl/test_asl_losses.py"
                     "::test_a_definition_longer_than_aws_takes_is_an_error"),
    "OF496": (LARGE, "backends/mermaid/test_mermaid.py"
                     "::test_a_chart_that_is_too_large_is_a_warning"),
    "OF511": (AGENT, "gaps/test_agents.py::test_every_kind_of_gap_is_answered"),
    "OF512": (AGENT, "gaps/test_agents.py::test_an_agent_tries_again_with_the_reason"),
    "OF513": (AGENT, "gaps/test_agents.py"
                     "::test_a_failing_agent_is_reported_and_the_next_is_asked"),
    "OF514": (AGENT, "gaps/test_agents.py::test_an_agent_that_cannot_work_is_reported_once"),
    "OF515": (AGENT, "gaps/test_drafts.py::test_evidence_that_is_made_up"),
    "OF516": (AGENT, "gaps/test_drafts.py::test_an_element_without_evidence"),
    "OF517": (AGENT, "agents/test_text_modeller.py::test_no_draft_at_all"),
    "OF518": (AGENT, "agents/test_text_modeller.py::test_what_stays_missing_is_reported"),
    "OF650": (
        "needs a missing package",
        "agents/test_rule_reports.py"
        "::test_without_a_parser_the_command_names_what_installs_it",
    ),
    "OF645": (
        AGENT,
        "agents/test_outline_drafts.py::test_what_stays_unread_is_an_error_and_the_rest_is_kept",
    ),
    "OF646": (AGENT, "agents/test_outline_drafts.py::test_an_answer_without_an_end_is_an_error"),
    "OF647": (AGENT, "agents/test_outline_drafts.py::test_an_unsound_draft_is_written_and_exits_1"),
    "OF601": (SERVER, f"{DEPLOY_PARTS}::test_every_error_has_a_rule"),
    "OF602": (SERVER, f"{DEPLOY_PARTS}::test_every_error_has_a_rule"),
    "OF603": (SERVER, "backends/n8n/server/test_deploy_command.py"
                      "::test_something_else_than_n8n"),
    "OF604": (SERVER, f"{DEPLOY_PARTS}::test_versions"),
    "OF605": (SERVER, f"{DEPLOY_PARTS}::test_versions"),
    "OF606": (SERVER, f"{DEPLOY_PARTS}::test_a_node_that_the_server_does_not_have"),
    "OF607": (
        SERVER,
        "backends/n8n/server/test_deploy_merge.py::test_a_compiled_file_over_what_was_merged",
    ),
    "OF608": (SERVER, "support/deploy_faults.py::deleted_and_made_again"),
    "OF609": (SERVER, "support/deploy_faults.py::one_of_several_refused"),
    "OF610": (SERVER, "support/deploy_faults.py::path_taken"),
    "OF611": (SERVER, f"{DEPLOY_PARTS}::test_a_callee_that_is_nowhere"),
    "OF612": (SERVER, f"{DEPLOY_PARTS}::test_a_circle_of_calls"),
    "OF613": (SERVER, f"{DEPLOY_PARTS}::test_the_same_file_twice"),
    "OF614": (SERVER, f"{DEPLOY_PARTS}::test_two_published_ones_cannot_be_told_apart"),
    "OF615": (SERVER, "support/deploy_faults.py::half_of_several_created"),
    "OF616": (SERVER, "backends/n8n/server/test_deploy_command.py::test_started_by_hand"),
    "OF617": (SERVER, f"{DEPLOY_PARTS}::test_every_error_has_a_rule"),
    "OF618": (SERVER, "support/deploy_faults.py::internal_error_for_ever"),
    "OF619": (SERVER, f"{DEPLOY_PARTS}::test_every_error_has_a_rule"),
    "OF620": (SERVER, "support/deploy_origins.py::same_name_in_two_folders"),
    "OF621": (SERVER, "support/deploy_origins.py::renamed_file"),
    "OF622": (SERVER, "support/deploy_origins.py::moved"),
    "OF623": (SERVER, "support/ended_commands.py::run_killed_and_tidied_up"),
    "OF624": (SERVER, f"{SUPPORT}::test_the_set_comes_with_the_first_process_that_needs_it"),
    "OF625": (SERVER, f"{SUPPORT}::test_n8n_1_is_refused_with_the_reason"),
    "OF626": (SERVER, f"{SUPPORT}::test_open_work_goes_on_in_the_new_version"),
    "OF627": (SERVER, f"{SUPPORT}::test_work_without_a_counterpart_keeps_the_old_version"),
    "OF628": (SERVER, f"{SUPPORT}::test_a_workflow_that_calls_a_deleted_part_is_named"),
    "OF640": (SERVER, f"{KEPT}::test_a_deployment_keeps_the_options_of_the_workflow"),
    "OF660": (LOG, f"{LOGS}::test_a_file_that_is_no_log"),
    "OF661": (LOG, f"{LOGS}::test_faults_of_a_log"),
    "OF662": (LOG, f"{LOGS}::test_faults_of_a_log"),
    "OF663": (LOG, f"{LOGS}::test_faults_of_a_log"),
    "OF664": (LOG, f"{LOGS}::test_half_cases"),
    "OF665": (LOG, f"{LOGS}::test_a_log_without_events"),
    "OF666": (LOG, f"{LOG_EVALUATION}::test_a_case_beyond_the_limit"),
    "OF667": (LOG, f"{LOG_EVALUATION}::test_an_activity_that_the_model_does_not_have"),
    "OF629": ("needs an edited workflow", f"{EDITED_SEGMENTS}::test_nothing_is_compared"),
    "OF635": ("needs an edited workflow", f"{EDITED_SEGMENTS}::test_what_is_not_read"),
    "OF901": (CRASH, "test_pass_manager.py::test_a_crash_is_a_diagnostic_and_the_others_go_on"),
    "OF902": (CRASH, "test_pass_manager.py::test_a_pass_that_breaks_the_model_is_named"),
    "OF903": (CRASH, "test_plugins.py::test_a_plugin_that_fails_at_work_is_named"),
    "OF911": (CRASH, "backends/n8n/test_rules.py::test_a_faulty_workflow_is_never_printed"),
    "OF912": (CRASH, "backends/asl/test_asl_definitions.py::test_a_faulty_machine_is_our_fault"),
}  # fmt: skip
"""Rules that no file on disk provokes: why, and the test or the scenario of tests that does."""


def has_case(rule: type[Rule]) -> bool:
    return (ROOT / "tests" / "diagnostics" / f"{rule.code}-{rule.name}").is_dir()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_has_a_case(rule: type[Rule]) -> None:
    assert has_case(rule) or rule.code in WITHOUT_CASE


@pytest.mark.parametrize("code", WITHOUT_CASE)
def test_a_rule_without_a_case_has_the_test_that_is_named(code: str) -> None:
    (rule,) = [rule for rule in RULES if rule.code == code]
    assert not has_case(rule), "take it out of the list"
    file, _, name = WITHOUT_CASE[code][1].partition("::")
    found = [text for text in definitions(ROOT / "tests" / file) if re.match(name + r"\b", text)]
    assert found, f"{file} has no {name}"
    assert re.search(rf"\b({code}|{rule.__name__})\b", found[0]), f"{name} does not name {code}"


@cache
def definitions(path: Path) -> tuple[str, ...]:
    """The text of each function of a module, from its name on and with its decorators after it,
    and of each assignment to a name."""
    text = path.read_text("utf-8")
    lines = text.split("\n")
    found: list[str] = []
    for part in ast.parse(text).body:
        if isinstance(part, ast.FunctionDef):
            begin = min((d.lineno for d in part.decorator_list), default=part.lineno)
            own = "\n".join(lines[part.lineno - 1 : part.end_lineno]).removeprefix("def ")
            found.append("\n".join([own, *lines[begin - 1 : part.lineno - 1]]))
        elif isinstance(part, ast.Assign | ast.AnnAssign):
            found.append("\n".join(lines[part.lineno - 1 : part.end_lineno]))
    return tuple(found)


def test_codes_are_not_taken_apart() -> None:
    """What a finding is about is its category: a plugin's codes have other digits."""
    apart = re.compile(r"code\[[-:\d]|code\.startswith|\"OF\d\"")
    parts = [*sources(), *(ROOT / "benchmarks").glob("*.py")]
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in parts
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if apart.search(line)
    ]
    assert found == []


# -- packaging -------------------------------------------------------------------------------


def test_every_package_is_listed() -> None:
    listed = set(
        tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    )
    found = {"orgflow"}
    for folder in FOLDERS:
        for init in (ROOT / folder).rglob("__init__.py"):
            name = ".".join(init.parent.relative_to(ROOT).parts)
            found.add(name if name.startswith("orgflow_ir") else f"orgflow.{name}")
    assert listed == found


def test_every_folder_with_code_is_a_package() -> None:
    folders = {path.parent for path in sources() if path.parent != ROOT}
    assert [f for f in folders if not (f / "__init__.py").is_file()] == []


def test_modules_at_the_root_are_known() -> None:
    assert sorted(p.name for p in ROOT.glob("*.py")) == sorted(ROOT_MODULES)


def test_the_stages_of_a_compilation_fit_on_a_few_pages() -> None:
    """What a stage needs is in `compilation`."""
    assert len((ROOT / "compiler.py").read_text("utf-8").splitlines()) <= 350


def test_builtins_are_leaves_of_ours() -> None:
    assert all(name.startswith(("orgflow_ir.", "orgflow.")) for name in BUILTINS)


# -- style -----------------------------------------------------------------------------------


def module_docstring(path: Path) -> str:
    """Empty without one."""
    return ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""


def test_every_module_says_what_it_is() -> None:
    dumb = [p for p in sources() if len(module_docstring(p)) < 10]
    assert [str(p.relative_to(ROOT)) for p in dumb] == []


def test_no_module_is_called_utils() -> None:
    assert [p for p in sources() if re.search(r"util|helper", p.stem)] == []


# -- layers ----------------------------------------------------------------------------------


SHARED = (["frontends", "xml"], ["backends", "javascript"])
"""What frontends of several languages read with, and backends of several targets print with."""

TOP = ("__init__", "__main__", "api", "cli", "commands")


def imports(path: Path) -> Iterator[str]:
    """Modules of ours that a file imports, for types too; `from a import b` gives `a.b`."""
    for name in list_imports(path.read_text("utf-8")):
        if name.split(".")[0] in ("orgflow", "orgflow_ir"):
            yield name


def allowed(module: str, imported: str) -> bool:
    """Whether the layer of `module` (dotted) may import `imported` (dotted); inside of `orgflow_ir`
    and of a backend the order of the rooms counts (`test_rooms.py`)."""
    if module.startswith("orgflow_ir"):
        return imported.startswith("orgflow_ir.")
    if imported.startswith("orgflow_ir"):
        return True
    layer, other = module.split(".")[1], imported.split(".")[1]
    if layer in TOP:
        return other not in TOP[:4] or (layer in TOP[:2] and other in ("api", "cli"))
    if layer == "evaluation":
        return other in (*LEAVES, "compilation", "compiler", "evaluation")
    if layer == "compiler":
        return other in (*LEAVES, "compilation")
    if layer == "compilation":
        return other in (*LEAVES, "compilation")
    mine_, its_ = module.split(".")[1:3], imported.split(".")[1:3]
    if layer in ("frontends", "backends"):
        shared = layer == its_[0] and its_ in SHARED
        return mine_ == its_ or shared or _format_of(module, imported)
    return layer == other


def _format_of(module: str, imported: str) -> bool:
    """A frontend may use the format module of the backend for the same language, and what is known
    of the types of its nodes, which both read and write."""
    parts = module.split(".")
    backend = f"orgflow.backends.{parts[2]}"
    return parts[1] == "frontends" and imported.startswith(
        (f"{backend}.format", f"{backend}.node_types")
    )


@pytest.mark.parametrize("path", list(sources()), ids=lambda p: str(p.relative_to(ROOT)))
def test_layers(path: Path) -> None:
    name = module_name(path, ROOT)
    module = "orgflow.__init__" if name == "orgflow" else name
    wrong = sorted({name for name in imports(path) if not allowed(module, name)})
    assert wrong == [], f"{module} may not import {wrong}"


@pytest.mark.parametrize(
    ("module", "imported", "ok"),
    [
        ("orgflow_ir.lowering.common", "orgflow_ir.work.gateway_decisions", True),
        ("orgflow.evaluation.pmo", "orgflow.commands.run", False),
        ("orgflow.evaluation.pmo", "orgflow.api.read", False),
        ("orgflow.commands.run", "orgflow.api.read", False),
        ("orgflow.api", "orgflow.evaluation.replay", True),
        ("orgflow.__init__", "orgflow.api", True),
        ("orgflow_ir.analysis.graph", "orgflow.passes.x", False),
        ("orgflow.passes.x", "orgflow.frontends.bpmn.xml.document", False),
        ("orgflow.frontends.bpmn.xml.document", "orgflow.frontends.pme.parse", False),
        ("orgflow.frontends.bpmn.xml.document", "orgflow.frontends.xml.tree", True),
        ("orgflow.frontends.xml.tree", "orgflow.frontends.bpmn.xml.document", False),
        ("orgflow.backends.bpmn.format", "orgflow.frontends.xml.tree", False),
        ("orgflow.backends.n8n.emit.work", "orgflow.backends.javascript.identifiers", True),
        ("orgflow.backends.javascript.feel_code", "orgflow.backends.n8n.emit.names", False),
        ("orgflow.frontends.n8n.workflow_reader", "orgflow.backends.javascript.identifiers", False),
        ("orgflow.frontends.n8n.parse", "orgflow.backends.n8n.format.document.Node", True),
        ("orgflow.frontends.n8n.parse", "orgflow.backends.n8n.node_types.of", True),
        ("orgflow.frontends.n8n.parse", "orgflow.backends.n8n.emit.printers", False),
        ("orgflow.backends.n8n.emit.workflow", "orgflow.backends.n8n.format.document", True),
        ("orgflow.compiler", "orgflow.evaluation.pmo", False),
        ("orgflow.compiler", "orgflow.compilation.reading", True),
        ("orgflow.compilation.reading", "orgflow.compiler", False),
        ("orgflow.compilation.model_checks", "orgflow.passes.pipelines", True),
        ("orgflow.evaluation.pmo", "orgflow.compilation.reading", True),
        ("orgflow.evaluation.pmo", "orgflow.passes.x", True),
        ("orgflow.commands.run", "orgflow.evaluation.replay", True),
        ("orgflow.commands.run", "orgflow.cli.main", False),
    ],
)
def test_the_layer_check_can_fail(module: str, imported: str, ok: bool) -> None:
    assert allowed(module, imported) is ok


READERS = ("orgflow.agents.text", "orgflow.agents.discovery")
"""Rooms that read with `orgflow.agents.language` and know nothing of each other."""


@pytest.mark.parametrize("path", sorted((ROOT / "agents").rglob("*.py")), ids=lambda p: p.stem)
def test_the_reader_of_sentences_is_below_its_users(path: Path) -> None:
    module = module_name(path, ROOT)
    own = next((room for room in READERS if f"{module}.".startswith(f"{room}.")), "")
    others = [room for room in READERS if room != own]
    if own or f"{module}.".startswith("orgflow.agents.language."):
        used = sorted(name for name in imports(path) for room in others if name.startswith(room))
        assert used == []


def test_one_constant_names_the_default_target() -> None:
    folders = [ROOT / name for name in ("commands", "evaluation")]
    files = [ROOT / name for name in ROOT_MODULES]
    files += [p for folder in folders for p in folder.rglob("*") if p.suffix in (".py", ".j2")]
    naming = {str(p.relative_to(ROOT)) for p in files if "n8n" in p.read_text("utf-8").lower()}
    # A conformance kit of DMN is also played in Code nodes.
    assert naming <= {"commands/eval_dmn.py", "evaluation/dmn_kit.py", "evaluation/dmn_results.py"}
    assert DEFAULT_TARGET == "n8n"


# -- what is loaded --------------------------------------------------------------------------


@cache
def loaded(*args: str) -> frozenset[str]:
    """Modules in `sys.modules` after a command line."""
    code = (
        "import sys, json; from orgflow.cli import run; code = run(sys.argv[1:]); "
        "print('\\n' + json.dumps([code, sorted(sys.modules)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *args], capture_output=True, text=True, check=True
    )
    exit_code, modules = json.loads(done.stdout.splitlines()[-1])
    assert exit_code == 0, done.stderr
    return frozenset(modules)


def test_help_loads_nothing_heavy() -> None:
    modules = loaded("--help")
    assert modules.isdisjoint((*HEAVY, "pydantic", "pluggy", "orgflow_ir.model"))
    ours = {m for m in modules if m.startswith("orgflow.commands.")}
    assert ours == {"orgflow.commands.startup", "orgflow.commands.streams"}


def test_compile_loads_nothing_heavy(tmp_path: Path) -> None:
    path = tmp_path / "order.bpmn"
    path.write_text(LINEAR)
    modules = loaded("compile", str(path), "--target", "n8n")
    assert modules.isdisjoint(HEAVY)
    used = (
        "cancellation",
        "compile",
        "completion_values",
        "options",
        "output",
        "project",
        "project.configuration_file",
        "session",
        "startup",
        "streams",
    )
    others = {m for m in modules if m.startswith("orgflow.commands.")} - {
        f"orgflow.commands.{name}" for name in used
    }
    assert others == set()


def test_plain_compile_imports_only_what_it_uses() -> None:
    """Modules that serve faulty models, rewriting and pictures are imported when needed:
    each costs a compile of a small model about a third of a millisecond."""
    path = ROOT / "examples" / "leave-request" / "model.bpmn"
    modules = loaded("compile", str(path), "--target", "n8n")
    rooms = ("orgflow_ir.decisions", "orgflow.frontends.dmn.dmn_reader")
    assert not [m for m in modules if m.startswith(rooms) or ".feel" in m]
    work = {m.removeprefix("orgflow_ir.work.") for m in modules if m.startswith("orgflow_ir.work.")}
    assert work == {"asked_fields", "form_fields", "gateway_decisions", "process_variables"}
    pictures = {m for m in modules if m.startswith("orgflow_ir.layout.")}
    assert pictures == {"orgflow_ir.layout.stacking"}
    unused = (
        "orgflow_ir.moved_names",
        "orgflow_ir.model.rewriter",
        "orgflow.passes.repair",
        "orgflow.passes.repair_candidates",
        "orgflow.backends.n8n.node_types.execute_workflow_trigger",
        "orgflow.backends.n8n.node_types.schedule_trigger",
        "orgflow.backends.n8n.node_types.webhook",
        "orgflow_ir.gaps.timer_times",
        "orgflow_ir.model.timers",
        "orgflow_ir.legalisation.stubs",
        "orgflow.frontends.triples.graph_reader",
        "orgflow.frontends.triples.mermaid_reader",
    )
    assert modules.isdisjoint(unused)
    read_with = {m.split(".")[2] for m in modules if m.startswith("orgflow.frontends.")}
    assert read_with == {"bpmn", "xml"}
    assert "pluggy" not in modules, "which is for outside plugins"
    # Of the standard library: clients of HTTP, TLS and e-mail, which take as long as half of ours.
    assert modules.isdisjoint(("email", "http", "socket", "ssl", "urllib.request", "xml.sax"))


def test_values_that_a_start_makes_are_the_quick_ones() -> None:
    path = ROOT / "examples" / "leave-request" / "model.bpmn"
    modules = loaded("compile", str(path), "--target", "n8n") | loaded("check", str(path))
    files = {module_name(path, ROOT): path for path in sources()}
    slow = re.compile(
        r"^from (typing import .*\bNamedTuple|dataclasses import .*\bdataclass)\b", re.MULTILINE
    )
    makers = {"orgflow_ir.model.records", "orgflow_ir.model.value"}
    used = modules & files.keys() - makers
    assert [m for m in sorted(used) if slow.search(files[m].read_text("utf-8"))] == [], (
        "import NamedTuple and dataclass from orgflow_ir.model.records"
    )


def test_generated_files_are_up_to_date() -> None:
    from write_schemas import FOLDER, SCHEMAS

    for name, build in SCHEMAS.items():
        assert json.loads((FOLDER / name).read_text("utf-8")) == build(), "run `make golden`"
