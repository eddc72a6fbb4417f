"""Parsers of expressions: what they read, what they refuse, and where it stood."""

from __future__ import annotations

import random

import pytest
from expression_texts import PARSERS, text, tree
from orgflow.backends.javascript.expression_code import to_js

from orgflow_ir.languages.javascript import JavaScriptParser
from orgflow_ir.languages.recognise import read_condition, recognise
from orgflow_ir.model import Expression
from orgflow_ir.program.ecmascript_operators import LOOSE
from orgflow_ir.program.feel_operators import FEEL
from orgflow_ir.program.syntax import (
    Apply,
    Call,
    Comparison,
    ConditionError,
    Constant,
    Empty,
    Span,
    Variable,
    as_javascript,
    nodes,
)


@pytest.mark.parametrize("language", PARSERS)
def test_a_printed_tree_is_read_back(language: str) -> None:
    rng = random.Random(language)
    for _ in range(400):
        one = tree(rng, language)
        printed = text(one, language)
        assert PARSERS[language](printed).parse() == one, printed


@pytest.mark.parametrize("language", PARSERS)
def test_emitted_javascript_is_read_back_as_what_was_translated(language: str) -> None:
    rng = random.Random(f"{language} emitted")
    for _ in range(400):
        one = tree(rng, language)
        if not any(isinstance(node, Empty | Call) for node in nodes(as_javascript(one))):
            emitted = to_js(one, ".".join)
            assert JavaScriptParser(emitted).parse() == as_javascript(one), emitted


@pytest.mark.parametrize("language", PARSERS)
def test_no_text_of_the_source_is_copied(language: str) -> None:
    """White space, quotes and spelling of the source leave no trace in what is emitted."""
    rng = random.Random(f"{language} spelling")
    for _ in range(100):
        one = tree(rng, language)
        spread = text(one, language).replace("(", "  (\n").replace(")", "\t)  ")
        plain = PARSERS[language](text(one, language)).parse()
        assert to_js(PARSERS[language](spread).parse(), str) == to_js(plain, str) == to_js(one, str)


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("${ amount > 1000 }", ["amount > 1000", "amount", "1000"]),
        ("= not(a.b) and c", ["not(a.b) and c", "not(a.b", "a.b", "c"]),
        ("  x == 'y'", ["x == 'y'", "x", "'y'"]),
    ],
)
def test_spans_are_places_in_the_whole_text(written: str, parts: list[str]) -> None:
    found = recognise(Expression(text=written)).parse()
    assert [written[slice(*node.span)] for node in nodes(found)] == parts


def test_spans_do_not_count_in_comparisons() -> None:
    assert Constant(1, Span(3, 4)) == Constant(1)
    assert Constant(1) != Constant(True)
    assert Constant(1) != Constant(1.0)
    assert len({Constant(1), Constant(True), Constant(1, Span(0, 1))}) == 2


_ROWS = {
    "feel": "feel", "juel": "juel", "loose": "js", "strict": "js strict", "java": "java",
    "python": "python",
}  # fmt: skip
"""Names of rules of equality in the table of operations."""


@pytest.mark.parametrize(
    ("written", "language", "meaning"),
    [
        ("${a == 1}", None, "juel"),
        ("#{a == 1}", "groovy", "juel"),
        ("= a != 1", None, "feel"),
        ("a = 1", None, "feel"),
        ("a <> 1", None, "feel"),
        ("${a = 1}", None, "feel"),
        ("a != 1", "feel", "feel"),
        ("a == 1", None, "loose"),
        ("a === 1", None, "strict"),
        ("a == 1", "JavaScript", "loose"),
        ("a == 1", "http://groovy.apache.org/groovy", "java"),
        ("a == 1", "python", "python"),
        ("a == 1", "http://www.w3.org/1999/XPath", "loose"),
    ],
)
def test_whose_equality(written: str, language: str | None, meaning: str) -> None:
    found = read_condition(Expression(text=written, language=language))
    assert isinstance(found, Comparison)
    assert found.operation.name == f"{_ROWS[meaning]} {found.operator}"


@pytest.mark.parametrize(
    ("written", "operation"),
    [
        ("= a == 1", "js =="), ("= a === 1", "js strict =="), ("= a !== 1", "js strict !="),
        ("= a <> 1", "feel !="), ("= a = 1 && b", "feel and"), ("= a || b = 1", "feel or"),
        ("= not a = 1", "feel not"), ("= a gt 1", "feel >"),
        ("= a eq 1", "js =="), ("= !a and b", "feel and"), ("= a.equals('x')", "java equals =="),
        ("= order.get('b') = 1", "feel =="), ("= getVariable('b') = 1", "feel =="),
        ("= empty a", "feel =="), ("= a = undefined", "feel =="), ("= a = 'x'", "feel =="),
        ("= a.startsWith('x')", "feel =="), ("a % 2 = 0", "feel =="),
    ],
)  # fmt: skip
def test_feel_of_processes_has_forms_that_engines_accept(written: str, operation: str) -> None:
    tree = read_condition(Expression(text=written))
    assert isinstance(tree, Apply)
    assert tree.operation.name == operation


def test_an_operator_of_another_language_is_refused_beside_what_only_feel_has() -> None:
    with pytest.raises(ConditionError, match="`==` is not a FEEL operator; use `=`"):
        read_condition(Expression(text="= count(a) == 1"))
    with pytest.raises(ConditionError, match="`%` is not a FEEL operator; use `modulo`"):
        read_condition(Expression(text="= a % 2 = 0"))


@pytest.mark.parametrize(
    "written", ["a < b < 3 = c", "count(a) = 1", "some x in a satisfies x = 1"]
)
def test_what_only_feel_has_is_no_condition_without_a_mark(written: str) -> None:
    with pytest.raises(ConditionError):
        recognise(Expression(text=written)).parse()


def test_one_single_equals_sign_among_others_assigns_in_a_script() -> None:
    for written in ("a = 1", "a <> 1 && b = 2", "a == 'x=y' && b = 2"):
        with pytest.raises(ConditionError, match="assignment"):
            read_condition(Expression(text=written, language="groovy"))
    assert read_condition(Expression(text="a == 'x = y'", language="groovy")) is not None


def test_null_is_one_in_feel_and_two_in_javascript() -> None:
    equal = read_condition(Expression(text="= a = null"))
    assert equal == FEEL.comparison["=="](Variable(("a",)), Constant(None))
    assert as_javascript(equal) == LOOSE.comparison["=="](Variable(("a",)), Constant(None))


def test_precedences() -> None:
    a, b, c = (Variable((name,)) for name in "abc")
    assert JavaScriptParser("a or b and c").parse() == LOOSE.logic["or"](
        a, LOOSE.logic["and"](b, c)
    )
    assert JavaScriptParser("not a == b").parse() == LOOSE.negation(LOOSE.comparison["=="](a, b))
    assert JavaScriptParser("!a == b").parse() == LOOSE.comparison["=="](LOOSE.negation(a), b)


def test_what_would_be_too_deep_to_walk_is_refused() -> None:
    for long in (" && ".join(["a"] * 2000), "+".join(["1"] * 2000), "!" * 500 + "a"):
        with pytest.raises(ConditionError):
            JavaScriptParser(long).parse()
    deep = JavaScriptParser(" || ".join(["a == 1"] * 240)).parse()
    assert to_js(deep, str).count("==") == 240
