"""The contract for catalogues: the operations that a target has, from which tasks are filled.

A catalogue is read from what the user has installed, never shipped. What an operation takes is a
JSON Schema that depends on the values so far, since parameters show and hide each other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from orgflow_ir.model.bindings import AnyBinding, Parameter

Values = Mapping[str, Any]
"""Values of parameters by name; nested as the target nests them."""


class CatalogueError(RuntimeError):
    """There is no catalogue, or it cannot be read; the message says why and what to do."""


class Operation(NamedTuple):
    """Something that a target can do.

    Attributes:
        id: names it in answers; the same while the catalogue is.
        title: as `Slack: send a message`.
        description: one sentence or none.
        words: further words by which it is found, such as other names of its service.
        accounts: kinds of credentials of which it takes one; empty where it needs none.
        fixed: the values that make it this operation.
    """

    id: str
    title: str
    description: str = ""
    words: str = ""
    accounts: tuple[str, ...] = ()
    fixed: tuple[tuple[str, Any], ...] = ()


class Blank(NamedTuple):
    """A parameter that an operation requires and nobody gave.

    Attributes:
        path: names joined by dots, as in the inputs of a binding.
        title, description: for people.
        values: what may be chosen; empty where it is free.
    """

    path: str
    title: str
    description: str = ""
    values: tuple[Any, ...] = ()


class Catalogue(ABC):
    """The operations of a target as it is installed."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Where it is from, as `n8n-nodes-base 2.41.1`."""

    @property
    @abstractmethod
    def content(self) -> str:
        """A hash of what it was read from: what is derived from it may be kept under it."""

    @property
    @abstractmethod
    def operations(self) -> Sequence[Operation]:
        """All operations a task can be filled with, in an order that does not change."""

    @abstractmethod
    def operation(self, id: str) -> Operation | None:
        """The operation of that id."""

    @abstractmethod
    def schema(self, operation: Operation, values: Values) -> dict[str, Any]:
        """JSON Schema (2020-12) of the parameters that show with these values, and which of them
        are required. It allows no hidden parameter. Texts are constants: none begins with what the
        target takes for an expression."""

    @abstractmethod
    def blanks(
        self, operation: Operation, values: Values, inputs: Sequence[str] = ()
    ) -> list[Blank]:
        """The required parameters that have no value; `inputs` are paths that get theirs from
        process variables."""

    @abstractmethod
    def accepts_input(self, operation: Operation, values: Values, path: str) -> bool:
        """Whether the parameter at a path shows with these values and may be computed in a run."""

    @abstractmethod
    def binding(
        self,
        operation: Operation,
        values: Values,
        inputs: Sequence[Parameter] = (),
        outputs: Sequence[Parameter] = (),
    ) -> AnyBinding:
        """The binding of a task that does the operation.

        Args:
            values: the constants; hidden ones are omitted.
            inputs: named by the path of the parameter, their text a FEEL expression over process
                variables.
            outputs: named by process variables, their text a FEEL expression over the answer.
        """
