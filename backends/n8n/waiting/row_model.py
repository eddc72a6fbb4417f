"""A model of the table of rows and of the operations of the support set, as pure Python.

Each operation is a generator that pauses before every operation on the table, which is atomic on
the server; between two of them any other execution may run, time may pass, and a crash is a
generator that is never resumed. The steps are those of the workflow of the same name, in the same
order. A moment is a number of milliseconds; variables are dictionaries. Tests compare the table
with `engine_model.tables`, which is compared with recordings of the server.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Generator, Mapping
from dataclasses import field
from operator import itemgetter
from typing import Any, Final

from orgflow.backends.n8n.waiting.rows import (
    FOLD_AT,
    FOLD_LEAST,
    GRACE_SECONDS,
    LEASE_MINUTES,
    LONGEST_PAUSE_HOURS,
    MESSAGE_MARK,
    MOST_ATTEMPTS,
    MOST_CHANGES,
    MOST_OTHERS,
    MOST_TIMERS,
    RETRY_SECONDS,
    STATES_OF_LIVE_ROWS,
    State,
    may_change,
)

from orgflow_ir.model.records import NamedTuple, dataclass

Row = dict[str, Any]
"""The cells of a row by column, and `id`, the server's number of it."""

Answer = Mapping[str, Any]
"""The result of an operation; no field where it returns no item."""

Steps = Generator[None, None, Answer]
"""An execution: it pauses before each operation on the table."""

NEVER: Final = 10**15
"""The moment in `check_at` of rows at which the sweep need not look."""

GRACE: Final = GRACE_SECONDS * 1000
LEASE: Final = LEASE_MINUTES * 60_000
RETRY: Final = RETRY_SECONDS * 1000
LONGEST_PAUSE: Final = LONGEST_PAUSE_HOURS * 3_600_000

_EMPTY: Final[Row] = {
    "business_key": "", "host": "", "attached_to": "", "interrupting": "", "hosts_events": "",
    "execution": "", "event": "", "attempts": 0, "created_by": "", "branch": "", "needed": 0,
    "joined_to": 0, "ends_scope": "", "ends_with": "", "message_key": "", "idempotency_key": "",
    "due": NEVER, "check_at": NEVER, "live": True,
}  # fmt: skip


class InvariantError(AssertionError):
    """A step that the encoding must never make."""


class TooManyChangesError(Exception):
    """An execution that fails because the changes of variables cannot be read at once; its row
    stays as it is, and the sweep tries again."""


class Token(NamedTuple):
    """The data that a segment has of the row that it claimed."""

    key: str
    execution: str
    instance: str
    scope: str
    element: str
    event: str
    kind: str
    workflow: str
    branch: str
    attached_to: str


@dataclass(eq=False)
class RowWorld:
    """The rows, the clock and the executions of a server.

    Attributes:
        rows: the rows by ascending number.
        now: the present moment.
        running: executions that have begun and are neither over nor crashed.
        processes: the segment after an event of a process, by the id of its workflow.
        reports: keys of rows that failed too often.
        changes: called with the row before, the row after and the operation for every change.
    """

    rows: list[Row] = field(default_factory=list)
    now: int = 0
    running: list[Steps] = field(default_factory=list)
    processes: dict[str, Callable[[RowWorld, Token, Answer], Steps]] = field(default_factory=dict)
    reports: list[str] = field(default_factory=list)
    changes: Callable[[Row, Row, str], None] = lambda before, after, operation: None
    _keys: int = 0
    _numbers: int = 0
    _executions: int = 0

    # -- the table -----------------------------------------------------------------------------

    def new_key(self) -> str:
        """A key that no other row has; on the server it is random."""
        self._keys += 1
        return f"k{self._keys}"

    def new_execution(self) -> str:
        """The id of a new execution."""
        self._executions += 1
        return f"e{self._executions}"

    def take_numbers(self, count: int) -> list[int]:
        """Numbers for new rows. PostgreSQL gives them before the rows become visible, so a row with
        a lower number may become visible later."""
        self._numbers += count
        return list(range(self._numbers - count + 1, self._numbers + 1))

    def insert(self, rows: list[Row], numbers: list[int]) -> None:
        """Make rows visible, in one transaction."""
        for row, number in zip(rows, numbers, strict=True):
            new = {**_EMPTY, "changed_at": self.now, **row, "id": number}
            insort(self.rows, new, key=itemgetter("id"))

    def select(self, limit: int = MOST_CHANGES, **tests: Any) -> list[Row]:
        """Rows whose cells equal all of some values, or for which a function of a cell holds."""
        plain = [(name, value) for name, value in tests.items() if not callable(value)]
        called = [(name, value) for name, value in tests.items() if callable(value)]
        chosen = [
            row
            for row in self.rows
            if all(row[name] == value for name, value in plain)
            and all(value(row[name]) for name, value in called)
        ]
        return chosen[:limit]

    def read(self, key: str) -> Row:
        """A copy of the row with a key; an empty one if there is none."""
        for row in self.rows:
            if row["key"] == key:
                return dict(row)
        return {}

    def update(self, operation: str, values: Row, **tests: Any) -> list[Row]:
        """Change rows, and return copies of the changed ones."""
        changed: list[Row] = []
        for row in self.select(**tests):
            before = dict(row)
            row.update(values)
            row["live"] = row["state"] in STATES_OF_LIVE_ROWS
            self._check_change(before, row, operation)
            changed.append(dict(row))
        return changed

    def delete(self, **tests: Any) -> None:
        """Delete rows."""
        gone = [row["id"] for row in self.select(**tests)]
        self.rows = [row for row in self.rows if row["id"] not in gone]

    def _check_change(self, before: Row, after: Row, operation: str) -> None:
        old, new = before["state"], after["state"]
        if (old, new) != (new, old) and not may_change(old, new, operation):
            raise InvariantError(f"{operation} changes {before['kind']} from {old} to {new}")
        self.changes(before, after, operation)

    # -- executions ----------------------------------------------------------------------------

    def begin(self, steps: Steps) -> None:
        """Begin an execution for which nobody waits."""
        self.running.append(steps)

    def advance(self, steps: Steps) -> None:
        """Run an execution up to its next pause."""
        try:
            next(steps)
        except (StopIteration, TooManyChangesError):
            self.running.remove(steps)

    def crash(self, steps: Steps) -> None:
        """End an execution at its pause."""
        self.running.remove(steps)
        steps.close()


def closed_cells(world: RowWorld, state: State) -> Row:
    """The cells of a row that reaches a final state."""
    return {"state": state, "check_at": NEVER, "changed_at": world.now}


def token_of(row: Row) -> Token:
    """The token of a claimed row."""
    names = (name for name in Token._fields if name != "event")
    return Token(event=row["event"] or row["element"], **{name: row[name] for name in names})


# -- operations ------------------------------------------------------------------------------------


def admit_row(world: RowWorld, key: str) -> Steps:
    """Whether a staged row is the first one with its idempotency key."""
    yield
    own = world.read(key)
    if own and own["state"] == "staged":
        same = own["idempotency_key"]
        yield
        world.update(
            "admit", closed_cells(world, "dropped"), idempotency_key=same, state="staged",
            id=lambda number: number > own["id"],
        )  # fmt: skip
        yield
        others = world.select(idempotency_key=same, state=lambda state: state != "dropped")
        earlier = any(
            row["key"] != key and (row["state"] != "staged" or row["id"] < own["id"])
            for row in others
        )
        yield
        if earlier:
            world.update("admit", closed_cells(world, "dropped"), key=key, state="staged")
        else:
            cells = {"state": "open", "changed_at": world.now, "check_at": world.now + GRACE}
            world.update("admit", cells, key=key, state="staged")
    yield
    row = world.read(key)
    return {"admitted": bool(row) and row["state"] not in ("dropped", "staged")}


def start_instance(
    world: RowWorld, workflow: str, element: str, variables: Answer, business_key: str = ""
) -> Steps:
    """Start an instance, unless the caller's id of it is known."""
    root, first, execution = world.new_key(), world.new_key(), world.new_execution()
    given = bool(business_key)
    yield
    numbers = world.take_numbers(2)
    yield
    world.insert([
        {"key": root, "instance": root, "business_key": business_key, "kind": "scope",
         "element": "process", "scope": "", "state": "staged" if given else "open",
         "variables": {}, "workflow": workflow, "check_at": world.now + GRACE,
         "idempotency_key": f"{workflow}|{business_key}" if given else ""},
        {"key": first, "instance": root, "kind": "start", "element": element,
         "scope": f"{root}/", "state": "staged" if given else "running", "execution": execution,
         "created_by": root, "variables": dict(variables), "workflow": workflow,
         "check_at": world.now + LEASE},
    ], numbers)  # fmt: skip
    if given:
        admission = yield from admit_row(world, root)
        if not admission["admitted"]:
            return {"won": False}
        yield
        begun = world.update(
            "start",
            {"state": "running", "changed_at": world.now, "check_at": world.now + LEASE},
            key=first,
            state="staged",
        )
        if not begun:
            return {"won": False}
    token = token_of(world.read(first))
    return {"won": True, "token": token, "data": variables, "variables": variables}


def claim_row(
    world: RowWorld,
    key: str,
    execution: str,
    event: str = "",
    variables: Answer | None = None,
    takeover: str = "",
    attempts: int = 0,
) -> Steps:
    """Claim an open row, or take over a running one from another execution."""
    yield
    claimed = world.update(
        "claim",
        {
            "state": "running", "host": "", "execution": execution, "event": event,
            "attempts": attempts, "variables": dict(variables or {}), "changed_at": world.now,
            "check_at": world.now + LEASE * 2**attempts,
        },
        key=key,
        state="running" if takeover else "open",
        execution=takeover,
    )  # fmt: skip
    if not claimed:
        return {"won": False}
    row = claimed[0]
    if row["interrupting"] == "no":
        counts = yield from _check_host(world, row)
        if not counts:
            return {"won": False}
    elif row["kind"] == "scope":
        inside = f"{row['scope']}{key}/"
        while True:
            yield
            cancelled = world.update(
                "claim", closed_cells(world, "cancelled"), live=True,
                scope=lambda scope: scope.startswith(inside),
            )  # fmt: skip
            if not cancelled:
                break
        yield
        world.update("claim", closed_cells(world, "cancelled"), host=key, live=True)
    elif row["kind"] == "branch" and takeover:
        yield from _consume_branches(world, row, "claim")
    elif row["hosts_events"]:
        yield
        world.update("claim", closed_cells(world, "cancelled"), host=key, live=True)
    changed = yield from read_variables(world, row["instance"])
    own = {} if row["kind"] == "branch" else row["variables"]
    return {
        "won": True, "token": token_of(row), "data": row["variables"],
        "variables": {**changed, **own},
    }  # fmt: skip


def _check_host(world: RowWorld, row: Row) -> Generator[None, None, bool]:
    """Whether an event that does not interrupt came while the row it is attached to was open."""
    yield
    host = world.read(row["attached_to"])
    mine = {"key": row["key"], "execution": row["execution"], "state": "running"}
    yield
    if host and host["state"] == "open":
        world.update("claim", {"interrupting": "checked"}, **mine)
        return True
    world.update(
        "claim",
        {
            "state": "ending", "variables": {}, "ends_scope": row["scope"].split("/")[-2],
            "ends_with": "", "changed_at": world.now, "check_at": world.now,
        },
        **mine,
    )  # fmt: skip
    return False


def _consume_branches(world: RowWorld, lead: Row, operation: str) -> Generator[None, None, None]:
    """The arrived branches that a join consumes, except for the one that leads on."""
    yield
    world.update(
        operation, closed_cells(world, "done"), kind="branch", element=lead["element"],
        scope=lead["scope"], state="open", id=lambda number: number <= lead["joined_to"],
    )  # fmt: skip


def read_variables(world: RowWorld, instance: str) -> Generator[None, None, dict[str, Any]]:
    """The variables of an instance: the changes of its finished rows, the latest last."""
    yield
    rows = world.select(
        instance=instance, live=False, variables=bool, state=lambda state: state != "cancelled"
    )
    if len(rows) >= FOLD_AT:
        world.begin(fold_changes(world, instance))
    if len(rows) >= MOST_CHANGES:
        raise TooManyChangesError(instance)
    return fold_variables(rows)


def fold_variables(rows: list[Row]) -> dict[str, Any]:
    """The variables that rows changed, the latest last."""
    variables: dict[str, Any] = {}
    for row in sorted(rows, key=lambda row: (row["changed_at"], row["id"])):
        variables.update(row["variables"])
    return variables


def fold_changes(world: RowWorld, instance: str) -> Steps:
    """Replace changes of variables that are older than a lease by one row."""
    yield
    old = [
        dict(row)
        for row in world.select(
            instance=instance, live=False, variables=bool,
            state=lambda state: state != "cancelled",
            changed_at=lambda moment: moment <= world.now - LEASE,
        )
    ]  # fmt: skip
    if not FOLD_LEAST <= len(old) < MOST_CHANGES:
        return {}
    key = world.new_key()
    yield
    numbers = world.take_numbers(1)
    yield
    moment = max(row["changed_at"] for row in old)
    world.insert([
        {"key": key, "instance": instance, "kind": "snapshot", "element": "snapshot",
         "scope": f"{instance}/", "state": "done", "live": False, "workflow": old[0]["workflow"],
         "variables": fold_variables(old), "check_at": NEVER, "changed_at": moment},
    ], numbers)  # fmt: skip
    for row in old:
        yield
        world.update(
            "fold", {"variables": {}}, key=row["key"], changed_at=row["changed_at"], live=False
        )
    return {}


def join_branches(world: RowWorld, element: str, scope: str, needed: int, execution: str) -> Steps:
    """Claim a join whose branches have all arrived."""
    yield
    arrived = [
        dict(row) for row in world.select(kind="branch", element=element, scope=scope, state="open")
    ]
    if len({row["branch"] for row in arrived}) < max(1, needed):
        return {"won": False}
    yield
    claimed = world.update(
        "join",
        {
            "state": "running", "execution": execution, "event": element,
            "joined_to": arrived[-1]["id"], "attempts": 0, "changed_at": world.now,
            "check_at": world.now + LEASE,
        },
        key=arrived[0]["key"],
        state="open",
    )  # fmt: skip
    if not claimed:
        return {"won": False}
    yield from _consume_branches(world, claimed[0], "join")
    variables = yield from read_variables(world, claimed[0]["instance"])
    return {"won": True, "token": token_of(claimed[0]), "data": {}, "variables": variables}


def end_scope(
    world: RowWorld, key: str, scope: str, target: str, leave: str, execution: str
) -> Steps:
    """End a scope in which nothing is open, or that an event leaves."""
    ended = {"key": key or "-", "state": "ending"}
    # `changed_at` stays the moment of the commit, by which variables are ordered.
    cells: Row = {"state": "done", "check_at": NEVER}
    if not leave:
        yield
        left = world.select(1, scope=lambda path: path.startswith(scope), live=True, host="")
        if left:
            if left[0]["state"] != "staged":
                yield
                world.update("end_scope", cells, **ended)
            return {}
        yield
        leaving = world.select(1, state="ending", ends_scope=target, ends_with=bool)
        leave = leaving[0]["ends_with"] if leaving else ""
    claimed = yield from claim_row(world, target, execution, leave or "end")
    if claimed["won"] and claimed["token"].scope == "":
        yield
        world.update(
            "end_scope", closed_cells(world, "done"), key=target, execution=execution,
            state="running",
        )  # fmt: skip
    yield
    world.update("end_scope", cells, **ended)
    goes_on = claimed["won"] and claimed["token"].scope != ""
    return claimed if goes_on else {}


def complete_steps(
    world: RowWorld,
    token: Token,
    rows: list[Row],
    variables: Answer | None = None,
    *,
    end: bool = False,
    leave: str = "",
    levels: int = 1,
) -> Steps:
    """Commit a segment: its row ends, and the rows that it leaves become open."""
    if rows:
        staged = _new_rows(world, token, rows)
        yield
        numbers = world.take_numbers(len(staged))
        yield
        world.insert(staged, numbers)
    ends = end or bool(leave)
    yield
    committed = world.update(
        "complete",
        {
            "state": "ending" if ends else "done", "variables": dict(variables or {}),
            "ends_scope": token.scope.split("/")[-1 - levels] if ends else "", "ends_with": leave,
            "changed_at": world.now, "check_at": world.now + GRACE if ends else NEVER,
        },
        key=token.key,
        execution=token.execution,
        state="running",
    )  # fmt: skip
    mine = {"created_by": token.key, "execution": token.execution, "state": "staged"}
    if not committed:
        yield
        world.delete(**mine)
        return {}
    if rows:
        yield
        for opened in world.update("complete", {"state": "open", "execution": ""}, **mine):
            if opened["kind"] == "timer" and not opened["host"] and opened["due"] <= world.now:
                world.begin(
                    continue_process(
                        world, opened["workflow"], opened["key"], "", opened["element"], {}
                    )
                )
        for row in rows:
            if row.get("message_key"):
                world.begin(match_messages(world, row["message_key"]))
    branch = next((row for row in rows if row["kind"] == "branch"), None)
    if branch is not None:
        joined = yield from join_branches(
            world, branch["element"], token.scope, branch["needed"], token.execution
        )
        return joined if joined["won"] else {}
    if ends:
        row = committed[0]
        return (
            yield from end_scope(
                world, row["key"], row["scope"], row["ends_scope"], leave, token.execution
            )
        )
    return {}


def _new_rows(world: RowWorld, token: Token, rows: list[Row]) -> list[Row]:
    """The staged rows of a segment. `ref` names a row among them; `host`, `attached_to` and
    `inside` refer to such a name."""
    staged = [
        {
            **row, "key": world.new_key(), "instance": token.instance, "scope": token.scope,
            "state": "staged", "execution": token.execution, "created_by": token.key,
            "variables": {}, "workflow": token.workflow,
        }
        for row in rows
    ]  # fmt: skip
    by_name = {row["ref"]: row for row in staged if "ref" in row}
    for row in staged:
        inside = row.pop("inside", "")
        if inside:
            row["scope"] = f"{by_name[inside]['scope']}{by_name[inside]['key']}/"
        for column in ("host", "attached_to"):
            name = row.get(column, "")
            row[column] = by_name[name]["key"] if name in by_name else name
        if row["attached_to"]:
            row |= {"interrupting": "no", "host": row["attached_to"]}
        row["check_at"] = {
            "timer": row.get("due", NEVER), "task": NEVER, "gateway": NEVER,
        }.get(row["kind"], world.now + GRACE)  # fmt: skip
    return staged


def match_messages(world: RowWorld, message_key: str = "", message: str = "") -> Steps:
    """Assign the oldest message to the oldest receiver, or finish an interrupted assignment."""
    if message:
        yield
        taken = world.read(message)
    else:
        yield
        receivers = world.select(kind="receiver", message_key=message_key, state="open")
        receiver = dict(receivers[0]) if receivers else None
        yield
        messages = world.select(kind="message", message_key=message_key, state="open")
        messages = [row for row in messages if row["due"] > world.now]
        if receiver is None or not messages:
            return {}
        own = receiver["interrupting"] == "no"
        target = receiver["key"] if own else receiver["host"] or receiver["key"]
        first = messages[0]["key"]
        yield
        changed = world.update(
            "match",
            {
                "state": "running", "execution": target, "host": receiver["key"],
                "event": receiver["element"], "workflow": receiver["workflow"],
                "changed_at": world.now, "check_at": world.now + GRACE,
            },
            key=first,
            state="open",
        )  # fmt: skip
        taken = changed[0] if changed else {}
    if taken:
        yield from _deliver_message(world, taken)
    return {}


def _deliver_message(world: RowWorld, message: Row) -> Generator[None, None, None]:
    """Claim the receiver in the name of a taken message, and continue its process."""
    mark = MESSAGE_MARK + message["key"]
    target = message["execution"] or "-"
    # The moment of its assignment tells it from a later one of the same message.
    this = {"key": message["key"], "changed_at": message["changed_at"]}
    if message["state"] == "running":
        yield
        world.update(
            "match",
            {
                "state": "running", "host": "", "execution": mark, "event": message["event"],
                "variables": message["variables"], "attempts": 0, "changed_at": world.now,
                "check_at": world.now + RETRY,
            },
            key=target,
            state="open",
        )  # fmt: skip
    yield
    receiver = world.read(target)
    if receiver and receiver["state"] == "running" and receiver["execution"] == mark:
        yield
        world.update("match", closed_cells(world, "done"), state="running", **this)
        world.begin(
            continue_process(
                world, message["workflow"], target, mark, message["event"], message["variables"]
            )
        )
    else:
        yield
        world.update(
            "match", closed_cells(world, "cancelled"), key=message["host"] or "-", state="open"
        )
        yield
        cells = {
            "state": "open", "execution": "", "host": "", "changed_at": world.now,
            "check_at": world.now + GRACE,
        }  # fmt: skip
        world.update("match", cells, state="running", execution=target, **this)
    world.begin(match_messages(world, message["message_key"]))


def receive_message(
    world: RowWorld, message_key: str, variables: Answer, identity: str = "", lifetime: int = NEVER
) -> Steps:
    """Keep a message from outside, once for each identity."""
    key = world.new_key()
    yield
    numbers = world.take_numbers(1)
    yield
    world.insert([
        {"key": key, "instance": "", "kind": "message", "element": "", "scope": "",
         "state": "staged" if identity else "open", "variables": dict(variables), "workflow": "",
         "message_key": message_key, "due": min(world.now + lifetime, NEVER),
         "idempotency_key": f"message|{identity}" if identity else "",
         "check_at": world.now + GRACE}
    ], numbers)  # fmt: skip
    fresh = True
    if identity:
        fresh = (yield from admit_row(world, key))["admitted"]
    if fresh:
        world.begin(match_messages(world, message_key))
    return {"accepted": True, "fresh": fresh}


def continue_process(
    world: RowWorld,
    workflow: str,
    key: str,
    takeover: str,
    event: str,
    variables: Answer,
    attempts: int = 0,
) -> Steps:
    """Call a process to go on from a row: claim it, then run the segment after the event."""
    claimed = yield from claim_row(
        world, key, world.new_execution(), event, variables, takeover, attempts
    )
    if claimed["won"]:
        yield from world.processes[workflow](world, claimed["token"], claimed)
    return claimed


# -- the sweep -------------------------------------------------------------------------------------


def sweep_rows(world: RowWorld, retention: int = 0) -> Steps:
    """Fire timers, finish what a crash interrupted, and delete what ended before the retention, 0
    for never."""
    yield
    stale = [
        dict(row)
        for row in world.select(
            MOST_OTHERS, state="staged", changed_at=lambda moment: moment <= world.now - GRACE
        )
    ]
    for row in stale:
        yield
        reserved = world.update(
            "sweep", {"changed_at": world.now + RETRY}, key=row["key"], state="staged",
            changed_at=row["changed_at"],
        )  # fmt: skip
        for own in reserved:
            yield from _sweep_staged(world, own)
    due = {"check_at": lambda moment: moment <= world.now}
    for tests, limit in (
        ({"kind": "timer", "state": "open"}, MOST_TIMERS),
        ({"kind": lambda kind: kind != "timer", "state": "open"}, MOST_OTHERS),
        ({"state": "running"}, MOST_OTHERS),
        ({"state": "ending"}, MOST_OTHERS),
    ):
        yield
        for row in [dict(row) for row in world.select(limit, **due, **tests)]:
            yield
            reserved = world.update(
                "sweep", {"check_at": world.now + _pause_of(world, row)}, key=row["key"],
                state=row["state"], check_at=row["check_at"],
            )  # fmt: skip
            for own in reserved:
                yield from _sweep_row(world, own)
    if retention:
        yield from _delete_old_rows(world, world.now - retention)
    return {}


def _delete_old_rows(world: RowWorld, bound: int) -> Generator[None, None, None]:
    """Rows of instances that ended before a moment, and messages as old."""
    yield
    ended = world.select(
        MOST_TIMERS, kind="scope", scope="", live=False,
        changed_at=lambda moment: moment <= bound,
    )  # fmt: skip
    for key in [row["key"] for row in ended]:
        yield
        world.delete(instance=key)
    yield
    world.delete(kind="message", live=False, changed_at=lambda moment: moment <= bound)


def _pause_of(world: RowWorld, row: Row) -> int:
    """How long the sweep leaves a row that it has looked at: longer the longer it has been open."""
    if row["kind"] in ("timer", "start") or row["state"] != "open":
        return RETRY
    return int(min(max(world.now - row["changed_at"], RETRY), LONGEST_PAUSE))


def _sweep_staged(world: RowWorld, row: Row) -> Generator[None, None, None]:
    """A staged row of an interrupted segment, start or message."""
    if row["idempotency_key"]:
        yield from admit_row(world, row["key"])
        return
    yield
    creator = world.read(row["created_by"])
    own = {"key": row["key"], "state": "staged"}
    if not creator:
        return
    same_execution = creator["execution"] == row["execution"]
    if row["kind"] == "start" and creator["state"] == "open":
        yield
        world.update("sweep", {"state": "open", "execution": "", "check_at": world.now}, **own)
    elif creator["state"] in ("done", "ending") and same_execution:
        yield
        cells = {"state": "open", "execution": ""}
        siblings = {"created_by": row["created_by"], "execution": row["execution"]}
        world.update("sweep", cells, state="staged", **siblings)
    elif creator["state"] in ("cancelled", "dropped", "failed") or (
        row["kind"] != "start" and not same_execution
    ):
        yield
        world.delete(**own)


def _sweep_row(world: RowWorld, row: Row) -> Generator[None, None, None]:
    """A row that is due, by its kind and state."""
    state, kind = row["state"], row["kind"]
    if state == "running":
        yield from _sweep_running(world, row)
    elif state == "ending":
        if kind == "receiver" and row["interrupting"] == "no":
            yield
            cells = {
                "state": "open", "execution": "", "changed_at": world.now, "check_at": world.now,
            }  # fmt: skip
            world.update("sweep", cells, kind="message", state="done", execution=row["key"])
        claimed = yield from end_scope(
            world, row["key"], row["scope"], row["ends_scope"], row["ends_with"],
            world.new_execution(),
        )  # fmt: skip
        yield from _continue_claimed(world, claimed)
    elif kind in ("timer", "start"):
        own = row["interrupting"] == "no" or not row["host"]
        yield from continue_process(
            world, row["workflow"], row["key"] if own else row["host"], "", row["element"],
            row["variables"],
        )  # fmt: skip
    elif kind == "scope":
        inside = f"{row['scope']}{row['key']}/"
        claimed = yield from end_scope(world, "", inside, row["key"], "", world.new_execution())
        yield from _continue_claimed(world, claimed)
    elif kind == "branch":
        claimed = yield from join_branches(
            world, row["element"], row["scope"], row["needed"], world.new_execution()
        )
        yield from _continue_claimed(world, claimed)
    elif kind == "message" and row["due"] <= world.now:
        yield
        world.update("sweep", closed_cells(world, "expired"), key=row["key"], state="open")
    elif kind in ("message", "receiver"):
        yield from match_messages(world, row["message_key"])


def _sweep_running(world: RowWorld, row: Row) -> Generator[None, None, None]:
    """A row whose execution has not ended it in time."""
    mine = {"key": row["key"], "execution": row["execution"], "state": "running"}
    if row["kind"] == "message":
        yield from match_messages(world, message=row["key"])
    elif row["execution"].startswith(MESSAGE_MARK):
        yield from match_messages(world, message=row["execution"].removeprefix(MESSAGE_MARK))
    elif row["kind"] == "scope" and row["scope"] == "":
        yield
        world.update("sweep", closed_cells(world, "done"), **mine)
    elif row["attempts"] >= MOST_ATTEMPTS:
        yield
        if world.update("sweep", closed_cells(world, "failed"), **mine):
            world.reports.append(row["key"])
    else:
        yield from continue_process(
            world, row["workflow"], row["key"], row["execution"],
            row["event"] or row["element"], row["variables"], row["attempts"] + 1,
        )  # fmt: skip


def _continue_claimed(world: RowWorld, claimed: Answer) -> Generator[None, None, None]:
    """The process goes on where the sweep itself has claimed a join or a scope."""
    if claimed.get("won"):
        token = claimed["token"]
        yield from continue_process(
            world, token.workflow, token.key, token.execution, token.event, {}
        )
