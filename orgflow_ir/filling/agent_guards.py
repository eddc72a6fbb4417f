"""Calls agents; whatever an agent does, the result obeys the contract, or `AgentFailure` is
raised."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from orgflow_ir.diagnostics import Diagnostic, Severity
from orgflow_ir.model import Evidence, Model
from orgflow_ir.model.provenance import all_elements
from orgflow_ir.model.verifier import list_violations
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.outside import validate_findings, writable_model
from orgflow_ir.pipeline.services import (
    MissingService,
    OverBudget,
    ServiceError,
    current_agent,
)
from orgflow_ir.pipeline.value_texts import exception_text, print_traceback, show_value
from orgflow_ir.plugins.agents import Agent, Answer, Document, GapAgent, ModelAgent, Refusal
from orgflow_ir.plugins.guards import leaf_name

if TYPE_CHECKING:
    from orgflow_ir.gaps.gap import Gap

T = TypeVar("T")


class AgentFailure(Exception):
    """The failure of an agent, as the end of a sentence.

    Attributes:
        unavailable: a service that it needs is missing, failed or has exhausted its budget; calling
            it again in this compilation is useless, and no code is at fault.
    """

    def __init__(self, message: str, *, unavailable: bool = False) -> None:
        super().__init__(message)
        self.unavailable = unavailable


def ask_agent(
    agent: GapAgent, gap: Gap, model: Model, ctx: PassContext, refused: tuple[Refusal, ...]
) -> Answer | None:
    """The answer of an agent to a gap; the value is not validated yet. Its findings go to `ctx`, at
    most as warnings, because an agent cannot stop a compile. Raises `AgentFailure`."""

    def call_answer(own: PassContext) -> Answer | None:
        given: Any = agent.answer(gap, model, own, refused)
        if given is None:
            return None
        if not isinstance(given, Answer):
            raise AgentFailure(f"returned {show_value(given)}, which is not an `Answer`")
        evidence = tuple(Evidence.validate(item) for item in given.evidence)
        return Answer(given.value, evidence)

    return _call_agent(agent, call_answer, ctx, most=Severity.WARNING)


def produce_model(
    agent: ModelAgent, documents: Sequence[Document], ctx: PassContext
) -> Model | None:
    """The model that an agent produces, all its parts validated; `None` after an error that it
    reported to `ctx`. Raises `AgentFailure`, including if the model violates the rules of the
    IR."""

    def call_produce(own: PassContext) -> Model | None:
        given: Any = agent.produce(documents, own)
        if given is None:
            if not own.has_errors:
                raise AgentFailure("returned no model and gave no reason")
            return None
        if not isinstance(given, Model):
            raise AgentFailure(f"returned {show_value(given)}, which is not a model")
        model = Model.validate(given)
        broken = sorted(list_violations(model))
        if broken:
            raise AgentFailure(f"returned an invalid model: {broken[0]}")
        if (unknown := _unknown_origin(model)) is not None:
            raise AgentFailure(f"returned a model in which {unknown}")
        return writable_model(model, f"the model of {leaf_name(agent, ctx)}", own)

    return _call_agent(agent, call_produce, ctx, most=Severity.ERROR)


def _unknown_origin(model: Model) -> str | None:
    """The first element that is derived from one that is not there, as a clause. Nothing precedes
    the model of an agent, so that all ids in `derived_from` are its own."""
    known = {model.id, *(element.id for element in all_elements(model))}
    for element in (model, *all_elements(model)):
        for id in element.derived_from:
            if id not in known:
                return f"`{element.label}` is derived from `{id}`, which it does not contain"
    return None


def _call_agent(
    agent: Agent, call: Callable[[PassContext], T], ctx: PassContext, *, most: Severity
) -> T:
    """What a call gives that gets a context of its own, so that nothing done to that one matters.
    Its findings go to `ctx`, no more severe than `most`."""
    own = PassContext(
        registry=ctx.registry, target=ctx.target, options=dict(ctx.options), source=ctx.source,
        services=ctx.services, current=agent.name,
    )  # fmt: skip
    findings: list[Diagnostic] = []
    working = current_agent.set(agent.name)
    try:
        with contextlib.redirect_stdout(sys.stderr):  # ours is for the artifact
            try:
                return call(own)
            finally:
                own.diagnostics = list(own.diagnostics)
                validate_findings(agent, own, 0)
                findings = own.diagnostics
    except (MemoryError, KeyboardInterrupt, AgentFailure):
        raise
    except MissingService as error:
        raise AgentFailure(f"cannot work: {error}", unavailable=True) from None
    except OverBudget as error:
        reason = str(error) or "the budget is spent"
        raise AgentFailure(f"stopped: {reason}", unavailable=True) from None
    except ServiceError as error:
        raise AgentFailure(f"stopped: {error}", unavailable=True) from None
    except BaseException as error:  # an agent must not end the program
        if getattr(error, "ends_process", False):  # a signal does, and the agent has no part in it
            raise
        print_traceback(error)
        text = exception_text(error)
        raise AgentFailure(f"failed with {text} (ORGFLOW_DEBUG=1 shows where)") from None
    finally:
        current_agent.reset(working)
        ctx.diagnostics.extend(
            d if d.severity.rank >= most.rank else d.replace(severity=most) for d in findings
        )
