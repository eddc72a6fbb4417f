"""From PME's lists to a model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from orgflow.frontends.pme.pme_rules import (
    LostReference,
    MissingKey,
    RepeatedId,
    UnknownElementType,
    UnknownKey,
    WrongType,
)

from orgflow_ir.diagnostics import Rule
from orgflow_ir.model import (
    Event,
    EventDefinition,
    Flow,
    Gateway,
    Lane,
    MessageFlow,
    Model,
    Opaque,
    Pool,
    Process,
    Task,
)
from orgflow_ir.model.element_names import one_line
from orgflow_ir.model.json_source_map import JsonDocument, JsonNode, json_path
from orgflow_ir.model.value import Extra
from orgflow_ir.pipeline import PassContext

PME = "urn:orgflow:pme"
"""Namespace of kept keys that PME does not define."""

_TASKS: dict[str, Any] = {
    "Task": "abstract", "User": "user", "Service": "service", "Manual": "manual",
    "Send": "send", "Receive": "receive", "Script": "script", "BusinessRule": "business-rule",
}  # fmt: skip
_GATEWAYS: dict[str, Any] = {
    "ExclusiveGateway": "exclusive", "InclusiveGateway": "inclusive",
    "ParallelGateway": "parallel", "EventBasedGateway": "event", "ComplexGateway": "complex",
}  # fmt: skip
_EVENT = re.compile(r"(Start|Intermediate|End)([A-Z][a-z]+)Event(Catching|Throwing)?")
_TRIGGERS: dict[str, dict[str, str]] = {
    "start": {"None": "", "Message": "message", "Timer": "timer", "Signal": "signal",
              "Conditional": "conditional"},
    "catch": {"Message": "message", "Timer": "timer", "Signal": "signal", "Link": "link",
              "Conditional": "conditional"},
    "throw": {"None": "", "Message": "message", "Signal": "signal", "Link": "link",
              "Escalation": "escalation", "Compensation": "compensation"},
    "end": {"None": "", "Message": "message", "Signal": "signal", "Error": "error",
            "Escalation": "escalation", "Terminate": "terminate", "Cancel": "cancel",
            "Compensation": "compensation"},
}  # fmt: skip
"""Triggers by position (BPMN 2.0.2, table 10.93)."""

_KINDS = {dict: "an object", list: "a list", str: "a text", bool: "true or false",
          int: "a number", float: "a number", type(None): "null"}  # fmt: skip
Path = tuple[str | int, ...]
Item = tuple[Path, JsonNode]


class Reader:
    """Reads one document; every finding names the JSON path."""

    def __init__(self, document: JsonDocument, ctx: PassContext) -> None:
        self.document = document
        self.ctx = ctx
        self.nodes: dict[str, Any] = {}
        self.ids: dict[str, Path] = {}

    def model(self) -> Model:
        """The model; faulty parts are reported and omitted."""
        root = self.document.root
        lists = ("tasks", "events", "gateways", "pools", "sequenceFlows", "messageFlows")
        extra = self._read_extra((), root, lists)
        for kind, read in (
            ("tasks", _build_task),
            ("events", _build_event),
            ("gateways", _build_gateway),
        ):
            for path, item in self._list_items((kind,), root):
                args = self._read_arguments(path, item, ("id", "name", "type"), kind[:-1])
                node = read(self._read_type(path, item, kind), args)
                self.nodes[args["id"]] = node or self._read_unknown(path, item, args)
        flows = [
            self._read_flow(path, item) for path, item in self._list_items(("sequenceFlows",), root)
        ]
        pools, groups = self._read_pools(bool(flows))
        messages = [
            self._read_message(p, item) for p, item in self._list_items(("messageFlows",), root)
        ]
        return Model(
            id=self._free_id("Definitions_1"),
            loc=self.document.loc(root, "$"),
            extra=extra,
            source=self.document.file,
            processes=self._build_processes(groups, flows),
            pools=tuple(pools),
            message_flows=tuple(messages),
        )

    # -- values ---------------------------------------------------------------------------------

    def _report_fault(
        self, rule: type[Rule], message: str, path: Path, help: str, element: str | None = None
    ) -> None:
        node = self.document.root.find(path)
        loc = self.document.loc(node, json_path(path))
        self.ctx.emit(rule, message, loc=loc, help=help, element=element)

    def _list_items(self, path: Path, owner: JsonNode) -> Iterable[Item]:
        """The objects of a list; whatever is no object is reported."""
        node = owner.members.get(str(path[-1]))
        if node is None:
            return []
        if not isinstance(node.value, list):
            self._report_type(path, node, "a list")
            return []
        good = []
        for index, item in enumerate(node.items):
            if isinstance(item.value, dict):
                good.append(((*path, index), item))
            else:
                self._report_type((*path, index), item, "an object")
        return good

    def _report_type(self, path: Path, node: JsonNode, wanted: str) -> None:
        self._report_fault(
            WrongType,
            f"{json_path(path)} is {_KINDS[type(node.value)]}, not {wanted}",
            path,
            f"write {wanted}; the value is ignored",
        )

    def _read_text(self, path: Path, item: JsonNode, key: str) -> str | None:
        node = item.members.get(key)
        if node is None or (node.value is None and key in ("name", "condition")):
            return None
        if not isinstance(node.value, str):
            self._report_type((*path, key), node, "a text")
            return None
        return node.value

    def _read_texts(self, path: Path, item: JsonNode, key: str) -> list[tuple[Path, str]]:
        node = item.members.get(key)
        if node is None:
            return []
        if not isinstance(node.value, list):
            self._report_type((*path, key), node, "a list")
            return []
        texts: list[tuple[Path, str]] = []
        for index, entry in enumerate(node.items):
            where = (*path, key, index)
            if isinstance(entry.value, str):
                texts.append((where, entry.value))
            else:
                self._report_type(where, entry, "a text")
        return texts

    def _read_extra(self, path: Path, item: JsonNode, known: Iterable[str]) -> Extra:
        """Unknown keys, kept as JSON text; keys that stand twice are reported."""
        for key in dict.fromkeys(item.repeated):
            self._report_fault(
                UnknownKey,
                f"{json_path((*path, key))} occurs more than once",
                (*path, key),
                "keep one of them; the last one is used",
            )
        extra = []
        for key, node in item.members.items():
            if key in known:
                continue
            self._report_fault(
                UnknownKey,
                f"{json_path((*path, key))} is a key that PME does not have",
                (*path, key),
                "check its spelling; it is kept and has no effect",
            )
            text = json.dumps(node.value, ensure_ascii=False, sort_keys=True)
            extra.append((f"@{{{PME}}}{key}", text))
        return tuple(extra)

    def _read_arguments(
        self, path: Path, item: JsonNode, known: Iterable[str], what: str
    ) -> dict[str, Any]:
        name = self._read_identity(path, item, what)
        return {
            "id": name,
            "name": self._read_text(path, item, "name") or "",
            "loc": self.document.loc(item, json_path(path)),
            "extra": self._read_extra(path, item, known),
        }

    def _read_identity(self, path: Path, item: JsonNode, what: str) -> str:
        raw = (self._read_text(path, item, "id") or "").strip()
        if not raw:
            if "id" not in item.members or item.members["id"].value == "":
                self._report_missing(path, "id", "add one; a generated one is used")
            raw = self._free_id(f"{what}_{path[-1]}")
        elif raw in self.ids:
            new = self._free_id(raw)
            self._report_fault(
                RepeatedId,
                f"{self._name_item(path)} has the id `{raw}`, which "
                f"{self._name_item(self.ids[raw])} "
                "already has",
                path,
                f"give one of them another id; this one is read as `{new}`",
                new,
            )
            raw = new
        self.ids[raw] = path
        return raw

    def _name_item(self, path: Path) -> str:
        """The element at a path by its name in the file, else by the path."""
        name = self.document.root.find(path).members.get("name")
        text = one_line(name.value) if name is not None and isinstance(name.value, str) else ""
        return f"`{text}`" if text else json_path(path)

    def _free_id(self, wanted: str) -> str:
        candidate, number = wanted, 2
        while candidate in self.ids:
            candidate = f"{wanted}__{number}"
            number += 1
        return candidate

    def _report_missing(self, path: Path, key: str, help: str) -> None:
        self._report_fault(MissingKey, f"{json_path(path)} has no `{key}`", path, help)

    # -- elements -------------------------------------------------------------------------------

    def _read_type(self, path: Path, item: JsonNode, kind: str) -> str:
        type_text = self._read_text(path, item, "type")
        if type_text is None:
            if "type" not in item.members:
                self._report_missing(path, "type", "give it one of PME's types")
            return "Task" if kind == "tasks" else ""
        return type_text.strip()

    def _read_unknown(self, path: Path, item: JsonNode, args: dict[str, Any]) -> Opaque:
        type_node = item.members.get("type")
        if type_node is not None and isinstance(type_node.value, str):
            self._report_fault(
                UnknownElementType,
                f"{json_path((*path, 'type'))} is `{type_node.value}`, which PME does not have "
                f"for {path[0]}",
                (*path, "type"),
                "use one of PME's types",
                args["id"],
            )
        text = self.document.text[item.start : item.end]
        return Opaque(tag=f"{{{PME}}}{str(path[0])[:-1]}", payload=text, **args)

    def _read_flow(self, path: Path, item: JsonNode) -> Flow:
        args = self._read_arguments(
            path, item, ("id", "name", "sourceRef", "targetRef", "condition"), "sequenceFlow"
        )
        label = self._read_text(path, item, "condition")
        if label:
            args["name"] = label
        return Flow(**self._read_ends(path, item), **args)

    def _read_message(self, path: Path, item: JsonNode) -> MessageFlow:
        args = self._read_arguments(
            path, item, ("id", "name", "sourceRef", "targetRef"), "messageFlow"
        )
        ends = self._read_ends(path, item)
        for key, end in (("sourceRef", ends["source"]), ("targetRef", ends["target"])):
            if end and end not in self.ids:
                self._report_lost((*path, key), end)
        return MessageFlow(**ends, **args)

    def _read_ends(self, path: Path, item: JsonNode) -> dict[str, Any]:
        ends = {}
        for end, key in (("source", "sourceRef"), ("target", "targetRef")):
            if key not in item.members:
                self._report_missing(path, key, "specify the element that it belongs to")
            ends[end] = (self._read_text(path, item, key) or "").strip()
        return ends

    def _report_lost(self, path: Path, name: str) -> None:
        self._report_fault(
            LostReference,
            f"{json_path(path)} is `{name}`, but no element has this id",
            path,
            "use the id of an element of the model",
        )

    # -- pools and processes --------------------------------------------------------------------

    def _read_pools(
        self, flows: bool
    ) -> tuple[list[Pool], list[tuple[str, list[str], list[Lane]]]]:
        """Pools, and for each process its id, nodes and lanes."""
        pools: list[Pool] = []
        groups: list[tuple[str, list[str], list[Lane]]] = []
        taken: set[str] = set()
        for path, item in self._list_items(("pools",), self.document.root):
            args = self._read_arguments(path, item, ("id", "name", "lanes", "elemRefs"), "pool")
            members = self._read_members(path, item, taken)
            lanes: list[Lane] = []
            set_name = f"LaneSet_{len(groups) + 1}"
            for lane_path, lane in self._list_items((*path, "lanes"), item):
                lane_args = self._read_arguments(
                    lane_path, lane, ("id", "name", "elemRefs"), "lane"
                )
                inside = self._read_members(lane_path, lane, taken)
                members.extend(inside)
                lanes.append(Lane(members=tuple(inside), lane_set=set_name, **lane_args))
            process = None
            if members or lanes:
                process = self._free_id(f"Process_{len(groups) + 1}")
                self.ids[process] = path
                groups.append((process, members, lanes))
            pools.append(Pool(process=process, **args))
        rest = [name for name in self.nodes if name not in taken]
        if rest and pools:
            for name in rest:
                self._report_fault(
                    LostReference,
                    f"`{self.nodes[name].label}` is in no pool although the model has pools",
                    self.ids[name],
                    "list it in a pool or lane; it is read as its own process",
                    name,
                )
        if rest or not pools or (flows and not groups):
            process = self._free_id(f"Process_{len(groups) + 1}")
            self.ids[process] = ()
            groups.append((process, rest, []))
        return pools, groups

    def _read_members(self, path: Path, item: JsonNode, taken: set[str]) -> list[str]:
        members = []
        for where, name in self._read_texts(path, item, "elemRefs"):
            if name not in self.nodes:
                self._report_lost(where, name)
            elif name in taken:
                self._report_fault(
                    LostReference,
                    f"{json_path(where)} is `{name}`, which is already in another pool or lane",
                    where,
                    "list every node once; its first pool or lane is used",
                    name,
                )
            else:
                taken.add(name)
                members.append(name)
        return members

    def _build_processes(
        self, groups: list[tuple[str, list[str], list[Lane]]], flows: list[Flow]
    ) -> tuple[Process, ...]:
        """Nodes in the order of the file; a flow is where its source is, else its target, else
        in the first process."""
        home = {name: i for i, (_, members, _) in enumerate(groups) for name in members}
        sorted_nodes: list[list[Any]] = [[] for _ in groups]
        sorted_flows: list[list[Flow]] = [[] for _ in groups]
        for name, node in self.nodes.items():
            sorted_nodes[home[name]].append(node)
        for flow in flows:
            sorted_flows[home.get(flow.source, home.get(flow.target, 0))].append(flow)
        return tuple(
            Process(
                id=name,
                loc=self.document.loc(
                    self.document.root.find(self.ids[name]), json_path(self.ids[name])
                ),
                nodes=tuple(nodes),
                flows=tuple(of_process),
                lanes=tuple(lanes),
            )
            for (name, _, lanes), nodes, of_process in zip(
                groups, sorted_nodes, sorted_flows, strict=True
            )
        )


def _build_task(kind: str, args: dict[str, Any]) -> Task | None:
    return Task(task_type=_TASKS[kind], **args) if kind in _TASKS else None


def _build_gateway(kind: str, args: dict[str, Any]) -> Gateway | None:
    return Gateway(gateway_kind=_GATEWAYS[kind], **args) if kind in _GATEWAYS else None


def _build_event(kind: str, args: dict[str, Any]) -> Event | None:
    match = _EVENT.fullmatch(kind)
    if match is None:
        return None
    where, trigger, way = match.groups()
    position: Any = where.lower()
    if where == "Intermediate":
        throws = way == "Throwing" or trigger in ("None", "Escalation", "Compensation")
        position = "throw" if throws else "catch"
    event_kind = _TRIGGERS[position].get(trigger)
    if event_kind is None or (way is not None and where != "Intermediate"):
        return None
    definitions = (EventDefinition(kind=event_kind),) if event_kind else ()  # type: ignore[arg-type]
    return Event(position=position, definitions=definitions, **args)
