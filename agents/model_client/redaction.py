"""Replaces personal data by placeholders before a text leaves the machine, and restores it in the
answer.

E-mail addresses, account and card numbers are found by their form and check digits, or by the
preceding word ("account", "BLZ"), phone numbers by Google's rules (`phonenumbers`), postal
addresses by their form, dates of birth by the preceding words. Names of persons are found by
spaCy's model and by given names of many languages (Faker's lists) if these are installed, and by
forms of address, roles, greetings, signatures, initials, labels, mail headers, mentions and e-mail
addresses (`zsofia.bernath@…`) in any case; also by the first or last name of a person found in
another text, in lower case and without accents. Placeholders are the same for the same text in one
run, so that a model can still distinguish persons.
"""

from __future__ import annotations

import json as json_module
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import import_module

from orgflow.agents.language.identification import seems_english
from orgflow.agents.language.lemmas import is_common_word
from orgflow.agents.language.lexicon import PersonsLexicon, load_lexicon
from orgflow.agents.language.parsing import MAX_CHARACTERS, load_parser
from orgflow.agents.model_client.given_names import given_names, stop_words
from orgflow.agents.model_client.mailboxes import is_function, names_in_address, plain_letters

_LEXICON = load_lexicon(PersonsLexicon)

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
    r"(?:[ \t]*-?(?:numbers?|nummer|no|nr|id|is)\b\.?)*[ \t]*[:#=(]?[ \t]*"
    r"([a-z]{0,3}\d[a-z\d]*(?:[ /.-]?[a-z]{0,2}\d[a-z\d]*)*)",
    re.IGNORECASE,
)
"""A number after the word that names its owner."""
_UPPER = "".join(re.escape(c) for c in map(chr, range(0x1F00)) if c.isupper())
_CAPITAL = rf"[{_UPPER}][\w'’-]+"
_INITIALS = rf"(?:[{_UPPER}][a-z]?\.[ \t-]?){{1,3}}"
_PARTICLES = (
    r"(?:(?:van|von|de|der|den|del|da|di|la|le|el|bin|al|zu|zum|zur|vom|Frhr\.|Freifrau|Freiherr)"
    r"[ \t]+)*"
)
_PART = rf"(?:{_INITIALS})?{_PARTICLES}{_CAPITAL}"
_NAME = rf"{_PART}(?:[ \t]+{_PART}){{0,3}}"
_INITIALLED = re.compile(rf"(?<![\w.])(?<!\W\w\. )({_INITIALS}{_PARTICLES}{_CAPITAL})")
_TITLED = re.compile(
    r"\b(?:(?:Mr|Mrs|Ms|Miss|Mx|Sir|Sister|Dr|Prof|Herrn?|Frau|Schwester|Monsieur|Madame|Señora?|Sig)"
    rf"\b\.?[ \t]+)+({_NAME})"
)
_GREETING = (
    r"(?m:^)[ \t>]*(?i:Dear|Hi|Hello|Hey|Good[ \t]+(?:morning|afternoon|evening)|Liebe[rs]?|Hallo"
    r"|Moin|Servus|Guten[ \t]+(?:Tag|Morgen|Abend)|Sehr[ \t]+geehrte[rs]?|Thanks"
    r"|Thank[ \t]+you|Danke|Vielen[ \t]+Dank),?[ \t]+"
)
_GREETED = re.compile(rf"{_GREETING}({_NAME})[ \t]*[,!:.]")
_GREETED_LOW = re.compile(rf"{_GREETING}([^\W\d_]{{3,}})[ \t]*[,!]")
_CLOSING = (
    r"(?m:^)[ \t>]*(?i:(?:with[ \t]+)?(?:(?:best|kind(?:est)?|warm(?:est)?|many)[ \t]+)?"
    r"(?:regards|wishes|thanks)|best|cheers|(?:yours[ \t]+)?(?:sincerely|faithfully|truly)|yours"
    r"|thank[ \t]+you|(?:mit[ \t]+)?"
    r"(?:(?:freundliche|viele|beste|liebe|herzliche|schöne)[nr]?[ \t]+)?"
    r"gr(?:ü|ue)(?:ß|ss)en?|gru(?:ß|ss)|lg|vg|mfg|hochachtungsvoll|danke|vielen[ \t]+dank)"
    r"[ \t]*[,!.]?"
)
_SIGNED = re.compile(
    rf"{_CLOSING}(?:[ \t]*\n+[ \t>]*|[ \t]+)({_NAME}(?:[ \t]+[{_UPPER}]\.)?)[ \t]*(?m:$)"
)
_SIGNED_LOW = re.compile(rf"{_CLOSING}[ \t]*\n+[ \t>]*([^\W\d_]{{3,}})[ \t]*(?:\n\s*\n|\s*\Z)")
_LAST_LINE = re.compile(r"\n[ \t]*\n[ \t>]*([^\W\d_]{3,}(?:[ \t]+[^\W\d_]{3,})?)\s*\Z")
_HEADER = re.compile(r"(?m)^[ \t>]*(?:From|To|Cc|Bcc|Sender|Von|An|Kopie)(:[ \t]*\S.*)$")
_LISTED = re.compile(
    rf"[:;,][ \t]*\"?({_CAPITAL},[ \t]+{_NAME}(?=\"?[ \t]*(?:[<;]|$))|{_NAME})\"?[ \t]*"
    r"(?:<[^>\n]*>[ \t]*)?(?=[;,]|$)",
    re.MULTILINE,
)
"""One of the names of a header, possibly with the last name first: `Kuusk, Anneliis; Hrdlicka,
Bohumil`."""
_DISPLAYED = re.compile(
    rf"(?:^|[\"',:;>(\d]|\b(?:[AaPp]\.?[Mm]|[Ff]rom|[Vv]on|[Ss]chrieb))[ \t]*({_NAME})\"?[ \t]+"
    r"(?:<(?=[\w.+'-]+@)|\[mailto:|(?:wrote|schrieb|a écrit)[ \t]*:)",
    re.MULTILINE,
)
"""A name before an address in angle brackets, also in the line above quoted text."""
_DELIMITED = re.compile(
    rf"(?m)^(?:--[ \t]*\n[ \t>]*|[ \t>]*(?:i\.?[ \t]?[AV]\.|ppa\.|gez\.)[ \t]+)({_NAME})[ \t]*$"
)
"""A signature below its delimiter, or signed for another person (`i. A.`)."""
_MENTIONED = re.compile(r"(?<![\w.@])@([^\W\d_](?:[^\W\d_]|-){2,}+)(?![\w@.-]*\.\w|[ \t]*\n)")
"""A mention in a chat: `@tariku please call`."""
_CALLED = re.compile(
    rf"\b(?i:my name is|I am|this is|named|contact person:?|ich bin|mein Name ist|hier ist)[ \t]+"
    rf"({_CAPITAL}(?:[ \t]+{_CAPITAL})+)"
)
_LABELLED = re.compile(
    r"\b(?i:present|absent|attendees|participants|clerk|contact|author|owner|applicant|patient"
    r"|anwesend|entschuldigt|teilnehmer(?:innen)?|sachbearbeiter(?:in)?|ansprechpartner(?:in)?"
    r"|antragsteller(?:in)?|bearbeiter(?:in)?|patientin|verantwortlich)[ \t]*:[ \t]*"
    rf"({_NAME}(?:[ \t]*(?:,|and|und)[ \t]*{_NAME})*)"
)
_ROLE = re.compile(
    r"\b(?i:kolleg(?:e|en|in)|kund(?:e|en|in)|mandant(?:en|in)?|patient(?:en|in)?|mentor(?:in)?"
    r"|\w*(?:leiter|berater|bearbeiter|mitarbeiter|vertreter|steller|mieter|bewerber|prüfer|chef)"
    r"(?:in)?|colleague|customer|client|manager|clerk)[ \t]+"
    rf"({_CAPITAL}(?:[ \t]+{_PARTICLES}{_CAPITAL})+)"
)
"""A person after the role: "die Projektleiterin Silke Armbruster"; at least two names, since a
single capitalised word is a noun in German."""
_WORD = re.compile(rf"(?<![\w@./\[-]){_CAPITAL}(?![\w@/\]]|\.\w)")
_SURNAME = re.compile(
    r"(?:[ \t]+|[ \t]*\n(?!\s*\n))"
    r"((?:(?:(?:van|von)(?:[ \t]+de[rnm])?|Frhr\.[ \t]+von|de|del|da|di|la|bin|al|zu)[ \t]+)?"
    rf"{_CAPITAL})"
)
_ARTICLE = re.compile(r"\b(?:der|die|das|des|dem|den|eine?[mnrs]?|the|this|each|every)\s+\Z", re.I)
_EACH = re.compile(_NAME)
_SPEAKER = re.compile(
    r"(?m)^(?:[\[(]?\d{1,2}:\d\d(?::\d\d)?(?:[ \t]?[AaPp][Mm])?[\])]?[ \t-]+)?"
    r"([^\W\d_][\w.-]{1,20}(?:[ \t][^\W\d_]\.)?):[ \t]+\S"
)
_DATE = (
    r"(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{1,2}\.?[ \t]+[^\W\d_]{3,9}\.?[ \t]+\d{4}"
    r"|[^\W\d_]{3,9}[ \t]+\d{1,2}(?:st|nd|rd|th)?,?[ \t]+\d{4})"
)
_BORN = re.compile(
    r"\b(?i:born|dob|d\.o\.b\.|date[ \t]+of[ \t]+birth|birth[ \t]*da(?:te|y)|geboren|geb\.?"
    r"|geburts(?:datum|tag))[^\n\d]{0,25}?\b"
    rf"({_DATE})"
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
_REMEMBERED = 512
"""Number of texts whose results are cached, so that none is searched twice."""
_REGIONS = ("US", "GB", "DE", "FR")
"""Numbers without a country code are tried with the codes of these countries."""

_PLACEHOLDER = re.compile(r"\[?\b(PERSON|EMAIL|PHONE|ACCOUNT|ADDRESS|NUMBER|BIRTHDATE)_(\d+)\b\]?")


class Redactor:
    """Replaces and restores personal data; one object for all texts of a run.

    Attributes:
        finds_names: whether names of persons are found by more than their form.
    """

    def __init__(self, *, use_parser: bool = True) -> None:
        self._parser = load_parser() if use_parser else None
        self.finds_names = self._parser is not None
        self._placeholders: dict[tuple[str, str], str] = {}
        self._originals: dict[str, str] = {}
        self._seen: set[str] = set()
        self._persons: set[str] = set()
        self._named: set[str] = set()
        self._known: dict[str, tuple[tuple[int, int, str], ...]] = {}

    @property
    def replaced(self) -> int:
        """The number of different pieces of personal data replaced so far."""
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
        for start, end, kind in self.spots(text):
            parts += [text[at:start], self._find_placeholder(kind, text[start:end])]
            at = end
        return "".join((*parts, text[at:]))

    def learn(self, texts: Iterable[str]) -> None:
        """Find the persons in related texts, so that a person named in full in a later text is
        replaced in all of them. Nothing is replaced yet."""
        for text in texts:
            self._own_spots(text)

    def spots(self, text: str) -> list[tuple[int, int, str]]:
        """The positions of personal data (start, end, kind), in the order of the text."""
        own = self._own_spots(text)
        return _drop_overlaps((*own, *_persons_again(text, self._persons, self._named)))

    def _own_spots(self, text: str) -> tuple[tuple[int, int, str], ...]:
        """What a text shows by itself; its persons are remembered."""
        if text not in self._known:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            spots = tuple(_drop_overlaps(self._find_spots(text)))
            persons = (text[start:end] for start, end, kind in spots if kind == "PERSON")
            self._persons.update(spelling for name in persons for spelling in _list_spellings(name))
            for start, end, kind in spots:
                if kind == "EMAIL" and (names := names_in_address(text[start:end], text)):
                    self._persons.update((" ".join(names), *names))
                    self._named.update((" ".join(names), *names))
            self._known[text] = spots
        return self._known[text]

    def restore(self, text: str, *, json: bool = False) -> str:
        """The text with placeholders replaced by the originals; `json` if it is JSON text, whose
        strings contain them."""

        def restore_match(match: re.Match[str]) -> str:
            original_text = self._originals.get(f"{match[1]}_{match[2]}")
            if original_text is None:
                return match[0]
            shown = (
                json_module.dumps(original_text, ensure_ascii=False)[1:-1]
                if json
                else original_text
            )
            # A bracket that stands alone belongs to the text around.
            opening, closing = match[0].startswith("["), match[0].endswith("]")
            if opening and not closing:
                return f"[{shown}"
            return f"{shown}]" if closing and not opening else shown

        return _PLACEHOLDER.sub(restore_match, text)

    def _find_placeholder(self, kind: str, original: str) -> str:
        folded = " ".join(original.split())
        key = (kind, folded)
        if key not in self._placeholders:
            number = 1
            while f"{kind}_{number}" in self._originals or f"{kind}_{number}" in self._seen:
                number += 1
            self._originals[f"{kind}_{number}"] = folded
            self._placeholders[key] = f"[{kind}_{number}]"
        return self._placeholders[key]

    def _find_spots(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Where personal data stands, and of what kind; what is found first wins over the rest."""
        yield from ((m.start(1), m.end(1), "BIRTHDATE") for m in _BORN.finditer(text))
        yield from (_spot_of_match(m, "EMAIL") for m in _EMAIL.finditer(text))
        yield from (_spot_of_match(m, "ACCOUNT") for m in _IBAN.finditer(text) if _is_iban(m[0]))
        yield from (_spot_of_match(m, "ACCOUNT") for m in _CARD.finditer(text) if _is_card(m[0]))
        yield from (_spot_of_match(m, "NUMBER") for m in _SOCIAL.finditer(text))
        for match in _NUMBERED.finditer(text):
            if sum(c.isdigit() for c in match[1]) >= 5:
                yield match.start(1), match.end(1), "ACCOUNT"
        yield from ((start, end, "PHONE") for start, end in _find_phones(text))
        yield from (_spot_of_match(m, "ADDRESS") for m in _STREET.finditer(text))
        yield from ((start, end, "PERSON") for start, end in self._by_form(text))
        yield from ((start, end, "PERSON") for start, end in _by_given_name(text))
        if self._parser is None:
            return
        english = seems_english(text)
        for at in range(0, len(text), MAX_CHARACTERS):
            for entity in self._parser(text[at : at + MAX_CHARACTERS]).ents:
                several = (
                    len(entity.text.split()) > 1
                )  # of other languages it takes any noun for one
                if (
                    entity.label_ == "PERSON"
                    and _is_name(entity.text)
                    and (english or (several and _is_foreign_name(entity.text)))
                    and _is_likely_name(entity.text, text[: at + entity.start_char])
                ):
                    yield at + entity.start_char, at + entity.end_char, "PERSON"

    def _by_form(self, text: str) -> Iterator[tuple[int, int]]:
        """Names of persons that titles, greetings, signatures, headers, labels and chats show."""
        spans = [
            (m.start(1), m.end(1))
            for form in (_TITLED, _GREETED, _SIGNED, _CALLED, _ROLE, _DISPLAYED, _DELIMITED)
            for m in form.finditer(text)
        ]
        spans += [m.span(1) for m in _MENTIONED.finditer(text) if not is_function(m[1])]
        for header in _HEADER.finditer(text):
            listed = _LISTED.finditer(text, header.start(1), header.end(1))
            spans += [m.span(1) for m in listed if not any(map(is_function, _words_of(m[1])))]
        for match in _INITIALLED.finditer(text):
            letters = re.match(_INITIALS, match[1])
            joined = re.sub(r"[^a-z]", "", letters[0].lower()) if letters is not None else ""
            if joined not in _LEXICON.not_initials:
                spans.append((match.start(1), match.end(1)))
        for match in _LABELLED.finditer(text):
            names = _EACH.finditer(text, match.start(1), match.end(1))
            spans += [m.span() for m in names if len(m[0].split()) > 1]
        spans = [span for span in spans if _may_be_named(text[span[0] : span[1]])]
        low = [_GREETED_LOW, _SIGNED_LOW]
        if spans or any(form.search(text) for form in low):
            low.append(_LAST_LINE)  # the signature of a message that has none of the usual closings
        for form in low:
            spans += [m.span(1) for m in form.finditer(text) if _may_be_named(m[1])]
        spans += _find_speakers(text)
        for start, end in spans:
            self._named.update(_list_spellings(text[start:end]))
        yield from spans


def _words_of(name: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", name)


def _list_spellings(name: str) -> tuple[str, ...]:
    """A name as it may stand elsewhere: the first name first, and without accents."""
    last, comma, first = (part.strip() for part in name.partition(","))
    ordered = f"{first} {last}" if comma else name
    return tuple(dict.fromkeys((name, ordered, plain_letters(ordered))))


def _by_given_name(text: str) -> Iterator[tuple[int, int]]:
    """Given names and what follows them in capitals, also in the genitive ("Luigis")."""
    names = given_names()
    if not names:
        return
    end = 0
    for match in _WORD.finditer(text):
        if match.start() < end or not _is_given(match[0], names, text):
            continue
        if _ARTICLE.search(text, max(0, match.start() - 10), match.start()):
            continue  # "der Mentor": a noun
        end = match.end()
        genitive = match[0] not in names and match[0].endswith("s")  # a noun follows
        for _ in range(0 if genitive else 3):
            after = _SURNAME.match(text, end)
            if after is None or not _may_follow(after[1]):
                break
            end = after.end()
        yield match.start(), end


def _is_given(word: str, names: frozenset[str], text: str) -> bool:
    """Whether a word is a given name and no other word: one that the text has in small letters, or
    that is a function word, a place or a noun, is none."""
    plain = word.removesuffix("'s").removesuffix("’s")
    parts = plain.split("-")
    known = plain in names or (len(parts) > 1 and all(part in names for part in parts))
    if not known and plain.endswith("s") and len(plain) > 4:
        plain = plain[:-1]
        known = plain in names
    low = plain.lower()
    if not known or low in stop_words() or low in _LEXICON.places or low in _LEXICON.also_words:
        return False
    return _may_be_named(plain) and not re.search(rf"(?<![\w.@/-]){re.escape(low)}(?!\w)", text)


def _may_follow(words: str) -> bool:
    """Whether what follows a given name may be the surname."""
    last = words.split()[-1]
    return _may_be_named(last) and last.lower() not in stop_words() and not last.isupper()


def _is_foreign_name(text: str) -> bool:
    """Whether several words that the English parser takes for a person in another language may be
    one: no function words, and nothing small but particles."""
    words = text.split()
    return all(word.lower() not in stop_words() for word in (words[0], words[-1])) and all(
        word[:1].isupper() or word in _LEXICON.particles for word in words
    )


def _is_likely_name(words: str, before: str) -> bool:
    """Whether what the parser takes for a person has a given name, or is several words of which
    none is a common one; without the lists of given names, everything is likely.

    Args:
        before: the text in front of it.
    """
    names = given_names()
    parts = words.split()
    if not names or any(part.removesuffix("'s") in names for part in parts):
        return True
    if len(parts) < 2 or _ARTICLE.search(before[-10:]) is not None:
        return False
    return not any(part.isupper() or is_common_word(part) for part in parts)


def _may_be_named(text: str) -> bool:
    """Whether a word in the position of a name is a name, and no other word that occurs there."""
    words = [word.lower().strip(".") for word in text.split()]
    return words[0] not in _LEXICON.not_names and words[-1] not in _LEXICON.organisations


def _find_speakers(text: str) -> list[tuple[int, int]]:
    """Who speaks in a chat: names at the beginnings of lines, one of which comes again."""
    labels = [m for m in _SPEAKER.finditer(text) if m[1].lower() not in _LEXICON.line_heads]
    again = any(len(re.findall(rf"(?<!\w){re.escape(m[1])}(?!\w)", text)) > 1 for m in labels)
    return [m.span(1) for m in labels] if again and len(labels) > 1 else []


def _spot_of_match(match: re.Match[str], kind: str) -> tuple[int, int, str]:
    return match.start(), match.end(), kind


_compiled = lru_cache(maxsize=16_384)(re.compile)
"""Patterns of names, for more persons than the cache of `re` can hold."""


def _persons_again(
    text: str, persons: Iterable[str], named: Iterable[str]
) -> Iterator[tuple[int, int, str]]:
    """Where persons who were found stand elsewhere, whole names first: also by the first or the
    last name alone, and by both in one word, as in logins. Names that may be words ("will", "mark")
    are none where the text has them in small letters; others are found in small letters as well.

    Args:
        named: those of them that a greeting, a signature or the like shows.
    """
    names = sorted(persons, key=lambda name: (-len(name), name))
    for name in names:
        whole = rf"(?<![\w\[]){re.escape(name)}(?![\w\]])"
        yield from (_spot_of_match(m, "PERSON") for m in _compiled(whole).finditer(text))
    sure = set(named)
    for name in names:
        words = name.split()
        if len(words) < 2 and name not in sure:
            continue
        first, last = words[0], words[-1]
        if len(words) > 1:
            login = rf"(?<!\w){re.escape(first)}[._-]{re.escape(last)}(?!\w)"
            yield from (
                _spot_of_match(m, "PERSON") for m in _compiled(login, re.IGNORECASE).finditer(text)
            )
        for part in dict.fromkeys((first, last)):
            low = part.lower()
            if (
                len(part) < 3
                or "." in part
                or low in _LEXICON.not_names
                or low in _LEXICON.organisations
            ):
                continue
            if low in _LEXICON.also_words or name not in sure:
                if _compiled(rf"(?<![\w.@/-]){re.escape(low)}(?![\w@/-]|\.\w)").search(text):
                    continue
                alone = rf"(?<![\w\[]){re.escape(part)}(?![\w\]])"
                yield from (_spot_of_match(m, "PERSON") for m in _compiled(alone).finditer(text))
            else:
                alone = rf"(?<![\w\[@.]){re.escape(part)}(?:s(?!\w))?(?![\w\]])"
                yield from (
                    _spot_of_match(m, "PERSON")
                    for m in _compiled(alone, re.IGNORECASE).finditer(text)
                )


def _drop_overlaps(spots: Iterable[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Of places that overlap those that were found first, in the order of the text."""
    kept: list[tuple[int, int, str]] = []
    for start, end, kind in spots:
        if all(end <= other[0] or start >= other[1] for other in kept):
            kept.append((start, end, kind))
    return sorted(kept)


def _find_phones(text: str) -> Iterator[tuple[int, int]]:
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
    """Whether what the parser calls a person may be one: capital letters, no digits, no empty
    line."""
    words = text.split()
    return (
        bool(words)
        and not re.search(r"\n\s*\n", text)
        and all(word[:1].isupper() for word in (words[0], words[-1]))
        and not any(character.isdigit() or character in "[]_,:" for character in text)
        and _may_be_named(text)
    )
