"""Random decision tables of values and constants, with items to decide."""

from __future__ import annotations

import random
from typing import Any
from xml.sax.saxutils import escape

from orgflow.frontends.dmn.dmn_reader import read_dmn

from orgflow_ir.decisions.model import Definitions

CELLS = {
    "category": ('"travel"', '"travel", "meals"', 'not("travel")', 'not("a", "b")', "-", "null",
                 '!= "travel"', '"5"', '= "a"'),
    "amount": ("<= 50", "> 50", "[5..500]", "(5..50]", "]5..50[", "5", "5, > 50", "-",
               "not(<= 50)", "not([5..50])", "not(5, > 50)", "-3", "0.1", "null, 5", "!= 5",
               ">= -0.5", "? > 3 and ? < 60"),
    "vip": ("true", "false", "-", "not(true)", "true, false", "null"),
    "order.total": ("<= 50", "5", '"travel"', "-", "not(5)", "not(> 5)"),
}  # fmt: skip
RESULTS = {
    "string": ('"nobody"', '"manager"', '"a %} b"', "-", '""'),
    "number": ("1", "-2", "0.1", "1000", "null"),
    "boolean": ("true", "false", "null"),
    "": ('"x"', "1", "true", "-"),
}
VALUES: tuple[Any, ...] = (
    "travel", "meals", "a", "5", "", 5, 50, 50.0001, 0.1, -3, 0, 499, None, True, False,
    ["travel"], [5], [], {"total": 5}, {"total": 500}, {"total": "travel"}, {},
    [{"total": 5}, {"total": 7}],
)  # fmt: skip
POLICIES = ("UNIQUE", "FIRST", "FIRST", "ANY", "RULE ORDER", "COLLECT", "COLLECT", "PRIORITY")


def random_item(draw: random.Random) -> dict[str, Any]:
    """Values of the inputs, of any type; some are missing."""
    names = ("category", "amount", "vip", "order")
    return {name: draw.choice(VALUES) for name in names if draw.random() < 0.9}


def random_table(draw: random.Random) -> Definitions:
    """The decision `Result`, a table of one to three columns."""
    columns = draw.sample(list(CELLS), draw.randint(1, 3))
    names = sorted({column.split(".")[0] for column in columns})
    declared = "".join(
        f'<inputData id="{name}" name="{name}"><variable name="{name}"{_type(draw, 0.2)}/>'
        "</inputData>"
        for name in names
    )
    needed = "".join(
        f'<informationRequirement><requiredInput href="#{name}"/></informationRequirement>'
        for name in names
    )
    namespace = draw.choice(("urn:m", "http://camunda.org/schema/1.0/dmn"))
    text = (
        '<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" name="m" '
        f'namespace="{namespace}">{declared}<decision id="Result" name="Result">{needed}'
        f"{_table(draw, columns)}</decision></definitions>"
    )
    return read_dmn(text.encode())


def _type(draw: random.Random, share: float) -> str:
    named = draw.choice(("number", "string", "boolean"))
    return f' typeRef="{named}"' if draw.random() < share else ""


def _table(draw: random.Random, columns: list[str]) -> str:
    policy = draw.choice(POLICIES)
    types = [draw.choice(list(RESULTS)) for _ in range(draw.choice((1, 1, 2)))]
    how = ""
    if policy == "COLLECT" and len(types) == 1 and draw.random() < 0.7:
        how = f' aggregation="{draw.choice(("COUNT", "SUM", "MIN", "MAX"))}"'
        types = ["number"]
    inputs = "".join(
        f"<input><inputExpression{_type(draw, 0.3)}><text>{column}</text></inputExpression></input>"
        for column in columns
    )
    outputs = "".join(
        f'<output name="out{at}"' + (f' typeRef="{named}"' if named else "") + ">"
        + (f"<defaultOutputEntry><text>{escape(draw.choice(RESULTS[named]))}</text>"
           "</defaultOutputEntry>" if draw.random() < 0.15 and not how else "")
        + "</output>"
        for at, named in enumerate(types)
    )  # fmt: skip
    rules = "".join(
        "<rule>"
        + "".join(_entry("inputEntry", draw.choice(CELLS[column])) for column in columns)
        + "".join(_entry("outputEntry", draw.choice(RESULTS[named])) for named in types)
        + "</rule>"
        for _ in range(draw.randint(1, 5))
    )
    return f'<decisionTable hitPolicy="{policy}"{how}>{inputs}{outputs}{rules}</decisionTable>'


def _entry(name: str, text: str) -> str:
    return f"<{name}><text>{escape(text)}</text></{name}>"
