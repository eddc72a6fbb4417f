"""Phrases of German messages, as `Rechnung prüfen`: object and verb by word forms and word order.

No parser of German is needed: nouns have a capital, participles and infinitives stand at the end of
their clause after the object, and an imperative or a verb in second place stands before it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from orgflow.agents.discovery.phrases import MAX_TEXT, Phrase, subject_phrase


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ACTS = _words("""
abbauen abbestellen abbrechen abbuchen abgeben abgleichen abheben abholen ablegen ablehnen abliefern
abmelden abnehmen abrechnen abrufen absagen abschicken abschließen absenden abstimmen abwickeln
aktivieren aktualisieren ändern anfertigen anfordern anfragen anhören ankündigen anlegen anmelden
annehmen anpassen anrufen anschließen ansehen anweisen anzeigen archivieren aufbauen auffüllen
aufnehmen aufräumen aufstellen ausbauen ausführen ausfüllen ausgeben aushändigen ausladen auslagern
ausleihen ausliefern ausmessen ausschreiben aussortieren ausstellen austauschen auswählen auswerten
auszahlen autorisieren beantragen beantworten bearbeiten beauftragen befragen begleichen begutachten
benachrichtigen benennen beraten berechnen bereitstellen bergen berichten beschaffen bescheinigen
beschließen besetzen besichtigen besprechen bestätigen bestellen bestimmen beteiligen betreuen
beurteilen bewerten bewilligen bezahlen buchen debitieren dokumentieren drucken durchführen
durchsehen eichen einbauen einbestellen einholen einkaufen einladen einlagern einleiten einlesen
einordnen einpacken einplanen einreichen einrichten einschalten einsetzen einspielen einstellen
eintragen einweisen einziehen empfangen entfernen entlassen entleeren entnehmen entscheiden
entsorgen entwerfen erfassen erhalten erheben erinnern erklären ermitteln erneuern eröffnen
erstatten erstellen erteilen fakturieren fertigen festlegen feststellen freigeben freischalten
führen genehmigen gießen gutschreiben herausgeben herstellen hinterlegen hochladen impfen
informieren inserieren installieren inventarisieren kalibrieren kassieren kaufen klären
kommissionieren konfigurieren kontaktieren kontrollieren kopieren korrigieren kündigen laden lagern
leeren leihen liefern löschen mahnen markieren melden messen mieten mitteilen montieren
nachbestellen nachfordern nachreichen öffnen ordern packen pflegen planen präsentieren probieren
produzieren protokollieren prüfen quittieren räumen registrieren reinigen reklamieren reparieren
reservieren sammeln schicken schließen schreiben schulen senden sichern sichten sortieren speichern
sperren stempeln stornieren streichen tauschen terminieren testen transportieren trennen
überarbeiten übergeben übermitteln übernehmen überprüfen übersetzen übertragen überwachen überweisen
umbuchen umlagern unterrichten unterschreiben untersuchen unterzeichnen verabreichen vereinbaren
vergeben vergleichen verkaufen verlängern vermessen vermieten vermitteln veröffentlichen verpacken
verschicken versenden versichern verteilen vervielfältigen verwiegen vorbereiten vorlegen
vorschlagen vorstellen wählen warten wechseln weiterleiten widerrufen wiegen zahlen zeichnen
zerlegen zertifizieren zubereiten zulassen zurückgeben zurückrufen zurückschicken zurücksenden
zurückzahlen zusagen zusammenstellen zuschicken zusenden zustellen zustimmen zuteilen zuweisen
""")
"""Verbs of what organisations do, in whatever line of business."""

_TALK = _words("""
haben sein werden können müssen sollen wollen mögen dürfen kommen gehen sagen denken wissen sehen
hören finden glauben hoffen danken freuen bleiben brauchen machen tun lassen stehen liegen heißen
gefallen gehören passen gelten bedeuten wünschen grüßen verstehen vergessen versuchen kennen halten
laufen sitzen essen trinken reden sprechen spielen leben lieben fragen meinen bitten helfen fahren
dauern fehlen klappen schaffen reichen scheinen schlafen verlieren gewinnen fallen werfen zeigen
merken kümmern verzeihen entschuldigen hängen erleben erwarten vermissen bekommen kriegen geben
nehmen bringen stellen setzen legen ziehen treffen tragen wohnen arbeiten beginnen anfangen ankommen
""")
"""Verbs that say how people talk and where things are; they name no step."""

_STRONG = {
    "gebacken": "backen", "gebeten": "bitten", "geboten": "bieten", "gebogen": "biegen",
    "gebunden": "binden", "geblieben": "bleiben", "gebrochen": "brechen", "gebracht": "bringen",
    "gedacht": "denken", "gefahren": "fahren", "gefallen": "fallen", "gefangen": "fangen",
    "gefunden": "finden", "geflogen": "fliegen", "gefressen": "fressen", "gefroren": "frieren",
    "gegangen": "gehen", "gegeben": "geben", "gegessen": "essen", "gegossen": "gießen",
    "gegriffen": "greifen", "gehalten": "halten", "gehangen": "hängen", "gehoben": "heben",
    "geholfen": "helfen", "gekannt": "kennen", "gekommen": "kommen", "geladen": "laden",
    "gelassen": "lassen", "gelaufen": "laufen", "gelegen": "liegen", "geliehen": "leihen",
    "gelesen": "lesen", "gemessen": "messen", "genannt": "nennen", "genommen": "nehmen",
    "gerissen": "reißen", "gerufen": "rufen", "geschehen": "geschehen", "geschieden": "scheiden",
    "geschlagen": "schlagen", "geschliffen": "schleifen", "geschlossen": "schließen",
    "geschnitten": "schneiden", "geschoben": "schieben", "geschossen": "schießen",
    "geschrieben": "schreiben", "gesehen": "sehen", "gesessen": "sitzen", "gesprochen": "sprechen",
    "gesprungen": "springen", "gestanden": "stehen", "gestiegen": "steigen",
    "gestohlen": "stehlen", "gestrichen": "streichen", "gesunken": "sinken", "getan": "tun",
    "getragen": "tragen", "getrieben": "treiben", "getreten": "treten", "getroffen": "treffen",
    "getrunken": "trinken", "gewachsen": "wachsen", "gewaschen": "waschen", "gewesen": "sein",
    "gewichen": "weichen", "gewiesen": "weisen", "gewogen": "wiegen", "gewonnen": "gewinnen",
    "geworben": "werben", "geworden": "werden", "geworfen": "werfen", "gewunden": "winden",
    "gewusst": "wissen", "gezogen": "ziehen", "gezwungen": "zwingen", "gesandt": "senden",
    "gewandt": "wenden", "gewendet": "wenden", "gemocht": "mögen", "gehabt": "haben",
}  # fmt: skip
"""The participles that do not follow from their infinitive."""

_VOWELS = {
    "gibt": "geben", "nimmt": "nehmen", "liest": "lesen", "hält": "halten", "lädt": "laden",
    "trifft": "treffen", "spricht": "sprechen", "trägt": "tragen", "misst": "messen",
    "wirft": "werfen", "fährt": "fahren", "schlägt": "schlagen", "gib": "geben", "nimm": "nehmen",
    "lies": "lesen", "triff": "treffen", "sprich": "sprechen", "miss": "messen", "wirf": "werfen",
}  # fmt: skip
"""Forms of the present tense with another vowel than the infinitive."""

_SEPARABLE = (
    "zusammen", "herunter", "zurück", "weiter", "heraus", "nach", "bereit", "gegen", "durch",
    "frei", "fest", "fertig", "dazu", "fort", "hoch", "teil", "nieder", "ab", "an", "auf", "aus",
    "bei", "ein", "her", "hin", "los", "mit", "um", "vor", "weg", "zu", "gut",
)  # fmt: skip
_INSEPARABLE = (
    "hinter", "wider", "über", "unter", "durch", "miss", "emp", "ent", "ver", "zer", "be", "er",
)  # fmt: skip

_NO_PARTICIPLE = _words("""
gesamt geehrt geeignet gewohnt gespannt gemeint gerecht gesund geplant gefragt gemacht gebraucht
gedacht gestellt gehört gesagt gefreut gehofft gekriegt bekannt bereit gelernt einverstanden
""")

_MODAL = re.compile(
    r"kann|kannst|könn\w*|soll\w*|muss|musst|müss\w*|will|wollen|wollt\w*|möcht\w*|werd\w*|wird|"
    r"wirst|würd\w*|dürf\w*|darf\w*|lass|lassen|bitte|zu|mag|mögen"
)
"""Verbs with an infinitive."""

_ASKED = re.compile(r"\b(?:kann|könn|würd|magst|mögt|möcht)\w*\s+(?:sie|du|ihr|jemand)\b|\bbitte\b")
_SUPPOSED = re.compile(r"^(?:wenn|falls|sofern|ob|bevor|sobald|solange|dass|weil|da|obwohl)\b")
_NEGATED = re.compile(r"\b(?:nicht|kein\w*|ohne|niemand|nie|nichts|noch immer)\b")

_UNUSUAL = re.compile(r"\w{3,}(?:en|ern|eln)")
_ADVERBS = _words("""
morgen übermorgen gegen wegen oben unten hinten vorn neben zwischen gern gestern sofern modern
draußen drinnen drüben außen innen zusammen mitten gegenwärtigen anderen ersten zweiten nächsten
""")

_PREPOSITIONS = _words("""
ab am an ans auf aufs aus bei beim bis durch für gegen gegenüber gemäß hinter im in ins innerhalb je
laut mit nach neben ohne pro seit statt trotz über um unter unters vom von vor wegen wie zu zum zur
zwischen als
""")

_BETWEEN = re.compile(
    r"d(?:er|ie|as|en|em|es)|ein(?:e[nmrs]?)?|kein(?:e[nmrs]?)?|(?:mein|dein|sein|ihr|unser|euer|eur"
    r"|dies|jed|jen|welch|all|beid|viel|einig|mehrer|solch)e?[nmrs]?|frau|herrn?|\w{3,}(?:e|en|em|er|es)|\d+"
)
"""What may stand between a preposition and its noun: articles, adjectives, numbers."""

_EMPTY = _words("""
sie ihnen ihr ihre ihren ihrem ihrer ihres du dir dich dein deine euch eure herr frau herrn damen
herren montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz april mai
juni juli august september oktober november dezember woche wochen tag tage tagen monat monate jahr
jahre stunde stunden minute minuten uhr morgen mittag abend nacht vormittag nachmittag wochenende
euro cent prozent stück meter kilo liter gramm gruß grüße grüßen dank hallo moin zeit mal anfang
ende mitte seite fall weg art ding dinge sache sachen anderes neues alles nichts frage
fragen problem probleme grund bescheid ordnung moment leute mann mensch menschen kollegen kollege
kollegin chef chefin kunde kunden kundin fahrer gast gäste nachbar nachbarn team mail mails email
nachricht nummer ahnung glück spaß lust hand kopf auge augen heute gestern nähe rede freude schade
""")
"""Nouns and capitalised words that say nothing of what is done, or who does it."""

_NOUN = re.compile(
    r"\w{2,}(?:ung|heit|keit|schaft|tion|tät|nis|ment|anz|enz|ur|age|ie|ik)(?:en|s)?"
)
"""Endings that only nouns have."""

_SENDING = re.compile(
    r"\b(?:anbei|beiliegend|beigefügt|angehängt|im anhang|als anlage|in der anlage)\b"
)
_COMES = _words("eingehen eintreffen ankommen hereinkommen")

_TOKEN = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*|\d[\w.,-]*|[^\w\s]")
_SENTENCE = re.compile(r"[^\n]*?(?:(?<![\s.]\w)(?<!\bNr)(?<!\bAz)(?<!\bbzw)[.!?]+(?=\s|$)|\n|$)")
_CLAUSE = re.compile(
    r"[,;:()–]|\s-\s|\b(?:und|oder|aber|sondern|denn)\b", re.IGNORECASE
)  # fmt: skip

CLEAR, UNUSUAL = 1.6, 1.0


class _Word(NamedTuple):
    """A word of a clause: as it is written, in lower case, and whether it is a noun."""

    text: str
    lower: str
    noun: bool


def german_phrases(
    texts: Sequence[str], names: Collection[str], topics: Sequence[str] = ()
) -> list[list[Phrase]]:
    """The phrases of each German text, best first.

    Args:
        texts: what messages say.
        names: parts of people's names, in lower case, which are left out of phrases.
        topics: what each text is about where a verb has no object: `Genehmigt!`.
    """
    nouns = _nouns(texts)
    return [
        _of(text[:MAX_TEXT], names, nouns, topics[place] if topics else "")
        for place, text in enumerate(texts)
    ]


def _nouns(texts: Sequence[str]) -> frozenset[str]:
    """Words that are written with a capital inside sentences, mostly."""
    large: Counter[str] = Counter()
    for text in texts:
        for sentence in _sentences(text):
            for place, match in enumerate(re.finditer(r"[^\W\d_]{3,}", sentence[1])):
                if place:
                    word = match.group()
                    large[word.lower()] += 1 if word[0].isupper() else -1
    return frozenset(word for word, surplus in large.items() if surplus > 0)


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    for match in _SENTENCE.finditer(text):
        sentence = match.group()
        if sentence.strip() and not sentence.lstrip().startswith(">"):
            yield match.start() + len(sentence) - len(sentence.lstrip()), sentence.strip()


def _of(text: str, names: Collection[str], nouns: Collection[str], topic: str) -> list[Phrase]:
    found: dict[str, Phrase] = {}
    for place, (begin, sentence) in enumerate(_sentences(text)):
        object_before = ""
        ends = [0, *(m.end() for m in _CLAUSE.finditer(sentence)), len(sentence)]
        asks = bool(_ASKED.search(sentence.lower()))
        question = sentence.endswith("?")
        for first, last in pairwise(ends):
            clause = sentence[first:last]
            words = list(_clause(clause, names, nouns, first == 0))
            acts = list(_acts(words))
            for verb, noun, less in acts:
                thing = noun or object_before or (_topic(topic, names, nouns) if not less else "")
                object_before = noun or object_before
                if not thing:
                    continue
                score = CLEAR if verb in ACTS else UNUSUAL
                score += 0.3 if asks or not question else -0.3
                score += 0.3 if asks or not less else 0.0
                score -= 0.8 if _NEGATED.search(clause.lower()) else 0.0
                score -= 0.6 if _SUPPOSED.match(clause.strip().lower()) else 0.0
                score -= 0.0 if noun else 0.4
                score -= 0.04 * place
                name = f"{thing} {verb}"
                if name not in found or found[name].score < score:
                    found[name] = Phrase(
                        name, verb, (thing.lower(),), sentence, (begin, begin + len(sentence)),
                        score,
                    )  # fmt: skip
            if not acts:
                object_before = next((w.text for w in reversed(words) if w.noun), object_before)
    return sorted(found.values(), key=lambda p: (-p.score, p.span, p.name))


def _clause(
    clause: str, names: Collection[str], nouns: Collection[str], begins: bool
) -> Iterator[_Word]:
    """The words of a clause; at the beginning of a sentence a capital tells nothing."""
    for place, match in enumerate(_TOKEN.finditer(clause)):
        text = match.group()
        lower = text.lower()
        noun = (
            text[0].isupper() and len(text) > 2 and lower not in names and lower not in _EMPTY
            and (place > 0 or not begins or lower in nouns or bool(_NOUN.fullmatch(lower)))
        )  # fmt: skip
        yield _Word(text, lower, noun)


def _topic(subject: str, names: Collection[str], nouns: Collection[str]) -> str:
    """The thing that a subject line names."""
    words = list(_clause(subject_phrase(subject), names, nouns, False))
    things = [w.text for place, w in enumerate(words) if w.noun and not _governed(words, place)]
    return things[0] if things else ""


def _acts(words: Sequence[_Word]) -> Iterator[tuple[str, str, bool]]:
    """The verbs of a clause, each with its object (empty where there is none), and whether it is
    only a plan or a habit."""
    words = [word for word in words if word.text[0].isalnum()]
    lower = [word.lower for word in words]
    whole = " ".join(lower)
    if (
        _SENDING.search(whole)
        or (lower[-1:] == ["bei"] and {"liegt", "liegen"} & set(lower))
        or (lower[-1:] == ["an"] and {"hängt", "hängen"} & set(lower))
    ):
        thing = next(
            (w.text for p, w in enumerate(words) if w.noun and not _governed(words, p)), ""
        )
        if thing:
            yield "senden", thing, False
            return
    for place, word in enumerate(words):
        if word.noun:
            continue
        idiom = place > 0 and words[place - 1].lower == "wie"  # `wie besprochen`
        verb = None if idiom else _participle(word.lower)
        if verb is not None and verb in _COMES:
            thing = _before(words, place)
            if thing:
                yield "erhalten", thing, False
            continue
        if verb is not None and verb not in _TALK:
            yield verb, _before(words, place), False
            continue
        verb = _with_zu(word.lower)
        if verb is None and any(_MODAL.fullmatch(w.lower) for w in words[:place]):
            verb = word.lower if word.lower in _known() else None
            if verb is None and place == len(words) - 1 and _before(words, place):
                unusual = _UNUSUAL.fullmatch(word.lower) and word.lower not in _ADVERBS
                verb = word.lower if unusual else None
        if verb is not None and verb not in _TALK:
            # `bitte prüfen Sie den Antrag`: the object follows
            follows = place + 1 < len(words) and words[place + 1].lower in ("sie", "bitte")
            yield verb, _after(words, place) if follows else _before(words, place), True
            continue
        verb = _finite(word.lower, lower[-1] if lower else "")
        if verb is not None and verb not in _TALK:
            yield verb, _after(words, place) or _before(words, place, accusative=True), True


def _before(words: Sequence[_Word], place: int, accusative: bool = False) -> str:
    """The nearest noun before a word that no preposition governs."""
    for at in range(place - 1, -1, -1):
        if words[at].noun and not _governed(words, at):
            article = words[at - 1].lower if at else ""
            if not accusative or article in ("den", "die", "das", "einen", "eine", "ein"):
                return words[at].text
    return ""


def _after(words: Sequence[_Word], place: int) -> str:
    """The first noun after a word that no preposition governs."""
    for at in range(place + 1, len(words)):
        if words[at].noun and not _governed(words, at):
            return words[at].text
    return ""


def _governed(words: Sequence[_Word], place: int) -> bool:
    """Whether a noun follows a preposition, or a noun whose genitive it may be."""
    at = place - 1
    while (
        at >= 0 and not words[at].noun and words[at].lower not in _PREPOSITIONS
        and _BETWEEN.fullmatch(words[at].lower)
    ):  # fmt: skip
        at -= 1
    if at >= 0 and words[at].lower in _PREPOSITIONS:
        return True
    genitive = place - at > 1 and at >= 0 and words[at].noun
    return bool(genitive and words[at + 1].lower in ("des", "eines", "meines", "unseres", "ihres"))


@cache
def _participle(word: str) -> str | None:
    """The infinitive of a participle: `eingereicht` is of `einreichen`."""
    if word in _NO_PARTICIPLE:
        return None
    simple = _undivided(word)
    if simple is not None:
        return simple
    for particle in _SEPARABLE:
        if word.startswith(particle) and len(word) > len(particle) + 4:
            rest = _undivided(word[len(particle) :])
            if rest is not None:
                return particle + rest
    return None


def _undivided(word: str) -> str | None:
    """The infinitive of a participle without a separable particle."""
    if word in _STRONG:
        return _STRONG[word]
    if re.search(r"[^e]iert$", word) and len(word) > 6:
        return f"{word[:-1]}en"
    if word.startswith("ge") and word.endswith("t") and f"{word[:-1]}en" in _known():
        return f"{word[:-1]}en"
    weak = re.fullmatch(r"ge(\w{2,}?)(e?)t", word)
    if weak is not None and len(word) > 5:
        stem, _ = weak.groups()
        return f"{stem}n" if re.search(r"\w{2}e[lr]$", stem) else f"{stem}en"
    for prefix in _INSEPARABLE:
        rest = word.removeprefix(prefix)
        if rest == word or len(rest) < 3:
            continue
        strong = _STRONG.get(f"ge{rest}")
        if strong is not None:
            return prefix + strong
        stem = re.sub(r"e?t$", "", rest) if rest.endswith("t") else ""
        for whole in (f"{prefix}{stem}en", f"{prefix}{stem}n") if stem else ():
            if whole in _known():
                return whole
    return word if word in ("erhalten", "entlassen", "vergeben", "übergeben") else None


@cache
def _known() -> frozenset[str]:
    return ACTS | _TALK


@cache
def _with_zu(word: str) -> str | None:
    """The infinitive of one with `zu` in it: `einzureichen`."""
    for particle in _SEPARABLE:
        act = f"{particle}{word.removeprefix(f'{particle}zu')}"
        if word.startswith(f"{particle}zu") and act in ACTS:
            return act
    return None


@cache
def _stems() -> Mapping[str, frozenset[str]]:
    """The acts by the forms of the present and past tense without their particle."""
    found: dict[str, set[str]] = {}
    for act in ACTS:
        particle = _particle_of(act)
        base = act.removeprefix(particle)
        stem = re.sub(r"e?n$", "", base)
        link = "e" if re.search(r"[td]$|[^lrhaeiou][mn]$", stem) else ""
        forms = {base, f"{stem}e", f"{stem}{link}t", f"{stem}{link}st", f"{stem}{link}te",
                 f"{stem}{link}ten"}  # fmt: skip
        forms |= {form for form, whole in _VOWELS.items() if whole == base}
        for form in forms:
            found.setdefault(form, set()).add(act)
    return {form: frozenset(acts) for form, acts in found.items()}


def _particle_of(verb: str) -> str:
    """The separable particle of a verb; empty where it has none."""
    if verb.startswith("hinter"):
        return ""
    return next(
        (one for one in _SEPARABLE if verb.startswith(one) and len(verb) > len(one) + 4), ""
    )


def _finite(word: str, last: str) -> str | None:
    """The infinitive of a verb in the present or past tense; `last` is the last word of its clause,
    which may be its particle."""
    acts = _stems().get(word, frozenset())
    divided = {act for act in acts if _particle_of(act)}
    if last in _SEPARABLE and last != word:
        return next((act for act in sorted(divided) if _particle_of(act) == last), None)
    whole = sorted(acts - divided)
    return whole[0] if whole else None
