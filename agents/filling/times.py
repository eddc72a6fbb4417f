"""Times that a name states exactly: "after 3 days", "two hours later". No language model is
asked."""

from __future__ import annotations

import re
from typing import ClassVar

from orgflow_ir.gaps.gap import Gap, GapKind
from orgflow_ir.model import Event, Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.agents import Answer, GapAgent, Refusal

_NUMBERS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen",
)  # fmt: skip
_UNITS = {
    "second": "PT{}S", "minute": "PT{}M", "hour": "PT{}H", "day": "P{}D", "week": "P{}W",
}  # fmt: skip
_TIME = re.compile(
    rf"\b(\d{{1,4}}|an?|{'|'.join(_NUMBERS[1:])})\s+({'|'.join(_UNITS)})s?\b", re.IGNORECASE
)
_VAGUE = re.compile(
    r"\b(about|around|approximately|or|to|between|within|at least|at most|up to|working|business|"
    r"every|each|before|until|few|some|several)\b|[-–/]\s*\d|\d\s*[-–]",
    re.IGNORECASE,
)


class TimeReader(GapAgent):
    """Answers the time of a timer event whose name states one, and nothing else."""

    name = "times"
    summary = 'times stated exactly in names, such as "after 3 days"'
    kinds: ClassVar[frozenset[GapKind] | None] = frozenset(("time",))

    def answer(
        self, gap: Gap, model: Model, ctx: PassContext, refused: tuple[Refusal, ...]
    ) -> Answer | None:
        """A duration; `None` for a start, for vague times, and for several times."""
        event = gap.element
        if not isinstance(event, Event) or event.position == "start" or refused:
            return None
        texts = [event.name, *(d.expression.text for d in event.definitions if d.expression)]
        durations = {time for text in texts if (time := read_duration(text)) is not None}
        return (
            Answer({"kind": "duration", "value": durations.pop()}) if len(durations) == 1 else None
        )


def read_duration(text: str) -> str | None:
    """The only duration in a text, in ISO 8601.

    Example:
        >>> duration("Two weeks later"), duration("after 3-5 days"), duration("every day")
        ('P2W', None, None)
    """
    times = _TIME.findall(text)
    if len(times) != 1 or _VAGUE.search(text):
        return None
    number, unit = times[0][0].lower(), times[0][1].lower()
    count = 1 if number in ("a", "an") else None
    if count is None:
        count = int(number) if number.isdigit() else _NUMBERS.index(number)
    return _UNITS[unit].format(count)
