"""What becomes of faulty models that take the advice they get: how many then compile.

python benchmarks/fixed_models.py [--target n8n] [--folder FOLDER]

Takes every shared BPMN file with an error in its flow, makes the fix that is offered for the first
of them, checks again, and so on. What has no error left in its flow is compiled to the target. A
refusal counts as known beforehand where the file with its faults has it too, or where the help of a
fix named it. Twice: once the target is known when fixes are looked for, once it is not.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from orgflow import compiler
from orgflow.compilation.reading import load_model
from pass_times import SHARED, real_files

from orgflow_ir.diagnostics import Category, Diagnostic, Severity, apply
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.plugins.contracts import Backend

LEGALITY = (
    compiler.enter_target, compiler.run_passes_for_check, compiler.legalise_constructs,
)  # fmt: skip
"""The stages that find what a target refuses."""

ROUNDS = 20
"""Most fixes made in one file."""


class Outcome(Counter[str]):
    """Files by what became of them, and the refusals that no advice mentioned."""

    def __init__(self) -> None:
        super().__init__()
        self.silent: list[str] = []


def errors(model: Model, registry: Registry, backend: Backend | None) -> list[Diagnostic]:
    """Errors that `check` finds, those of the target where there is one."""
    ctx = PassContext(registry=registry)
    if backend is None:
        compiler.check_model(model, ctx)
    else:
        request = compiler.CompileRequest(model, backend, allow_lossy=True)
        compiler.run_stages(LEGALITY, request, ctx)
    return [d for d in ctx.diagnostics if d.severity is Severity.ERROR]


def follow(
    path: Path, registry: Registry, backend: Backend, known: Backend | None, into: Outcome
) -> None:
    """Take the advice for one file, and count what becomes of it."""
    ctx = PassContext(registry=registry)
    source = SourceFile(str(path), path.read_bytes())
    model = load_model(source, registry, ctx, from_="bpmn")
    if model is None or ctx.has_errors:
        return
    found = errors(model, registry, known)
    if not any(d.category is Category.FLOW for d in found):
        return
    if any(d.category is not None and d.category.stops for d in found):
        return
    before = {d.element for d in errors(model, registry, backend) if d.category is Category.TARGET}
    said = ""
    for _ in range(ROUNDS):
        flow = [d for d in found if d.category is Category.FLOW]
        fixable = [d for d in flow if d.fix is not None and d.fix.applicability != "manual"]
        if not fixable:
            break
        said += str(fixable[0].help)
        assert fixable[0].fix is not None
        model = apply(model, fixable[0].fix)
        found = errors(model, registry, known)
    else:
        flow = [d for d in found if d.category is Category.FLOW]
    if flow:
        into["not fixed by what is offered"] += 1
        return
    into["fixed"] += 1
    ctx = PassContext(registry=registry)
    if compiler.compile_model(model, backend, ctx, allow_lossy=True) is not None:
        into["  compile then"] += 1
        return
    refusals = [d for d in ctx.diagnostics if d.severity is Severity.ERROR]
    if {d.element for d in refusals} <= before:
        into["  refused as before the fix, for another part"] += 1
    elif f"({backend.name} does not support" in said:
        into["  refused as the advice says"] += 1
    else:
        into["  refused, and no advice says so"] += 1
        into.silent.append(f"{path.name}: {refusals[0].code} {refusals[0].message}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--target", default="n8n")
    parser.add_argument("--folder", type=Path, default=SHARED)
    options = parser.parse_args()
    registry = Registry(outside=False)
    backend = registry.backends[options.target]
    for known in (backend, None):
        outcome = Outcome()
        for path in real_files(options.folder):
            follow(path, registry, backend, known, outcome)
        print(f"fixes looked for {'with' if known else 'without'} --target {options.target}:")
        for name in (
            "not fixed by what is offered", "fixed", "  compile then",
            "  refused as before the fix, for another part", "  refused as the advice says",
            "  refused, and no advice says so",
        ):  # fmt: skip
            print(f"{outcome[name]:6}  {name}")
        for line in outcome.silent:
            print(f"            {line}")


if __name__ == "__main__":
    main()
