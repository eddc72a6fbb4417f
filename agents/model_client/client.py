"""The language model behind an OpenAI-compatible endpoint, as a `ModelClient`."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from email.utils import parsedate_to_datetime
from functools import partial
from importlib import import_module
from tempfile import mkdtemp
from typing import Any

from orgflow.agents.model_client.recordings import Recordings, call_hash, without_secret
from orgflow.agents.model_client.redaction import Redactor
from orgflow.agents.model_client.settings import ModelSettings
from orgflow.agents.model_client.usage import (
    Expected,
    RunBudget,
    Usage,
    UsageLedger,
    estimate_tokens,
    message_texts,
)

from orgflow_ir.pipeline.agent_services import Reply, Tool, ToolCall
from orgflow_ir.pipeline.services import (
    Budget,
    CancelFlag,
    Cancellation,
    Cancelled,
    MissingService,
    NotRecorded,
    OverBudget,
    ServiceError,
    current_agent,
)
from orgflow_ir.plugins.packages import install_command

_RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 20.0
_MOST_HANGS = 2
"""Maximum number of calls in a row that a server leaves without an answer before it is given up."""
_FORMS = ("json_schema", "json_object", "prompt")
"""The methods of requesting structured output; the next one is used if the endpoint refuses one."""


LAST_ANSWER = 5.0
"""Seconds that a stopped run waits for the pending answer, which is paid for in any case."""


class StoppedAfterAnswer(Cancelled):
    """The user stopped the run during a call, and its answer arrived nevertheless.

    Attributes:
        reply: the answer; it is counted, and recorded if calls are.
    """

    def __init__(self, reply: Reply) -> None:
        super().__init__()
        self.reply = reply


class OpenAIModelClient:
    """Chat with structured output and tool calls.

    Retries temporary failures, notices cancellation while it waits, spends the budget, replaces
    personal data according to the settings, and records every call.

    Args:
        report: receives the lines that a person reads while a stopped run waits for an answer.

    Attributes:
        usage: what was used so far, by agent.
        redactor: the replacements of personal data, `None` without redaction.
    """

    def __init__(
        self,
        settings: ModelSettings,
        *,
        budget: Budget | None = None,
        cancellation: Cancellation | None = None,
        redactor: Redactor | None = None,
        report: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.settings = settings
        self.usage = UsageLedger()
        self.budget = budget if budget is not None else RunBudget(settings.tokens, settings.cost)
        self.redactor = redactor or (Redactor() if settings.redacts else None)
        self._cancellation = cancellation or CancelFlag()
        self._report = report
        self._stopped = False
        self._recordings = self._recorded_in(settings.record) if settings.record else None
        self._unrecorded: list[tuple[dict[str, Any], Reply]] = []
        self._asked: dict[str, int] = {}
        self._overdrawn: OverBudget | None = None
        self._hangs = 0
        self._form = 0
        self._dropped: set[str] = set()
        self._endpoint: Any = None

    @property
    def name(self) -> str:
        """Of the model."""
        return self.settings.name

    @property
    def weak(self) -> bool:
        """Whether the settings mark the model as weak."""
        return self.settings.weak

    def expected_cost(self, expected: Expected) -> float | None:
        """The approximate cost of calls; `None` if no price is configured."""
        if not self.settings.priced:
            return None
        return self._call_cost(expected.tokens_in, expected.tokens_out)

    def learn(self, texts: Iterable[str]) -> None:
        """Find the persons in all texts of a run before the first request; see `ReadsAhead`."""
        if self.redactor is not None:
            self.redactor.learn(texts)

    def ask(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[Tool] = (),
    ) -> Reply:
        """The reply to a conversation; see `ModelClient`.

        Raises:
            ServiceError: the endpoint refuses, or fails until the patience is exhausted.
            OverBudget: before a call that the budget does not allow. The reply that exceeds a
                budget is paid, so it is returned and recorded; the next call is refused.
            MissingService: the package `openai` is not installed.
            Cancelled: also while the endpoint works, after up to `LAST_ANSWER` seconds;
                `StoppedAfterAnswer` if the answer arrived in that time.
        """
        self._cancellation.check()
        self.learn(message_texts(messages))
        sent = [self._outgoing_message(message) for message in messages]
        request = self._request_key(sent, schema, tools)
        reply = self._recordings.find(request) if self._recordings is not None else None
        agent = current_agent.get()
        if reply is not None:
            replayed = reply.tokens_in + reply.tokens_out
            self.usage.note(agent, Usage(calls=1, replayed=1, replayed_tokens=replayed))
        elif self.settings.replay:
            raise NotRecorded(
                f"no recorded call matches this request ({call_hash(request)[:12]})", request
            )
        else:
            if self._overdrawn is not None:
                raise OverBudget(str(self._overdrawn))
            if isinstance(self.budget, RunBudget):
                prompt = estimate_tokens(message_texts(sent))
                self.budget.allow(prompt, self._call_cost(prompt, 0))
            usage = Usage(calls=1)
            try:
                reply = self._call_endpoint(sent, schema, tools, usage)
            except ServiceError:
                self.usage.note(agent, usage)
                self._spend_tokens(usage, agent)
                raise
            self.usage.note(agent, usage)
            if self._recordings is not None:
                self._recordings.keep(request, reply)
            else:
                self._unrecorded.append((request, reply))
            self._spend_tokens(usage, agent)
            if self._stopped:
                raise StoppedAfterAnswer(self._restore_reply(reply))
        return self._restore_reply(reply)

    def _spend_tokens(self, usage: Usage, agent: str) -> None:
        """Spend the budget for a call; if it is exhausted, the next call is refused."""
        try:
            self.budget.spend(requests=1, tokens=usage.tokens, cost=usage.cost, agent=agent)
        except OverBudget as error:
            self._overdrawn = error

    def keep_calls(self) -> tuple[str, int]:
        """Write the unrecorded calls of this run to a new folder, from which a later run answers
        them; returns the folder and their number, which may be 0.

        Raises `ServiceError` and `OSError` if nothing can be written.
        """
        if not self._unrecorded:
            return self.settings.record, 0
        folder = mkdtemp(prefix="orgflow-model-calls-")  # for this user only
        kept = self._recorded_in(folder)
        for request, reply in self._unrecorded:
            kept.keep(request, reply)
        return folder, len(self._unrecorded)

    def _recorded_in(self, folder: str) -> Recordings:
        return Recordings(folder, (self.settings.key,), redacted=self.redactor is not None)

    # -- what is sent and what comes back -----------------------------------------------------

    def _outgoing_message(self, message: Mapping[str, Any]) -> dict[str, Any]:
        if self.redactor is None:
            return dict(message)
        return {key: self._redact_value(key, value) for key, value in message.items()}

    def _redact_value(self, key: str, value: Any) -> Any:
        assert self.redactor is not None
        if isinstance(value, str):
            fixed = ("role", "tool_call_id", "id", "type", "name")
            return value if key in fixed else self.redactor.redact(value)
        if isinstance(value, Mapping):
            return {k: self._redact_value(k, v) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self._redact_value(key, v) for v in value]
        return value

    def _restore_reply(self, reply: Reply) -> Reply:
        if self.redactor is None:
            return reply
        restore, text = self.redactor.restore, reply.text
        json_like = text.lstrip()[:1] in ("{", "[") or "```json" in text
        calls = tuple(c._replace(arguments=restore(c.arguments, json=True)) for c in reply.calls)
        return reply._replace(text=restore(text, json=json_like), calls=calls)

    def _request_key(
        self,
        messages: Sequence[Mapping[str, Any]],
        schema: Mapping[str, Any] | None,
        tools: Sequence[Tool],
    ) -> dict[str, Any]:
        """What a call is known by: all that decides the answer, and how often it was asked in this
        run, since a model may answer twice in two ways."""
        request: dict[str, Any] = {
            "model": self.settings.name,
            "messages": list(messages),
            "temperature": self.settings.temperature,
            "answer_tokens": self.settings.answer_tokens,
            "schema": schema,
            "tools": [[t.name, t.description, dict(t.parameters)] for t in tools],
        }
        plain = call_hash(request)
        request["sample"] = self._asked.get(plain, 0)
        self._asked[plain] = request["sample"] + 1
        return request

    def _call_arguments(
        self,
        messages: Sequence[Mapping[str, Any]],
        schema: Mapping[str, Any] | None,
        tools: Sequence[Tool],
    ) -> dict[str, Any]:
        """The arguments of the call in the form that the endpoint is known to take."""
        arguments: dict[str, Any] = {"model": self.settings.name, "messages": list(messages)}
        if "temperature" not in self._dropped:
            arguments["temperature"] = self.settings.temperature
        limit = "max_completion_tokens" if "max_tokens" in self._dropped else "max_tokens"
        if limit not in self._dropped:
            arguments[limit] = self.settings.answer_tokens
        if tools:
            arguments["tools"] = [
                {"type": "function", "function": {"name": t.name, "description": t.description,
                                                  "parameters": dict(t.parameters)}}
                for t in tools
            ]  # fmt: skip
        form = _FORMS[self._form]
        if schema is not None and form == "json_schema":
            named = {"name": "answer", "schema": dict(schema), "strict": _is_strict(schema)}
            arguments["response_format"] = {"type": "json_schema", "json_schema": named}
        elif schema is not None:
            if form == "json_object":
                arguments["response_format"] = {"type": "json_object"}
            text = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
            wanted = f"Answer with one JSON value of this JSON Schema and nothing else:\n{text}"
            arguments["messages"] = _with_instruction(messages, wanted)
        return arguments

    # -- the call -----------------------------------------------------------------------------

    def _call_endpoint(
        self,
        messages: Sequence[Mapping[str, Any]],
        schema: Mapping[str, Any] | None,
        tools: Sequence[Tool],
        usage: Usage,
    ) -> Reply:
        """Call until it succeeds, is refused for good, or the tries or the patience are over. A
        server that does not answer in time is asked `_MOST_HANGS` times in a row at most.

        Args:
            usage: receives what was used, also by calls that fail.
        """
        if self._hangs >= _MOST_HANGS:
            raise ServiceError(self._hanging_text())
        openai = self._load_library()
        waited, wait, tried = 0.0, _FIRST_WAIT, 0
        while True:
            arguments = self._call_arguments(messages, schema, tools)
            started = time.monotonic()
            try:
                completion = self._call_interruptibly(
                    partial(self._endpoint.chat.completions.create, **arguments)
                )
                reply = _read_reply(completion)
                usage.seconds += time.monotonic() - started
                self._hangs = 0
                break
            except openai.APIStatusError as error:
                usage.seconds += time.monotonic() - started
                self._hangs = 0
                self._check_stopped()
                if self._adapt_arguments(error, arguments):
                    continue
                tried += 1
                if error.status_code not in _RETRIED or tried >= self.settings.tries:
                    raise ServiceError(self._status_text(error)) from None
                asked = _retry_after(error)
            except (openai.APIError, _Unusable, *_NO_JSON) as error:  # no connection, no answer
                usage.seconds += time.monotonic() - started
                self._check_stopped()
                tried += 1
                if _was_sent(error):
                    self._count_failed(messages, usage)
                self._hangs = self._hangs + 1 if _is_hanging(error) else 0
                if tried >= self.settings.tries or self._hangs >= _MOST_HANGS:
                    raise ServiceError(
                        f"the endpoint {self.settings.url} {self._failure_text(error)}"
                    ) from None
                asked = None
            pause = min(asked if asked is not None else wait, self.settings.patience + 1)
            if waited + pause > self.settings.patience:
                patience = f"{self.settings.patience:g} seconds"
                raise ServiceError(
                    f"the endpoint {self.settings.url} "
                    + (
                        f"asks to wait {asked:,.0f} seconds, longer than the limit of {patience}"
                        if asked is not None
                        else f"did not recover in {patience}"
                    )
                )
            self._cancellation.wait(pause)
            waited, wait = waited + pause, min(wait * 2, _LONGEST_WAIT)
            usage.retries += 1
        written = (reply.text, *(call.arguments for call in reply.calls))
        if not reply.tokens_in:  # the endpoint does not count
            usage.estimated = True
            reply = reply._replace(tokens_in=estimate_tokens(message_texts(messages)))
        if not reply.tokens_out and any(written):
            usage.estimated = True
            reply = reply._replace(tokens_out=estimate_tokens(written))
        usage.tokens_in += reply.tokens_in
        usage.tokens_out += reply.tokens_out
        usage.cost = self._call_cost(usage.tokens_in, usage.tokens_out)
        return reply

    def _count_failed(self, messages: Sequence[Mapping[str, Any]], usage: Usage) -> None:
        """Count the tokens of a request without a usable answer: the server has read it."""
        usage.estimated = True
        usage.tokens_in += estimate_tokens(message_texts(messages))
        usage.cost = self._call_cost(usage.tokens_in, usage.tokens_out)

    def _hanging_text(self) -> str:
        seconds = f"{self.settings.seconds:g} seconds"
        return (
            f"the endpoint {self.settings.url} did not answer {_MOST_HANGS} times within {seconds} "
            "and is not asked again"
        )

    def _load_library(self) -> Any:
        """The package `openai`, and the endpoint made with it."""
        try:
            openai = import_module("openai")
        except ImportError:
            raise MissingService(
                f"the package `openai` is not installed: {install_command('openai')}"
            ) from None
        if self._endpoint is None:
            self._endpoint = openai.OpenAI(
                base_url=self.settings.url,
                api_key=self.settings.key or "none",
                timeout=self.settings.seconds,
                max_retries=0,  # ours are counted, and end with the run's cancellation
            )
        return openai

    def _call_interruptibly(self, call: Callable[[], Any]) -> Any:
        """What a call gives. Where the user stops, it is waited for up to `LAST_ANSWER` seconds,
        and not at all where the user stops again; an abandoned call ends with the process."""
        outcome: list[Any] = []
        failure: list[BaseException] = []
        done = threading.Event()

        def run_call() -> None:
            try:
                outcome.append(call())
            except BaseException as error:  # noqa: BLE001  # raised again in the caller's thread
                failure.append(error)
            finally:
                done.set()

        thread = threading.Thread(target=run_call, daemon=True, name="orgflow-model-call")
        # A server that sends a byte now and then never times out by itself.
        limit = time.monotonic() + self.settings.seconds + 1
        try:
            thread.start()  # may be interrupted when the request has been sent
            while not done.wait(0.05):
                self._cancellation.check()
                if time.monotonic() > limit:
                    raise _Hanging(f"did not answer within {self.settings.seconds:g} seconds")
        except KeyboardInterrupt:
            if not thread.is_alive() and not done.is_set():
                raise  # nothing was sent
            self._stopped = True
            seconds = f"{LAST_ANSWER:g} seconds"
            self._report(
                f"waiting up to {seconds} for the pending answer; press Ctrl-C again to end "
                "immediately"
            )
            if not done.wait(LAST_ANSWER):
                self._report(f"no answer within {seconds}; the server may charge for it")
                raise
        if failure:
            raise failure[0]
        return outcome[0]

    def _check_stopped(self) -> None:
        """Raises `Cancelled` where the user stopped while a call was in flight that then failed."""
        if self._stopped:
            raise Cancelled

    def _adapt_arguments(self, error: Any, arguments: Mapping[str, Any]) -> bool:
        """Whether a refusal is about a part that the endpoint does not know, which the next try
        leaves out."""
        if error.status_code not in (400, 404, 415, 422, 500, 501):
            return False
        text = str(error).lower()
        if "response_format" in arguments and any(
            word in text
            for word in ("response_format", "json_schema", "json_object", "schema", "grammar")
        ):
            self._form += 1
            return True
        for name in ("max_tokens", "max_completion_tokens", "temperature"):
            if name in arguments and name in text:
                self._dropped.add(name)
                return True
        if "response_format" in arguments and error.status_code in (400, 422, 501):
            self._form += 1
            return True
        return False

    def _status_text(self, error: Any) -> str:
        """A refusal in one line, without the key."""
        body = error.body if isinstance(error.body, dict) else {}
        reason = self._clean_text(str(body.get("message") or error.message))
        keyless = "; check ORGFLOW_MODEL_KEY"
        if self.settings.withheld:
            keyless = (
                "; ORGFLOW_MODEL_KEY is not sent to an address of a repository's orgflow.toml: to "
                "allow it, set ORGFLOW_MODEL_URL or give --model-url"
            )
        hint = {
            401: keyless,
            403: keyless,
            404: "; check the address and the name of the model",
        }.get(error.status_code, "")
        return f"the endpoint {self.settings.url} answered {error.status_code}: {reason}{hint}"

    def _failure_text(self, error: BaseException) -> str:
        if isinstance(error, _NO_JSON):
            return _NO_COMPLETION
        if isinstance(error, _Unusable):
            return str(error)
        kind = type(error).__name__
        if kind == "APITimeoutError":
            return f"did not answer within {self.settings.seconds:g} seconds"
        reason = self._clean_text(str(error.__cause__ or error))
        if "connection refused" in reason.lower():
            reason = "nothing listens there"
        return f"cannot be reached: {reason}"

    def _clean_text(self, text: str) -> str:
        return str(without_secret(" ".join(text.split()), self.settings.key))[:300]

    def _call_cost(self, tokens_in: int, tokens_out: int) -> float:
        settings = self.settings
        return (tokens_in * settings.price_in + tokens_out * settings.price_out) / 1_000_000


_NO_JSON = (json.JSONDecodeError, UnicodeDecodeError)
"""The exception of the library for an answer that is declared as JSON but is not JSON."""
_NO_COMPLETION = "returned something that is not a chat completion"


class _Unusable(Exception):
    """An answer that is no chat completion; the end of a sentence."""


class _Hanging(_Unusable):
    """No answer in time."""


def _is_hanging(error: BaseException) -> bool:
    """Whether a call ended since the server did not answer in time."""
    return isinstance(error, _Hanging) or type(error).__name__ == "APITimeoutError"


def _was_sent(error: BaseException) -> bool:
    """Whether the server received the request of a call that failed."""
    return isinstance(error, (_Unusable, *_NO_JSON)) or _is_hanging(error)


def _read_reply(completion: Any) -> Reply:
    """The first choice of a completion. Raises `_Unusable` where the endpoint gave something
    else: the library does not check."""
    try:
        choice = completion.choices[0]
        message = choice.message
        usage = completion.usage
        calls = tuple(
            ToolCall(
                str(c.id or f"call_{n}"),
                str(c.function.name),
                _read_arguments(c.function.arguments),
            )
            for n, c in enumerate(message.tool_calls or ())
            if getattr(c, "function", None) is not None
        )
        return Reply(
            _read_content(message.content) or _read_content(getattr(message, "refusal", None)),
            _read_count(getattr(usage, "prompt_tokens", 0)),
            _read_count(getattr(usage, "completion_tokens", 0)),
            calls,
            choice.finish_reason in ("length", "content_filter"),
        )
    except (AttributeError, IndexError, TypeError, ValueError):
        raise _Unusable(_NO_COMPLETION) from None


def _read_count(tokens: Any) -> int:
    """A number of tokens; 0 where the endpoint gives none, or something else."""
    return max(0, int(tokens)) if isinstance(tokens, int | float) else 0


def _read_arguments(arguments: Any) -> str:
    """The arguments of a call as JSON text; some servers give an object, or nothing."""
    if isinstance(arguments, dict):
        return json.dumps(arguments, ensure_ascii=False)
    return arguments if isinstance(arguments, str) else "{}"


def _read_content(content: Any) -> str:
    """The text of a message: a text, or parts as some servers give it."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = (p.get("text") if isinstance(p, dict) else getattr(p, "text", "") for p in content)
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def _retry_after(error: Any) -> float | None:
    """The seconds that the endpoint asks to wait: a number, or a date (RFC 9110, 10.2.3)."""
    asked = getattr(getattr(error, "response", None), "headers", {}).get("retry-after", "")
    try:
        return max(0.0, float(asked))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(asked).timestamp() - time.time())
    except ValueError:
        return None


def _with_instruction(messages: Sequence[Mapping[str, Any]], text: str) -> list[Mapping[str, Any]]:
    """The messages with one more instruction at the end of the first system message."""
    changed = [dict(message) for message in messages]
    for message in changed:
        if message.get("role") == "system":
            message["content"] = f"{message['content']}\n\n{text}"
            return [*changed]
    return [{"role": "system", "content": text}, *changed]


def _is_strict(schema: Any) -> bool:
    """Whether a schema has the form that strict structured output demands: every object is closed
    and requires all its properties."""
    if isinstance(schema, Mapping):
        if schema.get("type") == "object" and (
            schema.get("additionalProperties") is not False
            or set(schema.get("required", ())) != set(schema.get("properties", {}))
        ):
            return False
        return all(_is_strict(value) for value in schema.values())
    if isinstance(schema, list | tuple):
        return all(_is_strict(value) for value in schema)
    return True
