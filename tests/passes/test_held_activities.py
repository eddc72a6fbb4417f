"""Activities in which a run may hang, in a loop with an inclusive join: what waits in them counts
as on its way, and is no second way in of what comes after them."""

from __future__ import annotations

import pytest
from game_models import process, sub
from soundness_fuzzing import compare

from orgflow_ir.flow.soundness.analysis import analyse
from orgflow_ir.flow.soundness.verdicts import Property
from orgflow_ir.model import Process

HANGS = sub("hangs", "start i; or x; task a; task b; and j; end o", "i x, x a, x b, a j, b j, j o")
"""Done where both branches are taken; hangs at its join where one is."""

SPLIT = process("start s; or m; task after; end e", "s m, m hangs, hangs after, hangs m, after e",
                HANGS)  # fmt: skip
THROWS = sub(
    "hangs", "start i; or x; task a; task b; xor y; end bad error; and j; end o",
    "i x, x a, x b, a j, b y, y j, y bad, j o",
)  # fmt: skip
ERROR = process(
    "start s; or m; end e; on hangs failed error; task c; end f",
    "s m, m hangs, hangs e, failed c, failed m, c f", THROWS,
)  # fmt: skip


def test_what_comes_after_is_reached_and_the_multiplying_loop_is_found() -> None:
    found = analyse(SPLIT)
    assert [(f.kind, f.element, f.unbounded) for f in found.faults] == [
        ("unsync", "hangs", True), ("deadlock", "j", False),
    ]  # fmt: skip
    assert found.verdicts[Property.DEAD].outcome != "violated"


@pytest.mark.parametrize("model", [SPLIT, ERROR], ids=["flows", "boundary event"])
def test_it_agrees_with_the_oracle(model: Process) -> None:
    wrong, _ = compare(model, 20_000)
    assert wrong == []
    assert analyse(model).verdicts[Property.DEAD].outcome != "violated"
