"""Conditions that are code: one small grammar over what FEEL, JUEL and JavaScript share.

What parses is a tree that a backend says in its target's own language, and can be evaluated here
as well (replays look for values that take a branch). What does not parse is not guessed at: the
caller makes it a decision variable and says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from orgflow_ir.model import Expression

Ast = tuple[Any, ...]
"""`("num", 1)` `("str", "a")` `("bool", True)` `("null",)` `("var", ("order", "amount"))`
`("not", x)` `("neg", x)` `("empty", x)` `("bin", op, x, y)` with JavaScript's operators."""


class ConditionError(ValueError):
    """The text is not in the grammar."""


_TOKEN = re.compile(
    r"\s*(?:(?P<num>\d+(?:\.\d+)?)|(?P<str>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')"
    r"|(?P<name>[^\W\d]\w*)|(?P<op>===|!==|==|!=|<>|<=|>=|&&|\|\||[-+*/%<>=!().,\[\]]))"
)
_WORDS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "and": "&&",
          "or": "||", "mod": "%", "div": "/"}  # fmt: skip
_JS = {"=": "===", "==": "==", "===": "===", "!=": "!=", "<>": "!==", "!==": "!=="}
_CALLS = {"getVariable"}
_CONTEXT = {"this", "environment", "execution", "variables"}
"""Names by which engines offer what surrounds the variables: they are no variables."""

_OBJECT = {"__proto__", "constructor", "prototype", "toString", "valueOf", "hasOwnProperty"}
"""Names that every JavaScript object answers to, whatever it holds."""
_MAX_DEPTH = 60


@dataclass(eq=False, repr=False)
class _Parser:
    """Reads the tokens of one condition by recursive descent."""

    tokens: list[tuple[str, str]]
    at: int = 0
    depth: int = 0

    def peek(self, *ops: str) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at] in [("op", o) for o in ops]

    def take(self) -> tuple[str, str]:
        if self.at >= len(self.tokens):
            raise ConditionError("the condition ends too early")
        self.at += 1
        return self.tokens[self.at - 1]

    def expect(self, op: str) -> None:
        if self.take() != ("op", op):
            raise ConditionError(f"`{op}` expected")

    def chain(self, sub: Callable[[], Ast], ops: tuple[str, ...]) -> Ast:
        left = sub()
        while self.peek(*ops):
            op = self.take()[1]
            left = ("bin", _JS.get(op, op), left, sub())
        return left

    def either(self) -> Ast:
        return self.chain(self.both, ("||",))

    def both(self) -> Ast:
        return self.chain(self.negated, ("&&",))

    def negated(self) -> Ast:
        if not self.word("not"):
            return self.compare()
        self.at += 1
        self.nest()
        try:
            return ("not", self.negated())
        finally:
            self.depth -= 1

    def nest(self) -> None:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise ConditionError("nested too deeply")

    def compare(self) -> Ast:
        left = self.add()
        if self.peek(*_JS, "<", "<=", ">", ">="):
            op = self.take()[1]
            right = self.add()
            js = _JS.get(op, op)
            if op in ("=", "<>") and ("null",) in (left, right):
                js = js[:2]  # FEEL knows one kind of nothing
            return ("bin", js, left, right)
        return left

    def add(self) -> Ast:
        return self.chain(self.mul, ("+", "-"))

    def mul(self) -> Ast:
        return self.chain(self.unary, ("*", "/", "%"))

    def unary(self) -> Ast:
        self.nest()
        try:
            if self.peek("!"):
                self.at += 1
                return ("not", self.unary())
            if self.peek("-"):
                self.at += 1
                return ("neg", self.unary())
            if self.word("empty"):
                self.at += 1
                return ("empty", self.unary())
            return self.primary()
        finally:
            self.depth -= 1

    def word(self, text: str) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at] == ("name", text)

    def primary(self) -> Ast:
        kind, text = self.take()
        if kind == "num":
            if text[0] == "0" and text[1:2].isdigit():
                raise ConditionError(f"`{text}` means different numbers in different languages")
            return ("num", float(text) if "." in text else int(text))
        if kind == "str":
            return ("str", _unquoted(text))
        if (kind, text) == ("op", "("):
            inner = self.either()
            self.expect(")")
            return inner
        if kind != "name":
            raise ConditionError(f"`{text}` is not understood here")
        if text in ("true", "false"):
            return ("bool", text == "true")
        if text in ("null", "undefined"):
            return ("null",)
        return self.path(text)

    def path(self, first: str) -> Ast:
        parts = [first]
        while self.peek(".", "[", "("):
            op = self.take()[1]
            if op == ".":
                kind, text = self.take()
                if kind != "name":
                    raise ConditionError("a field name is expected behind the dot")
                parts.append(text)
            elif op == "[":
                kind, text = self.take()
                if kind != "str":
                    raise ConditionError("only a quoted name may stand in brackets")
                parts.append(text[1:-1])
                self.expect("]")
            else:
                if parts[-1] not in _CALLS:
                    raise ConditionError(f"calls of `{parts[-1]}` are not understood")
                kind, text = self.take()
                if kind != "str":
                    raise ConditionError("a quoted variable name is expected")
                self.expect(")")
                parts = [text[1:-1]]
                first = ""
        if first in _CONTEXT or not _OBJECT.isdisjoint(parts):
            raise ConditionError(f"`{'.'.join(parts)}` is no variable")
        return ("var", tuple(parts))


def _unquoted(text: str) -> str:
    body = text[1:-1]
    if re.search(r"\\[^\\\"']", body):
        raise ConditionError("of escapes in texts only quotes and backslashes are understood")
    return re.sub(r"\\(.)", r"\1", body)


def parse(text: str) -> Ast:
    """The condition as a tree. Raises `ConditionError` where it is not in the grammar."""
    tokens: list[tuple[str, str]] = []
    at = 0
    stripped = text.rstrip()
    while at < len(stripped):
        match = _TOKEN.match(stripped, at)
        if match is None:
            raise ConditionError(f"`{stripped[at : at + 12].strip()}` is not understood")
        at = match.end()
        kind = match.lastgroup or ""
        value = match.group(kind)
        if kind == "name" and value in _WORDS:
            kind, value = "op", _WORDS[value]
        tokens.append((kind, value))
    parser = _Parser(tokens)
    tree = parser.either()
    if parser.at != len(tokens):
        raise ConditionError(f"`{tokens[parser.at][1]}` is not understood here")
    return tree


_WRAPPED = re.compile(r"^\s*[$#]\{(.*)\}\s*$", re.DOTALL)
_CODE_LANGUAGES = ("feel", "juel", "javascript", "ecmascript", "groovy", "python")


def compile_condition(condition: Expression) -> Ast | None:
    """The tree of a condition that is code, or `None` where it is a label.

    Code is what is marked so (`${…}`, `#{…}`, a leading `=`, a language attribute) or compares
    something. Raises `ConditionError` for marked code that is not in the grammar.
    """
    text = condition.text.strip()
    language = (condition.language or "").lower()
    wrapped = _WRAPPED.match(text)
    marked = bool(wrapped) or text.startswith("=") or any(w in language for w in _CODE_LANGUAGES)
    body = wrapped.group(1) if wrapped else text.removeprefix("=")
    if marked:
        script = any(w in language for w in _CODE_LANGUAGES[2:])
        if script and re.search(r"(?<![=!<>])=(?!=)", re.sub(r"'[^']*'|\"[^\"]*\"", "", body)):
            raise ConditionError("a single `=` assigns in this language")
        return parse(body)
    try:
        tree = parse(body)
    except ConditionError:
        return None
    return tree if tree[0] in ("bin", "not", "bool") else None


def variables(tree: Ast) -> Iterator[tuple[str, ...]]:
    """Paths of the variables in a tree, in order, with repetitions."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if node[0] == "var":
            yield node[1]
        else:
            stack.extend(reversed([part for part in node[1:] if isinstance(part, tuple)]))


def literals(tree: Ast) -> Iterator[Any]:
    """Constants in a tree: where the truth of comparisons changes."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if node[0] in ("num", "str", "bool"):
            yield node[1]
        elif node[0] != "var":
            stack.extend(part for part in node[1:] if isinstance(part, tuple))


def evaluate(tree: Ast, values: Mapping[tuple[str, ...], Any]) -> Any:
    """The value of a tree, as JavaScript would have it for values of matching types."""
    kind = tree[0]
    if kind in ("num", "str", "bool"):
        return tree[1]
    if kind == "null":
        return None
    if kind == "var":
        return values.get(tree[1])
    if kind == "not":
        return not evaluate(tree[1], values)
    if kind == "neg":
        inner = evaluate(tree[1], values)
        return -inner if isinstance(inner, int | float) else None
    if kind == "empty":
        return evaluate(tree[1], values) in (None, "", [])
    return _binary(tree[1], evaluate(tree[2], values), evaluate(tree[3], values))


def _binary(op: str, left: Any, right: Any) -> Any:
    if op == "&&":
        return left and right
    if op == "||":
        return left or right
    if op in ("==", "==="):
        return left == right and isinstance(left, bool) == isinstance(right, bool)
    if op in ("!=", "!=="):
        return not _binary("===", left, right)
    number = isinstance(left, int | float) and isinstance(right, int | float)
    text = isinstance(left, str) and isinstance(right, str)
    if op in ("<", "<=", ">", ">="):
        if not (number or text):
            return False
        return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[op]
    if op == "+" and text:
        return left + right
    if not number or (op in ("/", "%") and right == 0):
        return None
    return {"+": lambda: left + right, "-": lambda: left - right, "*": lambda: left * right,
            "/": lambda: left / right, "%": lambda: left % right}[op]()  # fmt: skip
