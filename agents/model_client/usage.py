"""Usage of calls and its limits: tokens, cost and time, by agent and for the run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from orgflow_ir.model.records import NamedTuple, dataclass
from orgflow_ir.pipeline.services import OverBudget

NO_PRICE = "no price configured"

_CHARACTERS = 4
"""Characters per token, for estimates, which are above the counts of most tokenizers for
English."""


class Expected(NamedTuple):
    """An estimate of the usage of a command.

    Attributes: calls, tokens_in, tokens_out: the usage if every answer is usable. most_calls: a
        limit, regardless of the answers.
    """

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    most_calls: int = 0

    def __add__(self, other: Expected) -> Expected:  # type: ignore[override]
        """Both together."""
        return Expected(*(own + more for own, more in zip(self, other, strict=True)))

    def times(self, number: int) -> Expected:
        """So often."""
        return Expected(*(amount * number for amount in self))


@dataclass(kw_only=True)
class Usage:
    """The usage of one agent or a run. `replayed` calls came from records and cost nothing; they
    used `replayed_tokens` when they were recorded."""

    calls: int = 0
    replayed: int = 0
    retries: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    estimated: bool = False
    replayed_tokens: int = 0

    @property
    def tokens(self) -> int:
        """In and out."""
        return self.tokens_in + self.tokens_out

    def add(self, other: Usage) -> None:
        """Add the usage of another."""
        self.calls += other.calls
        self.replayed += other.replayed
        self.retries += other.retries
        self.tokens_in += other.tokens_in
        self.tokens_out += other.tokens_out
        self.cost += other.cost
        self.seconds += other.seconds
        self.estimated = self.estimated or other.estimated
        self.replayed_tokens += other.replayed_tokens


@dataclass
class UsageLedger:
    """The usage of a run, by agent in the order of their first calls."""

    agents: dict[str, Usage] = field(default_factory=dict)

    def note(self, agent: str, usage: Usage) -> None:
        """Count a call for an agent."""
        self.agents.setdefault(agent, Usage()).add(usage)

    @property
    def total(self) -> Usage:
        """Of all agents."""
        total = Usage()
        for usage in self.agents.values():
            total.add(usage)
        return total

    def lines(self, *, priced: bool) -> tuple[str, ...]:
        """One line per agent, and one for all if there are several.

        Args:
            priced: whether the prices of tokens are known.
        """
        rows = list(self.agents.items()) or [("model", Usage())]
        if len(rows) > 1:
            rows.append(("all", self.total))
        return tuple(f"{name or 'model'}: {describe_usage(usage, priced)}" for name, usage in rows)

    def data(self, *, priced: bool) -> dict[str, Any]:
        """The same as JSON data: the total, and each agent under its name. A cost is null if no
        price is configured."""
        agents = {
            name or "model": _usage_data(usage, priced) for name, usage in self.agents.items()
        }
        return {**_usage_data(self.total, priced), "agents": agents}


def _usage_data(usage: Usage, priced: bool) -> dict[str, Any]:
    return {
        "calls": usage.calls, "replayed": usage.replayed, "retries": usage.retries,
        "tokens_in": usage.tokens_in, "tokens_out": usage.tokens_out,
        "cost": usage.cost if priced else None, "seconds": round(usage.seconds, 3),
        "estimated": usage.estimated,
    }  # fmt: skip


def describe_usage(usage: Usage, priced: bool) -> str:
    """As `3 calls (1 replayed), 1,200 tokens in, 300 out, cost 0.0004, 2.1 s`."""
    parts = [f"{usage.calls} call{'' if usage.calls == 1 else 's'}"]
    if usage.replayed:
        parts[0] += f" ({usage.replayed} replayed)"
    if usage.retries:
        parts.append(f"{usage.retries} {'retry' if usage.retries == 1 else 'retries'}")
    about = "about " if usage.estimated else ""
    parts.append(f"{about}{usage.tokens_in:,} tokens in, {usage.tokens_out:,} out")
    parts.append(f"cost {usage.cost:.4f}" if priced else NO_PRICE)
    parts.append(f"{usage.seconds:.1f} s")
    return ", ".join(parts)


class RunBudget:
    """A `Budget` of tokens, cost and calls for one run; `None` is unlimited.

    Spending counts before `OverBudget` is raised, so an overdrawn budget stays empty.
    """

    def __init__(self, tokens: int | None = None, cost: float | None = None) -> None:
        self.tokens, self.cost = tokens, cost
        self.calls: int | None = None
        self.spent_tokens, self.spent_cost, self.spent_calls = 0, 0.0, 0

    def spend(
        self, *, requests: int = 0, tokens: int = 0, cost: float = 0.0, agent: str = ""
    ) -> None:
        """Record spending. Raises `OverBudget` if it exceeds the limit."""
        del agent
        self.spent_calls += requests
        self.spent_tokens += tokens
        self.spent_cost += cost
        if self.tokens is not None and self.spent_tokens > self.tokens:
            raise OverBudget(f"the budget of {self.tokens:,} tokens is exhausted")
        if self.cost is not None and self.spent_cost > self.cost:
            raise OverBudget(f"the budget of {self.cost:g} is exhausted")

    def allow(self, tokens: int, cost: float = 0.0) -> None:
        """Raises `OverBudget` if a call of this size is not possible; records nothing."""
        if self.calls is not None and self.spent_calls >= self.calls:
            raise OverBudget(f"the limit of {self.calls:,} calls is reached")
        if self.tokens is not None and self.spent_tokens + tokens > self.tokens:
            raise OverBudget(
                f"the next call needs about {tokens:,} tokens, but only "
                f"{max(0, self.tokens - self.spent_tokens):,} of {self.tokens:,} are left"
            )
        if self.cost is not None and self.spent_cost + cost > self.cost:
            raise OverBudget(f"the next call would exceed the budget of {self.cost:g}")

    @property
    def left(self) -> bool:
        """Whether anything may be spent."""
        return (self.tokens is None or self.spent_tokens < self.tokens) and (
            self.cost is None or self.spent_cost < self.cost or self.cost == 0 == self.spent_cost
        )


def estimate_tokens(texts: Iterable[str]) -> int:
    """The approximate number of tokens of texts, before an endpoint counts them."""
    return sum(math.ceil(len(text) / _CHARACTERS) for text in texts)


def message_texts(messages: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    """The texts of messages; other content is ignored."""
    return (m["content"] for m in messages if isinstance(m.get("content"), str))
