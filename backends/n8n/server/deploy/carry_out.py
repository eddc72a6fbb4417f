"""Carry out a plan: create or update, publish, wait until live; undo a group that fails."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

from orgflow.backends.n8n.server.client.errors import RefusedError, ServerError
from orgflow.backends.n8n.server.client.workflows import WorkflowClient
from orgflow.backends.n8n.server.deploy.apply import (
    AnotherDeployError,
    DeployTransaction,
    Stopped,
)
from orgflow.backends.n8n.server.deploy.plan import Group, Inventory, Step, Wanted, plan
from orgflow.backends.n8n.server.deploy.three_way import merge_step

from orgflow_ir.pipeline.services import Progress, no_progress
from orgflow_ir.plugins.deployment import Deployed

Json = dict[str, Any]

_LOOKS = 2
_WAKE_SECONDS = 0.2


@dataclass(frozen=True)
class GroupResult:
    """What became of workflows that belong together.

    Attributes:
        group: the steps, with what stood against them.
        placed: what is there now; empty where it failed.
        failed: the workflow at which it failed.
        error: how.
        left: what could not be undone, in words.
        skipped: whether nothing was tried, since the server had failed before.
        overtaken: names of workflows that another deploy changed at the same time.
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
    """One deploy to one server.

    Args:
        client: with a key, and the version that workflows are written for.
        undo: the same server with shorter backoff, for undoing.
        publish: whether to publish.
        take_over: whether to overwrite what others made or edited.
        rollback: whether to deploy a model again that was replaced since.
        progress: called from this thread.
    """

    client: WorkflowClient
    undo: WorkflowClient
    publish: bool = True
    take_over: bool = False
    rollback: bool = False
    progress: Progress = no_progress
    results: dict[int, GroupResult] = field(default_factory=dict)
    """By the place of the group; complete after `deploy`, also where that was interrupted."""
    seen: tuple[Json, ...] = ()
    """The workflows of the server, as `plan` saw them."""

    def __post_init__(self) -> None:
        self._stop = threading.Event()
        self._broken = threading.Event()
        self._known: dict[str, str] = {}
        self._claimed: frozenset[str] = frozenset()
        self.client.sleep = self._sleep

    def _sleep(self, seconds: float) -> None:
        if self._stop.wait(seconds):
            raise Stopped

    def plan(self, wanted: Sequence[Wanted]) -> tuple[Group, ...]:
        """Look at the server and say what is to be done. Raises `ServerError`."""
        rows = tuple(self.client.listed())
        inventory = Inventory(rows, self.client.version)
        self.seen = rows
        self._known = {
            identity: str(rows[0]["id"]) for identity, rows in inventory.by_identity.items()
        }
        self._claimed |= {one.identity for one in wanted}
        groups = plan(
            wanted,
            inventory,
            take_over=self.take_over,
            rollback=self.rollback,
            beside=self._claimed,
        )
        identities = {id: identity for identity, id in self._known.items()}
        for step in (step for group in groups for step in group.steps):
            merge_step(step, identities, self.client.version, take_over=self.take_over)
        return groups

    def transaction(self) -> DeployTransaction:
        """What places one group."""
        return DeployTransaction(
            self.client, self.undo, self._stop, self.publish, self.take_over, dict(self._known)
        )

    def deploy(self, groups: Sequence[Group]) -> tuple[GroupResult, ...]:
        """Carry out what has no problem; results in the order of the groups.

        An interruption (Ctrl-C, a signal's exception) goes on its way when what is in work has
        been undone; what was done stays.
        """
        total = sum(len(group.steps) for group in groups)
        done = 0
        places: dict[Future[GroupResult], int] = {}
        try:
            with ThreadPoolExecutor(self.client.at_once) as pool:
                try:
                    for index, group in enumerate(groups):
                        places[pool.submit(self._group, group)] = index
                    left = set(places)
                    while left:
                        finished, left = wait(left, _WAKE_SECONDS, FIRST_COMPLETED)
                        for future in finished:
                            steps = future.result().group.steps
                            done += len(steps)
                            self.progress(done, total, steps[-1].wanted.name)
                except BaseException:
                    self._stop.set()
                    raise
        finally:
            self.results = {
                index: future.result() for future, index in places.items() if future.done()
            }
        return tuple(self.results[index] for index in range(len(groups)))

    def _group(self, group: Group) -> GroupResult:
        for look in range(_LOOKS):
            if any(step.problems for step in group.steps):
                return GroupResult(group)
            if self._stop.is_set() or self._broken.is_set():
                return GroupResult(group, skipped=True)
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
                return GroupResult(group, transaction.placed(), overtaken=overtaken)
            except Stopped:
                return GroupResult(group, left=transaction.roll_back(), skipped=True)
            except ServerError as error:
                left = transaction.roll_back()
                late = isinstance(error, AnotherDeployError)
                if (late or _vanished(error)) and not left and look + 1 < _LOOKS:
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


def _vanished(error: ServerError) -> bool:
    return isinstance(error, RefusedError) and error.status == 404 and not error.everywhere
