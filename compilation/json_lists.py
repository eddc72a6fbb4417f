"""Several JSON files read as one list."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence

from orgflow.compilation.input_sources import read_source
from orgflow.compilation.usage_errors import InputError

from orgflow_ir.model.contained_paths import leads_out
from orgflow_ir.model.json_source_map import JsonFault, parse_json
from orgflow_ir.model.source import SourceFile


def read_together(paths: Sequence[str]) -> SourceFile:
    """The content of several files as one JSON list: all JSON files of a folder, by name. One file
    is read unchanged. Raises `InputError`."""
    if len(paths) == 1 and not os.path.isdir(paths[0]):
        return read_source(paths[0])
    files: list[str] = []
    names: list[str] = []
    for path in paths:
        inside = [path]
        if os.path.isdir(path):
            inside = [
                os.path.join(path, f) for f in sorted(os.listdir(path)) if f.endswith(".json")
            ]
            if not inside:
                raise InputError(f"{path} contains no JSON files", "name a file, or another folder")
            for link in (file for file in inside if leads_out(file, path)):
                raise InputError(
                    f"{link} is a symbolic link out of {path}", "name the files, or remove the link"
                )
            path = os.path.join(path, "*.json")
        files += inside
        names.append(path)
    values = []
    for file in files:
        source = read_source(file)
        try:
            values.append(parse_json(source.path, source.data).root.value)
        except JsonFault as fault:
            raise InputError(f"{source.path} is not JSON: {fault}", "leave it out") from None
    return SourceFile(", ".join(names), json.dumps(values).encode())


def join_json_texts(files: Mapping[str, str]) -> SourceFile | None:
    """Compiled JSON files as one list, so that workflows that call each other are compared
    together; a single file unchanged, `None` without any."""
    if not files:
        return None
    if len(files) == 1:
        ((path, text),) = files.items()
        return SourceFile(path, text.encode())
    joined = ",\n".join(text.strip() for text in files.values())
    return SourceFile(", ".join(files), f"[\n{joined}\n]\n".encode())
