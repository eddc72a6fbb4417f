"""How many tasks of people in BPMN files become forms on n8n, and what these ask for:
`python benchmarks/forms.py FOLDER…`.

Counts user and manual tasks of the files that compile: those that are forms, by where the fields
come from (the model, the conditions or the decision that are read later, nowhere), and those that
stay placeholders since they may be open beside other work that waits.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from orgflow.backends.n8n.emit.compiled import CompiledProcess
from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model

from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.work.form_fields import is_done_by_a_person

FROM_MODEL = "form with fields of the model"
INFERRED = "form with inferred fields"
EMPTY = "form without fields"
PLACEHOLDER = "placeholder: may be open beside other work that waits"
KINDS = (FROM_MODEL, INFERRED, EMPTY, PLACEHOLDER)


def count(path: Path, registry: Registry) -> Counter[str] | None:
    """The tasks of people of one file by kind; `None` where it does not compile."""
    ctx = PassContext(registry=registry)
    model = load_model(str(path), registry, ctx, diagram=True)
    emitted = compile_model(model, registry.backends["n8n"], ctx) if model is not None else None
    if emitted is None or ctx.has_errors:
        return None
    found: Counter[str] = Counter()
    for process in emitted.compiled.values():
        assert isinstance(process, CompiledProcess)
        for scope in process.scopes:
            for node in filter(is_done_by_a_person, scope.plan.scope.body.nodes):
                form = scope.plan.forms.get(node.id)
                sources = {field.asked.source for field in form.fields} if form is not None else {}
                if form is None:
                    found[PLACEHOLDER] += 1
                elif not sources:
                    found[EMPTY] += 1
                else:
                    found[FROM_MODEL if "model" in sources else INFERRED] += 1
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    folders: list[Path] = parser.parse_args().folders
    registry = Registry(outside=False)
    paths = sorted(p for folder in folders for p in folder.rglob("*.bpmn*"))
    counts = [one for path in paths if (one := count(path, registry)) is not None]
    total = sum(counts, Counter[str]())
    tasks = sum(total.values())
    print(f"{len(counts)} of {len(paths)} files compile; {tasks} tasks of people")
    for kind in KINDS:
        share = total[kind] / tasks if tasks else 0.0
        print(f"{total[kind]:6} {share:6.1%}  {kind}")


if __name__ == "__main__":
    main()
