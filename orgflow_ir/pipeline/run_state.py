"""The part of a run's state that reports of crashes use."""

from __future__ import annotations

from abc import ABC, abstractmethod

from orgflow_ir.diagnostics import Diagnostic, Rule
from orgflow_ir.model import Element, Model


class RunState(ABC):
    """The state of a run as reports of crashes see it; `PassContext` is all of it.

    Attributes:
        source: the model as read, if there is one.
        file: the file that it was read from.
    """

    source: Model | None
    file: str

    @abstractmethod
    def name(self, element: Element | str) -> str:
        """The name of an element in messages."""

    @abstractmethod
    def emit(
        self,
        rule: type[Rule],
        message: str,
        *,
        element: Element | str | None = None,
        help: str | None = None,
    ) -> Diagnostic:
        """Record a diagnostic."""
