"""Golden files in the tests of users: a model and its compiled output.

The implementation of `orgflow_ir.testing.pytest_plugin`; it also works without pytest.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from os import PathLike
from pathlib import Path

_COMPILER = "orgflow.commands.golden"
"""Imported by name, like leaves by the registry, since this package imports nothing from
`orgflow`."""


class GoldenMismatch(AssertionError):
    """A golden file differs from the compiled model; the message lists the differences,
    behaviour first."""


def check_golden(
    model: str | PathLike[str],
    golden: str | PathLike[str],
    *,
    target: str = "n8n",
    frontend: str | None = None,
    allow_lossy: bool = False,
    force: bool = False,
    update: bool = False,
) -> None:
    """Compile `model` and compare with `golden`, or, with `update`, write the golden file.

    Args:
        model: the model file.
        golden: the golden file; a folder (an existing one, or a path that ends with `/`) contains
            one file per process.
        target: as for `orgflowc compile --target`, options included.
        frontend: as for `--from`; by default, the suffix decides.
        allow_lossy: as `--allow-lossy`.
        force: as `--force`.
        update: write the golden file instead of comparing.

    Raises:
        GoldenMismatch: they differ, there is no golden file, or the model does not compile.
        ValueError: there is no such target, option or frontend.
        OSError: a file cannot be read or written.
    """
    compiler: Callable[..., str] = importlib.import_module(_COMPILER).check_golden
    differences = compiler(
        Path(model),
        str(golden),
        target=target,
        frontend=frontend,
        allow_lossy=allow_lossy,
        force=force,
        update=update,
    )
    if differences:
        raise GoldenMismatch(differences.rstrip("\n"))
