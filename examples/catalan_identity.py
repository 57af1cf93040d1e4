"""Check the general identity between acceleration energies and force rates, with the printed and the true weights.

Run: python examples/catalan_identity.py

For every k >= 1 and m >= k + 1, with E^(p) = 1/2 int |r^(p+1)|^2 dm and D = d/dt,

    D^(k-1) Q_i = (k-1)! m! / (m+k-1)!  d/dq_i^(m)  sum_{p=1..k} w_p D^(m+k-1-2p) E^(p)

holds with the Catalan numbers w_p = 1, 2, 5, 14, 42, and only with these. Energies come from 4 x 4 transformations, forces
from Newton-Euler; both sides are evaluated along a random motion by Taylor series, without difference quotients.
"""

from __future__ import annotations

import warnings
from math import comb, factorial
from typing import Any

import numpy as np

import elastogen
from elastogen.generator.algorithms import affine
from elastogen.generator.functions.variants import VariantFamily
from elastogen.generator.program.arguments import MOTION
from elastogen.generator.program.graph import Value
from elastogen.generator.program.program import Program
from elastogen.generator.program.substitute import extract
from elastogen.generator.program.taylor import along, derivative_name
from elastogen.generator.robot.robot import Robot
from elastogen.runtime.interface.argument import Argument

HIGHEST = 5
CATALAN = [comb(2 * p, p) // (p + 1) for p in range(HIGHEST + 1)]
PRINTED = [0, 1, 2, 5, 9, 14]  # p (p + 1) / 2 - delta_p
FLEXIBLE: dict[str, Any] = {
    "elastogen": 1,
    "name": "flexible",
    "links": [
        {"name": "base"},
        {
            "name": "upper",
            "flexible": {
                "type": "modes",
                "length": 0.7,
                "mass_per_length": 0.4,
                "EI": 20.0,
                "modes": [{"direction": "y", "shape": "(x/L)**2"}, {"direction": "z", "shape": "(x/L)**2"}],
                "tip": {"mass": 0.2},
            },
        },
        {"name": "lower", "mass": 0.5, "com": [0.2, 0.05, 0.1], "inertia": [0.01, 0.02, 0.015]},
    ],
    "joints": [
        {"name": "shoulder", "type": "revolute", "axis": [0, 0, 1]},
        {"name": "elbow", "type": "revolute", "axis": [0, 1, 0]},
    ],
}


class Dynamics:
    """Energies and inertia forces of a robot, along one random motion."""

    def __init__(self, robot: Robot, seed: int) -> None:
        self.family = VariantFamily(robot)
        self.variant = self.family.plain()
        self.parameters = {parameter.name: parameter.value for parameter in robot.live_parameters}
        scale = np.array([0.1 if coordinate.elastic else 1.0 for coordinate in robot.coordinates])
        self.motion = scale * np.random.default_rng(seed).uniform(-1, 1, (2 * HIGHEST + 3, len(scale)))
        self.energies = [self.energy(p) for p in range(HIGHEST + 1)]
        q, qd, qdd = (self.variant.input(name) for name in MOTION[:3])
        forces = self.program(3, self.variant.forces(q, qd, qdd, self.variant.zeros(3)))
        self.rates = along(forces, self.motion, HIGHEST - 1, parameters=self.parameters)["y"]

    def program(self, orders: int, values: list[Value]) -> Program:
        """A program of the coordinates and their derivatives below an order."""
        graph, refs = extract(self.variant.graph, [value.ref for value in values])
        inputs = [Argument(derivative_name(k), (self.variant.size,), "", "") for k in range(orders)]
        return Program(graph, inputs, [(Argument("y", (len(refs),), "", ""), refs)])

    def energy(self, p: int) -> Program:
        """E^(p), p = 0 being the kinetic energy."""
        motion = [self.variant.input(derivative_name(k)) for k in range(p + 2)]
        return self.program(p + 2, [self._with_drives(affine.energy(self.variant.mechanism, motion, p), motion[p + 1])])

    def _with_drives(self, energy: Value, rates: list[Value]) -> Value:
        for drive, rate in zip(self.variant.drives, rates, strict=True):
            energy = energy + 0.5 * drive.inertia * rate * rate
        return energy

    def error(self, k: int, m: int, weights: list[int]) -> float:
        """Relative difference of the two sides of the identity."""
        total = np.zeros(self.variant.size)
        for p in range(1, k + 1):
            outer = m + k - 1 - 2 * p
            partials = along(self.energies[p], self.motion, outer, vary=m, parameters=self.parameters)["y"]
            total += weights[p] * partials[outer, 0]
        total *= factorial(k - 1) * factorial(m) / factorial(m + k - 1)
        return float(np.max(np.abs(total - self.rates[k - 1])) / np.max(np.abs(self.rates[k - 1])))


def main() -> None:
    """Print a table of errors for three robots."""
    print(f"weights: printed {PRINTED[1:]}, Catalan {CATALAN[1:]}\n")
    print(f"{'robot':<22} {'k':>2} {'m':>2} {'printed':>9} {'Catalan':>9}")
    for title, source in (("RR, rigid", "two_link"), ("TRTRR, rigid", "trtrr"), ("RR, flexible, 2 modes", FLEXIBLE)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", elastogen.RobotWarning)
            dynamics = Dynamics(elastogen.load(source), seed=3)
        for k in range(1, HIGHEST + 1):
            for m in (k + 1, k + 2):
                printed, true = (dynamics.error(k, m, weights) for weights in (PRINTED, CATALAN))
                print(f"{title:<22} {k:>2} {m:>2} {printed:9.0e} {true:9.0e}")


if __name__ == "__main__":
    main()
