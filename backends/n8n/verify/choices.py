"""How a deciding node reads a gateway's decision: by conditions, not by the targets of its
connections.

Conditions are compared as programs, with every `$('Name')` replaced by the element of that node, so
renamed nodes make no difference. Those of version 1 and 2 nodes are converted to later versions if
the meaning is equal. A condition that the reference also has determines the branch for which it is
true, and so does its negation. One with a different value is true for no branch, one with a
different variable may be true or not, unless the step that sets the decision names the new value or
variable. Any other is *changed*: it is reported, and assumed to choose like the one in its place.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

from orgflow.backends.n8n.emit.decision_code import build_condition, never_set
from orgflow.backends.n8n.format.condition_parameters import Condition, constant_truth, rules_of
from orgflow.backends.n8n.format.expression_parts import value_code
from orgflow.backends.n8n.format.expressions import unescape_text
from orgflow.backends.n8n.format.json_values import mapping
from orgflow.backends.n8n.format.matching import Matching
from orgflow.backends.n8n.format.parameter_values import (
    ParameterForm,
    as_compiled_now,
    parameter_form,
    split_test,
)
from orgflow.backends.n8n.format.workflow_document import Node, WorkflowDocument
from orgflow.backends.n8n.node_types.conditions import filter_of, is_true
from orgflow.backends.n8n.node_types.node_programs import NAMING
from orgflow.backends.n8n.node_types.node_type import is_expression
from orgflow.backends.n8n.plan.actions import DECIDES
from orgflow.backends.n8n.plan.graph import NodeKey, decide_key
from orgflow.backends.n8n.verify.reference import Reference

from orgflow_ir.model.records import NamedTuple, dataclass
from orgflow_ir.targets.verification import Changed
from orgflow_ir.work.gateway_decisions import Decision

_REFERENCE = re.compile(r"\$\(\s*(?:'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\")\s*\)")
_READ = re.compile(
    r"\(\$\(@(?P<key>[^)]*)\)\.isExecuted \? \$\(@(?P=key)\)\.first\(0\)\.json\.(?P<path>[\w.?]+)"
    r" : undefined\)"
)
_LAST = re.compile(r"(\$\(@[^)]*\))\.last\(0\)")
_AT = re.compile(r"\$\(@([^)]*)\)")
_MOST_UNKNOWN = 4

Predicate = frozenset[str]
"""True if any of these branches (flow ids of the graph) is taken."""

OTHER_VALUE: Predicate = frozenset({"\0"})
"""True for a value without a branch, so if no branch is taken that a run can decide for."""

NO_BRANCH: Predicate = frozenset()
"""True if a variable was never set, so no branch may be taken."""


class Key(NamedTuple):
    """A gateway of the graph and the values for which a condition of it is true."""

    gateway: str
    predicate: Predicate


@dataclass(frozen=True)
class Reader:
    """A node that decides.

    Attributes:
        gateway: the gateway of the graph whose decision it reads.
        main: whether it represents the gateway, so the model's step belongs to it.
        predicates: for each rule, the values for which it is true; None if they are unknown.
        every: whether all outputs with a true condition are taken, or only the first.
        fallback: the output taken if none is true; None: the items are dropped.
        negated: indexes of rules that are true if their predicate is not.
        ports: the output of each rule; None: that with its index.
        broken: names of missing nodes that it reads.
        compiled: whether it is compiler output, so it has to stop if no branch matches.
    """

    gateway: str
    main: bool
    predicates: tuple[Predicate | None, ...]
    every: bool
    fallback: int | None
    broken: tuple[str, ...] = ()
    compiled: bool = True
    negated: frozenset[int] = frozenset()
    ports: tuple[int, ...] | None = None

    @property
    def stops(self) -> tuple[int, ...]:
        """Outputs by which an item leaves because a variable was never set."""
        return self._ports(
            i for i, p in enumerate(self.predicates) if p == NO_BRANCH and i not in self.negated
        )

    def _ports(self, places: Iterable[int]) -> tuple[int, ...]:
        return tuple(places if self.ports is None else (self.ports[i] for i in places))

    def outputs(self, taken: frozenset[str]) -> Iterator[tuple[int, ...]]:
        """Outputs by which an item leaves when the branches `taken` are decided for; several
        alternatives if a rule is unknown."""
        free = [i for i, p in enumerate(self.predicates) if p is None][:_MOST_UNKNOWN]
        for values in itertools.product((True, False), repeat=len(free)):
            chosen = dict(zip(free, values, strict=True))
            true = [
                i
                for i, p in enumerate(self.predicates)
                if (
                    chosen.get(i, False)
                    if p is None
                    else bool(p & taken) is not (i in self.negated)
                )
            ]
            if not self.every:
                true = true[:1]
            if true:
                yield self._ports(true)
            else:
                yield () if self.fallback is None else (self.fallback,)


def find_readers(
    ref: Reference, matching: Matching[NodeKey], workflow: WorkflowDocument
) -> tuple[dict[str, Reader], list[Changed]]:
    """The deciding nodes of `workflow` by name, and the changed expressions in them.

    A manually added node with indistinguishable outputs is not included.
    """
    return _Reading(ref, matching, workflow).run()


class _Rules(NamedTuple):
    """What decides in an If or Switch: a filter a rule, and what happens to the rest."""

    filters: tuple[Mapping[str, Any], ...]
    labels: tuple[str, ...]
    every: bool
    fallback: int | None
    ports: tuple[int, ...] | None = None

    def texts(self, names: Names) -> tuple[CanonicalCondition, ...]:
        return tuple(map(names.canonical, self.filters))


class CanonicalCondition:
    """A condition in the form that it shares exactly with those that n8n evaluates alike.

    Attributes:
        form: what two conditions are compared by.
        text: the condition as JSON, for messages and to find the kind of a difference.
        truth: what the condition is whatever the data is, if that is known: it compares a text that
            has something beside its code, such as a blank.
    """

    __slots__ = ("form", "text", "truth")

    def __init__(self, form: tuple[object, ...], text: str, *, truth: bool | None) -> None:
        self.form, self.text, self.truth = form, text, truth

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CanonicalCondition) and self.form == other.form

    def __hash__(self) -> int:
        return hash(self.form)


_UNARY = frozenset({"true", "false", "exists", "notExists", "empty", "notEmpty"})
"""Operations of a condition that have no right side."""


class Names:
    """Replaces node names in expressions by the elements of the nodes."""

    def __init__(self, key_of: Mapping[str, NodeKey], existing: set[str] | None) -> None:
        self.key_of = key_of
        self.existing = existing

    def canonical(self, filter_: Mapping[str, Any]) -> CanonicalCondition:
        """The condition of a filter, equal to that of another one exactly if n8n evaluates both
        alike. n8n reads the options of the filter only, with the defaults below;
        `looseTypeValidation` of the node is for its editor."""
        options = mapping(filter_.get("options"))
        conditions = [
            [
                self.resolved(c.get("leftValue")),
                self.resolved(c.get("rightValue")),
                mapping(c.get("operator")).get("type"),
                mapping(c.get("operator")).get("operation"),
            ]
            for c in _list_mappings(filter_.get("conditions"))
        ]
        validation = options.get("typeValidation", "strict")
        combinator = filter_.get("combinator", "and")
        known = combinator in ("and", "or")  # n8n calls a filter with any other false
        combinator = "and" if known and len(conditions) < 2 else combinator
        case = bool(options.get("caseSensitive", True))
        tests = _list_mappings(filter_.get("conditions"))
        if combinator == "and":
            tests = tuple(part for test in tests for part in _split_comparison(test))
        forms = tuple(self._comparison_form(test) for test in tests)
        strict = validation == "strict"
        truths = [
            constant_truth(
                c.get("leftValue"), mapping(c.get("operator")), c.get("rightValue"), strict=strict
            )
            for c in _list_mappings(filter_.get("conditions"))
        ]
        decided = combinator == "or"  # a truth that decides by itself
        if not known:
            truth: bool | None = False
        elif decided in truths:
            truth = decided
        else:
            truth = None if None in truths or not truths else not decided
        return CanonicalCondition(
            (forms, combinator, validation, case, _list_conversions(filter_, tests)),
            json.dumps([conditions, combinator, validation, case], ensure_ascii=False),
            truth=truth,
        )

    def _comparison_form(self, comparison: Mapping[str, Any]) -> tuple[object, ...]:
        operator = mapping(comparison.get("operator"))
        operation = operator.get("operation")
        right = None if operation in _UNARY else comparison.get("rightValue")
        return (
            self.form_of(comparison.get("leftValue")),
            self.form_of(right),
            operator.get("type"),
            operation,
            operator.get("rightType", operator.get("type")) if operation not in _UNARY else None,
        )

    def form_of(self, value: Any) -> ParameterForm:
        """The form of a parameter, in which references are the keys of nodes."""
        return parameter_form(as_compiled_now(value), self.key_of_call)

    def key_of_call(self, function: str, text: str) -> str | None:
        """The key of the node that a call such as `$("Check")` names."""
        return str(self.key_of.get(text, f"?{text}")) if function in NAMING else None

    def resolved(self, value: Any) -> Any:
        """A value with the references in it replaced, without white space around its code."""
        if not isinstance(value, str):
            return value
        text = self.in_text(value)
        code = value_code(text)
        return text if code is None else "={{ " + " ".join(code.split()) + " }}"

    def in_text(self, text: str) -> str:
        """A text with the references in it replaced."""
        text = _REFERENCE.sub(
            lambda m: f"$(@{self.key_of.get(_read_name(m), '?' + _read_name(m))})", text
        )
        return _LAST.sub(r"\1.first(0)", text)  # see `as_compiled_now`

    def missing(self, value: Any) -> list[str]:
        """Missing nodes that an expression names."""
        if not isinstance(value, str) or self.existing is None or not is_expression(value):
            return []
        names = [_read_name(m) for m in _REFERENCE.finditer(value)]
        return [name for name in names if name not in self.existing]


def _list_mappings(value: Any) -> tuple[Mapping[str, Any], ...]:
    """The objects of a list of a file; what else is in it says nothing."""
    return tuple(v for v in value if isinstance(v, Mapping)) if isinstance(value, list) else ()


def references_in(text: str) -> list[str]:
    """Names of the nodes that expressions in a text refer to."""
    return [_read_name(m) for m in _REFERENCE.finditer(text)]


def _read_name(match: re.Match[str]) -> str:
    raw = match[1] if match[1] is not None else match[2]
    return unescape_text(raw)


_CONVERSIONS: Mapping[str, int] = {"boolean": 2, "number": 3}
"""The version of a filter from which n8n converts other values to a type by new rules: the text
`false` to a truth value, and an empty text to a number."""


def _split_comparison(test: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A comparison that `a && b` is true, as one for each operand."""
    operator = mapping(test.get("operator"))
    if (operator.get("type"), operator.get("operation")) != ("boolean", "true"):
        return [test]
    return [{**test, "leftValue": part} for part in split_test(test.get("leftValue"))]


def _list_conversions(
    filter_: Mapping[str, Any], tests: Iterable[Mapping[str, Any]]
) -> tuple[bool, ...]:
    """Whether each comparison of a filter converts its operands by the new rules."""
    version = mapping(filter_.get("options")).get("version", 1)
    number = version if isinstance(version, int | float) else 1
    kinds = (mapping(test.get("operator")).get("type") for test in tests)
    since = (_CONVERSIONS[kind] for kind in kinds if isinstance(kind, str) and kind in _CONVERSIONS)
    return tuple(number >= first for first in since)


def _read_rules(step: Node) -> _Rules | None:
    """The rules of an If or Switch; None for any other node."""
    if step.short not in ("if", "switch"):
        return None
    rules = rules_of(step.short, step.version, step.parameters)
    if rules is None:
        return None
    first = step.short == "switch" and step.version < 2
    return _Rules(
        tuple(_normalise_filter(rule.condition) for rule in rules.rules),
        tuple(rule.label for rule in rules.rules),
        rules.every,
        len(rules.rules) if rules.fallback == "extra" else rules.fallback,
        tuple(rule.output for rule in rules.rules) if first else None,
    )


_AS_LATER = {"equal": "equals", "notEqual": "notEquals"}


def _normalise_filter(condition: Condition) -> Mapping[str, Any]:
    """A condition as later versions write it. One of version 1 is compared without conversion: with
    a text that is the same, any other has a mark of its own."""
    if not condition.first:
        return condition.raw
    conditions = [
        {
            "leftValue": comparison.left,
            "rightValue": comparison.right,
            "operator": {
                "type": comparison.kind,
                "operation": _AS_LATER.get(str(comparison.operation), comparison.operation),
            },
        }
        for comparison in condition.comparisons
    ]
    texts = all(
        comparison.kind == "string"
        and comparison.operation in _AS_LATER
        and isinstance(comparison.right, str)
        and not is_expression(comparison.right)
        for comparison in condition.comparisons
    )
    return {
        "conditions": conditions,
        "combinator": "or" if condition.either else "and",
        "options": {
            "caseSensitive": True,
            "typeValidation": "loose" if texts else "version 1",
            "version": 2,
        },
    }


def group_equal_branches(ref: Reference) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Gateway → groups of its branches whose conditions are one program on n8n, each in order: such
    as `b` and `not(not(b))`."""
    names = Names({node.name: key for key, node in ref.plan.workflow_graph.nodes.items()}, None)
    groups: dict[str, tuple[tuple[str, ...], ...]] = {}
    for gateway, decision in ref.plan.decisions.items():
        flows: dict[CanonicalCondition, list[str]] = {}
        for branch, condition in _list_conditions(decision, ref, names):
            flows.setdefault(condition, []).append(branch)
        equal = tuple(tuple(some) for some in flows.values() if len(some) > 1)
        if equal:
            groups[gateway] = equal
    return groups


def _list_conditions(
    decision: Decision, ref: Reference, names: Names
) -> Iterator[tuple[str, CanonicalCondition]]:
    """The flow and the condition of each branch of a decision that has one."""
    for branch in decision.branches:
        if branch.kind != "default":
            written = filter_of([build_condition(decision, branch, ref.plan, "")])
            yield branch.flow.id, names.canonical(written)


def _known_conditions(ref: Reference, names: Names) -> dict[CanonicalCondition, list[Key]]:
    """What every condition that the compiler made for a gateway is true for."""
    conditions: dict[CanonicalCondition, list[Key]] = {}
    for gateway, decision in ref.plan.decisions.items():
        for flow, condition in _list_conditions(decision, ref, names):
            conditions.setdefault(condition, []).append(Key(gateway, frozenset({flow})))
        unset = never_set(decision, ref.plan)
        if unset:
            written = filter_of([is_true(unset, "")])
            conditions.setdefault(names.canonical(written), []).append(Key(gateway, NO_BRANCH))
        rules = _read_rules(ref.nodes[gateway])
        for text in rules.texts(names) if rules is not None else ():
            if gateway not in [k.gateway for k in conditions.get(text, ())]:
                conditions.setdefault(text, []).append(Key(gateway, _any_branch(decision)))
    return conditions


def _any_branch(decision: Decision) -> Predicate:
    return frozenset(b.flow.id for b in decision.branches if b.kind != "default")


class _Reading:
    """Works out the readers of one workflow."""

    def __init__(
        self, ref: Reference, matching: Matching[NodeKey], workflow: WorkflowDocument
    ) -> None:
        self.ref, self.matching = ref, matching
        self.steps = workflow.steps
        workflow_graph = ref.plan.workflow_graph
        self.own = Names({n.name: key for key, n in workflow_graph.nodes.items()}, None)
        self.names = Names(matching.key_of, set(self.steps))
        self.known = _known_conditions(ref, self.own)
        self.found: dict[str, Reader] = {}
        self.changed: list[Changed] = []
        self.before: dict[tuple[NodeKey, int], set[NodeKey]] = {}
        for a, b in workflow_graph.wires:
            self.before.setdefault((a.node, a.number), set()).add(b.node)
        self.now: dict[tuple[str, int], set[NodeKey]] = {}
        for wire in workflow.wires:
            if wire.kind == "main":
                key = matching.key_of.get(wire.target, "?" + wire.target)
                self.now.setdefault((wire.source, wire.output), set()).add(key)

    def run(self) -> tuple[dict[str, Reader], list[Changed]]:
        """Look at every node that stands for one that decides."""
        workflow_graph = self.ref.plan.workflow_graph
        for name, key in self.matching.key_of.items():
            planned = workflow_graph.nodes[key]
            deciding = planned.element in self.ref.plan.decisions
            if not isinstance(planned.action, DECIDES) or not deciding:
                continue
            before, now = _read_rules(self.ref.nodes[key]), _read_rules(self.steps[name])
            if before is not None and now is not None:
                self._read(name, key, before, now)
            elif before is not None and self._tied(name):
                texts = (condition.text for condition in before.texts(self.own))
                words = _condition_text(texts, self.ref.label_of)
                self.changed.append(Changed(name, planned.element, words, "another node"))
        return self.found, self.changed

    def _tied(self, name: str) -> bool:
        return self.matching.how[name] in ("map", "notes", "id", "copy")

    def _read(self, name: str, key: NodeKey, before: _Rules, now: _Rules) -> None:
        gateway = self.ref.plan.workflow_graph.nodes[key].element
        texts, wanted = now.texts(self.names), before.texts(self.own)
        predicates = [_find_predicate(text, gateway, self.known) for text in texts]
        negated: set[int] = set()
        for place, text in enumerate(texts):
            turned = self._negated(text, gateway) if predicates[place] is None else None
            if turned is not None:
                predicates[place] = turned
                negated.add(place)
        changed: list[Changed] = []
        left = [i for i, text in enumerate(wanted) if text not in texts]
        for place, predicate in enumerate(predicates):
            if predicate is not None:
                continue
            was = self._stands_for(name, key, place, left, before, now)
            words = "no such rule"
            if was is not None:
                left.remove(was)
                match find_difference(wanted[was].text, texts[place].text):
                    case _ if texts[place].truth is not None:
                        predicates[place] = OTHER_VALUE
                        negated |= {place} if texts[place].truth else set()
                    case Difference("value", word) if not self._names(gateway, word):
                        predicates[place] = OTHER_VALUE
                    case Difference("variable", word) if not self._names(gateway, word):
                        pass  # nobody knows what it is true for
                    case _:
                        predicates[place] = _find_predicate(wanted[was], gateway, self.known)
                words = _condition_text([wanted[was].text], self.ref.label_of)
            words_now = _condition_text([texts[place].text], self.ref.label_of)
            changed.append(Changed(name, gateway, words, words_now))
        leaves = {*range(len(predicates))} if now.ports is None else {*now.ports}
        few = len(leaves | ({now.fallback} - {None})) < len(self.ref.decision(gateway).branches)
        if not self._tied(name) and (few or None in predicates):
            return
        self.changed += changed
        broken = [
            missing
            for f in now.filters
            for c in _list_mappings(f.get("conditions"))
            for side in ("leftValue", "rightValue")
            for missing in self.names.missing(c.get(side))
        ]
        self.found[name] = Reader(
            gateway,
            key == gateway,
            tuple(predicates),
            now.every,
            now.fallback,
            tuple(dict.fromkeys(broken)),
            self._tied(name),
            frozenset(negated),
            now.ports,
        )

    def _negated(self, condition: CanonicalCondition, gateway: str) -> Predicate | None:
        """What the condition is true for that a text is the negation of, if a gateway has it."""
        for other, keys in self.known.items():
            difference = (
                find_difference(other.text, condition.text)
                if any(k.gateway == gateway for k in keys)
                else None
            )
            if difference is not None and difference.kind == "negation":
                return _find_predicate(other, gateway, self.known)
        return None

    def _names(self, gateway: str, word: str) -> bool:
        """Whether the step that sets a gateway's decision names a value or a variable, and did not
        when it was compiled: a person has written another one in both."""
        setter: NodeKey = self.ref.decision(gateway).setter
        if setter == gateway:
            setter = decide_key(gateway)
        quoted = json.dumps(word, ensure_ascii=False)[1:-1]
        named = re.compile(rf"(?<!\w){re.escape(quoted)}(?!\w)")
        if named.search(_parameters_text(self.ref.nodes[setter])):
            return False
        return any(
            named.search(_parameters_text(self.steps[name]))
            for name, key in self.matching.key_of.items()
            if key == setter
        )

    def _stands_for(
        self, name: str, key: NodeKey, place: int, left: list[int], before: _Rules, now: _Rules
    ) -> int | None:
        """The rule of the reference that an unknown rule took the place of: the one with its label,
        else the one that leads to the same nodes, else, in a node that was compiled, the one at its
        place."""
        if len(before.labels) > 1:
            for was in left:
                if before.labels[was].casefold() == now.labels[place].casefold():
                    return was
        leads = self.now.get((name, place), set())
        same = [was for was in left if leads and self.before.get((key, was)) == leads]
        if len(same) == 1:
            return same[0]
        if not self._tied(name):
            return None
        if place in left:
            return place
        return left[0] if len(left) == 1 and len(before.filters) == len(now.filters) else None


def _parameters_text(step: Node) -> str:
    return json.dumps(step.parameters, ensure_ascii=False)


class Difference(NamedTuple):
    """The difference between two conditions.

    Attributes:
        kind: it is negated, compares with another value, or reads another variable.
        word: the new value or the last part of the new variable's path.
    """

    kind: Literal["negation", "value", "variable"]
    word: str = ""


_NOT = re.compile(r"=\{\{ !\s*\((?P<code>.*)\) \}\}", re.DOTALL)
_PATH = re.compile(r"(?<=json)((?:\??\.\w+)+)")
_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')
_OF_VALUE = re.compile(r"(?:===? |\.includes\()\0\)* \}\}")
"""The end of an expression that holds for one value, `\0`."""


def find_difference(was: str, now: str) -> Difference | None:
    """The difference between two canonical conditions of a single comparison. None if they differ
    otherwise, or in more than one point."""
    (mine, *options), (its, *others) = json.loads(was), json.loads(now)
    if options != others or len(mine) != 1 or len(its) != 1:
        return None
    before, after = _remove_negations(*mine[0]), _remove_negations(*its[0])
    if before[:3] == after[:3]:
        return Difference("negation") if before.holds is not after.holds else None
    if before.operation != after.operation or before.holds is not after.holds:
        return None
    if before.left == after.left:
        return _compare_right_sides(before, after, case_sensitive=options[-1])
    if before.right != after.right:
        return None
    return _compare_left_sides(before.left, after.left)


def _compare_right_sides(before: _Sign, after: _Sign, *, case_sensitive: bool) -> Difference | None:
    """The difference between two comparisons of one left side: another constant."""
    plain = not is_expression(before.right) and not is_expression(after.right)
    differ = case_sensitive or str(before.right).casefold() != str(after.right).casefold()
    if before.operation == "equals" and plain and differ:
        return Difference("value", str(after.right))
    return None


def _compare_left_sides(before: object, after: object) -> Difference | None:
    """The difference between two left sides: another variable, or another constant in code."""
    if not isinstance(before, str) or not isinstance(after, str):
        return None
    if _PATH.sub("", before) == _PATH.sub("", after):
        paths = zip(_PATH.findall(before), _PATH.findall(after), strict=True)
        read_now = [path for path_before, path in paths if path != path_before]
        if not read_now:
            return None
        known = set(_PATH.findall(before))
        new = next((path for path in read_now if path not in known), read_now[0])
        return Difference("variable", new.rpartition(".")[2])
    was, now = _single_value(before), _single_value(after)
    if was is not None and now is not None and was[0] == now[0]:
        return Difference("value", now[1])
    return None


def _single_value(code: str) -> tuple[str, str] | None:
    """The rest of an expression and the value, where it holds for one value alone."""
    values = _LITERAL.findall(code)
    rest = _LITERAL.sub("\0", code)
    if len(values) != 1 or "||" in rest or "!(" in rest or not _OF_VALUE.search(rest):
        return None
    return rest, str(json.loads(values[0]))


class _Sign(NamedTuple):
    """A comparison without its negations."""

    left: Any
    right: Any
    operation: str
    holds: bool


def _remove_negations(left: Any, right: Any, kind: Any, operation: Any) -> _Sign:
    """See `_Sign`. Only of equality and truth is the opposite sure, whatever the data."""
    del kind
    positive = {"notEquals": "equals", "false": "true"}.get(operation)
    holds = positive is None
    operation = positive or str(operation)
    if operation == "true":
        right = ""
        match = _NOT.fullmatch(left) if isinstance(left, str) else None
        if match is not None and _is_closed(match["code"]):
            left, holds = "={{ " + match["code"].strip() + " }}", not holds
    return _Sign(left, right, operation, holds)


def _is_closed(code: str) -> bool:
    """Whether brackets around a piece of code are around all of it."""
    depth = 0
    for sign in code:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return False
    return depth == 0


def _find_predicate(
    condition: CanonicalCondition, gateway: str, known: Mapping[CanonicalCondition, list[Key]]
) -> Predicate | None:
    keys = [k.predicate for k in known.get(condition, ()) if k.gateway == gateway]
    return frozenset().union(*keys) if keys else None  # branches may have the same condition


def _condition_text(texts: Iterable[str], label_of: Callable[[str], str]) -> str:
    """Conditions for people: left side, operation, right side; our own way to read a field of the
    node that sets it is shown as `field of node`."""
    parts: list[str] = []
    for text in texts:
        conditions, combinator, *_ = json.loads(text)
        comparisons = []
        for left, right, _, operation in conditions:
            sides = [_plain_words(side, label_of) for side in (left, right)]
            comparisons.append(f"{sides[0]} {operation or 'is'} {sides[1]}".strip())
        parts.append(f" {combinator} ".join(comparisons) or "nothing")
    return "; ".join(parts)


def _plain_words(value: Any, label_of: Callable[[str], str]) -> str:
    if not isinstance(value, str):
        return "" if value is None else json.dumps(value, ensure_ascii=False)
    if value.startswith("={{ ") and value.endswith(" }}"):
        value = value[4:-3]

    path = _READ.sub(lambda m: f"{m['path'].replace('?', '')} of “{label_of(m['key'])}”", value)
    return _AT.sub(lambda m: f"$('{label_of(m[1])}')", path)
