"""Programs that do the same although they are written differently, in one form.

Works on the forms of `source_programs`. The form of a program here has

- names of local variables by the order of their declarations, so that a renamed variable makes no
  difference; names that a program only reads stay;
- `let` of a variable that nothing assigns again as `const`;
- comparisons of operands that only read values in one direction: `5 < a` is `a > 5`, and `0 === a`
  is `a === 0`;
- negations out of the tests of choices: `!a ? b : c` is `a ? c : b`, and `!(a === b)` is `a !== b`.

A program with a construct that the scopes below do not cover (`var`, classes, `with`, `eval`,
tagged templates) keeps its names: a rewriting is left out, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orgflow.backends.javascript.source_programs import ProgramForm

from orgflow_ir.model.records import NamedTuple

LOCAL = "local"
"""The kind of a local variable in a form."""

_Scope = Mapping[str, str]

_FUNCTIONS = frozenset({"arrow_function", "function_expression", "method_definition"})
_DECLARED_FUNCTIONS = frozenset({"function_declaration", "generator_function_declaration"})
_BLOCKS = frozenset({"program", "statement_block"})
_UNCOVERED = frozenset(
    {
        "variable_declaration", "class_declaration", "class", "with_statement", "tagged",
        "generator_function", "switch_body", "import_statement", "export_statement", "ERROR",
    }
)  # fmt: skip
"""Kinds of nodes with scopes or texts that renaming does not cover."""

_MIRRORED = {">": "<", ">=": "<="}
_EQUALITIES = {"===": "!==", "!==": "===", "==": "!=", "!=": "=="}
_NEGATIVE = frozenset({"!==", "!="})
_READING_LEAVES = frozenset(
    {"identifier", LOCAL, "number", "text", "true", "false", "null", "undefined", "property"}
)


class _Uncovered(Exception):
    """A construct that renaming does not cover."""


def normalise_program(form: ProgramForm) -> ProgramForm:
    """The form that a program shares with programs that are known to do the same."""
    try:
        named = _Renamer().rename(form, {})
    except _Uncovered:
        named = form
    return _Rewriter(frozenset(_list_assigned(named))).rewrite(named)


# -- names -----------------------------------------------------------------------------------------


class _Declared(NamedTuple):
    """The names that a scope declares, in their order."""

    names: tuple[str, ...]


class _Renamer:
    """Replaces the names of local variables by numbers, in the order of their declarations."""

    def __init__(self) -> None:
        self._count = 0

    def rename(self, form: object, scope: _Scope) -> ProgramForm:
        """A form in a scope, which has the new names of variables that are visible.

        Raises:
            _Uncovered: a construct is not covered.
        """
        if not isinstance(form, tuple) or not form:
            assert isinstance(form, str | tuple)
            return form
        kind = form[0]
        if kind in _UNCOVERED:
            raise _Uncovered(kind)
        if kind in ("identifier", "shorthand_property_identifier_pattern"):
            return self._rename_leaf(form, scope)
        if kind == "named" and form[1] in scope:
            raise _Uncovered("a local variable names nodes")
        if kind in _FUNCTIONS or kind in _DECLARED_FUNCTIONS:
            return self._rename_function(form, scope)
        if kind in _BLOCKS:
            scope = self._enter(scope, _names_of_block(form))
        elif kind == "for_statement":
            scope = self._enter(scope, _names_of_loop(form))
        elif kind == "for_in_statement" and form[2] in ("const", "let"):
            scope = self._enter(scope, _Declared(tuple(_names_of_pattern(form[3]))))
        elif kind == "catch_clause" and len(form) > 3:
            scope = self._enter(scope, _Declared(tuple(_names_of_pattern(form[2]))))
        elif kind == "lexical_declaration":
            self._check_declared(form, scope)
        return (kind, *(self.rename(part, scope) for part in form[1:]))

    def _rename_leaf(self, form: tuple[object, ...], scope: _Scope) -> ProgramForm:
        kind, name = form[0], str(form[1])
        if name in ("eval", "arguments"):
            raise _Uncovered(name)
        if kind == "identifier":
            return (LOCAL, scope[name]) if name in scope else form
        if name not in scope:
            return form
        # `{ a }` of a pattern reads the property that it is named after.
        return ("pair_pattern", ("property_identifier", name), ":", (LOCAL, scope[name]))

    def _rename_function(self, form: tuple[object, ...], scope: _Scope) -> ProgramForm:
        """A function; its parameters are visible in itself, its own name where it is declared."""
        kind = form[0]
        parts = list(form[1:])
        named = kind == "function_expression" or kind in _DECLARED_FUNCTIONS
        own = next(
            (p for p in parts if named and isinstance(p, tuple) and p[0] == "identifier"), None
        )
        if kind == "function_expression" and own is not None:
            scope = self._enter(scope, _Declared((str(own[1]),)))
        elif kind in _DECLARED_FUNCTIONS and (own is None or str(own[1]) not in scope):
            raise _Uncovered("a function outside of a block")
        parameters = next(
            (p for p in parts if isinstance(p, tuple) and p[0] == "formal_parameters"), ()
        )
        names = tuple(name for part in parameters[1:] for name in _names_of_pattern(part))
        if len(set(names)) < len(names):
            raise _Uncovered("a parameter twice")
        inner = self._enter(scope, _Declared(names))
        renamed = []
        for part in parts:
            if kind == "method_definition" and part is parts[0]:
                renamed.append(self.rename(part, scope))  # the name of a method is a property
                continue
            renamed.append(self.rename(part, scope if part is own else inner))
        return (kind, *renamed)

    def _enter(self, scope: _Scope, declared: _Declared) -> _Scope:
        """A scope inside of another one, with new names for what it declares."""
        if not declared.names:
            return scope
        inner = dict(scope)
        for name in declared.names:
            inner[name] = str(self._count)
            self._count += 1
        return inner

    def _check_declared(self, form: tuple[object, ...], scope: _Scope) -> None:
        """Raises `_Uncovered` for a declaration in a place that declares nothing."""
        if any(name not in scope for name in _names_of_declaration(form)):
            raise _Uncovered("a declaration outside of a block")


def _names_of_block(form: tuple[object, ...]) -> _Declared:
    """The names that the statements of a block declare."""
    names: list[str] = []
    for part in form[1:]:
        if not isinstance(part, tuple) or not part:
            continue
        if part[0] == "lexical_declaration":
            names += _names_of_declaration(part)
        elif part[0] in _DECLARED_FUNCTIONS:
            names += [str(p[1]) for p in part[1:] if isinstance(p, tuple) and p[0] == "identifier"]
    return _Declared(tuple(dict.fromkeys(names)))


def _names_of_loop(form: tuple[object, ...]) -> _Declared:
    """The names that the first part of a counting loop declares."""
    for field in form[1:]:
        if isinstance(field, tuple) and field[0] == "initializer":
            first = field[1]
            if isinstance(first, tuple) and first[0] == "lexical_declaration":
                return _Declared(tuple(_names_of_declaration(first)))
    return _Declared(())


def _names_of_declaration(form: tuple[object, ...]) -> Iterator[str]:
    """The names that `const` or `let` declares."""
    for part in form[1:]:
        if isinstance(part, tuple) and part[0] == "variable_declarator":
            yield from _names_of_pattern(part[1])


def _names_of_pattern(form: object) -> Iterator[str]:
    """The names that a pattern binds."""
    if not isinstance(form, tuple) or not form:
        return
    match form[0]:
        case "identifier" | "shorthand_property_identifier_pattern":
            yield str(form[1])
        case "object_pattern" | "array_pattern":
            for part in form[1:]:
                yield from _names_of_pattern(part)
        case "assignment_pattern" | "object_assignment_pattern":
            yield from _names_of_pattern(form[1])
        case "rest_pattern" | "pair_pattern":
            yield from _names_of_pattern(form[-1])


# -- rewritings ------------------------------------------------------------------------------------

_PROPERTIES = frozenset({"member_expression", "subscript_expression"})
_ASSIGNING = frozenset({"assignment_expression", "augmented_assignment_expression"})


def _list_assigned(form: object) -> Iterator[object]:
    """The variables that a program assigns after their declaration, each as a form."""
    if not isinstance(form, tuple) or not form:
        return
    kind = form[0]
    if kind in _ASSIGNING:
        yield from _list_variables(form[1])
    elif kind == "update_expression":
        for part in form[1:]:
            yield from _list_variables(part)
    elif kind == "for_in_statement" and form[2] not in ("const", "let"):
        yield from _list_variables(form[2])
    for part in form[1:]:
        yield from _list_assigned(part)


def _list_variables(form: object) -> Iterator[object]:
    """The variables in a form, without those of which it reads or sets a property."""
    if isinstance(form, tuple) and form and form[0] not in _PROPERTIES:
        if form[0] in ("identifier", LOCAL):
            yield form
        elif form[0] == "shorthand_property_identifier_pattern":
            yield ("identifier", form[1])
        for part in form[1:]:
            yield from _list_variables(part)


class _Rewriter:
    """Rewrites a form from its leaves on; `assigned` are variables that are assigned again."""

    def __init__(self, assigned: frozenset[object]) -> None:
        self._assigned = assigned

    def rewrite(self, form: object) -> ProgramForm:
        """The form with each part rewritten."""
        if not isinstance(form, tuple) or not form:
            assert isinstance(form, str | tuple)
            return form
        parts: tuple[object, ...] = (form[0], *(self.rewrite(part) for part in form[1:]))
        match parts[0]:
            case "binary_expression":
                return _mirror_comparison(parts)
            case "unary_expression":
                return _simplify_negation(parts)
            case "ternary_expression":
                return _choose_positively(parts, 1, 3, 5)
            case "if_statement" if len(parts) == 5:
                return _branch_positively(parts)
            case "lexical_declaration":
                return self._declare_constant(parts)
            case _:
                return parts

    def _declare_constant(self, form: tuple[object, ...]) -> ProgramForm:
        """`let` of variables that nothing assigns is `const`."""
        declared = [
            variable
            for part in form[1:]
            if isinstance(part, tuple) and part[0] == "variable_declarator"
            for variable in _list_variables(part[1])
        ]
        if form[1] != "let" or any(variable in self._assigned for variable in declared):
            return form
        return (form[0], "const", *form[2:])


_COMPARISONS = frozenset({*_MIRRORED, *_MIRRORED.values(), *_EQUALITIES})


def is_safe_test(form: object) -> bool:
    """Whether an expression, given as the form of a program, is true or false whatever the data is,
    and cannot fail: a comparison of constants, variables, and properties of `$json`."""
    if isinstance(form, tuple) and form[:1] in (("program",), ("expression_statement",)):
        return len(form) == 2 and is_safe_test(form[1])
    if not isinstance(form, tuple) or not form:
        return False
    match form[0]:
        case "true" | "false":
            return True
        case "unary_expression":
            return form[1] == "!" and (is_safe_test(form[2]) or _reads_safely(form[2]))
        case "binary_expression" if form[2] in ("&&", "||"):
            return is_safe_test(form[1]) and is_safe_test(form[3])
        case "binary_expression":
            return form[2] in _COMPARISONS and _reads_safely(form[1]) and _reads_safely(form[3])
        case _:
            return False


def _reads_safely(form: object) -> bool:
    """Whether reading an operand cannot fail: it is a constant, or a property of an item."""
    if not isinstance(form, tuple) or not form:
        return False
    if form[0] == "parenthesized_expression" and len(form) == 2:
        return _reads_safely(form[1])
    if form[0] == "member_expression" and len(form) == 4:
        of_item = form[1:3] == (("identifier", "$json"), ".")
        optional = form[2] == ("optional_chain", "?.") and _reads_safely(form[1])
        return (of_item or optional) and _only_reads(form[3])
    if form[0] == "unary_expression":
        return form[1] == "typeof" and _reads_safely(form[2])
    return form[0] in _READING_LEAVES and form[0] not in ("identifier", LOCAL)


def _mirror_comparison(form: tuple[object, ...]) -> ProgramForm:
    """A comparison in one direction, if the order of its operands makes no difference."""
    kind, left, sign, right = form
    if not (_only_reads(left) and _only_reads(right)):
        return form
    if sign in _MIRRORED:
        return (kind, right, _MIRRORED[str(sign)], left)
    if sign in _EQUALITIES and repr(left) > repr(right):
        return (kind, right, sign, left)
    return form


def _only_reads(form: object) -> bool:
    """Whether an operand is a constant, a variable, or a property of one."""
    if not isinstance(form, tuple) or not form:
        return True  # a sign, such as the point of a member
    if form[0] in _READING_LEAVES or form[0] in ("property_identifier", "named"):
        return True
    if form[0] in ("member_expression", "subscript_expression"):
        return all(_only_reads(part) for part in form[1:])
    if form[0] == "unary_expression":
        return form[1] in ("-", "+", "!", "typeof") and _only_reads(form[2])
    return False


def _simplify_negation(form: tuple[object, ...]) -> ProgramForm:
    """`!(a === b)` as `a !== b`, and `!!(a < b)` as `a < b`, which is true or false anyway."""
    _, sign, inner = form
    if sign != "!" or not isinstance(inner, tuple):
        return form
    if inner[0] == "binary_expression" and inner[2] in _EQUALITIES:
        return (inner[0], inner[1], _EQUALITIES[str(inner[2])], inner[3])
    test = inner[2] if inner[:2] == ("unary_expression", "!") else None
    if isinstance(test, tuple) and test[0] == "binary_expression" and test[2] in _COMPARISONS:
        return test
    return form


def _positive_test(test: object) -> tuple[object, bool]:
    """A test without its negation, and whether it had one."""
    negated = False
    while isinstance(test, tuple) and test[:2] == ("unary_expression", "!"):
        test, negated = test[2], not negated
    if isinstance(test, tuple) and test[0] == "binary_expression" and test[2] in _NEGATIVE:
        return (test[0], test[1], _EQUALITIES[str(test[2])], test[3]), not negated
    return test, negated


def _choose_positively(
    form: tuple[object, ...], test: int, first: int, second: int
) -> tuple[object, ...]:
    """A choice whose test is not negated; the arguments are the places of its parts."""
    positive, negated = _positive_test(form[test])
    parts = list(form)
    parts[test] = positive
    if negated:
        parts[first], parts[second] = parts[second], parts[first]
    return tuple(parts)


def _branch_positively(form: tuple[object, ...]) -> ProgramForm:
    """An `if` with an `else` whose test is not negated."""
    kind, word, test, first, otherwise = form
    if not isinstance(otherwise, tuple) or otherwise[0] != "else_clause":
        return form
    positive, negated = _positive_test(test)
    if not negated:
        return (kind, word, positive, first, otherwise)
    return (kind, word, positive, otherwise[2], (*otherwise[:2], first))
