"""Calls of the compiler: one, whose failure is told in its own words, or several side by side that fail as one."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from pathlib import Path
from types import TracebackType

from elastogen.build.options import CompileOptions
from elastogen.generator.robot.errors import BuildError

LONGEST_REPORT = 4000  # characters of compiler output in a message


class Compilers:
    """Compilers that run side by side, one on each core that is free; whatever goes wrong ends all of them.

    Until :meth:`wait` is called this process has work of its own, and keeps a core for it.
    """

    def __init__(self, options: CompileOptions, name: str) -> None:
        self.options, self.name = options, name
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(cores)
        self._free = threading.Semaphore(max(1, cores - 1))
        self._calls: list[Future[None]] = []
        self._running: set[subprocess.Popen[str]] = set()
        self._lock, self._stopped = threading.Lock(), False

    def __enter__(self) -> Compilers:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        """End all compilers; when this returns, none of them writes any more."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                end(process)
        self._pool.shutdown(cancel_futures=True)

    def start(self, command: Sequence[str], directory: Path) -> None:
        """Call the compiler when a core is free; raises BuildError where an earlier call has failed."""
        if self.options.verbose:
            print(shlex.join(command), file=sys.stderr)
        for call in self._calls:
            if call.done():
                call.result()
        self._calls.append(self._pool.submit(self._run, list(command), directory))

    def wait(self) -> None:
        """Wait for all calls; raises the BuildError of the first that failed."""
        self._free.release()  # the core of this process
        done, _ = wait(self._calls, return_when=FIRST_EXCEPTION)
        for call in self._calls:
            if call in done:
                call.result()
        self._calls.clear()

    def _run(self, command: list[str], directory: Path) -> None:
        with self._free:
            with self._lock:
                if self._stopped:
                    return
                process = start(command, directory)
                self._running.add(process)
            try:
                finish(process, self.options.timeout, self.name)
            finally:
                with self._lock:
                    self._running.discard(process)


def run_compiler(command: list[str], directory: Path, timeout: float | None, name: str) -> None:
    """Run the compiler; on a timeout or an interrupt end it and the programs that it started."""
    finish(start(command, directory), timeout, name)


def start(command: list[str], directory: Path) -> subprocess.Popen[str]:
    """The compiler's process, in a session of its own."""
    try:
        return subprocess.Popen(
            command, cwd=directory, env={**os.environ, "LC_ALL": "C"}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise BuildError(f"the C compiler {command[0]!r} could not be started ({error}).") from error


def end(process: subprocess.Popen[str]) -> None:
    """End a compiler and the programs that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def finish(process: subprocess.Popen[str], timeout: float | None, name: str) -> None:
    """Wait for a compiler, and tell how it failed."""
    try:
        output, errors = process.communicate(timeout=timeout)
    except BaseException as interruption:
        end(process)
        process.communicate()
        if not isinstance(interruption, subprocess.TimeoutExpired):
            raise
        raise BuildError(
            f"compiling {name} took longer than timeout={timeout} s and was stopped. "
            "Fix: allow more time, or ask for fewer outputs."
        ) from interruption
    if process.returncode == 0:
        return
    words = (errors or output).strip()
    if len(words) > LONGEST_REPORT:
        words = words[:LONGEST_REPORT] + "\n..."
    ending = _ending(process.returncode, words)
    command = process.args if isinstance(process.args, list) else [str(process.args)]
    raise BuildError(f"compiling {name} failed: {ending}\n{shlex.join(map(str, command))}\n{words}".rstrip())


def _ending(code: int, words: str) -> str:
    """How the compiler ended; the driver reports the signal that killed its child in words."""
    reported = re.search(r"(\w+) signal terminated program|internal compiler error: (Killed|Segmentation fault)", words)
    if code >= 0 and not reported:
        return f"the compiler returned {code}."
    name = signal.Signals(-code).name if code < 0 or not reported else reported.group(1) or reported.group(2)
    return f"the compiler was killed by a signal ({name}), often for want of memory."
