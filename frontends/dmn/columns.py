"""Output columns of engines that convert a cell to the type of its column.

Camunda 7 and Flowable convert `5` in a column of strings to the text "5", whereas the result in
FEEL is null.
"""

from __future__ import annotations

import re

from orgflow.frontends.xml.tree import XmlElement

from orgflow_ir.decisions.model import Engine

_NAMESPACES: tuple[tuple[str, Engine], ...] = (
    ("http://camunda.org/schema/1.0/dmn", "camunda7"), ("http://operaton.org/", "camunda7"),
    ("http://flowable.org/", "flowable"), ("http://www.flowable.org/", "flowable"),
    ("http://activiti.", "flowable"), ("http://www.activiti.", "flowable"),
)  # fmt: skip
"""Beginnings of the namespaces that are specific to these engines."""

_PLATFORMS: dict[str, Engine] = {"Camunda Platform": "camunda7", "Camunda Cloud": "camunda8"}
"""Values of Camunda Modeler's `executionPlatform`."""

_WHOLE, _NUMBERS = ("integer", "long"), ("integer", "long", "double", "number")
_NUMBER = r"-?\d{1,15}(?:\.\d{1,6})?"
_NAME = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"


def engine_of(root: XmlElement) -> Engine | None:
    """The engine of a DMN file: by its namespaces, including its own, and by the platform that
    Camunda Modeler records."""
    platform = [v for k, v in root.attrs.items() if k.endswith(":executionPlatform")]
    if platform:
        return _PLATFORMS.get(platform[0])
    texts = (*root.scope.prefixes.values(), root.attrs.get("namespace", ""))
    return next((e for text in texts for start, e in _NAMESPACES if text.startswith(start)), None)


def column_type(type_ref: str | None, cells: list[str]) -> str | None:
    """The type of a column in FEEL: engines also have `integer`, `long` and `double`. A column of
    integers with a non-integer cell keeps its type, which FEEL does not have."""
    if type_ref not in _NUMBERS:
        return type_ref
    whole = not any(re.fullmatch(r"\s*-?\d*\.\d+\s*", cell) for cell in cells)
    return "number" if whole or type_ref not in _WHOLE else type_ref


def convert_cell(cell: str, type_ref: str | None, engine: Engine | None) -> str:
    """A cell of an output column as its engine converts it, in FEEL; unchanged without a known
    conversion.

    Example:
        converted("5", "string", "flowable") == '"5"'
    """
    text = cell.strip()
    if engine not in ("camunda7", "flowable") or not text or text == "-":
        return cell
    if type_ref == "string":
        if re.fullmatch(_NUMBER, text):
            written = _number_text(text, engine)
            return cell if written is None else f'"{written}"'
        if text in ("true", "false"):
            return f'"{text}"'
        return f"string({text})" if re.fullmatch(_NAME, text) and text != "null" else cell
    quoted = re.fullmatch(r'"\s*([^"\\]*?)\s*"', text)
    if quoted is not None and type_ref in _NUMBERS and re.fullmatch(_NUMBER, quoted[1]):
        return quoted[1]
    if quoted is not None and type_ref == "boolean":
        return str(quoted[1].lower() == "true").lower()
    return cell


def _number_text(number: str, engine: Engine) -> str | None:
    """The text that Java makes of a number: of a whole one with a point, `5.0`, Flowable makes
    "5.0" and Camunda 7 "5". `None` for small ones, which Java writes with an exponent."""
    sign, digits = ("-", number[1:]) if number.startswith("-") else ("", number)
    whole, point, rest = digits.partition(".")
    whole, rest = whole.lstrip("0") or "0", rest.rstrip("0")
    if not point:
        return (sign if whole != "0" else "") + whole
    if len(whole) > 7 or (whole == "0" and rest.startswith("000")):
        return None
    if rest:
        return f"{sign}{whole}.{rest}"
    return f"{sign}{whole}.0" if engine == "flowable" else whole if whole == "0" else sign + whole
