"""Sound but odd models: labels with a special meaning in some format, and missing labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from orgflow_ir.model import Model, Process, SubProcess
from orgflow_ir.testing.conformance.minimal_models import minimal_model

S = TypeVar("S", Process, SubProcess)

HOSTILE: tuple[str, ...] = (
    "={{ $json.secret }}",
    "{{ 1 + 1 }} {% raw %} ${x} $(y) `z` %s {0}",
    "\"quoted\" 'single' \\ back \\n slash",
    "</script><b>& &amp; <![CDATA[ ]]> -->",
    "-- ; # /* */ // | || && < > = : - * [x](y) _z_",
    "two\nlines\r\nand\ttabs",
    "Übergröße 注文 заказ طلب 🚚 e\u0301 \u202egnorw\u202c \u200b",
    "a" * 3000,
    "constructor __proto__ toString null true 0",
    "CON",
    "../../etc/passwd",
)
"""Labels that are plain text despite their appearance."""


def odd_models() -> Iterator[tuple[str, Model]]:
    """Each model with a short description of its oddity; the constructs are those of
    `task.abstract`."""
    plain = minimal_model("task.abstract")
    for label in HOSTILE:
        shown = label if len(label) <= 40 else f"{label[:40]}…"
        yield f"every label is {shown!r}", rename_all(plain, label)
    yield "no element has a label", rename_all(plain, "")
    yield "all labels are blank", rename_all(plain, "  ")


def rename_all(model: Model, label: str) -> Model:
    """The model with every name in it replaced."""
    return model.replace(
        name=label,
        processes=tuple(_rename_scope(p, label) for p in model.processes),
        pools=tuple(p.replace(name=label) for p in model.pools),
    )


def _rename_scope(scope: S, label: str) -> S:
    return scope.replace(
        name=label,
        nodes=tuple(
            _rename_scope(n, label) if isinstance(n, SubProcess) else n.replace(name=label)
            for n in scope.nodes
        ),
    )
