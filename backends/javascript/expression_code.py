"""Conditions and texts as JavaScript, the language of n8n's expressions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import assert_never

from orgflow_ir.program.syntax import (
    Arithmetic,
    Call,
    Comparison,
    Conditional,
    Constant,
    Empty,
    Feel,
    Function,
    Logical,
    Negative,
    Not,
    Path,
    Tree,
    Variable,
    as_javascript,
)

# n8n refuses to evaluate an expression in which this stands, be it in a string.
_REFUSED = re.compile(r"(\.\s*)constructor")


def without_refused(literal: str) -> str:
    """The same string literal, in a form that n8n does not treat as access to a constructor."""
    return _REFUSED.sub(r"\1\\u0063onstructor", literal)


def js_string(text: str) -> str:
    """A JavaScript string literal that n8n evaluates: it can neither end (`}}`) nor open an
    expression, and contains nothing that n8n refuses."""
    quoted = json.dumps(text, ensure_ascii=False)
    quoted = quoted.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return without_refused(quoted).replace("{{", "{\\u007b").replace("}}", "}\\u007d")


def property_name(name: str) -> str:
    """A variable as the key of an object in JavaScript."""
    return name if _plain_name(name) else js_string(name)


def property_of(owner: str, name: str) -> str:
    """JavaScript that reads a variable from an object; with the owner `?`, the end of a read that
    gives undefined without an object."""
    if _plain_name(name):
        return f"{owner}.{name}"
    return f"{owner}{'.' if owner == '?' else ''}[{js_string(name)}]"


def _plain_name(name: str) -> bool:
    special = name.startswith("constructor") or name[:2] == "__"
    return name.isidentifier() and name.isascii() and not special


def to_js(tree: Tree, variable: Callable[[Path], str]) -> str:
    """JavaScript for a tree; `variable` returns the code that reads a variable.

    No text of the source is copied: numbers and operators are generated here, texts by `js_string`,
        names by `variable`.
    """
    return _printed(as_javascript(tree), variable)


def condition_js(tree: Tree, variable: Callable[[Path], str]) -> str:
    """JavaScript for a condition: its value is true if the condition is, else false or null.
    Arguments are those of `to_js`."""
    if isinstance(tree, Feel):
        tree = Comparison("==", tree, Constant(True), "strict")
    return to_js(tree, variable)


_Read = Callable[[Path], str]


def _printed(tree: Tree, variable: _Read) -> str:
    match tree:
        case Constant(value):
            return _constant(value)
        case Variable(path):
            return variable(path)
        case Not(operand):
            return f"!({_printed(operand, variable)})"
        case Negative(operand):
            return f"-({_printed(operand, variable)})"
        case Empty(operand):
            none = 'v === "" || (typeof v === "object" && Object.keys(v).length === 0)'
            return f"((v) => v == null || {none})({_printed(operand, variable)})"
        case Logical(word, left, right):
            sign = "&&" if word == "and" else "||"
            return f"({_printed(left, variable)} {sign} {_printed(right, variable)})"
        case Comparison("==", Feel() as inner, Constant(True), "strict"):
            return _feel(inner, variable, condition=True)
        case Comparison(operator, left, right, "xpath"):
            values = f"{_printed(left, variable)}, {_printed(right, variable)}"
            return f"{_in_xpath(operator)}({values})"
        case Comparison(operator, Call("compared", (left, right)), Constant(0)):
            one, two = (f"order({_printed(side, variable)})" for side in (left, right))
            return f"((order) => {one} {operator} {two})({ORDER})"
        case Comparison(operator, Call("sum", products), Constant(0), meaning):
            sign = f"{operator}=" if meaning == "strict" else operator
            return _compared_sum(sign, products, variable)
        case Comparison(operator, left, right, meaning):
            sign = f"{operator}=" if meaning == "strict" else operator
            return f"({_printed(left, variable)} {sign} {_printed(right, variable)})"
        case Arithmetic(operator, left, right):
            return f"({_printed(left, variable)} {operator} {_printed(right, variable)})"
        case Conditional(condition, then, otherwise):
            one, two, three = (_printed(part, variable) for part in (condition, then, otherwise))
            return f"({one} ? {two} : {three})"
        case Call("decimal", (inner,)):
            from orgflow.backends.javascript.groovy_decimals import (
                groovy_arithmetic,  # in few trees
            )

            return groovy_arithmetic(inner, lambda one: _printed(one, variable))
        case Call(function, arguments):
            return _asked(function, [_printed(argument, variable) for argument in arguments])
        case Feel():
            return _feel(tree, variable)
        case _:
            assert_never(tree)


def _feel(tree: Feel, variable: _Read, *, condition: bool = False) -> str:
    """Code for the value of a FEEL expression, or for whether it is true."""
    from orgflow.backends.javascript.feel_code import direct_expression
    from orgflow.backends.javascript.feel_runtime_code import feel_expression

    names = {path[0] for path in tree.paths}

    def read(name: str) -> str | None:
        return variable((name,)) if name in names else None

    direct = direct_expression(tree.tree, read, condition=condition)
    if direct is not None:
        return direct
    code = feel_expression(tree.tree, read)
    return f"({code} === true)" if condition else code


_METHODS: dict[Function, str] = {
    "contains": "includes", "starts with": "startsWith", "ends with": "endsWith",
    "lower": "toLowerCase", "upper": "toUpperCase", "trim": "trim",
}  # fmt: skip


_XPATH = (
    "const every = (v) => [].concat(v ?? []); "
    "const truth = (v) => Array.isArray(v) ? v.length > 0 : Boolean(v); "
    r'const number = (v) => typeof v !== "string" ? Number(v) : '
    r"/^[ \t\r\n]*-?([0-9]+(\.[0-9]*)?|\.[0-9]+)[ \t\r\n]*$/.test(v) ? Number(v) : NaN; "
)

_HELPERS: dict[Function, str] = {
    "single": (
        "(v) => { const all = Array.isArray(v) ? v : Object.values(v ?? {}); "
        'if (all.length > 1) throw new Error("several values where one is expected"); '
        "return all[0] ?? null; }"
    ),
    "xpath count": "(v) => [].concat(v ?? []).length",
    "xpath number": (
        f"(v) => {{ {_XPATH}const [x] = every(v); return x == null ? NaN : number(x); }}"
    ),
    "xpath text": '(v) => String([].concat(v ?? [])[0] ?? "")',
    "truth": (
        '(v) => v !== null && typeof v === "object" ? Object.keys(v).length > 0 : Boolean(v)'
    ),
}
"""Functions of one value without a JavaScript equivalent. An empty list or object is false in
Groovy."""


_SAME = (
    "const same = (a, b) => { if (a == null || b == null) return a == b; "
    'if (a === b || typeof a !== "object" || typeof b !== "object") return a === b; '
    "const keys = Object.keys(a); "
    "return Array.isArray(a) === Array.isArray(b) && keys.length === Object.keys(b).length && "
    "keys.every((k) => Object.keys(b).includes(k) && same(a[k], b[k])); };"
)
_NUMBER = r"/^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?$/i"


def _in_xpath(operator: str) -> str:
    """A function that compares two values, of which a list is compared by its values."""
    first = ""
    fits = f"number(x) {operator} number(y)"
    if operator in ("==", "!="):
        boolean = '[typeof a, typeof b].includes("boolean")'
        first = f"if ({boolean}) return truth(a) {operator} truth(b); "
        number = '[typeof x, typeof y].includes("number")'
        fits = f"{number} ? {fits} : String(x) {operator} String(y)"
    found = f"every(a).some((x) => every(b).some((y) => ({fits})))"
    return f"((a, b) => {{ {_XPATH}{first}return {found}; }})"


_OF_TWO: dict[Function, str] = {
    "same": f"(x, y) => {{ {_SAME} return same(x, y); }}",
    "python equal": (
        '(x, y) => { const plain = (v) => typeof v === "boolean" ? Number(v) : v; '
        f"{_SAME.replace('a === b', 'plain(a) === plain(b)')} return same(x, y); }}"
    ),
    "modulo": "(x, y) => { const r = x % y; return r !== 0 && r < 0 !== y < 0 ? r + y : r; }",
    "juel equal": (
        f"(x, y) => {{ {_SAME} if (x == null || y == null) return x == y; "
        "const types = [typeof x, typeof y]; "
        'const number = (v) => typeof v === "number" ? v : v === "" ? 0 : '
        f'typeof v === "string" && {_NUMBER}.test(v) ? Number(v) : NaN; '
        'if (types.includes("number")) return number(x) === number(y); '
        'if (types.includes("boolean")) return !types.includes("object") && '
        '(String(x).toLowerCase() === "true") === (String(y).toLowerCase() === "true"); '
        "return same(x, y); }"
    ),
}
"""Functions of two values."""


_JSON_TEXT = (
    '(v) => { try { if (typeof v === "string") JSON.parse(v); } catch { '
    'throw new Error("The body of the request is not JSON: " + v); } return v; }'
)

FORM_TEXT = (
    "Object.entries(v).map((pair) => pair.filter((one) => one !== null && one !== undefined)"
    ".map((one) => encodeURIComponent(typeof one === 'object' ? JSON.stringify(one) : one))"
    ".join('=')).join('&').replace(/%20/g, '+')"
)
"""The object `v` as the body of a form; of a name without a value, the name is sent."""

_OF_REQUESTS: dict[Function, str] = {
    "literal plus": '(v) => String(v).replace(/[+]/g, "%2B")',
    "media type": (
        "(headers) => { const [, type] = Object.entries(headers ?? {}).find(([name]) => "
        'name.toLowerCase() === "content-type") ?? []; return String(type ?? "application/json"); }'
    ),
    "other headers": (
        "(headers) => Object.fromEntries(Object.entries(headers ?? {}).filter(([name]) => "
        'name.toLowerCase() !== "content-type"))'
    ),
    "as media": (
        '(v, type) => { const kind = type.split(";")[0].trim().toLowerCase(); '
        'if (kind.startsWith("multipart/")) throw new Error('
        '"A body of the type " + kind + " is not supported."); '
        'if (typeof v !== "string") return kind === "application/x-www-form-urlencoded" '
        f"? {FORM_TEXT} : JSON.stringify(v); "
        f'return kind === "application/json" || kind.endsWith("+json") ? ({_JSON_TEXT})(v) : v; }}'
    ),
}
"""Functions of the headers and the body of a request."""

_ESCAPED = (
    '(/[\\x7f-\\uffff]/g, (one) => "\\\\u" + one.charCodeAt(0).toString(16).padStart(4, "0"))'
)
_STRIP = r"/^[\u0000-\u0020]+|[\u0000-\u0020]+$/g"
_SAME_LETTERS = (
    "(a, b) => { const one = (c, other) => (other.length === 1 ? other : c); "
    "const plain = (c) => { const up = one(c, c.toUpperCase()); "
    "return one(up, up.toLowerCase()); }; "
    "return b != null && a.length === b.length && "
    '[...a].map(plain).join("") === [...b].map(plain).join(""); }'
)
"""Java's `equalsIgnoreCase`, which compares the characters one by one."""

_HAS = (
    f"(all, one) => {{ {_SAME} "
    'return typeof all === "string" ? all.includes(one) : all.some((v) => same(v, one)); }'
)

JAVA_TEXT = """\
(value, double) => {
  const power = (x) => {
    const [digits, e] = x.toExponential().split("e");
    return digits + (digits.includes(".") ? "E" : ".0E") + Number(e);
  };
  const number = (x, d) => {
    const size = Math.abs(x);
    if (!Number.isFinite(x) || (x % 1 === 0 && size < 1e21 && !d)) return String(x);
    if (size !== 0 && !(size >= 1e-3 && size < 1e7)) return power(x);
    return String(x) + (x % 1 === 0 ? ".0" : "");
  };
  const text = (x, d) => {
    if (typeof x === "number") return number(x, d);
    if (Object(x) !== x) return String(x);
    if (Array.isArray(x)) return "[" + x.map((y) => text(y)).join(", ") + "]";
    return "{" + Object.entries(x).map(([k, y]) => k + "=" + text(y)).join(", ") + "}";
  };
  return value == null ? "" : text(value, double);
}"""
"""The text of a value in Java; `double`: whether a whole number is a double there."""

_DOUBLE = '((x) => (typeof x === "number" ? x % 1 !== 0 : /[.e]/i.test(x)))'

ORDER = (
    '(v) => typeof v === "string" ? "t" + Array.from(v, (c) => 1e7 + c.codePointAt(0)) : '
    'typeof v === "number" ? v : NaN'
)
"""A value that JavaScript compares as FEEL compares numbers and texts, which are in the order of
their code points."""

EXACT = (
    '(x) => { const [n, e = 0] = String(x).split("e"), [i, f = ""] = n.split("."); '
    "return BigInt(i + f) * 10n ** BigInt(400 + Number(e) - f.length); }"
)
"""A number as a whole number of units of 10 ** -400, less than any part of a number. A product of
n numbers is in units of 10 ** (-400 * n)."""


def _compared_sum(operator: str, products: tuple[Tree, ...], variable: _Read) -> str:
    """A comparison of the sum of products of decimal numbers with 0."""
    sides: tuple[list[str], list[str]] = [], []
    most = max(len(_factors(one)[1]) for one in products)
    for one in products:
        sign, factors = _factors(one)
        written = [f"exact({_printed(f, variable)})" for f in factors]
        written += ["exact(1)"] * (most - len(factors))
        sides[sign].append(" * ".join(written))
    left, right = (" + ".join(side) or "0n" for side in sides)
    return f"((exact) => {left} {operator} {right})({EXACT})"


def _factors(product: Tree) -> tuple[int, list[Tree]]:
    """Whether a product is subtracted, and its factors without units."""
    assert isinstance(product, Call)
    minus = sum(one == Constant(-1) for one in product.arguments) % 2
    factors = [one for one in product.arguments if one not in (Constant(-1), Constant(1))]
    for at, one in enumerate(factors):
        if isinstance(one, Constant) and isinstance(one.value, int | float) and one.value < 0:
            minus, factors[at] = 1 - minus, Constant(-one.value)
    return minus, factors or [Constant(1)]


def _asked(function: Function, arguments: list[str]) -> str:
    if function in _OF_TWO:
        return f"({_OF_TWO[function]})({', '.join(arguments)})"
    if function == "has":
        return f"({_HAS})({', '.join(arguments)})"
    if function == "same letters":
        return f"({_SAME_LETTERS})({', '.join(arguments)})"
    if function == "java text":
        return f"({JAVA_TEXT})({arguments[0]})"
    if function == "computed text":
        value, *others = arguments
        if not others:
            return f"({JAVA_TEXT})({value})"
        double = f"[{', '.join(dict.fromkeys(others))}].some({_DOUBLE})"
        return f"({JAVA_TEXT})({value}, {'true' if '0.5' in others else double})"
    if function == "or null":
        return f"({arguments[0]} ?? null)"
    if function == "type":
        return f"typeof {arguments[0]}"
    if function == "is list":
        return f"Array.isArray({arguments[0]})"
    if function == "is true":
        return f"/^true$/i.test({arguments[0]})"
    if function == "item":
        return f"[].concat({arguments[0]})[{int(arguments[1]) - 1}]"
    if function == "part":
        name = arguments[1]
        plain = _plain_name(json.loads(name)) if name[:1] == '"' else False
        end = f".{json.loads(name)}" if plain else f".[{name}]"
        return f"{arguments[0]}?{end}"
    if function == "text":
        return f'[{", ".join(arguments)}].map((v) => v ?? "").join("")'
    if function == "json":
        return f'((v) => (typeof v === "string" ? JSON.parse(v) : v))({arguments[0]})'
    if function == "written json":
        return f"JSON.stringify({arguments[0]})"
    if function == "escaped json":
        return f"JSON.stringify({arguments[0]}).replace{_ESCAPED}"
    if function == "json text":
        return f"({_JSON_TEXT})({arguments[0]})"
    if function in _OF_REQUESTS:
        return f"({_OF_REQUESTS[function]})({', '.join(arguments)})"
    if function == "list":
        return f"[{', '.join(arguments)}]"
    if function == "map":
        pairs = zip(arguments[::2], arguments[1::2], strict=True)
        return f"({{ {', '.join(f'[{name}]: {value}' for name, value in pairs)} }})"
    receiver, *others = arguments
    if function == "strip":
        return f'({receiver}).replace({_STRIP}, "")'
    if function == "concat":
        return f"({receiver} + {others[0]})"
    if function == "length":
        return f"({receiver}).length"
    if function == "count":
        return f"Object.keys({receiver}).length"
    if function == "append":
        return f"[...({receiver}), {others[0]}]"
    if function in _HELPERS:
        return f"({_HELPERS[function]})({receiver})"
    if function == "entry":
        return f"({receiver})[{others[0]}]"
    if function in _METHODS:
        return f"({receiver}).{_METHODS[function]}({', '.join(others)})"
    size = f"((v) => (v.length === undefined ? Object.keys(v) : v).length)({receiver})"
    return size if function == "size" else f"({size} === 0)"


def _constant(value: bool | int | float | str | None) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return js_string(value) if isinstance(value, str) else repr(value)
