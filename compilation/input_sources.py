"""Inputs of a compilation: files, folders and standard input, and their bytes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from orgflow.compilation.usage_errors import InputError, TooLargeError

from orgflow_ir.model.characters import replace_unwritable
from orgflow_ir.model.source import Source, SourceFile, SourceFolder, SourceStream

MOST_BYTES = 256 * 1024 * 1024
"""Maximum number of bytes of an input that are kept in memory, even of an endless device. Frontends
that accept streams read inputs of any size."""

_CHUNK = 1024 * 1024

STDIN = "<stdin>"
"""The name shown for standard input."""


def source_name(path: str) -> str:
    """The name of the file at a path in findings and models, as text, which a file name on Linux
    need not be."""
    return STDIN if path == "-" else replace_unwritable(path)


@contextmanager
def open_source(path: str) -> Iterator[SourceStream | SourceFolder]:
    """A file, a folder, or standard input for `-`, closed afterwards. Raises `InputError`."""
    if os.path.isdir(path) and path != "-":
        yield SourceFolder(path)
        return
    with _open_stream(path) as stream:
        yield stream


def _open_stream(path: str) -> SourceStream:
    if path == "-" and sys.stdin is None:
        raise InputError("there is no standard input", "name a file")
    if not path:
        raise InputError("the input has no name", "name a file, or - for standard input")
    try:
        if path == "-":  # the program's, and not ours to close
            return SourceStream(STDIN, sys.stdin.buffer, once=True, owned=False)
        file = open(path, "rb", buffering=0)  # noqa: SIM115  # the stream closes it
        try:
            return SourceStream(source_name(path), file)
        except BaseException:
            file.close()
            raise
    except FileNotFoundError:
        raise InputError(f"{path} does not exist", "check the path") from None
    except ValueError as error:  # a NUL in the path
        raise InputError(f"{path!r} is not a path: {error}", "check the path") from None
    except OSError as error:
        raise _unreadable_error(path, error) from None


def _unreadable_error(path: str, error: OSError) -> InputError:
    name = "standard input" if path in ("-", STDIN) else path
    reason = (error.strerror or str(error)).lower()
    return InputError(f"{name} cannot be read: {reason}", "check the file")


def read_source(path: str) -> SourceFile:
    """The bytes of a file, or of standard input for `-`. Raises `InputError`."""
    with open_source(path) as source:
        return read_in_memory(source)


def read_in_memory(source: Source) -> SourceFile:
    """All bytes of a source; a stream is at its end afterwards. Raises `InputError`."""
    if isinstance(source, SourceFile):
        return source
    if isinstance(source, SourceFolder):
        raise InputError(f"{source.path} is a folder", "name a file in it")
    try:
        if source.seekable() and source.seek(0, os.SEEK_END) > MOST_BYTES:
            raise _too_large_error(source)
        if source.seekable():
            source.seek(0)
        parts = [source.read(_CHUNK)]
        size = len(parts[0])
        while parts[-1] and size <= MOST_BYTES:
            parts.append(source.read(_CHUNK))
            size += len(parts[-1])
    except OSError as error:
        raise _unreadable_error(source.path, error) from None
    if size > MOST_BYTES:
        raise _too_large_error(source)
    return SourceFile(source.path, b"".join(parts))


def _too_large_error(source: SourceStream) -> TooLargeError:
    name = "standard input" if source.path == STDIN else source.path
    return TooLargeError(
        f"{name} has more than {MOST_BYTES // (1024 * 1024)} MB", "remove files that are not models"
    )
