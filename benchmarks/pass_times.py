"""How long the passes take on real files: `make bench` prints it.

python benchmarks/pass_times.py           the figures, and the files that take longest
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from orgflow import compiler

from orgflow_ir.diagnostics.grading import Grading
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

SHARED = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
GENERATED = ("soundness/gen/", "benchmark_input")
"""Parts of paths of files that a program made, and nobody drew."""

TIMES = 5
MEDIAN, LATE, MOST = 0.8, 3.0, 50.0
"""Most milliseconds of processor time: the median, the 99th percentile, any file."""


class PassTimes(NamedTuple):
    """Milliseconds of all passes together on files, by path, least first."""

    took: tuple[tuple[float, Path], ...]

    def at(self, share: float) -> float:
        """The time that a share of the files does not exceed."""
        return self.took[min(int(len(self.took) * share), len(self.took) - 1)][0]


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
    found = (
        (min(_once(path, registry, grading) for _ in range(times)) * 1000, path) for path in paths
    )
    return PassTimes(tuple(sorted(found)))


def _once(path: Path, registry: Registry, grading: Grading) -> float:
    ctx = PassContext(registry=registry, grading=grading)
    source = SourceFile(str(path), path.read_bytes())
    model = compiler.load(source, registry, ctx, from_="bpmn", diagram=compiler.needs_diagram(ctx))
    begin = time.process_time()
    if model is not None:
        compiler.check_model(model, ctx)
    return time.process_time() - begin


def main() -> None:
    """Print the figures and the files that take longest."""
    found = pass_times(real_files(), Registry(outside=False))
    print(
        f"passes on {len(found.took)} files: median {found.at(0.5):.2f} ms, 99th percentile "
        f"{found.at(0.99):.2f} ms, most {found.at(1):.1f} ms"
    )
    for took, path in found.took[:-11:-1]:
        print(f"{took:10.2f} ms  {path.relative_to(SHARED)}")


if __name__ == "__main__":
    main()
