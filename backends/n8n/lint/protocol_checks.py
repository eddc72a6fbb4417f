"""Nodes that depend on others: the body of a loop, answers of triggers, pages of forms, models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from orgflow.backends.n8n.format.workflow_document import Node
from orgflow.backends.n8n.lint.lint_report import Report, list_names
from orgflow.backends.n8n.lint.linted_workflow import Workflow
from orgflow.backends.n8n.lint.protocol_rules import (
    AnswerMode,
    LeftLoop,
    MissingModel,
    PageWithoutForm,
    UsedUpLoop,
)
from orgflow.backends.n8n.node_types import catalogue

from orgflow_ir.diagnostics import Severity

_LOOP: Final = "splitInBatches"
_ANSWER: Final = "respondToWebhook"
_NEEDS_MODEL: Final = frozenset(
    {
        "agent", "agentTool", "chainLlm", "chainRetrievalQa", "chainSummarization",
        "informationExtractor", "sentimentAnalysis", "textClassifier",
    }
)  # fmt: skip
"""Types of langchain's package whose input `ai_languageModel` is required, in each version."""

_MODEL: Final = "ai_languageModel"


def check_protocols(report: Report, active: frozenset[int]) -> None:
    """Nodes that can run, and what they need around them."""
    for node in report.workflow.nodes:
        if node.disabled or node.index not in active:
            continue
        if node.short == _LOOP and node.version >= 2:
            _check_body(report, node)
            _check_reset(report, node)
        elif node.short in ("webhook", "formTrigger"):
            _check_answers(report, node)
        elif node.short == "form":
            _check_page(report, node)
        elif node.short == _ANSWER:
            _check_caller(report, node)
        elif node.type.removeprefix(f"{catalogue.LANGCHAIN}.") in _NEEDS_MODEL:
            _check_model(report, node)


# -- loops -----------------------------------------------------------------------------------------


def _loop_outputs(node: Node) -> tuple[int, int]:
    """The outputs of a Loop Over Items: that of the next items, and that of all when it is done."""
    return (1, 0) if node.version >= 3 else (0, 1)


def _check_body(report: Report, loop: Node) -> None:
    """Whether the items of every path through the body come back."""
    flow = report.workflow
    of_body, of_done = _loop_outputs(loop)
    avoiding = frozenset({loop.index})
    first = [w.target for w in flow.out[loop.index] if w.output == of_body]
    if loop.index in first:
        return
    body = flow.reach(first, avoiding=avoiding)
    leading_back = {n for n in body if loop.index in flow.after(n)}
    if not leading_back:
        report.add(
            LeftLoop,
            loop,
            f"nothing leads from the output `loop` of `{loop.name}` back to it: only its first "
            "items are processed, and nothing behind `done` runs",
            f"connect the last step of the loop with `{loop.name}`",
        )
        return
    done = flow.reach([w.target for w in flow.out[loop.index] if w.output == of_done])
    for index in sorted(leading_back):
        node = flow.nodes[index]
        for output in _open_outputs(flow, node, leading_back, loop.index, done):
            report.add(
                LeftLoop,
                node,
                f"what leaves `{node.name}` by `{output}` does not come back to `{loop.name}`: "
                "after a round in which nothing comes back, the other items are not processed, and "
                "nothing behind `done` runs",
                "turn on Always Output Data in its settings"
                if node.short == "filter"
                else f"connect the output with `{loop.name}` as well",
                others=(("the loop", loop),),
            )


def _open_outputs(
    flow: Workflow, node: Node, leading_back: set[int], loop: int, done: frozenset[int]
) -> Iterator[str]:
    """The outputs of a deciding node in the body from which no way leads back. One that goes on
    where the loop goes on when it is done ends the loop early, and one to a stop ends the run."""
    if node.disabled or node.short not in ("if", "switch", "filter"):
        return
    if node.short == "filter":
        if node.raw.get("alwaysOutputData") is not True:
            yield "discarded"
        return
    for output, name in enumerate(_output_names(node)):
        targets = [w.target for w in flow.out[node.index] if w.output == output]
        if any(t == loop or t in leading_back for t in targets):
            continue
        reached = flow.reach(targets)
        stops = any(flow.nodes[t].short == "stopAndError" for t in reached)
        if not targets or not (stops or reached & done):
            yield name


def _output_names(node: Node) -> list[str]:
    """The names of the outputs of an If or Switch in the editor."""
    if node.short == "if":
        return ["true", "false"]
    rules = node.inside("rules", "values") or node.inside("rules", "rules")
    entries = rules if isinstance(rules, list) else []
    keys = [e.get("outputKey") if isinstance(e, dict) else None for e in entries]
    names = [key if isinstance(key, str) and key else str(i) for i, key in enumerate(keys)]
    return [*names, "fallback"] if node.inside("options", "fallbackOutput") == "extra" else names


def _check_reset(report: Report, loop: Node) -> None:
    """Whether a run can come to the loop again after it is done."""
    reset = loop.inside("options", "reset")
    if reset is True or isinstance(reset, str):
        return
    flow = report.workflow
    _, of_done = _loop_outputs(loop)
    after_done = flow.reach([w.target for w in flow.out[loop.index] if w.output == of_done])
    if loop.index in after_done:
        report.add(
            UsedUpLoop,
            loop,
            f"`{loop.name}` is reached again after it is done, and has no `reset`: then it is done "
            "at once, and the new items are not processed",
            "set its option `reset` to an expression that is true when new items come",
            "parameters",
        )


# -- answers and pages -----------------------------------------------------------------------------


def _check_answers(report: Report, trigger: Node) -> None:
    """The rule of n8n (`checkResponseModeConfiguration` of Webhook, and that of Form Trigger)."""
    flow = report.workflow
    mode = trigger.parameters.get("responseMode", "onReceived")
    if not isinstance(mode, str) or mode.startswith("="):
        return
    after = flow.after(trigger.index)
    answers = [flow.nodes[i] for i in sorted(after) if flow.nodes[i].short == _ANSWER]
    if not answers and mode == "responseNode":
        report.add(
            AnswerMode,
            trigger,
            f"`{trigger.name}` leaves the answer to a Respond to Webhook, and none is behind it: "
            "n8n refuses every call",
            "add a Respond to Webhook, or choose another value",
            "parameters",
            "responseMode",
        )
        return
    if trigger.short == "formTrigger":
        unused = answers if trigger.version > 2.1 or mode != "responseNode" else []
        instead = (
            "answer with a Form page that ends the form"
            if trigger.version > 2.1
            else "set `responseMode` to `responseNode`"
        )
    else:
        unused = [a for a in answers if not _is_answer_of_wait(flow, a, after)]
        unused = [] if mode in ("responseNode", "streaming") else unused
        instead = "set `responseMode` to `responseNode`, or remove the node that answers"
    if unused:
        report.add(
            AnswerMode,
            trigger,
            f"{list_names([a.name for a in unused])} cannot answer a call of `{trigger.name}`: "
            "n8n refuses every call with “Unused Respond to Webhook node found in the workflow”"
            if trigger.short == "webhook" or trigger.version <= 2.1
            else f"a Respond to Webhook cannot answer the form of `{trigger.name}`: n8n refuses "
            "every answer",
            instead,
            others=(("the node that answers", unused[0]),),
        )


def _is_answer_of_wait(flow: Workflow, answer: Node, after: frozenset[int]) -> bool:
    """Whether a node answers the call that resumes a Wait behind the trigger."""
    return any(
        node.index in after
        and node.short == "wait"
        and not node.disabled
        and node.parameters.get("resume") in ("webhook", "form")
        and node.parameters.get("responseMode") == "responseNode"
        and answer.index in flow.after(node.index)
        for node in flow.nodes
    )


def _check_caller(report: Report, answer: Node) -> None:
    """Whether something that waits for an answer is before a Respond to Webhook: n8n looks at all
    nodes from which connections lead to it, enabled or not, from version 1.1 of the node."""
    flow = report.workflow
    if answer.version < 1.1:
        return
    before = (n for n in flow.nodes if n.index != answer.index)
    if any(_waits_for_answer(n) and answer.index in flow.after(n.index) for n in before):
        return
    report.add(
        AnswerMode,
        answer,
        f"no Webhook leads to `{answer.name}`, so there is no call to answer, and the node fails",
        "start with a Webhook whose `responseMode` is `responseNode`, or remove the node",
        severity=Severity.WARNING if answer.on_error.startswith("continue") else None,
    )


def _waits_for_answer(node: Node) -> bool:
    return node.short in ("webhook", "formTrigger", "wait") or node.type.endswith(".chatTrigger")


def _check_page(report: Report, page: Node) -> None:
    flow = report.workflow
    if any(n.short == "formTrigger" and page.index in flow.after(n.index) for n in flow.nodes):
        return
    report.add(
        PageWithoutForm,
        page,
        f"no Form Trigger leads to the page `{page.name}`: the node fails in every run",
        "start with a Form Trigger, or ask with a Wait that is resumed by a form",
    )


# -- models ----------------------------------------------------------------------------------------


def _check_model(report: Report, node: Node) -> None:
    flow = report.workflow
    models = [
        flow.nodes[source]
        for kind, source, target, _ in flow.other
        if kind == _MODEL and target == node.index
    ]
    if any(not model.disabled for model in models):
        return
    what = f"the model of `{node.name}` is disabled" if models else f"`{node.name}` has no model"
    report.add(
        MissingModel,
        node,
        f"{what}: the node fails in every run",
        "connect a chat model with it, by `ai_languageModel`",
    )
