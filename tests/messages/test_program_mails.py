"""Mail that programs send is no process, whether or not its addresses say so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from orgflow.agents.discovery.automatic import find_automatic_messages, is_exchange
from orgflow.agents.discovery.discover import discover_processes
from orgflow.store.embedder import local_embedder
from program_mails import program_mails

from orgflow_ir.model.message import Message, Person

ANN, BOB = Person("Ann", "ann@firm.example"), Person("Bob", "bob@firm.example")
AT = datetime(2026, 3, 2, tzinfo=UTC)


def mail(sender: Person, body: str, subject: str = "", number: int = 0) -> Message:
    to = BOB if sender == ANN else ANN
    return Message(
        f"m{number}", AT + timedelta(hours=number), "email", sender, (to,), subject, body
    )


@pytest.mark.parametrize(
    ("seed", "marks"),
    [
        (0, False),
        *(
            pytest.param(*more, marks=pytest.mark.slow)
            for more in ((1, False), (2, False), (0, True), (1, True), (2, True))
        ),
    ],
)
def test_mail_of_programs_shows_no_process(seed: int, marks: bool) -> None:
    assert discover_processes(program_mails(seed, marks), local_embedder()).processes == ()


@pytest.mark.parametrize(
    "message",
    [
        mail(Person("Shop", "newsletter@shop.example"), "Ten ideas for spring."),
        mail(Person("Desk", "no-reply+77@it.example"), "Ticket 77 was closed."),
        mail(ANN, "I read your mail on Friday.", "Automatic reply: order 4711"),
        mail(ANN, "Ich lese Ihre Mail am Freitag.", "Automatische Antwort: Bestellung"),
        mail(ANN, "Ich bin bis Freitag nicht im Büro."),
        mail(ANN, "I'm out of the office until Friday."),
        mail(Person("Shop", "hello@shop.example"), "Big sale.\nUnsubscribe here."),
    ],
)
def test_what_is_mail_of_a_program(message: Message) -> None:
    assert find_automatic_messages([message]) == {0}


@pytest.mark.parametrize(
    "message",
    [
        mail(ANN, "Please send the newsletter to the printer.", "Newsletter"),
        mail(ANN, "The reply is automatic from now on, I set it up.", "Re: automatic reply"),
        mail(ANN, "Do you have the notification of the bank?"),
        mail(ANN, "Bitte den Wagen bis Freitag abmelden und die Versicherung abbestellen."),
    ],
)
def test_what_people_write_about_such_mail(message: Message) -> None:
    assert find_automatic_messages([message]) == frozenset()


def test_a_sender_of_one_template_is_a_program() -> None:
    desk = Person("Desk", "desk@it.example")
    many = [mail(desk, f"Ticket {n} of Mr N{n} was closed.", f"Ticket {n}", n) for n in range(6)]
    assert find_automatic_messages(many) == set(range(6))
    answer = Message("a", AT, "email", ANN, (desk,), "Re: Ticket 3", "It is not solved.")
    assert (
        find_automatic_messages([*many, answer]) == frozenset()
    )  # somebody reads what is written to it


def test_in_a_chat_room_who_repeats_a_text_is_no_program() -> None:
    ann = Person("Ann")
    many = [Message(f"c{n}", AT, "chat", ann, (), "Hall", f"Number {n} is up.") for n in range(6)]
    assert find_automatic_messages(many) == frozenset()


def test_an_exchange_needs_two_people() -> None:
    messages = [mail(ANN, "One."), mail(ANN, "Two."), mail(BOB, "Three.")]
    assert not is_exchange(messages, [0, 1], frozenset())
    assert is_exchange(messages, [0, 2], frozenset())
    assert not is_exchange(messages, [0, 2], frozenset([2]))
    unknown = Message("u", AT, "chat", None, (), "", "Done.")
    assert is_exchange([unknown], [0], frozenset())
