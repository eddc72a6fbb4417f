"""Scripts as statements: assignments, calls that set variables, conditions, errors, results.

The expressions in a script are parsed in its language, so none of its text is copied. Constructs
beyond that (classes, functions, calls of other code) are unsupported: a script is supported
completely or not at all.

A change of a part (`order.total = 1`, `names.add(x)`) creates a value for the variable. This is
equivalent as long as the old value has no other name; otherwise the script is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from orgflow_ir.languages.expression_parser import Parser, property_of
from orgflow_ir.languages.juel import JuelParser
from orgflow_ir.languages.literals import (
    GroovyValues,
    JavaScriptValues,
    JavaValues,
    MvelValues,
    PythonValues,
    groovy_truth,
)
from orgflow_ir.model import Model, Task, bindings
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program import methods
from orgflow_ir.program.ecmascript_operators import LOOSE, STRICT
from orgflow_ir.program.java_operators import JAVA, TEXTS
from orgflow_ir.program.readings import OBJECT_NAMES
from orgflow_ir.program.substitution import replace_variables, with_members
from orgflow_ir.program.syntax import (
    Arithmetic,
    Call,
    Conditional,
    ConditionError,
    Constant,
    FunctionRow,
    Negative,
    Path,
    Tree,
    Variable,
    kind_of,
    nodes,
    variables,
)
from orgflow_ir.work.mappings import read_value, variable_name
from orgflow_ir.work.script_names import Names, told_apart
from orgflow_ir.work.statements import (
    Assign,
    Each,
    Evaluate,
    Fail,
    Statement,
    Throw,
    When,
    assigned,
)

_LANGUAGES: tuple[tuple[str, type[Parser]], ...] = (
    ("javascript", JavaScriptValues), ("ecmascript", JavaScriptValues), ("groovy", GroovyValues),
    ("python", PythonValues), ("mvel", MvelValues), ("java", JavaValues), ("juel", JuelParser),
)  # fmt: skip
_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\f\v]+|//[^\n]*|/\*.*?\*/)|(?P<line>\n)
      |(?P<str>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(?P<tmpl>`(?:[^`\\]|\\.)*`)
      |(?P<name>[^\W\d]\w*)|(?P<num>\d+(?:\.\d+)?)
      |(?P<op>===|!==|==|!=|<=|>=|=>|->|\?\.(?!\d)|&&|\|\||\+=|-=|\*=|/=|\+\+|--|<<|[-+*/%<>=!().,\[\]?:;{}])""",
    re.VERBOSE | re.DOTALL,
)
_PYTHON_TOKEN = re.compile(
    _TOKEN.pattern.replace(r"//[^\n]*|/\*.*?\*/", r"\#[^\n]*", 1).replace(
        "(?P<op>", "(?P<op>//=|//|", 1
    ),
    re.VERBOSE | re.DOTALL,
)
"""The same in Python."""

_DECLARES = frozenset(
    {
        "var", "let", "const", "def", "final", "int", "long", "double", "float", "boolean",
        "String", "Integer", "Long", "Double", "Boolean", "Object", "Number", "BigDecimal",
        "List", "Map", "ArrayList", "HashMap", "LinkedHashMap", "Set",
    }
)  # fmt: skip
"""Keywords that declare a local variable."""

_SCOPES = frozenset(
    {"execution", "kcontext", "context", "task", "delegateTask", "delegateExecution"}
)
_PRINTS = frozenset({"println", "print"})
_FAILURE = re.compile(r"Error|\w*Exception|TypeError|RangeError")
"""Error classes of the languages themselves; any other class is unknown here."""

_CHANGES = ("+=", "-=", "*=", "/=", "//=")
_PROCESS_FIRST = {"flowable": "Flowable", "activiti": "Activiti"}
"""Engines that look for a name among the variables of the process before those of the script
(`ScriptBindings.get`)."""

_BEFORE_VALUES = frozenset(("=", "(", "[", ",", ":", "?", "return", "{"))
"""Tokens before a brace that begins a value; elsewhere a brace begins statements."""

_TYPES = {
    "int": "whole", "long": "whole", "Integer": "whole", "Long": "whole", "double": "double",
    "float": "double", "Double": "double", "BigDecimal": "double", "Number": "double",
    "boolean": "truth", "Boolean": "truth", "String": "text",
}  # fmt: skip
"""Types of variables that convert a value of another type: whole numbers without a fraction,
numbers, truth values, texts."""

_FAULTS = {
    "whole": "not a whole number", "double": "not a number", "truth": "not a Boolean",
    "text": "not a text",
}  # fmt: skip

_RESULT = "_result"
"""The variable that holds the value of a script if several places may compute it."""

_MOST = 200
_OPENS = {"(": ")", "[": "]", "{": "}"}
_BLOCKS = frozenset(
    {"while", "do", "switch", "try", "function", "class", "import", "new", "with", "break",
     "continue"}
)  # fmt: skip
_IMPORTING = (GroovyValues, MvelValues, JavaValues)
"""Parsers of languages in which an import only gives a class a short name."""

_LISTS = frozenset({"ArrayList", "LinkedList"})
_MAPS = frozenset({"HashMap", "LinkedHashMap", "TreeMap"})
"""Classes whose constructors create empty lists and maps."""

_ADDS = frozenset({"add", "push"})
"""Methods that append a value to a list."""

_ALIAS = "a change of a value that may have another name is not supported"


class _Piece(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


class Script(NamedTuple):
    """A supported script: its statements, its value, the last expression, its own variables, those
    of the process that it may set to a decimal of Groovy, and whether its value may be one."""

    statements: tuple[Statement, ...]
    value: Tree | None
    names: Names = Names()
    decimals: frozenset[str] = frozenset()
    is_decimal: bool = False


def read_script(
    code: str,
    language: str | None,
    *,
    sets: bool | None = None,
    engine: str | None = None,
    beside: str = "",
    decimals: frozenset[str] = frozenset(),
) -> Script:
    """The statements of a script.

    Args:
        code: its text.
        language: the name of the language in the source.
        sets: whether an undeclared assignment sets a process variable, for languages that allow it
            (Groovy, MVEL, Python); in others it is local to the script. If it is not stated, it
            does unless the script calls `setVariable`, as scripts for engines in which assignments
            are local do.
        engine: the engine that runs it, as in `Dialect.engine`.
        beside: other texts of its task: a variable of the script with a name that they use gets
            another one.
        decimals: variables of the process that may hold a decimal of Groovy.

    Raises:
        ConditionError: the script is unsupported; the message names the construct.
    """
    named = (language or "").lower()
    if "feel" in named:
        return Script((), read_value(f"= {code.removeprefix('=')}", "feel"))
    parser = next((parser for name, parser in _LANGUAGES if name in named), None)
    if parser is None:
        if not named:
            raise ConditionError("the model does not state its language")
        raise ConditionError(f"scripts in `{language}` are not supported")
    if parser is JuelParser:
        return Script((), read_value(code.strip(), None))
    calls = re.search(r"\bsetVariables?(?:Local)?\b", code) is not None
    shared = (not calls if sets is None else sets) and parser is not JavaScriptValues
    unsure = set(decimals)
    while True:
        reader = _Reader(code, parser, shared, unsure)
        script = reader.script()
        if len(reader.unsure) == len(unsure):
            break
        unsure = reader.unsure  # also before the assignment, in a loop
    # JavaScript's assignments are properties of its global object, in which it looks first.
    first = _PROCESS_FIRST.get(engine or "") if parser is not JavaScriptValues else None
    names = reader.names_of()
    statements = script.statements
    if issubclass(parser, _IMPORTING):
        doubles = frozenset(name for name, of in reader.types.items() if of == "double")
        shown = _in_texts(statements, script.value)
        statements = tuple(_sure_texts(statements, shown, doubles))
    statements, value = told_apart(
        statements, script.value, names, code=code, beside=beside, first=first
    )
    if parser is not GroovyValues:
        return Script(statements, value, names)
    stored = frozenset(assigned(statements)) & reader.unsure
    decimal = script.value is not None and any(map(reader.is_unsure, nodes(script.value)))
    return Script(statements, value, names, stored, decimal)


class KeptInScript(NamedTuple):
    """Variables of a script that it does not store in the process."""

    assigned: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()


def kept_in_script(binding: bindings.Script) -> KeptInScript:
    """Variables that a script assigns and that its engine does not store: those that it assigns
    without a declaration, and declared ones that are no copies of variables of the process. Empty
    for an unsupported script."""
    code = binding.code or ""
    try:
        script = read_script(code, binding.language, sets=binding.stores, engine=binding.by)
    except ConditionError:
        return KeptInScript()
    stored = {*assigned(script.statements), *script.names.of_activity}
    kept = sorted((script.names.assigned | script.names.declared) - stored)
    copies = {name for name in kept if re.search(rf"""\bgetVariable\(\s*["']{name}["']""", code)}
    return KeptInScript(
        tuple(name for name in kept if name in script.names.assigned),
        tuple(n for n in kept if n not in script.names.assigned and n not in copies),
    )


def read_listener(
    listener: bindings.Listener, beside: str = "", decimals: frozenset[str] = frozenset()
) -> Script:
    """The statements of the script of a listener, in which no engine stores assignments; `beside`
    and `decimals` as in `read_script`. Raises `ConditionError`."""
    engine = listener.engine or "camunda7"
    script = read_script(
        listener.target, listener.language,
        sets=False, engine=engine, beside=beside, decimals=decimals,
    )  # fmt: skip
    result = dict(listener.parameters).get(bindings.LISTENER_RESULT)
    if result is None:
        return script
    if script.value is None:
        raise ConditionError("its value is not its last line")
    stored = Assign(variable_name(result), script.value)
    return script._replace(statements=(*script.statements, stored))


def read_call(text: str) -> Script:
    """The effect of an expression of a task or listener: `${execution.setVariable('x', 1)}` sets a
    variable, any other has a value. Raises `ConditionError`."""
    inner = re.fullmatch(r"\s*[$#]\{(.*)\}\s*", text, re.DOTALL)
    if inner is not None and re.match(r"\s*\w+\s*\.\s*setVariable", inner[1]):
        return _Reader(inner[1], JuelParser, False).script()
    return Script((), read_value(text))


class _Return(NamedTuple):
    """`return value`."""

    value: Tree | None


class _If(NamedTuple):
    """A condition whose branches may return, or have a value."""

    condition: Tree
    then: list[_Read]
    otherwise: list[_Read]


_Read = Statement | _Return | _If


class _Reader:
    """One script."""

    def __init__(
        self, code: str, parser: type[Parser], shared: bool, unsure: Iterable[str] = ()
    ) -> None:
        self.code, self.parser, self.shared = code, parser, shared
        self.unsure = set(unsure)
        self.pieces = self._pieces()
        self.at = 0
        self.count = 0
        self.declared: set[str] = set()
        self.by_keyword: set[str] = set()
        self.inner: set[str] = set()
        self.assigned: set[str] = set()
        self.of_activity: set[str] = set()
        self.blocks = 0
        self.types: dict[str, str] = {}
        self.primitive: set[str] = set()
        self.named_twice: set[Path] = set()
        self.changed: list[Path] = []
        self.looped: set[str] = set()
        self.after_loops: set[str] = set()

    def _pieces(self) -> list[_Piece]:
        pieces: list[_Piece] = []
        at, depth = 0, 0
        pattern = _PYTHON_TOKEN if self.parser is PythonValues else _TOKEN
        while at < len(self.code):
            match = pattern.match(self.code, at)
            if match is None:
                shown = self.code[at : at + 12].split("\n")[0].strip()
                raise ConditionError(f"`{shown}` is not supported")
            at = match.end()
            kind = match.lastgroup or ""
            if kind == "space" or (kind == "line" and depth):
                continue
            if match[0] in ("(", "["):
                depth += 1
            elif match[0] in (")", "]"):
                depth = max(0, depth - 1)
            pieces.append(_Piece(kind, match[0], match.start(), match.end()))
        return pieces

    def script(self) -> Script:
        read = self.block(end=None)
        if any(
            _has_return(statement) for statement in read if isinstance(statement, _If)
        ) or _has_value(read):
            name = _RESULT
            while name in self.code:
                name += "_"
            nothing = Assign(name, Constant(None), local=True)
            return Script((nothing, *self.leaving(read, name)), Variable((name,)))
        value: Tree | None = None
        if read and isinstance(last := read[-1], Evaluate | _Return):
            read.pop()
            value = last.value
        return Script(tuple(self.plain(read)), value)

    def plain(self, read: list[_Read]) -> Iterator[Statement]:
        """Statements whose branches have no values."""
        for at, statement in enumerate(read):
            match statement:
                case _Return():
                    raise ConditionError("statements after `return` are not supported")
                case _If(condition, then, otherwise):
                    if any(isinstance(inner, Evaluate) for inner in (*then, *otherwise)):
                        raise ConditionError("values in branches are not supported")
                    branches = (tuple(self.plain(branch)) for branch in (then, otherwise))
                    yield When(condition, *branches)
                case Throw() | Fail() if at + 1 < len(read):
                    raise ConditionError("statements after `throw` are not supported")
                case _:
                    yield statement

    def leaving(self, read: list[_Read], result: str) -> Iterator[Statement]:
        """Statements that leave the value of the script in the variable `result`: what follows an
        `if` that returns goes into the branches which do not."""
        for at, statement in enumerate(read):
            self.count += 1
            if self.count > _MOST:
                raise ConditionError("it is too long")
            rest = read[at + 1 :]
            match statement:
                case _Return(value):
                    if rest:
                        raise ConditionError("statements after `return` are not supported")
                    yield Assign(result, value or Constant(None), local=True)
                case Evaluate(value) if not rest:
                    yield Assign(result, value, local=True)
                case Throw() | Fail() if rest:
                    raise ConditionError("statements after `throw` are not supported")
                case _If(condition, then, otherwise) if _has_return(statement) or not rest:
                    branches = [
                        tuple(self.leaving(b if _always_ends(b) else [*b, *rest], result))
                        for b in (then, otherwise)
                    ]
                    if rest and _always_ends(then) and _always_ends(otherwise):
                        raise ConditionError("statements after `return` are not supported")
                    yield When(condition, branches[0], branches[1])
                    return
                case _If():
                    yield from self.plain([statement])
                case _:
                    yield statement

    def block(self, end: str | None) -> list[_Read]:
        """Statements up to a closing brace, or to the end of the text."""
        block: list[_Read] = []
        while True:
            self.skip()
            piece = self.piece()
            if piece is None:
                if end is not None:
                    raise ConditionError(f"`{end}` expected")
                return block
            if piece.text == end:
                self.at += 1
                return block
            block += self.statement()

    def statement(self) -> list[_Read]:
        self.count += 1
        if self.count > _MOST:
            raise ConditionError("it is too long")
        piece = self.piece()
        assert piece is not None
        if piece.text == "if":
            return [self.condition()]
        if piece.text == "throw":
            return [self.throw()]
        if piece.text == "for":
            return [self.each()]
        if piece.text == "import" and issubclass(self.parser, _IMPORTING):
            self.line()
            return []
        if piece.text in _BLOCKS or piece.text in ("{", "}"):
            raise ConditionError(f"`{piece.text}` is not supported")
        line = self.line()
        if line and line[0].text == "return":
            return [_Return(self.tree(line[1:]) if line[1:] else None)]
        return [*self.simple(line)]

    def simple(self, line: list[_Piece]) -> list[Statement]:
        """An assignment, a call that sets a variable or prints, or an expression."""
        line = self.with_new(_without_type_arguments(line))
        texts = [piece.text for piece in line]
        if not line:
            return []
        if line[0].kind == "name" and line[0].text in self.looped and texts[1:2] != ["."]:
            raise ConditionError("an assignment to a loop variable is not supported")
        if (change := self.change(line)) is not None:
            return change
        if texts[0] in _DECLARES and len(line) > 1 and line[1].kind == "name":
            parts = _split_arguments(line[1:])
            if texts[0] in _TYPES:
                self.types.update((part[0].text, _TYPES[texts[0]]) for part in parts if part)
                if texts[0][0].islower():
                    self.primitive.update(part[0].text for part in parts if part)
            leaves = texts[0] == "var" and self.parser is JavaScriptValues
            return [
                statement
                for part in parts
                for statement in self.declared_as(part, inner=not leaves)
            ]
        if len(line) > 2 and line[0].kind == "name" and texts[1] == "=":
            value = self.tree(line[2:])
            return self.typed(Assign(texts[0], value, local=self.is_local(texts[0])))
        if len(line) > 2 and line[0].kind == "name" and texts[1] in _CHANGES:
            changed = f"{texts[0]} {texts[1][:-1]} ({self.text(line[2:])})"
            return self.typed(Assign(texts[0], self.parsed(changed), local=self.is_local(texts[0])))
        if len(line) == 2 and line[0].kind == "name" and texts[1] in ("++", "--"):
            # A difference, as a sum with a text would be a text.
            changed = f"{texts[0]} - (-1)" if texts[1] == "++" else f"{texts[0]} - 1"
            return self.typed(Assign(texts[0], self.parsed(changed), local=self.is_local(texts[0])))
        if any(text in ("=", "++", "--", "<<", *_CHANGES) for text in texts):
            raise ConditionError("assignments to parts of values are not supported")
        if texts[0] in _SCOPES and texts[1:3] == [".", "setVariable"]:
            return [self.setting(line)]
        if texts[0] in _SCOPES and texts[1:3] == [".", "setVariableLocal"]:
            statement = self.setting(line)
            self.of_activity.add(statement.name)
            return [statement._replace(local=True)]
        if self.prints(texts):
            return []
        return [Evaluate(self.tree(line))]

    def is_local(self, name: str) -> bool:
        """Whether the assignment that is read sets a variable of the script."""
        if variable_name(name) in self.declared:
            return True
        if self.shared:
            return False
        self.declared.add(name)
        self.assigned.add(name)
        return True

    def names_of(self) -> Names:
        """The variables of the script."""
        names = (self.by_keyword, self.assigned, self.inner, self.of_activity)
        if self.of_activity & (self.by_keyword | self.assigned):
            raise ConditionError("`setVariableLocal` sets a variable with a name of the script")
        return Names(*map(frozenset, names))

    def change(self, line: list[_Piece]) -> list[Statement] | None:
        """A change of a part of a value: `a.b = 1`, `a['b'] += 1`, `a.add(1)`, `a << 1`,
        `a.put("b", 1)`; `None` for any other statement."""
        sign = next((n for n, p in enumerate(line) if p.text in ("=", "<<", *_CHANGES)), None)
        if sign is not None and sign > 1 and line[0].text not in _DECLARES:
            target = self.parsed(self.text(line[:sign]))
            if not isinstance(target, Variable) or len(target.path) < 2:
                raise ConditionError("assignments to parts of values are not supported")
            value = self.tree(line[sign + 1 :])
            if line[sign].text == "<<":
                return self.changing(target.path, Call(methods.APPEND, (target, value)))
            if line[sign].text != "=":
                changed = f"{self.text(line[:sign])} {line[sign].text[:-1]} "
                value = self.parsed(f"{changed}({self.text(line[sign + 1 :])})")
            return self.changing(target.path, value)
        if sign == 1 and line[1].text == "<<" and line[0].kind == "name":
            target = Variable((variable_name(line[0].text),))
            return self.changing(target.path, Call(methods.APPEND, (target, self.tree(line[2:]))))
        opening = next((n for n, p in enumerate(line) if p.text == "("), 0)
        if (
            opening < 3
            or line[opening - 2].text != "."
            or line[-1].text != ")"
            or line[0].text in _SCOPES
        ):
            return None
        called, given = line[opening - 1].text, _split_arguments(line[opening + 1 : -1])
        if called in _ADDS and len(given) == 1 and given[0]:
            target = self.parsed(self.text(line[: opening - 2]))
            if not isinstance(target, Variable):
                return None
            value = Call(methods.APPEND, (target, self.tree(given[0])))
            return self.changing(target.path, value)
        if called == "put" and len(given) == 2:
            target = self.parsed(self.text(line[: opening - 2]))
            key = self.tree(given[0])
            if not isinstance(target, Variable) or not (
                isinstance(key, Constant) and isinstance(key.value, str)
            ):
                raise ConditionError("`put` takes a quoted name and a value")
            return self.changing((*target.path, variable_name(key.value)), self.tree(given[1]))
        part = property_of(called, "set") if self.parser.beans else ""
        if part and len(given) == 1 and given[0]:
            target = self.parsed(self.text(line[: opening - 2]))
            if isinstance(target, Variable):
                return self.changing((*target.path, part), self.tree(given[0]))
        return None

    def changing(self, path: Path, value: Tree) -> list[Statement]:
        """Statements that give a variable, or a part of it, another value."""
        name, *part = path
        added = isinstance(value, Call) and value.operation == methods.APPEND
        changed = path if added else path[:-1]
        if _is_inside(changed, self.named_twice):
            raise ConditionError(_ALIAS)
        if any(step.isdigit() for step in part):
            raise ConditionError("assignments to list positions are not supported")
        self.changed.append(changed)
        given = value.operands[1] if added and isinstance(value, Call) else value
        self.names(path, given, kept=added)
        self.note(name, given)
        nothing = JAVA.comparison["=="](Variable((name,)), Constant(None))
        fault = Constant(f"“{name}” has no value that can be changed")
        local = variable_name(name) in self.declared
        return [
            When(nothing, (Fail(fault),), ()),
            Assign(name, value, local, tuple(variable_name(entry) for entry in part)),
        ]

    def names(self, path: Path, value: Tree, *, kept: bool = False) -> None:
        """Notes which values get another name when a variable, or a part of it, gets this value;
        `kept`: when it is put into a list."""
        handed = set(_handed_on(value))
        self.named_twice |= handed
        if handed and not kept:
            self.named_twice.add(path)

    def each(self) -> Each:
        """`for (name in values)` and `for (type name : values)`."""
        self.at += 1
        inside = _without_type_arguments(self.parenthesised())
        words = ("in", "of") if not issubclass(self.parser, MvelValues | JavaValues) else (":",)
        sign = next((n for n, p in enumerate(inside) if p.text in (*words, ":")), 0)
        named = inside[:sign]
        if len(named) == 2 and (named[0].text in _DECLARES or named[0].kind == "name"):
            named = named[1:]
        if len(named) != 1 or named[0].kind != "name" or not inside[sign + 1 :]:
            raise ConditionError("only `for` over the values of a list is supported")
        if inside[sign].text == "in" and self.parser is JavaScriptValues:
            raise ConditionError("`for` over the names of entries is not supported")
        values = self.tree(inside[sign + 1 :])
        name = variable_name(named[0].text)
        if name in self.declared:
            raise ConditionError("a loop variable that exists before the loop is not supported")
        self.note(name, values)
        begun, changed = set(self.named_twice), len(self.changed)
        self.named_twice.add((name,))
        self.looped.add(name)
        body = tuple(self.effects(self.body()))
        changes = self.changed[changed:]
        shared = (self.named_twice - begun) | set(variables(values))
        if any(_is_inside(path, shared) for path in changes):
            raise ConditionError(_ALIAS)
        self.looped.discard(name)
        self.after_loops.add(name)
        return Each(name, values, body)

    def effects(self, read: list[_Read]) -> Iterator[Statement]:
        """Statements of a loop, whose values nobody takes."""
        for statement in read:
            match statement:
                case _Return():
                    raise ConditionError("`return` in a loop is not supported")
                case _If(condition, then, otherwise):
                    yield When(condition, *(tuple(self.effects(b)) for b in (then, otherwise)))
                case _:
                    yield statement

    def with_new(self, line: list[_Piece]) -> list[_Piece]:
        """The pieces with literals in place of new empty lists and maps."""
        replaced: list[_Piece] = []
        at = 0
        while at < len(line):
            piece = line[at]
            if piece.text == "new" and piece.kind == "name":
                end = at + 2
                while end + 1 < len(line) and line[end].text == ".":
                    end += 2
                word = line[end - 1].text if end - 1 < len(line) else ""
                called = [p.text for p in line[end : end + 2]] == ["(", ")"]
                if called and word in _LISTS | _MAPS:
                    texts = "[]" if word in _LISTS else "[:]"
                    if word in _MAPS and self.parser is JavaScriptValues:
                        texts = "{}"
                    replaced += [piece._replace(kind="op", text=text) for text in texts]
                    at = end + 2
                    continue
            replaced.append(piece)
            at += 1
        return replaced

    def typed(self, assign: Assign) -> list[Statement]:
        """An assignment and, if the variable has a declared type that would convert the value, a
        test that it need not. Raises `ConditionError` if the type cuts off a fraction."""
        self.names((assign.name,), assign.value)
        self.note(assign.name, assign.value)
        declared = self.types.get(assign.name)
        if declared == "whole" and _is_fraction(assign.value):
            raise ConditionError("a fraction in an integer variable is not supported")
        if declared == "double":
            self.unsure.add(assign.name)
        if declared is None or _fits_type(assign.value, declared):
            return [assign]
        if assign.value == Constant(None) and assign.name not in self.primitive:
            return [assign]
        value = Variable((assign.name,))
        fault = Constant(f"“{assign.name}” is {_FAULTS[declared]}")
        other = _has_other_type(value, declared)
        if assign.name not in self.primitive:
            there = LOOSE.comparison["!="](value, Constant(None))
            other = LOOSE.logic["and"](there, other)
        return [assign, When(other, (Fail(fault),), ())]

    def note(self, name: str, value: Tree) -> None:
        """Notes a variable that may hold a decimal of Groovy."""
        if issubclass(self.parser, GroovyValues) and any(map(self.is_unsure, nodes(value))):
            self.unsure.add(name)

    def is_unsure(self, node: Tree) -> bool:
        """Whether Groovy has a decimal here, or may have one."""
        match node:
            case Constant(value):
                return isinstance(value, float)
            case Variable(path):
                return path[0] in self.unsure
            case Call(operation):
                return operation is methods.DECIMAL
        return False

    def parsed(self, text: str) -> Tree:
        """The tree of an expression."""
        parser = self.parser(text)
        if isinstance(parser, GroovyValues):
            parser.unsure = frozenset(self.unsure)
        return parser.parse()

    def declared_as(self, part: list[_Piece], *, inner: bool) -> list[Statement]:
        """A declaration, with a test of its value if it has one; `inner`: it belongs to its
        block."""
        declaration = self.declaration(part)
        self.by_keyword.add(declaration.name)
        if inner and self.blocks:
            self.inner.add(declaration.name)
        return self.typed(declaration) if len(part) > 1 else [declaration]

    def declaration(self, part: list[_Piece]) -> Assign:
        """`name` or `name = value` behind the word that declares it."""
        if not part or part[0].kind != "name":
            raise ConditionError("the name of a variable is expected")
        name = variable_name(part[0].text)
        self.declared.add(name)
        if len(part) == 1:
            return Assign(name, Constant(None), local=True)
        if part[1].text != "=":
            raise ConditionError(f"`{part[1].text}` is not supported here")
        return Assign(name, self.tree(part[2:]), local=True)

    def prints(self, texts: list[str]) -> bool:
        """Whether a statement only prints: nobody reads it, so nothing is done."""
        if texts[0] in _PRINTS:
            return True
        return texts[:3] in (["console", ".", "log"], ["System", ".", "out"])

    def setting(self, line: list[_Piece]) -> Assign:
        """`execution.setVariable("x", value)`."""
        inner = line[4:-1]
        if [p.text for p in line[3:4]] != ["("] or line[-1].text != ")" or len(inner) < 3:
            raise ConditionError("`setVariable` takes a quoted name and a value")
        if inner[0].kind != "str" or inner[1].text != ",":
            raise ConditionError("`setVariable` takes a quoted name and a value")
        if len(_split_arguments(inner[2:])) > 1:
            raise ConditionError("`setVariable` takes a quoted name and a value")
        name = self.parsed(inner[0].text)
        if not isinstance(name, Constant) or not isinstance(name.value, str) or not name.value:
            raise ConditionError("`setVariable` takes a quoted name and a value")
        value = self.tree(inner[2:])
        self.names((name.value,), value)
        self.note(variable_name(name.value), value)
        return Assign(variable_name(name.value), value)

    def throw(self) -> Throw | Fail:
        """`throw new BpmnError("code", "message")`, or of an error that no event catches by a code:
        `throw new RuntimeException("message")`."""
        texts = [p for p in self.line() if p.text != "new"]
        while len(texts) > 3 and texts[2].text == ".":  # the package of a class
            del texts[1:3]
        if len(texts) > 3 and _FAILURE.fullmatch(texts[1].text) and texts[2].text == "(":
            given = texts[3:-1]
            if texts[-1].text == ")" and len(given) < 2 and all(p.kind == "str" for p in given):
                message = self.parsed(given[0].text) if given else Constant(texts[1].text)
                return Fail(message)
        if (
            len(texts) < 5
            or [p.text for p in texts[:3]] != ["throw", texts[1].text, "("]
            or texts[1].text != "BpmnError"
            or texts[3].kind != "str"
            or texts[-1].text != ")"
        ):
            raise ConditionError('only `throw new BpmnError("code")` is supported')
        code = self.parsed(texts[3].text)
        assert isinstance(code, Constant)
        return Throw(str(code.value), self.message(texts[4:-1]))

    def message(self, rest: list[_Piece]) -> Tree | None:
        """The message of an error behind its code; `None` where there is none, or one that is not
        understood, without which the error is the same."""
        if len(rest) < 2 or rest[0].text != ",":
            return None
        try:
            return self.tree(rest[1:])
        except ConditionError:
            return None

    def condition(self) -> _If:
        """`if (condition) statement else statement`."""
        self.at += 1
        condition = self.tree(self.parenthesised())
        if issubclass(self.parser, GroovyValues):
            condition = groovy_truth(condition)
        then = self.body()
        mark = self.at
        self.skip()
        piece = self.piece()
        otherwise: list[_Read] = []
        if piece is not None and piece.text == "else":
            self.at += 1
            otherwise = self.body()
        else:
            self.at = mark
        return _If(condition, then, otherwise)

    def body(self) -> list[_Read]:
        self.skip(lines_only=True)
        piece = self.piece()
        if piece is None:
            raise ConditionError("the script ends too early")
        if piece.text != "{":
            return self.statement()
        self.at += 1
        self.blocks += 1
        block = self.block("}")
        self.blocks -= 1
        return block

    # -- pieces --------------------------------------------------------------------------------

    def piece(self, *, past_lines: bool = False) -> _Piece | None:
        at = self.at
        while past_lines and at < len(self.pieces) and self.pieces[at].text in ("\n", ";"):
            at += 1
        return self.pieces[at] if at < len(self.pieces) else None

    def skip(self, *, lines_only: bool = False) -> None:
        ends = ("\n",) if lines_only else ("\n", ";")
        while self.at < len(self.pieces) and self.pieces[self.at].text in ends:
            self.at += 1

    def line(self) -> list[_Piece]:
        """A statement: up to a semicolon or the end of the line, which an operator goes beyond."""
        pieces: list[_Piece] = []
        depth = 0
        while (piece := self.piece()) is not None and (depth or piece.text not in (";", "}")):
            if piece.text == "{" and not self.begins_value(pieces):
                raise ConditionError("`{` is not supported here")
            depth += (piece.text == "{") - (piece.text == "}")
            if piece.kind == "line" and depth:
                self.at += 1
                continue
            if piece.kind == "line":
                following = self.piece(past_lines=True)
                goes_on = following is not None and following.text in (
                    ".", "&&", "||", "?", ":", "+", "*", "/", "==", "!=",
                )  # fmt: skip
                open_end = bool(pieces) and pieces[-1].kind == "op" and pieces[-1].text not in ")]"
                if not goes_on and not open_end:
                    break
                self.at += 1
                continue
            pieces.append(piece)
            self.at += 1
        return pieces

    def begins_value(self, before: list[_Piece]) -> bool:
        """Whether a brace behind these pieces of a statement begins a value: a map, or in Groovy a
        closure behind the name of a method."""
        if not before:
            return False
        if before[-1].text in _BEFORE_VALUES:
            return True
        named = len(before) > 1 and before[-2].text in (".", "?.") and before[-1].kind == "name"
        return issubclass(self.parser, GroovyValues) and (named or before[-1].text == ")")

    def parenthesised(self) -> list[_Piece]:
        self.skip(lines_only=True)
        piece = self.piece()
        if piece is None or piece.text != "(":
            raise ConditionError("`(` expected")
        depth, start = 0, self.at
        while (piece := self.piece()) is not None:
            self.at += 1
            depth += (piece.text == "(") - (piece.text == ")")
            if not depth:
                return self.pieces[start + 1 : self.at - 1]
        raise ConditionError("`)` expected")

    def text(self, pieces: list[_Piece]) -> str:
        return " ".join(piece.text for piece in pieces if piece.kind != "line")

    def tree(self, pieces: list[_Piece]) -> Tree:
        if not pieces:
            raise ConditionError("a value is expected")
        if any(piece.text == "=" for piece in pieces):
            raise ConditionError("an assignment inside a value is not supported")
        tree = self.parsed(self.text(self.with_new(pieces)))
        gone = self.after_loops - self.looped
        if gone and any(path[0] in gone for path in variables(tree)):
            raise ConditionError("a loop variable is not supported after the loop")
        return tree if self.parser is JuelParser else with_members(tree)


def _without_type_arguments(line: list[_Piece]) -> list[_Piece]:
    """The pieces without the `<…>` behind a type that begins them or is made `new`."""
    kept: list[_Piece] = []
    at = 0
    while at < len(line):
        kept.append(line[at])
        at += 1
        typed = kept[-1].text in _DECLARES | _LISTS | _MAPS and kept[-1].kind == "name"
        if typed and at < len(line) and line[at].text == "<":
            depth = 0
            while at < len(line):
                depth += (line[at].text == "<") - (line[at].text == ">")
                at += 1
                if not depth:
                    break
    return kept


def _is_inside(path: Path, shared: Iterable[Path]) -> bool:
    """Whether what is at a path is one of the shared values, or a part of one."""
    return any(path[: len(shared_path)] == shared_path for shared_path in shared)


_HANDING_ON = (methods.LIST, methods.MAP, methods.APPEND, methods.ENTRY, methods.SINGLE)
"""Methods of which the value contains operands, or parts of them."""


def _handed_on(value: Tree) -> Iterator[Path]:
    """Variables whose values, or parts of them, are in a value itself, and no copy of them."""
    match value:
        case Variable(path):
            yield path
        case Conditional(_, (_, *branches)):
            for branch in branches:
                yield from _handed_on(branch)
        case Call(operation, operands) if operation in _HANDING_ON or (
            isinstance(operation, FunctionRow) and kind_of(value) is None
        ):
            for operand in operands:
                yield from _handed_on(operand)


def _in_texts(statements: tuple[Statement, ...], value: Tree | None) -> frozenset[str]:
    """Variables that become a part of a text, and those that they are computed from."""
    names: set[str] = set()
    parts: list[tuple[str, Tree]] = []
    trees = [] if value is None else [value]
    todo = list(statements)
    while todo:
        match todo.pop():
            case Assign(name, tree):
                trees.append(tree)
                parts.append((name, tree))
            case When(condition, then, otherwise):
                trees.append(condition)
                todo += (*then, *otherwise)
            case Each(_, tree, body):
                trees.append(tree)
                todo += body
            case Evaluate(tree) | Fail(tree):
                trees.append(tree)
            case Throw(_, message) if message is not None:
                trees.append(message)
    for tree in trees:
        for node in nodes(tree):
            match node:
                case Arithmetic() if node.operator == "+" and kind_of(node) == "text":
                    names.update(s.path[0] for s in node.operands if isinstance(s, Variable))
                case Call(operation, operands) if operation in TEXTS:
                    names.update(path[0] for operand in operands for path in variables(operand))
    while True:
        before = len(names)
        computed = [tree for name, tree in parts if name in names and _is_computed(tree)]
        names.update(path[0] for tree in computed for path in variables(tree))
        if len(names) == before:
            return frozenset(names)


def _is_computed(tree: Tree) -> bool:
    return isinstance(tree, Arithmetic | Negative) and kind_of(tree) != "text"


def _sure_texts(
    statements: Iterable[Statement], names: frozenset[str], doubles: frozenset[str]
) -> Iterator[Statement]:
    """The statements with tests of numbers that become part of a text: a whole double, of a
    variable in `doubles` or computed from fractions, is `5.0` in a text of Java."""
    for statement in statements:
        match statement:
            case Assign(name, value, _, ()) if name in names and (
                name in doubles or _is_computed(value)
            ):
                message = f"“{name}” is a whole double, which a text in Java has as `5.0`."
                test = _is_whole_double(value, certain=name in doubles)
                yield When(test, (Fail(Constant(message)),), ())
                yield statement
            case When(condition, then, otherwise):
                inner = (tuple(_sure_texts(b, names, doubles)) for b in (then, otherwise))
                yield When(condition, *inner)
            case Each(name, values, body):
                yield Each(name, values, tuple(_sure_texts(body, names, doubles)))
            case _:
                yield statement


def _is_whole_double(value: Tree, *, certain: bool) -> Tree:
    """Whether arithmetic of Java has a whole result but an operand with a fraction; `certain`: it
    is a double."""
    leaves = [node for node in nodes(value) if not isinstance(node, Arithmetic | Negative)]
    rest = LOOSE.arithmetic["%"](value, Constant(1))
    number = STRICT["=="](Call(methods.TYPE, (value,)), Constant("number"))
    zero = STRICT["=="](rest, Constant(0))
    whole = LOOSE.logic["and"](number, zero)
    if certain or any(type(leaf.value) is float for leaf in leaves if isinstance(leaf, Constant)):
        return whole
    fractions: list[Tree] = []
    for leaf in dict.fromkeys(leaf for leaf in leaves if not isinstance(leaf, Constant)):
        numeric = STRICT["=="](Call(methods.TYPE, (leaf,)), Constant("number"))
        part = LOOSE.arithmetic["%"](leaf, Constant(1))
        fraction = STRICT["!="](part, Constant(0))
        fractions.append(LOOSE.logic["and"](numeric, fraction))
    if not fractions:
        return Constant(False)
    any_fraction = fractions[0]
    for further in fractions[1:]:
        any_fraction = LOOSE.logic["or"](any_fraction, further)
    return LOOSE.logic["and"](any_fraction, whole)


def decimals_in(model: Model) -> frozenset[str]:
    """Variables that some Groovy script of a model may set to a decimal."""
    known: frozenset[str] = frozenset()
    scripts = [
        node.binding
        for scope in model.scopes()
        for node in scope.nodes
        if isinstance(node, Task) and isinstance(node.binding, bindings.Script)
    ]
    groovy = [
        binding
        for binding in scripts
        if "groovy" in (binding.language or "").lower() and binding.code
    ]
    while True:
        decimals = known
        for binding in groovy:
            try:
                script = read_script(
                    binding.code or "", binding.language,
                    sets=binding.stores, engine=binding.by, decimals=decimals,
                )  # fmt: skip
            except ConditionError:
                continue
            decimals |= script.decimals
            decimals |= {binding.result} if binding.result and script.is_decimal else frozenset()
        if decimals == known:
            return known
        known = decimals


def as_value(script: Script) -> Tree:
    """The value of a script that only computes one, with its local variables replaced by their
    values. Raises `ConditionError` for any other script."""
    known: dict[str, Tree] = {}
    for statement in script.statements:
        if not isinstance(statement, Assign) or not statement.local or statement.part:
            raise ConditionError("only scripts that compute a value are supported here")
        known[statement.name] = replace_variables(statement.value, known)
    if script.value is None:
        raise ConditionError("only scripts that compute a value are supported here")
    return replace_variables(script.value, known)


def read_nested(text: str) -> Tree:
    """The value of a Camunda 7 parameter, given as JSON (`{"list": […]}`), that is a list or map
    containing lists, maps, scripts or multi-line texts. Raises `ConditionError` for unsupported
    parts."""
    return _nested_tree(json.loads(text))


def _nested_tree(part: Any) -> Tree:
    match part:
        case None:
            return Constant(None)
        case str():
            return read_value(part)
        case {"list": list() as parts}:
            return Call(methods.LIST, tuple(map(_nested_tree, parts)))
        case {"map": list() as entries}:
            operands: list[Tree] = []
            for key, value in entries:
                if not key or key in OBJECT_NAMES or "${" in key or "#{" in key:
                    raise ConditionError(f"the key `{key}` is not supported")
                operands += (Constant(key), _nested_tree(value))
            return Call(methods.MAP, tuple(operands))
        case {"script": str() as code, "language": str() as language} if code.strip():
            return as_value(read_script(code, language, sets=False))
    raise ConditionError("a script in its own file is not supported")


def _has_return(branch: _If) -> bool:
    """Whether a branch returns."""
    return any(
        isinstance(inner, _Return) or (isinstance(inner, _If) and _has_return(inner))
        for inner in (*branch.then, *branch.otherwise)
    )


def _always_ends(read: list[_Read]) -> bool:
    """Whether every path through statements returns or throws."""
    last = read[-1] if read else None
    if isinstance(last, _If):
        return _always_ends(last.then) and _always_ends(last.otherwise)
    return isinstance(last, _Return | Throw | Fail)


def _has_value(read: list[_Read]) -> bool:
    """Whether the value of a script is that of a branch of its last statement."""
    last = read[-1] if read else None
    if not isinstance(last, _If):
        return False
    return any(b and (isinstance(b[-1], Evaluate) or _has_value(b))
               for b in (last.then, last.otherwise))  # fmt: skip


def _fits_type(value: Tree, declared: str) -> bool:
    """Whether a value certainly has the declared type of a variable."""
    if declared == "whole":
        return isinstance(value, Constant) and type(value.value) is int
    kind = kind_of(value)
    return kind in ("number", "whole") if declared == "double" else kind == declared


def _has_other_type(value: Variable, declared: str) -> Tree:
    """Whether a value does not have the declared type of a variable."""
    name = {"truth": "boolean", "text": "string"}.get(declared, "number")
    other: Tree = STRICT["!="](Call(methods.TYPE, (value,)), Constant(name))
    if declared == "whole":
        rest = LOOSE.arithmetic["%"](value, Constant(1))
        fraction = STRICT["!="](rest, Constant(0))
        other = LOOSE.logic["or"](other, fraction)
    return other


def _is_fraction(value: Tree) -> bool:
    """Whether a value may have a fraction: where it divides, and where a number has one."""
    match value:
        case Arithmetic():
            return value.operator == "/" or any(map(_is_fraction, value.operands))
        case Negative():
            return _is_fraction(value.operand)
        case Conditional():
            return _is_fraction(value.then) or _is_fraction(value.otherwise)
        case Call(methods.DECIMAL):
            return True
        case Constant(number):
            return isinstance(number, float)
    return False


def _split_arguments(pieces: list[_Piece]) -> list[list[_Piece]]:
    """What stands between the commas outside of all parentheses."""
    parts: list[list[_Piece]] = [[]]
    depth = 0
    for piece in pieces:
        depth += (piece.text in _OPENS) - (piece.text in _OPENS.values())
        if piece.text == "," and not depth:
            parts.append([])
        else:
            parts[-1].append(piece)
    return parts
