"""Words and phrases of a text that state its flow: otherwise, at the same time, again, the end."""

from __future__ import annotations

import re

OTHERWISE = re.compile(
    r"\b(?:otherwise|else|if not|in the other case|or else|if this is not)\b", re.I
)
TOGETHER = re.compile(
    r"\b(?:meanwhile|in parallel|simultaneously|at the same time|concurrently|in the meantime)\b",
    re.I,
)
AGAIN = re.compile(
    r"\b(?:again|repeat(?:s|ed)?|once more|anew|resubmit\w*|restart\w*|(?:send|sent|sends|go|goes|"
    r"return|returns|returned)\b[^,;.]{0,30}\bback)\b",
    re.I,
)
BACK_TO = re.compile(
    r"\b(?:go|goes|going|come|comes|return|returns)(?: back)? to "
    r"(?:the |step )?([\w-]+(?: [\w-]+)?)",
    re.I,
)
"""Names the step, or its noun, that the process goes back to."""
LEADS_BACK = re.compile(r"(?:go|return|come)(?: back)?(?: to \S+)?", re.I)
"""The name of a step that only leads back."""
ENDING = re.compile(
    r"\b(?:process|procedure|case|workflow)\b[^,;]{0,40}"
    r"\b(?:ends?|ended|terminates?|finish\w*|over|stops?|stopped|cancell?ed|aborted)\b"
    r"|\b(?:stops?|ends?) (?:here|there)\b",
    re.I,
)
ORDER = re.compile(r"\b(?:then|next|afterwards?|finally|subsequently|after that|later)\b", re.I)

MAY_BE_TOGETHER = re.compile(
    r"\b(?:while|whilst|meanwhile|parallel|simultaneous\w*|concurrent\w*|same time|both|at once|"
    r"in the meantime|any order|as well as|each|independent\w*)\b",
    re.IGNORECASE,
)
"""Every word that supports a parallel gateway; `TOGETHER` has those that demand one."""
MAY_BE_CHOICE = re.compile(
    r"\b(?:if|unless|or|either|may|might|can|could|should|otherwise|else|whether|where|when|once|until"
    r"|only|in case|in the event|depending|optional\w*|possibl[ey]|sometimes|below|above|over|under"
    r"|except|whichever|again|repeat\w*|not|wenn|falls|sofern|oder|entweder|kann|können|sonst"
    r"|andernfalls|ansonsten|bei|ob|wer|nur|je nach\w*|bis|nicht|erneut)\b|\?",
    re.IGNORECASE,
)
"""Every word that supports an exclusive gateway."""
OR = re.compile(r"\bor\b", re.IGNORECASE)
ONE_OF = re.compile(r"\b(?:either|only one|exactly one|one of|or else)\b", re.IGNORECASE)

_BEGINNING = 12
"""A cue that starts before this character begins the sentence."""


_INTRODUCTION = re.compile(
    r"\b(?:works?|looks?|goes|go|runs?|is|are|happens?|proceeds?)(?: organi[sz]ed| structured)? "
    r"(?:like this|as follows|this way)\b"
    r"|\b(?:as follows|the following (?:steps|way|process|order))\b"
    r"|\bhere(?: is|'s|’s) (?:what|how)\b"
    r"|\b(?:quick|short|brief) (?:summary|overview|description)\b"
    r"|\byou (?:asked|wanted to know)\b"
    r"|\b(?:this|the following) (?:text|procedure|document|section|page) (?:describes|explains)\b"
    r"|\b(?:activities|steps|things|tasks|checks) (?:are (?:carried out|done|performed)|follow|"
    r"happen|take place)\b[^,.;]*(?=:)",
    re.I,
)
"""A statement about the description, and no step."""


def find_introduction_end(text: str) -> int:
    """Where the steps begin in a sentence that introduces them: behind its colon, or at its end; 0
    where it introduces nothing."""
    cue = _INTRODUCTION.search(text)
    if cue is None:
        return 0
    colon = re.search(r":\s", text[cue.end() :])
    return cue.end() + colon.end() if colon is not None else len(text)


def begins_with_otherwise(text: str) -> bool:
    """Whether a sentence begins with a cue that it states the other case."""
    cue = OTHERWISE.search(text)
    return cue is not None and cue.start() < _BEGINNING


def begins_together(text: str) -> bool:
    """Whether a sentence begins with a cue that it happens in parallel to the steps before it."""
    cue = TOGETHER.search(text)
    return cue is not None and cue.start() < _BEGINNING


def find_announced_together(text: str) -> int:
    """Where the steps begin that a sentence announces as done at the same time, with a colon; 0
    where it announces none."""
    cue = TOGETHER.search(text)
    if cue is None:
        return 0
    colon = re.match(r"[^,;:]*:", text[cue.end() :])
    return cue.end() + colon.end() if colon is not None else 0
