"""Signals that an event around their throws catches, against the token game and on n8n's engine."""

from __future__ import annotations

import itertools

import pytest
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.compiler import compile_model
from played_models import compiled, faults
from sub_process_models import boundary, definition, end, process, split, start, sub, task

from orgflow_ir.model import Catalog, CatalogEntry, Event, Model, Node, SubProcess, Task
from orgflow_ir.model.bindings import Script
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

SIGNAL = definition("signal", "alarm")


def script(id: str) -> Task:
    code = Script(language="groovy", code=f"{id} = 1")
    return Task(id=id, name=id, task_type="script", binding=code)


def with_signal(made: Model) -> Model:
    return made.replace(catalog=Catalog(signals=(CatalogEntry(id="alarm", name="Alarm"),)))


def thrown(first: Node, *, at_end: bool = True, more: tuple[Node, ...] = ()) -> SubProcess:
    """A sub-process that may throw the signal after its first step."""
    if at_end:
        nodes = [
            start("i"),
            first,
            split("g", "exclusive", "Alarm?"),
            end("t", "", SIGNAL),
            end("k"),
        ]
        return sub([*nodes, *more], f"i>{first.id}", f"{first.id}>g", "g>t:yes", "g>k:no")
    throw = Event(id="t", position="throw", definitions=SIGNAL)
    nodes = [start("i"), first, throw, *more, end("k")]
    behind = [one.id for one in more]
    names = ["i", first.id, "t", *behind, "k"]
    return sub(nodes, *(f"{a}>{b}" for a, b in itertools.pairwise(names)))


def around(inner: SubProcess, *, interrupting: bool = True) -> Model:
    event = boundary(SIGNAL, at=inner.id, interrupting=interrupting)
    nodes = [start("st"), inner, event, task("z"), task("h"), end("e"), end("f")]
    return with_signal(process(nodes, f"st>{inner.id}", f"{inner.id}>z", "z>e", "bd>h", "h>f"))


MODELS = {
    "at the end": around(thrown(script("a"))),
    "on the way, and what is behind is never done": around(
        thrown(script("a"), at_end=False, more=(task("b"),))
    ),
    "beside": around(thrown(script("a"), at_end=False), interrupting=False),
}


@pytest.mark.parametrize("name", MODELS)
def test_it_reaches_the_event_on_the_border(
    engine: LocalEngine, registry: Registry, name: str
) -> None:
    made, errors = compiled(MODELS[name], registry)
    assert made is not None, errors
    assert faults(MODELS[name], made, LocalRunner(engine), registry) == []


def test_what_takes_time_may_be_ended_by_another_instance(registry: Registry) -> None:
    """Another instance may throw the signal while the task is done: only an approximation."""
    model = around(thrown(task("a")))
    made, errors = compiled(model, registry)
    assert made is None
    assert any("other instances may throw its signal" in e for e in errors), errors
    ctx = PassContext(registry=registry)
    assert compile_model(model, registry.backends["n8n"], ctx, allow_lossy=True) is not None


def waiting_after() -> Model:
    """What waits for the signal begins to wait when this instance has thrown it: only another
    instance can go on with it."""
    throw = Event(id="t", name="told", position="throw", definitions=SIGNAL)
    catch = Event(id="c", name="heard", position="catch", definitions=SIGNAL)
    return with_signal(process([start("st"), throw, catch, end("e")], "st>t", "t>c", "c>e"))


def two_catch() -> Model:
    """A second event of the model waits for it."""
    model = around(thrown(script("a")))
    catch = Event(id="c", name="heard", position="catch", definitions=SIGNAL)
    other = process([start("os"), catch, end("oe")], "os>c", "c>oe").processes[0]
    return model.replace(processes=(*model.processes, other.replace(id="other", name="Other")))


@pytest.mark.parametrize("model", [waiting_after(), two_catch()], ids=["after", "two"])
def test_other_signals_are_not_delivered(registry: Registry, model: Model) -> None:
    made, errors = compiled(model, registry)
    assert made is None
    assert any("a signal reaches every instance that waits for it" in e for e in errors), errors
    ctx = PassContext(registry=registry)
    assert compile_model(model, registry.backends["n8n"], ctx, allow_lossy=True) is None


def test_it_reaches_an_event_sub_process_beside(engine: LocalEngine, registry: Registry) -> None:
    begins = Event(id="hs", position="start", definitions=SIGNAL)
    caught = SubProcess(id="H", name="H", flavour="event", nodes=(begins, task("h"), end("he")))
    flows = sub([begins, task("h"), end("he")], "hs>h", "h>he").flows
    nodes = [start("st"), script("a"), split("g", "exclusive", "Alarm?"), end("t", "", SIGNAL)]
    nodes += [task("z"), end("e"), caught.replace(flows=flows)]
    model = with_signal(process(nodes, "st>a", "a>g", "g>t:yes", "g>z:no", "z>e"))
    made, errors = compiled(model, registry)
    assert made is None, "the task behind the gateway may take long"
    assert any("other instances may throw its signal" in e for e in errors), errors
    ctx = PassContext(registry=registry)
    lossy = compile_model(model, registry.backends["n8n"], ctx, allow_lossy=True)
    assert lossy is not None, ctx.diagnostics
    assert faults(model, lossy, LocalRunner(engine), registry) == []
