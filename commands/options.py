"""Options that several commands share, and the parser of target text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click
from orgflow.backends import DEFAULT_TARGET
from orgflow.commands.completion_values import (
    complete_frontends,
    complete_reporters,
    complete_targets,
)
from orgflow.commands.project.configuration_file import file_near, find_configuration
from orgflow.compilation.usage_errors import OptionError, UnknownName

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.plugins.contracts import Backend

if TYPE_CHECKING:
    from orgflow.commands.project import target_settings
    from orgflow.compilation import target_choice
else:  # near an orgflow.toml, and with a target only
    target_settings = LazyModule("orgflow.commands.project.target_settings")
    target_choice = LazyModule("orgflow.compilation.target_choice")

F = TypeVar("F", bound=Callable[..., Any])
OptionsT = TypeVar("OptionsT", bound="Options")

FORMATS = ("text", "json", "sarif", "github")
"""Formats of diagnostics, to which plugins add theirs."""


class Options:
    """The parsed options and arguments of one command line: attributes that are set once.

    A command declares them in a subclass, by the names of its click parameters; options that
    several commands share are base classes, next to the decorators that add them. A named tuple
    would take a fortieth of the time of a small `check` to create.
    """

    def __init__(self, **given: Any) -> None:
        vars(self).update(given)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"options are set once, and not changed: {name}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({vars(self)})"


def parsed_into(
    form: type[OptionsT],
) -> Callable[[Callable[[OptionsT], None]], Callable[..., None]]:
    """Let a command take one value of type `form` in place of a parameter for each option."""

    def decorate(function: Callable[[OptionsT], None]) -> Callable[..., None]:
        def callback(**given: Any) -> None:
            function(form(**given))

        return update_wrapper(callback, function)

    return decorate


class TargetText(NamedTuple):
    """The content of `--target`: `name{option=value,…}`, split but not yet checked."""

    name: str
    options: Mapping[str, str]


_TARGET = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\{(.*)\})?\s*", re.DOTALL)


def parse_target(text: str) -> TargetText:
    """Split target text. Raises `click.UsageError` if the form is different."""
    match = _TARGET.fullmatch(text)
    if match is None:
        raise click.UsageError(
            f"cannot read the target {text!r}; write NAME or NAME{{option=value,…}}"
        )
    options: dict[str, str] = {}
    for item in filter(None, (part.strip() for part in (match.group(2) or "").split(","))):
        key, sep, value = (part.strip() for part in item.partition("="))
        if not sep or not key or not value:
            raise click.UsageError(
                f"cannot read the target option {item!r}; write option=value, separated by commas"
            )
        if key in options:
            raise click.UsageError(f"the target option {key!r} occurs twice")
        options[key] = value
    return TargetText(match.group(1), options)


def resolve_target(
    text: str, registry: Registry, near: Sequence[str] = ()
) -> tuple[Backend, dict[str, str]]:
    """The backend that a target text names, and its options, each with an existing name and a
    permitted value.

    An option with an empty table of values accepts any value.

    Args:
        near: models; options missing in the text come from the `orgflow.toml` near them.

    Raises: click.UsageError: the target or an option is unknown, a configuration is faulty, or the
        configurations near the models differ.
    """
    target = parse_target(text)
    try:
        backend = target_choice.choose_backend(target.name, registry)
    except UnknownName as error:
        raise click.UsageError(str(error) + _report_broken(registry)) from None
    try:
        given = target_choice.check_target_options(backend, target.options)
    except OptionError as error:
        raise click.UsageError(str(error)) from None
    return backend, {**_read_settings(backend, near, registry), **given}


def _read_settings(backend: Backend, near: Sequence[str], registry: Registry) -> dict[str, str]:
    """The options of a target in the configurations near models. Raises `click.UsageError`."""
    if not any(find_configuration(file_near(path)) for path in near):
        return {}
    settings = [target_settings.read_target_options(backend, path, registry) for path in near]
    faults = next((part.faults for part in settings if part.faults), ())
    if faults:
        raise click.UsageError("\n".join(faults))
    other = next((part for part in settings if part.options != settings[0].options), None)
    if other is not None:
        sides = " and ".join(part.path or "no orgflow.toml" for part in (settings[0], other))
        raise click.UsageError(
            f"models with different options for target `{backend.name}` ({sides}); "
            "use one command for each configuration"
        )
    return dict(settings[0].options)


def _report_broken(registry: Registry) -> str:
    """A line for each broken plugin, one of which may have the name that was not found."""
    ctx = PassContext()
    registry.report_broken(ctx)
    return "".join(f"\n{d.severity} {d.code} [{d.name}]: {d.message}" for d in ctx.diagnostics)


class ProcessOptions(Options):
    """The option of `process_option`."""

    process: str | None


def process_option(function: F) -> F:
    """`--process`: one process of a collaboration."""
    return click.option(
        "--process",
        metavar="NAME",
        help="Only this process (id, name or pool; an unknown name lists all); the other pools "
        "become black boxes.",
    )(function)


_QUIET = "orgflow.quiet"


def is_quiet() -> bool:
    """Whether the running command has the option `--quiet`."""
    running = click.get_current_context(silent=True)
    return running is not None and bool(running.meta.get(_QUIET))


def _keep_quiet(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    ctx.meta[_QUIET] = wanted


class DiagnosticsOptions(Options):
    """The options of `diagnostics_options`, except `--quiet`."""

    format_: str
    verbose: bool


def diagnostics_options(function: F) -> F:
    """`--format`, `--verbose` and `--quiet`, which `is_quiet` answers."""
    function = click.option(
        "-q",
        "--quiet",
        is_flag=True,
        expose_value=False,
        callback=_keep_quiet,
        help="Only errors and warnings: no infos, no summary, no progress.",
    )(function)
    function = click.option(
        "-v",
        "--verbose",
        is_flag=True,
        help="Show every finding in full, not only the first of several similar ones.",
    )(function)
    return click.option(
        "--format",
        "format_",
        metavar="text|json|sarif|github",
        shell_complete=complete_reporters,
        default="text",
        help="Format of the diagnostics. [default: text]",
    )(function)


def target_option(function: F) -> F:
    """`--target` with its options, for commands that have a default."""
    return click.option(
        "--target",
        default=DEFAULT_TARGET,
        metavar="T[{option=value,…}]",
        shell_complete=complete_targets,
        help=f"Target.  [default: {DEFAULT_TARGET}]",
    )(function)


class SourceOptions(DiagnosticsOptions):
    """The options of `source_options`."""

    from_: str | None


def source_options(function: F) -> F:
    """`--from` and the options of diagnostics, for commands that read standard input as `-`."""
    return _from_option(
        "Format of the input; required for `-`, otherwise derived from the suffix."
    )(diagnostics_options(function))


def watched_file_option(function: F) -> F:
    """`--from` for commands that watch files, which excludes standard input."""
    return _from_option("Format of the input, otherwise derived from the suffix.")(function)


def _from_option(text: str) -> Callable[[F], F]:
    return click.option(
        "--from", "from_", metavar="FRONTEND", shell_complete=complete_frontends, help=text
    )


class ModelOptions(Options):
    """The options of `model_options`; `None` where one is not given."""

    model_url: str | None
    model_name: str | None
    temperature: float | None
    tokens: int | None
    cost: float | None
    timeout: float | None
    record: str | None
    replay: bool | None
    redact: str | None


def model_options(function: F) -> F:
    """The options of commands that may ask a language model."""
    for option in reversed(
        (
            click.option(
                "--model-url", metavar="URL",
                help="Address of the language model.  [default: ORGFLOW_MODEL_URL]",
            ),
            click.option(
                "--model", "model_name", metavar="NAME",
                help="Name of the language model.  [default: ORGFLOW_MODEL]",
            ),
            click.option(
                "--temperature", type=float, metavar="T", help="From 0 to 2.  [default: 0]"
            ),
            click.option(
                "--tokens", type=int, metavar="N",
                help="Limit of tokens for this run. [default: 50000]",
            ),
            click.option("--cost", type=float, metavar="C", help="Limit of the cost of this run."),
            click.option(
                "--timeout", type=float, metavar="SECONDS",
                help="Time limit for one call, in seconds. [default: 120]",
            ),
            click.option(
                "--record", metavar="DIR",
                help="Record every call in this folder and reuse recorded answers.",
            ),
            click.option(
                "--replay", is_flag=True, default=None,
                help="Send nothing: answer only from --record.",
            ),
            click.option(
                "--redact", type=click.Choice(("auto", "on", "off")),
                help="Replace personal data before it is sent.  [default: auto, unless local]",
            ),
        )
    ):  # fmt: skip
        function = option(function)
    return function


def prompt_option(function: F) -> F:
    """The option of commands that draft processes from texts."""
    from orgflow.agents.text.draft_options import PROMPTS  # most commands draft nothing

    option = click.option(
        "--prompt", type=click.Choice(PROMPTS), default=None,
        help="The request for a draft: an outline, graph lines as in version 0.2, or graph lines "
             "without any rule, for comparison.  [default: outline]",
    )  # fmt: skip
    return option(function)


_SETTINGS = {
    "model_url": "url", "model_name": "name", "temperature": "temperature", "tokens": "tokens",
    "cost": "cost", "timeout": "seconds", "record": "record", "replay": "replay",
    "redact": "redact",
}  # fmt: skip
"""The setting of a language model that each of `model_options` stands for."""


def model_settings(options: ModelOptions) -> dict[str, Any]:
    """The values of `model_options`, with the names of the settings."""
    return {setting: getattr(options, name) for name, setting in _SETTINGS.items()}


def model_settings_with(option: str, options: ModelOptions, *, used: bool) -> dict[str, Any]:
    """Like `model_settings`, for a command that asks a language model only if its own option
    requests it.

    Args:
        used: whether that option is set.

    Raises: click.UsageError: it is not set, but an option for the language model is.
    """
    names = [name for name in _SETTINGS if getattr(options, name) is not None]
    if names and not used:
        parameters = click.get_current_context().command.params
        flag = next(p.opts[0] for p in parameters if p.name in names)
        raise click.UsageError(f"{flag} requires {option}")
    return model_settings(options)
