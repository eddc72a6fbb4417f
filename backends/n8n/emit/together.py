"""A process that models of a folder call in another file: one workflow, which all of them call.

Each model is compiled with the processes that it calls in other files, since what such a process
has to hand back depends on what its callers read. Compiled together, it hands back what any of them
reads. It stays a workflow for each caller where anything else differs, such as what happens when it
throws an escalation.

Its identity is that of its own file and does not depend on the number of its callers, so that
another caller changes no workflow but its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from orgflow.backends.n8n.emit.compiled import CompiledProcess
from orgflow.backends.n8n.emit.model_compilation import build_processes
from orgflow.backends.n8n.format.document import dump_json
from orgflow.backends.n8n.format.shape import workflow_shape
from orgflow.backends.n8n.plan.emission_rules import ConflictingContract
from orgflow.backends.n8n.plan.names import plain
from orgflow.backends.n8n.plan.passes import PlannedProcess, plan_process
from orgflow.backends.n8n.plan.scopes import MOST_NAME, Together, for_others
from orgflow.backends.n8n.plan.variable_reads import handed_back

from orgflow_ir.diagnostics import Severity
from orgflow_ir.model.element_names import is_taken_over, join_listed
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext

_CALL = r'"workflowId": \{[^}]*\}'

Compiled = list[CompiledProcess]


class _Place(NamedTuple):
    """A process of another file in a model: the number of the model, and the id that it has
    there."""

    at: int
    id: str


def compile_together(
    models: Sequence[Compiled],
    ctx: PassContext,
    others: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> tuple[list[Compiled], Compiled]:
    """The processes of all models, those of other files once, with the first model that calls them;
    and the processes that were compiled again.

    Args:
        models: the processes of each model.
        ctx: receives the findings.
        others: variables that further callers read, by the title of the workflow.
    """
    shared = _called_by_others(models)
    for key in _list_indistinct(shared, models):
        _report_conflict(shared.pop(key), models, {}, ctx)
    while shared:
        once = {
            key: _collect_common_facts(places, models, others) for key, places in shared.items()
        }
        again = _compile_again(models, shared, once)
        different = [key for key, places in shared.items() if not _are_same(places, again)]
        if not different:
            return _first_only(models, shared, again)
        for key in different:
            _report_conflict(shared.pop(key), models, again, ctx)
    return list(models), []


def _called_by_others(models: Sequence[Compiled]) -> dict[object, list[_Place]]:
    """The processes of other files, by where they are defined."""
    places: dict[object, list[_Place]] = {}
    for at, model in enumerate(models):
        for compiled in model:
            loc = compiled.process.loc
            scope = compiled.root.plan.scope
            if (
                loc is not None
                and not scope.only_called
                and is_taken_over(compiled.process, scope.model)
            ):
                place = _Place(at, compiled.process.id)
                places.setdefault((loc.file, loc.line, loc.column), []).append(place)
    return places


def _list_indistinct(
    shared: Mapping[object, list[_Place]], models: Sequence[Compiled]
) -> Iterator[object]:
    """Processes that would become the same workflow: files of one name in different folders have
    processes of one id and name."""
    keys_by_seed: dict[str, list[object]] = {}
    for key, places in shared.items():
        table = {places[0].id: _collect_common_facts(places, models)}
        scope = replace(_find_compiled(places[0], models).root.plan.scope, together=table)
        keys_by_seed.setdefault(scope.seed, []).append(key)
    return (key for keys in keys_by_seed.values() if len(keys) > 1 for key in keys)


def _find_compiled(
    place: _Place, models: Sequence[Compiled] | Mapping[int, Compiled]
) -> CompiledProcess:
    return next(compiled for compiled in models[place.at] if compiled.process.id == place.id)


def _collect_common_facts(
    places: Sequence[_Place],
    models: Sequence[Compiled],
    others: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Together:
    """What is common to all callers of a process."""
    title = for_others(_find_compiled(places[0], models).process.name)
    names: set[str] = set(others.get(title[:MOST_NAME], ()))
    for place in places:
        plan = _find_compiled(place, models).root.plan
        names.update(handed_back(plan, _copy_silent_context(plan.ctx)))
    loc = _find_compiled(places[0], models).process.loc
    assert loc is not None
    # Where a model has the id already, the process got another one there.
    return Together(loc.file, loc.element or places[0].id, tuple(sorted(names)))


def _copy_silent_context(ctx: PassContext) -> PassContext:
    """A context for a repeated compilation, whose findings were reported the first time."""
    return PassContext(
        registry=ctx.registry,
        target=ctx.target,
        options=ctx.options,
        source=ctx.source,
        file=ctx.file,
        given=ctx.given,
        folders=ctx.folders,
    )


def _compile_again(
    models: Sequence[Compiled],
    shared: Mapping[object, list[_Place]],
    once: Mapping[object, Together],
) -> dict[int, Compiled]:
    """The models that have any of the processes, compiled again."""
    tables: dict[int, dict[str, Together]] = {}
    for key, places in shared.items():
        for place in places:
            tables.setdefault(place.at, {})[place.id] = once[key]
    recompiled: dict[int, Compiled] = {}
    for at, table in tables.items():
        ctx = _copy_silent_context(models[at][0].root.plan.ctx)
        own = [
            compiled
            for compiled in models[at]
            if not (compiled.root.plan.scope.only_called or _reports_failures(compiled))
        ]
        processes = [
            plan_process(compiled.root.plan.scope.model, compiled.process, ctx, table)._replace(
                digest=compiled.digest
            )
            for compiled in own
        ]
        recompiled[at] = build_processes(processes, ctx)
    return recompiled


def _reports_failures(compiled: CompiledProcess) -> bool:
    return compiled.root.plan.scope.on_error


def _restore_plan(compiled: CompiledProcess) -> PlannedProcess:
    return PlannedProcess(
        compiled.process, tuple(scope.plan for scope in compiled.scopes), compiled.digest
    )


def _are_same(
    places: Sequence[_Place], again: Mapping[int, Compiled], *, but_calls: bool = False
) -> bool:
    """Whether a process became the same workflows in all models, `but_calls` whatever they call."""
    shapes = set()
    for place in places:
        workflows = [
            workflow_shape(dump_json(scope.workflow))
            for scope in _find_compiled(place, again).scopes
        ]
        shapes.add(
            tuple(re.sub(_CALL, "", workflow) if but_calls else workflow for workflow in workflows)
        )
    return len(shapes) == 1


def _first_only(
    models: Sequence[Compiled],
    shared: Mapping[object, list[_Place]],
    again: Mapping[int, Compiled],
) -> tuple[list[Compiled], Compiled]:
    """Every process with the first model that calls it."""
    gone = {place for places in shared.values() for place in places[1:]}
    result: list[Compiled] = []
    remade: Compiled = []
    for at, model in enumerate(models):
        if at not in again:
            result.append(model)
            continue
        own = [
            compiled
            for compiled in again[at]
            if not (compiled.root.plan.scope.only_called or _reports_failures(compiled))
        ]
        kept = [compiled for compiled in own if _Place(at, compiled.process.id) not in gone]
        ctx = _copy_silent_context(model[0].root.plan.ctx)
        every = (
            again[at]
            if len(kept) == len(own)
            else build_processes([_restore_plan(compiled) for compiled in kept], ctx)
        )
        every += [compiled for compiled in model if _reports_failures(compiled)]
        result.append(every)
        remade += every
    return result, remade


def _report_conflict(
    places: Sequence[_Place],
    models: Sequence[Compiled],
    again: Mapping[int, Compiled],
    ctx: PassContext,
) -> None:
    """OF428: a process has to be compiled differently for its callers; `again` is empty if it
    cannot be distinguished from another one."""
    process = _find_compiled(places[0], models).process
    name = plain(process.name)
    callers = [f"`{plain(models[place.at][0].root.plan.scope.title)}`" for place in places]
    why, what = (
        "it behaves differently when it is called by them",
        "let all callers catch the same events of the process",
    )
    if not again:
        file = process.loc.file if process.loc is not None else ""
        why = f"another file named like {file} has a process with the same id and name"
        what = "rename one of the processes or of the files"
    elif _are_same(places, again, but_calls=True):
        why = "what it calls is a workflow for each of them"
        what = "name the work of its unsupported scripts by a class, a topic or a job type"
    each = "each of its callers" if len(callers) > 1 else "its caller"
    ctx.emit(
        ConflictingContract,
        f"the process `{name}` became a workflow for {each} {join_listed(callers)}, because {why}",
        severity=Severity.INFO,
        help=f"to get one workflow, {what}",
    )
