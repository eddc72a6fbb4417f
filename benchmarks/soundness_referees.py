"""Others' verdicts on the files of ../shared/data/soundness and pmo beside ours, name by name.

`python benchmarks/soundness_referees.py [rust] [spiff] [--only TEXT]` prints for each referee how
many files (processes) it agrees on, on which it does not and why, and which it cannot read, and
ends with exit code 1 where a disagreement has no reason here or a reason is not needed any more.

- rust_bpmn_analyzer (`pip install rust-bpmn-analyzer-bindings`; the Python of
  ORGFLOW_RUST_ANALYZER, by default this one) in a child process with a memory and a time limit. It
  explores whole collaborations, in which a message has to be sent. Compared are safeness with our
  lack of synchronisation, "option to complete" (there: no stuck state) with our deadlock, and
  activities that never run. Its "proper completion" means that an end event is come to once only,
  which nothing here asks for.
- SpiffWorkflow, by its runs (tests/support/soundness_spiff.py): whether some run is stuck, whether
  two tokens are seen at one place.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from soundness_speed import MEMORY, SECONDS, SHARED, read

from orgflow_ir.flow.soundness import Analysis, Property, analyse
from orgflow_ir.model import Model, Process

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))


FOLDERS = ("soundness", "pmo")

SENT = "it lets only messages come that the drawing itself sends; here messages arrive"
STARTED = "it begins nothing by a timer, a condition or a message; here each start is a scenario"
BEGUN = "it begins nothing that has no start event; BPMN begins where no flow leads (2.0.2, 13.2)"
STARTS = "it fires all start events at once; here each is a scenario of its own"
TIMERS = "it lets no timer win at an event-based gateway; here timers come, too"
INSIDE = "it plays what is inside the sub-process beside the process and goes on without waiting"
CLOSED = "it keeps a token at a gateway without a way out; here the branch ends there"
LINKS = "it lets a link without its other end finish its branch; here a token stays there (OF118)"

ARGUED: dict[tuple[str, str], str] = {
    ("rust", "fbpmn/e015CheckTest.bpmn"): SENT,
    ("rust", "fbpmn/e034SP.bpmn"): STARTS,
    ("rust", "fbpmn/e037Comm.bpmn"): SENT,
    ("rust", "fbpmn/e052TSE.bpmn"): STARTED,
    ("rust", "fbpmn/e053TSE.bpmn"): STARTED,
    ("rust", "fbpmn/e054TEB.bpmn"): TIMERS,
    ("rust", "fbpmn/s005Robots1.bpmn"): SENT,
    ("rust", "probe/ebg_nested_defs.bpmn"): TIMERS,
    ("rust", "probe/msg_catch_no_flow.bpmn"): SENT,
    ("rust", "probe/subprocess_inner_deadlock.bpmn"): INSIDE,
    ("rust", "probe/timer_start_only.bpmn"): STARTED,
    ("rust", "probe/two_starts_and_join.bpmn"): STARTS,
    ("rust", "probe/two_starts_xor_merge.bpmn"): STARTS,
    ("rust", "unit__reader__events.bpmn"): CLOSED,
    ("rust", "unit__semantics__link_event.bpmn"): LINKS,
    ("rust", "unit__semantics__message_start_event.bpmn"): BEGUN,
    ("rust", "unit__semantics__receive_task_no_mf.bpmn"): SENT,
    ("rust", "pmo/bpmn/22.bpmn"): STARTED,
    ("rust", "pmo/bpmn/23.bpmn"): STARTED,
    ("rust", "pmo/bpmn/24.bpmn"): TIMERS,
    ("rust", "pmo/bpmn/33.bpmn"): SENT,
    ("rust", "pmo/bpmn/36.bpmn"): STARTED,
    ("rust", "pmo/bpmn/38.bpmn"): SENT,
    ("rust", "pmo/bpmn/43.bpmn"): SENT,
}
"""(referee, end of the name) of every disagreement, and why it is none of our errors."""


class Answer(NamedTuple):
    """What a referee says of one file or process: by property whether it is violated; `unseen` are
    those of which it has not seen all there is to see, so that a no means nothing. `why`: it says
    nothing."""

    violated: dict[Property, bool]
    unseen: frozenset[Property] = frozenset()
    why: str = ""


class Row(NamedTuple):
    """A file or process, what we say of it and what the referee does."""

    name: str
    ours: dict[Property, bool | None]
    theirs: Answer

    def differs(self) -> list[str]:
        """What the two see differently, in words."""
        return [
            f"{p}: {'yes' if theirs else 'no'}, here {'yes' if self.ours[p] else 'no'}"
            for p, theirs in self.theirs.violated.items()
            if self.ours[p] not in (None, theirs) and (theirs or p not in self.theirs.unseen)
        ]


def models(only: str) -> Iterator[tuple[str, Path, Model]]:
    """Every BPMN file with its name below the data folder."""
    for folder in FOLDERS:
        for path in sorted((SHARED / "data" / folder).rglob("*.bpmn")):
            name = path.relative_to(SHARED / "data").as_posix()
            model = read(path) if only in name else None
            if model is not None and any(p.nodes for p in model.processes):
                yield name, path, model


def ours(found: list[Analysis]) -> dict[Property, bool | None]:
    """By property whether it is violated in some process (`None`: not known, or of elements that
    never run no task: only those are asked for)."""
    said: dict[Property, bool | None] = {}
    for wanted in (Property.DOUBLE, Property.DEADLOCK, Property.DEAD):
        outcomes = {f[wanted].outcome for f in found}
        known = False if outcomes <= {"proved"} else None
        said[wanted] = True if "violated" in outcomes else known
    if said[Property.DEAD]:
        dead = {f.element for a in found for f in a[Property.DEAD].faults}
        nodes = [n for a in found for s in a.process.scopes() for n in s.nodes]
        tasks = any(n.id in dead and n.kind == "task" for n in nodes)
        said[Property.DEAD] = True if tasks else None
    return said


# -- rust_bpmn_analyzer -----------------------------------------------------------------------

_CHILD = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]), int(sys.argv[2])))
import rust_bpmn_analyzer_bindings as rust
text = open(sys.argv[1], encoding="utf-8").read()
asked = rust.analyze_safeness, rust.analyze_option_to_complete, rust.analyze_dead_activities
print(json.dumps([f(text).fulfilled for f in asked]))
"""


def ask_rust(path: Path) -> Answer:
    """What rust_bpmn_analyzer says of a file. Raises `SystemExit` where it is not installed."""
    python = os.environ.get("ORGFLOW_RUST_ANALYZER", sys.executable)
    try:
        done = subprocess.run(
            [python, "-c", _CHILD, str(path), str(MEMORY)],
            capture_output=True, text=True, check=False, timeout=SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Answer({}, why=f"no answer within {SECONDS} s")
    if "ModuleNotFoundError" in done.stderr:
        raise SystemExit("rust_bpmn_analyzer_bindings is not installed: see the docstring")
    if done.returncode != 0:
        if "Unsupported BPMN elements" in done.stderr:
            return Answer({}, why="elements it does not know")
        if "There should be flow nodes" in done.stderr:
            return Answer({}, why="it panics: flows of elements it has left out")
        if done.returncode < 0 or "memory" in done.stderr:
            return Answer({}, why=f"more than {MEMORY // 1_000_000} MB")
        return Answer({}, why="it panics")
    safe, completes, alive = json.loads(done.stdout)
    return Answer(
        {
            Property.DOUBLE: not safe,
            Property.DEADLOCK: not completes,
            Property.DEAD: not alive,
        }
    )


def rust_rows(only: str) -> Iterator[Row]:
    """Every file as rust_bpmn_analyzer sees it."""
    for name, path, model in models(only):
        found = [analyse(p, model) for p in model.processes if p.nodes]
        yield Row(name, ours(found), ask_rust(path))


# -- SpiffWorkflow ----------------------------------------------------------------------------


def ask_spiff(process: Process, found: Analysis) -> Answer:
    """What SpiffWorkflow's runs show of a process."""
    from soundness_spiff import verdict

    seen = verdict(process, tuple(f.trace for f in found.faults))
    if isinstance(seen, str):
        return Answer({}, why=seen)
    said = {Property.DEADLOCK: bool(seen.stuck), Property.DOUBLE: bool(seen.double)}
    return Answer(said, frozenset() if seen.all else frozenset(said))


def spiff_rows(only: str) -> Iterator[Row]:
    """Every process as SpiffWorkflow's runs show it."""
    for name, _, model in models(only):
        for process in model.processes:
            if process.nodes:
                found = analyse(process, model)
                yield Row(f"{name} {process.id}", ours([found]), ask_spiff(process, found))


# -- the tables -------------------------------------------------------------------------------

REFEREES: dict[str, Callable[[str], Iterator[Row]]] = {"rust": rust_rows, "spiff": spiff_rows}
TITLES = {"rust": "rust_bpmn_analyzer (files)", "spiff": "SpiffWorkflow runs (processes)"}


def argued(referee: str, name: str) -> tuple[str, str] | None:
    """The entry of `ARGUED` about a name."""
    return next((k for k in ARGUED if k[0] == referee and name.endswith(k[1])), None)


def judge(referee: str, only: str) -> int:
    """Print what one referee says; how many disagreements have no reason, and reasons no use."""
    agreed, partly, silent = 0, 0, Counter[str]()
    differing: list[tuple[str, str, str]] = []
    used: set[tuple[str, str]] = set()
    wrong = 0
    for row in REFEREES[referee](only):
        if row.theirs.why:
            silent[row.theirs.why] += 1
            continue
        differs = row.differs()
        if not differs:
            agreed += 1
            partly += bool(row.theirs.unseen)
            continue
        key = argued(referee, row.name)
        wrong += key is None
        if key is not None:
            used.add(key)
        reason = ARGUED[key] if key is not None else "NOT ARGUED"
        differing.append((row.name, "; ".join(differs), reason))
    spare = {k for k in ARGUED if k[0] == referee} - used if not only else set()
    total = f"agreed {agreed}, disagreed {len(differing)}, cannot read {silent.total()}"
    print(f"{TITLES[referee]}: {total}")
    if partly:
        print(f"  of those agreed on, {partly} have more runs than were made")
    for name, what, reason in differing:
        print(f"  {name}\n      {what}\n      {reason}")
    for why, count in silent.most_common():
        print(f"  cannot read {count}: {why}")
    for _, name in sorted(spare):
        print(f"  a reason that is not needed any more: {name}")
    return wrong + len(spare)


def main() -> int:
    """Ask the referees; whether all is agreed or argued."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("referees", nargs="*", choices=[*REFEREES, []], default=[])
    options.add_argument("--only", default="", help="files whose name has this in it")
    chosen = options.parse_args()
    wrong = sum(judge(name, chosen.only) for name in chosen.referees or REFEREES)
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
