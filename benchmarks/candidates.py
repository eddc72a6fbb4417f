"""How often the operation that people use for a step is among those that its words bring.

    python benchmarks/candidates.py FOLDER [--embed]

FOLDER holds workflows of n8n. Their nodes have names that people gave; what the node does is the
truth. Nodes with the name that n8n gives, and types that no task is filled with, are left out, and
so are names that say the node's own title and nothing else. `--embed` compares with MiniLM.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from orgflow.agents.filling.search import OperationIndex
from orgflow.backends.n8n.catalogue.display import add_defaults
from orgflow.backends.n8n.catalogue.node_catalogue import N8nCatalogue, read_catalogue
from orgflow.backends.n8n.engine.engine_folder import engine_dir

from orgflow_ir.pipeline.operation_catalogue import Operation

RANKS = (1, 5, 12)


class Step(NamedTuple):
    """A name that a person gave, and the operation that does it: its node type and what it is."""

    name: str
    kind: str
    operation: Operation


def steps(folder: Path, catalogue: N8nCatalogue) -> Iterator[Step]:
    """The named steps of all workflows, each pair of a name and an operation once."""
    types = {t.key.rpartition("@")[0]: t for t in catalogue.types.values()}
    seen: set[tuple[str, str]] = set()
    for path in sorted(folder.rglob("*.json")):
        try:
            workflow = json.loads(path.read_text("utf-8"))
        except ValueError:
            continue
        nodes = workflow.get("nodes", []) if isinstance(workflow, dict) else []
        for node in (n for n in nodes if isinstance(n, dict)):
            kind = types.get(str(node.get("type")))
            name = str(node.get("name", ""))
            if kind is None:
                continue
            title = str(kind.description["displayName"])
            if re.sub(r"\d+$", "", name).strip().casefold() in (title.casefold(), ""):
                continue
            given = node.get("parameters")
            values = add_defaults(
                kind.properties, given if isinstance(given, dict) else {}, kind.version
            )
            chosen = [str(values[k]) for k in ("resource", "operation") if k in values]
            operation = _operation(catalogue, kind.key, chosen)
            if operation is not None and (name, operation.id) not in seen:
                seen.add((name, operation.id))
                yield Step(name, kind.key, operation)


def _operation(catalogue: N8nCatalogue, key: str, chosen: Sequence[str]) -> Operation | None:
    for count in (2, 1, 0):
        found = catalogue.operation(":".join((key, *chosen[len(chosen) - count :])))
        if found is not None and count <= len(chosen):
            return found
    return None


Search = Callable[[str], Sequence[Operation]]


def measured(found: Sequence[Step], search: Search) -> dict[str, float]:
    """Share of steps whose operation, or whose node type, is among the best."""
    hits = dict.fromkeys((*(f"operation@{r}" for r in RANKS), *(f"type@{r}" for r in RANKS)), 0)
    for step in found:
        best = search(step.name)
        for rank in RANKS:
            hits[f"operation@{rank}"] += step.operation in best[:rank]
            hits[f"type@{rank}"] += any(o.id.split(":")[0] == step.kind for o in best[:rank])
    return {name: count / max(1, len(found)) for name, count in hits.items()}


def by_embedding(catalogue: N8nCatalogue) -> Any:
    """Vectors of all operations, and a function that gives the cosines of a text."""
    import numpy
    from orgflow.store.embedder import local_embedder

    embedder = local_embedder()
    texts = [f"{o.title}. {o.description}" for o in catalogue.operations]
    chunks = (texts[at : at + 64] for at in range(0, len(texts), 64))
    vectors = numpy.array([vector for chunk in chunks for vector in embedder.embed(chunk)])
    return lambda text: vectors @ numpy.array(embedder.embed([text])[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--embed", action="store_true")
    options = parser.parse_args()
    catalogue = read_catalogue(engine_dir())
    found = list(steps(options.folder, catalogue))
    print(f"{len(found)} named steps, {len(catalogue.operations)} operations of {catalogue.name}")
    started = time.perf_counter()
    index = OperationIndex(catalogue.operations)
    built = time.perf_counter() - started

    def words(text: str) -> list[Operation]:
        return [c.operation for c in index.search(text, RANKS[-1])]

    rows: list[tuple[str, Search, float]] = [("bm25", words, built)]
    if options.embed:
        started = time.perf_counter()
        cosines = by_embedding(catalogue)
        operations = list(catalogue.operations)

        def meaning(text: str) -> list[Operation]:
            return [operations[i] for i in (-cosines(text)).argsort()[: RANKS[-1]]]

        def both(text: str) -> list[Operation]:
            ranks: dict[str, float] = {}
            by_words = [c.operation for c in index.search(text, 60)]
            by_meaning = [operations[i] for i in (-cosines(text)).argsort()[:60]]
            for order in (by_words, by_meaning):
                for rank, one in enumerate(order):
                    ranks[one.id] = ranks.get(one.id, 0.0) + 1 / (60 + rank)
            best = sorted(ranks, key=lambda i: (-ranks[i], i))[: RANKS[-1]]
            return [o for i in best if (o := catalogue.operation(i)) is not None]

        spent = time.perf_counter() - started
        rows += [("minilm", meaning, spent), ("both", both, built + spent)]
    print(
        "search",
        *(f"operation@{r}" for r in RANKS),
        *(f"type@{r}" for r in RANKS),
        "index s",
        "ms",
        sep="\t",
    )
    for name, search, seconds in rows:
        started = time.perf_counter()
        shares = measured(found, search)
        each = (time.perf_counter() - started) * 1000 / max(1, len(found))
        print(
            name, *(f"{s:.3f}" for s in shares.values()), f"{seconds:.1f}", f"{each:.1f}", sep="\t"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
