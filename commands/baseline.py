"""Baselines: findings that a project has already, in a file, so that only new ones fail."""

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
"""File as seen from the folder of the baseline, code, and the element; where a finding has no
element, its message. Lines are not part of it: they move when something else is edited."""


def _key(finding: Diagnostic, folder: Path) -> _Key:
    file = "" if finding.loc is None else finding.loc.file
    if file and file != "-" and not file.startswith("<"):
        file = Path(os.path.relpath(file, folder)).as_posix()
    return file, finding.code, finding.element or finding.message


def _belongs(finding: Diagnostic) -> bool:
    """Whether a finding is about a model: the others are about the call, or are our fault."""
    internal = finding.category is Category.INTERNAL
    return finding.suppressed is None and not internal and finding.code not in MISUSE_CODES


def write_baseline(findings: Iterable[Diagnostic], path: str) -> int:
    """List the findings in a file, and say how many they are: same findings, same bytes."""
    folder = Path(path).parent
    keys = sorted(_key(one, folder) for one in findings if _belongs(one))
    rows = [{"file": file, "code": code, "at": at} for file, code, at in keys]
    # A finding a line: what changes can be read in a difference.
    lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in rows)
    head = f'{{"format": "{_FORMAT}", "version": {_VERSION}, "findings": ['
    text = f"{head}\n{lines}\n]}}\n" if rows else f"{head}]}}\n"
    write_files([(Path(path), text)])
    return len(rows)


def without_known(findings: Iterable[Diagnostic], path: str) -> tuple[list[Diagnostic], int]:
    """The findings, those in the file marked as accepted, each as often as it is listed; and how
    many of the file are gone. Raises `click.UsageError` where the file is none."""
    known, folder = _read(path), Path(path).parent
    marked = []
    for one in findings:
        key = _key(one, folder)
        if _belongs(one) and known[key] > 0:
            known[key] -= 1
            one = one.replace(suppressed=f"listed in {path}")
        marked.append(one)
    return marked, sum(known.values())


def _read(path: str) -> Counter[_Key]:
    try:
        found = json.loads(Path(path).read_text("utf-8"))
        if found["format"] != _FORMAT or found["version"] != _VERSION:
            raise ValueError(f"it is no {_FORMAT} of version {_VERSION}")
        rows = found["findings"]
        return Counter((str(row["file"]), str(row["code"]), str(row["at"])) for row in rows)
    except FileNotFoundError:
        raise click.UsageError(
            f"no file {path}; --write-baseline {path} makes one of the findings there are"
        ) from None
    except OSError as error:
        raise click.UsageError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise click.UsageError(
            f"{path} is no baseline ({error}); --write-baseline {path} writes it anew"
        ) from None
