"""Names that `orgflow.compiler` had until version 0.2, and where they are now."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

_MOVED = {
    "usage_errors": {
        "InputError": "InputError",
        "OptionError": "OptionError",
        "TooLargeError": "TooLargeError",
        "UnknownName": "UnknownName",
        "UnknownProcess": "UnknownProcess",
        "UnsupportedError": "UnsupportedError",
        "suggestion": "suggest_name",
    },
    "input_sources": {
        "MOST_BYTES": "MOST_BYTES",
        "STDIN": "STDIN",
        "open_source": "open_source",
        "read_source": "read_source",
        "source_name": "source_name",
    },
    "json_lists": {"read_together": "read_together"},
    "reading": {
        "FILE_KINDS": "FILE_KINDS",
        "choose_frontend": "choose_frontend",
        "fitting_frontends": "fitting_frontends",
        "load": "load_model",
        "own_backend": "own_backend",
        "parse": "parse_source",
        "recognising_frontends": "recognising_frontends",
        "select_frontend": "select_frontend",
    },
    "process_selection": {"only_process": "select_process", "process_names": "process_names"},
    "process_groups": {"separable": "group_processes"},
    "target_choice": {
        "choose_backend": "choose_backend",
        "target_options": "check_target_options",
    },
    "model_checks": {"needs_diagram": "needs_diagram", "with_outside": "add_outside_passes"},
    "agent_answers": {
        "choose_agents": "choose_agents",
        "choose_drafter": "choose_drafter",
        "draft_model": "draft_model",
        "fill_gaps": "fill_gaps",
        "model_texts": "list_model_texts",
        "read_ahead": "read_ahead",
    },
}
"""By module of `orgflow.compilation`: the name of 0.2, and the name today."""

_RENAMED = {"with_called": "add_called_processes", "emit_anyway": "emit_despite_errors"}
"""Functions that stayed in `orgflow.compiler` under another name."""


def find_moved(name: str) -> Any:
    """The value that `orgflow.compiler.NAME` had in version 0.2; warns that the name moved.

    Raises `AttributeError` for a name that it did not have.
    """
    places = {
        old: (f"orgflow.compilation.{module}", new)
        for module, names in _MOVED.items()
        for old, new in names.items()
    }
    places |= {old: ("orgflow.compiler", new) for old, new in _RENAMED.items()}
    if name not in places:
        raise AttributeError(f"module 'orgflow.compiler' has no attribute {name!r}")
    module, new = places[name]
    warnings.warn(
        f"orgflow.compiler.{name} moved: use {module}.{new}", DeprecationWarning, stacklevel=3
    )
    return getattr(import_module(module), new)
