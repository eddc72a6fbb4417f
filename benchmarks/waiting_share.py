"""How many model files compile for n8n, before and after: `python benchmarks/waiting_share.py
BEFORE FOLDER…`.

BEFORE is another checkout, with an environment of its own or none. Each file of the folders is
compiled by both. Prints how many compile, how many of those wait in rows of a Data Table, how many
leave steps of people as placeholders because another wait is open (OF423), and the refusals by
construct. A file that compiles in both without such placeholders has to have the same bytes;
`--show` lists files by what became of them. Exit code 1 if one has not.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

_CONSTRUCT = re.compile(r"\(([a-z][a-z.-]*)\) (?:is not supported|can only be|on \S+ yet)")
_ENDINGS = (".bpmn", ".bpmn20.xml", ".pme")


def list_files(folders: list[Path]) -> list[Path]:
    """The model files of folders, sorted."""
    return sorted(
        path for folder in folders for path in folder.rglob("*") if path.name.endswith(_ENDINGS)
    )


def compile_files(paths: list[Path]) -> dict[str, dict[str, Any]]:
    """What the checkout on the path makes of each file: the codes and constructs of its errors, the
    codes of its warnings, and a digest of its files."""
    from orgflow.compilation.reading import load_model
    from orgflow.compiler import compile_model

    from orgflow_ir.diagnostics import Severity
    from orgflow_ir.pipeline import PassContext
    from orgflow_ir.plugins import Registry

    registry = Registry(outside=False)
    results: dict[str, dict[str, Any]] = {}
    for path in paths:
        ctx = PassContext(registry=registry)
        model = load_model(str(path), registry, ctx, diagram=True)
        emitted = compile_model(model, registry.backends["n8n"], ctx) if model is not None else None
        reasons = set()
        for diagnostic in ctx.diagnostics:
            if diagnostic.severity is Severity.ERROR:
                construct = _CONSTRUCT.search(diagnostic.message)
                reasons.add(f"{diagnostic.code} {construct[1] if construct else diagnostic.name}")
        files = [(a.path, a.text) for a in emitted.artifacts] if emitted is not None else []
        ok = bool(files) and not reasons
        text = json.dumps(files)
        results[str(path)] = {
            "compiled": ok,
            "reasons": sorted(reasons) if not ok else [],
            "beside": any(d.code == "OF423" for d in ctx.diagnostics),
            "rows": "What happened?" in text,
            "digest": hashlib.sha256(text.encode()).hexdigest() if ok else "",
        }
    return results


def compile_elsewhere(checkout: Path, paths: list[Path]) -> dict[str, dict[str, Any]]:
    """The same by another checkout, whose package is on the path of a new process."""
    own = checkout / ".venv" / "bin" / "python"
    python = str(own) if own.exists() else sys.executable
    code = (
        "import sys,json,importlib.util as u;from pathlib import Path;"
        f"s=u.spec_from_file_location('waiting_share',{str(Path(__file__).resolve())!r});"
        "m=u.module_from_spec(s);s.loader.exec_module(m);"
        "print(json.dumps(m.compile_files([Path(p) for p in json.load(sys.stdin)])))"
    )
    done = subprocess.run(
        [python, "-c", code],
        input=json.dumps([str(path) for path in paths]),
        capture_output=True, text=True, check=True, cwd=checkout,
        env={**os.environ, "PYTHONUTF8": "1"},
    )  # fmt: skip
    results: dict[str, dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return results


def print_figures(name: str, results: dict[str, dict[str, Any]]) -> None:
    """The counts of one checkout."""
    total = len(results)
    compiled = [r for r in results.values() if r["compiled"]]
    beside = sum(r["beside"] for r in compiled)
    rows = sum(r["rows"] for r in compiled)
    print(f"{name}: {len(compiled)} of {total} compile ({len(compiled) / max(total, 1):.0%}); "
          f"{rows} in rows, {beside} with placeholders beside other waits")  # fmt: skip
    reasons = Counter(reason for r in results.values() for reason in r["reasons"])
    for reason, number in reasons.most_common():
        print(f"{number:6} {reason}")


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    paths = list_files(given.folders)
    after = compile_elsewhere(Path(__file__).resolve().parent.parent, paths)
    before = compile_elsewhere(given.before.resolve(), paths)
    for folder in given.folders:
        inside = [str(p) for p in paths if p.is_relative_to(folder)]
        print(f"== {folder.name}")
        print_figures("before", {p: before[p] for p in inside})
        print_figures("after", {p: after[p] for p in inside})
    changed = [
        path
        for path, old in before.items()
        if old["compiled"] and not old["beside"] and old["digest"] != after[path]["digest"]
    ]
    lost = [path for path, old in before.items() if old["compiled"] and not after[path]["compiled"]]
    print(f"{len(changed)} compiled without placeholders beside other waits and have other bytes; "
          f"{len(lost)} no longer compile")  # fmt: skip
    if given.show:
        for path in paths:
            old, new = before[str(path)], after[str(path)]
            if new["compiled"] and not old["compiled"]:
                print(f"new: {path}")
            elif new["reasons"]:
                print(f"refused: {path}: {', '.join(new['reasons'])}")
    for path in (*changed, *lost):
        print(f"faulty: {path}")
    return 1 if changed or lost else 0


if __name__ == "__main__":
    sys.exit(main())
