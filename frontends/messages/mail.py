"""One mail (RFC 5322) as a `Message`: headers, text, attachments, from any client."""

from __future__ import annotations

import email.message
import email.utils
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from email.errors import MessageError
from email.feedparser import FeedParser
from email.header import decode_header
from email.policy import Compat32
from functools import lru_cache
from itertools import count, pairwise
from typing import Any

from orgflow.frontends.messages.html_text import html_text
from orgflow.frontends.messages.quotes import split_quotes
from orgflow.frontends.messages.signed import signed_content
from orgflow.frontends.messages.tnef import read_tnef

from orgflow_ir.model.input_limits import (
    MOST_PARTS,
    MOST_PARTS_DEPTH,
    SMALL_MAIL,
    LimitExceeded,
)
from orgflow_ir.model.message import Attachment, BrokenMessage, Message, Person, content_id
from orgflow_ir.model.records import NamedTuple

MAX_TEXT = 1_000_000
"""Maximum number of characters of one text: a log pasted into a mail is not a message of a
process."""


class _Raw(Compat32):
    """Headers as they stand in the mail, bytes that are not ASCII included."""

    def header_fetch_parse(self, name: str, value: str) -> Any:
        return value


_RAW = _Raw()
_IDS = re.compile(r"<([^<>\s]+)>")
_ADDRESS = re.compile(r"\s*\"?([^\"<>,;:()\\]*?)\"?\s*<\s*([^<>\s,;]+@[^<>\s,;]+)\s*>\s*")
_BARE = re.compile(r"\s*([^<>\s,;:()\"]+@[^<>\s,;:()\"]+)\s*")
_ANY_ADDRESS = re.compile(r"([^<>,;]*?)\s*<\s*([^<>\s,;]+@[^<>\s,;]+)\s*>")
_CHARSETS = {
    "unknown-8bit": "utf-8", "x-unknown": "utf-8", "default": "utf-8", "utf8": "utf-8",
    "ks_c_5601-1987": "cp949", "gb2312": "gb18030", "gbk": "gb18030", "iso-8859-1": "cp1252",
    "us-ascii": "utf-8", "ascii": "utf-8", "iso-8859-8-i": "iso-8859-8", "x-gbk": "gb18030",
    "ansi_x3.110-1983": "cp1252", "utf-8-sig": "utf-8", "iso-2022-jp": "iso2022_jp_ext",
}  # fmt: skip
"""Names of encodings in mails, and the encoding that reads them best: a superset, as in mail
readers."""


class _BoundedParser(FeedParser):
    """The standard library's parser with limits: it compares each line with the boundary of every
    level, and does so recursively."""

    def __init__(self, size: int) -> None:
        super().__init__(policy=_RAW)
        self._parts_left = MOST_PARTS
        self._small = size <= SMALL_MAIL

    def _new_message(self) -> None:
        super()._new_message()  # type: ignore[misc]  # not in the stubs
        self._parts_left -= 1
        check_parts(
            self._parts_left,
            0 if self._small else len(self._msgstack),  # type: ignore[attr-defined]
        )


def check_parts(left: int, depth: int) -> None:
    """Raises `LimitExceeded` for a mail with too many parts, or with parts nested too deep."""
    if depth > MOST_PARTS_DEPTH:
        raise LimitExceeded(f"has parts nested more than {MOST_PARTS_DEPTH} levels deep")
    if left < 0:
        raise LimitExceeded(f"has more than {MOST_PARTS:,} parts")


def _parse_bytes(data: bytes) -> email.message.Message:
    """A mail of any form. Raises `LimitExceeded`."""
    parser = _BoundedParser(len(data))
    parser.feed(data.decode("ascii", "surrogateescape"))
    return parser.close()


class NoMail(ValueError):
    """Bytes that are not a mail; the text gives the reason, as the end of a sentence."""


MAX_DEPTH = 20
"""So many mails are read that are attached to each other."""


def read_mail(data: bytes, file: str, line: int = 0) -> list[Message | BrokenMessage]:
    """The mail in `data`, and the mails that it carries as attachments (`message/rfc822`); after a
    mail of which a part cannot be read, what that is.

    Raises `NoMail`.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data or data.isspace():
        raise NoMail("is empty")
    parsed = _well_formed(data.decode("ascii", "surrogateescape")) or _parse_bytes(data)
    if not any(parsed[name] for name in ("From", "Date", "Message-ID", "Subject")):
        raise NoMail("has none of the headers of a mail (From, Date, Subject)")
    return list(_read_messages(parsed, file, line, 0))


_FIELD = re.compile(r"([!-9;-~]+):[ \t]*(.*(?:\r?\n[ \t].*)*)(?:\r?\n|\Z)")
_PARTS = ("multipart/alternative", "multipart/mixed", "multipart/related")


def _well_formed(text: str, depth: int = 0) -> email.message.Message | None:
    """A mail, or a part of one, that keeps to the rules in everything: as the standard library's
    parser gives it, in a third of the time. `None` for all others."""
    if depth > MOST_PARTS_DEPTH or text.count("\r") != text.count("\r\n"):
        return None
    parsed = email.message.Message(policy=_RAW)
    place = 0
    kind = ""
    for field in _FIELD.finditer(text):
        if field.start() != place:
            return None  # something between the headers
        name, value = field.groups()
        if not kind and name.lower() == "content-type":
            kind = value.lower()
        parsed.set_raw(name, value.removesuffix("\r"))
        place = field.end()
        if text.startswith(("\n", "\r\n"), place):
            break
    else:
        return None
    body = text[text.index("\n", place) + 1 :]
    if not kind.startswith(("multipart", "message")):
        parsed.set_payload(body)
        return parsed
    parts = _well_formed_parts(body, parsed, depth) if kind.startswith(_PARTS) else None
    if parts is None:
        return None
    for part in parts:
        parsed.attach(part)
    return parsed


def _well_formed_parts(
    body: str, parsed: email.message.Message, depth: int
) -> list[email.message.Message] | None:
    boundary = parsed.get_boundary()
    if not boundary:
        return None
    marks = list(re.finditer(rf"(?m)^--{re.escape(boundary)}(--)?[ \t]*\r?$", body))
    ends = [mark.start() for mark in marks if mark.group(1)]
    if not 2 <= len(marks) <= MOST_PARTS or ends != [marks[-1].start()]:
        return None
    parts = []
    for mark, following in pairwise(marks):
        text = body[mark.end() + 1 : following.start()]
        part = _well_formed(text.removesuffix("\n").removesuffix("\r"), depth + 1)
        if part is None:
            return None
        parts.append(part)
    return parts


def _read_fields(parsed: email.message.Message) -> dict[str, list[str]]:
    """All headers by their names in lower case: looking each up in the mail reads all of them."""
    fields: dict[str, list[str]] = {}
    for name, value in parsed.raw_items():
        fields.setdefault(name.lower(), []).append(str(value))
    return fields


def _read_messages(
    parsed: email.message.Message, file: str, line: int, depth: int
) -> Iterator[Message | BrokenMessage]:
    fields = _read_fields(parsed)
    content = _read_content(parsed)
    inner, unread = content.inner, content.unread
    plain, marked = _visible_text(content)
    if len(plain) > MAX_TEXT:
        unread.append(f"has a text of more than {MAX_TEXT:,} characters; the rest is left out")
    body, quoted, signature = split_quotes(plain[:MAX_TEXT])
    if marked:
        quoted = f"{quoted}\n{marked}".strip()
    none = [""]
    senders = read_people(fields.get("from", none)[0] or fields.get("sender", none)[0])
    receivers = _read_receivers(fields)
    subject = " ".join(_decode_header(fields.get("subject", none)[0]).split())
    stated = fields.get("date", none)[0]
    received = fields.get("received", none)[0].rpartition(";")[2]
    date = _read_date(stated) or _read_date(received)
    if date is None and stated.strip():
        unread.append(f"has a date that cannot be read: {_short_text(stated)!r}")
    references = _read_references(fields)
    own = _IDS.search(fields.get("message-id", none)[0])
    sender = senders[0] if senders else None
    key = sender.key if sender is not None else None
    id_ = own.group(1) if own else content_id(key or "", stated, subject, body)
    yield Message(
        id=id_,
        date=date,
        channel="email",
        sender=sender,
        receivers=tuple(person for person in receivers.values() if person.key != key),
        subject=subject,
        body=body,
        quoted=quoted[:MAX_TEXT],
        signature=signature,
        references=tuple(r for r in references if r != id_),
        attachments=tuple(content.attachments),
        file=file,
        line=line,
    )
    if inner and depth == MAX_DEPTH:
        unread.append("has mails attached to it, which is inside too many other mails")
        inner = []
    for reason in unread:
        yield BrokenMessage(file, line, reason, kept=True)
    for mail in inner:
        yield from _read_messages(mail, file, line, depth + 1)


def _short_text(value: str) -> str:
    return " ".join(_make_readable(value).split())[:60]


def _visible_text(content: _Content) -> tuple[str, str]:
    """The text of a mail as its receiver sees it, and what in it is marked as a quote."""
    marked = ""
    plain = "\n".join(content.texts)
    if content.alternatives and len(plain) < _APOLOGY and "html" in plain.lower():
        shown, marked_there = html_text("\n".join(content.alternatives))
        if len(shown) + len(marked_there) > len(plain):  # else the author writes about HTML
            plain, marked = shown, marked_there
    if content.htmls:
        shown, marked_there = html_text("\n".join(content.htmls))
        # Otherwise it should be marked as an alternative.
        if not plain.strip() or _adds_words(shown, plain):
            plain, marked = f"{plain}\n{shown}".strip(), f"{marked}\n{marked_there}".strip()
    return plain, marked


def _read_receivers(fields: Mapping[str, list[str]]) -> dict[str, Person]:
    """Everybody that a mail is for, by key."""
    receivers: dict[str, Person] = {}
    for name in ("to", "cc", "bcc"):
        for value in fields.get(name, ()):
            for person in read_people(value):
                receivers.setdefault(person.key, person)
    return receivers


def _read_references(fields: Mapping[str, list[str]]) -> dict[str, None]:
    """The ids of the mails that a mail answers, each once, in order."""
    return dict.fromkeys(
        id_match
        for name in ("references", "in-reply-to")
        for value in fields.get(name, ())
        for id_match in _IDS.findall(value)
    )


class _Kind(NamedTuple):
    """What a `Content-Type` says of a part.

    Attributes:
        type: as `text/plain`.
        charset: the encoding that it states; empty where it states none.
        flowed: whether a space at the end joins lines (RFC 3676).
        spaceless: whether that space is no part of the text (`DelSp=yes`).
    """

    type: str
    charset: str
    flowed: bool
    spaceless: bool = False


@lru_cache(maxsize=4_096)
def _content_kind(stated: str) -> _Kind:
    """The same few headers come again and again in a mailbox."""
    holder = email.message.Message(policy=_RAW)
    holder.set_raw("Content-Type", stated)
    return _kind_in(holder)


def _kind_of(part: email.message.Message, stated: str | None) -> _Kind:
    if stated is not None and stated[:5].lower() == "text/":
        return _content_kind(stated)
    kind = part.get_content_type()  # of a part without the header: what the one around it says
    return _kind_in(part) if kind.startswith("text/") else _Kind(kind, "", False)


def _kind_in(part: email.message.Message) -> _Kind:
    return _Kind(
        part.get_content_type(),
        part.get_content_charset("") or "",
        str(part.get_param("format")).lower() == "flowed",
        str(part.get_param("delsp")).lower() == "yes",
    )


_APOLOGY = 400
"""A plain text that is shorter and mentions HTML may only say that the mail is written in it."""


class _Content(NamedTuple):
    """What is in a mail, in order, and what of it cannot be read.

    Attributes:
        texts: plain ones.
        alternatives: the HTML of plain texts.
        htmls: all other HTML.
        attachments: by name.
        inner: attached mails.
        unread: the reason, if there is one.
    """

    texts: list[str]
    alternatives: list[str]
    htmls: list[str]
    attachments: list[Attachment]
    inner: list[email.message.Message]
    unread: list[str]


def _read_content(parsed: email.message.Message) -> _Content:
    """The parts of a mail, each where it belongs."""
    return _ContentReader().read(parsed)


class _ContentReader:
    """Sorts the parts of one mail: its texts, its attachments, other mails, what is not read."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.htmls: list[tuple[int, str]] = []
        """Each with the number of the alternative that it is in, 0 for none."""
        self.attachments: list[Attachment] = []
        self.inner: list[email.message.Message] = []
        self.others: list[str] = []
        """Invitations, and texts that stand for the mail's where it has none."""
        self.unread: list[str] = []
        self.with_plain_text: set[int] = set()
        """The numbers of alternatives that have a plain text."""
        self._signatures = 0
        """How many signed mails were opened, each perhaps inside the one before."""
        self._numbers = count(1)
        self._parts: list[tuple[email.message.Message, int]] = []

    def read(self, parsed: email.message.Message) -> _Content:
        """All parts in their order; a part can bring others."""
        self._parts.append((parsed, 0))
        while self._parts:
            self._read_part(*self._parts.pop())
        return self._choose_texts()

    def _read_part(self, part: email.message.Message, number: int) -> None:
        sort = _kind_of(part, part.get("Content-Type"))
        payload = part.get_payload()
        if sort.type == "message/rfc822" and isinstance(payload, list) and _is_encoded(part):
            payload = [_parse_bytes(_decoded_mail(part))]
        if sort.type == "message/rfc822" and isinstance(payload, list) and payload:
            self._attach_mail(part, payload[0], sort.type)
        elif isinstance(payload, list):
            if sort.type == "multipart/alternative":
                number = number or next(self._numbers)
            parts = (p for p in reversed(payload) if isinstance(p, email.message.Message))
            self._parts.extend((p, number) for p in parts)
        elif sort.type.startswith("multipart/"):  # it states a boundary that it does not have
            self.texts.append(_part_text(part, _kind_in(part)))
        elif not self._open_signed(part, sort.type, number):
            self._read_leaf(part, sort, number)

    def _attach_mail(self, part: email.message.Message, mail: object, kind: str) -> None:
        if isinstance(mail, email.message.Message):
            self.inner.append(mail)
            title = _read_header(mail, "Subject") or "message"
            self.attachments.append(Attachment(_read_filename(part) or f"{title}.eml", kind))

    def _open_signed(self, part: email.message.Message, kind: str, number: int) -> bool:
        """Whether a part was a signed mail, whose content is read in its place."""
        if kind in _SIGNED_OR_ENCRYPTED:
            signed = signed_content(_bytes_of(part))
            if signed is not None:
                self._signatures += 1
                check_parts(MOST_PARTS, self._signatures)
                self._parts.append((_parse_bytes(signed), number))
                return True
            self.unread.append(_ENCRYPTED)
        if kind == "application/pgp-encrypted":
            self.unread.append(_ENCRYPTED)
        return False

    def _read_leaf(self, part: email.message.Message, sort: _Kind, number: int) -> None:
        """A part without others: a text of the mail or an attachment, and what it says besides."""
        kind = sort.type
        disposition = str(part.get("Content-Disposition") or "").lower()
        has_name = disposition or "name" in str(part.get("Content-Type"))
        name = _read_filename(part) if has_name else ""
        is_attached = disposition.startswith("attachment")
        if kind in ("text/plain", "text/html") and not (
            name or disposition.lstrip().startswith("attachment")
        ):
            self._add_text(_part_text(part, sort), kind, number)
        else:
            size = len(part.get_payload(decode=True) or b"")
            self.attachments.append(Attachment(name or kind, kind, size))
        if kind == "text/calendar" or (kind.startswith("text/") and not is_attached):
            self.others.append(_stand_in_text(part, sort))
        elif kind in _WINMAIL or name.lower() == "winmail.dat":
            self._open_winmail(part)

    def _add_text(self, text: str, kind: str, number: int) -> None:
        if kind == "text/html":
            self.htmls.append((number, text))
            return
        self.texts.append(text)
        if number and text.strip():
            self.with_plain_text.add(number)

    def _open_winmail(self, part: email.message.Message) -> None:
        """The text and the files inside an attachment in Outlook's own form."""
        tnef = read_tnef(_bytes_of(part))
        names = tnef[1] if tnef else ()
        check_parts(MOST_PARTS - len(names), 0)
        self.attachments += (Attachment(text_of(name)) for name in names)
        self.others.append(text_of(tnef[0]) if tnef else "")
        if not self.others[-1]:
            self.unread.append(_IN_OUTLOOKS_FORM)

    def _choose_texts(self) -> _Content:
        shown = [html for _, html in self.htmls]
        if not any(text.strip() for text in (*self.texts, *shown)):
            self.texts += self.others
        if any(text.strip() for text in (*self.texts, *shown)):
            self.unread.clear()
        if any(_PGP in text for text in self.texts):
            self.unread.append(_ENCRYPTED)
        return _Content(
            self.texts,
            [html for number, html in self.htmls if number in self.with_plain_text],
            [html for number, html in self.htmls if number not in self.with_plain_text],
            self.attachments,
            self.inner,
            self.unread[:1],
        )


def _stand_in_text(part: email.message.Message, sort: _Kind) -> str:
    """A text that stands for that of a mail without one: an invitation, a text of another kind."""
    text = _part_text(part, sort)
    match sort.type:
        case "text/calendar":
            return _invitation_text(text)
        case "text/html":
            return html_text(text)[0]
        case "text/enriched":
            return _ENRICHED.sub("", text)
    return text


def _adds_words(shown: str, plain: str) -> bool:
    """Whether a text has more than a tenth of words that another one has not."""
    words = set(_WORD.findall(shown.lower()))
    return len(words.difference(_WORD.findall(plain.lower()))) * 10 > len(words)


_WORD = re.compile(r"\w+")


_SIGNED_OR_ENCRYPTED = ("application/pkcs7-mime", "application/x-pkcs7-mime")
_WINMAIL = ("application/ms-tnef", "application/vnd.ms-tnef")
_ENRICHED = re.compile(r"<[^<>]*>")
_PGP = "-----BEGIN PGP MESSAGE-----"
_ENCRYPTED = "has a text that is encrypted"
_IN_OUTLOOKS_FORM = "has a text that only Outlook can read (winmail.dat)"


def _bytes_of(part: email.message.Message) -> bytes:
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _is_encoded(part: email.message.Message) -> bool:
    return str(part.get("Content-Transfer-Encoding") or "").strip().lower() in (
        "base64", "quoted-printable",
    )  # fmt: skip


def _decoded_mail(part: email.message.Message) -> bytes:
    """An attached mail that is encoded as a whole, against the rules; the parser takes the encoded
    lines for its text."""
    inner = part.get_payload(0)
    holder = email.message.Message(policy=_RAW)
    holder.set_raw("Content-Transfer-Encoding", str(part.get("Content-Transfer-Encoding")))
    text = inner.get_payload() if isinstance(inner, email.message.Message) else ""
    holder.set_payload(text)
    data = holder.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


_EVENT_LINE = re.compile(r"^(SUMMARY|LOCATION|DESCRIPTION|DTSTART)(?:;[^:]*)?:(.*)$", re.MULTILINE)


def _invitation_text(calendar: str) -> str:
    """What an invitation (RFC 5545) is about, when and where."""
    unfolded = re.sub(r"\r?\n[ \t]", "", calendar).replace("\r", "")
    _, _, event = unfolded.partition("BEGIN:VEVENT")
    event_fields = dict(reversed(_EVENT_LINE.findall(event)))
    texts = [
        event_fields[key]
        for key in ("SUMMARY", "DTSTART", "LOCATION", "DESCRIPTION")
        if key in event_fields
    ]
    plain = "\n".join(texts).replace("\\n", "\n").replace("\\N", "\n")
    return re.sub(r"\\(.)", r"\1", plain)


def _part_text(part: email.message.Message, kind: _Kind) -> str:
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    stated = str(part.get("Content-Transfer-Encoding") or "").strip().lower()
    if stated == "base64" and _PLAIN_WORDS.search(raw := str(part.get_payload())):
        data = raw.encode("utf-8", "surrogateescape")  # it is not encoded
    text = text_of(data, kind.charset)
    if kind.flowed:
        text = re.sub(r"(?m)^ (?!>)", "", text)  # put before lines like "From …"
        text = re.sub(r"(?m)(?<!^--) \r?\n(?!>)", "" if kind.spaceless else " ", text)
    return text


_PLAIN_WORDS = re.compile(r"[A-Za-z]+ [A-Za-z]+ [A-Za-z]+")


def text_of(data: bytes, stated: str = "") -> str:
    """Bytes as text: in their stated encoding, otherwise UTF-8, otherwise Windows-1252."""
    if b"\x1b$" in data and not stated:
        stated = "iso-2022-jp"
    for name in (_CHARSETS.get(stated.lower(), stated), "utf-8", "cp1252"):
        if not name:
            continue
        try:
            return data.decode(name)
        except (LookupError, UnicodeDecodeError, ValueError):
            continue
    return data.decode("latin-1")


def _read_filename(part: email.message.Message) -> str:
    try:
        name = part.get_filename()
    except (LookupError, UnicodeError, ValueError):  # RFC 2231 with an encoding nobody knows
        name = str(part.get_param("name") or "attachment")
    return " ".join(_decode_header(name).split()) if name else ""


def _read_header(parsed: email.message.Message, name: str) -> str:
    value = parsed[name]
    return _decode_header(str(value)) if value is not None else ""


def _decode_header(value: str) -> str:
    """A header with its encoded words decoded."""
    value = _make_readable(value)
    if "=?" not in value:
        return value
    try:
        pieces = decode_header(_ENCODED_WORD.sub(r"\g<0> ", value))
    except (ValueError, LookupError, MessageError):  # base64 that is none: shown as it stands
        return value
    text: list[str] = []
    for data, charset in pieces:
        text.append(data if isinstance(data, str) else text_of(data, charset or ""))
    return "".join(text)


_ENCODED_WORD = re.compile(r"=\?[^?\s]+\?[BbQq]\?[^?]*\?=(?=\S)")
"""One that something follows without a space."""


def _make_readable(value: str) -> str:
    """A header whose bytes that are not ASCII are UTF-8 or Windows-1252, whatever the standard
    says."""
    if value.isascii():
        return value
    return text_of(value.encode("utf-8", "surrogateescape"))


@lru_cache(maxsize=20_000)
def read_people(value: str) -> tuple[Person, ...]:
    """The people of an address header; names may be encoded words. The same headers recur in a
    mailbox."""
    return tuple(_parse_people(value))


_ENCODED_NAME = re.compile(r"\"?((?:=\?[^?\s]+\?[BbQq]\?[^?]*\?=\s*)+)\"?")


def _quoted_name(match: re.Match[str]) -> str:
    name = _decode_header(match[1].strip()).replace("\\", "").replace('"', "")
    return match[0] if "=?" in name else f'"{name}" '


def _parse_people(value: str) -> list[Person]:
    value = " ".join(_make_readable(value).split())
    if not value:
        return []
    if "=?" in value:  # the name may have commas, colons or parentheses, which it then states
        value = _ENCODED_NAME.sub(_quoted_name, value)
    if "mailto:" in value:  # as Outlook writes it
        value = _MAILTO.sub(r"<\1>", value)
    person = _read_single(value)
    if person is not None:
        return [person]
    if not _MARKS_OF_ADDRESSES.search(value):  # names alone, of which the rules keep a word each
        names = value.split(";" if ";" in value else ",")
        return [_build_person(name, "") for name in names if name.strip()]
    persons = []
    for name, address in _split_addresses(value):
        if "@" in address or name:
            persons.append(_build_person(name, address if "@" in address else ""))
        elif address and address.lower() not in ("undisclosed-recipients", "recipients"):
            persons.append(Person(_decode_header(address)))
    return persons


_SPELLED = re.compile(r"(\S+) at (\S+\.\w+)(?: \(([^()]+)\))?")
"""As archives of mailing lists hide addresses: `ann at example.com (Ann Lee)`."""
_MARKS_OF_ADDRESSES = re.compile(r'[@<>":()\\]')
_MAILTO = re.compile(r"[\[<]mailto:([^\s<>\[\]]+)[\]>]")
_STRAY_ADDRESS = re.compile(r"[\[(<]?([^\s<>,;:()\[\]\"]+@[^\s<>,;:()\[\]\"]+)[\])>]?")


def _read_single(value: str) -> Person | None:
    """The person of a header that has one address only; `None` for every other header."""
    if only := _BARE.fullmatch(value):
        return Person("", only[1])
    if match := _ADDRESS.fullmatch(value):
        return _build_person(match[1], match[2])
    if spelled := _SPELLED.fullmatch(value):
        return _build_person(spelled[3] or "", f"{spelled[1]}@{spelled[2]}")
    return None


def _split_addresses(value: str) -> list[tuple[str, str]]:
    """Names with addresses in a list of several."""
    pairs = email.utils.getaddresses([value])
    if not any(any(pair) for pair in pairs) or not all(
        _BARE.fullmatch(address) for _, address in pairs if "@" in address
    ):  # a header that breaks the rules
        return _ANY_ADDRESS.findall(value) or _names_before_addresses(value)
    return pairs


def _names_before_addresses(value: str) -> list[tuple[str, str]]:
    """The addresses in a text, each with what stands before it."""
    pairs = []
    place = 0
    for match in _STRAY_ADDRESS.finditer(value):
        pairs.append((value[place : match.start()].strip(" ,;"), match[1]))
        place = match.end()
    return pairs


def _build_person(name: str, address: str) -> Person:
    name = " ".join(_decode_header(name).strip(" \"'").split())
    if name.lower() == address.lower():
        name = ""
    if name.count(",") == 1 and "@" not in name:  # Outlook directories: "Doe, Jane"
        last, first = (part.strip() for part in name.split(","))
        if last and first and not re.search(r"\b(?:inc|llc|ltd|gmbh|ag|sa)\b", first, re.I):
            name = f"{first} {last}"
    return Person(name, address)


def _read_date(text: str) -> datetime | None:
    if not text:
        return None
    try:
        parsed = email.utils.parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return _iso_date(text)
    return parsed if 1971 <= parsed.year <= 2200 else None  # 1970: a clock that was never set


def _iso_date(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        return None
