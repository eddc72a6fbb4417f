"""The table of operations: a row is complete or an error, and no stage has a default for a row."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import pytest
from orgflow.backends.javascript import exact_code, operand_checks
from orgflow.backends.javascript.expression_code import ONLY_INSIDE, PRINTED, SPECIAL, to_js
from orgflow.backends.javascript.feel_code import FUNCTIONS, TESTS

import orgflow_ir.program
from orgflow_ir.program import requirements
from orgflow_ir.program.demands import demands
from orgflow_ir.program.ecmascript_operators import LOOSE
from orgflow_ir.program.evaluator import evaluate
from orgflow_ir.program.feel.signatures import SIGNATURES
from orgflow_ir.program.feel_operators import BETWEEN, EXACT_LIST, FEEL, POWER
from orgflow_ir.program.java_operators import JavaRules
from orgflow_ir.program.methods import define_method
from orgflow_ir.program.operators import OperatorRules, Operators
from orgflow_ir.program.structure_evaluation import STRUCTURES
from orgflow_ir.program.structure_evaluation import evaluate as evaluate_exactly
from orgflow_ir.program.syntax import (
    NOWHERE,
    OPERATIONS,
    Call,
    Comparison,
    Constant,
    Found,
    Method,
    Operation,
    Requirement,
    Span,
    Structure,
    Tree,
    Variable,
    as_javascript,
    keep_operation,
    kind_of,
    no_requirements,
    same_tree,
)

A, B = Variable(("a",)), Variable(("b",))

for _module in pkgutil.iter_modules(orgflow_ir.program.__path__):
    importlib.import_module(f"orgflow_ir.program.{_module.name}")

ROWS = dict(OPERATIONS)
"""The rows of every language."""


@pytest.fixture(autouse=True)
def own_rows() -> Iterator[None]:
    """Rows that a test defines end with it."""
    before = dict(OPERATIONS)
    yield
    OPERATIONS.clear()
    OPERATIONS.update(before)


def test_there_are_rows() -> None:
    assert len(ROWS) > 150


@pytest.mark.parametrize("name", sorted({*PRINTED, *SPECIAL, *ONLY_INSIDE}))
def test_what_is_printed_exists(name: str) -> None:
    assert name in ROWS


@pytest.mark.parametrize("name", sorted(n for n, row in ROWS.items() if isinstance(row, Method)))
def test_every_method_that_stays_in_javascript_is_printed(name: str) -> None:
    row = ROWS[name]
    if row.javascript is keep_operation:
        assert name in {*PRINTED, *SPECIAL, *ONLY_INSIDE}


@pytest.mark.parametrize("name", sorted(n for n in ROWS if n.startswith(("js ", "xpath "))))
def test_every_operator_of_javascript_is_printed(name: str) -> None:
    assert name in {*PRINTED, *SPECIAL, *ONLY_INSIDE}


COMPLETE: dict[str, Any] = {
    "type_of": lambda tree: "truth",
    "compute": lambda tree, value: value(tree.left) is value(tree.right),
    "javascript": keep_operation,
    "requirements": no_requirements,
    "guard": same_tree,
}


@pytest.mark.parametrize("left_out", [*COMPLETE, None])
def test_an_operation_that_leaves_a_stage_out_is_an_error(left_out: str | None) -> None:
    row = {name: value for name, value in COMPLETE.items() if name != left_out}
    if left_out is None:
        assert Operation("toy ==", Comparison, "==", **row).sign == "=="
    else:
        with pytest.raises(TypeError, match=left_out):
            Operation("toy ==", Comparison, "==", **row)
        assert "toy ==" not in OPERATIONS


def test_a_name_belongs_to_one_operation() -> None:
    with pytest.raises(ValueError, match="two operations are named 'size'"):
        define_method("size", compute=lambda tree, value: None)


def test_an_operation_that_the_printer_does_not_know_is_an_error() -> None:
    toy = define_method("toy", result="whole", compute=lambda tree, value: 5)
    assert evaluate(toy(A), {}) == 5
    assert kind_of(toy(A)) == "whole"
    with pytest.raises(KeyError, match="toy"):
        to_js(toy(A), ".".join)


def test_an_operation_in_terms_of_others_is_printed_as_they_are() -> None:
    def double(tree: Call) -> Tree:
        return LOOSE.arithmetic["*"](as_javascript(tree.operand), Constant(2))

    toy = define_method(
        "double", compute=lambda tree, value: value(tree.operand) * 2, javascript=double
    )
    assert evaluate(toy(A), {("a",): 4}) == 8
    assert to_js(toy(A), ".".join) == "(a * 2)"


@pytest.mark.parametrize("requirement", requirements.REQUIREMENTS.values(), ids=repr)
def test_every_requirement_has_a_test(requirement: Requirement) -> None:
    assert operand_checks.find_test(requirement).startswith("(")


def test_a_requirement_without_a_test_is_an_error() -> None:
    toy = Requirement(
        "toy",
        operands=1,
        fault="is no toy",
        use="plays with it",
        met_by=frozenset(),
        met_by_computed=frozenset(),
    )
    with pytest.raises(NotImplementedError, match="toy"):
        operand_checks.find_test(toy)


class ToyRules(JavaRules):
    """A language in which texts are equal without their case."""

    name: ClassVar[str] = "toy"

    def equal(self, left: Any, right: Any) -> bool | None:
        return str(left).lower() == str(right).lower()

    def equality_code(self, tree: Comparison) -> Tree:
        lower = ROWS["lower"]
        sides = (lower(as_javascript(side)) for side in tree.operands)
        return LOOSE.comparison[tree.operator](*sides)

    def equality_requirements(self, tree: Comparison) -> Iterable[Found]:
        return ((requirements.ONLY_TEXT, (side,)) for side in tree.operands)


def test_a_language_is_one_class() -> None:
    toy = Operators(ToyRules())
    tree = toy.comparison["=="](A, B)
    assert evaluate(tree, {("a",): "Yes", ("b",): "yES"}) is True
    assert to_js(tree, ".".join) == "((a).toLowerCase() == (b).toLowerCase())"
    assert [demand.requirement for demand in demands([tree], in_turn=False)] == [
        requirements.ONLY_TEXT
    ] * 2
    assert evaluate(toy.comparison["!="](A, B), {("a",): "x", ("b",): "X"}) is False


@pytest.mark.parametrize("left_out", sorted(OperatorRules.__abstractmethods__))
def test_a_language_that_leaves_a_stage_out_is_an_error(left_out: str) -> None:
    def fail(*_: Any) -> Any:
        raise AssertionError

    names = {name: fail for name in OperatorRules.__abstractmethods__ if name != left_out}
    incomplete = type("Incomplete", (OperatorRules,), {**names, "name": "incomplete"})
    with pytest.raises(TypeError, match=left_out):
        Operators(incomplete())


# -- programs over exact values --------------------------------------------------------------------

KINDS = sorted(Structure.__subclasses__(), key=lambda kind: kind.__name__)
EXACT = [
    *FEEL.comparison.values(), *FEEL.logic.values(), FEEL.negative, FEEL.choice, POWER, BETWEEN,
    EXACT_LIST, *(row for sign, row in FEEL.arithmetic.items() if sign != "%"),
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_node_is_evaluated_and_printed(kind: type[Structure]) -> None:
    assert kind in STRUCTURES
    assert kind in exact_code.ROWS


@pytest.mark.parametrize("operation", EXACT, ids=repr)
def test_every_operation_of_exact_programs_is_printed(operation: Operation[Any]) -> None:
    assert operation.name in exact_code.ROWS


def test_a_printed_row_is_an_operation_or_a_kind_of_node() -> None:
    assert exact_code.ROWS.keys() == {*KINDS, *(operation.name for operation in EXACT)}


def test_inline_functions_are_functions_of_feel() -> None:
    assert {*FUNCTIONS, *TESTS} <= SIGNATURES.keys()
    assert FUNCTIONS.keys().isdisjoint(TESTS)


def test_an_unknown_operation_or_kind_of_node_is_an_error_of_every_printer() -> None:
    class Toy(Structure):
        span: Span = NOWHERE

    toy = define_method("toy", compute=lambda tree, value: 5)
    for tree, name in ((Toy(), "Toy"), (toy(A), "toy")):
        with pytest.raises(KeyError, match=name):
            exact_code.print_inline(tree, lambda name: name)
        with pytest.raises(KeyError, match=name):
            exact_code.print_with_runtime(tree, lambda name: name)
    with pytest.raises(KeyError, match="Toy"):
        evaluate_exactly(Toy(), {})
    with pytest.raises(TypeError, match="Toy"):
        evaluate(Toy(), {})
    assert evaluate_exactly(toy(A), {}) == 5
