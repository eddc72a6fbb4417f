"""Mutations that keep XML and JSON mostly readable, for `fuzz_readers.py`."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Any

ODD_TEXT = (
    "", " ", "\t\n", "a", "0", "-1", "1e400", "9" * 400, "NaN", "true", "null", "\u0000", "\ufeff",
    "\ud800", "\U0001f600", "e\u0301", "\u202e", "{{ $json.a }}", "={{ 1 }}", "= a", "${x}", "`",
    "\\", '"', "'", "</", "&amp;", "x" * 300, "a:b", "{a}b", "..", "/", "$.x", "__proto__",
    "constructor", "PT1H", "P1Y2M", "R3/PT10S", "2024-02-30T25:61:00Z", "* * * * *", "a = 1",
    "a > 1 and b", "if a then b", "${a == 1}", "[0]", "merge", "n8n-nodes-base.merge",
)  # fmt: skip
"""Texts that readers tend to stumble over."""

ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 2**53, 10**30, 1e308, [], {}, [[]], [None], {"": None}, *ODD_TEXT
)  # fmt: skip

_TOKENS = re.compile(r"<[^>]*>|[^<]+")
_NAME = re.compile(r"</?([\w:.-]+)")
_ATTRIBUTE = re.compile(r"""([\w:.-]+)=("[^"]*"|'[^']*')""")


def mutate_xml(data: bytes, other: bytes, dice: random.Random, tags: tuple[str, ...]) -> bytes:
    """`data` with one to four changes of tags, attributes or text; `other` lends pieces."""
    tokens = _TOKENS.findall(data.decode("utf-8", "replace"))
    lent = _TOKENS.findall(other.decode("utf-8", "replace")) or [""]
    for _ in range(dice.choice((1, 1, 2, 4))):
        if not tokens:
            break
        at = dice.randrange(len(tokens))
        dice.choice(_XML)(tokens, at, dice, lent, tags)
    text = "".join(tokens)
    form = dice.randrange(60)
    if form == 0:
        return text.encode("utf-16", "replace")
    if form == 1:
        return text.replace("\n", "\r\n").encode("utf-8", "surrogatepass")
    return text.encode("utf-8", "replace")


def _end(tokens: list[str], at: int) -> int:
    """Behind the element, or the text, that begins at `at`."""
    depth = 0
    for i in range(at, len(tokens)):
        token = tokens[i]
        if token[:2] == "</":
            depth -= 1
        elif token[:1] == "<" and token[1:2] not in "!?" and token[-2:] != "/>":
            depth += 1
        if depth <= 0:
            return i + 1
    return at + 1


def _open(tokens: list[str], at: int) -> int:
    """The next token from `at` that begins an element or text."""
    return next((i for i in range(at, len(tokens)) if tokens[i][:2] != "</"), 0)


def _drop(tokens: list[str], at: int, dice: random.Random, *_: Any) -> None:
    at = _open(tokens, at)
    del tokens[at : _end(tokens, at)]


def _break(tokens: list[str], at: int, dice: random.Random, *_: Any) -> None:
    del tokens[at : at + dice.choice((1, 1, 2, 5))]


def _copy(tokens: list[str], at: int, dice: random.Random, *_: Any) -> None:
    at = _open(tokens, at)
    part = tokens[at : _end(tokens, at)]
    to = dice.randrange(len(tokens) + 1)
    tokens[to:to] = part * dice.choice((1, 1, 1, 3))


def _move(tokens: list[str], at: int, dice: random.Random, *_: Any) -> None:
    at = _open(tokens, at)
    end = _end(tokens, at)
    part = tokens[at:end]
    del tokens[at:end]
    to = dice.randrange(len(tokens) + 1)
    tokens[to:to] = part


def _lend(tokens: list[str], at: int, dice: random.Random, lent: list[str], *_: Any) -> None:
    start = _open(lent, dice.randrange(len(lent)))
    tokens[at:at] = lent[start : _end(lent, start)]


def _element(tokens: list[str], at: int, dice: random.Random, lent: Any, tags: Any) -> None:
    """Another tag on an element and its end tag."""
    match = _NAME.match(tokens[at])
    if match is None:
        return
    old, new = match.group(1), dice.choice(tags)
    tokens[at] = tokens[at].replace(old, new, 1)
    for i in range(at + 1, len(tokens)):
        if tokens[i].startswith(f"</{old}"):
            tokens[i] = tokens[i].replace(old, new, 1)
            break


def _value(tokens: list[str], at: int, dice: random.Random, *_: Any) -> None:
    """Another value for an attribute: one of the file's or an odd one."""
    found = list(_ATTRIBUTE.finditer(tokens[at]))
    if not found:
        return
    match = dice.choice(found)
    known = _ATTRIBUTE.findall(tokens[dice.randrange(len(tokens))])
    odd = _escaped(dice.choice(ODD_TEXT))
    new = dice.choice(known)[1] if known and dice.random() < 0.7 else f'"{odd}"'
    start, end = match.span(2)
    tokens[at] = tokens[at][:start] + new + tokens[at][end:]


def _attribute(tokens: list[str], at: int, dice: random.Random, lent: list[str], _: Any) -> None:
    """An attribute more, or one less."""
    token = tokens[at]
    found = list(_ATTRIBUTE.finditer(token))
    if found and dice.random() < 0.5:
        match = dice.choice(found)
        tokens[at] = token[: match.start()] + token[match.end() :]
    elif token[:1] == "<" and token[1:2] not in "/!?":
        more = _ATTRIBUTE.findall(dice.choice((tokens, lent))[dice.randrange(1)])
        more = more or _ATTRIBUTE.findall(dice.choice(lent)) or [("isForCompensation", '"true"')]
        name, value = dice.choice(more)
        cut = -2 if token.endswith("/>") else -1
        tokens[at] = f"{token[:cut]} {name}={value}{token[cut:]}"


def _words(tokens: list[str], at: int, dice: random.Random, *_: Any) -> None:
    tokens.insert(at, _escaped(dice.choice(ODD_TEXT)))


def _wrap(tokens: list[str], at: int, dice: random.Random, lent: Any, tags: Any) -> None:
    tag, times = dice.choice(tags), dice.choice((1, 1, 3, 40))
    end = min(len(tokens), at + dice.choice((1, 3, 9)))
    tokens.insert(end, f"</{tag}>" * times)
    tokens.insert(at, f'<{tag} id="w{dice.randrange(9)}">' * times)


_XML: tuple[Callable[..., None], ...] = (
    _break, _drop, _drop, _copy, _move, _lend, _element, _element, *[_value] * 5, _attribute,
    _attribute, _words, _wrap,
)  # fmt: skip


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def mutate_json(data: bytes, other: bytes, dice: random.Random) -> bytes | None:
    """`data` with one to four values changed; `None` where it is not JSON."""
    try:
        root = json.loads(data)
        lent = json.loads(other)
    except (ValueError, RecursionError):
        return None
    box = [root]
    for _ in range(dice.choice((1, 1, 2, 4))):
        places = _places(box)
        holder, key = dice.choice(places)
        dice.choice(_JSON)(holder, key, dice, places, _places([lent]))
    if not box:
        return b""
    try:
        text = json.dumps(box[0], ensure_ascii=dice.random() < 0.5)
    except (ValueError, RecursionError):
        return None
    form = dice.randrange(60)
    if form == 0:  # a key twice
        text = re.sub(r'("\w+": )', r"\1null, \1", text, count=1)
    elif form == 1:
        return text.encode("utf-16", "surrogatepass")
    elif form == 2:
        text = text.replace(": 1", ": NaN", 1).replace(": 0", ": -Infinity", 1)
    return text.encode("utf-8", "surrogatepass")


_Place = tuple[Any, Any]


def _places(box: list[Any]) -> list[_Place]:
    """Every (holder, key) of a value; a few thousand at most."""
    found: list[_Place] = []
    stack: list[Any] = [box]
    while stack and len(found) < 4000:
        holder = stack.pop()
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        for key in keys:
            found.append((holder, key))
            if isinstance(holder[key], dict | list):
                stack.append(holder[key])
    return found or [(box, 0)]


def _copied(value: Any) -> Any:
    try:
        return json.loads(json.dumps(value))
    except (ValueError, RecursionError):
        return None


def _at(place: _Place) -> Any:
    holder, key = place
    try:
        return _copied(holder[key])
    except (KeyError, IndexError):
        return None


def _set(place: _Place, value: Any) -> None:
    holder, key = place
    if isinstance(holder, dict) or key < len(holder):
        holder[key] = value


def _odd(holder: Any, key: Any, dice: random.Random, *_: Any) -> None:
    _set((holder, key), _copied(dice.choice(ODD_VALUES)))


def _gone(holder: Any, key: Any, dice: random.Random, *_: Any) -> None:
    if isinstance(holder, dict):
        holder.pop(key, None)
    else:
        del holder[key : key + 1]


def _twice(holder: Any, key: Any, dice: random.Random, *_: Any) -> None:
    if isinstance(holder, list):
        holder[key:key] = [_at((holder, key))] * dice.choice((1, 1, 2, 12))
    else:
        holder[dice.choice(ODD_TEXT)] = _at((holder, key))


def _other(holder: Any, key: Any, dice: random.Random, places: Any, lent: Any) -> None:
    _set((holder, key), _at(dice.choice(places if dice.random() < 0.6 else lent)))


def _alike(holder: Any, key: Any, dice: random.Random, places: Any, lent: Any) -> None:
    """A scalar from elsewhere in the file, of the same type: a reference that leads astray."""
    kind = type(_at((holder, key)))
    for _ in range(30):
        value = _at(dice.choice(places))
        if type(value) is kind and not isinstance(value, dict | list):
            _set((holder, key), value)
            return


def _renamed(holder: Any, key: Any, dice: random.Random, places: Any, lent: Any) -> None:
    if isinstance(holder, dict) and key in holder:
        names = [k for _, k in dice.choice((places, lent)) if isinstance(k, str)]
        holder[dice.choice(names or list(ODD_TEXT))] = holder.pop(key)


def _nested(holder: Any, key: Any, dice: random.Random, *_: Any) -> None:
    value = _at((holder, key))
    for _n in range(dice.choice((1, 1, 2, 30))):
        value = [value] if not isinstance(key, str) or dice.random() < 0.5 else {key: value}
    _set((holder, key), value)


_JSON: tuple[Callable[..., None], ...] = (
    _odd, _odd, _gone, _gone, _twice, _other, _other, _alike, _alike, _alike, _renamed, _nested,
)  # fmt: skip
