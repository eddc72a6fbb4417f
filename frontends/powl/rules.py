"""Rules about POWL files: OF070 and OF071."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class InvalidPowl(Rule):
    """
    What it finds
        A file that is no POWL model: JSON with another form, Python code that does anything but
        build a model, an order with a cycle, a choice or a loop without the parts it needs.
    Why it is wrong
        Nothing of it is read: a part that is left out would change what the model means. Code is
        never executed; only assignments and calls that build POWL are understood.
    Example
        {"powl": 1, "model": {"type": "loop", "redo": {"type": "activity", "label": "Ask again"}}}
    Instead
        {"powl": 1, "model": {"type": "loop", "do": {"type": "activity", "label": "Ask"},
         "redo": {"type": "activity", "label": "Ask again"}}}
    """

    code = "OF070"
    name = "invalid-powl"
    severity = Severity.ERROR
    category = Category.INPUT


class UnusedPowl(Rule):
    """
    What it finds
        An activity that POWL code makes and the final model does not contain.
    Why it is wrong
        It never runs; probably an order or a choice was meant to contain it.
    Example
        ask = gen.activity("Ask"), which no later line mentions
    Instead
        Put it into the order: gen.partial_order(dependencies=[(ask, answer)])
    """

    code = "OF071"
    name = "unused-powl"
    severity = Severity.WARNING
    category = Category.INPUT
