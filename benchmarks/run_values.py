"""Values of every variable in runs, against a meaning of the process that is written in Python.

`python benchmarks/run_values.py [--models N] [--seed N]` draws processes of Camunda 7 with
scripts, choices, placeholders, calls with mappings, sub-processes, and scripts that throw errors
with and without an event that catches them: on the script, on the sub-process around it, or on the
call of its process. `run` plays each of them.

Truth is independent of `run`: this file executes the program from which it wrote the process. For
the inputs of each run the last item on n8n's own engine has to have the program's variables, and
the run has to end as the program does. A step that some input of a grid reaches must not be called
unreached, and a step that the program passes must not be called failing.

Exit code 1 for a wrong value, a run called different, or a false finding.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.engine.runs import EngineRun
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model
from orgflow.evaluation.replay import replay_model

from orgflow_ir.flow.token_game.runs import Run
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.plugins.runners import RunResult

Values = dict[str, Any]
Taken = tuple[str, str, Any]
"""A script that was executed, the variable that it set, and its value."""

CODES = ("LOW", "HIGH")
GRID = (-3, 0, 2, 5, 6, 9, 10, 14, 15, 21, 30)
SIGNS = ("<", "<=", ">", ">=", "==", "!=")


class ThrownError(Exception):
    """An error of the process, by its code."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass
class Condition:
    """`left sign bound`."""

    left: str
    sign: str
    bound: int

    @property
    def text(self) -> str:
        """In Groovy and JUEL."""
        return f"{self.left} {self.sign} {self.bound}"

    def holds(self, values: Values) -> bool:
        """Its truth."""
        left = values[self.left]
        return bool({
            "<": left < self.bound, "<=": left <= self.bound, ">": left > self.bound,
            ">=": left >= self.bound, "==": left == self.bound, "!=": left != self.bound,
        }[self.sign])  # fmt: skip


@dataclass
class Catch:
    """An error event: its code (`None`: any), and what follows it."""

    name: str
    code: str | None
    then: list[Step]


@dataclass
class Step:
    """A step of a program; `kind` selects the fields that it uses."""

    kind: str
    name: str
    target: str = ""
    source: str = ""
    factor: int = 1
    more: int = 0
    test: Condition | None = None
    code: str = ""
    then: list[Step] = field(default_factory=list)
    other: list[Step] = field(default_factory=list)
    catches: list[Catch] = field(default_factory=list)
    inside: list[Step] = field(default_factory=list)
    gives: str = ""
    takes: str = ""

    def compute(self, values: Values) -> None:
        """Set its variable."""
        values[self.target] = values[self.source] * self.factor + self.more


def execute(steps: Sequence[Step], values: Values, taken: list[Taken], given: Values) -> None:
    """The meaning of a program. Raises `ThrownError`."""
    for step in steps:
        taken.append(("", "", None))
        try:
            match step.kind:
                case "script":
                    taken[-1] = (step.name, step.target, None)
                    step.compute(values)
                    taken[-1] = (step.name, step.target, values[step.target])
                case "throw":
                    taken[-1] = (step.name, "", None)
                    if step.factor > 2:  # what is set before an error stays
                        values[f"{step.target}0"] = 7
                    if step.test is not None and step.test.holds(values):
                        raise ThrownError(step.code)
                    step.compute(values)
                    taken[-1] = (step.name, step.target, values[step.target])
                case "ask":
                    values.update(given.get(step.name, {}))
                case "choice":
                    assert step.test is not None
                    branch = step.then if step.test.holds(values) else step.other
                    execute(branch, values, taken, given)
                case "call":
                    inner = {step.gives: values[step.source]}
                    execute(step.inside, inner, taken, given)
                    values[step.target] = inner[step.takes]
                case "sub":
                    execute(step.inside, values, taken, given)
        except ThrownError as error:
            exact = (c for c in step.catches if c.code == error.code)
            caught = next(exact, next((c for c in step.catches if c.code is None), None))
            if caught is None:
                raise
            execute(caught.then, values, taken, given)


class Drawing:
    """Draws one program."""

    def __init__(self, chance: random.Random) -> None:
        self.chance, self.count = chance, itertools.count(1)
        self.asked: list[str] = []

    def number(self) -> int:
        """A number for names."""
        return next(self.count)

    def condition(self, names: Sequence[str]) -> Condition:
        """Over one of the variables."""
        return Condition(
            self.chance.choice(names), self.chance.choice(SIGNS[: 4 if len(names) > 3 else 6]),
            self.chance.choice((0, 2, 5, 6, 10, 15, 21)),
        )  # fmt: skip

    def program(self, names: list[str], length: int, depth: int) -> list[Step]:
        """Some steps; adds the variables that they surely set."""
        return [self.step(names, depth) for _ in range(length)]

    def handlers(self, names: Sequence[str]) -> list[Catch]:
        """Error events for some of the codes."""
        codes: list[str | None] = [c for c in CODES if self.chance.random() < 0.6]
        if self.chance.random() < 0.5:
            codes.append(None)
        return [Catch(f"B{self.number()}", code, [self.script([*names])]) for code in codes]

    def script(self, names: list[str]) -> Step:
        """Sets a variable to a linear expression of another one."""
        number = self.number()
        source = self.chance.choice(names)
        name = self.chance.choice(("r", "q")) if self.chance.random() < 0.3 else f"x{number}"
        return Step(
            "script", f"S{number}", name, source, self.chance.choice((1, 2, -1)),
            self.chance.choice((0, 1, 3)),
        )  # fmt: skip

    def throwing(self, names: list[str], target: str) -> Step:
        """A script that may throw an error of a code."""
        number = self.number()
        return Step(
            "throw", f"T{number}", target, self.chance.choice(names), self.chance.choice((1, 2, 3)),
            self.chance.choice((0, 4)), self.condition(names), self.chance.choice(CODES),
        )  # fmt: skip

    def step(self, names: list[str], depth: int) -> Step:
        """One step."""
        kinds = ["script", "throw", "ask", "choice", "call", "sub"]
        kind = self.chance.choice(kinds if depth else ["script", "throw", "ask"])
        number = self.number()
        match kind:
            case "script":
                step = self.script(names)
                if step.target.startswith("x"):
                    names.append(step.target)
                return step
            case "throw":
                step = self.throwing(names, f"y{number}")
                step.catches = self.handlers(names)
                return step
            case "ask":
                name = f"p{number}"
                self.asked.append(name)
                names.append(name)
                return Step("ask", f"A{number}", name)
            case "choice":
                return Step(
                    "choice", f"G{number}", test=self.condition(names),
                    then=self.program([*names], self.chance.choice((1, 2)), depth - 1),
                    other=self.program([*names], self.chance.choice((0, 1)), depth - 1),
                )  # fmt: skip
            case "call":
                source = self.chance.choice(names)
                # Variables of the called process may have the names of the calling one's.
                gives, takes = self.chance.choice(("v", "a", "b")), self.chance.choice(("w", "r"))
                first = self.throwing([gives], takes)
                first.catches = self.handlers([gives])[:1] if self.chance.random() < 0.4 else []
                last = Step("script", f"S{self.number()}", takes, gives, 2, 1)
                catches = self.handlers(names)
                return Step(
                    "call", f"C{number}", f"z{number}", source, inside=[first, last],
                    catches=catches, gives=gives, takes=takes,
                )  # fmt: skip
            case _:
                inside = [self.script([*names]), self.throwing(names, f"y{number}")]
                return Step("sub", f"U{number}", inside=inside, catches=self.handlers(names))


class Writing:
    """Writes a program as BPMN of Camunda 7."""

    def __init__(self) -> None:
        self.count = itertools.count(1)
        self.processes: list[str] = []

    def fresh(self, prefix: str) -> str:
        """A new id."""
        return f"{prefix}_{next(self.count)}"

    def flow(self, source: str, target: str, condition: str = "", default: str = "") -> str:
        """A flow; with a condition of JUEL."""
        asked = (
            f'<conditionExpression xsi:type="tFormalExpression">{escape(condition)}'
            "</conditionExpression>"
        )
        ident = default or self.fresh("f")
        return (
            f'<sequenceFlow id="{ident}" sourceRef="{source}" targetRef="{target}">'
            f"{asked if condition else ''}</sequenceFlow>"
        )

    def script(self, step: Step) -> str:
        """The Groovy of a script."""
        code = ""
        if step.kind == "throw":
            assert step.test is not None
            if step.factor > 2:
                code += f'execution.setVariable("{step.target}0", 7)\n'
            thrown = f'throw new org.camunda.bpm.engine.delegate.BpmnError("{step.code}")'
            code += f"if ({step.test.text}) {{\n  {thrown}\n}}\n"
        more = f" + {step.more}" if step.more else ""
        code += f'execution.setVariable("{step.target}", {step.source} * {step.factor}{more})'
        return (
            f'<scriptTask id="{step.name}" name="{step.name}" scriptFormat="groovy"><script>'
            f"{escape(code)}</script></scriptTask>"
        )

    def sequence(self, steps: Sequence[Step], begin: str) -> tuple[list[str], str]:
        """The elements of steps behind an element, and the last of them."""
        parts: list[str] = []
        at = begin
        for step in steps:
            more, at = self.step(step, at)
            parts += more
        return parts, at

    def step(self, step: Step, at: str) -> tuple[list[str], str]:
        """The elements of a step behind an element, and the last of them."""
        match step.kind:
            case "script" | "throw":
                parts = [self.script(step)]
            case "ask":
                return [f'<task id="{step.name}" name="{step.name}"/>', self.flow(at, step.name),
                        *self.reading(step)], f"{step.name}j"  # fmt: skip
            case "choice":
                return self.choice(step, at)
            case "call":
                self.processes.append(self.process(f"P{step.name}", step.inside))
                parts = [
                    f'<callActivity id="{step.name}" name="{step.name}" '
                    f'calledElement="P{step.name}"><extensionElements>'
                    f'<camunda:in source="{step.source}" target="{step.gives}"/>'
                    f'<camunda:out source="{step.takes}" target="{step.target}"/>'
                    "</extensionElements></callActivity>"
                ]
            case _:
                begin, end = self.fresh("us"), self.fresh("ue")
                inside, last = self.sequence(step.inside, begin)
                parts = [
                    f'<subProcess id="{step.name}" name="{step.name}"><startEvent id="{begin}"/>',
                    *inside, f'<endEvent id="{end}"/>', self.flow(last, end), "</subProcess>",
                ]  # fmt: skip
        return self.caught(step, [*parts, self.flow(at, step.name)])

    def reading(self, step: Step) -> list[str]:
        """A choice that reads what a placeholder outputs, so that it is an input of a run."""
        asks, join, default = f"{step.name}g", f"{step.name}j", self.fresh("f")
        return [
            f'<exclusiveGateway id="{asks}" name="{asks}?" default="{default}"/>',
            f'<exclusiveGateway id="{join}"/>', self.flow(step.name, asks),
            self.flow(asks, join, f"${{{step.target} > 12}}"),
            f'<intermediateThrowEvent id="{step.name}k"/>',
            self.flow(asks, f"{step.name}k", default=default), self.flow(f"{step.name}k", join),
        ]  # fmt: skip

    def choice(self, step: Step, at: str) -> tuple[list[str], str]:
        """A gateway, its branches, and where they come together."""
        assert step.test is not None
        join, default = self.fresh("j"), self.fresh("f")
        parts = [
            f'<exclusiveGateway id="{step.name}" name="{step.name}?" default="{default}"/>',
            f'<exclusiveGateway id="{join}"/>', self.flow(at, step.name),
        ]  # fmt: skip
        for branch, condition in ((step.then, f"${{{step.test.text}}}"), (step.other, "")):
            first = self.fresh("k")
            parts.append(f'<intermediateThrowEvent id="{first}"/>')
            parts.append(
                self.flow(step.name, first, condition, default="" if condition else default)
            )
            more, last = self.sequence(branch, first)
            parts += [*more, self.flow(last, join)]
        return parts, join

    def caught(self, step: Step, parts: list[str]) -> tuple[list[str], str]:
        """A step with its error events, and where all ways come together."""
        if not step.catches:
            return parts, step.name
        join = self.fresh("j")
        parts += [f'<exclusiveGateway id="{join}"/>', self.flow(step.name, join)]
        for catch in step.catches:
            ref = f' errorRef="e_{catch.code}"' if catch.code else ""
            more, last = self.sequence(catch.then, catch.name)
            parts += [
                f'<boundaryEvent id="{catch.name}" name="{catch.name}" '
                f'attachedToRef="{step.name}"><errorEventDefinition{ref}/></boundaryEvent>',
                *more, self.flow(last, join),
            ]  # fmt: skip
        return parts, join

    def process(self, name: str, steps: Sequence[Step]) -> str:
        """One process."""
        parts, last = self.sequence(steps, f"{name}s")
        return (
            f'<process id="{name}" name="{name}" isExecutable="true" '
            f'camunda:historyTimeToLive="P1D"><startEvent id="{name}s" name="Start"/>'
            f'{"".join(parts)}<endEvent id="{name}e" name="End {name}"/>'
            f"{self.flow(last, f'{name}e')}</process>"
        )

    def model(self, steps: Sequence[Step]) -> str:
        """The whole file."""
        main = self.process("M", steps)
        errors = "".join(f'<error id="e_{c}" name="{c}" errorCode="{c}"/>' for c in CODES)
        return (
            '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" '
            'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
            'xmlns:camunda="http://camunda.org/schema/1.0/bpmn" '
            'xmlns:modeler="http://camunda.org/schema/modeler/1.0" '
            'modeler:executionPlatform="Camunda Platform" '
            'modeler:executionPlatformVersion="7.21.0" id="d" targetNamespace="t">'
            f"{errors}{main}{''.join(self.processes)}</definitions>"
        )


class Recording(LocalRunner):
    """Keeps what the engine did in each run, with the inputs of the run."""

    def __init__(self, engine: LocalEngine) -> None:
        super().__init__(engine)
        self.kept: list[tuple[Run, dict[str, Any], EngineRun]] = []

    def _judged_result(self, engine_run: EngineRun, run: Run) -> RunResult:
        walk = self._walk_of(run)
        if walk is not None:
            # The inputs of the start, and what each placeholder outputs; each runs once.
            given: dict[str, Any] = {}
            for slot, value in walk.slots.items():
                given.setdefault(slot.site, {})[slot.path[0]] = value
            self.kept.append((run, given, engine_run))
        return super()._judged_result(engine_run, run)


def describe_truth(steps: Sequence[Step], given: Values) -> tuple[str, list[Taken]]:
    """How a program ends for some inputs, and the scripts that it executes."""
    values: Values = dict(given.get("Ms", {}))
    taken: list[Taken] = []
    try:
        execute(steps, values, taken, given)
    except (ThrownError, KeyError):  # a script that reads what nobody has set fails, too
        return "error", [item for item in taken if item[0]]
    return "success", [item for item in taken if item[0]]


def compare_run(steps: Sequence[Step], given: Values, run: EngineRun, names: set[str]) -> str:
    """What an execution did otherwise than the program, in words; empty for nothing."""
    status, taken = describe_truth(steps, given)
    if run.status != status:
        return f"{given}: it ended with {run.status} ({run.error}), the program with {status}"
    executed = [node for node in run.order if node.node in names]
    if [node.node for node in executed] != [name for name, *_ in taken]:
        return f"{given}: it ran {[node.node for node in executed]}, the program {taken}"
    for node, (name, variable, value) in zip(executed, taken, strict=True):
        if not variable:
            continue
        items = [item for output in node.items or () for item in output]
        actual = items[0].get(variable) if items else None
        if actual != value:
            return f"{given}: {name} sets `{variable}` to {actual!r}, in the program to {value!r}"
    return ""


def list_scripts(steps: Sequence[Step]) -> Iterator[str]:
    """The names of all scripts of a program."""
    for step in steps:
        if step.kind in ("script", "throw"):
            yield step.name
        caught = [s for c in step.catches for s in c.then]
        yield from list_scripts([*step.then, *step.other, *step.inside, *caught])


def list_reached(steps: Sequence[Step], asked: Sequence[str]) -> dict[str, bool]:
    """The scripts that some inputs of a grid reach, and whether one of these runs goes on to the
    end."""
    reached: dict[str, bool] = {}
    names = ["a", "b", *asked[:2]]
    rest = {f"A{name[1:]}": {name: 1} for name in asked[2:]}
    for values in itertools.product(GRID, repeat=len(names)):
        start = dict(zip(names[:2], values, strict=False))
        more = {f"A{n[1:]}": {n: v} for n, v in zip(names[2:], values[2:], strict=True)}
        status, taken = describe_truth(steps, {"Ms": start, **rest, **more})
        for name, *_ in taken:
            reached[name] = reached.get(name, False) or status == "success"
    return reached


def check_model(steps: list[Step], asked: Sequence[str], folder: Path, engine: LocalEngine,
                registry: Registry, counts: Counter[str]) -> Iterator[str]:  # fmt: skip
    """What `run` says wrongly about one program."""
    path = folder / "model.bpmn"
    path.write_text(Writing().model(steps), "utf-8")
    ctx = PassContext(registry=registry)
    model = load_model(str(path), registry, ctx)
    assert model is not None
    backend = registry.backends["n8n"]
    options = {"people": "placeholder"}
    emitted = compile_model(model, backend, ctx, options=options, allow_lossy=True)
    if emitted is None:
        counts["refused"] += 1
        yield f"refused: {[d.message for d in ctx.diagnostics if d.severity.value == 'error'][:2]}"
        return
    runner = Recording(engine)
    report = replay_model(model, emitted, runner, ctx)
    names = set(list_scripts(steps))
    counts["models"] += 1
    for judged in report.runs:
        counts[judged.verdict] += 1
        if judged.verdict in ("different", "slow", "unplayable") and judged.process == "M":
            yield f"{judged.verdict}: {judged.divergence}"
    for run, given, engine_run in runner.kept:
        if run.process == "M" and run.outcome in ("completed", "failed"):
            counts["compared"] += 1
            wrong = compare_run(steps, given, engine_run, names)
            if wrong:
                yield wrong
    reached = list_reached(steps, asked)
    flows = {f.id: f.target for p in model.processes for s in p.scopes() for f in s.flows}
    for fault in report.faults:
        if fault.process != "M":
            continue
        counts[f"finding {fault.kind}"] += 1
        element = flows.get(fault.element, fault.element)
        if fault.kind == "unreached" and element in reached:
            yield f"called unreached: {element}"
        if fault.kind != "unreached" and reached.get(element):
            yield f"called failing ({fault.kind}): {element}: {fault.message}"


def check_seeds(
    engine: LocalEngine, folder: Path, *, seed: int, models: int
) -> tuple[Counter[str], list[str]]:
    """What was counted in some models, and what is wrong."""
    registry = Registry(outside=False)
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for number in range(models):
        chance = random.Random(f"{seed}/{number}")
        drawing = Drawing(chance)
        steps = drawing.program(["a", "b"], chance.choice((2, 3, 4)), 2)
        place = folder / str(number)
        place.mkdir()
        texts = check_model(steps, drawing.asked, place, engine, registry, counts)
        wrong += [f"model {number}: {text}" for text in texts]
    return counts, wrong


def main() -> int:
    """Print what is wrong, and the counts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--models", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with LocalEngine() as engine, tempfile.TemporaryDirectory() as folder:
        counts, wrong = check_seeds(engine, Path(folder), seed=given.seed, models=given.models)
    for text in wrong:
        print(text)
    for name, count in sorted(counts.items()):
        print(f"{name:30}{count:6}")
    print(f"{'wrong':30}{len(wrong):6}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
