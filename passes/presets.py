"""Presets: named selections of rules, with severities.

recommended   what orgflow reports on its own
strict        also the rules of style and of the specification that most teams can keep
all           every rule there is
bpmnlint      the 26 rules that bpmnlint recommends, at its severities, and nothing else
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from orgflow_ir.diagnostics import Rule, Severity
from orgflow_ir.diagnostics.grading import Grading
from orgflow_ir.model.records import NamedTuple

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

DEFAULT_PRESET = "recommended"

PRESETS: Mapping[str, str] = MappingProxyType(
    {
        "recommended": "the rules that orgflow reports by default",
        "strict": "the recommended rules, and the style rules that most teams can follow",
        "all": "all rules",
        "bpmnlint": "exactly the 26 rules that bpmnlint recommends, with its severities",
    }
)
"""The purpose of each preset."""

STRICT: Mapping[str, Severity] = MappingProxyType(
    {
        **dict.fromkeys(("OF108", "OF128", "OF205"), WARNING),
        **dict.fromkeys(("OF503", "OF504", "OF505", "OF507", "OF510"), WARNING),
        **dict.fromkeys((f"OF{n}" for n in range(170, 179)), WARNING),
        **dict.fromkeys((f"OF{n}" for n in range(182, 189)), WARNING),
        **dict.fromkeys(("OF129", "OF164", "OF165", "OF166", "OF167", "OF191", "OF193"), WARNING),
    }
)
"""Optional rules that `strict` enables, and rules for which it raises the severity."""


class BpmnlintRule(NamedTuple):
    """A rule of bpmnlint: its severity there, and the codes of the corresponding rules here."""

    severity: Severity
    codes: tuple[str, ...]


BPMNLINT: Mapping[str, BpmnlintRule] = MappingProxyType(
    {
        "ad-hoc-sub-process": BpmnlintRule(ERROR, ("OF143",)),
        "conditional-flows": BpmnlintRule(ERROR, ("OF132",)),
        "end-event-required": BpmnlintRule(ERROR, ("OF185",)),
        "event-based-gateway": BpmnlintRule(ERROR, ("OF134",)),
        "event-sub-process-typed-start-event": BpmnlintRule(ERROR, ("OF127",)),
        "fake-join": BpmnlintRule(WARNING, ("OF172",)),
        "global": BpmnlintRule(WARNING, ("OF186", "OF187", "OF188")),
        "label-required": BpmnlintRule(ERROR, ("OF170",)),
        "link-event": BpmnlintRule(ERROR, ("OF118", "OF119", "OF191")),
        "no-bpmndi": BpmnlintRule(ERROR, ("OF189",)),
        "no-complex-gateway": BpmnlintRule(ERROR, ("OF180",)),
        "no-disconnected": BpmnlintRule(ERROR, ("OF176",)),
        "no-duplicate-sequence-flows": BpmnlintRule(ERROR, ("OF131",)),
        "no-gateway-join-fork": BpmnlintRule(ERROR, ("OF177",)),
        "no-implicit-end": BpmnlintRule(ERROR, ("OF110", "OF122", "OF130", "OF175")),
        "no-implicit-split": BpmnlintRule(ERROR, ("OF173",)),
        "no-implicit-start": BpmnlintRule(ERROR, ("OF174",)),
        "no-inclusive-gateway": BpmnlintRule(WARNING, ("OF179",)),
        "no-overlapping-elements": BpmnlintRule(WARNING, ("OF190",)),
        "single-blank-start-event": BpmnlintRule(ERROR, ("OF182",)),
        "single-event-definition": BpmnlintRule(ERROR, ("OF181",)),
        "start-event-required": BpmnlintRule(ERROR, ("OF184",)),
        "sub-process-blank-start-event": BpmnlintRule(ERROR, ("OF125",)),
        "superfluous-gateway": BpmnlintRule(WARNING, ("OF178",)),
        "superfluous-label": BpmnlintRule(WARNING, ("OF171",)),
        "superfluous-termination": BpmnlintRule(WARNING, ("OF183",)),
    }
)
"""The rules that bpmnlint recommends; projects may also configure the corresponding rules under
these names."""


def preset_grading(name: str, rules: Mapping[str, type[Rule]]) -> Grading:
    """The setting of a preset for each rule; `rules` are all rules, by code.

    Raises `KeyError` if the preset does not exist.
    """
    if name not in PRESETS:
        raise KeyError(name)
    if name == "strict":
        return Grading({code: s for code, s in STRICT.items() if code in rules})
    if name == "all":
        return Grading({c: r.severity for c, r in rules.items() if r.optional})
    if name == "bpmnlint":
        wanted = {code: rule.severity for rule in BPMNLINT.values() for code in rule.codes}
        about_model = [c for c, rule in rules.items() if rule.category.is_about_model]
        return Grading({code: wanted.get(code) for code in about_model})
    return Grading()


def presets_with(rule: type[Rule]) -> dict[str, Severity]:
    """The presets that report a rule, each with its severity."""
    if not rule.category.is_about_model:
        return dict.fromkeys(PRESETS, rule.severity)
    severities: dict[str, Severity] = {}
    for name in PRESETS:
        grading = preset_grading(name, {rule.code: rule})
        if grading.reports(rule):
            severities[name] = grading.severities.get(rule.code) or rule.severity
    return severities


def bpmnlint_names(code: str) -> tuple[str, ...]:
    """The name in bpmnlint for the findings of a rule."""
    return tuple(name for name, rule in BPMNLINT.items() if code in rule.codes)


def in_presets(rule: type[Rule]) -> str:
    """The presets that report a rule, in words: ``strict (warning), bpmnlint (error, as …)``;
    empty for rules that are not about a model, which no preset can turn off."""
    if not rule.category.is_about_model:
        return ""
    parts = []
    for name, severity in presets_with(rule).items():
        known = bpmnlint_names(rule.code) if name == "bpmnlint" else ()
        alias = f", as {' and '.join(f'`{n}`' for n in known)}" if known else ""
        parts.append(f"{name} ({severity}{alias})")
    return ", ".join(parts)
