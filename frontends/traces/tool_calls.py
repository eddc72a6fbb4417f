"""Tool calls of agents: chat messages as JSON lines, OpenTelemetry spans, and MCP sessions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from orgflow.frontends.traces.log_times import UnreadableTime, read_time
from orgflow.frontends.traces.opened_file import LONGEST_LINE, open_log

from orgflow_ir.mining.event_log import (
    COMPLETE,
    NO_TIME,
    LogEvent,
    LogFault,
    LogItem,
    Scalar,
    UnreadableLog,
    iterate_scalars,
)
from orgflow_ir.model.input_limits import LimitExceeded, load_json

SESSIONS: Final = (
    "conversation_id", "session_id", "sessionId", "conversationId", "thread_id", "run_id",
    "trace_id", "task_id", "case_id", "case", "session", "id",
)  # fmt: skip
"""The keys of a line that name its case."""

TIMES: Final = ("timestamp", "created_at", "time", "ts", "date")

_OPERATION: Final = "gen_ai.operation.name"
_TOOL: Final = "gen_ai.tool.name"


def is_tool_trace(record: object) -> bool:
    """Whether the first line of a file is of a chat, a span or an MCP session."""
    if not isinstance(record, Mapping):
        return False
    return (
        isinstance(record.get("messages"), list)
        or "resourceSpans" in record
        or _is_span(record)
        or "role" in record
        or "jsonrpc" in _unwrap_message(record)
    )


def read_tool_calls(path: str) -> Iterator[LogItem]:
    """The tool calls of a file, one conversation, message, span or request a line.

    The activity is the name of the tool; its arguments and its result are attributes `input.…` and
    `output.…`, scalars only. A call that failed has `failed`.

    Raises:
        UnreadableLog: beyond a limit.
        OSError: it cannot be opened.
    """
    session = "session"
    reader = _Calls()
    with open_log(path) as file:
        for line, raw in enumerate(iter(lambda: file.readline(LONGEST_LINE + 1), b""), 1):
            if len(raw) > LONGEST_LINE:
                raise UnreadableLog(f"the line has more than {LONGEST_LINE:,} bytes", line)
            if not raw.strip():
                continue
            try:
                record = load_json(raw.decode("utf-8-sig"))
            except LimitExceeded as error:
                yield LogFault(line, f"the line {error}; it is left out")
                continue
            except ValueError:
                yield LogFault(line, "the line is not JSON; it is left out")
                continue
            if not isinstance(record, dict):
                yield LogFault(line, "the line is not a JSON object; it is left out")
                continue
            try:
                yield from reader.read_record(record, line, session)
            except (AttributeError, KeyError, TypeError) as error:
                yield LogFault(line, f"the line is in an unknown form ({error!r})")
    yield from reader.finish_calls()


def read_call_document(data: Any) -> Iterator[LogItem]:
    """The tool calls of one JSON document: spans, a conversation, or a list of them or of messages.
    Raises `UnreadableLog`."""
    reader = _Calls()
    try:
        for record in data if isinstance(data, list) else [data]:
            yield from reader.read_record(record, 0, "session")
    except (AttributeError, KeyError, TypeError) as error:
        raise UnreadableLog(f"the document is in an unknown form: {error!r}") from None
    yield from reader.finish_calls()


class _Calls:
    """Calls whose results have not been seen: an event is yielded when its result is known, in the
    order of the calls of its case."""

    def __init__(self) -> None:
        self.open: dict[str, dict[str, LogEvent]] = {}

    def read_record(self, record: dict[str, Any], line: int, session: str) -> Iterator[LogItem]:
        """The events that a line completes."""
        if "resourceSpans" in record:
            for span in _iterate_spans(record):
                yield from _read_span(span, line)
        elif _is_span(record):
            yield from _read_span(record, line)
        elif isinstance(record.get("messages"), list):
            case = _find_session(record) or f"line {line}"
            for message in record["messages"]:
                self.read_message(message, case, line)
            yield from self.finish_calls(case)
        elif "role" in record:
            self.read_message(record, _find_session(record) or session, line)
        elif "jsonrpc" in _unwrap_message(record):
            self.read_request(record, line, session)

    def read_message(self, message: Mapping[str, Any], case: str, line: int) -> None:
        """Keep the calls of a message, or add results to calls."""
        time = _read_moment(message)
        for call in message.get("tool_calls") or ():
            function = call.get("function") or call
            self.open_call(
                case, call.get("id", ""), function["name"],
                function.get("arguments", function.get("args")), time, line,
            )  # fmt: skip
        if message.get("role") == "tool":
            self.close_call(case, message.get("tool_call_id", ""), message.get("content"), False)
        content = message.get("content")
        for block in content if isinstance(content, list) else ():
            if not isinstance(block, Mapping):
                continue
            if block.get("type") == "tool_use":
                self.open_call(case, block.get("id", ""), block["name"], block.get("input"), time,
                               line)  # fmt: skip
            elif block.get("type") == "tool_result":
                failed = bool(block.get("is_error"))
                self.close_call(case, block.get("tool_use_id", ""), block.get("content"), failed)

    def read_request(self, record: Mapping[str, Any], line: int, session: str) -> None:
        """Keep a request `tools/call` of MCP, or add the answer to it."""
        message = _unwrap_message(record)
        case = _find_session({key: value for key, value in record.items() if key != "id"})
        identity = str(message.get("id", ""))
        if message.get("method") == "tools/call":
            call = message["params"]
            self.open_call(
                case or session, identity, call["name"], call.get("arguments"),
                _read_moment(record), line,
            )  # fmt: skip
        elif "result" in message or "error" in message:
            result = message.get("result") or {}
            failed = "error" in message or bool(result.get("isError"))
            content = result.get("structuredContent") or result.get("content")
            self.close_call(case or session, identity, content, failed)

    def open_call(
        self, case: str, identity: str, tool: str, given: Any, time: float, line: int
    ) -> None:
        """Keep a call until its result comes."""
        calls = self.open.setdefault(case, {})
        event = LogEvent(
            case, str(tool), time, NO_TIME, COMPLETE, "", flatten_value(given, "input"), line
        )
        calls[identity if identity and identity not in calls else f"\n{len(calls)}"] = event

    def close_call(self, case: str, identity: str, result: Any, failed: bool) -> None:
        """Add the result to a call; one without an id is that of the last call."""
        calls = self.open.get(case, {})
        key = identity if identity in calls else next(reversed(calls), "") if not identity else ""
        if key in calls:
            values = {**calls[key].attributes, **flatten_value(result, "output")}
            if failed:
                values["failed"] = True
            calls[key] = calls[key]._replace(attributes=values)

    def finish_calls(self, case: str | None = None) -> Iterator[LogEvent]:
        """The kept calls of a case, or of all."""
        for name in [case] if case is not None else list(self.open):
            yield from self.open.pop(name, {}).values()


def flatten_value(value: Any, prefix: str) -> dict[str, Scalar]:
    """The scalars in a JSON value, or in a text that is JSON, by their paths."""
    if isinstance(value, list):  # content blocks
        texts = [block.get("text") for block in value if isinstance(block, Mapping)]
        value = texts[0] if len(texts) == 1 else None
    if isinstance(value, str):
        try:
            value = load_json(value)
        except ValueError:
            return {prefix: value}
    if isinstance(value, Mapping):
        return dict(iterate_scalars(value, f"{prefix}."))
    return dict(iterate_scalars({prefix: value}))


def _unwrap_message(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message of a line of an MCP log, which may wrap it with a time."""
    inner = record.get("message", record.get("payload"))
    return inner if isinstance(inner, Mapping) else record


def _find_session(record: Mapping[str, Any]) -> str:
    value = next((record[key] for key in SESSIONS if record.get(key) not in (None, "")), "")
    return str(value)


def _read_moment(record: Mapping[str, Any]) -> float:
    for key in TIMES:
        if key in record:
            try:
                return read_time(str(record[key]))
            except UnreadableTime:
                continue
    return NO_TIME


# -- spans -------------------------------------------------------------------------------------


def _is_span(record: Mapping[str, Any]) -> bool:
    identity = record.get("traceId") or record.get("trace_id")
    context = record.get("context")
    nested = isinstance(context, Mapping) and "trace_id" in context
    return "attributes" in record and (bool(identity) or nested)


def _iterate_spans(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The spans of an OTLP document, by their start."""
    spans = [
        span
        for resource in record["resourceSpans"]
        for scope in resource.get("scopeSpans", resource.get("instrumentationLibrarySpans", ()))
        for span in scope.get("spans", ())
    ]
    yield from sorted(spans, key=lambda span: int(span.get("startTimeUnixNano", 0)))


def _read_span(span: Mapping[str, Any], line: int) -> Iterator[LogEvent]:
    """The event of a span in which a tool runs (OpenTelemetry semantic conventions for generative
    AI, operation `execute_tool`); other spans are those of models and agents."""
    values = _span_attributes(span.get("attributes") or {})
    tool = values.get(_TOOL)
    if tool is None or values.get(_OPERATION, "execute_tool") != "execute_tool":
        return
    context = span.get("context") or {}
    trace = span.get("traceId") or span.get("trace_id") or context.get("trace_id")
    case = values.get("gen_ai.conversation.id") or trace
    kept: dict[str, Scalar] = {}
    for name, key in (("input", "arguments"), ("output", "result")):
        if f"gen_ai.tool.call.{key}" in values:
            kept |= flatten_value(values[f"gen_ai.tool.call.{key}"], name)
    status = span.get("status") or {}
    if "error.type" in values or str(status.get("code", "")) in ("2", "STATUS_CODE_ERROR", "ERROR"):
        kept["failed"] = True
    begin = _read_span_time(span, ("startTimeUnixNano", "start_time_unix_nano", "start_time"))
    end = _read_span_time(span, ("endTimeUnixNano", "end_time_unix_nano", "end_time"))
    yield LogEvent(str(case), str(tool), end, begin, COMPLETE, "", kept, line)


def _read_span_time(span: Mapping[str, Any], keys: Iterable[str]) -> float:
    text = next((str(span[key]) for key in keys if span.get(key)), "")
    try:
        return read_time(text) if text else NO_TIME
    except UnreadableTime:
        return NO_TIME


def _span_attributes(attributes: Any) -> dict[str, Any]:
    """Attributes by name: OTLP lists them with typed values, other exporters have an object."""
    if isinstance(attributes, Mapping):
        return {
            key: json.dumps(value) if isinstance(value, dict | list) else value
            for key, value in attributes.items()
        }
    return {entry["key"]: next(iter(entry["value"].values()), None) for entry in attributes}
