"""Rules of the n8n backend: n8n's execution of parallel work, and defects of workflows."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class SequentialParallel(Rule):
    """
    What it finds
        Branches of a parallel or inclusive gateway.
    Why it is wrong
        Nothing is lost: n8n runs one branch after the other, from top to bottom, and the join waits
        for all of them. Only their durations add up.
    Example
        `Pack goods` and `Write invoice` after a parallel gateway.
    Instead
        Nothing to do.
    """

    code = "OF421"
    name = "sequential-parallel"
    severity = Severity.INFO
    category = Category.TARGET
    target = "n8n"


class SequentialWait(Rule):
    """
    What it finds
        A timer or message event that waits while another branch is active.
    Why it is wrong
        An n8n execution is suspended as a whole: the other branches are paused until this wait is
        over, and n8n rejects a message for a second wait until the first one has ended.
    Example
        `Wait for payment` in parallel with `Pack goods`.
    Instead
        Put the wait before or after the parallel block, or accept that the branches run in turn.
    """

    code = "OF422"
    name = "sequential-wait"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class WaitsBeside(Rule):
    """
    What it finds
        User tasks and receive tasks that may be open while other work waits, in a process that has
        no encoding in rows of a Data Table: on n8n 1, or beside an element without such an
        encoding.
    Why it is wrong
        An n8n execution waits at only one place at a time: of two forms, only one could be
        answered. Such tasks remain placeholders, which continue immediately; all others become
        forms or wait for a call.
    Example
        `Check credit` and `Check stock`, both user tasks, in two branches of a parallel gateway,
        compiled for n8n 1.
    Instead
        Put the tasks in sequence if possible. Otherwise, replace the placeholders with a node that
        distributes the work and continues when all of it is done.
    """

    code = "OF423"
    name = "waits-beside"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class UnstatedCallData(Rule):
    """
    What it finds
        A call that does not state which variables it passes and returns, in a file that names no
        process engine.
    Why it is wrong
        Engines disagree: Camunda 7, Flowable and jBPM pass only the variables that a call names;
        Camunda 8 passes all variables. The workflow passes and returns all variables.
    Example
        `<callActivity id="ship" calledElement="shipping"/>` in a file without extensions.
    Instead
        Name the variables, such as `<camunda:in source="order" target="order"/>`, or the engine:
        `modeler:executionPlatform="Camunda Platform"` on the root element of the file.
    """

    code = "OF427"
    name = "unstated-call-data"
    severity = Severity.INFO
    category = Category.TARGET
    target = "n8n"


class OutputsLostOnError(Rule):
    """
    What it finds
        A call that returns variables and has an error boundary event, in a model for Camunda 7.
    Why it is wrong
        Camunda 7 also maps the outputs of a call if an error event of the called process ends it.
        On n8n a workflow that fails returns no items: after the boundary event, the variables have
        the values that they had before the call.
    Example
        A call with `<camunda:out source="reason" target="reason"/>`; the called process sets
        `reason` and ends with an error, and the step after the boundary event reads it.
    Instead
        Pass the value in the message of the error (`camunda:errorMessageVariable`), or end the
        called process with an escalation, which returns its outputs.
    """

    code = "OF494"
    name = "outputs-lost-on-error"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class CredentialNeeded(Rule):
    """
    What it finds
        A step that authenticates to another system: an HTTP request with authentication, or a mail.
    Why it is wrong
        Nothing is wrong. Workflows never contain secrets. n8n does not publish a workflow with such
        a step until a credential is selected.
    Example
        A REST connector with the type `bearer` and the token `{{secrets.CRM}}`.
    Instead
        Create the credential in n8n and select it in the node.
    """

    code = "OF424"
    name = "credential-needed"
    severity = Severity.INFO
    category = Category.TARGET
    target = "n8n"


class SettingNeeded(Rule):
    """
    What it finds
        A value that n8n needs and the model does not contain: the sender of a mail, the address for
        a message, the recipient of failure reports.
    Why it is wrong
        The model is not wrong. The step fails, or the workflow cannot be published, until the value
        is set.
    Example
        A mail task with `to`, `subject` and `text`, and no `from`.
    Instead
        Set the value in the node, in the model, or with the option named in the help.
    """

    code = "OF426"
    name = "setting-needed"
    severity = Severity.INFO
    category = Category.TARGET
    target = "n8n"


class OpenAddress(Rule):
    """
    What it finds
        A workflow with a webhook or a page that starts runs without authentication, compiled or
        checked as a file. Paths that are random, as n8n's editor makes them, are not reported.
    Why it is wrong
        If the server is reachable, anyone who knows or guesses the address can start runs, and
        compiled addresses are built from the names in the model. Addresses of waiting runs are
        signed by n8n 2 and not reported. n8n 1 signs only those in its messages to people: the
        others consist of the number of the run, so they are reported for `n8n{version=1.123}`.
    Example
        A message start event `Order received`: `/webhook/orders-order-received`.
    Instead
        Compile with `n8n{auth=header}`, so that callers send a header with a secret and pages ask
        for a password, or deploy with `--keys`.
    """

    code = "OF425"
    name = "open-address"
    severity = Severity.INFO
    category = Category.TARGET
    target = "n8n"


class ConflictingContract(Rule):
    """
    What it finds
        Tasks that name the same work, and expect different values of one output; as an info, a
        process that several models call and that has to be compiled for each of them.
    Why it is wrong
        All of them call the same workflow, which is implemented once. What it gives is right for
        some callers only; the gateways after the others take a wrong branch, or stop the run. Of a
        process with several workflows, edits have to be made in each.
    Example
        Two tasks with the topic `check`: after one of them, a gateway tests `${ok}`; after the
        other, `${ok == 'yes'}`.
    Instead
        Let all callers expect the same values, or give the work of some tasks another name.
    """

    code = "OF428"
    name = "conflicting-contract"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class FaultyWorkflow(Rule):
    """
    What it finds
        The compiler emitted a workflow that fails its own validation of n8n's format.
    Why it is wrong
        It would fail in n8n or, worse, run with a different meaning. This is a bug in orgflow.
    Example
        A connection to an input that a node does not have.
    Instead
        Report it and attach the model.
    """

    code = "OF911"
    name = "faulty-workflow"
    severity = Severity.ERROR
    category = Category.INTERNAL
    target = "n8n"


N8N_RULES: tuple[type[Rule], ...] = (
    SequentialParallel,
    SequentialWait,
    WaitsBeside,
    UnstatedCallData,
    OutputsLostOnError,
    CredentialNeeded,
    SettingNeeded,
    OpenAddress,
    ConflictingContract,
    FaultyWorkflow,
)
