"""Figures of mined processes: agreement with played models, conditions, time and memory.

    python benchmarks/event_logs.py [agreement] [conditions] [speed] [alignments]

Agreement is the harmonic mean of the fitness of random runs of the true process in the mined one
and the other way round, by optimal alignments. Noise: 20 % of the cases have one fault each.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from orgflow.compilation.reading import load_model  # noqa: E402
from orgflow.compilation.target_choice import choose_backend  # noqa: E402
from orgflow.compiler import compile_model  # noqa: E402
from played_logs import (  # noqa: E402
    StuckRun,
    add_noise,
    count_sequences,
    measure_agreement,
    play_log,
)
from shared_data import shared_data  # noqa: E402

from orgflow_ir.diagnostics import Severity  # noqa: E402
from orgflow_ir.flow.soundness.analysis import analyse  # noqa: E402
from orgflow_ir.flow.token_game.trace_alignment import (  # noqa: E402
    BehaviourMachine,
    measure_conformance,
    name_activities,
)
from orgflow_ir.mining.choice_rules import Observation, decide_way, find_choice_rules  # noqa: E402
from orgflow_ir.mining.event_log import LogEvent, Scalar, collect_log  # noqa: E402
from orgflow_ir.mining.log_cleaning import clean_log  # noqa: E402
from orgflow_ir.mining.log_process import mine_process  # noqa: E402
from orgflow_ir.model import Event as ModelEvent  # noqa: E402
from orgflow_ir.model import Flow, Gateway, Model, Process, Task  # noqa: E402
from orgflow_ir.pipeline import PassContext  # noqa: E402
from orgflow_ir.plugins import Registry  # noqa: E402

CASES = 1_000
JUDGED = 200
SHARES = (0.0, 0.2)


def list_models() -> list[Path]:
    """The models of PMo and the examples."""
    pmo = sorted(shared_data("pmo", "bpmn").glob("*.bpmn"))
    return [*pmo, *sorted((ROOT / "examples").glob("*/*.bpmn"))]


def report_agreement() -> None:
    """Agreement, soundness and compilation of processes mined of played models."""
    registry = Registry()
    backend = choose_backend("n8n", registry)
    figures: dict[float, list[float]] = {share: [] for share in SHARES}
    sound = compiled = refused = mined_number = 0
    for path in list_models():
        model = load_model(str(path), registry, PassContext(registry=registry))
        if model is None:
            continue
        for process in model.processes:
            if not name_activities(process):
                continue
            try:
                played = play_log(model, process, CASES, 1)
            except StuckRun:
                print(f"{path.name} {process.id}: most runs do not end")
                continue
            row = []
            for share in SHARES:
                log = collect_log("played", iterate_events(add_noise(played, share, 7)))
                mined = mine_process(clean_log(log)).process
                found = Model(id="mined", processes=(mined,))
                figure = measure_agreement((model, process), (found, mined), JUDGED)
                figures[share].append(figure)
                row.append(f"{figure:.3f}")
                mined_number += 1
                sound += analyse(mined, found).sound == "proved"
                ctx = PassContext(registry=registry)
                emitted = compile_model(found, backend, ctx)
                compiled += emitted is not None
                errors = [d.code for d in ctx.diagnostics if d.severity is Severity.ERROR]
                if emitted is None:
                    refused += 1
                    row.append(f"refused: {', '.join(errors)}")
            print(f"{path.stem:24} {process.id[:24]:24} {'  '.join(row)}")
    for share, values in figures.items():
        print(f"agreement with {share:.0%} noise: {sum(values) / len(values):.4f} "
              f"(least {min(values):.3f}, {len(values)} processes)")  # fmt: skip
    print(f"sound: {sound} of {mined_number}")
    print(f"compiled for n8n: {compiled} of {mined_number}")


def iterate_events(log: list[list[str]]) -> list[LogEvent]:
    """The events of cases, an hour apart."""
    return [
        LogEvent(f"c{number}", name, 1.7e9 + 3600 * place)
        for number, names in enumerate(log)
        for place, name in enumerate(names)
    ]


def report_conditions() -> None:
    """Planted conditions that are found, and conditions of random attributes."""
    draw = random.Random(11)
    planted = right = invented = 0
    for number in range(400):
        is_planted = number % 2 == 0
        ways, size = draw.choice((2, 2, 3)), draw.choice((200, 500, 1000))
        kind, limit, noise = draw.choice(("number", "text", "flag")), draw.uniform(20, 80), 0.05
        observations, truth = [], []
        for _ in range(size):
            values: dict[str, Scalar] = {
                "amount": float(draw.randrange(100)), "count": float(draw.randrange(8)),
                "region": draw.choice(["north", "south", "west", "east"]),
                "flag": draw.random() < 0.5, "name": f"n{draw.randrange(1000)}",
            }  # fmt: skip
            if kind == "number":
                way = sum(float(values["amount"]) > limit * k for k in range(1, ways)) % ways
            elif kind == "text":
                way = ["north", "south", "west", "east"].index(str(values["region"])) % ways
            else:
                way = int(values["flag"])
            truth.append(Observation(values, way))
            if not is_planted:
                way = draw.choices(range(ways), range(1, ways + 1))[0]
            elif draw.random() < noise:
                way = draw.randrange(ways)
            observations.append(Observation(values, way))
        rules = find_choice_rules(observations, ways)
        if is_planted:
            planted += 1
            agree = rules is not None and sum(
                decide_way(rules.rules, entry.values) == entry.way for entry in truth
            )
            right += bool(agree and agree >= 0.95 * size)
        else:
            invented += rules is not None
    print(f"planted conditions found: {right} of {planted} ({right / planted:.1%})")
    print(f"invented: {invented} of {400 - planted} ({invented / (400 - planted):.1%})")


def write_large_log(path: Path, events: int) -> int:
    """Write a CSV log; the number of its events."""
    draw = random.Random(3)
    written = case = 0
    with path.open("w") as file:
        file.write("case_id,activity,timestamp,user,amount,region\n")
        while written < events:
            case += 1
            amount, region = draw.randrange(10, 5000), draw.choice("nsw")
            names = ["Register", *draw.sample(["Check stock", "Check credit", "Check address"], 3)]
            names += ["Approve"] if amount > 1000 else []
            while draw.random() < 0.3:
                names += ["Ask", "Update"]
            names += ["Invoice", "Remind", "Visit" if region == "s" else "Call", "Close"]
            if draw.random() < 0.05:
                del names[draw.randrange(1, len(names))]
            for place, name in enumerate(names):
                day, second = case % 28 + 1, place * 3000 + draw.randrange(2000)
                clock = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
                time_ = f"2025-{case % 12 + 1:02}-{day:02}T{clock}"
                file.write(f"c{case},{name},{time_},u{draw.randrange(50)},{amount},{region}\n")
            written += len(names)
    return written


def report_speed() -> None:
    """Processor time and memory of `discover --traces` for a million events from CSV."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.csv"
        events = write_large_log(path, 1_000_000)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "orgflow", "discover", "--traces", str(path),
                   "-o", str(Path(folder) / "model.bpmn")]  # fmt: skip
        subprocess.run(command, check=True, cwd=folder)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{events:,} events from CSV: {seconds:.1f} s of processor time, "
          f"{after.ru_maxrss / 1024:.0f} MB")  # fmt: skip


def make_large_model() -> tuple[Model, Process]:
    """A model of 40 elements: two blocks of parallel branches, choices and a loop."""
    nodes: list[ModelEvent | Task | Gateway] = [ModelEvent(id="start", position="start")]
    flows: list[Flow] = []

    def link(source: str, target: str) -> str:
        flows.append(Flow(id=f"f{len(flows)}", source=source, target=target))
        return target

    def task(source: str) -> str:
        name = f"t{sum(isinstance(node, Task) for node in nodes)}"
        nodes.append(Task(id=name, name=name, task_type="user"))
        return link(source, name)

    def gateway(name: str, kind: str) -> str:
        nodes.append(Gateway(id=name, gateway_kind=kind))  # type: ignore[arg-type]
        return name

    last = "start"
    for block, (kind, branches, length) in enumerate(
        (("parallel", 3, 3), ("exclusive", 3, 2), ("parallel", 3, 2), ("exclusive", 2, 2))
    ):
        last = task(last)
        split, join = gateway(f"s{block}", kind), gateway(f"j{block}", kind)
        link(last, split)
        for _ in range(branches):
            end = split
            for _ in range(length):
                end = task(end)
            link(end, join)
        last = join
    nodes.append(ModelEvent(id="end", position="end"))
    link(last, "end")
    process = Process(id="p", nodes=tuple(nodes), flows=tuple(flows))
    return Model(id="m", processes=(process,)), process


def report_alignments() -> None:
    """Time to align 10,000 cases, each with faults in one of five, with a model of 40 elements."""
    model, process = make_large_model()
    log = add_noise(play_log(model, process, 10_000, 5), 0.2, 5)
    log = add_noise(log, 0.2, 6)
    variants = count_sequences(log)
    begin = time.process_time()
    conformance = measure_conformance(variants.items(), BehaviourMachine(model, process))
    seconds = time.process_time() - begin
    print(f"{conformance.cases:,} cases ({len(variants):,} variants) and {len(process.nodes)} "
          f"elements: {seconds:.1f} s of processor time; fitness {conformance.fitness:.3f}, "
          f"{conformance.unaligned} unaligned")  # fmt: skip


REPORTS = {
    "agreement": report_agreement, "conditions": report_conditions, "speed": report_speed,
    "alignments": report_alignments,
}  # fmt: skip


def main() -> None:
    """Print the figures of the named parts, or of all."""
    for name in sys.argv[1:] or REPORTS:
        REPORTS[name]()


if __name__ == "__main__":
    main()
