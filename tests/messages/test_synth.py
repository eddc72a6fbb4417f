"""`orgflowc synth`: corpora from models, their truth, seeds, stress, two languages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from bpmn_interpreter import Interpreter
from orgflow import cli
from orgflow.compilation.reading import load_model
from orgflow.evaluation.corpus import english, german
from orgflow.evaluation.discovery import read_truth

from orgflow_ir.model import Task
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

ORDER = """flowchart TD
  a([start]) --> b[Check customer order]
  b --> c{Stock there?}
  c -->|yes| d[Pack ordered goods]
  c -->|no| e[Order missing parts]
  e --> d
  d --> f[Send delivery note]
  f --> g[Customer pays the invoice]
  g --> h([end])
"""
RECHNUNG = """flowchart TD
  a([Start]) --> b[Rechnung erfassen]
  b --> c[Betrag prüfen]
  c --> d[Rechnung freigeben]
  d --> e[Zahlung anweisen]
  e --> f[Beleg ablegen]
  f --> g([Ende])
"""


def made(tmp_path: Path, text: str, *options: str, place: str = "out") -> tuple[list[Any], Any]:
    model = tmp_path / "model.mmd"
    model.write_text(text, "utf-8")
    out = tmp_path / place
    assert cli.run(["synth", str(model), "-o", str(out), *options]) == 0
    stream = (out / "messages.jsonl").read_text("utf-8")
    truth = (out / "truth.json").read_text("utf-8")
    read_truth(truth)
    return [json.loads(line) for line in stream.splitlines()], json.loads(truth)


def test_every_task_of_every_scenario_is_told(tmp_path: Path) -> None:
    messages, truth = made(tmp_path, ORDER, "--scenarios", "4", "--noise", "0.5")
    about = truth["messages"]
    assert {m["id"] for m in messages} == set(about)
    assert len(about) == len(messages)
    process = truth["processes"]["model"]
    assert len(process["scenarios"]) == 4
    assert len({tuple(s["tasks"]) for s in process["scenarios"]}) == 2, "both ways of the choice"
    for scenario in process["scenarios"]:
        told = [about[m["id"]]["tasks"] for m in messages
                if about[m["id"]]["scenario"] == scenario["scenario"]]  # fmt: skip
        order = list(dict.fromkeys(task for tasks in told for task in tasks))
        assert len(order) == len(set(scenario["tasks"]))
    noise = [m for m in messages if about[m["id"]]["process"] is None]
    assert len(noise) == pytest.approx(0.5 * (len(messages) - len(noise)), abs=1)
    dates = [m["date"] for m in messages]
    assert dates == sorted(dates)
    stream = json.dumps(messages)
    assert "model-1" not in stream
    assert "scenario" not in stream


SIDE_BY_SIDE = """flowchart TD
  a([start]) --> b[Check request]
  b --> p{+}
  p --> c[Order laptop]
  p --> d{Parking needed?}
  d -->|yes| e[Reserve parking]
  d -->|no| f[Order bus ticket]
  c --> q{+}
  e --> g{ }
  f --> g
  g --> q
  q --> h[Send welcome letter]
  h --> i([end])
"""


@pytest.mark.parametrize("text", [ORDER, SIDE_BY_SIDE], ids=["choice", "parallel"])
def test_what_is_told_are_runs_of_the_model(tmp_path: Path, text: str) -> None:
    """Against an interpreter written from the specification: every scenario of the truth is one of
    the runs that it finds, whatever stress there is, and messages tell its tasks and no others."""
    made(tmp_path, text)
    loaded = load_model(str(tmp_path / "model.mmd"), Registry(), PassContext(registry=Registry()))
    assert loaded is not None
    names = {n.id: n.name for n in loaded.processes[0].nodes if isinstance(n, Task)}
    known = {tuple(names[i] for i in run if i in names) for run in Interpreter(loaded).traces()}
    for stress in ("", "shared-staff,lost-threads,lost-roles,merged,missing,clocks"):
        _, truth = made(tmp_path, text, "--scenarios", "6", "--stress", stress, place="x" + stress)
        scenarios = truth["processes"]["model"]["scenarios"]
        runs = {tuple(one["tasks"]) for one in scenarios}
        assert runs <= known
        assert len(runs) > 1, "not one run six times"
        tasks = {one["scenario"]: set(one["tasks"]) for one in scenarios}
        for about in truth["messages"].values():
            if about["process"]:
                assert {names[i] for i in about["tasks"]} <= tasks[about["scenario"]]


def test_equal_seeds_give_equal_corpora(tmp_path: Path) -> None:
    first = made(tmp_path, ORDER, place="one")
    assert made(tmp_path, ORDER, place="two") == first
    assert made(tmp_path, ORDER, "--seed", "2", place="three") != first


def test_stress(tmp_path: Path) -> None:
    plain, truth = made(tmp_path, ORDER, "--scenarios", "8", place="plain")
    assert any("(" in m["sender"] for m in plain)
    assert any(m["thread"] for m in plain)
    bare, _ = made(tmp_path, ORDER, "--scenarios", "8", "--stress", "lost-roles,lost-threads",
                   place="bare")  # fmt: skip
    assert not any("(" in m["sender"].replace("(automated)", "") for m in bare)
    assert not any(m["thread"] or (m["subject"] or "").startswith("Re:") for m in bare)
    fewer, _ = made(tmp_path, ORDER, "--scenarios", "8", "--noise", "0", "--stress", "missing",
                    place="fewer")  # fmt: skip
    real = sum(1 for one in truth["messages"].values() if one["process"])
    assert real * 0.7 < len(fewer) < real
    _, joined = made(tmp_path, ORDER, "--scenarios", "8", "--stress", "merged", place="joined")
    assert any(len(one["tasks"]) > 1 for one in joined["messages"].values())
    assert all(_in_order(plain, truth))
    assert not all(_in_order(*made(tmp_path, ORDER, "--scenarios", "8", "--stress", "clocks",
                                   place="late")))  # fmt: skip


def _in_order(messages: list[Any], truth: Any) -> list[bool]:
    """For each scenario: whether its messages stand in the order of its tasks."""
    about = [truth["messages"][m["id"]] for m in messages]
    names = {
        "b": "Check customer order", "d": "Pack ordered goods", "e": "Order missing parts",
        "f": "Send delivery note", "g": "Customer pays the invoice",
    }  # fmt: skip
    found = []
    for scenario in truth["processes"]["model"]["scenarios"]:
        told = [names[a["tasks"][0]] for a in about if a["scenario"] == scenario["scenario"]]
        places = [scenario["tasks"].index(name) for name in told]
        found.append(places == sorted(places))
    return found


def test_staff_is_shared_between_processes(tmp_path: Path) -> None:
    two = tmp_path / "other.mmd"
    two.write_text(RECHNUNG.replace("Rechnung", "Bericht"), "utf-8")

    def both(*options: str) -> set[str]:
        messages, truth = made(tmp_path, ORDER, str(two), "--noise", "0", "--scenarios", "6",
                               *options, place="shared" if options else "apart")  # fmt: skip
        people: dict[str, set[str]] = {"model": set(), "other": set()}
        for m in messages:
            people[truth["messages"][m["id"]]["process"]].add(m["sender"].partition(" (")[0])
        return (people["model"] & people["other"]) - {"Workflow System"}

    assert not both()
    shared = [bool(both("--stress", "shared-staff", "--seed", str(seed))) for seed in range(6)]
    assert any(shared)


def test_an_unknown_stress(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "m.mmd"
    model.write_text(ORDER)
    assert cli.run(["synth", str(model), "-o", str(tmp_path / "o"), "--stress", "lost-thread"]) == 2
    assert "lost-threads" in capsys.readouterr().err


def test_german(tmp_path: Path) -> None:
    messages, _ = made(tmp_path, RECHNUNG, "--language", "de", "--scenarios", "4")
    text = " ".join(m["body"] for m in messages)
    assert " the " not in text
    assert " und " in text
    assert "geprüft" in text or "prüfen" in text


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Check stock", ("", "check", "stock")),
        ("customer selects a product", ("customer", "select", "a product")),
        ("CRS hands out a repair cost calculation",
         ("CRS", "hand", "out a repair cost calculation")),
        ("Claim is examined by a claims officer", ("a claims officer", "examine", "Claim")),
        ("Payment is prepared", ("", "prepare", "Payment")),
        ("Log into the game", ("", "log", "into the game")),
        ("Set up IT accounts", ("", "set up", "IT accounts")),
        ("Hand washing", ("", "hand", "washing")),
        ("Orientation meeting", ("", "do", "Orientation meeting")),
        ("Login", ("", "do", "Login")),
        ("Send requirements to the irish team", ("", "send", "requirements to the irish team")),
        ("invite friends to course", ("", "invite", "friends to course")),
        ("Ask what is needed", ("", "ask", "what is needed")),
        ("Kitchen prepares food", ("Kitchen", "prepare", "food")),
        ("Customer searches for ticket", ("Customer", "search", "for ticket")),
        ("Senior claims officer marks the claim", ("Senior claims officer", "mark", "the claim")),
        ("Supervisor approve or reject the request",
         ("Supervisor", "approve", "or reject the request")),
        ("Employee can check rejection reasons", ("Employee", "check", "rejection reasons")),
        ("Sent plane to customer", ("", "send", "plane to customer")),
        ("Conducts formal review", ("", "conduct", "formal review")),
        ("MPOO confirmes the dismissal", ("MPOO", "confirm", "the dismissal")),
        ("Ultrasound configuration", ("", "do", "Ultrasound configuration")),
        ("Successful delivery", ("", "do", "Successful delivery")),
        ("Flight test", ("", "do", "Flight test")),
        ("Withdraw", ("", "withdraw", "")),
        ("Enter credit card information", ("", "enter", "credit card information")),
        ("Manager gives order to sommelier", ("Manager", "give", "order to sommelier")),
        ("Address customer concerns or questions",
         ("", "address", "customer concerns or questions")),
        ("Parts are transferred", ("", "transfer", "Parts")),
    ],
)  # fmt: skip
def test_names_of_tasks_in_english(name: str, expected: tuple[str, str, str]) -> None:
    assert english.divide_name(name) == expected


@pytest.mark.parametrize(
    ("verb", "expected"),
    [("prüfen", "geprüft"), ("freigeben", "freigegeben"), ("erfassen", "erfasst"),
     ("anweisen", "angewiesen"), ("ablegen", "abgelegt"), ("reparieren", "repariert"),
     ("versenden", "versendet"), ("bearbeiten", "bearbeitet"), ("antworten", "geantwortet")],
)  # fmt: skip
def test_german_participles(verb: str, expected: str) -> None:
    assert german.form_participle(verb) == expected


@pytest.mark.parametrize(
    ("verb", "expected"),
    [("check", ("checked", "checked")), ("plan in", ("planned in", "planned in")),
     ("write", ("wrote", "written")), ("carry out", ("carried out", "carried out")),
     ("transmit", ("transmitted", "transmitted")), ("reset", ("reset", "reset"))],
)  # fmt: skip
def test_english_pasts(verb: str, expected: tuple[str, str]) -> None:
    assert english.form_past(verb) == expected


def test_english_gerunds() -> None:
    verbs = ("begin", "write", "carry out", "agree", "transmit")
    assert [english.form_gerund(verb) for verb in verbs] == [
        "beginning", "writing", "carrying out", "agreeing", "transmitting",
    ]  # fmt: skip
