"""The content of a DMN file: decisions, their requirements, and boxed expressions with FEEL texts.

Independent of the frontend and unprocessed: `link` parses and resolves texts, so a file with one
malformed cell is still a model. `place` is the position of an element in its file, used in
messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Literal

from orgflow_ir.model.records import dataclass
from orgflow_ir.program.structures import Aggregation, HitPolicy

Engine = Literal["camunda7", "camunda8", "flowable"]


@dataclass(frozen=True, kw_only=True)
class Boxed:
    """Base of boxed expressions; `type_ref` names the type of the value, if it is stated."""

    type_ref: str | None = None
    place: str = field(default="", compare=False)


@dataclass(frozen=True, kw_only=True)
class LiteralExpression(Boxed):
    """An expression as text. `language` is its URI where it is not FEEL."""

    text: str
    language: str | None = None


@dataclass(frozen=True, kw_only=True)
class ContextEntry:
    """An entry of a boxed context; the last one without a name is the value of the context."""

    name: str | None
    value: Boxed
    type_ref: str | None = None


@dataclass(frozen=True, kw_only=True)
class BoxedContext(Boxed):
    """Named values; each is in scope for those after it."""

    entries: tuple[ContextEntry, ...]


@dataclass(frozen=True, kw_only=True)
class BoxedList(Boxed):
    """A list of expressions."""

    items: tuple[Boxed, ...]


@dataclass(frozen=True, kw_only=True)
class Relation(Boxed):
    """A list of contexts, as a table."""

    columns: tuple[tuple[str, str | None], ...]
    rows: tuple[tuple[Boxed, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Invocation(Boxed):
    """A call with arguments by name."""

    function: Boxed
    bindings: tuple[tuple[str, Boxed], ...]


@dataclass(frozen=True, kw_only=True)
class FormalParameter:
    """A parameter of a function."""

    name: str
    type_ref: str | None = None


@dataclass(frozen=True, kw_only=True)
class BoxedFunction(Boxed):
    """A function; `kind` is not FEEL if its body describes Java code or a PMML model."""

    parameters: tuple[FormalParameter, ...]
    body: Boxed | None
    kind: Literal["FEEL", "Java", "PMML"] = "FEEL"


@dataclass(frozen=True, kw_only=True)
class Conditional(Boxed):
    """`if` as boxes."""

    condition: Boxed
    then: Boxed
    otherwise: Boxed


@dataclass(frozen=True, kw_only=True)
class BoxedIteration(Boxed):
    """`for`, `some` or `every` as boxes."""

    kind: Literal["for", "some", "every"]
    variable: str
    domain: Boxed
    body: Boxed


@dataclass(frozen=True, kw_only=True)
class BoxedFilter(Boxed):
    """`list[condition]` as boxes."""

    base: Boxed
    condition: Boxed


@dataclass(frozen=True, kw_only=True)
class InputClause:
    """An input column of a decision table; `allowed` are unary tests, `variable` a name of the
    input in its cells."""

    expression: LiteralExpression
    allowed: str | None = None
    variable: str | None = None


@dataclass(frozen=True, kw_only=True)
class OutputClause:
    """An output column; `values` are unary tests, by priority; `default` an expression."""

    name: str | None = None
    type_ref: str | None = None
    values: str | None = None
    default: str | None = None


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A row of a decision table, as texts; `foreign` are cells in a language other than FEEL, with
    the language."""

    tests: tuple[str, ...]
    entries: tuple[str, ...]
    foreign: tuple[tuple[str, str], ...] = ()
    place: str = field(default="", compare=False)


@dataclass(frozen=True, kw_only=True)
class Table(Boxed):
    """A decision table."""

    inputs: tuple[InputClause, ...]
    outputs: tuple[OutputClause, ...]
    rules: tuple[Rule, ...]
    hit_policy: HitPolicy = "UNIQUE"
    aggregation: Aggregation | None = None


@dataclass(frozen=True, kw_only=True)
class ItemDefinition:
    """A named type: another type, entries of a context, or a function; `allowed` are unary tests,
    applied to the elements of a collection, and `type_constraint` are unary tests of the whole
    value."""

    name: str
    type_ref: str | None = None
    components: tuple[ItemDefinition, ...] = ()
    collection: bool = False
    allowed: str | None = None
    type_constraint: str | None = None
    function: tuple[tuple[str | None, ...], str | None] | None = None
    place: str = field(default="", compare=False)


@dataclass(frozen=True, kw_only=True)
class InputData:
    """An input of decisions; `variable` is the name of its value, if the file states it."""

    id: str
    name: str
    type_ref: str | None = None
    variable: str | None = None


@dataclass(frozen=True, kw_only=True)
class Decision:
    """A decision and the ids of its requirements; `variable` is the name of its result, if the
    file states it."""

    id: str
    name: str
    type_ref: str | None = None
    variable: str | None = None
    logic: Boxed | None = None
    requires: tuple[str, ...] = ()
    knowledge: tuple[str, ...] = ()
    place: str = field(default="", compare=False)


@dataclass(frozen=True, kw_only=True)
class BusinessKnowledge:
    """A function that decisions call."""

    id: str
    name: str
    type_ref: str | None = None
    logic: BoxedFunction | None = None
    knowledge: tuple[str, ...] = ()
    place: str = field(default="", compare=False)


@dataclass(frozen=True, kw_only=True)
class DecisionService:
    """Decisions callable as a function of inputs and of decisions that the caller supplies."""

    id: str
    name: str
    type_ref: str | None = None
    outputs: tuple[str, ...] = ()
    encapsulated: tuple[str, ...] = ()
    input_decisions: tuple[str, ...] = ()
    input_data: tuple[str, ...] = ()
    place: str = field(default="", compare=False)


@dataclass(frozen=True, kw_only=True)
class Import:
    """Another file, found by its namespace; its elements are known as `name.element`."""

    name: str
    namespace: str


@dataclass(frozen=True, kw_only=True)
class Definitions:
    """A DMN file. Ids of elements in other files are `namespace#id`. `engine` is the engine that
    it is written for, if that is known."""

    name: str
    namespace: str
    engine: Engine | None = None
    imports: tuple[Import, ...] = ()
    types: tuple[ItemDefinition, ...] = ()
    inputs: tuple[InputData, ...] = ()
    decisions: tuple[Decision, ...] = ()
    knowledge: tuple[BusinessKnowledge, ...] = ()
    services: tuple[DecisionService, ...] = ()

    def values(self) -> Iterator[tuple[str, InputData | Decision]]:
        """The inputs and decisions by their keys, `namespace#id`."""
        for data in self.inputs:
            yield f"{self.namespace}#{data.id}", data
        for decision in self.decisions:
            yield f"{self.namespace}#{decision.id}", decision
