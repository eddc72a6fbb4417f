"""`orgflowc verify`: does a workflow do what a model says?"""

from __future__ import annotations

import json
import os
import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import Any

import click
from orgflow.commands.completion_values import FILE
from orgflow.commands.inputs import expand_folders
from orgflow.commands.options import (
    ProcessOptions,
    SourceOptions,
    parsed_into,
    process_option,
    resolve_target,
    source_options,
    target_option,
)
from orgflow.commands.output import print_json, print_text
from orgflow.commands.session import Session, end_command, exit_code, list_folders_once
from orgflow.compilation.json_lists import read_together
from orgflow.compilation.target_choice import combine_stated_options
from orgflow.compilation.usage_errors import InputError
from orgflow.compiler import CompileRequest, add_called_processes, emit_despite_errors

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.diagnostics.core_rules import UnreadableInput
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.model.source import SourceFile, SourceKind
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.plugins.guards import call_guarded
from orgflow_ir.reporting.json_reporter import diagnostics_data
from orgflow_ir.targets.artifact import Emitted
from orgflow_ir.targets.verification import (
    VERIFICATION_VERSION,
    Condition,
    Difference,
    Verdict,
    Verification,
)

WIDTH = 80
_REPORTED = ("OF480", "OF481", "OF482", "OF483", "OF484", "OF489", "OF635")
_NOT_COMPARED = "OF487"
_LEFT = 38
_MOST_CONDITIONS = 3
"""Maximum number of conditions in the first sentence of a report."""

_HOW = {
    "map": "by the map",
    "notes": "by their notes",
    "id": "by their ids",
    "name": "by their names",
    "graph": "by their neighbours",
    "copy": "as copies",
}


class VerifyOptions(ProcessOptions, SourceOptions):
    """The options of `verify`."""

    model_: str
    workflows: tuple[str, ...]
    target: str
    strict: bool
    as_json: bool


@click.command("verify", short_help="Prove that a workflow behaves like its model.")
@click.argument("model_", metavar="MODEL", type=FILE)
@click.argument("workflows", metavar="WORKFLOW...", nargs=-1, required=True, type=FILE)
@target_option
@click.option(
    "--strict",
    is_flag=True,
    help="Count added steps, changed content, paused work and conditions as differences.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the result as JSON, with the findings.",
)
@process_option
@source_options
@parsed_into(VerifyOptions)
def command(options: VerifyOptions) -> None:
    """Verify that the workflow in WORKFLOW, as compiled or after edits, behaves like the model in
    MODEL; of a folder, like all models in it. If a model was compiled to several workflows, pass
    all their files or their folder.

    Every state that the target's engine can reach is compared with the states of the model, so
    loops are proved and not sampled. Verdicts: proved, proved if (with what has to hold of steps
    that people added or filled in), bounded (with the bound), changed (content differs and was not
    judged), different (with both runs in parallel), not compared (with the reason). Exit code 1:
    changed, different or not compared.
    """
    if [options.model_, *options.workflows].count("-") > 1:
        raise click.UsageError("only one of MODEL and the WORKFLOWs can be standard input")
    session = Session.with_options(options)
    backend, target_options = resolve_target(options.target, session.registry, [options.model_])
    paths = _find_models(options.model_, session)
    if len(paths) > 1 and options.process is not None:
        raise click.UsageError(
            f"--process is for one model, and there are {len(paths)}; name the file with the model "
            "of the process"
        )
    if len(paths) > 1:
        list_folders_once()
    contexts = [session.context() for _ in paths]
    requests = _read_models(options, paths, contexts, session, backend, target_options)
    results = _compare_models(options, requests, session, backend)
    _drop_workflows_of_others(contexts)
    for ctx in contexts:
        session.collect(ctx)
    code = exit_code(session.diagnostics)
    _print_results(options, results, session, backend)
    end_command(code)


Requests = list[tuple[CompileRequest, PassContext]]
"""The parts of each model that are compared, with its context."""


def _read_models(
    options: VerifyOptions,
    paths: Sequence[str],
    contexts: Sequence[PassContext],
    session: Session,
    backend: Backend,
    target_options: dict[str, str],
) -> Requests:
    """The models without errors, with the processes that they call."""
    requests: Requests = []
    for path, ctx in zip(paths, contexts, strict=True):
        ctx.given = paths
        model = session.load(path, ctx, options.from_, process=options.process)
        if model is not None:
            model = add_called_processes(model, backend, ctx)
        if model is not None and not ctx.has_errors:
            ctx.options = {**ctx.options, **target_options}
            requests.append((CompileRequest(model, backend, strict=options.strict), ctx))
    return requests


def _compare_models(
    options: VerifyOptions, requests: Requests, session: Session, backend: Backend
) -> list[Verification]:
    """The verifications of all models. Raises `click.UsageError`."""
    source = _read_workflows(options.workflows, requests[0][1], session) if requests else None
    if source is None:
        return []
    for request, ctx in requests:
        processes = [process.id for process in request.model.processes]
        ctx.options = combine_stated_options(backend, ctx.options, source, ctx, processes)
    results: list[Verification] = []
    for (request, ctx), files in zip(requests, _link_models(requests, backend), strict=True):
        compared = call_guarded(
            backend, "verify", tuple, request.model, source, ctx, strict=request.strict,
            emitted=files,
        )  # fmt: skip
        if compared is None:
            raise click.UsageError(f"target `{backend.name}` does not support verification")
        results += compared
    return results


def _print_results(
    options: VerifyOptions, results: Sequence[Verification], session: Session, backend: Backend
) -> None:
    """Print the report, and the findings that it does not have."""
    as_json = options.format_ == "json"
    if options.as_json or as_json:
        print_json(as_json_text(results, session.diagnostics))
    elif results:
        print_text(as_text(results, backend.name))
    if as_json:
        return
    if results and session.format == "text":  # the report says it already
        session.diagnostics = [d for d in session.diagnostics if d.code not in _REPORTED]
    session.show()


def _find_models(model: str, session: Session) -> list[str]:
    """The models that are meant: a folder is that of all models in it, unless a frontend reads it
    as a whole."""
    if model == "-" or not os.path.isdir(model):
        return [model]
    frontends = session.registry.frontends.values()
    if any(SourceKind.FOLDER in frontend.accepts for frontend in frontends):
        return [model]
    paths, empty = expand_folders((model,), session)
    if empty:
        ctx = session.context()
        ctx.emit(UnreadableInput, f"there is no model in {model}", help="name a file in it")
        session.collect(ctx)
    return paths


def _read_workflows(
    workflows: Sequence[str], ctx: PassContext, session: Session
) -> SourceFile | None:
    """The workflows of all files; `None` after an error."""
    try:
        source = read_together(workflows)
    except InputError as error:
        ctx.emit(UnreadableInput, str(error), help=error.help)
        return None
    session.inputs.append(source.path)
    return source


def _link_models(requests: Requests, backend: Backend) -> Sequence[Emitted | None]:
    """The files of several models that are compiled together; none of a model that is compared by
    itself, and none where one of them cannot be compiled."""
    alone: list[Emitted | None] = [None] * len(requests)
    if len(requests) < 2:
        return alone
    compiled = []
    for request, ctx in requests:
        emitted = emit_despite_errors(request.model, backend, ctx)
        if emitted is None:
            return alone
        compiled.append((request.model, emitted))
    first = requests[0][1]
    quiet = PassContext(registry=first.registry, target=backend.target)
    quiet.options = {**backend.target.default_options, **first.options}
    return backend.link(compiled, quiet)


def _drop_workflows_of_others(contexts: Sequence[PassContext]) -> None:
    """Of several models, report a workflow as not compared only if it was compared with none."""
    if len(contexts) < 2:
        return
    of_none = [{d.message for d in ctx.diagnostics if d.code == _NOT_COMPARED} for ctx in contexts]
    kept = set.intersection(*of_none)
    for number, ctx in enumerate(contexts):
        ctx.diagnostics[:] = [
            d
            for d in ctx.diagnostics
            if d.code != _NOT_COMPARED or (number == 0 and d.message in kept)
        ]


def as_text(results: Sequence[Verification], target: str) -> str:
    """The report for people: one block per process, 80 columns."""
    blocks = ["\n".join(_describe_result(result, target)) for result in results]
    return "\n\n".join(blocks) + "\n"


def _describe_result(result: Verification, target: str) -> list[str]:
    what = f"the workflow `{result.workflow}` behaves like the process `{result.label}`"
    looked = f"all {result.states} states were compared"
    heading = result.verdict.value
    if result.verdict is Verdict.CONDITIONAL:
        heading = _describe_conditions(result.conditions)
    sentence = {
        "proved": f"{what}; {looked}",
        "proved if": f"{what}; {looked}",
        "changed": f"the workflow `{result.workflow}` has other content than the process "
        f"`{result.label}`; whether it does the same was not determined. Apart from that, {looked}",
        "bounded": f"no difference between the workflow `{result.workflow}` and the process "
        f"`{result.label}` was found, but not everything was compared: {result.bound}",
        "not compared": f"it is not known whether the workflow `{result.workflow}` behaves like "
        f"the process `{result.label}`: {result.bound}",
        "different": f"the workflow `{result.workflow}` does not behave like the process "
        f"`{result.label}`"
        if result.workflow
        else f"no workflow implements the process `{result.label}`",
    }[result.verdict.value]
    lines = _wrap_lines(f"{heading}: {sentence}", "")
    if result.difference is not None:
        lines += _wrap_lines(result.difference.message, "  ")
        lines += side_by_side(result.difference)
    lines += _describe_matching(result)
    for change in result.changed:
        lines += _wrap_lines(f"changed: `{change.node}`", "  ")
        lines += _wrap_lines(f"was {change.was}", "    ") + _wrap_lines(f"is  {change.now}", "    ")
    if result.added:
        lines += _wrap_lines("added: " + ", ".join(f"`{n}`" for n in result.added), "  ")
    if result.missing:
        lines += _wrap_lines("not there: " + ", ".join(f"`{n}`" for n in result.missing), "  ")
    if result.verdict is not Verdict.CONDITIONAL or len(result.conditions) > _MOST_CONDITIONS:
        for condition in result.conditions:
            lines += _wrap_lines(f"condition: {condition.text}", "  ")
    for delay in result.delayed:
        lines += _wrap_lines(f"{target} takes turns: {delay}", "  ")
    for taken in result.assumed:
        lines += _wrap_lines(f"assumed: {taken}", "  ")
    return lines


def _describe_conditions(conditions: Sequence[Condition]) -> str:
    """The verdict with what has to hold: in words, or by number where these are many."""
    if len(conditions) > _MOST_CONDITIONS:
        return f"proved if {len(conditions)} conditions hold"
    return f"proved if {join_listed(condition.text for condition in conditions)}"


def side_by_side(difference: Difference) -> list[str]:
    """Both runs up to the difference, with the diverging line marked."""
    if not difference.lines:
        return []
    rows = ["", f"  {'model':<{_LEFT}}workflow"]
    last = len(difference.lines) - 1
    for number, line in enumerate(difference.lines):
        left = textwrap.wrap(line.model, _LEFT - 2) or [""]
        right = textwrap.wrap(line.workflow, WIDTH - _LEFT - 3) or [""]
        for at in range(max(len(left), len(right))):
            mark = ">" if number == last and at == 0 else " "
            model = left[at] if at < len(left) else ""
            workflow = right[at] if at < len(right) else ""
            rows.append(f"{mark} {model:<{_LEFT}}{workflow}".rstrip())
    return [*rows, ""]


def _describe_matching(result: Verification) -> list[str]:
    count = Counter(m.how for m in result.matched)
    parts = [f"{n} {_HOW[how]}" for how, n in sorted(count.items(), key=lambda e: -e[1])]
    if not parts:
        return []
    nodes = "node" if len(result.matched) == 1 else "nodes"
    lines = _wrap_lines(f"{len(result.matched)} {nodes} found: {', '.join(parts)}", "  ")
    unsure = [m for m in result.matched if m.how in ("graph", "copy")]
    for match in unsure:
        lines += _wrap_lines(f"`{match.node}` stands for {match.element} {_HOW[match.how]}", "    ")
    return lines


def _wrap_lines(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def as_json_text(results: Sequence[Verification], diagnostics: Sequence[Diagnostic] = ()) -> str:
    """The results and all findings as JSON, by `orgflow_ir/schema/verification.schema.json`."""
    document = {
        "format": "orgflow-verification",
        "version": VERIFICATION_VERSION,
        "ok": bool(results) and all(r.ok for r in results),
        "results": [_to_json(r) for r in results],
        **diagnostics_data(diagnostics),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _to_json(value: Any) -> Any:
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {key: _to_json(entry) for key, entry in value._asdict().items()}
    if isinstance(value, tuple | list):
        return [_to_json(entry) for entry in value]
    return value
