"""Transcripts of calls: WebVTT, SubRip and SBV, one message per call with one line per turn."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from orgflow_ir.model.message import BrokenMessage, Message, Person, content_id

_TIME = re.compile(
    r"\s*(?P<h>\d{1,3}:)?(?P<m>\d{1,2}):(?P<s>\d{1,2})[.,](?P<ms>\d{1,3})(?:\s*-->\s*|,)"
    r"(?:\d{1,3}:)?\d{1,2}:\d{1,2}[.,]\d{1,3}"
)
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>")
_TAG = re.compile(r"<[^<>]*>|\{\\[^{}]*\}")
_MARK = re.compile(r"^\s*(?:-|>>|&gt;&gt;)\s*")
"""The beginning of a line at a change of speaker."""
_SPEAKER = re.compile(r"^\s*(\[?[^\W\d_][\w.'’()-]*(?:[ -][\w.'’()-]+){0,4}\]?):\s+(.*)", re.DOTALL)
_LAST_NAME_FIRST = re.compile(r"^\s*([^\W\d_][\w.'’-]*,(?: [\w.'’()-]+){1,4}):\s+(.*)", re.DOTALL)
_BRACKETED = re.compile(
    r"^\s*\[([^\W\d_][\w.'’()-]*(?:[ -][\w.'’()-]+){0,4})\]\s+(\S.*)", re.DOTALL
)
_SOUNDS = frozenset(
    ("applause", "audio", "background", "beep", "blank", "cheering", "clears", "cough", "crosstalk",
     "foreign", "inaudible", "laughing", "laughs", "laughter", "music", "noise", "pause", "phone",
     "ringing", "sighs", "silence", "unintelligible", "applaus", "gelächter", "musik",
     "applaudissements", "musique", "rires", "aplausos", "música", "risas", "risos")
)  # fmt: skip
"""Words for sounds, which are in brackets like names."""
_NAMED_CUE = re.compile(r'\s*\d+\s+"([^"<>]+)"(?:\s*\(\d+\))?\s*')
"""The name of a cue as Webex writes it: `1 "Ann Miller" (123456789)`."""
_DATED = re.compile(r"(20\d\d)[-_.]?(\d\d)[-_.]?(\d\d)(?:[T_ -]+(\d\d)[-_.:h]?(\d\d))?")


def read_transcript(lines: Iterable[str], file: str) -> Iterator[Message | BrokenMessage]:
    """The call of a transcript as one message: one line `Speaker: words` per turn, with
    neighbouring turns of one speaker joined. The first speaker is the sender. The date is that of
    the file's name (`2026-03-02 10-15 …`), otherwise the file's modification time.
    """
    turns: list[tuple[str, str]] = []
    cues = list(_read_cues(lines, file))
    labelled = _all_labelled(
        [
            cue_entry[1]
            for cue_entry in cues
            if not isinstance(cue_entry, BrokenMessage) and cue_entry[1]
        ]
    )
    for entry in cues:
        if isinstance(entry, BrokenMessage):
            yield entry
            continue
        number, cue = entry
        words = 0
        for name, text in _split_turns(cue, labelled):
            text = " ".join(html.unescape(_TAG.sub("", text)).split())
            if not text:
                continue
            words += 1
            last = turns[-1] if turns else None
            if last is not None and (not name or last[0] == name):
                turns[-1] = (last[0], f"{last[1]} {text}")
            else:
                turns.append((name, text))
        if not words:
            yield BrokenMessage(file, number, "is a cue without text")
    if not turns:
        yield BrokenMessage(file, 1, "contains no cue with text")
        return
    names = list(dict.fromkeys(name for name, _ in turns if name))
    body = "\n".join(f"{name}: {text}" if name else text for name, text in turns)
    title = _DATED.sub(" ", os.path.splitext(os.path.basename(file))[0])
    yield Message(
        id=content_id("call", body),
        date=_read_date(file),
        channel="call",
        sender=Person(names[0]) if names else None,
        receivers=tuple(Person(name) for name in names[1:]),
        subject=" ".join(re.sub(r"[_-]+", " ", title).split()),
        body=body,
        file=file,
        line=1,
    )


def _read_cues(lines: Iterable[str], file: str) -> Iterator[tuple[int, str] | BrokenMessage]:
    """The text of each cue with the line it begins at; notes and styles are left out. What follows
    the blank line at the end of a cue of WebVTT is the name of the next one, or belongs to none."""
    begin = 0
    text: list[str] = []
    outside: list[int] = []  # the lines since the last blank one that are in no cue
    unread = webvtt = left_out = False
    before = ""
    for number, line in enumerate(lines, 1):
        if number == 1 and line.lstrip("\ufeff").startswith("WEBVTT"):
            webvtt = unread = left_out = True
        named = _NAMED_CUE.fullmatch(before)
        blank_before, before = before.isspace(), line
        if _TIME.match(line):
            if begin:
                yield begin, "\n".join(_without_number(text))
            yield from _report_outside(outside[:-1], file)  # the last one is the name of this cue
            begin, text, unread = number, [f"<v {named.group(1)}>"] if named else [], False
            outside, left_out = [], False
        elif "-->" in line:
            if begin:
                yield begin, "\n".join(_without_number(text))
            begin, text, outside, unread, left_out = 0, [], [], True, True
            yield BrokenMessage(file, number, "is a cue whose time cannot be parsed")
        elif webvtt and line.isspace():
            yield from _report_outside(outside, file)
            outside, unread, left_out = [], True, False
        elif begin and not unread:
            text.append(line.rstrip("\r\n"))
        elif unread and webvtt:
            left_out = left_out or (blank_before and line.startswith(("NOTE", "STYLE", "REGION")))
            if not left_out:
                outside.append(number)
    yield from _report_outside(outside, file)
    if begin:
        yield begin, "\n".join(text).strip()


def _report_outside(lines: list[int], file: str) -> Iterator[BrokenMessage]:
    if lines:
        yield BrokenMessage(file, lines[0], "is text outside of the cues")


def _without_number(text: list[str]) -> list[str]:
    """The lines of a cue without the number or name of the next one and what stands before it."""
    while text and not text[-1].strip():
        text = text[:-1]
    if len(text) >= 2 and not text[-2].strip():
        text = text[:-2]
    return text


def _all_labelled(cues: list[str]) -> bool:
    """Whether most cues begin with a name: then `Doe, Jane:` is one, too."""
    named = [cue for cue in cues if _find_speaker(cue, True) is not None]
    return len(named) * 2 > len(cues)


def _find_speaker(line: str, labelled: bool) -> tuple[str, str] | None:
    """Who begins to speak in a line, and what. `labelled`: a comma may be part of the name."""
    match = _SPEAKER.match(line) or (_LAST_NAME_FIRST.match(line) if labelled else None)
    if match is None:
        match = _BRACKETED.match(line)
        if match and not _SOUNDS.isdisjoint(re.split(r"[\W_]+", match.group(1).lower())):
            return None
    if match is None or not all(w[0].isupper() or w[0] in "([" for w in match.group(1).split()):
        return None  # a colon in what somebody says
    return match.group(1).strip("[]"), match.group(2)


def _split_turns(cue: str, labelled: bool) -> Iterator[tuple[str, str]]:
    before, *voices = _VOICE.split(cue)
    if voices:
        yield "", before
        for name, spoken in zip(voices[::2], voices[1::2], strict=True):
            text, _, after = spoken.partition("</v>")
            yield html.unescape(name).strip(), text
            yield "", after
        return
    for number, line in enumerate(cue.split("\n")):
        line = _MARK.sub("", _TAG.sub("", line))
        yield _find_speaker(line, labelled and number == 0) or ("", line)


def _read_date(file: str) -> datetime | None:
    if match := _DATED.search(os.path.basename(file)):
        year, month, day, hour, minute = (int(part or 0) for part in match.groups())
        try:
            return datetime(year, month, day, hour, minute)
        except ValueError:
            pass  # digits that are no date
    if os.path.isfile(file):
        return datetime.fromtimestamp(int(os.path.getmtime(file)), UTC)
    return None
