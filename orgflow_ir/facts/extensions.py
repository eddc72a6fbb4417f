"""Extension data of vendors as statements that people read.

The vocabulary of process engines defines how work is done, so all of it counts. Data of other tools
counts only if a person wrote it: attributes that an organisation defines, owners, texts. Colours,
fonts, positions and settings of an editor have no meaning for the process.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from orgflow_ir.model import CallActivity, Element, Event, Loop, Task
from orgflow_ir.model.binding_text import Statement, binding_statements
from orgflow_ir.model.bindings import ENGINES, says_binding
from orgflow_ir.model.element_names import one_line
from orgflow_ir.model.value import Extra

SETTING = "settings"
FOREIGN = "data of other tools"

BPMN = "http://www.omg.org/spec/BPMN/20100524/MODEL"
_EXTRA_ENGINES = frozenset((*ENGINES, "http://www.camunda.com/fox", "http://fixflow.org/bpmn"))
_SILENT = (
    "http://www.w3.org/",  # names of namespaces, places of schemas, languages
    "http://www.omg.org/spec/BPMN/20100524/DI",
    "http://www.omg.org/spec/DD/",
    "http://www.omg.org/spec/BPMN/non-normative/",  # colours, and names in other languages
    "http://bpmn.io/schema/bpmn/",
    "http://camunda.org/schema/modeler/",
    "http://www.w4.eu/spec/BPMN/20110930/GRAPH",
    "urn:orgflow",
)
"""Prefixes of namespaces that describe the diagram of a model, or the program that wrote it."""

_STRUCTURE = frozenset(
    (
        # parts that are modelled and kept for writing, or the defaults of the specification
        "id", "type", "extension", "exporter", "exporterVersion", "targetNamespace",
        "expressionLanguage", "typeLanguage", "import", "collaboration", "relationship",
        "documentation", "default", "incoming", "outgoing", "laneSet", "isInterrupting",
        "cancelActivity", "parallelMultiple", "triggeredByEvent", "instantiate", "isCollection",
        "itemSubjectRef", "conditionExpression", "script", "scriptFormat", "isImmediate",
        "isClosed", "processType", "category", "categoryValueRef", "gatewayDirection",
        "completionQuantity", "startQuantity", "isForCompensation", "textFormat", "sourceRef",
        "targetRef", "dataInputAssociation", "dataOutputAssociation", "inputSet", "outputSet",
        "supports", "definitionalCollaborationRef", "eventDefinitionRef", "inputDataItem",
    )
)  # fmt: skip
"""BPMN's own words in extension data that another statement contains, or that mean nothing to
people."""

_KINDS = (
    "http-connector", "soap-http-connector", "mail-send", "external", "http", "mail", "Rest",
    "Email", "TaskName",
    "requestUrl", "requestMethod", "requestBody", "requestHeaders", "responseVariableName",
    "ContentData", "Content", "Body", "payload",
)  # fmt: skip
"""Words that identify the kind of a binding, and vendors' names for its fields."""
_JOBS = ("io.camunda:http-json", "io.camunda:sendgrid", "io.camunda:email")
"""Types of jobs that are such kinds, without their versions."""
_PARTS = ("queryParameters.", "to.", "from.", "content.", "data.smtpAction.")
"""Beginnings of the names of inputs of such jobs."""

_EDITOR = ("diagramRelationId", "modelerTemplateIcon")
"""Words in the namespaces of engines that only their editors read."""

_NAMES = ("metaKey", "key", "name", "Name", "label")
_VALUES = ("metaValue", "value", "Value", "stringValue", "expression")
_KNOWN = frozenset((*_NAMES, *_VALUES))
# Compiled where a model first needs them: `re` keeps what it compiled.
_ID = r"(?i)(?:id|ref|type)$"
_DRAWN = (
    r"(?i)colou?r|width|height|font|opacity|margin|padding|background|foreground|border|icon|image"
    r"|thumbnail|stencil|template(?!text)|style|position|coordinate|collapsed|read_?only|sheetid"
    r"|signaviolabel|hyperlinks|visuali|conformance|translation|representation|guid|uuid|checksum|version|creationdate|modificationdate|created|modified|changed"
)
_CODED = (
    r"(?i)#?[0-9a-f]{6,8}|[\d.,;\s-]*|true|false|null|none|default|\[\]|\{\}"
    r"|_?\{?[0-9a-f]{8}-[0-9a-f-]{20,}\}?|sid-[0-9a-f-]+|automatic|no (?:entry|change)"
)
_TAG = r"<([\w.-]+:)?([\w.-]+)((?:\s+[\w:.-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*)\s*/?>([^<]*)"
_ATTRIBUTE = r"""([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')"""
_CDATA = r"(?s)<!\[CDATA\[(.*?)\]\]>"
_COMMENT = r"(?s)<!--.*?-->"
_MARKUP = r"<[^>]*>"


def extension_statements(
    element: Element, names: Mapping[str, str] | None = None
) -> Iterator[Statement]:
    """The statements in the extension data of an element, its event definitions and its loop,
    except those that its binding already contains; `names` maps ids of root elements to names."""
    bound = ""
    if isinstance(element, Task | CallActivity | Event) and element.binding is not None:
        bound = " ".join(
            f"{s.what} {s.label} {s.text}" for s in binding_statements(element)
        ).lower()
    names = names or {}
    yield from _list_statements(element.extra, bound, names)
    if isinstance(element, Event):
        for definition in element.definitions:
            yield from _list_statements(definition.extra, bound, names)
    loop = getattr(element, "loop", None)
    if loop is not None:
        yield from loop_extensions(loop, names)


def loop_extensions(loop: Loop, names: Mapping[str, str] | None = None) -> Iterator[Statement]:
    """The statements in the extension data of a repetition marker."""
    yield from _list_statements(loop.extra, "", names or {})


def _list_statements(extra: Extra, bound: str, names: Mapping[str, str]) -> Iterator[Statement]:
    for key, value in extra:
        attribute = key.startswith("@")
        namespace, _, name = key.removeprefix("@").removeprefix("{").rpartition("}")
        if namespace.startswith(_SILENT):
            continue
        if namespace == BPMN:
            statement = _of_bpmn(name, value, attribute, bound, names)
        elif namespace in _EXTRA_ENGINES:
            statement = _of_engine(key, name, value, attribute, bound)
        else:
            statement = _of_tool(name, value, attribute)
        if statement is not None:
            yield statement


def _of_bpmn(
    name: str, value: str, attribute: bool, bound: str, names: Mapping[str, str]
) -> Statement | None:
    """A word of the specification that the IR has no field for."""
    if name in _STRUCTURE or value.startswith("##"):
        return None
    if attribute:
        known = value.lower() in bound
        value = names.get(value.rpartition(":")[2], value)
        return None if known else Statement(SETTING, name, one_line(value))
    if name in ("ioSpecification", "dataInput", "dataOutput", "property"):
        names_there = [a["name"] for _, a, _ in list_tags(value) if a.get("name")]
        names_there = [n for n in names_there if n.lower() not in bound and n not in _KINDS]
        names_there = [n for n in names_there if n[:2] != "__"]  # placeholders of an editor
        return (
            Statement(SETTING, _IO.get(name, name), ", ".join(names_there)) if names_there else None
        )
    words = [names.get(w.rpartition(":")[2], w) for w in _list_words(value, but=_OWN)]
    words = [w for w in words if w.lower() not in bound]
    return Statement(SETTING, name, one_line(" ".join(words))) if words else None


_OWN = ("id", "name")
"""Attributes that an editor gives to a performer."""
_IO = {"ioSpecification": "inputs and outputs", "dataInput": "input", "dataOutput": "output"}


def _of_engine(key: str, name: str, value: str, attribute: bool, bound: str) -> Statement | None:
    words = [value.strip()] if attribute else _list_words(value)
    if not words or name in _EDITOR:
        return None
    if bound and says_binding(key) and all(_is_in(word, bound) for word in words):
        return None
    return Statement(SETTING, name, one_line(value if attribute else attribute_text(value)))


def _is_in(word: str, bound: str) -> bool:
    """Whether a binding, as text, contains a word; dots and other signs do not matter."""
    if word in _KINDS or word.startswith((*_JOBS, *_PARTS)) or word.lower() in bound:
        return True
    plainly = " ".join(re.findall(r"\w+", word.lower()))
    return bool(plainly) and plainly in " ".join(re.findall(r"\w+", bound))


def _of_tool(name: str, value: str, attribute: bool) -> Statement | None:
    """What a person wrote into another tool; nothing where its editor wrote it."""
    if attribute:
        written = _is_written(name, value)
        return Statement(FOREIGN, name, one_line(value)) if written else None
    parts = []
    within = name  # the named element around one that holds its value
    for tag, attributes, text in list_tags(value):
        if re.search(_DRAWN, tag) is not None:
            continue
        label = next((attributes[n] for n in _NAMES if attributes.get(n)), "")
        within = label or within
        label = label or (within if tag.lower() in ("value", "content", "text") else tag)
        values = [attributes[n] for n in _VALUES if attributes.get(n)] or [text]
        named = [(label, v) for v in values]
        others = [
            (k, v) for k, v in attributes.items() if k not in _KNOWN and not re.search(_ID, k)
        ]
        only = label in ("", tag) and not any(v.strip() for v in values)
        # beside a name or a value, single words are a tool's own
        named += [(k, v) for k, v in others if only or " " in v.strip()]
        parts += [
            f"{k}: {one_line(strip_tags(v))}" if k != name else one_line(strip_tags(v))
            for k, v in named
            if _is_written(k, v)
        ]
    return Statement(FOREIGN, name, "; ".join(parts)) if parts else None


def _is_written(name: str, value: str) -> bool:
    folded = value.strip()
    if not folded or re.search(_DRAWN, name) is not None:
        return False
    return re.fullmatch(_CODED, folded) is None


def strip_tags(text: str) -> str:
    """The text without its HTML tags, if it has any."""
    return re.sub(_MARKUP, " ", text) if "<" in text else text


def list_tags(xml: str) -> Iterator[tuple[str, dict[str, str], str]]:
    """Each element's name, its attributes, and the text after its start tag."""
    xml = re.sub(_COMMENT, "", re.sub(_CDATA, lambda m: _escape_text(m[1]), xml))
    for _, name, attributes, text in re.findall(_TAG, xml):
        attribute_values = {
            key.rpartition(":")[2]: _unescape_text(double_quoted or single_quoted)
            for key, double_quoted, single_quoted in re.findall(_ATTRIBUTE, attributes)
            if not key.startswith("xmlns")
        }
        yield name, attribute_values, _unescape_text(text).strip()


# Not those of xml.sax.saxutils, which loads the clients of HTTP, TLS and e-mail.
_REFERENCES = (
    ("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"), ("&#34;", '"'), ("&#39;", "'"),
    ("&#xA;", "\n"), ("&#10;", "\n"), ("&amp;", "&"),
)  # fmt: skip
"""XML references and the characters they stand for; `&amp;` is last, because its result is text."""


def _escape_text(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _unescape_text(text: str) -> str:
    if "&" in text:
        for reference, character in _REFERENCES:
            text = text.replace(reference, character)
    return text


def _list_words(xml: str, but: Collection[str] = ()) -> list[str]:
    """The values in an element: those of attributes other than `but`, and texts."""
    words_there = []
    for _, attributes, text in list_tags(xml):
        words_there += [*(v for k, v in attributes.items() if k not in but), *text.splitlines()]
    return [word.strip() for word in words_there if word.strip()]


def attribute_text(xml: str, but: Collection[str] = ()) -> str:
    """Attributes other than `but`, and texts, of an element in a readable form: `action = update;
    event=start class=org.acme.Log`."""
    parts_there = []
    for _, attributes, text in list_tags(xml):
        attributes = {k: v for k, v in attributes.items() if k not in but}
        named = next((n for n in _NAMES if n in attributes), None)
        valued = next((n for n in _VALUES if n in attributes), None)
        parts = [f"{k}={v}" for k, v in attributes.items() if k not in (named, valued)]
        if named is not None:
            value = attributes.get(valued or "", "") or text
            parts.insert(0, f"{attributes[named]} = {value}" if value else attributes[named])
        else:
            parts += [f"{valued}={attributes[valued]}"] if valued else []
            parts += [text] if text else []
        if parts:
            parts_there.append(" ".join(parts))
    return "; ".join(parts_there)
