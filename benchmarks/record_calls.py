"""Runs to record: workflows that call others, and nodes that fail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from record_shapes import (
    Json,
    call,
    code,
    field,
    flow,
    hook,
    http,
    if_,
    many,
    merge,
    needed,
    noop,
    number_if,
    stop,
    timer,
)
from server_recording import SERVER, Scenario

ON_ERROR = ("stop", "continueRegularOutput", "continueErrorOutput")


def scenario(
    name: str,
    workflow: Json,
    *kinds: str,
    body: Any = None,
    answers: dict[str, list[Any]] | None = None,
) -> Scenario:
    """A scenario with the called workflows it needs."""
    return Scenario(name, workflow, "T", body or {}, needed(workflow), answers or {}, kinds)


def on_error(choice: str) -> Json:
    return {} if choice == "stop" else {"onError": choice}


def calls() -> Iterator[Scenario]:
    """Called workflows: waited for or not, once or per item, nested, failing, waiting."""
    for called_flow in ("plain", "three", "none", "fork", "ways", "join"):
        for mode in ("once", "each"):
            for waits in (True, False):
                row = call("C", called_flow, mode, waits)
                wired = flow([hook(), many("A", 3), row, noop("E")], "T>A>C>E")
                how = "waited" if waits else "detached"
                yield scenario(f"call {called_flow} {mode} {how}", wired, f"call {how}", mode)
    for called_flow in ("fails", "fails-on-1", "throws", "outer-fails", "goes-on"):
        for mode in ("once", "each"):
            for choice in ON_ERROR:
                yield _failing(called_flow, mode, choice)
    for called_flow in ("outer", "outer-each", "outer-catches", "outest", "outer-leaves"):
        wired = flow([hook(), many("A", 2), call("C", called_flow), noop("E")], "T>A>C>E")
        yield scenario(f"call {called_flow} nested", wired, "call waited", "nested")
        wired = flow([hook(), call("C", called_flow, waits=False), noop("E")], "T>C>E")
        yield scenario(f"call {called_flow} detached", wired, "call detached", "nested")
    wired = flow([hook(), call("C", "fails", waits=False), noop("E")], "T>C>E")
    yield scenario("call fails detached", wired, "call detached", "call fails")
    yield from _calls_around()
    yield from _calls_that_wait()


def _failing(called_flow: str, mode: str, choice: str) -> Scenario:
    row = call("C", called_flow, mode, **on_error(choice))
    wired = flow([hook(), many("A", 3), row, noop("E"), noop("F")], "T>A>C>E", "C.1>F")
    return scenario(
        f"call {called_flow} {mode} {choice}", wired, "call waited", "call fails", mode, choice
    )


def _calls_around() -> Iterator[Scenario]:
    rows = [hook(), call("C", "three"), if_("G", "$runIndex < 2"), noop("E")]
    yield scenario("call in a loop", flow(rows, "T>C>G>C", "G.1>E"), "call waited", "loop")
    rows = [hook(), call("C", "plain", waits=False), if_("G", "$runIndex < 2"), noop("E")]
    yield scenario(
        "call in a loop detached", flow(rows, "T>C>G>C", "G.1>E"), "call detached", "loop"
    )
    for mode in ("position", "append"):
        rows = [hook(), call("C", "three"), call("D", "plain"), merge("M", 2, mode), noop("E")]
        wired = flow(rows, "T>C>M", "T>D>M:1", "M>E")
        yield scenario(f"calls in parallel branches {mode}", wired, "call waited", "merge")
    rows = [hook(), many("A", 3), call("C", "none", alwaysOutputData=True), noop("E")]
    yield scenario(
        "call none alwaysOutputData", flow(rows, "T>A>C>E"), "call waited", "alwaysOutputData"
    )
    rows = [hook(), many("A", 3), call("C", "plain", "each", executeOnce=True), noop("E")]
    yield scenario("call each executeOnce", flow(rows, "T>A>C>E"), "call waited", "executeOnce")
    rows = [hook(), many("A", 3), call("C", "three", disabled=True), noop("E")]
    yield scenario("call disabled", flow(rows, "T>A>C>E"), "disabled")
    tried = {"retryOnFail": True, "maxTries": 2, "waitBetweenTries": 100}
    for choice in ON_ERROR:
        row = call("C", "fails", **tried, **on_error(choice))
        wired = flow([hook(), many("A", 2), row, noop("E"), noop("F")], "T>A>C>E", "C.1>F")
        yield scenario(f"call tried again {choice}", wired, "call waited", "retry", choice)


def _calls_that_wait() -> Iterator[Scenario]:
    rows = [hook(), many("A", 2), call("C", "sleeps", "each"), noop("E")]
    yield scenario("call sleeps each", flow(rows, "T>A>C>E"), "call waited", "timer")
    rows = [hook(), call("C", "sleeps", waits=False), timer("W", 0.5), noop("E")]
    yield scenario("call sleeps detached", flow(rows, "T>C>W>E"), "call detached", "timer")
    for called_flow in ("asks", "outer-asks", "asks-then-fails"):
        rows = [hook(), many("A", 2), call("C", called_flow), noop("E"), noop("F")]
        wired = flow(rows, "T>A>C>E", "C.1>F")
        yield scenario(f"call {called_flow}", wired, "call waited", "wait answered")
    for choice in ON_ERROR[1:]:
        row = call("C", "asks-then-fails", **on_error(choice))
        wired = flow([hook(), many("A", 2), row, noop("E"), noop("F")], "T>A>C>E", "C.1>F")
        yield scenario(f"call asks-then-fails {choice}", wired, "call waited", "wait answered")
    for called_flow in ("asks-in-a-loop", "asks-two-ways", "loops"):
        wired = flow([hook(), call("C", called_flow), noop("E"), noop("F")], "T>C>E", "C.1>F")
        yield scenario(f"call {called_flow}", wired, "call waited", "loop")
    rows = [hook(), call("C", "asks"), call("D", "asks"), merge("M"), noop("E")]
    wired = flow(rows, "T>C>M", "T>D>M:1", "M>E")
    yield scenario("two calls ask in parallel branches", wired, "call waited", "wait answered")
    wired = flow([hook(), call("C", "asks", waits=False), noop("E")], "T>C>E")
    yield scenario("call asks detached", wired, "call detached", "wait answered")
    yield scenario(
        "call asks detached in vain", wired, "call detached", "waits", answers={"asks/W": [None]}
    )
    wired = flow([hook(), many("A", 2), call("C", "asks", "each"), noop("E")], "T>A>C>E")
    yield scenario("call asks each", wired, "call waited", "each", "wait answered")
    wired = flow([hook(), call("C", "asks"), noop("E")], "T>C>E")
    yield scenario("call asks in vain", wired, "call waited", "waits", answers={"asks/W": [None]})
    wired = flow([hook(), many("A", 2), call("C", "asks-for-1-s"), noop("E")], "T>A>C>E")
    yield scenario(
        "call asks-for-1-s", wired, "call waited", "timeout", answers={"asks-for-1-s/W": [None]}
    )


BAD = "return [0, 1, 2].map((i) => ({ json: { i: i === 1 ? 'bad' : i } }));"
THROWS_EACH = "if ($json.i === 'bad') throw new Error('x');\nreturn $input.item;"


def failing_nodes() -> Iterator[Scenario]:
    """Every kind of node that can fail, under each onError, with three items, the second bad."""
    for choice in ON_ERROR:
        more = on_error(choice)
        rows = {
            "if": number_if("X", **more),
            "filter": number_if("X", "filter", **more),
            "code": code("X", "throw new Error('x');", **more),
            "code each": _code_each(**more),
            "set": field("X", "k", "$json.i.toFixed(0)", **more),
            "http fails": http("X", "http://127.0.0.1:9/", **more),
            "http": http("X", "={{ $('T').first().json.body.url }}", **more),
            "stop": stop("X", **more),
            "stop once": stop("X", executeOnce=True, **more),
            "switch": _strict_switch(**more),
        }
        for kind, row in rows.items():
            end = [noop("E"), noop("F"), noop("G")]
            wired = flow([hook(), code("A", BAD), row, *end], "T>A>X>E", "X.1>F", "X.2>G")
            body = {"url": f"{SERVER}/healthz"} if kind == "http" else {}
            yield scenario(f"error {kind} {choice}", wired, "error", choice, body=body)
    yield from _error_outputs_wired()


def _code_each(**more: Any) -> Json:
    row = code("X", THROWS_EACH, **more)
    row["parameters"]["mode"] = "runOnceForEachItem"
    return row


def _strict_switch(**more: Any) -> Json:
    row = number_if("X", "switch")
    held = row["parameters"]["conditions"]
    rules = [{"conditions": held, "renameOutput": True, "outputKey": "0"}] * 2
    parameters: Json = {"mode": "rules", "rules": {"values": rules}, "options": {}}
    return {**row, "typeVersion": 3.4, "parameters": parameters, **more}


def _error_outputs_wired() -> Iterator[Scenario]:
    caught = {"onError": "continueErrorOutput"}
    for mode in ("position", "append", "unpaired"):
        rows = [hook(), code("A", BAD), _code_each(**caught), merge("M", 2, mode), noop("E")]
        wired = flow(rows, "T>A>X>M", "X.1>M:1", "M>E")
        yield scenario(f"error output into merge {mode}", wired, "error", "merge")
    rows = [hook(), noop("A"), code("X", "if ($runIndex < 2) throw new Error('x');\n"
            "return [{ json: {} }];", **caught), noop("R"), noop("E")]  # fmt: skip
    yield scenario("error output tries again", flow(rows, "T>A>X>E", "X.1>R>X"), "error", "loop")
    rows = [hook(), code("X", "throw new Error('x');", alwaysOutputData=True, **caught),
            noop("E"), noop("F")]  # fmt: skip
    wired = flow(rows, "T>X>E", "X.1>F")
    yield scenario("error output and alwaysOutputData", wired, "error", "alwaysOutputData")
    rows = [hook(), noop("A"), stop("X"), noop("B"), noop("E")]
    wired = flow(rows, "T>A>X", "T>B>E")
    yield scenario("stop leaves a branch undone", wired, "error", "stop")
    tried = {"retryOnFail": True, "maxTries": 2, "waitBetweenTries": 100}
    for choice in ON_ERROR:
        row = http("X", "http://127.0.0.1:9/", **tried, **on_error(choice))
        wired = flow([hook(), row, noop("E"), noop("F")], "T>X>E", "X.1>F")
        yield scenario(f"error http tried again {choice}", wired, "error", "retry", choice)
