"""Connections and related data: inputs, error outputs, positions, disabled nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.format.condition_parameters import Comparison, rules_of
from orgflow.backends.n8n.format.json_values import inside, rows
from orgflow.backends.n8n.format.node_decisions import decision_of, operand_text
from orgflow.backends.n8n.format.workflow_document import Node
from orgflow.backends.n8n.lint.data_rules import (
    AddedItem,
    DisabledStep,
    FirstItemOnly,
    LostItemSettings,
    MergedTriggers,
    SamePosition,
    UnwiredErrorOutput,
)
from orgflow.backends.n8n.lint.flow_rules import UnmatchedItem
from orgflow.backends.n8n.lint.lint_report import Report, list_names
from orgflow.backends.n8n.lint.linted_workflow import Workflow
from orgflow.backends.n8n.lint.shape_rules import IgnoredConnection
from orgflow.backends.n8n.node_types import code
from orgflow.backends.n8n.node_types.ports import inputs_of, regular_outputs

from orgflow_ir.model.element_names import ordinal_word

_KINDS: Final = frozenset(
    {
        "main", "ai_agent", "ai_chain", "ai_document", "ai_embedding", "ai_languageModel",
        "ai_memory", "ai_outputParser", "ai_reranker", "ai_retriever", "ai_textSplitter",
        "ai_tool", "ai_vectorStore",
    }
)  # fmt: skip
_ROUTERS: Final = frozenset({"if", "switch", "splitInBatches", "compareDatasets"})
# Nodes that give one item, whatever comes in.
_ONE_ITEM: Final = frozenset({"aggregate", "limit", "manualTrigger", "webhook", "formTrigger"})
_PASSING: Final = frozenset({"noOp", "set", "if", "switch", "filter", "wait", "respondToWebhook"})


def check_wires(report: Report) -> None:
    """Findings from the connections alone."""
    _check_connections(report)
    for node in report.workflow.nodes:
        if node.disabled:
            _check_disabled(report, node)
            continue
        _error_output(report, node)
        _check_siblings(report, node)
        _added_item(report, node)
        _first_item(report, node)
        _item_settings(report, node)
        if node.short == "switch" and node.index in report.workflow.live:
            _no_fallback(report, node)
        if node.short == "merge":
            _check_triggers(report, node)


def _check_connections(report: Report) -> None:
    flow = report.workflow
    for kind, source, target, path in flow.other:
        if kind not in _KINDS:
            report.add(
                IgnoredConnection,
                path,
                f"the connection from `{flow.nodes[source].name}` to `{flow.nodes[target].name}` "
                f"has the unknown type `{kind}`: it carries no items",
                "write `main`",
            )
    for wire in flow.wires:
        target_node = flow.nodes[wire.target]
        end = wire.raw
        kind = inside(end, "type")
        if isinstance(kind, str) and kind != "main":
            report.add(
                IgnoredConnection,
                wire.path,
                f"the connection to `{target_node.name}` ends as `{kind}` but begins as `main`: "
                "n8n does not count it as an input to wait for",
                'write "type": "main"',
            )
        count = inputs_of(target_node.raw)
        if count is None or wire.slot < count or target_node.trigger:
            continue
        many = "one input" if count == 1 else f"{count} inputs"
        giver = flow.nodes[wire.source].name
        what = "its items are dropped" if target_node.short == "merge" else "it gets nothing"
        report.add(
            IgnoredConnection,
            wire.path,
            f"`{giver}` leads to the {ordinal_word(wire.slot + 1)} input of `{target_node.name}`, "
            f"which has {many}: {what}, and n8n reports no error",
            "set `numberInputs`" if target_node.short == "merge" else "connect its first input",
        )


def _check_disabled(report: Report, node: Node) -> None:
    flow = report.workflow
    if node.trigger or not flow.out[node.index] or node.index not in flow.live:
        return
    says = " and every item leaves by its first output" if node.short in _ROUTERS else ""
    report.add(
        DisabledStep,
        node,
        f"`{node.name}` is disabled: the items of its first input pass through{says}",
        "remove it, or enable it",
        "disabled",
    )


def _error_output(report: Report, node: Node) -> None:
    flow = report.workflow
    if node.on_error != "continueErrorOutput" or node.index not in flow.live:
        return
    regular = regular_outputs(node.raw)
    error = 1 if regular is None else regular
    if any(w.output >= error for w in flow.out[node.index]):
        return
    report.add(
        UnwiredErrorOutput,
        node,
        f"the error output of `{node.name}` has no connection: failed items are lost, and the run "
        "ends with status success",
        "connect its last output, or remove `onError`",
        "onError",
    )


def _check_siblings(report: Report, node: Node) -> None:
    flow = report.workflow
    if node.index not in flow.live:
        return
    places: dict[tuple[int, tuple[float, float]], list[Node]] = {}
    for wire in flow.out[node.index]:
        target = flow.nodes[wire.target]
        if target.position is not None:
            same = places.setdefault((wire.output, target.position), [])
            if target not in same:
                same.append(target)
    for siblings in places.values():
        if len(siblings) > 1:
            names = list_names([n.name for n in siblings])
            report.add(
                SamePosition,
                siblings[0],
                f"{names} after `{node.name}` have the same position, so n8n runs them in the "
                "reverse of their connection order",
                "move up the node that should run first",
                "position",
            )


def _added_item(report: Report, node: Node) -> None:
    flow = report.workflow
    if node.raw.get("alwaysOutputData") is not True or node.short not in _ROUTERS:
        return
    outputs = sorted({w.output for w in flow.out[node.index]})
    if len(outputs) > 1 and outputs[0] == 0:
        report.add(
            AddedItem,
            node,
            f"`{node.name}` has `alwaysOutputData`: if its first output has no items, an empty "
            "item is sent there, so both branches run",
            "take `alwaysOutputData` away",
            "alwaysOutputData",
        )


def _first_item(report: Report, node: Node) -> None:
    flow = report.workflow
    if node.raw.get("executeOnce") is not True or node.trigger or node.tag is not None:
        return  # of a model's step one item is meant
    if node.index not in flow.live or _gets_one(report, node):
        return
    report.add(
        FirstItemOnly,
        node,
        f"`{node.name}` has `executeOnce`: it processes only the first of several items and "
        "drops the rest",
        "remove it, or aggregate the items first",
        "executeOnce",
    )


def _item_settings(report: Report, node: Node) -> None:
    """A node in the place of a model's step, put there without the placeholder's settings."""
    flow = report.workflow
    behind = [flow.nodes[w.target] for w in flow.out[node.index]]
    if node.tag is None or node.tag[1] not in ("", "decide") or node.trigger:
        return
    if node.index not in flow.live or not behind or _outputs_one_item(node):
        return
    # beside an error output the setting would send an empty item on where all have failed
    failing = node.raw.get("onError") == "continueErrorOutput"
    ends = node.raw.get("alwaysOutputData") is not True and not failing
    each = [n.name for n in behind if n.raw.get("executeOnce") is not True and n.short != "code"]
    if not ends and not each:
        return
    says = []
    if ends:
        says.append("if it outputs no item, the run ends there with status success")
    if each:
        says.append(
            f"if it outputs several, {list_names(each)} and the following nodes run once for each"
        )
    report.add(
        LostItemSettings,
        node,
        f"`{node.name}` lacks the settings of the placeholder: {'; '.join(says)}",
        "turn on Execute Once there and in the next step"
        if failing
        else "turn on Always Output Data in its settings, and Execute Once there and in the next "
        "step",
    )


def _outputs_one_item(node: Node) -> bool:
    """Whether a node outputs exactly one item without the placeholder's settings."""
    if node.short == "code" and code.gives_one_item(node.parameters):
        return True
    kind = node_types.find_type(node.short)
    if kind is None:
        return False
    if kind.gives_one(node.parameters) and node.raw.get("executeOnce"):
        return True
    return kind.reliable or kind.task is None or node.short == "wait"


def _gets_one(report: Report, node: Node) -> bool:
    """Whether what comes in is one item for sure."""
    flow = report.workflow
    seen: set[int] = set()
    todo = [node.index]
    while todo:
        for wire in flow.into[todo.pop()]:
            source = flow.nodes[wire.source]
            if wire.source in seen:
                continue
            seen.add(wire.source)
            if source.short in _ONE_ITEM or source.raw.get("executeOnce") is True:
                continue
            if source.short not in _PASSING and not source.disabled:
                return False
            todo.append(wire.source)
    return True


def _no_fallback(report: Report, node: Node) -> None:
    flow = report.workflow
    if node.parameters.get("mode", "rules") != "rules" or not flow.out[node.index]:
        return
    if node.version >= 3:
        fallback = node.inside("options", "fallbackOutput")
        if fallback not in (None, "none") or not rows(node.inside("rules", "values")):
            return
    elif node.parameters.get("fallbackOutput", -1) != -1:
        return
    if _is_exhaustive(node):
        return
    report.add(
        UnmatchedItem,
        node,
        f"an item that matches no rule of `{node.name}` is dropped: the run ends there with "
        "status success",
        "set `fallbackOutput` and connect it to the step for other values",
        "parameters",
    )


def _is_exhaustive(node: Node) -> bool:
    """Whether some rule of a Switch takes every item: one always holds, or two ask the opposite."""
    decision = decision_of(node, node.parameters)
    if decision is None:
        return False
    signs = {(rule.atom, rule.holds) for rule in decision.rules}
    if any((atom, not holds) in signs for atom, holds in signs):
        return True
    rules = rules_of(node.short, node.version, node.parameters)
    values: dict[str, set[str]] = {}
    for rule in rules.rules if rules is not None else ():
        comparisons = rule.condition.comparisons
        if not comparisons:
            return True
        if len(comparisons) == 1:
            if _holds_always(comparisons[0]):
                return True
            left = f"{comparisons[0].kind} {operand_text(comparisons[0].left)}"
            values.setdefault(left, set()).update(_tested_values(comparisons[0]))
    return any(_covers_all(asked) for asked in values.values())


def _holds_always(comparison: Comparison) -> bool:
    """Whether a comparison is one of constants that holds, or tests what every item has."""
    name = comparison.operation or ""
    if name in ("true", "equals", "equal") and _is_true(comparison.left):
        return name == "true" or _is_true(comparison.right)
    # Every item has its fields, if only none.
    return (comparison.kind, name, operand_text(comparison.left)) == ("object", "exists", "$json")


def _tested_values(comparison: Comparison) -> Iterator[str]:
    """The truth value, or the sign and the right side, for which a comparison holds."""
    name = comparison.operation or ""
    if comparison.kind == "boolean" and name in ("true", "false"):
        yield name
    elif comparison.kind == "boolean" and name in ("equals", "equal"):
        yield operand_text(comparison.right)
    elif comparison.kind in ("number", "dateTime"):
        yield f"{_COMPARED.get(name, name)} {operand_text(comparison.right)}"


def _covers_all(tested: set[str]) -> bool:
    """Whether some of the tests of one value hold, whatever it is."""
    if {"true", "false"} <= tested:
        return True
    rights = {text.partition(" ")[2] for text in tested}
    return any({f"{sign} {right}" for sign in "<=>"} <= tested for right in rights)


_COMPARED: Final = {
    "lt": "<", "before": "<", "smaller": "<", "equals": "=", "equal": "=",
    "gt": ">", "after": ">", "larger": ">",
}  # fmt: skip


def _is_true(value: object) -> bool:
    return value is True or operand_text(value) == "true"


def _check_triggers(report: Report, node: Node) -> None:
    flow = report.workflow
    if node.parameters.get("mode", "append") == "append":
        return  # an incomplete one goes on with what it has
    apart = triggers_apart(flow, node)
    if apart:
        report.add(
            MergedTriggers,
            node,
            f"the inputs of `{node.name}` come from different triggers "
            f"({list_names([t.name for t in apart])}), each of which starts its own run: the Merge "
            "never receives both",
            "store the data of one trigger, and read it when the other one starts",
        )


def triggers_apart(flow: Workflow, node: Node) -> tuple[Node, ...]:
    """The triggers of two inputs of a Merge that share none; empty if all inputs share one."""
    by_slot: dict[int, set[int]] = {}
    starts = {t.index: flow.reach([t.index]) for t in flow.nodes if t.starts}
    for wire in flow.into[node.index]:
        by_slot.setdefault(wire.slot, set()).update(
            t for t, reached in starts.items() if wire.source in reached
        )
    sets = [by_slot[slot] for slot in sorted(by_slot) if by_slot[slot]]
    for first in sets:
        for second in sets:
            if first.isdisjoint(second):
                return tuple(flow.nodes[t] for t in sorted(first | second))
    return ()
