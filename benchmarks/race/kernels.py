"""Timed functions behind one C signature, loaded with ctypes, checked against each other and timed side by side.

A kernel evaluates n states:
``void f(void *context, size_t n, const double *const *in, double *const *out, size_t keep)``.
With keep = 1 the results of state k are stored at k, with keep = 0 (while timing) all at the start, in cache.
"""

from __future__ import annotations

import ctypes
import hashlib
import statistics
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
STATES = 64
TOLERANCE = 1e-10
FUNCTIONS = {  # name -> input vectors, output size as a power of the number of joints
    "inverse_dynamics": (("q", "qd", "qdd"), 1),
    "mass_matrix": (("q",), 2),
    "forward_dynamics": (("q", "qd", "F"), 1),
    "coriolis_matrix": (("q", "qd"), 2),
}
DERIVATIVES = {  # the same of functions with three matrices, one after another
    "inverse_dynamics_derivatives": (("q", "qd", "qdd"), 2),
    "forward_dynamics_derivatives": (("q", "qd", "F"), 2),
}
SIGNATURES = FUNCTIONS | DERIVATIVES


def output_size(name: str, size: int) -> int:
    """How many numbers a function of a robot with so many joints gives."""
    return int((3 if name in DERIVATIVES else 1) * size ** SIGNATURES[name][1])


@dataclass(frozen=True)
class Times:
    """CPU time of one evaluation [s]."""

    shortest: float
    median: float


@dataclass
class Kernel:
    """A function to time; ``library`` is kept alive with it."""

    label: str
    address: int
    library: ctypes.CDLL
    context: int | None = None
    samples: list[float] = field(default_factory=list)

    @property
    def times(self) -> Times:
        """Shortest and median time of the samples so far."""
        return Times(min(self.samples), statistics.median(self.samples))

    def paired_ratio(self, other: Kernel) -> float:
        """Median over the rounds of this kernel's time by the other's in the same round.

        The shortest time alone can mislead: on a shared machine the clock of CPU time now and then counts too
        little, and a wrong sample would be the one that is kept.
        """
        return statistics.median(a / b for a, b in zip(self.samples, other.samples, strict=True))


def run_command(command: Sequence[str], folder: Path) -> None:
    """Run a compiler; its words are in the error."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} returned {done.returncode}:\n{done.stderr[-2000:]}")


def shared_library(
    work: Path, name: str, sources: dict[str, str], command: Sequence[str], libraries: Sequence[str] = ()
) -> Path:
    """Compile sources into a shared library, unless the same was compiled before."""
    key = hashlib.sha256(repr((sorted(sources.items()), list(command), list(libraries))).encode()).hexdigest()[:16]
    folder = work / f"{name}-{key}"
    library = folder / "kernel.so"
    if library.is_file():
        return library
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in sources.items():
        (folder / file).write_text(text, encoding="utf-8")
    units = [file for file in sources if file.endswith((".c", ".cpp"))]
    shared = ("-fPIC", "-shared", "-Wl,-Bsymbolic")
    run_command([*command, *shared, *units, "-o", "unfinished.so", *libraries, "-lm"], folder)
    (folder / "unfinished.so").rename(library)
    return library


def adapter(name: str, size: int, call: str, positions: int = 0) -> str:
    """C text of ``kernel_<name>`` around a ``call`` with pointers: x0, x1, ... to a state's inputs, y to its output.

    ``positions`` is how many numbers q has where that is not ``size``.
    """
    inputs, _ = SIGNATURES[name]
    strides = [positions or size, *[size] * (len(inputs) - 1)]
    reads = "".join(f"        const double *const x{k} = in[{k}] + k * {stride};\n" for k, stride in enumerate(strides))
    return (
        f"void kernel_{name}(void *context, size_t n, const double *const *in, double *const *out, size_t keep)\n{{\n"
        "    (void)context;\n    for (size_t k = 0; k < n; ++k) {\n"
        f"{reads}        double *const y = out[0] + keep * k * {output_size(name, size)};\n        {call}\n    }}\n}}\n"
    )


def load_kernel(label: str, library: Path, name: str, context: int | None = None) -> Kernel:
    """The kernel of a function in a compiled library."""
    loaded = ctypes.CDLL(str(library))
    address = ctypes.cast(getattr(loaded, f"kernel_{name}"), ctypes.c_void_p).value
    assert address is not None
    return Kernel(label, address, loaded, context)


class Race:
    """Kernels of one function on the same random states: results compared, then timed in turn."""

    def __init__(self, name: str, size: int, work: Path, positions: int = 0) -> None:
        inputs, _ = SIGNATURES[name]
        rng = np.random.default_rng(2)
        self.name, self.inputs = name, [rng.uniform(-1.0, 1.0, (STATES, size)) for _ in inputs]
        self.inputs[0] *= np.pi
        if positions:  # a free base: position, unit quaternion, joints
            q = self.inputs[0] = rng.uniform(-1.0, 1.0, (STATES, positions))
            q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
        self.output = np.zeros((STATES, output_size(name, size)))
        clock = shared_library(work, "clock", {"clock.c": (HERE / "clock.c").read_text()}, ["cc", "-O2", "-std=c99"])
        self._clock = ctypes.CDLL(str(clock)).seconds_per_call
        self._clock.restype = ctypes.c_double
        self._in = (ctypes.c_void_p * len(self.inputs))(*(x.ctypes.data for x in self.inputs))
        self._out = (ctypes.c_void_p * 1)(self.output.ctypes.data)
        self.kernels: list[Kernel] = []

    def add(self, kernel: Kernel) -> Kernel:
        """Take part, if the results are those of the first kernel."""
        result = self.results(kernel)
        if self.kernels:
            reference = self.results(self.kernels[0])
            error = float(np.max(np.abs(result - reference)) / np.max(np.abs(reference)))
            if not error < TOLERANCE:
                first = self.kernels[0].label
                raise ArithmeticError(f"{self.name}: {kernel.label} differs from {first} by {error:.1e}")
        self.kernels.append(kernel)
        return kernel

    def results(self, kernel: Kernel) -> NDArray[Any]:
        """The results for all states."""
        prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
        self.output[:] = np.nan
        prototype(kernel.address)(kernel.context, STATES, self._in, self._out, 1)
        results: NDArray[Any] = self.output.copy()
        return results

    def run(self, rounds: int, block: float = 2e-4) -> None:
        """Time every kernel once a round, in blocks of about that many seconds."""
        repeats = {id(kernel): self._repeats(kernel, block) for kernel in self.kernels}
        for _ in range(rounds):
            for kernel in self.kernels:
                kernel.samples.append(self._measure(kernel, repeats[id(kernel)]))

    def _repeats(self, kernel: Kernel, block: float) -> int:
        once = min(self._measure(kernel, 2) for _ in range(5))
        return max(1, round(block / (once * STATES)))

    def _measure(self, kernel: Kernel, repeats: int) -> float:
        seconds: float = self._clock(
            ctypes.c_void_p(kernel.address), ctypes.c_void_p(kernel.context), ctypes.c_size_t(STATES),
            self._in, self._out, ctypes.c_size_t(repeats),
        )  # fmt: skip
        return seconds
