"""JavaScript, and the subset of Groovy and Python with the same expressions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar, cast

from orgflow_ir.languages.expression_parser import (
    JAVA_METHODS,
    TOKEN,
    Parser,
    refuse_too_large,
    refuse_zero_in,
    remove_quotes,
)
from orgflow_ir.program import methods, readings
from orgflow_ir.program.ecmascript_operators import LOOSE, STRICT, negate_code
from orgflow_ir.program.feel_operators import FEEL
from orgflow_ir.program.java_operators import JAVA
from orgflow_ir.program.operators import Operators
from orgflow_ir.program.python_operators import PYTHON
from orgflow_ir.program.substitution import with_members
from orgflow_ir.program.syntax import (
    ArithmeticOperator,
    Call,
    Comparison,
    ConditionError,
    Constant,
    Method,
    Not,
    Operation,
    Reading,
    Span,
    Tree,
    Variable,
    kind_of,
)

PYTHON_TOKEN = re.compile(TOKEN.pattern.replace("===|", "===|//|", 1).replace("?:]))", "?:{}]))"))
"""Tokens with those of Python."""

GROOVY_TOKEN = re.compile(TOKEN.pattern.replace("===|", "===|->|", 1).replace("?:]))", "?:{}]))"))
"""Tokens with those of closures."""

_PART = re.compile(r"\\(?P<sign>.)|\$(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)|\$\{", re.DOTALL)
"""Characters with a special meaning in a Groovy text in double quotes."""
_CONSTANTS = {"True": True, "False": False, "None": None}
_INSIDE = re.compile(r"\{|\}|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")


def parse_template(text: str, span: Span, parser: type[Parser], *, names: bool) -> Tree:
    """The value of a quoted text with `${…}` in it: the texts and values one after the other, each
    converted to text as by the language's `+`. With `names`, `$name` is a value as well. Raises
    `ConditionError` for escapes of other characters than `\\`, `$` and quotes.
    """
    body, at = text[1:-1], 0
    tree: Tree = Constant("", span)
    plain = ""

    def add(value: Tree) -> None:
        nonlocal tree
        text = isinstance(value, Constant) and isinstance(value.value, str)
        first = isinstance(tree, Constant) and tree.value == "" and text
        add_texts = parser.operators.arithmetic["+"]
        tree = value if first else add_texts(tree, value, span=span)

    for match in _PART.finditer(body):
        if match.start() < at:
            continue  # inside of an expression
        plain += body[at : match.start()]
        at = match.end()
        if match["sign"] is not None:
            if match["sign"] not in "\\$\"'`":
                raise ConditionError("only quotes and backslashes can be escaped in texts")
            plain += match["sign"]
        elif match["name"] is not None and not names:
            plain += match[0]
        else:
            inner = match["name"]
            if inner is None:
                end = _find_closing(body, at)
                inner, at = body[at:end], end + 1
            if plain:
                add(Constant(plain, span))
                plain = ""
            add(parser(inner).parse())
    plain += body[at:]
    if plain:
        add(Constant(plain, span))
    return tree


def _find_closing(text: str, at: int) -> int:
    depth = 1
    for match in _INSIDE.finditer(text, at):
        depth += (match[0] == "{") - (match[0] == "}")
        if not depth:
            return match.start()
    raise ConditionError("`}` expected")


class JavaScriptParser(Parser):
    """Comparisons and logic of JavaScript. A single `=` is an assignment, which callers that know
    the text is JavaScript refuse first (`recognise`). In a text of unknown language it compares."""

    operators: ClassVar[Operators] = LOOSE
    signs: ClassVar[Mapping[str, Operation[Comparison]]] = {
        "==": LOOSE.comparison["=="], "!=": LOOSE.comparison["!="], "===": STRICT["=="],
        "!==": STRICT["!="], "=": FEEL.comparison["=="], "<>": FEEL.comparison["!="],
    }  # fmt: skip
    writers: ClassVar[Mapping[tuple[str, ...], Method]] = {
        ("JSON", "stringify"): methods.WRITTEN_JSON
    }
    library: ClassVar[str] = "javascript"

    def part_of(self, of: Tree, name: str) -> Tree:
        """As in the base class, and the length of a text or list."""
        if name != "length":
            return super().part_of(of, name)
        from orgflow_ir.program.function_rows import COUNT_OF  # in few texts

        return COUNT_OF(of, span=Span(of.span.start, self.tokens[self.at - 1].span.end))

    def function_ahead(self, method: str) -> bool:
        """Whether an arrow function begins behind the name of a method and a parenthesis."""
        if self.library != "javascript" or not self.ahead("("):
            return False
        rest = [token.text for token in self.tokens[self.at + 1 : self.at + 9]]
        if rest[1:2] == ["=>"]:
            return True
        closing = rest.index(")") if rest[:1] == ["("] and ")" in rest else len(rest)
        return rest[closing + 1 : closing + 2] == ["=>"]

    def method_of_function(self, receiver: Tree, method: str) -> Tree:
        """`items.map(x => x.price * 2)`; a second argument is the first value of `reduce`."""
        from orgflow_ir.languages import function_calls  # in few texts

        if method not in function_calls.LIST_METHODS["javascript"]:
            return super().method_of_function(receiver, method)
        self.expect("(")
        parameters = [self.take()]
        if parameters[0].text == "(":
            parameters = [self.take()]
            while self.ahead(","):
                self.take()
                parameters.append(self.take())
            self.expect(")")
        if any(token.kind != "name" for token in parameters):
            raise ConditionError("only functions of plain parameters are supported")
        self.expect("=>")
        self.nest()
        body = self.choice()
        self.depth -= 1
        test = function_calls.is_test("javascript", method)
        begin: Tree | None = None
        if self.ahead(","):
            self.take()
            begin = self.choice()
        self.expect(")")
        return function_calls.call_list_method(
            "javascript",
            method,
            receiver,
            tuple(token.text for token in parameters),
            self.elaborate(body, test=test),
            begin,
            Span(receiver.span.start, self.tokens[self.at - 1].span.end),
        )

    def elaborate(self, body: Tree, *, test: bool) -> Tree:
        """Paths are members of objects; a test counts as true by JavaScript's rules."""
        tree = with_members(body)
        known = isinstance(tree, Comparison | Not) or kind_of(tree) == "truth"
        return negate_code(negate_code(tree, tree.span), tree.span) if test and not known else tree

    def comparison(self) -> Tree:
        """As in the base class; only undefined is `=== undefined`, null is not."""
        compared = super().comparison()
        if not isinstance(compared, Comparison) or compared.operation not in STRICT.values():
            return compared
        if any(isinstance(side, Call) and side.operation.name == "find in list"
               for side in compared.operands):  # fmt: skip
            raise ConditionError("`===` with a result of `find` is not supported: use `==`")
        left, right = (self.is_undefined(side) for side in (compared.left, compared.right))
        if left is right:
            return compared
        other = compared.right if left else compared.left
        kind = methods.TYPE(other, span=other.span)
        return compared.operation(kind, Constant("undefined"), span=compared.span)

    def is_undefined(self, side: Tree) -> bool:
        """Whether an operand is the word `undefined`, which is read as null elsewhere."""
        words = (token.text for token in self.tokens if token.span == side.span)
        return side == Constant(None) and "undefined" in words


class EqualsParser(JavaScriptParser):
    """Languages of which `==` compares values as Java's `equals` does."""

    library: ClassVar[str] = "java"

    operators: ClassVar[Operators] = JAVA
    signs: ClassVar[Mapping[str, Operation[Comparison]]] = {
        **JavaScriptParser.signs, "==": JAVA.comparison["=="], "!=": JAVA.comparison["!="],
    }  # fmt: skip
    writers: ClassVar[Mapping[tuple[str, ...], Method]] = {}


class PythonParser(JavaScriptParser):
    """Python: the values that Jython (Python 2) and Python 3 agree on."""

    entries: ClassVar[Reading | None] = readings.PYTHON_ENTRY
    writers: ClassVar[Mapping[tuple[str, ...], Method]] = {}
    operators: ClassVar[Operators] = PYTHON
    signs: ClassVar[Mapping[str, Operation[Comparison]]] = {
        **JavaScriptParser.signs, "==": PYTHON.comparison["=="], "!=": PYTHON.comparison["!="],
    }  # fmt: skip

    library: ClassVar[str] = "python"
    computed_parts: ClassVar[bool] = True
    token: ClassVar[re.Pattern[str]] = PYTHON_TOKEN

    def elaborate(self, body: Tree, *, test: bool) -> Tree:
        """Truth in Python, and its `and` and `or`."""
        from orgflow_ir.languages.literals import groovy_truth, in_python  # reads this module

        refuse_zero_in(body)
        refuse_too_large(body)
        tree = with_members(in_python(body, condition=test))
        return groovy_truth(tree) if test else tree

    def part_of(self, of: Tree, name: str) -> Tree:
        """No value of JSON has attributes in Python."""
        raise ConditionError(f"`{name}` of a computed value is not supported")

    def choice(self) -> Tree:
        """As in the base class, and `a if condition else b`."""
        then = super().choice()
        if not self.ahead_word("if"):
            return then
        self.take()
        self.nest()
        condition = self.disjunction()
        if not self.ahead_word("else"):
            raise ConditionError("`else` expected")
        self.take()
        otherwise = self.choice()
        self.depth -= 1
        span = Span(then.span.start, otherwise.span.end)
        return self.operators.choice(condition, then, otherwise, span=span)

    def argument(self) -> Tree:
        """As in the base class, or a generator: `x.price for x in items`."""
        body = self.choice()
        return self.comprehension(body) if self.ahead_word("for") else body

    def comprehension(self, body: Tree) -> Tree:
        """`… for x in items` and `… for x in items if condition` behind an expression."""
        from orgflow_ir.program.lambdas import apply_function  # in few texts

        self.take()
        name = self.part_name()
        if not self.ahead_word("in"):
            raise ConditionError("only `for` over the values of a list is supported")
        self.take()
        self.nest()
        values = self.disjunction()
        span = Span(body.span.start, values.span.end)
        filtered = self.ahead_word("if")
        if filtered:
            self.take()
            test = self.elaborate(self.disjunction(), test=True)
            values = apply_function("filter list", values, (name,), test, None, span)
        self.depth -= 1
        if self.ahead_word("for") or self.ahead_word("if"):
            raise ConditionError("only a single `for` is supported")
        if filtered and body == Variable((name,)):
            return values
        mapped = self.elaborate(body, test=False)
        return apply_function("map list", values, (name,), mapped, None, span)

    def product(self) -> Tree:
        """As in the base class, and `a // b`."""
        from orgflow_ir.program.function_rows import FLOOR_DIVIDE  # of Python

        left = self.unary()
        while self.ahead("*", "/", "%", "//"):
            sign = self.take().text
            right = self.unary()
            span = Span(left.span.start, right.span.end)
            if sign == "//":
                left = FLOOR_DIVIDE(left, right, span=span)
            else:
                operation = self.operators.arithmetic[cast(ArithmeticOperator, sign)]
                left = operation(left, right, span=span)
        return left

    def subscript(self, of: Tree) -> Tree:
        """An entry, also from the end, or a slice."""
        from orgflow_ir.program.function_rows import ITEM_AT, MEMBER_OF, SLICE  # in few texts

        start: Tree = Constant(None)
        if not self.ahead(":"):
            start = self.choice()
        if not self.ahead(":"):
            self.expect("]")
            span = Span(of.span.start, self.tokens[self.at - 1].span.end)
            if isinstance(start, Constant) and isinstance(start.value, str):
                return MEMBER_OF(of, start, span=span)
            return ITEM_AT(of, start, span=span)
        self.take()
        end: Tree = Constant(None)
        if not self.ahead("]"):
            end = self.choice()
        self.expect("]")
        return SLICE(of, start, end, span=Span(of.span.start, self.tokens[self.at - 1].span.end))

    def primary(self) -> Tree:
        """As in the base class, with Python's names of constants."""
        if self.at < len(self.tokens) and self.tokens[self.at].kind == "name":
            token = self.tokens[self.at]
            if token.text in _CONSTANTS:
                self.at += 1
                return Constant(_CONSTANTS[token.text], token.span)
        return super().primary()

    def comparison(self) -> Tree:
        """As in the base class, `a is None`, and `a < b < c`, which is `a < b and b < c`."""
        left = self.sum()
        chain: Tree | None = None
        while True:
            if self.ahead(*self.signs, "<", "<=", ">", ">="):
                operation = self.compared(self.take().text)
                right = self.sum()
            elif self.ahead_word("is"):
                self.take()
                operation = self.operators.comparison["=="]
                if self.ahead_word("not"):
                    self.take()
                    operation = self.operators.comparison["!="]
                right = self.sum()
                if right != Constant(None):
                    raise ConditionError("`is` is supported only with `None`")
            elif self.ahead_word("in") or self.not_in_ahead():
                if chain is not None:
                    raise ConditionError("`in` behind a comparison is not supported")
                return self.contained(left)
            else:
                return left if chain is None else chain
            span = Span(left.span.start, right.span.end)
            link = operation(left, right, span=span)
            chain = self.operators.logic["and"](chain, link, span=span) if chain else link
            left = right

    def not_in_ahead(self) -> bool:
        """Whether `not in` comes next."""
        following = self.tokens[self.at + 1 : self.at + 2]
        return self.ahead_word("not") and [token.text for token in following] == ["in"]

    def contained(self, value: Tree) -> Tree:
        """`value in values` and `value not in values`, behind the value."""
        from orgflow_ir.program.function_rows import CONTAINS_PYTHON  # in few texts

        negated = self.take().text == "not"
        if negated:
            self.take()
        values = self.sum()
        span = Span(value.span.start, values.span.end)
        contains: Tree = CONTAINS_PYTHON(values, value, span=span)
        return self.operators.negation(contains, span=span) if negated else contains


class GroovyParser(EqualsParser):
    """Groovy's `==` is `equals`; a text in double quotes is a template."""

    words: ClassVar[dict[str, str]] = {}
    elvis: ClassVar[bool] = True
    writers: ClassVar[Mapping[tuple[str, ...], Method]] = {
        ("JsonOutput", "toJson"): methods.ESCAPED_JSON,
        ("groovy", "json", "JsonOutput", "toJson"): methods.ESCAPED_JSON,
    }
    methods: ClassVar[dict[str, tuple[Method, int]]] = {**JAVA_METHODS, "size": (methods.SIZE, 0)}
    entries: ClassVar[Reading | None] = readings.GROOVY_ENTRY
    library: ClassVar[str] = "groovy"
    safe_to_end: ClassVar[bool] = False
    computed_parts: ClassVar[bool] = True
    token: ClassVar[re.Pattern[str]] = GROOVY_TOKEN
    unsure: frozenset[str] = frozenset()
    """Variables that may hold decimals."""

    def comparison(self) -> Tree:
        """As in the base class, and `value in values`."""
        left = super().comparison()
        if not super().ahead_word("in"):
            return left
        from orgflow_ir.program.function_rows import CONTAINS_EXACTLY  # in few texts

        self.take()
        values = self.sum()
        return CONTAINS_EXACTLY(values, left, span=Span(left.span.start, values.span.end))

    def subscript(self, of: Tree) -> Tree:
        """An entry, also from the end."""
        from orgflow_ir.program.function_rows import ITEM_AT, MEMBER_OF  # in few texts

        key = self.choice()
        self.expect("]")
        span = Span(of.span.start, self.tokens[self.at - 1].span.end)
        named = isinstance(key, Constant) and isinstance(key.value, str)
        return (MEMBER_OF if named else ITEM_AT)(of, key, span=span)

    def function_ahead(self, method: str) -> bool:
        """Whether a closure comes next: `items.collect { it.price }`, in parentheses or behind
        them."""
        texts = [token.text for token in self.tokens[self.at : self.at + 4]]
        if texts[:1] == ["{"] or texts[:2] == ["(", "{"] or texts[:3] == ["(", ")", "{"]:
            return True
        return method == "inject" and texts[:1] == ["("]

    def method_of_function(self, receiver: Tree, method: str) -> Tree:
        """The call of a method of lists with a closure."""
        from orgflow_ir.languages import function_calls  # in few texts

        if method not in function_calls.LIST_METHODS["groovy"]:
            return Parser.method_of_function(self, receiver, method)
        begin: Tree | None = None
        enclosed = self.ahead("(")
        if enclosed:
            self.take()
            if self.ahead(")"):
                self.take()
                enclosed = False
            elif not self.ahead("{"):
                begin = self.choice()
                enclosed = self.ahead(",")
                self.take()
        self.expect("{")
        parameters, body = self.closure(test=function_calls.is_test("groovy", method))
        if enclosed:
            self.expect(")")
        span = Span(receiver.span.start, self.tokens[self.at - 1].span.end)
        return function_calls.call_list_method(
            "groovy", method, receiver, parameters, body, begin, span
        )

    def closure(self, *, test: bool) -> tuple[tuple[str, ...], Tree]:
        """The parameters and the expression of a closure, its opening brace consumed."""
        parameters: tuple[str, ...] = ("it",)
        begun = self.at
        names: list[str] = []
        while self.at + 1 < len(self.tokens) and self.tokens[self.at].kind == "name":
            names.append(self.take().text)
            sign = self.take().text
            if sign == "->":
                parameters, begun = tuple(names), self.at
                break
            if sign != ",":
                break
        self.at = begun
        self.nest()
        body = self.elaborate(self.choice(), test=test)
        self.depth -= 1
        self.expect("}")
        return parameters, body

    def elaborate(self, body: Tree, *, test: bool) -> Tree:
        """Truth and equality in Groovy, and its arithmetic."""
        from orgflow_ir.languages.literals import checked_in_groovy, groovy_truth

        tree = with_members(checked_in_groovy(body, self.unsure))
        return groovy_truth(tree) if test else tree

    def ahead_word(self, word: str) -> bool:
        """Groovy has no operators that are words."""
        return False

    def quoted(self, text: str, span: Span) -> Tree:
        """The value of a text in quotes; double quotes insert the values of `$name` and `${…}`."""
        if text[0] == '"' and "$" in text:
            return parse_template(text, span, type(self), names=True)
        return Constant(remove_quotes(text), span)
