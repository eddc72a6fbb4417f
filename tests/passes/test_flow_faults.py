"""OF201 to OF204 against an oracle that shares no code, and their runs against the token game.

What must hold, for a scope with one start (a bound hit on either side is left out and counted):
- something is reported if and only if the oracle finds the process unsound;
- OF203 has a shown run if and only if the oracle reaches a second token at some place;
- where no second token can be reached: OF201 if and only if some run halts in a join, and only at
  joins at which the oracle sees a run halt; OF202 if and only if some state leads to no end;
- a masked finding (one without a run) never stands alone;
- every run replays on the token game, and ends with what the diagnostic says.

`ORGFLOW_FUZZ=N` tries N larger processes beyond the usual ones and prints what they were like.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from orgflow.passes.flow_faults import analyse
from orgflow.passes.pipelines import CHECK
from random_processes import process as random_process
from state_oracle import Oracle

from orgflow_ir.graph import ControlFlow
from orgflow_ir.model import Gateway, Model, Process
from orgflow_ir.pass_manager import PassContext, PassManager
from orgflow_ir.regions import reduce
from orgflow_ir.semantics import Game, Policy

FUZZ = int(os.environ.get("ORGFLOW_FUZZ", "0"))


def compare(process: Process, limit: int) -> tuple[list[str], Counter[str]]:
    """Disagreements, and what the process was like."""
    found = analyse(process)
    verdict = Oracle(process).verdict(limit)
    like: Counter[str] = Counter(processes=1, nodes=len(process.nodes))
    if not verdict.complete:
        return [], like + Counter(["oracle gave up"])
    if any("states" in d.reason for d in found.doubts):
        return [], like + Counter(["unknown"])
    graph = ControlFlow(process)
    reduction = reduce(process)
    like.update(
        {
            "unsound": not verdict.sound,
            "cyclic": bool(graph.cyclic),
            "irreducible": not reduction.structured,
            "irreducible and cyclic": not reduction.structured and bool(graph.cyclic),
            "inclusive join": any(
                isinstance(n, Gateway)
                and n.gateway_kind == "inclusive"
                and len(graph.flows_in(n.id)) > 1
                for n in process.nodes
            ),
            "boundary events": any(n.construct.startswith("event.b") for n in process.nodes),
        }
    )
    shown = {f.kind for f in found.faults if not f.masked}
    wrong = []
    if bool(found.faults) == verdict.sound:
        wrong.append(f"reported {found.faults}, oracle {verdict}")
    if ("unsync" in shown) != bool(verdict.unsafe):
        wrong.append(f"work done twice: {'unsync' in shown}, oracle {sorted(verdict.unsafe)}")
    if not verdict.unsafe:
        joins = {found.net.element[f.join] for f in found.faults if f.kind == "deadlock" and f.log}
        if ("deadlock" in shown) != bool(verdict.stuck) or not joins <= verdict.stuck:
            wrong.append(f"deadlocks {sorted(joins)}, oracle {sorted(verdict.stuck)}")
        if ("livelock" in shown) != verdict.livelock:
            wrong.append(f"livelock {'livelock' in shown}, oracle {verdict.livelock}")
    if found.faults and not shown:
        wrong.append("a masked finding stands alone")
    return wrong, like


def sweep(seeds: range, smallest: int, largest: int, limit: int) -> Counter[str]:
    total: Counter[str] = Counter()
    for seed in seeds:
        wrong, like = compare(random_process(seed, smallest, largest), limit)
        assert not wrong, f"seed {seed}, {smallest} to {largest} nodes: {wrong}"
        total.update(like)
    return total


def test_small_processes_agree_with_the_oracle() -> None:
    total = sweep(range(900), 5, 11, 1500)
    print("\n" + "  ".join(f"{name}: {n}" for name, n in sorted(total.items())))
    judged = total["processes"] - total["oracle gave up"]
    assert judged > 800
    assert total["unknown"] <= judged // 100
    assert total["unsound"] > judged * 0.3
    assert total["irreducible and cyclic"] > judged * 0.1
    assert total["inclusive join"] > judged * 0.2


@pytest.mark.skipif(not FUZZ, reason="set ORGFLOW_FUZZ=N to try N larger processes")
def test_more_processes_agree_with_the_oracle() -> None:
    total = sweep(range(10_000, 10_000 + FUZZ), 8, 30, 20_000)
    print("\n" + "  ".join(f"{name}: {n}" for name, n in sorted(total.items())))


def test_the_comparison_can_fail() -> None:
    """A process the analysis is not told about as it is: the oracle must object."""
    process = next(p for p in map(random_process, range(50)) if not Oracle(p).verdict(2000).sound)
    verdict = Oracle(process).verdict(2000)
    assert not verdict.sound
    assert analyse(process).faults


def test_every_run_replays_on_the_token_game() -> None:
    told = 0
    for seed in range(250):
        process = random_process(seed, 6, 14)
        model = Model(id="m", processes=(process,))
        ctx = PassContext()
        PassManager(CHECK).run(model, ctx)
        for diagnostic in ctx.diagnostics:
            if diagnostic.code not in ("OF201", "OF202", "OF203", "OF204", "OF206"):
                continue
            if "once the faults before it" in diagnostic.message:
                assert not diagnostic.trace
                continue
            assert diagnostic.trace, f"seed {seed}: {diagnostic.message}"
            told += 1
            game = Game(model, Policy(once=True))
            state = game.initial(process.id, diagnostic.trace[0].element)
            for step in diagnostic.trace:
                state = game.fire(state, step)
            if diagnostic.code in ("OF203", "OF206"):
                again = [s for s in diagnostic.trace if s.element == diagnostic.element]
                twice = sum(s.action != "open" for s in again) > 1
                assert twice or any(left.count > 1 for left in game.left(state)), f"seed {seed}"
            elif diagnostic.code == "OF202":
                assert game.outcome(state) == "running", f"seed {seed}"
            else:
                assert game.outcome(state) == "stuck", f"seed {seed}"
    assert told > 150
