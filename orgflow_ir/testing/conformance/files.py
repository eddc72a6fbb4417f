"""Requirements on emitted files: a path that every file system accepts, and text of its kind."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from xml.parsers import expat

from orgflow_ir.targets.artifact import Artifact

MAX_PART = 240
"""Maximum length of a file or folder name in bytes: file systems permit 255, and the name of a
temporary file needs a few more."""


def file_problems(artifacts: object) -> list[str]:
    """Problems of the result of `emit`: not a tuple of `Artifact`, an empty tuple, two files with
    one path, paths outside the output folder, text that does not match the suffix."""
    if not isinstance(artifacts, tuple) or not all(isinstance(a, Artifact) for a in artifacts):
        return [f"`emit` returned {artifacts!r}, not a tuple of `Artifact`"]
    odd = [a for a in artifacts if not (isinstance(a.path, str) and isinstance(a.text, str))]
    if odd:
        return [f"path and text of an `Artifact` are text: {odd[0]!r}"]
    problems = []
    if not artifacts:
        problems.append("emitted nothing and reported nothing")
    paths = [a.path for a in artifacts]
    if len({p.lower() for p in paths}) != len(paths):
        problems.append(f"two files have the same path: {paths}")
    problems += [p for path in paths if (p := _path_problem(PurePosixPath(path)))]
    for artifact in artifacts:
        problems += _text_problems(artifact)
    return problems


def _path_problem(path: PurePosixPath) -> str:
    """Why a file cannot have a path; empty if it can."""
    if path.is_absolute() or ".." in path.parts or not path.name or "\\" in str(path):
        return f"`{path}` is not a path inside the output folder"
    if not str(path).isprintable() or max(len(p.encode()) for p in path.parts) > MAX_PART:
        shown = repr(str(path))
        shown = shown if len(shown) <= 80 else f"{shown[:80]}…"
        return f"{shown} is not a path that every file system supports"
    return ""


def _text_problems(artifact: Artifact) -> list[str]:
    try:
        data = artifact.text.encode()
    except UnicodeEncodeError as error:
        return [f"`{artifact.path}` cannot be written as UTF-8: {error.reason}"]
    suffix = PurePosixPath(artifact.path).suffix.lower()
    kind, parse = _KINDS.get(suffix, ("", None))
    if parse is None:
        return []
    try:
        parse(data)
    except (ValueError, expat.ExpatError, RecursionError) as error:
        return [f"`{artifact.path}` is not {kind}: {error}; is a label in it not escaped?"]
    return []


def _check_json(data: bytes) -> None:
    json.loads(data)


def _check_toml(data: bytes) -> None:
    tomllib.loads(data.decode())


def _check_xml(data: bytes) -> None:
    expat.ParserCreate(namespace_separator=" ").Parse(data, True)


_KINDS: Mapping[str, tuple[str, Callable[[bytes], None]]] = {
    ".json": ("JSON", _check_json),
    **dict.fromkeys((".xml", ".bpmn", ".svg", ".xhtml", ".xsd", ".graphml"), ("XML", _check_xml)),
    ".toml": ("TOML", _check_toml),
}
