"""Where n8n's engine is installed, and which packages it consists of."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

PACKAGES: Mapping[str, str] = MappingProxyType(
    {"n8n-core": "2.41.1", "n8n-nodes-base": "2.41.1", "n8n-workflow": "2.41.0"}
)

LAYOUT = 1
"""It increases when the content of an engine folder changes in a way that needs a new
installation."""


def engine_dir() -> Path:
    """The engine folder: ORGFLOW_ENGINE_DIR, else one in the user's cache."""
    named = os.environ.get("ORGFLOW_ENGINE_DIR")
    if named:
        return Path(named).expanduser().absolute()
    cache = os.environ.get("XDG_CACHE_HOME")
    base = Path(cache) if cache else Path.home() / ".cache"
    return base / "orgflow" / "engine" / f"n8n-{PACKAGES['n8n-core']}-{LAYOUT}"
