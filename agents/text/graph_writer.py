"""Items of a draft as graph lines."""

from __future__ import annotations

import re

from orgflow.agents.text.draft_items import Back, Block, Item, Step, Wait, walk_items

End = tuple[str, str]
"""An open end of a row: the key of a node, and the condition of the flow that leaves it. The key of
a time limit is that of its step with `!` or `+` behind it, and the condition is the time."""


CYCLES = ("every ", "each ", "jeden ", "jede ", "jedes ", "daily", "weekly", "monthly")
"""Beginnings of times that come again."""


def _plain_text(text: str) -> str:
    """A text without the signs of graph lines."""
    return re.sub(r"[|<>→]|->", " ", text).strip()


class GraphWriter:
    """Writes the lines of one draft: nodes with numbered keys, and the flows between them.

    Attributes:
        limits: the deadlines written so far, in their order, with the numbers of their sentences.
    """

    def __init__(self) -> None:
        self.limits: list[tuple[str, int]] = []
        self._begun: Step | None = None
        self._splits: dict[int, str] = {}
        self._declared: list[str] = []
        self._flows: list[str] = []
        self._counts: dict[str, int] = {}
        self._keys: dict[int, str] = {}

    def write_lines(self, items: list[Item]) -> str:
        """The lines of a draft, from `Start` to `End`; a cycle before the first step starts it."""
        first = items[0] if items else None
        steps = [item for item in walk_items(items) if isinstance(item, Step | Wait)]
        timed = any(isinstance(s, Wait) or s.limits or s.before or s.waits for s in steps)
        if isinstance(first, Step) and first.before.casefold().startswith(CYCLES):
            self._declared.append(f"Start {_plain_text(first.before)} | | s{first.sentence}")
            self._begun = first
        ends = self._write_row(items, [("Start", "")])
        self._link_ends(ends, "End")
        return "\n".join([*(["# extended"] if timed else []), *self._declared, *self._flows, ""])

    def _declare_node(self, kind: str, text: str, actor: str, sentence: int) -> str:
        """The key of a new node."""
        self._counts[kind] = self._counts.get(kind, 0) + 1
        key = f"{kind}{self._counts[kind]}"
        parts = [_plain_text(part) for part in (text, actor)]
        self._declared.append(f"{key} {parts[0] or 'join'} | {parts[1]} | s{sentence}")
        return key

    def _link_ends(self, ends: list[End], target: str) -> None:
        for source, label in ends:
            condition = re.sub(r"[()\[\]|<>→]|->", " ", label).strip()
            arrow = f"-({condition})->" if condition else "->"
            if source.endswith("+"):
                source, arrow = source[:-1], f"-{source[-1]}({condition})->"
            self._flows.append(f"{source} {arrow} {target}")

    def _write_row(self, items: list[Item], ends: list[End]) -> list[End]:
        """The open ends behind a row of items; none where it leaves."""
        for item in items:
            match item:
                case None:  # the process ends here
                    self._link_ends(ends, "End")
                    return []
                case Back(step):
                    self._link_ends(ends, self._keys[id(step)])
                    return []
                case Step():
                    ends = self._write_step(item, ends)
                case Wait(text, sentence):
                    kind = "receive" if item.receives else "wait"
                    key = self._declare_node("E", f"{kind} {text}", "", sentence)
                    self._link_ends(self._merge_ends(ends, sentence), key)
                    ends = [(key, "")]
                case Block():
                    ends = self._write_block(item, ends)
        return ends

    def _write_step(self, step: Step, ends: list[End]) -> list[End]:
        """The open end behind a step, its time before it, and the deadlines at it."""
        number = step.sentence
        if step.choices:
            one_of = [Step(name, step.actor, number) for name in step.choices]
            one_of[0].before, one_of[0].limits = step.before, step.limits
            block = Block("X", [("", [choice]) for choice in one_of], number)
            ends = self._write_block(block, ends)
            self._keys[id(step)] = self._splits[id(block)]
            return ends
        if step.before and step is not self._begun:
            ends = self._write_row([Wait(step.before, number)], ends)
        if step.waits:
            key = self._declare_node("E", f"wait {step.waits}", "", number)
        else:
            key = self._declare_node("T", step.name, step.actor, number)
        self._keys[id(step)] = key
        self._link_ends(self._merge_ends(ends, number), key)
        for limit in step.limits:
            self.limits.append((limit, number))
            self._link_ends([(f"{key}+", limit)], "End")
        return [(key, "")]

    def _merge_ends(self, ends: list[End], sentence: int) -> list[End]:
        """One end for several, by an exclusive join."""
        if len(ends) < 2:
            return ends
        join = self._declare_node("X", "join", "", sentence)
        self._link_ends(ends, join)
        return [(join, "")]

    def _write_block(self, block: Block, ends: list[End]) -> list[End]:
        split = self._declare_node(block.kind, "split", "", block.sentence)
        self._splits[id(block)] = split
        self._link_ends(self._merge_ends(ends, block.sentence), split)
        left: list[End] = []
        branches = list(block.branches)
        if block.kind == "X" and len(branches) == 1:
            branches.append(("otherwise", []))
        for label, items in branches:
            ends = self._write_row(items, [(split, label)])
            # A join that waits for all branches takes one flow of each.
            left += self._merge_ends(ends, block.sentence) if block.kind == "A" else ends
        if block.kind == "A":
            join = self._declare_node("A", "join", "", block.sentence)
            self._link_ends(left, join)
            return [(join, "")]
        return self._merge_ends(left, block.sentence)
