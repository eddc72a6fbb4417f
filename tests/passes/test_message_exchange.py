"""Messages between pools: never sent, never taken, waited for in a ring; published verdicts.

The network is fbpmn's `Network01Bag`: messages of different flows overtake each other.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from cli_cases import orgflowc
from game_models import process
from orgflow.compilation.reading import load_model
from orgflow.passes.message_exchange import MessageExchange

from orgflow_ir.flow.soundness.collaboration import analyse_collaboration
from orgflow_ir.flow.token_game.semantics import Game, Policy
from orgflow_ir.model import MessageFlow, Model, Pool
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry


def collaboration(*processes: object, messages: str) -> Model:
    pairs = [item.split() for item in messages.split(",") if item.strip()]
    flows = tuple(MessageFlow(id=f"{a}~{b}", name=b, source=a, target=b) for a, b in pairs)
    pools = tuple(Pool(id=f"P{p.id}", name=p.id, process=p.id) for p in processes)  # type: ignore[attr-defined]
    return Model(id="M", processes=processes, message_flows=flows, pools=pools)  # type: ignore[arg-type]


CLIENT = process("start s; send ask; receive get; end e", "s ask, ask get, get e", name="C")
SERVER = process("start q message; task work; end r message", "q work, work r", name="S")
LAZY = process(
    "start q message; xor x; task work; end n; end r message", "q x, x work, x n, work r", name="S"
)
TAKER = process("start a; receive goods; send pay; end b", "a goods, goods pay, pay b", name="T")
GIVER = process("start c; receive money; send ship; end d", "c money, money ship, ship d", name="G")
QUITTER = process("start s; send ask; xor x; receive get; end e; end f",
                  "s ask, ask x, x get, x f, get e", name="C")  # fmt: skip

ASKER = process("start s; service ask; end e", "s ask, ask e", name="C")
ANSWERER = process("start q message; service rate; end e2", "q rate, rate e2", name="S")


@pytest.mark.parametrize(
    ("model", "verdict", "faults"),
    [
        # A task that sends and receives asks first, and waits for the answer.
        (collaboration(ASKER, SERVER, messages="ask q, r ask"), "proved", []),
        (
            collaboration(ASKER, LAZY, messages="ask q, r ask"),
            "violated",
            [("unsent", ("ask",), ("r~ask",))],
        ),
        (collaboration(ASKER, ANSWERER, messages="ask q, rate ask"), "proved", []),
        (collaboration(CLIENT, SERVER, messages="ask q, r get"), "proved", []),
        (
            collaboration(CLIENT, LAZY, messages="ask q, r get"),
            "violated",
            [("unsent", ("get",), ("r~get",))],
        ),
        (
            collaboration(TAKER, GIVER, messages="pay money, ship goods"),
            "violated",
            [("circular", ("goods", "money"), ("ship~goods", "pay~money"))],
        ),
        (
            collaboration(QUITTER, SERVER, messages="ask q, r get"),
            "violated",
            [("unreceived", (), ("r~get",))],
        ),
        (collaboration(CLIENT, messages=""), "not applicable", []),
    ],
    ids=[
        "asked",
        "asked, not always answered",
        "answered by the same kind of task",
        "answered",
        "not always answered",
        "ring",
        "nobody listens",
        "no messages",
    ],
)
def test_verdicts(model: Model, verdict: str, faults: list[object]) -> None:
    found = analyse_collaboration(model)
    assert found.verdict == verdict
    assert [(f.kind, f.elements, f.flows) for f in found.faults] == faults
    for fault in found.faults:
        assert replays(model, fault.trace)


def replays(model: Model, trace: object) -> bool:
    """Whether a trace is a run of the collaboration to its end."""
    game = Game(model, Policy(messages="flows", once=True))
    state = game.initial_all()
    for step in trace:  # type: ignore[attr-defined]
        state = game.fire(state, step)  # raises where it is not enabled
    return not game.enabled(state)


def test_a_bound_is_said() -> None:
    model = collaboration(CLIENT, SERVER, messages="ask q, r get")
    found = analyse_collaboration(model, budget=3)
    assert (found.verdict, found.reason) == ("unknown", "more than 3 states")
    ctx = PassContext()
    assert MessageExchange(max_states=3).run(model, ctx) is model
    assert [d.code for d in ctx.diagnostics] == ["OF323"]


def test_pools_that_start_each_other_are_not_decided() -> None:
    one = process("start a; send x; end b", "a x, x b", name="A")
    two = process("start c message; send y; end d", "c y, y d", name="B")
    three = process("start e message; send z; end f", "e z, z f", name="D")
    found = analyse_collaboration(
        collaboration(one, two, three, messages="x c, y e, z c"), budget=2_000
    )
    assert (found.verdict, found.reason) == ("unknown", "more than 2,000 states")


@pytest.mark.parametrize(
    ("model", "code", "words"),
    [
        (
            collaboration(CLIENT, LAZY, messages="ask q, r get"),
            "OF320",
            "`get` in `C` can wait indefinitely: in some run, the message `get` from `r` in `S` is "
            "never sent",
        ),
        (
            collaboration(TAKER, GIVER, messages="pay money, ship goods"),
            "OF321",
            "pools wait for each other: `goods` in `T` waits for the message `goods` from `ship` "
            "in `G` and `money` in `G` waits for the message `money` from `pay` in `T`; each sends "
            "only after it has received",
        ),
        (
            collaboration(QUITTER, SERVER, messages="ask q, r get"),
            "OF322",
            "in some run, nothing receives the message `get` from `r` in `S`: when all pools "
            "have ended, `get` in `C` has not received it",
        ),
    ],
)
def test_messages(model: Model, code: str, words: str) -> None:
    ctx = PassContext()
    MessageExchange().run(model, ctx)
    assert [(d.code, d.message) for d in ctx.diagnostics] == [(code, words)]
    assert ctx.diagnostics[0].trace


def test_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "m.ir.json"
    path.write_text(collaboration(TAKER, GIVER, messages="pay money, ship goods").to_json())
    assert orgflowc("check", path).code == 0
    ran = orgflowc("check", "--messages", path)
    assert ran.code == 1
    assert "error OF321 [circular-wait]" in ran.out


ARGUED = {
    "rust/core__tests__resources__integration__pools-message-flows.bpmn":
        "messages that are left under way do not count there",
}  # fmt: skip


def test_published_verdicts(shared: Path) -> None:
    """fbpmn: `sound` means that every run ends, without tokens and messages left, and that no end
    event is reached twice; what it calls unsound for tokens alone is a fault of the control flow,
    which the other passes find. rust_bpmn_analyzer's rows are about tokens."""
    folder = shared / "data" / "soundness"
    registry = Registry(outside=False)
    judged = 0
    for row in csv.DictReader((folder / "verdicts.csv").open()):
        if not row["source"].startswith(("fbpmn", "asserted")):
            continue
        ctx = PassContext(registry=registry)
        model = load_model(str(folder / row["file"]), registry, ctx, from_="bpmn")
        assert model is not None
        found = analyse_collaboration(model, budget=6_000)
        for fault in found.faults:
            assert replays(model, fault.trace), row["file"]
        if row["sound"] == "True":
            told = found.verdict != "violated"
            assert told != (row["file"] in ARGUED), (row["file"], found.faults)
            judged += 1
        elif row["source"].startswith("fbpmn") and row["safe"] == "True":
            assert found.verdict == "violated", row["file"]
            judged += 1
        elif row["source"].startswith("fbpmn") and "msg-relaxed sound=False" in row["note"]:
            assert found.verdict != "proved", row["file"]
    assert judged == 39


def test_pmo(shared: Path) -> None:
    folder = shared / "data" / "pmo" / "bpmn"
    registry = Registry(outside=False)
    kinds = {}
    for path in sorted(folder.glob("*.bpmn")):
        model = load_model(str(path), registry, PassContext(registry=registry), from_="bpmn")
        assert model is not None
        found = analyse_collaboration(model)
        if found.verdict != "not applicable":
            kinds[path.stem] = {f.kind for f in found.faults}
    assert kinds["24"] == {"circular"}
    assert kinds["23"] == {"unsent"}
