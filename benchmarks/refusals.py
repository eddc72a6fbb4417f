"""How many BPMN files compile, and why the others do not: `python benchmarks/refusals.py FOLDER…`.

Counts files by the codes of their errors, and each refusal of a construct (OF403) by construct. A
file with several reasons counts for each. `--show CODE` prints the messages of a code, too.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from pathlib import Path

from orgflow.compiler import InputError, compile_model, load

from orgflow_ir.diagnostics import Severity
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

_CONSTRUCT = re.compile(r"\(([a-z][a-z.-]*)\) (?:is not supported|can only be)")


def refusals(path: Path, target: str, registry: Registry) -> list[tuple[str, str]]:
    """The reasons for which a file does not compile, each with a message; none where it does."""
    ctx = PassContext(registry=registry)
    try:
        model = load(str(path), registry, ctx, diagram=True)
    except InputError as error:
        return [("unreadable", str(error))]
    if model is not None:
        compile_model(model, registry.backends[target], ctx)
    found = []
    for diagnostic in ctx.diagnostics:
        if diagnostic.severity is Severity.ERROR:
            construct = _CONSTRUCT.search(diagnostic.message)
            reason = f"{diagnostic.code} {construct[1] if construct else diagnostic.name}"
            found.append((reason, diagnostic.message))
    return found


def main() -> None:
    """Print the number of files that compile, and of those that each reason refuses."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--target", default="n8n")
    parser.add_argument("--show", metavar="CODE", help="print the messages of this code")
    arguments = parser.parse_args()
    registry = Registry(outside=False)
    files = sorted(p for folder in arguments.folders for p in folder.rglob("*.bpmn*"))
    compiled, by_reason = 0, Counter[str]()
    for path in files:
        found = refusals(path, arguments.target, registry)
        compiled += not found
        by_reason.update({reason for reason, _ in found})
        for reason, message in found:
            if arguments.show is not None and reason.startswith(arguments.show):
                print(f"{path.name}: {reason}: {message}")
    print(f"{compiled} of {len(files)} files compile for {arguments.target}")
    for reason, number in by_reason.most_common():
        print(f"{number:6} {reason}")


if __name__ == "__main__":
    main()
