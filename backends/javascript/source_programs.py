"""JavaScript that somebody may have edited, as a program: two texts with the same canonical form do
the same.

The grammar is that of tree-sitter (`tree-sitter-javascript`, ECMAScript 2025); the parser is loaded
when a text has to be compared. Comments, layout, semicolons, and the spelling of texts, numbers and
property names are no part of the form. Names of variables are: a renamed variable gives another
form, although the program may do the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from orgflow_ir.model.records import NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node as SyntaxNode
    from tree_sitter import Parser as SyntaxParser

ProgramForm = tuple[object, ...] | str
"""The canonical form of a part of a program: the kind of its node and the forms of its parts, or
the text of a token."""

MOST_NESTED = 300
"""Maximum depth of a program that is compared; compiled programs have at most about 40."""

MOST_SHOWN = 30
"""Maximum number of characters of a faulty text that are shown."""

FUNCTION_NODES = frozenset({
    "function_declaration", "function_expression", "arrow_function", "method_definition",
    "generator_function", "generator_function_declaration", "class_declaration", "class",
})  # fmt: skip
"""Kinds of nodes of the syntax tree in which `return` belongs to another function."""

_LEFT_OUT = frozenset({";", ",", "(", ")", "{", "}", "[", "]", '"', "'", "`", "${", "comment"})
"""Tokens that the kinds of the nodes around them say, and that mean nothing by themselves."""

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_LINE_CONTINUATIONS = frozenset({"\n", "\r", "\r\n", "\u2028", "\u2029"})
_CODE_POINT = re.compile(r"\\(?:u\{([0-9A-Fa-f]+)\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2}))")
_PLAIN_NUMBER = re.compile(r"(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?")
_OCTAL = re.compile(r"0[0-7]+")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")


class UnreadableProgram(ValueError):
    """The text does not match the grammar, or is nested more deeply than is compared."""


def read_program(
    code: str, name_of: Callable[[str, str], str | None] = lambda function, text: None
) -> ProgramForm:
    """The canonical form of a script or of an expression.

    Args:
        code: the text; `return` and `await` may stand outside of functions.
        name_of: the text that stands for a call of a function by name with one literal text, given
            both; `None` where it is a call as any other. n8n's `$("Node")` is one that follows the
            node when it is renamed.

    Raises:
        UnreadableProgram: the text has no form.
    """
    root = parse_syntax(code)
    if root.has_error:
        raise UnreadableProgram("the text is not JavaScript")
    return _FormReader(name_of).form_of(root, 0)


class SyntaxFault(NamedTuple):
    """The first place where a text is not JavaScript: line and column from 1, and what stands
    there; empty at the end of the text."""

    line: int
    column: int
    text: str


def find_syntax_fault(code: str) -> SyntaxFault | None:
    """The first fault of a script, in which `return` and `await` may stand outside of functions;
    `None` if it is valid, or takes too long to parse."""
    try:
        node = parse_syntax(code)
    except UnreadableProgram:
        return None
    if not node.has_error:
        return None
    while not (node.is_missing or (node.is_error and not any(c.has_error for c in node.children))):
        faulty = next((c for c in node.children if c.has_error or c.is_missing), None)
        if faulty is None:
            break
        node = faulty
    line, _, rest = _text_of(node).partition("\n")
    row, column = node.start_point
    return SyntaxFault(row + 1, column + 1, line[:MOST_SHOWN] if line or not rest else "")


def returns_value(code: str) -> bool:
    """Whether a script returns a value or throws an error somewhere outside of its functions, or
    takes too long to parse."""
    try:
        todo = [parse_syntax(code)]
    except UnreadableProgram:
        return True
    while todo:
        node = todo.pop()
        if node.type == "throw_statement" or (
            node.type == "return_statement" and any(c.is_named for c in node.children)
        ):
            return True
        if node.type not in FUNCTION_NODES:
            todo.extend(node.children)
    return False


MOST_OPEN_COMMENTS = 200
"""Beginnings of comments without an end. The parser takes quadratic time for many; patterns of file
names such as `**/*.js` are some."""


def parse_syntax(code: str) -> SyntaxNode:
    """The syntax tree of a script, in which `return` and `await` may stand outside of functions.
    Raises `UnreadableProgram` for a text that takes too long."""
    if code.count("/*") - code.count("*/") > MOST_OPEN_COMMENTS:
        raise UnreadableProgram("the text has too many comments without an end")
    return _create_parser().parse(code.encode("utf-8", "surrogatepass")).root_node


@lru_cache(maxsize=1)
def _create_parser() -> SyntaxParser:
    import tree_sitter_javascript  # needed where a program was edited
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_javascript.language()))


class _FormReader:
    """Reads the form of each kind of node that has another one than kind and parts."""

    def __init__(self, name_of: Callable[[str, str], str | None]) -> None:
        self._name_of = name_of
        self._readers: dict[str, Callable[[SyntaxNode, int], ProgramForm]] = {
            "string": self._text_literal,
            "template_string": self._template_form,
            "number": self._number_form,
            "array": self._list_with_holes,
            "array_pattern": self._list_with_holes,
            "call_expression": self._call_form,
            "subscript_expression": self._subscript_form,
            "parenthesized_expression": self._parenthesised_form,
            "shorthand_property_identifier": self._shorthand_pair,
            "for_statement": self._counting_loop,
            "arrow_function": self._arrow_form,
        }

    def form_of(self, node: SyntaxNode, depth: int) -> ProgramForm:
        """The form of a node at a depth of the tree. Raises `UnreadableProgram`."""
        if depth > MOST_NESTED:
            raise UnreadableProgram(f"the program is nested more than {MOST_NESTED} levels deep")
        reader = self._readers.get(node.type)
        if reader is not None:
            return reader(node, depth)
        if not node.children:
            # The kind parts the name `get` from the sign of a getter.
            text = _text_of(node)
            return (node.type, text) if node.is_named else text
        return self._whole_form(node, depth)

    def _whole_form(self, node: SyntaxNode, depth: int) -> tuple[object, ...]:
        parts = [c for c in node.children if c.type not in _LEFT_OUT]
        if node.type == "pair":
            key, value = parts[0], parts[-1]
            return ("pair", self._property_key(key, depth), self.form_of(value, depth + 1))
        forms = (self.form_of(c, depth + 1) for c in parts if c.type != "empty_statement")
        return (node.type, *forms)

    def _property_key(self, node: SyntaxNode, depth: int) -> ProgramForm:
        """The name of a property, which may be written as a text."""
        if node.type == "property_identifier":
            return ("property", _text_of(node))
        form = self.form_of(node, depth + 1)
        return ("property", form[1]) if isinstance(form, tuple) and form[0] == "text" else form

    def _shorthand_pair(self, node: SyntaxNode, depth: int) -> ProgramForm:
        """`{ a }` is `{ a: a }`, but for the name that sets the prototype in the second form."""
        del depth
        name = _text_of(node)
        if name == "__proto__":
            return (node.type, name)
        return ("pair", ("property", name), ("identifier", name))

    def _counting_loop(self, node: SyntaxNode, depth: int) -> ProgramForm:
        """A `for` of three parts, each of which may be missing; the fields name them."""
        fields = ("initializer", "condition", "increment", "body")
        parts = ((field, node.child_by_field_name(field)) for field in fields)
        forms = (
            (field, self.form_of(child, depth + 1))
            for field, child in parts
            if child is not None and child.type not in (";", "empty_statement")
        )
        return (node.type, *forms)

    def _arrow_form(self, node: SyntaxNode, depth: int) -> ProgramForm:
        """`x => 1` is `(x) => 1`."""
        form = self._whole_form(node, depth)
        bare = node.child_by_field_name("parameter")
        if bare is None:
            return form
        place = [c for c in node.children if c.type not in _LEFT_OUT].index(bare) + 1
        return (*form[:place], ("formal_parameters", form[place]), *form[place + 1 :])

    def _text_literal(self, node: SyntaxNode, depth: int) -> ProgramForm:
        del depth
        return ("text", _join_characters(_literal_part(c) for c in node.children[1:-1]))

    def _template_form(self, node: SyntaxNode, depth: int) -> ProgramForm:
        """A template without substitutions is a text."""
        if not any(c.type == "template_substitution" for c in node.children):
            return ("text", _join_characters(_literal_part(c) for c in node.children[1:-1]))
        parts: list[ProgramForm] = []
        for child in node.children[1:-1]:
            if child.type == "template_substitution":
                parts.append(self._whole_form(child, depth + 1))
            elif parts and isinstance(parts[-1], str):
                parts[-1] += _literal_part(child)
            else:
                parts.append(_literal_part(child))
        return ("template_string", *parts)

    def _number_form(self, node: SyntaxNode, depth: int) -> ProgramForm:
        del depth
        text = _text_of(node)
        if _OCTAL.fullmatch(text):
            return ("number", repr(float(int(text, 8))))
        if _PLAIN_NUMBER.fullmatch(text):
            return ("number", repr(float(text.replace("_", ""))))
        return ("number", text.lower())

    def _list_with_holes(self, node: SyntaxNode, depth: int) -> ProgramForm:
        """`[a, , b]` has three entries, `[a, b, ]` two."""
        parts: list[ProgramForm] = []
        after_comma = True
        for child in node.children[1:-1]:
            if child.type == "comment":
                continue
            if child.type == ",":
                if after_comma:
                    parts.append("hole")
                after_comma = True
                continue
            parts.append(self.form_of(child, depth + 1))
            after_comma = False
        return (node.type, *parts)

    def _call_form(self, node: SyntaxNode, depth: int) -> ProgramForm:
        """A call; one that names something by a literal text is what it names."""
        function, arguments = node.child_by_field_name("function"), node.children[-1]
        if function is not None and arguments.type == "template_string":
            # A function before a template reads its characters as they are written.
            return ("tagged", self.form_of(function, depth + 1), _text_of(arguments))
        if function is not None and function.type == "identifier":
            given = [c for c in arguments.children if c.type not in _LEFT_OUT]
            if len(given) == 1 and given[0].type in ("string", "template_string"):
                form = self.form_of(given[0], depth + 1)
                if isinstance(form, tuple) and form[0] == "text":
                    name = self._name_of(_text_of(function), str(form[1]))
                    if name is not None:
                        return ("named", _text_of(function), name)
        return self._whole_form(node, depth)

    def _subscript_form(self, node: SyntaxNode, depth: int) -> ProgramForm:
        """`a["b"]` is `a.b`."""
        form = self._whole_form(node, depth)
        last = form[-1]
        if isinstance(last, tuple) and last[0] == "text" and _NAME.fullmatch(str(last[1])):
            dot = [] if any(c.type == "optional_chain" for c in node.children) else ["."]
            return ("member_expression", *form[1:-1], *dot, ("property_identifier", last[1]))
        return form

    def _parenthesised_form(self, node: SyntaxNode, depth: int) -> ProgramForm:
        """The tree says what belongs together, but for a chain with `?.`, which brackets end."""
        inner = [c for c in node.children if c.type not in _LEFT_OUT]
        if len(inner) != 1 or _has_optional_chain(inner[0]):
            return self._whole_form(node, depth)
        return self.form_of(inner[0], depth + 1)


def _has_optional_chain(node: SyntaxNode) -> bool:
    """Whether a chain of members and calls contains `?.`."""
    chain: SyntaxNode | None = node
    while chain is not None and chain.type in (
        "member_expression", "subscript_expression", "call_expression",
    ):  # fmt: skip
        if any(c.type == "optional_chain" for c in chain.children):
            return True
        chain = chain.children[0]
    return False


def _join_characters(parts: Iterable[str]) -> str:
    """The characters of a text; a pair of surrogates by escapes is one character."""
    text = "".join(parts)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _text_of(node: SyntaxNode) -> str:
    text = node.text
    assert text is not None  # trees are not edited
    return text.decode("utf-8", "surrogatepass")


def _literal_part(node: SyntaxNode) -> str:
    """The characters of a part of a text."""
    text = _text_of(node)
    if node.type != "escape_sequence":
        return text
    code = _CODE_POINT.fullmatch(text)
    if code is not None:
        return chr(int(next(digits for digits in code.groups() if digits is not None), 16))
    escaped = text[1:]
    if escaped in _LINE_CONTINUATIONS:
        return ""
    return _ESCAPES.get(escaped, escaped)
