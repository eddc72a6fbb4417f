"""Rounds of feedback on a draft, as in text2flow: errors of the flow, the kind of every gateway,
and every part between two gateways, scored and selected within a budget.

Differences: errors come from the exact analysis, and random walks only measure how many runs they
    affect; the text of a gateway is its citation, not a passage that a language model retrieves.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from orgflow.agents.language.sentences import Sentence
from orgflow.agents.model_client.answer_reading import UnreadableAnswer, read_json
from orgflow.agents.model_client.usage import Expected, estimate_tokens
from orgflow.agents.prompting import render_prompt, visible_text
from orgflow.agents.text.bleu import bleu_score

from orgflow_ir.model import Event, Gateway, Model, Scope
from orgflow_ir.model.element_names import join_listed, one_line
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline.agent_services import ModelClient
from orgflow_ir.pipeline.services import Cancellation

MOST_ROUNDS = 5
SUGGESTIONS = 3
"""Maximum number of points of feedback in a round."""
BUDGET = 600
"""Maximum number of tokens of feedback in a round."""

_WALKS, _STEPS, _LONGEST = 500, 300, 300
_QUESTIONS = 20
"""Maximum number of gateways, and of parts between two, in the questions of a round."""
_KINDS = ("exclusive", "inclusive", "parallel")
_WORDS = {
    "exclusive": "exactly one of these branches is taken",
    "inclusive": "one or more of these branches are taken",
    "parallel": "all of these branches are taken",
}


class Point(NamedTuple):
    """A point of feedback; `affected` is the share of runs that reach a flow fault, 0 for points
    about the meaning."""

    text: str
    affected: float = 0.0


def select_points(points: Iterable[Point], earlier: Sequence[str]) -> tuple[str, ...]:
    """The points for the next prompt: by value per token, within the budget.

    The value of a point is the share of affected runs plus its similarity to an earlier point that
    was not addressed.
    """
    scored = []
    for number, point in enumerate(points):
        repeated = max((bleu_score(point.text, text) for text in earlier), default=0.0)
        length = max(1, estimate_tokens([point.text]))
        scored.append((-(point.affected + repeated) / length, number, length, point.text))
    chosen: list[str] = []
    left = BUDGET
    for _, _, length, text in sorted(scored):
        if length <= left and len(chosen) < SUGGESTIONS:
            chosen.append(text)
            left -= length
    return tuple(chosen)


# -- runs ------------------------------------------------------------------------------------


def share_of_runs(model: Model, seed: int = 0) -> dict[str, float]:
    """For each node, the share of random runs that reach it: exclusive gateways choose evenly,
    inclusive ones choose each branch at random, joins do not wait."""
    reached: dict[str, float] = {}
    chance = random.Random(seed)
    for scope in model.scopes():
        following: dict[str, list[str]] = {node.id: [] for node in scope.nodes}
        for flow in scope.flows:
            if flow.source in following and flow.target in following:
                following[flow.source].append(flow.target)
        kinds = {n.id: n.gateway_kind for n in scope.nodes if isinstance(n, Gateway)}
        starts = [n.id for n in scope.nodes if isinstance(n, Event) and n.position == "start"]
        counts = dict.fromkeys(following, 0)
        for _ in range(_WALKS):
            for node in _walk_once(starts, following, kinds, chance):
                counts[node] += 1
        reached |= {node: count / _WALKS for node, count in counts.items()}
    return reached


def _walk_once(
    starts: Sequence[str], following: Mapping[str, list[str]], kinds: Mapping[str, str],
    chance: random.Random,
) -> set[str]:  # fmt: skip
    seen: set[str] = set()
    todo = list(starts)
    for _ in range(_STEPS):
        if not todo:
            break
        node = todo.pop()
        seen.add(node)
        branches = following[node]
        kind = kinds.get(node, "parallel")
        if len(branches) > 1 and kind == "inclusive":
            branches = [b for b in branches if chance.random() < 0.5] or [chance.choice(branches)]
        elif len(branches) > 1 and kind != "parallel":
            branches = [chance.choice(branches)]
        todo += branches
    return seen


# -- meaning ---------------------------------------------------------------------------------


def expected_questions(sentences: Sequence[Sentence]) -> Expected:
    """The approximate usage of the questions of a round, with one gateway per four sentences."""
    gateways = min(_QUESTIONS, -(-len(sentences) // 4))
    longest = max((sentence.text for sentence in sentences), key=len, default="")
    prompts = [
        render_prompt("round_gateway", sentences=longest, gateway=longest),
        render_prompt("round_segment", sentences=longest, segment=longest),
    ]
    once = Expected(2, estimate_tokens(prompts), 2 * estimate_tokens([longest]))
    return once.times(gateways)._replace(most_calls=2 * _QUESTIONS)


def meaning_points(model: Model, client: ModelClient, cancellation: Cancellation) -> list[Point]:
    """The gateways and the parts between them that the language model considers wrong.

    Raises as `ModelClient.ask` does.
    """
    points: list[Point] = []
    kinds_left = parts_left = _QUESTIONS
    for scope in model.scopes():
        graph = _Graph(scope)
        splits = [g for g in graph.gateways.values() if len(graph.out[g.id]) > 1]
        for gateway in splits[:kinds_left]:
            kinds_left -= 1
            cancellation.check()
            words = graph.verbalised(gateway)
            cited = graph.sentences((gateway.id, *(t for _, t in graph.out[gateway.id])))
            answer = _ask_verdict(
                client, render_prompt("round_gateway", sentences=cited, gateway=words), True
            )
            kind = answer.get("kind")
            if answer.get("verdict") == "wrong" and kind in _KINDS and kind != gateway.gateway_kind:
                why = _cut_line(answer.get("why"))
                points.append(Point(f"{words} The text says {kind}: {why}"))
        parts = [(g, *graph.segment(g)) for g in graph.gateways.values()]
        for gateway, nodes, words in [part for part in parts if part[2]][:parts_left]:
            parts_left -= 1
            cancellation.check()
            cited = graph.sentences(nodes)
            answer = _ask_verdict(
                client, render_prompt("round_segment", sentences=cited, segment=words), False
            )
            why = _cut_line(answer.get("why"))
            if answer.get("verdict") == "wrong" and why:
                points.append(Point(f"after {graph.name(gateway.id)}: {why}"))
    return points


def _ask_verdict(client: ModelClient, prompt: str, kind: bool) -> Mapping[str, Any]:
    """An answer as an object; nothing where it is none: a review that cannot be read says
    nothing."""
    properties: dict[str, Any] = {
        "verdict": {"enum": ["right", "wrong", "unclear"]},
        **({"kind": {"enum": list(_KINDS)}} if kind else {}),
        "why": {"type": "string"},
    }
    schema = {
        "type": "object", "properties": properties, "required": list(properties),
        "additionalProperties": False,
    }  # fmt: skip
    try:
        answer = read_json(client.ask([{"role": "user", "content": prompt}], schema=schema).text)
    except UnreadableAnswer:
        return {}
    return answer.value if isinstance(answer.value, dict) else {}


def _cut_line(text: Any) -> str:
    return " ".join(visible_text(text).split())[:_LONGEST] if isinstance(text, str) else ""


class _Graph:
    """A process in words."""

    def __init__(self, process: Scope) -> None:
        self.nodes = {node.id: node for node in process.nodes}
        self.gateways = {
            n.id: n for n in process.nodes if isinstance(n, Gateway) and n.gateway_kind in _WORDS
        }
        self.out: dict[str, list[tuple[str, str]]] = {id: [] for id in self.nodes}
        for flow in process.flows:
            if flow.source in self.out and flow.target in self.nodes:
                self.out[flow.source].append((one_line(flow.name), flow.target))

    def name(self, id: str) -> str:
        """How a node is called in a prompt."""
        node = self.nodes[id]
        if isinstance(node, Event) and not node.name:
            return f"the {node.position}"
        return f"`{one_line(node.label)}`"

    def sentences(self, ids: Iterable[str]) -> str:
        """What the nodes cite, each sentence once."""
        quotes = (e.quote for id in ids for e in self.nodes[id].evidence if e.quote)
        return "\n".join(dict.fromkeys(" ".join(quote.split()) for quote in quotes))

    def verbalised(self, gateway: Gateway) -> str:
        """A gateway as a sentence."""
        branches = [
            f"{self.name(target)} when {label}" if label else self.name(target)
            for label, target in self.out[gateway.id]
        ]
        return (
            f"At {self.name(gateway.id)} {_WORDS[gateway.gateway_kind]}: {join_listed(branches)}."
        )

    def segment(self, gateway: Gateway) -> tuple[list[str], str]:
        """The nodes from a gateway to the next ones, and what happens there in words; no words
        where no step is between."""
        lines: list[str] = []
        nodes = [gateway.id]
        for label, first in self.out[gateway.id]:
            way: list[str] = []
            at = first
            while at not in self.gateways and at not in way:
                way.append(at)
                following = self.out[at]
                if len(following) != 1:
                    break
                at = following[0][1]
            steps = [self.name(id) for id in way if not isinstance(self.nodes[id], Event)]
            if steps:
                end = f", then {self.name(at)}" if at in self.gateways else ""
                lines.append(f"{f'when {label}: ' if label else ''}{', then '.join(steps)}{end}")
            nodes += way
        return list(dict.fromkeys(nodes)), "\n".join(lines)
