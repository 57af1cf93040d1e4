"""Check (c): identities that hold for every robot, in 50 digits, and the energy of a motion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import mpmath
import numpy as np

from elastogen.build.start import build_model
from elastogen.generator.functions.function import Function
from elastogen.generator.robot.own.terms import TIME
from elastogen.generator.robot.robot import Robot
from elastogen.verification.findings import Finding, Tell, judged, silent
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
    """Functions at one state in many digits, and at neighbours of that state."""

    def __init__(
        self, robot: Robot, functions: Mapping[str, Function], state: Mapping[str, Any], parameters: Mapping[str, float]
    ) -> None:
        self.robot, self._functions, self._parameters = robot, functions, parameters
        self.state = {
            key: np.array([mpmath.mpf(float(x)) for x in np.ravel(array)], dtype=object) for key, array in state.items()
        }

    def __call__(self, name: str, **changed: Any) -> Any:
        found = evaluated(self._functions[name], self.state | changed, self._parameters)
        if found is None:
            raise LookupError
        return tuple(found.values()) if len(found) > 1 else next(iter(found.values()))

    def along(self, name: str, **direction: Any) -> Any:
        """Derivative along a direction, by a central difference; that of q is one of velocities."""
        rates = {k: configuration_rate(self.robot, self.state["q"], d) if k == "q" else d for k, d in direction.items()}
        ends = [self(name, **{k: self.state[k] + sign * STEP * d for k, d in rates.items()}) for sign in (1, -1)]
        return (ends[0] - ends[1]) / (2 * STEP)


def configuration_rate(robot: Robot, q: Any, velocities: Any) -> Any:
    """dq/dt of the velocities: their own, of quaternions 1/2 quaternion (omega, 0), of free displacements R v."""
    rates, position, velocity = list(velocities[:0]), 0, 0
    for joint in robot.joints:
        own = q[position : position + len(joint.type.coordinates)]
        given = velocities[velocity : velocity + len(joint.type.velocities)]
        if joint.type.velocities == joint.type.coordinates:
            rates += list(given)
        else:
            v, w = own[-4:-1], own[-1]
            if len(own) > 4:  # R v = v + 2 w (u x v) + 2 u x (u x v)
                once = np.cross(v, given[:3])
                rates += list(given[:3] + 2 * w * once + 2 * np.cross(v, once))
            rates += [*((w * given[-3:] + np.cross(v, given[-3:])) / 2), -v.dot(given[-3:]) / 2]
        flexible = robot.link(joint.child).flexible
        behind = (joint.elasticity is not None) + (0 if flexible is None else len(flexible.coordinates))
        position, velocity = position + len(own), velocity + len(given) + behind
        rates += list(velocities[velocity - behind : velocity])
        position += behind
    return np.array(rates, dtype=object)


def at_state(
    robot: Robot, functions: Mapping[str, Function], state: Mapping[str, Any], parameters: Mapping[str, float]
) -> Iterator[tuple[str, float]]:
    """Return the identities and their errors at a state; none outside the range of a sliding joint."""
    with mpmath.workdps(50), suppress(LookupError):
        yield from _at(_Values(robot, functions, state, parameters), functions)


def check(
    robot: Robot,
    functions: Mapping[str, Function],
    states: Mapping[str, Any],
    parameters: Mapping[str, float],
    tell: Tell = silent,
) -> Iterator[Finding]:
    """Check symmetry, definiteness, skew symmetry, inverses and derivatives at every state, then the energy of a motion."""
    worst: dict[str, float] = {}
    conditions: list[tuple[float, Any]] = []
    for k in range(len(states["q"])):
        tell(f"  state {k + 1} of {len(states['q'])}")
        state = {name: array[k] for name, array in states.items()}
        found = dict(at_state(robot, functions, state, parameters))
        for subject, error in found.items():
            worst[subject] = max(worst.get(subject, 0.0), error) if error == error else error
        if found:
            conditions.append((_condition(functions["mass_matrix"], state, parameters), states["q"][k]))
    for subject, error in worst.items():
        yield judged(NAME, subject, error, LIMIT)
    if conditions:
        number, place = max(conditions, key=lambda pair: pair[0])
        where = ", ".join(f"{x:.3g}" for x in place[:8]) + (", ..." if len(place) > 8 else "")
        verdict = "passed" if np.isfinite(number) else "failed"
        yield Finding(NAME, "M positive definite", verdict, f"worst condition {number:.1e} at q = ({where})")  # type: ignore[arg-type]
    yield from _energy(robot, states)


def _at(values: _Values, functions: Mapping[str, Function]) -> Iterator[tuple[str, float]]:
    qd, qdd = values.state["qd"], values.state["qdd"]
    M = values("mass_matrix")
    yield "M symmetric", relative_difference(M.T, M)
    yield "T = 1/2 qd^T M qd", relative_difference(qd.dot(M.dot(qd)) / 2, values("kinetic_energy"))
    if "coriolis_matrix" in functions:
        C, c = values("coriolis_matrix"), values("coriolis_vector")
        rate = values.along("mass_matrix", q=qd)
        yield "dM/dt - 2C skew", relative_difference(rate - 2 * C + (rate - 2 * C).T + M, M)
        yield "C qd", relative_difference(C.dot(qd), c)
    if "inverse_dynamics" in functions:
        F = values("inverse_dynamics")
        parts = (qdd, values("forward_dynamics", F=0 * F)) if values.robot.loops else (qdd,)  # near lost rank they cancel
        error = relative_difference(values("forward_dynamics", F=F), qdd)
        yield "forward(inverse) = identity", error * float(_largest(qdd) / max(_largest(part) for part in parts))
        by = values("inverse_dynamics_derivatives")
        direction = np.array([mpmath.mpf((7 * k + 3) % 11 - 5) / 8 for k in range(len(qd))], dtype=object)
        for number, name in enumerate(("q", "qd", "qdd")):
            slope = values.along("inverse_dynamics", **{name: direction})
            yield f"dF/d{name}", relative_difference(by[number].dot(direction), slope)
    T = values.along("forward_kinematics", q=qd)[-1]
    yield "tip velocity = J qd", relative_difference(values("jacobian").dot(qd)[:3], T[:3, 3])


def _largest(values: Any) -> Any:
    """Return the largest absolute value, at least the 1e-6 of relative differences."""
    return max(1e-6, *(abs(x) for x in values))


def _condition(function: Function, state: Mapping[str, Any], parameters: Mapping[str, float]) -> float:
    """Return the condition number of M scaled to a unit diagonal; NaN if M is not positive definite."""
    found = evaluated(function, state, parameters)
    assert found is not None
    M = np.array(found["M"], dtype=float)
    scale = np.sqrt(np.diag(M))
    eigenvalues = np.linalg.eigvalsh(M / np.outer(scale, scale))
    return float(eigenvalues[-1] / eigenvalues[0]) if eigenvalues[0] > 0 else float("nan")


def _energy(robot: Robot, states: Mapping[str, Any]) -> Iterator[Finding]:
    """Compare energy, work and losses along a short free motion."""
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
