"""How long the passes take on real files: `make bench` prints it.

python benchmarks/pass_times.py [FOLDER]  the figures, and the files that take longest

Timed is what `check` does with a model that was read until each finding is there, with its
message and the run that shows it. What to do about a fault of the flow is looked for when somebody
reads the finding, as `check` does to print it: candidates are analysed one by one. The second line
has the time with it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from orgflow import compiler
from orgflow.compilation.model_checks import needs_diagram
from orgflow.compilation.reading import load_model

from orgflow_ir.diagnostics.grading import Grading
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

SHARED = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
GENERATED = ("soundness/gen/", "benchmark_input")
"""Parts of paths of files that a program made, and nobody drew."""

TIMES = 15
MEDIAN, LATE, MOST = 0.8, 3.0, 50.0
"""Most milliseconds of processor time: the median, the 99th percentile, any file."""


class PassTimes(NamedTuple):
    """Milliseconds of all passes together on files, by path, least first: until findings are
    there, and with the advice for each."""

    took: tuple[tuple[float, Path], ...]
    advised: tuple[tuple[float, Path], ...]

    def at(self, share: float) -> float:
        """The time that a share of the files does not exceed."""
        return _at(self.took, share)


def figures(took: tuple[tuple[float, Path], ...]) -> str:
    """The median, the 99th percentile and the most."""
    return (
        f"median {_at(took, 0.5):.2f} ms, 99th percentile {_at(took, 0.99):.2f} ms, "
        f"most {_at(took, 1):.1f} ms"
    )


def _at(took: tuple[tuple[float, Path], ...], share: float) -> float:
    return took[min(int(len(took) * share), len(took) - 1)][0]


def real_files(folder: Path = SHARED) -> list[Path]:
    """The shared BPMN files that people made."""
    found = sorted(p for p in folder.rglob("*.bpmn*") if p.is_file())
    return [p for p in found if not any(part in str(p) for part in GENERATED)]


def pass_times(
    files: Iterable[Path],
    registry: Registry,
    grading: Grading | None = None,
    times: int = TIMES,
) -> PassTimes:
    """How long the passes of `check` take on models that have been read: the least of some times,
    once what only faulty models need is imported."""
    paths, grading = list(files), grading or Grading()
    for path in paths[:50]:
        _once(path, registry, grading)
    # The times of one file lie apart, so that something else that runs for a moment slows one.
    rounds = [[_once(path, registry, grading) for path in paths] for _ in range(times)]
    took, advised = [], []
    for path, each in zip(paths, zip(*rounds, strict=True), strict=True):
        took.append((min(found for found, _ in each) * 1000, path))
        advised.append((min(both for _, both in each) * 1000, path))
    return PassTimes(tuple(sorted(took)), tuple(sorted(advised)))


def _once(path: Path, registry: Registry, grading: Grading) -> tuple[float, float]:
    """Seconds until the findings are there, and until they have advice."""
    ctx = PassContext(registry=registry, grading=grading)
    source = SourceFile(str(path), path.read_bytes())
    model = load_model(source, registry, ctx, from_="bpmn", diagram=needs_diagram(ctx))
    begin = time.process_time()
    if model is not None:
        compiler.check_model(model, ctx)
    found = time.process_time() - begin
    ctx.advise()
    return found, time.process_time() - begin


def main() -> None:
    """Print the figures and the files that take longest."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else SHARED
    found = pass_times(real_files(folder), Registry(outside=False))
    print(f"passes on {len(found.took)} files: {figures(found.took)}")
    print(f"{'with advice':>{len(f'passes on {len(found.took)} files')}}: {figures(found.advised)}")
    for took, path in found.took[:-11:-1]:
        print(f"{took:10.2f} ms  {path.relative_to(folder)}")


if __name__ == "__main__":
    main()
