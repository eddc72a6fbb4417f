"""The language of a message, by its function words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from orgflow_ir.model.message import Message

ENGLISH, GERMAN = "en", "de"

NAMES = {
    "en": "English", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian",
    "nl": "Dutch", "pt": "Portuguese", "pl": "Polish", "sv": "Swedish",
}  # fmt: skip
"""Languages known by their words; others are recognised by their script."""

_SCRIPTS = (
    ("Greek", re.compile(r"[Ͱ-Ͽ]")),
    ("Cyrillic script", re.compile(r"[Ѐ-ӿ]")),
    ("Hebrew", re.compile(r"[֐-׿]")),
    ("Arabic script", re.compile(r"[؀-ۿ]")),
    ("Japanese", re.compile(r"[぀-ヿ]")),
    ("Chinese", re.compile(r"[一-鿿]")),
    ("Korean", re.compile(r"[가-힯]")),
)

# Words that are frequent in one language; those that two of them share count for both.
_WORDS = {
    "en": """the of and to in is it you that for on are with this have be i was at from we can will
        please not my your has been would could thanks thank hi hello dear just so do if but they
        there what all as an or by our me now no when how then any about up out did don't i'm it's
        i'll got get one""",
    "de": """der die das und ist nicht ich wir sie es ein eine einen zu mit auf für von dem den im
        bitte noch auch habe hat haben wird werden danke hallo liebe grüße kann könnten du dich uns
        ihr ihnen wie was bei nach aus als schon oder wenn aber dass sind war gleich wurde nun
        soeben über alles keine mir am zum zur vor""",
    "fr": """le la les des et est je vous nous une un pour dans pas que qui sur avec ce cette
        bonjour merci du au aux il elle ont sont été plus votre notre mais ou ne se par c'est j'ai
        bien tout cordialement""",
    "es": """el la los las y es que de en un una por para con no se lo su le hola gracias
        estimado usted nos pero como más ya está ha han sido este esta muy si del al
        mi hay también saludos""",
    "it": """il lo la gli le e è che di in un una per con non si grazie ciao buongiorno del della
        sono ho hai abbiamo questo questa più ma come anche alla al nel stato saluti mi ci""",
    "nl": """de het een en is niet ik wij je jij van te dat die voor met op zijn heb heeft hebben
        wordt worden bedankt hallo groeten naar aan bij ook nog maar als er wat kan graag deze dit
        om""",
    "pt": """o a os as e é que de em um uma por para com não se obrigado obrigada olá você nos mas
        como mais já está foi do da dos das ao este esta muito também bom dia""",
    "pl": """i w na nie się jest to że z do proszę dziękuję dzień dobry pan pani po jak ale czy mnie
        od już był została przez dla są oraz tak za""",
    "sv": """och att det är som en ett på för med inte jag vi du har den till av om hej tack kan ska
        från men så var när eller hälsningar mig oss""",
}
_VOTES = {
    word: [code for code, words in _WORDS.items() if word in words.split()]
    for words in _WORDS.values()
    for word in words.split()
}


def small_words() -> frozenset[str]:
    """The small words of all languages, which are about nothing."""
    return frozenset(_VOTES)


SHORT = 60
"""Maximum number of characters of a short message."""

RARE = 0.02
"""A language with a smaller share of the messages is ignored for short ones."""

_TOKEN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")

ENOUGH = 2.0
"""With fewer votes, a short message counts as in the language of its neighbours."""


def language(text: str) -> str:
    """The code of a text's language or the name of its script; empty if it is undetermined.

    Each function word votes; a word of several languages is shared among them.
    """
    letters = sum(map(str.isalpha, text))
    for name, script in _SCRIPTS:
        if letters and len(script.findall(text)) * 3 > letters:
            return name
    votes: dict[str, float] = {}
    for word in _TOKEN.findall(text.lower()[:3000].replace("’", "'")):
        for code in _VOTES.get(word, ()):
            votes[code] = votes.get(code, 0.0) + 1 / len(_VOTES[word])
    if not votes:
        return ""
    best, *others = sorted(votes, key=lambda code: (-votes[code], code))
    second = votes[others[0]] if others else 0.0
    return best if votes[best] >= ENOUGH and votes[best] > 1.2 * second else ""


def languages(messages: Sequence[Message]) -> list[str]:
    """The language of each message; an undetermined one has the language of most of its thread, its
    sender, or all messages. The same holds for a short message in an apparently rare language,
    since a name is enough to mislead."""
    told = [language(f"{m.subject}. {m.body}") for m in messages]
    counts = Counter(told)
    told = [
        "" if counts[code] < RARE * len(messages) and len(m.body) < SHORT else code
        for m, code in zip(messages, told, strict=True)
    ]
    by_thread: dict[str, Counter[str]] = {}
    by_sender: dict[str, Counter[str]] = {}
    for message, code in zip(messages, told, strict=True):
        if code and message.thread:
            by_thread.setdefault(message.thread, Counter())[code] += 1
        if code and message.sender is not None:
            by_sender.setdefault(message.sender.key, Counter())[code] += 1
    all_ = Counter(code for code in told if code)

    def near(message: Message) -> str:
        sender = message.sender.key if message.sender is not None else ""
        for votes in (by_thread.get(message.thread), by_sender.get(sender), all_):
            if votes:
                return min(votes, key=lambda code: (-votes[code], code))
        return ENGLISH

    return [code or near(message) for message, code in zip(messages, told, strict=True)]


def named(code: str) -> str:
    """The name of the language."""
    return NAMES.get(code, code)
