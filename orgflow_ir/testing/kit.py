"""Shipped test helpers: contract checks for leaves, golden files of artifacts.

Importable without pytest or syrupy; only `artifact_extension` needs syrupy, when it is called. The
pytest plugin (`orgflow_ir.testing.pytest_plugin`) provides `check_golden` as the fixture
`orgflow_golden`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from orgflow_ir.diagnostics import Rule
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile, SourceFolder
from orgflow_ir.pipeline import Pass, PassContext
from orgflow_ir.pipeline.services import Services
from orgflow_ir.plugins import Registry
from orgflow_ir.plugins.agents import Agent, Document
from orgflow_ir.plugins.contracts import Backend, Frontend
from orgflow_ir.targets import Derivation, RewritePattern
from orgflow_ir.targets.artifact import Artifact
from orgflow_ir.targets.comparison_text import comparison_text
from orgflow_ir.testing.conformance.agents import agent_problems
from orgflow_ir.testing.conformance.backends import backend_problems
from orgflow_ir.testing.conformance.emission import emit
from orgflow_ir.testing.conformance.frontends import frontend_problems
from orgflow_ir.testing.conformance.lowerings import lowering_problems
from orgflow_ir.testing.conformance.minimal_models import minimal_model, minimal_models
from orgflow_ir.testing.conformance.passes import pass_problems
from orgflow_ir.testing.conformance.playing import run_problems
from orgflow_ir.testing.conformance.seeds import seed_problems
from orgflow_ir.testing.conformance.shapes import build_shape, list_shapes
from orgflow_ir.testing.golden import GoldenMismatch, check_golden

if TYPE_CHECKING:
    from syrupy.extensions import single_file
else:  # syrupy is no requirement of orgflow
    single_file = LazyModule("syrupy.extensions.single_file")

__all__ = [
    "ContractError",
    "GoldenMismatch",
    "artifact_extension",
    "artifacts_text",
    "check_agent",
    "check_backend",
    "check_frontend",
    "check_golden",
    "check_lowerings",
    "check_pass",
    "check_runs",
    "difference_text",
    "emit",
    "minimal_model",
    "minimal_models",
]


class ContractError(AssertionError):
    """A leaf violates its contract; the message has one line per violation."""

    def __init__(self, name: str, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join([f"`{name}` breaks its contract:", *self.problems]))


def check_backend(
    backend: Backend,
    models: Iterable[tuple[str, Model]] | None = None,
    *,
    reads_back: Frontend | None = None,
    runs: bool = True,
) -> None:
    """Test a backend with a minimal model of every construct and small models of several (or with
    `models`), with hostile labels, and with each of its options.

    Models that its table calls legal must be emitted, with the same bytes a second time and in
    other processes, to unique relative paths. Different models, tasks and flows must give different
    output. Its own `lint` finds no fault in the output, and its source map contains every task.
    `emit` must not write files, print, change the model, or read the clock, random numbers, the
    folder or environment variables. Stubs must give their reason. A refusal must be an error of the
    category `target` that names the element. Lowerings must terminate and preserve the runs, except
    for declared losses. With `reads_back`, that frontend must read the emitted model back
    unchanged. With `runs`, the engine of a backend with a runner must execute the models as
    defined. Raises `ContractError`, and `RunnerError` if the engine is missing.
    """
    tried = [*minimal_models(), *list_shapes()] if models is None else list(models)
    problems = backend_problems(backend, tried, reads_back)
    problems += lowering_problems(backend.target.lowerings, None, backend.target.derivations)
    if not problems:
        problems += seed_problems(backend)
    if problems:
        raise ContractError(backend.name, problems)
    if runs:
        check_runs(backend, tried)


def check_runs(backend: Backend, models: Iterable[tuple[str, Model]] | None = None) -> int:
    """Execute runs of minimal models and small shapes (or of `models`) on a backend's engine, and
    compare each with the token game; returns the number of runs, 0 for a backend without an engine.

    Raises `ContractError`, and `RunnerError` if the engine is missing.
    """
    engines = backend.engines()
    if engines is None:
        return 0
    runner = engines.runner()
    tried = [*minimal_models(), *list_shapes()] if models is None else list(models)
    try:
        problems, played = run_problems(backend, tried, runner)
    finally:
        runner.close()
    if problems:
        raise ContractError(backend.name, problems)
    return played


def check_lowerings(
    lowerings: Iterable[RewritePattern],
    models: Iterable[tuple[str, Model]] | None = None,
    *,
    derivations: Iterable[Derivation] = (),
) -> None:
    """Test the lowerings of a plugin, as `check_backend` tests those of a backend; `derivations`
    attach the derived constructs that they rewrite, if any.

    Each must terminate on every model, produce only declared constructs, record the source elements
    of everything that it makes, and preserve the runs except for declared losses. Raises
    `ContractError`.
    """
    problems = lowering_problems(lowerings, models, derivations)
    if problems:
        raise ContractError("lowerings", problems)


def check_frontend(frontend: Frontend, samples: Iterable[SourceFile | SourceFolder] = ()) -> None:
    """Test a frontend with input that is not in its language, and with `samples` that are:
    complete, cut off, and with single bytes changed.

    It must never raise. If it returns no model, it must report an error with its own code, a place
    in the file and a message of one line. A sample must give the same model twice, and its JSON
    must read back as that model. A frontend that accepts streams receives every input as a stream;
    samples must give the same model from a stream that can be read only once, and a long line must
    not fill the memory. A frontend that accepts folders also takes a `SourceFolder` as a sample.
    Raises `ContractError`.
    """
    problems = frontend_problems(frontend, samples)
    if problems:
        raise ContractError(frontend.name, problems)


def check_pass(item: Pass, models: Iterable[tuple[str, Model]] = ()) -> None:
    """Test a pass with a minimal model of every construct, small models of several, and `models`.

    It must never raise, must be deterministic, must leave a valid model, and must change nothing
    when run on its own result. In an analysing stage it must return its input object. Its options
    must survive conversion to text. Raises `ContractError`.
    """
    problems = pass_problems(item, [*minimal_models(), *list_shapes(), *models])
    if problems:
        raise ContractError(item.name, problems)


def small_model(text: str) -> Model:
    """A model from a line of flows, as in `s>x1 x1>Ship:Yes x1>Refuse:No?total>5 Ship>e Refuse>e`.

    `s` is the start, `e` and `f` are ends; names that begin with `x`, `p` or `o` are exclusive,
    parallel and inclusive gateways, all others are tasks. A flow may have a label (`:Yes`), a
    condition (`?total>5`), and be the default (`!`).
    """
    return build_shape(text)


def check_rule(
    item: Pass,
    rule: type[Rule],
    *,
    bad: Iterable[str | Model],
    good: Iterable[str | Model],
) -> None:
    """Test your own rule: the pass must report it at least once in each bad model, at an element of
    the model, and never in a good one. Models may be texts for `small_model`. Raises
    `ContractError`."""
    problems = []
    for wanted, models in ((True, list(bad)), (False, list(good))):
        if not models:
            problems.append(f"no {'bad' if wanted else 'good'} models: nothing is tested")
        for given in models:
            model = small_model(given) if isinstance(given, str) else given
            ctx = PassContext()
            item.run(model, ctx)
            findings = [d for d in ctx.diagnostics if d.code == rule.code]
            shown = given if isinstance(given, str) else model.name or model.id
            if bool(findings) != wanted:
                problems.append(f"{rule.code} {'not ' if wanted else ''}reported: {shown}")
            problems += [
                f"{rule.code} names no element: {shown}" for d in findings if not d.element
            ]
    if problems:
        raise ContractError(item.name, problems)


def check_agent(
    agent: Agent,
    models: Iterable[tuple[str, Model]] = (),
    *,
    documents: Iterable[Sequence[Document]] = (),
    services: Callable[[], Services] = Services,
) -> None:
    """Test an agent: one that answers gaps with every gap of minimal models, of small models of
    several constructs, and of `models`; one that produces models with no document, odd ones, and
    each of `documents`. `services` returns the services of a call, the same each time.

    It must raise nothing but `MissingService`, `OverBudget` and `ServiceError`, even without any
    service and after refusals. It must be deterministic and must not change its inputs. Answers
    must be acceptable and close their gap. Models must be valid, and every task must have evidence
    that is in the documents. After cancellation it must stop. Raises `ContractError`.
    """
    tried = [*minimal_models(), *list_shapes(), *models]
    problems = agent_problems(agent, tried, documents, services)
    if problems:
        raise ContractError(agent.name, problems)


def artifacts_text(artifacts: Iterable[Artifact]) -> str:
    """The output of a backend as one text: the file itself, or several files, each after a line
    with its path."""
    items = tuple(artifacts)
    if len(items) == 1:
        return items[0].text
    return "".join(f"=== {a.path}\n{a.text}" for a in items)


_PATH_LINE = re.compile(r"(?m)^=== .*\n")


def difference_text(old: str, new: str, target: str = "n8n") -> str | None:
    """The changes between two texts of a target (from `artifacts_text`), behaviour first; `None` if
    the target has no comparison, or if only the layout differs.

    Raises `KeyError` for a target that does not exist.
    """
    sources = []
    for name, text in (("golden", old), ("now", new)):
        parts = [part.strip() for part in _PATH_LINE.split(text) if part.strip()]
        joined = text if len(parts) == 1 else f"[{','.join(parts)}]"
        sources.append(SourceFile(name, joined.encode("utf-8", "replace")))
    comparison = Registry().backends[target].diff(sources[0], sources[1], PassContext())
    return comparison_text(comparison) if comparison is not None and comparison.differs else None


@lru_cache
def artifact_extension(suffix: str = "json", target: str | None = None) -> Any:
    """A syrupy extension that stores the output of a backend as a regular file.

    Use: `assert artifacts == snapshot.use_extension(artifact_extension())`, where `artifacts` is a
    tuple of `Artifact`, one `Artifact`, or text. With a `target`, as in
    `artifact_extension(target="n8n")`, a failure shows changes of behaviour and nodes instead of
    differing lines. Needs syrupy.
    """

    class ArtifactExtension(single_file.SingleFileSnapshotExtension):
        """Stores one text file per snapshot."""

        _write_mode = single_file.WriteMode.TEXT
        file_extension = suffix

        def serialize(self, data: Any, **_: Any) -> str:
            """The text of one or several artifacts; text is returned unchanged."""
            if isinstance(data, str):
                return data
            return artifacts_text((data,) if isinstance(data, Artifact) else data)

        def diff_lines(self, serialized_data: Any, snapshot_data: Any) -> Iterator[str]:
            """The text shown for a failure."""
            difference = None
            if target is not None:
                difference = difference_text(str(snapshot_data), str(serialized_data), target)
            if difference is None:
                yield from super().diff_lines(serialized_data, snapshot_data)
            else:
                yield from difference.splitlines()

    return ArtifactExtension
