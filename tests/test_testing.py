"""The shipped test helpers: they accept what keeps the contract and catch what does not."""

from __future__ import annotations

import subprocess
import sys
from typing import Any, ClassVar

import pytest

from orgflow_ir.diagnostics import Category, Rule, Severity
from orgflow_ir.model import Event, Model, Process
from orgflow_ir.model.constructs import CONSTRUCTS, plain_constructs
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.plugins.contracts import Backend, Frontend
from orgflow_ir.targets import Illegal, Legal, TargetSpec
from orgflow_ir.targets.artifact import Artifact, Emitted
from orgflow_ir.testing import (
    ContractError,
    artifact_extension,
    artifacts_text,
    check_backend,
    check_frontend,
    minimal_models,
)
from orgflow_ir.testing.conformance.minimal_models import minimal_model


class Bad(Rule):
    """
    What it finds
        A file of another language.
    Why it is wrong
        Nothing of it can be read.
    Example
        proces Order
    Instead
        process Order
    """

    code = "OF099"
    name = "bad"
    severity = Severity.ERROR
    category = Category.INPUT


class Words(Frontend):
    """Reads `process NAME`."""

    name = "words"
    suffixes = (".words",)
    rules = (Bad,)

    def parse(self, source: SourceFile, ctx: PassContext) -> Model | None:
        text = source.data.decode("utf-8", "replace")
        if not text.startswith("process "):
            from orgflow_ir.model.source import SourceLocation

            loc = SourceLocation(file=source.path, line=1)
            ctx.emit(Bad, "the file does not start with `process`", loc=loc)
            return None
        return Model(id="m", processes=(Process(id="p", name=text[8:].strip()),))


class Names(Backend):
    """Writes the names of nodes; has tasks and plain events only."""

    name = "names"
    spec: ClassVar[TargetSpec] = TargetSpec(
        "names",
        {
            "task": Legal(),
            "event.start.none": Legal(),
            "event.end.none": Legal(),
            "flow.sequence": Legal(),
            "gateway": Illegal("names have no order"),
        },
        executes=False,
    )

    @property
    def target(self) -> TargetSpec:
        return self.spec

    def emit(self, model: Model, ctx: PassContext) -> Emitted:
        lines = [n.label for s in model.scopes() for n in s.nodes]
        for scope in model.scopes():
            lines += (f"{f.source} > {f.target} {f.condition or ''}" for f in scope.flows)
            lines += (f"{n.id} at {n.attached_to}" for n in scope.nodes if isinstance(n, Event))
        return Emitted.whole(model, Artifact("names.txt", "\n".join(lines)))


def test_there_is_a_minimal_model_for_every_construct() -> None:
    models = dict(minimal_models())
    assert list(models) == list(CONSTRUCTS)
    for construct, model in models.items():
        used = {use.construct for use in plain_constructs(model)}
        assert construct in used
        assert Model.from_json(model.to_json()) == model
    with pytest.raises(KeyError):
        minimal_model("task.unheard-of")


def test_minimal_models_are_well_formed(registry: Registry) -> None:
    from orgflow.compiler import check_model

    models = list(minimal_models())
    assert len(models) > 60
    for construct, model in models:
        ctx = PassContext(registry=registry)
        check_model(model, ctx)
        wrong = [d for d in ctx.diagnostics if d.severity is Severity.ERROR]
        assert not wrong, (construct, wrong)


def test_a_backend_that_keeps_the_contract_passes() -> None:
    check_backend(Names())


def _broken(**methods: Any) -> Backend:
    broken: Backend = type("Broken", (Names,), methods)()
    return broken


def test_a_backend_that_forgets_a_construct_is_caught() -> None:
    def refuse(self: Backend, model: Model, ctx: PassContext) -> Emitted:
        if any(use.construct == "task.user" for use in plain_constructs(model)):
            ctx.emit(Bad, "no people here")
        return Emitted.whole(model, Artifact("a", ""))

    refused = r"(?s)task\.user: refused with OF099.*table declares it legal"
    with pytest.raises(ContractError, match=refused):
        check_backend(_broken(emit=refuse))


def test_a_backend_that_gives_other_bytes_is_caught() -> None:
    calls = iter(range(10_000))

    def emit(self: Backend, model: Model, ctx: PassContext) -> Emitted:
        return Emitted.whole(model, Artifact("a", str(next(calls))))

    with pytest.raises(ContractError, match=r"different bytes the second time"):
        check_backend(_broken(emit=emit))


def test_a_backend_that_writes_elsewhere_is_caught() -> None:
    def emit(self: Backend, model: Model, ctx: PassContext) -> Emitted:
        return Emitted.whole(model, Artifact("../a", ""), Artifact("../a", ""))

    with pytest.raises(ContractError, match=r"(?s)same path.*not a path inside"):
        check_backend(_broken(emit=emit))


def test_a_frontend_that_keeps_the_contract_passes() -> None:
    check_frontend(Words(), [SourceFile("a.words", b"process Order")])


def test_a_frontend_that_raises_is_caught() -> None:
    def parse(self: Frontend, source: SourceFile, ctx: PassContext) -> Model | None:
        source.data.decode("ascii")
        return None

    broken: Frontend = type("Broken", (Words,), {"parse": parse})()
    with pytest.raises(
        ContractError, match=r"(?s)raised UnicodeDecodeError.*no model and reported no error"
    ):
        check_frontend(broken)


def test_a_frontend_that_cannot_read_its_samples_is_caught() -> None:
    with pytest.raises(ContractError, match="gave no model"):
        check_frontend(Words(), [SourceFile("a.words", b"proces Order")])


def test_artifacts_as_one_text() -> None:
    one, two = Artifact("a.json", "{}\n"), Artifact("b.json", "[]\n")
    assert artifacts_text((one,)) == "{}\n"
    assert artifacts_text((one, two)) == "=== a.json\n{}\n=== b.json\n[]\n"
    assert artifact_extension("txt").file_extension == "txt"
    assert artifact_extension().serialize(None, one) == "{}\n"


def test_importable_without_pytest_and_syrupy() -> None:
    code = (
        "import sys; sys.modules['pytest'] = sys.modules['syrupy'] = None; "
        "import orgflow_ir.testing as t; t.check_backend; next(t.minimal_models())"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
