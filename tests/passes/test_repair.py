"""What is advised fixes the fault and brings no other; where nothing does, the help says what a
person has to decide and about which elements."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import NamedTuple, cast

import faulty_models as faulty
import pytest
from orgflow.passes.flow_findings import FlowAnalyses
from orgflow.passes.pipelines import CHECK
from orgflow.passes.repair_candidates import Candidates
from text_model import model

from orgflow_ir.diagnostics import Diagnostic, Severity, apply
from orgflow_ir.flow.nets.net import Net
from orgflow_ir.flow.nets.wiring import Wiring
from orgflow_ir.flow.soundness import memory
from orgflow_ir.flow.soundness.findings import ScopeVerdict
from orgflow_ir.flow.soundness.scope import judge_net
from orgflow_ir.flow.token_game.replay import replay_trace
from orgflow_ir.flow.token_game.semantics import Game, Policy
from orgflow_ir.model import Flow, Model, SubProcess
from orgflow_ir.model.constructs import CONSTRUCTS
from orgflow_ir.pipeline import PassContext, PassManager
from orgflow_ir.pipeline.leaves import Leaves
from orgflow_ir.targets import Illegal, Legal, TargetSpec


def check(of: Model, ctx: PassContext | None = None) -> list[Diagnostic]:
    ctx = ctx or PassContext()
    PassManager(CHECK).run(of, ctx)
    return [d for d in ctx.diagnostics if d.severity is not Severity.INFO]


class Case(NamedTuple):
    """A model, and what is said of its faults."""

    model: Model
    told: dict[str, str]
    """Part of the message, by code."""
    help: str
    fix: str | None = None
    applicability: str = "unsafe"


CASES = {
    "an event that does not interrupt": Case(
        faulty.boundary("exclusive", interrupting=False),
        {"OF203": "`One hour` does not interrupt `Ask`, so in one run both `Ask` and `Remind` "},
        "decide: either make the exclusive gateway before `On` an inclusive gateway, to wait "
        "for `Remind` if it has begun; or let `Remind` end with its own end event; or let "
        "`One hour` interrupt `Ask`",
        "make the exclusive gateway before `On` an inclusive gateway",
    ),
    "an event that does": Case(
        faulty.boundary("parallel", interrupting=True),
        {"OF201": "waits for `Ask` to be done, which never happens once `One hour` "},
        "make the parallel gateway before `On` an exclusive gateway, since a run continues from "
        "`One hour` or from `Ask`",
        "make the parallel gateway before `On` an exclusive gateway",
        "safe",
    ),
    "two starts": Case(
        faulty.two_starts(),
        {"OF201": "waits for `By phone`, but a run begins at only one start event and never gets "
         "there from `By mail`"},
        "make the parallel gateway before `Handle` an exclusive gateway, if one of the start "
        "events is sufficient",
        "make the parallel gateway before `Handle` an exclusive gateway",
    ),
    "a way into another branch": Case(
        faulty.jump(),
        {"OF203": "`again` at `Redo?` leads to `Write` from a branch that runs in parallel",
         "OF201": "waits for the branch `fine` of `Redo?`"},
        "decide: either lead `again` at `Redo?` back to `Check`, in its own branch; or ask "
        "`Redo?` only after the parallel gateway before `end`, and lead `again` at `Redo?` back "
        "to before the parallel gateway before `Write`",
        "lead `again` at `Redo?` back to `Check`, in its own branch",
    ),
    "joins that wait for each other": Case(
        faulty.crossed(),
        {"OF201": "wait for each other, so neither ever continues"},
        "lead `over` at `Back B?` back to `B` and `over` at `Back A?` back to `A`, each within its "
        "own branch",
    ),
    "a branch that is cancelled": Case(
        faulty.cancelled(),
        {"OF201": "waits for `Fulfil` to be done, which never happens once `Out of stock` "
         "interrupts `Fulfil`"},
        "decide: either make `endcancelled` a terminate end event, if nothing else should happen "
        "after that; or make the parallel gateway before `Ship` an inclusive gateway, to "
        "continue with the branches that are taken",
        "make `endcancelled` a terminate end event",
    ),
    "some branches of several": Case(
        model(
            "start -> p\np -> q\np -> c\nq -> a: x\nq -> b: y\na -> j\nb -> j\nc -> j\nj -> d\n"
            "d -> end",
            {"p": "parallel", "q": "exclusive Which?", "j": "parallel"},
        ),
        {"OF201": "waits for `B`"},
        "join what comes from `A` and `B` with an exclusive gateway before the parallel "
        "gateway before `D`, since `Which?` takes only one of its branches",
        "join what comes from `A` and `B` with an exclusive gateway before the parallel gateway "
        "before `D`",
        "safe",
    ),
    "a decision that joins, too": Case(
        model(
            "start -> p\np -> pack\np -> bill\npack -> paid\nbill -> paid\npaid -> ship: yes\n"
            "paid -> end: no\nship -> end",
            {"p": "parallel", "paid": "exclusive Paid?"},
        ),
        {"OF203": "what comes after `Paid?` can happen more than once"},
        "join the branches with a parallel gateway before `Paid?`, since the parallel "
        "gateway before `Pack` takes all its branches",
        "join the branches with a parallel gateway before `Paid?`",
        "safe",
    ),
    "an event that does not interrupt, before a decision": Case(
        faulty.before_a_decision(),
        {"OF203": "`One hour` does not interrupt `Ask`"},
        "decide: either join the branches with an inclusive gateway before `Ok?`, to wait "
        "for `Remind` if it has begun; or let `Remind` end with its own end event; or let "
        "`One hour` interrupt `Ask`",
        "join the branches with an inclusive gateway before `Ok?`",
    ),
    "an event that need not come": Case(
        faulty.boundary("parallel", interrupting=False),
        {"OF201": "waits for `Remind`, which only happens if `One hour` occurs while `Ask` is "
                  "active"},
        "make the parallel gateway before `On` an inclusive gateway, to continue with the "
        "branches that are taken, if that is intended",
        "make the parallel gateway before `On` an inclusive gateway",
    ),
    "a loop entered through a join of another kind": Case(
        model(
            "start -> j\nj -> enter\nenter -> ok\nok -> correct: no\ncorrect -> j\nok -> end: yes",
            {"j": "parallel", "ok": "exclusive Ok?"},
        ),
        {"OF201": "waits for `Correct`, which comes only after the parallel gateway before `Enter` "
         "itself: no run gets past it"},
        "make the parallel gateway before `Enter` an exclusive gateway, since `Correct` comes "
        "only after the parallel gateway before `Enter`",
        "make the parallel gateway before `Enter` an exclusive gateway",
        "safe",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_is_said(name: str) -> None:
    case = CASES[name]
    found = check(case.model)
    assert {d.code for d in found} == set(case.told)
    for diagnostic in found:
        assert case.told[diagnostic.code] in diagnostic.message
        assert diagnostic.help == case.help
        assert (diagnostic.fix and diagnostic.fix.title) == case.fix
        if diagnostic.fix is not None:
            assert diagnostic.fix.applicability == case.applicability


@pytest.mark.parametrize("name", CASES)
def test_what_is_offered_leaves_no_fault(name: str) -> None:
    fixes = [d.fix for d in check(CASES[name].model) if d.fix is not None]
    assert bool(fixes) is (CASES[name].fix is not None)
    for fix in fixes:
        assert check(apply(CASES[name].model, fix)) == []


@pytest.mark.parametrize("name", CASES)
def test_all_that_is_advised_leaves_no_fault(name: str) -> None:
    """Each alternative of a help text, also those that no file could take as a fix."""
    made = CASES[name].model
    told = {d.help or "" for d in check(made)}
    tried = 0
    for found in FlowAnalyses(made).of(10_000, Wiring):
        for fault in found.faults:
            for candidate in Candidates(made, fault.scope).of(fault):
                if any(candidate.advice in text for text in told):
                    assert check(apply(made, candidate.fix)) == [], candidate.advice
                    tried += 1
    assert tried >= max(text.count("; or ") + 1 for text in told)


def test_what_a_change_leaves_alone_is_analysed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the other process nor the sub-process is, however many changes are tried."""
    judged: list[str] = []

    def counted(net: Net, max_states: int) -> ScopeVerdict:
        judged.append(",".join(sorted(net.live)))
        return judge_net(net, max_states)

    monkeypatch.setattr(memory, "judge_net", counted)
    faulty_one = faulty.boundary("exclusive", interrupting=False)
    (process,) = faulty_one.processes
    inner = model("start -> Inside\nInside -> end", {}).processes[0]
    part = SubProcess(id="part", nodes=inner.nodes, flows=inner.flows)
    (first, *_) = process.flows
    nodes = (*process.nodes, part)
    flows = (
        first.replace(target="part"),
        Flow(id="behind_part", source="part", target=first.target),
        *process.flows[1:],
    )
    other = model("start -> Other\nOther -> end", {}).processes[0].replace(id="other")
    made = faulty_one.replace(processes=(process.replace(nodes=nodes, flows=flows), other))
    assert check(made)[0].help == check(faulty_one)[0].help
    counts = Counter(judged)
    assert counts.pop("Inside,end,start") == counts.pop("Other,end,start") == 1
    assert sum(counts.values()) > 4  # each change of the process itself


def test_a_change_that_hangs_is_neither_offered_nor_named() -> None:
    """A parallel join where a timer may never fire; one where a jump takes a branch away."""
    for made in (faulty.boundary("exclusive", interrupting=False), faulty.jump()):
        helps = [d.help for d in check(made)]
        assert helps
        for text in helps:
            assert text is not None
            assert "a parallel gateway" not in text


def test_what_no_change_is_proved_for_names_the_elements() -> None:
    made = model(
        "start -> p\np -> a\np -> x\nx -> b: yes\nx -> c: no\nb -> j\na -> j\na -> k\nc -> k\n"
        "j -> end1\nk -> end2",
        {"p": "parallel", "x": "exclusive Large?", "j": "parallel", "k": "parallel"},
    )
    helps = {d.element: d.help or "" for d in check(made)}
    assert helps
    for text in helps.values():
        assert "`" in text


def test_a_fault_that_comes_of_another_is_told_as_such() -> None:
    made = model(
        "start -> p\np -> a\np -> b\np -> l\na -> m\nb -> m\nm -> j\nl -> j\nj -> end",
        {"p": "parallel", "m": "exclusive", "j": "parallel"},
    )
    helps = {d.code: d.help for d in check(made)}
    assert helps == {
        "OF203": "make the exclusive gateway after `A` a parallel gateway, since the parallel "
        "gateway before `A` takes all its branches",
        "OF204": "fix the exclusive gateway after `A` first, which also clears this fault",
    }


@pytest.mark.parametrize(
    ("text", "gateways", "said"),
    [
        ("start -> m\nm -> a\na -> b\nb -> m", {"m": "exclusive"},
         "add an exclusive gateway to the loop, for example after `A`, with a flow to an end"),
        ("start -> m\nm -> a\na -> x\nx -> m: no\nx -> b: yes\nb -> m",
         {"m": "exclusive", "x": "exclusive Ok?"}, "add a flow from `Ok?` to an end"),
        ("start -> m\nm -> g\ng -> note\nnote -> end\ng -> m", {"m": "exclusive", "g": "parallel"},
         "an exclusive gateway, so each iteration goes either to `Note` or to the exclusive "
         "gateway"),
    ],
)  # fmt: skip
def test_loops(text: str, gateways: dict[str, str], said: str) -> None:
    made = model(text, gateways)
    (found,) = (d for d in check(made) if d.code in ("OF202", "OF206"))
    assert said in (found.help or "")


def test_the_run_goes_on_until_the_work_has_happened_twice() -> None:
    """The gateway that lets both through has no name: what comes after it is what people see."""
    made = faulty.boundary("exclusive", interrupting=False)
    (found,) = check(made)
    assert found.element == "j"
    assert [s.element for s in found.trace][-4:] == ["j", "j", "on", "on"]
    game = Game(made, Policy(once=True))
    assert replay_trace(game, found.trace, "P", "start").ok


def test_branches_that_meet_in_a_loop_are_joined() -> None:
    """Two branches that meet at a step before the loop goes back; at a gateway of their own."""
    for meeting, title in (
        ("Weigh", "join what comes from `Pack` and `Bill` with a parallel gateway before `Weigh`"),
        ("met", "make the exclusive gateway before `Weigh` a parallel gateway"),
    ):
        made = model(
            f"""start -> again
            again -> fork
            fork -> Pack
            fork -> Bill
            Pack -> {meeting}
            Bill -> {meeting}
            {"met -> Weigh" if meeting == "met" else ""}
            Weigh -> ok
            ok -> again: no
            ok -> end: yes""".replace("            \n", ""),
            {
                "again": "exclusive",
                "fork": "parallel",
                "ok": "exclusive Right?",
                "met": "exclusive",
            },
        )
        found = [d for d in check(made) if d.fix is not None]
        assert found[0].fix is not None
        assert found[0].fix.title in (
            title,
            title.replace("what comes from `Pack` and `Bill`", "the branches"),
        )
        assert found[0].fix.applicability == "safe"
        assert check(apply(made, found[0].fix)) == []


# -- targets -----------------------------------------------------------------------------------


def refusing(*refused: str) -> TargetSpec:
    everything = {name.split(".")[0]: Legal() for name in CONSTRUCTS}
    return TargetSpec("paper", {**everything, **dict.fromkeys(refused, Illegal("no ink"))})


def test_changes_that_the_target_supports_come_first() -> None:
    made = faulty.boundary("exclusive", interrupting=False)
    (found,) = check(made, PassContext(target=refusing("gateway.inclusive")))
    assert found.fix is not None
    assert found.fix.title == "let `One hour` interrupt `Ask`"
    assert found.help == (
        "decide: either let `Remind` end with its own end event; or let `One hour` interrupt "
        "`Ask`; or make the exclusive gateway before `On` an inclusive gateway, to wait for "
        "`Remind` if it has begun (paper does not support the inclusive gateway before `On`)"
    )
    (known,) = check(made, PassContext(target=refusing()))
    assert known.help == CASES["an event that does not interrupt"].help


def test_what_the_target_refuses_anyway_is_not_laid_to_the_change() -> None:
    made = faulty.boundary("exclusive", interrupting=False)
    (found,) = check(made, PassContext(target=refusing("event.boundary", "gateway.exclusive")))
    assert found.help is not None
    assert "does not support" not in found.help


def test_without_a_target_what_every_target_supports_comes_first() -> None:
    made = faulty.boundary("exclusive", interrupting=False)
    backends = {"paper": Paper(refusing("gateway.inclusive")), "wall": Paper(refusing())}
    registry = SimpleNamespace(backends=backends, lowerings={})
    (found,) = check(made, PassContext(registry=cast(Leaves, registry)))
    assert found.fix is not None
    assert found.fix.title == "let `One hour` interrupt `Ask`"
    assert "does not support" not in str(found.help)


class Paper(NamedTuple):
    """What a candidate is looked up in of a backend."""

    target: TargetSpec


def test_a_fault_beside_work_that_piles_up_has_a_fix_of_its_own() -> None:
    """The join inside the sub-process waits, and what follows the sub-process starts it anew."""
    (inner,) = model(
        "begin -> x\nx -> a\nx -> b\na -> j\nb -> j\nj -> end_in",
        {"x": "inclusive Which?", "j": "parallel"},
    ).processes
    (outer,) = model(
        "start -> o\no -> sub\nsub -> after\nafter -> end_out\nsub -> o", {"o": "inclusive"}
    ).processes
    flows = tuple(f.replace(id=f"inner_{f.id}") for f in inner.flows)
    sub = SubProcess(id="sub", name="Sub", nodes=inner.nodes, flows=flows)
    nodes = tuple(sub if n.id == "sub" else n for n in outer.nodes)
    before = Model(id="m", processes=(outer.replace(nodes=nodes),))
    found = {d.code: d for d in check(before) if d.code.startswith("OF2")}
    assert {
        code: (d.fix and d.fix.title, d.fix and d.fix.applicability) for code, d in found.items()
    } == {
        "OF201": ("make the parallel gateway before `end_in` an inclusive gateway", "safe"),
        "OF206": ("put an exclusive gateway after `Sub`", "unsafe"),
    }
    joined, chosen = found["OF201"].fix, found["OF206"].fix
    assert joined is not None
    assert chosen is not None
    assert [d.code for d in check(apply(before, joined)) if d.code.startswith("OF2")] == ["OF206"]
    assert not [d for d in check(apply(apply(before, joined), chosen)) if d.code.startswith("OF2")]
