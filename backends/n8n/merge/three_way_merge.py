"""The merge: (base, theirs, ours) → a workflow with the changes of both sides, or conflicts.

A pure function of three workflows. Nodes are matched (`pairing`), each is merged separately
(`content`), references use the final names, then connections (`wiring`) and positions (`placing`)
are merged.
"""

from __future__ import annotations

import copy
import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from orgflow.backends.n8n.format.compiled_workflow import is_compiled_alike
from orgflow.backends.n8n.format.identity import (
    map_line,
    map_place,
    own_lines,
    read_map,
    readable_text,
)
from orgflow.backends.n8n.format.references import follow_renames, references_in
from orgflow.backends.n8n.format.workflow_document import Node, WorkflowDocument
from orgflow.backends.n8n.merge import ports
from orgflow.backends.n8n.merge.content import ContentMerge, same_body, type_label
from orgflow.backends.n8n.merge.json_merge import ABSENT, JsonMerge, is_equivalent
from orgflow.backends.n8n.merge.merge_outcome import (
    MergeChange,
    MergeConflict,
    Merged,
    shorten_value,
)
from orgflow.backends.n8n.merge.pairing import Pairs, Trio, pair_nodes
from orgflow.backends.n8n.merge.placing import place_nodes
from orgflow.backends.n8n.merge.two_way import presumed_base
from orgflow.backends.n8n.merge.wiring import GONE, Link, WiringMerge

Json = dict[str, Any]

_PARTS: Final = frozenset({"nodes", "connections", "pinData"})
_NUMBER: Final = " ("
_DERIVED: Final = ("Join before ", "Split before ", "Choice after ", "Decide: ", "Second way to ")
"""Prefixes of names that a compilation derives from the names of other nodes."""


def merge_workflows(
    base: Mapping[str, Any] | None, theirs: Mapping[str, Any], ours: Mapping[str, Any]
) -> Merged:
    """Apply the changes of a model to a workflow that a person has edited.

    Args:
        base: the workflow as it was last compiled; None if it is unknown.
        theirs: the edited workflow.
        ours: the current output.
    """
    two_way = base is None
    was = presumed_base(theirs, ours) if base is None else base
    if not two_way and is_compiled_alike(was, ours):
        return Merged(_of_model(theirs, ours))
    merged = _Merge(WorkflowDocument(was), WorkflowDocument(theirs), WorkflowDocument(ours)).run()
    return merged._replace(two_way=two_way)


def _of_model(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> Json:
    """The edited workflow as it is; its map names the model that it is made of now."""
    workflow = copy.deepcopy(dict(theirs))
    for row in workflow["nodes"]:
        digest = read_map([(0, row)]).model
        if digest:
            now = read_map(enumerate(ours["nodes"])).model or digest
            text = row["parameters"]["content"]
            row["parameters"]["content"] = text.replace(
                f'"model":"{digest}"', f'"model":"{now}"', 1
            )
    return workflow


class _Merge:
    def __init__(
        self, base: WorkflowDocument, theirs: WorkflowDocument, ours: WorkflowDocument
    ) -> None:
        self.base, self.theirs, self.ours = base, theirs, ours
        self.pairs: Pairs = pair_nodes(base, theirs, ours)
        self.content = ContentMerge()
        self.conflicts: list[MergeConflict] = self.content.conflicts
        self.changes: list[MergeChange] = self.content.changes

    def run(self) -> Merged:
        kept = [trio for trio in self.pairs.trios if self._is_kept(trio)]
        self.names = self._final_names(kept)
        renames = [
            self._renamed_nodes(keys)
            for keys in (self.pairs.base, self.pairs.theirs, self.pairs.ours)
        ]
        rows = {trio.key: self._merge_row(trio, renames) for trio in kept}
        links = self._merge_links(kept, rows)
        places = place_nodes(
            [t for t in kept if not _is_sticky(t)], [(w.source, w.target) for w in links]
        )
        for trio in kept:
            row = rows[trio.key]
            spot = _sticky_place(trio) if _is_sticky(trio) else places[trio.key]
            row["position"] = [_whole_number(spot[0]), _whole_number(spot[1])]
        workflow = self._build_workflow(kept, rows, links)
        model = [change for change in self.changes if change.origin == "model"]
        person = [change for change in self.changes if change.origin == "workflow"]
        return Merged(
            workflow,
            tuple(dict.fromkeys((*model, *person))),
            tuple(dict.fromkeys(self.conflicts)),
        )

    # -- which nodes there are ---------------------------------------------------------------------

    def _is_kept(self, trio: Trio) -> bool:
        base, theirs, ours = trio.base, trio.theirs, trio.ours
        if theirs is not None and ours is not None:
            return True
        if base is None:
            self._report_new(trio)
            return True
        if ours is not None:
            return self._restores_deleted(base, ours)
        if theirs is not None:
            self._report_removed(base, theirs)
        return False

    def _report_new(self, trio: Trio) -> None:
        if trio.ours is not None:
            self.changes.append(MergeChange("model", f"added `{trio.ours.name}`"))
        elif trio.theirs is not None:
            what = "sticky note" if trio.theirs.sticky else "node"
            self.changes.append(MergeChange("workflow", f"the added {what} `{trio.theirs.name}`"))

    def _restores_deleted(self, base: Node, ours: Node) -> bool:
        """A node that the person deleted and the model still has; whether it comes back."""
        if map_place(ours.parameters.get("content")) is not None:
            return True
        if not base.sticky and not same_body(self._as_in(base, self.pairs.ours), ours.raw):
            self.conflicts.append(
                MergeConflict(
                    base.name,
                    "the node was deleted",
                    f"it is {type_label(ours.raw)}, which was changed",
                    "restore the node, or remove the element from the model",
                )
            )
        self.changes.append(MergeChange("workflow", f"`{base.name}` stays deleted"))
        return False

    def _report_removed(self, base: Node, theirs: Node) -> None:
        """A node that the model has no more."""
        if not base.sticky and not self._is_untouched(base, theirs):
            self.conflicts.append(
                MergeConflict(
                    theirs.name,
                    f"{type_label(theirs.raw)} was added or edited",
                    f"`{base.name}` was removed",
                    "delete the node in the workflow, or restore the element in the model",
                )
            )
        if base.sticky and _sticky_text(theirs) != _sticky_text(base):
            text = f"the edited sticky note `{theirs.name}` is removed with its nodes"
            self.changes.append(MergeChange("model", text, notable=True))
        # A person may look for a node by the name that they gave it.
        renamed = theirs.name != base.name
        called = f" (renamed to `{theirs.name}`)" if renamed else ""
        text = f"removed `{base.name}`{called}"
        self.changes.append(MergeChange("model", text, notable=renamed and not base.sticky))

    def _is_untouched(self, base: Node, theirs: Node) -> bool:
        """Whether nothing in a node is a person's work; its place and its name are none."""
        return (
            same_body(self._as_in(base, self.pairs.theirs), theirs.raw)
            and base.doc == theirs.doc
            and not theirs.raw.get("credentials")
        )

    def _as_in(self, base: Node, version: Mapping[str, str]) -> Json:
        """A node of the base that names the nodes it reads as a version calls them: n8n rewrites
        what reads a node when somebody renames that."""
        called = {key: name for name, key in version.items()}
        renamed = {
            name: called[key]
            for name, key in self.pairs.base.items()
            if called.get(key, name) != name
        }
        return _follow_names(base, renamed)

    # -- names -------------------------------------------------------------------------------------

    def _final_names(self, kept: list[Trio]) -> dict[str, str]:
        """The final name of each node: a person's and then the model's, all different."""
        wanted = {trio.key: self._merge_name(trio) for trio in kept}
        persons = [
            t for t in kept
            if t.theirs is not None and wanted[t.key] == t.theirs.name
            and (t.ours is None or wanted[t.key] != t.ours.name)
        ]  # fmt: skip
        done: dict[str, str] = {}
        taken: set[str] = set()
        first = {trio.key for trio in persons}
        for trio in (*persons, *(t for t in kept if t.key not in first)):
            base, number = wanted[trio.key], 2
            name = base
            while name in taken:
                name, number = f"{base} ({number})", number + 1
            taken.add(name)
            done[trio.key] = name
        return done

    def _renamed_nodes(self, keys: Mapping[str, str]) -> dict[str, str]:
        """The final names of the nodes of a version that are called otherwise there; one that is
        not kept is called as in the base, so that who renamed it edited nothing that reads it."""
        before = {key: name for name, key in self.pairs.base.items()}
        final = {name: self.names.get(key, before.get(key, name)) for name, key in keys.items()}
        return {name: wanted for name, wanted in final.items() if wanted != name}

    def _merge_name(self, trio: Trio) -> str:
        base, theirs, ours = trio.base, trio.theirs, trio.ours
        if theirs is None or ours is None:
            node = ours or theirs
            assert node is not None
            return node.name
        was = base.name if base is not None else ours.name
        if theirs.name in (was, ours.name):
            if ours.name != was:
                self.changes.append(MergeChange("model", f"`{was}` is called `{ours.name}`"))
            return ours.name
        if base is not None and not base.sticky:
            self.changes.append(MergeChange("workflow", f"`{was}` is called `{theirs.name}`"))
        if _bare_name(ours.name) == _bare_name(was) or ours.sticky or _is_named_after_others(ours):
            return theirs.name
        self.conflicts.append(
            MergeConflict(
                theirs.name,
                f"the node was renamed to `{theirs.name}`",
                f"it is called `{ours.name}`",
                f"rename the node in the workflow to `{was}` or `{ours.name}`",
            )
        )
        return theirs.name

    # -- one node ----------------------------------------------------------------------------------

    def _merge_row(self, trio: Trio, renames: list[dict[str, str]]) -> Json:
        base, theirs, ours = (
            None if node is None else _follow_names(node, renames[at])
            for at, node in enumerate((trio.base, trio.theirs, trio.ours))
        )
        name = self.names[trio.key]
        if ours is None:
            assert theirs is not None
            row = dict(theirs)
        elif theirs is None:
            row = dict(ours)
        elif _is_sticky(trio):
            row = self.content.sticky(base, theirs, ours)
        else:
            row = self.content.node(name, base, theirs, ours)
        row["name"] = name
        if not _is_sticky(trio) and theirs is not None:
            self._report_dangling(name, row, ours)
        place = map_place(trio.ours.parameters.get("content")) if trio.ours is not None else None
        if trio.ours is not None and place is not None:
            text = readable_text(str(row["parameters"]["content"]))
            lines = own_lines(str(trio.ours.parameters["content"]))
            own = [self._write_map(trio.ours, place) if map_place(li) else li for li in lines]
            content = "\n".join([text, "", *own])
            row["parameters"] = {**row["parameters"], "content": content}
        return row

    def _report_dangling(self, name: str, row: Json, ours: Mapping[str, Any] | None) -> None:
        """A person's expression that reads a node that is gone."""
        if ours is not None and same_body(row, ours):
            return
        there = set(self.names.values())
        for other in references_in(row.get("parameters")):
            known = self.pairs.theirs.get(other)
            if other not in there and known is not None:
                self.conflicts.append(
                    MergeConflict(
                        name,
                        f"an expression reads `{other}`",
                        f"`{other}` was removed",
                        "in the workflow, change the expression to read another node",
                    )
                )

    def _write_map(self, ours: Node, place: int) -> str:
        """The line with the map under the final names."""
        content, _ = json.JSONDecoder().raw_decode(str(ours.parameters["content"]), place)
        keys = self.pairs.ours
        content["nodes"] = {
            self.names[keys[name]]: element
            for name, element in content["nodes"].items()
            if keys.get(name) in self.names
        }
        return map_line(content)

    # -- wires -------------------------------------------------------------------------------------

    def _merge_links(self, kept: list[Trio], rows: Mapping[str, Json]) -> list[Link]:
        alive = frozenset(trio.key for trio in kept)
        sides = ((self.base, self.pairs.base), (self.theirs, self.pairs.theirs),
                 (self.ours, self.pairs.ours))  # fmt: skip
        raw = [
            [Link(w.kind, keys[w.source], w.output, keys[w.target], w.input) for w in side.wires]
            for side, keys in sides
        ]
        base, theirs, ours = self._number_links(kept, rows, *raw)
        merge = WiringMerge(
            base,
            theirs,
            ours,
            alive,
            tuple(t.key for t in kept if t.base is None and t.ours is None and not _is_sticky(t)),
            frozenset(t.key for t in self.pairs.trios if t.theirs is None and t.base and t.ours),
            self._name_node,
        )
        links = merge.run()
        self.conflicts += merge.conflicts
        self.changes += merge.changes
        return links

    def _name_node(self, key: str) -> str:
        if key in self.names:
            return self.names[key]
        trio = next(candidate for candidate in self.pairs.trios if candidate.key == key)
        node = trio.theirs or trio.base or trio.ours
        assert node is not None
        return node.name

    def _number_links(
        self, kept: list[Trio], rows: Mapping[str, Json], *raw: list[Link]
    ) -> list[list[Link]]:
        """The wires of all versions under the port numbers of the final nodes."""
        outs = [_wire_ends(links, out=True) for links in raw]
        maps: list[dict[str, dict[int, int]]] = [{}, {}, {}]
        for trio in kept:
            base, theirs, ours = trio.base, trio.theirs, trio.ours
            if base is None or theirs is None or ours is None:
                continue
            row = rows[trio.key]
            # The new compile's numbers, unless only the person changed the node.
            final = (
                1
                if is_equivalent(row["parameters"], self._renamed_parameters(theirs, 1))
                and not is_equivalent(row["parameters"], self._renamed_parameters(ours, 2))
                else 2
            )
            for at, version in enumerate((base, theirs, ours)):
                if at == 1 and is_equivalent(
                    self._renamed_parameters(theirs, 1), self._renamed_parameters(base, 0)
                ):
                    if trio.key in maps[0]:
                        maps[1][trio.key] = maps[0][trio.key]
                elif at != final:
                    old = {**version.raw, "parameters": self._renamed_parameters(version, at)}
                    maps[at][trio.key] = ports.map_outputs(
                        old, row, outs[at].get(trio.key, {}), outs[final].get(trio.key, {})
                    )
        moved = [_renumber_wires(links, maps[at], out=True) for at, links in enumerate(raw)]
        ins = [_wire_ends(links, out=False) for links in moved]
        into: dict[str, dict[int, int]] = {}
        for trio in kept:
            if trio.base is not None and trio.ours is not None and trio.ours.short == "merge":
                into[trio.key] = ports.map_inputs(
                    ins[0].get(trio.key, {}), ins[2].get(trio.key, {})
                )
        return [
            _renumber_wires(moved[at], into, out=False) if at < 2 else moved[2] for at in range(3)
        ]

    def _renamed_parameters(self, node: Node, at: int) -> Any:
        keys = (self.pairs.base, self.pairs.theirs, self.pairs.ours)[at]
        return follow_renames(node.parameters, self._renamed_nodes(keys))

    # -- the whole ---------------------------------------------------------------------------------

    def _build_workflow(
        self, kept: list[Trio], rows: Mapping[str, Json], links: list[Link]
    ) -> Json:
        base, theirs, ours = self.base.raw, self.theirs.raw, self.ours.raw
        workflow: Json = {}
        for key in dict.fromkeys((*ours, *theirs)):
            if key == "nodes":
                workflow[key] = [rows[trio.key] for trio in kept]
            elif key == "connections":
                workflow[key] = self._write_connections(kept, links)
            elif key == "pinData":
                pinned = self._merge_pinned()
                if pinned is not None:
                    workflow[key] = pinned
            else:
                value = self._merge_value(
                    key, *(version.get(key, ABSENT) for version in (base, theirs, ours))
                )
                if value is not ABSENT:
                    workflow[key] = value
        return workflow

    def _merge_value(self, key: str, base: Any, theirs: Any, ours: Any) -> Any:
        if key not in ("name", "settings"):  # the server's own, such as ids and tags
            return ours if is_equivalent(theirs, base) and ours is not ABSENT else theirs
        merge = JsonMerge()
        value = merge.merge(base, theirs, ours)
        for clash in merge.clashes:
            what = f"the setting {clash.path[0]}" if clash.path else "its name"
            self.conflicts.append(
                MergeConflict(
                    self.theirs.title,
                    f"{what} is `{shorten_value(str(clash.theirs))}`",
                    f"{what} is `{shorten_value(str(clash.ours))}`",
                    "make both equal in the workflow or the model, then merge again",
                )
            )
        if not is_equivalent(theirs, base):
            self.changes.append(MergeChange("workflow", f"the {key} of the workflow"))
        return value

    def _merge_pinned(self) -> Any:
        """Pinned data under the final names; that of nodes that are gone goes with them."""
        pinned = self.theirs.raw.get("pinData")
        if not isinstance(pinned, Mapping):
            return pinned
        kept = {}
        for name, data in pinned.items():
            key = self.pairs.theirs.get(name)
            if key is None or key in self.names:
                kept[self.names[key] if key is not None else name] = data
            else:
                self.changes.append(
                    MergeChange("model", f"the pinned data of `{name}` is removed with it")
                )
        return kept

    def _write_connections(self, kept: list[Trio], links: list[Link]) -> Json:
        by_source: dict[str, list[Link]] = defaultdict(list)
        for link in links:
            by_source[link.source].append(link)
        connections: Json = {}
        for trio in kept:
            for link in by_source.get(trio.key, ()):
                kinds = connections.setdefault(self.names[trio.key], {})
                outputs = kinds.setdefault(link.kind, [])
                outputs.extend([] for _ in range(link.output + 1 - len(outputs)))
                end = {"node": self.names[link.target], "type": link.kind, "index": link.input}
                outputs[link.output].append(end)
        return connections


# -- small things ----------------------------------------------------------------------------------


def _follow_names(node: Node, renamed: Mapping[str, str]) -> Json:
    return {**node.raw, "parameters": follow_renames(node.parameters, renamed)}


def _is_sticky(trio: Trio) -> bool:
    node = trio.ours or trio.theirs or trio.base
    return node is not None and node.sticky


def _sticky_text(sticky: Node) -> object:
    """What people read in a sticky note."""
    content = sticky.parameters.get("content")
    return readable_text(str(content)) if map_place(content) is not None else content


def _sticky_place(trio: Trio) -> tuple[float, float]:
    theirs, ours = trio.theirs, trio.ours
    if theirs is not None and (
        ours is None or trio.base is None or theirs.position != trio.base.position
    ):
        return theirs.position or (0, 0)
    return (ours.position if ours is not None else None) or (0, 0)


def _whole_number(value: float) -> float:
    return int(value) if float(value).is_integer() else value


def _is_named_after_others(node: Node) -> bool:
    """Whether a compilation derives the name of a node from those of other nodes: a person's name
    for it stays when these get other names."""
    helps = node.tag is not None and bool(node.tag[1])
    return helps or node.name.startswith(_DERIVED)


def _bare_name(name: str) -> str:
    """A name without the number that makes it unique."""
    head, bracket, tail = name.rpartition(_NUMBER)
    return head if bracket and tail[:-1].isdigit() and tail.endswith(")") else name


def _wire_ends(links: list[Link], *, out: bool) -> dict[str, dict[int, list[Any]]]:
    ends: dict[str, dict[int, list[Any]]] = {}
    for link in links:
        if link.kind == "main" and out:
            ends.setdefault(link.source, {}).setdefault(link.output, []).append(link.target)
        elif link.kind == "main":
            ends.setdefault(link.target, {}).setdefault(link.input, []).append(link.start)
    return ends


def _renumber_wires(
    links: list[Link], maps: Mapping[str, Mapping[int, int]], *, out: bool
) -> list[Link]:
    """Wires with other numbers; one whose port is gone has a number that no port has."""
    wires = []
    for link in links:
        key = link.source if out else link.target
        if link.kind == "main" and key in maps:
            if out:
                link = link._replace(output=maps[key].get(link.output, GONE + link.output))
            else:
                link = link._replace(input=maps[key].get(link.input, link.input))
        wires.append(link)
    return wires
