"""What `check` says of a folder of n8n workflows: findings per code, every error with its place.

python benchmarks/lint_workflows.py ../shared/data/n8n-workflows
"""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict
from pathlib import Path

from orgflow import compiler
from orgflow.backends.n8n.backend import N8nBackend
from orgflow.compilation.reading import load_model

from orgflow_ir.diagnostics import Diagnostic, Severity
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry


def checked(source: SourceFile, registry: Registry) -> tuple[list[Diagnostic], float]:
    """Everything that `check` says of a file, and the milliseconds the examination took."""
    ctx = PassContext(registry=registry)
    model = load_model(source, registry, ctx, from_="n8n")
    if model is not None:
        compiler.check_model(model, ctx, without=N8nBackend.lint_replaces)
    begin = time.perf_counter()
    N8nBackend().lint(source, ctx)
    return ctx.diagnostics, (time.perf_counter() - begin) * 1000


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--code", help="also list every finding of this code")
    options = parser.parse_args()
    registry = Registry(outside=False)
    files = sorted(options.folder.glob("*.json"))
    counts: Counter[tuple[str, str, Severity]] = Counter()
    where: dict[tuple[str, str, Severity], set[str]] = defaultdict(set)
    errors: list[Diagnostic] = []
    shown: list[Diagnostic] = []
    times: list[tuple[float, str]] = []
    for path in files:
        found, took = checked(SourceFile(path.name, path.read_bytes()), registry)
        times.append((took, path.name))
        for d in found:
            key = (d.code, d.name, d.severity)
            counts[key] += 1
            where[key].add(path.name)
        errors += [d for d in found if d.severity is Severity.ERROR]
        shown += [d for d in found if d.code == options.code]
    print(f"{'code':7}{'severity':10}{'findings':>9}{'workflows':>11}  rule")
    for key, count in sorted(counts.items()):
        code, name, severity = key
        print(f"{code:7}{severity:10}{count:9}{len(where[key]):11}  {name}")
    wrong = {d.loc.file for d in errors if d.loc is not None}
    share = 100 * len(wrong) / max(1, len(files))
    print(f"\n{len(files)} workflows, {len(wrong)} with errors ({share:.1f} %)")
    for d in (*errors, *shown):
        print(f"  {d.severity} {d.code} {d.loc}: {d.message}")
    times.sort()
    slowest = ", ".join(f"{name} {took:.0f}" for took, name in times[-3:])
    middle = times[len(times) // 2][0] if times else 0.0
    print(f"\nmilliseconds: median {middle:.1f}, slowest {slowest}")


if __name__ == "__main__":
    main()
