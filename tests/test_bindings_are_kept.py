"""Nothing a binding says is lost in a target that does not run it: seen from outside, in the files
and messages of a compile."""

from __future__ import annotations

import json

import pytest
from binding_values import filled, markers
from orgflow.compiler import compile_model

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.model import CallActivity, Event, Flow, Model, Process, Task
from orgflow_ir.model.bindings import (
    BINDINGS,
    AnyBinding,
    Form,
    Http,
    Parameter,
    Script,
    SubProcessCall,
    Worker,
)
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

REGISTRY = Registry(outside=False)
TARGETS = ("n8n", "asl")


def _sequence(id: str, node: Task | CallActivity) -> Process:
    start, end = Event(id=f"{id}s", position="start"), Event(id=f"{id}e", position="end")
    flows = (
        Flow(id=f"{id}a", source=start.id, target=node.id),
        Flow(id=f"{id}b", source=node.id, target=end.id),
    )
    return Process(id=id, nodes=(start, node, end), flows=flows)


def _compiled(binding: AnyBinding | None, target: str) -> tuple[str, list[Diagnostic]]:
    task = Task(id="t", name="Ship", task_type="service", binding=binding)
    return _compiled_model(Model(id="m", processes=(_sequence("p", task),)), target)


def _compiled_model(model: Model, target: str, **options: str) -> tuple[str, list[Diagnostic]]:
    ctx = PassContext(registry=REGISTRY, options=options)
    made = compile_model(model, REGISTRY.backends[target], ctx, options=options)
    assert made is not None, ctx.diagnostics
    return "\n".join(a.text for a in made.artifacts), ctx.diagnostics


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", BINDINGS)
def test_every_field_is_in_the_output_or_a_message(kind: str, target: str) -> None:
    binding = filled(kind)
    text, found = _compiled(binding, target)
    wanted = markers(binding)
    assert len(wanted) > 10
    seen = text + "\n".join(d.message for d in found)
    assert [m for m in wanted if m not in seen] == []


@pytest.mark.parametrize("there", [True, False], ids=["called process", "missing callee"])
def test_every_field_of_a_call_is_in_the_output_or_a_message(there: bool) -> None:
    """Which of them nothing acts on depends on whether the process that it calls is there."""
    call = CallActivity(
        id="t", name="Ship", doc="AS IT WAS DRAWN", called="q",
        binding=SubProcessCall(
            by="camunda7", process="q", version="VERSION", business_key="KEY", retries="R7/PT13M",
            parameters=(("calledElementTenantId", "TENANT"), ("calledElementType", "TYPE")),
            inputs=(Parameter(name="taken", text="given"),),
            outputs=(Parameter(name="kept", text="returned"),),
        ),
    )  # fmt: skip
    called = _sequence("q", Task(id="w", name="Work"))
    model = Model(id="m", processes=(_sequence("p", call), *([called] if there else ())))
    text, found = _compiled_model(model, "n8n")
    seen = text + "\n".join(d.message for d in found)
    wanted = ("AS IT WAS DRAWN", "VERSION", "KEY", "R7/PT13M", "TENANT", "TYPE",
              "taken", "given", "kept", "returned")  # fmt: skip
    assert [m for m in wanted if m not in seen] == []


def test_what_a_call_says_is_beside_its_stub() -> None:
    """Who puts something in the place of the stub has to know it."""
    call = CallActivity(
        id="t", name="Ship", called="${which}",
        binding=SubProcessCall(
            by="camunda7", process="${which}", version="VERSION", retries="R7/PT13M",
            inputs=(Parameter(name="taken", text="given"),),
        ),
    )  # fmt: skip
    model = Model(id="m", processes=(_sequence("p", call),))
    text, found = _compiled_model(model, "n8n", unsupported="stub")
    assert [d.code for d in found if d.code == "OF407"]
    for word in ("VERSION", "R7/PT13M", "taken", "given"):
        assert word in text


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("binding", "words"),
    [
        (Script(language="groovy", code="while (x) {}"), "the script in `groovy`"),
        (Worker(by="class", target="org.acme.Ship"), "the class `org.acme.Ship`"),
        (Worker(by="job", target="ship", inputs=(Parameter(name="a", text="=f(b)"),), retries="3"),
         "the job `ship`, input mappings and retries"),
        (Http(url="${bean.url()}", method="GET"), "the HTTP request"),
        (Form(assignee="kim", due="P1D", form="f"), "the assignment, due date and form"),
    ],
)  # fmt: skip
def test_what_is_not_run_is_named(binding: AnyBinding, words: str, target: str) -> None:
    _, found = _compiled(binding, target)
    unsupported = [d for d in found if d.code == "OF404"]
    assert len(unsupported) == 1
    # on n8n, work that is only named is a workflow of its own
    named = {"class": "the class org.acme.Ship", "job": "the job type ship"}
    if target == "n8n" and isinstance(binding, Worker):
        words = named[binding.by]
    assert words in unsupported[0].message
    assert not any(d.code == "OF501" for d in found)


@pytest.mark.parametrize("target", TARGETS)
def test_a_task_without_binding_is_a_gap(target: str) -> None:
    _, found = _compiled(None, target)
    (gap,) = (d for d in found if d.code == "OF501")
    assert "has no implementation" in gap.message
    assert not any(d.code == "OF404" for d in found)


def test_the_note_reads_as_the_model() -> None:
    text, _ = _compiled(Script(language="groovy", code="x = 1\ny = 2", result="r"), "n8n")
    workflow = json.loads(text.split("\n}\n")[0] + "\n}")
    (note,) = (n["notes"] for n in workflow["nodes"] if n["name"] == "Ship")
    said = "From the model:\n- script in groovy:\nx = 1\ny = 2\n- result variable: r\n\n"
    assert said in note


def test_what_is_kept_is_never_an_expression() -> None:
    """Text of the source stands in notes only, which n8n does not evaluate."""
    hostile = "={{ $json.constructor }} }} {{ 1 }}"
    text, _ = _compiled(Http(url=hostile, body=hostile), "n8n")
    workflow = json.loads(text.split("\n}\n")[0] + "\n}")
    assert "constructor" in json.dumps([node.get("notes") for node in workflow["nodes"]])
    for node in workflow["nodes"]:
        assert "constructor" not in json.dumps(node["parameters"])
