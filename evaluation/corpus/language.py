"""What a language has to give so that a corpus can be written in it."""

from __future__ import annotations

from collections.abc import Callable

from orgflow_ir.model.records import NamedTuple


class Act(NamedTuple):
    """The forms of a task that templates use.

    Attributes:
        do: the infinitive with its object: `check the stock`.
        did: the past: `checked the stock`.
        doing: the gerund or noun: `checking the stock`.
        done: the participle alone: `checked`.
        thing: the object: `the stock`.
        short: the object in one word, or a pronoun.
        subject: whom the task's name itself names as the one who does it; may be empty.
        topic: the object as a heading: `stock`.
    """

    do: str
    did: str
    doing: str
    done: str
    thing: str
    short: str
    subject: str
    topic: str


class Language(NamedTuple):
    """Templates and names. Templates are for `str.format` with the fields of `Act`, `name` (who is
    spoken to), `ref`, `case`, `day`, `place` and `amount`; those of noise with `topic` and `day`.

    Attributes:
        code: as `en`.
        act: the forms of a task by its name, at random among synonyms.
        requests: ask for a task.
        reports: tell that it was done.
        plans: announce it.
        passives: tell of its object.
        obliques: speak of it without its verb.
        systems: what a program writes about it.
        answers: short replies.
        details: what people add, nothing of which is a step.
        talk: what has nothing to do with it.
        greetings: at the beginning.
        closings: above a name.
        subjects: of first mails.
        quote: the line above a quotation, with `day` and `name`.
        days: words for days.
        places: of any kind.
        cases: what a case may be called by, with `last` (a name) and `street`.
        streets: for `cases`.
        first: first names.
        last: last names.
        staff: roles inside an organisation.
        outside: roles of people outside.
        system: the name of a program.
        topics: what noise is about.
        openers: the first message of noise.
        replies: the others.
        pickup: how a call is answered, with `name`.
        call: beginnings of words in a task that people talk about on the telephone.
        notify: beginnings of words in a task that is a short notice.
    """

    code: str
    act: Callable[[str, Callable[[], float]], Act]
    requests: tuple[str, ...]
    reports: tuple[str, ...]
    plans: tuple[str, ...]
    passives: tuple[str, ...]
    obliques: tuple[str, ...]
    systems: tuple[str, ...]
    answers: tuple[str, ...]
    details: tuple[str, ...]
    talk: tuple[str, ...]
    greetings: tuple[str, ...]
    closings: tuple[str, ...]
    subjects: tuple[str, ...]
    quote: str
    days: tuple[str, ...]
    places: tuple[str, ...]
    cases: tuple[str, ...]
    streets: tuple[str, ...]
    first: tuple[str, ...]
    last: tuple[str, ...]
    staff: tuple[str, ...]
    outside: tuple[str, ...]
    system: str
    topics: tuple[str, ...]
    openers: tuple[str, ...]
    replies: tuple[str, ...]
    pickup: tuple[str, ...]
    call: tuple[str, ...]
    notify: tuple[str, ...]


def split_lines(text: str) -> tuple[str, ...]:
    """The lines of a text that are not empty."""
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def split_words(text: str) -> tuple[str, ...]:
    """The words of a text."""
    return tuple(text.split())
