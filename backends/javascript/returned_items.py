"""The items that the script of a Code node returns: how many, and which fields they have.

n8n runs a script once with all items, which returns a list of items or one item, or once for each
item, when it returns one item or nothing. Only what the text shows for sure is read; a script that
does anything else has an unknown result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from orgflow.backends.javascript.source_programs import (
    FUNCTION_NODES,
    UnreadableProgram,
    parse_syntax,
)

from orgflow_ir.model.records import NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node as SyntaxNode

_GIVEN_LISTS: Final = frozenset({"$input.all()", "items"})
_GIVEN_ITEMS: Final = frozenset({
    "$input.item", "$input.first()", "$input.all()[0]", "items[0]", "item",
})  # fmt: skip
_GIVEN_FIELDS: Final = frozenset({"$json", *(f"{item}.json" for item in _GIVEN_ITEMS)})
_LENGTHENS: Final = frozenset({"push", "unshift", "splice", "pop", "shift"})
_ASSIGNS: Final = frozenset({
    "assignment_expression", "augmented_assignment_expression", "update_expression",
})  # fmt: skip
_MOST_RESOLVED: Final = 10
"""Maximum number of constants that are followed from a returned value."""


class ReturnedItems(NamedTuple):
    """The result of a script for one item.

    Attributes:
        is_one: whether it returns exactly one item, unless it fails.
        fields: the fields that it sets on that item; `None` if they are unknown.
        keeps_others: whether the item has the fields of the given one otherwise.
    """

    is_one: bool = False
    fields: frozenset[str] | None = None
    keeps_others: bool = False


UNKNOWN: Final = ReturnedItems()


def read_returned_items(code: str, *, for_each: bool) -> ReturnedItems:
    """The items that a script returns.

    Args:
        code: the text of the script, in JavaScript.
        for_each: whether n8n runs it once for each item, and not once with all of them.
    """
    try:
        root = parse_syntax(code)
    except UnreadableProgram:
        return UNKNOWN
    if root.has_error:
        return UNKNOWN
    returned = list(_list_returns(root))
    steps = [c for c in root.named_children if c.type not in ("comment", *FUNCTION_NODES)]
    if not returned or not steps or steps[-1].type not in ("return_statement", "throw_statement"):
        return UNKNOWN
    return _Script(root, for_each=for_each).join_results(returned)


def _list_returns(root: SyntaxNode) -> Iterator[SyntaxNode | None]:
    """The values that a script returns outside of its functions; `None` for a bare `return`."""
    todo = [root]
    while todo:
        node = todo.pop()
        if node.type == "return_statement":
            yield next((c for c in node.named_children if c.type != "comment"), None)
        elif node.type not in FUNCTION_NODES:
            todo.extend(node.named_children)


class _Script:
    """The constants of a script, and its changes of values."""

    def __init__(self, root: SyntaxNode, *, for_each: bool) -> None:
        self._for_each = for_each
        self._constants: dict[str, SyntaxNode] = {}
        self._resized: set[str] = set()
        self._changes = False
        self._read_declarations(root)

    def _read_declarations(self, root: SyntaxNode) -> None:
        declared: dict[str, list[SyntaxNode | None]] = {}
        todo = [root]
        while todo:
            node = todo.pop()
            todo.extend(node.named_children)
            if node.type == "variable_declarator":
                name = node.child_by_field_name("name")
                assert name is not None
                value = node.child_by_field_name("value")
                declared.setdefault(_text_of(name), []).append(value)
            elif node.type in _ASSIGNS:
                self._read_change(node.child_by_field_name("left") or node.named_children[0])
            elif node.type == "unary_expression" and _text_of(node).startswith("delete"):
                self._changes = True
            elif node.type == "call_expression":
                self._read_call(node)
        for text, values in declared.items():
            if len(values) == 1 and values[0] is not None:
                self._constants[text] = values[0]

    def _read_change(self, left: SyntaxNode) -> None:
        """Something is assigned: to a variable, which is no constant then, or to a field."""
        self._changes |= left.type in ("member_expression", "subscript_expression")
        self._resized.add(_text_of(left))

    def _read_call(self, call: SyntaxNode) -> None:
        called = call.child_by_field_name("function")
        assert called is not None
        text = _text_of(called)
        whole, _, method = text.rpartition(".")
        if method in _LENGTHENS:
            self._resized.add(whole)
        self._changes |= text == "Object.assign"

    def join_results(self, returned: list[SyntaxNode | None]) -> ReturnedItems:
        """The result of a script that may return any of some values."""
        results = [UNKNOWN if value is None else self._read_result(value) for value in returned]
        fields = [result.fields for result in results]
        known = frozenset().union(*(names or () for names in fields))
        return ReturnedItems(
            all(result.is_one for result in results),
            None if None in fields or self._changes else known,
            all(result.keeps_others for result in results) and not self._changes,
        )

    def _read_result(self, value: SyntaxNode) -> ReturnedItems:
        value = self._resolve(value)
        text = _text_of(value)
        given = text in _GIVEN_LISTS and not self._for_each
        if (given or text in _GIVEN_ITEMS) and not self._is_resized(text):
            return ReturnedItems(True, frozenset(), True)
        match value.type:
            case "object":
                return self._read_item(value)
            case "array" if not self._for_each:
                entries = [c for c in value.named_children if c.type != "comment"]
                if len(entries) != 1 or entries[0].type == "spread_element":
                    return UNKNOWN
                return self._read_item(self._resolve(entries[0]))._replace(is_one=True)
            case "call_expression" if self._maps_given(value):
                return ReturnedItems(True)
            case _:
                return UNKNOWN

    def _maps_given(self, call: SyntaxNode) -> bool:
        """Whether a call makes one item of each given one."""
        called = call.child_by_field_name("function")
        if called is None or called.type != "member_expression" or self._for_each:
            return False
        method, mapped = (called.child_by_field_name(name) for name in ("property", "object"))
        if method is None or mapped is None or _text_of(method) != "map":
            return False
        text = _text_of(self._resolve(mapped))
        return text in _GIVEN_LISTS and not self._is_resized(text)

    def _is_resized(self, text: str) -> bool:
        return text in self._resized or any(
            name in self._resized and _text_of(value) == text
            for name, value in self._constants.items()
        )

    def _resolve(self, value: SyntaxNode) -> SyntaxNode:
        """A value without brackets, and the value of a constant for its name."""
        for _ in range(_MOST_RESOLVED):
            if value.type == "parenthesized_expression":
                value = next(c for c in value.named_children if c.type != "comment")
            elif value.type == "identifier" and _text_of(value) not in self._resized:
                constant = self._constants.get(_text_of(value))
                if constant is None:
                    return value
                value = constant
            else:
                return value
        return value

    def _read_item(self, item: SyntaxNode) -> ReturnedItems:
        """An item that is written out: an object, with its fields under `json` or as they are."""
        if _text_of(item) in _GIVEN_ITEMS:
            return ReturnedItems(True, frozenset(), True)
        if item.type != "object":
            return UNKNOWN
        values = _read_pairs(item)
        if values is not None and "json" in values:
            item = self._resolve(values["json"])
            if _text_of(item) in _GIVEN_FIELDS:
                return ReturnedItems(True, frozenset(), True)
            if item.type != "object":
                return ReturnedItems(True)
        fields: set[str] = set()
        keeps = False
        for part in item.named_children:
            if part.type == "spread_element":
                spread = self._resolve(part.named_children[0])
                if _text_of(spread) not in _GIVEN_FIELDS:
                    return ReturnedItems(True)
                keeps = True
            elif part.type != "comment":
                name = _read_key(part)
                if name is None:
                    return ReturnedItems(True)
                fields.add(name)
        return ReturnedItems(True, frozenset(fields), keeps)


def _read_pairs(item: SyntaxNode) -> Mapping[str, SyntaxNode] | None:
    """The values of an object by their names; `None` if some names are unknown."""
    values: dict[str, SyntaxNode] = {}
    for part in item.named_children:
        if part.type == "comment":
            continue
        name = _read_key(part)
        if name is None:
            return None
        values[name] = part.child_by_field_name("value") or part
    return values


def _read_key(part: SyntaxNode) -> str | None:
    """The name of a property of an object that is written out."""
    if part.type == "shorthand_property_identifier":
        return _text_of(part)
    key = part.child_by_field_name("key" if part.type == "pair" else "name")
    if key is None or key.type == "computed_property_name":
        return None
    text = _text_of(key)
    return text[1:-1] if key.type == "string" and "\\" not in text else text


def _text_of(node: SyntaxNode) -> str:
    text = node.text or b""
    return text.decode("utf-8", "surrogatepass")
