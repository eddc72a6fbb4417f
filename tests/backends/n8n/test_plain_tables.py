"""Decision tables as lines of rules: the evaluator and the runtime of FEEL are the referees."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import pytest
from orgflow.backends.javascript.decision_runtime_code import decision_code
from orgflow.backends.javascript.exact_code import print_inline
from orgflow.backends.javascript.table_code import plain_decision
from orgflow.evaluation.dmn_kit import Case, read_suite, run_javascript, suite_folders
from orgflow.frontends.dmn.dmn_reader import read_dmn
from seeds import seeds

from orgflow_ir.decisions.evaluate import decide_json
from orgflow_ir.decisions.link import DecisionModel, link
from orgflow_ir.decisions.process_variables import link_process_decision
from orgflow_ir.languages.feel.reading import read_feel
from orgflow_ir.program.feel.boundary import to_json
from orgflow_ir.program.feel.values import Unsupported

COLUMNS = {
    "category": ['"travel"', '"meals"', '"travel", "meals"', 'not("travel")', 'not("a", "b")',
                 "-", "null", '!= "travel"', '["travel", "a"]', '"5"', '= "a"'],
    "amount": ["<= 50", "> 50", "[5..500]", "(5..50]", "]5..50[", "(< 10)", "5", "5, > 50", "-",
               "not(<= 50)", "not([5..50])", "not(5)", "not(5, > 50)", "-3", "0.1", "null, 5",
               "!= 5", ">= -0.5", "[-3..0.3]", "(> 100)", "0.30000000000000004", "< 1e20"],
    "vip": ["true", "false", "-", "not(true)", "true, false", "null", "true, 5"],
    "order.total": ["<= 50", "5", '"travel"', "-", "not(5)", "not(> 5)"],
}  # fmt: skip
ENTRIES = {
    "string": ['"nobody"', '"manager"', '"a \\"b\\" {{x}} \\u2028"', "-", '""'],
    "number": ["1", "-2", "0.1", "1000", "3", "null"],
    "boolean": ["true", "false", "null"],
    None: ['"x"', "1", "true", "-"],
}
VALUES: list[Any] = [
    "travel", "meals", "a", "5", "", 5, 50, 50.0001, 0.1, 0.3, 0.1 + 0.2, -3, 0, -0.0, 1e21, 499,
    None, True, False, ["travel"], [5], [], {"total": 5}, {"total": 500}, {"total": "travel"}, {},
    [{"total": 5}, {"total": 7}], [{"total": 5}],
]  # fmt: skip


def table(draw: random.Random, name: str, inputs: list[str], outputs: int) -> str:
    """The XML of a random decision table."""

    def type_of(path: str) -> str:
        if draw.random() < 0.3:
            return ""
        fitting = {"category": "string", "amount": "double", "vip": "boolean"}.get(path, "long")
        chosen = fitting if draw.random() < 0.7 else draw.choice(["integer", "string", "boolean"])
        return f' typeRef="{chosen}"'

    policy = draw.choice(["UNIQUE", "FIRST", "ANY", "RULE ORDER", "COLLECT", "COLLECT", "FIRST"])
    how = ""
    types = [draw.choice(list(ENTRIES)) for _ in range(outputs)]
    if policy == "COLLECT" and outputs == 1 and draw.random() < 0.7:
        how = f' aggregation="{draw.choice(["COUNT", "SUM", "MIN", "MAX"])}"'
        types = ["number"]
    columns = "".join(
        f"<input><inputExpression{type_of(path)}><text>{path}</text></inputExpression>"
        + (
            f"<inputValues><text>{escape(draw.choice(COLUMNS[path]))}</text></inputValues>"
            if draw.random() < 0.15
            else ""
        )
        + "</input>"
        for path in inputs
    )
    default = [draw.random() < 0.2 and not how for _ in types]
    results = "".join(
        f'<output name="out{at}"'
        + (f' typeRef="{of}"' if of else "")
        + ">"
        + (
            f"<defaultOutputEntry><text>{escape(draw.choice(ENTRIES[of]))}</text>"
            "</defaultOutputEntry>"
            if default[at]
            else ""
        )
        + "</output>"
        for at, of in enumerate(types)
    )
    rules = "".join(
        "<rule>"
        + "".join(
            f"<inputEntry><text>{escape(draw.choice(COLUMNS[path]))}</text></inputEntry>"
            for path in inputs
        )
        + "".join(
            f"<outputEntry><text>{escape(draw.choice(ENTRIES[of]))}</text></outputEntry>"
            for of in types
        )
        + "</rule>"
        for _ in range(draw.randint(1, 5))
    )
    needed = "".join(
        f'<informationRequirement><requiredInput href="#{path.split(".")[0]}"/>'
        "</informationRequirement>"
        for path in inputs
    )
    return (
        f'<decision id="{name}" name="{name}">{needed}<decisionTable hitPolicy="{policy}"{how}>'
        f"{columns}{results}{rules}</decisionTable></decision>"
    )


def model(draw: random.Random) -> DecisionModel:
    inputs = draw.sample(list(COLUMNS), draw.randint(1, 3))
    declared = "".join(
        f'<inputData id="{name}" name="{name}">'
        + (
            f'<variable name="{name}" typeRef="{draw.choice(["number", "string", "boolean"])}"/>'
            if draw.random() < 0.2
            else f'<variable name="{name}"/>'
        )
        + "</inputData>"
        for name in sorted({path.split(".")[0] for path in inputs})
    )
    tests = (draw.choice(COLUMNS["amount"]) for _ in range(3))
    rules = "".join(
        f"<rule><inputEntry><text>{escape(test)}</text></inputEntry>"
        f'<outputEntry><text>"{at}"</text></outputEntry></rule>'
        for at, test in enumerate(tests)
    )
    namespace = draw.choice(["urn:m", "http://camunda.org/schema/1.0/dmn"])
    read = draw.choice(["Result", "Result.out0", "Result.out1"])
    after = (
        '<decision id="After" name="After"><informationRequirement>'
        '<requiredDecision href="#Result"/></informationRequirement>'
        '<decisionTable hitPolicy="RULE ORDER"><input><inputExpression>'
        f"<text>{read}</text></inputExpression></input><output/>{rules}</decisionTable></decision>"
    )
    text = (
        '<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" name="m" '
        f'namespace="{namespace}">{declared}{table(draw, "Result", inputs, draw.choice([1, 1, 2]))}'
        f"{after}</definitions>"
    )
    return link(read_dmn(text.encode()))


class Tried(NamedTuple):
    """Code of a decision of a model, and the items that it is tried on."""

    linked: DecisionModel
    name: str
    code: str
    items: list[dict[str, Any]]


def differing(
    linked: DecisionModel, name: str, code: str, items: list[dict[str, Any]]
) -> list[Any]:
    """Where the code, the runtime and the evaluator do not agree."""
    return differences([Tried(linked, name, code, items)])[0]


def differences(tried: Sequence[Tried]) -> list[list[Any]]:
    """What is `differing` for each, with one start of Node."""
    programs = [
        f"{code}\nconst tried = (item) => {{ try {{ return [decision(item)]; }} "
        f"catch (error) {{ return error.message; }} }};"
        f"\nreturn {json.dumps(one.items)}.map(tried);"
        for one in tried
        for code in (one.code, decision_code(one.linked, one.name))
    ]
    answers = iter(run_javascript(programs))
    return [_differing(one, next(answers), next(answers)) for one in tried]


def _differing(tried: Tried, plainly: tuple[str, Any], fully: tuple[str, Any]) -> list[Any]:
    (kind, plain), (other, full) = plainly, fully
    assert (kind, other) == ("value", "value"), (plain, full, tried.code)
    evaluated = [evaluation(tried.linked, tried.name, item) for item in tried.items]
    return [
        (item, one, two, three)
        for item, one, two, three in zip(tried.items, plain, full, evaluated, strict=True)
        if isinstance(one, str) != isinstance(two, str)
        or isinstance(one, str) != isinstance(three, str)
        or (not isinstance(one, str) and not same(one, two, three))
    ]


def evaluation(linked: DecisionModel, name: str, item: dict[str, Any]) -> Any:
    """The value in a list, or the error."""
    try:
        return [json.loads(json.dumps(decide_json(linked, name, item)))]
    except Unsupported as error:
        return str(error)


def same(*values: Any) -> bool:
    """Whether values are equal, true and 1 being different."""
    return len({json.dumps(value).replace(".0,", ",").replace(".0]", "]") for value in values}) == 1


@pytest.mark.parametrize("seed", seeds(200))
def test_a_plain_table_decides_as_feel_does(seed: int) -> None:
    draw = random.Random(seed)
    tried: list[Tried] = []
    for _ in range(8):
        made = model(draw)
        name = draw.choice(["Result", "After"])
        if made.problems:
            continue
        code = plain_decision(made, name, "decision")
        if code is None:
            continue
        items = [
            {name: draw.choice(VALUES) for name in ("category", "amount", "vip", "order")}
            for _ in range(60)
        ]
        items += [{name: value for name, value in item.items() if draw.random() < 0.7}
                  for item in items[:20]]  # fmt: skip
        tried.append(Tried(made, name, code, items))
    assert tried, "no table of this seed is plain"
    for one, found in zip(tried, differences(tried), strict=True):
        assert not found, (found[0], one.code)


NUMBER_CELLS = ["<= 50", "> 5", "[5..500]", "5", "5, > 50", "-", "not(<= 50)", "not(5, > 50)",
                "0.1", "null, 5", "!= 5", "fee", "> fee", "not(> fee)", "? * 2 > 5"]  # fmt: skip
DATE_CELLS = ['< date("2024-03-01")', '>= @"2024-02-29"', '@"2024-02-29"', "< today()", "-",
              '[@"2024-01-01"..@"2024-12-31"]', 'not([@"2024-01-01"..today()])', "null",
              'not(@"2024-02-29", @"2023-01-31")', '? + @"P1M" > today()', "> date(due)",
              '?.year = 2024', 'day of week(?) = "Thursday"']  # fmt: skip
MOMENT_CELLS = ['< date and time("2024-03-01T00:00:00")', "-", "null", "< now()",
                '[date and time("2024-01-01T00:00:00")..date and time("2024-12-31T00:00:00")]',
                'not(> date and time("2024-02-29T00:00:00"))', "?.hour > 5"]  # fmt: skip
COMPUTED: dict[str, tuple[list[str], list[str]]] = {
    "date(due)": (DATE_CELLS, ["", "", "date"]),
    "date and time(due)": (MOMENT_CELLS, ["", "date"]),
    "due": ([*MOMENT_CELLS, '"2024-02-29"', 'starts with(?, "2024")'], ["", "date", "string"]),
    "day": (DATE_CELLS, [""]),
    "amount * 1.1": (NUMBER_CELLS, ["", "double"]),
    "amount + fee": (NUMBER_CELLS, ["", "double", "integer"]),
    "amount - fee": (NUMBER_CELLS, ["", "double"]),
    "count(list)": (NUMBER_CELLS, ["", "double", "long"]),
    "date(due).year": (NUMBER_CELLS, ["", "double"]),
    "date(due) - day": (['> @"P1D"', "-", 'not(< @"PT36H")', "?.days > 30"], [""]),
    "amount > fee": (["true", "false", "-", "not(true)", "null"], ["", "boolean"]),
    "string(amount)": (['"5"', '"a", "5"', "-", 'not("5")', 'starts with(?, "5")'], ["", "string"]),
    "amount": ([*NUMBER_CELLS, '"a"', '>= "a"', '["5".."b"]', 'contains(?, "a")', "list",
                "not(list)"], ["", "double"]),
    "if amount > 5 then fee else due": (["5", '"2024-02-29"', "-", "> 5", "fee"], [""]),
}  # fmt: skip
RESULTS = {
    "string": ['"a"', '"b"', "due", '"x" + due', "string(amount)", "null", "amount", "[due]",
               "string(date(due))", "day of week(day)"],
    "number": ["1", "-0.5", "amount * 0.1", "amount + fee", "fee", "count(list)", "null",
               "date(due).year", "if amount > 5 then amount else fee", "-amount"],
    "boolean": ["true", "amount > fee", "null", "due"],
    "date": ["date(due)", "day", 'date(due) + @"P7D"', "null"],
    "": ["1", "amount", "{a: amount, due: date(due)}", "[fee, day]", "today() > day", "date(due)",
         "amount * fee", "list[item > 1]"],
}  # fmt: skip
GIVEN: dict[str, list[Any]] = {
    "due": [None, "2024-02-29", "2024-01-31T10:00:00", "2024-01-31T10:00:00Z", "x", 5,
            ["2023-01-31"], "2024-02-29", "2030-01-01"],
    "day": [None, "2024-02-29", "2023-01-31", "2100-12-31", "x", 5],
    "amount": [None, 0, 5, 0.1, 50, 4.545454545454545, -3, "a", "5", [5], True],
    "fee": [None, 0, 5, 0.2, 100, "a", [1, 5]],
    "list": [None, [], [5], [1, 5, 7], 3, "a"],
}  # fmt: skip


def computed_model(draw: random.Random) -> DecisionModel:
    columns = draw.sample(list(COMPUTED), draw.randint(1, 2))
    policy = draw.choice(["UNIQUE", "FIRST", "FIRST", "ANY", "RULE ORDER", "COLLECT", "PRIORITY",
                          "OUTPUT ORDER"])  # fmt: skip
    priorities = policy in ("PRIORITY", "OUTPUT ORDER")
    types = [draw.choice(list(RESULTS)) for _ in range(draw.choice([1, 1, 2]))]
    results = {of: ['"a"', '"b"', "1", "null"] for of in RESULTS} if priorities else RESULTS
    inputs = "".join(
        f"<input><inputExpression{_typed(draw.choice(COMPUTED[column][1]))}><text>"
        f"{escape(column)}</text></inputExpression></input>"
        for column in columns
    )
    outputs = "".join(
        f'<output name="out{at}"{_typed(of)}>'
        + ('<outputValues><text>1, "b"</text></outputValues>' if priorities else "")
        + (
            f"<defaultOutputEntry><text>{escape(draw.choice(results[of]))}</text>"
            "</defaultOutputEntry>"
            if draw.random() < 0.2
            else ""
        )
        + "</output>"
        for at, of in enumerate(types)
    )
    rules = "".join(
        "<rule>"
        + "".join(
            f"<inputEntry><text>{escape(draw.choice(COMPUTED[column][0]))}</text></inputEntry>"
            for column in columns
        )
        + "".join(
            f"<outputEntry><text>{escape(draw.choice(results[of]))}</text></outputEntry>"
            for of in types
        )
        + "</rule>"
        for _ in range(draw.randint(1, 4))
    )
    types_of = {"day": "date", "amount": draw.choice(["", "number"])}
    declared = "".join(
        f'<inputData id="{name}" name="{name}">'
        f'<variable name="{name}"{_typed(types_of.get(name, ""))}/></inputData>'
        for name in GIVEN
    )
    needed = "".join(
        f'<informationRequirement><requiredInput href="#{name}"/></informationRequirement>'
        for name in GIVEN
    )
    namespace = draw.choice(["urn:m", "http://camunda.org/schema/1.0/dmn"])
    after = escape(draw.choice(["[Result]", "Result", "count(Result) > 1"]))
    whole = draw.choice(["", "", "", types[0] if len(types) == 1 else ""])
    text = (
        '<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" name="m" '
        f'namespace="{namespace}">{declared}<decision id="Result" name="Result">'
        f'<variable name="Result"{_typed(whole)}/>{needed}<decisionTable hitPolicy="{policy}">'
        f"{inputs}{outputs}{rules}</decisionTable></decision>"
        '<decision id="After" name="After"><informationRequirement>'
        '<requiredDecision href="#Result"/></informationRequirement>'
        f"<literalExpression><text>{after}</text>"
        "</literalExpression></decision></definitions>"
    )
    return link(read_dmn(text.encode()))


def _typed(of: str) -> str:
    return f' typeRef="{of}"' if of else ""


@pytest.mark.parametrize("seed", seeds(100))
def test_a_computed_table_decides_as_feel_does(seed: int) -> None:
    draw = random.Random(seed)
    tried: list[Tried] = []
    for _ in range(12):
        made = computed_model(draw)
        name = draw.choice(["Result", "Result", "After"])
        code = None if made.problems else plain_decision(made, name, "decision")
        if code is None:
            continue
        items = [{name: draw.choice(values) for name, values in GIVEN.items()} for _ in range(60)]
        items += [{name: value for name, value in item.items() if draw.random() < 0.7}
                  for item in items[:20]]  # fmt: skip
        tried.append(Tried(made, name, code, items))
    assert tried, "no table of this seed is plain"
    for one, found in zip(tried, differences(tried), strict=True):
        assert not found, (found[0], one.code)


def test_dates_of_camunda_are_plain() -> None:
    """The type `date` of a column converts the variable, as does an expression in a column."""
    text = """<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" name="D"
      namespace="http://camunda.org/schema/1.0/dmn">
      <decision id="due" name="Due"><decisionTable hitPolicy="UNIQUE">
        <input><inputExpression typeRef="date"><text>due</text></inputExpression></input>
        <input><inputExpression typeRef="double"><text>net * 1.1</text></inputExpression></input>
        <output name="late"/>
        <rule><inputEntry><text>&lt; date and time("2026-03-29T02:30:00")</text></inputEntry>
          <inputEntry><text>1.1</text></inputEntry>
          <outputEntry><text>string(net) + " late"</text></outputEntry></rule>
        <rule><inputEntry><text>&gt;= date and time("2026-03-29T02:30:00")</text></inputEntry>
          <inputEntry><text>-</text></inputEntry>
          <outputEntry><text>"in time"</text></outputEntry></rule>
      </decisionTable></decision></definitions>"""
    definitions = read_dmn(text.encode())
    decision = link_process_decision("d.dmn", definitions, (), definitions.decisions[0])
    code = plain_decision(decision.model, "Due", "decision")
    assert code is not None
    assert "due < moment" not in code  # moments are objects
    assert len(code) < 6000
    moments = [
        None,
        5,
        "x",
        "2026-03-29",
        "2026-03-29T02:30:00",
        "2026-03-29T02:30:00Z",
        "2030-01-01",
    ]
    items = [{"due": due, "net": net} for due in moments for net in (None, 1, 2.5, "a")]
    assert differing(decision.model, "Due", code, items) == []


def test_outputs_of_a_required_decision() -> None:
    """Camunda 7 reads each output of a table by its name."""
    text = """<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" name="D"
      namespace="http://camunda.org/schema/1.0/dmn">
      <decision id="dish" name="Dish"><decisionTable>
        <input><inputExpression><text>season</text></inputExpression></input>
        <output name="main"/><output name="price"/>
        <rule><inputEntry><text>"Summer"</text></inputEntry>
          <outputEntry><text>"Steak"</text></outputEntry>
          <outputEntry><text>30</text></outputEntry></rule>
        <rule><inputEntry><text>not("Summer")</text></inputEntry>
          <outputEntry><text>"Stew"</text></outputEntry>
          <outputEntry><text>12</text></outputEntry></rule></decisionTable></decision>
      <decision id="wine" name="Wine">
        <informationRequirement><requiredDecision href="#dish"/></informationRequirement>
        <decisionTable hitPolicy="FIRST">
        <input><inputExpression><text>main</text></inputExpression></input>
        <input><inputExpression><text>price</text></inputExpression></input>
        <output name="wine"/>
        <rule><inputEntry><text>"Steak"</text></inputEntry><inputEntry><text>-</text></inputEntry>
          <outputEntry><text>"red"</text></outputEntry></rule>
        <rule><inputEntry><text>-</text></inputEntry><inputEntry><text>&lt; 20</text></inputEntry>
          <outputEntry><text>"water"</text></outputEntry></rule>
        </decisionTable></decision></definitions>"""
    definitions = read_dmn(text.encode())
    decision = link_process_decision("d.dmn", definitions, (), definitions.decisions[1])
    code = plain_decision(decision.model, "Wine", "decision")
    assert code is not None
    items = [{"season": season} for season in ("Summer", "Winter", None, 5)]
    assert not differing(decision.model, "Wine", code, items)
    ((_, found),) = run_javascript([f"{code}\nreturn {json.dumps(items)}.map(decision);"])
    assert found == ["red", "water", "water", None]


@pytest.mark.slow
def test_the_kit_with_plain_tables(shared: Path) -> None:
    """Each case of the compatibility kit whose decision becomes lines of rules."""
    played = 0
    for folder in suite_folders(shared / "data" / "dmn-tck"):
        suite = read_suite(folder, int(folder.parent.name[-1]))
        tried: list[tuple[Case, Tried]] = []
        for case in suite.cases:
            try:
                code = plain_decision(suite.model, case.node, "decision")
            except KeyError:
                continue
            if code is None:
                continue
            item = {name: to_json(value) for name, value in case.given.items()}
            tried.append((case, Tried(suite.model, case.node, code, [item])))
        for (case, _), found in zip(tried, differences([one for _, one in tried]), strict=True):
            assert not found, (folder.name, case)
        played += len(tried)
    assert played >= 400


EXPRESSIONS = (
    ("net * 1.19", ""), ("net + tax", ""), ("net + tax", "number"), ("net + tax", "string"),
    ("if net > 100 then tax else 0", "number"), ('"total: " + string(net)', "string"),
    ("net > tax", "boolean"), ("[net, tax]", ""), ("net", "number"), ("net", "string"),
    ("{a: net}", ""), ("count(net) > 1", "boolean"),
)  # fmt: skip
AMOUNTS: tuple[Any, ...] = (
    None,
    0,
    0.1,
    0.2,
    84.03361344537815,
    100,
    "a",
    "5",
    True,
    [],
    [5],
    [1, "a"],
    {},
)


@pytest.mark.parametrize("name", ["order", "exact", "date", "today", "single", "net"])
def test_inputs_with_the_names_of_functions(name: str) -> None:
    made = (
        '<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" name="m" namespace="n">'
        f'<inputData id="a" name="{name}"/><decision id="d" name="Total"><variable name="Total"/>'
        '<informationRequirement><requiredInput href="#a"/></informationRequirement>'
        f"<literalExpression><text>[{name} * 1.1, {name} &lt; {name} * 2, string({name})]</text>"
        "</literalExpression></decision></definitions>"
    )
    linked = link(read_dmn(made.encode()))
    code = plain_decision(linked, "Total", "decision")
    assert code is not None
    items = [{name: value} for value in (None, 5, "2024-02-29")]
    assert differing(linked, "Total", code, items) == []


def test_a_variable_hides_the_function_of_its_name() -> None:
    def read(name: str) -> str | None:
        return "given" if name in ("date", "count", "contains") else None

    for text in ('date("2024-01-01")', "count(date)", 'contains("a", "b")', "date * 2"):
        tree = read_feel(text).body
        code = print_inline(tree, read)
        assert (code is None) is (text != "date * 2"), text


@pytest.mark.parametrize(("text", "of"), EXPRESSIONS)
def test_decisions_that_are_expressions(text: str, of: str) -> None:
    typed = f' typeRef="{of}"' if of else ""
    made = (
        '<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" name="m" '
        'namespace="n"><inputData id="a" name="net"/><inputData id="b" name="tax"/>'
        f'<decision id="d" name="Total"><variable name="Total"{typed}/>'
        '<informationRequirement><requiredInput href="#a"/></informationRequirement>'
        '<informationRequirement><requiredInput href="#b"/></informationRequirement>'
        f"<literalExpression><text>{escape(text)}</text></literalExpression></decision>"
        "</definitions>"
    )
    linked = link(read_dmn(made.encode()))
    code = plain_decision(linked, "Total", "decision")
    assert code is not None
    assert len(code) < 1200
    items = [{"net": net, "tax": tax} for net in AMOUNTS for tax in AMOUNTS]
    assert differing(linked, "Total", code, [*items, {}]) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("part.x + x", ("part", "x")),
        ("same = differ", ("same", "differ")),
        ("string(show) + string(plain)", ("show", "plain")),
        ("a[item = one1]", ("a", "one1")),
        ("list contains(a, one)", ("a", "one")),
        ("count(a[item > first])", ("a", "first")),
    ],
)
def test_inputs_with_the_names_of_parameters(text: str, names: tuple[str, str]) -> None:
    made = (
        '<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" name="m" namespace="n">'
        f'<inputData id="a" name="{names[0]}"/><inputData id="b" name="{names[1]}"/>'
        '<decision id="d" name="Total"><variable name="Total"/>'
        '<informationRequirement><requiredInput href="#a"/></informationRequirement>'
        '<informationRequirement><requiredInput href="#b"/></informationRequirement>'
        f"<literalExpression><text>{escape(text)}</text></literalExpression></decision>"
        "</definitions>"
    )
    linked = link(read_dmn(made.encode()))
    code = plain_decision(linked, "Total", "decision")
    assert code is not None
    values = (None, 1, 2.5, "a", [1, 2], {"x": 1})
    items = [dict(zip(names, (one, two), strict=True)) for one in values for two in values]
    assert differing(linked, "Total", code, items) == []
