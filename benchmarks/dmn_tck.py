"""The DMN compatibility kit, suite by suite: who is right, and what is refused.

    python benchmarks/dmn_tck.py [KIT] [--suite NAME] [--engine N]

KIT is `../shared/data/dmn-tck`. For each expected result: whether the evaluator gives it, whether
the emitted JavaScript gives it (in Node, one process a suite), and whether either refused with a
reason. `silent` counts results that differ from the kit, or between the two, without a refusal:
there must be none, and the exit code says whether there are. `--engine N` also runs every N-th
case inside an expression on n8n's own engine.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from dmn_kit import Case, Suite, agrees, case_program, run_javascript, suites  # noqa: E402
from engine_fixture import START, flow, reads  # noqa: E402
from orgflow.backends.n8n.engine.local import LocalEngine  # noqa: E402

from orgflow_ir.analysis.expressions.feel.evaluator import Unsupported  # noqa: E402
from orgflow_ir.analysis.expressions.feel.functions.conversions import text_of  # noqa: E402
from orgflow_ir.decisions.evaluate import decide  # noqa: E402

KIT = ROOT.parent / "shared" / "data" / "dmn-tck"
COLUMNS = ("results", "evaluator", "javascript", "refused", "silent")


def measure(suite: Suite, reasons: Counter[str]) -> tuple[Counter[str], list[tuple[str, str]]]:
    """Counts by column, and the programs that are right with the values they return."""
    counts: Counter[str] = Counter(results=len(suite.cases))
    programs: list[str] = []
    known: list[tuple[Case, str, bool]] = []
    for case in suite.cases:
        try:
            found = decide(suite.model, case.node, case.given)
        except Unsupported as error:
            counts["refused"] += 1
            reasons[str(error)] += 1
            continue
        shown = text_of(found)
        right = agrees(found[case.part] if case.part else found, case.expected)
        counts["evaluator"] += right
        try:
            programs.append(case_program(suite.model, case))
        except Unsupported as error:
            counts["refused"] += 1
            reasons[str(error)] += 1
            counts["silent"] += not right
            continue
        known.append((case, shown, right))
    ran = []
    for (_, shown, right), program, value in zip(
        known, programs, run_javascript(programs), strict=True
    ):
        same = value == ("value", shown)
        counts["javascript"] += right and same
        counts["silent"] += not (right and same)
        if right and same:
            ran.append((program, shown))
    return counts, ran


def on_the_engine(programs: list[tuple[str, str]]) -> int:
    """How many programs return the same inside expressions of n8n."""
    right = 0
    with LocalEngine() as engine:
        for at in range(0, len(programs), 10):
            part = programs[at : at + 10]
            fields = {f"f{i}": f"(() => {{\n{code}\n}})()" for i, (code, _) in enumerate(part)}
            run = engine.run(flow([START, reads("R", **fields)], "T>R"), "T")
            if run.status == "success":
                ((found,),) = run.output
                right += sum(
                    json.loads(found[f"f{i}"]) == shown for i, (_, shown) in enumerate(part)
                )
    return right


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kit", type=Path, nargs="?", default=KIT)
    parser.add_argument("--suite", default="", help="only suites whose name holds this")
    parser.add_argument("--engine", type=int, default=0, metavar="N")
    options = parser.parse_args()
    totals: dict[int, Counter[str]] = {2: Counter(), 3: Counter()}
    reasons: Counter[str] = Counter()
    ran: list[tuple[str, str]] = []
    print(f"{'suite':46}" + "".join(f"{name:>11}" for name in COLUMNS))
    for suite in suites(options.kit):
        if options.suite not in suite.name:
            continue
        counts, programs = measure(suite, reasons)
        ran += programs
        totals[suite.level] += counts
        print(f"{suite.name:46}" + "".join(f"{counts[name]:11}" for name in COLUMNS))
    for level, counts in totals.items():
        if counts["results"]:
            print(f"{f'level {level}':46}" + "".join(f"{counts[name]:11}" for name in COLUMNS))
            shares = [f"{counts[name] / counts['results']:.1%}" for name in COLUMNS[1:3]]
            print(f"{'':57}" + "".join(f"{share:>11}" for share in shares))
    for reason, count in reasons.most_common():
        print(f"refused: {reason} ({count})")
    if options.engine:
        sample = ran[:: options.engine]
        print(f"on n8n's engine: {on_the_engine(sample)} of {len(sample)} the same")
    return 1 if any(counts["silent"] for counts in totals.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
