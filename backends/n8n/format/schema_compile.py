"""Compiles JSON Schema into nested functions: the machine behind `schema_check`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

_ANNOTATIONS: Final = frozenset({"$schema", "$id", "$defs", "$comment", "title", "description"})

# A place in the value: None at its root, else (place of the parent, key or index).
Place = tuple["Place", str | int] | None
# Where, what, and the value to show (or _NOTHING). Becomes text only when it is reported, since
# most faults are found by an `if` that does not hold and are never seen.
Fault = tuple[Place, str, object]
Check = Callable[[Any, Place, list[Fault]], None]
_NOTHING: Final = object()


class Problem(NamedTuple):
    """What is wrong in a workflow and where: `path` is a JSON pointer, `kind` never changes."""

    path: str
    message: str
    kind: str = "schema"


class SchemaError(Exception):
    """A schema file that this checker cannot honour in full."""


def pointer(*keys: str | int) -> str:
    """A JSON pointer of these keys."""
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in keys)


def problem(fault: Fault) -> Problem:
    """A fault as it is reported."""
    place, message, value = fault
    keys: list[str | int] = []
    while place is not None:
        place, key = place
        keys.append(key)
    shown = "" if value is _NOTHING else f", is {_shown(value)}"
    return Problem(pointer(*reversed(keys)), message + shown)


# one for all: `json.dumps` would make an encoder for each value that a schema allows
_text: Final = json.JSONEncoder(ensure_ascii=False, default=lambda v: type(v).__name__).encode


def _shown(value: object) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = _text(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _same(left: object, right: object) -> bool:
    """Equality of JSON values: 1 is 1.0, but true is not 1. As deep as the shallower of both."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, dict | list) or isinstance(right, dict | list):
        return False
    return left == right


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_integer(value: object) -> bool:
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


_TYPES: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    "object": (lambda value: isinstance(value, dict), "an object"),
    "array": (lambda value: isinstance(value, list), "a list"),
    "string": (lambda value: isinstance(value, str), "a text"),
    "number": (_is_number, "a number"),
    "integer": (_is_integer, "a whole number"),
    "boolean": (lambda value: isinstance(value, bool), "true or false"),
    "null": (lambda value: value is None, "null"),
}


def _accept(value: Any, place: Place, out: list[Fault]) -> None:
    """The check of a schema that allows everything."""


def _refuse(value: Any, place: Place, out: list[Fault]) -> None:
    what = f"`{place[1]}`" if place is not None else "a value"
    out.append((place, f"{what} is not allowed here", _NOTHING))


def _all(checks: Sequence[Check]) -> Check:
    if len(checks) < 2:
        return checks[0] if checks else _accept

    def check(value: Any, place: Place, out: list[Fault]) -> None:
        for one in checks:
            one(value, place, out)

    return check


def _passes(check: Check, value: object) -> bool:
    found: list[Fault] = []
    check(value, None, found)
    return not found


class Compiler:
    """Turns schemas into functions; `shared` are the documents that a `$ref` may name by `$id`."""

    def __init__(self, shared: Mapping[str, Mapping[str, Any]]) -> None:
        self._shared = shared
        self._done: dict[tuple[int, str], Check] = {}
        self._open: set[tuple[int, str]] = set()

    def compile(self, schema: object, document: Mapping[str, Any]) -> Check:
        """The check of a schema; `document` is what its local references are about."""
        if schema is True:
            return _accept
        if schema is False:
            return _refuse
        if not isinstance(schema, Mapping):
            raise SchemaError(f"not a schema: {schema!r}")
        unknown = schema.keys() - _KEYWORDS.keys() - _ANNOTATIONS
        if unknown:
            raise SchemaError(f"unknown keywords: {', '.join(sorted(unknown))}")
        if "if" not in schema and ("then" in schema or "else" in schema):
            raise SchemaError("`then` and `else` need an `if`")
        # Several keywords may have one builder; it is called once.
        builders = dict.fromkeys(_KEYWORDS[key] for key in _KEYWORDS if key in schema)
        return _all([build(self, schema, document) for build in builders])

    def reference(self, schema: Mapping[str, Any], document: Mapping[str, Any]) -> Check:
        ref = str(schema["$ref"])
        urn, _, fragment = ref.partition("#")
        if urn:
            shared = self._shared.get(urn)
            if shared is None:
                raise SchemaError(f"no schema is called {urn}")
            document = shared
        key = (id(document), fragment)
        if key in self._open:
            raise SchemaError(f"recursive reference {ref}")
        if key not in self._done:
            target: object = document
            for step in fragment.split("/")[1:]:
                if not isinstance(target, Mapping) or step not in target:
                    raise SchemaError(f"nothing at {ref}")
                target = target[step]
            self._open.add(key)
            self._done[key] = self.compile(target, document)
            self._open.discard(key)
        return self._done[key]

    def types(self, schema: Mapping[str, Any], document: Mapping[str, Any]) -> Check:
        names = schema["type"]
        if isinstance(names, str):
            names = [names]
        if not set(names) <= _TYPES.keys():
            raise SchemaError(f"unknown types in {names}")
        tests = [_TYPES[name][0] for name in names]
        wanted = "must be " + " or ".join(_TYPES[name][1] for name in names)
        first = tests[0]

        def check(value: Any, place: Place, out: list[Fault]) -> None:
            if not (first(value) or any(test(value) for test in tests)):
                out.append((place, wanted, value))

        return check

    def choices(self, schema: Mapping[str, Any], document: Mapping[str, Any]) -> Check:
        allowed = schema["enum"]
        texts = frozenset(value for value in allowed if isinstance(value, str))
        others = [value for value in allowed if not isinstance(value, str)]
        wanted = "must be one of " + ", ".join(map(_shown, allowed))

        def check(value: Any, place: Place, out: list[Fault]) -> None:
            if isinstance(value, str):
                if value in texts:
                    return
            elif any(_same(value, other) for other in others):
                return
            out.append((place, wanted, value))

        return check

    def constant(self, schema: Mapping[str, Any], document: Mapping[str, Any]) -> Check:
        wanted = schema["const"]
        message = f"must be {_shown(wanted)}"

        def check(value: Any, place: Place, out: list[Fault]) -> None:
            if not _same(value, wanted):
                out.append((place, message, value))

        return check

    def required(self, schema: Mapping[str, Any], document: Mapping[str, Any]) -> Check:
        names = [(name, f"`{name}` is missing") for name in schema["required"]]

        def check(value: Any, place: Place, out: list[Fault]) -> None:
            if isinstance(value, dict):
                for name, message in names:
                    if name not in value:
                        out.append((place, message, _NOTHING))

        return check

    def members(self, schema: Mapping[str, Any], document: Mapping[str, Any]) -> Check:
        known = {
            name: self.compile(value, document)
            for name, value in schema.get("properties", {}).items()
        }
        patterns = [
            (re.compile(pattern), self.compile(value, document))
            for pattern, value in schema.get("patternProperties", {}).items()
        ]
        rest = schema.get("additionalProperties", True)
        other = None if rest is False else self.compile(rest, document)

        if not patterns and other is _accept:
            # Most conditions look at few of many members.
            few = [item for item in known.items() if item[1] is not _accept]

            def check_few(value: Any, place: Place, out: list[Fault]) -> None:
                if isinstance(value, dict):
                    for name, member in few:
                        if name in value:
                            member(value[name], (place, name), out)

            return check_few

        def check(value: Any, place: Place, out: list[Fault]) -> None:
            if not isinstance(value, dict):
                return
            for name, item in value.items():
                member = known.get(name)
                if member is not None and member is not _accept:
                    member(item, (place, name), out)
                matched = member is not None
                for pattern, pattern_check in patterns:
                    if pattern.search(name):
                        matched = True
                        pattern_check(item, (place, name), out)
                if matched:
                    continue
                if other is not None:
                    other(item, (place, name), out)
                else:
                    out.append(((place, name), f"`{name}` is not a known name here", _NOTHING))

        return check

    def elements(self, schema: Mapping[str, Any], document: Mapping[str, Any]) -> Check:
        first = [self.compile(value, document) for value in schema.get("prefixItems", ())]
        rest = self.compile(schema.get("items", True), document)

        def check(value: Any, place: Place, out: list[Fault]) -> None:
            if isinstance(value, list):
                for index, item in enumerate(value):
                    one = first[index] if index < len(first) else rest
                    one(item, (place, index), out)

        return check

    def pattern(self, schema: Mapping[str, Any], document: Mapping[str, Any]) -> Check:
        search = re.compile(schema["pattern"]).search
        message = f"must match `{schema['pattern']}`"

        def check(value: Any, place: Place, out: list[Fault]) -> None:
            if isinstance(value, str) and search(value) is None:
                out.append((place, message, value))

        return check

    def all_of(self, schema: Mapping[str, Any], document: Mapping[str, Any]) -> Check:
        return _all([self.compile(value, document) for value in schema["allOf"]])

    def any_of(self, schema: Mapping[str, Any], document: Mapping[str, Any]) -> Check:
        return self._forms(schema["anyOf"], document, exactly_one=False)

    def one_of(self, schema: Mapping[str, Any], document: Mapping[str, Any]) -> Check:
        return self._forms(schema["oneOf"], document, exactly_one=True)

    def _forms(
        self, forms: Sequence[object], document: Mapping[str, Any], *, exactly_one: bool
    ) -> Check:
        checks = [self.compile(form, document) for form in forms]

        def check(value: Any, place: Place, out: list[Fault]) -> None:
            best: list[Fault] | None = None
            fitting = 0
            for one in checks:
                found: list[Fault] = []
                one(value, place, found)
                if not found:
                    fitting += 1
                    if not exactly_one:
                        return
                elif best is None or len(found) < len(best):
                    best = found
            if fitting > 1:
                message = f"fits {fitting} of {len(checks)} forms that exclude each other"
                out.append((place, message, _NOTHING))
            elif fitting == 0 and best is not None:
                where, why, shown = best[0]
                message = f"fits none of {len(checks)} forms; in the nearest one {why}"
                out.append((where, message, shown))

        return check

    def negation(self, schema: Mapping[str, Any], document: Mapping[str, Any]) -> Check:
        inner = self.compile(schema["not"], document)

        def check(value: Any, place: Place, out: list[Fault]) -> None:
            if _passes(inner, value):
                out.append((place, "must be something else", value))

        return check

    def condition(self, schema: Mapping[str, Any], document: Mapping[str, Any]) -> Check:
        test = self.compile(schema["if"], document)
        then = self.compile(schema.get("then", True), document)
        otherwise = self.compile(schema.get("else", True), document)

        def check(value: Any, place: Place, out: list[Fault]) -> None:
            (then if _passes(test, value) else otherwise)(value, place, out)

        return check


_Build = Callable[[Compiler, Mapping[str, Any], Mapping[str, Any]], Check]


def _limit(
    keyword: str,
    applies: Callable[[object], bool],
    broken: Callable[[Any, Any], bool],
    text: str,
) -> _Build:
    def build(_: Compiler, schema: Mapping[str, Any], document: Mapping[str, Any]) -> Check:
        bound = schema[keyword]
        message = f"must {text} {bound}"

        def check(value: Any, place: Place, out: list[Fault]) -> None:
            if applies(value) and broken(value, bound):
                out.append((place, message, value))

        return check

    return build


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_list(value: object) -> bool:
    return isinstance(value, list)


_KEYWORDS: Final[Mapping[str, _Build]] = {
    "$ref": Compiler.reference,
    "type": Compiler.types,
    "enum": Compiler.choices,
    "const": Compiler.constant,
    "required": Compiler.required,
    "properties": Compiler.members,
    "patternProperties": Compiler.members,
    "additionalProperties": Compiler.members,
    "prefixItems": Compiler.elements,
    "items": Compiler.elements,
    "pattern": Compiler.pattern,
    "minLength": _limit("minLength", _is_text, lambda v, n: len(v) < n, "be as long as"),
    "maxLength": _limit("maxLength", _is_text, lambda v, n: len(v) > n, "be no longer than"),
    "minItems": _limit("minItems", _is_list, lambda v, n: len(v) < n, "have at least"),
    "maxItems": _limit("maxItems", _is_list, lambda v, n: len(v) > n, "have at most"),
    "minimum": _limit("minimum", _is_number, lambda v, n: v < n, "be at least"),
    "maximum": _limit("maximum", _is_number, lambda v, n: v > n, "be at most"),
    "exclusiveMinimum": _limit("exclusiveMinimum", _is_number, lambda v, n: v <= n, "be above"),
    "allOf": Compiler.all_of,
    "anyOf": Compiler.any_of,
    "oneOf": Compiler.one_of,
    "not": Compiler.negation,
    "if": Compiler.condition,
    "then": Compiler.condition,
    "else": Compiler.condition,
}
