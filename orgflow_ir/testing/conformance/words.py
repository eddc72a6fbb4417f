"""Requirements on the rules and diagnostics of a leaf: codes, explanations, and the form of
messages."""

from __future__ import annotations

import re
from collections.abc import Iterable

from orgflow_ir.diagnostics import Category, Diagnostic, Rule, Severity
from orgflow_ir.diagnostics.agent_rules import AGENT_RULES
from orgflow_ir.diagnostics.core_rules import CORE_RULES
from orgflow_ir.diagnostics.rule import CODE_FORM
from orgflow_ir.targets import TARGET_RULES

KEBAB = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
"""The form of every name: lower-case words with single hyphens between them."""

_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SECTIONS = ("What it finds", "Why it is wrong", "Example", "Instead")


def name_problems(name: object) -> list[str]:
    """Whether a name is in kebab case."""
    if isinstance(name, str) and KEBAB.fullmatch(name):
        return []
    return [f"the name {name!r} is not lower-case words joined by hyphens"]


def rule_problems(rules: object) -> list[str]:
    """Requires that rules are classes with their own codes, a severity, and an explanation."""
    if not isinstance(rules, tuple):
        return [f"`rules` is a {type(rules).__name__}, not a tuple"]
    odd = [r for r in rules if not (isinstance(r, type) and issubclass(r, Rule))]
    if odd:
        return [f"`rules` holds {odd[0]!r}, which is not a subclass of `Rule`"]
    core = (*CORE_RULES, *AGENT_RULES, *TARGET_RULES)
    taken = {r.code for r in core}
    codes = [r.code for r in rules]
    problems = [f"{c} is the code of two of its rules" for c in set(codes) if codes.count(c) > 1]
    for rule in rules:
        if rule in core:
            continue
        if rule.code in taken:
            problems.append(f"{rule.code} is a code of the core")
        problems += _one_rule(rule)
    return sorted(problems)


def _one_rule(rule: type[Rule]) -> list[str]:
    problems = []
    if not re.fullmatch(CODE_FORM, rule.code):
        problems.append(f"the code `{rule.code}` is not capital letters and three digits")
    if not KEBAB.fullmatch(rule.name):
        problems.append(f"{rule.code}: the name {rule.name!r} is not words joined by hyphens")
    if not isinstance(rule.severity, Severity):
        problems.append(f"{rule.code}: {rule.severity!r} is no `Severity`")
    if not isinstance(getattr(rule, "category", None), Category):
        problems.append(f"{rule.code}: it has no `category` of the type `Category`")
    if not isinstance(rule.target, str | None):
        problems.append(f"{rule.code}: its `target` {rule.target!r} is not a name of a target")
    headings = [line for line in rule.explanation().splitlines() if line and line[0] != " "]
    if tuple(headings) != _SECTIONS:
        other = next((line for line in headings if line not in _SECTIONS), None)
        problems.append(
            f"{rule.code}: the docstring, which `explain` prints, needs the sections "
            f"{', '.join(_SECTIONS)}, each followed by indented text"
            + (
                f"; the line {_shorten_text(other)} is neither a section nor indented"
                if other is not None
                else ""
            )
        )
    return problems


def said_problems(diagnostics: Iterable[Diagnostic], rules: Iterable[type[Rule]]) -> list[str]:
    """Requires that diagnostics have known rules and messages in the common form."""
    known = {r.code for r in (*rules, *CORE_RULES, *TARGET_RULES)}
    problems = []
    for d in diagnostics:
        if d.code not in known:
            problems.append(f"{d.code} is not among its rules")
        message = d.message
        if not message.strip() or _BREAKS.search(message) or message.endswith("."):
            problems.append(
                f"{d.code}: message is not one line without a full stop: {_shorten_text(message)}"
            )
        elif message[0].isupper() and message[1:2].islower():
            problems.append(
                f"{d.code}: message begins with a capital letter: {_shorten_text(message)}"
            )
    return list(dict.fromkeys(problems))


def _shorten_text(text: str) -> str:
    return repr(text if len(text) <= 100 else f"{text[:100]}…")
