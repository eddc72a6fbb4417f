"""The wire to a real model server: llama-cpp-python with a model of 270 million parameters, far too
small to answer well. Every answer is read, limits hold, and no answer is believed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_cases import orgflowc
from orgflow.agents.model_client.answer_reading import read_json
from orgflow.agents.model_client.client import OpenAIModelClient
from orgflow.agents.model_client.settings import ModelSettings

from orgflow_ir.pipeline.agent_services import Tool
from orgflow_ir.pipeline.services import ServiceError

SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"enum": ["right", "wrong"]}},
    "required": ["verdict"],
    "additionalProperties": False,
}


def client(url: str, **settings: Any) -> OpenAIModelClient:
    given = {"answer_tokens": 60, "seconds": 300.0, "tries": 1, **settings}
    return OpenAIModelClient(ModelSettings(url=url, name="gemma-3-270m", **given))


def test_a_text_with_its_tokens(url: str) -> None:
    reply = client(url).ask([{"role": "user", "content": "Continue: one, two, three,"}])
    assert reply.tokens_in > 5


def test_structured_output(url: str) -> None:
    """The server knows no `json_schema` and says so with 500; it takes `json_object`."""
    one = client(url)
    reply = one.ask([{"role": "user", "content": "Is water wet?"}], schema=SCHEMA)
    assert isinstance(read_json(reply.text).value, dict)
    assert one.usage.total.calls == 1


def test_tools(url: str) -> None:
    tool = Tool("look_up", "Looks a word up.", {
        "type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"],
    })  # fmt: skip
    reply = client(url).ask([{"role": "user", "content": "Look up: tree."}], tools=[tool])
    assert all(call.name for call in reply.calls)


def test_an_answer_that_is_cut_off(url: str) -> None:
    asked = [{"role": "user", "content": "one two three one two three one two three one two"}]
    reply = client(url, answer_tokens=2).ask(asked, schema=SCHEMA)
    assert reply.tokens_out <= 2
    assert reply.truncated


def test_a_text_that_is_too_long_is_one_line(url: str) -> None:
    with pytest.raises(ServiceError) as found:
        client(url).ask([{"role": "user", "content": "word " * 4_000}])
    assert "\n" not in str(found.value)
    assert "2048" in str(found.value)


@pytest.mark.parametrize("target", ["n8n", "triples"])
def test_model_with_three_variables(url: str, target: str, tmp_path: Path) -> None:
    """Whatever the model writes, it is a process that was checked, or an error that says why."""
    text = tmp_path / "description.txt"
    text.write_text("The clerk checks the order. Then the clerk ships the order.")
    (tmp_path / "orgflow.toml").write_text("[model]\nanswer-tokens = 60\nseconds = 300\n")
    variables = {"ORGFLOW_MODEL_URL": url, "ORGFLOW_MODEL": "gemma-3-270m"}
    args = ("model", text, "--target", target, "--record", tmp_path / "calls")
    ran = orgflowc(*args, env=variables, timeout=1_500)
    assert ran.code in (0, 1), ran.err
    assert "tokens in" in ran.err
    assert ran.code == 0 or "OF517" in ran.err or "OF2" in ran.err, ran.err
    if ran.code == 0 and target == "n8n":
        assert json.loads(ran.out)["nodes"]
    again = orgflowc(*args, "--replay", env=variables)
    assert (again.code, again.out) == (ran.code, ran.out)
