"""Filling the gaps of models, for `fill` and `compile --fill`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click
from orgflow.agents.model_client.settings import NotConfigured
from orgflow.agents.model_client.usage import Expected
from orgflow.commands.language_model import (
    announce_model,
    connect_model,
    give_feedback,
    paid_calls,
    read_feedback,
    report_usage,
)
from orgflow.commands.session import Session
from orgflow.compilation.agent_answers import choose_agents, fill_gaps, list_model_texts, read_ahead
from orgflow.compilation.reading import load_model
from orgflow.compilation.usage_errors import UnknownName, UnsupportedError
from orgflow.compiler import add_called_processes

from orgflow_ir.diagnostics.agent_rules import UnavailableAgent
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.model.element_names import is_taken_over
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.operation_catalogue import Catalogue, CatalogueError
from orgflow_ir.plugins.contracts import Backend

if TYPE_CHECKING:
    from orgflow.agents.filling import expected
    from orgflow.agents.model_client.client import OpenAIModelClient
    from orgflow.evaluation import feedback
    from orgflow.evaluation.failures import Failure

    from orgflow_ir.plugins.agents import GapAgent
else:  # with a language model only
    expected = LazyModule("orgflow.agents.filling.expected")
    feedback = LazyModule("orgflow.evaluation.feedback")

WITH_MODEL = ("times", "operations", "labels")
"""The agents, in the order in which they are asked; all except the first ask a language model."""

BY_RULES = ("times", "operations-rules")

_ACCEPT = "accept-proposals"
"""The option of the agent `operations-rules` that accepts its own proposals."""


class Loaded(NamedTuple):
    """A model of a command, its file, and the context that receives what is found in it."""

    path: str
    model: Model
    ctx: PassContext


class FillRequest(NamedTuple):
    """How models are filled.

    Attributes:
        backend: the target, which has the operations.
        settings: of the language model, as `model_settings` returns them.
        where: an installation of the target, or the address of a server; otherwise the default.
        accept: whether operations that match by their words alone are used.
        no_model: whether no language model is asked.
        feedback: a report of failures after an earlier filling.
        more: further agents, which are asked first.
        report_open: whether every remaining gap is reported, with the reason.
        called: whether files that are not named, but whose processes models call, are filled as
            well.
    """

    backend: Backend
    settings: dict[str, Any]
    where: str = ""
    accept: bool = False
    no_model: bool = False
    feedback: str | None = None
    more: tuple[str, ...] = ()
    report_open: bool = False
    called: bool = False


def fill_models(read: Sequence[Loaded], request: FillRequest, session: Session) -> list[Loaded]:
    """The models with the answers of agents that passes accept; accepted, refused and omitted
    answers are in the context of each. Each file is filled once, and models that call its processes
    have the filled ones (`PassContext.changed`).

    Raises:
        click.UsageError: the target has no catalogue, an agent is unknown, or the language model is
            configured wrongly.
    """
    backend = request.backend
    catalogue = _open_catalogue(request)
    session.services.catalogue = catalogue
    try:
        first = choose_agents(request.more, session.registry)
    except (UnknownName, UnsupportedError) as error:
        raise click.UsageError(str(error)) from None
    if not read:
        return []
    client = None
    if not request.no_model:
        try:
            client = connect_model(session, request.settings, read[0].path)
        except NotConfigured as error:
            session.note(f"{error}; filling by rules alone")
    failures = read_feedback(request.feedback)
    every = [*read, *(_read_called_files(read, backend, session) if request.called else ())]
    if client is not None:
        _announce_filling(client, every, catalogue, failures, backend, session)
    session.note(f"{len(catalogue.operations):,} operations of {catalogue.name}")
    filled: list[Loaded] = []
    asks = client is not None
    try:
        with paid_calls(client):
            for item in every:
                names = WITH_MODEL if asks else BY_RULES
                agents = (*first, *choose_agents(names, session.registry))
                model = _fill_model(item, agents, failures, request, session)
                filled.append(item._replace(model=model))
                # A server that failed would fail again, after the time limit of each call.
                asks = asks and not has_failed(item.ctx)
    finally:
        if client is not None:
            report_usage(session, client)
    for item in filled[len(read) :]:
        session.collect(item.ctx)
    changed = {os.path.abspath(item.path): item.model for item in filled if item.path != "-"}
    for item in filled:
        item.ctx.changed = changed
    return filled[: len(read)]


def _open_catalogue(request: FillRequest) -> Catalogue:
    """The operations of the target. Raises `click.UsageError`."""
    try:
        catalogue = request.backend.catalogue(request.where)
    except CatalogueError as error:
        raise click.UsageError(str(error)) from None
    if catalogue is None:
        raise click.UsageError(f"target `{request.backend.name}` has no catalogue of operations")
    return catalogue


def _announce_filling(
    client: OpenAIModelClient,
    every: Sequence[Loaded],
    catalogue: Catalogue,
    failures: Sequence[Failure],
    backend: Backend,
    session: Session,
) -> None:
    """Report the expected usage of the language model, and show it the texts for redaction."""
    usage = sum((expected.expected_filling(item.model, catalogue) for item in every), Expected())
    usage += feedback.expected_diagnosis(failures, every[0].model, backend.name)
    announce_model(session, client, usage)
    shown = [line for failure in failures for line in failure.evidence]
    texts = [text for item in every for text in list_model_texts(item.model)]
    read_ahead((*texts, *shown), session.services)


def has_failed(ctx: PassContext) -> bool:
    """Whether the language model failed."""
    return any(d.code == UnavailableAgent.code for d in ctx.diagnostics)


def _fill_model(
    item: Loaded,
    agents: Sequence[GapAgent],
    failures: Sequence[Failure],
    request: FillRequest,
    session: Session,
) -> Model:
    """See `fill_models`."""
    ctx = item.ctx
    before = dict(ctx.options)
    ctx.options = {**before, _ACCEPT: request.accept}
    try:
        give_feedback(failures, item.model, request.backend.name, session, ctx)
        return fill_gaps(item.model, agents, ctx, report_open=request.report_open)
    finally:
        ctx.options = before


def _read_called_files(
    read: Sequence[Loaded], backend: Backend, session: Session
) -> Iterator[Loaded]:
    """The models in other files whose processes some models call; their findings are reported where
    these files are compiled."""
    known = {os.path.abspath(item.path) for item in read}
    for item in read:
        quiet = session.context()
        quiet.given = item.ctx.given
        whole = add_called_processes(item.model, backend, quiet)
        for process in whole.processes:
            file = process.loc.file if process.loc is not None else ""
            if is_taken_over(process, whole) and os.path.abspath(file) not in known:
                known.add(os.path.abspath(file))
                model = load_model(file, session.registry, session.context())
                if model is not None:
                    yield Loaded(file, model, session.context())
