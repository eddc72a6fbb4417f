"""The message stores: a folder on this machine, and a PostgreSQL server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orgflow.store.blas  # noqa: F401  # before numpy, which every store imports

from orgflow_ir.plugins.hooks import hookimpl
from orgflow_ir.plugins.message_stores import StoreProvider

if TYPE_CHECKING:
    from orgflow.store.messages import MessageStore
    from orgflow.store.postgres import PostgresStore

    from orgflow_ir.plugins.message_stores import MessageStorage


def _load_folder_store() -> type[MessageStore]:
    """The class of stores in folders; every command lists the providers and few open a store, so
    that SQLite is loaded for the first one."""
    from orgflow.store.messages import MessageStore

    return MessageStore


def _load_postgres_store() -> type[PostgresStore]:
    """The class of stores in databases, loaded with asyncio for the first one."""
    from orgflow.store.postgres import PostgresStore

    return PostgresStore


class FolderProvider(StoreProvider):
    """Stores in a folder; they need only Python."""

    @property
    def name(self) -> str:
        """The kind of locations without `NAME://`."""
        return "folder"

    def open(self, location: str) -> MessageStorage:
        """The store in a folder."""
        return _load_folder_store().open(location)

    def create(self, location: str) -> MessageStorage:
        """The store in a folder, created if it does not exist."""
        return _load_folder_store().create(location)


class PostgresProvider(StoreProvider):
    """Stores in a database of a PostgreSQL server with pgvector."""

    @property
    def name(self) -> str:
        """As in `postgresql://user@host/database`."""
        return "postgresql"

    def open(self, location: str) -> MessageStorage:
        """The store in a database."""
        return _load_postgres_store().open(location)

    def create(self, location: str) -> MessageStorage:
        """The store in a database, whose tables are created if they do not exist."""
        return _load_postgres_store().create(location)


@hookimpl
def orgflow_stores() -> tuple[StoreProvider, ...]:
    """The stores that orgflow contains."""
    return (FolderProvider(), PostgresProvider())
