"""`make bench-row-proof`: processes that wait in several places, and mutants of their workflows,
before `verify` and played on the model of rows.

`python benchmarks/row_proof.py [--each N] [--seed N] [--subjects N] [--runs N] [--random N]` prints
what `verify` says of the workflows as compiled, how many runs of them the token game follows, and
for each mutator how many mutants differ in a run, how many of these `verify` proves (none may be),
and how many harmless ones it does not prove. A mutant differs if its JSON, played with every
expression evaluated by Node, does something else than the compiled workflow in any run: other
rows, other texts on pages, other variables, other steps. Exit code 1 where a figure is not reached.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from canvas_player import CanvasError, ExpressionServer, NotPlayable, StepRecord  # noqa: E402
from orgflow.compilation.reading import load_model  # noqa: E402
from row_mutants import MUTATORS, RowMutant, RowMutator, list_mutants  # noqa: E402
from row_subjects import RowSubject, list_subjects  # noqa: E402
from segment_models import waiting_model  # noqa: E402
from verify_mutants import done_by_people  # noqa: E402

from orgflow_ir.model import Model  # noqa: E402
from orgflow_ir.pipeline import PassContext  # noqa: E402
from orgflow_ir.plugins import Registry  # noqa: E402

DATA = ROOT.parent / "shared" / "data"
ENOUGH = 200
Entry = TypeVar("Entry")
_PROVED = ("proved", "proved if", "bounded")


class Judged(NamedTuple):
    """A mutant, why it differs (empty if no run shows it), and the verdict."""

    subject: RowSubject
    mutant: RowMutant
    differs: str
    verdict: str
    message: str

    @property
    def is_false_proof(self) -> bool:
        """Whether a workflow that differs is proved, or is said to have no difference."""
        return bool(self.differs) and self.verdict in _PROVED

    @property
    def is_false_alarm(self) -> bool:
        """Whether a change without an effect is not proved."""
        return self.mutant.mutator.harmless and self.verdict != "proved"


def read_models(registry: Registry, random: int) -> Iterator[tuple[str, Model]]:
    """All models: PMo, the examples, Camunda's executable ones, and random ones; each also with its
    tasks done by people."""
    paths = [(f"pmo/{p.stem}", p) for p in sorted((DATA / "pmo" / "bpmn").glob("*.bpmn"))]
    paths += [(f"examples/{p.parent.name}", p) for p in sorted(ROOT.glob("examples/*/model.*"))]
    paths += [
        (f"camunda7/{p.name.rsplit('__', 1)[-1].removesuffix('.bpmn20.xml')}", p)
        for p in sorted((DATA / "camunda7-executable").glob("*.xml"))
    ]
    paths += [(f"outside/{p.stem}", p) for p in sorted((DATA / "outside-look").rglob("*.bpmn"))]
    for name, path in paths:
        model = load_model(str(path), registry, PassContext(registry=registry), diagram=True)
        if model is None or not any(process.nodes for process in model.processes):
            continue
        yield name, model
        people = done_by_people(model)
        if people != model:
            yield f"{name} (people)", people
    for seed in range(random):
        yield f"random/{seed}", waiting_model(seed)


def judge_mutants(
    subject: RowSubject,
    runs: dict[int, list[StepRecord]],
    server: ExpressionServer,
    each: int,
    seed: int,
) -> Iterator[Judged]:
    """Mutants of one subject."""
    for mutant in list_mutants(subject.workflow, subject.key, each, seed):
        result = subject.verify(mutant.workflow)
        differs = ""
        for number, run in runs.items():
            try:
                differs = subject.replay(server, mutant.workflow, number, run)
            except (CanvasError, NotPlayable, LookupError, ValueError, TypeError) as error:
                differs = f"{type(error).__name__} {error}"
            if differs:
                break
        message = result.difference.message if result.difference is not None else result.bound or ""
        yield Judged(subject, mutant, differs, str(result.verdict), message)


def mutator_line(mutator: RowMutator, judged: list[Judged]) -> str:
    """The figures of one mutator."""
    verdicts = Counter(j.verdict for j in judged)
    figures = (
        len(judged), sum(bool(j.differs) for j in judged), verdicts["different"],
        verdicts["changed"] + verdicts["not compared"], verdicts["proved"],
        sum(j.is_false_proof for j in judged), sum(j.is_false_alarm for j in judged),
    )  # fmt: skip
    return f"{mutator.name:22}" + "".join(f"{figure or '-':>11}" for figure in figures)


def play_subject(
    subject: RowSubject, server: ExpressionServer, count: int
) -> tuple[dict[int, list[StepRecord]], list[str]]:
    """Runs of the compiled workflow, and those that the token game does not follow."""
    runs: dict[int, list[StepRecord]] = {}
    unlike: list[str] = []
    for number in range(count):
        _, run = subject.play(server, number)
        runs[number] = run
        stops = any("stopped" in effect for record in run for effect in record.effects)
        pools = bool(subject.model.message_flows)  # another process may begin this one
        reason = "" if stops or pools else subject.follow(number, run)
        if reason:
            unlike.append(f"{subject.key}, run {number}: {reason}")
    return runs, unlike


def choose_evenly(entries: list[Entry], count: int) -> list[Entry]:
    """So many entries, from all parts of a list."""
    if count <= 0 or not entries:
        return []
    chosen = [entries[place * len(entries) // count] for place in range(count)]
    return [e for n, e in enumerate(chosen) if not n or e is not chosen[n - 1]]


def main() -> int:
    """Verify, play and mutate; print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=1, help="mutants a mutator and process")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--subjects", type=int, default=12, help="most processes that are mutated")
    parser.add_argument("--runs", type=int, default=6, help="runs of each workflow")
    parser.add_argument("--random", type=int, default=20, help="random models beside the others")
    parser.add_argument("--models", default="", help="models whose name has this in it")
    options = parser.parse_args()
    registry = Registry(outside=False)
    models = (m for m in read_models(registry, options.random) if options.models in m[0])
    server = ExpressionServer()
    verdicts: Counter[str] = Counter()
    judged: list[Judged] = []
    faults: list[str] = []
    proved: list[tuple[RowSubject, dict[int, list[StepRecord]]]] = []
    played = 0
    spent = time.process_time()
    try:
        for subject in list_subjects(models, registry):
            result = subject.verify(subject.workflow)
            verdicts[str(result.verdict)] += 1
            print(f"{subject.key}: {result.verdict}", file=sys.stderr, flush=True)
            if result.verdict != "proved":
                found = result.difference.message if result.difference else result.bound or ""
                changes = "; ".join(f"{c.node}: {c.now}" for c in result.changed[:3])
                print(f"{subject.key}: {result.verdict} {found} {changes}", flush=True)
            try:
                runs, unlike = play_subject(subject, server, options.runs)
            except NotPlayable as error:
                print(f"{subject.key}: not played, {error}", flush=True)
                continue
            played += len(runs)
            faults += unlike
            if result.verdict == "proved":
                proved.append((subject, runs))
        for subject, runs in choose_evenly(proved, options.subjects):
            print(f"mutants of {subject.key}", file=sys.stderr, flush=True)
            judged += judge_mutants(subject, runs, server, options.each, options.seed)
    finally:
        server.close()
    print(f"as compiled: {', '.join(f'{count} {name}' for name, count in verdicts.items())}")
    print(f"{played} runs played beside the token game, {len(faults)} unlike it")
    heads = ("mutants", "differ", "different", "changed", "proved", "false proof", "false alarm")
    print(f"\n{'':22}" + "".join(f"{head:>11}" for head in heads))
    for mutator in MUTATORS:
        mine = [j for j in judged if j.mutant.mutator is mutator]
        if mine:
            print(mutator_line(mutator, mine))
    print(mutator_line(RowMutator("all", lambda workflow, rnd: ""), judged))
    for j in judged:
        if j.is_false_proof or j.is_false_alarm:
            word = "false proof" if j.is_false_proof else "false alarm"
            faults.append(f"{word}, {j.subject.key}, {j.mutant.what}: {j.verdict} {j.message} "
                          f"{j.differs}")  # fmt: skip
    if len(judged) < ENOUGH and options.subjects and not options.models:
        faults.append(f"{len(judged)} mutants, at least {ENOUGH} are wanted")
    print(f"\n{time.process_time() - spent:.0f} s of processor time")
    print("\n".join(["not reached:", *faults] if faults else ["all figures are reached"]))
    return int(bool(faults))


if __name__ == "__main__":
    raise SystemExit(main())
