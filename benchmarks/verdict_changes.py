"""Verdicts of this checkout compared with those of another one, model by model.

python benchmarks/verdict_changes.py OTHER [FOLDER…]     OTHER: a checkout, as one of 0.1

For every BPMN and PME file of the folders (default: ../shared/data) both checkouts say which errors
`check` finds, whether the model compiles to n8n, and what `verify` says of the workflow. Each
difference is printed with the named improvement that explains it. Exit code 1 where one has none.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "data"

_WORKER = """
import json, sys
try:
    from orgflow import compiler
    from orgflow_ir.pipeline import PassContext
    from orgflow_ir.model.source import SourceFile
except ImportError:  # version 0.1
    from orgflow.commands import driver as compiler
    from orgflow_ir.pass_manager import PassContext
    from orgflow_ir.source import SourceFile
try:
    from orgflow.compilation.reading import load_model
except ImportError:  # version 0.2
    load_model = compiler.load
from orgflow_ir.plugins import Registry
registry = Registry(outside=False)
backend = registry.backends["n8n"]
def errors(ctx):
    wrong = [d for d in ctx.diagnostics if d.severity.value == "error"]
    return sorted({(d.code, d.element or "") for d in wrong})
def judged(path):
    with open(path, "rb") as file:
        source = SourceFile(path, file.read())
    ctx = PassContext(registry=registry)
    model = load_model(source, registry, ctx)
    if model is None:
        return {"check": errors(ctx), "read": False}
    compiler.check_model(model, ctx)
    found = {"check": errors(ctx), "read": True}
    found["warned"] = sorted({(d.code, d.element or "") for d in ctx.diagnostics} - {*errors(ctx)})
    ctx = PassContext(registry=registry)
    made = compiler.compile_model(model, backend, ctx)
    found["refused"] = errors(ctx) if made is None else []
    found["compiles"] = made is not None
    if made is not None:
        found["verify"] = verdicts = {}
        for artifact in getattr(made, "artifacts", made):
            ctx = PassContext(registry=registry)
            source = SourceFile(str(artifact.path), artifact.text.encode())
            for result in backend.verify(model, source, ctx) or ():
                verdict = str(getattr(result.verdict, "value", result.verdict))
                if verdicts.get(result.process) != "proved":  # by the file of another process
                    verdicts[result.process] = verdict
    return found
for path in sys.stdin.read().split("\\0"):
    try:
        found = judged(path)
    except Exception as error:
        found = {"crash": f"{type(error).__name__}: {error}"}
    print(json.dumps([path, found]), flush=True)
"""
"""Prints the verdicts on each path that it reads; runs in either checkout."""

Json = dict[str, Any]


class Change(NamedTuple):
    """A difference between the two checkouts: which command, what of it, there and here."""

    path: Path
    command: str
    code: str
    there: str
    here: str

    def __str__(self) -> str:
        name = self.path.relative_to(SHARED) if self.path.is_relative_to(SHARED) else self.path
        return f"{name}: {self.command} {self.code}: {self.there} -> {self.here}"


class Reason(NamedTuple):
    """A named improvement, and whether it explains a difference."""

    name: str
    explains: Callable[[Change, Json, Json], bool]


def judgements(checkout: Path, paths: Sequence[Path]) -> dict[Path, Json]:
    """The verdicts of a checkout, by path."""
    (checkout / ".types").mkdir(exist_ok=True)
    link = checkout / ".types" / "orgflow"
    if not link.exists():
        link.symlink_to("..")
    env = {**os.environ, "PYTHONPATH": f"{checkout / '.types'}:{checkout}", "PYTHONUTF8": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", _WORKER], env=env, text=True, check=True, stdout=subprocess.PIPE,
        input="\0".join(map(str, paths)), cwd=checkout,
    )  # fmt: skip
    return {Path(path): found for path, found in map(json.loads, ran.stdout.splitlines())}


def changes(path: Path, there: Json, here: Json) -> Iterator[Change]:
    """What differs between two verdicts on one file."""
    if "crash" in there or "crash" in here:
        if there != here:
            yield Change(path, "crash", "", there.get("crash", "no"), here.get("crash", "no"))
        return
    before, after = (Counter(code for code, _ in found["check"]) for found in (there, here))
    for code in sorted(before.keys() | after.keys()):
        if before[code] != after[code]:
            yield Change(path, "check", code, str(before[code]), str(after[code]))
    if there.get("compiles") != here.get("compiles"):
        texts = (
            "compiles" if found.get("compiles") else _codes(found.get("refused") or found["check"])
            for found in (there, here)
        )
        yield Change(path, "compile", "", *texts)
    old, new = there.get("verify", {}), here.get("verify", {})
    for process in sorted(old.keys() & new.keys()):
        if old[process] != new[process]:
            yield Change(path, "verify", process, old[process], new[process])


def _codes(found: Sequence[Sequence[str]]) -> str:
    return ", ".join(dict.fromkeys(code for code, _ in found)) or "no error"


def _elements(found: Json, kind: str, code: str) -> set[str]:
    return {element for known, element in found[kind] if known == code}


def _grows(change: Change, *codes: str) -> bool:
    return (
        change.command == "check" and change.code in codes and int(change.there) < int(change.here)
    )


def _gone(change: Change, *codes: str) -> bool:
    return change.command == "check" and change.code in codes and change.here == "0"


def _new(code: str, there: Json, here: Json) -> bool:
    """Whether the errors of a code are more than they were."""
    return len(_elements(here, "check", code)) > len(_elements(there, "check", code))


def _only_warned(change: Change, there: Json, here: Json) -> bool:
    lost = _elements(there, "check", "OF203") - _elements(here, "check", "OF203")
    return (
        change.code == "OF203" and bool(lost) and lost <= _elements(here, "warned", "OF203")
        and not _grows(change, "OF203")
    )  # fmt: skip


def _beside_a_default(change: Change, there: Json, here: Json) -> bool:
    """Whether the file has a flow without a condition beside a default flow."""
    if not _gone(change, "OF203"):
        return False
    from orgflow.compilation.reading import load_model

    from orgflow_ir.pipeline import PassContext
    from orgflow_ir.plugins import Registry

    registry = Registry(outside=False)
    model = load_model(str(change.path), registry, PassContext(registry=registry))
    flows = [f for scope in model.scopes() for f in scope.flows] if model is not None else []
    defaults = {f.source for f in flows if f.default}
    return any(f.source in defaults and not f.default and f.condition is None for f in flows)


REASONS = (
    Reason(
        "an arrow drawn twice is a finding of its own (OF131), in place of what follows from it",
        lambda c, there, here: (
            _grows(c, "OF131") or (_gone(c, "OF203") and _new("OF131", there, here))
        ),
    ),
    Reason("double work at a plain end event is a warning", _only_warned),
    Reason("a flow without a condition beside a default flow is a choice", _beside_a_default),
    Reason(
        "an event-based gateway without ways out has one finding (OF110)",
        lambda c, there, here: (
            _grows(c, "OF110") or (c.code == "OF201" and _new("OF110", there, here))
        ),
    ),
    Reason(
        "a loop that forks without end is a fault of its own (OF206)",
        lambda c, there, here: (
            _grows(c, "OF206") or (c.code == "OF201" and _new("OF206", there, here))
        ),
    ),
    Reason(
        "internal errors are corrected",
        lambda c, _, here: _gone(c, "OF901") or (c.command == "crash" and c.here == "no"),
    ),
    Reason(
        "event definitions that BPMN forbids at a place are errors (OF136)",
        lambda c, _there, _here: _grows(c, "OF136"),
    ),
    Reason(
        "a file without a process is an error (OF156)",
        lambda c, _there, _here: _grows(c, "OF156"),
    ),
    Reason(
        "link events are paired by their references too, and by names with white space folded",
        lambda c, _there, _here: (
            _gone(c, "OF118") or (c.command, c.there, c.here) == ("compile", "OF118", "compiles")
        ),
    ),
    Reason(
        "times that the target would not keep are refused (OF405)",
        lambda c, _there, _here: (c.command, c.there, c.here) == ("compile", "compiles", "OF405"),
    ),
    Reason(
        "more constructs are supported, and verify proves what becomes of them",
        lambda c, _, here: (
            (c.command, c.there, c.here) == ("compile", "OF403", "compiles")
            and set(here["verify"].values()) == {"proved"}
        ),
    ),
    Reason(
        "verify proves what was right and could not be seen to be",
        lambda c, _there, _here: (
            c.command == "verify" and c.there != "proved" and c.here == "proved"
        ),
    ),
)
"""The named improvements since version 0.1, the first that explains a difference counts."""


def reason(change: Change, there: Json, here: Json) -> str | None:
    """The name of the improvement that explains a difference, `None` where none does."""
    return next((r.name for r in REASONS if r.explains(change, there, here)), None)


def files(folders: Sequence[Path]) -> list[Path]:
    """The BPMN and PME models of some folders."""
    found = {p for folder in folders for p in folder.rglob("*.bpmn*") if p.is_file()}
    found |= {p for folder in folders for p in folder.rglob("pme/*.json")}
    return sorted(found)


def main(arguments: Sequence[str]) -> int:
    """Print each difference with its reason, and how many of each there are."""
    if not arguments or not (Path(arguments[0]) / "orgflow_ir").is_dir():
        print(__doc__, file=sys.stderr)
        return 2
    paths = files([Path(a).resolve() for a in arguments[1:]] or [SHARED])
    there, here = (judgements(c, paths) for c in (Path(arguments[0]).resolve(), ROOT))
    count: Counter[str] = Counter()
    for path in paths:
        for change in changes(path, there[path], here[path]):
            why = reason(change, there[path], here[path])
            count[why or "UNEXPLAINED"] += 1
            print(f"{change}  [{why or 'UNEXPLAINED'}]")
    print(f"{len(paths)} models, {sum(count.values())} differences")
    for why, number in count.most_common():
        print(f"{number:6} {why}")
    return 1 if count["UNEXPLAINED"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
