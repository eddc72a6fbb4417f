"""Mail that programs send: newsletters, notifications, notes of absence. Alone they show no
process."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from orgflow_ir.model.message import Message

_ADDRESS = re.compile(
    r"(?:do[-_.]?not[-_.]?reply|no[-_.]?reply|noreply|mailer[-_.]?daemon|postmaster|bounces?|"
    r"news|newsletter|notifications?|notify|alerts?|marketing|promo|offers)(?:[-+_.]\w+)*@",
    re.IGNORECASE,
)
"""Addresses that nobody answers."""

_SUBJECT = re.compile(
    r"\s*(?:auto(?:matic)?[ -]?(?:reply|response)|out of (?:the )?office|abwesen\w*|"
    r"automatische antwort|réponse automatique|respuesta automática|risposta automatica|"
    r"automatisch antwoord|autosvar|undeliver(?:ed|able)|delivery status notification|"
    r"mail delivery failed|unzustellbar)\b",
    re.IGNORECASE,
)
"""How programs begin the subject of what they answer by themselves."""

_LIST = re.compile(
    r"\b(?:unsubscribe|view (?:this|it) in (?:your|a) browser|manage (?:your )?preferences|"
    r"newsletter (?:ab(?:zu)?bestellen|ab(?:zu)?melden)|im browser ansehen|se désabonner|"
    r"this is an automat\w+ (?:e-?mail|message|notification)|do not reply to this|"
    r"diese (?:e-?mail|nachricht) wurde automatisch)\b",
    re.IGNORECASE,
)
"""The usual end of mail to a list, and of notifications."""

_AWAY = re.compile(
    r"\b(?:out of (?:the )?office|(?:on|away on) (?:annual|parental) leave|am away until|"
    r"(?:bis|vom) [^.\n]{1,40} (?:nicht im (?:büro|haus|dienst)|abwesend|im urlaub|außer haus)|"
    r"(?:nicht im büro|abwesend|im urlaub|außer haus) (?:bis|vom|und ab)|absent du bureau|"
    r"fuera de la oficina|fuori (?:sede|ufficio))\b",
    re.IGNORECASE,
)
"""The wording of a note of absence."""

SHORT = 400
"""Maximum length of a note of absence, in characters."""

SENT, REPEATED = 5, 0.6
"""Minimum number of sent messages, and minimum share of repetitions (except for numbers and names)
among them, by which a sender that receives no messages is a program."""

_VARIES = re.compile(r"\S*[\d@/#]\S*|(?<=[^\n.!?] )[^\W\d_]*[A-Z]\w*")
"""What differs in messages of one template: numbers, addresses, names."""


def find_automatic_messages(messages: Sequence[Message]) -> frozenset[int]:
    """The places of messages that are mail of programs: by their address or subject, by what
    stands at the end of such mail, as notes of absence, or since what their sender writes is from
    templates."""
    receivers = {person.key for message in messages for person in message.receivers}
    sent: dict[str, list[int]] = {}
    places: set[int] = set()
    for place, message in enumerate(messages):
        sender = message.sender
        if sender is not None and message.receivers:  # in a chat room nobody seems to receive
            sent.setdefault(sender.key, []).append(place)
        if _is_automatic(message):
            places.add(place)
    for key, own in sent.items():
        if key not in receivers and _repeat_template([messages[place] for place in own]):
            places.update(own)
    return frozenset(places)


def _is_automatic(message: Message) -> bool:
    """Whether a message by itself is recognised as mail of a program."""
    sender = message.sender
    return bool(
        _SUBJECT.match(message.subject)
        or (len(message.body) < SHORT and _AWAY.search(message.body))
        or (sender is not None and _ADDRESS.match(sender.address or sender.name))
        or (message.channel == "email" and _LIST.search(f"{message.body}\n{message.signature}"))
    )


def _repeat_template(messages: Sequence[Message]) -> bool:
    """Whether most messages of a sender repeat each other but for what varies."""
    if len(messages) < SENT:
        return False
    templates = Counter(map(_read_template, messages))
    return sum(n for n in templates.values() if n > 1) >= REPEATED * len(messages)


def _read_template(message: Message) -> str:
    """The beginning of a text without what varies."""
    return " ".join(_VARIES.sub("", message.text).lower().split())[:120]


def is_exchange(messages: Sequence[Message], case: Sequence[int], programs: frozenset[int]) -> bool:
    """Whether people exchange anything in a case: at least two of them write what is no mail of
    programs. Where a format names no senders, nobody knows."""
    own = [messages[place].sender for place in case if place not in programs]
    return None in own or len({sender.key for sender in own if sender is not None}) > 1
