"""`orgflowc ingest`: read mail, chats and call transcripts into a store."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from orgflow.commands.completion_values import FILE
from orgflow.commands.options import DiagnosticsOptions, diagnostics_options, parsed_into
from orgflow.commands.output import write_stdout
from orgflow.commands.progress import progress_bar
from orgflow.commands.session import Session, end_command, exit_code
from orgflow.commands.stores import create_store, local_folder, readable_by_others
from orgflow.compilation.usage_errors import suggest_name
from orgflow.frontends.messages import message_paths, table

from orgflow_ir.diagnostics.core_rules import UnreadableInput
from orgflow_ir.diagnostics.message_rules import (
    IncompleteMessage,
    SkippedMessage,
    UnknownMessages,
    UnusedColumns,
)  # fmt: skip
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model.message import BrokenMessage, Message, Person
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.services import Progress
from orgflow_ir.plugins.message_stores import MessageStorage, StoreError

if TYPE_CHECKING:  # to delete messages only
    from orgflow.agents.discovery import decisions, journal
    from orgflow.store import forgetting
else:
    decisions = LazyModule("orgflow.agents.discovery.decisions")
    journal = LazyModule("orgflow.agents.discovery.journal")
    forgetting = LazyModule("orgflow.store.forgetting")

DEFAULT_STORE = "orgflow-messages"
"""The default folder of the store."""

SHOWN = 1000
"""Maximum number of skipped messages that are reported one by one; the others are only counted."""


NAMED = 5
"""Maximum number of files that still contain deleted messages and are named; the others are only
counted."""


class IngestOptions(DiagnosticsOptions):
    """The options of `ingest`."""

    paths: tuple[str, ...]
    folder: str
    from_: str | None
    mapping: tuple[str, ...]
    forget: tuple[str, ...]
    keep_since: str | None
    keep_days: int | None


@click.command("ingest", short_help="Read mail, chats and call transcripts into a store.")
@click.argument("paths", metavar="PATH...", nargs=-1, type=FILE)
@click.option(
    "--store",
    "folder",
    metavar="DIR|URL",
    default=DEFAULT_STORE,
    help="Folder of the store, or postgresql://… of a database; it is created if it does not "
    f"exist. [default: {DEFAULT_STORE}]",
)
@click.option(
    "--from", "from_", metavar="FORMAT", help="Format of the messages. [default: detected]"
)
@click.option(
    "--map",
    "mapping",
    metavar="FIELD=COLUMN",
    multiple=True,
    help="Column of a table that contains a field (body, date, sender …); repeatable.",
)
@click.option(
    "--forget",
    metavar="PERSON",
    multiple=True,
    help="Delete all messages of a person (address or name) from the store, and the person from "
    "messages of others; repeatable.",
)
@click.option(
    "--keep-since", metavar="DATE", help="Delete all messages older than a date (2026-03-01)."
)
@click.option(
    "--keep-days",
    metavar="DAYS",
    type=click.IntRange(min=1, max=365_000),
    help="Delete all messages older than this number of days.",
)
@diagnostics_options
@parsed_into(IngestOptions)
def command(options: IngestOptions) -> None:
    """Read messages from PATH... into a store.

    PATH is a mailbox (mbox, Maildir, EML), an export of Slack, Teams or WhatsApp, the chat of a
    Zoom meeting, a transcript (VTT, SRT, SBV), a table (JSON lines, CSV), or a folder of such
    files. Messages that are already in the store are not added again. A message that cannot be read
    is reported and skipped.
    """
    _check_options(options)
    columns = dict(_parse_pair(item) for item in options.mapping)
    deletion = _parse_deletion(options)
    session = Session.with_options(options)
    ctx = session.context()
    paths, folder = options.paths, options.folder
    if paths and not any(Path(path).exists() for path in paths):  # no store is made for nothing
        for path in paths:
            _report_unreadable(path, os.strerror(errno.ENOENT), ctx)
        session.collect(ctx)
        session.show()
        end_command(exit_code(session.diagnostics))
    try:
        opened = create_store(folder, session.registry)
    except StoreError as error:
        raise click.UsageError(str(error)) from None
    try:
        with opened as store, progress_bar() as progress:
            lines = _ingest_paths(store, paths, options.from_, columns, ctx, progress)
            if deletion.people or deletion.before is not None:
                lines += _delete_messages(store, folder, deletion)
            counts = store.counts()
    except StoreError as error:
        raise click.ClickException(str(error)) from None
    lines.append(
        f"{folder}: {counts.messages} messages in {counts.conversations} conversations "
        f"of {counts.people} people"
    )
    if readable_by_others(folder):
        session.note(
            f"orgflowc ingest: other users of this machine may read {folder}; to prevent this, "
            f"run chmod -R go= {folder}"
        )
    write_stdout("".join(f"{line}\n" for line in lines))
    session.collect(ctx)
    session.show()
    end_command(exit_code(session.diagnostics))


class _Deletion(NamedTuple):
    """The messages to delete: those of people, and those before a time, which `named` describes."""

    people: tuple[str, ...]
    before: datetime | None
    named: str


def _check_options(options: IngestOptions) -> None:
    """Raises `click.UsageError` for options that cannot be combined, and an unknown format."""
    if options.keep_since is not None and options.keep_days is not None:
        raise click.UsageError("--keep-since and --keep-days both define a date; use one of them")
    deletes = options.forget or options.keep_since is not None or options.keep_days is not None
    if not options.paths and not deletes:
        raise click.UsageError("name a file or a folder with messages")
    if options.from_ is not None and options.from_ not in message_paths.FORMATS:
        hint = suggest_name(options.from_, message_paths.FORMATS)
        raise click.UsageError(f"no format `{options.from_}`; {hint}")


def _parse_deletion(options: IngestOptions) -> _Deletion:
    """The messages to delete. Raises `click.UsageError` for a date that cannot be read."""
    if options.keep_days is not None:
        before = datetime.now(UTC) - timedelta(days=options.keep_days)
        return _Deletion(options.forget, before, f"{before:%Y-%m-%d %H:%M} UTC")
    since = _parse_date(options.keep_since) if options.keep_since is not None else None
    return _Deletion(options.forget, since, options.keep_since or "")


def _delete_messages(store: MessageStorage, folder: str, deletion: _Deletion) -> list[str]:
    """Delete people and old messages, and what is kept beside the store about them; lines about
    it. Raises `click.UsageError`, `StoreError`."""
    people = [_find_people(store, key) for key in deletion.people]
    beside = Path(local_folder(folder))
    decided = beside / decisions.FILE
    # what a language model said of messages goes with them, whatever happens next
    (beside / journal.FILE).unlink(missing_ok=True)
    lines = []

    def forget_in_decisions(clean: Callable[[str], str]) -> None:
        try:
            decisions.forget_decisions(decided, lambda id_: store.message(id_) is not None, clean)
        except decisions.DecisionsError as error:
            lines.append(f"  not changed: {decided}, which {error}; delete it")

    for group, key in zip(people, deletion.people, strict=True):
        left = {p.key: p for p, _, _ in store.people() if any(_has_same_name(p, q) for q in group)}
        done = [store.delete_person(person.key) for person in group]
        for person in group:
            forget_in_decisions(partial(forgetting.remove_person, person))
            left.pop(person.key, None)
        lines.append(
            f"{sum(result.messages for result in done)} messages of {key} deleted, "
            f"mentions removed from {max(result.changed for result in done)} others"
        )
        lines += [
            f"  kept: {name}, who has the same name; --forget '{name}' deletes it" for name in left
        ]
        lines += _list_files(tuple(sorted({file for result in done for file in result.files})))
    if deletion.before is not None:
        number = store.delete_before(deletion.before)
        lines.append(f"{number} messages before {deletion.named} deleted")
        forget_in_decisions(str)
        undated = sum(message.date is None for message in store.messages())
        if undated:
            lines.append(f"  kept: {undated} messages without a date")
    return lines


def _find_people(store: MessageStorage, key: str) -> list[Person]:
    """The person in the store whom an address means, or everybody whom a name means, with and
    without a role behind it; one whom the store does not know may be mentioned by others. Raises
    `click.UsageError` where people with several addresses have the name."""
    wanted = Person(" ".join(key.split())) if "@" not in key else Person("", key.strip())
    people = [
        p for p, _, _ in store.people()
        if p.key == wanted.key or (wanted.name and _has_same_name(p, wanted))
    ]  # fmt: skip
    addresses = sorted({p.address for p in people if p.address})
    if len(addresses) > 1:
        raise click.UsageError(
            f"{len(addresses)} people have the name {key}: {', '.join(addresses)}; use the "
            "address of each"
        )
    return people or [wanted]


def _has_same_name(person: Person, other: Person) -> bool:
    """Whether two people with different keys have the same name, without roles behind it."""
    name = forgetting.bare_name(person.name).lower()
    same = name == forgetting.bare_name(other.name).lower()
    return bool(name) and same and person.key != other.key


def _list_files(files: tuple[str, ...]) -> list[str]:
    """Lines about the files that still hold what was deleted."""
    existing = [file for file in files if os.path.exists(file)]
    if not existing:
        return []
    more = f" and {len(existing) - NAMED} more" if len(existing) > NAMED else ""
    return [f"  not changed: {', '.join(existing[:NAMED])}{more}, which still contain them"]


def _parse_pair(item: str) -> tuple[str, str]:
    field, equals, column = item.partition("=")
    if not equals or not field or not column:
        raise click.UsageError(f"cannot read {item!r}; it is --map FIELD=COLUMN")
    return field, column


def _parse_date(text: str) -> datetime:
    try:
        date = datetime.fromisoformat(text)
        later = date.astimezone(UTC) if date.tzinfo else date.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise click.UsageError(f"cannot read the date {text!r}; write it as 2026-03-01") from None
    if later > datetime.now(UTC):
        raise click.UsageError(f"--keep-since {text} is in the future: no message would be kept")
    return date


def _report_unreadable(path: str, reason: str, ctx: PassContext) -> None:
    ctx.emit(
        UnreadableInput, f"{path} cannot be read: {reason.lower()}", loc=SourceLocation(file=path)
    )


def _report_unused(ctx: PassContext, path: str, columns: tuple[str, ...]) -> None:
    names = ", ".join(f"`{name}`" for name in columns)
    ctx.emit(
        UnusedColumns,
        f"{path}: no field of a message is read from {names}",
        loc=SourceLocation(file=path),
        help=f"read it into a new store with --map FIELD={columns[0]} (a field is one of "
        f"{', '.join(table.FIELDS)})",
    )


def _ingest_paths(
    store: MessageStorage,
    paths: tuple[str, ...],
    from_: str | None,
    mapping: dict[str, str],
    ctx: PassContext,
    progress: Progress,
) -> list[str]:
    """Add what the paths hold; a line about each."""
    lines = []
    for path in paths:
        counted = _Counted(path, ctx, progress)
        before = store.left_out
        try:
            added = store.add(
                counted.messages(
                    message_paths.read_messages(
                        path,
                        format_=from_,
                        mapping=mapping,
                        advance=counted.advance,
                        unused=partial(_report_unused, ctx),
                    )
                )
            )
        except (message_paths.UnknownMessages, table.MappingError) as error:
            ctx.emit(UnknownMessages, str(error), loc=SourceLocation(file=path))
            continue
        except OSError as error:
            _report_unreadable(path, error.strerror or str(error), ctx)
            continue
        left_out = store.left_out - before
        lines.append(
            f"{path}: {added} new messages, {counted.read - added - left_out} known, "
            f"{counted.skipped} skipped"
        )
        if left_out:
            lines.append(
                f"  {left_out} skipped: from forgotten people, or older than the store keeps"
            )
        if counted.skipped > SHOWN:
            ctx.emit(
                SkippedMessage,
                f"{counted.skipped - SHOWN} more messages of {path} are skipped",
                loc=SourceLocation(file=path),
            )
        if counted.incomplete > SHOWN:
            ctx.emit(
                IncompleteMessage,
                f"{counted.incomplete - SHOWN} more messages of {path} are incomplete",
                loc=SourceLocation(file=path),
            )
    if paths:  # also where nothing is new: an ingest may have been killed before it came to this
        store.link()
    return lines


class _Counted:
    """Counts what a reader gives, reports what it skips, and shows how far it is."""

    def __init__(self, path: str, ctx: PassContext, progress: Progress) -> None:
        self.path, self.ctx, self._progress = path, ctx, progress
        self.read = self.skipped = self.incomplete = self._done = 0
        self._total = os.path.getsize(path) if os.path.isfile(path) else 0

    def advance(self, amount: int) -> None:
        self._done += amount
        self._progress(self._done, max(self._total, self._done), self.path)

    def messages(self, items: Iterator[object]) -> Iterator[Message]:
        for item in items:
            self.ctx.services.cancellation.check()
            if isinstance(item, Message):
                self.read += 1
                yield item
            elif isinstance(item, BrokenMessage) and item.kept:
                self.incomplete += 1
                if self.incomplete <= SHOWN:
                    place = SourceLocation(file=item.file, line=item.line or None)
                    self.ctx.emit(IncompleteMessage, f"a message {item.reason}", loc=place)
            elif isinstance(item, BrokenMessage):
                self.skipped += 1
                if self.skipped <= SHOWN:
                    place = SourceLocation(file=item.file, line=item.line or None)
                    self.ctx.emit(SkippedMessage, f"a message {item.reason}", loc=place)
