"""Typed records from a language model for failures that no rule explains, and the use of records
for the next attempt of an agent."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from orgflow.agents.model_client.answer_reading import UnreadableAnswer, read_json
from orgflow.agents.model_client.usage import Expected, estimate_tokens
from orgflow.agents.prompting import render_prompt, visible_text
from orgflow.evaluation.failures import Confidence, Failure, Severity, limitation_source

from orgflow_ir.model import Model
from orgflow_ir.model.element_names import one_line
from orgflow_ir.model.index import ModelIndex
from orgflow_ir.pipeline.agent_services import ModelClient
from orgflow_ir.pipeline.services import Cancellation, OverBudget

TRIES, MOST = 2, 8
"""Maximum number of questions per failure, and of failures."""
BY_MODEL = "language-model"
"""The rule of a record that a language model completed."""

_STEPS, _LONGEST = 60, 300
_ANSWER = 120
"""Tokens of a record, for estimates: its fields and two sentences."""


def diagnose_failures(
    failures: Sequence[Failure],
    model: Model,
    target: str,
    client: ModelClient,
    cancellation: Cancellation,
) -> tuple[Failure, ...]:
    """The failures; those without a rule have the record of the language model if it gives one.

    The stage and the evidence stay; such a record is unchecked, so its confidence is `medium` at
    most. Raises `ServiceError` and `Cancelled` like `ModelClient.ask`; an exhausted budget leaves
    the rest unchanged.
    """
    records = list(failures)
    asked = [n for n, failure in enumerate(records) if is_unexplained(failure)][:MOST]
    try:
        for number in asked:
            records[number] = _ask_record(records[number], model, target, client, cancellation)
    except OverBudget:
        pass  # what was asked before is paid and kept
    return tuple(records)


def expected_diagnosis(failures: Sequence[Failure], model: Model, target: str) -> Expected:
    """The approximate usage of `diagnosed` if every first answer is usable."""
    index = ModelIndex(model)
    asked = [failure for failure in failures if is_unexplained(failure)][:MOST]
    prompts = [_write_prompt(failure, index, target, "") for failure in asked]
    return Expected(len(asked), estimate_tokens(prompts), len(asked) * _ANSWER, len(asked) * TRIES)


def is_unexplained(failure: Failure) -> bool:
    """Whether no rule determines the source of a failure."""
    return failure.failure_source == "unknown" and failure.rule == "none"


def _ask_record(
    failure: Failure, model: Model, target: str, client: ModelClient, cancellation: Cancellation
) -> Failure:
    index = ModelIndex(model)
    fault = ""
    for _ in range(TRIES):
        cancellation.check()
        prompt = _write_prompt(failure, index, target, fault)
        reply = client.ask([{"role": "user", "content": prompt}], schema=_answer_schema(target))
        try:
            return _read_record(read_json(reply.text).value, failure, index, target)
        except UnreadableAnswer as error:
            fault = f"it {error}"
        except _Unusable as error:
            fault = str(error)
    return failure


def _write_prompt(failure: Failure, index: ModelIndex, target: str, fault: str) -> str:
    known = [f"it ended at: {failure.failure_stage}", *failure.evidence]
    if failure.element is not None:
        known.append(f"it ended at the step: {one_line(index.label(failure.element))}")
    steps = [f"{node.id} = {one_line(node.label)}" for node in index.nodes.values()][:_STEPS]
    return render_prompt(
        "feedback", known="\n".join(known), steps="\n".join(steps), target=target,
        limitation=limitation_source(target), fault=fault,
    )  # fmt: skip


class _Unusable(ValueError):
    """An answer that is no record; the message says why."""


def _answer_schema(target: str) -> dict[str, Any]:
    properties: dict[str, Any] = {
        "failure_source": {"enum": _list_sources(target)},
        "root_cause": {"type": "string"},
        "suggested_fix": {"type": "string"},
        "is_fixable": {"type": "boolean"},
        "element": {"type": ["string", "null"]},
        "severity": {"enum": list(get_args(Severity))},
        "confidence": {"enum": list(get_args(Confidence))},
    }
    return {
        "type": "object", "properties": properties, "required": list(properties),
        "additionalProperties": False,
    }  # fmt: skip


def _list_sources(target: str) -> list[str]:
    return ["bpmn_quality", "translation_error", limitation_source(target), "unknown"]


def _read_record(answer: Any, failure: Failure, index: ModelIndex, target: str) -> Failure:
    """The record in an answer. Raises `_Unusable`."""
    if not isinstance(answer, dict):
        raise _Unusable("it is not an object")
    for name, allowed in (
        ("failure_source", _list_sources(target)), ("severity", get_args(Severity)),
        ("confidence", get_args(Confidence)), ("is_fixable", (True, False)),
    ):  # fmt: skip
        if answer.get(name) not in allowed or isinstance(answer.get(name), int) is not (
            name == "is_fixable"
        ):
            shown = ", ".join(map(str, allowed))
            raise _Unusable(f"`{name}` is {str(answer.get(name))[:60]!r}; it is one of: {shown}")
    texts = {}
    for name in ("root_cause", "suggested_fix"):
        value = answer.get(name)
        if not isinstance(value, str) or not value.strip():
            raise _Unusable(f"`{name}` is no text")
        texts[name] = " ".join(visible_text(value).split())[:_LONGEST]
    element = answer.get("element") or failure.element
    if element is not None and element not in index.nodes:
        raise _Unusable(f"there is no step with the id `{str(element)[:60]}`")
    if answer["failure_source"] == "unknown":
        return failure  # it does not know either
    return failure.replace(
        failure_source=answer["failure_source"], is_fixable=answer["is_fixable"],
        severity=answer["severity"], element=element, rule=BY_MODEL,
        confidence="low" if answer["confidence"] == "low" else "medium",
        bpmn_construct_responsible=index.nodes[element].construct if element else None, **texts,
    )  # fmt: skip


# -- for the next try ------------------------------------------------------------------------


class ReportError(ValueError):
    """A file that is not a report with failures; the message gives the reason."""


def read_failures(text: str) -> tuple[Failure, ...]:
    """The failures in a report of `run --json`. Raises `ReportError`."""
    try:
        rows = json.loads(text)["failures"]
        return tuple(Failure.validate(row) for row in rows)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ReportError("it is not a report from `orgflowc run --json`") from None


def feedback_of(failures: Iterable[Failure]) -> Mapping[str, tuple[str, ...]]:
    """The failures that can be fixed, by element, as `orgflow.agents.feedback` passes them to
    agents."""
    records: dict[str, tuple[str, ...]] = {}
    for failure in failures:
        if failure.failure_stage == "none":
            continue
        cause = failure.root_cause if not is_unexplained(failure) else "; ".join(failure.evidence)
        fix = f"; {failure.suggested_fix}" if failure.is_fixable else ""
        key = failure.element or ""
        records[key] = (*records.get(key, ()), f"{cause}{fix}")
    return records
