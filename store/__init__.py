"""The message stores: a folder on this machine, and a PostgreSQL server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orgflow.store.blas  # noqa: F401  # before numpy, which every store imports

from orgflow_ir.plugins.hooks import hookimpl
from orgflow_ir.plugins.message_stores import StoreProvider

if TYPE_CHECKING:
    from orgflow_ir.plugins.message_stores import MessageStorage


class FolderProvider(StoreProvider):
    """Stores in a folder; they need only Python."""

    @property
    def name(self) -> str:
        """The kind of locations without `NAME://`."""
        return "folder"

    def open(self, location: str) -> MessageStorage:
        """The store in a folder."""
        from orgflow.store.messages import MessageStore

        return MessageStore.open(location)

    def create(self, location: str) -> MessageStorage:
        """The store in a folder, created if it does not exist."""
        from orgflow.store.messages import MessageStore

        return MessageStore.create(location)


class PostgresProvider(StoreProvider):
    """Stores in a database of a PostgreSQL server with pgvector."""

    @property
    def name(self) -> str:
        """As in `postgresql://user@host/database`."""
        return "postgresql"

    def open(self, location: str) -> MessageStorage:
        """The store in a database."""
        from orgflow.store.postgres import PostgresStore

        return PostgresStore.open(location)

    def create(self, location: str) -> MessageStorage:
        """The store in a database, whose tables are created if they do not exist."""
        from orgflow.store.postgres import PostgresStore

        return PostgresStore.create(location)


@hookimpl
def orgflow_stores() -> tuple[StoreProvider, ...]:
    """The stores that orgflow contains."""
    return (FolderProvider(), PostgresProvider())
