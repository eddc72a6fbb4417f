"""Rules of every target for rewritten and unsupported constructs (OF401 to OF410)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgflow_ir.diagnostics import Category, Rule, Severity

if TYPE_CHECKING:
    pass


class LoweredConstruct(Rule):
    """
    What it finds
        A construct that the target does not support and that was rewritten without loss into
        supported constructs.
    Why it is wrong
        This is not a fault. The elements of the workflow differ from those of the model, and this
        finding reports the difference.
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
        A construct that the target supports only as an approximation.
    Why it is wrong
        The workflow would differ from the model; the message names the lost information.
    Example
        A target without timers omits a timer event.
    Instead
        Change the model, choose another target, or allow the approximation with --allow-lossy.
    """

    code = "OF402"
    name = "lossy-lowering"
    severity = Severity.ERROR
    category = Category.TARGET


class IllegalConstruct(Rule):
    """
    What it finds
        A construct that the target does not support, directly or by a rewrite.
    Why it is wrong
        Omitting it would change the meaning of the process.
    Example
        A complex gateway, for n8n.
    Instead
        The message states the target's reason; `orgflowc list constructs --matrix` prints the
        support matrix of all targets.
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
        Replace the placeholder in the target's editor with a node that does the same work.
    """

    code = "OF404"
    name = "unsupported-binding"
    severity = Severity.INFO
    category = Category.TARGET


class UnsupportedTime(Rule):
    """
    What it finds
        A time in the model that the target does not support: free text, an expression, or a form
        that its waits and triggers lack.
    Why it is wrong
        The workflow would wait for the wrong time, or not at all. A timer without any time is a gap
        (OF504) instead.
    Example
        `P1M` for Amazon States Language, where a wait is a number of seconds and months differ.
    Instead
        Use a time that the target supports; the message states the reason.
    """

    code = "OF405"
    name = "unsupported-time"
    severity = Severity.ERROR
    category = Category.TARGET


class UnsupportedCondition(Rule):
    """
    What it finds
        A condition that orgflow supports but the target cannot evaluate.
    Why it is wrong
        The condition cannot be compiled; the branch becomes a value of a decision variable.
    Example
        `${price * quantity > 1000}` for Amazon States Language, where choices cannot compute.
    Instead
        Compute the value in a task and compare it, or set the decision variable.
    """

    code = "OF406"
    name = "unsupported-condition"
    severity = Severity.WARNING
    category = Category.TARGET


class UnsupportedStub(Rule):
    """
    What it finds
        An element that the target does not support and that was replaced with a stop
        (`unsupported=stub`). An event on the border of a step and an event sub-process are omitted,
        and a start is replaced with a manual one.
    Why it is wrong
        The rest was compiled, but a run that reaches the stop fails, and does not wait for an
        omitted event: the element still has to be implemented in the target.
    Example
        An ad-hoc sub-process, compiled with `--target n8n{unsupported=stub}`: a Stop and Error node
        and a placeholder that leads to the next step.
    Instead
        Replace the stop with nodes that do the work, or change the model; `orgflowc list constructs
        --matrix` prints the support matrix.
    """

    code = "OF407"
    name = "unsupported-stub"
    severity = Severity.WARNING
    category = Category.TARGET


class KeptAsNote(Rule):
    """
    What it finds
        Content of a model outside its flow: annotations, data, messages, engine settings,
        documentation of flows, performers of lanes.
    Why it is wrong
        Nothing is lost: it is in the note or comment of the emitted element or workflow. However,
        it has no effect in the workflow.
    Example
        The annotation `Law says 14 days` on `Check invoice`.
    Instead
        No action is needed, unless the work depends on it.
    """

    code = "OF408"
    name = "kept-as-note"
    severity = Severity.INFO
    category = Category.TARGET


class NeverOccurs(Rule):
    """
    What it finds
        An event that no run can trigger, on a target that does not support it: an error, escalation
        or cancellation that nothing throws, an event sub-process for the compensation of a scope
        that nothing compensates, or an event that no flow from a start event leads to.
    Why it is wrong
        The event and the steps that only it leads to are omitted. The rest means the same without
        them, but the model suggests that they can happen.
    Example
        A boundary event on the sub-process `Pay` catches the error `NoMoney`, and the only error
        end event in `Pay` throws `CardLost`.
    Instead
        Throw the event in the activity, correct its code, or remove it.
    """

    code = "OF409"
    name = "never-occurs"
    severity = Severity.WARNING
    category = Category.TARGET


class ContradictedOption(Rule):
    """
    What it finds
        An option of the command line, or of an `orgflow.toml`, that differs from the option with
        which a workflow was compiled. The workflow states its options in a note.
    Why it is wrong
        The model is compiled with other options than the workflow, so differences may come from the
        options and not from edits.
    Example
        A workflow that was compiled with `people=mail` is verified with `people=slack`.
    Instead
        Omit the option to use that of the workflow, or compile the model again with the new one.
    """

    code = "OF410"
    name = "contradicted-option"
    severity = Severity.WARNING
    category = Category.TARGET


class KeptOption(Rule):
    """
    What it finds
        A model that `deploy` compiles, or `run --executions` compares, with options of the deployed
        workflow: neither the command line nor an `orgflow.toml` gives them. The workflow states its
        options in a note.
    Why it is wrong
        This is no fault. Without these options, the deployment would change how the workflow works,
        and executions would be compared with another workflow than the deployed one.
    Example
        A workflow was deployed with `people=placeholder`, and its model is now deployed with no
        option.
    Instead
        Give the option with another value to change it, for example its default value.
    """

    code = "OF640"
    name = "kept-option"
    severity = Severity.INFO
    category = Category.DEPLOY


TARGET_RULES: tuple[type[Rule], ...] = (
    LoweredConstruct,
    LossyLowering,
    IllegalConstruct,
    UnsupportedBinding,
    UnsupportedTime,
    UnsupportedCondition,
    UnsupportedStub,
    KeptAsNote,
    NeverOccurs,
    ContradictedOption,
    KeptOption,
)
