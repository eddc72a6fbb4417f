"""Rules of legalisation: OF401 to OF403."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgflow_ir.diagnostics import Category, Rule, Severity

if TYPE_CHECKING:
    pass


class LoweredConstruct(Rule):
    """
    What it finds
        A construct the target does not have was rewritten, without loss, into what it has.
    Why it is wrong
        Nothing is wrong; the result has other elements than the drawing, and this says which.
    Example
        A gateway that both joins and splits becomes a join followed by a split.
    Instead
        Nothing to do.
    """

    code = "OF401"
    name = "lowered-construct"
    severity = Severity.INFO
    category = Category.TARGET


class LossyLowering(Rule):
    """
    What it finds
        A construct the target can only approximate.
    Why it is wrong
        The workflow would do something other than the model says; the message names what is lost.
    Example
        A target without timers leaves a timer event out.
    Instead
        Change the model, choose another target, or accept the loss with --allow-lossy.
    """

    code = "OF402"
    name = "lossy-lowering"
    severity = Severity.ERROR
    category = Category.TARGET


class IllegalConstruct(Rule):
    """
    What it finds
        A construct that the target cannot say and that no lowering rewrites.
    Why it is wrong
        Leaving it out would compile something else than the model says.
    Example
        A complex gateway, for n8n.
    Instead
        The message gives the target's reason; `orgflowc list constructs --matrix` shows what each
        target can say.
    """

    code = "OF403"
    name = "illegal-construct"
    severity = Severity.ERROR
    category = Category.TARGET


TARGET_RULES: tuple[type[Rule], ...] = (LoweredConstruct, LossyLowering, IllegalConstruct)
