"""`orgflowc explain`: what a diagnostic code means."""

from __future__ import annotations

import click
from orgflow.commands.completion_values import codes
from orgflow.commands.output import write_stdout
from orgflow.compiler import suggestion

from orgflow_ir.plugins import Registry


@click.command("explain", short_help="Explain a diagnostic code.")
@click.argument("code", metavar="CODE", shell_complete=codes)
def command(code: str) -> None:
    """Explain the diagnostic CODE (OF201) or its name (deadlocked-join)."""
    registry = Registry()
    rules = registry.named_rules
    rule = rules.get(code.upper()) or rules.get(code.lower())
    if rule is None:
        near = suggestion(code, tuple(rules))
        hint = near if near.startswith("did") else "`orgflowc list rules` shows all"
        raise click.UsageError(f"no rule `{code}`; {hint}")
    for old in registry.retired.values():
        if code.upper() == old.code or code.lower() == old.name:
            write_stdout(f"{old.code} {old.name} is retired; its successor is:\n\n")
    from orgflow.passes.presets import in_presets

    presets = in_presets(rule)
    write_stdout(
        f"{rule.code} {rule.name} ({rule.severity})\n\n{rule.explanation()}\n"
        + (f"\npresets: {presets}\n" if presets else "")
    )
