"""Baselines: a file with the existing findings of a project, so that only new ones fail."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import click
from orgflow.commands.output import write_files
from orgflow.commands.session import MISUSE_CODES

from orgflow_ir.diagnostics import Category, Diagnostic

_FORMAT, _VERSION = "orgflow-baseline", 1

_Key = tuple[str, str, str]
"""The file relative to the folder of the baseline, the code, and the element, or the message if a
finding has no element. Lines are not part of it: they move when something else is edited."""


def _finding_key(finding: Diagnostic, folder: Path) -> _Key:
    file = "" if finding.loc is None else _relative_place(finding.loc.file, folder)
    return file, finding.code, finding.element or finding.message


def _relative_place(file: str, folder: Path) -> str:
    """A file as seen from a folder; standard input stays as it is called."""
    if not file or file == "-" or file.startswith("<"):
        return file
    return Path(os.path.relpath(file, folder)).as_posix()


def _is_about_model(finding: Diagnostic) -> bool:
    """Whether a finding is about a model: the others are about the call, or are our fault."""
    internal = finding.category is Category.INTERNAL
    return finding.suppressed is None and not internal and finding.code not in MISUSE_CODES


def write_baseline(findings: Iterable[Diagnostic], path: str) -> int:
    """Write the findings to a file and return their number; the same findings give the same
    bytes."""
    folder = Path(path).parent
    keys = sorted(_finding_key(finding, folder) for finding in findings if _is_about_model(finding))
    rows = [{"file": file, "code": code, "at": at} for file, code, at in keys]
    # A finding a line: what changes can be read in a difference.
    lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in rows)
    head = f'{{"format": "{_FORMAT}", "version": {_VERSION}, "findings": ['
    text = f"{head}\n{lines}\n]}}\n" if rows else f"{head}]}}\n"
    write_files([(Path(path), text)])
    return len(rows)


def without_known(
    findings: Iterable[Diagnostic], path: str, checked: Iterable[str]
) -> tuple[list[Diagnostic], int]:
    """The findings, with those in the file marked as accepted, each as often as it is listed; and
    the number of listed findings of the `checked` files that no longer occur. Raises
    `click.UsageError` if the file is not a baseline."""
    known, folder = _read_baseline(path), Path(path).parent
    here = {_relative_place(file, folder) for file in checked}
    marked = []
    for finding in findings:
        key = _finding_key(finding, folder)
        if _is_about_model(finding) and known[key] > 0:
            known[key] -= 1
            finding = finding.replace(suppressed=f"listed in {path}")
        marked.append(finding)
    gone = (number for key, number in known.items() if _is_gone(key[0], here, folder))
    return marked, sum(gone)


def _is_gone(file: str, checked: set[str], folder: Path) -> bool:
    """Whether what is left of a file was looked for and not found."""
    return file in checked or not (folder / file).exists()


def _read_baseline(path: str) -> Counter[_Key]:
    try:
        content = json.loads(Path(path).read_text("utf-8"))
        if content["format"] != _FORMAT or content["version"] != _VERSION:
            raise ValueError(f"it is not a {_FORMAT} of version {_VERSION}")
        rows = content["findings"]
        return Counter((str(row["file"]), str(row["code"]), str(row["at"])) for row in rows)
    except FileNotFoundError:
        raise click.UsageError(
            f"no file {path}; --write-baseline {path} creates one from the current findings"
        ) from None
    except OSError as error:
        raise click.UsageError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise click.UsageError(
            f"{path} is not a baseline ({error}); --write-baseline {path} replaces it"
        ) from None
