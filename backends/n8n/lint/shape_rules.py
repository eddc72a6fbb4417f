"""Rules of content that n8n refuses, or accepts and ignores (OF430 to OF440)."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class UnknownNodeType(Rule):
    """
    What it finds
        A node of n8n's own packages whose type does not exist in this version of n8n.
    Why it is wrong
        n8n does not publish the workflow; a manual run stops at the node.
    Example
        `n8n-nodes-base.sqlite`, or `n8n-nodes-base.htpRequest`.
    Instead
        Correct the type, or use the node that replaced it.
    """

    code = "OF430"
    name = "unknown-node-type"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class UnknownTypeVersion(Rule):
    """
    What it finds
        A `typeVersion` that this n8n does not know, often because it is newer.
    Why it is wrong
        n8n accepts it silently. If each version of a node has its own implementation, the run
        stops, because there is none for this version; other nodes run with untested behaviour.
    Example
        An If with `"typeVersion": 9`.
    Instead
        Use a version that the message lists, with the parameters of that version.
    """

    code = "OF431"
    name = "unknown-type-version"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


class MissingParameter(Rule):
    """
    What it finds
        A node without a parameter that it requires.
    Why it is wrong
        The workflow is incomplete: n8n does not publish it, even if no connection leads to the
        node.
    Example
        An HTTP Request without `url`.
    Instead
        Fill it in, or disable the node.
    """

    code = "OF432"
    name = "missing-parameter"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class UnknownParameter(Rule):
    """
    What it finds
        A parameter that no version of its node has.
    Why it is wrong
        n8n ignores it silently and uses the default of the intended parameter.
    Example
        A Set with `"assignment": {…}`.
    Instead
        Use the name that the message proposes.
    """

    code = "OF433"
    name = "unknown-parameter"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class OtherVersionParameter(Rule):
    """
    What it finds
        A parameter of a version of the node other than its `typeVersion`.
    Why it is wrong
        n8n ignores it silently: the parameter has no effect.
    Example
        A Set of version 3.4 with `values`, the name of its fields in version 2.
    Instead
        Use the parameter of this version, or change the version.
    """

    code = "OF434"
    name = "other-version-parameter"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class RefusedKey(Rule):
    """
    What it finds
        A key of a workflow, of its settings or of a node that n8n does not know.
    Why it is wrong
        The API rejects the whole workflow with status 400; the editor drops the key silently. The
        severity is warning if the key looks like a misspelling: its setting has no effect.
    Example
        `"onErorr": "continueErrorOutput"` at a node.
    Instead
        Remove the key, or correct its spelling.
    """

    code = "OF435"
    name = "refused-key"
    severity = Severity.INFO
    category = Category.TARGET
    target = "n8n"


class UnknownErrorHandling(Rule):
    """
    What it finds
        A value of `onError` that n8n does not know.
    Why it is wrong
        n8n uses the default: an error in this node stops the whole run.
    Example
        `"onError": "continueOutput"`.
    Instead
        `stopWorkflow`, `continueRegularOutput` or `continueErrorOutput`.
    """

    code = "OF436"
    name = "unknown-error-handling"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class IgnoredConnection(Rule):
    """
    What it finds
        A connection to an input that the node does not have, or of a kind that n8n does not
        know.
    Why it is wrong
        n8n reports no error. The connection carries no items, or the node waits for inputs that it
        then ignores.
    Example
        A connection to input 1 of an If.
    Instead
        Connect an input that exists, on `main`.
    """

    code = "OF437"
    name = "ignored-connection"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class ErrorWorkflowElsewhere(Rule):
    """
    What it finds
        An `errorWorkflow` in the settings that is not in this file, or cannot be started by
        an error.
    Why it is wrong
        If that workflow is missing, unpublished, or has no Error Trigger, n8n runs nothing when
        this workflow fails, and reports no error.
    Example
        `"settings": {"errorWorkflow": "nowhere"}`.
    Instead
        Publish a workflow with an Error Trigger under that id.
    """

    code = "OF438"
    name = "error-workflow-elsewhere"
    severity = Severity.INFO
    category = Category.TARGET
    target = "n8n"


class UnreadableCondition(Rule):
    """
    What it finds
        Conditions of an If, Filter or Switch with an operator that does not exist, or in
        the shape of another version of the node.
    Why it is wrong
        An unknown operator is never true. Conditions of the wrong shape count as always true, or
        stop the run. n8n reports nothing before the run.
    Example
        `"operator": {"type": "string", "operation": "equalz"}`.
    Instead
        Use the operators of n8n's editor, in the shape of the node's version.
    """

    code = "OF439"
    name = "unreadable-condition"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


class MistypedCondition(Rule):
    """
    What it finds
        A strict comparison with a value whose type differs from that of the operator.
    Why it is wrong
        The node fails at run time, whatever the data, and the run fails with it.
    Example
        `5` as a text, compared as a number with `typeValidation` strict.
    Instead
        Use a value of the right type, or `looseTypeValidation` with `typeValidation` loose.
    """

    code = "OF440"
    name = "mistyped-condition"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


SHAPE_RULES: tuple[type[Rule], ...] = (
    UnknownNodeType,
    UnknownTypeVersion,
    MissingParameter,
    UnknownParameter,
    OtherVersionParameter,
    RefusedKey,
    UnknownErrorHandling,
    IgnoredConnection,
    ErrorWorkflowElsewhere,
    UnreadableCondition,
    MistypedCondition,
)
