"""`orgflowc completion`: the line that makes a shell complete commands, options and names."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class
from orgflow.commands.output import write_stdout
from orgflow.compilation.usage_errors import suggest_name

SHELLS = {
    "bash": 'put  eval "$(orgflowc completion bash)"  into ~/.bashrc (bash 4.4 or newer)',
    "zsh": 'put  eval "$(orgflowc completion zsh)"  into ~/.zshrc, after compinit',
    "fish": "put  orgflowc completion fish | source  into ~/.config/fish/config.fish",
}
"""The command that loads it, for each shell."""


@click.command("completion", short_help="Print the completion script for a shell.")
@click.argument(
    "shell",
    metavar="|".join(SHELLS),
    shell_complete=lambda _ctx, _param, begun: [s for s in SHELLS if s.startswith(begun)],
)
def command(shell: str) -> None:
    """Print the completion script of SHELL: commands, options, targets, formats, rules, files.

    \b
    bash:  put  eval "$(orgflowc completion bash)"  into ~/.bashrc
    zsh:   put  eval "$(orgflowc completion zsh)"  into ~/.zshrc, after compinit
    fish:  put  orgflowc completion fish | source  into ~/.config/fish/config.fish
    """
    if shell not in SHELLS:
        raise click.UsageError(f"no shell `{shell}`; {suggest_name(shell, tuple(SHELLS))}")

    completion = get_completion_class(shell)
    assert completion is not None
    root = click.get_current_context().find_root()
    # `source` would first start a bash to ask for its version, which is the user's matter
    maker = completion(root.command, {}, "orgflowc", "_ORGFLOWC_COMPLETE")
    write_stdout(f"# {SHELLS[shell]}\n{maker.source_template % maker.source_vars()}\n")
