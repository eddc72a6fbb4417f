"""The shape of the values that a script returns: a text, a number, a list of texts, an item.

Only what the text shows for sure is read. A value has several shapes if the text shows several, as
`a ? 1 : "x"` does, and an unknown one where nothing is sure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from orgflow.backends.javascript.script_names import FUNCTIONS, ScriptNames

from orgflow_ir.model.records import NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node as SyntaxNode

MOST_FOLLOWED: Final = 40
"""Maximum depth of values inside values, of names that are followed, and of called functions."""


class Shape(NamedTuple):
    """The shape of a value.

    Attributes:
        kind: `text`, `number`, `boolean`, `scalar` (one of these), `undefined`, `null`,
            `function`, `list`, `object` or `unknown`.
        truthy: whether the value counts as true; `None` if that is not known.
        entries: of a list: the shapes of its known entries, each with its alternatives.
        fields: of an object: the shapes of its fields; `None` if some fields are unknown.
    """

    kind: str
    truthy: bool | None = None
    entries: tuple[tuple[Shape, ...], ...] = ()
    fields: Mapping[str, tuple[Shape, ...]] | None = None


Shapes = tuple[Shape, ...]
"""The alternatives for the shape of a value."""

UNKNOWN: Final = Shape("unknown")
_UNDEFINED: Final = Shape("undefined", False)
_TEXT, _NUMBER, _BOOLEAN = Shape("text"), Shape("number"), Shape("boolean")
_GIVEN_LISTS: Final = frozenset({"$input.all()", "items", "$items()"})

_SHAPES_OF_CALLS: Final[Mapping[str, Shape]] = {
    "JSON.stringify": Shape("text", True), "String": _TEXT, "Number": _NUMBER, "Boolean": _BOOLEAN,
    "parseInt": _NUMBER, "parseFloat": _NUMBER, "Date.now": Shape("number", True),
    "Object.keys": Shape("list", True, ((_TEXT,),)),
    "Object.entries": Shape("list", True, ((Shape("list", True),),)),
    "Array.isArray": _BOOLEAN, "isNaN": _BOOLEAN, "Number.isInteger": _BOOLEAN,
    "encodeURIComponent": _TEXT, "decodeURIComponent": _TEXT, "btoa": _TEXT, "atob": _TEXT,
}  # fmt: skip
"""The results of functions, by the text of the function."""

_SHAPES_OF_METHODS: Final[Mapping[str, Shape]] = {
    **dict.fromkeys(
        ("toString", "toUpperCase", "toLowerCase", "trim", "join", "toFixed", "padStart",
         "padEnd", "toISOString", "toLocaleString", "substring", "charAt", "toISO", "toFormat"),
        _TEXT,
    ),
    **dict.fromkeys(("some", "every", "includes", "startsWith", "endsWith", "test"), _BOOLEAN),
    **dict.fromkeys(("push", "unshift", "indexOf", "findIndex", "getTime"), _NUMBER),
    "split": Shape("list", True, ((_TEXT,),)),
    "forEach": _UNDEFINED,
}  # fmt: skip
"""The results of methods, by their name; of those that only texts, lists and dates have."""

_KEEPING: Final = frozenset({"filter", "slice", "sort", "reverse", "toSorted", "toReversed"})
"""Methods of a list whose result has entries of the list alone."""

_COMPARES: Final = frozenset({"==", "!=", "===", "!==", "<", ">", "<=", ">=", "in", "instanceof"})
_SIGNS: Final[Mapping[str, Shape]] = {
    "!": _BOOLEAN, "delete": _BOOLEAN, "typeof": Shape("text", True), "void": _UNDEFINED,
    "-": _NUMBER, "+": _NUMBER, "~": _NUMBER,
}  # fmt: skip


def list_returned_shapes(names: ScriptNames) -> tuple[Shapes, ...]:
    """The shapes of each value that a script returns outside of its functions, in their order."""
    reader = _ShapeReader(names)
    return tuple(reader.read_returned(value) for value in _list_returned(names.root))


def _list_returned(body: SyntaxNode) -> Iterator[SyntaxNode | None]:
    """The values of the `return` statements of a function, without those of inner functions."""
    todo = [body]
    while todo:
        node = todo.pop()
        if node.type == "return_statement":
            yield next((c for c in node.named_children if c.type != "comment"), None)
        elif node.type not in FUNCTIONS and node.type != "class_body":
            todo.extend(reversed(node.named_children))


def _has_throw(body: SyntaxNode) -> bool:
    todo = [body]
    while todo:
        node = todo.pop()
        if node.type == "throw_statement":
            return True
        if node.type not in FUNCTIONS:
            todo.extend(node.named_children)
    return False


class _ShapeReader:
    """Reads the shapes of expressions of one script."""

    def __init__(self, names: ScriptNames) -> None:
        self._names = names
        self._readers: Mapping[str, Callable[[SyntaxNode, int], Shapes]] = {
            "string": self._read_text,
            "template_string": self._read_text,
            "number": lambda node, depth: (Shape("number", _text_of(node).strip("0.") != ""),),
            "true": lambda node, depth: (Shape("boolean", True),),
            "false": lambda node, depth: (Shape("boolean", False),),
            "null": lambda node, depth: (Shape("null", False),),
            "undefined": lambda node, depth: (_UNDEFINED,),
            "arrow_function": lambda node, depth: (Shape("function", True),),
            "function_expression": lambda node, depth: (Shape("function", True),),
            "function_declaration": lambda node, depth: (Shape("function", True),),
            "update_expression": lambda node, depth: (_NUMBER,),
            "parenthesized_expression": self._read_last,
            "sequence_expression": self._read_last,
            "await_expression": self._read_last,
            "assignment_expression": lambda node, depth: self._read_field(node, "right", depth),
            "ternary_expression": self._read_ternary,
            "unary_expression": self._read_signed,
            "binary_expression": self._read_binary,
            "array": self._read_list,
            "object": self._read_object,
            "identifier": self._read_name,
            "member_expression": self._read_member,
            "new_expression": self._read_new,
            "call_expression": self._read_call,
        }

    def read_returned(self, value: SyntaxNode | None) -> Shapes:
        """The shapes of the value of a `return`; without one, the script returns nothing."""
        return (_UNDEFINED,) if value is None else self._read(value, 0)

    def _read(self, node: SyntaxNode | None, depth: int) -> Shapes:
        if node is None or depth > MOST_FOLLOWED:
            return (UNKNOWN,)
        reader = self._readers.get(node.type)
        return (UNKNOWN,) if reader is None else reader(node, depth + 1)

    def _read_field(self, node: SyntaxNode, field: str, depth: int) -> Shapes:
        return self._read(node.child_by_field_name(field), depth)

    def _read_last(self, node: SyntaxNode, depth: int) -> Shapes:
        """The value of what stands in brackets or after `await`, and the last one of a sequence."""
        parts = [c for c in node.named_children if c.type != "comment"]
        return self._read(parts[-1] if parts else None, depth)

    def _read_text(self, node: SyntaxNode, depth: int) -> Shapes:
        del depth
        written = any(c.type in ("string_fragment", "escape_sequence") for c in node.children)
        computed = any(c.type == "template_substitution" for c in node.children)
        return (Shape("text", True if written else None if computed else False),)

    def _read_ternary(self, node: SyntaxNode, depth: int) -> Shapes:
        return (
            *self._read_field(node, "consequence", depth),
            *self._read_field(node, "alternative", depth),
        )

    def _read_signed(self, node: SyntaxNode, depth: int) -> Shapes:
        del depth
        return (_SIGNS.get(node.children[0].type, UNKNOWN),)

    def _read_binary(self, node: SyntaxNode, depth: int) -> Shapes:
        operator = node.child_by_field_name("operator")
        sign = operator.type if operator is not None else ""
        if sign in _COMPARES:
            return (_BOOLEAN,)
        if sign in ("&&", "||", "??"):
            return (*self._read_field(node, "left", depth), *self._read_field(node, "right", depth))
        if sign != "+":
            return (_NUMBER,)
        sides = (self._read_field(node, side, depth) for side in ("left", "right"))
        kinds = [{shape.kind for shape in side} for side in sides]
        if {"text"} in kinds:
            return (_TEXT,)
        numbers = all(side <= {"number", "boolean"} for side in kinds)
        return (_NUMBER if numbers else Shape("scalar"),)

    def _read_list(self, node: SyntaxNode, depth: int) -> Shapes:
        entries = [c for c in node.named_children if c.type not in ("comment", "spread_element")]
        return (Shape("list", True, tuple(self._read(entry, depth) for entry in entries)),)

    def _read_object(self, node: SyntaxNode, depth: int) -> Shapes:
        fields: dict[str, Shapes] = {}
        for part in node.named_children:
            if part.type == "comment":
                continue
            name = _read_field_name(part)
            if name is None:
                return (Shape("object", True),)
            if part.type == "pair":
                fields[name] = self._read_field(part, "value", depth)
            elif part.type == "shorthand_property_identifier":
                fields[name] = self._read_name(part, depth)
            else:
                fields[name] = (UNKNOWN,)
        return (Shape("object", True, fields=fields),)

    def _read_name(self, node: SyntaxNode, depth: int) -> Shapes:
        value = self._names.constant_value(node)
        return (UNKNOWN,) if value is None else self._read(value, depth)

    def _read_member(self, node: SyntaxNode, depth: int) -> Shapes:
        """The length of a text or a list; other fields are unknown."""
        member, owner = (node.child_by_field_name(f) for f in ("property", "object"))
        if member is None or owner is None or _text_of(member) != "length":
            return (UNKNOWN,)
        counted = self._is_given_list(owner) or all(
            shape.kind in ("list", "text") for shape in self._read(owner, depth)
        )
        return (_NUMBER if counted else UNKNOWN,)

    def _is_given_list(self, node: SyntaxNode) -> bool:
        if _text_of(node) in _GIVEN_LISTS:
            return node.type != "identifier" or not self._names.is_declared(node)
        value = self._names.constant_value(node) if node.type == "identifier" else None
        return value is not None and _text_of(value) in _GIVEN_LISTS

    def _read_new(self, node: SyntaxNode, depth: int) -> Shapes:
        """A new date is a text in JSON, and a new list a list."""
        del depth
        constructor = node.child_by_field_name("constructor")
        name = _text_of(constructor) if constructor is not None else ""
        return ({"Date": Shape("text", True), "Array": Shape("list", True)}.get(name, UNKNOWN),)

    # -- calls

    def _read_call(self, node: SyntaxNode, depth: int) -> Shapes:
        called = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if called is None or arguments is None or arguments.type != "arguments":
            return (UNKNOWN,)
        given = [c for c in arguments.named_children if c.type != "comment"]
        if called.type == "call_expression":
            called = _awaited_function(called) or called
        elif _text_of(called) == "await" and len(given) == 1:
            return self._read_awaited(given[0], depth)
        while called.type == "parenthesized_expression" and len(called.named_children) == 1:
            called = called.named_children[0]
        if called.type in FUNCTIONS:
            return self._read_results(called, depth)
        text = _text_of(called) if len(called.named_children) <= 2 else ""
        if called.type == "identifier":
            function = self._names.constant_value(called)
            if function is not None:
                return self._read_results(function, depth)
            known = None if self._names.is_declared(called) else _SHAPES_OF_CALLS.get(text)
            return (known or UNKNOWN,)
        if called.type != "member_expression":
            return (UNKNOWN,)
        if text in _SHAPES_OF_CALLS:
            return (_SHAPES_OF_CALLS[text],)
        if text.startswith("Math."):
            return (_NUMBER,)
        if text in ("Promise.all", "Promise.resolve") and len(given) == 1:
            return self._read_awaited(given[0], depth)
        return self._read_method(called, given, depth, awaited=False)

    def _read_awaited(self, value: SyntaxNode, depth: int) -> Shapes:
        """The values of promises: of those that a callback of `map` returns, or as they are."""
        function, arguments = (value.child_by_field_name(f) for f in ("function", "arguments"))
        if function is None or function.type != "member_expression" or arguments is None:
            return self._read(value, depth)
        given = [c for c in arguments.named_children if c.type != "comment"]
        return self._read_method(function, given, depth, awaited=True)

    def _read_method(
        self, called: SyntaxNode, given: list[SyntaxNode], depth: int, *, awaited: bool
    ) -> Shapes:
        method, owner = (called.child_by_field_name(f) for f in ("property", "object"))
        name = _text_of(method) if method is not None else ""
        if name in _SHAPES_OF_METHODS:
            return (_SHAPES_OF_METHODS[name],)
        if name in ("map", "flatMap") and given:
            entry = self._read_callback(given[0], depth, awaited=awaited)
            if name == "flatMap" and any(shape.kind in ("list", "unknown") for shape in entry):
                return (Shape("list", True),)
            return (Shape("list", True, (entry,)),)
        if name == "reduce" and len(given) == 2:
            first = self._read(given[1], depth)
            return (*self._read_callback(given[0], depth, awaited=False), *first)
        if name in _KEEPING and owner is not None:
            shapes = self._read(owner, depth)
            return shapes if all(shape.kind == "list" for shape in shapes) else (UNKNOWN,)
        return (UNKNOWN,)

    def _read_callback(self, callback: SyntaxNode, depth: int, *, awaited: bool) -> Shapes:
        """The results of a function that is an argument."""
        function: SyntaxNode | None = callback
        if callback.type == "identifier":
            function = self._names.constant_value(callback)
            if function is None and not self._names.is_declared(callback):
                return (_SHAPES_OF_CALLS.get(_text_of(callback), UNKNOWN),)
        if function is None or function.type not in FUNCTIONS:
            return (UNKNOWN,)
        if not awaited and any(child.type == "async" for child in function.children):
            return (UNKNOWN,)
        return self._read_results(function, depth)

    def _read_results(self, function: SyntaxNode, depth: int) -> Shapes:
        """The values that a function returns; a generator returns none of them."""
        body = function.child_by_field_name("body")
        if body is None or function.type not in FUNCTIONS or "generator" in function.type:
            return (UNKNOWN,)
        if any(child.type == "*" for child in function.children):
            return (UNKNOWN,)
        if body.type != "statement_block":
            return self._read(body, depth)
        values = list(_list_returned(body))
        if not values:
            return (UNKNOWN if _has_throw(body) else _UNDEFINED,)
        return tuple(
            shape
            for value in values
            for shape in ((_UNDEFINED,) if value is None else self._read(value, depth))
        )


def _awaited_function(call: SyntaxNode) -> SyntaxNode | None:
    """The function of `await (f)()`, which the grammar takes for a call of a call of `await`."""
    word, arguments = (call.child_by_field_name(field) for field in ("function", "arguments"))
    if word is None or arguments is None or word.type != "identifier" or _text_of(word) != "await":
        return None
    given = [c for c in arguments.named_children if c.type != "comment"]
    return given[0] if len(given) == 1 else None


def _read_field_name(part: SyntaxNode) -> str | None:
    """The name of a field of an object that is written out; `None` if it is computed."""
    if part.type == "shorthand_property_identifier":
        return _text_of(part)
    key = part.child_by_field_name("key" if part.type == "pair" else "name")
    if key is None or key.type == "computed_property_name":
        return None
    text = _text_of(key)
    return text[1:-1] if key.type == "string" and "\\" not in text else text


def _text_of(node: SyntaxNode) -> str:
    return (node.text or b"").decode("utf-8", "surrogatepass")
