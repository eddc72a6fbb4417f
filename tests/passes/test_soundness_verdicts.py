"""The published and generated verdicts of ../shared/data/soundness, agreed with or argued.

Rows of fbpmn's model checker are about whole collaborations with messages over an unordered
network; what is checked here is each process by itself with messages that always arrive, so they
are not compared. `proper completion` there means that an end event is come to once only.
"""

from __future__ import annotations

import csv
from functools import cache

import pytest
from orgflow.passes.pipelines import CHECK
from shared_data import shared_data

from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext, PassManager
from orgflow_ir.plugins import Registry

DATA = shared_data("soundness")

ENDS = (
    "two parallel branches come to one none end event: BPMN ends each token there and nothing is "
    "done twice (2.0.2, 10.5.3); the row asks for an end event that is come to once"
)
ARGUED = {
    ("proper_completion__no-proper-completion-1.bpmn", "*"): ENDS,
    ("proper_completion__no-proper-completion-2.bpmn", "*"): ENDS,
    ("semantics__end.bpmn", "process"): ENDS,
    ("e042MBE.bpmn", "Pid"): ENDS,
    ("semantics__link_event.bpmn", "p1_process"): "the links do not match (OF118): the row lets "
    "the throwing one end its branch",
    ("e017OnlineOrdering.bpmn", "Process_"): "the row lets the default of an inclusive gateway be "
    "taken beside other ways; it is taken only where no condition holds (2.0.2, 13.4.3)",
    ("e022MBE.bpmn", "P_"): "the row lets the inclusive join go on while its sub-process, which "
    "must still come to it, is active, because that could also raise the "
    "other event again; here a non-interrupting event fires once and is "
    "no excuse not to wait",
    ("e034SP.bpmn", "P_"): "two start events in a sub-process: the row fires both, here each is a "
    "scenario of its own",
}


def argued(row: dict[str, str]) -> str | None:
    return next(
        (
            reason
            for (name, process), reason in ARGUED.items()
            if row["file"].endswith(name) and process in ("*", row["process"])
        ),
        None,
    )


@cache
def model_of(file: str) -> Model:
    path = DATA / file
    source = SourceFile(path.name, path.read_bytes())
    model = Registry(outside=False).frontends["bpmn"].parse(source, PassContext())
    assert model is not None
    return model


def codes(row: dict[str, str]) -> set[str]:
    model = model_of(row["file"])
    if row["process"]:
        kept = tuple(p for p in model.processes if p.id == row["process"])
        model = model.replace(processes=kept, pools=(), message_flows=())
    ctx = PassContext()
    PassManager(CHECK).run(model, ctx)
    found = {d.code for d in ctx.diagnostics}
    doubled = any(d.code == "OF131" and d.severity == "error" for d in ctx.diagnostics)
    # Unbounded is unsafe all the more; what a flow that is drawn twice does, one finding says.
    return found | {"OF203"} if "OF206" in found or doubled else found


def differences(row: dict[str, str]) -> list[str]:
    found = codes(row)
    wrong = []
    for column, bad, code in (
        ("safe", "False", "OF203"),
        ("deadlock_free", "False", "OF201"),
        ("livelock", "True", "OF202"),
    ):
        if row[column] and (row[column] == bad) != (code in found):
            wrong.append(f"{column}={row[column]}, {sorted(found)}")
    faults = {"OF201", "OF202", "OF203", "OF204"}
    if "dead" in row["violated"]:
        faults.add("OF111")
    if row["sound"] and (row["sound"] == "False") != bool(found & faults):
        wrong.append(f"sound={row['sound']}, {sorted(found)}")
    return wrong


def test_rows_are_agreed_with_or_argued() -> None:
    with (DATA / "verdicts.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if not row["source"].startswith("fbpmn")]
    assert len(rows) > 250
    unargued = []
    used = set()
    for row in rows:
        wrong = differences(row)
        reason = argued(row)
        if wrong and reason is None:
            unargued.append((row["file"], row["process"], wrong))
        elif wrong:
            used.add(reason)
    assert unargued == []
    assert used == set(ARGUED.values()), "a reason that is not needed any more"


PROBE = {
    "boundary_deadlock": {"OF201"},  # the normal way or the timer's comes to the join, never both
    "ebg_nested_defs": set(),  # one event wins, an exclusive gateway joins
    "livelock_partly": {"OF202"},  # the way into m <-> t has no way out
    "livelock_xor_cycle_no_exit": {"OF202", "OF111"},  # nothing leads to the end
    "msg_catch_no_flow": set(),  # messages arrive
    "self_closing_events": set(),
    "self_closing_gateway": set(),  # one way in, one way out
    "subprocess_inner_deadlock": {"OF201"},  # the body is a scope of its own
    "subprocess_sound": set(),
    "task_no_outgoing": set(),  # an implicit end
    "task_two_out_xor_merge": {"OF203"},  # an implicit fork into an implicit join
    "timer_catch_nested": set(),  # timers arrive
    "timer_catch_selfclosing": set(),
    "timer_start_only": set(),
    "two_starts_and_join": {"OF201"},  # each start is its own scenario: the other never comes
    "two_starts_xor_merge": set(),  # … and here need not come
}
"""The micro-cases, which come without verdicts, worked out by hand."""


@pytest.mark.parametrize("name", sorted(PROBE))
def test_probe(name: str) -> None:
    found = codes({"file": f"probe/{name}.bpmn", "process": ""})
    assert found - {"OF108", "OF128"} == PROBE[name]  # what is merely bad form aside


def test_every_probe_is_judged() -> None:
    assert {p.stem for p in (DATA / "probe").glob("*.bpmn")} == set(PROBE)
