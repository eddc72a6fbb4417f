"""The client of the language model: against a server on this machine whose answers are scripted."""

from __future__ import annotations

import email.utils
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from model_server import Scripted, model_server
from orgflow.agents.model_client.client import OpenAIModelClient, StoppedAfterAnswer
from orgflow.agents.model_client.settings import (
    KEYS,
    ModelSettings,
    NotConfigured,
    SettingsError,
    environment_variable,
    read_settings,
)
from orgflow.agents.model_client.usage import Expected

from orgflow_ir.filling.agent_guards import AgentFailure, produce_model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.agent_services import Tool
from orgflow_ir.pipeline.services import (
    CancelFlag,
    Cancelled,
    OverBudget,
    ServiceError,
    Services,
    required,
)
from orgflow_ir.plugins import Document, ModelAgent

KEY = "sk-secret-0001"
QUESTION = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Two?"}]
SCHEMA = {
    "type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"],
    "additionalProperties": False,
}  # fmt: skip


def client(
    url: str,
    *,
    cancellation: CancelFlag | None = None,
    report: Callable[[str], None] = lambda line: None,
    **more: Any,
) -> OpenAIModelClient:
    settings = ModelSettings(url=url, name="toy", key=KEY, **{"patience": 5.0, **more})
    return OpenAIModelClient(settings, cancellation=cancellation, report=report)


def test_a_reply_and_what_it_took() -> None:
    with model_server([Scripted("2", usage=(1_000, 100))]) as server:
        model = client(server.url, price_in=1.0, price_out=10.0)
        reply = model.ask(QUESTION)
    assert (reply.text, reply.tokens_in, reply.tokens_out) == ("2", 1_000, 100)
    assert model.usage.total.cost == pytest.approx(0.002)
    assert "1,000 tokens in, 100 out, cost 0.0020" in model.usage.lines(priced=True)[0]
    assert server.keys == [f"Bearer {KEY}"]
    assert server.requests[0]["messages"] == QUESTION
    assert server.requests[0]["temperature"] == 0


def test_a_schema_and_tools_are_sent() -> None:
    tool = Tool("look", "Look a thing up.", {"type": "object", "properties": {}})
    with model_server([Scripted("", calls=[("look", '{"x": 1}')])]) as server:
        reply = client(server.url).ask(QUESTION, schema=SCHEMA, tools=[tool])
    (request,) = server.requests
    assert request["response_format"]["json_schema"] == {
        "name": "answer", "schema": SCHEMA, "strict": True,
    }  # fmt: skip
    assert request["tools"][0]["function"]["name"] == "look"
    assert [(c.name, c.arguments) for c in reply.calls] == [("look", '{"x": 1}')]


def test_an_open_schema_is_not_strict() -> None:
    with model_server(["{}"]) as server:
        client(server.url).ask(QUESTION, schema={"type": "object", "properties": {"a": {}}})
    assert server.requests[0]["response_format"]["json_schema"]["strict"] is False


@pytest.mark.parametrize(
    ("refuses", "form"),
    [(("json_schema",), {"type": "json_object"}), (("json_schema", "json_object"), None)],
)
def test_a_server_without_structured_output(refuses: tuple[str, ...], form: Any) -> None:
    with model_server(['{"n": 2}'], refuses=refuses) as server:
        model = client(server.url)
        assert model.ask(QUESTION, schema=SCHEMA).text == '{"n": 2}'
        model.ask([*QUESTION, {"role": "user", "content": "Again?"}], schema=SCHEMA)
    assert [r.get("response_format") for r in server.requests] == [form, form]
    assert len(server.keys) == 2 + len(refuses)  # what it refused once is not tried again
    assert json.dumps(SCHEMA, separators=(",", ":")) in server.prompt()
    assert server.requests[0]["messages"][0]["content"].startswith("Be brief.")


def test_a_server_without_other_parts() -> None:
    with model_server(["2"], refuses=("temperature", "max_tokens")) as server:
        client(server.url).ask(QUESTION)
    assert "temperature" not in server.requests[0]
    assert server.requests[0]["max_completion_tokens"] == 4_000


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_what_fails_for_the_moment_is_tried_again(status: int) -> None:
    script = [Scripted("wait", status=status, retry_after=0.01), "2"]
    with model_server(script) as server:
        model = client(server.url)
        assert model.ask(QUESTION).text == "2"
    assert len(server.requests) == 2
    assert (model.usage.total.calls, model.usage.total.retries) == (1, 1)


def test_tries_are_bounded() -> None:
    with model_server([Scripted("no", status=500, retry_after=0)]) as server:
        with pytest.raises(ServiceError, match="answered 500: no"):
            client(server.url, tries=3).ask(QUESTION)
        assert len(server.requests) == 3


def test_patience_is_bounded() -> None:
    with model_server([Scripted("no", status=429, retry_after=3600)]) as server:
        started = time.monotonic()
        with pytest.raises(ServiceError, match="asks to wait 3,600 seconds"):
            client(server.url).ask(QUESTION)
        assert time.monotonic() - started < 120
        assert len(server.requests) == 1


def test_a_date_to_wait_for() -> None:
    soon = email.utils.formatdate(time.time() + 3, usegmt=True)
    with model_server([Scripted("wait", status=429, retry_after=soon), "2"]) as server:
        model = client(server.url)
        started = time.monotonic()
        assert model.ask(QUESTION).text == "2"
    assert time.monotonic() - started > 1.5  # without the date half a second
    assert "1 retry," in model.usage.lines(priced=False)[0]


def test_a_server_that_does_not_name_what_it_refuses() -> None:
    def answer(request: dict[str, Any]) -> Scripted:
        return (
            Scripted("bad request", status=400) if "response_format" in request else Scripted("2")
        )

    with model_server(answer) as server:
        assert client(server.url).ask(QUESTION, schema=SCHEMA).text == "2"
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("usage", "expected"),
    [((0, 5), (True, True, 5)), ((7, 0), (True, 7, 100)), (("many", None), (True, True, 100))],
)
def test_counts_that_are_missing_or_no_numbers(usage: Any, expected: tuple[Any, ...]) -> None:
    with model_server([Scripted("x" * 400, usage=usage)]) as server:
        model = client(server.url)
        reply = model.ask(QUESTION)
    assert len(server.requests) == 1
    estimated, tokens_in, tokens_out = expected
    assert model.usage.total.estimated is estimated
    assert reply.tokens_in > 0 if tokens_in is True else reply.tokens_in == tokens_in
    assert reply.tokens_out == tokens_out


@pytest.mark.parametrize(
    ("status", "hint"), [(400, "bad"), (401, "ORGFLOW_MODEL_KEY"), (404, "name of the model")]
)
def test_a_refusal_for_good(status: int, hint: str) -> None:
    with model_server([Scripted(f"bad, {KEY}", status=status)]) as server:
        with pytest.raises(ServiceError, match=hint) as raised:
            client(server.url).ask(QUESTION)
        assert len(server.requests) == 1
    assert KEY not in str(raised.value)


@pytest.mark.parametrize(
    "body", [b"[]", b'"ok"', b"{}", b'{"choices": []}', b'{"choices": [{}]}', b'{"choices": 3}',
             b"<html>Bad gateway</html>", b'{"choices": [', b'{"\xff": 1}', b""],
)  # fmt: skip
def test_something_else_than_a_completion(body: bytes) -> None:
    with (
        model_server([Scripted(body=body)]) as server,
        pytest.raises(ServiceError, match=r"not a chat completion|cannot be reached"),
    ):
        client(server.url, tries=1).ask(QUESTION)


def test_nobody_is_there() -> None:
    with pytest.raises(ServiceError, match="cannot be reached"):
        client("http://127.0.0.1:9/v1", tries=1).ask(QUESTION)


def test_an_answer_that_does_not_come() -> None:
    with (
        model_server([Scripted("2", delay=2)]) as server,
        pytest.raises(ServiceError, match=r"did not answer within 0\.2 seconds"),
    ):
        client(server.url, seconds=0.2, tries=1).ask(QUESTION)


@pytest.mark.parametrize("sent", [True, False])
def test_a_stop_while_the_call_begins(
    sent: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request may be on its way when its thread has just been started."""
    real = threading.Thread.start
    with model_server([Scripted("2", delay=0.3 if sent else 600)]) as server:

        def start(thread: threading.Thread) -> None:
            if thread.name != "orgflow-model-call":
                return real(thread)
            if sent:
                real(thread)
                while not server.requests:
                    time.sleep(0.01)
            raise KeyboardInterrupt

        monkeypatch.setattr(threading.Thread, "start", start)
        lines = list[str]()
        asking = client(server.url, report=lines.append, record=str(tmp_path / "calls"))
        begun = time.monotonic()
        with pytest.raises(KeyboardInterrupt) as stopped:
            asking.ask(QUESTION)
        assert time.monotonic() - begun < 120
    assert isinstance(stopped.value, StoppedAfterAnswer) == sent
    assert len(lines) == asking.usage.total.calls == sent


@pytest.mark.parametrize(("delay", "kept"), [(1.0, True), (600.0, False)])
def test_cancellation_waits_a_moment_for_the_answer_in_flight(
    delay: float, kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orgflow.agents.model_client.client.LAST_ANSWER", 5.0 if kept else 0.2)
    flag, lines = CancelFlag(), list[str]()
    with model_server([Scripted("2", delay=delay)]) as server:
        asking = client(
            server.url, cancellation=flag, report=lines.append, record=str(tmp_path / "calls")
        )
        threading.Timer(0.3, flag.cancel).start()
        started = time.monotonic()
        with pytest.raises(Cancelled) as stopped:
            asking.ask(QUESTION)
        assert time.monotonic() - started < 120
    assert isinstance(stopped.value, StoppedAfterAnswer) == kept
    assert [line.split(" ")[0] for line in lines] == ["waiting", *(["no"] if not kept else [])]
    assert asking.usage.total.calls == len(list((tmp_path / "calls").rglob("*.json"))) == kept
    with pytest.raises(Cancelled):
        asking.ask(QUESTION)


def test_a_cut_off_answer_says_so() -> None:
    with model_server([Scripted('{"n":', finish="length")]) as server:
        assert client(server.url).ask(QUESTION).truncated


def test_an_endpoint_that_does_not_count() -> None:
    with model_server([Scripted("x" * 400, usage=None)]) as server:
        model = client(server.url)
        reply = model.ask(QUESTION)
    assert (reply.tokens_out, reply.tokens_in > 0) == (100, True)
    assert "about" in model.usage.lines(priced=False)[0]


# -- budget ----------------------------------------------------------------------------------


def test_a_reply_that_overdraws_is_given_and_nothing_is_sent_after_it(tmp_path: Path) -> None:
    with model_server([Scripted("2", usage=(60, 60))]) as server:
        model = client(server.url, tokens=100, record=str(tmp_path))
        assert model.ask(QUESTION).text == "2"  # it is paid
        assert not model.budget.left
        for _ in range(2):
            with pytest.raises(OverBudget, match="100 tokens is exhausted"):
                model.ask(QUESTION)
        assert len(server.requests) == 1
        assert model.usage.total.tokens == 120
        again = client(server.url, tokens=100, record=str(tmp_path))
        assert again.ask(QUESTION).text == "2"
        assert len(server.requests) == 1


def test_a_question_that_is_too_long_is_not_sent() -> None:
    with model_server(["2"]) as server:
        with pytest.raises(OverBudget, match="needs about 1,0"):
            client(server.url, tokens=100).ask([{"role": "user", "content": "x" * 4_000}])
        assert server.requests == []


def test_a_budget_of_money() -> None:
    with model_server([Scripted("2", usage=(1_000_000, 0))]) as server:
        model = client(server.url, tokens=None, cost=0.5, price_in=1.0)
        assert model.ask(QUESTION).text == "2"
        with pytest.raises(OverBudget, match=r"budget of 0\.5 is exhausted"):
            model.ask(QUESTION)


def test_what_calls_cost_is_known_before() -> None:
    expected = Expected(calls=1, tokens_in=4, tokens_out=10)
    url = "http://127.0.0.1:9/v1"
    assert client(url, price_in=1e5, price_out=1e5).expected_cost(expected.times(2)) == 2.8
    assert client(url).expected_cost(expected) is None


class Asking(ModelAgent):
    name = "asking"

    def produce(self, documents: Any, ctx: PassContext) -> None:
        required(ctx.services.model, "language model").ask(QUESTION)
        raise ServiceError("that is all")


def test_usage_is_by_agent() -> None:
    with model_server(["2"]) as server:
        model = client(server.url)
        model.ask(QUESTION)
        ctx = PassContext(services=Services(model))
        with pytest.raises(AgentFailure, match="that is all"):
            produce_model(Asking(), [Document("d", "t")], ctx)
    assert {name: usage.calls for name, usage in model.usage.agents.items()} == {"": 1, "asking": 1}
    assert [line.split(":")[0] for line in model.usage.lines(priced=False)] == [
        "model", "asking", "all",
    ]  # fmt: skip


@pytest.mark.parametrize("redact", ["on", "off"])
def test_a_replay_needs_no_other_settings(redact: str, tmp_path: Path) -> None:
    """The name of the model and the redaction are those of the recorded calls."""
    record = {"record": str(tmp_path / "calls")}
    question = [{"role": "user", "content": "Dear Mrs Anna Okafor, what is 1 + 1?"}]
    with model_server(["2"]) as server:
        made = {"url": server.url, "name": "toy", "redact": redact, **record}
        OpenAIModelClient(read_settings({}, {}, made)).ask(question)
        assert ("Okafor" in server.prompt()) == (redact == "off")
    for environment in ({}, {"ORGFLOW_MODEL_URL": "https://api.example.org/v1"}):
        settings = read_settings(environment, {}, {**record, "replay": True})
        assert OpenAIModelClient(settings).ask(question).text == "2"


# -- records ---------------------------------------------------------------------------------


def test_a_recorded_call_is_not_paid_twice(tmp_path: Path) -> None:
    with model_server([f"first {KEY}", "second"]) as server:
        once = client(server.url, record=str(tmp_path))
        texts = [once.ask(QUESTION).text, once.ask(QUESTION).text]  # two answers to one question
        again = client(server.url, record=str(tmp_path))
        replayed = [again.ask(QUESTION).text, again.ask(QUESTION).text]
        assert len(server.requests) == 2
    assert texts == [f"first {KEY}", "second"]
    assert replayed == ["first [key]", "second"]
    assert (again.usage.total.replayed, again.usage.total.tokens) == (2, 0)
    kept = [path.read_text() for path in tmp_path.rglob("*.json")]
    assert len(kept) == 2
    assert not any(KEY in text for text in kept)


@pytest.mark.parametrize("key", ["x", "k", "none", "EMPTY"])
def test_a_key_that_is_no_secret_changes_no_record(key: str, tmp_path: Path) -> None:
    """What servers on one's own machine take for a key is a part of many words."""
    text = f'{{"operation": "none", "text": "ask the next {key}"}}'
    with model_server([text]) as server:
        settings = ModelSettings(url=server.url, name="toy", key=key, record=str(tmp_path))
        asked = OpenAIModelClient(settings).ask(QUESTION).text
        again = OpenAIModelClient(settings).ask(QUESTION).text
        assert len(server.requests) == 1
    assert asked == again == text


def test_records_are_enough(tmp_path: Path) -> None:
    with model_server(["2"]) as server:
        client(server.url, record=str(tmp_path)).ask(QUESTION)
    closed = client("http://example.org/v1", record=str(tmp_path), replay=True, redact="off")
    assert closed.ask(QUESTION).text == "2"
    with pytest.raises(ServiceError, match="no recorded call"):
        closed.ask([{"role": "user", "content": "Something else"}])


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"reply": {"text": 1}}'])
def test_a_damaged_record_is_asked_again(tmp_path: Path, damage: str) -> None:
    with model_server(["2"]) as server:
        client(server.url, record=str(tmp_path)).ask(QUESTION)
        for path in tmp_path.rglob("*.json"):
            path.write_text(damage)
        assert client(server.url, record=str(tmp_path)).ask(QUESTION).text == "2"
        assert len(server.requests) == 2


def test_an_interrupted_run_resumes(tmp_path: Path) -> None:
    flag = CancelFlag()
    questions = [[{"role": "user", "content": str(n)}] for n in range(3)]

    def answer(request: dict[str, Any]) -> str:
        number = request["messages"][0]["content"]
        if number == "1" and not flag.cancelled:
            flag.cancel()
        return f"answer {number}"

    with model_server(answer) as server:
        first = client(server.url, record=str(tmp_path), cancellation=flag)
        with pytest.raises(Cancelled):
            _ = [first.ask(question) for question in questions]
        asked = len(server.requests)
        second = client(server.url, record=str(tmp_path))
        texts = [second.ask(question).text for question in questions]
    assert texts == ["answer 0", "answer 1", "answer 2"]
    assert asked == 2
    assert second.usage.total.replayed >= 1


# -- settings --------------------------------------------------------------------------------

THREE = {
    "ORGFLOW_MODEL_URL": "https://example.org/v1", "ORGFLOW_MODEL": "toy", "ORGFLOW_MODEL_KEY": KEY,
}  # fmt: skip


def test_three_variables_are_enough() -> None:
    settings = read_settings(THREE)
    assert (settings.url, settings.name, settings.key) == tuple(THREE.values())
    assert settings.redacts
    assert KEY not in repr(settings)


def test_flags_go_before_the_environment_before_the_file() -> None:
    table = {"url": "http://file/v1", "name": "file", "temperature": 1, "price-in": 2}
    settings = read_settings(THREE, table, {"name": "flag", "temperature": None})
    assert (settings.url, settings.name) == ("https://example.org/v1", "flag")
    assert (settings.temperature, settings.price_in) == (1, 2)


LIMITS = {
    "ORGFLOW_MODEL_TEMPERATURE": "0.5", "ORGFLOW_MODEL_SECONDS": "9", "ORGFLOW_MODEL_TOKENS": "700",
    "ORGFLOW_MODEL_COST": "0.2", "ORGFLOW_MODEL_PRICE_IN": "1", "ORGFLOW_MODEL_PRICE_OUT": "2.5",
    "ORGFLOW_MODEL_ANSWER_TOKENS": "300", "ORGFLOW_MODEL_PATIENCE": "3", "ORGFLOW_MODEL_TRIES": "2",
    "ORGFLOW_MODEL_REDACT": "off", "ORGFLOW_MODEL_RECORD": "calls",
    "ORGFLOW_MODEL_WEAK": "true",
}  # fmt: skip


def test_every_limit_has_a_variable() -> None:
    found = read_settings({**THREE, **LIMITS}, {"tokens": 1, "cost": 9}, {"seconds": 5.0})
    assert found == ModelSettings(
        url=THREE["ORGFLOW_MODEL_URL"], name="toy", key=KEY, temperature=0.5, seconds=5.0,
        tokens=700, cost=0.2, price_in=1.0, price_out=2.5, answer_tokens=300, patience=3.0, tries=2,
        redact="off", record="calls", weak=True,
    )  # fmt: skip
    assert {environment_variable(key) for key in KEYS} == {*THREE, *LIMITS} - {"ORGFLOW_MODEL_KEY"}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "ORGFLOW_MODEL_TOKENS",
            "many",
            "ORGFLOW_MODEL_TOKENS is 'many'; it must be",
        ),
        ("ORGFLOW_MODEL_TOKENS", "1.5", "must be a whole number"),
        ("ORGFLOW_MODEL_TEMPERATURE", "hot", "must be a number"),
        ("ORGFLOW_MODEL_WEAK", "maybe", "must be `true` or `false`"),
        ("ORGFLOW_MODEL_REDACT", "maybe", "`auto`, `on` or `off`"),
    ],
)
def test_a_variable_that_cannot_be_used(name: str, text: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        read_settings({**THREE, name: text})


@pytest.mark.parametrize("missing", list(THREE))
def test_what_is_missing_is_said_in_a_line(missing: str) -> None:
    with pytest.raises(NotConfigured) as raised:
        read_settings({k: v for k, v in THREE.items() if k != missing})
    text = str(raised.value)
    assert f"set {missing}" in text
    assert "\n" not in text


@pytest.mark.parametrize(
    "url", ["http://localhost:1/v1", "http://127.0.0.5/v1", "http://[::1]:80/v1"]
)
def test_a_model_on_this_machine_needs_no_key(url: str) -> None:
    settings = read_settings({"ORGFLOW_MODEL_URL": url, "ORGFLOW_MODEL": "toy"})
    assert settings.local
    assert not settings.redacts
    assert read_settings({}, {"url": url, "name": "x", "redact": "on"}).redacts


@pytest.mark.parametrize(
    "host", ["http://192.168.0.7", "http://127.0.0.1.example.org", "http://localhost.example.org"]
)
def test_another_machine_is_not_this_one(host: str) -> None:
    assert not ModelSettings(url=host, name="x").local


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"key": "sk"}, "does not belong in orgflow.toml"),
        ({"temprature": 1}, "no key `temprature`"),
        ({"temperature": "hot"}, "must be a number"),
        ({"temperature": True}, "must be a number"),
        ({"temperature": 3}, "from 0 to 2"),
        ({"tokens": 0}, "must be 1 or more"),
        ({"cost": float("nan")}, "must be 0 or more"),
        ({"redact": "maybe"}, "`auto`, `on` or `off`"),
        ({"url": "ftp://x"}, "begin with http"),
        ({"url": "https://me:pw@x/v1"}, "contains a key"),
    ],
)
def test_settings_that_cannot_be_used(table: dict[str, Any], said: str) -> None:
    base = {"url": "http://localhost/v1", "name": "toy"}
    with pytest.raises(SettingsError, match=said):
        read_settings({}, {**base, **table})
