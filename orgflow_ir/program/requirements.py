"""What operands of conditions and scripts have to be at run time.

Where an operand is something else, an engine ends with an error or converts it by rules that
JavaScript does not have. A target tests the operand first and stops the run.

Rules are those of the Jakarta Expression Language 3.0 (1.7 to 1.9), in which null is always valid,
of Java, Groovy, MVEL and Python.
"""

from __future__ import annotations

from orgflow_ir.program.syntax import KnownType, Requirement

REQUIREMENTS: dict[str, Requirement] = {}
"""Every requirement by its name."""


def _define_requirement(
    name: str,
    fault: str,
    use: str,
    met_by: tuple[KnownType, ...] = (),
    computed: tuple[KnownType, ...] = (),
    *,
    operands: int = 1,
) -> Requirement:
    assert name not in REQUIREMENTS
    REQUIREMENTS[name] = Requirement(
        name,
        operands=operands,
        fault=fault,
        use=use,
        met_by=frozenset(met_by),
        met_by_computed=frozenset(computed),
    )
    return REQUIREMENTS[name]


def _define_pair(name: str, fault: str) -> Requirement:
    return _define_requirement(name, fault, "", operands=2)


# JUEL

FLAG = _define_requirement(
    "flag", "is neither true nor false", "asks whether it is true", ("truth",)
)
"""A truth value, or the text `true` or `false`: the result of a condition."""

TRUTH = _define_requirement("truth", "is not a Boolean", "reads it as one", ("text", "truth"))
"""A truth value or a text."""

TEXT = _define_requirement("text", "is not a text", "compares it with a text", ("text",))
"""A text."""

SCALAR = _define_requirement(
    "scalar",
    "is neither a text nor a number",
    "compares it with a text",
    ("number", "whole", "text"),
)
"""A text or a number."""

FRACTION = _define_requirement(
    "fraction",
    "is neither a text nor a number with a fraction",
    "compares it with such a number",
    ("number", "text"),
)
"""A text or a number with a fraction."""

NUMERAL = _define_requirement("numeral", "is not a number", "reads it as one", ("number", "whole"))
"""A number or a text that is converted to one."""

WHOLE_NUMERAL = _define_requirement(
    "whole numeral",
    "is neither a number nor the text of a whole number",
    "reads it as one",
    ("number", "whole"),
)
"""The same without a fraction."""

EQUAL = _define_pair("equal", "have types that cannot be compared")
"""Two values that can be converted to one type to be compared."""

ORDERED = _define_pair("ordered", "have types that cannot be compared")
"""Two values that can be converted to one type to be put in order."""

MAP = _define_requirement("map", "is not an object", "reads an entry of it")
"""An object of which an entry is read."""

LIST = _define_requirement("list", "is not a list", "reads an entry of it")
"""A list of which an entry is read."""

COLLECTION = _define_requirement(
    "collection", "is neither a list nor an object", "reads an entry of it"
)
"""An object or a list of which an entry is read."""

# Java, Groovy and MVEL

NUMBER = _define_requirement(
    "number", "is not a number", "reads it as one", (), ("number", "whole")
)
"""A number."""

SUMMAND = _define_requirement(
    "summand", "is neither a number nor a text", "adds to it", (), ("number", "whole", "text")
)
"""A number or a text."""

PRINTABLE = _define_requirement(
    "printable",
    "is a list, an object, or a number that Java writes with an exponent",
    "adds it to a text",
    (),
    ("whole", "text", "truth"),
)
"""A value whose text is the same in JavaScript."""

JOINED = _define_pair("joined", "are added to a text that is another one in Java")
"""Two values whose texts are the same in JavaScript if one of them is a text."""

BOOLEAN = _define_requirement(
    "boolean", "is neither true nor false", "reads it as a truth value", (), ("truth",)
)
"""A truth value."""

ONLY_TEXT = _define_requirement(
    "only text", "is not a text", "compares it with a text", (), ("text",)
)
"""A text."""

ONE_TYPE = _define_pair("one type", "are neither two numbers nor two texts")
"""Two numbers or two texts."""

THERE = _define_requirement(
    "there",
    "has no value",
    "asks whether it equals another",
    (),
    ("number", "whole", "text", "truth"),
)
"""Anything but null."""

MAP_THERE = _define_requirement(
    "map there", "has no value or is not an object", "reads an entry of it"
)
"""An object."""

LIST_THERE = _define_requirement(
    "list there", "has no value or is not a list", "reads an entry of it"
)
"""A list."""

COLLECTION_THERE = _define_requirement(
    "collection there", "has no value, or is neither a list nor an object", "reads an entry of it"
)
"""An object or a list."""

NO_NUMERAL = _define_requirement(
    "no numeral",
    "is the text of a number or a truth value",
    "compares it with a number",
    (),
    ("number", "whole"),
)
"""No text with digits and no truth value, which MVEL does not convert to compare with a number."""

NO_TRUTH = _define_requirement(
    "no truth", "is a truth value", "compares it with a text", (), ("number", "whole", "text")
)
"""No truth value, to be compared with a text without digits."""

NO_SCALAR = _define_requirement(
    "no scalar", "is a number or a truth value", "compares it with a text", (), ("text",)
)
"""No number and no truth value, to be compared with another text."""

TRUTH_OR_NULL = _define_requirement(
    "truth or null", "is neither true nor false", "compares it with a truth value", ("truth",)
)
"""A truth value or null, to be compared with a truth value."""

ALIKE = _define_pair("alike", "have types that cannot be compared")
"""Two values that MVEL compares without a conversion."""

NO_TEXT = _define_requirement(
    "no text",
    "is a text",
    "compares it with `==`, which compares identity in Java",
    (),
    ("number", "whole"),
)
"""No text, which Java compares by identity."""

IDENTICAL = _define_pair("identical", "are not identical in Java whenever they are equal")
"""Two values that are equal in Java if they are identical."""

COMPUTED = _define_requirement(
    "computed", "has a result that depends on its type in Java", "reads it"
)
"""A result that Java has as well: no whole number beyond the type of its operands."""

INDEXED = _define_pair("indexed", "are a value and a position that it does not have")
"""A list, or a text and a character that it has."""

# Python

QUOTIENT = _define_pair("quotient", "have a quotient that depends on the version of Python")
"""Two numbers of which the division has the same result in Python 2 and 3."""

SEQUENCE = _define_pair("sequence", "are a value and a position that it does not have")
"""A text or list, and what it has at a position."""

# Several languages

ITEM = _define_requirement("item", "is no entry of its list or object", "reads it")
"""A value that exists."""

DIVISOR = _define_requirement("divisor", "is zero or has no value", "divides by it")
"""A number but zero."""

NO_ORDER = _define_requirement(
    "no order", "has no order with a truth value or null", "compares them"
)
"""Null."""

RESULT = _define_requirement(
    "result", "has no result, or one that depends on its types", "reads it"
)
"""A function that has a value (`function_rows.py`)."""

EXACT = _define_requirement("exact", "has no exact result", "reads it")
"""No number beyond those that doubles have."""

# Scripts

OBJECT = _define_requirement("object", "has no value", "reads a part of it")
"""A value whose member is read."""

# FEEL

NO_LIST = _define_requirement("no list", "is a list", "reads a part of it")
"""A value whose part is read."""


MET_BY_ONE_TYPE = (EQUAL, ORDERED)
"""Requirements of two operands that values of one type meet."""
