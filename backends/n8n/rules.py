"""Rules of the n8n backend: how n8n runs what is drawn in parallel, and defects of workflows."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class SequentialParallel(Rule):
    """
    What it finds
        Branches of a parallel or inclusive gateway.
    Why it is wrong
        Nothing is lost: n8n runs one branch after the other, top branch first, and the join waits
        for all of them. Only the time they take adds up.
    Example
        `Pack goods` and `Write invoice` behind a parallel gateway.
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
        A timer or a message that is waited for while another branch is active.
    Why it is wrong
        An n8n execution waits as a whole: the other branches stand still until this wait is over,
        and a message for a second wait is refused until the first has come.
    Example
        `Wait for payment` beside `Pack goods` in a parallel block.
    Instead
        Put the wait before or after the parallel block, or accept that the branches take turns.
    """

    code = "OF422"
    name = "sequential-wait"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class WaitsBeside(Rule):
    """
    What it finds
        Tasks of people, and receive tasks, that may be open while other work waits.
    Why it is wrong
        An n8n execution waits at one place at a time: of two forms only one could be answered. Such
        tasks stay placeholders, which pass on at once; all others become forms, or wait for a call.
    Example
        `Check credit` and `Check stock`, both user tasks, in two branches of a parallel gateway.
    Instead
        Let one come after the other where that does no harm, or put a node in the place of the
        placeholders that hands the work out and goes on when all of it is done.
    """

    code = "OF423"
    name = "waits-beside"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class UnstatedCallData(Rule):
    """
    What it finds
        A call that does not state which variables it hands over and takes back, in a file that
        names no process engine.
    Why it is wrong
        Engines disagree: Camunda 7, Flowable and jBPM hand over nothing that a call does not name,
        Camunda 8 hands over everything. The workflow hands over all variables and takes all back.
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


class CredentialNeeded(Rule):
    """
    What it finds
        A step that identifies itself to another system: a request with authentication, or a mail.
    Why it is wrong
        Nothing is wrong. Secrets are never part of a workflow, and n8n publishes no workflow with
        such a step until a credential is chosen.
    Example
        A REST connector with the type `bearer` and the token `{{secrets.CRM}}`.
    Instead
        Create the credential in n8n and choose it in the node.
    """

    code = "OF424"
    name = "credential-needed"
    severity = Severity.INFO
    category = Category.TARGET
    target = "n8n"


class SettingNeeded(Rule):
    """
    What it finds
        A value that n8n needs and the model does not have: who sends a mail, to which address a
        message goes, whom a failure is reported to.
    Why it is wrong
        Nothing is wrong with the model. The step fails, or is not published, until the value is
        set.
    Example
        A mail task with `to`, `subject` and `text`, and no `from`.
    Instead
        Set the value in the node, in the model, or by the option that the help names.
    """

    code = "OF426"
    name = "setting-needed"
    severity = Severity.INFO
    category = Category.TARGET
    target = "n8n"


class OpenAddress(Rule):
    """
    What it finds
        A workflow with a webhook or a page that starts runs, and that asks nobody who they are.
    Why it is wrong
        Where the server can be reached, whoever knows or guesses the address can start runs, and
        compiled addresses are made of the names in the model. What waits in a run has an address
        with a signature, and is not meant.
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


class FaultyWorkflow(Rule):
    """
    What it finds
        The compiler made a workflow that its own check of n8n's format refuses.
    Why it is wrong
        It would fail in n8n or, worse, do something else silently. It is a defect of orgflow.
    Example
        A connection to an input that a node does not have.
    Instead
        Report it with the model.
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
    CredentialNeeded,
    SettingNeeded,
    OpenAddress,
    FaultyWorkflow,
)
