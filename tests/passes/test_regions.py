"""The reduction: pairs, the region tree, clashes, repair, and that it stays near linear."""

from __future__ import annotations

import gc
import time

import pytest
from seeds import seeds

from orgflow_ir.flow.nets.regions import MatchedPair, reduce_scope
from orgflow_ir.flow.soundness import analyse
from orgflow_ir.model import Event, Flow, Gateway, Node, Process, Task


def build(text: str, default: str = "") -> Process:
    """A process from `a-b b-c`: the first letter of a node says what it is."""
    edges = [tuple(item.split("-")) for item in text.split()]
    names = list(dict.fromkeys(n for edge in edges for n in edge))
    flows = tuple(
        Flow(id=f"f{i}", source=a, target=b, default=f"f{i}" == default)
        for i, (a, b) in enumerate(edges)
    )
    return Process(id="p", nodes=tuple(map(node, names)), flows=flows)


def node(name: str) -> Node:
    match name[0]:
        case "s":
            return Event(id=name, position="start")
        case "e":
            return Event(id=name, position="end")
        case "x":
            return Gateway(id=name, gateway_kind="exclusive")
        case "a":
            return Gateway(id=name, gateway_kind="parallel")
        case "o":
            return Gateway(id=name, gateway_kind="inclusive")
    return Task(id=name)


def faults(text: str) -> set[tuple[str, str]]:
    found = analyse(build(text))
    return {(f.kind, f.element) for f in (*found.faults, *found.masked)}


def test_nested_blocks_pair_each_join_with_its_own_split() -> None:
    result = reduce_scope(build("s-o1 o1-t1 o1-o2 o2-t2 o2-t3 t2-o3 t3-o3 o3-o4 t1-o4 o4-e"))
    assert result.structured
    assert result.pair_of("o3") == "o2"
    assert result.pair_of("o4") == "o1"
    assert MatchedPair("o2", "o3", "or", True) in result.pairs


def test_inclusive_join_of_another_split_and_of_none() -> None:
    assert reduce_scope(build("s-x1 x1-t1 x1-t2 t1-o t2-o o-e")).pair_of("o") == "x1"
    assert reduce_scope(build("s-a1 a1-t1 a1-t2 t1-o t2-o o-e")).pair_of("o") == "a1"
    crossed = "s-o1 o1-t1 o1-t2 o1-t3 t1-o2 t2-a3 a3-o2 a3-t4 t3-a4 t4-a4 a4-e o2-e2"
    assert reduce_scope(build(crossed)).pair_of("o2") is None


def test_default_of_an_inclusive_split_still_pairs() -> None:
    process = build("s-o1 o1-t1 o1-t2 o1-t3 t1-o2 t2-o2 t3-o2 o2-e", default="f3")
    assert reduce_scope(process).pair_of("o2") == "o1"


def test_two_flows_between_the_same_gateways() -> None:
    result = reduce_scope(build("s-a1 a1-a2 a1-a2 a2-e"))
    assert result.structured
    assert result.pair_of("a2") == "a1"
    assert faults("s-x1 x1-a2 x1-a2 a2-e") == {("deadlock", "a2")}
    assert faults("s-a1 a1-x2 a1-x2 x2-t t-e") == {("unsync", "x2")}


def test_gateway_that_joins_and_splits() -> None:
    text = "s-x1 x1-t1 x1-t2 t1-x2 t2-x2 x2-t3 x2-t4 t3-x3 t4-x3 x3-e"
    result = reduce_scope(build(text))
    assert result.pair_of("x2") == "x1"
    assert result.pair_of("x3") == "x2"
    assert faults(text) == set()


def test_loop_is_a_region_with_header_and_exit() -> None:
    result = reduce_scope(build("s-x1 x1-t1 t1-x2 x2-t2 t2-x1 x2-e"))
    (loop,) = [c for c in result.tree.children if not isinstance(c, str)]
    assert (loop.kind, loop.join, loop.split) == ("loop", "x1", "x2")
    assert list(loop.elements()) == ["t1", "t2"]
    assert faults("s-x1 x1-x1 x1-e") == set(), "a self-loop with another way on does no harm"


def test_tree_tells_branches_in_the_order_of_the_flows() -> None:
    tree = reduce_scope(build("s-x1 x1-t3 x1-t1 x1-t2 t1-x2 t2-x2 t3-x2 x2-e")).tree
    block = next(c for c in tree.children if not isinstance(c, str))
    assert [list(b.elements()) for b in block.children if not isinstance(b, str)] == [
        ["t3"],
        ["t1"],
        ["t2"],
    ]
    assert list(tree.elements()) == ["s", "x1", "t3", "t1", "t2", "x2", "e"]


@pytest.mark.parametrize("seed", seeds(60))
def test_every_live_element_is_in_the_tree(seed: int) -> None:
    from random_processes import process as random_process

    from orgflow_ir.flow.nets.wiring import Wiring

    process = random_process(seed)
    assert set(reduce_scope(process).tree.elements()) == set(Wiring(process).live)


def test_all_independent_faults_in_one_run() -> None:
    first = "s-x1 x1-t1 x1-t2 t1-a1 t2-a1 a1-a2"
    second = "a2-t3 a2-t4 t3-x2 t4-x2 x2-t5 t5-x3"
    third = "x3-t6 x3-t7 t6-a3 t7-a3 a3-e"
    assert {f for f, _ in faults(f"{first} {second} {third}")} == {"deadlock", "unsync"}
    beside = "s-x0 x0-x1 x0-a2 x1-t1 x1-t2 t1-a1 t2-a1 a1-e1 a2-t3 a2-t4 t3-x2 t4-x2 x2-t5 t5-e2"
    assert faults(beside) == {("deadlock", "a1"), ("unsync", "x2")}


def test_traps() -> None:
    # A cycle of exclusive gateways without a way out, two of them in it.
    assert {k for k, _ in faults("s-x1 x1-e x1-x2 x2-t1 t1-x3 x3-x2 x3-t2 t2-x2")} == {"livelock"}
    # A jump back into a parallel block.
    jump = "s-a1 a1-x1 a1-t2 x1-t1 t1-a2 t2-a2 a2-x2 x2-x1 x2-e"
    assert faults(jump) == {("deadlock", "a2")}
    # Two-entry loops of exclusive gateways are sound, however tangled.
    tangle = "s-x1 x1-x2 x1-x3 x2-t1 t1-x4 x4-x3 x4-e x3-t2 t2-x5 x5-x2 x5-e2"
    assert faults(tangle) == set()
    # A parallel gateway as a loop's header waits for its own future.
    assert faults("s-a1 a1-t1 t1-x1 x1-a1 x1-e") == {("deadlock", "a1")}
    # A loop that makes a token more each time round.
    assert {k for k, _ in faults("s-x1 x1-t1 t1-a1 a1-x1 a1-t2 t2-e")} == {"unsync"}


def blocks(count: int) -> Process:
    """A sequence of nested blocks of every kind: about 11 nodes each."""
    edges = ["s-t0"]
    last = "t0"
    for i in range(count):
        k = "xao"[i % 3]
        edges += [
            f"{last}-{k}{i}s", f"{k}{i}s-t{i}a", f"{k}{i}s-x{i}i", f"t{i}a-{k}{i}j",
            f"x{i}i-t{i}b", f"x{i}i-t{i}c", f"t{i}b-x{i}o", f"t{i}c-x{i}o", f"x{i}o-{k}{i}j",
            f"{k}{i}j-x{i}h", f"x{i}h-t{i}l", f"t{i}l-x{i}e", f"x{i}e-x{i}h",
        ]  # fmt: skip
        last = f"x{i}e"
    return build(" ".join([*edges, f"{last}-e"]))


def test_growth_is_near_linear() -> None:
    def seconds(process: Process) -> float:
        best = 1e9
        for _ in range(3):
            started = time.process_time()
            assert not analyse(process).faults
            best = min(best, time.process_time() - started)
        return best

    small, large = blocks(90), blocks(900)
    gc.disable()  # its passes over everything the test session holds are not ours
    try:
        ratio = seconds(large) / seconds(small)
    finally:
        gc.enable()
    assert ratio < 45, f"ten times the nodes take {ratio:.0f} times as long"


def test_many_parallel_branches_are_one_block() -> None:
    arms = " ".join(f"a1-t{i} t{i}-a2" for i in range(64))
    result = reduce_scope(build(f"s-a1 {arms} a2-e"))
    assert result.structured
    assert len(result.pairs) == 1
