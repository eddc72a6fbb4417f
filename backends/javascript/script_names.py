"""The names of a script: where each is declared, which nothing declares, and declarations that
JavaScript refuses before it runs the script.

A script is the body of an asynchronous function that is not strict, as n8n's Code node runs it. The
grammar of tree-sitter accepts some programs that ECMAScript refuses by its early errors; those that
people write are found here: a name declared twice, `await` in a function that is not asynchronous,
`import` and `export`, a constant without a value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from orgflow.backends.javascript.source_programs import (
    MOST_SHOWN,
    SyntaxFault,
    UnreadableProgram,
    parse_syntax,
)

from orgflow_ir.model.records import NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node as SyntaxNode

FUNCTIONS: Final = frozenset({
    "function_declaration", "function_expression", "arrow_function", "method_definition",
    "generator_function", "generator_function_declaration", "class_static_block",
    "field_definition",
})  # fmt: skip
"""Kinds of nodes whose content runs when something calls it."""

_BLOCKS: Final = frozenset({
    "statement_block", "for_statement", "for_in_statement", "switch_body", "catch_clause",
    "class", "class_declaration",
})  # fmt: skip
_FUNCTION_STATEMENTS: Final = frozenset({"function_declaration", "generator_function_declaration"})
_OWN_NAMES: Final = frozenset({"function_expression", "generator_function", "class"})
"""Expressions whose name only their own content sees."""

_SOMETIMES: Final = {
    "if_statement": "condition", "ternary_expression": "condition", "while_statement": "condition",
    "for_statement": "initializer", "for_in_statement": "right", "switch_statement": "value",
    "catch_clause": "", "assignment_pattern": "", "binary_expression": "left",
}  # fmt: skip
"""Kinds of nodes whose content may not run, with the field that always does."""

_SHORT_CIRCUITS: Final = frozenset({"&&", "||", "??"})

_LEXICAL: Final = frozenset({"let", "const", "class"})
_UNRESOLVED: Final = frozenset({"with_statement", "jsx_element", "jsx_self_closing_element"})
"""With them, the text does not show which names it uses."""


class Binding(NamedTuple):
    """A declared name.

    Attributes:
        kind: `var`, `let`, `const`, `class`, `function`, `parameter`, `catch` or `own`.
        value: the initial value or function; `None` if it has none or a pattern takes it apart.
    """

    name: str
    kind: str
    value: SyntaxNode | None


class UnknownName(NamedTuple):
    """A use of a name that the script does not declare.

    Attributes:
        line: its line, from 1.
        always: whether every run of the script evaluates it.
        guarded: whether a `try` surrounds it.
    """

    name: str
    line: int
    always: bool
    guarded: bool


class _Scope:
    """The names of a block or a function."""

    def __init__(self, outer: _Scope | None, *, is_function: bool) -> None:
        self.outer = outer
        self.is_function = is_function
        self.bindings: dict[str, Binding] = {}
        self.kinds: dict[str, set[str]] = {}

    @property
    def function(self) -> _Scope:
        """The scope of the function around it."""
        scope = self
        while not scope.is_function and scope.outer is not None:
            scope = scope.outer
        return scope

    def find_binding(self, name: str) -> Binding | None:
        """The declaration that a name means here."""
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.bindings:
                return scope.bindings[name]
            scope = scope.outer
        return None

    def accepts(self, name: str, kind: str) -> bool:
        """Whether JavaScript permits one more declaration of a name in this scope."""
        kinds = self.kinds.get(name, set()) - {"own", "hoisted"}
        if kind in _LEXICAL:
            return not kinds
        refused = set(_LEXICAL)
        if not self.is_function:
            refused |= {"function": {"var", "catch"}, "var": {"function"}}.get(kind, set())
        return kinds.isdisjoint(refused)

    def declare(self, binding: Binding) -> None:
        """Add a declaration."""
        self.bindings[binding.name] = binding
        self.kinds.setdefault(binding.name, set()).add(binding.kind)


class ScriptNames:
    """The names of a script that the grammar accepts.

    Attributes:
        root: its syntax tree.
        fault: the first place that ECMAScript refuses before the script runs, with the reason.
        unknown: the uses of names that the script does not declare, in the order of the text;
            empty if the text does not show which names it uses.
    """

    def __init__(self, root: SyntaxNode) -> None:
        self.root = root
        self.fault: tuple[SyntaxFault, str] | None = None
        self.unknown: tuple[UnknownName, ...] = ()
        self._scopes: dict[int, _Scope] = {}
        self._declared: set[int] = set()
        self._meanings: dict[int, Binding] = {}
        self._changed: set[int] = set()
        self._assigned: set[str] = set()
        self._tested: set[str] = set()
        self._resolved = True
        self._outermost = _Scope(None, is_function=True)
        self._declare_names(root)
        self._resolve_names(root)

    def constant_value(self, name: SyntaxNode) -> SyntaxNode | None:
        """The value of a name that has only this value; `None` if it may have another."""
        binding = self._meanings.get(name.id)
        if binding is None or id(binding) in self._changed:
            return None
        return binding.value if binding.kind in ("const", "let", "var", "function") else None

    @property
    def declared_names(self) -> frozenset[str]:
        """The names that the script declares anywhere."""
        return frozenset(binding.name for binding in self._meanings.values())

    def is_declared(self, name: SyntaxNode) -> bool:
        """Whether the script declares or assigns a name that it uses somewhere."""
        return name.id in self._meanings or _text_of(name) in self._assigned

    # -- declarations

    def _declare_names(self, root: SyntaxNode) -> None:
        todo: list[tuple[SyntaxNode, _Scope]] = [(root, self._outermost)]
        while todo:
            node, scope = todo.pop()
            self._read_faults(node)
            if node.type in FUNCTIONS:
                inner = _Scope(scope, is_function=True)
                self._declare_function(node, scope, inner)
                scope = inner
            elif node.type in _BLOCKS and not _is_body(node):
                inner = _Scope(scope, is_function=False)
                self._declare_block(node, scope, inner)
                scope = inner
            self._scopes[node.id] = scope
            if node.type in ("lexical_declaration", "variable_declaration"):
                kind = node.children[0].type
                for declarator in node.named_children:
                    if declarator.type == "variable_declarator":
                        self._declare_variable(declarator, kind, scope)
            todo.extend((child, scope) for child in reversed(node.children))

    def _declare_function(self, node: SyntaxNode, outer: _Scope, inner: _Scope) -> None:
        name = node.child_by_field_name("name")
        if name is not None and node.type in _FUNCTION_STATEMENTS:
            # In a block, only plain functions may have the same name.
            plain = all(child.type not in ("async", "*") for child in node.children)
            kind = "function" if plain or outer.is_function else "let"
            self._add_binding(name, Binding(_text_of(name), kind, node), outer)
            if plain and not outer.is_function:
                # Outside of strict code, the function around sees the function of a block as well.
                function = outer.function
                if function.accepts(_text_of(name), "var"):
                    function.bindings.setdefault(
                        _text_of(name), Binding(_text_of(name), "parameter", None)
                    )
                    function.kinds.setdefault(_text_of(name), set()).add("hoisted")
        elif name is not None and node.type in _OWN_NAMES:
            self._add_binding(name, Binding(_text_of(name), "own", node), inner)
        for field in ("parameter", "parameters"):
            parameters = node.child_by_field_name(field)
            for part in _list_pattern_names(parameters) if parameters is not None else ():
                self._add_binding(part, Binding(_text_of(part), "parameter", None), inner)

    def _declare_block(self, node: SyntaxNode, outer: _Scope, inner: _Scope) -> None:
        if node.type in ("class", "class_declaration"):
            name = node.child_by_field_name("name")
            if name is not None:
                kind, scope = ("own", inner) if node.type == "class" else ("class", outer)
                self._add_binding(name, Binding(_text_of(name), kind, None), scope)
        elif node.type == "catch_clause":
            parameter = node.child_by_field_name("parameter")
            for part in _list_pattern_names(parameter) if parameter is not None else ():
                self._add_binding(part, Binding(_text_of(part), "catch", None), inner)
        elif node.type == "for_in_statement":
            kind_node, left = (node.child_by_field_name(f) for f in ("kind", "left"))
            for part in _list_pattern_names(left) if left is not None else ():
                if kind_node is None:
                    self._assigned.add(_text_of(part))
                    continue
                binding = Binding(_text_of(part), kind_node.type, None)
                self._changed.add(id(binding))
                self._add_binding(part, binding, inner)

    def _declare_variable(self, declarator: SyntaxNode, kind: str, scope: _Scope) -> None:
        pattern = declarator.child_by_field_name("name")
        value = declarator.child_by_field_name("value")
        if pattern is None:
            return
        whole = pattern.type == "identifier"
        if kind == "const" and value is None:
            self._add_fault(declarator, "a constant without a value")
        for part in _list_pattern_names(pattern):
            self._add_binding(part, Binding(_text_of(part), kind, value if whole else None), scope)

    def _add_binding(self, node: SyntaxNode, binding: Binding, scope: _Scope) -> None:
        self._declared.add(node.id)
        # A `var` belongs to its function, and no block on the way may declare the name.
        target = scope.function if binding.kind == "var" else scope
        blocks: _Scope | None = scope
        while blocks is not None:
            if not blocks.accepts(binding.name, binding.kind):
                self._add_fault(node, f"`{binding.name}` is declared twice")
            if blocks is target:
                break
            blocks.kinds.setdefault(binding.name, set()).add(binding.kind)
            blocks = blocks.outer
        old = target.bindings.get(binding.name)
        if old is not None:
            self._changed.update((id(old), id(binding)))
        target.declare(binding)
        self._meanings[node.id] = binding

    # -- what ECMAScript refuses

    def _read_faults(self, node: SyntaxNode) -> None:
        if node.type in _UNRESOLVED:
            self._resolved = False
        waits = node.type == "await_expression" or (
            node.type == "for_in_statement" and any(c.type == "await" for c in node.children)
        )
        if waits and not _is_asynchronous(node):
            self._add_fault(node, "`await` is in a function that is not `async`")
        elif node.type in ("import_statement", "export_statement"):
            self._add_fault(node, f"`{node.children[0].type}` is not permitted in a script")

    def _add_fault(self, node: SyntaxNode, reason: str) -> None:
        row, column = node.start_point
        if self.fault is not None and (self.fault[0].line, self.fault[0].column) <= (
            row + 1,
            column + 1,
        ):
            return
        line = _text_of(node).partition("\n")[0][:MOST_SHOWN]
        self.fault = SyntaxFault(row + 1, column + 1, line), reason

    # -- uses

    def _resolve_names(self, root: SyntaxNode) -> None:
        uses: list[tuple[SyntaxNode, _Scope, bool, bool]] = []
        todo: list[tuple[SyntaxNode, bool, bool]] = [(root, True, False)]
        left = False  # whether the script may have ended before this place
        while todo:
            node, always, guarded = todo.pop()
            always = always and not left
            if node.type in ("identifier", "shorthand_property_identifier"):
                # The grammar takes `await (x)` for a call.
                waits = _text_of(node) == "await" and _is_asynchronous(node)
                if node.id not in self._declared and not waits:
                    uses.append((node, self._scopes[node.id], always, guarded))
                continue
            self._read_use(node)
            if node.type in FUNCTIONS:
                always = False
            guarded = guarded or node.type == "try_statement"
            if node.type in ("return_statement", "throw_statement") and not _is_in_function(node):
                left = left or not always
            sure = _first_part(node)
            for child in reversed(node.children):
                runs = always and (sure is None or child == sure)
                todo.append((child, runs, guarded))
        unknown = []
        for node, scope, always, guarded in uses:
            name = _text_of(node)
            binding = scope.find_binding(name)
            if binding is not None:
                self._meanings[node.id] = binding
            elif name not in self._assigned and name not in self._tested and self._resolved:
                unknown.append(UnknownName(name, node.start_point[0] + 1, always, guarded))
        for node, scope, _, _ in uses:
            if _is_changed(node):
                binding = scope.find_binding(_text_of(node))
                if binding is not None:
                    self._changed.add(id(binding))
        self.unknown = tuple(unknown) if self._resolved else ()

    def _read_use(self, node: SyntaxNode) -> None:
        """Assignments, which create a name that nothing declares, and tests by `typeof`."""
        if node.type in ("assignment_expression", "augmented_assignment_expression"):
            target = node.child_by_field_name("left")
            if target is not None:
                for part in _list_pattern_names(target):
                    self._assigned.add(_text_of(part))
                    binding = self._scopes[node.id].find_binding(_text_of(part))
                    if binding is not None:
                        self._changed.add(id(binding))
        elif node.type == "unary_expression" and node.children[0].type == "typeof":
            operand = node.child_by_field_name("argument")
            if operand is not None and operand.type == "identifier":
                self._tested.add(_text_of(operand))
        elif node.type == "call_expression":
            called = node.child_by_field_name("function")
            if called is not None and called.type == "identifier" and _text_of(called) == "eval":
                self._resolved = False


def read_script_names(code: str) -> ScriptNames | None:
    """The names of a script; `None` if the grammar does not accept it, or it takes too long."""
    try:
        root = parse_syntax(code)
    except UnreadableProgram:
        return None
    return None if root.has_error else ScriptNames(root)


def _is_body(block: SyntaxNode) -> bool:
    """Whether a block shares the scope of the function or `catch` that it is the body of."""
    around = block.parent
    return (
        block.type == "statement_block"
        and around is not None
        and (around.type in FUNCTIONS or around.type == "catch_clause")
    )


def _is_asynchronous(node: SyntaxNode) -> bool:
    """Whether the function around a node is asynchronous; the script itself is."""
    around = node.parent
    while around is not None:
        if around.type in FUNCTIONS:
            return any(child.type == "async" for child in around.children)
        around = around.parent
    return True


def _first_part(node: SyntaxNode) -> SyntaxNode | None:
    """The part of a node that always runs, where the others may not; `None` if all parts do. A
    node whose parts may all not run is its own part."""
    if node.type not in _SOMETIMES:
        return None
    if node.type == "binary_expression":
        operator = node.child_by_field_name("operator")
        if operator is None or operator.type not in _SHORT_CIRCUITS:
            return None
    return node.child_by_field_name(_SOMETIMES[node.type]) or node


def _is_in_function(node: SyntaxNode) -> bool:
    around = node.parent
    while around is not None:
        if around.type in FUNCTIONS:
            return True
        around = around.parent
    return False


_LENGTHENS: Final = frozenset({"push", "unshift", "splice", "pop", "shift", "fill", "sort"})


def _is_changed(name: SyntaxNode) -> bool:
    """Whether a use of a name changes its value: `name++`, `name.x = 1`, `name.push(1)`, or a call
    that has it as an argument, which may change it."""
    around, inner = name.parent, name
    while around is not None and around.type in ("member_expression", "subscript_expression"):
        if around.child_by_field_name("object") != inner:
            return False
        inner, around = around, around.parent
    if around is None:
        return False
    if around.type in ("assignment_expression", "augmented_assignment_expression"):
        return around.child_by_field_name("left") == inner
    if around.type == "call_expression" and inner.type == "member_expression":
        method = inner.child_by_field_name("property")
        return method is not None and _text_of(method) in _LENGTHENS
    return around.type in ("update_expression", "arguments") or (
        around.type == "unary_expression" and around.children[0].type == "delete"
    )


_NAME_NODES: Final = frozenset({"identifier", "shorthand_property_identifier_pattern"})
_PATTERN_PARTS: Final = {
    "assignment_pattern": "left", "object_assignment_pattern": "left", "pair_pattern": "value",
}  # fmt: skip
_PATTERNS: Final = frozenset({
    "formal_parameters", "object_pattern", "array_pattern", "rest_pattern",
})  # fmt: skip


def _list_pattern_names(pattern: SyntaxNode) -> Iterator[SyntaxNode]:
    """The names that a pattern declares or assigns."""
    todo = [pattern]
    while todo:
        node = todo.pop()
        if node.type in _NAME_NODES:
            yield node
        elif node.type in _PATTERN_PARTS:
            part = node.child_by_field_name(_PATTERN_PARTS[node.type])
            todo += [part] if part is not None else []
        elif node.type in _PATTERNS:
            todo.extend(reversed(node.named_children))


def _text_of(node: SyntaxNode) -> str:
    return (node.text or b"").decode("utf-8", "surrogatepass")
