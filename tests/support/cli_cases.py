"""Running the command line in tests: the installed entry point, streams apart, as bytes."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import command_forks
import pytest

LINEAR = """\
<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d"
    targetNamespace="https://example.org/bpmn">
  <process id="p" name="Order" isExecutable="true">
    <startEvent id="start" name="Order received" />
    <task id="ship" name="Ship order" />
    <endEvent id="end" name="Order shipped" />
    <sequenceFlow id="f1" sourceRef="start" targetRef="ship" />
    <sequenceFlow id="f2" sourceRef="ship" targetRef="end" />
  </process>
</definitions>
"""

DEADLOCK = """\
<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d"
    targetNamespace="https://example.org/bpmn">
  <process id="p" name="Order" isExecutable="true">
    <startEvent id="start" name="Order received" />
    <exclusiveGateway id="which" name="Which way?" />
    <task id="a" name="One way" />
    <task id="b" name="Other way" />
    <parallelGateway id="both" name="Both done" />
    <endEvent id="end" name="Done" />
    <sequenceFlow id="f1" sourceRef="start" targetRef="which" />
    <sequenceFlow id="f2" name="One" sourceRef="which" targetRef="a" />
    <sequenceFlow id="f3" name="Other" sourceRef="which" targetRef="b" />
    <sequenceFlow id="f4" sourceRef="a" targetRef="both" />
    <sequenceFlow id="f5" sourceRef="b" targetRef="both" />
    <sequenceFlow id="f6" sourceRef="both" targetRef="end" />
  </process>
</definitions>
"""
"""An exclusive split that a parallel join waits for: OF201 on every run."""


def interruptible() -> None:
    """In a child before it starts: Ctrl-C counts, and so does a terminal that is closed, also where
    the tests run in the background or under `nohup`, which make their children deaf to them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@dataclass(frozen=True)
class Ran:
    """Exit code and streams of one command line."""

    code: int
    out: str
    err: str


def orgflowc(
    *args: str | Path,
    stdin: str | bytes = b"",
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 120,
) -> Ran:
    """Run `orgflowc` in a process of its own; standard error is no terminal."""
    surroundings = {**os.environ, **(env or {})}
    given = stdin.encode() if isinstance(stdin, str) else stdin
    if command_forks.can_fork(surroundings):
        code, out, err = command_forks.run(
            [*map(str, args)],
            given,
            str(cwd or Path.cwd()),
            surroundings,
            timeout,
            (LINEAR, DEADLOCK),
        )
        return Ran(code, out.decode(), err.decode())
    command: Sequence[str] = [sys.executable, "-m", "orgflow.cli", *map(str, args)]
    done = subprocess.run(
        command,
        input=given,
        capture_output=True,
        cwd=cwd,
        env=surroundings,
        check=False,
        timeout=timeout,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def run_in_process(*args: str | Path, env: Mapping[str, str]) -> Ran:
    """Run `orgflowc` in this process, which saves the start of another one; standard input is
    empty."""
    from orgflow.cli import run

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in env.items():
            patch.setenv(name, value)
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        code = run([str(arg) for arg in args])
    out.seek(0)
    err.seek(0)
    return Ran(code, out.read(), err.read())
