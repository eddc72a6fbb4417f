"""Usage errors of a compilation: inputs, names, options and services that do not exist."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model.element_names import join_listed

if TYPE_CHECKING:
    import difflib
else:  # after a mistake of the user
    difflib = LazyModule("difflib")


class InputError(Exception):
    """An input that cannot be read; `help` contains the remedy."""

    def __init__(self, message: str, help: str) -> None:
        super().__init__(message)
        self.help = help


class TooLargeError(InputError):
    """An input with more bytes than are kept in memory."""


class UnknownName(LookupError):
    """An unregistered name of a frontend, a backend or another extension."""

    def __init__(self, kind: str, name: str, known: Sequence[str]) -> None:
        given: Any = name  # callers need not check their types
        name = given if isinstance(given, str) else repr(given)
        self.kind, self.name, self.known = kind, name, tuple(known)
        super().__init__(f"no {kind} `{name}`; {suggest_name(name, known)}")


class UnknownProcess(UnknownName):
    """A process that the model does not have; the message names the existing ones."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__("process", name, known)
        existing = f"the model has {join_listed(f'`{process}`' for process in known) or 'none'}"
        near = suggest_name(name, known)
        hint = f"{near} {existing}" if near.startswith("did") else existing
        self.args = (f"no process `{name}`; {hint}",)


class OptionError(ValueError):
    """An option that a target does not have, or a value that it does not accept."""


class UnsupportedError(ValueError):
    """A service that a target does not provide, such as an engine."""


def suggest_name(name: str, known: Sequence[str]) -> str:
    """`did you mean …` if a known name is similar, otherwise all known names."""
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"did you mean `{near[0]}`?"
    return f"there are: {', '.join(known)}" if known else "there are none"
