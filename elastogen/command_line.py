"""The command line, ``elastogen COMMAND ...``: errors and exit codes are here, the commands in :mod:`elastogen.commands`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

import elastogen
from elastogen.commands import COMMANDS, MODULES
from elastogen.commands.shared.options import CommandError
from elastogen.runtime.interface.error import close_names, removed_directory

CUT_OFF, ERROR, INTERRUPTED = 1, 2, 130
"""Exit codes: broken pipe; an error that has a message; Ctrl-C. 0 is success."""


class Commands(click.Group):
    """The commands; each is imported when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, in the order in which they are used with a robot."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(MODULES[cmd_name]).command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve a name to a command; for a misspelt name the error suggests the closest one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = close_names(args[0], COMMANDS)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"no such command: {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one line for each command without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=Commands,
    epilog="Exit codes: 0 success; 1 broken pipe; 2 an error, reported in one message; 130 interrupted by Ctrl-C.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
@click.version_option(elastogen.__version__, message="elastogen %(version)s")
def group() -> None:
    """Fast, dependency-free C for robot dynamics, from a robot description."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    given = None if arguments is None else list(arguments)
    words = sys.argv[1:] if given is None else given
    if not words and "_ELASTOGEN_COMPLETE" not in os.environ:  # click before 8.2 called this a success
        with click.Context(group, info_name="elastogen") as context:
            print(group.get_help(context), file=sys.stderr)
        return ERROR
    try:
        code = group.main(given, prog_name="elastogen", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:  # wrong usage
        error.show()
        return ERROR
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except (CommandError, elastogen.ElastogenError) as error:
        return _fail(str(error))
    except BrokenPipeError:  # the reader of our output left, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CUT_OFF
    except OSError as error:
        return _fail(removed_directory() or (f"{error.filename}: {error.strerror}" if error.filename else str(error)))
    return code if isinstance(code, int) else 0


def _fail(message: str) -> int:
    print(f"elastogen: {message}", file=sys.stderr)
    return ERROR


if __name__ == "__main__":
    sys.exit(main())
