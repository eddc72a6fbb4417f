"""The message store for a location on the command line."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from typing import TYPE_CHECKING

from orgflow.compilation.usage_errors import suggest_name

from orgflow_ir.plugins.message_stores import MessageStorage, StoreError, provider_name

if TYPE_CHECKING:
    from orgflow_ir.plugins import Registry
    from orgflow_ir.plugins.message_stores import StoreProvider


def open_store(location: str, registry: Registry) -> MessageStorage:
    """An existing store. Raises `StoreError`."""
    return _find_provider(location, registry).open(location)


def create_store(location: str, registry: Registry) -> MessageStorage:
    """The store, created if it does not exist. Raises `StoreError`, `OSError`."""
    return _find_provider(location, registry).create(location)


def local_folder(location: str, *, make: bool = False) -> str:
    """The folder for files next to a store: its own, or one of the current folder for a remote
    store, named after the location without its password."""
    if provider_name(location) == "folder":
        return location
    without = re.sub(r"(://[^:@/]*):[^@]*@", r"\1@", location)
    folder = f"orgflow-store-{hashlib.blake2b(without.encode(), digest_size=6).hexdigest()}"
    if make:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    return folder


def readable_by_others(location: str) -> bool:
    """Whether the permissions of a store's folder and of a file in it let other users read it; for
    a remote store, those of the local folder. False if the system has no such permissions."""
    folder = local_folder(location)
    others = stat.S_IRWXG | stat.S_IRWXO
    if os.name != "posix" or not os.path.isdir(folder) or not os.stat(folder).st_mode & others:
        return False
    with os.scandir(folder) as entries:
        return any(entry.is_file() and entry.stat().st_mode & others for entry in entries)


def _find_provider(location: str, registry: Registry) -> StoreProvider:
    name = provider_name(location)
    provider = registry.stores.get(name)
    if provider is None:
        hint = suggest_name(name, tuple(registry.stores))
        raise StoreError(f"no store has the prefix `{name}://`; {hint}")
    return provider
