"""Pages that exist on the site only, made while mkdocs builds it (a hook of mkdocs.yml): one page a
rule with the picture of a faulty model, and the changelog. docs/reference/rules.md, which has every
rule on one page for readers of the repository, becomes their index.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(Path(__file__).resolve().parent)]

import orgflow  # noqa: E402
import write_docs  # noqa: E402
from orgflow.backends.svg.findings import findings_of  # noqa: E402
from orgflow.backends.svg.render import render_model  # noqa: E402
from orgflow.compilation.reading import load_model  # noqa: E402
from orgflow.compilation.usage_errors import InputError  # noqa: E402

from orgflow_ir.diagnostics import Diagnostic, Rule  # noqa: E402
from orgflow_ir.model import Model  # noqa: E402
from orgflow_ir.model.source import SourceFile  # noqa: E402
from orgflow_ir.pipeline import PassContext  # noqa: E402
from orgflow_ir.plugins import Registry  # noqa: E402

CASES = ROOT / "tests" / "diagnostics"
INDEX = "reference/rules.md"
FOLDER = "reference/rules"
MOST_LINES = 60
"""Of a file that a page shows in full."""

_LANGUAGES = {".bpmn": "xml", ".dmn": "xml", ".json": "json", ".py": "python", ".toml": "toml"}


# -- cases -----------------------------------------------------------------------------------


def case_of(rule: type[Rule]) -> Path | None:
    """The folder with the rule's models in tests/diagnostics."""
    return next(iter(sorted(CASES.glob(f"{rule.code}-*"))), None)


def sample(case: Path, name: str) -> Path | None:
    """`bad` or `good` of a case."""
    return next(iter(sorted(case.glob(f"{name}.*"))), None)


def found_in(path: Path, rule: type[Rule]) -> tuple[Diagnostic, ...]:
    """What `check`, and else `compile`, reports of a rule in a file; none where it needs more."""
    try:
        read = orgflow.read(path)
        checked = orgflow.check(read, preset="all" if rule.optional else "recommended")
        mine = [d for d in (*read.diagnostics, *checked.diagnostics) if d.code == rule.code]
        if not mine:
            compiled = orgflow.compile(read, rule.target or "n8n")
            mine = [d for d in compiled.diagnostics if d.code == rule.code]
    except (InputError, ValueError):
        return ()
    return tuple(dict.fromkeys(mine))


def model_in(path: Path, registry: Registry) -> Model | None:
    """The model in a file, with its drawing; None where it holds none that can be drawn."""
    ctx = PassContext(registry=registry)
    try:
        model = load_model(SourceFile(path.name, path.read_bytes()), registry, ctx, diagram=True)
    except (InputError, ValueError):
        return None
    drawable = model is not None and any(scope.nodes for scope in model.scopes())
    return model if drawable else None


def picture(rule: type[Rule], registry: Registry) -> str | None:
    """The faulty model of a rule as SVG, with the finding; None where there is nothing to draw."""
    case = case_of(rule)
    bad = sample(case, "bad") if case is not None else None
    if bad is None:
        return None
    found = found_in(bad, rule)
    model = model_in(bad, registry) if found else None
    return render_model(model, findings=findings_of(found)) if model is not None else None


# -- the page of a rule ----------------------------------------------------------------------


def rule_page(rule: type[Rule], registry: Registry, drawn: bool) -> str:
    """Markdown: the explanation, the picture, an example with its finding, how to configure it."""
    lines = [f"# {rule.code} {rule.name}", *list(write_docs._rule(rule))[2:]]
    case = case_of(rule)
    if case is not None:
        lines += _example(rule, case, drawn)
    if rule.category.is_about_model:
        lines += _configuration(rule, registry)
    return "\n".join([*lines, "", "[All diagnostics](../rules.md)", ""])


def _example(rule: type[Rule], case: Path, drawn: bool) -> Iterator[str]:
    bad, good = sample(case, "bad"), sample(case, "good")
    if drawn:
        yield from ("", "## The fault in a model", "")
        yield f"![A model with {rule.code} {rule.name}]({rule.code}.svg)"
    printed = next(p for n in ("transcript.txt", "expected.txt") if (p := case / n).is_file())
    yield from ("", "## The finding", "", "```text", *_finding(rule, printed), "```")
    if bad is None:
        return
    fixes = sorted({(d.fix.title, d.fix.applicability) for d in found_in(bad, rule) if d.fix})
    if fixes:
        yield from ("", "## The fix", "")
        for title, how in fixes:
            option = {"safe": "`check --fix`", "unsafe": "`check --fix --unsafe-fixes`"}.get(how)
            made = f": {option} applies it" if option else ", which has to be made manually"
            yield f"- {write_docs.text(title)} ({how}){made}"
    texts = [_text(path) for path in (bad, good) if path is not None]
    if len(texts) == 2 and None not in texts:
        yield from _files(bad, str(texts[0]), str(texts[1]))


def _text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        return None


def _finding(rule: type[Rule], printed: Path) -> list[str]:
    """The command that reports it and what that prints, or the findings of `check`."""
    said = printed.read_text("utf-8").rstrip("\n").splitlines()
    if printed.name == "expected.txt":
        return [part for row in said for part in textwrap.wrap(row, 88, subsequent_indent="    ")]
    calls = [at for at, line in enumerate(said) if line.startswith("$ ")]
    for begin, end in zip(calls, [*calls[1:], len(said)], strict=True):
        if any(rule.code in line for line in said[begin + 1 : end]):
            return said[begin:end]
    return said


def _files(bad: Path, wrong: str, right: str) -> Iterator[str]:
    language = _LANGUAGES.get(bad.suffix, "text")
    if wrong.count("\n") <= MOST_LINES and "```" not in wrong:
        yield from ("", "## The model as a file", "")
        yield from (f'```{language} title="{bad.name}"', *wrong.rstrip("\n").splitlines(), "```")
    changes = list(
        difflib.unified_diff(
            wrong.splitlines(), right.splitlines(), "with the fault", "without it", lineterm="", n=1
        )
    )
    if 0 < len(changes) <= MOST_LINES and not any("```" in line for line in changes):
        yield from ("", "## The same model without the fault", "", "```diff", *changes, "```")


def _configuration(rule: type[Rule], registry: Registry) -> Iterator[str]:
    yield from ("", "## Configure", "")
    level = "warning" if rule.severity.value != "warning" else "error"
    yield "In `orgflow.toml` ([all keys](../configuration.md)):"
    yield from ("", "```toml", "[rules]", f'{rule.name} = "{level}"  # off, info, warning, error')
    owners = [
        cls
        for cls in registry.passes.values()
        if rule in cls.rules and dataclasses.is_dataclass(cls)
    ]
    for cls in owners:
        for field in dataclasses.fields(cls):
            shown = write_docs.toml_value(field.default)
            yield f"# {rule.name} = {{ {field.name.replace('_', '-')} = {shown} }}"
    yield from ("", "[[suppress]]", f'rule = "{rule.code}"', 'reason = "…"', "```", "")
    turned = "It is off unless a preset or this file turns it on. " if rule.optional else ""
    yield (
        f'{turned}In a BPMN model, the attribute `orgflow:suppress="{rule.code}: reason"` '
        "suppresses it at one element ([more](../../checking.md#suppressing-a-finding))."
    )


# -- the site --------------------------------------------------------------------------------


def index_only(markdown: str) -> str:
    """rules.md without the sections of single rules, whose pages it links to."""
    kept = re.sub(r"(?ms)^### [A-Z]+[0-9A-Z]*\d{3} .*?(?=^##? |\Z)", "", markdown)
    return re.sub(r"\(#([a-z0-9]+\d{3})\)", lambda m: f"(rules/{m[1].upper()}.md)", kept)


def to_pages(markdown: str) -> str:
    """Links to rules on the one page of the repository lead to the page of each rule."""
    return re.sub(
        r"\(((?:\.\./)*(?:reference/)?)rules\.md#([a-z0-9]+\d{3})\)",
        lambda m: f"({m[1]}rules/{m[2].upper()}.md)",
        markdown,
    )


def changelog() -> str:
    """CHANGELOG.md; its links to files of the repository stay words."""
    said = (ROOT / "CHANGELOG.md").read_text("utf-8")
    return re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]+\)", r"\1", said)


def on_config(config: Any) -> Any:
    """The version in the footer, and the address of the source where ORGFLOW_REPOSITORY has it."""
    config.extra["version_of"] = orgflow.__version__
    config.copyright = f"orgflow {orgflow.__version__} · MIT licence"
    address = os.environ.get("ORGFLOW_REPOSITORY", "").rstrip("/")
    if address:
        config.repo_url, config.repo_name = address, "source"
        config.edit_uri = None
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made here."""
    from mkdocs.structure.files import File

    registry = Registry(outside=False)
    for code, rule in registry.rules.items():
        drawn = picture(rule, registry)
        if drawn is not None:
            files.append(File.generated(config, f"{FOLDER}/{code}.svg", content=drawn))
        page = rule_page(rule, registry, drawn is not None)
        files.append(File.generated(config, f"{FOLDER}/{code}.md", content=page))
    files.append(File.generated(config, "changelog.md", content=changelog()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Links to rules lead to their pages."""
    if page.file.src_uri == INDEX:
        return index_only(markdown)
    return to_pages(markdown)
