"""How many BPMN files compile, and why the others do not: `python benchmarks/refusals.py FOLDER…`.

Counts files by the codes of their errors, and each refusal of a construct (OF403) by construct. A
file with several reasons counts for each. Then how many compile with approximations
(`--allow-lossy`), with stubs (`unsupported=stub`), with stubs and in spite of errors of the flow
(`--force`), and each process by itself (`-o DIR/`). `--show CODE` prints the messages of a code,
`--sample N` refusals at random to be compared with the files, of each reason in turn.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from orgflow.compilation.reading import load_model
from orgflow.compiler import CompileRequest, compile_model, compile_separately

from orgflow_ir.diagnostics import Diagnostic, Severity
from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

_CONSTRUCT = re.compile(r"\(([a-z][a-z.-]*)\) (?:is not supported|can only be|on \S+ yet)")

WAYS: dict[str, dict[str, Any]] = {
    "--allow-lossy": {"allow_lossy": True},
    "unsupported=stub": {"options": {"unsupported": "stub"}},
    "unsupported=stub --force": {"options": {"unsupported": "stub"}, "force": True},
}
"""Ways to compile more files, as arguments of `compile_model`."""


class Refusal(NamedTuple):
    """An error of a file, and the reason that it is counted as."""

    path: Path
    reason: str
    diagnostic: Diagnostic

    def __str__(self) -> str:
        d = self.diagnostic
        line = f":{d.loc.line}" if d.loc is not None and d.loc.line is not None else ""
        return f"{self.path.name}{line}: {self.reason}: {d.message} [{d.help or 'no help'}]"


class Sweep:
    """The files of some folders, read once."""

    def __init__(self, folders: list[Path], target: str) -> None:
        self.registry = Registry(outside=False)
        self.target = target
        self.paths = sorted(p for folder in folders for p in folder.rglob("*.bpmn*"))
        self.read: dict[Path, tuple[Model | None, tuple[Diagnostic, ...]]] = {}
        for path in self.paths:
            ctx = PassContext(registry=self.registry)
            model = load_model(str(path), self.registry, ctx, diagram=True)
            self.read[path] = model, tuple(ctx.diagnostics)

    def _context(self, path: Path) -> PassContext:
        ctx = PassContext(registry=self.registry)
        ctx.diagnostics = [*self.read[path][1]]
        return ctx

    def refusals(self, path: Path, **more: Any) -> list[Refusal]:
        """The reasons for which a file does not compile; none where it does."""
        ctx, model = self._context(path), self.read[path][0]
        if model is not None:
            compile_model(model, self.registry.backends[self.target], ctx, **more)
        found = []
        for diagnostic in ctx.diagnostics:
            if diagnostic.severity is Severity.ERROR:
                construct = _CONSTRUCT.search(diagnostic.message)
                reason = f"{diagnostic.code} {construct[1] if construct else diagnostic.name}"
                found.append(Refusal(path, reason, diagnostic))
        return found

    def separately(self, path: Path) -> bool:
        """Whether some process of a file compiles by itself."""
        ctx, model = self._context(path), self.read[path][0]
        if model is None or ctx.has_errors:
            return False
        request = CompileRequest(model, self.registry.backends[self.target])
        return bool(compile_separately(request, ctx))


def sampled(refusals: list[Refusal], wanted: int, seed: int = 12) -> list[Refusal]:
    """Refusals at random (the same ones for a seed), of each reason in turn."""
    by_reason: dict[str, list[Refusal]] = {}
    for refusal in refusals:
        by_reason.setdefault(refusal.reason, []).append(refusal)
    dice = random.Random(seed)
    for found in by_reason.values():
        dice.shuffle(found)
    chosen: list[Refusal] = []
    while len(chosen) < wanted and any(by_reason.values()):
        chosen += [found.pop() for found in by_reason.values() if found]
    return chosen[:wanted]


def main() -> None:
    """Print the number of files that compile, and of those that each reason refuses."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--target", default="n8n")
    parser.add_argument("--show", metavar="CODE", help="print the messages of this code")
    parser.add_argument("--sample", metavar="N", type=int, default=0)
    parser.add_argument("--seed", type=int, default=12, help="draw another sample")
    arguments = parser.parse_args()
    sweep = Sweep(arguments.folders, arguments.target)
    compiled, by_reason, every = 0, Counter[str](), list[Refusal]()
    ways = Counter[str]()
    for path in sweep.paths:
        found = sweep.refusals(path)
        every += found
        compiled += not found
        by_reason.update({refusal.reason for refusal in found})
        for way, more in WAYS.items():
            ways[way] += not found or not sweep.refusals(path, **more)
        ways["-o DIR/ (some process)"] += not found or sweep.separately(path)
    for refusal in every:
        if arguments.show is not None and refusal.reason.startswith(arguments.show):
            print(refusal)
    for refusal in sampled(every, arguments.sample, arguments.seed):
        print(refusal)
    whole = len(sweep.paths) or 1
    print(f"{compiled} of {whole} files compile for {arguments.target} ({compiled / whole:.0%})")
    for way, number in ways.items():
        print(f"{number} of {whole} with {way} ({number / whole:.0%})")
    for reason, number in by_reason.most_common():
        print(f"{number:6} {reason}")


if __name__ == "__main__":
    main()
