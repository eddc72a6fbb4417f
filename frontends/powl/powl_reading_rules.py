"""Rules about POWL files: OF070 and OF071."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class InvalidPowl(Rule):
    """
    What it finds
        A file that is not a POWL model: JSON of another form, Python code that does anything but
        build a model, an order with a cycle, a choice or a loop without its required parts.
    Why it is wrong
        The file is rejected as a whole, since omitting a part would change the meaning of the
        model. Code is never executed; only assignments and calls that build POWL are supported.
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
        An activity that the POWL code creates but the final model does not contain.
    Why it is wrong
        It never runs; probably it was meant to be part of an order or a choice.
    Example
        ask = gen.activity("Ask"), which no later line uses
    Instead
        Add it to the order: gen.partial_order(dependencies=[(ask, answer)])
    """

    code = "OF071"
    name = "unused-powl"
    severity = Severity.WARNING
    category = Category.INPUT
