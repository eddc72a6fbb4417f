"""One group of workflows on a server: deployed, published, or rolled back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from orgflow.backends.n8n.node_types.workflow_calls import called_workflows, rewrite_calls
from orgflow.backends.n8n.server.address_keys import AddressKeys
from orgflow.backends.n8n.server.client.backoff import Backoff
from orgflow.backends.n8n.server.client.errors import (
    RUN_AGAIN,
    Explanation,
    RefusedError,
    ServerError,
    TookTooLongError,
)
from orgflow.backends.n8n.server.client.workflows import (
    WorkflowClient,
    list_webhooks,
    never_published,
)
from orgflow.backends.n8n.server.deploy import deployment_rules, origin_rules
from orgflow.backends.n8n.server.deploy.credentials import CredentialStore
from orgflow.backends.n8n.server.deploy.deployment_plan import Step, is_as_compiled
from orgflow.backends.n8n.server.deploy.process_similarity import Origin
from orgflow.backends.n8n.server.deployment_marker import (
    DeploymentMarker,
    digest_of,
    is_edited,
    marker_of,
    with_marker,
    without_marker,
)

from orgflow_ir.model.records import dataclass
from orgflow_ir.plugins.deployment import Deployed

Json = dict[str, Any]

_MOST_EARLIER = 20
_TRIES = 6
_TRY_SECONDS = 5.0


class Stopped(Exception):
    """The deployment was interrupted."""


class EditedMeanwhileError(ServerError):
    """The workflow changed between the look at it and the update."""

    @property
    def explanation(self) -> Explanation:
        return Explanation(
            deployment_rules.EditedSince, "review it with --dry-run, or use --take-over"
        )


class AnotherDeployError(ServerError):
    """Another deployment created the same workflow at the same time, and was first."""

    @property
    def explanation(self) -> Explanation:
        return Explanation(origin_rules.Overtaken, RUN_AGAIN)


class NotLiveError(TookTooLongError):
    """It is published, but its triggers do not answer."""

    @property
    def explanation(self) -> Explanation:
        return Explanation(
            deployment_rules.NotLive,
            "check the server's log, and whether its webhooks respond there",
        )


@dataclass
class _Put:
    """What was done for a step: the workflow as the server has it, and how it came there."""

    row: Json
    action: str
    was_live: bool
    state: str = "draft"
    announced: bool = False


@dataclass
class DeployTransaction:
    """Places the steps of one group; `roll_back` undoes all of it.

    Args:
        client: see `Deployer`; `undo`, `publish_them` and `take_over` likewise.
        stopped: whether the deployment is interrupted.
        known: ids on the server of deployed workflows, by identity.
        credentials: for nodes that need one and have none.
        keys: those in addresses that start a workflow.
    """

    client: WorkflowClient
    undo: WorkflowClient
    stopped: Callable[[], bool]
    publish_them: bool = True
    take_over: bool = False
    known: Mapping[str, str] = field(default_factory=dict)
    credentials: CredentialStore | None = None
    keys: AddressKeys = field(default_factory=AddressKeys)
    _puts: dict[str, _Put] = field(default_factory=dict)
    _steps: dict[str, Step] = field(default_factory=dict)
    _undoing: list[tuple[str, Callable[[], None]]] = field(default_factory=list)

    def _check_stopped(self) -> None:
        if self.stopped():
            raise Stopped

    # -- content -------------------------------------------------------------------------------

    def place(self, step: Step) -> None:
        """Create or update it. Raises `ServerError`, `Stopped`."""
        self._check_stopped()
        identity = step.wanted.identity
        self._steps[identity] = step
        for spare in step.spare:
            self.client.delete(spare)
        existing = step.existing
        if existing is not None:
            existing = self._still_there(step, existing)
        if existing is not None and existing.get("active"):
            self._publish_called(step)
        put = (
            self._create_workflow(step)
            if existing is None
            else self._update_workflow(step, existing)
        )
        self._puts[identity] = put

    def _publish_called(self, step: Step, callers: frozenset[str] = frozenset()) -> None:
        """Publish the new workflows that a published one is about to call: n8n refuses the update
        otherwise. Nothing but a call starts them. `callers` are those on the way to this one."""
        around = callers | {step.wanted.identity}
        for identity, _ in called_workflows(step.wanted.workflow):
            put = self._puts.get(identity)
            if put is None or put.row.get("active") or put.announced or identity in around:
                continue
            callee = self._steps[identity]
            self._publish_called(callee, around)
            if not never_published(put.row, self.client.version):
                self._publish_workflow(callee, put)

    def _still_there(self, step: Step, seen: Json) -> Json | None:
        """The workflow as it is now; None where it was deleted or archived meanwhile."""
        try:
            now = self.client.workflow(str(seen["id"]))
        except RefusedError as error:
            if error.status != 404:
                raise
            return None
        if now.get("isArchived"):
            return None
        edited = now.get("versionId") != seen.get("versionId") and not self.take_over
        if edited and (is_edited(now) or marker_of(now) is None):
            raise EditedMeanwhileError(f"`{step.wanted.name}` was changed a moment ago")
        return now

    def body(
        self, step: Step, own: str | None = None, old: Mapping[str, Any] | None = None
    ) -> Json:
        """The data to send: with the server's ids, the credentials chosen there, and the note."""

        def new_identity(identity: str) -> str:
            if identity == step.wanted.identity:
                return own or identity
            put = self._puts.get(identity)
            return str(put.row["id"]) if put is not None else self.known.get(identity, identity)

        body = self.client.body_of(rewrite_calls(step.wanted.workflow, new_identity))
        if old is not None:
            _keep_credentials(body, old)
        self.keys.put(body, step.wanted.identity, old)
        if self.credentials is not None:
            self.credentials.choose(body)
        before = step.adopted or (marker_of(old) if old is not None else None)
        place = step.wanted.origin.place or (before.origin if before is not None else "")
        like = _next_marker(step, own or "", before)
        return with_marker(body, step.wanted.identity, origin=place, like=like)

    def _create_workflow(self, step: Step) -> _Put:
        identity = step.wanted.identity
        body = self.body(step)
        # Before the call: its answer may be lost.
        self._undoing.append((step.wanted.name, lambda: self._remove_created(identity)))
        row = self._create_once(body, identity)
        workflow_id = str(row["id"])
        self._undoing[-1] = (step.wanted.name, lambda: self.undo.delete(workflow_id))
        # Its own id is known only now: the note has it, and a workflow that calls itself.
        body = self.body(step, workflow_id)
        row = self.client.update(workflow_id, body)
        return _Put(self._settle_note(row, body, identity), "created", was_live=False)

    def _create_once(self, body: Json, identity: str) -> Json:
        """Create it; where no answer came, look whether it is there before doing it again."""
        pauses = Backoff(_TRY_SECONDS).pauses()
        for tries in range(_TRIES):
            try:
                return self.client.create_body(body)
            except ServerError as error:
                if tries + 1 == _TRIES or not error.passing(again=True):
                    raise
            self._check_stopped()
            self.client.sleep(next(pauses, 0.0))
            for row in self.client.listed():
                marker = marker_of(row)
                if marker is not None and marker.identity == identity and not row.get("isArchived"):
                    return self.client.workflow(str(row["id"]))
        raise AssertionError

    def _update_workflow(self, step: Step, now: Json) -> _Put:
        workflow_id = str(now["id"])
        body = self.body(step, workflow_id, now)
        live = bool(now.get("active"))
        if _is_unchanged(now, body) and _chosen_credentials(now) == _chosen_credentials(body):
            return _Put(now, "unchanged", was_live=live)
        # Before the call: a conflict leaves the new content there, unpublished (measured).
        self._undoing.append((step.wanted.name, lambda: self._restore_workflow(now)))
        if live and never_published(body, self.client.version) == "by hand":
            self.client.unpublish(workflow_id)  # n8n refuses the update otherwise
        row = self.client.update(workflow_id, body)
        row = self._settle_note(row, body, step.wanted.identity)
        return _Put(row, "updated", was_live=live)

    def _settle_note(self, row: Json, body: Json, identity: str) -> Json:
        """The workflow as the server keeps it, with a note that agrees with it."""
        if not is_edited(row):
            return row
        sent = marker_of(body)
        place = sent.origin if sent is not None else ""
        kept = self.client.body_of(without_marker(row))
        again = with_marker(kept, identity, digest_of(body), place, sent)
        return self.client.update(str(row["id"]), again)

    def give_way(self) -> None:
        """Raises `AnotherDeployError` if another workflow was created just before this one: the
        younger one is removed."""
        mine = {i: put.row for i, put in self._puts.items() if put.action == "created"}
        if not mine:
            return
        for row in list(self.client.listed()):
            marker = marker_of(row)
            own = mine.get(marker.identity) if marker is not None else None
            if own is None or row.get("isArchived") or row["id"] == own["id"]:
                continue
            if _age_key(row) < _age_key(own):
                name = self._steps[marker.identity].wanted.name if marker is not None else ""
                raise AnotherDeployError(f"`{name}` was created by somebody else at the same time")

    def overtaken(self) -> tuple[str, ...]:
        """Names of workflows that differ from the deployed ones because of another deployment in
        between."""
        names = []
        for identity, put in self._puts.items():
            if put.action == "unchanged":
                continue
            now, mine = marker_of(self.client.workflow(str(put.row["id"]))), marker_of(put.row)
            if now is not None and mine is not None and now.digest != mine.digest:
                names.append(self._steps[identity].wanted.name)
        return tuple(names)

    # -- published -----------------------------------------------------------------------------

    def publish(self, step: Step) -> None:
        """Publish it, unless it is published or a person starts it. Raises `ServerError`,
        `Stopped`."""
        self._check_stopped()
        put = self._puts[step.wanted.identity]
        if put.announced:
            return
        put.state = never_published(put.row, self.client.version) or "draft"
        if put.state != "draft":
            return
        current = put.row.get("activeVersionId", put.row.get("versionId"))
        if put.row.get("active") and current == put.row.get("versionId"):
            put.state = "published"
            put.announced = put.action == "updated"
            return
        if not self.publish_them:
            if put.row.get("active"):
                put.state = "published"
            return
        self._publish_workflow(step, put)

    def _publish_workflow(self, step: Step, put: _Put) -> None:
        workflow_id = str(put.row["id"])
        if not put.was_live and put.action != "created":
            name = step.wanted.name
            self._undoing.append((name, lambda: self.undo.unpublish(workflow_id)))
        self.client.announce(workflow_id)
        put.state, put.announced = "published", True

    def await_live(self, step: Step) -> None:
        """Wait until it answers. Raises `ServerError`, `Stopped`."""
        put = self._puts[step.wanted.identity]
        if not put.announced:
            return
        self._check_stopped()
        try:
            self.client.await_live(put.row, again=put.was_live)
        except TookTooLongError as error:
            raise NotLiveError(str(error)) from None

    def placed(self) -> tuple[Deployed, ...]:
        """The current workflows, in the order of the steps."""
        return tuple(
            Deployed(
                str(put.row.get("name")),
                self._steps[identity].wanted.source,
                str(put.row["id"]),
                put.action,
                put.state,
                tuple(f"{self.client.shown}/{path}" for path, _ in list_webhooks(put.row)),
            )
            for identity, put in self._puts.items()
        )

    # -- undone --------------------------------------------------------------------------------

    def roll_back(self) -> tuple[str, ...]:
        """Undo everything, last first; returns the names of workflows that could not be
        restored."""
        left: list[str] = []
        while self._undoing:
            name, undo = self._undoing.pop()
            try:
                undo()
            except ServerError:
                left.append(name)
        self._puts.clear()
        return tuple(dict.fromkeys(reversed(left)))

    def _remove_created(self, identity: str) -> None:
        """Delete what a creation without an answer may have left."""
        for row in list(self.undo.listed()):
            marker = marker_of(row)
            if marker is not None and marker.identity == identity and not row.get("active"):
                self.undo.delete(str(row["id"]))

    def _restore_workflow(self, before: Json) -> None:
        workflow_id = str(before["id"])
        if not before.get("active"):
            self.undo.unpublish(workflow_id)
        try:
            row = self.undo.update(workflow_id, self.undo.body_of(before))
        except RefusedError as error:
            if error.status != 404:  # somebody deleted it: there is nothing to restore
                raise
            return
        if before.get("active") and not row.get("active"):  # n8n 1 unpublishes at a conflict
            self.undo.announce(workflow_id)


def _next_marker(step: Step, own: str, before: DeploymentMarker | None) -> DeploymentMarker:
    """What the note says of this deploy, after the one before."""
    wanted, model = step.wanted, step.asked.model
    marker = DeploymentMarker(
        wanted.identity, "", "", server=own, revision=1, model=model, kept=wanted.kept,
        plain=is_as_compiled(step.asked.workflow), project=wanted.origin.project,
        repository=_noted_repository(wanted.origin),
        commit=wanted.origin.repository.commit_of(wanted.origin.place),
    )  # fmt: skip
    if before is None:
        return marker
    past = tuple(digest for digest in before.earlier if digest != model)
    if before.model and before.model != model:
        past = (*past, before.model)
    return marker._replace(
        revision=before.revision + (0 if own and not before.server else 1),
        earlier=past[-_MOST_EARLIER:],
        project=marker.project or before.project,
        repository=marker.repository or before.repository,
    )


def _noted_repository(origin: Origin) -> tuple[str, ...]:
    noted = origin.repository.noted_digests
    return noted if any(noted) else ()


def _age_key(row: Mapping[str, Any]) -> tuple[str, str]:
    return str(row.get("createdAt")), str(row["id"])


def _is_unchanged(now: Mapping[str, Any], body: Mapping[str, Any]) -> bool:
    """Whether the server has this already, with its note."""
    marker, wanted = marker_of(now), marker_of(body)
    if marker is None or wanted is None or marker.identity != wanted.identity:
        return False
    return wanted.digest in (marker.sent, marker.digest) and not is_edited(now)


def _chosen_credentials(workflow: Mapping[str, Any]) -> dict[str, Any]:
    """The credentials of nodes by their names."""
    rows = workflow.get("nodes", ())
    return {str(row.get("name")): row["credentials"] for row in rows if row.get("credentials")}


def _keep_credentials(body: Json, old: Mapping[str, Any]) -> None:
    """Credentials that were chosen on the server stay with nodes of the same name and type."""
    chosen = {
        (row.get("name"), row.get("type")): row["credentials"]
        for row in old.get("nodes", ())
        if row.get("credentials")
    }
    for row in body["nodes"]:
        kept = chosen.get((row.get("name"), row.get("type")))
        if kept and not row.get("credentials"):
            row["credentials"] = kept
