"""Shipped test helpers: contract checks for frontends and backends, golden files of artifacts.

Importable without pytest or syrupy; only `artifact_extension` needs syrupy, when it is called. The
pytest plugin (`orgflow_ir.pytest_plugin`) gives `check_golden` as the fixture `orgflow_golden`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

from orgflow_ir.contracts import Artifact, Backend, Frontend
from orgflow_ir.diagnostics import Diagnostic, Rule, Severity
from orgflow_ir.golden import GoldenMismatch, check_golden
from orgflow_ir.minimal import minimal_model, minimal_models
from orgflow_ir.model import Model
from orgflow_ir.pass_manager import PassContext
from orgflow_ir.rules import CORE_RULES
from orgflow_ir.source import SourceFile
from orgflow_ir.target import TARGET_RULES, Legal, constructs, legalise

__all__ = [
    "ContractError",
    "GoldenMismatch",
    "artifact_extension",
    "artifacts_text",
    "check_backend",
    "check_frontend",
    "check_golden",
    "difference_text",
    "emit",
    "minimal_model",
    "minimal_models",
]


class ContractError(AssertionError):
    """A leaf breaks its contract; the message has a line for each way in which it does."""

    def __init__(self, name: str, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join([f"`{name}` breaks its contract:", *self.problems]))


def emit(
    backend: Backend, model: Model, options: Mapping[str, str] | None = None
) -> tuple[tuple[Artifact, ...] | None, list[Diagnostic]]:
    """What a backend makes of a model (`None`: refused) and what was said on the way.

    Only legalisation stands before the backend here: no passes run.
    """
    spec = backend.target
    defaults = {name: values[0] for name, values in spec.options.items() if values}
    ctx = PassContext(target=spec, options={**defaults, **(options or {})})
    legal = legalise(model, spec, ctx, allow_lossy=False)
    if ctx.has_errors:
        return None, ctx.diagnostics
    artifacts = backend.emit(legal, ctx)
    return (None if ctx.has_errors else artifacts), ctx.diagnostics


def check_backend(backend: Backend, models: Iterable[tuple[str, Model]] | None = None) -> None:
    """Try a backend with a minimal model of every construct (or with `models`).

    What its table calls legal must be emitted, twice with the same bytes, to paths that are
    relative and unique; what it refuses must be refused with an OF4xx error that names the
    element. Raises `ContractError`.
    """
    problems = _rule_problems(backend.rules)
    for construct, model in minimal_models() if models is None else models:
        problems += [f"{construct}: {p}" for p in _backend_problems(backend, construct, model)]
    if problems:
        raise ContractError(backend.name, problems)


def _backend_problems(backend: Backend, construct: str, model: Model) -> list[str]:
    artifacts, said = emit(backend, model)
    errors = [d for d in said if d.severity is Severity.ERROR]
    if artifacts is None:
        others = [d for d in errors if not d.code.startswith("OF4")]
        problems = [f"refused with {d.code} ({d.message}), which is no OF4xx" for d in others]
        problems += [f"{d.code} names no element" for d in errors if d.element is None]
        if not errors:
            problems.append("refused without an error")
        if _all_legal(backend, model):
            problems.append(f"its table says it is legal, but: {errors[0].message}")
        return problems
    problems = []
    if not artifacts:
        problems.append("emitted nothing and said nothing")
    paths = [a.path for a in artifacts]
    if len(set(paths)) != len(paths):
        problems.append(f"two files have one path: {paths}")
    for path in map(PurePosixPath, paths):
        if path.is_absolute() or ".." in path.parts or not path.name:
            problems.append(f"`{path}` is not a path inside the output folder")
    again, _ = emit(backend, Model.from_json(model.to_json()))
    if again != artifacts:
        problems.append("the same model gives other bytes the second time")
    return problems


def _all_legal(backend: Backend, model: Model) -> bool:
    """Whether the table calls everything in the model plainly legal."""
    uses = constructs(model, backend.target, PassContext(target=backend.target))
    return all(isinstance(backend.target.legality(u.construct), Legal) for u in uses)


_HOSTILE: tuple[bytes, ...] = (
    b"",
    b" \n",
    b"\x00",
    b"\xff\xfe\x00<",
    b"\xef\xbb\xbf",
    b"{}",
    b"[]",
    b"null",
    b"{",
    b"[" * 5000,
    b'{"a":' * 5000,
    b"<a/>",
    b"<a>",
    b"<a>" * 5000,
    b"just words, \xe4\xf6\xfc",
    "just wörds".encode(),
)


def check_frontend(frontend: Frontend, samples: Iterable[SourceFile] = ()) -> None:
    """Try a frontend with input that is not its language, and with `samples` that are.

    It never raises; where it gives no model it says why by an error with a code of its own, a
    place in the file and a message of one line. Samples must give a model, twice the same one,
    that its JSON gives back. Raises `ContractError`.
    """
    problems = _rule_problems(frontend.rules)
    for suffix in frontend.suffixes:
        if not re.fullmatch(r"\.[a-z0-9.]+", suffix):
            problems.append(f"suffix `{suffix}` is not a dot and lower-case letters")
    suffix = frontend.suffixes[0] if frontend.suffixes else ".txt"
    for data in _HOSTILE:
        name = f"{data[:12]!r} ({len(data)} bytes)"
        source = SourceFile(f"hostile{suffix}", data)
        problems += [f"{name}: {p}" for p in _parse_problems(frontend, source)]
    for source in samples:
        problems += [f"{source.path}: {p}" for p in _sample_problems(frontend, source)]
    if problems:
        raise ContractError(frontend.name, problems)


def _parse_problems(frontend: Frontend, source: SourceFile) -> list[str]:
    ctx = PassContext(options={"diagram": True})
    try:
        model = frontend.parse(source, ctx)
        frontend.sniff(source)
    except Exception as error:  # noqa: BLE001  # "never raises" is what is tested
        return [f"raised {type(error).__name__}: {error}"]
    problems = []
    if model is None and not ctx.has_errors:
        problems.append("gave no model and no error")
    known = {r.code for r in (*frontend.rules, *CORE_RULES)}
    for d in ctx.diagnostics:
        if d.code not in known:
            problems.append(f"{d.code} is not among the frontend's rules")
        if "\n" in d.message or not d.message or d.message.endswith("."):
            problems.append(f"{d.code}: message is not one line without a full stop: {d.message!r}")
        if d.loc is None or d.loc.file != source.path:
            problems.append(f"{d.code} has no place in {source.path}")
    return problems


def _sample_problems(frontend: Frontend, source: SourceFile) -> list[str]:
    problems = _parse_problems(frontend, source)
    if problems:
        return problems
    found = [frontend.parse(source, PassContext(options={"diagram": True})) for _ in range(2)]
    first, second = found
    if first is None or second is None:
        return ["gave no model"]
    if not frontend.sniff(source):
        problems.append("`sniff` does not recognise it")
    if first != second:
        problems.append("gives another model the second time")
    if Model.from_json(first.to_json()) != first:
        problems.append("the model does not survive its own JSON")
    return problems


def _rule_problems(rules: Iterable[type[Rule]]) -> list[str]:
    codes = [r.code for r in rules]
    taken = {r.code for r in (*CORE_RULES, *TARGET_RULES)}
    problems = [f"{c} is the code of two of its rules" for c in set(codes) if codes.count(c) > 1]
    own = [r for r in rules if r not in (*CORE_RULES, *TARGET_RULES)]
    problems += [f"{r.code} is a code of the core" for r in own if r.code in taken]
    return sorted(problems)


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

    Raises `KeyError` for a target that is not there.
    """
    from orgflow_ir.comparison_text import comparison_text
    from orgflow_ir.plugins import Registry

    sources = []
    for name, text in (("golden", old), ("now", new)):
        parts = [part.strip() for part in _PATH_LINE.split(text) if part.strip()]
        joined = text if len(parts) == 1 else f"[{','.join(parts)}]"
        sources.append(SourceFile(name, joined.encode("utf-8", "replace")))
    found = Registry().backends[target].compare(sources[0], sources[1], PassContext())
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
