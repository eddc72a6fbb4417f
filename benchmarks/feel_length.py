"""Lengths of generated code: what a reader of an n8n node sees for the usual FEEL expressions.

    python benchmarks/feel_length.py [OTHER] [--show LENGTH]

Prints the characters of the JavaScript of each expression: conditions as in If and Switch nodes,
values as in mappings. With OTHER, another checkout, its characters before those of this one;
with `--show`, the code that is at most LENGTH characters long.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from statistics import median

from against import output
from bench import installed_copy

ROOT = Path(__file__).resolve().parent.parent

CONDITIONS = (
    "approved", "not(approved)", "approved = true", 'status = "approved"', 'status != "rejected"',
    'order.status = "open"', "amount > 1000", "amount >= 1000 and amount < 5000",
    "order.amount > 1000", "order.total <= customer.limit", "parcel.length > 10",
    "items[1].price > 100", 'items[1].x != "c"', "item.owner = case.owner",
    "net + tax > 1000", "order.net + order.tax > 1000", "price * quantity > 500",
    "price * 1.19 > 100", "attempts + 1 < maxAttempts", "income - debts > 0.25 * income",
    "result = null", "is defined(error)", "is defined(result) and result.code = 200",
    "get or else(approved, false)", "count(items) > 0", "count(errors) = 0 and approved",
    "sum(items.price) > 100", 'contains(email, "@")', 'contains(lower case(subject), "urgent")',
    'starts with(code, "DE")', "string length(comment) > 0", 'upper case(country) = "DE"',
    'status in ("open", "waiting")', "amount in [100..500]", "amount between 100 and 500",
    'list contains(roles, "admin")', 'some risk in riskLevels satisfies risk = "red"',
    "every item in items satisfies item.price > 100", "count(items[price > 100]) > 0",
    "items[done = false] = []", "all(approvals)", "modulo(counter, 2) = 0",
    'matches(code, "[A-Z]{2}[0-9]+")', "date(dueDate) < today()",
)  # fmt: skip
VALUES = (
    "order.customer.name", '"Order " + orderId', 'string(amount) + " EUR"', "net + tax",
    "amount * 1.19", "counter + 1", "items[1].name", "count(items)", "sum(items.price)",
    "{name: applicant.name, tags: [a, b]}", "{id: id, total: price * quantity}",
    'if result != null then result.riskLevel else ["green"]', 'string join(risks, ", ")',
    "append(list, item)", 'items[status = "open"]', "for item in items return item.name",
)  # fmt: skip

_PRINT = """
import json, sys
try:
    from orgflow.backends.javascript import expression_code as javascript
    from orgflow_ir.languages.recognise import read_condition
    from orgflow_ir.work.mappings import read_value
except ImportError:  # 0.2
    from orgflow.backends.n8n.emit import javascript
    from orgflow_ir.analysis.expressions.recognise import read_condition
    from orgflow_ir.analysis.work.mappings import read_value
try:
    from orgflow.backends.n8n.emit.decision_code import on_item
except ImportError:  # 0.2
    from orgflow.backends.n8n.emit.decisions import on_item
from orgflow_ir.model import Expression
conditions, values = json.loads(sys.argv[1])
tested = getattr(javascript, "condition_js", javascript.to_js)
codes = [tested(read_condition(Expression(text="= " + text)), on_item) for text in conditions]
codes += [javascript.to_js(read_value("= " + text, "feel"), on_item) for text in values]
print(json.dumps(codes))
"""


def codes(checkout: Path) -> list[str]:
    """The JavaScript of every expression by a checkout."""
    with tempfile.TemporaryDirectory() as folder:
        env = installed_copy(checkout, Path(folder))
        found: list[str] = json.loads(output(env, ["-c", _PRINT, json.dumps([CONDITIONS, VALUES])]))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("other", type=Path, nargs="?", help="another checkout")
    parser.add_argument("--show", type=int, default=0, metavar="LENGTH")
    options = parser.parse_args()
    after = codes(ROOT)
    before = codes(options.other) if options.other else None
    heads = ["after"] if before is None else ["before", "after"]
    print(f"{'expression':62}" + "".join(f"{head:>8}" for head in heads))
    for number, text in enumerate((*CONDITIONS, *VALUES)):
        kind = "" if number < len(CONDITIONS) else "value: "
        columns = [after] if before is None else [before, after]
        print(f"{kind + text:62}" + "".join(f"{len(one[number]):8}" for one in columns))
        if len(after[number]) <= options.show:
            print("    " + after[number].replace("\n", "\n    "))
    for name, column in zip(heads, [after] if before is None else [before, after], strict=True):
        lengths = list(map(len, column))
        print(
            f"{name}: {len(lengths)} expressions, {sum(lengths)} characters, "
            f"median {median(lengths):.0f}, {sum(n <= 200 for n in lengths)} of at most 200, "
            f"{sum(n <= 300 for n in lengths)} of at most 300"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
