"""Items of a draft as graph lines."""

from __future__ import annotations

import re

from orgflow.agents.text.draft_items import Back, Block, Item, Step

End = tuple[str, str]
"""An open end of a row: the key of a node, and the condition of the flow that leaves it."""


class GraphWriter:
    """Writes the lines of one draft: nodes with numbered keys, and the flows between them."""

    def __init__(self) -> None:
        self._declared: list[str] = []
        self._flows: list[str] = []
        self._counts: dict[str, int] = {}
        self._keys: dict[int, str] = {}

    def write_lines(self, items: list[Item]) -> str:
        """The lines of a draft, from `Start` to `End`."""
        ends = self._write_row(items, [("Start", "")])
        self._link_ends(ends, "End")
        return "\n".join([*self._declared, *self._flows, ""])

    def _declare_node(self, kind: str, text: str, actor: str, sentence: int) -> str:
        """The key of a new node."""
        self._counts[kind] = self._counts.get(kind, 0) + 1
        key = f"{kind}{self._counts[kind]}"
        parts = [re.sub(r"[|<>→]|->", " ", part).strip() for part in (text, actor)]
        self._declared.append(f"{key} {parts[0] or 'join'} | {parts[1]} | s{sentence}")
        return key

    def _link_ends(self, ends: list[End], target: str) -> None:
        for source, label in ends:
            condition = re.sub(r"[()\[\]|<>→]|->", " ", label).strip()
            arrow = f"-({condition})->" if condition else "->"
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
                case Step(name, actor, sentence):
                    key = self._declare_node("T", name, actor, sentence)
                    self._keys[id(item)] = key
                    self._link_ends(self._merge_ends(ends, sentence), key)
                    ends = [(key, "")]
                case Block():
                    ends = self._write_block(item, ends)
        return ends

    def _merge_ends(self, ends: list[End], sentence: int) -> list[End]:
        """One end for several, by an exclusive join."""
        if len(ends) < 2:
            return ends
        join = self._declare_node("X", "join", "", sentence)
        self._link_ends(ends, join)
        return [(join, "")]

    def _write_block(self, block: Block, ends: list[End]) -> list[End]:
        split = self._declare_node(block.kind, "split", "", block.sentence)
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
        return left
