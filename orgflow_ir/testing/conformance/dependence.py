"""Whether the output of a backend depends only on the model: no constant text, no omitted task or
flow, no clock, no folder, no printing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields
from typing import Any

from orgflow_ir.legalisation.legalise import legalise
from orgflow_ir.model import Flow, Model, Node, Task
from orgflow_ir.model.bindings import BINDINGS, AnyBinding
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.testing.conformance.disk import no_writing
from orgflow_ir.testing.conformance.emission import build_context, emit
from orgflow_ir.testing.conformance.kept_structure import structure_problems
from orgflow_ir.testing.conformance.shapes import build_shape
from orgflow_ir.testing.conformance.surroundings import silence_output, watch_reads

_TASKS = ("FirstOfAll", "LastOfAll")


def dependence_problems(backend: Backend, models: Iterable[tuple[str, Model]]) -> list[str]:
    """Reports constant output, dropped tasks and flows, written files, printed text, and reads of
    the machine's state; a backend that raises is reported elsewhere."""
    models = list(models)
    with no_writing() as written, silence_output() as printed:
        problems = [
            *_constant_text(backend, models),
            *_dropped_tasks(backend),
            *_dropped_flows(backend),
        ]
        problems += structure_problems(
            lambda model: _emitted_text(backend, model, with_messages=True), backend.target
        )
        problems += _dropped_bindings(backend)
        problems += _machine_reads(backend, models)  # everything is loaded by now
    if printed.getvalue():
        problems.append(f"`emit` prints: {printed.getvalue()[:40]!r}; a backend returns its files")
    if written:
        problems.append(f"`emit` writes to disk itself: {written[0]}; a backend returns its files")
    return problems


def _emitted_text(backend: Backend, model: Model, *, with_messages: bool = False) -> str | None:
    """What is emitted, and what is `said` on the way; `None` where the model is refused or the
    backend raises, which the check that it never does reports."""
    try:
        artifacts, diagnostics = emit(backend, model)
        if artifacts is None:
            return None
        messages = [d.message for d in diagnostics] if with_messages else []
        return "\x00".join([*(a.text for a in artifacts), *messages])
    except (Exception, SystemExit):  # noqa: BLE001  # as said above
        return None


def _constant_text(backend: Backend, models: Iterable[tuple[str, Model]]) -> Iterator[str]:
    texts = [t for _, model in models if (t := _emitted_text(backend, model)) is not None]
    if len(texts) > 1 and len(set(texts)) == 1:
        yield f"returns the same text for all of {len(texts)} different models"


def _dropped_tasks(backend: Backend) -> Iterator[str]:
    """A task whose name changes nothing, where that of another does, and that no id shows."""
    first, last = _TASKS
    model = build_shape(f"s>{first} {first}>{last} {last}>e")
    nodes = model.processes[0].nodes
    for order in (nodes, tuple(sorted(nodes, key=lambda n: n.id in _TASKS)),
                  tuple(sorted(nodes, key=lambda n: n.id not in _TASKS))):  # fmt: skip
        text = _emitted_text(backend, _with_nodes(model, order))
        if text is None:
            return
        task_changes = [
            _emitted_text(backend, _with_nodes(model, _rename_node(order, t))) != text
            for t in _TASKS
        ]
        for task, is_told in zip(_TASKS, task_changes, strict=True):
            if not is_told and (any(task_changes) or task not in text):
                yield f"omits a task: `Do {task}` of a sequence of two is missing"
                return


def _machine_reads(backend: Backend, models: Iterable[tuple[str, Model]]) -> list[str]:
    """What it asks of the machine."""
    reads: dict[str, None] = {}
    for _, model in models:
        ctx = build_context(backend)
        legal = legalise(model, backend.target, ctx, allow_lossy=False)
        if not ctx.has_errors:
            with watch_reads() as asked, suppress(Exception, SystemExit):
                backend.emit(legal, ctx)
            reads |= dict.fromkeys(asked)
    return [f"`emit` reads {what}; its result must depend on the model alone" for what in reads]


def _dropped_flows(backend: Backend) -> Iterator[str]:
    """Two ways that go elsewhere, or names of ways that are exchanged, and nothing shows it."""
    model = build_shape("s>x1 x1>A:One x1>B:Other A>C B>e C>e")
    text = _emitted_text(backend, model)
    if text is None:
        return
    redirections = {"A_C": {"target": "e"}, "B_e": {"target": "C"}}
    if _emitted_text(backend, _with_flows(model, redirections)) == text:
        yield "omits targets of flows: two changed targets do not affect the output"
    redirections = {"x1_A": {"name": "Other"}, "x1_B": {"name": "One"}}
    if _emitted_text(backend, _with_flows(model, redirections)) == text:
        yield "omits labels of flows: the branches of a decision cannot be distinguished"


def _dropped_bindings(backend: Backend) -> Iterator[str]:
    """What a task does, in a target that runs: a text of its binding that shows neither in what is
    emitted nor in what is said."""
    if not backend.target.executes:
        return
    plain = build_shape("s>Work Work>e")
    lost = []
    for name, kind in BINDINGS.items():
        models = [_bind_tasks(plain, _fill_binding(kind, word)) for word in ("first", "second")]
        texts = {_emitted_text(backend, model, with_messages=True) for model in models}
        if len(texts) == 1 and texts != {None}:
            lost.append(f"`{name}`")
    if lost:
        yield (
            "omits implementations of tasks: the output contains nothing of the bindings "
            f"{', '.join(lost)}; emit them, or keep them in notes "
            "(`orgflow_ir.facts.keep`)"
        )


def _fill_binding(kind: type[AnyBinding], word: str) -> AnyBinding:
    """A binding all of whose texts are `word`, but the name of a vendor and the retries."""
    texts = [f.name for f in fields(kind) if f.type in ("str", "str | None")]
    values: dict[str, Any] = {t: word for t in texts if t not in ("by", "retries")}
    return kind(**values)


def _bind_tasks(model: Model, binding: AnyBinding) -> Model:
    nodes = model.processes[0].nodes
    return _with_nodes(
        model, tuple(n.replace(binding=binding) if isinstance(n, Task) else n for n in nodes)
    )


def _with_flows(model: Model, changed: Mapping[str, Mapping[str, str]]) -> Model:
    (process,) = model.processes
    flows: tuple[Flow, ...] = tuple(f.replace(**changed.get(f.id, {})) for f in process.flows)
    return model.replace(processes=(process.replace(flows=flows),))


def _with_nodes(model: Model, nodes: tuple[Node, ...]) -> Model:
    return model.replace(processes=(model.processes[0].replace(nodes=nodes),))


def _rename_node(nodes: tuple[Node, ...], id: str) -> tuple[Node, ...]:
    return tuple(n.replace(name="Something else") if n.id == id else n for n in nodes)
