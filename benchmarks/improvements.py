"""The intended differences between what version 0.1 emitted and what this version emits.

Each improvement undoes one named difference in the new output, and only where the rest of the
place is as it was. What still differs when all are undone is not intended: `output_bytes.py
--named` counts it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any, NamedTuple

Json = dict[str, Any]


class Improvement(NamedTuple):
    """A named difference: `undo(old, new)` takes it out of `new`, and is true where it was."""

    name: str
    undo: Callable[[Any, Any], bool]


def attribute(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[tuple[str, ...], bool]:
    """The improvements in the files of one output, and whether they are all that differs."""
    if old.keys() != new.keys():
        return (), False
    names: dict[str, None] = {}
    whole = True
    for path, text in old.items():
        found, equal = _attribute_text(text, new[path])
        names.update(dict.fromkeys(found))
        whole = whole and equal
    return tuple(names), whole


def _attribute_text(old: str, new: str) -> tuple[list[str], bool]:
    if old == new:
        return [], True
    try:
        before, after = json.loads(old), json.loads(new)
    except ValueError:
        worded = _as_before(new)
        names = [_WORDS] if worded != new else []
        if worded == old:
            return names, True
        numbers = re.compile(r"-?\d+(?:\.\d+)?")
        moved = numbers.sub("0", old) == numbers.sub("0", worded)
        return ([*names, "layout"], True) if moved else ([], False)
    after = deepcopy(after)
    names = [item.name for item in IMPROVEMENTS if item.undo(before, after)]
    return names, bool(names) and before == after


_WORDS = "messages are reworded"
_REWORDED = (
    (r"(?<=[”?.)\w]) matches(?=\. Set |: .* has to set )", " fits"),  # no branch of “X” matches
    (r"the field (\w+) of the answer is", r"the answer's field \1 is"),
    (r"A process diagram with", "A process drawing with"),
)


def _as_before(text: str) -> str:
    """A text with the words of version 0.1."""
    for now, before in _REWORDED:
        text = re.sub(now, before, text)
    return text


def _words(old: Any, new: Any) -> bool:
    """Texts that differ by words alone."""
    changed = False
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old.keys() & new.keys():
            if isinstance(new[key], str) and old[key] != new[key]:
                if _as_before(new[key]) == old[key]:
                    new[key], changed = old[key], True
            else:
                changed = _words(old[key], new[key]) or changed
    elif isinstance(old, list) and isinstance(new, list):
        for one, other in zip(old, new, strict=False):
            changed = _words(one, other) or changed
    return changed


# -- n8n -------------------------------------------------------------------------------------------


def _pairs(old: Any, new: Any) -> Iterator[tuple[Json, Json]]:
    """The nodes of two workflows that have the same name."""
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return
    before = {n["name"]: n for n in old.get("nodes", ()) if "name" in n}
    for node in new.get("nodes", ()):
        if node.get("name") in before:
            yield before[node["name"]], node


def _base(old: Any, new: Any) -> bool:
    """The map note carries what the workflow was compiled to, for merges."""
    changed = False
    for _, node in _pairs(old, new):
        content = node["parameters"].get("content", "")
        if "`orgflow-map" in content and "`orgflow-base" in content:
            node["parameters"]["content"] = re.sub(r"\n\n`orgflow-base [^`]*`", "", content)
            changed = True
    return changed


_MAP = "Map for orgflow"


def _one_note(old: Any, new: Any) -> bool:
    """One note above the workflow, which holds the map out of sight, in place of two."""
    if not any(True for _ in _pairs(old, new)):
        return False
    maps = [n for n in old["nodes"] if n["name"].startswith(_MAP)]
    above = [n for n in new["nodes"] if "\n[orgflow]: #" in n["parameters"].get("content", "")]
    if not maps or not above or any(n["name"] == maps[0]["name"] for n in new["nodes"]):
        return False
    words = {n["name"]: n for n in old["nodes"]}
    for note in above:
        if note["name"] in words:
            note["parameters"] = words[note["name"]]["parameters"]
        else:
            new["nodes"].remove(note)
    for at, node in enumerate(old["nodes"]):
        if node in maps:
            new["nodes"].insert(at, deepcopy(node))
    return True


def _outputs(old: Any, new: Any) -> bool:
    """The outputs of Switch nodes, and the wires of an output, in the order that crosses least."""
    changed = False
    for before, node in _pairs(old, new):
        name = node["name"]
        wires = new["connections"].get(name, {}).get("main", [])
        was = old["connections"].get(name, {}).get("main", [])
        rules, old_rules = _rules(node), _rules(before)
        keys, old_keys = [_key(r) for r in rules], [_key(r) for r in old_rules]
        if keys != old_keys and sorted(keys) == sorted(old_keys) and len(set(keys)) == len(keys):
            order = [keys.index(key) for key in old_keys]
            rules[:] = [rules[at] for at in order]
            wires[: len(order)] = [wires[at] for at in order]
            changed = True
        for at, (port, old_port) in enumerate(zip(wires, was, strict=False)):
            if port != old_port and _sorted(port) == _sorted(old_port):
                wires[at] = old_port
                changed = True
    return changed


def _rules(node: Json) -> list[Json]:
    if not node["type"].endswith(".switch"):
        return []
    found: list[Json] = node["parameters"].get("rules", {}).get("values", [])
    return found


def _key(rule: Json) -> str:
    return str(rule.get("outputKey", ""))


def _sorted(port: list[Json] | None) -> list[str]:
    return sorted(json.dumps(wire, sort_keys=True) for wire in port or ())


def _items(old: Any, new: Any) -> bool:
    """Nodes run once and hand on an item whatever they are given."""
    changed = False
    for before, node in _pairs(old, new):
        for flag in ("executeOnce", "alwaysOutputData"):
            if node.get(flag) is True and flag not in before:
                del node[flag]
                changed = True
    return changed


def _receiving(old: Any, new: Any) -> bool:
    """What receives a message waits for a call, and decisions read what was called with."""
    changed = False
    for before, node in _pairs(old, new):
        waits = node["type"] == "n8n-nodes-base.wait" and "webhookId" in node
        if waits and before["type"] in ("n8n-nodes-base.set", "n8n-nodes-base.noOp"):
            node.pop("webhookId")
            for key in ("type", "typeVersion", "parameters"):
                node[key] = before[key]
            changed = True
    for before, node in _pairs(old, new) if changed else ():
        read = json.loads(json.dumps(node["parameters"]).replace(".json.body?.", ".json."))
        if json.loads(json.dumps(read).replace(".first(0)", ".last(0)")) == before["parameters"]:
            node["parameters"] = read
    return changed


def _notes(old: Any, new: Any) -> bool:
    """Notes say more to whoever fills a node; the line that names the element is the same."""
    changed = False
    for before, node in _pairs(old, new):
        one, two = before.get("notes", ""), node.get("notes", "")
        if one != two and one.splitlines()[-1:] == two.splitlines()[-1:]:
            node["notes"] = one
            changed = True
    return changed


def _first_item(old: Any, new: Any) -> bool:
    """Decisions read the first item of a step, not the last."""
    changed = False
    for before, node in _pairs(old, new):
        text = json.dumps(node["parameters"])
        restored = json.loads(text.replace(".first(0)", ".last(0)"))
        if restored != node["parameters"] and restored == before["parameters"]:
            node["parameters"] = restored
            changed = True
    return changed


_HELPER = re.compile(r"^orgflow: .+ \((?:before|data|stop|guard)\)$")
_DECISIONS = ("n8n-nodes-base.if", "n8n-nodes-base.switch")


def _variables(old: Any, new: Any) -> bool:
    """Variables: steps that set and keep them, decisions that read them and stop without them.

    Added steps are taken out and what they stood between is connected; a decision is taken for the
    old one where it leads to the same steps.
    """
    known = {before["name"] for before, _ in _pairs(old, new)}
    if not known:
        return False
    added = {
        n["name"]
        for n in new["nodes"]
        if n["name"] not in known and _HELPER.match((n.get("notes", "").splitlines() or [""])[-1])
    }
    if not added:
        return False
    new["nodes"] = [n for n in new["nodes"] if n["name"] not in added]
    wires = new["connections"]
    for name in added:
        onward = [w for port in wires.pop(name, {}).get("main", ()) for w in port or ()]
        for outputs in wires.values():
            for port in list(outputs.get("main", ())):
                at = next((i for i, w in enumerate(port or ()) if w["node"] == name), None)
                if at is not None:
                    port[at : at + 1] = onward
                    if not port:  # the way to a stop
                        outputs["main"].remove(port)
    for before, node in _pairs(old, new):
        same = old["connections"].get(node["name"]) == wires.get(node["name"])
        if before["type"] in _DECISIONS and node["type"] in _DECISIONS and same:
            for key in ("type", "typeVersion", "parameters"):
                node[key] = before[key]
    return True


def _layout(old: Any, new: Any) -> bool:
    """Places of nodes, and sizes of sticky notes."""
    changed = False
    for before, node in _pairs(old, new):
        if node.get("position") != before.get("position"):
            node["position"] = before.get("position")
            changed = True
        for size in ("width", "height"):
            one = before["parameters"].get(size)
            if node["parameters"].get(size) != one and one is not None:
                node["parameters"][size] = one
                changed = True
    return changed


# -- other targets ---------------------------------------------------------------------------------


def _comments(old: Any, new: Any) -> bool:
    """Comments in state machines."""
    changed = False
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old.keys() & new.keys():
            if key == "Comment" and old[key] != new[key]:
                new[key] = old[key]
                changed = True
            changed = _comments(old[key], new[key]) or changed
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for one, two in zip(old, new, strict=True):
            changed = _comments(one, two) or changed
    return changed


def _state_variables(old: Any, new: Any) -> bool:
    """Variables of state machines: the input becomes them, states that are added keep what a step
    sets and stop where one is missing, and choices read them.

    Added states are taken out and what they stood between is connected; a choice is taken for the
    old one where it leads to the same states.
    """
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return False
    changed = False
    if isinstance(old.get("States"), dict) and isinstance(new.get("States"), dict):
        changed = _same_states(old["States"], new["States"])
    for key in old.keys() & new.keys():
        one, two = old[key], new[key]
        if isinstance(one, list) and isinstance(two, list):
            for before, after in zip(one, two, strict=False):
                changed = _state_variables(before, after) or changed
        else:
            changed = _state_variables(one, two) or changed
    return changed


def _same_states(old: Json, new: Json) -> bool:
    added = {name: new[name] for name in new.keys() - old.keys() if _keeps_variable(new[name])}
    for name in added:
        del new[name]
    changed = bool(added)
    for name, state in new.items():
        before = old.get(name, {})
        for key in ("Next", "Default"):
            while state.get(key) in added:
                after = added[state[key]]
                state[key] = after.get("Default", after.get("Next"))
        text = json.dumps(state.get("Parameters"))
        text = text.replace('"vars.$"', '"input.$"').replace("$.vars", "$.input")
        if state.get("Parameters") != before.get("Parameters") == json.loads(text):
            state["Parameters"] = before["Parameters"]
            changed = True
        if "Choices" in state and "Choices" in before:
            left = [choice["Next"] for choice in state["Choices"] if choice["Next"] not in added]
            differ = state["Choices"] != before["Choices"]
            if differ and left == [choice["Next"] for choice in before["Choices"]]:
                state["Choices"] = before["Choices"]
                changed = True
    return changed


def _keeps_variable(state: Json) -> bool:
    """Whether a state only copies or looks at variables, or ends where one was never set."""
    if state["Type"] == "Fail":
        return bool(state.get("Error") == "VariableNeverSet")
    sets = str(state.get("ResultPath", "")).startswith("$.vars")
    return (state["Type"] == "Pass" and sets) or (state["Type"] == "Choice" and "Default" in state)


def _bindings(old: Any, new: Any) -> bool:
    """What does a step is read as one of the typed bindings, and elements name their source."""
    changed = False
    if not (isinstance(old, dict) and isinstance(new, dict) and "processes" in new):
        return False
    for one, two in zip(old["processes"], new["processes"], strict=False):
        for before, node in zip(one["nodes"], two["nodes"], strict=False):
            if before["id"] != node["id"]:
                continue
            for key in ("binding", "derived_from"):
                if before.get(key) != node.get(key):
                    node.pop(key, None)
                    node.update({key: before[key]} if key in before else {})
                    changed = True
    return changed


IMPROVEMENTS = (
    Improvement("what was compiled is in the map note", _base),
    Improvement("one note holds the words and the map", _one_note),
    Improvement("what receives a message waits for it", _receiving),
    Improvement("outputs in the order that crosses least", _outputs),
    Improvement("steps run once and always hand on an item", _items),
    Improvement("decisions read the first item", _first_item),
    Improvement("variables are set, kept and read", _variables),
    Improvement("notes say what to set", _notes),
    Improvement(_WORDS, _words),
    Improvement("layout", _layout),
    Improvement("comments of state machines", _comments),
    Improvement("variables of state machines", _state_variables),
    Improvement("typed bindings and provenance", _bindings),
)
"""In the order in which they are undone."""
