"""Rules about agents (OF511 to OF516, OF522): answers, rejected answers, open gaps, evidence."""

from __future__ import annotations

from orgflow_ir.diagnostics.rule import Category, Rule, Severity


class AnsweredGap(Rule):
    """
    What it finds
        A gap that an agent filled, with its answer.
    Why it is wrong
        Nothing is wrong. The model now contains information that its source does not; this finding
        records where it came from.
    Example
        The timer event `some days later`, for which an agent answered the duration `P3D`.
    Instead
        Check the answer, and add it to the source so that agents are not asked again.
    """

    code = "OF511"
    name = "answered-gap"
    severity = Severity.INFO
    category = Category.GAP


class RefusedAnswer(Rule):
    """
    What it finds
        An answer of an agent that has the wrong form, leaves the gap open, or would introduce an
        error into the model.
    Why it is wrong
        The answer was not used; the gap remains open, and its default applies.
    Example
        `soon` as the duration of a timer event.
    Instead
        Fill the gap in the source, or use another agent.
    """

    code = "OF512"
    name = "refused-answer"
    severity = Severity.WARNING
    category = Category.GAP


class FailedAgent(Rule):
    """
    What it finds
        An agent that failed with an exception or returned an invalid answer.
    Why it is wrong
        This is a bug in that agent (or in its plugin), not in your model. The gap remains open, and
        its default applies.
    Example
        An agent that expects every task to have a name.
    Instead
        Report it to the maintainer of the plugin, or compile without that agent.
    """

    code = "OF513"
    name = "failed-agent"
    severity = Severity.WARNING
    category = Category.INTERNAL


class UnavailableAgent(Rule):
    """
    What it finds
        An agent that cannot work: a required service is not configured or does not respond, or its
        budget is spent.
    Why it is wrong
        The agent is not asked again; the remaining gaps stay open, and their defaults apply.
    Example
        An agent that needs a language model when none is configured.
    Instead
        Configure the service named in the message, or compile without that agent.
    """

    code = "OF514"
    name = "unavailable-agent"
    severity = Severity.WARNING
    category = Category.INPUT


class WrongEvidence(Rule):
    """
    What it finds
        Evidence that the documents do not contain, for an element of a model made by an agent: an
        unknown document, a quote that does not occur in it, or a position outside it.
    Why it is wrong
        The element cannot be verified and may be invented.
    Example
        `Approve invoice` with the quote "the manager approves it", which no document contains.
    Instead
        Compare the element with the documents, and correct or remove it.
    """

    code = "OF515"
    name = "wrong-evidence"
    severity = Severity.WARNING
    category = Category.GAP


class NoEvidence(Rule):
    """
    What it finds
        A task, named event or named gateway of a model made by an agent that cites no passage of a
        document.
    Why it is wrong
        Readers cannot see why the element is in the model.
    Example
        A task `Archive order` without evidence.
    Instead
        Compare the element with the documents, and correct or remove it.
    """

    code = "OF516"
    name = "no-evidence"
    severity = Severity.INFO
    category = Category.GAP


class UnansweredGap(Rule):
    """
    What it finds
        A gap that `orgflowc fill` or `orgflow.fill` left open: no asked agent has an answer, or
        none was asked.
    Why it is wrong
        The gap remains open, and its default applies.
    Example
        A task `Weigh the elephant` of which only the name is known.
    Instead
        Answer the gap in the source, or fill again with a language model or another agent.
    """

    code = "OF522"
    name = "unanswered-gap"
    severity = Severity.INFO
    category = Category.GAP


AGENT_RULES: tuple[type[Rule], ...] = (
    AnsweredGap,
    RefusedAnswer,
    FailedAgent,
    UnavailableAgent,
    WrongEvidence,
    NoEvidence,
    UnansweredGap,
)
