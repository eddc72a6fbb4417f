"""Plays random schedules of small nets on the model of rows, and checks the invariants.

A schedule starts an instance (repeatedly, as callers do), answers tasks (some twice), sends
messages (some twice, some early), lets time pass, sweeps, crashes executions and lets slow ones go
on after they were taken over. In the end everything is answered, and the process has to be over:
each step followed exactly once from the one before, and nothing that was accepted is lost.
"""

from __future__ import annotations

import random
from collections import Counter
from types import ModuleType
from typing import Any

from orgflow.backends.n8n.waiting import row_model
from waiting_nets import (
    Gate,
    NetMaker,
    NetProcess,
    Parallel,
    Sequence,
    Sub,
    Task,
    net_text,
)

Row = dict[str, Any]

_ACTIONS = 90
_MOST_CRASHES = 4
_ROUNDS = 120
_CHECK_OF_TIMERS = 15


class ScheduleError(AssertionError):
    """A schedule that violates an invariant."""


class Schedule:
    """One random schedule of one random net."""

    def __init__(self, seed: int, model: ModuleType = row_model) -> None:
        self.rnd = random.Random(seed)
        self.model = model
        self.net = NetMaker(self.rnd).make()
        self.process = NetProcess(self.net)
        self.world = model.RowWorld()
        self.world.changes = self.check_change
        self.world.processes["p"] = self.process_segment
        self.wins: Counter[str] = Counter()
        self.commits: Counter[str] = Counter()
        self.accepted: dict[str, str] = {}
        self.sent: dict[str, bool] = {}
        self.opened: dict[str, int] = {}
        self.in_time: set[str] = set()
        self.frozen: list[Any] = []
        self.thaws = self.rnd.randint(5, 25)
        self.waits_for_timers = self.rnd.random() < 0.5
        self.crashes = 0
        self.texts = 0

    # -- what happens ----------------------------------------------------------------------------

    def process_segment(self, world: Any, token: Any, claimed: Any) -> Any:
        for key in claimed["variables"]:
            row = world.read(key)
            if row and key != token.key and row["state"] not in ("done", "ending"):
                raise ScheduleError(f"variables of {key} count although it is {row['state']}")
        return self.process.segment(world, token, claimed)

    def start_steps(self) -> Any:
        started = yield from self.model.start_instance(self.world, "p", "start", {"x": 1}, "case")
        if started["won"]:
            yield from self.process_segment(self.world, started["token"], started)
        return {}

    def answer_steps(self, key: str) -> Any:
        self.texts += 1
        text = f"text {self.texts}"
        execution = self.world.new_execution()
        claimed = yield from self.model.claim_row(self.world, key, execution, "", {key: text})
        if claimed["won"]:
            if key in self.accepted:
                raise ScheduleError(f"two answers of {key} were accepted")
            self.accepted[key] = text
            yield
            yield from self.process_segment(self.world, claimed["token"], claimed)
        return {}

    def message_steps(self, message_key: str, identity: str) -> Any:
        kept = yield from self.model.receive_message(
            self.world, message_key, {identity: 1}, identity
        )
        assert kept["accepted"]
        self.sent[identity] = True
        return {}

    def send_message(self, message_key: str) -> None:
        """Send a message, often twice."""
        self.texts += 1
        identity = f"m{self.texts}"
        for _ in range(self.rnd.choice((1, 2))):
            self.world.begin(self.message_steps(message_key, identity))

    def message_keys(self, *states: str) -> list[str]:
        """Messages that somebody expects."""
        return [
            row["message_key"]
            for row in self.world.rows
            if row["kind"] == "receiver" and row["state"] in states
        ]

    def tasks(self, *states: str) -> list[str]:
        """Keys of tasks."""
        return [
            row["key"]
            for row in self.world.rows
            if row["kind"] == "task" and row["state"] in states
        ]

    def act(self) -> None:
        """One random action."""
        world, rnd = self.world, self.rnd
        chance = rnd.random()
        active = [steps for steps in world.running if steps not in self.frozen]
        if active and chance < 0.7:
            world.advance(rnd.choice(active))
        elif active and chance < 0.72:
            self.frozen.append(rnd.choice(active))
        elif chance < 0.82:
            keys = self.tasks("open", "running", "staged", "done")
            if keys:
                for key in rnd.sample(keys, min(len(keys), rnd.choice((1, 2)))):
                    world.begin(self.answer_steps(key))
        elif chance < 0.88:
            keys = self.message_keys("open", "staged")
            if keys:
                self.send_message(rnd.choice(keys))
        elif chance < 0.93:
            world.begin(self.model.sweep_rows(world))
        elif chance < 0.97:
            world.now += rnd.choice((1_000, 25_000, 61_000, 130_000, 660_000))
        elif active and self.crashes < _MOST_CRASHES:
            self.crashes += 1
            world.crash(rnd.choice(active))

    # -- the whole schedule ----------------------------------------------------------------------

    def play(self) -> None:
        """Play the schedule. Raises `ScheduleError` or `InvariantError`."""
        self.world.begin(self.start_steps())
        if self.rnd.random() < 0.3:
            self.world.begin(self.start_steps())
        for _ in range(_ACTIONS):
            self.act()
        self.world.begin(self.start_steps())
        self.drain()
        self.check_end()

    def drain(self) -> None:
        """Answer and send what is expected, sweep, and let time pass, until nothing is open."""
        world = self.world
        for number in range(_ROUNDS):
            budget = 4_000
            if number >= self.thaws:
                self.frozen.clear()
            if number == _CHECK_OF_TIMERS:
                self.check_timers()
            while active := [steps for steps in world.running if steps not in self.frozen]:
                steps = self.rnd.choice(active)
                if number < 20 and self.rnd.random() < 0.005:
                    self.frozen.append(steps)
                    continue
                if self.crashes < _MOST_CRASHES and number < 20 and self.rnd.random() < 0.02:
                    self.crashes += 1
                    world.crash(steps)
                else:
                    world.advance(steps)
                budget -= 1
                if not budget:
                    raise ScheduleError("an execution does not end")
            live = [r for r in world.rows if r["live"] or r["state"] == "ending"]
            open_rows = [
                r for r in live if r["kind"] != "message" or r["state"] in ("staged", "running")
            ]
            if not open_rows and self.roots("done") and not world.running:
                return
            for key in self.tasks("open"):
                if self.waits_for_timers and number <= _CHECK_OF_TIMERS and self.has_timer(key):
                    continue
                world.begin(self.answer_steps(key))
            if number == 20:  # a caller without an answer calls again, in the end without a crash
                world.begin(self.start_steps())
            if number > 1:
                for key in self.message_keys("open"):
                    self.send_message(key)
            world.now += self.rnd.choice((21_000, 61_000, 130_000)) * (1 + number // 12)
            world.begin(self.model.sweep_rows(world))
        raise ScheduleError(f"the instance does not end: {self.state_text()}")

    def has_timer(self, key: str) -> bool:
        """Whether a timer is attached to a row."""
        return any(row["host"] == key and row["kind"] == "timer" for row in self.world.rows)

    def check_timers(self) -> None:
        """Timers whose task is open have fired some minutes after they were due."""
        for row in self.world.rows:
            if row["kind"] == "timer" and row["state"] == "open":
                host = self.world.read(row["host"])
                overdue = self.world.now - max(row["due"], self.opened[row["key"]])
                if host["state"] == "open" and overdue > 700_000:
                    raise ScheduleError(f"the timer {row['key']} does not fire")

    def roots(self, *states: str) -> list[Row]:
        """Rows of instances."""
        return [
            row
            for row in self.world.rows
            if row["kind"] == "scope" and row["scope"] == "" and row["state"] in states
        ]

    def state_text(self) -> str:
        """Rows that are live, for messages."""
        live = [r for r in self.world.rows if r["live"] or r["state"] in ("ending", "failed")]
        names = ("kind", "element", "state", "key", "host", "execution", "check_at")
        return str([{n: r[n] for n in names} for r in live]) + str(net_text(self.net))

    # -- invariants ------------------------------------------------------------------------------

    def check_change(self, before: Row, after: Row, operation: str) -> None:
        """Check one change of a row."""
        old, new, key = before["state"], after["state"], before["key"]
        if old == "running" and operation == "complete" and new in ("done", "ending"):
            self.commits[key] += 1
            if self.commits[key] > 1:
                raise ScheduleError(f"two commits of {key}")
        if old == "open" and new == "running" and before["kind"] != "message":
            self.wins[key] += 1
            if self.wins[key] > 1:
                raise ScheduleError(f"two claims of {key}")
        if old == "staged" and new == "open":
            self.opened[key] = self.world.now
        if old == "ending" and after["changed_at"] != before["changed_at"]:
            raise ScheduleError(f"the variables of {key} count as later than its commit")
        if before["interrupting"] == "no":
            host = self.world.read(before["attached_to"])
            if old == "open" and new == "running" and host["state"] == "open":
                self.in_time.add(key)
            if after["interrupting"] == "checked" and key not in self.in_time:
                raise ScheduleError(f"the event {key} counts although its task was closed")
        if old == "staged" and new == "open" and before["created_by"]:
            creator = self.world.read(before["created_by"])
            committed = (
                bool(creator)
                and creator["state"] in ("done", "ending")
                and creator["execution"] == before["execution"]
            )
            if not committed and before["kind"] != "start":
                raise ScheduleError(f"{key} is visible before the commit")
        if new in ("open", "running") and old not in ("running", new) and after["scope"]:
            for scope in after["scope"].split("/")[:-1]:
                if self.world.read(scope).get("state") in ("done", "cancelled", "dropped"):
                    raise ScheduleError(f"{key} becomes {new} in a closed scope")

    def check_end(self) -> None:
        """Check the rows of a process that is over."""
        world = self.world
        if len(self.roots("open", "running", "done", "failed", "ending")) != 1:
            raise ScheduleError("the instance was not started exactly once")
        if world.reports:
            raise ScheduleError("steps were given up")
        self.check_steps()
        self.check_accepted()
        self.check_messages()
        repeated = Counter(self.process.effects)
        for (key, event), _ in repeated.items():
            if not world.read(key):
                raise ScheduleError(f"an effect of {event} has no row")

    def rows_of(self, element: str, *kinds: str) -> list[Row]:
        """Rows of an element that became visible."""
        return [
            row
            for row in self.world.rows
            if row["element"] == element and row["kind"] in kinds and row["key"] in self.opened
        ]

    def entered(self, node: Any) -> int:
        """How often a node was reached."""
        first = node.branches[0][0] if isinstance(node, Parallel) else node
        return len(self.rows_of(first.name, "task", "gateway", "scope"))

    def left(self, node: Any, entries: int) -> int:
        """How often the next node was reached from this one, after `entries` entries."""
        if not isinstance(node, Parallel):
            rows = self.rows_of(node.name, "task", "gateway", "scope")
            return sum(row["state"] in ("done", "ending") for row in rows)
        leads = [row for row in self.rows_of(node.name, "branch") if row["joined_to"]]
        committed = sum(row["state"] in ("done", "ending") for row in leads)
        return committed - (self.entered(node) - entries)

    def check_steps(self) -> None:
        """Each node was reached as often as the one before it was left."""
        starts = [
            row for row in self.world.rows if row["kind"] == "start" and row["state"] == "done"
        ]
        if len(starts) != 1:
            raise ScheduleError("the first steps did not end exactly once")
        (root,) = self.roots("done")
        self.check_sequence(self.net, 1, cut=root["event"] != "end")

    def check_sequence(self, body: Sequence, entries: int, *, cut: bool) -> int:
        """The nodes of one sequence, entered so many times; returns how often it was left. Where an
        event ended the scope (`cut`), tokens may be missing, but none may be too many."""
        for node in body:
            if not isinstance(node, Parallel):  # a loop enters its first branch again
                self.compare(node.name, self.entered(node), entries, cut)
            if isinstance(node, Task) and node.stops:
                self.check_stop(node)
            if isinstance(node, Parallel):
                self.check_join(node, cut=cut)
            elif isinstance(node, Sub):
                scopes = self.rows_of(node.name, "scope")
                ended = all(row["event"] == "end" for row in scopes)
                self.check_sequence(node.body, self.entered(node), cut=cut or not ended)
            entries = self.left(node, entries)
        return entries

    def check_stop(self, node: Task) -> None:
        """A step that ends its scope at once has ended it."""
        for row in self.rows_of(node.name, "task"):
            if row["state"] in ("done", "ending") and not self.ended_by_event(row):
                raise ScheduleError(f"{node.name} did not end its scope")

    def check_join(self, node: Parallel, *, cut: bool) -> None:
        """Branches were entered equally often, and each firing of the join consumed one token of
        each branch."""
        parts = self.rows_of(node.name, "branch")
        leads = sum(bool(row["joined_to"]) for row in parts)
        for branch in node.branches:
            entries = self.entered(branch[0])
            self.compare(branch[0].name, entries, self.entered(node), cut)
            leaves = self.check_sequence(branch, entries, cut=cut)
            arrived = sum(row["branch"] == branch[0].name for row in parts)
            self.compare(f"{branch[0].name} at {node.name}", arrived, leaves, cut)
            self.compare(f"{branch[0].name} joined", leads, arrived, cut)

    def compare(self, what: str, count: int, wanted: int, fewer: bool) -> None:
        """Raise `ScheduleError` unless a count is the wanted one, or less where that is allowed."""
        if count > wanted or (count < wanted and not fewer):
            raise ScheduleError(f"{what}: {count} times, not {wanted}")

    def check_accepted(self) -> None:
        """Accepted answers took effect, or an event ended their scope."""
        for key, text in self.accepted.items():
            row = self.world.read(key)
            if row["state"] in ("done", "ending"):
                snapshots = [r for r in self.world.rows if r["kind"] == "snapshot"]
                texts = [r["variables"].get(key) for r in (row, *snapshots)]
                if text not in texts and row["event"] == "":
                    raise ScheduleError(f"the answer of {key} is lost")
            elif row["state"] != "cancelled" or not self.ended_by_event(row):
                raise ScheduleError(f"the accepted task {key} is {row['state']}")

    def ended_by_event(self, row: Row) -> bool:
        """Whether an event ended a scope around a row."""
        scopes = [self.world.read(key) for key in row["scope"].split("/")[:-1]]
        return any(
            scope["state"] == "cancelled" or scope["event"] not in ("", "end") for scope in scopes
        )

    def check_messages(self) -> None:
        """Each message was kept once and delivered at most once."""
        for identity in self.sent:
            rows = [
                row
                for row in self.world.rows
                if row["kind"] == "message" and row["idempotency_key"] == f"message|{identity}"
            ]
            kept = [row for row in rows if row["state"] != "dropped"]
            if len(kept) != 1:
                raise ScheduleError(f"{identity} was kept {len(kept)} times")
            had = [
                row
                for row in self.world.rows
                if row["kind"] != "message" and identity in row["variables"]
            ]
            took = sum(
                row["state"] in ("done", "ending") and row["kind"] != "snapshot" for row in had
            )
            delivered = kept[0]["state"] == "done"
            if took > 1 or (took and not delivered) or (delivered and not had):
                raise ScheduleError(f"{identity} is {kept[0]['state']}, received {took} times")
            folded = any(row["kind"] == "snapshot" for row in had)
            ended = any(self.ended_by_event(row) for row in had)
            if delivered and not took and not folded and not ended:
                raise ScheduleError(f"{identity} was delivered to a cancelled receiver")


def play_stalled_join(model: ModuleType = row_model) -> None:
    """A schedule that chance hardly finds: an execution claims a join in a loop and stalls; another
    takes over and begins the next pass, whose first branch arrives; then the first one goes on.

    Raises:
        ScheduleError: it consumed that branch.
    """
    schedule = Schedule(0, model)
    loop = Parallel("J", ((Task("A"),), (Task("B"),)), 2)
    schedule.net = (loop,)
    schedule.process = NetProcess(schedule.net)
    schedule.crashes = _MOST_CRASHES
    world = schedule.world

    def run_active() -> None:
        while active := [steps for steps in world.running if steps not in schedule.frozen]:
            world.advance(active[0])

    world.begin(schedule.start_steps())
    run_active()
    for key in schedule.tasks("open"):
        world.begin(schedule.answer_steps(key))
    while not any(row["kind"] == "branch" and row["state"] == "running" for row in world.rows):
        world.advance(world.running[0])
    schedule.frozen = list(world.running)
    world.now += model.LEASE + 1
    world.begin(model.sweep_rows(world))
    run_active()
    world.begin(schedule.answer_steps(schedule.tasks("open")[0]))
    run_active()
    schedule.frozen = []
    schedule.drain()
    schedule.check_end()


def finish_steps(steps: Any) -> Any:
    """Run an execution to its end; returns its answer."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def explore_schedules(first: int, count: int, model: ModuleType = row_model) -> int:
    """Play so many schedules; returns how many were played. Raises the first violation."""
    for seed in range(first, first + count):
        try:
            Schedule(seed, model).play()
        except (AssertionError, LookupError) as error:
            raise ScheduleError(f"schedule {seed}: {error}") from error
    return count


__all__ = [
    "Gate", "Schedule", "ScheduleError", "explore_schedules", "finish_steps", "play_stalled_join",
]  # fmt: skip
