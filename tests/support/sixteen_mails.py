"""Sixteen mails written by hand: room bookings, and reference letters; and some noise."""

# ruff: noqa: E501 - sentences in one piece each

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from orgflow_ir.model.message import Message, Person

_THREADS = (
    ("room", "Seminar room for Tuesday", (
        ("Petra Lang", "Reception", "Can I book the large seminar room on Tuesday from nine to noon? We are twelve people."),
        ("Reception", "Petra Lang", "I reserved the large room for you. You can pick up the key from half past eight."),
        ("Petra Lang", "Reception", "Thanks. I brought the key back to the front desk just now."),
    )),
    ("room", "Small meeting room", (
        ("Yusuf Demir", "Reception", "I need the small meeting room tomorrow afternoon for an interview."),
        ("Reception", "Yusuf Demir", "The small room is taken. I reserved room 3 instead, the key is here."),
    )),
    ("room", "Booking: workshop, 14 May", (
        ("Hanne Vik", "Reception", "Please reserve a room with a projector on 14 May, all day, for our workshop."),
        ("Reception", "Hanne Vik", "Reserved: seminar room 2 with projector. Please collect the key in the morning."),
    )),
    ("room", "room on friday?", (
        ("Milo Sanz", "Reception", "is a meeting room free on friday at two, for six people?"),
        ("Reception", "Milo Sanz", "Yes, I booked room 5 for you. The key lies at the reception."),
    )),
    ("letter", "Reference letter", (
        ("Ina Falk", "Registry", "Dear registry, I am applying for a master's programme and need a reference letter from Professor Adler."),
        ("Registry", "Ina Falk", "I asked Professor Adler to write it. Please send us your transcript of grades."),
    )),
    ("letter", "Letter of recommendation", (
        ("Omar Nasser", "Registry", "Could Professor Ruiz write a recommendation letter for my scholarship application? My transcript is attached."),
        ("Registry", "Omar Nasser", "The professor signed your recommendation letter. You find the scan attached."),
    )),
    ("letter", "Request for a reference", (
        ("Tess Brook", "Registry", "I would like to ask for a reference letter for my exchange semester, my grades are attached."),
        ("Registry", "Tess Brook", "Professor Adler wrote the reference letter, we mailed it to the university today."),
    )),
    ("letter", "reference for scholarship", (
        ("Lars Ek", "Registry", "I apply for a scholarship and need a letter of reference. Whom may I ask, and do you need my grades?"),
    )),
)  # fmt: skip
NOISE = (
    ("Canteen", "The canteen serves soup only this week."),
    ("Bicycles", "Please do not lock bicycles to the railing."),
    ("Choir", "The choir rehearses on Thursdays, new voices are welcome."),
    ("Printer", "The printer on the second floor is out of toner again, sorry."),
)


def sixteen_mails() -> tuple[list[Message], dict[str, str]]:
    """The mails with the noise, and the process of each that is not noise."""
    messages: list[Message] = []
    process: dict[str, str] = {}
    start = datetime(2026, 4, 7, 8, 30, tzinfo=UTC)
    for number, (kind, subject, mails) in enumerate(_THREADS):
        ids: list[str] = []
        for place, (sender, receiver, text) in enumerate(mails):
            id_ = f"{kind}-{number}-{place}"
            date = start + timedelta(days=3 * number, hours=5 * place)
            messages.append(Message(
                id_, date, "email", Person(sender), (Person(receiver),),
                f"{'Re: ' if place else ''}{subject}", text,
                thread=f"{kind}-{number}", references=tuple(ids),
            ))  # fmt: skip
            ids.append(id_)
            process[id_] = kind
    for number, (subject, text) in enumerate(NOISE):
        date = start + timedelta(days=5 * number, hours=2)
        messages.append(Message(
            f"noise-{number}", date, "email", Person("Facility"), (Person("All"),), subject, text,
            thread=f"noise-{number}",
        ))  # fmt: skip
    return sorted(messages, key=lambda m: (m.date, m.id)), process
