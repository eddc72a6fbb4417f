"""The computable part of the work of a task, as defined by its binding."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from orgflow_ir.decisions.found import Unusable
from orgflow_ir.decisions.library import DecisionLibrary, DecisionReader
from orgflow_ir.flow.control_flow.calls import variable_in
from orgflow_ir.model import CallActivity, Event, Task
from orgflow_ir.model.bindings import (
    CATALOGUE,
    AnyBinding,
    Decision,
    Form,
    Http,
    Listener,
    Mail,
    Parameter,
    Script,
    SubProcessCall,
    Worker,
)
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext
from orgflow_ir.program.syntax import (
    ConditionError,
    Constant,
    Tree,
    Variable,
    variables,
)
from orgflow_ir.program.syntax import Path as VariablePath
from orgflow_ir.work.listeners import InOrder, in_order, surrounds_mappings
from orgflow_ir.work.mappings import language_of, read_value, target_of, variable_name
from orgflow_ir.work.messages import FIELDS, Message, read_message
from orgflow_ir.work.operations import GIVEN, CatalogueOperation, read_operation
from orgflow_ir.work.process_variables import declared_by
from orgflow_ir.work.requests import CONFIG, Request, read_request
from orgflow_ir.work.scripts import (
    as_value,
    decimals_in,
    read_call,
    read_listener,
    read_nested,
    read_script,
)
from orgflow_ir.work.statements import (
    Assign,
    Compose,
    Decide,
    Each,
    Evaluate,
    Needed,
    Statement,
    When,
    assigned,
    read,
)

_CODE = ("script", "expression")
"""Listeners that define their own action."""

_SETTINGS = ("connector", "handler", "n8n", CATALOGUE)
"""Workers whose inputs are not mappings of process variables."""

SENT = "_sent"
"""The field of the item that holds the parts of a request or mail."""


KEY_HEADER = "Idempotency-Key"
"""The header that identifies a request across retries (draft-ietf-httpapi-
idempotency-key-header)."""

Act = Request | Message | CatalogueOperation
"""The external action of a task."""


class Unread(NamedTuple):
    """An unsupported part of a binding: its kind, its text, and the reason."""

    what: str
    text: str
    reason: str


class Work(NamedTuple):
    """The computation of a task.

    Attributes:
        before: input mappings and listeners at the start.
        steps: the work of the task; `None` if it is done outside the process.
        after: listeners at the end and output mappings.
        act: the request, mail or operation that does the work.
        unread: the unsupported parts. `work_by` computes nothing if there are any.
    """

    before: tuple[Statement, ...] = ()
    steps: tuple[Statement, ...] | None = None
    after: tuple[Statement, ...] = ()
    unread: tuple[Unread, ...] = ()
    act: Act | None = None

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All statements in order."""
        return (*self.before, *(self.steps or ()), *self.after)

    def reads(self) -> Iterator[Needed]:
        """Process variables that it reads, in order, with repetitions."""
        if not isinstance(self.act, Request):
            yield from read(self.statements)
            return
        yield from read(self.before)
        known = {*assigned(self.before, local=None), *(name for name, _ in self.act.answer)}
        yield from read(self.after, frozenset(known))


def work_of(
    task: Task, library: DecisionLibrary | None, decimals: frozenset[str] = frozenset()
) -> Work:
    """The computation of a task; `library` contains the decisions that it may refer to, `decimals`
    are variables that may hold a decimal of Groovy."""
    return Work() if task.binding is None else work_by(task.binding, library, task.id, decimals)


def work_by(
    binding: AnyBinding,
    library: DecisionLibrary | None,
    task: str = "",
    decimals: frozenset[str] = frozenset(),
) -> Work:
    """The computation of a task with this binding and the id `task`."""
    reading = _Reading(binding, library, task, decimals)
    act = reading.act()
    called = in_order(binding)
    first, around = list(reading.listeners(called, called.before)), surrounds_mappings(called)
    before = [*first, *reading.inputs()] if around else [*reading.inputs(), *first]
    if act is not None:
        values = tuple(_computed_parts(act))
        # A request that must not be made twice is prepared before it is sent, so that it can be
        # recognised when it is sent again.
        before += [Compose(SENT, values)] if values or is_keyed(act) else []
    steps = reading.steps()
    last = list(reading.listeners(called, called.after))
    after = [*reading.outputs(), *last] if around else [*last, *reading.outputs()]
    if isinstance(act, Request):
        after = [*act.after, *after]
    others = [listener for listener in binding.listeners if listener.by not in _CODE]
    if steps is not None or act is not None:
        for listener in others:
            reading.unread.append(
                Unread("listener", listener.target, "its code is not in the model")
            )
        # Camunda 7 calls listeners at the end, then does the output mappings of the task; those of
        # a connector it does before, and nothing here tells the two apart.
        if act is not None and binding.outputs and called.after and not around:
            text = called.after[0].target
            reason = "its order relative to the output mapping of the connector is unknown"
            reading.unread.append(Unread("listener", text, reason))
    unread = tuple(reading.unread)
    if unread:
        return Work(unread=unread)
    locals_ = frozenset(assigned(before, local=True))
    if steps is not None:
        if binding.result and any(p.language == "feel" for p in binding.outputs):
            locals_ |= {binding.result}  # Camunda 8 merges its output mappings only
        steps = list(_in_scope(steps, locals_))
    return Work(tuple(before), None if steps is None else tuple(steps), tuple(after), (), act)


_ONLY_MAPPED = ("feel", "variable")


_QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")
_IN_BRACES = re.compile(r"[$#]\{([^{}]*)\}")
_MENTIONED = re.compile(r"(?<![\w.$])([A-Za-z_]\w*)(?![\w$])(?!\s*[.(\[])")
_WORDS = frozenset(
    ("true", "false", "null", "empty", "and", "or", "not", "eq", "ne", "lt", "gt", "le", "ge",
     "div", "mod", "instanceof", "execution", "task")
)  # fmt: skip
_AFTERWARDS = frozenset(("outputs", "listeners", "result"))


def mentioned(binding: AnyBinding) -> tuple[str, ...]:
    """Variables that the `${…}` expressions of a binding mention alone, also in calls of methods
    that are not supported: work that somebody else implements receives them."""
    names: dict[str, None] = {}

    def collect(value: object) -> None:
        if isinstance(value, str):
            for inner in _IN_BRACES.findall(_QUOTED.sub("''", value)):
                names.update(dict.fromkeys(_MENTIONED.findall(inner)))
        elif isinstance(value, tuple):
            for part in value:
                collect(part)
        elif isinstance(value, Parameter):
            collect(value.text)

    for field in dataclasses.fields(binding):
        if field.name not in _AFTERWARDS:
            collect(getattr(binding, field.name))
    return tuple(name for name in names if name not in _WORDS)


def only_mapped(binding: AnyBinding) -> bool:
    """Whether variables leave a task or event only through its output mappings: with FEEL mappings
    of Camunda 8, and with jBPM's data outputs."""
    return any(p.language in _ONLY_MAPPED for p in binding.outputs)


class MappingRead(NamedTuple):
    """A variable that a mapping of an activity reads: the side, and the part of the variable."""

    side: Literal["input", "output"]
    path: VariablePath


def _as_evaluations(mappings: Iterable[tuple[str, Tree]]) -> list[Statement]:
    return [Evaluate(value) for _, value in mappings]


class CallMappings(NamedTuple):
    """The inputs and outputs of a call: the variable, and its value. Values of `inputs` belong to
    the calling process, those of `outputs` to the called one."""

    inputs: tuple[tuple[str, Tree], ...] = ()
    outputs: tuple[tuple[str, Tree], ...] = ()
    unread: tuple[Unread, ...] = ()


def call_mappings(call: CallActivity | Task) -> CallMappings:
    """The mappings of a call, and their unsupported parts."""
    if call.binding is None:
        return CallMappings()
    reading = _Reading(call.binding, None)
    inputs = tuple(reading.of_call(call.binding.inputs))
    outputs = tuple(reading.of_call(call.binding.outputs))
    return CallMappings(inputs, outputs, tuple(reading.unread))


def mapping_reads(node: Task | CallActivity | Event) -> Iterator[MappingRead]:
    """The variables that supported mappings of a task or call read and that nothing in the same
    activity sets, except those tested for null or empty. The output mapping of a call reads
    variables of the called process."""
    binding = node.binding
    if binding is None or not (binding.inputs or binding.outputs):
        return
    reading = _Reading(binding, None)
    if isinstance(node, CallActivity):
        before = _as_evaluations(reading.of_call(binding.inputs))
        after = _as_evaluations(reading.of_call(binding.outputs))
        known = frozenset[str]()
    else:
        before, after = [*reading.inputs()], [*reading.outputs()]
        known = frozenset((*assigned(before, local=None), *declared_by(node, mapped=False)))
        act = reading.act()
        if _brings_values(node):
            after = []
        elif isinstance(act, Request):
            known |= {name for name, _ in act.answer}
        elif isinstance(binding, Http) or isinstance(act, CatalogueOperation):
            after = []  # what comes back is not known
        if isinstance(binding, Decision):
            known |= {"decisionResult"}
    reads = [MappingRead("input", n.path) for n in read(before) if not n.tested]
    reads += [MappingRead("output", n.path) for n in read(after, known) if not n.tested]
    yield from dict.fromkeys(reads)


def _brings_values(node: Task | Event) -> bool:
    """Whether somebody brings what the output mapping of an element reads: who sends a message or
    an error, or fills in a form, which asks for what its mapping reads where the model defines no
    fields."""
    if isinstance(node, Event):
        return True
    asked = isinstance(node.binding, Form) and not node.binding.fields
    return node.task_type == "receive" or (asked and node.task_type in ("user", "manual"))


def is_keyed(act: Act) -> bool:
    """Whether a request has a new effect each time (RFC 9110, 9.2.2), so that the receiver must
    distinguish a retry from a new request; not if the request already identifies itself."""
    return (
        isinstance(act, Request)
        and act.method in ("POST", "PATCH")
        and not any(name.lower() == KEY_HEADER.lower() for name, _ in act.headers)
    )


def sent(act: Act) -> Iterator[tuple[tuple[str, ...], Tree]]:
    """All values that are sent, each with its path in the composed object."""
    if isinstance(act, Message):
        parts = ((name, getattr(act, name)) for name in FIELDS)
        yield from (((name,), tree) for name, tree in parts if tree is not None)
        return
    if isinstance(act, CatalogueOperation):
        yield from (((GIVEN, path), tree) for path, tree in act.inputs)
        return
    yield ("url",), act.url
    if act.media is not None:
        yield ("type",), act.media
    for name, pairs, whole in (
        ("headers", act.headers, act.all_headers),
        ("query", act.query, act.all_query),
    ):
        if whole is not None:
            yield (name,), whole
        yield from (((f"{name}Given" if whole is not None else name, n), t) for n, t in pairs)
    if act.body is not None:
        yield ("body",), act.body


def _computed_parts(act: Act) -> Iterator[tuple[tuple[str, ...], Tree]]:
    """What of it shows in a run only."""
    for path, tree in sent(act):
        if not (isinstance(tree, Constant) and isinstance(tree.value, str)):
            yield path, tree


def library_of(ctx: PassContext) -> DecisionLibrary | None:
    """The decisions next to the compiled model, and those of files passed to the command; `None` if
    none are read."""
    file = (ctx.source.source if ctx.source is not None else "") or ctx.file
    if ctx.registry is None or not file or file.startswith("<"):
        return None
    reader = next(
        (f for f in ctx.registry.frontends.values() if isinstance(f, DecisionReader)), None
    )
    if reader is None:
        return None
    return DecisionLibrary(Path(file).parent, reader, Path(file).name, tuple(ctx.given))


def library_for(task: Task, ctx: PassContext) -> DecisionLibrary | None:
    """The decisions that a task may refer to; a process of another file has those next to it."""
    library: DecisionLibrary | None = ctx.analysis(library_of, ctx)
    file = task.loc.file if task.loc is not None else ""
    return library.near(file) if library is not None and file else library


def read_task_work(task: Task, ctx: PassContext) -> Work:
    """The computation of a task of the compiled model: with the decisions that it may refer to, and
    the decimals that scripts of the model may set."""
    if task.binding is None:
        return Work()
    # Files are read for a model that refers to a decision, once.
    library = library_for(task, ctx) if isinstance(task.binding, Decision) else None
    return work_of(task, library, _read_decimals(task.binding, ctx))


def _read_decimals(binding: AnyBinding, ctx: PassContext) -> frozenset[str]:
    """Variables that may hold a decimal of Groovy when code of a binding reads them."""
    languages = [listener.language for listener in binding.listeners]
    languages += [binding.language] if isinstance(binding, Script) else []
    is_groovy = any("groovy" in (language or "").lower() for language in languages)
    if ctx.source is None or not is_groovy:
        return frozenset()
    decimals: frozenset[str] = ctx.analysis(decimals_in, ctx.source)
    return decimals


def _in_scope(statements: Iterable[Statement], locals_: frozenset[str]) -> Iterator[Statement]:
    """The same statements, where what is known in the task only stays there."""
    for statement in statements:
        match statement:
            case Assign(name, _, False) if name in locals_:
                yield statement._replace(local=True)
            case When(_, then, otherwise):
                yield statement._replace(
                    then=tuple(_in_scope(then, locals_)),
                    otherwise=tuple(_in_scope(otherwise, locals_)),
                )
            case Each(_, _, body):
                yield statement._replace(body=tuple(_in_scope(body, locals_)))
            case Decide(_, result, _, False) if result in locals_:
                yield statement._replace(local=True)
            case _:
                yield statement


class _Reading:
    """Reads the parts of one binding; what is not supported is kept with the reason."""

    def __init__(
        self,
        binding: AnyBinding,
        library: DecisionLibrary | None,
        task: str = "",
        decimals: frozenset[str] = frozenset(),
    ) -> None:
        self.binding, self.library, self.task = binding, library, task
        self.decimals = decimals
        self.unread: list[Unread] = []

    def inputs(self) -> Iterator[Statement]:
        if isinstance(self.binding, Worker) and self.binding.by in _SETTINGS:
            return  # settings of what does the task
        if isinstance(self.binding, Http) and self.binding.by in ("camunda", "jbpm"):
            own = self.binding.inputs
            scripts = ("payload", "url", "method", "headers")
            others = [p for p in own if not (p.language and p.name in scripts)]
            if self.binding.by == "camunda":  # inputs of a connector are known in its other inputs
                others += [
                    Parameter(name=name, text=text)
                    for name, text in self.binding.parameters
                    if name not in CONFIG
                ]
            yield from self.parameters(others, "input mapping", local=True)
            return
        yield from self.parameters(self.binding.inputs, "input mapping", local=True)

    def outputs(self) -> Iterator[Statement]:
        if isinstance(self.binding, Worker) and self.binding.by == "connector":
            return
        if isinstance(self.binding, Http) and self.binding.by == "jbpm":
            return  # they are what its answer has
        if isinstance(self.binding, SubProcessCall):
            yield from self.taken_from_call()
            return
        yield from self.parameters(self.binding.outputs, "output mapping", local=False)

    def parameters(
        self, parameters: Iterable[Parameter], what: str, *, local: bool
    ) -> Iterator[Statement]:
        for parameter in parameters:
            try:
                if parameter.language == "nested":
                    value = read_nested(parameter.text)
                elif parameter.language and parameter.language not in (
                    "feel",
                    "variable",
                    "list",
                    "map",
                ):
                    value = as_value(read_script(parameter.text, parameter.language, sets=False))
                else:
                    language = parameter.language or language_of(
                        parameter.text, _find_vendor(self.binding)
                    )
                    value = read_value(parameter.text, language)
                # Of Camunda 8's targets each point begins an entry.
                parts = parameter.language == "feel" or _find_vendor(self.binding) == "zeebe"
                name, part = target_of(parameter.name, parts=parts)
                yield Assign(name, value, local, part)
            except ConditionError as error:
                self.unread.append(Unread(f"{what} `{parameter.name}`", parameter.text, str(error)))

    def taken_from_call(self) -> Iterator[Statement]:
        """What a task that stands for a call takes from what is in the place of the process. All
        mappings read the variables of the process, so none may read what another one sets."""
        assigned_names: set[str] = set()
        for name, value in self.of_call(self.binding.outputs):
            again = sorted(assigned_names & {path[0] for path in variables(value)})
            if again:
                reason = f"it reads `{again[0]}`, which an earlier mapping sets"
                self.unread.append(Unread(f"output mapping `{name}`", "", reason))
            assigned_names.add(name)
            yield Assign(name, value, local=False)

    def of_call(self, parameters: Iterable[Parameter]) -> Iterator[tuple[str, Tree]]:
        """Mappings of a call: what becomes of which variable. A name stands for the variable, and
        no other mapping of the call is seen by one."""
        known: set[str] = set()
        for parameter in parameters:
            taken = variable_in(parameter)
            if taken is None and parameter.language != "constant":
                for read in self.parameters([parameter], "mapping", local=True):
                    assert isinstance(read, Assign)
                    again = sorted(known & {path[0] for path in variables(read.value)})
                    if parameter.language == "feel" and again:  # Camunda 8 takes them one by one
                        reason = f"it reads `{again[0]}`, which an earlier mapping sets"
                        self.unread.append(
                            Unread(f"mapping `{parameter.name}`", parameter.text, reason)
                        )
                        continue
                    if read.part:
                        reason = f"`{parameter.name}` is a part of a variable"
                        self.unread.append(
                            Unread(f"mapping `{parameter.name}`", parameter.text, reason)
                        )
                        continue
                    yield read.name, read.value
            else:
                value = Constant(parameter.text) if taken is None else Variable((taken,))
                try:
                    yield variable_name(parameter.name), value
                except ConditionError as error:
                    self.unread.append(
                        Unread(f"mapping `{parameter.name}`", parameter.text, str(error))
                    )
            known.add(parameter.name)

    def listeners(self, called: InOrder, listeners: Iterable[Listener]) -> Iterator[Statement]:
        for listener in listeners:
            if listener.by not in _CODE:
                continue
            condition = called.condition(listener)
            if condition is None:
                yield from self.listener(listener)
            else:
                yield When(condition, tuple(self.listener(listener)), ())

    def beside(self, code: str) -> str:
        """The texts of the task beside a script of it, with the names of variables."""
        binding = self.binding
        mappings = (part for p in (*binding.inputs, *binding.outputs) for part in (p.name, p.text))
        settings = (part for pair in binding.parameters for part in pair)
        others = (listener.target for listener in binding.listeners if listener.target != code)
        own = binding.code if isinstance(binding, Script) and binding.code != code else ""
        texts = (*mappings, *settings, *others, own or "", binding.result or "")
        return "\n".join(texts)

    def check_scope(self, code: str) -> None:
        """Raises `ConditionError` where code sets a variable of the activity's own scope, which the
        engine has only for an activity with mappings: it is that of the scope around otherwise."""
        if "setVariableLocal(" in code and not (self.binding.inputs or self.binding.outputs):
            raise ConditionError("`setVariableLocal` sets a variable of the scope around the task")

    def listener(self, listener: Listener) -> Iterator[Statement]:
        try:
            self.check_scope(listener.target)
            if listener.by == "script":
                script = read_listener(listener, self.beside(listener.target), self.decimals)
            else:
                script = read_call(listener.target)
            yield from script.statements
        except ConditionError as error:
            self.unread.append(Unread("listener", listener.target, str(error)))

    def act(self) -> Act | None:
        """The request, mail or operation that the binding is about."""
        try:
            match self.binding:
                case Http():
                    return read_request(self.binding, self.task)
                case Mail():
                    return read_message(self.binding)
                case Worker():
                    return read_operation(self.binding)
        except ConditionError as error:
            words = {"http": "request", "mail": "mail"}
            what = words.get(self.binding.kind, "operation")
            self.unread.append(Unread(what, "", str(error)))
        return None

    def steps(self) -> list[Statement] | None:
        binding = self.binding
        match binding:
            case Script():
                return self.script(binding)
            case Decision():
                return self.decision(binding)
            case Worker(by="expression", target=str() as target):
                try:
                    self.check_scope(target)
                    script = read_call(target)
                    statements = list(script.statements)
                    if script.value is not None:
                        statements += _set_result(binding.result, script.value)
                except ConditionError as error:
                    self.unread.append(Unread("expression", target, str(error)))
                    return None
                return statements
            case Form() | Worker():
                return None
        return None

    def script(self, binding: Script) -> list[Statement] | None:
        if binding.code is None:
            text = binding.resource or ""
            self.unread.append(Unread("script", text, "it is in its own file"))
            return None
        try:
            self.check_scope(binding.code)
            script = read_script(
                binding.code, binding.language,
                sets=binding.stores, engine=binding.by, beside=self.beside(binding.code),
                decimals=self.decimals,
            )  # fmt: skip
            statements = list(script.statements)
            if script.value is not None:
                statements += _set_result(binding.result, script.value)
            elif binding.result:
                raise ConditionError("its value is not its last line")
        except ConditionError as error:
            self.unread.append(Unread("script", binding.code, str(error)))
            return None
        return statements

    def decision(self, binding: Decision) -> list[Statement] | None:
        reference = binding.decision
        if not reference:
            self.unread.append(Unread("decision", "", "the model does not name it"))
            return None
        if reference.startswith(("$", "#", "=")):
            self.unread.append(Unread("decision", reference, "it is only known at run time"))
            return None
        try:
            decision = self.library.find(reference) if self.library is not None else None
            if decision is None:
                raise Unusable(self.looked_for(reference))
            mapping = binding.mapping or "value"
            is_single = decision.hits == "value" or len(decision.outputs) == 1
            if mapping in ("singleEntry", "collectEntries") and not is_single:
                raise Unusable(f"`{mapping}` needs one output, and it has {len(decision.outputs)}")
            result = binding.result or ""
            local = False
            if mapping == "variables" and decision.hits != "several" and "" in decision.outputs:
                raise Unusable("an output without a name cannot become a variable")
            if not result:
                result = reference if mapping == "variables" else "decisionResult"
                local = mapping != "variables"
            for name in (result, *(decision.outputs if mapping == "variables" else ())):
                variable_name(name)
        except (Unusable, ConditionError) as error:
            self.unread.append(Unread("decision", reference, str(error)))
            return None
        return [Decide(decision, result, mapping, local)]

    def looked_for(self, reference: str) -> str:
        """What was looked for, and where."""
        if self.library is None:
            return f"no decision `{reference}` is known: files next to the model are not read here"
        files = [*self.library.files, *self.library.elsewhere]
        broken = [f"{name} cannot be read ({why})" for name, why in self.library.unreadable.items()]
        there = (
            f"none of {', '.join(files)} has a decision"
            if files
            else "there is no DMN file next to the model"
        )
        return "; ".join((f"{there} with the id or name `{reference}`", *broken))


def _find_vendor(binding: AnyBinding) -> str | None:
    """Whose texts the parameters of a binding are; empty where only their languages say it."""
    if isinstance(binding, Http | Mail):
        return binding.by
    # Camunda 8 alone has jobs, and scripts in FEEL.
    feel = isinstance(binding, Script) and (binding.language or "").lower() == "feel"
    return "zeebe" if feel or (isinstance(binding, Worker) and binding.by == "job") else ""


def _set_result(name: str | None, value: Tree) -> list[Statement]:
    return [Assign(variable_name(name), value)] if name else [Evaluate(value)]
