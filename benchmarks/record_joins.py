"""Runs to record: waits, merges that get some of their inputs, and the switches of a node."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from record_calls import scenario
from record_shapes import (
    call,
    code,
    flow,
    hook,
    if_,
    many,
    merge,
    node,
    noop,
    number_if,
    stop,
    switch,
    timer,
    wait_hook,
)
from server_recording import Scenario

NONE: dict[str, list[object]] = {"W": [None]}
BOTH: dict[str, list[object]] = {"V": [None], "W": [None]}


def waits() -> Iterator[Scenario]:
    """Timers and webhook waits: answered, timed out, indefinitely; in branches, in loops."""
    for items in (1, 3):
        start = [hook(), many("A", items)]
        wired = flow([*start, timer("W", 0.3), noop("E")], "T>A>W>E")
        yield scenario(f"timer {items}", wired, "timer")
        wired = flow([*start, wait_hook("W"), noop("E")], "T>A>W>E")
        yield scenario(f"wait {items} answered", wired, "wait answered")
        yield scenario(f"wait {items} in vain", wired, "waits", answers=NONE)
        wired = flow([*start, wait_hook("W", True), noop("E")], "T>A>W>E")
        yield scenario(f"wait {items} timed out", wired, "timeout", answers=NONE)
        yield scenario(f"limited wait {items} answered", wired, "wait answered")
    rows = [hook(), many("A", 3), wait_hook("W", executeOnce=True), noop("E")]
    yield scenario("wait executeOnce answered", flow(rows, "T>A>W>E"), "wait answered")
    rows = [hook(), many("A", 3), timer("W", 0.3, executeOnce=True), noop("E")]
    yield scenario("timer executeOnce", flow(rows, "T>A>W>E"), "timer", "executeOnce")
    rows = [hook(), many("A", 3), wait_hook("W", True, executeOnce=True), noop("E")]
    yield scenario(
        "wait executeOnce timed out", flow(rows, "T>A>W>E"), "timeout", "executeOnce", answers=NONE
    )
    caught = {"onError": "continueErrorOutput"}
    for wait, more in ((wait_hook("W", True, **caught), NONE), (wait_hook("W", **caught), {})):
        wired = flow([hook(), wait, noop("E"), noop("F")], "T>W>E", "W.1>F")
        how = "timed out" if more else "answered"
        kind = "timeout" if more else "wait answered"
        yield scenario(f"wait with error output {how}", wired, kind, "error", answers=more)
    rows = [hook(), timer("W", 0.3, **caught), noop("E"), noop("F")]
    yield scenario("timer with error output", flow(rows, "T>W>E", "W.1>F"), "timer", "error")
    rows = [hook(), timer("W", 66), noop("E")]
    yield scenario("timer that is stored", flow(rows, "T>W>E"), "timer", "stored")
    rows = [hook(), wait_hook("V", suffix="v"), wait_hook("W", suffix="w"), noop("E")]
    yield scenario("wait after wait", flow(rows, "T>V>W>E"), "wait answered")
    yield from _parallel_waits()
    yield from _same_wait_twice()
    rows = [hook(), noop("A"), wait_hook("W"), if_("G", "$runIndex < 2"), noop("E")]
    yield scenario("wait in a loop", flow(rows, "T>A>W>G>A", "G.1>E"), "wait answered", "loop")
    rows = [hook(), timer("W", 0.2), if_("G", "$runIndex < 3"), noop("E")]
    yield scenario("timer in a loop", flow(rows, "T>W>G>W", "G.1>E"), "timer", "loop")
    rows = [hook(), noop("A"), wait_hook("W"), noop("B"), stop("X"), noop("E")]
    wired = flow(rows, "T>A>W>X", "T>B>E")
    yield scenario("stop after a wait", wired, "wait answered", "stop")


def _same_wait_twice() -> Iterator[Scenario]:
    """Tokens that are to run the node that waits; from the same stretch of the run, or not."""
    end = [noop("E"), noop("F")]
    rows = [hook(), many("A", 2), wait_hook("W"), *end]
    yield scenario("two tokens to a wait", flow(rows, "T>A>W>E", "A>W"), "wait answered", "twice")
    rows = [hook(), many("A", 2), wait_hook("V", suffix="v"), wait_hook("W", suffix="w"), *end]
    wired = flow(rows, "T>A>V>F", "A>W>E", "A>W")
    yield scenario("two tokens to a wait after another", wired, "wait answered", "twice")
    wired = flow(rows, "T>A>V>W", "A>W>E")
    yield scenario("a token to a wait meets an older one", wired, "wait answered", "twice")
    wired = flow(rows, "T>A>V>W", "V>W", "A>W>E", "A>W")
    yield scenario("two tokens to a wait meet older ones", wired, "wait answered", "twice")
    rows = [hook(), many("A", 2), call("C", "asks"), *end]
    yield scenario("two tokens to a call that asks", flow(rows, "T>A>C>E", "A>C"),
                   "call waited", "wait answered", "twice")  # fmt: skip
    rows = [hook(), many("A", 2), call("C", "sleeps"), *end]
    yield scenario(
        "two tokens to a call that sleeps", flow(rows, "T>A>C>E", "A>C"), "call waited", "twice"
    )
    rows = [hook(), many("A", 2), timer("W", 0.2), *end]
    yield scenario("two tokens to a timer", flow(rows, "T>A>W>E", "A>W"), "timer", "twice")
    rows = [hook(), many("A", 2), wait_hook("W", True), *end]
    wired = flow(rows, "T>A>W>E", "A>W")
    yield scenario("two tokens to a wait timed out", wired, "timeout", "twice", answers=NONE)
    rows = [hook(), many("A", 2), wait_hook("W"), merge("M", 2, "append"), *end]
    wired = flow(rows, "T>A>W>M", "A>W", "A>M:1", "M>E")
    yield scenario("two tokens to a wait and a merge", wired, "wait answered", "twice")


def _parallel_waits() -> Iterator[Scenario]:
    for mode in ("append", "position", "unpaired"):
        rows = [hook(), wait_hook("V", suffix="v"), wait_hook("W", suffix="w"), merge("M", 2, mode)]
        wired = flow([*rows, noop("E")], "T>V>M", "T>W>M:1", "M>E")
        yield scenario(f"waits in parallel {mode}", wired, "wait answered", "parallel waits")
        if mode == "position":
            yield scenario(
                "waits in parallel, one in vain", wired, "waits", "parallel waits", answers=NONE
            )
    rows = [hook(), wait_hook("V", True, "v"), wait_hook("W", True, "w"), merge("M", 2, "append")]
    wired = flow([*rows, noop("E")], "T>V>M", "T>W>M:1", "M>E")
    yield scenario("limited waits in parallel", wired, "timeout", "parallel waits", answers=BOTH)
    rows = [hook(), timer("V", 0.3), timer("W", 0.5), merge("M"), noop("E")]
    wired = flow(rows, "T>V>M", "T>W>M:1", "M>E")
    yield scenario("timers in parallel", wired, "timer", "parallel waits")
    rows = [hook(), timer("V", 0.3), wait_hook("W"), merge("M"), noop("E")]
    wired = flow(rows, "T>V>M", "T>W>M:1", "M>E")
    yield scenario("timer beside a wait", wired, "timer", "wait answered", "parallel waits")
    rows = [hook(), wait_hook("W"), noop("A"), many("B", 2), merge("M", 2, "append"), noop("E")]
    wired = flow(rows, "T>W>A>M", "T>B>M:1", "M>E")
    yield scenario("wait beside work", wired, "wait answered", "parallel waits")


TREES = (
    ("position", "position", "position"),
    ("unpaired", "unpaired", "unpaired"),
    ("append", "append", "append"),
    ("position", "append", "unpaired"),
    ("unpaired", "choose", "append"),
    ("append", "position", "choose"),
)
TAKEN = ([0], [0, 1], [1, 2], [0, 2, 3], [3])


def merges() -> Iterator[Scenario]:
    """Merges over merges with some branches taken, merges in loops, and counts of items."""
    for modes, taken in itertools.product(TREES, TAKEN):
        first, second, last = modes
        rows = [
            hook(), switch("X", 4, "$json.body.take"), *(noop(name) for name in "ABCD"),
            merge("M", 2, first), merge("N", 2, second), merge("O", 2, last), noop("E"),
        ]  # fmt: skip
        wired = flow(rows, "T>X>A>M", "X.1>B>M:1", "X.2>C>N", "X.3>D>N:1", "M>O", "N>O:1", "O>E")
        name = f"merges {'/'.join(modes)} of {'+'.join(map(str, taken))}"
        yield scenario(name, wired, "partial merge", body={"take": taken})
    for first, second in itertools.product(("position", "unpaired", "append"), repeat=2):
        yield _loop_of_or(first, second)
    for mode in ("position", "unpaired", "append", "choose"):
        rows = [hook(), noop("A"), noop("B"), noop("C"), merge("M", 2, mode),
                if_("G", "$runIndex < 2"), noop("E")]  # fmt: skip
        wired = flow(rows, "T>A", "A>B>M", "A>C>M:1", "M>G>A", "G.1>E")
        yield scenario(f"merge in a loop {mode}", wired, "merge", "loop")
    for mode in ("position", "unpaired", "append", "choose", "all"):
        rows = [hook(), many("A", 3), many("B", 2), merge("M", 2, mode), noop("E")]
        wired = flow(rows, "T>A>M", "T>B>M:1", "M>E")
        yield scenario(f"merge 3 and 2 {mode}", wired, "merge")
    for mode in ("position", "unpaired", "append"):
        rows = [hook(), *(noop(name) for name in "ABCD"), merge("M", 3, mode), noop("E")]
        wired = flow(rows, "T>A>M", "T>B>M", "T>C>M:1", "T>D>M:2", "M>E")
        yield scenario(f"merge with two wires in one input {mode}", wired, "partial merge")


def _loop_of_or(first: str, second: str) -> Scenario:
    """loop(AND(OR(a, b), c)), a alone in pass 0, both in 1, b alone in 2 (N8N.md)."""
    read = "[[0], [0, 1], [1]][$runIndex]"
    rows = [
        hook(), noop("H"), switch("X", 2, read), noop("A"), noop("B"), noop("C"),
        merge("M", 2, first), merge("N", 2, second), if_("G", "$runIndex < 2"), noop("E"),
    ]  # fmt: skip
    wired = flow(rows, "T>H>X>A>M", "X.1>B>M:1", "H>C>N:1", "M>N>G>H", "G.1>E")
    return scenario(f"loop of and of or {first}/{second}", wired, "partial merge", "loop")


def switched() -> Iterator[Scenario]:
    """Disabled nodes, executeOnce, alwaysOutputData."""
    for kind, row in (
        ("noOp", noop("X", disabled=True)),
        ("if", if_("X", "false", disabled=True)),
        ("code", code("X", "throw new Error('x');", disabled=True)),
        ("stop", stop("X", disabled=True)),
        ("wait", wait_hook("W", disabled=True)),
        ("stop with error output", stop("X", disabled=True, onError="continueErrorOutput")),
    ):
        name = row["name"]
        wired = flow([hook(), many("A", 2), row, noop("E"), noop("F")], f"T>A>{name}>E",
                     f"{name}.1>F")  # fmt: skip
        yield scenario(f"disabled {kind}", wired, "disabled")
    rows = [hook(), many("A", 3), many("B", 2), merge("M", disabled=True), noop("E")]
    yield scenario("disabled merge", flow(rows, "T>A>M", "T>B>M:1", "M>E"), "disabled", "merge")
    for kind, row in (
        ("if", if_("X", "$json.i > 0", executeOnce=True)),
        ("code", code("X", "return $input.all();", executeOnce=True)),
        ("filter", if_("X", "$json.i > 0", "filter", executeOnce=True)),
        ("switch", switch("X", 2, "[$json.i]", executeOnce=True)),
        ("call", call("X", "three", executeOnce=True)),
        ("number if", number_if("X", executeOnce=True, onError="continueErrorOutput")),
    ):
        rows = [hook(), many("A", 3), row, noop("E"), noop("F")]
        yield scenario(f"executeOnce {kind}", flow(rows, "T>A>X>E", "X.1>F"), "executeOnce")
    rows = [hook(), many("A", 3), many("B", 2), merge("M", 2, "append", executeOnce=True)]
    wired = flow([*rows, noop("E")], "T>A>M", "T>B>M:1", "M>E")
    yield scenario("executeOnce merge", wired, "executeOnce", "merge")
    always = {"alwaysOutputData": True}
    for kind, row in (
        ("if", if_("X", "$json.i > 9", **always)),
        ("filter", if_("X", "false", "filter", **always)),
        ("switch", switch("X", 2, "[9]", **always)),
        ("code", code("X", "return [];", **always)),
        ("batches", node("X", "splitInBatches", 3, {"batchSize": 2, "options": {}}, **always)),
    ):
        rows = [hook(), many("A", 3), row, noop("E"), noop("F")]
        wired = flow(rows, "T>A>X>E", "X.1>F", *(["F>X"] if kind == "batches" else []))
        yield scenario(f"alwaysOutputData {kind}", wired, "alwaysOutputData")
    rows = [hook(), many("A", 3), if_("X", "true", "filter"), if_("Y", "false", "filter"),
            merge("M", 2, "position", **always), noop("E")]  # fmt: skip
    wired = flow(rows, "T>A>X>M", "A>Y>M:1", "M>E")
    yield scenario("alwaysOutputData merge", wired, "alwaysOutputData", "partial merge")
