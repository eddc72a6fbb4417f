"""A small corpus of messages: three orders, three leaves, some chat, and the truth about it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import count

from orgflow_ir.model.message import Message, Person

ORDER = (
    ("customer", "I order ten solar lamps for our garden, order {n}."),
    ("sales", "We received the lamp order {n} and check the lamp stock."),
    ("stock", "I checked the lamp stock for order {n}, the lamps are there."),
    ("sales", "Please pack the lamps of order {n} and print the delivery note."),
    ("stock", "We packed the lamps and shipped the parcel of order {n}."),
    ("customer", "The parcel with the lamps arrived, I pay the invoice for order {n}."),
    ("sales", "We booked the lamp payment and close the order {n}."),
)
LEAVE = (
    ("employee", "I request annual leave for the summer vacation, request {n}."),
    ("manager", "I review the leave request {n} against the vacation calendar."),
    ("manager", "Personnel, please check the vacation balance for leave request {n}."),
    ("personnel", "We checked the vacation balance, the leave request {n} is covered."),
    ("manager", "I approve the leave request {n}, enjoy the summer vacation."),
    ("personnel", "We registered the vacation in the calendar, leave request {n}."),
    ("employee", "I printed the leave confirmation for request {n}."),
)
CHAT = ("Who took my mug again?", "Not me, ask the night shift.")


def corpus() -> tuple[list[Message], dict[str, str]]:
    """Messages of three orders, three leaves and some chat, and which case each is of."""
    numbers = count()
    messages: list[Message] = []
    truth: dict[str, str] = {}
    start = datetime(2026, 3, 2, 9, tzinfo=UTC)
    for run in range(3):
        for kind, lines in (("order", ORDER), ("leave", LEAVE)):
            for place, (who, text) in enumerate(lines):
                if kind == "order" and run == 1 and place == 3:
                    continue
                id_ = f"{kind}-{run}-{place}"
                own = {"customer", "employee"}
                people = {
                    r: Person(f"{r.title()}son{run if r in own else ''} {r.upper()}ER ({r})")
                    for r in (x for x, _ in lines)
                }
                others = tuple(p for r, p in people.items() if r != who)
                date = start + timedelta(days=9 * run + (kind == "leave"), hours=3 * place)
                messages.append(
                    Message(id_, date, "email", people[who], others[:2], "",
                            text.format(n=f"{kind[0].upper()}-{7000 + 13 * run}"))
                )  # fmt: skip
                truth[id_] = f"{kind}-{run}"
    for run in range(4):
        for text in CHAT:
            id_ = f"chat-{next(numbers)}"
            date = start + timedelta(days=6 * run, minutes=len(messages))
            messages.append(Message(id_, date, "chat", Person(f"Mugger{run}"), (), "", text))
    return messages, truth


def truth_json(cases: Mapping[str, str]) -> str:
    """The truth about the corpus in JSON."""
    tasks = {
        "order": ["order lamps", "check lamp stock", "pack lamps", "ship parcel", "pay invoice",
                  "book lamp payment"],
        "leave": ["request annual leave", "review leave request", "check vacation balance",
                  "approve leave request", "register vacation", "print leave confirmation"],
    }  # fmt: skip
    kinds = Counter(case.split("-")[0] for case in cases.values())
    return json.dumps({
        "processes": {
            kind: {"description": "", "scenarios": [{"scenario": f"{kind}-0", "tasks": names}]}
            for kind, names in tasks.items() if kinds[kind]
        },
        "messages": {
            id_: {"process": case.split("-")[0], "scenario": case, "tasks": [id_.rsplit("-")[2]]}
            for id_, case in cases.items()
        },
    })  # fmt: skip
