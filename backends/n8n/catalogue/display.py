"""The visible parameters of a node with given values, by the `displayOptions` of its description.

Sources: n8n's documentation of `displayOptions`, and the results of `NodeHelpers.getNodeParameters`
    of n8n-workflow 2.41, with which the tests compare.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from orgflow_ir.model.records import NamedTuple

Property = Mapping[str, Any]
"""One entry of `properties` in the description of a node type."""

GROUPS = ("collection", "fixedCollection")
"""Types of parameters that contain further parameters."""

SILENT = ("notice", "button", "curlImport", "hidden", "credentials")
"""Types that are text or buttons of the editor, or that nobody sets."""

_ROUNDS = 12
"""Maximum number of passes over parameters that show each other; n8n's need only a few."""


class Place(NamedTuple):
    """The data of conditions: values at this level, those of the whole node, and its version."""

    values: Mapping[str, Any]
    root: Mapping[str, Any]
    version: float

    def read(self, name: str) -> list[Any] | None:
        """The value that a condition compares; `None` for one that is the same for every emitted
        node."""
        if name == "@version":
            return [self.version]
        if name == "@tool":
            return [False]
        if name.startswith("@"):
            return []
        value = (
            _nested_value(self.root, name[1:])
            if name.startswith("/")
            else _nested_value(self.values, name)
        )
        if isinstance(value, Mapping) and value.get("__rl"):
            value = value.get("value")
        return list(value) if isinstance(value, list) else [value]


def is_visible(entry: Property, place: Place, key: str = "displayOptions") -> bool:
    """Whether a parameter, an option or a credential is visible."""
    options = entry.get(key)
    if not isinstance(options, Mapping):
        return True
    for name, wanted in (options.get("show") or {}).items():
        values = place.read(name)
        if values is not None and any(v.startswith("=") for v in values if isinstance(v, str)):
            return True  # only a run says what it is
        if not _meets_condition(wanted, values or []):
            return False
    for name, wanted in (options.get("hide") or {}).items():
        values = place.read(name) or []
        if values and _meets_condition(wanted, values):
            return False
    return True


def add_defaults(
    properties: Sequence[Property],
    given: Mapping[str, Any],
    version: float,
    root: Mapping[str, Any] | None = None,
    *,
    defaults: bool = True,
) -> dict[str, Any]:
    """The values of one level with defaults for missing ones, as conditions see them.

    Of parameters with the same name, the visible one counts, which may depend on the others: this
    is repeated until nothing changes. In a `collection`, only given values exist.
    """
    counts: dict[str, int] = {}
    for entry in properties:
        counts[entry["name"]] = counts.get(entry["name"], 0) + 1
    settled: dict[str, Any] = {}
    for _ in range(_ROUNDS):
        settled_values: dict[str, Any] = dict(settled)
        for entry in properties:
            name = entry["name"]
            if entry.get("type") in GROUPS or (name not in given and not defaults):
                continue  # n8n compares no groups
            if counts[name] > 1 and not is_visible(
                entry, Place(settled_values, settled_values if root is None else root, version)
            ):
                continue
            settled_values[name] = given[name] if name in given else _default_value(entry)
        if settled_values == settled:
            break
        settled = settled_values
    return settled


def list_visible(
    properties: Sequence[Property],
    given: Mapping[str, Any],
    version: float,
    root: Mapping[str, Any] | None = None,
    *,
    defaults: bool = True,
) -> Iterator[Property]:
    """The visible parameters of a level with these values, in their order."""
    values = add_defaults(properties, given, version, root, defaults=defaults)
    place = Place(values, values if root is None else root, version)
    return (entry for entry in properties if is_visible(entry, place))


def select_deciding(properties: Sequence[Property], names: Iterable[str]) -> list[Property]:
    """The parameters of a node with these names, and those on which their visibility depends: the
    input of `add_defaults`."""
    wanted, names_read = list(names), set[str]()
    while wanted:
        name = wanted.pop()
        if name in names_read:
            continue
        names_read.add(name)
        for entry in properties:
            if entry["name"] == name:
                for parameter in (entry, *list_members(entry)):
                    wanted += read_by(parameter)
    return [entry for entry in properties if entry["name"] in names_read]


def read_by(entry: Property) -> list[str]:
    """Names of the parameters of the node in the conditions of an entry."""
    options = entry.get("displayOptions") or {}
    sides = (options.get("show") or {}, options.get("hide") or {})
    return [name.lstrip("/").split(".")[0] for side in sides for name in side]


def list_members(entry: Property) -> Sequence[Property]:
    """The parameters in a `collection`, or the groups in a `fixedCollection`."""
    return [o for o in entry.get("options") or () if isinstance(o, Mapping) and "name" in o]


def is_list(entry: Property) -> bool:
    """Whether it contains several values."""
    return bool((entry.get("typeOptions") or {}).get("multipleValues"))


def _default_value(entry: Property) -> Any:
    default = entry.get("default")
    if entry.get("type") == "resourceLocator" and isinstance(default, Mapping):
        return {"__rl": True, **default}
    return default


def _nested_value(values: Any, path: str) -> Any:
    """A nested value by names joined with dots; `None` where there is none."""
    if isinstance(values, Mapping) and path in values:
        return values[path]
    for name in path.split("."):
        if not isinstance(values, Mapping) or name not in values:
            return None
        values = values[name]
    return values


# -- conditions ----------------------------------------------------------------------------------


def _meets_condition(wanted: Any, values: list[Any]) -> bool:
    """Whether values meet one of the conditions: a constant that is among them, or a comparison
    that holds for all."""
    several = wanted if isinstance(wanted, list) else [wanted]
    return any(_meets_one(alternative, values) for alternative in several)


def _meets_one(condition: Any, values: list[Any]) -> bool:
    comparison = condition.get("_cnd") if isinstance(condition, Mapping) else None
    if isinstance(comparison, Mapping) and len(condition) == 1 and comparison:
        kind, target = next(iter(comparison.items()))
        if not values:
            return bool(kind == "not")
        return all(_comparison_holds(kind, value, target) for value in values)
    return any(_is_same(value, condition) for value in values)


def _comparison_holds(kind: str, value: Any, target: Any) -> bool:
    match kind:
        case "eq":
            return _is_same(value, target)
        case "not":
            return not _is_same(value, target)
        case "exists":
            return value is not None and value != ""
        case "between":
            return _is_ordered(target["from"], value) and _is_ordered(value, target["to"])
        case "gte":
            return _is_ordered(target, value)
        case "lte":
            return _is_ordered(value, target)
        case "gt":
            return _is_ordered(target, value) and not _is_same(value, target)
        case "lt":
            return _is_ordered(value, target) and not _is_same(value, target)
    if not isinstance(value, str):
        return False
    match kind:
        case "includes":
            return str(target) in value
        case "startsWith":
            return value.startswith(str(target))
        case "endsWith":
            return value.endswith(str(target))
        case "regex":
            return re.search(str(target), value) is not None
    return False


def _is_ordered(low: Any, high: Any) -> bool:
    numbers = isinstance(low, int | float) and isinstance(high, int | float)
    texts = isinstance(low, str) and isinstance(high, str)
    return bool(low <= high) if numbers or texts else False


def _is_same(left: Any, other: Any) -> bool:
    """Equal as in JavaScript: a truth value is not a number."""
    if isinstance(left, bool) != isinstance(other, bool):
        return False
    return bool(left == other)


def comparison_kinds(entries: Iterable[Property]) -> Iterator[str]:
    """The kinds of comparisons that descriptions use, for tests: all of them have to be known
    here."""
    for entry in entries:
        options = entry.get("displayOptions") or {}
        for side in ("show", "hide"):
            for wanted in (options.get(side) or {}).values():
                for condition in wanted if isinstance(wanted, list) else [wanted]:
                    if isinstance(condition, Mapping) and isinstance(
                        condition.get("_cnd"), Mapping
                    ):
                        yield from condition["_cnd"]
        for inner in list_members(entry):
            yield from comparison_kinds(inner.get("values") or ([inner] if "type" in inner else ()))
