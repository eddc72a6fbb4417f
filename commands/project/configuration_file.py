"""The `orgflow.toml` that applies to a file."""

from __future__ import annotations

import os


def file_near(path: str) -> str:
    """A file; the configuration of an input is in its folder or above: for `-`, the folder of the
    command."""
    return "x" if path == "-" else path


def find_configuration(path: str) -> str | None:
    """The `orgflow.toml` in the folder of a file or the nearest one above it, not beyond the root
    of a repository."""
    folder = os.path.dirname(os.path.abspath(path))
    while True:
        file = os.path.join(folder, "orgflow.toml")
        if os.path.isfile(file):
            relative = os.path.relpath(file)
            return file if relative.startswith(os.path.join("..", "..")) else relative
        above = os.path.dirname(folder)
        if above == folder or os.path.exists(os.path.join(folder, ".git")):
            return None
        folder = above


def own_configuration() -> str | None:
    """The user's own `orgflow/orgflow.toml`, which no repository can write: in `XDG_CONFIG_HOME`,
    or in `.config` of the home folder. `None` if it does not exist."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(base):  # the specification of XDG ignores others
        base = os.path.join(os.path.expanduser("~"), ".config")
    path = os.path.join(base, "orgflow", "orgflow.toml")
    return path if os.path.isfile(path) else None
