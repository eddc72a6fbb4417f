"""The linter on BPMN files: the rules of the specification, bpmnlint's verdicts, and times.

python benchmarks/lint_bpmn.py                        the rules of the specification, and times
python benchmarks/lint_bpmn.py --lint FOLDER          also: each of these files is reported, by what
python benchmarks/lint_bpmn.py --bpmnlint FOLDER      also: verdicts of bpmnlint on all shared files

`--lint` takes a folder of files named after what they break (`fake-join.bpmn`, `x.timer-end.bpmn`).
`--bpmnlint` takes a folder in which `npm install bpmnlint` was run; it is the MIT-licensed
reference, asked as a program of its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from orgflow import compiler
from orgflow.compilation.model_checks import needs_diagram
from orgflow.compilation.reading import load_model
from orgflow.passes.presets import BPMNLINT, preset_grading
from pass_times import pass_times, real_files

from orgflow_ir.diagnostics import Category, Diagnostic, Severity
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

ROOT = Path(__file__).resolve().parent.parent
SPECIFICATION = ROOT / "tests" / "specification"
SHARED = ROOT.parent / "shared" / "data"

ORACLE = """
const fs = require("fs"), path = require("path"), folder = process.argv[1];
const load = (name) => require(require.resolve(name, { paths: [folder] }));
const { Linter } = load("bpmnlint");
const NodeResolver = load("bpmnlint/lib/resolver/node-resolver");
const moddle = load("bpmn-moddle");
const BpmnModdle = moddle.BpmnModdle || moddle.default || moddle;
const config = { extends: "bpmnlint:recommended" };
(async () => {
  const files = fs.readFileSync(0, "utf8").split("\\n").filter(Boolean);
  for (const file of files) {
    const out = { file, rules: {} };
    try {
      const { rootElement } = await new BpmnModdle().fromXML(fs.readFileSync(file, "utf8"));
      const linter = new Linter({ resolver: new NodeResolver() });  // rules keep state
      const found = await linter.lint(rootElement, config);
      for (const rule of Object.keys(found)) out.rules[rule] = found[rule].map((r) => r.id);
    } catch (error) { out.error = String(error.message || error).slice(0, 200); }
    console.log(JSON.stringify(out));
  }
})();
"""
"""Prints what bpmnlint's recommended rules find in each file whose path is on a line of stdin."""

LISTS = "the file does not list the flows of its nodes, by which alone bpmnlint goes"

REASONS = {
    "conditional-flows": "beside a default flow labels may decide",
    "event-based-gateway": "without any way out it is OF110, with conditions OF114",
    "event-sub-process-typed-start-event": "several or no start events are reported, too",
    "global": "an entry without a name at all is reported, too",
    "label-required": "a flow with an empty condition has none",
    "no-disconnected": "call activities are judged like tasks",
    "no-duplicate-sequence-flows": "flows with different labels are branches, not duplicates",
    "no-implicit-end": "flows that lead nowhere are OF101, what never runs OF111",
    "no-implicit-start": "starts that come from nowhere are OF101",
    "superfluous-label": "ends that lead nowhere are OF101",
    "superfluous-termination": "an end that no flow leads to counts",
}
"""Why a verdict may differ from bpmnlint's, by its rule, where the file lists its flows."""


def checked(
    path: Path, registry: Registry, preset: str = "recommended", *, gaps: bool = False
) -> list[Diagnostic]:
    """What `check --preset` reports."""
    grading = preset_grading(preset, registry.rules)
    ctx = PassContext(registry=registry, grading=grading)
    source = SourceFile(str(path), path.read_bytes())
    model = load_model(source, registry, ctx, from_="bpmn", diagram=needs_diagram(ctx))
    if model is not None:
        compiler.check_model(model, ctx)
    if model is not None and gaps:
        compiler.check_gaps(model, ctx)
    return grading.graded(ctx.diagnostics)


def specification(registry: Registry) -> None:
    """Rules of the specification found, found in part, silent; the latter two with the reason."""
    rules = tomllib.loads((SPECIFICATION / "rules.toml").read_text("utf-8"))["rule"]
    kinds: dict[str, list[str]] = {"found": [], "in part": [], "silent": [], "missed": []}
    default = 0
    for rule in rules:
        path = SPECIFICATION / f"{rule['number'].removeprefix('EXT.').lower()}.bpmn"
        codes = {d.code for d in checked(path, registry, "all")}
        wanted = set(rule["finds"])
        kind = "silent" if not wanted else "in part" if "note" in rule else "found"
        if not wanted <= codes:
            kind = "missed"
        default += bool(wanted & {d.code for d in checked(path, registry)})
        kinds[kind].append(f"{rule['number']} ({rule.get('note', rule['rule'])})")
    print(f"{len(rules)} rules of the specification, with --preset all:")
    for kind, names in kinds.items():
        shown = f": {'; '.join(names)}" if kind != "found" and names else ""
        print(f"  {len(names):4} {kind}{shown}")
    print(f"  {default:4} are reported without a preset, too\n")


def lint_files(folder: Path, registry: Registry) -> None:
    """For each file what reports it, without a preset and with `strict` and `all`."""
    told = 0
    print(f"{'file':42}{'recommended':24}{'strict adds':28}all adds")
    for path in sorted(folder.glob("*.bpmn")):
        before: set[str] = set()
        cells = []
        for preset in ("recommended", "strict", "all"):
            found = checked(path, registry, preset, gaps=True)
            codes = {
                d.code for d in found
                if d.severity is not Severity.INFO or d.category is not Category.GAP
            } - {"OF501", "OF502", "OF197", "OF192", "OF189"}  # fmt: skip
            cells.append(" ".join(sorted(codes - before)) or "-")
            before |= codes
        wanted = path.name.removesuffix(".bpmn").split(".")[0]
        if wanted in BPMNLINT:  # by one of the rules that stand for it
            found = checked(path, registry, "bpmnlint")
            told += bool({d.code for d in found} & set(BPMNLINT[wanted].codes))
        else:  # by a rule that is not about style
            found = checked(path, registry, "strict", gaps=True)
            told += any(
                d.severity is not Severity.INFO and d.category is not Category.STYLE for d in found
            )
        named = f"{path.stem}{'' if wanted in BPMNLINT or wanted == 'x' else ' (no rule)'}"
        print(f"{named:42}{cells[0]:24}{cells[1]:28}{cells[2]}")
    print(f"{told} of {len(list(folder.glob('*.bpmn')))} are reported by the rule they break\n")


def oracle(files: Sequence[Path], folder: Path) -> dict[str, dict[str, list[str]] | None]:
    """What bpmnlint finds: ids by rule and file; `None` for a file that it cannot read."""
    lines = "".join(f"{path.resolve()}\n" for path in files)
    ran = subprocess.run(
        ["node", "-e", ORACLE, str(folder.resolve())], input=lines, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    return {a["file"]: None if "error" in a else a["rules"] for a in answers}


def beside_bpmnlint(files: Sequence[Path], folder: Path, registry: Registry) -> None:
    """Verdicts of a rule on a file (anything found, or nothing) beside those of bpmnlint; the
    differences in classes."""
    theirs = oracle(files, folder)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    where: dict[tuple[str, str], list[str]] = defaultdict(list)
    classes: Counter[str] = Counter()
    read = unlisted = 0
    for path in files:
        rules = theirs[str(path.resolve())]
        if rules is None:
            continue
        read += 1
        codes = {d.code for d in checked(path, registry, "bpmnlint")}
        lists = "OF197" not in {d.code for d in checked(path, registry, "all")}
        unlisted += not lists
        for name, rule in BPMNLINT.items():
            one, two = name in rules, bool(codes & set(rule.codes))
            if one == two:
                counts[name]["both" if one else "neither"] += 1
                continue
            side = "bpmnlint" if one else "orgflow"
            counts[name][side if lists else f"{side}, no lists"] += 1
            classes[f"{name}: {REASONS.get(name, 'not explained')}" if lists else LISTS] += 1
            if lists:
                where[name, side].append(path.name)
    total = sum(sum(c.values()) for c in counts.values())
    same = sum(c["both"] + c["neither"] for c in counts.values())
    print(f"bpmnlint's recommended rules on {read} files: {same} of {total} verdicts are the same")
    print(f"{'':38}{'':6}   only bpmnlint          only orgflow")
    print(f"{'rule':38}{'both':>6}{'lists':>11}{'no lists':>10}{'lists':>12}{'no lists':>10}")
    for name in BPMNLINT:
        c = counts[name]
        cells = (c["bpmnlint"], c["bpmnlint, no lists"], c["orgflow"], c["orgflow, no lists"])
        print(f"{name:38}{c['both']:6}{cells[0]:11}{cells[1]:10}{cells[2]:12}{cells[3]:10}")
        for side in ("bpmnlint", "orgflow"):
            for file in where[name, side][:2]:
                print(f"{'':12}only {side}: {file}")
    print(f"differences ({unlisted} files do not list the flows of their nodes):")
    for why, count in classes.most_common():
        print(f"{count:6}  {why}")
    print()


def times(files: Iterable[Path], registry: Registry) -> None:
    """How long the passes take on a file, without a preset and with all rules."""
    paths = list(files)
    for preset in ("recommended", "all"):
        found = pass_times(paths, registry, preset_grading(preset, registry.rules), 3)
        print(
            f"passes on {len(paths)} files, preset {preset}: median {found.at(0.5):.2f} ms, 99th "
            f"percentile {found.at(0.99):.2f} ms, most {found.at(1):.1f} ms"
        )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--shared", type=Path, default=SHARED, help="folder of shared models")
    parser.add_argument("--lint", type=Path, help="folder of files named after what they break")
    parser.add_argument("--bpmnlint", type=Path, help="folder in which bpmnlint is installed")
    options = parser.parse_args()
    registry = Registry(outside=False)
    specification(registry)
    if options.lint is not None:
        lint_files(options.lint, registry)
    files = sorted(p for p in options.shared.rglob("*.bpmn*") if p.is_file())
    if options.bpmnlint is not None:
        beside_bpmnlint(files, options.bpmnlint, registry)
    if files:
        times(real_files(options.shared), registry)


if __name__ == "__main__":
    main()
