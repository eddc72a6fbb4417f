"""Detects the language of a condition, and whether it is code.

The text decides: files that declare XPath hold JUEL, FEEL or bare comparisons, since it is BPMN's
own default. The meaning of a text that does not parse is never guessed. Code is reported as code,
and the caller makes it a decision variable; any other text is a label.
"""

from __future__ import annotations

import re

from orgflow_ir.languages.expression_parser import Parser
from orgflow_ir.languages.feel_conditions import FeelParser
from orgflow_ir.languages.java import JavaParser, MvelParser
from orgflow_ir.languages.javascript import (
    GroovyParser,
    JavaScriptParser,
    PythonParser,
)
from orgflow_ir.languages.juel import JuelParser, checked
from orgflow_ir.model import Expression
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program import feel_operators, readings
from orgflow_ir.program.ecmascript_operators import negate_code
from orgflow_ir.program.exact import terms
from orgflow_ir.program.feel_operators import FEEL, exact_comparison, is_feel_comparison
from orgflow_ir.program.java_operators import IDENTITY
from orgflow_ir.program.substitution import with_members
from orgflow_ir.program.syntax import (
    OPPOSITE,
    Arithmetic,
    Call,
    Comparison,
    Conditional,
    ConditionError,
    Constant,
    Feel,
    Logical,
    Negative,
    Not,
    Tree,
    Variable,
    children,
    kind_of,
    nodes,
    with_operands,
)

_WRAPPED = re.compile(r"\s*[$#]\{(.*)\}\s*", re.DOTALL)
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_SINGLE_EQUALS = re.compile(r"(?<![=!<>])=(?!=)")
_STATEMENT = re.compile(r"\s*(?:return\b)?(.*?)(?:;\s*)?", re.DOTALL)
_RETURNS = re.compile(r"\s*return\b.*;\s*", re.DOTALL)
_DECLARED: tuple[tuple[str, type[Parser]], ...] = (
    ("feel", FeelParser), ("juel", JuelParser), ("javascript", JavaScriptParser),
    ("ecmascript", JavaScriptParser), ("groovy", GroovyParser), ("python", PythonParser),
    ("java", JavaParser), ("mvel", MvelParser),
)  # fmt: skip
_SCRIPTS = (JavaScriptParser, GroovyParser, PythonParser, JavaParser, MvelParser)
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

_PATH = re.compile(r"[A-Za-z_*)]\s*/\s*[A-Za-z_@*]|::|^\s*/\w|\$[A-Za-z_]|\bget\w+\(")
"""An XPath path, in a text that declares XPath; in other texts the slash divides or is prose."""


class Recognised(NamedTuple):
    """A text as code: the part `text[start:end]`, and the parser of its language. `marked` means
    that the source marks it as code; otherwise it may be a label."""

    text: str
    start: int
    end: int
    parser: type[Parser]
    marked: bool

    @property
    def is_feel(self) -> bool:
        """Whether it is FEEL."""
        return self.parser is FeelParser

    def parse(self) -> Tree:
        """The tree. Raises `ConditionError` if it does not match the grammar.

        FEEL constructs beyond the shared grammar are parsed by FEEL's own parser.
        """
        try:
            tree = self.parser(self.text, self.start, self.end).parse()
        except ConditionError:
            if self.parser is not FeelParser or not self.marked:
                raise
        else:
            if self.parser is JuelParser:
                return checked(tree)
            if self.parser is GroovyParser:
                from orgflow_ir.languages.literals import checked_in_groovy

                return checked_in_groovy(tree)
            if self.parser is PythonParser:
                from orgflow_ir.languages.literals import in_python  # rare

                return in_python(tree, condition=True)
            if self.parser is not FeelParser or not self.marked:
                return tree
            if not _needs_feel(tree):
                return _shared(tree)
        from orgflow_ir.languages.feel.reading import read_feel  # needed for few models

        return read_feel(self.text, self.start, self.end)


_BEYOND_UTF16 = "\ud800"


def _needs_feel(tree: Tree, negated: bool = False) -> bool:
    """Whether a tree of FEEL has what the shared grammar takes for something else: numbers that are
    no doubles, entries that are counted from 1, comparisons of what is not a variable or constant,
    and texts whose order is another one in UTF-16. `negated`: whether a `not` is around it."""
    match tree:
        case Comparison(_, (left, right) as sides) if is_feel_comparison(tree):
            operator = tree.operator
            if any(isinstance(s, Constant) and _out_of_order(s.value, operator) for s in sides):
                return True
            if isinstance(left, Arithmetic) or isinstance(right, Arithmetic):
                return _exact(tree, negated) is None
            paths = [side.path for side in sides if isinstance(side, Variable)]
            if len(paths) == 2 and operator in ("==", "!=") and max(map(len, paths)) > 1:
                return True  # parts of lists are lists, which may be equal
            sign = "!=" if negated and operator == "==" else operator
            return not all(
                _is_operand(s, other, sign) for s, other in ((left, right), (right, left))
            )
        case Arithmetic() | Negative():
            return not isinstance(tree, Negative) or not isinstance(tree.operand, Constant)
        case Variable(path):
            return any(step.lstrip("-").isdigit() or step == "length" for step in path[1:])
        case Not():
            return _needs_feel(tree.operand, not negated)
    return any(_needs_feel(child, negated) for child in children(tree))


def _out_of_order(value: object, operator: str) -> bool:
    ordered = operator not in ("==", "!=")
    return ordered and isinstance(value, str) and any(c >= _BEYOND_UTF16 for c in value)


def _is_operand(side: Tree, other: Tree, operator: str = "==") -> bool:
    """Whether a side of a comparison has the same meaning in the shared grammar, in which
    `_shared` distinguishes entries of lists from parts of contexts."""
    if isinstance(side, Negative):
        side = side.operand
        return isinstance(side, Constant)
    if isinstance(side, Variable) and any(step.isdigit() for step in side.path):
        at = [n for n, step in enumerate(side.path) if step.isdigit()]
        parts = side.path[at[0] + 1 :]
        alone = len(at) == 1 and side.path[at[0]] != "0" and "length" not in parts
        # The same part of each entry of a list differs from a constant, in JavaScript too.
        fits = not parts or operator != "!="
        constant = isinstance(other, Constant | Negative) and other != Constant(None)
        return alone and fits and constant and not any(s.startswith("-") for s in side.path)
    return isinstance(side, Constant) or (isinstance(side, Variable) and not _needs_feel(side))


def _exact(tree: Comparison, negated: bool = False) -> Comparison | None:
    """A comparison with arithmetic that targets decide as the decimal numbers of FEEL do; `None` if
    there is none."""
    if any(isinstance(v, Variable) and _needs_feel(v) for v in nodes(tree)):
        return None
    found = exact_comparison(tree)
    opposite = FEEL.comparison[OPPOSITE[tree.operator]](*tree.operands, span=tree.span)
    if found is not None and exact_comparison(opposite) is not None:  # `not` may be around it
        return found
    tried = opposite if negated and tree.operator == "==" else tree
    return tree if terms(tried) is not None else None


def _shared(tree: Tree) -> Tree:
    """A tree of FEEL that distinguishes entries of lists from parts of contexts, and in which
    doubles decide as decimal numbers do."""
    match tree:
        case Comparison(_, sides) if any(isinstance(side, Arithmetic) for side in sides):
            return _exact(tree) or tree
        case Comparison() | Logical() | Not():
            return with_operands(tree, _shared)
        case Variable(path, span):
            at = next((n for n, step in enumerate(path) if step.isdigit()), None)
            if at is not None:
                found_item = Call(
                    feel_operators.ITEM, (Variable(path[:at], span), Constant(int(path[at]))), span
                )
                for step in path[at + 1 :]:
                    found_item = Call(feel_operators.PART, (found_item, Constant(step)), span)
                return found_item
    return tree


def recognise(condition: Expression) -> Recognised:
    """The code in a condition and its language.

    Code is marked by `${…}` and `#{…}` (JUEL), a leading `=` (FEEL), `return …;`, or a supported
    declared language other than XPath. Without a mark, the declared language decides. Raises
    `ConditionError` for a script that assigns, and for an unsupported language.
    """
    text, language = condition.text, (condition.language or "").lower()
    declared = next((p for name, p in _DECLARED if name in language), None)
    if declared is None and any(name in language for name in _UNKNOWN):
        raise ConditionError(f"the language `{condition.language}` is not supported")
    wrapped = _WRAPPED.fullmatch(text)
    if declared is None and not wrapped and _RETURNS.fullmatch(text):
        declared = JavaParser
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
    parser: type[Parser]
    if wrapped:
        parser = JuelParser
    elif equals_first:
        parser = FeelParser
    else:
        parser = declared or (FeelParser if single or "<>" in signs else JavaScriptParser)
    marked = wrapped is not None or equals_first or declared is not None
    return Recognised(text, start, end, parser, marked)


def read_condition(condition: Expression) -> Tree | None:
    """The tree of a coded condition, or `None` for a label.

    A text is code if it is marked as code, or contains a comparison. Prose may look like code:
    `groß - Eil` does not subtract, nor does `checked and paid` read two variables. Raises
    `ConditionError` for code that does not match the grammar.
    """
    code = recognise(condition)
    if code.marked:
        tree = code.parse()
        if code.parser is JuelParser:
            return _flags(tree)
        if code.parser is JavaScriptParser:
            return _truth_of(with_members(tree))
        if code.parser in (GroovyParser, PythonParser):
            from orgflow_ir.languages.literals import groovy_truth  # rare

            return groovy_truth(with_members(tree))
        if code.parser is FeelParser and not _is_logical(tree):
            return FEEL.comparison["=="](tree, Constant(True), span=tree.span)
        if code.parser in (JavaParser, MvelParser):
            return _boolean(tree)
        return with_members(tree) if code.parser in _SCRIPTS else tree
    language = (condition.language or "").lower()
    bare = _if_compared(code)
    if "xpath" in language and _PATH.search(_QUOTED.sub("", code.text)):
        from orgflow_ir.languages.xpath import XPathParser  # in few models

        code = code._replace(parser=XPathParser)
        bare = _if_compared(code)
    if bare is None and language != "n8n" and _CODE.search(code.text):
        code.parse()  # says what is not supported
        raise ConditionError("it compares nothing")
    return bare


def _is_logical(tree: Tree) -> bool:
    """Whether the value of a FEEL expression is true, false or null."""
    if isinstance(tree, Feel):
        from orgflow_ir.languages.feel.reading import is_logical  # of FEEL only

        return is_logical(tree.tree)
    return isinstance(tree, Comparison | Logical | Not | Constant)


def _flags(tree: Tree) -> Tree:
    """A condition of JUEL, whose value is a truth value. Raises `ConditionError` for another."""
    kind = kind_of(tree)
    if kind not in (None, "truth") or tree == Constant(None):
        number = kind in ("number", "whole")
        raise ConditionError("a number is no condition" if number else "it is not true or false")
    if isinstance(tree, Variable):
        return Variable(tree.path, tree.span, readings.FLAG, tree.counted, tree.got)
    if isinstance(tree, Conditional):
        then, otherwise = _flags(tree.then), _flags(tree.otherwise)
        return tree.operation(tree.condition, then, otherwise, span=tree.span)
    return tree


def _boolean(tree: Tree) -> Tree:
    """A condition of Java or MVEL, whose value is a truth value. Raises `ConditionError` for
    another."""
    kind = kind_of(tree)
    if kind not in (None, "truth") or tree == Constant(None):
        raise ConditionError("it is not true or false")
    return tree if kind else IDENTITY["=="](tree, Constant(True), span=tree.span)


def _truth_of(tree: Tree) -> Tree:
    """Whether a value counts as true in JavaScript: n8n takes the text `false` for no truth."""
    if isinstance(tree, Variable | Logical | Conditional):
        return negate_code(negate_code(tree, tree.span), tree.span)
    return tree


def _if_compared(code: Recognised) -> Tree | None:
    """The tree of what compares, or is a truth value; else `None`."""
    try:
        tree = code.parse()
    except ConditionError:
        return None
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
