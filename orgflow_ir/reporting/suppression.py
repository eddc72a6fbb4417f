"""Suppressed findings: named by rule, with a reason, in the model or in a file.

In a model it is an attribute `suppress` of the namespace `urn:orgflow`, on the element, its process
or the whole file: `orgflow:suppress="OF203: both steps may run twice"`, several separated by `;`.
Suppressed findings are still found, and formats for programs include them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from orgflow_ir.diagnostics.core_rules import FaultySuppression, UnusedSuppression
from orgflow_ir.diagnostics.diagnostic import Diagnostic
from orgflow_ir.diagnostics.rule import CODE_FORM, Rule
from orgflow_ir.model import Element, Model, SubProcess
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.pipeline import PassContext

KEY = "@{urn:orgflow}suppress"
"""Key of the attribute in an element's `extra`."""

# Compiled where it is first needed: few command lines suppress anything.
_ENTRY = rf"(?s)\s*({CODE_FORM}|[a-z][a-z0-9]*(?:-[a-z0-9]+)+)\s*(?::\s*(.*?))?\s*"


class Suppression(NamedTuple):
    """A suppression of one rule.

    `elements` are ids (`None`: anywhere); `labels` are element names used in configuration;
    `holder` is the element that carries it in a model, or `None`.
    """

    code: str
    reason: str
    elements: frozenset[str] | None = None
    labels: frozenset[str] = frozenset()
    loc: SourceLocation | None = None
    holder: str | None = None

    def covers(self, finding: Diagnostic, labels: Mapping[str, str]) -> bool:
        """Whether it applies to a finding."""
        if finding.code != self.code:
            return False
        if self.elements is None and not self.labels:
            return True
        if finding.element is None:
            return False
        return (
            finding.element in (self.elements or ()) or labels.get(finding.element) in self.labels
        )


def find_fault(name: str, reason: str, rules: Mapping[str, type[Rule]]) -> str | None:
    """The fault of a suppression, for a message; `None` if it is valid.

    `rules` maps every code and name to its rule (`Registry.named_rules`).
    """
    rule = rules.get(name)
    if rule is None:
        return f"there is no rule `{name}`"
    if not rule.category.is_about_model:
        return f"`{name}` cannot be suppressed: it is not about the content of a model"
    if not reason:
        return f"it states no reason for `{name}`"
    return None


def in_model(
    model: Model, rules: Mapping[str, type[Rule]], ctx: PassContext
) -> tuple[Suppression, ...]:
    """The suppressions in a model; emits OF006 for each unreadable one. `rules` are
    `Registry.named_rules`."""
    result: list[Suppression] = []
    for element, inside in _list_carriers(model):
        text = next(value for key, value in element.extra if key == KEY)
        for name, reason in _list_entries(text, rules):
            wrong = find_fault(name, reason, rules)
            if wrong is not None:
                ctx.emit(
                    FaultySuppression,
                    f"the suppression at `{element.label}` has no effect: {wrong}",
                    element=element,
                    help='write it as orgflow:suppress="OF203: why this is right here"',
                )
                continue
            whole = isinstance(element, Model)
            result.append(
                Suppression(
                    rules[name].code,
                    reason,
                    None if whole else inside,
                    loc=element.loc,
                    holder=element.id,
                )
            )
    return tuple(result)


def _list_entries(text: str, rules: Mapping[str, type[Rule]]) -> Iterator[tuple[str, str]]:
    """`OF203: why; N8N001: why` in pairs; a part that begins with no rule belongs to the reason
    before it (so does one that begins like a plugin's code that nothing has: a ticket's number)."""
    entries: list[tuple[str, str]] = []
    for part in text.split(";"):
        match = re.fullmatch(_ENTRY, part)
        own = match is not None and (match[1] in rules or match[1].startswith("OF"))
        if match is not None and (
            not entries or (match[2] is not None and (own or match[1].islower()))
        ):
            entries.append((match[1], (match[2] or "").strip()))
        elif entries:
            name, reason = entries[-1]
            entries[-1] = (name, f"{reason};{part}".strip("; "))
        elif part.strip():
            entries.append((part.strip().partition(":")[0], ""))
    return iter(entries)


def _list_carriers(model: Model) -> Iterator[tuple[Element, frozenset[str]]]:
    """Elements with the attribute, each with the ids of all that is in it."""
    if _has_suppression(model):
        yield model, frozenset()
    for pool in model.pools:
        if _has_suppression(pool):
            process = [p for p in model.processes if p.id == pool.process]
            yield pool, frozenset((pool.id, *(i for p in process for i in _ids_inside(p))))
    for flow in model.message_flows:
        if _has_suppression(flow):
            yield flow, frozenset((flow.id,))
    for scope in model.scopes():
        if _has_suppression(scope):
            yield scope, frozenset(_ids_inside(scope))
        for item in (*scope.nodes, *scope.flows):
            if _has_suppression(item) and not isinstance(item, SubProcess):
                yield item, frozenset((item.id,))


def _has_suppression(element: Element) -> bool:
    return any(key == KEY for key, _ in element.extra)


def _ids_inside(scope: Element) -> Iterator[str]:
    yield scope.id
    for node in getattr(scope, "nodes", ()):
        yield from _ids_inside(node)
    for flow in getattr(scope, "flows", ()):
        yield flow.id


def carries_any(model: Model) -> bool:
    """Whether some element has the attribute."""
    return next(_list_carriers(model), None) is not None


def mark_suppressed(
    diagnostics: Iterable[Diagnostic],
    suppressions: Sequence[Suppression],
    labels: Mapping[str, str],
) -> tuple[list[Diagnostic], set[int]]:
    """The diagnostics, with the reason for each accepted one, and the indices of the suppressions
    that were used."""
    result: list[Diagnostic] = []
    used: set[int] = set()
    for finding in diagnostics:
        at = next((i for i, s in enumerate(suppressions) if s.covers(finding, labels)), None)
        if at is not None:
            used.update(i for i, s in enumerate(suppressions) if s.covers(finding, labels))
            finding = finding.replace(suppressed=suppressions[at].reason)
        result.append(finding)
    return result, used


def report_unused(suppression: Suppression, ctx: PassContext) -> None:
    """OF005 for an unused suppression."""
    ctx.emit(
        UnusedSuppression,
        f"the suppression of {suppression.code} is unused: there is no such finding here",
        element=suppression.holder,
        loc=suppression.loc,
        help="remove the suppression, or it may hide a later fault",
    )
