"""Merges of random person-edits and model changes: how many succeed, and whether anything is lost.

`python benchmarks/merge.py [--each N] [--engine N] [--pmo FOLDER]` merges N seeds a model of the
examples and PMo. It prints cases, merged ones, refused ones by reason, and lost facts, wrong
refusals, conflicts not seen and results that `verify` calls different, which all have to be 0. Of
every Nth merged case (`--engine`, 0 for none) each run of the new model is played on n8n's engine
with the merged workflow and compared with the token game.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from merge_cases import Case, Json, arguable_conflicts, case, lost_facts, true_conflicts  # noqa: E402
from mutant_runs import Subject, read_models, truths  # noqa: E402
from mutants import Mutant, Mutator  # noqa: E402
from orgflow.backends.n8n.engine.local import LocalEngine  # noqa: E402
from orgflow.backends.n8n.merge.three_way_merge import merge_workflows  # noqa: E402
from orgflow.backends.n8n.verify.reference import compile_references  # noqa: E402
from orgflow.backends.n8n.verify.verify import verify_process  # noqa: E402

from orgflow_ir.model import Model  # noqa: E402
from orgflow_ir.pipeline import PassContext  # noqa: E402
from orgflow_ir.plugins import Registry  # noqa: E402
from orgflow_ir.targets.artifact import Emitted  # noqa: E402

PMO = ROOT.parent / "shared" / "data" / "pmo"
NEVER = ("lost facts", "wrong refusal", "conflict not seen", "different", "wrong on the engine")
_MERGED = Mutator("merged", lambda _: None)


def is_different(
    model: Model, emitted: Emitted, process: str, workflow: Json, registry: Registry
) -> bool:
    """Whether `verify` finds a difference."""
    ctx = PassContext(registry=registry)
    against = compile_references(model, ctx, emitted)[process]
    found = verify_process(model, against.process, workflow, ctx, against=against, most=20_000)
    return found.verdict.value == "different"


def outcome(made: Case, registry: Registry) -> tuple[str, Json | None]:
    """What became of a case, and the merged workflow if it is one."""
    merged = merge_workflows(made.base, made.theirs, made.ours)
    if merged.conflicts:
        if true_conflicts(made):
            return "refused: true conflict", None
        own = arguable_conflicts(made)
        return ("refused: flow changed on both sides" if own else "wrong refusal"), None
    if true_conflicts(made):
        return "conflict not seen", None
    if lost_facts(made, merged.workflow):
        return "lost facts", None
    if not is_different(made.model, made.emitted, made.process, merged.workflow, registry):
        return "merged", merged.workflow
    if is_different(made.old, made.old_emitted, made.process, made.theirs, registry):
        return "refused: the edit broke the process", None
    if is_different(made.model, made.emitted, made.process, made.ours, registry):
        return "refused: the compile itself differs", None
    return "different", None


def played(made: Case, workflow: Json, engine: LocalEngine, registry: Registry) -> str:
    """What n8n's engine says of the merged workflow, with nodes that act outside switched to hand
    on their item; "" where its runs are those of the new model."""
    process = next(p for p in made.model.processes if p.id == made.process)
    ctx = PassContext(registry=registry)
    subject = Subject(made.name, made.model, made.emitted, process, ctx)
    subject.prepare(engine, most=8, walks=0, seed=0)
    stands = {n["id"]: n["name"] for n in made.ours["nodes"]}
    elements = {_tag(n): n["name"] for n in made.ours["nodes"] if "notes" in n and _tag(n)}
    named = {}
    rows = []
    for row in workflow["nodes"]:
        own = stands.get(row["id"]) or elements.get(_tag(row)) or row["name"]
        named[row["name"]] = own
        outside = row["type"].endswith(".httpRequest")
        kept = {k: v for k, v in row.items() if k not in ("credentials", "retryOnFail")}
        noop = {"type": "n8n-nodes-base.noOp", "typeVersion": 1, "parameters": {}}
        rows.append({**kept, **noop} if outside else kept)
    plain = {k: v for k, v in workflow.items() if k != "pinData"}
    mutant = Mutant(_MERGED, "", "merged", {**plain, "nodes": rows}, named)
    (truth,) = truths(engine, [(subject, mutant, subject.scripts)])
    return truth.why if truth.differs else ""


def _tag(row: Json) -> str:
    last = str(row.get("notes", "")).splitlines()[-1:] or [""]
    return last[0] if last[0].startswith("orgflow: ") else ""


def main() -> int:
    """Print the figures; 1 where one that has to be 0 is not."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--each", type=int, default=6, help="seeds a model")
    parser.add_argument("--engine", type=int, default=10, help="play every Nth merged case")
    parser.add_argument("--pmo", type=Path, default=PMO)
    options = parser.parse_args()
    registry, found, on_engine = Registry(), Counter[str](), 0
    engine = LocalEngine()
    for name, model in read_models(ROOT, options.pmo, registry):
        for seed in range(options.each):
            made = case(name, model, registry, seed)
            if made is None:
                continue
            found["cases"] += 1
            what, workflow = outcome(made, registry)
            found[what] += 1
            if what in NEVER:
                print(f"{what}: {made.name}")
            langchain = workflow is not None and "langchain" in str(workflow["nodes"])
            if workflow is None or langchain or not options.engine:
                continue
            if found["merged"] % options.engine == 0:
                on_engine += 1
                why = played(made, workflow, engine, registry)
                if why:
                    found["wrong on the engine"] += 1
                    print(f"wrong on the engine: {made.name}: {why}")
    engine.close()
    for what in ("cases", "merged", *sorted(k for k in found if k.startswith("refused")), *NEVER):
        print(f"{found[what]:6} {what}")
    print(f"{on_engine:6} played on the engine")
    return 1 if any(found[what] for what in NEVER) else 0


if __name__ == "__main__":
    sys.exit(main())
