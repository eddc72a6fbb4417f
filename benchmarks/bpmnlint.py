"""bpmnlint's findings beside ours: `python benchmarks/bpmnlint.py [FOLDER] [--list RULE …]`.

Every BPMN file that people drew (`../shared/data` unless a folder is given) is judged by bpmnlint's
26 recommended rules and by our preset `bpmnlint`. For each rule the table counts the files in which
both, only bpmnlint, and only ours report it; `--list` names the files and elements of a rule that
are not the same. Files that one of the two cannot read are counted apart.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from node_tools import BPMNLINT_PACKAGES, NodeChild, install  # noqa: E402
from orgflow import compiler  # noqa: E402
from orgflow.compilation.reading import load_model  # noqa: E402
from orgflow.passes.presets import BPMNLINT, preset_grading  # noqa: E402
from pass_times import SHARED, real_files  # noqa: E402

from orgflow_ir.model.source import SourceFile  # noqa: E402
from orgflow_ir.pipeline import PassContext  # noqa: E402
from orgflow_ir.plugins import Registry  # noqa: E402

SCRIPT = ROOT / "tests" / "backends" / "bpmn" / "bpmn_referee.cjs"

Findings = Mapping[str, frozenset[str]]
"""Elements by bpmnlint's name of a rule."""


def by_bpmnlint(child: NodeChild, path: Path) -> Findings | None:
    """What bpmnlint reports; `None` where it cannot read the file."""
    answer = child.ask({"source": path.read_text("utf-8-sig", errors="replace")})
    if answer["error"] is not None:
        return None
    found: dict[str, set[str]] = defaultdict(set)
    for finding in answer["findings"]:
        rule, _, element = finding.partition(" ")
        found[rule].add(element)
    return {rule: frozenset(elements) for rule, elements in found.items()}


def by_orgflow(path: Path, registry: Registry) -> Findings | None:
    """What our preset reports; `None` where the file cannot be read."""
    ctx = PassContext(registry=registry, grading=preset_grading("bpmnlint", registry.named_rules))
    source = SourceFile(str(path), path.read_bytes())
    model = load_model(source, registry, ctx, from_="bpmn", diagram=True)
    if model is None:
        return None
    compiler.check_model(model, ctx)
    names = {code: name for name, rule in BPMNLINT.items() for code in rule.codes}
    found: dict[str, set[str]] = defaultdict(set)
    for one in ctx.diagnostics:
        if one.code in names:
            found[names[one.code]].add(one.element or "")
    return {rule: frozenset(elements) for rule, elements in found.items()}


def table(judged: Iterable[tuple[Path, Findings, Findings]], listed: Iterable[str]) -> str:
    """For each rule the files and elements that both report, and that only one does."""
    pairs = list(judged)
    head = f"{'rule':38}{'files':>7}{'same':>7}{'theirs':>8}{'ours':>7}{'  elements: same':>18}"
    lines = [f"{head}{'theirs':>8}{'ours':>7}"]
    for rule in BPMNLINT:
        both = [(path, t.get(rule, frozenset()), o.get(rule, frozenset())) for path, t, o in pairs]
        some = [(p, t, o) for p, t, o in both if t or o]
        files = (
            sum(1 for _, t, o in some if t and o),
            sum(1 for _, t, o in some if t and not o),
            sum(1 for _, t, o in some if o and not t),
        )
        elements = [
            sum(len(x) for x in s)
            for s in zip(*((t & o, t - o, o - t) for _, t, o in some), strict=True)
        ] or [0, 0, 0]
        lines.append(
            f"{rule:38}{len(some):>7,}{files[0]:>7,}{files[1]:>8,}{files[2]:>7,}"
            f"{elements[0]:>18,}{elements[1]:>8,}{elements[2]:>7,}"
        )
        if rule in listed:
            for path, t, o in some:
                lines += [f"    theirs {path} {e}" for e in sorted(t - o)]
                lines += [f"    ours   {path} {e}" for e in sorted(o - t)]
    return "\n".join(lines)


def main() -> None:
    """Judge, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=SHARED)
    parser.add_argument("--list", nargs="+", default=(), metavar="RULE", help="name what differs")
    args = parser.parse_args()
    registry, judged, unread = Registry(outside=False), [], [0, 0]
    with NodeChild(SCRIPT, str(install("bpmnlint", BPMNLINT_PACKAGES))) as child:
        for path in real_files(args.folder):
            theirs, ours = by_bpmnlint(child, path), by_orgflow(path, registry)
            unread[0] += theirs is None
            unread[1] += ours is None
            if theirs is not None and ours is not None:
                judged.append((path, theirs, ours))
    print(table(judged, args.list))
    print(f"{len(judged)} files; bpmnlint cannot read {unread[0]}, orgflow {unread[1]}")


if __name__ == "__main__":
    main()
