"""`orgflowc compile --merge` from the outside, one situation a test."""

from __future__ import annotations

import base64
import copy
import hashlib
import importlib
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_cases import Ran
from orgflow import cli
from orgflow.backends.n8n.format import merge_base
from orgflow.backends.n8n.format.identity import read_map
from orgflow.backends.n8n.merge.three_way_merge import merge_workflows
from orgflow.backends.n8n.server.deploy.deployment_plan import is_as_compiled
from verify_edits import node, pasted, renamed, without

Json = dict[str, Any]
Invoke = Callable[..., Ran]

KNOWN_PHRASES = 44
"""So many phrases have a number for good, and this is the digest of their text."""
KNOWN_DIGEST = "10a3ebbb2b69dbd4"

TASKS = ("Check stock", "Pack goods", "Ship order", "Send invoice")


def bpmn(*tasks: str, start: str = "Order received") -> str:
    """A process of these tasks in a row; the id of a task is that of its place in `TASKS`."""
    ids = ["start", *(f"t_{TASKS.index(t.split(':')[0])}" for t in tasks), "end"]
    names = [t.split(":")[-1] for t in tasks]
    rows = [f'<userTask id="{i}" name="{n}" />' for i, n in zip(ids[1:-1], names, strict=True)]
    flows = [
        f'<sequenceFlow id="f{n}" sourceRef="{a}" targetRef="{b}" />'
        for n, (a, b) in enumerate(itertools.pairwise(ids))
    ]
    return f"""<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d"
        targetNamespace="https://example.org"><message id="m" name="Order"/>
        <process id="order" name="Order" isExecutable="true">
        <startEvent id="start" name="{start}"><messageEventDefinition messageRef="m"/></startEvent>
        {"".join(rows)}<endEvent id="end" name="Done" />{"".join(flows)}</process></definitions>"""


@pytest.fixture
def invoke(capfdbinary: pytest.CaptureFixture[bytes]) -> Invoke:
    def run(*args: str | Path) -> Ran:
        code = cli.run([str(a) for a in args])
        found = capfdbinary.readouterr()
        return Ran(code, found.out.decode(), found.err.decode())

    return run


TARGET = "n8n{people=placeholder}"
"""Runs are played by what placeholders put out."""


class Bench:
    """A model and its workflow in a folder."""

    def __init__(self, invoke: Invoke, folder: Path, *tasks: str, **more: str) -> None:
        self.invoke, self.folder = invoke, folder
        self.model, self.file = folder / "order.bpmn", folder / "order.json"
        self.set_model(*tasks, **more)
        made = invoke("compile", self.model, "--target", TARGET, "-o", self.file)
        assert made.code == 0, made.err

    def set_model(self, *tasks: str, **more: str) -> None:
        self.model.write_text(bpmn(*(tasks or TASKS[:3]), **more), "utf-8")

    @property
    def workflow(self) -> Json:
        found: Json = json.loads(self.file.read_text("utf-8"))
        return found

    @workflow.setter
    def workflow(self, value: Json) -> None:
        self.file.write_text(json.dumps(value), "utf-8")

    def merge(self, *args: str) -> Ran:
        return self.invoke(
            "compile", self.model, "--target", TARGET, "--merge", self.file, *args
        )  # fmt: skip

    def merged(self) -> Json:
        ran = self.merge()
        assert ran.code == 0, ran.err
        found: Json = json.loads(ran.out)
        return found

    def refused(self, code: str, *words: str) -> None:
        before = self.file.read_bytes()
        ran = self.merge("-o", str(self.file))
        said = " ".join(ran.err.split())
        assert ran.code == 1
        assert not ran.out
        for word in (code, *words):
            assert word in said, said
        assert self.file.read_bytes() == before


@pytest.fixture
def bench(invoke: Invoke, tmp_path: Path) -> Bench:
    return Bench(invoke, tmp_path)


def filled(workflow: Json, name: str, code: str = "return $input.all();") -> Json:
    found = copy.deepcopy(workflow)
    node(found, name).update(
        type="n8n-nodes-base.code", typeVersion=2, parameters={"jsCode": code}
    )  # fmt: skip
    return found


def put_between(workflow: Json, source: str, name: str) -> Json:
    found = copy.deepcopy(workflow)
    main = found["connections"][source]["main"]
    found["connections"][name] = {"main": [main[0]]}
    main[0] = [{"node": name, "type": "main", "index": 0}]
    found["nodes"].append(
        {"id": name, "name": name, "type": "n8n-nodes-base.code", "typeVersion": 2,
         "position": [9, 9], "parameters": {"jsCode": "return $input.all();"}}
    )  # fmt: skip
    return found


def order(workflow: Json) -> list[str]:
    """The nodes from the trigger on."""
    at = next(n["name"] for n in workflow["nodes"] if n["type"].endswith(".webhook"))
    found = [at]
    while at in workflow["connections"]:
        (end,) = workflow["connections"][at]["main"][0]
        at = end["node"]
        found.append(at)
    return found


def test_both_sides_arrive(bench: Bench) -> None:
    bench.workflow = put_between(filled(bench.workflow, "Pack goods"), "Pack goods", "Log")
    bench.set_model("Check stock:Look into stock", *TASKS[1:])
    found = bench.merged()
    assert order(found) == [
        "Order received", "Look into stock", "Pack goods", "Log", "Ship order", "Send invoice",
        "Done",
    ]  # fmt: skip
    assert node(found, "Pack goods")["type"] == "n8n-nodes-base.code"


def test_merged_again_and_again(bench: Bench) -> None:
    """Each merge leaves its own compile as the base of the next."""
    bench.workflow = filled(bench.workflow, "Pack goods")
    for tasks in (TASKS, ("Check stock", "Pack goods:Pack it", "Ship order"), TASKS[1:3]):
        bench.set_model(*tasks)
        assert bench.merge("-o", str(bench.file)).code == 0
        assert bench.merged() == bench.workflow
    assert order(bench.workflow) == ["Order received", "Pack goods", "Ship order", "Done"]
    assert node(bench.workflow, "Pack goods")["type"] == "n8n-nodes-base.code"


def test_filled_and_removed(bench: Bench) -> None:
    bench.workflow = filled(bench.workflow, "Pack goods")
    bench.set_model("Check stock", "Ship order")
    bench.refused(
        "N8N001",
        "`Pack goods`: in the workflow a Code node",
        "in the model `Pack goods` was removed",
    )


def test_renamed_on_both_sides(bench: Bench) -> None:
    bench.workflow = renamed(bench.workflow, "Ship order", "Call DHL")
    bench.set_model("Check stock", "Pack goods", "Ship order:Send parcel")
    bench.refused("N8N001", "renamed to `Call DHL`", "in the model it is called `Send parcel`")


def test_references_follow(bench: Bench) -> None:
    code = "return [{json: {was: $('Check stock').first().json}}];"
    bench.workflow = filled(bench.workflow, "Ship order", code)
    bench.set_model("Check stock:It's in {{stock}}?", "Pack goods", "Ship order")
    text = node(bench.merged(), "Ship order")["parameters"]["jsCode"]
    assert "$('It\\'s in {\\u007bstock}\\u007d?')" in text
    bench.set_model("Pack goods", "Ship order")
    bench.refused("N8N001", "`Ship order`: in the workflow an expression reads `Check stock`",
                  "`Check stock` was removed")  # fmt: skip


def test_a_node_between_two_that_are_no_neighbours_any_more(bench: Bench) -> None:
    bench.workflow = put_between(bench.workflow, "Check stock", "Log")
    bench.set_model("Check stock", "Send invoice", "Pack goods", "Ship order")
    ran = bench.merge()
    assert order(json.loads(ran.out))[1:4] == ["Check stock", "Log", "Send invoice"]
    assert "N8N003" in ran.err
    bench.set_model("Pack goods", "Ship order")
    assert order(bench.merged())[:3] == ["Order received", "Log", "Pack goods"]
    bench.set_model("Ship order")
    bench.refused("N8N001", "between `Check stock` and `Pack goods`", "was removed")


def test_the_address_that_callers_know_stays(bench: Bench) -> None:
    path = node(bench.workflow, "Order received")["parameters"]["path"]
    bench.set_model(start="Something ordered")
    start = node(bench.merged(), "Something ordered")
    assert start["parameters"]["path"] == path


def test_deleted_steps_are_no_merge(bench: Bench) -> None:
    """What the person's own edit breaks, `verify` says; nothing is written."""
    bench.workflow = without(bench.workflow, "Pack goods")
    bench.set_model(*TASKS)
    ran = bench.merge("-o", str(bench.file))
    assert ran.code == 1
    assert "OF480" in ran.err or "different" in ran.err
    assert "Pack goods" not in order(bench.workflow)


def test_without_a_base(bench: Bench) -> None:
    flow = put_between(filled(bench.workflow, "Pack goods"), "Pack goods", "Log")
    for row in flow["nodes"]:
        content = row["parameters"].get("content", "")
        row["parameters"] |= (
            {"content": content.partition("[orgflow]: # (orgflow-base")[0]} if content else {}
        )
    bench.workflow = flow
    bench.set_model("Check stock:Look into stock", "Pack goods", "Send invoice")
    ran = bench.merge()
    assert ran.code == 0, ran.err
    assert "N8N002" in ran.err
    found = json.loads(ran.out)
    assert order(found) == [
        "Order received", "Look into stock", "Pack goods", "Log", "Send invoice", "Done",
    ]  # fmt: skip
    assert node(found, "Pack goods")["type"] == "n8n-nodes-base.code"
    bench.set_model("Check stock")
    bench.refused("N8N001", "`Pack goods` was removed")


def test_a_base_in_another_form_is_none(bench: Bench) -> None:
    flow = filled(bench.workflow, "Pack goods")
    for row in flow["nodes"]:
        content = row["parameters"].get("content", "")
        if "orgflow-base" in content:
            row["parameters"]["content"] = content.replace(
                merge_base.BASE_PREFIX, "orgflow-base 1 "
            )
    bench.workflow = flow
    ran = bench.merge()
    assert ran.code == 0
    assert "no readable record of its compiled form" in " ".join(ran.err.split())
    assert node(json.loads(ran.out), "Pack goods")["type"] == "n8n-nodes-base.code"


@pytest.fixture
def long(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """As if the base were too long for a note."""
    for module in (
        merge_base,
        importlib.import_module("orgflow.backends.n8n.emit.model_compilation"),
    ):
        monkeypatch.setattr(module, "MOST_CHARACTERS", 100)
    bench.invoke("compile", bench.model, "--target", TARGET, "-o", bench.file)
    return bench


def base_file(bench: Bench) -> Path:
    (kept,) = (bench.folder / ".orgflow").iterdir()
    return kept


def test_a_long_base_is_in_a_file(long: Bench) -> None:
    assert "orgflow-base-file" in long.file.read_text("utf-8")
    assert f"`{merge_base.BASE_PREFIX}" not in long.file.read_text("utf-8")
    long.workflow = filled(long.workflow, "Pack goods")
    for tasks in (("Check stock:Look into stock", *TASKS[1:3]), TASKS, TASKS[1:3]):
        before = base_file(long).read_text("ascii")
        long.set_model(*tasks)
        ran = long.merge("-o", str(long.file))
        assert ran.code == 0, ran.err
        assert "N8N002" not in ran.err
        assert base_file(long).read_text("ascii") != before, "the base of the next merge"
    assert order(long.workflow) == ["Order received", "Pack goods", "Ship order", "Done"]
    assert node(long.workflow, "Pack goods")["type"] == "n8n-nodes-base.code"


def _missing(kept: Path, _: Bench) -> None:
    kept.unlink()


def _no_text(kept: Path, _: Bench) -> None:
    kept.write_bytes(b"\xff\xfe" * 40)


def _cut_off(kept: Path, _: Bench) -> None:
    kept.write_text(kept.read_text("ascii")[:-40], "ascii")


def _of_another_workflow(kept: Path, bench: Bench) -> None:
    other = bpmn("Send invoice").replace('id="order" name="Order"', 'id="bill" name="Bill"')
    (bench.folder / "bill.bpmn").write_text(other, "utf-8")
    bench.invoke(
        "compile",
        bench.folder / "bill.bpmn",
        "--target",
        TARGET,
        "-o",
        bench.folder / "bill.json",
    )
    (its,) = (one for one in kept.parent.iterdir() if one != kept)
    its.replace(kept)


def _of_a_later_compile(kept: Path, bench: Bench) -> None:
    """Compiled into another file, without a merge: what the model has more since then was not
    taken out by a person."""
    bench.set_model(*TASKS)
    bench.invoke(
        "compile",
        bench.model,
        "--target",
        TARGET,
        "-o",
        bench.folder / "new.json",
    )
    assert kept.is_file()


@pytest.mark.parametrize(
    "harm",
    [_missing, _no_text, _cut_off, _of_another_workflow, _of_a_later_compile],
    ids=lambda harm: harm.__name__.strip("_"),
)
def test_a_file_that_does_not_keep_the_base(
    long: Bench, harm: Callable[[Path, Bench], None]
) -> None:
    long.workflow = filled(long.workflow, "Pack goods")
    harm(base_file(long), long)
    long.set_model(*TASKS)
    ran = long.merge()
    assert ran.code == 0, ran.err
    assert "N8N002" in ran.err
    found = json.loads(ran.out)
    assert order(found) == ["Order received", *TASKS, "Done"]
    assert node(found, "Pack goods")["type"] == "n8n-nodes-base.code"


def test_a_compile_whose_base_is_in_a_file_is_known_as_one(long: Bench) -> None:
    assert is_as_compiled(long.workflow)
    assert not is_as_compiled(filled(long.workflow, "Pack goods"))


def test_what_would_change(bench: Bench) -> None:
    bench.workflow = filled(bench.workflow, "Pack goods")
    bench.set_model("Check stock:Look into stock", "Pack goods", "Ship order")
    before = bench.file.read_bytes()
    ran = bench.merge("--dry-run", "-o", str(bench.file))
    assert ran.code == 0
    assert "from the model:\n    `Check stock` is called `Look into stock`" in ran.out
    assert "kept from the workflow:\n    `Pack goods` is a Code node" in ran.out
    assert bench.file.read_bytes() == before
    bench.set_model("Ship order")
    ran = bench.merge("--dry-run")
    assert ran.code == 1
    assert "conflict: `Pack goods`: in the workflow" in ran.out


def test_another_file(bench: Bench, invoke: Invoke, tmp_path: Path) -> None:
    for text, word in (("{", "not JSON"), ("{}", "no n8n workflow")):
        bench.file.write_text(text, "utf-8")
        ran = bench.merge()
        assert (ran.code, ran.out) == (1, "")
        assert "N8N004" in ran.err
        assert word in " ".join(ran.err.split())
    assert bench.merge("--check", str(bench.file)).code == 2
    assert invoke("compile", bench.model, "--target", TARGET, "--dry-run").code == 2


def test_a_copy_stays_a_copy(bench: Bench) -> None:
    flow = pasted(bench.workflow, "Pack goods", "Pack goods1")
    merged = merge_workflows(bench.workflow, flow, {**bench.workflow, "name": "Orders"})
    assert not merged.conflicts
    assert {n["name"] for n in merged.workflow["nodes"]} == {n["name"] for n in flow["nodes"]}
    assert merged.workflow["name"] == "Orders"


@pytest.mark.parametrize("text", ["", "QlpoOTFBWSZTWQ==", "AAAA", "!", "QlpoOUFZ" * 900, "gICA"])
def test_a_base_that_was_edited_is_none(text: str) -> None:
    assert merge_base.unpack_base(text) is None


def test_a_base_that_unpacks_to_too_much_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = merge_base.pack_base({"name": "isExecuted ? " * 50, "nodes": [], "connections": {}})
    assert merge_base.unpack_base(packed) is not None
    monkeypatch.setattr(merge_base, "MOST_BYTES", 100)
    assert merge_base.unpack_base(packed) is None
    bomb = base64.b64encode(b"\x80" * 1_000_000).decode()  # 223 MB
    monkeypatch.undo()
    assert merge_base.unpack_base(bomb) is None


def test_packing_shortens(bench: Bench) -> None:
    """By the phrases that compiled workflows hold: where their texts change, add to the list."""
    packed = merge_base.pack_base(bench.workflow)
    assert len(packed) < 0.7 * len(json.dumps(bench.workflow, separators=(",", ":")))


def test_a_long_base_is_cut_where_no_phrase_goes_on() -> None:
    row = merge_base._ROW_START
    assert all(row not in phrase[:-1] for phrase in merge_base._PHRASES if row in phrase)
    names = [f"isExecuted ? {n} first().json, " for n in range(20_000)]
    whole = '["' + row.join(names) + '"]'
    parts = [*merge_base._cut_rows(whole)]
    assert len(parts) > 5
    assert "".join(parts) == whole
    assert "".join(map(merge_base._mark_phrases, parts)) == merge_base._mark_phrases(whole)


def test_phrases_keep_their_numbers() -> None:
    """Notes hold them: a phrase is added at the end, and none is changed."""
    first = "\n".join(merge_base._PHRASES[:KNOWN_PHRASES])
    assert hashlib.sha256(first.encode()).hexdigest()[:16] == KNOWN_DIGEST


def test_a_base_is_what_was_packed(bench: Bench) -> None:
    flow = bench.workflow
    packed = merge_base.packed_base(
        str(row["parameters"].get("content", "")) for row in flow["nodes"]
    )
    assert packed is not None
    found = merge_base.unpack_base(packed)
    assert found is not None
    assert merge_base.pack_base(found) == merge_base.pack_base(flow) == packed
    assert found["connections"] == flow["connections"]
    assert [n["parameters"] for n in found["nodes"] if "content" not in n["parameters"]] == [
        n["parameters"] for n in flow["nodes"] if "content" not in n["parameters"]
    ]


def test_the_notes_of_an_earlier_version_become_one(bench: Bench) -> None:
    """Version 0.1 wrote the map as code, into a note of its own, and no base."""
    flow = filled(bench.workflow, "Pack goods")
    (about,) = (row for row in flow["nodes"] if row["name"] == "About this workflow")
    text, _, rest = about["parameters"]["content"].partition("\n\n[orgflow]: # (")
    said = rest.partition(")\n")[0]
    about["parameters"]["content"] = text
    content = f"**For orgflow**: keep this note, it ties the nodes to the model.\n\n`{said}`"
    old_map = {**about, "id": "m", "name": "Map for orgflow", "parameters": {"content": content}}
    bench.workflow = {**flow, "nodes": [*flow["nodes"], old_map]}
    ran = bench.merge()
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    assert node(found, "Pack goods")["type"] == "n8n-nodes-base.code"
    notes = [row for row in found["nodes"] if row["type"].endswith("stickyNote")]
    assert [row["name"] for row in notes] == ["About this workflow"]
    assert read_map(enumerate(notes)).nodes == read_map(enumerate(bench.workflow["nodes"])).nodes
