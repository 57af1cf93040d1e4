"""A simulated robot whose sensors, drives and clock fail at a chosen tick; the robot itself goes on moving."""

from __future__ import annotations

from typing import Any

import cffi

from elastogen.runtime.loop.library import LoopLibrary
from elastogen.runtime.loop.plants import Simulated
from elastogen.runtime.loop.pointers import connect_functions

KINDS = {
    "none": 0, "nan": 1, "jump": 2, "frozen": 3, "read": 4, "stale": 5, "far": 6, "write": 7, "diverged": 8, "blocks": 9,
    "nan_velocity": 10, "all_frozen": 11, "infinite": 12, "velocity": 13,
}  # fmt: skip
SLIDE = {
    "elastogen": 1,
    "name": "slide",
    "planar": {
        "links": [
            {"joint": "R", "length": 0.8, "mass_per_length": 0.35, "EI": 0.17, "elements": 4},
            {"joint": "Pa", "gamma": 0.0, "length": 0.3, "rigid": True, "mass": 0.5, "inertia": 0.004},
        ]
    },
}  # a rod that slides along a flexible beam
STRUCT = """
typedef struct {
    void *robot;
    int kind, index, blocked;
    unsigned long long begin, until;
    double value, q[64], qd[64];
} faulty_t;
"""
# read and write of the faulty robot; NAME is the robot's, NQ and NV are macros of its header.
SOURCE = (
    "#include <time.h>\n"
    + STRUCT
    + """
int user_read(void *io, uint64_t tick, NAME_real_t *q, NAME_real_t *qd)
{
    faulty_t *const faulty = (faulty_t *)io;
    const int answer = NAME_loop_plant_read(faulty->robot, tick, q, qd);
    const int fails = (tick >= faulty->begin) && (tick < faulty->until);
    const int i = faulty->index;
    if (!fails) {
        for (int k = 0; k < POSITIONS; ++k) {
            faulty->q[k] = (double)q[k];
        }
        for (int k = 0; k < COUNT; ++k) {
            faulty->qd[k] = (double)qd[k];
        }
        return answer;
    }
    switch (faulty->kind) {
    case 1: q[i] = (NAME_real_t)(0.0 / (double)(fails - 1)); break;
    case 2: q[i] += (NAME_real_t)faulty->value; break;
    case 3: q[i] = (NAME_real_t)faulty->q[i]; break;
    case 4: return 1;
    case 5: return NAMELOOP_STALE;
    case 6: q[i] = (NAME_real_t)faulty->value; break;
    case 8: return NAMELOOP_DIVERGED;
    case 9: {
        struct timespec t = { (time_t)faulty->value, (long)(1e9 * (faulty->value - (double)(time_t)faulty->value)) };
        if (faulty->blocked == 0) {
            faulty->blocked = 1;
            (void)nanosleep(&t, 0);
        }
        break;
    }
    case 10: qd[i] = (NAME_real_t)(0.0 / (double)(fails - 1)); break;
    case 11:
        for (int k = 0; k < POSITIONS; ++k) {
            q[k] = (NAME_real_t)faulty->q[k];
        }
        for (int k = 0; k < COUNT; ++k) {
            qd[k] = (NAME_real_t)faulty->qd[k];
        }
        break;
    case 12: q[i] = (NAME_real_t)(1.0 / (double)(fails - 1)); break;
    case 13: qd[i] = (NAME_real_t)faulty->value; break;
    default: break;
    }
    return answer;
}
int user_write(void *io, uint64_t tick, const NAME_real_t *F)
{
    faulty_t *const faulty = (faulty_t *)io;
    const int fails = (faulty->kind == 7) && (tick >= faulty->begin) && (tick < faulty->until);
    return fails ? 1 : NAME_loop_plant_write(faulty->robot, tick, F);
}
"""
)


def faulty_source(name: str, coordinates: int, velocities: int | None = None) -> str:
    """plant_source of a robot with that name and number of coordinates, and as many velocities unless they are given."""
    text = SOURCE.replace("NAMELOOP", f"{name.upper()}_LOOP").replace("NAME", name)
    return text.replace("COUNT", str(velocities or coordinates)).replace("POSITIONS", str(coordinates))


class FaultyRobot(Simulated):
    """A simulated robot with the faults above; its loop was built with :func:`faulty_source`."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._ffi = cffi.FFI()
        self._ffi.cdef(STRUCT)
        self._faulty = self._ffi.new("faulty_t *")

    def connect(self, library: LoopLibrary, loop: Any, period: float) -> None:
        """The loop reads and writes through the faults."""
        super().connect(library, loop, period)
        self._faulty.robot = self._ffi.cast("void *", int(library.ffi.cast("uintptr_t", self._plant)))
        address = int(self._ffi.cast("uintptr_t", self._faulty))
        connect_functions(library.ffi, loop, library.address("user_read"), library.address("user_write"), address)

    def fail(self, kind: str, tick: int, ticks: int = 1 << 62, index: int = 0, value: float = 0.0) -> None:
        """From that tick on, for so many ticks."""
        faulty = self._faulty
        faulty.kind, faulty.index, faulty.value, faulty.blocked = KINDS[kind], index, value, 0
        faulty.begin = tick
        faulty.until = tick + ticks

    def heal(self) -> None:
        """All is well again."""
        self._faulty.kind, self._faulty.until = 0, 0
