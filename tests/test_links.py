"""Which catching link a throwing one leads to: names with white space folded, sources, targets."""

from __future__ import annotations

import pytest
from game_models import read_bpmn
from orgflow.compiler import compile_model
from orgflow.passes.link_events import LinkEvents
from shared_data import shared_data

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.flow.nets.wiring import Wiring
from orgflow_ir.flow.token_game.semantics import Game
from orgflow_ir.model import Event, EventDefinition, Flow, Model, Process
from orgflow_ir.model.links import Links
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

REGISTRY = Registry(outside=False)
BPMN = "{http://www.omg.org/spec/BPMN/20100524/MODEL}"


def link(id: str, position: str, name: str = "", **refs: str) -> Event:
    extra = tuple((BPMN + tag, f"<{tag}>{value}</{tag}>") for tag, value in refs.items())
    definition = EventDefinition(kind="link", id=f"{id}_d", name=name, extra=extra)
    return Event.validate({"id": id, "position": position}).replace(definitions=(definition,))


def made(*links: Event) -> Model:
    throws = [e for e in links if e.position == "throw"]
    flows = tuple(Flow(id=f"f{i}", source="s", target=t.id) for i, t in enumerate(throws))
    start = Event(id="s", position="start")
    return Model(id="m", processes=(Process(id="P", nodes=(start, *links), flows=flows),))


def reported(model: Model) -> list[Diagnostic]:
    ctx = PassContext()
    LinkEvents().run(model, ctx)
    return list(ctx.diagnostics)


@pytest.mark.parametrize(
    ("throw", "catch"),
    [
        (link("t", "throw", "To \npacking"), link("c", "catch", " To packing")),
        (link("t", "throw", "Out", target="c_d"), link("c", "catch", "In")),
        (link("t", "throw", "Out", target="x:c_d"), link("c", "catch", "In")),
        (link("t", "throw", "Out"), link("c", "catch", "In", source="t_d")),
    ],
)
def test_pairs(throw: Event, catch: Event) -> None:
    model = made(throw, catch)
    assert Links(model.processes[0].nodes).caught(throw) == [[catch]]
    assert reported(model) == []
    assert "c" in Wiring(model.processes[0]).live
    game = Game(model)
    thrown = next(n for n in game.net.nodes if n.id == "t")
    assert [game.net.nodes[i].id for i in thrown.links] == ["c"]


def test_a_target_goes_before_a_name() -> None:
    throw = link("t", "throw", "A", target="c2_d")
    first, second = link("c", "catch", "A"), link("c2", "catch", "B")
    model = made(throw, first, second)
    assert Links(model.processes[0].nodes).caught(throw) == [[second]]
    assert [(d.code, d.element) for d in reported(model)] == [("OF118", "c")]


def test_two_catches_of_one_name() -> None:
    model = made(link("t", "throw", "A"), link("c", "catch", "A"), link("c2", "catch", "A "))
    assert [(d.code, d.element) for d in reported(model)] == [("OF119", "c2")]


def test_a_name_that_is_drawn_over_two_lines() -> None:
    assert reported(read_bpmn(shared_data("outside-look", "bpmn", "link.bpmn"))) == []


def test_a_link_without_a_name_is_not_named_by_its_id() -> None:
    """No catching link could have the name that nobody gave."""
    (found,) = reported(made(link("t", "throw")))
    assert "has no name, so no catching link in `P` belongs to it" in found.message
    assert found.help == "use the name of a catching link event, or draw a flow instead"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("To packing", "the link `To packing` became"),
        ("", "the first unlabelled link intermediate event became"),
    ],
)
def test_what_became_of_a_link_names_it_as_people_know_it(name: str, said: str) -> None:
    """Not by the id of the event, which nobody has seen."""
    throw = link("t", "throw", name, target="c_d")
    ctx = PassContext()
    assert compile_model(made(throw, link("c", "catch", name)), REGISTRY.backends["n8n"], ctx)
    (found,) = (d for d in ctx.diagnostics if d.code == "OF401")
    assert found.message.startswith(said)
