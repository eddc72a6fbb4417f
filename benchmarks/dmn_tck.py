"""The DMN compatibility kit, suite by suite: who is right, and what is refused.

    python benchmarks/dmn_tck.py [KIT] [--engine local] [-o FILE.csv]

Calls `orgflowc eval dmn` with the kit of the shared data. For each expected result: whether the
evaluator gives it, whether the emitted JavaScript gives it (in Node, one process a suite), and
whether either refused with a reason. `silent` counts results that differ from the kit, or between
the two, without a refusal: there must be none, and the exit code says whether there are. With
`--engine local` a column `n8n` counts what Code nodes on n8n's own engine give as the kit expects
it; what they give otherwise is silent.
"""

from __future__ import annotations

import sys
from pathlib import Path

from orgflow import cli

KIT = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "dmn-tck"


def main(arguments: list[str]) -> int:
    named = arguments and not arguments[0].startswith("-")
    kit, options = (arguments[0], arguments[1:]) if named else (str(KIT), arguments)
    return cli.run(["eval", "dmn", kit, *options])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
