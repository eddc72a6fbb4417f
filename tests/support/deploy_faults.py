"""What goes wrong while deploying, as scenarios that run before a stand-in and before real n8n."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

from engine_fixture import call, flow, node
from faulty_proxy import Fault, FaultyProxy
from orgflow.backends.n8n.format.document import node_uuid
from orgflow.backends.n8n.format.versions import V1_123, V2_41
from orgflow.backends.n8n.server.client.backoff import Backoff
from orgflow.backends.n8n.server.client.workflows import WorkflowClient, never_published
from orgflow.backends.n8n.server.deploy.apply import DeployTransaction
from orgflow.backends.n8n.server.deploy.carry_out import DeployRun, GroupResult
from orgflow.backends.n8n.server.deploy.deployment_plan import Wanted
from orgflow.backends.n8n.server.deploy.deployment_report import report_results
from orgflow.backends.n8n.server.deployment_marker import (
    is_edited,
    marker_of,
    with_marker,
)

from orgflow_ir.pipeline import PassContext

Json = dict[str, Any]

CREATE = r"POST /api/v1/workflows$"
PUBLISH = r"POST /api/v1/workflows/[^/]+/(publish|activate)$"
UPDATE = r"PUT /api/v1/workflows/"
LOOK = r"GET /api/v1/workflows/[^?]"
API = r".* /api/"


class Site:
    """A server (`direct`), and the way to it on which faults happen (`proxy`)."""

    def __init__(self, url: str, key: str) -> None:
        self.key = key
        self.proxy = FaultyProxy(url)
        self.direct = WorkflowClient(url, key)
        self.version = V2_41

    def older(self) -> None:
        """The server is an n8n 1."""
        self.direct.version = self.version = V1_123

    def close(self) -> None:
        self.proxy.close()
        for row in list(self.direct.listed()):
            self.direct.delete(str(row["id"]))
        self.direct.close()

    def deploy(
        self,
        *workflows: Json,
        wait: float = 3.0,
        seconds: float = 120.0,
        take_over: bool = False,
        together: bool = False,
    ) -> tuple[tuple[GroupResult, ...], list[str]]:
        """Deploy through the proxy; the results and the codes of what was reported."""
        client = WorkflowClient(self.proxy.url, self.key, backoff=Backoff(wait), seconds=seconds)
        undo = WorkflowClient(
            self.proxy.url, self.key, backoff=Backoff(min(wait, 0.3)), seconds=seconds
        )
        client.version = undo.version = self.version
        with client, undo:
            deployer = DeployRun(client, undo, take_over=take_over)
            wanted = [
                Wanted(one, "all" if together else f"file{index}")
                for index, one in enumerate(workflows)
            ]
            results = deployer.deploy(deployer.plan(wanted))
        ctx = PassContext()
        report_results(results, ctx)
        for diagnostic in ctx.diagnostics:
            assert self.key not in diagnostic.message + (diagnostic.help or "")
        return results, [d.code for d in ctx.diagnostics]

    def rows(self) -> list[Json]:
        """What is on the server, not archived, by name."""
        return sorted(
            (row for row in self.direct.listed() if not row.get("isArchived")),
            key=lambda row: (row["name"], row["id"]),
        )

    def row(self, name: str) -> Json:
        (found,) = (row for row in self.rows() if row["name"] == name)
        return found

    def edit(self, workflow_id: str, step: str = "Changed by a person") -> None:
        """Rename the last step, as a person in the editor."""
        row = self.direct.workflow(workflow_id)
        body = self.direct.body_of(row)
        body["nodes"][1] = {**body["nodes"][1], "notes": step}
        self.direct.update(workflow_id, body)

    def archive(self, workflow_id: str) -> None:
        self.direct._call_api(self.direct._api, "POST", f"/api/v1/workflows/{workflow_id}/archive")


def hook(name: str = "Order", path: str = "order", **more: Any) -> Json:
    """A workflow with a webhook; its ids depend on its name."""
    start = node(
        "Hook", "webhook", 2.1,
        {"httpMethod": "POST", "path": path, "responseMode": "onReceived", "options": {}},
        id=node_uuid(f"{name}/hook"), webhookId=node_uuid(f"{name}/{path}"),
    )  # fmt: skip
    step = node("Step", "noOp", 1, id=node_uuid(f"{name}/step"), notes="as compiled")
    return flow([start, step], "Hook>Step", name=name, id=f"id of {name}", **more)


def chain() -> tuple[Json, Json]:
    """A workflow that calls another; the caller comes first."""
    start = node("S", "executeWorkflowTrigger", 1.1, {"inputSource": "passthrough"},
                 id=node_uuid("callee/s"))  # fmt: skip
    step = node("Step", "noOp", 1, id=node_uuid("callee/step"))
    callee = flow([start, step], "S>Step", name="Callee", id="the callee")
    caller = hook("Caller", "caller")
    caller["nodes"].append(call("Call", "the callee", id=node_uuid("caller/call")))
    caller["connections"]["Step"] = {"main": [[{"node": "Call", "type": "main", "index": 0}]]}
    return caller, callee


def assert_whole(site: Site, *names: str) -> None:
    """These workflows are there once each, published, as they were deployed, and nothing else."""
    rows = site.rows()
    assert [row["name"] for row in rows] == sorted(names)
    for row in rows:
        called = never_published(row, site.version)  # as n8n 1 has it
        assert row["active"] or called, row["name"]
        assert marker_of(row) is not None
        assert not is_edited(row)


def ok(results: tuple[GroupResult, ...]) -> bool:
    return all(result.ok for result in results)


# -- scenarios ---------------------------------------------------------------------------------


def too_many_calls(site: Site) -> None:
    site.proxy.faults = [Fault(CREATE, 429, headers={"retry-after": "0.2"}, times=2),
                         Fault(PUBLISH, 429, times=2)]  # fmt: skip
    results, codes = site.deploy(hook())
    assert ok(results)
    assert codes == []
    assert site.proxy.hit == 4
    assert_whole(site, "Order")


def internal_error(site: Site) -> None:
    site.proxy.faults = [Fault(call, 500) for call in (CREATE, PUBLISH, "GET /api/v1/workflows")]
    results, codes = site.deploy(hook())
    assert ok(results)
    assert codes == []
    assert site.proxy.hit == 3
    assert_whole(site, "Order")


def database_mixed_up(site: Site) -> None:
    """As n8n 1 on SQLite says it where several calls come at once (measured)."""
    said = "SQLITE_ERROR: cannot start a transaction within a transaction"
    again = "SQLITE_CONSTRAINT: FOREIGN KEY constraint failed"
    site.proxy.faults = [Fault(call, 400, f'{{"message":"{text}"}}', times=2)
                         for call, text in ((CREATE, said), (PUBLISH, again))]  # fmt: skip
    results, codes = site.deploy(hook())
    assert ok(results)
    assert codes == []
    assert site.proxy.hit == 4
    assert_whole(site, "Order")


def internal_error_for_ever(site: Site) -> None:
    site.proxy.faults = [Fault(PUBLISH, 500, times=-1)]
    results, codes = site.deploy(hook(), wait=0.5)
    assert not ok(results)
    assert codes == ["OF618"]
    assert site.rows() == []


def reset_before_create(site: Site) -> None:
    site.proxy.faults = [Fault(CREATE, broken="before", times=2)]
    results, codes = site.deploy(hook())
    assert ok(results)
    assert codes == []
    assert_whole(site, "Order")


def answer_of_create_lost(site: Site) -> None:
    site.proxy.faults = [Fault(CREATE, broken="after")]
    results, codes = site.deploy(hook())
    assert ok(results)
    assert codes == []
    assert site.proxy.hit == 1
    assert_whole(site, "Order")  # once


def answer_of_publish_lost(site: Site) -> None:
    site.proxy.faults = [Fault(PUBLISH, broken="after")]
    results, codes = site.deploy(hook())
    assert ok(results)
    assert codes == []
    assert_whole(site, "Order")


def answer_of_update_lost(site: Site) -> None:
    site.deploy(hook())
    site.proxy.faults = [Fault(UPDATE, broken="after")]
    results, codes = site.deploy(hook(path="order2"))
    assert ok(results)
    assert codes == []
    assert site.proxy.hit == 1
    assert_whole(site, "Order")


def not_live_for_a_moment(site: Site) -> None:
    site.proxy.faults = [Fault("OPTIONS /webhook/", 204, "", times=5)]
    results, codes = site.deploy(hook())
    assert ok(results)
    assert codes == []
    assert site.proxy.hit == 5
    assert_whole(site, "Order")


def path_taken(site: Site) -> None:
    site.deploy(hook("Other"))
    before = site.row("Other")
    results, codes = site.deploy(hook())
    assert not ok(results)
    assert codes == ["OF610"]
    assert_whole(site, "Other")
    assert site.row("Other")["versionId"] == before["versionId"]


def path_taken_at_update(site: Site) -> None:
    site.deploy(hook("Other", "taken"))
    site.deploy(hook())
    before = site.row("Order")
    results, codes = site.deploy(hook(path="taken"))
    assert not ok(results)
    assert codes == ["OF610"]
    assert_whole(site, "Order", "Other")
    assert site.row("Order")["nodes"] == before["nodes"]
    assert ok(site.deploy(hook())[0])
    assert_whole(site, "Order", "Other")


def key_revoked_in_the_middle(site: Site) -> None:
    site.proxy.faults = [Fault(f"{PUBLISH}|DELETE|{UPDATE}|{LOOK}|GET /api", 401,
                               '{"message":"Unauthorized"}', skip=1, times=-1)]  # fmt: skip
    results, codes = site.deploy(hook())
    assert not ok(results)
    assert codes == ["OF602", "OF615"]
    assert len(site.rows()) == 1  # it could not be taken back
    site.proxy.faults = []
    results, codes = site.deploy(hook())
    assert ok(results)
    assert codes == []
    assert_whole(site, "Order")


def half_of_several_created(site: Site) -> None:
    """From the second creation on nothing answers; the next deploy completes it."""
    site.proxy.faults = [
        Fault(CREATE, broken="before", skip=1, times=-1),
        Fault("(DELETE|PUT|POST) ", broken="before", skip=1, times=-1),
    ]
    results, codes = site.deploy(*chain(), wait=0.3)
    assert not ok(results)
    assert codes == ["OF601", "OF615"]
    assert [row["name"] for row in site.rows()] == ["Callee"]
    site.proxy.faults = []
    results, codes = site.deploy(*chain())
    assert ok(results)
    assert codes == []
    assert_whole(site, "Callee", "Caller")
    callee, caller = site.rows()
    assert caller["nodes"][2]["parameters"]["workflowId"]["value"] == callee["id"]


def one_of_several_refused(site: Site) -> None:
    site.proxy.faults = [Fault(CREATE, 400, '{"message":"no"}', skip=1)]
    results, codes = site.deploy(*chain())
    assert not ok(results)
    assert codes == ["OF609"]
    assert site.rows() == []


def one_file_of_three_refused(site: Site) -> None:
    """Files have nothing to do with each other: the other two are there."""
    bad = hook("Bad", "bad")
    bad["nodes"][0] |= {"type": "n8n-nodes-base.manualTrigger", "typeVersion": 1, "parameters": {}}
    bad["nodes"].append(node("T", "scheduleTrigger", 1.2, {"rule": {"interval": [{}]}}))
    site.proxy.faults = [Fault(CREATE, 400, '{"message":"no"}', skip=1)]
    results, codes = site.deploy(hook("A", "a"), hook("B", "b"), hook("C", "c"))
    assert [result.ok for result in results].count(False) == 1
    assert codes == ["OF609"]
    assert len(site.rows()) == 2
    site.proxy.faults = []
    assert ok(site.deploy(hook("A", "a"), hook("B", "b"), hook("C", "c"))[0])
    assert_whole(site, "A", "B", "C")


def duplicate_names(site: Site) -> None:
    first, second = hook("Order", "a"), hook("Order", "b")
    second["id"] = "another id"
    results, codes = site.deploy(first, second)
    assert ok(results)
    assert codes == []
    assert_whole(site, "Order", "Order")
    before = [row["versionId"] for row in site.rows()]
    assert ok(site.deploy(first, second)[0])
    assert [row["versionId"] for row in site.rows()] == before


def slow_start(site: Site) -> None:
    site.proxy.faults = [Fault(API, 200, "n8n is starting up. Please wait", times=3),
                         Fault(API, 503, times=2)]  # fmt: skip
    results, codes = site.deploy(hook(), wait=10)
    assert ok(results)
    assert codes == []
    assert site.proxy.hit == 5
    assert_whole(site, "Order")


def slow_creation(site: Site) -> None:
    """It is carried out after we have given up waiting for its answer."""
    site.proxy.faults = [Fault(CREATE, slow=1.0)]
    results, codes = site.deploy(hook(), seconds=0.6)
    assert ok(results), results
    assert site.proxy.hit == 1
    # The late one may be there, too; the next deploy tidies up.
    deadline = time.monotonic() + 3  # a row that never comes is right as well
    while len(site.rows()) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    results, codes = site.deploy(hook())
    assert ok(results)
    assert codes == []
    assert_whole(site, "Order")


def deleted_before(site: Site) -> None:
    site.deploy(hook())
    site.direct.delete(site.row("Order")["id"])
    assert ok(site.deploy(hook())[0])
    assert_whole(site, "Order")


def deleted_before_update(site: Site) -> None:
    site.deploy(hook())
    gone = site.row("Order")["id"]
    site.proxy.faults = [Fault(LOOK, deed=lambda: site.direct.delete(gone))]
    results, codes = site.deploy(hook(path="order2"))
    assert ok(results)
    assert codes == []
    assert site.row("Order")["id"] != gone
    assert_whole(site, "Order")


def deleted_before_publish(site: Site) -> None:
    site.proxy.faults = [Fault(PUBLISH, deed=lambda: site.direct.delete(site.row("Order")["id"]))]
    results, codes = site.deploy(hook())
    assert ok(results)
    assert codes == []
    assert site.proxy.hit == 1
    assert_whole(site, "Order")


def deleted_and_made_again(site: Site) -> None:
    """While it is published somebody deletes it and makes another one of its name."""

    def deed() -> None:
        site.direct.delete(site.row("Order")["id"])
        site.direct.create(hook() | {"nodes": [{**row, "id": node_uuid(row["name"])}
                                               for row in hook()["nodes"]]})  # fmt: skip

    site.proxy.faults = [Fault(PUBLISH, deed=deed)]
    results, codes = site.deploy(hook())
    assert not ok(results)
    assert codes == ["OF608"]
    assert marker_of(site.row("Order")) is None


def archived_before(site: Site) -> None:
    site.deploy(hook())
    old = site.row("Order")["id"]
    site.archive(old)
    assert ok(site.deploy(hook())[0])
    assert site.row("Order")["id"] != old
    assert_whole(site, "Order")


def edited_since(site: Site) -> None:
    site.deploy(hook())
    row = site.row("Order")
    site.edit(row["id"])
    before = site.row("Order")
    results, codes = site.deploy(hook(path="order2"))
    assert not ok(results)
    assert codes == ["OF607"]
    assert site.row("Order") == before  # not touched
    results, codes = site.deploy(hook(path="order2"), take_over=True)
    assert ok(results)
    assert codes == []
    assert site.row("Order")["id"] == row["id"]
    assert_whole(site, "Order")


def edited_in_the_middle(site: Site) -> None:
    site.deploy(hook())
    workflow_id = site.row("Order")["id"]
    site.proxy.faults = [Fault(LOOK, deed=lambda: site.edit(workflow_id))]
    results, codes = site.deploy(hook(path="order2"))
    assert not ok(results)
    assert codes == ["OF607"]
    assert site.row("Order")["nodes"][1]["notes"] == "Changed by a person"


def note_deleted(site: Site) -> None:
    site.deploy(hook())
    row = site.row("Order")
    body = site.direct.body_of(row)
    body["nodes"] = [one for one in body["nodes"] if "sticky" not in one["type"]]
    body["name"] = "Renamed"
    site.direct.update(row["id"], body)
    results, codes = site.deploy(hook())
    assert not ok(results)
    assert codes == ["OF607"]
    assert [one["name"] for one in site.rows()] == ["Renamed"]
    assert ok(site.deploy(hook(), take_over=True)[0])
    assert site.row("Order")["id"] == row["id"]
    assert_whole(site, "Order")


def copied_by_a_person(site: Site) -> None:
    """As the editor's Duplicate: new ids of nodes, another name and path."""
    site.deploy(hook())
    body = site.direct.body_of(site.row("Order"))
    body["name"] = "Order copy"
    body["nodes"] = [
        {**one, "id": node_uuid(f"copy/{index}")} for index, one in enumerate(body["nodes"])
    ]
    body["nodes"][0]["parameters"] = {**body["nodes"][0]["parameters"], "path": "copy"}
    copy = site.direct.create_body(body)
    results, codes = site.deploy(hook(path="order2"))
    assert ok(results)
    assert codes == []
    kept = site.row("Order copy")
    assert kept["id"] == copy["id"]
    assert kept["versionId"] == copy["versionId"]


def made_by_somebody_else(site: Site) -> None:
    body = site.direct.body_of(hook())
    for index, one in enumerate(body["nodes"]):
        one["id"] = node_uuid(f"theirs/{index}")
    theirs = site.direct.create_body(body)
    results, codes = site.deploy(hook())
    assert not ok(results)
    assert codes == ["OF608"]
    assert site.row("Order")["versionId"] == theirs["versionId"]
    results, codes = site.deploy(hook(), take_over=True)
    assert ok(results)
    assert codes == []
    assert site.row("Order")["id"] == theirs["id"]
    assert_whole(site, "Order")


def killed_after_two_creations(site: Site) -> None:
    """A deploy that was killed while its answer was lost: two of the same, neither published."""
    with _dying(site, "announce"):
        site.deploy(hook())
    first = site.row("Order")
    marker = marker_of(first)
    assert marker is not None
    site.direct.create_body(with_marker(site.direct.body_of(first), marker.identity))
    assert len(site.rows()) == 2
    results, codes = site.deploy(hook())
    assert ok(results)
    assert codes == []
    assert_whole(site, "Order")


class _Killed(BaseException):
    pass


@contextlib.contextmanager
def _dying(site: Site, method: str) -> Iterator[None]:
    """The process ends at a call: nothing is undone."""

    def die(*_: object, **__: object) -> None:
        raise _Killed

    kept, undone = getattr(WorkflowClient, method), DeployTransaction.roll_back
    setattr(WorkflowClient, method, die)
    DeployTransaction.roll_back = lambda self: ()  # type: ignore[method-assign]  # who is dead undoes nothing
    try:
        yield
    except _Killed:
        pass
    else:
        raise AssertionError("it did not die")
    finally:
        setattr(WorkflowClient, method, kept)
        DeployTransaction.roll_back = undone  # type: ignore[method-assign]


SCENARIOS: tuple[Callable[[Site], None], ...] = (
    too_many_calls, internal_error, database_mixed_up, internal_error_for_ever, reset_before_create,
    answer_of_create_lost, answer_of_publish_lost, answer_of_update_lost, not_live_for_a_moment,
    path_taken, path_taken_at_update, key_revoked_in_the_middle, half_of_several_created,
    one_of_several_refused, one_file_of_three_refused, duplicate_names, slow_start, slow_creation,
    deleted_before, deleted_before_update, deleted_before_publish, deleted_and_made_again,
    archived_before, edited_since,
    edited_in_the_middle, note_deleted, copied_by_a_person, made_by_somebody_else,
    killed_after_two_creations,
)  # fmt: skip
