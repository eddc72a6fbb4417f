"""The files of compiled processes: workflows, long bases, and lists of named work."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence

from orgflow.backends.n8n.emit.emission_rules import FaultyWorkflow
from orgflow.backends.n8n.emit.emitter import CompiledProcess, CompiledScope
from orgflow.backends.n8n.emit.model_compilation import digest_of_process
from orgflow.backends.n8n.emit.source_map import parts
from orgflow.backends.n8n.emit.workflow import build
from orgflow.backends.n8n.format.document import dumps
from orgflow.backends.n8n.format.merge_base import MOST_CHARACTERS, base_path
from orgflow.backends.n8n.format.workflow_check import check_workflow
from orgflow.backends.n8n.plan.target_options import version_of

from orgflow_ir.model import Model
from orgflow_ir.model.element_names import slug
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.artifact import Artifact, Emitted, SourceMap


def emit_files(
    model: Model,
    compiled: Sequence[CompiledProcess],
    ctx: PassContext,
    taken: dict[str, CompiledScope],
    *,
    listed: bool = True,
) -> Emitted:
    """The files of compiled processes, under names that are not taken; from now on they are. With
    `listed`, the work that is to be implemented is listed beside them."""
    if not _check_workflows(compiled, ctx):
        return Emitted((), SourceMap(model, tuple))
    names: dict[str, CompiledScope] = {}
    numbers: dict[str, int] = {}
    for one in (scope for process in compiled for scope in process.scopes):
        base = slug(one.workflow["name"]).replace("_", "-") or "workflow"
        name = base
        while f"{name}.json" in taken:
            numbers[base] = numbers.get(base, 1) + 1
            name = f"{base}-{numbers[base]}"
        names[f"{name}.json"] = taken[f"{name}.json"] = one
    bases = (
        Artifact(base_path(one.workflow["id"]), f"{one.base}\n")
        for one in names.values()
        if len(one.base) > MOST_CHARACTERS
    )
    work = (
        _list_named_work(names, f"{next(iter(names), '').removesuffix('.json')}-") if listed else ()
    )
    return Emitted(
        tuple(Artifact(path, dumps(one.workflow)) for path, one in names.items()),
        SourceMap(model, lambda: parts(names)),
        {one.process.id: one for one in compiled},
        (*bases, *work),
    )


def link_files(made: Sequence[tuple[Model, Emitted]], ctx: PassContext) -> tuple[Emitted, ...]:
    """The files of several models: what they name or call is one workflow, with one contract."""
    from orgflow.backends.n8n.emit.named_work import linked

    compiled = [list(emitted.compiled.values()) for _, emitted in made]
    remade: list[CompiledProcess] = []
    if any(len(model) > 1 for model in compiled):
        from orgflow.backends.n8n.emit.together import compile_together

        compiled, remade = compile_together(compiled, ctx)
    for one in (named := linked(compiled, ctx)):
        build(one.root, digest_of_process(one, ""), version_of(ctx))
    remade += named
    if not _check_workflows(remade, ctx):
        return tuple(Emitted((), SourceMap(model, tuple)) for model, _ in made)
    names: dict[str, CompiledScope] = {}
    found = [
        emit_files(model, rest, ctx, names, listed=False)
        for (model, _), rest in zip(made, compiled, strict=True)
    ]
    if found and (work := (*_list_named_work(names, ""),)):
        found[0] = dataclasses.replace(found[0], beside=(*found[0].beside, *work))
    return tuple(found)


def _list_named_work(files: Mapping[str, CompiledScope], prefix: str) -> Iterator[Artifact]:
    """The contracts of named work, for whoever implements it; `prefix` of the name of the file."""
    if not any(one.scope.only_called for one in files.values()):
        return
    from orgflow.backends.n8n.emit.named_work import WORK_TO_DO, work_to_do

    yield Artifact(f"{prefix}{WORK_TO_DO}", work_to_do(files))


def _check_workflows(compiled: Iterable[CompiledProcess], ctx: PassContext) -> bool:
    """Whether every workflow passes our check of the format; what does not is OF911."""
    faulty = False
    for one in (scope for process in compiled for scope in process.scopes):
        nodes = one.workflow_graph.nodes.values()
        filled = {node.name for node in nodes if node.version is not None}
        for problem in check_workflow(one.workflow, version=version_of(ctx), filled=filled):
            if problem.kind == "unreachable" and (_has_islands(one) or _has_stubs(one)):
                continue  # the model has parts that nothing leads to, and a rule says so
            faulty = True
            ctx.emit(
                FaultyWorkflow,
                f"the workflow compiled from `{one.scope.body.label}` is faulty at "
                f"{problem.path}: {problem.message}",
                element=one.scope.body,
                help="this is a bug in orgflow: report it and attach the model",
            )
    return not faulty


def _has_stubs(compiled: CompiledScope) -> bool:
    """Whether runs stop before something, so that nothing leads to what is behind."""
    return any(node.role == "stub" for node in compiled.workflow_graph.nodes.values())


def _has_islands(compiled: CompiledScope) -> bool:
    return len(compiled.graph.reachable) < len(compiled.graph.nodes)
