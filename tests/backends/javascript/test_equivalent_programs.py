"""Programs that do the same have one form, and programs that do not have different ones.

Pairs are run in Node as well: those with one form return the same for every input.
"""

from __future__ import annotations

import itertools
import json
import subprocess

import pytest
from orgflow.backends.javascript.equivalent_programs import normalise_program
from orgflow.backends.javascript.source_programs import ProgramForm, read_program
from orgflow.backends.n8n.engine.node import find_node

EQUAL = [
    ("return a > 5", "return 5 < a"),
    ("return a.x >= b.y", "return b.y <= a.x"),
    ("return a === 5", "return 5 === a"),
    ("return a.x !== null", "return null !== a.x"),
    ("return typeof a === 'number'", "return 'number' === typeof a"),
    ("return a ? b : 5", "return !a ? 5 : b"),
    ("return a === b ? 1 : 2", "return a !== b ? 2 : 1"),
    ("return a === b ? 1 : 2", "return !(a === b) ? 2 : 1"),
    ("return !(a == b)", "return a != b"),
    ("return !!a ? 1 : 2", "return a ? 1 : 2"),
    ("if (a) { return 1 } else { return 2 }", "if (!a) { return 2 } else { return 1 }"),
    ("const x = a; return x", "let x = a; return x"),
    ("const x = a; return x", "const y = a; return y"),
    ("return ((v) => v)(a)", "return ((w) => w)(a)"),
    ("return [a].map(({x}) => x)", "return [a].map(({x: y}) => y)"),
    ("const f = (p, ...q) => [p, q]; return f(a, b)", "const g = (x, ...y) => [x, y]; return g(a, b)"),  # noqa: E501
    ("function f(x) { return x } return f(a)", "function g(y) { return y } return g(a)"),
    ("for (const x of [a]) { return x } return 1", "for (const y of [a]) { return y } return 1"),
    ("for (let i = 0; i < 3; i++) { if (a) return i } return 7",
     "for (let k = 0; k < 3; k++) { if (a) return k } return 7"),
    ("try { return a.x.y } catch (e) { return e.message }",
     "try { return a.x.y } catch (error) { return error.message }"),
    ("const x = 1; { const x = 2; } return x", "const x = 1; { const y = 2; } return x"),
    ("const x = { y: a }; return x.y", "const z = { y: a }; return z.y"),
    ("const x = a; return { x }", "const z = a; return { x: z }"),
    ("const x = {}; x.y = a; return x", "let x = {}; x.y = a; return x"),
    ("const x = [0]; x[0]++; return x", "let x = [0]; x[0]++; return x"),
    ("return !!(a < 5)", "return a < 5"),
]  # fmt: skip
OTHER = [
    ("return a > 5", "return a < 5"),
    ("return a > 5", "return a >= 5"),
    ("return !(a > 5)", "return a <= 5"),
    ("return a ? b : 5", "return a ? 5 : b"),
    ("return a - 5", "return 5 - a"),
    ("return f(a) > g(b)", "return g(b) < f(a)"),
    ("return ((x, y) => x)(a, b)", "return ((x, y) => y)(a, b)"),
    ("const x = a; const y = b; return x", "const x = a; const y = b; return y"),
    ("const x = 1; { const x = 2; } return x", "const x = 1; { const y = 2; return y }"),
    ("return ((v) => v)(a)", "return ((v) => a)(a)"),
    ("return ((v) => a)(b)", "return ((a) => a)(b)"),
    ("const x = a; return { x }", "const z = a; return { z }"),
    ("return [a].map(({x}) => x)", "return [a].map(({y}) => y)"),
    ("let x = 1; x = a; return x", "const x = 1; x = a; return x"),
    ("let x = 1; x++; return x", "const x = 1; x++; return x"),
    ("let x = 1; [x] = [a]; return x", "const x = 1; [x] = [a]; return x"),
    ("let x; for (x of [a]) {} return x", "const x = 1; for (x of [a]) {} return x"),
    ("const x = a; return x.x", "const y = a; return y.y"),
    ("return a.b", "return b.a"),
    ("return x", "return y"),
    ("var x = a; return x", "var y = a; return y"),
    ("if (a) { return 1 } else { return 2 }", "if (a) { return 2 } else { return 1 }"),
]
VALUES = (None, 0, 5, 6, -1, "5", "a", True, False, {"x": 1, "b": 2}, {"x": {"y": 3}})

_RUN = """
const [programs, values] = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(programs.map((code) => values.map(([a, b]) => {
  try { return ['value', new Function('a', 'b', code)(a, b)]; }
  catch (e) { return ['error', e.name]; }
}))));
"""


def form_of(code: str) -> ProgramForm:
    return normalise_program(read_program(code))


@pytest.fixture(scope="module")
def results() -> dict[str, object]:
    """What each program of a pair returns for all inputs."""
    programs = sorted({code for pair in EQUAL for code in pair})
    pairs = list(itertools.product(VALUES, VALUES))
    done = subprocess.run(
        [str(find_node().path), "-e", _RUN], input=json.dumps([programs, pairs]), check=True,
        capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
    return dict(zip(programs, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal_programs_have_one_form(one: str, other: str, results: dict[str, object]) -> None:
    assert form_of(one) == form_of(other)
    assert results[one] == results[other]


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_other_programs_have_different_forms(one: str, other: str) -> None:
    assert form_of(one) != form_of(other)


def test_a_name_that_is_only_read_stays() -> None:
    assert form_of("return $input.first()") == read_program("return $input.first()")
