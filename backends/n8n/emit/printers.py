"""The node type and the parameters of each action: one printer for each record of the plan.

A record without a printer is an error when this module is imported. Printers of actions that few
workflows have are in modules that are imported with the first of them: this table is the one place
that decides about that.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from importlib import import_module
from typing import Any, Final, get_args

from orgflow.backends.n8n.emit.printed import Printed
from orgflow.backends.n8n.plan import actions
from orgflow.backends.n8n.plan.graph import PlanNode
from orgflow.backends.n8n.plan.lazy_modules import load_function
from orgflow.backends.n8n.plan.scope_plan import ScopePlan

Printer = Callable[[Any, PlanNode, "PlanPrinter"], Printed]
"""Prints an action of a node."""


class PlanPrinter:
    """Prints the nodes of one plan."""

    def __init__(self, plan: ScopePlan) -> None:
        self.plan = plan

    def print_action(self, node: PlanNode) -> Printed:
        """Type and parameters of a node."""
        return PRINTERS[type(node.action)](node.action, node, self)

    @cached_property
    def variables(self) -> Any:
        """The printer of nodes that keep variables."""
        return _load_printer("variable_printer.VariablePrinter")(self.plan)


def _load_printer(function: str) -> Any:
    """A printer in another module of this folder, which few workflows need."""
    return load_function(function, __package__)


@cache
def _node_type(module: str) -> Any:
    return import_module(f"orgflow.backends.n8n.node_types.{module}")


# -- starts ----------------------------------------------------------------------------------------


def _print_called_start(
    action: actions.CalledStart, node: PlanNode, printer: PlanPrinter
) -> Printed:
    trigger = _node_type("execute_workflow_trigger")
    return Printed(trigger.NODE.name, trigger.taking_all())


def _print_webhook_start(
    action: actions.WebhookStart, node: PlanNode, printer: PlanPrinter
) -> Printed:
    parameters = _node_type("webhook").posted_to(action.address)
    if action.checked:
        parameters["responseMode"] = "responseNode"
    if action.protected:
        parameters["authentication"] = "headerAuth"
    return Printed("webhook", parameters)


def _print_page_start(action: actions.PageStart, node: PlanNode, printer: PlanPrinter) -> Printed:
    rows = _load_printer("form_code.field_rows")(action.form)
    parameters = _node_type("form_trigger").opened_at(action.address, action.title, rows)
    if action.protected:
        parameters["authentication"] = "basicAuth"
    return Printed("formTrigger", parameters)


# -- work ------------------------------------------------------------------------------------------


def _print_pass_on(action: actions.PassOn, node: PlanNode, printer: PlanPrinter) -> Printed:
    if action.returns:
        return _print_returns(action.returns, node, printer)
    return Printed("noOp", {})


def _print_placeholder(
    action: actions.Placeholder, node: PlanNode, printer: PlanPrinter
) -> Printed:
    if action.returns:
        return _print_returns(action.returns, node, printer)
    fields = [_decision_field(decision) for decision in action.decisions]
    if not fields:
        return Printed("noOp", {})
    return Printed("set", _node_type("set_").assign_parameters(fields, str(node.key)))


def _print_set_decision(
    action: actions.SetDecision, node: PlanNode, printer: PlanPrinter
) -> Printed:
    fields = [_decision_field(action.decision)]
    return Printed("set", _node_type("set_").assign_parameters(fields, str(node.key)))


def _decision_field(decision: Any) -> tuple[str, object, str]:
    if decision.several:
        return decision.variable, "[]", "array"
    return decision.variable, "", "string"


def _print_returns(
    thrown: tuple[actions.Thrown, ...], node: PlanNode, printer: PlanPrinter
) -> Printed:
    printed: Printed = _load_printer("escalation_printer.print_thrown")(
        thrown, str(node.key), printer.plan
    )
    return printed


def _print_return_thrown(
    action: actions.ReturnThrown, node: PlanNode, printer: PlanPrinter
) -> Printed:
    assert not isinstance(node.key, str)
    printed: Printed = _load_printer("escalation_printer.print_thrown")(
        action.thrown, f"{node.key.owner}/thrown", printer.plan
    )
    return printed


def _print_call(action: actions.Call, node: PlanNode, printer: PlanPrinter) -> Printed:
    execute_workflow = _node_type("execute_workflow")
    if action.begins:
        printed: Printed = _load_printer("segment_printer.print_begin_call")(
            action, node.key, printer.plan
        )
        return printed
    instance = ""
    if action.keyed:
        instance = _load_printer("effect_keys.call_instance")(node.element, printer.plan)
    parameters = execute_workflow.call_parameters(action.workflow, instance, waits=action.waits)
    return Printed(execute_workflow.NODE.name, parameters)


# -- waits -----------------------------------------------------------------------------------------


def _print_wait_for_time(
    action: actions.WaitForTime, node: PlanNode, printer: PlanPrinter
) -> Printed:
    wait = _node_type("wait")
    parameters = wait.for_timer(action.definition)
    if parameters is None and action.computed:
        parameters = wait.until_field(load_function("work.waiting.UNTIL", "orgflow_ir"))
    elif parameters is None:
        parameters = wait.for_interval(0, "seconds")
    return Printed("wait", parameters)


def _print_wait_for_call(
    action: actions.WaitForCall, node: PlanNode, printer: PlanPrinter
) -> Printed:
    parameters = _node_type("wait").for_call(action.address)
    if action.protected:
        parameters["incomingAuthentication"] = "headerAuth"
    return Printed("wait", parameters)


def _print_ask_by_page(action: actions.AskByPage, node: PlanNode, printer: PlanPrinter) -> Printed:
    parameters = _load_printer("form_code.page_parameters")(action.task, action.form, action.page)
    if action.protected:
        parameters["incomingAuthentication"] = "basicAuth"
    return Printed("wait", parameters)


def _print_count_rounds(
    action: actions.CountRounds, node: PlanNode, printer: PlanPrinter
) -> Printed:
    parameters = _load_printer("form_code.count_rounds")(str(node.key))
    return Printed("set", parameters)


def _print_ask_again(action: actions.AskAgain, node: PlanNode, printer: PlanPrinter) -> Printed:
    code = _load_printer("form_code.guard_code")(action.form, action.node, action.counter)
    conditions, if_ = _node_type("conditions"), _node_type("if_")
    return Printed("if", if_.test_parameters(conditions.is_true(code, f"{node.element}/guard")))


# -- joins, decisions, stops -----------------------------------------------------------------------


def _print_join(action: actions.Join, node: PlanNode, printer: PlanPrinter) -> Printed:
    merge = _node_type("merge")
    return Printed("merge", merge.by_position(action.inputs, partial=action.partial))


def _print_stop(
    action: actions.Stop | actions.StopBefore, node: PlanNode, printer: PlanPrinter
) -> Printed:
    return Printed("stopAndError", _node_type("stop_and_error").stop_parameters(action.message))


def _print_stop_unmatched(
    action: actions.StopUnmatched, node: PlanNode, printer: PlanPrinter
) -> Printed:
    text = _load_printer("decision_code.unmatched_text")(action, printer.plan)
    return Printed("stopAndError", _node_type("stop_and_error").stop_parameters(text))


# -- the table -------------------------------------------------------------------------------------


def _print_typed_node(short: str) -> Printer:
    """A node without parameters."""
    return lambda action, node, printer: Printed(short, {})


def _print_elsewhere(function: str, pick: Callable[[Any, PlanNode, PlanPrinter], Any]) -> Printer:
    """A printer in another module, with the arguments that it takes."""

    def print_action(action: Any, node: PlanNode, printer: PlanPrinter) -> Printed:
        printed: Printed = _load_printer(function)(*pick(action, node, printer))
        return printed

    return print_action


def _pick_keyed(action: Any, node: PlanNode, printer: PlanPrinter) -> Any:
    return action, node.key, printer.plan


def _pick_alone(action: Any, node: PlanNode, printer: PlanPrinter) -> Any:
    return (action,)


def _pick_work(action: Any, node: PlanNode, printer: PlanPrinter) -> Any:
    return action.work, node.element, printer.plan


def _pick_mappings(action: Any, node: PlanNode, printer: PlanPrinter) -> Any:
    return action.mappings, node.element, printer.plan


def _with_context(action: Any, node: PlanNode, printer: PlanPrinter) -> Any:
    return action, printer.plan.ctx


def _pick_nothing(action: Any, node: PlanNode, printer: PlanPrinter) -> Any:
    return ()


PRINTERS: Final[dict[type, Printer]] = {
    actions.ManualStart: _print_typed_node("manualTrigger"),
    actions.CalledStart: _print_called_start,
    actions.FailureStart: lambda action, node, printer: Printed(
        _node_type("error_trigger").NODE.name, {}
    ),
    actions.WebhookStart: _print_webhook_start,
    actions.PageStart: _print_page_start,
    actions.ScheduleStart: lambda action, node, printer: Printed(
        "scheduleTrigger", _node_type("schedule_trigger").for_timer(action.definition)
    ),
    actions.PublicationStart: lambda action, node, printer: Printed(
        "n8nTrigger", _node_type("n8n_trigger").for_timer(action.definition)
    ),
    actions.PassOn: _print_pass_on,
    actions.Placeholder: _print_placeholder,
    actions.Program: _print_elsewhere("work_printer.print_program", _pick_work),
    actions.PrepareWork: _print_elsewhere("work_printer.print_preparation", _pick_work),
    actions.ConcludeWork: _print_elsewhere("work_printer.print_conclusion", _pick_work),
    actions.HandOver: _print_elsewhere("work_printer.print_hand_over", _pick_mappings),
    actions.TakeBack: _print_elsewhere("work_printer.print_take_back", _pick_mappings),
    actions.Send: _print_elsewhere("outside_printer.print_send", _pick_alone),
    actions.SendMessage: _print_elsewhere("outside_printer.print_send_message", _pick_alone),
    actions.Call: _print_call,
    actions.WaitForTime: _print_wait_for_time,
    actions.WaitForCall: _print_wait_for_call,
    actions.AskByPage: _print_ask_by_page,
    actions.AskByMessage: _print_elsewhere(
        "asking_printer.print_question", lambda action, node, p: (action, p.plan.ctx)
    ),
    actions.CountRounds: _print_count_rounds,
    actions.AskAgain: _print_ask_again,
    actions.Join: _print_join,
    actions.SetDecision: _print_set_decision,
    actions.Decide: _print_elsewhere("decision_code.print_decide", _pick_keyed),
    actions.DecideAny: _print_elsewhere("decision_code.print_decide_any", _pick_keyed),
    actions.DecideBranch: _print_elsewhere("decision_code.print_decide_branch", _pick_keyed),
    actions.KeepError: _print_elsewhere("failure_printer.print_keep_error", _pick_alone),
    actions.CatchError: _print_elsewhere("failure_printer.print_catch_error", _pick_keyed),
    actions.ReadEscalations: _print_elsewhere(
        "escalation_printer.print_read_escalations", _pick_keyed
    ),
    actions.ReturnThrown: _print_return_thrown,
    actions.Stop: _print_stop,
    actions.StopBefore: _print_stop,
    actions.StopUnmatched: _print_stop_unmatched,
    actions.StopUncaught: _print_elsewhere("failure_printer.print_stop_uncaught", _pick_nothing),
    actions.KeepInput: lambda action, node, printer: printer.variables.print_input(),
    actions.KeepVariables: lambda action, node, printer: printer.variables.print_step(action),
    actions.KeepAnswers: lambda action, node, printer: printer.variables.print_answers(action),
    actions.KeepJoined: lambda action, node, printer: printer.variables.print_joined(action),
    actions.KeepLatest: lambda action, node, printer: printer.variables.print_latest(action),
    actions.CheckCall: _print_elsewhere(
        "payload_printer.print_check_call", lambda a, n, p: (a, n.key)
    ),
    actions.AcceptCall: _print_elsewhere("payload_printer.print_accept_call", _pick_nothing),
    actions.RefuseCall: _print_elsewhere("payload_printer.print_refuse_call", _pick_alone),
    actions.CompleteSegment: _print_elsewhere(
        "segment_printer.print_complete", lambda a, n, p: (a, p.plan)
    ),
    actions.BeginInstance: _print_elsewhere("segment_printer.print_begin", _pick_keyed),
    actions.OpenPage: _print_elsewhere("segment_printer.print_page", _pick_alone),
    actions.ClaimTask: _print_elsewhere("segment_printer.print_claim", _pick_alone),
    actions.AnswerPage: _print_elsewhere("segment_printer.print_answer_page", _pick_nothing),
    actions.ContinueProcess: _print_elsewhere("segment_printer.print_continue", _pick_nothing),
    actions.TakeRow: _print_elsewhere("segment_printer.print_take", _pick_nothing),
    actions.PassTaken: _print_elsewhere("segment_printer.print_taken", lambda a, n, p: (n.key,)),
    actions.ReadVariables: _print_elsewhere(
        "segment_printer.print_variables", lambda a, n, p: (p.plan,)
    ),
    actions.CheckAnswers: _print_elsewhere(
        "segment_printer.print_check", lambda a, n, p: (a, n.key)
    ),
    actions.RefuseAnswers: _print_elsewhere("segment_printer.print_refusal", _pick_alone),
    actions.BeginsHere: _print_elsewhere(
        "segment_printer.print_begins_here", lambda a, n, p: (n.key,)
    ),
    actions.SendToProcess: _print_elsewhere("segment_printer.print_message", _pick_keyed),
    actions.ChooseSegment: _print_elsewhere("segment_printer.print_choice", _pick_keyed),
    actions.DescribeFailure: _print_elsewhere("failure_report_printer.print_failure", _pick_alone),
}
"""How each action is printed."""


def check_printers(printers: dict[type, Printer]) -> None:
    """Raises `KeyError` for an action without a printer, and for a printer without an action."""
    missing = {*get_args(actions.Action)} ^ printers.keys()
    if missing:
        raise KeyError(f"no action and printer: {', '.join(sorted(t.__name__ for t in missing))}")


check_printers(PRINTERS)
