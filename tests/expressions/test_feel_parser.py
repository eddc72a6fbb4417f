"""The parser of FEEL: names that only a scope can tell, spans, and what errors say."""

from __future__ import annotations

from decimal import Decimal

import pytest

from orgflow_ir.languages.feel.parser import (
    MAX_DEPTH,
    FeelError,
    normal_name,
    parse_expression,
    parse_unary_tests,
)
from orgflow_ir.program.feel_operators import BETWEEN, EXACT_LIST, FEEL, POWER
from orgflow_ir.program.structures import (
    ContextLiteral,
    Entry,
    Filter,
    FunctionCall,
    In,
    Path,
    RangeLiteral,
    UnaryTest,
    UnaryTests,
    parts,
)
from orgflow_ir.program.syntax import Call, Constant, Span, Tree, Variable

INPUT = Variable(("?",))
ONE, TWO, THREE = (Constant(Decimal(n)) for n in (1, 2, 3))


@pytest.mark.parametrize(
    ("text", "names", "tree"),
    [
        ("Monthly Income", ["Monthly Income"], Variable(("Monthly Income",))),
        ("Monthly   Income", ["Monthly Income"], Variable(("Monthly Income",))),
        ("a-b", ["a-b", "a", "b"], Variable(("a-b",))),
        ("a - b", ["a-b"], Variable(("a-b",))),
        ("a-b", ["a", "b"], FEEL.arithmetic["-"](Variable(("a",)), Variable(("b",)))),
        ("days in week", ["days in week"], Variable(("days in week",))),
        ("a and b", ["a", "b"], FEEL.logic["and"](Variable(("a",)), Variable(("b",)))),
        ("a and b", ["a and b", "a", "b"], Variable(("a and b",))),
        ("income", ["in", "come"], Variable(("income",))),
        ("größe + 1", ["größe"], FEEL.arithmetic["+"](Variable(("größe",)), ONE)),
        ("\U0001f40e + 1", [], FEEL.arithmetic["+"](Variable(("\U0001f40e",)), ONE)),
    ],
)
def test_names_are_what_the_scope_knows(text: str, names: list[str], tree: Tree) -> None:
    assert parse_expression(text, names) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("1 + 2 * 3", FEEL.arithmetic["+"](ONE, FEEL.arithmetic["*"](TWO, THREE))),
        ("-2 ** 2", POWER(FEEL.negative(TWO), TWO)),
        ("2 ** 3 ** 2", POWER(POWER(TWO, THREE), TWO)),
        ("1 - 2 - 3", FEEL.arithmetic["-"](FEEL.arithmetic["-"](ONE, TWO), THREE)),
        ("1 < 2 or 2 = 3 and 3 > 1", FEEL.logic["or"](
            FEEL.comparison["<"](ONE, TWO), FEEL.logic["and"](FEEL.comparison["=="](TWO, THREE),
            FEEL.comparison[">"](THREE, ONE)))),
        ("1 between 2 and 3", BETWEEN(ONE, TWO, THREE)),
        ("[1..2]", RangeLiteral(ONE, TWO, True, True)),
        ("]1..2[", RangeLiteral(ONE, TWO, False, False)),
        ("(<= 2)", RangeLiteral(None, TWO, False, True)),
        ("(> 2)", RangeLiteral(TWO, None, False, False)),
        ("[1..2[.start", Path(RangeLiteral(ONE, TWO, True, False), "start")),
        ("[1, 2]", EXACT_LIST(ONE, TWO)),
        ("1 in (2..3]", In(ONE, UnaryTests(
            (UnaryTest(None, RangeLiteral(TWO, THREE, False, True)),), False))),
        ("1 in (< 2, 3)", In(ONE, UnaryTests(
            (UnaryTest(FEEL.comparison["<"], TWO), UnaryTest(None, THREE)), False))),
        ("a[1]", Filter(Variable(("a",)), ONE)),
        ("a.time offset", Path(Variable(("a",)), "time offset")),
        ("f(x: 1)", FunctionCall(Variable(("f",)), (ONE,), ("x",))),
        ("string length(1)", FunctionCall(Variable(("string length",)), (ONE,), None)),
        ("1 // one\n + /* two */ 2", FEEL.arithmetic["+"](ONE, TWO)),
        (r'"a\"\u0041\U01F40E\n"', Constant('a"A\U0001f40e\n')),
        (".5", Constant(Decimal("0.5"))),
        ("a.`b-c`", Path(Variable(("a",)), "b-c")),
        ("`if not` + 1", FEEL.arithmetic["+"](Variable(("if not",)), ONE)),
        ("{`a-b`: 1}", ContextLiteral((Entry("a-b", ONE),))),
    ],
)  # fmt: skip
def test_expressions(text: str, tree: Tree) -> None:
    assert parse_expression(text) == tree


@pytest.mark.parametrize(
    ("text", "tests"),
    [
        ("-", UnaryTests((), False)),
        ("-1", UnaryTests((UnaryTest(None, FEEL.negative(ONE)),), False)),
        ("< 1, 2", UnaryTests((UnaryTest(FEEL.comparison["<"], ONE), UnaryTest(None, TWO)), False)),
        ("not(1, 2)", UnaryTests((UnaryTest(None, ONE), UnaryTest(None, TWO)), True)),
        ("? > 1", UnaryTests((UnaryTest(None, FEEL.comparison[">"](INPUT, ONE)),), False)),
        ("not(? = 1) and a", UnaryTests((UnaryTest(None, FEEL.logic["and"](
            FunctionCall(Variable(("not",)), (FEEL.comparison["=="](INPUT, ONE),), None),
            Variable(("a",)))),), False)),
    ],
)  # fmt: skip
def test_unary_tests(text: str, tests: UnaryTests) -> None:
    assert parse_unary_tests(text) == tests


def test_strings_may_span_lines() -> None:
    """Camunda reads them, and its modeler offers a field of several lines for them."""
    assert parse_expression('"Dear\n\tAda" + "\\n"') == FEEL.arithmetic["+"](
        Constant("Dear\n\tAda"), Constant("\n")
    )


@pytest.mark.parametrize(
    ("text", "reason", "span"),
    [
        ("", "the expression ends too early", (0, 0)),
        ("1 +", "the expression ends too early", (3, 3)),
        ("a == 1", "`==` is not a FEEL operator; use `=`", (2, 4)),
        ("(1", "`)` is expected, found the end of the text", (2, 2)),
        (
            "[1..2",
            "`]` or `)` is expected at the end of a range, found the end of the text",
            (5, 5),
        ),
        ('"abc', "the string is never closed", (0, 4)),
        (r'"\x"', r"`\x` is not an escape sequence in FEEL", (1, 3)),
        ("1 2", "`2` is not expected here", (2, 3)),
        ("if a then 1", "`else` is expected, found the end of the text", (11, 11)),
        ("{a: 1, a: 2}", "the key `a` occurs twice", (7, 9)),
        ("f(x: 1, 2)", "either all arguments are named, or none", (8, 9)),
        ("1 instance of color", "`color` is not a known type", (14, 15)),
        ("1 /* a", "the comment is never closed", (2, 6)),
        ("12ab", "a number ends in letters", (0, 3)),
        ("x then y", "`then` is not expected here", (2, 3)),
        ("1e9999999", "the number is too large", (0, 9)),
        ("`x", "``` is not expected here", (0, 1)),
    ],
)
def test_errors_say_what_is_wrong_and_where(text: str, reason: str, span: Span) -> None:
    with pytest.raises(FeelError) as found:
        parse_expression(text)
    assert (found.value.reason, found.value.span) == (reason, span)


def test_nesting_has_a_limit() -> None:
    deep = MAX_DEPTH - 1
    parse_expression("(" * deep + "1" + ")" * deep)
    for text in ("(" * 5000 + "1" + ")" * 5000, "-" * 5000 + "1", "[" * 5000 + "]" * 5000):
        with pytest.raises(FeelError, match="nested too deeply"):
            parse_expression(text)
    with pytest.raises(FeelError, match="too long"):
        parse_expression("+".join("1" * 5000))


def test_spans_are_those_of_the_text() -> None:
    text = 'if  Monthly Income > 1 then [ 1 , "x" ] else f( {a b: 2} ).a b'
    tree = parse_expression(text, ["Monthly Income", "f"])
    found = {type(part).__name__: text[slice(*part.span)] for part in parts(tree)}
    assert found["Conditional"] == text
    assert found["Comparison"] == "Monthly Income > 1"
    assert found["Call"] == '[ 1 , "x" ]'
    assert found["Path"] == "f( {a b: 2} ).a b"
    assert found["Entry"] == "a b: 2"


def test_a_name_is_known_behind_its_definition_only() -> None:
    tree = parse_expression("[for a-b in [1] return a-b, a-b]")
    assert isinstance(tree, Call)
    assert tree.operands[1] == FEEL.arithmetic["-"](Variable(("a",)), Variable(("b",)))


def test_names_are_normalised() -> None:
    assert normal_name("  first   name ") == "first name"
    assert normal_name("a  -  b") == "a-b"


def test_one_and_true_are_different_literals() -> None:
    assert parse_expression("1") != parse_expression("true")
