"""Computations of tasks, as the JavaScript of Code nodes: mappings, scripts, decisions.

No text of the source is copied: names and texts are converted by `js_string`, expressions by
`to_js`, decisions by the printer of FEEL.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import assert_never

from orgflow.backends.javascript.expression_code import to_js
from orgflow.backends.javascript.literals import js_string
from orgflow.backends.javascript.operand_checks import (
    print_guarded_test,
    print_unfit_test,
    unfit_call,
    unfit_call_text,
    unfit_text,
)
from orgflow.backends.javascript.operation_functions import function_text
from orgflow.backends.n8n.plan.task_work import print_decision

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program import feel_operators, methods
from orgflow_ir.program.demands import demands
from orgflow_ir.program.evaluation_guards import list_method_calls, list_needs, null_tested
from orgflow_ir.program.syntax import (
    Arithmetic,
    Call,
    Conditional,
    Logical,
    Negative,
    Path,
    Tree,
    Variable,
    kind_of,
)
from orgflow_ir.work.requests import Part
from orgflow_ir.work.statements import (
    Assign,
    Compose,
    Decide,
    Each,
    Evaluate,
    Fail,
    NextMoment,
    Statement,
    Throw,
    Until,
    When,
    assigned,
)

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_HEADERS = (
    "Object.fromEntries(Object.entries(answer.headers ?? {}).flatMap(([name, value]) => [[name, "
    "value], [name.replace(/(^|-)[a-z]/g, (one) => one.toUpperCase()), value]]))"
)
"""Headers of an answer: n8n has their names in lower case, models write them as servers do."""
_TEXT = """\
const { headers: got = {}, body = answer.data ?? "" } = answer;
let text = typeof body === "string" ? body : JSON.stringify(body);
if ($input.first().binary?.data) {
  const [, charset = "utf-8"] = /charset="?([^";]+)/i.exec(got["content-type"] ?? "") ?? [];
  const encoding = { "utf-8": "utf8", "utf8": "utf8", "us-ascii": "utf8", "iso-8859-1": "latin1" }[
    charset.trim().toLowerCase()];
  if (!encoding) throw new Error(`The character set ${charset} of the response is not supported.`);
  const bytes = await this.helpers.getBinaryDataBuffer(0, "data");
  text = Buffer.from(bytes).toString(encoding).replace(/^\\uFEFF/, "");
}"""
"""The body of an answer as text: n8n hands it over as a file, or what it has read of it."""
_BODY = (
    "((v) => { if (/^\\s*[[{]/.test(v)) { try { return JSON.parse(v); } catch {} } "
    "return v.trim() ? v : null; })(text)"
)
"""The body of an answer; the connector of Camunda 8 reads JSON whatever its type is."""
_WHOLE = f"{{ status: answer.statusCode, headers: {_HEADERS}, body: {_BODY} }}"

_PARTS: dict[Part, str] = {
    "text": "text",
    "body": _BODY,
    "status": "answer.statusCode",
    "headers": _HEADERS,
    "message": 'String(answer.statusMessage ?? "")',
    "whole": _WHOLE,
    "error": (
        "answer.statusCode < 400 ? null : { code: String(answer.statusCode), message: "
        'answer.statusMessage || "[no reason]", variables: '
        f"{{ response: {{ headers: {_HEADERS}, body: {_BODY} }} }} }}"
    ),
}
"""Parts of the output of an HTTP Request node with the complete answer; `text` is its body."""

_OF_TEXT = ("text", "body", "whole", "error")
"""Parts that are made of the text of the body."""

_NEED = """\
const unset = {unset};
const need = (...names) => {{
  const name = names.find((one) => v[one] === undefined);
  if (name !== undefined) throw new Error(unset[name]);
}};
"""


MOMENT_OF = """\
const momentOf = (value) => {
  const text = typeof value === "string" ? value.trim() : "";
  const length = Duration.fromISO(text);
  if (length.isValid && length.toMillis() >= 0) return $now.plus(length).toISO();
  const found = DateTime.fromISO(text, { zone: $now.zone });
  if (!found.isValid || length.isValid) throw new Error(
    "The time to wait is no ISO 8601 date or duration: " + JSON.stringify(value));
  return found.toISO();
};"""
"""The end of a wait according to a value: a date as text, or a duration from now. A date without a
time zone is in the zone of the workflow."""

NEXT_MOMENT = """\
const nextMoment = (seconds, minutes, hours, days, months, weekdays, either) => {
  let day = $now.startOf("day");
  for (let passed = 0; passed < 3000; passed += 1) {
    const inMonth = days.includes(day.day), inWeek = weekdays.includes(day.weekday % 7);
    if (months.includes(day.month) && (either[0] ? inMonth || inWeek : inMonth && inWeek)) {
      for (const hour of hours) for (const minute of minutes) for (const second of seconds) {
        const found = day.set({ hour, minute, second });
        if (found > $now) return found.toISO();
      }
    }
    day = day.plus({ days: 1 });
  }
  throw new Error("The schedule to wait for has no further moment.");
};"""
"""The next moment of a cron expression by the values of its fields, in the zone of the workflow.
`either`: both days of the month and days of the week are limited, and one of them suffices."""


EACH = """\
const each = (values) => {
  if (!Array.isArray(values)) throw new Error("no list: " + JSON.stringify(values));
  return [...values];
};"""
"""The values of a list before the first of them is processed."""


FINITE = """\
const finite = (name, value) => {
  const check = (part) => {
    if (typeof part === "number" && !Number.isFinite(part)) throw new Error(
      `The value of “${name}” has ${part}, which JSON does not have.`);
    if (Object(part) === part) Object.values(part).forEach(check);
  };
  check(value);
  return value ?? null;
};"""
"""A value, unless it is a number that JSON does not have."""


WITH_PART = """\
const withPart = (whole, [name, ...names], value) => {
  const found = whole !== null && typeof whole === "object" && !Array.isArray(whole) ? whole : {};
  return { ...found, [name]: names.length ? withPart(found[name], names, value) : value };
};"""
"""A value with a part replaced; a value without parts is replaced as a whole."""


_TESTED = (
    methods.SIZE, methods.IS_EMPTY, methods.COUNT, methods.LENGTH, methods.HAS,
    methods.STARTS_WITH, methods.ENDS_WITH, methods.SAME_LETTERS, methods.CONCAT,
)  # fmt: skip
"""Methods that JavaScript does not refuse where Java does."""


def work_code(
    statements: Iterable[Statement],
    unset: Callable[[str], str],
    *,
    before: str | None = None,
    keep_locals: bool = False,
    answer: tuple[tuple[str, Part], ...] | None = None,
    given: str | None = None,
    key: str = "",
    called: bool = False,
    answers: Answers | None = None,
    narrow: bool = False,
    caught: bool = False,
) -> str:
    """The body of a Code node that applies statements to the incoming item.

    Args:
        statements: the statements in order.
        unset: the message of a run if a variable was never set.
        before: code for the item before the task, whose fields are also variables; the output of
            the task overrides them.
        keep_locals: whether variables local to the task are put on the item for its implementation.
        answer: for an external answer, the names of its parts; the item is then the one before the
            task.
        given: code for the input item of the task, if it has more fields.
        key: code for the key of a composed request.
        called: whether the incoming data were posted, under `body`.
        narrow: whether only the variables that the statements set are output.
        caught: whether an event catches the errors that the statements throw; variables that were
            set before are then output with the error.
        answers: the answers of a form; only the variables that the statements set are then output.

    Raises:
        Unsupported: a decision contains something that is not translated.
    """
    writer = _Writer(unset, key, caught)
    if answers is not None:
        return writer.code_of_form(tuple(statements), given or before, answers)
    if answer is not None:
        return writer.code_of_answer(tuple(statements), before, answer, given)
    return writer.code(tuple(statements), before, keep_locals, called, narrow)


def _list_results(tree: Tree) -> Iterator[str]:
    """What the value of a tree may be: a `number` that was calculated, or a `part` of a value,
    which may be undefined."""
    match tree:
        case Variable(path):
            if len(path) > 1:
                yield "part"
        case Call(methods.ENTRY | feel_operators.PART | feel_operators.ITEM):
            yield "part"
        case Conditional() | Logical():
            for operand in tree.operands[-2:]:
                yield from _list_results(operand)
        case Arithmetic() | Negative():
            if kind_of(tree) != "text":
                yield "number"
        case Call(methods.LIST | methods.MAP):
            yield from (r for part in tree.operands for r in _list_results(part) if r == "number")


class Answers(NamedTuple):
    """The answers of a person.

    Attributes:
        code: JavaScript for them by variables, for the input (`form`).
        blank: variables that are null if they were neither answered nor set before.
        cleared: those that are null if they were not answered, since the page showed their value.
        unsent: code that is true if the input is not an answer.
    """

    code: str
    blank: tuple[str, ...]
    cleared: tuple[str, ...]
    unsent: str


def mapping_code(
    values: Iterable[tuple[str, Tree]], unset: Callable[[str], str], *, every: bool
) -> str:
    """The body of a Code node that builds an item from independent values; `every`: merged over the
    incoming item. A variable that is used unchanged may be missing."""
    writer = _Writer(unset, "")
    body: list[str] = []
    fields = ["...item"] if every else []
    for name, value in values:
        if isinstance(value, Variable):
            body += writer.fits(value, "")
        else:
            body += writer.needs(value, frozenset(), "")
        fields.append(f"{_write_key(name)}: {writer.tree(value)}")
    lines = [
        "const item = $input.first().json;",
        "const v = Object.assign(Object.create(null), item);",
    ]
    return writer.whole(lines, body, fields)


class _Writer:
    def __init__(self, unset: Callable[[str], str], key: str, caught: bool = False) -> None:
        self.unset = unset
        self.key = key
        self.caught = caught
        self.failed: list[str] = []
        """The fields that are output with an error that an event catches; empty if it is thrown."""
        self.before = "v"
        """What has the variables of the process alone, where what a task hands on has more."""
        self.locals: set[str] = set()
        self.asked: dict[str, None] = {}
        self.decisions: list[Decide] = []
        self.helpers: dict[str, str] = {}
        self.loops = 0

    def code(
        self,
        statements: tuple[Statement, ...],
        before: str | None,
        keep_locals: bool,
        called: bool = False,
        narrow: bool = False,
    ) -> str:
        self.before = "v" if before is None else "before"
        fields = [
            *([] if narrow else ["...item"]),
            *(f"{_write_key(n)}: {self.place(n, own=False)}" for n in _list_names(statements)),
        ]
        if self.caught:
            self.failed = [*fields]
        body = list(self.lines(statements, frozenset(), ""))
        if keep_locals and self.locals:
            fields.append("...own")
        sources = ["item"] if before is None else ["before", "item"]
        lines = [
            "const item = $input.first().json.body ?? $input.first().json;"
            if called
            else "const item = $input.first().json;",
            *([] if before is None else [f"const before = {before};"]),
            f"const v = Object.assign(Object.create(null), {', '.join(sources)});",
        ]
        if self.locals:
            lines.append("const own = Object.create(null);")
        return self.whole(lines, body, fields)

    def code_of_answer(
        self,
        statements: tuple[Statement, ...],
        before: str | None,
        answer: tuple[tuple[str, Part], ...],
        given: str | None,
    ) -> str:
        """As `code`, where parts of what comes in are known under names in the task only."""
        self.before = "item"
        self.locals.update(name for name, _ in answer)
        names = [f"{_write_key(n)}: {self.place(n, own=False)}" for n in _list_names(statements)]
        if self.caught:
            self.failed = ["...item", *names]
        body = list(self.lines(statements, frozenset(self.locals), ""))
        code = "\n".join(body)
        used = [(self.place(name, own=True), part) for name, part in answer]
        used = [(place, part) for place, part in used if place in code]
        parts = [f"{place} = {_PARTS[part]};" for place, part in used]
        lines = [
            "const answer = $input.first().json;",
            f"const item = {before or '{}'};",
            f"const v = Object.assign(Object.create(null), {given or 'item'});",
            "const own = Object.create(null);",
            *([_TEXT] if any(part in _OF_TEXT for _, part in used) else []),
            *parts,
        ]
        return self.whole(lines, body, ["...item", *names])

    def code_of_form(
        self, statements: tuple[Statement, ...], given: str | None, answers: Answers
    ) -> str:
        """As `code`, where a form was answered."""
        self.before = f"({given or '{}'})"
        body = list(self.lines(statements, frozenset(), ""))
        blank, cleared = (
            f"{answers.unsent} ? {{}} : {{ {nulls} }}"
            for names in (answers.blank, answers.cleared)
            for nulls in [", ".join(f"{_write_key(name)}: null" for name in names)]
        )
        lines = [
            "const form = $input.first().json;",
            f"const v = Object.assign(Object.create(null), {blank}, {given or '{}'}, {cleared});",
            f"const answers = {answers.code};",
            "for (const [name, value] of Object.entries(answers))",
            "  if (value !== undefined) v[name] = value;",
        ]
        if self.locals:
            lines.append("const own = Object.create(null);")
        fields = [f"{_write_key(n)}: {self.place(n, own=False)}" for n in _list_names(statements)]
        return self.whole(lines, body, fields)

    def whole(self, lines: list[str], body: list[str], fields: list[str]) -> str:
        """The code: what it needs, what it begins with, its statements, and what it hands on."""
        lines = [
            *self.helpers.values(),
            *(
                print_decision(decide.decision, f"decision{at}")
                for at, decide in enumerate(self.decisions)
            ),
            *lines,
        ]
        if self.asked:
            messages = {name: self.unset(name) for name in self.asked}
            shown = json.dumps(messages, ensure_ascii=False, indent=2)
            lines.append(_NEED.format(unset=shown).rstrip())
        return "\n".join([*lines, *body, f"return [{{ json: {{ {', '.join(fields)} }} }}];", ""])

    def lines(
        self, statements: Iterable[Statement], known: frozenset[str], indent: str
    ) -> Iterator[str]:
        for statement in statements:
            match statement:
                case Assign(name, value, local, part):
                    yield from self.needs(value, known, indent)
                    code = self.held(name, value)
                    if part:
                        self.helpers.setdefault("withPart", WITH_PART)
                        # What a task is given begins with nothing but what was given before.
                        whole = self.place(name, own=local)
                        if local and name not in self.locals:
                            whole = "undefined"
                        elif not local and name not in known:
                            whole = whole.replace("v", self.before, 1)
                        code = f"withPart({whole}, {json.dumps(part)}, {code})"
                    if local:
                        self.locals.add(name)
                    yield f"{indent}{self.place(name, own=local)} = {code};"
                    known |= {name}
                case Evaluate(value):
                    yield from self.needs(value, known, indent)
                case Throw(code, None):
                    yield from self.thrown(js_string(code), indent)
                case Throw(code, message):
                    assert message is not None
                    yield from self.needs(message, known, indent)
                    text = f"{js_string(f'{code}: ')} + (({self.tree(message)}) ?? '')"
                    yield from self.thrown(text, indent)
                case Fail(message):
                    yield from self.needs(message, known, indent)
                    if statement.bpmn:
                        yield from self.thrown(self.tree(message), indent)
                    else:
                        yield f"{indent}throw new Error({self.tree(message)});"
                case Compose(name, values):
                    for _, value in values:
                        yield from self.needs(value, known, indent)
                    code = self.composed(values)
                    self.locals.add(name)
                    yield f"{indent}{self.place(name, own=True)} = {code};"
                    known |= {name}
                case When(condition, then, otherwise):
                    yield from self.needs(condition, known, indent)
                    yield f"{indent}if ({self.tree(condition)}) {{"
                    yield from self.lines(then, known, indent + "  ")
                    if otherwise:
                        yield f"{indent}}} else {{"
                        yield from self.lines(otherwise, known, indent + "  ")
                    yield f"{indent}}}"
                    both = (frozenset(assigned(branch, local=None)) for branch in (then, otherwise))
                    known |= frozenset.intersection(*both)
                case Each(name, values, inner):
                    yield from self.needs(values, known, indent)
                    self.helpers.setdefault("each", EACH)
                    self.loops += 1
                    item = f"item{self.loops}"
                    yield f"{indent}for (const {item} of each({self.tree(values)})) {{"
                    self.locals.add(name)
                    yield f"{indent}  {self.place(name, own=True)} = {item};"
                    yield from self.lines(inner, known | {name}, indent + "  ")
                    yield f"{indent}}}"
                case Until(name, value):
                    yield from self.needs(value, known, indent)
                    code = self.tree(value)
                    self.locals.add(name)
                    self.helpers.setdefault("momentOf", MOMENT_OF)
                    yield f"{indent}{self.place(name, own=True)} = momentOf({code});"
                    known |= {name}
                case NextMoment(name, schedule):
                    self.locals.add(name)
                    self.helpers.setdefault("nextMoment", NEXT_MOMENT)
                    from orgflow.backends.n8n.node_types.schedule_trigger import cron_sets

                    fields = ", ".join(map(str, map(list, cron_sets(schedule))))
                    yield f"{indent}{self.place(name, own=True)} = nextMoment({fields});"
                    known |= {name}
                case Decide():
                    yield from self.decide(statement, known, indent)
                    known |= frozenset(statement.names) if statement.always else frozenset()
                case _:
                    assert_never(statement)

    def thrown(self, message: str, indent: str) -> Iterator[str]:
        """Lines that throw an error of the process. n8n drops what a Code node that throws has
        computed, so one whose error is caught outputs the variables with the error instead: n8n
        takes an item that has these two fields and no other one for a failed one."""
        if not self.failed:
            yield f"{indent}throw new Error({message});"
            return
        yield (
            f"{indent}return [{{ json: {{ error: {message}, "
            f"message: {{ {', '.join(self.failed)} }} }} }}];"
        )

    def needs(self, tree: Tree, known: frozenset[str], indent: str) -> Iterator[str]:
        """Lines that stop the run if a variable that is read next was never set, or has another
        type than it must have (`fits`)."""
        for need in list_needs([tree], null_tested([tree]), in_turn=False):
            names = [n for n in need.names if n not in known]
            if names:
                guards = [
                    self.tree(guard) if truth else f"!({self.tree(guard)})"
                    for guard, truth in need.guards
                ]
                when = f"if ({' && '.join(guards)}) " if guards else ""
                yield f"{indent}{when}{self.need(names)}"
        yield from self.fits(tree, indent)

    def fits(self, tree: Tree, indent: str) -> Iterator[str]:
        """Lines that stop the run if a value has a type that its language does not convert as
        JavaScript does."""
        for guards_of, call in list_method_calls([tree], in_turn=False):
            if call.operation in _TESTED:
                test = print_guarded_test(guards_of, unfit_call(call, self.variable), self.variable)
                message = js_string(unfit_call_text(call))
                yield f"{indent}if ({test}) throw new Error({message});"
        for demand in demands([tree], in_turn=False):
            test = print_guarded_test(
                demand.guards, print_unfit_test(demand, self.variable), self.variable
            )
            yield f"{indent}if ({test}) throw new Error({js_string(unfit_text(demand))});"

    def need(self, names: Iterable[str]) -> str:
        names = list(names)
        self.asked.update(dict.fromkeys(names))
        return f"need({', '.join(map(js_string, names))});"

    def composed(self, values: Iterable[tuple[tuple[str, ...], Tree]]) -> str:
        """An object of values by their paths."""
        inside: dict[str, str | dict[str, str]] = {}
        for path, value in values:
            if len(path) == 1:
                inside[path[0]] = self.tree(value)
                continue
            inner = inside.setdefault(path[0], {})
            assert isinstance(inner, dict)
            inner[path[1]] = self.tree(value)
        fields = []
        for name, code in inside.items():
            if isinstance(code, dict):
                pairs = ", ".join(f"{js_string(key)}: {text}" for key, text in code.items())
                code = f"{{ {pairs} }}"
            fields.append(f"{name}: {code}")
        if self.key:
            fields.append(f"key: {self.key}")
        return f"{{ {', '.join(fields)} }}"

    def tree(self, tree: Tree) -> str:
        code = to_js(tree, self.variable)
        java_text = function_text("javaText") if ", double) => {" in code else ""
        if java_text and java_text in code:
            self.helpers.setdefault("javaText", f"const javaText = {java_text};")
            code = code.replace(f"({java_text})", "javaText")
        return code

    def held(self, name: str, value: Tree) -> str:
        """Code for a value that a variable gets: JSON has neither undefined nor infinite numbers
        and no NaN."""
        code = self.tree(value)
        kinds = set(_list_results(value))
        if "number" in kinds:
            self.helpers.setdefault("finite", FINITE)
            return f"finite({js_string(name)}, {code})"
        return f"{code} ?? null" if "part" in kinds else code

    def variable(self, path: Path) -> str:
        """Code that reads a variable, or a part of it."""
        code = self.place(path[0], own=path[0] in self.locals)
        for part in path[1:]:
            code += f"?.{part}" if _IDENTIFIER.fullmatch(part) else f"?.[{js_string(part)}]"
        return code

    def place(self, name: str, *, own: bool) -> str:
        root = "own" if own else "v"
        if _IDENTIFIER.fullmatch(name):
            return f"{root}.{name}"
        return f"{root}[{js_string(name)}]"

    # -- decisions -----------------------------------------------------------------------------

    def decide(self, step: Decide, known: frozenset[str], indent: str) -> Iterator[str]:
        decision = step.decision
        asked = [n for n in decision.variables if n not in known and n not in decision.tested]
        if asked:
            yield f"{indent}{self.need(asked)}"
        at = len(self.decisions)
        self.decisions.append(step)
        given = ", ".join(f"{_write_key(n)}: {self.variable((n,))}" for n in decision.variables)
        call = f"decision{at}({{ {given} }})" if given else f"decision{at}({{}})"
        if step.local:
            self.locals.update(step.names)
        place = self.place(step.result, own=step.local)
        single = (
            _write_key(decision.outputs[0] or decision.name) if len(decision.outputs) == 1 else ""
        )
        if step.spread:
            yield f"{indent}const hit{at} = {call};"
            for name in decision.outputs:
                value = f"hit{at}" if single else f"hit{at}[{js_string(name)}]"
                target = self.place(name, own=step.local)
                yield f"{indent}if (hit{at} !== null) {target} = {value};"
            return
        if step.mapping == "value" or (
            step.mapping == "singleEntry" and decision.hits != "several"
        ):
            yield f"{indent}{place} = {call};"
            return
        hits = f"hits{at}"
        rows = (
            f"{call} ?? []"
            if decision.hits == "several"
            else f"[{call}].filter((hit) => hit !== null)"
        )
        yield f"{indent}const {hits} = {rows};"
        if step.mapping in ("singleEntry", "singleResult"):
            message = js_string(
                f"The decision “{decision.name}” has several results, but one is expected."
            )
            yield f"{indent}if ({hits}.length > 1) throw new Error({message});"
        named = f"{{ {single}: hit }}" if single else "hit"
        match step.mapping:
            case "collectEntries":
                value = hits
            case "singleEntry":
                value = f"{hits}[0] ?? null"
            case "singleResult":
                value = f"{hits}.map((hit) => ({named}))[0] ?? null"
            case _:
                value = f"{hits}.map((hit) => ({named}))"
        yield f"{indent}{place} = {value};"


def _list_names(statements: Iterable[Statement]) -> list[str]:
    """Variables that the item gets, each once."""
    return list(dict.fromkeys(assigned(statements)))


def _write_key(name: str) -> str:
    return name if _IDENTIFIER.fullmatch(name) else js_string(name)
