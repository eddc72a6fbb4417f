"""The source elements of the states in the emitted machines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orgflow.backends.asl.compiled_process import CompiledProcess
from orgflow.backends.asl.format import Definition

from orgflow_ir.model import Task
from orgflow_ir.model.provenance import all_scoped, source_ids
from orgflow_ir.targets.artifact import Part, json_pointer


def list_parts(files: Mapping[str, CompiledProcess]) -> Iterator[Part]:
    """Each state of each machine, by the path of its file; places are JSON Pointers.

    Flows have no parts: a state names its successor.
    """
    for path, compiled in files.items():
        process = compiled.graph.process
        elements = {e.id: e for e in (process, *all_scoped(process))}
        infos = compiled.graph.states
        for keys, name, kind, computes in _list_states(compiled.definition, ()):
            info = infos.get(name)
            element = elements.get(info.element) if info is not None else None
            sources = source_ids(element) if element is not None else (process.id,)
            role = info.role if info is not None else "begin"
            if role == "element" and (element is None or sources != (element.id,)):
                role = "made"
            empty = (
                kind == "Pass" and not computes and role == "element" and isinstance(element, Task)
            )
            yield Part(path, json_pointer(*keys), role, sources, name, kind, process.id, empty)


def _list_states(
    machine: Definition, above: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], str, str, bool]]:
    """Place, name and type of every state, and whether it is one of JSONata, outermost first."""
    stack = [(machine, above)]
    while stack:
        machine, above = stack.pop()
        for name, state in machine["States"].items():
            here = (*above, "States", name)
            yield here, name, state["Type"], "QueryLanguage" in state
            inside = [
                (branch, (*here, "Branches", index))
                for index, branch in enumerate(state.get("Branches", ()))
            ]
            if "ItemProcessor" in state:
                inside.append((state["ItemProcessor"], (*here, "ItemProcessor")))
            stack.extend(reversed(inside))
