"""Keys of effects by n8n's own engine: one for an instance, element and visit, also across calls.

`tests/live/test_live_crashes.py` kills a server and retries.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from crash_runs import STEPS, EffectServer, crash_model, delivery_model
from engine_fixture import missing
from orgflow import cli
from orgflow.backends.n8n.emit.effect_keys import effect_key
from orgflow.backends.n8n.engine.install import engine_status
from orgflow.backends.n8n.engine.local import LocalEngine

Json = dict[str, Any]

HEAD = '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d">'


@pytest.fixture(scope="module")
def effects() -> Iterator[EffectServer]:
    server = EffectServer((0.0, 0.0))
    yield server
    server.close()


@pytest.fixture(scope="module")
def engine(effects: EffectServer) -> Iterator[LocalEngine]:
    if not engine_status().installed:
        missing("n8n's engine is not installed")
    with LocalEngine(reach=(effects.place,)) as running:
        yield running


def compile_text(text: str, folder: Path) -> list[Json]:
    model, made = folder / "model.bpmn", folder / "made.json"
    model.write_text(text, encoding="utf-8")
    assert cli.run(["compile", str(model), "--target", "n8n", "-o", str(made)]) == 0
    value = json.loads(made.read_text("utf-8"))
    return value if isinstance(value, list) else [value]


def test_each_effect_of_an_instance_has_a_key_of_its_own(
    engine: LocalEngine, effects: EffectServer, tmp_path: Path
) -> None:
    """The called process has keys of the instance that calls it, in which a retry of the caller
    finds them again; two instances share none."""
    order, shipping = compile_text(crash_model(effects.place), tmp_path)
    runs: list[dict[str, str]] = []
    for name in ("a", "b"):
        effects.effects.clear()
        run = engine.run(
            order, "Order came", items=[{"json": {"body": {"order": name}}}],
            workflows={shipping["id"]: shipping},
        )  # fmt: skip
        assert run.status == "success", run.error
        runs.append({effect.step: effect.key for effect in effects.effects})
    for keys in runs:
        assert [*keys] == [*STEPS]
        assert len(set(keys.values())) == len(STEPS)
        instance = keys["reserve"].removesuffix("-reserve-0")
        assert keys["pay"] == f"{instance}-pay-0"
        call = keys["pick"].removesuffix("-pick-0")
        assert call.startswith(f"{instance}-ship-0.")
        assert keys["send"] == f"{call}-send-0"
        assert all(key.isascii() for key in keys.values())


def test_progress_is_saved_where_something_outside_changes(tmp_path: Path) -> None:
    order, shipping = compile_text(crash_model("127.0.0.1:9"), tmp_path)
    assert order["settings"]["saveExecutionProgress"] is True
    assert shipping["settings"]["saveExecutionProgress"] is True
    reading = crash_model("127.0.0.1:9").replace(">POST<", ">GET<")
    for workflow in compile_text(reading, tmp_path / "."):
        assert "saveExecutionProgress" not in workflow["settings"]
        assert "_instance" not in json.dumps(workflow)


def test_the_caller_of_effects_saves_its_progress(tmp_path: Path) -> None:
    """It has none of its own, and calls a process that calls one with effects."""
    text = crash_model("127.0.0.1:9").replace("</definitions>", "")
    for id, callee in (("outer", "middle"), ("middle", "shipping")):
        text += (
            f'<process id="{id}" name="{id}" isExecutable="true"><startEvent id="s{id}"/>'
            f'<callActivity id="c{id}" calledElement="{callee}"/><endEvent id="e{id}"/>'
            f'<sequenceFlow id="f{id}" sourceRef="s{id}" targetRef="c{id}"/>'
            f'<sequenceFlow id="g{id}" sourceRef="c{id}" targetRef="e{id}"/></process>'
        )
    workflows = compile_text(f"{text}</definitions>", tmp_path)
    named = {workflow["name"]: workflow for workflow in workflows}
    for id in ("outer", "middle"):
        assert named[id]["settings"]["saveExecutionProgress"] is True
        assert "_instance" in json.dumps(named[id])


def test_each_process_that_a_message_begins_has_keys_of_its_own(
    engine: LocalEngine, effects: EffectServer, tmp_path: Path
) -> None:
    """A called process sends the same message twice. Each message begins another instance, and a
    retry of the sender begins it with the same keys."""
    outer, middle, last = compile_text(delivery_model(effects.place), tmp_path)
    for workflow in (outer, middle, last):
        assert workflow["settings"]["saveExecutionProgress"] is True, workflow["name"]
    effects.effects.clear()
    known = {workflow["id"]: workflow for workflow in (middle, last)}
    run = engine.run(outer, "Start", items=[{"json": {"order": "a"}}], workflows=known)
    assert run.status == "success", run.error
    deadline = time.monotonic() + 120  # nobody waits for what a message begins
    while len(effects.effects) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    first, other = sorted(effect.key for effect in effects.effects)
    call = first.partition("-first-")[0]
    assert f"{outer['id']}-" in call
    assert first.startswith(f"{call}-first-0.")
    assert other.startswith(f"{call}-second-0.")
    assert first.endswith("-pick-0")
    assert other.endswith("-pick-0")


def test_a_workflow_without_effects_is_as_before(tmp_path: Path) -> None:
    text = (
        f'{HEAD}<process id="p" isExecutable="true"><startEvent id="s"/><task id="t"/><endEvent '
        'id="e"/><sequenceFlow id="f" sourceRef="s" targetRef="t"/><sequenceFlow id="g" '
        'sourceRef="t" targetRef="e"/></process></definitions>'
    )
    (workflow,) = compile_text(text, tmp_path)
    assert workflow["settings"] == {"executionOrder": "v1"}


@pytest.mark.parametrize(
    ("first", "other"), [("a.b", "a-b"), ("a b", "a-b"), ("ä", "a"), ("a.e4.", "aä")]
)
def test_different_elements_have_different_keys(first: str, other: str) -> None:
    codes = [effect_key("instance", element, "0") for element in (first, other)]
    assert codes[0] != codes[1]
    assert all(code.isascii() for code in codes)


def test_a_visit_is_part_of_the_key(
    engine: LocalEngine, effects: EffectServer, tmp_path: Path
) -> None:
    """A loop sends the same request again: that is another effect."""
    request = crash_model(effects.place).partition('<serviceTask id="reserve"')[2]
    task = f'<serviceTask id="reserve"{request.partition("</serviceTask>")[0]}</serviceTask>'
    text = (
        f'{HEAD[:-1]} xmlns:camunda="http://camunda.org/schema/1.0/bpmn"><process id="p" '
        'isExecutable="true"><startEvent id="s"/><exclusiveGateway id="m"/>'
        f'{task}<scriptTask id="n" scriptFormat="javascript" camunda:resultVariable="n"><script>'
        'n + 1</script></scriptTask><exclusiveGateway id="g" name="Again?"/><endEvent id="e"/>'
        '<sequenceFlow id="f1" sourceRef="s" targetRef="m"/><sequenceFlow id="f2" sourceRef="m" '
        'targetRef="reserve"/><sequenceFlow id="f3" sourceRef="reserve" targetRef="n"/>'
        '<sequenceFlow id="f4" sourceRef="n" targetRef="g"/><sequenceFlow id="f5" sourceRef="g" '
        'targetRef="m"><conditionExpression>${n &lt; 3}</conditionExpression></sequenceFlow>'
        '<sequenceFlow id="f6" sourceRef="g" targetRef="e"><conditionExpression>${n &gt;= 3}'
        "</conditionExpression></sequenceFlow></process></definitions>"
    )
    (workflow,) = compile_text(text, tmp_path)
    effects.effects.clear()
    run = engine.run(workflow, "Start", items=[{"json": {"order": "a", "n": 0}}])
    assert run.status == "success", run.error
    keys = [effect.key for effect in effects.effects]
    assert [key.rpartition("-")[2] for key in keys] == ["0", "1", "2"]
    assert len({key.rpartition("-")[0] for key in keys}) == 1
