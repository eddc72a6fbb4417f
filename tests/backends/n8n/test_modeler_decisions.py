"""Decision models as Camunda Modeler writes them for Camunda 8, with results by the specification
(DMN 1.3, 7.3, 8.2 and 10.3.2) that were written down before the models were compiled."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import pytest
from one_task import compiled, one_task, variables
from orgflow.backends.n8n.engine.local import LocalEngine, RunRequest

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" '
    'xmlns:modeler="http://camunda.org/schema/modeler/1.0" id="D" name="DRD" '
    'namespace="http://camunda.org/schema/1.0/dmn" modeler:executionPlatform="Camunda Cloud" '
    'modeler:executionPlatformVersion="8.6.0">'
)
TASK = (
    '<businessRuleTask id="t" name="Work"><extensionElements><zeebe:calledDecision '
    'decisionId="{}" resultVariable="result"/></extensionElements></businessRuleTask>'
)
STOPS = "stops"
"""The result of a run that ends with an error."""

TEXT, NUMBER, TRUTH = "string", "number", "boolean"


class Output(NamedTuple):
    """An output column: its possible values in order of priority, and its default."""

    name: str
    type: str
    values: str = ""
    default: str = ""


class Decided(NamedTuple):
    """A file of decisions, the id of the one that is asked, and its results by variables."""

    name: str
    asked: str
    decisions: str
    cases: tuple[tuple[dict[str, Any], Any], ...]


def table(
    id: str,
    inputs: Sequence[tuple[str, str]],
    outputs: Sequence[Output],
    rules: Sequence[tuple[str, ...]],
    policy: str = "UNIQUE",
    aggregation: str = "",
    requires: Sequence[str] = (),
) -> str:
    """A decision table: expressions and types of the inputs, outputs, and rules by cells."""
    how = f' aggregation="{aggregation}"' if aggregation else ""
    columns = [
        f'<input id="I{id}{n}"><inputExpression id="L{id}{n}" typeRef="{of}">{_text(e)}'
        "</inputExpression></input>"
        for n, (e, of) in enumerate(inputs)
    ]
    for n, one in enumerate(outputs):
        values = f'<outputValues id="V{id}{n}">{_text(one.values)}</outputValues>'
        default = f'<defaultOutputEntry id="D{id}{n}">{_text(one.default)}</defaultOutputEntry>'
        columns.append(
            f'<output id="O{id}{n}" name="{one.name}" typeRef="{one.type}">'
            f"{values if one.values else ''}{default if one.default else ''}</output>"
        )
    rows = []
    for r, rule in enumerate(rules):
        kinds = ["inputEntry"] * len(inputs) + ["outputEntry"] * len(outputs)
        cells = (
            f'<{kind} id="C{id}{r}_{n}">{_text(cell)}</{kind}>'
            for n, (kind, cell) in enumerate(zip(kinds, rule, strict=True))
        )
        rows.append(f'<rule id="R{id}{r}">{"".join(cells)}</rule>')
    return _decision(
        id,
        requires,
        f'<decisionTable id="T{id}" hitPolicy="{policy}"{how}>'
        f"{''.join(columns)}{''.join(rows)}</decisionTable>",
    )


def literal(id: str, text: str, requires: Sequence[str] = (), knowledge: Sequence[str] = ()) -> str:
    """A decision that is an expression; its variable has its id."""
    inner = f'<literalExpression id="L{id}">{_text(text)}</literalExpression>'
    return _decision(id, requires, inner, knowledge, f'<variable id="N{id}" name="{id}"/>')


def function(id: str, parameters: Sequence[str], text: str) -> str:
    """A business knowledge model."""
    formal = "".join(f'<formalParameter id="P{p}" name="{p}"/>' for p in parameters)
    return (
        f'<businessKnowledgeModel id="{id}" name="{id}"><variable id="N{id}" name="{id}"/>'
        f'<encapsulatedLogic id="F{id}">{formal}<literalExpression id="L{id}">{_text(text)}'
        "</literalExpression></encapsulatedLogic></businessKnowledgeModel>"
    )


def _decision(
    id: str, requires: Sequence[str], inner: str, knowledge: Sequence[str] = (), variable: str = ""
) -> str:
    needed = "".join(
        f'<informationRequirement id="Q{id}{n}"><requiredDecision href="#{one}"/>'
        "</informationRequirement>"
        for n, one in enumerate(requires)
    )
    known = "".join(
        f'<knowledgeRequirement id="K{id}{n}"><requiredKnowledge href="#{one}"/>'
        "</knowledgeRequirement>"
        for n, one in enumerate(knowledge)
    )
    name = id.capitalize()
    return f'<decision id="{id}" name="{name}">{variable}{needed}{known}{inner}</decision>'


def _text(text: str) -> str:
    return f"<text>{escape(text)}</text>"


DECIDED: tuple[Decided, ...] = (
    Decided(
        "extensions",
        "e",
        table(
            "e",
            [("get or else(x, 5)", NUMBER), ("items", "Any")],
            [Output("o", TEXT)],
            [
                ("> 5", "-", '"large"'),
                ("-", "is empty(?)", '"empty"'),
                ("-", "-", 'if is defined(x) then "x" else "none"'),
            ],
            "FIRST",
        ),
        (
            ({"x": 6, "items": []}, "large"),
            ({"x": None, "items": []}, "empty"),
            ({"x": 5, "items": [1]}, "x"),
            ({"items": [1]}, "none"),
        ),
    ),
    Decided(
        "dates",
        "q",
        table(
            "q",
            [("date(d)", "date")],
            [Output("o", TEXT)],
            [
                ('[date("2026-01-01")..date("2026-03-31")]', '"Q1"'),
                ('(date("2026-03-31")..date("2026-06-30")]', '"Q2"'),
                ("-", '"later"'),
            ],
            "FIRST",
        ),
        (
            ({"d": "2026-03-31"}, "Q1"),
            ({"d": "2026-04-01"}, "Q2"),
            ({"d": "2026-07-01"}, "later"),
            ({"d": "2025-12-31"}, "later"),
            ({"d": "nonsense"}, "later"),
            ({"d": None}, "later"),
        ),
    ),
    Decided(
        "durations",
        "w",
        table(
            "w",
            [("duration(t)", "dayTimeDuration")],
            [Output("o", TEXT)],
            [
                ('< duration("P1D")', '"fast"'),
                ('[duration("P1D")..duration("P5D")]', '"normal"'),
                ('> duration("P5D")', '"slow"'),
            ],
        ),
        (
            ({"t": "PT23H"}, "fast"),
            ({"t": "P1D"}, "normal"),
            ({"t": "PT120H"}, "normal"),
            ({"t": "PT121H"}, "slow"),
            ({"t": "P1Y"}, None),
        ),
    ),
    Decided(
        "not",
        "n",
        table(
            "n",
            [("status", TEXT)],
            [Output("o", TEXT)],
            [('not("open", "waiting")', '"closed"'), ('"open"', '"o"'), ("", '"other"')],
            "FIRST",
        ),
        (
            ({"status": "done"}, "closed"),
            ({"status": "open"}, "o"),
            ({"status": "waiting"}, "other"),
            ({"status": None}, "closed"),
            ({"status": 5}, "other"),
        ),
    ),
    Decided(
        "ranges",
        "r",
        table(
            "r",
            [("x", NUMBER)],
            [Output("o", TEXT)],
            [("[0..10)", '"a"'), ("[10..20]", '"b"'), ("> 20", '"c"'), ("< 0", '"neg"')],
        ),
        (
            ({"x": 10}, "b"),
            ({"x": 9.99}, "a"),
            ({"x": 20}, "b"),
            ({"x": 20.01}, "c"),
            ({"x": -1}, "neg"),
            ({"x": "10"}, None),
            ({"x": None}, None),
        ),
    ),
    Decided(
        "lists",
        "l",
        table(
            "l",
            [("x", NUMBER)],
            [Output("o", TEXT)],
            [("1, 2, 3", '"small"'), ("[4..6], 9", '"mid"'), ("-", '"big"')],
            "FIRST",
        ),
        (
            ({"x": 2}, "small"),
            ({"x": 9}, "mid"),
            ({"x": 5}, "mid"),
            ({"x": 7}, "big"),
            ({"x": None}, "big"),
        ),
    ),
    Decided(
        "empty",
        "e",
        table(
            "e",
            [("a", TRUTH), ("b", NUMBER)],
            [Output("o", TEXT)],
            [("true", "> 5", '"x"'), ("true", "", '"y"'), ("", "", '"z"')],
            "FIRST",
        ),
        (
            ({"a": True, "b": 6}, "x"),
            ({"a": True, "b": 5}, "y"),
            ({"a": False, "b": 9}, "z"),
            ({"a": "true", "b": 9}, "z"),
        ),
    ),
    Decided(
        "computed",
        "c",
        table(
            "c",
            [("price * quantity", NUMBER)],
            [Output("o", TEXT)],
            [("> 0.3", '"over"'), ("<= 0.3", '"within"')],
        ),
        (
            ({"price": 0.1, "quantity": 3}, "within"),
            ({"price": 33.4, "quantity": 3}, "over"),
            ({"price": "1", "quantity": 3}, None),
        ),
    ),
    Decided(
        "output-lists",
        "o",
        table(
            "o",
            [("x", NUMBER)],
            [Output("o", "Any")],
            [("< 5", '["a", "b"]'), (">= 5", "[x, x + 1]")],
        ),
        (({"x": 1}, ["a", "b"]), ({"x": 5}, [5, 6])),
    ),
    Decided(
        "output-text",
        "o",
        table("o", [("x", NUMBER)], [Output("o", TEXT)], [("-", '"Order " + string(x)')]),
        (({"x": 5}, "Order 5"), ({"x": 0.1}, "Order 0.1")),
    ),
    Decided(
        "collect-two",
        "c",
        table(
            "c",
            [("x", NUMBER)],
            [Output("role", TEXT), Output("level", NUMBER)],
            [("> 1", '"clerk"', "1"), ("> 2", '"boss"', "2")],
            "COLLECT",
        ),
        (
            ({"x": 3}, [{"role": "clerk", "level": 1}, {"role": "boss", "level": 2}]),
            ({"x": 2}, [{"role": "clerk", "level": 1}]),
            ({"x": 0}, None),
        ),
    ),
    Decided(
        "rule-order",
        "c",
        table(
            "c",
            [("x", NUMBER)],
            [Output("o", TEXT)],
            [("> 1", '"b"'), ("> 2", '"a"')],
            "RULE ORDER",
        ),
        (({"x": 3}, ["b", "a"]), ({"x": 0}, None)),
    ),
    Decided(
        "output-order",
        "c",
        table(
            "c",
            [("x", NUMBER)],
            [Output("o", TEXT, '"high", "medium", "low"')],
            [("> 1", '"low"'), ("> 2", '"high"'), ("> 3", '"medium"')],
            "OUTPUT ORDER",
        ),
        (({"x": 3}, ["high", "low"]), ({"x": 4}, ["high", "medium", "low"])),
    ),
    Decided(
        "priority",
        "c",
        table(
            "c",
            [("x", NUMBER)],
            [Output("o", TEXT, '"high", "medium", "low"')],
            [("> 1", '"low"'), ("> 2", '"medium"'), ("> 3", '"high"')],
            "PRIORITY",
        ),
        (({"x": 3}, "medium"), ({"x": 4}, "high"), ({"x": 0}, None)),
    ),
    Decided(
        "any",
        "c",
        table(
            "c",
            [("x", NUMBER)],
            [Output("o", TEXT)],
            [("> 1", '"yes"'), ("> 2", '"yes"'), ("> 9", '"no"')],
            "ANY",
        ),
        (({"x": 3}, "yes"), ({"x": 0}, None), ({"x": 10}, STOPS)),
    ),
    Decided(
        "sum",
        "c",
        table(
            "c",
            [("x", NUMBER)],
            [Output("o", NUMBER)],
            [("> 1", "0.1"), ("> 2", "0.2"), ("> 3", "x * 0.1")],
            "COLLECT",
            "SUM",
        ),
        (({"x": 3}, 0.3), ({"x": 4}, 0.7), ({"x": 0}, None)),
    ),
    Decided(
        "min",
        "c",
        table(
            "c",
            [("x", NUMBER)],
            [Output("o", NUMBER)],
            [("> 1", "5"), ("> 2", "-2.5")],
            "COLLECT",
            "MIN",
        ),
        (({"x": 3}, -2.5), ({"x": 2}, 5)),
    ),
    Decided(
        "max",
        "c",
        table(
            "c",
            [("x", NUMBER)],
            [Output("o", NUMBER)],
            [("> 1", "5"), ("> 2", "x * 3")],
            "COLLECT",
            "MAX",
        ),
        (({"x": 3}, 9), ({"x": 2}, 5)),
    ),
    Decided(
        "count",
        "c",
        table(
            "c",
            [("x", NUMBER)],
            [Output("o", NUMBER)],
            [("> 1", "5"), ("> 2", "5")],
            "COLLECT",
            "COUNT",
        ),
        (({"x": 3}, 2), ({"x": 0}, None)),
    ),
    Decided(
        "default",
        "c",
        table("c", [("x", NUMBER)], [Output("o", TEXT, "", '"none"')], [("> 1", '"some"')]),
        (({"x": 3}, "some"), ({"x": 0}, "none")),
    ),
    Decided(
        "graph",
        "dish",
        table(
            "dish",
            [("season", TEXT), ("guests", NUMBER)],
            [Output("o", TEXT)],
            [
                ('"Winter"', "<= 8", '"Roast"'),
                ('"Winter"', "> 8", '"Stew"'),
                ('not("Winter")', "-", '"Salad"'),
            ],
            requires=("season",),
        )
        + table(
            "season",
            [("temperature", NUMBER)],
            [Output("season", TEXT)],
            [("< 10", '"Winter"'), (">= 10", '"Summer"')],
        ),
        (
            ({"temperature": 5, "guests": 4}, "Roast"),
            ({"temperature": 5, "guests": 9}, "Stew"),
            ({"temperature": 15, "guests": 9}, "Salad"),
        ),
    ),
    Decided(
        "literal",
        "total",
        literal("total", "net * 1.19"),
        (({"net": 100}, 119), ({"net": 0.1}, 0.119)),
    ),
    Decided(
        "graph-literal",
        "class",
        table(
            "class",
            [("total", NUMBER)],
            [Output("o", TEXT)],
            [("< 100", '"small"'), (">= 100", '"large"')],
            requires=("total",),
        )
        + literal("total", "net + tax"),
        (({"net": 80, "tax": 15.2}, "small"), ({"net": 99.9, "tax": 0.1}, "large")),
    ),
    Decided(
        "knowledge",
        "fee",
        function("discount", ("amount",), "if amount > 100 then 0.1 else 0")
        + literal("fee", "amount - amount * discount(amount)", knowledge=("discount",)),
        (({"amount": 200}, 180), ({"amount": 100}, 100)),
    ),
    Decided(
        "question",
        "q",
        table(
            "q",
            [("text", TEXT), ("n", NUMBER)],
            [Output("o", TEXT)],
            [
                ('contains(?, "x")', "-", '"x"'),
                ('starts with(?, "ab")', "? > 5 and ? < 8", '"ab"'),
                ("-", "-", '"rest"'),
            ],
            "FIRST",
        ),
        (
            ({"text": "max", "n": 1}, "x"),
            ({"text": "abc", "n": 6}, "ab"),
            ({"text": "abc", "n": 8}, "rest"),
            ({"text": None, "n": 6}, "rest"),
        ),
    ),
    Decided(
        "count-list",
        "q",
        table(
            "q",
            [("items", "Any")],
            [Output("o", TEXT)],
            [
                ("count(?) > 1", '"many"'),
                ("count(?) = 1", '"one"'),
                ("[]", '"none"'),
                ("-", '"no list"'),
            ],
            "FIRST",
        ),
        (
            ({"items": [1, 2]}, "many"),
            ({"items": [1]}, "one"),
            ({"items": []}, "none"),
            ({"items": None}, "no list"),
        ),
    ),
    Decided(
        "paths",
        "p",
        table(
            "p",
            [("order.customer.type", TEXT)],
            [Output("o", TEXT)],
            [('"gold"', '"free"'), ('not("gold")', '"paid"')],
        ),
        (
            ({"order": {"customer": {"type": "gold"}}}, "free"),
            ({"order": {"customer": {"type": "basic"}}}, "paid"),
            ({"order": {}}, "paid"),
        ),
    ),
    Decided(
        "other-variable",
        "p",
        table(
            "p",
            [("x", NUMBER)],
            [Output("o", TEXT)],
            [("> limit", '"over"'), ("<= limit", '"under"')],
        ),
        (
            ({"x": 5, "limit": 4}, "over"),
            ({"x": 4, "limit": 4}, "under"),
            ({"x": 4, "limit": None}, None),
        ),
    ),
    Decided(
        "list-variable",
        "p",
        table(
            "p",
            [("country", TEXT)],
            [Output("o", TEXT)],
            [("allowed", '"yes"'), ("-", '"no"')],
            "FIRST",
        ),
        (
            ({"country": "DE", "allowed": ["DE", "FR"]}, "yes"),
            ({"country": "US", "allowed": ["DE", "FR"]}, "no"),
            ({"country": "DE", "allowed": "DE"}, "yes"),
        ),
    ),
    Decided(
        "null",
        "p",
        table(
            "p",
            [("x", NUMBER)],
            [Output("o", TEXT)],
            [("null", '"missing"'), ("not(null)", '"present"')],
        ),
        (({"x": None}, "missing"), ({"x": 5}, "present")),
    ),
    Decided(
        "times",
        "p",
        table(
            "p",
            [("time(t)", "time")],
            [Output("o", TEXT)],
            [
                ('< time("12:00:00")', '"morning"'),
                ('[time("12:00:00")..time("18:00:00"))', '"day"'),
                ('>= time("18:00:00")', '"evening"'),
            ],
        ),
        (
            ({"t": "11:59:59"}, "morning"),
            ({"t": "12:00:00"}, "day"),
            ({"t": "18:00:00"}, "evening"),
        ),
    ),
    Decided(
        "negative",
        "p",
        table(
            "p",
            [("x", NUMBER), ("y", NUMBER)],
            [Output("o", TEXT)],
            [
                ("-5", "-", '"five"'),
                ("<= -1", "< 0.5", '"both"'),
                ("[-1..1)", "-", '"near"'),
                ("-", ">= 0.5", '"far"'),
            ],
            "FIRST",
        ),
        (
            ({"x": -5, "y": 9}, "five"),
            ({"x": -2, "y": 0.25}, "both"),
            ({"x": -0.5, "y": 9}, "near"),
            ({"x": 1, "y": 0.5}, "far"),
            ({"x": 1, "y": 0.25}, None),
        ),
    ),
    Decided(
        "texts",
        "p",
        table(
            "p",
            [("name", TEXT)],
            [Output("größe", TEXT)],
            [
                ('"Müller"', '"ü"'),
                ('"say \\"hi\\""', '"quoted"'),
                ('["a".."f"]', '"a to f"'),
                ('> "x"', '"after x"'),
            ],
            "FIRST",
        ),
        (
            ({"name": "Müller"}, "ü"),
            ({"name": 'say "hi"'}, "quoted"),
            ({"name": "car"}, "a to f"),
            ({"name": "xa"}, "after x"),
            ({"name": "m"}, None),
        ),
    ),
    Decided(
        "in-lists",
        "p",
        table(
            "p",
            [("role", TEXT), ("age", NUMBER)],
            [Output("o", TEXT)],
            [
                ('"a", "b"', "< 18, > 65", '"care"'),
                ('not("a", "b")', "not([18..65])", '"check"'),
                ("-", "-", '"none"'),
            ],
            "FIRST",
        ),
        (
            ({"role": "a", "age": 17}, "care"),
            ({"role": "b", "age": 66}, "care"),
            ({"role": "c", "age": 70}, "check"),
            ({"role": "c", "age": 65}, "none"),
            ({"role": "a", "age": 30}, "none"),
        ),
    ),
)


@pytest.mark.parametrize("one", DECIDED, ids=[one.name for one in DECIDED])
def test_results_on_the_engine(one: Decided, engine: LocalEngine, tmp_path: Path) -> None:
    text = f"{HEAD}{one.decisions}</definitions>"
    (tmp_path / "decisions.dmn").write_text(text, "utf-8")
    process, ctx = compiled(one_task(TASK.format(one.asked)), tmp_path)
    assert [d.message for d in ctx.diagnostics if d.code in ("OF404", "OF501")] == []
    requests = [
        RunRequest(process.root.workflow, "Start", items=[{"json": given}], data=True)
        for given, _ in one.cases
    ]
    found = [variables(run) for run in engine.run_many(requests)]
    results = [STOPS if isinstance(after, str) else after["result"] for after in found]
    assert results == [wanted for _, wanted in one.cases]
