"""Edits of what workflows compute and ask, on n8n's engine and before `verify`.

`python benchmarks/data_edits.py [--each N] [--seed N] [--models FOLDER ...] [--only WORD] [--show]`
edits one parameter, setting or wire of a compiled workflow at a time and prints for every kind of
edit how many change an outcome on the engine, and what `verify` says of them. It knows nothing of
the compiler but the line of a node's notes that names its element.

Truth: both workflows play the same inputs, answers and results of tasks. An outcome is what steps
of the model get and pass on, what forms ask, what requests and messages contain, and how the run
ends; titles of pages and messages of stops are no part of it. An edit for which no input shows a
difference is *not shown* to differ, and only edits that cannot make one (layout of code, order of
notes, a renamed node) count as equal.

Exit code 1 if `verify` calls a workflow proved that differs, or more than 2 % of the equal ones
different.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orgflow.api import ReadResult, compile, read, verify
from orgflow.backends.n8n.engine.local import EngineError, EngineRun, LocalEngine, RunRequest

from orgflow_ir.model.source import SourceFile

Json = dict[str, Any]

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"
MODELS = (ROOT / "examples", DATA / "camunda7-executable", DATA / "faults" / "verify")

MOST_FALSE_DIFFERENCES = 0.02
TRIED_INPUTS, KEPT_INPUTS = 40, 10
LIMITS = {"nodes": 1_500, "ms": 10_000}

_TAG = re.compile(r"^orgflow: (\S+)(?: \((\w+)\))?$", re.MULTILINE)
_NAMES = re.compile(r"\bjson\.(\w+)|\bv\.(\w+)|\bgiven\.(\w+)|\"name\": ?\"(\w+)\"")
_TEXTS = re.compile(r'"([^"\\\n]{1,30})"')
_NUMBERS = re.compile(r"(?<![\w.\"])-?\d{1,7}(?:\.\d{1,3})?(?![\w\"])")
_OUTSIDE = ("httpRequest", "emailSend", "slack", "microsoftTeams", "gmail")
_PRESENTATION = ("formTitle", "formDescription", "appendAttribution", "errorMessage")
_ASKING = ("wait", "form", "formTrigger")


def kind_of(node: Json) -> str:
    """The type of a node without its package."""
    return str(node["type"]).rpartition(".")[2]


def tag_of(node: Json) -> tuple[str, str]:
    """The element and the role that a node's notes name."""
    match = _TAG.search(str(node.get("notes", "")))
    return ("", "") if match is None else (match[1], match[2] or "")


@dataclass
class Subject:
    """A model, its workflows by id, and the one in which runs start."""

    path: Path
    model: ReadResult
    workflows: dict[str, Json]
    main: str
    inputs: list[Json] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Edit:
    """An edit of one node: the kind, what it did, and whether it cannot change an outcome."""

    kind: str
    words: str
    equal: bool = False


# -- inputs ----------------------------------------------------------------------------------------


def drawn_input(workflows: Mapping[str, Json], rng: random.Random) -> Json:
    """Values for everything that the workflows read, and results of their tasks."""
    text = json.dumps([w["nodes"] for w in workflows.values()]).replace('\\"', '"')
    names = sorted({next(filter(None, m)) for m in _NAMES.findall(text)})
    texts = sorted({t for t in _TEXTS.findall(text) if not t.startswith(("n8n", "="))})
    numbers = sorted({float(n) for n in _NUMBERS.findall(text)})

    def value() -> Any:
        match rng.randrange(8):
            case 0 | 1 if texts:
                return rng.choice(texts)
            case 2 | 3 if numbers:
                number = rng.choice(numbers) + rng.choice((0, 0, 1, -1))
                return int(number) if number == int(number) else number
            case 4:
                return rng.choice((True, False))
            case 5:
                return [rng.randrange(9) for _ in range(rng.randrange(4))]
            case 6:
                return None
            case _:
                return rng.choice((0, 1, 3, 100, "a", "2024-05-01", {"a": 1}))

    def some(share: float) -> Json:
        return {name: value() for name in names if rng.random() < share}

    tasks = {}
    for id, workflow in workflows.items():
        for node in workflow["nodes"]:
            element, role = tag_of(node)
            if element and not role and kind_of(node) in ("noOp", *_OUTSIDE):
                fails = "boom" if rng.random() < 0.08 else None
                tasks[f"{id}/{element}"] = {
                    "visits": [some(0.5) for _ in range(4)],
                    "mode": "merge",
                    "errors": [fails],
                }
    answers = [some(0.9) for _ in range(6)]
    return {"start": some(0.85), "tasks": tasks, "answers": answers, "seed": rng.randrange(10**6)}


def answer_to(node: Json, element: str, body: Json, seed: int) -> Json:
    """What a wait gets: the body of a call, or the values of a form as somebody enters them."""
    if node["parameters"].get("resume") != "form":
        return body
    answer: Json = {}
    for entry in node["parameters"].get("formFields", {}).get("values", ()):
        name = entry.get("fieldName") or entry.get("fieldLabel", "")
        rng = random.Random(f"{seed} {element} {name}")
        options = [o["option"] for o in entry.get("fieldOptions", {}).get("values", ())]
        if entry.get("fieldType") == "hiddenField":
            answer[name] = entry.get("fieldValue", "")
        elif options:
            answer[name] = options[rng.randrange(len(options))]
        else:
            answer[name] = rng.choice(("", "7", "120", "5000", "a text", "2024-05-01", "x@y.org"))
    return answer


# -- runs ------------------------------------------------------------------------------------------


def with_probes(workflow: Json) -> Json:
    """A workflow with a Set beside every node that asks or sends: its output is what the parameters
    of the node are resolved to."""
    result: Json = copy.deepcopy(workflow)
    wires: Json = result["connections"]
    for node in list(result["nodes"]):
        if kind_of(node) not in (*_OUTSIDE, *_ASKING, "stopAndError"):
            continue
        leaves = {
            path: leaf
            for path, leaf in leaves_of(node["parameters"])
            if leaf is not None and path.rpartition("/")[2] not in _PRESENTATION
        }
        assigned = [
            {"id": str(i), "name": f"p{i}", "type": "string",
             "value": f"{path}|{leaf}" if not str(leaf).startswith("=") else f"={path}|{leaf[1:]}"}
            for i, (path, leaf) in enumerate(leaves.items())
        ]  # fmt: skip
        probe = f"Probe: {node['name']}"
        result["nodes"].append({
            "id": probe, "name": probe, "type": "n8n-nodes-base.set", "typeVersion": 3.4,
            "position": [0, 0], "onError": "continueRegularOutput", "executeOnce": True,
            "parameters": {"mode": "manual", "assignments": {"assignments": assigned},
                           "includeOtherFields": False, "options": {}},
            "notes": f"orgflow: {tag_of(node)[0]}",
        })  # fmt: skip
        for source in wires.values():
            for output in source.get("main", []):
                if any(wire["node"] == node["name"] for wire in output or ()):
                    output.append({"node": probe, "type": "main", "index": 0})
    return result


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


def request_of(workflows: Mapping[str, Json], main: str, given: Json) -> RunRequest:
    """The run of an input."""
    probed = {id: with_probes(workflow) for id, workflow in workflows.items()}
    stubs: Json = {}
    answers: Json = {}
    for id, workflow in probed.items():
        prefix = "" if id == main else f"{id}/"
        for node in workflow["nodes"]:
            element, role = tag_of(node)
            task = given["tasks"].get(f"{id}/{element}")
            if task is not None and not role and kind_of(node) in ("noOp", *_OUTSIDE):
                stubs[prefix + node["name"]] = task
            if kind_of(node) == "wait":
                answers[prefix + node["name"]] = [
                    answer_to(node, element, body, given["seed"] + visit)
                    for visit, body in enumerate(given["answers"])
                ]
    nodes = probed[main]["nodes"]
    starts = [n for n in nodes if "rigger" in kind_of(n) or kind_of(n) == "webhook"]
    start = next((n for n in starts if not n.get("disabled")), starts[0])
    item = {"body": given["start"], "headers": {}, "query": {}, "params": {}}
    return RunRequest(
        probed[main],
        start["name"],
        items=[{"json": item if kind_of(start) == "webhook" else given["start"]}],
        workflows={id: w for id, w in probed.items() if id != main} or None,
        stubs=stubs,
        answers=answers,
        limits=LIMITS,
        data=True,
    )


def outcome_of(run: EngineRun, workflows: Mapping[str, Json], main: str) -> str:
    """What a run did, as text: what comes out of the steps of the model, in order."""
    tags = {
        (None if id == main else id, node["name"]): tag_of(node)
        for id, workflow in workflows.items()
        for node in (*workflow["nodes"], *with_probes(workflow)["nodes"])
    }
    lines: list[Any] = [run.status]
    for done in run.order:
        element, role = tags.get((done.workflow, done.node), ("", ""))
        if element and not role:
            lines.append([element, done.status, done.outputs, done.items])
    text = json.dumps(lines, sort_keys=True)
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|[-+]\d\d:\d\d)", "TIME", text)


def prepared(subject: Subject, engine: LocalEngine, rng: random.Random) -> bool:
    """Choose inputs that lead to different outcomes; whether there are any."""
    drawn = [drawn_input(subject.workflows, rng) for _ in range(TRIED_INPUTS)]
    outcomes = played(subject.workflows, subject.main, drawn, engine)
    if outcomes is None:
        return False
    steady = played(subject.workflows, subject.main, drawn, engine)
    seen: set[str] = set()
    ended: list[tuple[bool, Json, str]] = []
    for given, outcome, again in zip(drawn, outcomes, steady or (), strict=True):
        if outcome == again and outcome not in seen:
            seen.add(outcome)
            ended.append((not outcome.startswith('["success'), given, outcome))
    ended.sort(key=lambda entry: (entry[0], -len(entry[2])))
    subject.inputs = [given for _, given, _ in ended[:KEPT_INPUTS]]
    subject.outcomes = [outcome for _, _, outcome in ended[:KEPT_INPUTS]]
    return bool(subject.inputs)


def played(
    workflows: Mapping[str, Json], main: str, inputs: Iterable[Json], engine: LocalEngine
) -> list[str] | None:
    """The outcome for each input; `None` if n8n does not run the workflow at all."""
    try:
        runs = list(engine.run_many([request_of(workflows, main, given) for given in inputs]))
    except (EngineError, StopIteration, IndexError, KeyError, TypeError, AttributeError):
        return None
    return [outcome_of(run, workflows, main) for run in runs]


# -- edits -----------------------------------------------------------------------------------------

Editor = Callable[[Json, Json, random.Random], "Edit | None"]

_CODE_SIGNS = {
    "===": "!==", "!==": "===", "==": "!=", "!=": "==", "<=": ">", ">=": "<", "<": ">=", ">": "<=",
    "&&": "||", "||": "&&", "+": "-", "-": "+", "*": "+", "/": "*", "true": "false",
    "false": "true", "null": "0", "??": "&&",
}  # fmt: skip
_CODE_TOKEN = re.compile(
    r"===|!==|==|!=|<=|>=|=>|&&|\|\||\?\?|\?\.|\.\.\.|\w+|\"(?:[^\"\\]|\\.)*\"|\s+|."
)


def changed_code(code: str, rng: random.Random) -> tuple[str, str] | None:
    """A code with one sign, number, text, name or line changed."""
    if rng.random() < 0.2:
        lines = code.split("\n")
        places = [i for i, line in enumerate(lines) if line.strip().endswith(";")]
        if places:
            place = rng.choice(places)
            return "\n".join(lines[:place] + lines[place + 1 :]), f"removed {lines[place].strip()}"
    tokens = _CODE_TOKEN.findall(code)
    names = sorted({tokens[i + 2] for i in range(len(tokens) - 2)
                    if tokens[i] in ("v", "json", "given") and tokens[i + 1] == "."})  # fmt: skip
    places = [
        i
        for i, token in enumerate(tokens)
        if token in _CODE_SIGNS or token in names or token[0] == '"' or token.isdecimal()
    ]
    if not places:
        return None
    place = rng.choice(places)
    token = tokens[place]
    if token in _CODE_SIGNS:
        tokens[place] = _CODE_SIGNS[token]
    elif token.isdecimal():
        tokens[place] = str(int(token) + rng.choice((1, 7, 100)))
    elif token[0] == '"':
        tokens[place] = f'{token[:-1]}x"'
    else:
        others = [name for name in names if name != token]
        if not others:
            return None
        tokens[place] = rng.choice(others)
    return "".join(tokens), f"{token} → {tokens[place]}"


def edit_code(node: Json, workflow: Json, rng: random.Random) -> Edit | None:
    """The code of a Code node."""
    code = node["parameters"].get("jsCode")
    changed = changed_code(code, rng) if isinstance(code, str) else None
    if changed is None:
        return None
    node["parameters"]["jsCode"] = changed[0]
    return Edit("code", changed[1])


def edit_expression(node: Json, workflow: Json, rng: random.Random) -> Edit | None:
    """The code of an expression in any parameter."""
    places = [(p, v) for p, v in leaves_of(node["parameters"]) if str(v).startswith("=")]
    if not places:
        return None
    path, text = rng.choice(places)
    changed = changed_code(text[1:], rng)
    if changed is None:
        return None
    put(node["parameters"], path, "=" + changed[0])
    return Edit(f"expression of {kind_of(node)}", f"{path}: {changed[1]}")


def edit_constant(node: Json, workflow: Json, rng: random.Random) -> Edit | None:
    """A constant in any parameter."""
    places = [
        (p, v)
        for p, v in leaves_of(node["parameters"])
        if not str(v).startswith("=") and not p.endswith(("/id", "/version", "/jsCode"))
    ]
    if not places:
        return None
    path, value = rng.choice(places)
    now: Any
    match value:
        case bool():
            now = not value
        case int() | float():
            now = value + rng.choice((1, 5))
        case None:
            return None
        case _:
            now = rng.choice((f"{value}x", f"{value} ", ""))
    put(node["parameters"], path, now)
    return Edit(f"constant of {kind_of(node)}", f"{path}: {value!r} → {now!r}")


def edit_blank(node: Json, workflow: Json, rng: random.Random) -> Edit | None:
    """A blank beside the brackets of an expression."""
    places = [
        (p, v)
        for p, v in leaves_of(node["parameters"])
        if str(v).startswith("={{") and str(v).endswith("}}")
    ]
    if not places:
        return None
    path, text = rng.choice(places)
    put(node["parameters"], path, rng.choice((f"{text} ", f"= {text[1:]}", f" {text}")))
    return Edit(f"blank in {kind_of(node)}", path)


def edit_removal(node: Json, workflow: Json, rng: random.Random) -> Edit | None:
    """An entry of a list of parameters, such as a field of a form, or a parameter."""
    whole = node["parameters"]
    groups = [group for group in groups_of(whole) if group and group is not whole]
    if not groups:
        return None
    group = rng.choice(groups)
    if isinstance(group, list):
        removed = group.pop(rng.randrange(len(group)))
    else:
        key = rng.choice(sorted(group))
        removed = {key: group.pop(key)}
    return Edit(f"removal in {kind_of(node)}", json.dumps(removed)[:80])


def edit_setting(node: Json, workflow: Json, rng: random.Random) -> Edit | None:
    """A setting of a node beside its parameters."""
    kind = kind_of(node)
    choices: list[tuple[str, Any]] = [
        ("executeOnce", not node.get("executeOnce", False)),
        ("alwaysOutputData", not node.get("alwaysOutputData", False)),
        ("disabled", True),
        ("onError", "continueRegularOutput"),
    ]
    key, value = rng.choice(choices)
    if node.get(key) == value:
        return None
    node[key] = value
    return Edit(f"setting {key} of {kind}", f"{value}")


def edit_layout(node: Json, workflow: Json, rng: random.Random) -> Edit | None:
    """White space and comments in code, which change nothing."""
    code = node["parameters"].get("jsCode")
    if not isinstance(code, str):
        return None
    node["parameters"]["jsCode"] = rng.choice((
        "// what this computes\n" + code, code.replace(";\n", ";\n\n"), code.replace("\n", "\n  "),
        code.rstrip() + "\n\n",
    ))  # fmt: skip
    return Edit("layout of code", "", equal=True)


def edit_expression_layout(node: Json, workflow: Json, rng: random.Random) -> Edit | None:
    """White space inside of the brackets of an expression, which changes nothing."""
    places = [
        (p, v)
        for p, v in leaves_of(node["parameters"])
        if str(v).startswith("={{ ") and str(v).endswith(" }}")
    ]
    if not places:
        return None
    path, text = rng.choice(places)
    put(
        node["parameters"],
        path,
        rng.choice((f"={{{{{text[4:-3]}}}}}", f"={{{{  {text[4:-3]}\n}}}}")),
    )
    return Edit("layout of an expression", path, equal=True)


def edit_name(node: Json, workflow: Json, rng: random.Random) -> Edit | None:
    """A renamed node, with its wires and the references to it, as n8n's editor does it."""
    old, new = node["name"], f"{node['name']} new"
    text = json.dumps(workflow, ensure_ascii=False)
    if old in ("", "json") or new in text or f"Probe: {old}" in text or '"' in old or "\\" in old:
        return None
    for quoted in (f"$('{old}')", f'$(\\"{old}\\")'):
        text = text.replace(quoted, quoted.replace(old, new))
    changed = json.loads(text)
    for other in changed["nodes"]:
        if other["name"] == old:
            other["name"] = new
    wires = {new if name == old else name: outs for name, outs in changed["connections"].items()}
    for outputs in wires.values():
        for output in outputs.get("main", []):
            for wire in output or ():
                wire["node"] = new if wire["node"] == old else wire["node"]
    workflow["nodes"], workflow["connections"] = changed["nodes"], wires
    return Edit(f"name of {kind_of(node)}", f"{old} → {new}", equal=True)


def edit_place(node: Json, workflow: Json, rng: random.Random) -> Edit | None:
    """A moved node, and words in its notes."""
    node["position"] = [node["position"][0] + 16, node["position"][1]]
    node["notes"] = f"Checked.\n{node.get('notes', '')}"
    return Edit("place and notes", "", equal=True)


EDITORS: tuple[tuple[int, Editor], ...] = (
    (4, edit_code), (4, edit_expression), (4, edit_constant), (1, edit_blank), (3, edit_removal),
    (2, edit_setting), (1, edit_layout), (1, edit_expression_layout), (1, edit_name),
    (1, edit_place),
)  # fmt: skip
"""Editors with their weights."""


def groups_of(value: Any) -> Iterator[Any]:
    """The lists and objects in a tree of parameters."""
    if isinstance(value, dict | list):
        yield value
        for part in value.values() if isinstance(value, dict) else value:
            yield from groups_of(part)


def put(tree: Any, path: str, value: Any) -> None:
    """Replace the value at a path of `leaves_of`."""
    *steps, last = path.removeprefix("/").split("/")
    for step in steps:
        tree = tree[int(step) if isinstance(tree, list) else step]
    tree[int(last) if isinstance(tree, list) else last] = value


def edited(subject: Subject, rng: random.Random) -> tuple[Edit, dict[str, Json]] | None:
    """An edit of one node of a copy of the workflows."""
    workflows = copy.deepcopy(subject.workflows)
    workflow = workflows[rng.choice(sorted(workflows))]
    nodes = [n for n in workflow["nodes"] if kind_of(n) != "stickyNote"]
    weights, editors = zip(*EDITORS, strict=True)
    (editor,) = rng.choices(editors, weights)
    rich = [n for n in nodes if n["parameters"]]
    node = rng.choice(rich if rich and rng.random() < 0.8 else nodes)
    edit = editor(node, workflow, rng)
    return None if edit is None or workflows == subject.workflows else (edit, workflows)


# -- the table -------------------------------------------------------------------------------------


@dataclass
class Row:
    """Counts of one kind of edit."""

    edits: int = 0
    differ: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    false_proofs: int = 0
    equal: int = 0
    false_differences: int = 0


def subjects(folders: Iterable[Path], only: str) -> Iterator[Subject]:
    """The compiled models of folders."""
    for folder in folders:
        for path in sorted(folder.rglob("*.bpmn*")):
            if only not in path.name:
                continue
            model = read(path)
            files = compile(model, target="n8n").files
            workflows = {
                w["id"]: w for w in (json.loads(t) for p, t in files.items() if p.endswith(".json"))
            }
            called = ("executeWorkflowTrigger", "errorTrigger")
            main = next((id for id, w in workflows.items()
                         if not any(kind_of(n) in called for n in w["nodes"])), None)  # fmt: skip
            if main is not None:
                yield Subject(path, model, workflows, main)


def opinion_of(subject: Subject, workflows: Mapping[str, Json]) -> str:
    """The verdict of `verify` on the workflows of a model; the worst of several."""
    text = json.dumps(list(workflows.values()))
    result = verify(subject.model, SourceFile("edited.json", text.encode()), "n8n")
    verdicts = [v.verdict.value for v in result.verifications]
    order = ("different", "bounded", "changed", "changed expression", "proved")
    return min(verdicts, key=order.index) if verdicts else "refused"


def compared(
    folders: Iterable[Path], each: int, seed: int, only: str, *, show: bool
) -> dict[str, Row]:
    """The rows of all kinds of edits."""
    rows: dict[str, Row] = {}
    with LocalEngine() as engine:
        for number, subject in enumerate(subjects(folders, only)):
            rng = random.Random(seed * 1_000_003 + number)
            if not prepared(subject, engine, rng):
                continue
            count, tries = 0, 0
            while count < each and tries < each * 10:
                tries += 1
                drawn = edited(subject, rng)
                if drawn is None:
                    continue
                count += 1
                judge(subject, *drawn, engine, rows, show=show)
    return rows


def judge(
    subject: Subject,
    edit: Edit,
    workflows: dict[str, Json],
    engine: LocalEngine,
    rows: dict[str, Row],
    *,
    show: bool,
) -> None:
    """Count one edit."""
    row = rows.setdefault(edit.kind, Row())
    outcomes = played(workflows, subject.main, subject.inputs, engine)
    differs = outcomes != subject.outcomes
    verdict = opinion_of(subject, workflows)
    row.edits += 1
    row.differ += differs
    row.verdicts[verdict] += 1
    proved = verdict == "proved"
    row.false_proofs += proved and differs
    row.equal += edit.equal
    row.false_differences += edit.equal and verdict == "different"
    if show and ((edit.equal and (differs or not proved)) or (proved and differs)):
        print(f"{subject.path.name}: {edit.kind}: {edit.words}: differs {differs}, {verdict}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--each", type=int, default=12, help="edits of each model")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--models", type=Path, nargs="*", default=MODELS)
    parser.add_argument("--only", default="", help="a part of the names of models")
    parser.add_argument("--show", action="store_true", help="print what is wrong")
    args = parser.parse_args()
    rows = compared(args.models, args.each, args.seed, args.only, show=args.show)
    print_rows(rows)
    proofs = sum(row.false_proofs for row in rows.values())
    equal = sum(row.equal for row in rows.values())
    differences = sum(row.false_differences for row in rows.values())
    return int(proofs > 0 or differences > MOST_FALSE_DIFFERENCES * max(equal, 1))


def print_rows(rows: Mapping[str, Row]) -> None:
    """The table, with the sums of its columns last."""
    columns = ("edits", "differ", "false_proofs", "equal", "false_differences")
    heads = ("edits", "differ", "proved wrongly", "equal", "different wrongly")
    print(f"{'edit':40}" + "".join(f"{head:>18}" for head in heads))
    for kind, row in sorted(rows.items()):
        print(f"{kind:40}" + "".join(f"{getattr(row, column):18}" for column in columns))
    sums = (sum(getattr(row, column) for row in rows.values()) for column in columns)
    print(f"{'all':40}" + "".join(f"{total:18}" for total in sums))


if __name__ == "__main__":
    sys.exit(main())
