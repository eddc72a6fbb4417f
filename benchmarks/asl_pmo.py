"""The PMo models on Amazon States Language: compiled, validated, run on moto beside the token game.

    python benchmarks/asl_pmo.py ../shared/data/pmo [--format bpmn|pme] [--max-runs N]

One line a model: how many states, whether asl-validator takes it, how many runs are equal to the
model's, or why it is refused. Ends with exit code 1 where a model that compiles is not valid or a
run differs. asl-validator comes from npm as in the tests; moto from the extra `asl`.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from asl_play import PACKAGES, SCRIPT, Compiled, Validator  # noqa: E402
from node_tools import NodeChild, ToolMissingError, install  # noqa: E402
from orgflow.backends.asl.format import all_states  # noqa: E402
from orgflow.backends.asl.runner import MotoRunner  # noqa: E402
from orgflow.compilation.reading import load_model  # noqa: E402

from orgflow_ir.diagnostics import Severity  # noqa: E402
from orgflow_ir.pipeline import PassContext  # noqa: E402
from orgflow_ir.plugins import Registry  # noqa: E402
from orgflow_ir.plugins.runners import RunnerError  # noqa: E402

SUFFIXES = {"bpmn": ".bpmn", "pme": ".json"}


class Row(NamedTuple):
    """What came of one model; `runs` counts those equal and all, `reason` why it was refused."""

    name: str
    states: int = 0
    problems: tuple[str, ...] = ()
    equal: int = 0
    runs: int = 0
    flows: tuple[int, int] = (0, 0)
    reason: str = ""
    seconds: float = 0.0

    @property
    def right(self) -> bool:
        """Whether it is refused with a reason, or valid with all runs equal."""
        return bool(self.reason) or (not self.problems and self.equal == self.runs > 0)

    def line(self) -> str:
        """The row as text."""
        if self.reason:
            return f"{self.name:6} refused  {self.reason}"
        verdict = "valid" if not self.problems else f"INVALID ({'; '.join(self.problems)})"
        covered, total = self.flows
        return (
            f"{self.name:6} {self.states:4} states  {verdict}  {self.equal:3} of {self.runs:3} "
            f"runs equal  {covered:3} of {total:3} flows  {self.seconds:5.1f} s"
        )


def row(path: Path, form: str, registry: Registry, tools: tuple[Validator, MotoRunner],
        max_runs: int) -> Row:  # fmt: skip
    """Compile, validate and replay one model."""
    validator, runner = tools
    ctx = PassContext(registry=registry)
    model = load_model(str(path), registry, ctx, from_=form)
    assert model is not None, path
    started = time.perf_counter()
    made = Compiled(model, registry)
    if made.legal is None:
        errors = [d for d in made.ctx.diagnostics if d.severity is Severity.ERROR]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        return Row(path.stem, reason=f"{errors[0].code} {errors[0].message}{more}")
    problems = [p for d in made.definitions for p in validator.problems(d)]
    played = made.replay(runner, max_runs)
    return Row(
        path.stem,
        sum(1 for d in made.definitions for _ in all_states(d)),
        tuple(problems),
        sum(r.verdict == "equal" for r in played.runs),
        len(played.runs),
        played.flows,
        seconds=time.perf_counter() - started,
    )


def main() -> int:
    """Print the table; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--format", choices=SUFFIXES, default="bpmn")
    parser.add_argument("--max-runs", type=int, default=32)
    asked = parser.parse_args()
    paths = sorted((asked.folder / asked.format).glob(f"*{SUFFIXES[asked.format]}"))
    if not paths:
        parser.error(f"no *{SUFFIXES[asked.format]} in {asked.folder / asked.format}")
    try:
        folder = install("asl-validator", PACKAGES)
        runner = MotoRunner()
        with NodeChild(SCRIPT, str(folder)) as child:
            tools = (Validator(child), runner)
            rows = []
            for path in paths:
                rows.append(row(path, asked.format, Registry(outside=False), tools, asked.max_runs))
                print(rows[-1].line(), flush=True)
    except (ToolMissingError, RunnerError) as error:
        print(error, file=sys.stderr)
        return 2
    runner.close()
    made = [r for r in rows if not r.reason]
    print(
        f"\n{len(made)} of {len(rows)} models compile, {sum(not r.problems for r in made)} of them "
        f"valid; {sum(r.equal for r in made)} of {sum(r.runs for r in made)} runs equal, "
        f"{sum(r.flows[0] for r in made)} of {sum(r.flows[1] for r in made)} flows covered"
    )
    return 0 if all(r.right for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
