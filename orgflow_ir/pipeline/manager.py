"""Runs a pipeline of passes and checks the model after each."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from orgflow_ir.diagnostics.core_rules import CrashedPass, InvalidAfterPass
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.pipeline.context import PassContext
from orgflow_ir.pipeline.outside import validate_findings, validated_model
from orgflow_ir.pipeline.passes import Pass

if TYPE_CHECKING:
    from orgflow_ir.model import verifier
    from orgflow_ir.pipeline import crashes
else:  # after a crash, and with ORGFLOW_VERIFY
    verifier = LazyModule("orgflow_ir.model.verifier")
    crashes = LazyModule("orgflow_ir.pipeline.crashes")

AfterEach = Callable[[Pass, Model, float], None]


class PassManager:
    """Runs passes in order. A crashing pass is reported as OF901 with its name, and its input model
    is passed on; `after_each(pass, model, seconds)` serves printing and timing. With `verify` (or
    ORGFLOW_VERIFY=1) a pass that breaks the model is OF902."""

    def __init__(
        self,
        passes: Sequence[Pass],
        after_each: Sequence[AfterEach] = (),
        *,
        verify: bool | None = None,
    ) -> None:
        self.passes = tuple(passes)
        self.after_each = tuple(after_each)
        self.verify = verifies_models() if verify is None else verify

    def run(self, model: Model, ctx: PassContext) -> Model:
        """The model after all passes. Raises `Cancelled` between two passes if the run was
        cancelled."""
        ctx.advise()  # of what was found before, of the model before
        ctx.source = model
        for item in self.passes:
            ctx.services.cancellation.check()
            started = time.perf_counter()
            before = model
            ctx.current = item.name
            since = ctx.count
            try:
                try:
                    result = item.run(model, ctx)
                finally:  # what a failing pass found is reported too
                    validate_findings(item, ctx, since)
                model = _check_model(result, item, before, ctx)
            except (Exception, SystemExit) as error:  # noqa: BLE001  # a broken pass must not hide what the others found
                crashes.report_crash(item.name, error, ctx)
            finally:
                ctx.current = None
            if self.verify:
                report_violations(before, model, f"pass `{item.name}`", ctx)
            for hook in self.after_each:
                hook(item, model, time.perf_counter() - started)
        return model


def _check_model(result: object, item: Pass, before: Model, ctx: PassContext) -> Model:
    """What a pass gave; OF901 and the model it was given where that is not a model."""
    if isinstance(result, Model):
        return validated_model(item, result, before)
    shown_result = repr(result)
    shown_result = shown_result if len(shown_result) <= 60 else f"{shown_result[:60]}…"
    ctx.emit(
        CrashedPass,
        f"pass `{item.name}` returned {shown_result}, which is not a model",
        help="make its `run` return a model; the other passes' findings are complete",
    )
    return before


def verifies_models() -> bool:
    """Whether ORGFLOW_VERIFY asks for a check of the model after every pass and lowering."""
    return os.environ.get("ORGFLOW_VERIFY", "") not in ("", "0")


def report_violations(before: Model, after: Model, what: str, ctx: PassContext) -> None:
    """Report OF902 for each rule of the IR that `after` violates and `before` did not."""
    if after is before:
        return

    for violation in sorted(verifier.list_violations(after) - verifier.list_violations(before)):
        ctx.emit(InvalidAfterPass, f"{what} left an invalid model: {violation}", help=_REPORT)


_REPORT = "this is a bug in it: report it with the model"
