"""What is advised about a fault is true of the run that shows it, and does not add to it."""

from __future__ import annotations

import itertools
import re

import pytest
from orgflow.passes.pipelines import CHECK
from soundness_random import process
from text_model import model

from orgflow_ir.diagnostics import Diagnostic, Severity, apply
from orgflow_ir.model import Event, EventDefinition, Flow, Gateway, Model, Process, SubProcess, Task
from orgflow_ir.pipeline import PassContext, PassManager


def check(of: Model) -> list[Diagnostic]:
    ctx = PassContext(source=of)
    PassManager(CHECK).run(of, ctx)
    return [d for d in ctx.diagnostics if d.severity is not Severity.INFO]


# -- an event-based gateway without ways out ------------------------------------------------------


@pytest.mark.parametrize("task", ["", "a -> g\n"])
def test_an_event_gateway_without_ways_out_is_one_finding(task: str) -> None:
    before = "a" if task else "g"
    (found,) = check(model(f"start -> {before}\n{task}".strip(), {"g": "event Which?"}))
    assert (found.code, found.severity) == ("OF110", Severity.ERROR)
    assert "waits there indefinitely" in found.message


# -- starts and ends ------------------------------------------------------------------------------


def scope(*nodes: str, sub: bool) -> Model:
    """Steps in a row; `start` and `end` are events."""
    made = [
        Event(id=n, position="start" if n == "start" else "end") if n in ("start", "end")
        else Task(id=n, name=n)
        for n in nodes
    ]  # fmt: skip
    flows = tuple(Flow(id=f"f{a}", source=a, target=b) for a, b in itertools.pairwise(nodes))
    if not sub:
        return Model(id="m", processes=(Process(id="P", nodes=tuple(made), flows=flows),))
    inner = SubProcess(id="sub", name="Sub", nodes=tuple(made), flows=flows)
    outer = Process(
        id="P",
        nodes=(Event(id="s", position="start"), inner, Event(id="e", position="end")),
        flows=(Flow(id="f1", source="s", target="sub"), Flow(id="f2", source="sub", target="e")),
    )
    return Model(id="m", processes=(outer,))


@pytest.mark.parametrize("sub", [False, True])
@pytest.mark.parametrize(
    ("nodes", "code"),
    [(("start", "a"), "OF128"), (("a", "end"), "OF108"), (("start", "a", "end"), "")],
)
def test_where_there_is_a_start_there_is_an_end(
    nodes: tuple[str, ...], code: str, sub: bool
) -> None:
    found = [d for d in check(scope(*nodes, sub=sub)) if d.code in ("OF108", "OF128")]
    assert [(d.code, d.severity) for d in found] == ([(code, Severity.WARNING)] if code else [])


@pytest.mark.parametrize("sub", [False, True])
def test_neither_start_nor_end_is_allowed(sub: bool) -> None:
    assert not check(scope("a", "b", sub=sub))


# -- work done twice ------------------------------------------------------------------------------


def twice(end: Event) -> Model:
    found = model(
        "start -> p\np -> a\np -> b\na -> x\nb -> x\nx -> end", {"p": "parallel", "x": "exclusive"}
    )
    (of,) = found.processes
    nodes = tuple(end if n.id == "end" else n for n in of.nodes)
    return found.replace(processes=(of.replace(nodes=nodes),))


def test_a_plain_end_that_comes_twice_is_a_warning() -> None:
    (found,) = check(twice(Event(id="end", position="end")))
    assert (found.code, found.severity) == ("OF203", Severity.WARNING)


def test_an_end_that_does_something_twice_is_an_error() -> None:
    sends = Event(id="end", position="end", definitions=(EventDefinition(kind="message"),))
    (found,) = check(twice(sends))
    assert (found.code, found.severity) == ("OF203", Severity.ERROR)


def racing(kind: str | None, second: str) -> Model:
    """A message and a second event after a task or gateway, and what both lead to."""
    message, later = EventDefinition(kind="message"), EventDefinition(kind=second)
    nodes = [
        Event(id="start", position="start"),
        Task(id="t", name="Request payment"),
        Event(id="m", name="Paid", position="catch", definitions=(message,)),
        Event(id="d", name="Late", position="catch", definitions=(later,)),
        Task(id="c", name="Close case"),
        Event(id="end", position="end"),
    ]
    ways = [("start", "t"), ("m", "c"), ("d", "c"), ("c", "end")]
    if kind is None:
        ways += [("t", "m"), ("t", "d")]
    else:
        nodes.append(Gateway.validate({"id": "g", "gateway_kind": kind}))
        ways += [("t", "g"), ("g", "m"), ("g", "d")]
    flows = tuple(Flow(id=f"f{i}", source=a, target=b) for i, (a, b) in enumerate(ways))
    return Model(id="m", processes=(Process(id="P", nodes=tuple(nodes), flows=flows),))


@pytest.mark.parametrize("kind", [None, "parallel"])
def test_events_that_race_get_an_event_based_gateway(kind: str | None) -> None:
    of = racing(kind, "timer")
    (found,) = [d for d in check(of) if d.code == "OF203"]
    assert found.fix is not None
    assert found.fix.applicability == "unsafe"
    help = found.help or ""
    assert "event-based gateway" in help
    assert "parallel gateway before `Close case`" not in help
    fixed = apply(of, found.fix)
    assert not [d for d in check(fixed) if d.code in ("OF203", "OF115", "OF201")]


def test_two_messages_need_not_race() -> None:
    (found,) = [d for d in check(racing(None, "message")) if d.code == "OF203"]
    assert "parallel gateway" in (found.help or "")


def test_what_leads_to_a_place_in_one_run_is_in_the_run() -> None:
    named = 0
    for seed in range(400):
        of = Model(id="m", processes=(process(seed, 6, 18),))
        for found in check(of):
            told = re.search(r"in one run (.*?) (?:both|all) lead to ", found.message)
            besides = "does not interrupt" in found.message  # they lead there in several steps
            if found.code != "OF203" or told is None or not found.trace or besides:
                continue
            named += 1
            home = next(s for s in of.scopes() if any(n.id == found.element for n in s.nodes))
            labels = {n.label: n.id for n in home.nodes}
            came = {f for s in found.trace for f in s.taken}
            into = {f.source for f in home.flows if f.target == found.element and f.id in came}
            for name in re.findall("(?:^|, | and )`([^`]+)`(?=$|, | and )", told[1]):
                assert name not in labels or labels[name] in into, (seed, found.message)
    assert named > 10


def test_a_parallel_gateway_that_joins_and_splits_gets_a_join_before_it() -> None:
    """What splits behind it stays as it is."""
    nodes = [
        Event(id="s", position="start"), Gateway(id="x", gateway_kind="exclusive"),
        Task(id="a", name="Pack"), Task(id="b", name="Reorder"),
        Gateway(id="j", gateway_kind="parallel"), Task(id="c", name="Ship"),
        Task(id="d", name="Bill"), Event(id="e", position="end"),
    ]  # fmt: skip
    pairs = ["sx", "xa", "xb", "aj", "bj", "jc", "jd", "ce", "de"]
    flows = tuple(Flow(id=pair, source=pair[0], target=pair[1]) for pair in pairs)
    model = Model(id="m", processes=(Process(id="p", nodes=tuple(nodes), flows=flows),))
    (found,) = [d for d in check(model) if d.code == "OF201"]
    assert found.fix is not None
    assert found.fix.applicability == "safe"
    assert found.fix.title.startswith("join the branches with an exclusive gateway before ")
    fixed = apply(model, found.fix)
    assert not [d for d in check(fixed) if d.code.startswith("OF2")]
    (process,) = fixed.processes
    (gateway,) = [n for n in process.nodes if n.id == "j"]
    assert isinstance(gateway, Gateway)
    assert gateway.gateway_kind == "parallel"
    assert {f.target for f in process.flows if f.source == "j"} == {"c", "d"}
