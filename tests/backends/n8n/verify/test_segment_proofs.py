"""`verify` on processes that wait in several places: proofs of compiled workflows, and edits of the
open work, of the calls of the support set and of the connections between them."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from canvas_player import CanvasError, ExpressionServer, NotPlayable
from concurrency_models import nested_model
from game_models import model, sub
from orgflow.backends.n8n.verify.row_expressions import RowTemplate
from orgflow.backends.n8n.verify.row_states import (
    OpenRow,
    OpenWork,
    SegmentToken,
    canonical_work,
    claim_event,
    commit_segment,
    start_token,
)
from orgflow.backends.n8n.verify.verify import UNREAD
from orgflow.backends.n8n.waiting.row_model import (
    Answer,
    Row,
    RowWorld,
    Steps,
    Token,
    complete_steps,
    continue_process,
    start_instance,
)
from row_mutants import list_mutants
from row_subjects import RowSubject, list_subjects
from seeds import at_least, seeds
from segment_models import waiting_model
from segment_runs import REGISTRY

from orgflow_ir.model import Event, EventDefinition, Expression, Model
from orgflow_ir.targets.verification import Verdict, Verification

Json = dict[str, Any]

PARALLEL = model(
    "start s; and f; user a; task t; user b; and j; task p; end e",
    "s f, f a, f t, t b, a j, b j, j p, p e",
)
CHOICE = model(
    "start s; or f; user a; user b; or j; end e", "s f, f a, f b, a j, b j, j e"
)  # fmt: skip
UNPROVED = (Verdict.DIFFERENT, Verdict.CHANGED, Verdict.NOT_COMPARED)
KINDS = (
    ("task", "task"),
    ("task", "inclusive"),
    ("task", "boundary"),
    ("task", "sub", "boundary"),
    ("task", "sub", "handler", "boundary", "inclusive"),
)


def timed(host: str, name: str, text: str, *, interrupting: bool = True) -> Event:
    """A timer on the boundary of a step."""
    definition = EventDefinition(kind="timer", expression=Expression(text=text))
    return Event(
        id=name,
        position="boundary",
        attached_to=host,
        interrupting=interrupting,
        definitions=(definition,),
    )


RACE = model(
    "start s; user a; end e; end f; end g", "s a, a e, x f, r g",
    timed("a", "x", "PT1H"), timed("a", "r", "PT5M", interrupting=False),
)  # fmt: skip
SCOPE = model(
    "start s; user z; end e; end f", "s S, S z, z e, x f",
    sub("S", "start is; and if; user a; user b; and ij; end ie",
        "is if, if a, if b, a ij, b ij, ij ie"),
    timed("S", "x", "PT1H"),
)  # fmt: skip


def subject_of(made: Model) -> RowSubject:
    """The one process of segments of a model."""
    (subject,) = list_subjects([("model", made)], REGISTRY)
    return subject


@pytest.fixture(scope="module")
def server() -> Iterator[ExpressionServer]:
    """A process that evaluates expressions."""
    started = ExpressionServer()
    yield started
    started.close()


# -- compiled workflows ----------------------------------------------------------------------------


@pytest.mark.parametrize("made", [PARALLEL, CHOICE, RACE, SCOPE])
def test_compiled_processes_are_proved(made: Model) -> None:
    subject = subject_of(made)
    result = subject.verify(subject.workflow)
    assert result.verdict is Verdict.PROVED
    assert result.states > 1
    assert "the workflows of the support set are those of this version" in result.assumed


def test_a_bound_is_no_proof() -> None:
    subject = subject_of(PARALLEL)
    result = subject.verify(subject.workflow, most=3)
    assert (result.verdict, result.bound) == (Verdict.BOUNDED, "more than 3 states")


def test_random_processes_are_proved_and_their_runs_are_those_of_the_model(
    server: ExpressionServer,
) -> None:
    made = [(f"{seed} {kinds}", nested_model(seed, kinds))
            for kinds in KINDS for seed in seeds(60)]  # fmt: skip
    made += [(f"waiting {seed}", waiting_model(seed)) for seed in seeds(60)]
    proved = 0
    for subject in list_subjects(made, REGISTRY):
        result = subject.verify(subject.workflow)
        # In some, a loop begins steps each time and waits for none of them.
        endless = result.bound is not None and "open more than" in result.bound
        assert result.verdict is Verdict.PROVED or endless, (subject.key, result)
        proved += result.verdict is Verdict.PROVED
        for number in range(2):
            try:
                _, run = subject.play(server, number)
            except NotPlayable:
                continue
            assert subject.follow(number, run) == "", subject.key
    assert proved >= at_least(100)


# -- edits -----------------------------------------------------------------------------------------


def inputs_of(workflow: Json, name: str) -> Json:
    """The inputs of a call."""
    step = next(n for n in workflow["nodes"] if n["name"] == name)
    inputs: Json = step["parameters"]["workflowInputs"]["value"]
    return inputs


def replace_input(name: str, column: str, pattern: str, new: str) -> Callable[[Json], None]:
    """An edit of an input of a call."""

    def edit(workflow: Json) -> None:
        inputs = inputs_of(workflow, name)
        before = inputs[column]
        inputs[column] = re.sub(pattern, new, before, count=1)
        assert inputs[column] != before

    return edit


def verify_edit(made: Model, edit: Callable[[Json], None]) -> Verification:
    """What `verify` finds after an edit."""
    subject = subject_of(made)
    workflow = copy.deepcopy(subject.workflow)
    edit(workflow)
    return subject.verify(workflow)


def first_with(made: Model, text: str) -> str:
    """The first call whose rows contain a text."""
    for step in subject_of(made).workflow["nodes"]:
        if text in json.dumps(step["parameters"].get("workflowInputs", "")):
            return str(step["name"])
    raise LookupError(text)


@pytest.mark.parametrize(
    ("made", "found", "column", "pattern", "new", "message"),
    [
        (PARALLEL, "needed:2", "rows", "needed:2", "needed:1", "the workflow runs `p`"),
        (PARALLEL, "needed:2", "rows", "needed:2", "needed:3", "does not wait for it"),
        (PARALLEL, r"element:\\\"a", "rows", r'\{kind:"task",element:"a".*? \},', "",
         "does not wait for it"),
        (RACE, "host:", "rows", r"host:", "attached_to:", "waits for `a`, `r`"),
        (RACE, "host:", "rows", r'host:"a"', 'host:"b"', "does not wait for it"),
        (SCOPE, "inside:", "rows", r'inside:"S"', "", ""),
        (SCOPE, "kind:..scope", "rows", r'kind:"scope"', 'kind:"gateway"', ""),
    ],
)  # fmt: skip
def test_other_rows_are_a_difference(
    made: Model, found: str, column: str, pattern: str, new: str, message: str
) -> None:
    subject = subject_of(made)
    names = [
        n["name"]
        for n in subject.workflow["nodes"]
        if re.search(found, json.dumps(n["parameters"].get("workflowInputs", "")))
    ]
    result = verify_edit(made, replace_input(names[0], column, pattern, new))
    assert result.verdict in (Verdict.DIFFERENT, Verdict.CHANGED)
    if message:
        assert result.difference is not None
        assert message in result.difference.message


def drop_case(workflow: Json) -> None:
    """Remove the case of the task `b`."""
    switch = next(n for n in workflow["nodes"] if "(segment)" in n.get("notes", ""))
    rules = switch["parameters"]["rules"]["values"]
    number = next(i for i, rule in enumerate(rules) if rule["outputKey"] == "b")
    rules.pop(number)
    workflow["connections"][switch["name"]]["main"].pop(number)


def test_a_missing_case_is_a_difference() -> None:
    result = verify_edit(PARALLEL, drop_case)
    assert result.difference is not None
    assert "no part of the workflow begins after `b`" in result.difference.message


def test_swapped_branches_of_rows_are_a_difference() -> None:
    name = first_with(CHOICE, "?[")
    result = verify_edit(CHOICE, replace_input(name, "rows", r"\(\(", "(!("))
    assert result.verdict is Verdict.DIFFERENT


def end_late(workflow: Json) -> None:
    """Leave the end of a path out."""
    inputs_of(workflow, "End")["end"] = "={{ false }}"


def test_a_path_without_an_end_is_not_understood() -> None:
    result = verify_edit(PARALLEL, end_late)
    assert result.verdict is Verdict.CHANGED
    assert any(change.was == UNREAD for change in result.changed)


def add_wait(workflow: Json) -> None:
    """Add a Wait node in front of the task `p`."""
    workflow["nodes"].append(
        {"id": "w", "name": "Wait", "type": "n8n-nodes-base.wait", "typeVersion": 1.1,
         "position": [0, 0], "parameters": {"amount": 1, "unit": "days"}}
    )  # fmt: skip
    for source, kinds in workflow["connections"].items():
        for ends in kinds["main"]:
            for end in ends or ():
                if end["node"] == "p":
                    end["node"] = "Wait"
                    assert source
    workflow["connections"]["Wait"] = {"main": [[{"node": "p", "type": "main", "index": 0}]]}


def test_a_wait_node_is_not_understood() -> None:
    result = verify_edit(PARALLEL, add_wait)
    assert result.verdict is Verdict.CHANGED
    assert any("it waits" in change.now for change in result.changed)


def call_other_part(workflow: Json) -> None:
    """One call of `complete` under another id than the others."""
    step = next(n for n in workflow["nodes"] if n["name"] == "Open b")
    step["parameters"]["workflowId"]["value"] = "another"


def test_calls_of_one_part_have_one_id() -> None:
    result = verify_edit(PARALLEL, call_other_part)
    assert result.verdict is Verdict.CHANGED


def deploy_ids(workflow: Json) -> None:
    """The ids of a server in place of the compiled ones."""
    ids: dict[str, str] = {}
    for step in workflow["nodes"]:
        called = step["parameters"].get("workflowId")
        if called:
            called["value"] = ids.setdefault(called["value"], f"server{len(ids)}")


def test_the_ids_of_a_server_make_no_difference() -> None:
    assert verify_edit(PARALLEL, deploy_ids).verdict is Verdict.PROVED


def fill_placeholder(workflow: Json) -> None:
    """Put a request in the place of the task `t`."""
    step = next(n for n in workflow["nodes"] if n["name"] == "t")
    step |= {"type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2}
    step["parameters"] = {"url": "https://example.org", "options": {}}


def test_filled_placeholders_stay_proved() -> None:
    result = verify_edit(PARALLEL, fill_placeholder)
    assert result.verdict in (Verdict.PROVED, Verdict.CONDITIONAL)


@pytest.mark.parametrize("made", [PARALLEL, CHOICE, RACE, SCOPE])
def test_no_mutant_that_differs_is_proved(made: Model, server: ExpressionServer) -> None:
    subject = subject_of(made)
    runs = [subject.play(server, number)[1] for number in range(4)]
    differing = 0
    for mutant in list_mutants(subject.workflow, subject.key, 1, 7):
        result = subject.verify(mutant.workflow)
        try:
            replayed = (
                subject.replay(server, mutant.workflow, n, run) for n, run in enumerate(runs)
            )
            differs = next((why for why in replayed if why), "")
        except (CanvasError, NotPlayable, LookupError, ValueError, TypeError) as error:
            differs = repr(error)
        if differs:
            differing += 1
            assert result.verdict in UNPROVED, (mutant.what, differs)
        if mutant.mutator.harmless:
            assert not differs
            assert result.verdict is Verdict.PROVED, (mutant.what, result)
    assert differing >= 5


# -- the state of open work ------------------------------------------------------------------------


def random_rows(rnd: random.Random) -> list[RowTemplate]:
    """Rows of a segment: tasks with events, scopes with content, branches."""
    rows: list[RowTemplate] = []
    for number in range(rnd.randint(0, 3)):
        kind = rnd.choice(("task", "timer", "receiver", "branch", "scope"))
        name = f"{kind}{rnd.randint(0, 2)}"
        if kind == "branch":
            rows.append(RowTemplate("branch", "J", branch=str(rnd.randint(0, 2)), needed=2))
            continue
        ref = f"r{number}"
        rows.append(
            RowTemplate("scope" if kind == "scope" else "task", name, ref=ref, hosts_events=True)
        )
        if rnd.random() < 0.5:
            rows.append(RowTemplate("timer", f"x{name}", host=ref))
        if rnd.random() < 0.5:
            rows.append(RowTemplate("receiver", f"n{name}", attached_to=ref))
        if kind == "scope":
            rows += [RowTemplate("task", f"i{place}", inside=ref) for place in range(2)]
    return rows


class Lockstep:
    """The same operations on the model of rows and on the state of a proof."""

    def __init__(self, seed: int) -> None:
        self.rnd = random.Random(seed)
        self.world = RowWorld()
        self.world.processes["p"] = self.keep_token
        self.claimed: list[Token] = []
        self.keys: dict[int, str] = {}
        self.work = OpenWork()

    def keep_token(self, world: RowWorld, token: Token, claimed: Answer) -> Steps:
        """A segment that only begins."""
        del world, claimed
        self.claimed.append(token)
        yield
        return {}

    def run(self, steps: Steps) -> Answer:
        """An operation as a whole, and what it begins."""
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return dict(end.value)

    def play(self) -> int:
        """Play until nothing is open; returns the number of commits."""
        started = self.run(start_instance(self.world, "p", "s", {}))
        here: SegmentToken | None = start_token("s")
        there: Token | None = started["token"]
        commits = 0
        while commits < 25:
            while here is not None:
                assert there is not None
                here, there = self.commit(here, there)
                commits += 1
            self.compare()
            events = [r for r in self.work.rows if r.kind in ("task", "timer", "receiver")]
            if not events:
                break
            here, there = self.claim(self.rnd.choice(events))
        return commits

    def commit(self, here: SegmentToken, there: Token) -> tuple[SegmentToken | None, Token | None]:
        rows = random_rows(self.rnd)
        leave = "E" if self.rnd.random() < 0.1 else ""
        end = not rows or self.rnd.random() < 0.2
        first = max((row.number for row in self.work.rows), default=0) + 1
        before = len(self.world.rows)
        cells: list[Row] = [
            {
                "kind": row.kind, "element": row.element, "needed": row.needed, "due": 10**9,
                "branch": row.branch, "host": row.host, "attached_to": row.attached_to,
                **({"hosts_events": "yes"} if row.hosts_events else {}),
                **({"ref": row.ref} if row.ref else {}),
                **({"inside": row.inside} if row.inside else {}),
            }
            for row in rows
        ]  # fmt: skip
        answer = self.run(complete_steps(self.world, there, cells, {}, end=end, leave=leave))
        for place, row in enumerate(self.world.rows[before:]):
            self.keys[first + place] = row["key"]
        self.work, token = commit_segment(self.work, here, rows, end=end, leave=leave)
        assert (token is not None) == bool(answer.get("won"))
        return token, answer.get("token")

    def claim(self, row: OpenRow) -> tuple[SegmentToken | None, Token | None]:
        claimed = claim_event(self.work, row.number)
        own = row.host == -1 or not row.interrupts
        key = self.keys[row.number if own else row.host]
        self.claimed.clear()
        event = "" if row.kind == "task" else row.element
        self.run(continue_process(self.world, "p", key, "", event, {}))
        assert claimed is not None
        assert len(self.claimed) == 1
        self.work, token = claimed
        (there,) = self.claimed
        assert (token.kind, token.element, token.event) == (there.kind, there.element, there.event)
        return token, there

    def compare(self) -> None:
        """Whether the same rows are open, in the same scopes and with the same hosts."""
        live = {row["key"]: row for row in self.world.rows if row["live"] and row["scope"]}
        there = sorted(
            (row["kind"], row["element"], len(row["scope"].split("/")) - 2,
             live[row["host"]]["element"] if row["host"] else "")
            for row in live.values()
            if not row["host"] or row["host"] in live
        )  # fmt: skip
        by_number = {row.number: row for row in self.work.rows}
        here = sorted(
            (row.kind, row.element, len(row.scope),
             by_number[row.host].element if row.host != -1 else "")
            for row in self.work.rows
        )  # fmt: skip
        assert here == there
        renumbered = canonical_work(self.work)
        assert canonical_work(renumbered) == renumbered


def test_states_of_proofs_are_those_of_the_model_of_rows() -> None:
    commits = sum(Lockstep(seed).play() for seed in seeds(2000))
    assert commits > at_least(2000)
