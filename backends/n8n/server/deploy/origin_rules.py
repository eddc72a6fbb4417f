"""Rules about the source of a workflow on a server: OF620 to OF622, and N8N010 to N8N016."""

from __future__ import annotations

from orgflow.backends.n8n.server.client.server_rules import LeftRun

from orgflow_ir.diagnostics import Category, Rule, Severity


class AnotherProcess(Rule):
    """
    What it finds
        A workflow on the server that has the identity of the one to deploy (the same file name,
        process id and name) but was compiled from another process: the two share hardly any step,
        the workflow was compiled from another file that still exists, or it was deployed from
        another git repository. Repositories are the same if they were cloned from the same address;
        without an address, if they have the same first commits.
    Why it is wrong
        Deploying would overwrite the other process. Modelling tools name every process `Process_1`,
        so ids often do not distinguish two models in files of the same name.
    Example
        sales/order.bpmn was deployed, and now stock/order.bpmn, which describes another process, is
        being deployed.
    Instead
        Change the id or the name of the process, or name this deployment with `--as NAME`. If it is
        the same process after all, use `--take-over`. After the move of a repository to another
        address, this keeps manual changes that can be merged.
    """

    code = "OF620"
    name = "another-process"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class RenamedProcess(Rule):
    """
    What it finds
        A workflow on the server that was compiled from the same process under another name: the
        file, the process or its id was renamed. Nothing is deployed under the current name yet.
    Why it is wrong
        A second workflow would be created, and both would react to the same events.
    Example
        order.bpmn was deployed, then renamed to sales-order.bpmn.
    Instead
        Use `--take-over` to update the existing workflow, or `--as NAME` to deploy a second one
        intentionally.
    """

    code = "OF621"
    name = "renamed-process"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class MovedSource(Rule):
    """
    What it finds
        A workflow that was deployed from a file in another folder that no longer exists.
    Why it is wrong
        Usually this is fine: the file was moved. However, the file may belong to another person and
        only be missing on this machine, and this may be a modified copy.
    Example
        order.bpmn was moved to sales/order.bpmn and changed.
    Instead
        No action is needed if the file was moved. For a copy, change the id or the name of its
        process.
    """

    code = "OF622"
    name = "moved-source"
    severity = Severity.WARNING
    category = Category.DEPLOY
    target = "n8n"


class OlderModel(Rule):
    """
    What it finds
        A model that was deployed to this workflow earlier and has since been replaced by another
        model. It is an info if the checkout contains the commit of the other model, as after `git
        revert`: the model is deployed.
    Why it is wrong
        The checkout may be out of date: deploying would overwrite the newer model.
    Example
        A colleague deployed a change an hour ago, and the local checkout lacks it.
    Instead
        Update the clone. To go back intentionally, use `--rollback`.
    """

    code = "N8N010"
    name = "older-model"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class Overtaken(Rule):
    """
    What it finds
        Two concurrent deployments of one workflow.
    Why it is wrong
        Only one of them can be active. This one is missing or incomplete.
    Example
        Two jobs of a build server deploy the same folder.
    Instead
        Check the workflow in n8n, or run the same command again.
    """

    code = "N8N011"
    name = "overtaken-deploy"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class UncalledWorkflow(Rule):
    """
    What it finds
        A workflow on the server that exists only to be called, and whose last caller now calls
        another one or nothing: work whose class, topic or job type has another name now, or a
        process in another file. It is a warning if somebody implemented something in it.
    Why it is wrong
        The implementation is no longer executed. Nothing was deleted.
    Example
        The class `org.acme.Book` was implemented in n8n, and then renamed in the model.
    Instead
        Copy the nodes of the implementation into the workflow that is called now, or restore the
        name in the model. Delete the workflow in n8n if it is no longer used.
    """

    code = "N8N012"
    name = "uncalled-workflow"
    severity = Severity.WARNING
    category = Category.DEPLOY
    target = "n8n"


class ReplacedWorkflow(Rule):
    """
    What it finds
        A workflow of a process in another file that is deployed in the place of an earlier one with
        the same callers. Its name states its callers: one file if only that file was compiled,
        otherwise `other files`.
    Why it is wrong
        No action is needed: the workflow on the server keeps its runs and manual changes under the
        new name.
    Example
        order.bpmn, which calls a process in pay.bpmn, was deployed, and now the folder of both is.
    Instead
        No action is needed.
    """

    code = "N8N013"
    name = "replaced-workflow"
    severity = Severity.INFO
    category = Category.DEPLOY
    target = "n8n"


class LostCallee(Rule):
    """
    What it finds
        A workflow that called the workflow of a process in another file before the deployment, and
        calls a placeholder for that process after it.
    Why it is wrong
        Runs no longer execute the steps of the process. Usually only the model was passed, and the
        file with the process is in another folder.
    Example
        The folder `models` was deployed, and now `models/sales/order.bpmn` alone, which calls a
        process in models/finance/pay.bpmn.
    Instead
        Deploy the folder again, or pass both files.
    """

    code = "N8N014"
    name = "lost-callee"
    severity = Severity.WARNING
    category = Category.DEPLOY
    target = "n8n"


class DeletedModel(Rule):
    """
    What it finds
        A workflow on the server that was deployed from a file in a folder of the command, and the
        file no longer exists. It is an info if the workflow is not published. Files of another
        project are not considered: git repositories are the same project if they were cloned from
        the same address, other folders if they have the same path. Compiled workflows that were
        deployed as files have no model.
    Why it is wrong
        The workflow still starts. Nothing was deleted.
    Example
        The folder `models` was deployed, `models/order.bpmn` was deleted, and the folder is
        deployed again.
    Instead
        `orgflowc undeploy --deleted models` deletes the workflow with its executions.
    """

    code = "N8N015"
    name = "deleted-model"
    severity = Severity.WARNING
    category = Category.DEPLOY
    target = "n8n"


class AdoptedWorkflow(Rule):
    """
    What it finds
        A workflow that was deployed to another server and copied to this one, or restored from a
        backup: its note names another id, and no workflow with that id is on this server.
    Why it is wrong
        No action is needed: the workflow is updated, and manual changes are merged. A workflow that
        somebody duplicated in the editor beside the deployed one is not adopted.
    Example
        `Order` was exported from the test server and imported into the production server.
    Instead
        No action is needed. If it should stay separate, give it another name in n8n.
    """

    code = "N8N016"
    name = "adopted-workflow"
    severity = Severity.INFO
    category = Category.DEPLOY
    target = "n8n"


ORIGIN_RULES: tuple[type[Rule], ...] = (
    AnotherProcess,
    RenamedProcess,
    MovedSource,
    LeftRun,
    OlderModel,
    Overtaken,
    UncalledWorkflow,
    ReplacedWorkflow,
    LostCallee,
    DeletedModel,
    AdoptedWorkflow,
)
