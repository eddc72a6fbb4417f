"""Rules about what a workflow on a server is made from, and what is left there: OF620 to OF623."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class AnotherProcess(Rule):
    """
    What it finds
        A workflow on the server that has the identity of the one to be deployed (the same file
        name, process id and name), but is made from another process: hardly a step is in both, or
        the file it is made from is another one and still there.
    Why it is wrong
        The other process would be overwritten. Drawing tools call every process `Process_1`, so
        two models in files of one name are often not distinguished by their ids.
    Example
        sales/order.bpmn was deployed, and now stock/order.bpmn, which is about something else.
    Instead
        Give the process an id or a name of its own, or give it a name for this deploy by
        `--as NAME`. Where it is the same process after all, `--take-over`.
    """

    code = "OF620"
    name = "another-process"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class RenamedProcess(Rule):
    """
    What it finds
        A workflow on the server that is made from the same process, under another name: the file,
        the process or its id was renamed. Nothing of the name that it has now is there yet.
    Why it is wrong
        A second workflow would be created, and both would answer the same events.
    Example
        order.bpmn was deployed, then renamed to sales-order.bpmn.
    Instead
        Give `--take-over` to update the workflow that is there, or `--as NAME` to deploy a second
        one on purpose.
    """

    code = "OF621"
    name = "renamed-process"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class MovedSource(Rule):
    """
    What it finds
        A workflow that was deployed from a file in another folder, which is not there any more.
    Why it is wrong
        Usually nothing: the file was moved. It may also be the file of another person that is only
        not on this machine, and a copy of it was changed here.
    Example
        order.bpmn was moved to sales/order.bpmn and changed.
    Instead
        Nothing, or give the process of the copy an id or a name of its own.
    """

    code = "OF622"
    name = "moved-source"
    severity = Severity.WARNING
    category = Category.DEPLOY
    target = "n8n"


class LeftRun(Rule):
    """
    What it finds
        A copy of a workflow that `run --engine URL` published for the time of its runs, and whose
        run does not answer for it any more.
    Why it is wrong
        It is a published workflow without a use. `run` and `deploy` remove it as soon as the run
        is known to be over: on the same machine at once, on another one after an hour.
    Example
        A run was ended by `kill -9`, or its machine was switched off.
    Instead
        Nothing. One that is still named after an hour can be deleted in n8n.
    """

    code = "OF623"
    name = "left-run"
    severity = Severity.WARNING
    category = Category.DEPLOY
    target = "n8n"


class OlderModel(Rule):
    """
    What it finds
        A model that was deployed to this workflow before, and that another model has replaced
        since.
    Why it is wrong
        It most likely comes from a clone that is not up to date: the newer model would be
        overwritten.
    Example
        A colleague deployed a change an hour ago; `git pull` was forgotten here.
    Instead
        Update the clone. To go back on purpose, give `--rollback`.
    """

    code = "N8N010"
    name = "older-model"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class Overtaken(Rule):
    """
    What it finds
        Two deploys of one workflow at the same time.
    Why it is wrong
        Only one of the two can be there. This one is not, or not whole.
    Example
        Two jobs of a build server deploy the same folder.
    Instead
        Look at the workflow in n8n, or give the same command again.
    """

    code = "N8N011"
    name = "overtaken-deploy"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


ORIGIN_RULES: tuple[type[Rule], ...] = (
    AnotherProcess,
    RenamedProcess,
    MovedSource,
    LeftRun,
    OlderModel,
    Overtaken,
)
