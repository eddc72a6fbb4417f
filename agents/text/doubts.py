"""Doubtful parts of a draft, as questions to a person with the sentence; answers change the kind of
a gateway, and of the join that belongs to a split."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

from orgflow.agents.language.cues import MAY_BE_TOGETHER, ONE_OF, OR

from orgflow_ir.flow.nets.regions import reduce_scope
from orgflow_ir.gaps.gap_rules import OpenDoubt
from orgflow_ir.model import (
    Event,
    Flow,
    Gateway,
    GatewayKind,
    Model,
    Node,
    Process,
    Scope,
    SubProcess,
)
from orgflow_ir.model.element_names import join_listed, one_line
from orgflow_ir.model.evidence import DOUBT
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext

FORMAT, VERSION = "orgflow-questions", 1

OPTIONS: Mapping[GatewayKind, str] = {
    "parallel": "all of them happen",
    "exclusive": "one of them happens",
    "inclusive": "one or more of them happen",
}
"""The answers to a question about a gateway."""

IN_A_WORD: Mapping[GatewayKind, str] = {"parallel": "all", "exclusive": "one", "inclusive": "some"}
"""The input of a person for each."""


class Question(NamedTuple):
    """A question about a gateway.

    Attributes:
        element: the id of the gateway.
        text: the question.
        sentence: the passage that the gateway cites, otherwise those of the neighbouring steps;
            empty without citations.
        current: the answer that the draft has.
    """

    element: str
    text: str
    sentence: str
    current: GatewayKind


class AnswersError(ValueError):
    """A file of answers that cannot be used; the message is one line."""


def find_questions(model: Model) -> tuple[Question, ...]:
    """Gateways whose kind does not follow clearly from the text.

    - Splits that the author of the draft marked as doubtful.
    - Splits: parallel splits without a supporting word, inclusive splits, and exclusive splits
      without a condition between steps that are joined by `or`.
    - Joins: joins of another kind than their split if there is no question about the split, and
      joins without a split that wait for several branches.
    """
    questions: list[Question] = []
    for process in model.scopes():
        splits = {pair.join: pair for pair in reduce_scope(process).pairs}
        asked = {}
        for node in process.nodes:
            if isinstance(node, Gateway) and node.gateway_kind in OPTIONS:
                asked[node.id] = _ask_about_split(process, node)
        for node in process.nodes:
            if node.id not in asked:
                continue
            assert isinstance(node, Gateway)
            question = asked[node.id]
            pair = splits.get(node.id)
            if question is None and (
                pair is None or (pair.kind == "clash" and asked.get(pair.split) is None)
            ):
                question = _ask_about_join(process, node, alone=pair is None)
            if question is not None:
                questions.append(question)
    return tuple(questions)


def _ask_about_split(process: Scope, gateway: Gateway) -> Question | None:
    branches = [f for f in process.flows if f.source == gateway.id]
    if len(branches) < 2:
        return None
    sentence = _quote_sentences((gateway,))
    names = {n.id: n for n in process.nodes}
    if not _is_marked(gateway) and _is_clear_split(gateway, branches, names, sentence):
        return None
    if not sentence:
        sentence = _quote_sentences(names[f.target] for f in branches if f.target in names)
    labels = []
    for flow in branches:
        target = names.get(flow.target)
        labels.append(
            flow.name or (target.label if target is not None and target.name else "nothing")
        )
    text = f"{_list_labels(labels)}: do all of them happen, one, or one or more?"
    return Question(gateway.id, text, sentence, gateway.gateway_kind)


def report_doubts(model: Model, ctx: PassContext) -> None:
    """Report elements that the author of a draft marked as doubtful and about which there is no
    question with answers to choose from: conditions, parts, events."""
    asked = {question.element for question in find_questions(model)}
    for scope in model.scopes():
        for node in scope.nodes:
            if _is_marked(node) and node.id not in asked:
                ctx.emit(
                    OpenDoubt, f"the author was unsure about `{one_line(node.label)}`",
                    element=node,
                    help="ask somebody who knows the process, then correct the model or remove the "
                         "mark",
                )  # fmt: skip


def _is_marked(element: Node) -> bool:
    """Whether the author of a draft marked an element as doubtful."""
    return any(key == DOUBT for key, _ in element.extra)


def _is_clear_split(
    gateway: Gateway, branches: Sequence[Flow], names: Mapping[str, Node], sentence: str
) -> bool:
    """Whether the kind of a split follows from its sentence: of a parallel one by a supporting
    word, of an exclusive one unless it chooses between steps that are joined by `or`."""
    if gateway.gateway_kind == "parallel":
        return MAY_BE_TOGETHER.search(sentence) is not None
    if gateway.gateway_kind != "exclusive":
        return False
    targets = (names.get(f.target) for f in branches if not f.name)
    steps = [n for n in targets if n is not None and not isinstance(n, Gateway | Event)]
    joined = OR.search(sentence) is not None and ONE_OF.search(sentence) is None
    return bool(gateway.name) or len(steps) < len(branches) or not joined


def _ask_about_join(process: Scope, gateway: Gateway, *, alone: bool) -> Question | None:
    names = {n.id: n for n in process.nodes}
    before = [names[f.source] for f in process.flows if f.target == gateway.id]
    after = [names[f.target] for f in process.flows if f.source == gateway.id]
    if len(before) < 2 or len(after) > 1:
        return None
    sentence = _quote_sentences((gateway,))
    if alone and (
        gateway.gateway_kind == "exclusive"
        or (gateway.gateway_kind == "parallel" and MAY_BE_TOGETHER.search(sentence))
    ):
        return None
    labels = [n.label for n in before]
    what = f"before {_list_labels([after[0].label])}" if after else "here"
    choice = "do all of them happen first, one, or one or more?"
    text = f"{_list_labels(labels)} come together {what}: {choice}"
    return Question(
        gateway.id, text, sentence or _quote_sentences((*before, *after)), gateway.gateway_kind
    )


def _quote_sentences(nodes: Iterable[Node]) -> str:
    """The sentences that nodes rest on, each once."""
    return " ".join(dict.fromkeys(one_line(e.quote) for n in nodes for e in n.evidence))


def _list_labels(labels: Iterable[str]) -> str:
    return join_listed([f"`{one_line(label).replace('`', chr(39))}`" for label in labels])


def questions_json(
    asked: Iterable[Question], given: Mapping[str, GatewayKind] = MappingProxyType({})
) -> str:
    """The questions as JSON, each with its `answer`, null if there is none."""
    rows = [
        {
            "element": q.element, "question": q.text, "sentence": q.sentence,
            "current": q.current, "options": dict(OPTIONS),
            "answer": given.get(q.element),
        }
        for q in asked
    ]  # fmt: skip
    document = {"format": FORMAT, "version": VERSION, "questions": rows}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def read_answers(text: str) -> dict[str, GatewayKind]:
    """The answers in a file that `questions_json` made, by element. Raises `AnswersError`."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise AnswersError("the answers are not JSON") from None
    rows: Any = document.get("questions") if isinstance(document, dict) else None
    if not isinstance(rows, list) or document.get("format") != FORMAT:
        raise AnswersError("this is not a file written by --questions")
    answers: dict[str, GatewayKind] = {}
    for row in rows:
        answer = row.get("answer") if isinstance(row, dict) else None
        if answer is None:
            continue
        if answer not in OPTIONS or not isinstance(row.get("element"), str):
            raise AnswersError(
                f"{answer!r} is not a valid answer; it is one of: {', '.join(OPTIONS)}"
            )
        answers[row["element"]] = answer
    return answers


def apply_answers(model: Model, answers: Mapping[str, GatewayKind]) -> Model:
    """The model with gateways of these kinds, each with the join of its branches.

    Raises `AnswersError` for an element that is not a gateway of the model.
    """
    known = {n.id for scope in model.scopes() for n in scope.nodes if isinstance(n, Gateway)}
    for element in answers:
        if element not in known:
            raise AnswersError(f"there is no gateway `{element}` in this draft")
    processes = tuple(_answer_scope(process, answers) for process in model.processes)
    return model.replace(processes=processes)


S = TypeVar("S", Process, SubProcess)


def _answer_scope(scope: S, answers: Mapping[str, GatewayKind]) -> S:
    """A scope with gateways of these kinds; an answered one is no longer doubtful."""
    joins = {pair.split: pair.join for pair in reduce_scope(scope).pairs}
    kinds: dict[str, GatewayKind] = {}
    own = {n.id for n in scope.nodes}
    for element in (element for element in answers if element in own):
        kinds[element] = answers[element]
        join = joins.get(element)
        if join is not None and join not in answers:
            kinds[join] = answers[element]

    def answer_node(node: Node) -> Node:
        if isinstance(node, SubProcess):
            return _answer_scope(node, answers)
        if isinstance(node, Gateway) and node.id in kinds:
            sure = tuple(item for item in node.extra if item[0] != DOUBT)
            return node.replace(gateway_kind=kinds[node.id], extra=sure)
        return node

    return scope.replace(nodes=tuple(answer_node(node) for node in scope.nodes))
