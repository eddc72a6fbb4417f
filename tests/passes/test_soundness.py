"""The soundness analysis against an oracle that shares no code with it, and construct by construct.

`benchmarks/soundness_fuzz.py` does what the first test does on any number of processes.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

import pytest
from orgflow.passes.pipelines import CHECK
from seeds import at_least, seeds
from shared_data import shared_data
from soundness_fuzzing import compare, plays, replays
from soundness_oracle import Oracle
from soundness_random import process as random_process

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.flow.nets.escalations import LeavingEscalations
from orgflow_ir.flow.soundness import Analysis, Property, analyse
from orgflow_ir.flow.soundness.witness_search import Play
from orgflow_ir.flow.token_game.semantics import Game, Policy
from orgflow_ir.model import (
    CallActivity,
    Catalog,
    CatalogEntry,
    Event,
    EventDefinition,
    Expression,
    Flow,
    Gateway,
    Model,
    Node,
    Process,
    SubProcess,
    Task,
)
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext, PassManager
from orgflow_ir.plugins import Registry


def test_random_processes_agree_with_the_oracle() -> None:
    total: Counter[str] = Counter()
    for seed in seeds(300):
        wrong, like = compare(random_process(seed, 8, 40), 500)
        assert not wrong, f"seed {seed}: {wrong}"
        total.update(like)
    judged = total["judged"]
    assert judged >= at_least(180)
    assert total["unknown"] <= max(1, judged // 50)
    assert total["unsound"] > judged * 0.15
    assert total["irreducible cycle"] > total["processes"] * 0.15
    assert total["boundary event or sub-process"] > total["processes"] * 0.15
    assert total["inclusive join"] > total["processes"] * 0.15


def test_the_comparison_can_fail() -> None:
    """Of a process that is not the one the oracle is asked about, the two must differ."""
    sound = next(p for p in map(random_process, range(80)) if Oracle(p).verdict(500).sound)
    unsound = next(p for p in map(random_process, range(80)) if not Oracle(p).verdict(500).sound)
    assert analyse(sound).sound == "proved"
    assert analyse(unsound).sound == "violated"


def test_every_run_is_told_and_replays() -> None:
    told = 0
    for seed in seeds(60):
        process = random_process(seed, 6, 20)
        model = Model(id="m", processes=(process,))
        game = Game(model, Policy(once=True))
        for found in check(model):
            if "once the faults before it" in found.message or found.code not in FLOW:
                continue
            assert found.trace, f"seed {seed}: {found.message}"
            assert plays(game, process, found.trace), f"seed {seed}: {found.message}"
            told += 1
    assert told >= at_least(30)


FLOW = ("OF201", "OF202", "OF203", "OF204", "OF206")


def check(model: Model) -> list[Diagnostic]:
    ctx = PassContext()
    PassManager(CHECK).run(model, ctx)
    return ctx.diagnostics


# -- construct by construct -------------------------------------------------------------------


def event(id: str, position: str, *kinds: str, **more: object) -> Event:
    definitions = tuple(
        EventDefinition.validate({"kind": k, "ref": "E" if k == "escalation" else None})
        for k in kinds
    )
    return Event.validate({"id": id, "position": position, "definitions": definitions, **more})


def node(name: str) -> Node:
    """A node by its first letter: start, end, exclusive, and, or, event-based, task."""
    kinds = {"x": "exclusive", "a": "parallel", "o": "inclusive", "v": "event", "c": "complex"}
    if name[0] in kinds:
        return Gateway.validate({"id": name, "gateway_kind": kinds[name[0]]})
    if name[0] == "s":
        return event(name, "start")
    return event(name, "end") if name[0] == "e" else Task(id=name)


def flows(text: str, prefix: str = "f") -> Iterator[Flow]:
    for i, item in enumerate(text.split()):
        a, b = item.split("-")
        yield Flow(id=f"{prefix}{i}", source=a, target=b)


def build(text: str, *others: Node) -> Process:
    """A process from `a-b b-c`, with some of the nodes given."""
    known = {n.id: n for n in others}
    names = dict.fromkeys(n for item in text.split() for n in item.split("-"))
    nodes = [*(known.get(n) or node(n) for n in names), *(o for o in others if o.id not in names)]
    return Process(id="p", nodes=tuple(nodes), flows=tuple(flows(text)))


def inside(id: str, text: str, *others: Node, **more: object) -> SubProcess:
    scope = build(text, *others)
    ways = tuple(flows(text, f"{id}f"))
    return SubProcess.validate({"id": id, "nodes": scope.nodes, "flows": ways, **more})


def boundary(id: str, host: str, *kinds: str, interrupting: bool = True) -> Event:
    return event(id, "boundary", *kinds, attached_to=host, interrupting=interrupting)


def judged(process: Process, model: Model | None = None) -> tuple[Analysis, str]:
    found = analyse(process, model)
    if model is None:
        assert replays(process, found) == []
    letters = {"proved": "+", "violated": "-", "unknown": "?", "not applicable": "."}
    order = (Property.DEADLOCK, Property.DOUBLE, Property.UNBOUNDED, Property.LIVELOCK)
    order += (Property.DEAD, Property.IMPROPER, Property.STUCK)
    return found, "".join(letters[found[p].outcome] for p in order)


PAY = inside("Pay", "s1-x1 x1-t1 x1-e1 t1-err", event("err", "end", "error"))
FAILS = inside("Pay", "s1-t1 t1-err", event("err", "end", "error"))
HANGS = inside("Pay", "s1-x1 x1-t1 x1-t2 t1-a1 t2-a1 a1-e1")
ENDS = event("halt", "end", "terminate")

CASES: dict[str, tuple[Process, str]] = {
    # deadlock, lack of synchronisation, unbounded, livelock, dead, improper, no option
    "sound": (build("s-t1 t1-e"), "+++++++"),
    "exclusive into parallel": (build("s-x1 x1-t1 x1-t2 t1-a1 t2-a1 a1-e"), "-+++-+-"),
    "parallel into exclusive": (build("s-a1 a1-t1 a1-t2 t1-x1 t2-x1 x1-t3 t3-e"), "+-+++++"),
    "implicit join": (build("s-a1 a1-t1 a1-t2 t1-t3 t2-t3 t3-e"), "+-+++++"),
    "implicit fork": (build("s-t1 t1-t2 t1-t3 t2-a1 t3-a1 a1-e"), "+++++++"),
    "several none ends": (build("s-a1 a1-t1 a1-t2 t1-e1 t2-e2"), "+++++++"),
    "no exit": (build("s-x1 x1-e x1-t1 t1-x2 x2-t2 t2-x2"), "+++-++-"),
    "fork that never ends": (build("s-x1 x1-t1 t1-a1 a1-x1 a1-t2 t2-e"), ".--...."),
    "inclusive block": (build("s-o1 o1-t1 o1-t2 t1-o2 t2-o2 o2-e"), "+++++++"),
    "inclusive into parallel": (build("s-o1 o1-t1 o1-t2 t1-a2 t2-a2 a2-e"), "-"),
    "event-based": (build("s-v1 v1-t1 v1-t2 t1-x1 t2-x1 x1-e"), "+++++++"),
    "left behind": (build("s-a1 a1-e1 a1-x1 x1-t1 x1-t2 t1-a2 t2-a2 a2-e2"), "-+++---"),
    "terminate ends a wait": (
        build("s-a1 a1-t1 t1-halt a1-x1 x1-t2 x1-t3 t2-a2 t3-a2 a2-e2", ENDS),
        "++++",
    ),
    "first one wins": (build("s-a1 a1-t1 a1-t2 t1-x1 t2-x1 x1-halt", ENDS), "+++++++"),
    "two starts": (build("s1-t1 t1-a1 s2-t2 t2-a1 a1-e"), "-+++-+-"),
    "timer instead": (
        build("s-Wait Wait-x1 on-t2 t2-x1 x1-e", Task(id="Wait"), boundary("on", "Wait", "timer")),
        "+++++++",
    ),
    "timer into a parallel join": (
        build("s-Wait Wait-a1 on-t2 t2-a1 a1-e", Task(id="Wait"), boundary("on", "Wait", "timer")),
        "-+++-+-",
    ),
    "reminder": (
        build(
            "s-Wait Wait-e on-t2 t2-e2",
            Task(id="Wait"),
            boundary("on", "Wait", "timer", interrupting=False),
        ),
        "+++++++",
    ),
    "reminder into the work": (
        build(
            "s-Wait Wait-t3 on-t3 t3-e",
            Task(id="Wait"),
            boundary("on", "Wait", "timer", interrupting=False),
        ),
        "+-+++++",
    ),
    "error or not": (
        build("s-Pay Pay-x1 on-x1 x1-e", PAY, boundary("on", "Pay", "error")),
        "+++++++",
    ),
    "always an error": (
        build("s-Pay Pay-t9 t9-e on-e2", FAILS, boundary("on", "Pay", "error")),
        "++++-++",
    ),
    "an uncaught error": (build("s-Pay Pay-t9 t9-e", FAILS), "++++-++"),
    "an error nothing throws waits for nothing": (
        build("s-Pay Pay-e on-e2", HANGS, boundary("on", "Pay", "error")),
        "-+++-+-",
    ),
    "hangs inside": (build("s-Pay Pay-e", HANGS), "-+++-+-"),
    "hangs until a timer": (
        build("s-Pay Pay-e on-e2", HANGS, boundary("on", "Pay", "timer")),
        "++++-++",
    ),
    "multi-instance": (
        build(
            "s-Many Many-e",
            Task.validate({"id": "Many", "loop": {"kind": "multi-instance"}}),
        ),
        "+++++++",
    ),
    "transaction": (
        build(
            "s-Pay Pay-e on-e2",
            inside("Pay", "s1-x1 x1-e1 x1-no", event("no", "end", "cancel"), flavour="transaction"),
            boundary("on", "Pay", "cancel"),
        ),
        "+++++++",
    ),
    "ad-hoc": (
        build("s-Any Any-e", inside("Any", "t1-t2", Task(id="t3"), flavour="ad-hoc")),
        "+++++++",
    ),
    "entangled ad-hoc": (
        build("s-Any Any-e", inside("Any", "t1-a1 t2-a1 a1-t3", flavour="ad-hoc")),
        "???????",
    ),
    "event sub-process": (
        build(
            "s-t1 t1-e",
            inside("On", "s1-t9 t9-e9", event("s1", "start", "timer"), flavour="event"),
        ),
        "+++++++",
    ),
    "event sub-process that hangs": (
        build(
            "s-t1 t1-e",
            inside(
                "On",
                "s1-x1 x1-t8 x1-t9 t8-a1 t9-a1 a1-e9",
                event("s1", "start", "timer", interrupting=False),
                flavour="event",
            ),
        ),
        "-+++-+-",
    ),
    "complex join": (build("s-a1 a1-t1 a1-t2 t1-c1 t2-c1 c1-e"), "???????"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_construct(name: str) -> None:
    process, expected = CASES[name]
    found, letters = judged(process)
    assert letters.startswith(expected), (letters, found.faults, found.doubts)


def test_conditional_flows() -> None:
    """One condition and a default is a choice; conditions alone may be taken together."""
    one = build("s-t1 t1-t2 t1-t3 t2-x1 t3-x1 x1-t4 t4-e")
    when = Expression(text="c")
    choice = one.replace(
        flows=tuple(
            f.replace(condition=when) if f.target == "t2" else f.replace(default=f.target == "t3")
            for f in one.flows
        )
    )
    assert judged(choice)[1] == "+++++++"
    several = one.replace(
        flows=tuple(f.replace(condition=when) if f.target in ("t2", "t3") else f for f in one.flows)
    )
    assert analyse(several)[Property.DOUBLE].outcome == "violated"


def test_links_are_flows() -> None:
    def link(id: str, position: str) -> Event:
        return Event.validate(
            {"id": id, "position": position, "definitions": [{"kind": "link", "name": "L"}]}
        )

    joined = build("s-x1 x1-out in-a1 x1-a1 a1-e", link("out", "throw"), link("in", "catch"))
    assert analyse(joined)[Property.DEADLOCK].outcome == "violated"
    fine = build("s-x1 x1-out in-x2 x1-x2 x2-e", link("out", "throw"), link("in", "catch"))
    assert judged(fine)[1] == "+++++++"


def test_escalation_is_caught_or_not() -> None:
    body = inside("Pay", "s1-up up-e1", event("up", "throw", "escalation"))
    process = build(
        "s-Pay Pay-e on-t2 t2-e2", body, boundary("on", "Pay", "escalation", interrupting=False)
    )
    catalog = Catalog(escalations=(CatalogEntry(id="E", code="late"),))
    model = Model(id="m", processes=(process,), catalog=catalog)
    assert judged(process, model)[1] == "+++++++"


def test_called_process_throws() -> None:
    called = Process(id="q", nodes=FAILS.nodes, flows=FAILS.flows)
    call = CallActivity(id="Call", called="q")
    process = build("s-Call Call-t9 t9-e on-e2", call, boundary("on", "Call", "error"))
    model = Model(id="m", processes=(process, called))
    found = analyse(process, model)
    assert [f.element for f in found[Property.DEAD].faults] == ["t9", "e"]


def test_over_budget_is_unknown() -> None:
    process = build("s-x1 x1-t1 x1-t2 t1-x2 t2-x3 x2-a1 x2-a2 x3-a1 x3-a2 a1-t3 a2-t4 t3-e t4-e2")
    found = analyse(process, max_states=1)
    assert found[Property.LIVELOCK].outcome == "unknown"
    assert "states" in found[Property.LIVELOCK].reason


def test_a_process_without_steps_is_not_applicable() -> None:
    found = analyse(Process(id="p"))
    assert {v.outcome for v in found.verdicts.values()} == {"not applicable"}


def test_all_independent_faults_are_told() -> None:
    first = "s-a0 a0-x1 a0-a2 x1-t1 x1-t2 t1-a1 t2-a1 a1-e1"
    found = analyse(build(f"{first} a2-t3 a2-t4 t3-x2 t4-x2 x2-t5 t5-e2"))
    assert {(f.kind, f.element) for f in found.faults} == {("deadlock", "a1"), ("unsync", "x2")}
    assert all(f.trace for f in found.faults)


# -- real files -------------------------------------------------------------------------------


def test_no_file_is_too_odd() -> None:
    """A verdict for every process of every BPMN file there is, each violation with its run."""
    files = sorted([*shared_data().rglob("*.bpmn"), *shared_data().rglob("*.bpmn20.xml")])
    assert len(files) > 400
    frontend = Registry(outside=False).frontends["bpmn"]
    outcomes: Counter[str] = Counter()
    for path in files:
        if path.stat().st_size > 300_000:
            continue
        model = frontend.parse(SourceFile(path.name, path.read_bytes()), PassContext())
        for process in model.processes if model is not None else ():
            found = analyse(process, model)
            outcomes[found.sound] += 1
            assert all(f.trace for f in found.faults), path.name
    assert outcomes["unknown"] <= sum(outcomes.values()) // 100


# -- work ----------------------------------------------------------------------------------------


def doubled(arrows: int) -> Process:
    """A row of tasks, each with two arrows to the next one."""
    tasks = [Task(id=f"t{n}") for n in range(arrows + 1)]
    pairs = [(f"t{n}", f"t{n + 1}") for n in range(arrows) for _ in "ab"]
    ways = (("s", "t0"), *pairs, (f"t{arrows}", "e"))
    nodes = (Event(id="s", position="start"), *tasks, Event(id="e", position="end"))
    flows = tuple(Flow(id=f"f{n}", source=a, target=b) for n, (a, b) in enumerate(ways))
    return Process(id="p", nodes=nodes, flows=flows)


def test_a_step_of_a_run_costs_the_same_however_many_tokens_lie_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The tokens that a run leaves behind are not looked at again in each of its steps."""
    work: Counter[str] = Counter()

    def counted(name: str) -> None:
        played = getattr(Play, name)

        def count(self: Play, *args: object) -> object:
            work[name] += 1
            return played(self, *args)

        monkeypatch.setattr(Play, name, count)

    counted("enabled")
    counted("fire")
    ratios = []
    for arrows in (10, 40):
        work.clear()
        process = doubled(arrows)
        found = analyse(process, Model(id="m", processes=(process,)))
        assert len([f for f in found.faults if f.kind == "unsync"]) == arrows
        assert work["fire"] > arrows
        ratios.append(work["enabled"] / work["fire"])
    assert max(ratios) < 2, ratios


def test_a_process_that_is_called_in_many_places_is_looked_at_once() -> None:
    """Each process calls the next one twice: a search of every way to the last one has no end."""
    depth = 60
    catalog = Catalog(escalations=(CatalogEntry(id="late", name="Late", code="L"),))
    processes = []
    for level in range(depth):
        last = level == depth - 1
        late = EventDefinition(kind="escalation", ref="late")
        steps: list[Node] = [Event(id=f"s{level}", position="start")]
        if last:
            steps.append(Event(id="throw", position="throw", definitions=(late,)))
        else:
            steps += [CallActivity(id=f"c{level}{i}", called=f"p{level + 1}") for i in (0, 1)]
        steps.append(Event(id=f"e{level}", position="end"))
        flows = tuple(
            Flow(id=f"f{level}{i}", source=a.id, target=b.id)
            for i, (a, b) in enumerate(itertools.pairwise(steps))
        )
        processes.append(Process(id=f"p{level}", nodes=tuple(steps), flows=flows))
    model = Model(id="m", processes=tuple(processes), catalog=catalog)
    analysis = analyse(processes[0], model)
    assert {v.outcome for v in analysis.verdicts.values()} == {"proved"}
    leaving = LeavingEscalations(model).of(processes[0])
    # Through each of both calls, two ways: the escalation occurs several times.
    assert [w.way[0].node.id for w in leaving] == ["c00", "c00", "c01", "c01"]
    assert {w.event.id for w in leaving} == {"throw"}
    assert all(len(w.way) == depth for w in leaving)
