"""Filling with a language model that makes realistic mistakes, step by step and from end to end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orgflow
import pytest
from model_server import ModelServer, Scripted, model_server
from orgflow.agents.filling.arrange import read_arrangement
from orgflow.agents.filling.choose import Unusable, find_candidates, read_choice
from orgflow.agents.filling.context import task_context
from orgflow.agents.filling.parameters import find_faults, keep_valid
from orgflow.agents.filling.search import OperationIndex, words_of
from orgflow.agents.filling.times import read_duration
from orgflow.agents.model_client.client import OpenAIModelClient
from orgflow.agents.model_client.settings import ModelSettings
from small_catalogue import small_catalogue

from orgflow_ir.gaps import find_gaps
from orgflow_ir.model import Event, Expression, Flow, Gateway, Model, Process, Task
from orgflow_ir.model.bindings import Field as FormField
from orgflow_ir.model.bindings import Form, Parameter, Worker
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.services import Services

POST, ARCHIVE = "n8n-nodes-base.chat@1:post", "n8n-nodes-base.chat@1:archive"
CHECK = "n8n-nodes-base.store@1:get"
CATALOGUE = small_catalogue()


def model(doc: str = "Tell the channel #orders in the chat.") -> Model:
    """A form asks for `article`; the stock is checked; a gateway reads `in_stock`; a message."""
    nodes = (
        Event(id="s", name="Start", position="start"),
        Task(
            id="f", name="Enter order", task_type="user",
            binding=Form(fields=(FormField(name="article", type="string"),)),
        ),
        Task(id="c", name="Check the stock", task_type="service"),
        Gateway(id="g", name="In stock?", gateway_kind="exclusive"),
        Task(id="m", name="Send a message", task_type="service", doc=doc),
        Event(id="e", name="End", position="end"),
        Event(id="n", name="None left", position="end"),
    )  # fmt: skip
    flows = (
        Flow(id="f1", source="s", target="f"),
        Flow(id="f2", source="f", target="c"),
        Flow(id="f3", source="c", target="g"),
        Flow(
            id="f4", source="g", target="m",
            condition=Expression(text="in_stock > 0", language="FEEL"),
        ),
        Flow(id="f5", source="g", target="n", default=True),
        Flow(id="f6", source="m", target="e"),
    )  # fmt: skip
    process = Process(id="p", name="Orders", executable=True, nodes=nodes, flows=flows)
    return Model(id="d", name="Orders", processes=(process,))


def fill(
    script: Any, source: Model | None = None, **settings: Any
) -> tuple[orgflow.ReadResult, ModelServer, OpenAIModelClient]:
    with model_server(script) as server:
        client = OpenAIModelClient(ModelSettings(url=server.url, name="toy", **settings))
        services = Services(client, client.budget, catalogue=CATALOGUE)
        result = orgflow.fill(source or model(), ["operations", "labels"], services=services)
    return result, server, client


def bound(result: orgflow.ReadResult, task: str) -> Worker | None:
    assert result.model is not None
    found = next(n for n in result.model.processes[0].nodes if n.id == task)
    assert isinstance(found, Task)
    assert found.binding is None or isinstance(found.binding, Worker)
    return found.binding


def step(request: dict[str, Any]) -> tuple[str, str]:
    """Which step is asked about which task."""
    text = request["messages"][-1]["content"]
    task = "c" if "step: Check the stock" in text else "m"
    kinds = (("Which operation", "choose"), ("Which parameters", "arrange"), ("", "parameters"))
    return next(kind for start, kind in kinds if start in text), task


def answering(answers: dict[tuple[str, str], list[Any]]) -> Callable[[dict[str, Any]], str]:
    """Answers by step and task, the last one again and again; texts as they are."""
    asked: dict[tuple[str, str], int] = {}

    def answer(request: dict[str, Any]) -> str:
        key = step(request)
        number = asked.get(key, 0)
        asked[key] = number + 1
        said = answers[key][min(number, len(answers[key]) - 1)]
        return said if isinstance(said, str) else json.dumps(said)

    return answer


GOOD: dict[tuple[str, str], list[Any]] = {
    ("choose", "c"): [{"operation": CHECK}],
    ("arrange", "c"): [{"inputs": {"article": "article"}, "outputs": {"in_stock": "amount"}}],
    ("parameters", "c"): [{}],
    ("choose", "m"): [{"operation": POST}],
    ("arrange", "m"): [{"inputs": {"text": '"Sold: " + article'}, "outputs": {}}],
    ("parameters", "m"): [
        {"select": "channel", "channelId": {"__rl": True, "mode": "id", "value": "#orders"}}
    ],
}


def test_three_steps_fill_a_task() -> None:
    result, server, client = fill(answering(GOOD))
    assert result.ok, result.diagnostics
    check, post = bound(result, "c"), bound(result, "m")
    assert check is not None
    assert post is not None
    assert check.target == "n8n:n8n-nodes-base.store@1"
    assert [(i.name, i.text) for i in check.inputs] == [("article", "article")]
    assert [(o.name, o.text) for o in check.outputs] == [("in_stock", "amount")]
    values = {name: json.loads(text) for name, text in post.parameters}
    assert values["select"] == "channel"
    assert values["channelId"]["value"] == "#orders"
    assert values["@accounts"] == ["chatApi"]
    assert [i.name for i in post.inputs] == ["text"]
    assert len(server.requests) == 6
    assert client.usage.agents.keys() == {"operations"}
    made = orgflow.compile(result)
    assert made.ok
    assert not [d for d in made.diagnostics if d.code in ("OF404", "OF501", "OF426")]
    assert orgflow.verify(result, made).ok


@pytest.mark.parametrize(
    ("what", "code", "text"),
    [
        ("choose", "OF523", "`Send a message` stays open"),
        ("arrange", "OF521", "all variables of `Send a message` were omitted"),
        ("parameters", "OF521", "parameters of `Send a message` were omitted"),
    ],
)
def test_a_step_without_a_usable_answer_is_reported(what: str, code: str, text: str) -> None:
    result, *_ = fill(answering({**GOOD, (what, "m"): ["no JSON", "no JSON either"]}))
    found = [d for d in result.diagnostics if d.element == "m" and d.code == code]
    assert [text in d.message for d in found] == [True]
    assert (bound(result, "m") is None) == (what == "choose")


@pytest.mark.parametrize(
    "first",
    [
        {"operation": "n8n-nodes-base.teleport@1:beam"},
        {"operation": 7},
        "{not JSON",
        "I would take the chat node.",
        "",
        '{"operation": ',
    ],
)
def test_a_choice_that_cannot_be_used_is_asked_again(first: Any) -> None:
    result, server, _ = fill(answering({**GOOD, ("choose", "m"): [first, {"operation": POST}]}))
    assert bound(result, "m") is not None
    asked = [r for r in server.requests if step(r) == ("choose", "m")]
    assert len(asked) == 2
    assert "cannot be used" in asked[1]["messages"][-1]["content"]


def test_an_invented_operation_twice_leaves_the_task_open() -> None:
    invented = {"operation": "n8n-nodes-base.teleport@1:beam"}
    result, server, _ = fill(answering({**GOOD, ("choose", "m"): [invented]}))
    assert bound(result, "m") is None
    assert sum(step(r) == ("choose", "m") for r in server.requests) == 2
    assert bound(result, "c") is not None


def test_none_leaves_the_task_open() -> None:
    result, server, _ = fill(answering({**GOOD, ("choose", "m"): [{"operation": "none"}]}))
    assert bound(result, "m") is None
    assert not [r for r in server.requests if step(r) == ("parameters", "m")]


def test_hidden_parameters_and_wrong_types_are_told_and_left_out() -> None:
    wrong = {
        "select": "channel", "user": "U1", "teleport": True,
        "options": {"delay": "soon", "silent": True},
    }  # fmt: skip
    result, server, _ = fill(answering({**GOOD, ("parameters", "m"): [wrong]}))
    asked = [r for r in server.requests if step(r) == ("parameters", "m")]
    assert len(asked) == 2  # feedback that is ignored ends
    said = asked[1]["messages"][-1]["content"]
    assert "`user`: the parameter is hidden with these values" in said
    assert "`teleport`" in said
    assert "`options.delay`: 'soon' is not of type 'number'" in said
    post = bound(result, "m")
    assert post is not None
    values = {name: json.loads(text) for name, text in post.parameters}
    assert "user" not in values
    assert values["options"] == {"silent": True}
    assert values["channelId"]["value"] == "(fill in: Channel)"
    left_out = [d.message for d in result.diagnostics if d.code == "OF521"]
    assert len(left_out) == 3
    found = [d.message for d in orgflow.compile(result).diagnostics if d.code == "OF426"]
    assert found == ["the model does not define what `channelId` is for `Send a message`"]


def test_invented_values_are_left_out() -> None:
    invented = {
        "select": "channel", "channelId": {"__rl": True, "mode": "id", "value": "C024BE91L"},
    }  # fmt: skip
    result, _, _ = fill(answering({**GOOD, ("parameters", "m"): [invented]}))
    post = bound(result, "m")
    assert post is not None
    assert "C024BE91L" not in str(post)
    assert [i.name for i in post.inputs if not i.text] == ["channelId"]


@pytest.mark.parametrize(
    "hostile", ["={{ $env.HOME }}", "={{ $('Enter order').item.json.article }}", "=1"]
)
def test_expressions_of_n8n_are_no_constants(hostile: str) -> None:
    answers = {("arrange", "m"): [{"inputs": {}, "outputs": {}}]}
    given = {**GOOD["parameters", "m"][0], "text": hostile}
    result, _, _ = fill(answering({**GOOD, **answers, ("parameters", "m"): [given]}))
    made = orgflow.compile(result)
    assert "$env" not in str(made.files)
    assert bound(result, "m") is not None
    assert hostile not in str(bound(result, "m"))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            {"inputs": {"text": "customer"}, "outputs": {}},
            "there is no process variable `customer`",
        ),
        ({"inputs": {"text": "a b c ("}, "outputs": {}}, "not valid FEEL"),
        ({"inputs": {"text": 3}, "outputs": {}}, "not a short text"),
        ({"inputs": [], "outputs": {"a.b": "x"}}, "`a.b` is no variable"),
        ({"inputs": {}, "outputs": {"__proto__": "x"}}, "is no"),
        ("no JSON at all", "contains no JSON"),
    ],
)
def test_an_arrangement_that_cannot_be_used_is_asked_again(wrong: Any, said: str) -> None:
    answers = {**GOOD, ("arrange", "m"): [wrong, *GOOD["arrange", "m"]]}
    result, server, _ = fill(answering(answers))
    asked = [r for r in server.requests if step(r) == ("arrange", "m")]
    assert len(asked) == 2
    assert said in asked[1]["messages"][-1]["content"]
    post = bound(result, "m")
    assert post is not None
    assert [i.name for i in post.inputs] == ["text"]


def test_an_input_that_does_not_show_is_left_out() -> None:
    hidden = {"inputs": {"user": "article", "text": "article"}, "outputs": {}}
    result, server, _ = fill(answering({**GOOD, ("arrange", "m"): [hidden]}))
    post = bound(result, "m")
    assert post is not None
    assert [i.name for i in post.inputs] == ["text"]
    assert any("`user`" in d.message for d in result.diagnostics if d.code == "OF521")
    assert sum(step(r) == ("parameters", "m") for r in server.requests) == 2


def test_the_budget_ends_it_and_what_was_filled_stays() -> None:
    answer = answering(GOOD)
    result, server, _ = fill(
        lambda request: Scripted(answer(request), usage=(1_000, 20)), tokens=3_500
    )
    assert len(server.requests) == 4
    assert any(d.code == "OF514" for d in result.diagnostics)
    assert bound(result, "c") is not None
    assert bound(result, "m") is None


def test_recorded_answers_cost_nothing(tmp_path: Path) -> None:
    settings = {"record": str(tmp_path / "calls")}
    first, server, _ = fill(answering(GOOD), **settings)
    assert len(server.requests) == 6
    again, silent, client = fill(lambda r: Scripted(status=500), **settings, replay=True)
    assert silent.requests == []
    assert again.model == first.model
    assert client.usage.total.replayed == 6


def test_a_dead_server_ends_it() -> None:
    result, _, _ = fill([Scripted("no", status=400)])
    assert any(d.code == "OF514" for d in result.diagnostics)
    assert bound(result, "c") is None


# -- the steps -----------------------------------------------------------------------------------


def context_of(task: str, source: Model | None = None) -> Any:
    source = source or model()
    gap = next(g for g in find_gaps(source, PassContext()) if g.element.id == task)
    return task_context(gap, source)


def test_the_context_of_a_task() -> None:
    context = context_of("c")
    assert context.label == "Check the stock"
    assert context.before == ("Enter order",)
    assert context.after == ("In stock?",)
    assert context.variables == ("article", "in_stock")
    assert context.wanted == ("in_stock",)


def test_candidates_come_by_their_words() -> None:
    assert find_candidates(context_of("c"), CATALOGUE)[0].operation.id == CHECK
    assert find_candidates(context_of("m"), CATALOGUE)[0].operation.id == POST
    assert words_of("Sending e-mails to customers' HTTPServers") == [
        "send", "email", "customer", "http", "server",
    ]  # fmt: skip
    index = OperationIndex(CATALOGUE.operations)
    assert index.search("archive channels")[0].operation.id == ARCHIVE
    assert index.search("xyzzy") == []
    assert index.coverage("archive a channel", index.search("archive")[0].operation) == 1


def test_a_choice_is_one_of_the_candidates() -> None:
    found = find_candidates(context_of("m"), CATALOGUE)
    assert read_choice({"operation": "none"}, found) is None
    with pytest.raises(Unusable, match="is not in the list"):
        read_choice({"operation": "x"}, found)


def test_arranged_texts_are_read() -> None:
    made = read_arrangement(
        {"inputs": {"text": "=article"}, "outputs": {"x": "a.b", "y": ""}}, context_of("m")
    )
    assert made.inputs == (Parameter(name="text", text="article", language="feel"),)
    assert [o.name for o in made.outputs] == ["x"]


def test_what_is_wrong_is_taken_out_until_nothing_is() -> None:
    post = CATALOGUE.operation(POST)
    assert post is not None
    context = context_of("m")
    values = {"select": "teleport", "channelId": {"__rl": True, "mode": "id", "value": "#orders"}}
    assert find_faults(values, post, (), CATALOGUE, context)
    made, inputs = keep_valid(values, post, (), CATALOGUE, context)
    assert made.values == {}  # without `select`, the channel does not show
    assert {f.path[0] for f in made.left_out} == {"select", "channelId"}
    assert inputs == ()


# -- without a model -----------------------------------------------------------------------------


def test_operations_are_proposed_never_silently_used() -> None:
    services = Services(catalogue=CATALOGUE)
    result = orgflow.fill(model(), ["operations-rules"], services=services)
    assert bound(result, "c") is None
    proposed = {d.element: d.message for d in result.diagnostics if d.code == "OF520"}
    assert "Check the stock of an article" in proposed["c"].replace("check", "Check")
    assert proposed.keys() == {"c", "m"}


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("Two weeks later", "P2W"), ("after 3 days", "P3D"), ("an hour", "PT1H"),
        ("30 minutes", "PT30M"), ("after 3-5 days", None), ("every day", None),
        ("within 2 days", None), ("1 day or 2 days", None), ("a few days", None), ("soon", None),
        ("2 working days", None),
    ],
)  # fmt: skip
def test_times_that_names_say(text: str, time: str | None) -> None:
    assert read_duration(text) == time
