"""Branches that `run` calls unreached and steps that it calls failing, against random executions.

`python benchmarks/run_reach.py [--models N] [--each N] [--seed N] [--corpora] [--show]`
draws models with conditions over numbers, texts, truth values, lists, objects and dates in the
languages of Camunda 7 and 8, with scripts, placeholders, forms and repetitions; `--corpora` adds
the examples, PMo and Camunda's executable models.

Truth is n8n's own engine. Each compiled workflow is executed with random outputs of the start and
of everything that is open in it. A branch that such an execution takes must not be called
unreached, and an execution that passes a step must not contradict that every run fails there. Some
drawn branches are dead by construction: those have to be called unreached.

Exit code 1 for a false word, or if more than 2 % of the dead branches are not reported.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.replay.data_walk import used_constants
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model
from orgflow.evaluation.replay import ReplayReport, replay_model

from orgflow_ir.flow.token_game.stimulus import Payload, Stimulus
from orgflow_ir.flow.token_game.stub_data import Unplayable
from orgflow_ir.model import Model, Process
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.program.syntax import variables
from orgflow_ir.targets import executable_processes
from orgflow_ir.targets.artifact import Emitted
from orgflow_ir.work.statements import expressions, read

Json = dict[str, Any]

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"
MOST_MISSED = 0.02
MOST_VISITS = 4

# -- conditions ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Condition:
    """A condition over variables, with values under which it holds and does not hold."""

    text: str
    yes: Json
    no: Json


JUEL = (
    Condition("n > 3", {"n": 5}, {"n": 1}),
    Condition("n % 3 == 1", {"n": 7}, {"n": 6}),
    Condition("n * 2 + 1 == 13", {"n": 6}, {"n": 1}),
    Condition("n * n == 49", {"n": 7}, {"n": 3}),
    Condition("n + m == 10", {"n": 4, "m": 6}, {"n": 1, "m": 1}),
    Condition("n > m", {"n": 4, "m": 2}, {"n": 1, "m": 1}),
    Condition("n - m > 100", {"n": 300, "m": 2}, {"n": 1, "m": 1}),
    Condition("n >= 2.5 && n < 2.75", {"n": 2.6}, {"n": 9}),
    Condition('s == "abc"', {"s": "abc"}, {"s": "x"}),
    Condition("s == t", {"s": "q", "t": "q"}, {"s": "a", "t": "b"}),
    Condition('s.startsWith("ab")', {"s": "abz"}, {"s": "x"}),
    Condition('s.contains("xy")', {"s": "axyb"}, {"s": "q"}),
    Condition("s.length() > 7", {"s": "abcdefghi"}, {"s": "a"}),
    Condition('s.toUpperCase() == "OPEN"', {"s": "open"}, {"s": "shut"}),
    Condition("b", {"b": True}, {"b": False}),
    Condition("!b && n > 3", {"b": False, "n": 9}, {"b": True, "n": 9}),
    Condition("o.total >= 100", {"o": {"total": 150}}, {"o": {"total": 5}}),
    Condition('o.name == "ann"', {"o": {"name": "ann"}}, {"o": {"name": "bob"}}),
    Condition("empty l", {"l": []}, {"l": [1]}),
    Condition("l.size() > 4", {"l": [1, 2, 3, 4, 5]}, {"l": [1]}),
)  # fmt: skip

FEEL = (
    Condition("n > 3", {"n": 5}, {"n": 1}),
    Condition("modulo(n, 3) = 1", {"n": 7}, {"n": 6}),
    Condition("n * 2 + 1 = 13", {"n": 6}, {"n": 1}),
    Condition("n ** 2 = 49", {"n": 7}, {"n": 3}),
    Condition("n in [12..15]", {"n": 13}, {"n": 3}),
    Condition("n + m = 10", {"n": 4, "m": 6}, {"n": 1, "m": 1}),
    Condition("n > m", {"n": 4, "m": 2}, {"n": 1, "m": 1}),
    Condition('s = "abc"', {"s": "abc"}, {"s": "x"}),
    Condition('starts with(s, "ab")', {"s": "abz"}, {"s": "x"}),
    Condition('contains(s, "xy")', {"s": "axyb"}, {"s": "q"}),
    Condition("string length(s) > 7", {"s": "abcdefghi"}, {"s": "a"}),
    Condition('upper case(s) = "OPEN"', {"s": "open"}, {"s": "shut"}),
    Condition('s + t = "ab"', {"s": "a", "t": "b"}, {"s": "x", "t": "y"}),
    Condition('substring(s, 2, 2) = "xy"', {"s": "axyb"}, {"s": "q"}),
    Condition('matches(s, "^[0-9]{3}$")', {"s": "123"}, {"s": "q"}),
    Condition("number(s) > 30", {"s": "31"}, {"s": "3"}),
    Condition("b", {"b": True}, {"b": False}),
    Condition("not(b)", {"b": False}, {"b": True}),
    Condition("o.total >= 100", {"o": {"total": 150}}, {"o": {"total": 5}}),
    Condition('o.name = "ann"', {"o": {"name": "ann"}}, {"o": {"name": "bob"}}),
    Condition("count(l) > 4", {"l": [1, 2, 3, 4, 5]}, {"l": [1]}),
    Condition("sum(l) > 40", {"l": [30, 20]}, {"l": [1]}),
    Condition("list contains(l, 17)", {"l": [17]}, {"l": [1]}),
    Condition("some x in l satisfies x > 30", {"l": [31]}, {"l": [1]}),
    Condition("every x in l satisfies x > 30", {"l": [31]}, {"l": [1]}),
    Condition("l[2] = 9", {"l": [1, 9]}, {"l": [1]}),
    Condition("count(l[item > 6]) = 2", {"l": [7, 8, 1]}, {"l": [1]}),
    Condition('date(d) > date("2024-01-01")', {"d": "2025-02-03"}, {"d": "2020-01-01"}),
    Condition("date(d).year = 2031", {"d": "2031-02-03"}, {"d": "2020-01-01"}),
    Condition("if b then n > 3 else n < 2", {"b": True, "n": 9}, {"b": True, "n": 1}),
)  # fmt: skip

DEAD = {
    "juel": ("n > 5 && n < 3", "n > 5 && n < 6 && n == 7", 's == "a" && s == "b"', "b && !b"),
    "feel": ("n > 5 and n < 3", "n in [1..3] and n > 4", 's = "a" and s = "b"', "b and not(b)"),
}
"""Conditions that no values satisfy."""

START: Json = {
    "n": 1, "m": 1, "s": "x", "t": "y", "b": False, "o": {"total": 1, "name": "x"}, "l": [1],
    "d": "2020-01-01",
}  # fmt: skip

HEAD = {
    "juel": (
        '<?xml version="1.0"?><definitions '
        'xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
        'xmlns:modeler="http://camunda.org/schema/modeler/1.0" '
        'xmlns:camunda="http://camunda.org/schema/1.0/bpmn" '
        'modeler:executionPlatform="Camunda Platform" modeler:executionPlatformVersion="7.21.0" '
        'id="d" targetNamespace="t">'
    ),
    "feel": (
        '<?xml version="1.0"?><definitions '
        'xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
        'xmlns:modeler="http://camunda.org/schema/modeler/1.0" '
        'xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" '
        'modeler:executionPlatform="Camunda Cloud" modeler:executionPlatformVersion="8.6.0" '
        'id="d" targetNamespace="t">'
    ),
}


def escape(text: str) -> str:
    """Text of XML."""
    for sign, name in (("&", "amp"), ("<", "lt"), (">", "gt"), ('"', "quot")):
        text = text.replace(sign, f"&{name};")
    return text


@dataclass
class Drawing:
    """A drawn model.

    Attributes:
        language: of its conditions.
        chance: the source of its choices.
        nodes: its elements as XML.
        flows: its flows as XML.
        pool: values of variables under which its conditions hold or do not hold.
        dead: ids of flows that no values reach.
    """

    language: str
    chance: random.Random
    nodes: list[str] = field(default_factory=list)
    flows: list[str] = field(default_factory=list)
    pool: dict[str, list[Any]] = field(default_factory=dict)
    dead: set[str] = field(default_factory=set)
    number: int = 0

    def fresh(self, prefix: str) -> str:
        self.number += 1
        return f"{prefix}{self.number}"

    def connect(self, source: str, target: str, condition: str = "") -> str:
        id, inner = self.fresh("f"), ""
        if condition:
            text = f"${{{condition}}}" if self.language == "juel" else f"={condition}"
            inner = (
                '<conditionExpression xsi:type="tFormalExpression">'
                f"{escape(text)}</conditionExpression>"
            )
        self.flows.append(
            f'<sequenceFlow id="{id}" sourceRef="{source}" targetRef="{target}">'
            f"{inner}</sequenceFlow>"
        )
        return id

    def marker(self, label: str) -> str:
        id = self.fresh("m")
        self.nodes.append(f'<intermediateThrowEvent id="{id}" name="{label} {id}"/>')
        return id

    def note(self, values: Json) -> None:
        for name, value in values.items():
            self.pool.setdefault(name, []).append(value)

    # -- blocks ------------------------------------------------------------------------------------

    def draw(self) -> str:
        """Draw the model; its XML."""
        self.note(START)
        self.nodes.append('<startEvent id="S"/>')
        here = "S"
        for _ in range(self.chance.randint(2, 5)):
            here = self.block(here, 2)
        self.nodes.append('<endEvent id="E"/>')
        self.connect(here, "E")
        body = "\n".join([*self.nodes, *self.flows])
        return (
            f'{HEAD[self.language]}\n<process id="P" isExecutable="true">\n{body}\n</process>\n'
            "</definitions>\n"
        )

    def block(self, here: str, depth: int) -> str:
        kinds = ["choice", "choice", "script", "task", "repeated"] if depth else ["script", "task"]
        match self.chance.choice(kinds):
            case "choice":
                return self.choice(here, depth)
            case "script":
                return self.script(here)
            case "task":
                return self.task(here)
            case _:
                return self.repeated(here)

    def choice(self, here: str, depth: int) -> str:
        """An exclusive gateway; some of its branches are dead."""
        split, join = self.fresh("g"), self.fresh("j")
        known = JUEL if self.language == "juel" else FEEL
        drawn = self.chance.sample(known, self.chance.randint(1, 2))
        self.connect(here, split)
        for condition in drawn:
            self.note(condition.yes)
            self.note(condition.no)
            marker = self.marker("yes")
            self.connect(split, marker, condition.text)
            inside = marker
            if depth and self.chance.random() < 0.4:
                inside = self.block(inside, depth - 1)
            self.connect(inside, join)
        if self.chance.random() < 0.3:
            marker = self.marker("dead")
            self.dead.add(self.connect(split, marker, self.chance.choice(DEAD[self.language])))
            self.connect(marker, join)
        marker = self.marker("otherwise")
        default = self.connect(split, marker)
        self.connect(marker, join)
        self.nodes.append(f'<exclusiveGateway id="{split}" default="{default}"/>')
        self.nodes.append(f'<exclusiveGateway id="{join}"/>')
        return join

    def script(self, here: str) -> str:
        """A script that changes a variable of a type."""
        id = self.fresh("s")
        juel = {
            "n": "n + 4",
            "m": "n * 3",
            "s": 's + "z"',
            "t": "s",
            "b": "n > 4",
        }
        feel = {
            "n": "n + 4",
            "m": "n * 3",
            "s": 's + "z"',
            "t": "upper case(s)",
            "b": "n > 4",
            "l": "append(l, n)",
            "o": "{total: n * 10, name: s}",
        }
        if self.language == "juel":
            name, code = self.chance.choice(list(juel.items()))
            self.nodes.append(
                f'<scriptTask id="{id}" name="Script {id}" scriptFormat="groovy"><script>'
                f"{escape(f'execution.setVariable({chr(34)}{name}{chr(34)}, {code})')}"
                "</script></scriptTask>"
            )
        else:
            name, code = self.chance.choice(list(feel.items()))
            self.nodes.append(
                f'<scriptTask id="{id}" name="Script {id}"><extensionElements>'
                f'<zeebe:script expression="{escape("=" + code)}" resultVariable="{name}"/>'
                "</extensionElements></scriptTask>"
            )
        self.connect(here, id)
        return id

    def task(self, here: str) -> str:
        """A step whose output is open."""
        id = self.fresh("u")
        kind = self.chance.choice(["userTask", "task"])
        self.nodes.append(f'<{kind} id="{id}" name="Do {id}"/>')
        self.connect(here, id)
        return id

    def repeated(self, here: str) -> str:
        """A repeated step, in Camunda 8 with a list of results that a gateway reads."""
        id = self.fresh("r")
        if self.language == "juel":
            self.nodes.append(
                f'<userTask id="{id}" name="Each {id}"><multiInstanceLoopCharacteristics '
                'isSequential="true" camunda:collection="l" camunda:elementVariable="x"/>'
                "</userTask>"
            )
            self.connect(here, id)
            return id
        self.nodes.append(
            f'<serviceTask id="{id}" name="Each {id}"><extensionElements>'
            f'<zeebe:taskDefinition type="w"/></extensionElements>'
            '<multiInstanceLoopCharacteristics isSequential="true"><extensionElements>'
            f'<zeebe:loopCharacteristics inputCollection="=l" inputElement="x" '
            f'outputCollection="res{id}" outputElement="=ok{id}"/>'
            "</extensionElements></multiInstanceLoopCharacteristics></serviceTask>"
        )
        self.note({f"ok{id}": True})
        self.note({f"ok{id}": False})
        self.note({"l": [1, 2]})
        self.connect(here, id)
        split, join = self.fresh("g"), self.fresh("j")
        self.connect(id, split)
        asked = self.chance.choice(
            [f"count(res{id}[item = true]) = 1", f"count(res{id}) = 2", f"res{id}[1] = true"]
        )
        marker = self.marker("yes")
        self.connect(split, marker, asked)
        self.connect(marker, join)
        marker = self.marker("otherwise")
        default = self.connect(split, marker)
        self.connect(marker, join)
        self.nodes.append(f'<exclusiveGateway id="{split}" default="{default}"/>')
        self.nodes.append(f'<exclusiveGateway id="{join}"/>')
        return join


# -- random executions -----------------------------------------------------------------------------


class Fuzzed:
    """Random executions of the workflow of one process."""

    def __init__(
        self, runner: LocalRunner, process: Process, pool: Mapping[str, Sequence[Any]]
    ) -> None:
        self.runner, self.process = runner, process
        self.names = sorted({*pool, *_list_names(runner)})
        constants = list({repr(v): v for v in used_constants(runner._computed)}.values())
        near = [v + d for v in constants if _is_number(v) for d in (1, -1)]
        self.values = [*constants, *near, True, False, 0, 1, "text", [], [1, 2, 3], None]
        self.pool = pool

    def execute(self, chance: random.Random, number: int) -> Iterator[tuple[str, list[str]]]:
        """The status of executions, with the elements that were executed."""
        requests = []
        for _ in range(number):
            start = self.runner.compiled.root.plan
            begins = self.process.id
            starts = [n.id for n in self.process.nodes if n.construct.startswith("event.start")]
            if starts and starts[0] in start.workflow_graph.nodes:
                begins = chance.choice(starts)
            stimuli = [Stimulus(begins, "start")]
            stimuli.append(Stimulus(begins, "data", Payload(values=self._row(chance, self.names))))
            for site, names in self.runner._computed.sites.items():
                given = self.names if names is None else sorted(names)
                for visit in range(1, MOST_VISITS + 1):
                    row = self._row(chance, given, few=names is None)
                    stimuli.append(Stimulus(site, "data", Payload(values=row), visit))
            try:
                requests.append(self.runner.request(tuple(stimuli)))
            except (Unplayable, KeyError, ValueError):
                continue
        for request in requests:
            limits = {"nodes": 400, "ms": 20_000}
            (run,) = self.runner.play_requests([request._replace(limits=limits)])
            result = self.runner._read_result(run)
            yield result.status, [e.element for e in result.executed if e.element is not None]

    def _row(self, chance: random.Random, names: Sequence[str], *, few: bool = False) -> Json:
        row: Json = {}
        for name in names:
            if few and chance.random() < 0.8:
                continue
            known = self.pool.get(name)
            row[name] = chance.choice(known if known else self.values)
        return row


def _list_names(runner: LocalRunner) -> set[str]:
    names: set[str] = set()
    for plan in runner._computed.plans:
        for decision in plan.decisions.values():
            names |= {path[0] for path in decision.coded}
        for work in plan.work.values():
            names |= {needed.path[0] for needed in read(work.statements)}
            names |= {p[0] for tree in expressions(work.statements) for p in variables(tree)}
    return names


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# -- the comparison --------------------------------------------------------------------------------


@dataclass
class Figures:
    """What was compared, by kind, with a line for each false or missing word."""

    counts: Counter[str] = field(default_factory=Counter)
    lines: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether no word is false, and few dead branches are missing."""
        dead = self.counts["dead branches"]
        return not self.counts["false words"] and (
            self.counts["dead branches not reported"] <= MOST_MISSED * dead
        )


def compare_model(
    name: str,
    model: Model,
    emitted: Emitted,
    engine: LocalEngine,
    ctx: PassContext,
    figures: Figures,
    chance: random.Random,
    *,
    each: int,
    pool: Mapping[str, Sequence[Any]] | None = None,
    dead: frozenset[str] = frozenset(),
) -> None:
    """Compare what `run` says of a model with random executions of its workflow."""
    counts = figures.counts
    runner = LocalRunner(engine)
    begun = time.process_time()
    report: ReplayReport = replay_model(model, emitted, runner, ctx)
    counts["milliseconds of run"] += int(1000 * (time.process_time() - begun))
    counts["models"] += 1
    counts["runs"] += len(report.runs)
    for run in report.runs:
        if run.verdict not in ("equal", "fails", "stub"):
            counts["runs that differ"] += 1
            figures.lines.append(f"{name}: a run is {run.verdict}: {run.divergence} {run.error}")
    unreached = {f.element for f in report.faults if f.kind == "unreached"}
    failing = {f.element: f for f in report.faults if f.kind != "unreached"}
    counts["unreached"] += len(unreached)
    counts["failing"] += len(failing)
    counts["not decided"] += sum("no input was found" in reason for _, reason in report.uncovered)
    counts["dead branches"] += len(dead)
    for flow in sorted(dead - unreached):
        counts["dead branches not reported"] += 1
        figures.lines.append(f"{name}: the dead branch {flow} is not reported")
    if not unreached - dead and not failing:
        return
    meant = runner.meaning(model)
    flows = {f.id: f for scope in meant.scopes() for f in scope.flows}
    into = Counter(f.target for f in flows.values())
    for process in executable_processes(meant):
        runner.load(emitted, process.id, ctx)
        fuzzed = Fuzzed(runner, process, pool or {})
        seen: set[str] = set()
        passed: set[str] = set()
        for status, executed in fuzzed.execute(chance, each):
            seen |= set(executed)
            if status == "success":
                passed |= set(executed)
        for flow in sorted(unreached):
            target = flows[flow].target if flow in flows else ""
            if target in seen and into[target] == 1:
                counts["false words"] += 1
                figures.lines.append(f"{name}: {flow} is called unreached, but is taken")
        for element, fault in failing.items():
            if element in passed:
                counts["false words"] += 1
                figures.lines.append(f"{name}: {element} is called {fault.kind}, but one passes it")


def compare_drawings(
    number: int, each: int, seed: int, folder: Path, figures: Figures, registry: Registry
) -> None:
    """Compare drawn models."""
    with LocalEngine() as engine:
        for at in range(number):
            chance = random.Random(f"{seed}/{at}")
            drawing = Drawing("juel" if at % 2 else "feel", chance)
            path = folder / f"{at}" / "model.bpmn"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(drawing.draw(), encoding="utf-8")
            ctx = PassContext(registry=registry)
            model = load_model(str(path), registry, ctx)
            emitted = model and compile_model(model, registry.backends["n8n"], ctx)
            if model is None or emitted is None:
                figures.counts["not compiled"] += 1
                figures.lines.append(f"{at}: {[d.message for d in ctx.diagnostics][:2]}")
                continue
            compare_model(
                f"model {at}", model, emitted, engine, ctx, figures, chance, each=each,
                pool=drawing.pool, dead=frozenset(drawing.dead),
            )  # fmt: skip


def compare_corpora(
    each: int, seed: int, figures: Figures, registry: Registry, folders: Sequence[Path]
) -> None:
    """Compare the models of folders."""
    paths = [
        path
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.name.endswith((".bpmn", ".bpmn20.xml"))
    ]
    backend = registry.backends["n8n"]
    with LocalEngine() as engine:
        for path in paths:
            ctx = PassContext(registry=registry)
            model = load_model(str(path), registry, ctx)
            emitted = model and compile_model(model, backend, ctx)
            if model is None or emitted is None:
                figures.counts["not compiled"] += 1
                continue
            chance = random.Random(f"{seed}/{path.name}")
            compare_model(path.name[-70:], model, emitted, engine, ctx, figures, chance, each=each)


def main() -> int:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=60)
    parser.add_argument("--each", type=int, default=80)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpora", action="store_true")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    registry, figures = Registry(outside=False), Figures()
    with tempfile.TemporaryDirectory() as folder:
        compare_drawings(
            options.models, options.each, options.seed, Path(folder), figures, registry
        )
    if options.corpora:
        folders = [ROOT / "examples", DATA / "pmo" / "bpmn", DATA / "camunda7-executable"]
        compare_corpora(options.each, options.seed, figures, registry, folders)
    if options.show or not figures.ok:
        print("\n".join(figures.lines))
    for kind, count in sorted(figures.counts.items()):
        print(f"{kind:32}{count:8}")
    return 0 if figures.ok else 1


if __name__ == "__main__":
    sys.exit(main())
