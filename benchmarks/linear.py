"""Whether the time of a compile grows with the model alone: `python benchmarks/linear.py`.

Prints the processor time (user and system, the least of some runs) of compiling to n8n

- 1,000 nodes in which each decision reads a variable, and the same nodes with labels instead;
- 10,000 nodes with variables;
- 36 nodes with compensation in four parallel branches, which lowerings rewrite in several rounds.

Exit code 1 where a limit is exceeded. The models are in `tests/support/long_models.py`;
`tests/test_repeated_work.py` counts the work that such compiles do.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from long_models import compensated_branches_model, decisions_model

MOST_FOR_VARIABLES = 3.0
"""So many times the model with labels the same model with variables may take."""

MOST_FOR_TEN_TIMES = 10.0
"""So many times 1,000 nodes 10,000 may take."""

MOST_COMPENSATED = 0.5
"""So many seconds the 36 nodes may take, the start of the program included."""

RUNS = 5


def compile_seconds(model: str, runs: int = RUNS) -> float:
    """The processor time of compiling a BPMN text in a process of its own: the least of some
    runs. A model that n8n does not support is compiled until it is refused."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.bpmn"
        path.write_text(model)
        return min(_run_seconds(path) for _ in range(runs))


def _run_seconds(path: Path) -> float:
    command = [sys.executable, "-m", "orgflow.cli", "compile", str(path), "--target", "n8n"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Print the figures; 1 if one exceeds its limit."""
    # In turn, so that a busy machine slows both.
    pairs = [
        (
            compile_seconds(decisions_model(1_000), 1),
            compile_seconds(decisions_model(1_000, labelled=True), 1),
        )
        for _ in range(RUNS)
    ]
    variables, labels = (min(times) for times in zip(*pairs, strict=True))
    long = compile_seconds(decisions_model(10_000), 2)
    compensated = compile_seconds(compensated_branches_model())
    rows = (
        ("1,000 nodes, variables : labels", variables / labels, MOST_FOR_VARIABLES),
        ("10,000 nodes : 1,000 nodes", long / variables, MOST_FOR_TEN_TIMES),
        ("36 nodes with compensation, seconds", compensated, MOST_COMPENSATED),
    )
    print(f"1,000 nodes with labels    {labels:6.2f} s")
    print(f"1,000 nodes with variables {variables:6.2f} s")
    print(f"10,000 nodes with variables{long:6.2f} s")
    for name, figure, most in rows:
        print(f"{name:36}{figure:6.2f}  at most {most:g}{'' if figure <= most else '  EXCEEDED'}")
    return int(any(figure > most for _, figure, most in rows))


if __name__ == "__main__":
    sys.exit(main())
