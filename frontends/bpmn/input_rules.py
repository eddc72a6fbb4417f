"""Rules about files that cannot be read as BPMN at all: OF010 to OF018."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class NotWellFormed(Rule):
    """
    What it finds
        A file that is not well-formed XML: a tag that is not closed, a stray `&` or `<`, a null
        byte, bytes that are not in the declared encoding, a file that was cut off.
    Why it is wrong
        Whatever stands behind the fault would have to be guessed.
    Example
        <task id="a" name="Sales & Marketing"/>
    Instead
        <task id="a" name="Sales &amp; Marketing"/>, or export the file again from the modeller.
    """

    code = "OF010"
    name = "not-well-formed"
    severity = Severity.ERROR
    category = Category.INPUT


class EmptyInput(Rule):
    """
    What it finds
        A file without any content.
    Why it is wrong
        There is no model in it; mostly an export or a download failed.
    Example
        A file of 0 bytes, or of white space only.
    Instead
        Export the model again.
    """

    code = "OF011"
    name = "empty-input"
    severity = Severity.ERROR
    category = Category.INPUT


class NotBpmn(Rule):
    """
    What it finds
        A file that is something other than BPMN 2.0: XPDL, DMN, a picture, a web page, JSON …
    Why it is wrong
        The BPMN frontend cannot read it; the message says what it seems to be.
    Example
        <Package xmlns="http://www.wfmc.org/2009/XPDL2.2">…</Package>
    Instead
        Export as "BPMN 2.0 XML", or name the right frontend with --from.
    """

    code = "OF012"
    name = "not-bpmn"
    severity = Severity.ERROR
    category = Category.INPUT


class ForbiddenDoctype(Rule):
    """
    What it finds
        A document type declaration with declarations of its own or with a reference to a file.
    Why it is wrong
        BPMN has no use for one. Entities can blow a small file up to gigabytes or pull other files
        and addresses in, so nothing of it is read or fetched.
    Example
        <!DOCTYPE definitions [<!ENTITY a "aaaaaaaa"> <!ENTITY b "&a;&a;&a;&a;">]>
    Instead
        Delete the `<!DOCTYPE …>` and write the text of the entities where they are used.
    """

    code = "OF013"
    name = "forbidden-doctype"
    severity = Severity.ERROR
    category = Category.INPUT


class TooDeep(Rule):
    """
    What it finds
        Elements nested deeper than the limit (256 unless option `max_depth` says otherwise), or
        more than 80 sub-processes in each other.
    Why it is wrong
        No model of people's work is nested like that; such files are made to exhaust memory.
    Example
        300 sub-processes, each in the one before.
    Instead
        Move inner sub-processes to processes of their own and call them, or raise the limit.
    """

    code = "OF014"
    name = "too-deep"
    severity = Severity.ERROR
    category = Category.INPUT


class TooLarge(Rule):
    """
    What it finds
        A file over the limit of size (64 MiB unless option `max_bytes` says otherwise), of
        elements (a million, `max_elements`), or with a single tag or comment of over 4 MiB.
    Why it is wrong
        Reading it could exhaust the memory of the machine.
    Example
        A model with scanned documents embedded in its extension elements.
    Instead
        Take embedded pictures and documents out, or raise the limit.
    """

    code = "OF015"
    name = "too-large"
    severity = Severity.ERROR
    category = Category.INPUT


class UnsupportedEncoding(Rule):
    """
    What it finds
        A character encoding that is unknown or that the XML parser cannot read.
    Why it is wrong
        The text of the model would come out as nonsense.
    Example
        <?xml version="1.0" encoding="Shift_JIS"?>
    Instead
        Save the file as UTF-8. UTF-16, ISO-8859-1 and all single-byte encodings are read too.
    """

    code = "OF016"
    name = "unsupported-encoding"
    severity = Severity.ERROR
    category = Category.INPUT


class WrongNamespace(Rule):
    """
    What it finds
        Elements that are plainly BPMN but in no namespace or in another than that of BPMN 2.0.
    Why it is wrong
        Other tools refuse such a file or read it as empty; here it is read as BPMN 2.0.
    Example
        <definitions xmlns="http://www.omg.org/spec/BPMN/2.0">…</definitions>
    Instead
        <definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL">…</definitions>
    """

    code = "OF017"
    name = "wrong-namespace"
    severity = Severity.WARNING
    category = Category.INPUT


class UnboundPrefix(Rule):
    """
    What it finds
        A prefix in a tag or attribute that no `xmlns:` declares.
    Why it is wrong
        What the name means is not known; it is kept under the prefix itself as its namespace.
    Example
        <task id="a" acme:cost="3"/> without xmlns:acme="…"
    Instead
        Declare the prefix on the root element.
    """

    code = "OF018"
    name = "unbound-prefix"
    severity = Severity.WARNING
    category = Category.INPUT


INPUT_RULES: tuple[type[Rule], ...] = (
    NotWellFormed,
    EmptyInput,
    NotBpmn,
    ForbiddenDoctype,
    TooDeep,
    TooLarge,
    UnsupportedEncoding,
    WrongNamespace,
    UnboundPrefix,
)
