"""`orgflowc explain`: what a diagnostic code means."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator

import click
from orgflow.commands.completion_values import complete_codes
from orgflow.commands.output import write_stdout
from orgflow.commands.session import text_width
from orgflow.compilation.usage_errors import suggest_name
from orgflow.passes.presets import in_presets

from orgflow_ir.plugins import Registry


@click.command("explain", short_help="Explain a diagnostic code.")
@click.argument("code", metavar="CODE", shell_complete=complete_codes)
def command(code: str) -> None:
    """Explain the diagnostic CODE (OF201) or its name (deadlocked-join)."""
    registry = Registry()
    rules = registry.named_rules
    rule = rules.get(code.upper()) or rules.get(code.lower())
    if rule is None:
        near = suggest_name(code, tuple(rules))
        hint = near if near.startswith("did") else "`orgflowc list rules` shows all"
        raise click.UsageError(f"no rule `{code}`; {hint}")
    for old in registry.retired.values():
        if code.upper() == old.code or code.lower() == old.name:
            write_stdout(f"{old.code} {old.name} is retired; its successor is:\n\n")

    presets = in_presets(rule)
    width = text_width(sys.stdout)
    explanation = "\n".join(wrap_explanation(rule.explanation(), width)).rstrip("\n")
    shown = textwrap.fill(f"presets: {presets}", width, break_on_hyphens=False)
    write_stdout(
        f"{rule.code} {rule.name} ({rule.severity})\n\n{explanation}\n"
        + (f"\n{shown}\n" if presets else "")
    )


def wrap_explanation(text: str, width: int) -> Iterator[str]:
    """The lines of an explanation; paragraphs wider than `width` are wrapped again, and a list item
    is a paragraph."""
    paragraph: list[str] = []
    for line in [*text.splitlines(), ""]:
        indent = len(line) - len(line.lstrip())
        before = len(paragraph[0]) - len(paragraph[0].lstrip()) if paragraph else indent
        if paragraph and (not line.strip() or indent != before or line.lstrip()[0] in "-*"):
            yield from _fill_lines(paragraph, width)
            paragraph = []
        if line.strip():
            paragraph.append(line)
        elif not paragraph:
            yield line


def _fill_lines(lines: list[str], width: int) -> list[str]:
    if max(map(len, lines)) <= width:
        return lines
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    further = indent + ("  " if lines[0].lstrip()[0] in "-*" else "")
    return textwrap.wrap(
        " ".join(line.strip() for line in lines), width, initial_indent=indent,
        subsequent_indent=further, break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
