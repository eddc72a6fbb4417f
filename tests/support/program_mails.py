"""Mail that programs send from templates: newsletters, tickets, absence notes."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

from orgflow_ir.model.message import Message, Person

PEOPLE = [Person(name, f"{name.split()[0].lower()}@firm.example") for name in (
    "Ada Brandt", "Ben Castro", "Cleo Dahl", "Dirk Engel", "Elif Frost", "Fynn Grau", "Ines Hale",
    "Jonas Kern", "Kira Lund", "Mona Novak",
)]  # fmt: skip
SHOPS = ("Paper & Ink", "Desk World", "Fit at Work", "Cloud Weekly")
THINGS = ("printer on floor {n}", "VPN access", "locked account", "broken chair", "slow laptop")
STATES = (
    "Ticket {id} has been created: {thing}. We will come back to you shortly.",
    "Ticket {id} has been assigned to the second level.",
    "The status of ticket {id} has changed to: in progress.",
    "Ticket {id} has been closed. Please rate our service.",
)
OFFERS = (
    "This week at {shop}: {n} % off everything. Click here to see our offers.",
    "News from {shop}: {n} tips for a better office. Read more on our site.",
)
BEGIN = datetime(2026, 1, 5, 7, tzinfo=UTC)


def program_mails(seed: int, marks: bool = True) -> list[Message]:
    """About 170 messages of three months; without `marks`, no address or subject says that they
    are written by programs."""
    draw = random.Random(seed)
    found: list[Message] = []

    def add(at: datetime, sender: Person, to: Person, subject: str, body: str, thread: str) -> None:
        found.append(
            Message(f"p{len(found)}", at, "email", sender, (to,), subject, body, thread=thread)
        )

    for place, shop in enumerate(SHOPS):
        sender = Person(shop, f"{'newsletter' if marks else 'hello'}@shop{place}.example")
        for week in range(12):
            offer = OFFERS[place % 2].format(shop=shop, n=draw.randint(3, 60))
            at = BEGIN + timedelta(days=7 * week, hours=place)
            add(at, sender, draw.choice(PEOPLE), f"{shop} No. {week + 1}", offer, "")
    desk = Person("Service Desk", f"{'no-reply' if marks else 'desk'}@it.example")
    for number in range(20):
        at, owner = BEGIN + timedelta(days=draw.random() * 80), draw.choice(PEOPLE)
        thing = draw.choice(THINGS).format(n=draw.randint(1, 9))
        id_ = f"INC{draw.randint(10000, 99999)}"
        for state in STATES:
            add(
                at, desk, owner, f"[{id_}] {thing}", state.format(id=id_, thing=thing), f"t{number}"
            )
            at += timedelta(hours=draw.choice([1, 5, 20]))
    for number in range(40):
        writer, reader = draw.sample(PEOPLE, 2)
        until = draw.choice(("Monday", "Tuesday", "Thursday"))
        add(
            BEGIN + timedelta(days=draw.random() * 80), writer, reader,
            "Automatic reply: meeting" if marks else "Re: meeting",
            f"I am out of the office until {until} and cannot read mail.", f"o{number}",
        )  # fmt: skip
    return found
