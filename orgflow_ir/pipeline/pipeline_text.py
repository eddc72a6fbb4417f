"""Pipelines as text: `a,b{max-states=500}`."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    pass
from orgflow_ir.pipeline.passes import Pass


class PipelineError(ValueError):
    """Pipeline text that cannot be read: unknown pass or option, or bad syntax."""


_ITEM = r"\s*([a-z][a-z0-9-]*)\s*(?:\{([^{}]*)\})?\s*(?:,|$)"


def parse_pipeline(text: str, passes: Mapping[str, type[Pass]]) -> tuple[Pass, ...]:
    """Passes from text such as `a,b{max-states=500}`. Raises `PipelineError`."""
    result: list[Pass] = []
    at = 0
    while at < len(text):
        match = re.compile(_ITEM).match(text, at)
        if match is None:
            raise PipelineError(f"cannot read the pipeline from `{text[at : at + 30]}`")
        name, options = match.group(1), match.group(2)
        if name not in passes:
            raise PipelineError(
                f"there is no pass `{name}`; the passes are: {', '.join(sorted(passes))}"
            )
        result.append(_build_pass(passes[name], options or ""))
        at = match.end()
    return tuple(result)


def _option_fields(item: Pass | type[Pass]) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(item) if dataclasses.is_dataclass(item) else ()


def _build_pass(cls: type[Pass], options: str) -> Pass:
    fields = {f.name: f for f in _option_fields(cls)}
    values: dict[str, Any] = {}
    for item in filter(None, (part.strip() for part in options.split(" "))):
        key, sep, raw = item.partition("=")
        option = fields.get(key.replace("-", "_"))
        if not sep or option is None:
            known = ", ".join(n.replace("_", "-") for n in fields) or "none"
            raise PipelineError(f"pass `{cls.name}` has no option `{key}`; it has: {known}")
        values[option.name] = _convert_option(cls.name, key, raw, option.default)
    return cls(**values)


def _convert_option(owner: str, key: str, raw: str, default: object) -> object:
    if isinstance(default, bool):
        if raw not in ("true", "false"):
            raise PipelineError(f"option `{key}` of `{owner}` is true or false, not `{raw}`")
        return raw == "true"
    if isinstance(default, int):
        try:
            return int(raw)
        except ValueError:
            raise PipelineError(f"option `{key}` of `{owner}` is a number, not `{raw}`") from None
    return raw


def print_pipeline(passes: Iterable[Pass]) -> str:
    """Inverse of `parse_pipeline`; options with their default value are omitted."""
    parts = []
    for item in passes:
        shown = []
        for f in _option_fields(item):
            value = getattr(item, f.name)
            if value != f.default:
                text = str(value).lower() if isinstance(value, bool) else str(value)
                shown.append(f"{f.name.replace('_', '-')}={text}")
        parts.append(item.name + (f"{{{' '.join(shown)}}}" if shown else ""))
    return ",".join(parts)
