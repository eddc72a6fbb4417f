"""Explanations of rules as files that an editor opens through the links of codes.

They contain the output of `orgflowc explain`, so they match the installed version and plugins.
"""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path

from orgflow_ir.diagnostics import Rule


def rule_page(rule: type[Rule]) -> Path | None:
    """The file with the explanation of a rule, written if it is missing or differs; None if the
    user's cache is not writable."""
    cache = os.environ.get("XDG_CACHE_HOME")
    base = Path(cache) if cache else Path.home() / ".cache"
    path = base / "orgflow" / "rules" / version("orgflow") / f"{rule.code}.md"
    try:
        text = rule_text(rule)
        if not path.is_file() or path.read_text("utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    except OSError:
        return None
    return path


def rule_text(rule: type[Rule]) -> str:
    """The explanation of a rule, as Markdown."""
    lines = [f"# {rule.code} {rule.name}", "", f"Severity: {rule.severity}", ""]
    for line in rule.explanation().splitlines():
        heading = bool(line) and not line.startswith(" ")
        lines.append(f"## {line}" if heading else line)
    return "\n".join([*lines, ""])
