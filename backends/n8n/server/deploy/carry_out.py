"""Carry out a plan: create or update, publish, wait until live; undo a group that fails."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from queue import Empty, SimpleQueue
from typing import Any

from orgflow.backends.n8n.node_types.workflow_calls import rewrite_calls
from orgflow.backends.n8n.server.address_keys import AddressKeys
from orgflow.backends.n8n.server.client.data_tables import TableClient
from orgflow.backends.n8n.server.client.errors import RefusedError, ServerError
from orgflow.backends.n8n.server.client.workflows import WorkflowClient
from orgflow.backends.n8n.server.deploy.apply import (
    AnotherDeployError,
    DeployTransaction,
    Stopped,
)
from orgflow.backends.n8n.server.deploy.credentials import CredentialStore, GivenCredential
from orgflow.backends.n8n.server.deploy.deployment_plan import (
    Group,
    Inventory,
    Problem,
    Step,
    Wanted,
    plan_groups,
)
from orgflow.backends.n8n.server.deploy.open_rows import move_rows, read_open_rows
from orgflow.backends.n8n.server.deploy.succession import (
    Demoted,
    Orphan,
    Uncalled,
    find_demoted,
    find_orphans,
    find_uncalled,
)
from orgflow.backends.n8n.server.deploy.support_step import SupportStep
from orgflow.backends.n8n.server.deploy.three_way import merge_step
from orgflow.backends.n8n.server.deployment_marker import adoptable_marker

from orgflow_ir.model.records import NamedTuple, dataclass
from orgflow_ir.pipeline.services import (
    CancelFlag,
    Cancellation,
    Cancelled,
    Progress,
    no_progress,
)
from orgflow_ir.plugins.deployment import Deployed

Json = dict[str, Any]

_LOOKS = 2
_WAKE_SECONDS = 0.1
_LOOK_SECONDS = 0.02


class GroupResult(NamedTuple):
    """The result for workflows that belong together.

    Attributes:
        group: the steps, with their problems.
        placed: the resulting workflows; empty after a failure.
        failed: the workflow at which it failed.
        error: how.
        left: changes that could not be undone, in words.
        skipped: whether nothing was tried because the server had failed before.
        overtaken: names of workflows that another deployment changed at the same time.
    """

    group: Group
    placed: tuple[Deployed, ...] = ()
    failed: Wanted | None = None
    error: ServerError | None = None
    left: tuple[str, ...] = ()
    skipped: bool = False
    overtaken: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return bool(self.placed)


@dataclass
class DeployRun:
    """One deployment to one server.

    Args:
        client: with a key, and the target version of workflows.
        undo: the same server with shorter backoff, for undoing.
        publish: whether to publish.
        take_over: whether to overwrite workflows that others created or edited.
        rollback: whether to deploy an earlier model again.
        credentials: entries of a file, for nodes that need a credential and have none.
        keys: whether addresses that start a workflow get a random key.
        support: how the support set of processes that wait in several places is installed.
        migrations: new elements by old ones, for open rows.
        progress: called from this thread.
        cancellation: determines whether to stop.
    """

    client: TableClient
    undo: WorkflowClient
    publish: bool = True
    take_over: bool = False
    rollback: bool = False
    credentials: tuple[GivenCredential, ...] = ()
    keys: bool = False
    support: SupportStep = field(default_factory=SupportStep)
    migrations: Mapping[str, str] = field(default_factory=dict)
    progress: Progress = no_progress
    cancellation: Cancellation = field(default_factory=CancelFlag)
    results: dict[int, GroupResult] = field(default_factory=dict)
    """By the place of the group; complete after `deploy`, even if it was interrupted."""
    seen: tuple[Json, ...] = ()
    """The workflows of the server at the time of the first `plan`."""

    def __post_init__(self) -> None:
        self._stop = threading.Event()
        self._broken = threading.Event()
        self._begin = threading.Lock()
        self._working: set[int] = set()
        self._known: dict[str, str] = {}
        self._store = CredentialStore(self.client)
        self._claimed: frozenset[str] = frozenset()
        self.client.sleep = self._sleep_unless_stopped

    def _sleep_unless_stopped(self, seconds: float) -> None:
        if self._stop.wait(seconds) or self._is_stopped:
            raise Stopped

    def plan(self, wanted: Sequence[Wanted]) -> tuple[Group, ...]:
        """Read the server and determine the changes. Raises `ServerError`."""
        rows = tuple(self.client.listed())
        inventory = Inventory(rows, self.client.version)
        if not self._claimed:
            self.seen = rows
        self._store = CredentialStore(self.client, self.credentials)
        self._store.look()
        self._known = {
            identity: str(rows[0]["id"]) for identity, rows in inventory.by_identity.items()
        }
        self.support.look(self.client, rows)
        self._known |= self.support.ids
        self._claimed |= {workflow.identity for workflow in wanted}
        groups = plan_groups(
            wanted,
            inventory,
            take_over=self.take_over,
            rollback=self.rollback,
            beside=self._claimed,
        )
        identities = {id: identity for identity, id in self._known.items()}
        # Workflows from another server call by the ids of that server.
        markers = (adoptable_marker(row) for row in self.seen)
        noted = {noted.server: noted.identity for noted in markers if noted is not None}
        identities = {**noted, **identities}
        for step in (step for group in groups for step in group.steps):
            merge_step(step, identities, self.client.version, take_over=self.take_over)
            self.support.check_step(step, self.client.version)
            if step.existing is not None and not step.problems:
                step.open_rows = read_open_rows(
                    self.support.server_of(step),
                    step.existing,
                    step.wanted.workflow,
                    self.migrations,
                )
                if step.open_rows is not None and step.open_rows.lost:
                    step.problems = (*step.problems, Problem("open-rows", str(step.existing["id"])))
        return groups

    def uncalled(self, groups: Iterable[Group]) -> tuple[Uncalled, ...]:
        """Workflows that nothing calls any more when groups without problems are deployed."""
        groups = tuple(groups)
        steps = [step for group in groups for step in group.steps]
        going = [group for group in groups if not any(step.problems for step in group.steps)]
        deployed = {
            str(step.existing["id"]): rewrite_calls(
                step.wanted.workflow, lambda identity: self._known.get(identity, identity)
            )
            for group in going
            for step in group.steps
            if step.existing is not None
        }
        kept = {str(step.existing["id"]) for step in steps if step.existing is not None}
        return find_uncalled(self.seen, deployed, kept)

    def orphans(self, groups: Iterable[Group], folders: Sequence[str]) -> tuple[Orphan, ...]:
        """Workflows whose models were in the folders of the command and were deleted."""
        steps = [step for group in groups for step in group.steps]
        kept = {str(step.existing["id"]) for step in steps if step.existing is not None}
        return find_orphans(self.seen, folders, kept)

    def demoted(self, groups: Iterable[Group]) -> tuple[Demoted, ...]:
        """Calls that become calls of a placeholder when groups without problems are deployed."""
        going = [
            candidate for candidate in groups if not any(step.problems for step in candidate.steps)
        ]
        steps = [step for group in going for step in group.steps]
        pairs = ((s.existing, s.wanted.workflow) for s in steps if s.existing is not None)
        return tuple(find_demoted(self.seen, pairs, [dict(s.wanted.workflow) for s in steps]))

    def transaction(self) -> DeployTransaction:
        """The object that deploys one group."""
        return DeployTransaction(
            self.client, self.undo, lambda: self._is_stopped, self.publish, self.take_over,
            dict(self._known), self._store, AddressKeys(self.keys),
        )  # fmt: skip

    @property
    def _is_stopped(self) -> bool:
        return self._stop.is_set() or self.cancellation.cancelled

    def deploy(self, groups: Sequence[Group]) -> tuple[GroupResult, ...]:
        """Carry out everything without a problem; results in the order of the groups.

        An interruption (`Cancelled`, Ctrl-C, a signal's exception) continues after the current work
        has been undone; completed work stays. A second interruption does not wait for that: the
        current work is then reported as left behind.
        """
        total = sum(len(group.steps) for group in groups)
        done = 0
        self.support.install(
            self.client, [step for group in groups for step in group.steps], secrets.token_urlsafe
        )
        self._known |= self.support.ids
        todo: SimpleQueue[int] = SimpleQueue()
        over: SimpleQueue[tuple[int, BaseException | None]] = SimpleQueue()
        for index in range(len(groups)):
            todo.put(index)
        self.results = {}
        try:
            try:
                for _ in range(min(self.client.at_once, len(groups))):
                    threading.Thread(
                        target=self._work_groups, args=(groups, todo, over), daemon=True
                    ).start()
                waiting = len(groups)
                while waiting:
                    if self.cancellation.cancelled:
                        raise Cancelled
                    try:
                        index, error = over.get(timeout=_WAKE_SECONDS)
                    except Empty:
                        continue
                    if error is not None:
                        raise error
                    waiting -= 1
                    steps = groups[index].steps
                    done += len(steps)
                    self.progress(done, total, steps[-1].wanted.name)
            except BaseException:
                self._wait_out()
                raise
        finally:
            working = set(self._working)
            for index, group in enumerate(groups):
                names = tuple(step.wanted.name for step in group.steps)
                left = names if index in working else ()
                self.results.setdefault(index, GroupResult(group, left=left, skipped=True))
        return tuple(self.results[index] for index in range(len(groups)))

    def _wait_out(self) -> None:
        """Let nothing begin any more, and wait for what is in work.

        Which groups are in work is noted by the threads themselves: an interruption may come at
        any step of this thread, also between the start of a thread and the note that it runs.
        """
        with self._begin:
            self._stop.set()
        while self._working:
            time.sleep(_LOOK_SECONDS)

    def _work_groups(
        self,
        groups: Sequence[Group],
        todo: SimpleQueue[int],
        over: SimpleQueue[tuple[int, BaseException | None]],
    ) -> None:
        """Carry out groups until none is left, or the deploy is stopped."""
        while True:
            with self._begin:
                if self._stop.is_set():
                    return
                try:
                    index = todo.get_nowait()
                except Empty:
                    return
                self._working.add(index)
            error: BaseException | None = None
            try:
                self.results[index] = self._deploy_group(groups[index])
            except BaseException as defect:  # noqa: BLE001  # the thread that waits raises it
                error = defect
            self._working.discard(index)
            over.put((index, error))

    def _deploy_group(self, group: Group) -> GroupResult:
        for look in range(_LOOKS):
            if any(step.problems for step in group.steps):
                return GroupResult(group)
            if self._is_stopped or self._broken.is_set():
                return GroupResult(group, skipped=True)
            missing = self.support.failure_of(group.steps)
            if missing is not None:
                return GroupResult(group, (), *missing)
            transaction = self.transaction()
            step: Step | None = None
            try:
                for step in group.steps:
                    transaction.place(step)
                transaction.give_way()
                for step in group.steps:
                    transaction.publish(step)
                for step in group.steps:
                    transaction.await_live(step)
                overtaken = transaction.overtaken()
                left = self._move_open_rows(group)
                return GroupResult(group, transaction.placed(), left=left, overtaken=overtaken)
            except Stopped:
                return GroupResult(group, left=transaction.roll_back(), skipped=True)
            except ServerError as error:
                left = transaction.roll_back()
                late = isinstance(error, AnotherDeployError)
                if (late or _is_vanished(error)) and not left and look + 1 < _LOOKS:
                    try:
                        (group,) = self.plan([step.asked for step in group.steps])
                    except ServerError as worse:
                        error = worse
                    else:
                        continue
                if error.everywhere:
                    self._broken.set()
                assert step is not None
                return GroupResult(group, (), step.wanted, error, left)
            except BaseException:  # a defect of ours leaves nothing behind, either
                transaction.roll_back()
                raise
        raise AssertionError

    def _move_open_rows(self, group: Group) -> tuple[str, ...]:
        """Give open rows their new elements. Some may be moved when it fails, so the new version
        stays, and the same command completes the rest: names of workflows with such a rest."""
        left = []
        for step in group.steps:
            if step.open_rows is not None and self.support.server is not None:
                try:
                    step.moved = move_rows(self.support.server, step.open_rows)
                except ServerError:
                    left.append(f"{step.wanted.name} (its open rows)")
        return tuple(left)


def _is_vanished(error: ServerError) -> bool:
    return isinstance(error, RefusedError) and error.status == 404 and not error.everywhere
