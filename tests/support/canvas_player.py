"""Plays the workflow of a process of segments on the model of rows, from its JSON alone.

Nodes are found by their connections, and every expression is evaluated by Node: neither the plan of
the compiler nor the reading of `verify` takes part. The operations of the support set are those of
`waiting.row_model`, whose tests compare them with the real workflows.
"""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from orgflow.backends.n8n.engine.node import find_node
from orgflow.backends.n8n.format.identity import tag_of
from orgflow.backends.n8n.format.support_ids import SUPPORT_IDS
from orgflow.backends.n8n.waiting import row_model
from orgflow.backends.n8n.waiting.row_model import RowWorld, Steps, Token

Json = dict[str, Any]

_LATER = 10**12
_MOST_NODES = 400
_SWEEP = 25_000
_KINDS = ("task", "timer", "receiver")
# The name of a branch that arrived means nothing but that it is another one.
_SHOWN_COLUMNS = ("kind", "element", "title", "link", "assignee", "due_text", "message_key",
                  "hosts_events", "needed")  # fmt: skip


class CanvasError(Exception):
    """A run that n8n would end with an error."""


class NotPlayable(Exception):
    """A node that this player does not know."""


class ExpressionServer:
    """A Node process that evaluates expressions."""

    def __init__(self) -> None:
        script = Path(__file__).with_name("expression_server.cjs")
        self._process = subprocess.Popen(
            [find_node().path, str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._known: dict[str, Any] = {}

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=120)

    def evaluate(self, code: str, json_: Any, nodes: Json, execution: str, *,
                 script: bool = False) -> Any:  # fmt: skip
        """The value of code. Raises `CanvasError`."""
        request = json.dumps(
            {"code": code, "json": json_, "nodes": nodes, "execution": execution, "script": script}
        )
        if request not in self._known:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(request + "\n")
            self._process.stdin.flush()
            answer = json.loads(self._process.stdout.readline())
            if "new Date" in code:  # the moment of the evaluation
                return self._value_of(answer)
            self._known[request] = answer
        return self._value_of(self._known[request])

    def _value_of(self, answer: Json) -> Any:
        if "error" in answer:
            raise CanvasError(answer["error"])
        return json.loads(json.dumps(answer.get("value")))


class Happening(NamedTuple):
    """Something that happens to an open row: the columns by which it is found."""

    kind: str
    element: str
    link: str
    number: int


class StepRecord(NamedTuple):
    """What one happening does, and what is open afterwards."""

    happening: Happening | None
    effects: tuple[str, ...]
    executed: tuple[str, ...]
    open_rows: tuple[str, ...]
    over: bool


class CanvasPlay:
    """One instance of a process.

    Args:
        workflow: the workflow of the process.
        server: evaluates its expressions.
        seed: decides about answers and about the data of placeholders.
        settings: the variables that a placeholder sets, with their values, by node name; the
            variables of a start by an empty name.
    """

    def __init__(
        self,
        workflow: Json,
        server: ExpressionServer,
        seed: str,
        settings: Mapping[str, list[tuple[str, list[Any]]]],
    ) -> None:
        self.nodes = {n["name"]: n for n in workflow["nodes"] if "stickyNote" not in n["type"]}
        self.connections = workflow["connections"]
        self.server, self.seed, self.settings = server, seed, settings
        self.world = RowWorld()
        self.effects: list[str] = []
        self.executed: list[str] = []
        self.counts: dict[str, int] = {}
        self.step = 0

    # -- nodes ---------------------------------------------------------------------------------

    def run_from(self, trigger: str, item: Json, execution: str) -> Steps:
        """One execution from a trigger to its end."""
        outputs: dict[str, Any] = dict.fromkeys(self.nodes)
        todo = [(trigger, item)]
        for _ in range(_MOST_NODES):
            if not todo:
                return {}
            name, item = todo.pop()
            node = self.nodes[name]
            try:
                left = yield from self._run_node(node, item, outputs, execution)
            except CanvasError as error:
                self.effects.append(f"error: {error}")
                return {}
            outputs[name] = {str(output): value for output, value in left.items()}
            wired = self.connections.get(name, {}).get("main", [])
            for output, value in sorted(left.items(), reverse=True):
                ends = wired[output] if output < len(wired) and wired[output] else []
                todo += [(end["node"], value) for end in reversed(ends)]
        self.effects.append("an execution does not end")
        return {}

    def _run_node(self, node: Json, item: Json, outputs: Json, execution: str) -> Iterator[Any]:
        """The items that leave a node, by output."""
        kind = node["type"].rsplit(".", 1)[-1]
        tag = tag_of(node.get("notes"))
        if node.get("disabled"):
            return {0: item}
        if tag is not None and not tag[1]:
            self.executed.append(tag[0])

        def value_of(value: Any) -> Any:
            return self._evaluate(value, item, outputs, execution)

        if kind == "executeWorkflow":
            return (yield from self._call(node, item, value_of))
        if kind in ("if", "filter", "switch"):
            return self._sort_item(node, kind, item, value_of)
        handler = _HANDLERS.get(kind)
        if handler is None:
            if kind.lower().endswith("trigger") or kind == "webhook":
                return {0: item}
            raise NotPlayable(kind)
        return {0: handler(self, node, item, value_of)}

    def _evaluate(self, value: Any, item: Json, outputs: Json, execution: str) -> Any:
        """A parameter as n8n resolves it."""
        if isinstance(value, Mapping):
            return {k: self._evaluate(v, item, outputs, execution) for k, v in value.items()}
        if isinstance(value, list):
            return [self._evaluate(v, item, outputs, execution) for v in value]
        if not isinstance(value, str) or not value.startswith("="):
            return value
        text = value[1:]
        if text.startswith("{{") and text.find("}}") == len(text) - 2:
            return self.server.evaluate(text[2:-2], item, outputs, execution)
        parts = text.split("{{")
        shown = parts[0]
        for part in parts[1:]:
            code, _, rest = part.partition("}}")
            shown += f"{self.server.evaluate(code, item, outputs, execution)}{rest}"
        return shown

    def _sort_item(
        self, node: Json, kind: str, item: Json, value_of: Callable[[Any], Any]
    ) -> dict[int, Json]:
        parameters = node["parameters"]
        if kind != "switch":
            holds = _holds(parameters["conditions"], value_of)
            if kind == "filter":
                return {0: item} if holds else {}
            return {0 if holds else 1: item}
        rules = parameters["rules"]["values"]
        for number, rule in enumerate(rules):
            if _holds(rule["conditions"], value_of):
                return {number: item}
        extra = parameters.get("options", {}).get("fallbackOutput") == "extra"
        return {len(rules): item} if extra else {}

    def set_data(self, node: Json, item: Json, value_of: Callable[[Any], Any]) -> Json:
        """Edit Fields."""
        parameters = node["parameters"]
        if parameters.get("mode") == "raw":
            written = value_of(parameters["jsonOutput"])
            written = json.loads(written) if isinstance(written, str) else written
        else:
            entries = parameters.get("assignments", {}).get("assignments", [])
            written = {e["name"]: value_of(e["value"]) for e in entries}
        keeps = parameters.get("includeOtherFields")
        if not isinstance(written, dict):
            raise CanvasError("the fields are no object")
        return {**item, **written} if keeps else written

    def pass_on(self, node: Json, item: Json, value_of: Callable[[Any], Any]) -> Json:
        """A node that does nothing: a placeholder sets its decisions."""
        del value_of
        settings = self.settings.get(node["name"], ())
        return {**item, **{name: self._draw(node["name"], values) for name, values in settings}}

    def _draw(self, name: str, values: list[Any]) -> Any:
        count = self.counts[name] = self.counts.get(name, 0) + 1
        return random.Random(f"{self.seed}/{name}/{count}").choice(values)

    def run_code(self, node: Json, item: Json, value_of: Callable[[Any], Any]) -> Json:
        """A Code node that returns one item."""
        del value_of
        raise NotPlayable(f"code of {node['name']} {len(item)}")

    def answer(self, node: Json, item: Json, value_of: Callable[[Any], Any]) -> Json:
        """The text of a page."""
        self.effects.append(f"page: {value_of(node['parameters'].get('responseBody'))}")
        return item

    def act_outside(self, node: Json, item: Json, value_of: Callable[[Any], Any]) -> Json:
        """A node that does something outside: what it sends, with its idempotency key."""
        del item
        sent = json.dumps(value_of(node["parameters"]), sort_keys=True)
        self.effects.append(f"{node['type']}: {sent}")
        return {}

    def stop(self, node: Json, item: Json, value_of: Callable[[Any], Any]) -> Json:
        """A stop with an error."""
        del item, value_of
        raise CanvasError(f"stopped: {node['parameters'].get('errorMessage')}")

    # -- the support set -----------------------------------------------------------------------

    def _call(self, node: Json, item: Json, value_of: Callable[[Any], Any]) -> Iterator[Any]:
        parameters = node["parameters"]
        called = parameters["workflowId"]["value"]
        inputs = value_of(parameters["workflowInputs"]["value"])
        part = SUPPORT_IDS.get(called)
        always = {0: {}} if node.get("alwaysOutputData") else {}
        given = {**item, **inputs}
        if part == "complete":
            answer = yield from self._complete(given)
        elif part == "claim":
            answer = yield from row_model.claim_row(
                self.world, str(given.get("key", "")), str(given.get("execution", "")),
                str(given.get("event") or ""), given.get("variables") or {},
                str(given.get("takeover") or ""), int(given.get("attempts") or 0),
            )  # fmt: skip
            answer = dict(answer)
            if not answer["won"]:
                answer["state"] = self.world.read(str(given.get("key", ""))).get("state", "")
        elif part == "start":
            answer = yield from row_model.start_instance(
                self.world, str(given["workflow"]), str(given["element"]), given["variables"] or {},
                str(given.get("instance") or ""),
            )  # fmt: skip
        elif part is None or part == "message":
            self.effects.append(f"call {called}: {json.dumps(inputs, sort_keys=True)}")
            return {0: item}
        else:
            raise CanvasError(f"{part} is not for a process to call")
        return {0: self._item_of(answer)} if answer else always

    def _item_of(self, answer: Mapping[str, Any]) -> Json:
        item = dict(answer)
        token = item.get("token")
        if isinstance(token, Token):
            row = self.world.read(token.key)
            item["token"] = {**token._asdict(), "local": row.get("local", {})}
        return item

    def _complete(self, given: Json) -> Iterator[Any]:
        token = given.get("token")
        if not isinstance(token, dict) or not set(Token._fields) <= token.keys():
            raise CanvasError("no token")
        local = token.get("local", {})
        rows = []
        for row in given.get("rows") or []:
            cells = {**row, "local": {**local, **(row.get("local") or {})}}
            cells["hosts_events"] = "yes" if row.get("hosts_events") else ""
            cells["needed"] = int(row.get("needed") or 0)
            if cells["kind"] == "timer":
                text = str(row.get("due"))
                later = text.startswith("later")
                cells["due"] = self.world.now + (_LATER if later else 0)
                cells["due_text"] = text if later else "at once"
            rows.append({name: value for name, value in cells.items() if value not in ("", None)})
        names = {row.get("ref") for row in rows}
        if any(row.get("inside") and row["inside"] not in names for row in rows):
            raise CanvasError("a row is inside of none")
        fields = {name: token[name] for name in Token._fields}
        return (
            yield from row_model.complete_steps(
                self.world, Token(**fields), rows, given.get("variables") or {},
                end=bool(given.get("end")), leave=str(given.get("leave") or ""),
                levels=int(given.get("levels") or 1),
            )
        )  # fmt: skip

    def continue_process(
        self, world: RowWorld, workflow: str, key: str, takeover: str, event: str,
        variables: Mapping[str, Any], attempts: int = 0,
    ) -> Steps:  # fmt: skip
        """The support set calls the process."""
        del workflow
        trigger = next(
            (n for n, node in self.nodes.items() if "executeWorkflowTrigger" in node["type"]), None
        )
        if trigger is None or self.nodes[trigger].get("disabled"):
            return {}
        item = {"key": key, "takeover": takeover, "event": event, "variables": dict(variables),
                "attempts": attempts}  # fmt: skip
        return (yield from self.run_from(trigger, item, world.new_execution()))

    # -- what happens --------------------------------------------------------------------------

    @contextmanager
    def connected(self) -> Iterator[None]:
        """Lead the calls of the support set to this canvas."""
        own = row_model.continue_process
        row_model.continue_process = self.continue_process
        try:
            yield
        finally:
            row_model.continue_process = own

    def begin(self, start: str) -> StepRecord:
        """Start an instance by the trigger of an element."""
        trigger = next(
            (
                name
                for name, node in self.nodes.items()
                if tag_of(node.get("notes")) == (start, "") and node["type"].lower().endswith(
                    ("trigger", "webhook"))
            ),
            None,
        )  # fmt: skip
        if trigger is not None and not self.nodes[trigger].get("disabled"):
            data = {name: self._draw(name, values) for name, values in self.settings.get("", ())}
            item = {**data, "body": data, "headers": {}}
            self.world.begin(self.run_from(trigger, item, self.world.new_execution()))
        return self._settle(None)

    def happen(self, happening: Happening) -> StepRecord:
        """Something happens to an open row, if there is such a row."""
        rows = [row for row in self._open_rows() if self._describe(row)[:3] == happening[:3]]
        if happening.number >= len(rows):
            return StepRecord(happening, (), (), ("no such row",), over=False)
        row = rows[happening.number]
        world, key = self.world, row["key"]
        if row["kind"] == "task":
            page = next(
                (
                    name
                    for name, node in self.nodes.items()
                    if "formTrigger" in node["type"]
                    and not node.get("disabled")
                    and f"/form/{node['parameters'].get('path')}" == row.get("link")
                ),
                None,
            )
            if page is None:
                return StepRecord(happening, (), (), ("no such page",), over=False)
            item = {**self._fill_form(page), "key": key}
            world.begin(self.run_from(page, item, world.new_execution()))
            # A second answer of the same person is refused.
            world.begin(self.run_from(page, item, world.new_execution()))
        elif row["kind"] == "timer":
            own = row["interrupting"] == "no" or not row["host"]
            world.begin(
                self.continue_process(
                    world, "p", key if own else row["host"], "", row["element"], {}
                )
            )
        else:
            world.begin(row_model.receive_message(world, row["message_key"], {}))
        return self._settle(happening)

    def _fill_form(self, page: str) -> Json:
        answers: Json = {}
        for entry in self.nodes[page]["parameters"].get("formFields", {}).get("values", []):
            options = [o["option"] for o in entry.get("fieldOptions", {}).get("values", [])]
            label = entry.get("fieldLabel", entry.get("fieldName", ""))
            kind = entry.get("fieldType")
            drawn = options or ([1, 5, 50_000] if kind == "number" else ["x", "y"])
            value = self._draw(f"{page} {label}", drawn)
            several = entry.get("multiselect") or kind == "checkbox"
            answers[label] = [value] if several else value
        return answers

    def _settle(self, happening: Happening | None) -> StepRecord:
        """Run all executions to their ends, then a sweep."""
        self.effects, self.executed = [], []
        for sweeps in range(3):
            for _ in range(20_000):
                if not self.world.running:
                    break
                self.world.advance(self.world.running[0])
            else:
                self.effects.append("the executions do not end")
                self.world.running.clear()
            if sweeps < 2:
                self.world.now += _SWEEP
                self.world.begin(row_model.sweep_rows(self.world))
        rows = sorted(
            str([row.get(name) for name in _SHOWN_COLUMNS])
            + f" host {self._element_of(row['host'])} {row['interrupting']}"
            + f" in {[self._element_of(k) for k in row['scope'].split('/')[:-1]]}"
            for row in self.world.rows
            if row["live"] and row["kind"] != "message"
        )
        self.effects.append(f"variables: {json.dumps(self._variables(), sort_keys=True)}")
        over = not any(row["live"] for row in self.world.rows if row["kind"] != "message")
        return StepRecord(
            happening, tuple(sorted(self.effects)), tuple(self.executed), tuple(rows), over
        )

    def _variables(self) -> Json:
        ended = [r for r in self.world.rows if not r["live"] and r["state"] != "cancelled"]
        return row_model.fold_variables(ended)

    def _element_of(self, key: str) -> str:
        row = self.world.read(key) if key else {}
        return f"{row.get('element', '')}{'' if row.get('live') else '!'}"

    def _open_rows(self) -> list[Json]:
        rows = [r for r in self.world.rows if r["state"] == "open" and r["kind"] in _KINDS]
        return [r for r in rows if not r["host"] or self.world.read(r["host"])["state"] == "open"]

    def _describe(self, row: Json) -> Happening:
        return Happening(row["kind"], row["element"], row.get("link", ""), 0)

    def list_happenings(self) -> list[Happening]:
        """All that may happen next."""
        counts: dict[Happening, int] = {}
        happenings = []
        for row in self._open_rows():
            described = self._describe(row)
            counts[described] = counts.get(described, -1) + 1
            happenings.append(described._replace(number=counts[described]))
        return sorted(happenings)

    def play(self, start: str, most: int = 12) -> list[StepRecord]:
        """A run in which chance decides what happens."""
        with self.connected():
            records = [self.begin(start)]
            for number in range(most):
                happenings = self.list_happenings()
                if not happenings:
                    break
                draw = random.Random(f"{self.seed}/happens/{number}")
                records.append(self.happen(draw.choice(happenings)))
        return records

    def replay(self, start: str, run: list[StepRecord]) -> str:
        """Whether the same happenings have the same effects: empty, or the first difference."""
        with self.connected():
            for wanted in run:
                got = (
                    self.begin(start) if wanted.happening is None else self.happen(wanted.happening)
                )
                if got != wanted:
                    return f"after {wanted.happening}: {_first_difference(wanted, got)}"
        return ""


def _first_difference(wanted: StepRecord, got: StepRecord) -> str:
    pairs = zip(StepRecord._fields, wanted, got, strict=True)
    return next(f"{name}: {first} / {second}" for name, first, second in pairs if first != second)


def _holds(filter_: Json, value_of: Callable[[Any], Any]) -> bool:
    truths = [_test(c, value_of) for c in filter_["conditions"]]
    return any(truths) if filter_.get("combinator") == "or" else all(truths)


def _test(condition: Json, value_of: Callable[[Any], Any]) -> bool:
    left, operation = value_of(condition.get("leftValue")), condition["operator"]["operation"]
    right = value_of(condition.get("rightValue"))
    tests: dict[str, Callable[[], bool]] = {
        "true": lambda: left is True,
        "false": lambda: left is False,
        "equals": lambda: str(left) == str(right) if left is not None else right in (None, ""),
        "notEquals": lambda: str(left) != str(right),
        "exists": lambda: left is not None,
        "notExists": lambda: left is None,
    }
    if operation not in tests:
        raise NotPlayable(f"the operation {operation}")
    return tests[operation]()


_HANDLERS: dict[str, Callable[[CanvasPlay, Json, Json, Callable[[Any], Any]], Json]] = {
    "set": CanvasPlay.set_data,
    "noOp": CanvasPlay.pass_on,
    "code": CanvasPlay.run_code,
    "respondToWebhook": CanvasPlay.answer,
    "httpRequest": CanvasPlay.act_outside,
    "emailSend": CanvasPlay.act_outside,
    "slack": CanvasPlay.act_outside,
    "stopAndError": CanvasPlay.stop,
}
