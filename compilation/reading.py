"""From an input to a model: the frontend is chosen, and parses."""

from __future__ import annotations

from orgflow.compilation.frontend_choice import select_frontend
from orgflow.compilation.input_sources import open_source
from orgflow.compilation.usage_errors import InputError

from orgflow_ir.diagnostics.core_rules import UnreadableInput
from orgflow_ir.model import Model
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.source import Source
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.leaves import Leaves
from orgflow_ir.plugins.contracts import Frontend
from orgflow_ir.plugins.guards import parsed


class ReadRequest(NamedTuple):
    """An input and how it is read.

    Attributes:
        path: a file, a folder, or `-` for standard input.
        format: the name of the frontend; by default, suffix and content decide.
        process: the only process to keep, by its id, its name, or the name of its pool.
        diagram: whether positions are read as well.
    """

    path: str
    format: str | None = None
    process: str | None = None
    diagram: bool = False


class ReadOutcome(NamedTuple):
    """A model that was read.

    Attributes:
        model: `None` after an error.
        source: the input in the form that the frontend parses; `None` without a frontend.
    """

    model: Model | None = None
    source: Source | None = None


def read_model(request: ReadRequest, ctx: PassContext) -> ReadOutcome:
    """Read one input; errors of its content are in `ctx`, whose registry has the frontends.

    Raises:
        InputError: the input cannot be read, or is of a kind that the frontend does not read.
        UnknownName: there is no such frontend or process.
    """
    assert ctx.registry is not None
    with open_source(request.path) as opened:
        selected = select_frontend(opened, ctx.registry, ctx, request.format)
        if selected is None:
            return ReadOutcome()
        frontend, source = selected
        model = parse_source(frontend, source, ctx, diagram=request.diagram)
    if model is not None and request.process is not None:
        from orgflow.compilation.process_selection import select_process  # seldom wanted

        model = select_process(model, request.process)
    return ReadOutcome(model, source)


def load_model(
    source: Source | str,
    registry: Leaves,
    ctx: PassContext,
    *,
    from_: str | None = None,
    diagram: bool = False,
) -> Model | None:
    """The model in `source` (a path is opened first), or `None` after an error was reported.

    The frontend is `from_`, otherwise the one for the suffix; if there are several, the one that
    recognises the content. Raises `UnknownName` for a frontend that does not exist, and
    `InputError` if a source other than a path is of a kind or size that the frontend does not read.
    """
    if isinstance(source, str):
        try:
            with open_source(source) as opened:
                return load_model(opened, registry, ctx, from_=from_, diagram=diagram)
        except InputError as error:
            ctx.emit(UnreadableInput, str(error), help=error.help)
            return None
    selected = select_frontend(source, registry, ctx, from_)
    return parse_source(*selected, ctx, diagram=diagram) if selected is not None else None


def parse_source(
    frontend: Frontend, source: Source, ctx: PassContext, *, diagram: bool = False
) -> Model | None:
    """The model that a frontend reads from the result of `select_frontend`, or `None`."""
    ctx.options = {**ctx.options, "diagram": diagram}
    return parsed(frontend, source, ctx)
