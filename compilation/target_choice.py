"""The target that a name means, and its options."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from orgflow.compilation.usage_errors import OptionError, UnknownName, suggest_name

from orgflow_ir.model.element_names import join_listed
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.leaves import Leaves
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.targets.target_rules import ContradictedOption, KeptOption


def choose_backend(name: str, registry: Leaves) -> Backend:
    """The backend of that name. Raises `UnknownName`."""
    backend: Backend | None = registry.backend(name)
    if backend is None:
        raise UnknownName("target", name, tuple(registry.backends))
    return backend


def check_target_options(backend: Backend, options: Mapping[str, str]) -> dict[str, str]:
    """The options, each with an existing name and a permitted value; an option with an empty table
    of values accepts any. Raises `OptionError`."""
    known = backend.target.options
    for key, value in options.items():
        if key not in known:
            raise OptionError(
                f"target `{backend.name}` has no option `{key}`; {suggest_name(key, tuple(known))}"
            )
        given: Any = value  # callers of the library need not check their types
        if not isinstance(given, str):
            raise OptionError(
                f"option `{key}` of target `{backend.name}` is a `{type(given).__name__}`; "
                f"options are text, as in {{{key!r}: {str(given)!r}}}"
            )
        if known[key] and value not in known[key]:
            raise OptionError(
                f"option `{key}` of target `{backend.name}` cannot be `{value}`; "
                f"it is one of: {', '.join(known[key])}"
            )
        check = backend.target.values.get(key)
        reason = check(value) if check is not None else None
        if reason is not None:
            raise OptionError(
                f"option `{key}` of target `{backend.name}` cannot be `{value}`; {reason}"
            )
    return dict(options)


def combine_stated_options(
    backend: Backend,
    given: Mapping[str, str],
    source: SourceFile,
    ctx: PassContext,
    processes: Collection[str] = (),
) -> dict[str, str]:
    """The options for a model that is compared with a file of the target: those with which the file
    was compiled, if it states any, and those of the command line or of a configuration (`given`),
    which have priority. OF410 for each option in which the two differ.

    Args:
        processes: ids of the processes of the model, if the file may contain others.
    """
    stated = backend.stated_options(source, processes)
    if stated is None:
        return dict(given)
    report_contradictions(backend, given, stated, f"the workflow in {source.path}", ctx)
    return {**stated, **given}


def keep_deployed_options(
    backend: Backend,
    given: Mapping[str, str],
    stated: Mapping[str, str],
    ctx: PassContext,
) -> dict[str, str]:
    """The options for a model whose workflow is on a server: those that the workflow states, and
    those that are given, which have priority. OF640 names the ones that only the workflow states.
    """
    kept = [f"`{name}={value}`" for name, value in stated.items() if name not in given]
    if kept:
        ctx.emit(
            KeptOption,
            f"compiled with {join_listed(kept)}, as the deployed workflow was",
            help="give the option with another value to change it",
        )
    return {**stated, **given}


def report_contradictions(
    backend: Backend,
    given: Mapping[str, str],
    stated: Mapping[str, str],
    workflow: str,
    ctx: PassContext,
) -> None:
    """OF410 for each given option that a workflow states differently."""
    spec = backend.target
    compiled = {**spec.default_options, **stated}
    for name, value in given.items():
        if name in spec.options and compiled.get(name) != value:
            before = compiled.get(name)
            was = f"`{name}={before}`" if before is not None else f"no `{name}`"
            ctx.emit(
                ContradictedOption,
                f"{workflow} was compiled with {was}, and this command uses `{name}={value}`",
                help=f"omit `{name}` to use the options of the workflow",
            )
