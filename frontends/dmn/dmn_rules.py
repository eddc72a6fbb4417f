"""Rules of reading DMN."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class UnreadableDmn(Rule):
    """
    What it finds
        A DMN file that is not XML, has no definitions of DMN 1.1 to 1.5, or contains elements that
        DMN does not define.
    Why it is wrong
        Nothing can be read from it.
    Example
        A decision table whose hit policy is `SOMETIMES`.
    Instead
        Export the file again from the tool that made it.
    """

    code = "OF146"
    name = "unreadable-dmn"
    severity = Severity.ERROR
    category = Category.MALFORMED
