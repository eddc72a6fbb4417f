"""The contract for deploying: what a backend emits is put in place on a server.

`Deployer.connect` gives a session; a session reads or takes over the workflows that are wanted and
makes a plan of them; a plan is previewed, or applied and reported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from orgflow_ir.model import Model
    from orgflow_ir.model.source import SourceFile
    from orgflow_ir.pipeline import PassContext
    from orgflow_ir.plugins.engines import ServerAccess
    from orgflow_ir.targets.artifact import Emitted


class Deployable(Protocol):
    """One workflow to deploy, in whatever form the backend keeps it."""

    @property
    def name(self) -> str:
        """What people call it."""


class DeployOptions(NamedTuple):
    """What the user wants of a deploy.

    Attributes:
        publish: make new workflows live, and not drafts.
        take_over: overwrite what somebody edited, or made otherwise.
        rollback: deploy a model again that another one has replaced since.
        credentials: the text of a file with credentials, in the target's own form.
        keys: put a random key into each address that starts a workflow and has none.
    """

    publish: bool = True
    take_over: bool = False
    rollback: bool = False
    credentials: str = ""
    keys: bool = False


class Removed(NamedTuple):
    """A workflow that was taken away, or could not be.

    Attributes:
        name: its name.
        id: the server's id.
        kept: why it is still there; empty where it is gone.
    """

    name: str
    id: str
    kept: str = ""


class Deployed(NamedTuple):
    """A workflow that is on the server now.

    Attributes:
        name: its name.
        source: the file it is from.
        id: the server's id.
        action: `created`, `updated`, or `unchanged`.
        state: `published`, `draft`, or what else the target has (n8n: `by hand`, `by call`).
        urls: where it can be called.
    """

    name: str
    source: str
    id: str
    action: str
    state: str
    urls: tuple[str, ...] = ()


class DeployResult(NamedTuple):
    """What became of workflows that are deployed together or not at all.

    Attributes:
        names: of the workflows.
        deployed: what is there now; empty where it failed and was undone.
        skipped: nothing was tried, since the server had failed before or the deploy was stopped.
    """

    names: tuple[str, ...]
    deployed: tuple[Deployed, ...] = ()
    skipped: bool = False

    @property
    def ok(self) -> bool:
        """Whether the workflows are in place."""
        return bool(self.deployed)


class DeployPlan(ABC):
    """What a deploy will change, found by looking at the server."""

    @abstractmethod
    def preview(self, ctx: PassContext, width: int) -> Iterator[str]:
        """Text for each workflow: what would change. Changes nothing; what prevents the deploy of
        a workflow is reported to `ctx` before its text."""

    def unfinished(self) -> Iterator[str]:
        """A line for each workflow that a person still has to complete; nothing by default."""
        return iter(())

    @abstractmethod
    def apply(self, ctx: PassContext) -> None:
        """Carry out the plan, showing progress by the services of `ctx`; workflows that fail are
        undone together with those of their group.

        An interruption (an exception such as `KeyboardInterrupt`) is passed on when the work in
        progress has been undone; `results` are then of what was tried.
        """

    @property
    @abstractmethod
    def results(self) -> tuple[DeployResult, ...]:
        """What `apply` did, group by group."""

    @abstractmethod
    def report(self, ctx: PassContext) -> None:
        """Emit what failed, and what could not be undone."""


class DeploySession(ABC):
    """A server that answers, with a key that it takes.

    Attributes:
        options: target options that the version of the server demands.
    """

    options: Mapping[str, str]

    @abstractmethod
    def read(
        self, source: SourceFile, path: str, ctx: PassContext, *, name: str | None
    ) -> Sequence[Deployable]:
        """The workflows in a file of the target's own format, under another name where one is
        given; `path` is the file as the user named it. What is wrong with them, or does not fit
        the server, is reported to `ctx`."""

    @abstractmethod
    def compiled(
        self, emitted: Emitted, model: Model, path: str, ctx: PassContext, *, named: bool
    ) -> Sequence[Deployable]:
        """The workflows that `model`, read from `path`, was compiled into; `named`: they got their
        name for this deploy, so a workflow of another name is another one."""

    @abstractmethod
    def plan(self, wanted: Sequence[Deployable], options: DeployOptions) -> DeployPlan:
        """Compare with what is on the server. Raises `RemoteError`, and `ValueError` for
        credentials that cannot be read."""

    def remove(
        self, wanted: Sequence[Deployable], *, edited: bool, dry_run: bool
    ) -> Iterator[Removed]:
        """Take away what was deployed of `wanted`, callers first; with `edited` also what somebody
        changed since. Nothing is found by default. Raises `RemoteError`."""
        del wanted, edited, dry_run
        return iter(())


class Deployer(ABC):
    """Puts workflows of a target in place."""

    @abstractmethod
    def connect(
        self, access: ServerAccess, ctx: PassContext
    ) -> AbstractContextManager[DeploySession | None]:
        """A session, ended with the `with` block; in it, None after an error, which is in `ctx`.

        Raises:
            AccessError: when the block is entered.
        """
