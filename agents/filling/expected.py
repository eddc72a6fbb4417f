"""The expected usage of a language model for filling a model, before any request."""

from __future__ import annotations

from orgflow.agents.filling.choose import choose_prompt, choose_schema, find_candidates
from orgflow.agents.filling.context import task_context
from orgflow.agents.filling.filler import TRIES, OperationFiller
from orgflow.agents.filling.labels import LabelReader, label_prompt
from orgflow.agents.model_client.usage import Expected, estimate_tokens
from orgflow.agents.prompting import render_prompt

from orgflow_ir.gaps.find import find_gaps
from orgflow_ir.gaps.gap import Gap
from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.operation_catalogue import Catalogue

_ANSWER = 60
"""Tokens of an answer, for estimates: an identifier or a few values."""


def expected_filling(model: Model, catalogue: Catalogue) -> Expected:
    """The approximate usage for the open gaps of a model: three similar questions for a task that
    has candidates, one for each other gap."""
    expected = Expected()
    for gap in find_gaps(model, PassContext()):
        if gap.schema is not None:
            expected += _expect_gap(gap, model, catalogue)
    return expected


def _expect_gap(gap: Gap, model: Model, catalogue: Catalogue) -> Expected:
    rules = render_prompt("fill_rules")
    if OperationFiller.kinds is not None and gap.kind in OperationFiller.kinds:
        context = task_context(gap, model)
        known = find_candidates(context, catalogue) if context is not None and context.label else []
        if context is None or not known:
            return Expected()
        prompt = estimate_tokens([rules, choose_prompt(context, known), str(choose_schema(known))])
        return Expected(3, 3 * prompt, 3 * _ANSWER, 3 * TRIES * OperationFiller.attempts)
    if LabelReader.kinds is not None and gap.kind in LabelReader.kinds:
        prompt = estimate_tokens([rules, label_prompt(gap, model)])
        # an answer may bring one more gap: the conditions of branches whose labels it gives
        return Expected(1, prompt, _ANSWER, 2 * LabelReader.attempts)
    return Expected()
