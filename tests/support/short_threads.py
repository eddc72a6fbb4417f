"""Mailboxes as most shared ones are: threads of two to four mails of four processes, and noise.

Every mail is put together of sentences, each with several wordings, with varying people, things and
numbers. Some of the noise is in threads, too. Nothing here has a wording of `synth`.
"""

# ruff: noqa: E501 - sentences in one piece each

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from orgflow.agents.discovery.discover import Discovery
from orgflow.evaluation.discovery import Truth

from orgflow_ir.model.message import Message, Person

Wordings = Sequence[str]


class Mail(NamedTuple):
    """A mail of a process: who writes (`asker`, or the part of a colleague), and its sentences."""

    sender: str
    sentences: Sequence[Wordings]


class Kind(NamedTuple):
    """A process: subjects and possible mails of its threads, and things they are about."""

    subjects: Wordings
    threads: Sequence[Sequence[Mail]]
    things: Wordings


class Corpus(NamedTuple):
    """Messages, and the process and case of each that is not noise."""

    messages: list[Message]
    process: dict[str, str]
    case: dict[str, str]

    @property
    def truth(self) -> Truth:
        """The same, to measure a discovery with."""
        kinds = sorted(set(self.process.values()))
        return Truth(
            dict.fromkeys(kinds, ""), dict.fromkeys(kinds, ()), self.process, self.case
        )  # fmt: skip


def in_right_process(found: Discovery, process: Mapping[str, str]) -> float:
    """The share of messages in the one found process that is theirs: it has most messages of the
    true one, and of no other true one (nor of noise) as many."""
    where = {id_: n for n, one in enumerate(found.processes) for case in one.cases for id_ in case}
    most_true = [
        Counter(process.get(id_, "") for case in one.cases for id_ in case).most_common(1)[0][0]
        for one in found.processes
    ]
    right = 0
    for kind in set(process.values()):
        ids = [id_ for id_, name in process.items() if name == kind]
        for number, count in Counter(where[i] for i in ids if i in where).most_common(1):
            right += count if most_true[number] == kind else 0
    return right / len(process)


def _kinds_en() -> dict[str, Kind]:
    ask = Mail("asker", (
        ("Hi {boss},", "Hello {boss},", "{boss}, quick one:"),
        ("I would like to buy {thing} for {money} euros.", "We need {thing}, the quote is {money} EUR.",
         "Could you approve the purchase of {thing}? It costs {money} euros."),
        ("The supplier's offer is attached.", "The old one broke last week.",
         "It would come out of our team's budget.", "The vendor can deliver within ten days."),
    ))  # fmt: skip
    back = Mail("boss", (
        ("Is there a cheaper supplier?", "Please get a second quote first.",
         "Which cost centre does the purchase go to?"),
        ("Otherwise fine with me.", "I can only approve it with that.", "Let me know and I sign."),
    ))  # fmt: skip
    answer = Mail("asker", (
        ("I got a second quote, {money} euros is the best offer.", "Cost centre {number}.",
         "I asked two other vendors, both are more expensive."),
    ))  # fmt: skip
    granted = Mail("boss", (
        ("Approved.", "I approve the purchase, go ahead.", "Fine, you may order {thing}."),
        ("Please send the order to the supplier.", "Put it on budget {number}.",
         "Send me the delivery note when it is here."),
    ))  # fmt: skip
    ordered = Mail("asker", (
        ("I placed the order with the supplier.", "Ordered, the purchase order is {number}.",
         "Order sent, delivery next week."),
    ))  # fmt: skip
    leave = Mail("asker", (
        ("Dear {boss},", "Hi {boss},", "Hello,"),
        ("I would like to take vacation from {day} to {later}.",
         "I want to request annual leave, {day} until {later}.",
         "Can I have the days from {day} to {later} off?"),
        ("{colleague} covers for me.", "I have {few} vacation days left.",
         "The handover is with {colleague}.", "We are travelling with the children."),
    ))  # fmt: skip
    leave_ok = Mail("boss", (
        ("Your leave is approved.", "I approved your vacation days.", "Granted, have a good holiday."),
        ("Enjoy the time off.", "Please set an absence note in your calendar.",
         "I entered it in the absence calendar."),
    ))  # fmt: skip
    leave_ask = Mail("boss", (
        ("Who covers for you in that time?", "{colleague} is on vacation in the same week.",
         "How many vacation days do you have left?"),
    ))  # fmt: skip
    leave_back = Mail("asker", (
        ("{colleague} agreed to stand in during my absence.", "I could also take leave a week later.",
         "I still have {few} days of annual leave."),
    ))  # fmt: skip
    complaint = Mail("outsider", (
        ("Good morning,", "To whom it may concern,", "Hello,"),
        ("the {thing} I received from you is damaged.", "my {thing} arrived with a scratch and does not work.",
         "I am very unhappy with the {thing}, it stopped working after a week."),
        ("I want my money back.", "Please send me a replacement.", "What are you going to do about this complaint?"),
    ))  # fmt: skip
    sorry = Mail("service", (
        ("We are sorry about the defective {thing}.", "I apologise for the trouble with your {thing}.",),
        ("Could you send us a photo of the damage?", "Please send the faulty {thing} back to us.",
         "We examine your complaint and come back to you."),
    ))  # fmt: skip
    photo = Mail("outsider", (
        ("Here is a photo of the damage.", "I returned the broken {thing} with the parcel service today.",
         "The picture shows the crack in the {thing}."),
    ))  # fmt: skip
    solved = Mail("service", (
        ("We sent you a replacement {thing}.", "We refund the full price of the {thing}.",
         "A new {thing} left our warehouse today."),
        ("I hope this settles your complaint.", "Again, our apologies.",),
    ))  # fmt: skip
    question = Mail("outsider", (
        ("Hello accounts,", "Good afternoon,", "Hi,"),
        ("I have a question about your invoice {number}.", "your invoice {number} over {money} euros seems wrong.",
         "on invoice {number} we were charged {money} euros twice."),
        ("Which hours does the second line cover?", "The VAT rate does not fit.",
         "When is the payment due?", "Our reference is missing on it."),
    ))  # fmt: skip
    explained = Mail("accounts", (
        ("I checked the invoice.", "I looked at the billing for invoice {number}."),
        ("The amount includes the service fee.", "The tax on it is right, see the breakdown.",
         "The payment is due in thirty days.", "You are right, a line was billed twice."),
    ))  # fmt: skip
    corrected = Mail("outsider", (
        ("Then please send us a corrected invoice.", "Thanks, could we get a credit note for the difference?",
         "We will pay the invoice this week then."),
    ))  # fmt: skip
    credit = Mail("accounts", (
        ("The corrected invoice is attached.", "I issued a credit note over {money} euros.",
         "I booked your payment for invoice {number}."),
    ))  # fmt: skip
    return {
        "purchase": Kind(
            ("Purchase of {thing}", "Approval needed: {thing}", "Request to buy {thing}", "{thing}"),
            ((ask, granted), (ask, back, answer), (ask, back, answer, granted), (ask, granted, ordered)),
            ("a new monitor", "two office chairs", "a label printer", "a drill set", "a laptop dock",
             "a coffee grinder", "three headsets", "a projector", "shelving", "a torque wrench"),
        ),
        "leave": Kind(
            ("Vacation {day}", "Leave request", "Days off in {month}", "Annual leave {asker}"),
            ((leave, leave_ok), (leave, leave_ask, leave_back, leave_ok), (leave, leave_ask, leave_back)),
            ("leave",),
        ),
        "complaint": Kind(
            ("Damaged {thing}", "Complaint", "{thing} does not work", "Disappointed with my {thing}"),
            ((complaint, sorry), (complaint, solved), (complaint, sorry, photo), (complaint, sorry, photo, solved)),
            ("kettle", "garden hose", "desk lamp", "vacuum cleaner", "toaster", "blender", "rucksack",
             "radio", "hair dryer", "bicycle pump"),
        ),
        "invoice": Kind(
            ("Invoice {number}", "Question about your invoice", "Your bill {number}", "Wrong amount on invoice"),
            ((question, explained), (question, explained, corrected), (question, explained, corrected, credit)),
            ("invoice",),
        ),
    }  # fmt: skip


def _kinds_de() -> dict[str, Kind]:
    ask = Mail("asker", (
        ("Hallo {boss},", "Guten Morgen {boss},", "{boss}, kurze Frage:"),
        ("ich möchte {thing} für {money} Euro kaufen.", "wir brauchen {thing}, das Angebot liegt bei {money} EUR.",
         "kannst du die Beschaffung freigeben: {thing}, {money} Euro?"),
        ("Das Angebot des Lieferanten hängt an.", "Das alte Gerät ist letzte Woche kaputt gegangen.",
         "Es ginge auf unser Budget.", "Der Lieferant kann in zehn Tagen liefern."),
    ))  # fmt: skip
    back = Mail("boss", (
        ("Gibt es einen günstigeren Lieferanten?", "Bitte erst ein zweites Angebot einholen.",
         "Auf welche Kostenstelle geht die Bestellung?"),
        ("Sonst ist es für mich in Ordnung.", "Nur damit kann ich es freigeben."),
    ))  # fmt: skip
    answer = Mail("asker", (
        ("Ich habe ein zweites Angebot, {money} Euro ist der beste Preis.", "Kostenstelle {number}.",
         "Ich habe zwei andere Lieferanten gefragt, beide sind teurer."),
    ))  # fmt: skip
    granted = Mail("boss", (
        ("Freigegeben.", "Ich genehmige die Beschaffung.", "In Ordnung, du kannst bestellen."),
        ("Bitte schick die Bestellung an den Lieferanten.", "Buche es auf Budget {number}.",
         "Schick mir den Lieferschein, wenn es da ist."),
    ))  # fmt: skip
    leave = Mail("asker", (
        ("Liebe {boss},", "Hallo {boss},", "Guten Tag,"),
        ("ich möchte vom {day} bis {later} Urlaub nehmen.", "hiermit beantrage ich Urlaub, {day} bis {later}.",
         "kann ich vom {day} bis {later} frei haben?"),
        ("{colleague} vertritt mich.", "Ich habe noch {few} Urlaubstage.", "Die Übergabe mache ich mit {colleague}."),
    ))  # fmt: skip
    leave_ok = Mail("boss", (
        ("Dein Urlaub ist genehmigt.", "Ich habe deine Urlaubstage bestätigt.", "Genehmigt, schönen Urlaub."),
        ("Erhol dich gut.", "Bitte trag die Abwesenheit im Kalender ein.", "Ich habe es in den Urlaubskalender eingetragen."),
    ))  # fmt: skip
    leave_ask = Mail("boss", (
        ("Wer vertritt dich in der Zeit?", "{colleague} hat in derselben Woche Urlaub.",
         "Wie viele Urlaubstage hast du noch?"),
    ))  # fmt: skip
    leave_back = Mail("asker", (
        ("{colleague} übernimmt die Vertretung während meines Urlaubs.", "Ich könnte den Urlaub auch eine Woche später nehmen.",
         "Ich habe noch {few} Tage Resturlaub."),
    ))  # fmt: skip
    complaint = Mail("outsider", (
        ("Guten Tag,", "Sehr geehrte Damen und Herren,"),
        ("das Produkt ({thing}) kam beschädigt an.", "mein Artikel ({thing}) hat einen Kratzer und funktioniert nicht.",
         "nach einer Woche ist die Ware ({thing}) schon defekt."),
        ("Ich möchte mein Geld zurück.", "Bitte schicken Sie mir Ersatz.", "Was tun Sie wegen dieser Reklamation?"),
    ))  # fmt: skip
    sorry = Mail("service", (
        ("Es tut uns leid, dass die Ware defekt ist.", "Bitte entschuldigen Sie den Ärger mit dem Artikel ({thing})."),
        ("Können Sie uns ein Foto des Schadens schicken?", "Bitte senden Sie den defekten Artikel zurück.",
         "Wir prüfen Ihre Reklamation und melden uns."),
    ))  # fmt: skip
    photo = Mail("outsider", (
        ("Anbei ein Foto des Schadens.", "Ich habe den defekten Artikel heute zurückgeschickt.",
         "Auf dem Bild sieht man den Riss ({thing})."),
    ))  # fmt: skip
    solved = Mail("service", (
        ("Wir haben Ihnen Ersatz geschickt ({thing}).", "Wir erstatten Ihnen den vollen Preis des Artikels.",
         "Ein neuer Artikel hat heute unser Lager verlassen."),
        ("Ich hoffe, Ihre Reklamation ist damit erledigt.", "Nochmals Entschuldigung für den Schaden."),
    ))  # fmt: skip
    question = Mail("outsider", (
        ("Liebe Buchhaltung,", "Guten Tag,", "Hallo,"),
        ("ich habe eine Frage zu Ihrer Rechnung {number}.", "Ihre Rechnung {number} über {money} Euro scheint falsch zu sein.",
         "auf Rechnung {number} wurden {money} Euro doppelt berechnet."),
        ("Welche Stunden deckt die zweite Position ab?", "Der Steuersatz stimmt nicht.",
         "Wann ist die Zahlung fällig?", "Unsere Bestellnummer fehlt darauf."),
    ))  # fmt: skip
    explained = Mail("accounts", (
        ("Ich habe die Rechnung geprüft.", "Ich habe mir die Abrechnung zu Rechnung {number} angesehen."),
        ("Der Betrag enthält die Servicepauschale.", "Die Steuer darauf stimmt, siehe Aufstellung.",
         "Die Zahlung ist in dreißig Tagen fällig.", "Sie haben recht, eine Position wurde doppelt berechnet."),
    ))  # fmt: skip
    corrected = Mail("outsider", (
        ("Dann schicken Sie uns bitte eine korrigierte Rechnung.", "Danke, bekommen wir eine Gutschrift über die Differenz?",
         "Dann zahlen wir die Rechnung diese Woche."),
    ))  # fmt: skip
    credit = Mail("accounts", (
        ("Die korrigierte Rechnung hängt an.", "Ich habe eine Gutschrift über {money} Euro erstellt.",
         "Ich habe Ihre Zahlung zu Rechnung {number} gebucht."),
    ))  # fmt: skip
    return {
        "purchase": Kind(
            ("Beschaffung {thing}", "Freigabe nötig: {thing}", "{thing} kaufen", "Bestellung {thing}"),
            ((ask, granted), (ask, back, answer), (ask, back, answer, granted)),
            ("ein Monitor", "zwei Bürostühle", "ein Etikettendrucker", "ein Bohrer-Set", "eine Dockingstation",
             "eine Kaffeemühle", "drei Headsets", "ein Beamer", "ein Regal"),
        ),
        "leave": Kind(
            ("Urlaub {day}", "Urlaubsantrag", "Freie Tage im {month}", "Urlaub {asker}"),
            ((leave, leave_ok), (leave, leave_ask, leave_back, leave_ok), (leave, leave_ask, leave_back)),
            ("Urlaub",),
        ),
        "complaint": Kind(
            ("Beschädigt: {thing}", "Reklamation", "{thing} funktioniert nicht", "Enttäuscht: {thing}"),
            ((complaint, sorry), (complaint, solved), (complaint, sorry, photo), (complaint, sorry, photo, solved)),
            ("Wasserkocher", "Gartenschlauch", "Schreibtischlampe", "Staubsauger", "Toaster", "Mixer",
             "Rucksack", "Radio", "Föhn", "Luftpumpe"),
        ),
        "invoice": Kind(
            ("Rechnung {number}", "Frage zu Ihrer Rechnung", "Ihre Rechnung {number}", "Falscher Betrag auf der Rechnung"),
            ((question, explained), (question, explained, corrected), (question, explained, corrected, credit)),
            ("Rechnung",),
        ),
    }  # fmt: skip


NOISE = {
    "en": (
        ("Fire drill on {day}", ("There is a fire drill on {day} at eleven.", "Please leave by the nearest stairs.")),
        ("Cake in the kitchen", ("I brought cake for my birthday.", "First come, first served.")),
        ("Car park closed", ("The car park is being resurfaced until {day}.", "Use the gravel lot behind the gym.")),
        ("Newsletter {month}", ("In this issue: our trade fair, three new faces and the football league.",)),
        ("Lost scarf", ("Somebody left a green scarf in the canteen.", "It is at the front desk.")),
        ("Network maintenance", ("The wireless network is down on {day} from ten at night.",)),
        ("Summer party", ("The summer party is by the lake this year.", "Tell {colleague} whether you sing.")),
        ("Window cleaning", ("The windows get cleaned on {day}.", "Clear your sills, please.")),
        ("Football tonight?", ("Anyone up for a match after work?", "We are two short.")),
        ("Marathon results", ("{colleague} ran it in under four hours!", "Congratulations from all of us.")),
        ("New lift code", ("From {day} the lift asks for a code.", "Reception has it.")),
        ("Blood donation", ("The bus of the blood bank stands in the yard on {day}.",)),
    ),
    "de": (
        ("Feueralarm-Übung", ("Am {day} um elf Uhr ist Probealarm.", "Bitte nehmt die nächste Treppe.")),
        ("Kuchen in der Küche", ("Ich habe zum Geburtstag Kuchen mitgebracht.", "Greift zu!")),
        ("Parkplatz gesperrt", ("Der Parkplatz wird bis {day} neu asphaltiert.", "Parkt hinter der Turnhalle.")),
        ("Rundbrief {month}", ("In dieser Ausgabe: unsere Messe, drei neue Gesichter und die Fußballrunde.",)),
        ("Schal gefunden", ("Jemand hat einen grünen Schal in der Kantine vergessen.", "Er liegt am Empfang.")),
        ("Wartung im Netz", ("Das WLAN ist am {day} ab zehn Uhr abends aus.",)),
        ("Sommerfest", ("Das Sommerfest ist dieses Jahr am See.", "Sagt {colleague}, ob ihr singt.")),
        ("Fensterputzer", ("Die Fenster werden am {day} geputzt.", "Räumt bitte die Bänke frei.")),
        ("Fußball heute?", ("Hat jemand nach der Arbeit Lust auf ein Spiel?", "Uns fehlen zwei.")),
        ("Marathon", ("{colleague} ist unter vier Stunden gelaufen!", "Glückwunsch von uns allen.")),
        ("Neuer Aufzugcode", ("Ab {day} will der Aufzug einen Code.", "Der Empfang hat ihn.")),
        ("Blutspende", ("Am {day} steht der Bus vom Blutspendedienst im Hof.",)),
    ),
}  # fmt: skip
ANSWERS = {
    "en": (
        "Count me in.",
        "Lovely, thank you!",
        "Ha, I had wondered.",
        "See you there.",
        "Nice one.",
    ),
    "de": ("Bin dabei.", "Sehr schön, danke!", "Ha, das dachte ich mir.", "Bis dann.", "Super."),
}
KINDS = {"en": _kinds_en, "de": _kinds_de}
FIRST = [
    "Ava",
    "Ben",
    "Cleo",
    "Dora",
    "Emil",
    "Finn",
    "Gina",
    "Hugo",
    "Iris",
    "Jan",
    "Kira",
    "Leo",
    "Mona",
    "Nils",
    "Olga",
    "Paul",
    "Rosa",
    "Sami",
]
LAST = [
    "Abel",
    "Brandt",
    "Conti",
    "Dahl",
    "Egger",
    "Fuchs",
    "Grau",
    "Holm",
    "Ilves",
    "Jost",
    "Kern",
    "Lind",
    "Moser",
    "Noll",
    "Ott",
    "Pohl",
]
MONTHS = {"en": ["March", "April", "May", "June"], "de": ["März", "April", "Mai", "Juni"]}


def short_threads(
    seed: int, language: str = "en", threads: int = 80, noise: int = 60, only: str = ""
) -> Corpus:
    """A mailbox: so many threads of four processes in turn, and so many mails of noise.

    Args:
        seed: of every choice.
        language: `en` or `de`.
        threads: of processes.
        noise: mails that belong to none, a third of them in threads.
        only: the one process of all threads.
    """
    draw = random.Random(f"{language} {seed}")
    kinds = {name: kind for name, kind in KINDS[language]().items() if only in ("", name)}
    staff = [_person(draw, "firm.example") for _ in range(16)]
    parts = {"boss": staff[:3], "service": staff[3:5], "accounts": staff[5:7]}
    corpus = Corpus([], {}, {})
    for number in range(threads):
        name = sorted(kinds)[number % len(kinds)]
        kind = kinds[name]
        people = {part: draw.choice(those) for part, those in parts.items()}
        people["asker"] = draw.choice(staff[7:])
        people["outsider"] = _person(draw, f"{draw.choice(LAST).lower()}.example")
        fields = _fields(draw, language, staff) | {
            "thing": draw.choice(kind.things), "boss": people["boss"].name.split()[0],
            "asker": people["asker"].name.split()[0],
        }  # fmt: skip
        mails = draw.choice(kind.threads)
        others = [people[m.sender] for m in mails]
        texts = [" ".join(draw.choice(s) for s in m.sentences).format(**fields) for m in mails]
        subject = draw.choice(kind.subjects).format(**fields)
        ids = _sent(corpus, draw, f"{name}-{number}", subject, others, texts)
        corpus.process.update(dict.fromkeys(ids, name))
        corpus.case.update(dict.fromkeys(ids, f"{name}-{number}"))
    sent = 0
    while sent < noise:
        subject, sentences = draw.choice(NOISE[language])
        fields = _fields(draw, language, staff)
        texts = [" ".join(sentences).format(**fields)]
        if draw.random() < 0.2:
            texts += draw.sample(ANSWERS[language], draw.choice((1, 2)))
        senders = draw.sample(staff, len(texts))
        ids = _sent(corpus, draw, f"noise-{sent}", subject.format(**fields), senders, texts)
        sent += len(ids)
    corpus.messages.sort(key=lambda m: (m.date, m.id))
    return corpus


def _person(draw: random.Random, domain: str) -> Person:
    first, last = draw.choice(FIRST), draw.choice(LAST)
    return Person(f"{first} {last}", f"{first}.{last}@{domain}".lower())


def _fields(draw: random.Random, language: str, staff: Sequence[Person]) -> Mapping[str, str]:
    month = draw.choice(MONTHS[language])
    day = draw.randrange(1, 20)
    written = "{} {}" if language == "en" else "{1}. {0}"
    return {
        "money": str(draw.randrange(40, 4000)), "number": str(draw.randrange(10000, 99999)),
        "day": written.format(month, day), "later": written.format(month, day + draw.randrange(1, 9)),
        "month": month, "few": str(draw.randrange(3, 20)),
        "colleague": draw.choice(staff).name.split()[0],
    }  # fmt: skip


def _sent(
    corpus: Corpus, draw: random.Random, name: str, subject: str, senders: Sequence[Person],
    texts: Sequence[str],
) -> list[str]:  # fmt: skip
    """The mails of a thread: each but the first answers the one before."""
    date = datetime(2026, 3, 2, 8, tzinfo=UTC) + timedelta(
        days=draw.randrange(90), minutes=draw.randrange(540)
    )
    ids: list[str] = []
    everyone = list(dict.fromkeys(senders)) or [senders[0]]
    for place, (sender, text) in enumerate(zip(senders, texts, strict=True)):
        id_ = f"{name}-{place}@firm.example"
        others = tuple(p for p in everyone if p != sender)
        receivers = others or (Person("All", "all@firm.example"),)
        corpus.messages.append(Message(
            id_, date, "email", sender, receivers, f"{'Re: ' if place else ''}{subject}", text,
            thread=name, references=tuple(ids),
        ))  # fmt: skip
        ids.append(id_)
        date += timedelta(minutes=draw.choice((15, 60, 240, 1200, 2900)))
    return ids
