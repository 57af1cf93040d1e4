"""A plugin for pytest: the collected tests once for every mutant, each in a process of its own, up to the first failure.

The tests are collected once. A mutant meets those tests first that noticed others of its file, then the fast ones. Here all
mutants are in one build (``schemata``), which they share; in ``in_place`` each changes its file in turn.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from _pytest.main import pytest_runtestloop as run_all

PATIENCE = 10.0  # a run that takes so many times as long as the one without a mutant counts as noticed: the mutant hangs
FIRST = 6  # tests that noticed others of the file
WORKERS = 2


@dataclass
class _Child:
    """A process that runs the tests with one mutant."""

    number: int
    pid: int
    pipe: int
    began: float = field(default_factory=time.monotonic)
    said: bytes = b""


class Mutants:
    """Runs the tests for every mutant that a JSON file names, and appends what was found, one line each, to another."""

    workers = WORKERS

    def __init__(self, wanted: Path, found: Path) -> None:
        self._files: dict[int, str] = {int(number): path for number, path in json.loads(wanted.read_text()).items()}
        self._found = found
        self._noticed: dict[str, Counter[str]] = {}
        self._seconds: dict[str, float] = {}
        self._failed = ""
        self._patience = math.inf

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of pytest's own loop."""
        base = session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]  # one for all processes
        self.share(session, Path(base))
        for child in self._run(session, [-1], 1):
            if child.said:
                raise pytest.UsageError(f"the tests fail without a mutant: {child.said.decode()}")
            self._patience = PATIENCE * (time.monotonic() - child.began)
        self._seconds = json.loads(self._found.with_suffix(".seconds").read_text())
        for child in self._run(session, list(self._files), self.workers):
            by, path = child.said.decode(), self._files[child.number]
            if by:
                self._noticed.setdefault(path, Counter())[by] += 1
            with self._found.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps([child.number, by, round(time.monotonic() - child.began, 1)]) + "\n")
        return True

    def share(self, session: pytest.Session, base: Path) -> None:
        """Make once what the processes of all mutants can share: the stand-alone program of the loop's tests."""
        folder = base / "shared-checks"
        folder.mkdir()
        for plugin in [plugin for plugin in session.config.pluginmanager.get_plugins() if hasattr(plugin, "make_checks")]:
            plugin.make_checks(folder)
            plugin.make_checks = lambda _: folder

    def begin(self, number: int) -> None:
        """Prepare the tree, before the mutant's process starts."""

    def become(self, session: pytest.Session, number: int) -> None:
        """Choose the mutant, in its process."""
        os.environ["ELASTOGEN_MUTANT"] = str(number)

    def end(self, number: int) -> None:
        """Tidy up, after its process has ended."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """The first test that fails, and how long each takes."""
        if report.failed and not self._failed:
            self._failed = report.nodeid
        if report.when == "call":
            self._seconds[report.nodeid] = report.duration

    def _run(self, session: pytest.Session, numbers: Sequence[int], workers: int) -> Iterator[_Child]:
        """The processes that ended, in the order in which they did."""
        waiting, running = list(reversed(numbers)), list[_Child]()
        while waiting or running:
            while waiting and len(running) < workers:
                running.append(self._start(session, waiting.pop()))
            ready, _, _ = select.select([child.pipe for child in running], [], [], 1.0)
            for child in list(running):
                over = time.monotonic() - child.began > self._patience
                if over:
                    child.said = b"too slow"
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(child.pid, signal.SIGKILL)
                piece = os.read(child.pipe, 4096) if child.pipe in ready else None
                child.said += piece or b""
                if over or piece == b"":
                    running.remove(child)
                    os.close(child.pipe)
                    _, status = os.waitpid(child.pid, 0)
                    if child.number >= 0:
                        self.end(child.number)
                    child.said = child.said or (b"" if os.waitstatus_to_exitcode(status) == 0 else b"crash")
                    yield child

    def _start(self, session: pytest.Session, number: int) -> _Child:
        if number >= 0:
            self.begin(number)
        reading, writing = os.pipe()
        pid = os.fork()
        if pid:
            os.close(writing)
            return _Child(number, pid, reading)
        os.close(reading)
        self._be_child(session, number, lambda text: os.write(writing, text.encode()))
        os._exit(0)

    def _be_child(self, session: pytest.Session, number: int, say: Callable[[str], object]) -> None:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        if number >= 0:
            self.become(session, number)
            first = [name for name, _ in self._noticed.get(self._files[number], Counter()).most_common(FIRST)]
            session.items.sort(key=lambda item: self._seconds.get(item.nodeid, 0.0))
            session.items.sort(key=lambda item: first.index(item.nodeid) if item.nodeid in first else FIRST)
        try:
            run_all(session)
        except (session.Failed, session.Interrupted):
            pass
        except BaseException as error:
            self._failed = self._failed or f"{type(error).__name__}"
        if number < 0:
            self._found.with_suffix(".seconds").write_text(json.dumps(self._seconds), encoding="utf-8")
        if self._failed:
            say(self._failed)


def pytest_configure(config: pytest.Config) -> None:
    """Named by the environment: which mutants, and where to write what was found."""
    config.pluginmanager.register(Mutants(*named_files()), "all-mutants")


def named_files() -> tuple[Path, Path]:
    """Of the mutants, and of what is found."""
    return Path(os.environ["ELASTOGEN_MUTANTS"]), Path(os.environ["ELASTOGEN_MUTANTS_FOUND"])
