"""The contract of agents: acceptable answers, unchanged inputs, and no exceptions other than the
documented ones."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from orgflow_ir.diagnostics import Diagnostic, FixError, Severity, apply
from orgflow_ir.filling.evidence_check import check_evidence
from orgflow_ir.gaps import Gap, find_gaps
from orgflow_ir.gaps.answers import AnswerError, check_size, convert_answer
from orgflow_ir.model import Evidence, Model
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.verifier import list_violations
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.services import (
    CancelFlag,
    Cancelled,
    MissingService,
    OverBudget,
    ServiceError,
    Services,
)
from orgflow_ir.pipeline.value_texts import exception_text, show_value
from orgflow_ir.plugins.agents import Agent, Answer, Document, GapAgent, ModelAgent, Refusal
from orgflow_ir.plugins.guards import registration_fault
from orgflow_ir.testing.conformance.odd_models import HOSTILE
from orgflow_ir.testing.conformance.surroundings import silence_output, watch_reads
from orgflow_ir.testing.conformance.words import name_problems, rule_problems, said_problems

ServicesOf = Callable[[], Services]
"""Returns the services of one call, the same ones each time."""


def agent_problems(
    agent: Agent,
    models: Iterable[tuple[str, Model]],
    documents: Iterable[Sequence[Document]],
    services: ServicesOf,
) -> list[str]:
    """All problems of an agent."""
    problems = name_problems(agent.name) + rule_problems(agent.rules)
    wrong = registration_fault(agent, Agent)
    if wrong is not None:
        return [*problems, f"it cannot be registered: {wrong}"]
    if isinstance(agent, GapAgent):
        for name, model in models:
            for gap in find_gaps(model, PassContext()):
                if gap.schema is not None and (agent.kinds is None or gap.kind in agent.kinds):
                    place = f"{name}, {gap.kind} gap of `{gap.element.id}`"
                    problems += [
                        f"{place}: {p}" for p in _gap_problems(agent, gap, model, services)
                    ]
    if isinstance(agent, ModelAgent):
        hostile = [Document(f"document {n}", text) for n, text in enumerate(HOSTILE)]
        odd: list[Sequence[Document]] = [(), (Document("empty", ""),), hostile]
        for n, texts in enumerate([*odd, *documents]):
            which = ("no document", "an empty document", "odd documents")
            place = which[n] if n < len(which) else f"documents {n - len(which) + 1}"
            problems += [f"{place}: {p}" for p in _document_problems(agent, texts, services)]
    return problems


class _Result(NamedTuple):
    """The result of a call: a value, or why the agent refuses; else a problem."""

    value: Any = None
    refuses: bool = False
    problem: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


def _call_agent(
    act: Callable[[PassContext], Any], services: Services, asked: list[str] | None = None
) -> _Result:
    """The result of a call; `asked` gets what the agent itself asks of the machine."""
    ctx = PassContext(services=_hide_watching(services) if asked is not None else services)
    try:
        if asked is None:
            value = act(ctx)
        else:
            with watch_reads() as seen:
                value = act(ctx)
            asked += [what for what in seen if what.startswith(_GIVEN)]
    except (MissingService, OverBudget, ServiceError):
        return _Result(refuses=True)
    except Cancelled:
        return _Result(problem="raised `Cancelled`, but was not asked to stop")
    except (Exception, SystemExit) as error:  # noqa: BLE001  # "never raises" is what is tested
        return _Result(problem=f"raised {exception_text(error)}")
    return _Result(value, diagnostics=tuple(ctx.diagnostics))


_GIVEN = ("the clock", "chance")
"""State of the machine that an agent must not read, because the same question must always have the
same answer. The environment and the folder are exempt, because they may contain the agent's own
settings."""


def _hide_watching(services: Services) -> Services:
    """The same services, whose own work is not the agent's."""

    def hide_service(service: Any) -> Any:
        return None if service is None else _Apart(service)

    return Services(
        hide_service(services.model), services.budget, services.progress, services.cancellation,
        store=hide_service(services.store), embedder=hide_service(services.embedder),
        catalogue=services.catalogue,
    )  # fmt: skip


class _Apart:
    """A service during whose calls nobody watches."""

    def __init__(self, service: Any) -> None:
        self._service = service

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._service, name)
        if not callable(value):
            return value

        def call_unseen(*args: Any, **named: Any) -> Any:
            watching = sys.getprofile()
            sys.setprofile(None)
            try:
                return value(*args, **named)
            finally:
                sys.setprofile(watching)

        return call_unseen


def _machine_problems(asked: Iterable[str], printed: str) -> list[str]:
    problems = [
        f"it reads {what}; the same question must always have the same answer" for what in asked
    ]
    if printed:
        problems.append(f"it prints: {printed[:40]!r}; an agent reports to its context")
    return problems


def _are_same(first: Any, again: Any) -> bool:
    try:
        for result in (first, again):
            check_size(result.value if isinstance(result, Answer) else result)
    except AnswerError:  # which is why it is refused
        return True
    return bool(first == again)


def _cancelled_problems(act: Callable[[PassContext], Any], services: Services) -> list[str]:
    """After the user asked to stop, no service is used and `Cancelled` is not held back."""
    used: list[str] = []
    flag = CancelFlag()
    flag.cancel()

    def watch_service(name: str) -> Any:
        service = getattr(services, name)
        return None if service is None else _Watched(service, name, used)

    stopping = Services(
        watch_service("model"), services.budget, services.progress, flag,
        store=watch_service("store"), embedder=watch_service("embedder"),
    )  # fmt: skip
    ctx = PassContext(services=stopping)
    try:
        act(ctx)
    except Cancelled:
        return []
    except (Exception, SystemExit):  # noqa: BLE001  # reported where nobody asked it to stop
        pass
    return [f"continues although the {used[0]} asked it to stop"] if used else []


class _Watched:
    """A service that does nothing any more, since the user asked to stop."""

    def __init__(self, service: Any, name: str, used: list[str]) -> None:
        self._service, self._name, self._used = service, name, used

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._service, name)
        if not callable(value):
            return value

        def stop_call(*_: Any, **__: Any) -> Any:
            self._used.append(self._name)
            raise Cancelled

        return stop_call


# -- answers to gaps -------------------------------------------------------------------------------


def _gap_problems(agent: GapAgent, gap: Gap, model: Model, services: ServicesOf) -> list[str]:
    text = model.to_json()

    def answer_gap(ctx: PassContext, refused: tuple[Refusal, ...] = ()) -> Any:
        return agent.answer(gap, model, ctx, refused)

    asked: list[str] = []
    with silence_output() as printed:
        first, again = (
            _call_agent(answer_gap, services()),
            _call_agent(answer_gap, services(), asked),
        )
        bare = _call_agent(answer_gap, Services())
    problems = [r.problem for r in (first, again) if r.problem is not None]
    if bare.problem is not None:
        problems.append(f"without any service it {bare.problem}")
    problems = list(dict.fromkeys(problems)) or _answer_problems(agent, gap, model, first)
    problems += _machine_problems(asked, printed.getvalue())
    if not _are_same(first.value, again.value) or first.diagnostics != again.diagnostics:
        problems.append("it answers the same question differently the second time")
    refused: tuple[Refusal, ...] = (Refusal("another", None, "it is not an answer"),)
    if isinstance(first.value, Answer):
        refused = (*refused, Refusal(agent.name, first.value.value, "nobody likes it"))
    tried = _call_agent(lambda ctx: answer_gap(ctx, refused), services())
    if tried.problem is not None and not first.problem:
        problems.append(f"asked again after a refusal it {tried.problem}")
    if model.to_json() != text:
        problems.append("it changed the model; an agent returns an answer")
    return problems + _cancelled_problems(answer_gap, services())


def _answer_problems(agent: GapAgent, gap: Gap, model: Model, result: _Result) -> list[str]:
    problems = said_problems(result.diagnostics, agent.rules)
    if result.refuses or result.value is None:
        return problems
    answer = result.value
    if not isinstance(answer, Answer):
        return [*problems, f"returned {show_value(answer)}, which is not an `Answer`"]
    try:
        for evidence in answer.evidence:
            Evidence.validate(evidence)
    except (TypeError, ValueError) as error:
        problems.append(f"its evidence is invalid: {exception_text(error)}")
    try:
        changed = apply(model, convert_answer(gap, answer.value, model))
    except (AnswerError, FixError) as error:
        return [*problems, f"its answer {show_value(answer.value)} is refused: {error}"]
    problems += sorted(list_violations(changed) - list_violations(model))
    left = {
        (g.kind, g.element.id) for g in find_gaps(changed, PassContext()) if g.schema is not None
    }
    if (gap.kind, gap.element.id) in left:
        problems.append(f"its answer {show_value(answer.value)} leaves the gap open")
    return problems


# -- models from documents -------------------------------------------------------------------------


def _document_problems(
    agent: ModelAgent, texts: Sequence[Document], services: ServicesOf
) -> list[str]:
    def produce_model(ctx: PassContext) -> Any:
        return agent.produce(texts, ctx)

    asked: list[str] = []
    with silence_output() as printed:
        first, again = (
            _call_agent(produce_model, services()),
            _call_agent(produce_model, services(), asked),
        )
        bare = _call_agent(produce_model, Services())
    problems = [r.problem for r in (first, again) if r.problem is not None]
    if bare.problem is not None:
        problems.append(f"without any service it {bare.problem}")
    problems = list(dict.fromkeys(problems)) or _model_problems(agent, texts, services(), first)
    problems += _machine_problems(asked, printed.getvalue())
    if (
        _value_text(first.value) != _value_text(again.value)
        or first.diagnostics != again.diagnostics
    ):
        problems.append("its result for the same documents differs the second time")
    return problems + _cancelled_problems(produce_model, services())


def _value_text(value: Any) -> str:
    return value.to_json() if isinstance(value, Model) else show_value(value)


def _model_problems(
    agent: ModelAgent, texts: Sequence[Document], services: Services, result: _Result
) -> list[str]:
    problems = said_problems(result.diagnostics, agent.rules)
    if result.refuses:
        return problems
    model = result.value
    if model is None:
        if not any(d.severity is Severity.ERROR for d in result.diagnostics):
            problems.append("returned no model and reported no error with the reason")
        return problems
    if not isinstance(model, Model):
        return [*problems, f"returned {show_value(model)}, which is not a model"]
    try:
        checked = Model.validate(model)
    except ValueError as error:
        return [*problems, f"its result is not a valid model: {exception_text(error)}"]
    problems += sorted(list_violations(checked))
    if Model.from_json(checked.to_json()) != checked:
        problems.append("its model differs after conversion to JSON and back")
    known = {text.name: text.text for text in texts}

    def text_of(name: str) -> str | None:
        if name in known or services.store is None:
            return known.get(name)
        return services.store.text(name)

    ctx = PassContext()
    check_evidence(checked, text_of, ctx)
    return problems + [d.message for d in ctx.diagnostics]
