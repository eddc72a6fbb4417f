"""Random person-edits of a workflow and random changes of its model, with what must become of both.

Each edit and each change lists the facts that a merge must keep, checked on the JSON of the result
and nothing else, and the places it touches: only where an edit and a change touch one place in ways
that exclude each other is a conflict true.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from orgflow.backends.n8n.backend import N8nBackend
from orgflow.compiler import compile_model

from orgflow_ir.model import Event, Flow, Gateway, Model, Process, Task
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.artifact import Emitted

Json = dict[str, Any]
PREFIX = "n8n-nodes-base."
STICKY = f"{PREFIX}stickyNote"


@dataclass
class Fact:
    """Something that has to be in the result; `of` is the element that it hangs on."""

    text: str
    holds: Callable[[Json], bool]
    of: str = ""


@dataclass
class Done:
    """An edit, or a change of the model.

    Attributes:
        kind: which.
        facts: what must be in the result.
        work: elements in whose nodes a person did work.
        named: elements that got another name, with the name.
        reads: elements that a person's expression reads.
        at: pairs of elements between which a person put a node.
        removed: elements that the model has no more.
        deleted: elements whose nodes a person deleted.
        rewired: elements at the ends of connections that a person moved.
        conditions: gateways whose conditions a person changed.
    """

    kind: str
    facts: list[Fact] = field(default_factory=list)
    work: set[str] = field(default_factory=set)
    named: dict[str, str] = field(default_factory=dict)
    reads: set[str] = field(default_factory=set)
    at: set[tuple[str, str]] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    rewired: set[str] = field(default_factory=set)
    conditions: set[str] = field(default_factory=set)


def node(workflow: Json, name: str) -> Json | None:
    return next((n for n in workflow["nodes"] if n["name"] == name), None)


def wires(workflow: Json) -> Iterator[tuple[str, str, int, str, int]]:
    for source, kinds in workflow["connections"].items():
        for kind, outputs in kinds.items():
            for output, ends in enumerate(outputs):
                for end in ends or ():
                    yield kind, source, output, end["node"], end["index"]


# -- what a person does ----------------------------------------------------------------------------


class Editor:
    """n8n's editor, with a person's seeded hand.

    Args:
        workflow: what was compiled; it stays as it is.
        elements: the element of each node that stands for one, by name.
    """

    def __init__(self, workflow: Json, elements: Mapping[str, str], rng: random.Random) -> None:
        self.workflow, self.rng = copy.deepcopy(workflow), rng
        self.elements = dict(elements)
        self.done: list[Done] = []
        self.filled: set[str] = set()
        self.number = 0

    def mark(self) -> str:
        self.number += 1
        return f"mark-{self.rng.randrange(10**8):08d}-{self.number}"

    def steps(self) -> list[Json]:
        return [n for n in self.workflow["nodes"] if n["type"] != STICKY]

    def placeholders(self) -> list[Json]:
        return [
            n
            for n in self.steps()
            if n["name"] in self.elements
            and n["type"] in (f"{PREFIX}noOp", f"{PREFIX}set")
            and "Placeholder" in n.get("notes", "")
            and self.element(n["name"]) not in self.filled
        ]

    def element(self, name: str) -> str:
        return self.elements.get(name, "")

    def pick(self, values: Any) -> Any:
        values = list(values)
        return self.rng.choice(values) if values else None

    def edit(self, *, last: bool) -> None:
        """One random edit, as far as the workflow offers something for it; what changes the flow
        comes last, so that no other edit undoes it."""
        kinds = [
            self.fill, self.fill, self.fill, self.replace, self.insert, self.insert, self.rename,
            self.move, self.note, self.sticky, self.settings, self.credentials, self.pin,
            self.agent, self.switch, self.disable, self.delete_note, self.edit_condition,
        ]  # fmt: skip
        if last:
            kinds += [self.delete, self.move_wire] * 2
        made = self.pick(kinds)()
        if made is not None:
            self.done.append(made)

    def forget(self, kind: str, of: str) -> None:
        """An edit that a later one undid."""
        self.done = [d for d in self.done if not (d.kind == kind and d.facts[0].of == of)]

    # -- one by one --------------------------------------------------------------------------------

    def _body(self, mark: str, fields: list[str], read: str) -> tuple[str, float, Json]:
        quoted = read.replace("\\", "\\\\").replace("'", "\\'")
        kind = self.pick(("set", "code", "httpRequest"))
        if kind == "set":
            entries = [{"id": mark, "name": "mark", "value": mark, "type": "string"}]
            entries += [{"id": f, "name": f, "value": "", "type": "string"} for f in fields]
            if read:
                value = f"={{{{ $('{quoted}').isExecuted }}}}"
                entries.append({"id": "r", "name": "r", "value": value, "type": "string"})
            said = {
                "assignments": {"assignments": entries}, "includeOtherFields": True, "options": {},
            }  # fmt: skip
            return "set", 3.4, said
        if kind == "code":
            lines = [f"// {mark}", *(f"// sets {f}" for f in fields)]
            if read:
                lines.append(f"const was = $('{quoted}').isExecuted;")
            return "code", 2, {"jsCode": "\n".join([*lines, "return $input.all();"])}
        said = {"method": "POST", "url": f"https://example.com/{mark}", "options": {}}
        if read:
            said |= {"sendBody": True, "specifyBody": "json",
                     "jsonBody": f"={{{{ {{ was: $('{quoted}').isExecuted }} }}}}"}  # fmt: skip
        return "httpRequest", 4.2, said

    def _fields(self, row: Json) -> list[str]:
        entries = row["parameters"].get("assignments", {}).get("assignments", [])
        return [one["name"] for one in entries]

    def _fill(self, row: Json, *, fresh: bool) -> Done:
        mark = self.mark()
        read = ""
        if self.rng.random() < 0.3:
            others = [n["name"] for n in self.steps() if n["name"] in self.elements]
            read = self.pick(n for n in others if n != row["name"]) or ""
        kind, version, parameters = self._body(mark, self._fields(row), read)
        of = self.element(row["name"])
        row |= {"type": PREFIX + kind, "typeVersion": version, "parameters": parameters}
        self.filled.add(of)
        if fresh:  # the placeholder was deleted, the new node got its name
            for key in ("notes", "retryOnFail", "maxTries"):
                row.pop(key, None)
            self.forget("note", of)
            self.forget("switch", of)
            row["id"] = f"fresh-{mark}"

        def there(result: Json) -> bool:
            found = [n for n in result["nodes"] if mark in json.dumps(n["parameters"])]
            return len(found) == 1 and found[0]["type"] == PREFIX + kind

        done = Done("replace" if fresh else "fill", [Fact(f"filled {mark}", there, of)], work={of})
        if read:
            done.reads.add(self.element(read))

            def follows(result: Json) -> bool:
                found = [n for n in result["nodes"] if mark in json.dumps(n["parameters"])]
                text = json.dumps(found[0]["parameters"], ensure_ascii=False) if found else ""
                names = [n["name"] for n in result["nodes"]]
                return any(
                    json.dumps("$('" + n.replace("\\", "\\\\").replace("'", "\\'") + "')",
                               ensure_ascii=False)[1:-1] in text
                    for n in names
                )  # fmt: skip

            done.facts.append(Fact(f"what {mark} reads is there", follows, of))
        return done

    def fill(self) -> Done | None:
        row = self.pick(self.placeholders())
        return None if row is None else self._fill(row, fresh=False)

    def replace(self) -> Done | None:
        row = self.pick(self.placeholders())
        return None if row is None else self._fill(row, fresh=True)

    def insert(self) -> Done | None:
        taken = {pair for one in self.done for pair in one.at}
        wire = self.pick(
            w
            for w in wires(self.workflow)
            if w[0] == "main" and w[1] in self.elements and w[3] in self.elements
            and (self.element(w[1]), self.element(w[3])) not in taken
        )  # fmt: skip
        if wire is None:
            return None
        mark = self.mark()
        _, source, output, target, index = wire
        name = f"Added {mark}"
        kind, version, parameters = self._body(mark, [], "")
        x, y = node(self.workflow, target)["position"]  # type: ignore[index]
        row = {
            "id": mark, "name": name, "type": PREFIX + kind, "typeVersion": version,
            "position": [x - 128, y + 16], "parameters": parameters,
        }  # fmt: skip
        self.workflow["nodes"].append(row)
        ends = self.workflow["connections"][source]["main"][output]
        end = next(e for e in ends if (e["node"], e["index"]) == (target, index))
        end |= {"node": name, "index": 0}
        link = {"node": target, "type": "main", "index": index}
        self.workflow["connections"][name] = {"main": [[link]]}

        def there(result: Json) -> bool:
            into = [w for w in wires(result) if w[3] == name]
            return node(result, name) is not None and bool(into)

        between = (self.element(source), self.element(target))
        return Done("insert", [Fact(f"added {mark}", there)], at={between})

    def rename(self) -> Done | None:
        row = self.pick(n for n in self.steps() if n["name"] in self.elements)
        if row is None:
            return None
        old, new = row["name"], f"Person's {self.mark()}"
        of = self.elements.pop(old)
        self.elements[new] = of
        self.forget("rename", of)
        quote = [f"$('{one}')" for one in (_quoted(old), _quoted(new))]
        for other in self.steps():
            other["parameters"] = _replaced(other["parameters"], *quote)
        row["name"] = new
        links = {}
        for source, kinds in self.workflow["connections"].items():
            for outputs in kinds.values():
                for ends in outputs:
                    for end in ends or ():
                        end["node"] = new if end["node"] == old else end["node"]
            links[new if source == old else source] = kinds
        self.workflow["connections"] = links
        pinned = self.workflow.get("pinData", {})
        if old in pinned:
            pinned[new] = pinned.pop(old)
        holds = lambda result: node(result, new) is not None  # noqa: E731
        return Done("rename", [Fact(f"renamed {new}", holds, of)], named={of: new})

    def move(self) -> Done | None:
        rows = [n for n in self.steps() if n["name"] in self.elements]
        if not rows:
            return None
        row = self.pick(rows)
        self.forget("move", self.element(row["name"]))
        place = [row["position"][0] + self.rng.randrange(3, 9) * 16, row["position"][1] + 3200]
        row["position"] = place
        holds = lambda result: any(n["position"] == place for n in result["nodes"])  # noqa: E731
        return Done("move", [Fact(f"moved to {place}", holds, self.element(row["name"]))])

    def note(self) -> Done | None:
        row = self.pick(n for n in self.steps() if n["name"] in self.elements)
        if row is None:
            return None
        mark, of = self.mark(), self.element(row["name"])
        row["notes"] = f"Ask Kim first ({mark})\n\n{row.get('notes', '')}".strip()
        holds = lambda result: any(mark in n.get("notes", "") for n in result["nodes"])  # noqa: E731
        return Done("note", [Fact(f"note {mark}", holds, of)], work={of})

    def sticky(self) -> Done:
        mark = self.mark()
        about = node(self.workflow, "About this workflow")
        if about is not None and self.rng.random() < 0.5:
            about["parameters"]["content"] += f"\n\nCall the owner: {mark}"
        else:
            self.workflow["nodes"].append(
                {"id": mark, "name": f"Sticky {mark}", "type": STICKY, "typeVersion": 1,
                 "position": [-900, -900], "parameters": {"content": mark}}
            )  # fmt: skip
        holds = lambda result: any(  # noqa: E731
            mark in str(n["parameters"].get("content")) for n in result["nodes"]
        )
        return Done("sticky", [Fact(f"sticky {mark}", holds)])

    def settings(self) -> Done:
        zone = self.pick(("Europe/Berlin", "Asia/Tokyo"))
        self.workflow["settings"] |= {"timezone": zone, "errorWorkflow": "err-1"}
        holds = lambda r: (r["settings"]["timezone"], r["settings"]["errorWorkflow"]) == (  # noqa: E731
            zone, "err-1",
        )  # fmt: skip
        self.forget("settings", "")
        return Done("settings", [Fact(f"settings {zone}", holds)])

    def credentials(self) -> Done | None:
        rows = [n for n in self.steps() if n["type"] == f"{PREFIX}httpRequest"]
        row = self.pick(rows)
        if row is None:
            return None
        mark = self.mark()
        row["credentials"] = {"httpBasicAuth": {"id": mark, "name": "Kim"}}
        of = self.element(row["name"])
        holds = lambda result: any(mark in str(n.get("credentials")) for n in result["nodes"])  # noqa: E731
        self.forget("credentials", of)
        return Done("credentials", [Fact(f"credentials {mark}", holds, of)], work={of} - {""})

    def pin(self) -> Done | None:
        row = self.pick(n for n in self.steps() if n["name"] in self.elements)
        if row is None:
            return None
        mark, of = self.mark(), self.element(row["name"])
        self.workflow.setdefault("pinData", {})[row["name"]] = [{"json": {"mark": mark}}]
        self.forget("pin", of)

        def holds(result: Json) -> bool:
            names = {n["name"] for n in result["nodes"]}
            return any(mark in str(v) and k in names for k, v in result.get("pinData", {}).items())

        return Done("pin", [Fact(f"pinned {mark}", holds, of)])

    def agent(self) -> Done | None:
        """A placeholder becomes an AI agent with a model of its own."""
        row = self.pick(self.placeholders())
        if row is None:
            return None
        mark, of = self.mark(), self.element(row["name"])
        self.filled.add(of)
        fields = ", ".join(self._fields(row))
        row |= {
            "type": "@n8n/n8n-nodes-langchain.agent", "typeVersion": 1.7,
            "parameters": {"text": f"{mark} {fields}", "options": {}},
        }  # fmt: skip
        name = f"Model {mark}"
        self.workflow["nodes"].append(
            {"id": mark, "name": name, "type": "@n8n/n8n-nodes-langchain.lmChatOpenAi",
             "typeVersion": 1, "position": [0, 5000 + self.number * 300], "parameters": {}}
        )  # fmt: skip
        link = {"node": row["name"], "type": "ai_languageModel", "index": 0}
        self.workflow["connections"][name] = {"ai_languageModel": [[link]]}

        def holds(result: Json) -> bool:
            root = [n["name"] for n in result["nodes"] if mark in str(n["parameters"].get("text"))]
            return len(root) == 1 and any(
                w[0] == "ai_languageModel" and w[1] == name and w[3] == root[0]
                for w in wires(result)
            )

        return Done("agent", [Fact(f"agent {mark}", holds, of)], work={of})

    def switch(self) -> Done | None:
        """Tries again on error, or is switched off: a setting of a node."""
        row = self.pick(n for n in self.steps() if n["name"] in self.elements)
        if row is None:
            return None
        of = self.element(row["name"])
        tries = self.rng.randrange(6, 99)
        row |= {"retryOnFail": True, "maxTries": tries}
        self.forget("switch", of)
        holds = lambda result: any(n.get("maxTries") == tries for n in result["nodes"])  # noqa: E731
        return Done("switch", [Fact(f"tries {tries}", holds, of)])

    def disable(self) -> Done | None:
        row = self.pick(
            n for n in self.steps() if n["name"] in self.elements and n["type"] == f"{PREFIX}noOp"
        )
        if row is None:
            return None
        row["disabled"] = True
        of = self.element(row["name"])
        self.forget("disable", of)

        def holds(result: Json) -> bool:
            return any(n.get("disabled") and _tag(n) in ("", of) for n in result["nodes"])

        return Done("disable", [Fact("switched off", holds, of)])

    def delete(self) -> Done | None:
        """A placeholder is deleted; the editor joins what was before and after it."""
        row = self.pick(n for n in self.placeholders() if not n.get("disabled"))
        if row is None or any(row["name"] in str(n["parameters"]) for n in self.steps()):
            return None
        name = row["name"]
        of = self.elements.pop(name)
        links = self.workflow["connections"]
        ahead = links.pop(name, {"main": [[]]})["main"][0]
        for kinds in links.values():
            for outputs in kinds.values():
                for ends in outputs:
                    if any(e["node"] == name for e in ends):
                        kept = [e for e in ends if e["node"] != name]
                        ends[:] = kept + [dict(e) for e in ahead if e not in kept]
        self.workflow["nodes"].remove(row)
        self.workflow.get("pinData", {}).pop(name, None)
        for one in self.done:
            one.facts = [fact for fact in one.facts if fact.of != of]
            one.reads.discard(of)
        near = {self.element(e["node"]) for e in ahead}

        def holds(result: Json) -> bool:
            return not any(_tag(n) == of for n in result["nodes"])

        return Done("delete", [Fact(f"deleted {name}", holds, of)], deleted={of}, rewired=near)

    def delete_note(self) -> Done | None:
        rows = [n for n in self.workflow["nodes"] if n["name"].startswith("Lane ")]
        row = self.pick(rows)
        if row is None:
            return None
        name = row["name"]
        self.workflow["nodes"].remove(row)
        self.done = [d for d in self.done if d.kind != "sticky"]
        holds = lambda result: node(result, name) is None  # noqa: E731
        return Done("delete note", [Fact(f"no {name}", holds)])

    def move_wire(self) -> Done | None:
        """A connection is led to another step: the workflow does something else then. Not away from
        a node that was put in: nothing would lead to it."""
        names = [n["name"] for n in self.steps() if n["name"] in self.elements]
        wire = self.pick(
            w
            for w in wires(self.workflow)
            if w[0] == "main" and w[1] in names and not w[3].startswith("Added mark")
        )
        if wire is None:
            return None
        _, source, output, target, index = wire
        other = self.pick(n for n in names if n not in (source, target))
        ends = self.workflow["connections"][source]["main"][output]
        if other is None or any(e["node"] == other for e in ends):
            return None
        end = next(e for e in ends if (e["node"], e["index"]) == (target, index))
        end |= {"node": other, "index": 0}
        mine, its = self.element(source), self.element(other)
        stands = self.elements

        def holds(result: Json) -> bool:
            now = {e: n for n, e in stands.items()}
            found = {_tag(n): n["name"] for n in result["nodes"]}
            pair = (found.get(mine, now.get(mine)), found.get(its, now.get(its)))
            return any((w[1], w[3]) == pair for w in wires(result))

        fact = Fact(f"connection of {source}", holds, mine)
        return Done("move wire", [fact], rewired={mine, its, self.element(target)})

    def edit_condition(self) -> Done | None:
        # whether a page was answered is no decision: with another condition the run asks again
        decides = (n for n in self.steps() if not n["name"].endswith(" answered?"))
        row = self.pick(n for n in decides if n["type"] == f"{PREFIX}if")
        if row is None:
            return None
        mark, of = self.mark(), self.element(row["name"])
        rule = row["parameters"]["conditions"]["conditions"][0]
        rule |= {"leftValue": f"={{{{ $json.{mark.replace('-', '_')} }}}}"}
        key = mark.replace("-", "_")
        self.forget("edit condition", of)
        holds = lambda result: any(key in str(n["parameters"]) for n in result["nodes"])  # noqa: E731
        return Done("edit condition", [Fact(f"condition {key}", holds, of)], conditions={of})

    def imported(self) -> None:
        """The workflow is imported somewhere else: every id is new."""
        for number, row in enumerate(self.workflow["nodes"]):
            row["id"] = f"imported-{number}"
            if "webhookId" in row:
                row["webhookId"] = f"hook-{number}"


def _quoted(name: str) -> str:
    return name.replace("\\", "\\\\").replace("'", "\\'")


def _replaced(value: Any, old: str, new: str) -> Any:
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, list):
        return [_replaced(one, old, new) for one in value]
    if isinstance(value, dict):
        return {key: _replaced(one, old, new) for key, one in value.items()}
    return value


# -- what becomes of the model ---------------------------------------------------------------------


class Changer:
    """Changes a model, with a seeded hand."""

    def __init__(self, model: Model, process: str, rng: random.Random) -> None:
        self.model, self.process_id, self.rng = model, process, rng
        self.done: list[Done] = []
        self.number = 0

    @property
    def process(self) -> Process:
        return next(p for p in self.model.processes if p.id == self.process_id)

    def _with(self, **parts: Any) -> None:
        new = self.process.replace(**parts)
        self.model = self.model.replace(
            processes=tuple(new if p.id == self.process_id else p for p in self.model.processes)
        )

    def pick(self, values: Any) -> Any:
        values = list(values)
        return self.rng.choice(values) if values else None

    def mark(self, word: str) -> str:
        self.number += 1
        return f"{word} {self.rng.randrange(10**6):06d}{self.number}"

    def forget(self, of: str) -> None:
        """What an earlier change did to an element that is changed again."""
        for one in self.done:
            one.facts = [fact for fact in one.facts if fact.of != of]
            one.named.pop(of, None)

    def tasks(self) -> list[Task]:
        return [n for n in self.process.nodes if isinstance(n, Task) and n.loop is None]

    def change(self) -> None:
        """One random change, as far as the model offers something for it."""
        kinds = [
            self.relabel, self.relabel, self.relabel_gateway, self.add_task, self.add_task,
            self.remove_task, self.remove_task, self.add_branch, self.change_condition,
            self.reorder, self.swap,
        ]  # fmt: skip
        made = self.pick(kinds)()
        if made is not None:
            self.done.append(made)

    def _node(self, old: Any, **parts: Any) -> None:
        nodes = tuple(n.replace(**parts) if n.id == old.id else n for n in self.process.nodes)
        self._with(nodes=nodes)

    def relabel(self) -> Done | None:
        events = [n for n in self.process.nodes if isinstance(n, Event) and n.name]
        task = self.pick([*self.tasks(), *events])
        if task is None:
            return None
        name = self.mark("Renamed step")
        self._node(task, name=name)
        self.forget(task.id)
        holds = lambda result: node(result, name) is not None  # noqa: E731
        return Done("relabel", [Fact(f"relabelled {name}", holds, task.id)], named={task.id: name})

    def relabel_gateway(self) -> Done | None:
        gateway = self.pick(n for n in self.process.nodes if isinstance(n, Gateway) and n.name)
        if gateway is None:
            return None
        name = self.mark("Which way")
        self._node(gateway, name=name)
        return Done("relabel gateway", named={gateway.id: name})

    def _flows(self, node: str) -> tuple[list[Flow], list[Flow]]:
        flows = self.process.flows
        return [f for f in flows if f.target == node], [f for f in flows if f.source == node]

    def add_task(self) -> Done | None:
        flow = self.pick(self.process.flows)
        if flow is None:
            return None
        name = self.mark("New step")
        id = f"New_{self.number}_{self.rng.randrange(10**6)}"
        task = Task(id=id, name=name, task_type="user")
        before, after = flow.replace(target=id), Flow(id=f"F_{id}", source=id, target=flow.target)
        flows = []
        for one in self.process.flows:
            flows += [before, after] if one.id == flow.id else [one]
        self._with(nodes=(*self.process.nodes, task), flows=tuple(flows))
        holds = lambda result: sum(n["name"] == name for n in result["nodes"]) == 1  # noqa: E731
        return Done("add task", [Fact(f"added {name}", holds, id)])

    def _without(self, node: str) -> None:
        lanes = tuple(
            lane.replace(members=tuple(m for m in lane.members if m != node))
            for lane in self.process.lanes
        )
        self._with(nodes=tuple(n for n in self.process.nodes if n.id != node), lanes=lanes)

    def remove_task(self) -> Done | None:
        def plain(task: Task) -> bool:
            into, out = self._flows(task.id)
            attached = any(
                isinstance(n, Event) and n.attached_to == task.id for n in self.process.nodes
            )
            return len(into) == len(out) == 1 and not attached and into[0].source != task.id

        task = self.pick(t for t in self.tasks() if plain(t))
        if task is None:
            return None
        into, out = self._flows(task.id)
        joined = into[0].replace(target=out[0].target)
        flows = tuple(
            joined if f.id == into[0].id else f for f in self.process.flows if f.id != out[0].id
        )
        data = tuple(d for d in self.process.data_flows if task.id not in (d.source, d.target))
        self._with(flows=flows, data_flows=data)
        self._without(task.id)
        self.forget(task.id)
        return Done("remove task", removed={task.id})

    def _splits(self) -> list[Gateway]:
        return [
            n
            for n in self.process.nodes
            if isinstance(n, Gateway)
            and n.gateway_kind == "exclusive"
            and len(self._flows(n.id)[1]) > 1
        ]

    def add_branch(self) -> Done | None:
        gateway = self.pick(self._splits())
        if gateway is None:
            return None
        out = self._flows(gateway.id)[1]
        beside = self.pick(out)
        name = self.mark("Other way")
        id = f"Way_{self.number}_{self.rng.randrange(10**6)}"
        flows = (
            *self.process.flows,
            Flow(id=f"{id}_in", source=gateway.id, target=id, name=f"case {id.lower()}"),
            Flow(id=f"{id}_out", source=id, target=beside.target),
        )
        self._with(nodes=(*self.process.nodes, Task(id=id, name=name)), flows=flows)
        holds = lambda result: sum(n["name"] == name for n in result["nodes"]) == 1  # noqa: E731
        return Done("add branch", [Fact(f"added {name}", holds, id)])

    def change_condition(self) -> Done | None:
        gateway = self.pick(self._splits())
        if gateway is None:
            return None
        flow = self.pick(f for f in self._flows(gateway.id)[1] if not f.default)
        if flow is None or flow.condition is not None:
            return None
        name = self.mark("when")
        flows = tuple(f.replace(name=name) if f.id == flow.id else f for f in self.process.flows)
        self._with(flows=flows)
        self.forget(flow.id)
        value = name

        def holds(result: Json) -> bool:
            return value in json.dumps(result["nodes"], ensure_ascii=False)

        return Done("change condition", [Fact(f"condition {name}", holds, flow.id)])

    def reorder(self) -> Done | None:
        flows = list(self.process.flows)
        self.rng.shuffle(flows)
        self._with(flows=tuple(flows))
        return Done("reorder")

    def swap(self) -> Done | None:
        """Two tasks in a row change places."""
        pairs = [
            (t, o)
            for t in self.tasks()
            for o in self.tasks()
            if len(self._flows(t.id)[0]) == len(self._flows(t.id)[1]) == 1
            and len(self._flows(o.id)[1]) == 1
            and [f.target for f in self._flows(t.id)[1]] == [o.id]
            and len(self._flows(o.id)[0]) == 1
            and t.id != o.id
        ]
        found = self.pick(pairs)
        if found is None:
            return None
        one, two = (t.id for t in found)
        swapped = {one: two, two: one}
        flows = tuple(
            f.replace(
                source=swapped.get(f.source, f.source), target=swapped.get(f.target, f.target)
            )
            for f in self.process.flows
        )
        self._with(flows=flows)
        return Done("swap")


# -- cases -----------------------------------------------------------------------------------------


@dataclass
class Case:
    """A merge to try: three workflows, the model of the last, what was done."""

    name: str
    base: Json
    theirs: Json
    ours: Json
    model: Model
    emitted: Emitted
    old: Model
    old_emitted: Emitted
    process: str
    edits: list[Done]
    changes: list[Done]
    stands: dict[str, str]


def compiled(model: Model, registry: Any) -> Emitted | None:
    """What a model is compiled to; None where it is refused."""
    ctx = PassContext(registry=registry)
    made = compile_model(model, N8nBackend(), ctx)
    return made if made is not None and made.artifacts else None


def case(
    name: str, model: Model, registry: Any, seed: int, edits: int = 4, changes: int = 2
) -> Case | None:
    """The case of a seed; None where the model offers nothing, or is refused after its changes."""
    rng = random.Random(f"{name}/{seed}")
    old = compiled(model, registry)
    if old is None or len(old.compiled) != 1:
        return None
    process = next(iter(old.compiled))
    base = json.loads(old.artifacts[0].text)
    for _ in range(6):
        changer = Changer(model, process, rng)
        for _ in range(rng.randrange(1, changes + 1)):
            changer.change()
        new = compiled(changer.model, registry) if changer.done else None
        if new is not None and len(new.compiled) == 1:
            break
    else:
        return None
    elements = {p.name: p.elements[0] for p in old.source_map.parts if p.stands and p.elements}
    editor = Editor(base, elements, rng)
    count = rng.randrange(1, edits + 1)
    for number in range(count):
        editor.edit(last=number + 1 == count)
    if rng.random() < 0.2:
        editor.imported()
    return Case(
        f"{name}/{seed}", base, editor.workflow, json.loads(new.artifacts[0].text), changer.model,
        new, model, old, process, editor.done, changer.done, editor.elements,
    )  # fmt: skip


def true_conflicts(case: Case) -> list[str]:
    """What an edit and a change cannot both have."""
    found = []
    removed = {e for one in case.changes for e in one.removed}
    renamed = {e: n for one in case.changes for e, n in one.named.items()}
    for edit in case.edits:
        found += [f"{edit.kind}: work in {e}, removed" for e in edit.work & removed]
        found += [f"{edit.kind}: reads {e}, removed" for e in edit.reads & removed]
        found += [f"rename: {e}" for e, n in edit.named.items() if e in renamed and renamed[e] != n]
        found += [
            f"insert: between {a} and {b}, both removed"
            for a, b in edit.at
            if a in removed and b in removed
        ]
    return [*found, *_stale_fields(case)]


def lost_facts(case: Case, result: Json) -> list[str]:
    """What is not in the result, but for what hangs on an element that a side took out."""
    gone = {e for one in (*case.edits, *case.changes) for e in (*one.removed, *one.deleted)}
    return [
        fact.text
        for one in (*case.edits, *case.changes)
        for fact in one.facts
        if (fact.of not in gone or one.deleted) and not fact.holds(result)
    ]


def arguable_conflicts(case: Case) -> bool:
    """Whether a person changed what the workflow does, beside changes of the model: whether these
    exclude each other is not told here; the result is judged by `verify`."""
    return any(one.deleted or one.rewired or one.conditions for one in case.edits)


def _stale_fields(case: Case) -> list[str]:
    """Filled nodes that set a field under its old name, and not under the one that is read now."""
    before, now = ({e: r for r in w["nodes"] if (e := _tag(r))} for w in (case.base, case.ours))
    found = []
    for edit in case.edits:
        if edit.kind not in ("fill", "replace", "agent"):
            continue
        for element in edit.work & before.keys() & now.keys():
            old, new = _asked(before[element]), _asked(now[element])
            body = next(
                (str(n["parameters"]) for n in case.theirs["nodes"]
                 if case.stands.get(n["name"]) == element), "",
            )  # fmt: skip
            if any(f in body for f in old - new) and any(f not in body for f in new - old):
                found.append(f"{edit.kind}: {element} sets {sorted(old)}, asked for {sorted(new)}")
    return found


def _tag(row: Json) -> str:
    last = row.get("notes", "").splitlines()[-1:] or [""]
    return last[0].removeprefix("orgflow: ") if last[0].startswith("orgflow: ") else ""


def _asked(row: Json) -> set[str]:
    entries = row["parameters"].get("assignments", {}).get("assignments", [])
    return {one["name"] for one in entries}
