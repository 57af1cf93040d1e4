"""A loop whose sensors show what a test wants, and the numbers next to a number."""

from __future__ import annotations

import numpy as np

from elastogen.runtime.loop.controllers import PDGravity, StateFeedback
from elastogen.runtime.loop.loop import Loop
from loops.faulty_robot import FaultyRobot

NOTHING = StateFeedback(K=np.zeros((2, 4)), feedforward=False)  # a law of two joints that needs no parameters
FREE = {"controller": PDGravity(0.0, 0.0), "telemetry": 1 << 12}


class Shown:
    """A loop whose sensors show what the test wants; nothing moves by itself."""

    def __init__(self, library, **options) -> None:
        self.plant = FaultyRobot([0.0, 0.0])
        self.loop = Loop(library, plant=self.plant, **{**FREE, **options})

    def show(self, q, qd=(0.0, 0.0), cycles: int = 1, passed: int = 0):
        """So many cycles with this state; before the first, so many ticks are skipped."""
        self.loop._loop.tick += passed
        for _ in range(cycles):
            self.plant._plant.tick = self.loop._loop.tick
            self.plant.q[:], self.plant.qd[:] = q, qd
            self.loop.step()
        return self.loop.status


def up(x: float) -> float:
    return float(np.nextafter(x, np.inf))


def down(x: float) -> float:
    return float(np.nextafter(x, -np.inf))
