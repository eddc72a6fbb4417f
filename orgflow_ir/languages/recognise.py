"""Detects the language of a condition, and whether it is code.

The text decides: files that declare XPath hold JUEL, FEEL or bare comparisons, since it is BPMN's
own default. The meaning of a text that does not parse is never guessed. Code is reported as code,
and the caller makes it a decision variable; any other text is a label.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from orgflow_ir.model import Expression
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program.ecmascript_operators import negate_code
from orgflow_ir.program.substitution import with_members
from orgflow_ir.program.syntax import (
    Arithmetic,
    Comparison,
    Conditional,
    ConditionError,
    Constant,
    Logical,
    Not,
    Tree,
    Variable,
    kind_of,
    nodes,
    variables,
)

_WRAPPED = re.compile(r"\s*[$#]\{(.*)\}\s*", re.DOTALL)
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_SINGLE_EQUALS = re.compile(r"(?<![=!<>])=(?![=>])")
_STATEMENT = re.compile(r"\s*(?:return\b)?(.*?)(?:;\s*)?", re.DOTALL)
_RETURNS = re.compile(r"\s*return\b.*;\s*", re.DOTALL)
_DECLARED: Final = (
    ("feel", "feel"), ("juel", "juel"), ("javascript", "javascript"), ("ecmascript", "javascript"),
    ("groovy", "groovy"), ("python", "python"), ("java", "java"), ("mvel", "mvel"),
)  # fmt: skip
"""Languages by a part of the names that models declare."""

_SCRIPTS: Final = ("javascript", "groovy", "python", "java", "mvel")
_UNKNOWN = ("drools/rule", "xquery", "ruby", "beanshell", "jexl", "spel", "velocity", "sql")
"""Languages that occur in conditions and that orgflow does not read."""

_CODE = re.compile(
    r"""[!=]=|&&|\|\|                          # signs that no prose has
        | (?:=|<>)\s*(?:"[^"]*"|'[^']*')      # equal to a quoted text
        | \w[.:]\w+\(                         # a call of something's method or function
        | \w\((?:["'][^"']*["'])?\)           # a call without or with a quoted argument
        | \w\([^()]*\)\s*[<>=!]              # a call whose result is compared
        | (?:^|[\s(=<>])(?:\$[A-Za-z_]|//?[A-Za-z_@*])   # a variable or a path of XPath
        | ::|/@ | ;\s*$                       # an axis or attribute of XPath; a statement
    """,
    re.VERBOSE,
)
"""Characters that occur only in code, for texts that are not marked as code."""

_MODULO = re.compile(r"[\w)]\s+mod\s+[\w(]")
"""The operator `mod` of JUEL, in a text that is not marked as code."""

_PATH = re.compile(r"[A-Za-z_*)]\s*/\s*[A-Za-z_@*]|::|^\s*/\w|\$[A-Za-z_]|\bget\w+\(")
"""An XPath path, in a text that declares XPath; in other texts the slash divides or is prose."""


class Recognised(NamedTuple):
    """A text as code: the part `text[start:end]`, and its language. `marked` means that the source
    marks it as code; otherwise it may be a label."""

    text: str
    start: int
    end: int
    language: str
    marked: bool

    def parse(self) -> Tree:
        """The tree of a condition. Raises `ConditionError` if it does not match the grammar."""
        front = FRONTS[self.language]()
        parse = front.parse if self.marked else front.parse_unmarked
        return parse(self.text, self.start, self.end)

    def parse_value(self) -> Tree:
        """The tree of a value, of which a comparison may be null. Errors are those of `parse`."""
        return FRONTS[self.language]().parse_value(self.text, self.start, self.end)


Parse = Callable[[str, int, int], Tree]
"""The tree of a part of a text. Raises `ConditionError` if it does not match the grammar."""


class Front(NamedTuple):
    """How a language is read.

    Args:
        parse: a text that the source marks as code.
        parse_unmarked: a text that may be a label.
        parse_value: a value that is no condition.
        as_condition: the tree of a marked condition, of which the value is a truth value. Raises
            `ConditionError` for another.
    """

    parse: Parse
    parse_unmarked: Parse
    parse_value: Parse
    as_condition: Callable[[Tree], Tree]


def _make_front(parse: Parse, as_condition: Callable[[Tree], Tree]) -> Front:
    return Front(parse, parse, parse, as_condition)


def _read_feel() -> Front:
    from orgflow_ir.languages.feel import reading

    return Front(
        reading.read_condition,
        reading.read_comparison,
        reading.read_value,
        reading.as_condition,
    )


def _read_juel() -> Front:
    from orgflow_ir.languages.juel import JuelParser, check_tree

    return _make_front(lambda *code: check_tree(JuelParser(*code).parse()), _as_flags)


def _read_javascript() -> Front:
    from orgflow_ir.languages.javascript import JavaScriptParser

    def parse(text: str, start: int, end: int) -> Tree:
        from orgflow_ir.languages.literals import JavaScriptValues  # not for labels

        return JavaScriptValues(text, start, end).parse()

    def parse_unmarked(text: str, start: int, end: int) -> Tree:
        return JavaScriptParser(text, start, end).parse()

    return Front(parse, parse_unmarked, parse, lambda tree: _as_truth(with_members(tree)))


def _read_groovy() -> Front:
    from orgflow_ir.languages.literals import GroovyValues, groovy_truth

    return _make_front(
        lambda *code: GroovyValues(*code).parse(),
        lambda tree: groovy_truth(with_members(tree)),
    )


def _read_python() -> Front:
    from orgflow_ir.languages.expression_parser import Parser
    from orgflow_ir.languages.literals import PythonValues, groovy_truth, in_python

    return _make_front(
        lambda *code: in_python(Parser.parse(PythonValues(*code)), condition=True),
        lambda tree: groovy_truth(with_members(tree)),
    )


def _read_java() -> Front:
    from orgflow_ir.languages.java import JavaParser

    return _make_front(lambda *code: JavaParser(*code).parse(), _as_boolean)


def _read_mvel() -> Front:
    from orgflow_ir.languages.java import MvelParser

    return _make_front(lambda *code: MvelParser(*code).parse(), _as_boolean)


def _read_xpath() -> Front:
    from orgflow_ir.languages.xpath import XPathParser

    return _make_front(lambda *code: XPathParser(*code).parse(), lambda tree: tree)


FRONTS: Final[Mapping[str, Callable[[], Front]]] = {
    "feel": _read_feel, "juel": _read_juel, "javascript": _read_javascript,
    "groovy": _read_groovy, "python": _read_python, "java": _read_java, "mvel": _read_mvel,
    "xpath": _read_xpath,
}  # fmt: skip
"""The languages of conditions. A model loads the parsers and operations of its own ones."""


def recognise(condition: Expression) -> Recognised:
    """The code in a condition and its language.

    Code is marked by `${…}` and `#{…}` (JUEL), a leading `=` (FEEL), `return …;`, or a supported
    declared language other than XPath. Without a mark, the declared language decides. Raises
    `ConditionError` for a script that assigns, and for an unsupported language.
    """
    text, language = condition.text, (condition.language or "").lower()
    declared = next((own for name, own in _DECLARED if name in language), None)
    if declared is None and any(name in language for name in _UNKNOWN):
        raise ConditionError(f"the language `{condition.language}` is not supported")
    wrapped = _WRAPPED.fullmatch(text)
    if declared is None and not wrapped and _RETURNS.fullmatch(text):
        declared = "java"
    start, end = wrapped.span(1) if wrapped else (len(text) - len(text.lstrip()), len(text))
    equals_first = not wrapped and text[start : start + 1] == "="
    start += equals_first
    if not wrapped and not equals_first and declared in _SCRIPTS:
        statement = _STATEMENT.fullmatch(text)
        assert statement is not None
        start, end = statement.span(1)
    signs = _QUOTED.sub("", text[start:end])
    single = _SINGLE_EQUALS.search(signs) is not None
    if declared in _SCRIPTS and single:
        raise ConditionError("a single `=` is an assignment in this language")
    if wrapped:
        own = "juel"
    elif equals_first:
        own = "feel"
    else:
        own = declared or ("feel" if single or "<>" in signs else "javascript")
    marked = wrapped is not None or equals_first or declared is not None
    return Recognised(text, start, end, own, marked)


def read_condition(condition: Expression) -> Tree | None:
    """The tree of a coded condition, or `None` for a label.

    A text is code if it is marked as code, or contains a comparison. Prose may look like code:
    `groß - Eil` does not subtract, nor does `checked and paid` read two variables. Raises
    `ConditionError` for code that does not match the grammar.
    """
    code = recognise(condition)
    if code.marked:
        return FRONTS[code.language]().as_condition(code.parse())
    language = (condition.language or "").lower()
    bare = _if_compared(code)
    if "xpath" in language and _PATH.search(_QUOTED.sub("", code.text)):
        code = code._replace(language="xpath")
        bare = _if_compared(code)
    if bare is None and language != "n8n" and _CODE.search(code.text):
        code.parse()  # says what is not supported
        raise ConditionError("it compares nothing")
    if bare is None and language != "n8n" and _has_code_names(code):
        raise ConditionError(
            "it looks like code, but is not marked as code "
            f"(`={code.text.strip()}` is FEEL, `${{…}}` is JUEL)"
        )
    return bare


_CODE_NAME = re.compile(r"[a-z][a-z0-9]*[A-Z]\w*|[A-Za-z]\w*_\w+|[A-Za-z]\w*(?:\.[A-Za-z_]\w*)+")
"""A name that only code has: `stockOk`, `stock_ok`, `order.paid`."""


def _has_code_names(code: Recognised) -> bool:
    """Whether an unmarked text is an expression, each name of which only code has: `stockOk and
    creditOk`, `not order.paid`. `checked and paid` is prose."""
    try:
        tree = code.parse()
    except ConditionError:
        return False
    names = [".".join(map(str, path)) for path in variables(tree)]
    # Prose such as `yes/no` and `e.g. later` has other signs between its words.
    return bool(names) and all(n in code.text and _CODE_NAME.fullmatch(n) for n in names)


def _as_flags(tree: Tree) -> Tree:
    """A condition of JUEL, whose value is a truth value. Raises `ConditionError` for another."""
    kind = kind_of(tree)
    if kind not in (None, "truth") or tree == Constant(None):
        number = kind in ("number", "whole")
        raise ConditionError("a number is no condition" if number else "it is not true or false")
    if isinstance(tree, Variable):
        from orgflow_ir.program.readings import FLAG  # of JUEL, as its parser

        return Variable(tree.path, tree.span, FLAG, tree.counted, tree.got)
    if isinstance(tree, Conditional):
        then, otherwise = _as_flags(tree.then), _as_flags(tree.otherwise)
        return tree.operation(tree.condition, then, otherwise, span=tree.span)
    return tree


def _as_boolean(tree: Tree) -> Tree:
    """A condition of Java or MVEL, whose value is a truth value. Raises `ConditionError` for
    another."""
    kind = kind_of(tree)
    if kind not in (None, "truth") or tree == Constant(None):
        raise ConditionError("it is not true or false")
    if kind:
        return tree
    from orgflow_ir.program.java_operators import IDENTITY  # of Java, as its parser

    return IDENTITY["=="](tree, Constant(True), span=tree.span)


def _as_truth(tree: Tree) -> Tree:
    """Whether a value counts as true in JavaScript: n8n takes the text `false` for no truth."""
    if isinstance(tree, Variable | Logical | Conditional):
        return negate_code(negate_code(tree, tree.span), tree.span)
    return tree


def _if_compared(code: Recognised) -> Tree | None:
    """The tree of what compares, or is a truth value; else `None`."""
    try:
        tree = code.parse()
    except ConditionError:
        if code.language != "feel" or _MODULO.search(_QUOTED.sub("", code.text)) is None:
            return None
        return _if_compared(code._replace(language="javascript"))  # FEEL has no such operator
    if isinstance(tree, Constant):
        return tree if isinstance(tree.value, bool) else None
    if isinstance(tree, Arithmetic) or any(_is_dash(node) for node in nodes(tree)):
        return None
    compares = any(isinstance(node, Comparison) for node in nodes(tree))
    signed = isinstance(tree, Not) and code.text[code.start :].lstrip().startswith("!")
    return tree if compares or signed else None


def _is_dash(node: Tree) -> bool:
    """Whether a word is "subtracted" from a number: `age >= 18 - adult`."""
    return (
        isinstance(node, Arithmetic)
        and node.operator == "-"
        and isinstance(node.left, Constant)
        and isinstance(node.right, Variable)
    )
