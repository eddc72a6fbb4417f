"""A corpus: scenarios told in messages, noise among them, in one stream without annotations."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from orgflow.evaluation.corpus.language import Act, Language
from orgflow.evaluation.corpus.scenarios import Done, Scenario, Source

from orgflow_ir.model.records import NamedTuple

STRESS = (
    "shared-staff", "lost-threads", "lost-roles", "merged", "missing", "clocks",
)  # fmt: skip
"""What makes a corpus harder: the same people work in several processes; threads are not recorded;
roles are not; messages of one sender are joined; one in ten is missing; one clock in ten is wrong
by hours."""

DAYS = 90
"""The scenarios begin within so many days."""

THREAD_TASKS = 3
"""A thread holds so many tasks at most."""

START = datetime(2026, 2, 2, 8)


class Written(NamedTuple):
    """A message, and what it is about; `process` is empty for noise."""

    at: datetime
    channel: str
    sender: str
    receivers: tuple[str, ...]
    subject: str
    thread: str
    body: str
    process: str = ""
    scenario: str = ""
    tasks: tuple[str, ...] = ()


class Writer:
    """Writes one corpus.

    Args:
        language: of every message.
        seed: equal seeds give equal corpora.
        stress: some of `STRESS`.
        noise: messages of no process, as a share of the others.
    """

    def __init__(self, language: Language, seed: int, stress: frozenset[str], noise: float) -> None:
        self.language, self.seed, self.stress, self.noise = language, seed, stress, noise
        self.random = random.Random(f"{language.code} {seed}")
        pairs = [(f, n) for f in language.first for n in language.last]
        self.random.shuffle(pairs)
        self._names = [f"{first} {last}" for first, last in pairs]
        self._staff: dict[tuple[str, str], str] = {}
        self._threads = 0

    def corpus(self, sources: Sequence[Source]) -> list[Written]:
        """All messages in the order of their clocks."""
        written: list[Written] = []
        for source in sources:
            roles = self._roles(source)
            for scenario in source.scenarios:
                messages = self._scenario(scenario, roles)
                written += self._stressed(messages)
        people = sorted({w.sender for w in written})
        written += self._noise(round(self.noise * len(written)), people)
        if "lost-threads" in self.stress:
            written = [w._replace(thread="", subject=_strip_prefixes(w.subject)) for w in written]
        return sorted(written, key=lambda w: (w.at, w.body))

    # -- people ------------------------------------------------------------------------------

    def _roles(self, source: Source) -> dict[str, str]:
        """A role for each task of a process: its lane, else whom its name says, else one of three
        that the process has."""
        language, draw = self.language, self.random
        own = [draw.choice(language.outside), *draw.sample(language.staff, 2)]
        roles: dict[str, str] = {}
        for scenario in source.scenarios:
            for task in scenario.tasks:
                named = task.actor or language.act(task.name, lambda: 1.0).subject
                roles.setdefault(task.element, _format_role(named) or draw.choice(own))
        return roles

    def _person(self, source: str, role: str, cast: dict[str, str]) -> str:
        """Who has a role: people outside are others in every scenario."""
        if role in cast:
            return cast[role]
        if role.split()[-1] in self.language.outside:
            name = self._names.pop()
        elif "shared-staff" in self.stress:
            pool = self._names[:12]
            name = self._staff.setdefault((source, role), self.random.choice(pool))
        else:
            key = (source, role)
            if key not in self._staff:
                self._staff[key] = self._names.pop()
            name = self._staff[key]
        cast[role] = name if "lost-roles" in self.stress else f"{name} ({role})"
        return cast[role]

    # -- scenarios ---------------------------------------------------------------------------

    def _scenario(self, scenario: Scenario, roles: dict[str, str]) -> list[Written]:
        language, draw = self.language, self.random
        cast: dict[str, str] = {}
        facts = self._facts()
        at = START + timedelta(days=draw.random() * DAYS)
        messages: list[Written] = []
        thread, subject, left = "", "", 0
        tasks = scenario.tasks
        for place, task in enumerate(tasks):
            who = self._person(scenario.process, roles[task.element], cast)
            following = tasks[min(place + 1, len(tasks) - 1)]
            other = self._other(scenario, roles, cast, who, tasks[max(0, place - 1)], following)
            if not left:
                act = language.act(task.name, draw.random)
                thread, subject = self._thread(), self._filled(language.subjects, act, facts, other)
                left = draw.randint(1, THREAD_TASKS)
            left -= 1
            for text, sender, receiver, channel in self._sentences(task, who, other, facts):
                at += self._pause(first=not messages)
                about = (
                    subject if not messages or messages[-1].thread != thread else f"Re: {subject}"
                )
                body = text
                if messages and messages[-1].thread == thread and draw.random() < 0.15:
                    body += self._quoted(messages[-1])
                mail = channel == "email"
                messages.append(
                    Written(
                        at, channel, sender, (receiver,), about if mail else "",
                        thread if mail else "", body, scenario.process, scenario.id,
                        (task.element,),
                    )
                )  # fmt: skip
        return messages

    def _other(
        self, scenario: Scenario, roles: dict[str, str], cast: dict[str, str], who: str,
        before: Done, after: Done,
    ) -> str:  # fmt: skip
        """Whom a message goes to: who comes next, else who came before, else anybody."""
        for task in (after, before):
            person = self._person(scenario.process, roles[task.element], cast)
            if person != who:
                return person
        others = [person for person in cast.values() if person != who]
        if others:
            return self.random.choice(others)
        return self._person(scenario.process, self.random.choice(self.language.staff), cast)

    def _sentences(
        self, task: Done, who: str, other: str, facts: dict[str, str]
    ) -> list[tuple[str, str, str, str]]:
        """The messages about a task: text, sender, receiver, channel."""
        language, draw = self.language, self.random
        act = language.act(task.name, draw.random)
        lower = task.name.lower()
        if any(begin in lower for begin in language.call) and draw.random() < 0.7:
            return [(self._call(act, who, other, facts), who, other, "call")]
        if any(begin in lower for begin in language.notify) and draw.random() < 0.6:
            short = self._filled((*language.reports, *language.passives), act, facts, other)
            return [(short, who, other, "sms")]
        channel = "email" if draw.random() < 0.85 else draw.choice(("chat", "sms"))
        lines: list[tuple[str, str, str, str]] = []
        shape = draw.random()
        if shape < 0.1:
            text = self._filled(language.systems, act, facts, other)
            lines.append((text, language.system, who, "email"))
        elif shape < 0.45:
            lines.append(
                (self._mail(language.requests, act, facts, who, channel), other, who, channel)
            )
        elif shape < 0.55:
            lines.append(
                (self._mail(language.plans, act, facts, other, channel), who, other, channel)
            )
        if shape >= 0.3:
            act = language.act(task.name, draw.random)
            kinds = draw.random()
            templates = (
                language.reports if kinds < 0.6
                else language.passives if kinds < 0.8 else language.obliques
            )  # fmt: skip
            lines.append((self._mail(templates, act, facts, other, channel), who, other, channel))
        if draw.random() < 0.25:
            answer = self._filled(language.answers, act, facts, who)
            lines.append((answer, other, who, channel))
        return [
            (
                f"{text}\n\n{_first_name(s)}" if c == "email" and s != language.system else text,
                s,
                r,
                c,
            )
            for text, s, r, c in lines
        ]

    def _mail(
        self, templates: Sequence[str], act: Act, facts: dict[str, str], to: str, channel: str
    ) -> str:
        language, draw = self.language, self.random
        sentences = [self._filled(templates, act, facts, to)]
        for source, share in ((language.details, 0.55), (language.talk, 0.15)):
            if draw.random() < share:
                text = self._filled(source, act, facts, to)
                sentences.insert(draw.choice((0, len(sentences))), text)
        body = " ".join(sentences)
        if channel != "email":
            return body
        greeting = self._filled(language.greetings, act, facts, to) + "\n\n"
        closing = "\n\n" + draw.choice(language.closings) if draw.random() < 0.6 else ""
        return (greeting if draw.random() < 0.7 else "") + body + closing

    def _call(self, act: Act, who: str, other: str, facts: dict[str, str]) -> str:
        """A transcript, with the one who is called first."""
        language = self.language
        me, you = _first_name(who), _first_name(other)
        turns = [
            f"{you}: {self._filled(language.pickup, act, facts, other)}",
            f"{me}: {me}. {self._filled(language.details, act, facts, other)}",
            f"{you}: {self._filled(language.talk, act, facts, who)}",
            f"{me}: {self._filled(language.plans, act, facts, other)}",
            f"{you}: {self._filled(language.answers, act, facts, who)}",
            f"{me}: {self._filled((*language.reports, *language.passives), act, facts, other)}",
            f"{you}: {self._filled(language.answers, act, facts, who)}",
        ]
        return "\n".join(turns)

    def _facts(self) -> dict[str, str]:
        """What the messages of one scenario have in common."""
        language, draw = self.language, self.random
        letters = "".join(draw.choice("ABCDEFGHKLMNPRSTUVW") for _ in range(2))
        number = str(draw.randint(12, 9899))
        case = draw.choice(language.cases).format(
            last=draw.choice(language.last), street=draw.choice(language.streets), number=number
        )
        return {"ref": f"{letters}-{draw.randint(1000, 99999)}", "case": case}

    def _filled(self, templates: Sequence[str], act: Act, facts: dict[str, str], to: str) -> str:
        language, draw = self.language, self.random
        text = draw.choice(templates).format(
            do=act.do, did=act.did, doing=act.doing, done=act.done, thing=act.thing,
            short=act.short, topic=act.topic, name=_first_name(to), day=draw.choice(language.days),
            place=draw.choice(language.places), amount=draw.randint(11, 980), **facts,
        )  # fmt: skip
        return text[:1].upper() + text[1:]

    def _quoted(self, last: Written) -> str:
        day = self.random.choice(self.language.days)
        head = self.language.quote.format(day=day, name=_bare_name(last.sender))
        lines = [line for line in last.body.splitlines() if line and not line.startswith(">")]
        return f"\n\n{head}\n" + "\n".join(f"> {line}" for line in lines[:6])

    def _pause(self, *, first: bool) -> timedelta:
        """Minutes to days between messages of a scenario."""
        return timedelta() if first else timedelta(hours=self.random.lognormvariate(1.0, 1.5))

    def _thread(self) -> str:
        self._threads += 1
        return f"thread {self._threads}"

    # -- stress ------------------------------------------------------------------------------

    def _stressed(self, messages: list[Written]) -> list[Written]:
        draw = self.random
        if "missing" in self.stress:
            messages = [w for w in messages if draw.random() >= 0.1]
        if "merged" in self.stress:
            joined: list[Written] = []
            for w in messages:
                last = joined[-1] if joined else None
                if last is not None and last.sender == w.sender and last.channel == w.channel:
                    joined[-1] = last._replace(
                        body=f"{last.body}\n\n{w.body}", tasks=(*last.tasks, *w.tasks)
                    )
                else:
                    joined.append(w)
            messages = joined
        if "clocks" in self.stress:
            messages = [
                w._replace(at=w.at + timedelta(hours=draw.choice((-8, -2, -1, 1, 2, 7))))
                if draw.random() < 0.1 else w
                for w in messages
            ]  # fmt: skip
        return messages

    # -- noise -------------------------------------------------------------------------------

    def _noise(self, count: int, people: Sequence[str]) -> list[Written]:
        """Conversations that belong to no process, among the same people and others."""
        language, draw = self.language, self.random
        pool = [p for p in people if p != language.system]
        written: list[Written] = []
        while len(written) < count:
            topic = draw.choice(language.topics)
            size = draw.choice((1, 1, 2, 2, 3, 4))
            who = [
                draw.choice(pool if pool and draw.random() < 0.7 else self._names[:12])
                for _ in range(max(2, size - 1))
            ]  # fmt: skip
            thread, at = self._thread(), START + timedelta(days=draw.random() * (DAYS + 10))
            channel = draw.choice(("email", "email", "email", "chat", "sms"))
            subject = topic if draw.random() < 0.7 else draw.choice(language.subjects[-2:])
            subject = subject if "{" not in subject else topic
            for number in range(size):
                text = draw.choice(language.openers if not number else language.replies).format(
                    topic=topic, day=draw.choice(language.days)
                )
                text = text[:1].upper() + text[1:]
                if draw.random() < 0.4:
                    text += " " + draw.choice(language.talk)
                sender = who[number % len(who)]
                receivers = tuple(dict.fromkeys(p for p in who if p != sender)) or (who[0],)
                mail = channel == "email"
                about = subject if not number else f"Re: {subject}"
                written.append(
                    Written(at, channel, sender, receivers, about if mail else "",
                            thread if mail else "", text)
                )  # fmt: skip
                at += timedelta(minutes=draw.lognormvariate(3.5, 1.2))
        return written[:count]


def anonymise_stream(
    written: Sequence[Written], sources: Sequence[Source], seed: int
) -> tuple[str, str]:
    """The stream in JSON lines, ids and threads hashed, and the truth about it in JSON."""
    stream: list[str] = []
    truth: dict[str, Any] = {}
    for number, w in enumerate(written):
        id_ = "msg_" + _hash_text(f"{seed} {number} {w.at} {w.body}")
        record = {
            "id": id_,
            "date": w.at.replace(microsecond=0).isoformat(),
            "channel": w.channel,
            "sender": w.sender,
            "receivers": list(w.receivers),
            "subject": w.subject or None,
            "thread": "thr_" + _hash_text(f"{seed} {w.thread}")[:8] if w.thread else None,
            "body": w.body,
        }
        stream.append(json.dumps(record, ensure_ascii=False))
        truth[id_] = {
            "process": w.process or None,
            "scenario": w.scenario or None,
            "tasks": list(dict.fromkeys(w.tasks)),
        }
    processes = {
        s.key: {
            "name": s.name,
            "description": s.description,
            "scenarios": [
                {"scenario": scenario.id, "tasks": [task.name for task in scenario.tasks]}
                for scenario in s.scenarios
            ],
        }
        for s in sources
    }
    whole = {"processes": processes, "messages": truth}
    return "".join(f"{line}\n" for line in stream), json.dumps(
        whole, ensure_ascii=False, indent=1
    ) + "\n"


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _format_role(role: str) -> str:
    words = [w for w in role.split() if w.lower() not in ("the", "a", "an", "der", "die", "das")]
    return " ".join(w if w[:1].isupper() else w.capitalize() for w in words)


def _strip_prefixes(subject: str) -> str:
    return subject.removeprefix("Re: ")


def _bare_name(person: str) -> str:
    return person.partition(" (")[0]


def _first_name(person: str) -> str:
    return _bare_name(person).split()[0]
