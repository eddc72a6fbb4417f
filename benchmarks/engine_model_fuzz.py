"""Random workflows on the model of n8n's engine and on n8n's engine: they have to do the same.

`python benchmarks/engine_model_fuzz.py [--seed N] [--count N] [--save FILE]` prints what was
generated and every disagreement, and ends with exit code 1 where there is one. Needs
`orgflowc engine install`.
"""

from __future__ import annotations

import argparse
import collections
import json
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from engine_model_random import case, wires_of
from engine_model_script import Case
from model_replay import Disagreement, compare, record_of
from model_simulation import Simulation, simulate
from orgflow.backends.n8n.engine.local import EngineError, EngineRun, LocalEngine, RunRequest
from orgflow.backends.n8n.engine_model import Config, EngineModel, Outcome, Place

MOST_NODES = 300
MOST_ITEMS = 40


@dataclass
class Expected:
    """What the model says of a case."""

    case: Case
    limit: int
    run: Simulation
    outcomes: list[Outcome] = field(default_factory=list)
    traits: set[str] = field(default_factory=set)


def expected(seed: int) -> Expected:
    """Run the model; runs that do not end are cut where only the main workflow is at work."""
    drawn = case(seed)
    machine = EngineModel(drawn.workflow, drawn.workflows)
    limit = _cut(drawn, machine)
    script = drawn.script()
    outcomes: list[Outcome] = []
    done: set[str] = set()

    def decide(place: Place, run: int) -> Outcome:
        outcomes.append(script.decide(place, run))
        if place.kind == "merge" and 0 in place.inputs:
            done.add("runs a merge in part")
        return outcomes[-1]

    run = simulate(machine, "T", decide, items=drawn.items, limit=limit)
    found = Expected(drawn, limit, run, outcomes)
    found.traits = traits(found, machine) | done
    return found


def _cut(drawn: Case, machine: EngineModel) -> int:
    script = drawn.script()
    started = safe = 0
    begun = False

    def decide(place: Place, run: int) -> Outcome:
        nonlocal started, safe, begun
        if max(place.inputs) > MOST_ITEMS:
            raise StopIteration
        if place.phase.name != "SLEEPING":
            if place.depth == 0 and (place.workflow is None):
                safe = started
            started += 1
        return script.decide(place, run)

    try:
        run = simulate(machine, "T", decide, items=drawn.items, limit=MOST_NODES)
    except StopIteration:
        return safe
    return safe if run.status == "limit" else MOST_NODES


def traits(found: Expected, machine: EngineModel) -> set[str]:
    """What a case is an example of: of its graph, and of what its run did."""
    drawn = found.case
    named = set(drawn.kinds)
    if irreducible(drawn):
        named.add("irreducible cycle")
    config = machine.initial("T", drawn.items)
    for outcome in found.outcomes:
        before = config
        config = machine.step(before, outcome)
        named |= _losses(before, config)
    runs = collections.Counter((visit.workflow, visit.node) for visit in found.run.order)
    cyclic = _reachable_from_cycles(drawn)
    if any(n > 1 for (flow, node), n in runs.items() if flow is None and node not in cyclic):
        named.add("doubles tokens")
    if any(n > 1 for (flow, node), n in runs.items() if flow is None and node in cyclic):
        named.add("goes round a cycle")
    if named & {"doubles tokens", "loses tokens"}:
        named.add("loses or doubles tokens")
    return named


def _losses(before: Config, after: Config) -> set[str]:
    """Tokens that a step lost: overwritten, or left over when an execution ended well."""
    if len(after.frames) < len(before.frames):
        gone = before.frames[-1]
        # The step that ended an execution delivered nothing; what waited before is left over.
        if gone.waiting and len(gone.stack) == 1:
            return {"loses tokens"}
        return set()
    if len(after.frames) > len(before.frames) or not before.frames:
        return set()
    old, new = before.frames[-1], after.frames[-1]
    held = {(node, index): counts for node, entries in old.waiting for index, counts in entries}
    for node, entries in new.waiting:
        for index, counts in entries:
            was = held.get((node, index))
            # An entry only grows, unless it was fired or overwritten; a fired one is gone.
            lost = was is not None and any(a and a != b for a, b in zip(was, counts, strict=True))
            if lost:
                return {"loses tokens"}
    return set()


def _reachable_from_cycles(drawn: Case) -> set[str]:
    ahead: dict[str, set[str]] = collections.defaultdict(set)
    for source, target in wires_of(drawn.workflow):
        ahead[source].add(target)
    reach = {name: _reach(ahead, name) for name in list(ahead)}
    cyclic = {name for name, found in reach.items() if name in found}
    return cyclic.union(*(reach[name] for name in cyclic))


def _reach(ahead: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    todo = list(ahead.get(start, ()))
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += ahead.get(name, ())
    return found


def irreducible(drawn: Case) -> bool:
    """Whether the main workflow has a cycle that can be entered at two places (T1/T2)."""
    live = _live(drawn)
    parents: dict[str, set[str]] = {name: set() for name in live}
    for source, target in wires_of(drawn.workflow):
        if source in live and target != source:
            parents[target].add(source)
    changed = True
    while changed:
        changed = False
        for name, above in list(parents.items()):
            if len(above) == 1 and name != "T":
                (only,) = above
                del parents[name]
                for others in parents.values():
                    if name in others:
                        others.discard(name)
                        others.add(only)
                for other, others in parents.items():
                    others.discard(other)
                changed = True
    return len(parents) > 1


def _live(drawn: Case) -> set[str]:
    ahead: dict[str, set[str]] = collections.defaultdict(set)
    for source, target in wires_of(drawn.workflow):
        ahead[source].add(target)
    return _reach(ahead, "T") | {"T"}


def disagreement(found: Expected, run: EngineRun) -> Disagreement | None:
    """The first difference between the model and n8n, waits included."""
    different = compare(found.run, record_of(run), run.status)
    if different is not None:
        return different
    model = [
        (wait.workflow, wait.node, wait.opened_at, wait.in_process, wait.resumed)
        for wait in found.run.waits
    ]
    names = {"timer": "elapsed", "timeout": "elapsed", "answer": "answer"}
    real = [
        (wait.workflow, wait.node, wait.opened_at, wait.in_process, names.get(wait.resumed or ""))
        for wait in run.waits
    ]
    if model != real:
        return Disagreement(len(run.order), f"waits {real}", f"waits {model}")
    return None


def runs(engine: LocalEngine, seeds: Iterable[int]) -> Iterator[tuple[Expected, EngineRun]]:
    """Each case with what n8n did."""
    waiting: collections.deque[Expected] = collections.deque()

    def requests() -> Iterator[RunRequest]:
        for seed in seeds:
            found = expected(seed)
            waiting.append(found)
            yield found.case.request(found.limit)

    for run in engine.run_many(requests()):
        yield waiting.popleft(), run


def main() -> int:
    """Run the cases, print the distribution, say whether all agreed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--save", type=Path, help="folder for the workflows that disagree")
    options = parser.parse_args()
    counts: collections.Counter[str] = collections.Counter()
    sizes: list[int] = []
    lengths: list[int] = []
    wrong = 0
    begun = time.perf_counter()
    try:
        with LocalEngine() as engine:
            for found, run in runs(engine, range(options.seed, options.seed + options.count)):
                counts.update(found.traits)
                counts[f"ends: {found.run.status}"] += 1
                sizes.append(len(found.case.workflow["nodes"]))
                lengths.append(len(found.run.order))
                different = disagreement(found, run)
                if different is not None:
                    wrong += 1
                    print(f"seed {found.case.seed}: {different} ({run.error})", flush=True)
                    if options.save:
                        save(found, options.save)
    except EngineError as error:
        print(error, file=sys.stderr)
        return 2
    print(distribution(counts, sizes, lengths))
    print(f"model: {speed(range(options.seed, options.seed + 100)):,.0f} steps/s")
    print(f"{time.perf_counter() - begun:.0f} s; {len(sizes)} workflows, {wrong} disagreements")
    return int(wrong > 0)


def distribution(counts: collections.Counter[str], sizes: list[int], lengths: list[int]) -> str:
    """What was generated, as a table."""
    total = len(sizes)
    lines = [f"{100 * n / total:5.1f} %  {name}" for name, n in sorted(counts.items())]
    for name, values in (("nodes", sizes), ("node runs", lengths)):
        quarter = sorted(values)
        shown = [quarter[min(total - 1, total * part // 4)] for part in range(5)]
        lines.append(f"{name}: least, quartiles, most {shown}")
    return "\n".join(lines)


def speed(seeds: Iterable[int]) -> float:
    """Steps of the model a second, deciding left out."""
    drawn = [expected(seed) for seed in seeds]
    machines = [EngineModel(found.case.workflow, found.case.workflows) for found in drawn]
    begun = time.perf_counter()
    for machine, found in zip(machines, drawn, strict=True):
        config = machine.initial("T", found.case.items)
        for outcome in found.outcomes:
            config = machine.step(config, outcome)
    steps = sum(len(found.outcomes) for found in drawn)
    return steps / (time.perf_counter() - begun)


def save(found: Expected, folder: Path) -> None:
    """Write a case for looking at it."""
    folder.mkdir(parents=True, exist_ok=True)
    message = found.case.request(found.limit).message()
    path = folder / f"{found.case.seed}.json"
    path.write_text(json.dumps(message, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
