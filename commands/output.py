"""Writing results: standard output as UTF-8, and files completely or not at all."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from orgflow_ir.model.contained_paths import is_inside
from orgflow_ir.model.printable import escape_controls, escape_json
from orgflow_ir.targets.artifact import Artifact


class OutputError(click.ClickException):
    """A result that cannot be written."""

    exit_code = 2


def write_stdout(text: str) -> None:
    """Write to standard output in UTF-8, regardless of the locale; bytes of a file name that are
    not text are escaped. Raises `OSError`."""
    if sys.stdout is None:
        raise OutputError("there is no standard output to write to; use -o FILE")
    sys.stdout.flush()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:  # replaced by something that takes text only
        sys.stdout.write(text)
    else:
        buffer.write(text.encode(errors="backslashreplace"))
        buffer.flush()


def print_text(text: str) -> None:
    """Write a text for people to standard output, without characters of models that act on a
    terminal. Raises `OSError`."""
    write_stdout(escape_controls(text))


def print_json(text: str) -> None:
    """Write JSON about models to standard output; such characters are escaped. Raises `OSError`."""
    write_stdout(escape_json(text))


def is_folder(target: str, artifacts: Sequence[Artifact]) -> bool:
    """Whether `-o target` is a folder: it exists as one, its name ends like one, or there are
    several files."""
    return os.path.isdir(target) or target.endswith(("/", os.sep)) or len(artifacts) > 1


def list_destinations(target: str, artifacts: Sequence[Artifact]) -> list[Path]:
    """The path of each artifact for `-o target`. Raises `click.UsageError` if it cannot be one."""
    if not is_folder(target, artifacts):
        return [Path(target)]
    folder = Path(target)
    named = not folder.is_dir() and not target.endswith(("/", os.sep)) and folder.suffix
    if named or (folder.exists() and not folder.is_dir()):
        raise click.UsageError(
            f"{target} is a file, but the model compiles to {len(artifacts)} files; name a "
            "folder: -o "
            f"{folder.with_suffix('')}/"
        )
    places = [folder / _path_inside(artifact.path) for artifact in artifacts]
    _refuse_links_out(places, folder)
    return places


def _refuse_links_out(places: Sequence[Path], folder: Path) -> None:
    """Raises `OutputError` for a place in a folder that is outside of it once links are followed:
    the folder may be part of a repository, and a link in it would choose the file that is
    overwritten."""
    for place in places:
        if not is_inside(place, folder):
            raise OutputError(
                f"cannot write {place}: it is a symbolic link out of {folder}; remove the link"
            )


def _path_inside(path: str) -> Path:
    relative = Path(path)
    if relative.is_absolute() or ".." in relative.parts:
        raise ValueError(f"a backend may not write outside the output folder: {path}")
    return relative


def write_files(files: Sequence[tuple[Path, str | bytes]]) -> None:
    """Write all files, or none if one cannot be written: each is first written next to its place,
    then all are moved. Raises `OutputError` naming the file."""
    written: list[tuple[str, Path]] = []
    path = Path()
    try:
        for path, text in files:
            real = Path(os.path.realpath(path)) if path.is_symlink() else path
            if real.is_symlink():
                raise OSError(errno.ELOOP, "a cycle of symbolic links")
            path = real
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                raise IsADirectoryError(None, "is a folder")
            if path.exists() and not os.access(path, os.W_OK):
                raise PermissionError(None, "permission denied")
            if path.exists() and not path.is_file():  # a device or a pipe is written, not replaced
                path.write_bytes(_as_bytes(text))
                continue
            _write_beside(path, text, written)
        for temporary, path in written:
            os.replace(temporary, path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OutputError(f"cannot write {path}: {reason}") from None
    finally:
        for temporary, _ in written:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)


def write_table(
    rows: str, summary: str, output: str | None, html: str | None = None, page: str = ""
) -> None:
    """Write rows to a file, by default to standard output; the summary to standard error; and a
    page to the file `html` if it is named. Raises `OutputError`."""
    files = [(output, rows), (html, page)]
    write_files([(Path(path), text) for path, text in files if path is not None])
    if output is None:
        write_stdout(rows)
    click.echo(summary, err=True, nl=False)


def write_compiled(
    paths: Sequence[str],
    output: str | None,
    artifacts: Sequence[Artifact],
    beside: Sequence[Artifact],
) -> None:
    """Write what models were compiled to, and the files beside it, or print it without `-o`.

    Raises `OutputError` and `click.UsageError`.
    """
    if output is None or output == "-":
        write_stdout(join_artifacts(artifacts))
        return
    files = place_artifacts(output, artifacts)
    if any(same_file(place, path) for place, _ in files for path in paths):
        raise click.UsageError(f"-o {output} would overwrite the input")
    parent = files[0][0].parent
    kept = [(parent / artifact.path, artifact.text) for artifact in beside]
    _refuse_links_out([place for place, _ in kept], parent)
    write_files([*files, *kept])


def write_artifacts(artifacts: Sequence[Artifact], output: str | None) -> None:
    """Write all files to `-o OUTPUT`, or print them if it is omitted or `-`.

    Raises `OutputError` and `click.UsageError`.
    """
    if output is None or output == "-":
        write_stdout(join_artifacts(artifacts))
        return
    write_files(place_artifacts(output, artifacts))


def is_array(output: str, artifacts: Sequence[Artifact]) -> bool:
    """Whether `-o output` is one file with several JSON files as an array."""
    in_one = bool(Path(output).suffix) and not is_folder(output, ())
    return in_one and len(artifacts) > 1 and all(a.path.endswith(".json") for a in artifacts)


def place_artifacts(output: str, artifacts: Sequence[Artifact]) -> list[tuple[Path, str]]:
    """What to write where: several JSON files are one array in a file whose name has a suffix.
    Raises `click.UsageError`."""
    if is_array(output, artifacts):
        return [(Path(output), join_artifacts(artifacts))]
    return list(zip(list_destinations(output, artifacts), (a.text for a in artifacts), strict=True))


def join_artifacts(artifacts: Sequence[Artifact]) -> str:
    """The text for standard output: the one file, or several JSON files as one array.

    Raises `click.UsageError` if several files are not JSON.
    """
    if len(artifacts) == 1:
        return artifacts[0].text
    if not all(a.path.endswith(".json") for a in artifacts):
        raise click.UsageError(f"the result is {len(artifacts)} files; use -o DIR")
    return "[\n" + ",\n".join(a.text.strip() for a in artifacts) + "\n]\n"


def _as_bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def _write_beside(path: Path, text: str | bytes, written: list[tuple[str, Path]]) -> None:
    """Write a temporary file in the folder of `path`, with the mode `path` has or would get. It is
    noted in `written` before it is there: a signal may come at any time."""
    for number in itertools.count():
        temporary = str(path.parent / f".{path.name[:100]}.{os.getpid()}-{number}")
        written.append((temporary, path))
        try:
            handle = os.open(temporary, _NEW, 0o600)
            break
        except FileExistsError:  # another process's of the same number, which was killed
            written.pop()
    with os.fdopen(handle, "wb") as file:
        file.write(_as_bytes(text))
    if path.exists():
        mode = path.stat().st_mode & 0o777
    else:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    os.chmod(temporary, mode)


_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def keep_input(output: str | None, *inputs: str, option: str = "-o") -> None:
    """Raises `click.UsageError` if a result would overwrite its own input."""
    if output is not None and any(i != "-" and same_file(output, i) for i in inputs):
        raise click.UsageError(f"{option} {output} would overwrite the input")


def same_file(path: str | Path, other: str | Path) -> bool:
    """Whether both names refer to the same existing file."""
    try:
        return os.path.samefile(path, other)
    except OSError:
        return False
