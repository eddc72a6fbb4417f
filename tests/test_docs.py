"""The documentation: generated pages are up to date, links lead somewhere, every command runs."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import orgflow
import pytest
import site_pages
from bindings_page import bindings
from cli_cases import interruptible
from orgflow.agents.model_client.settings import KEYS as MODEL_KEYS
from orgflow.commands.project.configuration import SUPPRESS_KEYS, TOP_LEVEL, read_bytes
from pictures import DRAWN, MEASURED, MOST_BYTES, TAKEN
from pictures import FOLDER as PICTURES
from plugin_install import clean_environment, fresh_environment
from shown_output import shown, shown_commands
from write_docs import BINDINGS, FOLDER, PAGES, text

from orgflow_ir.model.bindings import _ENGINE_NAMES, ENGINES, PERFORMERS
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
BY_HAND = (*sorted(DOCS.glob("*.md")), *(ROOT / n for n in ("README.md", "CONTRIBUTING.md")))
EVERY = tuple(sorted({*DOCS.rglob("*.md"), *BY_HAND}))
MOVING = (DOCS / "moving.md").read_text("utf-8")


class Block(NamedTuple):
    """A fenced block of a page: its language, the file it is for, and its lines."""

    language: str
    title: str | None
    content: str
    line: int


_FENCE = re.compile(
    r'^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<content>.*?)^```$', re.M | re.S
)


def blocks(page: Path) -> list[Block]:
    """Every fenced block, in order."""
    said = page.read_text("utf-8")
    return [
        Block(m["language"], m["title"], m["content"], said.count("\n", 0, m.start()) + 1)
        for m in _FENCE.finditer(said)
    ]


# -- generated pages -------------------------------------------------------------------------


def test_the_page_on_bindings_is_what_the_code_says(registry: Registry) -> None:
    assert BINDINGS.read_text("utf-8") == bindings(registry), "run `make golden`"


def test_the_page_on_bindings_has_everything_that_engines_say() -> None:
    said = BINDINGS.read_text("utf-8")
    names = {*_ENGINE_NAMES, *PERFORMERS, *ENGINES}
    assert len(names) > 50
    missing = {n for n in names if not re.search(rf"(?<!\w){re.escape(n)}(?!\w)", said)}
    assert missing == set()


@pytest.mark.parametrize("name", PAGES)
def test_generated_pages_are_up_to_date(name: str, registry: Registry) -> None:
    assert (FOLDER / name).read_text("utf-8") == PAGES[name](registry), "run `make golden`"


def test_no_other_page_says_it_is_generated() -> None:
    assert {p.name for p in FOLDER.iterdir()} == set(PAGES)


def test_generated_pages_hold_everything(registry: Registry) -> None:
    from orgflow.cli import _COMMANDS

    rules = (FOLDER / "rules.md").read_text("utf-8")
    assert [c for c in registry.rules if f"### {c} `" not in rules] == []
    commands = (FOLDER / "commands.md").read_text("utf-8")
    assert [c for c in _COMMANDS if f"\n## {c}\n" not in commands] == []
    table = (FOLDER / "constructs.md").read_text("utf-8")
    assert [b for b in registry.backends if f"\n## {b}\n" not in table] == []


def test_text_shows_what_it_is() -> None:
    assert text("a `<b>|` <i> *x* a_b {c}") == "a `<b>|` &lt;i&gt; \\*x\\* a\\_b \\{c\\}"


# -- links -----------------------------------------------------------------------------------


@cache
def anchors(page: Path) -> set[str]:
    """What can be linked to in a page: headings as the site names them, and given anchors."""
    found = set()
    for line in re.sub(r"(?ms)^```.*?^```$", "", page.read_text("utf-8")).splitlines():
        heading = re.match(r"#+ (.+)", line)
        if heading is None:
            continue
        given = re.search(r"\{: #(\S+) \}$", heading[1])
        words = re.sub(r"[^\w\s-]", "", heading[1]).strip().lower()
        found.add(given[1] if given else re.sub(r"[-\s]+", "-", words))
    return found


def links(page: Path) -> Iterator[tuple[str, str]]:
    """Path and anchor of every link that stays inside."""
    said = re.sub(r"(?ms)^```.*?^```$", "", page.read_text("utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", said)):
        if not re.match(r"[a-z]+:", target):
            path, _, anchor = target.partition("#")
            yield path, anchor


@pytest.mark.parametrize("page", EVERY, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for path, anchor in links(page):
        target = (page.parent / path).resolve() if path else page
        assert target.is_file(), f"{page.name} links to {path}"
        assert target.is_relative_to(DOCS) or not page.is_relative_to(DOCS)
        if anchor:
            assert anchor in anchors(target), f"{page.name} links to {path}#{anchor}"


def test_there_are_links_to_check() -> None:
    assert sum(1 for page in EVERY for _ in links(page)) > 100


@pytest.mark.parametrize("page", BY_HAND, ids=lambda p: str(p.relative_to(ROOT)))
def test_codes_and_paths_that_pages_name_are_there(page: Path, registry: Registry) -> None:
    said = page.read_text("utf-8")
    assert {c for c in re.findall(r"\bOF\d{3}\b", said) if c not in registry.named_rules} == set()
    for path in re.findall(r"`((?:examples|docs|tests|benchmarks)/[\w./-]+)`", said):
        if "OFnnn" not in path:
            assert (ROOT / path).exists(), f"{page.name} names {path}"


def test_the_page_on_moving_names_modules_that_have_the_names() -> None:
    rows = re.findall(r"^\| (`.+`) \| `(orgflow_ir\.\w+)` \| `([\w.]+)` \|$", MOVING, re.M)
    assert len(rows) > 10
    for names, before, now in rows:
        assert find_spec(before) is None, f"{before} did not move"
        for name in re.findall(r"`(\w+)`", names):
            assert hasattr(import_module(now), name), f"{now} has no {name}"


def test_every_page_is_in_the_navigation() -> None:
    said = (ROOT / "mkdocs.yml").read_text("utf-8")
    nav = re.findall(r": (\S+\.md)$", said, re.M)
    made = {"changelog.md"}  # while the site is built: tests/support/site_pages.py
    assert sorted(nav) == sorted({*made, *(str(p.relative_to(DOCS)) for p in DOCS.rglob("*.md"))})


def test_the_site_builds(tmp_path: Path) -> None:
    if find_spec("mkdocs") is None or find_spec("material") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("mkdocs-material is missing, and CI=true: `make docs` installs it")
        pytest.skip("needs mkdocs-material: pip install -e '.[docs]'")
    ran = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", tmp_path / "site"],
        cwd=ROOT, env=clean_environment(NO_MKDOCS_2_WARNING="1"), capture_output=True, text=True,
        check=False, timeout=120,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    site = tmp_path / "site"
    assert (site / "reference" / "rules" / "index.html").is_file()
    rule = (site / "reference" / "rules" / "OF201" / "index.html").read_text("utf-8")
    assert all(part in rule for part in ("The fault in a model", "The fix", "Configure"))
    assert (site / "reference" / "rules" / "OF201.svg").is_file()
    assert orgflow.__version__ in rule
    assert (site / "changelog" / "index.html").is_file()
    words = (site / "search" / "search_index.json").read_text("utf-8").lower()
    assert [word for word in FIELD_WORDS if word not in words] == []


FIELD_WORDS = ("deadlock", "livelock", "soundness", "lint", "sarif", "pre-commit", "boundary event",
               "idempotency", "webhook", "credential", "support matrix", "baseline", "dmn", "feel",
               "camunda", "flowable", "duplicate execution", "infinite loop", "gateway",
               "lack of synchronization", "send task", "multi-instance", "hit policy",
               "event sub-process", "message flow", "compensation", "swimlane")  # fmt: skip
"""What people of the field type into the search."""


def test_every_rule_has_a_page_on_the_site(registry: Registry) -> None:
    """Explained, with the finding of its case and how to configure it; and most are drawn."""
    drawn = 0
    for code, rule in registry.rules.items():
        shown = site_pages.rule_page(rule, registry, drawn=False)
        assert shown.startswith(f"# {code} {rule.name}\n")
        if site_pages.case_of(rule) is not None:
            assert "## The finding" in shown, code
        assert ("## Configure" in shown) == rule.category.is_about_model
    for code in ("OF101", "OF201", "OF203", "OF310", "OF449", "OF501", "OF170"):
        made = site_pages.picture(registry.rules[code], registry)
        assert made is not None, code
        assert f">{code} " in made.replace("\u00a0", " ")
        drawn += made.count('class="of-badge-')
    assert drawn >= 14
    assert site_pages.picture(registry.rules["OF010"], registry) is None  # not XML: no model


def test_links_to_rules_lead_to_their_pages() -> None:
    assert site_pages.to_pages("[a](reference/rules.md#of201)") == "[a](reference/rules/OF201.md)"
    assert site_pages.to_pages("[a](rules.md#presets)") == "[a](rules.md#presets)"
    index = site_pages.index_only((FOLDER / "rules.md").read_text("utf-8"))
    assert "(rules/OF201.md)" in index
    assert "### OF201" not in index
    assert "## Retired codes" in index


# -- configuration -----------------------------------------------------------------------------


def test_the_page_on_configuration_has_every_key(registry: Registry) -> None:
    """Those that the readers take: of the file, its tables, each pass, and the language model."""
    said = (FOLDER / "configuration.md").read_text("utf-8")
    options = {
        (cls.name, field.name.replace("_", "-"))
        for cls in registry.passes.values()
        if dataclasses.is_dataclass(cls)
        for field in dataclasses.fields(cls)
    }
    assert len(options) > 10
    keys = (*TOP_LEVEL, *SUPPRESS_KEYS, *MODEL_KEYS)
    assert [key for key in keys if f"\n| `{key}` | " not in said] == []
    assert [(p, o) for p, o in options if f"\n| `{p}` | `{o}` | " not in said] == []
    assert [name for name in registry.passes if f"`{name}`" not in said] == []


def test_what_the_page_on_configuration_shows_is_accepted(registry: Registry) -> None:
    shown = [b.content for b in blocks(FOLDER / "configuration.md") if b.language == "toml"]
    assert len(shown) == 3
    for content in shown:
        ctx = PassContext(registry=registry)
        read_bytes("orgflow.toml", content.encode(), registry, ctx)
        assert ctx.diagnostics == []


def test_what_rule_pages_propose_is_accepted(registry: Registry) -> None:
    for rule in registry.rules.values():
        if not rule.category.is_about_model:
            continue
        page = site_pages.rule_page(rule, registry, drawn=False)
        toml = re.findall(r"(?s)## Configure.*?```toml\n(.*?)```", page)[0]
        for content in (toml, re.sub(r"(?m)^(\S+ = \"[a-z]+\"  #.*\n)# ", "", toml)):
            ctx = PassContext(registry=registry)
            read_bytes("orgflow.toml", content.encode(), registry, ctx)
            assert ctx.diagnostics == [], (rule.code, content)


# -- installing ----------------------------------------------------------------------------------


def test_the_page_on_installing_names_what_there_is() -> None:
    said = (DOCS / "install.md").read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    rows = re.findall(r"(?m)^\| (`\w+`(?:, `\w+`)*) \|", said)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert named == set(project["optional-dependencies"])
    assert project["requires-python"] == ">=3.11"
    assert "Python 3.11 or newer" in said
    targets = set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8")))
    assert set(re.findall(r"(?m)(?:^|`)make ([a-z-]+)", said)) <= targets


# -- what pages tell people to type ----------------------------------------------------------


class Shell:
    """Runs commands as a reader would, one after the other, and remembers where it is."""

    def __init__(self, folder: Path, env: dict[str, str], patience: float = 120) -> None:
        self.folder, self.here = folder, folder / ".here"
        self.patience = patience
        self.env = {**env, "HERE": str(self.here)}

    def run(self, command: str, where: str) -> str:
        """Both streams of a command, which has to succeed."""
        done = subprocess.run(
            ["bash", "-c", f"set -euo pipefail\n{command}\npwd > \"$HERE\""],
            cwd=self.folder, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, check=False, timeout=self.patience,
        )  # fmt: skip
        assert done.returncode == 0, f"{where}: $ {command}\n{done.stdout}"
        self.folder = Path(self.here.read_text().rstrip("\n"))
        return done.stdout


def commands(content: str) -> list[str]:
    """The lines of a block, those that end with a backslash joined."""
    return [line for line in content.replace("\\\n", " ").splitlines() if line.strip()]


SHOWN_ONLY = ("xml", "toml", "yaml", "console")
"""Blocks without a file's name that are there to be read."""


def follow(page: Path, shell: Shell) -> int:
    """Do what a page says; the number of commands run."""
    out, count = "", 0
    for block in blocks(page):
        where = f"{page.name}:{block.line}"
        if block.language == "sh":
            out = ""
            for command in commands(block.content):
                out += shell.run(command, where)
                count += 1
        elif block.language == "text":
            assert shown(block.content, out), f"{where}: shown\n{block.content}\nbut\n{out}"
        elif block.title is None and block.language in SHOWN_ONLY:
            continue
        else:
            assert block.title is not None, f"{where}: a file without its name"
            path = shell.folder / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.content, "utf-8")
    return count


@pytest.fixture
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that a reader installs into: the tutorial leaves a plugin."""
    made = fresh_environment(tmp_path_factory.mktemp("reader") / "venv")
    command = made.parent / "orgflowc"
    command.write_text(f'#!/bin/sh\nexec {made} -m orgflow.cli "$@"\n')
    command.chmod(0o755)
    return made


def environment(python: Path) -> dict[str, str]:
    """As a reader has it, but nothing is downloaded."""
    return clean_environment(
        PATH=os.pathsep.join([str(python.parent), os.environ["PATH"]]),
        PIP_NO_INDEX="1",
        PIP_NO_DEPS="1",
        PIP_NO_BUILD_ISOLATION="0",  # which says: no isolation
        PIP_DISABLE_PIP_VERSION_CHECK="1",
        PYTEST_DISABLE_PLUGIN_AUTOLOAD="1",
        PYTHONDONTWRITEBYTECODE="1",
    )


@pytest.mark.slow
def test_the_tutorial_works_line_by_line(python: Path, tmp_path: Path) -> None:
    assert follow(DOCS / "plugins.md", Shell(tmp_path, environment(python))) >= 12


@pytest.mark.slow
def test_the_tour_works_line_by_line(python: Path, tmp_path: Path, engine: object) -> None:
    for name in ("examples", "docs"):
        (tmp_path / name).symlink_to(ROOT / name)
    assert follow(DOCS / "index.md", Shell(tmp_path, environment(python))) >= 6


@pytest.mark.slow
def test_the_tutorial_on_a_model_works_line_by_line(
    python: Path, tmp_path: Path, engine: object
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    assert follow(DOCS / "tutorial.md", Shell(tmp_path, environment(python))) == 9


@pytest.mark.parametrize("name", DRAWN)
def test_drawn_pictures_are_up_to_date(name: str, registry: Registry) -> None:
    drawn = (PICTURES / name).read_text("utf-8")
    assert drawn == DRAWN[name](registry), "run `python tests/support/pictures.py`"


@pytest.mark.parametrize("name", TAKEN)
def test_pictures_of_the_editor_are_small(name: str) -> None:
    """Made by `python tests/support/pictures.py --editor`, which needs a server."""
    assert (PICTURES / name).read_bytes().startswith(b"\x89PNG")
    assert (PICTURES / name).stat().st_size <= MOST_BYTES


def test_the_curves_of_stores_have_the_sizes_of_the_table() -> None:
    table = re.findall(r"(?m)^\| ([\d,]+) \|", (DOCS / "messages.md").read_text("utf-8"))
    curve = (PICTURES / "store.svg").read_text("utf-8")
    assert [count for count in table if f">{count}</text>" not in curve] == []
    points = re.findall(r'<polyline points="([^"]+)"', curve)
    assert {len(line.split()) for line in points} == {len(table)}
    assert len(points) == 5


def test_every_picture_is_shown() -> None:
    shown = "".join(page.read_text("utf-8") for page in EVERY)
    named = {path.name for path in PICTURES.iterdir()}
    assert named == {*DRAWN, *TAKEN, *MEASURED}
    assert [name for name in named if f"pictures/{name})" not in shown] == []


@pytest.mark.parametrize(("page", "count"), [("install.md", 2), ("faq.md", 3)])
def test_other_pages_work_line_by_line(python: Path, tmp_path: Path, page: str, count: int) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    assert follow(DOCS / page, Shell(tmp_path, environment(python))) == count


def test_the_page_on_checking_works_line_by_line(python: Path, tmp_path: Path) -> None:
    for name in ("examples", "docs"):
        (tmp_path / name).symlink_to(ROOT / name)
    assert follow(DOCS / "checking.md", Shell(tmp_path, environment(python))) >= 3


@pytest.mark.slow
def test_the_page_on_ci_works_line_by_line(python: Path, tmp_path: Path) -> None:
    """Its commands, and those in its files for GitHub, GitLab and pre-commit; a new fault fails."""
    models = tmp_path / "models"
    models.mkdir()
    for name in ("demo/order.bpmn", "leave-request/model.bpmn"):
        (models / name.replace("/", "-")).write_bytes((ROOT / "examples" / name).read_bytes())
    shell = Shell(tmp_path, environment(python))
    assert follow(DOCS / "ci.md", shell) == 4
    log = json.loads((tmp_path / "findings.sarif").read_text("utf-8"))
    assert any(result["ruleId"] == "OF201" for result in log["runs"][0]["results"])
    files = (".github/workflows/models.yml", ".github/workflows/findings.yml", ".gitlab-ci.yml",
             ".pre-commit-config.yaml")  # fmt: skip
    asked = [
        found
        for file in files
        for found in re.findall(
            r"(?:run:|-|entry:) (orgflowc .*)", (tmp_path / file).read_text("utf-8")
        )
    ]
    assert len(asked) == 5
    for command in asked:
        whole = command if " models" in command else f"{command} models/demo-order.bpmn"
        shell.run(whole, "ci.md")
    faulty = (models / "demo-order.bpmn").read_text("utf-8")
    (models / "new.bpmn").write_text(faulty, "utf-8")
    for command in asked:
        whole = command if " models" in command else f"{command} models/new.bpmn"
        ran = subprocess.run(
            whole.split(), cwd=tmp_path, env=shell.env, capture_output=True, check=False
        )
        assert ran.returncode == (0 if "--exit-zero" in command else 1), command


def test_the_page_on_editors_works_line_by_line(python: Path, tmp_path: Path) -> None:
    assert follow(DOCS / "editors.md", Shell(tmp_path, environment(python))) == 1
    settings = json.loads((tmp_path / ".vscode/settings.json").read_text("utf-8"))
    assert "source.fixAll.orgflow" in settings["editor.codeActionsOnSave"]


@pytest.mark.slow
def test_the_page_on_texts_works_line_by_line(python: Path, tmp_path: Path) -> None:
    assert follow(DOCS / "text.md", Shell(tmp_path, environment(python))) >= 5


@pytest.mark.slow
def test_the_page_on_messages_works_line_by_line(python: Path, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    assert follow(DOCS / "messages.md", Shell(tmp_path, environment(python), 400)) >= 3


def test_the_page_on_this_machine_works_line_by_line(
    python: Path, tmp_path: Path, engine: object
) -> None:
    """What needs a server is in tests/live/test_live_serve.py."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    assert follow(DOCS / "local.md", Shell(tmp_path, environment(python))) == 1
    (watch,) = (one for one in shown_commands(DOCS / "local.md") if one.arguments[0] == "watch")
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "orgflow", *watch.arguments],
        cwd=ROOT, stdout=subprocess.PIPE, text=True, encoding="utf-8", preexec_fn=interruptible,
    ) as child:  # fmt: skip
        assert child.stdout is not None
        line = child.stdout.readline() + child.stdout.readline()
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=120) == 0
    assert shown(watch.output, line), line


def test_what_a_page_shows_can_be_wrong() -> None:
    assert shown("…\n3 passed in …", "...\n3 passed in 0.1s\n")
    assert shown("a\n…\nb", "x\na\nc\nb\n")
    assert not shown("3 passed", "13 passed\n")
    assert not shown("a\nb", "a\nc\nb\n")


# -- the architecture page ---------------------------------------------------------------------


_PATH = re.compile(r"`((?:[\w.]+/)+(?:[\w.]+)?|\w+\.py)`")


def test_the_architecture_page_names_files_that_exist() -> None:
    named = _PATH.findall((DOCS / "architecture.md").read_text("utf-8"))
    assert len(named) > 40
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_architecture_page_names_every_room() -> None:
    said = (DOCS / "architecture.md").read_text("utf-8")
    tops = ("frontends", "passes", "backends", "store", "compilation", "evaluation", "commands")
    inner = [
        f"{base}/{folder.name}"
        for base in ("orgflow_ir", "backends/n8n")
        for folder in sorted((ROOT / base).iterdir())
        if (folder / "__init__.py").is_file()
    ]
    assert [room for room in (*tops, *inner) if f"`{room}/`" not in said] == []


def test_the_picture_names_rooms_that_exist() -> None:
    drawn = (DOCS / "architecture.svg").read_text("utf-8")
    rooms = {folder.name for folder in (ROOT / "orgflow_ir").iterdir() if folder.is_dir()}
    rooms -= {"schema", "__pycache__"}
    assert [room for room in sorted(rooms) if f">{room}/<" not in drawn] == []
