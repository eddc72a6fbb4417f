"""Rules of every target: what was rewritten, and what it does not support (OF401 to OF407)."""

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


class UnsupportedBinding(Rule):
    """
    What it finds
        A task whose implementation (a script, a service of another engine) the target does not run.
    Why it is wrong
        The target emits a placeholder instead: the workflow runs, but the work is not done.
    Example
        A script task in Groovy that calls a service, for n8n.
    Instead
        Replace the placeholder in the target's editor by a node that does the same.
    """

    code = "OF404"
    name = "unsupported-binding"
    severity = Severity.INFO
    category = Category.TARGET


class UnsupportedTime(Rule):
    """
    What it finds
        A time that the model states, but that the target does not keep: prose, an expression, or
        what its waits and triggers do not have.
    Why it is wrong
        The workflow would wait for something else, or for nothing. A timer without any time is a
        gap (OF504) instead.
    Example
        `P1M` for Amazon States Language, where a wait is a number of seconds and months differ.
    Instead
        Give the event a time that the target supports; the message gives the reason.
    """

    code = "OF405"
    name = "unsupported-time"
    severity = Severity.ERROR
    category = Category.TARGET


class UnsupportedCondition(Rule):
    """
    What it finds
        A condition that can be read, but that the target cannot evaluate.
    Why it is wrong
        It cannot be compiled; the branch becomes a value of a decision variable.
    Example
        `${price * quantity > 1000}` for Amazon States Language, where a choice computes nothing.
    Instead
        Compute the value in a task and compare that, or set the decision variable.
    """

    code = "OF406"
    name = "unsupported-condition"
    severity = Severity.WARNING
    category = Category.TARGET


class UnsupportedStub(Rule):
    """
    What it finds
        An element that the target does not support, in whose place a run stops
        (`unsupported=stub`).
    Why it is wrong
        The rest was compiled, but a run that reaches the stop fails there: what the model has there
        is still to be made in the target.
    Example
        An ad-hoc sub-process, compiled with `--target n8n{unsupported=stub}`: a Stop and Error node
        and a placeholder that leads to the next step.
    Instead
        Put what does the work in the place of the stop, or change the model so that it is
        supported; `orgflowc list constructs --matrix` shows what each target supports.
    """

    code = "OF407"
    name = "unsupported-stub"
    severity = Severity.WARNING
    category = Category.TARGET


class KeptAsNote(Rule):
    """
    What it finds
        What a model says beside its flow: annotations, data, messages, settings of engines,
        documentation of flows, performers of lanes.
    Why it is wrong
        Nothing is lost: it is in the note or comment of what stands for the element, or of the
        whole. But nothing in the result acts on it.
    Example
        The annotation `Law says 14 days` on `Check invoice`.
    Instead
        Nothing to do, unless the work depends on it.
    """

    code = "OF408"
    name = "kept-as-note"
    severity = Severity.INFO
    category = Category.TARGET


TARGET_RULES: tuple[type[Rule], ...] = (
    LoweredConstruct,
    LossyLowering,
    IllegalConstruct,
    UnsupportedBinding,
    UnsupportedTime,
    UnsupportedCondition,
    UnsupportedStub,
    KeptAsNote,
)
