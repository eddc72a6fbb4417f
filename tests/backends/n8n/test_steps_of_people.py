"""A step without a type waits if an event at it is waited for."""

from __future__ import annotations

from pathlib import Path

import pytest
from orgflow.api import CompileResult, compile, read, verify

OUTLINE = (
    "check order | clerk\n  on: {event}, {how}\n    call customer | clerk\nsend goods | clerk\n"
)


def compiled(tmp_path: Path, text: str, **options: str) -> tuple[CompileResult, set[str]]:
    path = tmp_path / "model.outline"
    path.write_text(text, "utf-8")
    model = read(path)
    result = compile(model, "n8n", options=options)
    verdicts = (
        {v.verdict.value for v in verify(model, result).verifications} if result.files else set()
    )
    return result, verdicts


@pytest.mark.parametrize("how", ["stop", "also"])
@pytest.mark.parametrize("event", ["after 3 days", "receive withdrawal from customer"])
def test_it_is_completed_by_a_person(tmp_path: Path, event: str, how: str) -> None:
    result, verdicts = compiled(tmp_path, OUTLINE.format(event=event, how=how))
    assert verdicts == {"proved"}
    lowered = [d.message for d in result.diagnostics if d.code == "OF401"]
    assert any(message.startswith("`check order` is completed by a person") for message in lowered)
    (text,) = result.files.values()
    assert "formTrigger" in text


def test_other_steps_stay_placeholders(tmp_path: Path) -> None:
    result, verdicts = compiled(tmp_path, "check order | clerk\nsend goods | clerk\n")
    assert verdicts == {"proved"}
    assert "formTrigger" not in "".join(result.files.values())


@pytest.mark.parametrize("options", [{"waits": "execution"}, {"version": "1.123"}])
def test_one_execution_waits_for_no_event_at_a_step(
    tmp_path: Path, options: dict[str, str]
) -> None:
    result, _ = compiled(tmp_path, OUTLINE.format(event="after 3 days", how="stop"), **options)
    assert not result.files
    assert "OF403" in {d.code for d in result.diagnostics}
    assert not any("completed by a person" in d.message for d in result.diagnostics)
