"""Which extension data in BPMN files reaches people: `python benchmarks/kept.py FOLDER…`.

For each vendor's namespace and each of its elements and attributes: in how many places all of its
values are in what notes and reports show of the model, in how many some are, and in how many none.
It looks for the values themselves and knows nothing of how they are selected: what a tool keeps of
its own (colours, positions) counts as none, too, with a sample of it. `--exporters` counts files by
the program that wrote them.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from xml.etree import ElementTree

from orgflow.compilation.reading import load_model

from orgflow_ir.facts import all_statements
from orgflow_ir.model import Model
from orgflow_ir.model.value import Value
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

SUFFIXES = (".bpmn", ".bpmn20.xml", ".bpmn.xml", ".bpmn2")
BPMN = "http://www.omg.org/spec/BPMN/20100524/MODEL"


def models(folders: list[Path]) -> Iterator[Model]:
    """The models in the files of some folders that can be read."""
    registry = Registry(outside=False)
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.name.endswith(SUFFIXES):
                model = load_model(str(path), registry, PassContext(registry=registry))
                if model is not None:
                    yield model


def extra(value: object) -> Iterator[tuple[str, str]]:
    """All extension data in a value, by its key."""
    if isinstance(value, tuple):
        for part in value:
            yield from extra(part)
    elif isinstance(value, Value):
        for part in fields(value):
            if part.name == "extra":
                yield from value.extra
            elif part.name not in ("loc", "evidence", "diagram"):
                yield from extra(getattr(value, part.name))


def words(key: str, text: str) -> list[str]:
    """The values in extension data: of an attribute, or of the attributes and texts of XML."""
    if key.startswith("@"):
        return [text]
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return [text]
    found = [v for e in root.iter() for k, v in e.attrib.items() if k.lower() != "id"]
    found += [t for e in root.iter() for t in (e.text, e.tail) if t]
    return [w for w in found if w.strip()]


def folded(text: str) -> str:
    """Text by its letters and digits only, as notes break lines and mark code in other ways."""
    return re.sub(r"[\W_]+", "", text).lower()


def count(folders: list[Path]) -> tuple[Counter[tuple[str, str, str]], dict[tuple[str, str], str]]:
    """Places by namespace, name and fate (`all`, `some`, `none`), and a sample of what is lost."""
    found: Counter[tuple[str, str, str]] = Counter()
    samples: dict[tuple[str, str], str] = {}
    for model in models(folders):
        shown = folded(" ".join(f"{s.label} {s.text}" for _, s in all_statements(model)))
        for key, text in extra(model):
            namespace, _, name = key.removeprefix("@").removeprefix("{").rpartition("}")
            if namespace.startswith("http://www.w3.org/") or namespace == BPMN:
                continue
            parts = [p for p in map(folded, words(key, text)) if p]
            lost = [p for p in parts if p not in shown]
            fate = "all" if not lost else "some" if len(lost) < len(parts) else "none"
            found[namespace, name, fate] += 1
            if lost:
                samples.setdefault((namespace, name), lost[0][:60])
    return found, samples


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--exporters", action="store_true")
    args = parser.parse_args()
    if args.exporters:
        key = f"@{{{BPMN}}}exporter"
        names = Counter(dict(model.extra).get(key, "–") for model in models(args.folders))
        for name, number in names.most_common():
            print(f"{number:6} {name}")
    found, samples = count(args.folders)
    print(f"{'all':>6} {'some':>6} {'none':>6}  namespace and name; a value that is not shown")
    for namespace, name in sorted({key[:2] for key in found}):
        numbers = [found[namespace, name, fate] for fate in ("all", "some", "none")]
        sample = samples.get((namespace, name), "")
        print(
            *(f"{n:6}" for n in numbers), f" {{{namespace}}}{name}", f"; {sample}" if sample else ""
        )
    totals = Counter[str]()
    for (_, _, fate), number in found.items():
        totals[fate] += number
    print(f"shown: {totals['all']}, in part: {totals['some']}, not: {totals['none']}")


if __name__ == "__main__":
    main()
