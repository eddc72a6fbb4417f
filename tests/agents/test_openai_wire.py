"""The client on a server that answers as OpenAI's API reference describes (Create chat completion,
the chat completion object, error codes), field by field and whole bodies."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from model_server import Scripted, model_server
from orgflow.agents.model_client.client import OpenAIModelClient
from orgflow.agents.model_client.settings import ModelSettings

from orgflow_ir.pipeline.agent_services import Tool
from orgflow_ir.pipeline.services import ServiceError

QUESTION = [{"role": "user", "content": "What is the weather in Paris and in Rome?"}]
WEATHER = Tool("get_weather", "Gives the weather.", {
    "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
})  # fmt: skip


def client(url: str, **settings: Any) -> OpenAIModelClient:
    given = {"tries": 3, "patience": 5.0, **settings}
    return OpenAIModelClient(ModelSettings(url=url, name="gpt-4.1-mini", **given))


def completion(
    message: dict[str, Any], finish: str = "stop", *, usage: bool = True, choices: int = 1
) -> Scripted:
    """A whole chat completion object."""
    choice = {"index": 0, "message": {"role": "assistant", "content": None, "refusal": None,
              "annotations": [], **message}, "logprobs": None, "finish_reason": finish}  # fmt: skip
    body: dict[str, Any] = {
        "id": "chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG", "object": "chat.completion",
        "created": 1741570283, "model": "gpt-4.1-mini-2025-04-14", "choices": [choice] * choices,
        "service_tier": "default", "system_fingerprint": "fp_fc9f1d7035",
    }  # fmt: skip
    if usage:
        body["usage"] = {
            "prompt_tokens": 82, "completion_tokens": 17, "total_tokens": 99,
            "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
        }  # fmt: skip
    return Scripted(body=json.dumps(body).encode())


def called(id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def error(status: int, message: str, code: str, **more: Any) -> Scripted:
    body = {"error": {"message": message, "type": code, "param": None, "code": code}}
    return Scripted(status=status, body=json.dumps(body).encode(), **more)


def test_parallel_tool_calls_an_unknown_tool_and_invalid_arguments() -> None:
    """All are handed on in their order as they came: the agent judges names and arguments. Their
    results are sent back with the ids."""
    calls = [
        called("call_a", "get_weather", '{"city": "Paris"}'),
        called("call_b", "launch_rocket", "{}"),
        called("call_c", "get_weather", '{"city": '),
    ]
    script = [completion({"tool_calls": calls}, "tool_calls"), completion({"content": "Sunny."})]
    with model_server(script) as server:
        model = client(server.url)
        first = model.ask(QUESTION, tools=[WEATHER])
        results = [
            {"role": "tool", "tool_call_id": call.id, "content": "sunny"} for call in first.calls
        ]
        said = {"role": "assistant", "content": None, "tool_calls": calls}
        last = model.ask([*QUESTION, said, *results], tools=[WEATHER])
    assert [(c.id, c.name, c.arguments) for c in first.calls] == [
        ("call_a", "get_weather", '{"city": "Paris"}'), ("call_b", "launch_rocket", "{}"),
        ("call_c", "get_weather", '{"city": '),
    ]  # fmt: skip
    assert (first.text, last.text, last.calls) == ("", "Sunny.", ())
    asked, again = server.requests
    assert asked["tools"][0] == {
        "type": "function",
        "function": {"name": "get_weather", "description": "Gives the weather.",
                     "parameters": dict(WEATHER.parameters)},
    }  # fmt: skip
    assert [m.get("tool_call_id") for m in again["messages"][2:]] == ["call_a", "call_b", "call_c"]
    assert not asked.get("stream")
    assert (model.usage.total.tokens_in, model.usage.total.tokens_out) == (164, 34)


def test_a_refusal_is_read() -> None:
    with model_server([completion({"refusal": "I cannot help with that."})]) as server:
        reply = client(server.url).ask(QUESTION)
    assert (reply.text, reply.calls) == ("I cannot help with that.", ())


@pytest.mark.parametrize(
    ("finish", "cut"), [("stop", False), ("length", True), ("content_filter", True)]
)
def test_why_an_answer_ends(finish: str, cut: bool) -> None:
    with model_server([completion({"content": "The weather is"}, finish)]) as server:
        assert client(server.url).ask(QUESTION).truncated is cut


def test_no_choices_is_tried_again_and_then_an_error() -> None:
    with model_server([completion({}, choices=0), completion({"content": "Sunny."})]) as server:
        assert client(server.url).ask(QUESTION).text == "Sunny."
    with model_server([completion({}, choices=0)]) as server:
        with pytest.raises(ServiceError, match="not a chat completion"):
            client(server.url, tries=2).ask(QUESTION)
        assert len(server.requests) == 2


def test_rate_limits_and_failures_are_waited_for() -> None:
    script = [
        error(429, "Rate limit reached for gpt-4.1-mini", "rate_limit_exceeded", retry_after=1),
        error(500, "The server had an error while processing your request.", "server_error"),
        completion({"content": "Sunny."}),
    ]
    with model_server(script) as server:
        model = client(server.url)
        begun = time.monotonic()
        assert model.ask(QUESTION).text == "Sunny."
    assert time.monotonic() - begun >= 1
    assert model.usage.total.retries == 2


def test_an_answer_beyond_the_time_limit() -> None:
    with model_server([Scripted("late", delay=600)]) as server:
        begun = time.monotonic()
        with pytest.raises(ServiceError, match=r"did not answer within 0\.4 seconds"):
            client(server.url, seconds=0.4, tries=1).ask(QUESTION)
    assert time.monotonic() - begun < 120


def test_usage_that_is_missing_is_estimated() -> None:
    with model_server([completion({"content": "Sunny."}, usage=False)]) as server:
        model = client(server.url)
        model.ask(QUESTION)
    assert model.usage.total.estimated
    assert (model.usage.total.tokens_in, model.usage.total.tokens_out) == (11, 2)
