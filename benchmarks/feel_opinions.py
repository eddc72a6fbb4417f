"""FEEL by a second implementation: what npm's feelin says of the expressions of the tests.

    npm install feelin            (in some folder)
    python benchmarks/feel_opinions.py FOLDER

Prints every expression of tests/expressions/test_feel_evaluator.py whose value differs. feelin
computes with JavaScript's numbers and lacks some of DMN 1.5; a difference has to be explained by
one of these.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

from orgflow.backends.n8n.engine.node import find_node

from orgflow_ir.languages.feel.parser import parse_expression
from orgflow_ir.program.feel.conversion_functions import text_of
from orgflow_ir.program.structure_evaluation import evaluate

TESTS = Path(__file__).resolve().parent.parent / "tests/expressions/test_feel_evaluator.py"

ASK = """
import { evaluate } from 'feelin';
import fs from 'fs';
const show = (v) => v === null || v === undefined ? 'null'
  : Array.isArray(v) ? '[' + v.map(show).join(', ') + ']'
  : typeof v === 'string' ? JSON.stringify(v)
  : typeof v === 'object' && Object.getPrototypeOf(v) === Object.prototype
    ? '{' + Object.entries(v).map(([k, one]) => k + ': ' + show(one)).join(', ') + '}' : String(v);
console.log(JSON.stringify(JSON.parse(fs.readFileSync(0, 'utf8')).map((text) => {
  try { return show(evaluate(text, {}).value); } catch (error) { return 'error: ' + error.message; }
})));
"""


def expressions() -> list[str]:
    """The expressions of the tests: first of a pair of texts."""
    return [
        pair.elts[0].value
        for pair in ast.walk(ast.parse(TESTS.read_text("utf-8")))
        if isinstance(pair, ast.Tuple)
        and len(pair.elts) == 2
        and all(isinstance(e, ast.Constant) and isinstance(e.value, str) for e in pair.elts)
        and isinstance(pair.elts[0], ast.Constant)
        and isinstance(pair.elts[0].value, str)
    ]


def main() -> int:
    if len(sys.argv) != 2:
        print(
            "usage: feel_opinions.py FOLDER (where `npm install feelin` was run)", file=sys.stderr
        )
        return 2
    texts = expressions()
    done = subprocess.run(
        [str(find_node().path), "--input-type=module", "-e", ASK], input=json.dumps(texts),
        capture_output=True, text=True, check=True, cwd=sys.argv[1],
    )  # fmt: skip
    differ = 0
    for text, other in zip(texts, json.loads(done.stdout), strict=True):
        own = text_of(evaluate(parse_expression(text)))
        if own != other:
            differ += 1
            print(f"{text}\n    orgflow {own}\n    feelin  {other}")
    print(f"{len(texts)} expressions, {differ} differ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
