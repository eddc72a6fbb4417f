"""Rules about files that cannot be read as BPMN at all: OF010 to OF018."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class NotWellFormed(Rule):
    """
    What it finds
        A file that is not well-formed XML: an unclosed tag, a stray `&` or `<`, a null byte, bytes
        that are invalid in the declared encoding, a truncated file.
    Why it is wrong
        Everything after the fault would be a guess.
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
        It contains no model; usually an export or a download failed.
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
        The BPMN frontend cannot read it; the message names the format that it seems to have.
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
        A document type declaration that contains declarations or references a file.
    Why it is wrong
        BPMN does not need one. Entities can expand a small file to gigabytes or load other files
        and addresses, so they are never read or fetched.
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
        Elements nested deeper than the limit (256 by default, option `max_depth`), or more than 80
        levels of nested sub-processes.
    Why it is wrong
        No real process is nested this deeply; such files are designed to exhaust memory.
    Example
        300 sub-processes, each inside the previous one.
    Instead
        Move inner sub-processes into their own processes and call them, or raise the limit.
    """

    code = "OF014"
    name = "too-deep"
    severity = Severity.ERROR
    category = Category.INPUT


class TooLarge(Rule):
    """
    What it finds
        A file that exceeds the limit of size (64 MiB by default, option `max_bytes`) or of elements
        (a million, `max_elements`), or that has a single tag or comment of more than 4 MiB.
    Why it is wrong
        Reading it could exhaust the memory of the machine.
    Example
        A model with scanned documents embedded in its extension elements.
    Instead
        Remove embedded pictures and documents, or raise the limit.
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
        The text of the model would be garbled.
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
        Elements with BPMN names that have no namespace, or a namespace other than that of BPMN 2.0.
    Why it is wrong
        Other tools reject such a file or read it as empty; orgflow reads it as BPMN 2.0.
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
        The meaning of the name is unknown; it is kept with the prefix itself as its namespace.
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
