"""Import a compiled model: let an arm fall for 0.3 s and watch its energy.

Run: python examples/import_model.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import elastogen


def main() -> None:
    """Build the arm, simulate it with Runge-Kutta steps, print the energy, then compare payloads in one call."""
    model = elastogen.build_model(Path(__file__).with_name("arm.yaml"))
    print(model)

    dynamics = model.bind("forward_dynamics")  # preallocated arrays, one pointer call
    n, step = model.nq, 1e-3
    state = np.zeros(2 * n)  # q, then qd

    def rate(x: np.ndarray) -> np.ndarray:
        dynamics.q[:], dynamics.qd[:] = x[:n], x[n:]
        if dynamics() != 0:
            raise RuntimeError("the mass matrix is singular")
        return np.concatenate((x[n:], dynamics.qdd))

    for k in range(301):
        if k % 50 == 0:
            q, qd = state[:n], state[n:]
            energy = model.kinetic_energy(q, qd) + model.potential_energy(q)
            print(f"t = {k * step:.2f} s   q = {np.round(q, 3)}   energy = {energy:.9f} J")
        k1 = rate(state)
        k2 = rate(state + step / 2 * k1)
        k3 = rate(state + step / 2 * k2)
        k4 = rate(state + step * k3)
        state = state + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    masses = np.array([0.0, 0.5, 1.0])
    holding = model.gravity_vector(np.zeros(n), parameters={"payload_mass": masses})
    for mass, forces in zip(masses, holding, strict=True):
        print(f"payload {mass} kg: holding forces {np.round(forces, 2)}")


if __name__ == "__main__":
    main()
