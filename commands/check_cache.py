"""Results of `orgflowc check` by content, in the user's cache folder.

An entry is identified by the file, everything that affects its check, and the version of the code;
it lists the neighbouring files that mattered, with a digest of them. Entries that are damaged or
cannot be read or written are ignored.

A forged entry would hide the faults of a file. Each entry is therefore authenticated with a key of
this machine, which is made once and lies in the user's cache folder, readable by the user alone:
entries that come with a checkout, or from another user, are ignored.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import stat
import sys
from collections.abc import Iterable, Sequence
from enum import Enum
from hashlib import blake2b
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Any

from orgflow import compiler
from orgflow.commands.checking import Checked, CheckOptions, KeptFixes
from orgflow.commands.project.suppressions import Acceptance, Applied
from orgflow.commands.session import Traced

import orgflow_ir
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.value import Value
from orgflow_ir.plugins.hooks import GROUP

MOST_BYTES = 64 * 1024 * 1024
"""Maximum size of all entries in bytes; beyond it, the least recently used ones are removed."""

MOST_OF_A_FILE = 8 * 1024 * 1024
"""Larger files are checked each time."""

_PACKAGES = ("frontends", "passes", "backends", "commands")
"""Packages whose code, together with that of the IR, determines the findings."""


def cache_folder() -> Path:
    """The folder of the entries: ORGFLOW_CACHE, or one in the user's cache. Raises `RuntimeError`
    for a user without a home folder."""
    named = os.environ.get("ORGFLOW_CACHE")
    if named:
        return Path(named).expanduser()
    return _user_folder() / "check"


def _user_folder() -> Path:
    """The folder of orgflow in the user's cache. Raises `RuntimeError` for a user without a home
    folder."""
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "orgflow"


def key_path() -> Path:
    """The file with the key of the entries, wherever these are."""
    return _user_folder() / "check.key"


_KEY_BYTES = 32


def read_machine_key() -> bytes | None:
    """The key that authenticates entries, made on the first call; `None` where none can be made or
    where other users can read or write it. Raises nothing."""
    try:
        path = key_path()
        return _read_key(path)
    except RuntimeError:  # the user has no home folder
        return None
    except FileNotFoundError:
        pass
    except OSError:
        return None
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(temporary, _NEW, 0o600), "wb") as file:
            file.write(os.urandom(_KEY_BYTES))
        with contextlib.suppress(FileExistsError):  # another process was faster
            os.link(temporary, path)
        return _read_key(path)
    except OSError:
        return None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def _read_key(path: Path) -> bytes | None:
    """The key in a file; `None` where it is no key of this user alone. Raises `OSError`."""
    with open(path, "rb") as file:
        state = os.fstat(file.fileno())
        key = file.read(_KEY_BYTES + 1)
    if os.name == "posix" and (
        state.st_uid != os.geteuid() or state.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    ):
        return None
    return key if len(key) == _KEY_BYTES else None


class _Entry(NamedTuple):
    """A result, or its fixes, and the digest of the files beside the model when it was made."""

    beside: bytes
    checked: Checked | KeptFixes


class CheckCache:
    """The entries that one command line reads and writes."""

    def __init__(self, options: CheckOptions, accepted: Acceptance, folder: Path) -> None:
        self._options, self._accepted, self._folder = options, accepted, folder
        self._machine_key = read_machine_key()
        self._key = _new_digest(
            _describe_installation(), options.same_for_all().encode(errors="backslashreplace")
        )
        self._given = _new_digest(
            repr((options.given, options.folders)).encode(errors="backslashreplace")
        )
        self._contents: dict[str, bytes] = {}
        self._configured: dict[str, bytes] = {}
        self._folders: dict[tuple[str, tuple[str, ...]], bytes] = {}
        self._keys: dict[str, str] = {}
        self._lasting: set[str] = set()
        self._written = False

    def find(self, path: str) -> tuple[bytes, Checked] | None:
        """The bytes of a file and its findings from an earlier run."""
        config = self._accepted.configuration(path)
        data = _read_content(path)
        if data is None or (config is not None and not config.cache):
            return None
        self._contents[os.path.normpath(path)] = blake2b(data).digest()
        key = self._keys[path] = self._name(path)
        checked = self._find(key)
        if not isinstance(checked, Checked):
            return None
        self._lasting.add(path)
        return data, checked

    def keep(self, path: str, checked: Checked) -> None:
        """Store the findings of a file that `find` looked up."""
        key = self._keys.get(path)
        if key is not None and checked.lasting:
            self._keep(key, checked)
            self._lasting.add(path)

    def find_fixes(self, path: str) -> KeptFixes | None:
        """The fixes proved for a file that `find` looked up."""
        kept = self._find(f"{self._keys[path]}-fixes") if path in self._lasting else None
        return kept if isinstance(kept, KeptFixes) else None

    def keep_fixes(self, path: str, fixes: KeptFixes) -> None:
        """Store the fixes of a file whose result is stored."""
        if path in self._lasting:
            self._keep(f"{self._keys[path]}-fixes", fixes)

    def _find(self, key: str) -> Checked | KeptFixes | None:
        place = self._folder / key
        try:
            stored = place.read_bytes()
        except OSError:
            return None
        entry = None if self._machine_key is None else _load_entry(key, stored, self._machine_key)
        if entry is None or entry.beside != self._beside(entry.checked):
            return None
        with contextlib.suppress(OSError):
            os.utime(place)
        return entry.checked

    def _keep(self, key: str, checked: Checked | KeptFixes) -> None:
        if self._machine_key is None:
            return
        data = _entry_bytes(_Entry(self._beside(checked), checked))
        place, temporary = self._folder / key, self._folder / f".{key}.{os.getpid()}"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(_sign_entry(key, data, self._machine_key) + data)
            os.replace(temporary, place)
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink()
            return
        self._written = True

    def trim(self, most: int = MOST_BYTES) -> None:
        """Remove the least recently used entries once all entries exceed `most` bytes."""
        if not self._written:
            return
        old_first = []
        with contextlib.suppress(OSError), os.scandir(self._folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    state = entry.stat()
                    old_first.append((state.st_mtime_ns, entry.path, state.st_size))
        total = sum(size for _, _, size in old_first)
        for _, path, size in sorted(old_first) if total > most else ():
            if total <= most * 3 // 4:
                break
            with contextlib.suppress(OSError):
                os.unlink(path)
            total -= size

    def _name(self, path: str) -> str:
        """The name of the entry of a file whose content is known."""
        config = self._accepted.configuration(path)
        parts = [self._key, os.fsencode(path), self._contents[os.path.normpath(path)]]
        if config is not None:
            if config.path not in self._configured:
                self._configured[config.path] = _new_digest(_read_content(config.path) or b"")
            relative = os.path.relpath(path, config.folder)
            parts += (os.fsencode(config.path), os.fsencode(relative))
            parts.append(self._configured[config.path])
        return _new_digest(*parts).hex()

    def _beside(self, checked: Checked | KeptFixes) -> bytes:
        """A digest of the files that mattered beside the one that was checked."""
        parts = [self._given] if checked.by_given else []
        return _new_digest(*parts, *(self._files(*folder) for folder in checked.folders))

    def _files(self, folder: str, suffixes: tuple[str, ...]) -> bytes:
        """A digest of names and contents of the files in a folder with some suffixes."""
        if (folder, suffixes) not in self._folders:
            try:
                names = sorted(n for n in os.listdir(folder) if n.lower().endswith(suffixes))
                if "/" in suffixes:
                    names += sorted(f"{e.name}/" for e in os.scandir(folder) if e.is_dir())
            except OSError:
                names = []
            parts: list[bytes] = []
            for name in names:
                path = os.path.normpath(os.path.join(folder, name))
                if path not in self._contents:
                    data = _read_content(path, most=None)
                    self._contents[path] = b"" if data is None else blake2b(data).digest()
                parts += (os.fsencode(name), self._contents[path])
            self._folders[folder, suffixes] = _new_digest(*parts)
        return self._folders[folder, suffixes]


def _read_content(path: str, most: int | None = MOST_OF_A_FILE) -> bytes | None:
    """The bytes of a regular file; `None` where it is none, or larger."""
    try:
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            data = file.read() if most is None else file.read(most + 1)
    except OSError:
        return None
    return data if most is None or len(data) <= most else None


def _new_digest(*parts: bytes) -> bytes:
    digest = blake2b(digest_size=32)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()


def _describe_installation() -> bytes:
    """The version of orgflow, its code, Python's version, and the plugins with theirs."""
    root = os.path.dirname(os.path.abspath(compiler.__file__))
    verify = os.environ.get("ORGFLOW_VERIFY", "")  # finds more
    parts = [version("orgflow").encode(), sys.version.encode(), verify.encode()]
    folders = [os.path.dirname(os.path.abspath(orgflow_ir.__file__))]
    folders += (os.path.join(root, package) for package in _PACKAGES)
    parts += _digest_modules([*folders, os.path.join(root, "compiler.py")])
    for point in sorted(entry_points(group=GROUP), key=lambda p: (p.name, p.value)):
        package = getattr(sys.modules.get(point.module.partition(".")[0]), "__file__", None)
        named = None if point.dist is None else f"{point.dist.name} {point.dist.version}"
        parts.append(f"{point.name} {point.value} {named}".encode())
        if package is not None:  # one that is being written keeps its version
            whole = os.path.basename(package) == "__init__.py"
            parts += _digest_modules([os.path.dirname(package) if whole else package])
    return _new_digest(*parts)


def _digest_modules(places: Iterable[str]) -> list[bytes]:
    """Names and contents of the modules in folders."""
    parts: list[bytes] = []
    for place in places:
        modules: Sequence[str] = [place]
        if os.path.isdir(place):
            modules = sorted(
                os.path.join(folder, name)
                for folder, _, names in os.walk(place)
                for name in names
                if name.endswith(".py")
            )
        for module in modules:
            parts += (os.path.basename(module).encode(), _read_content(module, most=None) or b"")
    return parts


def _entry_bytes(entry: _Entry) -> bytes:
    """An entry as it is stored, without its digest: the same bytes on every version of Python."""
    stream = io.BytesIO()
    _Pickler(stream, protocol=5).dump(entry)
    return stream.getvalue()


def _sign_entry(name: str, data: bytes, machine_key: bytes) -> bytes:
    """The authentication code of an entry (BLAKE2b with a key, RFC 7693). It covers the name, so
    that the entry of a correct file cannot stand for that of a faulty one."""
    code = blake2b(len(name).to_bytes(8, "big"), digest_size=32, key=machine_key)
    code.update(name.encode())
    code.update(data)
    return code.digest()


def _load_entry(name: str, stored: bytes, machine_key: bytes) -> _Entry | None:
    """An entry; `None` where it is damaged, or was not written on this machine under this name."""
    check, data = stored[:32], stored[32:]
    if check != _sign_entry(name, data, machine_key):
        return None
    try:
        entry = _Unpickler(io.BytesIO(data)).load()
    except Exception:  # noqa: BLE001  # whatever is in the file, it is no entry
        return None
    return entry if isinstance(entry, _Entry) else None


class _Pickler(pickle.Pickler):
    """Writes a member of an enumeration as its class and value.

    Python 3.11.0 to 3.11.3 write it as a call of `getattr`, which no entry may make.
    """

    def reducer_override(self, value: Any, /) -> Any:
        return (type(value), (value.value,)) if isinstance(value, Enum) else NotImplemented


class _Unpickler(pickle.Unpickler):
    """Makes values of the IR and nothing else: a file cannot have code run."""

    def find_class(self, module: str, name: str, /) -> Any:
        own = {kind.__name__: kind for kind in (_Entry, Checked, Applied, Traced, KeptFixes)}
        if module.startswith("orgflow.commands.") and name in own:
            return own[name]
        if module.startswith("orgflow_ir.") and "." not in name:  # no attribute of an attribute
            loaded = super().find_class(module, name)
            if isinstance(loaded, type) and issubclass(loaded, Value | tuple | Enum):
                return loaded
        raise pickle.UnpicklingError(f"{module}.{name} does not belong in an entry")
