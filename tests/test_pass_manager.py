"""Passes: order, crashes (OF901), verification (OF902), pipelines as text, cached analyses."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from orgflow_ir.diagnostics import Category, Fix, Rule, Severity
from orgflow_ir.model import Event, Flow, Model, Process, Task
from orgflow_ir.model.verifier import list_violations
from orgflow_ir.pipeline import (
    Pass,
    PassContext,
    PassManager,
    PipelineError,
    Stage,
    parse_pipeline,
    print_pipeline,
)


def model(*flows: Flow) -> Model:
    nodes = (Event(id="s", position="start"), Task(id="t"))
    return Model(id="m", processes=(Process(id="P", nodes=nodes, flows=flows),))


@dataclass(frozen=True)
class Rename(Pass):
    """Renames the model."""

    name = "rename"
    stage = Stage.NORMALISE
    to: str = "new"
    times: int = 1
    loud: bool = False

    def run(self, model: Model, ctx: PassContext) -> Model:
        return model.replace(name=model.name + self.to * self.times)


@dataclass(frozen=True)
class Crash(Pass):
    """Always fails."""

    name = "crash"
    stage = Stage.ANALYSE

    def run(self, model: Model, ctx: PassContext) -> Model:
        raise KeyError("gone")


@dataclass(frozen=True)
class Break(Pass):
    """Drops a node and forgets its flow."""

    name = "break"
    stage = Stage.LOWER

    def run(self, model: Model, ctx: PassContext) -> Model:
        process = model.processes[0]
        return model.replace(processes=(process.replace(nodes=process.nodes[:1]),))


def test_a_crash_is_a_diagnostic_and_the_others_go_on() -> None:
    ctx = PassContext()
    seen: list[str] = []
    manager = PassManager(
        (Rename(to="a"), Crash(), Rename(to="b")), [lambda p, m, s: seen.append(p.name)]
    )
    assert manager.run(model(), ctx).name == "ab"
    assert seen == ["rename", "crash", "rename"]
    (told,) = ctx.diagnostics
    assert (told.code, told.severity, told.source) == ("OF901", Severity.ERROR, "crash")
    assert "`crash`" in told.message
    assert "KeyError" in told.message


@pytest.mark.parametrize("verify", [True, False])
def test_a_pass_that_breaks_the_model_is_named(verify: bool) -> None:
    ctx = PassContext()
    whole = model(Flow(id="f", source="s", target="t"))
    PassManager((Break(),), verify=verify).run(whole, ctx)
    assert [d.code for d in ctx.diagnostics] == (["OF902"] if verify else [])


def test_what_was_broken_before_is_not_the_fault_of_a_pass() -> None:
    ctx = PassContext()
    dangling = model(Flow(id="f", source="s", target="nowhere"))
    assert list_violations(dangling)
    PassManager((Rename(),), verify=True).run(dangling, ctx)
    assert ctx.diagnostics == []


def test_pipelines_as_text() -> None:
    passes = {"rename": Rename, "crash": Crash}
    pipeline = parse_pipeline("rename{to=x times=2 loud=true}, crash", passes)
    assert pipeline == (Rename(to="x", times=2, loud=True), Crash())
    text = print_pipeline(pipeline)
    assert text == "rename{to=x times=2 loud=true},crash"
    assert parse_pipeline(text, passes) == pipeline
    assert print_pipeline((Rename(),)) == "rename"


@pytest.mark.parametrize(
    "text",
    [
        "nobody",
        "rename{",
        "rename{color=red}",
        "rename{times=many}",
        "rename{loud=yes}",
        "a b",
        "!",
    ],
)
def test_pipelines_that_cannot_be_read(text: str) -> None:
    with pytest.raises(PipelineError):
        parse_pipeline(text, {"rename": Rename})


def test_an_analysis_is_computed_once_for_a_value() -> None:
    calls: list[Process] = []

    def size(process: Process) -> int:
        calls.append(process)
        return len(process.nodes)

    ctx = PassContext()
    process = model().processes[0]
    same = process.replace()
    assert ctx.analysis(size, process) == ctx.analysis(size, process) == 2
    assert ctx.analysis(size, same) == 2
    assert len(calls) == 2, "once for each value, equal or not"


# -- advice that takes longer to find than its fault ----------------------------------------------


class Slow(Rule):
    """Its advice takes long."""

    code = "OF299"
    name = "slow"
    severity = Severity.WARNING
    category = Category.FLOW


@dataclass(frozen=True)
class Advises(Pass):
    """Reports something, whose advice writes down that it was looked for."""

    name = "advises"
    stage = Stage.ANALYSE
    looked: list[str]
    fails: BaseException | None = None

    def run(self, model: Model, ctx: PassContext) -> Model:
        def advice() -> tuple[Fix | None, str | None]:
            self.looked.append(model.id)
            if self.fails is not None:
                raise self.fails
            return Fix(title="repair it", applicability="safe"), "repair it"

        ctx.emit(Slow, "it is broken", help="look at it", advice=advice)
        return model


@pytest.fixture(autouse=True)
def _advises_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Findings of passes from outside are read at once, to check them."""
    monkeypatch.setattr(Advises, "__module__", "orgflow.passes.advises")


def test_advice_is_looked_for_once_when_somebody_reads_a_finding() -> None:
    ctx = PassContext()
    looked: list[str] = []
    PassManager((Advises(looked),)).run(model(), ctx)
    assert not ctx.has_errors
    assert ctx.count == 1
    assert looked == []
    (told,) = ctx.diagnostics
    assert (told.help, told.fix and told.fix.title) == ("repair it", "repair it")
    assert ctx.diagnostics == [told]
    assert looked == ["m"]


def test_advice_is_about_the_model_of_its_pass() -> None:
    ctx = PassContext()
    looked: list[str] = []
    PassManager((Advises(looked),)).run(model(), ctx)
    PassManager((Advises(looked),)).run(model().replace(id="later"), ctx)
    assert looked == ["m"]
    assert [d.help for d in ctx.diagnostics] == ["repair it", "repair it"]
    assert looked == ["m", "later"]


def test_advice_of_a_pass_from_outside_is_checked_with_its_finding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Advises, "__module__", "outside")
    looked: list[str] = []
    PassManager((Advises(looked),)).run(model(), PassContext())
    assert looked == ["m"]


@pytest.mark.parametrize("error", [KeyError("gone"), SystemExit(3)])
def test_advice_that_fails_is_a_crash_of_its_pass_and_the_finding_stays(
    error: BaseException,
) -> None:
    ctx = PassContext()
    PassManager((Advises([], fails=error),)).run(model(), ctx)
    told, crash = ctx.diagnostics
    assert (told.code, told.help) == ("OF299", "look at it")
    assert (crash.code, crash.severity) == ("OF901", Severity.ERROR)
    assert "`advises`" in crash.message


def test_diagnostics_given_to_a_context_replace_those_that_wait_for_advice() -> None:
    ctx = PassContext()
    looked: list[str] = []
    PassManager((Advises(looked),)).run(model(), ctx)
    ctx.diagnostics = []
    assert ctx.diagnostics == []
    assert looked == []
