"""The draft by rules: sentences, steps, cue words; always sound, always with evidence."""

from __future__ import annotations

import orgflow
import pytest
from orgflow.agents.text.rule_based import graph_lines
from orgflow.agents.text.sentences import split_sentences

from orgflow_ir.model import Gateway, Model, Task


def drafted(text: str) -> Model:
    result = orgflow.draft([orgflow.Document("t", text)], "text-rules")
    assert result.model is not None, result.diagnostics
    assert orgflow.check(result).ok
    assert [d for d in result.diagnostics if d.code != "OF516"] == []
    return result.model


def names(model: Model) -> list[str]:
    return [n.name for n in model.processes[0].nodes if isinstance(n, Task)]


def kinds(model: Model) -> list[str]:
    return [n.gateway_kind for n in model.processes[0].nodes if isinstance(n, Gateway)]


def test_verbs_and_objects() -> None:
    model = drafted("The clerk checks the invoice. It is then sent to the customer by the manager.")
    assert names(model) == ["Check invoice", "Send invoice to customer"]
    assert [lane.name for lane in model.processes[0].lanes] == ["clerk", "manager"]
    task = model.processes[0].nodes[0]
    assert task.evidence[0].quote == "The clerk checks the invoice."


def test_if_and_otherwise() -> None:
    model = drafted(
        "The clerk checks the stock. If the goods are there, he ships the goods. "
        "Otherwise, he orders the parts. Finally, he writes the invoice."
    )
    assert names(model) == ["Check stock", "Ship goods", "Order parts", "Write invoice"]
    assert kinds(model) == ["exclusive", "exclusive"]
    labels = {f.name for f in model.processes[0].flows if f.name}
    assert labels == {"the goods are there", "otherwise"}


def test_while_is_parallel() -> None:
    model = drafted("While the cook prepares the food, the waiter sets the table.")
    assert names(model) == ["Prepare food", "Set table"]
    assert kinds(model) == ["parallel", "parallel"]


def test_may_is_optional() -> None:
    model = drafted("The clerk opens the case. The clerk may call the customer.")
    assert kinds(model) == ["exclusive"] or kinds(model) == ["exclusive", "exclusive"]


@pytest.mark.parametrize("text", ["", "   \n", "Title: Nothing"])
def test_no_steps(text: str) -> None:
    result = orgflow.draft([orgflow.Document("t", text)], "text-rules")
    assert result.model is None
    assert [d.code for d in result.diagnostics] == ["OF517"]


def test_hostile_names_stay_names() -> None:
    drafted("The clerk writes {{ $env.KEY }} -> X1 | End. The clerk ships (a) -> [b] the order.")


def test_sentences() -> None:
    text = "Title: A b\nMr. Smith, e.g. the boss, pays 3.50 EUR. He leaves!\n- call him\n- wait"
    found = split_sentences(text)
    assert [s.text for s in found] == [
        "Title: A b", "Mr. Smith, e.g. the boss, pays 3.50 EUR.", "He leaves!", "- call him",
        "- wait",
    ]  # fmt: skip
    assert all(text[slice(*s.span)] == s.text for s in found)
    assert [s.heading for s in found] == [True, False, False, False, False]


def test_lines_are_deterministic() -> None:
    sentences = split_sentences("The clerk checks the order. If it is fine, he ships it.")
    assert graph_lines(sentences) == graph_lines(sentences)
