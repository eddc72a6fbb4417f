"""One mail (RFC 5322) as a `Message`: headers, text, attachments, from any client."""

from __future__ import annotations

import email.message
import email.utils
import re
from collections.abc import Iterator
from datetime import datetime
from email.errors import MessageError
from email.header import decode_header
from email.parser import BytesParser
from email.policy import Compat32
from functools import lru_cache
from itertools import count, pairwise
from typing import Any, NamedTuple

from orgflow.frontends.messages.html_text import html_text
from orgflow.frontends.messages.quotes import split_quotes
from orgflow.frontends.messages.signed import signed_content
from orgflow.frontends.messages.tnef import read_tnef

from orgflow_ir.model.message import Attachment, BrokenMessage, Message, Person, content_id

MAX_TEXT = 1_000_000
"""Maximum number of characters of one text: a log pasted into a mail is not a message of a
process."""


class _Raw(Compat32):
    """Headers as they stand in the mail, bytes that are not ASCII included."""

    def header_fetch_parse(self, name: str, value: str) -> Any:
        return value


_RAW = _Raw()
_PARSER = BytesParser(policy=_RAW)
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
    parsed = _well_formed(data.decode("ascii", "surrogateescape")) or _PARSER.parsebytes(data)
    if not any(parsed[name] for name in ("From", "Date", "Message-ID", "Subject")):
        raise NoMail("has none of the headers of a mail (From, Date, Subject)")
    return list(_read_messages(parsed, file, line, 0))


_FIELD = re.compile(r"([!-9;-~]+):[ \t]*(.*(?:\r?\n[ \t].*)*)(?:\r?\n|\Z)")
_PARTS = ("multipart/alternative", "multipart/mixed", "multipart/related")


def _well_formed(text: str) -> email.message.Message | None:
    """A mail, or a part of one, that keeps to the rules in everything: as the standard library's
    parser gives it, in a third of the time. `None` for all others."""
    if text.count("\r") != text.count("\r\n"):
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
    parts = _well_formed_parts(body, parsed) if kind.startswith(_PARTS) else None
    if parts is None:
        return None
    for part in parts:
        parsed.attach(part)
    return parsed


def _well_formed_parts(
    body: str, parsed: email.message.Message
) -> list[email.message.Message] | None:
    boundary = parsed.get_boundary()
    if not boundary:
        return None
    marks = list(re.finditer(rf"(?m)^--{re.escape(boundary)}(--)?[ \t]*\r?$", body))
    ends = [mark.start() for mark in marks if mark.group(1)]
    if len(marks) < 2 or ends != [marks[-1].start()]:
        return None
    parts = []
    for mark, following in pairwise(marks):
        text = body[mark.end() + 1 : following.start()]
        part = _well_formed(text.removesuffix("\n").removesuffix("\r"))
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
    texts, alternatives, htmls, attachments, inner, unread = _read_content(parsed)
    marked = ""
    plain = "\n".join(texts)
    if alternatives and len(plain) < _APOLOGY and "html" in plain.lower():
        shown, marked_there = html_text("\n".join(alternatives))
        if len(shown) + len(marked_there) > len(plain):  # else the author writes about HTML
            plain, marked = shown, marked_there
    if htmls:
        shown, marked_there = html_text("\n".join(htmls))
        if not plain.strip() or _adds_words(
            shown, plain
        ):  # else it should be marked as an alternative
            plain, marked = f"{plain}\n{shown}".strip(), f"{marked}\n{marked_there}".strip()
    if len(plain) > MAX_TEXT:
        unread.append(f"has a text of more than {MAX_TEXT:,} characters; the rest is left out")
    body, quoted, signature = split_quotes(plain[:MAX_TEXT])
    if marked:
        quoted = f"{quoted}\n{marked}".strip()
    none = [""]
    senders = read_people(fields.get("from", none)[0] or fields.get("sender", none)[0])
    receivers: dict[str, Person] = {}
    for name in ("to", "cc", "bcc"):
        for value in fields.get(name, ()):
            for person in read_people(value):
                receivers.setdefault(person.key, person)
    subject = " ".join(_decode_header(fields.get("subject", none)[0]).split())
    stated = fields.get("date", none)[0]
    date = _read_date(stated) or _read_date(fields.get("received", none)[0].rpartition(";")[2])
    if date is None and stated.strip():
        shown = " ".join(_make_readable(stated).split())
        unread.append(f"has a date that cannot be read: {shown[:60]!r}")
    references = dict.fromkeys(
        id_match
        for name in ("references", "in-reply-to")
        for value in fields.get(name, ())
        for id_match in _IDS.findall(value)
    )
    own = _IDS.search(fields.get("message-id", none)[0])
    sender = senders[0] if senders else None
    id_ = own.group(1) if own else content_id(sender.key if sender else "", stated, subject, body)
    yield Message(
        id=id_,
        date=date,
        channel="email",
        sender=sender,
        receivers=tuple(p for p in receivers.values() if sender is None or p.key != sender.key),
        subject=subject,
        body=body,
        quoted=quoted[:MAX_TEXT],
        signature=signature,
        references=tuple(r for r in references if r != id_),
        attachments=tuple(attachments),
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
    texts: list[str] = []
    htmls: list[tuple[int, str]] = []
    attachments: list[Attachment] = []
    inner: list[email.message.Message] = []
    others: list[str] = []  # invitations, and texts that stand for the mail's where it has none
    unread: list[str] = []
    stack = [(parsed, 0)]  # with the number of the alternative that a part is in
    numbers = count(1)
    plain: set[int] = set()  # alternatives with a plain text
    while stack:
        part, number = stack.pop()
        stated = part.get("Content-Type")
        sort = _kind_of(part, stated)
        kind = sort.type
        payload = part.get_payload()
        if kind == "message/rfc822" and isinstance(payload, list) and _is_encoded(part):
            payload = [_PARSER.parsebytes(_decoded_mail(part))]
        if kind == "message/rfc822" and isinstance(payload, list) and payload:
            mail = payload[0]
            if isinstance(mail, email.message.Message):
                inner.append(mail)
                title = _read_header(mail, "Subject") or "message"
                attachments.append(Attachment(_read_filename(part) or f"{title}.eml", kind))
            continue
        if isinstance(payload, list):
            if kind == "multipart/alternative":
                number = number or next(numbers)
            parts = (p for p in reversed(payload) if isinstance(p, email.message.Message))
            stack.extend((p, number) for p in parts)
            continue
        disposition = str(part.get("Content-Disposition") or "").lower()
        if kind.startswith("multipart/"):  # it states a boundary that it does not have
            texts.append(_part_text(part, _kind_in(part)))
            continue
        if kind in _SIGNED_OR_ENCRYPTED:
            signed = signed_content(_bytes_of(part))
            if signed is not None:
                stack.append((_PARSER.parsebytes(signed), number))
                continue
            unread.append(_ENCRYPTED)
        if kind == "application/pgp-encrypted":
            unread.append(_ENCRYPTED)
        name = _read_filename(part) if disposition or "name" in str(stated) else ""
        if kind in ("text/plain", "text/html") and not (
            name or disposition.lstrip().startswith("attachment")
        ):
            text = _part_text(part, sort)
            if kind == "text/html":
                htmls.append((number, text))
            else:
                texts.append(text)
                plain.update((number,) if number and text.strip() else ())
        elif name or disposition.startswith("attachment") or not kind.startswith("multipart/"):
            size = len(part.get_payload(decode=True) or b"")
            attachments.append(Attachment(name or kind, kind, size))
        if kind == "text/calendar":
            others.append(_invitation_text(_part_text(part, sort)))
        elif kind.startswith("text/") and not disposition.startswith("attachment"):
            text = _part_text(part, sort)
            if kind == "text/html":
                text = html_text(text)[0]
            others.append(_ENRICHED.sub("", text) if kind == "text/enriched" else text)
        elif kind in _WINMAIL or name.lower() == "winmail.dat":
            tnef = read_tnef(_bytes_of(part))
            attachments += (
                Attachment(text_of(file_name)) for file_name in (tnef[1] if tnef else ())
            )
            others.append(text_of(tnef[0]) if tnef else "")
            if not others[-1]:
                unread.append(_IN_OUTLOOKS_FORM)
    shown = [html for _, html in htmls]
    if not any(text.strip() for text in (*texts, *shown)):
        texts += others
    if any(text.strip() for text in (*texts, *shown)):
        unread.clear()
    if any(_PGP in text for text in texts):
        unread.append(_ENCRYPTED)
    alternatives = [html for number, html in htmls if number in plain]
    others = [html for number, html in htmls if number not in plain]
    return _Content(texts, alternatives, others, attachments, inner, unread[:1])


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
    only = _BARE.fullmatch(value)
    if only:
        return [Person("", only.group(1))]
    match = _ADDRESS.fullmatch(value)
    if match:
        return [_build_person(match.group(1), match.group(2))]
    spelled = _SPELLED.fullmatch(value)
    if spelled:
        return [_build_person(spelled[3] or "", f"{spelled[1]}@{spelled[2]}")]
    if not _MARKS_OF_ADDRESSES.search(value):  # names alone, of which the rules keep a word each
        names = value.split(";" if ";" in value else ",")
        return [_build_person(name, "") for name in names if name.strip()]
    pairs = email.utils.getaddresses([value])
    if not any(any(pair) for pair in pairs) or not all(
        _BARE.fullmatch(address) for _, address in pairs if "@" in address
    ):  # a header that breaks the rules
        pairs = _ANY_ADDRESS.findall(value) or _names_before_addresses(value)
    persons = []
    for name, address in pairs:
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
