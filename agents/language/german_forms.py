"""German verbs by their spelling: the infinitive of participles and of finite forms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from orgflow.agents.language.lexicon import GermanLexicon, load_lexicon

_VERBS = load_lexicon(GermanLexicon).verbs

KNOWN = _VERBS.acts | _VERBS.talk
"""All infinitives of the lexicon."""


# -- participles and infinitives -------------------------------------------------------------


@cache
def infinitive_of_participle(word: str) -> str | None:
    """The infinitive of a participle: `eingereicht` is of `einreichen`."""
    if word in _VERBS.no_participles:
        return None
    simple = _infinitive_of_simple(word)
    if simple is not None:
        return simple
    for particle in _VERBS.separable:
        if word.startswith(particle) and len(word) > len(particle) + 4:
            rest = _infinitive_of_simple(word[len(particle) :])
            if rest is not None:
                return particle + rest
    return None


def _infinitive_of_simple(word: str) -> str | None:
    """The infinitive of a participle without a separable particle."""
    # 1. strong verbs, and foreign ones: `storniert`
    if word in _VERBS.strong:
        return _VERBS.strong[word]
    if re.search(r"[^e]iert$", word) and len(word) > 6:
        return f"{word[:-1]}en"
    # 2. `ge…t`: known verbs that begin with `ge`, then weak verbs
    if word.startswith("ge") and word.endswith("t") and f"{word[:-1]}en" in KNOWN:
        return f"{word[:-1]}en"
    weak = re.fullmatch(r"ge(\w{2,}?)e?t", word)
    if weak is not None and len(word) > 5:
        stem = weak[1]
        return f"{stem}n" if re.search(r"\w{2}e[lr]$", stem) else f"{stem}en"
    # 3. prefixes instead of `ge`
    for prefix in _VERBS.inseparable:
        infinitive = _infinitive_with_prefix(word, prefix)
        if infinitive is not None:
            return infinitive
    return word if word in _VERBS.own_participles else None


def _infinitive_with_prefix(word: str, prefix: str) -> str | None:
    """The infinitive of a participle with an inseparable prefix: `vereinbart`, `übernommen`."""
    rest = word.removeprefix(prefix)
    if rest == word or len(rest) < 3:
        return None
    strong = _VERBS.strong.get(f"ge{rest}")
    if strong is not None:
        return prefix + strong
    if not rest.endswith("t"):
        return None
    stem = re.sub(r"e?t$", "", rest)
    candidates = (f"{prefix}{stem}en", f"{prefix}{stem}n") if stem else ()
    return next((infinitive for infinitive in candidates if infinitive in KNOWN), None)


@cache
def infinitive_with_zu(word: str) -> str | None:
    """The infinitive of one with `zu` in it: `einzureichen`."""
    for particle in _VERBS.separable:
        act = f"{particle}{word.removeprefix(f'{particle}zu')}"
        if word.startswith(f"{particle}zu") and act in _VERBS.acts:
            return act
    return None


# -- finite forms ----------------------------------------------------------------------------


def infinitive_of_finite(word: str, last: str) -> str | None:
    """The infinitive of a verb in the present or past tense.

    Args:
        word: the form, in lower case.
        last: the last word of its clause, which may be its particle.
    """
    acts = _acts_by_form().get(word, frozenset())
    divided = {act for act in acts if _particle_of(act)}
    if last in _VERBS.separable and last != word:
        return next((act for act in sorted(divided) if _particle_of(act) == last), None)
    whole = sorted(acts - divided)
    return whole[0] if whole else None


@cache
def _acts_by_form() -> Mapping[str, frozenset[str]]:
    """The acts by the forms of the present and past tense without their particle."""
    acts_of: dict[str, set[str]] = {}
    for act in _VERBS.acts:
        base = act.removeprefix(_particle_of(act))
        stem = re.sub(r"e?n$", "", base)
        link = "e" if re.search(r"[td]$|[^lrhaeiou][mn]$", stem) else ""
        forms = {base, f"{stem}e", f"{stem}{link}t", f"{stem}{link}st", f"{stem}{link}te",
                 f"{stem}{link}ten"}  # fmt: skip
        forms |= {form for form, whole in _VERBS.vowels.items() if whole == base}
        for form in forms:
            acts_of.setdefault(form, set()).add(act)
    return {form: frozenset(acts) for form, acts in acts_of.items()}


def _particle_of(verb: str) -> str:
    """The separable particle of a verb; empty where it has none."""
    if verb.startswith("hinter"):
        return ""
    return next((p for p in _VERBS.separable if verb.startswith(p) and len(verb) > len(p) + 4), "")
