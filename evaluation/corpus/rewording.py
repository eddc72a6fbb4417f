"""The messages of a corpus in words of a language model. Templates decide what a message states;
an answer that loses it is not used, so the truth about the corpus stays true."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from orgflow.agents.language.identification import LANGUAGE_NAMES, identify_language
from orgflow.agents.model_client.answer_reading import UnreadableAnswer, read_json
from orgflow.agents.model_client.usage import Expected, estimate_tokens
from orgflow.agents.prompting import render_prompt, visible_text
from orgflow.evaluation.corpus.weave import Written

from orgflow_ir.model.records import NamedTuple
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


def reword_messages(
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
    batches = list(_split_batches(written))
    try:
        for done, batch in enumerate(batches):
            progress(done, len(batches), "messages in other words")
            usable = _ask_batch(batch, written, tasks, code, client)
            texts.update(usable)
            refused += len(batch) - len(usable)
    except OverBudget as error:
        stopped = str(error)
    return Rewording(_replace_texts(written, texts), len(texts), refused, stopped)


def expected_rewording(written: Sequence[Written], code: str) -> Expected:
    """About what `reword` takes where every answer is usable."""
    batches = list(_split_batches(written))
    prompts = (_write_prompt(batch, written, code, {}) for batch in batches)
    return Expected(
        len(batches),
        sum(estimate_tokens([prompt]) for prompt in prompts),
        estimate_tokens(w.body for w in written),
        ATTEMPTS * len(batches),
    )


# -- what is asked ----------------------------------------------------------------------------


def _split_batches(written: Sequence[Written]) -> Iterator[list[int]]:
    """The places of messages that are asked about together."""
    groups: dict[tuple[str, str], list[int]] = {}
    for place, message in enumerate(written):
        if _cut_quotation(message.body):
            groups.setdefault((message.process, message.scenario), []).append(place)
    for places in groups.values():
        for begin in range(0, len(places), BATCH):
            yield places[begin : begin + BATCH]


def _write_prompt(
    places: Sequence[int], written: Sequence[Written], code: str, wrong: Mapping[int, str]
) -> str:
    messages = [
        {"number": number, "channel": shown.channel, "from": shown.sender,
         "to": list(shown.receivers), "subject": shown.subject, "text": _cut_quotation(shown.body)}
        for number, shown in enumerate((written[place] for place in places), 1)
    ]  # fmt: skip
    return render_prompt(
        "synth_reword",
        language=LANGUAGE_NAMES[code],
        messages="\n".join(json.dumps(message, ensure_ascii=False) for message in messages),
        wrong="\n".join(
            f"{places.index(place) + 1}: it {reason}" for place, reason in wrong.items()
        ),
    )


def _ask_batch(
    batch: Sequence[int], written: Sequence[Written], tasks: Tasks, code: str,
    client: ModelClient,
) -> dict[int, str]:  # fmt: skip
    """The usable texts for a batch, by place."""
    texts: dict[int, str] = {}
    left, wrong = list(batch), dict[int, str]()
    for _ in range(ATTEMPTS):
        prompt = _write_prompt(left, written, code, wrong)
        reply = client.ask([{"role": "user", "content": prompt}], schema=SCHEMA)
        given = _parse_texts(reply.text)
        wrong = {}
        for number, place in enumerate(left, 1):
            text = visible_text(given.get(number, "")).strip()
            reason = _describe_fault(text, written[place], tasks, code)
            if reason:
                wrong[place] = reason
            else:
                texts[place] = text
        left = list(wrong)
        if not left:
            break
    return texts


def _parse_texts(answer: str) -> dict[int, str]:
    """The texts of an answer by their numbers; the first where a number comes again."""
    try:
        value = read_json(answer).value
    except UnreadableAnswer:
        return {}
    entries = value.get("messages") if isinstance(value, Mapping) else value
    texts: dict[int, str] = {}
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, Mapping) and isinstance(entry.get("text"), str):
            number = entry.get("number")
            if type(number) is int:
                texts.setdefault(number, entry["text"])
    return texts


# -- what is used -----------------------------------------------------------------------------

_REFERENCE = re.compile(r"\b[A-Z]{1,3}-\d+|\d[\d.,:/-]*\d|\d")
_WORD = re.compile(r"[^\W\d_]{4,}")


def _describe_fault(text: str, message: Written, tasks: Tasks, code: str) -> str:
    """Why a text cannot stand for a message, as the end of a sentence; empty where it can."""
    own = _cut_quotation(message.body)
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
    if message.channel == "call" and _list_speakers(text) != _list_speakers(own):
        return f"is no transcript of {', '.join(_list_speakers(own))}"
    kept = _collect_stems(text)
    for task in message.tasks:
        name = tasks.get((message.process, task), "")
        stated = _collect_stems(name) & _collect_stems(own)
        if stated and not stated & kept:
            return f"no longer states `{name}`"
    if identify_language(text) not in ("", code) and identify_language(own) in ("", code):
        return f"is not in {LANGUAGE_NAMES[code]}"
    return ""


def _list_speakers(text: str) -> tuple[str, ...]:
    """Who speaks in a transcript, in order of their first turn; empty where a line has nobody."""
    named = [line.partition(": ") for line in text.splitlines() if line.strip()]
    return tuple(dict.fromkeys(name if colon else "" for name, colon, _ in named))


def _collect_stems(text: str) -> set[str]:
    return {word.lower()[:5] for word in _WORD.findall(text)}


# -- quotations -------------------------------------------------------------------------------

_QUOTING = re.compile(r"(?P<own>.*?)\n\n(?P<head>[^\n]+)\n(?P<quote>(?:> [^\n]*\n?)+)", re.DOTALL)


def _cut_quotation(body: str) -> str:
    """The text above a quotation; empty where one stands between texts, as in joined messages."""
    if "\n> " not in body:
        return body
    match = _QUOTING.fullmatch(body)
    return match["own"] if match is not None else ""


def _replace_texts(written: Sequence[Written], texts: Mapping[int, str]) -> list[Written]:
    """The messages with new texts, and with what they quote as it is worded now."""
    now: dict[tuple[str, str], list[str]] = {}
    changed: list[Written] = []
    for place, message in enumerate(written):
        body = texts.get(place, _cut_quotation(message.body)) or message.body
        match = _QUOTING.fullmatch(message.body)
        if match is not None and _cut_quotation(message.body):
            quoted = match["quote"].strip("\n")
            lines = now.get((message.scenario, quoted), quoted.split("\n"))
            body = "\n".join([f"{body}\n", match["head"], *lines])
        new = message._replace(body=body)
        now[message.scenario, "\n".join(_quote_lines(message.body))] = _quote_lines(body)
        changed.append(new)
    return changed


def _quote_lines(body: str) -> list[str]:
    """How a message is quoted."""
    lines = [line for line in body.splitlines() if line and not line.startswith(">")]
    return [f"> {line}" for line in lines[:6]]
