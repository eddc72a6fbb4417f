"""Golden files: the stored output for a model, and the differences after a change.

`compile --check` uses it, and by name `orgflow_ir.testing.golden`, which users' tests call.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path

import click
from orgflow.backends import DEFAULT_TARGET
from orgflow.commands.options import resolve_target
from orgflow.commands.output import is_folder, join_artifacts, list_destinations, write_files
from orgflow.commands.session import text_width
from orgflow.compilation.reading import load_model
from orgflow.compilation.usage_errors import UnknownName
from orgflow.compiler import add_called_processes, compile_model

from orgflow_ir.diagnostics import Diagnostic, Severity
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.reporting.text_reporter import TextReporter
from orgflow_ir.targets.artifact import Artifact
from orgflow_ir.targets.comparison_text import comparison_text

_FEW = 60
"""Maximum number of lines shown of a textual difference if only the layout differs."""


def wanted_files(golden: str, artifacts: Sequence[Artifact]) -> dict[Path, str]:
    """The golden file or files and the expected content of each. Raises `click.UsageError`."""
    path = Path(golden)
    if path.is_file() and len(artifacts) > 1:
        return {path: join_artifacts(artifacts)}
    if is_folder(golden, artifacts):
        texts = (artifact.text for artifact in artifacts)
        return dict(zip(list_destinations(golden, artifacts), texts, strict=True))
    return {path: artifacts[0].text}


def golden_difference(
    wanted: Mapping[Path, str], backend: Backend, ctx: PassContext, width: int = 80
) -> str:
    """The differences between golden files and the current output; empty if all bytes are equal.

    Behaviour and nodes if the target can compare (`Backend.compare`), and the textual difference
    only if nothing else differs; an unreadable golden file is reported to `ctx`.
    """
    lines: list[str] = []
    for place, new in wanted.items():
        data = place.read_bytes() if place.exists() else b""
        if data == new.encode():
            continue
        old = data.decode("utf-8", "replace")
        unified = _unified_diff(old, new, str(place))
        compared = None
        if place.exists():
            sources = SourceFile(str(place), data), SourceFile("compiled now", new.encode())
            compared = backend.diff(*sources, ctx)
        if compared is None:
            lines += unified
        elif compared.differs:
            lines += [f"--- {place}\n", "+++ compiled now\n", comparison_text(compared, width)]
        else:
            lines += _shorten_lines(unified)
            layout_only = "only layout differs: positions, ids, white space or order\n"
            lines.append(
                layout_only if compared.verdict == "same" else comparison_text(compared, width)
            )
    return "".join(lines)


def _shorten_lines(lines: list[str]) -> list[str]:
    if len(lines) <= _FEW:
        return lines
    return [*lines[:_FEW], f"… {len(lines) - _FEW} more lines\n"]


def _unified_diff(old: str, new: str, name: str) -> list[str]:
    return list(
        difflib.unified_diff(
            _split_lines(old), _split_lines(new), name, "compiled now", lineterm="\n"
        )
    )


def _split_lines(text: str) -> list[str]:
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n\\ no newline at the end\n"
    return lines


def check_golden(
    model: Path, golden: str, *, target: str = DEFAULT_TARGET, frontend: str | None = None,
    allow_lossy: bool = False, force: bool = False, update: bool = False,
) -> str:  # fmt: skip
    """The fault of a golden file, in words; empty if there is none.

    Args:
        model: the model.
        golden: the golden file, or the folder of several if it ends with `/`.
        target: as for `compile --target`.
        frontend: as for `--from`.
        allow_lossy: as `--allow-lossy`.
        force: as `--force`.
        update: write it again instead of comparing.

    Raises:
        ValueError: the frontend, target or option of the target does not exist.
        OSError: a file that cannot be read.
    """
    registry = Registry()
    ctx = PassContext(registry=registry)
    try:
        backend, options = resolve_target(target, registry, [str(model)])
        source = SourceFile(str(model), model.read_bytes())
        diagram = backend.target.wants_diagram
        read = load_model(source, registry, ctx, from_=frontend, diagram=diagram)
        emitted = None
        if read is not None:
            read = add_called_processes(read, backend, ctx)
            emitted = compile_model(
                read, backend, ctx, options=options, allow_lossy=allow_lossy, force=force
            )
        if emitted is None:
            return f"{model} does not compile\n{_render_errors(ctx, source)}"
        wanted = wanted_files(golden, emitted.artifacts)
        if update:
            write_files([item for item in wanted.items() if not _has_content(*item)])
            return ""
        missing = [place for place in wanted if not place.exists()]
        if missing:
            return f"{missing[0]} does not exist: {model} has no golden file yet\n"
        compared = PassContext(registry=registry)
        difference = golden_difference(wanted, backend, compared, text_width(sys.stdout))
    except UnknownName as error:
        raise ValueError(str(error)) from None
    except click.ClickException as error:
        raise ValueError(error.format_message()) from None
    if not difference:
        return ""
    messages = "".join(f"{d.message}\n" for d in compared.diagnostics)
    return f"{model} no longer compiles to {golden}\n{messages}{difference}"


def _has_content(place: Path, text: str) -> bool:
    return place.is_file() and place.read_bytes() == text.encode()


def _render_errors(ctx: PassContext, source: SourceFile) -> str:
    errors: list[Diagnostic] = [d for d in ctx.diagnostics if d.severity is Severity.ERROR]
    out = StringIO()
    TextReporter(inputs=(source.path,), sources={source.path: source.data}).report(errors, out)
    return out.getvalue()
