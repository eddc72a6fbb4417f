"""FEEL that needs the runtime on n8n, counted by cause.

    python benchmarks/feel_runtime.py [FOLDER…] [--show]

Reads the decision models (also those in the text of tests) and the FEEL expressions of Camunda 8 in
all files of folders, by default `examples` and `tests`. Prints how many become plain JavaScript,
and the causes of the others: the smallest parts that have no plain translation.
With `--show`, each expression and decision that needs the runtime.
"""

from __future__ import annotations

import argparse
import html
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from orgflow.backends.javascript.decision_runtime_code import decision_code
from orgflow.backends.javascript.exact_code import print_inline, print_with_runtime
from orgflow.backends.javascript.table_code import plain_decision
from orgflow.frontends.dmn.dmn_reader import DmnError, read_dmn

from orgflow_ir.decisions.found import Unusable
from orgflow_ir.decisions.link import Logic
from orgflow_ir.decisions.process_variables import link_process_decision
from orgflow_ir.languages.feel.reading import read_feel
from orgflow_ir.program import structures
from orgflow_ir.program.feel.values import Unsupported
from orgflow_ir.program.syntax import (
    Apply,
    ConditionError,
    Constant,
    Negative,
    Structure,
    Tree,
    Variable,
)

ROOT = Path(__file__).resolve().parent.parent
_MODEL = re.compile(r"<(?:\w+:)?definitions[^>]*DMN.*?</(?:\w+:)?definitions>", re.DOTALL)
_EXPRESSION = re.compile(r"""(?:"=(?!")\s*([^"]+)"|>=\s*([^<]+)</)""")


def reading(tree: structures.Part) -> Callable[[str], str | None]:
    """The code of variables; a name that an expression calls is that of a function."""
    calls = [p for p in structures.parts(tree) if isinstance(p, structures.FunctionCall)]
    called = {p.function.name for p in calls if isinstance(p.function, Variable)}
    return lambda name: None if name in called else f"$json[{name!r}]"


def causes(tree: structures.Part) -> Iterator[str]:
    """The smallest parts of an expression that have no plain translation."""
    inner = [cause for child in structures.children(tree) for cause in causes(child)]
    if inner or not isinstance(tree, Constant | Variable | Apply | Structure):  # no value
        yield from inner
    elif isinstance(tree, Variable):
        return
    elif print_inline(tree, reading(tree)) is None:
        match tree:
            case structures.FunctionCall(Variable((name,))):
                yield f"{name}(…)"
            case Apply(operation):
                yield operation.name
            case structures.Path(_, name):
                yield f"….{name}"
            case _:
                yield type(tree).__name__


def decision_causes(unit: Logic) -> Iterator[str]:
    """The parts of a decision, without what it requires, that have no plain translation."""
    if unit.knowledge:
        yield "a function"
    tree = unit.tree.value if isinstance(unit.tree, structures.Coerced) else unit.tree
    if not isinstance(tree, structures.DecisionTable):
        yield from () if tree is None else causes(tree)
        return
    if tree.hit_policy in ("PRIORITY", "OUTPUT ORDER"):
        yield f"hit policy {tree.hit_policy}"
    for column in tree.inputs:
        if not isinstance(column.expression, Variable | structures.Path):
            yield "a computed input"
        if column.converts == "date":
            yield "an input that is a date"
    for rule in tree.rules:
        for cell in rule.tests:
            for test in cell.tests:
                ends = (
                    (test.operand.low, test.operand.high)
                    if isinstance(test.operand, structures.RangeLiteral)
                    else (test.operand,)
                )
                for end in ends:
                    if isinstance(end, Negative):
                        end = end.operand
                    if end is not None and not isinstance(end, Constant):
                        yield f"a cell with {_of(end)}"
        for entry in rule.entries:
            one = entry.operand if isinstance(entry, Negative) else entry
            if not isinstance(one, Constant):
                yield f"a result with {_of(one)}"


def _of(tree: Tree) -> str:
    if isinstance(tree, structures.FunctionCall) and isinstance(tree.function, Variable):
        return f"{tree.function.name}(…)"
    return type(tree).__name__


def texts(folders: list[Path]) -> Iterator[tuple[Path, str]]:
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".bpmn", ".dmn", ".py", ".toml", ".txt", ".xml", ".form"):
                yield path, path.read_text("utf-8", errors="replace")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "folders", type=Path, nargs="*", default=[ROOT / "examples", ROOT / "tests"]
    )
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    plain: Counter[str] = Counter()
    why: dict[str, Counter[str]] = {"decisions": Counter(), "expressions": Counter()}
    unread = 0
    expressions: dict[str, Path] = {}
    for path, text in texts(options.folders):
        for found in _MODEL.finditer(text):
            try:
                definitions = read_dmn(found[0].encode())
            except DmnError:  # text of a test with places for values
                unread += 1
                continue
            for decision in definitions.decisions:
                try:
                    one = link_process_decision(path.name, definitions, (), decision)
                    before = decision_code(one.model, one.name)
                except (Unsupported, Unusable, KeyError):
                    continue
                unit = one.model.named(one.name)
                assert isinstance(unit, Logic)
                short = plain_decision(one.model, one.name, "decision")
                plain["decisions", short is not None] += 1
                if short is None:
                    for cause in list(dict.fromkeys(decision_causes(unit))) or ["what it requires"]:
                        why["decisions"][cause] += 1
                    if options.show:
                        print(f"{path}: {unit.name}: {len(before)} characters")
        for found in _EXPRESSION.finditer(text):
            expressions.setdefault(html.unescape(found[1] or found[2]).strip(), path)
    for text, path in expressions.items():
        try:
            tree = read_feel(text).body
            before = print_with_runtime(tree, reading(tree))
        except (ConditionError, Unsupported):
            continue
        short = print_inline(tree, reading(tree))
        plain["expressions", short is not None] += 1
        if short is None:
            for cause in list(dict.fromkeys(causes(tree))) or ["the combination of its parts"]:
                why["expressions"][cause] += 1
            if options.show:
                print(f"{path}: {text}: {len(before)} characters")
    for what, counted in why.items():
        print(f"{what}: {plain[what, True]} plain, {plain[what, False]} with the runtime")
        for cause, times in sorted(counted.items(), key=lambda one: (-one[1], one[0])):
            print(f"  {times:4} {cause}")
    print(f"{unread} models in the text of tests are not complete")
    return 0


if __name__ == "__main__":
    sys.exit(main())
