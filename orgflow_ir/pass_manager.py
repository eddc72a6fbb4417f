"""Passes, the context they speak to, and the manager that runs a pipeline of them."""

from __future__ import annotations

import dataclasses
import os
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from orgflow_ir.diagnostics import Diagnostic, Fix, Related, Rule, Severity, Step
from orgflow_ir.model import Element, Model
from orgflow_ir.rules import CrashedPass, InvalidAfterPass
from orgflow_ir.source import SourceLocation
from orgflow_ir.value import trusted

if TYPE_CHECKING:
    from orgflow_ir.plugins import Registry
    from orgflow_ir.target import TargetSpec

V = TypeVar("V")
R = TypeVar("R")


class Stage(IntEnum):
    """When a pass runs; outside passes run at the end of their stage, sorted by name."""

    VERIFY = 0
    ANALYSE = 1
    NORMALISE = 2
    LOWER = 3


@dataclass
class PassContext:
    """What a run shares: diagnostics found so far, the target, options, cached analyses.

    `severities` maps codes to the severity a command gives them (`compile`: work done twice is a
    warning); a diagnostic carries the mapped one. `registry` reaches other leaves by name.
    """

    registry: Registry | None = None
    target: TargetSpec | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    severities: Mapping[str, Severity] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    current: str | None = None
    _cache: dict[tuple[Callable[..., Any], int], tuple[Any, Any]] = field(default_factory=dict)

    def emit(
        self,
        rule: type[Rule],
        message: str,
        *,
        element: Element | str | None = None,
        loc: SourceLocation | None = None,
        help: str | None = None,
        related: Iterable[Related] = (),
        trace: Iterable[Step] = (),
        fix: Fix | None = None,
        severity: Severity | None = None,
    ) -> Diagnostic:
        """Record a diagnostic of `rule`; place and id are taken from `element` where it is one.

        `severity` lowers or raises this one finding; a command's mapping of the code wins.
        """
        if isinstance(element, Element):
            loc = loc or element.loc
            element = element.id
        if not (
            isinstance(message, str)
            and isinstance(element, str | None)
            and isinstance(help, str | None)
        ):  # a plugin's; reporters take text
            message, element, help = _text(message), _text(element), _text(help)
        consequence = self.target.consequences.get(rule.code) if self.target is not None else None
        if consequence is not None and self.target is not None:
            related = (*related, trusted(Related, message=f"on {self.target.name} {consequence}"))
        # Not validated: all parts are typed, and building the validator takes more than a compile.
        diagnostic = Diagnostic.model_construct(
            code=rule.code,
            name=rule.name,
            severity=self.severities.get(rule.code, severity or rule.severity),
            message=message or "",
            element=element,
            loc=loc,
            related=tuple(related),
            trace=tuple(trace),
            help=help,
            fix=fix,
            source=self.current,
        )
        self.diagnostics.append(diagnostic)
        return diagnostic

    def analysis(self, function: Callable[[V], R], value: V) -> R:
        """`function(value)`, computed once for this very value (values are immutable)."""
        key = (function, id(value))
        hit = self._cache.get(key)
        if hit is None or hit[0] is not value:
            hit = self._cache[key] = (value, function(value))
        result: R = hit[1]
        return result

    @property
    def has_errors(self) -> bool:
        """Whether anything found so far is an error."""
        return any(d.severity is Severity.ERROR for d in self.diagnostics)


def _text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else str(value)


@dataclass(frozen=True)
class Pass(ABC):
    """A step of a pipeline: a frozen dataclass whose fields are its options; it has no state. A
    subclass without options need not be decorated.

    Valid in, valid out; a pass that only analyses returns the very object it was given.
    """

    name: ClassVar[str]
    stage: ClassVar[Stage]
    rules: ClassVar[tuple[type[Rule], ...]] = ()

    @abstractmethod
    def run(self, model: Model, ctx: PassContext) -> Model:
        """Analyse or rewrite `model`; report through `ctx.emit`."""


AfterEach = Callable[[Pass, Model, float], None]


class PassManager:
    """Runs passes in order. A pass that crashes is OF901 with its name, and the model it was given
    goes on; `after_each(pass, model, seconds)` serves printing and timing. With `verify` (or
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
        self.verify = verifying() if verify is None else verify

    def run(self, model: Model, ctx: PassContext) -> Model:
        """The model after all passes."""
        for item in self.passes:
            started = time.perf_counter()
            before = model
            ctx.current = item.name
            try:
                model = _model(item.run(model, ctx), item, before, ctx)
            except (Exception, SystemExit) as error:  # noqa: BLE001  # a broken pass must not hide what the others found
                import traceback

                where = traceback.extract_tb(error.__traceback__)[-1]
                ctx.emit(
                    CrashedPass,
                    f"pass `{item.name}` failed: {type(error).__name__}: {error} "
                    f"({where.name}, line {where.lineno})",
                    help="report this with the model; the other passes' findings are complete",
                )
            finally:
                ctx.current = None
            if self.verify:
                report_breaches(before, model, f"pass `{item.name}`", ctx)
            for hook in self.after_each:
                hook(item, model, time.perf_counter() - started)
        return model


def _model(result: object, item: Pass, before: Model, ctx: PassContext) -> Model:
    """What a pass gave; OF901 and the model it was given where that is no model."""
    if isinstance(result, Model):
        return result
    said = repr(result)
    said = said if len(said) <= 60 else f"{said[:60]}…"
    ctx.emit(
        CrashedPass,
        f"pass `{item.name}` gave {said}, which is no model",
        help="let its `run` return a model; the other passes' findings are complete",
    )
    return before


def verifying() -> bool:
    """Whether ORGFLOW_VERIFY asks for a check of the model after every pass and lowering."""
    return os.environ.get("ORGFLOW_VERIFY", "") not in ("", "0")


def report_breaches(before: Model, after: Model, what: str, ctx: PassContext) -> None:
    """OF902 for each rule of the IR that `after` breaks and `before` did not."""
    if after is before:
        return
    from orgflow_ir.integrity import breaches

    for breach in sorted(breaches(after) - breaches(before)):
        ctx.emit(InvalidAfterPass, f"{what} left a broken model: {breach}", help=_REPORT)


_REPORT = "this is a defect of it: report it with the model"


class PipelineError(ValueError):
    """Pipeline text that cannot be read: unknown pass or option, or bad syntax."""


_ITEM = re.compile(r"\s*([a-z][a-z0-9-]*)\s*(?:\{([^{}]*)\})?\s*(?:,|$)")


def parse_pipeline(text: str, passes: Mapping[str, type[Pass]]) -> tuple[Pass, ...]:
    """Passes from text such as `a,b{max-states=500}`. Raises `PipelineError`."""
    result: list[Pass] = []
    at = 0
    while at < len(text):
        match = _ITEM.match(text, at)
        if match is None:
            raise PipelineError(f"cannot read the pipeline from `{text[at : at + 30]}`")
        name, options = match.group(1), match.group(2)
        if name not in passes:
            raise PipelineError(f"no pass `{name}`; there are: {', '.join(sorted(passes))}")
        result.append(_build(passes[name], options or ""))
        at = match.end()
    return tuple(result)


def _fields(item: Pass | type[Pass]) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(item) if dataclasses.is_dataclass(item) else ()


def _build(cls: type[Pass], options: str) -> Pass:
    fields = {f.name: f for f in _fields(cls)}
    values: dict[str, Any] = {}
    for item in filter(None, (part.strip() for part in options.split(" "))):
        key, sep, raw = item.partition("=")
        option = fields.get(key.replace("-", "_"))
        if not sep or option is None:
            known = ", ".join(n.replace("_", "-") for n in fields) or "none"
            raise PipelineError(f"pass `{cls.name}` has no option `{key}`; it has: {known}")
        values[option.name] = _convert(cls.name, key, raw, option.default)
    return cls(**values)


def _convert(owner: str, key: str, raw: str, default: object) -> object:
    if isinstance(default, bool):
        if raw not in ("true", "false"):
            raise PipelineError(f"option `{key}` of `{owner}` is true or false, not `{raw}`")
        return raw == "true"
    if isinstance(default, int):
        try:
            return int(raw)
        except ValueError:
            raise PipelineError(f"option `{key}` of `{owner}` is a number, not `{raw}`") from None
    return raw


def print_pipeline(passes: Iterable[Pass]) -> str:
    """Inverse of `parse_pipeline`; options with their default value are left out."""
    parts = []
    for item in passes:
        shown = []
        for f in _fields(item):
            value = getattr(item, f.name)
            if value != f.default:
                text = str(value).lower() if isinstance(value, bool) else str(value)
                shown.append(f"{f.name.replace('_', '-')}={text}")
        parts.append(item.name + (f"{{{' '.join(shown)}}}" if shown else ""))
    return ",".join(parts)
