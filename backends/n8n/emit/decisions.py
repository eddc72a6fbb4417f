"""Deciding gateways as If and Switch nodes, with a loud stop where no branch fits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from orgflow.backends.n8n.emit.graph import HelperKey, Port
from orgflow.backends.n8n.emit.javascript import js_string, to_js
from orgflow.backends.n8n.emit.names import plain
from orgflow.backends.n8n.emit.references import read_field, read_item
from orgflow.backends.n8n.node_types import if_, stop_and_error, switch
from orgflow.backends.n8n.node_types.conditions import equals, is_true

from orgflow_ir.analysis.control_flow.graph import ControlFlow
from orgflow_ir.analysis.decisions import Branch, Decision
from orgflow_ir.model import Event

if TYPE_CHECKING:
    from orgflow.backends.n8n.emit.emitter import CompiledScope


def emit_decision(decision: Decision, compiled: CompiledScope) -> None:
    """Give the gateway's node its parameters and say by which port each branch leaves."""
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
    conditions = [condition(decision, b, compiled, f"{node.key}/{b.flow.id}") for b in chosen]
    if len(chosen) == 1:
        node.type, node.parameters = "if", if_.testing(conditions[0])
    else:
        fallback = plain(default.flow.name) or "otherwise" if default else "no branch fits"
        node.type = "switch"
        node.parameters = switch.by_rules(
            [(c, b.value) for c, b in zip(conditions, chosen, strict=True)],
            fallback=fallback,
            every=decision.several,
        )
    for index, branch in enumerate(chosen):
        compiled.exits[branch.flow.id] = Port(node.key, index)
    rest = Port(node.key, len(chosen))
    if default is not None:
        compiled.exits[default.flow.id] = rest
    else:
        _stop(decision, compiled, rest)


def condition(
    decision: Decision, branch: Branch, compiled: CompiledScope, seed: str
) -> dict[str, Any]:
    """The n8n condition under which a branch is taken."""
    if branch.kind == "value" and not decision.several:
        return equals(_variable(decision, compiled), branch.value, seed)
    return is_true(_test(decision, branch, compiled), seed)


def _test(decision: Decision, branch: Branch, compiled: CompiledScope) -> str:
    if branch.tree is not None:
        return to_js(branch.tree, lambda path: _coded(decision, path, compiled))
    if decision.several:
        chosen = f"[].concat({_variable(decision, compiled)} ?? [])"
        return f"{chosen}.includes({js_string(branch.value)})"
    return f"{_variable(decision, compiled)} === {js_string(branch.value)}"


def _variable(decision: Decision, compiled: CompiledScope) -> str:
    return _read(decision.setter, (decision.variable,), compiled)


def _coded(decision: Decision, path: tuple[str, ...], compiled: CompiledScope) -> str:
    """A variable from the nearest source that outputs it at all, were it null or incomplete: what a
    later step cleared must not come back from an earlier one."""
    if len(decision.sources) == 1:
        return _read(decision.sources[0], path, compiled)
    root, *rest = path
    items = [
        read_item(compiled.name_of(s), body=reads_body(s, compiled.graph, compiled))
        for s in decision.sources
    ]
    access = "".join(f"?.{part}" for part in (root, *rest))
    return f"[{', '.join(items)}].find((o) => o?.{root} !== undefined){access}"


def _read(source: str, path: tuple[str, ...], compiled: CompiledScope) -> str:
    body = reads_body(source, compiled.graph, compiled)
    return read_field(compiled.name_of(source), path, body=body)


def reads_body(source: str, graph: ControlFlow, compiled: CompiledScope) -> bool:
    """Whether `source` is a Webhook, whose item carries what was posted under `body`."""
    node = graph.nodes.get(source)
    return isinstance(node, Event) and compiled.workflow_graph.nodes[source].type == "webhook"


def _stop(decision: Decision, compiled: CompiledScope, port: Port) -> None:
    node = compiled.workflow_graph.nodes[decision.gateway.id]
    key = HelperKey(node.key, "stop")
    compiled.workflow_graph.add(
        key,
        f"Stop: {node.name}",
        "stopAndError",
        stop_and_error.saying(stop_message(decision, compiled)),
        element=decision.gateway.id,
        role="stop",
    )
    compiled.workflow_graph.connect(port, Port(key))


def stop_message(decision: Decision, compiled: CompiledScope) -> str:
    """What the run says where no branch fits: variable, allowed values, who sets it."""
    label = compiled.workflow_graph.nodes[decision.gateway.id].name
    setter = compiled.name_of(decision.setter)
    parts = [f"No branch of “{label}” fits."]
    if decision.values:
        what = "a list of one or more" if decision.several else "one"
        allowed = ", ".join(f"“{v}”" for v in decision.values)
        parts.append(f"Set {decision.variable} in “{setter}” to {what} of: {allowed}.")
    if decision.coded:
        names = ", ".join(".".join(path) for path in decision.coded)
        parts.append(f"Its conditions read {names}, set by “{setter}”.")
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
        node.type = "if"
        node.parameters = if_.testing(is_true(" || ".join(tests), f"{node.key}/any"))
        yes, no = Port(node.key, 0), Port(node.key, 1)
        for index, branch in enumerate(chosen):
            key = HelperKey(node.key, "branch", index)
            e.workflow_graph.add(
                key,
                f"{branch.value}?",
                "if",
                if_.testing(condition(d, branch, e, str(key))),
                element=d.gateway.id,
                role="branch",
            )
            e.workflow_graph.connect(yes, Port(key))
            e.exits[branch.flow.id] = Port(key, 0)
            self._around(Port(key, 1), branch)
        default = d.default
        if default is None:
            _stop(d, e, no)
            return
        e.exits[default.flow.id] = no
        self._around(yes, default)
        for branch in chosen:
            self._around(no, branch)

    def _around(self, port: Port, branch: Branch) -> None:
        target = self.inputs.get(branch.flow.id)
        if target is not None:
            self.compiled.workflow_graph.connect(port, self.compiled.entry[(self.join, target)])
