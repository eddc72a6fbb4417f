"""Ids of elements, derived from their labels."""

from __future__ import annotations

from orgflow_ir.model.element_names import slug


class Ids:
    """Ids that are unique in a model."""

    def __init__(self) -> None:
        self._used: set[str] = {"model"}
        self._next: dict[str, int] = {}

    def take_id(self, text: str, default: str) -> str:
        """An id from a text, or from `default` if the text has no letters: `check_order`,
        `check_order_2`."""
        base = slug(text)[:60].strip("_") or default
        if not base[0].isalpha():
            base = f"{default}_{base}"
        id, number = base, self._next.get(base, 2)
        while id in self._used:
            id, number = f"{base}_{number}", number + 1
        self._next[base] = number
        self._used.add(id)
        return id
