"""OF493: Code nodes whose output expressions do not see in n8n 1 without task runners."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_cases import orgflowc
from orgflow.backends.n8n.node_types.code import visible_code

ROOT = Path(__file__).resolve().parents[3]
CASE = ROOT / "tests" / "diagnostics" / "OF493-hidden-code-output"
EXAMPLES = sorted((ROOT / "examples").glob("*/model.bpmn"))
ROWS_ALONE = {"parallel-approval"}
"""Examples that n8n 1 does not have."""
N8N_1 = "n8n{version=1.123}"


def workflow() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CASE / "bad.json").read_text("utf-8"))
    return found


def reading(text: str, **code: Any) -> dict[str, Any]:
    """The workflow of the case, whose decision reads otherwise, with other code."""
    found = workflow()
    _, compute, _, decide, *_ = found["nodes"]
    decide["parameters"]["conditions"]["conditions"][0]["leftValue"] = text
    compute["parameters"] |= code
    return found


def is_reported(tmp_path: Path, flow: dict[str, Any], target: str = N8N_1) -> bool:
    path = tmp_path / "flow.json"
    path.write_text(json.dumps(flow), "utf-8")
    more = ("--target", target) if target else ()
    return "OF493" in orgflowc("check", str(path), *more).out


@pytest.mark.parametrize(
    "text",
    [
        "={{ $('Compute').first().json.total }}",
        '={{ $("Compute").last().json.total }}',
        "={{ $('Compute').all()[0].json.total }}",
        "={{ $('Compute').item.json.total }}",
        "={{ $items('Compute')[0].json.total }}",
        "={{ $('Log').first().json.total }}",
        "={{ $input.first().json.total }}",
    ],
)
def test_what_is_undefined_is_reported(tmp_path: Path, text: str) -> None:
    """Measured on n8n 1.123.81, as the cases below."""
    assert is_reported(tmp_path, reading(text))
    assert not is_reported(tmp_path, reading(text), "n8n{version=2.41}")
    assert not is_reported(tmp_path, reading(text), "")


@pytest.mark.parametrize(
    "text",
    [
        "={{ $json.total }}",
        '={{ $node["Compute"].json.total }}',
        "={{ $input.item.json.total }}",
        "={{ $('Compute').isExecuted ? 1 : 0 }}",
    ],
)
def test_what_has_a_value_is_not_reported(tmp_path: Path, text: str) -> None:
    assert not is_reported(tmp_path, reading(text))


def test_other_code_and_other_nodes(tmp_path: Path) -> None:
    text = "={{ $('Compute').first().json.total }}"
    code = {"jsCode": "return [{ json: { total: 120 } }];"}
    assert is_reported(tmp_path, reading(text, **code))
    assert not is_reported(tmp_path, reading(text, **visible_code(code)))
    python = {"language": "python", "pythonCode": "return [{'json': {'total': 120}}]"}
    assert not is_reported(tmp_path, reading(text, **python))
    row = {"id": "b", "name": "total", "type": "number", "value": "={{ $json.total }}"}
    between = reading("={{ $('Log').first().json.total }}")
    between["nodes"][2] |= {
        "type": "n8n-nodes-base.set", "typeVersion": 3.4,
        "parameters": {"assignments": {"assignments": [row]}, "options": {}},
    }  # fmt: skip
    assert not is_reported(tmp_path, between)
    script = reading("={{ $json.total }}")
    script["nodes"][4] |= {
        "type": "n8n-nodes-base.code", "typeVersion": 2,
        "parameters": {"jsCode": "return [{ json: $('Compute').first().json }];"},
    }  # fmt: skip
    assert not is_reported(tmp_path, script)


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.parent.name for path in EXAMPLES])
def test_compiled_workflows_are_not_reported(tmp_path: Path, path: Path) -> None:
    out = tmp_path / "out"
    compiled = orgflowc("compile", str(path), "--target", N8N_1, "-o", f"{out}/")
    assert compiled.code == (path.parent.name in ROWS_ALONE), compiled.err
    if compiled.code:
        return
    for target in ((), ("--target", N8N_1)):
        found = orgflowc("check", str(out), *target, "--no-cache")
        assert "OF493" not in found.out


def test_code_in_a_placeholder_of_a_compiled_workflow(tmp_path: Path) -> None:
    """The note of the workflow says that it is for n8n 1."""
    path = ROOT / "examples" / "leave-request" / "model.bpmn"
    made = orgflowc("compile", str(path), "--target", "n8n{version=1.123,people=placeholder}")
    assert made.code == 0, made.err
    flow = json.loads(made.out)
    assert not is_reported(tmp_path, flow, "")
    (node,) = (one for one in flow["nodes"] if one["name"] == "Check leave request")
    node |= {"type": "n8n-nodes-base.code", "typeVersion": 2}
    node["parameters"] = {"jsCode": 'return [{ json: { request_approved: "Yes" } }];'}
    assert is_reported(tmp_path, flow, "")
