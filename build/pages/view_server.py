"""A page on the loopback interface that is made again whenever a file is saved.

Only this machine reaches it, by an address with a random token, so that other users and pages of other origins cannot ask for
it; requests for other host names are refused, as a foreign name that leads here must not read it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock

from elastogen.build.pages.page_text import MARK
from elastogen.runtime.interface.error import ElastogenError

HOST = "127.0.0.1"
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; media-src blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
RELOAD = """<script>
{ const look = () => fetch("version").then((answer) => (answer.ok ? answer.text() : Promise.reject())).then((version) => {
    if (version === "%s") setTimeout(look, 500); else location.reload(); }).catch(() => setTimeout(look, 2000)); look(); }
</script>
"""


class ViewServer(ThreadingHTTPServer):
    """Serves what ``make`` returns, again when ``watched`` changes; ``port`` 0 takes a free one."""

    daemon_threads = True

    def __init__(self, make: Callable[[], str], watched: Path | None, port: int = 0) -> None:
        super().__init__((HOST, port), _Handler)
        self.make, self.watched, self.token = make, watched, secrets.token_urlsafe(24)
        self._lock, self._made, self._page = Lock(), "", ""

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{HOST}:{self.server_port}/{self.token}/"

    def version(self) -> str:
        """What changes when the file is saved; a file that is being replaced is missing for a moment."""
        try:
            found = None if self.watched is None else self.watched.stat()
        except OSError:
            return self._made
        return "0" if found is None else f"{found.st_mtime_ns}-{found.st_size}"

    def page(self) -> str:
        """The page as the file is now; an error in the file is a page that says so."""
        with self._lock:
            version = self.version()
            if version != self._made:
                try:
                    page = self.make()
                except ElastogenError as error:
                    page = _error(str(error))
                self._made, self._page = version, page.replace("</body>", RELOAD % version + "</body>")
            return self._page


def _error(message: str) -> str:
    style = "font: 15px/1.5 system-ui, sans-serif; margin: 2em; max-width: 80ch; white-space: pre-wrap"
    head = f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8">{MARK}<title>error</title></head>\n'
    words = f'<h1>The robot cannot be shown</h1>\n<p role="alert">{escape(message)}</p>'
    return f'{head}<body style="{style}">{words}\n</body>\n</html>\n'


class _Handler(BaseHTTPRequestHandler):
    server: ViewServer

    def do_GET(self) -> None:
        """Answer with the page or its version."""
        server, (first, slash, rest) = self.server, self.path.removeprefix("/").partition("/")
        local = self.headers.get("Host") in (f"{HOST}:{server.server_port}", f"localhost:{server.server_port}")
        known = secrets.compare_digest(first.encode(), server.token.encode())
        if not (local and known and slash and rest in ("", "version")):
            self.send_error(404)
            return
        text, kind = (server.version(), "text/plain") if rest else (server.page(), "text/html")
        data = text.encode()
        self.send_response(200)
        for name, value in (
            ("Content-Type", f"{kind}; charset=utf-8"), ("Content-Length", str(len(data))), ("Cache-Control", "no-store"),
            ("Content-Security-Policy", POLICY), ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
        ):  # fmt: skip
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the address has the token."""
