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
OR = re.compile(r"\bor\b", re.IGNORECASE)
ONE_OF = re.compile(r"\b(?:either|only one|exactly one|one of|or else)\b", re.IGNORECASE)

_BEGINNING = 12
"""A cue that starts before this character begins the sentence."""


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
