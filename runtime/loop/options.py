"""What a loop is asked for, checked: its rate, its controller, its plant, the tables that it follows."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime import real_numbers
from elastogen.runtime.choices import flag, one_of
from elastogen.runtime.errors import ModelError, suggestion
from elastogen.runtime.interface.error import shortened
from elastogen.runtime.loop import checks
from elastogen.runtime.loop.controllers import BY_NAME, Controller
from elastogen.runtime.loop.plants import Callbacks, Plant, Simulated
from elastogen.runtime.loop.positions import unit_positions
from elastogen.runtime.model.model import Model
from elastogen.runtime.motion.shaping import Shaper

HIGHEST_RATE = 50_000.0  # [Hz]
POLICIES = {"skip": "SKIP", "catch_up": "CATCH_UP", "stop": "STOP"}
MOST_RECORDS = 1 << 24  # of a telemetry ring
LONGEST_MEMORY = 3600.0  # of a shaper [s]
LONGEST_MOVE = 1e6  # [s]; its powers must fit into single precision
MOST_CYCLES = (1 << 63) - 1


def period_fraction(rate: object) -> tuple[int, int]:
    """The period of a rate in nanoseconds, as a fraction."""
    expected = f"1 to {HIGHEST_RATE:g} Hz"
    if isinstance(rate, Fraction):
        rate = float(rate)
    value = checks.number("loop: rate", rate, 1.0, HIGHEST_RATE, expected)
    period = 1_000_000_000 / Fraction(value).limit_denominator(1000)
    return period.numerator, period.denominator


def run_options(
    constants: Mapping[str, int], period: float, on_overrun: object, free_running: object, fifo: object, cpu: object,
    lock_memory: object, spin: object,
) -> dict[str, int]:  # fmt: skip
    """Fields of the thread's options struct."""
    policy = one_of("loop: on_overrun", on_overrun, POLICIES)
    expected = "True, False or a priority from 1 to 99"
    priority = (80 if fifo else 0) if isinstance(fifo, bool) else checks.whole("loop: fifo", fifo, 0, 99, expected)
    less = f"seconds from 0, less than the period {period:g} s"
    busy = checks.number("loop: spin", spin, 0.0, float(np.nextafter(period, 0.0)), less)
    return {
        "on_overrun": constants[POLICIES[policy]],
        "free_running": int(flag("loop: free_running", free_running)),
        "priority": priority,
        "cpu": -1 if cpu is None else checks.whole("loop: cpu", cpu, 0, 1 << 20, "None or the number of a processor"),
        "lock_memory": int(priority > 0 if lock_memory is None else flag("loop: lock_memory", lock_memory)),
        "spin_ns": round(busy * 1e9),
    }


def ring_capacity(telemetry: object) -> int:
    """Slots of the telemetry ring: the next power of two; 0: none."""
    wanted = checks.whole("loop: telemetry", telemetry, 0, MOST_RECORDS, f"a number of records from 0 to {MOST_RECORDS}")
    return 1 << (wanted - 1).bit_length() if wanted else 0


def delay_rows(shaper: object, shaper_memory: object, rate: float) -> int:
    """Rows of the shaper's memory, one for each period that it reaches back; 0: none."""
    if shaper is not None:
        checks.instance("loop: shaper", shaper, Shaper, "None or a Shaper, for example shaping.zv(frequency)")
    expected = f"None or seconds from 0 to {LONGEST_MEMORY:g}"
    memory = (
        0.0 if shaper_memory is None else checks.number("loop: shaper_memory", shaper_memory, 0.0, LONGEST_MEMORY, expected)
    )
    if isinstance(shaper, Shaper):
        memory = max(memory, checks.number("loop: shaper", shaper.duration, 0.0, LONGEST_MEMORY, "one that is shorter"))
    return int(np.ceil(memory * rate)) + 2 if memory > 0.0 else 0


def run_length(seconds: object, cycles: object, rate: float) -> tuple[int, int]:
    """Periods and cycles after which a run ends; 0: no end by itself."""
    periods = 0
    if seconds is not None:
        longest = MOST_CYCLES / rate
        value = checks.number("start: seconds", seconds, 1e-9, longest, "None or a positive number of seconds")
        periods = max(1, round(value * rate))
    most = 0 if cycles is None else checks.whole("start: cycles", cycles, 1, MOST_CYCLES, "None or a whole number from 1")
    return min(periods, MOST_CYCLES), most


def as_controller(given: str | Controller) -> Controller:
    """A controller, or the one of a name with default gains."""
    if isinstance(given, Controller):
        return given
    if not isinstance(given, str) or given not in BY_NAME:
        raise ModelError(
            f"loop: got controller={shortened(given)}, expected a name or an object of elastogen.runtime.loop.controllers."
            f"{suggestion(given, BY_NAME)}"
        )
    return BY_NAME[given]()


def as_plant(given: str | Plant) -> Plant:
    """A plant, or the one of a name."""
    if not isinstance(given, str):
        if not callable(getattr(given, "connect", None)) or isinstance(given, type):
            raise ModelError(
                f"loop: got plant={shortened(given)}, expected 'simulated', 'user' "
                "or an object of elastogen.runtime.loop.plants."
            )
        return given
    kinds: dict[str, type[Any]] = {"simulated": Simulated, "user": Callbacks}
    if given not in kinds:
        raise ModelError(
            f"loop: got plant={shortened(given)}, expected a plant, 'simulated' or 'user'.{suggestion(given, kinds)}"
        )
    plant: Plant = kinds[given]()
    return plant


def reference_table(model: Model, parts: dict[str, ArrayLike | None], F: ArrayLike | None = None) -> tuple[NDArray[Any], int]:
    """Rows of q and its derivatives beside each other, then forces, and how many orders there are: 3 or 5."""
    what, expected = f"{model.name}.follow", "finite numbers of shape (rows, {})"
    width = {name: model.nq if name == "q" else model.nv for name in parts}
    given = {
        name: real_numbers.finite(f"{what}: {name}", part, expected.format(width[name])).astype(model.dtype)
        for name, part in parts.items()
        if part is not None or name in ("q", "qd", "qdd")
    }
    if len(given) == 4:
        raise ModelError(f"{model.name}.follow: got qddd or qdddd alone, expected both or none of them.")
    rows = len(given["q"]) if given["q"].ndim else 0
    for name, part in given.items():
        if part.shape != (rows, width[name]) or not 0 < rows < 1 << 32:
            shape = expected.format(width[name]).replace("rows", str(rows or "rows"))
            raise ModelError(f"{what}: {name} has shape {part.shape}, expected {shape}.")
    given["q"] = unit_positions(model, "follow: q", given["q"])
    orders, forces = len(given), [] if F is None else [_force_rows(model, F, rows)]
    return np.ascontiguousarray(np.hstack([*given.values(), *forces])), orders


def _force_rows(model: Model, F: ArrayLike, rows: int) -> NDArray[Any]:
    values = real_numbers.finite(f"{model.name}.follow: F", F, f"finite numbers of shape ({rows}, {model.nv})")
    if values.shape != (rows, model.nv):
        raise ModelError(f"{model.name}.follow: F has shape {values.shape}, expected ({rows}, {model.nv}), or one row for all.")
    return values.astype(model.dtype)
