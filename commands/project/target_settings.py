"""The part of `orgflow.toml` about targets: options of backends, including those of plugins.

    [targets.asl]
    unsupported = "stub"

Options of the command line (`--target 'asl{unsupported=refuse}'`) take precedence.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orgflow.commands.project.configuration_file import file_near, find_configuration
from orgflow.commands.project.rule_settings import Report, line_of
from orgflow.compilation.target_choice import check_target_options
from orgflow.compilation.usage_errors import OptionError, suggest_name

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.plugins import Registry
from orgflow_ir.plugins.contracts import Backend

TARGETS = "targets"
"""The key of this part."""


class Configured(NamedTuple):
    """The options for one target in the configuration near a file.

    Attributes:
        path: of the configuration; `None` if there is none.
        options: the valid ones.
        faults: each as `FILE:LINE: message; remedy`.
    """

    path: str | None = None
    options: Mapping[str, str] = {}  # never changed
    faults: tuple[str, ...] = ()


def read_targets(
    content: Mapping[str, Any], text: str, registry: Registry, report: Report
) -> dict[str, dict[str, str]]:
    """The options by target in a parsed configuration whose text is `text`; faults go to
    `report`."""
    tables = content.get(TARGETS, {})
    if not isinstance(tables, dict):
        report(f"`{TARGETS}` is no table", "write [targets.NAME]", line_of(text, TARGETS))
        return {}
    options: dict[str, dict[str, str]] = {}
    for name, table in tables.items():
        at = (TARGETS, name)
        if name not in registry.backends:
            near = suggest_name(name, tuple(registry.backends))
            report(f"there is no target `{name}`", near, line_of(text, *at))
        elif not isinstance(table, dict):
            report(f"`{name}` in `{TARGETS}` is not a table", f"write [targets.{name}]",
                   line_of(text, *at))  # fmt: skip
        else:
            options[name] = _parse_options(registry.backends[name], table, text, report)
    return options


def _parse_options(
    backend: Backend, table: Mapping[str, Any], text: str, report: Report
) -> dict[str, str]:
    """The options in the table of one target that it has, with values that it takes."""
    options: dict[str, str] = {}
    for key, value in table.items():
        line = line_of(text, TARGETS, backend.name, key)
        if key in backend.target.options and not isinstance(value, str):
            shown = str(value).lower() if isinstance(value, bool) else value
            report(f"option `{key}` of target `{backend.name}` is not a text",
                   f'write {key} = "{shown}"', line)  # fmt: skip
            continue
        try:
            options |= check_target_options(backend, {key: value})
        except OptionError as error:
            message, _, remedy = str(error).partition("; ")
            report(message, remedy, line)
    return options


def read_target_options(backend: Backend, near: str, registry: Registry) -> Configured:
    """The options of a target in the `orgflow.toml` near a file.

    Args:
        near: a model; the configuration is in its folder or above. `-` stands for the folder in
            which the command runs.
    """
    path = find_configuration(file_near(near))
    if path is None:
        return Configured()
    faults: list[str] = []
    try:
        text = Path(path).read_bytes().decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
        content = tomllib.loads(text)
    except (OSError, ValueError) as error:
        return Configured(path, {}, (f"{path} cannot be read: {error}",))

    def report(message: str, remedy: str, line: int | None) -> None:
        place = path if line is None else f"{path}:{line}"
        faults.append(f"{place}: {message}; {remedy}")

    tables = content.get(TARGETS)
    mine = {backend.name: tables.get(backend.name, {})} if isinstance(tables, dict) else tables
    options = read_targets({} if tables is None else {TARGETS: mine}, text, registry, report)
    return Configured(path, options.get(backend.name, {}), tuple(faults))
