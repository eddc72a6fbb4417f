"""Processes with sub-processes of many kinds, by name; and random ones."""

from __future__ import annotations

from collections.abc import Sequence

from model_gen import random_model
from n8n_scopes import flows

from orgflow_ir.model import (
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

CATALOG = Catalog(
    errors=(
        CatalogEntry(id="er", name="Out of stock", code="OOS"),
        CatalogEntry(id="other", name="Other", code="X"),
    ),
    escalations=(
        CatalogEntry(id="es", name="Late", code="L"),
        CatalogEntry(id="later", name="Later", code="M"),
    ),
)


def definition(kind: str, ref: str | None = None) -> tuple[EventDefinition, ...]:
    return (EventDefinition.validate({"kind": kind, "ref": ref}),)


ERROR, ANY_ERROR, OTHER = definition("error", "er"), definition("error"), definition("error", "x")
LATE, LATER = definition("escalation", "es"), definition("escalation", "later")
TERMINATE = definition("terminate")


def task(id: str) -> Task:
    return Task(id=id, name=id.upper())


def start(id: str, name: str = "") -> Event:
    return Event(id=id, name=name, position="start")


def end(id: str, name: str = "", definitions: tuple[EventDefinition, ...] = ()) -> Event:
    return Event(id=id, name=name, position="end", definitions=definitions)


def throw(id: str, definitions: tuple[EventDefinition, ...], name: str = "") -> Event:
    return Event(id=id, name=name, position="throw", definitions=definitions)


def boundary(
    definitions: tuple[EventDefinition, ...], *, interrupting: bool = True, at: str = "sub"
) -> Event:
    return Event(
        id="bd",
        position="boundary",
        attached_to=at,
        definitions=definitions,
        interrupting=interrupting,
    )


def split(id: str, kind: str, name: str = "") -> Gateway:
    return Gateway.validate({"id": id, "gateway_kind": kind, "name": name})


def process(nodes: Sequence[Node], *wires: str) -> Model:
    return Model(
        id="m",
        catalog=CATALOG,
        processes=(Process(id="p", name="P", nodes=tuple(nodes), flows=flows("o", *wires)),),
    )


def sub(nodes: Sequence[Node], *wires: str, id: str = "sub") -> SubProcess:
    return SubProcess(id=id, name=f"Part {id}", nodes=tuple(nodes), flows=flows(id, *wires))


def within(inner: SubProcess, *events: Event) -> Model:
    """A process with a sub-process between two tasks, and another way out where `bd` is on it."""
    nodes = [start("st"), task("a"), inner, task("b"), end("e1", "Done"), *events]
    wires = ["st>a", "a>sub", "sub>b", "b>e1"]
    if events:
        nodes += [task("c"), end("e2", "Failed")]
        wires += ["bd>c", "c>e2"]
    return process(nodes, *wires)


def either(last: Node, *more: Node, extra: Sequence[str] = ()) -> SubProcess:
    """A step, then a choice: another step and the end, or `last`."""
    nodes = [start("is"), task("x"), split("g", "exclusive", "OK?"), task("y"), end("ie")]
    return sub([*nodes, last, *more], "is>x", "x>g", "g>y:yes", f"g>{last.id}:no", "y>ie", *extra)


def both(*ends: Node, kind: str = "parallel") -> SubProcess:
    """Two steps beside each other, each with an end, or with the same one."""
    nodes = [start("is"), split("g", kind, "Which?"), task("x"), task("y"), *ends]
    return sub(nodes, "is>g", "g>x:one", "g>y:two", f"x>{ends[0].id}", f"y>{ends[-1].id}")


def again(inner: SubProcess) -> Model:
    """A process that may do its sub-process several times."""
    nodes = [start("st"), split("lp", "exclusive"), inner, task("z")]
    nodes += [split("ag", "exclusive", "Again?"), end("e1")]
    wires = ("st>lp", "lp>sub", "sub>z", "z>ag", "ag>lp:again", "ag>e1:no")
    return process(nodes, *wires)


def deep() -> SubProcess:
    """An error end event two levels below."""
    choice = split("jg", "exclusive", "Fine?")
    nodes = [start("js"), task("jx"), choice, end("je"), end("jee", "", ERROR)]
    inner = sub(nodes, "js>jx", "jx>jg", "jg>je:yes", "jg>jee:no", id="inner")
    return sub([start("is"), inner, task("y"), end("ie")], "is>inner", "inner>y", "y>ie")


def conditional() -> Model:
    """Flows out of a sub-process that depend on data."""
    inner = sub([start("is", "Go"), task("x"), end("ie")], "is>x", "x>ie")
    nodes = [start("st"), task("a"), inner, task("b"), task("c"), end("e1"), end("e2")]
    model = process(nodes, "st>a", "a>sub", "sub>b", "sub>c", "b>e1", "c>e2")
    (whole,) = model.processes
    changed = tuple(
        f.replace(condition=Expression(text="${x > 3}"))
        if f.target == "b"
        else f.replace(default=f.target == "c")
        for f in whole.flows
    )
    return model.replace(processes=(whole.replace(flows=changed),))


def handler(
    definitions: tuple[EventDefinition, ...],
    *,
    interrupting: bool = True,
    last: tuple[EventDefinition, ...] = (),
) -> SubProcess:
    """An event sub-process with one step."""
    begins = Event(id="hs", position="start", definitions=definitions, interrupting=interrupting)
    nodes = (begins, task("fix"), end("he", "", last))
    wires = flows("h", "hs>fix", "fix>he")
    return SubProcess(id="h", name="Handle it", flavour="event", nodes=nodes, flows=wires)


def handled(thrower: Event, *more: Node, extra: Sequence[str] = ()) -> Model:
    """A process with an event sub-process, and an event that throws."""
    nodes = [start("st"), task("a"), split("g", "exclusive", "OK?"), task("b"), end("e1", "Done")]
    wires = ("st>a", "a>g", "g>b:yes", "b>e1", f"g>{thrower.id}:no", *extra)
    return process([*nodes, thrower, *more], *wires)


def handled_inside(thrower: Event, *more: Node, extra: Sequence[str] = ()) -> Model:
    """The same in a sub-process."""
    (whole,) = handled(thrower, *more, extra=extra).processes
    inside = tuple(flow.replace(id=f"i_{flow.id}") for flow in whole.flows)
    part = SubProcess(id="sub", name="Part", nodes=whole.nodes, flows=inside)
    return process([start("s0"), part, task("z"), end("e0")], "s0>sub", "sub>z", "z>e0")


def from_below() -> Model:
    """An error that a sub-process throws and an event sub-process beside it handles."""
    inner = either(end("ee", "", ERROR))
    nodes = [start("st"), inner, task("b"), end("e1"), handler(ERROR)]
    return process(nodes, "st>sub", "sub>b", "b>e1")


_TELLS = ("ee>w", "w>e2")


def failing_below() -> Model:
    """A step two levels below may fail; one beside its sub-process has an event of its own."""
    inner = sub([start("js"), task("jx"), end("je")], "js>jx", "jx>je", id="inner")
    own = boundary(ERROR, at="y").replace(id="own")
    nodes = [start("is"), inner, task("y"), own, task("fix"), end("ie"), end("ie2")]
    wires = ("is>inner", "inner>y", "y>ie", "own>fix", "fix>ie2")
    return within(sub(nodes, *wires), boundary(ERROR))


def handled_by_people() -> Model:
    """An event sub-process for errors beside a wait only."""
    person = Task(id="u", name="U", task_type="user")
    nodes = [start("st"), person, end("e1"), handler(ANY_ERROR)]
    return process(nodes, "st>u", "u>e1")


def two_events() -> Model:
    """One event for a code and one for any other error, both on a sub-process."""
    (whole,) = within(either(end("ee")), boundary(ERROR)).processes
    more = (boundary(ANY_ERROR).replace(id="any"), task("d"), end("e3"))
    wires = flows("more", "any>d", "d>e3")
    return process([*whole.nodes, *more]).replace(
        processes=(whole.replace(nodes=(*whole.nodes, *more), flows=(*whole.flows, *wires)),)
    )


def person_first() -> Model:
    """A person, whose wait reports no error, and a step that may fail."""
    person = Task(id="u", name="U", task_type="user")
    inner = sub([start("is"), person, task("x"), end("ie")], "is>u", "u>x", "x>ie")
    return within(inner, boundary(ANY_ERROR))


MODELS: dict[str, Model] = {
    "a step that fails": within(
        sub([start("is"), task("x"), end("ie")], "is>x", "x>ie"), boundary(ERROR)
    ),
    "an event sub-process for whatever goes wrong": handled(end("ee"), handler(ANY_ERROR)),
    "an event sub-process for a code": handled(end("ee"), handler(ERROR, last=TERMINATE)),
    "an event sub-process in a sub-process for a code": handled_inside(end("ee"), handler(ERROR)),
    "a sub-process that fails in a loop": process(
        [
            start("st"),
            split("lp", "exclusive"),
            sub([task("x"), task("y")], "x>y"),
            boundary(ANY_ERROR),
            task("c"),
            end("e1"),
        ],
        "st>lp",
        "lp>sub",
        "sub>e1",
        "bd>c",
        "c>lp",
    ),
    "whatever goes wrong": within(either(end("ee")), boundary(ANY_ERROR)),
    "a step that fails two levels below": failing_below(),
    "a code, and whatever else goes wrong": two_events(),
    "a person before a step that fails": person_first(),
    "an event sub-process for an error": handled(end("ee", "Bad", ERROR), handler(ERROR)),
    "an event sub-process for any error": handled(end("ee", "", ERROR), handler(ANY_ERROR)),
    "an event sub-process that terminates": handled(
        end("ee", "Bad", ERROR), handler(ERROR, last=TERMINATE)
    ),
    "an event sub-process for an escalation": handled(
        throw("ee", LATE, "Tell"),
        task("w"),
        end("e2"),
        handler(LATE, interrupting=False),
        extra=_TELLS,
    ),
    "an event sub-process for an escalation at the end": handled(
        end("ee", "Tell", LATE), handler(LATE, interrupting=False)
    ),
    "an event sub-process in a sub-process": handled_inside(
        end("ee", "Bad", ERROR), handler(ERROR)
    ),
    "an event sub-process beside its sub-process": handled_inside(
        throw("ee", LATE, "Tell"),
        task("w"),
        end("e2"),
        handler(LATE, interrupting=False),
        extra=_TELLS,
    ),
    "an event sub-process for an error below": from_below(),
    "an error that is caught": within(either(end("ee", "Out", ERROR)), boundary(ERROR)),
    "any error is caught": within(either(end("ee", "", ERROR)), boundary(ANY_ERROR)),
    "an error from two levels below": within(deep(), boundary(ERROR)),
    "an error that nothing catches": within(either(end("ee", "Out", ERROR))),
    "an escalation that interrupts": within(
        either(throw("ee", LATE, "Tell"), task("w"), end("ie2"), extra=("ee>w", "w>ie2")),
        boundary(LATE),
    ),
    "an escalation beside": within(
        either(throw("ee", LATE, "Tell"), task("w"), end("ie2"), extra=("ee>w", "w>ie2")),
        boundary(LATE, interrupting=False),
    ),
    "an escalation at the end": within(
        either(end("ee", "Tell", LATE)), boundary(LATE, interrupting=False)
    ),
    "an escalation that nothing catches": within(either(end("ee", "Tell", LATE))),
    "a terminate end": within(either(end("ee", "", TERMINATE))),
    "parallel ends": within(both(end("ie"), end("ee"))),
    "one end of parallel branches": within(both(end("ie"))),
    "inclusive branches": within(both(end("ie"), end("ee"), kind="inclusive")),
    "exclusive ends with names": within(both(end("ie", "One"), end("ee", "Two"), kind="exclusive")),
    "parallel ends in a loop": again(both(end("ie"), end("ee"))),
    "a choice in a loop": again(either(end("ee", "Given up"))),
    "no start event": within(sub([task("x"), task("y")])),
    "nothing in it": within(sub([])),
    "at the end": process([start("st"), both(end("ie"), end("ee"))], "st>sub"),
    "data decides behind it": conditional(),
}
"""What n8n's workflow does as the model says, by what it is about."""

REFUSED: dict[str, tuple[Model, str]] = {
    "a step that fails beside another": (
        within(both(end("ie"), end("ee")), boundary(ANY_ERROR)),
        "`X` may fail while `Y` may be active",
    ),
    "an event sub-process that ends what goes on": (
        handled(throw("ee", LATE, "Tell"), task("w"), end("e2"), handler(LATE), extra=_TELLS),
        "`Tell` is not the last step of the scope that it ends",
    ),
    "two starts": (
        within(sub([start("s1"), start("s2"), task("x")], "s1>x", "s2>x")),
        "the model does not define at which of its start events it begins",
    ),
}
"""What is refused, with words of the reason."""


IN_ROWS: dict[str, tuple[Model, str]] = {
    "an error beside work": (
        within(both(end("ie"), end("ee", "", ERROR)), boundary(ERROR)),
        "ends it while `X` may be active",
    ),
    "a timer on it": (
        within(either(end("ee")), boundary(definition("timer"))),
        "waits for no event while a step is active",
    ),
}
"""What needs rows, with words of the reason why one execution is refused."""


OMITTED: dict[str, tuple[Model, str]] = {
    "no step that fails": (
        within(
            sub([start("is"), Task(id="u", task_type="user"), end("ie")], "is>u", "u>ie"),
            boundary(ANY_ERROR),
        ),
        "nothing in `Part sub` throws an error",
    ),
    "an event sub-process where nothing fails": (handled_by_people(), "throws an error"),
}
"""Models with an event that never occurs, with words of the reason for which it is omitted."""


def nested(seed: int) -> Model:
    """Random processes in the place of tasks of another, two levels deep; some have an error end
    event that is caught."""
    kinds = ("task", "xor", "and", "or", "loop")
    model = random_model(2000 + seed, 4 + seed % 4, kinds)
    for level, size in ((1, 5 + seed % 6), (0, 6 + seed % 8)):
        inner = model.processes[0]
        model = random_model(1000 * level + seed, size, kinds)
        model = _put(model, inner, f"l{level}_", seed, fails=(seed + level) % 3 == 0)
    return model


def _put(model: Model, inner: Process, prefix: str, seed: int, *, fails: bool) -> Model:
    (whole,) = model.processes
    tasks = [n for n in whole.nodes if isinstance(n, Task)]
    if not tasks:
        return model
    place = tasks[seed % len(tasks)]
    nodes: list[Node] = [_renamed(n, prefix) for n in inner.nodes]
    wires = [_moved(f, prefix) for f in inner.flows]
    others: list[Node] = []
    outer = list(whole.flows)
    if fails:
        last = next(f for f in wires if f.target == f"{prefix}end")
        nodes += [split(f"{prefix}ok", "exclusive", "OK?"), end(f"{prefix}fail", "", ERROR)]
        wires.remove(last)
        wires += [last.replace(target=f"{prefix}ok")]
        wires += flows(prefix, f"{prefix}ok>{prefix}end:yes", f"{prefix}ok>{prefix}fail:no")
        others = [
            boundary(ERROR, at=place.id).replace(id=f"{prefix}bd"),
            task(f"{prefix}mend"),
            split(f"{prefix}on", "exclusive"),
        ]
        outer = [
            f.replace(source=f"{prefix}on") if f.source == place.id else f for f in whole.flows
        ]
        outer += flows(
            f"{prefix}o", f"{place.id}>{prefix}on", f"{prefix}bd>{prefix}mend",
            f"{prefix}mend>{prefix}on",
        )  # fmt: skip
    part = SubProcess(id=place.id, name=f"{place.name} in detail", nodes=tuple(nodes),
                      flows=tuple(wires))  # fmt: skip
    kept = tuple(part if n is place else n for n in whole.nodes)
    made = whole.replace(nodes=(*kept, *others), flows=tuple(outer))
    return model.replace(processes=(made,), catalog=CATALOG)


def _renamed(node: Node, prefix: str) -> Node:
    """A node with all that is in it under other ids."""
    if isinstance(node, SubProcess):
        inside = tuple(_renamed(n, prefix) for n in node.nodes)
        wires = tuple(_moved(f, prefix) for f in node.flows)
        return node.replace(id=prefix + node.id, nodes=inside, flows=wires)
    if isinstance(node, Event) and node.attached_to is not None:
        node = node.replace(attached_to=prefix + node.attached_to)
    return node.replace(id=prefix + node.id)


def _moved(flow: Flow, prefix: str) -> Flow:
    return flow.replace(
        id=prefix + flow.id, source=prefix + flow.source, target=prefix + flow.target
    )
