"""The segments of a canvas, read from its workflow alone: the start of each, the switch at which
all of them begin, and the calls of the support set that end them.

A person may have edited the workflow. A part in an unknown form is a fault, and a workflow with
faults is not proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import field
from typing import Any, Final, Literal

from orgflow.backends.javascript.source_programs import ProgramForm
from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.format.condition_parameters import rules_of
from orgflow.backends.n8n.format.expression_parts import value_code
from orgflow.backends.n8n.format.parameter_values import code_form, parameter_form
from orgflow.backends.n8n.format.support_ids import SUPPORT_IDS, part_id
from orgflow.backends.n8n.format.workflow_document import Node, WorkflowDocument
from orgflow.backends.n8n.node_types import execute_workflow_trigger
from orgflow.backends.n8n.node_types.execute_workflow import called_workflow, waits_for_end
from orgflow.backends.n8n.node_types.node_programs import NAMING
from orgflow.backends.n8n.verify.row_expressions import (
    AnyTemplate,
    UnreadExpression,
    expression_of,
    list_templates,
    read_constant,
    read_templates,
    read_text,
)
from orgflow.backends.n8n.waiting import calls

from orgflow_ir.model.records import NamedTuple, dataclass

SupportCall = Literal["complete", "claim", "start"]
"""The calls of the support set between which segments run."""

_INPUTS: Final[Mapping[frozenset[str], SupportCall]] = {
    frozenset({"token", "variables", "rows", "end", "leave", "levels"}): "complete",
    frozenset({"key", "execution", "event", "variables", "takeover", "attempts"}): "claim",
    frozenset({"element", "variables", "instance", "execution", "workflow"}): "start",
}
"""The names of the inputs of each call: ids differ from server to server."""

_MOST_NODES = 200
_END_OF_SCOPE: Final = "end"


class Unread(NamedTuple):
    """Something on the canvas that the reading does not understand: the node, and why."""

    node: str
    reason: str


class UnreadCanvas(ValueError):
    """A canvas without readable segments."""

    def __init__(self, node: str, reason: str) -> None:
        super().__init__(reason)
        self.unread = Unread(node, reason)


class SegmentEnd(NamedTuple):
    """The node that ends a segment.

    Attributes:
        rows: what it leaves open.
        ends: whether the path ends in its scope.
        leaves: the event that leaves a scope at once, or empty.
        levels: the number of scopes that this event leaves.
        goes_on: whether an item always leaves it, so that a node behind it runs.
    """

    rows: tuple[AnyTemplate, ...]
    ends: bool
    leaves: str
    levels: int
    goes_on: bool

    def opens(self, element: str) -> bool:
        """Whether an element is open behind it."""
        return any(row.element == element for row in list_templates(self.rows))


class SegmentCase(NamedTuple):
    """A case of the switch.

    Attributes:
        event: the event by which a row was claimed; for the end of a scope, its element.
        of: `scope` for the end of a scope, `element` for an element with the id `end`, else `any`.
        output: the output of the switch.
    """

    event: str
    of: Literal["any", "element", "scope"]
    output: int

    def fits(self, kind: str, element: str, event: str) -> bool:
        """Whether a token of a kind of row goes here."""
        if self.of == "any":
            return event == self.event
        if event != _END_OF_SCOPE:
            return False
        return element == self.event if kind == "scope" else self.of == "element"

    def is_end_of(self, scope: str) -> bool:
        """Whether it is that of the end of a scope."""
        return self.of == "scope" and self.event == scope


@dataclass(eq=False)
class SegmentCanvas:
    """The segments of a workflow.

    Attributes:
        switch: the node at which all of them begin.
        taken: the node that passes on claims.
        cases: the cases of the switch in the order in which they are tried.
        pages: the node of each page of a task, by the address of its form.
        starts: the element at which each start begins, by the node that stands for the start.
        ends: the nodes that end segments.
        unread_ends: why the inputs of further ones cannot be read.
        faults: all parts that cannot be read.
    """

    switch: str
    taken: str
    cases: tuple[SegmentCase, ...] = ()
    pages: dict[str, str] = field(default_factory=dict)
    starts: dict[str, str] = field(default_factory=dict)
    ends: dict[str, SegmentEnd] = field(default_factory=dict)
    unread_ends: dict[str, str] = field(default_factory=dict)
    faults: list[Unread] = field(default_factory=list)

    def find_case(self, kind: str, element: str, event: str) -> int | None:
        """The output by which a token leaves the switch."""
        return next((c.output for c in self.cases if c.fits(kind, element, event)), None)


def read_canvas(workflow: WorkflowDocument, ignored: Set[str] = frozenset()) -> SegmentCanvas:
    """The segments of a workflow; `ignored` are triggers that start nothing of the process.

    Raises:
        UnreadCanvas: the switch and the claims before it are missing or have another form.
    """
    return _CanvasReading(workflow, ignored).read()


def name_node(function: str, text: str) -> str | None:
    """The name of the node, which stands for a call such as `$("Check")` in a form."""
    return text if function in NAMING else None


class _CanvasReading:
    def __init__(self, workflow: WorkflowDocument, ignored: Set[str]) -> None:
        self.workflow, self.steps, self.ignored = workflow, workflow.steps, ignored
        self.calls: dict[str, SupportCall] = {}
        for name, step in self.steps.items():
            call = find_support_call(step)
            if call is not None:
                self.calls[name] = call
        taken, switch = self._find_hub()
        self.canvas = SegmentCanvas(switch, taken)

    def read(self) -> SegmentCanvas:
        canvas = self.canvas
        canvas.cases = tuple(self._read_cases())
        for name, call in self.calls.items():
            step = self.steps[name]
            self._check_call(name, step)
            if call == "complete":
                try:
                    canvas.ends[name] = self._read_end(step)
                except UnreadExpression as error:
                    canvas.unread_ends[name] = str(error)
                    self._report(name, str(error))
        self._check_ids()
        for name, step in self.steps.items():
            if step.short == "wait" or (step.short == "form" and not step.trigger):
                self._report(name, "it waits, and the steps of a segment wait for nothing")
            if step.starts and name not in self.ignored:
                self._read_trigger(name, step)
        self._check_elements()
        return canvas

    def _report(self, name: str, reason: str) -> None:
        self.canvas.faults.append(Unread(name, reason))

    def _follow(self, name: str, output: int = 0) -> str | None:
        """The one node behind an output; `None` if there is none or are several."""
        targets = self.workflow.targets.get(name, {}).get(output, ())
        return targets[0] if len(targets) == 1 else None

    def _form_of(self, value: Any) -> ProgramForm:
        """The form of the expression that a parameter consists of."""
        code = value_code(value)
        if code is None:
            raise UnreadExpression("an input is no expression")
        return expression_of(code_form(code, name_node))

    def _taken_form(self, taken: str, path: str) -> ProgramForm:
        """The form of a part of the present claim."""
        escaped = taken.replace("\\", "\\\\").replace("'", "\\'")
        return expression_of(code_form(f"$('{escaped}').first().json.{path}", name_node))

    # -- the claims and the switch -------------------------------------------------------------

    def _find_hub(self) -> tuple[str, str]:
        """The filter behind all claims, and the switch behind it."""
        known = [name for name, step in self.steps.items() if self._passes_claims(step)]
        if len(known) != 1:
            raise UnreadCanvas(known[0] if known else "", "one node passes on successful claims")
        (taken,) = known
        variables = self._follow(taken)
        step = self.steps.get(variables or "")
        if step is None or variables is None or not _reads_variables(step):
            raise UnreadCanvas(taken, "the variables of the instance do not follow the claims")
        switch = self._follow(variables)
        if switch is None or self.steps[switch].short != "switch" or self.steps[switch].disabled:
            raise UnreadCanvas(variables, "no switch follows the variables of the instance")
        return taken, switch

    def _passes_claims(self, step: Node) -> bool:
        """Whether a node is the filter of claims that succeeded."""
        if step.short != "filter" or step.disabled:
            return False
        rules = rules_of(step.short, step.version, step.parameters)
        tests = rules.rules[0].condition.comparisons if rules is not None else ()
        if len(tests) != 1 or tests[0].operation != "true":
            return False
        try:
            return self._form_of(tests[0].left) == expression_of(code_form("$json.won===true"))
        except UnreadExpression:
            return False

    def _read_cases(self) -> Iterator[SegmentCase]:
        step = self.steps[self.canvas.switch]
        rules = rules_of(step.short, step.version, step.parameters)
        if rules is None or rules.every or rules.fallback not in ("extra", None):
            raise UnreadCanvas(step.name, "it is no switch with one output for each event")
        event = self._taken_form(self.canvas.taken, "token.event")
        kind = self._taken_form(self.canvas.taken, "token.kind")
        element = self._taken_form(self.canvas.taken, "token.element")
        for rule in rules.rules:
            tests = rule.condition.comparisons
            if len(tests) != 1 or tests[0].operation != "true":
                raise UnreadCanvas(step.name, "a rule is no single test")
            try:
                facts = list(_read_tests(self._form_of(tests[0].left)))
                yield _make_case(facts, event, kind, element, rule.output)
            except (UnreadExpression, KeyError) as error:
                reason = "a rule does not test the event of the claim"
                raise UnreadCanvas(step.name, reason) from error

    # -- calls ---------------------------------------------------------------------------------

    def _check_call(self, name: str, step: Node) -> None:
        """Whether a call has the settings with which it calls once and waits for the answer."""
        parameters = step.parameters
        if step.disabled:
            self._report(name, "it is disabled")
        if not waits_for_end(parameters) or parameters.get("mode", "once") != "once":
            self._report(name, "it does not call once and wait for the answer")
        if step.raw.get("executeOnce") is not True:
            self._report(name, "it may run for each of several items")

    def _check_ids(self) -> None:
        """Whether calls of one part of the support set call one workflow, and no other part's. A
        server has ids of its own for all parts, which only their consistency shows."""
        known: dict[str, SupportCall] = {}
        first: dict[SupportCall, str] = {}
        ids = {name: called_workflow(self.steps[name].parameters) for name in self.calls}
        compiled = any(called in SUPPORT_IDS for called in ids.values())
        for name, call in self.calls.items():
            called = ids[name]
            same = known.setdefault(called, call) == call
            same = same and first.setdefault(call, called) == called
            if not called or not same or (compiled and SUPPORT_IDS.get(called) != call):
                self._report(name, f"it does not call the part `{call}` of the support set")

    def _read_end(self, step: Node) -> SegmentEnd:
        inputs = step.inside("workflowInputs", "value")
        assert isinstance(inputs, Mapping)
        taken = self.canvas.taken
        if self._form_of(inputs["token"]) != self._taken_form(taken, "token"):
            raise UnreadExpression("it does not end the row that the segment claimed")
        rows = read_templates(
            self._form_of(inputs["rows"]), self._taken_form(taken, "token.attached_to")
        )
        ends, levels = (read_constant(self._form_of(inputs[name])) for name in ("end", "levels"))
        if not isinstance(ends, bool) or isinstance(levels, bool | str):
            raise UnreadExpression("`end` and `levels` have other types")
        leaves = read_text(self._form_of(inputs["leave"]))
        goes_on = step.raw.get("alwaysOutputData") is True
        if not rows and not ends and not leaves:
            raise UnreadExpression("it leaves nothing open and does not end its path")
        return SegmentEnd(rows, ends, leaves, levels, goes_on)

    def _check_elements(self) -> None:
        """Whether the process can continue from every row."""
        canvas = self.canvas
        for name, end in canvas.ends.items():
            for row in list_templates(end.rows):
                kind, event = row.kind, row.element
                if kind == "gateway":
                    continue
                if kind == "scope":
                    known = any(case.is_end_of(event) for case in canvas.cases)
                else:
                    known = canvas.find_case(kind, event, event) is not None
                if not known:
                    self._report(name, f"no part of the process begins at {event}")
                if kind == "task" and row.link not in canvas.pages:
                    self._report(name, f"no page has the address {row.link}")

    # -- triggers ------------------------------------------------------------------------------

    def _read_trigger(self, name: str, step: Node) -> None:
        """What a trigger begins: a page of a task, a call of the support set, or a start."""
        try:
            if _hidden_key(step):
                self._read_page(name, step)
            elif step.short == execute_workflow_trigger.NODE.name and self._leads_to_claim(name):
                self._read_continuation(name)
            else:
                self.canvas.starts[name] = self._read_start(name)
        except UnreadExpression as error:
            self._report(name, str(error))

    def _read_page(self, name: str, step: Node) -> None:
        """A page, the check of its answers, the claim, and the text behind the answer."""
        now = self._follow(name)
        if now is not None and self.steps[now].short == "if":
            refused = self._follow(now, 1)
            if refused is None or not self._only_answers(refused):
                raise UnreadExpression("an answer that is not valid is not refused")
            now = self._follow(now, 0)
        claim = now
        if claim is None or self.calls.get(claim) != "claim":
            raise UnreadExpression("no claim follows the page")
        self._check_claim(claim, calls.claim_call(part_id("claim")))
        answer = self._follow(claim)
        if answer is None or self.steps[answer].short != "respondToWebhook":
            raise UnreadExpression("the page does not state whether the answer was accepted")
        if self._follow(answer) != self.canvas.taken or self.steps[answer].disabled:
            raise UnreadExpression("the steps behind the task do not follow the claim")
        address = f"/form/{step.parameters.get('path', '')}"
        if self.canvas.pages.setdefault(address, name) != name:
            raise UnreadExpression(f"two pages have the address {address}")

    def _only_answers(self, name: str) -> bool:
        """Whether a node answers a page, and nothing follows."""
        step = self.steps[name]
        if step.short != "respondToWebhook" or step.disabled:
            return False
        return not any(self.workflow.targets.get(name, {}).values())

    def _check_claim(self, name: str, expected: Mapping[str, Any]) -> None:
        """Whether a claim has the inputs of the compiled one; the answers are compared with the
        model (`computed_nodes`)."""
        inputs = self.steps[name].inside("workflowInputs", "value")
        wanted = expected["workflowInputs"]["value"]
        assert isinstance(inputs, Mapping)
        for column in wanted:
            same = parameter_form(inputs[column]) == parameter_form(wanted[column])
            if column != "variables" and not same:
                raise UnreadExpression(f"the claim has another {column}")

    def _leads_to_claim(self, name: str) -> bool:
        now = self._follow(name)
        if now is not None and self.steps[now].short == "if":
            now = self._follow(now, 1)
        return now is not None and self.calls.get(now) == "claim"

    def _read_continuation(self, name: str) -> None:
        """The trigger by which the support set continues a process."""
        now = self._follow(name)
        assert now is not None
        if self.steps[now].short == "if":
            called = self._follow(now, 0)
            if called is None:
                raise UnreadExpression("calls that begin an instance lead to several nodes")
            self.canvas.starts[called] = self._read_start(called)
            now = self._follow(now, 1)
            assert now is not None
        self._check_claim(now, calls.take_call(part_id("claim")))
        if self._follow(now) != self.canvas.taken:
            raise UnreadExpression("the segments do not follow the claim")

    def _read_start(self, name: str) -> str:
        """The element of the row that a start writes."""
        now: str | None = name
        for _ in range(_MOST_NODES):
            if now is None:
                break
            step = self.steps[now]
            if self.calls.get(now) == "start":
                return self._read_begin(now, step)
            if now in self.calls or (step.disabled and not step.trigger):
                break
            if step.short not in _BEFORE_START and not step.trigger:
                break
            now = self._follow(now)
        raise UnreadExpression("it does not lead to the start of an instance")

    def _read_begin(self, name: str, step: Node) -> str:
        inputs = step.inside("workflowInputs", "value")
        assert isinstance(inputs, Mapping)
        wanted = calls.start_call(part_id("start"), "", "", "")["workflowInputs"]["value"]
        for column in ("execution", "workflow"):
            if parameter_form(inputs[column]) != parameter_form(wanted[column]):
                raise UnreadExpression(f"the start has another {column}")
        if self._follow(name) != self.canvas.taken:
            raise UnreadExpression("the first segment does not follow the start")
        return read_text(self._form_of(inputs["element"]))


_BEFORE_START = frozenset({"set", "if", "respondToWebhook", "noOp", "code"})
"""Types of nodes between a trigger and the start of an instance: data and the check of a call."""


def find_support_call(step: Node) -> SupportCall | None:
    """Which call of the support set a node is, by the names of its inputs."""
    if step.short != node_types.calling_type().name:
        return None
    inputs = step.inside("workflowInputs", "value")
    return _INPUTS.get(frozenset(inputs)) if isinstance(inputs, Mapping) else None


def _reads_variables(step: Node) -> bool:
    """Whether a node makes the variables of the instance its item."""
    code = value_code(step.parameters.get("jsonOutput"))
    same = code is not None and code_form(code) == code_form("$json.variables")
    keeps = step.parameters.get("includeOtherFields", False) is not False
    raw = step.parameters.get("mode") == "raw"
    return step.short == "set" and raw and same and not keeps and not step.disabled


def _hidden_key(step: Node) -> bool:
    """Whether a form has the hidden field with the key of a task's row."""
    fields = step.inside("formFields", "values")
    return step.short == "formTrigger" and any(
        isinstance(entry, Mapping)
        and entry.get("fieldType") == "hiddenField"
        and entry.get("fieldName") == "key"
        for entry in (fields if isinstance(fields, list) else ())
    )


def _read_tests(form: ProgramForm) -> Iterator[tuple[ProgramForm, tuple[str, str]]]:
    """The comparisons that are joined by `&&`: what is compared, the sign, and the text."""
    match form:
        case ("binary_expression", tuple(first), "&&", tuple(second)):
            yield from _read_tests(first)
            yield from _read_tests(second)
        case ("binary_expression", tuple(left), ("===" | "!==") as sign, ("text", str(text))):
            yield left, (sign, text)
        case _:
            raise UnreadExpression("it is no comparison with a text")


def _make_case(
    tests: list[tuple[ProgramForm, tuple[str, str]]],
    event: ProgramForm,
    kind: ProgramForm,
    element: ProgramForm,
    output: int,
) -> SegmentCase:
    """The case of a rule with some comparisons. Raises `UnreadExpression`."""
    facts = dict(tests)
    if len(facts) != len(tests):
        raise UnreadExpression("it tests the same twice")
    sign, name = facts[event]
    rest = {key: value for key, value in facts.items() if key != event}
    if sign == "===" and not rest:
        return SegmentCase(name, "any", output)
    if sign == "===" and name == _END_OF_SCOPE:
        if rest == {kind: ("!==", "scope")}:
            return SegmentCase(name, "element", output)
        if rest.keys() == {kind, element} and rest[kind] == ("===", "scope"):
            same, scope = rest[element]
            if same == "===":
                return SegmentCase(scope, "scope", output)
    raise UnreadExpression("it is no test of the event")
