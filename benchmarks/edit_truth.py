"""What a workflow does, on n8n's own engine: inputs that reach its branches, and outcomes.

An outcome is what steps of the model get and pass on, what forms ask, what requests and messages
contain, how long waits last, what starts a run, and how the run ends. It knows nothing of the
compiler but the line of a node's notes that names its element. Parameters are read by n8n's own
code, with its defaults.
"""

from __future__ import annotations

import copy
import json
import random
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from orgflow.api import ReadResult
from orgflow.backends.n8n.engine.engine_folder import engine_dir
from orgflow.backends.n8n.engine.local import EngineError, EngineRun, LocalEngine, RunRequest
from orgflow.backends.n8n.engine.node import find_node

Json = dict[str, Any]

TRIED_INPUTS, KEPT_INPUTS = 30, 8
PLAIN_SHARE = 0.4
"""Share of inputs in which every variable is set, to a number: most programs compute."""

FEW_INPUTS = 2
"""Inputs that are played again at a time to see whether a difference stays."""

LIMITS = {"nodes": 400, "ms": 30_000}

OUTSIDE = ("httpRequest", "emailSend", "slack", "microsoftTeams", "gmail")
ASKING = ("wait", "form")
CALLED = ("executeWorkflowTrigger", "errorTrigger")
PRESENTATION = frozenset(
    (
        "outputKey", "renameOutput", "renameFallbackOutput", "notice", "width", "height", "color",
        "content",
    )
)  # fmt: skip
"""Parameters that nobody outside of n8n's editor can see: names of outputs, and looks of notes.
Words and addresses count, since those who fill in a form or call a workflow notice them."""

CREDENTIALS = ("/authentication", "/nodeCredentialType", "/genericAuthType")
"""Parameters of requests about the credential; see `lost_parts`."""

_FIELDS = re.compile(r"/(workflowInputs|columns)/value/")
"""The path of a mapping of fields, whose keys are names of the model's variables."""

_TAG = re.compile(r"^orgflow: (\S+)(?: \((\w+)\))?$", re.MULTILINE)
_NAMES = re.compile(
    r"\bjson\.(\w+)|\bv\.(\w+)|\bgiven\.(\w+)|\bo\.(\w+)|\"name\": ?\"(\w+)\""
    r"|\[\"([^\"\\\]]{1,40})\"\]"
    r"|\"fieldName\": ?\"(\w+)\"|\"fieldLabel\": ?\"([^\"\\]{1,40})\""
)
_TEXTS = re.compile(r'"([^"\\\n]{1,30})"')
_NUMBERS = re.compile(r"(?<![\w.\"])-?\d{1,7}(?:\.\d{1,3})?(?![\w\"])")
_CHOICE = re.compile(r"[Ss]ets (\w+): (.+?)\.?$", re.MULTILINE)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[-+]\d\d:\d\d)")
_ADDRESS = re.compile(r'("webhookUrl": )"[^"]*"')
_INSTANCE = re.compile(r"(?<=-)[0-9a-f]{16}(?=-)")
"""The part of the key of a request that is another one in each run."""

_STEP = re.compile(r'\["([^"]+)", "\w+", (\[[\d, ]*\])')
_SECONDS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400}
_NEAR = 500 * 86400


def kind_of(node: Json) -> str:
    """The type of a node without its package."""
    return str(node["type"]).rpartition(".")[2]


def tag_of(node: Json) -> tuple[str, str]:
    """The element and the role that a node's notes name."""
    match = _TAG.search(str(node.get("notes", "")))
    return ("", "") if match is None else (match[1], match[2] or "")


def is_open(node: Json) -> bool:
    """Whether a node stands for work that somebody fills in."""
    if kind_of(node) in OUTSIDE:
        return True
    return kind_of(node) in ("noOp", "set") and "laceholder" in str(node.get("notes", ""))


@dataclass(eq=False)
class Subject:
    """A model, its workflows by id as compiled with `options`, those in which runs start, and what
    is known of them: inputs, their outcomes, and the errors that `check` reports."""

    name: str
    path: Path
    options: Mapping[str, str]
    model: ReadResult
    workflows: dict[str, Json]
    mains: tuple[str, ...]
    inputs: list[Json] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)
    errors: dict[str, set[str]] = field(default_factory=dict)


class EditTools:
    """n8n's reading of parameters and rewritings of code, in one Node process."""

    def __enter__(self) -> Self:
        script = Path(__file__).with_name("edit_tools.cjs")
        modules = engine_dir() / "node_modules"
        self._process = subprocess.Popen(
            [str(find_node().path), str(script), str(modules)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        )  # fmt: skip
        self._read: dict[str, Json] = {}
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=20)

    def ask(self, **request: Any) -> Any:
        """The answer to one request."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def parameters_of(self, node: Json) -> Json:
        """The parameters that n8n reads for a node: those that it shows, with its defaults."""
        asked = {
            "type": node["type"], "version": node["typeVersion"], "parameters": node["parameters"],
        }  # fmt: skip
        key = json.dumps(asked, sort_keys=True)
        if key not in self._read:
            (answer,) = self.ask(command="parameters", nodes=[asked])
            self._read[key] = node["parameters"] if answer is None else answer
        return self._read[key]

    def versions_of(self, node: Json) -> list[float]:
        """The versions of the type of a node that n8n has."""
        versions: list[float] = self.ask(command="versions", type=node["type"])
        return versions

    def rewritten(self, code: str, kind: str, pick: int, *, expression: bool) -> Any:
        """Code with one rewriting that keeps its meaning; `None` if it has no place for it."""
        return self.ask(command="rewrite", code=code, kind=kind, pick=pick, expression=expression)


# -- inputs ----------------------------------------------------------------------------------------


class InputPool:
    """The values that occur in workflows, from which inputs are drawn."""

    def __init__(self, workflows: Mapping[str, Json]) -> None:
        nodes = [node for workflow in workflows.values() for node in workflow["nodes"]
                 if kind_of(node) != "stickyNote"]  # fmt: skip
        text = json.dumps([(n["parameters"], n.get("notes")) for n in nodes]).replace('\\"', '"')
        names = {next(filter(None, match)) for match in _NAMES.findall(text)}
        self.names = sorted(name for name in names if not name.startswith("orgflow"))
        texts = {t for t in _TEXTS.findall(text) if not t.startswith(("n8n", "="))}
        self.texts = sorted(t for t in texts if t not in names)
        self.numbers = sorted({float(n) for n in _NUMBERS.findall(text)})
        self.choices = {
            name: [value.strip() for value in values.split("|")]
            for node in nodes
            for name, values in _CHOICE.findall(str(node.get("notes", "")))
        }
        self.nodes = sorted(str(node["name"]) for node in nodes)

    def value(self, name: str, rng: random.Random, *, plain: bool = False) -> Any:
        """A value for a variable."""
        if name in self.choices and rng.random() < 0.9:
            return rng.choice(self.choices[name])
        match rng.choice((3, 11)) if plain else rng.randrange(12):
            case 0 | 1 | 2 if self.texts:
                return rng.choice(self.texts)
            case 3 | 4 | 5 | 6 if self.numbers:
                number = rng.choice(self.numbers) + rng.choice((0, 0, 1, -1))
                return int(number) if number == int(number) else number
            case 7:
                return rng.choice((True, False))
            case 8:
                return [rng.randrange(9) for _ in range(rng.randrange(4))]
            case 9:
                return rng.choice((None, {"a": 1}))
            case _ if plain:
                return rng.choice((0, 1, 2, 3, 5, 10, 100, 5000))
            case _:
                return rng.choice((0, 1, 3, 100, 5000, "a", "2024-05-01", "x@y.org"))

    def values(self, share: float, rng: random.Random, *, plain: bool = False) -> Json:
        """Values for a share of the variables; `plain`: numbers, where no choices are known."""
        return {n: self.value(n, rng, plain=plain) for n in self.names if rng.random() < share}

    def draw(self, workflows: Mapping[str, Json], mains: Sequence[str], rng: random.Random) -> Json:
        """An input: the start, results of tasks, and answers to calls."""
        plain = rng.random() < PLAIN_SHARE
        tasks = {}
        for id, workflow in workflows.items():
            for node in workflow["nodes"]:
                element, role = tag_of(node)
                if element and not role and is_open(node):
                    # A step that decides always does so.
                    decided = [name for name, _ in _CHOICE.findall(str(node.get("notes", "")))]
                    visits = [
                        self.values(rng.choice((0.3, 0.9)), rng, plain=plain)
                        | {name: self.value(name, rng) for name in decided}
                        for _ in range(4)
                    ]
                    tasks[f"{id}/{element}"] = {
                        "visits": visits, "mode": "merge",
                        "errors": ["boom" if rng.random() < 0.06 else None],
                    }  # fmt: skip
        return {
            "main": rng.choice(mains),
            "start": self.values(1 if plain else rng.choice((0.6, 0.97)), rng, plain=plain),
            "tasks": tasks, "answers": [self.values(0.9, rng, plain=plain) for _ in range(6)],
            "failed": rng.choice(self.nodes), "seed": rng.randrange(10**6),
        }  # fmt: skip


def form_answer(node: Json, element: str, body: Json, seed: int) -> Json:
    """What a wait gets: the body of a call, or the values of a form as somebody enters them."""
    if node["parameters"].get("resume") != "form":
        return body
    answer: Json = {}
    for entry in node["parameters"].get("formFields", {}).get("values", ()):
        name = entry.get("fieldName") or entry.get("fieldLabel", "")
        rng = random.Random(f"{seed} {element} {name}")
        options = [o["option"] for o in entry.get("fieldOptions", {}).get("values", ())]
        if entry.get("fieldType") == "hiddenField":
            continue  # the page sends it back
        if options:
            answer[name] = options[rng.randrange(len(options))]
        else:
            answer[name] = entered_value(entry.get("fieldType", "text"), rng)
    return answer


def entered_value(kind: str, rng: random.Random) -> str:
    """What somebody enters in a field."""
    if kind == "date":
        return rng.choice(("2024-05-01", "2024-02-29", ""))
    if kind == "email":
        return rng.choice(("x@y.org", "a@b.example"))
    if kind == "number":
        return rng.choice(("7", "120", "5000", "0", "18", "2.5", "3"))
    return rng.choice(("", "7", "120", "5000", "a text", "2024-05-01", "x@y.org", "Bo", "true"))


# -- runs ------------------------------------------------------------------------------------------


def leaves_of(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The values in a tree of parameters by their paths."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves_of(part, f"{path}/{key}")
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from leaves_of(part, f"{path}/{index}")
    else:
        yield path, value


def is_presented(path: str) -> bool:
    """Whether a parameter, given by its path, changes no run; see `PRESENTATION`."""
    return path.rpartition("/")[2] in PRESENTATION and _FIELDS.search(path) is None


def visible_leaves(node: Json, tools: EditTools) -> dict[str, Any]:
    """The parameters of a node that count, as n8n reads them; a time is in seconds."""
    parameters = copy.deepcopy(tools.parameters_of(node))
    for amount, unit in (("amount", "unit"), ("resumeAmount", "resumeUnit")):
        seconds = _SECONDS.get(str(parameters.get(unit)))
        if seconds and isinstance(parameters.get(amount), int | float):
            parameters[amount] *= seconds
            del parameters[unit]
    of_server = CREDENTIALS if kind_of(node) in OUTSIDE else ()
    return {
        path: leaf
        for path, leaf in leaves_of(parameters)
        if leaf not in (None, "") and not is_presented(path) and path not in of_server
    }


def lost_parts(before: Mapping[str, Json], now: Mapping[str, Json]) -> list[str]:
    """The credentials of requests, and the report of failures, that workflows had and no longer
    have. They may get some: which secrets a server asks for, and who is told of failures there, is
    in no model."""
    lost = []
    for id, workflow in before.items():
        reports = workflow.get("settings", {}).get("errorWorkflow")
        if reports and now[id].get("settings", {}).get("errorWorkflow") != reports:
            lost.append(f"{id} reports to {reports}")
        nodes = {node["id"]: node for node in now[id]["nodes"]}
        for node in workflow["nodes"]:
            same = nodes.get(node["id"])
            if same is not None and kind_of(node) in OUTSIDE and asks_credential(node):
                lost += [] if asks_credential(same) else [f"{node['name']} has no credential"]
    return lost


def asks_credential(node: Json) -> bool:
    """Whether a request is sent with a credential."""
    return bool(node["parameters"].get("authentication", "none") != "none")


def with_probes(workflow: Json, tools: EditTools) -> Json:
    """A workflow with a Set beside every node that asks or sends: its output is what the parameters
    of the node are resolved to."""
    result: Json = copy.deepcopy(workflow)
    wires: Json = result["connections"]
    for node in list(result["nodes"]):
        if kind_of(node) not in (*OUTSIDE, *ASKING, "respondToWebhook"):
            continue
        assigned = [
            {"id": str(i), "name": f"{path.replace('.', '_')}{'' if is_text(leaf) else ' typed'}",
             "type": "string", "value": leaf}
            for i, (path, leaf) in enumerate(visible_leaves(node, tools).items())
        ]  # fmt: skip
        probe = f"Probe: {node['name']}"
        result["nodes"].append({
            "id": probe, "name": probe, "type": "n8n-nodes-base.set", "typeVersion": 3.4,
            "position": [0, 0], "onError": "continueRegularOutput", "executeOnce": True,
            "parameters": {"mode": "manual", "assignments": {"assignments": assigned},
                           "includeOtherFields": False, "options": {"dotNotation": False}},
            "notes": f"orgflow: {tag_of(node)[0]}",
        })  # fmt: skip
        for source in wires.values():
            for output in source.get("main", []):
                if any(wire["node"] == node["name"] for wire in output or ()):
                    output.append({"node": probe, "type": "main", "index": 0})
    return result


def is_text(leaf: Any) -> bool:
    """Whether a parameter is a text or an expression."""
    return isinstance(leaf, str)


def starts_of(workflow: Json) -> list[Json]:
    """The nodes with which runs of a workflow start."""
    return [
        node
        for node in workflow["nodes"]
        if ("rigger" in kind_of(node) or kind_of(node) == "webhook") and not node.get("disabled")
    ]


def request_of(workflows: Mapping[str, Json], given: Json, tools: EditTools) -> RunRequest:
    """The run of an input."""
    main = given["main"]
    probed = {id: with_probes(workflow, tools) for id, workflow in workflows.items()}
    stubs: Json = {}
    answers: Json = {}
    for id, workflow in probed.items():
        prefix = "" if id == main else f"{id}/"
        for node in workflow["nodes"]:
            element, role = tag_of(node)
            task = given["tasks"].get(f"{id}/{element}")
            is_probe = str(node["name"]).startswith("Probe: ")
            if task is not None and not role and not is_probe and is_open_kind(node):
                stubs[prefix + node["name"]] = task
            if kind_of(node) == "wait":
                answers[prefix + node["name"]] = [
                    form_answer(node, element, body, given["seed"] + visit)
                    for visit, body in enumerate(given["answers"])
                ]
    (start, *_) = starts_of(probed[main])
    return RunRequest(
        probed[main],
        start["name"],
        items=[{"json": start_item(start, given)}],
        workflows={id: w for id, w in probed.items() if id != main} or None,
        stubs=stubs,
        answers=answers,
        limits=LIMITS,
        data=True,
    )


def is_open_kind(node: Json) -> bool:
    """Whether the type of a node is one of work that somebody fills in: an edit of its notes does
    not change that."""
    return kind_of(node) in (*OUTSIDE, "noOp", "set")


def start_item(start: Json, given: Json) -> Json:
    """What the trigger hands on."""
    if kind_of(start) == "webhook":
        return {"body": given["start"], "headers": {}, "query": {}, "params": {}}
    if kind_of(start) == "errorTrigger":
        error = {"message": "boom", "stack": "boom"}
        execution = {"id": "7", "url": "", "error": error, "mode": "trigger",
                     "lastNodeExecuted": given["failed"]}  # fmt: skip
        return {"execution": execution, "workflow": {"id": "1", "name": "A workflow"}}
    return dict(given["start"])


def outcome_of(run: EngineRun, main: str, workflows: Mapping[str, Json], begun: datetime) -> str:
    """What a run did, as text: its status and error, and what comes out of the steps of the model,
    in order. Nobody reads the items at an end."""
    tags: dict[tuple[str | None, str], tuple[str, str]] = {}
    ends = set()
    for id, workflow in workflows.items():
        for node in workflow["nodes"]:
            tags[id, node["name"]] = tag_of(node)
            tags[id, f"Probe: {node['name']}"] = (tag_of(node)[0], "")
            if kind_of(node) == "noOp" and not leads_on(node, workflow):
                ends.add((id, node["name"]))
    lines: list[Any] = [[run.status, run.error or ""]]
    for done in run.order:
        place = (done.workflow or main, done.node)
        element, role = tags.get(place, ("", ""))
        if element and not role:
            is_probe = done.node.startswith("Probe: ")
            counts = is_probe or read_fields(*place, workflows)
            read = ([], []) if place in ends else (done.outputs, done.items)
            lines.append([element, done.status, *read, counts])
    text = _ADDRESS.sub(r'\1""', json.dumps(lines, sort_keys=True))
    instances: dict[str, str] = {}
    text = _INSTANCE.sub(
        lambda match: instances.setdefault(match[0], f"instance {len(instances)}"), text
    )
    return _TIME.sub(lambda match: relative_time(match[0], begun), text)


def read_fields(id: str, name: str, workflows: Mapping[str, Json]) -> list[str] | bool:
    """The fields that a node computes, or whether what it gets counts: a placeholder reads nothing,
    and what a call returns is read by others."""
    nodes = workflows[id]["nodes"] if id in workflows else ()
    node = next((node for node in nodes if node["name"] == name), None)
    if node is None or kind_of(node) != "code":
        return node is not None and kind_of(node) in ("respondToWebhook", "stopAndError")
    code = str(node["parameters"].get("jsCode"))
    return sorted(set(re.findall(r"\b(?:own|v)\.(\w+) = ", code)))


def leads_on(node: Json, workflow: Json) -> bool:
    """Whether a wire leaves a node."""
    outputs = workflow["connections"].get(node["name"], {}).get("main", [])
    return any(output for output in outputs)


def relative_time(text: str, begun: datetime) -> str:
    """A time that depends on when a run began, as a distance in minutes."""
    try:
        time = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return text
    seconds = (time - begun).total_seconds()
    return text if abs(seconds) > _NEAR else f"T+{round(seconds / 60)}"


def standing_parts(workflows: Mapping[str, Json], tools: EditTools) -> str:
    """What starts runs and what is done about those that fail, which no run shows."""
    parts = []
    for id, workflow in workflows.items():
        settings = workflow.get("settings", {})
        starts = {kind_of(node) for node in starts_of(workflow)}
        zone = settings.get("timezone") if "scheduleTrigger" in starts else None
        kept = [
            settings.get("executionTimeout", -1),
            "executeWorkflowTrigger" in starts and settings.get("callerPolicy") == "none",
            None if zone == "DEFAULT" else zone,
        ]
        triggers = [
            [kind_of(node), tag_of(node)[0], visible_leaves(node, tools)]
            for node in starts_of(workflow)
            if kind_of(node) != "executeWorkflowTrigger"
        ]
        parts.append([id, kept, sorted(triggers, key=json.dumps)])
    return json.dumps(parts, sort_keys=True)


def with_known_notes(subject: Subject, workflows: Mapping[str, Json]) -> dict[str, Json]:
    """Edited workflows with the notes of their nodes as compiled, from which only this module reads
    which element a node stands for."""
    notes = {
        (id, node["id"]): node.get("notes", "")
        for id, workflow in subject.workflows.items()
        for node in workflow["nodes"]
    }
    return {
        id: {
            **workflow,
            "nodes": [
                {**node, "notes": notes.get((id, node["id"]), node.get("notes", ""))}
                for node in workflow["nodes"]
            ],
        }
        for id, workflow in workflows.items()
    }


def play_inputs(
    workflows: Mapping[str, Json], inputs: Iterable[Json], engine: LocalEngine, tools: EditTools
) -> list[str] | None:
    """The outcome for each input; `None` if n8n does not run the workflow at all."""
    begun = datetime.now(UTC)
    try:
        requests = [request_of(workflows, given, tools) for given in inputs]
        runs = list(engine.run_many(requests))
        standing = standing_parts(workflows, tools)
    except (EngineError, StopIteration, LookupError, TypeError, AttributeError, ValueError):
        return None
    return [
        f"{standing}\n" + outcome_of(run, str(request.workflow["id"]), workflows, begun)
        for run, request in zip(runs, requests, strict=True)
    ]


def reached_ports(outcome: str) -> set[str]:
    """The steps and their outputs that a run reached."""
    return {f"{element} {outputs}" for element, outputs in _STEP.findall(outcome)}


def prepare_subject(
    subject: Subject, engine: LocalEngine, tools: EditTools, rng: random.Random
) -> bool:
    """Choose inputs that reach different steps and end differently; whether there are any."""
    pool = InputPool(subject.workflows)
    drawn = [pool.draw(subject.workflows, subject.mains, rng) for _ in range(TRIED_INPUTS)]
    outcomes = play_inputs(subject.workflows, drawn, engine, tools)
    if outcomes is None:
        return False
    # A run that ends at a limit is slow, and where it ends depends on the machine.
    ended = [pair for pair in zip(outcomes, drawn, strict=True) if '\n[["limit"' not in pair[0]]
    distinct = dict(ended)
    ranked = sorted(distinct, key=lambda text: ('\n[["success' not in text, -len(text)))
    chosen: list[str] = []
    reached: set[str] = set()
    for text in ranked:  # first what reaches something new, then whatever ends differently
        if not reached_ports(text) <= reached and len(chosen) < KEPT_INPUTS:
            chosen.append(text)
            reached |= reached_ports(text)
    chosen += [text for text in ranked if text not in chosen][: KEPT_INPUTS - len(chosen)]
    inputs = [distinct[text] for text in chosen]
    again = play_inputs(subject.workflows, inputs, engine, tools) or []
    steady = [(g, o) for g, o, a in zip(inputs, chosen, again, strict=False) if o == a]
    subject.inputs = [given for given, _ in steady]
    subject.outcomes = [outcome for _, outcome in steady]
    return bool(steady)


def differs_from(
    subject: Subject,
    workflows: Mapping[str, Json],
    engine: LocalEngine,
    tools: EditTools,
    *,
    read: Callable[[str], list[str]],
) -> bool:
    """Whether edited workflows have another outcome for any input, as `read` reads it. A difference
    counts only if it is there again when both are played one after the other: times of day and the
    like are none."""
    workflows = with_known_notes(subject, workflows)
    if lost_parts(subject.workflows, workflows):
        return True
    outcomes = play_inputs(workflows, subject.inputs, engine, tools)
    if outcomes is None:
        return True
    pairs = zip(subject.inputs, subject.outcomes, outcomes, strict=True)
    changed = [given for given, before, now in pairs if read(before) != read(now)]
    for start in range(0, len(changed), FEW_INPUTS):
        some = changed[start : start + FEW_INPUTS]
        both = [play_inputs(w, some, engine, tools) or [] for w in (subject.workflows, workflows)]
        before, now = ([read(text) for text in texts] for texts in both)
        if before != now:
            return True
    return False


def in_order(outcome: str) -> list[str]:
    """An outcome as it is."""
    return [outcome]


def in_any_order(outcome: str) -> list[str]:
    """The lines of an outcome, sorted."""
    standing, _, lines = outcome.partition("\n")
    return [standing, *sorted(json.dumps(line) for line in json.loads(lines))]


def without_unread(outcome: str) -> list[str]:
    """The lines of an outcome without what nobody reads: of the items of a computation all but the
    fields that it computes, those of placeholders, and fields that only an added node knows."""
    standing, _, lines = outcome.partition("\n")
    status, *steps = json.loads(lines)
    read = [
        [element, done, outputs, [[keep_read(item, counts) for item in out] for out in items]]
        for element, done, outputs, items, counts in steps
    ]
    return [standing, json.dumps(status), json.dumps(read, sort_keys=True)]


def keep_read(item: Any, counts: list[str] | bool) -> Any:
    """The fields of an item that count."""
    if isinstance(counts, bool) or not isinstance(item, dict):
        return item if counts else None
    return {name: value for name, value in item.items() if name in counts}
