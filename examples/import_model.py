"""Import a compiled model: let an arm fall for 0.3 s, watch its energy, then compare payloads in one call.

Run: python examples/import_model.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import elastogen


def main() -> None:
    """Build the arm, simulate it in C, print the energy, then the holding forces of three payloads."""
    model = elastogen.build_model(Path(__file__).with_name("arm.yaml"))
    print(model)

    fall = model.simulate(np.zeros(model.nq), t=np.linspace(0.0, 0.3, 7), rtol=1e-10)
    for t, q, energy in zip(fall.t, fall.q, fall.energy, strict=True):
        print(f"t = {t:.2f} s   q = {np.round(q, 3)}   energy = {energy:.9f} J")

    masses = np.array([0.0, 0.5, 1.0])
    holding = model.gravity_vector(np.zeros(model.nq), parameters={"payload_mass": masses})
    for mass, forces in zip(masses, holding, strict=True):
        print(f"payload {mass} kg: holding forces {np.round(forces, 2)}")


if __name__ == "__main__":
    main()
