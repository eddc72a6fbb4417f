"""Faults in what a workflow or model computes, by seed, and what `run` reports of them.

`python benchmarks/run_faults.py [--models N] [--each N] [--seed N] [--show]` makes models with
scripts, decision tables, loops with counters and computed times, and plants one fault at a time:
into the compiled workflow (another constant, another comparison, a counter that is off by one, an
assignment less) or into the model (a loop without end, a script that throws, a time that is none, a
branch that no data takes).

Truth is independent of `run`. The meaning of a model is computed here, in plain Python, from the
program that the generator wrote it from, and n8n's own engine executes both workflows for a grid of
inputs: a fault counts as observable if the workflow sets a variable to another value, takes another
path or ends in another way than the program. Of every model the branches that the program takes for
any input of a wide range are compared with those that runs cover.

Exit code 1 if `run` misses more than 2 % of the observable faults, reports one that is none, or
reaches less than 98 % of the branches.
"""

from __future__ import annotations

import argparse
import copy
import itertools
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orgflow.backends.n8n.engine.local import EngineRun, LocalEngine, RunRequest
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model
from orgflow.evaluation.replay import ReplayReport, replay_model

from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.targets.artifact import Emitted

Json = dict[str, Any]

MOST_MISSED = 0.02
LEAST_REACHED = 0.98
LIMITS = {"nodes": 500, "ms": 20_000}
GRID = (-3, 0, 1, 2, 4, 5, 6, 7, 9, 10, 11, 20)
MOST_INPUTS, BATCH = 14, 3
WIDE = range(-40, 61)
MOST_ROUNDS = 60

_NUMBER = re.compile(r"(?<![\w.\"'\[])\d{1,3}(?![\w\"'\].])")
_ORDER = re.compile(r"(?<![=<>!-])(<=|>=|<(?!=)|>(?!=))(?!>)")
_ASSIGNMENT = re.compile(r"^( *v\.\w+ = .*;)$", re.MULTILINE)


# -- programs --------------------------------------------------------------------------------------


@dataclass
class Step:
    """One step of a program; `kind` selects the fields that it uses."""

    kind: str
    name: str
    code: str = ""
    target: str = ""
    source: str = ""
    sign: str = ""
    bound: int = 0
    amount: int = 0
    low: str = ""
    high: str = ""
    then: list[Step] = field(default_factory=list)
    other: list[Step] = field(default_factory=list)


class EndlessError(Exception):
    """A loop that goes on."""


class StopError(Exception):
    """A step that fails."""


def holds(value: int, sign: str, bound: int) -> bool:
    """A comparison."""
    return {"<": value < bound, "<=": value <= bound, ">": value > bound, ">=": value >= bound}[
        sign
    ]


def execute(steps: Sequence[Step], values: Json, taken: list[str]) -> None:
    """The meaning of a program: sets variables, and lists the steps and branches in order. Raises
    `EndlessError` and `StopError`."""
    for step in steps:
        match step.kind:
            case "script":
                taken.append(step.name)
                values[step.target] = values[step.source] * step.amount + step.bound
            case "branching script":
                taken.append(step.name)
                more = step.amount if holds(values[step.source], step.sign, step.bound) else 1
                values[step.target] = values[step.source] + more
            case "table":
                taken.append(step.name)
                is_high = holds(values[step.source], step.sign, step.bound)
                values[step.target] = step.high if is_high else step.low
            case "choice":
                value = values[step.source]
                truth = value == step.high if step.high else holds(value, step.sign, step.bound)
                taken.append(f"{step.name} {'yes' if truth else 'no'}")
                execute(step.then if truth else step.other, values, taken)
            case "loop":
                values[step.target] = 0
                taken.append(f"{step.name} begin")
                for _ in range(MOST_ROUNDS):
                    if not values[step.target] < step.bound:
                        break
                    taken.append(f"{step.name} round")
                    values[step.target] += step.amount
                    values[step.source] += step.amount
                else:
                    raise EndlessError(step.name)
            case "throw":
                taken.append(step.name)
                raise StopError(step.name)
            case "time":
                taken.append(step.name)
                values[step.target] = step.high
                if step.high != "PT1S":
                    raise StopError(f"{step.name} wait")


def make_program(chance: random.Random) -> list[Step]:
    """A random program over the inputs a and b."""
    names = (f"{n}" for n in itertools.count(1))
    numbers = ["a", "b"]
    texts: list[tuple[str, Step]] = []

    def block(depth: int, most: int) -> list[Step]:
        steps: list[Step] = []
        for _ in range(chance.randint(1, most)):
            steps += step(depth)
        return steps

    def compared() -> Json:
        return {
            "source": chance.choice(numbers), "sign": chance.choice(["<", "<=", ">", ">="]),
            "bound": chance.randint(1, 9),
        }  # fmt: skip

    def step(depth: int) -> list[Step]:
        number = next(names)
        kind = chance.choice(
            ["script", "branching script", "table", "choice", "choice", "loop", "time"]
        )
        if kind == "choice" and depth:
            asked = compared()
            if texts and chance.random() < 0.4:
                variable, table = chance.choice(texts)
                asked = {"source": variable, "high": table.high}
            before = list(numbers), list(texts)
            then = block(depth - 1, 2)
            numbers[:], texts[:] = list(before[0]), list(before[1])
            other = block(depth - 1, 2) if chance.random() < 0.5 else []
            numbers[:], texts[:] = before
            return [Step("choice", f"Choose {number}", **asked, then=then, other=other)]
        if kind == "table":
            table = Step(
                "table", f"Table {number}", target=f"t{number}", low="low", high="high",
                **compared(),
            )  # fmt: skip
            texts.append((table.target, table))
            return [table]
        if kind == "loop" and depth:
            changed = chance.choice(numbers)
            return [
                Step(
                    "loop", f"Loop {number}", target=f"i{number}", source=changed,
                    bound=chance.randint(1, 4), amount=1,
                )
            ]  # fmt: skip
        if kind == "time":
            return [Step("time", f"Time {number}", target=f"w{number}", high="PT1S")]
        asked = compared()
        made = Step(
            "branching script" if kind == "branching script" else "script", f"Script {number}",
            target=f"v{number}", amount=chance.randint(2, 4), **asked,
        )  # fmt: skip
        if chance.random() < 0.7:
            numbers.append(made.target)
        return [made]

    return block(2, 4)


def list_branches(steps: Sequence[Step]) -> Iterator[str]:
    """The names of all branches of a program."""
    for step in walk_steps(steps):
        if step.kind == "choice":
            yield from (f"{step.name} yes", f"{step.name} no")


def list_taken(steps: Sequence[Step]) -> set[str]:
    """The steps and branches that a program takes for any input of a wide range."""
    taken: set[str] = set()
    for a, b in itertools.product(WIDE, WIDE[::2]):
        outcome = meaning(steps, {"a": a, "b": b})
        if outcome[0] == "success":
            taken.update(outcome[1])
    return taken


def make_open_program(chance: random.Random) -> list[Step]:
    """A random program whose branches are all taken for some input."""
    while True:
        steps = make_program(chance)
        if set(list_branches(steps)) <= list_taken(steps):
            return steps


def walk_steps(steps: Sequence[Step]) -> Iterator[Step]:
    """All steps of a program."""
    for step in steps:
        yield step
        yield from walk_steps((*step.then, *step.other))


# -- models ----------------------------------------------------------------------------------------

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<definitions '
    'xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    'xmlns:camunda="http://camunda.org/schema/1.0/bpmn" '
    'xmlns:modeler="http://camunda.org/schema/modeler/1.0" '
    'modeler:executionPlatform="Camunda Platform" modeler:executionPlatformVersion="7.21.0" '
    'id="d" targetNamespace="t">\n<process id="P" name="Main" isExecutable="true">\n'
)


class Writer:
    """Writes a program as BPMN and DMN."""

    def __init__(self) -> None:
        self.nodes: list[str] = []
        self.flows: list[str] = []
        self.decisions: list[str] = []
        self.number = 0

    def fresh(self, prefix: str) -> str:
        self.number += 1
        return f"{prefix}{self.number}"

    def connect(self, source: str, target: str, condition: str = "") -> None:
        inner = ""
        if condition:
            inner = (
                '<conditionExpression xsi:type="tFormalExpression">'
                f"${{{escape(condition)}}}</conditionExpression>"
            )
        self.flows.append(
            f'<sequenceFlow id="{self.fresh("f")}" sourceRef="{source}" targetRef="{target}">'
            f"{inner}</sequenceFlow>"
        )

    def script(self, name: str, code: str) -> str:
        id = self.fresh("s")
        self.nodes.append(
            f'<scriptTask id="{id}" name="{name}" scriptFormat="groovy"><script>{escape(code)}'
            "</script></scriptTask>"
        )
        return id

    def gateway(self, name: str = "", default: str = "") -> str:
        id = self.fresh("g")
        at = f' default="{default}"' if default else ""
        self.nodes.append(f'<exclusiveGateway id="{id}" name="{name}"{at}/>')
        return id

    def write(self, steps: Sequence[Step], here: str) -> str:
        """Write steps after an element; the last element."""
        for step in steps:
            here = self.step(step, here)
        return here

    def step(self, step: Step, here: str) -> str:
        match step.kind:
            case "script":
                value = f"{step.source} * {step.amount} + {step.bound}"
                code = f'execution.setVariable("{step.target}", {value})'
                return self.after(here, self.script(step.name, code))
            case "branching script":
                code = (
                    f"if ({step.source} {step.sign} {step.bound}) {{\n"
                    f'execution.setVariable("{step.target}", {step.source} + {step.amount})\n'
                    f'}} else {{\nexecution.setVariable("{step.target}", {step.source} + 1)\n}}'
                )
                return self.after(here, self.script(step.name, code))
            case "table":
                return self.after(here, self.table(step))
            case "choice":
                return self.choice(step, here)
            case "loop":
                return self.loop(step, here)
            case "throw":
                return self.after(
                    here, self.script(step.name, 'throw new RuntimeException("boom")')
                )
            case "time":
                code = f'execution.setVariable("{step.target}", "{step.high}")'
                here = self.after(here, self.script(step.name, code))
                id = self.fresh("w")
                self.nodes.append(
                    f'<intermediateCatchEvent id="{id}" name="{step.name} wait">'
                    '<timerEventDefinition><timeDuration xsi:type="tFormalExpression">'
                    f"${{{step.target}}}</timeDuration></timerEventDefinition>"
                    "</intermediateCatchEvent>"
                )
                return self.after(here, id)
            case _:
                raise KeyError(step.kind)

    def after(self, here: str, id: str) -> str:
        self.connect(here, id)
        return id

    def table(self, step: Step) -> str:
        id = self.fresh("t")
        self.nodes.append(
            f'<businessRuleTask id="{id}" name="{step.name}" camunda:decisionRef="D{id}" '
            f'camunda:mapDecisionResult="singleEntry" camunda:resultVariable="{step.target}"/>'
        )
        test = escape(f"{step.sign} {step.bound}")
        self.decisions.append(
            f'<decision id="D{id}" name="D{id}"><decisionTable id="x{id}" hitPolicy="FIRST">'
            f'<input id="i{id}"><inputExpression id="e{id}" typeRef="integer"><text>{step.source}'
            f'</text></inputExpression></input><output id="o{id}" name="r" typeRef="string"/>'
            f'<rule id="r{id}"><inputEntry id="a{id}"><text>{test}</text></inputEntry>'
            f'<outputEntry id="b{id}"><text>"{step.high}"</text></outputEntry></rule>'
            f'<rule id="q{id}"><inputEntry id="c{id}"><text></text></inputEntry>'
            f'<outputEntry id="h{id}"><text>"{step.low}"</text></outputEntry></rule>'
            "</decisionTable></decision>"
        )
        return id

    def choice(self, step: Step, here: str) -> str:
        split = self.after(here, self.gateway(step.name))
        join = self.gateway(f"{step.name} joined")
        condition = (
            f'{step.source} == "{step.high}"'
            if step.high
            else (f"{step.source} {step.sign} {step.bound}")
        )
        for branch, asked, label in (
            (step.then, condition, "yes"), (step.other, f"!({condition})", "no"),
        ):  # fmt: skip
            marker = self.fresh("m")
            self.nodes.append(
                f'<intermediateThrowEvent id="{marker}" name="{step.name} {label}"/>'
            )  # a task may set any variable
            self.connect(split, marker, asked)
            self.connect(self.write(branch, marker), join)
        return join

    def loop(self, step: Step, here: str) -> str:
        begin = self.after(
            here, self.script(f"{step.name} begin", f'execution.setVariable("{step.target}", 0)')
        )
        head = self.after(begin, self.gateway(step.name))
        code = (
            f'execution.setVariable("{step.target}", {step.target} + {step.amount})\n'
            f'execution.setVariable("{step.source}", {step.source} + {step.amount})'
        )
        body = self.script(f"{step.name} round", code)
        again = self.gateway(f"{step.name} again")
        leave = self.gateway(f"{step.name} left")
        self.connect(head, again)
        self.connect(again, body, f"{step.target} < {step.bound}")
        self.connect(body, head)
        self.connect(again, leave, f"{step.target} >= {step.bound}")
        return leave


def escape(text: str) -> str:
    """Text of XML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def write_model(steps: Sequence[Step], folder: Path) -> Path:
    """Write a program as files; the path of the BPMN file."""
    writer = Writer()
    writer.nodes.append('<startEvent id="S"/>')
    last = writer.write(steps, "S")
    writer.nodes.append('<endEvent id="E"/>')
    writer.connect(last, "E")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "model.bpmn"
    path.write_text(
        HEAD + "\n".join([*writer.nodes, *writer.flows]) + "\n</process>\n</definitions>\n",
        encoding="utf-8",
    )
    if writer.decisions:
        (folder / "decisions.dmn").write_text(
            '<?xml version="1.0"?><definitions '
            'xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="dd" name="dd" '
            f'namespace="n">{"".join(writer.decisions)}</definitions>',
            encoding="utf-8",
        )
    return path


# -- truth -----------------------------------------------------------------------------------------


class Subject:
    """A compiled program."""

    def __init__(self, steps: Sequence[Step], folder: Path, registry: Registry) -> None:
        self.steps = steps
        self.ctx = PassContext(registry=registry)
        path = write_model(steps, folder)
        model = load_model(str(path), registry, self.ctx)
        assert model is not None
        self.model: Model = model
        emitted = compile_model(model, registry.backends["n8n"], self.ctx)
        assert emitted is not None, [d.message for d in self.ctx.diagnostics]
        self.emitted: Emitted = emitted
        player = LocalRunner()
        player.load(emitted, "P", self.ctx)
        self.workflow: Json = dict(copy.deepcopy(player.workflow))
        self.trigger = next(
            n.name
            for n in player.compiled.root.plan.workflow_graph.nodes.values()
            if n.role == "trigger"
        )
        self.names = {step.target for step in walk_steps(steps) if step.target} | {"a", "b"}
        self.outcomes = choose_inputs(steps)

    def differs(self, workflow: Json, engine: LocalEngine, *, reported: bool = False) -> str:
        """An input for which a workflow does something else than the program; empty without. For a
        fault that was `reported`, many more inputs are tried before it counts as none."""
        outcomes = list(self.outcomes)
        if reported:
            more = ({"a": a, "b": b} for a, b in itertools.product(range(-2, 12), repeat=2))
            outcomes = [(given, meaning(self.steps, given)) for given in more]
        for at in range(0, len(outcomes), BATCH):
            batch = outcomes[at : at + BATCH]
            requests = [
                RunRequest(
                    workflow, self.trigger, items=[{"json": dict(given)}], limits=LIMITS, data=True
                )
                for given, _ in batch
            ]
            runs = list(engine.run_many(requests))
            for (given, expected), run in zip(batch, runs, strict=True):
                if self.observed(run) != expected:
                    return f"{given}: {self.observed(run)} instead of {expected}"
        return ""

    def observed(self, run: EngineRun) -> tuple[Any, ...]:
        """What a run did, in the form of `meaning`."""
        if run.status == "limit":
            return ("endless",)
        every = list(walk_steps(self.steps))
        known = {step.name for step in every if step.kind not in ("choice", "loop")} | {
            f"{step.name} {part}" for step in every for part in ("yes", "no", "begin", "round")
        }
        path = tuple(node.node for node in run.order if node.node in known)
        if run.status != "success":
            return ("error", path)
        last = run.order[-1].items if run.order else None
        item = last[0][0] if last and last[0] else {}
        values = {name: item[name] for name in sorted(self.names) if name in item}
        return ("success", path, tuple(values.items()))


def choose_inputs(steps: Sequence[Step]) -> list[tuple[Json, tuple[Any, ...]]]:
    """Inputs with what the program does: one for each path, then those at which a comparison is at
    its border, in a fixed order."""
    bounds = sorted({step.bound for step in walk_steps(steps) if step.sign})
    paths: dict[Any, tuple[Json, tuple[Any, ...]]] = {}
    for a, b in itertools.product(WIDE[::2], WIDE[::5]):
        outcome = meaning(steps, {"a": a, "b": b})
        paths.setdefault(outcome[:2], ({"a": a, "b": b}, outcome))
    chosen = list(paths.values())[: MOST_INPUTS // 2]
    near = [bound + more for bound in bounds for more in (0, 1, -1)]
    for number, value in enumerate(near):
        given = {"a": value, "b": near[-1 - number]}
        chosen.append((given, meaning(steps, given)))
    for a, b in itertools.product(GRID[::4], GRID[::5]):
        chosen.append(({"a": a, "b": b}, meaning(steps, {"a": a, "b": b})))
    return chosen[:MOST_INPUTS]


def meaning(steps: Sequence[Step], given: Json) -> tuple[Any, ...]:
    """What a program does with an input: how it ends, its steps, and its variables."""
    values, taken = dict(given), list[str]()
    try:
        execute(steps, values, taken)
    except EndlessError:
        return ("endless",)
    except StopError:
        return ("error", tuple(taken))
    return ("success", tuple(taken), tuple(sorted(values.items())))


# -- faults ----------------------------------------------------------------------------------------


def list_workflow_faults(workflow: Json) -> Iterator[tuple[str, Json]]:
    """Every workflow with one fault in what it computes, with the kind of the fault."""
    for number, node in enumerate(workflow["nodes"]):
        parameters = node["parameters"]
        code = parameters.get("jsCode")
        if isinstance(code, str):
            for kind, changed in _change_code(code):
                yield kind, _with_parameter(workflow, number, "jsCode", changed)
        for path, text in _list_texts(parameters.get("conditions", parameters.get("rules", {}))):
            if isinstance(text, str) and text.startswith("={{"):
                for kind, changed in _change_text(text):
                    mutated = copy.deepcopy(workflow)
                    root = "conditions" if "conditions" in parameters else "rules"
                    inner = mutated["nodes"][number]["parameters"][root]
                    for part in path[:-1]:
                        inner = inner[part]
                    inner[path[-1]] = changed
                    yield f"condition: {kind}", mutated


def _with_parameter(workflow: Json, number: int, name: str, value: Any) -> Json:
    changed = copy.deepcopy(workflow)
    changed["nodes"][number]["parameters"][name] = value
    return changed


def _list_texts(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _list_texts(inner, (*path, name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _list_texts(inner, (*path, number))
    else:
        yield path, value


def _change_text(text: str) -> Iterator[tuple[str, str]]:
    for match in _NUMBER.finditer(text):
        for more in (1, 5):
            value = str(int(match[0]) + more)
            yield "constant", text[: match.start()] + value + text[match.end() :]
    for match in _ORDER.finditer(text):
        turned = {"<": ">", "<=": ">", ">": "<", ">=": "<"}[match[0]]
        edge = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}[match[0]]
        yield "inverted", text[: match.start()] + turned + text[match.end() :]
        yield "off by one", text[: match.start()] + edge + text[match.end() :]


def _change_code(code: str) -> Iterator[tuple[str, str]]:
    """Changes of the statements of a Code node, not of its helpers."""
    for match in _ASSIGNMENT.finditer(code):
        line = match[1]
        yield "no assignment", code.replace(line, "", 1)
    for line in code.split("\n"):
        if line.lstrip().startswith(("v.", "own.", "if (", "{ if", "return (")) or "? " in line:
            if "throw" in line or "need(" in line:
                continue
            for kind, changed in _change_text(line):
                yield kind, code.replace(line, changed, 1)


MODEL_FAULTS = ("endless", "throw", "time", "closed branch")


def plant_model_fault(steps: Sequence[Step], kind: str, chance: random.Random) -> list[Step] | None:
    """A program with one fault; `None` if it has no place for it."""
    planted = copy.deepcopy(list(steps))
    every = list(walk_steps(planted))
    match kind:
        case "endless":
            places = [step for step in every if step.kind == "loop"]
            if not places:
                return None
            chance.choice(places).amount = 0
        case "throw":
            planted.insert(chance.randint(0, len(planted)), Step("throw", "Fail"))
        case "time":
            wrong = chance.choice(["tomorrow", "5", "PT", "2030-13-01"])
            place = Step("time", "Late", target="late", high=wrong)
            planted.insert(chance.randint(0, len(planted)), place)
        case "closed branch":
            bound = chance.randint(1, 9)
            inner = Step("choice", "Never", source="a", sign=">", bound=bound + 3)
            outer = Step("choice", "First", source="a", sign="<", bound=bound, then=[inner])
            planted.insert(0, outer)
        case _:
            raise KeyError(kind)
    return planted


class Damaged(LocalRunner):
    """Plays another workflow than the compiled one."""

    def __init__(self, engine: LocalEngine, workflow: Json) -> None:
        super().__init__(engine)
        self.damaged = workflow

    def load(self, emitted: Emitted, process: str, ctx: PassContext) -> None:
        """See `Runner`."""
        super().load(emitted, process, ctx)
        self.workflow = self.damaged  # type: ignore[assignment]  # plain data


@dataclass
class Figures:
    """What was counted."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    lines: list[str] = field(default_factory=list)
    reachable: int = 0
    reached: int = 0

    def count(self, kind: str, is_fault: bool, reported: bool, text: str) -> None:
        """Count one fault."""
        verdict = {
            (True, True): "reported", (True, False): "missed",
            (False, True): "false alarm", (False, False): "no fault",
        }[is_fault, reported]  # fmt: skip
        self.counts[kind, verdict] += 1
        if verdict in ("missed", "false alarm"):
            self.lines.append(f"{verdict}: {kind}: {text}")

    def total(self, verdict: str) -> int:
        """The number of faults with a verdict."""
        return sum(n for (_, v), n in self.counts.items() if v == verdict)


def report_of(subject: Subject, runner: LocalRunner) -> ReplayReport:
    """What `run --all-paths` reports."""
    return replay_model(subject.model, subject.emitted, runner, subject.ctx)


def describe_report(report: ReplayReport) -> str:
    """The first thing that a report complains about."""
    wrong = next((r for r in report.runs if r.verdict != "equal"), None)
    texts = [f"{f.kind} {f.element}: {f.message}" for f in report.faults]
    return "; ".join([*texts, *([f"{wrong.verdict}: {wrong.divergence}"] if wrong else [])])


def count_branches(subject: Subject, report: ReplayReport, figures: Figures) -> None:
    """Compare the branches that the program takes for any input with those that runs take."""
    taken = list_taken(subject.steps)
    executed = {name for run in report.runs if run.verdict == "equal" for name in run.executed}
    figures.reachable += len(taken)
    figures.reached += len(taken & executed)
    for name in sorted(taken - executed):
        figures.lines.append(f"not reached: {name}")


def play(models: int, each: int, seed: int, folder: Path, progress: bool = False) -> Figures:
    """Plant `each` faults into each of some models, and as many into programs."""
    registry = Registry(outside=False)
    figures = Figures()
    with LocalEngine() as truth, LocalEngine() as own:
        for number in range(models):
            chance = random.Random(f"{seed}/{number}")
            steps = make_open_program(chance)
            subject = Subject(steps, folder / str(number), registry)
            shown = subject.differs(subject.workflow, truth)
            report = report_of(subject, LocalRunner(own))
            figures.count(
                "none", bool(shown), not report.ok, f"{number}: {shown or describe_report(report)}"
            )
            count_branches(subject, report, figures)
            faults = list(list_workflow_faults(subject.workflow))
            for kind, workflow in chance.sample(faults, min(each, len(faults))):
                shown = subject.differs(workflow, truth)
                report = report_of(subject, Damaged(own, workflow))
                if not shown and not report.ok:
                    shown = subject.differs(workflow, truth, reported=True)
                text = f"{number}: {shown or describe_report(report)}"
                figures.count(kind, bool(shown), not report.ok, text)
            for kind in MODEL_FAULTS:
                planted = plant_model_fault(steps, kind, chance)
                if planted is None:
                    continue
                faulty = Subject(planted, folder / f"{number}{kind[0]}", registry)
                report = report_of(faulty, LocalRunner(own))
                outcomes = {
                    meaning(planted, {"a": a, "b": b})[0]
                    for a, b in itertools.product(WIDE[::3], WIDE[::5])
                }
                closed = set(list_branches(planted)) - list_taken(planted)
                is_fault = bool(closed) or outcomes != {"success"}
                figures.count(f"model: {kind}", is_fault, not report.ok, f"{number}: {outcomes}")
            if progress:
                print(f"{number + 1} of {models} models", file=sys.stderr)
    return figures


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--models", type=int, default=30)
    parser.add_argument("--each", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = play(given.models, given.each, given.seed, Path(folder), progress=given.show)
    if given.show:
        print("\n".join(figures.lines))
    kinds = sorted({kind for kind, _ in figures.counts})
    verdicts = ("reported", "missed", "false alarm", "no fault")
    print(f"{'fault':30}" + "".join(f"{v:>13}" for v in verdicts))
    for kind in kinds:
        print(f"{kind:30}" + "".join(f"{figures.counts[kind, v]:13}" for v in verdicts))
    print(f"{'all':30}" + "".join(f"{figures.total(v):13}" for v in verdicts))
    share = figures.reached / max(figures.reachable, 1)
    print(f"branches reached: {figures.reached} of {figures.reachable} ({share:.1%})")
    observable = figures.total("reported") + figures.total("missed")
    too_many = figures.total("missed") > MOST_MISSED * observable
    return int(too_many or figures.total("false alarm") > 0 or share < LEAST_REACHED)


if __name__ == "__main__":
    sys.exit(main())
