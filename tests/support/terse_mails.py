"""Mail and chat as busy people write it: short, seldom naming the task, in no wording of `synth`.

Each case of a process goes through its tasks in order, with one to three mails for each; every one
to three tasks begin a new thread. A fifth of all messages belongs to no process. The plain corpora
have roles and threads; in the hard ones everybody works in several processes, and there are neither
roles nor threads. The same language, kind and seed give the same corpus.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from terse_words import ENGLISH, GERMAN, TALK_ENGLISH, TALK_GERMAN, Kind
from terse_words_referee import (
    ENGLISH_REFEREE,
    GERMAN_REFEREE,
    TALK_ENGLISH_REFEREE,
    TALK_GERMAN_REFEREE,
)


class Language(NamedTuple):
    """What is written in a language, and how many cases there are of each process."""

    kinds: Sequence[Kind]
    talk: Sequence[Sequence[str]]
    greetings: Sequence[str]
    days: Sequence[str]
    cases: int


_ENGLISH = Language(
    ENGLISH, TALK_ENGLISH, ("Hi", "Hello", "Dear"),
    ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday"), 5,
)  # fmt: skip
_GERMAN = Language(
    GERMAN, TALK_GERMAN, ("Hallo", "Guten Tag", "Moin"),
    ("Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag"), 6,
)  # fmt: skip
LANGUAGES = {
    "en": _ENGLISH,
    "de": _GERMAN,
    "en referee": _ENGLISH._replace(kinds=ENGLISH_REFEREE, talk=TALK_ENGLISH_REFEREE),
    "de referee": _GERMAN._replace(kinds=GERMAN_REFEREE, talk=TALK_GERMAN_REFEREE),
}
"""The referees are only measured: no word and no weight of the program is chosen by them."""

TALK = 0.25
"""Messages of no process for each of a process."""

JOBS = 3
"""So many roles, of different processes, the same people have in a hard corpus."""

BEGIN = datetime(2025, 3, 3, 8, tzinfo=UTC)
FIRST = (  # noqa: SIM905
    "Ada Ben Cleo Dirk Elif Fynn Greta Hugo Ines Jonas Kira Levi Mona Nils Olga Piet Quinn Rosa "
    "Sven Tess Udo Vera Willem Xenia Yann Zoe Aron Birte Carlo Doro Emil Frida Gero Hanne Ivo "
    "Jette Karim Lotte Milan Nora"
).split()
LAST = (  # noqa: SIM905
    "Abel Bruns Castro Dahl Engel Frost Grau Hale Iverson Jung Kern Lund Marek Novak Oster Pohl "
    "Quast Reyes Stark Thoma Ulrich Vance Wirth Xander Young Zeller Ames Boyd Crane Dorn"
).split()

Role = tuple[str, str]
"""The name of a process and the letter of a role in it."""


def terse_mails(
    language: str, seed: int, hard: bool = False
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The messages, as `orgflowc ingest` reads them from JSON lines, and the truth about them, as
    `orgflowc eval discovery` reads it."""
    return _Maker(LANGUAGES[language], random.Random(seed), hard).corpus()


class _Maker:
    def __init__(self, language: Language, draw: random.Random, hard: bool) -> None:
        self._language, self._draw, self._hard = language, draw, hard
        self._messages: list[dict[str, Any]] = []
        self._known: dict[str, dict[str, Any]] = {}

    def corpus(self) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        staff = self._staff()
        processes = {}
        for kind in self._language.kinds:
            scenarios = [
                {"scenario": f"{kind.name}-{number}", "tasks": self._case(kind, number, staff)}
                for number in range(self._language.cases)
            ]
            processes[kind.name] = {
                "name": kind.name, "description": "", "scenarios": scenarios,
            }  # fmt: skip
        self._talk(staff)
        self._messages.sort(key=lambda message: (message["date"], message["id"]))
        return self._messages, {"processes": processes, "messages": self._known}

    def _staff(self) -> dict[Role, list[str]]:
        """Two people for each role."""
        names = [f"{first} {last}" for first in FIRST for last in LAST]
        self._draw.shuffle(names)
        fresh = iter(names)
        roles = [(kind.name, letter) for kind in self._language.kinds for letter in kind.roles]
        order = list(roles)
        self._draw.shuffle(order)
        groups: list[list[Role]] = [] if self._hard else [[role] for role in roles]
        for role in order if self._hard else ():
            fitting = [g for g in groups if len(g) < JOBS and all(r[0] != role[0] for r in g)]
            if fitting:
                fitting[0].append(role)
            else:
                groups.append([role])
        staff: dict[Role, list[str]] = {}
        for group in groups:
            people = [next(fresh), next(fresh)]
            staff.update(dict.fromkeys(group, people))
        return staff

    def _case(self, kind: Kind, number: int, staff: dict[Role, list[str]]) -> list[str]:
        """Write the mails of a case; the tasks that were done in it."""
        draw = self._draw
        who = {letter: draw.choice(staff[kind.name, letter]) for letter in kind.roles}
        thing = draw.choice(kind.things)
        same = {
            "thing": thing, "den": _accusative(thing), "dem": _dative(thing),
            "n": str(draw.randint(1000, 9999)), "m": str(draw.randint(20000, 99999)),
        }  # fmt: skip
        at = BEGIN + timedelta(days=draw.random() * 80, hours=draw.random() * 9)
        done: list[str] = []
        threads = left = 0
        subject: str | None = None
        for task in kind.tasks:
            if draw.random() > task.share:
                continue
            done.append(task.name)
            if left == 0:
                threads += 1
                left = draw.choice([1, 2, 2, 3])
                subject = None
            left -= 1
            for mail in task.mails:
                head, *texts = (part.strip() for part in mail.split("|"))
                writer, _, reader = head.partition(">")
                text = draw.choice(texts)
                fields = same | self._fresh()
                fields["money"] = str(draw.randint(8, 250) * 10)
                text = text.format(**fields)
                text = text[0].upper() + text[1:]
                if draw.random() < 0.4:
                    greeting = draw.choice(self._language.greetings)
                    text = f"{greeting} {who[reader].split()[0]},\n{text}"
                if draw.random() < 0.4:
                    text += f"\n{who[writer].split()[0]}"
                chat = draw.random() < 0.25
                reply = subject is not None
                if subject is None:
                    subject = draw.choice(kind.subjects).format(**fields)
                self._write(
                    at, "chat" if chat else "email",
                    (who[writer], kind.roles[writer]), (who[reader], kind.roles[reader]),
                    "" if chat else ("Re: " if reply and not self._hard else "") + subject,
                    f"{kind.name}-{number}-{threads}", text,
                    {"process": kind.name, "scenario": f"{kind.name}-{number}",
                     "tasks": [task.name]},
                )  # fmt: skip
                at += timedelta(hours=draw.choice([0.3, 1, 2, 5, 9, 20]))
            at += timedelta(hours=draw.choice([1, 5, 20, 30, 60]))
        return done

    def _talk(self, staff: dict[Role, list[str]]) -> None:
        draw = self._draw
        wanted = int(len(self._messages) * TALK)
        everyone = [
            (name, kind.roles[letter])
            for kind in self._language.kinds for letter in kind.roles
            for name in staff[kind.name, letter]
        ]  # fmt: skip
        written = 0
        while written < wanted:
            exchange = draw.choice(self._language.talk)
            at = BEGIN + timedelta(days=draw.random() * 88, hours=draw.random() * 9)
            pair = draw.sample(everyone, 2)
            thread, title = f"talk-{written}", ""
            for place, wording in enumerate(exchange):
                writer, reader = pair if place % 2 == 0 else reversed(pair)
                channel = draw.choice(["email", "chat"])
                bare = draw.random() < 0.5
                text = wording.format(**self._fresh())
                title = title or " ".join(text.split()[:4])
                self._write(
                    at, channel, writer, reader, "" if bare else title, thread, text,
                    {"process": None, "scenario": None, "tasks": []},
                )  # fmt: skip
                at += timedelta(hours=draw.choice([0.1, 0.5, 2]))
                written += 1

    def _fresh(self) -> dict[str, str]:
        return {
            "day": self._draw.choice(self._language.days), "few": str(self._draw.randint(2, 9)),
        }  # fmt: skip

    def _write(
        self, at: datetime, channel: str, writer: tuple[str, str], reader: tuple[str, str],
        subject: str, thread: str, text: str, known: dict[str, Any],
    ) -> None:  # fmt: skip
        id = f"x{len(self._messages) + 1:05d}"
        sender, receiver = (
            name if self._hard else f"{name} ({role})" for name, role in (writer, reader)
        )
        self._messages.append({
            "id": id, "date": at.isoformat(), "channel": channel, "sender": sender,
            "receivers": [receiver], "subject": subject,
            "thread": None if self._hard else thread, "text": text,
        })  # fmt: skip
        self._known[id] = known


def _accusative(thing: str) -> str:
    """A German noun after `für`; what does not begin with `der` is the same."""
    return f"den {thing[4:]}" if thing.startswith("der ") else thing


def _dative(thing: str) -> str:
    """A German noun after `zu`."""
    article, _, noun = thing.partition(" ")
    other = {"der": "dem", "das": "dem", "die": "der", "unsere": "unserer"}.get(article)
    return f"{other} {noun}" if other else thing
