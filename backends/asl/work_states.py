"""States that do what the model states of the work of a task: compute it with JSONata, call a
function, or ask whoever answers, with what is computed before and after."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from orgflow.backends.asl.collections import is_multi_instance
from orgflow.backends.asl.format import State
from orgflow.backends.asl.graph import ProcessGraph
from orgflow.backends.asl.jsonata.expression_code import print_constant
from orgflow.backends.asl.jsonata.functions import with_functions
from orgflow.backends.asl.jsonata.program_code import (
    print_around,
    print_block,
    set_names,
)
from orgflow.backends.asl.task_work import TaskWork

from orgflow_ir.decisions.found import FoundDecision
from orgflow_ir.decisions.model import Table
from orgflow_ir.model import Event, Task
from orgflow_ir.model.bindings import Form
from orgflow_ir.model.element_names import join_listed, one_line, slug
from orgflow_ir.work.asked_fields import AskedField
from orgflow_ir.work.form_fields import ReadFields, asked_fields
from orgflow_ir.work.statements import assigned

FUNCTION_CALL = "arn:aws:states:::lambda:invoke"
"""Calls a Lambda function by its name, and waits for its answer."""

MAX_FUNCTION = 64
"""Maximum length of the name of a Lambda function (AWS Lambda, `FunctionName`)."""

PLACEHOLDER = "placeholder-"
"""The start of the name of a function that somebody has to write."""


def computing_state(graph: ProcessGraph, element: str, work: TaskWork, comment: str) -> State:
    """A Pass state that computes the work of a task."""
    names = set_names(work.before)
    block = print_block(work.before, f"$input.{_variables_field(graph)}", names)
    return {
        "Type": "Pass",
        "QueryLanguage": "JSONata",
        "Comment": comment,
        "Output": _print_output(graph, element, block),
    }


def calling_state(graph: ProcessGraph, node: Task | Event, work: TaskWork, comment: str) -> State:
    """A Task state that calls a function; somebody has to write the function."""
    payload: dict[str, Any] = {
        "element": _quote_literal(node.id),
        "name": _quote_literal(node.caption),
    }
    payload |= _print_handed(graph, work)
    if is_multi_instance(node):
        payload["item"] = "{% $states.input.item %}"
    arguments = {"FunctionName": function_name(graph, node.id), "Payload": payload}
    answer = "$objectOnly($states.result.Payload)"
    return {
        "Type": "Task",
        "QueryLanguage": "JSONata",
        "Comment": comment,
        "Resource": FUNCTION_CALL,
        "Arguments": arguments,
        "Output": _print_output(graph, node.id, _print_answer(graph, work, answer)),
    }


def asking_state(graph: ProcessGraph, node: Task | Event, work: TaskWork, asking: State) -> State:
    """A callback of JSONPath as one of JSONata, with what is computed before and after the answer.

    Args:
        graph: the names and places of the process.
        node: what waits.
        work: the mappings and listeners.
        asking: the callback without them.
    """
    (entry,) = asking["Parameters"]["Entries"]
    detail = {
        key: _quote_literal(value)
        for key, value in entry["Detail"].items()
        if not key.endswith(".$")
    }
    detail["taskToken"] = "{% $states.context.Task.Token %}"
    detail |= _print_handed(graph, work)
    entry = {**{key: _quote_literal(value) for key, value in entry.items()}, "Detail": detail}
    answer = "$objectOnly($states.result)"
    state: State = {
        "Type": "Task",
        "QueryLanguage": "JSONata",
        "Comment": asking["Comment"],
        "Resource": asking["Resource"],
        "Arguments": {"Entries": [entry]},
        "Output": _print_output(graph, node.id, _print_answer(graph, work, answer)),
    }
    return state


def function_name(graph: ProcessGraph, element: str) -> str:
    """The name under which the function of an element is called: unique in the machine."""
    words = "-".join(graph.places.get(element, (slug(element),))).replace("_", "-")
    return f"{PLACEHOLDER}{words}"[:MAX_FUNCTION].rstrip("-")


def _variables_field(graph: ProcessGraph) -> str:
    """The field of the token that holds the variables."""
    return graph.variables.root.removeprefix("$.")


def _print_handed(graph: ProcessGraph, work: TaskWork) -> dict[str, Any]:
    """The variables, and the inputs that are computed of them, as fields of a payload."""
    root = _variables_field(graph)
    handed: dict[str, Any] = {root: f"{{% $states.input.{root} %}}"}
    names = list(dict.fromkeys(assigned(work.before, local=None)))
    if names:
        code = print_block(work.before, f"$states.input.{root}", names)
        handed["inputs"] = f"{{% {with_functions(code)} %}}"
    return handed


def _print_answer(graph: ProcessGraph, work: TaskWork, answer: str) -> str:
    """The variables that are set by an answer, and by what is computed around it."""
    if not work.maps:
        return answer
    local = list(dict.fromkeys(assigned((*work.before, *work.after), local=True)))
    own = "{}" if work.is_closed else f"$without($answer, [{_print_names(local)}])"
    names = list(dict.fromkeys((*set_names(work.before), *set_names(work.after))))
    block = print_around(
        work.before, "$answer", work.after, f"$input.{_variables_field(graph)}", names
    )
    return f"($answer := {answer}; $merge([{own}, {block}]))"


def _print_names(names: Iterable[str]) -> str:
    return ", ".join(map(print_constant, names))


def _print_output(graph: ProcessGraph, element: str, result: str) -> str:
    """The token with a result in the place of an element."""
    path = graph.places.get(element)
    if path is None:  # nothing reads what it sets
        return "{% $states.input %}"
    steps = ["results", *path]
    places = ["$input"]
    for step in steps[:-1]:
        places.append(f"$lookup({places[-1]}, {print_constant(step)})")
    code = "$result"
    for place, step in zip(reversed(places), reversed(steps), strict=True):
        code = f"$merge([{place}, {{{print_constant(step)}: {code}}}])"
    whole = f"($input := $states.input; $result := {result}; {code})"
    return f"{{% {with_functions(whole)} %}}"


def _quote_literal(value: Any) -> Any:
    """A constant of a payload, in which no text is an expression."""
    if isinstance(value, dict):
        return {key: _quote_literal(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_quote_literal(part) for part in value]
    if isinstance(value, str) and value.startswith("{%"):
        return f"{{% {print_constant(value)} %}}"
    return value


# Contracts.


def describe_contract(work: TaskWork) -> list[str]:
    """The contract of a function or person, in sentences: its inputs and its result."""
    lines = []
    if work.doer == "function":
        lines.append(
            "A function does the work: set its name in FunctionName. It gets the process "
            "variables" + (" and the inputs." if work.before else ".")
        )
    if work.reads:
        lines.append(f"It reads {join_listed(work.reads)}.")
    returned = sorted(work.sets - {*assigned((*work.before, *work.after), local=None)})
    if returned:
        fields = "field" if len(returned) == 1 else "fields"
        lines.append(f"Its result has the {fields} {join_listed(returned)}.")
    lines += [_describe_unread(unread.what, unread.text, unread.reason) for unread in work.unread]
    for decide in work.decisions:
        lines += describe_decision(decide.decision)
    return lines


def _describe_unread(what: str, text: str, reason: str) -> str:
    shown = f" {one_line(text)}" if text else ""
    return f"The {what}{shown} is not computed: {one_line(reason)}."


def describe_decision(decision: FoundDecision) -> Iterator[str]:
    """A decision as text: its table, each rule in a line."""
    yield f"Decision {decision.name} of {decision.file}."
    if decision.table is not None:
        yield "\n".join(("", *_describe_table(decision, decision.table)))


def _describe_table(decision: FoundDecision, table: Table) -> Iterator[str]:
    how = f" {table.aggregation}" if table.aggregation else ""
    columns = " | ".join(map(one_line, decision.columns))
    outputs = " | ".join(map(one_line, decision.outputs))
    yield f"- hit policy {table.hit_policy}{how}; columns: {columns} : {outputs}"
    for rule in table.rules:
        tests = " | ".join(one_line(text) or "-" for text in rule.tests)
        entries = " | ".join(one_line(text) or "-" for text in rule.entries)
        yield f"- rule: {tests} : {entries}"


def form_contract(graph: ProcessGraph, task: Task) -> dict[str, Any]:
    """The form of a user task: its performers, and its fields."""
    form = task.binding if isinstance(task.binding, Form) else Form()
    contract: dict[str, Any] = {}
    for name in ("form", "assignee", "candidate_users", "candidate_groups", "due", "follow_up",
                 "priority"):  # fmt: skip
        if text := getattr(form, name):
            contract[name] = one_line(text)
    scope = graph.scope_of[task.id]
    asked = asked_fields(ReadFields(scope.variables), [task.id]).get(task.id, ())
    shown = [field for field in form.fields if field.is_read_only]
    if asked:
        contract["fields"] = [_describe_field(field) for field in asked]
    if shown:
        contract["shown"] = [one_line(field.name) for field in shown]
    return contract


def _describe_field(field: AskedField) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": ".".join(field.path), "label": field.label, "type": field.type,
        "required": field.required,
    }  # fmt: skip
    if field.options:
        described["options"] = [
            {"value": option.value, "label": option.label} for option in field.options
        ]
    if field.default is not None:
        described["default"] = field.default
    for name, text in field.constraints:
        described[one_line(name)] = one_line(text)
    return described
