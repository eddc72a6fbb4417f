"""What n8n makes of a parameter: a constant, the value of an expression, or a text of parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from orgflow.backends.javascript.equivalent_programs import is_safe_test, normalise_program
from orgflow.backends.javascript.source_programs import (
    ProgramForm,
    UnreadableProgram,
    parse_syntax,
    read_program,
)
from orgflow.backends.n8n.format.expression_parts import is_value, split_parameter, value_code

ParameterForm = tuple[object, ...] | str | int | float | None
"""A form that two parameters share exactly if n8n gives them the same value: a constant as it is,
`("value", form)` for one code, `("text", part …)` for a text, `("object", …)` and `("list", …)`."""

_LAST_OF_ONE = re.compile(r"""(\$\((?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\))\.last\(0\)""")


def as_compiled_now(value: Any) -> Any:
    """A parameter of an older version, which read the last of one item where the first is read."""
    if isinstance(value, str):
        return _LAST_OF_ONE.sub(r"\1.first(0)", value)
    if isinstance(value, Mapping):
        return {name: as_compiled_now(part) for name, part in value.items()}
    return [as_compiled_now(part) for part in value] if isinstance(value, list) else value


def parameter_form(
    value: object, name_of: Callable[[str, str], str | None] = lambda function, text: None
) -> ParameterForm:
    """The form of a parameter, or of a tree of parameters.

    Args:
        value: a value of a workflow file.
        name_of: what stands for a call that names something, as for `read_program`.
    """
    if isinstance(value, str):
        return _text_form(value, name_of)
    if isinstance(value, Mapping):
        entries = sorted((str(key), parameter_form(part, name_of)) for key, part in value.items())
        return ("object", *entries)
    if isinstance(value, list | tuple):
        return ("list", *(parameter_form(part, name_of) for part in value))
    if isinstance(value, bool):
        return ("truth", value)  # Python takes True for 1
    assert value is None or isinstance(value, int | float)
    return value


def _text_form(text: str, name_of: Callable[[str, str], str | None]) -> ParameterForm:
    if not text.startswith("="):
        return text
    parts = split_parameter(text)
    if is_value(parts):
        return ("value", code_form(parts[1].text, name_of))
    if not any(part.is_code for part in parts):
        return "".join(part.text for part in parts)  # n8n drops the sign
    return ("text", *(code_form(p.text, name_of) if p.is_code else p.text for p in parts if p.text))


def code_form(
    code: str, name_of: Callable[[str, str], str | None] = lambda function, text: None
) -> ProgramForm:
    """The form of a code of an expression; the text itself where it is not JavaScript, so that only
    the same text is equal to it."""
    bare = code.lstrip()
    try:
        # n8n takes a code that begins with `{` for an object.
        whole = f"({code})" if bare.startswith("{") else code
        return normalise_program(read_program(whole, name_of))
    except UnreadableProgram:
        return ("unreadable", code)


def split_test(value: object) -> list[Any]:
    """The tests of which an expression `a && b` is true if all are, each as a parameter; the value
    itself if it is another one, or if a test may fail or be neither true nor false."""
    code = value_code(value) if isinstance(value, str) and "&&" in value else None
    if code is None:
        return [value]
    try:
        root = parse_syntax(code)
    except UnreadableProgram:
        return [value]
    tests = [] if root.has_error else list(_list_operands(root))
    parts = [f"={{{{ {test} }}}}" for test in tests]
    safe = all(is_safe_test(code_form(test)) for test in tests)
    return parts if safe and len(parts) > 1 else [value]


def _list_operands(node: Any) -> Iterator[str]:
    """The texts of the operands of `&&` in a tree of syntax."""
    children = node.named_children
    if node.type in ("program", "expression_statement", "parenthesized_expression"):
        if len(children) == 1:
            yield from _list_operands(children[0])
        return
    sign = node.child_by_field_name("operator")
    if node.type == "binary_expression" and sign is not None and sign.type == "&&":
        for operand in children:
            yield from _list_operands(operand)
    else:
        yield node.text.decode()


def same_parameters(
    before: Any, now: Any, name_of: Callable[[str, str], str | None] = lambda function, text: None
) -> bool:
    """Whether two trees of parameters give the same values, whatever the data is."""
    return parameter_form(before, name_of) == parameter_form(now, name_of)
