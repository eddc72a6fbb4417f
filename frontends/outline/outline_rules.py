"""Rules about outlines: OF076 to OF079."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class NotOutline(Rule):
    """
    What it finds
        A file of the format `outline` without a line that happens: a step, an event, a block.
    Why it is wrong
        It contains no process.
    Example
        # only a comment
    Instead
        check order | clerk
        ship order | warehouse
    """

    code = "OF076"
    name = "not-an-outline"
    severity = Severity.ERROR
    category = Category.INPUT


class MisreadOutline(Rule):
    """
    What it finds
        A line of an outline that is in the wrong place, that never runs, that has two fields of one
        kind, or an event that is none.
    Why it is wrong
        Its meaning is unclear. The model would not have it, or would have another one.
    Example
        if: in stock
          ship order
    Instead
        choose: in stock?
          if: in stock
            ship order
    """

    code = "OF077"
    name = "misread-outline"
    severity = Severity.ERROR
    category = Category.INPUT


class EndedBranch(Rule):
    """
    What it finds
        `end:` or `leave:` in a branch of `together:`.
    Why it is wrong
        What follows `together:` waits for every branch, so it would wait forever.
    Example
        together:
          row:
            check order
            end: refused
          pack goods
    Instead
        check order
        choose: order valid?
          if: refused
            end: refused
          else:
            pack goods
    """

    code = "OF078"
    name = "ended-branch"
    severity = Severity.ERROR
    category = Category.INPUT


class UnknownLine(Rule):
    """
    What it finds
        A reference without a target: `go to:` or `after` with an id that no line has, an id of two
        lines, `leave:` outside of `repeat:`, branches that wait for each other.
    Why it is wrong
        It is undefined where the process goes on.
    Example
        pay invoice | clerk
        go to: #check
    Instead
        check invoice | clerk | #check
        pay invoice | clerk
        go to: #check
    """

    code = "OF079"
    name = "unknown-line"
    severity = Severity.ERROR
    category = Category.INPUT
