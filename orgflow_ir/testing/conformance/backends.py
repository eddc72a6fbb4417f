"""The contract of backends: a true support table, and the same output every time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from difflib import get_close_matches

from orgflow_ir.diagnostics import Category, Diagnostic, Severity
from orgflow_ir.legalisation.legalise import constructs, legalise
from orgflow_ir.model import Model, Node, Opaque
from orgflow_ir.model.constructs import CONSTRUCTS
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Backend, Frontend
from orgflow_ir.targets import Illegal, Legal, LegalIf, TargetSpec, support_level
from orgflow_ir.targets.artifact import Artifact
from orgflow_ir.targets.spec import STUB, UNSUPPORTED
from orgflow_ir.testing.conformance.dependence import dependence_problems
from orgflow_ir.testing.conformance.emission import build_context, emit, legal_and_emitted
from orgflow_ir.testing.conformance.files import file_problems
from orgflow_ir.testing.conformance.minimal_models import minimal_model, minimal_models
from orgflow_ir.testing.conformance.odd_models import odd_models
from orgflow_ir.testing.conformance.shapes import list_shapes
from orgflow_ir.testing.conformance.source_maps import source_map_problems
from orgflow_ir.testing.conformance.words import name_problems, rule_problems, said_problems

Told = tuple[tuple[Artifact, ...] | None, list[Diagnostic]]


def backend_problems(
    backend: Backend, models: Iterable[tuple[str, Model]], reads_back: Frontend | None
) -> list[str]:
    """All problems of a backend except those of its lowerings and its runner."""
    problems = name_problems(backend.name) + rule_problems(backend.rules)
    spec = backend.target
    if not isinstance(spec, TargetSpec):
        return [*problems, f"`target` is {spec!r}, not a `TargetSpec`"]
    if spec.name != backend.name:
        problems.append(f"its target has the name `{spec.name}`")
    problems += list(_table_problems(spec))
    models = list(models)
    given = [model.to_json() for _, model in models]
    problems += dependence_problems(backend, models)
    for construct, model in models:
        construct_problems = _model_problems(backend, construct, model)
        if not construct_problems and reads_back is not None:
            construct_problems = _round_trip_problems(backend, model, reads_back)
        problems += [f"{construct}: {p}" for p in construct_problems]
    problems += [
        f"{name}: it changed its input model"
        for (name, model), text in zip(models, given, strict=True)
        if model.to_json() != text
    ]
    others = (_odd_problems, _option_problems, _stub_problems)
    return [*problems, *(p for find in others for p in find(backend))]


def _table_problems(spec: TargetSpec) -> Iterator[str]:
    """Names that nothing has, and reasons that do not read as the end of a message."""
    derived = _derived_constructs(spec)
    parts = {c.rsplit(".", n)[0] for c in CONSTRUCTS for n in range(c.count(".") + 1)}
    known = sorted(parts | derived)
    for name, verdict in spec.constructs.items():
        plain = any(c == name or c.startswith(name + ".") for c in CONSTRUCTS)
        if not plain and not spec.derivations:
            yield f"its table has `{name}`, which is not a construct, and nothing derives it"
        elif not plain and name not in derived and (near := get_close_matches(name, known, 1, 0.9)):
            yield f"its table has `{name}`, which is not a construct: `{near[0]}`?"
        if isinstance(verdict, Legal):
            continue
        if not isinstance(verdict, Illegal | LegalIf):
            yield f"its table has {verdict!r} for `{name}`"
        elif not verdict.reason.strip() or verdict.reason.endswith("."):
            yield f"the reason for `{name}` is not a text without a full stop: {verdict.reason!r}"
    for name, values in spec.options.items():
        if not isinstance(values, tuple) or not all(isinstance(v, str) for v in values):
            yield f"the values of its option `{name}` are not a tuple of texts: {values!r}"


def _derived_constructs(spec: TargetSpec) -> set[str]:
    """The constructs that its analyses attach to small models."""
    derived: set[str] = set()
    for _, model in (*minimal_models(), *list_shapes()):
        ctx = PassContext(target=spec)
        for derive in spec.derivations:
            with suppress(Exception):  # reported with the model on which it raises
                derived |= {use.construct for use in derive(model, ctx)}
    return derived


def _try_emit(backend: Backend, model: Model, **options: str) -> Told | str:
    """The output and the diagnostics, or the text of the exception."""
    try:
        return emit(backend, model, options)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # "never raises" is what is tested
        return f"raised {type(error).__name__}: {error}"


def _model_problems(backend: Backend, construct: str, model: Model) -> list[str]:
    tried = _try_emit(backend, model)
    if isinstance(tried, str):
        return [tried]
    artifacts, diagnostics = tried
    problems = said_problems(diagnostics, backend.rules)
    if artifacts is None:
        problems += _refusal_problems(backend, model, diagnostics)
    else:
        problems += file_problems(artifacts) or _lint_problems(backend, artifacts)
        problems += _map_problems(backend, model)
        problems += _again_problems(backend, model, tried)
    if construct in CONSTRUCTS:
        problems += _cell_problems(backend, construct, model, tried)
    return problems


def _lint_problems(backend: Backend, artifacts: Iterable[Artifact]) -> list[str]:
    """Findings of the backend's own check on its output: there must be none."""
    ctx = build_context(backend)
    for artifact in artifacts:
        backend.lint(SourceFile(artifact.path, artifact.text.encode()), ctx)
    findings = [d for d in ctx.diagnostics if d.severity is not Severity.INFO]
    return [f"its own validation of its output reports {d.code}: {d.message}" for d in findings]


def _map_problems(backend: Backend, model: Model) -> list[str]:
    legal, emitted, _ = legal_and_emitted(backend, model)
    return source_map_problems(legal, emitted) if emitted is not None else []


def _refusal_problems(backend: Backend, model: Model, diagnostics: list[Diagnostic]) -> list[str]:
    errors = [d for d in diagnostics if d.severity is Severity.ERROR]
    others = [d for d in errors if d.category is not Category.TARGET]
    problems = [
        f"refused with {d.code} ({d.message}), which is not of the category `target`"
        for d in others
    ]
    problems += [f"{d.code} names no element" for d in errors if d.element is None]
    if not errors:
        return [*problems, "refused without an error"]
    if _all_legal(backend, model):
        problems.append(f"its table declares it legal, but: {errors[0].message}")
    return problems


def _again_problems(backend: Backend, model: Model, first: Told) -> list[str]:
    again = _try_emit(backend, Model.from_json(model.to_json()))
    if isinstance(again, str):
        return [f"the second time it {again}"]
    if again[0] != first[0]:
        return ["the same model gives different bytes the second time"]
    return (
        [] if again[1] == first[1] else ["the same model gets different findings the second time"]
    )


def _all_legal(backend: Backend, model: Model) -> bool:
    """Whether the table calls everything in the model plainly legal."""
    uses = constructs(model, backend.target, PassContext(target=backend.target))
    return all(isinstance(backend.target.legality(u.construct), Legal) for u in uses)


def _cell_problems(backend: Backend, construct: str, model: Model, tried: Told) -> list[str]:
    """Whether the cell of the matrix says what happened to the construct's minimal model."""
    artifacts, diagnostics = tried
    cell = support_level(backend.target, construct)
    of_it = [
        d for d in diagnostics if f"({construct})" in d.message and d.code in ("OF402", "OF403")
    ]
    if cell in ("refused", "degraded"):
        if is_refused_or_omitted(construct, refused=artifacts is None, diagnostics=diagnostics):
            return []
        return [f"the matrix states {cell}, but it was not"]
    if cell in ("supported", "lowered") and of_it:
        return [f"the matrix states {cell}, but: {of_it[0].message}"]
    lowered = artifacts is None or any(d.code == "OF401" for d in diagnostics)
    if cell == "lowered" and not lowered and not legal_as_it_is(backend, construct, model):
        return ["the matrix states lowered, but the lowering is not reported (OF401)"]
    return []


def is_refused_or_omitted(
    construct: str, *, refused: bool, diagnostics: Sequence[Diagnostic]
) -> bool:
    """Whether a construct that is not supported was refused by name, or omitted because no run
    comes to it (OF409). Where an event sub-process is refused, its start event is no finding of its
    own: one refusal for one cause."""
    if not refused:
        return any(d.code == "OF409" for d in diagnostics)
    names = [construct, *(["sub-process.event"] if construct.startswith("event.start.") else [])]
    return any(f"({name}" in d.message for name in names for d in diagnostics)


def legal_as_it_is(backend: Backend, construct: str, model: Model) -> bool:
    """Whether the test of a conditional cell holds for each use of the construct in the model, so
    that nothing has to be lowered."""
    verdict = backend.target.legality(construct)
    ctx = PassContext(target=backend.target)
    return isinstance(verdict, LegalIf) and all(
        verdict.test(use, model, ctx)
        for use in constructs(model, backend.target, ctx)
        if use.construct == construct
    )


def _odd_problems(backend: Backend) -> Iterator[str]:
    """Labels never change what is done: where a plain model is emitted, so are odd ones."""
    plain = _try_emit(backend, minimal_model("task.abstract"))
    for name, model in odd_models():
        tried = _try_emit(backend, model)
        if isinstance(tried, str):
            yield f"{name}: {tried}"
            continue
        artifacts, diagnostics = tried
        problems = said_problems(diagnostics, backend.rules)
        if artifacts is not None:
            problems += file_problems(artifacts) + _again_problems(backend, model, tried)
        elif not isinstance(plain, str) and plain[0] is not None:
            errors = [d.message for d in diagnostics if d.severity is Severity.ERROR]
            problems.append(
                f"refused, although a plain label is not: {errors[0] if errors else ''}"
            )
        yield from (f"{name}: {p}" for p in problems)


def _option_problems(backend: Backend) -> Iterator[str]:
    """Each value of each option is one that the backend can do something with."""
    model = minimal_model("task.abstract")
    for name, values in backend.target.options.items():
        for value in values:
            tried = _try_emit(backend, model, **{name: value})
            if isinstance(tried, str):
                yield f"with {name}={value} it {tried}"
            elif tried[0] is not None:
                output_problems = said_problems(tried[1], backend.rules) + file_problems(tried[0])
                yield from (f"with {name}={value}: {p}" for p in output_problems)


def _stub_problems(backend: Backend) -> Iterator[str]:
    """The output depends on the reason that a stub stops a run with: somebody has to read it. Stubs
    that no run reaches need not be there."""
    spec = backend.target
    tried = False
    for _, model in minimal_models() if spec.stubs and spec.executes else ():
        ctx = build_context(backend, {UNSUPPORTED: STUB})
        legal = legalise(model, spec, ctx, allow_lossy=False)
        if ctx.has_errors or not any(_is_stop(n) for s in legal.scopes() for n in s.nodes):
            continue
        texts: list[tuple[Artifact, ...]] = []
        for reason in ("first reason", "second reason"):
            process = legal.processes[0]
            nodes = tuple(n.replace(stops=reason) if _is_stop(n) else n for n in process.nodes)
            if nodes == process.nodes:  # in a sub-process
                break
            given = legal.replace(processes=(process.replace(nodes=nodes), *legal.processes[1:]))
            try:
                texts.append(backend.emit(given, ctx).artifacts)
            except (Exception, SystemExit) as error:  # noqa: BLE001  # as `_try_emit`
                yield f"with unsupported=stub it raised {type(error).__name__}: {error}"
                return
        if len(texts) == 2:
            tried = True
            if texts[0] != texts[1]:
                return
    if tried:
        yield "with unsupported=stub it does not show the reason in `Opaque.stops`"


def _is_stop(node: Node) -> bool:
    return isinstance(node, Opaque) and node.stops is not None


def _round_trip_problems(backend: Backend, model: Model, frontend: Frontend) -> list[str]:
    """The output is read back as the model that was emitted (its drawing may be new)."""
    ctx = build_context(backend)
    legal = legalise(model, backend.target, ctx, allow_lossy=False)
    if ctx.has_errors:
        return []
    artifacts = backend.emit(legal, ctx).artifacts
    if ctx.has_errors:
        return []
    if len(artifacts) != 1:
        return [f"{len(artifacts)} files cannot be read back as one model"]
    source = SourceFile(artifacts[0].path, artifacts[0].text.encode())
    reading = PassContext(options={"diagram": True})
    back = frontend.parse(source, reading)
    wrong = [d.message for d in reading.diagnostics if d.severity is Severity.ERROR]
    if back is None or wrong:
        return [f"`{frontend.name}` cannot read it back: {'; '.join(wrong)}"]
    if back.replace(diagram=None) != legal.replace(diagram=None):
        return [
            f"`{frontend.name}` reads it back as a different model: "
            f"{_first_difference(legal, back)}"
        ]
    return []


def _first_difference(old: Model, new: Model) -> str:
    for name, value in vars(old).items():
        other = getattr(new, name)
        if value != other and name not in ("loc", "origin", "source", "diagram"):
            return f"`{name}` was {_shorten_value(value)}, is {_shorten_value(other)}"
    return "in its places only"


def _shorten_value(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:300]}…"
