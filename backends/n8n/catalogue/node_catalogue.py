"""The catalogue of an installed n8n, read from the descriptions of its node types.

n8n-nodes-base stores the descriptions of all its node types in one file, and a server sends the
same to its editor, with the types of other packages. It is not part of this project: it is read
from the user's installation.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.catalogue.display import (
    Place,
    Property,
    add_defaults,
    is_list,
    is_visible,
    list_members,
    list_visible,
    read_by,
    select_deciding,
)
from orgflow.backends.n8n.catalogue.schemas import (
    LOCATED,
    Schema,
    at_path,
    parameter_schema,
    plain_text,
    required_blanks,
)
from orgflow.backends.n8n.node_types import catalogue as known_types
from orgflow.backends.n8n.node_types import email_send, http_request, microsoft_teams, slack

from orgflow_ir.model.bindings import ACCOUNTS, CATALOGUE, Parameter, Worker
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline.operation_catalogue import (
    Blank,
    Catalogue,
    CatalogueError,
    Operation,
    Values,
)

BACKEND = "n8n"
FILE = Path("n8n-nodes-base", "dist", "types", "nodes.json")
_PACKAGE = "n8n-nodes-base"
_FOLDERS = (
    Path("node_modules"), Path(), Path("node_modules", "n8n", "node_modules"),
    Path("app", "node_modules"),
)  # fmt: skip
"""Locations of packages in a folder; the last one in that of `engine install --server`."""

_OURS = frozenset(
    {
        # what makes several items of one, or one of several
        "compareDatasets", "splitOut", "sort", "removeDuplicates", "summarize", "itemLists",
        # what only helps in n8n's own editor
        "debugHelper", "simulate", "executionData", "timeSaved", "evaluation", "messageAnAgent",
        "agent", "e2eTest",
        "n8nTrainingCustomerDatastore", "n8nTrainingCustomerMessenger",
    }
)  # fmt: skip
_DOES_WORK = frozenset(
    module.NODE.name for module in (email_send, http_request, microsoft_teams, slack)
)
"""The types with a module here, which a compilation writes by itself, that do the work of tasks;
the others represent gateways, events and calls."""
_RUNS_CODE = frozenset({"code", "function", "functionItem", "aiTransform", "executeCommand", "ssh"})
"""Types that run a program: they are never proposed."""

_WAITING = frozenset({"sendAndWait", "dispatchAndWait"})
"""Operations that wait for a person: the compiler handles user tasks."""


class NodeType(NamedTuple):
    """A node type in the version of new nodes."""

    name: str
    version: float
    description: Mapping[str, Any]

    @property
    def properties(self) -> Sequence[Property]:
        """Its parameters."""
        properties: Sequence[Property] = self.description["properties"]
        return properties

    @property
    def key(self) -> str:
        """`type@version` with the package."""
        return f"{_PACKAGE}.{self.name}@{self.version:g}"


class N8nCatalogue(Catalogue):
    """See `Catalogue`; `source` is the origin of the descriptions."""

    def __init__(self, types: Sequence[Mapping[str, Any]], source: str, content: str) -> None:
        self._source, self._content = source, content
        self.types = {t.key: t for t in newest_types(types)}
        self._by_id = {o.id: (o, t) for t in self.types.values() for o in operations_of(t)}

    @property
    def name(self) -> str:
        return self._source

    @property
    def content(self) -> str:
        return self._content

    @cached_property
    def operations(self) -> Sequence[Operation]:
        return tuple(operation for operation, _ in self._by_id.values())

    def operation(self, id: str) -> Operation | None:
        operation = self._by_id.get(id)
        return operation[0] if operation is not None else None

    def type_of(self, operation: Operation) -> NodeType:
        """The node type of one of its operations."""
        return self._by_id[operation.id][1]

    def schema(self, operation: Operation, values: Values) -> Schema:
        kind = self.type_of(operation)
        given = {**values, **dict(operation.fixed)}
        schema = parameter_schema(kind.properties, given, kind.version)
        for name, value in operation.fixed:
            if name in schema["properties"]:
                schema["properties"][name] = {"const": value}
        schema["required"] = [
            n for n in schema["required"] if n not in dict(operation.fixed)
        ]  # fmt: skip
        return schema

    def blanks(
        self, operation: Operation, values: Values, inputs: Sequence[str] = ()
    ) -> list[Blank]:
        kind = self.type_of(operation)
        given = {**values, **dict(operation.fixed)}
        return [
            Blank(path, *_visibility_key(entry))
            for path, entry in required_blanks(kind.properties, given, kind.version)
            if path not in inputs and not any(i.startswith(f"{path}.") for i in inputs)
        ]

    def accepts_input(self, operation: Operation, values: Values, path: str) -> bool:
        kind = self.type_of(operation)
        given = {**values, **dict(operation.fixed)}
        if path.partition(".")[0] in dict(operation.fixed):
            return False
        entry = at_path(kind.properties, given, kind.version, path)
        return entry is not None and entry.get("type") in _COMPUTED and not _is_constant(entry)

    def binding(
        self,
        operation: Operation,
        values: Values,
        inputs: Sequence[Parameter] = (),
        outputs: Sequence[Parameter] = (),
    ) -> Worker:
        kind = self.type_of(operation)
        given = _shown_only(
            {**values, **dict(operation.fixed)}, self.schema(operation, values)
        )  # fmt: skip
        paths = {parameter.name for parameter in inputs}
        named: list[Parameter] = []
        for parameter in inputs:
            entry = at_path(kind.properties, given, kind.version, parameter.name)
            if entry is not None and entry.get("type") in LOCATED:
                _put_value(given, parameter.name, _make_locator(entry, ""))
                parameter = parameter.replace(name=f"{parameter.name}.value")
            named.append(parameter)
        for blank in self.blanks(operation, given, tuple(paths)):
            entry = at_path(kind.properties, given, kind.version, blank.path)
            words = f"(fill in: {blank.title})"
            if entry is not None and entry.get("type") in LOCATED:
                _put_value(given, blank.path, _make_locator(entry, words))
            elif entry is not None and entry.get("type") in ("string", "json", "dateTime"):
                _put_value(given, blank.path, [words] if is_list(entry) else words)
            named.append(Parameter(name=blank.path))
        kept = [(name, _ENCODER.encode(value)) for name, value in given.items()]
        needed = credential_kinds(kind, given)
        if needed:
            kept.append((ACCOUNTS, _ENCODER.encode(list(needed))))
        return Worker(
            by=CATALOGUE, target=f"{BACKEND}:{kind.key}", parameters=tuple(kept),
            inputs=tuple(named), outputs=tuple(outputs),
        )  # fmt: skip

    def credentials(self, target: str, values: Values) -> tuple[str, ...]:
        """The kinds of credentials that a node shows; empty for an unknown type."""
        kind = self.types.get(target)
        return credential_kinds(kind, values) if kind is not None else ()


def _make_locator(entry: Property, value: str) -> dict[str, Any]:
    """How n8n finds something by its id, or else in the first way that it has."""
    modes = [m["name"] for m in entry.get("modes") or () if isinstance(m, Mapping)]
    mode = "id" if "id" in modes or not modes else next((m for m in modes if m != "list"), "list")
    return {"__rl": True, "mode": mode, "value": value}


def _put_value(values: dict[str, Any], path: str, value: Any) -> None:
    *before, last = path.split(".")
    for name in before:
        inner = values.get(name)
        values[name] = values = dict(inner) if isinstance(inner, Mapping) else {}
    values[last] = value


def _shown_only(values: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in schema["properties"]}


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

_COMPUTED = frozenset(
    {
        "string", "number", "boolean", "options", "multiOptions", "json", "dateTime", "color",
        "resourceLocator", "workflowSelector",
    }
)  # fmt: skip


def _is_constant(entry: Property) -> bool:
    """Whether n8n takes no expression there."""
    return bool(entry.get("noDataExpression")) or bool(
        (entry.get("typeOptions") or {}).get("multipleValues")
    )


def _visibility_key(entry: Property) -> tuple[str, str, tuple[Any, ...]]:
    values = tuple(o["value"] for o in list_members(entry) if "value" in o)
    free = entry.get("type") not in ("options", "multiOptions")
    return (
        plain_text(str(entry.get("displayName") or entry["name"])),
        plain_text(str(entry.get("description") or "")),
        () if free else values,
    )


# -- reading ---------------------------------------------------------------------------------------


def read_catalogue(path: Path) -> N8nCatalogue:
    """The catalogue of an installation.

    Args:
        path: the file with the descriptions, or a folder in or above `node_modules`.

    Raises:
        CatalogueError: it is missing or unreadable.
    """
    file = path
    if path.is_dir():
        for middle in _FOLDERS:
            file = path / middle / FILE
            if file.is_file():
                break
        else:
            raise CatalogueError(
                f"{path} contains no n8n-nodes-base: run `orgflowc engine install`, or name the "
                "folder in which n8n is installed"
            )
    try:
        data = file.read_bytes()
    except OSError as error:
        raise CatalogueError(f"{file} cannot be read: {error.strerror or error}") from None
    return make_catalogue(data, f"{_PACKAGE} {_version_of(file)}".strip(), str(file))


def make_catalogue(data: bytes, source: str, where: str) -> N8nCatalogue:
    """The catalogue of descriptions as JSON.

    Args:
        data: a list of descriptions.
        source: the name of the catalogue.
        where: the origin, for error messages.

    Raises:
        CatalogueError: the data are not descriptions.
    """
    try:
        return _parse_catalogue(data, source, hashlib.sha256(data).hexdigest())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CatalogueError(
            f"{where} contains no descriptions of node types ({error!r})"
        ) from None


@lru_cache(maxsize=2)
def _parse_catalogue(data: bytes, source: str, content: str) -> N8nCatalogue:
    types = json.loads(data)
    if not isinstance(types, list):
        raise ValueError("no list")
    catalogue = N8nCatalogue(types, source, content)
    if not catalogue.types:
        raise ValueError("no node types")
    return catalogue


def _version_of(file: Path) -> str:
    try:
        package = json.loads((file.parents[2] / "package.json").read_text("utf-8"))
        return str(package["version"])
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return ""


def newest_types(types: Sequence[Mapping[str, Any]]) -> Iterator[NodeType]:
    """Each type that a task may be filled with, in the version of new nodes, by name."""
    newest: dict[str, NodeType] = {}
    for description in types:
        name, versions = description["name"].removeprefix(f"{_PACKAGE}."), description["version"]
        if "." in name:  # of another package
            continue
        versions = versions if isinstance(versions, list) else [versions]
        version = description.get("defaultVersion", max(versions))
        if version in versions and _is_offered(name, description):
            older = newest.get(name)
            if older is None or older.version < version:
                newest[name] = NodeType(name, version, description)
    yield from (newest[name] for name in sorted(newest))


def _is_offered(name: str, description: Mapping[str, Any]) -> bool:
    return (
        not description.get("hidden")
        and "trigger" not in description.get("group", ())
        and description.get("inputs") == ["main"]
        and description.get("outputs") == ["main"]
        and name not in _OURS
        and (node_types.find_type(name) is None or name in _DOES_WORK)
        and name not in _RUNS_CODE
        and not known_types.looks_like_sub_node(f"{_PACKAGE}.{name}")
    )


# -- operations ------------------------------------------------------------------------------------


def operations_of(kind: NodeType) -> Iterator[Operation]:
    """The operations of a node type: those of each of its resources, or itself."""
    description = kind.description
    title = plain_text(str(description["displayName"]))
    for fixed, chosen in _operation_choices(kind):
        last = chosen[-1] if chosen else None
        names = [plain_text(str(o.get("name", ""))) for o in chosen]
        action = plain_text(str(last.get("action") or " ".join(names))) if last is not None else ""
        summary = plain_text(
            str((last or {}).get("description") or description.get("description") or "")
        )
        yield Operation(
            ":".join((kind.key, *(str(value) for _, value in fixed))),
            f"{title}: {action[:1].lower()}{action[1:]}" if action else title,
            summary,
            " ".join((kind.name, *names, *_list_aliases(description))),
            credential_kinds(kind, dict(fixed)),
            fixed,
        )


def _operation_choices(
    kind: NodeType,
) -> Iterator[tuple[tuple[tuple[str, Any], ...], tuple[Property, ...]]]:
    """Values of `resource` and `operation` that show, with the options that give them."""
    deciders = select_deciding(kind.properties, ("resource", "operation"))
    resources: list[Property | None] = [*_select_options(kind, deciders, "resource", {})]
    for resource in resources or [None]:
        fixed: tuple[tuple[str, Any], ...] = ()
        if resource is not None:
            fixed = (("resource", resource["value"]),)
        chosen = () if resource is None else (resource,)
        options = _select_options(kind, deciders, "operation", dict(fixed))
        for operation in options:
            if operation["value"] in _WAITING or "CUSTOM" in str(operation["value"]):
                continue
            yield (*fixed, ("operation", operation["value"])), (*chosen, operation)
        if not options:
            yield fixed, chosen


def _select_options(
    kind: NodeType, deciders: Sequence[Property], name: str, given: Mapping[str, Any]
) -> list[Property]:
    values = add_defaults(deciders, given, kind.version)
    place = Place(values, values, kind.version)
    return [
        option
        for entry in list_visible(deciders, given, kind.version)
        if entry["name"] == name and entry.get("type") == "options"
        for option in list_members(entry)
        if "value" in option
        and "CUSTOM_API" not in str(option["value"])
        and is_visible(option, place)
    ]


def credential_kinds(kind: NodeType, given: Mapping[str, Any]) -> tuple[str, ...]:
    """Kinds of credentials that are visible with given values."""
    described = kind.description.get("credentials") or ()
    read = [name for credential in described for name in read_by(credential)]
    values = add_defaults(select_deciding(kind.properties, read), given, kind.version)
    place = Place(values, values, kind.version)
    kinds = [c["name"] for c in described if c.get("required") and is_visible(c, place)]
    if not kinds and described:
        # Which one is decided by how it is authenticated: all that may be.
        choices = any(e["name"] == "authentication" for e in kind.properties)
        kinds = [] if choices else [c["name"] for c in described if c.get("required")]
    return tuple(dict.fromkeys(kinds))


def _list_aliases(description: Mapping[str, Any]) -> Iterator[str]:
    codex = description.get("codex") or {}
    for word in codex.get("alias") or ():
        yield str(word)
    yield from (str(word) for word in codex.get("categories") or ())
