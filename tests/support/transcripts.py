"""Transcripts of command lines: `$ orgflowc …` and what it prints, run again and compared."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

from orgflow import cli

PROMPT = "$ orgflowc "


@dataclass(frozen=True)
class Played:
    """One command line of a transcript, and all that it printed."""

    command: str
    printed: str
    code: int

    def __str__(self) -> str:
        ended = f"[exit code {self.code}]\n" if self.code else ""
        return f"{PROMPT}{self.command}\n{self.printed}{ended}"


def commands(transcript: str) -> list[str]:
    """The command lines of a transcript, without the prompt and the name of the program."""
    lines = transcript.splitlines()
    return [line.removeprefix(PROMPT) for line in lines if line.startswith(PROMPT)]


def play(transcript: str, folder: Path, printed: Callable[[], tuple[str, str]]) -> list[Played]:
    """Run the command lines in this process, in `folder`; `printed` gives standard output and
    standard error since it was called last (`capsys.readouterr`)."""
    with chdir(folder):
        return list(_played(commands(transcript), printed))


def _played(lines: list[str], printed: Callable[[], tuple[str, str]]) -> Iterator[Played]:
    printed()
    for line in lines:
        code = cli.run(shlex.split(line))
        out, err = printed()
        yield Played(line, out + err, code)


def written(played: list[Played]) -> str:
    """The text of a transcript: a blank line between command lines."""
    return "\n".join(str(item) for item in played)


def codes(text: str) -> set[str]:
    """Codes of the diagnostics in what a command printed, as text or as JSON."""
    shown = re.compile(r'\b(?:error|warning|info) ([A-Z]+\d+) \[|"code": "([A-Z]+\d+)"')
    return {found[1] or found[2] for found in shown.finditer(text)}
