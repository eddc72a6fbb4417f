"""Agents that answer gaps: the loop over gaps, what it accepts and refuses, and hostile agents."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orgflow
import pytest
from gap_models import answerable, gaps, good_answer, open_model
from orgflow.compilation.agent_answers import fill_gaps as fill
from scripted_agent import Scripted

from orgflow_ir.diagnostics import Category, Diagnostic, Rule, Severity
from orgflow_ir.filling.gap_filling import Filled, fill_gaps
from orgflow_ir.gaps import Gap
from orgflow_ir.model import Event, Evidence, Flow, Gateway, Model, Process, Task
from orgflow_ir.model.provenance import all_elements
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.agent_services import Reply
from orgflow_ir.pipeline.services import (
    CancelFlag,
    Cancelled,
    OverBudget,
    ServiceError,
    Services,
    required,
)
from orgflow_ir.plugins import Answer, GapAgent

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "order-to-cash" / "model.bpmn"


def example() -> Model:
    model = orgflow.read(EXAMPLE).model
    assert model is not None
    return model


def element(model: Model, id: str) -> Any:
    return next(e for e in all_elements(model) if e.id == id)


def found(ctx: PassContext, code: str) -> list[Diagnostic]:
    return [d for d in ctx.diagnostics if d.code == code]


def run(
    model: Model, *agents: GapAgent, services: Services | None = None
) -> tuple[Filled, PassContext]:
    ctx = PassContext(services=services or Services())
    return fill_gaps(model, agents, ctx), ctx


# -- from end to end -------------------------------------------------------------------------------

CODE = {"kind": "script", "language": "javascript", "code": "return items; // in stock"}
URL = {"kind": "http", "url": "https://shop.example/licences", "method": "POST"}


def test_answers_reach_the_workflows_and_their_gaps_are_gone() -> None:
    model = example()
    in_stock = next(g for g in answerable(model) if g.element.id == "in_stock")
    what = next(g for g in answerable(model) if g.element.id == "what_to_prepare")
    yes, no = in_stock.schema["properties"]["values"]["properties"]  # type: ignore[index]
    kinds = list(what.schema["properties"]["conditions"]["properties"])  # type: ignore[index]
    agent = Scripted(
        {
            ("task", "check_stock"): CODE,
            ("task", "create_licences"): URL,
            ("message", "payment_arrives"): {"kind": "worker", "by": "topic", "target": "payments"},
            ("decision", "in_stock"): {
                "variable": "stock", "values": {yes: "complete", no: "missing"}
            },
            ("decision", "what_to_prepare"): {
                "conditions": {flow: f"parts_{n} > {n}" for n, flow in enumerate(kinds)}
            },
        }
    )  # fmt: skip
    filled = orgflow.fill(model, [agent])
    assert filled.ok
    assert filled.model is not None
    answered = {d.element for d in filled.diagnostics if d.code == "OF511"}
    assert answered == {
        "check_stock", "create_licences", "payment_arrives", "in_stock", "what_to_prepare"
    }  # fmt: skip

    before = {(d.code, d.element) for d in orgflow.check(model).diagnostics}
    after = orgflow.check(filled.model)
    assert after.ok
    left = {(d.code, d.element, d.message.split()[0]) for d in after.diagnostics}
    assert before >= {("OF501", "check_stock"), ("OF502", "in_stock"), ("OF505", "payment_arrives")}
    for code, id in (
        ("OF501", "check_stock"), ("OF501", "create_licences"), ("OF505", "payment_arrives")
    ):  # fmt: skip
        assert (code, id) not in {(c, e) for c, e, _ in left}
    # what is left of a decision is which step sets its variables, and nothing asks for a label
    decided = ("in_stock", "what_to_prepare")
    decisions = [d for d in after.diagnostics if d.element in decided and d.code == "OF502"]
    assert {d.element for d in decisions} == set(decided)
    assert all("does not define which step sets" in d.message for d in decisions)

    n8n = orgflow.compile(filled, "n8n", options={"waits": "execution"})
    for target in ("n8n", "asl"):
        compiled, plain = orgflow.compile(filled, target), orgflow.compile(model, target)
        assert compiled.ok, compiled.errors
        text, old = "".join(compiled.files.values()), "".join(plain.files.values())
        for answer in ("complete", "missing", "parts_1", "payments", "licences"):
            assert answer in text
        assert "shop.example" in text
        assert "shop.example" not in old
        assert "parts_1" not in old
    assert orgflow.verify(filled.model, n8n).ok


def test_check_and_compile_ask_agents_themselves() -> None:
    model = example()
    agents = [Scripted({("task", "check_stock"): CODE})]
    filled = orgflow.fill(model, agents)
    one, two = orgflow.compile(model, agents=agents), orgflow.compile(filled)
    assert (one.files, one.diagnostics) == (two.files, two.diagnostics)
    assert orgflow.check(model, agents=agents) == orgflow.check(filled)
    assert orgflow.compile(model, agents=agents).files != orgflow.compile(model).files


def test_every_kind_of_gap_is_answered() -> None:
    filled, ctx = run(open_model(), Scripted(good_answer))
    assert [g for g in filled.open if g.schema is not None] == []
    kinds = [a.gap.kind for a in filled.answered]
    assert set(kinds) == {"task", "message", "time", "condition", "decision", "branch", "list"}
    assert kinds.count("decision") == 3, "labels of branches leave a decision open, asked as well"
    assert len(found(ctx, "OF511")) == len(filled.answered)
    assert {d.code for d in ctx.diagnostics} == {"OF511"}
    filled, _ = run(open_model(repeats=False), Scripted(good_answer))
    compiled = orgflow.compile(filled.model, "n8n")
    assert compiled.ok, compiled.errors
    assert orgflow.verify(filled.model, compiled).ok


def test_gaps_that_stay_open_are_reported() -> None:
    """Also where no agent is given, and where the model has errors, so that nobody is asked."""
    model = example()
    filled = orgflow.fill(model, [Scripted({("task", "check_stock"): CODE})])
    left = {d.element: d.message for d in filled.diagnostics if d.code == "OF522"}
    assert "create_licences" in left
    assert "check_stock" not in left
    assert "stays open: no answer by `scripted`" in left["create_licences"]
    assert orgflow.fill(filled, []).diagnostics.count(filled.diagnostics[-1]) <= 1
    assert "OF522" not in {d.code for d in orgflow.compile(filled).diagnostics}
    alone = {d.element for d in orgflow.fill(model, []).diagnostics if d.code == "OF522"}
    assert alone == {*left, "check_stock"}


def test_without_agents_nothing_changes() -> None:
    model = example()
    assert orgflow.fill(model, []).model is model
    assert orgflow.compile(model, agents=[]).files == orgflow.compile(model).files


def test_compiling_without_agents_loads_nothing_of_them(tmp_path: Path) -> None:
    script = (
        "import sys, orgflow\n"
        f"orgflow.compile(orgflow.read({str(EXAMPLE)!r}))\n"
        "names = ('gap_filling', 'filler', 'agent_guards', 'jsonschema', 'evidence_check')\n"
        "print([m for m in sys.modules if m.endswith(names)])\n"
    )
    import subprocess

    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert (ran.stdout.strip(), ran.stderr) == ("[]", "")


# -- provenance ------------------------------------------------------------------------------------


def test_answered_elements_name_the_agent_and_keep_the_rest() -> None:
    quote = Evidence(document="mail-3", quote="the shop checks", agent="scripted")
    model = open_model()
    filled, _ = run(model, Scripted({("task", "repair"): CODE}, evidence=(quote,)))
    repair = element(filled.model, "repair")
    assert (repair.origin, repair.derived_from, repair.evidence) == (
        "scripted", ("repair",), (quote,)
    )  # fmt: skip
    assert repair.replace(binding=None) == element(model, "repair")
    others = [e for e in all_elements(filled.model) if e.origin and e.id != "repair"]
    assert others == []
    again, _ = run(filled.model, Scripted({("list", "each"): {"count": 2}}, name="second"))
    assert element(again.model, "each").origin == "second"
    assert element(again.model, "repair") is repair


def test_provenance_does_not_reach_the_workflow() -> None:
    """What is compiled from answers is what the same model compiles to that a person wrote."""
    filled, _ = run(open_model(repeats=False), Scripted(good_answer))
    text = filled.model.to_json()
    data = json.loads(text)
    _forget(data)
    written = Model.from_json(json.dumps(data))
    assert written == filled.model
    assert written.to_json() != text
    for target in ("n8n", "asl", "bpmn", "mermaid"):
        one, two = (orgflow.compile(m, target) for m in (written, filled.model))
        assert one.files == two.files
        assert one.files


def _forget(value: Any) -> None:
    if isinstance(value, dict):
        for name in ("origin", "derived_from", "evidence"):
            value.pop(name, None)
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, dict | list):
            _forget(inner)


# -- several agents, several attempts --------------------------------------------------------------


def test_agents_are_asked_in_order_until_one_is_accepted() -> None:
    shy = Scripted({}, name="shy")
    wrong = Scripted({("task", "repair"): {"kind": "robot"}}, name="wrong")
    right = Scripted({("task", "repair"): CODE}, name="right")
    late = Scripted({("task", "repair"): URL}, name="late")
    filled, ctx = run(open_model(), shy, wrong, right, late)
    assert [(a.gap.element.id, a.agent, a.value) for a in filled.answered] == [
        ("repair", "right", CODE)
    ]
    agents = (shy, wrong, right, late)
    asked = {a.name: [q for q in a.questions if q[1] == "repair"] for a in agents}
    assert [len(asked[name]) for name in asked] == [1, 1, 1, 0]
    (seen,) = asked["right"]
    assert [(r.agent, r.value) for r in seen[2]] == [("wrong", {"kind": "robot"})]
    assert "'robot' is not one of" in seen[2][0].reason
    (refused,) = found(ctx, "OF512")
    assert (refused.element, refused.severity) == ("repair", Severity.WARNING)
    assert refused.message.startswith("agent `wrong`, asked about OF501 at the user task `Repair")


def test_an_agent_tries_again_with_the_reason() -> None:
    tries = [{"kind": "robot"}, {"kind": "script"}, CODE]
    agent = Scripted({("task", "repair"): tries}, attempts=3)
    filled, ctx = run(open_model(), agent)
    assert [a.value for a in filled.answered] == [CODE]
    assert found(ctx, "OF512") == []
    reasons = [len(refused) for _, id, refused in agent.questions if id == "repair"]
    assert reasons == [0, 1, 2]
    patient = Scripted({("task", "repair"): [tries[0]] * 99}, attempts=2)
    _, ctx = run(open_model(), patient)
    assert len(found(ctx, "OF512")) == 1, "one report an agent and gap"
    assert len([q for q in patient.questions if q[1] == "repair"]) == 2


def test_kinds_are_kept_to() -> None:
    agent = Scripted(good_answer, kinds=frozenset({"time"}))
    filled, _ = run(open_model(), agent)
    assert {kind for kind, _, _ in agent.questions} == {"time"} == {
        a.gap.kind for a in filled.answered
    }  # fmt: skip


def test_each_gap_is_offered_once() -> None:
    agent = Scripted(lambda gap: good_answer(gap) if gap.kind == "branch" else None)
    run(open_model(), agent)
    questions = [(kind, id) for kind, id, _ in agent.questions]
    assert len(set(questions)) == len(questions)


def test_the_model_that_is_seen_has_the_answers_so_far() -> None:
    class Looks(Scripted):
        def answer(self, gap: Gap, model: Model, ctx: PassContext, refused: Any) -> Answer | None:
            seen.append(sum(1 for e in all_elements(model) if e.origin == self.name))
            return super().answer(gap, model, ctx, refused)

    seen: list[int] = []
    run(open_model(), Looks(good_answer))
    assert seen[0] == 0
    assert seen == sorted(seen)
    assert seen[-1] > 8


# -- what is not accepted --------------------------------------------------------------------------


def test_an_answer_that_brings_an_error_is_refused() -> None:
    """A loop whose condition can never let it end: the passes find it, not the schema."""
    model = open_model()
    never = {"variable": "x", "values": {"yes": "a", "no": "b"}}

    def judge(changed: Model) -> list[Diagnostic]:
        ctx = PassContext()
        if element(changed, "yes").condition is not None:
            ctx.emit(_Bad, "the order is never ok", element="ok", severity=Severity.ERROR)
        ctx.emit(_Bad, "it was there before", element="other", severity=Severity.ERROR)
        return ctx.diagnostics

    ctx = PassContext()
    agent = Scripted({("decision", "ok"): never, ("task", "repair"): CODE})
    filled = fill_gaps(model, [agent], ctx, judge)
    assert [a.gap.element.id for a in filled.answered] == ["repair"]
    (refused,) = found(ctx, "OF512")
    assert "it introduces an error, X001: the order is never ok" in refused.message
    assert element(filled.model, "yes").condition is None


class _Bad(Rule):
    code = "X001"
    name = "bad"
    severity = Severity.ERROR
    category = Category.FLOW


def test_a_model_that_is_malformed_is_not_offered() -> None:
    model = open_model()
    broken = model.replace(
        processes=tuple(
            p.replace(flows=(*p.flows, Flow(id="x", source="check", target="nowhere")))
            for p in model.processes
        )
    )
    agent = Scripted(good_answer)
    filled = orgflow.fill(broken, [agent])
    assert filled.model is broken
    assert agent.questions == []
    assert not orgflow.check(broken, agents=[agent]).ok


def test_a_model_with_a_deadlock_is_offered() -> None:
    nodes = (
        event("s", "start"), Gateway(id="x", name="Sure?", gateway_kind="exclusive"),
        Task(id="a", name="A"), Task(id="b", name="B"),
        Gateway(id="p", gateway_kind="parallel"), event("e", "end"),
    )  # fmt: skip
    labels = {"xa": "Yes", "xb": "No"}
    flows = tuple(
        Flow(id=f, source=f[0], target=f[1], name=labels.get(f, ""))
        for f in ("sx", "xa", "xb", "ap", "bp", "pe")
    )
    model = Model(id="m", processes=(Process(id="P", nodes=nodes, flows=flows),))
    filled = orgflow.fill(model, [Scripted(good_answer)])
    assert filled.model is not None
    assert len([d for d in filled.diagnostics if d.code == "OF511"]) == 3
    assert [d.code for d in orgflow.check(filled.model).errors] == ["OF201"]


def event(id: str, position: Any) -> Any:
    return Event(id=id, name=id.upper(), position=position)


# -- agents that fail ------------------------------------------------------------------------------


class Own(GapAgent):
    """An agent whose `answer` is a function."""

    name = "own"

    def __init__(self, act: Callable[..., Any]) -> None:
        self.act = act

    def answer(self, gap: Gap, model: Model, ctx: PassContext, refused: Any) -> Any:
        return self.act(gap, model, ctx, refused)


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError("no")


class Unprintable:
    def __repr__(self) -> str:
        raise ValueError("no")


class Outside(BaseException):
    """Of no class that most code catches."""


def raising(error: BaseException) -> Callable[..., Any]:
    def act(*_: Any) -> Any:
        raise error

    return act


def emitting(*diagnostics: Any) -> Callable[..., Any]:
    def act(gap: Gap, model: Model, ctx: PassContext, refused: Any) -> Any:
        ctx.diagnostics.extend(diagnostics)

    return act


def wrecking(gap: Gap, model: Model, ctx: PassContext, refused: Any) -> Any:
    ctx.diagnostics = None  # type: ignore[assignment]  # on purpose
    ctx.severities = {"OF511": Severity.ERROR}
    ctx.options = {"people": "mail"}
    ctx.registry = None


@pytest.mark.parametrize(
    ("evidence", "said"),
    [
        (Evidence(document="a", quote="b", span=(62, 40)), "names characters 62 to 40"),
        (Evidence(document="a", quote="b", span=(-1, 4)), "names characters -1 to 4"),
        (Evidence(document="a", quote="b", lines=(3, 2)), "names lines 3 to 2"),
        (Evidence(document="a", quote=" "), "has an empty quote"),
    ],
)
def test_evidence_that_no_document_can_have_refuses_the_answer(
    evidence: Evidence, said: str
) -> None:
    model = open_model()
    filled, ctx = run(model, Scripted({("task", "repair"): CODE}, evidence=(evidence,)))
    assert filled.answered == ()
    (refused,) = found(ctx, "OF512")
    assert f"was refused: its evidence {said}; its answer was" in refused.message


FAILING: dict[str, tuple[Callable[..., Any], str]] = {
    "raises": (raising(KeyError("x")), "failed with KeyError: 'x'"),
    "raises two lines": (raising(ValueError("a\n\nb")), "failed with ValueError: a b"),
    "raises what cannot say what it is": (raising(Unspeakable()), "failed with Unspeakable: no me"),
    "exits": (raising(SystemExit(3)), "failed with SystemExit: 3"),
    "is cancelled inside": (raising(asyncio.CancelledError()), "failed with CancelledError"),
    "raises outside": (raising(Outside("x")), "failed with Outside: x"),
    "never ends": (lambda *a: FAILING["never ends"][0](*a), "failed with RecursionError"),
    "text": (lambda *_: "PT1H", "returned 'PT1H', which is not an `Answer`"),
    "the bare value": (lambda *_: CODE, "which is not an `Answer`"),
    "what has no repr": (lambda *_: Unprintable(), "returned a `Unprintable` whose `repr` failed"),
    "an edited model": (lambda gap, model, *_: model, "which is not an `Answer`"),
    "no evidence": (lambda *_: Answer(CODE, None), "failed with TypeError"),  # type: ignore[arg-type]
    "wrong evidence": (lambda *_: Answer(CODE, ("a quote",)), "failed with ValidationError"),  # type: ignore[arg-type]
    "sure beyond measure": (
        lambda *_: Answer(CODE, (Evidence(document="a", quote="b", confidence=7),)),
        "failed with ValidationError",
    ),
    "a finding that is none": (emitting("no diagnostic"), "failed with "),
    "no list of findings": (wrecking, "failed with TypeError"),
}  # fmt: skip


@pytest.mark.parametrize("how", FAILING)
def test_a_failing_agent_is_reported_and_the_next_is_asked(how: str) -> None:
    act, said = FAILING[how]
    model = open_model()
    good = Scripted({("task", "repair"): CODE})
    filled, ctx = run(model, Own(act), good)
    assert [(a.gap.element.id, a.agent) for a in filled.answered] == [("repair", "scripted")]
    failed = found(ctx, "OF513")
    assert {d.element for d in failed} == {g.element.id for g in answerable(model)}
    for d in failed:
        assert d.severity is Severity.WARNING
        assert d.message.startswith("agent `own`, asked about OF5")
        assert said in d.message
        assert "\n" not in d.message
    model = open_model(repeats=False)
    compiled = orgflow.compile(model, agents=[Own(act)])
    assert compiled.ok, compiled.errors
    assert compiled.files == orgflow.compile(model).files


def test_findings_of_an_agent_are_warnings_at_most() -> None:
    def act(gap: Gap, model: Model, ctx: PassContext, refused: Any) -> Any:
        ctx.emit(_Bad, "nobody does this", element=gap.element)

    compiled = orgflow.compile(open_model(repeats=False), agents=[Own(act)])
    assert compiled.ok
    assert {d.severity for d in compiled.diagnostics if d.code == "X001"} == {Severity.WARNING}


def test_what_an_agent_prints_goes_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    run(open_model(), Own(lambda *_: print("hello")))
    out = capsys.readouterr()
    assert out.out == ""
    assert "hello" in out.err


def test_a_file_an_answer_names_is_text(tmp_path: Path) -> None:
    """Code in answers is data: nothing runs it, and no label or value becomes an expression."""
    marker = tmp_path / "ran"
    code = {"kind": "script", "language": "python", "code": f"open({str(marker)!r}, 'w')"}
    values = {"variable": "ok", "values": {"yes": '"}}; require("fs")', "no": "={{ 1 }}"}}
    agent = Scripted({("task", "repair"): code, ("decision", "ok"): values})
    filled, _ = run(open_model(repeats=False), agent)
    assert len(filled.answered) == 2
    for target in ("n8n", "asl"):
        assert orgflow.compile(filled.model, target).ok
    assert orgflow.verify(filled.model, orgflow.compile(filled.model)).ok
    assert not marker.exists()


# -- services --------------------------------------------------------------------------------------


class Model_:
    """A language model that says what it is told to."""

    name = "told"

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.asked = 0

    def ask(self, messages: Any, *, schema: Any = None, tools: Any = ()) -> Reply:
        self.asked += 1
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return Reply(reply, 10, 5)


class UsesModel(GapAgent):
    """Asks the language model of the context for tasks."""

    name = "asks-model"
    kinds = frozenset({"task"})

    def answer(self, gap: Gap, model: Model, ctx: PassContext, refused: Any) -> Answer | None:
        client = required(ctx.services.model, "language model")
        reply = client.ask([{"role": "user", "content": gap.message}], schema=gap.schema)
        return Answer(json.loads(reply.text))


def test_an_agent_reaches_the_language_model() -> None:
    client = Model_(json.dumps(CODE), "{", json.dumps({"kind": "robot"}), *["null"] * 9)
    filled, ctx = run(open_model(), UsesModel(), services=Services(model=client))
    assert [a.value for a in filled.answered] == [CODE]
    assert "JSONDecodeError" in found(ctx, "OF513")[0].message
    assert "'robot' is not one of" in found(ctx, "OF512")[0].message


@pytest.mark.parametrize(
    ("client", "said"),
    [
        (None, "agent `asks-model` cannot work: no language model is configured; it is not asked"),
        (Model_(OverBudget()), "agent `asks-model` stopped: the budget is spent; it is not asked"),
        (Model_(ServiceError("llm.example: 503")), "stopped: llm.example: 503; it is not asked"),
    ],
)
def test_an_agent_that_cannot_work_is_reported_once(client: Any, said: str) -> None:
    good = Scripted({("task", "skip"): CODE})
    services = Services(model=client)
    filled, ctx = run(open_model(), UsesModel(), good, services=services)
    (told,) = found(ctx, "OF514")
    assert said in told.message
    assert told.severity is Severity.WARNING
    assert [a.agent for a in filled.answered] == ["scripted"]
    assert client is None or client.asked == 1


def test_cancelling_ends_the_questions() -> None:
    flag = CancelFlag()

    def act(gap: Gap, model: Model, ctx: PassContext, refused: Any) -> Any:
        asked.append(gap)
        ctx.services.cancellation.check()
        flag.cancel()

    asked: list[Gap] = []
    with pytest.raises(Cancelled):
        run(open_model(), Own(act), services=Services(cancellation=flag))
    assert len(asked) == 1


def test_progress_is_shown() -> None:
    seen: list[tuple[int, int, str]] = []
    run(
        open_model(), Scripted(good_answer),
        services=Services(progress=lambda *step: seen.append(step)),
    )  # fmt: skip
    assert [done for done, _, _ in seen] == list(range(len(seen)))
    assert all(done < total for done, total, _ in seen)
    assert seen[0][2] == gaps(open_model())[0].message


# -- by name ---------------------------------------------------------------------------------------


def test_agents_by_name_that_are_not_there() -> None:
    with pytest.raises(
        orgflow.UnknownName, match=r"no agent `nobody`; there are: .*, text, text-rules"
    ):
        orgflow.fill(open_model(), ["nobody"])
    with pytest.raises(orgflow.UnknownName, match="no agent `nobody`"):
        orgflow.compile(open_model(), agents=["nobody"])


def test_the_loop_of_the_compiler_judges_by_the_passes() -> None:
    ctx = PassContext()
    model = fill(open_model(), [Scripted(good_answer)], ctx)
    assert model != open_model()
    assert fill(model, [], ctx) is model
