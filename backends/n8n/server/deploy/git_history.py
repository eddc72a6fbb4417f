"""The git repository of a model: which one it is, and whether it contains a deployed commit.

Only git answers both on every machine. Without git, or in an incomplete clone, the answer is
unknown, which callers treat as such.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Final

from orgflow_ir.model.records import NamedTuple

_REMOTE: Final = re.compile(r'^\s*\[remote "origin"\][^\[]*?^\s*url\s*=\s*(\S+)', re.MULTILINE)
_SCHEME: Final = re.compile(r"^(?:\w+://)?(?:[^@/]*@)?")
_NUL = "\0"
"""Ends a path in what git prints with `-z`."""

_COMMIT: Final = re.compile(r"[0-9a-f]{40,64}")
_LENGTH: Final = 12
_SECONDS: Final = 10.0
_SETTINGS: Final = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
"""Settings of a repository that would run programs are off."""


class Repository(NamedTuple):
    """A git repository; a field is empty if it is unknown, all are without a repository.

    Attributes:
        address: digest of the address from which it was cloned.
        beginning: digest of its first commits; empty in a shallow clone.
        folder: digest of its folder on this machine.
        head: the commit that is checked out.
        committed: paths of files that are as in this commit.
    """

    address: str = ""
    beginning: str = ""
    folder: str = ""
    head: str = ""
    committed: frozenset[str] = frozenset()

    @property
    def noted_digests(self) -> tuple[str, str, str]:
        """The digests that a note on a server contains."""
        return self.address, self.beginning, self.folder

    def commit_of(self, place: str) -> str:
        """The commit with the present content of a file; empty if no commit has it."""
        return self.head if place in self.committed else ""


def is_another_repository(mine: tuple[str, ...], noted: tuple[str, ...]) -> bool:
    """Whether two repositories are different: by the addresses if both have one (a fork has the
    same first commits), otherwise by the first commits, otherwise by the folders. Unknown ones,
    such as folders without git, are not."""
    for own, other in zip(mine, noted, strict=False):
        if own and other:
            return own != other
    return False


@lru_cache(maxsize=64)
def read_repository(root: Path) -> Repository:
    """The repository whose folder is `root`."""
    if not (root / ".git").exists():
        return Repository()
    address = remote_address(root)
    head = _run_git(root, "rev-parse", "--verify", "--quiet", "HEAD") or ""
    commits = None
    if head and not _is_shallow(root):
        commits = _run_git(root, "rev-list", "--max-parents=0", "HEAD")
    beginning = "\n".join(sorted(commits.split())) if commits else ""
    status = _run_git(root, "status", "--porcelain=v1", "-z", "--untracked-files=no")
    tracked = _run_git(root, "ls-files", "-z")
    changed = _changed_paths(status or "")
    known = status is not None and tracked is not None and _COMMIT.fullmatch(head)
    return Repository(
        _digest_text(f"git {address}") if address else "",
        _digest_text(f"commits {beginning}") if beginning else "",
        _digest_text(f"path {root}"),
        head if known else "",
        frozenset(filter(None, (tracked or "").split(_NUL))).difference(changed),
    )


def contains_commit(root: Path, commit: str) -> bool | None:
    """Whether the history of what is checked out contains a commit; None if git does not know,
    as in a shallow clone."""
    if not _COMMIT.fullmatch(commit) or not (root / ".git").exists():
        return None
    if _run_git(root, "cat-file", "-e", f"{commit}^{{commit}}") is None:
        return None if _is_shallow(root) or not read_repository(root).head else False
    return _run_git(root, "merge-base", "--is-ancestor", commit, "HEAD") is not None


def remote_address(root: Path) -> str:
    """The address from which a repository was cloned, without scheme and user; empty if none."""
    with suppress(OSError, UnicodeDecodeError):
        match = _REMOTE.search((_git_folder(root / ".git") / "config").read_text("utf-8"))
        if match is not None:
            address = _SCHEME.sub("", match[1]).replace(":", "/").lower()
            return address.removesuffix("/").removesuffix(".git")
    return ""


def _is_shallow(root: Path) -> bool:
    """Whether a clone lacks earlier commits; true if this is unknown."""
    with suppress(OSError, UnicodeDecodeError):
        return (_git_folder(root / ".git") / "shallow").exists()
    return True


def _git_folder(git: Path) -> Path:
    """The folder with the configuration of a repository. The `.git` of a work tree names a folder
    that names it; that of a submodule names it itself. Raises `OSError`."""
    if not git.is_file():
        return git
    own = git.parent / git.read_text("utf-8").partition("gitdir:")[2].strip()
    common = own / "commondir"
    return own / common.read_text("utf-8").strip() if common.exists() else own


def _changed_paths(status: str) -> list[str]:
    """Paths in the output of `git status`; of a renamed file both."""
    paths = []
    rows = iter(status.split(_NUL))
    for row in rows:
        if len(row) > 3:
            paths.append(row[3:])
            if row[0] in "RC":
                paths.append(next(rows, ""))
    return paths


def _run_git(root: Path, *arguments: str) -> str | None:
    """The output of a git command; None if it fails."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["git", *_SETTINGS, *arguments],
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    text = done.stdout.decode("utf-8", "replace")
    return text.strip("\n") if done.returncode == 0 else None


def _digest_text(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:_LENGTH]
