"""Regular expressions that are compiled when they are first used."""

from __future__ import annotations

import re

import pytest

from orgflow_ir.lazy_patterns import lazy_pattern


def test_a_pattern_is_compiled_by_its_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    original = re.compile
    monkeypatch.setattr(
        re, "compile", lambda text, flags=0: (compiled.append(text), original(text, flags))[1]
    )
    pattern = lazy_pattern("a(?P<rest>b*)", re.IGNORECASE)
    assert not compiled
    match = pattern.match("ABBc")
    assert match
    assert match["rest"] == "BB"
    assert pattern.sub("-", "xAby") == "x-y"
    assert pattern.match("abb")
    assert compiled == ["a(?P<rest>b*)"] * 2
    assert pattern.groups == 1


def test_bytes_and_wrong_attributes() -> None:
    assert lazy_pattern(rb"\d+").findall(b"1 22") == [b"1", b"22"]
    with pytest.raises(AttributeError):
        lazy_pattern("a").find("a")  # type: ignore[attr-defined]
    with pytest.raises(re.error):
        lazy_pattern("(").match("")
