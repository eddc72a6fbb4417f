"""The published JSON Schemas of what the command line prints; `make golden` writes them again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

from orgflow.evaluation.failures import Failure
from orgflow.evaluation.replay import REPLAY_VERSION, ReplayVerdict
from orgflow.frontends.powl.json_reader import powl_schema

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.flow.token_game.stimulus import STIMULI_VERSION
from orgflow_ir.flow.token_game.stimulus import Kind as StimulusKind
from orgflow_ir.model.codec import json_schema
from orgflow_ir.reporting.json_reporter import JSON_VERSION
from orgflow_ir.targets.comparison import COMPARISON_VERSION, ChangeKind, Kind, Verdict
from orgflow_ir.targets.verification import VERIFICATION_VERSION, ConditionKind, How
from orgflow_ir.targets.verification import Verdict as Verified

FOLDER = Path(__file__).resolve().parents[2] / "orgflow_ir" / "schema"

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_COUNT = {"type": "integer", "minimum": 0}


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    """An object with exactly these fields."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def diagnostics_schema() -> dict[str, Any]:
    """The envelope that `--format json` prints; the parts come from the types themselves."""
    return _with_diagnostics(
        "orgflow diagnostics",
        {"format": {"const": "orgflow-diagnostics"}, "version": {"const": JSON_VERSION}},
    )


_SUMMARY = {
    "type": "object",
    "properties": dict.fromkeys(("error", "warning", "info", "suppressed"), _COUNT),
    "required": ["error", "warning", "info"],
    "additionalProperties": False,
}


def _with_work(envelope: dict[str, Any]) -> dict[str, Any]:
    """The envelope with the optional fields about the work."""
    text, maybe = {"type": "string"}, {"type": ["number", "null"]}
    limits = _closed({"tokens": {"type": ["integer", "null"]}, "cost": maybe})
    counts = dict.fromkeys(("calls", "tokens_in", "tokens_out", "most_calls"), _COUNT)
    expected = _closed({**counts, "cost": maybe})
    usage = {
        **dict.fromkeys(("calls", "replayed", "retries", "tokens_in", "tokens_out"), _COUNT),
        "cost": maybe, "seconds": {"type": "number"}, "estimated": {"type": "boolean"},
    }  # fmt: skip
    used = _closed(
        {**usage, "agents": {"type": "object", "additionalProperties": _closed(usage)}}
    )  # fmt: skip
    model = _closed(
        {"name": text, "url": text, "limits": limits, "expected": expected, "used": used}
    )
    model["required"].remove("used")
    more = {"notes": _list(text), "language_model": model}
    return {**envelope, "properties": {**envelope["properties"], **more}}


def _with_diagnostics(
    title: str, fields: dict[str, Any], definitions: dict[str, Any] | None = None
) -> dict[str, Any]:
    """An envelope that ends with all findings; the parts come from the types themselves."""
    diagnostic = json_schema(Diagnostic)
    found = {"summary": _SUMMARY, "diagnostics": _list({"$ref": "#/$defs/Diagnostic"})}
    return {
        "$schema": _DIALECT,
        "title": title,
        **_with_work(_closed({**fields, **found})),
        "$defs": {**diagnostic.pop("$defs"), "Diagnostic": diagnostic, **(definitions or {})},
    }


def replay_schema() -> dict[str, Any]:
    """What `run --format json` and `run --json` print."""
    text, number = {"type": "string"}, {"type": "number"}
    maybe = {"type": ["string", "null"]}
    failure = json_schema(Failure)
    choice = _closed({"element": text, "label": text, "taken": _list(text)})
    run = _closed(
        {
            "process": text,
            "verdict": {"enum": ["equal", "different", "fails", "slow", "stub", "unplayable"]},
            "choices": _list(choice),
            "outcome": text,
            "executed": _list(text),
            "precision": number,
            "recall": number,
            "f1": number,
            "missing": _list(text),
            "status": text,
            "error": maybe,
            "stub": maybe,
            "divergence": maybe,
            "milliseconds": number,
            "wrong": _list(
                _closed(
                    {
                        "element": text,
                        "node": text,
                        "variable": text,
                        "expected": text,
                        "actual": text,
                    }
                )
            ),
        }
    )
    fault = _closed({"process": text, "kind": text, "element": text, "label": text, "reason": text})
    workflow_run = _closed(
        {
            "trigger": text,
            "executed": _list(text),
            "status": text,
            "error": maybe,
            "failed": maybe,
            "is_known": {"type": "boolean"},
            "milliseconds": number,
        }
    )
    fields = {
        "format": {"const": "orgflow-replay"},
        "version": {"const": REPLAY_VERSION},
        "ok": {"type": "boolean"},
        "verdict": {"enum": list(get_args(ReplayVerdict))},
        "f1": number,
        "flows": _closed({"covered": _COUNT, "total": _COUNT}),
        "uncovered": _list(_closed({"flow": text, "reason": text})),
        "changed": _list(text),
        "unfinished": _list(text),
        "left_out": _COUNT,
        "faults": _list(fault),
        "runs": _list(run),
        "engine": maybe,
        "failures": _list({"$ref": "#/$defs/Failure"}),
    }
    definitions = failure.pop("$defs", {})
    schema = _with_diagnostics("orgflow replay", fields, {**definitions, "Failure": failure})
    schema["properties"]["model"] = text  # its file, if there are several
    # Runs of a workflow of the target: as it is, or of a model that was read from it.
    schema["properties"]["workflow_runs"] = _list(workflow_run)
    schema["properties"]["redrawn"] = {"const": True}
    return schema


def verification_schema() -> dict[str, Any]:
    """What `verify --format json` and `verify --json` print."""
    text = {"type": "string"}
    maybe = {"type": ["string", "null"]}
    step = {
        "action": text,
        "element": text,
        "taken": _list(text),
        "instance": {"type": "integer"},
    }
    difference = _closed(
        {
            "message": text,
            "lines": _list(_closed({"model": text, "workflow": text})),
            "steps": _list(_closed(step)),
            "unfit": {"type": "boolean"},
            "help": text,
        }
    )
    how = {"enum": list(get_args(How))}
    condition = _closed(
        {
            "kind": {"enum": list(get_args(ConditionKind))},
            "node": text,
            "element": text,
            "text": text,
            "variables": _list(text),
        }
    )
    result = _closed(
        {
            "process": text,
            "label": text,
            "workflow": text,
            "verdict": {"enum": [v.value for v in Verified]},
            "states": _COUNT,
            "bound": maybe,
            "difference": {"anyOf": [{"type": "null"}, difference]},
            "changed": _list(_closed({"node": text, "element": text, "was": text, "now": text})),
            "added": _list(text),
            "missing": _list(text),
            "matched": _list(_closed({"node": text, "element": text, "how": how})),
            "delayed": _list(text),
            "assumed": _list(text),
            "conditions": _list(condition),
        }
    )
    return _with_diagnostics(
        "orgflow verification",
        {
            "format": {"const": "orgflow-verification"},
            "version": {"const": VERIFICATION_VERSION},
            "ok": {"type": "boolean"},
            "results": _list(result),
        },
    )


def comparison_schema() -> dict[str, Any]:
    """What `diff --format json` prints."""
    text, flag = {"type": "string"}, {"type": "boolean"}
    maybe = {"type": ["string", "null"]}
    behaviour = _closed(
        {
            "verdict": {"enum": list(get_args(Verdict))},
            "looked_at": _COUNT,
            "reason": text,
            "run": _list(_closed({"old": text, "new": text, "same": flag})),
            "assumed": _list(text),
        }
    )
    change = _closed(
        {
            "kind": {"enum": list(get_args(ChangeKind))},
            "what": text,
            "name": text,
            "detail": text,
            "old": maybe,
            "new": maybe,
        }
    )
    part = _closed(
        {
            "old": maybe,
            "new": maybe,
            "how": text,
            "differs": flag,
            "layout": flag,
            "behaviour": {"anyOf": [{"type": "null"}, behaviour]},
            "changes": _list(change),
        }
    )
    return _with_diagnostics(
        "orgflow comparison",
        {
            "format": {"const": "orgflow-comparison"},
            "version": {"const": COMPARISON_VERSION},
            "old": text,
            "new": text,
            "kind": {"enum": list(get_args(Kind))},
            "differs": flag,
            "verdict": {"enum": list(get_args(Verdict))},
            "layout_only": flag,
            "notes": _list(text),
            "parts": _list(part),
        },
    )


def stimuli_schema() -> dict[str, Any]:
    """A list of what the environment answers, by `token_game.stimulus`."""
    text = {"type": "string", "minLength": 1}
    payload = _closed(
        {
            "taken": {"anyOf": [{"type": "null"}, _list({"type": "string"})]},
            "values": {"type": "object"},
        }
    )
    stimulus = _closed(
        {
            "element": text,
            "kind": {"enum": list(get_args(StimulusKind))},
            "payload": payload,
            "at": _COUNT,
            "instance": _COUNT,
        }
    )
    return {
        "$schema": _DIALECT,
        "title": "orgflow stimuli",
        **_closed(
            {
                "format": {"const": "orgflow-stimuli"},
                "version": {"const": STIMULI_VERSION},
                "stimuli": _list(stimulus),
            }
        ),
    }


SCHEMAS = {
    "replay.schema.json": replay_schema,
    "powl.schema.json": powl_schema,
    "stimuli.schema.json": stimuli_schema,
    "comparison.schema.json": comparison_schema,
    "verification.schema.json": verification_schema,
    "diagnostics.schema.json": diagnostics_schema,
}


def main() -> None:
    """Write all of them."""
    FOLDER.mkdir(exist_ok=True)
    for name, build in SCHEMAS.items():
        text = json.dumps(build(), indent=1, ensure_ascii=False) + "\n"
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
