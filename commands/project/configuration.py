"""`orgflow.toml`: the decisions of a project about its models. The file in the folder of a model,
or the nearest one above it up to the root of its repository.

    preset = "strict"               # recommended, strict, all or bpmnlint
    cache = false                   # `check` looks at every file again

    [rules]                         # on top of the preset; by code or name
    missing-label = "off"           # off, info, warning or error
    OF172 = "error"
    deadlocked-join = { severity = "warning", max-states = 20000 }    # with options of its pass

    [passes]
    message-exchange = "on"         # on or off
    loop-termination = { max-states = 500 }

    [targets.asl]                   # options of a target; those of the command line go first
    unsupported = "stub"

    [model]                         # the language model of `orgflowc model`, without its key
    url = "http://127.0.0.1:8080/v1"

    [[suppress]]
    rule = "OF203"                  # code or name
    reason = "sending it twice does no harm"
    files = ["models/*.bpmn"]       # patterns below the folder of orgflow.toml; left out: all
    elements = ["Send note"]        # ids or labels; left out: all
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from orgflow.commands.project.rule_settings import SETTINGS, RuleSettings, line_of, read_settings
from orgflow.commands.project.target_settings import TARGETS, read_targets
from orgflow.compilation.usage_errors import suggest_name

from orgflow_ir.diagnostics import Rule
from orgflow_ir.diagnostics.core_rules import FaultySuppression, InvalidConfiguration
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.reporting.suppression import Suppression, find_fault

TOP_LEVEL = (*SETTINGS, "cache", TARGETS, "model", "suppress")
"""The keys of the file."""

SUPPRESS_KEYS = ("rule", "reason", "files", "elements")


class Entry(NamedTuple):
    """A suppression and the files it applies to (patterns below the configuration's folder; empty:
    all)."""

    suppression: Suppression
    files: tuple[str, ...]


class Configuration(NamedTuple):
    """One file, read. `path` is shown in messages."""

    path: str
    folder: str
    entries: tuple[Entry, ...] = ()
    settings: RuleSettings = RuleSettings()
    cache: bool = True

    def applying(self, path: str) -> tuple[int, ...]:
        """Positions of the entries that apply to a file."""
        relative = PurePosixPath(os.path.relpath(path, self.folder).replace(os.sep, "/"))
        return tuple(
            at
            for at, entry in enumerate(self.entries)
            if not entry.files
            or any(_matches_pattern(relative, pattern) for pattern in entry.files)
        )


def _matches_pattern(path: PurePosixPath, pattern: str) -> bool:
    """Whether a path matches: `*` within a folder, `**` over folders, a folder's name all in it."""
    text, at, regex = pattern.removeprefix("./").rstrip("/"), 0, ""
    while at < len(text):
        if text.startswith("**/", at):
            regex, at = regex + "(?:.*/)?", at + 3
        elif text.startswith("**", at):
            regex, at = regex + ".*", at + 2
        else:
            regex += {"*": "[^/]*", "?": "[^/]"}.get(text[at], re.escape(text[at]))
            at += 1
    return re.fullmatch(f"{regex}(?:/.*)?", str(path)) is not None


def read_configuration(path: str, registry: Registry, ctx: PassContext) -> Configuration:
    """A configuration. Unusable parts are reported as OF004 or OF006."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        _report_invalid(ctx, path, None, f"{path} cannot be read: {reason}", "check the file")
        return Configuration(path, os.path.dirname(os.path.abspath(path)))
    return read_bytes(path, data, registry, ctx)


def read_bytes(path: str, data: bytes, registry: Registry, ctx: PassContext) -> Configuration:
    """The configuration in a file with these bytes. Unusable parts are reported as OF004 or
    OF006."""
    rules = registry.named_rules
    folder = os.path.dirname(os.path.abspath(path))
    try:
        text = data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
        content = tomllib.loads(text)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        line = re.search(r"line (\d+)", str(error))
        _report_invalid(
            ctx, path, int(line[1]) if line else None, f"{path} is not TOML: {error}",
            "fix its syntax",
        )  # fmt: skip
        return Configuration(path, folder)
    lines = [n for n, row in enumerate(text.splitlines(), 1) if _HEAD.match(row)]
    for key in content:
        if key not in TOP_LEVEL:
            near = suggest_name(key, TOP_LEVEL)
            _report_invalid(
                ctx, path, line_of(text, key), f"{path} has an unknown key `{key}`", near
            )

    def report(message: str, help: str, line: int | None) -> None:
        _report_invalid(ctx, path, line, message, help)

    settings = read_settings(content, text, registry, report)
    if TARGETS in content:  # which loads the backends
        read_targets(content, text, registry, report)
    cache = content.get("cache", True)
    if not isinstance(cache, bool):
        where = line_of(text, "cache")
        _report_invalid(
            ctx, path, where, f"`cache` in {path} is not a boolean", "write true or false"
        )
        cache = True
    items = content.get("suppress", [])
    if not isinstance(items, list) or not all(isinstance(i, dict) for i in items):
        _report_invalid(
            ctx, path, None, f"`suppress` in {path} is not a list of tables", "write [[suppress]]"
        )
        return Configuration(path, folder, settings=settings, cache=cache)
    entries = [
        _parse_entry(item, path, lines[at] if at < len(lines) else None, rules, ctx)
        for at, item in enumerate(items)
    ]
    kept = tuple(e for e in entries if e is not None)
    return Configuration(path, folder, kept, settings, cache)


_HEAD = re.compile(r"\s*\[\[\s*suppress\s*\]\]")


def _parse_entry(
    item: Mapping[str, Any],
    path: str,
    line: int | None,
    rules: Mapping[str, type[Rule]],
    ctx: PassContext,
) -> Entry | None:
    for key, value in item.items():
        if key not in SUPPRESS_KEYS:
            known = ", ".join(SUPPRESS_KEYS)
            _report_invalid(
                ctx, path, line, f"a suppression has an unknown key `{key}`", f"use: {known}"
            )
            return None
        wanted = "a list of texts" if key in ("files", "elements") else "a text"
        texts = value if isinstance(value, list) and wanted != "a text" else [value]
        if not all(isinstance(v, str) for v in texts) or (
            wanted != "a text" and texts is not value
        ):
            _report_invalid(
                ctx, path, line, f"`{key}` of a suppression is not {wanted}", f"make it {wanted}"
            )
            return None
    name, reason = item.get("rule", ""), item.get("reason", "").strip()
    wrong = find_fault(name, reason, rules) if name else "it names no rule"
    if wrong is not None:
        ctx.emit(
            FaultySuppression,
            f"a suppression has no effect: {wrong}",
            loc=SourceLocation(file=path, line=line, column=1 if line else None),
            help='write rule = "OF203" and reason = "why this is right here"',
        )
        return None
    elements = frozenset(item.get("elements", ()))
    loc = SourceLocation(file=path, line=line, column=1 if line else None)
    ids = elements if "elements" in item else None
    return Entry(
        Suppression(rules[name].code, reason, ids, elements, loc), tuple(item.get("files", ()))
    )


def _report_invalid(ctx: PassContext, path: str, line: int | None, message: str, help: str) -> None:
    loc = SourceLocation(file=path, line=line, column=1 if line else None)
    ctx.emit(InvalidConfiguration, message, loc=loc, help=help)
