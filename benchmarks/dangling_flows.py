"""Are dangling flows attached as they are drawn? `python benchmarks/dangling_flows.py FOLDER…`

First the flows of the files that begin or end nowhere: how many `check --fix` attaches (`offered`:
with `--unsafe-fixes`), and how many of these are still reported as malformed afterwards. Then the
same with an oracle: ends of flows are erased, up to `--most` a file, and what the fix attaches them
to is compared with what was there. The drawn end stays, moved by up to `--shift` units, as by hand.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from orgflow.compilation.reading import load_model
from orgflow.compiler import check_model

from orgflow_ir.diagnostics import Diagnostic, FixError
from orgflow_ir.model import Flow, Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

_REGISTRY = Registry(outside=False)
_FRONTEND = _REGISTRY.frontends["bpmn"]
_MALFORMED = ("OF101", "OF102", "OF103", "OF104", "OF105", "OF109")
"""Rules about where flows lead."""


def checked(source: SourceFile) -> tuple[Model | None, list[Diagnostic]]:
    """A model as it is read without its drawing, and what is found in it."""
    ctx = PassContext(registry=_REGISTRY)
    model = load_model(source, _REGISTRY, ctx, from_="bpmn")
    if model is not None:
        check_model(model, ctx)
    return model, ctx.diagnostics


def about(found: list[Diagnostic], flow: str) -> Diagnostic | None:
    """The finding about where a flow leads."""
    return next((d for d in found if d.code in _MALFORMED and d.element == flow), None)


def repaired(source: SourceFile, flow: str) -> tuple[str, Flow | None]:
    """What became of a dangling flow (`attached`, `offered`, `not attached` …), and the flow."""
    model, found = checked(source)
    finding = about(found, flow)
    if model is None or finding is None or finding.fix is None:
        return "not reported", None
    if finding.fix.edits[0].action == "remove":
        return "not attached", None
    try:
        fixed = SourceFile(source.path, _FRONTEND.patched(source, model, finding.fix))
    except FixError:
        return "not written", None
    after, left = checked(fixed)
    if after is None or about(left, flow) is not None:
        return "still malformed", None
    now = next((f for s in after.scopes() for f in s.flows if f.id == flow), None)
    return "attached" if finding.fix.applicability == "safe" else "offered", now


def erased(
    source: SourceFile, model: Model, most: int, shift: float, dice: random.Random
) -> Iterator[tuple[SourceFile, Flow]]:
    """The file with one end of one flow gone, for some of its drawn flows."""
    text = source.data.decode("utf-8", "replace")
    nodes = {n.id for s in model.scopes() for n in s.nodes}
    drawn = {e.element for e in model.diagram.edges} if model.diagram is not None else set()
    flows = [f for s in model.scopes() for f in s.flows
             if f.id in drawn and f.source in nodes and f.target in nodes]  # fmt: skip
    for flow in dice.sample(flows, min(most, len(flows))):
        end = dice.choice(("source", "target"))
        tag = re.search(rf"<[^<>]*\bid=\"{re.escape(flow.id)}\"[^<>]*>", text)
        if tag is None or f"{end}Ref=" not in tag[0]:
            continue
        gone = re.sub(rf'{end}Ref="[^"]*"', f'{end}Ref=""', tag[0])
        changed = text[: tag.start()] + gone + text[tag.end() :]
        changed = moved(changed, flow.id, end, shift, dice)
        for word in ("incoming" if end == "target" else "outgoing",):
            changed = re.sub(rf"<(\w+:)?{word}>{re.escape(flow.id)}</(\w+:)?{word}>", "", changed)
        yield SourceFile(source.path, changed.encode()), flow


def moved(text: str, flow: str, end: str, shift: float, dice: random.Random) -> str:
    """The text with the first or last point of a flow's edge a little off."""
    edge = re.search(rf'<[^<>]*bpmnElement="{re.escape(flow)}".*?BPMNEdge>', text, re.DOTALL)
    points = (
        [*re.finditer(r"waypoint\b[^>]*?x=\"([^\"]+)\"[^>]*?y=\"([^\"]+)\"", edge[0])]
        if edge
        else []
    )
    if edge is None or not points:
        return text
    point = points[0 if end == "source" else -1]
    x, y = (float(point[i]) + dice.uniform(-shift, shift) for i in (1, 2))
    new = (
        point[0]
        .replace(f'x="{point[1]}"', f'x="{x:.1f}"')
        .replace(f'y="{point[2]}"', f'y="{y:.1f}"')
    )
    begin = edge.start() + point.start()
    return text[:begin] + new + text[begin + len(point[0]) :]


def main() -> None:
    """Print how many flows are attached, and how many of them rightly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--most", type=int, default=4)
    parser.add_argument("--shift", type=float, default=8)
    arguments = parser.parse_args()
    dice = random.Random(12)
    real, made = Counter[str](), Counter[str]()
    for path in sorted(p for folder in arguments.folders for p in folder.rglob("*.bpmn*")):
        source = SourceFile(str(path), path.read_bytes())
        _, found = checked(source)
        for finding in found:
            if finding.code == "OF101" and finding.element is not None:
                real[repaired(source, finding.element)[0]] += 1
        ctx = PassContext(registry=_REGISTRY)
        model = load_model(source, _REGISTRY, ctx, from_="bpmn", diagram=True)
        if model is None:
            continue
        for broken, flow in erased(source, model, arguments.most, arguments.shift, dice):
            what, now = repaired(broken, flow.id)
            if now is not None:
                right = (now.source, now.target) == (flow.source, flow.target)
                what += " as it was" if right else " to something else"
            made[what] += 1
    for title, counted in (("flows that dangle in the files", real), ("ends erased", made)):
        print(f"{sum(counted.values())} {title}")
        for what, number in counted.most_common():
            print(f"{number:6} {what}")


if __name__ == "__main__":
    main()
