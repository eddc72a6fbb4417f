"""Options of runs that draft processes from texts."""

from __future__ import annotations

from typing import Literal

Prompt = Literal["outline", "triples", "plain"]
PROMPTS: tuple[Prompt, ...] = ("outline", "triples", "plain")
"""The requests for drafts: an outline; graph lines, as in version 0.2; and graph lines without any
rule, for comparison. The first one is the default."""

PROMPT = "prompt"
"""The option of a run: one of `PROMPTS`. Without it, recorded answers to the second one are used
if there are none to the first."""

OMITTED_RULES = "omitted-rules"
"""The option of a run: names of rules that the request for an outline leaves out."""

FIRST_DRAFTS = "first-drafts"
"""The option of a run: a `FirstDrafts`, which several runs share."""

ROUNDS = "rounds"
"""The option of a run: the number of rounds of reviews."""
