"""`check_agent` passes agents that keep the contract, and names what others do wrong."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from gap_models import good_answer, open_model
from scripted_agent import Scripted

from orgflow_ir.gaps import Gap
from orgflow_ir.model import Event, Evidence, Flow, Model, Process, Task
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.agent_services import Reply
from orgflow_ir.pipeline.services import Services, required
from orgflow_ir.plugins import Agent, Answer, Document, GapAgent, ModelAgent
from orgflow_ir.testing import ContractError, check_agent

MODELS = [("every gap", open_model())]


class Act(GapAgent):
    name = "act"

    def __init__(self, act: Callable[..., Any]) -> None:
        self.act = act

    def answer(self, gap: Gap, model: Model, ctx: PassContext, refused: Any) -> Any:
        return self.act(gap, model, ctx, refused)


class Client:
    """A language model with one reply."""

    name = "client"

    def __init__(self, text: str) -> None:
        self.text = text

    def ask(self, messages: Any, **_: Any) -> Reply:
        return Reply(self.text)


def asks(gap: Gap, model: Model, ctx: PassContext, refused: Any) -> Answer | None:
    if gap.kind != "task":
        return None
    code = required(ctx.services.model, "language model").ask([]).text
    return Answer({"kind": "script", "code": code})


class Clocked(Client):
    """A service may look at the clock, draw and wait; it is not the agent."""

    def ask(self, messages: Any, **_: Any) -> Reply:
        return Reply(f"return {time.time() > 0 and random.random() >= 0};")


def test_services_may_do_what_agents_may_not() -> None:
    check_agent(Act(asks), MODELS, services=lambda: Services(Clocked("")))


def test_good_agents() -> None:
    check_agent(Scripted(good_answer), MODELS)
    check_agent(Act(lambda *_: None), MODELS)
    check_agent(Act(asks), MODELS)
    check_agent(Act(asks), MODELS, services=lambda: Services(Client("return items;")))


def counting() -> Callable[..., Any]:
    asked: list[int] = []

    def act(gap: Gap, *_: Any) -> Any:
        asked.append(1)
        return Answer({"kind": "script", "code": str(len(asked))}) if gap.kind == "task" else None

    return act


def editing(gap: Gap, model: Model, *_: Any) -> None:
    model.__dict__["name"] = model.name + "x"


def holding_back(gap: Gap, model: Model, ctx: PassContext, refused: Any) -> None:
    if ctx.services.model is not None:
        try:
            ctx.services.model.ask([])
        except KeyboardInterrupt:
            return


def deep(how: str) -> Callable[..., Any]:
    def act(*_: Any) -> Any:
        value: Any = []
        if how == "circle":
            value.append(value)
        for _ in range(5_000 if how == "deep" else 0):
            value = [value]
        for _ in range(40 if how == "shared" else 0):  # 2 to the 40th parts, in little memory
            value = [value, value]
        return Answer(value)

    return act


def reading_the_clock(gap: Gap, *_: Any) -> Any:
    later = time.time() + 60 > 0
    return Answer({"kind": "script", "code": str(later)}) if gap.kind == "task" else None


def drawing(gap: Gap, *_: Any) -> Any:
    return (
        Answer({"kind": "script", "code": "x"}) if gap.kind == "task" and random.random() else None
    )


def printing(gap: Gap, *_: Any) -> None:
    print("thinking about", gap.kind)


BAD: dict[str, tuple[Callable[..., Any], str]] = {
    "raises": (lambda *_: {}["x"], "raised KeyError: 'x'"),
    "raises after a refusal": (
        lambda g, m, c, refused: 1 / 0 if refused else None, "asked again after a refusal it"
    ),
    "needs a service": (
        lambda g, m, ctx, r: ctx.services.model.ask([]) and None, "without any service it raised"
    ),
    "the bare value": (lambda gap, *_: good_answer(gap), "which is not an `Answer`"),
    "a wrong answer": (lambda *_: Answer("x"), "its answer 'x' is refused: 'x' is not of type"),
    "leaves it open": (
        lambda gap, *_: Answer({"kind": "form"}, ("x",)) if gap.kind == "task" else None,
        "its evidence is invalid",
    ),
    "another answer each time": (counting(), "it answers the same question differently"),
    "edits": (editing, "it changed the model; an agent returns an answer"),
    "nested 5,000 deep": (deep("deep"), "is refused: it is nested deeper than 100"),
    "in a circle": (deep("circle"), "is refused: it is nested deeper than 100"),
    "too many parts": (deep("shared"), "is refused: it has more than 100000 parts"),
    "the clock": (reading_the_clock, "it reads the clock; the same question must always have"),
    "chance": (drawing, "it reads chance"),
    "prints": (printing, "it prints: 'thinking about"),
    "goes on": (holding_back, "continues although the model asked it to stop"),
}  # fmt: skip


@pytest.mark.parametrize("how", BAD)
def test_bad_agents(how: str) -> None:
    act, said = BAD[how]
    with pytest.raises(ContractError) as found:
        check_agent(
            Act(act), [("every gap", Model.from_json(open_model().to_json()))],
            services=lambda: Services(Client("x")),
        )  # fmt: skip
    assert said in str(found.value)


class Nothing(Agent):
    name = "nothing"


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        (Nothing(), "neither a `GapAgent` nor a `ModelAgent`"),
        (Scripted({}, name="Big Name"), "the name 'Big Name' is not lower-case words"),
        (Scripted({}, kinds=frozenset({"x"})), "not a frozenset of kinds of gaps"),
        (Scripted({}, attempts=0), "whose `attempts` is 0, not 1 to 10"),
    ],
)
def test_agents_that_cannot_be_registered(agent: Agent, said: str) -> None:
    with pytest.raises(ContractError) as found:
        check_agent(agent)
    assert said in str(found.value)


# -- models from documents -------------------------------------------------------------------------

MAILS = (Document("mail-1", "We pack it, then we ship it."),)


def packing(documents: Sequence[Document], quote: str = "We pack it") -> Model | None:
    nodes = (
        Event(id="s", position="start"),
        Task(id="pack", evidence=(Evidence(document=documents[0].name, quote=quote),)),
        Event(id="e", position="end"),
    )
    flows = (Flow(id="a", source="s", target="pack"), Flow(id="b", source="pack", target="e"))
    return Model(id="m", processes=(Process(id="P", nodes=nodes, flows=flows),))


class Reads(ModelAgent):
    name = "reads"

    def __init__(self, act: Callable[..., Any]) -> None:
        self.act = act

    def produce(self, documents: Sequence[Document], ctx: PassContext) -> Model | None:
        from orgflow_ir.diagnostics.core_rules import UnreadableInput

        if not any("pack" in d.text for d in documents):
            ctx.emit(UnreadableInput, "the documents describe no process")
            return None
        return self.act(documents)  # type: ignore[no-any-return]


def test_a_good_model_agent() -> None:
    check_agent(Reads(packing), documents=[MAILS])


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (lambda _: None, "returned no model and reported no error with the reason"),
        (lambda _: 1 / 0, "raised ZeroDivisionError"),
        (lambda _: "m", "returned 'm', which is not a model"),
        (lambda d: packing(d, "We sell it"), "quotes words that do not exist"),
        (lambda d: packing(d).replace(id=""), "its result is not a valid model: ValidationError"),
        (
            lambda _: Model(id="m", processes=(Process(id="P", nodes=(Task(id="t"),)),)),
            "the task has no evidence",
        ),
    ],
)
def test_bad_model_agents(act: Callable[..., Any], said: str) -> None:
    with pytest.raises(ContractError) as found:
        check_agent(Reads(act), documents=[MAILS])
    assert said in str(found.value)
