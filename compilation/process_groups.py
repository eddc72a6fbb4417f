"""The processes of a model in groups that are compiled separately, and the names of their files."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from orgflow.compilation.process_selection import keep_processes

from orgflow_ir.flow.control_flow.calls import called_from
from orgflow_ir.flow.control_flow.deliveries import find_deliveries
from orgflow_ir.gaps.gap_rules import OpenMessage
from orgflow_ir.model import MessageFlow, Model, Process
from orgflow_ir.model.element_names import file_names, is_taken_over
from orgflow_ir.model.index import ModelIndex
from orgflow_ir.model.source import file_stem
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets import executable_processes
from orgflow_ir.targets.artifact import Emitted


def split_processes(model: Model) -> Iterator[tuple[Process, Model]]:
    """The first process of each group of `group_processes`, and the model with only that group,
    without messages between processes that nothing delivers."""
    index = ModelIndex(model)
    lost = {message.id for message in lost_messages(model, index)}
    for group in group_processes(model):
        alone = keep_processes(model, index, group)
        ids = {process.id for process in group}
        between = {
            flow.id
            for flow in model.message_flows
            if flow.id in lost and _processes_of(flow, index) <= ids
        }
        flows = tuple(flow for flow in alone.message_flows if flow.id not in between)
        yield group[0], alone.replace(message_flows=flows) if between else alone


def _processes_of(message: MessageFlow, index: ModelIndex) -> set[str]:
    """The ids of the processes at both ends of a message flow."""
    ends = (index.process(message.source), index.process(message.target))
    return {process.id for process in ends if process is not None}


def lost_messages(model: Model, index: ModelIndex) -> list[MessageFlow]:
    """The message flows between processes of a model that nothing delivers."""
    delivered = {delivery.flow for delivery in find_deliveries(model).values()}
    return [
        flow
        for flow in model.message_flows
        if flow.id not in delivered and len(_processes_of(flow, index)) > 1
    ]


def group_processes(model: Model) -> list[list[Process]]:
    """The executable processes of a model in groups that do not call each other or begin each other
    by messages. A process of another file is in the group of each caller, after the first process
    of the model itself."""
    own = [p for p in executable_processes(model) if not is_taken_over(p, model)]
    deliveries = find_deliveries(model).values()
    groups: list[dict[str, Process]] = []
    for process in own:
        group = {p.id: p for p in (process, *called_from(process, model))}
        begun = [d.receiver for d in deliveries if d.sender.id in group]
        group |= {p.id: p for other in begun for p in (other, *called_from(other, model))}
        for other in [g for g in groups if _have_common_process(g, group, model)]:
            groups.remove(other)
            group = {**other, **group}
        groups.append(group)
    order = {process.id: at for at, process in enumerate(model.processes)}
    in_order = [sorted(group.values(), key=lambda p: order[p.id]) for group in groups]
    return sorted(in_order, key=lambda group: order[group[0].id])


def _have_common_process(
    first: Mapping[str, Process], second: Mapping[str, Process], model: Model
) -> bool:
    """Whether two groups have a process of the model itself in common."""
    return any(not is_taken_over(first[id], model) for id in first.keys() & second.keys())


def rename_files(emitted: Emitted, model: Model, process: Process, taken: set[str]) -> Emitted:
    """The files of one process under paths that are not taken; from now on they are. A file named
    after the model (`shop.bpmn`, `model.bpmn`) is named after the process."""
    stem = file_stem(model.source)
    own = file_names([process.name or process.id], "")[0]
    paths: dict[str, str] = {}
    for artifact in emitted.artifacts:
        base, dot, suffix = artifact.path.partition(".")
        if artifact.path.startswith(f"{stem}."):
            base, dot, suffix = own, ".", artifact.path.removeprefix(f"{stem}.")
        path, number = f"{base}{dot}{suffix}", 2
        while path in taken:
            path, number = f"{base}-{number}{dot}{suffix}", number + 1
        taken.add(path)
        paths[artifact.path] = path
    if all(old == new for old, new in paths.items()):
        return emitted
    return dataclasses.replace(
        emitted,
        artifacts=tuple(a._replace(path=paths[a.path]) for a in emitted.artifacts),
        source_map=emitted.source_map.moved(paths),
    )


def report_lost_messages(model: Model, ctx: PassContext) -> None:
    """Report messages between processes, which nothing delivers if these are compiled apart."""
    for message in lost_messages(model, ModelIndex(model)):
        to = f" to {ctx.name(message.target)}" if message.name.strip() else ""
        ctx.emit(
            OpenMessage,
            f"nothing delivers {ctx.name(message)}{to}: the processes are compiled separately",
            element=message,
            help="let the sending step call the process that waits for the message",
        )
