"""`orgflowc list`: the installed extensions, and the constructs that each target supports."""

from __future__ import annotations

import dataclasses
import shutil
import sys
import textwrap
from collections.abc import Iterable

import click
from orgflow.commands.completion_values import complete_among
from orgflow.commands.output import write_stdout
from orgflow.compilation.usage_errors import suggest_name

from orgflow_ir.legalisation.legalise import extended
from orgflow_ir.model.constructs import CONSTRUCTS
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Agent, GapAgent, ModelAgent, Registry
from orgflow_ir.targets import TargetSpec, support_level

KINDS = ("frontends", "backends", "passes", "agents", "rules", "constructs")

_CELLS = {
    "supported": "Supported",
    "conditional": "Supported*",
    "lowered": "Lowered",
    "degraded": "Degraded",
    "refused": "Refused",
}
_LEGEND = (
    "Supported: as it is; Supported*: where the target's condition holds; Lowered: rewritten "
    "without loss;\nDegraded: approximated, with --allow-lossy only; Refused: an error with a "
    "reason;\n-: the target does not distinguish it from the construct it is derived from.\n"
)


@click.command("list", short_help="List frontends, backends, passes, agents, rules, constructs.")
@click.argument("kind", metavar="|".join(KINDS), shell_complete=complete_among(*KINDS))
@click.option(
    "--matrix", is_flag=True, help="With constructs: print the support matrix of all targets."
)
def command(kind: str, matrix: bool) -> None:
    """List everything of one kind. In a pipe or a file, each entry is one line, whatever its
    length, with two or more spaces between columns; on a terminal, long descriptions are wrapped
    below their entry.
    """
    if kind not in KINDS:
        raise click.UsageError(f"no kind `{kind}`; {suggest_name(kind, KINDS)}")
    if matrix and kind != "constructs":
        raise click.UsageError("--matrix belongs to `list constructs`")
    registry = Registry()
    on_terminal = sys.stdout is not None and sys.stdout.isatty()
    narrow = shutil.get_terminal_size().columns if on_terminal else None
    write_stdout(
        matrix_text(registry) if matrix else align_columns(list_rows(kind, registry), narrow)
    )
    ctx = PassContext()
    registry.report_broken(ctx)
    for broken in ctx.diagnostics:
        click.echo(f"{broken.severity} {broken.code} [{broken.name}] {broken.message}", err=True)


def list_rows(kind: str, registry: Registry) -> list[tuple[str, ...]]:
    """The lines of one kind, as columns."""
    if kind == "frontends":
        return [(f.name, " ".join(f.suffixes), f.summary) for f in registry.frontends.values()]
    if kind == "backends":
        return [
            (
                b.name,
                " ".join(_describe_option(k, v) for k, v in b.target.options.items()),
                b.summary,
            )
            for b in registry.backends.values()
        ]
    if kind == "passes":
        return [
            (p.name, p.stage.name.lower(), _pass_options(p), _first_line(p.__doc__))
            for p in registry.passes.values()
        ]
    if kind == "agents":
        return [(a.name, _what_it_does(a), a.summary) for a in registry.agents.values()]
    if kind == "rules":
        return [(r.code, r.name, r.severity.value) for r in registry.rules.values()]
    return [(name, words) for name, words in list_constructs(registry).items()]


def list_constructs(registry: Registry) -> dict[str, str]:
    """Plain constructs, then the derived ones that targets declare, each with a few words."""
    constructs = dict(CONSTRUCTS)
    for backend in registry.backends.values():
        for name in sorted(backend.target.constructs):
            prefix_of_plain = any(c == name or c.startswith(name + ".") for c in CONSTRUCTS)
            if not prefix_of_plain:
                constructs.setdefault(name, "derived from the model's structure")
    return constructs


def matrix_text(registry: Registry) -> str:
    """The table of constructs and targets, with its legend."""
    return align_columns(support_matrix(registry)) + "\n" + _LEGEND


def support_matrix(registry: Registry) -> list[tuple[str, ...]]:
    """The table of constructs and targets, with its head."""
    backends = registry.backends
    targets = [extended(b.target, registry) for b in backends.values()]
    rows = [
        (name, *(_support_cell(t, name) for t in targets)) for name in list_constructs(registry)
    ]
    return [("construct", *backends), *rows]


def _support_cell(target: TargetSpec, construct: str) -> str:
    """A derived construct that a target does not speak of is none to it."""
    if construct not in CONSTRUCTS and construct not in target.constructs:
        return "-"
    return _CELLS[support_level(target, construct)]


def align_columns(lines: Iterable[tuple[str, ...]], width: int | None = None) -> str:
    """Rows as aligned text; a column that is empty in all rows is omitted.

    If the text is wider than `width` characters, the last column is printed below the others.
    """
    table = list(lines)
    if not table:
        return ""
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    kept = [i for i, most in enumerate(widths) if most]
    below = None
    if width is not None and sum(widths[i] + 2 for i in kept) - 2 > width:
        below = kept.pop()
    out = []
    for row in table:
        out.append("  ".join(row[i].ljust(widths[i]) for i in kept).rstrip())
        if below is not None:
            out += textwrap.wrap(
                row[below], width or 80, initial_indent="    ", subsequent_indent="    ",
                break_long_words=False, break_on_hyphens=False,
            )  # fmt: skip
    return "\n".join(out) + "\n"


def _what_it_does(agent: Agent) -> str:
    does = []
    if isinstance(agent, GapAgent):
        kinds = " ".join(sorted(agent.kinds)) if agent.kinds is not None else "all"
        does.append(f"gaps={kinds}")
    if isinstance(agent, ModelAgent):
        does.append("models")
    return " ".join(does)


def _describe_option(name: str, values: tuple[str, ...]) -> str:
    return f"{name}={'|'.join(values)}"


def _pass_options(cls: type) -> str:
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    return " ".join(f"{f.name.replace('_', '-')}={f.default}" for f in fields)


def _first_line(doc: str | None) -> str:
    return (doc or "").strip().split("\n")[0]
