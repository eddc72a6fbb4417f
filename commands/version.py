"""The output of `orgflowc --version`: the version and the installed plugins."""

from __future__ import annotations

import platform
from importlib.metadata import entry_points, version

from orgflow_ir.plugins import GROUP, Registry


def version_text() -> str:
    """One line for orgflowc, and one for every plugin; unusable ones are marked."""
    lines = [f"orgflowc {version('orgflow')} (Python {platform.python_version()})"]
    points = sorted(entry_points(group=GROUP), key=lambda p: (p.name, p.value))
    if not points:
        return lines[0] + "\nno plugins"
    registry = Registry()
    # each table is filled, so that what is wrong with a plugin is known
    _ = (registry.frontends, registry.passes, registry.backends, registry.agents)
    _ = (registry.reporters, registry.lowerings, registry.rules)
    broken = {name for name, _ in registry.broken}
    lines.append("plugins:")
    for point in points:
        of = f"{point.dist.name} {point.dist.version}" if point.dist is not None else point.value
        mark = (
            "  (cannot be used; `orgflowc list backends` gives the reason)"
            if point.name in broken
            else ""
        )
        lines.append(f"  {point.name}  from {of}{mark}")
    return "\n".join(lines)
