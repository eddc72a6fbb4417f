"""Names of persons in e-mail addresses (`zsofia.bernath@…`), and mailboxes that belong to no
person."""

from __future__ import annotations

import re
import unicodedata

from orgflow.agents.language.lexicon import PersonsLexicon, load_lexicon
from orgflow.agents.model_client.given_names import stop_words

_MAILBOXES = load_lexicon(PersonsLexicon).mailboxes
_LOCAL = re.compile(r"(?P<local>[^\W_][\w.+'-]*)@[\w-]")
_LEAST = 3
"""Minimum number of letters of a name that is searched for elsewhere."""


def is_function(word: str) -> bool:
    """Whether a word of an address or a header names the purpose of a mailbox instead of a
    person."""
    low = word.lower()
    return low in _MAILBOXES or low in stop_words()


def names_in_address(address: str, text: str) -> tuple[str, ...]:
    """The names of the person with this address, capitalised.

    Args:
        text: the text that contains the address; an initial and a last name in one word
            (`xetxeberria@…`) are a name if the text contains the last name.

    Example:
        >>> names_in_address("zsofia.bernath@example.org", "")
        ('Zsofia', 'Bernath')
        >>> names_in_address("order.desk@example.org", "")
        ()
    """
    match = _LOCAL.match(address)
    if match is None:
        return ()
    parts = [part.strip("0123456789") for part in re.split(r"[._+-]+", match["local"].lower())]
    parts = [part for part in parts if part]
    if not parts or any(is_function(part) or not part.isalpha() for part in parts):
        return ()
    if len(parts) > 1:
        return tuple(part.capitalize() for part in parts if len(part) >= _LEAST)
    (alone,) = parts
    written = re.search(rf"(?<![\w@.]){re.escape(alone[1:])}(?![\w@])", text, re.IGNORECASE)
    if len(alone) >= _LEAST + 2 and written is not None and not is_function(alone[1:]):
        return (alone[1:].capitalize(),)
    return ()


def plain_letters(name: str) -> str:
    """A name without accents, as in hasty writing: `Zsofia` for `Zsófia`."""
    return "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
