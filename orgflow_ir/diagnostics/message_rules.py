"""Rules about messages (OF020 to OF021): what could not be read from mailboxes and chats."""

from __future__ import annotations

from orgflow_ir.diagnostics.rule import Category, Rule, Severity


class SkippedMessage(Rule):
    """
    What it finds
        A message of a mailbox, an export or a table that cannot be read.
    Why it is wrong
        It is not in the store: no search finds it, and no discovered process rests on it. All
        others are read.
    Example
        A line of a JSON lines file that was cut off in the middle.
    Instead
        Export the messages again, or repair the file at the line that is named; `ingest` then adds
        what is missing.
    """

    code = "OF020"
    name = "skipped-message"
    severity = Severity.WARNING
    category = Category.INPUT


class UnknownMessages(Rule):
    """
    What it finds
        A file or a folder that is in no format of messages that orgflow reads, or a table whose
        columns do not tell which one holds the text.
    Why it is wrong
        Nothing of it is read.
    Example
        orgflowc ingest letters.docx
    Instead
        Name the format (--from mbox, maildir, eml, slack, teams, whatsapp, transcript, jsonl or
        csv) and, for tables, the columns (--map body=COLUMN).
    """

    code = "OF021"
    name = "unknown-messages"
    severity = Severity.ERROR
    category = Category.INPUT


MESSAGE_RULES: tuple[type[Rule], ...] = (SkippedMessage, UnknownMessages)
