"""What state machines are made of: names, times, conditions, our own check, and what is told."""

from __future__ import annotations

import copy
import itertools
import time
from collections.abc import Iterator
from typing import Any

import pytest
from asl_models import CASES, boundary, end, gateway, model, on, start, sub, task
from asl_play import Compiled, Validator, moto_runner, validator
from hostile_labels import HOSTILE
from orgflow.backends.asl import rules
from orgflow.backends.asl.choice import Place, check_sayable, to_rule
from orgflow.backends.asl.definition_check import list_problems
from orgflow.backends.asl.format import all_states
from orgflow.backends.asl.names import FieldNames, StateNames, error_name
from orgflow.backends.asl.structure import MAX_DEPTH
from orgflow.backends.asl.times import moment_timestamp, whole_seconds

from orgflow_ir.diagnostics import Severity
from orgflow_ir.gaps import GAP_RULES
from orgflow_ir.languages.juel import JuelParser
from orgflow_ir.languages.recognise import read_condition
from orgflow_ir.model import Event, EventDefinition, Expression, Flow, Loop, Model, Process
from orgflow_ir.plugins import Registry
from orgflow_ir.program.evaluator import evaluate
from orgflow_ir.program.syntax import ConditionError, variables


@pytest.fixture(scope="module")
def referee() -> Iterator[Validator]:
    with validator() as found:
        yield found


# -- names and times -------------------------------------------------------------------------


def test_state_names_are_short_unique_and_one_line() -> None:
    names = StateNames()
    taken = [names.take(w) for w in ("a" * 100, "a" * 100, "x\ny", "x y", "", "\x00", "é" * 200)]
    assert len(set(taken)) == len(taken)
    assert all(0 < len(n) <= 80 and n.isprintable() for n in taken)


def test_field_names_can_stand_in_a_path() -> None:
    names = FieldNames()
    taken = [names.take(w, "field") for w in ("3 days", "a.b['c']", "日本", "", "x" * 99, "X" * 99)]
    assert len(set(taken)) == len(taken)
    assert all(n.isascii() and n.isidentifier() for n in taken)


def test_error_names_are_not_the_languages_own() -> None:
    assert error_name("States.ALL", "e") == "Error States.ALL"
    assert error_name(" ", "e1") == "e1"


@pytest.mark.parametrize(
    ("kind", "text", "wanted"),
    [
        ("duration", "PT2H", 7200),
        ("duration", "P1DT0.5S", 86401),
        ("duration", "P2W", 1209600),
        (None, "PT0S", 0),
        ("duration", "P1M", None),
        ("duration", "P1Y", None),
        ("duration", "P2000D", None),
        ("duration", "soon", None),
        ("duration", "", None),
        ("cycle", "PT1H", 3600),
        ("cycle", "R3/PT10M", 600),
        ("date", "5s", 5),
        ("duration", "14 Tage", 1209600),
        ("cycle", "0 0/5 * * * ?", None),
    ],
)
def test_durations(kind: str | None, text: str, wanted: int | None) -> None:
    assert whole_seconds(_timer(kind, text)) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2030-01-31", "2030-01-31T00:00:00Z"),
        ("2030-01-31T10:00Z", "2030-01-31T10:00:00Z"),
        ("2030-01-31T10:00:05+02:00", "2030-01-31T10:00:05+02:00"),
        ("2030-01-31T10:00:05", None),
        ("2030-13-31", None),
        ("tomorrow", None),
    ],
)
def test_dates(text: str, wanted: str | None) -> None:
    assert moment_timestamp(_timer("date", text)) == wanted
    assert moment_timestamp(_timer("duration", text)) == wanted  # what the text is counts


def _timer(kind: Any, text: str) -> EventDefinition:
    return EventDefinition(kind="timer", timer=kind, expression=Expression(text=text))


# -- conditions ------------------------------------------------------------------------------

ABSENT = object()
SAID = (
    "amount > 1000", "1000 < amount", "amount <= -5", "amount == 10", "amount != 10",
    "name == 'Bob'", "name != 'Bob'", "name < 'C'", "ok == true", "ok != true", "ok", "!ok",
    "not (ok and amount > 3)", "amount > 3 or name == 'Bob'", "amount == null", "name != null",
    "amount == limit", "amount < limit", "amount != limit", "true", "false", "3 > 2",
    "ok && name == 'Bob' || amount >= 10",
)  # fmt: skip


def holds(rule: dict[str, Any], data: dict[str, Any]) -> bool:
    """A Choice rule as the language's specification has it; a plain reading of ours for tests."""
    if "And" in rule:
        return all(holds(r, data) for r in rule["And"])
    if "Or" in rule:
        return any(holds(r, data) for r in rule["Or"])
    if "Not" in rule:
        return not holds(rule["Not"], data)
    found = _at(rule["Variable"], data)
    ((test, wanted),) = ((k, v) for k, v in rule.items() if k not in ("Variable", "Next"))
    if test == "IsPresent":
        return (found is not ABSENT) is wanted
    assert found is not ABSENT, f"{rule} would end the execution"
    kinds = {"Numeric": (int, float), "String": str, "Boolean": bool}
    if test == "IsNull":
        return (found is None) is wanted
    kind = next(k for k in kinds if test.removeprefix("Is").startswith(k))
    of_kind = isinstance(found, kinds[kind]) and (kind == "Boolean" or found not in (True, False)
                                                  or not isinstance(found, bool))  # fmt: skip
    if test.startswith("Is"):
        return of_kind is wanted
    if test.endswith("Path"):
        wanted = _at(wanted, data)
    if not of_kind or not isinstance(wanted, kinds[kind]):
        return False
    word = test.removeprefix(kind).removesuffix("Path")
    return bool({
        "Equals": lambda: found == wanted, "LessThan": lambda: found < wanted,
        "LessThanEquals": lambda: found <= wanted, "GreaterThan": lambda: found > wanted,
        "GreaterThanEquals": lambda: found >= wanted,
    }[word]())  # fmt: skip


def _at(path: str, data: dict[str, Any]) -> Any:
    found: Any = data
    for part in path.split(".")[1:]:
        if not isinstance(found, dict) or part not in found:
            return ABSENT
        found = found[part]
    return found


@pytest.mark.parametrize("text", SAID)
def test_a_rule_is_true_where_the_condition_is(text: str) -> None:
    tree = JuelParser(text).parse()
    rule = to_rule(tree, lambda path: [Place(f"$.a.{path[0]}", f"$.a.{'.'.join(path)}")])
    names = sorted({v[0] for v in variables(tree)})
    numbers: list[Any] = [ABSENT, None, -5, 3, 10, 1000, 1001]
    options = {"amount": numbers, "limit": numbers, "name": [ABSENT, None, "Bob", "Cid", "", "B"],
               "ok": [ABSENT, None, True, False]}  # fmt: skip
    for combination in itertools.product(*(options[n] for n in names)):
        row = {n: v for n, v in zip(names, combination, strict=True) if v is not ABSENT}
        wanted = bool(evaluate(tree, {(n,): v for n, v in row.items()}))
        assert holds(rule, {"a": row, "results": {}}) is wanted, row


def test_the_nearest_source_that_has_a_variable_is_read() -> None:
    rule = to_rule(JuelParser("order.amount > 5").parse(), lambda path: [
        Place("$.near.order", "$.near.order.amount"), Place("$.far.order", "$.far.order.amount")
    ])  # fmt: skip
    assert holds(rule, {"far": {"order": {"amount": 9}}})
    assert not holds(rule, {"near": {"order": {}}, "far": {"order": {"amount": 9}}})
    assert holds(rule, {"near": {"order": {"amount": 9}}, "far": {"order": {"amount": 1}}})
    assert not holds(rule, {})


def check_condition(text: str) -> None:
    tree = read_condition(Expression(text=text))
    assert tree is not None
    check_sayable(tree)


@pytest.mark.parametrize(
    "text",
    ["${a + b > 3}", '${a["it\'s"] > 3}', "${a < true}", "= a * 2 == b", "${'x'}"],
)
def test_what_a_choice_cannot_say_is_not_guessed_at(text: str) -> None:
    with pytest.raises(ConditionError):
        check_condition(text)


def test_coded_conditions_run(registry: Registry) -> None:
    found = model([start(**on("message")), task("t"), gateway("x", "exclusive"), end(), end("e2"),
                   end("e3")], "s>t t>x x>e x>e2 x>e3:*")  # fmt: skip
    texts = {"f2": "${amount > limit && name == 'Bob'}", "f3": "${!approved}"}
    process = found.processes[0]
    made = tuple(
        f.replace(condition=Expression(text=texts[f.id])) if f.id in texts else f
        for f in process.flows
    )
    compiled = Compiled(found.replace(processes=(process.replace(flows=made),)), registry)
    with moto_runner() as runner:
        report = compiled.replay(runner)
    assert [r.verdict for r in report.runs] == ["equal"] * 3


# -- our own check ---------------------------------------------------------------------------


def test_the_check_finds_what_is_wrong(registry: Registry) -> None:
    (whole,) = Compiled(CASES["decision inside a branch, in a loop"], registry).definitions
    assert list(list_problems(whole)) == []

    def edited(name: str, **changes: Any) -> list[str]:
        made = copy.deepcopy(whole)
        state = dict(all_states(made))[name]
        for key, value in changes.items():
            if value is None:
                state.pop(key)
            else:
                state[key] = value
        return list(list_problems(made))

    assert any("not in its machine" in p for p in edited("Task t4", Next="Task t1"))
    assert any("nothing leads to" in p for p in edited("Gate a", Next="Gate z"))
    assert any("one of `Next` and `End`" in p for p in edited("Task t4", Next=None))
    assert any("does not support" in p for p in edited("Task t4", Seconds=3))
    assert any("not a path" in p for p in edited("Task t4", ResultPath="$.results.a b"))
    assert any("no `Choices`" in p for p in edited("Gate z", Choices=None))
    longer = copy.deepcopy(whole)
    longer["States"]["x" * 81] = {"Type": "Succeed"}
    assert any("81 characters" in p for p in list_problems(longer))
    twice = copy.deepcopy(whole)
    twice["States"]["Task t1"] = {"Type": "Succeed"}
    assert any("two states have the name" in p for p in list_problems(twice))
    assert list(list_problems({"StartAt": "a", "States": {}})) != []


def test_a_faulty_machine_is_our_fault(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    from orgflow.backends.asl import backend as module

    found = Compiled(model([start(), end()], "s>e"), registry)
    monkeypatch.setattr(module, "list_problems", lambda definition: ["`x` is odd"])
    assert found.legal is not None
    ctx = found.ctx
    assert registry.backends["asl"].emit(found.legal, ctx).artifacts == ()
    assert [d.code for d in ctx.diagnostics][-1] == rules.FaultyStateMachine.code == "OF912"


# -- what is told ----------------------------------------------------------------------------


def _with(process: Process, **changes: Flow) -> Model:
    made = tuple(changes.get(f.id, f) for f in process.flows)
    return Model(id="m", processes=(process.replace(flows=made),))


def told_models() -> dict[str, tuple[Model, str]]:
    """For every rule of a gap a model, and a part of what is said."""
    choice = model([start(), task("t"), gateway("x", "exclusive"), end(), end("e2")],
                   "s>t t>x x>e:Yes x>e2:No")  # fmt: skip
    bare = model([start(), task("t"), gateway("x", "exclusive"), task("a"), task("b"), end()],
                 "s>t t>x x>a x>b a>e b>e")  # fmt: skip
    sum_ = choice.processes[0].flows[2].replace(condition=Expression(text="${a + b > 1}"))
    code = _with(choice.processes[0], f2=sum_)
    message = Event(id="m", name="Answer", position="catch", **on("message"))
    each = task("t", loop=Loop(kind="multi-instance", collection="orders"))
    lone = model([start(), task("t"), gateway("x", "exclusive"), end()], "s>t t>x x>e:Yes")
    return {
        "OF501": (choice, "task `Task t` has no implementation; emitted a Pass state"),
        "OF502": (choice, "the state machine reads `gate_x` from the result of `Task t`"),
        "OF503": (bare, "`Task a` and `Task b` have neither a condition nor a label"),
        "OF505": (model([start(), message, end()], "s>m m>e"), "`Answer` waits for a message"),
        "OF406": (code, "is not supported (a Choice state cannot compute)"),
        "OF508": (lone, "`Gate x` has only one branch, `Yes`"),
        "OF509": (CASES["several starts"], "the input field `start` selects it with"),
        "OF510": (model([start(), each, end()], "s>t t>e"), "repeated for each item of `orders`"),
    }


@pytest.mark.parametrize("code", sorted(told_models()))
def test_a_gap_is_told(code: str, registry: Registry) -> None:
    found, words = told_models()[code]
    made = Compiled(found, registry)
    said = made.told(code)
    assert any(words in d.message for d in said), [d.message for d in said]
    assert all(d.element is not None and d.help for d in said)
    assert made.definitions


def test_every_rule_is_tried() -> None:
    tried = {"OF912", "OF479", "OF488"}  # in test_asl_losses and test_asl_variables
    assert {r.code for r in rules.ASL_RULES} == tried
    assert {r.successor for r in rules.RETIRED} <= {r.code for r in GAP_RULES}


# -- odd input -------------------------------------------------------------------------------


@pytest.mark.parametrize("label", HOSTILE)
def test_labels_are_words_and_nothing_else(
    label: str, registry: Registry, referee: Validator
) -> None:
    """No label becomes a path, an expression or anything but the text it is."""
    found = model([start(), task("t"), gateway("x", "exclusive"), task("a"), task("b"), end()],
                  "s>t t>x x>a x>b a>e b>e")  # fmt: skip
    process = found.processes[0]
    nodes = tuple(n.replace(name=label) for n in process.nodes)
    named = tuple(f.replace(name=f"{label} {f.target}") if f.source == "x" else f
                  for f in process.flows)  # fmt: skip
    made = Compiled(Model(id="m", processes=(process.replace(nodes=nodes, flows=named),)), registry)
    assert made.definitions, [d.message for d in made.ctx.diagnostics]
    assert referee.problems(made.definitions[0]) == []


def test_hostile_labels_run(registry: Registry) -> None:
    with moto_runner() as runner:
        for label in ("States.Format('{}')", "$.input", '"quoted" \\ back', "{% $x %}", "a.$"):
            found = CASES["decision inside a branch, in a loop"].processes[0]
            nodes = tuple(n.replace(name=f"{label} {n.id}") for n in found.nodes)
            named = tuple(f.replace(name=f"{label} {f.name}") if f.name else f for f in found.flows)
            process = found.replace(nodes=nodes, flows=named)
            made = Compiled(Model(id="m", processes=(process,)), registry)
            report = made.replay(runner, 3)
            assert [r.verdict for r in report.runs] == ["equal"] * 3, label


def nested(depth: int) -> Model:
    """Parallel blocks inside each other."""
    nodes: list[Any] = [start(), task("t"), end()]
    text = []
    before, last = "s", "t"
    for i in range(depth):
        nodes += [gateway(f"a{i}", "parallel"), gateway(f"j{i}", "parallel"), task(f"b{i}")]
        text += [f"{before}>a{i}", f"a{i}>b{i}", f"b{i}>j{i}"]
        before = f"a{i}"
    text.append(f"{before}>t")
    for i in reversed(range(depth)):
        text.append(f"{last}>j{i}")
        last = f"j{i}"
    return model(nodes, " ".join([*text, f"{last}>e"]))


def test_deep_nesting_is_refused_not_crashed_on(registry: Registry, referee: Validator) -> None:
    made = Compiled(nested(MAX_DEPTH), registry)
    assert referee.problems(made.definitions[0]) == []
    deeper = Compiled(nested(400), registry)
    (error,) = (d for d in deeper.ctx.diagnostics if d.severity is Severity.ERROR)
    assert f"more than {MAX_DEPTH} forks are nested" in error.message


def test_large_models_are_quick(registry: Registry) -> None:
    nodes: list[Any] = [start()]
    text, last = [], "s"
    for i in range(600):
        nodes += [gateway(f"a{i}", "parallel"), task(f"p{i}"), task(f"q{i}"),
                  gateway(f"j{i}", "parallel")]  # fmt: skip
        text += [f"{last}>a{i}", f"a{i}>p{i}", f"a{i}>q{i}", f"p{i}>j{i}", f"q{i}>j{i}"]
        last = f"j{i}"
    found = model([*nodes, end()], " ".join([*text, f"{last}>e"]))
    began = time.process_time()
    made = Compiled(found, registry)
    assert time.process_time() - began < 10
    assert sum(1 for _ in all_states(made.definitions[0])) == 2 + 600 * 3


def test_the_same_model_gives_the_same_bytes(registry: Registry) -> None:
    for found in CASES.values():
        one = Compiled(found, registry).definitions
        other = Compiled(Model.from_json(found.to_json()), registry).definitions
        assert one == other
        assert repr(one) == repr(other)


def test_callbacks_in_place_of_placeholders(registry: Registry, referee: Validator) -> None:
    found = model([start(), task("t"), boundary("b", "t", **on("error")), task("fix"),
                   gateway("x", "exclusive"), end(), end("e2")],
                  "s>t t>x x>e:Yes x>e2:No b>fix fix>e")  # fmt: skip
    made = Compiled(found, registry, tasks="callback")
    assert referee.problems(made.definitions[0]) == []
    state = dict(all_states(made.definitions[0]))["Task t"]
    assert state["Resource"].endswith("events:putEvents.waitForTaskToken")
    detail = state["Parameters"]["Entries"][0]["Detail"]
    assert detail["wanted"] == {"gate_x": ""}
    assert state["Catch"][0]["ErrorEquals"] == ["States.ALL"]
    with moto_runner() as runner:
        report = made.replay(runner)
    assert {r.verdict for r in report.runs} == {"equal"}


def test_an_unset_decision_is_not_caught_as_an_error_of_the_process(registry: Registry) -> None:
    """A boundary event that catches every error does not catch that nobody decided."""
    from orgflow.backends.asl.stub_data import StubData

    made = Compiled(CASES["sub-process with any error"], registry)
    with moto_runner() as runner:
        made.replay(runner, 1)
        result = runner.play_stubs(StubData())
    assert result.status == "error"
    assert (result.error or "").startswith("NoBranchFits")


def test_a_sub_process_with_several_starts_is_refused(registry: Registry) -> None:
    inner = sub("sub", [start("i1"), start("i2"), end("ie")], "i1>ie i2>ie")
    made = Compiled(model([start(), inner, end()], "s>sub sub>e"), registry)
    (error,) = made.told("OF403")
    assert (
        "(sub-process.starts) is not supported for asl: the model does not define at which"
        in error.message
    )
