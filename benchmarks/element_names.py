"""How often an error names elements by ids only: `python benchmarks/element_names.py FOLDER`.

Compiles each BPMN file of a folder for n8n and counts the errors whose message quotes the id of an
element and no label of any. Ids that the file shows as labels are labels.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from orgflow.compilation.reading import load_model
from orgflow.compilation.usage_errors import InputError
from orgflow.compiler import compile_model

from orgflow_ir.diagnostics import Diagnostic, Severity
from orgflow_ir.model import Element, Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry


def shows_only_ids(message: str, model: Model) -> bool:
    """Whether a message quotes an element by its id, and none by its label."""
    elements = tuple(_elements(model))
    labels = {" ".join(e.name.split()) for e in elements if e.name.strip()}
    ids = {e.id for e in elements} - labels
    quoted = set(re.findall(r"`([^`]*)`", message))
    return bool(quoted & ids) and not quoted & labels


def _elements(model: Model) -> Iterator[Element]:
    for scope in model.scopes():
        yield from (scope, *scope.nodes, *scope.flows)
    yield from (*model.pools, *model.message_flows)


def _errors(path: Path, registry: Registry) -> tuple[Model | None, list[Diagnostic]]:
    ctx = PassContext(registry=registry)
    try:
        model = load_model(str(path), registry, ctx)
    except InputError:
        return None, []
    if model is not None:
        compile_model(model, registry.backends["n8n"], ctx)
    return model, [d for d in ctx.diagnostics if d.severity is Severity.ERROR]


def main() -> None:
    """Print the share, and by rule how many errors show ids only."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    registry = Registry(outside=False)
    total, by_rule = 0, Counter[str]()
    for path in sorted(arguments.folder.rglob("*.bpmn")):
        model, errors = _errors(path, registry)
        if model is None:
            continue
        total += len(errors)
        by_rule.update(d.code for d in errors if shows_only_ids(d.message, model))
    only = by_rule.total()
    if arguments.json:
        print(json.dumps({"errors": total, "only_ids": only, "by_rule": by_rule}))
        return
    print(f"{only} of {total} errors ({only / max(total, 1):.1%}) show only an id")
    for code, count in by_rule.most_common():
        print(f"  {code} {count}")


if __name__ == "__main__":
    main()
