"""Tokens and precedences that FEEL, JUEL, JavaScript and scripts share.

A language is a subclass of `Parser`: it names the operations of its operators, and extends the
grammar by overriding the method of a precedence level (`comparison`, `sum`, `primary` …). Every
language accepts the operators of all of them, because authors mix them and engines are lenient:
`${a = 1 and b}` occurs in real models.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import ClassVar, Literal, cast

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program import methods, readings
from orgflow_ir.program.ecmascript_operators import LOOSE
from orgflow_ir.program.java_operators import EQUALS_METHOD, JAVA
from orgflow_ir.program.methods import COMMON_METHODS
from orgflow_ir.program.operators import Operators
from orgflow_ir.program.readings import ENGINE_OBJECTS, OBJECT_NAMES
from orgflow_ir.program.syntax import (
    Apply,
    Arithmetic,
    ArithmeticOperator,
    Call,
    Comparison,
    ComparisonOperator,
    ConditionError,
    Constant,
    LogicalOperator,
    Method,
    Operation,
    Reading,
    Span,
    Tree,
    Variable,
    nodes,
)

TOKEN = re.compile(
    r"\s*(?:(?P<num>\d+(?:\.\d+)?)|(?P<str>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')"
    r"|(?P<name>[^\W\d]\w*)|(?P<op>===|!==|==|!=|<>|<=|>=|=>|&&|\|\||\?\.(?!\d)"
    r"|[-+*/%<>=!().,\[\]?:]))"
)
JAVA_METHODS: dict[str, tuple[Method, int]] = {
    "size": (methods.COUNT, 0), "length": (methods.LENGTH, 0), "isEmpty": (methods.IS_EMPTY, 0),
    "contains": (methods.HAS, 1), "startsWith": (methods.STARTS_WITH, 1),
    "endsWith": (methods.ENDS_WITH, 1), "toLowerCase": (methods.LOWER, 0),
    "toUpperCase": (methods.UPPER, 0), "trim": (methods.STRIP, 0),
}  # fmt: skip
"""The same in Java."""

_CLASSES = frozenset(("Math", "Number", "Integer"))
"""Classes whose functions some languages have (`function_calls.py`)."""

_OF_OBJECTS = frozenset(("getClass", "getBytes", "isBlank", "isPresent"))
"""Methods of Java's own classes that read no part of an object."""

_MAX_DEPTH = 60
_MAX_TOKENS = 1_000
"""A higher limit would allow trees too deep for recursive functions."""

Kind = Literal["num", "str", "name", "op"]


class OfProcess(str):
    """The name of a variable that code reads from the process by a call, whatever its own variables
    are called."""

    __slots__ = ()


def property_of(method: str, word: str) -> str:
    """The part of an object that a method of Java reads or sets, by the conventions of beans:
    `getTotal` with the word `get` is `total`; empty for any other method."""
    rest = method.removeprefix(word)
    if rest == method or method in _OF_OBJECTS or not rest[:1].isupper() or rest[1:2].isupper():
        return ""
    return rest[:1].lower() + rest[1:]


class Token(NamedTuple):
    """A token; operators written as words are replaced by their symbols."""

    kind: Kind
    text: str
    span: Span


_MOST_EXACT = 2**53
_MOST_DIGITS = 300
"""A number with more digits before the point may be infinite as a double."""


def refuse_too_large(tree: Tree) -> None:
    """Raises `ConditionError` for whole numbers that JavaScript would round."""
    for node in nodes(tree):
        if isinstance(node, Constant) and type(node.value) is int and node.value > _MOST_EXACT:
            raise ConditionError(f"the number `{node.value}` is too large")


def refuse_zero_in(tree: Tree) -> None:
    """Raises `ConditionError` if a tree divides by the constant zero, which is an error in the
    languages of Java."""
    for node in nodes(tree):
        if not isinstance(node, Arithmetic) or node.operator not in ("/", "%"):
            continue
        divisor = node.right.value if isinstance(node.right, Constant) else None
        if isinstance(divisor, int | float) and not divisor:
            raise ConditionError("it divides by zero")


class Parser:
    """Recursive-descent parser for one expression; one class per language, one instance per text.

    `text[start:end]` is parsed, so spans refer to the whole text, including its markers.
    """

    words: ClassVar[dict[str, str]] = {
        "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "and": "&&",
        "or": "||", "mod": "%", "div": "/",
    }  # fmt: skip
    """Operators that are written as words."""

    calls: ClassVar[frozenset[str]] = frozenset({"getVariable"})
    """Methods that read the variable named by their only argument, a text."""

    writers: ClassVar[Mapping[tuple[str, ...], Method]] = {}
    """Functions that write a value as JSON, by their names."""

    elvis: ClassVar[bool] = False
    """Whether `a ?: b` means `a` if it counts as true, otherwise `b`."""

    token: ClassVar[re.Pattern[str]] = TOKEN
    """Pattern of a token."""

    methods: ClassVar[dict[str, tuple[Method, int]]] = COMMON_METHODS
    """Methods of texts and collections."""

    entries: ClassVar[Reading | None] = None
    """The reading of paths, if it is that of a Java engine or Python."""

    beans: ClassVar[bool] = False
    """Whether `order.getTotal()` is the part `total` of an object, which JSON has under that name:
    where variables are objects, and what is called has no other name."""

    library: ClassVar[str] = ""
    """The language whose further functions it has (`function_calls.py`)."""

    safe_to_end: ClassVar[bool] = True
    """Whether `a?.b.c` has no value where `a` has none, otherwise the error of reading `c`."""

    computed_parts: ClassVar[bool] = False
    """Whether a part of a computed value is read, and one at a computed position."""

    operators: ClassVar[Operators]
    """The operations of logic, order and arithmetic."""

    signs: ClassVar[Mapping[str, Operation[Comparison]]]
    """The operations of equality operators."""

    def __init__(self, text: str, start: int = 0, end: int | None = None) -> None:
        self.tokens = self._tokens(text, start, len(text) if end is None else end)
        self.at = 0
        self.depth = 0

    @classmethod
    def _tokens(cls, text: str, start: int, end: int) -> list[Token]:
        tokens: list[Token] = []
        body = text[:end].rstrip()
        at = start
        while at < len(body):
            match = cls.token.match(body, at)
            if match is None:
                raise ConditionError(f"`{body[at : at + 12].strip()}` is not supported")
            at = match.end()
            kind = cast(Kind, match.lastgroup)
            value = match.group(kind)
            span = Span(*match.span(kind))
            if kind == "name" and value in cls.words:
                kind, value = "op", cls.words[value]
            tokens.append(Token(kind, value, span))
            if len(tokens) > _MAX_TOKENS:
                raise ConditionError("it is too long")
        return tokens

    def parse(self) -> Tree:
        """The tree of the whole text. Raises `ConditionError` if it does not match the grammar."""
        tree = self.choice()
        if self.at != len(self.tokens):
            raise ConditionError(f"`{self.tokens[self.at].text}` is not supported here")
        return tree

    # Levels, from the one that binds least.

    def choice(self) -> Tree:
        """`a ? b : c` and, if the language has it, `a ?: b`."""
        condition = self.disjunction()
        if not self.ahead("?"):
            return condition
        self.take()
        self.nest()
        if self.elvis and self.ahead(":"):
            self.take()
            otherwise = self.choice()
            self.depth -= 1
            there = Call(methods.TRUTH, (condition,), condition.span)
            span = _span_across(condition, otherwise)
            return self.operators.choice(there, condition, otherwise, span=span)
        then = self.choice()
        self.expect(":")
        otherwise = self.choice()
        self.depth -= 1
        span = _span_across(condition, otherwise)
        return self.operators.choice(condition, then, otherwise, span=span)

    def disjunction(self) -> Tree:
        """`a or b`."""
        return self.logical(self.conjunction, "||", "or")

    def conjunction(self) -> Tree:
        """`a and b`."""
        return self.logical(self.negation, "&&", "and")

    def negation(self) -> Tree:
        """`not a == b`: the word negates a whole comparison."""
        if not self.ahead_word("not"):
            return self.comparison()
        start = self.take().span.start
        self.nest()
        operand = self.negation()
        self.depth -= 1
        return self.operators.negation(operand, span=Span(start, operand.span.end))

    def comparison(self) -> Tree:
        """`a < b`; comparisons cannot be chained as in `a < b < c`."""
        left = self.sum()
        if self.ahead(*self.signs, "<", "<=", ">", ">="):
            sign = self.take().text
            right = self.sum()
            return self.compared(sign)(left, right, span=_span_across(left, right))
        return left

    def compared(self, sign: str) -> Operation[Comparison]:
        """The operation of an equality operator or an order."""
        if sign in self.signs:
            return self.signs[sign]
        return self.operators.comparison[cast(ComparisonOperator, sign)]

    def sum(self) -> Tree:
        """`a + b`."""
        return self.arithmetic(self.product, "+", "-")

    def product(self) -> Tree:
        """`a * b`."""
        return self.arithmetic(self.unary, "*", "/", "%")

    def unary(self) -> Tree:
        """`!a`, `-a`, `empty a`: the operator applies to the operand that follows it directly."""
        self.nest()
        start = self.tokens[self.at].span.start if self.at < len(self.tokens) else 0
        tree: Tree
        if self.ahead("!", "-"):
            sign = self.take().text
            operand = self.unary()
            operation: Operation[Apply] = self.operators.negative
            if sign == "!":
                operation = self.operators.negation
            tree = operation(operand, span=Span(start, operand.span.end))
        elif self.ahead_word("empty"):
            self.take()
            operand = self.unary()
            tree = methods.EMPTY(operand, span=Span(start, operand.span.end))
        else:
            tree = self.primary()
        self.depth -= 1
        return tree

    def primary(self) -> Tree:
        """A constant, a variable, or an expression in parentheses."""
        token = self.take()
        kind, text, span = token
        if kind == "num":
            if text[0] == "0" and text[1:2].isdigit():
                raise ConditionError(f"`{text}` means different numbers in different languages")
            if len(text.partition(".")[0]) > _MOST_DIGITS:
                raise ConditionError("a number in it is too large")
            return Constant(float(text) if "." in text else int(text), span)
        if kind == "str":
            return self.asked(self.quoted(text, span))
        if (kind, text) == ("op", "("):
            inner = self.choice()
            self.expect(")")
            return self.asked(inner)
        if kind != "name":
            raise ConditionError(f"`{text}` is not supported here")
        if text in ("true", "false"):
            return Constant(text == "true", span)
        if text in ("null", "undefined"):
            return Constant(None, span)
        return self.variable(token)

    def quoted(self, text: str, span: Span) -> Tree:
        """The value of a text in quotes."""
        return Constant(remove_quotes(text), span)

    def variable(self, first: Token) -> Tree:
        """The path that begins with the name just consumed."""
        return self.path_from(first, first.text, [first.text], [], [])

    def path_from(
        self, first: Token, root: str, parts: list[str], counted: list[int], got: list[int]
    ) -> Tree:
        """A path of which the first parts are consumed, and what is called on it."""
        while self.ahead(".", "[", "(", "?.") or self.function_ahead(parts[-1]):
            if self.function_ahead(parts[-1]):
                receiver = self.entry_path(self.named(root, parts[:-1], first.span), counted, got)
                return self.asked(self.method_of_function(receiver, parts[-1]))
            op = self.take().text
            if op == "?.":
                receiver = self.entry_path(self.named(root, parts, first.span), counted, got)
                parts = [*parts, self.part_name()]
                if self.safe_to_end:
                    rest = self.path_from(first, root, parts, counted, got)
                    return self.unless_null(receiver, rest)
                called = self.called_or_read(receiver, parts[-1])
                if called is None:
                    span = Span(first.span.start, self.tokens[self.at - 1].span.end)
                    called = self.entry_path(self.named(root, parts, span), counted, got)
                return self.asked(self.unless_null(receiver, called))
            if op == ".":
                kind, text, _ = self.take()
                if kind != "name":
                    raise ConditionError("a field name is expected after the dot")
                parts.append(text)
            elif op == "[" and self.computed_parts and not self.is_key("]"):
                receiver = self.entry_path(self.named(root, parts, first.span), counted, got)
                return self.asked(self.subscript(receiver))
            elif op == "[":
                if self.at < len(self.tokens) and self.tokens[self.at].kind == "num":
                    counted.append(len(parts))
                elif (
                    self.entries is readings.MVEL_ENTRY
                ):  # `map['key']` is `map.get('key')`, `map.key` is not
                    got.append(len(parts))
                parts.append(self.key("]"))
            elif parts[-1] in self.calls:
                kind, text, _ = self.take()
                if kind != "str":
                    raise ConditionError("a quoted variable name is expected")
                self.expect(")")
                root, parts = "", [OfProcess(text[1:-1])]
                counted, got = [], []
            elif parts[-1] == "get" and len(parts) > 1 and self.is_key():
                got.append(len(parts) - 1)
                if self.tokens[self.at].kind == "num":
                    counted.append(len(parts) - 1)
                parts[-1] = self.key(")")
            elif tuple(parts) in self.writers:
                return self.asked(self.written(first, self.writers[tuple(parts)]))
            elif parts in (["JSON"], ["S"], ["JSON", "parse"]):
                return self.asked(self.json(first))
            elif len(parts) == 1:
                return self.asked(self.function(first))
            elif self.library and parts[0] in _CLASSES:
                return self.asked(self.function(Token("name", ".".join(parts), first.span)))
            elif self.beans and self.ahead(")") and (part := self.read_by(parts)):
                self.take()
                parts[-1] = part
            else:
                span = Span(first.span.start, self.tokens[self.at - 4].span.end)
                receiver = self.entry_path(self.named(root, parts[:-1], span), counted, got)
                return self.asked(self.method(receiver, parts[-1]))
        end = self.tokens[self.at - 1].span.end
        path = self.named(root, parts, Span(first.span.start, end))
        return self.entry_path(path, counted, got)

    def read_by(self, parts: list[str]) -> str:
        """The part that the method at the end of a path reads; empty if it is a method of texts or
        collections, or of a class."""
        if parts[-1] in self.methods or not parts[0][:1].islower():
            return ""
        return property_of(parts[-1], "get") or property_of(parts[-1], "is")

    def entry_path(self, tree: Tree, counted: list[int], got: list[int]) -> Tree:
        """A path as the language reads it: `counted` are its steps that are numbers, `got` those
        that are read by `get`."""
        if self.entries is None or not isinstance(tree, Variable) or len(tree.path) == 1:
            return tree
        return Variable(tree.path, tree.span, self.entries, tuple(counted), tuple(got))

    def named(self, root: str, parts: list[str], span: Span) -> Tree:
        """The variable at a path. Raises `ConditionError` for a reserved name."""
        if root in ENGINE_OBJECTS or not OBJECT_NAMES.isdisjoint(parts):
            raise ConditionError(f"`{'.'.join(parts)}` is no variable")
        return Variable(tuple(parts), span)

    def is_key(self, closing: str = ")") -> bool:
        """Whether the parentheses contain only a constant name or index."""
        if self.at + 1 >= len(self.tokens) or self.tokens[self.at + 1][:2] != ("op", closing):
            return False
        token = self.tokens[self.at]
        return token.kind == "str" or (token.kind == "num" and token.text.isdigit())

    def key(self, closing: str) -> str:
        """A constant name, or an index from 0, and the closing delimiter."""
        kind, text, _ = self.take()
        if kind == "num" and (text == "0" or (text.isdigit() and text[0] != "0")):
            name = text
        elif kind == "str":
            name = text[1:-1]
        else:
            raise ConditionError("only a quoted name or a number is allowed in brackets")
        self.expect(closing)
        return name

    def asked(self, tree: Tree) -> Tree:
        """The methods called on a value: `"vip".equals(kind)`, `name.trim().toLowerCase()`."""
        while self.ahead(".", "?.") or (
            self.ahead("[") and (_is_json(tree) or self.computed_parts)
        ):
            sign = self.take().text
            if sign == "[" and not (_is_json(tree) and self.is_key("]")):
                tree = self.subscript(tree)
                continue
            if sign == "[":
                tree = self.entry(tree, self.key("]"))
                continue
            if sign == "?." and self.safe_to_end:
                self.at -= 1
                self.tokens[self.at] = self.tokens[self.at]._replace(text=".")
                return self.unless_null(tree, self.asked(tree))
            if sign == "?.":
                part = self.part_name()
                rest = self.called_or_read(tree, part)
                tree = self.unless_null(tree, rest or self.part_of(tree, part))
                continue
            kind, name, _ = self.take()
            if kind != "name":
                raise ConditionError("a method name is expected after the dot")
            if _is_json(tree) and not self.ahead("("):
                tree = self.entry(tree, name)
                continue
            if self.function_ahead(name):
                tree = self.method_of_function(tree, name)
                continue
            if self.computed_parts and not self.ahead("("):
                tree = self.part_of(tree, name)
                continue
            self.expect("(")
            tree = self.of_json(tree, name) if _is_json(tree) else self.method(tree, name)
        return tree

    def json(self, name: Token) -> Tree:
        """The value of JSON text: `JSON(text)` and `S(text)` of Camunda Spin, and
        `JSON.parse(text)`; the opening parenthesis is consumed."""
        given = self.arguments()
        if not given or len(given) > 2 or not isinstance(given[-1], Constant | Variable | Call):
            raise ConditionError(f"calls of `{name.text}` are not supported")
        if len(given) == 2 and given[1] not in (Constant("application/json"), Constant("json")):
            raise ConditionError("only JSON is supported")
        return Call(
            methods.JSON, (given[0],), Span(name.span.start, self.tokens[self.at - 1].span.end)
        )

    def written(self, name: Token, function: Method) -> Tree:
        """The JSON of a value, `JSON.stringify(value)`; the opening parenthesis is consumed."""
        given = self.arguments()
        if len(given) != 1:
            raise ConditionError("JSON is written of a single value only")
        return Call(function, (given[0],), Span(name.span.start, self.tokens[self.at - 1].span.end))

    def of_json(self, receiver: Tree, name: str) -> Tree:
        """A method of a JSON value in Camunda Spin: `prop("a")`, `elements().get(0)`,
        `jsonPath("$.a[0]")`, `stringValue()`; the opening parenthesis is consumed."""
        if name in ("prop", "get", "jsonPath") and self.is_key():
            key = self.key(")")
            steps = [key] if name != "jsonPath" else _split_steps(key)
            for step in steps:
                receiver = self.entry(receiver, step)
            return receiver
        if name in _SPIN:
            self.expect(")")
            return receiver
        return self.method(receiver, name)

    def entry(self, of: Tree, key: str) -> Tree:
        """The entry of a JSON value under a name or index."""
        if key in OBJECT_NAMES:
            raise ConditionError(f"`{key}` is no variable")
        value = int(key) if key.isdigit() else key
        return Call(
            methods.ENTRY,
            (of, Constant(value)),
            Span(of.span.start, self.tokens[self.at - 1].span.end),
        )

    def function(self, name: Token) -> Tree:
        """A function call; the opening parenthesis is consumed. Raises `ConditionError` if the
        language has no supported function of that name."""
        if not self.library:
            raise ConditionError(f"calls of `{name.text}` are not supported")
        from orgflow_ir.languages import function_calls  # in few texts

        given = self.arguments()
        span = Span(name.span.start, self.tokens[self.at - 1].span.end)
        return function_calls.call_function(self.library, name.text, given, span)

    # Parts of computed values, and functions of lists.

    def part_name(self) -> str:
        """The name of a part behind a point."""
        kind, text, _ = self.take()
        if kind != "name":
            raise ConditionError("a field name is expected after the dot")
        return text

    def called_or_read(self, receiver: Tree, name: str) -> Tree | None:
        """The call of a method if one comes next; `None` for a part."""
        if self.function_ahead(name):
            return self.method_of_function(receiver, name)
        if not self.ahead("("):
            return None
        self.take()
        return self.method(receiver, name)

    def unless_null(self, receiver: Tree, rest: Tree) -> Tree:
        """Null if the receiver is null, else the rest."""
        nothing = self.compared("==")(receiver, Constant(None), span=receiver.span)
        return self.operators.choice(nothing, Constant(None), rest, span=rest.span)

    def subscript(self, of: Tree) -> Tree:
        """The entry of a value at a computed position; the opening bracket is consumed."""
        from orgflow_ir.program.function_rows import MEMBER_OF  # in few texts

        key = self.choice()
        self.expect("]")
        return MEMBER_OF(of, key, span=Span(of.span.start, self.tokens[self.at - 1].span.end))

    def part_of(self, of: Tree, name: str) -> Tree:
        """The part of a computed value under a name."""
        from orgflow_ir.program.function_rows import MEMBER_OF  # in few texts

        if name in OBJECT_NAMES:
            raise ConditionError(f"`{name}` is no variable")
        span = Span(of.span.start, self.tokens[self.at - 1].span.end)
        return MEMBER_OF(of, Constant(name), span=span)

    def function_ahead(self, method: str) -> bool:
        """Whether a method with a function as its argument is called, in the language's way."""
        return False

    def method_of_function(self, receiver: Tree, method: str) -> Tree:
        """The call of a method with a function. Raises `ConditionError` for an unsupported one."""
        raise ConditionError(f"calls of `{method}` are not supported")

    def elaborate(self, body: Tree, *, test: bool) -> Tree:
        """The expression of a function as its language means it."""
        return body

    def method(self, receiver: Tree, name: str) -> Tree:
        """A method call; the opening parenthesis is consumed. Raises `ConditionError` for functions
        that are not common to texts and collections of every language."""
        given = self.arguments()
        span = Span(receiver.span.start, self.tokens[self.at - 1].span.end)
        match name, given:
            case ["equals", [other]]:
                rows = EQUALS_METHOD
                if isinstance(receiver, Constant):
                    rows = JAVA.comparison
                return rows["=="](receiver, other, span=span)
            case ["concat", [other]] if self.operators is not LOOSE:  # in JavaScript also of lists
                return Call(methods.CONCAT, (receiver, other), span)
            case (("getSingleResult" | "getFirstResult" | "getSingleEntry"), []):
                return self.of_decision(receiver, name, span)
            case ["getEntry", [Constant(value=str() as key)]]:
                return self.entry(receiver, key)
            case ["equalsIgnoreCase", [other]]:
                return Call(methods.SAME_LETTERS, (receiver, other), span)
        function, count = self.methods.get(name, (None, 0))
        plain = function is not None and len(given) == count
        if self.library and not (plain and isinstance(receiver, Variable | Constant)):
            from orgflow_ir.languages import function_calls  # in few texts

            if not plain or function_calls.has_any_type(receiver):
                return function_calls.call_method(self.library, receiver, name, given, span)
        if function is None or not plain:
            raise ConditionError(f"calls of `{name}` are not supported")
        return Call(function, (receiver, *given), span)

    def of_decision(self, receiver: Tree, name: str, span: Span) -> Tree:
        """A part of `decisionResult`, the list of the rows that a decision of Camunda 7 found."""
        if name == "getFirstResult":
            return Call(methods.ENTRY, (receiver, Constant(0)), span)
        row = _is_json(receiver)
        if name == "getSingleResult" and not row:
            return Call(methods.SINGLE, (receiver,), span)
        if name == "getSingleEntry":
            single = receiver if row else Call(methods.SINGLE, (receiver,), span)
            return Call(methods.SINGLE, (single,), span)
        raise ConditionError(f"calls of `{name}` are not supported")

    def arguments(self) -> list[Tree]:
        """The content of parentheses; the opening one is consumed."""
        arguments: list[Tree] = []
        if self.ahead(")"):
            self.take()
            return arguments
        self.nest()
        while True:
            arguments.append(self.argument())
            if not self.ahead(","):
                break
            self.take()
        self.depth -= 1
        self.expect(")")
        return arguments

    def argument(self) -> Tree:
        """One argument of a call."""
        return self.choice()

    # What levels are made of.

    def logical(self, operand: Callable[[], Tree], sign: str, operator: LogicalOperator) -> Tree:
        """Operands joined by `sign`, left-associative."""
        left = operand()
        while self.ahead(sign):
            self.take()
            right = operand()
            left = self.operators.logic[operator](left, right, span=_span_across(left, right))
        return left

    def arithmetic(self, operand: Callable[[], Tree], *signs: ArithmeticOperator) -> Tree:
        """Operands joined by one of `signs`, left-associative."""
        left = operand()
        while self.ahead(*signs):
            sign = cast(ArithmeticOperator, self.take().text)
            right = operand()
            left = self.operators.arithmetic[sign](left, right, span=_span_across(left, right))
        return left

    def ahead(self, *signs: str) -> bool:
        """Whether the next token is one of the operators."""
        if self.at >= len(self.tokens):
            return False
        token = self.tokens[self.at]
        return token.kind == "op" and token.text in signs

    def ahead_word(self, word: str) -> bool:
        """Whether the next token is this word."""
        return self.at < len(self.tokens) and self.tokens[self.at][:2] == ("name", word)

    def take(self) -> Token:
        """The next token. Raises `ConditionError` at the end of the text."""
        if self.at >= len(self.tokens):
            raise ConditionError("the condition ends too early")
        self.at += 1
        return self.tokens[self.at - 1]

    def expect(self, sign: str) -> None:
        """Consume an expected token."""
        if self.take()[:2] != ("op", sign):
            raise ConditionError(f"`{sign}` expected")

    def nest(self) -> None:
        """Increase the nesting depth; the caller decreases it."""
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise ConditionError("nested too deeply")


_SPIN = frozenset(
    ("value", "stringValue", "numberValue", "boolValue", "elements", "element", "elementList")
)
"""Methods of Spin that return the value itself."""


def _is_json(tree: Tree) -> bool:
    return isinstance(tree, Call) and tree.operation in (
        methods.JSON,
        methods.ENTRY,
        methods.SINGLE,
    )


def _split_steps(path: str) -> list[str]:
    """The names in a path of JSONPath that has nothing else. Raises `ConditionError`."""
    if re.fullmatch(r"\$(?:\.[A-Za-z_]\w*|\[\d+\])*", path) is None:
        raise ConditionError(f"the path `{path}` is not supported")
    return re.findall(r"[A-Za-z_]\w*|\d+", path)


def _span_across(left: Tree, right: Tree) -> Span:
    return Span(left.span.start, right.span.end)


def remove_quotes(text: str) -> str:
    """A text without its quotes. Raises `ConditionError` for escapes of other characters."""
    body = text[1:-1]
    if not re.fullmatch(r"(?:[^\\]|\\[\\\"'])*", body, re.DOTALL):
        raise ConditionError("only quotes and backslashes can be escaped in texts")
    return re.sub(r"\\(.)", r"\1", body)
