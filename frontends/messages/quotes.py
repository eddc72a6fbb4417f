"""The new text of a mail, its quotes, and its signature."""

from __future__ import annotations

import re

from orgflow_ir.model.records import NamedTuple


class Parts(NamedTuple):
    """The parts of a mail's text."""

    body: str
    quoted: str
    signature: str


_WROTE = re.compile(
    # "On Mon, 3 Mar 2026 at 10:12, Ann <ann@example.com> wrote:" as clients write it by language
    r"^[ \t>]*(?:"
    r"on\b.{4,200}?\bwrote|am\b.{4,200}?\bschrieb\b.{0,100}?|le\b.{4,200}?\ba [ée]crit|"
    r"el\b.{4,200}?\bescribi[óo]|il\b.{4,200}?\bha scritto|em\b.{4,200}?\bescreveu|"
    r"op\b.{4,200}?\bschreef\b.{0,100}?|den\b.{4,200}?\bskrev\b.{0,100}?|"
    r"w dniu\b.{4,200}?\bnapisał\(?a?\)?|.{4,120}<[^<>\s]+@[^<>\s]+>.{0,40}?"
    r"\b(?:wrote|schrieb|a [ée]crit|escribi[óo]|ha scritto)"
    r")[ \t\xa0]?:[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_WROTE_WRAPPED = re.compile(
    # the same, wrapped into two or three lines
    r"^[ \t]*(?:on|am|le|el|il|em|op|den|w dniu)\b[^\n]{4,200}\n(?:[^\n]{1,200}\n)?[^\n]{0,200}"
    r"\b(?:wrote|schrieb|[ée]crit|escribi[óo]|scritto|escreveu|schreef|skrev)[^\n:]{0,60}:[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_DIVIDER = re.compile(
    r"^[ \t]*(?:-{2,}[ \t]*(?:original message|original-nachricht|ursprüngliche nachricht|"
    r"ursprungliche nachricht|forwarded message|weitergeleitete nachricht|message d'origine|"
    r"message transféré|mensaje original|mensaje reenviado|messaggio originale|"
    r"oorspronkelijk bericht|mensagem original|reply message)[ \t]*-{2,}"
    r"|_{20,}(?=[ \t]*\n\s*\*?(?:from|von|de|da|van|från|od|fra)[ \t]?:)"
    r"|begin forwarded message:|anfang der weitergeleiteten nachricht:"
    r"|début du message réexpédié[ \t]*:)[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_HEADER_BLOCK = re.compile(
    # Outlook writes the headers of what it replies to, in the language of the user
    r"^[ \t]*\*?(?:from|von|de|da|van|från|od|fra)[ \t]?:\*?[ \t][^\n]+\n"
    r"(?:[ \t]*\*?[\w'’ ]{2,20}[ \t]?:\*?[ \t][^\n]*\n){1,5}"
    r"[ \t]*\*?(?:subject|betreff|objet|asunto|oggetto|onderwerp|assunto|ämne|temat|emne)[ \t]?:",
    re.IGNORECASE | re.MULTILINE,
)
_MOBILE = re.compile(
    r"^[ \t]*(?:sent from (?:my|the|outlook|yahoo|mail)\b|get outlook for\b|"
    r"von meinem .{2,30} gesendet|gesendet (?:von|mit)\b|envoyé de (?:mon|mon)\b|"
    r"enviado desde mi\b|inviato da\b|verzonden vanaf\b|enviado do meu\b).{0,60}$",
    re.IGNORECASE | re.MULTILINE,
)
_LAST_SIGNATURE_LINES = 12
_CLOSING = re.compile(
    r"[ \t]*(?:(?:best|kind|kindest|warm|many thanks and) )?(?:regards|wishes)"
    r"|[ \t]*(?:yours (?:sincerely|faithfully|truly)|sincerely(?: yours)?|cheers)"
    r"|[ \t]*(?:mit )?(?:freundliche[nm]?|beste[nm]?|viele[nm]?|herzliche[nm]?|liebe[nm]?) "
    r"gr(?:ü|ue)(?:ß|ss)(?:en|e)?(?: aus .{2,30})?|[ \t]*(?:mfg|vg|lg)"
    r"|[ \t]*(?:bien )?cordialement|[ \t]*salutations(?: distinguées)?"
    r"|[ \t]*(?:un )?(?:cordial saludo|saludos(?: cordiales)?)|[ \t]*(?:atenciosamente|abraços)"
    r"|[ \t]*(?:cordiali|distinti) saluti|[ \t]*met vriendelijke groet(?:en)?",
    re.IGNORECASE,
)
_CONTACT = re.compile(
    r"\b(?:tel|fon|phone|mobile?|mobil|fax|telefon|tél)\b[.: ]|\+\d[\d ()/-]{6,}|\S@\S+\.\w|"
    r"\bhttps?://|\bwww\.|\b(?:gmbh|ltd|inc|llc|s\.?a\.?r\.?l|b\.v|plc|ltda)\b",
    re.IGNORECASE,
)
"""Content of the block below a closing that is rare in sentences: numbers, addresses, a company."""
_FORWARDED = ("begin forwarded message", "weitergeleiteten nachricht", "message réexpédié")
_SUBJECTS = (
    "subject", "betreff", "objet", "asunto", "oggetto", "onderwerp", "assunto", "ämne", "temat",
    "emne",
)  # fmt: skip
_HINTS = ("wrote", "schrieb", "crit", "escribi", "scritto", "escreveu", "schreef", "skrev", "napis")


_LINE = "_" * 4
_SIGNED_MARK = "-----BEGIN PGP SIGNED MESSAGE-----"
_SIGNED = re.compile(
    # RFC 9580, 7: headers, an empty line, the text, the signature
    r"^-----BEGIN PGP SIGNED MESSAGE-----[ \t]*\n(?:[A-Za-z][\w-]*:[^\n]*\n)*[ \t]*\n"
    r"(?P<text>.*?)\n?"
    r"(?P<signature>^-----BEGIN PGP SIGNATURE-----[ \t]*\n.*?^-----END PGP SIGNATURE-----[ \t]*$)",
    re.DOTALL | re.MULTILINE,
)


def split_quotes(text: str) -> Parts:
    """Split the text of a mail.

    The earliest mark of a quoted message ends the new text; lines that begin with `>` are quoted
    anywhere, so an answer between them is kept. The signature begins at the line `-- `, at a text
    that a telephone appends, or at a closing ("Kind regards") followed by contact data of the
    author. The armor of a PGP-signed text is part of the signature.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text, armor = _without_armor(text)
    cut = len(text)
    lowered = text.lower()
    marks = []  # looking for words first is much faster than for the patterns
    if "--" in text or _LINE in text or any(hint in lowered for hint in _FORWARDED):
        marks.append(_DIVIDER)
    if ":" in text:
        if any(hint in lowered for hint in _SUBJECTS):
            marks.append(_HEADER_BLOCK)
        if any(hint in lowered for hint in _HINTS):
            marks += [_WROTE, _WROTE_WRAPPED]
    rest = ""
    for mark in marks:
        match = mark.search(text, 0, cut)
        if match is None or match.group().lstrip().startswith(">"):
            continue  # lines that are marked are taken out one by one
        if mark in (_WROTE, _WROTE_WRAPPED) and _answers_below(text[match.end() :]):
            continue  # answers between quoted lines: only the `>` lines are quoted
        cut = min(cut, match.start())
    if cut < len(text):
        text, rest = text[:cut], text[cut:]
    kept, quoted = _without_marked_lines(text)
    body, signature = _without_signature(kept)
    return Parts(
        body.strip(),
        "\n".join(p for p in (quoted, rest.strip()) if p),
        "\n".join(p for p in (signature, armor) if p),
    )


def _without_armor(text: str) -> tuple[str, str]:
    """The text with the content of a part signed with PGP in its place, and the signature."""
    match = _SIGNED.search(text) if _SIGNED_MARK in text else None
    if match is None:
        return text, ""
    signed = re.sub(r"^- ", "", match["text"], flags=re.MULTILINE)
    return f"{text[: match.start()]}{signed}{text[match.end() :]}", match["signature"]


def _answers_below(text: str) -> bool:
    """Whether something new follows quoted lines."""
    lines = [line for line in text.split("\n") if line.strip()]
    marked = [line.lstrip().startswith(">") for line in lines]
    if True not in marked:
        return False
    last = len(marked) - 1 - marked[::-1].index(True)
    first = marked.index(True)
    below = [line for line in lines[last + 1 :] if not _MOBILE.match(line)]
    between = not all(marked[first : last + 1])
    return between or (bool(below) and not below[0].startswith("-- ") and below[0].strip() != "--")


def _without_marked_lines(text: str) -> tuple[str, str]:
    if ">" not in text:
        return text, ""
    kept: list[str] = []
    quoted: list[str] = []
    any_marked = any(line.lstrip().startswith(">") for line in text.split("\n"))
    for line in text.split("\n"):
        stripped = line.lstrip()
        # the line that introduces them is no text of the author
        marked = stripped.startswith(">") or (any_marked and _WROTE.match(line) is not None)
        (quoted if marked else kept).append(line)
    return "\n".join(kept), "\n".join(quoted)


def _without_signature(text: str) -> tuple[str, str]:
    lines = text.rstrip().split("\n")
    several = sum(line.rstrip() == "--" for line in lines) > 1  # they divide the text
    for place in range(len(lines) - 1, max(-1, len(lines) - 1 - _LAST_SIGNATURE_LINES), -1):
        marked = lines[place] == "-- " if several else lines[place].rstrip() == "--"
        if marked or _MOBILE.match(lines[place]):
            return "\n".join(lines[:place]), "\n".join(lines[place:]).strip()
    for place in range(max(1, len(lines) - _LAST_SIGNATURE_LINES), len(lines) - 1):
        below = lines[place + 1 :]
        if (
            _CLOSING.fullmatch(lines[place].rstrip(" \t,.!"))
            and any(_CONTACT.search(line) for line in below)
            and not any(len(line) > 90 or line.rstrip().endswith("?") for line in below)
        ):
            return "\n".join(lines[:place]), "\n".join(lines[place:]).strip()
    return text, ""
