"""The DMN compatibility kit, suite by suite: who is right, and what is refused.

    python benchmarks/dmn_tck.py [KIT] [--suite NAME] [--engine]

KIT is `../shared/data/dmn-tck`. For each expected result: whether the evaluator gives it, whether
the emitted JavaScript gives it (in Node, one process a suite), and whether either refused with a
reason. `silent` counts results that differ from the kit, or between the two, without a refusal:
there must be none, and the exit code says whether there are. With `--engine` a column `n8n` counts
what Code nodes on n8n's own engine give as the kit expects it; what they give otherwise is silent.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from dmn_kit import Case, Suite, agrees, case_program, run_javascript, suites  # noqa: E402
from engine_fixture import START, flow, node  # noqa: E402
from orgflow.backends.n8n.engine.local import LocalEngine, RunRequest  # noqa: E402

from orgflow_ir.decisions.evaluate import decide  # noqa: E402
from orgflow_ir.program.feel.conversion_functions import text_of  # noqa: E402
from orgflow_ir.program.structure_evaluation import Unsupported  # noqa: E402

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


BATCH = 10


def on_the_engine(engine: LocalEngine, programs: list[tuple[str, str]]) -> int:
    """How many programs return the same in Code nodes of n8n, ten in a workflow."""
    right = 0
    batches = [programs[at : at + BATCH] for at in range(0, len(programs), BATCH)]
    requests = []
    for batch in batches:
        names = [f"C{at}" for at in range(len(batch))]
        nodes = [
            node(name, "code", 2, {"jsCode": _CODE.format(name=name, program=program)})
            for name, (program, _) in zip(names, batch, strict=True)
        ]
        wires = [f"{one}>{two}" for one, two in itertools.pairwise(["T", *names])]
        requests.append(RunRequest(flow([START, *nodes], *wires), "T"))
    for batch, run in zip(batches, engine.run_many(requests), strict=True):
        if run.status != "success":
            print(f"a run failed: {run.error}", file=sys.stderr)
            continue
        ((found,),) = run.output
        right += sum(found[f"C{at}"] == shown for at, (_, shown) in enumerate(batch))
    return right


_CODE = """\
const value = (() => {{
{program}
}})();
return [{{ json: {{ ...$input.first().json, {name}: value }} }}];
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kit", type=Path, nargs="?", default=KIT)
    parser.add_argument("--suite", default="", help="only suites whose name holds this")
    parser.add_argument("--engine", action="store_true", help="on n8n's engine, too")
    options = parser.parse_args()
    totals: dict[int, Counter[str]] = {2: Counter(), 3: Counter()}
    reasons: Counter[str] = Counter()
    columns = (*COLUMNS, "n8n") if options.engine else COLUMNS
    engine = LocalEngine() if options.engine else None
    print(f"{'suite':46}" + "".join(f"{name:>11}" for name in columns))
    for suite in suites(options.kit):
        if options.suite not in suite.name:
            continue
        counts, programs = measure(suite, reasons)
        if engine is not None:
            counts["n8n"] = on_the_engine(engine, programs)
            counts["silent"] += len(programs) - counts["n8n"]
        totals[suite.level] += counts
        print(f"{suite.name:46}" + "".join(f"{counts[name]:11}" for name in columns))
    for level, counts in totals.items():
        if counts["results"]:
            print(f"{f'level {level}':46}" + "".join(f"{counts[name]:11}" for name in columns))
            shares = [
                "" if name == "results" else f"{counts[name] / counts['results']:.1%}"
                for name in columns
            ]
            print(f"{'':46}" + "".join(f"{share:>11}" for share in shares))
    for reason, count in reasons.most_common():
        print(f"refused: {reason} ({count})")
    if engine is not None:
        engine.close()
    return 1 if any(counts["silent"] for counts in totals.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
