"""Offers gaps to agents, one after the other, and keeps the answers that pass the checks.

Agents propose and the analyses decide: an answer has to match the gap's schema, close the gap, and
introduce no error. A refusal or failure is reported, and the gap stays open.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from orgflow_ir.diagnostics import Diagnostic, Rule
from orgflow_ir.diagnostics.agent_rules import (
    AnsweredGap,
    FailedAgent,
    RefusedAnswer,
    UnansweredGap,
    UnavailableAgent,
)
from orgflow_ir.filling.agent_guards import AgentFailure, ask_agent
from orgflow_ir.gaps.answers import AnswerError, check_size, convert_answer
from orgflow_ir.gaps.find import find_gaps
from orgflow_ir.gaps.gap import Gap
from orgflow_ir.model import Model
from orgflow_ir.model.element_names import ElementNames, one_line
from orgflow_ir.model.evidence import place_fault
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.rewriter import EditError, Rewriter
from orgflow_ir.model.verifier import list_violations
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.agents import MAX_ATTEMPTS, Answer, GapAgent, Refusal
from orgflow_ir.plugins.guards import leaf_name

Judge = Callable[[Model], Iterable[Diagnostic]]
"""The errors of a model, as found by the passes that the caller runs."""

_Key = tuple[str, str, str, str]


class Answered(NamedTuple):
    """A gap that was answered, the agent, and the answer."""

    gap: Gap
    agent: str
    value: Any


class Filled(NamedTuple):
    """The result for the gaps of a model.

    Attributes:
        model: the model with the answers; each changed element has the agent as its `origin`.
        answered: the gaps that were answered, in that order.
        open: the remaining gaps of `model`, including those that no agent can answer.
    """

    model: Model
    answered: tuple[Answered, ...]
    open: tuple[Gap, ...]


def fill_gaps(
    model: Model,
    agents: Sequence[GapAgent],
    ctx: PassContext,
    judge: Judge | None = None,
    *,
    report_open: bool = False,
) -> Filled:
    """Offer every gap to the agents, in order, until an answer is accepted.

    A gap that an answer introduces (labels of branches leave the decision open) is offered as well.
    Each gap is offered once, so the process terminates. Accepted and rejected answers are reported
    to `ctx`.

    Args:
        judge: returns the errors of a model; an answer must not introduce an error.
        report_open: whether gaps that stay open without an answer of an agent are reported (OF522).

    Raises `Cancelled` between two questions if the run was cancelled.
    """
    filling = _Filling(model, agents, ctx, judge)
    filled = filling.run()
    if report_open:
        filling.report_open(filled.open)
    return filled


class _Filling:
    def __init__(
        self, model: Model, agents: Sequence[GapAgent], ctx: PassContext, judge: Judge | None
    ) -> None:
        self.model, self.agents, self.ctx, self.judge = model, list(agents), ctx, judge
        self.errors: frozenset[tuple[str, str | None]] | None = None
        """What the judge found in `model`; None while it was not asked."""
        self.asked: dict[_Key, list[str]] = {}
        """By gap, the agents that were asked and gave no answer."""
        self.explained: set[_Key] = set()
        """Gaps about which an agent, or the check of its answer, reported something."""

    def run(self) -> Filled:
        services = self.ctx.services
        offered: set[_Key] = set()
        answered: list[Answered] = []
        gaps = find_gaps(self.model, PassContext())
        while True:
            todo = [g for g in gaps if g.schema is not None and _gap_key(g) not in offered]
            if not todo or not self.agents:
                break
            gap = todo[0]
            offered.add(_gap_key(gap))
            services.cancellation.check()
            services.progress(len(offered) - 1, len(offered) - 1 + len(todo), gap.message)
            reported = len(self.ctx.diagnostics)
            answer = self._offer_gap(gap)
            new = self.ctx.diagnostics[reported:]
            if any(d.element == gap.element.id for d in new):
                self.explained.add(_gap_key(gap))
            if answer is not None:
                answered.append(answer)
                gaps = find_gaps(self.model, PassContext())
        return Filled(self.model, tuple(answered), gaps)

    def report_open(self, gaps: Iterable[Gap]) -> None:
        """Report each gap that an answer could close and about which nothing was reported."""
        names = self.ctx.analysis(ElementNames, self.model)
        for gap in gaps:
            if gap.schema is None or _gap_key(gap) in self.explained:
                continue
            asked = [f"`{name}`" for name in self.asked.get(_gap_key(gap), ())]
            why = f"no answer by {' or '.join(asked)}" if asked else "no agent was asked"
            self.ctx.emit(
                UnansweredGap,
                f"{gap.rule.code} at {names.full_name(gap.element)} stays open: {why}",
                element=gap.element, help=gap.help,
            )  # fmt: skip

    def _offer_gap(self, gap: Gap) -> Answered | None:
        """Ask agent by agent; the model is changed where one has an answer that is accepted."""
        refused: tuple[Refusal, ...] = ()
        for agent in tuple(self.agents):
            if agent.kinds is not None and gap.kind not in agent.kinds:
                continue
            last: Refusal | None = None
            for _ in range(min(agent.attempts, MAX_ATTEMPTS)):
                self.ctx.services.cancellation.check()
                try:
                    answer = ask_agent(agent, gap, self.model, self.ctx, refused)
                except AgentFailure as failure:
                    self._note_failure(agent, gap, failure)
                    last = None
                    break
                if answer is None:
                    self.asked.setdefault(_gap_key(gap), []).append(agent.name)
                    break
                try:
                    self.model = self._accept_answer(gap, answer, agent)
                except AnswerError as error:
                    last = Refusal(agent.name, answer.value, str(error))
                    refused = (*refused, last)
                    continue
                self._report_finding(
                    AnsweredGap, agent, gap, f"answered with {_value_text(answer.value)}"
                )
                return Answered(gap, agent.name, answer.value)
            if last is not None:
                self._report_finding(
                    RefusedAnswer, agent, gap,
                    f"was refused: {last.reason}; its answer was {_value_text(last.value)}",
                    help="answer the gap in the source, or use another agent",
                )  # fmt: skip
        return None

    def _accept_answer(self, gap: Gap, answer: Answer, agent: GapAgent) -> Model:
        """The model with an answer. Raises `AnswerError` where it is not accepted."""
        for evidence in answer.evidence:
            if (wrong := place_fault(evidence)) is not None:
                raise AnswerError(f"its evidence {wrong}")
        rewriter = Rewriter(self.model, origin=agent.name)
        try:
            for edit in convert_answer(gap, answer.value, self.model).edits:
                rewriter.make(edit)
                if answer.evidence and edit.id is not None:
                    rewriter.cite(edit.scope, edit.id, *answer.evidence)
        except EditError as error:
            raise AnswerError(str(error)) from None
        model = rewriter.done()
        broken = sorted(list_violations(model) - list_violations(self.model))
        if broken:
            raise AnswerError(f"it makes the model invalid: {broken[0]}")
        if _gap_key(gap) in {_gap_key(left) for left in find_gaps(model, PassContext())}:
            raise AnswerError("it leaves the gap open")
        if self.judge is not None:
            if self.errors is None:
                self.errors = frozenset((d.code, d.element) for d in self.judge(self.model))
            findings = tuple(self.judge(model))
            new = [d for d in findings if (d.code, d.element) not in self.errors]
            if new:
                raise AnswerError(f"it introduces an error, {new[0].code}: {new[0].message}")
            self.errors = frozenset((d.code, d.element) for d in findings)
        return model

    def _note_failure(self, agent: GapAgent, gap: Gap, failure: AgentFailure) -> None:
        if failure.unavailable:
            self.agents.remove(agent)
            self.ctx.emit(
                UnavailableAgent, f"{leaf_name(agent, self.ctx)} {failure}; it is not asked again",
                help="configure the missing service, or compile without the agent",
            )  # fmt: skip
            return
        self._report_finding(
            FailedAgent, agent, gap, str(failure),
            help="report it to the maintainer of the agent, or compile without it",
        )  # fmt: skip

    def _report_finding(
        self, rule: type[Rule], agent: GapAgent, gap: Gap, text: str, help: str | None = None
    ) -> None:
        named = self.ctx.analysis(ElementNames, self.model).full_name(gap.element)
        self.ctx.emit(
            rule, f"{leaf_name(agent, self.ctx)}, asked about {gap.rule.code} at {named}, {text}",
            element=gap.element, help=help,
        )  # fmt: skip


def _gap_key(gap: Gap) -> _Key:
    """What makes two gaps the same: what is asked, and about which element."""
    answerable = "" if gap.schema is None else "answerable"
    return gap.kind, gap.scope, gap.element.id, answerable


def _value_text(value: Any) -> str:
    """An answer in a message: JSON, on one line, short."""
    try:
        check_size(value)
        text = one_line(json.dumps(value, ensure_ascii=False, default=repr))
    except Exception:  # noqa: BLE001  # an agent's own classes; that it is no JSON is reported
        text = f"a `{type(value).__name__}`"
    text = text.replace("`", "'")
    return text if len(text) <= 120 else f"{text[:120]}…"
