"""Links DMN definitions to typed expressions: resolves names, parses texts, converts boxed
expressions to trees.

Every boxed expression except a decision table has a FEEL notation, so evaluators and printers
handle only expressions: a boxed context whose last entry has no name becomes a path into a context,
an invocation a call with names, and a relation a list of contexts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TypeVar

from orgflow_ir.decisions.languages import is_feel, simple_language
from orgflow_ir.decisions.model import (
    Boxed,
    BoxedContext,
    BoxedFilter,
    BoxedFunction,
    BoxedIteration,
    BoxedList,
    BusinessKnowledge,
    Conditional,
    Decision,
    DecisionService,
    Definitions,
    InputData,
    Invocation,
    ItemDefinition,
    LiteralExpression,
    Relation,
    Table,
)
from orgflow_ir.languages.feel.parser import (
    FeelError,
    normal_name,
    parse_expression,
    parse_unary_tests,
)
from orgflow_ir.languages.feel.reading import EXTENSIONS, without_extensions
from orgflow_ir.model.records import dataclass
from orgflow_ir.program.feel.types import (
    ANY,
    SIMPLE_NAMES,
    ConstrainedType,
    ContextType,
    FunctionType,
    ListType,
    SimpleType,
    Type,
    find_converted_type,
)
from orgflow_ir.program.feel_operators import EXACT_LIST, FEEL
from orgflow_ir.program.structures import (
    AtLiteral,
    Coerced,
    ContextLiteral,
    DecisionTable,
    Entry,
    Filter,
    For,
    FunctionCall,
    FunctionDefinition,
    In,
    InstanceOf,
    Iteration,
    Parameter,
    Path,
    Quantified,
    RangeLiteral,
    TableInput,
    TableOutput,
    TableRule,
    UnaryTest,
    UnaryTests,
    parts,
    reads_input,
    with_children,
)
from orgflow_ir.program.syntax import (
    NOWHERE,
    Comparison,
    Constant,
    Logical,
    Negative,
    Node,
    Not,
    Span,
    Tree,
    Variable,
    is_operation,
)

_CONSTANTS: dict[str, type] = {"number": Decimal, "string": str, "boolean": bool}
"""Kinds of literals in an output column of a type, besides null."""

_CONVERTED = frozenset({"string", "boolean", "integer", "long", "double", "date"})
"""Types of input columns to which Camunda 7 converts
(`DefaultDataTypeTransformerRegistry`); values of other types stay as they are."""


_IN_JAVA = ("camunda7", "flowable")
"""Engines without default outputs, which ignore empty outputs when they aggregate."""


@dataclass(frozen=True)
class Problem:
    """Why an element cannot be used: `reason`, and for FEEL, the text and the position in it.
    `element` is the key of a unit, or the name of a type."""

    element: str
    reason: str
    text: str = ""
    span: Span = NOWHERE
    place: str = ""


@dataclass(frozen=True)
class Requirement:
    """A unit to which another one refers by name."""

    name: str
    key: str


@dataclass(frozen=True)
class Input:
    """An input, coerced to its type."""

    key: str
    name: str
    type: Type


@dataclass(frozen=True)
class Logic:
    """A decision, or business knowledge, whose tree is a function. A unit without a tree has a
    problem and cannot be evaluated."""

    key: str
    name: str
    tree: Tree | None
    requires: tuple[Requirement, ...]
    type: Type = ANY
    knowledge: bool = False


@dataclass(frozen=True)
class Service:
    """A decision service: a function of inputs and decisions (by key, in the order of its
    parameters); its value is the value of its output, or a context of several outputs."""

    key: str
    name: str
    parameters: tuple[Requirement, ...]
    outputs: tuple[Requirement, ...]
    type: Type


Unit = Input | Logic | Service


@dataclass(frozen=True)
class DecisionModel:
    """Linked definitions: units by key (`namespace#id`), and the problems of faulty ones."""

    name: str
    namespace: str
    units: dict[str, Unit]
    problems: tuple[Problem, ...]

    def named(self, name: str) -> Unit | None:
        """A decision, service, business knowledge or input of the file itself by its name, in
        this order."""
        own = [u for u in self.units.values() if u.key.startswith(f"{self.namespace}#")]
        wanted = normal_name(name)
        order = (_is_decision, lambda u: isinstance(u, Service), lambda u: True)
        for test in order:
            for unit in own:
                if unit.name == wanted and test(unit):
                    return unit
        return None


def _is_decision(unit: Unit) -> bool:
    return isinstance(unit, Logic) and not unit.knowledge


def link(definitions: Definitions, imported: Iterable[Definitions] = ()) -> DecisionModel:
    """Resolve and parse definitions together with those that they import.

    A fault of an element is a problem of the result, and the element has no tree.
    """
    files = (definitions, *imported)
    members: set[str] = set()
    for file in files:
        members.update(_member_names(file))
    # Keys of contexts in texts are names of members too, in other texts.
    while True:
        linker = _Linker(files, frozenset(members))
        units = linker.units()
        if linker.keys <= members:
            break
        members |= linker.keys
    return DecisionModel(
        definitions.name, definitions.namespace, units, tuple(dict.fromkeys(linker.problems))
    )


def _member_names(file: Definitions) -> Iterator[str]:
    stack = list(file.types)
    while stack:
        item = stack.pop()
        stack += item.components
        yield from (normal_name(component.name) for component in item.components)
    for table in _list_tables(file):
        yield from (normal_name(c.name) for c in table.outputs if c.name)
    for service in file.services:
        named = {decision.id: decision.name for decision in file.decisions}
        yield from (normal_name(named[i]) for i in service.outputs if i in named)


def _list_tables(file: Definitions) -> Iterator[Table]:
    logics: list[Boxed | None] = [d.logic for d in file.decisions]
    logics += [k.logic.body for k in file.knowledge if k.logic is not None]
    yield from (logic for logic in logics if isinstance(logic, Table))


class _Fault(Exception):
    """A problem of the element that is being linked."""

    def __init__(self, reason: str, text: str = "", span: Span = NOWHERE, place: str = "") -> None:
        super().__init__(reason)
        self.reason, self.text, self.span, self.place = reason, text, span, place


class _Linker:
    def __init__(self, files: Sequence[Definitions], members: frozenset[str]) -> None:
        self.files, self.members = files, members
        self.by_namespace = {file.namespace: file for file in files}
        self.problems: list[Problem] = []
        self.keys: set[str] = set()
        """Keys of contexts in the texts."""
        self.file = files[0]
        self.types: dict[str, Type] = {}
        self.variables = {
            key: normal_name(element.variable)
            for file in files
            for key, element in file.values()
            if element.variable
        }
        """Names of the variables of inputs and decisions, by key."""

    def units(self) -> dict[str, Unit]:
        units: dict[str, Unit] = {}
        names: dict[str, str] = {}
        for file in self.files:
            elements: Iterable[InputData | Decision | BusinessKnowledge | DecisionService] = (
                *file.inputs, *file.decisions, *file.knowledge, *file.services,
            )  # fmt: skip
            for element in elements:
                names[f"{file.namespace}#{element.id}"] = normal_name(element.name)
        for file in self.files:
            self.file = file
            self.types = self.known_types(file, ())
            for data in file.inputs:
                key = f"{file.namespace}#{data.id}"
                units[key] = Input(key, normal_name(data.name), self.input_type(data.type_ref, key))
            for decision in file.decisions:
                key = f"{file.namespace}#{decision.id}"
                units[key] = self.decision(decision, key, names)
            for knowledge in file.knowledge:
                key = f"{file.namespace}#{knowledge.id}"
                units[key] = self.knowledge(knowledge, key, names)
            for service in file.services:
                key = f"{file.namespace}#{service.id}"
                units[key] = self.service(service, key, names)
        return units

    # -- types ---------------------------------------------------------------------------------

    def known_types(self, file: Definitions, importers: tuple[str, ...]) -> dict[str, Type]:
        """Types by the names that a file uses for them, its imports' behind their prefix; those of
        files that import it, by their namespaces, are left out."""
        types: dict[str, Type] = {}
        around = (*importers, file.namespace)
        for import_ in file.imports:
            other = self.by_namespace.get(import_.namespace)
            if other is not None and import_.namespace not in around:
                for name, of in self.known_types(other, around).items():
                    types[normal_name(f"{import_.name}.{name}")] = of
        definitions = {normal_name(item.name): item for item in file.types}
        for name in definitions:
            try:
                types[name] = self.named_type(name, definitions, types, ())
            except _Fault as fault:
                self.report(name, fault)
        return types

    def named_type(
        self,
        name: str,
        definitions: dict[str, ItemDefinition],
        types: dict[str, Type],
        within: tuple[str, ...],
    ) -> Type:
        if name in types:
            return types[name]
        if name in within:
            raise _Fault(f"the type `{name}` contains itself")
        if name in definitions:
            return self.item_type(definitions[name], definitions, types, (*within, name))
        known = SIMPLE_NAMES.get(name.removeprefix("feel:"))
        if known is None:
            raise _Fault(f"there is no type `{name}`")
        return known

    def item_type(
        self,
        item: ItemDefinition,
        definitions: dict[str, ItemDefinition],
        types: dict[str, Type],
        within: tuple[str, ...],
    ) -> Type:
        def named(reference: str | None) -> Type:
            if reference is None:
                return ANY
            return self.named_type(normal_name(reference), definitions, types, within)

        result: Type
        if item.components:
            result = ContextType(
                tuple(
                    (normal_name(c.name), self.item_type(c, definitions, types, within))
                    for c in item.components
                )
            )
        elif item.function is not None:
            parameters, of = item.function
            result = FunctionType(tuple(named(p) for p in parameters), named(of))
        else:
            result = named(item.type_ref)
        if item.allowed is not None:
            result = ConstrainedType(result, self.tests(item.allowed, (), item.place))
        if item.collection:
            result = ListType(result)
        if item.type_constraint is not None:
            result = ConstrainedType(result, self.tests(item.type_constraint, (), item.place))
        return result

    def type(self, reference: str | None) -> Type:
        if reference is None:
            return ANY
        name = normal_name(reference)
        known = self.types.get(name) or SIMPLE_NAMES.get(name.removeprefix("feel:"))
        if known is None:
            raise _Fault(f"there is no type `{reference}`")
        return known

    def input_type(self, reference: str | None, element: str) -> Type:
        try:
            return self.type(reference)
        except _Fault as fault:
            self.report(element, fault)
            return ANY

    # -- units ---------------------------------------------------------------------------------

    def report(self, element: str, fault: _Fault, place: str = "") -> None:
        self.problems.append(
            Problem(element, fault.reason, fault.text, fault.span, fault.place or place)
        )

    def requirements(
        self, references: Iterable[str], names: dict[str, str]
    ) -> tuple[Requirement, ...]:
        result: list[Requirement] = []
        for reference in references:
            key = self.key(reference)
            if key not in names:
                raise _Fault(f"nothing has the id `{reference}`, which it requires")
            namespace = key.partition("#")[0]
            prefix = next(
                (i.name for i in self.file.imports if i.namespace == namespace and i.name), ""
            )
            own = namespace == self.file.namespace or not prefix
            result.append(
                Requirement(names[key] if own else normal_name(f"{prefix}.{names[key]}"), key)
            )
        return tuple(result)

    def key(self, reference: str) -> str:
        return reference if "#" in reference else f"{self.file.namespace}#{reference}"

    def decision(self, decision: Decision, key: str, names: dict[str, str]) -> Logic:
        name = normal_name(decision.name)
        try:
            requires = self.requirements((*decision.requires, *decision.knowledge), names)
            tree: Tree = Constant(None)
            if decision.logic is not None:
                variables = (self.variables.get(r.key, r.name) for r in requires)
                known = dict.fromkeys((*(r.name for r in requires), *variables))
                tree = self.boxed(decision.logic, tuple(known))
            of = self.result(decision.type_ref)
        except _Fault as fault:
            self.report(key, fault, decision.place)
            return Logic(key, name, None, ())
        return Logic(key, name, _coerce_tree(tree, of), requires, of)

    def knowledge(self, knowledge: BusinessKnowledge, key: str, names: dict[str, str]) -> Logic:
        name = normal_name(knowledge.name)
        try:
            requires = self.requirements(knowledge.knowledge, names)
            if knowledge.logic is None:
                raise _Fault("it has no logic")
            known = (*(r.name for r in requires), name)
            tree = self.function(knowledge.logic, known, self.result_type(knowledge.type_ref))
        except _Fault as fault:
            self.report(key, fault, knowledge.place)
            return Logic(key, name, None, (), knowledge=True)
        return Logic(key, name, tree, requires, knowledge=True)

    def result_type(self, reference: str | None) -> Type:
        """The type of a function's value; its variable may state that of the function itself."""
        type_ = self.type(reference)
        return type_.result if isinstance(type_, FunctionType) else type_

    def service(self, service: DecisionService, key: str, names: dict[str, str]) -> Unit:
        name = normal_name(service.name)
        try:
            given = self.requirements((*service.input_data, *service.input_decisions), names)
            outputs = self.requirements(service.outputs, names)
            result = self.result_type(service.type_ref)
        except _Fault as fault:
            self.report(key, fault, service.place)
            return Logic(key, name, None, (), knowledge=True)
        return Service(key, name, given, outputs, result)

    # -- boxed expressions ---------------------------------------------------------------------

    def boxed(self, box: Boxed, names: tuple[str, ...]) -> Tree:
        """A boxed expression as a tree, of its type where it states one."""
        return _coerce_tree(self.plain(box, names), self.type(box.type_ref))

    def plain(self, box: Boxed, names: tuple[str, ...]) -> Tree:
        match box:
            case LiteralExpression():
                return self.literal(box, names)
            case BoxedContext():
                return self.context(box, names)
            case BoxedList():
                return EXACT_LIST(*(self.boxed(item, names) for item in box.items))
            case Relation():
                return self.relation(box, names)
            case Invocation():
                bindings = [(normal_name(n), self.boxed(v, names)) for n, v in box.bindings]
                return FunctionCall(
                    self.boxed(box.function, names),
                    tuple(value for _, value in bindings),
                    tuple(name for name, _ in bindings) or None,
                )
            case BoxedFunction():
                return self.function(box, names, ANY)
            case Conditional():
                condition = self.boxed(box.condition, names)
                branches = (self.boxed(box.then, names), self.boxed(box.otherwise, names))
                return _null_unless(
                    _test_boolean(condition), FEEL.choice(condition, *branches), condition
                )
            case BoxedIteration():
                return self.iteration(box, names)
            case BoxedFilter():
                inner = (*names, "item", *sorted(self.members))
                base, condition = self.boxed(box.base, names), self.boxed(box.condition, inner)
                other = _call_function("not", _test_boolean(condition, numbers=True))
                count = _call_function("count", Filter(base, other))
                none = FEEL.comparison["=="](count, Constant(Decimal(0)))
                return _null_unless(none, Filter(base, condition), condition)
            case Table():
                return self.table(box, names)
        raise AssertionError(box)

    @property
    def extensions(self) -> tuple[str, ...]:
        """Functions that the engine of the file adds to those of FEEL."""
        return EXTENSIONS if self.file.engine in ("camunda7", "camunda8") else ()

    def literal(self, box: LiteralExpression, names: tuple[str, ...]) -> Tree:
        if box.language is None or is_feel(box.language):
            return self.expression(box.text, names, box.place)
        text = simple_language(box.text)
        if text is None:
            raise _Fault(f"the expression language `{box.language}` is not supported", box.text)
        return self.expression(text, names, box.place)

    def expression(self, text: str, names: tuple[str, ...], place: str) -> Tree:
        if not text.strip():
            return Constant(None)
        try:
            known = (*names, *self.extensions)
            tree = without_extensions(parse_expression(text, known, self.members, self.types))
        except FeelError as error:
            raise _Fault(error.reason, text, error.span, place) from None
        self.keys.update(part.key for part in parts(tree) if isinstance(part, Entry))
        return tree

    def tests(self, text: str, names: tuple[str, ...], place: str) -> UnaryTests:
        if not text.strip():
            return UnaryTests((), False)
        try:
            known = (*names, *self.extensions)
            return without_extensions(parse_unary_tests(text, known, self.members, self.types))
        except FeelError as error:
            raise _Fault(error.reason, text, error.span, place) from None

    def cell(
        self, text: str, names: tuple[str, ...], place: str, variable: str | None
    ) -> UnaryTests:
        """The tests of an input cell. In the engines of Camunda, an expression that is true is a
        match (feel-scala, `UnaryTestExpression`), and in Camunda 7, the input has a name."""
        read_tests = self.tests(text, names, place)
        engine = self.file.engine
        if engine == "camunda7":
            read_tests = _with_input(read_tests, variable or "cellInput")
        if engine not in ("camunda7", "camunda8") or read_tests.negated:
            return read_tests
        tests: list[UnaryTest] = []
        for test in read_tests.tests:
            if test.operator is None and not reads_input(test) and not _is_constant(test.operand):
                matched = FEEL.logic["and"](test.operand, _ANY_INPUT)
                tests.append(UnaryTest(None, matched, test.span))
            tests.append(test)
        return UnaryTests(tuple(tests), read_tests.negated, read_tests.span)

    def context(self, box: BoxedContext, names: tuple[str, ...]) -> Tree:
        entries: list[Entry] = []
        for entry in box.entries:
            value = _coerce_tree(self.boxed(entry.value, names), self.type(entry.type_ref))
            if entry.name is None:
                # No entry of FEEL has an empty name.
                return Path(ContextLiteral((*entries, Entry("", value))), "")
            name = normal_name(entry.name)
            entries.append(Entry(name, value))
            names = (*names, name)
        return ContextLiteral(tuple(entries))

    def relation(self, box: Relation, names: tuple[str, ...]) -> Tree:
        columns = [(normal_name(name), self.type(of)) for name, of in box.columns]
        rows = []
        for row in box.rows:
            if len(row) != len(columns):
                raise _Fault(f"a row has {len(row)} cells for {len(columns)} columns")
            cells = (
                _coerce_tree(self.boxed(cell, names), of)
                for cell, (_, of) in zip(row, columns, strict=True)
            )
            rows.append(
                ContextLiteral(
                    tuple(Entry(name, cell) for cell, (name, _) in zip(cells, columns, strict=True))
                )
            )
        return EXACT_LIST(*rows)

    def function(self, box: BoxedFunction, names: tuple[str, ...], result: Type) -> Tree:
        parameters = tuple(
            Parameter(normal_name(p.name), self.type(p.type_ref)) for p in box.parameters
        )
        if box.body is None:
            raise _Fault("the function has no body")
        body = self.boxed(box.body, (*names, *(p.name for p in parameters)))
        return FunctionDefinition(parameters, _coerce_tree(body, result), box.kind != "FEEL")

    def iteration(self, box: BoxedIteration, names: tuple[str, ...]) -> Tree:
        variable = normal_name(box.variable)
        over = (Iteration(variable, self.boxed(box.domain, names), None),)
        body = self.boxed(box.body, (*names, variable, "partial"))
        if box.kind == "for":
            return For(over, body)
        quantified = Quantified(box.kind, over, body)
        if box.kind == "every":
            return quantified
        return _null_unless(Quantified("every", over, _test_boolean(body)), quantified, body)

    def table(self, table: Table, names: tuple[str, ...]) -> Tree:
        self.check_aggregation(table)
        inputs = tuple(
            TableInput(
                self.literal(column.expression, names),
                # Engines do not test the predefined values of an input.
                self.tests(column.allowed, names, table.place)
                if column.allowed is not None and self.file.engine is None
                else None,
                self.conversion(column.expression.type_ref),
                self.written_type(column.expression.type_ref),
            )
            for column in table.inputs
        )
        outputs = tuple(
            TableOutput(
                normal_name(column.name or ""),
                self.result(column.type_ref),
                self.priorities(column.values, column.type_ref, names, table.place),
                None
                if column.default is None or self.file.engine in _IN_JAVA
                else self.expression(column.default, names, table.place),
            )
            for column in table.outputs
        )
        rules = []
        for rule in table.rules:
            if len(rule.tests) != len(inputs) or len(rule.entries) != len(outputs):
                raise _Fault("a rule does not have one cell for each column", place=rule.place)
            for text, language in rule.foreign:
                raise _Fault(
                    f"the expression language `{language}` is not supported", text, place=rule.place
                )
            rules.append(
                TableRule(
                    tuple(
                        self.cell(text, names, rule.place, column.variable)
                        for text, column in zip(rule.tests, table.inputs, strict=True)
                    ),
                    tuple(
                        self.conclusion(text, names, rule.place, column)
                        for text, column in zip(rule.entries, outputs, strict=True)
                    ),
                )
            )
        engine = self.file.engine
        if engine in _IN_JAVA and table.aggregation is not None:
            rules = [rule for rule in rules if rule.entries != (Constant(None),)]
        return DecisionTable(
            inputs, outputs, tuple(rules), table.hit_policy, table.aggregation, engine
        )

    def check_aggregation(self, table: Table) -> None:
        """Raises `_Fault` for a table whose outputs the engine of the file cannot aggregate."""
        engine, how = self.file.engine, table.aggregation
        if how is None or engine is None:
            return
        names = {"camunda7": "Camunda 7", "camunda8": "Camunda 8", "flowable": "Flowable"}
        if len(table.outputs) > 1 and (engine != "camunda8" or how != "COUNT"):
            raise _Fault(f"{names[engine]} aggregates one output only", place=table.place)
        if engine == "flowable" and table.outputs[0].type_ref != "number":
            raise _Fault("Flowable aggregates outputs of the type `number` only", place=table.place)

    def result(self, type_ref: str | None) -> Type:
        """The type of a result, which Camunda 8 neither tests nor converts."""
        return ANY if self.file.engine == "camunda8" else self.type(type_ref)

    def conversion(self, type_ref: str | None) -> str:
        """The type to which the engine converts the values of an input column."""
        known = self.file.engine == "camunda7" and type_ref in _CONVERTED
        return type_ref or "" if known else ""

    def written_type(self, type_ref: str | None) -> Type:
        """The type to which an input column converts texts; Camunda 7 has its own conversions."""
        if type_ref is None or self.file.engine == "camunda7":
            return ANY
        name = normal_name(type_ref)
        known = self.types.get(name) or SIMPLE_NAMES.get(name.removeprefix("feel:"))
        return ANY if known is None else find_converted_type(known)

    def conclusion(
        self, text: str, names: tuple[str, ...], place: str, column: TableOutput
    ) -> Tree:
        """A cell of an output column. A constant of another type than the column has is a fault:
        FEEL makes null of it, and engines convert it, each in its own way."""
        tree = self.entry(text, names, place)
        constant = tree.operand if isinstance(tree, Negative) else tree
        kind = column.type.name if isinstance(column.type, SimpleType) else ""
        if (
            isinstance(constant, Constant)
            and constant.value is not None
            and not isinstance(constant.value, _CONSTANTS.get(kind, object))
        ):
            name = f" `{column.name}`" if column.name else ""
            raise _Fault(f"it is not a {kind}, the type of the output{name}", text, place=place)
        return tree

    def entry(self, text: str, names: tuple[str, ...], place: str) -> Tree:
        return Constant(None) if text.strip() == "-" else self.expression(text, names, place)

    def priorities(
        self, values: str | None, type_ref: str | None, names: tuple[str, ...], place: str
    ) -> tuple[Tree, ...]:
        """The values of an output in their order; those of its type where it states none."""
        if values is not None:
            tests = self.tests(values, names, place)
        else:
            of = self.type(type_ref)
            if not isinstance(of, ConstrainedType):
                return ()
            tests = of.allowed
        return tuple(test.operand for test in tests.tests if test.operator is None)


def _test_boolean(condition: Tree, *, numbers: bool = False) -> Tree:
    """Whether a condition is true, false or null, or with `numbers` a position."""
    test: Tree = FEEL.logic["or"](
        FEEL.comparison["=="](condition, Constant(None)),
        InstanceOf(condition, SimpleType("boolean")),
    )
    return FEEL.logic["or"](test, InstanceOf(condition, SimpleType("number"))) if numbers else test


def _call_function(name: str, argument: Tree) -> Tree:
    return FunctionCall(Variable((name,)), (argument,), None)


def _null_unless(holds: Tree, value: Tree, condition: Tree) -> Tree:
    """The value of a boxed expression, null where its condition is neither true nor false (DMN 1.5,
    10.2.2.8 to 10.2.2.11). Operators that give truth values need no test."""
    if isinstance(condition, Comparison | Logical | Not | In | InstanceOf | Quantified) or (
        isinstance(condition, Constant) and isinstance(condition.value, bool)
    ):
        return value
    return FEEL.choice(holds, value, Constant(None))


def _coerce_tree(tree: Tree, of: Type) -> Tree:
    return tree if of == ANY else Coerced(tree, of)


_ANY_INPUT = FEEL.logic["or"](
    FEEL.comparison["=="](Variable(("?",)), Constant(None)),
    FEEL.comparison["!="](Variable(("?",)), Constant(None)),
)
"""True for every input; a test that contains it is a condition, not a value to compare with."""


def _is_constant(tree: Tree) -> bool:
    """Whether a cell compares its input with constants only."""
    return all(
        isinstance(part, Constant | AtLiteral | Negative | RangeLiteral)
        or is_operation(part, EXACT_LIST)
        for part in parts(tree)
    )


_N = TypeVar("_N", bound=Node)


def _with_input(tests: UnaryTests, name: str) -> UnaryTests:
    """Tests with `?` for a name of the input."""
    if not any(part.name == name for part in parts(tests) if isinstance(part, Variable)):
        return tests
    return _rename_node(tests, name)


def _rename_node(node: _N, name: str) -> _N:
    if isinstance(node, Variable):
        return Variable(("?",), node.span) if node.name == name else node  # type: ignore[return-value]
    return with_children(node, lambda child: _rename_node(child, name))
