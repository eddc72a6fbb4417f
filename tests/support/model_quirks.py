"""Scripted servers that differ as llama.cpp, vLLM and Ollama do by what their users report, also of
older versions: what they refuse, ignore and leave out. tests/llm asks a real server."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from model_server import Scripted

Answer = Callable[[dict[str, Any]], str]


def _completion(request: dict[str, Any], message: dict[str, Any], **more: Any) -> bytes:
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    choice = {"index": 0, "message": message, "finish_reason": finish, **more.pop("choice", {})}
    body = {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": request["model"],
        "choices": [choice], **more,
    }  # fmt: skip
    return json.dumps(body).encode()


def _calls(request: dict[str, Any], as_object: bool = False) -> list[dict[str, Any]] | None:
    """A call of the first tool, where the request has tools."""
    if not request.get("tools"):
        return None
    function = request["tools"][0]["function"]
    given: Any = dict.fromkeys(function["parameters"].get("properties", {}), "a")
    arguments = given if as_object else json.dumps(given)
    return [{"id": "1", "type": "function",
             "function": {"name": function["name"], "arguments": arguments}}]  # fmt: skip


def llama_cpp(answer: Answer) -> Callable[[dict[str, Any]], Scripted]:
    """Takes a schema as a grammar and refuses those it cannot turn into one; `content` is null
    beside tool calls; there are timings."""

    def reply(request: dict[str, Any]) -> Scripted:
        form = request.get("response_format") or {}
        if form.get("type") == "json_schema" and '"type": ["string", "null"]' in json.dumps(form):
            said = "failed to parse grammar"
            return Scripted(body=_error(said, 400, "invalid_request_error"), status=400)
        calls = _calls(request)
        message = {"role": "assistant", "content": None if calls else answer(request)}
        message |= {"tool_calls": calls} if calls else {}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        return Scripted(body=_completion(request, message, usage=usage, timings={"prompt_ms": 1.5}))

    return reply


def vllm(answer: Answer) -> Callable[[dict[str, Any]], Scripted]:
    """Errors are flat, thoughts stand in a field of their own, unused fields are null, and calls of
    tools are refused where the server was not started for them."""

    def reply(request: dict[str, Any]) -> Scripted:
        if request.get("tools"):
            said = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser'
            body = json.dumps({"object": "error", "message": said, "type": "BadRequestError",
                               "param": None, "code": 400})  # fmt: skip
            return Scripted(body=body.encode(), status=400)
        message = {"role": "assistant", "content": answer(request), "reasoning_content": "Hm.",
                   "tool_calls": [], "function_call": None, "refusal": None}  # fmt: skip
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15,
                 "prompt_tokens_details": None}  # fmt: skip
        choice = {"logprobs": None, "stop_reason": None}
        return Scripted(body=_completion(request, message, usage=usage, choice=choice))

    return reply


def ollama(answer: Answer) -> Callable[[dict[str, Any]], Scripted]:
    """Ignores what it does not know, also a schema: fences and thoughts come back; there is no
    usage, and arguments of calls are objects in the place of texts."""

    def reply(request: dict[str, Any]) -> Scripted:
        calls = _calls(request, as_object=True)
        said = f"<think>They want lines.</think>\n```\n{answer(request)}\n```\nAnything else?"
        message: dict[str, Any] = {"role": "assistant", "content": "" if calls else said}
        message |= {"tool_calls": calls} if calls else {}
        return Scripted(body=_completion(request, message, system_fingerprint="fp_ollama"))

    return reply


def _error(message: str, code: int, kind: str) -> bytes:
    return json.dumps({"error": {"code": code, "message": message, "type": kind}}).encode()


SERVERS = {"llama.cpp": llama_cpp, "vLLM": vllm, "Ollama": ollama}
