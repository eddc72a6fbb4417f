"""Rules about event logs (OF660 to OF667): files that are no logs, faults in them, and limits."""

from __future__ import annotations

from orgflow_ir.diagnostics.rule import Category, Rule, Severity


class UnreadableEventLog(Rule):
    """
    What it finds
        A file that is not an event log, is damaged, exceeds a limit, or does not state which of its
        columns or objects are the cases.
    Why it is wrong
        No process can be mined from it.
    Example
        orgflowc discover --traces report.pdf
    Instead
        Export the log as XES, CSV or OCEL 2.0. For a table, name its columns: --map case=COLUMN
        --map activity=COLUMN --map time=COLUMN.
    """

    code = "OF660"
    name = "unreadable-event-log"
    severity = Severity.ERROR
    category = Category.INPUT


class SkippedEvent(Rule):
    """
    What it finds
        An event of a log that has no case or no activity, or of which a value cannot be read.
    Why it is wrong
        An event without a case or an activity is left out, and its case seems to skip a step. Other
        events are kept without the value.
    Example
        A row of a CSV file with an empty activity.
    Instead
        Repair the export at the reported line.
    """

    code = "OF661"
    name = "skipped-event"
    severity = Severity.WARNING
    category = Category.INPUT


class ClockFault(Rule):
    """
    What it finds
        An event whose time is missing, implausible, in an unknown notation, or earlier than that of
        the event before it although the log is in the order of time.
    Why it is wrong
        The order of the events of a case decides the order of the steps of the process, and wrong
        times distort durations.
    Example
        Two systems write into one log, and their clocks differ by an hour.
    Instead
        Correct the times in the export. A few such events do not matter: they are below the noise
        threshold.
    """

    code = "OF662"
    name = "clock-fault"
    severity = Severity.WARNING
    category = Category.INPUT


class DuplicateEvent(Rule):
    """
    What it finds
        An event that is listed twice in its case, with the same values.
    Why it is wrong
        It would be a repetition that did not happen. It counts once.
    Example
        An export that joins two tables and repeats rows.
    Instead
        Remove the duplicates from the export, or ignore the warning.
    """

    code = "OF663"
    name = "duplicate-event"
    severity = Severity.WARNING
    category = Category.INPUT


class HalfCase(Rule):
    """
    What it finds
        A case that ends or begins with an activity with which fewer than 5 % of the cases with this
        activity do, or an activity that was started and not completed.
    Why it is wrong
        Such a case was cut off by the period of the export, or is still open. It is no evidence
        that the process may end there. The noise threshold usually leaves it out.
    Example
        A log of January in which cases that began in December lack their first events.
    Instead
        Export complete cases only, or ignore the finding.
    """

    code = "OF664"
    name = "half-case"
    severity = Severity.INFO
    category = Category.INPUT


class NoEvents(Rule):
    """
    What it finds
        A log without events.
    Why it is wrong
        There is nothing to mine.
    Example
        A CSV file with a header only.
    Instead
        Export the log again.
    """

    code = "OF665"
    name = "no-events"
    severity = Severity.ERROR
    category = Category.INPUT


class BoundedAlignment(Rule):
    """
    What it finds
        A model with too many states to compare with a log, or cases that are too far from the
        model.
    Why it is wrong
        The figures leave these cases out.
    Example
        A model with ten parallel branches of ten steps each.
    Instead
        Compare a part of the model, or increase the limit: --most-states N.
    """

    code = "OF666"
    name = "bounded-alignment"
    severity = Severity.WARNING
    category = Category.FLOW


class UnknownActivity(Rule):
    """
    What it finds
        An activity of a log that is no task of the model, by its name.
    Why it is wrong
        Each of its events counts as a deviation.
    Example
        The log has `Check invoice`, and the model `Verify invoice`.
    Instead
        Rename the task in the model or the activity in the log, if both are the same.
    """

    code = "OF667"
    name = "unknown-activity"
    severity = Severity.WARNING
    category = Category.INPUT


LOG_RULES: tuple[type[Rule], ...] = (
    UnreadableEventLog, SkippedEvent, ClockFault, DuplicateEvent, HalfCase, NoEvents,
    BoundedAlignment, UnknownActivity,
)  # fmt: skip
