"""Rules about what a model computes, found by runs: OF561 to OF564."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class UnreachedBranch(Rule):
    """
    What it finds
        A branch whose conditions no values meet, or to which a search finds no input. `run`
        evaluates scripts, decisions, mappings and conditions, and tries the values that the
        conditions tell apart. The message states which of the two it is. The search decides only
        where conditions compare with constants or compute with numbers. `run` lists other branches
        that it does not reach as uncovered, and they are no finding. Of several branches in a row
        it reports the first.
    Why it is wrong
        The steps on the branch never run.
    Example
        After a gateway whose branch has the condition `amount < 10`, a second gateway has a branch
        with the condition `amount > 20`.
    Instead
        Correct the condition, or the step that sets its variables. Remove the branch if it is not
        needed.
    """

    code = "OF561"
    name = "unreached-branch"
    severity = Severity.WARNING
    category = Category.DATA


class EndlessRun(Rule):
    """
    What it finds
        A loop that never ends, because what the model computes never makes its condition false.
    Why it is wrong
        The execution on n8n runs until it exceeds a limit of time or memory.
    Example
        A script sets `ready` to false, and the loop goes on until `ready` is true.
    Instead
        Correct the script that sets the variable, or the condition that leaves the loop.
    """

    code = "OF562"
    name = "endless-run"
    severity = Severity.ERROR
    category = Category.DATA


class FailingStep(Rule):
    """
    What it finds
        A step or gateway that fails for every input: a script throws an error that no event
        catches, an expression cannot be computed, a variable is never set, or no branch matches.
    Why it is wrong
        Every execution that reaches the step ends with an error on n8n.
    Example
        throw new RuntimeException("not implemented")
    Instead
        Correct what the step computes, set the variable in an earlier step, add a default flow, or
        catch the error with a boundary event.
    """

    code = "OF563"
    name = "failing-step"
    severity = Severity.ERROR
    category = Category.DATA


class InvalidTime(Rule):
    """
    What it finds
        A timer whose time is computed, and is neither a date nor a duration of ISO 8601.
    Why it is wrong
        Every execution that reaches the timer ends with an error on n8n.
    Example
        A script sets `pause` to "tomorrow", and a timer waits for `${pause}`.
    Instead
        Compute a duration such as PT1H, or a date such as 2030-01-31T08:00:00Z.
    """

    code = "OF564"
    name = "invalid-time"
    severity = Severity.ERROR
    category = Category.DATA


RUN_RULES: tuple[type[Rule], ...] = (UnreachedBranch, EndlessRun, FailingStep, InvalidTime)
