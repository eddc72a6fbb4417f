"""Filling the gaps of models, for `fill` and `compile --fill`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from orgflow.commands.language_model import (
    announce_model,
    connect_model,
    give_feedback,
    paid_calls,
    read_feedback,
    report_usage,
)
from orgflow.commands.session import Session
from orgflow.compiler import (
    UnknownName,
    UnsupportedError,
    choose_agents,
    fill_gaps,
    load,
    model_texts,
    read_ahead,
    with_called,
)

from orgflow_ir.diagnostics.agent_rules import UnavailableAgent
from orgflow_ir.model import Model
from orgflow_ir.model.element_names import is_taken_over
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.operation_catalogue import CatalogueError
from orgflow_ir.plugins.contracts import Backend

if TYPE_CHECKING:
    from orgflow.evaluation.failures import Failure

    from orgflow_ir.plugins.agents import GapAgent

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


def fill_models(
    read: Sequence[Loaded],
    backend: Backend,
    session: Session,
    *,
    flags: dict[str, Any],
    where: str = "",
    accept: bool = False,
    no_model: bool = False,
    feedback: str | None = None,
    more: tuple[str, ...] = (),
    report_open: bool = False,
    called: bool = False,
) -> list[Loaded]:
    """The models with the answers of agents that passes accept; accepted, refused and omitted
    answers are in the context of each. Each file is filled once, and models that call its processes
    have the filled ones (`PassContext.changed`).

    Args:
        flags: what `model_flags` gave.
        where: an installation of the target, or the address of a server; otherwise the default.
        accept: whether operations that match by their words alone are used.
        more: further agents, which are asked first.
        feedback: a report of failures after an earlier filling.
        report_open: whether every remaining gap is reported, with the reason.
        called: whether files that are not in `read`, but whose processes models in it call, are
            filled as well.

    Raises:
        click.UsageError: the target has no catalogue, an agent is unknown, or the language model is
            configured wrongly.
    """
    from orgflow.agents.model_client.settings import NotConfigured

    try:
        catalogue = backend.catalogue(where)
    except CatalogueError as error:
        raise click.UsageError(str(error)) from None
    if catalogue is None:
        raise click.UsageError(f"target `{backend.name}` has no catalogue of operations")
    session.services.catalogue = catalogue
    try:
        first = choose_agents(more, session.registry)
    except (UnknownName, UnsupportedError) as error:
        raise click.UsageError(str(error)) from None
    if not read:
        return []
    client = None
    if not no_model:
        try:
            client = connect_model(session, flags, read[0].path)
        except NotConfigured as error:
            session.note(f"{error}; filling by rules alone")
    failures = read_feedback(feedback)
    every = [*read, *(_called_files(read, backend, session) if called else ())]
    if client is not None:
        from orgflow.agents.filling.expected import expected_filling
        from orgflow.agents.model_client.usage import Expected
        from orgflow.evaluation.feedback import expected_diagnosis

        expected = sum((expected_filling(one.model, catalogue) for one in every), Expected())
        expected += expected_diagnosis(failures, read[0].model, backend.name)
        announce_model(session, client, expected)
        shown = [line for one in failures for line in one.evidence]
        texts = [text for one in every for text in model_texts(one.model)]
        read_ahead((*texts, *shown), session.services)
    session.note(f"{len(catalogue.operations):,} operations of {catalogue.name}")
    filled: list[Loaded] = []
    asks = client is not None
    try:
        with paid_calls(client):
            for one in every:
                names = WITH_MODEL if asks else BY_RULES
                agents = (*first, *choose_agents(names, session.registry))
                model = _filled(
                    one, agents, failures, backend, session, accept=accept, report_open=report_open
                )
                filled.append(one._replace(model=model))
                # A server that failed would fail again, after the time limit of each call.
                asks = asks and not has_failed(one.ctx)
    finally:
        if client is not None:
            report_usage(session, client)
    for one in filled[len(read) :]:
        session.collect(one.ctx)
    changed = {os.path.abspath(one.path): one.model for one in filled if one.path != "-"}
    for one in filled:
        one.ctx.changed = changed
    return filled[: len(read)]


def has_failed(ctx: PassContext) -> bool:
    """Whether the language model failed."""
    return any(d.code == UnavailableAgent.code for d in ctx.diagnostics)


def _filled(
    one: Loaded,
    agents: Sequence[GapAgent],
    failures: Sequence[Failure],
    backend: Backend,
    session: Session,
    *,
    accept: bool,
    report_open: bool,
) -> Model:
    """See `fill_models`."""
    ctx = one.ctx
    before = dict(ctx.options)
    ctx.options = {**before, _ACCEPT: accept}
    try:
        give_feedback(failures, one.model, backend.name, session, ctx)
        return fill_gaps(one.model, agents, ctx, report_open=report_open)
    finally:
        ctx.options = before


def _called_files(read: Sequence[Loaded], backend: Backend, session: Session) -> Iterator[Loaded]:
    """The models in other files whose processes some models call; their findings are reported where
    these files are compiled."""
    known = {os.path.abspath(one.path) for one in read}
    for one in read:
        quiet = session.context()
        quiet.given = one.ctx.given
        whole = with_called(one.model, backend, quiet)
        for process in whole.processes:
            file = process.loc.file if process.loc is not None else ""
            if is_taken_over(process, whole) and os.path.abspath(file) not in known:
                known.add(os.path.abspath(file))
                model = load(file, session.registry, session.context())
                if model is not None:
                    yield Loaded(file, model, session.context())
