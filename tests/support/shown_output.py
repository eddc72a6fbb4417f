"""Commands and their output as pages show them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


def shown(wanted: str, out: str) -> bool:
    """Whether the output is as a page shows it; `…` stands for anything."""
    lines = [line.rstrip() for line in out.splitlines()]
    pattern = ".*?".join(re.escape(part) for part in wanted.strip("\n").split("…"))
    return re.search(f"^{pattern}$", "\n".join(["", *lines, ""]), re.S | re.M) is not None


class ShownCommand(NamedTuple):
    """A command of a page, after `$ orgflowc`, and the output below it."""

    arguments: tuple[str, ...]
    output: str


def shown_commands(page: Path) -> Iterator[ShownCommand]:
    """The commands in the `console` blocks of a page."""
    for block in re.findall(r"(?ms)^```console\n(.*?)^```$", page.read_text("utf-8")):
        for part in re.split(r"(?m)^(?=\$ orgflowc )", block):
            command, _, output = part.partition("\n")
            if command:
                yield ShownCommand(tuple(command.removeprefix("$ orgflowc ").split()), output)
