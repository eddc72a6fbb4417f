"""Models of any size for the benchmark: sound, with every kind of block, the same every time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d"
    targetNamespace="https://example.org/bpmn">
  <process id="p" name="Made model" isExecutable="true">
"""
_TAIL = "  </process>\n</definitions>\n"
_BLOCK = 12
_SPLITS = ("exclusiveGateway", "parallelGateway", "inclusiveGateway", "loop")


def bpmn(nodes: int) -> str:
    """A BPMN file of about `nodes` nodes: blocks one after the other, of four kinds in turn."""
    lines = ['    <startEvent id="start" name="Started" />']
    last = "start"
    for number in range(max(1, (nodes - 2) // _BLOCK)):
        block, last = _block(number, last)
        lines += block
    lines += ['    <endEvent id="end" name="Finished" />', _flow(last, "end")]
    return _HEAD + "\n".join(lines) + "\n" + _TAIL


def _block(number: int, before: str) -> tuple[list[str], str]:
    """Twelve nodes after `before`, and the last of them."""
    kind = _SPLITS[number % len(_SPLITS)]
    return (_loop if kind == "loop" else _branches)(number, kind, before)


def _branches(number: int, tag: str, before: str) -> tuple[list[str], str]:
    split, join = f"s{number}", f"j{number}"
    question = f' name="Which of {number}?"' if tag != "parallelGateway" else ""
    lines = [f'    <{tag} id="{split}"{question} />', f'    <{tag} id="{join}" />']
    lines.append(_flow(before, split))
    for branch in range(2):
        tasks = [f"t{number}_{branch}_{i}" for i in range(5)]
        lines += [f'    <task id="{t}" name="Step {t[1:]}" />' for t in tasks]
        label = f"Way {branch}" if question else ""
        lines.append(_flow(split, tasks[0], label))
        lines += _chain(tasks)
        lines.append(_flow(tasks[-1], join))
    return lines, join


def _loop(number: int, _: str, before: str) -> tuple[list[str], str]:
    head, test = f"j{number}", f"s{number}"
    tasks = [f"t{number}_{i}" for i in range(9)]
    back = f"t{number}_back"
    lines = [
        f'    <exclusiveGateway id="{head}" />',
        f'    <exclusiveGateway id="{test}" name="Done with {number}?" />',
        *(f'    <task id="{t}" name="Step {t[1:]}" />' for t in (*tasks, back)),
        _flow(before, head),
        _flow(head, tasks[0]),
        *_chain(tasks),
        _flow(tasks[-1], test),
        _flow(test, back, "No"),
        _flow(back, head),
    ]
    after = f"after{number}"
    lines += [f'    <exclusiveGateway id="{after}" />', _flow(test, after, "Yes")]
    return lines, after


def _chain(ids: list[str]) -> Iterator[str]:
    for one, two in pairwise(ids):
        yield _flow(one, two)


def _flow(source: str, target: str, label: str = "") -> str:
    name = f' name="{label}"' if label else ""
    return (
        f'    <sequenceFlow id="{source}-{target}"{name} sourceRef="{source}" '
        f'targetRef="{target}" />'
    )
