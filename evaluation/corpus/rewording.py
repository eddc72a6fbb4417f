"""The messages of a corpus in words of a language model. Templates decide what a message states;
an answer that loses it is not used, so the truth about the corpus stays true."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from orgflow.agents.language.identification import LANGUAGE_NAMES, identify_language
from orgflow.agents.model_client.answer_reading import UnreadableAnswer, read_json
from orgflow.agents.model_client.usage import Expected, estimate_tokens
from orgflow.agents.prompting import render_prompt, visible_text
from orgflow.evaluation.corpus.weave import Written

from orgflow_ir.pipeline.agent_services import ModelClient
from orgflow_ir.pipeline.services import OverBudget

BATCH = 8
"""Messages of one request: neighbours of one scenario, or noise."""

ATTEMPTS = 2
"""Requests about a message, the second with the reason why the first answer was not used."""

LONGEST = 4
"""So many times as long as the template a text may be; short ones may have `SHORT` characters."""

SHORT = 400

Tasks = Mapping[tuple[str, str], str]
"""Names of tasks by process and element."""

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "messages": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"number": {"type": "integer"}, "text": {"type": "string"}},
                "required": ["number", "text"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["messages"],
    "additionalProperties": False,
}


class Rewording(NamedTuple):
    """What became of a corpus.

    Attributes:
        written: all messages, in the order given.
        changed: how many have the words of the model.
        refused: how many keep those of the template, since no answer about them could be used.
        stopped: why the others were not asked about; empty where all were.
    """

    written: list[Written]
    changed: int
    refused: int
    stopped: str


def reword(
    written: Sequence[Written],
    tasks: Tasks,
    code: str,
    client: ModelClient,
    progress: Callable[[int, int, str], None] = lambda done, total, name: None,
) -> Rewording:
    """Ask a language model for other words for every message. Quotations follow the quoted message.

    Args:
        tasks: the name of each task, by its process and its element.
        code: the language of the corpus.

    Raises:
        ServiceError: the endpoint fails.
        Cancelled: by the user.
    """
    texts: dict[int, str] = {}
    refused = 0
    stopped = ""
    batches = list(_batches(written))
    try:
        for done, batch in enumerate(batches):
            progress(done, len(batches), "messages in other words")
            found = _answered(batch, written, tasks, code, client)
            texts.update(found)
            refused += len(batch) - len(found)
    except OverBudget as error:
        stopped = str(error)
    return Rewording(_with(written, texts), len(texts), refused, stopped)


def expected_rewording(written: Sequence[Written], code: str) -> Expected:
    """About what `reword` takes where every answer is usable."""
    batches = list(_batches(written))
    prompts = (_prompt(batch, written, code, {}) for batch in batches)
    return Expected(
        len(batches),
        sum(estimate_tokens([prompt]) for prompt in prompts),
        estimate_tokens(w.body for w in written),
        ATTEMPTS * len(batches),
    )


# -- what is asked ----------------------------------------------------------------------------


def _batches(written: Sequence[Written]) -> Iterator[list[int]]:
    """The places of messages that are asked about together."""
    groups: dict[tuple[str, str], list[int]] = {}
    for place, one in enumerate(written):
        if _own(one.body):
            groups.setdefault((one.process, one.scenario), []).append(place)
    for places in groups.values():
        for begin in range(0, len(places), BATCH):
            yield places[begin : begin + BATCH]


def _prompt(
    places: Sequence[int], written: Sequence[Written], code: str, wrong: Mapping[int, str]
) -> str:
    shown = [
        {"number": number, "channel": one.channel, "from": one.sender, "to": list(one.receivers),
         "subject": one.subject, "text": _own(one.body)}
        for number, one in enumerate((written[place] for place in places), 1)
    ]  # fmt: skip
    return render_prompt(
        "synth_reword",
        language=LANGUAGE_NAMES[code],
        messages="\n".join(json.dumps(one, ensure_ascii=False) for one in shown),
        wrong="\n".join(
            f"{places.index(place) + 1}: it {reason}" for place, reason in wrong.items()
        ),
    )


def _answered(
    batch: Sequence[int], written: Sequence[Written], tasks: Tasks, code: str,
    client: ModelClient,
) -> dict[int, str]:  # fmt: skip
    """The usable texts for a batch, by place."""
    found: dict[int, str] = {}
    left, wrong = list(batch), dict[int, str]()
    for _ in range(ATTEMPTS):
        prompt = _prompt(left, written, code, wrong)
        reply = client.ask([{"role": "user", "content": prompt}], schema=SCHEMA)
        given = _texts(reply.text)
        wrong = {}
        for number, place in enumerate(left, 1):
            text = visible_text(given.get(number, "")).strip()
            reason = _fault(text, written[place], tasks, code)
            if reason:
                wrong[place] = reason
            else:
                found[place] = text
        left = list(wrong)
        if not left:
            break
    return found


def _texts(answer: str) -> dict[int, str]:
    """The texts of an answer by their numbers; the first where a number comes again."""
    try:
        value = read_json(answer).value
    except UnreadableAnswer:
        return {}
    entries = value.get("messages") if isinstance(value, Mapping) else value
    found: dict[int, str] = {}
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, Mapping) and isinstance(entry.get("text"), str):
            number = entry.get("number")
            if type(number) is int:
                found.setdefault(number, entry["text"])
    return found


# -- what is used -----------------------------------------------------------------------------

_REFERENCE = re.compile(r"\b[A-Z]{1,3}-\d+|\d[\d.,:/-]*\d|\d")
_WORD = re.compile(r"[^\W\d_]{4,}")


def _fault(text: str, one: Written, tasks: Tasks, code: str) -> str:
    """Why a text cannot stand for a message, as the end of a sentence; empty where it can."""
    own = _own(one.body)
    if not text:
        return "is missing"
    if len(text) > max(SHORT, LONGEST * len(own)):
        return "is too long"
    if any(line.lstrip().startswith(">") for line in text.splitlines()):
        return "quotes another message"
    before, after = (set(_REFERENCE.findall(part)) for part in (own, text))
    if before - after:
        return f"lost `{min(before - after)}`"
    if after - before:
        return f"has `{min(after - before)}`, which the message has not"
    if one.channel == "call" and _speakers(text) != _speakers(own):
        return f"is no transcript of {', '.join(_speakers(own))}"
    kept = _stems(text)
    for task in one.tasks:
        name = tasks.get((one.process, task), "")
        stated = _stems(name) & _stems(own)
        if stated and not stated & kept:
            return f"no longer states `{name}`"
    if identify_language(text) not in ("", code) and identify_language(own) in ("", code):
        return f"is not in {LANGUAGE_NAMES[code]}"
    return ""


def _speakers(text: str) -> tuple[str, ...]:
    """Who speaks in a transcript, in order of their first turn; empty where a line has nobody."""
    named = [line.partition(": ") for line in text.splitlines() if line.strip()]
    return tuple(dict.fromkeys(name if colon else "" for name, colon, _ in named))


def _stems(text: str) -> set[str]:
    return {word.lower()[:5] for word in _WORD.findall(text)}


# -- quotations -------------------------------------------------------------------------------

_QUOTING = re.compile(r"(?P<own>.*?)\n\n(?P<head>[^\n]+)\n(?P<quote>(?:> [^\n]*\n?)+)", re.DOTALL)


def _own(body: str) -> str:
    """The text above a quotation; empty where one stands between texts, as in joined messages."""
    if "\n> " not in body:
        return body
    found = _QUOTING.fullmatch(body)
    return found["own"] if found is not None else ""


def _with(written: Sequence[Written], texts: Mapping[int, str]) -> list[Written]:
    """The messages with new texts, and with what they quote as it is worded now."""
    now: dict[tuple[str, str], list[str]] = {}
    changed: list[Written] = []
    for place, one in enumerate(written):
        body = texts.get(place, _own(one.body)) or one.body
        found = _QUOTING.fullmatch(one.body)
        if found is not None and _own(one.body):
            quoted = found["quote"].strip("\n")
            lines = now.get((one.scenario, quoted), quoted.split("\n"))
            body = "\n".join([f"{body}\n", found["head"], *lines])
        new = replace(one, body=body)
        now[one.scenario, "\n".join(_quote(one.body))] = _quote(body)
        changed.append(new)
    return changed


def _quote(body: str) -> list[str]:
    """How a message is quoted."""
    lines = [line for line in body.splitlines() if line and not line.startswith(">")]
    return [f"> {line}" for line in lines[:6]]
