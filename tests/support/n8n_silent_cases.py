"""Each silent failure of N8N.md: a workflow that has it, the damage, and the workflow repaired."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from n8n_linted import (
    Json,
    T,
    call,
    condition,
    conditions,
    flow,
    if_,
    merge,
    node,
    set_,
    switch,
    wait,
)
from n8n_linted import reads_of as reads
from orgflow.backends.n8n.engine.local import EngineRun


@dataclass(frozen=True)
class Case:
    """One failure.

    Attributes:
        says: what N8N.md (or N8N_PATTERNS.md) says of it, word for word, without markup.
        code: what `check` says; severity: how loud.
        bad, ran, status: the workflow, and which nodes the engine runs in order, and how it ends.
        good, right, well: the same repaired.
        look: what else shows the damage; `better` that it is gone.
        options: for the engine (`items`, `stubs`, `answers`, `workflows`, `limits`).
        file: what is linted where it is not `bad` itself (the called workflow), and `corrected`.
    """

    says: str
    code: str
    severity: str
    bad: Json
    ran: str
    good: Json
    right: str
    status: str = "success"
    well: str = "success"
    look: Callable[[EngineRun], Any] | None = None
    better: Callable[[EngineRun], Any] | None = None
    options: Json = field(default_factory=dict)
    file: Json | None = None
    corrected: Json | None = None


def value(name: str, key: str) -> Callable[[EngineRun], Any]:
    """A field of the first item that the last run of a node gave."""

    def look(run: EngineRun) -> Any:
        entry = [e for e in run.order if e.node == name][-1]
        assert entry.items is not None
        return entry.items[0][0].get(key)

    return look


def count(name: str) -> Callable[[EngineRun], int]:
    """How many items the last run of a node gave by its first output."""
    return lambda run: [e.outputs[0] for e in run.order if e.node == name][-1]


def found(look: Callable[[EngineRun], Any], wanted: Any) -> Callable[[EngineRun], bool]:
    """Whether that is so."""
    return lambda run: bool(look(run) == wanted)


def values(run: EngineRun, name: str, key: str) -> list[Any]:
    """A field of every item that any run of a node gave."""
    return [i[key] for e in run.order if e.node == name for i in (e.items or ((),))[0]]


def error(part: str) -> Callable[[EngineRun], bool]:
    """Whether the run ended with such a message."""
    return lambda run: part in (run.error or "")


def wires(workflow: Json, **changes: Any) -> Json:
    """The workflow with connections of some nodes replaced."""
    return {**workflow, "connections": {**workflow["connections"], **changes}}


FALSE, TRUE = "={{ false }}", "={{ true }}"


def throws(name: str, **more: Any) -> Json:
    """A Code node that fails."""
    return node(name, "code", {"jsCode": "throw new Error('broken');"}, **more)


LOOP = [
    T, "H", switch("S", TRUE, FALSE, allMatchingOutputs=True), "C", "A", "B",
    merge("J", "unpaired"), merge("K", "position"), if_("G"), "End",
]  # fmt: skip

FLOW_CASES: dict[str, Case] = {
    "chooseBranch with a dead branch": Case(
        says="`chooseBranch` never fires and everything after it silently does not run, status",
        code="OF449",
        severity="warning",
        bad=flow(
            [T, if_("I"), "A", "B", merge("M", "choose"), "After"],
            "T > I, I > A, I:1 > B, A > M, B > M:1, M > After",
        ),
        ran="T I A",
        good=flow([T, if_("I"), "A", "B", "After"], "T > I, I > A, I:1 > B, A > After, B > After"),
        right="T I A After",
    ),
    "chooseBranch as the entry of a loop": Case(
        says="A loop header as `chooseBranch` merge is dead at once",
        code="OF449",
        severity="error",
        bad=flow(
            [T, merge("M", "choose"), "A", if_("I"), "End"],
            "T > M, M > A, A > I, I > End, I:1 > M:1",
        ),
        ran="T",
        good=flow([T, "A", if_("I"), "End"], "T > A, A > I, I > End, I:1 > A"),
        right="T A I End",
    ),
    "combineByPosition with a dead branch": Case(
        says="`combineByPosition` fires with 0 items (downstream does not run)",
        code="OF450",
        severity="warning",
        bad=flow(
            [T, "A", if_("I"), "B", merge("M", "position"), "After"],
            "T > A, T > I, I:1 > B, A > M, B > M:1, M > After",
        ),
        ran="T A I M",
        good=flow(
            [T, "A", if_("I"), "B", merge("M", "unpaired"), "After"],
            "T > A, T > I, I:1 > B, A > M, B > M:1, M > After",
        ),
        right="T A I M After",
    ),
    "two partial merges in one loop": Case(
        says="two partial merges in one loop are each other's ancestors, neither fires, run ends "
        "green",
        code="OF451",
        severity="warning",
        bad=flow(
            LOOP,
            "T > H, H > S, H > C, S > A, S:1 > B, A > J, B > J:1, J > K, C > K:1,"
            " K > G, G > End, G:1 > H",
        ),
        ran="T H S A C",
        good=flow(
            [
                T,
                "H",
                if_("S", TRUE),
                if_("R", FALSE),
                "C",
                "A",
                "B",
                merge("J", "position"),
                merge("K", "position"),
                if_("G"),
                "End",
            ],
            "T > H, H > S, H > R, H > C, S > A, S:1 > J, R > B, R:1 > J:1, A > J, B > J:1,"
            " J > K, C > K:1, K > G, G > End, G:1 > H",
        ),
        right="T H S A R J C K G End",
    ),
    "branches wired into one node": Case(
        says="AND split wired straight into one node: that node and all after it run once per "
        "branch",
        code="OF452",
        severity="warning",
        bad=flow([T, "A", "B", "X", "Y"], "T > A, T > B, A > X, B > X, X > Y"),
        ran="T A X Y B X Y",
        good=flow(
            [T, "A", "B", merge("M", "position"), "X", "Y"],
            "T > A, T > B, A > M, B > M:1, M > X, X > Y",
        ),
        right="T A B M X Y",
    ),
    "a loop that forks and joins without a Merge": Case(
        says="AND split wired straight into one node: that node and all after it run once per "
        "branch",
        code="OF452",
        severity="warning",
        bad=flow(
            [T, "H", "A", "B", if_("X", "={{ $runIndex >= 3 }}"), "E"],
            "T > H, H > A, H > B, A > X, B > X, X > E, X:1 > H",
        ),
        ran="T H A X H A X H A X H A X E B X E B X E B X E B X E",
        good=flow(
            [T, "H", "A", "B", merge("M", "position"), if_("X", "={{ $runIndex >= 1 }}"), "E"],
            "T > H, H > A, H > B, A > M, B > M:1, M > X, X > E, X:1 > H",
        ),
        right="T H A B M X H A B M X E",
    ),
    "two sources on one Merge input": Case(
        says="Two sources into the same Merge input are two tokens: the Merge may run twice, the "
        "second time partially",
        code="OF453",
        severity="warning",
        bad=flow(
            [T, "A", "B", "C", merge("M", "append"), "X"],
            "T > A, T > B, T > C, A > M, B > M, C > M:1, M > X",
        ),
        ran="T A B C M X M X",
        good=flow(
            [T, "A", "B", "C", merge("M", "position", 3), "X"],
            "T > A, T > B, T > C, A > M, B > M:1, C > M:2, M > X",
        ),
        right="T A B C M X",
    ),
    "waiting inputs are indexed by count": Case(
        says="so arrivals A1 A2 B1 A3 B2 B3 pair as (A1,B1) (A3,B2) (B3) and A2 is overwritten",
        code="OF454",
        severity="warning",
        bad=flow(
            [T, *(set_(f"n{i}", v=i) for i in range(1, 7)), "A", "B", merge("M", "append"), "X"],
            "T > n1, T > n2, T > n3, T > n4, T > n5, T > n6, n1 > A, n2 > A, n4 > A, n3 > B,"
            " n5 > B, n6 > B, A > M, B > M:1, M > X",
        ),
        ran="T n1 A n2 A n3 B M X n4 A n5 B M X n6 B M X",
        look=lambda run: "2" not in {str(v) for v in values(run, "M", "v")},
        good=flow(
            [
                T,
                *(set_(f"n{i}", v=i) for i in range(1, 7)),
                merge("J", "position", 3),
                merge("L", "position", 3),
                "A",
                "B",
                merge("M", "position"),
                "X",
            ],
            "T > n1, T > n2, T > n3, T > n4, T > n5, T > n6, n1 > J, n2 > J:1, n4 > J:2,"
            " n3 > L, n5 > L:1, n6 > L:2, J > A, L > B, A > M, B > M:1, M > X",
        ),
        right="T n1 n2 n3 n4 J A n5 n6 L B M X",
    ),
    "append adds up": Case(
        says="append n (each later node then works n items; in a loop they double)",
        code="OF455",
        severity="info",
        bad=flow([T, "A", "B", merge("M", "append"), "X"], "T > A, T > B, A > M, B > M:1, M > X"),
        ran="T A B M X",
        look=found(count("X"), 2),
        good=flow(
            [T, "A", "B", merge("M", "position"), "X"], "T > A, T > B, A > M, B > M:1, M > X"
        ),
        right="T A B M X",
        better=found(count("X"), 1),
    ),
    "append doubles in a loop": Case(
        says="append n (each later node then works n items; in a loop they double)",
        code="OF455",
        severity="warning",
        bad=flow(
            [T, "H", "A", "B", merge("M", "append"), if_("G", "={{ $runIndex >= 2 }}"), "X"],
            "T > H, H > A, H > B, A > M, B > M:1, M > G, G > X, G:1 > H",
        ),
        ran="T H A B M G H A B M G H A B M G X",
        look=found(count("X"), 8),
        good=flow(
            [T, "H", "A", "B", merge("M", "position"), if_("G", "={{ $runIndex >= 2 }}"), "X"],
            "T > H, H > A, H > B, A > M, B > M:1, M > G, G > X, G:1 > H",
        ),
        right="T H A B M G H A B M G H A B M G X",
        better=found(count("X"), 1),
    ),
    "a loop without a way out": Case(
        says="2,000 iterations in 2.3 s, no limit",
        code="OF456",
        severity="error",
        bad=flow([T, "A", "B"], "T > A, A > B, B > A"),
        ran="T" + " A B" * 9 + " A",
        status="limit",
        options={"limits": {"nodes": 20}},
        good=flow([T, "A", if_("B", "={{ $runIndex >= 1 }}"), "C"], "T > A, A > B, B > C, B:1 > A"),
        right="T A B A B C",
    ),
    "a Switch without a match": Case(
        says="no match and no fallback: the run just ends, status success",
        code="OF457",
        severity="warning",
        bad=flow([T, switch("S", FALSE), "A"], "T > S, S > A"),
        ran="T S",
        good=flow(
            [T, switch("S", FALSE, fallbackOutput="extra"), "A", "Z"], "T > S, S > A, S:1 > Z"
        ),
        right="T S Z",
    ),
    "two waits side by side": Case(
        says="Two webhook waits in parallel branches: only the first can be called",
        code="OF458",
        severity="warning",
        bad=flow([T, wait("V"), wait("W")], "T > V, T > W"),
        ran="T V",
        status="waiting",
        options={"answers": {"V": [None], "W": [{"x": 1}]}},
        good=flow([T, wait("W"), wait("V")], "T > W, W > V"),
        right="T W V",
        well="waiting",
    ),
    "work beside a wait": Case(
        says="A Wait stops the whole execution: branches not yet run wait too",
        code="OF458",
        severity="info",
        bad=flow([T, wait("V"), "B"], "T > V, T > B"),
        ran="T V",
        status="waiting",
        options={"answers": {"V": [None]}},
        good=flow([T, "B", wait("V")], "T > B, T > V"),
        right="T B V",
        well="waiting",
    ),
    "a timeout that looks like an answer": Case(
        says="on timeout the *input* items pass through: set a marker before and test it after",
        code="OF459",
        severity="warning",
        bad=flow([T, wait("W", limited=True), "Pay"], "T > W, W > Pay"),
        ran="T W Pay",
        options={"answers": {"W": [None]}},
        good=flow(
            [
                T,
                set_("Mark", late=True),
                wait("W", limited=True),
                if_("I", "={{ $json.late }}", "boolean", "exists"),
                "Pay",
                "Late",
            ],
            "T > Mark, Mark > W, W > I, I > Late, I:1 > Pay",
        ),
        right="T Mark W I Late",
    ),
}

DATA_CASES: dict[str, Case] = {
    "a stale copy overwrites": Case(
        says="a Merge lets the later input overwrite equal fields, so a branch that carries a "
        "stale copy undoes a fresh decision",
        code="OF460",
        severity="warning",
        bad=flow(
            [
                T,
                set_("S", ok="old"),
                set_("A", ok="new"),
                "B",
                merge("M", "position"),
                reads("R", "$json.ok"),
            ],
            "T > S, S > A, S > B, A > M, B > M:1, M > R",
        ),
        ran="T S A B M R",
        look=found(value("R", "got"), "old"),
        good=flow(
            [
                T,
                set_("S", ok="old"),
                set_("A", ok="new"),
                "B",
                merge("M", "position"),
                reads("R", "$json.ok"),
            ],
            "T > S, S > A, S > B, A > M:1, B > M, M > R",
        ),
        right="T S A B M R",
        better=found(value("R", "got"), "new"),
    ),
    "a Wait replaces the item": Case(
        says="httpRequest, Wait, Form and executeWorkflow replace the item and drop what it "
        "carried",
        code="OF461",
        severity="warning",
        bad=flow(
            [T, set_("S", order=7), wait("W"), reads("R", "$json.order")], "T > S, S > W, W > R"
        ),
        ran="T S W R",
        look=found(value("R", "got"), None),
        options={"answers": {"W": [{"x": 1}]}},
        good=flow(
            [T, set_("S", order=7), wait("W"), reads("R", "$('S').first().json.order")],
            "T > S, S > W, W > R",
        ),
        right="T S W R",
        better=found(value("R", "got"), "7"),
    ),
    "a call replaces the item": Case(
        says="httpRequest, Wait, Form and executeWorkflow replace the item and drop what it "
        "carried",
        code="OF461",
        severity="info",
        bad=flow(
            [T, set_("S", order=7), call("C", "sub"), reads("R", "$json.order")],
            "T > S, S > C, C > R",
        ),
        ran="T S C B N R",
        look=found(value("R", "got"), None),
        options={
            "workflows": {
                "sub": flow(
                    [
                        node("B", "executeWorkflowTrigger", {"inputSource": "passthrough"}),
                        node(
                            "N",
                            "set",
                            {
                                "assignments": {
                                    "assignments": [
                                        {"id": "1", "name": "n", "type": "number", "value": 1}
                                    ]
                                },
                                "options": {},
                            },
                        ),
                    ],
                    "B > N",
                )
            }
        },
        good=flow(
            [T, set_("S", order=7), call("C", "sub"), reads("R", "$('S').first().json.order")],
            "T > S, S > C, C > R",
        ),
        right="T S C B N R",
        better=found(value("R", "got"), "7"),
    ),
    "$runIndex in a called workflow": Case(
        says="`$runIndex` restarts at 0 in every sub-workflow call",
        code="OF462",
        severity="warning",
        bad=flow([T, call("C", "sub"), call("D", "sub")], "T > C, C > D"),
        ran="T C B R D B R",
        look=found(value("R", "got"), "0"),
        options={
            "workflows": {
                "sub": flow(
                    [
                        node("B", "executeWorkflowTrigger", {"inputSource": "passthrough"}),
                        reads("R", "$runIndex"),
                    ],
                    "B > R",
                )
            }
        },
        good=flow([T, "C"], "T > C"),
        right="T C",
        file=flow(
            [
                node("B", "executeWorkflowTrigger", {"inputSource": "passthrough"}),
                reads("R", "$runIndex"),
            ],
            "B > R",
        ),
        corrected=flow(
            [
                node("B", "executeWorkflowTrigger", {"inputSource": "passthrough"}),
                reads("R", "$json.count"),
            ],
            "B > R",
        ),
    ),
    "an error output without a wire": Case(
        says="goes out of the last output",
        code="OF463",
        severity="warning",
        bad=flow([T, call("C", "sub", onError="continueErrorOutput"), "A"], "T > C, C > A"),
        ran="T C B N",
        options={
            "workflows": {
                "sub": flow(
                    [
                        node("B", "executeWorkflowTrigger", {"inputSource": "passthrough"}),
                        node("N", "stopAndError", {"errorMessage": "broken"}),
                    ],
                    "B > N",
                )
            }
        },
        good=flow(
            [T, call("C", "sub", onError="continueErrorOutput"), "A", "Z"], "T > C, C > A, C:1 > Z"
        ),
        right="T C B N Z",
    ),
    "alwaysOutputData at an If": Case(
        says="`alwaysOutputData` emits `{}`",
        code="OF464",
        severity="warning",
        bad=flow([T, if_("I", FALSE, alwaysOutputData=True), "Y", "N"], "T > I, I > Y, I:1 > N"),
        ran="T I Y N",
        good=flow([T, if_("I", FALSE), "Y", "N"], "T > I, I > Y, I:1 > N"),
        right="T I N",
    ),
    "executeOnce with several items": Case(
        says="`executeOnce` takes 1 item of n",
        code="OF465",
        severity="info",
        bad=flow(
            [
                T,
                node("S", "splitOut", {"fieldToSplitOut": "list", "options": {}}),
                node("A", executeOnce=True),
            ],
            "T > S, S > A",
        ),
        ran="T S A",
        look=found(count("A"), 1),
        options={"items": [{"json": {"list": [1, 2, 3]}}]},
        good=flow(
            [T, node("S", "splitOut", {"fieldToSplitOut": "list", "options": {}}), "A"],
            "T > S, S > A",
        ),
        right="T S A",
        better=found(count("A"), 3),
    ),
    "a disabled If": Case(
        says="A disabled node passes items through",
        code="OF466",
        severity="info",
        bad=flow([T, if_("I", FALSE, disabled=True), "Y"], "T > I, I > Y"),
        ran="T I Y",
        good=flow([T, if_("I", FALSE), "Y"], "T > I, I > Y"),
        right="T I",
    ),
    "branches at the same place": Case(
        says="same position = reverse wiring order",
        code="OF467",
        severity="info",
        bad=flow([T, node("A", position=[9, 9]), node("B", position=[9, 9])], "T > A, T > B"),
        ran="T B A",
        good=flow([T, "A", "B"], "T > A, T > B"),
        right="T A B",
    ),
    "a Merge across triggers": Case(
        says="a Merge across triggers fires partially (no correlation)",
        code="OF468",
        severity="warning",
        bad=flow(
            [T, node("U", "manualTrigger"), merge("M", "position"), "A"], "T > M, U > M:1, M > A"
        ),
        ran="T M",
        good=flow([T, "A"], "T > A"),
        right="T A",
    ),
}


def old_if(shape: Json, **more: Any) -> Json:
    """An If of version 2.3 with other conditions."""
    return node("I", "if", {"conditions": shape, "options": {}}, **more)


def decides(one: Json) -> Json:
    """T, an If called I, and a node behind each output."""
    return flow([T, one, "Y", "N"], "T > I, I > Y, I:1 > N")


EQUAL = condition("a", "string", "equals", "a")
BAD_OPERATOR = condition("a", "string", "equalz", "a")

SHAPE_CASES: dict[str, Case] = {
    "a parameter that no version knows": Case(
        says="unknown parameter names",
        code="OF433",
        severity="warning",
        bad=flow(
            [
                T,
                node(
                    "S",
                    "set",
                    {
                        "assignment": {
                            "assignments": [
                                {"id": "1", "name": "x", "type": "string", "value": "1"}
                            ]
                        },
                        "options": {},
                    },
                ),
                "A",
            ],
            "T > S, S > A",
        ),
        ran="T S A",
        look=found(value("S", "x"), None),
        good=flow([T, set_("S", x="1"), "A"], "T > S, S > A"),
        right="T S A",
        better=found(value("S", "x"), "1"),
    ),
    "a parameter of another version": Case(
        says="unknown parameter names",
        code="OF434",
        severity="warning",
        bad=flow(
            [
                T,
                node(
                    "S", "set", {"values": {"string": [{"name": "x", "value": "1"}]}, "options": {}}
                ),
                "A",
            ],
            "T > S, S > A",
        ),
        ran="T S A",
        look=found(value("S", "x"), None),
        good=flow(
            [
                T,
                node(
                    "S",
                    "set",
                    {"values": {"string": [{"name": "x", "value": "1"}]}, "options": {}},
                    typeVersion=2,
                ),
                "A",
            ],
            "T > S, S > A",
        ),
        right="T S A",
        better=found(value("S", "x"), "1"),
    ),
    "a bogus onError": Case(
        says="bogus `onError`",
        code="OF436",
        severity="warning",
        bad=flow([T, throws("C", onError="continueOutput"), "A"], "T > C, C > A"),
        ran="T C",
        status="error",
        good=flow([T, throws("C", onError="continueRegularOutput"), "A"], "T > C, C > A"),
        right="T C A",
    ),
    "an input that is not there": Case(
        says="an input or output index that does not exist",
        code="OF437",
        severity="warning",
        bad=flow([T, "A", "B", "C"], "T > A, A > B:1, B > C"),
        ran="T A B",
        look=found(count("B"), 0),
        good=flow([T, "A", "B", "C"], "T > A, A > B, B > C"),
        right="T A B C",
    ),
    "a third input that is not declared": Case(
        says="an input or output index that does not exist",
        code="OF437",
        severity="warning",
        bad=flow(
            [T, "A", "B", "C", merge("M", "append"), "X"],
            "T > A, T > B, T > C, A > M, B > M:1, C > M:2, M > X",
        ),
        ran="T A B C M X",
        look=found(count("X"), 2),
        good=flow(
            [T, "A", "B", "C", merge("M", "append", 3), "X"],
            "T > A, T > B, T > C, A > M, B > M:1, C > M:2, M > X",
        ),
        right="T A B C M X",
        better=found(count("X"), 3),
    ),
    "no execution order": Case(
        says="absent means the legacy order, which is different",
        code="OF446",
        severity="warning",
        bad=flow([T, "A", "B", "C", "D"], "T > A, T > B, A > C, B > D", settings={}),
        ran="T A B C D",
        good=flow([T, "A", "B", "C", "D"], "T > A, T > B, A > C, B > D"),
        right="T A C B D",
    ),
    "an unknown kind of connection": Case(
        says="unknown connection type",
        code="OF437",
        severity="warning",
        bad=wires(
            flow([T, "A", "B"], "T > A"), A={"mian": [[{"node": "B", "type": "main", "index": 0}]]}
        ),
        ran="T A",
        good=flow([T, "A", "B"], "T > A, A > B"),
        right="T A B",
    ),
    "an operator that does not exist": Case(
        says="garbage conditions",
        code="OF439",
        severity="error",
        bad=decides(old_if(BAD_OPERATOR)),
        ran="T I N",
        good=decides(old_if(EQUAL)),
        right="T I Y",
    ),
    "a combinator that does not exist": Case(
        says="garbage conditions",
        code="OF439",
        severity="error",
        bad=decides(old_if({**EQUAL, "combinator": "xor"})),
        ran="T I N",
        good=decides(old_if(EQUAL)),
        right="T I Y",
    ),
    "a condition without operator": Case(
        says="garbage conditions",
        code="OF439",
        severity="error",
        bad=decides(old_if(conditions([{"leftValue": "a", "rightValue": "a"}]))),
        ran="T I",
        status="error",
        good=decides(old_if(EQUAL)),
        right="T I Y",
    ),
    "conditions of version 1 in version 2": Case(
        says="garbage conditions",
        code="OF439",
        severity="error",
        bad=decides(old_if({"string": [{"value1": "a", "operation": "equal", "value2": "b"}]})),
        ran="T I Y",
        good=decides(old_if(condition("a", "string", "equals", "b"))),
        right="T I N",
    ),
    "conditions of version 2 in version 1": Case(
        says="garbage conditions",
        code="OF439",
        severity="error",
        bad=decides(old_if(condition("a", "string", "equals", "b"), typeVersion=1)),
        ran="T I Y",
        good=decides(old_if(condition("a", "string", "equals", "b"))),
        right="T I N",
    ),
    "a text compared as a number": Case(
        says="strict + a string where a number is expected = the node errors",
        code="OF440",
        severity="error",
        bad=decides(old_if(condition("5", "number", "gt", 3))),
        ran="T I",
        status="error",
        good=decides(old_if(condition(5, "number", "gt", 3))),
        right="T I Y",
    ),
    "a field set as a text and compared as a number": Case(
        says="strict + a string where a number is expected = the node errors",
        code="OF440",
        severity="error",
        bad=flow(
            [T, set_("S", n="5"), if_("I", "={{ $json.n }}", "number", "gt", 3), "Y"],
            "T > S, S > I, I > Y",
        ),
        ran="T S I",
        status="error",
        good=flow(
            [T, set_("S", n=5), if_("I", "={{ $json.n }}", "number", "gt", 3), "Y"],
            "T > S, S > I, I > Y",
        ),
        right="T S I Y",
    ),
    "an expression that is not whole": Case(
        says="Run time only: expression syntax",
        code="OF441",
        severity="error",
        bad=flow([T, reads("R", "(1")], "T > R"),
        ran="T R",
        status="error",
        good=flow([T, reads("R", "(1)")], "T > R"),
        right="T R",
    ),
    "}} inside an expression": Case(
        says="`}}` inside ={{ }} ends the expression",
        code="OF441",
        severity="error",
        bad=flow([T, reads("R", "JSON.stringify({a: {b: 1}})")], "T > R"),
        ran="T R",
        status="error",
        good=flow([T, reads("R", "JSON.stringify({a: {b: 1} })")], "T > R"),
        right="T R",
    ),
    "a reference to a missing node": Case(
        says="reference to a missing node",
        code="OF442",
        severity="error",
        bad=flow([T, "A", reads("R", "$('B').first().json.x")], "T > A, A > R"),
        ran="T A R",
        status="error",
        look=error("doesn't exist"),
        good=flow([T, "A", reads("R", "$('A').first().json.x")], "T > A, A > R"),
        right="T A R",
    ),
    "a reference to a node that did not run": Case(
        says="referring to a node that did not run errors: guard with `.isExecuted`",
        code="OF443",
        severity="warning",
        bad=flow(
            [T, if_("I"), "A", "B", reads("R", "$('B').first().json.x")],
            "T > I, I > A, I:1 > B, A > R, B > R",
        ),
        ran="T I A R",
        status="error",
        look=error("hasn't been executed"),
        good=flow(
            [T, if_("I"), "A", "B", reads("R", "$('B').isExecuted ? $('B').first().json.x : ''")],
            "T > I, I > A, I:1 > B, A > R, B > R",
        ),
        right="T I A R",
    ),
    "a reference to a node that comes later": Case(
        says="referring to a node that did not run errors: guard with `.isExecuted`",
        code="OF443",
        severity="error",
        bad=flow([T, reads("R", "$('B').first().json.x"), "B"], "T > R, R > B"),
        ran="T R",
        status="error",
        look=error("hasn't been executed"),
        good=flow([T, "B", reads("R", "$('B').first().json.x")], "T > B, B > R"),
        right="T B R",
    ),
    "braces in a plain text": Case(
        says="texts with `{{ }}` in parameters are expressions",
        code="OF444",
        severity="warning",
        bad=flow([T, set_("S", x="Order {{ $json.id }}")], "T > S"),
        ran="T S",
        look=found(value("S", "x"), "Order {{ $json.id }}"),
        options={"items": [{"json": {"id": 7}}]},
        good=flow([T, set_("S", x="=Order {{ $json.id }}")], "T > S"),
        right="T S",
        better=found(value("S", "x"), "Order 7"),
    ),
    "a label that begins with =": Case(
        says="Names that start with `=`",
        code="OF444",
        severity="info",
        bad=flow([T, set_("S", x="=> next")], "T > S"),
        ran="T S",
        look=found(value("S", "x"), "> next"),
        good=flow([T, set_("S", x="={{ '=> next' }}")], "T > S"),
        right="T S",
        better=found(value("S", "x"), "=> next"),
    ),
}

CASES: dict[str, Case] = {**FLOW_CASES, **DATA_CASES, **SHAPE_CASES}
