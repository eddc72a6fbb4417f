"""The contract of frontends: they never raise, give a reason if there is no model, and read a
sample the same way every time."""

from __future__ import annotations

import io
import re
import tempfile
import tracemalloc
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.model import Model
from orgflow_ir.model.source import (
    HEAD_BYTES,
    Source,
    SourceFile,
    SourceFolder,
    SourceKind,
    SourceLocation,
    SourceStream,
)
from orgflow_ir.model.verifier import list_violations
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Frontend
from orgflow_ir.plugins.guards import accepts_fault
from orgflow_ir.testing.conformance.words import name_problems, rule_problems, said_problems

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

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
"""Bytes that are not a model in any language."""

CUTS = 24
"""Number of places at which a sample is cut off, and at which one of its bytes is changed."""


LONG_LINE = 64 * 1024 * 1024
"""Number of bytes without a line break that a reader of streams must not load into memory."""

MOST_MEMORY = 32 * 1024 * 1024
"""Maximum memory that a reader of streams may use for them."""

Sample = SourceFile | SourceFolder


def frontend_problems(frontend: Frontend, samples: Iterable[Sample]) -> list[str]:
    """All problems of a frontend."""
    problems = name_problems(frontend.name) + rule_problems(frontend.rules)
    if not isinstance(frontend.suffixes, tuple):
        return [*problems, f"`suffixes` is {frontend.suffixes!r}, not a tuple"]
    if (wrong := accepts_fault(frontend.accepts)) is not None:
        return [*problems, wrong]
    for suffix in frontend.suffixes:
        if not re.fullmatch(r"\.[a-z0-9.]+", suffix):
            problems.append(f"suffix `{suffix}` is not a dot and lower-case letters")
    suffix = frontend.suffixes[0] if frontend.suffixes else ".txt"
    if frontend.accepts & {SourceKind.BYTES, SourceKind.STREAM}:
        for data in HOSTILE:
            name = f"{data[:12]!r} ({len(data)} bytes)"
            source = SourceFile(f"hostile{suffix}", data)
            problems += [f"{name}: {p}" for p in _parse_problems(frontend, source)]
    if SourceKind.STREAM in frontend.accepts:
        problems += _memory_problems(frontend, f"long{suffix}")
    if SourceKind.FOLDER in frontend.accepts:
        with tempfile.TemporaryDirectory() as place:
            problems += [f"an empty folder: {p}" for p in _folder_problems(frontend, place)]
            for number, data in enumerate(HOSTILE[:12]):
                Path(place, f"{number}{suffix}").write_bytes(data)
            problems += [f"a folder of odd files: {p}" for p in _folder_problems(frontend, place)]
    for sample in samples:
        sample_problems = _sample_problems(frontend, sample)
        if not sample_problems and isinstance(sample, SourceFile):
            sample_problems = list(_damage_problems(frontend, sample))
        problems += [f"{sample.path}: {p}" for p in sample_problems]
    return problems


def _folder_problems(frontend: Frontend, place: str) -> list[str]:
    return _parse_problems(frontend, SourceFolder(place))


def _hand_sample(frontend: Frontend, sample: Sample, *, once: bool = False) -> Source:
    """A sample in the kind that the frontend accepts."""
    if isinstance(sample, SourceFile) and SourceKind.STREAM in frontend.accepts:
        return sample.stream(once=once)
    return sample


def _sample_head(frontend: Frontend, sample: Sample) -> Source:
    """The part of a sample that `sniff` gets."""
    if isinstance(sample, SourceFile) and SourceKind.STREAM in frontend.accepts:
        return SourceFile(sample.path, sample.data[:HEAD_BYTES]).stream()
    return sample


def _parse_sample(
    frontend: Frontend, sample: Sample, *, once: bool = False
) -> tuple[Model | None, PassContext]:
    ctx = PassContext(options={"diagram": True})
    return frontend.parse(_hand_sample(frontend, sample, once=once), ctx), ctx


def _parse_problems(frontend: Frontend, source: Sample) -> list[str]:
    try:
        model, ctx = _parse_sample(frontend, source)
        frontend.sniff(_sample_head(frontend, source))
    except (Exception, SystemExit) as error:  # noqa: BLE001  # "never raises" is what is tested
        return [f"raised {type(error).__name__}: {error}"]
    problems = said_problems(ctx.diagnostics, frontend.rules)
    if model is None and not ctx.has_errors:
        problems.append("returned no model and reported no error")
    problems += _place_problems(ctx.diagnostics, source)
    if model is not None and not isinstance(model, Model):
        problems.append(f"returned {model!r}, which is not a model")
    return problems


class _Letters(io.RawIOBase):
    """So many bytes, all the same, that are nowhere."""

    def __init__(self, left: int) -> None:
        super().__init__()
        self._left = left

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer).cast("B")
        count = min(len(view), self._left)
        view[:count] = b"a" * count
        self._left -= count
        return count


def _memory_problems(frontend: Frontend, path: str) -> list[str]:
    """Whether a line without end is taken into memory."""
    ctx = PassContext(options={"diagram": True})
    traced = tracemalloc.is_tracing()
    if not traced:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        with SourceStream(path, _Letters(LONG_LINE), once=True) as stream:
            frontend.parse(stream, ctx)
        taken = tracemalloc.get_traced_memory()[1] - before
    except (Exception, SystemExit) as error:  # noqa: BLE001  # "never raises" is what is tested
        return [f"a line of {LONG_LINE >> 20} MB: raised {type(error).__name__}: {error}"]
    finally:
        if not traced:
            tracemalloc.stop()
    if taken <= MOST_MEMORY:
        return []
    return [
        f"a line of {LONG_LINE >> 20} MB takes {taken >> 20} MB of memory; read with a size, as in "
        "`source.read(size)` or `source.readline(size)`"
    ]


def _place_problems(diagnostics: Iterable[Diagnostic], source: Sample) -> Iterator[str]:
    for d in diagnostics:
        if d.loc is None or not _is_inside(d.loc.file, source):
            yield f"{d.code} has no place in {source.path}"
        elif d.loc.span is not None and isinstance(source, SourceFile):
            start, end = d.loc.span
            if not 0 <= start <= end <= len(source.data):
                yield f"{d.code} has the span {d.loc.span} in a file of {len(source.data)} bytes"


def _is_inside(file: str, source: Sample) -> bool:
    """Whether a file is the source, or one in the folder."""
    if isinstance(source, SourceFolder):
        return Path(file).is_relative_to(source.path)
    return file == source.path


def _sample_problems(frontend: Frontend, source: Sample) -> list[str]:
    problems = _parse_problems(frontend, source)
    if problems:
        return problems
    (first, ctx), (second, _) = (_parse_sample(frontend, source) for _ in range(2))
    if first is None or second is None:
        messages = "; ".join(d.message for d in ctx.diagnostics)
        return [f"gave no model: {messages}"]
    if not frontend.sniff(_sample_head(frontend, source)):
        problems.append("`sniff` does not recognise it")
    if first != second:
        problems.append("returns a different model the second time")
    if Model.from_json(first.to_json()) != first:
        problems.append("the model does not survive its own JSON")
    problems += sorted(list_violations(first))
    if isinstance(source, SourceFolder):
        return problems
    if _parse_sample(frontend, source, once=True)[0] != first:
        problems.append("returns a different model if the input can be read only once")
    problems += _span_problems(first, source)
    renamed, _ = _parse_sample(frontend, SourceFile(f"renamed-{source.path}", source.data))
    files = {loc.file for _, loc in _list_places(renamed)} if renamed is not None else set()
    if source.path in files:
        problems.append("its places name a file other than the one that was read")
    return problems


def _list_places(model: Model) -> Iterator[tuple[str, SourceLocation]]:
    for scope in model.scopes():
        for element in (scope, *scope.nodes, *scope.flows):
            if element.loc is not None:
                yield element.label, element.loc


def _span_problems(model: Model, source: SourceFile) -> Iterator[str]:
    for label, loc in _list_places(model):
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
