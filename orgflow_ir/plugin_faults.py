"""Whether what a plugin registers can be used: looked at once, so that nothing fails later."""

from __future__ import annotations

import inspect
from typing import Any

from orgflow_ir.contracts import Agent, Backend, Frontend, Reporter
from orgflow_ir.diagnostics import Rule
from orgflow_ir.pass_manager import Pass, Stage
from orgflow_ir.target import AddedLowering, Lowering, TargetSpec


def fault(item: Any, kind: type) -> str | None:
    """What is wrong with one thing that a hook gave, as the end of a sentence, or `None`.

    May raise whatever the plugin's own properties raise.
    """
    if kind is AddedLowering:
        return _lowering_fault(item)
    if kind is Pass:
        if not isinstance(item, type):
            hint = "; it takes the class" if isinstance(item, Pass) else ""
            return f"{item!r}, which is no pass class{hint}"
        if not issubclass(item, Pass):
            return f"{item!r}, which is no subclass of `Pass`"
    elif isinstance(item, type) and issubclass(item, kind):
        return f"the class `{item.__name__}`; it takes an instance of it"
    elif not isinstance(item, kind):
        return f"{item!r}, which is no `{kind.__name__}`"
    name = getattr(item, "name", None)
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        return f"{_called(item)} with the name {name!r}"
    return _rules_fault(item, name) or _own_fault(item, name)


def _called(item: Any) -> str:
    return f"`{item.__name__ if isinstance(item, type) else type(item).__name__}`"


def _rules_fault(item: Any, name: str) -> str | None:
    rules = getattr(item, "rules", ())
    if not isinstance(rules, tuple):
        return f"`{name}`, whose `rules` are no tuple"
    for rule in rules:
        if not (isinstance(rule, type) and issubclass(rule, Rule)):
            return f"`{name}`, whose rule {rule!r} is no subclass of `Rule`"
        missing = [a for a in ("code", "name", "severity") if not hasattr(rule, a)]
        if missing:
            return f"`{name}`, whose rule `{rule.__name__}` has no {' and no '.join(missing)}"
    return None


def _own_fault(item: Any, name: str) -> str | None:
    if isinstance(item, type):
        return _pass_fault(item, name)
    if isinstance(item, Frontend):
        good = isinstance(getattr(item, "suffixes", None), tuple)
        return None if good else f"`{name}`, whose `suffixes` are no tuple"
    if isinstance(item, Backend):
        target = item.target
        if not isinstance(target, TargetSpec):
            return f"`{name}`, whose `target` is {target!r} and no `TargetSpec`"
        if target.name != name:
            return f"`{name}`, whose target is called `{target.name}`"
    if isinstance(item, Agent):
        good = isinstance(getattr(item, "fills", None), tuple)
        return None if good else f"`{name}`, whose `fills` is no tuple"
    assert isinstance(item, Frontend | Backend | Agent | Reporter)
    return None


def _pass_fault(cls: Any, name: str) -> str | None:
    """A pass is made without arguments when a pipeline takes it up."""
    if inspect.isabstract(cls):
        return f"`{name}`, a pass without {' and '.join(sorted(cls.__abstractmethods__))}"
    if not isinstance(getattr(cls, "stage", None), Stage):
        return f"`{name}`, a pass without a `stage`"
    try:
        cls()
    except TypeError as error:
        return f"`{name}`, a pass that cannot be made without arguments: {error}"
    return None


def _lowering_fault(item: Any) -> str | None:
    if not isinstance(item, AddedLowering):
        return f"{item!r}, which is no `AddedLowering`"
    lowering = item.lowering
    if not isinstance(lowering, Lowering):
        return f"{lowering!r}, which is no `Lowering`"
    name = getattr(lowering, "name", None)
    if not isinstance(name, str) or not name.strip():
        return f"{_called(lowering)} with the name {name!r}"
    if not isinstance(getattr(lowering, "consumes", None), tuple):
        return f"`{name}`, whose `consumes` is no tuple"
    return None
