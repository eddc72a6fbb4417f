"""The inputs of `tests/faults/inputs` on which the product was wrong, each with what is right."""

from __future__ import annotations

from pathlib import Path

import pytest
from orgflow.api import check, read

from tests.support.shared_data import shared_data

CHECKED = {
    "field/agent-without-model.json": {"N8N105"},
    "field/answer-form-page.json": {"N8N104"},
    "field/answer-unused.json": {"N8N103"},
    "field/code-each-all.json": {"N8N113"},
    "field/code-no-return.json": {"N8N112"},
    "field/code-syntax.json": {"N8N111"},
    "field/condition-list-if.json": {"OF439"},
    "field/condition-list-switch.json": {"OF439"},
    "field/files-clipboard.json": {"OF449"},
    "field/loop-drops-items.json": {"N8N101"},
    "field/loop-nested-batches.json": {"N8N102"},
    "field/loop-no-way-back.json": {"N8N101"},
    "field/n8n2-env.json": {"N8N114"},
    "field/n8n2-require.json": {"N8N114"},
    "field/schedule-24-hours.json": {"OF447"},
    "field/schedule-90-minutes.json": {"OF447"},
    "field/shape-merge-mode.json": {"N8N115"},
    "field/shape-merge-wait.json": {"N8N115"},
    "field/words-disabled-trigger.json": {"OF057"},
}
"""Files, and the codes of what `check` has to say of them."""


@pytest.mark.parametrize("name", CHECKED)
def test_check_finds_the_fault(name: str) -> None:
    path = Path(shared_data("faults")) / name
    codes = {finding.code for finding in check(read(path)).diagnostics}
    assert CHECKED[name] <= codes


def test_a_disabled_trigger_is_named() -> None:
    path = Path(shared_data("faults")) / "field/words-disabled-trigger.json"
    (finding,) = (d for d in check(read(path)).diagnostics if d.code == "OF057")
    assert "is disabled: `Hook`" in finding.message
