"""What `verify` says of edits of the content that the compiler wrote."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from orgflow.api import VerifyResult, compile, read, verify
from orgflow.backends.n8n.plan import actions
from orgflow.backends.n8n.verify.computed_nodes import COMPARISONS

from orgflow_ir.model.source import SourceFile
from orgflow_ir.targets.verification import Verdict
from tests.support.shared_data import shared_data

MODEL = Path(__file__).parents[4] / "examples" / "expense-claim" / "model.bpmn"

Json = dict[str, Any]


@pytest.fixture(scope="module")
def workflow() -> Json:
    (text,) = compile(read(MODEL), target="n8n").files.values()
    return dict(json.loads(text))


def verified(workflow: Json) -> VerifyResult:
    return verify(read(MODEL), SourceFile("w.json", json.dumps(workflow).encode()), "n8n")


def edited(workflow: Json, name: str, change: Callable[[Json], object]) -> Json:
    result = copy.deepcopy(workflow)
    (target,) = (n for n in result["nodes"] if n["name"] == name)
    change(target)
    return result


def code_of(replace: str, by: str, name: str = "jsCode") -> Callable[[Json], None]:
    def change(target: Json) -> None:
        text = target["parameters"][name]
        assert replace in text
        target["parameters"][name] = text.replace(replace, by, 1)

    return change


def test_every_action_has_a_comparison() -> None:
    assert {kind.__name__ for kind in COMPARISONS} == {
        part.__name__ for part in actions.Action.__args__
    }


CHANGES = {
    "a sign in a table": ("Find approver", code_of(">", ">=")),
    "a number in code": ("Find approver", code_of("500", "501")),
    "an option of a form": (
        "Fill in claim",
        lambda n: n["parameters"]["formFields"]["values"][1]["fieldOptions"]["values"].pop(),
    ),
    "a field of a form": (
        "Fill in claim", lambda n: n["parameters"]["formFields"]["values"].pop(0)
    ),
    "the method of a request": (
        "Post to accounting", lambda n: n["parameters"].update(method="PUT")
    ),
    "the input of a request": ("Post to accounting inputs", code_of("amount", "amounts")),
    "a disabled computation": ("Post to accounting inputs", lambda n: n.update(disabled=True)),
    "an answer that is kept": ("Fill in claim data", code_of("Travel", "Journey", "jsonOutput")),
    "a title": ("Fill in claim", lambda n: n["parameters"].update(formTitle="Your claim")),
    "the suffix of an address": (
        "Fill in claim", lambda n: n["parameters"]["options"].update(webhookSuffix="another")
    ),
    "the line at the foot of a page": (
        "Fill in claim", lambda n: n["parameters"]["options"].update(appendAttribution=True)
    ),
    "the message of a stop": (
        "Stop: Claim approved?", lambda n: n["parameters"].update(errorMessage="Stopped.")
    ),
    "an error output of a decision": (
        "Claim approved?", lambda n: n.update(onError="continueRegularOutput")
    ),
    "a blank before an expression": ("Fill in claim data", code_of("={{", "= {{", "jsonOutput")),
    "a stop without its message": (
        "Stop: Claim approved?", lambda n: n["parameters"].update(errorMessage="")
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_another_computation_is_not_proved(workflow: Json, name: str) -> None:
    step, change = CHANGES[name]
    result = verified(edited(workflow, step, change))
    assert [v.verdict for v in result.verifications] != [Verdict.PROVED]
    assert step in {c.node for v in result.verifications for c in v.changed} or any(
        v.difference for v in result.verifications
    )


EQUAL = {
    "layout": ("Find approver", code_of(";\n", ";\n\n  // a note\n")),
    "quotes": ("Fill in claim data", code_of('"Travel"', "'Travel'", "jsonOutput")),
    "a default value that the editor omits": (
        "Fill in claim data", lambda n: n["parameters"].pop("includeOtherFields")
    ),
    "an address of another server": ("Post to accounting", lambda n: n.update(credentials={})),
}  # fmt: skip


@pytest.mark.parametrize("name", EQUAL)
def test_what_changes_no_value_is_proved(workflow: Json, name: str) -> None:
    step, change = EQUAL[name]
    result = verified(edited(workflow, step, change))
    assert [v.verdict for v in result.verifications] == [Verdict.PROVED]


def test_a_renamed_node_is_the_same_in_code(workflow: Json) -> None:
    text = json.dumps(workflow).replace("$('Fill in claim')", "$('Enter the claim')")
    text = text.replace('"Fill in claim"', '"Enter the claim"')
    text = text.replace('"formTitle": "Enter the claim"', '"formTitle": "Fill in claim"')
    assert [v.verdict for v in verified(json.loads(text)).verifications] == [Verdict.PROVED]


@pytest.mark.parametrize(
    ("model", "edit"),
    [
        ("b1_verify_script.bpmn", "b1_script_const.json"),
        ("b2_dmn_rule.bpmn", "b2_dmn_rule_changed.json"),
        ("b5_form.bpmn", "b5_form_field_removed.json"),
    ],
)
def test_the_edits_that_were_called_proved(model: str, edit: str) -> None:
    folder = Path(shared_data("faults", "verify"))
    result = verify(read(folder / model), folder / edit, "n8n")
    assert [v.verdict for v in result.verifications] == [Verdict.CHANGED]
