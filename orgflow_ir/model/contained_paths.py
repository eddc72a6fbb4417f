"""Paths that must not leave a folder, whatever symbolic links there are.

Whoever writes files into a folder can also put links there. A folder is checked, compiled or read
with the rights of the person who runs orgflow, and excerpts of files appear in reports. A link from
such a folder to a file elsewhere is therefore no file of the folder.
"""

from __future__ import annotations

import os


def is_inside(path: str | os.PathLike[str], folder: str | os.PathLike[str]) -> bool:
    """Whether a path leads to a place in a folder after all links are followed. Neither needs to
    exist."""
    place, root = os.path.realpath(path), os.path.realpath(folder)
    return place == root or place.startswith(os.path.join(root, ""))


def leads_out(path: str | os.PathLike[str], folder: str | os.PathLike[str]) -> bool:
    """Whether a file or folder directly or indirectly in `folder` is a symbolic link that leads out
    of it. The folder itself may be reached by a link: a person named it."""
    return os.path.islink(path) and not is_inside(path, folder)


def repository_root(folder: str | os.PathLike[str]) -> str:
    """The root of the repository of a folder; the folder itself outside of one."""
    here = os.path.abspath(folder)
    at = here
    while not os.path.exists(os.path.join(at, ".git")):
        above = os.path.dirname(at)
        if above == at:
            return here
        at = above
    return at


def is_foreign_link(path: str | os.PathLike[str]) -> bool:
    """Whether a file beside a model is a symbolic link out of the repository; outside of a
    repository, out of its folder."""
    return os.path.islink(path) and leads_out(path, repository_root(os.path.dirname(path)))
