"""What `diff` says of steps that are switched off, of waits, pasted copies and notes."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import diff_edits as edits
import pytest
from diff_edits import behaviour, shown, told
from engine_fixture import START, flow, noop
from engine_fixture import node as make
from orgflow.backends.n8n.diff.file_comparison import diff_workflows

from orgflow_ir.plugins import Registry

Json = dict[str, Any]


@pytest.fixture(scope="module")
def leave(root: Path, registry: Registry) -> Json:
    (workflow,) = edits.compiled(root / "examples" / "leave-request" / "model.bpmn", registry)
    return workflow


@pytest.mark.parametrize(
    ("kind", "version"), [("set", 3.4), ("code", 2), ("wait", 1.1), ("httpRequest", 4.2)]
)
def test_a_step_that_is_switched_off(kind: str, version: float) -> None:
    old = flow([START, make("A", kind, version), noop("B")], "T>A", "A>B")
    new = copy.deepcopy(old)
    new["nodes"][1]["disabled"] = True
    for one, other, how in ((old, new, "off"), (new, old, "on")):
        part = diff_workflows(one, other)
        assert behaviour(part).verdict == "different"
        assert behaviour(part).reason.startswith(f"`A` is switched {how} in the new workflow")
        assert not behaviour(part).run[-1].same
        assert [(c.what, c.detail) for c in part.changes] == [("setting", "disabled")]
    off = copy.deepcopy(new)
    off["nodes"][2]["notes"] = "said"
    assert behaviour(diff_workflows(new, off)).verdict == "same"


def test_a_placeholder_of_the_model_that_is_switched_off(leave: Json) -> None:
    for name in ("Fill in leave request", "Send rejection"):
        new = copy.deepcopy(leave)
        edits.node(new, name)["disabled"] = True
        text = shown(diff_workflows(leave, new))
        assert "different behaviour" in text
        assert f"`{name}` is switched off" in " ".join(text.split())


def test_a_step_that_never_runs_may_be_switched_off() -> None:
    old = flow([START, noop("A"), make("B", "code", 2)], "T>A")
    new = copy.deepcopy(old)
    new["nodes"][2]["disabled"] = True
    assert behaviour(diff_workflows(old, new)).verdict == "same"


def test_a_wait_that_is_gone_or_new_is_named() -> None:
    old = flow([START, make("Think it over", "wait", 1.1), noop("B")], "T>Think it over",
               "Think it over>B")  # fmt: skip
    new = flow([START, noop("B")], "T>B")
    gone, come = diff_workflows(old, new), diff_workflows(new, old)
    assert behaviour(gone).assumed == ("the run no longer waits at `Think it over`",)
    assert behaviour(come).assumed == ("the run may wait at `Think it over`",)
    assert "no longer waits at `Think it over`" in " ".join(shown(gone).split())
    off = copy.deepcopy(old)
    off["nodes"][1]["disabled"] = True
    assert behaviour(diff_workflows(off, new)).assumed == ()


def test_a_canvas_pasted_into_itself(leave: Json) -> None:
    """With its trigger it starts runs of its own; without, nothing leads to it."""
    for with_trigger, verdict in ((True, "different"), (False, "same")):
        new = copy.deepcopy(leave)
        kept = [n for n in edits.steps(leave) if with_trigger or n["name"] != "Leave needed"]
        names = {n["name"]: f"{n['name']}1" for n in kept}
        for one in kept:
            x, y = one["position"]
            new["nodes"].append({**one, "name": names[one["name"]], "id": f"{one['id']}1",
                                 "position": [x, y + 3000]})  # fmt: skip
        for source, kinds in leave["connections"].items():
            if source in names:
                new["connections"][names[source]] = {
                    "main": [
                        [{**end, "node": names[end["node"]]} for end in ends or ()]
                        for ends in kinds["main"]
                    ]
                }
        part = diff_workflows(leave, new)
        assert behaviour(part).verdict == verdict, shown(part)
        assert len(told(part, "node")) == len(kept)
        if with_trigger:
            assert behaviour(part).reason == "`Leave needed1` starts runs only in the new workflow"


def test_the_map_is_told_of_where_it_is_gone_or_wrong(leave: Json) -> None:
    (note,) = (n for n in leave["nodes"] if "orgflow-map" in json.dumps(n))
    new = copy.deepcopy(leave)
    new["nodes"] = [n for n in new["nodes"] if n["name"] != note["name"]]
    assert [(one.kind, one.name) for one in told(diff_workflows(leave, new), "sticky note")] == [
        ("removed", "Leave request"), ("removed", "the map from the nodes to the model"),
    ]  # fmt: skip
    new = copy.deepcopy(leave)
    content = edits.node(new, note["name"])["parameters"]
    before = content["content"]
    content["content"] = before.replace('"Send rejection":"', '"Send rejection":"not_')
    assert content["content"] != before
    (change,) = told(diff_workflows(leave, new), "sticky note")
    assert (change.kind, change.name) == ("changed", "Send rejection")
    assert diff_workflows(leave, new).differs
