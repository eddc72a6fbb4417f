"""The contract for catalogues of a target's operations, with which tasks are filled.

A catalogue is read from the user's installation and never shipped. The parameters of an operation
are a JSON Schema that depends on the values so far, since parameters show and hide each other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from orgflow_ir.model.bindings import AnyBinding, Parameter
from orgflow_ir.model.records import NamedTuple

Values = Mapping[str, Any]
"""Values of parameters by name; nested as the target nests them."""


class CatalogueError(RuntimeError):
    """There is no catalogue, or it cannot be read; the message gives the reason and the remedy."""


class Operation(NamedTuple):
    """An operation of a target.

    Attributes:
        id: its id in answers, which is stable as long as the catalogue is the same.
        title: as `Slack: send a message`.
        description: one sentence, or empty.
        words: further words for search, such as other names of its service.
        accounts: kinds of credentials, one of which it needs; empty if it needs none.
        fixed: the values that select this operation.
    """

    id: str
    title: str
    description: str = ""
    words: str = ""
    accounts: tuple[str, ...] = ()
    fixed: tuple[tuple[str, Any], ...] = ()


class Blank(NamedTuple):
    """A required parameter of an operation without a value.

    Attributes:
        path: names joined by dots, as in the inputs of a binding. title, description: texts for
            people.
        values: the permitted values; empty if any value is permitted.
    """

    path: str
    title: str
    description: str = ""
    values: tuple[Any, ...] = ()


class Catalogue(ABC):
    """The operations of an installed target."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Its origin, such as `n8n-nodes-base 2.41.1`."""

    @property
    @abstractmethod
    def content(self) -> str:
        """A hash of its source, usable as a cache key for derived data."""

    @property
    @abstractmethod
    def operations(self) -> Sequence[Operation]:
        """All operations that a task can be filled with, in a fixed order."""

    @abstractmethod
    def operation(self, id: str) -> Operation | None:
        """The operation with this id."""

    @abstractmethod
    def schema(self, operation: Operation, values: Values) -> dict[str, Any]:
        """JSON Schema (2020-12) of the parameters that are visible with these values, and which of
        them are required. The schema permits no hidden parameter. Texts are constants; none begins
        with the target's marker of an expression."""

    @abstractmethod
    def blanks(
        self, operation: Operation, values: Values, inputs: Sequence[str] = ()
    ) -> list[Blank]:
        """The required parameters without a value; `inputs` are paths whose values come from
        process variables."""

    @abstractmethod
    def accepts_input(self, operation: Operation, values: Values, path: str) -> bool:
        """Whether the parameter at a path is visible with these values and may be computed at run
        time."""

    @abstractmethod
    def binding(
        self,
        operation: Operation,
        values: Values,
        inputs: Sequence[Parameter] = (),
        outputs: Sequence[Parameter] = (),
    ) -> AnyBinding:
        """The binding of a task that performs the operation.

        Args:
            values: the constants; hidden ones are omitted.
            inputs: values named by the path of the parameter, as FEEL expressions over process
                variables.
            outputs: values named by process variables, as FEEL expressions over the response.
        """
