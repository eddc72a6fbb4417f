"""Procedural graphs: triples and graph lines, as people and language models write them."""

from __future__ import annotations

import random

import orgflow
import pytest
from orgflow.compilation.reading import choose_frontend
from orgflow.frontends.triples.frontend import TriplesFrontend

from orgflow_ir.model import Event, Gateway, Model, Task
from orgflow_ir.model.evidence import SENTENCES
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

MEAL = """\
For customer:
Start -> find an empty seat
find an empty seat -> OR1
OR1 -> (needs dishes) choose the dishes
OR1 -> (needs drinks) order the drinks
choose the dishes -> OR2
order the drinks -> OR2
OR2 -> submit the order
submit the order -> DataObject(order list)
submit the order -> XOR1
For cashier:
XOR1 -> (card) charge the card
XOR1 -> (cash) count the cash
charge the card -> XOR2
count the cash -> XOR2
count the cash -> TextAnnotation(twice above 100)
XOR2 -> End
"""

LINES = """\
T1 Receive order | Sales | s1
X1 In stock? | | s2
T2 Ship goods | Warehouse | s2, s3
T3: Order parts | Purchasing | s4-5
X2 join
Start -> T1 -> X1
X1 -(yes)-> T2
X1 -(no)-> T3 -> X2
T2 -> X2 -> End
"""


def read(text: str) -> tuple[Model | None, list[str]]:
    ctx = PassContext()
    model = TriplesFrontend().parse(SourceFile("m.triples", text.encode()), ctx)
    return model, [f"{d.code} {d.loc.line if d.loc else 0} {d.message}" for d in ctx.diagnostics]


def model_of(text: str) -> Model:
    model, found = read(text)
    assert found == []
    assert model is not None
    return model


def flows(model: Model) -> set[tuple[str, str, str]]:
    (process,) = model.processes
    names = {n.id: n.name or n.construct.split(".")[1] for n in process.nodes}
    return {(names[f.source], f.name, names[f.target]) for f in process.flows}


def test_triples() -> None:
    model = model_of(MEAL)
    assert orgflow.check(model).ok
    (process,) = model.processes
    kinds = [n.gateway_kind for n in process.nodes if isinstance(n, Gateway)]
    assert sorted(kinds) == ["exclusive", "exclusive", "inclusive", "inclusive"]
    assert ("exclusive", "card", "charge the card") in flows(model)
    assert [(lane.name, len(lane.members)) for lane in process.lanes] == [
        ("customer", 4), ("cashier", 2),
    ]  # fmt: skip
    assert [d.name for d in process.data_objects] == ["order list"]
    assert [a.text for a in process.artifacts if a.artifact_kind == "annotation"] == [
        "twice above 100"
    ]


def test_graph_lines() -> None:
    model = model_of(LINES)
    assert orgflow.check(model).ok
    (process,) = model.processes
    tasks = {n.name: n for n in process.nodes if isinstance(n, Task)}
    assert {name: dict(n.extra)[SENTENCES] for name, n in tasks.items()} == {
        "Receive order": "1", "Ship goods": "2,3", "Order parts": "4,5",
    }  # fmt: skip
    assert [lane.name for lane in process.lanes] == ["Sales", "Warehouse", "Purchasing"]
    assert ("In stock?", "no", "Order parts") in flows(model)
    assert [n.name for n in process.nodes if isinstance(n, Gateway)] == ["In stock?", ""]


@pytest.mark.parametrize(
    "text",
    [
        "Start -> A -> (x) B",
        "```\nStart → A\nA --> B\n```",
        "1. Start -> A\n2. A => B.",
        '- Start -> "A"\n- **A** -> `B`;',
        "Here is the graph:\nSTART -> A\nA -> B\nB -> END\nI hope this helps!",
        "start->a\nA->b",
    ],
)
def test_what_is_written_around_it(text: str) -> None:
    model, _ = read(text)
    assert model is not None
    (process,) = model.processes
    assert sorted(n.name.lower() for n in process.nodes if isinstance(n, Task)) == ["a", "b"]
    assert sorted(n.position for n in process.nodes if isinstance(n, Event)) == ["end", "start"]
    assert orgflow.check(model).ok


def test_lines_that_are_nothing_are_reported() -> None:
    model, found = read("Start -> A\nship the order, then pay\nA -> End\nA -> \n")
    assert model is not None
    assert [line.split(" this")[0] for line in found] == ["OF075 2", "OF075 4"]


@pytest.mark.parametrize("text", ["", "We ship the order.", "T1 Ship | Sales | s1"])
def test_no_graph(text: str) -> None:
    model, found = read(text)
    assert model is None
    assert found[-1].startswith("OF074")


def test_a_step_with_conditions_behind_it_decides() -> None:
    model = model_of("check -> (fine) ship\ncheck -> (broken) repair")
    assert ("check", "", "exclusive") in flows(model)
    assert ("exclusive", "fine", "ship") in flows(model)


def test_a_graph_without_a_way_in_begins_with_its_first_step() -> None:
    model = model_of("ask -> wait\nwait -> X1\nX1 -> (no answer) ask\nX1 -> (answer) End")
    assert ("start", "", "ask") in flows(model)


def test_wrong_gateways_are_found_by_the_checks() -> None:
    model = model_of(MEAL.replace("XOR2", "AND2"))
    assert "OF201" in {d.code for d in orgflow.check(model).errors}


def test_noise_never_raises() -> None:
    chance = random.Random(3)
    pieces = ("->", "→", "(", ")", "|", "T1", "X1", "s1", " ", "\n", "For", ":", "a b", "-", "\0")
    for _ in range(400):
        text = "".join(chance.choice(pieces) for _ in range(chance.randrange(60)))
        model, _ = read(text)
        if model is not None:
            orgflow.check(model)


def test_text_files_are_graphs_only_where_their_lines_are() -> None:
    registry, ctx = Registry(), PassContext()
    graph, prose = (
        SourceFile("order.txt", text) for text in (b"A -> B\nB -> C\n", b"We check the order.\n")
    )
    found = choose_frontend(graph, registry, ctx, None)
    assert found is not None
    assert found.name == "triples"
    assert choose_frontend(prose, registry, ctx, None) is None
    assert [d.code for d in ctx.diagnostics] == ["OF003"]


def test_nodes_in_brackets_and_an_arrow_in_a_condition() -> None:
    model, _ = read(
        "(Start) -> [Check order]\n[Check order] -> XOR1\nXOR1 -> (yes: a -> b) [Pack]\n"
        "XOR1 -> (no) (End)\n[Pack] -> End\n"
    )
    assert model is not None
    (process,) = model.processes
    assert [n.name for n in process.nodes if isinstance(n, Task)] == ["Check order", "Pack"]
    assert len([n for n in process.nodes if isinstance(n, Event)]) == 2
    assert {f.name for f in process.flows if f.name} == {"yes: a -> b", "no"}


def flows_of(text: str) -> set[tuple[str, str, str]]:
    """Flows between named elements, with labels."""
    model = model_of(text)
    names = {n.id: n.name or n.construct for p in model.processes for n in p.nodes}
    made = {n.id for p in model.processes for n in p.nodes if isinstance(n, Event) and not n.loc}
    return {
        (names[f.source], f.name, names[f.target])
        for p in model.processes
        for f in p.flows
        if not made & {f.source, f.target}
    }


@pytest.mark.parametrize(
    ("text", "flows"),
    [
        ("C -> D, F", {("C", "", "D"), ("C", "", "F")}),
        ("C -> D & F\nD and F -> G", {
            ("C", "", "D"), ("C", "", "F"), ("D", "", "G"), ("F", "", "G"),
        }),
        ("A -> B -> C", {("A", "", "B"), ("B", "", "C")}),
        ("A -> B, C -> D", {("A", "", "B"), ("A", "", "C"), ("B", "", "D"), ("C", "", "D")}),
        ("A->B\nB->C\nC->D\nD->E\nE->F", {
            ("A", "", "B"), ("B", "", "C"), ("C", "", "D"), ("D", "", "E"), ("E", "", "F"),
        }),
        ("T1 pack\nT2 ship\nT3 bill\nT1 -> T2,T3", {
            ("pack", "", "ship"), ("pack", "", "bill"),
        }),
        ("check -> pack, ship\npack -> bill\nship -> bill", {
            ("check", "", "pack"), ("check", "", "ship"), ("pack", "", "bill"),
            ("ship", "", "bill"),
        }),
        ("X1 -> (in stock) ship, (else) order", {
            ("gateway.exclusive", "in stock", "ship"), ("gateway.exclusive", "else", "order"),
        }),
        ("check -> pack, label and weigh -> pay 1,000 euros", {
            ("check", "", "pack, label and weigh"),
            ("pack, label and weigh", "", "pay 1,000 euros"),
        }),
        ('check -> "pack, ship"\ncheck -> pack', {
            ("check", "", "pack, ship"), ("check", "", "pack"),
        }),
    ],
)  # fmt: skip
def test_several_steps_between_arrows(text: str, flows: set[tuple[str, str, str]]) -> None:
    assert flows_of(text) == flows


def test_one_name_or_several_is_asked_back() -> None:
    _, found = read("check -> pack, ship it\npack -> bill")
    assert found == ["OF075 1 this line may name one step or several"]
    ctx = PassContext()
    TriplesFrontend().parse(SourceFile("m.triples", b"A -> pack, ship it\npack -> bill"), ctx)
    assert 'quote the name: "pack, ship it"' in str(ctx.diagnostics[0].help)
