"""Every rule of the n8n backend: a model that has the fault, and one like it that has not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from orgflow.backends.n8n.backend import N8nBackend
from orgflow.backends.n8n.emit import model_compilation
from orgflow.backends.n8n.emit.workflow_check import Problem
from orgflow.backends.n8n.plan.emission_rules import N8N_RULES, FaultyWorkflow
from orgflow.backends.n8n.plan.target import N8N_TARGET
from orgflow.passes.pipelines import GAPS
from text_model import model

from orgflow_ir.diagnostics import Diagnostic, Severity
from orgflow_ir.gaps import GAP_RULES
from orgflow_ir.legalisation.legalise import legalise
from orgflow_ir.model import Event, Model, Task
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.model.rewriter import Rewriter
from orgflow_ir.pipeline import PassContext, PassManager
from orgflow_ir.targets import Illegal, RewritePattern, TargetSpec

LINE = "start -> a\na -> {}\n{} -> end"
CHOICE = "start -> a\na -> g\ng -> b: Yes\ng -> end: {}\nb -> end"


def event(id: str, position: str, kind: str, **definition: object) -> Event:
    return Event.validate(
        {"id": id, "name": id, "position": position,
         "definitions": [{"kind": kind, **definition}]}
    )  # fmt: skip


def swap(made: Model, *events: Event) -> Model:
    """`made` with nodes of the same ids replaced."""
    new = {e.id: e for e in events}
    process = made.processes[0]
    nodes = tuple(new.get(n.id, n) for n in process.nodes)
    return made.replace(processes=(process.replace(nodes=nodes),))


def choice(kind: str, second: str, condition: str | None = None) -> Model:
    conditions: Mapping[str, str] = {"Yes": condition} if condition else {}
    return model(CHOICE.format(second), {"g": kind}, dict(conditions))


def parallel(*waits: Event) -> Model:
    text = "start -> s\ns -> a\ns -> w\na -> j\nw -> j\nj -> v\nv -> end"
    return swap(model(text, {"s": "parallel", "j": "parallel"}), *waits)


def line(*events: Event) -> Model:
    return swap(model(LINE.format("x", "x"), {}), *events)


HOUR = {"timer": "duration", "expression": {"text": "PT1H"}}

CASES = {
    "OF421": (parallel(), line()),
    "OF422": (
        parallel(event("w", "catch", "timer", **HOUR)),
        parallel(event("v", "catch", "timer", **HOUR)),
    ),
    "OF502": (choice("exclusive Ok?", "No"), line()),
    "OF503": (choice("exclusive Ok?", ""), choice("exclusive Ok?", "No")),
    "OF504": (line(event("x", "catch", "timer")), line(event("x", "catch", "timer", **HOUR))),
    "OF505": (line(event("x", "catch", "message")), line(event("x", "catch", "timer", **HOUR))),
    "OF507": (
        choice("exclusive", "default", "${call(x)}"),
        choice("exclusive", "default", "${x}"),
    ),
    "OF508": (
        model("start -> g\ng -> a: Yes\na -> end", {"g": "exclusive Ok?"}),
        model("start -> g\ng -> a\na -> end", {"g": "exclusive"}),
    ),
}


def found(made: Model) -> list[Diagnostic]:
    ctx = PassContext()
    PassManager(GAPS).run(made, ctx)
    legal = legalise(made, N8N_TARGET, ctx, allow_lossy=False)
    assert not ctx.has_errors, ctx.diagnostics
    assert N8nBackend().emit(legal, ctx).artifacts
    return ctx.diagnostics


@pytest.mark.parametrize("code", CASES)
def test_found_where_it_is_and_nowhere_else(code: str) -> None:
    bad, good = CASES[code]
    severity = {r.code: r.severity for r in (*N8N_RULES, *GAP_RULES)}[code]
    hits = [d for d in found(bad) if d.code == code]
    assert hits
    assert all(d.severity is severity and d.element for d in hits)
    assert code not in {d.code for d in found(good)}


def test_coded_conditions_say_where_their_variables_come_from() -> None:
    (told,) = [
        d for d in found(choice("exclusive Ok?", "default", "${x > 1}")) if d.code == "OF502"
    ]
    assert "reads `x` as last set by an earlier step" in told.message


def test_open_tasks_are_told_one_by_one() -> None:
    hits = [d for d in found(line()) if d.code == "OF501"]
    assert {d.element for d in hits} == {"a", "x"}
    assert "`A`" in hits[0].message


def test_messages_follow_the_house_style() -> None:
    for bad, good in CASES.values():
        for diagnostic in (*found(bad), *found(good)):
            assert not diagnostic.message.endswith(".")
            first = diagnostic.message.lstrip("`")[0]
            assert first.islower() or diagnostic.message.startswith("`")


def test_a_faulty_workflow_is_never_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*_: object, **__: object) -> Iterator[Problem]:
        yield Problem("/nodes/0", "something is off", "schema")

    monkeypatch.setattr(model_compilation, "check_workflow", faulty)
    ctx = PassContext()
    assert N8nBackend().emit(line(), ctx).artifacts == ()
    assert [d.code for d in ctx.diagnostics if d.severity is Severity.ERROR] == [
        FaultyWorkflow.code
    ]


class Forget(RewritePattern):
    """Takes the people out of tasks."""

    name = "forget"
    consumes = ("task.user",)
    produces = ("task.abstract",)
    loses = "what people do"

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str:
        assert isinstance(use.element, Task)
        assert use.scope is not None
        rewriter.replace(use.scope.id, use.element.id, use.element.replace(task_type="abstract"))
        return "forgotten"


@pytest.mark.parametrize("allowed", [True, False])
def test_lossy_lowerings_ask_first(allowed: bool) -> None:
    """OF402: an error that names what would be lost, or a warning once it is accepted."""
    spec = TargetSpec(
        name="forgetful",
        constructs={**N8N_TARGET.constructs, "task.user": Illegal("nobody is there")},
        lowerings=(Forget(),),
    )
    made = line()
    process = made.processes[0]
    nodes = tuple(n.replace(task_type="user") if n.id == "a" else n for n in process.nodes)
    ctx = PassContext()
    legalise(
        made.replace(processes=(process.replace(nodes=nodes),)), spec, ctx, allow_lossy=allowed
    )
    (told,) = ctx.diagnostics
    assert told.code == "OF402"
    assert told.severity is (Severity.WARNING if allowed else Severity.ERROR)
    assert "what people do" in told.message
