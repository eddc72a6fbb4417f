"""Fields that are read where they no longer exist or are outdated."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from orgflow.backends.n8n.format.expression_parts import value_code
from orgflow.backends.n8n.format.json_values import inside, rows
from orgflow.backends.n8n.format.workflow_document import Node, Path
from orgflow.backends.n8n.lint.data_rules import DroppedField, StaleField
from orgflow.backends.n8n.lint.items import (
    Items,
    clash_winner,
    follow_fields,
    read_fields,
    written_fields,
)
from orgflow.backends.n8n.lint.lint_report import Report
from orgflow.backends.n8n.lint.linted_workflow import Workflow
from orgflow.backends.n8n.lint.shape_rules import MistypedCondition

from orgflow_ir.diagnostics import Severity

_OWN: Final = re.compile(r"\s*\$json\.([A-Za-z_$][\w$]*)\s*")
_SURE_REPLACERS: Final = frozenset({"wait", "form"})
_PLAIN: Final = frozenset({"string", "number", "boolean"})


def check_fields(report: Report) -> None:
    """The fields that nodes read."""
    items = follow_fields(report.workflow)
    for node in report.workflow.nodes:
        if node.index not in items.at:
            continue
        _check_dropped(report, items, node)
        _check_mistyped(report, items, node)
        if node.short == "merge" and not node.disabled:
            _check_stale(report, items, node)


def _check_dropped(report: Report, items: Items, node: Node) -> None:
    flow = report.workflow
    state = items.before(node.index)
    for name, path in read_fields(node):
        if name in state.fields or name not in state.dropped:
            continue
        writer, replacer = min(state.dropped[name])
        by, setter = flow.nodes[replacer], flow.nodes[writer]
        sure = by.short in _SURE_REPLACERS
        unless = "" if sure else ", unless the answer has such a field"
        report.add(
            DroppedField,
            node,
            f"`{node.name}` reads `$json.{name}`, which `{setter.name}` set: `{by.name}` in "
            f"between replaced the item, so the field is missing{unless}",
            f"read `$('{setter.name}').first().json.{name}`",
            "parameters",
            *path,
            severity=None if sure else Severity.INFO,
            others=(("replaces the item", by),),
        )


def _condition_groups(node: Node) -> Iterator[tuple[Path, Any]]:
    """The groups of conditions of a node, with their paths, in the versions that check types."""
    if node.short in ("if", "filter") and node.version >= 2:
        yield ("parameters", "conditions"), node.parameters.get("conditions")
    elif node.short == "switch" and node.version >= 3:
        for index, rule in enumerate(rows(node.inside("rules", "values"))):
            yield ("parameters", "rules", "values", index, "conditions"), rule.get("conditions")


def _check_mistyped(report: Report, items: Items, node: Node) -> None:
    """A strict comparison of a field with the type that a Set gave it."""
    if node.disabled or not node.versioned:
        return
    state = items.before(node.index)
    for base, given in _condition_groups(node):
        if inside(given, "options", "typeValidation") != "strict":
            continue
        for place, condition in enumerate(rows(inside(given, "conditions"))):
            match = _OWN.fullmatch(value_code(condition.get("leftValue")) or "")
            wanted = inside(condition, "operator", "type")
            if match is None or wanted not in _PLAIN or match[1] not in (state.sure or ()):
                continue
            writers = [report.workflow.nodes[w] for w in sorted(state.fields[match[1]])]
            set_as = [_find_row(w, match[1]) for w in writers]
            types = {str(row.get("type")) for row in set_as}
            if len(types) != 1 or not types <= _PLAIN - {wanted}:
                continue
            fixed = all(_is_literal(row.get("value")) for row in set_as)
            goes_on = node.on_error.startswith("continue")
            report.add(
                MistypedCondition,
                node,
                f"`{node.name}`: `{match[1]}` is set as `{types.pop()}` by `{writers[0].name}` and "
                f"compared strictly as `{wanted}`, so the node fails",
                "set it with the type of the comparison, or convert types "
                "(`looseTypeValidation`, and `typeValidation` loose)",
                *base,
                "conditions",
                place,
                "leftValue",
                severity=Severity.WARNING if place or goes_on or not fixed else None,
            )


def _find_row(node: Node, name: str) -> Mapping[str, Any]:
    return (written_fields(node) or {}).get(name, {}) if node.version >= 3.3 else {}


def _is_literal(value: Any) -> bool:
    return value is not None and not (isinstance(value, str) and value[:1] in ("", "="))


# -- stale copies ----------------------------------------------------------------------------------


def _check_stale(report: Report, items: Items, node: Node) -> None:
    """A fresh field on one input, an old copy of it on another one that wins."""
    flow = report.workflow
    if not _by_position(node):
        return
    wins = clash_winner(node)
    if wins == "none":
        return
    slots = items.at[node.index]
    for fresh in sorted(slots):
        for old in sorted(slots):
            if old == fresh or (old > fresh) != (wins == "last"):
                continue
            for name, writers in sorted(slots[fresh].fields.items()):
                if name not in slots[old].fields:
                    continue
                for writer in sorted(writers):
                    reader = _find_reader(flow, items, node, name)
                    if reader is None or not _is_carried(
                        flow, items, node, name, writer, fresh, old
                    ):
                        continue
                    _tell_stale(report, node, flow.nodes[writer], name, old, reader)
                    return


def _tell_stale(
    report: Report, node: Node, setter: Node, name: str, old: int, reader: Node
) -> None:
    report.add(
        StaleField,
        node,
        f"`{reader.name}` reads `$json.{name}`, which `{setter.name}` sets on one branch; input "
        f"{old} of `{node.name}` carries an older `{name}` and overwrites it",
        f"read `$('{setter.name}').first().json.{name}`, or give the newer input precedence "
        "(`clashHandling`)",
        others=(("reads it", reader),),
    )


def _by_position(node: Node) -> bool:
    if node.parameters.get("mode") != "combine":
        return False
    key = "combineBy" if node.version >= 3 else "combinationMode"
    return node.parameters.get(key) in ("combineByPosition", "mergeByPosition")


def _field_writers(flow: Workflow, name: str) -> frozenset[int]:
    return frozenset(
        n.index
        for n in flow.nodes
        if n.short == "set" and not n.disabled and name in (written_fields(n) or ())
    )


def _find_reader(flow: Workflow, items: Items, merge: Node, name: str) -> Node | None:
    """A node that reads the field behind the Merge, before it is written again."""
    behind = flow.after(merge.index, avoiding=_field_writers(flow, name))
    for index in sorted(behind):
        node = flow.nodes[index]
        if name in items.before(index).fields and any(name == n for n, _ in read_fields(node)):
            return node
    # A writer reads its item before it writes.
    for wire in (w for i in sorted(behind | {merge.index}) for w in flow.out[i]):
        node = flow.nodes[wire.target]
        if (
            any(name == n for n, _ in read_fields(node))
            and name in items.before(wire.target).fields
        ):
            return node
    return None


def _is_carried(
    flow: Workflow, items: Items, merge: Node, name: str, writer: int, fresh: int, old: int
) -> bool:
    """Whether a fork hands the old field past its writers into input `old`, and to `writer`."""
    apart = frozenset({merge.index})
    writers = _field_writers(flow, name)
    for fork in flow.nodes:
        if name not in items.before(fork.index).fields and fork.index not in writers:
            continue
        for output in sorted({w.output for w in flow.out[fork.index]}):
            wires = [w for w in flow.out[fork.index] if w.output == output]
            if len(wires) < 2:
                continue
            for way in wires:
                carries = flow.reach([way.target], avoiding=apart | writers)
                direct = way.target == merge.index and way.slot == old
                others = [w.target for w in wires if w is not way]
                if not direct and not _enters_slot(flow, carries, merge.index, old):
                    continue
                sets = flow.reach(others, avoiding=apart)
                if writer in sets and _enters_slot(
                    flow, flow.reach([writer], avoiding=apart), merge.index, fresh
                ):
                    return True
    return False


def _enters_slot(flow: Workflow, sources: frozenset[int], merge: int, slot: int) -> bool:
    return any(w.source in sources and w.slot == slot for w in flow.into[merge])
