"""Asks a process of its own (:mod:`.process`) to read a description, and waits for its answer within limits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elastogen.generator.robot.location import Location

PATIENCE = 120  # seconds until a process that does not end is ended: the machine may be busy


@dataclass(frozen=True)
class Limits:
    """What the process may use."""

    seconds: int = 30  # of processor time; what a file needs is below 1 s
    memory: int = 1 << 30  # bytes


def ask(task: str, request: Mapping[str, Any], limits: Limits, keys: Set[str], where: Location) -> dict[str, Any]:
    """Return the answer of a task (a module beside this one): a mapping with ``keys``, or with ``error``.

    Raises :class:`RobotError` where the process ends without one: a limit was reached, or the tool in it crashed.
    """
    here = Path(__file__).parent
    whole = {
        **request, "task": task, "here": str(here), "seconds": limits.seconds, "memory": limits.memory,
        "modules": [os.path.abspath(entry) for entry in sys.path if entry and os.path.exists(entry)],
    }  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="elastogen-") as nowhere, subprocess.Popen(
        [sys.executable, "-I", str(here / "process.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, start_new_session=True, cwd=nowhere, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    ) as process:  # fmt: skip
        try:
            out, _ = process.communicate(json.dumps(whole).encode(), timeout=PATIENCE)
        except BaseException as problem:  # also the user's Ctrl-C: the process does not outlive its purpose
            _end(process)
            if not isinstance(problem, subprocess.TimeoutExpired):
                raise
            out = b""
    try:
        answer = json.loads(out)
        if not isinstance(answer, dict) or not ("error" in answer or keys <= answer.keys()):
            raise ValueError(answer)
    except (ValueError, RecursionError):
        allowed = f"{limits.seconds} s of processor time, {PATIENCE} s in all, {limits.memory >> 20} MiB"
        given = f"a process that ended with {process.returncode} and without a result"
        raise where.error(given, f"a description that is read within {allowed}", "make it smaller") from None
    return answer


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (AttributeError, OSError):  # no process groups here, or it is gone
        process.kill()
