"""What the numbers were measured on: processor, compiler, versions; and the conditions of measuring."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import elastogen
from benchmarks.race.ours import toolchain
from benchmarks.race.peers import CPP_FLAGS

PACKAGES = ("pin", "casadi", "example-robot-data", "mujoco-mjx", "jax", "numpy", "cffi", "sympy")


def pin_to_one_core() -> str:
    """Keep this process on the last core it may use."""
    if not hasattr(os, "sched_setaffinity"):
        return "not pinned (this system cannot)"
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return f"pinned to core {core}"


@contextmanager
def on_cores(count: int) -> Iterator[None]:
    """Let this process and those it starts use so many cores, where the system can; afterwards those of before."""
    before = os.sched_getaffinity(0) if hasattr(os, "sched_setaffinity") else set()
    if before:
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-count:])
    try:
        yield
    finally:
        if before:
            os.sched_setaffinity(0, before)


def describe(pinning: str) -> list[str]:
    """Lines of Markdown."""
    compiler = toolchain()
    versions = [f"elastogen {elastogen.__version__}", f"Python {platform.python_version()}"]
    versions += [_version(package) for package in PACKAGES]
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    system = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}"
    return [
        f"- Machine: {_processor()}, {system}; {pinning}, load {load}",
        f"- Compiler: {compiler.version}",
        f"- Flags of a build: `{' '.join(compiler.flags)}`",
        f"- Flags of Pinocchio's C++: `{' '.join(CPP_FLAGS)}`, header-only, {_first_line(['c++', '--version'])}",
        f"- Versions: {', '.join(versions)}",
    ]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor() or "unknown processor"
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    words = {key.strip(): value.strip() for key, value in fields.items()}
    family = f" (family {words['cpu family']}, model {words['model']})" if "cpu family" in words else ""
    return words.get("model name", "unknown processor") + family


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} not installed"


def _first_line(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return "no C++ compiler"
    return done.stdout.partition("\n")[0]
