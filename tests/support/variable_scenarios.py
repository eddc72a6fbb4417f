"""Models whose branches depend on process variables, with what their tasks set, visit by visit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orgflow.frontends.bpmn.frontend import BpmnFrontend
from text_model import model

from orgflow_ir.model import Event, Model, SubProcess
from orgflow_ir.model.elements import EventDefinition
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext

FOLDER = Path(__file__).resolve().parents[1] / "backends" / "n8n" / "variables"


@dataclass(frozen=True)
class Scenario:
    """A model, and an instance of it.

    Attributes:
        sets: what each visit of a task sets; later visits set nothing.
        start: what the instance is started with.
        last: the task that has to be visited last of those named, whatever an oracle says.
        differ: parallel branches leave different values, so that the run has to stop and say so.
        errors: the error with which a visit of a task fails, by task and visit.
    """

    name: str
    model: Model
    sets: Mapping[str, Sequence[Mapping[str, Any]]]
    start: Mapping[str, Any] = field(default_factory=dict)
    last: str = ""
    differ: str = ""
    errors: Mapping[tuple[str, int], str] = field(default_factory=dict)


def _file(name: str) -> Model:
    source = SourceFile(name, (FOLDER / name).read_bytes())
    found = BpmnFrontend().parse(source, PassContext())
    assert found is not None
    return found


def _by_message(made: Model) -> Model:
    """The same model, started by a message."""
    process = made.processes[0]
    nodes = tuple(
        n.replace(definitions=(EventDefinition(kind="message"),))
        if isinstance(n, Event) and n.position == "start"
        else n
        for n in process.nodes
    )
    return made.replace(processes=(process.replace(nodes=nodes),))


NESTED = """
start -> outer
outer -> plan
plan -> inner
inner -> work
work -> g1
g1 -> inner: again
g1 -> review: good
review -> g2
g2 -> outer: reject
g2 -> ship: accept
ship -> end
"""
AND_LOOP_AND = """
start -> enter
enter -> split1
split1 -> loop
split1 -> log
loop -> split2
split2 -> a
split2 -> b
a -> join2
b -> join2
join2 -> g
g -> loop: again
g -> close: done
close -> join1
log -> join1
join1 -> h
h -> yes: ok
h -> no: not ok
yes -> end1
no -> end2
"""
INCLUSIVE = """
start -> enter
enter -> split
split -> a: paper
split -> b: mail
a -> join
b -> join
join -> c
c -> g
g -> yes: ok
g -> no: not ok
yes -> end1
no -> end2
"""
INCLUSIVE_LOOP = """
start -> loop
loop -> enter
enter -> split
split -> a: paper
split -> b: mail
a -> join
b -> join
join -> c
c -> g
g -> loop: again
g -> h: done
h -> yes: ok
h -> no: not ok
yes -> end1
no -> end2
"""
PARALLEL = """
start -> enter
enter -> split
split -> a
split -> b
a -> join
b -> join
join -> c
c -> g
g -> yes: ok
g -> no: not ok
yes -> end1
no -> end2
"""
LOOP = """
start -> loop
loop -> work
work -> note
note -> g
g -> loop: again
g -> done: good
done -> end
"""
THREE = """
start -> enter
enter -> g0
g0 -> a: big
g0 -> d: small
a -> b
b -> c
c -> j
d -> j
j -> e
e -> g
g -> yes: ok
g -> no: not ok
yes -> end1
no -> end2
"""
MESSAGE = """
start -> g
g -> big: big
g -> small: small
big -> j
small -> j
j -> h
h -> yes: ok
h -> no: not ok
yes -> end1
no -> end2
"""
VALUES = """
start -> enter
enter -> book
book -> g
g -> yes: ok
g -> no: not ok
yes -> end1
no -> end2
"""
VISIBLE = """
start -> enter
enter -> split
split -> a
split -> wait
a -> join
wait -> g
g -> yes: ok
g -> no: not ok
yes -> x
no -> x
x -> join
join -> last
last -> end
"""
BRIDGE = """
start -> s1
s1 -> a
s1 -> b
a -> s2
s2 -> c
s2 -> j2
b -> j2
c -> j1
j2 -> d
d -> j1
j1 -> g
g -> yes: ok
g -> no: not ok
yes -> end1
no -> end2
"""

WAITS = """
start -> enter
enter -> split
split -> a
split -> c
a -> wait1
wait1 -> inner
inner -> b1: big
inner -> b2: small
b1 -> meet
b2 -> meet
meet -> join
c -> wait2
wait2 -> d
d -> join
join -> g
g -> yes: ok
g -> no: not ok
yes -> end1
no -> end2
"""
SUB = """
start -> enter
enter -> sub
sub -> g
g -> yes: ok
g -> no: not ok
yes -> end1
no -> end2
"""
INSIDE = """
start -> work
work -> inner
inner -> b1: big
inner -> b2: small
b1 -> end1
b2 -> end2
"""

OK = {"ok": "${ok}", "not ok": "${!ok}"}
AGAIN = {"again": "${state == 'again'}", "good": "${state != 'again'}"}


def scenarios() -> list[Scenario]:
    """All of them."""
    return [*_files(), *_texts(), *_calls(), *_values()]


def _files() -> list[Scenario]:
    return [
        Scenario("c1", _file("c1.bpmn"), {"A": [{"ok": True}]}, last="C"),
        Scenario("c1 second", _file("c1.bpmn"), {"A": [{"ok": False}], "B": [{}, {"ok": True}]}),
        Scenario("c1 never", _file("c1.bpmn"), {}),
        Scenario(
            "c2", _file("c2.bpmn"),
            {"A": [{"amount": 100, "amend": True}], "B": [{"amount": 5000}]}, last="C",
        ),
        Scenario("c2 kept", _file("c2.bpmn"), {"A": [{"amount": 100, "amend": False}]}, last="D"),
        Scenario("c3", _file("c3.bpmn"), {"A": [{"approved": True}]}, {"amount": 5}, last="C"),
        Scenario(
            "c3 big", _file("c3.bpmn"), {"B": [{"approved": True}]}, {"amount": 500}, last="C",
        ),
        Scenario(
            "c4", _file("c4.bpmn"), {"A": [{"creditOk": True}], "B": [{"addressOk": True}]},
            last="C",
        ),
        Scenario("c4 one", _file("c4.bpmn"), {"A": [{"creditOk": False}]}, last="D"),
        Scenario("c5", _file("c5.bpmn"), {"A": [{"approved": True}]}, last="Y"),
        Scenario(
            "c6", _file("c6.bpmn"), {"A": [{"approved": False}], "B1": [{"approved": True}]},
            last="Y",
        ),
        Scenario(
            "c6 other", _file("c6.bpmn"), {"A": [{"approved": True}], "B2": [{"approved": False}]},
            last="N",
        ),
    ]  # fmt: skip


def _texts() -> list[Scenario]:
    exclusive = {"outer": "exclusive", "inner": "exclusive", "g1": "exclusive", "g2": "exclusive"}
    nested = {
        "again": "${state == 'again'}", "good": "${state == 'good'}",
        "reject": "${verdict == 'no'}", "accept": "${verdict == 'yes'}",
    }  # fmt: skip
    blocks = {
        "split1": "parallel", "split2": "parallel", "join1": "parallel", "join2": "parallel",
        "loop": "exclusive", "g": "exclusive More?", "h": "exclusive Right?",
    }  # fmt: skip
    more = {"again": "${more}", "done": "${!more}", **OK}
    either = {"split": "inclusive", "join": "inclusive", "g": "exclusive Right?"}
    loops = {**either, "loop": "exclusive", "g": "exclusive More?", "h": "exclusive Right?"}
    ways = {"paper": "${paper}", "mail": "${mail}", **OK}
    both = {"split": "parallel", "join": "parallel", "g": "exclusive Right?"}
    three = {"g0": "exclusive", "j": "exclusive", "g": "exclusive"}
    sizes = {"big": "${amount > 10}", "small": "${amount <= 10}", **OK}
    once = {"loop": "exclusive", "g": "exclusive State?"}
    again = {"state": "again"}
    made = model(LOOP, once, AGAIN)
    return [
        Scenario(
            "nested loops", model(NESTED, exclusive, nested),
            {
                "work": [again, {"state": "good"}, {"state": "good"}],
                "review": [{"verdict": "no"}, {"verdict": "yes"}],
            },
            last="ship",
        ),
        Scenario(
            "and in a loop in and", model(AND_LOOP_AND, blocks, more),
            {
                "enter": [{"ok": False}], "a": [{"more": True}, {"more": True}, {"more": False}],
                "b": [{}, {"ok": True}],
            },
            last="yes",
        ),
        Scenario(
            "and in a loop in and, outside", model(AND_LOOP_AND, blocks, more),
            {
                "enter": [{"ok": False}], "a": [{"more": True}, {"more": False}],
                "log": [{"ok": True}],
            },
            last="yes",
        ),
        *(
            Scenario(
                f"inclusive {paper} {mail}", model(INCLUSIVE, either, ways),
                {
                    "enter": [{"paper": paper, "mail": mail, "ok": False}],
                    ("a" if paper else "b"): [{"ok": True}],
                },
                last="yes",
            )
            for paper, mail in ((True, False), (False, True), (True, True))
        ),
        Scenario(
            "inclusive loop", model(INCLUSIVE_LOOP, loops, {**ways, **more}),
            {
                "enter": [
                    {"paper": True, "mail": True, "ok": False}, {"mail": False}, {"mail": True},
                ],
                "a": [{"ok": True}, {}, {}],
                "b": [{}, {}],
                "c": [{"more": True}, {"more": True, "ok": False}, {"more": False}],
            },
            last="no",
        ),
        Scenario(
            "parallel equal", model(PARALLEL, both, OK),
            {"enter": [{"ok": False}], "a": [{"ok": True}], "b": [{"ok": True}]}, last="yes",
        ),
        Scenario(
            "parallel different", model(PARALLEL, both, OK),
            {"a": [{"ok": True}], "b": [{"ok": False}]}, differ="ok",
        ),
        Scenario(
            "loop of 100", made, {"work": [again] * 99 + [{"state": "good"}]}, last="done"
        ),
        Scenario(
            "three replacing", model(THREE, three, sizes),
            {"enter": [{"amount": 50, "ok": False}], "b": [{"ok": True}]}, last="yes",
        ),
        Scenario(
            "three small", model(THREE, three, sizes), {"enter": [{"amount": 5, "ok": True}]},
            last="yes",
        ),
        Scenario(
            "message", _by_message(model(MESSAGE, {"g": "exclusive", "j": "exclusive",
            "h": "exclusive"}, sizes)),
            {"big": [{"ok": True}]}, {"amount": 100, "ok": False}, last="yes",
        ),
        Scenario(
            "message kept", _by_message(model(MESSAGE, {"g": "exclusive", "j": "exclusive",
            "h": "exclusive"}, sizes)),
            {}, {"amount": 1, "ok": False}, last="no",
        ),
        Scenario(
            "loop by message", _by_message(made), {"work": [{}, {"state": "good"}]},
            {"state": "again"}, last="done",
        ),
        Scenario(
            "visible", model(VISIBLE, both, OK), {"enter": [{"ok": False}], "a": [{"ok": True}]},
        ),
        *(
            Scenario(
                f"bridge {setter}",
                model(BRIDGE, {"s1": "parallel", "s2": "parallel", "j1": "parallel",
                               "j2": "parallel", "g": "exclusive"}, OK),
                {setter: [{"ok": True}]}, {"ok": False}, last="yes",
            )
            for setter in ("a", "b", "c", "d")
        ),
    ]  # fmt: skip


def _waiting(made: Model) -> Model:
    """The same model with messages to wait for in place of the tasks `wait1` and `wait2`."""
    process = made.processes[0]
    nodes = tuple(
        Event(
            id=n.id, name=n.name, position="catch",
            definitions=(EventDefinition(kind="message"),),
        )
        if n.id in ("wait1", "wait2")
        else n
        for n in process.nodes
    )  # fmt: skip
    return made.replace(processes=(process.replace(nodes=nodes),))


def _nested(outer: Model, inner: Model) -> Model:
    """The outer model with the inner one in place of its task `sub`."""
    process, inside = outer.processes[0], inner.processes[0]
    renamed = tuple(n.replace(id=f"i_{n.id}") if isinstance(n, Event) else n for n in inside.nodes)
    flows = tuple(
        f.replace(
            id=f"i_{f.id}",
            source=f"i_{f.source}" if f.source == "start" else f.source,
            target=f"i_{f.target}" if f.target.startswith("end") else f.target,
        )
        for f in inside.flows
    )
    body = SubProcess(id="sub", name="Details", nodes=renamed, flows=flows)
    nodes = tuple(body if n.id == "sub" else n for n in process.nodes)
    return outer.replace(processes=(process.replace(nodes=nodes),))


def _calls() -> list[Scenario]:
    """Message waits in parallel branches, and a sub-process, which n8n runs as a call of another
    workflow: variables go in and come out."""
    both = {
        "split": "parallel", "join": "parallel", "inner": "exclusive Large?", "meet": "exclusive",
        "g": "exclusive Right?",
    }  # fmt: skip
    sizes = {"big": "${amount > 10}", "small": "${amount <= 10}", **OK}
    waits = _waiting(model(WAITS, both, sizes))
    inside = model(INSIDE, {"inner": "exclusive Large?"}, sizes)
    nested = _nested(model(SUB, {"g": "exclusive Right?"}, OK), inside)
    given = {"enter": [{"amount": 50, "ok": False}]}
    return [
        Scenario("waits, read inside", waits, given, last="no"),
        Scenario("waits, set inside", waits, {**given, "b1": [{"ok": True}]}, last="yes"),
        Scenario("waits, set and read inside", waits, {**given, "a": [{"amount": 5}]}, last="no"),
        Scenario(
            "waits, set in the other branch", waits, {**given, "d": [{"ok": True}]}, last="yes"
        ),
        Scenario("waits, never set", waits, {"enter": [{"ok": True}]}),
        Scenario("call, read inside", nested, given, last="no"),
        Scenario("call, set inside", nested, {**given, "b1": [{"ok": True}]}, last="yes"),
        Scenario(
            "call, set and read inside", nested, {**given, "work": [{"amount": 5}]}, last="no"
        ),
    ]


def _values() -> list[Scenario]:
    made = []
    gateways = {"g": "exclusive"}
    for name, value, condition, holds in (
        ("zero", 0, "${v == 0}", True),
        ("empty text", "", "${v == ''}", True),
        ("false", False, "${v == false}", True),
        ("null", None, "${v == null}", True),
        ("unset is null", ..., "${v == null}", True),
        ("empty", ..., "${empty v}", True),
        ("list", [1, 2], "${empty v}", False),
        ("empty list", [], "${empty v}", True),
        ("object", {"total": 7, "lines": [{"n": 1}]}, "${v.total > 5}", True),
        ("quotes", 'it\'s {{ }} "x"', "${v != 'y'}", True),
        ("number", 1.5, "${v > 1 && v < 2}", True),
    ):
        no = f"${{!({condition[2:-1]})}}"
        sets = {} if value is ... else {"enter": [{"v": value}]}
        made.append(
            Scenario(
                f"value {name}", model(VALUES, gateways, {"ok": condition, "not ok": no}), sets,
                last="yes" if holds else "no",
            )
        )  # fmt: skip
    return made
