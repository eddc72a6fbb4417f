"""Models whose ids are a drawing tool's defaults, deployed by the command: who overwrites whom.

The scenarios run before a stand-in and before real n8n; each gets a way to call `orgflowc deploy`,
a way to see the server's workflows, and an empty folder.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cli_cases import Ran

Deploy = Callable[..., Ran]
Rows = Callable[[], Sequence[dict[str, Any]]]

ORDER = ("Take order", "Ship order", "Send bill")
INVOICE = ("Check invoice", "Pay invoice")


def model(
    file: Path, steps: Sequence[str], process: str = "Process_1", name: str = "", element: str = ""
) -> Path:
    """Write a model of a sequence of tasks; `element` is what ids of tasks begin with."""
    ids = [f"{element or 'Activity_'}{number}" for number in range(len(steps))]
    chain = ["StartEvent_1", *ids, "EndEvent_1"]
    tasks = [f'<task id="{i}" name="{step}"/>' for i, step in zip(ids, steps, strict=True)]
    flows = [
        f'<sequenceFlow id="Flow_{n}" sourceRef="{a}" targetRef="{b}"/>'
        for n, (a, b) in enumerate(itertools.pairwise(chain))
    ]
    start = '<startEvent id="StartEvent_1" name="Start"><messageEventDefinition/></startEvent>'
    text = "\n".join(
        [
            '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="Definitions_1"',
            f' targetNamespace="t"><process id="{process}" name="{name}" isExecutable="true">',
            start, *tasks, '<endEvent id="EndEvent_1"/>', *flows, "</process></definitions>",
        ]
    )  # fmt: skip
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def did(ran: Ran) -> list[str]:
    """What was done: `created`, `updated` or `unchanged` each."""
    return [line.split()[0] for line in ran.out.splitlines()]


def refused(ran: Ran, code: str) -> None:
    assert ran.code == 1, ran.err
    assert ran.err.count("error OF") == 1
    assert f"error {code}" in ran.err


def names(rows: Rows) -> list[str]:
    return sorted(str(row["name"]) for row in rows())


def contents(rows: Rows) -> str:
    return json.dumps([(row["name"], row["nodes"]) for row in rows()])


def same_name_in_two_folders(deploy: Deploy, rows: Rows, folder: Path) -> None:
    one = model(folder / "a/order.bpmn", ORDER)
    other = model(folder / "b/order.bpmn", INVOICE)
    assert did(deploy(one)) == ["created"]
    before = contents(rows)
    ran = deploy(other)
    refused(ran, "OF620")
    assert "a/order.bpmn" in ran.err
    assert "--as" in ran.err
    assert "leave" in deploy(other, "--dry-run").out
    assert contents(rows) == before
    # Three ways on: a name for this deploy, one in the model, or overwriting.
    assert did(deploy(other, "--as", "Invoices")) == ["created"]
    assert did(deploy(other, "--as", "Invoices")) == ["unchanged"]
    refused(deploy(model(other, INVOICE, name="Pay")), "OF621")  # `Invoices` is made from it
    third = model(folder / "c/order.bpmn", INVOICE, name="Pay invoices")
    assert did(deploy(third)) == ["created"]
    assert names(rows) == ["Invoices", "Pay invoices", "order"]
    assert did(deploy(model(other, INVOICE), "--take-over")) == ["updated"]
    assert names(rows) == ["Invoices", "Pay invoices", "order"]
    refused(deploy(one), "OF620")


def same_name_and_most_steps_in_two_folders(deploy: Deploy, rows: Rows, folder: Path) -> None:
    """A copy of a template: the steps do not tell, but the other file is still there."""
    one = model(folder / "a/request.bpmn", ORDER)
    other = model(folder / "b/request.bpmn", ORDER)
    deploy(one)
    assert did(deploy(other)) == ["unchanged"]
    model(other, (*ORDER, "File it"))
    refused(deploy(other), "OF620")
    assert names(rows) == ["request"]


def another_process_from_nowhere(deploy: Deploy, rows: Rows, folder: Path) -> None:
    """The other file is not there: the steps alone tell."""
    one = model(folder / "a/order.bpmn", ORDER)
    deploy(one)
    one.unlink()
    ran = deploy(model(folder / "b/order.bpmn", INVOICE))
    refused(ran, "OF620")
    assert "hardly any step" in " ".join(ran.err.split())
    assert names(rows) == ["order"]


def in_one_command(deploy: Deploy, rows: Rows, folder: Path) -> None:
    one = model(folder / "a/order.bpmn", ORDER)
    other = model(folder / "b/order.bpmn", INVOICE)
    ran = deploy(one, other)
    refused(ran, "OF613")
    assert did(ran) == ["created"]
    assert "Take order" in contents(rows)
    refused(deploy(one, other, "--take-over"), "OF613")
    assert "Take order" in contents(rows)


def normal_edits(deploy: Deploy, rows: Rows, folder: Path) -> None:
    file = model(folder / "a/order.bpmn", ORDER)
    deploy(file)
    for steps in (
        (*ORDER, "Ask for opinion"),  # added
        (*ORDER[1:], "Ask for opinion"),  # removed
        ("Ship the goods", "Bill", "Ask for opinion"),  # renamed
        ("Ship the goods",),  # most removed
        (*ORDER, "Ship the goods", *INVOICE),  # many added
    ):
        ran = deploy(model(file, steps))
        assert did(ran) == ["updated"], ran.err
        assert "OF62" not in ran.err
    # All renamed: their ids were made for them, so it is the same process.
    file = model(folder / "a/drawn.bpmn", ORDER, element="Activity_0k2jx1")
    assert did(deploy(file)) == ["created"]
    ran = deploy(model(file, INVOICE, element="Activity_0k2jx1"))
    assert did(ran) == ["updated"], ran.err
    assert names(rows) == ["drawn", "order"]


def moved(deploy: Deploy, rows: Rows, folder: Path) -> None:
    file = model(folder / "a/order.bpmn", ORDER)
    deploy(file)
    (folder / "b").mkdir()
    file = file.rename(folder / "b/order.bpmn")
    ran = deploy(file)
    assert did(ran) == ["unchanged"]
    assert "OF62" not in ran.err
    model(file, (*ORDER, "File it"))
    ran = deploy(file)
    assert did(ran) == ["updated"]
    assert "warning OF622" in ran.err
    assert "a/order.bpmn" in ran.err
    model(file, (*ORDER, "File it", "Shelve it"))
    ran = deploy(file)
    assert did(ran) == ["updated"]
    assert "OF62" not in ran.err, "told once"
    assert names(rows) == ["order"]


def renamed_file(deploy: Deploy, rows: Rows, folder: Path) -> None:
    file = model(folder / "a/order.bpmn", ORDER)
    deploy(file)
    (before,) = rows()
    file = file.rename(folder / "a/sales.bpmn")
    ran = deploy(file)
    refused(ran, "OF621")
    assert f"`order` (id {before['id']})" in " ".join(ran.err.split())
    refused(deploy(model(file, (*ORDER, "File it"))), "OF621")
    assert deploy(file, "--dry-run").out.startswith("leave ")
    assert names(rows) == ["order"]
    assert did(deploy(file, "--take-over")) == ["updated"]
    (after,) = rows()
    assert (after["id"], after["name"]) == (before["id"], "sales")
    assert did(deploy(file)) == ["unchanged"]
    # On purpose a second one, and a copy whose original is still there.
    assert did(deploy(file, "--as", "Sales, too")) == ["created"]
    assert did(deploy(model(folder / "a/other.bpmn", ORDER))) == ["created"]
    assert names(rows) == ["Sales, too", "other", "sales"]


def renamed_process(deploy: Deploy, rows: Rows, folder: Path) -> None:
    file = model(folder / "a/order.bpmn", ORDER, name="Order")
    deploy(file)
    for process, name in (("Process_1", "Selling"), ("selling", "Order")):
        refused(deploy(model(file, ORDER, process, name)), "OF621")
    assert did(deploy(file, "--take-over")) == ["updated"]
    assert names(rows) == ["Order"]
    # Another process in the same file is another one.
    assert did(deploy(model(file, INVOICE, "invoice", "Invoice"))) == ["created"]


def several_at_once(deploy: Deploy, rows: Rows, folder: Path) -> None:
    """Copies of one model in one command, and again: each is one of its own."""
    files = [model(folder / f"a/order{number}.bpmn", ORDER) for number in range(3)]
    assert did(deploy(*files)) == ["created"] * 3
    assert did(deploy(*files)) == ["unchanged"] * 3
    assert len(rows()) == 3


def piped_one_after_the_other(deploy: Deploy, rows: Rows, folder: Path) -> None:
    for steps, code in ((ORDER, 0), (INVOICE, 1)):
        text = model(folder / "a/x.bpmn", steps).read_text(encoding="utf-8")
        ran = deploy("-", "--from", "bpmn", stdin=text)
        assert ran.code == code, ran.err
    assert "error OF620" in ran.err
    assert "Take order" in contents(rows)


ORIGINS = (
    same_name_in_two_folders, same_name_and_most_steps_in_two_folders,
    another_process_from_nowhere, in_one_command, normal_edits, moved, renamed_file,
    renamed_process, several_at_once, piped_one_after_the_other,
)  # fmt: skip
