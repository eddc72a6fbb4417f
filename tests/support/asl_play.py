"""What tests of the `asl` backend share: compiling a model, asl-validator, replays on moto."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from node_tools import NodeChild, missing, tool
from orgflow.backends.asl.format import Definition
from orgflow.backends.asl.runner import MotoRunner
from orgflow.compilation.target_choice import choose_backend
from orgflow.compiler import LOWER, CompileRequest, check_gaps, run_stages
from orgflow.evaluation.replay import ReplayReport, replay_model

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

PACKAGES = {"asl-validator": "4.0.0"}
SCRIPT = Path(__file__).resolve().parents[1] / "backends" / "asl" / "asl_validator_referee.cjs"


class Compiled:
    """A model compiled for `asl`: the legal model and its definitions, or neither."""

    def __init__(self, model: Model, registry: Registry, **options: str) -> None:
        self.model = model
        self.ctx = PassContext(registry=registry)
        backend = choose_backend("asl", registry)
        request = CompileRequest(model, backend, options or {})
        self.legal = run_stages(LOWER, request, self.ctx).legal
        if self.legal is not None:
            check_gaps(model, self.ctx)
        self.emitted = backend.emit(self.legal, self.ctx) if self.legal is not None else None
        self.definitions: list[Definition] = []
        if self.emitted is not None:
            assert self.emitted.artifacts, [d.message for d in self.ctx.diagnostics]
            self.definitions = [e.definition for e in self.emitted.compiled.values()]

    def told(self, code: str) -> list[Diagnostic]:
        """What was said under a code."""
        return [d for d in self.ctx.diagnostics if d.code == code]

    def replay(self, runner: MotoRunner, max_runs: int = 8) -> ReplayReport:
        """Runs of the model on moto."""
        assert self.emitted is not None, [d.message for d in self.ctx.diagnostics]
        return replay_model(self.model, self.emitted, runner, self.ctx, max_runs=max_runs)


class Validator:
    """asl-validator in a Node process."""

    def __init__(self, child: NodeChild) -> None:
        self._child = child

    def problems(self, definition: Definition) -> list[str]:
        """What it finds wrong, a line each."""
        answer = self._child.ask({"definition": definition})
        return [str(e) for e in answer["errors"]]


@contextmanager
def validator() -> Iterator[Validator]:
    """asl-validator; the test is skipped (under CI=true failed) where it cannot be had."""
    folder = tool("asl-validator", PACKAGES)
    with NodeChild(SCRIPT, str(folder)) as child:
        yield Validator(child)


@contextmanager
def moto_runner() -> Iterator[MotoRunner]:
    """moto's interpreter; the test is skipped (under CI=true failed) where moto is missing."""
    if find_spec("moto") is None or find_spec("antlr4") is None:
        missing("needs moto[stepfunctions], which the test extra installs")
    assert os.environ.get("ORGFLOW_VERIFY", "1") == "1"
    runner = MotoRunner()
    try:
        yield runner
    finally:
        runner.close()
