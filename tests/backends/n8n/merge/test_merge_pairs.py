"""Every pair of an edit and a change: nothing is lost, only real conflicts are refused."""

from __future__ import annotations

import copy
import json
from functools import cache
from typing import Any

import pytest
from merge_pairs import CHANGES, EDITS, ORDER, Drawn, Edit, expected, lost, of
from orgflow.backends.n8n.backend import N8nBackend
from orgflow.backends.n8n.merge.three_way_merge import merge_workflows
from orgflow.backends.n8n.verify.reference import compile_references
from orgflow.backends.n8n.verify.verify import verify_process
from orgflow.compilation.reading import select_frontend
from orgflow.compiler import compile_model

from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.targets.artifact import Emitted

Json = dict[str, Any]
REGISTRY = Registry(outside=False)


@cache
def compiled(name: str) -> tuple[Model, Emitted, str]:
    drawn: Drawn = CHANGES.get(name, ORDER)
    ctx = PassContext(registry=REGISTRY)
    source = SourceFile(path="order.bpmn", data=drawn.bpmn().encode())
    frontend, _ = select_frontend(source, REGISTRY, ctx, None) or (None, None)
    assert frontend is not None
    model = frontend.parse(source, ctx)
    assert model is not None
    made = compile_model(model, N8nBackend(), ctx)
    assert made is not None, [d.message for d in ctx.diagnostics]
    return model, made, made.artifacts[0].text


def is_different(name: str, workflow: Json) -> str:
    model, emitted, _ = compiled(name)
    ctx = PassContext(registry=REGISTRY)
    against = compile_references(model, ctx, emitted)["order"]
    found = verify_process(model, against.process, workflow, ctx, against=against)
    return found.difference.message if found.difference is not None else ""


def removed(name: str) -> set[str]:
    return {*ORDER.tasks, *ORDER.gateways} - {*CHANGES[name].tasks, *CHANGES[name].gateways}


def touched(name: str) -> set[str]:
    """Elements whose flows, name or labels the change is about."""
    now = CHANGES[name]
    flows = set(ORDER.flows) ^ set(now.flows)
    names = {i for i, n in {**ORDER.tasks, **ORDER.gateways}.items()
             if {**now.tasks, **now.gateways}.get(i) != n}  # fmt: skip
    return {end for a, b, _ in flows for end in (a, b)} | names


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", EDITS)
def test_pair(kind: str, change: str) -> None:
    edit: Edit = EDITS[kind]
    base, ours = (json.loads(compiled(name)[2]) for name in ("", change))
    theirs = copy.deepcopy(base)
    edit.do(theirs)
    assert theirs != base
    found = merge_workflows(base, theirs, ours)
    _, clashes = expected(base, theirs, ours)
    both = (edit.works & removed(change)) | clashes
    if found.conflicts:
        for conflict in found.conflicts:
            assert all((conflict.name, conflict.workflow, conflict.model, conflict.help)), conflict
        assert (
            both or (edit.breaks and edit.near & touched(change)) or (edit.near & removed(change))
        ), found.conflicts
        return
    if kind.split()[0] in ("fill", "read"):
        assert not edit.works & removed(change), "a person's work goes without a word"
    assert not clashes, (clashes, "a conflict was not seen")
    assert lost(edit, base, theirs, ours, found.workflow) == []
    different = is_different(change, found.workflow)
    if different:
        assert is_different("", theirs) or edit.breaks, different


def test_edits_break_what_they_are_said_to() -> None:
    for kind, edit in EDITS.items():
        theirs = json.loads(compiled("")[2])
        edit.do(theirs)
        assert bool(is_different("", theirs)) is edit.breaks, kind


def test_the_expectation_notices_what_is_lost() -> None:
    base, ours = (json.loads(compiled(name)[2]) for name in ("", "rename check"))
    theirs = copy.deepcopy(base)
    EDITS["fill ship with credential"].do(theirs)
    found = merge_workflows(base, theirs, ours).workflow
    edit = EDITS["fill ship with credential"]
    assert lost(edit, base, theirs, ours, found) == []
    for harm in (
        lambda w: of(w, "ship").pop("credentials"),
        lambda w: of(w, "ship").update(parameters={}),
        lambda w: of(w, "check").update(name="Check"),
        lambda w: w["nodes"].remove(of(w, "bill")),
        lambda w: w["nodes"].append(copy.deepcopy(of(w, "bill"))),
    ):
        broken = copy.deepcopy(found)
        harm(broken)
        assert lost(edit, base, theirs, ours, broken) != []


def test_every_change_is_another_workflow() -> None:
    texts = {name: compiled(name)[2] for name in ("", *CHANGES)}
    assert len(set(texts.values())) == len(texts)
