"""Replaces personal data by placeholders before a text leaves the machine, and puts it back in what
comes back.

E-mail addresses, account and card numbers are found by their form and check digits, or by the word
before them ("account", "BLZ"), phone numbers by Google's rules (`phonenumbers`), postal addresses
by their form, names of persons by spaCy's model where it is installed and by forms of address,
greetings and mail headers in any case, also by the first or the last name of a person found before.
Placeholders are the same for the same text in one run, so that a model still sees who is who.
"""

from __future__ import annotations

import json as json_module
import re
from collections.abc import Iterable, Iterator
from importlib import import_module

from orgflow.agents.english import MAX_CHARACTERS, parser

_EMAIL = re.compile(
    r"[\w.+'-]+@[\w-]+(?:\.[\w-]+)+"
    r"|[\w.+'-]+[ \t]*[(\[]at[)\]][ \t]*[\w-]+(?:(?:\.|[ \t]*[(\[]dot[)\]][ \t]*)[\w-]+)+"
    r"|[\w.+'-]+[ \t]+at[ \t]+[\w-]+(?:[ \t]+dot[ \t]+[\w-]+)+",
    re.IGNORECASE,
)
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]{4}){2,7}(?:[ ]?[A-Z0-9]{1,3})?\b")
_CARD = re.compile(r"(?<!\d)(?<!\d\.)(?:\d[ -]?){12,18}\d(?!\.?\d)")
_SOCIAL = re.compile(r"\b(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}\b")
_NUMBERED = re.compile(
    r"\b(?:account|acct|iban|blz|bankleitzahl|konto(?:nummer)?|compte|cuenta|conto|routing"
    r"|sort[ \t]code|passport|tax[ \t]id|steuer-?id|steuernummer|social[ \t]security|ssn)"
    r"(?:[ \t]*-?(?:numbers?|nummer|no|nr|id|is)\b\.?)*[ \t]*[:#=]?[ \t]*"
    r"([a-z]{0,3}\d[a-z\d]*(?:[ /.-]?[a-z]{0,2}\d[a-z\d]*)*)",
    re.IGNORECASE,
)
"""A number behind the word that says whose number it is."""
_CAPITAL = r"[A-ZÀ-ÖØ-ÞŁŚŻŹĆČŠŽ][\w'’-]+"
_PARTICLES = r"(?:(?:van|von|de|der|den|del|da|di|la|le|el|bin|al)[ \t]+)*"
_NAME = rf"{_CAPITAL}(?:[ \t]+{_PARTICLES}{_CAPITAL}){{0,3}}"
_TITLED = re.compile(
    rf"\b(?:Mr|Mrs|Ms|Miss|Dr|Prof|Herr|Frau|Monsieur|Madame|Señora?|Sig)\b\.?[ \t]+({_NAME})"
)
_GREETED = re.compile(
    rf"(?m)^[ \t>]*(?:Dear|Hi|Hello|Hey|Liebe[r]?|Hallo)[ \t]+({_NAME})[ \t]*[,!:]"
)
_SIGNED = re.compile(
    r"(?m)^[ \t>]*(?:(?:Best|Kind|Warm)[ \t]+regards|Regards|Best|Thanks|Cheers|Sincerely|"
    rf"Mit freundlichen Grüßen|Viele Grüße)[ \t]*,?[ \t]*\n+[ \t>]*({_NAME})[ \t]*$"
)
_HEADER = re.compile(
    rf"(?m)^[ \t>]*(?:From|To|Cc|Sender|Von|An):[ \t]*\"?({_NAME})\"?[ \t]*(?=<|$)"
)
_CALLED = re.compile(
    rf"\b(?:my name is|I am|this is|named|contact person:?)[ \t]+({_CAPITAL}(?:[ \t]+{_CAPITAL})+)"
)
_UK_POSTCODE = r"[A-Z]{1,2}\d[A-Z\d]?[ \t]\d[A-Z]{2}\b"
_TOWN = rf"(?:[A-Z]{{1,2}}-)?\d{{4,5}}[ \t]+{_CAPITAL}(?:[ \t]+{_CAPITAL})?"
_STREET = re.compile(
    rf"\b\d{{1,5}}[A-Za-z]?[ \t]+(?:{_CAPITAL}[ \t]+){{1,3}}"
    r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Square|Sq|Way|Place|"
    rf"Pl)\b\.?(?:,?[ \t]*(?:(?:{_CAPITAL}|[A-Z]{{2}})[ \t,]*){{1,3}}"
    rf"(?:(?:[A-Z]{{2}}[ \t]+)?\d{{4,6}}|{_UK_POSTCODE}))?"
    rf"|\b{_CAPITAL}(?:straße|strasse|str\.|weg|platz|gasse|allee)[ \t]+\d{{1,4}}[a-z]?"
    rf"(?:,?[ \t]*{_TOWN})?"
    rf"|\b\d{{1,4}},?[ \t]+(?:rue|avenue|boulevard|place)[ \t]+(?:[\w'’-]+[ \t]*){{1,4}}"
    rf"(?:,[ \t]*{_TOWN})?"
    rf"|\b{_CAPITAL}[ \t]+(?:(?:{_CAPITAL}|de[nmrl]?|las?|los|di|am|an|im|zu[mr])[ \t]+){{0,3}}"
    rf"\d{{1,4}}[a-z]?,[ \t]*{_TOWN}"
    rf"|\b{_UK_POSTCODE}"
    rf"|\b(?:P\.?O\.?[ \t]*Box|Postfach)[ \t]+\d+"
)  # fmt: skip
_REGIONS = ("US", "GB", "DE", "FR")
"""Numbers without a country code are tried as those of these."""

_PLACEHOLDER = re.compile(r"\[?\b(PERSON|EMAIL|PHONE|ACCOUNT|ADDRESS|NUMBER)_(\d+)\b\]?")
_NOT_NAMES = frozenset(
    (
        "sir", "madam", "all", "team", "everyone", "colleagues", "customer", "support", "manager",
        "sales", "next", "finally", "then", "first", "process", "start", "end", "if", "when",
        "after", "once", "there", "damen", "herren", "the", "der", "die", "das", "des", "dem",
        "den", "ein", "eine", "les", "los", "las", "una", "und", "and", "for", "with", "from",
    )
)  # fmt: skip


class Redactor:
    """Replaces personal data, and puts it back; one for all texts of a run.

    Attributes:
        finds_names: whether names of persons are found by more than their form.
    """

    def __init__(self, *, use_parser: bool = True) -> None:
        self._parser = parser() if use_parser else None
        self.finds_names = self._parser is not None
        self._placeholders: dict[tuple[str, str], str] = {}
        self._originals: dict[str, str] = {}
        self._seen: set[str] = set()

    @property
    def replaced(self) -> int:
        """How many different pieces of personal data were replaced so far."""
        return len(self._originals)

    def redact(self, text: str) -> str:
        """The text with placeholders such as `[PERSON_1]`.

        Example:
            >>> Redactor(use_parser=False).redact("Mail ann@example.org")
            'Mail [EMAIL_1]'
        """
        self._seen.update(f"{kind}_{number}" for kind, number in _PLACEHOLDER.findall(text))
        parts: list[str] = []
        at = 0
        found = _disjoint(self._found(text))
        persons = {text[start:end] for start, end, kind in found if kind == "PERSON"}
        persons |= {original for kind, original in self._placeholders if kind == "PERSON"}
        for start, end, kind in _disjoint((*found, *_persons_again(text, persons))):
            parts += [text[at:start], self._placeholder(kind, text[start:end])]
            at = end
        return "".join((*parts, text[at:]))

    def restore(self, text: str, *, json: bool = False) -> str:
        """The text with the originals in the place of placeholders; `json` where it is JSON text,
        within whose strings they stand."""

        def original(match: re.Match[str]) -> str:
            found = self._originals.get(f"{match[1]}_{match[2]}")
            if found is None:
                return match[0]
            shown = json_module.dumps(found, ensure_ascii=False)[1:-1] if json else found
            # A bracket that stands alone belongs to the text around.
            opening, closing = match[0].startswith("["), match[0].endswith("]")
            if opening and not closing:
                return f"[{shown}"
            return f"{shown}]" if closing and not opening else shown

        return _PLACEHOLDER.sub(original, text)

    def _placeholder(self, kind: str, original: str) -> str:
        folded = " ".join(original.split())
        key = (kind, folded)
        if key not in self._placeholders:
            number = 1
            while f"{kind}_{number}" in self._originals or f"{kind}_{number}" in self._seen:
                number += 1
            self._originals[f"{kind}_{number}"] = folded
            self._placeholders[key] = f"[{kind}_{number}]"
        return self._placeholders[key]

    def _found(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Where personal data stands, and of what kind; what is found first wins over the rest."""
        yield from (_spot(m, "EMAIL") for m in _EMAIL.finditer(text))
        yield from (_spot(m, "ACCOUNT") for m in _IBAN.finditer(text) if _is_iban(m[0]))
        yield from (_spot(m, "ACCOUNT") for m in _CARD.finditer(text) if _is_card(m[0]))
        yield from (_spot(m, "NUMBER") for m in _SOCIAL.finditer(text))
        for match in _NUMBERED.finditer(text):
            if sum(c.isdigit() for c in match[1]) >= 5:
                yield match.start(1), match.end(1), "ACCOUNT"
        yield from ((start, end, "PHONE") for start, end in _phones(text))
        yield from (_spot(m, "ADDRESS") for m in _STREET.finditer(text))
        for form in (_TITLED, _GREETED, _SIGNED, _HEADER, _CALLED):
            for match in form.finditer(text):
                if match[1].lower().split()[0] not in _NOT_NAMES:
                    yield match.start(1), match.end(1), "PERSON"
        if self._parser is not None:
            for at in range(0, len(text), MAX_CHARACTERS):
                for entity in self._parser(text[at : at + MAX_CHARACTERS]).ents:
                    if entity.label_ == "PERSON" and _is_name(entity.text):
                        yield at + entity.start_char, at + entity.end_char, "PERSON"


def _spot(match: re.Match[str], kind: str) -> tuple[int, int, str]:
    return match.start(), match.end(), kind


def _persons_again(text: str, persons: Iterable[str]) -> Iterator[tuple[int, int, str]]:
    """Where persons who were found stand elsewhere, whole names first: also by the first or the
    last name alone, and by both in one word, as in logins. A part of a name that is a word of the
    text in small letters, too ("will", "mark"), is none."""
    names = sorted(persons, key=lambda name: (-len(name), name))
    for name in names:
        whole = rf"(?<![\w\[]){re.escape(name)}(?![\w\]])"
        yield from (_spot(m, "PERSON") for m in re.finditer(whole, text))
    for name in names:
        words = name.split()
        if len(words) < 2:
            continue
        first, last = words[0], words[-1]
        login = rf"(?<!\w){re.escape(first)}[._-]{re.escape(last)}(?!\w)"
        yield from (_spot(m, "PERSON") for m in re.finditer(login, text, re.IGNORECASE))
        for part in (first, last):
            if len(part) < 3 or not part[0].isupper() or part.lower() in _NOT_NAMES:
                continue
            if not re.search(rf"(?<![\w.@/-]){re.escape(part.lower())}(?![\w@/-]|\.\w)", text):
                alone = rf"(?<![\w\[]){re.escape(part)}(?![\w\]])"
                yield from (_spot(m, "PERSON") for m in re.finditer(alone, text))


def _disjoint(found: Iterable[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Of places that overlap those that were found first, in the order of the text."""
    kept: list[tuple[int, int, str]] = []
    for start, end, kind in found:
        if all(end <= other[0] or start >= other[1] for other in kept):
            kept.append((start, end, kind))
    return sorted(kept)


def _phones(text: str) -> Iterator[tuple[int, int]]:
    """Phone numbers: those with a country code, valid ones of a few countries without, and what is
    written as one in North America."""
    yield from ((m.start(), m.end()) for m in _NORTH_AMERICAN.finditer(text))
    try:
        phones = import_module("phonenumbers")
    except ImportError:
        yield from ((m.start(), m.end()) for m in _PHONE_LIKE.finditer(text))
        return
    for region in (None, *_REGIONS):
        for match in phones.PhoneNumberMatcher(text, region):
            yield match.start, match.end


_NORTH_AMERICAN = re.compile(
    r"(?<![\w.-])"
    r"(?:\(\d{3}\)[ ]?\d{3}[-. ]\d{4}|\d{3}-\d{3}-\d{4}|\d{3}\.\d{3}\.\d{4})(?![\w-]|\.\d)"
)
_PHONE_LIKE = re.compile(r"(?<![\w.])(?:\+|00|\(?0)\d[\d ()/.-]{6,}\d(?![\w.])")


def _is_iban(text: str) -> bool:
    """ISO 13616: moved by four and read as a number in base 36 digits, 1 modulo 97."""
    plain = text.replace(" ", "")
    moved = plain[4:] + plain[:4]
    return 15 <= len(plain) <= 34 and int("".join(str(int(c, 36)) for c in moved)) % 97 == 1


def _is_card(text: str) -> bool:
    """ISO/IEC 7812: the check digit of Luhn."""
    digits = [int(c) for c in text if c.isdigit()]
    doubled = [d if n % 2 == 0 else d * 2 - 9 * (d > 4) for n, d in enumerate(reversed(digits))]
    return 13 <= len(digits) <= 19 and len(set(digits)) > 1 and sum(doubled) % 10 == 0


def _is_name(text: str) -> bool:
    """Whether what the parser calls a person may be one: capital letters, no digits, no line."""
    words = text.split()
    return (
        bool(words)
        and "\n" not in text
        and all(word[:1].isupper() for word in (words[0], words[-1]))
        and not any(character.isdigit() or character in "[]_" for character in text)
        and words[0].lower() not in _NOT_NAMES
    )
