"""What several passes need of a model is made once."""

from __future__ import annotations

from collections import Counter

import pytest
from orgflow.passes.pipelines import CHECK
from text_model import model

from orgflow_ir.flow.nets.wiring import Wiring
from orgflow_ir.flow.soundness.analysis import Games
from orgflow_ir.flow.token_game import semantics
from orgflow_ir.flow.token_game.net import Net, Policy
from orgflow_ir.model import CallActivity, Model, Process, Scope, Task
from orgflow_ir.pipeline import PassContext, PassManager

SOUND = "start -> a\na -> end"
ENDLESS = "start -> a\na -> b\nb -> a\na -> end"


@pytest.mark.parametrize("text", [SOUND, ENDLESS])
def test_a_scope_is_wired_once(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: Counter[int] = Counter()
    wire = Wiring.__init__

    def counted(self: Wiring, scope: Scope) -> None:
        made[id(scope)] += 1
        wire(self, scope)

    monkeypatch.setattr(Wiring, "__init__", counted)
    checked = model(text, {})
    PassManager(CHECK).run(checked, PassContext())
    assert made == {id(scope): 1 for scope in checked.scopes()}


def test_the_token_game_of_a_process_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Model] = []
    compile_net = semantics.compile_net

    def counted(of: Model, policy: Policy) -> Net:
        made.append(of)
        return compile_net(of, policy)

    monkeypatch.setattr(semantics, "compile_net", counted)
    ctx = PassContext()
    PassManager(CHECK).run(model(ENDLESS, {}), ctx)
    assert "OF206" in {d.code for d in ctx.diagnostics}
    assert len(made) == 1


def test_only_processes_that_are_connected_share_a_game() -> None:
    caller = Process(id="p", nodes=(CallActivity(id="c", called="q"),))
    called = Process(id="q", nodes=(Task(id="t"),))
    other = Process(id="r", nodes=(Task(id="u"),))
    together = Games(Model(id="m", processes=(caller, called)))
    assert together.of(caller) is together.of(called)
    assert list(together.of(called).net.processes) == ["p", "q"]
    apart = Games(Model(id="m", processes=(called, other)))
    assert list(apart.of(called).net.processes) == ["q"]
    assert list(apart.of(other).net.processes) == ["r"]
    assert apart.of(other) is apart.of(other)
