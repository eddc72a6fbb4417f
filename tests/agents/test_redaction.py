"""Personal data: what is replaced before a text leaves the machine, and put back afterwards."""

from __future__ import annotations

import json

import pytest
from model_server import Scripted, model_server
from orgflow.agents.english import parser
from orgflow.agents.model_client.client import OpenAIModelClient
from orgflow.agents.model_client.redaction import Redactor
from orgflow.agents.model_client.settings import ModelSettings

MAIL = """\
From: Anna Kowalska <anna.kowalska@example.com>
To: Support

Dear Mr Smith,

please pay the invoice from IBAN DE89 3704 0044 0532 0130 00 or by card 4111 1111 1111 1111.
Call me at +49 30 901820 or (415) 555-2671. Our office: 12 Baker Street, London.

Kind regards,
Anna Kowalska
"""
PERSONAL = (
    "Kowalska", "Smith", "anna.kowalska@example.com", "DE89", "4111 1111", "901820", "555-2671",
    "12 Baker Street",
)  # fmt: skip


@pytest.mark.parametrize("use_parser", [False, True])
def test_a_mail(use_parser: bool) -> None:
    redactor = Redactor(use_parser=use_parser)
    redacted = redactor.redact(MAIL)
    assert [word for word in PERSONAL if word in redacted] == []
    assert "please pay the invoice" in redacted
    assert redactor.restore(redacted) == MAIL


def test_the_parser_of_names_is_installed() -> None:
    assert parser() is not None
    redactor = Redactor()
    assert redactor.finds_names
    redacted = redactor.redact("Yesterday John Fitzgerald called Maria Gonzalez about the order.")
    assert "Fitzgerald" not in redacted
    assert "Gonzalez" not in redacted
    assert "about the order" in redacted


def test_one_person_is_one_placeholder() -> None:
    redactor = Redactor(use_parser=False)
    first = redactor.redact("Dear Ann Miller,\nthank you. Ann Miller checks it.")
    second = redactor.redact("Ann Miller pays.")
    assert first == "Dear [PERSON_1],\nthank you. [PERSON_1] checks it."
    assert second == "[PERSON_1] pays."


@pytest.mark.parametrize(
    "text",
    [
        "The order 4111111111111112 is sent.",  # no card: its check digit is wrong
        "DE89 3704 0044 0532 0130 01 is no account",
        "Ship 12 boxes within 14 days, see section 3.2.1 and ISO 27001.",
        "The Sales Department informs the Procurement Team.",
        "Version 10.20.30 of 2024-05-17 costs 1,250.00 EUR.",
    ],
)
def test_what_stays(text: str) -> None:
    assert Redactor(use_parser=False).redact(text) == text


def test_placeholders_that_a_text_has_already() -> None:
    redactor = Redactor(use_parser=False)
    redacted = redactor.redact("[EMAIL_1] is not a@b.org")
    assert redacted == "[EMAIL_1] is not [EMAIL_2]"
    assert redactor.restore(redacted) == "[EMAIL_1] is not a@b.org"


def test_restored_within_json() -> None:
    redactor = Redactor(use_parser=False)
    redactor.redact("Dear Zoë\tO'Neill,")
    text = redactor.restore(json.dumps({"name": "[PERSON_1]"}), json=True)
    assert json.loads(text) == {"name": "Zoë O'Neill"}


def test_nothing_personal_reaches_another_machine() -> None:
    script = [Scripted("Thank [PERSON_1] at [EMAIL_1]", calls=[("call", '{"who": "PERSON_1"}')])]
    with model_server(script) as server:
        settings = ModelSettings(url=server.url, name="toy", redact="on")
        reply = OpenAIModelClient(settings).ask([{"role": "user", "content": MAIL}])
    assert [word for word in PERSONAL if word in json.dumps(server.requests)] == []
    assert "anna.kowalska@example.com" in reply.text
    assert "PERSON" not in reply.text + reply.calls[0].arguments


def test_a_model_on_this_machine_sees_the_text() -> None:
    with model_server(["ok"]) as server:
        settings = ModelSettings(url=server.url, name="toy")
        OpenAIModelClient(settings).ask([{"role": "user", "content": MAIL}])
    assert server.prompt() == MAIL
