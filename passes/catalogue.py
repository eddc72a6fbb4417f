"""Messages, signals, errors and escalations that are unused or have no name: rules of style."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from orgflow_ir.diagnostics import Category, Related, Rule, Severity
from orgflow_ir.model import CatalogEntry, Event, Model, Task
from orgflow_ir.pipeline import Pass, PassContext, Stage


class UnusedDefinition(Rule):
    """
    What it finds
        A message, signal, error or escalation that no event, task or message flow refers to.
    Why it is wrong
        It has no effect; usually the event that used it was removed or references another one.
    Example
        <message id="m" name="Order"/> and no `messageRef="m"`
    Instead
        Reference it, or remove it.
    """

    code = "OF186"
    name = "unused-definition"
    severity = Severity.WARNING
    category = Category.STYLE
    optional = True


class SameDefinitionName(Rule):
    """
    What it finds
        Two messages, signals, errors or escalations of the same name.
    Why it is wrong
        They are different although they have the same name: an event that throws one does not reach
        an event that waits for the other.
    Example
        <signal id="s1" name="Stop"/> <signal id="s2" name="Stop"/>
    Instead
        Use only one of them, or give them different names.
    """

    code = "OF187"
    name = "same-definition-name"
    severity = Severity.WARNING
    category = Category.STYLE
    optional = True


class UnnamedDefinition(Rule):
    """
    What it finds
        A message, signal, error or escalation without a name.
    Why it is wrong
        Events that use it show no name, and engines match by name.
    Example
        <message id="Message_0k2"/>
    Instead
        <message id="Message_0k2" name="Order"/>
    """

    code = "OF188"
    name = "unnamed-definition"
    severity = Severity.WARNING
    category = Category.STYLE
    optional = True


class Catalogue(Pass):
    """Reports messages, signals, errors and escalations that are unused, unnamed or duplicated."""

    name: ClassVar[str] = "catalogue"
    stage: ClassVar[Stage] = Stage.VERIFY
    rules: ClassVar[tuple[type[Rule], ...]] = (
        UnusedDefinition, SameDefinitionName, UnnamedDefinition,
    )  # fmt: skip

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        catalog = model.catalog
        tables = {
            "message": catalog.messages,
            "signal": catalog.signals,
            "error": catalog.errors,
            "escalation": catalog.escalations,
        }
        if any(tables.values()):
            used = frozenset(_list_used(model))
            for kind, entries in tables.items():
                _check_entries(kind, entries, used, ctx)
        return model


def _list_used(model: Model) -> Iterator[tuple[str, str | None]]:
    """Kind and id of what is referred to."""
    for scope in model.scopes():
        for node in scope.nodes:
            if isinstance(node, Event):
                yield from ((d.kind, d.ref) for d in node.definitions)
            elif isinstance(node, Task):
                yield "message", node.message
    yield from (("message", flow.message) for flow in model.message_flows)


def _check_entries(
    kind: str,
    entries: tuple[CatalogEntry, ...],
    used: frozenset[tuple[str, str | None]],
    ctx: PassContext,
) -> None:
    first: dict[str, CatalogEntry] = {}
    for entry in entries:
        name = " ".join(entry.name.split())
        if not name:
            ctx.emit(
                UnnamedDefinition,
                f"the {kind} `{entry.id}` has no name",
                element=entry,
                help="name it",
            )
        elif first.setdefault(name, entry) is not entry:
            ctx.emit(
                SameDefinitionName,
                f"there is another {kind} with the name `{name}`",
                element=entry,
                help=f"use only one {kind}, or give them different names",
                related=(Related(message="the first one", loc=first[name].loc),),
            )
        if (kind, entry.id) not in used:
            ctx.emit(
                UnusedDefinition,
                f"no element refers to the {kind} `{entry.label}`",
                element=entry,
                help="refer to it, or remove it",
            )
