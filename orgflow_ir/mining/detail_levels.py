"""Steps that may be one step, named in more detail in some cases than in others."""

from __future__ import annotations

from collections.abc import Mapping

from orgflow_ir.mining.process_tree import EMPTY, Tree, list_choices, list_leaves


def find_detail_levels(tree: Tree, verbs: Mapping[int, str]) -> tuple[frozenset[int], ...]:
    """The steps of choices whose ways do one thing: `check doors`, `check windows` in one case and
    `check rooms` in another. A person decides whether they are one step.

    Args:
        tree: the structure.
        verbs: what each step does.
    """
    levels = []
    for choice in list_choices(tree):
        steps = frozenset(list_leaves(choice))
        branches = [way for way in choice.options if way != EMPTY]
        if len(branches) > 1 and len({verbs[step] for step in steps}) == 1:
            levels.append(steps)
    return tuple(levels)
