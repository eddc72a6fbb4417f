"""Filling the gaps of a model, for `fill` and `compile --fill`."""

from __future__ import annotations

from typing import Any

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
    model_texts,
    read_ahead,
)

from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.targets.catalogue import CatalogueError

WITH_MODEL = ("times", "operations", "labels")
"""The agents, in the order in which they are asked; all except the first ask a language model."""

BY_RULES = ("times", "operations-rules")

_ACCEPT = "accept-proposals"
"""The option of the agent `operations-rules` that accepts its own proposals."""


def fill_model(
    model: Model,
    backend: Backend,
    session: Session,
    ctx: PassContext,
    *,
    flags: dict[str, Any],
    near: str,
    where: str = "",
    accept: bool = False,
    no_model: bool = False,
    feedback: str | None = None,
    more: tuple[str, ...] = (),
    report_open: bool = False,
) -> Model:
    """The model with the answers of agents that passes accept; accepted, refused and omitted
    answers are in `ctx`.

    Args:
        flags: what `model_flags` gave.
        near: the file of the model, near which `orgflow.toml` is searched.
        where: an installation of the target, or the address of a server; otherwise the default.
        accept: whether operations that match by their words alone are used.
        more: further agents, which are asked first.
        feedback: a report of failures after an earlier filling.
        report_open: whether every remaining gap is reported, with the reason.

    Raises:
        click.UsageError: the target has no catalogue, an agent is unknown, or the language model is
            configured wrongly.
    """
    from orgflow.agents.model_client.client import OpenAIModelClient
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
    # One client for all models of a command: its limits are those of the whole run.
    before_it = session.services.model
    client = before_it if isinstance(before_it, OpenAIModelClient) else None
    names: tuple[str, ...] = WITH_MODEL if client is not None else BY_RULES
    if not no_model and client is None:
        try:
            client = connect_model(session, flags, near)
        except NotConfigured as error:
            session.note(f"{error}; filling by rules alone")
        else:
            names = WITH_MODEL
    failures = read_feedback(feedback)
    if client is not None:
        from orgflow.agents.filling.expected import expected_filling
        from orgflow.evaluation.feedback import expected_diagnosis

        expected = expected_filling(model, catalogue)
        expected += expected_diagnosis(failures, model, backend.name)
        announce_model(session, client, expected)
        shown = [line for one in failures for line in one.evidence]
        read_ahead((*model_texts(model), *shown), session.services)
    session.note(f"{len(catalogue.operations):,} operations of {catalogue.name}")
    before = dict(ctx.options)
    ctx.options = {**before, _ACCEPT: accept}
    try:
        with paid_calls(client):
            give_feedback(failures, model, backend.name, session, ctx)
            agents = (*first, *choose_agents(names, session.registry))
            return fill_gaps(model, agents, ctx, report_open=report_open)
    finally:
        ctx.options = before
        if client is not None:
            report_usage(session, client)
