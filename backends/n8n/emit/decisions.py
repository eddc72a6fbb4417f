"""Deciding gateways as If and Switch nodes, with a stop that reports an error if no branch
matches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from orgflow.backends.javascript.expression_code import condition_js
from orgflow.backends.javascript.literals import js_string
from orgflow.backends.javascript.operand_checks import (
    rejects_undefined,
    unfit,
    unfit_call,
    unfit_call_text,
    unfit_text,
    where,
)
from orgflow.backends.n8n.emit.graph import HelperKey, Port
from orgflow.backends.n8n.emit.known_types import known_types
from orgflow.backends.n8n.emit.names import plain
from orgflow.backends.n8n.emit.references import read_field
from orgflow.backends.n8n.node_types import if_, stop_and_error, switch
from orgflow.backends.n8n.node_types.conditions import equals_condition, is_true, make_expression

from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.model import Event
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.program.substitution import with_types
from orgflow_ir.program.syntax import Call, Path, Variable
from orgflow_ir.work.gateway_decisions import Branch, Decision

if TYPE_CHECKING:
    from orgflow.backends.n8n.emit.emitter import CompiledScope

    from orgflow_ir.program.demands import Demand
    from orgflow_ir.program.evaluation_guards import Guards, Need


def emit_decision(decision: Decision, compiled: CompiledScope) -> None:
    """Set the parameters of the gateway's node and return the port of each branch."""
    join = next(
        (
            j
            for j in compiled.joins.values()
            if j.split == decision.gateway.id and j.kind == "bypass"
        ),
        None,
    )
    if decision.several and join is not None:
        _Bypass(decision, compiled, join.gateway, join.inputs).emit()
        return
    node = compiled.workflow_graph.nodes[decision.gateway.id]
    chosen = [b for b in decision.branches if b.kind != "default"]
    default = decision.default
    rules = [(condition(decision, b, compiled, f"{node.key}/{b.flow.id}"), b.value) for b in chosen]
    unset = never_set(decision, compiled)
    if unset:
        rules.insert(0, (is_true(unset, f"{node.key}/unset"), NEVER_SET))
    if len(rules) == 1:
        node.type, node.parameters = "if", if_.test_parameters(rules[0][0])
    else:
        fallback = plain(default.flow.name) or "otherwise" if default else "no branch fits"
        node.type = "switch"
        node.parameters = switch.by_rules(rules, fallback=fallback, every=decision.several)
    first = 1 if unset else 0
    for index, branch in enumerate(chosen, first):
        compiled.exits[branch.flow.id] = Port(node.key, index)
    rest = Port(node.key, len(rules))
    if default is not None:
        compiled.exits[default.flow.id] = rest
    stops = [Port(node.key, 0)] if unset else []
    _stop(decision, compiled, stops if default is not None else [*stops, rest])


def condition(
    decision: Decision, branch: Branch, compiled: CompiledScope, seed: str
) -> dict[str, Any]:
    """The n8n condition of a branch."""
    if branch.kind == "value" and not decision.several:
        return equals_condition(_variable(decision, compiled), branch.value, seed)
    test = _test(decision, branch, compiled)
    if (
        decision.several
        and (unset := never_set(decision, compiled))
        and not _bypassed(decision, compiled)
    ):
        test = f"!({unset}) && {test}"  # else a branch would run before the run stops
    return is_true(test, seed)


NEVER_SET = "not set"
"""The name of the output for runs whose variables were never set."""


def never_set(decision: Decision, compiled: CompiledScope) -> str:
    """JavaScript that is true if the conditions read a variable that nobody has set, or one whose
    type is not valid there; empty if they test for that themselves, or read none."""
    if not decision.coded:
        return ""
    demanded = _demands(decision, compiled)
    strict = {
        (one.guards, path[0])
        for one in demanded
        if rejects_undefined(one.requirement) and len(path := _path_of(one)) == 1
    }
    tests = []
    left = set()
    for need in _needs(decision):
        left |= {(need.guards, name) for name in need.names}
        names = [name for name in need.names if (need.guards, name) not in strict]
        if names:
            fields = ", ".join(on_item((name,)) for name in names)
            tests.append(where(need.guards, f"[{fields}].includes(undefined)", on_item))
    tests += [
        where(guards, unfit_call(call, on_item), on_item) for guards, call in _asked(decision)
    ]
    for one in demanded:
        path = _path_of(one)
        test = unfit(one, on_item, strict=len(path) == 1 and (one.guards, path[0]) in left)
        tests.append(where(one.guards, test, on_item))
    return " || ".join(tests)


def _path_of(demand: Demand) -> Path:
    """The path of the variable that a demand is about, if it is one."""
    (first, *_) = demand.operands
    return first.path if isinstance(first, Variable) else ()


def _needs(decision: Decision) -> tuple[Need, ...]:
    from orgflow_ir.program.evaluation_guards import list_needs, null_tested

    trees = [b.tree for b in decision.branches if b.tree is not None]
    return list_needs(trees, null_tested(trees), in_turn=not decision.several)


def _asked(decision: Decision) -> tuple[tuple[Guards, Call], ...]:
    """Methods that the conditions call on variables: an engine ends with an error if a variable
    does not have the method."""
    from orgflow_ir.program.evaluation_guards import list_method_calls

    trees = [b.tree for b in decision.branches if b.tree is not None]
    return list_method_calls(trees, in_turn=not decision.several)


def _demands(decision: Decision, compiled: CompiledScope) -> tuple[Demand, ...]:
    """Types that the operands of the conditions must have."""
    from orgflow_ir.program.demands import demands

    trees = [b.tree for b in decision.branches if b.tree is not None]
    types = known_types(decision.gateway.id, compiled)
    return demands(trees, types, in_turn=not decision.several)


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


def _bypassed(decision: Decision, compiled: CompiledScope) -> bool:
    joins = compiled.joins.values()
    return any(j.split == decision.gateway.id and j.kind == "bypass" for j in joins)


def _test(decision: Decision, branch: Branch, compiled: CompiledScope) -> str:
    if branch.tree is not None:
        types = known_types(decision.gateway.id, compiled)
        return condition_js(with_types(branch.tree, types), on_item)
    if decision.several:
        chosen = f"[].concat({_variable(decision, compiled)} ?? [])"
        return f"{chosen}.includes({js_string(branch.value)})"
    return f"{_variable(decision, compiled)} === {js_string(branch.value)}"


def _variable(decision: Decision, compiled: CompiledScope) -> str:
    return _read(decision.setter, (decision.variable,), compiled)


def _read(source: str, path: tuple[str, ...], compiled: CompiledScope) -> str:
    body = reads_body(source, compiled.graph, compiled)
    name = compiled.workflow_graph.nodes[compiled.outlet(source)].name
    return read_field(name, path, body=body)


def reads_body(source: str, graph: ControlFlow, compiled: CompiledScope) -> bool:
    """Whether the item of `source` has the posted data under `body`, as passed on by a Webhook and
    a Wait for a call."""
    node = graph.nodes.get(source)
    if source in compiled.received:
        return compiled.workflow_graph.nodes[source].type == "wait"
    return isinstance(node, Event) and compiled.workflow_graph.nodes[source].type == "webhook"


def _stop(decision: Decision, compiled: CompiledScope, ports: list[Port]) -> None:
    if not ports:
        return
    node = compiled.workflow_graph.nodes[decision.gateway.id]
    key = HelperKey(node.key, "stop")
    compiled.workflow_graph.add(
        key,
        f"Stop: {node.name}",
        "stopAndError",
        stop_and_error.stop_parameters(_stop_text(decision, compiled)),
        element=decision.gateway.id,
        role="stop",
    )
    for port in ports:
        compiled.workflow_graph.connect(port, Port(key))


def _stop_text(decision: Decision, compiled: CompiledScope) -> str:
    """What the run says where it stops: the variable that was never set, else what fits none."""
    messages = unset_messages(decision, compiled)
    if decision.default is None:
        messages.append(("", stop_message(decision, compiled)))
    *others, (_, last) = messages
    if not others:
        return last
    tests = "".join(f"{test} ? {js_string(text)} : " for test, text in others)
    return make_expression(tests + js_string(last))


def unset_messages(decision: Decision, compiled: CompiledScope) -> list[tuple[str, str]]:
    """For each variable that has to be set, the test that it is not and the message of the run: the
    variable, and its possible setters; then the same for variables that have to be texts or
    lists."""
    if not decision.coded:
        return []
    label = compiled.workflow_graph.nodes[decision.gateway.id].name
    result = []
    for name in dict.fromkeys(n for need in _needs(decision) for n in need.names):
        text = unset_text(name, decision.gateway.id, label, compiled)
        result.append((f"{on_item((name,))} === undefined", text))
    for _, call in _asked(decision):
        result.append((unfit_call(call, on_item), unfit_call_text(call, label)))
    for one in _demands(decision, compiled):
        result.append((unfit(one, on_item), unfit_text(one, label)))
    return result


def unset_text(
    name: str, element: str, label: str, compiled: CompiledScope, *, itself: bool = False
) -> str:
    """The message of a run if an element reads an unset variable, with its possible setters:
    `itself` includes the element, whose output mapping reads it."""
    from orgflow_ir.work.process_variables import Read

    read = Read(element, (name,), "condition")
    setters, number = compiled.variables.nearest_setters(read, MOST_NAMED)
    names = [f"“{compiled.name_of(s.element)}”" for s in setters]
    if itself:
        names, number = [f"“{label}”", *names], number + 1
    if number > MOST_NAMED:
        names = [*names[: MOST_NAMED - 1], f"{number - MOST_NAMED + 1} other steps"]
    where = join_listed((*names, "the input of the run"), last="or")
    return f"“{name}” was never set, and “{label}” reads it. Set it in {where}."


MOST_NAMED = 4
"""Maximum number of steps that a message names as possible setters of a variable."""


def stop_message(decision: Decision, compiled: CompiledScope) -> str:
    """The message of the run if no branch matches: variable, allowed values, setters."""
    label = compiled.workflow_graph.nodes[decision.gateway.id].name
    parts = [f"No branch of “{label}” matches."]
    if decision.values:
        setter = compiled.name_of(decision.setter)
        what = "a list of one or more" if decision.several else "one"
        allowed = ", ".join(f"“{v}”" for v in decision.values)
        parts.append(f"Set {decision.variable} in “{setter}” to {what} of: {allowed}.")
    if decision.coded:
        names = ", ".join(".".join(path) for path in decision.coded)
        parts.append(f"Its conditions read {names}.")
    return " ".join(parts)


class _Bypass:
    """An inclusive split whose join shares a cycle with another Merge: every input of the join is
    always delivered, by the branch or by a wire around it (N8N.md, "Inclusive in a loop")."""

    def __init__(
        self, decision: Decision, compiled: CompiledScope, join: str, inputs: Mapping[str, str]
    ) -> None:
        self.decision = decision
        self.compiled = compiled
        self.join = join
        self.inputs = inputs

    def emit(self) -> None:
        d, e = self.decision, self.compiled
        node = e.workflow_graph.nodes[d.gateway.id]
        chosen = [b for b in d.branches if b.kind != "default"]
        tests = [_test(d, b, e) for b in chosen]
        some = is_true(" || ".join(tests), f"{node.key}/any")
        unset = never_set(d, e)
        if unset:
            node.type = "switch"
            node.parameters = switch.by_rules(
                [(is_true(unset, f"{node.key}/unset"), NEVER_SET), (some, "some branch")],
                fallback="no branch",
                every=False,
            )
        else:
            node.type, node.parameters = "if", if_.test_parameters(some)
        first = 1 if unset else 0
        yes, no = Port(node.key, first), Port(node.key, first + 1)
        for index, branch in enumerate(chosen):
            key = HelperKey(node.key, "branch", index)
            e.workflow_graph.add(
                key,
                f"{branch.value}?",
                "if",
                if_.test_parameters(condition(d, branch, e, str(key))),
                element=d.gateway.id,
                role="branch",
            )
            e.workflow_graph.connect(yes, Port(key))
            e.exits[branch.flow.id] = Port(key, 0)
            self._around(Port(key, 1), branch)
        default = d.default
        stops = [Port(node.key, 0)] if unset else []
        if default is None:
            _stop(d, e, [*stops, no])
            return
        _stop(d, e, stops)
        e.exits[default.flow.id] = no
        self._around(yes, default)
        for branch in chosen:
            self._around(no, branch)

    def _around(self, port: Port, branch: Branch) -> None:
        target = self.inputs.get(branch.flow.id)
        if target is not None:
            self.compiled.workflow_graph.connect(port, self.compiled.entry[(self.join, target)])
