"""Parser of FEEL: an expression or unary tests to typed nodes.

FEEL's names may contain spaces, operators and keywords (`Monthly Income`, `a-b`, `date and time`),
so a text can be parsed only with the names that are in scope (DMN 1.5, 10.3.1.3). Where a name may
begin, the parser takes the longest name in scope, or else one word. Names that the text defines
itself (parameters, loop variables, context keys) are in scope after their definition.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import NoReturn

from orgflow_ir.program.ecmascript_operators import LOOSE, STRICT
from orgflow_ir.program.feel.numbers import CONTEXT
from orgflow_ir.program.feel.signatures import SIGNATURES
from orgflow_ir.program.feel.types import (
    ANY,
    SIMPLE_NAMES,
    ContextType,
    FunctionType,
    ListType,
    RangeType,
    Type,
)
from orgflow_ir.program.feel_operators import BETWEEN, EXACT_LIST, FEEL, POWER
from orgflow_ir.program.methods import EMPTY
from orgflow_ir.program.structures import (
    AtLiteral,
    ContextLiteral,
    Entry,
    Filter,
    For,
    FunctionCall,
    FunctionDefinition,
    In,
    InstanceOf,
    Iteration,
    Parameter,
    Part,
    Path,
    Quantified,
    RangeLiteral,
    UnaryTest,
    UnaryTests,
    children,
)
from orgflow_ir.program.syntax import (
    Arithmetic,
    Comparison,
    Constant,
    Operation,
    Span,
    Tree,
    Variable,
)

MAX_LENGTH = 100_000
MAX_DEPTH = 60
"""Maximum nesting depth of the text."""

MAX_RETRIES = 100
"""Maximum number of range ends that are parsed twice; each may contain others."""

MAX_HEIGHT = 300
"""Maximum height of the tree; higher trees overflow the stack of recursive functions."""

PROPERTIES = frozenset(
    {
        "year", "month", "day", "weekday", "hour", "minute", "second", "time offset", "timezone",
        "years", "months", "days", "hours", "minutes", "seconds", "start", "end",
        "start included", "end included",
    }
)  # fmt: skip
"""Property names of values that are not contexts (DMN 1.5, table 66)."""

KEYWORDS = frozenset(
    {
        "and", "or", "if", "then", "else", "for", "in", "return", "some", "every", "satisfies",
        "between", "instance", "function", "external", "true", "false", "null",
    }
)  # fmt: skip

_SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_WORD = re.compile(r"(?:[^\W\d]|[^\x00-\xbf])(?:\w|[^\x00-\xbf])*|\?")
_ESCAPED_NAME = re.compile(r"`([^`\n]+)`")
_NUMBER = re.compile(r"(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'", re.DOTALL)
_NAME_PART = re.compile(r"\w+|[^\w\s]")
_KEY = re.compile(
    r'\s*(?:"(?P<text>(?:[^"\\\n]|\\.)*)"|(?P<name>[^\s{}\[\](),:"][^{}\[\](),:"]*?))\s*:'
)
_ARGUMENT = re.compile(r"(?P<name>(?:[^\W\d]|[^\x00-\xbf])[^{}\[\](),:\"=<>!@]*?)\s*:")
_FORMAL = re.compile(r"(?P<name>(?:[^\W\d]|[^\x00-\xbf])[^{}\[\](),:\"=<>!@]*?)\s*(?=[,:)])")
_LOOP_NAME = re.compile(r"(?P<name>(?:[^\W\d]|[^\x00-\xbf])[^{}\[\](),:\"=<>!@]*?)\s+in\b")
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{6}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "\\": "\\"}
_SIGNS = re.compile(r"<=|>=|!=|<|>|=")
_LENIENT_SIGNS = re.compile(r"===|!==|==|<>|<=|>=|!=|<|>|=")
_COMPARISONS: Mapping[str, Operation[Comparison]] = {
    "=": FEEL.comparison["=="], "!=": FEEL.comparison["!="], "<>": FEEL.comparison["!="],
    "<": FEEL.comparison["<"], "<=": FEEL.comparison["<="], ">": FEEL.comparison[">"],
    ">=": FEEL.comparison[">="],
    "==": LOOSE.comparison["=="], "===": STRICT["=="], "!==": STRICT["!="],
}  # fmt: skip
"""Operations by sign. `==` is not an operator of FEEL; engines that accept it convert operands."""

_WORD_SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_EMPTY = re.compile(r"empty\s+(?!(?:and|or|in|between|instance|eq|ne|lt|le|gt|ge)\b)[^\W\d]")
"""The word before an operand that it is about."""

_ARITHMETIC: Mapping[str, Operation[Arithmetic]] = {
    "+": FEEL.arithmetic["+"], "-": FEEL.arithmetic["-"], "*": FEEL.arithmetic["*"],
    "/": FEEL.arithmetic["/"], "%": FEEL.arithmetic["%"],
}  # fmt: skip

_OR, _AND, _COMPARISON, _SUM, _PRODUCT, _POWER = range(6)
"""Operators by precedence, the lowest first."""


class FeelError(ValueError):
    """A text is not FEEL. `span` is the position in the text, `reason` the fault."""

    def __init__(self, reason: str, span: Span) -> None:
        super().__init__(reason)
        self.reason, self.span = reason, span


def parse_expression(
    text: str,
    names: Iterable[str] = (),
    members: Iterable[str] = (),
    types: Mapping[str, Type] | None = None,
    *,
    lenient: bool = False,
) -> Tree:
    """The tree of an expression.

    Args:
        text: the source.
        names: variables and functions in scope in addition to the built-in functions.
        members: names of context entries, for `a.b c` and for filters.
        types: type names that `instance of` and parameters accept in addition to FEEL's own.
        lenient: accepts what authors of processes write and engines convert: `==`, `===`, `!==`,
            `<>`, `&&`, `||`, `!a`, `not a`, `empty a`, `a gt b`, `a % b`, and texts in single
            quotes.

    Raises:
        FeelError: the text does not match the grammar; the message names the fault and its
            position.

    Example:
        >>> parse_expression("Monthly Income * 12", names=["Monthly Income"])
        Arithmetic(operation=feel *, operands=(Variable(path=('Monthly Income',), ...), ...), ...)
    """
    parser = _Parser(text, names, members, types or {})
    parser.lenient = lenient
    tree = parser.expression()
    parser.end()
    parser.checked(tree)
    return tree


def parse_unary_tests(
    text: str,
    names: Iterable[str] = (),
    members: Iterable[str] = (),
    types: Mapping[str, Type] | None = None,
) -> UnaryTests:
    """The unary tests of a cell: `-`, `< 10, [20..30]`, `not("a", "b")`, `? > 5`.

    Arguments and errors are the same as for `parse_expression`.
    """
    parser = _Parser(text, names, members, types or {})
    tests = parser.unary_tests()
    parser.end()
    parser.checked(tests)
    return tests


def normal_name(text: str) -> str:
    """The normalised form of a name: one space between words, none around operators."""
    return _join_parts(tuple(_NAME_PART.findall(text)))


@lru_cache(maxsize=10_000)
def _join_parts(name_parts: tuple[str, ...]) -> str:
    result = ""
    for part in name_parts:
        wide = result and _is_word(result[-1]) and _is_word(part[0])
        result += f" {part}" if wide else part
    return result


def _is_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


@lru_cache(maxsize=10_000)
def _compile_name(name: str) -> re.Pattern[str]:
    """What a name looks like in a text: spaces between its parts do not matter."""
    name_parts = _NAME_PART.findall(name)
    pattern = re.escape(name_parts[0])
    for before, after in itertools.pairwise(name_parts):
        both = _is_word(before[-1]) and _is_word(after[0])
        pattern += (r"\s+" if both else r"\s*") + re.escape(after)
    return re.compile(pattern + (r"(?!\w)" if _is_word(name_parts[-1][-1]) else ""))


class _Known:
    """Known names by their first word; scopes are pushed and popped."""

    def __init__(self, names: Iterable[str], base: _Known | None = None) -> None:
        self._base = base
        self._by_word: dict[str, list[str]] = {}
        self._added: list[list[str]] = []
        for name in names:
            self.add(name)

    def with_more(self, names: Iterable[str]) -> _Known:
        """Knows further names beside those known here, which must stay as they are from now on."""
        return _Known(names, self)

    def _beginning(self, word: str) -> list[str]:
        """The known names that begin with a word."""
        own = self._by_word.get(word, [])
        return own if self._base is None else [*self._base._beginning(word), *own]

    def add(self, name: str) -> None:
        name_parts = _NAME_PART.findall(name)
        if not name_parts:
            return
        normal = normal_name(name)
        if normal in self._beginning(name_parts[0]):
            return
        entries = self._by_word.setdefault(name_parts[0], [])
        entries.append(normal)
        self._added.append(entries)

    def mark(self) -> int:
        """How many names there are, for `back`."""
        return len(self._added)

    def back(self, mark: int) -> None:
        """Forget the names added since."""
        while len(self._added) > mark:
            self._added.pop().pop()

    def longest(self, text: str, at: int) -> tuple[str, int] | None:
        """The longest known name at a place, and where it ends."""
        first = _NAME_PART.match(text, at)
        best: tuple[str, int] | None = None
        for name in self._beginning(first.group()) if first else ():
            match = _compile_name(name).match(text, at)
            if match is not None and (best is None or match.end() > best[1]):
                best = name, match.end()
        return best


@cache
def _built_in() -> tuple[_Known, _Known, _Known]:
    """Names of FEEL's own functions, properties and types."""
    return _Known(SIGNATURES), _Known(PROPERTIES), _Known(SIMPLE_NAMES)


class _Parser:
    def __init__(
        self,
        text: str,
        names: Iterable[str],
        members: Iterable[str],
        types: Mapping[str, Type],
    ) -> None:
        self.text, self.types = text, types
        functions, properties, simple_types = _built_in()
        self.names = functions.with_more(names)
        self.members = properties.with_more(members)
        self.type_names = simple_types.with_more(types)
        self.in_filter = 0
        self.retries = 0
        self.unfiltered = 0
        """The depth at which `[` closes a range instead of beginning a filter; 0: nowhere."""
        self.depth = 0
        self.at = 0
        self.lenient = False
        if len(text) > MAX_LENGTH:
            self.fail("the expression is too long", Span(MAX_LENGTH, len(text)))
        self.skip()

    # -- the text ------------------------------------------------------------------------------

    def fail(self, reason: str, span: Span | None = None) -> NoReturn:
        raise FeelError(reason, span or Span(self.at, min(self.at + 1, len(self.text))))

    def skip(self) -> None:
        """Go behind spaces and comments."""
        match = _SPACE.match(self.text, self.at)
        assert match is not None
        self.at = match.end()
        if self.text.startswith("/*", self.at):
            self.fail("the comment is never closed", Span(self.at, len(self.text)))

    def end(self) -> None:
        if self.at < len(self.text):
            self.fail(f"{self.shown()} is not expected here")

    def checked(self, root: Part) -> None:
        """Fail for a tree that is too high: chains of operators nest without brackets."""
        level: list[Part] = [root]
        for _ in range(MAX_HEIGHT):
            level = [child for part in level for child in children(part)]
            if not level:
                return
        self.fail("the expression is too long", root.span)

    def shown(self) -> str:
        """What comes next, for a message."""
        if self.at >= len(self.text):
            return "the end of the text"
        word = _WORD.match(self.text, self.at) or _NUMBER.match(self.text, self.at)
        return f"`{word.group() if word else self.text[self.at]}`"

    def ahead(self, sign: str) -> bool:
        return self.text.startswith(sign, self.at)

    def accept(self, sign: str) -> bool:
        if not self.ahead(sign):
            return False
        self.at += len(sign)
        self.skip()
        return True

    def expect(self, sign: str) -> None:
        if not self.accept(sign):
            self.fail(f"`{sign}` is expected, found {self.shown()}")

    def word_ahead(self, word: str) -> bool:
        match = _WORD.match(self.text, self.at)
        return match is not None and match.group() == word

    def accept_word(self, word: str) -> bool:
        if not self.word_ahead(word):
            return False
        self.at += len(word)
        self.skip()
        return True

    def expect_word(self, word: str) -> None:
        if not self.accept_word(word):
            self.fail(f"`{word}` is expected, found {self.shown()}")

    def since(self, start: int) -> Span:
        """From a place to the end of what was read last, without the spaces behind it."""
        return Span(start, len(self.text[start : self.at].rstrip()) + start)

    @contextmanager
    def nested(self) -> Iterator[None]:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail("the expression is nested too deeply")
        yield
        self.depth -= 1

    @contextmanager
    def scope(self, *names: str) -> Iterator[None]:
        mark = self.names.mark()
        for name in names:
            self.names.add(name)
        yield
        self.names.back(mark)

    # -- levels, from the one that binds least -------------------------------------------------

    def expression(self) -> Tree:
        with self.nested():
            return self.operation(_OR)

    def operation(self, least: int, left: Tree | None = None, start: int = 0) -> Tree:
        """Operators from a level on, those of one level from the left (one method for all levels,
        so that nesting costs few frames). The first operand may have been read: `left`."""
        if left is None:
            start = self.at
            left = self.bare_negation(least) or self.unary()
        while True:
            if least <= _POWER and self.accept("**"):
                left = POWER(left, self.unary(), span=self.since(start))
            elif least <= _PRODUCT and self.ahead_of_product():
                left = self.arithmetic(left, _POWER, start)
            elif least <= _SUM and (self.ahead("+") or self.ahead("-")):
                left = self.arithmetic(left, _PRODUCT, start)
            elif least <= _COMPARISON and self.accept_word("between"):
                low = self.operation(_SUM)
                self.expect_word("and")
                left = BETWEEN(left, low, self.operation(_SUM), span=self.since(start))
            elif least <= _COMPARISON and self.accept_word("in"):
                left = In(left, self.tests_of_in(), self.since(start))
            elif least <= _COMPARISON and (
                (compare := self.comparison_sign() or self.comparison_word()) is not None
            ):
                left = compare(left, self.operation(_SUM), span=self.since(start))
            elif least <= _AND and (self.accept_word("and") or self.accept_lenient("&&")):
                right = self.operation(_COMPARISON)
                left = FEEL.logic["and"](left, right, span=self.since(start))
            elif least <= _OR and (self.accept_word("or") or self.accept_lenient("||")):
                right = self.operation(_AND)
                left = FEEL.logic["or"](left, right, span=self.since(start))
            else:
                return left

    def arithmetic(self, left: Tree, right: int, start: int) -> Tree:
        sign = self.text[self.at]
        self.accept(sign)
        return _ARITHMETIC[sign](left, self.operation(right), span=self.since(start))

    def ahead_of_product(self) -> bool:
        return self.ahead("*") or self.ahead("/") or (self.lenient and self.ahead("%"))

    def accept_lenient(self, sign: str) -> bool:
        return self.lenient and self.accept(sign)

    def bare_negation(self, least: int) -> Tree | None:
        """`not a = b`, without brackets."""
        if not self.lenient or least > _COMPARISON or not self.word_ahead("not"):
            return None
        start = self.at
        self.accept_word("not")
        if self.ahead("("):
            self.at = start
            return None
        with self.nested():
            operand = self.operation(_COMPARISON)
        word = Variable(("not",), Span(start, start + 3))
        return FunctionCall(word, (operand,), None, self.since(start))

    def comparison_sign(self) -> Operation[Comparison] | None:
        """The operation of a sign."""
        match = (_LENIENT_SIGNS if self.lenient else _SIGNS).match(self.text, self.at)
        if match is None:
            return None
        if not self.lenient and self.text.startswith("==", self.at):
            self.fail("`==` is not a FEEL operator; use `=`", Span(self.at, self.at + 2))
        self.at = match.end()
        self.skip()
        return _COMPARISONS[match.group()]

    def comparison_word(self) -> Operation[Comparison] | None:
        """The operation of a sign that is written as a word, as in `a gt b`."""
        word = next((word for word in _WORD_SIGNS if self.word_ahead(word)), None)
        if not self.lenient or word is None:
            return None
        self.accept_word(word)
        return _COMPARISONS[_WORD_SIGNS[word]]

    def unary(self) -> Tree:
        start = self.at
        if self.accept_lenient("!"):
            with self.nested():
                word, operand = Variable(("not",), Span(start, start + 1)), self.unary()
                return FunctionCall(word, (operand,), None, self.since(start))
        if self.lenient and _EMPTY.match(self.text, start):
            self.accept_word("empty")
            with self.nested():
                return EMPTY(self.unary(), span=self.since(start))
        if not self.accept("-"):
            return self.instance(self.postfix(self.primary(), start), start)
        with self.nested():
            return FEEL.negative(self.unary(), span=self.since(start))

    def instance(self, value: Tree, start: int) -> Tree:
        while self.accept_word("instance"):
            self.expect_word("of")
            value = InstanceOf(value, self.type(), self.since(start))
        return value

    def postfix(self, value: Tree, start: int) -> Tree:
        while True:
            if self.ahead(".") and not self.ahead(".."):
                self.accept(".")
                value = Path(value, self.member(), self.since(start))
            elif self.depth != self.unfiltered and self.accept("["):
                self.in_filter += 1
                with self.scope("item"):
                    condition = self.expression()
                self.in_filter -= 1
                self.expect("]")
                value = Filter(value, condition, self.since(start))
            elif self.accept("("):
                arguments, names = self.arguments()
                value = FunctionCall(value, arguments, names, self.since(start))
            else:
                return value

    # -- what stands alone ---------------------------------------------------------------------

    def primary(self) -> Tree:
        start = self.at
        if start >= len(self.text):
            self.fail("the expression ends too early")
        sign = self.text[start]
        if sign.isdigit() or (sign == "." and self.text[start + 1 : start + 2].isdigit()):
            return self.number()
        if sign == '"' or (sign == "'" and self.lenient):
            return Constant(self.string(), self.since(start))
        if sign == "@":
            self.accept("@")
            if not self.ahead('"'):
                self.fail("a string is expected after `@`")
            return AtLiteral(self.string(), self.since(start))
        if sign in "([]":
            return self.bracketed()
        if sign == "{":
            return self.context()
        escaped = self.escaped()
        return self.named() if escaped is None else Variable((escaped,), self.since(start))

    def escaped(self) -> str | None:
        """A name in backticks, which may contain any characters in Camunda 8."""
        match = _ESCAPED_NAME.match(self.text, self.at)
        if match is None:
            return None
        self.at = match.end()
        self.skip()
        return match.group(1)

    def number(self) -> Tree:
        match = _NUMBER.match(self.text, self.at)
        assert match is not None
        start, self.at = self.at, match.end()
        if _WORD.match(self.text, self.at):
            self.fail("a number ends in letters", Span(start, self.at + 1))
        self.skip()
        value = CONTEXT.create_decimal(match.group())
        if not value.is_finite():
            self.fail("the number is too large", Span(*match.span()))
        return Constant(value, Span(*match.span()))

    def string(self) -> str:
        match = (_QUOTED if self.ahead("'") else _STRING).match(self.text, self.at)
        if match is None:
            self.fail("the string is never closed", Span(self.at, len(self.text)))
        self.at = match.end()
        self.skip()
        return self.unescaped(match.group()[1:-1], match.start() + 1)

    def unescaped(self, body: str, at: int) -> str:
        def replaced(match: re.Match[str]) -> str:
            escape = match.group(1)
            if escape in _ESCAPED:
                return _ESCAPED[escape]
            if len(escape) > 1 and int(escape[1:], 16) < 0x110000:
                return chr(int(escape[1:], 16))
            self.fail(
                f"`{match.group()}` is not an escape sequence in FEEL",
                Span(at + match.start(), at + match.end()),
            )

        result = _ESCAPE.sub(replaced, body)
        # Two escapes may spell the halves of one character.
        return result.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")

    def bracketed(self) -> Tree:
        """A list, a range, or an expression in parentheses."""
        start, opening = self.at, self.text[self.at]
        self.accept(opening)
        if opening == "(" and (compare := self.comparison_sign()) is not None:
            return self.open_range(compare, start)
        if opening == "[" and self.accept("]"):
            return EXACT_LIST(span=self.since(start))
        first = self.expression()
        if self.accept(".."):
            high, closing = self.range_end()
            return RangeLiteral(first, high, opening == "[", closing == "]", self.since(start))
        if opening == "]":
            self.fail(f"`..` of a range is expected, found {self.shown()}")
        if opening == "(":
            self.expect(")")
            return first
        items = [first]
        while self.accept(","):
            items.append(self.expression())
        self.expect("]")
        return EXACT_LIST(*items, span=self.since(start))

    def range_end(self) -> tuple[Tree, str]:
        """The upper end of a range and the bracket behind it.

        A `[` behind the end closes the range or begins a filter: the longer reading goes first.
        """
        mark, depth, in_filter, start = self.names.mark(), self.depth, self.in_filter, self.at
        try:
            return self.expression(), self.closing_bracket()
        except FeelError:
            self.retries += 1
            if self.retries > MAX_RETRIES:
                raise
            self.at, self.depth, self.in_filter = start, depth, in_filter
            self.names.back(mark)
        self.unfiltered = self.depth + 1
        try:
            return self.expression(), self.closing_bracket()
        finally:
            self.unfiltered = 0

    def closing_bracket(self) -> str:
        closing = self.text[self.at : self.at + 1]
        if closing not in ("]", ")", "[") or not closing:
            self.fail(f"`]` or `)` is expected at the end of a range, found {self.shown()}")
        self.accept(closing)
        return closing

    def open_range(self, compare: Operation[Comparison], start: int) -> Tree:
        """`(< 10)`, its sign taken."""
        operand = self.operation(_SUM)
        self.expect(")")
        span = self.since(start)
        match sign := compare.sign:
            case "<" | "<=":
                return RangeLiteral(None, operand, False, sign == "<=", span)
            case ">" | ">=":
                return RangeLiteral(operand, None, sign == ">=", False, span)
            case "==" if compare is FEEL.comparison["=="]:
                return RangeLiteral(operand, operand, True, True, span)
            case _:
                self.fail(f"`{sign}` makes no range", span)

    def context(self) -> Tree:
        start = self.at
        self.expect("{")
        entries: list[Entry] = []
        mark = self.names.mark()
        while not self.accept("}"):
            if entries:
                self.expect(",")
            begin = self.at
            match = _KEY.match(self.text, self.at)
            if match is None:
                self.fail(f"a key and `:` are expected, found {self.shown()}")
            if match.group("text") is not None:
                key = self.unescaped(match.group("text"), match.start("text"))
            else:
                name = match.group("name")
                escaped = _ESCAPED_NAME.fullmatch(name)
                key = normal_name(name) if escaped is None else escaped.group(1)
            if any(entry.key == key for entry in entries):
                self.fail(f"the key `{key}` occurs twice", Span(begin, match.end()))
            self.at = match.end()
            self.skip()
            value = self.expression()
            entries.append(Entry(key, value, self.since(begin)))
            self.members.add(key)
            self.names.add(key)
        self.names.back(mark)
        return ContextLiteral(tuple(entries), self.since(start))

    def named(self) -> Tree:
        """A keyword's expression, or a name."""
        start = self.at
        name_and_end = self.names.longest(self.text, start)
        if self.in_filter:
            member = self.members.longest(self.text, start)
            if member is not None and (name_and_end is None or member[1] > name_and_end[1]):
                name_and_end = member
        word = _WORD.match(self.text, start)
        if (
            word is not None
            and word.group() in KEYWORDS
            and (name_and_end is None or name_and_end[1] <= word.end())
        ):
            return self.keyword(word.group())
        if name_and_end is None and word is None:
            self.fail(f"{self.shown()} is not expected here")
        if self.lenient and self.accept_word("undefined"):
            return Constant(None, self.since(start))
        if name_and_end is None:
            assert word is not None
            name_and_end = word.group(), word.end()
        self.at = name_and_end[1]
        self.skip()
        return Variable((name_and_end[0],), Span(start, name_and_end[1]))

    def keyword(self, word: str) -> Tree:
        start = self.at
        self.at += len(word)
        self.skip()
        match word:
            case "true" | "false" | "null":
                value = None if word == "null" else word == "true"
                return Constant(value, Span(start, start + len(word)))
            case "if":
                condition = self.expression()
                self.expect_word("then")
                then = self.expression()
                self.expect_word("else")
                otherwise = self.expression()
                return FEEL.choice(condition, then, otherwise, span=self.since(start))
            case "for":
                return self.iteration("return", start, word)
            case "some" | "every":
                return self.iteration("satisfies", start, word)
            case "function":
                return self.function(start)
        self.fail(f"`{word}` is not expected here", Span(start, start + len(word)))

    def iteration(self, behind: str, start: int, word: str) -> Tree:
        iterations: list[Iteration] = []
        mark = self.names.mark()
        while not iterations or self.accept(","):
            begin = self.at
            match = _LOOP_NAME.match(self.text, self.at)
            if match is None:
                self.fail(f"a name and `in` are expected, found {self.shown()}")
            name = normal_name(match.group("name"))
            self.at = match.end()
            self.skip()
            domain = self.expression()
            end = self.expression() if self.accept("..") else None
            iterations.append(Iteration(name, domain, end, self.since(begin)))
            self.names.add(name)
        self.expect_word(behind)
        with self.scope("partial"):
            body = self.expression()
        self.names.back(mark)
        span = self.since(start)
        if word == "for":
            return For(tuple(iterations), body, span)
        return Quantified("some" if word == "some" else "every", tuple(iterations), body, span)

    def function(self, start: int) -> Tree:
        self.expect("(")
        parameters: list[Parameter] = []
        while not self.accept(")"):
            if parameters:
                self.expect(",")
            begin = self.at
            match = _FORMAL.match(self.text, self.at)
            if match is None:
                self.fail(f"a parameter is expected, found {self.shown()}")
            self.at = match.end()
            self.skip()
            kind = self.type() if self.accept(":") else ANY
            parameters.append(Parameter(normal_name(match.group("name")), kind, self.since(begin)))
        external = self.accept_word("external")
        with self.scope(*(parameter.name for parameter in parameters)):
            body = self.expression()
        return FunctionDefinition(tuple(parameters), body, external, self.since(start))

    def arguments(self) -> tuple[tuple[Tree, ...], tuple[str, ...] | None]:
        """Arguments of a call, the opening parenthesis taken."""
        values: list[Tree] = []
        names: list[str] = []
        while not self.accept(")"):
            if values:
                self.expect(",")
            match = _ARGUMENT.match(self.text, self.at)
            if match is not None:
                names.append(normal_name(match.group("name")))
                self.at = match.end()
                self.skip()
            begin = self.at
            values.append(self.expression())
            if names and len(names) != len(values):
                self.fail("either all arguments are named, or none", self.since(begin))
        if len(set(names)) != len(names):
            self.fail("an argument is named twice")
        return tuple(values), tuple(names) if names else None

    def member(self) -> str:
        escaped = self.escaped()
        if escaped is not None:
            return escaped
        name_and_end = self.members.longest(self.text, self.at)
        word = _WORD.match(self.text, self.at)
        if name_and_end is None and word is None:
            self.fail(f"a name is expected after `.`, found {self.shown()}")
        if name_and_end is None or (word is not None and word.end() > name_and_end[1]):
            assert word is not None
            name_and_end = word.group(), word.end()
        self.at = name_and_end[1]
        self.skip()
        return name_and_end[0]

    # -- types ---------------------------------------------------------------------------------

    def type(self) -> Type:
        with self.nested():
            return self.one_type()

    def one_type(self) -> Type:
        start = self.at
        name_and_end = self.type_names.longest(self.text, self.at)
        if name_and_end is None and self.word_ahead("function"):
            name_and_end = "function", self.at + len("function")
        if name_and_end is None:
            self.fail(f"{self.shown()} is not a known type")
        self.at = name_and_end[1]
        self.skip()
        name = name_and_end[0]
        if name in ("list", "range") and self.accept("<"):
            element = self.type()
            self.expect(">")
            return ListType(element) if name == "list" else RangeType(element)
        if name == "context" and self.accept("<"):
            return self.context_type()
        if name == "function" and self.accept("<"):
            return self.function_type()
        known = self.types.get(name) or SIMPLE_NAMES.get(name)
        if known is None:
            self.fail(f"`{name}` is not a known type", Span(start, name_and_end[1]))
        return known

    def context_type(self) -> Type:
        entries: list[tuple[str, Type]] = []
        while not self.accept(">"):
            if entries:
                self.expect(",")
            match = _KEY.match(self.text, self.at)
            if match is None or match.group("name") is None:
                self.fail(f"a key and `:` are expected, found {self.shown()}")
            self.at = match.end()
            self.skip()
            entries.append((normal_name(match.group("name")), self.type()))
        return ContextType(tuple(entries))

    def function_type(self) -> Type:
        parameters: list[Type] = []
        while not self.accept(">"):
            if parameters:
                self.expect(",")
            parameters.append(self.type())
        self.expect("->")
        return FunctionType(tuple(parameters), self.type())

    # -- unary tests ---------------------------------------------------------------------------

    def unary_tests(self) -> UnaryTests:
        start = self.at
        with self.scope("?"):
            if self.ahead("-"):
                self.accept("-")
                if self.at == len(self.text):
                    return UnaryTests((), False, self.since(start))
                self.at = start
            if self.accept_word("not"):
                if self.accept("("):
                    tests = self.test_list()
                    self.expect(")")
                    if self.at == len(self.text):
                        return UnaryTests(tests, True, self.since(start))
                self.at = start  # `not(a) and b`, or a name that begins with the word
            return UnaryTests(self.test_list(), False, self.since(start))

    def test_list(self) -> tuple[UnaryTest, ...]:
        tests = [self.test(_OR)]
        while self.accept(","):
            tests.append(self.test(_OR))
        return tuple(tests)

    def tests_of_in(self) -> UnaryTests:
        """Behind `in`: one test, or several in parentheses."""
        start = self.at
        if not self.accept("("):
            return UnaryTests((self.test(_SUM),), False, self.since(start))
        first = self.test(_OR)
        if first.operator is None and self.accept(".."):
            high, closing = self.range_end()
            ends = first.operand, high
            first = self.goes_on(
                RangeLiteral(*ends, False, closing == "]", self.since(start)), start
            )
            return UnaryTests((first,), False, self.since(start))
        tests = [first]
        while self.accept(","):
            tests.append(self.test(_OR))
        self.expect(")")
        if len(tests) == 1 and first.operator is None:
            tests = [self.goes_on(first.operand, start)]
        return UnaryTests(tuple(tests), False, self.since(start))

    def goes_on(self, value: Tree, start: int) -> UnaryTest:
        """A test that begins with a value which was in parentheses."""
        value = self.operation(_SUM, self.instance(self.postfix(value, start), start), start)
        return UnaryTest(None, value, self.since(start))

    def test(self, least: int) -> UnaryTest:
        start = self.at
        compare = self.comparison_sign()
        value = self.operation(least if compare is None else _SUM)
        return UnaryTest(compare, value, self.since(start))
