"""`make bench-verify`: mutated workflows on n8n's real engine and before `verify`.

`python benchmarks/verify_mutants.py [--each N] [--seed N] [--only WORD] [--models WORD]` prints
for every mutator how many mutants the engine shows to differ from the model and how many of them
`verify` catches, everything missed and every false alarm with what it takes to see it again, and
how `verify` does on the workflows as they were compiled. Ends with exit code 1 where a figure is
not reached. Needs `orgflowc engine install` and the PMo models (`--pmo`).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from mutant_flow import canonical
from mutant_runs import Subject, Truth, read_models, subjects, truths
from mutants import MUTATORS, Mutant, mutants
from orgflow.backends.n8n.engine.local import EngineError, LocalEngine

from orgflow_ir.diagnostics import Step
from orgflow_ir.model import Model, Task
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.targets import executable_processes

ROOT = Path(__file__).resolve().parent.parent
PMO = ROOT.parent / "shared" / "data" / "pmo"

ENOUGH, CAUGHT, PROVED, MOST_MS = 600, 0.99, 0.95, 100.0
"""Figures to reach: mutants, share caught of those that differ, share of one-process models that
are proved as compiled, milliseconds for each of them."""


MOST_STATES = 20_000
"""Bound of each verification, so that one without end does not hold up the others."""

NONE = Truth()


class Opinion(NamedTuple):
    """What `verify` says of a workflow, and its milliseconds. `refused`: nothing was looked at."""

    verdict: str
    message: str = ""
    steps: tuple[Step, ...] = ()
    ms: float = 0.0


@dataclass(frozen=True)
class Finding:
    """A mutant, what the engine says of it, and what `verify` does. `shown` is what the engine says
    of the run that `verify` holds against a mutant in which no other run showed a difference."""

    subject: Subject
    mutant: Mutant
    truth: Truth
    opinion: Opinion
    shown: Truth = NONE

    @property
    def differs(self) -> bool:
        """Whether the engine shows a difference from the model."""
        return self.truth.differs or self.shown.differs

    @property
    def result(self) -> str:
        """`caught`, `missed`, `equal`, `false alarm`, or one of two kinds of doubt where the engine
        shows no difference: `not proved` of a harmless mutant, `unsure` of another one.

        `changed` (exit 1) is caught; it is a doubt unless a condition was changed or, like
        `refused` (nothing was looked at), the whole workflow is in an order that is not modelled.
        `conditional` is an answer about a node of a person.
        """
        mutator, verdict = self.mutant.mutator, self.opinion.verdict
        fitting = {"changed": mutator.conditions or mutator.unmodelled}
        fitting["refused"] = mutator.unmodelled
        if self.differs:
            caught = verdict in ("different", "changed") or fitting.get(verdict, False)
            caught |= verdict == "conditional" and mutator.fills
            return "caught" if caught else "missed"
        if verdict == "different" or (verdict == "refused" and not mutator.unmodelled):
            return "false alarm"
        proved = verdict == "proved" or (verdict == "conditional" and mutator.fills)
        if mutator.harmless:
            return "equal" if proved else "not proved"
        return "unsure" if verdict == "changed" and not fitting["changed"] else "equal"

    def __str__(self) -> str:
        """All that is needed to see it again."""
        lines = [
            f"{self.subject.name} {self.subject.process.id}: {self.mutant.what}",
            f"  seed: {self.mutant.seed}",
            f"  verify: {self.opinion.verdict} {self.opinion.message}".rstrip(),
        ]
        for truth in (self.truth, self.shown):
            if truth.differs:
                lines += [f"  engine ({truth.kind}): {truth.why}", f"  choices: {truth.choices}"]
        if self.opinion.steps and not self.differs:
            steps = " ".join(f"{s.action}:{s.element}{list(s.taken)}" for s in self.opinion.steps)
            lines.append(f"  steps: {steps}")
        return "\n".join(lines)


def opinion(subject: Subject, workflow: dict[str, Any], what: str = "as compiled") -> Opinion:
    """Ask `verify`; `what` tells the workflow apart where it fails."""
    from orgflow.backends.n8n.verify.verify import verify_process

    ctx = PassContext(
        registry=subject.ctx.registry, target=subject.ctx.target, options=subject.ctx.options
    )
    begun = time.process_time()  # other work on the machine does not count
    try:
        found = verify_process(subject.model, subject.process, workflow, ctx, most=MOST_STATES)
    except Exception as error:
        error.add_note(f"verify was asked about {subject.key}: {what}")
        raise
    ms = (time.process_time() - begun) * 1000
    looked = found.states or found.difference is not None
    verdict = found.verdict.name.lower() if looked else "refused"
    message = found.bound or ""
    steps: tuple[Step, ...] = ()
    if found.difference is not None:
        message, steps = found.difference.message, found.difference.steps
    elif found.changed:
        message = "; ".join(f"{c.node}: {c.was} → {c.now}" for c in found.changed)
    return Opinion(verdict, message, steps, ms)


@dataclass(frozen=True)
class Effort:
    """How much is played: enumerated runs, random walks, and for harmless mutators all of them."""

    runs: int = 32
    walks: int = 4
    seed: int = 1
    every: bool = False


def ground_truth(
    engine: LocalEngine, subject: Subject, made: Sequence[Mutant], effort: Effort, cache: Cache
) -> list[Truth]:
    """What the engine says of mutants of one subject; harmless ones play covering scripts only."""
    known = [cache.get(subject, mutant) for mutant in made]
    todo = [m for m, k in zip(made, known, strict=True) if k is None]
    if todo:
        subject.prepare(engine, most=effort.runs, walks=effort.walks, seed=effort.seed)
        few = subject.scripts[: subject.covering]
        jobs = [
            (subject, m, few if m.mutator.harmless and not effort.every else subject.scripts)
            for m in todo
        ]
        for mutant, truth in zip(todo, truths(engine, jobs), strict=True):
            cache.put(subject, mutant, truth)
    return [cache.get(subject, mutant) or Truth() for mutant in made]


def findings(
    engine: LocalEngine, subject: Subject, made: Sequence[Mutant], known: Sequence[Truth]
) -> list[Finding]:
    """Ask `verify` about mutants of one subject; what it alone holds against one is played too."""
    found = []
    for mutant, truth in zip(made, known, strict=True):
        said = opinion(subject, mutant.workflow, mutant.seed)
        shown = Truth()
        if said.verdict == "different" and not truth.differs:
            scripts = tuple(subject.scripts_for(subject.complete(said.steps), again=True))
            (shown,) = truths(engine, [(subject, mutant, scripts)])
        found.append(Finding(subject, mutant, truth, said, shown))
    return found


class Cache:
    """Truths by mutant, kept in a file of JSON lines if one is named."""

    def __init__(self, path: Path | None) -> None:
        self._found: dict[str, Truth] = {}
        self._path = path
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                choices = tuple((e, tuple(taken)) for e, taken in row["choices"])
                self._found[row["key"]] = Truth(row["kind"], row["why"], choices)

    @staticmethod
    def _key(subject: Subject, mutant: Mutant) -> str:
        text = canonical([subject.name, subject.process.id, subject.workflow, mutant.workflow])
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def get(self, subject: Subject, mutant: Mutant) -> Truth | None:
        """What is known of a mutant."""
        return self._found.get(self._key(subject, mutant))

    def put(self, subject: Subject, mutant: Mutant, truth: Truth) -> None:
        """Keep it."""
        key = self._key(subject, mutant)
        self._found[key] = truth
        if self._path is None:
            return
        row = {
            "key": key, "subject": subject.name, "process": subject.process.id,
            "mutator": mutant.mutator.name, "harmless": mutant.mutator.harmless,
            "conditions": mutant.mutator.conditions, "seed": mutant.seed, "what": mutant.what,
            "differs": truth.differs, "kind": truth.kind, "why": truth.why,
            "choices": truth.choices, "stands": dict(mutant.stands), "workflow": mutant.workflow,
        }  # fmt: skip
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


# -- reports ---------------------------------------------------------------------------------------

RESULTS = ("caught", "missed", "equal", "unsure", "not proved", "false alarm")


def table(found: Sequence[Finding]) -> str:
    """Results by mutator."""
    width = max(len(m.name) for m in MUTATORS)
    heads = ("mutants", "differ", *RESULTS, "bounded")
    lines = [f"{'':{width}} " + "".join(f"{h:>12}" for h in heads)]
    for mutator in MUTATORS:
        lines += _row(mutator.name, [f for f in found if f.mutant.mutator is mutator], width)
    return "\n".join([*lines, *_row("all", found, width)])


def _row(name: str, found: Sequence[Finding], width: int) -> list[str]:
    if not found:
        return []
    counts = [len(found), sum(f.differs for f in found)]
    counts += [sum(f.result == result for f in found) for result in RESULTS]
    counts.append(sum(f.opinion.verdict == "bounded" for f in found))
    return [f"{name:{width}} " + "".join(f"{n or '-':>12}" for n in counts)]


def details(found: Iterable[Finding]) -> str:
    """Everything that is not as it should be, and what the enumerated runs did not show."""
    lines = []
    for result in ("missed", "false alarm", "not proved", "unsure"):
        some = [f for f in found if f.result == result]
        if some:
            lines += ["", f"{result}:", *(str(f) for f in some)]
    gaps = [f for f in found if f.shown.differs]
    if gaps:
        lines += ["", "differences that only the run of `verify` shows:", *(str(f) for f in gaps)]
    return "\n".join(lines)


def reached(found: Sequence[Finding], enough: int = ENOUGH) -> list[str]:
    """The figures on mutants that are not reached."""
    differ = [f for f in found if f.differs]
    caught = sum(f.result == "caught" for f in differ)
    faults = []
    if len(found) < enough:
        faults.append(f"{len(found)} mutants, at least {enough} are wanted")
    if caught < CAUGHT * len(differ) or (enough and not differ):
        faults.append(f"{caught} of {len(differ)} that differ are caught, {CAUGHT:.0%} are wanted")
    for result in ("false alarm", "not proved"):
        count = sum(f.result == result for f in found)
        if count:
            faults.append(f"{count} × {result}, none is wanted")
    return faults


def as_compiled(some: Sequence[Subject], one: int) -> tuple[str, list[str]]:
    """`verify` on unmutated workflows: the table, and the figures that are not reached. `one` is
    how many PMo models have one process, whether n8n can say them or not."""
    rows = [(s, min((opinion(s, s.workflow) for _ in range(3)), key=lambda o: o.ms)) for s in some]
    lines, faults = [], []
    for verdict in sorted({o.verdict for _, o in rows}):
        times = [o.ms for _, o in rows if o.verdict == verdict]
        names = [s.name for s, o in rows if o.verdict == verdict and verdict != "proved"]
        lines.append(
            f"{verdict:12} {len(times):>4}   median {statistics.median(times):7.1f} ms"
            f"   max {max(times):7.1f} ms   {' '.join(names)}".rstrip()
        )
    pmo = [(s, o) for s, o in rows if s.name.startswith("pmo/")]
    proved = sum(o.verdict == "proved" for _, o in pmo)
    if one:
        lines.append(f"one-process PMo models proved: {proved} of {one}")
        if proved < PROVED * one:
            faults.append(f"{proved} of {one} one-process models proved, {PROVED:.0%} are wanted")
    faults += [f"{s.name}: {o.verdict} {o.message}" for s, o in rows if o.verdict == "different"]
    faults += [f"{s.name}: {o.ms:.0f} ms" for s, o in rows if o.ms > MOST_MS]
    return "\n".join(lines), faults


def save(found: Iterable[Finding], folder: Path) -> None:
    """Write the workflows of everything that is not as it should be, the report beside each."""
    folder.mkdir(parents=True, exist_ok=True)
    good = ("caught", "equal", "unsure")
    for number, finding in enumerate(f for f in found if f.result not in good):
        name = f"{number:03}-{finding.result.replace(' ', '-')}"
        text = json.dumps(finding.mutant.workflow, indent=2, ensure_ascii=False)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        (folder / f"{name}.txt").write_text(f"{finding}\n", encoding="utf-8")


def random_models(count: int) -> Iterator[tuple[str, Model]]:
    """Random sound models, as the tests of the backend use them."""
    if not count:
        return
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    from model_gen import random_model

    for seed in range(1, count + 1):
        yield f"random/{seed}", random_model(seed, 6 + seed % 25)


def one_process(models: Sequence[tuple[str, Model]]) -> int:
    """How many PMo models have one process that holds anything, whether n8n can say it or not."""
    return sum(n.startswith("pmo/") and len(executable_processes(m)) == 1 for n, m in models)


def done_by_people(model: Model) -> Model:
    """The model with every task that nothing else does as a task of a person."""
    processes = tuple(
        process.replace(
            nodes=tuple(
                node.replace(task_type="user")
                if isinstance(node, Task)
                and node.binding is None
                and node.task_type in ("abstract", "manual")
                else node
                for node in process.nodes
            )
        )
        for process in model.processes
    )
    return model.replace(processes=processes)


def with_forms(
    models: Iterable[tuple[str, Model]], registry: Registry, each: int, seed: int
) -> tuple[str, list[str]]:
    """What `verify` says of workflows whose tasks are forms, as compiled and after edits that
    change nothing: the figures, and what is not proved. The engine is not asked: nobody answers.
    Nodes of a person are left out, since some drop the answers that later steps read."""
    harmless = [mutator for mutator in MUTATORS if mutator.harmless and not mutator.fills]
    processes = edits = 0
    faults = []
    asked = ((name, done_by_people(model)) for name, model in models)
    for subject in subjects(asked, registry, people="form"):
        processes += 1
        said = opinion(subject, subject.workflow)
        if said.verdict != "proved":
            faults.append(f"with forms, {subject.key} as compiled: {said.verdict} {said.message}")
        made = mutants(subject.workflow, subject.key, each=each, seed=seed, only=harmless)
        for mutant in made:
            edits += 1
            said = opinion(subject, mutant.workflow, mutant.seed)
            if said.verdict != "proved":
                faults.append(f"with forms, {subject.key}, {mutant.what}: {said.verdict}")
    return f"{processes} processes, {edits} harmless edits, {len(faults)} not proved", faults


def main() -> int:
    """Make the mutants, play and verify them, print the tables, say whether the figures hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=1, help="mutants a mutator and process")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=Effort.runs, help="most enumerated runs")
    parser.add_argument("--walks", type=int, default=Effort.walks, help="random runs beside them")
    parser.add_argument("--all-runs", action="store_true", help="for harmless mutators too")
    parser.add_argument("--only", default="", help="mutators whose name has this in it")
    parser.add_argument("--models", default="", help="models whose name has this in it")
    parser.add_argument("--random", type=int, default=0, help="random models beside them")
    parser.add_argument("--pmo", type=Path, default=PMO, help="folder of the PMo models")
    parser.add_argument("--truths", type=Path, help="file that keeps what the engine says")
    parser.add_argument("--save", type=Path, help="folder for workflows that are judged wrong")
    parser.add_argument("--engine-only", action="store_true", help="do not ask verify")
    options = parser.parse_args()
    if not (options.pmo / "bpmn").is_dir():
        print(f"no PMo models in {options.pmo}: name their folder with --pmo", file=sys.stderr)
        return 2
    effort = Effort(options.runs, options.walks, options.seed, options.all_runs)
    cache = Cache(options.truths)
    only = [m for m in MUTATORS if options.only in m.name]
    registry = Registry(outside=False)
    models = [*read_models(ROOT, options.pmo, registry), *random_models(options.random)]
    models = [m for m in models if options.models in m[0]]
    some = list(subjects(models, registry))
    if not some or not only:
        print("no model, or no mutator, has that in its name", file=sys.stderr)
        return 2
    found: list[Finding] = []
    played = asked = 0.0
    try:
        with LocalEngine() as engine:
            for subject in some:
                begun = time.perf_counter()
                made = list(
                    mutants(
                        subject.workflow, subject.key, each=options.each, seed=options.seed,
                        only=only,
                    )
                )  # fmt: skip
                known = ground_truth(engine, subject, made, effort, cache)
                middle = time.perf_counter()
                played += middle - begun
                if not options.engine_only:
                    found += findings(engine, subject, made, known)
                    asked += time.perf_counter() - middle
                print(f"{subject.key}: {len(made)} mutants", file=sys.stderr, flush=True)
    except EngineError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    if options.engine_only:
        return 0
    if options.save:
        save(found, options.save)
    compiled, faults = as_compiled(some, one_process(models))
    print(table(found) + details(found))
    print(f"\nas compiled:\n{compiled}")
    print(f"engine {played:.0f} s, verify {asked:.0f} s")
    forms, not_proved = with_forms(models, registry, options.each, options.seed)
    print(f"with forms: {forms}")
    faults += not_proved
    faults += reached(found, ENOUGH if not (options.only or options.models) else 0)
    print("\n".join(["", "not reached:", *faults] if faults else ["", "all figures are reached"]))
    return int(bool(faults))


if __name__ == "__main__":
    raise SystemExit(main())
