"""The pages of docs/reference and the page on bindings, made from the code by `make golden`."""

from __future__ import annotations

import dataclasses
import html
import inspect
import json
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import orgflow
from bindings_page import bindings
from orgflow import api
from orgflow.agents.model_client.settings import KEY, NAME, URL, ModelSettings, environment_variable
from orgflow.agents.model_client.settings import KEYS as MODEL_KEYS
from orgflow.cli import orgflowc
from orgflow.commands.list import list_constructs, support_matrix
from orgflow.commands.project.configuration import SUPPRESS_KEYS, TOP_LEVEL
from orgflow.commands.project.rule_settings import LEVELS
from orgflow.passes.presets import BPMNLINT, PRESETS, presets_with

from orgflow_ir import authoring
from orgflow_ir.diagnostics import Category, Rule
from orgflow_ir.model import Element
from orgflow_ir.pipeline import Pass
from orgflow_ir.plugins import Registry
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.targets import Illegal, Legal, LegalIf

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "reference"
BINDINGS = ROOT / "docs" / "bindings.md"

MADE = (
    "<!-- Made by tests/support/write_docs.py from the code: change it there, then "
    "`make golden`. -->"
)
GROUPS = {
    Category.INPUT: "Input, plugins, configuration",
    Category.MALFORMED: "Malformed models",
    Category.FLOW: "Flow: deadlocks, endless loops, duplicate execution",
    Category.DATA: "Data, events, messages",
    Category.STYLE: "Style: rules that are off unless a preset or a project turns them on",
    Category.TARGET: "Targets: what they do not support, and faults in their own files",
    Category.GAP: "Gaps: information that the source does not contain",
    Category.DEPLOY: "Deploying, running, replaying",
    Category.INTERNAL: "Internal errors",
}
_CODE_LINE = re.compile(r"[<{$|]|orgflowc |process |\S+\(|={1,2}")


def text(words: str) -> str:
    """Words as Markdown that shows them: no HTML, no table cells; code in backticks stays code."""
    parts = re.split(r"(`[^`]*`)", " ".join(words.split()))
    return "".join(
        part
        if part.startswith("`")
        else re.sub(r"([\\*_\[\]|{}#])", r"\\\1", html.escape(part, quote=False))
        for part in parts
    )


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    """A table of cells that are Markdown already."""
    yield "| " + " | ".join(head) + " |"
    yield "|" + " --- |" * len(head)
    yield from ("| " + " | ".join(cell or " " for cell in row) + " |" for row in rows)


def page(title: str, *paragraphs: str) -> list[str]:
    """The head of a page."""
    return [MADE, "", f"# {title}", *(line for p in paragraphs for line in ("", p))]


# -- commands --------------------------------------------------------------------------------


def commands() -> str:
    """Every command with its arguments and options."""
    lines = page(
        "Commands",
        "`IN` may be `-` for standard input, with `--from`. The artifact goes to standard output, "
        "diagnostics and progress go to standard error.",
        text(orgflowc.epilog or ""),
    )
    root = click.Context(orgflowc, info_name="orgflowc")
    for name in orgflowc.list_commands(root):
        command = orgflowc.get_command(root, name)
        assert command is not None
        lines += _command(command, f"orgflowc {name}", 2)
    return "\n".join([*lines, ""])


def _command(command: click.Command, path: str, level: int) -> Iterator[str]:
    yield from ("", f"{'#' * level} {path.removeprefix('orgflowc ')}", "")
    arguments = [p for p in command.params if isinstance(p, click.Argument)]
    options = [p for p in command.params if isinstance(p, click.Option)]
    usage = [path, *(["[OPTIONS]"] if options else []), *map(_argument, arguments)]
    if isinstance(command, click.Group):
        usage.append("COMMAND")
    yield from ("```text", " ".join(usage), "```")
    for paragraph in (command.help or "").strip().split("\n\n"):
        yield from ("", text(paragraph))
    if options:
        yield ""
        yield from table(("option", "meaning"), [_option(o) for o in options])
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from _command(inner, f"{path} {name}", level + 1)


def _argument(argument: click.Argument) -> str:
    name = argument.metavar or (argument.name or "").upper()
    return f"{name}..." if argument.nargs != 1 and not name.endswith("...") else name


def _option(option: click.Option) -> tuple[str, str]:
    names = ", ".join(option.opts)
    value = "" if option.is_flag else f" {option.metavar or 'TEXT'}"
    words = text((option.help or "").replace("[required]", ""))
    return f"`{names}{value}`", f"{words} Required." if option.required else words


# -- rules -----------------------------------------------------------------------------------


def rules(registry: Registry) -> str:
    """Every rule with its explanation."""
    lines = page(
        "Diagnostics",
        "Every message has a code that never changes its meaning; `orgflowc explain CODE` prints "
        "the same text as this page. Codes of plugins begin with their own letters.",
    )
    found = registry.rules
    lines += _preset_table()
    for category, title in GROUPS.items():
        inside = [rule for rule in found.values() if rule.category is category]
        lines += ["", f"## {title}", ""]
        lines += table(
            ("code", "name", "severity", "presets"),
            [
                (f"[{r.code}](#{r.code.lower()})", f"`{r.name}`", r.severity.value, _presets(r))
                for r in inside
            ],
        )
        for rule in inside:
            lines += _rule(rule)
    if registry.retired:
        lines += ["", "## Retired codes", ""]
        lines += [
            "Nothing reports these any more; in a suppression they stand for their successor."
        ]
        lines += [""]
        lines += table(
            ("code", "name", "now"),
            [
                (r.code, f"`{r.name}`", f"[{r.successor}](#{r.successor.lower()})")
                for r in registry.retired.values()
            ],
        )
    return "\n".join([*lines, ""])


def _presets(rule: type[Rule]) -> str:
    return (
        ", ".join(f"[{name}](#presets)" for name in presets_with(rule))
        if (rule.category.is_about_model)
        else ""
    )


def _preset_table() -> Iterator[str]:
    """Presets, and the rules of bpmnlint with what finds the same here."""
    yield from ("", "## Presets", "")
    yield text(
        '`check --preset NAME`, or `preset = "NAME"` in orgflow.toml, selects the rules. '
        "A table [rules] there configures single rules by code, by name or by bpmnlint's name."
    )
    yield ""
    yield from table(("preset", "purpose"), [(f"`{n}`", text(w)) for n, w in PRESETS.items()])
    yield ""
    rows = []
    for name, rule in BPMNLINT.items():
        codes = ", ".join(f"[{c}](#{c.lower()})" for c in rule.codes)
        rows.append((f"`{name}`", rule.severity.value, codes))
    yield from table(("bpmnlint rule", "bpmnlint severity", "orgflow rule"), rows)


def _rule(rule: type[Rule]) -> Iterator[str]:
    yield from ("", f"### {rule.code} `{rule.name}` {{: #{rule.code.lower()} }}", "")
    of = f", {rule.target} only" if rule.target is not None else ""
    off = ", off unless a preset or orgflow.toml turns it on" if rule.optional else ""
    yield f"*{rule.severity.value}{of}{off}*"
    for section in re.split(r"(?m)^(?=\S)", rule.explanation()):
        heading, _, body = section.partition("\n")
        if not heading.strip():
            continue
        yield from ("", f"**{heading.strip()}**")
        yield from _body([line.strip() for line in body.splitlines() if line.strip()])


def _body(lines: list[str]) -> Iterator[str]:
    """A section's lines: code where they look like it, else one paragraph."""
    if any(_CODE_LINE.match(line) for line in lines):
        yield from ("", "```text", *lines, "```")
    else:
        yield from ("", text(" ".join(lines)))


# -- targets ---------------------------------------------------------------------------------

_CELLS = {
    "Supported": "yes",
    "Supported*": "yes, if",
    "Lowered": "rewritten",
    "Degraded": "lossy",
    "Refused": "no",
    "-": "–",
}


def targets(registry: Registry) -> str:
    """What each target can say of each construct, and why not."""
    lines = page(
        "Constructs and targets",
        "Support of each construct by each target: *yes*, *yes, if* a condition holds, *rewritten* "
        "without loss into supported constructs, *lossy* only with `--allow-lossy`, *no* with an "
        "error and the reason. The last rows are derived from a model's structure; – means that a "
        "target does not distinguish them. `orgflowc list constructs --matrix` prints this table "
        "including installed plugins.",
    )
    head, *rows = support_matrix(registry)
    words = list_constructs(registry)
    lines.append("")
    lines += table(
        ("construct", "", *(f"[{name}](#{name})" for name in head[1:])),
        [(f"`{row[0]}`", text(words[row[0]]), *(_CELLS[c] for c in row[1:])) for row in rows],
    )
    for backend in registry.backends.values():
        lines += _target(backend)
    return "\n".join([*lines, ""])


def _target(backend: Backend) -> Iterator[str]:
    yield from ("", f"## {backend.name}", "", f"{text(backend.summary)}.")
    rows = []
    for name, verdict in backend.target.constructs.items():
        said = {Legal: "yes", LegalIf: "yes, if", Illegal: "no"}[type(verdict)]
        if isinstance(verdict, Legal):
            why = verdict.note
        else:
            help_text = f"; {verdict.help}" if isinstance(verdict, Illegal) and verdict.help else ""
            why = verdict.reason + help_text
        if why:
            rows.append((f"`{name}`", said, text(why)))
    if rows:
        yield ""
        yield from table(("construct", "", "note, condition or reason"), rows)
    lowerings = [
        (f"`{low.name}`", ", ".join(f"`{c}`" for c in low.consumes), text(low.loses or "nothing"))
        for low in backend.target.lowerings
    ]
    if lowerings:
        yield ""
        yield from table(("lowering", "rewrites", "loses"), lowerings)
    if backend.target.options:
        yield ""
        options = backend.target.options.items()
        yield from table(
            ("option", "values, the default first"),
            [(f"`{k}`", ", ".join(f"`{v}`" for v in values) or "any") for k, values in options],
        )


# -- formats and passes ----------------------------------------------------------------------


def formats(registry: Registry) -> str:
    """Frontends, backends, passes and reporters."""
    lines = page("Formats and passes", "`orgflowc list` prints these including those of plugins.")
    lines += ["", "## Read", ""]
    lines += table(
        ("`--from`", "suffixes", ""),
        [
            (f"`{f.name}`", " ".join(f"`{s}`" for s in f.suffixes), text(f.summary))
            for f in registry.frontends.values()
        ],
    )
    lines += ["", "## Written", ""]
    lines += table(
        ("`--target`", "options", ""),
        [
            (f"`{b.name}`", ", ".join(f"`{o}`" for o in b.target.options), text(b.summary))
            for b in registry.backends.values()
        ],
    )
    lines += ["", "## Passes, in the order in which `check` and `compile` run them", ""]
    lines += table(
        ("pass", "stage", "options", "finds", ""), [_pass(cls) for cls in _in_order(registry)]
    )
    lines += ["", "## Forms of diagnostics", ""]
    lines += table(("`--format`",), [(f"`{name}`",) for name in registry.reporters])
    return "\n".join([*lines, ""])


def _in_order(registry: Registry) -> list[type[Pass]]:
    from orgflow.passes.optional import OPTIONAL
    from orgflow.passes.pipelines import CHECK

    ordered = [type(item) for item in (*CHECK, *OPTIONAL)]
    rest = [cls for cls in registry.passes.values() if cls not in ordered]
    return [*ordered, *rest]


def _pass(cls: type[Pass]) -> tuple[str, ...]:
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    options = ", ".join(f"`{f.name.replace('_', '-')}={f.default}`" for f in fields)
    found = ", ".join(f"[{r.code}](rules.md#{r.code.lower()})" for r in cls.rules)
    doc = text((cls.__doc__ or "").strip().split("\n\n")[0])
    return f"`{cls.name}`", cls.stage.name.lower(), options, found, doc


# -- configuration ---------------------------------------------------------------------------


def toml_value(value: object) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{', '.join(toml_value(one) for one in value)}]"
    return json.dumps(value, ensure_ascii=False)


def configuration(registry: Registry) -> str:
    """Every key of orgflow.toml, from the tables that its readers use."""
    lines = page(
        "Configuration",
        "`orgflow.toml` contains the settings of a project. `check`, `compile`, `model`, "
        "`fill` and the language server read the one in the folder of a model, or the nearest "
        "above it up to the root of the repository. An unknown key is an error with its line "
        "([OF004](rules.md#of004)).",
    )
    lines += ["", "## Top level", ""]
    presets = ", ".join(f"`{name}`" for name in PRESETS)
    about = {
        "cache": "`false`: `check` does not keep results ([many files](../checking.md#many-files))",
        "preset": f"which rules report: {presets} ([presets](rules.md#presets))",
        "rules": "a table: severities and options of single rules ([rules](#rules))",
        "passes": "a table: passes on or off, and their options ([passes](#passes))",
        "targets": "a table for each target: its options ([targets](#targets))",
        "model": "a table: the language model ([model](#model))",
        "suppress": "a list of tables: accepted findings ([suppress](#suppress))",
    }
    lines += table(("key", "meaning"), [(f"`{key}`", about[key]) for key in TOP_LEVEL])
    lines += ["", "## rules", ""]
    levels = ", ".join(f"`{level}`" for level in LEVELS)
    lines += [
        "The key is the code or the name of a rule, or the name of a rule of bpmnlint. The value "
        f"is one of {levels}, or a table with `severity` and options of the passes that find it. "
        "Rules about input, servers and defects of orgflow cannot be configured.",
        "",
        "```toml",
        "[rules]",
        'fake-join = "off"',
        'OF201 = { severity = "warning", max-states = 20000 }',
        "```",
        "",
    ]
    rows = [(cls, f) for cls in _in_order(registry) for f in _options_of(cls)]
    lines += table(
        ("option", "default", "rules that take it"),
        [
            (
                f"`{f.name.replace('_', '-')}`",
                f"`{toml_value(f.default)}`",
                ", ".join(f"[{r.code}](rules.md#{r.code.lower()})" for r in cls.rules),
            )
            for cls, f in rows
        ],
    )
    lines += ["", "## passes", ""]
    lines += [
        'The key is the name of a pass. The value is `"on"`, `"off"` or a table of options.',
        "",
    ]
    lines += table(
        ("pass", "option", "default", "of the pass"),
        [
            (
                f"`{cls.name}`",
                f"`{f.name.replace('_', '-')}`",
                f"`{toml_value(f.default)}`",
                text((cls.__doc__ or "").strip().split("\n\n")[0]),
            )
            for cls, f in rows
        ],
    )
    without = ", ".join(f"`{cls.name}`" for cls in _in_order(registry) if not _options_of(cls))
    lines += ["", f"Passes without options, which can be on or off: {without}.", ""]
    lines += ["## targets", ""]
    lines += [
        "A table `[targets.NAME]` has options of a target, also of a plugin's, as texts. They hold "
        "for every command that compiles a model near the file; options of the command line "
        "(`--target 'n8n{people=form}'`) go first. The library reads no configuration.",
        "",
        "```toml",
        "[targets.n8n]",
        'people = "mail"',
        "```",
        "",
    ]
    lines += table(
        ("target", "option", "values, the default first"),
        [
            (f"`{name}`", f"`{key}`", ", ".join(f"`{one}`" for one in values) or "any text")
            for name, backend in sorted(registry.backends.items())
            for key, values in backend.target.options.items()
        ],
    )
    lines += ["", "## model", ""]
    lines += [
        "The language model of `model`, `fill` and `discover`. Options of the command line go "
        f"first, then environment variables: {', '.join(f'`{v}`' for v in (URL, NAME, KEY))}, and "
        f"`{environment_variable('tokens')}` for `tokens`, "
        f"`{environment_variable('price-in')}` for `price-in` and so on. "
        "Of several `orgflow.toml`, that of the repository goes before the user's own, "
        "`orgflow/orgflow.toml` in `XDG_CONFIG_HOME` (by default `~/.config`). "
        "The key of the endpoint never stands in a file, and is sent only to an address of an "
        f'option, of `{URL}` or of the user\'s own file; `redact = "off"` and a `record` outside '
        "of its folder are errors in that of a repository ([security](../security.md)).",
        "",
    ]
    words = _attributes(ModelSettings)
    defaults = {f.name: f.default for f in dataclasses.fields(ModelSettings)}
    lines += table(
        ("key", "value", "default", "meaning"),
        [
            (f"`{key}`", text(kind), _default(defaults[name]), text(words[name]))
            for key, (name, _, kind) in MODEL_KEYS.items()
        ],
    )
    lines += ["", "## suppress", ""]
    about = {
        "rule": "the code or the name of the rule; required",
        "reason": "why the finding is right where it is; required",
        "files": "patterns below the folder of `orgflow.toml`, as in `models/*.bpmn`; left out: "
        "all",
        "elements": "ids or labels of elements; left out: all",
    }
    lines += table(("key", "meaning"), [(f"`{key}`", about[key]) for key in SUPPRESS_KEYS])
    lines += [
        "",
        "```toml",
        "[[suppress]]",
        'rule = "OF203"',
        'reason = "sending the note twice does no harm"',
        'files = ["models/*.bpmn"]',
        'elements = ["Send note"]',
        "```",
    ]
    return "\n".join([*lines, ""])


def _default(value: object) -> str:
    if value is dataclasses.MISSING:
        return "required"
    return "none" if value in (None, "") else f"`{toml_value(value)}`"


def _options_of(cls: type[Pass]) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()


def _attributes(cls: type) -> dict[str, str]:
    """The entries of a docstring's section `Attributes:` by name."""
    section = inspect.cleandoc(cls.__doc__ or "").partition("Attributes:\n")[2]
    entries = re.split(r"\n(?! )", inspect.cleandoc(section))
    found: dict[str, str] = {}
    for entry in entries:
        names, _, said = entry.partition(": ")
        found.update(dict.fromkeys(names.split(", "), said))
    return found


# -- versions --------------------------------------------------------------------------------


def versions(registry: Registry) -> str:
    """What this version works with; the numbers come from the code that uses them."""
    from orgflow.backends.n8n.engine.engine_folder import PACKAGES
    from orgflow.backends.n8n.engine.install import OVERRIDES
    from orgflow.backends.n8n.engine.node import MINIMUM_NODE
    from orgflow.backends.n8n.format.versions import KNOWN_VERSIONS
    from orgflow.backends.n8n.node_types import described_names
    from orgflow.backends.n8n.node_types.type_versions import type_versions
    from orgflow.backends.n8n.server.install import N8N_VERSION

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lines = page(
        "Versions tried",
        f"orgflow {project['version']} needs Python {project['requires-python']}, and for running "
        f"workflows Node {MINIMUM_NODE} or newer.",
    )
    lines += ["", "## n8n", ""]
    lines += table(
        ("component", "version"),
        [
            ("workflows are emitted for", ", ".join(f"n8n {v}" for v in reversed(KNOWN_VERSIONS))),
            ("the server that `make test-live` boots", f"n8n {N8N_VERSION}"),
            *((f"the local engine: `{name}`", version) for name, version in PACKAGES.items()),
            *((f"with `{name}` pinned to", version) for name, version in OVERRIDES.items()),
        ],
    )
    lines += ["", "Versions of nodes (`typeVersion`); the last one of each is emitted:", ""]
    lines += table(
        ("node", *(f"n8n {v}" for v in KNOWN_VERSIONS)),
        [
            (
                f"`{name}`",
                *(", ".join(f"{n:g}" for n in type_versions(name, v)) for v in KNOWN_VERSIONS),
            )
            for name in described_names()
        ],
    )
    lines += ["", "## Python packages", ""]
    extras = project["optional-dependencies"].items()
    lines += table(
        ("for", "packages"),
        [
            ("orgflow itself", ", ".join(f"`{d}`" for d in project["dependencies"])),
            *((f"`orgflow[{k}]`", ", ".join(f"`{d}`" for d in v)) for k, v in extras),
        ],
    )
    return "\n".join([*lines, ""])


# -- the library -----------------------------------------------------------------------------


def library() -> str:
    """What `import orgflow` gives, by its docstrings."""
    exported = [getattr(orgflow, name) for name in orgflow.__all__ if name != "__version__"]
    mine = [one for one in exported if one.__module__ == api.__name__]
    others = [one for one in exported if one.__module__ != api.__name__]
    lines = page(
        "As a library",
        "`import orgflow` loads modules on first use. Both packages are typed.",
        text(inspect.cleandoc(api.__doc__ or "").partition("\n")[2]),
    )
    for one in sorted(mine, key=lambda one: (isinstance(one, type), one.__name__)):
        shown = f"class {one.__name__}" if isinstance(one, type) else one.__name__
        signature = (
            ""
            if isinstance(one, type)
            else re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(one)))
        )
        lines += ["", f"## {one.__name__}", "", "```text", f"{shown}{signature}", "```", ""]
        lines += _docstring(one)
        for name, member in vars(one).items() if isinstance(one, type) else ():
            if isinstance(member, property):
                lines += ["", f"`{name}`: {text(member.__doc__ or '')}"]
    lines += ["", "## Further names", ""]
    lines += table(
        ("name", "from", "is"),
        [
            (f"`{one.__name__}`", f"`{one.__module__}`", text(_first(one)))
            for one in sorted(others, key=lambda one: str(one.__name__))
        ],
    )
    return "\n".join([*lines, ""])


def _first(one: object) -> str:
    return inspect.cleandoc(one.__doc__ or "").partition("\n\n")[0]


def _docstring(one: object) -> Iterator[str]:
    """Paragraphs as they are; sections as lists, but examples as code."""
    for part in inspect.cleandoc(one.__doc__ or "").split("\n\n"):
        head, _, body = part.partition("\n")
        if head not in ("Args:", "Attributes:", "Raises:", "Example:"):
            yield from (text(part), "")
            continue
        yield from (f"**{head}**", "")
        if head == "Example:":
            yield from ("```pycon", *inspect.cleandoc(body).splitlines(), "```", "")
            continue
        entries = re.split(r"\n(?! )", inspect.cleandoc(body))
        for entry in entries:
            name, _, said = entry.partition(": ")
            yield f"- `{name}`: {text(said)}"
        yield ""


# -- the model ---------------------------------------------------------------------------------


MODEL_CLASSES = (
    "Element", "Model", "Process", "SubProcess", "Task", "CallActivity", "Event",
    "EventDefinition", "Gateway", "Flow", "Expression", "Lane", "Pool", "MessageFlow",
    "DataObject", "Opaque", "SourceLocation",
)  # fmt: skip
"""The classes of the model that plugins meet, the outer ones first."""


def model_classes() -> str:
    """The fields of each class of the model, from their definitions."""
    lines = page(
        "Classes of the model",
        "What frontends make, passes change and backends read. All values are frozen: "
        "`replace(field=…)` gives a changed copy. Import them from `orgflow_ir.authoring`. Fields "
        "with a default may be left out. `orgflow_ir/schema/model.schema.json` describes the same "
        "model as JSON, which `--target ir` writes.",
    )
    for name in MODEL_CLASSES:
        cls = Element if name == "Element" else getattr(authoring, name)
        said = inspect.cleandoc(cls.__doc__ or "").partition("\nAttributes:")[0]
        lines += ["", f"## {name}", ""]
        for paragraph in said.split("\n\n"):
            lines += [text(paragraph), ""]
        shared = {f.name for f in dataclasses.fields(Element)} if cls is not Element else set()
        own = issubclass(cls, Element) and cls is not Element
        lines += table(
            ("field", "type", "default"),
            [
                (f"`{f.name}`", _field_type(f), _field_default(f))
                for f in dataclasses.fields(cls)
                if not (own and f.name in shared)
            ],
        )
    return "\n".join([*lines, ""])


def _field_type(field: dataclasses.Field[Any]) -> str:
    shown = re.sub(r"Annotated\[(\w+), [^\]]*\]", r"\1", str(field.type))
    return f"`{shown.replace('|', chr(92) + '|')}`"


def _field_default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return f"`{field.default!r}`"
    return "required" if field.default_factory is dataclasses.MISSING else "empty"


PAGES: dict[str, Callable[[Registry], str]] = {
    "commands.md": lambda _: commands(),
    "api.md": lambda _: library(),
    "model.md": lambda _: model_classes(),
    "rules.md": rules,
    "constructs.md": targets,
    "formats.md": formats,
    "configuration.md": configuration,
    "versions.md": versions,
}


def main() -> None:
    """Write all of them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    registry = Registry(outside=False)
    for name, build in PAGES.items():
        (FOLDER / name).write_text(build(registry), encoding="utf-8")
    BINDINGS.write_text(bindings(registry), encoding="utf-8")


if __name__ == "__main__":
    main()
