"""``elastogen view``: show a robot in the browser, and draw it again whenever its file is saved."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from types import SimpleNamespace

import click

from elastogen.commands.shared.options import LOADING, TALKING, load, with_options


@click.command()
@LOADING
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="NUMBER", help="Port (default: a free one).")
@click.option("--browser/--no-browser", default=True, help="Open the page (default), or only print its address.")
@TALKING
@with_options
def command(options: SimpleNamespace) -> None:
    """Show a robot in the browser, with sliders for its joints; saving its file draws it again. Ctrl-C ends it."""
    from elastogen.build.pages.view import view_page
    from elastogen.build.pages.view_server import ViewServer
    from elastogen.generator.robot.errors import BuildError

    path = Path(options.robot)
    load(options)  # what is wrong at the start is said here
    try:
        server = ViewServer(lambda: view_page(load(options)), path if path.is_file() else None, options.port)
    except OSError as error:
        raise BuildError(f"--port {options.port}: {error.strerror or error}. Fix: leave it out for a free one.") from error
    with server:
        print(server.address, flush=True)
        if options.browser:
            webbrowser.open(server.address)
        server.serve_forever()
