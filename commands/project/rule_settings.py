"""The parts of `orgflow.toml` about rules and passes: `preset`, `[rules]` and `[passes]`."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any

from orgflow.compilation.usage_errors import suggest_name
from orgflow.passes.presets import BPMNLINT, PRESETS

from orgflow_ir.diagnostics import Severity
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import Pass
from orgflow_ir.plugins import Registry

SETTINGS = ("preset", "rules", "passes")
"""The keys of this part."""

LEVELS: Mapping[str, Severity | None] = {
    "off": None,
    **{s.value: s for s in sorted(Severity, key=lambda s: -s.rank)},
}
"""The possible settings of a rule."""

Report = Callable[[str, str, int | None], None]
"""Receives the message, the help and the line of a fault."""


class RuleSettings(NamedTuple):
    """The decisions of a project about rules and passes.

    `severities` are by code, `None` is off; `passes` are instances by name, `None` is off.
    """

    preset: str | None = None
    severities: Mapping[str, Severity | None] = {}  # never changed
    passes: Mapping[str, Pass | None] = {}  # never changed


def read_settings(
    content: Mapping[str, Any], text: str, registry: Registry, report: Report
) -> RuleSettings:
    """The settings in a parsed configuration whose text is `text`; faults go to `report`."""
    reader = _Reader(text, registry, report)
    preset = reader.preset(content.get("preset"))
    reader.rules(content.get("rules", {}))
    reader.passes(content.get("passes", {}))
    return RuleSettings(preset, reader.severities, reader.instances())


def line_of(text: str, *keys: str) -> int | None:
    """The line of a key in TOML text: `line_of(text, "rules", "fake-join")`."""
    inside: tuple[str, ...] = ()
    nearest: int | None = None
    for number, row in enumerate(text.splitlines(), 1):
        head = _HEAD.match(row)
        if head is not None:
            inside = tuple(part.strip().strip("\"'") for part in head[1].split("."))
        else:
            key = _KEY.match(row)
            if key is None:
                continue
            parts = (key[1] or key[2] or key[3]).split(".")
            if (*inside, *parts) == keys:
                return number
            # An inline table has its keys on the line of its name.
            if (*inside, *parts) == keys[: len(inside) + len(parts)]:
                nearest = number
        if inside == keys:
            return number
        if nearest is None and inside and inside == keys[: len(inside)]:
            nearest = number
    return nearest


_HEAD = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_.-]+))\s*=""")


class _Reader:
    """Reads the tables; collects options until the passes can be made."""

    def __init__(self, text: str, registry: Registry, report: Report) -> None:
        self._text, self._registry, self._report = text, registry, report
        self.severities: dict[str, Severity | None] = {}
        self._off: set[str] = set()
        self._options: dict[str, dict[str, Any]] = {}

    def _fault(self, message: str, help: str, *keys: str) -> None:
        self._report(message, help, line_of(self._text, *keys))

    def preset(self, value: object) -> str | None:
        if value is None or (isinstance(value, str) and value in PRESETS):
            return value
        self._fault(
            f"there is no preset `{value}`", suggest_name(str(value), tuple(PRESETS)), "preset"
        )
        return None

    def rules(self, table: object) -> None:
        if not isinstance(table, dict):
            self._fault("`rules` is no table", "write [rules]", "rules")
            return
        for name, value in table.items():
            codes = self._codes(name)
            if codes is None:
                continue
            options = dict(value) if isinstance(value, dict) else {"severity": value}
            if "severity" in options:
                self._severity(name, codes, options.pop("severity"))
            for key, given in options.items():
                self._rule_option(name, codes, key, given)

    def _codes(self, name: str) -> tuple[str, ...] | None:
        """The codes that a name in `[rules]` stands for."""
        known = self._registry.named_rules
        rule = known.get(name)
        if rule is None and name in BPMNLINT:
            return BPMNLINT[name].codes
        if rule is None:
            near = suggest_name(name, (*known, *BPMNLINT))
            hint = near if near.startswith("did") else "`orgflowc list rules` shows all"
            self._fault(f"there is no rule `{name}`", hint, "rules", name)
            return None
        if not rule.category.is_about_model:
            self._fault(
                f"`{name}` cannot be configured: it is not about the content of a model",
                "remove the line",
                "rules", name,
            )  # fmt: skip
            return None
        return (rule.code,)

    def _severity(self, name: str, codes: tuple[str, ...], value: object) -> None:
        if not isinstance(value, str) or value not in LEVELS:
            shown = str(value).lower() if isinstance(value, bool) else value
            near = suggest_name(str(value), tuple(LEVELS))
            self._fault(f"rule `{name}` cannot be `{shown}`", near, "rules", name)
            return
        self.severities.update(dict.fromkeys(codes, LEVELS[value]))

    def _rule_option(self, name: str, codes: tuple[str, ...], key: str, value: object) -> None:
        owners = [
            cls
            for cls in self._registry.passes.values()
            if any(rule.code in codes for rule in cls.rules)
        ]
        known = {f.name.replace("_", "-") for cls in owners for f in _option_fields(cls)}
        if key not in known:
            near = suggest_name(key, ("severity", *sorted(known)))
            self._fault(f"rule `{name}` has no option `{key}`", near, "rules", name, key)
            return
        for cls in owners:
            self._option(cls, key, value, ("rules", name, key))

    def passes(self, table: object) -> None:
        if not isinstance(table, dict):
            self._fault("`passes` is no table", "write [passes]", "passes")
            return
        known = self._registry.passes
        for name, value in table.items():
            if name not in known:
                near = suggest_name(name, tuple(known))
                hint = near if near.startswith("did") else "`orgflowc list passes` shows all"
                self._fault(f"there is no pass `{name}`", hint, "passes", name)
            elif value == "off":
                self._off.add(name)
            elif value == "on":
                self._options.setdefault(name, {})
            elif isinstance(value, dict):
                self._options.setdefault(name, {})
                for key, given in value.items():
                    self._option(known[name], key, given, ("passes", name, key))
            else:
                self._fault(
                    f"pass `{name}` cannot be `{value}`",
                    'write "on", "off" or a table of options',
                    "passes", name,
                )  # fmt: skip

    def _option(self, cls: type[Pass], key: str, value: object, keys: tuple[str, ...]) -> None:
        """Take an option of a pass, if it has it and the value is of its kind."""
        field = next((f for f in _option_fields(cls) if f.name.replace("_", "-") == key), None)
        if field is None:
            if keys[0] == "passes":
                known = tuple(f.name.replace("_", "-") for f in _option_fields(cls))
                near = suggest_name(key, known)
                self._fault(f"pass `{cls.name}` has no option `{key}`", near, *keys)
            return
        kind = type(field.default)
        given = tuple(value) if kind is tuple and isinstance(value, list) else value
        if type(given) is not kind:
            wanted = _KINDS.get(kind, "a text")
            self._fault(
                f"option `{key}` of `{keys[1]}` is not {wanted}", f"make it {wanted}", *keys
            )
            return
        try:
            cls(**{field.name: given})
        except ValueError as error:
            self._fault(f"option `{key}` of `{keys[1]}`: {error}", "correct the value", *keys)
            return
        self._options.setdefault(cls.name, {})[field.name] = given

    def instances(self) -> dict[str, Pass | None]:
        passes: dict[str, Pass | None] = dict.fromkeys(self._off)
        for name, options in self._options.items():
            passes.setdefault(name, self._registry.passes[name](**options))
        return passes


_KINDS = {bool: "true or false", int: "a whole number", tuple: "a list"}


def _option_fields(cls: type[Pass]) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(cls)
