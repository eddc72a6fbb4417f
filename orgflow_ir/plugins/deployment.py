"""The contract for deployment: putting the output of a backend on a server.

`Deployer.connect` returns a session. A session reads the requested workflows or takes compiled
ones, and makes a plan. A plan is previewed, or applied and reported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, ClassVar, Protocol

from orgflow_ir.model.records import NamedTuple

if TYPE_CHECKING:
    from orgflow_ir.model import Model
    from orgflow_ir.model.source import SourceFile
    from orgflow_ir.pipeline import PassContext
    from orgflow_ir.plugins.engines import ServerAccess
    from orgflow_ir.targets.artifact import Emitted


class Deployable(Protocol):
    """One workflow to deploy, in the backend's own form."""

    @property
    def name(self) -> str:
        """Its name for people."""


class DeployOptions(NamedTuple):
    """The options of a deploy.

    Attributes:
        publish: publish new workflows instead of leaving them as drafts.
        take_over: overwrite workflows that were edited or that have another origin.
        rollback: deploy a model again that another one has since replaced.
        credentials: the text of a file with credentials, in the target's own format.
        keys: add a random key to each address that starts a workflow and has none.
        folders: the folders of the command; workflows of models that are no longer in them are
            reported.
        settings: settings of what processes share on the server, in the target's own terms
            (`Deployer.settings`).
        migrations: new elements by old ones, for process instances that wait at an element which
            the new version does not have.
    """

    publish: bool = True
    take_over: bool = False
    rollback: bool = False
    credentials: str = ""
    keys: bool = False
    folders: tuple[str, ...] = ()
    settings: Mapping[str, str] = {}
    migrations: Mapping[str, str] = {}


class Removed(NamedTuple):
    """A workflow that was removed or could not be removed.

    Attributes:
        name: its name.
        id: the server's id.
        kept: why it was kept; empty if it was removed.
    """

    name: str
    id: str
    kept: str = ""


class Deployed(NamedTuple):
    """A workflow that is now on the server.

    Attributes:
        name: its name.
        source: the file that it comes from.
        id: the server's id.
        action: `created`, `updated`, or `unchanged`.
        state: `published`, `draft`, or another state of the target (n8n: `by hand`, `by call`).
        urls: the addresses at which it can be called.
    """

    name: str
    source: str
    id: str
    action: str
    state: str
    urls: tuple[str, ...] = ()


class DeployResult(NamedTuple):
    """The result for workflows that are deployed together or not at all.

    Attributes:
        names: the names of the workflows.
        deployed: the deployed workflows; empty if the deploy failed and was undone.
        skipped: whether nothing was tried, because the server had failed before or the deploy was
            stopped.
    """

    names: tuple[str, ...]
    deployed: tuple[Deployed, ...] = ()
    skipped: bool = False

    @property
    def ok(self) -> bool:
        """Whether the workflows are in place."""
        return bool(self.deployed)


class DeployPlan(ABC):
    """The planned changes of a deploy, computed from the state of the server."""

    @abstractmethod
    def preview(self, ctx: PassContext, width: int) -> Iterator[str]:
        """Text for each workflow that describes its changes. Nothing is changed; obstacles to the
        deploy of a workflow are reported to `ctx` before its text."""

    def unfinished(self) -> Iterator[str]:
        """One line for each workflow that a person still has to complete; nothing by default."""
        return iter(())

    @abstractmethod
    def apply(self, ctx: PassContext) -> None:
        """Carry out the plan and show progress through the services of `ctx`; a failed workflow is
        undone together with its group.

        An interruption (an exception such as `KeyboardInterrupt`) propagates after the work in
        progress has been undone; `results` then covers the attempted workflows.
        """

    @property
    @abstractmethod
    def results(self) -> tuple[DeployResult, ...]:
        """The results of `apply`, group by group."""

    @abstractmethod
    def report(self, ctx: PassContext) -> None:
        """Report failures, and changes that could not be undone."""


class DeploySession(ABC):
    """A server that responds, and a key that it accepts.

    Attributes:
        options: target options that the version of the server requires.
    """

    options: Mapping[str, str]

    @abstractmethod
    def read(
        self, source: SourceFile, path: str, ctx: PassContext, *, name: str | None
    ) -> Sequence[Deployable]:
        """The workflows in a file of the target's own format, renamed if a name is given; `path` is
        the file as the user named it. Faults, and incompatibilities with the server, are reported
        to `ctx`."""

    @abstractmethod
    def compiled(
        self, emitted: Emitted, model: Model, path: str, ctx: PassContext, *, named: bool
    ) -> Sequence[Deployable]:
        """The workflows that `model`, read from `path`, was compiled to. `named` means that they
        were named for this deploy, so a workflow with another name is a different one."""

    def stated_options(self, model: Model) -> Mapping[str, str]:
        """The options with which the workflows of a model on the server were compiled; none by
        default. Raises `RemoteError`."""
        del model
        return {}

    @abstractmethod
    def plan(self, wanted: Sequence[Deployable], options: DeployOptions) -> DeployPlan:
        """Compare with the state of the server. Raises `RemoteError`, and `ValueError` for
        malformed credentials."""

    def remove(
        self, wanted: Sequence[Deployable], *, edited: bool, dry_run: bool
    ) -> Iterator[Removed]:
        """Remove the deployed workflows of `wanted`, callers first; with `edited`, also those that
        were edited since. Nothing is found by default. Raises `RemoteError`."""
        del wanted, edited, dry_run
        return iter(())

    def remove_deleted(
        self, folders: Sequence[str], *, edited: bool, dry_run: bool
    ) -> Iterator[Removed]:
        """Like `remove`, the deployed workflows of models that were in some folders and no longer
        are. Nothing is found by default. Raises `RemoteError`."""
        del folders, edited, dry_run
        return iter(())


class Deployer(ABC):
    """Puts workflows of a target in place.

    Attributes:
        settings: the least and the greatest value of each setting of what processes share on a
            server.
    """

    settings: ClassVar[Mapping[str, tuple[int, int]]] = {}

    @abstractmethod
    def connect(
        self, access: ServerAccess, ctx: PassContext
    ) -> AbstractContextManager[DeploySession | None]:
        """A session, ended with the `with` block; in it, None after an error, which is in `ctx`.

        Raises:
            AccessError: when the block is entered.
        """
