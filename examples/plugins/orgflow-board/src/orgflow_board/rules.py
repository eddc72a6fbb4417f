"""What can be wrong with a whiteboard text. The codes of this package begin with BOARD."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class NotUtf8(Rule):
    """
    What it finds
        A file that is not text in UTF-8.
    Why it is wrong
        Its words cannot be told.
    Example
        A file saved in UTF-16.
    Instead
        Save it in UTF-8.
    """

    code = "BOARD001"
    name = "not-utf-8"
    severity = Severity.ERROR
    category = Category.INPUT


class NoProcessLine(Rule):
    """
    What it finds
        A text whose first line is not `process` and a name.
    Why it is wrong
        It is probably in another format.
    Example
        do Check order
    Instead
        process Order
        do Check order
    """

    code = "BOARD002"
    name = "no-process-line"
    severity = Severity.ERROR
    category = Category.INPUT


class UnknownWord(Rule):
    """
    What it finds
        A line that begins with none of the words of the language.
    Why it is wrong
        Leaving the line out would compile something else than was written.
    Example
        perform Check order
    Instead
        do Check order
    """

    code = "BOARD003"
    name = "unknown-word"
    severity = Severity.ERROR
    category = Category.INPUT


class OddIndent(Rule):
    """
    What it finds
        A line that is set in where nothing is open, or by tabs, or too deep.
    Why it is wrong
        It is not clear which branch the line belongs to.
    Example
        do Check order
            do Ship order
    Instead
        do Check order
        do Ship order
    """

    code = "BOARD004"
    name = "odd-indent"
    severity = Severity.ERROR
    category = Category.INPUT


class TooFewBranches(Rule):
    """
    What it finds
        `choose` or `together` with fewer than two branches.
    Why it is wrong
        There is nothing to choose, and nothing that goes on side by side.
    Example
        choose Approved?
          Yes
            do Confirm
    Instead
        choose Approved?
          Yes
            do Confirm
          No
            end Rejected
    """

    code = "BOARD005"
    name = "too-few-branches"
    severity = Severity.ERROR
    category = Category.INPUT


class AfterTheEnd(Rule):
    """
    What it finds
        A line after an `end`, or after branches that have all ended.
    Why it is wrong
        No run ever comes there.
    Example
        end Done
        do Ship order
    Instead
        do Ship order
        end Done
    """

    code = "BOARD006"
    name = "after-the-end"
    severity = Severity.ERROR
    category = Category.INPUT


class LateStart(Rule):
    """
    What it finds
        A `start` that is not the first line of the process, or one without steps after it.
    Why it is wrong
        The language has one start, where the process begins.
    Example
        do Check order
        start Order received
    Instead
        start Order received
        do Check order
    """

    code = "BOARD007"
    name = "late-start"
    severity = Severity.ERROR
    category = Category.INPUT


RULES = (NotUtf8, NoProcessLine, UnknownWord, OddIndent, TooFewBranches, AfterTheEnd, LateStart)
