"""Legalisation: it ends whatever patterns do, works in every scope, and names drawn elements."""

from __future__ import annotations

from typing import ClassVar, cast

import pytest
from orgflow.backends.asl.target import ASL_TARGET
from orgflow.backends.n8n.plan.target import N8N_TARGET

from orgflow_ir.diagnostics import Diagnostic, Related, Severity
from orgflow_ir.legalisation.legalise import legalise, ranks_below
from orgflow_ir.lowering.common import LOWERINGS, conditional_splits, mixed_gateways
from orgflow_ir.model import (
    Event,
    Expression,
    Flow,
    Gateway,
    Model,
    Node,
    Process,
    SubProcess,
    Task,
)
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.model.rewriter import Rewriter
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets import Illegal, Legal, LoweredConstruct, RewritePattern, TargetSpec

ALL = {name: Legal() for name in ("task", "event", "gateway", "flow", "sub-process")}
PLACE = SourceLocation(file="x.bpmn", line=3)


class Become(RewritePattern):
    """A task of one type becomes one of another."""

    target: ClassVar[str]

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        task = use.element
        assert isinstance(task, Task)
        assert use.scope is not None
        rewriter.replace(use.scope.id, task.id, task.replace(task_type=self.target))
        return f"`{task.label}` became a {self.target} task"


class Copy(Become):
    """The task stays, and another one like it comes."""

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        assert use.scope is not None
        copy = use.element.replace(id=rewriter.fresh_id(use.element.id, "copy"))
        assert isinstance(copy, Task)
        rewriter.insert(use.scope.id, copy)
        return "copied"


class Relabel(Become):
    """Changes something, and nothing that matters."""

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        assert use.scope is not None
        rewriter.relabel(use.scope.id, use.element.id, use.element.name + "!")
        return "relabelled"


class Refuse(Become):
    """Never applies."""

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        return None


class Promise(Become):
    """Claims a rewrite that it does not make."""

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        return "done"


class Quiet(Become):
    """Rewrites without a note."""

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        super().rewrite(use, rewriter, ctx)
        return None


class Crash(Become):
    """Fails."""

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        raise KeyError("no")


class Lost(Become):
    """Edits what is not there."""

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        rewriter.remove("P", "nowhere")
        return "removed"


class Number(Become):
    """Gives a number for a note."""

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        super().rewrite(use, rewriter, ctx)
        return cast(str, 7)


class Dangle(Become):
    """Adds a flow that leads nowhere."""

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        assert use.scope is not None
        flow = Flow(id="astray", source=use.element.id, target="nowhere")
        rewriter.insert(use.scope.id, flow, of=(use.element,))
        return super().rewrite(use, rewriter, ctx)


class Twin(Become):
    """Takes the id of the model."""

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        assert use.scope is not None
        rewriter.replace(use.scope.id, use.element.id, Task(id="m", name="Ask"))
        return "renamed"


class Empty(Become):
    """Removes every node."""

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        assert use.scope is not None
        for node in use.scope.nodes:
            rewriter.remove(use.scope.id, node.id)
        return "removed"


class Invent(Become):
    """Names a source element that there is not."""

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        assert use.scope is not None
        made = Task(id=use.element.id, name="Ask")
        rewriter.replace(use.scope.id, made.id, made, of=(Task(id="bogus"),))
        return "rewritten"


def pattern(
    kind: type[Become],
    name: str,
    consumes: str,
    target: str,
    produces: tuple[str, ...] | None = None,
) -> RewritePattern:
    made = (f"task.{target}",) if produces is None else produces
    fields = {"name": name, "consumes": (f"task.{consumes}",), "produces": made, "target": target}
    return type(name.title(), (kind,), fields)()


def spec(*patterns: RewritePattern, illegal: tuple[str, ...] = ("user", "manual")) -> TargetSpec:
    refused = {f"task.{kind}": Illegal("no people") for kind in illegal}
    return TargetSpec("plain", {**ALL, **refused}, lowerings=patterns)


def people(*more: Node) -> Model:
    nodes = (Task(id="a", name="Ask", task_type="user", loc=PLACE), *more)
    return Model(id="m", processes=(Process(id="P", nodes=nodes),))


def legalised(
    model: Model, target: TargetSpec, *, lossy: bool = False
) -> tuple[Model, list[Diagnostic]]:
    ctx = PassContext()
    return legalise(model, target, ctx, allow_lossy=lossy), ctx.diagnostics


FAULTS: dict[str, tuple[tuple[RewritePattern, ...], str]] = {
    "ping and pong": (
        (pattern(Become, "ping", "user", "manual"), pattern(Become, "pong", "manual", "user")),
        "lowerings `ping` and `pong` for plain rewrite each other's results, so rewriting would "
        "not terminate",
    ),
    "a ring of three": (
        (
            pattern(Become, "one", "user", "manual"),
            pattern(Become, "two", "manual", "script"),
            pattern(Become, "three", "script", "user"),
        ),
        "lowerings `one` and `two` and `three` for plain rewrite each other's results",
    ),
    "its own result": (
        (pattern(Become, "same", "user", "user"),),
        "lowering `same` for plain produces what it rewrites (task.user), so rewriting would not "
        "terminate",
    ),
    "ping and pong that lie": (
        (
            pattern(Become, "ping", "user", "manual", ()),
            pattern(Become, "pong", "manual", "user", ()),
        ),
        "lowering `ping` for plain does not terminate: after it rewrote `Ask`, as much remains to "
        "rewrite as before",
    ),
    "growth": (
        (pattern(Copy, "grow", "user", "abstract"),),
        "lowering `grow` for plain does not terminate: after it rewrote `Ask`, as much remains",
    ),
    "no change that matters": (
        (pattern(Relabel, "idle", "user", "abstract"),),
        "lowering `idle` for plain does not terminate",
    ),
    "no change": (
        (pattern(Promise, "promise", "user", "abstract"),),
        "lowering `promise` for plain returned a note but changed nothing: done",
    ),
    "no note": (
        (pattern(Quiet, "quiet", "user", "abstract"),),
        "lowering `quiet` for plain rewrote something without returning a note",
    ),
    "a crash": (
        (pattern(Crash, "crash", "user", "abstract"),),
        "lowering `crash` for plain failed at `Ask`: KeyError: 'no' (rewrite, line",
    ),
    "a note that is no text": (
        (pattern(Number, "number", "user", "abstract"),),
        "lowering `number` for plain returned 7, which is not a note",
    ),
    "a flow that leads nowhere": (
        (pattern(Dangle, "dangle", "user", "abstract"),),
        "lowering `dangle` for plain makes the model invalid: the flow `astray` has an end `nowh",
    ),
    "an id that is taken": (
        (pattern(Twin, "twin", "user", "abstract"),),
        "lowering `twin` for plain makes the model invalid: the id `m` occurs more than once",
    ),
    "nothing left": (
        (pattern(Empty, "empty", "user", "abstract"),),
        "lowering `empty` for plain removes everything in `P`",
    ),
    "a source element that there is not": (
        (pattern(Invent, "invent", "user", "abstract"),),
        "lowering `invent` for plain declares `Ask` as derived from `bogus`, which the source "
        "does not contain",
    ),
    "an edit of nothing": (
        (pattern(Lost, "lost", "user", "abstract"),),
        "lowering `lost` for plain failed at `Ask`: EditError: `P` has no node `nowhere`",
    ),
}


@pytest.mark.parametrize("how", FAULTS)
def test_a_set_of_lowerings_that_would_not_end_is_refused(how: str) -> None:
    patterns, message = FAULTS[how]
    target = spec(*patterns, illegal=("user", "manual", "script"))
    model, found = legalised(people(), target)
    assert [(d.code, d.severity) for d in found] == [("OF903", Severity.ERROR)]
    assert found[0].message.startswith(message)
    assert model == people()


def test_a_pattern_of_ours_that_fails_is_our_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    crash = pattern(Crash, "crash", "user", "abstract")
    monkeypatch.setattr(type(crash), "__module__", "orgflow.backends.plain")
    model, found = legalised(people(), spec(crash, illegal=("user",)))
    assert [(d.code, d.help) for d in found] == [("OF901", "report this with the model")]
    assert found[0].message.startswith("lowering `crash` for plain failed at `Ask`: KeyError: 'no'")
    assert model == people()


def test_what_the_target_allows_is_taken_by_none() -> None:
    """Two that undo each other are fine where the target allows what one of them makes."""
    patterns = FAULTS["ping and pong"][0]
    model, found = legalised(people(), spec(*patterns, illegal=("user",)))
    assert [d.code for d in found] == ["OF401"]
    assert [n.construct for n in model.processes[0].nodes] == ["task.manual"]


def test_what_is_legal_is_not_rewritten() -> None:
    target = spec(pattern(Crash, "crash", "user", "abstract"), illegal=())
    made = people()
    model, found = legalised(made, target)
    assert model is made
    assert found == []


def test_a_chain_is_followed_to_its_end() -> None:
    target = spec(
        pattern(Become, "second", "manual", "abstract"), pattern(Become, "first", "user", "manual")
    )
    model, found = legalised(people(Task(id="b", task_type="manual")), target)
    assert [n.construct for n in model.processes[0].nodes] == ["task.abstract"] * 2
    assert [d.code for d in found] == ["OF401"] * 3
    assert [n.derived_from for n in model.processes[0].nodes] == [("a",), ("b",)]


def test_one_that_does_not_apply_leaves_its_place_to_the_next() -> None:
    target = spec(
        pattern(Refuse, "shy", "user", "abstract"), pattern(Become, "bold", "user", "abstract")
    )
    model, found = legalised(people(), target)
    assert model.processes[0].nodes[0].origin == "bold"
    refused, found = legalised(people(), spec(pattern(Refuse, "shy", "user", "abstract")))
    assert [d.code for d in found] == ["OF403"]
    assert refused == people()


def test_lossless_ones_come_first_and_lossy_ones_only_where_allowed() -> None:
    lossy = pattern(Become, "lossy", "manual", "abstract")
    type(lossy).loses = "the hands"
    target = spec(lossy, pattern(Become, "lossless", "user", "manual"))
    model, found = legalised(people(), target)
    assert [(d.code, d.severity.value) for d in found] == [("OF402", "error")]
    assert found[0].message == (
        "`Ask` (task.manual) can only be approximated on plain: the hands would be lost, since no "
        "people"
    )
    model, found = legalised(people(), target, lossy=True)
    assert [(d.code, d.severity.value) for d in found] == [("OF401", "info"), ("OF402", "warning")]
    assert [n.construct for n in model.processes[0].nodes] == ["task.abstract"]


def test_findings_carry_the_source_element_and_its_place() -> None:
    lossy = pattern(Become, "lossy", "manual", "abstract")
    type(lossy).loses = "the hands"
    target = spec(lossy, pattern(Become, "lossless", "user", "manual"))
    for allowed in (True, False):
        found = legalised(people(), target, lossy=allowed)[1]
        assert len(found) == (2 if allowed else 1)
        for d in found:
            assert (d.element, d.loc) == ("a", PLACE)


@pytest.mark.parametrize(
    ("after", "before", "is_lower"),
    [
        ({}, {1: 1}, True),
        ({1: 100}, {2: 1}, True),
        ({2: 1, 1: 100}, {2: 2}, True),
        ({2: 1}, {1: 100}, False),
        ({1: 1}, {1: 1}, False),
        ({3: 1, 1: 0}, {3: 1, 1: 1}, True),
        ({}, {}, False),
    ],
)
def test_multisets_of_ranks(after: dict[int, int], before: dict[int, int], is_lower: bool) -> None:
    assert ranks_below(after, before) is is_lower


# -- elements that were drawn --------------------------------------------------------------------


def crossing(kind: str, wrapped: bool) -> Model:
    """A gateway that joins and splits, alone or in a sub-process of a sub-process."""
    ends = [("s", "x"), ("x", "a"), ("x", "b"), ("a", "g"), ("b", "g"), ("g", "c"), ("g", "d")]
    nodes: tuple[Node, ...] = (
        Event(id="s", position="start"), Gateway(id="x", gateway_kind="exclusive"),
        *(Task(id=i) for i in "abcd"), Gateway.validate({"id": "g", "gateway_kind": kind}),
    )  # fmt: skip
    nodes = tuple(n.replace(loc=PLACE) if n.id == "g" else n for n in nodes)
    flows = tuple(Flow(id=f"f{i}", source=a, target=b) for i, (a, b) in enumerate(ends))
    if wrapped:
        inner = SubProcess(id="inner", nodes=nodes, flows=flows)
        nodes, flows = (SubProcess(id="outer", nodes=(inner,)),), ()
    return Model(id="m", processes=(Process(id="P", nodes=nodes, flows=flows),))


def test_one_drawn_gateway_is_refused_once() -> None:
    ctx = PassContext()
    legalise(crossing("complex", False), ASL_TARGET, ctx, allow_lossy=False)
    (found,) = ctx.diagnostics
    assert (found.code, found.element, found.loc) == ("OF403", "g", PLACE)
    named = "the complex gateway after the start event (gateway.complex)"
    assert found.message.startswith(f"{named} is not supported for asl: ")


def test_a_finding_about_a_made_element_names_the_drawn_one() -> None:
    ctx = PassContext()
    legal = legalise(crossing("inclusive", False), N8N_TARGET, ctx, allow_lossy=False)
    (join,) = (n for n in legal.processes[0].nodes if n.id == "g__join")
    for element in (join, "g__join"):
        found = ctx.emit(
            LoweredConstruct,
            "`g__join` waits",
            element=element,
            help="see `g__join`",
            related=(Related(message="for this", element="g__join"),),
        )
        assert found.related[0].element == "g"
        assert (found.element, found.message, found.help) == ("g", "`g` waits", "see `g`")
        assert found.loc == PLACE


@pytest.mark.parametrize("wrapped", [False, True])
def test_lowerings_work_in_every_scope(wrapped: bool) -> None:
    """A crossing and a conditional split, at the top and two sub-processes deep: the same result,
    and everything made there says where it comes from."""
    target = TargetSpec(
        "plain",
        {**ALL, "gateway.mixed": Illegal("no"), "split.conditional": Illegal("no")},
        derivations=(mixed_gateways, conditional_splits),
        lowerings=LOWERINGS,
    )
    model = crossing("exclusive", wrapped)
    rewriter = Rewriter(model)
    scope = "inner" if wrapped else "P"
    rewriter.connect(scope, "c", "d", id="more", condition=Expression(text="x"))
    model, found = legalised(rewriter.done(), target)
    assert sorted(d.element or "" for d in found) == ["c", "g"]
    (inside,) = (s for s in model.scopes() if s.id == scope)
    made = {e.id: (e.origin, e.derived_from) for e in (*inside.nodes, *inside.flows) if e.origin}
    mixed, split = ("split-mixed-gateway", ("g",)), ("conditional-split-to-gateway", ("c",))
    assert {i: m for i, m in made.items() if m[1] in (("g",), ("c",))} == {
        "g__join": mixed, "g__between": mixed, "c__split": split, "c__to_split": split
    }  # fmt: skip
