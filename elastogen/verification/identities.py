"""Check (c): what must be true of any robot's equations, whatever they are, in 50 digits; and the energy of a motion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import mpmath
import numpy as np

from elastogen.build.start import build_model
from elastogen.generator.functions.function import Function
from elastogen.generator.robot.own.terms import TIME
from elastogen.generator.robot.robot import Robot
from elastogen.verification.findings import Finding, judged
from elastogen.verification.second_derivation import evaluated, relative_difference

NAME = "identities"
LIMIT = 1e-13
BALANCE = 1e-6  # of the energies that a motion exchanges
STEP = mpmath.mpf(10) ** -16

NEEDED = (
    "mass_matrix", "coriolis_matrix", "coriolis_vector", "inverse_dynamics", "forward_dynamics", "inverse_dynamics_derivatives",
    "kinetic_energy", "jacobian", "forward_kinematics",
)  # fmt: skip


class _Values:
    """Functions at a state in many digits, moved along where asked."""

    def __init__(self, functions: Mapping[str, Function], state: Mapping[str, Any], parameters: Mapping[str, float]) -> None:
        self._functions, self._parameters = functions, parameters
        self.state = {
            key: np.array([mpmath.mpf(float(x)) for x in np.ravel(array)], dtype=object) for key, array in state.items()
        }

    def __call__(self, name: str, **changed: Any) -> Any:
        found = evaluated(self._functions[name], self.state | changed, self._parameters)
        if found is None:
            raise LookupError
        return tuple(found.values()) if len(found) > 1 else next(iter(found.values()))

    def along(self, name: str, **direction: Any) -> Any:
        """Derivative along a direction, by a central difference."""
        ends = [self(name, **{k: self.state[k] + sign * STEP * d for k, d in direction.items()}) for sign in (1, -1)]
        return (ends[0] - ends[1]) / (2 * STEP)


def check(
    robot: Robot, functions: Mapping[str, Function], states: Mapping[str, Any], parameters: Mapping[str, float]
) -> Iterator[Finding]:
    """Symmetry, definiteness, skew symmetry, inverses and derivatives at every state; then the energy of a motion."""
    worst: dict[str, float] = {}
    conditions: list[tuple[float, Any]] = []
    with mpmath.workdps(50):
        for k in range(len(states["q"])):
            values = _Values(functions, {name: array[k] for name, array in states.items()}, parameters)
            try:
                for subject, error in _at(values, functions):
                    worst[subject] = max(worst.get(subject, 0.0), error) if error == error else error
                conditions.append((_condition(values), states["q"][k]))
            except LookupError:
                continue
    for subject, error in worst.items():
        yield judged(NAME, subject, error, LIMIT)
    if conditions:
        number, place = max(conditions, key=lambda pair: pair[0])
        where = ", ".join(f"{x:.3g}" for x in place[:8]) + (", ..." if len(place) > 8 else "")
        verdict = "passed" if np.isfinite(number) else "failed"
        yield Finding(NAME, "M positive definite", verdict, f"worst condition {number:.1e} at q = ({where})")  # type: ignore[arg-type]
    yield from _energy(robot, states)


def _at(values: _Values, functions: Mapping[str, Function]) -> Iterator[tuple[str, float]]:
    q, qd, qdd = (values.state[name] for name in ("q", "qd", "qdd"))
    M = values("mass_matrix")
    yield "M symmetric", relative_difference(M.T, M)
    yield "T = 1/2 qd^T M qd", relative_difference(qd.dot(M.dot(qd)) / 2, values("kinetic_energy"))
    if "coriolis_matrix" in functions:
        C, c = values("coriolis_matrix"), values("coriolis_vector")
        rate = values.along("mass_matrix", q=qd)
        yield "dM/dt - 2C skew", relative_difference(rate - 2 * C + (rate - 2 * C).T + M, M)
        yield "C qd", relative_difference(C.dot(qd), c)
    F = values("inverse_dynamics")
    yield "forward(inverse) = identity", relative_difference(values("forward_dynamics", F=F), qdd)
    by = values("inverse_dynamics_derivatives")
    direction = np.array([mpmath.mpf((7 * k + 3) % 11 - 5) / 8 for k in range(len(q))], dtype=object)
    for number, name in enumerate(("q", "qd", "qdd")):
        slope = values.along("inverse_dynamics", **{name: direction})
        yield f"dF/d{name}", relative_difference(by[number].dot(direction), slope)
    T = values.along("forward_kinematics", q=qd)[-1]
    yield "tip velocity = J qd", relative_difference(values("jacobian").dot(qd)[:3], T[:3, 3])


def _condition(values: _Values) -> float:
    """Condition number of M scaled to a unit diagonal; NaN where it is not positive definite."""
    M = np.array(values("mass_matrix"), dtype=float)
    scale = np.sqrt(np.diag(M))
    eigenvalues = np.linalg.eigvalsh(M / np.outer(scale, scale))
    return float(eigenvalues[-1] / eigenvalues[0]) if eigenvalues[0] > 0 else float("nan")


def _energy(robot: Robot, states: Mapping[str, Any]) -> Iterator[Finding]:
    """Energy, work and losses of a short free motion."""
    subject = "energy of a motion"
    if TIME in robot.parameters and robot.terms:
        yield Finding(NAME, subject, "skipped", "own terms depend on the time: they exchange energy with the outside")
        return
    model = build_model(robot, outputs="simulation")
    run = model.simulate(states["q"][0], t=0.05, samples=11, rtol=1e-9, atol=1e-12, on_failure="keep", progress=False)
    if not run.ok or run.kinetic is None or run.potential is None:
        yield Finding(NAME, subject, "skipped", "the motion left the range of a joint or of the tolerances")
        return
    exchanged = max(float(np.ptp(run.kinetic)), float(np.ptp(run.potential)), 1e-9)
    yield judged(NAME, subject, float(np.abs(run.balance).max()) / exchanged, BALANCE)
