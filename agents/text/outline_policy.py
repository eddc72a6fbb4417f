"""The prompt that requests an outline: the notation, one example, and rules that an ablation may
omit."""

from __future__ import annotations

from collections.abc import Collection

from orgflow.agents.prompting import list_prompt_blocks, render_prompt

_RULES = "outline_rules"


def list_rule_names() -> tuple[str, ...]:
    """The names of the rules, in the order of the prompt."""
    return tuple(name.replace("_", "-") for name in list_prompt_blocks(_RULES))


def render_outline_prompt(omitted: Collection[str] = ()) -> str:
    """The prompt of the system.

    Args:
        omitted: names of rules that are left out.

    Raises `ValueError` for an unknown name.
    """
    blocks = list_prompt_blocks(_RULES)
    rules = {name.replace("_", "-"): rule for name, rule in blocks.items()}
    unknown = [name for name in omitted if name not in rules]
    if unknown:
        raise ValueError(f"there is no rule {unknown[0]!r}; the rules are: {', '.join(rules)}")
    return render_prompt(
        "text_outline", example=render_prompt("outline_example").rstrip(),
        rules=[rule for name, rule in rules.items() if name not in omitted],
    )  # fmt: skip
