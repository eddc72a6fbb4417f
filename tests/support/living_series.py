"""Random series of edits and deployments: two repositories with the same file, two servers, and a
person in n8n's editor. Whether an edit was lost or a foreign workflow was changed is read from the
servers and from the output of the command, by the test's own marks in the workflows.
"""

from __future__ import annotations

import copy
import json
import random
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from cli_cases import run_in_process
from order_models import order_model

Json = dict[str, Any]

_SENT = ("name", "nodes", "connections", "settings")
_HTTP = "n8n-nodes-base.httpRequest"
_LEFT_ALONE = ("name", "nodes", "connections")
_NOTABLE = re.compile(
    r"(?:warning|error) \w+ \[[\w-]+\].*?(?= \d+ \| | (?:info|warning|error) \w+ \[|$)"
)
"""A warning or error in the output, without the quoted source. Infos name every placeholder, also
one that replaced a person's node."""


@dataclass
class ServerAddress:
    """A server, as the series sees it: workflows by the public API."""

    url: str
    key: str

    def call(self, method: str, path: str, body: Any = None) -> Json:
        headers = {"X-N8N-API-KEY": self.key}
        answer = httpx.request(
            method, f"{self.url}/api/v1{path}", headers=headers, json=body, timeout=120
        )
        assert answer.status_code < 300, f"{method} {path}: {answer.status_code} {answer.text}"
        value: Json = answer.json()
        return value

    def rows(self) -> dict[str, Json]:
        data = self.call("GET", "/workflows?limit=100")["data"]
        return {str(row["id"]): row for row in data if not row.get("isArchived")}

    def save(self, row: Json) -> None:
        body = {key: row[key] for key in _SENT}
        settings = {"executionOrder", "timezone", "saveExecutionProgress"}
        body["settings"] = {k: v for k, v in row["settings"].items() if k in settings}
        self.call("PUT", f"/workflows/{row['id']}", body)

    def create(self, row: Json) -> str:
        body = {key: row[key] for key in ("name", "nodes", "connections")}
        return str(
            self.call("POST", "/workflows", body | {"settings": {"executionOrder": "v1"}})["id"]
        )

    def delete(self, id: str) -> None:
        if self.rows()[id].get("active"):
            self.call("POST", f"/workflows/{id}/deactivate")
        self.call("DELETE", f"/workflows/{id}")


@dataclass
class Mark:
    """A person's edit of a workflow: a text that only it has, and the name of its node."""

    text: str
    node: str


@dataclass
class Kept:
    """A workflow on a server, as it has to be.

    Attributes:
        owner: the repository whose deployments it is of; empty for one of somebody else.
        marks: a person's edits in it.
        undo: what puts back an edit that no deployment can merge, and the node it is about.
    """

    owner: str
    marks: list[Mark] = field(default_factory=list)
    undo: tuple[str, Json] | None = None


class Repository:
    """A git repository with a model, which is edited and committed."""

    def __init__(self, folder: Path, name: str, rng: random.Random) -> None:
        self.folder, self.name, self.rng = folder / name, name, rng
        self.file = self.folder / "models/order.bpmn"
        self.tasks = ["check", "ship", "bill"]
        self.past: list[list[str]] = []
        self.number = 0
        self.folder.mkdir(parents=True)
        self.git("init", "-q")
        self.git("remote", "add", "origin", f"https://git.example/{name}.git")
        self.commit()

    def git(self, *args: str) -> None:
        identity = ("-c", "user.name=Kim", "-c", "user.email=kim@a.example")
        subprocess.run(["git", *identity, *args], cwd=self.folder, check=True, capture_output=True)

    def commit(self) -> None:
        order_model(self.file, *self.tasks)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "A change of the model")

    def edit(self) -> None:
        self.past.append(list(self.tasks))
        kind = self.rng.choice(("add", "add", "remove", "rename"))
        if kind == "remove" and len(self.tasks) > 2:
            self.tasks.remove(self.rng.choice(self.tasks))
        elif kind == "rename":
            at = self.rng.randrange(len(self.tasks))
            self.number += 1
            self.tasks[at] = f"{self.tasks[at].split(':')[0]}:Work {self.number} of {self.name}"
        else:
            self.number += 1
            self.tasks.insert(self.rng.randrange(len(self.tasks) + 1), f"{self.name}{self.number}")
        self.commit()

    def revert(self) -> bool:
        """Undo the last change of the model in a commit of its own."""
        if not self.past:
            return False
        self.tasks = self.past.pop()
        self.commit()
        return True

    @property
    def names(self) -> list[str]:
        return [task.split(":")[-1] for task in self.tasks]


class LivingSeries:
    """One series.

    Args:
        servers: two servers without workflows of the series.
        folder: an empty folder.
        seed: of all choices.
    """

    def __init__(self, servers: Mapping[str, ServerAddress], folder: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.servers = servers
        self.repositories = {n: Repository(folder, n, self.rng) for n in ("sales", "stock")}
        self.kept: dict[str, dict[str, Kept]] = {name: {} for name in servers}
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []
        self.number = 0

    def play(self, steps: int) -> None:
        """A random step after the other; each deployment is judged."""
        kinds: tuple[Callable[[], None], ...] = (
            self.edit_model, self.edit_model, self.edit_workflow, self.edit_workflow,
            self.edit_workflow, self.deploy, self.deploy, self.deploy, self.move, self.revert,
            self.delete,
        )  # fmt: skip
        for name, server in zip(self.repositories, self.servers, strict=True):
            self._deploy_to(self.repositories[name], server)
        for _ in range(steps):
            self.rng.choice(kinds)()
            self.counts["steps"] += 1

    # -- steps ---------------------------------------------------------------------------------

    def edit_model(self) -> None:
        self.rng.choice([*self.repositories.values()]).edit()
        self.counts["model edited"] += 1

    def revert(self) -> None:
        repository = self.rng.choice([*self.repositories.values()])
        if repository.revert():
            self.counts["model reverted"] += 1
            self._deploy_to(repository, self.rng.choice([*self.servers]))

    def deploy(self) -> None:
        repository = self.rng.choice([*self.repositories.values()])
        self._deploy_to(repository, self.rng.choice([*self.servers]))

    def delete(self) -> None:
        server = self.rng.choice([*self.servers])
        if self.kept[server] and self.rng.random() < 0.5:
            id = self.rng.choice([*self.kept[server]])
            self.servers[server].delete(id)
            del self.kept[server][id]
            self.counts["workflow deleted"] += 1

    def move(self) -> None:
        """Export a workflow of one server and import it on the other, unpublished."""
        source, target = self.rng.sample([*self.servers], 2)
        if not self.kept[source]:
            return
        id = self.rng.choice([*self.kept[source]])
        there = self.kept[source][id]
        if any(kept.owner == there.owner for kept in self.kept[target].values()):
            return
        row = self.servers[source].rows()[id]
        new = self.servers[target].create(row)
        self.kept[target][new] = copy.deepcopy(there)
        self.counts["workflow moved"] += 1

    def edit_workflow(self) -> None:
        """What people do in the editor."""
        server = self.rng.choice([*self.servers])
        if not self.kept[server]:
            return
        id = self.rng.choice([*self.kept[server]])
        kept, row = self.kept[server][id], self.servers[server].rows()[id]
        if kept.undo is not None:
            if self.rng.random() < 0.6:
                self._put_back(server, row, kept.undo)
                kept.undo = None
            return
        kinds = (self._fill, self._fill, self._insert, self._note, self._test_trigger,
                 self._paste_start, self._switch_off)  # fmt: skip
        kind = self.rng.choice(kinds)
        if kind(row, kept):
            self.servers[server].save(row)
            self.counts[f"edit: {kind.__name__.strip('_').replace('_', ' ')}"] += 1

    # -- edits ---------------------------------------------------------------------------------

    def _new_text(self) -> str:
        self.number += 1
        return f"mark-{self.rng.randrange(10**8):08d}-{self.number}"

    def _placeholders(self, row: Json) -> list[Json]:
        return [n for n in row["nodes"] if "Placeholder" in str(n.get("notes"))
                and n["type"] == "n8n-nodes-base.noOp" and not n.get("disabled")]  # fmt: skip

    def _fill(self, row: Json, kept: Kept) -> bool:
        nodes = self._placeholders(row)
        if not nodes:
            return False
        node, text = self.rng.choice(nodes), self._new_text()
        url = f"https://x.example/{text}"
        node.update(type=_HTTP, typeVersion=4.2, parameters={"url": url, "options": {}})
        kept.marks.append(Mark(text, node["name"]))
        return True

    def _insert(self, row: Json, kept: Kept) -> bool:
        wires = [
            (n, ends) for n, kinds in row["connections"].items() for ends in kinds["main"] if ends
        ]
        if not wires:
            return False
        _, ends = self.rng.choice(wires)
        text = self._new_text()
        url = f"https://x.example/{text}"
        node = {
            "id": text, "name": f"Added {text}", "type": _HTTP, "typeVersion": 4.2,
            "position": [self.rng.randrange(900), 500], "parameters": {"url": url, "options": {}},
        }  # fmt: skip
        row["nodes"].append(node)
        row["connections"][node["name"]] = {"main": [list(ends)]}
        ends[:] = [{"node": node["name"], "type": "main", "index": 0}]
        kept.marks.append(Mark(text, f"Added {text}"))
        return True

    def _note(self, row: Json, kept: Kept) -> bool:
        text = self._new_text()
        row["nodes"].append({
            "id": text, "name": f"Note {text}", "type": "n8n-nodes-base.stickyNote",
            "typeVersion": 1, "position": [0, -600], "parameters": {"content": text},
        })  # fmt: skip
        kept.marks.append(Mark(text, f"Note {text}"))
        return True

    def _test_trigger(self, row: Json, kept: Kept) -> bool:
        if any(node["type"].endswith(".manualTrigger") for node in row["nodes"]):
            return False
        text = self._new_text()
        row["nodes"].append({
            "id": text, "name": f"Try {text}", "type": "n8n-nodes-base.manualTrigger",
            "typeVersion": 1, "position": [-200, 200], "parameters": {},
        })  # fmt: skip
        tasks = [node["name"] for node in row["nodes"] if "orgflow: " in str(node.get("notes"))]
        end = {"node": self.rng.choice(tasks), "type": "main", "index": 0}
        row["connections"][f"Try {text}"] = {"main": [[end]]}
        kept.marks.append(Mark(text, f"Try {text}"))
        return True

    def _paste_start(self, row: Json, kept: Kept) -> bool:
        start = next((n for n in row["nodes"] if n["type"].endswith(".webhook")), None)
        if start is None:
            return False
        text = self._new_text()
        copied = copy.deepcopy(start) | {"id": text, "name": f"Start {text}", "webhookId": text}
        copied["parameters"]["path"] = text  # n8n's editor gives it a path of its own
        row["nodes"].append(copied)
        kept.marks.append(Mark(text, f"Start {text}"))
        return True

    def _switch_off(self, row: Json, kept: Kept) -> bool:
        nodes = self._placeholders(row)
        if not nodes or self.rng.random() < 0.5:
            return False
        node = self.rng.choice(nodes)
        kept.undo = (node["name"], copy.deepcopy(node))
        node["disabled"] = True
        return True

    def _put_back(self, server: str, row: Json, undo: tuple[str, Json]) -> None:
        for node in row["nodes"]:
            if node["name"] == undo[0] and node.get("disabled"):
                del node["disabled"]
                self.servers[server].save(row)
                self.counts["edit undone"] += 1

    # -- deployments, and what is right ----------------------------------------------------------

    def _deploy_to(self, repository: Repository, server: str) -> None:
        address, kept = self.servers[server], self.kept[server]
        before = address.rows()
        code, out = _run_deploy(address, repository.file)
        after = address.rows()
        action = out.split(" ", 1)[0] if code == 0 else "refused"
        self.counts[f"deployed: {action}"] += 1
        for rule in dict.fromkeys(re.findall(r"error (\w+ \[[\w-]+\])", out)):
            self.counts[f"refused: {rule}"] += 1
        where = f"{repository.name} to {server} ({self.counts['steps']})"
        if code not in (0, 1) or "internal error" in out:
            self.faults.append(f"{where}: exit {code}: {out[-300:]}")
        # 1. What belongs to another, or is not known to the series, stays as it is.
        for id, row in before.items():
            mine = id in kept and kept[id].owner == repository.name
            if not mine and any(row[part] != after.get(id, {}).get(part) for part in _LEFT_ALONE):
                self.faults.append(f"{where}: the workflow {id} of somebody else was changed")
        # 2. A refused deployment changes nothing, and its reason is a finding.
        if code == 1:
            if before.keys() != after.keys() or any(
                before[id][part] != after[id][part] for id in before for part in _LEFT_ALONE
            ):
                self.faults.append(f"{where}: refused, but something changed")
            if "error " not in out:
                self.faults.append(f"{where}: refused without a reason: {out}")
        for id in after.keys() - before.keys():
            kept[id] = Kept(repository.name)
        for id in [id for id in kept if id not in after]:
            self.faults.append(f"{where}: the workflow {id} is gone")
            del kept[id]
        # 3. A person's edit is in the workflow, or the command has named its node.
        named = " ".join(_NOTABLE.findall(out))
        for id, own in kept.items():
            text = json.dumps(after[id]["nodes"])
            for mark in [m for m in own.marks if m.text not in text]:
                own.marks.remove(mark)
                self.counts["edits named"] += 1
                if mark.node not in named:
                    self.faults.append(f"{where}: the edit of `{mark.node}` was lost silently")
            self.counts["edits kept"] += len(own.marks) if own.owner == repository.name else 0
        # 4. What is deployed has the tasks of the model, and one that is switched off is named.
        if code == 0:
            self._judge_tasks(repository, server, after, where)
        elif any(own.undo and own.owner == repository.name for own in kept.values()):
            self.counts["refused over a switched off node"] += "switched off" in out

    def _judge_tasks(
        self, repository: Repository, server: str, after: Mapping[str, Json], where: str
    ) -> None:
        own = [id for id, one in self.kept[server].items() if one.owner == repository.name]
        whole = [
            id
            for id in own
            if set(repository.names) <= {node["name"] for node in after[id]["nodes"]}
        ]
        if not whole:
            self.faults.append(f"{where}: deployed, but tasks of the model are missing")
        if sum(bool(after[id].get("active")) for id in own) > 1:
            self.faults.append(f"{where}: two workflows of the model react to the same events")


def _run_deploy(server: ServerAddress, file: Path) -> tuple[int, str]:
    command = ("deploy", "--url", server.url, "--verbose", file)
    ran = run_in_process(*command, env={"N8N_API_KEY": server.key})
    return ran.code, " ".join(f"{ran.out} {ran.err}".split())


def describe_series(all_counts: Counter[str], faults: list[str]) -> str:
    """The totals, a line each."""
    lost = sum("lost silently" in fault for fault in faults)
    foreign = sum("of somebody else" in fault for fault in faults)
    rows = [f"{count:6} {name}" for name, count in sorted(all_counts.items())]
    rows += [f"{lost:6} edits lost silently", f"{foreign:6} foreign workflows changed",
             f"{len(faults) - lost - foreign:6} other faults"]  # fmt: skip
    return "\n".join([*rows, *faults[:10]])
