"""``elastogen completion``: print a script with which a shell completes commands, options and built-in robots."""

from __future__ import annotations

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from elastogen.commands.shared.options import QUICK

SHELLS: dict[str, type[ShellComplete]] = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}


HOW = """\b
bash: eval "$(elastogen completion bash)" in ~/.bashrc
zsh:  eval "$(elastogen completion zsh)" in ~/.zshrc
fish: elastogen completion fish > ~/.config/fish/completions/elastogen.fish
"""


@click.command(epilog=HOW)
@QUICK
@click.argument("shell", type=click.Choice(list(SHELLS)))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print a script that completes commands, options and built-in robots."""
    print(SHELLS[shell](ctx.find_root().command, {}, "elastogen", "_ELASTOGEN_COMPLETE").source())
