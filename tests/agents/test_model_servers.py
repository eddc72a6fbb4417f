"""One client for servers that differ: texts, structured output, tool calls, and the newcomer's
command with three variables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_cases import orgflowc
from model_quirks import SERVERS
from model_server import Scripted, model_server
from orgflow.agents.model_client.answer_reading import read_json
from orgflow.agents.model_client.client import OpenAIModelClient
from orgflow.agents.model_client.settings import ModelSettings

from orgflow_ir.pipeline.agent_services import Tool
from orgflow_ir.pipeline.services import ServiceError

LINES = "T1 check order | clerk | s1\nT2 ship order | clerk | s2\nStart -> T1 -> T2 -> End\n"
SCHEMA = {
    "type": "object",
    "properties": {"element": {"type": ["string", "null"]}},
    "required": ["element"],
    "additionalProperties": False,
}


def client(url: str) -> OpenAIModelClient:
    return OpenAIModelClient(ModelSettings(url=url, name="toy", tries=1))


@pytest.mark.parametrize("name", SERVERS)
def test_a_newcomer_with_three_variables(name: str, tmp_path: Path) -> None:
    text = tmp_path / "description.txt"
    text.write_text("The clerk checks the order. The clerk ships the order.")
    with model_server(SERVERS[name](lambda _: LINES)) as server:
        ran = orgflowc(
            "model", text, "--target", "n8n",
            env={"ORGFLOW_MODEL_URL": server.url, "ORGFLOW_MODEL": "toy", "ORGFLOW_MODEL_KEY": "x"},
        )  # fmt: skip
    assert ran.code == 0, ran.err
    assert {"check order", "ship order"} <= {n["name"] for n in json.loads(ran.out)["nodes"]}
    assert not any(request.get("stream") for request in server.requests)
    assert "at most 50,000 tokens" in ran.err.splitlines()[0]
    about = "about " if name == "Ollama" else ""
    assert f"text: 1 call, {about}" in ran.err


@pytest.mark.parametrize("name", SERVERS)
def test_structured_output(name: str) -> None:
    with model_server(SERVERS[name](lambda _: '{"element": null}')) as server:
        one = client(server.url)
        for _ in range(2):
            reply = one.ask([{"role": "user", "content": "Which?"}], schema=SCHEMA)
            assert read_json(reply.text).value == {"element": None}
    forms = [(request.get("response_format") or {}).get("type") for request in server.requests]
    assert forms[-1] == ("json_object" if name == "llama.cpp" else "json_schema")
    assert len(forms) == (3 if name == "llama.cpp" else 2)  # a refusal is remembered


@pytest.mark.parametrize("name", SERVERS)
def test_tool_calls(name: str) -> None:
    tool = Tool("look_up", "Looks a word up.", {
        "type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"],
    })  # fmt: skip
    with model_server(SERVERS[name](lambda _: "")) as server:
        one = client(server.url)
        if name == "vLLM":
            with pytest.raises(ServiceError, match="--enable-auto-tool-choice"):
                one.ask([{"role": "user", "content": "Look up a."}], tools=[tool])
            return
        reply: Any = one.ask([{"role": "user", "content": "Look up a."}], tools=[tool])
    (call,) = reply.calls
    assert (call.name, json.loads(call.arguments)) == ("look_up", {"word": "a"})
    assert reply.text == ""


def test_a_refusal_that_is_called_a_failure() -> None:
    """llama-cpp-python answers 500 to a form of structured output that it does not know."""

    def answer(request: dict[str, Any]) -> Scripted:
        form = (request.get("response_format") or {}).get("type")
        if form == "json_schema":
            said = "1 validation error: {'loc': ('body', 'response_format', 'type'), 'msg': 'no'}"
            return Scripted(said, status=500)
        return Scripted('{"element": "m"}')

    with model_server(answer) as server:
        one = client(server.url)
        reply = one.ask([{"role": "user", "content": "Which?"}], schema=SCHEMA)
    assert read_json(reply.text).value == {"element": "m"}
    assert len(server.requests) == 2
    assert one.usage.total.retries == 0
