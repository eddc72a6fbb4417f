"""What a frontend promises: it never raises, says why where it gives no model, and reads a sample
the same way every time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile, SourceLocation
from orgflow_ir.model.verifier import violations
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Frontend
from orgflow_ir.testing.conformance.words import name_problems, rule_problems, said_problems

HOSTILE: tuple[bytes, ...] = (
    b"",
    b" \n",
    b"\x00",
    b"\x00" * 4096,
    b"\xff\xfe\x00<",
    b"\xfe\xff",
    b"\xef\xbb\xbf",
    b"\xef\xbb\xbf\xef\xbb\xbf",
    b"{}",
    b"[]",
    b"null",
    b"1e999",
    b'"\\ud800"',
    b"{",
    b"[" * 5000,
    b'{"a":' * 5000,
    b"9" * 5000,
    b"<a/>",
    b"<a>",
    b"<a>" * 5000,
    b'<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d "&b;&b;&b;">]><a>&d;</a>',
    b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
    b"just words, \xe4\xf6\xfc",
    "just wörds".encode(),
    "just wörds".encode("utf-16"),
    b"a" * 1_000_000,
    b"\n" * 100_000,
    b"\r\r\n\x0b\x0c\x1c\x85",
)
"""Bytes that are no model in any language."""

CUTS = 24
"""Places at which a sample is cut off, and at which a byte of it is changed."""


def frontend_problems(frontend: Frontend, samples: Iterable[SourceFile]) -> list[str]:
    """All problems of a frontend."""
    problems = name_problems(frontend.name) + rule_problems(frontend.rules)
    if not isinstance(frontend.suffixes, tuple):
        return [*problems, f"`suffixes` is {frontend.suffixes!r}, not a tuple"]
    for suffix in frontend.suffixes:
        if not re.fullmatch(r"\.[a-z0-9.]+", suffix):
            problems.append(f"suffix `{suffix}` is not a dot and lower-case letters")
    suffix = frontend.suffixes[0] if frontend.suffixes else ".txt"
    for data in HOSTILE:
        name = f"{data[:12]!r} ({len(data)} bytes)"
        source = SourceFile(f"hostile{suffix}", data)
        problems += [f"{name}: {p}" for p in _parse_problems(frontend, source)]
    for source in samples:
        found = _sample_problems(frontend, source) or list(_damage_problems(frontend, source))
        problems += [f"{source.path}: {p}" for p in found]
    return problems


def _parse(frontend: Frontend, source: SourceFile) -> tuple[Model | None, PassContext]:
    ctx = PassContext(options={"diagram": True})
    return frontend.parse(source, ctx), ctx


def _parse_problems(frontend: Frontend, source: SourceFile) -> list[str]:
    try:
        model, ctx = _parse(frontend, source)
        frontend.sniff(source)
    except Exception as error:  # noqa: BLE001  # "never raises" is what is tested
        return [f"raised {type(error).__name__}: {error}"]
    problems = said_problems(ctx.diagnostics, frontend.rules)
    if model is None and not ctx.has_errors:
        problems.append("gave no model and no error")
    problems += _place_problems(ctx.diagnostics, source)
    if model is not None and not isinstance(model, Model):
        problems.append(f"gave {model!r}, which is no model")
    return problems


def _place_problems(said: Iterable[Diagnostic], source: SourceFile) -> Iterator[str]:
    for d in said:
        if d.loc is None or d.loc.file != source.path:
            yield f"{d.code} has no place in {source.path}"
        elif d.loc.span is not None:
            start, end = d.loc.span
            if not 0 <= start <= end <= len(source.data):
                yield f"{d.code} has the span {d.loc.span} in a file of {len(source.data)} bytes"


def _sample_problems(frontend: Frontend, source: SourceFile) -> list[str]:
    problems = _parse_problems(frontend, source)
    if problems:
        return problems
    (first, ctx), (second, _) = (_parse(frontend, source) for _ in range(2))
    if first is None or second is None:
        said = "; ".join(d.message for d in ctx.diagnostics)
        return [f"gave no model: {said}"]
    if not frontend.sniff(source):
        problems.append("`sniff` does not recognise it")
    if first != second:
        problems.append("gives another model the second time")
    if Model.from_json(first.to_json()) != first:
        problems.append("the model does not survive its own JSON")
    problems += sorted(violations(first))
    problems += _span_problems(first, source)
    renamed, _ = _parse(frontend, SourceFile(f"renamed-{source.path}", source.data))
    files = {loc.file for _, loc in _places(renamed)} if renamed is not None else set()
    if source.path in files:
        problems.append("its places name another file than the one that was read")
    return problems


def _places(model: Model) -> Iterator[tuple[str, SourceLocation]]:
    for scope in model.scopes():
        for element in (scope, *scope.nodes, *scope.flows):
            if element.loc is not None:
                yield element.label, element.loc


def _span_problems(model: Model, source: SourceFile) -> Iterator[str]:
    for label, loc in _places(model):
        if loc.span is not None and not 0 <= loc.span[0] <= loc.span[1] <= len(source.data):
            yield f"`{label}` has the span {loc.span} in a file of {len(source.data)} bytes"


def _damage_problems(frontend: Frontend, source: SourceFile) -> Iterator[str]:
    """A file cut off or with one byte changed is a model or an error, never an exception."""
    size = len(source.data)
    for place in sorted({size * i // CUTS for i in range(CUTS)}):
        cut = source.data[:place]
        changed = cut + bytes([source.data[place] ^ 0x15]) + source.data[place + 1 :]
        for how, data in (("cut off", cut), ("changed", changed)):
            damaged = SourceFile(source.path, data)
            for problem in _parse_problems(frontend, damaged):
                yield f"{how} at byte {place}: {problem}"
