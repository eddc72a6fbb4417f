"""Agents of a compilation: their choice by name, the gaps that they fill, the models they draft."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from orgflow.compilation.model_checks import check_model
from orgflow.compilation.usage_errors import UnknownName, UnsupportedError

from orgflow_ir.diagnostics import Diagnostic, Rule, Severity
from orgflow_ir.diagnostics.agent_rules import UnavailableAgent
from orgflow_ir.diagnostics.core_rules import FaultyLeaf
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.model.provenance import all_elements
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.agent_services import ReadsAhead
from orgflow_ir.pipeline.leaves import Leaves
from orgflow_ir.pipeline.services import ServiceError, Services
from orgflow_ir.plugins.agents import Agent, Document, GapAgent, ModelAgent
from orgflow_ir.plugins.guards import leaf_name, registration_fault

if TYPE_CHECKING:
    from orgflow_ir.filling import agent_guards, evidence_check, gap_filling
else:  # an agent was asked
    agent_guards = LazyModule("orgflow_ir.filling.agent_guards")
    evidence_check = LazyModule("orgflow_ir.filling.evidence_check")
    gap_filling = LazyModule("orgflow_ir.filling.gap_filling")


def choose_agents(wanted: Iterable[str | Agent], registry: Leaves) -> tuple[GapAgent, ...]:
    """Agents that answer gaps, passed as objects or by their names.

    Raises `UnknownName`, and `UnsupportedError` for an agent that answers no gaps.
    """
    if isinstance(wanted, str):
        raise UnsupportedError(f"the agents are a text; pass a list, as in [{wanted!r}]")
    chosen = []
    for item in wanted:
        agent = _find_agent(item, registry)
        if not isinstance(agent, GapAgent):
            raise UnsupportedError(f"agent `{agent.name}` does not answer gaps")
        chosen.append(agent)
    return tuple(chosen)


def choose_drafter(wanted: str | Agent, registry: Leaves) -> ModelAgent:
    """An agent that produces models, passed as an object or by its name.

    Raises `UnknownName`, and `UnsupportedError` for an agent that produces none.
    """
    agent = _find_agent(wanted, registry)
    if not isinstance(agent, ModelAgent):
        raise UnsupportedError(f"agent `{agent.name}` does not produce models")
    return agent


def _find_agent(wanted: str | Agent, registry: Leaves) -> Agent:
    if not isinstance(wanted, str):
        wrong = registration_fault(wanted, Agent)
        if wrong is not None:
            raise UnsupportedError(f"this cannot be used as an agent: {wrong}")
        return wanted
    agent: Agent | None = registry.agents.get(wanted)
    if agent is None:
        raise UnknownName("agent", wanted, tuple(registry.agents))
    return agent


def fill_gaps(
    model: Model, agents: Sequence[GapAgent], ctx: PassContext, *, report_open: bool = False
) -> Model:
    """The model with the answers of agents that the passes of `check` accept; answers and refusals
    are in `ctx`, with `report_open` also the remaining gaps. A malformed model is returned
    unchanged, and no agent is asked."""
    if not agents and not report_open:
        return model

    def find_errors(changed: Model) -> tuple[Diagnostic, ...]:
        quiet = PassContext(registry=ctx.registry, services=ctx.services)
        check_model(changed, quiet)
        return tuple(d for d in quiet.diagnostics if d.severity is Severity.ERROR)

    read_ahead(list_model_texts(model), ctx.services)
    malformed = ctx.has_errors or any(
        d.category is not None and d.category.stops for d in find_errors(model)
    )
    if malformed:  # nobody is asked
        return gap_filling.fill_gaps(model, (), ctx, report_open=report_open).model
    return gap_filling.fill_gaps(model, agents, ctx, find_errors, report_open=report_open).model


def read_ahead(texts: Iterable[str], services: Services) -> None:
    """Pass the texts of a run to the language model's client before the first request, so that
    personal data in a later text are recognised in an earlier one."""
    if isinstance(services.model, ReadsAhead):
        services.model.learn(texts)


def list_model_texts(model: Model) -> tuple[str, ...]:
    """The texts of the elements of a model: all names, documentation, and cited passages."""
    every = (model, *all_elements(model))
    quotes = dict.fromkeys(e.quote for element in every for e in element.evidence if e.quote)
    docs = dict.fromkeys(element.doc for element in every if element.doc)
    names = dict.fromkeys(element.name for element in every if element.name)
    return ("\n".join(names), *docs, *quotes)


def draft_model(agent: ModelAgent, documents: Sequence[Document], ctx: PassContext) -> Model | None:
    """The model that an agent produces from documents, its evidence compared with them; `None`
    after an error."""
    texts = {document.name: document.text for document in documents}
    read_ahead(texts.values(), ctx.services)
    store = ctx.services.store

    def text_of(name: str) -> str | None:
        return texts.get(name) if name in texts or store is None else store.text(name)

    try:
        model = agent_guards.produce_model(agent, documents, ctx)
        if model is not None:
            evidence_check.check_evidence(model, text_of, ctx)
    except agent_guards.AgentFailure as failure:
        rule: type[Rule] = UnavailableAgent if failure.unavailable else FaultyLeaf
        ctx.emit(rule, f"{leaf_name(agent, ctx)} {failure}", severity=Severity.ERROR)
        return None
    except ServiceError as error:
        ctx.emit(
            UnavailableAgent, f"the evidence of {leaf_name(agent, ctx)} cannot be read: {error}",
            severity=Severity.ERROR,
        )  # fmt: skip
        return None
    return model
