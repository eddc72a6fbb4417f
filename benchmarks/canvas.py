"""How compiled workflows look in n8n.

`python benchmarks/canvas.py [DATA] [--each FOLDER] [--shared-stops]`

Compiles the examples and every BPMN model below DATA (`../shared/data`) for n8n and prints, by
folder, the figures of `tests/support/canvas_metrics.py`; with `--each`, those of every workflow of
one folder. With `--shared-stops`, it compares one stop node for each decision with one for all of
a workflow, in the best of their places, and with one for two that stand next to each other. What
is not supported for n8n is left out.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
from collections.abc import Iterable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from canvas_metrics import NOTHING, Metrics, measure
from orgflow.backends.n8n.emit.layout import COLUMN, ROW
from orgflow.backends.n8n.format.identity import tag_of
from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model

from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

ROOT = Path(__file__).resolve().parent.parent
REGISTRY = Registry(outside=False)
FOLDERS = ("pmo/bpmn", "miwg-reference", "camunda7-executable", "outside-look")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path, nargs="?", default=ROOT.parent / "shared" / "data")
    parser.add_argument("--each", metavar="FOLDER", help="figures of each workflow of a folder")
    parser.add_argument(
        "--shared-stops", action="store_true", help="stop nodes that decisions share"
    )
    options = parser.parse_args()
    folders = {"examples": sorted((ROOT / "examples").glob("*/model.*"))}
    folders |= {name: sorted((options.data / name).rglob("*.bpmn")) for name in FOLDERS}
    if options.shared_stops:
        print(HEAD)
        for name, paths in folders.items():
            print(compare_stops(paths).row(name))
        return
    _line("", Metrics._fields)
    for name, paths in folders.items():
        total = NOTHING
        for path in paths:
            for workflow in compiled(path):
                found = measure(workflow)
                total = total.plus(found)
                if options.each == name:
                    _line(path.parent.name if path.stem == "model" else path.stem, found)
        _line(name, total)


def compiled(path: Path, **options: str) -> Iterator[dict[str, Any]]:
    """The workflows of a model; none where it is not supported."""
    ctx = PassContext(registry=REGISTRY)
    model = load_model(str(path), REGISTRY, ctx, diagram=True)
    if model is None:
        return
    emitted = compile_model(model, REGISTRY.backends["n8n"], ctx, options=options)
    for artifact in emitted.artifacts if emitted is not None else ():
        yield json.loads(artifact.text)


# -- stop nodes that decisions share ---------------------------------------------------------------


def stops_of(workflow: dict[str, Any]) -> list[str]:
    """The names of the nodes that stop a run for which no branch of a decision matches."""
    tags = {node["name"]: tag_of(node.get("notes")) for node in workflow["nodes"]}
    return [name for name, tag in tags.items() if tag is not None and tag[1] == "stop"]


def sharing(workflow: dict[str, Any], kept: str, *others: str) -> dict[str, Any]:
    """The workflow with one stop node in place of several: the connections to the others lead to
    the one that is kept, where it stands."""
    made = copy.deepcopy(workflow)
    made["nodes"] = [node for node in made["nodes"] if node["name"] not in others]
    for kinds in made["connections"].values():
        for end in (end for ends in kinds["main"] for end in ends):
            if end["node"] in others:
                end["node"] = kept
    return made


def reads_as_well(shared: Metrics, each: Metrics) -> bool:
    """Whether nothing that should be small has grown, but for the length of connections."""
    return all(getattr(shared, field) <= getattr(each, field) for field in _HARMFUL)


_HARMFUL = ("overlaps", "labels", "through", "crossings", "across", "strays")


def _faults(found: Metrics) -> tuple[float, ...]:
    return sum(getattr(found, field) for field in _HARMFUL), found.length


class StopNodes(NamedTuple):
    """What sharing stop nodes does to the workflows that have several of them.

    `each` and `shared` are the figures with one for each decision and with one for all; `as_well`
    are the workflows that read as well with one for all, `saved` the nodes that these save. `near`
    are pairs of stop nodes that stand next to each other, and `near_as_well` those of which one,
    the right one, is enough.
    """

    stops: int = 0
    each: Metrics = NOTHING
    shared: Metrics = NOTHING
    as_well: int = 0
    saved: int = 0
    near: int = 0
    near_as_well: int = 0

    def row(self, name: str) -> str:
        """A row of the table in `docs/n8n.md`."""
        figures = (
            self.each.workflows, self.stops,
            *(f"{getattr(self.each, f)} → {getattr(self.shared, f)}" for f in _SHOWN),
            f"{self.each.length:.0f} → {self.shared.length:.0f}", self.as_well, self.saved,
            f"{self.near_as_well} of {self.near}",
        )  # fmt: skip
        return f"| {name} | {' | '.join(map(str, figures))} |"


_SHOWN = ("through", "crossings", "across")

HEAD = (
    "| models | workflows with several | stop nodes | connections through nodes | crossings "
    "| connections across the canvas | length | as readable with one | nodes saved "
    "| neighbours as readable as one |\n|" + " --- |" * 10
)


def compare_stops(paths: Iterable[Path]) -> StopNodes:
    """One stop node for each decision, compared with one for all and one for neighbours."""
    found = StopNodes()
    for workflow in (flow for path in paths for flow in compiled(path, waits="execution")):
        stops = stops_of(workflow)
        found = found._replace(stops=found.stops + len(stops))
        if len(stops) < 2:
            continue
        each = measure(workflow)
        options = [
            measure(sharing(workflow, kept, *(one for one in stops if one != kept)))
            for kept in stops
        ]
        best = min(options, key=_faults)
        good = reads_as_well(best, each)
        pairs = [*_neighbours(workflow, stops)]
        near_good = sum(
            reads_as_well(measure(sharing(workflow, right, left)), each) for left, right in pairs
        )
        found = StopNodes(
            found.stops,
            found.each.plus(each),
            found.shared.plus(best),
            found.as_well + good,
            found.saved + (len(stops) - 1) * good,
            found.near + len(pairs),
            found.near_as_well + near_good,
        )
    return found


def _neighbours(workflow: dict[str, Any], stops: list[str]) -> Iterator[tuple[str, str]]:
    places = {node["name"]: node["position"] for node in workflow["nodes"]}
    for pair in combinations(stops, 2):
        left, right = sorted(pair, key=lambda name: (places[name], name))
        (x, y), (other_x, other_y) = places[left], places[right]
        if other_x - x <= COLUMN and abs(other_y - y) <= ROW:
            yield left, right


def _line(name: str, figures: tuple[object, ...]) -> None:
    shown = [round(f, 1) if isinstance(f, float) else f for f in figures]
    print(f"{name[:28]:28}" + "".join(f"{str(figure)[:9]:>10}" for figure in shown))


if __name__ == "__main__":
    main()
