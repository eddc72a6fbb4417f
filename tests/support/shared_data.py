"""The project's data, `../shared` beside the checkout, and what a test does without it.

A test that needs the data is skipped without it and says what is missing; under CI=true it fails,
unless ORGFLOW_WITHOUT_SHARED=1 allows the skips. With that variable the data counts as missing
wherever it lies, so that `ORGFLOW_WITHOUT_SHARED=1 make test` shows what a fresh clone runs.
The folder `faults` (small inputs, each with the value that was wrong) is part of the checkout.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

WITHOUT = "ORGFLOW_WITHOUT_SHARED"
TESTS = Path(__file__).resolve().parents[1]
FOLDER = TESTS.parents[1] / "shared"
WHERE = "see `Data beside the checkout` in CONTRIBUTING.md"


def find_shared(*parts: str) -> Path | None:
    """A file or folder of `../shared/data`, or `None` without it."""
    if parts[:1] == ("faults",):
        return TESTS.joinpath("faults", "inputs", *parts[1:])
    path = FOLDER.joinpath("data", *parts)
    return path if path.exists() and os.environ.get(WITHOUT) != "1" else None


def shared_data(*parts: str) -> Path:
    """A file or folder of `../shared/data`; without it, the test or the module is skipped, or fails
    under CI=true."""
    path = find_shared(*parts)
    if path is None:
        reason = _reason(parts)
        if _is_required():
            pytest.fail(f"{reason} (CI=true: only {WITHOUT}=1 allows to skip)")
        pytest.skip(reason, allow_module_level=True)
    return path


def shared_cases(cases: Iterable[Any] | Callable[[Path], Iterable[Any]], *parts: str) -> list[Any]:
    """The parameters of a test that needs a folder of `../shared/data`, or what lists them from
    the folder: without it, one parameter whose test is skipped.

    Fails without the folder under CI=true, as `shared_data` does.
    """
    folder = find_shared(*parts)
    if folder is not None:
        return list(cases(folder) if callable(cases) else cases)
    if _is_required():
        shared_data(*parts)
    reason = _reason(parts) if callable(cases) else f"{len(list(cases))} cases: {_reason(parts)}"
    first = None if callable(cases) else next(iter(cases))
    values = first if isinstance(first, tuple) else (first,)
    return [pytest.param(*values, marks=pytest.mark.skip(reason=reason), id="without-shared")]


def _is_required() -> bool:
    return os.environ.get("CI") == "true" and os.environ.get(WITHOUT) != "1"


def _reason(parts: tuple[str, ...]) -> str:
    return f"needs ../shared/data{''.join(f'/{part}' for part in parts)}, {WHERE}"
