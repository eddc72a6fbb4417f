"""SpiffWorkflow's runs beside the soundness analysis; `benchmarks/soundness_referees.py` asks more
referees about all files."""

from __future__ import annotations

import pytest
from shared_data import shared_cases, shared_data
from soundness_models import DEEP, build
from soundness_spiff import Seen, verdict

from orgflow_ir.flow.soundness import Property, analyse
from orgflow_ir.model import Process
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

CASES = {
    # stuck, double
    "sound": ("s-x1 x1-t1 x1-t2 t1-x2 t2-x2 x2-e", False, False),
    "exclusive into parallel": ("s-x1 x1-t1 x1-t2 t1-a1 t2-a1 a1-e", True, False),
    "parallel into exclusive": ("s-a1 a1-t1 a1-t2 t1-x1 t2-x1 x1-e", False, True),
    "inclusive block": ("s-o1 o1-t1 o1-t2 t1-o2 t2-o2 o2-e", False, False),
    "loop": ("s-x1 x1-t1 t1-x2 x2-x1 x2-e", False, False),
    "nested waiting": (DEEP, True, False),
}


@pytest.mark.parametrize("name", CASES)
def test_runs_show_what_there_is(name: str) -> None:
    text, stuck, double = CASES[name]
    seen = verdict(build(text), seconds=1)
    assert isinstance(seen, Seen)
    assert (bool(seen.stuck), bool(seen.double)) == (stuck, double)
    assert seen.runs >= 1


def test_what_spiffworkflow_cannot_play_is_said() -> None:
    process = build("s-t1 t1-e")
    two = build("s-t1 s2-t1 t1-e")
    assert isinstance(verdict(process), Seen)
    assert verdict(two) == "not one start event"


@pytest.mark.parametrize("file", shared_cases(["03", "11", "20", "39"], "pmo"))
def test_runs_agree_with_the_analysis(file: str) -> None:
    path = shared_data("pmo", "bpmn", f"{file}.bpmn")
    source = SourceFile(path.name, path.read_bytes())
    model = Registry(outside=False).frontends["bpmn"].parse(source, PassContext())
    assert model is not None
    processes: list[Process] = [p for p in model.processes if p.nodes]
    for process in processes:
        found = analyse(process, model)
        seen = verdict(process, tuple(f.trace for f in found.faults), 2)
        assert isinstance(seen, Seen), seen
        assert bool(seen.stuck) == (found[Property.DEADLOCK].outcome == "violated")
        assert bool(seen.double) == (found[Property.DOUBLE].outcome == "violated")
