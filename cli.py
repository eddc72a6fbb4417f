"""The command line: one group whose commands are loaded on first use."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from orgflow.commands.startup import quick_start

from orgflow_ir.lazy_modules import LazyModule

quick_start()  # before the imports, which create most objects

import click  # noqa: E402
from orgflow.backends import DEFAULT_TARGET  # noqa: E402
from orgflow.commands.streams import discard_output, survive_closed_pipes  # noqa: E402

if TYPE_CHECKING:
    import difflib
    import traceback

    from orgflow.commands import version

    from orgflow_ir import plugins
    from orgflow_ir.pipeline import crashes
else:  # after a mistake or a crash, and for --version
    difflib = LazyModule("difflib")
    version = LazyModule("orgflow.commands.version")
    crashes = LazyModule("orgflow_ir.pipeline.crashes")
    plugins = LazyModule("orgflow_ir.plugins")
    traceback = LazyModule("traceback")

_COMMANDS: dict[str, str] = {
    "compile": "Compile a model into a workflow of the target.",
    "check": "Find faults in models.",
    "model": "Draft a process from a text.",
    "fill": "Fill open tasks with operations of the target.",
    "fmt": "Write files in the canonical form of their notation.",
    "lsp": "Show findings and fixes in an editor.",
    "explain": "Explain a diagnostic code, with an example and a fix.",
    "opt": "Run passes on a model and print the resulting model.",
    "list": "List frontends, backends, passes, agents, rules or constructs.",
    "trace": "Print the runs of a model, one per line.",
    "verify": "Prove that a workflow behaves like its model, or show where it differs.",
    "diff": "Show the changes between two versions, behaviour first.",
    "deploy": f"Put workflows on an {DEFAULT_TARGET} server and publish them.",
    "serve": f"Deploy models to {DEFAULT_TARGET} on this machine at every save.",
    "watch": "Show a model and its workflow on a page that follows every save.",
    "undeploy": "Remove deployed workflows.",
    "tasks": "List the open user tasks on a server.",
    "instances": "Show where each open process instance stands.",
    "heal": "Let interrupted work go on; report work that does not.",
    "cancel": "End a process instance.",
    "run": "Run a model on the target's engine and compare the result with the model.",
    "engine": "Install the local engine; start and stop a server on this machine.",
    "eval": "Measure the compiler on a suite of models.",
    "ingest": "Read mail, chats and call transcripts into a store.",
    "discover": "Find processes in the messages of a store.",
    "synth": "Generate messages and their expected results from models.",
    "new": "Create a package with a backend, a frontend, a pass or an agent.",
    "completion": "Print the completion script for a shell.",
}
"""Every command with its line of help, listed here so that `--help` imports none of them."""

OK, MISUSE, INTERRUPTED = 0, 2, 130
"""Exit codes; 1 (errors in a model) and 3 (a server failed) belong to the commands."""


class LazyGroup(click.Group):
    """A group that imports `orgflow.commands.NAME` only when NAME is invoked."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = import_module(f"orgflow.commands.{cmd_name}")
        command: click.Command = module.command
        _find_short_options_first(command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], _COMMANDS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(_COMMANDS)}"
            raise click.UsageError(f"no such command {args[0]!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        result = super().invoke(ctx)
        if sys.stdout is not None:
            sys.stdout.flush()
        return result


def _find_short_options_first(command: click.Command) -> None:
    """Let click find `-o` at its first look-up, which is for long options. Where that fails it
    imports `difflib` for a hint that nobody sees, 1 ms of every start with such an option. A
    command that was looked up before is left as it is."""
    if "make_parser" in vars(command):
        return
    build_parser = command.make_parser

    def make_parser(ctx: click.Context) -> Any:
        parser = build_parser(ctx)
        long, short = getattr(parser, "_long_opt", None), getattr(parser, "_short_opt", None)
        if isinstance(long, dict) and isinstance(short, dict):
            long.update({name: option for name, option in short.items() if name not in long})
        return parser

    command.make_parser = make_parser  # type: ignore[method-assign]


def _show_version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return

    click.echo(version.version_text())
    ctx.exit()


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 no errors, 1 the model has errors or a run differs, 2 usage error or "
    "internal error, 3 a server failed, 130 interrupted.",
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_version,
    help="Show the version and the plugins, and exit.",
)
def orgflowc() -> None:
    """Compile the processes of an organisation into automation that runs."""


def run(args: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code. Raises nothing: faults become one line on
    standard error (with a traceback where ORGFLOW_DEBUG=1)."""
    try:
        code = orgflowc.main(
            args=None if args is None else list(args), prog_name="orgflowc", standalone_mode=False
        )
    except (click.Abort, KeyboardInterrupt):
        click.echo("orgflowc: interrupted", err=True)
        return INTERRUPTED
    except click.UsageError as error:
        _report_usage(error)
        return MISUSE
    except click.ClickException as error:
        click.echo(f"orgflowc: {error.format_message()}", err=True)
        return error.exit_code
    except OSError as error:
        discard_output(1)  # the interpreter's last flush of what could not be written
        where = f"{error.filename}: " if error.filename is not None else ""
        click.echo(f"orgflowc: {where}{error.strerror or error}", err=True)
        return MISUSE
    except MemoryError:
        click.echo("orgflowc: out of memory", err=True)
        return MISUSE
    except Exception as error:  # noqa: BLE001  # the last resort: a line, not a traceback
        return _report_crash(error)
    return code if isinstance(code, int) else OK


def _report_usage(error: click.UsageError) -> None:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return
    command = error.ctx.command_path if error.ctx is not None else "orgflowc"
    message = error.format_message()
    click.echo(f"{command}: {message[:1].lower()}{message[1:].removesuffix('.')}", err=True)


def _report_crash(error: Exception) -> int:
    if os.environ.get("ORGFLOW_DEBUG") == "1":
        traceback.print_exception(error)

    message = " ".join(str(error).split()) or "no message"
    plugin = plugins.outside_culprit(error)
    what = "internal error" if plugin is None else f"the plugin `{plugin}` failed"
    file, element = crashes.crash_file(error), crashes.crash_element(error)
    what = f"{file}: {what}" if file else what
    what += f" at `{element.label}`" if element is not None else ""
    click.echo(
        f"orgflowc: {what}: {type(error).__name__}: {message} (ORGFLOW_DEBUG=1 shows where)",
        err=True,
    )
    return MISUSE


class Ended(BaseException):
    """SIGTERM or SIGHUP; open resources are closed before the process ends."""

    ends_process = True
    """Guards against faults of plugins do not catch it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _raise_ended(number: int, _frame: FrameType | None) -> NoReturn:
    raise Ended(number)


def main() -> NoReturn:
    """Entry point of `orgflowc`."""
    for number in (signal.SIGTERM, signal.SIGHUP) if os.name == "posix" else ():
        if signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores one of them
            signal.signal(number, _raise_ended)
    survive_closed_pipes()
    try:
        code = run()
    except Ended as ended:  # by the signal, so that whoever waits sees what it was
        signal.signal(ended.number, signal.SIG_DFL)
        os.kill(os.getpid(), ended.number)
        code = MISUSE
    gc.freeze()  # the process ends: looking through all objects once more would free nothing
    sys.exit(code)


if __name__ == "__main__":
    main()
