"""Agents that produce models: what is validated, and evidence compared with the documents."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import orgflow
import pytest

from orgflow_ir.model import Event, Evidence, Flow, Gateway, Model, Process, Task
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.agent_services import Passage
from orgflow_ir.pipeline.services import OverBudget, ServiceError, Services, required
from orgflow_ir.plugins import Document, ModelAgent

TEXT = "An order comes in. We check the stock.\nIf it is there, we ship it.\n"
MAIL = Document("mail-1", TEXT)


def quote(text: str, **more: Any) -> tuple[Evidence, ...]:
    return (Evidence(document="mail-1", quote=text, agent="reader", **more),)


def draft_of(*, ship: tuple[Evidence, ...] = quote("we ship it")) -> Model:
    nodes = (
        Event(id="s", name="Order", position="start", evidence=quote("An order comes in")),
        Task(id="check", name="Check stock", evidence=quote("We check the stock", lines=(1, 1))),
        Task(id="ship", name="Ship", evidence=ship),
        Gateway(id="joint", gateway_kind="exclusive"),
        Event(id="e", position="end"),
    )
    ids = [n.id for n in nodes]
    flows = tuple(Flow(id=f"{a}_{b}", source=a, target=b) for a, b in pairwise(ids))
    return Model(id="m", processes=(Process(id="P", name="Order", nodes=nodes, flows=flows),))


class Reader(ModelAgent):
    """Gives what it was made with, or raises it."""

    name = "reader"

    def __init__(self, result: Any) -> None:
        self.result = result

    def produce(self, documents: Sequence[Document], ctx: PassContext) -> Model | None:
        if isinstance(self.result, BaseException):
            raise self.result
        if callable(self.result):
            return self.result(documents, ctx)  # type: ignore[no-any-return]
        return self.result  # type: ignore[no-any-return]


def draft(result: Any, **services: Any) -> orgflow.ReadResult:
    return orgflow.draft([MAIL], Reader(result), services=Services(**services))


def told(result: orgflow.ReadResult) -> list[tuple[str, str, str | None, str]]:
    return [(d.code, d.severity.value, d.element, d.message) for d in result.diagnostics]


def test_a_model_with_evidence() -> None:
    result = draft(draft_of())
    assert told(result) == []
    assert result.model == draft_of()
    assert orgflow.check(result).ok
    compiled = orgflow.compile(result)
    assert compiled.ok
    assert "Check stock" in "".join(compiled.files.values())
    (task,) = (d for d in compiled.diagnostics if d.element == "check")
    assert (task.code, task.related[0].message) == ("OF501", 'the text says "We check the stock"')
    assert str(task.related[0].loc) == "mail-1:1"


def test_an_element_without_evidence() -> None:
    assert told(draft(draft_of(ship=()))) == [
        ("OF516", "info", "ship", "the task `Ship` has no evidence")
    ]


@pytest.mark.parametrize(
    ("evidence", "said"),
    [
        (quote("we sell it"), "from the document `mail-1` quotes words that do not exist"),
        (quote("we ship it", lines=(1, 1)), "quotes words that do not exist"),
        (quote("we ship it", lines=(1, 9)), "names lines 1 to 9 of 2"),
        (quote("we ship it", span=(0, 8)), "names characters 0 to 8, where the text is different"),
        ((Evidence(document="x\ny", quote="a"),), "names the document `x y`, which does not exist"),
    ],
)
def test_evidence_that_is_made_up(evidence: tuple[Evidence, ...], said: str) -> None:
    result = draft(draft_of(ship=evidence))
    assert result.model is not None
    ((code, severity, element, message),) = told(result)
    assert (code, severity, element) == ("OF515", "warning", "ship")
    assert message.startswith("the evidence for the task `Ship` ")
    assert said in message


def test_control_characters_are_replaced() -> None:
    drafted = draft_of()
    nodes = tuple(n.replace(name=f"{n.name}\x07") for n in drafted.processes[0].nodes)
    result = draft(drafted.replace(processes=(drafted.processes[0].replace(nodes=nodes),)))
    code, severity, element, message = told(result)[0]
    assert (code, severity, element) == ("OF007", "warning", "s")
    assert message.startswith("the model of agent `reader` contains control characters")
    assert result.model is not None
    assert result.model.processes[0].nodes[1].name == "Check stock\ufffd"


def test_an_origin_within_the_model() -> None:
    drafted = draft_of()
    process = drafted.processes[0]
    nodes = (*process.nodes[:-1], process.nodes[-1].replace(derived_from=("joint",)))
    result = draft(drafted.replace(processes=(process.replace(nodes=nodes),)))
    assert result.model is not None
    assert told(result) == []


class Mails:
    """A store of one document."""

    def text(self, document: str) -> str | None:
        if document == "broken":
            raise ServiceError("the store is closed")
        return "we sell it" if document == "mail-2" else None

    def search(self, query: str, **_: Any) -> Sequence[Passage]:
        return (Passage("mail-2", "we sell it"),)


def test_evidence_from_the_store() -> None:
    def produce(documents: Sequence[Document], ctx: PassContext) -> Model:
        (found,) = required(ctx.services.store, "store").search("what is done")
        return draft_of(ship=(Evidence(document=found.document, quote=found.text),))

    assert told(draft(produce, store=Mails())) == []
    broken = draft(draft_of(ship=(Evidence(document="broken", quote="a"),)), store=Mails())
    ((code, severity, _, message),) = told(broken)
    assert (broken.model, code, severity) == (None, "OF514", "error")
    assert message == "the evidence of agent `reader` cannot be read: the store is closed"
    missing = draft(produce)
    assert told(missing)[0][3] == "agent `reader` cannot work: no store is configured"


BROKEN = draft_of().replace(
    processes=(Process(id="P", flows=(Flow(id="f", source="nobody", target="nothing"),)),)
)

FAILING: dict[str, tuple[Any, str, str]] = {
    "raises": (KeyError("x"), "OF903", "agent `reader` failed with KeyError: 'x'"),
    "exits": (SystemExit(3), "OF903", "agent `reader` failed with SystemExit: 3"),
    "no reason": (None, "OF903", "agent `reader` returned no model and gave no reason"),
    "text": ("a model", "OF903", "agent `reader` returned 'a model', which is not a model"),
    "a part of another type": (
        draft_of().replace(name=7), "OF903",
        "agent `reader` failed with ValidationError: `name`: Input should be a valid string (",
    ),
    "surely wrong": (
        draft_of(ship=quote("we ship it", confidence=2.0)), "OF903",
        "evidence.0.confidence`: Input should be less than or equal to 1 (",
    ),
    "unknown how sure": (
        draft_of(ship=quote("we ship it", confidence=float("nan"))), "OF903",
        "evidence.0.confidence`: Input should be a finite number (",
    ),
    "an origin that is not there": (
        draft_of().replace(
            processes=(draft_of().processes[0].replace(derived_from=("nothing",)),)
        ), "OF903",
        "agent `reader` returned a model in which `Order` is derived from `nothing`, which it",
    ),
    "flows to nowhere": (BROKEN, "OF903", "agent `reader` returned an invalid model: "),
    "over budget": (OverBudget("2000 tokens are spent"), "OF514", "stopped: 2000 tokens are spent"),
    "no endpoint": (ServiceError("llm: timeout"), "OF514", "agent `reader` stopped: llm: timeout"),
}  # fmt: skip


@pytest.mark.parametrize("how", FAILING)
def test_a_failing_agent_gives_no_model(how: str) -> None:
    result, code, said = FAILING[how]
    drafted = draft(result)
    assert drafted.model is None
    ((found, severity, _, message),) = told(drafted)
    assert (found, severity) == (code, "error")
    assert said in message
    assert "\n" not in message


def test_an_agent_gives_its_own_reason() -> None:
    from orgflow_ir.diagnostics.core_rules import UnreadableInput

    def produce(documents: Sequence[Document], ctx: PassContext) -> None:
        ctx.emit(UnreadableInput, "the text describes no process")

    result = draft(produce)
    assert result.model is None
    assert told(result) == [("OF002", "error", None, "the text describes no process")]


def test_agents_of_the_other_kind() -> None:
    with pytest.raises(orgflow.UnsupportedError, match="agent `reader` does not answer gaps"):
        orgflow.fill(draft_of(), [Reader(None)])
    with pytest.raises(orgflow.UnknownName, match="no agent `nobody`"):
        orgflow.draft([], "nobody")
