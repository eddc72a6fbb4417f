"""German mails, notices and calls about any task, in the short form of business mail, which needs
no articles."""

from __future__ import annotations

import re
from collections.abc import Callable

from orgflow.evaluation.corpus.language import Act, Language, split_lines, split_words

_IRREGULAR = {
    "schreiben": "geschrieben", "senden": "gesendet", "bringen": "gebracht", "geben": "gegeben",
    "nehmen": "genommen", "lesen": "gelesen", "finden": "gefunden", "ziehen": "gezogen",
    "schließen": "geschlossen", "sprechen": "gesprochen", "treffen": "getroffen",
    "tragen": "getragen", "laden": "geladen", "weisen": "gewiesen", "halten": "gehalten",
    "lassen": "gelassen", "bieten": "geboten", "binden": "gebunden", "schneiden": "geschnitten",
    "gehen": "gegangen", "kommen": "gekommen", "rufen": "gerufen", "messen": "gemessen",
    "werfen": "geworfen", "heben": "gehoben", "stehen": "gestanden", "tun": "getan",
    "werben": "geworben", "scheiden": "geschieden", "leihen": "geliehen", "wiegen": "gewogen",
    "fangen": "gefangen", "legen": "gelegt", "denken": "gedacht", "nennen": "genannt",
    "wenden": "gewendet", "fahren": "gefahren", "schlagen": "geschlagen",
}  # fmt: skip
_SEPARABLE = (
    "zurück", "weiter", "zusammen", "frei", "fest", "ab", "an", "auf", "aus", "bei", "ein", "fort",
    "her", "hin", "los", "mit", "nach", "vor", "weg", "zu", "durch",
)  # fmt: skip
_INSEPARABLE = ("be", "ver", "er", "ent", "zer", "emp", "miss", "ge")
_SYNONYMS: dict[str, tuple[str, ...]] = {
    "prüfen": ("kontrollieren", "durchsehen", "ansehen"),
    "senden": ("schicken", "abschicken"),
    "erstellen": ("anlegen", "aufsetzen"),
    "erfassen": ("eintragen", "aufnehmen"),
    "freigeben": ("genehmigen",),
    "bezahlen": ("begleichen", "überweisen"),
    "bestellen": ("ordern", "anfordern"),
    "informieren": ("benachrichtigen",),
    "vereinbaren": ("ausmachen", "festlegen"),
    "beantragen": ("einreichen",),
    "buchen": ("verbuchen", "eintragen"),
}


def form_participle(verb: str) -> str:
    """The second participle of an infinitive."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    for prefix in _SEPARABLE:
        stem = verb.removeprefix(prefix)
        if stem != verb and len(stem) > 4 and verb != "antworten":
            return prefix + form_participle(stem)
    for prefix in _INSEPARABLE:
        stem = verb.removeprefix(prefix)
        if stem != verb and len(stem) > 3:
            whole = _IRREGULAR.get(stem)
            return (
                prefix + whole.removeprefix("ge") if whole else prefix + _form_weak_participle(stem)
            )
    if verb.endswith("ieren"):
        return verb[:-2] + "t"
    return "ge" + _form_weak_participle(verb)


def _form_weak_participle(verb: str) -> str:
    stem = re.sub(r"e?n$", "", verb)
    return stem + ("et" if re.search(r"(?:[td]|[^lrh\W][mn])$", stem) else "t")


def divide_name(name: str) -> tuple[str, str, str]:
    """Subject (always empty), verb and object of a task's name: `Rechnung prüfen`."""
    parts = name.strip().rstrip("?!.").split()
    last = parts[-1]
    if len(parts) > 1 and last.islower() and last.endswith("n"):
        return "", last, " ".join(parts[:-1])
    return "", "erledigen", " ".join(parts)


def choose_forms(name: str, chance: Callable[[], float]) -> Act:
    """The forms of a task; now and then with another verb or a shorter object."""
    subject, verb, thing = divide_name(name)
    if chance() < 0.4 and verb in _SYNONYMS:
        choices = _SYNONYMS[verb]
        verb = choices[int(chance() * len(choices))]
    nouns = [word for word in thing.split() if word[:1].isupper()]
    short = nouns[0] if nouns else thing
    if chance() < 0.25:
        thing = short
    done = form_participle(verb)
    return Act(
        do=f"{thing} {verb}", did=f"{thing} {done}", doing=f"{thing} {verb}", done=done,
        thing=thing, short=short, subject=subject, topic=thing,
    )  # fmt: skip


GERMAN = Language(
    code="de",
    act=choose_forms,
    requests=split_lines(
        """
    Könntest du heute noch {do}?
    Bitte {do}, am besten bis {day}.
    Als Nächstes müssten wir {do}. Übernimmst du das?
    Bevor es weitergeht, sollten wir {do}.
    {name}, denkst du bitte daran: {do}.
    Wer kann {do}? Ich bin bis vier unterwegs.
    Ich möchte dich bitten, {thing} ist noch offen: bitte {do}.
    Darf ich dich noch um etwas bitten? Wir müssen {do}.
    """
    ),
    reports=split_lines(
        """
    Habe soeben {did}.
    Kurze Info: {did}, alles in Ordnung.
    Wie am {day} besprochen habe ich {did}.
    Erledigt, gestern Abend {did}.
    Hat etwas gedauert, aber nun ist {thing} {done}.
    {did}, Kopie liegt in der Ablage.
    Wir haben gleich nach deinem Anruf {did}.
    """
    ),
    plans=split_lines(
        """
    Ich werde gleich {do} und melde mich dann.
    Morgen früh wollen wir {do}.
    Bin gerade dabei: {do}.
    """
    ),
    passives=split_lines(
        """
    {thing} wurde um zehn {done}.
    {thing} ist nun {done}.
    Gute Nachricht, {thing} gilt als {done}.
    """
    ),
    obliques=split_lines(
        """
    {thing}: passt alles.
    Damit ist {thing} vom Tisch.
    Bei mir abgehakt, jetzt bist du dran.
    Zu {short}: geklärt, es kann weitergehen.
    """
    ),
    systems=split_lines(
        """
    AUTOMATISCHE NACHRICHT {ref}: {topic} {done}. Bitte nicht antworten.
    {ref}: Status geändert, {topic} ({done}).
    """
    ),
    answers=split_lines(
        """
    Danke, ist notiert.
    Prima, das ging ja schnell.
    Alles klar, ich übernehme.
    Passt, dann machen wir weiter.
    Verstanden. Ist dir etwas aufgefallen?
    Nein, alles wie erwartet.
    Entschuldige die späte Antwort, ich war unterwegs. Ja, gerne.
    """
    ),
    details=split_lines(
        """
    Es geht um {case}.
    Die Nummer ist {ref}.
    Näheres steht unter {ref}.
    Sie hätten es gern bis {day}.
    Du findest mich bis vier in {place}.
    Beim ersten Versuch ist die Seite abgestürzt, beim zweiten ging es.
    {amount} Euro, falls jemand fragt.
    Am Telefon war niemand zu erreichen.
    """
    ),
    talk=split_lines(
        """
    Dein Schirm steht übrigens noch bei mir.
    Wie war das Wochenende am See?
    Der Kaffee hier wird auch nicht besser.
    Mein Zug hatte wieder vierzig Minuten Verspätung.
    Hast du das Spiel gesehen?
    Grüße an die anderen.
    """
    ),
    greetings=split_lines(
        "Hallo {name},\nLiebe Grüße vorab, {name},\nGuten Morgen {name},\n{name},"
    ),
    closings=split_lines("Viele Grüße\nBeste Grüße\nMit freundlichen Grüßen\nDanke und Gruß"),
    subjects=split_lines("{topic}\n{ref}\n{case}\n{topic}, {case}\nFrage zu {topic}\nkurze Frage"),
    quote="Am {day} schrieb {name}:",
    days=split_lines("Montag\nDienstag\nMittwoch\nDonnerstag\nFreitag\nWochenende"),
    places=split_lines("Raum 4.12\nGebäude C\nder Ablage\nder Werkstatt\nder zweiten Etage"),
    cases=split_lines(
        "den Vorgang {last}\n{street} {number}\nAkte {number}\nFrau {last}\nHerrn {last}"
    ),
    streets=split_lines("Mühlgasse\nHafenstraße\nLindenallee\nBahnhofstraße\nAm Anger\nGartenweg"),
    first=split_words(
        "Anke Bernd Carola Detlef Elke Frieder Gesine Heiko Imke Jochen Kathrin Lutz Marlies "
        "Norbert Okka Peer Rieke Sönke Traudl Uwe Volker Wiebke Xaver Yvonne Zita Arndt Birgit "
        "Clemens Dörte Egon"
    ),
    last=split_words(
        "Ahlers Brandt Claasen Dierks Eggers Feddersen Gerlach Hinrichs Ihde Jansen Köster "
        "Lüders Mahnke Niemann Oltmanns Petersen Quast Rohwer Stüben Thomsen Uhlig Vogelsang "
        "Wulff Zander Behrens Carstens Drews Ebeling Frahm Grote"
    ),
    staff=split_lines(
        "Sachbearbeitung\nLeitung\nEinkauf\nLager\nBuchhaltung\nSekretariat\nTechnik"
    ),
    outside=split_lines("Kundin\nAntragsteller\nMitglied\nPartner"),
    system="Vorgangssystem (automatisch)",
    topics=split_lines(
        """
    Kaffeemaschine
    Parkplatz 12
    Sommerfest
    Aufzug
    Chorprobe
    Kantine
    Fahrradkeller
    Heizung im Anbau
    Tippspiel
    Betriebsausflug
    grauer Schal
    Blumen im Flur
    """
    ),
    openers=split_lines(
        """
    Weiß jemand etwas zum Thema {topic}?
    Noch einmal zum Thema {topic}: so geht das nicht weiter.
    Wer macht mit? Stichwort {topic}, {day}.
    Erinnerung an alle: {topic}.
    Lustige Geschichte, erzähle ich beim Essen: {topic}.
    """
    ),
    replies=split_lines(
        """
    Bin dabei.
    Ich lieber nicht, die Kinder.
    Keine Ahnung, frag mal im dritten Stock.
    Das war ich und ich bereue nichts.
    {day} passt mir.
    Ich könnte Kuchen mitbringen.
    Bitte nehmt mich aus dem Verteiler.
    Reden wir beim Essen.
    """
    ),
    pickup=split_lines("{name} am Apparat.\nJa, {name} hier.\n{name}, guten Morgen."),
    call=split_lines("besprech\nabstimm\nverhandel\nanruf\nberat\ntelefon"),
    notify=split_lines("informier\nbenachrichtig\nerinner\nbestätig\nmahn"),
)
