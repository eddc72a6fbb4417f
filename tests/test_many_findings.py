"""Files with very many findings of one kind: the time grows with the file, not with its square."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from bpmn_text import parse, process
from orgflow.passes.pipelines import CHECK, GAPS

from orgflow_ir.pipeline import PassContext, PassManager

FEW, MANY = 300, 2_400
QUICK = 3
"""Seconds that are no matter, be they few for a large file or the noise of a small one."""


def rows(count: int, row: str) -> str:
    return "".join(row.replace("%", str(number)) for number in range(count))


def in_a_row(count: int, step: str) -> str:
    """Steps with the ids `t0`, `t1` … between a start and an end event."""
    flow = '<sequenceFlow id="f%" sourceRef="{}" targetRef="{}"/>'
    flows = "".join(
        flow.replace("%", str(n)).format(f"t{n - 1}" if n else "s", f"t{n}" if n < count else "e")
        for n in range(count + 1)
    )
    return f'<startEvent id="s"/>{rows(count, step)}<endEvent id="e"/>{flows}'


TIMER = "<timerEventDefinition><timeDuration>{}</timeDuration></timerEventDefinition>"
LATE = '<intermediateCatchEvent id="t%" name="W">' + TIMER.format("soon")
FORK = (
    '<startEvent id="s"/><parallelGateway id="g"/>'
    '<sequenceFlow id="f" sourceRef="s" targetRef="g"/>'
)
KINDS: dict[str, Callable[[int], str]] = {
    "ids given twice": lambda n: rows(n, '<task id="a" name="Again"/>'),
    "flows to nothing": lambda n: rows(
        n, '<task id="t%" name="T"/><sequenceFlow id="f%" sourceRef="t%" targetRef="no%"/>'
    ),
    "steps without a name": lambda n: in_a_row(n, '<task id="t%"/>'),
    "steps that nothing leads to": lambda n: in_a_row(2, '<task id="t%" name="T"/>')
    + rows(n, '<task id="u%" name="U"/><boundaryEvent id="b%" attachedToRef="none"/>'),
    "times that are none": lambda n: in_a_row(
        n, f"{LATE}</intermediateCatchEvent>"
    ),
    "events without what they wait for": lambda n: in_a_row(
        n,
        '<intermediateCatchEvent id="t%" name="W"><messageEventDefinition messageRef="no%"/>'
        "</intermediateCatchEvent>",
    ),
    "boundary events that lead nowhere": lambda n: in_a_row(1, '<task id="t%" name="Host"/>')
    + rows(
        n, f'<boundaryEvent id="b%" attachedToRef="t0">{TIMER.format("PT1H")}</boundaryEvent>'
    ),
    "gateways that lead nowhere": lambda n: FORK
    + rows(n, '<exclusiveGateway id="t%"/><sequenceFlow id="g%" sourceRef="g" targetRef="t%"/>'),
    "tasks that lead nowhere": lambda n: FORK
    + rows(n, '<task id="t%" name="T"/><sequenceFlow id="g%" sourceRef="g" targetRef="t%"/>'),
    "links that lead nowhere": lambda n: FORK
    + rows(
        n,
        '<intermediateThrowEvent id="t%" name="L%"><linkEventDefinition name="L%"/>'
        '</intermediateThrowEvent><sequenceFlow id="g%" sourceRef="g" targetRef="t%"/>',
    ),
    "no start, many ends": lambda n: rows(
        n,
        '<task id="t%"/><endEvent id="e%"/><sequenceFlow id="f%" sourceRef="t%" targetRef="e%"/>',
    ),
    "lanes of nothing": lambda n: "<laneSet>"
    + rows(n, '<lane id="l%" name="L"><flowNodeRef>no%</flowNodeRef></lane>')
    + "</laneSet>" + in_a_row(1, '<task id="t%"/>'),
    "attributes that nothing reads": lambda n: in_a_row(n, '<task id="t%" name="T" odd="1"/>'),
}  # fmt: skip


def seconds(text: str) -> tuple[float, int]:
    """Processor time of reading and checking, and how many findings there are."""
    begun = time.process_time()
    model, found = parse(text)
    assert model is not None
    ctx = PassContext()
    PassManager((*CHECK, *GAPS)).run(model, ctx)
    return time.process_time() - begun, len(found) + len(ctx.diagnostics)


@pytest.mark.parametrize("kind", KINDS)
def test_many_findings_of_a_kind(kind: str) -> None:
    seconds(process(KINDS[kind](10)))
    few, _ = seconds(process(KINDS[kind](FEW)))
    took, found = seconds(process(KINDS[kind](MANY)))
    assert found >= MANY / 4
    assert took < QUICK or took < 25 * few, f"{few:.2f} s for {FEW}"
