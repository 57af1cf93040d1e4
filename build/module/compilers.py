"""Calls of the compiler: a single one, whose messages are in the error, or several at once that fail together."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from elastogen.build.options import CompileOptions
from elastogen.generator.robot.errors import BuildError

LONGEST_REPORT = 4000  # characters of compiler output in a message
# Becomes the compiler. Beside it waits a guard that ends the whole process group as soon as nobody holds the other end of the
# input any more: this process is done with the compiler, or was killed.
_GUARD = 'exec 3<&0; { read -r _; kill -KILL 0; } <&3 >/dev/null 2>&1 & exec "$@" </dev/null 3<&-'


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
        self._running: set[Compiler] = set()
        self._lock, self._stopped = threading.Lock(), False

    def __enter__(self) -> Compilers:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        """End all compilers; afterwards none of them writes any more."""
        with self._lock:
            self._stopped = True
            for compiler in self._running:
                end(compiler)
        self._pool.shutdown(cancel_futures=True)

    def start(self, command: Sequence[str], directory: Path) -> None:
        """Call the compiler when a core is free; raise BuildError if an earlier call has failed."""
        if self.options.verbose:
            print(shlex.join(command), file=sys.stderr)
        for call in self._calls:
            if call.done():
                call.result()
        self._calls.append(self._pool.submit(self._run, list(command), directory))

    def wait(self) -> None:
        """Wait for all calls; raise the BuildError of the first that failed."""
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
                compiler = start(command, directory)
                self._running.add(compiler)
            try:
                finish(compiler, self.options.timeout, self.name)
            finally:
                with self._lock:
                    self._running.discard(compiler)


def run_compiler(command: list[str], directory: Path, timeout: float | None, name: str) -> None:
    """Run the compiler; on a timeout or an interrupt end it and the programs that it started."""
    finish(start(command, directory), timeout, name)


@dataclass(eq=False)
class Compiler:
    """A running compiler with its programs in one process group, which ends with this process."""

    process: subprocess.Popen[str]
    command: list[str]
    alive: int | None  # a pipe's end that nobody writes into: it is closed when this process ends, however that happens


def start(command: list[str], directory: Path | None) -> Compiler:
    """Start the compiler in a session of its own, supervised by a guard; None: in the working directory."""
    shell = shutil.which("sh") if os.name == "posix" else None
    watched, alive = os.pipe() if shell else (subprocess.DEVNULL, None)
    guarded = [shell, "-c", _GUARD, "sh", *command] if shell else command
    try:
        if not shutil.which(command[0], path=os.environ.get("PATH")):
            raise FileNotFoundError(2, "No such file or directory")
        process = subprocess.Popen(
            guarded, cwd=directory, env={**os.environ, "LC_ALL": "C"}, stdin=watched,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        if alive is not None:
            os.close(alive)
        raise BuildError(f"the C compiler {command[0]!r} could not be started ({error}).") from error
    finally:
        if shell:
            os.close(watched)
    return Compiler(process, command, alive)


def end(compiler: Compiler) -> None:
    """End a compiler and the programs that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(compiler.process.pid, signal.SIGKILL)


def answer(compiler: Compiler, timeout: float | None) -> tuple[str, str]:
    """Wait for what a compiler prints; whatever goes wrong meanwhile ends it with the programs that it started."""
    try:
        return compiler.process.communicate(timeout=timeout)
    except BaseException:
        end(compiler)
        compiler.process.communicate()
        raise
    finally:
        if compiler.alive is not None:
            os.close(compiler.alive)


def finish(compiler: Compiler, timeout: float | None, name: str) -> None:
    """Wait for a compiler and report how it failed."""
    process = compiler.process
    try:
        output, errors = answer(compiler, timeout)
    except subprocess.TimeoutExpired as interruption:
        raise BuildError(
            f"compiling {name} took longer than timeout={timeout:g} s and was stopped. "
            "Fix: allow more time, or ask for fewer outputs."
        ) from interruption
    if process.returncode == 0:
        return
    words = (errors or output).strip()
    if len(words) > LONGEST_REPORT:
        words = words[:LONGEST_REPORT] + "\n..."
    ending = _ending(process.returncode, words)
    raise BuildError(f"compiling {name} failed: {ending}\n{shlex.join(compiler.command)}\n{words}".rstrip())


def _ending(code: int, words: str) -> str:
    """Describe how the compiler ended; its driver names the signal that killed a child."""
    reported = re.search(r"(\w+) signal terminated program|internal compiler error: (Killed|Segmentation fault)", words)
    if code >= 0 and not reported:
        return f"the compiler returned {code}."
    name = signal.Signals(-code).name if code < 0 or not reported else reported.group(1) or reported.group(2)
    return f"the compiler was killed by a signal ({name}), often for want of memory."
