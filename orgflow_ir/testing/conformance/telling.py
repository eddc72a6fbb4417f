"""Whether what a backend emits depends on the model: not one text for all, and no task left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgflow_ir.model import Model, Node
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.testing.conformance.disk import no_writing
from orgflow_ir.testing.conformance.emission import emit
from orgflow_ir.testing.conformance.shapes import shape

_TASKS = ("FirstOfAll", "LastOfAll")


def telling_problems(backend: Backend, models: Iterable[tuple[str, Model]]) -> list[str]:
    """Constant output, tasks that are dropped, and files that are written; a backend that raises
    is told of elsewhere."""
    try:
        with no_writing() as written:
            found = [*_constant(backend, models), *_dropped(backend)]
    except (Exception, SystemExit):  # noqa: BLE001  # the check that it never raises reports it
        found = []
    if written:
        found.append(f"`emit` writes to disk itself: {written[0]}; it returns its files")
    return found


def _text(backend: Backend, model: Model) -> str | None:
    artifacts, _ = emit(backend, model)
    return None if artifacts is None else "\x00".join(a.text for a in artifacts)


def _constant(backend: Backend, models: Iterable[tuple[str, Model]]) -> Iterator[str]:
    texts = [t for _, model in models if (t := _text(backend, model)) is not None]
    if len(texts) > 1 and len(set(texts)) == 1:
        yield f"gives the same text for all of {len(texts)} different models"


def _dropped(backend: Backend) -> Iterator[str]:
    """A task whose name changes nothing, where that of another does, and that no id shows."""
    first, last = _TASKS
    model = shape(f"s>{first} {first}>{last} {last}>e")
    nodes = model.processes[0].nodes
    for order in (nodes, tuple(sorted(nodes, key=lambda n: n.id in _TASKS)),
                  tuple(sorted(nodes, key=lambda n: n.id not in _TASKS))):  # fmt: skip
        text = _text(backend, _with(model, order))
        if text is None:
            return
        told = [_text(backend, _with(model, _renamed(order, t))) != text for t in _TASKS]
        for task, is_told in zip(_TASKS, told, strict=True):
            if not is_told and (any(told) or task not in text):
                yield f"leaves out a task: `Do {task}` of a sequence of two does not show"
                return


def _with(model: Model, nodes: tuple[Node, ...]) -> Model:
    return model.replace(processes=(model.processes[0].replace(nodes=nodes),))


def _renamed(nodes: tuple[Node, ...], id: str) -> tuple[Node, ...]:
    return tuple(n.replace(name="Something else") if n.id == id else n for n in nodes)
