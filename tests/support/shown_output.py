"""Output as pages show it."""

from __future__ import annotations

import re


def shown(wanted: str, out: str) -> bool:
    """Whether the output is as a page shows it; `…` stands for anything."""
    lines = [line.rstrip() for line in out.splitlines()]
    pattern = ".*?".join(re.escape(part) for part in wanted.strip("\n").split("…"))
    return re.search(f"^{pattern}$", "\n".join(["", *lines, ""]), re.S | re.M) is not None
