"""Shipped test helpers: contract checks for leaves, golden files of artifacts.

Importable without pytest or syrupy; only `artifact_extension` needs syrupy, when it is called. The
pytest plugin (`orgflow_ir.testing.pytest_plugin`) gives `check_golden` as the fixture
`orgflow_golden`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from orgflow_ir.diagnostics import Rule
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile, SourceFolder
from orgflow_ir.pipeline import Pass, PassContext
from orgflow_ir.pipeline.services import Services
from orgflow_ir.plugins.agents import Agent, Document
from orgflow_ir.plugins.contracts import Backend, Frontend
from orgflow_ir.targets import Derivation, RewritePattern
from orgflow_ir.targets.artifact import Artifact
from orgflow_ir.testing.conformance.emission import emit
from orgflow_ir.testing.golden import GoldenMismatch, check_golden
from orgflow_ir.testing.minimal import minimal_model, minimal_models

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
    """A leaf breaks its contract; the message has a line for each violation."""

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
    """Try a backend with a minimal model of every construct and small models of several (or with
    `models`), with hostile labels, and with each of its options.

    What its table calls legal must be emitted, twice and in other processes with the same bytes
    that tell models, their tasks and their flows apart, to paths that are relative and unique; its
    own `lint` finds nothing wrong in it, and its source map has every task. `emit` writes no file,
    prints nothing, changes no model, and asks for no clock, chance, folder or environment variable;
    stubs give their reason. What it refuses must be refused with an error of the category `target`
    that names the element. Lowerings must end, and unless they say what they lose leave the same
    runs. With `reads_back`, that frontend must give
    back the model that was emitted. With `runs`, a backend that has a runner must do on its
    engine what the models mean.
    Raises `ContractError`, and `RunnerError` where the engine is missing.
    """
    from orgflow_ir.testing.conformance.backends import backend_problems
    from orgflow_ir.testing.conformance.lowerings import lowering_problems
    from orgflow_ir.testing.conformance.seeds import seed_problems
    from orgflow_ir.testing.conformance.shapes import shapes

    tried = [*minimal_models(), *shapes()] if models is None else list(models)
    problems = backend_problems(backend, tried, reads_back)
    problems += lowering_problems(backend.target.lowerings, None, backend.target.derivations)
    if not problems:
        problems += seed_problems(backend)
    if problems:
        raise ContractError(backend.name, problems)
    if runs:
        check_runs(backend, tried)


def check_runs(backend: Backend, models: Iterable[tuple[str, Model]] | None = None) -> int:
    """Play runs of minimal models and small shapes (or of `models`) on a backend's engine, and
    hold each against the token game; the number of runs played, 0 for a backend without an engine.

    Raises `ContractError`, and `RunnerError` where the engine is missing.
    """
    from orgflow_ir.testing.conformance.playing import run_problems
    from orgflow_ir.testing.conformance.shapes import shapes

    engines = backend.engines()
    if engines is None:
        return 0
    runner = engines.runner()
    tried = [*minimal_models(), *shapes()] if models is None else list(models)
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
    """Try lowerings of a plugin, as `check_backend` does those of a backend; `derivations` attach
    the derived constructs they rewrite, where these are not plain ones.

    Each ends on every model, makes nothing that it does not declare, says of everything it makes
    which source elements that is derived from, and keeps the runs unless it names what it loses.
    Raises `ContractError`.
    """
    from orgflow_ir.testing.conformance.lowerings import lowering_problems

    problems = lowering_problems(lowerings, models, derivations)
    if problems:
        raise ContractError("lowerings", problems)


def check_frontend(frontend: Frontend, samples: Iterable[SourceFile | SourceFolder] = ()) -> None:
    """Try a frontend with input that is not its language, and with `samples` that are, whole, cut
    off, and with single bytes changed.

    It never raises; where it gives no model it says why by an error with its own code, a place in
    the file and a message of one line. Samples must give a model, twice the same one, that its JSON
    gives back. One that accepts streams gets every input as a stream: samples must give the same
    model where they come only once, and a long line must not fill the memory. One that accepts
    folders takes a `SourceFolder` as a sample, too. Raises `ContractError`.
    """
    from orgflow_ir.testing.conformance.frontends import frontend_problems

    problems = frontend_problems(frontend, samples)
    if problems:
        raise ContractError(frontend.name, problems)


def check_pass(item: Pass, models: Iterable[tuple[str, Model]] = ()) -> None:
    """Try a pass with a minimal model of every construct, small models of several, and `models`.

    It never raises, does the same twice, leaves no broken model, and changes nothing more when it
    is run on its own result; where its stage only looks it returns the object it was given; its
    options survive being text. Raises `ContractError`.
    """
    from orgflow_ir.testing.conformance.passes import pass_problems
    from orgflow_ir.testing.conformance.shapes import shapes

    problems = pass_problems(item, [*minimal_models(), *shapes(), *models])
    if problems:
        raise ContractError(item.name, problems)


def small_model(text: str) -> Model:
    """A model from a line of flows, as in `s>x1 x1>Ship:Yes x1>Refuse:No?total>5 Ship>e Refuse>e`.

    `s` is the start, `e` and `f` are ends; names that begin with `x`, `p` or `o` are exclusive,
    parallel and inclusive gateways, all others are tasks. A flow may have a label (`:Yes`), a
    condition (`?total>5`), and be the default (`!`).
    """
    from orgflow_ir.testing.conformance.shapes import shape

    return shape(text)


def check_rule(
    item: Pass,
    rule: type[Rule],
    *,
    bad: Iterable[str | Model],
    good: Iterable[str | Model],
) -> None:
    """Try your own rule: the pass reports it once or more in each bad model, at an element of
    the model, and never in a good one. Models may be lines for `small_model`. Raises
    `ContractError`."""
    problems = []
    for wanted, models in ((True, list(bad)), (False, list(good))):
        if not models:
            problems.append(f"no {'bad' if wanted else 'good'} models: nothing is tried")
        for given in models:
            model = small_model(given) if isinstance(given, str) else given
            ctx = PassContext()
            item.run(model, ctx)
            found = [d for d in ctx.diagnostics if d.code == rule.code]
            shown = given if isinstance(given, str) else model.name or model.id
            if bool(found) != wanted:
                problems.append(f"{rule.code} {'not ' if wanted else ''}reported: {shown}")
            problems += [f"{rule.code} names no element: {shown}" for d in found if not d.element]
    if problems:
        raise ContractError(item.name, problems)


def check_agent(
    agent: Agent,
    models: Iterable[tuple[str, Model]] = (),
    *,
    documents: Iterable[Sequence[Document]] = (),
    services: Callable[[], Services] = Services,
) -> None:
    """Try an agent that answers gaps with every gap of minimal models, of small models of several
    constructs, and of `models`; one that produces models with no document, odd ones, and each of
    `documents`. `services` gives the services of a call, the same each time.

    It never raises, but `MissingService`, `OverBudget` and `ServiceError`, also with no service at
    all and after refusals; it does the same twice and changes nothing that it is given. Answers are
    accepted and close their gap; models are valid, and every task has evidence that is in the
    documents. After cancellation it goes no further. Raises `ContractError`.
    """
    from orgflow_ir.testing.conformance.agents import agent_problems
    from orgflow_ir.testing.conformance.shapes import shapes

    tried = [*minimal_models(), *shapes(), *models]
    problems = agent_problems(agent, tried, documents, services)
    if problems:
        raise ContractError(agent.name, problems)


def artifacts_text(artifacts: Iterable[Artifact]) -> str:
    """One text for what a backend emitted: the file itself, or several with a line of path each."""
    items = tuple(artifacts)
    if len(items) == 1:
        return items[0].text
    return "".join(f"=== {a.path}\n{a.text}" for a in items)


_PATH_LINE = re.compile(r"(?m)^=== .*\n")


def difference_text(old: str, new: str, target: str = "n8n") -> str | None:
    """What changed between two texts of a target (as `artifacts_text` makes them), behaviour
    first; `None` where the target cannot tell, or nothing but layout differs.

    Raises `KeyError` for a target that does not exist.
    """
    from orgflow_ir.plugins import Registry
    from orgflow_ir.targets.comparison_text import comparison_text

    sources = []
    for name, text in (("golden", old), ("now", new)):
        parts = [part.strip() for part in _PATH_LINE.split(text) if part.strip()]
        joined = text if len(parts) == 1 else f"[{','.join(parts)}]"
        sources.append(SourceFile(name, joined.encode("utf-8", "replace")))
    found = Registry().backends[target].diff(sources[0], sources[1], PassContext())
    return comparison_text(found) if found is not None and found.differs else None


@lru_cache
def artifact_extension(suffix: str = "json", target: str | None = None) -> Any:
    """A syrupy extension that keeps what a backend emitted as a file as people would open it.

    Use: `assert artifacts == snapshot.use_extension(artifact_extension())`, where `artifacts` is
    a tuple of `Artifact`, one `Artifact`, or text. With a `target`, as in
    `artifact_extension(target="n8n")`, a failure shows what changed in behaviour and in nodes in
    place of the lines that differ. Needs syrupy.
    """
    from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

    class ArtifactExtension(SingleFileSnapshotExtension):
        """One file a snapshot, as text."""

        _write_mode = WriteMode.TEXT
        file_extension = suffix

        def serialize(self, data: Any, **_: Any) -> str:
            """The text of an artifact, of several, or text as it is."""
            if isinstance(data, str):
                return data
            return artifacts_text((data,) if isinstance(data, Artifact) else data)

        def diff_lines(self, serialized_data: Any, snapshot_data: Any) -> Iterator[str]:
            """What a failure shows."""
            told = None
            if target is not None:
                told = difference_text(str(snapshot_data), str(serialized_data), target)
            if told is None:
                yield from super().diff_lines(serialized_data, snapshot_data)
            else:
                yield from told.splitlines()

    return ArtifactExtension
