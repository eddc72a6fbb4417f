"""Deciding gateways as If and Switch nodes: the conditions of branches, and the messages of runs
that match none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orgflow.backends.javascript.literals import js_string
from orgflow.backends.n8n.emit.printed import Printed
from orgflow.backends.n8n.node_types import if_, switch
from orgflow.backends.n8n.node_types.conditions import equals_condition, is_true, make_expression
from orgflow.backends.n8n.plan.actions import Decide, DecideAny, DecideBranch, StopUnmatched
from orgflow.backends.n8n.plan.decisions import (
    is_bypassed,
    list_asked_methods,
    list_demands,
    list_required,
    reads_body,
)
from orgflow.backends.n8n.plan.graph import NodeKey
from orgflow.backends.n8n.plan.known_types import known_types
from orgflow.backends.n8n.plan.names import plain
from orgflow.backends.n8n.plan.references import read_field
from orgflow.backends.n8n.plan.scope_plan import ScopePlan

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.program.syntax import Call, Constant, Path, Tree, Variable, kind_of, nodes
from orgflow_ir.work.gateway_decisions import Branch, Decision
from orgflow_ir.work.process_variables import Read

if TYPE_CHECKING:
    from orgflow.backends.javascript import expression_code, operand_checks

    from orgflow_ir.program import substitution
    from orgflow_ir.program.demands import Demand
else:  # for coded conditions alone
    expression_code = LazyModule("orgflow.backends.javascript.expression_code")
    operand_checks = LazyModule("orgflow.backends.javascript.operand_checks")
    substitution = LazyModule("orgflow_ir.program.substitution")


def print_decide(action: Decide, key: NodeKey, plan: ScopePlan) -> Printed:
    """The node of a gateway, with a rule for each branch."""
    decision = action.decision
    rules = [
        (build_condition(decision, b, plan, f"{key}/{b.flow.id}"), b.value) for b in action.branches
    ]
    if action.unset:
        unset = never_set(decision, plan)
        rules.insert(0, (is_true(unset, f"{key}/unset"), NEVER_SET))
    if len(rules) == 1:
        return Printed("if", if_.test_parameters(rules[0][0]))
    default = decision.default
    fallback = plain(default.flow.name) or "otherwise" if default else "no branch fits"
    return Printed("switch", switch.by_rules(rules, fallback=fallback, every=decision.several))


def print_decide_any(action: DecideAny, key: NodeKey, plan: ScopePlan) -> Printed:
    """The node of an inclusive gateway whose branches have nodes of their own."""
    decision = action.decision
    chosen = (b for b in decision.branches if b.kind != "default")
    tests = [write_test(decision, branch, plan) for branch in chosen]
    some = is_true(" || ".join(tests), f"{key}/any")
    if not action.unset:
        return Printed("if", if_.test_parameters(some))
    unset = is_true(never_set(decision, plan), f"{key}/unset")
    rules = [(unset, NEVER_SET), (some, "some branch")]
    return Printed("switch", switch.by_rules(rules, fallback="no branch", every=False))


def print_decide_branch(action: DecideBranch, key: NodeKey, plan: ScopePlan) -> Printed:
    """The node of one branch of an inclusive gateway."""
    test = build_condition(action.decision, action.branch, plan, str(key))
    return Printed("if", if_.test_parameters(test))


def build_condition(
    decision: Decision, branch: Branch, plan: ScopePlan, seed: str
) -> dict[str, Any]:
    """The n8n condition of a branch."""
    if branch.kind == "value" and not decision.several:
        return equals_condition(_read_variable(decision, plan), branch.value, seed)
    test = write_test(decision, branch, plan)
    if (
        decision.several
        and (unset := never_set(decision, plan))
        and not is_bypassed(decision, plan)
    ):
        test = f"!({unset}) && {test}"  # else a branch would run before the run stops
    return is_true(test, seed)


NEVER_SET = "not set"
"""The name of the output for runs whose variables were never set."""


def never_set(decision: Decision, plan: ScopePlan) -> str:
    """JavaScript that is true if the conditions read a variable that nobody has set, or one whose
    type is not valid there; empty if they test for that themselves, or read none."""
    if not decision.coded:
        return ""
    demanded = list_demands(decision, plan)
    strict = {
        (demand.guards, path[0])
        for demand in demanded
        if operand_checks.rejects_undefined(demand.requirement)
        and len(path := _path_of(demand)) == 1
    }
    tests = []
    left = set()
    required = [*list_required(decision)]
    asked_methods = [*list_asked_methods(decision)]
    for need in required:
        left |= {(need.guards, name) for name in need.names}
        names = [name for name in need.names if (need.guards, name) not in strict]
        if names:
            fields = ", ".join(on_item((name,)) for name in names)
            tests.append(
                operand_checks.print_guarded_test(
                    need.guards, f"[{fields}].includes(undefined)", on_item
                )
            )
    tests += [
        operand_checks.print_guarded_test(guards, operand_checks.unfit_call(call, on_item), on_item)
        for guards, call in asked_methods
    ]
    for demand in demanded:
        path = _path_of(demand)
        test = operand_checks.print_unfit_test(
            demand, on_item, strict=len(path) == 1 and (demand.guards, path[0]) in left
        )
        tests.append(operand_checks.print_guarded_test(demand.guards, test, on_item))
    tests += list_throwing_tests(decision)
    unset = " || ".join(tests)
    all_guards = (
        *(need.guards for need in required),
        *(guards for guards, _ in asked_methods),
        *(demand.guards for demand in demanded),
    )
    if any(_may_throw(tree) for guards in all_guards for tree, _ in guards):
        # n8n takes an expression that throws for null, and the run would go on.
        return f"((f) => {{ try {{ return f(); }} catch {{ return true; }} }})(() => {unset})"
    return unset


def list_throwing_tests(decision: Decision) -> list[str]:
    """JavaScript that is true if a condition throws: it calls a method of what it computes, whose
    type is only known then."""
    return [
        f"((f) => {{ try {{ f(); return false; }} catch {{ return true; }} }})(() => {code})"
        for branch in decision.branches
        if branch.tree is not None and _calls_computed(branch.tree)
        for code in [expression_code.condition_js(branch.tree, on_item)]
    ]


def _calls_computed(tree: Tree) -> bool:
    """Whether a tree calls a method of a computed value that may be no text."""
    return any(
        isinstance(node, Call)
        and node.method.checked != "nothing"
        and not isinstance(node.operands[0], Variable | Constant)
        and kind_of(node.operands[0]) != "text"
        for node in nodes(tree)
    )


def _may_throw(tree: Tree) -> bool:
    """Whether JavaScript may throw an error where it computes a guard: it calls a method."""
    return any(isinstance(node, Call) and node.method.checked != "nothing" for node in nodes(tree))


def _path_of(demand: Demand) -> Path:
    """The path of the variable that a demand is about, if it is one."""
    (first, *_) = demand.operands
    return first.path if isinstance(first, Variable) else ()


def on_item(path: Path) -> str:
    """JavaScript that reads a variable from the item. Names that are not identifiers are in
    brackets, without `?.` before them: n8n evaluates some such reads as undefined."""
    code = "$json"
    for number, part in enumerate(path):
        if part.isidentifier():
            code += f"?.{part}" if number else f".{part}"
        elif number:
            code = f"({code} ?? {{}})[{js_string(part)}]"
        else:
            code += f"[{js_string(part)}]"
    return code


def write_test(decision: Decision, branch: Branch, plan: ScopePlan) -> str:
    """JavaScript for whether a branch is taken."""
    if branch.tree is not None:
        types = known_types(decision.gateway.id, plan)
        return expression_code.condition_js(substitution.with_types(branch.tree, types), on_item)
    if decision.several:
        chosen = f"[].concat({_read_variable(decision, plan)} ?? [])"
        return f"{chosen}.includes({js_string(branch.value)})"
    return f"{_read_variable(decision, plan)} === {js_string(branch.value)}"


def _read_variable(decision: Decision, plan: ScopePlan) -> str:
    if plan.segments is not None:  # its setter may have run in another execution
        return on_item((decision.variable,))
    return _read_path(decision.setter, (decision.variable,), plan)


def _read_path(source: str, path: tuple[str, ...], plan: ScopePlan) -> str:
    body = reads_body(source, plan)
    name = plan.workflow_graph.nodes[plan.outlet(source)].name
    return read_field(name, path, body=body)


def unmatched_text(action: StopUnmatched, plan: ScopePlan) -> str:
    """The message of a run that stops: the variable that was never set, else the value that fits no
    branch."""
    decision = action.decision
    messages = unset_messages(decision, plan)
    if decision.default is None:
        messages.append(("", stop_message(decision, plan)))
    *others, (_, last) = messages
    if not others:
        return last
    tests = "".join(f"{test} ? {js_string(text)} : " for test, text in others)
    return make_expression(tests + js_string(last))


def unset_messages(decision: Decision, plan: ScopePlan) -> list[tuple[str, str]]:
    """For each variable that has to be set, the test that it is not and the message of the run: the
    variable, and its possible setters; then the same for variables that have to be texts or
    lists."""
    if not decision.coded:
        return []
    label = plan.workflow_graph.nodes[decision.gateway.id].name
    result = []
    for name in dict.fromkeys(n for need in list_required(decision) for n in need.names):
        text = unset_text(name, decision.gateway.id, label, plan)
        result.append((f"{on_item((name,))} === undefined", text))
    for _, call in list_asked_methods(decision):
        result.append(
            (operand_checks.unfit_call(call, on_item), operand_checks.unfit_call_text(call, label))
        )
    for demand in list_demands(decision, plan):
        result.append(
            (
                operand_checks.print_unfit_test(demand, on_item),
                operand_checks.unfit_text(demand, label),
            )
        )
    fault = f"A condition of “{label}” calls a method of a value that does not have it."
    result += [(test, fault) for test in list_throwing_tests(decision)]
    return result


def unset_text(
    name: str, element: str, label: str, plan: ScopePlan, *, itself: bool = False
) -> str:
    """The message of a run if an element reads an unset variable, with its possible setters:
    `itself` includes the element, whose output mapping reads it."""
    read = Read(element, (name,), "condition")
    setters, number = plan.variables.nearest_setters(read, MOST_NAMED)
    names = [f"“{plan.name_of(s.element)}”" for s in setters]
    if itself:
        names, number = [f"“{label}”", *names], number + 1
    if number > MOST_NAMED:
        names = [*names[: MOST_NAMED - 1], f"{number - MOST_NAMED + 1} other steps"]
    where = join_listed((*names, "the input of the run"), last="or")
    return f"“{name}” was never set, and “{label}” reads it. Set it in {where}."


MOST_NAMED = 4
"""Maximum number of steps that a message names as possible setters of a variable."""


def stop_message(decision: Decision, plan: ScopePlan) -> str:
    """The message of the run if no branch matches: variable, allowed values, setters."""
    label = plan.workflow_graph.nodes[decision.gateway.id].name
    parts = [f"No branch of “{label}” matches."]
    if decision.values:
        setter = plan.name_of(decision.setter)
        what = "a list of one or more" if decision.several else "one"
        allowed = ", ".join(f"“{v}”" for v in decision.values)
        parts.append(f"Set {decision.variable} in “{setter}” to {what} of: {allowed}.")
    if decision.coded:
        names = ", ".join(".".join(path) for path in decision.coded)
        parts.append(f"Its conditions read {names}.")
    return " ".join(parts)
