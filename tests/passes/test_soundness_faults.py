"""Which faults the soundness analysis tells, where, and what is only their consequence."""

from __future__ import annotations

from pathlib import Path

import orgflow
import pytest
from orgflow.passes.pipelines import CHECK
from soundness_fuzzing import compare
from soundness_models import CROSSED, CYCLE, DEEP, NESTED, build, end, flows, timer
from soundness_oracle import Oracle
from soundness_random import process as random_process

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.flow.soundness import Analysis, Property, analyse
from orgflow_ir.model import Event, EventDefinition, Flow, Model, Process, SubProcess, Task
from orgflow_ir.pipeline import PassContext, PassManager


def told(found: Analysis) -> set[tuple[str, str]]:
    return {(f.kind, f.element) for f in found.faults}


# -- what the fuzz found ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "seed",
    [
        3002962,
        7004667,
        8000370,
        8003524,
        40000034,
        41001222,
        60001249,
        61102336,
        61950280,
        62950969,
    ],
)
def test_seeds_that_were_judged_differently(seed: int) -> None:
    assert compare(random_process(seed), 2_000)[0] == []


def test_tokens_that_go_from_an_event_straight_into_an_error_end_are_not_work_done_twice() -> None:
    """The first of them ends everything; an event on a border is no place where the second could
    be seen before that. An inclusive join lets the loop come to `T` again only once it was left."""
    process = build(
        "s-o1 o1-T o1-t3 T-o4 t3-o4 o4-G G-e on-err back-T",
        timer("on", "T"), timer("back", "G"), end("err", "error"),
    )  # fmt: skip
    assert analyse(process)[Property.DOUBLE].outcome == "proved"
    assert compare(process, 5_000)[0] == []
    after = [f.replace(target="t9") if f.target == "err" else f for f in process.flows]
    step = process.replace(
        nodes=(*process.nodes, Task(id="t9")),
        flows=(*after, Flow(id="g", source="t9", target="err")),
    )
    assert analyse(step)[Property.DOUBLE].outcome == "violated"  # a step on the way is a place


def test_tokens_that_meet_behind_an_event_are_told_where_they_meet() -> None:
    """`N` is done twice, one after the other: that is no fault, what comes after its timer is."""
    process = build(
        "s-o1 o1-t2 o1-N t2-o9 N-o9 o9-x10 x10-G x10-x13 G-x13 x13-e on-x13 back-N",
        timer("on", "N"), timer("back", "G"),
    )  # fmt: skip
    assert told(analyse(process)) == {("unsync", "x13")}
    assert compare(process, 20_000)[0] == []


def test_what_waits_for_a_step_that_always_fails_never_runs() -> None:
    """The inclusive join waits for `Pay` as long as it runs, and its error ends everything."""
    inside = build("si-ti ti-err", end("err", "error"))
    pay = SubProcess(id="Pay", nodes=inside.nodes, flows=tuple(flows("si-ti ti-err", "i")))
    process = build("s-a1 a1-Pay a1-t2 Pay-t1 t1-o1 t2-o1 o1-t3 t3-e", pay)
    found = analyse(process)
    assert {f.element for f in found[Property.DEAD].faults} == {"t1", "o1", "t3", "e"}
    assert compare(process, 5_000)[0] == []


def test_tokens_that_go_through_a_gateway_straight_into_error_ends_are_not_work_done_twice() -> (
    None
):
    twice = "s-a1 a1-t1 a1-t2 t1-x1 t2-x1 x1-err x1-bad"
    process = build(twice, end("err", "error"), end("bad", "error"))
    assert analyse(process)[Property.DOUBLE].outcome == "proved"
    assert compare(process, 5_000)[0] == []


HANGS = "si-xi xi-ti xi-ui ti-ai ui-ai ai-vi"


def hanging(*last: Event) -> SubProcess:
    """`Pay`, in which a join waits indefinitely, and what would come after it."""
    return SubProcess(id="Pay", nodes=build(HANGS, *last).nodes, flows=tuple(flows(HANGS, "i")))


def error(name: str, host: str) -> Event:
    """An error on the border of an activity that nothing inside throws."""
    return timer(name, host).replace(definitions=(EventDefinition(kind="error"),))


def test_an_inclusive_join_waits_for_a_step_that_hangs() -> None:
    """Its error is thrown only behind the join that waits indefinitely."""
    way = "s-a1 a1-Pay a1-t2 Pay-o1 t2-o1 o1-t3 t3-e on-t9 t9-e9"
    process = build(way, hanging(end("vi", "error")), error("on", "Pay"))
    found = analyse(process)
    assert told(found) == {("deadlock", "ai")}
    assert {"o1", "t3", "e"} <= {f.element for f in found[Property.DEAD].faults}
    assert compare(process, 5_000)[0] == []


def test_a_step_that_hangs_is_no_endless_loop_because_an_error_might_start_it_anew() -> None:
    """An error that nothing inside throws may come, but is not waited for: the run rests inside."""
    process = build("s-Pay Pay-e on-Pay", hanging(), error("on", "Pay"))
    found = analyse(process)
    assert told(found) == {("deadlock", "ai")}
    assert found[Property.LIVELOCK].outcome == "proved"
    assert compare(process, 5_000)[0] == []


def test_a_loop_through_a_step_that_may_hang_is_no_endless_one() -> None:
    """Choices are fair: by and by the run comes to rest inside."""
    inside = "si-yi yi-ei yi-xi xi-ti xi-ui ti-ai ui-ai ai-vi".replace("yi", "xy")
    pay = SubProcess(id="Pay", nodes=build(inside).nodes, flows=tuple(flows(inside, "i")))
    found = analyse(build("s-x1 x1-Pay Pay-x2 x2-x1", pay))
    assert told(found) == {("deadlock", "ai")}
    assert found[Property.LIVELOCK].outcome == "proved"
    assert compare(build("s-x1 x1-Pay Pay-x2 x2-x1", pay), 5_000)[0] == []
    beside = build("s-a1 a1-x1 a1-x3 x3-t3 t3-x3 x1-Pay Pay-x2 x2-x1", pay)
    assert ("livelock", "x3") in told(analyse(beside))
    assert compare(beside, 5_000)[0] == []


def test_a_step_that_hangs_beside_an_endless_loop_hangs() -> None:
    process = build("s-a1 a1-Pay a1-x1 x1-t1 t1-x1 Pay-e", hanging())
    assert told(analyse(process)) == {("deadlock", "ai"), ("livelock", "x1")}
    assert compare(process, 5_000)[0] == []


def test_what_is_left_behind_until_everything_ends_is_not_left_behind() -> None:
    inside = "si-a0 a0-xi a0-zi zi-ei xi-ti xi-ui ti-ai ui-ai ai-vi"
    pay = SubProcess(id="Pay", nodes=build(inside).nodes, flows=tuple(flows(inside, "i")))
    process = build("s-a1 a1-Pay Pay-e a1-t2 t2-halt", pay, end("halt", "terminate"))
    found = analyse(process)
    assert found[Property.IMPROPER].outcome == "proved"
    assert "`halt`" in found[Property.IMPROPER].reason
    assert compare(process, 5_000)[0] == []


# -- consequences -----------------------------------------------------------------------------


def test_a_join_that_waits_only_for_another_that_waits_is_told_with_it() -> None:
    found = analyse(build(NESTED))
    assert told(found) == {("deadlock", "a1")}
    assert found.faults[0].behind == ("a2",)
    assert not found.masked
    assert found[Property.DEADLOCK].outcome == "violated"


def test_such_joins_are_told_however_deep() -> None:
    found = analyse(build(DEEP))
    assert told(found) == {("deadlock", "a1")}
    assert set(found.faults[0].behind) == {"a2", "o3"}


def test_a_join_with_a_fault_of_its_own_is_told_beside_the_one_before_it() -> None:
    """The way into `a2` is a choice too: fixing `a1` alone would not let it go on."""
    own = NESTED.replace("a0-t3", "a0-x2 x2-t3 x2-t5 t5-e2")
    found = analyse(build(own))
    assert told(found) == {("deadlock", "a1")}
    assert [(f.kind, f.element) for f in found.masked] == [("deadlock", "a2")]
    assert found.faults[0].behind == ()
    fixed = own.replace("a1", "x3")
    assert told(analyse(build(fixed))) == {("deadlock", "a2")}


def test_independent_faults_are_all_told() -> None:
    first = "s-a0 a0-x1 x1-t1 x1-t2 t1-a1 t2-a1 a1-e1"
    second = "a0-x2 x2-t3 x2-t4 t3-a2 t4-a2 a2-e2"
    found = analyse(build(f"{first} {second}"))
    assert told(found) == {("deadlock", "a1"), ("deadlock", "a2")}
    assert not any(f.behind or f.mutual for f in found.faults)


def test_faults_behind_a_fault_are_told_as_such() -> None:
    """One after the other: the second shows once the first is fixed."""
    found = analyse(build("s-x1 x1-t1 x1-t2 t1-a1 t2-a1 a1-x2 x2-t3 x2-t4 t3-a2 t4-a2 a2-e"))
    assert told(found) == {("deadlock", "a1")}
    assert [(f.kind, f.element) for f in found.masked] == [("deadlock", "a2")]


def test_joins_that_wait_for_each_other_are_one_fault() -> None:
    found = analyse(build(CYCLE))
    assert told(found) == {("deadlock", "o1")}
    assert found.faults[0].mutual == ("o2",)


def test_parallel_joins_may_wait_for_each_other_too() -> None:
    found = analyse(build(CROSSED))
    assert told(found) == {("deadlock", "a1")}
    assert found.faults[0].mutual == ("a2",)


@pytest.mark.parametrize("text", [NESTED, DEEP, CYCLE, CROSSED])
def test_some_run_ends_with_a_token_at_every_join_that_is_named(text: str) -> None:
    process = build(text)
    named = {e for f in analyse(process).faults for e in (f.element, *f.behind, *f.mutual)}
    assert named <= Oracle(process).verdict(5_000).stuck
    assert compare(process, 5_000)[0] == []


ENDED_BEFORE = """\
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d">
<escalation id="S1" escalationCode="S1"/><process id="p" isExecutable="true"><startEvent id="s"/>
<subProcess id="P"><startEvent id="i"/>
<intermediateThrowEvent id="t"><escalationEventDefinition escalationRef="S1"/>
</intermediateThrowEvent><subProcess id="N"><startEvent id="ni"/>
<intermediateThrowEvent id="nt"><escalationEventDefinition escalationRef="S1"/>
</intermediateThrowEvent><endEvent id="nj"/>
<sequenceFlow id="n1" sourceRef="ni" targetRef="nt"/>
<sequenceFlow id="n2" sourceRef="nt" targetRef="nj"/></subProcess>
<boundaryEvent id="nb" attachedToRef="N" cancelActivity="false">
<escalationEventDefinition escalationRef="S1"/></boundaryEvent><task id="a"/><endEvent id="j"/>
<sequenceFlow id="f1" sourceRef="i" targetRef="t"/>
<sequenceFlow id="f2" sourceRef="t" targetRef="N"/>
<sequenceFlow id="f3" sourceRef="nb" targetRef="a"/>
<sequenceFlow id="f4" sourceRef="N" targetRef="j"/></subProcess>
<boundaryEvent id="b" attachedToRef="P"><escalationEventDefinition escalationRef="S1"/>
</boundaryEvent><endEvent id="e"/><endEvent id="e2"/>
<sequenceFlow id="f5" sourceRef="s" targetRef="P"/>
<sequenceFlow id="f6" sourceRef="P" targetRef="e"/>
<sequenceFlow id="f7" sourceRef="b" targetRef="e2"/></process></definitions>
"""
"""An escalation ends `P` before it comes to `N`, whose own escalation does not end it."""


def test_a_part_that_an_event_ends_before_it_begins(tmp_path: Path) -> None:
    path = tmp_path / "model.bpmn"
    path.write_text(ENDED_BEFORE, "utf-8")
    found = orgflow.check(orgflow.read(str(path))).diagnostics
    assert "OF901" not in {d.code for d in found}
    assert {d.element for d in found if d.code == "OF207"} == {"e"}


# -- how they are said ------------------------------------------------------------------------


def said(process: Process) -> list[Diagnostic]:
    ctx = PassContext()
    PassManager(CHECK).run(Model(id="m", processes=(process,)), ctx)
    return [d for d in ctx.diagnostics if d.code == "OF201"]


def test_consequences_are_notes_of_the_finding() -> None:
    (found,) = said(build(DEEP))
    notes = {r.element: r.message for r in found.related}
    assert found.element == "a1"
    assert notes["a2"].endswith("waits for this one")
    assert notes["o3"].endswith("waits for this one")
    assert found.fix is not None


def test_mutual_waiting_names_both_joins() -> None:
    (found,) = said(build(CYCLE))
    assert found.message.endswith("wait for each other, so neither ever continues")
    assert "the first unlabelled inclusive gateway" in found.message
    assert "the second unlabelled inclusive gateway" in found.message
    assert "o2" in {r.element for r in found.related}
    assert found.trace
