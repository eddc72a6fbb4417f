"""The call relation between the processes of a model."""

from __future__ import annotations

import re
from collections.abc import Iterator

from orgflow_ir.lazy_patterns import lazy_pattern
from orgflow_ir.model import CallActivity, Model, Opaque, Process, Scope, Task
from orgflow_ir.model.bindings import Parameter, SubProcessCall

Call = CallActivity | Task
"""A call, or the task that stands for one whose process is not in the model."""

_GLOBAL_TASK = lazy_pattern(r"(?:\{.*\})?global(?:User|Manual|Script|BusinessRule)?Task")
_VARIABLE = r"(?a)=?\s*([A-Za-z_]\w*)|[$#]\{\s*([A-Za-z_]\w*)\s*\}"


def calls_in(scope: Scope) -> Iterator[CallActivity]:
    """The calls in a process or sub-process, including nested sub-processes."""
    for inner in scope.scopes():
        if inner.has_kind("call-activity"):
            yield from (node for node in inner.nodes if isinstance(node, CallActivity))


def find_callee(call: CallActivity, model: Model) -> Process | None:
    """The process of the model that a call names; a namespace prefix is ignored."""
    name = call.process.rpartition(":")[2]
    return next((p for p in model.processes if p.id == name and p.nodes), None)


def global_task(call: CallActivity, model: Model) -> Opaque | None:
    """The global task of the model that a call names: work that no steps describe."""
    name = call.process.rpartition(":")[2]
    tasks = (element for element in model.opaque if _GLOBAL_TASK.fullmatch(element.tag) is not None)
    return next((task for task in tasks if task.id == name), None)


def variable_in(parameter: Parameter) -> str | None:
    """The variable that a mapping of a call copies unchanged; `None` if it computes a value."""
    if parameter.language in ("variable", "constant"):
        return parameter.text if parameter.language == "variable" else None
    return variable_of(parameter.text)


def hands_computed(call: Call) -> bool:
    """Whether a call passes on anything other than all variables unchanged: a selection, new names,
    or computed values."""
    given = call.binding.inputs if call.binding is not None else ()
    return not hands_everything(call) or any(
        variable_in(mapping) != mapping.name for mapping in given
    )


def takes_computed(call: Call) -> bool:
    """Whether a call computes any of its results."""
    taken = call.binding.outputs if call.binding is not None else ()
    return any(variable_in(mapping) is None for mapping in taken)


def states_data(call: CallActivity) -> bool:
    """Whether the call, or the engine it is written for, defines which variables are passed and
    returned."""
    binding = call.binding
    if isinstance(binding, SubProcessCall):
        return _is_stated(binding)
    return binding is not None and bool(binding.inputs or binding.outputs)


def hands_everything(call: Call) -> bool:
    """Whether a call passes every variable in addition to its mapping: if it requests this, or if
    the source does not define how it calls."""
    binding = call.binding
    if isinstance(binding, SubProcessCall):
        return binding.all_variables or not _is_stated(binding)
    return binding is None or not binding.inputs


def takes_everything(call: Call) -> bool:
    """Whether all variables of the called process are returned: if the call requests this, or if
    the source does not define how it calls."""
    binding = call.binding
    if binding is None:
        return True
    if not isinstance(binding, SubProcessCall):
        return not (binding.inputs or binding.outputs)
    return binding.all_results or not _is_stated(binding)


def _is_stated(binding: SubProcessCall) -> bool:
    """Whether a binding says how the process is called. Every engine that has words for that hands
    over and takes back what it is told to, and nothing else."""
    return bool(
        binding.by
        or binding.inputs
        or binding.outputs
        or binding.all_variables
        or binding.all_results
        or binding.process
        or binding.business_key
        or binding.version
        or binding.parameters
    )


def variable_of(text: str) -> str | None:
    """The variable that a mapping copies unchanged; `None` for any other mapping."""
    match = re.fullmatch(_VARIABLE, text.strip())
    return match[1] or match[2] if match is not None else None


def called_from(process: Process, model: Model) -> tuple[Process, ...]:
    """The processes that a process calls, directly and indirectly, the nearest first; includes the
    process itself if it is recursive."""
    called_processes: dict[str, Process] = {}
    todo = [process]
    for caller in todo:
        for call in calls_in(caller):
            called = find_callee(call, model)
            if called is not None and called.id not in called_processes:
                called_processes[called.id] = called
                todo.append(called)
    return tuple(called_processes.values())


def is_called(process: Process, model: Model) -> bool:
    """Whether any process of the model calls this one."""
    return any(
        find_callee(call, model) is process for other in model.processes for call in calls_in(other)
    )
