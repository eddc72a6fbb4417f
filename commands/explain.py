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
    rules = Registry().rules
    by_name = {rule.name: rule for rule in rules.values()}
    rule = rules.get(code.upper()) or by_name.get(code.lower())
    if rule is None:
        known = (*rules, *by_name)
        near = suggestion(code, known)
        hint = near if near.startswith("did") else "`orgflowc list rules` shows all"
        raise click.UsageError(f"no rule `{code}`; {hint}")
    write_stdout(f"{rule.code} {rule.name} ({rule.severity})\n\n{rule.explanation()}\n")
