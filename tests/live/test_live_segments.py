"""Compiled processes that wait in several places on a real server, with a scripted person: one
process for each construct."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from game_models import flows, model, node, process, sub
from orgflow.backends.n8n.server.client.client import Client
from orgflow.backends.n8n.server.client.data_tables import TableClient
from orgflow.backends.n8n.server.process import N8nServer
from orgflow.backends.n8n.waiting.installation import install_support_set
from orgflow.compilation.reading import load_model
from segment_runs import REGISTRY, Instance, SegmentServer

from orgflow_ir.model import Event, EventDefinition, Expression, MessageFlow, Model, SubProcess
from orgflow_ir.pipeline import PassContext

SECRET = "live-secret"


@pytest.fixture(scope="module")
def place(server: N8nServer, client: Client) -> Iterator[SegmentServer]:
    with TableClient(server.url, client.key, seconds=120) as connected:
        installed = install_support_set(connected, SECRET)
        made = SegmentServer(connected, installed.table, installed.workflows, SECRET)
        yield made
        made.close()
        for workflow_id in reversed(list(installed.workflows.values())):
            connected.delete(workflow_id)


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


def test_people_in_parallel_answer_in_any_order(place: SegmentServer) -> None:
    made = model(
        "start s; and f; user a; task t; user b; and j; task p; end e",
        "s f, f a, f t, t b, a j, b j, j p, p e",
    )
    instance = place.start(place.deploy(made), x=1)
    tasks = place.await_open(instance, "a", "b")
    assert "accepted" in place.answer(instance, tasks["b"])
    assert "already been answered" in place.answer(instance, tasks["b"])
    place.await_open(instance, "a", "j")
    place.answer(instance, tasks["a"])
    assert place.variables(place.await_end(instance)) == {"x": 1}


def test_only_chosen_branches_are_awaited(place: SegmentServer) -> None:
    made = model(
        "start s; or f; user a; user b; user c; or j; user d; end e",
        "s f, f a, f b, f c, a j, b j, c j, j d, d e",
    )
    arcs = tuple(
        flow.replace(default=True)
        if flow.target == "c"
        else flow.replace(condition=Expression(text=f"${{take_{flow.target} == true}}"))
        if flow.source == "f"
        else flow
        for flow in made.processes[0].flows
    )
    made = made.replace(processes=(made.processes[0].replace(flows=arcs),))
    deployed = place.deploy(made)
    for chosen, given in (("a", (True, False)), ("c", (False, False))):
        instance = place.start(deployed, take_a=given[0], take_b=given[1])
        tasks = place.await_open(instance, chosen, *["j"] * 2)
        place.answer(instance, tasks[chosen])
        place.answer(instance, place.await_open(instance, "d")["d"])
        place.await_end(instance)


def test_a_reminder_repeats_and_an_escalation_ends_the_task(place: SegmentServer) -> None:
    made = model(
        "start s; user a; task r; user b; end e; end f; end g",
        "s a, a e, m r, r f, x b, b g",
        timed("a", "m", "R2/PT1S", interrupting=False),
        timed("a", "x", "PT8S"),
    )
    instance = place.start(place.deploy(made))
    task = place.await_open(instance, "a", "m", "x")["a"]
    for _ in range(12):
        place.sweep()
        time.sleep(1)
    escalated = place.await_open(instance, "b")["b"]
    assert "already been answered" in place.answer(instance, task)
    place.answer(instance, escalated)
    rows = place.await_end(instance)
    assert sum(r["element"] == "m" and r["state"] == "done" for r in rows) == 2


def test_an_event_ends_a_sub_process_with_all_that_is_open_in_it(place: SegmentServer) -> None:
    inner = sub("S", "start is; and f; user a; user b; and j; end ie",
                "is f, f a, f b, a j, b j, j ie")  # fmt: skip
    made = model(
        "start s; user z; end e; user y; end g",
        "s S, S z, z e, m y, y g",
        inner,
        node("on S m message"),
    )
    deployed = place.deploy(made)
    instance = place.start(deployed, businessKey="left")
    tasks = place.await_open(instance, "a", "b", "m")
    place.send("m", "left")
    other = place.await_open(instance, "y")["y"]
    assert "no longer open" in place.answer(instance, tasks["a"])
    place.answer(instance, other)
    place.await_end(instance)
    instance = place.start(deployed, businessKey="done")
    tasks = place.await_open(instance, "a", "b", "m")
    for task in ("a", "b"):
        place.answer(instance, tasks[task])
    place.answer(instance, place.await_open(instance, "z")["z"])
    place.await_end(instance)


def test_an_event_sub_process_and_a_terminate_end(place: SegmentServer) -> None:
    handler = SubProcess(
        id="h",
        flavour="event",
        nodes=(node("start hs message"), node("user ht"), node("end he")),
        flows=flows("hs ht, ht he"),
    )
    made = model(
        "start s; and f; user a; user b; end e; end t terminate", "s f, f a, f b, a e, b t", handler
    )
    deployed = place.deploy(made)
    instance = place.start(deployed, businessKey="handled")
    tasks = place.await_open(instance, "a", "b", "hs")
    place.send("hs", "handled")
    handling = place.await_open(instance, "ht")["ht"]
    assert "no longer open" in place.answer(instance, tasks["a"])
    place.answer(instance, handling)
    place.await_end(instance)
    instance = place.start(deployed, businessKey="terminated")
    place.answer(instance, place.await_open(instance, "a", "b", "hs")["b"])
    place.await_end(instance)


def test_pools_exchange_messages_with_a_race(place: SegmentServer) -> None:
    buyer = process(
        "start bs; send order; race g; catch answer message; catch late timer; user thank; end be; "
        "end bl",
        "bs order, order g, g answer, g late, answer thank, thank be, late bl",
        name="buyer",
    )
    hour = EventDefinition(kind="timer", expression=Expression(text="PT1H"))
    buyer = buyer.replace(
        nodes=tuple(
            n.replace(definitions=(hour,)) if isinstance(n, Event) and n.id == "late" else n
            for n in buyer.nodes
        )
    )
    seller = process(
        "start ss message; user check; throw reply message; receive paid; end se",
        "ss check, check reply, reply paid, paid se",
        name="seller",
    )
    made = Model(
        id="M",
        processes=(buyer, seller),
        message_flows=(
            MessageFlow(id="m1", source="order", target="ss"),
            MessageFlow(id="m2", source="reply", target="answer"),
            MessageFlow(id="m3", source="thank", target="paid"),
        ),
    )
    deployed = {d.workflow["name"].split()[0]: d for d in place.deploy_all(made)}
    instance = place.start(deployed["buyer"], item="book")
    place.await_open(instance, "g", "answer", "late")
    asked = place.await_rows({"element": "check", "state": "open"}, lambda rows: len(rows) == 1)
    seller_instance = Instance(deployed["seller"], asked[0]["instance"])
    place.answer(seller_instance, asked[0])
    thanks = place.await_open(instance, "thank")["thank"]
    place.await_open(seller_instance, "paid")
    place.answer(instance, thanks)
    place.await_end(instance)
    rows = place.await_end(seller_instance)
    assert place.variables(rows)["item"] == "book"


def test_a_message_before_its_receiver_is_kept(place: SegmentServer) -> None:
    made = model(
        "start s; user a; receive r; user z; end e; end f",
        "s a, a r, r z, z e, x f",
        timed("a", "x", "PT1H"),
    )
    instance = place.start(place.deploy(made), businessKey="early")
    task = place.await_open(instance, "a", "x")["a"]
    place.send("r", "early", v=5)
    place.send("r", "other", v=6)
    place.answer(instance, task)
    place.answer(instance, place.await_open(instance, "z")["z"])
    assert place.variables(place.await_end(instance))["v"] == 5


def read_example(name: str) -> Model:
    """A model of the folder of examples."""
    path = Path(__file__).resolve().parents[2] / "examples" / name / "model.bpmn"
    loaded = load_model(str(path), REGISTRY, PassContext(registry=REGISTRY))
    assert loaded is not None
    return loaded


@pytest.mark.parametrize("name", ["employee-onboarding", "invoice-approval", "order-to-cash"])
def test_an_example_in_rows_is_published(place: SegmentServer, name: str) -> None:
    deployed = place.deploy(read_example(name), trigger="form")
    kept = place.client.workflow(deployed.ids[-1])
    assert kept["active"]
    assert [n["name"] for n in kept["nodes"]] == [n["name"] for n in deployed.workflow["nodes"]]
    assert kept["connections"] == deployed.workflow["connections"]


def test_the_example_of_parallel_approvals(place: SegmentServer) -> None:
    timers = ("goods_reminder", "goods_escalation", "amount_reminder", "amount_escalation")
    instance = place.start(place.deploy(read_example("parallel-approval")))
    tasks = place.await_open(instance, "approve_goods", "approve_amount", *timers)
    place.answer(instance, tasks["approve_amount"])
    left = place.await_open(instance, "approve_goods", *timers[:2], "approved")
    place.answer(instance, left["approve_goods"])
    rows = place.await_end(instance)
    timed_rows = [row for row in rows if row["element"] in timers]
    assert {row["state"] for row in timed_rows} == {"cancelled"}
