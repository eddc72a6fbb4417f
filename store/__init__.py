"""The message stores: a folder on this machine, and a PostgreSQL server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orgflow.store.blas  # noqa: F401  # before numpy, which every store imports

from orgflow_ir.plugins.hooks import hookimpl
from orgflow_ir.plugins.message_stores import StoreProvider

if TYPE_CHECKING:
    from orgflow_ir.plugins.message_stores import MessageStorage


class FolderProvider(StoreProvider):
    """Stores in a folder; nothing but Python is needed."""

    @property
    def name(self) -> str:
        """What locations without `NAME://` mean."""
        return "folder"

    def open(self, location: str) -> MessageStorage:
        """The store in a folder."""
        from orgflow.store.messages import MessageStore

        return MessageStore.open(location)

    def create(self, location: str) -> MessageStorage:
        """The store in a folder, which is made where it is not there yet."""
        from orgflow.store.messages import MessageStore

        return MessageStore.create(location)


class PostgresProvider(StoreProvider):
    """Stores in a database of a PostgreSQL server that has pgvector."""

    @property
    def name(self) -> str:
        """As in `postgresql://user@host/database`."""
        return "postgresql"

    def open(self, location: str) -> MessageStorage:
        """The store in a database."""
        from orgflow.store.postgres import PostgresStore

        return PostgresStore.open(location)

    def create(self, location: str) -> MessageStorage:
        """The store in a database, whose tables are made where they are not there yet."""
        from orgflow.store.postgres import PostgresStore

        return PostgresStore.create(location)


@hookimpl
def orgflow_stores() -> tuple[StoreProvider, ...]:
    """The stores that come with orgflow."""
    return (FolderProvider(), PostgresProvider())
